# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies in space by natural coordinates: two points and two unit vectors."""

from __future__ import annotations

from .body import RigidBody, RigidPoint

__all__ = ["RigidBody", "RigidPoint"]

# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies in the plane: nodes (x, y, theta), their loads, supports and clamps."""

from __future__ import annotations

from .body import PlanarBody, PlanarPoint
from .clamp import Clamp
from .factor import DisplacementControl, Factor, displacement_control, prescribe

__all__ = [
    "Clamp",
    "DisplacementControl",
    "Factor",
    "PlanarBody",
    "PlanarPoint",
    "displacement_control",
    "prescribe",
]

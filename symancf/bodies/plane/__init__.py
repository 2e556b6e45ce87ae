# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies in the plane: nodes (x, y, theta), their loads, supports and clamps."""

from __future__ import annotations

from .body import PlanarBody, PlanarPoint
from .clamp import PlanarClamp
from .factor import DisplacementControl, Factor, displacement_control, prescribe

__all__ = [
    "DisplacementControl",
    "Factor",
    "PlanarBody",
    "PlanarClamp",
    "PlanarPoint",
    "displacement_control",
    "prescribe",
]

# SPDX-License-Identifier: BSD-3-Clause
"""Flexures: slender arcs and straight strips between planar bodies, as one term each."""

from __future__ import annotations

from .export import export
from .flexure import Flexure, ground_wrench
from .law import MODELS, Parts, flexure_law, symbolic
from .section import arc_compliance, compliance
from .tangent import tangent_parts

__all__ = [
    "MODELS",
    "Flexure",
    "Parts",
    "arc_compliance",
    "compliance",
    "export",
    "flexure_law",
    "ground_wrench",
    "symbolic",
    "tangent_parts",
]

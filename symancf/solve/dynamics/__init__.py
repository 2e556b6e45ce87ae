# SPDX-License-Identifier: BSD-3-Clause
"""Dynamics: motions of constrained flexible systems."""

from .energy import Energies
from .motion import Rayleigh
from .problem import DynamicProblem
from .stabilise import Baumgarte, Fuzzy, Projection

__all__ = ["Baumgarte", "DynamicProblem", "Energies", "Fuzzy", "Projection", "Rayleigh"]

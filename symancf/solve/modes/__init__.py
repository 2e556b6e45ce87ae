# SPDX-License-Identifier: BSD-3-Clause
"""Modes of vibration about any state, and linear buckling."""

from .problem import EigenProblem
from .shapes import Buckling, Modes, Shapes

__all__ = ["Buckling", "EigenProblem", "Modes", "Shapes"]

# SPDX-License-Identifier: BSD-3-Clause
"""What every Newton's method of the package measures residuals by; equations that others imply."""

from .aids import AIDS, Aid, Row, wanted
from .backtracking import Mended, MendedSteps, PartBacktracking
from .constraints import Constraints
from .equations import VectorEquations
from .forcing import LOOSE, Forcing
from .krylov import PartScaling
from .leftover import FACTORS, LEAST, SMALL, Leftover, largest_at
from .newton import Equations, Solution, newton
from .norms import ROUND_OFF, SAFE, TINY, RowNorms
from .parts import Parts, connected_parts
from .predicted import PredictedStresses, holds_by_penalties
from .stopping import NEAR, SLOW, Stopping

__all__ = [
    "AIDS",
    "FACTORS",
    "LEAST",
    "LOOSE",
    "NEAR",
    "ROUND_OFF",
    "SAFE",
    "SLOW",
    "SMALL",
    "TINY",
    "Aid",
    "Constraints",
    "Equations",
    "Forcing",
    "Leftover",
    "Mended",
    "MendedSteps",
    "PartBacktracking",
    "PartScaling",
    "Parts",
    "PredictedStresses",
    "Row",
    "RowNorms",
    "Solution",
    "Stopping",
    "VectorEquations",
    "connected_parts",
    "holds_by_penalties",
    "largest_at",
    "newton",
    "wanted",
]

# SPDX-License-Identifier: BSD-3-Clause
"""Norms and tests of convergence shared by all Newton's methods; equations that others imply."""

from .aids import AIDS, Aid, AidRow, wanted
from .backtracking import LineSearch, Mended, MendedSteps, PartBacktracking
from .constraints import Constraints
from .corrections import CORRECTION_TOLERANCE, FACTORS, SMALLEST_DISPLACEMENT, Leftover, largest_at
from .equations import VectorEquations
from .forcing import MAX_FORCING, Forcing
from .krylov import PartScaling
from .newton import Equations, Solution, newton
from .norms import ROUND_OFF, SAFE_SQUARES, TINY, RowNorms
from .parts import ConnectedParts, connected_parts
from .prediction import PREDICTION, StressPrediction
from .stopping import ROUND_OFF_FACTOR, SLOW_RATIO, Stopping
from .stress_predictor import PredictedStresses, holds_by_penalties

__all__ = [
    "AIDS",
    "CORRECTION_TOLERANCE",
    "FACTORS",
    "MAX_FORCING",
    "PREDICTION",
    "ROUND_OFF",
    "ROUND_OFF_FACTOR",
    "SAFE_SQUARES",
    "SLOW_RATIO",
    "SMALLEST_DISPLACEMENT",
    "TINY",
    "Aid",
    "AidRow",
    "ConnectedParts",
    "Constraints",
    "Equations",
    "Forcing",
    "Leftover",
    "LineSearch",
    "Mended",
    "MendedSteps",
    "PartBacktracking",
    "PartScaling",
    "PredictedStresses",
    "RowNorms",
    "Solution",
    "Stopping",
    "StressPrediction",
    "VectorEquations",
    "connected_parts",
    "holds_by_penalties",
    "largest_at",
    "newton",
    "wanted",
]

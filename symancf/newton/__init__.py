# SPDX-License-Identifier: BSD-3-Clause
"""What every Newton's method of the package measures residuals by; equations that others imply."""

from .backtracking import Mended, PartBacktracking
from .constraints import KEPT, TINY, Constraints
from .forcing import LOOSE, Forcing
from .krylov import PartScaling
from .leftover import FACTORS, LEAST, SMALL, Leftover, largest_at
from .loop import Iteration, iterate
from .norms import SAFE, RowNorms
from .parts import Parts, connected_parts
from .predicted import PredictedStresses
from .stopping import AGAIN, NEAR, SLOW, Stopping

__all__ = [
    "AGAIN",
    "FACTORS",
    "KEPT",
    "LEAST",
    "LOOSE",
    "NEAR",
    "SAFE",
    "SLOW",
    "SMALL",
    "TINY",
    "Constraints",
    "Forcing",
    "Iteration",
    "Leftover",
    "Mended",
    "PartBacktracking",
    "PartScaling",
    "Parts",
    "PredictedStresses",
    "RowNorms",
    "Stopping",
    "connected_parts",
    "iterate",
    "largest_at",
]

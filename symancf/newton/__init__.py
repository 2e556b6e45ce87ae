# SPDX-License-Identifier: BSD-3-Clause
"""What every Newton's method of the package measures residuals by; equations that others imply."""

from .backtracking import PartBacktracking
from .constraints import KEPT, Constraints
from .forcing import LOOSE, Forcing
from .krylov import PartScaling
from .leftover import Leftover
from .loop import Iteration, iterate
from .norms import RowNorms
from .parts import Parts, connected_parts
from .stopping import SLOW, Stopping

__all__ = [
    "KEPT",
    "LOOSE",
    "SLOW",
    "Constraints",
    "Forcing",
    "Iteration",
    "Leftover",
    "PartBacktracking",
    "PartScaling",
    "Parts",
    "RowNorms",
    "Stopping",
    "connected_parts",
    "iterate",
]

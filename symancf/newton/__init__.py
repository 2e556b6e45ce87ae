# SPDX-License-Identifier: BSD-3-Clause
"""What every Newton's method of the package measures residuals by: parts, kinds, round-off."""

from .backtracking import PartBacktracking
from .krylov import PartScaling
from .norms import RowNorms
from .parts import Parts, connected_parts

__all__ = ["PartBacktracking", "PartScaling", "Parts", "RowNorms", "connected_parts"]

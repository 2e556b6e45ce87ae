# SPDX-License-Identifier: BSD-3-Clause
"""Where a level of multigrid has blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...arrays import Ints32

if TYPE_CHECKING:
    from .messages import Ghosts


@dataclass
class Pattern:
    """Places of blocks on this rank, with local numbers: own nodes first, then ghosts.

    Attributes
    ----------
    nodes, ghosts : numbers of them.
    own_start, own, off_start, off : rows of own nodes; columns of the two parts.
    messages : None where there are no ranks to ask.
    shared : whether all ranks hold the whole level.
    """

    nodes: int
    ghosts: int
    own_start: Ints32
    own: Ints32
    off_start: Ints32
    off: Ints32
    messages: Ghosts | None
    shared: bool

    @property
    def blocks(self) -> int:
        """Number of blocks on this rank."""
        return len(self.own) + len(self.off)

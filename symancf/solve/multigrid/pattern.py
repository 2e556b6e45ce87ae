# SPDX-License-Identifier: BSD-3-Clause
"""Where a level of multigrid has blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Ints32

if TYPE_CHECKING:
    from .messages import Ghosts

GONE = np.int32(np.iinfo(np.int32).min)


@dataclass
class Pattern:
    """Places of blocks on this rank, with local numbers: own nodes first, then ghosts.

    Attributes
    ----------
    nodes, ghosts : numbers of them.
    own_start, own, off_start, off : rows of own nodes; columns of the two parts.
    upper : whether the first part has the blocks from the diagonal on alone.
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
    upper: bool = False

    @property
    def blocks(self) -> int:
        """Number of blocks on this rank, of both halves."""
        own = len(self.own)
        return (2 * own - self.nodes if self.upper else own) + len(self.off)

    def half(self) -> tuple[Pattern, Ints32]:
        """Return the pattern from the diagonal on, and the places there of the blocks.

        `GONE` is the place of those before the diagonal.
        """
        rows = np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.own_start))
        stays = self.own >= rows
        before = np.zeros(len(self.own) + 1, dtype=np.int32)
        np.cumsum(stays, out=before[1:])
        pattern = replace(self, own_start=before[self.own_start], own=self.own[stays], upper=True)
        return pattern, np.where(stays, before[:-1], GONE)

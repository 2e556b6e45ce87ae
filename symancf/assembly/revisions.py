# SPDX-License-Identifier: BSD-3-Clause
"""Lists of entities that change between steps: what searches find, and who has to know of it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..arrays import Array
    from .piece import Piece


REVISIONS = 4  # solutions at one time, each with the lists of entities that the last one asks for


class Change(IntEnum):
    """What a search has found: the same entities, others of the same vertices, or others."""

    NONE, WITHIN, OTHER = 0, 1, 2


class HoldsVectors(Protocol):
    """Keeps local vectors from step to step, or what follows from the tangent's storage."""

    def local_vectors(self) -> list[Array]:
        """Return those that must be right at ghosts, too; a halo writes into them."""

    def relisted(self, changed: Sequence[Piece], rebuilt: bool, /) -> None:
        """Take up the new lists of pieces; `rebuilt`: in another pattern (collective)."""

# SPDX-License-Identifier: BSD-3-Clause
"""The active set of a pass between deformable sides: which facets may touch, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, Ints32

if TYPE_CHECKING:
    from ..assembly.state import ActiveSet

NO_PAIRS: Ints32 = np.zeros((0, 2), dtype=np.int32)
PAIRS = frozenset(("pairs", "near", "extra"))  # of a rank
NOWHERE: Array = np.zeros((0, 1, 3))


class Active(NamedTuple):
    """Which facets may touch, and what the next search depends on; no array is ever written to.

    Pairs are those of this rank, all else is the same on every rank.

    Attributes
    ----------
    pairs, extra : (k, 2) facets that may touch; of which one holds anchors of the other's points,
        or is beside one that may be touched: of contact elements with a vertex of this rank.
    near : (k, 2) that may touch or are behind each other: of this rank's facets with points.
    contactor_places, target_places : (U, 3) positions of the nodes of the sides for which the list
        was made.
    contactor, target : (U, vectors, 3) vectors of the nodes of the sides in the accepted state.
        All four are empty before the first search.
    margin : distance that pairs were looked for in.
    reach : the gap at which the law ends, see `Normal.reach`.
    anchored : whether points that remember no anchor have their closest points in the accepted
        state as such: where the list was made in the present step.
    """

    pairs: Ints32 = NO_PAIRS
    near: Ints32 = NO_PAIRS
    extra: Ints32 = NO_PAIRS
    contactor_places: Array = NOWHERE[:, 0]
    target_places: Array = NOWHERE[:, 0]
    contactor: Array = NOWHERE
    target: Array = NOWHERE
    margin: float = 0.0
    reach: float = 0.0
    anchored: bool = False

    @property
    def begun(self) -> bool:
        """Whether there is an accepted state."""
        return len(self.contactor) > 0

    @property
    def accepted(self) -> tuple[Array, Array]:
        """Vectors of the nodes of both sides in the accepted state."""
        return self.contactor, self.target

    @property
    def places(self) -> tuple[Array, Array]:
        """Positions of the nodes of both sides for which the list was made."""
        return self.contactor_places, self.target_places

    @property
    def every(self) -> Ints32:
        """All pairs (k, 2) of the list, those of `extra` at the end."""
        return np.concatenate([self.pairs, self.extra])

    def arrays(self) -> ActiveSet:
        """Return all of it as arrays by name; see `of`."""
        return {name: np.atleast_1d(value) for name, value in self._asdict().items()}

    @classmethod
    def of(cls, arrays: ActiveSet) -> Active:
        """Return what `arrays` were made of."""
        fields: dict[str, Any] = {**arrays}
        for name, kind in (("margin", float), ("reach", float), ("anchored", bool)):
            fields[name] = kind(fields[name][0])
        return cls(**fields)

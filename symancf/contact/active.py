# SPDX-License-Identifier: BSD-3-Clause
"""The active set of a pass between deformable sides: which facets may touch, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, Ints

if TYPE_CHECKING:
    from ..assembly.state import ActiveSet

NO_PAIRS: Ints = np.zeros((0, 2), dtype=np.int64)
NOWHERE: Array = np.zeros((0, 1, 3))


class Active(NamedTuple):
    """Which facets may touch, and what the next search depends on; no array is ever written to.

    Attributes
    ----------
    pairs, near, extra : (k, 2) facets that may touch; with those that are behind each other; of
        which one holds anchors of the other's points, or is beside one that may be touched.
    listed : (n, 3) positions of the nodes of both sides for which the list was made.
    contactor, target : (U, vectors, 3) vectors of the nodes of the sides in the accepted state.
        All three are empty before the first search.
    margin : distance that pairs were looked for in.
    reach : the gap at which the law ends, see `Normal.reach`.
    anchored : whether points that remember no anchor have their closest points in the accepted
        state as such: where the list was made in the present step.
    """

    pairs: Ints = NO_PAIRS
    near: Ints = NO_PAIRS
    extra: Ints = NO_PAIRS
    listed: Array = NOWHERE[:, 0]
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
    def every(self) -> Ints:
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

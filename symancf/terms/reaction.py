# SPDX-License-Identifier: BSD-3-Clause
"""Forces and moments that a support or a constraint exerts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..values.parameter import vector3
from ..values.spellings import advise

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Reaction(np.lib.mixins.NDArrayOperatorsMixin):
    """Forces and moments that a support exerts on its body, or a constraint on one of its ends.

    Attributes
    ----------
    points : (K, 3) present places about which the moments are [m]: of a constraint those of end a;
        of a support one, the mean of its nodes, of a rigid or planar body its origin.
    forces, moments : (K, 3) [N], [N m].
    """

    points: Array
    forces: Array
    moments: Array
    former: Array | None = field(default=None, repr=False)

    @property
    def force(self) -> Array:
        """The total force (3,) [N]."""
        return np.asarray(self.forces.sum(axis=-2))

    @property
    def moment(self) -> Array:
        """The total moment (3,) about the mean of `points` [N m]."""
        return self._about(self.points.mean(axis=-2))

    def moment_about(self, point: npt.ArrayLike) -> Array:
        """Return the total moment (3,) about a point [N m]."""
        return self._about(vector3("moment_about(point)", point))

    def _about(self, point: Array) -> Array:
        arms = self.points - point[..., None, :]
        return np.asarray((self.moments + np.cross(arms, self.forces)).sum(axis=-2))

    # ---- the array that the reaction of a support was up to 0.2; what uses it as one warns ------
    def _array(self) -> Array:
        former: Array | None = vars(self).get("former")
        if former is None:
            raise TypeError("a Reaction is no array: take its force, moment or moment_about(point)")
        advise("the reaction of a support as an array", "reaction(system).force")
        return former

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self._array(), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **how: Any) -> Any:
        arrays = (x._array() if isinstance(x, Reaction) else x for x in operands)
        return getattr(ufunc, method)(*arrays, **how)

    def __getitem__(self, key: Any) -> Any:
        return self._array()[key]

    def __len__(self) -> int:
        return len(self._array())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or vars(self).get("former") is None:
            raise AttributeError(
                f"a Reaction has no {name!r}; it has: force, moment, moment_about, points, forces, "
                "moments"
            )
        return getattr(self._array(), name)

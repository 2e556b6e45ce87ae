# SPDX-License-Identifier: BSD-3-Clause
"""What users ask a contact after a solution: forces, pressures, states of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..bodies.natural import RigidBody
from ..errors import ParameterError
from ..values.parameter import label

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from .rigid import RigidPass


class Results:
    """Results of a contact in a system, at its present state; all are collective."""

    name: str
    who: str
    passes: list[RigidPass]

    def force(self, system: Configuration, on: object = None) -> Array:
        """Return the resultant (3,) of the contact [N].

        `on` : the body on which it acts, one of the two; default: that of the contactor side.
        """
        return self._wrench(system, on, np.zeros(3))[:3]

    def moment(self, system: Configuration, on: object = None, about: Array | None = None) -> Array:
        """Return the moment (3,) about a point of space, default the origin [N m]; see `force`."""
        return self._wrench(system, on, np.zeros(3) if about is None else np.asarray(about))[3:]

    def _wrench(self, system: Configuration, on: object, about: Array) -> Array:
        total, sign = np.zeros(6), self._sign(on)
        for each in self.passes:
            mine = each.entities(system).owned
            f = each.here(system, each.touch.force) * each.weights(system)[:, None]
            r = each.positions(system, 0) - about
            if each.touch.rolls:  # it acts on the surface of the ball
                r = r - each.here(system, each.touch.arm)
            total[:3] += f[mine].sum(axis=0)
            total[3:] += np.cross(r, f)[mine].sum(axis=0)
        return sign * system.sum(total)

    def _sign(self, on: object) -> float:
        """Return 1 for the body of the points, -1 for that of the shape."""
        each = self.passes[0]
        bodies = (each.ends[0].body, each.touch.shape.body)  # type: ignore[attr-defined]
        if on is None or on is bodies[0]:
            return 1.0
        if on is each.touch.shape or (bodies[1] is not None and on is bodies[1]):
            return -1.0
        raise ParameterError(
            f"{self.who} is between {bodies[0].name!r} and {each.touch.shape.name!r}; on="
            f"{on.name if isinstance(on, RigidBody) else label(on)} is none of them"
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Initial velocities of a body of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import ParameterError, argument
from ..values.parameter import (
    Numbers,
    call_array,
    label,
    numbers_now,
    of_place,
    vector3,
    vector_in_motion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..assembly.configuration import Configuration
    from ..places.interpolation import Interpolation

Velocity: TypeAlias = "Numbers | Callable[[Array], npt.ArrayLike] | None"

STEP = 1e-3  # of the size of the body: over which a function of the place is differentiated


class Start:
    r"""Rates of positions, slopes and directors at the start of a motion.

    .. math:: v(X) + \omega \times x, \qquad \frac{dv}{dX} b + \omega \times s

    of nodes at X, now at x, and of slopes s = dr/dX b, directions b of the reference.

    Parameters
    ----------
    body : its name, shown in messages.
    velocity : v [m/s], (3,), or a function X (n, 3) -> (n, 3) or (3,), which is called beside the
        body, too: slopes have its derivatives. `Parameter` may be among the numbers.
    spin : omega (3,) [rad/s], about the origin of the coordinates, likewise.

    Raises
    ------
    ParameterError : they are none of these, or not finite.
    """

    def __init__(self, body: str, velocity: Velocity, spin: Numbers | None) -> None:
        self.what = f"velocity of body {body!r}"
        self._function = of_place(velocity)
        if callable(velocity) and self._function is None:
            raise ParameterError(
                f"{self.what} is {label(velocity)}: give three numbers or a function of the place, "
                "lambda X: ..., that returns (n, 3)",
                asked="velocity",
                given=velocity,
                possible=("X",),
            )
        own = velocity is not None and self._function is None
        value: Any = velocity if own else np.zeros(3)
        self._turns = f"spin of body {body!r}"
        self.velocity = vector_in_motion(self.what, value)
        self.spin = vector_in_motion(self._turns, np.zeros(3) if spin is None else spin)

    @property
    def values(self) -> Sequence[Any]:
        """Velocity, a vector or a function, and spin, as they were given."""
        return self.velocity if self._function is None else self._function, self.spin

    def _v(self, X: Array, time: float) -> Array:
        if self._function is None:
            return np.broadcast_to(vector3(self.what, numbers_now(self.velocity)), X.shape)
        return call_array(self.what, self._function, X.shape, X, time)

    def _along(self, X: Array, b: Array, h: float, time: float) -> Array:
        """Return derivatives of v at X along vectors b (n, 3), of fourth order in h."""
        if self._function is None:
            return np.zeros(X.shape)
        near, far = (self._v(X + k * h * b, time) - self._v(X - k * h * b, time) for k in (1, 2))
        return np.asarray((8.0 * near - far) / (12.0 * h))

    def write(self, on: Interpolation, configuration: Configuration, h: float, rate: Array) -> None:
        """Write the rates of the nodes of this rank's cells into a vector, NaN: none yet."""
        nodes, edges = np.unique(on.cells), np.unique(on.all_vertices[:, on.element.vertices :])
        slopes = [(nodes, f"slope{k}") for k in range(len(on.element.slopes))]
        spin = vector3(self._turns, numbers_now(self.spin))
        across = [(edges, "across")] if on.element.across else []
        for vertices, jet in [(nodes, "value"), *slopes, *across]:
            at = on.offset(vertices, jet)[:, None] + np.arange(3)
            X, b = configuration.points[vertices], configuration.reference[at]
            own = self._v(X, configuration.time)
            if jet != "value":
                own = self._along(X, b, h, configuration.time)
            now = (X if jet == "value" else b) + configuration.state[at]
            new, other = own + np.cross(spin, now), rate[at]
            most = np.abs(new).max(initial=0.0)
            if (np.abs(other - new) > 1e-9 * most).any():  # false where other is NaN
                raise ParameterError(
                    f"{self.what} is not that of another body at nodes that both share: give both "
                    "the same, or one of them none",
                    asked="shared nodes",
                    given=argument(self.what),
                )
            rate[at] = new

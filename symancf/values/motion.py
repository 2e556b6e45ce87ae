# SPDX-License-Identifier: BSD-3-Clause
"""The motion that a support prescribes: a displacement and its gradient, as users give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import ParameterError
from .arguments import LENGTHS
from .parameter import (
    Scalar,
    Value,
    Vector,
    answers_cached,
    cached_answer,
    call,
    call_array,
    components,
    depends_on_time,
    is_number,
    matrix3,
    of_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Displacement: TypeAlias = "Scalar | Vector | npt.ArrayLike | None"
Gradient: TypeAlias = "npt.ArrayLike | Callable[..., npt.ArrayLike] | None"


class Motion:
    """A displacement u and its gradient G = du/dX at places X and times; by default zero.

    Parameters
    ----------
    name : of what prescribes it, shown in messages.
    displacement : three numbers, `Parameter` or functions of time; a function of time that
        returns (3,); or a function (X (n, 3), time) or (X) -> (n, 3).
    gradient : du_a/dX_b, (3, 3); a function of time; or of (X, time) or (X) -> (n, 3, 3).
    rotation : whether 1 + G must be a rotation, as of a rigid body.
    axes : names of the components of u.

    Attributes
    ----------
    turns : whether the gradient may change in time.

    Raises
    ------
    ParameterError : it is none of these, or not finite; of functions when they are called.
    """

    def __init__(
        self,
        name: str,
        displacement: Displacement,
        gradient: Gradient,
        rotation: bool = False,
        axes: Sequence[str] = "xyz",
    ) -> None:
        self.name, self.rotation, self.axes = name, rotation, axes
        self.displacement, self.gradient = displacement, gradient
        self.turns = callable(gradient)
        self._turns = of_place(gradient)
        value = np.zeros(3) if displacement is None else displacement
        self._moves = of_place(value)
        if self._moves is None:
            self._components = components(f"{name}: displacement", value, axes)
        if gradient is not None and not callable(gradient):
            self.gradient = self._matrix(gradient)

    @property
    def changes(self) -> bool:
        """Whether it may change while time goes on."""
        parts = (self.displacement, self.gradient)
        return any(depends_on_time(cast("Value", part)) for part in parts)

    @property
    def constant(self) -> bool:
        """Whether it is made of numbers alone."""
        plain = self._moves is None and not self.turns
        return plain and all(is_number(component) for component in self._components)

    @property
    def of_place(self) -> bool:
        """Whether the displacement is a function of the place."""
        return self._moves is not None

    def u(self, X: Array, time: float) -> Array:
        """Return the displacements (n, 3) at X (n, 3)."""
        return np.asarray(self.course(X, [time])[0])

    def course(self, X: Array, times: Sequence[float]) -> Array:
        """Return the displacements (times, n, 3) at X (n, 3)."""
        what, shape = f"{self.name}: displacement", (len(times), *X.shape)
        moves = self._moves
        if moves is not None:
            moved = np.array([call_array(what, moves, X.shape, X, float(t)) for t in times])
        else:
            uniform = np.zeros((len(times), 1, 3))
            with answers_cached():
                for a, component in enumerate(self._components):
                    asked = times if getattr(component, "changes", True) else times[:1]
                    uniform[:, 0, a] = [component(time) for time in asked]
            moved = np.broadcast_to(uniform, shape)
        if np.abs(moved).max(initial=0.0) > LENGTHS[1]:
            far = np.abs(moved).max(axis=(1, 2), initial=0.0)
            k = int(np.argmax(far > LENGTHS[1]))
            raise ParameterError(
                f"{what} is {far[k]:g} at time {times[k]:g}: lengths are at most {LENGTHS[1]:g}",
                asked="displacement",
                given=float(far[k]),
            )
        return moved.reshape(shape)

    def G(self, X: Array, time: float) -> Array:
        """Return the displacement gradients (n, 3, 3) at X (n, 3)."""
        shape, gradient = (len(X), 3, 3), self.gradient
        if callable(gradient):
            what = f"{self.name}: gradient"
            if self._turns is not None:
                return self._turned(call_array(what, self._turns, shape, X, float(time)))
            gradient = self._matrix(call(what, gradient, float(time)))
        return np.broadcast_to(np.zeros(()) if gradient is None else np.asarray(gradient), shape)

    def inverse(self, time: float) -> Array:
        """Return the inverse of 1 + G (3, 3), the same at all places.

        Raises
        ------
        ParameterError : it is a function of the place.
        """
        if self._turns is not None:
            raise ParameterError(
                f"{self.name}: dofs='clamp' follows one rotation of the support, gradient= as a "
                "function of time; to prescribe all slopes at each place give dofs='all'",
                asked="gradient",
                given=self._turns,
            )
        return cached_answer(self, time, lambda: self._inverse(time))

    def _inverse(self, time: float) -> Array:
        return np.asarray(np.linalg.inv(np.eye(3) + self.G(np.zeros((1, 3)), time)[0]))

    def _matrix(self, value: npt.ArrayLike) -> Array:
        what = f"{self.name}: the gradient du_a/dX_b must be a finite (3, 3) matrix"
        of = "R - 1 with the rotation R of the body, or a function of time that returns it"
        other = f", {of}" if self.rotation else ", or a function of time or of (X, time)"
        return self._turned(matrix3(f"{what}{other}", value))

    def _turned(self, G: Array) -> Array:
        """Return gradients (..., 3, 3) where a rigid body can follow them."""
        R = G + np.eye(3)
        wrong = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
        if self.rotation and (wrong > 1e-9 or (np.linalg.det(R) < 0.0).any()):
            why = f"R^T R differs by {wrong:.2g} from the unit matrix"
            raise ParameterError(
                f"{self.name}: 1 + gradient is no rotation "
                f"({why if wrong > 1e-9 else 'it is a reflection, det R = -1'}): a rigid body does "
                "not follow it",
                asked="gradient",
                given=G.tolist(),
            )
        return G

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes whose displacement along one direction is held: rollers on planes of any direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import ParameterError
from ...values.arrays import Array
from ...values.parameter import Parameter, evaluate, label
from .directions import EXACT, Directions, HeldDisplacements
from .names import AXES
from .nodes import HeldNodes

if TYPE_CHECKING:
    from ...assembly.configuration import Layout
    from ...places.ends import Nodes, PointsOnBody


class RollerNodes(HeldNodes):
    r"""Nodes with :math:`n \cdot u = w`: held along a direction, free across it.

    Parameters
    ----------
    direction : n, of any length; along an axis of space the coordinate is eliminated, else it
        is held by a multiplier.
    amount : w [m], a number, `Parameter` or function of time; None: 0.
    """

    def __init__(
        self, name: str, place: Nodes | PointsOnBody, direction: npt.ArrayLike, amount: Any
    ) -> None:
        self.direction = _unit(name, direction)
        self.amount: Any = 0.0 if amount is None else amount
        if np.ndim(self.amount) or not (callable(amount) or isinstance(amount, Parameter)):
            if np.ndim(self.amount):
                raise ParameterError(
                    f"{name}: displacement is {label(amount)}: along direction= it is one number, "
                    "Parameter or function of time"
                )
            evaluate(f"{name}: displacement", self.amount, 0.0)
        off = np.linalg.norm(np.eye(3) - np.outer(self.direction, self.direction), axis=1)
        self.oblique = bool(off.min() > EXACT)
        a = int(np.argmin(off))
        displacement: list[Any] = [0.0, 0.0, 0.0]
        displacement[a] = self._component if self.direction[a] < 0.0 else self.amount
        super().__init__(name, place, AXES[a], displacement, None)
        self.roller: HeldDisplacements | None = None
        if self.oblique:
            self.axes, self.values = [], []

    def _component(self, time: float) -> float:
        return -evaluate(f"{self.name}: displacement", self.amount, time)

    def describe(self) -> str:
        """Tell what is held, in words."""
        x, y, z = self.direction + 0.0  # no -0
        return f"displacement along ({x:g}, {y:g}, {z:g})"

    @property
    def conditions(self) -> HeldDisplacements | None:
        """The conditions on displacements, where the direction is oblique."""
        return self.roller

    def declare(self, layout: Layout) -> None:
        """Find the nodes, announce the conditions (collective)."""
        super().declare(layout)
        if self.oblique:
            node = np.arange(len(self.glue.nodes))
            place = Directions(self.body, node, self.glue.nodes, self.glue.X, False)
            place.direction[:] = self.direction
            self.roller = HeldDisplacements(f"{self.name} (direction)", place, self.amount)
            self.roller.declare(layout)


def _unit(name: str, direction: npt.ArrayLike) -> Array:
    """Return a direction as a unit vector.

    Raises
    ------
    ParameterError : it is none.
    """
    try:
        vector = np.asarray(direction, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise ParameterError(f"{name}: direction is {label(direction)}: give three numbers")
    return np.asarray(vector / np.linalg.norm(vector))

# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates of planar bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...assembly.agreement import Given
from ...errors import ParameterError
from ...terms.entities import Held
from ...values.arguments import named
from ...values.arrays import Array, Ints
from ...values.parameter import call, chosen_dofs, evaluate
from .body import rotation, turned
from .factor import COORDINATES

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration
    from .body import PlanarBody


class HeldPlanarBody(Held):
    """Hold coordinates of a planar body's frame at given displacements; see `boundary.fix`."""

    def __init__(
        self, body: PlanarBody, dofs: str | list[str], displacement: Any, name: str | None
    ) -> None:
        self.body = body
        self.name = named(name, f"fix:{body.name}")
        chosen = set(chosen_dofs(self.name, dofs, ("clamp", "all", "position", *COORDINATES)))
        self.axes = [
            a
            for a, name in enumerate(COORDINATES)
            if {"clamp", "all", name} & chosen or (a < 2 and "position" in chosen)
        ]
        values: list[Any] = [0.0] * len(self.axes)
        if callable(displacement) and len(self.axes) > 1:
            values = [
                lambda t, k=k: np.asarray(call(self.name, displacement, t), dtype=float).ravel()[k]
                for k in range(len(self.axes))
            ]
        elif displacement is not None:
            values = list(displacement) if np.ndim(displacement) else [displacement]
        if len(values) != len(self.axes):
            names = ", ".join(COORDINATES[a] for a in self.axes)
            raise ParameterError(
                f"{self.name}: displacement has {len(values)} values for the coordinates {names}"
            )
        self.values = values
        if body.centre.any() and self.axes not in ([2], [0, 1, 2]):
            raise ParameterError(
                f"{self.name}: the node of {body.name!r} is at its centre of mass, away from its "
                "origin: fix all of it, or theta, or use sa.joints.revolute or sa.Constraint at a "
                "point of it"
            )

    def describe(self) -> str:
        """Tell what is held, in words."""
        names = " and ".join(COORDINATES[a] for a in self.axes)
        return "the whole body, x, y and theta" if len(self.axes) == 3 else f"{names} of its frame"

    def coordinates(self, system: Configuration) -> Ints:
        """Return the local offsets of the fixed coordinates of the body's vertex."""
        system.layout.require_member(self.body, self.name)
        here = self.body.coordinates(system)
        self.fixed = here[self.axes] if len(here) else here
        return np.asarray(self.fixed, dtype=np.int64)

    def prescribed(self, system: Configuration, time: float) -> Array:
        """Return the values of the fixed coordinates at `time`."""
        u = self._displacement(time)
        if len(u) == 3:  # of the origin: the node is elsewhere
            u[:2] -= (rotation(u[2]) - np.eye(2)) @ self.body.offset
        return u[: len(self.fixed)]

    def given(self, system: Configuration) -> list[Given]:
        """Return the displacement."""
        what, axes = f"{self.name}: displacement", [COORDINATES[a] for a in self.axes]
        return [Given(what, lambda X, time: self._displacement(time)[None], np.zeros((1, 3)), axes)]

    def _displacement(self, time: float) -> Array:
        values = [
            evaluate(f"{self.name}, {COORDINATES[a]}", value, time)
            for a, value in zip(self.axes, self.values, strict=True)
        ]
        return np.array(values)

    def wrench(self, system: Configuration, forces: Array, about: Array) -> Array:
        """Return force and moment about a point (6,) of forces on coordinates, on this rank."""
        here = self.body.coordinates(system)
        total = np.zeros(6)
        if len(here):
            vertex = self.body.cells[0, 0]
            arm = system.points[vertex, :2] + system.state[here[:2]] - about[:2]
            total[:2] = forces[here[:2]]
            total[5] = forces[here[2]] + turned(arm) @ total[:2]
        return total

    def resultant(self, system: Configuration, forces: Array) -> Array:
        """Return force and moment about the origin of the body, (Fx, Fy, M), on this rank."""
        here = self.body.coordinates(system)
        total = np.zeros(3)
        if len(here):
            total[:] = forces[here]
            if len(self.axes) == 3:
                lever = rotation(system.state[here[2]]) @ self.body.offset
                total[2] -= turned(lever) @ total[:2]
        return total

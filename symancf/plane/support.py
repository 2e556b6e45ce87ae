# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates of planar bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..parameter import call, chosen_dofs, evaluate
from .body import rotation, turned
from .factor import COORDINATES

if TYPE_CHECKING:
    from ..assembly.plan import Piece
    from ..system import System
    from .body import PlanarBody

Array = npt.NDArray[np.float64]


class PlanarFix:
    """Hold coordinates of a planar body's frame at given displacements; see `boundary.fix`."""

    def __init__(
        self, body: PlanarBody, dofs: str | list[str], displacement: Any, name: str | None
    ) -> None:
        self.body = body
        self.name = name or f"fix:{body.name}"
        chosen = set(chosen_dofs(self.name, dofs, ("all", "position", *COORDINATES)))
        self.axes = [
            a
            for a, name in enumerate(COORDINATES)
            if {"all", name} & chosen or (a < 2 and "position" in chosen)
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
        self.number = -1
        if body.centre.any() and self.axes not in ([2], [0, 1, 2]):
            raise ParameterError(
                f"{self.name}: the node of {body.name!r} is at its centre of mass, away from its "
                "origin: fix all of it, or theta, or use sa.joints.revolute or sa.Constraint at a "
                "point of it"
            )

    def declare(self, system: System) -> None:
        """Nothing to announce: the body's node exists."""

    def pieces(self, system: System) -> list[Piece]:
        """Return no kernels."""
        return []

    def coordinates(self, system: System) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the body's local vertex and its fixed coordinates."""
        here = self.body.coordinates(system)
        self.fixed = here[self.axes] if len(here) else here
        return self.body.cells.ravel(), self.fixed

    def prescribed(self, system: System, time: float) -> tuple[npt.NDArray[Any], Array]:
        """Return the local offsets of the fixed coordinates and their values at `time`."""
        values = [
            evaluate(f"{self.name}, {COORDINATES[a]}", value, time)
            for a, value in zip(self.axes, self.values, strict=True)
        ]
        u = np.array(values)
        if len(u) == 3:  # of the origin: the node is elsewhere
            u[:2] -= (rotation(u[2]) - np.eye(2)) @ self.body.offset
        return self.fixed, u[: len(self.fixed)]

    def reaction(self, system: System) -> Array:
        """Return force and moment about the origin (3,) of the support on the body (collective)."""
        numbering = system.numbering
        f = system.residual_at_solution()
        here = self.body.coordinates(system)
        total = np.zeros(3)
        if len(here) and self.body.cells[0, 0] < numbering.owned_vertices:
            total[:] = np.where(numbering.fixed_by[here] == self.number, f[here], 0.0)
            if len(self.axes) == 3:
                lever = rotation(system.state[here[2]]) @ self.body.offset
                total[2] -= turned(lever) @ total[:2]
        return system.sum(total)

# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates: eliminated rows whose residual is the reaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints
from ...assembly.agreement import Given
from ...assembly.configuration import require_system
from ...errors import ParameterError
from ...runtime.copies import OneProcess
from ...runtime.shown import Shown
from ...values.arguments import chosen_dofs
from ...values.parameter import vector3
from .names import AXES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...bodies.node import OneNode
    from ...values.motion import Displacement, Gradient, Motion


@dataclass(frozen=True)
class Offsets:
    """The local offsets of the coordinates that a support holds on a rank."""

    held: Ints


class Holdable(Protocol):
    """A body, as far as any support asks."""

    @property
    def name(self) -> str:
        """Shown in messages."""

    @property
    def extent(self) -> float:
        """Size [m]."""


class Support(OneProcess, Shown, ABC):
    """Coordinates of a body that are held or prescribed; made by `fix`, `symmetry`, `planar`.

    ``print`` tells what it holds. A coordinate of several supports counts for the last of them.

    Attributes
    ----------
    body : that it holds.
    motion, values : what is prescribed.
    mirror : number of the axis across the plane of symmetry that it is, if it is one.
    """

    mirror: int | None = None

    def __init__(self, name: str, body: Holdable, motion: Motion) -> None:
        self.name, self.body, self.motion = name, body, motion

    def headline(self) -> str:
        """Return what it holds."""
        return f"{self.name}: holds {self.describe()}"

    @abstractmethod
    def describe(self) -> str:
        """Tell what is held, in words."""

    @property
    def values(self) -> list[object]:
        """What is prescribed; asked whether it may change in time."""
        return [self.motion.displacement, self.motion.gradient]

    # ---- what a system asks of a support --------------------------------------------------------
    def bind(self, layout: Layout) -> Self:
        """Announce what it brings, before distribution (collective)."""
        layout.require_member(self.body, self.name)
        return self

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return conditions in directions that are no coordinates."""
        return []

    def coordinates(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the fixed coordinates."""
        return configuration.keep(self, Offsets(self.hold(configuration))).held

    def prescribed(self, configuration: Configuration, time: float) -> tuple[Ints, Array]:
        """Return the local offsets of the fixed coordinates and their values at `time`.

        Raises
        ------
        ParameterError : a user's function fails, or its result has the wrong shape or is not
            finite (on the ranks where that happens).
        """
        return configuration.of(self, Offsets).held, self.moved(configuration, time)

    def given(self, configuration: Configuration) -> list[Given]:
        """Return what the user prescribes at the places of this rank, as many on every rank."""
        X, motion, name = self.places(configuration), self.motion, configuration.name(self)
        found = []
        if motion.displacement is not None:
            found.append(Given(f"{name}: displacement", motion.u, X, motion.axes))
        if motion.gradient is not None:
            found.append(Given(f"{name}: gradient", motion.G, X))
        return found

    # ---- what kinds of supports say -------------------------------------------------------------
    @abstractmethod
    def hold(self, configuration: Configuration) -> Ints:
        """Find the coordinates to hold on this rank, and return their local offsets."""

    @abstractmethod
    def moved(self, configuration: Configuration, time: float) -> Array:
        """Return the values of these coordinates at `time`."""

    @abstractmethod
    def places(self, configuration: Configuration) -> Array:
        """Return the places (n, 3) that it holds on this rank."""

    # ---- results --------------------------------------------------------------------------------
    def forces(self, system: Configuration) -> Array:
        """Return the local vector of its forces on coordinates, this rank's part (collective)."""
        require_system(self.name, system)
        numbering = system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        mine = owned & (numbering.fixed_by == system.layout.number(self))
        return np.where(mine, system.residual_at_solution(), 0.0)

    def reaction(self, system: Configuration) -> Array:
        """Return the total force (3,) that the support exerts on the body (collective) [N].

        Of a planar body force and moment about its origin, (Fx, Fy, M).
        """
        forces = self.forces(system)
        return system.sum(system.wrench(forces, np.zeros(3)))[:3]

    def series(self, system: Configuration) -> dict[str, Callable[[], npt.ArrayLike]]:
        """Return what a history keeps of a support; see `DynamicProblem.record`."""
        return {"": lambda: self.reaction(system)}

    def reaction_moment(
        self, system: Configuration, about: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Return the moment (3,) of the support forces about a point (collective) [N m].

        It is the virtual work of the support forces and of the generalised forces on slopes in a
        rotation of the deformed body about the point `about`.
        """
        point = vector3("reaction_moment(about=...)", about)
        return system.sum(system.wrench(self.forces(system), point))[3:]


class FrameSupport(Support):
    """Holds a body of one node, or single coordinates of its frame.

    Raises
    ------
    ParameterError : names of coordinates that the body does not have; none.
    """

    body: OneNode

    def __init__(
        self,
        name: str,
        body: OneNode,
        dofs: str | Sequence[str],
        displacement: Displacement,
        gradient: Gradient,
    ) -> None:
        asked = set(chosen_dofs(name, dofs, ("clamp", "all", "position", *body.axes)))
        if not asked:
            raise ParameterError(
                f"{name}: dofs is empty, so that nothing is fixed", asked="dofs", given=()
            )
        self.held = [
            a
            for a, axis in enumerate(body.axes)
            if axis in asked or ("position" in asked and axis in AXES)
        ]
        if {"clamp", "all"} & asked:
            self.held = list(range(body.size))
        super().__init__(name, body, body.motion(name, self.held, displacement, gradient))

    def describe(self) -> str:
        """Tell what is held, in words."""
        if len(self.held) == self.body.size:
            return "the whole body, position and rotation"
        return f"{' and '.join(self.body.axes[a] for a in self.held)} of its frame"

    def places(self, configuration: Configuration) -> Array:
        """Return one place (1, 3): what is prescribed is the same anywhere."""
        return np.zeros((1, 3))

    def hold(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the coordinates that are held."""
        here = configuration.binding(self.body).here(configuration)
        return np.asarray(here[self.held] if len(here) else here, dtype=np.int64)

    def moved(self, configuration: Configuration, time: float) -> Array:
        """Return the values of these coordinates at `time`, none where the body is not."""
        X, held = self.places(configuration), configuration.of(self, Offsets).held
        q = self.body.moved(self.motion.u(X, time)[0], self.motion.G(X, time)[0])
        return np.asarray(q[self.held[: len(held)]])

    def reaction(self, system: Configuration) -> Array:
        """Return the total force, of a planar body also the moment; see `Support.reaction`."""
        origin = np.append(self.body.position(system)[:2], 0.0)  # forces are about any point
        total = system.sum(system.wrench(self.forces(system), origin))
        return np.asarray(total[list(self.body.reactions)])

# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates: eliminated rows whose residual is the reaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints
from ...assembly.agreement import PlaceFunction
from ...assembly.configuration import Configuration, InstantResult, Layout, in_system
from ...errors import ParameterError
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...terms.reaction import Reaction
from ...values.arguments import chosen_dofs
from ...values.parameter import vector3
from ...values.spellings import advise
from .names import AXES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.configuration import Extended
    from ...assembly.form import Form
    from ...bodies.node import OneNode
    from ...values.motion import Displacement, Gradient, Motion


class Support(OneProcess, Displayable, ABC):
    """Coordinates of a body that are held or prescribed; made by `fix`, `symmetry`, `planar`.

    ``print`` lists what it fixes. A coordinate of several supports counts for the last of them.

    Attributes
    ----------
    body : that it holds.
    motion : what is prescribed.
    mirror : number of the axis across the plane of symmetry that it is, if it is one.
    """

    mirror: int | None = None

    def __init__(self, name: str, body: Extended, motion: Motion) -> None:
        self.name, self.body, self.motion = name, body, motion

    def _headline(self) -> str:
        """Return what it holds."""
        return f"{self.name}: holds {self.describe()}"

    @abstractmethod
    def describe(self) -> str:
        """Tell what is held, in words."""

    @abstractmethod
    def bind(self, layout: Layout) -> BasicSupportBinding:
        """Announce what it brings, before distribution (collective)."""

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def forces(self, system: Configuration) -> Array:
        """Return the local vector of its forces on coordinates, this rank's part (collective)."""
        numbering = system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        mine = owned & (numbering.fixed_by == system.layout.number(self))
        return np.where(mine, system.residual_at_solution(), 0.0)

    @in_system
    def reaction(self, system: Configuration) -> Reaction:
        """Return force [N] and moment [N m] that the support exerts on the body (collective).

        They are the virtual work of the support forces, and of the generalised forces on slopes, in
        rigid motions of the deformed body.
        """
        forces, point = self.forces(system), self._middle(system)
        total = system.sum(system.wrench(forces, point))
        force, moment = total[..., None, :3], total[..., None, 3:]
        return Reaction(point[..., None, :], force, moment, self._former(total))

    def _middle(self, system: Configuration) -> Array:
        """Return the mean (3,) of the present places of the nodes that it holds (collective)."""
        numbering, sums = system.numbering, np.zeros((*system.state.shape[:-1], 4))
        mask = np.zeros(numbering.vertices, dtype=bool)
        mask[numbering.vertex_of[numbering.fixed_by == system.layout.number(self)]] = True
        mask[numbering.owned_vertices :] = False
        q = system.reference + system.state
        for number, block in enumerate(numbering.blocks):
            if block.kind == "position":
                carriers = numbering.carriers(number)
                x = q[..., numbering.coordinates_of(number, carriers[mask[carriers]])]
                sums[..., : block.size] += x.sum(axis=-2)
                sums[..., 3] += x.shape[-2]
        sums = system.sum(sums)
        return np.asarray(sums[..., :3] / np.maximum(sums[..., 3:], 1.0))

    def _former(self, total: Array) -> Array:
        """Return the numbers of a history: the force; of planar bodies see `FrameSupport`."""
        return np.asarray(total[..., :3])

    @in_system
    def series(self, system: Configuration) -> dict[str, Callable[[], npt.ArrayLike]]:
        """Return what a history keeps of a support; see `DynamicProblem.record`."""
        return {"": InstantResult(system, lambda at: np.asarray(self.reaction(at).former))}

    @in_system
    def reaction_moment(
        self, system: Configuration, about: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Return the moment about a point, by its former spelling."""
        advise("reaction_moment(system, about)", "reaction(system).moment_about(point)")
        point = vector3("reaction_moment(about=...)", about)
        return self.reaction(system).moment_about(point)


class BasicSupportBinding(ABC):
    """A support in one system.

    Attributes
    ----------
    name : in the system.
    body, mirror : of the support.
    values : what is prescribed; asked whether it may change in time.
    X, offsets : (n, 3) the places that it holds on this rank, and the local offsets of the fixed
        coordinates; after `coordinates`.
    """

    X: Array

    def __init__(self, support: Support, layout: Layout) -> None:
        layout.require_member(support.body, support.name)
        self.term, self.name = support, layout.name(support)
        self.body, self.mirror = support.body, support.mirror
        self.offsets: Ints = np.zeros(0, dtype=np.int64)
        self.values: list[Any] = [support.motion.displacement, support.motion.gradient]

    @abstractmethod
    def coordinates(self, configuration: Configuration) -> Ints:
        """Find the coordinates to hold on this rank, and return their local offsets."""

    @abstractmethod
    def course(self, times: Sequence[float]) -> Array:
        """Return the values (times, n) of the fixed coordinates.

        Raises
        ------
        ParameterError : a user's function fails, or its result has the wrong shape or is not
            finite (on the ranks where that happens).
        """

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return none: it holds coordinates."""
        return []

    def prescribed_functions(self, configuration: Configuration) -> list[PlaceFunction]:
        """Return what the user prescribes at the places of this rank, as many on every rank."""
        values, motion = [], self.term.motion
        if motion.displacement is not None:
            values.append(
                PlaceFunction(f"{self.name}: displacement", motion.u, self.X, motion.axes)
            )
        if motion.gradient is not None:
            values.append(PlaceFunction(f"{self.name}: gradient", motion.G, self.X))
        return values


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
        names = set(chosen_dofs(name, dofs, ("clamp", "all", "position", *body._dofs)))
        if not names:
            raise ParameterError(
                f"{name}: dofs is empty, so that nothing is fixed", asked="dofs", given=()
            )
        self.offsets = [
            a
            for a, axis in enumerate(body._dofs)
            if axis in names or ("position" in names and axis in AXES)
        ]
        if {"clamp", "all"} & names:
            self.offsets = list(range(body._size))
        super().__init__(name, body, body._motion(name, self.offsets, displacement, gradient))

    def describe(self) -> str:
        """Tell what is held, in words."""
        if len(self.offsets) == self.body._size and self.body._turns:
            return "the whole body, position and rotation"
        names = " and ".join(self.body._dofs[a] for a in self.offsets)
        return f"{names} of its frame" if self.body._turns else names

    def bind(self, layout: Layout) -> FrameSupportBinding:
        """Return what it is in a system: it brings nothing."""
        return FrameSupportBinding(self, layout)

    def _middle(self, system: Configuration) -> Array:
        """Return the present place (3,) of the body's origin (collective)."""
        place = self.body.position(system)
        return place * (1.0, 1.0, 0.0) if "theta" in self.body._dofs else place

    def _former(self, total: Array) -> Array:
        """Return the force, of a planar body force and moment, (Fx, Fy, M)."""
        return np.asarray(total[..., list(self.body._reactions)])


class FrameSupportBinding(BasicSupportBinding):
    """A support of a body of one node in one system."""

    term: FrameSupport

    def coordinates(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the coordinates that are held."""
        here = configuration.binding(self.term.body).here(configuration)
        self.X = np.zeros((1, 3))  # what is prescribed is the same anywhere
        self.offsets = np.asarray(here[self.term.offsets] if len(here) else here, dtype=np.int64)
        return self.offsets

    def course(self, times: Sequence[float]) -> Array:
        """Return the values (times, n) of these coordinates, none where the body is not."""
        support, motion = self.term, self.term.motion
        G = np.array([motion.G(self.X, t)[0] for t in (times if motion.turns else times[:1])])
        q = support.body._moved(motion.course(self.X, times)[:, 0], G)
        return np.asarray(q[:, support.offsets[: len(self.offsets)]])

# SPDX-License-Identifier: BSD-3-Clause
"""What users ask a contact after a solution: forces, pressures, states of its points."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Mask
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..errors import ParameterError
from ..places.interpolation import Interpolation
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.shown import Shown
from ..values.parameter import label, vector3
from .facets import FacetPass
from .lists import Lists
from .nodal import Nodal, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..assembly.configuration import Configuration
    from .rigid import RigidPass
    from .shapes import Shape
    from .sides import Side


class Counts(NamedTuple):
    """Numbers of points by what they do; without friction those that touch count as sticking."""

    open: int
    stick: int
    slip: int


class Results(OneProcess, Shown):
    """Results of a contact in a system, at its present state; all are collective."""

    name: str
    who: str
    passes: list[RigidPass | FacetPass]
    dampers: list[RigidPass]
    sides: list[tuple[Side, Sequence[RigidPass | FacetPass]]]
    bodies: tuple[Sequence[Body | RigidBody], Sequence[Body | RigidBody | Shape]]

    # ---- forces ---------------------------------------------------------------------------------
    def force(self, system: Configuration, on: object = None, *, damper: bool = True) -> Array:
        """Return the resultant (3,) of the contact [N].

        `on` : the body or the shape on which it acts, one of those of the contact; default: those
        of the first side. What acts on nodes that bodies share counts for each of them.
        `damper` : of rigid shapes: whether with the part of the damper of motions. Friction knows
        the pressure without it, so that without it |F_t| <= mu F_n on a plane; with it less presses
        while bodies part, and more while they meet. Between facets it is in the pressure.
        """
        return self._wrench(system, on, np.zeros(3), () if damper else self.dampers)[:3]

    def moment(
        self, system: Configuration, on: object = None, about: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Return the moment (3,) about a point of space [N m]; see `force`."""
        return self._wrench(system, on, vector3(f"{self.who}: moment(about=)", about))[3:]

    def _wrench(
        self,
        system: Configuration,
        on: object,
        about: Array,
        without: Sequence[RigidPass] = (),
    ) -> Array:
        first, second = self.bodies
        every = list(dict.fromkeys([*first, *second]))
        chosen = [body for body in every if body is on]
        if on is not None and not chosen:
            names = " and ".join(repr(body.name) for body in every)
            given = repr(on.name) if isinstance(on, Body | RigidBody) else label(on)
            raise ParameterError(f"{self.who} is between {names}; on={given} is none of them")
        bodies = [body for body in chosen or first if isinstance(body, Body | RigidBody)]
        sign = 1.0 if bodies else -1.0
        f = np.zeros(system.numbering.coordinates)
        asked = self._pieces(system) - {system.name(each) for each in without}
        own = np.array([piece.name in asked for piece in system.plan.pieces])
        with self._known(system), system.plan.only(own):
            with together(system.comm):
                system.plan.update(system.time)
            system.plan.residual(system.state, f)
        mine = np.any([_coordinates(system, body) for body in bodies or first], axis=0)
        return sign * system.sum(-system.wrench(np.where(mine, f, 0.0), about)) + 0.0  # no -0.0

    def _pieces(self, system: Configuration) -> set[str]:
        system.layout.number(self)  # one of its terms
        return {system.name(each) for each in (*self.passes, *self.dampers)}

    def dissipated(self, system: Configuration) -> float:
        """Return the energy that friction and damper have dissipated since the first step [J]."""
        names = self._pieces(system)
        chosen = [piece for piece in system.plan.pieces if piece.name in names]
        return float(system.sum(np.array([system.memory.dissipated(chosen)]))[0])

    @contextmanager
    def _known(self, system: Configuration) -> Iterator[None]:
        """Find lists and what laws remember before the first step, too, which finds its own."""
        facing = [each for each in self.passes if isinstance(each, FacetPass)]
        if any(system.of(each, Lists).accepted is None for each in facing):
            system.revise(system.time)
        first = not system.memory.known
        if first:
            system.forget()
        try:
            yield
        finally:
            if first:
                system.memory.forget()

    # ---- points ---------------------------------------------------------------------------------
    def status(self, system: Configuration) -> Counts:
        """Return how many points are open, stick and slip."""
        found = np.zeros(3)
        with self._known(system), together(system.comm):
            for each in self.passes:
                look = each.look(system)
                found += [(look.status[look.owned] == s).sum() for s in range(3)]
        return Counts(*map(int, system.sum(found)))

    def penetration_of(self, system: Configuration) -> tuple[float, float]:
        """Return the deepest penetration [m], and the deepest in parts of the local size.

        Of the points of quadrature, which press: nodes at edges may lie deeper.
        """
        with self._known(system):
            looks = [each.look(system) for each in self.passes]
        deep = [float((-look.gap).max(initial=0.0)) for look in looks]
        part = [float((-look.gap / look.length).max(initial=0.0)) for look in looks]
        every = system.comm.allgather((max(deep), max(part)))
        return max(d for d, _ in every), max(p for _, p in every)

    def clearance(self, system: Configuration) -> float:
        """Return the smallest gap of all points [m], negative where they press.

        Its zeros are events of a motion, in which contact begins and ends::

            begins = problem.event(lambda: contact.clearance(system), direction=-1)
            ends = problem.event(lambda: contact.clearance(system), direction=1)

        Where no point is near its target it is the size of the system.
        """
        least = system.extent
        for each in self.passes:
            with self._known(system), together(system.comm):
                look = each.look(system)
            gaps = each.gaps(system, look) if isinstance(each, FacetPass) else look.gap
            least = min(least, float(np.min(gaps, initial=np.inf, where=np.isfinite(gaps))))
        return float(system.comm.allreduce(least, op=MPI.MIN))

    def series(self, system: Configuration) -> dict[str, Callable[[], npt.ArrayLike]]:
        """Return what a history keeps of a contact, by name; see `DynamicProblem.record`."""
        found: dict[str, Callable[[], npt.ArrayLike]] = {
            "force": lambda: self.force(system),
            "penetration": lambda: self.penetration_of(system)[0],
            "dissipated": lambda: self.dissipated(system),
            "status": lambda: self.status(system),
        }
        if self.dampers:
            found["undamped"] = lambda: self.force(system, damper=False)
        return found

    def nodal(self, system: Configuration, number: int = 0) -> Nodal:
        """Return means over corners of the first side, or of the second (`number` 1).

        Raises
        ------
        ParameterError : the points are those of a rigid body; there is no such side.
        """
        if not self.sides:
            raise ParameterError(
                f"{self.who}: {self.passes[0].contactor} has no surface",
                asked="surface",
                given=str(self.passes[0].contactor),
            )
        if number not in range(len(self.sides)):
            sides = " and ".join(f"{k}, {side}" for k, (side, _) in enumerate(self.sides))
            raise ParameterError(
                f"{self.who}: number={label(number)} is no side: it has {sides}",
                asked="number",
                given=number,
                possible=range(len(self.sides)),
            )
        side, passes = self.sides[number]
        with self._known(system):
            return told(side, passes, system).over_nodes(system.layout)

    def pressure(self, system: Configuration, number: int = 0) -> Array:
        """Return nominal nodal pressures (n,), per area of the reference; see `true_pressure`.

        Of cables per length. Places are `nodal(system).X`.
        """
        return self.nodal(system, number).pressure

    def true_pressure(self, system: Configuration, number: int = 0) -> Array:
        """Return true nodal pressures (n,), per present area (of cables: length).

        Where a surface has grown they are smaller than the nominal ones of `pressure`.
        """
        return self.nodal(system, number).true_pressure

    def gap(self, system: Configuration, number: int = 0) -> Array:
        """Return nodal gaps (n,) [m]; NaN where nothing is opposite."""
        return self.nodal(system, number).gap


def _coordinates(system: Configuration, body: Body | RigidBody) -> Mask:
    """Return which local coordinates are those of a body and owned by this rank."""
    found = np.zeros(system.numbering.coordinates, dtype=bool)
    if isinstance(body, RigidBody):
        found[body.here(system)] = True
    else:
        on = system.of(body, Interpolation)
        vertices = np.zeros(len(system.points), dtype=bool)
        vertices[np.unique(on.cells)] = True
        found = vertices[system.numbering.vertex_of]
    owned = system.numbering.vertex_of < system.numbering.owned_vertices
    return np.asarray(found & owned)

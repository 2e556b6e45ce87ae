# SPDX-License-Identifier: BSD-3-Clause
"""Closed spaces filled with gas: their volume, and what the gas does to the walls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, TypeVar
from weakref import WeakSet

import numpy as np

from ...arrays import Array, Ints32
from ...errors import MeshError, ParameterError
from ...runtime.collective import share_error
from ...runtime.copies import OneProcess
from ...runtime.shown import Shown
from ...values.arguments import among
from ...values.parameter import depends_on_time, evaluate, label
from .amount import Gas
from .enclosure import Enclosure
from .surface import Surface, surfaces_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...assembly.protocol import Carriers
    from ...places.on_body import Face, Nodes
    from ...values.parameter import Scalar

TIGHT = 1e-10  # of the area: the resultant of a pressure on a closed surface, in any state
Value = TypeVar("Value", float, bool)

DISTURBED = 0.02  # of the facets' size: the state in which that is tried


class Cavity(OneProcess, Shown):
    r"""A closed space: its volume V(q), with a pressure in it the potential -p V, or with gas.

    Parameters
    ----------
    walls : surfaces of bodies that enclose it: ``body["region"]`` of facets of solids, of
        plates (their mid-surface; the gas is inside) or ``body["region"].face(+1)`` (the gas is
        on that side and touches the face z = thickness/2; ``middle=True``: the mid-surface).
    caps : None: the walls alone are closed; ``"flat"``: each rim is closed by a lid, on which
        the gas presses, too; the nodes of the rim carry it.
    pressure : p [Pa] over that outside: number, `Parameter` or function of time.
    gas : `Gas`, a given amount; its pressure is an unknown then.
    name : shown in messages.

    Without pressure and gas it only measures its volume.

    Attributes
    ----------
    reference_volume : V_0 [m^3], in the system that it was given to.
    watertight : the walls have no gaps there, in any state; see Notes. Where it was given to
        systems in which these differ, ask ``system.of(cavity, Enclosure)``.

    Raises
    ------
    MeshError : the walls are open (and no caps are asked for), three meet at an edge, or have
        one side only; with gas, the surface is not watertight.
    ParameterError : the gas would be outside, or thick walls leave it no space; an unknown value
        of caps.

    Notes
    -----
    Of walls without a side each closed part is filled; for the space between two shells give
    their sides, ``face(-1, middle=True)``. A rim that is not plane gets a cone as its lid, with
    the tip at the mean of its nodes.

    Cells that are numbered in the other sense are turned, with a warning. Facets of solids and
    mid-surfaces that share their nodes' slopes are watertight: the potential is exact, its
    tangent symmetric, the resultant zero. The faces z = +-thickness/2 are not where walls meet at
    a kink (they overlap there), nor those of thin plates, whose normals are continuous at nodes
    only. Nor are facets of solids beside plates, whose edges are straight on one side and cubic
    on the other. The defect is told by a warning and `closure`, and p acts by its virtual work.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.tube(1.0, 1.2, 2.0, 2)
    >>> pipe = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke, mu=1.0, lam=2.0)
    >>> hold = sa.Cavity(pipe["inner"], caps="flat", pressure=0.01)
    >>> system = sa.System(pipe, terms=[sa.fix(pipe["z0"]), hold])
    >>> round(hold.reference_volume, 2)              # of the polygon of 8 sides
    5.66
    """

    def __init__(
        self,
        walls: Sequence[Nodes | Face] | Nodes | Face,
        caps: Literal["flat"] | None = None,
        pressure: Scalar | None = None,
        gas: Gas | None = None,
        name: str = "cavity",
    ) -> None:
        self.name = name
        self.surfaces = _surfaces(name, walls)
        if caps is not None and not among(caps, ("flat",)):
            raise ParameterError(
                f"{name}: caps={label(caps)} is not possible: give None or 'flat'",
                asked="caps",
                given=caps,
                possible=(None, "flat"),
            )
        if pressure is not None and gas is not None:
            raise ParameterError(
                f"{name}: give either a pressure or an amount of gas",
                asked="pressure",
                given=pressure,
                possible=("pressure", "gas"),
            )
        if gas is not None and not isinstance(gas, Gas):
            raise ParameterError(
                f"{name}: gas={label(gas)}: give sa.Gas(amount=...)",
                asked="gas",
                given=gas,
                possible=("Gas",),
            )
        if pressure is not None and not callable(pressure):
            evaluate(f"pressure of {name!r}", pressure, 0.0)
        self.caps, self.p, self.gas = caps, pressure, gas
        self._enclosures: WeakSet[Enclosure] = WeakSet()

    # ---- as part of a system -------------------------------------------------------------------
    def bind(self, layout: Layout) -> Self:
        """Announce facets and rims before distribution (collective)."""
        capped, filled = self.caps is not None, self.gas is not None
        layout.keep(self, Enclosure(layout, layout.name(self), self.surfaces, capped, filled))
        return self

    def carriers(self, configuration: Configuration) -> Carriers:
        """Take this rank's facets; the pressure of gas is a coordinate of its own."""
        return configuration.of(self, Enclosure).carriers(configuration)

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels, facets and rims on this rank (collective)."""
        space = configuration.of(self, Enclosure)
        space.orient(configuration)
        space.measure(configuration)
        self._enclosures.add(space)
        space.watertight = self._is_tight(configuration, space)
        uniform: dict[str, Scalar] = {"scale": lambda t: configuration.stiffness}
        if self.gas is not None:
            uniform["size"] = space.reference_volume ** (1.0 / 3.0)
            # where the amount changes, so does the energy: all pieces say so to the audit
            number = partial(self.gas.number, place=space.name)
            uniform["amount"] = number if depends_on_time(self.gas.amount) else number(0.0)
            made = space.pieces(configuration, "gas", "potential", uniform)
            return [*made, space.gas_piece(configuration, self.gas, uniform)]
        if self.p is None:
            return []
        uniform["p"] = self.p
        if space.watertight:
            return space.pieces(configuration, "potential", "potential", uniform)
        return space.pieces(configuration, "pressure", "work", uniform)

    def idle(self, configuration: Configuration) -> Ints32:
        """Return the coordinates of lids that nothing presses on: they have no equations."""
        space = configuration.of(self, Enclosure)
        loaded = self.p is not None or self.gas is not None
        return np.zeros(0, dtype=np.int32) if loaded else space.lid_coordinates(configuration)

    def _is_tight(self, configuration: Configuration, space: Enclosure) -> bool:
        """Try whether a pressure has no resultant in a disturbed state; warn (collective)."""
        gap = space.closure(configuration, space.disturbed(configuration, DISTURBED))
        if gap <= TIGHT:
            return True
        text = (
            f"{space.name} is not watertight: in a disturbed state a pressure on its walls has a "
            f"resultant of {gap:.1g} of its size (faces z = +-thickness/2 overlap at kinks; slopes "
            "that are not shared, and plates beside solids, open gaps)"
        )
        if not all(surface.middle for surface in self.surfaces):
            text += "; face(..., middle=True) is the mid-surface"
        error = (
            MeshError(text, asked="watertight walls", given=gap) if self.gas is not None else None
        )
        share_error(configuration.comm, error)
        if self.p is not None and configuration.comm.rank == 0:
            warnings.warn(text, stacklevel=4)
        return False

    def _scale(self, configuration: Configuration) -> float:
        """Return the unit of the unknown pressure [Pa]: multipliers have system.stiffness."""
        return float(
            configuration.stiffness
            / configuration.of(self, Enclosure).reference_volume ** (1.0 / 3.0)
        )

    def settle(self, configuration: Configuration) -> None:
        """Give gas the pressure that belongs to its volume, and lids theirs (collective)."""
        space = configuration.of(self, Enclosure)
        if self.gas is not None:
            ratio = space.volume(configuration, configuration.state) / space.reference_volume
            if ratio > 0.0:
                p = self.gas.pressure(ratio, configuration.time, space.name)
                space.settle(configuration, p, self._scale(configuration))
        elif self.p is not None:
            space.settle(configuration, self.pressure(configuration), 1.0)

    # ---- results -------------------------------------------------------------------------------
    @property
    def reference_volume(self) -> float:
        """V_0 [m^3]."""
        return self._common("reference_volume", {e.reference_volume for e in self._enclosures})

    @property
    def watertight(self) -> bool:
        """Whether the walls have no gaps, in any state."""
        return self._common("watertight", {e.watertight for e in self._enclosures})

    def _common(self, what: str, values: set[Value]) -> Value:
        if not values:
            raise ParameterError(
                f"{self.name!r} is in no system yet: sa.System(..., terms=[...])",
                asked="system",
                given=None,
            )
        if len(values) > 1:
            raise ParameterError(
                f"{self.name!r} is in several systems, in which {what} differs: give each system "
                "a cavity of its own",
                asked=what,
                given=tuple(sorted(values)),
            )
        return next(iter(values))

    def volume(self, system: Configuration, state: Array | None = None) -> float:
        """Return the enclosed volume [m^3] at the present state, on every rank (collective)."""
        return system.of(self, Enclosure).volume(system, system.state if state is None else state)

    def series(self, system: Configuration) -> dict[str, Callable[[], float]]:
        """Return what a history keeps of a cavity; see `DynamicProblem.record`."""
        return {
            "volume": lambda: self.volume(system),
            "pressure": lambda: self.pressure(system),
        }

    def closure(self, system: Configuration, state: Array | None = None) -> float:
        """Return the size of the sum of all normals over the area of the walls (collective).

        It is 0 where walls and lids are closed.
        """
        return system.of(self, Enclosure).closure(system, system.state if state is None else state)

    def pressure(self, system: Configuration) -> float:
        """Return the present pressure [Pa] over that outside, on every rank (collective)."""
        space = system.of(self, Enclosure)
        if self.gas is None:
            return evaluate(f"pressure of {self.name!r}", self.p or 0.0, system.time)
        return space.pressure(system) * self._scale(system)


def _surfaces(name: str, walls: Sequence[Nodes | Face] | Nodes | Face) -> list[Surface]:
    """Return the surfaces of walls, whose facets are of one order.

    Raises
    ------
    ParameterError
    """
    given = list(walls) if isinstance(walls, Sequence) else [walls]
    if not given:
        raise ParameterError(
            f"{name}: give its walls, sa.Cavity([body['region'], ...])", asked="walls", given=()
        )
    surfaces = [surface for place in given for surface in surfaces_of(place, name)]
    kinds = dict.fromkeys(surface.element.cell for surface in surfaces)
    if len({surface.element.topology.edge for surface in surfaces}) > 1:
        raise ParameterError(
            f"{name}: its walls have facets of types {' and '.join(map(repr, kinds))}, which "
            "leave gaps between them; give walls of one order",
            asked="walls",
            given=tuple(kinds),
        )
    return surfaces

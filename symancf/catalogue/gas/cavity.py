# SPDX-License-Identifier: BSD-3-Clause
"""Closed spaces filled with gas: their volume, and what the gas does to the walls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar
from weakref import WeakSet

import numpy as np

from ...arrays import Array, Ints32
from ...assembly.assembler import Assembler
from ...assembly.configuration import Configuration, Layout, in_system
from ...assembly.form import Form, Jets, Role
from ...assembly.numbering import Block
from ...errors import MeshError, ParameterError
from ...laws import lid_laws, surface_laws
from ...mesh.partition import Family
from ...runtime import jit
from ...runtime.collective import share_error, together
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...values.arguments import among
from ...values.parameter import Derived, depends_on_time, evaluate, label
from .amount import Gas
from .lid import FORCES, MEANS, SCALARS, Rims
from .orientation import Hull
from .surface import CavityFacets, CavitySurface, Scalars, surfaces_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...assembly.protocol import Carriers
    from ...laws.pressure import PressureLaw
    from ...places.on_body import Face, Nodes
    from ...values.parameter import Scalar

ORIGIN = ("o1", "o2", "o3")

# of all cavities with gas: the unknown pressure over its scale
PRESSURES = Block("pressures", 1, "algebraic", "pressure", sums=True)

#: of the area: the resultant of a pressure on a closed surface, in any state
CLOSED_TOLERANCE = 1e-10
DISTURBED = 0.02  # of the facets' size: the state in which that is tried

Value = TypeVar("Value", float, bool)


class Cavity(OneProcess, Displayable):
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
        systems in which these differ, ask ``system.binding(cavity)``.
    measured : what it is in the systems that are still there.

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
    on the other. A warning and `closure` report the defect, and p acts by its virtual work.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.tube(1.0, 1.2, 2.0, 2)
    >>> pipe = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
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
        self.measured: WeakSet[CavityBinding] = WeakSet()

    def bind(self, layout: Layout) -> CavityBinding:
        """Announce facets and rims before distribution (collective)."""
        return CavityBinding(self, layout)

    # ---- results -------------------------------------------------------------------------------
    @property
    def reference_volume(self) -> float:
        """V_0 [m^3]."""
        return self._common("reference_volume", {own.reference_volume for own in self.measured})

    @property
    def watertight(self) -> bool:
        """Whether the walls have no gaps, in any state."""
        return self._common("watertight", {own.watertight for own in self.measured})

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

    @in_system
    def volume(self, system: Configuration, state: Array | None = None) -> float:
        """Return the enclosed volume [m^3] at the present state, on every rank (collective)."""
        return system.binding(self).volume(system, system.state if state is None else state)

    @in_system
    def series(self, system: Configuration) -> dict[str, Callable[[], float]]:
        """Return what a history keeps of a cavity; see `DynamicProblem.record`."""
        return {
            "volume": lambda: self.volume(system),
            "pressure": lambda: self.pressure(system),
        }

    @in_system
    def closure(self, system: Configuration, state: Array | None = None) -> float:
        """Return the size of the sum of all normals over the area of the walls (collective).

        It is 0 where walls and lids are closed.
        """
        return system.binding(self).closure(system, system.state if state is None else state)

    @in_system
    def pressure(self, system: Configuration) -> float:
        """Return the present pressure [Pa] over that outside, on every rank (collective)."""
        return system.binding(self).pressure(system)


class CavityBinding:
    """A cavity in one system: its walls and lids.

    Attributes
    ----------
    name : in the system.
    reference_volume : V_0 [m^3].
    watertight : whether the walls have no gaps, in any state.
    """

    reference_volume: float
    watertight: bool

    def __init__(self, cavity: Cavity, layout: Layout) -> None:
        self.cavity, self.name = cavity, layout.name(cavity)
        self.surfaces, self.gas = cavity.surfaces, cavity.gas
        surfaces, name, vertex = self.surfaces, self.name, np.zeros(0, dtype=np.int64)
        if self.gas is not None:
            vertex = layout.new_vertices(1, name, PRESSURES)
            here = vertex[:, None] if layout.comm.rank == 0 else np.zeros((0, 1), dtype=np.int64)
            ids = np.arange(len(here), dtype=np.int64)
            layout.announce(Family(f"{name}:gas", ids, here, partitioned=False))
        slices = [surface.slice(layout) for surface in surfaces]
        self.hull = hull = Hull(layout, name, surfaces, slices, cavity.caps is not None)
        for number in range(len(surfaces)):
            ids, nodes = hull.of(number)
            common = np.broadcast_to(vertex, (len(ids), len(vertex)))
            vertices = np.concatenate([nodes, common], axis=1)
            layout.announce(Family(f"{name}:{number}", ids, vertices, partitioned=False))
        self.rims = Rims(layout, f"{name}:rim", surfaces, hull, vertex)
        self.lids = hull.rim.lids

    # ---- as part of a system -------------------------------------------------------------------
    def carriers(self, configuration: Configuration) -> Carriers:
        """Take this rank's facets; return the blocks of pressure and lids (collective)."""
        families = enumerate(self.surfaces)
        self.walls = [
            CavityFacets(surface, configuration, f"{self.name}:{k}") for k, surface in families
        ]
        self.edges = self.rims.bind(configuration, self.surfaces)
        means, forces, pressures = ([np.zeros(0, dtype=np.int32)] for _ in range(3))
        for edges in self.edges:
            means.append(edges.extra[:, 0])
            forces.append(edges.extra[:, 1])
            pressures.append(edges.extra[:, 2:].ravel())
        pressures += [facets.extra.ravel() for facets in self.walls]
        if self.gas is not None:
            pressures.append(configuration.topology.families[f"{self.name}:gas"].vertices[:, 0])
        blocks = zip((MEANS, FORCES, PRESSURES), (means, forces, pressures), strict=True)
        used = ((block, np.unique(np.concatenate(at))) for block, at in blocks)
        # by which the points and forces of lids go in pairs
        ids = configuration.topology.vertex_ids
        self._carriers = {block: at[np.argsort(ids[at])] for block, at in used}
        there = {MEANS: self.lids > 0, FORCES: self.lids > 0, PRESSURES: self.gas is not None}
        return [(block.name, at) for block, at in self._carriers.items() if there[block]]

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels, facets and rims on this rank (collective)."""
        self.hull.orient(configuration, self.walls)
        self.rims.orient(self.edges)
        self._measure(configuration)
        self.watertight = self._is_tight(configuration)
        self.cavity.measured.add(self)
        uniform: dict[str, Scalar] = {"scale": lambda t: configuration.stiffness}
        if self.gas is not None:
            uniform["size"] = self.reference_volume ** (1.0 / 3.0)
            # where the amount changes, so does the energy: all forms say so to the audit
            number = partial(self.gas.number, place=self.name)
            amount = self.gas.amount
            uniform["amount"] = Derived(amount, number) if depends_on_time(amount) else number(0.0)
            forms = self._surfaces(configuration, "gas", "potential", uniform)
            return [*forms, self._gas_form(configuration, self.gas, uniform)]
        if self.cavity.p is None:
            return []
        uniform["p"] = self.cavity.p
        if self.watertight:
            return self._surfaces(configuration, "potential", "potential", uniform)
        return self._surfaces(configuration, "pressure", "work", uniform)

    def idle(self, configuration: Configuration) -> Ints32:
        """Return the coordinates of lids that nothing presses on: they have no equations."""
        if self.cavity.p is not None or self.gas is not None:
            return np.zeros(0, dtype=np.int32)
        coordinates = [self.coordinates(configuration, block) for block in (MEANS, FORCES)]
        return np.concatenate(coordinates)

    def settle(self, configuration: Configuration) -> None:
        """Give gas the pressure that belongs to its volume, and lids theirs (collective)."""
        if self.gas is not None:
            ratio = self.volume(configuration, configuration.state) / self.reference_volume
            if ratio > 0.0:
                p = self.gas.pressure(ratio, configuration.time, self.name)
                self._take_pressure(configuration, p, self._scale(configuration))
        elif self.cavity.p is not None:
            self._take_pressure(configuration, self.pressure(configuration), 1.0)

    def coordinates(self, configuration: Configuration, block: Block) -> Ints32:
        """Return the local offsets of this rank's coordinates of a block, ghosts included."""
        at = self._carriers[block]
        if not len(at):
            return np.zeros(0, dtype=np.int32)
        start = configuration.numbering.offset[at, configuration.numbering.block(block.name)]
        return np.asarray(start[:, None] + np.arange(block.size, dtype=np.int32)).ravel()

    # ---- kernels -------------------------------------------------------------------------------
    def _surfaces(
        self,
        configuration: Configuration,
        law: PressureLaw,
        role: Role,
        uniform: Mapping[str, Scalar],
    ) -> list[Form]:
        """Return the kernels of walls and lids, facets and rims on this rank (collective)."""
        values = {**dict(zip(ORIGIN, self.hull.centre.tolist(), strict=True)), **uniform}
        forms = []
        for k, facets in enumerate([*self.walls, *self.edges]):
            surface, lid = facets.surface, k >= len(self.walls)
            laws = (lid_laws if lid else surface_laws)(
                surface.element, law, offset=not surface.middle, fields=surface.fields
            )
            scalars = list(SCALARS) if lid else []
            if law == "gas":
                scalars.append(Scalars(PRESSURES.name, facets.extra.shape[1] - 1, 1))
            cell = {"share": self.rims.share(facets)} if lid else {}
            name = f"{self.name}: {'lids of ' if lid else ''}{surface}"
            forms.append(facets.form(configuration, name, laws, role, values, scalars, cell))
        return forms

    def _gas_form(
        self, configuration: Configuration, gas: Gas, uniform: Mapping[str, Scalar]
    ) -> Form:
        """Return the energy of the gas (collective)."""
        family = configuration.topology.families[f"{self.name}:gas"]
        n = len(family.ids)
        block = configuration.numbering.block(PRESSURES.name)
        start = configuration.numbering.offset[family.vertices[:, 0], block]
        none = np.zeros(n, dtype=np.int32)
        return Form(
            name=f"{self.name}:gas",
            kernel=jit.points(gas.law(), configuration.comm),
            role="potential",
            uniform={
                **uniform,
                "ambient": gas.ambient,
                "exponent": gas.exponent,
                "V0": self.reference_volume,
            },
            cell=np.zeros((n, 0)),
            owned=family.owned,
            vertices=family.vertices.ravel(),
            vertex_start=np.arange(n + 1, dtype=np.int32),
            entities=Jets(np.arange(n, dtype=np.int32), none, start, none, np.ones(n)),
        )

    # ---- geometry ------------------------------------------------------------------------------
    def _measure(self, configuration: Configuration) -> None:
        """Make ready to evaluate -V: the potential of a pressure of 1 (collective)."""
        unit = {"p": 1.0, "scale": 1.0, "size": 1.0}
        law: PressureLaw = "potential" if self.gas is None else "gas"
        forms = self._surfaces(configuration, law, "potential", unit)
        self._assembler = Assembler(
            forms, configuration.numbering, configuration.reference, configuration.comm
        )
        means = self.coordinates(configuration, MEANS)
        configuration.reference[means] = self._means(
            configuration, np.zeros_like(configuration.state)
        )[means]
        self.reference_volume = self.volume(configuration, np.zeros_like(configuration.state))
        if self.reference_volume <= 0.0:
            raise ParameterError(
                f"{self.name}: its walls are so thick that their faces enclose no space (the "
                f"volume is {self.reference_volume:.3g})",
                asked="volume",
                given=self.reference_volume,
            )

    def _forces(self, configuration: Configuration, x: Array, of: Ints32 | None = None) -> Array:
        """Return -dV/du (local vector) at a state (collective).

        Rows of owned vertices are complete, and those `of` some coordinates everywhere: the force
        on a lid may belong to another rank than its point.
        """
        f = np.zeros_like(x)
        with together(configuration.comm):
            self._assembler.update(configuration.time)
            self._assembler.residual(x, f)
        if of is not None:
            configuration.numbering.update_ghosts(f, of)
        return f

    def _means(self, configuration: Configuration, state: Array) -> Array:
        """Return the state with p = 1, no forces on lids, and their points in the mean of rims."""
        x = state.copy()
        x[self.coordinates(configuration, PRESSURES)] = 1.0
        if self.lids:
            means, forces = (self.coordinates(configuration, block) for block in (MEANS, FORCES))
            x[forces] = x[means] = 0.0
            x[means] = -self._forces(configuration, x, forces)[forces]
        return x

    def _balanced(self, configuration: Configuration, state: Array) -> Array:
        """Return the state with p = 1, points of lids in the mean of rims, and forces on these."""
        x = self._means(configuration, state)
        if self.lids:
            means, forces = (self.coordinates(configuration, block) for block in (MEANS, FORCES))
            x[forces] = -self._forces(configuration, x, means)[means]
        return x

    def _of_walls(self, configuration: Configuration, f: Array) -> Array:
        """Return a local vector without ghosts, pressures and lids."""
        f[configuration.numbering.start[configuration.numbering.owned_vertices] :] = 0.0
        for block in (PRESSURES, MEANS, FORCES):
            f[self.coordinates(configuration, block)] = 0.0
        return f

    def volume(self, configuration: Configuration, state: Array) -> float:
        """Return V [m^3] at a state (collective)."""
        x = self._means(configuration, state)
        with together(configuration.comm):
            self._assembler.update(configuration.time)
            energies, _ = self._assembler.energies(x)
        return -float(configuration.sum(np.array([energies.sum()]))[0])

    def volume_slope(self, configuration: Configuration, state: Array) -> Array:
        """Return the derivative of V by coordinates at a state, lids following (collective).

        A local vector that has what this rank owns, and nothing of lids and pressures.
        """
        f = self._forces(configuration, self._balanced(configuration, state))
        return self._of_walls(configuration, -f)

    def closure(self, configuration: Configuration, state: Array) -> float:
        """Return the size of the sum of all normals over the area of the walls (collective).

        A translation t of the walls alone changes V by t . (sum of normals)/3.
        """
        x = self._means(configuration, state)
        f, numbering = self._forces(configuration, x), configuration.numbering
        at = numbering.offset[: numbering.owned_vertices, numbering.block("position")]
        total = np.zeros(4)
        total[:3] = -3.0 * f[at[at >= 0][:, None] + np.arange(3)].sum(axis=0)
        means = self.coordinates(configuration, MEANS).reshape(-1, 3)
        total[:3] -= 3.0 * f[means[self._carriers[MEANS] < numbering.owned_vertices]].sum(axis=0)
        with together(configuration.comm):
            present = positions(configuration, state)
            for facets in self.walls:
                normals = facets.normals(present)[facets.owned]
                total[3] += np.linalg.norm(normals, axis=1).sum()
        total = configuration.sum(total)
        return float(np.linalg.norm(total[:3]) / total[3])

    def _is_tight(self, configuration: Configuration) -> bool:
        """Try whether a pressure has no resultant in a disturbed state; warn (collective)."""
        gap = self.closure(configuration, self.disturbed(configuration, DISTURBED))
        if gap <= CLOSED_TOLERANCE:
            return True
        text = (
            f"{self.name} is not watertight: in a disturbed state a pressure on its walls has a "
            f"resultant of {gap:.1g} of its size (faces z = +-thickness/2 overlap at kinks; slopes "
            "that are not shared, and plates beside solids, open gaps)"
        )
        if not all(surface.middle for surface in self.surfaces):
            text += "; face(..., middle=True) is the mid-surface"
        error = (
            MeshError(text, asked="watertight walls", given=gap) if self.gas is not None else None
        )
        share_error(configuration.comm, error)
        if self.cavity.p is not None and configuration.comm.rank == 0:
            warnings.warn(text, stacklevel=4)
        return False

    def disturbed(self, configuration: Configuration, by: float) -> Array:
        """Return a random state that moves nodes `by` the size of the facets."""
        state = np.asarray(by * configuration.numbering.random(11))
        state[configuration.numbering.those("position")] *= self.hull.size
        return state

    # ---- the pressure --------------------------------------------------------------------------
    def _scale(self, configuration: Configuration) -> float:
        """Return the unit of the unknown pressure [Pa]: multipliers have system.stiffness."""
        return float(configuration.stiffness / self.reference_volume ** (1.0 / 3.0))

    def _take_pressure(self, configuration: Configuration, p: float, scale: float) -> None:
        """Give the own coordinates the values of a pressure p [Pa] (collective).

        `scale` : unit of the unknown pressure [Pa].
        """
        configuration.state[self.coordinates(configuration, PRESSURES)] = p / scale
        if self.lids:
            means, forces = (self.coordinates(configuration, block) for block in (MEANS, FORCES))
            x = self._balanced(configuration, configuration.state)
            configuration.state[means] = x[means]
            configuration.state[forces] = p / configuration.stiffness * x[forces]

    def pressure(self, configuration: Configuration) -> float:
        """Return the present pressure [Pa] over that outside, on every rank (collective)."""
        if self.gas is None:
            p = self.cavity.p or 0.0
            return evaluate(f"pressure of {self.name!r}", p, configuration.time)
        mine = self._carriers[PRESSURES] < configuration.numbering.owned_vertices
        own = configuration.state[self.coordinates(configuration, PRESSURES)[mine]]
        return float(configuration.sum(np.array([own.sum()]))[0]) * self._scale(configuration)

    def pressure_slope(self, configuration: Configuration) -> Array:
        """Return the derivative of the pressure by coordinates, zero where it is a load."""
        f = np.zeros_like(configuration.state)
        if self.gas is not None:
            mine = self._carriers[PRESSURES] < configuration.numbering.owned_vertices
            at = self.coordinates(configuration, PRESSURES)[mine]
            f[at] = self._scale(configuration)
        return f


def positions(configuration: Configuration, state: Array) -> Array:
    """Return the present positions (vertices, 3) of this rank's nodes, those of meshes."""
    x = configuration.points.copy()
    block = configuration.numbering.block("position")
    at = configuration.numbering.carriers(block)
    x[at] += state[configuration.numbering.offset[at, block][:, None] + np.arange(3)]
    return x


def _surfaces(name: str, walls: Sequence[Nodes | Face] | Nodes | Face) -> list[CavitySurface]:
    """Return the surfaces of walls, whose facets are of one order.

    Raises
    ------
    ParameterError
    """
    places = list(walls) if isinstance(walls, Sequence) else [walls]
    if not places:
        raise ParameterError(
            f"{name}: give its walls, sa.Cavity([body['region'], ...])", asked="walls", given=()
        )
    surfaces = [surface for place in places for surface in surfaces_of(place, name)]
    kinds = dict.fromkeys(surface.element.cell for surface in surfaces)
    if len({surface.element.topology.edge for surface in surfaces}) > 1:
        raise ParameterError(
            f"{name}: its walls have facets of types {' and '.join(map(repr, kinds))}, which "
            "leave gaps between them; give walls of one order",
            asked="walls",
            given=tuple(kinds),
        )
    return surfaces

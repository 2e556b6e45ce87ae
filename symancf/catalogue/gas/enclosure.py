# SPDX-License-Identifier: BSD-3-Clause
"""What a cavity finds in a system: its facets and rims, which side is inside, its volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints32
from ...assembly.numbering import Block
from ...assembly.piece import Jets, Piece, Role
from ...assembly.plan import Plan
from ...errors import ParameterError
from ...laws import lid_laws, surface_laws
from ...mesh.partition import Family
from ...runtime import jit
from ...runtime.collective import together
from .lid import FORCES, MEANS, SCALARS, Rims
from .orientation import Hull
from .surface import Facets, Scalars, Surface

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...assembly.protocol import Carriers
    from ...laws.pressure import Form
    from ...values.parameter import Scalar
    from .amount import Gas

ORIGIN = ("o1", "o2", "o3")

# of all cavities with gas: the unknown pressure over its scale
PRESSURES = Block("pressures", 1, "algebraic", "pressure")


class Enclosure:
    """The walls and lids of a cavity in a system.

    Parameters
    ----------
    name, surfaces : of the cavity.
    caps : whether rims are closed by lids.
    gas : whether the pressure is an unknown.

    Attributes
    ----------
    reference_volume : V_0 [m^3].
    watertight : whether the walls have no gaps, in any state.
    """

    reference_volume: float
    watertight: bool

    def __init__(
        self, layout: Layout, name: str, surfaces: Sequence[Surface], caps: bool, gas: bool
    ) -> None:
        self.name, self.surfaces, self.gas = name, surfaces, gas
        vertex = layout.new_vertices(1, name, PRESSURES) if gas else np.zeros(0, dtype=np.int64)
        if gas:
            here = vertex[:, None] if layout.comm.rank == 0 else np.zeros((0, 1), dtype=np.int64)
            ids = np.arange(len(here), dtype=np.int64)
            layout.announce(Family(f"{name}:gas", ids, here, partitioned=False))
        slices = [surface.slice(layout) for surface in surfaces]
        self.hull = hull = Hull(layout, name, surfaces, slices, caps)
        for number in range(len(surfaces)):
            ids, nodes = hull.of(number)
            common = np.broadcast_to(vertex, (len(ids), len(vertex)))
            vertices = np.concatenate([nodes, common], axis=1)
            layout.announce(Family(f"{name}:{number}", ids, vertices, partitioned=False))
        self.rims = Rims(layout, f"{name}:rim", surfaces, hull, vertex)
        self.lids = hull.rim.lids

    # ---- after distribution --------------------------------------------------------------------
    def carriers(self, configuration: Configuration) -> Carriers:
        """Take this rank's facets; return the blocks of pressure and lids (collective)."""
        families = enumerate(self.surfaces)
        self.walls = [Facets(surface, configuration, f"{self.name}:{k}") for k, surface in families]
        self.edges = self.rims.bind(configuration, self.surfaces)
        means, forces, pressures = ([np.zeros(0, dtype=np.int32)] for _ in range(3))
        for edges in self.edges:
            means.append(edges.extra[:, 0])
            forces.append(edges.extra[:, 1])
            pressures.append(edges.extra[:, 2:].ravel())
        pressures += [facets.extra.ravel() for facets in self.walls]
        if self.gas:
            pressures.append(configuration.topology.families[f"{self.name}:gas"].vertices[:, 0])
        blocks = zip((MEANS, FORCES, PRESSURES), (means, forces, pressures), strict=True)
        used = ((block, np.unique(np.concatenate(at))) for block, at in blocks)
        # by which the points and forces of lids go in pairs
        ids = configuration.topology.vertex_ids
        self._carriers = {block: at[np.argsort(ids[at])] for block, at in used}
        there = {MEANS: self.lids > 0, FORCES: self.lids > 0, PRESSURES: self.gas}
        return [(block.name, at) for block, at in self._carriers.items() if there[block]]

    def coordinates(self, configuration: Configuration, block: Block) -> Ints32:
        """Return the local offsets of this rank's coordinates of a block, ghosts included."""
        at = self._carriers[block]
        if not len(at):
            return np.zeros(0, dtype=np.int32)
        start = configuration.numbering.offset[at, configuration.numbering.block(block.name)]
        return np.asarray(start[:, None] + np.arange(block.size, dtype=np.int32)).ravel()

    def lid_coordinates(self, configuration: Configuration) -> Ints32:
        """Return the local offsets of all coordinates of lids."""
        found = [self.coordinates(configuration, block) for block in (MEANS, FORCES)]
        return np.concatenate(found)

    def orient(self, configuration: Configuration) -> None:
        """Find the side of the gas on each facet (collective)."""
        self.hull.orient(configuration, self.walls)
        self.rims.orient(self.edges)

    # ---- kernels -------------------------------------------------------------------------------
    def pieces(
        self, configuration: Configuration, form: Form, role: Role, uniform: Mapping[str, Scalar]
    ) -> list[Piece]:
        """Return the kernels of walls and lids, facets and rims on this rank (collective)."""
        values = {**dict(zip(ORIGIN, self.hull.centre.tolist(), strict=True)), **uniform}
        made = []
        for k, facets in enumerate([*self.walls, *self.edges]):
            surface, lid = facets.surface, k >= len(self.walls)
            laws = (lid_laws if lid else surface_laws)(
                surface.element, form, offset=not surface.middle, fields=surface.fields
            )
            scalars = list(SCALARS) if lid else []
            if form == "gas":
                scalars.append(Scalars(PRESSURES.name, facets.extra.shape[1] - 1, 1))
            cell = {"share": self.rims.share(facets)} if lid else {}
            name = f"{self.name}: {'lids of ' if lid else ''}{surface}"
            made.append(facets.piece(configuration, name, laws, role, values, scalars, cell))
        return made

    def gas_piece(
        self, configuration: Configuration, gas: Gas, uniform: Mapping[str, Scalar]
    ) -> Piece:
        """Return the energy of the gas (collective)."""
        family = configuration.topology.families[f"{self.name}:gas"]
        n = len(family.ids)
        block = configuration.numbering.block(PRESSURES.name)
        start = configuration.numbering.offset[family.vertices[:, 0], block]
        none = np.zeros(n, dtype=np.int32)
        return Piece(
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
    def measure(self, configuration: Configuration) -> None:
        """Make ready to evaluate -V: the potential of a pressure of 1 (collective)."""
        unit = {"p": 1.0, "scale": 1.0, "size": 1.0}
        pieces = self.pieces(configuration, "gas" if self.gas else "potential", "potential", unit)
        self._plan = Plan(
            pieces, configuration.numbering, configuration.reference, configuration.comm
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
            self._plan.update(configuration.time)
            self._plan.residual(x, f)
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

    def volume(self, configuration: Configuration, state: Array) -> float:
        """Return V [m^3] at a state (collective)."""
        x = self._means(configuration, state)
        with together(configuration.comm):
            self._plan.update(configuration.time)
            energies, _ = self._plan.energies(x)
        return -float(configuration.sum(np.array([energies.sum()]))[0])

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

    def disturbed(self, configuration: Configuration, by: float) -> Array:
        """Return a random state that moves nodes `by` the size of the facets."""
        state = np.asarray(by * configuration.numbering.random(11))
        state[configuration.numbering.those("position")] *= self.hull.size
        return state

    # ---- what follows from the rest -----------------------------------------------------------
    def settle(self, configuration: Configuration, p: float, scale: float) -> None:
        """Give the own coordinates the values of a pressure p [Pa] (collective).

        `scale` : unit of the unknown pressure [Pa].
        """
        configuration.state[self.coordinates(configuration, PRESSURES)] = p / scale
        if self.lids:
            means, forces = (self.coordinates(configuration, block) for block in (MEANS, FORCES))
            x = self._means(configuration, configuration.state)
            configuration.state[means] = x[means]
            configuration.state[forces] = (
                -p / configuration.stiffness * self._forces(configuration, x, means)[means]
            )

    def pressure(self, configuration: Configuration) -> float:
        """Return the unknown pressure over its scale (collective)."""
        mine = self._carriers[PRESSURES] < configuration.numbering.owned_vertices
        own = configuration.state[self.coordinates(configuration, PRESSURES)[mine]]
        return float(configuration.sum(np.array([own.sum()]))[0])


def positions(configuration: Configuration, state: Array) -> Array:
    """Return the present positions (vertices, 3) of this rank's nodes, those of meshes."""
    x = configuration.points.copy()
    block = configuration.numbering.block("position")
    at = configuration.numbering.carriers(block)
    x[at] += state[configuration.numbering.offset[at, block][:, None] + np.arange(3)]
    return x

# SPDX-License-Identifier: BSD-3-Clause
"""The system: bodies and terms, distributed, numbered, and turned into one plan of kernels."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from .assembly.agreement import require_agreement
from .assembly.matrix import Matrix
from .assembly.numbering import IDLE, Block, Numbering, Owners
from .assembly.plan import Plan
from .body import Body
from .boundary import Support
from .collective import together
from .errors import ConstraintError, KinematicsError, MeshError, ParameterError
from .geometry import AtVertices
from .members import Members, fetch_points
from .natural import RigidBody
from .partition import Family, distribute
from .places.ends import Nodes, require_place
from .plane import PlanarBody, PlanarPoint
from .redundancy.redundant import find_redundant

if TYPE_CHECKING:
    from .assembly.piece import Piece
    from .dynamics.motion import Motion
    from .mesh import Mesh
    from .places.ends import End, PointsOnBody

Array = npt.NDArray[np.float64]


class System:
    """Bodies with the terms that act on them, on all ranks of their meshes' communicator.

    Parameters
    ----------
    bodies : at least one, deformable, rigid or planar; bodies cut from one mesh share the
        positions of common nodes.
    terms : supports (`fix`), loads, joints and flexures.
    comm : of a system without meshes; default: MPI.COMM_WORLD.

    Attributes
    ----------
    state : local vector of all displacements (positions and slopes) and multipliers, the
        present solution; fixed coordinates and ghosts included.
    reference : local vector of the reference configuration.
    numbering, topology, plan, pieces : see their classes.
    stiffness : scale of the multipliers: a multiplier times `stiffness` is a force.
    """

    def __init__(
        self,
        *bodies: Body | PlanarBody | RigidBody,
        terms: Sequence[Any] = (),
        comm: MPI.Comm | None = None,
    ) -> None:
        self.members = Members(bodies, terms)
        self.bodies: list[Body | PlanarBody | RigidBody] = self.members.bodies
        self.terms = self.members.terms
        self.supports = [term for term in self.terms if isinstance(term, Support)]
        self.mirrors = [s for s in self.supports if getattr(s.held, "mirror", None) is not None]
        meshes = [body.region.mesh for body in bodies if isinstance(body, Body)]
        self.comm: MPI.Comm = meshes[0].comm if meshes else comm or MPI.COMM_WORLD
        self.stiffness = 1.0
        self.time = 0.0
        self._number_meshes()
        for item in [*self.bodies, *self.terms]:
            item.system = weakref.ref(self)
        self._families: list[Family] = []
        self._blocks: dict[str, Block] = {}
        self._owners = Owners()
        self.announce_block(Block("position", 3))
        for item in [*self.bodies, *self.terms]:
            item.declare(self)
        self.topology = distribute(self.comm, self._families, n_points=self._points)
        del self._families
        self.points = fetch_points(self._meshes, self.topology.vertex_ids)
        self._number()
        self.reference: Array = np.zeros(self.numbering.coordinates)
        block = self.numbering.block("position")
        has = self.numbering.carriers(block)
        self.reference[self.numbering.coordinates_of(block)] = self.points[has]
        for body in self.bodies:
            body.build_reference(self)
        self._apply_supports()
        self.state: Array = np.zeros(self.numbering.coordinates)
        self.pieces: list[Piece] = []
        for item in [*self.bodies, *self.terms]:
            self.pieces += item.pieces(self)
        self.motion: Motion | None = None
        self._mass_changes = self._mass_placed = False
        self._idle_multipliers()
        self.redundant = find_redundant(self)
        self._leave_out(self.redundant.left_out)
        self.plan: Plan = Plan(self.pieces, self.numbering, self.reference, self.comm)

    # ---- building -----------------------------------------------------------------------------
    def require_member(self, body: Body | PlanarBody | RigidBody, who: str) -> None:
        """Raise where something acts on a body that is not one of this system's.

        Raises
        ------
        ParameterError : names the bodies there are.
        """
        self.members.require(body, who)

    def noted(self, what: Hashable, who: str) -> str | None:
        """Return the name of the term that said the same before, or take note of it."""
        return self.members.noted(what, who)

    def _number_meshes(self) -> None:
        """Give each mesh its range of vertex ids."""
        self._bases: dict[int, int] = {}
        self._meshes: list[Mesh] = []
        self._points = 0
        for body in self.bodies:
            if not isinstance(body, Body):
                continue
            mesh = body.region.mesh
            if id(mesh) in self._bases:
                continue
            if MPI.Comm.Compare(mesh.comm, self.comm) not in (MPI.IDENT, MPI.CONGRUENT):
                raise MeshError(
                    f"body {body.name!r}: its mesh lives on another communicator ({mesh.comm.size} "
                    f"ranks) than that of body {self.bodies[0].name!r} ({self.comm.size} ranks)"
                )
            self._bases[id(mesh)] = self._points
            self._meshes.append(mesh)
            self._points += mesh.n_points
        self._vertices = self._points

    @property
    def mesh_points(self) -> int:
        """Number of points of all meshes: vertex ids beyond are those of `new_vertices`."""
        return self._points

    @property
    def vertex_count(self) -> int:
        """Number of vertex ids given out, on every rank alike."""
        return self._vertices

    def base(self, mesh: Mesh) -> int:
        """Return the first vertex id of a mesh."""
        if id(mesh) not in self._bases:
            raise MeshError(f"mesh {mesh.name!r} belongs to none of the system's bodies")
        return self._bases[id(mesh)]

    def announce(self, family: Family) -> None:
        """Add a family of entities (before distribution)."""
        self._families.append(family)

    def announce_block(self, block: Block) -> str:
        """Add a block of coordinates (before distribution); return its name."""
        return self._blocks.setdefault(block.name, block).name

    def new_vertices(
        self, count: int, owner: str = "", block: Block | None = None
    ) -> npt.NDArray[np.int64]:
        """Return ids of `count` vertices beyond the meshes' points.

        `owner` is the name of the term or body that they belong to; `block`, which it announces,
        a block that other terms have, too, on vertices of their own.
        """
        first = self._vertices
        self._vertices += count
        if owner and count:
            shared = self.announce_block(block) if block is not None and block.of else ""
            self._owners.add(first, count, owner, shared)
        return np.arange(first, first + count, dtype=np.int64)

    def _number(self) -> None:
        for body in self.bodies:
            if isinstance(body, Body):
                body.orient(self)
        for support in self.supports:
            support.orient(self)
        blocks = list(self._blocks.values())
        number = {block.name: k for k, block in enumerate(blocks)}
        carriers = [
            (number[name], vertices)
            for item in [*self.bodies, *self.terms]
            for name, vertices in getattr(item, "carriers", lambda system: [])(self)
        ]
        self.numbering = Numbering(self.topology, blocks, carriers, self._owners)

    def turn_for_supports(self, block: str, basis: AtVertices) -> None:
        """Turn directions of slopes (n, s, 3) of a block as supports there need them.

        The first support at a vertex chooses; bodies that share the block find the same ones.
        """
        taken = AtVertices(basis.vertices, np.zeros(len(basis.vertices), dtype=bool))
        with together(self.comm):
            for support in self._supports_of.get(block, []):
                support.held.turned(block, basis, taken)

    @cached_property
    def _supports_of(self) -> dict[str, list[Support]]:
        """The supports of bodies with slopes, by the blocks of these."""
        found: dict[str, list[Support]] = {}
        for support in self.supports:
            if isinstance(support.body, Body):
                found.setdefault(support.body.slope_name, []).append(support)
        return found

    def _apply_supports(self) -> None:
        fixed_by = np.full(self.numbering.coordinates, -1, dtype=np.int32)
        lengths = [float(support.body.extent) for support in self.supports]
        self._sizes: list[Array] = []
        with together(self.comm):
            for k, support in enumerate(self.supports):
                places = support.coordinates(self)
                fixed_by[places] = support.number = k
                self._sizes.append(self.numbering.natural(lengths[k], places))
        if self.supports:
            self.numbering.fix(fixed_by)

    def _idle_multipliers(self) -> None:
        """Take multipliers out of the unknowns whose equations only supports can fulfil."""
        self._idle: list[tuple[str, npt.NDArray[Any]]] = []
        for item in [*self.bodies, *self.terms]:
            if hasattr(item, "idle"):
                self._idle.append((item.name, item.idle(self)))
        if not self.comm.allreduce(sum(len(offsets) for _, offsets in self._idle)):
            self._idle = []
            return
        self._leave_out(np.concatenate([offsets for _, offsets in self._idle]))

    def _leave_out(self, multipliers: npt.NDArray[Any]) -> None:
        """Take multipliers, local offsets, out of the unknowns (collective)."""
        if self.comm.allreduce(len(multipliers)):
            fixed_by = self.numbering.fixed_by.copy()
            fixed_by[multipliers] = IDLE
            self.numbering.fix(fixed_by)

    def _require_fulfilled(self) -> None:
        """Raise where supports contradict a constraint that only they can fulfil."""
        f = self.residual_at(self.state)
        for name, offsets in self._idle:
            wrong = np.abs(f[offsets]).max(initial=0.0) / self.stiffness
            size = self.extent
            if wrong > 1e-9 * size:
                raise ConstraintError(
                    f"the supports of both ends contradict the constraint {name!r} at time "
                    f"{self.time:g}: it is violated by {wrong:.3g}"
                )

    # ---- evaluation ---------------------------------------------------------------------------
    def prescribe(self, time: float, state: Array | None = None) -> None:
        """Write prescribed coordinates and parameter values of `time` (collective).

        Raises
        ------
        ParameterError : on every rank; a value is missing or not finite, a user's function
            failed, or two supports contradict each other. The state is unchanged then.
        """
        self.members.require_own(self)
        state = self.state if state is None else state
        with together(self.comm):
            self.update(time)
            given = [support.prescribed(self, time) for support in self.supports]
            trial = state.copy()
            for places, values in given:
                trial[places] = values
            for support, (places, values) in zip(self.supports, given, strict=True):
                size = self._sizes[support.number]
                support.require_agreement(self, (places, values, size), trial, time)
        self.require_agreement(time)
        state[:] = trial
        self.topology_update(state)
        self.time = time
        if self._idle and state is self.state:
            with together(self.comm):
                self._require_fulfilled()

    def topology_update(self, state: Array) -> None:
        """Bring the prescribed coordinates of ghosts up to date (collective)."""
        if self.comm.size == 1 or not self.supports:
            return
        numbering = self.numbering
        within = np.arange(numbering.coordinates) - numbering.start[numbering.vertex_of]
        table = np.zeros((numbering.vertices, max(1, numbering.widest)))
        table[numbering.vertex_of, within] = state
        self.topology.halo.update(table)
        fixed = numbering.fixed_by >= 0
        state[fixed] = table[numbering.vertex_of, within][fixed]

    @cached_property
    def extent(self) -> float:
        """Size of the largest body [m], of attachments as they were when first asked for."""
        return max(float(body.extent) for body in self.bodies)

    @cached_property
    def matrix(self) -> Matrix:
        """The tangent's storage; its pattern is built on first use (collective)."""
        matrix = Matrix(self.comm, self.numbering, self.pieces)
        self.plan.attach(matrix)
        return matrix

    @cached_property
    def rate(self) -> Array:
        """Local vector of the rates of all coordinates; at first those given to rigid bodies."""
        rate: Array = np.zeros(self.numbering.coordinates)
        for body in self.bodies:
            if isinstance(body, RigidBody | PlanarBody):
                body.initial_rate(self, rate)
        return rate

    @cached_property
    def mass(self) -> Plan:
        """Kernels of the bodies' inertia: kinetic energy of rates, and M a (collective).

        Densities and sections are those of the last `update`. The tangent's storage has places
        for it after `place_mass`.

        Raises
        ------
        ParameterError : no body has a mass.
        """
        pieces = [
            piece
            for body in self.bodies
            if hasattr(body, "inertia")
            for piece in body.inertia(self)
        ]
        if not pieces:
            names = ", ".join(repr(body.name) for body in self.bodies)
            raise ParameterError(f"no body has a mass ({names}): give rho=... to a body")
        plan = Plan(pieces, self.numbering, self.reference, self.comm)
        with together(self.comm):
            plan.update(self.time)
        self._mass_changes = plan.changes
        return plan

    def place_mass(self) -> None:
        """Find the places of the mass in the tangent's storage, once (collective)."""
        if not self._mass_placed:
            self.mass.attach(self.matrix, self.matrix.add(self.mass.pieces))
            self._mass_placed = True

    def update(self, time: float) -> None:
        """Write the present values of all parameters into the kernels, those of inertia, too.

        Raises
        ------
        ParameterError : see `Plan.update`.
        """
        self.plan.update(time)
        if self._mass_changes:
            self.mass.update(time)

    def require_agreement(self, time: float) -> None:
        """Raise on every rank where a value differs from rank to rank (collective)."""
        if self.comm.size > 1:
            moved: list[tuple[str, float]] = []
            with together(self.comm):
                moved = [pair for support in self.supports for pair in support.uniform(time)]
            require_agreement(self.comm, self.plan, time, moved)

    def residual_at_solution(self) -> Array:
        """Return the residual of all coordinates at the present state (local vector).

        Rows of owned coordinates are complete; those of fixed ones are the support forces. In
        motion it contains the forces of inertia and damping.
        """
        with together(self.comm):
            self.update(self.time)
        if self.motion is not None:
            f = np.zeros(self.numbering.coordinates)
            self.motion.residual(f)
            return f
        return self.residual_at(self.state)

    def settle(self) -> None:
        """Give coordinates that are functions of the others their values (collective)."""
        for term in (term for term in self.terms if hasattr(term, "settle")):
            term.settle(self)

    def rest(self) -> None:
        """Forget a motion: all rates are zero from now on."""
        if self.motion is not None:
            self.motion = None
            self.rate.fill(0.0)
            self.plan.follow(None, None)

    def residual_at(self, state: Array) -> Array:
        """Return the residual of all coordinates at a state (local vector)."""
        f = np.zeros(self.numbering.coordinates)
        self.plan.residual(state, f)
        return f

    def energies(self) -> dict[str, float]:
        """Return the energy of each piece at the present state, on every rank (collective)."""
        with together(self.comm):
            self.plan.update(self.time)
        values, _ = self.plan.energies(self.state)
        total = self.sum(values)
        return {piece.name: float(e) for piece, e in zip(self.pieces, total, strict=True)}

    def strain_energy(self) -> float:
        """Return the strain energy of all bodies [J] (collective)."""
        energies = self.energies()
        return sum(energies[p.name] for p in self.pieces if p.role == "strain")

    def displacement(self, place: End) -> Array:
        """Return the displacements (K, 3) of places of a body, on every rank (collective)."""
        if isinstance(place, PlanarPoint):
            return place.displacement(self)
        return self._evaluate(place, [("value", self.state)])[0]

    def position(self, place: End) -> Array:
        """Return the present positions (K, 3) of places of a body, on every rank (collective)."""
        u = self.displacement(place)
        return np.asarray(place.X + u)

    def velocity(self, place: End) -> Array:
        """Return the velocities (K, 3) of places of a body, on every rank (collective)."""
        if isinstance(place, PlanarPoint):
            return place.velocity(self)
        return self._evaluate(place, [("value", self.rate)])[0]

    def gradient(self, place: Nodes | PointsOnBody) -> Array:
        """Return the deformation gradient F = dx/dX (K, 3, 3) at places of a body (collective).

        F = r_a (x) R^a over the slopes a that the element has, R^a dual to the reference slopes:
        on cables F t is the present slope of the reference tangent t, on thin plates F maps
        tangent vectors; both give zero across. On plates it is that of the mid-surface.

        Raises
        ------
        KinematicsError : nodes of an element without slopes; take points, ``body.at(X)``.
        """
        element = place.body.element
        jets = [j for j in ("xi", "eta", "zeta") if j in element.space.point_jets]
        if isinstance(place, Nodes):
            jets = [f"slope{k}" for k in range(len(element.slopes))]
        if not jets:
            raise KinematicsError(
                f"{place}: the nodes of {element.name} have no slopes; give points, body.at(X)"
            )
        values = self._evaluate(place, [(j, v) for v in (self.reference, self.state) for j in jets])
        R, u = (np.stack(part, axis=2) for part in (values[: len(jets)], values[len(jets) :]))
        return np.asarray((R + u) @ np.linalg.pinv(R))

    def rows_here(self, place: End, jets: Sequence[str]) -> list[tuple[npt.NDArray[Any], ...]]:
        """Return jets of the places whose first vertex this rank owns (collective).

        For each jet ``place`` (number within all K), ``component``, ``coordinate`` and ``value``,
        one row per non-zero.
        """
        self.members.require_own(self)
        require_place("a position, displacement or velocity", place)
        place.resolve(self)
        found: list[tuple[npt.NDArray[Any], ...]] = []
        with together(self.comm):
            if self.numbering.owned_vertices:
                ids = self.topology.vertex_ids
                order = np.argsort(ids)
                near = np.searchsorted(ids, place.vertices, sorter=order)
                local = order[np.minimum(near, len(order) - 1)]
                present = ids[local] == place.vertices
                mine = np.flatnonzero(present[:, 0] & (local[:, 0] < self.numbering.owned_vertices))
                for jet in jets:
                    rows = place.rows(self, mine, local[mine].astype(np.int32), jet)
                    entity, component, coordinate, _, value = rows
                    found.append((mine[entity], component, coordinate, value))
        return found

    def _evaluate(self, place: End, jets: list[tuple[str, Array]]) -> list[Array]:
        """Return jets of local vectors at places, each (K, 3), on every rank."""
        found = self.rows_here(place, [jet for jet, _ in jets])
        values = np.zeros((len(jets), place.size, 3))
        for number, (entity, component, coordinate, value) in enumerate(found):
            vector = jets[number][1]
            np.add.at(values[number], (entity, component), value * vector[coordinate])
        return list(self.sum(values))

    def sum(self, values: Array) -> Array:
        """Return the sum over ranks, on every rank (collective)."""
        total = np.ascontiguousarray(values, dtype=float)
        if self.comm.size > 1:
            total = total.copy()
            self.comm.Allreduce(MPI.IN_PLACE, total)
        return total

    def __str__(self) -> str:
        lines = [f"System on {self.comm.size} rank(s): {self.numbering.size} unknowns"]
        lines += [f"  {body!r}" for body in self.bodies]
        lines += [f"  {term.name}" for term in self.terms]
        return "\n".join(lines)

# SPDX-License-Identifier: BSD-3-Clause
"""Closed spaces filled with gas: their volume, and what the gas does to the walls."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ...assembly.numbering import Block
from ...assembly.piece import Jets, Piece
from ...errors import MeshError, ParameterError
from ...mesh.partition import Family
from ...runtime import jit
from ...runtime.collective import reduced, share_error, together
from ...values.arrays import Array, Ints, Ints32, Mask
from ...values.parameter import depends_on_time, evaluate, label
from .amount import Gas
from .lid import Lid, RimEdge
from .orientation import Edges, enclosed
from .surface import Form, Surface, surface_of

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...places.ends import Face, Nodes
    from ...values.parameter import Scalar


TIGHT = 1e-10  # of the area: the resultant of a pressure on a closed surface, in any state
DISTURBED = 0.02  # of the facets' size: the state in which that is tried
ORIGIN = ("o1", "o2", "o3")

# of all cavities with gas: the unknown pressure over its scale
PRESSURES = Block("pressures", 1, "algebraic", "pressure")


class Cavity:
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

    Attributes, of the system that it was given to
    ----------------------------------------------
    reference_volume : V_0 [m^3].
    watertight : the walls have no gaps, in any state; see Notes.

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
        given = list(walls) if isinstance(walls, Sequence) else [walls]
        if not given:
            raise ParameterError(f"{name}: give its walls, sa.Cavity([body['region'], ...])")
        self.surfaces = [surface_of(place, name) for place in given]
        if caps not in (None, "flat"):
            raise ParameterError(f"{name}: caps={label(caps)} is not possible: give None or 'flat'")
        if pressure is not None and gas is not None:
            raise ParameterError(f"{name}: give either a pressure or an amount of gas")
        if gas is not None and not isinstance(gas, Gas):
            raise ParameterError(f"{name}: gas={label(gas)}: give sa.Gas(amount=...)")
        if pressure is not None and not callable(pressure):
            evaluate(f"pressure of {name!r}", pressure, 0.0)
        self.caps, self.p, self.gas = caps, pressure, gas
        self.lids: list[Lid] = []
        self._system: weakref.ref[Configuration] | None = None

    # ---- before distribution -------------------------------------------------------------------
    def declare(self, layout: Layout) -> None:
        """Announce facets and rims before distribution (collective)."""
        extra: tuple[int, ...] = ()
        if self.gas is not None:
            extra = (int(layout.new_vertices(1, self.name, PRESSURES)[0]),)
            here = np.array([[*extra]] if layout.comm.rank == 0 else [], dtype=np.int64)
            ids = np.arange(len(here), dtype=np.int64)
            layout.announce(Family(f"{self.name}:gas", ids, here.reshape(-1, 1), partitioned=False))
        for number, surface in enumerate(self.surfaces):
            surface.declare(layout, f"{self.name}:{number}", extra)
        self._gather(layout)
        with together(layout.comm):
            self._close()
        for lid in self.lids:
            lid.declare(layout, np.array(extra, dtype=np.int64))

    def _gather(self, layout: Layout) -> None:
        """Bring all facets, in the mesh's order, to all ranks: a surface is small (collective)."""
        comm = layout.comm
        parts = []
        for number, surface in enumerate(self.surfaces):
            mesh = surface.region.mesh
            ids, vertices = surface.region.slice("quad")
            corners = mesh.fetch_points(vertices)
            parts.append((ids, vertices + layout.base(mesh), corners, np.full(len(ids), number)))
        columns = [np.concatenate(c) for c in zip(*parts, strict=True)]
        gathered = comm.allgather(columns) if comm.size > 1 else [columns]
        merged = [np.concatenate(c) for c in zip(*gathered, strict=True)]
        order = np.lexsort((merged[0], merged[3]))
        self._ids, self._facets, self._corners, self._wall = (c[order] for c in merged)

    def _close(self) -> None:
        """Find rims, put lids on them, make neighbours agree."""
        seen = np.sort(self._facets, axis=1)
        _, count = np.unique(seen, axis=0, return_counts=True)
        if (count > 1).any():
            raise MeshError(f"{self.name}: its walls name {int((count > 1).sum())} facets twice")
        edges = Edges(self._facets)
        if len(edges.crowded):
            raise MeshError(
                f"{self.name}: three or more facets meet at {self._at(edges.crowded[0])}; give "
                "the walls that touch the gas only"
            )
        if len(edges.rim) and self.caps is None:
            raise MeshError(
                f"{self.name} is open: {len(edges.rim)} edges belong to one facet only, e.g. at "
                f"{self._at(edges.rim[0])}; give the missing walls, or caps='flat' to close each "
                "rim by a lid; on an open surface use sa.pressure"
            )
        try:
            self._signs, self._piece = edges.orient()
            loops = edges.loops() if len(edges.rim) else []
        except MeshError as error:
            raise MeshError(f"{self.name}: {error}") from error
        rims = []
        for number, loop in enumerate(loops):
            rim = [
                RimEdge(int(self._wall[f]), tuple(self._facets[f].tolist()), int(e), int(f))
                for f, e in edges.rim[loop]
            ]
            self.lids.append(Lid(f"{self.name}:lid {number}", self.surfaces, rim, self._corners))
            first = np.array([self._corners[r.number][r.edge] for r in rim])
            second = np.array([self._corners[r.number][(r.edge + 1) % 4] for r in rim])
            rims.append((first, second, np.array([r.number for r in rim])))
        self._volumes = enclosed(self._corners, self._signs, rims)

    def _at(self, edge: npt.NDArray[Any]) -> str:
        facet, number = edge
        x = self._corners[facet][[number, (number + 1) % 4]].mean(axis=0)
        return f"({x[0]:g}, {x[1]:g}, {x[2]:g})"

    # ---- after distribution --------------------------------------------------------------------
    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's facets; the pressure of gas is a coordinate of its own."""
        self._system = weakref.ref(system)
        for surface in self.surfaces:
            surface.bind(system)
        for lid in self.lids:
            lid.bind(system)
        if self.gas is None:
            return []
        holders = [system.topology.families[f"{self.name}:gas"].vertices[:, 0]]
        holders += [surface.extra[:, 0] for surface in self.surfaces]
        holders += [lid.local[:, -1] for lid in self.lids]
        self._holder = np.unique(np.concatenate(holders)).astype(np.int32)
        return [(PRESSURES.name, self._holder)]

    def _turn(self, system: Configuration) -> None:
        """Find the side of the gas on each facet (collective)."""
        votes, parents = np.zeros(len(self._ids)), np.zeros(len(self._ids))
        for number, surface in enumerate(self.surfaces):
            at = self._number(number, surface.ids)
            parents[at] = surface.parents
            if surface.solid or surface.side is not None:
                votes[at] = -surface.sense
        votes = np.sign(system.sum(votes))
        parents = reduced(system.comm, parents, MPI.MAX)
        for number, surface in enumerate(self.surfaces):
            surface.require_parents(system, parents[self._number(number, surface.ids)])
        signs = self._signs
        for piece in range(int(self._piece.max(initial=-1)) + 1):
            mine = self._piece == piece
            agree = float((votes[mine] * signs[mine]).sum())
            if agree == 0.0:
                agree = float(self._volumes[mine].sum()) if not votes[mine].any() else 1.0
            if agree < 0.0:
                signs[mine] *= -1.0
                self._volumes[mine] *= -1.0
        against = (votes * signs < 0.0) & (votes != 0.0)
        self._told(system, against)
        total = float(self._volumes.sum())
        if total <= 0.0:
            raise ParameterError(
                f"{self.name}: the gas would be outside of its walls (the volume is {total:.3g}); "
                "give the other side, face(+1) or face(-1), of the plates"
            )
        for number, surface in enumerate(self.surfaces):
            at = self._number(number, surface.ids)
            surface.sense = -signs[at]

    def _told(self, system: Configuration, against: Mask) -> None:
        """Warn of cells that were numbered against their neighbours; refuse solids."""
        if not against.any():
            return
        first = int(np.argmax(against))
        x = self._corners[first].mean(axis=0)
        where = f"({x[0]:g}, {x[1]:g}, {x[2]:g})"
        solid = np.array([s.solid for s in self.surfaces])[self._wall]
        if (solid & against).any():
            raise MeshError(
                f"{self.name}: at {where} the gas would be inside of a solid; give walls that "
                "enclose it"
            )
        if system.comm.rank == 0:
            warnings.warn(
                f"{self.name}: {int(against.sum())} of {len(against)} cells, e.g. at {where}, are "
                "numbered in the other sense than their neighbours (the gas is on their other "
                "side); turned",
                stacklevel=6,
            )

    def _number(self, surface: int, ids: npt.NDArray[Any]) -> Ints:
        """Return the numbers of facets of a surface among all."""
        first, end = np.searchsorted(self._wall, [surface, surface + 1])
        return np.asarray(first + np.searchsorted(self._ids[first:end], ids))

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return the kernels, facets and rims on this rank (collective)."""
        self._turn(system)
        for lid in self.lids:
            lid.build(system, self._signs)
        self._origin = self._corners.reshape(-1, 3).mean(axis=0)
        self.reference_volume = self.volume(system, np.zeros_like(system.state))
        if self.reference_volume <= 0.0:
            raise ParameterError(
                f"{self.name}: its walls are so thick that their faces enclose no space (the "
                f"volume is {self.reference_volume:.3g})"
            )
        self.watertight = self._is_tight(system)
        if self.p is None and self.gas is None:
            return []
        uniform: dict[str, Any] = dict(zip(ORIGIN, self._origin.tolist(), strict=True))
        if self.gas is not None:
            return self._gas_pieces(system, uniform)
        uniform["p"] = self.p
        tight = self.watertight
        form: Form = "potential" if tight else "pressure"
        role = "potential" if tight else "work"
        parts: list[Surface | Lid] = [*self.surfaces, *self.lids]
        names = self._names()
        return [
            part.piece(system, name, form, role, uniform)
            for part, name in zip(parts, names, strict=True)
        ]

    def _names(self) -> list[str]:
        """Name the pieces: walls, then lids."""
        walls = [f"{self.name}: {surface}" for surface in self.surfaces]
        return [*walls, *(f"{self.name}: lid {k}" for k in range(1, len(self.lids) + 1))]

    def _is_tight(self, system: Configuration) -> bool:
        """Try whether a pressure has no resultant in a disturbed state; warn (collective)."""
        size = np.sqrt(self._area(self._corners) / max(1, len(self._corners)))
        state = DISTURBED * system.numbering.random(11)
        at = system.numbering.offset[:, system.numbering.block("position")]
        at = at[at >= 0][:, None] + np.arange(3)
        state[at] *= size
        gap = self.closure(system, state)
        if gap <= TIGHT:
            return True
        text = (
            f"{self.name} is not watertight: in a disturbed state a pressure on its walls has a "
            f"resultant of {gap:.1g} of its size (faces z = +-thickness/2 overlap at kinks; slopes "
            "that are not shared, and plates beside solids, open gaps)"
        )
        if not all(surface.middle for surface in self.surfaces):
            text += "; face(..., middle=True) is the mid-surface"
        error = MeshError(text) if self.gas is not None else None
        share_error(system.comm, error)
        if self.p is not None and system.comm.rank == 0:
            warnings.warn(text, stacklevel=6)
        return False

    @staticmethod
    def _area(corners: Array) -> float:
        normal = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        return float(np.linalg.norm(normal, axis=1).sum() / 2.0)

    # ---- gas -----------------------------------------------------------------------------------
    def _scale(self, system: Configuration) -> float:
        """Return the unit of the unknown pressure [Pa/m^2]: multipliers have system.stiffness."""
        return float(system.stiffness / self.reference_volume ** (1.0 / 3.0))

    def _gas_pieces(self, system: Configuration, uniform: dict[str, Any]) -> list[Piece]:
        assert self.gas is not None
        numbering, gas = system.numbering, self.gas
        block = numbering.block(PRESSURES.name)
        self._coordinate = numbering.offset[self._holder, block]
        uniform["scale"] = lambda t: self._scale(system)
        # where the amount changes, so does the energy: all pieces say so to the audit
        changes = depends_on_time(gas.amount)
        number = partial(gas.number, place=self.name)
        uniform["amount"] = number if changes else number(0.0)
        made, names = [], iter(self._names())
        kind: tuple[Form, str] = ("factored", "potential")
        at = int(self._coordinate[0]) if len(self._holder) else -1
        for surface in self.surfaces:
            made.append(surface.piece(system, next(names), *kind, uniform, factor=at))
        for lid in self.lids:
            offsets = numbering.offset[lid.local[:, -1], block]
            made.append(lid.piece(system, next(names), *kind, uniform, factor=offsets))
        family = system.topology.families[f"{self.name}:gas"]
        n = len(family.ids)
        ones = np.arange(n, dtype=np.int32)
        jets = Jets(
            entity=ones,
            jet=np.zeros(n, dtype=np.int32),
            coordinate=numbering.offset[family.vertices[:, 0], block].astype(np.int32),
            vertex=np.zeros(n, dtype=np.int32),
            value=np.ones(n),
        )
        values = {
            **uniform,
            "ambient": gas.ambient,
            "exponent": gas.exponent,
            "V0": self.reference_volume,
        }
        made.append(
            Piece(
                name=f"{self.name}:gas",
                kernel=jit.points(gas.law(), system.comm),
                role="potential",
                uniform=values,
                cell=np.zeros((n, 0)),
                owned=family.owned,
                vertices=family.vertices.ravel(),
                vertex_start=np.arange(n + 1, dtype=np.int32),
                entities=jets,
            )
        )
        return made

    def settle(self, system: Configuration) -> None:
        """Give the gas the pressure that belongs to its present volume (collective)."""
        if self.gas is None:
            return
        ratio = self.volume(system) / self.reference_volume
        if ratio > 0.0:
            p = self.gas.pressure(ratio, system.time, self.name)
            system.state[self._coordinate] = p / self._scale(system)

    # ---- results -------------------------------------------------------------------------------
    def _require(self, system: Configuration) -> None:
        """Raise where the cavity is no term of a system, or of another one since."""
        if self._system is None or self._system() is not system:
            other = "" if self._system is None else " (it is one of another system)"
            raise ParameterError(
                f"{self.name!r} is no term of this system{other}: give each system a cavity of "
                "its own, sa.System(..., terms=[cavity])"
            )

    def volume(self, system: Configuration, state: Array | None = None) -> float:
        """Return the enclosed volume [m^3] at the present state, on every rank (collective)."""
        self._require(system)
        state = system.state if state is None else state
        total = 0.0
        with together(system.comm):
            for surface in self.surfaces:
                r, n = surface.shape(system, state)
                r, n = r[surface.owned], n[surface.owned]
                total += float(np.einsum("nqa,nqa->", r - self._origin, n)) / 3.0
            for lid in self.lids:
                r, along, c, weight = lid.shape(state)
                area = np.cross(r - self._origin, along)
                total += float(weight @ np.einsum("na,na->n", c - self._origin, area)) / 6.0
        return float(system.sum(np.array([total]))[0])

    def closure(self, system: Configuration, state: Array | None = None) -> float:
        """Return the size of the sum of all normals over the area: 0 where closed (collective)."""
        self._require(system)
        state = system.state if state is None else state
        total = np.zeros(4)
        with together(system.comm):
            for surface in self.surfaces:
                _, n = surface.shape(system, state)
                n = n[surface.owned]
                total[:3] += n.sum(axis=(0, 1))
                total[3] += np.linalg.norm(n, axis=2).sum()
            for lid in self.lids:
                r, along, c, weight = lid.shape(state)
                area = weight[:, None] * np.cross(r - c, along) / 2.0
                total[:3] += area.sum(axis=0)
                total[3] += np.linalg.norm(area, axis=1).sum()
        total = system.sum(total)
        return float(np.linalg.norm(total[:3]) / total[3])

    def pressure(self, system: Configuration) -> float:
        """Return the present pressure [Pa] over that outside, on every rank (collective)."""
        self._require(system)
        if self.gas is None:
            return evaluate(f"pressure of {self.name!r}", self.p or 0.0, system.time)
        mine = self._coordinate[self._holder < system.numbering.owned_vertices]
        value = float(system.state[mine].sum()) * self._scale(system)
        return float(system.sum(np.array([value]))[0])

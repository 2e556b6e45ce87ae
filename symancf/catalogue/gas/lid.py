# SPDX-License-Identifier: BSD-3-Clause
"""Flat lids that close the rims of a cavity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from symancf_codegen.legendre import gauss_legendre

from ...assembly.piece import Jets, Piece
from ...errors import ParameterError
from ...laws import lid_law
from ...laws.lid import JETS
from ...mesh.partition import Family
from ...places.ends import _vector_rows
from ...places.interpolation import Interpolation
from ...runtime import jit
from ...runtime.collective import together
from ...values.arrays import Array, Ints
from ...values.parameter import Parameter, label

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from .surface import Form, Surface


_CORNERS = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
POINTS = 4  # Gauss points per edge: (c - o) . ((r - o) x r') has degree 5 on cubic edges


@dataclass(frozen=True)
class RimEdge:
    """An edge of a rim: number of its surface, vertices of its facet, and which edge it is."""

    surface: int
    facet: tuple[int, ...]
    edge: int
    number: int  # of the facet among all of the cavity


class Lid:
    """The cone from the weighted mean of a rim's nodes to the rim; see `laws.lid`.

    Every point of the rim depends on all of its nodes: the load on the lid is carried by them,
    each with the length of rim that belongs to it.

    Parameters
    ----------
    name : of the family of its entities.
    surfaces : those of the cavity.
    edges : of the rim, in order; vertices are ids of the system.
    corners : (F, 4, 3) of all facets of the cavity.
    """

    def __init__(
        self, name: str, surfaces: list[Surface], edges: list[RimEdge], corners: Array
    ) -> None:
        self.name, self.surfaces, self.edges, self._corners = name, surfaces, edges, corners
        chords = [corners[e.number][(e.edge + 1) % 4] - corners[e.number][e.edge] for e in edges]
        lengths = np.linalg.norm(chords, axis=1)
        ends = np.array([(e.facet[e.edge], e.facet[(e.edge + 1) % 4]) for e in edges])
        self.nodes, place = np.unique(ends, return_inverse=True)
        weight = np.bincount(place.reshape(-1), np.repeat(lengths, 2), minlength=len(self.nodes))
        self.share = weight / weight.sum()
        first = np.zeros(len(self.nodes), dtype=np.int64)
        first[place.reshape(-1)] = np.repeat(np.arange(len(edges)), 2)
        self._edge_of_node = first
        for e in edges:
            s = surfaces[e.surface]
            if not s.middle and s.element.slope_kind != "gradient":
                raise ParameterError(
                    f"{s}: a lid needs a rim of nodes; on {s.element.name} give the mid-surface, "
                    "face(..., middle=True)"
                )

    def declare(self, layout: Layout, extra: Ints) -> None:
        """Announce the points of the rim; `extra` vertices belong to all of them."""
        count = len(self.edges) * POINTS
        rank, ranks = layout.comm.rank, layout.comm.size
        mine = np.arange(count * rank // ranks, count * (rank + 1) // ranks)
        facets = np.array([e.facet for e in self.edges], dtype=np.int64)[mine // POINTS]
        common = np.broadcast_to(
            np.concatenate([self.nodes, extra]), (len(mine), len(self.nodes) + len(extra))
        )
        vertices = np.concatenate([facets, common], axis=1)
        layout.announce(Family(self.name, mine.astype(np.int64), vertices, partitioned=False))

    def bind(self, system: Configuration) -> None:
        """Take this rank's points of the rim."""
        family = system.topology.families[self.name]
        self.ids, self.local, self.owned = family.ids, family.vertices, family.owned

    def build(self, system: Configuration, signs: Array) -> None:
        """Compute the jets, `signs` (facets,) turning each facet's normal out of the gas."""
        x, w = gauss_legendre(POINTS)
        edge, point = self.ids // POINTS, self.ids % POINTS
        number = np.array([e.number for e in self.edges], dtype=np.int64)[edge]
        self.weight = -signs[number] * (w / 2.0)[point]
        along = (x[point] + 1.0) / 2.0
        parts: list[tuple[Any, ...]] = []
        with together(system.comm):
            for k, e in enumerate(self.edges):
                chosen = np.flatnonzero(edge == k)
                if len(chosen):
                    parts += self._edge_rows(system, e, chosen, along[chosen], signs)
            parts += self._mean_rows(system, signs)
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        kinds = (np.int32, np.int32, np.int32, np.int32, float)
        self.jets = Jets(*(c.astype(k) for c, k in zip(joined, kinds, strict=True)))
        values = np.zeros((len(self.ids), 3 * len(JETS)))
        np.add.at(
            values,
            (self.jets.entity, self.jets.jet),
            self.jets.value * system.reference[self.jets.coordinate],
        )
        self.reference = values

    def _height(self, system: Configuration, e: RimEdge, signs: Array) -> float:
        """Return z of the rim in the sense of the edge's facet."""
        surface = self.surfaces[e.surface]
        if surface.middle:
            return 0.0
        if "thickness" in surface.body.fields:
            raise ParameterError(
                f"{surface}: a lid needs one thickness along its rim; give the mid-surface, "
                "face(..., middle=True)"
            )
        given = surface.body.parameters["thickness"]
        if isinstance(given, Parameter) or callable(given):
            raise ParameterError(
                f"{surface}: a lid needs a thickness that stays the same, and it is "
                f"{label(given)}; give a number, or the mid-surface, face(..., middle=True)"
            )
        return float(-signs[e.number] * surface.body.numbers(system.time)["thickness"] / 2.0)

    def _edge_rows(
        self, system: Configuration, e: RimEdge, chosen: Ints, along: Array, signs: Array
    ) -> list[tuple[Any, ...]]:
        """Return rows of r and r' of the points of an edge."""
        surface = self.surfaces[e.surface]
        body, element = surface.body, surface.element
        start, end = _CORNERS[e.edge], _CORNERS[(e.edge + 1) % 4]
        direction = int(np.argmax(np.abs(end - start)))
        turn = float((end - start)[direction])
        points = start + along[:, None] * (end - start)
        vertices = self.local[chosen, :4]
        on = system.of(body, Interpolation)
        at = on.offset(vertices, "value")[..., None]
        maps = None
        if element.slopes:
            maps = on.maps_of(vertices)
            slope = on.offset(vertices, "slope0")
            at = np.concatenate([at, slope[..., None] + 3 * np.arange(len(element.slopes))], axis=2)
        rows = []
        z = self._height(system, e, signs)
        for number, (jet, factor) in enumerate((("value", 1.0), (("xi", "eta")[direction], turn))):
            table = surface.table(jet, points)
            if z:
                table = table + z * surface.table(jet, points, director=True)
            table = factor * table.reshape(*vertices.shape, -1)
            if maps is not None:
                slopes = np.einsum("nvk,nvkc->nvc", table[..., 1:], maps)
                table = np.concatenate([table[..., :1], slopes], axis=2)
            width = table.shape[2]
            corner = np.broadcast_to(np.repeat(np.arange(4), width), (len(chosen), 4 * width))
            place, component, coordinate, vertex, value = _vector_rows(
                at.reshape(len(chosen), -1), table.reshape(len(chosen), -1), corner
            )
            rows.append((chosen[place], 3 * number + component, coordinate, vertex, value))
        return rows

    def _mean_rows(self, system: Configuration, signs: Array) -> list[tuple[Any, ...]]:
        """Return rows of the mean point of the rim's nodes."""
        n, m = len(self.ids), len(self.nodes)
        nodes = self.local[:, 4 : 4 + m]
        body = self.surfaces[self.edges[0].surface].body  # blocks of positions are common
        at = system.of(body, Interpolation).offset(nodes, "value")
        weight = np.broadcast_to(self.share, (n, m))
        corner = np.broadcast_to(4 + np.arange(m), (n, m))
        parts = [_vector_rows(at, weight, corner)]
        for j in range(m):
            e = self.edges[self._edge_of_node[j]]
            z = self._height(system, e, signs)
            if not z or not n:
                continue
            surface = self.surfaces[e.surface]
            vertex = nodes[:1, j]
            on = system.of(surface.body, Interpolation)
            assert on.directions is not None
            if on.directions.kink[vertex].any():
                raise ParameterError(
                    f"{surface}: its rim passes a kink, where a face z = +-thickness/2 has a gap; "
                    "give the mid-surface, face(..., middle=True)"
                )
            normal = on.normals_at(vertex)
            z *= float(np.sign(normal[0] @ self._facet_normal(e)))
            slope = on.offset(nodes[:, j], "slope0")
            at = slope[:, None] + 3 * np.arange(3)
            weight = np.broadcast_to(self.share[j] * z * normal[0], (n, 3))
            parts.append(_vector_rows(at, weight, np.full((n, 3), 4 + j)))
        return [
            (place, 6 + component, coordinate, vertex, value)
            for place, component, coordinate, vertex, value in parts
        ]

    def _facet_normal(self, e: RimEdge) -> Array:
        """Return the normal of an edge's facet, its corners in the mesh's order."""
        x = self._corners[e.number]
        return np.asarray(np.cross(x[2] - x[0], x[3] - x[1]))

    def piece(
        self,
        system: Configuration,
        name: str,
        form: Form,
        role: Any,
        uniform: dict[str, Any],
        factor: npt.NDArray[Any] | None = None,
    ) -> Piece:
        """Make the piece of `laws.lid_law`; `factor` are the local offsets (points,) of p."""
        law = lid_law("factored" if factor is not None else form)
        kernel = jit.points(law, system.comm)
        jets, n, nv = self.jets, len(self.ids), self.local.shape[1]
        if factor is not None:
            last = 3 * len(JETS)
            jets = Jets(
                entity=np.concatenate([jets.entity, np.arange(n, dtype=np.int32)]),
                jet=np.concatenate([jets.jet, np.full(n, last, dtype=np.int32)]),
                coordinate=np.concatenate([jets.coordinate, factor.astype(np.int32)]),
                vertex=np.concatenate([jets.vertex, np.full(n, nv - 1, dtype=np.int32)]),
                value=np.concatenate([jets.value, np.ones(n)]),
            )
        names = [f"R_{jet}{a}" for jet in JETS for a in (1, 2, 3)]
        values = dict(zip(names, self.reference.T, strict=True)) | {"weight": self.weight}
        return Piece(
            name=name,
            kernel=kernel,
            role=role,
            uniform=uniform,
            cell=np.stack([values[k] for k in kernel.cell], axis=1),
            owned=self.owned,
            vertices=self.local.ravel(),
            vertex_start=np.arange(n + 1, dtype=np.int32) * np.int32(nv),
            entities=jets,
        )

    def shape(self, state: Array) -> tuple[Array, Array, Array, Array]:
        """Return r, r', c (n, 3) and the weights (n,) of this rank's own points at a state."""
        values = self.reference.copy()
        np.add.at(
            values,
            (self.jets.entity, self.jets.jet),
            self.jets.value * state[self.jets.coordinate],
        )
        mine = self.owned
        r, along, c = (values[mine, 3 * k : 3 * k + 3] for k in range(3))
        return r, along, c, self.weight[mine]

# SPDX-License-Identifier: BSD-3-Clause
"""Surfaces that gas touches: facets of solids, faces and mid-surfaces of plates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ...assembly.piece import Cells, Piece
from ...bodies.body import Body
from ...elements import Element, quad4
from ...errors import MeshError, ParameterError
from ...laws import surface_laws, surface_rule
from ...mesh.partition import Family
from ...places.ends import End, Face, Nodes
from ...places.interpolation import Interpolation
from ...runtime import jit
from ...runtime.collective import share_error
from ...values.arrays import Array, Ints
from ...values.parameter import label

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...mesh import Region

Form = Literal["pressure", "potential", "factored"]


class Surface:
    """What gas touches of a body, for one term: see `surface_of`.

    Parameters
    ----------
    region : quadrilaterals: boundary facets of a solid, or cells of a plate.
    side : of plates, +1 or -1: the gas is on the side of +n or -n, n being the normal that
        belongs to the numbering of the cells, and touches the face z = side thickness/2.
    middle : of plates: the gas acts on the mid-surface.

    Attributes after `bind` (of the facets on this rank)
    ----------------------------------------------------
    cells : (n, 4) local vertices, numbered as in the region.
    parents : (n,) number of cells of this rank that they belong to: all, unless the facet came
        here by an extra vertex.
    parity : (n,) +1 where the normal of that numbering is the one of the plate's cell, or points
        out of the solid; -1 the other one, 0 unknown.
    sense : (n,) +1 where it points towards the gas.
    extra : (n, k) local vertices of `declare`.
    """

    def __init__(
        self, body: Body, region: Region, side: int | None = None, middle: bool = False
    ) -> None:
        self.body, self.region, self.side = body, region, side
        self.solid = body.element.cell == "hexahedron"
        self.name = f"region {region.name!r} of {body.name!r}"
        kinds = {"hexahedron": "quad", "quad": "quad"}
        if body.element.cell not in kinds:
            raise ParameterError(
                f"{self.name}: gas presses on facets of solids and on plates; "
                f"{body.element.name} has no surface"
            )
        region.require("quad", use=f"a pressure on body {body.name!r}")
        if not self.solid and side not in (None, 1, -1):
            raise ParameterError(f"{self.name}: face({side!r}) is not possible: give +1 or -1")
        if self.solid and side not in (None, 1):
            raise ParameterError(
                f"{self.name}: facets of a solid have one side, the outer one; leave face() out"
            )
        self._maps: Array | None = None
        self.middle = middle or self.solid or side is None
        self.element: Element = quad4 if self.solid else body.element

    def __str__(self) -> str:
        if self.solid or self.side is None:
            return self.name
        return f"{self.name}, face({self.side:+d})"

    # ---- as part of a term ---------------------------------------------------------------------
    def declare(self, layout: Layout, name: str, extra: tuple[int, ...] = ()) -> None:
        """Announce the facets under a name of their own, before distribution.

        `extra` : vertices that belong to each facet beside its own.
        """
        layout.require_member(self.body, str(self))
        self.region.require_on(self.body.region)
        self.family = f"{name}:{self}"
        ids, vertices = self.region.slice("quad")
        vertices = vertices + layout.base(self.region.mesh)
        common = np.broadcast_to(np.array(extra, dtype=np.int64), (len(vertices), len(extra)))
        vertices = np.concatenate([vertices, common], axis=1)
        layout.announce(Family(self.family, ids, vertices, partitioned=False))

    def bind(self, system: Configuration) -> None:
        """Take this rank's facets and find the cells that they belong to (collective)."""
        family = system.topology.families[self.family]
        self.ids, self.owned = family.ids, family.owned
        self.cells, self.extra = family.vertices[:, :4], family.vertices[:, 4:]
        faces = np.array([[0, 1, 2, 3]])
        if self.solid:
            faces = np.array(self.body.element.topology.faces)
        numbered = system.of(self.body, Interpolation).cells[:, faces].reshape(-1, 4)
        found, self.parents = _matched(self.cells, numbered)
        self._maps, self.parity = None, np.zeros(len(found))
        if len(numbered):
            own = numbered[found]
            first = (own == self.cells[:, :1]).argmax(axis=1)
            after = own[np.arange(len(own)), (first + 1) % 4]
            turned = np.where(after == self.cells[:, 1], 1.0, -1.0)
            self.parity = np.where(self.parents > 0, turned, 0.0)
        self.sense = float(self.side or 1) * self.parity

    def require_parents(self, system: Configuration, parents: npt.NDArray[Any]) -> None:
        """Raise where facets are of no cell of the body, or between two (collective).

        `parents` : (n,) number of cells that each of this rank's facets belongs to.

        Raises
        ------
        MeshError
        """
        error = None
        if (parents != 1).any():
            at = int(np.argmax(parents != 1))
            x = system.points[self.cells[at]].mean(axis=0)
            none = parents[at] == 0
            what = "is no facet of its cells" if none else "lies between two of its cells"
            error = MeshError(
                f"{self.name}: the quadrilateral at ({x[0]:g}, {x[1]:g}, {x[2]:g}) {what}; gas "
                "presses on boundary facets of solids and on cells of plates"
            )
        share_error(system.comm, error)

    def require_outside(self, system: Configuration) -> None:
        """Raise where facets of a solid are those of another solid, too (collective).

        Raises
        ------
        MeshError : the facet lies between the two, where no gas is.
        """
        error = None
        for body in system.bodies:
            if body is self.body or not isinstance(body, Body):
                continue
            if body.element.cell != "hexahedron":
                continue
            faces = (
                system.of(body, Interpolation)
                .cells[:, np.array(body.element.topology.faces)]
                .reshape(-1, 4)
            )
            _, count = _matched(self.cells, faces)
            if count.any() and error is None:
                x = system.points[self.cells[int(np.argmax(count))]].mean(axis=0)
                error = MeshError(
                    f"{self.name}: the quadrilateral at ({x[0]:g}, {x[1]:g}, {x[2]:g}) lies "
                    f"between {self.body.name!r} and {body.name!r}, where no gas is; leave the "
                    "interface out of the region"
                )
        share_error(system.comm, error)

    @property
    def offset(self) -> Array:
        """The face of each cell: +1 or -1 for z = +-thickness/2, 0 for the mid-surface."""
        return np.zeros(len(self.sense)) if self.middle else self.sense

    def piece(
        self,
        system: Configuration,
        name: str,
        form: Form,
        role: Any,
        uniform: dict[str, Any],
        factor: int = -1,
    ) -> Piece:
        """Make the piece of a law of `surface_laws` on the facets of this rank (collective).

        `factor` : local offset of a coordinate of the last extra vertex; see `Piece`.
        """
        body, element = self.body, self.element
        fields = {} if self.solid else body.fields
        laws = surface_laws(element, form, offset=not self.middle, fields=fields)
        kernel = jit.cells(laws[0][0].name, element.space, laws, system.comm)
        own = {"sense": self.sense, "offset": self.offset}
        columns = []
        for k, parameter in enumerate(kernel.cell):
            if parameter in own:
                columns.append(own[parameter])
            else:
                point = [kernel.points[k]] if len(kernel.points) > k else [()]
                values = body.cell_parameters(system, [parameter], point, self.cells)
                columns.append(values[:, 0])
        n = len(self.cells)
        vertices = np.concatenate([self.cells, self.extra], axis=1).astype(np.int32)
        position = system.of(body, Interpolation).offset(self.cells, "value")
        slopes, maps = np.zeros_like(position), np.zeros((n, 4, 0, 0))
        if element.slopes:
            slopes = system.of(body, Interpolation).offset(self.cells, "slope0")
            maps = self.maps(system)
        return Piece(
            name=name,
            kernel=kernel,
            role=role,
            uniform={**body.uniform_values(), **uniform},
            cell=np.stack(columns, axis=1) if columns else np.zeros((n, 0)),
            owned=self.owned,
            vertices=vertices.ravel(),
            vertex_start=np.arange(n + 1, dtype=np.int32) * np.int32(vertices.shape[1]),
            entities=Cells(np.stack([position, slopes], axis=2), maps),
            factor=factor,
        )

    def maps(self, system: Configuration) -> Array:
        """Return the slope maps (n, 4, s, s) of the facets, with their own numbering."""
        if self._maps is None:
            self._maps = system.of(self.body, Interpolation).maps_of(self.cells)
        return self._maps

    # ---- geometry ------------------------------------------------------------------------------
    def shape(self, system: Configuration, state: Array) -> tuple[Array, Array]:
        """Return places (n, q, 3) and weighted normals of gas, out of it, at a state.

        The normals point from the gas into the wall; their lengths are the areas of the points of
        the rule, so that their sum over a closed surface is zero.
        """
        rule = surface_rule(self.element)
        vector = system.reference + state
        at = np.asarray(system.of(self.body, Interpolation).offset(self.cells, "value"))
        coefficients = vector[at[..., None] + np.arange(3)][:, :, None, :]
        if self.element.slopes:
            start = system.of(self.body, Interpolation).offset(self.cells, "slope0")
            count = len(self.element.slopes)
            nodal = vector[start[..., None] + np.arange(3 * count)]
            nodal = nodal.reshape(*start.shape, count, 3)
            slopes = np.einsum("nvkc,nvca->nvka", self.maps(system), nodal)
            coefficients = np.concatenate([coefficients, slopes], axis=2)
        coefficients = coefficients.reshape(len(at), np.prod(coefficients.shape[1:3]), 3)
        z = self._height(system)
        jets = {
            jet: np.einsum("qk,nka->nqa", self.table(jet, rule.points), coefficients)
            for jet in self.element.space.point_jets
            if jet in ("value", "xi", "eta", "xixi", "xieta", "etaeta")
        }
        if self.element.has_thickness and not self.middle:
            for jet in ("value", "xi", "eta"):
                table = self.table(jet, rule.points, director=True)
                jets[jet] += z[:, None, None] * np.einsum("qk,nka->nqa", table, coefficients)
        r, n = jets["value"], np.cross(jets["xi"], jets["eta"])
        if not self.middle and not self.element.has_thickness:
            r, n = _offset(jets, n, z)
        normal = -self.sense[:, None, None] * n * rule.weights[:, None]
        return r, normal

    def table(self, jet: str, points: Array, director: bool = False) -> Array:
        """Return the coefficients (q, k) of a jet on the mid-surface, or of its change by z."""
        spread = self.element.space.point_jets[jet]
        names = tuple(name for name, factor in spread.items() if (factor != 1) == director)
        return np.asarray(self.element.space.tabulate(names, points).sum(axis=1))

    def _height(self, system: Configuration) -> Array:
        """Return z of the face in each cell (n,)."""
        if self.middle:
            return np.zeros(len(self.cells))
        thickness: float | Array
        if "thickness" in self.body.fields:
            thickness = self.body.cell_parameters(system, ["thickness"], None, self.cells)[:, 0]
        else:
            thickness = self.body.numbers(system.time)["thickness"]
        return np.asarray(self.sense * thickness / 2.0)


def _offset(jets: dict[str, Array], n: Array, z: Array) -> tuple[Array, Array]:
    """Return places and normals of the face r + z n/|n| of a surface."""
    length = np.linalg.norm(n, axis=2)
    unit = n / length[..., None]

    def dot(a: Array, b: Array) -> Array:
        return np.asarray(np.einsum("nqa,nqa->nq", a, b))

    a11, a22 = dot(jets["xi"], jets["xi"]), dot(jets["eta"], jets["eta"])
    a12 = dot(jets["xi"], jets["eta"])
    b11, b12, b22 = (dot(jets[jet], unit) for jet in ("xixi", "xieta", "etaeta"))
    twice_H = (b11 * a22 - 2.0 * b12 * a12 + b22 * a11) / length**2
    K = (b11 * b22 - b12**2) / length**2
    z = z[:, None]
    area = 1.0 - z * twice_H + z**2 * K
    return jets["value"] + z[..., None] * unit, n * area[..., None]


def _matched(wanted: npt.NDArray[Any], offered: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Return for each row of vertices one row of `offered` with the same, and how many there are.

    The order of the vertices does not matter.
    """
    key = np.sort(wanted, axis=1).astype(np.int64)
    rows = np.sort(offered, axis=1).astype(np.int64)
    both, place = np.unique(np.concatenate([rows, key]), axis=0, return_inverse=True)
    place = place.ravel()
    count = np.bincount(place[: len(rows)], minlength=len(both))
    first = np.zeros(len(both), dtype=np.int64)  # of a row that is not offered: any
    first[place[: len(rows)]] = np.arange(len(rows))
    return first[place[len(rows) :]], count[place[len(rows) :]]


def surface_of(place: Nodes | Face, who: str) -> Surface:
    """Return what gas touches at a place.

    Raises
    ------
    ParameterError : it is no surface.
    """
    nodes: Any = place.nodes if isinstance(place, Face) else place
    if not isinstance(nodes, Nodes) or not isinstance(nodes.body, Body):
        said = nodes if isinstance(nodes, End) else label(nodes)
        raise ParameterError(
            f'{who} acts on surfaces, body["region"] or body["region"].face(+1), not on {said}'
        )
    if isinstance(place, Face):
        return Surface(nodes.body, nodes.region, place.side, place.middle)
    return Surface(nodes.body, nodes.region)

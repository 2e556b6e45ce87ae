# SPDX-License-Identifier: BSD-3-Clause
"""A named part of a mesh: cells of one dimension, cut into slices over the ranks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints, Mask
from ..cells.table import CELLS, Cell
from ..errors import MeshError, closest_name
from ..runtime.collective import exchange, lookup, owners_of, reduced, share_error
from ..values.arguments import among
from .cells import dimension, sizes
from .slices import no_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Mesh


@dataclass(frozen=True, eq=False)
class Region:
    """A named set of cells of a mesh; its name, dimension and sizes are known on every rank.

    Attributes
    ----------
    mesh : the mesh it belongs to.
    name : physical name in the mesh file, or as given to `Mesh.select`.
    sizes : number of cells of each type on all ranks, e.g. ``{"quad": 16}``.

    Notes
    -----
    ``a | b`` are the cells of both, ``a & b`` those in common, ``a - b`` those of a alone: regions
    of the same mesh without a name in it, for `Mesh.select` and ``body[...]``. All are collective.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    >>> ends = mesh["x0"] | mesh["x1"]
    >>> print(ends.name, ends.size)
    x0 | x1 8
    """

    mesh: Mesh = field(repr=False)
    name: str
    sizes: dict[str, int]
    made_of: tuple[str, Region, Region] | None = field(default=None, repr=False)
    turned: Mask | None = field(default=None, repr=False)  # cells here in the other sense

    @property
    def types(self) -> tuple[str, ...]:
        """Its cell types, in meshio's names."""
        return tuple(self.sizes)

    @property
    def size(self) -> int:
        """Number of its cells on all ranks."""
        return sum(self.sizes.values())

    @property
    def dim(self) -> int:
        """Topological dimension: 0 points, 1 lines, 2 surfaces, 3 volumes."""
        return max((dimension(kind) for kind in self.sizes), default=0)

    @property
    def by_type(self) -> tuple[Region, ...]:
        """Its cells of each type, as regions of one type each."""
        sizes = {kind: size for kind, size in self.sizes.items() if size}
        if len(self.sizes) < 2 or not sizes:
            return (self,)
        return tuple(replace(self, sizes={kind: size}) for kind, size in sizes.items())

    def slice(self, kind: str | None = None) -> tuple[Ints, Ints]:
        """Cells on this rank: ids (k,) and vertices (k, nv) as global point ids.

        `kind` may be left out where the region holds one cell type only.

        Raises
        ------
        MeshError : the region holds several cell types and none was named, or lacks the one named.
        """
        if kind is None:
            if len(self.sizes) != 1:
                raise MeshError(f"{self.describe()}; name the cell type that you want")
            (kind,) = self.sizes
        if not among(kind, self.sizes):
            raise MeshError(
                f"{self.describe()}; it has no cells of type {kind!r}",
                asked="kind",
                given=kind,
                possible=self.sizes,
            )
        cells, chosen = self.mesh.cells[kind], self._chosen(kind)
        if chosen is None:
            ids, rows = cells.ids, cells.connectivity
        else:
            ids, rows = cells.start + chosen, cells.connectivity[chosen]
        nodes: Ints = rows.astype(np.int64, copy=self.turned is not None)
        if self.turned is not None:
            nodes[self.turned, :2] = nodes[self.turned, 1::-1]
        return ids, nodes

    def labels(self, kind: str | None = None) -> Ints:
        """Return the labels (k,) that its cells on this rank have in the mesh file; points theirs.

        Of the cells that `slice` gives; 0 where the file gives none. Collective.

        Raises
        ------
        MeshError : as `slice`; the mesh has no labels.
        """
        labels = self.mesh.labels
        if labels is None:
            raise MeshError(no_labels(self.mesh), asked="labels", given=self.name)
        ids, nodes = self.slice(kind)
        kind = next(iter(self.sizes)) if kind is None else kind
        if kind == "vertex":
            return lookup(self.mesh.comm, self.mesh.point_starts, nodes[:, 0], labels.points)
        return np.asarray(labels.cells[kind][ids - self.mesh.cells[kind].start])

    def _chosen(self, kind: str) -> Ints | None:
        """Return the sorted numbers of its cells in this rank's slice of a type; None are all."""
        if self.made_of is None:
            return self.mesh._members[self.name].get(kind, np.empty(0, np.int64))
        how, *both = self.made_of
        first, second = (region._chosen(kind) for region in both)
        every = np.arange(len(self.mesh.cells[kind].connectivity))
        return _SETS[how](every if first is None else first, every if second is None else second)

    def _with(self, how: str, other: object) -> Region:
        """Return a region of the cells of two. Collective.

        Raises
        ------
        MeshError : regions of different meshes; no cells are left.
        """
        if not isinstance(other, Region):
            hint = f", mesh[{other!r}]" if isinstance(other, str) else ""
            raise MeshError(
                f"region {self.name!r} {how} {other!r}: give another region of the mesh{hint}",
                asked=self.name,
                given=other,
                possible=self.mesh.regions,
            )
        name = f"{_bracketed(self)} {how} {_bracketed(other)}"
        if other.mesh is not self.mesh:
            raise MeshError(
                f"{name}: regions of two meshes, {self.mesh.name} and {other.mesh.name}",
                asked=name,
                given=other,
            )
        kinds = list(dict.fromkeys((*self.sizes, *other.sizes)))
        region = Region(self.mesh, name, dict.fromkeys(kinds, 0), (how, self, other))
        local = np.array([len(region.slice(kind)[0]) for kind in kinds], np.int64)
        sizes = dict(zip(kinds, reduced(self.mesh.comm, local).tolist(), strict=True))
        region = replace(region, sizes={kind: size for kind, size in sizes.items() if size})
        if not region.sizes:
            raise MeshError(
                f"{name} has no cells: {self.describe()}, {other.describe()}; what they share are "
                "at most points and edges, see Mesh.select(dimension=)",
                asked=name,
            )
        return region

    def __or__(self, other: Region) -> Region:
        return self._with("|", other)

    def __and__(self, other: Region) -> Region:
        return self._with("&", other)

    def __sub__(self, other: Region) -> Region:
        return self._with("-", other)

    def measure(self) -> float:
        """Return its length, area or volume, curved as it is [m, m^2, m^3]; of points how many.

        Collective.

        Raises
        ------
        MeshError : cells of a type without functions, such as pyramids.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((2.0, 1.0, 0.5), (4, 2, 1), cell="wedge")
        >>> print(f"{(mesh['x0'] | mesh['z0']).measure():.3f}")
        2.500
        """
        if unknown := sorted(set(self.sizes) - set(CELLS)):
            raise MeshError(f"{self.describe()}; the size of {', '.join(unknown)} is not known")
        total = 0.0
        for kind in self.sizes:
            rows = self.slice(kind)[1]
            many = dimension(kind) > 0
            total += float(sizes(kind, self.mesh.fetch_points(rows)).sum()) if many else len(rows)
        return float(self.mesh.comm.allreduce(total))

    def require(self, *kinds: str, use: str | None = None) -> Region:
        """Return the region if it holds cells of these types only, else say what it holds.

        Parameters
        ----------
        kinds : cell types that are possible, e.g. ``"quad"``.
        use : what needs them, for the message, e.g. ``"ancf_plate"``.

        Raises
        ------
        MeshError : on every rank.
        """
        kinds = tuple(map(str, kinds))
        if self.size and set(self.sizes) <= set(kinds):
            return self
        possible = sorted(r.name for r in self.mesh.regions.values() if r.size and r.holds(*kinds))
        needs = f"{use or 'this element'} needs cells of type {' or '.join(map(repr, kinds))}"
        remedy = self._remedy(kinds)
        if len({dimension(kind) for kind in self.sizes}) > 1:
            remedy += (
                "; it is one name for groups of two dimensions: give each a name of its own in the "
                "mesh file"
            )
        offers = f"regions that fit: {_names(possible)}" if possible else "no region of it fits"
        raise MeshError(
            f"{needs}; {self.describe()}{remedy}; {offers}",
            asked=self.name,
            given=sorted(self.sizes),
            possible=kinds,
        )

    def _remedy(self, kinds: tuple[str, ...]) -> str:
        """Return how to mesh so that the region has cells of these types."""
        if any(kind in kinds for kind in self.sizes):
            one = len({dimension(kind) for kind in self.sizes}) == 1
            return f"; give each type a body, mesh[{self.name!r}].by_type" if one else ""
        for (present, wanted), remedy in _OTHER_SHAPES.items():
            if wanted in kinds and any(kind.startswith(present) for kind in self.sizes):
                return remedy
        cells = [CELLS[kind] for kind in kinds if kind in CELLS]
        shapes = {cell.factors for cell in cells}
        if not all(kind in CELLS and CELLS[kind].factors in shapes for kind in self.sizes):
            return ""
        return _write_order_of(cells)

    def holds(self, *kinds: str) -> bool:
        """Whether all its cells are of these types."""
        return set(self.sizes) <= set(kinds)

    def describe(self) -> str:
        """One clause for messages: the region and what it holds."""
        text = " and ".join(f"{n} cells of type {kind!r}" for kind, n in self.sizes.items())
        return f"region {self.name!r} of {self.mesh.name} holds {text or 'no cells'}"

    def points(self) -> Ints:
        """Ids of the points of its cells, each on one rank only: that of the point's slice.

        Collective. Returns (m,) sorted int64.
        """
        ids = [np.unique(self.slice(kind)[1]) for kind in self.sizes]
        mine = np.unique(np.concatenate([np.empty(0, np.int64), *ids]))
        starts = self.mesh.point_starts
        _, (received,) = exchange(self.mesh.comm, owners_of(starts, mine), mine)
        return np.unique(received)

    def require_on(self, other: Region) -> Region:
        """Return the region if all its points are points of `other`'s cells (collective).

        Raises
        ------
        MeshError : on every rank, with the number of points that no cell of `other` uses, one of
            them and where it is.
        """
        value: object = other
        if not isinstance(value, Region):
            raise MeshError(
                f"{self.describe()}: give a region of the mesh, not {other!r}",
                asked="other",
                given=other,
            )
        stray = np.setdiff1d(self.points(), other.points(), assume_unique=True)
        comm, mesh = self.mesh.comm, self.mesh
        count = comm.allreduce(len(stray))
        if not count:
            return self
        error = None
        if len(stray):
            x = mesh.points[stray[0] - mesh.point_starts[comm.rank]]
            some = "1 of its points is" if count == 1 else f"{count} of its points are"
            error = MeshError(
                f"region {self.name!r} of {mesh.name}: {some} used by no cell of "
                f"region {other.name!r}, e.g. point {stray[0]} at ({x[0]:g}, {x[1]:g}, {x[2]:g}); "
                "choose those of one body, mesh.select(name, where, within=body.region)",
                asked=self.name,
                given=count,
                possible=(other.name,),
            )
        share_error(comm, error)
        return self


_SETS: dict[str, Callable[[Ints, Ints], Ints]] = {
    "|": np.union1d,
    "&": np.intersect1d,
    "-": np.setdiff1d,
}


#: How to mesh, by the shape of cells that a region has and the type that is needed.
_OTHER_SHAPES = {
    ("triangle", "quad"): "; mesh the surface with quadrilaterals "
    "(Gmsh: Mesh.RecombineAll = 1, or transfinite surfaces with Recombine Surface)",
    ("tetra", "hexahedron"): "; mesh the volume with hexahedra "
    "(Gmsh: Transfinite Volume with Recombine Surface, or Extrude with Layers)",
}


def _write_order_of(cells: list[Cell]) -> str:
    """Return how to get cells of one of some types from cells of the same shape."""
    if any(cell.straight is cell for cell in cells):
        return (
            "; read it with straight cells of first order, sa.Mesh.read(..., order=1), or "
            "write it so (Gmsh: Mesh.ElementOrder = 1)"
        )
    if any(len(cell.nodes) > cell.corners + len(cell.edges) for cell in cells):
        return "; write the mesh with cells of second order (Gmsh: Mesh.ElementOrder = 2)"
    return (
        "; read it with nodes in the middles of straight edges, sa.Mesh.read(..., order=2), or "
        "write cells of second order, nodes on corners and edges (Gmsh: Mesh.ElementOrder = 2, "
        "Mesh.SecondOrderIncomplete = 1)"
    )


def _bracketed(region: Region) -> str:
    return f"({region.name})" if region.made_of else region.name


def _names(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)


def unknown_region(mesh: Mesh, name: object) -> str:
    """Message for a region that does not exist: what there is and the closest name."""
    names = list(mesh.regions)
    close = closest_name(name, names, 0.5) if isinstance(name, str) else ""
    hint = f"; did you mean {close!r}" if close else ""
    listed = ", ".join(
        f"{r.name!r} ({', '.join(f'{n} {kind}' for kind, n in r.sizes.items())})"
        for r in mesh.regions.values()
    )
    return f"{mesh.name} has no region {name!r}{hint}. It has: {listed or 'none'}"

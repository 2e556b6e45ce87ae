# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: points, cells and named regions, each rank holding one slice of each."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike

from ..arrays import Array, Integers, Ints
from ..cells import CELLS
from ..errors import MeshError, OwnAttributes, ParameterError
from ..runtime.collective import lookup, reduced, together
from ..runtime.copies import Portable, this_process
from ..runtime.display import Displayable
from ..runtime.log import EVENTS, logged
from ..runtime.registry import ExtensionMethod
from ..values import arguments
from ..values.parameter import call_array, is_empty, label, reals
from ..values.spellings import former_arguments
from .box import BoxMesh
from .cells import dimension
from .region import Region, unknown_region
from .serial import SerialMesh, scatter
from .slices import CellSlice, Labels, Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .quality import Quality


class Mesh(Portable, Displayable, OwnAttributes):
    """Points, cells and regions of a mesh; no rank has more than its slice of each.

    Make one with `Mesh.read`, `Mesh.from_arrays` or `Mesh.box`; ``mesh["plate"]`` is a `Region`;
    `select` names others.

    Attributes
    ----------
    comm : the ranks that share the mesh.
    name : file name or origin, for messages.
    n_points : number of points on all ranks.
    point_starts : (ranks + 1,) first point id of each rank's slice.
    points : (n, 3) coordinates of this rank's slice [m].
    cells : cell type -> this rank's `CellSlice`; the same types in the same order on every rank.
    regions : name -> `Region`. The region "all" (all cells of the highest dimension) always exists.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> mesh
    Mesh box: 8 points, 1 hexahedron, 6 quad
    >>> mesh["x0"].size
    1
    """

    _of_process: ClassVar = {"comm": this_process}
    _distributed = "write it by mesh.write(path) and read it by sa.Mesh.read(path) on any ranks"

    def __init__(self, comm: MPI.Comm, name: str, slices: Slices) -> None:
        """Collective; each rank gives its slices."""
        self.comm = comm
        self.name = name
        self.points = slices.points
        self._bounds = (  # no function of a user's must wait for other ranks when it asks
            reduced(comm, slices.points.min(axis=0, initial=np.inf), MPI.MIN),
            reduced(comm, slices.points.max(axis=0, initial=-np.inf), MPI.MAX),
        )
        self.point_starts = slices.point_starts
        self.n_points = int(slices.point_starts[-1])
        self.cells = {kind: cells.of(self.n_points) for kind, cells in slices.cells.items()}
        self._point_labels = slices.labels
        self._members = dict(slices.members)
        top = max((dimension(k) for k in self.cells), default=0)
        every: dict[str, Ints | None] = {k: None for k in self.cells if dimension(k) == top}
        own = self._members.setdefault("all", every)
        if own != every and comm.rank == 0:
            warnings.warn(
                f"{name}: its region 'all' is not all cells of the highest dimension, as "
                'mesh["all"] is else; rename it',
                stacklevel=4,
            )
        self.regions = self._count()

    def _count(self) -> dict[str, Region]:
        pairs = [(name, kind) for name, members in self._members.items() for kind in members]
        local = np.zeros(len(pairs), np.int64)
        for i, (name, kind) in enumerate(pairs):
            chosen = self._members[name][kind]
            local[i] = len(self.cells[kind].connectivity if chosen is None else chosen)
        total = reduced(self.comm, local)
        sizes: dict[str, dict[str, int]] = {name: {} for name in self._members}
        for (name, kind), size in zip(pairs, total, strict=True):
            sizes[name][kind] = int(size)
        return {name: Region(self, name, members) for name, members in sizes.items()}

    @classmethod
    @logged(EVENTS, "mesh")
    def read(
        cls,
        path: str | Path,
        comm: MPI.Comm | None = None,
        *,
        check: bool = True,
        order: Literal[1, 2] | None = None,
    ) -> Mesh:
        """Read a mesh file: Gmsh .msh and all that meshio knows, or .h5 written by `write`.

        Rank 0 reads a serial format and hands out slices; .h5 is read in slices by every rank.
        Collective.

        Parameters
        ----------
        path : the file; physical names (Gmsh), sets (Abaqus, ...), surfaces (Abaqus), groups (MED),
            markers (SU2) and sub model parts (Kratos) become regions, groups of one name one
            region; sets of several instances (Abaqus) are ``instance.set``. Of other files whole
            numbers of cells are regions, ``"material 3"``; one warning says what is not read. A
            cell that the file gives twice counts once; unless it is so in different groups, a
            warning says which.
        comm : default all ranks.
        check : look for points that are not numbers and for degenerate or inverted cells.
        order : 1: cells of higher order become those of first order between their corners; nodes
            that are no corner vanish, also from regions of points. 2: cells of first order get a
            node in the middle of each edge (triangle6, quad8, tetra10, hexahedron20, wedge15);
            a warning names regions of points, which have none of these; a file of second order
            stays as it is. Default: as the file has them.

        Raises
        ------
        MeshError : on every rank: no such file, not readable, or a fault found by `check`.
        """
        comm = MPI.COMM_WORLD if comm is None else comm
        path = arguments.path("Mesh.read", path)
        if order is not None and arguments.integer("Mesh.read", "order", order) > 2:
            raise ParameterError(
                f"Mesh.read: order={label(order)} is not possible: give 1 or 2, or leave it out "
                "for the cells of the file",
                asked="order",
                given=order,
                possible=(1, 2),
            )
        if path.suffix in (".h5", ".hdf5"):
            from .storage import read_slices

            slices = read_slices(path, comm)
        else:
            serial = None
            with together(comm):
                if comm.rank == 0:
                    from .reading import read_serial

                    serial = read_serial(path)
            slices = scatter(comm, serial)
        if order is not None:
            from .order import lowered, raised

            slices = lowered(comm, slices) if order == 1 else raised(comm, slices, path.name)
        mesh = cls(comm, path.name, slices)
        if check:
            mesh.check()
        return mesh

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike | None,
        cells: Mapping[str, ArrayLike] | None,
        regions: Mapping[str, tuple[str, ArrayLike] | Mapping[str, ArrayLike]] | None = None,
        comm: MPI.Comm | None = None,
        *,
        name: str = "mesh",
        check: bool = True,
    ) -> Mesh:
        """Make a mesh from arrays on rank 0; other ranks may pass None. Collective.

        Parameters
        ----------
        points : (n, 3) or (n, 2) coordinates [m].
        cells : cell type -> (k, nv) point numbers, vertices in meshio's order.
        regions : name -> (cell type, which) or {cell type: which}; `which` are numbers of cells of
            that type or, as a 2-dimensional array, the point numbers of cells, new ones or those
            there are. With "vertex" and no such cells given, it may be a list of points.

        Raises
        ------
        MeshError : on every rank: arrays that do not fit together, or a fault found by `check`.
        """
        comm = MPI.COMM_WORLD if comm is None else comm
        serial = None
        with together(comm):
            if comm.rank == 0:
                if points is None or cells is None:
                    raise MeshError("Mesh.from_arrays needs points and cells on rank 0")
                arrays = {} if regions is None else regions
                serial = SerialMesh.from_arrays(points, cells, arrays)
        mesh = cls(comm, name, scatter(comm, serial))
        if check:
            mesh.check()
        return mesh

    @classmethod
    def box(
        cls,
        lengths: Sequence[float],
        divisions: Sequence[int],
        *,
        cell: str | None = None,
        warp: Callable[[Array], Array] | None = None,
        name: str = "box",
        comm: MPI.Comm | None = None,
    ) -> Mesh:
        """Structured line, rectangle (z = 0) or box from the origin, made slice by slice.

        Regions: "body" for the interior and "x0", "x1", "y0", ... for the sides.

        Parameters
        ----------
        lengths, divisions : extent [m] and number of cells in 1, 2 or 3 directions.
        cell : "line", "quad" or "hexahedron", as there are directions, or another type, e.g.
            "hexahedron20", "wedge15" (two in each cube) or "tetra10" (six, along its diagonal).
        warp : maps coordinates (n, 3) to new ones, each point for itself.

        Raises
        ------
        MeshError : lengths are not positive, divisions are not integers, more of
            them than fit into this machine; a `warp` that inverts cells.
        ParameterError : A `warp` that fails, or does not return finite coordinates (n, 3).
        """
        comm = MPI.COMM_WORLD if comm is None else comm
        with together(comm):
            box = BoxMesh.of(lengths, divisions, comm.size, cell)
        slices = box.slices(comm)
        if warp is None:
            return cls(comm, name, slices)
        with together(comm):
            x = call_array(f"warp of Mesh.{name}", warp, slices.points.shape, slices.points)
        mesh = cls(comm, name, replace(slices, points=np.array(x, order="C")))
        mesh.check()
        return mesh

    # Round bodies, see `symancf.extensions.meshes`.
    disc = ExtensionMethod["Mesh"]()
    cylinder = ExtensionMethod["Mesh"]()
    tube = ExtensionMethod["Mesh"]()
    sphere = ExtensionMethod["Mesh"]()

    @former_arguments("Mesh.select")
    def select(
        self,
        name: str,
        where: Callable[[Array], ArrayLike] | None = None,
        *,
        dimension: int | None = None,
        normal: ArrayLike | None = None,
        near: ArrayLike | None = None,
        angle_deg: float = 30.0,
        within: Region | str | None = None,
        outer: bool = True,
        labels: ArrayLike | None = None,
    ) -> Region:
        """Name a region: facets, edges, points or cells that fulfil all of some conditions.

        Collective; every rank asks for the same. The region is in the mesh from then on, as if it
        had been read: ``mesh[name]``, ``body[name]``, `write`.

        Parameters
        ----------
        name : of the new region.
        where : condition on places, X (n, 3) [m] -> (n,) truth values, of each place for itself.
            Chosen is what fulfils it at all of its nodes. A rank asks for its own places only.
        dimension : 0 points, 1 edges, 2 facets, 3 cells of volumes. Default: the sides of the
            cells, which are facets of volumes, edges of surfaces and points of lines; of a region
            `within` of less dimension than the mesh a part of it.
        normal : direction (3,) from which the normal differs by at most `angle_deg`. Normals point
            out of the volume; those of edges out of the surface; those of surfaces without a volume
            follow the numbering of their corners, as the sides of plates do. What lies between
            two cells counts in either sense.
        near : place (3,) [m]: all that is connected with the facet (edge) nearest to it, over
            edges (points) at which the surface (line) turns by at most `angle_deg`. Of points the
            nearest one.
        angle_deg : in degrees.
        within : region, or its name, to choose from; regions combine to others by ``|``, ``&`` and
            ``-``. Default all cells. A region of volumes or surfaces has sides where it meets
            other cells, too.
        outer : take sides of one cell only, not those between cells. Of edges of volumes those of
            such facets. Points are taken from all.
        labels : of nodes, with ``dimension=0``, or of elements, with their dimension, as in the
            mesh file: one or several. Each instance of a part has its own, see `within`.

        Returns
        -------
        Region

        Raises
        ------
        MeshError : on every rank: the name is taken, nothing is chosen, `near` is far from the
            mesh or between two patches; there is no such region `within`, or nothing of this
            dimension in it; a label that nothing has.
        ParameterError : a condition that fails or returns something else, an angle or vector that
            is none.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((2.0, 1.0, 1.0), (4, 2, 2), cell="tetra10")
        >>> mesh.select("left", lambda X: X[:, 0] < 1e-9).sizes
        {'triangle6': 8}
        >>> mesh.select("top", near=(0.3, 0.2, 1.0)).sizes
        {'triangle6': 16}
        >>> tip = mesh.select("tip", lambda X: X[:, 0] > 1.4, within=mesh["top"] | mesh["x1"])
        >>> tip.sizes
        {'triangle6': 12}
        """
        from .select import Conditions, select

        with together(self.comm):
            conditions = Conditions.of(
                self, name, where, dimension, within, normal, near, angle_deg, outer, labels
            )
        region = select(self, conditions)
        self._members[name] = dict(region)
        sizes = reduced(self.comm, np.array([len(n) for n in region.values()], np.int64))
        self.regions[name] = Region(self, name, dict(zip(region, sizes.tolist(), strict=True)))
        return self.regions[name]

    def __getitem__(self, name: str | Region) -> Region:
        """Region of that name; a region of the mesh, such as ``mesh["a"] | mesh["b"]``, is itself.

        Raises
        ------
        MeshError : with the regions that exist and the closest name.
        """
        if isinstance(name, Region):
            if name.mesh is not self:
                raise MeshError(
                    f"region {name.name!r} is of mesh {name.mesh.name}, not {self.name}",
                    asked="region",
                    given=name.name,
                )
            return name
        if not arguments.among(name, self.regions):
            raise MeshError(
                unknown_region(self, name), asked=str(name), given=name, possible=self.regions
            )
        return self.regions[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a region of that name."""
        return arguments.among(name, self.regions)

    def __iter__(self) -> Iterator[Region]:
        """Regions."""
        return iter(self.regions.values())

    @property
    def labels(self) -> Labels | None:
        """Labels of nodes and elements in the mesh file, on this rank; None where it has none.

        `Region.labels` are those of a region, `select` takes them.

        Examples
        --------
        >>> import symancf as sa
        >>> print(sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1)).labels)
        None
        """
        if self._point_labels is None:
            return None
        none = {kind: np.zeros(len(c.connectivity), np.int64) for kind, c in self.cells.items()}
        own = {kind: c.labels for kind, c in self.cells.items() if c.labels is not None}
        return Labels(self._point_labels, {**none, **own})

    def slice(self, region: str, kind: str | None = None) -> tuple[Ints, Ints]:
        """Cells of a region on this rank: ids (k,) and global point ids (k, nv)."""
        return self[region].slice(kind)

    def fetch_points(self, ids: ArrayLike) -> Array:
        """Coordinates of any points, of the shape of `ids` and (3,) [m]. Collective."""
        are_integers = isinstance(ids, np.ndarray) and ids.dtype.kind in "iu"
        numbers = np.asarray(ids) if are_integers else reals(ids)
        with together(self.comm):
            if (not numbers.size and not is_empty(ids)) or (numbers != np.rint(numbers)).any():
                raise MeshError(
                    f"{self.name}: numbers of points are whole; asked for {label(ids)}",
                    asked="ids",
                    given=ids,
                )
            ids = numbers.astype(np.int64)
        self._require_points([ids])
        return lookup(self.comm, self.point_starts, ids, self.points)

    def _require_points(self, numbers: Sequence[Integers]) -> None:
        """Raise on every rank where numbers are of no point. Collective."""
        with together(self.comm):
            for ids in numbers:
                if ids.size and (ids.min() < 0 or ids.max() >= self.n_points):
                    outside = int(ids[(ids < 0) | (ids >= self.n_points)][0])
                    raise MeshError(
                        f"{self.name} has points 0 to {self.n_points - 1}; asked for {outside}",
                        asked="ids",
                        given=outside,
                    )

    def bounds(self) -> tuple[Array, Array]:
        """Return the least and the largest coordinates of all points, (3,) each [m].

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.sphere(2.0, 4, symmetric="z")
        >>> low, high = mesh.bounds()
        >>> mesh.select("top", lambda X: X[:, 2] > 0.8 * high[2]).sizes
        {'quad': 4}
        """
        low, high = self._bounds
        return low.copy(), high.copy()

    def check(self) -> None:
        """Look for coordinates that are not numbers and for faulty cells. Collective.

        Warns of coincident points, of points inside of edges (T-junctions), of triangular faces on
        quadrilateral ones, and of edges to which coordinates leave fewer than 8 digits (a mesh far
        from the origin).

        Raises
        ------
        MeshError : on every rank: NaN coordinates; cells that name a vertex twice, have no length,
            area or volume, are folded (quads) or inverted (hexahedra); two cells of the same
            vertices; edges with fewer than 4 digits, or beyond 1e-50 to 1e50 m.
        """
        from .quality import check

        check(self)

    def quality(self) -> Quality:
        """Shape of the cells of every supported type, over all ranks. Collective."""
        from .quality import measure

        return measure(self)

    @logged(EVENTS, "output")
    def write(self, path: str | Path) -> None:
        """Write an HDF5 mesh file that `read` takes in slices. Collective."""
        from .storage import write_slices

        write_slices(self, arguments.path("Mesh.write", path))

    def _headline(self) -> str:
        """Return name, points and cells."""
        cells = ", ".join(f"{c.size} {kind}" for kind, c in self.cells.items())
        return f"Mesh {self.name}: {self.n_points} points, {cells}"

    def _facts(self) -> list[tuple[str, str, str]]:
        """Return the regions."""
        rows = [("region", "dim", "cells")]
        for region in self:
            text = ", ".join(f"{n} {kind}" for kind, n in region.sizes.items())
            rows.append((region.name, str(region.dim), text or "none"))
        return rows

    def __str__(self) -> str:
        """Return a table of the regions."""
        lines = [super().__str__()]
        if unsupported := sorted(set(self.cells) - set(CELLS)):
            lines.append(f"  (cells of type {', '.join(unsupported)} are of no use here)")
        if self.comm.size > 1:
            lines.append(f"  in slices on {self.comm.size} ranks")
        return "\n".join(lines)


__all__ = ["CellSlice", "Labels", "Mesh", "Region"]

# SPDX-License-Identifier: BSD-3-Clause
"""Faults and shape of the cells of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints
from ..cells.table import CELLS
from ..errors import MeshError
from ..runtime.collective import reduced, share_error
from .cells import dimension, jacobians, looked_at, sizes
from .conformity import (
    CHUNK,
    Edges,
    LocalCells,
    require_distinct,
    require_lengths,
    warn_of_coincident_points,
    warn_of_hanging_points,
    warn_of_split_faces,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..cells.table import Cell
    from . import Mesh
    from .slices import CellSlice


FLAT_TOLERANCE = 1e-10
POOR = 0.05  # scaled Jacobian of cells that are told
WARNED_EDGE_RATIO = 50.0  # ratio of edges that is told
STRAIGHTEN = (
    "straighten it (Gmsh: Mesh.HighOrderOptimize = 2, or Mesh.SecondOrderLinear = 1), refine "
    "there, or take its corners alone, sa.Mesh.read(..., order=1)"
)


@dataclass(frozen=True)
class CellShapes:
    """Shape of all cells of one type.

    Attributes
    ----------
    size : total length, area or volume [m, m^2, m^3].
    smallest, largest : size of a cell.
    jacobian : least scaled Jacobian at any node or point of quadrature: 1 for right angles, 0 or
        less for a faulty cell.
    aspect : largest ratio of the longest to the shortest edge of a cell.
    defect : Quadrilaterals: largest parallelogram defect |x1 - x2 + x3 - x4| / longest diagonal; 0
        for parallelograms, on which plates reproduce constant curvature.
    worst, place : number of the cell with that Jacobian, and where it is (x, y, z) [m].
    """

    size: float
    smallest: float
    largest: float
    jacobian: float
    aspect: float
    defect: float
    worst: int
    place: tuple[float, float, float]


@dataclass(frozen=True)
class Quality:
    """Shape of the cells of a mesh by type.

    Examples
    --------
    >>> import symancf as sa
    >>> thin = sa.Mesh.box((1.0, 1.0, 1e-2), (1, 1, 1)).quality()
    >>> print(thin.remedies[0])
    hexahedron: the longest edge of a cell is 100 times its shortest; divide the long ones
    """

    shapes: dict[str, CellShapes]

    def __getitem__(self, kind: str) -> CellShapes:
        """Shape of the cells of one type."""
        return self.shapes[kind]

    def __str__(self) -> str:
        """Return a table."""
        lines = ["type          size       smallest   largest    jacobian  aspect  defect"]
        for kind, s in self.shapes.items():
            lines.append(
                f"{kind:<12}{s.size:>10.4g} {s.smallest:>10.4g} {s.largest:>10.4g}"
                f"{s.jacobian:>10.3f}{s.aspect:>8.2f}{s.defect:>8.3f}"
            )
        return "\n".join([*lines, *self.remedies])

    @property
    def remedies(self) -> tuple[str, ...]:
        """Sentences on types with poor cells: which one, where, and what helps; else none."""
        return tuple(text for kind, shape in self.shapes.items() for text in _poor(kind, shape))


def _poor(kind: str, shape: CellShapes) -> Iterator[str]:
    """Yield what is poor about cells of a type."""
    cell, (x, y, z) = CELLS[kind], shape.place
    if shape.jacobian < POOR and cell.dimension > 1:
        text = f"{kind} {shape.worst} is nearly flat at ({x:g}, {y:g}, {z:g}), scaled Jacobian "
        text += f"{shape.jacobian:.2g}: stresses there are poor. "
        if len(cell.nodes) > cell.corners:
            text += f"If its edges are curved, {STRAIGHTEN}. "
        simplex = max(cell.factors) > 1
        yield text + (
            "Improve the mesh (Gmsh: Mesh.Optimize = 1, Mesh.OptimizeNetgen = 1), or remesh thin "
            "parts with cells as small as they are thick"
            if simplex
            else "Smooth the mesh (Gmsh: Mesh.Smoothing = 10), or cut the part in another way"
        )
    if shape.aspect > WARNED_EDGE_RATIO:
        yield (
            f"{kind}: the longest edge of a cell is {shape.aspect:.3g} times its shortest; divide "
            "the long ones"
        )


def check(mesh: Mesh) -> None:
    """See `Mesh.check`. Collective."""
    comm = mesh.comm
    share_error(comm, _not_numbers(mesh))
    local = LocalCells(mesh)
    with_length, with_area = (
        [k for k in mesh.cells if k in CELLS and dimension(k) > d] for d in (0, 1)
    )
    edges = Edges.of(mesh, local, with_length)
    require_lengths(mesh, edges)
    if with_area != with_length:
        edges = Edges.of(mesh, local, with_area)
    for kind, cells in mesh.cells.items():
        error = None
        bad = local.first_repeating(kind)
        if bad >= 0:
            error = MeshError(
                f"{mesh.name}: {_cell(cells, bad)} is degenerate: it names a vertex twice",
                cells=[cells.start + bad],
                asked="vertex",
                given=cells.connectivity[bad].tolist(),
            )
        share_error(comm, error)
        if dimensional(kind) and kind in CELLS:
            share_error(comm, _faulty(mesh, cells, local))
    require_distinct(mesh, local.keys)
    warn_of_hanging_points(mesh, edges)
    warn_of_split_faces(mesh)
    warn_of_coincident_points(mesh)


def dimensional(kind: str) -> bool:
    """Whether cells of this type have a size."""
    return kind != "vertex"


def _not_numbers(mesh: Mesh) -> MeshError | None:
    bad = np.flatnonzero(~np.isfinite(mesh.points).all(axis=1))
    if not len(bad):
        return None
    point = bad[0] + mesh.point_starts[mesh.comm.rank]
    return MeshError(
        f"{mesh.name}: point {point} has coordinates {mesh.points[bad[0]].tolist()}, "
        "which are not all finite numbers",
        asked="coordinates",
        given=mesh.points[bad[0]],
    )


def _faulty(mesh: Mesh, cells: CellSlice, local: LocalCells) -> MeshError | None:
    """First inverted or degenerate cell of this rank's slice."""
    bad = np.flatnonzero(local.least_jacobians(cells.kind) <= FLAT_TOLERANCE)
    if not len(bad):
        return None
    worst, count = int(bad[0]), len(bad)
    x = local.X[local.vertices[cells.kind][worst]]
    what = _fault(CELLS[cells.kind], cells.connectivity[worst], x)
    more = f"; {count} such cells in this slice of {len(cells.connectivity)}" if count > 1 else ""
    return MeshError(
        f"{mesh.name}: {_cell(cells, worst)} {what}{more}",
        cells=[cells.start + worst],
        asked="Jacobian",
        given=jacobians(cells.kind, x[None]).min(),
    )


def _fault(cell: Cell, points: Ints, x: Array) -> str:
    """Return what is wrong with a cell of some points at x (nv, 3), where, and what helps."""
    determinants = jacobians(cell.name, x[None])[0]
    k, dim, n = int(determinants.argmin()), cell.dimension, cell.corners
    low, at = float(determinants[k]), looked_at(cell.name, x[None])[0, k]
    kind = "corner" if k < n else "node"
    where = f"at {kind} {points[k]}, " if k < len(points) else "inside, at "
    where += f"({at[0]:g}, {at[1]:g}, {at[2]:g})"
    if low >= -FLAT_TOLERANCE:
        size = ("length", "area", "volume")[dim - 1]
        return f"has no {size}" if dim == 1 else f"is degenerate: it has no {size} {where}"
    corners = jacobians(cell.straight.name, x[None, :n])[0]
    if len(points) > n and corners.min() > FLAT_TOLERANCE:
        turns = f"turns over {where} (scaled Jacobian {low:.3g})"
        return f"{turns}: its edges are curved too far; {STRAIGHTEN}"
    if dim < 3:
        turns = "normal" if dim == 2 else "tangent"
        return f"is folded: the {turns} turns over {where} (scaled Jacobian {low:.3g})"
    order = "0-1-2 counter-clockwise seen from 3"
    if cell.factors == (1, 1, 1):
        order = "0-1-2-3 below 4-5-6-7 and counter-clockwise seen from above"
    return (
        f"is inverted: negative Jacobian {where} (scaled {low:.3g}); number the vertices as meshio "
        f"does, {order}{'' if (corners < 0.0).all() else ', or move them apart'}"
    )


def _cell(cells: CellSlice, local: int) -> str:
    vertices = " ".join(str(v) for v in cells.connectivity[local])
    label = 0 if cells.labels is None else cells.labels[local]
    in_file = f"element {label} of the file, " if label else ""
    return f"{cells.kind} {cells.start + local} ({in_file}points {vertices})"


def _chunks(mesh: Mesh, cells: CellSlice) -> Iterator[tuple[int, Array]]:
    """Coordinates of the cells of this slice, a chunk at a time, (k, nv, 3). Collective."""
    n = len(cells.connectivity)
    rounds = mesh.comm.allreduce(-(-n // CHUNK), MPI.MAX)
    for i in range(rounds):
        part = cells.connectivity[i * CHUNK : (i + 1) * CHUNK]
        yield i * CHUNK, mesh.fetch_points(part)


def measure(mesh: Mesh) -> Quality:
    """See `Mesh.quality`. Collective."""
    shapes = {}
    for kind, cells in mesh.cells.items():
        if kind not in CELLS or not dimensional(kind):
            continue
        total, low = 0.0, np.full(2, np.inf)
        high, worst = np.zeros(3), (np.inf, -1, (np.nan,) * 3)
        for first, x in _chunks(mesh, cells):
            if not len(x):
                continue
            size = sizes(kind, x)
            edges = _lengths(CELLS[kind], x)
            total += float(size.sum())
            determinants = jacobians(kind, x)
            low = np.minimum(low, [size.min(), determinants.min()])
            k, p = np.unravel_index(determinants.argmin(), determinants.shape)
            at = looked_at(kind, x[k, None])[0, p]
            worst = min(worst, (float(determinants[k, p]), cells.start + first + int(k), tuple(at)))
            aspect = edges.max(axis=1) / edges.min(axis=1)
            high = np.maximum(high, [size.max(), aspect.max(), _defect(kind, x)])
        low, high = reduced(mesh.comm, low, MPI.MIN), reduced(mesh.comm, high, MPI.MAX)
        total, worst = mesh.comm.allreduce(total), min(mesh.comm.allgather(worst))
        shapes[kind] = CellShapes(
            size=total,
            smallest=float(low[0]),
            largest=float(high[0]),
            jacobian=float(low[1]),
            aspect=float(high[1]),
            defect=float(high[2]),
            worst=worst[1],
            place=worst[2],
        )
    return Quality(shapes)


def _lengths(cell: Cell, x: Array) -> Array:
    """Return the lengths (k, edges) of the edges of cells x (k, nv, 3), along their nodes."""
    parts = np.array(cell.links).reshape(len(cell.edges), -1, 2)
    return np.asarray(np.linalg.norm(x[:, parts[..., 0]] - x[:, parts[..., 1]], axis=3).sum(axis=2))


def _defect(kind: str, x: Array) -> float:
    if CELLS[kind].factors != (1, 1):
        return 0.0
    twist = np.linalg.norm(x[:, 0] - x[:, 1] + x[:, 2] - x[:, 3], axis=1)
    diagonals = np.linalg.norm(x[:, [0, 1]] - x[:, [2, 3]], axis=2).max(axis=1)
    return float((twist / diagonals).max())


__all__ = ["CellShapes", "Quality", "check", "measure"]

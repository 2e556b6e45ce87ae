# SPDX-License-Identifier: BSD-3-Clause
"""Visible surfaces of samples: outer faces, borders of the elements, the undeformed outline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from symancf import SymancfError

from ..interface import CELLS, Array, Ints, Sides, is_symmetric, sides_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from symancf.output import Samples


SHARP_COSINE = np.cos(np.radians(35.0))
POSITIVE, NEGATIVE = "#c1272d", "#1d4e9e"  # lines along principal directions; loads and reactions


@dataclass
class DrawnSurface:
    """A body ready to be drawn; coincident points of neighbouring cells are united.

    Attributes
    ----------
    points, reference : (n, 3) in the deformed and the undeformed position [m].
    faces : (k, 4) numbers of points, triangles repeat their last one.
    lines : (k, 2) cables.
    borders : (k, 2) edges of elements.
    outline : (k, 2) edges of the whole body.
    values : (n,) field that colours it, averaged between cells; None if it has no such field.
    solid : whether the faces close a volume.
    tensor : (n, 9) whose principal directions are drawn, averaged between cells.
    marks, forces, supports : (m, 3) nodes and places of a term, the forces there, and whether they
        are reactions.
    strokes : further lines (m, 2, 3) by their colour: of principal directions, of arrows.
    """

    points: Array
    reference: Array
    faces: Ints
    lines: Ints
    borders: Ints
    outline: Ints
    values: Array | None
    solid: bool
    tensor: Array | None = None
    marks: Array = field(default_factory=lambda: np.zeros((0, 3)))
    forces: Array = field(default_factory=lambda: np.zeros((0, 3)))
    supports: bool = False
    strokes: dict[str, Array] = field(default_factory=dict)

    @property
    def deformed(self) -> bool:
        """Whether the undeformed position is known and another one."""
        scale = np.ptp(self.reference, axis=0).max(initial=0.0)
        return bool(np.abs(self.points - self.reference).max(initial=0.0) > 1e-6 * scale)

    @property
    def normals(self) -> Array:
        """Normals of the faces (k, 3), twice as long as their areas."""
        x = self.points[self.faces]
        return np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])


def surface_of(
    samples: Samples, field: str | None, *, closed: bool = False, directions: str | None = None
) -> DrawnSurface:
    """Find the outer faces, borders and outline of samples.

    `closed` : values are numbers of classes: each face has one, that of most of its points.
    `directions` : a symmetric tensor whose principal directions are drawn.
    """
    points = np.asarray(samples.points, float)
    moved = samples.point_data.get("displacement")
    reference = points if moved is None else points - moved
    sheets, lines = _polygons(samples.cells), _lines(samples.cells)
    borders = _borders(reference, sheets, _outer(samples.cells))

    first, place = _united(points, reference)
    united, sheets = {kind: place[cells] for kind, cells in samples.cells.items()}, place[sheets]
    outer = _outer(united)
    faces = np.concatenate([sheets, outer])
    united_points, united_reference = points[first], reference[first]
    outline = _borders(united_reference, sheets, outer)
    drawn = DrawnSurface(
        points=united_points,
        reference=united_reference,
        faces=faces,
        lines=place[lines],
        borders=np.unique(np.sort(place[borders], axis=1), axis=0),
        outline=outline,
        values=_values(samples, field, place, len(first)),
        solid=len(outer) > 0,
        tensor=_tensor(samples, directions, place, len(first)),
    )
    if set(samples.cells) <= {"vertex", "line"} and "vertex" in samples.cells:
        drawn.supports = "reaction" in samples.point_data
        forces = samples.point_data.get("reaction" if drawn.supports else "force")
        drawn.marks = points
        drawn.forces = np.zeros_like(points) if forces is None else np.asarray(forces, float)
        if field in samples.cell_data and "line" in samples.cells:
            drawn = _in_segments(drawn, _of_lines(samples, samples.cell_data[field]))
    return _apart(drawn) if closed and drawn.values is not None else drawn


def _of_lines(samples: Samples, values: npt.ArrayLike) -> Array:
    """Return the rows of cell data that belong to lines."""
    kinds = np.repeat(list(samples.cells), [len(cells) for cells in samples.cells.values()])
    return np.asarray(_magnitude(values)[kinds == "line"])


def _in_segments(surface: DrawnSurface, values: Array) -> DrawnSurface:
    """Give each line points of its own with one value, so that values may jump between them."""
    at = surface.lines.ravel()
    return replace(
        surface,
        points=surface.points[at],
        reference=surface.reference[at],
        lines=np.arange(len(at)).reshape(-1, 2),
        values=np.repeat(values, 2),
    )


def _apart(surface: DrawnSurface) -> DrawnSurface:
    """Give each face points of its own with one value: that of most, of two the larger."""
    faces, first = surface.faces, len(surface.points)
    assert surface.values is not None
    values, t = np.rint(surface.values)[faces], surface.tensor
    count = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    best = np.take_along_axis(values, np.lexsort((values, count), axis=1)[:, -1:], axis=1)
    own = first + np.arange(faces.size).reshape(faces.shape)
    own[:, 3] -= faces[:, 3] == faces[:, 2]  # triangles
    return replace(
        surface,
        points=np.concatenate([surface.points, surface.points[faces.ravel()]]),
        reference=np.concatenate([surface.reference, surface.reference[faces.ravel()]]),
        faces=own,
        values=np.concatenate([surface.values, np.repeat(best[:, 0], 4)]),
        tensor=t if t is None else np.concatenate([t, t[faces.ravel()]]),
    )


def _polygons(cells: Mapping[str, Ints]) -> Ints:
    """Triangles and quadrilaterals (k, 4) of surfaces."""
    faces = [
        rows[:, CELLS[kind].polygons].reshape(-1, 4)
        for kind, rows in cells.items()
        if CELLS[kind].dimension == 2
    ]
    return np.asarray(np.concatenate([np.empty((0, 4), np.int64), *faces]), np.int64)


def _lines(cells: Mapping[str, Ints]) -> Ints:
    """Straight pieces (k, 2) of lines."""
    segments = [
        rows[:, np.array(CELLS[kind].links)].reshape(-1, 2)
        for kind, rows in cells.items()
        if CELLS[kind].dimension == 1
    ]
    return np.asarray(np.concatenate([np.empty((0, 2), np.int64), *segments]), np.int64)


def _outer(cells: Mapping[str, Ints]) -> Ints:
    """Polygons (k, 4) of the faces that belong to one volume only."""
    volumes = [
        Sides(kind, np.arange(len(rows)), rows)
        for kind, rows in cells.items()
        if CELLS[kind].dimension == 3
    ]
    outer = sides_of(MPI.COMM_SELF, volumes, outer=True)
    return np.concatenate([_polygons({}), *(_polygons({s.kind: s.nodes}) for s in outer)])


def _borders(x: Array, sheets: Ints, closed: Ints) -> Ints:
    """Edges of one face only, and edges of a closed surface where it turns sharply."""
    borders = []
    for faces, is_closed in ((sheets, False), (closed, True)):
        if not len(faces):
            continue
        edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 3], [3, 0]]].reshape(-1, 2), axis=1)
        owner = np.repeat(np.arange(len(faces)), 4)
        real = edges[:, 0] != edges[:, 1]
        edges, owner = edges[real], owner[real]
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        edges, owner = edges[order], owner[order]
        new = np.ones(len(edges), bool)
        new[1:] = np.any(edges[1:] != edges[:-1], axis=1)
        start = np.flatnonzero(new)
        count = np.diff([*start, len(edges)])
        borders.append(edges[start[count == 1]])
        if is_closed:
            normal = np.cross(x[faces[:, 2]] - x[faces[:, 0]], x[faces[:, 3]] - x[faces[:, 1]])
            normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
            pair = start[count == 2]
            turn = np.einsum("ka,ka->k", normal[owner[pair]], normal[owner[pair + 1]])
            borders.append(edges[pair[turn < SHARP_COSINE]])
    return np.concatenate([np.empty((0, 2), np.int64), *borders])


def _united(points: Array, reference: Array) -> tuple[Ints, Ints]:
    """Unite points that coincide both before and after the deformation."""
    both = np.concatenate([points, reference], axis=1)
    scale = max(float(np.ptp(reference, axis=0).max(initial=0.0)), 1e-300)
    _, first, back = np.unique(
        np.rint(both / (1e-6 * scale)), axis=0, return_index=True, return_inverse=True
    )
    return first, back.ravel()


def _values(samples: Samples, field: str | None, place: Ints, n: int) -> Array | None:
    """Field at the united points: magnitude of vectors, mean of the cells that meet."""
    if field in samples.point_data:
        return _mean(samples, _magnitude(samples.point_data[field]), place, n)
    if field in samples.cell_data:
        return _mean(samples, _magnitude(samples.cell_data[field]), place, n, of_cells=True)
    return None


def _tensor(samples: Samples, name: str | None, place: Ints, n: int) -> Array | None:
    """Tensor (n, 9) at the united points, the mean of the cells that meet; None: there is none.

    Raises
    ------
    SymancfError : it is no symmetric tensor.
    """
    of_cells = name not in samples.point_data
    data = samples.cell_data if of_cells else samples.point_data
    if name is None or name not in data:
        return None
    tensor = np.asarray(data[name], dtype=float)
    if tensor.shape[1:] == (9,):  # as files have it
        tensor = tensor.reshape(-1, 3, 3)
    if not is_symmetric(tensor):
        raise SymancfError(
            f"directions={name!r}: the field has the shape {tensor.shape[1:]} at a point and is no "
            "symmetric tensor (3, 3); sample 'cauchy', 'S' or 'E_gl'",
            asked=name,
            given=tensor.shape[1:],
            possible=((3, 3),),
        )
    components = tensor.reshape(-1, 9).T
    parts = [_mean(samples, part, place, n, of_cells=of_cells) for part in components]
    return np.stack(parts, axis=1)


def _mean(samples: Samples, values: Array, place: Ints, n: int, *, of_cells: bool = False) -> Array:
    """Mean at the united points of values (k,) of points or cells."""
    where = place
    if of_cells:
        rows = samples.cells.values()
        values = np.repeat(values, np.repeat([c.shape[1] for c in rows], [len(c) for c in rows]))
        where = place[np.concatenate([c.ravel() for c in rows])]
    total = np.bincount(where, values, minlength=n)
    return np.asarray(total / np.maximum(np.bincount(where, minlength=n), 1))


def _magnitude(field: npt.ArrayLike) -> Array:
    values = np.asarray(field, float)
    if values.ndim == 1:
        return values
    return np.asarray(np.sqrt((values**2).sum(axis=tuple(range(1, values.ndim)))))

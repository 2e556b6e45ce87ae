# SPDX-License-Identifier: BSD-3-Clause
"""The geometric tests of cells of a mesh, from the functions of their nodes."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from ..arrays import Array, Ints
from ..cells.quadrature import counts_for, gauss
from ..cells.table import CELLS, Cell

DIMENSIONS = {  # of what meshio knows, by the beginning of the name
    **{"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "polygon": 2},
    **{"tetra": 3, "hexahedron": 3, "wedge": 3, "pyramid": 3, "polyhedron": 3},
}


def dimension(name: str) -> int:
    """Topological dimension of any meshio cell type, by its name."""
    return DIMENSIONS.get(re.sub("[0-9]*$", "", name), 3)


@cache
def _places(kind: str) -> tuple[Array, Array]:
    """Return where cells are looked at (p, dim) in the unit cell, and directions (p, dim, dim).

    At nodes those of the edges there; inside, and at last in the middle, those of the parameters.
    """
    cell = _row(kind)
    d, order = cell.dimension, cell.degree_of(cell.functions)
    inside = np.zeros((0, d))
    if d > 1 and (order > 1 or len(cell.factors) > 1):  # the rules of elements
        low, high = cell.domain
        rule = gauss(cell, counts_for(cell, 3 if cell.factors == (3,) else 2 * order))
        inside = (np.asarray(rule.points) - low) / (high - low)
    at = np.concatenate([cell.unit, inside, cell.centre[None]])
    along = np.broadcast_to(np.eye(d), (len(at), d, d)).copy()
    along[: len(cell.unit)] = cell.fans if d > 1 else 1.0
    return at, along


@cache
def table_of_jacobians(kind: str) -> Array:
    """Return the weights (p + 1, dim, nv) of nodes in the directions at `_places`."""
    at, along = _places(kind)
    return np.ascontiguousarray(np.einsum("pvd,ped->pev", _row(kind).evaluate(at)[1], along))


def looked_at(kind: str, x: Array) -> Array:
    """Return the places (k, p, 3) at which `jacobians` are those of cells x (k, nv, 3)."""
    value, _ = _row(kind).evaluate(_places(kind)[0][:-1])
    return np.asarray(np.einsum("pv,kva->kpa", value, x))


def jacobians(kind: str, x: Array) -> Array:
    """Scaled Jacobian at nodes and points of quadrature: 1 for a right angle, < 0 turned over.

    Of the unit vectors e_i along the edges at a corner (of nodes between corners: along the images
    of such edges; of points: along the parameters): det[e1, e2, e3] of volumes, (e1 x e2) . n of
    surfaces in space, with the unit normal n in the middle, and of lines e1 . t with the tangent t
    in the middle. 0 where it is flat.

    Parameters
    ----------
    x : (k, nv, 3) coordinates of the nodes [m].

    Returns
    -------
    (k, p), the nodes first; NaN nowhere: an edge without length counts as 0.
    """
    d, table = _row(kind).dimension, table_of_jacobians(kind)
    e = np.moveaxis(np.tensordot(x, table, axes=(1, 2)), 1, 3)  # (k, p + 1, d, 3)
    own, middle = unit(e[:, :-1]), e[:, -1]
    if d == 1:
        return np.asarray(np.einsum("kva,ka->kv", own[:, :, 0], unit(middle[:, 0])))
    normal = np.cross(own[:, :, 0], own[:, :, 1])
    if d == 2:
        across = unit(np.cross(middle[:, 0], middle[:, 1]))
        return np.asarray(np.einsum("kva,ka->kv", normal, across))
    return np.asarray(np.einsum("kva,kva->kv", normal, own[:, :, 2]))


def sizes(kind: str, x: Array) -> Array:
    """Length, area or volume, curved as it is: (k,) [m, m^2, m^3], by Gauss's rule."""
    cell = _row(kind)
    low, high = cell.domain
    rule = gauss(cell, counts_for(cell, 3 * cell.degree_of(cell.functions) - 1))
    _, slopes = cell.evaluate((rule.points - low) / (high - low))
    total = np.zeros(len(x))
    for slope, weight in zip(slopes, rule.weights / (high - low) ** cell.dimension, strict=True):
        j = np.einsum("vd,kva->kda", slope, x)
        if cell.dimension == 1:
            total += weight * _norm(j[:, 0])
        elif cell.dimension == 2:
            total += weight * _norm(np.cross(j[:, 0], j[:, 1]))
        else:
            total += weight * np.einsum("ka,ka->k", np.cross(j[:, 0], j[:, 1]), j[:, 2])
    return total


def outwards(kind: str, rows: Ints, x: Array, inside: list[int] | None = None) -> Ints:
    """Return cells (k, nv) with those that are mirror images of meshio's numbered as it does.

    Files number wedges, MED all volumes, in this or in the other sense: their volume tells.

    Parameters
    ----------
    x : (n, 3) coordinates of all points [m].
    inside : where the mirrored cells of the file have the last nodes, of faces and the middle.
    """
    cell = CELLS.get(kind)
    fits = cell is not None and rows.ndim == 2 and rows.shape[1] == len(cell.nodes)
    if cell is None or not fits or cell.dimension < 3 or not rows.size:
        return rows
    if rows.min() < 0 or rows.max() >= len(x):
        return rows  # the mesh tells of it
    mirrored = np.lexsort(cell.unit[:, [1, 0, 2]].T), np.lexsort(cell.unit.T)
    order = np.empty(len(cell.nodes), dtype=np.int64)
    order[mirrored[1]] = mirrored[0]
    if inside is not None:
        order[len(order) - len(inside) :] = inside
    out = sizes(cell.straight.name, x[rows[:, : cell.corners]]) < 0.0
    return np.where(out[:, None], rows[:, order], rows)


def _row(kind: str) -> Cell:
    if kind not in CELLS or not CELLS[kind].dimension:
        raise ValueError(f"no shape for cells of type {kind!r}")
    return CELLS[kind]


def _norm(v: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("...a,...a->...", v, v)))


def unit(v: Array) -> Array:
    """Return vectors (..., 3) of length 1; those without length stay."""
    length = _norm(v)[..., None]
    return np.asarray(np.divide(v, length, out=np.zeros_like(v), where=length > 0))

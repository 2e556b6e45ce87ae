# SPDX-License-Identifier: BSD-3-Clause
"""Cell types: dimension, vertices, edges, and the geometric tests of a cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Integers, Mask


@dataclass(frozen=True)
class CellType:
    """A kind of cell; vertices are numbered as in meshio and VTK."""

    name: str
    dimension: int
    vertices: int
    edges: tuple[tuple[int, int], ...]
    vtk: int


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(pair[0]), int(pair[1])) for pair in text.split())


VERTEX = CellType("vertex", 0, 1, (), 1)
LINE = CellType("line", 1, 2, _pairs("01"), 3)
QUAD = CellType("quad", 2, 4, _pairs("01 12 23 30"), 9)
HEXAHEDRON = CellType("hexahedron", 3, 8, _pairs("01 12 23 30 45 56 67 74 04 15 26 37"), 12)
CELLS: dict[str, CellType] = {c.name: c for c in (VERTEX, LINE, QUAD, HEXAHEDRON)}

# The three neighbours of every corner, ordered so that the Jacobian of a sound cell is positive.
_HEX_CORNERS = np.array(
    [[1, 3, 4], [2, 0, 5], [3, 1, 6], [0, 2, 7], [7, 5, 0], [4, 6, 1], [5, 7, 2], [6, 4, 3]]
)


def dimension(name: str) -> int:
    """Topological dimension of any meshio cell type, by its name."""
    if name in CELLS:
        return CELLS[name].dimension
    for prefix, dim in (("vertex", 0), ("line", 1), ("triangle", 2), ("quad", 2), ("polygon", 2)):
        if name.startswith(prefix):
            return dim
    return 3


def corner_jacobians(kind: str, x: Array) -> Array:
    """Scaled Jacobian at every corner: 1 for a right angle, 0 for a collapsed one, < 0 inverted.

    Hexahedra: det[e1, e2, e3] of the unit edge vectors at the corner. Quadrilaterals in space:
    (e1 x e2) . n with the unit normal n of the diagonals. Lines: 1, or 0 where the ends
    coincide.

    Parameters
    ----------
    x : (k, nv, 3) coordinates of the vertices [m].

    Returns
    -------
    (k, corners); NaN nowhere: an edge without length counts as 0.
    """
    if kind == "line":
        return (_norm(x[:, 1] - x[:, 0]) > 0).astype(float)[:, None]
    if kind == "quad":
        forward = _unit(np.roll(x, -1, axis=1) - x)
        backward = _unit(np.roll(x, 1, axis=1) - x)
        normal = _unit(np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1]))
        quad: Array = np.einsum("kva,ka->kv", np.cross(forward, backward), normal)
        return quad
    if kind == "hexahedron":
        out = np.empty((len(x), 8))
        for corner, (a, b, c) in enumerate(_HEX_CORNERS):
            e = [_unit(x[:, i] - x[:, corner]) for i in (a, b, c)]
            out[:, corner] = np.einsum("ka,ka->k", np.cross(e[0], e[1]), e[2])
        return out
    raise ValueError(f"no Jacobian for cells of type {kind!r}")


def sizes(kind: str, x: Array) -> Array:
    """Length, area of the projection along the mean normal, or volume: (k,) [m, m^2, m^3]."""
    if kind == "line":
        return _norm(x[:, 1] - x[:, 0])
    if kind == "quad":
        return 0.5 * _norm(np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1]))
    if kind == "hexahedron":
        # det J is quadratic in each coordinate, so two Gauss points per direction are exact.
        volume = np.zeros(len(x))
        for gradient in _HEX_GRADIENTS:
            j = np.einsum("vd,kva->kda", gradient, x)
            volume += np.einsum("ka,ka->k", np.cross(j[:, 0], j[:, 1]), j[:, 2])
        return volume
    raise ValueError(f"no size for cells of type {kind!r}")


def repeated_vertices(connectivity: Integers) -> Mask:
    """Cells that name a vertex twice, (k,)."""
    ordered = np.sort(connectivity, axis=1)
    return np.asarray(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1))


def _hex_gradients() -> Array:
    """dN/dxi of the trilinear functions at the 2x2x2 Gauss points, (8, 8 vertices, 3)."""
    s = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]])
    s = np.vstack([s, s + np.array([0, 0, 2])]).astype(float)
    out = np.empty((8, 8, 3))
    for point, xi in enumerate(s / np.sqrt(3.0)):
        f = 1.0 + s * xi
        for d in range(3):
            out[point, :, d] = s[:, d] * f[:, (d + 1) % 3] * f[:, (d + 2) % 3] / 8.0
    return out


_HEX_GRADIENTS = _hex_gradients()


def _norm(v: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("...a,...a->...", v, v)))


def _unit(v: Array) -> Array:
    length = _norm(v)[..., None]
    return np.asarray(np.divide(v, length, out=np.zeros_like(v), where=length > 0))

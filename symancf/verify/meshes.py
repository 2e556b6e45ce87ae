# SPDX-License-Identifier: BSD-3-Clause
"""Boxes with cells of any shape, for patch tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints
from ..mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def distorted(lengths: Sequence[float], amount: float) -> Callable[[Array], Array]:
    """Return a map of a box to itself that moves every node but the corners.

    Nodes of a face stay in its plane, so that volume and area are those of the box; `amount`
    is relative to the lengths.
    """
    sizes = np.array([*lengths, *([1.0] * (3 - len(lengths)))])
    phases = np.array([[0.3, 1.1, 2.3], [1.7, 0.5, 0.9], [0.8, 2.1, 0.2]])

    def move(X: Array) -> Array:
        s = X / sizes
        moved = X.copy()
        for a in range(len(lengths)):
            others = sum(np.sin(7.0 * s[:, b] + phases[a, b]) for b in range(3))
            moved[:, a] += amount * sizes[a] * np.sin(np.pi * s[:, a]) * others / 3.0
        return moved

    return move


def zigzag(n: int, amount: float) -> Callable[[Array], Array]:
    """Return a map of the unit square with n x n cells that makes trapezoids at any n.

    Lines across each direction move to and fro by `amount` of a cell; the rim stays.
    """

    def move(X: Array) -> Array:
        i, j = np.rint(n * X[:, 0]), np.rint(n * X[:, 1])
        moved = X.copy()
        moved[:, 0] += amount / n * (-1.0) ** j * ((i > 0) & (i < n))
        moved[:, 1] += amount / n * (-1.0) ** i * ((j > 0) & (j < n))
        return moved

    return move


def box(
    lengths: Sequence[float],
    divisions: Sequence[int],
    amount: float = 0.0,
    comm: MPI.Comm = MPI.COMM_SELF,
    cell: str | None = None,
) -> Mesh:
    """Return a box, regular or distorted by `amount`."""
    warp = distorted(lengths, amount) if amount else None
    return Mesh.box(lengths, divisions, cell=cell, warp=warp, comm=comm)


def bent(
    lengths: Sequence[float], divisions: Sequence[int], radius: float
) -> tuple[Mesh, Callable[[Array], Array]]:
    """Return a line or rectangle rolled on a cylinder about the y axis, and its normals."""

    def roll(X: Array) -> Array:
        angle = X[:, 0] / radius
        moved = [radius * np.sin(angle), X[:, 1], radius * (np.cos(angle) - 1.0)]
        return np.stack(moved, axis=1)

    def normal(X: Array) -> Array:
        across = np.stack([X[:, 0], 0.0 * X[:, 0], X[:, 2] + radius], axis=1)
        return np.asarray(across / radius)

    return Mesh.box(lengths, divisions, warp=roll, comm=MPI.COMM_SELF), normal


def octant(cells: int) -> tuple[Array, Ints]:
    """Return points and quadrilaterals of an octant of the unit sphere, normals outwards.

    Three patches of cells x cells, their lines at equal angles seen from the centre.
    """
    line = np.tan(np.linspace(0.0, np.pi / 4, cells + 1))
    numbers: dict[tuple[float, ...], int] = {}
    points: list[Array] = []
    quads = []
    for axis in range(3):
        for i in range(cells):
            for j in range(cells):
                quad = []
                for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    x = np.zeros(3)
                    x[[axis, (axis + 1) % 3, (axis + 2) % 3]] = 1.0, line[a], line[b]
                    key = tuple(np.round(x, 9).tolist())
                    if key not in numbers:
                        numbers[key] = len(points)
                        points.append(x / np.linalg.norm(x))
                    quad.append(numbers[key])
                quads.append(quad)
    return np.array(points), np.array(quads)


def planes(points: Array) -> dict[str, Any]:
    """Return the regions ``x0``, ``y0``, ``z0``: points in the planes of the coordinates."""
    at = {f"{axis}0": np.flatnonzero(np.abs(points[:, a]) < 1e-9) for a, axis in enumerate("xyz")}
    return {name: ("vertex", number[:, None]) for name, number in at.items()}


def octant_skin(cells: int) -> Mesh:
    """Return an octant of the unit sphere of quadrilaterals: ``skin``, ``x0``, ``y0``, ``z0``."""
    points, quads = octant(cells)
    regions = {"skin": ("quad", np.arange(len(quads))), **planes(points)}
    return Mesh.from_arrays(points, {"quad": quads}, regions, comm=MPI.COMM_SELF)


def octant_shell(cells: int, layers: int, outer: float) -> Mesh:
    """Return an octant of the shell 1 <= R <= outer of hexahedra.

    Regions ``body``, ``inside`` (facets), ``x0``, ``y0``, ``z0``.
    """
    skin, quads = octant(cells)
    radii = outer ** (np.arange(layers + 1) / layers)
    points = np.concatenate([radius * skin for radius in radii])
    n = len(skin)
    hexahedra = np.concatenate(
        [np.hstack([quads + k * n, quads + (k + 1) * n]) for k in range(layers)]
    )
    regions = {
        "body": ("hexahedron", np.arange(len(hexahedra))),
        "inside": ("quad", quads),
        **planes(points),
    }
    return Mesh.from_arrays(points, {"hexahedron": hexahedra}, regions, comm=MPI.COMM_SELF)


def quarter_disc(cells: int) -> Mesh:
    """Return a quarter of the unit disc: three patches of cells x cells quadrilaterals.

    Regions ``disc``, ``rim`` (points at radius 1), ``x0``, ``y0``.
    """
    line = np.arange(cells + 1) / cells
    s, t = np.meshgrid(line, line, indexing="ij")
    half, corner = 0.5, 0.42
    inner = [
        np.array([0.0, 0.0]),
        np.array([half, 0.0]),
        np.array([corner, corner]),
        np.array([0.0, half]),
    ]

    def bilinear(a: Array, b: Array, c: Array, d: Array) -> Array:
        weights = ((1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t)
        return np.asarray(sum(w[..., None] * x for w, x in zip(weights, (a, b, c, d), strict=True)))

    def ruled(a: Array, b: Array, first: float, last: float) -> Array:
        """From the chord a b (s = 0) to the arc between two angles (s = 1)."""
        angle = first + (last - first) * t
        arc = np.stack([np.cos(angle), np.sin(angle)], axis=2)
        chord = (1 - t)[..., None] * a + t[..., None] * b
        return np.asarray((1 - s)[..., None] * chord + s[..., None] * arc)

    grids = [
        bilinear(*inner),
        ruled(inner[1], inner[2], 0.0, np.pi / 4),
        ruled(inner[2], inner[3], np.pi / 4, np.pi / 2),
    ]
    numbers: dict[tuple[float, ...], int] = {}
    quads = []
    for grid in grids:
        number = np.empty((cells + 1, cells + 1), dtype=np.int64)
        for place in np.ndindex(number.shape):
            key = tuple(np.round(grid[place], 9).tolist())
            number[place] = numbers.setdefault(key, len(numbers))
        corners = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
        quads.append(np.stack(corners, axis=2).reshape(-1, 4))
    points = np.array([(*key, 0.0) for key in numbers])
    points[:, :2] += 0.0
    rim = np.flatnonzero(np.abs(np.linalg.norm(points, axis=1) - 1.0) < 1e-8)
    regions = {
        "disc": ("quad", np.arange(sum(map(len, quads)))),
        "rim": ("vertex", rim[:, None]),
        **{k: v for k, v in planes(points).items() if k != "z0"},
    }
    return Mesh.from_arrays(points, {"quad": np.concatenate(quads)}, regions, comm=MPI.COMM_SELF)

# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of closed and open shells, made of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import symancf as sa


def cube(cells: int, turned: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return points and quadrilaterals of the surface of the cube [-1, 1]^3, normals outwards.

    `turned`: the lines of the mesh are at equal angles, seen from the centre.
    """
    line = np.linspace(-1.0, 1.0, cells + 1)
    line = np.tan(line * np.pi / 4.0) if turned else line
    numbers: dict[tuple[float, ...], int] = {}
    points: list[np.ndarray] = []
    quads = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            for i in range(cells):
                for j in range(cells):
                    quad = []
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        x = np.zeros(3)
                        x[[axis, (axis + 1) % 3, (axis + 2) % 3]] = side, line[a], line[b]
                        key = tuple(np.round(x, 9))
                        if key not in numbers:
                            numbers[key] = len(points)
                            points.append(x)
                        quad.append(numbers[key])
                    quads.append(quad if side > 0 else quad[::-1])
    return np.array(points), np.array(quads)


def sphere(cells: int, radius: float = 1.0, flipped: Sequence[int] = ()) -> sa.Mesh:
    """Return a sphere of 6 cells^2 quadrilaterals, region ``skin``, normals outwards.

    `flipped`: cells numbered in the other sense.
    """
    points, quads = cube(cells)
    points *= radius / np.linalg.norm(points, axis=1)[:, None]
    for k in flipped:
        quads[k] = quads[k][::-1]
    return sa.Mesh.from_arrays(points, {"quad": quads}, {"skin": ("quad", np.arange(len(quads)))})


def box_of_walls(cells: int, size: float = 1.0) -> sa.Mesh:
    """Return the closed surface of a cube [0, size]^3, region ``skin``, normals outwards."""
    points, quads = cube(cells, turned=False)
    points = (points + 1.0) * size / 2.0
    return sa.Mesh.from_arrays(points, {"quad": quads}, {"skin": ("quad", np.arange(len(quads)))})

# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of closed and open shells, made of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import symancf as sa
from symancf.assembly.assembler import Assembler


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


def box_of_walls(cells: int, size: float = 1.0, flipped: Sequence[int] = ()) -> sa.Mesh:
    """Return the closed surface of a cube [0, size]^3, region ``skin``, normals outwards."""
    points, quads = cube(cells, turned=False)
    points = (points + 1.0) * size / 2.0
    for k in flipped:
        quads[k] = quads[k][::-1]
    return sa.Mesh.from_arrays(points, {"quad": quads}, {"skin": ("quad", np.arange(len(quads)))})


def tube(
    around: int, along: int, radius: float = 1.0, length: float = 2.0, turned: Sequence[int] = ()
) -> sa.Mesh:
    """Return an open tube along x: regions ``skin``, ``left``, ``right``; normals outwards.

    `turned`: cells numbered in the other sense.
    """
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([0.0 * angle, radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    points = np.concatenate(
        [ring + np.array([x, 0, 0]) for x in np.linspace(0.0, length, along + 1)]
    )
    quads = []
    for j in range(along):
        for i in range(around):
            a, b = around * j + i, around * j + (i + 1) % around
            quads.append([a, b, b + around, a + around])
    quads = np.array(quads)[:, [0, 3, 2, 1]][:, ::-1]
    for k in turned:
        quads[k] = quads[k][::-1]
    rim = np.stack([np.arange(around), (np.arange(around) + 1) % around], axis=1)
    return sa.Mesh.from_arrays(
        points,
        {"quad": quads},
        {
            "skin": ("quad", np.arange(len(quads))),
            "left": ("line", rim),
            "right": ("line", rim + around * along),
        },
    )


def hollow_block(cells: int = 3) -> sa.Mesh:
    """Return the cube [0, 1]^3 of cells^3 hexahedra without the middle third.

    Regions ``body``, ``inside`` (its facets), ``lid`` (those at x = 1/3), ``open`` (the others) and
    ``left`` (points at x = 0).
    """
    n = cells + 1
    line = np.linspace(0.0, 1.0, n)
    points = np.array([(x, y, z) for z in line for y in line for x in line])
    third = cells // 3
    hexahedra = []
    for k in range(cells):
        for j in range(cells):
            for i in range(cells):
                if all(third <= q < 2 * third for q in (i, j, k)):
                    continue
                a = i + n * j + n * n * k
                bottom = [a, a + 1, a + 1 + n, a + n]
                hexahedra.append(bottom + [v + n * n for v in bottom])
    faces = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
    facets = np.array(hexahedra)[:, faces].reshape(-1, 4)
    _, first, count = np.unique(
        np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True
    )
    outer = facets[np.sort(first[count == 1])]
    x = points[outer]
    inside = outer[((x > 1e-9) & (x < 1 - 1e-9)).all(axis=(1, 2))]
    left = np.abs(points[inside][:, :, 0] - third / cells).max(axis=1) < 1e-9
    return sa.Mesh.from_arrays(
        points,
        {"hexahedron": np.array(hexahedra)},
        {
            "body": ("hexahedron", np.arange(len(hexahedra))),
            "inside": ("quad", inside),
            "open": ("quad", inside[~left]),
            "lid": ("quad", inside[left]),
            "left": ("vertex", np.flatnonzero(points[:, 0] == 0.0)[:, None]),
        },
    )


def resultant(system: sa.System, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return force and moment (3,) of all terms but strain on the bodies, and the sum of sizes.

    What is a function of the state (lids) follows it.
    """
    system.state[:] = state
    system._discrete.settle()
    state = system.state
    forms = [p for p in system._discrete.forms if p.role != "strain"]
    assembler = Assembler(forms, system._discrete.numbering, system.reference, system.comm)
    assembler.update(0.0)
    f = np.zeros_like(state)
    assembler.residual(state, f)
    force, moment = np.zeros(3), np.zeros(3)
    for number, block in enumerate(system._discrete.numbering.blocks):
        if not block.moves:
            continue
        start = system._discrete.numbering.offset[:, number]
        at = (start[start >= 0][:, None] + np.arange(block.size)).reshape(-1, 3)
        # a rotation turns places and slopes
        moment -= np.cross((system.reference + state)[at], f[at]).sum(axis=0)
        force -= f[at].sum(axis=0) if block.name == "position" else 0.0
    return force, moment, float(np.abs(f).sum())

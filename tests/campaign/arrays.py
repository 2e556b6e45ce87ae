# SPDX-License-Identifier: BSD-3-Clause
"""Meshes by arrays: damaged, doubled, degenerate. The weight tells whether a cell counts twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa

from . import models
from .case import Case, Wrong

G = 2.0
Made = tuple[Any, dict[str, Any], dict[str, Any]]  # points, cells, regions


def grid(kind: str) -> Made:
    """Return points, cells and regions of a small regular mesh of a kind of body."""
    lengths, divisions = models.SIZES[kind]
    n = [k + 1 for k in divisions]
    axes = [np.linspace(0.0, length, k) for length, k in zip(lengths, n, strict=True)]
    points = np.zeros((int(np.prod(n)), 3))
    for a, x in enumerate(np.meshgrid(*axes, indexing="ij")):
        points[:, a] = x.ravel(order="F")
    number = np.arange(len(points)).reshape(n, order="F")
    if kind == "hex":
        a = number[:-1, :-1, :-1], number[1:, :-1, :-1], number[1:, 1:, :-1], number[:-1, 1:, :-1]
        b = number[:-1, :-1, 1:], number[1:, :-1, 1:], number[1:, 1:, 1:], number[:-1, 1:, 1:]
        name, corners, side = "hexahedron", (*a, *b), "quad"
        face = number[0]
        root = np.stack([f.ravel() for f in (face[:-1, :-1], face[1:, :-1], face[1:, 1:], face[:-1, 1:])], 1)  # fmt: skip  # noqa: E501
    elif kind == "cable":
        name, corners, side = "line", (number[:-1], number[1:]), "vertex"
        root = np.array([[0]])
    else:
        corners = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        name, side = "quad", "line"
        root = np.stack([number[0, :-1], number[0, 1:]], axis=1)
    cells = np.stack([c.ravel() for c in corners], axis=1)
    return points, {name: cells.tolist()}, {"root": (side, root.tolist())}


def weigh(kind: str, made: Made, cells: int | None = None, **options: Any) -> Any:
    """Return the weight that the support of a mesh carries; `cells` is how many count."""
    given = made if MPI.COMM_WORLD.rank == 0 else (None, None, None)
    mesh = sa.Mesh.from_arrays(*given, **options)
    return weigh_mesh(kind, mesh, cells)


def weigh_mesh(kind: str, mesh: sa.Mesh, cells: int | None) -> Any:
    """Return the weight that the support of a mesh carries."""
    element, energy, parameters = models.element(kind)
    part = sa.Body(mesh["body" if "body" in mesh else "all"], element, energy, **parameters)
    support = sa.fix(part["root"])
    system = models.solve(
        part, terms=[support, sa.gravity((0, 0, -G))], options={"snes_max_it": 25}
    )
    weight = support.reaction(system).force
    if cells is not None:
        whole = int(np.prod(models.SIZES[kind][1]))
        right = models.RHO * models.volume(kind) * G * cells / whole
        if not abs(weight[2] - right) <= 1e-6 * right:
            raise Wrong(f"the support carries {weight[2]:.9g}, {cells} cells weigh {right:.9g}")
        held = len(system.displacement(part["root"]))
        side = int(np.prod([k + 1 for k in models.SIZES[kind][1][1:]]))
        if held != side:
            raise Wrong(f"the support holds {held} nodes, the side has {side}")
    return models.finite(weight)


def _cells(made: Made) -> tuple[str, list[Any]]:
    (name, cells), *_ = made[1].items()
    return name, [list(cell) for cell in cells]


def _turned(name: str, cell: list[int]) -> list[int]:
    if name == "hexahedron":
        return [cell[i] for i in (1, 2, 3, 0, 5, 6, 7, 4)]
    return [*cell[1:], cell[0]]


def mutations(kind: str, chance: random.Random) -> dict[str, tuple[Callable[[], Any], str]]:
    """Return name -> (run, expectation) of what can be wrong with a mesh by arrays."""
    points, cells, regions = made = grid(kind)
    name, whole = _cells(made)
    k, corner = chance.randrange(len(whole)), chance.randrange(len(whole[0]))
    node = chance.randrange(len(points))

    def changed(at: Any, value: Any) -> Made:
        moved = np.array(points, dtype=float)
        moved[at] = value
        return moved, cells, regions

    def with_cells(new: list[Any]) -> Made:
        return points, {name: new}, regions

    n = len(whole)
    other = [[*c] for c in whole]
    other[k][corner] = other[k][(corner + 1) % len(other[k])]
    off = [[*c] for c in whole]
    off[k][corner] = len(points) + chance.randrange(5)
    reverse = [c[::-1] for c in whole] if kind != "hex" else [[*c[4:], *c[:4]] for c in whole]
    shift = chance.choice([1e3, 1e6])
    order = list(range(n))
    chance.shuffle(order)
    renumber = np.array(chance.sample(range(len(points)), len(points)))
    permuted = np.empty_like(points)
    permuted[renumber] = points
    side, root = regions["root"]
    again = (
        permuted,
        {name: [renumber[c].tolist() for c in whole]},
        {"root": (side, [renumber[f].tolist() for f in root])},
    )
    return {
        "as it is": (lambda: weigh(kind, made, n), "right"),
        "cells in another order": (
            lambda: weigh(kind, with_cells([whole[i] for i in order]), n),
            "right",
        ),
        "points in another order": (lambda: weigh(kind, again, n), "right"),
        "points that no cell has": (
            lambda: weigh(kind, (np.r_[points, [[9.0, 9, 9]]], cells, regions), n),
            "either",
        ),
        "a cell twice": (lambda: weigh(kind, with_cells([*whole, whole[k]]), n), "either"),
        "a cell twice, turned": (
            lambda: weigh(kind, with_cells([*whole, _turned(name, whole[k])]), n),
            "either",
        ),
        "a cell twice, first and last": (
            lambda: weigh(kind, with_cells([whole[-1], *whole]), n),
            "either",
        ),
        "all cells twice": (lambda: weigh(kind, with_cells([*whole, *whole]), n), "either"),
        "all cells reversed": (
            lambda: weigh(kind, with_cells(reverse), n),
            "either",
        ),
        "a side twice": (
            lambda: weigh(kind, (points, cells, {"root": (side, [*root, root[0]])}), n),
            "either",
        ),
        "a corner twice": (lambda: weigh(kind, with_cells(other)), "error"),
        "a point beyond": (lambda: weigh(kind, with_cells(off)), "error"),
        "a negative point": (
            lambda: weigh(kind, with_cells([*whole, [-1, *whole[0][1:]]])),
            "error",
        ),
        "a point at nan": (lambda: weigh(kind, changed(node, np.nan)), "error"),
        "a point at inf": (lambda: weigh(kind, changed((node, 0), np.inf)), "error"),
        "a point far away": (lambda: weigh(kind, changed(node, 1e200)), "either"),
        "points in a plane through all": (
            lambda: weigh(kind, (points * [0, 1, 1], cells, regions)),
            "error",
        ),
        "moved off the origin": (lambda: weigh(kind, (points + shift, cells, regions), n), "right"),
        "far off the origin": (lambda: weigh(kind, (points + 1e13, cells, regions), n), "either"),
        "fractions for points": (
            lambda: weigh(kind, with_cells([[x + 0.5 for x in whole[0]], *whole[1:]])),
            "error",
        ),
        "text for points": (lambda: weigh(kind, ([["a"] * 3] * 9, cells, regions)), "error"),
        "ragged points": (
            lambda: weigh(kind, ([[0.0, 0, 0], [1.0, 2]], cells, regions)),
            "error",
        ),
        "ragged cells": (lambda: weigh(kind, with_cells([*whole, whole[0][:-1]])), "error"),
        "points of four": (lambda: weigh(kind, (np.zeros((9, 4)), cells, regions)), "error"),
        "no cells": (lambda: weigh(kind, with_cells([])), "error"),
        "no points": (lambda: weigh(kind, (np.zeros((0, 3)), cells, regions)), "error"),
        "an unknown cell": (lambda: weigh(kind, (points, {"blob": whole}, regions)), "error"),
        "a region of nothing": (
            lambda: weigh(kind, (points, cells, {"root": (side, [])})),
            "error",
        ),
        "a region that is a number": (lambda: weigh(kind, (points, cells, {"root": 5})), "error"),
        "a region of fractions": (
            lambda: weigh(kind, (points, cells, {"root": (name, [0.5])})),
            "error",
        ),
        "a region of negative cells": (
            lambda: weigh(kind, (points, cells, {"root": (name, [-1])})),
            "error",
        ),
        "a region called all": (
            lambda: weigh(kind, (points, cells, regions | {"all": (name, [0])})),  # told
            "either",
        ),
    }


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield damaged meshes of all kinds of bodies."""
    every = []
    for kind in models.KINDS:
        for name, (run, expect) in mutations(kind, chance).items():
            every.append(Case(f"{kind}: {name}", run, expect))  # type: ignore[arg-type]
    chance.shuffle(every)
    yield from every[:count]

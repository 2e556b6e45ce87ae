# SPDX-License-Identifier: BSD-3-Clause
"""Bodies with lines, and the equations of constraints on them, on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff

Array = npt.NDArray[np.float64]
THIN, FULL = sa.elements.ancf_thin_plate, sa.elements.ancf_plate
CABLE, HEX8 = sa.elements.ancf_cable, sa.elements.hex8_plain
STEEL: dict[str, Any] = {"E": 1e5, "nu": 0.3}


def rope(n: int = 8, **given: Any) -> sa.Body:
    """A straight cable of length 1."""
    mesh = sa.Mesh.box((1.0,), (n,))
    values = {"EA": 100.0, "EI": 0.01, "rho": 1000.0, "A": 1e-3, **given}
    return sa.Body(mesh["body"], CABLE, cable(), name="rope", **values)


def hoop(n: int = 16, R: float = 1.0, **given: Any) -> sa.Body:
    """A closed ring of cable cells with radius R."""
    t = 2 * np.pi * np.arange(n) / n
    X = R * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    lines = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    regions = {f"node {k}": ("vertex", [k]) for k in (0, n // 4, n // 2)}
    mesh = sa.Mesh.from_arrays(X, {"line": lines}, regions=regions)
    values = {"EA": 1e3, "EI": 1.0, **given}

    def tangent(X: Array) -> Array:
        return np.stack([-X[:, 1], X[:, 0], 0 * X[:, 0]], axis=1)

    return sa.Body(mesh["all"], CABLE, cable(), name="hoop", direction=tangent, **values)


def strip(element: Any = THIN, n: int = 5, angle: float = 1.5) -> sa.Body:
    """A cylindrical strip of 2 x n cells; `rim`, `middle`: lines along the arc; `across`."""
    t, z = np.meshgrid(np.linspace(0.0, angle, n + 1), [0.0, 0.3, 0.5], indexing="ij")
    X = np.stack([np.cos(t), np.sin(t), z], axis=-1).reshape(-1, 3)
    at = np.arange(3 * (n + 1)).reshape(n + 1, 3)
    quads = [
        [at[i, k], at[i + 1, k], at[i + 1, k + 1], at[i, k + 1]] for i in range(n) for k in (0, 1)
    ]
    rim = [[at[i, 0], at[i + 1, 0]] for i in range(n)]
    middle = [[at[i + 1, 1], at[i, 1]] for i in range(n)]  # against the cells' sense
    across = [[at[2, k], at[2, k + 1]] for k in (0, 1)]
    numbers = np.arange(2 * n + 2)
    regions = {
        "skin": ("quad", list(range(len(quads)))),
        "rim": ("line", numbers[:n]),
        "both": ("line", numbers[: 2 * n]),
        "across": ("line", numbers[2 * n :]),
        "crossed": ("line", numbers[n:]),
        "ends": ("vertex", [at[0, 0], at[0, 1], at[0, 2]]),
    }
    lines = np.array([*rim, *middle, *across])
    mesh = sa.Mesh.from_arrays(X, {"quad": np.array(quads), "line": lines}, regions=regions)
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    given: dict[str, Any] = {"direction": lambda X: X * [1, 1, 0], "thickness": 0.02, **STEEL}
    return sa.Body(mesh["skin"], element, energy, name="strip", **given)


def block() -> sa.Body:
    """Two bricks; `edge`: two edges along x; `inside`: a diagonal of a face."""
    X = np.array([[x, y, z] for x in (0.0, 0.5, 1.0) for y in (0.0, 0.4) for z in (0.0, 0.3)])
    cells = [[4 * i + v for v in (0, 4, 6, 2, 1, 5, 7, 3)] for i in range(2)]
    lines = np.array([[0, 4], [4, 8], [0, 6]])
    regions = {
        "bricks": ("hexahedron", [0, 1]),
        "edge": ("line", [0, 1]),
        "inside": ("line", [0, 1, 2]),
        "root": ("vertex", [0, 1, 2, 3]),
    }
    mesh = sa.Mesh.from_arrays(X, {"hexahedron": np.array(cells), "line": lines}, regions=regions)
    return sa.Body(mesh["bricks"], HEX8, saint_venant_kirchhoff(), name="block", **STEEL)


def of_groups(term: Any, system: sa.System, local: Array) -> Array:
    """Return the entries of a local vector at the multipliers, on every rank."""
    groups, start = system._discrete.binding(term).first(system._discrete)
    values = np.zeros(system._discrete.binding(term).entities.groups)
    values[groups] = local[start]
    return system._discrete.sum(values)


def violation(term: Any, system: sa.System, state: Array | None = None) -> Array:
    """Return Phi of each edge or line at a state."""
    system._discrete.assembler.update(system.time)
    f = system._discrete.residual_at(system.state if state is None else state)
    return of_groups(term, system, f) / system._discrete.stiffness


def random(system: sa.System, seed: int, size: float = 1.0) -> Array:
    """Return random coordinates, the same on any number of ranks; multipliers are zero."""
    values = size * system._discrete.numbering.random(seed)
    for number, block in enumerate(system._discrete.numbering.blocks):
        start = system._discrete.numbering.offset[:, number]
        if block.order == "lambda":
            values[start[start >= 0][:, None] + np.arange(block.size)] = 0.0
    return values

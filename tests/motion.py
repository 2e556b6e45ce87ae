# SPDX-License-Identifier: BSD-3-Clause
"""Random states with rates, for tests of forces that depend on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import symancf as sa

if TYPE_CHECKING:
    from symancf.assembly.assembler import Assembler


def rope(n: int, **parameters: Any) -> sa.Body:
    """A horizontal cable of length 1.2 from the origin; `root` and `tip` are its ends."""
    X = np.zeros((n + 1, 3))
    X[:, 0] = np.linspace(0.0, 1.2, n + 1)
    lines = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    ends = {"root": ("vertex", [0]), "tip": ("vertex", [n])}
    mesh = sa.Mesh.from_arrays(X, {"line": lines}, regions=ends)
    given = {"name": "rope", "EA": 100.0, "EI": 0.05, "rho": 1000.0, "A": 1e-3, **parameters}
    return sa.Body(mesh["all"], sa.elements.ancf_cable, sa.energies.cable(), **given)


def leave_out(assembler: Assembler, *names: str) -> None:
    """Leave the forms of some names out from now on."""
    assembler._active &= np.array([form.name not in names for form in assembler.forms])
    assembler._stale = True


def moving(system: sa.System, size: float = 0.3) -> None:
    """Give a system a random state with random rates, without the forces of its bodies."""
    numbering = system._discrete.numbering
    leave_out(
        system._discrete.assembler,
        *(form.name for form in system._discrete.forms if form.role == "strain"),
    )
    system.state[:] = size * numbering.random(1)
    system.rate[:] = numbering.random(2)
    system.time = 0.4
    system._discrete.assembler.update(0.4)
    system._discrete.assembler.follow(system.rate, None)


def force(system: sa.System) -> Any:
    """Return the generalised forces of all coordinates, complete where this rank owns them."""
    f = -system._discrete.residual_at(system.state)
    return np.where(
        np.arange(len(f))
        < system._discrete.numbering.start[system._discrete.numbering.owned_vertices],
        f,
        0,
    )


def power(system: sa.System) -> float:
    return float(system._discrete.sum(np.array([force(system) @ system.rate]))[0])


def velocity(system: sa.System, place: Any, jet: str = "value") -> Any:
    """Return the rate of a jet at places, (K, 3)."""
    return system._discrete.evaluate(place, [(jet, system.rate)])[0]


def tangent_error(system: sa.System, factor: float) -> float:
    """Return |K v - df/dh| / |K v| along u + h v with rates + h factor v, of fourth order."""
    numbering = system._discrete.numbering
    system._discrete.assembler.follow(system.rate, np.full_like(system.rate, factor))
    v = numbering.random(3)
    Kv = np.zeros_like(v)
    system._discrete.assembler.product(system.state, v, Kv)
    state, rate, h = system.state.copy(), system.rate.copy(), 1e-3
    difference = np.zeros_like(v)
    for step, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        system.rate[:] = rate + step * h * factor * v
        difference += weight * system._discrete.residual_at(state + step * h * v) / (12 * h)
    system.rate[:] = rate
    matrix, scratch = system._discrete.matrix, np.zeros_like(v)
    system._discrete.assembler.tangent(state, scratch, matrix)
    x = matrix.mat.createVecRight()
    x.setArray(numbering.to_rows(v))
    product = (matrix.mat * x).getArray()
    np.testing.assert_allclose(product, numbering.to_rows(Kv), atol=1e-12 * np.abs(Kv).max())
    mine = numbering.free_owned
    found = system._discrete.sum(
        np.array([np.sum((Kv - difference)[mine] ** 2), np.sum(Kv[mine] ** 2)])
    )
    assert found[1] > 1e-2
    return float(np.sqrt(found[0] / found[1]))

# SPDX-License-Identifier: BSD-3-Clause
"""Products with entries in single precision, by which multigrid smooths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.assembly.rounded import Rounded
from symancf.energies import saint_venant_kirchhoff
from tests.lines import rope

pytestmark = pytest.mark.collective


def block(scale: float = 1.0, g: float = 1.0) -> tuple[sa.Body, list[Any]]:
    """Return a block that its weight bends, and its terms."""
    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (8, 6, 4))
    given = {"E": 1e5 * scale, "nu": 0.3, "rho": 1000.0 * scale}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **given)
    return body, [sa.fix(body["x0"]), sa.gravity((0.0, 0.0, -g))]


def symmetric() -> sa.System:
    """Nodes with three rows each."""
    body, terms = block()
    return sa.System(body, terms=terms)


def unsymmetric() -> sa.System:
    """A pressure that follows, and nodes with one row or two that are held."""
    body, (_, *terms) = block()
    held = [sa.fix(body["x0"], "x"), sa.fix(body["y0"], "y"), sa.fix(body["z0"], "z")]
    return sa.System(body, terms=[*held, sa.pressure(body["z1"], 3e3), *terms])


def joined() -> sa.System:
    """Multipliers, and a rigid body, whose vertices have rows of other numbers."""
    body, terms = block()
    mass = sa.RigidBody(position=(2.0, 0.5, 0.25), mass=3.0, inertia=(0.1,) * 3)
    return sa.System(body, mass, terms=[*terms, sa.joints.clamp(body["x1"], mass)])


def travelling() -> sa.System:
    """A mass that travels along a cable; the pattern of the tangent is made anew on the way."""
    cord = rope(9)
    mass = sa.RigidBody(position=(0.1, 0.0, 0.0), mass=0.3, inertia=(1e-4,) * 3)
    origin, place = mass.at((0.0, 0.0, 0.0)), cord.at(lambda time: (0.1 + 0.8 * time, 0.0, 0.0))
    terms = [
        sa.fix(cord["x0"]),
        sa.fix(cord["x1"]),
        sa.Constraint(lambda r_a, r_b: r_a - r_b, origin, place, name="on"),
        sa.Constraint(lambda e1_a, e2_a: [e1_a[1], e1_a[2], e2_a[2]], origin, name="upright"),
        sa.gravity((0.0, 0.0, -9.81)),
    ]
    return sa.System(cord, mass, terms=terms)


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> list[Rounded]:
    """Return a list that grows each time that entries are rounded."""
    calls: list[Rounded] = []
    renew = Rounded.renew

    def spy(self: Rounded) -> None:
        calls.append(self)
        renew(self)

    monkeypatch.setattr(Rounded, "renew", spy)
    return calls


def differ(system: sa.System, rounded: Rounded) -> float:
    """Return how far the product is from PETSc's, as a part of its largest row."""
    mat = system._discrete.matrix.mat
    x = mat.createVecRight()
    x.setArray(system._discrete.numbering.to_rows(system._discrete.numbering.random(1)))
    expected, found = mat.createVecLeft(), mat.createVecLeft()
    mat.mult(x, expected)
    rounded.multiply(x.handle, found.handle)
    size = expected.norm(3)
    expected.axpy(-1.0, found)
    return float(expected.norm(3) / size)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("made", [symmetric, unsymmetric, joined, travelling])
def test_products_are_those_of_petsc(made: Callable[[], sa.System]) -> None:
    system = made()
    rounded = Rounded(system._discrete.matrix)
    problem = sa.StaticProblem(system, check_held=False)
    for time in (0.1, 1.0):
        problem.solve(to=time)
        matrix, f = system._discrete.matrix, np.zeros_like(system.state)
        assert system._discrete.assembler.tangent(system.state, f, matrix) == 0
        rounded.renew()
        assert 0.0 < differ(system, rounded) < 1.2e-7
        for values in (matrix.diagonal, matrix.off):
            values[:] = values.astype(np.float32)
        for power in (0, 800, -800, -800):  # beyond the range of single precision
            for values in (matrix.diagonal, matrix.off):
                values *= 2.0**power
            matrix.mat.stateIncrease()
            rounded.renew()
            assert differ(system, rounded) < 1e-14
    assert (system._discrete.matrix.revision > 0) == (made is travelling)


@pytest.mark.parametrize("follows", [False, True], ids=["cg", "gmres"])
def test_smoothing_in_single_precision_takes_no_more_iterations(
    renewed: list[Rounded], follows: bool
) -> None:
    """Nor do stiffnesses that single precision cannot hold; PETSc's way has an option."""
    iterations, states = [], []
    for scale, use in ((1.0, "1"), (2.0**130, "1"), (1.0, "0")):
        renewed.clear()
        body, terms = block(scale, 0.1)
        terms += [sa.pressure(body["z1"], 10.0 * scale)] if follows else []
        system = sa.System(body, terms=terms)
        options = {"pc_type": "gamg", "ksp_rtol": 1e-8, "pc_use_amat": use}
        problem = sa.StaticProblem(system, options=options)
        (step,) = problem.solve().steps
        assert problem.snes.getKSP().getType() == ("gmres" if follows else "cg")
        assert bool(renewed) == (use == "1")
        assert problem.solver.krylov is not None
        assert problem.solver.krylov.renewals == 1
        iterations.append((step.iterations, step.linear_iterations))
        states.append(system.state.copy())
    assert iterations[1] == iterations[0]
    assert iterations[0][0] == iterations[2][0]
    assert abs(iterations[0][1] - iterations[2][1]) <= 2
    moved = system.comm.allreduce(float(np.abs(states[2]).max()))
    for state in states[:2]:
        assert np.abs(state - states[2]).max() < 1e-9 * moved


def test_motions_smooth_alike(renewed: list[Rounded]) -> None:
    """Each solve begins with accelerations, for which the same solver has another matrix."""
    found = []
    for use in ("1", "0"):
        renewed.clear()
        body, terms = block()
        system = sa.System(body, terms=terms)
        problem = sa.DynamicProblem(system, options={"pc_type": "gamg", "pc_use_amat": use})
        for time in (2e-3, 3e-3):
            problem.solve(to=time, step=1e-3)
        assert bool(renewed) == (use == "1")
        steps = problem.history.steps
        found.append((system.state.copy(), [step.linear_iterations for step in steps]))
    assert max(abs(a - b) for a, b in zip(found[0][1], found[1][1], strict=True)) <= 1
    moved = system.comm.allreduce(float(np.abs(found[1][0]).max()))
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-9 * moved

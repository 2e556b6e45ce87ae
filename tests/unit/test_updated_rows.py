# SPDX-License-Identifier: BSD-3-Clause
"""Factors without friction of tendons, whose rows are added."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa
from symancf.solve.solver import linear_defaults
from symancf.solve.updated_rows import UPDATED


def finger(eyelets=20, mu=0.3, end="fixed", wave=0.03, **options):
    """Return the motion of a soft block that a cord bends, which waves over its eyelets."""
    mesh = sa.Mesh.box((0.1, 0.02, 0.02), (10, 2, 2))
    law = {"mu": 1e5, "lam": 4e5, "rho": 1000.0}
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **law)
    x = np.linspace(0.002, 0.1, eyelets)
    points = np.column_stack([x, np.full_like(x, 0.01), 0.016 - 1.2 * (x - 0.05) ** 2])
    pull = sa.winch(force=lambda t: 0.05 + wave * np.sin(200.0 * t))
    cord = sa.Tendon([body.at(points.tolist())], EA=2e3, mu=mu, tension=0.05, start=pull, end=end)
    system = sa.System(body, terms=[sa.fix(body["x0"]), cord])
    return sa.DynamicProblem(system, **options), cord


def test_eyelets_that_stick_and_slip_make_no_new_factors():
    """Of 40 steps in which a cord is pulled to and fro; with L U they take 72 tangents."""
    problem, cord = finger()
    problem.solve(to=0.04, step=1e-3)
    rows, newton = problem._newton.preconditioner.rows, problem._newton
    assert newton.tangent.renewals <= 12
    assert rows.factorisations <= 14
    assert rows.updates > 25
    other, beside = finger(options={"pc_type": "lu"})
    other.solve(to=0.04, step=1e-3)
    assert other._newton.tangent.renewals > 60
    ours, theirs = cord.slips(problem.system), beside.slips(other.system)
    assert np.abs(ours - theirs).max() < 1e-7 * np.abs(theirs).max()
    T = beside.tensions(other.system)
    assert np.allclose(cord.tensions(problem.system), T, rtol=1e-7, atol=0.0)
    assert np.unique(np.sign(np.diff(T))).size > 1  # it slips to and fro


def test_rows_are_those_of_the_present_tangent():
    """What is applied solves with the tangent's matrix, of which friction has changed rows."""
    problem, _ = finger()
    problem.solve(to=5e-3, step=1e-3)
    newton = problem._newton
    rows = newton.preconditioner.rows
    problem.system.state[problem.system._discrete.numbering.those("sliding")] += 1e-4
    assert rows.update(newton.motion.state)
    b, y, product = (newton.F.duplicate() for _ in range(3))
    b.setArray(np.cos(np.arange(b.size)))
    newton.snes.getKSP().getPC().apply(b, y)
    newton.J.mult(y, product)
    product.axpy(-1.0, b)
    assert product.norm() < 1e-8 * b.norm()
    assert not rows.update(newton.motion.state)  # nothing sticks or slips otherwise


def test_where_there_are_no_factors_without_friction_those_with_it_serve(monkeypatch):
    monkeypatch.setattr("symancf.solve.updated_rows.UpdatedRows._responds", lambda self: False)
    problem, cord = finger()
    problem.solve(to=5e-3, step=1e-3)
    newton = problem._newton
    rows = newton.preconditioner.rows
    assert (rows.updates, rows.factorisations) == (0, newton.tangent.renewals + 1)
    other, beside = finger(options={"pc_type": "lu"})
    other.solve(to=5e-3, step=1e-3)
    assert newton.tangent.renewals == other._newton.tangent.renewals
    theirs = beside.slips(other.system)
    assert np.allclose(cord.slips(problem.system), theirs, rtol=0.0, atol=1e-9 * theirs.max())


@pytest.mark.parametrize(
    ("eyelets", "mu", "kind"), [(50, 0.3, UPDATED), (500, 0.3, "lu"), (50, 0.0, "lu")]
)
def test_friction_of_few_eyelets_is_added(eyelets, mu, kind):
    system = finger(eyelets, mu)[0].system._discrete
    assert linear_defaults(system, dynamic=True)["pc_type"] == kind

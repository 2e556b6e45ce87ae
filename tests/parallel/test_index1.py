# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 on several ranks: the same trajectory, the same error everywhere."""

from __future__ import annotations

import pytest

from tests.mpi import run_mpi

CHAIN = """
    import json
    import numpy as np
    import symancf as sa
    from symancf.energies import cable

    def problem(load=None, **options):
        n = 6
        X = np.zeros((n + 1, 3))
        X[:, 0] = np.linspace(0.0, 1.2, n + 1)
        lines = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
        regions = {"root": ("vertex", [0]), "tip": ("vertex", [n])}
        mesh = sa.Mesh.from_arrays(X, {"line": lines}, regions=regions)
        rope = sa.Body(mesh["all"], sa.elements.ancf_cable, cable(), name="rope", EA=100.0,
                       EI=0.05, rho=1000.0, A=1e-3)
        head = sa.RigidBody.box((0.2, 0.1, 0.1), at=(1.3, 0, 0), rho=250.0, name="head")
        arm = sa.RigidBody.box((0.2, 0.1, 0.1), at=(1.5, 0, 0), rho=250.0, name="arm")
        terms = [
            sa.fix(rope["root"], dofs="position",
                   displacement=lambda t: (0.0, 0.05 * np.sin(4 * t), 0.0)),
            sa.joints.clamp(rope["tip"], head),
            sa.joints.revolute(head.at((0.1, 0, 0)), arm.at((-0.1, 0, 0)), (0, 1, 0)),
            sa.gravity((0, 0, -9.81)),
        ]
        if load is not None:
            terms.append(sa.force(arm.at((0.1, 0, 0)), (0.0, load, 0.0)))
        system = sa.System(rope, head, arm, terms=terms)
        return sa.DynamicProblem(system, method="rk", **options), arm
"""

MOVE = (
    CHAIN
    + """
    p, arm = problem(stabilisation=sa.Projection())
    p.solve(to=0.03, step=1e-4, rtol=1e-9)
    system, made = p.system, p.accelerations
    here = np.abs(made.violation()).max(initial=0.0) / system.stiffness
    worst = system.comm.allreduce(float(here))
    x, v = (f(arm.at((0.1, 0, 0))) for f in (system.position, system.velocity))
    energies = p.energies
    if system.comm.rank == 0:
        print(json.dumps({"x": x.tolist(), "v": v.tolist(), "work": energies.work,
                          "drift": energies.drift, "worst": worst, "steps": p.steps}))
"""
)

FAIL = (
    CHAIN
    + """
    def load(t):
        if t > 0.02:
            raise ZeroDivisionError("no more")
        return 1.0

    p, arm = problem(load)
    try:
        p.solve(to=0.1, step=1e-4)
        said = "nothing"
    except sa.ParameterError as error:
        said = str(error)
    heard = p.system.comm.gather(said)
    if p.system.comm.rank == 0:
        print(json.dumps({"heard": heard, "time": p.system.time}))
"""
)

ADAMS = (
    CHAIN.replace('method="rk"', 'method="adams"')
    + """
    p, arm = problem()
    try:
        p.solve(to=0.1, step=1e-4)
        said = "nothing"
    except sa.ParameterError as error:
        said = str(error)
    heard = p.system.comm.gather(said)
    if p.system.comm.rank == 0:
        print(json.dumps(heard))
"""
)


def test_ranks_find_the_same_trajectory() -> None:
    alone = run_mpi(1, MOVE)
    assert alone["steps"] > 20
    for ranks in (2, 3):
        many = run_mpi(ranks, MOVE)
        assert many["worst"] < 1e-12
        for name, limit in (("x", 1e-9), ("v", 1e-7)):
            pairs = zip(many[name][0], alone[name][0], strict=True)
            assert max(abs(a - b) for a, b in pairs) < limit
        assert many["work"] == pytest.approx(alone["work"], rel=1e-6)
        assert many["steps"] == alone["steps"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_hears_of_an_error(ranks: int) -> None:
    result = run_mpi(ranks, FAIL)
    assert all("no more" in said for said in result["heard"])
    assert len(result["heard"]) == ranks
    assert result["time"] <= 0.02


def test_adams_methods_refuse_several_ranks() -> None:
    heard = run_mpi(2, ADAMS)
    assert len(heard) == 2
    assert all("one rank only" in said for said in heard)

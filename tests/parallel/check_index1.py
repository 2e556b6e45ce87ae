# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 on this number of ranks. Run by test_index1."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable
from tests.cases import Cases, described

COMM = MPI.COMM_WORLD
case = Cases(limit=100.0)


def problem(load: Any = None, **options: Any) -> tuple[sa.DynamicProblem, sa.RigidBody]:
    """A rope that is shaken at its root and carries two boxes with a hinge between them."""
    n = 6
    X = np.zeros((n + 1, 3))
    X[:, 0] = np.linspace(0.0, 1.2, n + 1)
    lines = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    regions = {"root": ("vertex", [0]), "tip": ("vertex", [n])}
    mesh = sa.Mesh.from_arrays(X, {"line": lines}, regions=regions)
    given = {"EA": 100.0, "EI": 0.05, "rho": 1000.0, "A": 1e-3}
    rope = sa.Body(mesh["all"], sa.elements.ancf_cable, cable(), name="rope", **given)
    head = sa.RigidBody.box((0.2, 0.1, 0.1), position=(1.3, 0, 0), rho=250.0, name="head")
    arm = sa.RigidBody.box((0.2, 0.1, 0.1), position=(1.5, 0, 0), rho=250.0, name="arm")

    def shaken(t: float) -> tuple[float, float, float]:
        return 0.0, 0.05 * np.sin(4 * t), 0.0

    terms = [
        sa.fix(rope["root"], dofs="position", displacement=shaken),
        sa.joints.clamp(rope["tip"], head),
        sa.joints.revolute(head.at((0.1, 0, 0)), arm.at((-0.1, 0, 0)), (0, 1, 0)),
        sa.gravity((0, 0, -9.81)),
    ]
    if load is not None:
        terms.append(sa.force(arm.at((0.1, 0, 0)), (0.0, load, 0.0)))
    system = sa.System(rope, head, arm, terms=terms)
    return sa.DynamicProblem(system, **({"method": "rk"} | options)), arm


@case
def move() -> dict[str, Any]:
    p, arm = problem(stabilisation=sa.Projection())
    p.solve(to=0.03, step=1e-4, rtol=1e-9)
    system, made = p.system, p._accelerations
    here = np.abs(made.violation()).max(initial=0.0) / system._discrete.stiffness
    x, v = (f(arm.at((0.1, 0, 0))) for f in (system.position, system.velocity))
    return {
        "x": x.tolist(),
        "v": v.tolist(),
        "work": p.energies.work,
        "drift": p.energies.drift,
        "worst": COMM.allreduce(float(here)),
        "steps": p.steps,
    }


def said(p: sa.DynamicProblem) -> tuple[dict[str, Any], float]:
    """What a motion raises on this rank, and the time that it reached."""
    try:
        p.solve(to=0.1, step=1e-4)
    except sa.ParameterError as error:
        return described(error), p.system.time
    return {"error": ""}, p.system.time


@case
def fail() -> tuple[dict[str, Any], float]:
    def load(t: float) -> float:
        if t > 0.02:
            raise ZeroDivisionError("no more")
        return 1.0

    return said(problem(load)[0])


@case
def adams() -> dict[str, Any]:
    return said(problem(method="adams")[0])[0]


if __name__ == "__main__":
    case.main(lambda function: function())

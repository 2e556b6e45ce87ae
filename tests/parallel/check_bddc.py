# SPDX-License-Identifier: BSD-3-Clause
"""Solve shells, joints and rods by subdomains and by MUMPS on these ranks. Run by test_bddc."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.assembly.subdomains import Subdomains

BY_SUBDOMAINS = {"pc_type": "bddc"}


def plate(curved: bool = False) -> sa.System:
    """Make a plate, of nodes with slopes across, that bends under its weight."""
    warp: dict[str, Any] = {}
    if curved:
        warp["warp"] = lambda X: np.stack([np.sin(X[:, 0]), X[:, 1], 1 - np.cos(X[:, 0])], axis=1)
    mesh = sa.Mesh.box((1.0, 1.0), (10, 10), **warp)
    given = {"mu": 4e5, "lam": 6e5, "thickness": 0.02, "rho": 1000.0}
    body = sa.Body(mesh["body"], sa.elements.ancf_plate, sa.energies.neo_hooke(), **given)
    return sa.System(body, terms=[sa.fix(body["x0"], "all"), sa.gravity((0.0, 0.0, -0.02))])


def pressed() -> sa.System:
    """Make a plate under a pressure that follows it: the tangent is not symmetric."""
    mesh = sa.Mesh.box((1.0, 1.0), (8, 8))
    body = sa.Body(
        mesh["body"],
        sa.elements.ancf_thin_plate,
        sa.energies.kirchhoff(),
        thickness=0.05,
        E=1e5,
        nu=0.3,
    )
    return sa.System(
        body, terms=[sa.fix(body["x0"], "all"), sa.pressure(body["body"].face(1), 0.5)]
    )


def jointed() -> sa.System:
    """Make a plate with a rigid head and a rope: multipliers, rods, rigid bodies."""
    left = sa.Body(
        sa.Mesh.box((1.0, 0.4), (8, 4))["body"],
        sa.elements.ancf_thin_plate,
        sa.energies.kirchhoff(),
        name="left",
        thickness=0.02,
        E=2e7,
        nu=0.3,
        rho=1000.0,
    )
    rope = sa.Body(
        sa.Mesh.box((0.5,), (12,), warp=lambda X: X + np.array([1.2, 0.2, 0.0]))["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        name="rope",
        EA=1e4,
        EI=2.0,
        rho=1000.0,
        A=1e-3,
    )
    head = sa.RigidBody.box((0.2, 0.4, 0.1), position=(1.1, 0.2, 0.0), rho=300.0, name="head")
    ends = [sa.joints.clamp(left["x1"], head), sa.joints.clamp(rope.at((1.2, 0.2, 0.0)), head)]
    return sa.System(
        left, rope, head, terms=[*ends, sa.fix(left["x0"]), sa.gravity((0.0, 0.0, -9.81))]
    )


MODELS: dict[str, Callable[[], sa.System]] = {
    "flat": plate,
    "curved": lambda: plate(curved=True),
    "pressed": pressed,
    "jointed": jointed,
}


def tangents_differ(system: sa.System) -> float:
    """Return how far products of both tangents are apart, by the size of a product."""
    discrete = system._discrete
    discrete.update(1.0)
    parts = Subdomains(discrete.numbering, discrete.assembler, False)
    parts.move(discrete.state)
    discrete.assembler.tangent(discrete.state, np.zeros_like(discrete.state), discrete.matrix)
    x, y = parts.mat.createVecs()
    z = y.duplicate()
    x.setArray(discrete.numbering.to_rows(discrete.numbering.random(5)))
    parts.mat.mult(x, y)
    discrete.matrix.mat.mult(x, z)
    size = z.norm()
    z.axpy(-1.0, y)
    return float(z.norm() / size)


def solved(make: Callable[[], sa.System], options: Mapping[str, Any]) -> tuple[sa.System, Any, Any]:
    """Return system, unknowns of this rank, and what was at work."""
    system = make()
    problem = sa.StaticProblem(system, options=dict(options), check_stable=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = problem.solve()
    rows = system._discrete.numbering.to_rows(system._discrete.state)
    told = [str(w.message) for w in caught]
    facts = {
        "solver": problem.solver.linear.name,
        "newton": sum(step.iterations for step in history.steps),
        "linear": sum(step.linear_iterations for step in history.steps),
        "told": told,
    }
    return system, rows, facts


def largest(values: Any) -> float:
    """Return the largest magnitude on any rank."""
    return float(MPI.COMM_WORLD.allreduce(float(np.abs(values).max(initial=0.0)), MPI.MAX))


def compared(make: Callable[[], sa.System]) -> dict[str, Any]:
    """Solve by both."""
    _, by_factors, _ = solved(make, {})
    system, rows, facts = solved(make, BY_SUBDOMAINS)
    apart = largest(rows - by_factors) / largest(by_factors)
    return facts | {"apart": apart, "tangents": tangents_differ(system)}


def refused() -> str:
    """Ask for it in a motion."""
    try:
        sa.DynamicProblem(plate(), options=dict(BY_SUBDOMAINS)).solve(to=0.01, step=0.01)
    except sa.SymancfError as error:
        return str(error)
    return ""


def main() -> None:
    """Print what happens."""
    found: dict[str, Any] = {name: compared(make) for name, make in MODELS.items()}
    _, _, facts = solved(plate, BY_SUBDOMAINS | {"ksp_max_it": 3})
    found["few"] = facts
    found["refused"] = refused()
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""Paths past limit points on this number of ranks. Run by test_continuation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import neo_hooke
from tests.cases import Cases, described
from tests.unit.test_bifurcations import column as space_column
from tests.unit.test_bifurcations import frame
from tests.unit.test_continuation import Truss, column, shallow

COMM = MPI.COMM_WORLD
case = Cases(limit=100.0)

MULTIGRID = {
    "ksp_max_it": 500,
    "ksp_rtol": 3e-3,
    "pc_type": "gamg",
    "pc_gamg_use_sa_esteig": False,
    "mg_levels_ksp_type": "chebyshev",
    "mg_levels_ksp_chebyshev_esteig": "0,0.05,0,1.1",
    "mg_levels_pc_type": "jacobi",
}


def found(history: sa.History, *names: str) -> dict[str, Any]:
    """Return what the paths on all numbers of ranks must agree in."""
    series = {name: history[name].tolist() for name in names}
    points = [
        {"parameter": p.parameter, "kind": p.kind, "time": p.time}
        | {name: p.values[name].tolist() for name in names}
        for p in history.limit_points
    ]
    return {"series": series, "points": points, "time": history.time.tolist()}


def arch(load: sa.Parameter, displaced: bool = False) -> tuple[sa.System, Any, Any]:
    """A shallow arch of hexahedra under a dead load at its crown, or with the crown displaced."""
    bent = sa.Mesh.box(
        (10.0, 1.0, 0.5),
        (16, 2, 2),
        warp=lambda X: X + [0.0, 0.0, 1.5] * np.sin(np.pi * X[:, :1] / 10.0),
    )
    body = sa.Body(
        bent["body"], sa.elements.hex8_plain, neo_hooke(), mu=100.0, lam=100.0, name="arch"
    )
    crown = body.at((5.0, 0.5, 2.0))
    down = (0.0, 0.0, lambda t: -load.value)
    push = sa.fix(crown, "z", displacement=down) if displaced else sa.force(crown, down)
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.fix(body["x1"]), push]), crown, push


def snapped(**options: Any) -> dict[str, Any]:
    P = sa.Parameter("P")
    system, crown, _ = arch(P)
    problem = sa.StaticProblem(system, options=options)
    problem.record("w", lambda: float(-system.displacement(crown)[0, 2]))
    points = problem.history.limit_points
    history = problem.follow(P, step=0.5, steps=60, until=lambda step: len(points) == 2)
    return found(history, "P", "w") | {"type": problem.snes.getKSP().getType()}


@case
def solid_arch() -> dict[str, Any]:
    return snapped()


@case
def solid_arch_displaced() -> dict[str, Any]:
    """Support force where the loaded arch has its limit points."""
    w = sa.Parameter("w")
    system, _, support = arch(w, displaced=True)
    problem = sa.StaticProblem(system)
    problem.record("P", lambda: -float(support.reaction(system).force[2]))
    forces, loaded = [], snapped()["points"]
    for point in loaded:
        history = problem.follow(w, to=point["w"], step=0.1)
        forces.append(float(history["P"][-1]))
    loads = [point["parameter"] for point in loaded]
    return {"forces": forces, "loads": loads, "own": len(problem.history.limit_points)}


@case
def solid_arch_by_multigrid() -> dict[str, Any]:
    """CG, which takes no indefinite tangent, gives way to FGMRES and comes back."""
    return snapped(ksp_type="cg", mg_levels_esteig_ksp_type="cg", **MULTIGRID)


def blown(**options: Any) -> dict[str, Any]:
    """An eighth of a thick sphere with a hole at its pole, under follower pressure."""

    def place(X: Any) -> Any:
        r, theta, phi = 1.0 + X[:, 2], 0.3 + (np.pi / 2 - 0.3) * X[:, 0], np.pi / 2 * X[:, 1]
        across = r * np.sin(theta)
        return np.stack([across * np.cos(phi), across * np.sin(phi), r * np.cos(theta)], axis=1)

    p = sa.Parameter("p")
    mesh = sa.Mesh.box((1.0, 1.0, 0.5), (5, 5, 2), warp=place)
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, neo_hooke(), mu=1.0, lam=5.0, name="ball")
    held = [sa.symmetry(body[side], axis) for side, axis in (("y0", "y"), ("y1", "x"), ("x1", "z"))]
    system = sa.System(body, terms=[*held, sa.pressure(body["z0"], p)])
    problem = sa.StaticProblem(system, options=options)
    at = body.at((1.0, 0.0, 0.0))
    problem.record("u", lambda: float(system.displacement(at)[0, 0]))
    points = problem.history.limit_points
    history = problem.follow(p, step=0.1, steps=30, until=lambda step: len(points) > 0)
    return found(history, "p", "u")


@case
def sphere() -> dict[str, Any]:
    return blown()


@case
def sphere_by_multigrid() -> dict[str, Any]:
    return blown(ksp_type="gmres", mg_levels_esteig_ksp_type="gmres", **MULTIGRID)


@case
def cables_with_joints() -> dict[str, Any]:
    """Multipliers of clamps, ranks without unknowns; the load falls and rises."""
    system, P, _ = shallow()
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-12})
    crown = system.bodies[1]
    problem.record("v", lambda: 0.1 - float(crown.position(system)[1]))
    return found(problem.follow(P, to=0.2, step=0.01), "P", "v")


@case
def column_with_a_bifurcation() -> dict[str, Any]:
    problem, P = column(0.0, 1e3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem.follow(P, to=6.0, step=1.0)
    texts = COMM.bcast([str(w.message) for w in caught])
    return {"at": [point.parameter for point in problem.history.bifurcations], "texts": texts}


@case
def pairs_of_eigenvalues() -> list[Any]:
    """A column clamped in space, and a portal on clamps with their multipliers."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for made, to in ((space_column(1e4, planar=False), 4.0), (frame(1e4), 12.0)):
            history = made[0].follow(made[1], to=to, step=1.0)
            points = [(point.parameter, point.eigenvalues) for point in history.bifurcations]
            found.append([points, [step.unstable for step in history.steps], history.search])
    return found


def attempt(problem: sa.StaticProblem, *given: Any, **options: Any) -> dict[str, Any]:
    """Follow; return what was raised."""
    try:
        problem.follow(*given, **options)
    except (sa.SymancfError, RuntimeError) as error:
        return described(error)
    return {"error": ""}


@case
def errors() -> list[dict[str, Any]]:
    """Each is the same on all ranks, also where one rank alone has it."""
    P, other = sa.Parameter("P"), sa.Parameter("other")
    truss = Truss(P)
    nothing = attempt(truss.problem, other, to=1.0)
    never = attempt(truss.problem, P, to=-1.0, direction=1, step=1e-3, steps=4)

    def until(step: Any) -> bool:
        if COMM.rank == COMM.size - 1:
            raise RuntimeError("the last rank has enough")
        return False

    alone = attempt(truss.problem, P, until=until)
    value = P.value
    goes_on = attempt(truss.problem, P, until=lambda step: COMM.rank == 0)
    return [nothing, never, alone, goes_on, {"value": value, "then": P.value}]


if __name__ == "__main__":
    case.main(lambda function: function())

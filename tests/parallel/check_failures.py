# SPDX-License-Identifier: BSD-3-Clause
"""Solutions that fail, and small systems on many ranks. Run by test_failures."""

from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, kirchhoff, neo_hooke, saint_venant_kirchhoff
from symancf.solve.statics.equations import StaticEquations
from tests.cases import Cases, described

COMM = MPI.COMM_WORLD
case = Cases(limit=60.0)
HEX8, THIN, CABLE = sa.elements.hex8_plain, sa.elements.ancf_thin_plate, sa.elements.ancf_cable


def block(
    n: tuple[int, int, int] = (3, 2, 2), energy: Any = neo_hooke(), **options: Any
) -> sa.Body:
    mesh = sa.Mesh.box((3.0, 1.0, 1.0), n)
    given = {"mu": 1.0, "lam": 2.0} if energy is neo_hooke() else {}
    return sa.Body(mesh["body"], HEX8, energy, **(given | options))


def sheet(n: tuple[int, int] = (2, 2), by: Any = (0, 0, 0), **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0), n, warp=lambda X: X + np.asarray(by))
    given = {"E": 1e4, "nu": 0.3, "thickness": 0.1} | options
    return sa.Body(mesh["body"], THIN, kirchhoff(), **given)


def rope(n: int = 5, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (n,))
    return sa.Body(mesh["body"], CABLE, cable(), **({"EA": 1e3, "EI": 1.0} | options))


def attempt(problem: sa.StaticProblem, **options: Any) -> dict[str, Any]:
    """Solve; return what was raised and whether the state is that of the last step."""
    found: dict[str, Any] = {"error": "", "text": ""}
    try:
        problem.solve(**options)
    except sa.SymancfError as error:
        found = described(error)
        if isinstance(error, sa.ConvergenceError):
            found |= {"iteration": error.iteration, "time": error.time}
    found["now"] = problem.system.time
    found["last"] = problem.history.steps[-1].time if problem.history.steps else 0.0
    return found


def imbalance(system: sa.System) -> float:
    """Return the largest force out of balance at the present state."""
    numbering = system._discrete.numbering
    f = system._discrete.residual_at_solution()[numbering.free_owned]
    return float(COMM.allreduce(float(np.abs(f).max(initial=0.0)), op=MPI.MAX))


def column() -> tuple[sa.Body, sa.Parameter, sa.System]:
    """A column of St Venant-Kirchhoff cells under a dead load: no equilibrium beyond 0.19 E A."""
    body = block((3, 1, 1), energy=saint_venant_kirchhoff(), E=1.0, nu=0.0)
    push = sa.Parameter("push", 0.1)
    sides = [sa.fix(body[side], axis) for side, axis in (("y0", "y"), ("z0", "z"))]
    load = sa.force(body["x1"], lambda t: (-push.value * t, 0, 0))
    return body, push, sa.System(body, terms=[sa.fix(body["x0"], "x"), *sides, load])


@case
def overload() -> dict[str, Any]:
    """Beyond the last equilibrium: the state is that of the last step, and one may go on."""
    body, _, system = column()
    problem = sa.StaticProblem(system)
    end = body.at((3, 0, 0))
    problem.solve()
    before = system.displacement(end)
    found = attempt(problem, to=3.0, step=0.5)
    found["reached"] = float(system.displacement(end)[0, 0])
    found["imbalance"] = imbalance(system)
    problem.solve(to=1.0, step=0.3)
    found["returned"] = float(np.abs(system.displacement(end) - before).max())
    found["steps"] = [step.time for step in problem.history.steps]
    return found


@case
def parameter_that_turns_bad() -> dict[str, Any]:
    """An error that is not one of convergence leaves the last step, too."""
    body, push, system = column()
    problem = sa.StaticProblem(system)
    problem.solve()
    before = system.displacement(body.at((3, 0, 0)))
    push.value = float("nan")
    found = attempt(problem, to=2.0)
    found["moved"] = float(np.abs(system.displacement(body.at((3, 0, 0))) - before).max())
    push.value = 0.11
    problem.solve(to=1.2)
    found["then"] = problem.history.steps[-1].time
    return found


@case
def too_few_linear_iterations() -> dict[str, Any]:
    """Inner reason of a Krylov solver that gives up."""
    body = block()
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, 1e-3))])
    options = {"ksp_type": "cg", "pc_type": "none", "ksp_max_it": 1, "ksp_rtol": 1e-8}
    problem = sa.StaticProblem(system, prefix="few_", options=options)
    return attempt(problem)


@case
def free_body_without_check() -> dict[str, Any]:
    body = block(rho=1.0)
    system = sa.System(body, terms=[sa.gravity((0, 0, -1.0))])
    return attempt(sa.StaticProblem(system, check_held=False))


@case
def two_joints_at_one_place() -> dict[str, Any]:
    """The same constraint twice: redundant."""
    body = rope(rho=1.0, A=1.0)
    joints = [sa.joints.spherical(body.at((1, 0, 0))), sa.joints.spherical(body.at((1, 0, 0)))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        system = sa.System(body, terms=[sa.fix(body["x0"]), *joints, sa.gravity((0, 0, -1.0))])
    found = attempt(sa.StaticProblem(system))
    found["warnings"] = COMM.bcast([str(w.message) for w in caught])
    found["forces"] = [joint.multipliers(system)[0].tolist() for joint in joints]
    return found


@case
def joint_at_a_fixed_node() -> dict[str, Any]:
    """A constraint that the supports fulfil already."""
    body = rope(rho=1.0, A=1.0)
    joint = sa.joints.spherical(body.at((0, 0, 0)))
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint, sa.gravity((0, 0, -1.0))])
    return attempt(sa.StaticProblem(system))


@case
def joint_against_a_support() -> dict[str, Any]:
    """A constraint that the supports contradict."""
    body = rope()
    joint = sa.joints.spherical(body.at((0, 0, 0)), sa.ground.at((0, 0, 0.1)))
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint])
    return attempt(sa.StaticProblem(system))


@case
def two_joints_that_contradict() -> dict[str, Any]:
    body = rope()
    joints = [
        sa.joints.spherical(body.at((1, 0, 0)), sa.ground.at((1, 0, 0.1))),
        sa.joints.spherical(body.at((1, 0, 0)), sa.ground.at((1, 0, -0.1))),
    ]
    try:
        sa.System(body, terms=[sa.fix(body["x0"]), *joints])
    except sa.SymancfError as error:
        return described(error)
    return {"error": ""}


@case
def distance_that_cannot_be() -> dict[str, Any]:
    """A stiff short link between two fixed places is out of reach."""
    body = rope()
    joint = sa.joints.distance(body.at((1, 0, 0)), sa.ground.at((30, 0, 0)), 1.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint])
    found = attempt(sa.StaticProblem(system))
    found["end"] = float(system.position(body.at((1, 0, 0)))[0, 0])
    return found


@case
def tie_with_clamped_ends() -> dict[str, Any]:
    """Two sheets tied along an edge whose first node is fixed in both of them."""
    one, two = sheet(), sheet(by=(0, 1, 0), n=(3, 1), name="two")
    tie = sa.joints.tie(two["y0"], one)
    terms = [sa.fix(one["x0"]), sa.fix(two["x0"]), tie, sa.force(two["x1"], (0, 0, 1.0))]
    system = sa.System(one, two, terms=terms)
    found = attempt(sa.StaticProblem(system))
    found["u"] = system.displacement(two.at((1, 2, 0))).tolist()
    return found


@case
def one_cell() -> dict[str, Any]:
    """One hexahedron on all ranks."""
    body = block((1, 1, 1))
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0.01, 0, 0))])
    found = attempt(sa.StaticProblem(system))
    found["u"] = system.displacement(body.at((3, 1, 1))).tolist()
    found["rows"] = system._discrete.numbering.size
    return found


@case
def two_cells() -> dict[str, Any]:
    """Two cells of a plate on up to four ranks."""
    body = sheet((2, 1))
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, 1.0))])
    found = attempt(sa.StaticProblem(system))
    found["u"] = system.displacement(body.at((1, 1, 0))).tolist()
    return found


@case
def one_cable_cell_with_a_joint() -> dict[str, Any]:
    """One line cell and a constraint: ranks without cells and rows."""
    body = rope(1, rho=1.0, A=1.0)
    joint = sa.joints.on_sphere(body.at((1, 0, 0)), (1, 0, -0.5), 0.5)
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint, sa.gravity((0.0, 0.3, -1.0))])
    found = attempt(sa.StaticProblem(system))
    found["u"] = system.displacement(body.at((1, 0, 0))).tolist()
    return found


@case
def all_fixed() -> dict[str, Any]:
    """Every coordinate prescribed: the energy and the reactions are still to be had."""
    body = block()
    system = sa.System(
        body, terms=[sa.fix(body["body"], displacement=lambda X, t: X * [0.1 * t, 0, 0])]
    )
    problem = sa.StaticProblem(system)
    found = attempt(problem, step=0.5)
    found["energy"] = system.strain_energy()
    found["steps"] = len(problem.history.steps)
    return found


@case
def all_fixed_and_crushed() -> dict[str, Any]:
    body = block()
    system = sa.System(
        body, terms=[sa.fix(body["body"], displacement=lambda X, t: X * [-2.0 * t, 0, 0])]
    )
    return attempt(sa.StaticProblem(system))


@case
def nothing_to_do() -> dict[str, Any]:
    """No load, then the same time once more."""
    body = block()
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"])]))
    attempt(problem)
    found = attempt(problem)
    found["iterations"] = [s.iterations for s in problem.history.steps]
    return found


@case
def unused_option() -> dict[str, Any]:
    body = block()
    system = sa.System(body, terms=[sa.fix(body["x0"])])
    problem = sa.StaticProblem(system, prefix="odd_", options={"snes_rtoll": 1e-3, "pc_type": "lu"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem.solve()
    texts = COMM.bcast([str(w.message) for w in caught])
    return {"warnings": texts}


@case
def rounded_otherwise_on_one_rank() -> dict[str, Any]:
    """Functions of time, and ends, that one rank rounds otherwise, as other processors do."""
    last = 1e-15 * (COMM.rank == COMM.size - 1)
    body = block()
    load = sa.pressure(body["x1"], lambda t: 0.01 * (1.0 + last * t))
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), load]))
    problem.solve(to=2.0 * (1.0 + last), step=1.0)
    problem.solve(to=2.0)
    body = block(rho=lambda t: 1.0 + 10.0 * last * t)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.traction(body["x1"], (0.0, 0.0, 0.01))])
    motion = sa.DynamicProblem(system)
    motion.solve(to=1.0 + last, step=0.5)
    return {"steps": [len(problem.history.steps), len(motion.history.steps)]}


@case
def error_of_one_rank_in_a_cut_step() -> dict[str, Any]:
    """Newton's method goes on with a shorter step where one rank alone has failed: all raise."""
    bodies = [block((3, 1, 1), name="one"), block((3, 2, 2), name="other")]
    terms = [sa.fix(body["x0"]) for body in bodies]
    terms += [sa.traction(body["x1"], (0.01, 0.0, 0.02)) for body in bodies]
    problem = sa.StaticProblem(sa.System(*bodies, terms=terms))
    assembler = problem.system._discrete.assembler
    tries, residual, evaluate = [0], assembler.residual, StaticEquations.attempt

    def failing(x: Any, f: Any) -> int:
        if tries[0] == 1 and COMM.rank == COMM.size - 1:
            raise OSError("of one rank")
        return residual(x, f)

    def counted(self: Any, x: Any, F: Any) -> int:
        tries[0] += 1
        return int(evaluate(self, x, F))

    with (
        patch.object(StaticEquations, "attempt", counted),
        patch.object(assembler, "residual", failing),
    ):
        try:
            problem.solve()
        except OSError as error:
            return {"text": str(error), "tries": tries[0]}
    return {"text": ""}


if __name__ == "__main__":
    case.main(lambda function: function())

# SPDX-License-Identifier: BSD-3-Clause
"""What nothing connects has an equilibrium of its own, however much larger the forces beside it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, neo_hooke
from symancf.newton import connected_parts
from tests.shells import tube

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]

KRYLOV = {"ksp_type": "cg", "pc_type": "gamg", "ksp_rtol": 1e-3}


def moved(x: float, y: float = 0.0) -> Any:
    return lambda X: X + np.array([x, y, 0.0])


def arm(name: str, size: float, at: float = 0.0) -> tuple[sa.Body, list[Any]]:
    """A soft arm that its load bends far, with forces of a given size, and its terms."""
    mesh = sa.Mesh.box((4.0, 0.5, 0.5), (6, 1, 1), warp=moved(0.0, at), name=name)
    body = sa.Body(
        mesh["body"], sa.elements.hex8_plain, neo_hooke(), mu=size, lam=2.0 * size, name=name
    )
    load = sa.force(body["x1"], (0.0, 0.0, 3e-4 * size), name=f"load of {name}")
    return body, [sa.fix(body["x0"], name=f"support of {name}"), load]


def bend(sizes: list[float], **options: Any) -> tuple[sa.System, list[sa.Body], sa.History]:
    """Solve for arms side by side."""
    bodies, terms = [], []
    for k, size in enumerate(sizes):
        body, own = arm(f"arm {k}", size, at=float(k))
        bodies.append(body)
        terms += own
    system = sa.System(*bodies, terms=terms)
    history = sa.StaticProblem(system, options=options, check_held=False).solve()
    return system, bodies, history


def alone(size: float, **options: Any) -> tuple[Array, int]:
    system, (body,), history = bend([size], **options)
    return system.displacement(body["x1"]), history.steps[-1].iterations


@pytest.mark.parametrize("options", [{}, KRYLOV], ids=["direct", "cg"])
def test_parts_have_the_digits_they_have_alone(options: dict[str, Any]) -> None:
    expected, iterations = alone(1e3, **options)
    assert np.abs(expected).max() > 0.2
    sizes = [1e3 * 10.0**k for k in (0, 12, -12, 6)]
    system, bodies, history = bend(sizes, **options)
    assert history.steps[-1].iterations <= iterations + 1
    for body in bodies:
        tip = system.displacement(body["x1"])
        assert tip == pytest.approx(expected, rel=1e-12 if not options else 3e-8, abs=1e-9)


def test_a_part_that_is_in_balance_waits_for_the_others() -> None:
    load = sa.Parameter("load")
    (heavy, held), (light, terms) = arm("heavy", 1e12), arm("light", 1.0, at=1.0)
    load.value = 0.0
    more = sa.force(light["x1"], (0.0, lambda t: load.value, 0.0), name="more")
    system = sa.System(heavy, light, terms=[*held, *terms, more])
    problem = sa.StaticProblem(system, check_held=False)
    problem.solve()
    before = system.displacement(heavy["x1"])
    load.value = 1e-3
    problem.solve()
    assert system.displacement(heavy["x1"]) == pytest.approx(before, rel=1e-12)
    one = sa.System(
        light2 := arm("light", 1.0)[0],
        terms=[sa.fix(light2["x0"]), sa.force(light2["x1"], (0.0, 1e-3, 3e-4))],
    )
    sa.StaticProblem(one).solve()
    there, expected = system.displacement(light["x1"]), one.displacement(light2["x1"])
    assert there == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_fifty_bodies() -> None:
    sizes = [1e-6 * 1.7**k for k in range(50)]
    bodies, terms = [], []
    for k, size in enumerate(sizes):
        mesh = sa.Mesh.box((1.0,), (2,), warp=moved(0.0, k), name=f"c{k}")
        body = sa.Body(
            mesh["body"], sa.elements.ancf_cable, cable(), EA=1e3 * size, EI=size, name=f"c{k}"
        )
        bodies.append(body)
        terms += [sa.fix(body["x0"]), sa.force(body["x1"], (0.0, 0.0, 2.0 * size))]
    system = sa.System(*bodies, terms=terms)
    assert connected_parts(system._discrete.numbering, system._discrete.forms).count == 50
    sa.StaticProblem(system, check_held=False).solve()
    tips = np.array([system.displacement(body["x1"])[0] for body in bodies])
    assert tips == pytest.approx(np.tile(tips[0], (50, 1)), rel=1e-10, abs=1e-12)


def test_joints_join_parts_and_supports_divide_them() -> None:
    one = sa.Mesh.box((2.0,), (4,), name="one")
    other = sa.Mesh.box((1.0,), (2,), warp=moved(2.0), name="other")
    third = sa.Mesh.box((1.0,), (2,), warp=moved(9.0), name="third")

    def count(*terms: Any) -> int:
        bodies = [
            sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name=mesh.name, EA=1.0, EI=1.0)
            for mesh in (one, other, third)
        ]
        made = [term(*bodies) for term in terms]
        system = sa.System(*bodies, terms=made)
        return connected_parts(system._discrete.numbering, system._discrete.forms).count

    def support(a: Any, b: Any, c: Any) -> Any:
        return sa.fix(c["x1"], dofs="all")

    def joint(a: Any, b: Any, c: Any) -> Any:
        return sa.joints.spherical(a["x1"], b["x0"])

    def spring(a: Any, b: Any, c: Any, end: str = "x0") -> Any:
        return sa.Potential(lambda r_a, r_b: (r_a - r_b).dot(r_a - r_b), b["x1"], c[end])

    assert count(support) == 3
    assert count(support, joint) == 2
    assert count(support, joint, spring) == 1
    assert count(support, joint, lambda a, b, c: spring(a, b, c, "x1")) == 2


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("size", "options"),
    [(1e-170, {}), (1e-60, {}), (1e60, {}), (1e-60, KRYLOV | {"ksp_atol": 0.0})],
)
def test_no_force_is_too_small_or_too_large(size: float, options: dict[str, Any]) -> None:
    expected, iterations = alone(1.0, **options)
    found, needed = alone(size, **options)
    assert found == pytest.approx(expected, rel=1e-9 if not options else 1e-6, abs=1e-9)
    assert abs(needed - iterations) <= (0 if not options else 2)  # of Krylov's: 1, by the last bits


def swing(sizes: list[float]) -> list[Array]:
    """Move cables side by side: the first one far, the others, of other forces, hardly."""
    bodies, terms = [], []
    for k, size in enumerate(sizes):
        mesh = sa.Mesh.box((1.0,), (3,), warp=moved(0.0, k), name=f"c{k}")
        given = {"EA": 1e3 * size, "EI": 0.1 * size, "rho": size, "A": 0.1}
        body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name=mesh.name, **given)
        bodies.append(body)
        load = sa.force(body["x1"], (0.0, 0.0, 0.5 * size if k == 0 else 1e-6 * size))
        terms += [sa.fix(body["x0"]), load]
    system = sa.System(*bodies, terms=terms)
    sa.DynamicProblem(system).solve(to=0.03, step=2e-3)
    return [system.displacement(body["x1"])[0] for body in bodies]


def test_parts_move_as_they_move_alone() -> None:
    (expected,) = swing([1.0])
    found = swing([1.0, 1e12, 1e-12])
    assert np.abs(expected).max() > 0.02
    assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert found[1] == pytest.approx(found[2], rel=1e-9, abs=1e-16)


def inflate(metre: float, kilogram: float) -> tuple[list[int], Array]:
    """Let gas push a wall from rest, in other units; return iterations and volumes."""
    pascal = kilogram / metre
    mesh = tube(8, 1, 0.05 * metre, 0.05 * metre)
    given = {"mu": 1e5 * pascal, "lam": 2e5 * pascal, "rho": 1100.0 * kilogram / metre**3}
    body = sa.Body(
        mesh["skin"],
        sa.elements.ancf_plate,
        neo_hooke(),
        thickness=0.005 * metre,
        direction=lambda X: X * [0.0, 1.0, 1.0],
        **given,
    )
    cavity = sa.Cavity(body["skin"], caps="flat", gas=sa.Gas(1.5, ambient=1e5 * pascal))
    problem = sa.DynamicProblem(sa.System(body, terms=[sa.fix(body["left"]), cavity]))
    iterations: list[int] = []
    problem.monitor(lambda step: iterations.append(step.iterations))
    problem.record("V", lambda: cavity.volume(problem.system) / metre**3)
    history = problem.solve(to=2e-4, step=2e-5)
    assert problem._integrator.rejections == 0
    return iterations, history["V"]


@pytest.mark.collective(rows=0)
def test_motions_by_gas_do_not_depend_on_units() -> None:
    iterations, expected = inflate(1.0, 1.0)
    assert np.ptp(expected) > 1e-3 * expected[0]
    for units in ((1e3, 1.0), (1e3, 1e-3), (1.0, 1e-12)):
        counted, volumes = inflate(*units)
        assert counted == iterations
        assert volumes == pytest.approx(expected, rel=1e-12)


@pytest.mark.collective(rows=0)
def test_a_residual_that_options_leave_is_told() -> None:
    given: list[dict[str, Any]] = [
        {"snes_type": "ksponly"},
        {"snes_convergence_test": "skip", "snes_max_it": 2},
        {"snes_atol": 1.0},
    ]
    for options in given:
        if MPI.COMM_WORLD.rank:
            bend([1e3], **options)
            continue
        with pytest.warns(UserWarning, match=r"residual is .* % of the loads: this is no equil"):
            bend([1e3], **options)


def test_the_round_off_of_stiff_terms_between_places_is_no_residual() -> None:
    """Springs of 1e11 N/m between points 3 m off the origin cannot be in balance to 1e-8 N."""
    bodies, terms = [], []
    for k in range(3):
        at = (2.7 + 0.3 * k, 1.3, 0.4)
        body = sa.RigidBody(position=at, length=0.3, name=f"link {k}")
        for d in ((0.0, 0.0, 0.0), (0.1, 0.1, 0.0), (0.1, 0.0, 0.1), (0.1, -0.1, 0.05)):
            place = tuple(np.add(at, d))
            a = sa.ground.at(place) if not k else bodies[-1].at(tuple(np.add((0.3, 0.0, 0.0), d)))
            terms.append(sa.Potential(bushing, a, body.at(d), k=1e11))
        bodies.append(body)
    terms.append(sa.force(bodies[-1].at((0.3, 0.0, 0.0)), (0.0, 0.0, -1.0)))
    terms.append(sa.Constraint(in_plane, bodies[1].at((0.0, 0.0, 0.0))))
    system = sa.System(*bodies, terms=terms)
    history = sa.StaticProblem(system, check_held=False).solve()
    assert history.cut_backs == 0
    assert -1e-8 < system.displacement(bodies[-1].at((0.3, 0.0, 0.0)))[0][2] < -1e-11


def bushing(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k / 2 * (r_a - r_b).dot(r_a - r_b)


def in_plane(r_a: Any, X_a: Any) -> Any:
    return r_a[1] - X_a[1]


def test_a_term_that_is_not_finite_at_rest_is_named() -> None:
    def pull(u_a: Any, *, k: Any) -> Any:
        return k * sp.sqrt(u_a.dot(u_a))

    body, terms = arm("block", 1.0)
    wrong = sa.Potential(pull, body.at((4.0, 0.0, 0.0)), k=1e-3, name="pull")
    system = sa.System(body, terms=[*terms, wrong])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sa.ConvergenceError, match="'pull' is not finite already at rest"):
            sa.StaticProblem(system).solve()

# SPDX-License-Identifier: BSD-3-Clause
"""One rule for every Newton's method: what may end it, and what it must not hide."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sympy import Rational

import symancf as sa
from symancf.energies import cable, neo_hooke
from symancf.newton import Solution, corrections, newton
from symancf.newton.forcing import Forcing
from symancf.runtime.petsc import NOT_FINITE
from tests.told import told

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]


# ---- one body of two stiffnesses -----------------------------------------------------------------
def beam(ratio: float, metre: float = 1.0, rho: float = 0.0) -> tuple[sa.System, sa.Body]:
    """A beam whose first fifth is stiffer, heavier and bears more than the rest, by a ratio."""
    n, stiff = 10, 1e9
    at = np.meshgrid(np.linspace(0.0, 5.0, n + 1), [0.0, 0.5], [0.0, 0.5], indexing="ij")
    points = metre * np.stack([x.ravel() for x in at], axis=1)
    face = np.array([0, 2, 3, 1])
    cells = [
        [4 * i, 4 * i + 4, 4 * i + 6, 4 * i + 2, 4 * i + 1, 4 * i + 5, 4 * i + 7, 4 * i + 3]
        for i in range(n)
    ]
    regions = {
        "stiff": {"hexahedron": [0, 1]},
        "soft": {"hexahedron": list(range(2, n))},
        "x0": {"quad": [0]},
        "x1": {"quad": [1]},
    }
    mesh = sa.Mesh.from_arrays(
        points, {"hexahedron": cells, "quad": [face, 4 * n + face]}, regions, name="beam"
    )
    bodies = []
    for name, part in (("stiff", 1.0), ("soft", 1.0 / ratio)):
        given = {"mu": part * stiff / metre**2, "lam": 2.0 * part * stiff / metre**2}
        given |= {"rho": part * rho} if rho else {}
        bodies.append(sa.Body(mesh[name], sa.elements.hex8_plain, neo_hooke(), name=name, **given))
    corner = bodies[0].at(metre * np.array([1.0, 0.25, 0.25]))
    terms = [
        sa.fix(bodies[0]["x0"]),
        sa.force(bodies[1]["x1"], (0.0, 0.0, 1.5e-3 * stiff / ratio)),
        sa.force(corner, (0.0, 0.0, 1e-2 * stiff)),
    ]
    return sa.System(*bodies, terms=terms), bodies[1]


def bent(ratio: float, metre: float = 1.0, **options: Any) -> Array:
    system, soft = beam(ratio, metre)
    problem = sa.StaticProblem(system, options=options, check_held=False, check_stable=False)
    problem.solve()
    return system.displacement(soft["x1"])[0] / metre


@pytest.mark.parametrize("metre", [1.0, 1e3])
@pytest.mark.parametrize("ratio", [1e9, 1e12])
def test_a_soft_half_is_solved_beside_a_stiff_one(ratio: float, metre: float) -> None:
    expected = bent(1e7, snes_rtol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bent(ratio, metre) == pytest.approx(expected, abs=1e-6)


def test_a_linear_solver_that_sees_the_stiff_half_only_is_refused() -> None:
    with pytest.raises(sa.ConvergenceError):
        bent(1e12, ksp_type="cg", pc_type="none", ksp_max_it=2000)


def test_a_soft_half_that_is_not_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "MAX_EXTRA_ITERATIONS", 0)
    with told(r"'soft' near .* would still move by .* is not found"):
        bent(1e12)


def test_a_soft_half_moves_beside_a_stiff_one() -> None:
    def tip(ratio: float, **options: Any) -> Array:
        system, soft = beam(ratio, rho=1e3)
        history = sa.DynamicProblem(system, options=options).solve(to=1e-2, step=2.5e-4)
        assert history.cut_backs == 0
        return system.displacement(soft["x1"])[0]

    assert tip(1e12) == pytest.approx(tip(1e6, snes_rtol=1e-13), abs=1e-5)


# ---- round-off -----------------------------------------------------------------------------------
def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k / 2 * (r_a - r_b).dot(r_a - r_b)


def turning(e1_a: Any, e1_b: Any, e2_a: Any, e2_b: Any, *, c: Any) -> Any:
    return c / 2 * ((e1_a - e1_b).dot(e1_a - e1_b) + (e2_a - e2_b).dot(e2_a - e2_b))


def coincide(r_a: Any, r_b: Any) -> list[Any]:
    return list(r_a - r_b)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("metre", [1.0, 1e3])
@pytest.mark.parametrize(
    ("links", "k", "c", "load"),
    [(30, 1e5, 1e5, 1e-8), (30, 1e5, 1e5, 1e-6), (30, 1e8, 1e5, 1e-6), (60, 1e5, 1e5, 1e-6)],
)
def test_a_stiff_chain_is_converged_at_its_round_off(
    links: int, k: float, c: float, load: float, metre: float
) -> None:
    """Rigid links with bushings and a user's constraints by turns, hardly loaded."""
    bodies: list[Any] = []
    terms: list[Any] = []
    L = 0.3 * metre
    for i in range(links):
        bodies.append(sa.RigidBody(position=(i * L, 0.0, 0.0), length=L, name=f"link {i}"))
        origin = bodies[i].at((0.0, 0.0, 0.0))
        if not i:
            terms.append(sa.joints.rigid(origin, sa.ground.at((0.0, 0.0, 0.0))))
            continue
        end = bodies[i - 1].at((L, 0.0, 0.0))
        terms.append(sa.Potential(turning, end, origin, c=c * metre))
        if i % 2:
            terms.append(sa.Potential(spring, end, origin, k=k / metre))
        else:
            terms.append(sa.Constraint(coincide, end, origin))
    tip = bodies[-1].at((L, 0.0, 0.0))
    pull = sa.force(tip, (0.1 * load, 0.2 * load, -load))
    system = sa.System(*bodies, terms=[*terms, pull])
    history = sa.StaticProblem(system, check_held=False, check_stable=False).solve()
    assert history.cut_backs == 0
    assert history.steps[0].iterations <= 4
    arms = 0.3 * np.arange(1, links)
    bending = load * (arms**2).sum() / c  # the moment load x arm turns a joint by load x arm / c
    found = -system.displacement(tip)[0][2] / metre
    assert found == pytest.approx(bending + load * (links // 2) / k, rel=1e-4)


# ---- tolerances ----------------------------------------------------------------------------------
@pytest.mark.collective(rows=0)
def test_motions_take_the_tolerance_that_is_asked_for() -> None:
    def iterations(**options: Any) -> int:
        system, _ = beam(10.0, rho=1e3)
        problem = sa.DynamicProblem(system, options=options)
        return problem.solve(to=2e-3, step=4e-4).iterations

    assert iterations(snes_rtol=1e-3) < iterations() < iterations(snes_rtol=1e-13)


class Halving:
    """x -> x - (part) x / 2: never nearer than a power of two."""

    def __init__(self, outside: float = np.inf, halvings: int = 1) -> None:
        self.x, self.step, self.outside, self.halvings = 1.0, 0.0, outside, halvings
        self.made, self.tried = 0, 0

    def residual(self) -> bool:
        return True

    def reason(self, iteration: int) -> int:
        assert iteration == self.made
        return int(self.x < 0.1)

    def linearize(self) -> None:
        self.made += 1

    def solve(self) -> bool:
        self.step = self.x / 2.0
        return True

    def move(self) -> int:
        for part in 0.5 ** np.arange(self.halvings):
            self.tried += 1
            if part * self.step <= self.outside:
                self.x -= part * self.step
                return 0
        return NOT_FINITE


@pytest.mark.collective(rows=0)
def test_iterations_are_counted_halved_and_given_up() -> None:
    assert newton(Halving(), 4) == Solution(1, 4)
    assert newton(Halving(), 3).reason < 0
    assert newton(careful := Halving(outside=0.2, halvings=3), 20) == Solution(1, 7)
    assert careful.tried == 14
    assert newton(Halving(outside=0.2), 20) == Solution(NOT_FINITE, 0)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("angle", [0.1, 0.1 + 2.9 / 7])
def test_nothing_loaded_is_in_equilibrium(angle: float) -> None:
    """Round-off of the constraints is no reason for a step, nor that of the step for another."""
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    across = np.array([-along[1], along[0], 0.0])
    body = sa.PlanarBody(position=(1.3, 0.7), name="body")
    cables, terms = list[Any](), list[Any]()
    for k, side in enumerate((0.3, -0.4)):
        foot = np.array([0.1, 0.2, 0.0]) + side * across
        mesh = sa.Mesh.box((1.0,), (3,), warp=lambda X, foot=foot: foot + X[..., :1] * 0.77 * along)
        part = sa.Body(
            mesh["body"], sa.elements.ancf_cable, cable(), EA=1e5, EI=1e2, name=f"cable {k}"
        )
        cables.append(part)
        terms.append(sa.joints.clamp(part.at(foot), sa.ground, name=f"foot {k}"))
        terms.append(sa.joints.clamp(part.at(foot + 0.77 * along), body, name=f"head {k}"))
        terms.append(sa.planar(part))
    problem = sa.StaticProblem(sa.System(body, *cables, terms=terms))
    steps = problem.solve().steps
    assert [step.iterations for step in steps] == [0]
    assert not problem.system.state.any()


@pytest.mark.parametrize("element", ["hex8", "hex20"])
def test_a_body_without_loads_is_in_equilibrium_at_once(element: str) -> None:
    """Also where the law leaves round-off at rest, in every unit; then with a load, and again."""

    def law(C: Any, J: Any, *, mu: Any, k: Any, S: Any) -> dict[str, Any]:
        I1 = C[0, 0] / S**2 + S * (C[1, 1] + C[2, 2])
        return {
            "deviatoric": mu / 2 * (J ** Rational(-2, 3) * I1 - 3),
            "volumetric": k / 2 * (J - 1) ** 2,
        }

    cell = getattr(sa.elements, element).cell
    for size, stiff in ((1e-3, 1e12), (1e3, 1e-6), (1.0, 1.0)):
        mesh = sa.Mesh.box(3 * (size,), (1, 1, 1), cell=cell)
        moduli = {"mu": 0.7 * stiff, "k": 50.0 * stiff, "S": 1.0, "rho": 1.0}
        body = sa.Body(mesh["body"], getattr(sa.elements, element), law, **moduli)
        pull = sa.Parameter("pull", 0.0)
        load = sa.traction(body["x1"], (pull, 0.0, 0.0))
        problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), load]))
        problem.solve()
        assert [step.iterations for step in problem.history.steps] == [0]
        assert not problem.system.state.any()
        pull.value = 1e-3 * stiff
        problem.solve()
        assert 1 <= problem.history.steps[-1].iterations <= 4
        pull.value = 0.0
        problem.solve()
        assert problem.history.steps[-1].iterations <= 4
        assert np.abs(problem.system.state).max() < 1e-12 * size
    body = sa.Body(mesh["body"], getattr(sa.elements, element), law, **moduli)
    motion = sa.DynamicProblem(sa.System(body, terms=[sa.fix(body["x0"])]))
    motion.solve(to=0.2, step=0.1)
    assert all(step.iterations <= 1 for step in motion.history.steps)


def test_linear_systems_are_solved_as_well_as_the_residual_falls() -> None:
    """Eisenstat's and Walker's choice 2 between 1e-4 and 3e-3, and no more than the end needs."""
    forcing, needed = Forcing(1, None), 1e-15
    for fallen, tolerance in ((1.0, 0.03), (0.01, 0.5e-3), (0.9, 3e-3), (1e-4, 1e-4)):
        needed /= fallen  # a residual that has fallen has less to fall
        assert forcing.wanted(np.array([needed])) == (pytest.approx(tolerance), 0.0)
    assert Forcing(1, None).wanted(np.array([0.15])) == (pytest.approx(0.075), 0.15)
    assert Forcing(1, 1e-8).wanted(np.array([1e-12])) == (pytest.approx(1e-8), 0.0)


@pytest.mark.parametrize(("fallen", "near"), [(1e-4, True), (1e-2, False)])
def test_the_last_system_is_solved_to_the_end_where_newton_gets_there(
    fallen: float, near: bool
) -> None:
    forcing, needed = Forcing(1, None), 1e-6
    forcing.wanted(np.array([fallen * needed]))
    eta, share = forcing.wanted(np.array([needed]))
    assert (eta, share) == ((needed / 2.0, needed) if near else (pytest.approx(5e-4), 0.0))
    parts = Forcing(2, None)
    parts.wanted(fallen * needed * np.ones(2))
    assert parts.wanted(needed * np.ones(2))[1] == 0.0


def test_a_linear_system_with_an_indefinite_tangent_is_solved_roughly_once() -> None:
    forcing = Forcing(1, None)
    forcing.astray()
    assert forcing.wanted(np.array([1e-12])) == (pytest.approx(0.5), 0.0)
    assert forcing.wanted(np.array([1e-12 / 0.9])) == (pytest.approx(0.1), 0.0)

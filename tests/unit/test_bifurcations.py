# SPDX-License-Identifier: BSD-3-Clause
"""Bifurcations of followed paths: how many eigenvalues cross, with any solver and any step."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import symancf as sa
from symancf.runtime.petsc import has
from tests.unit.test_continuation import LIMIT_P, Truss

EI = 1.0


def column(EA: float, planar: bool, **options: Any) -> tuple[sa.StaticProblem, sa.Parameter]:
    """A clamped column under a thrust."""
    line, P = sa.Mesh.box((1.0,), (16,)), sa.Parameter("P")
    beam = sa.Body(
        line["body"], sa.elements.ancf_cable, sa.energies.cable(), name="column", EA=EA, EI=EI
    )
    thrust = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    held = [sa.fix(beam["x0"]), *([sa.planar(beam)] if planar else [])]
    return sa.StaticProblem(sa.System(beam, terms=[*held, thrust]), options=options), P


def euler(EA: float, mode: int = 1) -> float:
    """P (1 - P/EA) = ((2 mode - 1) pi/2)^2 EI / L^2: the axis shortens."""
    return EA / 2 * (1 - math.sqrt(1 - ((2 * mode - 1) * math.pi) ** 2 * EI / EA))


def arch(EA: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    """A shallow hinged arch with a load at its crown: it sways before it snaps through."""
    rise, P = 0.1, sa.Parameter("P")

    def bent(X: Any) -> Any:
        return np.stack([X[:, 0], rise * np.sin(np.pi * X[:, 0]), 0 * X[:, 0]], axis=1)

    def along(X: Any) -> Any:
        one = np.ones(len(X))
        return np.stack([one, rise * np.pi * np.cos(np.pi * X[:, 0]), 0 * one], axis=1)

    energy = sa.energies.cable(curvature="plane")
    mesh = sa.Mesh.box((1.0,), (16,), warp=bent)
    ring = sa.Body(mesh["body"], sa.elements.ancf_cable, energy, direction=along, EA=EA, EI=EI)
    held = [sa.fix(ring["x0"], "position"), sa.fix(ring["x1"], "position"), sa.planar(ring)]
    load = sa.force(ring.at((0.5, rise, 0.0)), (0.0, lambda t: -P.value, 0.0))
    return sa.StaticProblem(sa.System(ring, terms=[*held, load])), P


def frame(EA: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    """A clamped portal of three equal beams with a load on each of its rigid corners."""
    P, corners = sa.Parameter("P"), [(0.0, 1.0), (1.0, 1.0)]
    knees = [sa.PlanarBody(position=at, name=f"knee {k}") for k, at in enumerate(corners)]
    energy = sa.energies.cable(curvature="plane")

    def beam(name: str, a: Any, b: Any) -> Any:
        start, end = np.array([*a, 0.0]), np.array([*b, 0.0])
        mesh = sa.Mesh.box((1.0,), (6,), warp=lambda X: start + X[:, :1] * (end - start))
        return sa.Body(mesh["body"], sa.elements.ancf_cable, energy, name=name, EA=EA, EI=EI)

    feet = [(0.0, 0.0), (1.0, 0.0)]
    parts = [
        beam("left", feet[0], corners[0]),
        beam("right", feet[1], corners[1]),
        beam("top", *corners),
    ]
    rigid = [sa.joints.clamp(parts[k].at((*feet[k], 0.0)), sa.ground) for k in (0, 1)]
    for k, (part, end) in enumerate([(0, 0), (1, 1), (2, 0), (2, 1)]):
        rigid.append(sa.joints.clamp(parts[part].at((*corners[end], 0.0)), knees[end], name=f"{k}"))
    loads = [sa.force(knee.at((0, 0)), (0.0, lambda t: -P.value)) for knee in knees]
    terms = [*rigid, *loads, *(sa.planar(part) for part in parts)]
    return sa.StaticProblem(sa.System(*parts, *knees, terms=terms)), P


def followed(made: Any, to: float, step: float) -> sa.History:
    """Follow a path; the bifurcations are told by warnings, one for each."""
    problem, P = made
    before = len(problem.history.bifurcations)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history: sa.History = problem.follow(P, to=to, step=step)
    told = [w for w in caught if "passes a bifurcation" in str(w.message)]
    assert len(told) == len(history.bifurcations) - before
    assert P.value == to
    return history


SOLVERS: dict[str, dict[str, str]] = {
    "default": {},
    "petsc": {"pc_type": "lu", "pc_factor_mat_solver_type": "petsc"},
    "cholesky": {"pc_type": "cholesky"},
    "mumps": {"pc_type": "lu", "pc_factor_mat_solver_type": "mumps"},
    "klu": {"pc_type": "lu", "pc_factor_mat_solver_type": "klu"},
    "gmres": {"ksp_type": "gmres", "pc_type": "lu"},
}
if not has("suitesparse"):
    del SOLVERS["klu"]


@pytest.mark.parametrize("options", SOLVERS.values(), ids=SOLVERS)
def test_both_bending_planes_of_a_column_buckle_at_once(options: dict[str, str]) -> None:
    EA = 1e4
    history = followed(column(EA, planar=False, **options), to=30.0, step=7.0)
    first, second = history.bifurcations
    assert (first.eigenvalues, second.eigenvalues) == (2, 2)
    assert first.parameter == pytest.approx(euler(EA), rel=1e-5)
    assert second.parameter == pytest.approx(euler(EA, 2), rel=3e-5)
    assert history.search == "all"
    assert "2.4" in str(history).splitlines()[-1]
    assert {step.unstable for step in history.steps} <= {0, 2, 4}
    assert history.steps[-1].unstable == 4


def test_several_bifurcations_in_one_step_and_none_beyond_its_end() -> None:
    """One step from 0 to 300 in which five modes buckle; the path ends before the others."""
    EA = 1e6
    history = followed(column(EA, planar=True), to=100.0, step=300.0)
    assert len(history.steps) == 1
    found = [point.parameter for point in history.bifurcations]
    assert found == pytest.approx([euler(EA, mode) for mode in (1, 2, 3)], rel=2e-4)
    assert history.steps[-1].unstable == 3


@pytest.mark.parametrize("part", [0.9999, 1.0001])
def test_a_bifurcation_beside_the_end(part: float) -> None:
    P = euler(1e4)
    problem, load = column(1e4, planar=False)
    history = followed((problem, load), to=part * P, step=1.0)
    assert len(history.bifurcations) == (part > 1.0)
    history = followed((problem, load), to=1.1 * P, step=1.0)
    assert len(history.bifurcations) == 1


def test_krylov_solvers_do_not_look_for_bifurcations() -> None:
    made = column(1e3, True, ksp_type="gmres", pc_type="jacobi", ksp_max_it=2000)
    history = followed(made, to=4.0, step=1.0)
    assert history.search == "none"
    assert str(history).endswith("bifurcations: not looked for")
    assert {step.unstable for step in history.steps} == {None}


def test_a_follower_load_shows_odd_numbers_only() -> None:
    """The thrust as a virtual work: the tangent is unsymmetric as far as the kernel knows."""

    def push(v_a: Any, *, P: Any) -> Any:
        return {v_a: [-P, 0, 0]}

    for planar, number in ((True, 1), (False, 0)):
        problem, P = column(1e4, planar)
        beam = problem.system.bodies[0]
        terms = [*problem.system.terms[:-1], sa.VirtualWork(push, beam.at((1.0, 0.0, 0.0)), P=P)]
        problem = sa.StaticProblem(sa.System(beam, terms=terms))
        history = followed((problem, P), to=4.0, step=1.0)
        assert history.search == "odd"
        assert "pairs of eigenvalues cannot be seen" in str(history)
        assert len(history.bifurcations) == number


# ---- whatever the step ------------------------------------------------------------------------
def sway() -> float:
    """P of a clamped portal with beams without extension: k / tan k = -6, P = k^2 EI."""
    return float(so.brentq(lambda k: k / math.tan(k) + 6.0, 2.0, 3.1)) ** 2


@pytest.mark.parametrize("step", [0.3, 1.0, 7.0, 33.0])
@pytest.mark.parametrize("EA", [1e3, 1e4, 1e6])
def test_a_column_and_a_frame_with_any_step(EA: float, step: float) -> None:
    (point,) = followed(column(EA, planar=True), to=4.0, step=step / 3.0).bifurcations
    assert point.parameter == pytest.approx(euler(EA), rel=1e-5)
    (point,) = followed(frame(EA), to=12.0, step=step).bifurcations
    assert point.eigenvalues == 1
    assert point.parameter == pytest.approx(sway(), rel=1e-4 + 2.0 / EA)


# EA -> bifurcations and limit points; thrust at the first is 4 pi^2 EI, nearly
ARCHES = {
    1e4: ([16.87636, -29.22484, 36.03207], [21.46049, -29.52946, 36.29591]),
    1e5: ([17.83983, -49.14195, 116.69046], [23.75779, -57.78546, 124.24068]),
}


@pytest.mark.parametrize("step", [1.0, 20.0, 77.0])
@pytest.mark.parametrize("EA", ARCHES)
def test_an_arch_sways_before_it_snaps_with_any_step(EA: float, step: float) -> None:
    problem, P = arch(EA)
    bifurcations, limits = ARCHES[EA]
    points = problem.history.limit_points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = problem.follow(P, step=step, until=lambda step: len(points) == len(limits))
    found = [point.parameter for point in history.bifurcations]
    assert found == pytest.approx(bifurcations, rel=1e-5)
    assert [point.parameter for point in points] == pytest.approx(limits, rel=1e-6)
    stable = [step.unstable == 0 for step in history.steps]
    assert stable[0]
    assert not stable[-1]


# ---- a sample of many cases: each was tried with 20 steps and stiffnesses, in m and in mm -------
def strips(E: float, L: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    """Two clamped strips of thin plates, of thickness L/50, that buckle at the same load."""
    P, bodies, terms = sa.Parameter("P"), list[Any](), list[Any]()
    for k in range(2):
        mesh = sa.Mesh.box(
            (L, 0.3 * L), (8, 1), warp=lambda X, k=k: X + np.array([0.0, 0.0, k * L])
        )
        given = {"name": f"strip {k}", "thickness": L / 50, "E": E, "nu": 0.0}
        strip = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **given)
        thrust = sa.force(strip["x1"], (lambda t: -P.value, 0.0, 0.0))
        bodies.append(strip)
        terms += [sa.fix(strip["x0"]), thrust]
    return sa.StaticProblem(sa.System(*bodies, terms=terms)), P


def turned(theta_a: Any, theta_b: Any, *, k: Any) -> Any:
    return k / 2 * (theta_a - theta_b) ** 2


def from_axis(theta_a: Any, *, k: Any) -> Any:
    return k / 2 * theta_a**2


def chain(k: float, L: float, links: int = 5) -> tuple[sa.StaticProblem, sa.Parameter]:
    """Rigid links in a row on joints with springs, under a thrust."""
    P, part = sa.Parameter("P"), L / links
    bodies = [sa.PlanarBody(position=(j * part, 0.0), name=f"link {j}") for j in range(links)]
    terms = [sa.joints.revolute(bodies[0].at((0, 0)), sa.ground.at((0.0, 0.0)), name="pin")]
    terms.append(sa.Potential(from_axis, bodies[0].at((0, 0)), k=k))
    for j, (a, b) in enumerate(itertools.pairwise(bodies)):
        terms.append(sa.joints.revolute(a.at((part, 0.0)), b.at((0, 0)), name=f"pin {j}"))
        terms.append(sa.Potential(turned, a.at((0, 0)), b.at((0, 0)), k=k, name=f"spring {j}"))
    terms.append(sa.force(bodies[-1].at((part, 0.0)), (lambda t: -P.value, 0.0)))
    return sa.StaticProblem(sa.System(*bodies, terms=terms)), P


@pytest.mark.parametrize("step", [0.021, 1.0, 60.0])
@pytest.mark.parametrize("L", [1.0, 1000.0])
def test_strips_and_chains_with_any_step(L: float, step: float) -> None:
    """One cell across makes strips 0.24 % too soft; links buckle at (2 sin(pi/22))^2 k/l."""
    E, I = 1e12 / L**2, 0.3 * L * (L / 50) ** 3 / 12
    known = math.pi**2 * E * I / (2 * L) ** 2
    known /= 1 - known / (E * 0.3 * L * L / 50)
    (point,) = followed(strips(E, L), to=1.4 * known, step=step * known).bifurcations
    assert point.eigenvalues == 2
    assert point.parameter == pytest.approx(0.997566 * known, rel=5e-6)
    known = 5.0 * (2.0 * math.sin(math.pi / 22)) ** 2
    (point,) = followed(chain(L, L), to=1.4 * known, step=step * known).bifurcations
    assert point.eigenvalues == 1
    assert point.parameter == pytest.approx(known, rel=2e-6)


@pytest.mark.parametrize("EA", [60.0, 1e6])
def test_a_step_that_would_turn_a_column_inside_out(EA: float) -> None:
    """Under P > EA the axis would be shorter than nothing; with its tangent reversed it is pulled.

    A first step of 60 times the buckling load ended there, stable, and passed all on the way.
    """
    (point,) = followed(column(EA, planar=False), to=3.3, step=150.0).bifurcations
    assert point.eigenvalues == 2
    assert point.parameter == pytest.approx(euler(EA), rel=1e-5)


@pytest.mark.parametrize("step", [330.0, 1320.0])
def test_a_step_that_would_miss_both_limit_points(step: float) -> None:
    """A stiff arch snaps through between -5.8 and 14.4; beyond it is pulled like a rope."""
    problem, P = arch(3e3)
    points = problem.history.limit_points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.follow(P, step=step, until=lambda step: len(points) == 2)
    assert [p.parameter for p in points] == pytest.approx([14.448765, -5.7609297], rel=1e-6)
    assert [p.parameter for p in problem.history.bifurcations] == pytest.approx(
        [13.79227], rel=1e-5
    )


# ---- paths without displacements, paths that go on --------------------------------------------
def link(kx: float, ky: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    """A rigid link of length 1 under a thrust, held upright by two springs at its top."""

    def energy(r_a: Any, *, P: Any, kx: Any, ky: Any) -> Any:
        x, y = r_a[0], r_a[1]
        return (kx * x**2 + ky * y**2) / 2 + P * ((1 - x**2 - y**2) ** 0.5 - 1)

    top, P = sa.PlanarBody(position=(0.0, 0.0), name="top"), sa.Parameter("P")
    work = sa.Potential(energy, top.at((0, 0)), P=P, kx=kx, ky=ky)
    return sa.StaticProblem(sa.System(top, terms=[work, sa.fix(top, ["theta"])])), P


@pytest.mark.parametrize(("k", "crossing"), [((2.0, 2.0), [2]), ((2.0, 3.0), [1, 1])])
def test_a_path_without_displacements(k: tuple[float, float], crossing: list[int]) -> None:
    history = followed(link(*k), to=5.0, step=0.7)
    assert [point.eigenvalues for point in history.bifurcations] == crossing
    found = [point.parameter for point in history.bifurcations]
    assert found == pytest.approx(sorted(set(k)), rel=1e-5)


def test_a_load_on_what_is_held_is_followed() -> None:
    problem, P = column(1e4, planar=True)
    beam = problem.system.bodies[0]
    held = sa.fix(beam["x0"])
    system = sa.System(beam, terms=[held, sa.force(beam["x0"], (lambda t: -P.value, 0.0, 0.0))])
    problem = sa.StaticProblem(system)
    history = problem.follow(P, to=3.0, step=1.0)
    assert history["P"][-1] == 3.0
    assert held.reaction(system).force[0] == pytest.approx(3.0)


def test_a_limit_point_is_found_once() -> None:
    """Also where a path goes on from it, and where it turns round there."""
    P = sa.Parameter("P")
    problem = Truss(P).problem
    history = problem.history
    problem.follow(P, step=1e-3, until=lambda step: abs(P.value / LIMIT_P - 1) < 1e-11)
    assert P.value == pytest.approx(LIMIT_P, rel=1e-12)
    assert history.steps[-1].unstable == 0
    problem.follow(P, steps=1)
    assert [point.kind for point in history.limit_points] == ["maximum"]
    assert P.value < LIMIT_P
    assert history.steps[-1].unstable == 1
    assert not history.bifurcations
    problem.follow(P, to=0.0, direction=1)  # over it again, to where the path began
    assert [point.kind for point in history.limit_points] == ["maximum", "maximum"]
    assert history.steps[-1].unstable == 0
    assert not history.bifurcations


# ---- constraints, gas ---------------------------------------------------------------------------
def test_redundant_constraints_and_joints_do_not_count() -> None:
    """The link of two springs hangs on two joints, one of them twice."""
    problem, P = link(2.0, 3.0)
    top = problem.system.bodies[0]
    hook = sa.PlanarBody(position=(0.0, 0.0), name="hook")
    joints = [
        sa.joints.revolute(top.at((0, 0)), hook.at((0, 0)), name=f"pin {k}") for k in range(2)
    ]
    turn = sa.fix(hook, ["theta"])
    system = sa.System(top, hook, terms=[*problem.system.terms, *joints, turn])
    history = followed((sa.StaticProblem(system), P), to=5.0, step=0.7)
    assert [point.eigenvalues for point in history.bifurcations] == [1, 1]
    assert [history.steps[0].unstable, history.steps[-1].unstable] == [0, 2]


# ---- the end of a solution ----------------------------------------------------------------------
@pytest.mark.parametrize("options", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize(("planar", "ways"), [(True, "one direction"), (False, "2 independent")])
def test_an_unstable_end_is_told(planar: bool, ways: str, options: dict[str, str]) -> None:
    problem, P = column(1e4, planar, **options)
    P.value = 3.0
    with pytest.warns(UserWarning, match=f"is unstable in {ways}"):
        problem.solve()
    assert problem.history.steps[-1].unstable == (1 if planar else 2)
    P.value = 2.4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem.solve()
    assert problem.history.steps[-1].unstable == 0


def test_a_buckled_column_is_stable_and_nobody_need_look() -> None:
    problem, P = column(1e4, planar=True)
    aside = sa.Parameter("aside", 0.1)
    beam = problem.system.bodies[0]
    load = sa.force(beam["x1"], (0.0, lambda t: aside.value, 0.0))
    system = sa.System(beam, terms=[*problem.system.terms, load])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = sa.StaticProblem(system)
        problem.follow(P, to=3.0, step=0.5)
        aside.value = 0.0
        problem.solve()
        assert abs(system.displacement(beam["x1"])[0, 1]) > 0.1
        assert problem.history.steps[-1].unstable == 0
        straight, P = column(1e4, planar=True)
        P.value = 3.0
        sa.StaticProblem(straight.system, check_stable=False).solve()

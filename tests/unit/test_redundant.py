# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that others imply are named and left out; those that contradict are refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpi4py import MPI
from scipy.sparse import csr_array

import symancf as sa
from symancf.energies import cable, saint_venant_kirchhoff
from symancf.newton import dependent, redundant
from symancf.newton.elimination import Elimination
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]
X, Y, Z = np.eye(3)


def rope(name: str, start: Any = (0.0, 0.0, 0.0), n: int = 4) -> sa.Body:
    """A cable of length 1 along x."""
    mesh = sa.Mesh.box((1.0,), (n,), warp=lambda X: X + np.asarray(start), name=name)
    return sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=1e3, EI=1.0, name=name)


def plate(name: str, start: Any = (0.0, 0.0, 0.0), n: int = 2) -> sa.Body:
    """A plate of 1 x 1 in the plane z = 0."""
    mesh = sa.Mesh.box((1.0, 1.0), (n, n), warp=lambda X: X + np.asarray(start), name=name)
    options: dict[str, Any] = {"E": 1e6, "nu": 0.3, "thickness": 0.05, "name": name}
    return sa.Body(mesh["body"], sa.elements.ancf_plate, saint_venant_kirchhoff(), **options)


def link(name: str, a: Any, b: Any) -> sa.RigidBody:
    """A rigid bar between two points, its axis e1 along it."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    e1 = (b - a) / np.linalg.norm(b - a)
    e3 = np.cross(e1, Y if abs(e1 @ Y) < 0.9 else X)
    e3 /= np.linalg.norm(e3)
    frame = np.stack([e1, np.cross(e3, e1), e3], axis=1)
    size = (float(np.linalg.norm(b - a)), 0.02, 0.02)
    return sa.RigidBody.box(size, position=(a + b) / 2, frame=frame, rho=500.0, name=name)


def tips(body: sa.RigidBody, length: float) -> tuple[Any, Any]:
    """Both ends of a bar."""
    return body.at((-length / 2, 0.0, 0.0)), body.at((length / 2, 0.0, 0.0))


def build(*bodies: Any, terms: list[Any]) -> tuple[sa.System, list[str]]:
    """Make a system and return what it warned of, on every rank."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        system = sa.System(*bodies, terms=terms)
    told = [str(w.message) for w in caught if "redundant" in str(w.message)]
    return system, MPI.COMM_WORLD.bcast(told)


def loaded(system: sa.System) -> Array:
    """Solve, and return the displacement of the end of the last body."""
    sa.StaticProblem(system).solve()
    return system.displacement(system.bodies[-1]["x1"])


def test_two_identical_joints() -> None:
    answers = []
    for names in (["one"], ["one", "two"]):
        a, b = rope("a"), rope("b", (1.0, 0.0, 0.0))
        pins = [sa.joints.spherical(a["x1"], b["x0"], name=name) for name in names]
        held = [sa.fix(a["x0"]), sa.fix(b["x1"], "position", displacement=(0.0, 0.0, -0.1))]
        system, told = build(a, b, terms=[*held, *pins])
        sa.StaticProblem(system).solve()
        answers.append((pins[0].multipliers(system), system.displacement(b["x0"])))
        if len(pins) == 2:
            (text,) = told
            assert "3 equations of 'two' (near (1, 0, 0)) follow from those of 'one'" in text
            np.testing.assert_array_equal(pins[1].multipliers(system), 0.0)
        else:
            assert not told
    for one, two in zip(*answers, strict=True):
        assert np.abs(one).max() > 1e-3
        np.testing.assert_allclose(two, one, rtol=1e-8, atol=1e-10)


def test_a_tie_given_twice() -> None:
    answers = []
    for names in (["tie"], ["tie", "again"]):
        a, b = plate("a"), plate("b", (1.0, 0.0, 0.0), n=3)
        ties = [sa.joints.tie(b["x0"], a, name=name) for name in names]
        system, told = build(
            a, b, terms=[sa.fix(a["x0"]), *ties, sa.force(b["x1"], (0.0, 0.0, -1.0))]
        )
        answers.append(loaded(system))
        assert len(told) == len(names) - 1
        if told:
            assert "48 equations of 'again'" in told[0]
            assert "and 3 more places) follow from those of 'tie'" in told[0]
    assert np.abs(answers[0]).max() > 1e-3
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-8, atol=1e-12)


def test_a_plate_fixed_at_an_edge_and_tied_there() -> None:
    """The tie adds nothing at the edge: no row of it moves a free coordinate."""
    answers = []
    for tied in (False, True):
        a = plate("a")
        terms = [sa.fix(a["x0"]), sa.force(a["x1"], (0.0, 0.0, -1.0))]
        if tied:
            terms.append(sa.joints.spherical(a["x0"], name="again"))
        system, told = build(a, terms=terms)
        assert not told  # these are the supports', and are checked against them
        answers.append(loaded(system))
    assert np.abs(answers[0]).max() > 1e-3
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-9, atol=1e-15)


def test_a_tied_edge_that_is_half_supported() -> None:
    """Hinges at an edge whose height is fixed: two of three equations remain."""
    a = plate("a")
    hinge, twice = (sa.joints.spherical(a["x0"], name=name) for name in ("hinge", "twice"))
    load = sa.force(a["x1"], (0.0, 0.0, -1.0))
    system, told = build(a, terms=[sa.fix(a["x0"], "z"), sa.fix(a["x1"], "z"), hinge, twice, load])
    assert len(told) == 1
    assert "6 equations of 'twice'" in told[0]
    sa.StaticProblem(system, check_held=False).solve()


def four_bar(**options: Any) -> list[Any]:
    """Return bars and revolute joints of a parallelogram in the plane y = 0."""
    A, B, C, D = (np.array(p) for p in ([0.0, 0, 0], [0, 0, 1.0], [2.0, 0, 1.0], [2.0, 0, 0]))
    bars = [link("crank", A, B), link("coupler", B, C), link("rocker", D, C)]
    (crank_a, crank_b), (coupler_b, coupler_c) = tips(bars[0], 1.0), tips(bars[1], 2.0)
    rocker_d, rocker_c = tips(bars[2], 1.0)
    pairs = {
        "A": (crank_a, None),
        "B": (crank_b, coupler_b),
        "C": (coupler_c, rocker_c),
        "D": (rocker_d, None),
    }
    joints = [sa.joints.revolute(a, b, axis=Y, name=name) for name, (a, b) in pairs.items()]
    return [bars, joints]


def test_a_closed_chain_of_parallel_hinges_has_three_redundant_equations() -> None:
    """20 equations and 18 motions, and yet one freedom."""
    bars, joints = four_bar()
    system, told = build(*bars, terms=joints)
    np.testing.assert_allclose(system.position(joints[3].ends[0]), [[2.0, 0.0, 0.0]], atol=1e-12)
    (text,) = told
    assert "3 equations of 'C' and 'D'" in text or "3 equations of 'D'" in text
    assert "'crank'" not in text.split("follow")[0]
    assert system._discrete.numbering.size == 36 + 18 + 20 - 3


@pytest.mark.collective(rows=0)
def test_rows_that_depend_only_at_a_dead_point_stay() -> None:
    """Two rods in line hold a point across only to second order there, and at once off it."""
    a, b = link("one", (0, 0, 0), (1, 0, 0)), link("two", (1, 0, 0), (2, 0, 0))
    (left, one), (two, right) = tips(a, 1.0), tips(b, 1.0)
    terms = [
        sa.joints.spherical(left, name="left"),
        sa.joints.spherical(one, two, name="middle"),
        sa.joints.spherical(right, name="right"),
    ]
    system, told = build(a, b, terms=terms)
    assert not told
    assert system._discrete.numbering.size == 24 + 12 + 9


def test_constraints_that_contradict_each_other_are_refused() -> None:
    a, b = rope("a"), rope("b", (0.0, 1.0, 0.0))
    terms = [
        sa.fix(a["x0"]),
        sa.joints.distance(a["x1"], b["x1"], 1.0, name="rod"),
        sa.joints.distance(a["x1"], b["x1"], 1.2, name="longer rod"),
    ]
    with refused(sa.ConstraintError, names=("rod", "longer rod")):
        sa.System(a, b, terms=terms)


def test_sound_systems_keep_all_their_equations() -> None:
    a, b = plate("a"), plate("b", (1.0, 0.0, 0.0), n=3)
    tie = sa.joints.tie(b["x0"], a)
    system, told = build(a, b, terms=[sa.fix(a["x0"]), tie])
    assert not told
    kinds, kind = system._discrete.numbering.kind_of_rows()
    assert (kind >= 0).all()
    equations = np.array([k.block.kind == "multiplier" for k in kinds])
    rows = MPI.COMM_WORLD.allreduce(int(equations[kind].sum()))
    assert rows == 4 * 12


def jacks(length: Any, other: Any) -> tuple[sa.System, list[str]]:
    """A rope whose middle hangs on two rods from the same place."""
    a = rope("a")
    pair = (a.at((0.5, 0.0, 0.0)), sa.ground.at((0.5, 1.0, 0.0)))
    rods = [sa.joints.distance(*pair, length, name="one")]
    rods.append(sa.joints.distance(*pair, other, name="other"))
    return build(a, terms=[sa.fix(a["x0"]), *rods])


@pytest.mark.collective(rows=0)
def test_lengths_that_differ_by_round_off_do_not_contradict_each_other() -> None:
    """That is less than 1e-7 of the size of the model."""
    _, told = jacks(1.0, 1.0 + 3e-8)
    assert len(told) == 1
    with refused(sa.ConstraintError, names=("one", "other"), asked="contradiction"):
        jacks(1.0, 1.0 + 5e-7)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(("apart", "count"), [(3e-10, 1), (1e-8, 0)])
def test_rows_that_are_nearly_the_same_depend_on_each_other(apart: float, count: int) -> None:
    J = csr_array(np.array([[1.0, 0.0, 0.0], [np.cos(apart), np.sin(apart), 0.0], [0, 0, 1.0]]))
    keys = np.arange(3)
    group = dependent.ConstraintGroup(keys, keys, keys, J, np.zeros(3))
    found = group.dependences()
    assert len(found) == count
    for rows, values in found:
        assert rows.tolist() == [0, 1]
        assert np.abs(values) == pytest.approx(np.sqrt(0.5))


def test_the_last_row_is_left_out_that_has_a_part_in_a_combination() -> None:
    """A part of a millionth is none: the row itself may be as good as unneeded, or needed."""
    rows = np.arange(3)
    for part, left_out in ((3e-6, 2), (3e-7, 1)):
        assert redundant._implied([(rows, np.array([0.7, -0.7, part]))]) == [left_out]


@pytest.mark.collective(rows=0)
def test_a_group_that_would_take_minutes_is_not_eliminated() -> None:
    """One coordinate of some million constraints at one place: 2e12 operations."""
    count = 1_500_000
    keys, ones = np.arange(count), np.ones(count)
    J = csr_array((ones, np.zeros(count, dtype=int), np.arange(count + 1)), shape=(count, 1))
    vertex = np.zeros(count, dtype=int)
    assert not dependent.ConstraintGroup(
        keys, np.zeros(1, dtype=int), vertex, J, ones
    ).elimination.complete


def longer(t: float) -> float:
    """A rod that grows."""
    return 1.0 + 0.1 * t


@pytest.mark.parametrize(("length", "other"), [(1.0, longer), (longer, 1.0)])
def test_an_equation_that_will_contradict_is_named_before_anything_is_solved(
    length: Any, other: Any
) -> None:
    system, told = jacks(length, other)
    assert len(told) == 1
    problem = sa.StaticProblem(system)
    with refused(sa.ConstraintError, names=("other",)):
        problem.solve()
    assert not system.state.any()
    assert not problem.history.steps


@pytest.mark.collective(rows=0)
def test_an_equation_that_contradicts_much_later_is_an_error_then() -> None:
    system, _ = jacks(1.0, lambda t: 1.0 + max(0.0, t - 0.5))
    problem = sa.StaticProblem(system)
    problem.solve(to=0.4)
    system.time = 0.4
    with refused(sa.ConstraintError, names=("other",), given=pytest.approx(1.25)):
        problem.solve(to=1.0)
    later, _ = jacks(longer, lambda t: longer(t) + (0.1 if t > 0.75 else 0.0) * (t < 0.95))
    problem = sa.StaticProblem(later)
    with refused(sa.ConstraintError, names=("other",), given=pytest.approx(0.226)):
        problem.solve(step=0.2)  # 1e-6 ... 1e-1 and 1 of the way agree
    assert np.isfinite(later.state).all()


@pytest.mark.collective(rows=0)
def test_equations_that_agree_at_all_times_are_solved() -> None:
    bars, joints = four_bar()
    turn = sa.joints.rotation(*joints[0].ends, angle=lambda t: 2.0 * t, name="turn")
    again = sa.joints.rotation(*joints[0].ends, angle=lambda t: 2.0 * t, name="again")
    system, (told,) = build(*bars, terms=[*joints, turn, again])
    assert "'again'" in told
    sa.StaticProblem(system, check_held=False).solve(step=0.25)
    elbow = system.position(joints[1].ends[0])[0]
    np.testing.assert_allclose(np.abs(elbow), np.abs([np.sin(2.0), 0.0, np.cos(2.0)]), atol=1e-9)
    system, _ = jacks(longer, longer)
    sa.StaticProblem(system).solve()
    assert system.displacement(system.bodies[0].at((0.5, 0.0, 0.0)))[0, 1] < -0.09


def wing(half: bool, units: float) -> tuple[sa.System, list[str], Any]:
    """A block clamped to a base that turns by 100 degrees; half of it, held in the plane z = 0."""
    s, low = units, 0.0 if half else -1.0
    warp = lambda X: s * (X * [5.0, 1.0, 1.0 - low] + [0.5, -0.5, low])  # noqa: E731
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 2, 1 if half else 2), warp=warp, name="wing")
    E, share = 1e3 / s, 0.5 if half else 1.0
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), E=E, nu=0.3)
    base = sa.RigidBody.box((s, s, 2 * s), rho=1.0 / s**3, name="base")
    hinge = sa.joints.revolute(base.centre, axis=Z)
    turn = sa.joints.rotation(base.centre, axis=Z, angle=lambda t: np.radians(100.0) * t)
    tip = sa.force(body["x1"], (0.0, -0.3 * share * s, 0.0))
    terms = [sa.joints.clamp(body["x0"], base, name="clamp"), hinge, turn, tip]
    terms += [sa.fix(body["z0"], "z")] if half else []
    system, told = build(body, base, terms=terms)
    return system, told, body.at((5.5 * s, 0.5 * s, 0.0))


@pytest.mark.collective(rows=0)
def test_half_a_model_whose_base_is_guided_too() -> None:
    """Nodes of the plane of symmetry are held across it, and by a base that turns far within it."""
    for units in (1.0, 1e3):
        found = []
        for half in (True, False):
            system, told, corner = wing(half, units)
            assert bool(told) == half
            sa.StaticProblem(system).solve(step=0.25)
            found.append(system.displacement(corner)[0] / units)
            left_out = system._discrete.redundant.left_out
            f = (
                np.abs(system._discrete.residual_at(system.state)[left_out])
                / system._discrete.stiffness
            )
            assert f.max(initial=0.0) < 1e-12 * units
        assert found[0] == pytest.approx(found[1], abs=1e-8)
        assert np.linalg.norm(found[0]) > 5.0


def ring(count: int) -> tuple[list[Any], list[Any]]:
    """Return bars around a regular polygon in the plane y = 0, and parallel hinges between them."""
    angles = 2.0 * np.pi * np.arange(count) / count
    corners = np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)
    ends = np.roll(corners, -1, axis=0)
    pairs = zip(corners, ends, strict=True)
    bars = [link(f"bar {k}", a, b) for k, (a, b) in enumerate(pairs)]
    length = float(np.linalg.norm(ends[0] - corners[0]))
    tip = [tips(bar, length) for bar in bars]
    joints = [
        sa.joints.revolute(tip[k - 1][1], tip[k][0], axis=Y, name=f"hinge {k}")
        for k in range(1, count)
    ]
    joints.append(sa.joints.revolute(tip[-1][1], tip[0][0], axis=Y, name="last"))
    return bars, joints


def test_the_search_takes_work_proportional_to_the_number_of_bodies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work: list[float] = []

    class Watched(Elimination):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            work.append(self.operations)

    monkeypatch.setattr(dependent, "Elimination", Watched)
    total = {}
    for count in (25, 100):
        work.clear()
        bars, joints = ring(count)
        _, (text,) = build(*bars, terms=joints)
        assert text.startswith("redundant constraints: 3 equations of 'last' ")
        total[count] = MPI.COMM_WORLD.bcast(max(work, default=0.0))
    assert total[25] > 25 * 6**3
    assert total[100] < 4.5 * total[25]


def test_a_search_that_takes_too_long_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependent, "MAX_OPERATIONS", 1e3)
    bars, joints = four_bar()
    system, (text,) = build(*bars, terms=joints)
    assert "equations of constraints were not searched for redundant ones" in text
    assert system._discrete.numbering.size == 36 + 18 + 20

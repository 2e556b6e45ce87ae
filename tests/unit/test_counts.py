# SPDX-License-Identifier: BSD-3-Clause
"""Many of everything: N times the model costs N times as much and gives the same numbers."""

from __future__ import annotations

import cProfile
import gc
import itertools
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf.arrays import address
from symancf.assembly.assembler import Assembler
from symancf.mesh import Mesh
from symancf.solve.statics import equilibrium, rigid_motions
from symancf.values import parameter
from tests import many
from tests.refusals import refused

if TYPE_CHECKING:
    import sympy as sp


def wheels(count: int, driven: int = 1, **options: float) -> tuple[sa.System, list[sa.PlanarBody]]:
    """Return planar bodies pinned to the ground one by one; the last ones are turned by 1.2 t."""
    bodies = [sa.PlanarBody((3.0 * k, 0.0), **options) for k in range(count)]
    terms = []
    for k, body in enumerate(bodies):
        hinge = body.at((0.0, 0.0)), sa.ground.at((3.0 * k, 0.0))
        angle = (lambda t: 1.2 * t) if k >= count - driven else 0.0
        terms += [sa.joints.revolute(*hinge), sa.joints.rotation(*hinge, angle=angle)]
    return sa.System(*bodies, terms=terms), bodies


def test_the_last_of_many_constraints_holds() -> None:
    """130 blocks and more: kinds of rows once were bytes, and rows of negative kind untested."""
    system, bodies = wheels(75, driven=5)
    problem = sa.StaticProblem(system, prefix="many_", check_held=False)
    problem.solve(to=1.0)
    angles = [body.position(system)[2] for body in bodies]
    np.testing.assert_allclose(angles, [0.0] * 70 + [1.2] * 5, atol=1e-12)
    kinds, kind = system._discrete.numbering.kind_of_rows()
    assert kind.min() >= 0
    assert len(kinds) == 3 + 150
    assert np.bincount(kind, minlength=len(kinds)).tolist() == [0, 150, 75, *[2, 1] * 75]
    assert [k.owner for k in kinds[3:7]] == ["revolute", "rotation", "revolute #2", "rotation #2"]
    assert "multipliers of 'rotation #75'" in problem.convergence.norms


def test_a_motion_takes_many_constraints() -> None:
    """A chain of 130 links that falls: the first one turns as physics wants."""
    bodies = [sa.PlanarBody((1.0 * k, 0.0), mass=1.0, inertia=0.1) for k in range(130)]
    pairs = itertools.pairwise(bodies)
    joints = [sa.joints.revolute(a.at((1.0, 0.0)), b.at((0.0, 0.0))) for a, b in pairs]
    pin = sa.joints.revolute(bodies[0].at((0.0, 0.0)), sa.ground.at((0.0, 0.0)))
    load = sa.force(bodies[-1].at((0.0, 0.0)), (2.0, 0.0))
    system = sa.System(*bodies, terms=[pin, *joints, load])
    sa.DynamicProblem(system, prefix="chain_").solve(to=2e-3, step=1e-3)
    assert pin.reaction(system).force == pytest.approx([-2.0, 0.0, 0.0], abs=1e-8)


def links(count: int) -> sa.System:
    """Bodies in the plane and in space on joints, each with loads, a state and a support."""
    bodies: list[sa.PlanarBody | sa.RigidBody] = []
    terms: list[object] = []

    def maxwell(r_a: sp.Matrix, v_a: sp.Matrix, F: sp.Symbol) -> dict[object, object]:
        return {v_a[1]: -F, "F": r_a[1] - F}

    for k in range(count):
        flat, held = sa.PlanarBody((4.0 * k, 0.0), mass=1.0), sa.PlanarBody((4.0 * k, 9.0))
        solid = sa.RigidBody((4.0 * k, 5.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
        bodies += [flat, held, solid]
        terms += [sa.fix(held), sa.force(flat.at((1.0, 0.0)), (1.0, 2.0))]
        terms += [sa.VirtualWork(maxwell, flat.at((1.0, 0.0)), states=("F",))]
        for body, y in ((flat, 0.0), (solid, 5.0)):
            hinge = body.at((0.0, 0.0, 0.0)), sa.ground.at((4.0 * k, y, 0.0))
            terms += [sa.joints.revolute(*hinge), sa.joints.rotation(*hinge)]
    return sa.System(*bodies, terms=terms)


def calls(function: Callable[[], Any]) -> tuple[Any, int]:
    """Return a result, and how many functions were called for it."""
    profile = cProfile.Profile()
    profile.enable()
    result = function()
    profile.disable()
    return result, sum(entry.callcount for entry in profile.getstats())


def test_twice_the_joints_cost_twice_as_much() -> None:
    """Calls while it is built, bytes of numbering and assembler, entities and unknowns."""
    links(1)  # kernels, imports
    (few, cheap), (many, dear) = calls(lambda: links(12)), calls(lambda: links(24))
    assert dear < 2.1 * cheap

    def counted(system: sa.System) -> dict[str, int]:
        return {
            "blocks": len(system._discrete.numbering.blocks),
            "unknowns": system._discrete.numbering.size,
            "kinds": len(system._discrete.numbering.kind_of_rows()[0]),
            "offsets": system._discrete.numbering.offset.nbytes,
            "forms": len(system._discrete.assembler.forms),
            "entries": system._discrete.matrix.nonzeros,
        }

    one, two = counted(few), counted(many)
    assert one.pop("blocks") == two.pop("blocks") <= 12
    assert many._discrete.assembler.nbytes < 2.05 * few._discrete.assembler.nbytes
    own = two["kinds"] - 2 * one["kinds"]  # those of bodies are there once
    assert -7 <= own <= 0
    del one["kinds"], two["kinds"]
    assert two == {name: 2 * number for name, number in one.items()}


def evaluated(system: sa.System) -> dict[str, int]:
    """Return what an evaluation of a system counts, and how much it reads."""
    system._discrete.prescribe(0.0)
    f = np.zeros_like(system.state)
    system._discrete.assembler.tangent(system.state, f, system._discrete.matrix)
    return {
        "entities": sum(form.size for form in system._discrete.forms),
        "calls": system._discrete.assembler.calls,
        "bytes": system._discrete.assembler.nbytes,
        "entries": system._discrete.matrix.nonzeros,
        "unknowns": system._discrete.numbering.size,
    }


@pytest.mark.parametrize(("kind", "tree"), [("plane", False), ("plane", True), ("space", True)])
def test_four_times_the_joints_cost_four_times_as_much(kind: Any, tree: bool) -> None:
    """Python calls of a system, of free motions and of a solution; what an evaluation counts."""
    many.hanging(30, kind, tree)  # kernels, imports

    def solved(count: int) -> dict[str, int]:
        (system, hinges, loads), built = calls(lambda: many.hanging(count, kind, tree))
        found = evaluated(system)
        free, found["free"] = calls(lambda: rigid_motions.find_free(system._discrete))
        assert free == []
        problem = sa.StaticProblem(system, prefix=f"{kind}{count}_")
        _, found["solved"] = calls(lambda: problem.solve(to=1.0))
        np.testing.assert_allclose(many.carried(system, hinges), loads, rtol=1e-10)
        return found | {"built": built}

    few, lots = solved(60), solved(240)
    # all fill their lanes; the first hinge and spring are of other kinds
    assert lots["calls"] <= lots["entities"] / 8 + 2
    for name, number in few.items():
        assert lots[name] < 4.2 * number, (name, number, lots[name])
        exact = name in ("entities", "entries", "unknowns")
        assert not exact or lots[name] == pytest.approx(4 * number, rel=0.02), name  # ends differ


@pytest.mark.parametrize("count", [15, 16, 24, 25])
def test_hinges_leave_no_motion_free_whatever_their_number(count: int) -> None:
    """From 16 bodies on NumPy adds in place, and rows of the sum were not contiguous."""
    system, hinges, loads = many.hanging(count, "space", True)
    sa.StaticProblem(system, prefix=f"hinges{count}_").solve()
    np.testing.assert_allclose(many.carried(system, hinges), loads, rtol=1e-10)


def test_c_is_not_given_an_array_with_gaps() -> None:
    square = np.zeros((3, 3))
    assert address(square[1]) == square.ctypes.data + 24
    for bad in (square.T[1], square[::2], square[:, :2]):
        with pytest.raises(ValueError, match="not contiguous"):
            address(bad)


@pytest.mark.parametrize("kind", ["plane", "space"])
def test_many_pendulums_move_as_one(kind: Any) -> None:
    spent, angles = [], []
    for count in (1, 25, 100):
        system, bodies = many.pendulums(count, kind)
        problem = sa.DynamicProblem(system, prefix=f"{kind}{count}_")
        _, cost = calls(lambda problem=problem: problem.solve(to=2e-2, step=1e-2))
        spent.append(cost)
        found = [system.position(body.at((1.0, 0.0, 0.0)))[0] for body in bodies]
        angles.append(np.array(found) - [[0.0, 2.0 * k, 0.0] for k in range(count)])
    assert abs(angles[0][0, 1]) > 1e-4
    for found in angles[1:]:
        np.testing.assert_allclose(found, np.tile(angles[0], (len(found), 1)), atol=1e-10)
    assert spent[2] < 4.2 * spent[1]


def test_four_times_the_rods_cost_four_times_as_much() -> None:
    """Bodies with directions of their own: calls, and memory of all that a system keeps."""
    many.rods(3)

    def solved(count: int) -> tuple[int, int, int]:
        tracemalloc.start()
        system, rods = many.rods(count)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        _, spent = calls(lambda: system._discrete.prescribe(0.0))
        sa.StaticProblem(system, prefix=f"rods{count}_").solve()
        tips = [system.displacement(rod.at((1.0, 3.0 * k, 0.0)))[0] for k, rod in enumerate(rods)]
        np.testing.assert_allclose(tips, np.tile(tips[0], (count, 1)), atol=1e-10)
        _, built = calls(lambda: many.rods(count))
        return kept, spent, built

    for one, other in zip(solved(15), solved(60), strict=True):
        assert other < 4.2 * one


def test_four_times_the_supports_and_terms_cost_four_times_as_much() -> None:
    """A line of nodes, each with four supports, a spring, a force and a controller of its own."""
    many.beads(3)

    def solved(count: int) -> tuple[int, int]:
        (system, line), built = calls(lambda: many.beads(count))
        _, spent = calls(lambda: system._discrete.prescribe(0.0))
        sa.StaticProblem(system, prefix=f"beads{count}_", check_held=False).solve()
        u = system.displacement(line.at([(float(k), 0.0, 1.0) for k in range(count)]))
        np.testing.assert_allclose(u[:, 2], 1e-3, rtol=1e-10)
        return built, spent

    for one, other in zip(solved(15), solved(60), strict=True):
        assert other < 4.2 * one


def test_motions_of_many_bodies_are_found_as_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other and all at once, on a chain that is cut, and on one that is not held."""

    def chain(pinned: bool, cut: int) -> sa.System:
        bodies = [sa.PlanarBody((1.0 * k, 0.0), name=f"b{k}") for k in range(9)]
        terms: list[object] = [sa.fix(bodies[0])] if pinned else []
        for k, (a, b) in enumerate(pairwise(bodies)):
            terms.append(sa.joints.revolute(a.at((1.0, 0.0)), b.at((0.0, 0.0))))
            if k != cut:
                terms.append(sa.joints.rotation(b.at((0.0, 0.0)), a.at((1.0, 0.0))))
        return sa.System(*bodies, terms=terms)

    for pinned, cut, motions in ((True, -1, 0), (True, 4, 1), (False, -1, 3), (False, 2, 4)):
        system = chain(pinned, cut)
        sa.StaticProblem(system, prefix="free_", check_held=False).solver.prepare()
        told = [rigid_motions.find_free(system._discrete)]
        with monkeypatch.context() as few:
            few.setattr(rigid_motions, "MAX_BODIES", 0)
            told.append(rigid_motions.find_free(system._discrete))
        assert [len(found) for found in told] == [motions, motions]
        if motions == 1:
            assert told[0] == told[1]
            assert told[0][0][0] == ["b5", "b6", "b7", "b8"]


# ---- values that change -------------------------------------------------------------------------
def cube(**values: object) -> sa.Body:
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    given = {"mu": 1e5, "lam": 1e6, "rho": 1000.0, **values}
    return sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_inertia_follows_the_density_as_weight_does(method: str) -> None:
    """Free fall at 10 m/s^2, whatever the density: also in a new problem of the system."""
    rho = sa.Parameter("rho", 1000.0)
    body = cube(rho=rho)
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -10.0))])
    problem = sa.DynamicProblem(system, prefix="fall_", method=method)
    problem.solve(1e-3, 1e-3)
    rho.value = 2000.0
    problem.solve(2e-3, 1e-3)
    at = body.at((0.5, 0.5, 0.5))
    assert system.velocity(at)[0, 2] == pytest.approx(-2e-2, rel=1e-9)
    rho.value = 500.0
    assert sa.DynamicProblem(system, prefix="new_", method=method).solve(3e-3, 1e-3)
    assert system.velocity(at)[0, 2] == pytest.approx(-3e-2, rel=1e-9)
    p, _ = system.momentum()
    assert p[2] == pytest.approx(-500.0 * 3e-2, rel=1e-9)


def test_mass_that_comes_brings_its_energy() -> None:
    """A pushed cube of density 1000 (1 + t): M a = F, dT = F v + v^2 dM/2."""
    body = cube(rho=lambda t: 1000.0 * (1.0 + t))
    push = sa.force(body["x1"], (300.0, 0.0, 0.0))
    system = sa.System(body, terms=[push, sa.fix(body["body"], dofs=["y", "z"])])
    problem = sa.DynamicProblem(system, prefix="more_")
    problem.solve(0.5, 1e-2)
    v = system.velocity(body.at((0.5, 0.5, 0.5)))[0, 0]
    assert v == pytest.approx(0.3 * np.log(1.5), rel=1e-3)
    assert abs(problem.energies.drift) < 1e-3 * problem.energies.kinetic


def test_a_constant_mass_is_updated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    system = sa.System(cube(), terms=[sa.gravity((0.0, 0.0, -10.0))])
    problem = sa.DynamicProblem(system, prefix="once_")
    problem.solve(1e-3, 1e-3)
    monkeypatch.setattr(
        type(system._discrete.inertia), "update", lambda assembler, time: calls.append(assembler)
    )
    calls: list[object] = []
    problem.solve(4e-3, 1e-3)
    assert calls
    assert not any(assembler is system._discrete.inertia for assembler in calls)


def test_a_monitor_that_asks_for_momentum_leaves_the_matrix() -> None:
    body = cube()
    system = sa.System(body, terms=[sa.fix(body["z0"]), sa.force(body["z1"], (0.0, 0.0, -1e3))])
    problem = sa.StaticProblem(system, prefix="monitor_")
    matrix = system._discrete.matrix
    problem.monitor(lambda *_: system.momentum())
    problem.solve(to=1.0, step=0.5)
    assert system._discrete.matrix is matrix
    assert sa.DynamicProblem(system, prefix="after_").solve(1.0001, 1e-4)
    assert system._discrete.matrix is matrix


@pytest.mark.parametrize(
    ("values", "least"),
    [({"rho": -5.0}, -5.0), ({"rho": lambda X: X[:, 0] - 2.0}, -1.5)],
)
def test_impossible_sizes_are_refused(values: dict[str, object], least: float) -> None:
    if callable(values["rho"]):
        values = {"rho": sa.Field(values["rho"])}
    with refused(sa.ParameterError, asked="rho", given=least):
        sa.System(cube(**values), terms=[sa.gravity((0.0, 0.0, -10.0))])


def test_sizes_are_looked_at_when_they_change() -> None:
    rho = sa.Parameter("rho", 1000.0)
    body = cube(rho=rho)
    system = sa.System(body, terms=[sa.fix(body["z0"]), sa.gravity((0.0, 0.0, -1.0))])
    problem = sa.StaticProblem(system, prefix="later_")
    problem.solve(to=1.0)
    rho.value = -1.0
    with refused(sa.ParameterError, asked="rho", given=-1.0):
        problem.solve(to=2.0)
    rho.value = 0.0
    with refused(sa.ParameterError, asked="rho", given=0.0):
        sa.DynamicProblem(system, prefix="motion_").solve(3.0, 1.0)
    mesh = Mesh.box((1.0,), (1,))
    for A in (-1.0, 0.0):
        with refused(sa.ParameterError, asked="A", given=A):
            sa.Body(
                mesh["body"],
                sa.elements.ancf_cable,
                sa.energies.cable(),
                name="rod",
                EA=1.0,
                EI=1.0,
                rho=1.0,
                A=A,
            )


# ---- the same thing twice -----------------------------------------------------------------------
def test_the_same_thing_twice_is_told() -> None:
    body = cube()
    pull, fix = sa.gravity((0.0, 0.0, -10.0)), sa.fix(body["z0"])
    with refused(sa.ParameterError, asked="gravity", given=2):
        sa.System(body, terms=[pull, fix, pull])
    with refused(sa.ParameterError, asked="fix:body.z0", given=2):
        sa.System(body, terms=[fix, fix])
    with refused(sa.ParameterError, asked="body", given=2):
        sa.System(body, body, terms=[fix])
    other = cube()
    twice = [sa.gravity((0, 0, -10)), sa.fix(other["z0"]), sa.gravity((0.0, 0.0, -10.0), other)]
    with pytest.warns(UserWarning, match="'gravity' and 'gravity #2' are the same.*'body': twice"):
        sa.System(other, terms=twice)


def test_a_force_on_a_rigid_body_acts_at_its_origin() -> None:
    body = sa.RigidBody(mass=2.0, inertia=(1.0, 1.0, 1.0), centre=(0.0, 0.3, 0.0), name="head")
    push = sa.force(body, (4.0, 0.0, 0.0))
    system = sa.System(body, terms=[push])
    sa.DynamicProblem(system, prefix="push_").solve(1e-3, 1e-3)
    v = system.velocity(body.centre)[0]
    assert v == pytest.approx([2e-3, 0.0, 0.0], rel=1e-5, abs=1e-8)
    with refused(sa.ConstraintError, asked="place", given=repr(cube())):
        sa.force(cube(), (1.0, 0.0, 0.0))


def test_no_tangent_is_made_where_supports_alone_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """One less than else; a body that turns about an edge is not held by that alone."""
    made: list[int] = []
    tangent = Assembler.tangent

    def counted(assembler: Assembler, *given: Any) -> int:
        made.append(1)
        return tangent(assembler, *given)

    monkeypatch.setattr(Assembler, "tangent", counted)
    states, counts = [], []
    for sure in (True, False):
        with monkeypatch.context() as context:
            if not sure:
                context.setattr(equilibrium, "supported", lambda system: False)
            body = cube()
            system = sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity((0.0, 0.0, -1.0))])
            assert rigid_motions.supported(system._discrete)
            sa.StaticProblem(system, prefix="held_").solve()
        counts.append(len(made))
        made.clear()
        states.append(system.state)
    assert np.array_equal(*states)
    assert counts[1] == counts[0] + 1
    body.region.mesh.select("edge", lambda X: np.hypot(X[:, 0], X[:, 2]) < 1e-9, dimension=1)
    alone = sa.System(body, terms=[sa.fix(body["edge"])])
    assert not rigid_motions.supported(alone._discrete)


def test_functions_of_time_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ramp:
        def __call__(self, t: float) -> float:
            return 2.0 * t

        def at(self, t: float) -> float:
            return 3.0 * t

    looked: list[object] = []
    given = parameter.of_place
    monkeypatch.setattr(parameter, "of_place", lambda value: looked.append(value) or given(value))
    ramps = Ramp(), Ramp()
    assert [parameter.evaluate("a load", ramp, 0.5) for ramp in (*ramps, *ramps)] == [1.0] * 4
    assert [parameter.evaluate("a load", ramp.at, 0.5) for ramp in (*ramps, *ramps)] == [1.5] * 4
    assert len(looked) == 2
    with refused(sa.ParameterError, asked="load"):
        parameter.evaluate("load", lambda X, t: X, 0.5)

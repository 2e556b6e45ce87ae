# SPDX-License-Identifier: BSD-3-Clause
"""A state is one value: kept, restored, an error in a monitor, a second system."""

from __future__ import annotations

import copy
import gc
import math
import subprocess
import sys
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import cable
from symancf.runtime.copies import SEND
from symancf.runtime.petsc import map_large_arrays
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from symancf.assembly.state import State


def rope(load: Any) -> tuple[sa.Body, sa.System]:
    mesh = sa.Mesh.box((1.0,), (4,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=2e4, EI=1.0, rho=1.0, A=1e-3)
    return body, sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, load))])


@pytest.mark.parametrize("problem", [sa.StaticProblem, sa.DynamicProblem])
def test_a_monitor_that_raises_loses_no_step(problem: Any) -> None:
    _, system = rope(lambda t: 0.1 * t)
    calculation = problem(system)
    raised = []

    def full_disk(step: Any) -> None:
        if abs(step.time - 0.5) < 1e-9 and not raised:
            raised.append(step.time)
            raise OSError(28, "No space left on device")

    calculation.monitor(full_disk)
    with pytest.raises(OSError, match="No space left"):
        calculation.solve(to=1.0, step=0.25)
    assert system.time == pytest.approx(0.5)
    calculation.solve(to=1.0, step=0.25)
    times = [time for time in calculation.history.time if time > 0.0]
    assert times == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_a_copy_of_a_system_is_refused_and_does_not_share_its_state() -> None:
    _, system = rope(1.0)
    for copied in (copy.copy, copy.deepcopy):
        with refused(sa.SymancfError, asked="System", possible=SEND):
            copied(system)


def swing() -> tuple[sa.RigidBody, sa.System, sa.Parameter]:
    """A pendulum on a spring that can be changed."""
    stiffness = sa.Parameter("k", 20.0)
    bob = sa.RigidBody.box((0.1, 0.1, 0.2), position=(0.5, 0.0, 0.0), rho=1000.0, name="bob")
    pivot = sa.joints.revolute(bob.at((-0.5, 0, 0)), axis=(0, 1, 0))
    spring = sa.Potential(lambda r_a, *, k: k / 2 * r_a.dot(r_a), bob.at((0.1, 0, 0)), k=stiffness)
    terms = [pivot, spring, sa.gravity((0.0, 0.0, -9.81))]
    return bob, sa.System(bob, terms=terms), stiffness


@pytest.mark.parametrize("traced", [False, True])
def test_states_from_before_the_mass_was_asked_for_are_those_of_the_system(traced: bool) -> None:
    """Modes make a system know the `Parameter` of a density, which its earlier states lack."""
    mesh = sa.Mesh.box((1.0,), (4,))
    p = {name: sa.Parameter(name, value) for name, value in (("EI", 1.0), ("way", 0.1))}
    rho = sa.Parameter("rho", 1.0)
    law = {"EA": 2e4, "EI": p["EI"], "rho": rho, "A": 1e-3}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), **law)
    clamp = sa.fix(line["x0"], displacement=(0.0, 0.0, p["way"]))
    load = sa.force(line["x1"], (0.0, 0.0, 0.1))
    system = sa.System(line, terms=[clamp, load])
    problem = sa.StaticProblem(system)
    problem.solve(to=1.0, step=0.5, trace=sa.Trace() if traced else None)
    there, tip = problem.state, sa.Goal(lambda u_a: u_a[2], line.at((1.0, 0.0, 0.0)))
    known, slopes = problem.value(tip), problem.gradient(tip, [*p.values()])
    first = sa.EigenProblem(system).solve(1).frequencies
    again = problem.gradient(tip, [*p.values()])
    assert [again[v] for v in p.values()] == pytest.approx([slopes[v] for v in p.values()])
    p["EI"].value, p["way"].value, rho.value = 3.0, 0.2, 4.0
    problem.reset()
    assert [v.value for v in (*p.values(), rho)] == [1.0, 0.1, 4.0]
    problem.solve(to=1.0)
    assert problem.value(tip) == pytest.approx(known, rel=1e-9)
    p["way"].value = 0.2
    problem.restore(there)
    assert [v.value for v in (*p.values(), rho)] == [1.0, 0.1, 4.0]
    assert sa.EigenProblem(system).solve(1).frequencies == pytest.approx(first / 2, rel=1e-9)
    other = sa.StaticProblem(sa.System(line, terms=[sa.fix(line["x0"]), load]))
    with refused(sa.ParameterError, asked="state"):
        other.restore(there)  # of fewer parameters


def pressed() -> sa.System:
    """A block with memory that is pressed on a plane."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 2))
    law = sa.energies.saint_venant_kirchhoff()
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, law, E=1e3, nu=0.3, rho=1.0)
    floor = sa.Contact(block["z0"], sa.Plane((0, 0, 0), normal=(0, 0, 1)), mu=0.3)
    press = sa.fix(block["z1"], displacement=lambda t: (0.02 * t, 0.0, -0.05 * t))
    return sa.System(block, terms=[press, floor])


def kept(state: State) -> list[Any]:
    """Return all numbers of a state."""
    arrays = [state.displacement, state.rate, state.acceleration, *state.terms]
    arrays += [*state.internal.old, *state.internal.next]
    arrays += [v for v in state.method.values() if isinstance(v, np.ndarray)]
    numbers = {k: v for k, v in state.method.items() if not isinstance(v, np.ndarray)}
    copies = [None if a is None else a.tobytes() for a in arrays]
    return [state.time, state.stiffness, state.parameters, repr(numbers), *copies]


MOTIONS = [{}, {"method": "rk"}, {"method": "adams"}]


@pytest.mark.parametrize("method", MOTIONS, ids=["alpha", "rk", "adams"])
def test_a_state_of_a_motion_keeps_its_bits_and_leads_to_the_same_ones(method: Any) -> None:
    _, system, k = swing()
    motion = sa.DynamicProblem(system, **method)
    begin = motion.state  # before the first step
    motion.solve(to=0.1, step=2e-3)
    there, bits = motion.state, kept(motion.state)
    assert there.time == 0.1
    ends = []
    for value in (20.0, 80.0, 20.0):
        motion.restore(there)
        assert k.value == 20.0
        k.value = value
        motion.solve(to=0.3, step=2e-3)
        ends.append(kept(motion.state)[4:6])
    assert ends[0] == ends[2] != ends[1]
    motion.solve(to=2.3, step=2e-3)  # a thousand steps
    assert kept(there) == bits
    motion.restore(begin)
    assert system.time == 0.0
    assert not np.any(system.state)
    motion.solve(to=0.1, step=2e-3)
    assert kept(motion.state)[4:6] == bits[4:6]
    motion.reset()
    assert kept(motion.state)[4:6] == kept(begin)[4:6]


@pytest.mark.parametrize("make", [lambda: rope(lambda t: 0.1 * t)[1], pressed])
def test_a_state_of_statics_leads_to_the_same_equilibria(make: Any) -> None:
    system = make()
    problem = sa.StaticProblem(system)
    begin = problem.state
    problem.solve(to=0.5, step=0.25)
    there, bits = problem.state, kept(problem.state)
    ends = []
    for _ in range(2):
        problem.restore(there)
        problem.solve(to=1.0, step=0.25)
        ends.append(system.state.copy())
    np.testing.assert_array_equal(*ends)
    assert kept(there) == bits
    problem.reset()
    assert system.time == begin.time == 0.0
    assert not system.state.any()
    problem.solve(to=0.5, step=0.25)
    np.testing.assert_allclose(problem.state.displacement, there.displacement, rtol=0, atol=1e-12)


def test_a_state_of_another_system_or_method_is_refused() -> None:
    _, system, _ = swing()
    motion, other = sa.DynamicProblem(system), sa.StaticProblem(rope(1.0)[1])
    before = kept(motion.state)
    for state in (
        other.state,
        sa.StaticProblem(system).state,
        sa.DynamicProblem(system, method="rk").state,
    ):
        with refused(sa.ParameterError, asked="state"):
            motion.restore(state)
        assert kept(motion.state) == before
    with refused(sa.ParameterError, asked="state"):
        other.restore(motion.state)
    other.restore(other.state)


def test_two_problems_of_one_system_take_turns() -> None:
    """Each with its own state: interleaved as one after the other."""
    ends = []
    for turns in (1, 4):
        _, system, k = swing()
        problems = [sa.DynamicProblem(system), sa.DynamicProblem(system, spectral_radius=0.5)]
        states = [problem.state for problem in problems]
        for turn in range(turns):
            for n, problem in enumerate(problems):
                problem.restore(states[n])
                k.value = (20.0, 5000.0)[n]
                problem.solve(to=0.4 * (turn + 1) / turns, step=2e-3)
                states[n] = problem.state
        ends.append([state.displacement for state in states])
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
    assert np.abs(ends[0][0] - ends[0][1]).max() > 1e-3


@pytest.mark.collective
def test_any_rank_drops_ten_thousand_states_by_itself() -> None:
    _, system = rope(lambda t: 0.1 * t)
    problem = sa.StaticProblem(system)
    problem.solve(to=0.25, step=0.25)
    states = [problem.state for _ in range(10_000)]
    alive = weakref.WeakSet(states)
    if system.comm.rank == 0:
        del states[:]
        gc.collect()
        assert len(alive) == 0
    problem.solve(to=0.5, step=0.25)
    assert system.time == 0.5


def several(kind: str) -> tuple[list[Any], list[Any]]:
    """Return bodies and terms, among them those of a kind."""
    mesh = sa.Mesh.box((1.0, 0.2, 0.2), (2, 1, 1))
    given = {"mu": 3e3, "lam": 6e3, "rho": 10.0}
    beam = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    ball = sa.RigidBody.sphere(0.1, position=(1.3, 0.1, 0.1), rho=100.0, name="ball")
    tip, end = beam.at((1.0, 0.1, 0.1)), ball.at((-0.1, 0.0, 0.0))

    def pull(t: float) -> float:
        return math.sin(5.0 * t)

    def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
        return k / 2 * (r_a - r_b).dot(r_a - r_b)

    @sa.memory(x=0.0)
    def slider(r_a: Any, *, x: Any, k: Any, f: Any) -> Any:
        trial = k * (r_a[2] - x)
        over = sp.Max(sp.Abs(trial) - f, 0)
        force = trial - over * sp.sign(trial)
        way = (trial - force) / k
        energy, stored = trial**2 / (2 * k) - over**2 / (2 * k), force**2 / (2 * k)
        return sa.remember(energy, x=x + way, stored=stored, dissipated=force * way)

    def drag(v_a: Any, *, c: Any) -> Any:
        return {v_a: -c * v_a}

    def height(r_a: Any) -> Any:
        return r_a[2]

    def lift(v_a: Any) -> Any:
        return v_a[2]

    axis = (0.0, 1.0, 0.0)
    made: dict[str, Callable[[], Any]] = {
        "support": lambda: sa.fix(beam["x1"], displacement=lambda t: (0, 0, 0.1 * pull(t))),
        "force": lambda: sa.force(beam["x1"], (0.0, 0.0, pull)),
        "traction": lambda: sa.traction(beam["x1"], (0.0, 0.0, pull)),
        "pressure": lambda: sa.pressure(beam["y1"], pull),
        "joint": lambda: sa.joints.distance(tip, ball.at((0.0, 0.0, 0.0)), length=0.3),
        "drive": lambda: sa.joints.revolute(ball.at((0.0, 0.0, 0.3)), axis=axis),
        "virtual work": lambda: sa.VirtualWork(drag, end, c=2.0),
        "memory": lambda: sa.Potential(slider, end, k=50.0, f=1.0),
        "controller": lambda: sa.PID(height, lift, end, target=0.1, kp=50.0, ki=10.0),
        "contact": lambda: sa.Contact(
            beam["z0"], sa.Plane((0, 0, -0.005), normal=(0, 0, 1)), mu=0.3
        ),
        "damping": lambda: sa.KelvinVoigt(beam, eta=0.1),
    }
    common = [sa.fix(beam["x0"]), sa.Potential(spring, tip, end, k=50.0), sa.gravity((0, 0, -9.81))]
    return [beam, ball], [*common, made[kind]()]


KINDS = (
    "support",
    "force",
    "traction",
    "pressure",
    "joint",
    "drive",
    "virtual work",
    "memory",
    "controller",
    "contact",
    "damping",
)


@pytest.mark.parametrize("kind", KINDS)
def test_two_systems_have_terms_and_bodies_in_common(kind: str) -> None:
    """In turns as each alone, to the bit; the second begins at another time and speed."""

    def begun(bodies: list[Any], terms: list[Any], second: bool) -> sa.DynamicProblem:
        system = sa.System(*bodies, terms=terms)
        if second:
            system.time = 0.3
        return sa.DynamicProblem(system, options={"pc_type": "lu"})

    def go(problem: sa.DynamicProblem, turns: int) -> None:
        for _ in range(turns):
            problem.solve(to=problem.system.time + 0.02, step=0.01)

    alone = []
    for second in (False, True):
        problem = begun(*several(kind), second)
        go(problem, 3)
        alone.append(problem)
    bodies, terms = several(kind)
    together = [begun(bodies, terms, second) for second in (False, True)]
    for _ in range(3):
        for problem in together:
            go(problem, 1)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(other.system.state, one.system.state)
    if kind in KINDS[:4]:  # functions of time
        assert np.abs(alone[0].system.state - alone[1].system.state).max() > 1e-6


#: Attributes of a system that hold its present state, and those that are made when first asked for.
PRESENT = {"time", "stiffness", "motion", "forms", "_first_rate", "_pattern"}
LATER = {"matrix", "inertia", "rate", "parameters", "_mass_placed"}
BOOKS = {"_holders", "reviewing"}  # who has local vectors; whether a solution is judged


def resting() -> tuple[sa.System, sa.System]:
    """Return a block that sinks onto a plane, and one that is pressed by another."""
    rubber = {"mu": 1.0, "lam": 2.0, "rho": 1.0}

    def block(name: str, z: float) -> sa.Body:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), warp=lambda X: X + np.array([0.0, 0.0, z]))
        return sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), name=name, **rubber)

    falls, low, top = block("falls", 0.0), block("low", 0.0), block("top", 1.0)
    ground = sa.Contact(falls["z0"], sa.Plane(point=(0, 0, -1e-3), normal=(0, 0, 1)))
    pressed = sa.fix(top["z1"], displacement=lambda t: (0.0, 0.0, -0.01 * t))
    return (
        sa.System(falls, terms=[ground, sa.gravity((0.0, 0.0, -0.1))]),
        sa.System(low, top, terms=[sa.fix(low["z0"]), sa.Contact(low["z1"], top["z0"]), pressed]),
    )


def test_a_solution_changes_the_present_state_of_a_system_alone() -> None:
    falls, pressed = resting()
    runs: list[tuple[sa.System, Callable[[], object]]] = [
        (falls, lambda: sa.DynamicProblem(falls).solve(to=0.2, step=0.05)),
        (pressed, lambda: sa.StaticProblem(pressed).solve(to=1.0, step=0.5)),
    ]
    for system, run in runs:
        before = dict(vars(system))
        run()
        after = vars(system)
        changed = {name for name, value in before.items() if after[name] is not value}
        assert changed <= PRESENT | LATER | BOOKS
        assert set(after) - set(before) <= LATER | BOOKS


def test_states_of_the_same_displacements_share_them() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    pull = sa.fix(body["x1"], displacement=lambda t: (0.1 * t, 0.0, 0.0))
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), pull]))
    before = problem.state.displacement
    assert np.shares_memory(before, problem.state.displacement)
    values = before.copy()
    problem.solve()
    assert not np.shares_memory(before, problem.state.displacement)
    assert not np.shares_memory(problem.system.state, problem.state.displacement)
    assert np.array_equal(before, values)


@pytest.mark.skipif(not map_large_arrays(), reason="not glibc")
def test_large_arrays_give_their_memory_back() -> None:
    """In a process of its own: in another one they may find room that was freed on the heap."""
    script = """
import numpy as np
from symancf.runtime.petsc import LARGE_ARRAY
from symancf.runtime.progress import present_memory

before, array = present_memory(), np.ones(16 * LARGE_ARRAY // 8)
after, size = np.ones(1000), array.nbytes  # behind it on a heap
assert present_memory() - before > 0.9 * size
del array
assert present_memory() - before < 0.1 * size
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("single", [False, True])
def test_cg_has_its_vectors_again_in_each_solution(single: bool) -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 4, 4))
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    pull = sa.fix(body["x1"], displacement=lambda t: (0.1 * t, 0.0, 0.0))
    options = {"pc_type": "grids", "ksp_type": "cg", "ksp_cg_single_reduction": single}
    if not single:
        del options["ksp_cg_single_reduction"]
    problem = sa.StaticProblem(
        sa.System(body, terms=[sa.fix(body["x0"]), pull]), options=options, check_held=False
    )
    problem.solve(to=0.5)
    ksp = problem.snes.getKSP()
    b = ksp.getOperators()[0].createVecLeft()
    b.set(1.0)
    x, again = b.duplicate(), b.duplicate()
    ksp.solve(b, x)
    ksp.solve(b, again)
    assert ksp.getConvergedReason() > 0
    assert (x.array == again.array).all()
    problem.solve(to=1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""What laws remember: closed forms in statics and motions, cut steps, restarts, ranks, messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.linalg as sl
import sympy as sp
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused
from tests.remembering import (
    HARD,
    STEEL,
    YIELD,
    E,
    bar_of_steel,
    friction,
    j2,
    maxwell,
    plate,
    rubbing,
)

COMM = MPI.COMM_WORLD
HEX8, THIN = sa.elements.hex8_plain, sa.elements.ancf_thin_plate
TIGHT = {"snes_rtol": 1e-13}

collective = pytest.mark.collective


def sides(body: sa.Body) -> list[Any]:
    """Supports that let a body stretch and shrink."""
    return [sa.fix(body[f"{axis}0"], axis) for axis in "xyz"]


class Bar:
    """A prism along x, pulled at its end without hindrance across."""

    def __init__(
        self,
        energy: Any,
        end: Any,
        length: float = 1.0,
        turn: Any = None,
        options: dict[str, Any] | None = None,
        comm: MPI.Comm = COMM,
        **given: float,
    ) -> None:
        size = np.array((1.0, 0.1, 0.1)) * length
        mesh = sa.Mesh.box(tuple(size), (3, 1, 1), comm=comm)
        self.body = body = sa.Body(mesh["body"], HEX8, energy, name="bar", **given)
        self.pull = sa.fix(body["x1"], "x", displacement=(end, 0.0, 0.0))
        held = [
            sa.fix(body[side], axis) for side, axis in zip(("x0", "y0", "z0"), "xyz", strict=True)
        ]
        self.system = sa.System(body, terms=[*held, self.pull])
        self.problem = sa.StaticProblem(self.system, options=TIGHT if options is None else options)

    def force(self) -> float:
        return float(self.pull.reaction(self.system).force[0])

    def remembered(self, name: str) -> np.ndarray:
        return self.system.remembered(self.body)[name]


# ---- a spring that slides ------------------------------------------------------------------------
@pytest.mark.parametrize(("unit", "step"), [(1.0, 0.25), (1e3, 0.04)])
def test_a_loop_of_a_sliding_spring_has_its_area(unit: float, step: float) -> None:
    """In m and N, and in mm and N: f (U - f/k), then 2 f (U - f/k) for each half of a loop."""
    k, f, U = 100.0 / unit, 10.0, 0.5 * unit
    node = sa.PlanarBody(position=(0.0, 0.0), name="node")
    path = [0.0, U, -U, U, -U]
    move = sa.fix(node, ["x"], displacement=[lambda t: np.interp(t, range(5), path)])
    spring = sa.Potential(friction, node.at((0, 0)), k=k, f=f)
    guide = sa.Potential(lambda u_a, *, k: k * u_a[1] ** 2 / 2, node.at((0, 0)), k=k, name="guide")
    system = sa.System(node, terms=[move, sa.fix(node, ["theta"]), spring, guide])
    problem = sa.StaticProblem(system)
    seen: list[tuple[float, float]] = []
    problem.monitor(
        lambda _: seen.append(
            (system.displacement(node.at((0, 0)))[0, 0], move.reaction(system).force[0])
        )
    )
    problem.solve(to=4.0, step=step)
    lost = f * (U - f / k) * (1 + 3 * 2)
    found = system.remembered(spring)
    np.testing.assert_allclose(found["dissipated"], lost, rtol=1e-12)
    np.testing.assert_allclose(found["slip"], -(U - f / k), rtol=1e-12)
    assert system.energies()["friction"] == pytest.approx(f**2 / (2 * k), rel=1e-12)
    force = [F for u, F in seen if abs(abs(u) - U) < 1e-12 * U]
    np.testing.assert_allclose(force, [f, -f, f, -f], rtol=1e-12)
    assert spring.values(system)[0] == pytest.approx(f**2 / (2 * k), rel=1e-12)


def test_a_block_slides_as_far_as_its_energy_goes() -> None:
    """M v^2/2 - f^2/2k = f s; then it swings on the spring. Terms of one function share lanes."""

    def run(h: float) -> tuple[np.ndarray, Any]:
        speeds = (2.0, 3.0, 4.0)
        blocks = [
            sa.RigidBody.box((0.1, 0.1, 0.1), rho=1e3, velocity=(v, 0, 0), name=f"block {v}")
            for v in speeds
        ]
        kinds = (sa.Potential, friction), (sa.Potential, friction), (sa.VirtualWork, rubbing)
        springs = [
            kind(law, b.at((0, 0, 0)), k=100.0, f=f)
            for b, f, (kind, law) in zip(blocks, (10.0, 15.0, 20.0), kinds, strict=True)
        ]
        system = sa.System(*blocks, terms=springs)
        problem = sa.DynamicProblem(system, spectral_radius=1.0)
        problem.solve(to=0.5, step=h)
        lost = [float(system.remembered(s)["dissipated"][0]) for s in springs]
        assert problem.energies.dissipated == pytest.approx(sum(lost), rel=1e-12)
        return np.array(lost), problem.energies

    exact = np.array([v**2 / 2 - f**2 / 200 for v, f in ((2, 10), (3, 15), (4, 20))])
    coarse, fine = run(4e-3), run(1e-3)
    assert np.abs(fine[0] - exact).max() < 2e-4
    assert np.abs(coarse[0] - exact).max() < 1e-3
    assert abs(fine[1].drift) < 5e-4


# ---- a Maxwell element ---------------------------------------------------------------------------
def test_relaxation_is_exact_and_a_ramp_has_order_two() -> None:
    """S = E0 e + E1 int exp(-(t - s)/tau) de, with e Green's strain."""
    E0, E1, tau, area = 1e6, 2e6, 0.5, 0.01
    end = sa.Parameter("end", 0.0)
    bar = Bar(maxwell, end, E0=E0, E1=E1, tau=tau)
    bar.problem.solve(to=0.0)
    end.value = 0.2
    bar.problem.solve(to=0.0)  # at once: dt = 0
    strain = 0.2 + 0.2**2 / 2
    assert bar.force() == pytest.approx(area * 1.2 * (E0 + E1) * strain, rel=1e-12)
    bar.problem.solve(to=1.0, step=0.3)
    left = area * 1.2 * (E0 + E1 * np.exp(-1.0 / tau)) * strain
    assert bar.force() == pytest.approx(left, rel=1e-12)
    assert bar.force() == pytest.approx(left, rel=1e-12)  # reading changes nothing

    def rate(t: float) -> float:
        return np.exp(-(1.0 - t) / tau) * (0.2 + 0.04 * t)

    exact = area * 1.2 * (E0 * strain + E1 * si.quad(rate, 0.0, 1.0, epsabs=1e-12)[0])
    errors = []
    for steps in (8, 16):
        bar = Bar(maxwell, lambda t: 0.2 * t, E0=E0, E1=E1, tau=tau)
        bar.problem.solve(to=1.0, step=1.0 / steps)
        errors.append(bar.force() / exact - 1.0)
    assert 3.9 < errors[0] / errors[1] < 4.1


def test_creep_has_order_two() -> None:
    """E = P (1/E0 - (1/E0 - 1/(E0 + E1)) exp(-t E0/(tau (E0 + E1)))) under a force at once."""
    E0, E1, tau, P = 1e6, 2e6, 0.5, 1e-3
    exact = P * (1 / E0 - (1 / E0 - 1 / (E0 + E1)) * np.exp(-E0 / (tau * (E0 + E1))))
    errors = []
    for steps in (8, 16):
        mesh, load = sa.Mesh.box((1.0, 0.1, 0.1), (1, 1, 1)), sa.Parameter("load", 0.0)
        body = sa.Body(mesh["body"], HEX8, maxwell, E0=E0, E1=E1, tau=tau)
        pull = sa.traction(body["x1"], (load, 0.0, 0.0))
        system = sa.System(body, terms=[*sides(body), pull])
        problem = sa.StaticProblem(system, options=TIGHT)
        problem.solve(to=0.0)
        load.value = P
        problem.solve(to=0.0)
        tip = body.at((1.0, 0.0, 0.0))
        assert system.displacement(tip)[0, 0] == pytest.approx(P / (E0 + E1), rel=1e-8)
        problem.solve(to=1.0, step=1.0 / steps)
        errors.append(system.displacement(tip)[0, 0] / exact - 1.0)
    assert 3.9 < errors[0] / errors[1] < 4.1
    assert errors[1] < 1e-4


def test_a_plate_relaxes_as_its_moduli_do() -> None:
    """In tension and in bending, exactly: of the present force exp(-t/tau) E1/(E0 + E1) goes."""
    mesh, end = sa.Mesh.box((1.0, 0.5), (3, 2)), sa.Parameter("end", 0.0)
    given = {"E0": 1e6, "E1": 2e6, "tau": 0.5, "thickness": 0.05}
    body = sa.Body(mesh["body"], THIN, plate, name="plate", **given)
    for dofs, direction in (("x", (end, 0, 0)), ("z", (0, 0, end))):
        end.value = 0.0
        pull = sa.fix(body["x1"], dofs, displacement=direction)
        system = sa.System(body, terms=[sa.fix(body["x0"]), pull])
        problem = sa.StaticProblem(system, options=TIGHT)
        problem.solve(to=0.0)
        end.value = 1e-4  # all of it small, so that displacements stay as they are
        problem.solve(to=0.0)
        axis = "xyz".index(dofs)
        first = pull.reaction(system).force[axis]
        problem.solve(to=1.0, step=0.25)
        left = pull.reaction(system).force[axis]
        assert left / first == pytest.approx((1 + 2 * np.exp(-2.0)) / 3, rel=1e-8)


@collective
def test_a_block_on_a_maxwell_element_swings_with_order_two(shared_tmp_path: Path) -> None:
    """M u'' + E0 u + h = 0, h' = E1 u' - h/tau; with an event, and with a restart between."""
    E0, E1, tau = 100.0, 100.0, 0.5

    def swing(h: float) -> tuple[sa.DynamicProblem, Callable[[], float], Callable[[], float]]:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
        body = sa.Body(mesh["body"], HEX8, maxwell, E0=E0, E1=E1, tau=tau, rho=3.0)
        held = [sa.fix(body["x0"], "x"), sa.fix(body["all"], ["y", "z"])]
        system = sa.System(body, terms=held)
        position = system._discrete.numbering.block("position")
        at = system._discrete.numbering.coordinates_of(position)
        right = system._discrete.points[system._discrete.numbering.carriers(position), 0] > 0.5
        system.rate[at[right, 0]] = 1e-6
        corner = body.at((1.0, 1.0, 1.0))
        return (
            sa.DynamicProblem(system, spectral_radius=1.0),
            lambda: system.displacement(corner)[0, 0],
            lambda: system.velocity(corner)[0, 0],
        )

    A = np.array([[0.0, 1.0, 0.0], [-E0, 0.0, -1.0], [0.0, E1, -1.0 / tau]])
    exact = sl.expm(A) @ [0.0, 1e-6, 0.0]
    errors, drifts = [], []
    for h in (0.01, 0.005):
        problem, u, v = swing(h)
        if h == 0.01:
            problem.solve(to=0.5, step=h)
            problem.save(shared_tmp_path / "half.h5")
        problem.solve(to=1.0, step=h)
        errors.append(np.hypot(u() - exact[0], (v() - exact[1]) / 10.0) / 1e-7)
        drifts.append(problem.energies.drift / problem.energies.dissipated)
        if h == 0.01:
            kept = u(), problem.energies
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert abs(drifts[1]) < 1e-4
    assert 3.5 < drifts[0] / drifts[1] < 4.5
    problem, u, _ = swing(0.01)
    problem.restore(shared_tmp_path / "half.h5")
    problem.solve(to=1.0, step=0.01)
    assert u() == pytest.approx(kept[0], rel=1e-12)
    assert problem.energies.dissipated == pytest.approx(kept[1].dissipated, rel=1e-12)
    problem, u, _ = swing(0.005)
    times = problem.event(u)
    problem.solve(to=1.0, step=0.005)
    assert len(times) == 4
    assert abs(u() - exact[0]) < errors[1] * 1e-7


# ---- plasticity ----------------------------------------------------------------------------------
PATH = ([0.0, 1.0, 2.0, 3.0], [0.0, 0.01, -0.005, 0.012])


@pytest.mark.parametrize(("unit", "limit"), [(1.0, 50), (1e3, 3)])
def test_a_bar_of_steel_yields_unloads_and_yields_again(unit: float, limit: int) -> None:
    """Exactly, in Pa and m, and in MPa and mm with steps that have to be cut."""
    stress = {k: v / unit**2 for k, v in STEEL.items()}
    options = {**TIGHT, "snes_rtol": 1e-10, "snes_max_it": limit}
    bar = Bar(j2, lambda t: unit * np.interp(t, *PATH), unit, options=options, **stress)
    seen: list[tuple[float, float]] = []
    bar.problem.monitor(lambda step: seen.append((step.time, bar.force())))
    history = bar.problem.solve(to=3.0, step=0.25)
    assert (history.cut_backs > 0) is (limit == 3)  # where the load turns round
    stretch = np.array([np.interp(t, *PATH) for t, _ in seen])
    stresses, plastic = bar_of_steel(stretch + stretch**2 / 2)
    force = 0.01 * (1 + stretch) * stresses
    np.testing.assert_allclose([F for _, F in seen], force, rtol=1e-8)
    np.testing.assert_allclose(bar.remembered("a"), plastic, rtol=1e-8)
    volume, measure = 0.01 * unit**3, unit**2
    lost = bar.remembered("dissipated").sum()
    assert lost == pytest.approx(YIELD / measure * plastic * volume, rel=1e-8)
    kept = (stresses[-1] ** 2 / (2 * E) + HARD * plastic**2 / 2) / measure * volume
    assert bar.system.strain_energy() == pytest.approx(kept, rel=1e-8)
    if limit == 50:
        assert max(step.iterations for step in history.steps) <= 6


@collective
def test_what_is_remembered_goes_on_as_displacements_do() -> None:
    """In a second run and a second problem; `forget` is the way back to the beginning."""
    whole = Bar(j2, lambda t: np.interp(t, *PATH), **STEEL)
    whole.problem.solve(to=3.0, step=0.25)
    parts = Bar(j2, lambda t: np.interp(t, *PATH), **STEEL)
    for to in (0.5, 1.75):
        parts.problem.solve(to=to, step=0.25)
    sa.StaticProblem(parts.system, options=TIGHT).solve(to=3.0, step=0.25)
    assert parts.force() == pytest.approx(whole.force(), rel=1e-12)
    parts.system.forget()
    assert not any(v.any() for v in parts.system.remembered(parts.body).values())
    parts.system.state[:], parts.system.time = 0.0, 0.0
    parts.problem.solve(to=3.0, step=0.25)
    assert parts.force() == pytest.approx(whole.force(), rel=1e-12)


class Block:
    """A wavy block of steel with sliding springs inside, bent and twisted."""

    def __init__(
        self, comm: MPI.Comm, turn: Any = None, fail: Callable[[float], None] = id
    ) -> None:
        Q = np.eye(3) if turn is None else turn

        def wavy(X: Any) -> Any:
            return (X + 0.02 * np.sin(9 * X[:, [1, 2, 0]])) @ Q.T

        def moved(t: float) -> Any:
            fail(t)
            return Q @ (0.004 * np.sin(t), 0.003 * np.sin(2 * t), 0.0)

        mesh = sa.Mesh.box((1.0, 0.3, 0.3), (4, 2, 2), warp=wavy, comm=comm)
        self.body = sa.Body(mesh["body"], HEX8, j2, name="block", **STEEL)
        self.pull = sa.fix(self.body["x1"], displacement=moved)
        inside = self.body.at(np.array([(0.5, 0.1, 0.1), (0.7, 0.2, 0.2), (0.2, 0.1, 0.2)]))
        self.slides = sa.Potential(friction, inside, k=[1e8, 2e8, 1e8], f=1e4)
        terms = [sa.fix(self.body["x0"]), self.pull] + ([self.slides] if turn is None else [])
        self.system = sa.System(self.body, terms=terms)
        self.problem = sa.StaticProblem(self.system)

    def results(self) -> list[np.ndarray]:
        found = self.system.remembered(self.body)
        return [self.pull.reaction(self.system).force, found["a"], found["dissipated"].sum(axis=1)]


@collective
def test_ranks_and_restarts_between_give_the_same_digits(shared_tmp_path: Path) -> None:
    """One rank and all of them; a checkpoint of all read by one, and of one by all."""
    one, every = Block(MPI.COMM_SELF), Block(COMM)
    for block in (one, every):
        block.problem.solve(to=1.0, step=0.25)
    every.problem.save(shared_tmp_path / "every.h5")
    if COMM.rank == 0:
        one.problem.save(shared_tmp_path / "one.h5")
    COMM.barrier()
    for block in (one, every):
        block.problem.solve(to=2.5, step=0.25)
    size = [np.abs(r).max() for r in one.results()]
    slid = one.system.remembered(one.slides)["slip"]
    assert np.abs(slid).min() > 0.0
    again = [Block(MPI.COMM_SELF), Block(COMM)]
    for block, name in zip(again, ("every", "one"), strict=True):
        block.problem.restore(shared_tmp_path / f"{name}.h5")
        block.problem.solve(to=2.5, step=0.25)
    for block, limit in ((every, 1e-11), (again[0], 1e-11), (again[1], 1e-11)):
        for found, exact, s in zip(block.results(), one.results(), size, strict=True):
            assert np.abs(found - exact).max() < limit * s
        np.testing.assert_allclose(block.system.remembered(block.slides)["slip"], slid, rtol=1e-11)
    other = Bar(j2, 0.0, **STEEL, comm=COMM)
    memory = "memory of 'block': Ep11"
    with refused(
        sa.CheckpointError,
        asked="system",
        path=str(shared_tmp_path / "every.h5"),
        differences=lambda found: any(one.startswith(memory) for one in found),
    ):
        other.problem.restore(shared_tmp_path / "every.h5")


@collective
def test_a_failure_on_one_rank_leaves_the_last_step() -> None:
    plain = Block(COMM)
    plain.problem.solve(to=1.5, step=0.25)

    def fail(t: float) -> None:
        if t > 1.1 and armed and COMM.rank == COMM.size - 1:
            raise ValueError("as asked")

    armed = True
    block = Block(COMM, fail=fail)
    with refused(sa.ParameterError, asked="displacement", given="ValueError('as asked')"):
        block.problem.solve(to=1.5, step=0.25)
    assert block.system.time == 1.0
    armed = False
    block.problem.solve(to=1.5, step=0.25)
    for found, exact in zip(block.results(), plain.results(), strict=True):
        assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()


class Road:
    """A block that stretches, u_x = 0.1 t X; springs that slide at places that go to and fro."""

    def __init__(self, comm: MPI.Comm) -> None:
        mesh = sa.Mesh.box((1.0, 0.2, 0.2), (12, 2, 2), comm=comm)
        energy = sa.energies.saint_venant_kirchhoff()
        self.body = sa.Body(mesh["body"], HEX8, energy, name="road", E=1e6, nu=0.3)
        stretch = sa.fix(self.body["all"], "x", displacement=lambda X, t: 0.1 * t * X)
        places = self.body.at(lambda t: [(x, 0.1, 0.1) for x in self.places(t)])
        self.springs = sa.Potential(friction, places, k=[100.0, 200.0], f=1.0, name="springs")
        terms = [stretch, sa.fix(self.body["y0"], "y"), sa.fix(self.body["z0"], "z")]
        self.system = sa.System(self.body, terms=[*terms, self.springs])
        self.problem = sa.StaticProblem(self.system)

    @staticmethod
    def places(t: float) -> tuple[float, float]:
        return 0.5 + 0.4 * np.sin(2.2 * t), 0.5 - 0.45 * np.sin(1.7 * t)

    @classmethod
    def exact(cls, to: float, step: float) -> np.ndarray:
        slip, k = np.zeros(2), np.array([100.0, 200.0])
        for t in np.arange(1, round(to / step) + 1) * step:
            trial = k * (0.1 * t * np.array(cls.places(t)) - slip)
            slip += np.maximum(np.abs(trial) - 1.0, 0.0) * np.sign(trial) / k
        return slip


@collective
def test_what_a_place_remembers_moves_with_it(shared_tmp_path: Path) -> None:
    """Over cells of other ranks and back, in a checkpoint between, too."""
    one, every = Road(MPI.COMM_SELF), Road(COMM)
    for road in (one, every):
        road.problem.solve(to=1.0, step=0.1)
    slip = Road.exact(1.0, 0.1)
    assert np.abs(slip).min() > 0.003
    every.problem.save(shared_tmp_path / "every.h5")
    again = Road(MPI.COMM_SELF)
    again.problem.restore(shared_tmp_path / "every.h5")
    for road in (one, every, again):
        found = road.system.remembered(road.springs)["slip"]
        np.testing.assert_allclose(found, slip, rtol=1e-12)
        road.problem.solve(to=2.5, step=0.1)
        found = road.system.remembered(road.springs)["slip"]
        np.testing.assert_allclose(found, Road.exact(2.5, 0.1), rtol=1e-12)


def test_a_turned_frame_turns_forces_and_nothing_else() -> None:
    turn = sl.expm(np.cross(np.eye(3), [0.4, -0.9, 0.7]))
    plain, turned = Block(COMM, np.eye(3)), Block(COMM, turn)
    for block in (plain, turned):
        block.problem.solve(to=1.5, step=0.5)
    (F, *rest), (G, *others) = plain.results(), turned.results()
    np.testing.assert_allclose(G, turn @ F, atol=1e-8 * np.abs(F).max())
    for found, exact in zip(others, rest, strict=True):
        assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()


@collective
def test_a_path_by_arc_length_remembers_too() -> None:
    load = sa.Parameter("load", 2.6e8)
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (2, 1, 1))
    body = sa.Body(mesh["body"], HEX8, j2, **STEEL)
    system = sa.System(body, terms=[*sides(body), sa.traction(body["x1"], (load, 0, 0))])
    problem = sa.StaticProblem(system)
    problem.solve(to=0.0)
    problem.follow(load, to=3e8, step=1e7)
    tip = system.displacement(body.at((1, 0, 0)))[0, 0]
    (stress,), plastic = bar_of_steel([tip + tip**2 / 2])
    assert stress * (1 + tip) == pytest.approx(3e8, rel=1e-9)
    np.testing.assert_allclose(system.remembered(body)["a"], plastic, rtol=1e-9)
    load.value = 0.0
    problem.solve(to=0.0)
    tip = system.displacement(body.at((1, 0, 0)))[0, 0]
    assert tip + tip**2 / 2 == pytest.approx(plastic, rel=1e-9)


def test_a_load_that_is_there_at_once_yields_as_one_that_grows() -> None:
    """Where steps are cut the path is not lost for the stiffness that falls at once."""
    mesh, found = sa.Mesh.box((1.0, 0.1, 0.1), (2, 1, 1)), []
    for loads in ([3e8], np.linspace(0.0, 3e8, 13)):
        load = sa.Parameter("load", 0.0)
        body = sa.Body(mesh["body"], HEX8, j2, **STEEL)
        terms = [*sides(body), sa.traction(body["x1"], (load, 0, 0))]
        system = sa.System(body, terms=terms)
        problem = sa.StaticProblem(system, options={"snes_max_it": 3})
        for load.value in map(float, loads):
            problem.solve(to=0.0)
        found.append((system.displacement(body.at((1, 0, 0)))[0, 0], problem.history.cut_backs))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9)
    assert found[1][1] > 0


# ---- declarations --------------------------------------------------------------------------------
def test_initial_values_are_expressions_and_matrices_need_not_be_symmetric() -> None:
    """An anchor at the reference position; a matrix of which all entries are kept."""

    @sa.memory(anchor=lambda X_a: X_a, turned=sp.eye(3), count=lambda *, first: 2 * first)
    def drag(
        r_a: Any, X_a: Any, *, anchor: Any, turned: Any, count: Any, k: Any, first: Any
    ) -> Any:
        W = k / 2 * (r_a - anchor).dot(r_a - anchor) + first * 0
        skew = sp.Matrix([[1, r_a[0], 0], [0, 1, 0], [0, 0, 1]])
        return sa.remember(
            W, anchor=(anchor + r_a) / 2, turned=skew * turned, count=count + 1, stored=W
        )

    ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(3.0, 2.0, 1.0), rho=1e3, name="ball")
    term = sa.Potential(drag, ball.at((0, 0, 0)), k=10.0, first=1.5)
    spin = sa.Potential(lambda e1_a: (e1_a - sp.Matrix([1, 0, 0])).norm() ** 2, ball.at((0, 0, 0)))
    turn = sa.Potential(lambda e2_a: (e2_a - sp.Matrix([0, 1, 0])).norm() ** 2, ball.at((0, 0, 0)))
    system = sa.System(
        ball, terms=[term, spin, turn, sa.force(ball.at((0, 0, 0)), lambda t: (t, 0, 0))]
    )
    problem = sa.StaticProblem(system)
    found = problem.system.remembered(term)
    problem.solve(to=2.0, step=1.0)
    found = system.remembered(term)
    # k (x - anchor) = t, the anchor follows by a half of it
    x1 = 3.0 + 0.1
    x2 = (3.0 + x1) / 2 + 0.2
    np.testing.assert_allclose(found["anchor1"], ((3.0 + x1) / 2 + x2) / 2, rtol=1e-12)
    np.testing.assert_allclose(found["anchor2"], 2.0, rtol=1e-12)
    np.testing.assert_allclose(found["turned12"], x1 + x2, rtol=1e-12)
    np.testing.assert_allclose(found["turned21"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["count"], 5.0)


def test_what_makes_no_sense_is_refused() -> None:
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (1, 1, 1))

    def plain(E_gl: Any, *, a: Any, E: Any) -> Any:
        return E * E_gl.trace() ** 2

    def body(energy: Any) -> sa.Body:
        return sa.Body(mesh["body"], HEX8, energy, E=1.0)

    def shape(E_gl: Any, *, a: Any, E: Any) -> Any:
        return sa.remember(E * E_gl.trace() ** 2, a=E_gl, stored=0)

    def named(E_gl: Any, *, I1: Any, E: Any) -> Any:
        return sa.remember(E * E_gl.trace() ** 2, I1=I1, stored=0)

    def parts(E_gl: Any, *, a: Any, E: Any) -> Any:
        W = E * E_gl.trace() ** 2
        return sa.remember({"deviatoric": W * (1 + a), "volumetric": W}, a=a, stored=W)

    cases: list[tuple[Any, dict[str, Any]]] = [
        (sa.memory(a=0)(plain), {"asked": "remember", "given": "Mul", "possible": ("a",)}),
        (sa.memory(a=0)(shape), {"asked": "a", "given": (3, 3), "possible": ((),)}),
    ]
    for energy, data in cases:
        with refused(sa.KinematicsError, **data):
            body(energy)
    with refused(sa.ParameterError, asked="I1", given=HEX8.name):
        body(sa.memory(I1=0)(named))
    with refused(sa.KinematicsError, asked="quadrature", given=("2x2x2", "1x1x1")):
        sa.Body(mesh["body"], HEX8, sa.memory(a=0)(parts), E=1.0, volumetric="reduced")
    with refused(sa.KinematicsError, asked="quadrature", given=("2x2x2", "1x1x1")):
        sa.Body(mesh["body"], HEX8, sa.memory(a=0)(parts), E=1.0, volumetric="split")

    def own(E_gl: Any, *, a: Any, dissipated: Any, E: Any) -> Any:
        W = E * E_gl.trace() ** 2 + (dissipated - a) ** 2
        return sa.remember(W, a=a, stored=W)

    with refused(sa.KinematicsError, asked="dissipated"):
        sa.Body(mesh["body"], HEX8, sa.memory(a=0)(own), E=1.0, dissipated=1.0)
    with refused(sa.KinematicsError, asked="dissipated"):
        body(sa.memory(a=0)(sa.local(dissipated=0)(own)))
    with refused(sa.KinematicsError, asked="dt", given=0):
        sa.memory(dt=0)
    with refused(sa.KinematicsError, asked="b", possible=("a", "E")):
        sa.memory(b=0)(plain)
    load = sa.Parameter("load", 0.0)
    bar = Bar(maxwell, load, E0=1.0, E1=1.0, tau=1.0)
    bar.problem.solve(to=0.5)
    with refused(sa.ParameterError, asked="to", given=0.2, possible=(0.5,)):
        bar.problem.solve(to=0.2)
    with refused(sa.ParameterError, asked="dt", given="bar"):
        bar.problem.follow(load, to=0.1, step=0.1)
    ball = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1e3)
    spring = sa.Potential(friction, ball.at((0, 0, 0)), k=1.0, f=1.0)
    problem = sa.DynamicProblem(sa.System(ball, terms=[spring]), method="rk")
    with refused(sa.ParameterError, asked="method", given="rk", possible=("generalized-alpha",)):
        problem.solve(to=1.0, step=0.1)

    def held(u_a: Any, *, a: Any) -> Any:
        return sa.remember(u_a[0] - a, a=a, stored=0)

    with refused(sa.KinematicsError, asked="a", given=("a",)):
        sa.Constraint(sa.memory(a=0)(held), ball.at((0, 0, 0)))

# SPDX-License-Identifier: BSD-3-Clause
"""Work and dissipation of all kinds of terms, by quadrature of their powers; see docs/audit.md."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import simpson

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from tests.remembering import maxwell

HEX8 = sa.elements.hex8_plain
CORNER = (1.0, 1.0, 1.0)
SVK = {"E": 10.0, "nu": 0.3, "rho": 1.0}
FAR = sp.Matrix([2, 0, 2])


def cube(energy: Any = saint_venant_kirchhoff(), **given: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    return sa.Body(mesh["body"], HEX8, energy, name="cube", **(given or SVK))


def sides(body: sa.Body) -> list[Any]:
    """Supports that let a body stretch: its deformation is homogeneous."""
    return [sa.fix(body[f"{axis}0"], axis) for axis in "xyz"]


class Model(NamedTuple):
    """A system, its powers (of work, of dissipation), options of the problem."""

    system: sa.System
    powers: Callable[[float], tuple[float, float]]
    options: dict[str, Any] = {}  # noqa: RUF012


def stretches(system: sa.System, body: sa.Body) -> tuple[Any, Any]:
    """Return the stretches of a cube along the axes, and their rates."""
    corner = body.at(CORNER)
    return system.position(corner)[0], system.velocity(corner)[0]


def stretching(body: sa.Body, *terms: Any, power: Callable[..., Any], **options: Any) -> Model:
    """Return the model of a cube between its supports; `power` is a function of stretches."""
    system = sa.System(body, terms=[*sides(body), *terms])
    return Model(system, lambda t: power(t, *stretches(system, body)), options)


def weight(z: float = -2.0) -> Any:
    return sa.gravity((0.0, 0.0, z))


# ---- laws ----------------------------------------------------------------------------------------
def muscle(C: Any, J: Any, t: Any, *, mu: Any, k: Any) -> Any:
    """A solid whose length at rest along x changes."""
    rest = 1 + sp.sin(3 * t) / 10
    I1 = C[0, 0] / rest**2 + rest * (C[1, 1] + C[2, 2])
    return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + k / 2 * (J - 1) ** 2


def law_of_time() -> Model:
    x, t = sp.symbols("x:3"), sp.Symbol("t")
    W = muscle(sp.diag(*(s**2 for s in x)), sp.prod(x), t, mu=4, k=10)
    by_time = sp.lambdify((t, *x), sp.diff(W, t))
    body = cube(muscle, mu=4.0, k=10.0, rho=1.0)
    return stretching(body, power=lambda t, x, v: (by_time(t, *x), 0.0))


def modulus_of_time() -> Model:
    def power(t: float, x: Any, v: Any) -> tuple[float, float]:
        e, nu = 0.5 * (x**2 - 1.0), 0.3
        W = 0.5 / (1 + nu) * (e @ e + nu / (1 - 2 * nu) * e.sum() ** 2)
        return 20.0 * np.cos(4 * t) * W, 0.0

    body = cube(E=lambda t: 10 + 5 * np.sin(4 * t), nu=0.3, rho=1.0)
    return stretching(body, weight(), power=power)


def memory_of_time() -> Model:
    """A Maxwell element beside a spring whose modulus changes."""
    body = cube(maxwell, E0=lambda t: 10 + 4 * np.sin(4 * t), E1=5.0, tau=0.3, rho=1.0)
    model = stretching(body, weight(), power=lambda *_: (0.0, 0.0))

    def powers(t: float) -> tuple[float, float]:
        e = 0.5 * (stretches(model.system, body)[0] ** 2 - 1.0)
        kept = model.system.remembered(body)
        h = np.array([kept[f"h{k}{k}"].mean() for k in (1, 2, 3)])
        return 8.0 * np.cos(4 * t) * e @ e, h @ h / (5.0 * 0.3)

    return model._replace(powers=powers)


def density_of_time() -> Model:
    """Mass comes with the velocity of the body, to where it is in the reference."""

    def power(t: float, x: Any, v: Any) -> tuple[float, float]:
        rho, rate = 1 + 0.3 * np.sin(3 * t), 0.9 * np.cos(3 * t)
        return rate * (v @ v) / 6.0 - rho * v[2], 0.0

    body = cube(E=10.0, nu=0.3, rho=lambda t: 1 + 0.3 * np.sin(3 * t))
    return stretching(body, weight(), power=power)


# ---- loads ---------------------------------------------------------------------------------------
def clamped(load: Callable[[sa.Body], Any], power: Callable[..., float]) -> Model:
    """Return the model of a clamped cube with a load; `power` is a function of its corner."""
    body = cube()
    system = sa.System(body, terms=[sa.fix(body["x0"]), load(body)])
    return Model(system, lambda t: (power(t, *stretches(system, body)), 0.0))


def tendon(r_a: Any, *, T: Any) -> Any:
    return T * (r_a - FAR).norm()


def pull(r: Any, v: Any) -> float:
    """Return the rate of the length of the tendon."""
    gap = r - np.array([2.0, 0.0, 2.0])
    return float(gap @ v / np.linalg.norm(gap))


def tension(t: float) -> float:
    return float(np.sin(3 * t) + 0.5)


def potential_of_time() -> Model:
    def load(body: sa.Body) -> Any:
        return sa.Potential(tendon, body.at(CORNER), T=tension)

    return clamped(load, lambda t, r, v: -tension(t) * pull(r, v))


def potential_that_is_set() -> Model:
    def load(body: sa.Body) -> Any:
        return sa.Potential(tendon, body.at(CORNER), T=sa.Parameter("T", 0.7))

    return clamped(load, lambda t, r, v: -0.7 * pull(r, v))


def follower() -> Model:
    """A force across the line to the origin: it has no potential."""

    def across(r_a: Any, v_a: Any, *, f: Any) -> Any:
        return {v_a: f / 5 * r_a.cross(sp.Matrix([0, 0, 1]))}

    def load(body: sa.Body) -> Any:
        return sa.VirtualWork(across, body.at(CORNER), f=tension)

    return clamped(load, lambda t, r, v: tension(t) / 5 * (r[1] * v[0] - r[0] * v[1]))


def dead_force() -> Model:
    def load(body: sa.Body) -> Any:
        return sa.force(body.at(CORNER), (0.1, tension, lambda t: 0.3 * t))

    return clamped(load, lambda t, r, v: 0.1 * v[0] + tension(t) * v[1] + 0.3 * t * v[2])


def force_that_travels() -> Model:
    """Along an edge, on which velocities are those of the corner in proportion."""

    def load(body: sa.Body) -> Any:
        return sa.force(body.at(lambda t: (0.3 + t, 1.0, 1.0)), (0.0, 0.2, tension))

    return clamped(load, lambda t, r, v: (0.3 + t) * (0.2 * v[1] + tension(t) * v[2]))


def gravity_of_time() -> Model:
    load = sa.gravity((0.0, lambda t: np.cos(3 * t), 0.0))
    return stretching(cube(), load, power=lambda t, x, v: (0.5 * np.cos(3 * t) * v[1], 0.0))


def traction_of_time() -> Model:
    body = cube()
    load = sa.traction(body["x1"], lambda X, t: tension(t) * np.array([1.0, 0.0, 0.0]) + 0 * X)
    return stretching(body, load, power=lambda t, x, v: (tension(t) * v[0], 0.0))


def body_force_of_time() -> Model:
    body = cube()
    load = sa.body_force(body["body"], lambda X, t: np.sin(4 * t) * X * [0.0, 0.0, 1.0])
    return stretching(body, load, power=lambda t, x, v: (np.sin(4 * t) * v[2] / 3.0, 0.0))


def pressure_of_time() -> Model:
    body = cube()
    load = sa.pressure(body["x1"], tension)
    return stretching(body, load, power=lambda t, x, v: (-tension(t) * x[1] * x[2] * v[0], 0.0))


def controller() -> Model:
    body = cube()
    given = {"target": lambda t: 1 + 0.2 * np.sin(3 * t), "kp": 4.0, "ki": 5.0, "kd": 0.5}
    pid = sa.PID(lambda r_a: r_a[2], lambda v_a: v_a[2], body.at(CORNER), **given)
    system = sa.System(body, terms=[sa.fix(body["x0"]), pid])

    def powers(t: float) -> tuple[float, float]:
        r, v = stretches(system, body)
        gap, closing = 1 + 0.2 * np.sin(3 * t) - r[2], 0.6 * np.cos(3 * t) - v[2]
        return (4.0 * gap + 5.0 * pid.own_states(system)[0, 0] + 0.5 * closing) * v[2], 0.0

    return Model(system, powers)


# ---- supports, joints, contact -------------------------------------------------------------------
def support_of_time() -> Model:
    body = cube()
    support = sa.fix(body["x0"], displacement=(0.0, lambda t: 0.1 * np.sin(3 * t) ** 2, 0.0))
    system = sa.System(body, terms=[support])
    return Model(system, lambda t: (0.3 * np.sin(6 * t) * support.reaction(system).force[1], 0.0))


def turned(t: float) -> float:
    return float(np.sin(2.0 * t))


def joint_of_time(**options: Any) -> Model:
    """A motor lifts and turns a box about its edge: power of the torque, of Newton's law."""
    box = sa.RigidBody.box((0.4, 0.3, 0.2), position=(0.0, 0.0, 0.0), rho=50.0, name="box")
    hinge = box.at((-0.2, 0.0, 0.0))
    motor = sa.joints.rotation(hinge, axis=(0, 0, 1), angle=turned)
    terms = [sa.joints.revolute(hinge, axis=(0, 0, 1)), motor, sa.gravity((0.0, -3.0, 0.0))]
    system = sa.System(box, terms=terms)
    m = 50.0 * 0.4 * 0.3 * 0.2
    J = m * (0.4**2 + 0.3**2) / 12.0 + m * 0.2**2

    def powers(t: float) -> tuple[float, float]:
        rate, bend = 2.0 * np.cos(2 * t), -4.0 * turned(t)
        return (J * bend + m * 3.0 * 0.2 * np.cos(turned(t))) * rate, 0.0

    return Model(system, powers, options)


def cubic(g: Any, *, s: Any) -> Any:
    return s / 3 * sp.Max(-g, 0) ** 3


def contact_that_moves() -> Model:
    """A plane with a law of the gap that presses the face of a cube."""
    body = cube()
    plane = sa.Plane(
        point=(1.05, 0, 0),
        normal=(-1, 0, 0),
        displacement=lambda t: (-0.2 * np.sin(3 * t) ** 2, 0.0, 0.0),
    )
    contact = sa.Contact(body["x1"], plane, law=cubic, s=lambda t: 2e3 * (1 + t), damping=0.0)

    def power(t: float, x: Any, v: Any) -> tuple[float, float]:
        g = max(x[0] - 1.05 + 0.2 * np.sin(3 * t) ** 2, 0.0)
        area = 1.0  # of the reference
        return area * (2e3 / 3.0 * g**3 + 2e3 * (1 + t) * g**2 * 0.6 * np.sin(6 * t)), 0.0

    return stretching(body, contact, power=power)


# ---- dampers -------------------------------------------------------------------------------------
def viscous() -> Model:
    def power(t: float, x: Any, v: Any) -> tuple[float, float]:
        rate = x * v
        rate = rate - rate.mean()
        return 0.0, 2.0 * 0.3 * rate @ rate

    body = cube()
    return stretching(body, sa.KelvinVoigt(body, eta=0.3), weight(), power=power)


def of_the_mass() -> Model:
    def power(t: float, x: Any, v: Any) -> tuple[float, float]:
        return 0.0, 0.5 * (v @ v) / 3.0

    return stretching(cube(), weight(), power=power, damping=sa.Rayleigh(mass=0.5))


def dashpot() -> Model:
    body = cube()

    def law(v_a: Any, *, c: Any) -> Any:
        return {v_a: -c * v_a}

    damper = sa.VirtualWork(law, body.at(CORNER), c=lambda t: 0.3 + t, dissipation=True)
    system = sa.System(body, terms=[sa.fix(body["x0"]), damper, weight()])

    def powers(t: float) -> tuple[float, float]:
        v = stretches(system, body)[1]
        return 0.0, (0.3 + t) * (v @ v)

    return Model(system, powers)


KINDS = [
    law_of_time,
    modulus_of_time,
    memory_of_time,
    density_of_time,
    potential_of_time,
    potential_that_is_set,
    follower,
    dead_force,
    gravity_of_time,
    traction_of_time,
    body_force_of_time,
    pressure_of_time,
    controller,
    support_of_time,
    joint_of_time,
    contact_that_moves,
    viscous,
    of_the_mass,
    dashpot,
]
STEP, END = 0.04, 0.56


def motion(kind: Callable[[], Model], h: float, **options: Any) -> tuple[Any, Any]:
    """Return the energies of a motion, and the integrals of powers by Simpson's rule."""
    model = kind()
    problem = sa.DynamicProblem(model.system, **model.options, **options)
    problem.record("powers", lambda: model.powers(model.system.time))
    how = {} if "method" not in options else {"adaptive": False}
    history = problem.solve(to=END, step=h, **how)
    return problem.energies, simpson(history["powers"], x=history.time, axis=0)


def changed_each_step(h: float) -> sa.DynamicProblem:
    """A monitor sets what a tendon pulls with, and a modulus."""
    T, E = sa.Parameter("T", 0.5), sa.Parameter("E", 10.0)
    body = cube(E=E, nu=0.3, rho=1.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.Potential(tendon, body.at(CORNER), T=T)])
    problem = sa.DynamicProblem(system)

    def choose(step: Any) -> None:
        T.value = tension(step.time)
        E.value = 10.0 + 4.0 * np.sin(5 * step.time)

    problem.monitor(choose)
    problem.solve(to=END, step=h)
    return problem


@pytest.mark.parametrize("kind", KINDS)
def test_work_of_each_kind_is_that_of_its_power(kind: Callable[[], Model]) -> None:
    runs = [motion(kind, STEP / k) for k in (1, 2, 4)]
    drift = [abs(e.drift) for e, _ in runs]
    errors = [max(abs(e.work - w), abs(e.dissipated - d)) for e, (w, d) in runs]
    size = max(abs(runs[-1][0].work), runs[-1][0].dissipated)
    assert errors[-1] < 1e-3 * size
    assert min(np.divide(drift[:-1], drift[1:])) > 3.0
    assert errors[0] < 1e-3 * size or errors[1] > 3.0 * errors[2]


@pytest.mark.parametrize("kind", [law_of_time, density_of_time, viscous, joint_of_time])
def test_order_of_explicit_methods(kind: Callable[[], Model]) -> None:
    """Dormand and Prince: order 5, of work, dissipation and drift, too."""
    coarse, fine = (motion(kind, STEP / k, method="rk")[0] for k in (1, 2))
    size = max(abs(fine.work), fine.dissipated)
    assert abs(coarse.drift) < 1e-4 * size
    assert abs(coarse.drift) > 20.0 * abs(fine.drift)


def test_work_within_steps_at_a_place_that_travels() -> None:
    e, (work, _) = motion(force_that_travels, STEP, method="rk")
    assert e.work == pytest.approx(work, rel=5e-4)  # of Simpson's rule
    assert abs(e.drift) < 1e-5 * e.work


def test_work_with_steps_that_follow_the_error() -> None:
    found = []
    for method in ("rk", "adams"):
        problem = sa.DynamicProblem(potential_of_time().system, method=method)
        problem.solve(to=END, step=STEP, rtol=1e-8)
        found.append(problem.energies)
        assert abs(found[-1].drift) < 1e-6 * found[-1].work
    assert found[0].work == pytest.approx(found[1].work, rel=1e-6)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_work_goes_on_from_a_checkpoint(tmp_path: Path, method: str) -> None:
    def made() -> sa.DynamicProblem:
        return sa.DynamicProblem(density_of_time().system, method=method)

    whole, rest, path = made(), made(), tmp_path / "half.h5"
    whole.solve(to=0.2, step=STEP)
    whole.save(path)
    whole.solve(to=0.4, step=STEP)
    rest.restore(path)
    rest.solve(to=0.4, step=STEP)
    assert rest.energies == whole.energies


@pytest.mark.parametrize("kind", [law_of_time, potential_of_time, dashpot, support_of_time])
def test_steps_made_in_c_add_up_the_same_work(kind: Callable[[], Model]) -> None:
    def energies(seen: bool) -> Any:
        model = kind()
        problem = sa.DynamicProblem(model.system, **model.options)
        if seen:
            problem.monitor(lambda step: None)
        problem.solve(to=END, step=STEP)
        assert problem.native
        return problem.energies

    a, b = energies(True), energies(False)
    assert (a.work, a.dissipated) == pytest.approx((b.work, b.dissipated), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_what_is_set_between_two_calls_is_work_of_materials_alone(method: str) -> None:
    """A modulus that jumps adds W(2 E) - W(E); a tendon does T (L_0 - L_1) in each call."""
    T, E = sa.Parameter("T", 0.0), sa.Parameter("E", 10.0)
    body = cube(E=E, nu=0.3, rho=1.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.Potential(tendon, body.at(CORNER), T=T)])
    problem, corner = sa.DynamicProblem(system, method=method), body.at(CORNER)
    T.value, work, problem_length = 0.7, 0.0, np.linalg.norm([1.0, 1.0, 1.0])
    for k in range(3):
        jump = system.strain_energy() if k else 0.0
        E.value, T.value = 10.0 * 2.0**k, 0.7 - 0.1 * k
        work += k and system.strain_energy() - jump
        problem.solve(to=0.2 * (k + 1), step=STEP)
        length = np.linalg.norm(system.position(corner)[0] - [2.0, 0.0, 2.0])
        work += T.value * (problem_length - length)
        problem_length = length
        assert problem.energies.work == pytest.approx(work, rel=1e-10)
    assert problem.energies.potential == 0.0


def test_work_of_a_tendon_in_a_stiff_rod() -> None:
    """Steps that do not resolve how the rod stretches, damped most: rates there are wrong."""
    section, length = sa.Section.circle(6e-3), 0.2
    mesh = sa.Mesh.box((length,), (4,), cell="line3")
    given = section.rod(E=1e6, nu=0.49, rho=1070.0)
    upright = {"direction": lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1))}
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **upright, **given)
    force = sa.Parameter("T", 0.0)

    def cable(r_a: Any, e2_a: Any, r_b: Any, e2_b: Any, *, T: Any) -> Any:
        return T * ((r_b + 5e-3 * e2_b) - (r_a + 5e-3 * e2_a)).norm()

    ends = rod.at((0.0, 0.0, 0.0)), rod.at((length, 0.0, 0.0))
    run = sa.Potential(cable, *ends, T=force)
    follows = sa.Potential(cable, *ends, T=lambda t: 0.1)
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), run, follows])
    problem = sa.DynamicProblem(system, spectral_radius=0.0)
    force.value = 0.3
    problem.solve(to=0.1, step=5e-3)
    gap = run.values(system)[0] / 0.3
    assert gap < 0.196
    assert problem.energies.work == pytest.approx(0.4 * (length - gap), rel=1e-2)
    assert problem.energies.drift < 0.0


def test_what_a_monitor_sets_keeps_the_order_of_the_audit() -> None:
    drift = [abs(changed_each_step(STEP / k).energies.drift) for k in (1, 2, 4)]
    assert drift[1] > 3.0 * drift[2]
    assert drift[2] < 2e-3


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_energies_read_by_a_monitor_change_nothing(method: str) -> None:
    """The values of kernels were taken for those of the step before."""

    def moved(reads: bool) -> tuple[sa.Energies, list[tuple[float, float]]]:
        E, seen = sa.Parameter("E", 10.0), []
        body = cube(E=E, nu=0.3, rho=1.0)
        system = sa.System(body, terms=[*sides(body), weight()])
        problem = sa.DynamicProblem(system, method=method)

        def choose(step: Any) -> None:
            E.value = 14.0 if step.time > END / 2 else 10.0
            if reads:
                seen.append((problem.energies.strain, system.strain_energy()))

        problem.monitor(choose)
        problem.solve(to=END, step=STEP, **({"adaptive": False} if method == "rk" else {}))
        return problem.energies, seen

    unread, (read, seen) = moved(False)[0], moved(True)
    assert read == unread
    assert read.work > 1e-2
    assert np.array(seen)[:, 0] == pytest.approx(np.array(seen)[:, 1], rel=1e-12)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_energies_have_what_a_monitor_set_at_the_end(method: str) -> None:
    E = sa.Parameter("E", 10.0)
    body = cube(E=E, nu=0.3, rho=1.0)
    system = sa.System(body, terms=[*sides(body), weight()])
    problem = sa.DynamicProblem(system, method=method)
    problem.monitor(lambda step: setattr(E, "value", 30.0 if step.time >= 0.4 else 10.0))
    problem.solve(to=0.4, step=STEP)
    found = problem.energies
    assert found.strain == pytest.approx(system.strain_energy(), rel=1e-12)
    assert found.work == pytest.approx(2 / 3 * found.strain, rel=1e-12)
    problem.solve(to=0.5, step=STEP)
    assert problem.energies.work == pytest.approx(found.work, rel=1e-12)


def test_a_restart_goes_on_between_two_values_that_a_monitor_set(tmp_path: Path) -> None:
    """The step after it goes from the forces of one to those of the other."""

    def moved(path: Path, stop: float = -1.0) -> sa.Energies:
        E = sa.Parameter("E", 10.0)
        body = cube(E=E, nu=0.3, rho=1.0)
        system = sa.System(body, terms=[*sides(body), weight()])
        problem = sa.DynamicProblem(system)

        def choose(step: Any) -> None:
            E.value = 10.0 + 4.0 * np.sin(5 * step.time)
            if step.time == stop:
                signal.raise_signal(signal.SIGINT)

        problem.monitor(choose)
        problem.record("t", lambda: system.time)
        problem.solve(to=0.4, step=STEP, checkpoint=sa.Restart(path, every=1))
        return problem.energies

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            moved(tmp_path / "a.h5", 4 * STEP)
        assert moved(tmp_path / "a.h5") == moved(tmp_path / "b.h5")
    finally:
        signal.signal(signal.SIGINT, before)


def test_gas_that_is_pumped_does_the_work_of_its_pressure() -> None:
    from tests.unit.test_cavity import hollow_block

    body = sa.Body(
        hollow_block()["body"], HEX8, sa.energies.neo_hooke(), mu=10.0, lam=20.0, rho=1.0
    )
    gas = sa.Gas(lambda t: 1.0 + 5.0 * np.sin(3 * t), ambient=1.0)
    cavity = sa.Cavity(body["inside"], gas=gas)
    system = sa.System(body, terms=[cavity])
    problem = sa.DynamicProblem(system)
    problem.record("V", lambda: cavity.volume(system))
    problem.record("p", lambda: cavity.pressure(system))
    history = problem.solve(to=END, step=STEP / 2)
    work = float(0.5 * (history["p"][1:] + history["p"][:-1]) @ np.diff(history["V"]))
    assert problem.energies.work == pytest.approx(work, rel=2e-3)
    assert abs(problem.energies.drift) < 2e-3 * work


@pytest.mark.collective
def test_work_on_many_ranks_and_in_other_units() -> None:
    def found(length: float, mass: float, second: float) -> Any:
        force, size = mass * length / second**2, np.array((2.0, 1.0, 1.0)) * length
        mesh = sa.Mesh.box(tuple(size), (4, 1, 1))
        stress = force / length**2
        given = {"mu": lambda t: stress * (4 + np.sin(5 * t / second)), "lam": 8.0 * stress}
        density = mass / length**3
        body = sa.Body(mesh["body"], HEX8, sa.energies.neo_hooke(), **given, rho=density)
        pull = sa.force(body.at(size), (0.0, 0.0, lambda t: force * tension(t / second)))
        damper = sa.KelvinVoigt(body, eta=0.1 * stress * second)
        system = sa.System(body, terms=[sa.fix(body["x0"]), pull, damper])
        problem = sa.DynamicProblem(system)
        problem.solve(to=0.32 * second, step=STEP / 2 * second)
        e = problem.energies
        return np.array([e.work, e.dissipated, e.drift]) / (force * length)

    one = found(1.0, 1.0, 1.0)
    assert found(1e3, 1e-3, 1e-6) == pytest.approx(one, rel=1e-8)
    assert abs(one[2]) < 1e-3 * one[0]  # of all ranks together


def test_stored_energy_after_steps_in_c_is_that_of_the_last_step() -> None:
    """A law that remembers stores what follows from the beginning of its last step."""
    body = cube(maxwell, E0=10.0, E1=5.0, tau=0.3, rho=1.0)
    load = sa.traction(body["x1"], (lambda t: 1.0 - np.cos(4 * t), 0.0, 0.0))
    system = sa.System(body, terms=[sa.fix(body["x0"]), load])
    problem = sa.DynamicProblem(system)
    problem.solve(to=1.0, step=0.02)
    found = problem.energies
    assert problem.native
    assert found.strain == pytest.approx(system.strain_energy(), rel=1e-12)
    assert abs(found.drift) < 2e-3 * found.work

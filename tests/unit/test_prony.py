# SPDX-License-Identifier: BSD-3-Clause
"""Prony series on hyperelastic laws: closed forms, an independent integration, dissipation."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.integrate as si
from mpi4py import MPI

import symancf as sa
from symancf import energies
from symancf.errors import KinematicsError, ParameterError
from symancf.verify.states import moment, residual
from tests.quantities import rotation
from tests.refusals import refused
from tests.remembering import require_ranks_and_restarts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TIGHT = {"snes_rtol": 1e-13}
G, TAU = (0.25, 0.15), (0.5, 3.0)
SERIES = {"g1": G[0], "g2": G[1], "tau1": TAU[0], "tau2": TAU[1]}  # all tests have one kernel
YEOH = {"C10": 0.5, "C20": 0.05, "C30": 0.0, "k": 50.0}
OGDEN = {"mu1": 1.0, "alpha1": 2.0, "k": 50.0}
SOFT = energies.prony(energies.yeoh(), g=G, tau=TAU)
STRETCHED = energies.prony(energies.ogden(terms=1), g=G, tau=TAU)
SHEAR = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def relaxed(t: float) -> float:
    return 1 - sum(g * (1 - np.exp(-t / tau)) for g, tau in zip(G, TAU, strict=True))


class Cube:
    """A cube in a prescribed homogeneous motion F = I + H(t)."""

    def __init__(self, H: Callable[[float], Any], law: Any = SOFT, **given: Any) -> None:
        given = (YEOH if law is SOFT else OGDEN) | SERIES | given
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
        self.body = body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, name="cube", **given)
        terms = [sa.fix(body["all"], displacement=lambda X, t: X @ H(t).T)]
        self.system = sa.System(body, terms=terms)
        self.problem = sa.StaticProblem(self.system, options=TIGHT, check_stable=False)

    def stress(self) -> Any:
        """Return P."""
        return moment(self.system, residual(self.system, self.system.state))

    def path(self, times: Sequence[float], step: float) -> list[Any]:
        found = []
        for t in times:
            self.problem.solve(to=t, step=step)
            found.append(self.stress())
        return found

    def total(self, name: str) -> float:
        return float(self.system.remembered(self.body)[name].sum())


def test_a_held_shear_relaxes_by_the_series_whatever_it_is() -> None:
    """At shears of 1e-6 and of 1, to round-off; all that was stored in the terms is dissipated."""
    for gamma in (1e-6, 1.0):
        size = sa.Parameter("size", 0.0)
        cube = Cube(lambda t, size=size: float(size.value) * SHEAR)
        cube.problem.solve(to=0.0)
        size.value = gamma
        cube.problem.solve(to=0.0)
        P, W = cube.stress(), cube.system.strain_energy()
        exact = (2 * 0.5 + 4 * 0.05 * gamma**2) * gamma
        assert P[0, 1] == pytest.approx(exact, rel=1e-12)
        assert pytest.approx(0.5 * gamma**2 + 0.05 * gamma**4, rel=1e-12) == W
        assert cube.total("dissipated") == 0.0
        for t in (0.01, 0.1, 1.0, 100.0):
            cube.problem.solve(to=t)
            np.testing.assert_allclose(cube.stress(), P * relaxed(t), rtol=0, atol=1e-10 * P[0, 1])
            lost = W - cube.system.strain_energy()
            assert cube.total("dissipated") == pytest.approx(lost, rel=1e-10)
        assert lost == pytest.approx(sum(G) * W, rel=1e-10)


def motion(t: float) -> Any:
    """A path without symmetry: shears, a stretch, and a turn with them."""
    Q = rotation([1.0, 2.0, -0.5], 0.4 * t)
    F = np.eye(3) + t * np.array([[0.3, 0.5, 0.0], [0.1, -0.1, 0.2 * t], [0.0, -0.3, 0.05]])
    return Q @ F - np.eye(3)


def second_stress(F: Any) -> Any:
    """Return S of the isochoric part of `YEOH`, written independently of SymPy."""
    C, J = F.T @ F, np.linalg.det(F)
    y = J ** (-2 / 3) * np.trace(C) - 3
    slope = YEOH["C10"] + 2 * YEOH["C20"] * y
    return 2 * slope * J ** (-2 / 3) * (np.eye(3) - np.trace(C) / 3 * np.linalg.inv(C))


def integrated(end: float) -> Any:
    """Return P at the end of `motion` by SciPy: h' = g dS0/dt - h/tau."""

    def rate(t: float, h: Any) -> Any:
        d = 1e-3
        at = [second_stress(np.eye(3) + motion(t + k * d)) for k in (-2, -1, 1, 2)]
        slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * d)
        h = h.reshape(2, 3, 3)
        return np.array([g * slope - x / tau for g, tau, x in zip(G, TAU, h, strict=True)]).ravel()

    options = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
    h = si.solve_ivp(rate, (0.0, end), np.zeros(18), **options).y[:, -1].reshape(2, 3, 3)
    F = np.eye(3) + motion(end)
    J = np.linalg.det(F)
    S = (1 - sum(G)) * second_stress(F) + h.sum(axis=0)
    return F @ S + YEOH["k"] * (J - 1) * J * np.linalg.inv(F).T


def test_a_turning_path_agrees_with_an_independent_integration() -> None:
    """Of second order; extrapolated from three lengths of the step to 1e-8."""
    exact = integrated(1.0)
    found = [Cube(motion).path([1.0], 1.0 / n)[0] for n in (10, 20, 40)]
    errors = [np.abs(P - exact).max() for P in found]
    assert 3.9 < errors[1] / errors[2] < 4.1
    once = [(4 * b - a) / 3 for a, b in pairwise(found)]
    best = (16 * once[1] - once[0]) / 15
    np.testing.assert_allclose(best, exact, atol=1e-8 * np.abs(exact).max())


def test_stretches_give_what_invariants_do() -> None:
    """Ogden's law of alpha = 2 is neo-Hookean: the same overstress."""
    plain = Cube(motion, C20=0.0).path([0.5, 1.0], 0.1)
    stretched = Cube(motion, STRETCHED).path([0.5, 1.0], 0.1)
    np.testing.assert_allclose(stretched, plain, atol=1e-12 * np.abs(plain).max())


def test_moduli_of_storage_and_loss_are_those_of_the_series() -> None:
    """Over four decades, from a sine of small shear with the transients of the two terms."""
    for omega in np.geomspace(0.01, 100.0, 5):
        period = 2 * np.pi / omega
        cube = Cube(lambda t, omega=omega: 1e-6 * np.sin(omega * t) * SHEAR)
        times = np.linspace(0.0, period, 41)[1:]
        P = np.array([stress[0, 1] for stress in cube.path(times, period / 40)]) / 1e-6
        forms = [np.sin(omega * times), np.cos(omega * times)]
        forms += [np.exp(-times / tau) for tau in TAU]
        storage, loss, *_ = np.linalg.lstsq(np.array(forms).T, P, rcond=None)[0]
        x = omega * np.array(TAU)
        parts = np.array(G)
        assert storage == pytest.approx(1 - (parts / (1 + x**2)).sum(), rel=2e-3)
        assert loss == pytest.approx((parts * x / (1 + x**2)).sum(), rel=5e-3, abs=1e-3)


@pytest.mark.parametrize("law", [SOFT, STRETCHED], ids=["yeoh", "ogden"])
def test_no_step_of_a_random_path_gives_energy_back(law: Any) -> None:
    """Large strains up and down, steps short and long beside both relaxation times."""
    rng = np.random.default_rng(3)
    at = rng.normal(size=(6, 3, 3)) * 0.15
    t = np.cumsum(np.array([0.05, 0.5, 0.02, 4.0, 0.3, 0.1]))
    knots = np.concatenate([[0.0], t])
    values = np.concatenate([np.zeros((1, 3, 3)), at])

    def H(s: float) -> Any:
        return np.array(
            [[np.interp(s, knots, values[:, i, k]) for k in range(3)] for i in range(3)]
        )

    cube, before = Cube(H, law), 0.0
    for end in t:
        for part in (0.5, 1.0):
            start = knots[np.searchsorted(knots, end) - 1]
            cube.problem.solve(to=start + part * (end - start))
            lost = cube.total("dissipated")
            assert lost > before
            before = lost


def test_creep_follows_the_retardation_of_the_series() -> None:
    """One term: gamma = P/G (1/(1 - g) - g/(1 - g) exp(-(1 - g) t/tau)) after a load at once."""
    given = YEOH | SERIES | {"g2": 1e-12}
    mesh, load = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1)), sa.Parameter("load", 0.0)
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, SOFT, **given)
    held = [sa.fix(body["y0"]), sa.fix(body["all"], ["y", "z"])]
    terms = [*held, sa.traction(body["y1"], (load, 0.0, 0.0))]
    tip, g, tau = body.at((0.0, 1.0, 0.0)), G[0], TAU[0]
    errors = []
    for steps in (8, 16):
        system = sa.System(body, terms=terms)
        problem = sa.StaticProblem(system, options=TIGHT)
        load.value = 0.0
        problem.solve(to=0.0)
        load.value = 1e-6
        problem.solve(to=0.0)
        assert system.displacement(tip)[0, 0] == pytest.approx(1e-6, rel=1e-8)
        problem.solve(to=1.0, step=1.0 / steps)
        exact = 1e-6 / (1 - g) * (1 - g * np.exp(-(1 - g) / tau))
        errors.append(system.displacement(tip)[0, 0] / exact - 1.0)
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert abs(errors[1]) < 1e-4


def test_the_audit_of_a_swing_has_order_two() -> None:
    """A cube swings in shear: what energy and dissipation leave open falls with the step."""
    drifts = []
    for h in (0.02, 0.01):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
        given = YEOH | SERIES | {"rho": 0.3, "k": 5.0}
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, SOFT, name="cube", **given)
        system = sa.System(body, terms=[sa.fix(body["y0"])])
        position = system._discrete.numbering.block("position")
        at = system._discrete.numbering.coordinates_of(position)
        top = system._discrete.points[system._discrete.numbering.carriers(position), 1] > 0.5
        system.rate[at[top, 0]] = 1.0
        problem = sa.DynamicProblem(system, spectral_radius=1.0)
        problem.solve(to=1.0, step=h)
        drifts.append(problem.energies.drift)
        lost = problem.energies.dissipated
    assert lost > 0.005
    assert 3.4 < drifts[0] / drifts[1] < 4.6
    assert abs(drifts[1]) < 0.01 * lost


class Beam:
    """A clamped beam that a force bends until t = 1 and then holds."""

    def __init__(
        self, comm: MPI.Comm, turn: Any = None, length: float = 1.0, second: float = 1.0
    ) -> None:
        """`length`, `second`: of a unit, in those of this model; forces keep theirs."""
        Q = np.eye(3) if turn is None else turn
        size = length * np.array([1.0, 0.3, 0.3])
        mesh = sa.Mesh.box(tuple(size), (6, 2, 2), warp=lambda X: X @ Q.T, comm=comm)
        given = {name: value / length**2 for name, value in YEOH.items()}
        given |= {n: x * (second if n.startswith("tau") else 1.0) for n, x in SERIES.items()}
        self.body = body = sa.Body(mesh["body"], sa.elements.hex8_plain, SOFT, name="beam", **given)

        def pull(t: float) -> Any:
            return min(t / second, 1.0) * Q @ np.array([1e-3, 2e-3, -1e-3])

        self.tip = body.at(Q @ size)
        self.system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(self.tip, pull)])
        self.problem = sa.StaticProblem(self.system, options=TIGHT)
        self.second, self.turn, self.length = second, Q, length

    def run(self, to: float) -> None:
        self.problem.solve(to=to * self.second, step=0.25 * self.second)

    def results(self) -> Any:
        """Return displacement and energy dissipated, in the units and the frame of the first."""
        u = self.system.displacement(self.tip)[0] @ self.turn / self.length
        lost = self.system.remembered(self.body)["dissipated"].sum() / self.length
        return np.array([*u, 100.0 * lost])


def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    """All ranks beside one; saved in the middle by one and read by all, and the other way round."""
    require_ranks_and_restarts(Beam, shared_tmp_path, 1.5, 3.0)


def test_units_and_frames_change_nothing() -> None:
    """In millimetres and milliseconds, and turned."""
    exact, Q = Beam(MPI.COMM_SELF), rotation([1.0, -2.0, 0.7], 1.1)
    others = [Beam(MPI.COMM_SELF, length=1e3, second=1e3), Beam(MPI.COMM_SELF, Q)]
    for beam in (exact, *others):
        beam.run(2.0)
    for beam in others:
        np.testing.assert_allclose(beam.results(), exact.results(), rtol=1e-8)


def test_what_does_not_relax_is_refused() -> None:
    with refused(ParameterError, asked="tau", given=(1.0,)):
        energies.prony(energies.yeoh(), g=(0.2, 0.1), tau=(1.0,))
    with refused(ParameterError, asked="g", given=(0.6, 0.4)):
        energies.prony(energies.yeoh(), g=(0.6, 0.4), tau=(1.0, 2.0))
    with refused(ParameterError, asked="g", given=(-0.1,)):
        energies.prony(energies.yeoh(), g=(-0.1,), tau=(1.0,))
    with refused(KinematicsError, asked="C"):
        energies.prony(lambda C, *, k: k * C[0, 0], g=(0.1,), tau=(1.0,))
    with refused(KinematicsError, asked="stress_before"):
        energies.prony(SOFT, g=(0.1,), tau=(1.0,))
    whole = energies.prony(lambda I1, *, k: k * (I1 - 3), g=(0.1,), tau=(1.0,))
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(KinematicsError, asked="parts", given=()):
        sa.Body(mesh["body"], sa.elements.hex8, whole, k=1.0)


def test_an_energy_of_the_axes_of_stretches_is_refused() -> None:
    """They have no derivative where two stretches coincide."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))

    def law(stretch_axes: Any, J: Any, *, k: Any) -> Any:
        return k * (J - 1) ** 2 * stretch_axes[0, 0]

    with refused(KinematicsError, asked="stretch_axes"):
        sa.Body(mesh["body"], sa.elements.hex8, law, k=1.0)


@pytest.mark.parametrize(("step", "told"), [(0.5, True), (0.1, False)])
def test_a_step_that_is_long_beside_a_relaxation_time_is_told(step: float, told: bool) -> None:
    """Ten steps in a period of a shear; a term of the series has a time of 0.5."""
    cube = Cube(lambda t: 0.5 * np.sin(2 * np.pi * t / (10 * step)) * SHEAR)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        cube.path([10 * step], step)
    assert len([w for w in seen if "is long for what 'cube' remembers" in str(w.message)]) == told

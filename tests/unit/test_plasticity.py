# SPDX-License-Identifier: BSD-3-Clause
"""Von Mises' plasticity: turned paths, large reversals, ranks, restarts, audit; what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import energies
from symancf.errors import ParameterError
from symancf.verify.plasticity import METAL
from tests.campaign.reversals import bend
from tests.quantities import rotation
from tests.refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore:the step from")  # long ones, which are meant
TIGHT = {"snes_rtol": 1e-13}
PATH = (0.0, 1.0, -1.0, 0.6, 0.0)  # of what moves the end, at 0, 1, 2, ...


class Beam:
    """A clamped beam whose end is moved to and fro, each way in one step or some."""

    def __init__(
        self, comm: MPI.Comm, turn: Any = None, length: float = 1.0, size: float = 0.3
    ) -> None:
        """`length`: of a metre, in units of this model; forces keep theirs."""
        Q = np.eye(3) if turn is None else turn
        lengths = length * np.array([1.0, 0.3, 0.3])
        mesh = sa.Mesh.box(tuple(lengths), (6, 2, 2), warp=lambda X: X @ Q.T, comm=comm)
        given = {"E": 200.0 / length**2, "yield_stress": 1.0 / length**2}
        given["hardening"] = 5.0 / length**2
        given["kinematic"] = 20.0 / length**2
        self.body = body = sa.Body(mesh["body"], sa.elements.hex8_plain, METAL, **given)

        def moved(X: Any, t: float) -> Any:
            way = np.interp(t, range(len(PATH)), PATH) * size * length
            return np.broadcast_to(Q @ np.array([0.0, way, way / 2]), X.shape)

        self.held = sa.fix(body["x0"])
        self.system = sa.System(body, terms=[self.held, sa.fix(body["x1"], displacement=moved)])
        self.problem = sa.StaticProblem(self.system, options=TIGHT)
        self.turn, self.length = Q, length

    def run(self, to: float, step: float) -> None:
        self.problem.solve(to=to, step=step)

    def results(self) -> Any:
        """Return the force, energies dissipated and stored, in the units of the first."""
        F = self.held.reaction(self.system).force @ self.turn
        lost = self.system.remembered(self.body)["dissipated"].sum()
        return np.array([*F, *np.array([lost, self.system.strain_energy()]) / self.length])


@pytest.mark.collective
def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    one, every = Beam(MPI.COMM_SELF, size=0.1), Beam(MPI.COMM_WORLD, size=0.1)
    for beam in (one, every):
        beam.run(1.5, 0.25)
    if MPI.COMM_WORLD.rank == 0:
        one.problem.save(shared_tmp_path / "one.h5")
    every.problem.save(shared_tmp_path / "every.h5")
    MPI.COMM_WORLD.barrier()
    again = [Beam(MPI.COMM_SELF, size=0.1), Beam(MPI.COMM_WORLD, size=0.1)]
    for beam, name in zip(again, ("every", "one"), strict=True):
        beam.problem.restore(shared_tmp_path / f"{name}.h5")
    for beam in (one, every, *again):
        beam.run(3.0, 0.25)
    exact = one.results()
    assert exact[3] > 1e-3
    for beam in (every, *again):
        np.testing.assert_allclose(beam.results(), exact, atol=1e-10 * np.abs(exact).max())


@pytest.mark.collective
@pytest.mark.parametrize(("size", "to", "told"), [(0.3, 0.5, True), (0.02, 1.0, False)])
def test_a_step_in_which_strains_turn_is_told(size: float, to: float, told: bool) -> None:
    for comm in (MPI.COMM_SELF, MPI.COMM_WORLD):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            Beam(comm, size=size).run(to, 0.5)
        long = [w for w in seen if "is long for what 'body' remembers" in str(w.message)]
        assert len(long) == (told and comm.rank == 0)


@pytest.mark.parametrize(("to", "told"), [(0.04, True), (0.012, False)])
def test_a_long_step_of_a_path_is_told(to: float, told: bool) -> None:
    """A clamped beam under a force, along a path to deflections of 0.35 and 0.04."""
    mesh = sa.Mesh.box((1.0, 0.3, 0.3), (6, 2, 2))
    values = {"E": 200.0, "yield_stress": 1.0, "hardening": 5.0, "kinematic": 20.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, METAL, **values)
    load = sa.Parameter("load", 0.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0.0, load, 0.0))])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        sa.StaticProblem(system).follow(load, to=to, step=to)
    long = [w for w in seen if "is long for what 'body' remembers" in str(w.message)]
    assert len(long) == told
    assert not told or "take shorter ones, largest=" in str(long[0].message)


@pytest.mark.collective
def test_points_that_have_just_flowed_start_alike_on_all_numbers_of_ranks() -> None:
    """At the limit but for round-off: the tangent of the start is the elastic one."""
    found = []
    for comm in (MPI.COMM_SELF, MPI.COMM_WORLD):
        beam = Beam(comm)
        beam.run(1.0, 0.5)
        beam.run(1.5, 0.5)
        assert beam.problem.history.cut_backs == 0
        found.append(beam.results())
    np.testing.assert_allclose(found[1], found[0], atol=1e-10 * np.abs(found[0]).max())


def test_large_steps_straight_ahead_and_turns_without_flow_are_not_told() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    values = {"E": 200.0, "yield_stress": 1.0, "hardening": 5.0, "kinematic": 0.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, METAL, **values)

    def moved(X: Any, t: float) -> Any:
        F = rotation([1.0, 2.0, -0.5], max(t - 1.0, 0.0)) @ np.diag([1.0 + 0.3 * min(t, 1.0), 1, 1])
        return X @ F.T - X

    system = sa.System(body, terms=[sa.fix(body["all"], displacement=moved)])
    problem = sa.StaticProblem(system, check_stable=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem.solve(to=1.0)
        before = system.remembered(body)["plastic_strain"]
        problem.solve(to=2.0)
    assert before.min() > 0.1
    np.testing.assert_allclose(system.remembered(body)["plastic_strain"], before, rtol=1e-12)


def test_units_and_frames_change_nothing() -> None:
    beams = [Beam(MPI.COMM_SELF)]
    beams += [Beam(MPI.COMM_SELF, length=1e3), Beam(MPI.COMM_SELF, rotation([1, -2, 0.7], 1.1))]
    for beam in beams:
        beam.run(2.0, 0.5)
    exact = beams[0].results()
    for beam in beams[1:]:
        np.testing.assert_allclose(beam.results(), exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("size", [0.05, 0.3, 0.6])
def test_large_reversals_converge_in_one_step_each(size: float) -> None:
    """Deflections of up to the double of the length from one side to the other."""
    beam = Beam(MPI.COMM_SELF, size=size)
    before = 0.0
    for t in (1.0, 2.0, 3.0, 4.0):
        beam.run(t, 1.0)
        lost = beam.results()[3]
        assert lost > before
        before = lost


def test_a_line_search_spares_cuts_where_flow_turns() -> None:
    found = bend("hex8_plain", "isotropic", 5.0)
    assert found["cuts"] == 0
    assert found["iterations"] < 60
    without = bend("hex8_plain", "isotropic", 5.0, aids="-search")
    assert without["cuts"] > 0
    assert without["iterations"] > 1.3 * found["iterations"]
    one, other = found["forces"][0], without["forces"][0]  # in parts the path is another one
    np.testing.assert_allclose(one, other, atol=0.02 * np.abs(other).max())


def test_a_path_that_turns_gives_what_one_that_does_not() -> None:
    """The same stretches beside a rotation that grows: P = Q P0, the same plastic strain."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    found = []
    for angle in (0.0, 2.0):
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, METAL, hardening=5.0, kinematic=20.0)

        def H(t: float, angle: float = angle) -> Any:
            G = np.array([[0.1, 0.4, 0.0], [0.0, -0.05, 0.2], [0.0, 0.0, -0.04]])
            F = np.eye(3) + np.interp(t, (0, 1, 2), (0, 1, -0.5)) * G
            return rotation([1.0, 2.0, -0.5], angle * t) @ F - np.eye(3)

        held = sa.fix(body["all"], displacement=lambda X, t, H=H: X @ H(t).T)
        system = sa.System(body, terms=[held])
        problem = sa.StaticProblem(system, options=TIGHT, check_stable=False)
        problem.solve(to=2.0, step=0.1)
        found.append((system.strain_energy(), system.remembered(body)["plastic_strain"]))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-10)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10)
    assert found[0][1].min() > 0.3


def test_what_cannot_be_is_refused() -> None:
    good = {"E": 200.0, "nu": 0.3, "yield_stress": 1.0}
    for name, value in (("E", 0.0), ("nu", 0.5), ("yield_stress", -1.0), ("hardening", -1.0)):
        with refused(ParameterError, asked=name, given=value):
            energies.j2_plasticity(**{**good, name: value})
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(ParameterError, asked="yield_stress"):
        sa.Body(mesh["body"], sa.elements.hex8_plain, energies.j2_plasticity(), E=200.0, nu=0.3)

# SPDX-License-Identifier: BSD-3-Clause
"""A network that creeps: ranks, restarts, units, frames, audit, long steps; what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import energies
from symancf.errors import KinematicsError, ParameterError
from symancf.verify.hysteresis import CREEP, RUBBER
from symancf.verify.relaxation import SHEAR, YEOH, Cube
from tests.quantities import rotation
from tests.refusals import refused
from tests.remembering import require_ranks_and_restarts

TIGHT = {"snes_rtol": 1e-13}
PATH = (0.0, 1.0, -0.5, 0.5)  # of what moves the end, at 0, 1, 2, ... s


class Beam:
    """A clamped beam whose end is moved to and fro."""

    def __init__(
        self, comm: MPI.Comm, turn: Any = None, length: float = 1.0, time: float = 1.0
    ) -> None:
        """`length`, `time`: of a metre and a second, in units of this model; forces keep theirs."""
        Q = np.eye(3) if turn is None else turn
        size = length * np.array([1.0, 0.3, 0.3])
        mesh = sa.Mesh.box(tuple(size), (3, 1, 1), warp=lambda X: X @ Q.T, comm=comm)
        given = {name: value / length**2 for name, value in YEOH.items()}
        given |= {"creep_stress": 0.05 / length**2, "creep_rate": 1.0 / time}
        self.body = sa.Body(mesh["body"], sa.elements.hex8_plain, RUBBER, name="beam", **given)

        def moved(X: Any, t: float) -> Any:
            way = 0.2 * np.interp(t / time, range(len(PATH)), PATH) * length
            return np.broadcast_to(Q @ np.array([way, way, way / 2]), X.shape)

        self.held = sa.fix(self.body["x0"])
        pull = sa.fix(self.body["x1"], displacement=moved)
        self.system = sa.System(self.body, terms=[self.held, pull])
        self.problem = sa.StaticProblem(self.system, options=TIGHT)
        self.turn, self.length, self.time = Q, length, time

    def run(self, to: float) -> None:
        self.problem.solve(to=to * self.time, step=0.25 * self.time)

    def results(self) -> Any:
        """Return the force, energies dissipated and stored, in the units of the first."""
        F = self.held.reaction(self.system).force @ self.turn
        lost = self.system.remembered(self.body)["dissipated"].sum()
        return np.array([*F, *np.array([lost, self.system.strain_energy()]) / self.length])


def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    require_ranks_and_restarts(Beam, shared_tmp_path, 0.75, 1.5)


def test_units_and_frames_change_nothing() -> None:
    beams = [Beam(MPI.COMM_SELF), Beam(MPI.COMM_SELF, length=1e3, time=1e-3)]
    beams += [Beam(MPI.COMM_SELF, rotation([1, -2, 0.7], 1.1))]
    for beam in beams:
        beam.run(1.5)
    exact = beams[0].results()
    for beam in beams[1:]:
        np.testing.assert_allclose(beam.results(), exact, atol=1e-9 * np.abs(exact).max())


def test_the_work_of_a_loop_is_stored_or_dissipated() -> None:
    """Of second order: both lengths of the step, and what is left of the error of the longer."""
    left = []
    for n in (16, 32):
        cube = Cube(lambda t: (1 - abs(t - 1)) * SHEAR, RUBBER, **YEOH)
        P = cube.path(np.arange(1, 2 * n + 1) / n, 1.0 / n)[:, 0, 1]
        forces = np.append(0.0, P)
        way = np.diff(1 - np.abs(np.arange(2 * n + 1) / n - 1))
        work = float(((forces[1:] + forces[:-1]) / 2) @ way)
        assert cube.dissipated() > 0.05
        left.append(work - cube.dissipated() - cube.system.strain_energy())
    assert abs(left[0]) < 8e-3
    assert 3.0 < left[0] / left[1] < 6.0


@pytest.mark.parametrize(("m", "C"), [(1.0, 0.0), (4.0, -1.0)])
def test_steps_of_any_length_relax_and_dissipate(m: float, C: float) -> None:
    """A bar that is drawn at once to 1.5 times its length, and waits."""
    before = math.inf
    for wait in (1e-6, 1.0, 1e8):
        size = sa.Parameter("size", 0.0)

        def H(_: float, size: Any = size) -> Any:
            x = 1.0 + 0.5 * float(size.value)
            return np.diag([x, x**-0.5, x**-0.5]) - np.eye(3)

        cube = Cube(H, RUBBER, **YEOH, creep_m=m, creep_C=C)
        cube.problem.solve(to=0.0)
        size.value = 1.0
        cube.problem.solve(to=0.0)
        stored = cube.system.strain_energy()
        cube.problem.solve(to=wait)
        assert cube.problem.history.cut_backs == 0
        left = cube.system.strain_energy()
        assert left < before * (1 + 1e-9)
        assert cube.dissipated() == pytest.approx(stored - left, rel=0.15)
        before = left
    assert left == pytest.approx(stored / (1 + CREEP["s"]), rel=5e-3)


def test_what_cannot_be_is_refused() -> None:
    bad = (("s", 0.0), ("stress", -1.0), ("m", 0.5), ("C", -1.5), ("E", 0.0), ("rate", math.nan))
    for name, value in bad:
        with refused(ParameterError, asked=name, given=lambda x, v=value: x is v):
            energies.bergstrom_boyce(energies.yeoh(), **{**CREEP, name: value})
    with refused(KinematicsError, asked="creep"):
        energies.bergstrom_boyce(RUBBER, **CREEP)
    with refused(KinematicsError, asked="lambda1"):
        energies.bergstrom_boyce(energies.ogden(terms=1), **CREEP)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(ParameterError, asked="creep_m", given=0.9):
        sa.System(sa.Body(mesh["body"], sa.elements.hex8_plain, RUBBER, **YEOH, creep_m=0.9))

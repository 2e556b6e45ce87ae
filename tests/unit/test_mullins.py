# SPDX-License-Identifier: BSD-3-Clause
"""Softening by the largest energy so far: any law, ranks, restarts, units; what is refused."""

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
from symancf.verify.relaxation import YEOH
from symancf.verify.softening import BETA, FILLED, M, R
from tests.quantities import rotation
from tests.refusals import refused
from tests.remembering import require_ranks_and_restarts

TIGHT = {"snes_rtol": 1e-13}
PATH = (0.0, 1.0, 0.2, 1.5, 0.7)  # of the load, at 0, 1, 2, ...


class Beam:
    """A clamped beam under a force that comes, goes and comes again."""

    def __init__(self, comm: MPI.Comm, turn: Any = None, length: float = 1.0) -> None:
        """`length`: of a metre, in units of this model; forces keep theirs."""
        Q = np.eye(3) if turn is None else turn
        size = length * np.array([1.0, 0.3, 0.3])
        mesh = sa.Mesh.box(tuple(size), (6, 2, 2), warp=lambda X: X @ Q.T, comm=comm)
        given = {name: value / length**2 for name, value in YEOH.items()}
        given["mullins_m"] = 1e-3 / length**2
        self.body = sa.Body(mesh["body"], sa.elements.hex8_plain, FILLED, name="beam", **given)

        def pull(t: float) -> Any:
            return np.interp(t, range(len(PATH)), PATH) * Q @ np.array([1e-3, 2e-3, -1e-3])

        self.tip = self.body.at(Q @ size)
        self.system = sa.System(
            self.body, terms=[sa.fix(self.body["x0"]), sa.force(self.tip, pull)]
        )
        self.problem = sa.StaticProblem(self.system, options=TIGHT)
        self.turn, self.length = Q, length

    def run(self, to: float) -> None:
        self.problem.solve(to=to, step=0.5)

    def results(self) -> Any:
        """Return displacement, and energies stored and dissipated, in the units of the first."""
        u = self.system.displacement(self.tip)[0] @ self.turn / self.length
        lost = self.system.remembered(self.body)["dissipated"].sum()
        return np.array([*u, *np.array([lost, self.system.strain_energy()]) / self.length * 100])


def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    require_ranks_and_restarts(Beam, shared_tmp_path, 1.5, 4.0)


def test_units_and_frames_change_nothing() -> None:
    beams = [Beam(MPI.COMM_SELF)]
    beams += [Beam(MPI.COMM_SELF, length=1e3), Beam(MPI.COMM_SELF, rotation([1, -2, 0.7], 1.1))]
    for beam in beams:
        beam.run(3.0)
    for beam in beams[1:]:
        np.testing.assert_allclose(beam.results(), beams[0].results(), rtol=1e-8)


def test_the_work_of_a_loop_is_what_is_dissipated() -> None:
    """From rest to rest: the area of force over displacement, by the rule of Simpson."""
    size = sa.Parameter("size", 0.0)
    mesh = sa.Mesh.box((1.0, 0.3, 0.3), (3, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, FILLED, name="bar", **YEOH)
    held = [sa.fix(body[f"{axis}0"], axis) for axis in "xyz"]
    pull = sa.fix(body["x1"], "x", displacement=(size, 0.0, 0.0))
    system = sa.System(body, terms=[*held, pull])
    problem = sa.StaticProblem(system, options=TIGHT)
    work = 0.0
    for way in (np.linspace(0.0, 1.0, 65), np.linspace(1.0, 0.0, 65)):
        forces = []
        for size.value in map(float, way):
            problem.solve(to=0.0)
            forces.append(pull.reaction(system).force[0])
        weights = np.array([1.0, *[4.0, 2.0] * 31, 4.0, 1.0]) * (way[1] - way[0]) / 3
        work += float(weights @ np.array(forces))
    lost = float(system.remembered(body)["dissipated"].sum())
    assert abs(system.strain_energy()) < 1e-10
    assert lost > 0.01
    assert work == pytest.approx(lost, rel=1e-6)


def test_a_law_without_a_volumetric_part_softens_as_a_whole() -> None:
    """A cable that is pulled, released and pulled; its parameters are those of the body."""
    law = energies.ogden_roxburgh(energies.cable(), r=R, m=M, beta=BETA)
    stretch = sa.Parameter("stretch", 0.0)
    mesh, EA, r, m = sa.Mesh.box((1.0,), (1,)), 3.0, 2.0, 0.01
    given = {"EA": EA, "EI": 1e-3, "mullins_r": r, "mullins_m": m}
    cord = sa.Body(mesh["body"], sa.elements.ancf_cable, law, name="cord", **given)
    pull = sa.fix(cord["x1"], "position", displacement=(stretch, 0.0, 0.0))
    system = sa.System(cord, terms=[sa.fix(cord["x0"]), pull])
    problem = sa.StaticProblem(system, options=TIGHT)
    largest = 0.0
    for stretch.value in (0.1, 0.05, 0.02, 0.2, 0.1):
        problem.solve(to=0.0)
        W = EA / 2 * stretch.value**2
        largest = max(largest, W)
        eta = 1 - math.erf((largest - W) / (m + BETA * largest)) / r
        force = pull.reaction(system).force[0]
        assert force == pytest.approx(eta * EA * stretch.value, rel=1e-10)


def test_what_cannot_be_is_refused() -> None:
    for name, value in (("r", 0.5), ("m", 0.0), ("beta", -0.1), ("r", math.nan)):
        with refused(ParameterError, asked=name, given=lambda x, v=value: x is v):
            energies.ogden_roxburgh(energies.yeoh(), **{"r": R, "m": M, "beta": BETA, name: value})
    with refused(KinematicsError, asked="largest_energy"):
        energies.ogden_roxburgh(FILLED, r=R, m=M)
    with refused(ParameterError, asked="mullins_m"):
        energies.ogden_roxburgh(lambda J, *, mullins_m: mullins_m * (J - 1) ** 2, r=R, m=M)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(ParameterError, asked="mullins_r", given=0.9):
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, FILLED, **YEOH, mullins_r=0.9)
        sa.System(body)

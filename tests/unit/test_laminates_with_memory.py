# SPDX-License-Identifier: BSD-3-Clause
"""Plates of layers whose laws have memory: metals, and rubber that relaxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import energies
from symancf.elements import ancf_plate, ancf_thin_plate
from symancf.errors import KinematicsError
from symancf.verify.plasticity import METAL
from tests.refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore:the step from")  # long ones, which are meant
RUBBER: dict[str, Any] = {"C10": 1.0, "C20": 0.0, "C30": 0.0, "k": 20.0}
SOFT = energies.prony(energies.yeoh(), g=(0.5,), tau=(1.0,))
TIGHT = {"snes_rtol": 1e-13}


class Strip:
    """A flat strip that is drawn along x and free to contract."""

    def __init__(
        self, element: Any, energy: Any, comm: MPI.Comm = MPI.COMM_SELF, **given: Any
    ) -> None:
        mesh = sa.Mesh.box((2.0, 1.0), (2, 1), comm=comm)
        self.body = sa.Body(mesh["body"], element, energy, **given)
        self.size = sa.Parameter("size", 0.0)
        terms = [sa.fix(self.body[f"{axis}0"], axis) for axis in "xy"]
        self.pull = sa.fix(self.body["x1"], "x", displacement=(self.size, 0.0, 0.0))
        self.system = sa.System(self.body, terms=[*terms, sa.fix(self.body["all"], "z"), self.pull])
        self.problem = sa.StaticProblem(self.system, options=TIGHT, check_stable=False)

    def to(self, strain: float, t: float) -> float:
        """Draw it to a strain; return the force."""
        self.size.value = 2.0 * strain
        self.problem.solve(to=t)
        return float(self.pull.reaction(self.system).force[0])


def test_layers_of_one_law_are_a_plate_of_it() -> None:
    given = {**RUBBER, "volumetric": "full"}
    one = Strip(ancf_plate, SOFT, thickness=0.3, **given)
    every = Strip(ancf_plate, sa.Layers([(SOFT, 0.1)] * 3), **given)
    for t in (0.1, 0.5, 1.0):
        assert every.to(0.2, t) == pytest.approx(one.to(0.2, t), rel=1e-9)
    lost = [s.system.remembered(s.body) for s in (one, every)]
    assert lost[1]["dissipated_1"].sum() == pytest.approx(lost[0]["dissipated"].sum(), rel=1e-9)
    assert lost[0]["dissipated"].sum() > 1e-4


def test_a_layer_of_metal_is_a_plate_of_it() -> None:
    """Forces, what they remember, stresses in the middle of a layer, and resultants."""
    given: dict[str, Any] = {"volumetric": "full", "hardening": 5.0, "kinematic": 0.0}
    one = Strip(ancf_plate, METAL, thickness=0.1, **given)
    every = Strip(ancf_plate, sa.Layers([(METAL, 0.1)]), **given)
    for t, strain in enumerate((0.003, 0.05, 0.04), 1):
        assert every.to(strain, t) == pytest.approx(one.to(strain, t), rel=1e-8)
    alpha = [s.system.remembered(s.body) for s in (one, every)]
    most = alpha[0]["plastic_strain"].max()
    assert alpha[1]["plastic_strain_1"].max() == pytest.approx(most, rel=1e-8)
    assert most > 0.04
    names = ["S", "plastic_strain", "membrane_force"]
    exact, layer = (
        sa.sample(s.system, s.body, fields=names, at="cell", layer=number).cell_data
        for s, number in ((one, None), (every, 1))
    )
    for name, tolerance in zip(names, (1e-3, 1e-3, 1e-9), strict=True):  # means of all, or middle
        size = np.abs(exact[name]).max()
        np.testing.assert_allclose(layer[name], exact[name], atol=tolerance * size)
    system, body = every.system, every.body
    with refused(KinematicsError, asked="S"):
        sa.sample(system, body, fields=["S"], at="gauss", layer=(1, "top"))
    with refused(KinematicsError, asked="S"):
        sa.sample(system, body, fields=["S"], at="lattice", layer=1)


def sandwich(comm: MPI.Comm) -> Strip:
    """Thin faces that relax on both sides of rubber that does not."""
    core = (energies.yeoh(), 0.05, 0.0, {"C10": 0.5, "k": 10.0})
    layers = sa.Layers([(SOFT, 0.05), core, (SOFT, 0.05)])
    return Strip(ancf_thin_plate, layers, comm, **RUBBER)


def test_ranks_and_restarts_change_nothing(shared_tmp_path: Path) -> None:
    one, every = sandwich(MPI.COMM_SELF), sandwich(MPI.COMM_WORLD)
    first = [s.to(0.1, 1.0) for s in (one, every)]
    every.problem.save(shared_tmp_path / "sandwich.h5")
    again = sandwich(MPI.COMM_SELF)
    again.problem.restore(shared_tmp_path / "sandwich.h5")
    forces = [s.to(0.05, 1.5) for s in (one, every, again)]
    np.testing.assert_allclose([first[1], *forces[1:]], [first[0], *forces[:1] * 2], rtol=1e-10)
    lost = one.system.remembered(one.body)
    assert lost["dissipated_1"].sum() > 1e-5
    assert 0.0 < forces[0] < first[0]


def test_two_rules_for_a_layer_with_memory_are_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    with refused(KinematicsError, asked="volumetric", possible=("full",)):
        sa.Body(mesh["body"], ancf_plate, sa.Layers([(SOFT, 0.1)]), **RUBBER)

# SPDX-License-Identifier: BSD-3-Clause
"""Prony series on the strains of rods, thin plates and plane cables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused
from tests.remembering import require_ranks_and_restarts

G, TAU = (0.3, 0.2), (0.5, 5.0)
TIGHT = {"snes_rtol": 1e-12}


def relaxed(t: float) -> float:
    """Return what is left of a stress."""
    return 1.0 - sum(g * (1.0 - np.exp(-t / tau)) for g, tau in zip(G, TAU, strict=True))


def rod(
    comm: MPI.Comm = MPI.COMM_SELF, unit: float = 1.0, cells: int = 4, g2: float = G[1]
) -> sa.Body:
    """Return a strip, its length 0.5 m in a unit."""
    mesh = sa.Mesh.box((0.5 * unit,), (cells,), cell="line3", comm=comm)
    given = sa.Section.rectangle(0.03 * unit, 0.01 * unit).rod(E=1e6 / unit**2, nu=0.3)
    series = {"g1": G[0], "g2": g2, "tau1": TAU[0], "tau2": TAU[1]}
    law = sa.energies.prony(sa.energies.rod(), g=G, tau=TAU)
    return sa.Body(mesh["body"], sa.elements.ancf_rod, law, name="rod", **given, **series)


def plate() -> sa.Body:
    """Return a thin sheet of 0.5 m."""
    mesh = sa.Mesh.box((0.5, 0.1), (4, 1), comm=MPI.COMM_SELF)
    law = sa.energies.prony(sa.energies.kirchhoff(), g=G, tau=TAU)
    given = {"E": 1e6, "nu": 0.3, "thickness": 0.01}
    return sa.Body(mesh["body"], sa.elements.ancf_thin_plate, law, name="plate", **given)


def cable() -> sa.Body:
    """Return a cable in the plane, of 0.5 m."""
    mesh = sa.Mesh.box((0.5,), (4,), comm=MPI.COMM_SELF)
    law = sa.energies.prony(sa.energies.cable(curvature="plane"), g=G, tau=TAU)
    return sa.Body(mesh["body"], sa.elements.ancf_cable, law, name="cable", EA=1e3, EI=1.0)


@pytest.mark.parametrize("make", [rod, plate, cable])
def test_the_force_of_a_held_end_relaxes_by_the_series(make: Callable[[], sa.Body]) -> None:
    """A large deflection that is held; what was stored in the terms is dissipated."""
    body, size = make(), sa.Parameter("size", 0.0)
    axis, place = ("y", 1) if make is cable else ("z", 2)
    end = sa.fix(body["x1"], axis, displacement=[size if k == place else 0.0 for k in range(3)])
    flat = [sa.fix(body["all"], ["z", "slope.z"])] if make is cable else []
    system = sa.System(body, terms=[sa.fix(body["x0"]), end, *flat])
    problem = sa.StaticProblem(system, options=TIGHT)
    problem.solve(to=0.0)
    size.value = 0.1
    problem.solve(to=0.0)
    first, W = end.reaction(system).force[place], system.strain_energy()
    for t in (0.01, 1.0, 100.0):
        problem.solve(to=t)
        assert end.reaction(system).force[place] == pytest.approx(first * relaxed(t), rel=2e-5)
    lost = system.remembered(body)["dissipated"]
    assert W - system.strain_energy() == pytest.approx(sum(G) * W, rel=2e-5)
    assert lost.min() >= 0.0


def test_creep_of_a_rod_follows_the_retardation_of_one_term() -> None:
    """u/u0 = 1/(1 - g) - g/(1 - g) exp(-(1 - g) t/tau), of second order in time."""
    load = sa.Parameter("load", 0.0)
    (g, _), (tau, _), errors = G, TAU, []
    body = rod(cells=1, g2=1e-12)
    for steps in (8, 16):
        load.value = 0.0
        system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, load))])
        problem = sa.StaticProblem(system, options=TIGHT)
        problem.solve(to=0.0)
        load.value = 1e-7
        problem.solve(to=0.0)
        first = system.displacement(body["x1"])[0]
        problem.solve(to=1.0, step=1.0 / steps)
        exact = first * (1 - g * np.exp(-(1 - g) / tau)) / (1 - g)
        errors.append(system.displacement(body["x1"])[0, 2] / exact[2] - 1.0)
    assert 3.7 < errors[0] / errors[1] < 4.3
    assert abs(errors[1]) < 2e-3


class Bent:
    """A clamped rod that a force bends until t = 1 and then holds, in some units.

    No step is cut: which ones are would follow the last bits of kernels.
    """

    def __init__(self, comm: MPI.Comm, length: float = 1.0) -> None:
        self.body, self.length = rod(comm, length), length
        pull = sa.force(
            self.body["x1"], lambda t: min(t, 1.0) * 1e-3 * np.array([300.0, 2.0, -10.0])
        )
        self.system = sa.System(self.body, terms=[sa.fix(self.body["x0"]), pull])
        self.problem = sa.StaticProblem(self.system, options=TIGHT)

    def run(self, to: float) -> None:
        self.problem.solve(to=to, step=0.25)
        assert self.problem.history.cut_backs == 0

    def results(self) -> Any:
        """Return displacement and energy dissipated, in the units of the first."""
        u = self.system.displacement(self.body.at((0.5 * self.length, 0.0, 0.0)))[0]
        lost = self.system.remembered(self.body)["dissipated"].sum()
        return 1e3 * np.array([*u, lost]) / self.length


@pytest.mark.collective
def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    require_ranks_and_restarts(Bent, shared_tmp_path, 1.5, 3.0)


def test_newtons_method_needs_as_few_steps_as_without_memory() -> None:
    """A line search on the potential would cut steps along which a rod turns, to 10 iterations."""
    model = Bent(MPI.COMM_SELF)
    model.run(1.0)
    assert model.problem.history.iterations <= 6 * 4


def test_units_change_nothing() -> None:
    one, other = Bent(MPI.COMM_SELF), Bent(MPI.COMM_SELF, 1e3)
    for model in (one, other):
        model.run(2.0)
    np.testing.assert_allclose(other.results(), one.results(), rtol=1e-6, atol=1e-12)


def test_what_does_not_relax_is_refused() -> None:
    with refused(sa.KinematicsError, asked="r"):
        sa.energies.prony(lambda epsilon, r, *, EA: EA * epsilon**2 * r[0], g=(0.1,), tau=(1.0,))

    @sa.memory(a=0)
    def wrong(J: Any, *, a: Any, k: Any) -> Any:
        parts = {"one": k * (J - 1 - a) ** 2, "other": k * (J - 1) ** 2}
        return sa.remember(parts, a=J - 1, stored={"other": parts["other"]})

    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    with refused(sa.KinematicsError, asked="stored", given=("other",)):
        sa.Body(mesh["body"], sa.elements.hex8_plain, wrong, k=1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""Threads in solids: closed forms, laws, tensions, lengths that are kept, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp

import symancf as sa
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]
LINE = [(0.0, 0.4, 0.3), (2.0, 0.4, 0.3)]


def bar(E: float = 1e6, n: tuple[int, int, int] = (4, 2, 2), L: float = 1.0) -> sa.Body:
    """Return a bar of length 2 and section 1 (times L) without lateral contraction."""
    mesh = sa.Mesh.box((2.0 * L, L, L), n)
    law = sa.energies.saint_venant_kirchhoff()
    return sa.Body(mesh["body"], sa.elements.hex8, law, name="bar", E=E, nu=0.0)


def pulled(body: sa.Body, by: Any, *terms: Any) -> sa.System:
    """Return the bar between two planes, one of which moves along x."""
    guides = [sa.fix(body["body"], ["y", "z"]), sa.fix(body["x0"], "x")]
    moved = sa.fix(body["x1"], displacement=(by, 0.0, 0.0))
    return sa.System(body, terms=[*guides, moved, *terms])


def stretched(body: sa.Body, thread: sa.Thread, by: Any = 0.2) -> sa.System:
    system = pulled(body, by, thread)
    sa.StaticProblem(system).solve()
    return system


def test_a_thread_along_a_bar() -> None:
    body = bar()
    thread = sa.Thread(LINE, body, EA=3e5)
    system = stretched(body, thread, 0.1)
    np.testing.assert_allclose(thread.strains(system), 0.05, rtol=1e-9)
    np.testing.assert_allclose(thread.tensions(system), 1.5e4, rtol=1e-9)
    assert thread.values(system).sum() == pytest.approx(3e5 / 2 * 0.05**2 * 2.0, rel=1e-9)
    (line,) = thread.profiles(system)
    assert line.length.shape == (8,)
    np.testing.assert_allclose(line.position[:, 0], 1.05 * line.length, rtol=1e-9)
    assert (np.diff(line.length) > 0).all()
    result = sa.check(system, amplitude=1e-2)
    assert result.passed, result
    assert result.symmetry < 1e-12


@pytest.mark.collective(rows=0)
def test_several_paths_are_told_apart() -> None:
    body = bar()
    thread = sa.Thread([LINE, [(0.0, 0.6, 0.6), (1.0, 0.6, 0.6)]], body, EA=1.0)
    system = stretched(body, thread)
    one, two = thread.profiles(system)
    assert (len(one.length), len(two.length)) == (8, 4)
    np.testing.assert_allclose(one.length[:4], two.length, atol=1e-8)
    assert thread.tensions(system).shape == (12,)


@pytest.mark.collective(rows=0)
def test_laws_of_the_strain() -> None:
    def stiffening(epsilon: sp.Expr, *, k: sp.Expr, c: float = 2.0) -> sp.Expr:
        return k / 2 * epsilon**2 + c * epsilon**4

    body = bar()
    thread = sa.Thread(LINE, body, law=stiffening, k=3.0)
    np.testing.assert_allclose(thread.tensions(stretched(body, thread)), 0.308, rtol=1e-9)

    def green(epsilon_green: sp.Expr, *, EA: sp.Expr) -> sp.Expr:
        return EA / 2 * epsilon_green**2

    thread = sa.Thread(LINE, body, law=green, EA=10.0)
    tension = 10.0 * 1.1 * (1.1**2 - 1) / 2
    np.testing.assert_allclose(thread.tensions(stretched(body, thread)), tension, rtol=1e-9)


def test_a_slack_thread_carries_no_compression() -> None:
    body = bar()
    for slack, force in ((False, -0.1), (True, 0.0)):
        thread = sa.Thread(LINE, body, EA=1.0, slack=slack)
        system = stretched(body, thread, -0.2)
        np.testing.assert_allclose(thread.tensions(system), force, atol=1e-9)
        np.testing.assert_allclose(thread.strains(system), -0.1, rtol=1e-9)
    thread = sa.Thread(LINE, body, EA=1.0, slack=True)
    np.testing.assert_allclose(thread.tensions(stretched(body, thread)), 0.1, rtol=1e-9)


def test_a_thread_that_yields_remembers() -> None:
    @sa.memory(plastic=0)
    def yielding(epsilon: sp.Expr, *, plastic: sp.Expr, EA: sp.Expr, most: sp.Expr) -> Any:
        trial = EA * (epsilon - plastic)
        over = sp.Max(sp.Abs(trial) - most, 0)
        slid = over * sp.sign(trial) / EA
        W = trial**2 / (2 * EA) - over**2 / (2 * EA)
        force = trial - EA * slid
        stored, lost = force**2 / (2 * EA), force * slid
        return sa.remember(W, plastic=plastic + slid, stored=stored, dissipated=lost)

    body = bar()
    thread = sa.Thread(LINE, body, law=yielding, EA=10.0, most=0.5)
    system = pulled(body, lambda t: 0.4 * (1 - abs(t - 1)), thread)
    problem = sa.StaticProblem(system)
    problem.solve(to=1.0, step=0.5)
    np.testing.assert_allclose(thread.tensions(system), 0.5, rtol=1e-9)
    problem.solve(to=1.5, step=0.5)
    np.testing.assert_allclose(thread.tensions(system), 10.0 * (0.1 - 0.15), rtol=1e-9)


def test_a_stiffness_that_changes_and_another_system() -> None:
    body, EA = bar(), sa.Parameter("EA", 1.0)
    thread = sa.Thread(LINE, body, EA=EA)
    systems = [pulled(body, by, thread) for by in (0.2, 0.4)]
    for system, strain in zip(systems, (0.1, 0.2), strict=True):
        sa.StaticProblem(system).solve()
        np.testing.assert_allclose(thread.tensions(system), strain, rtol=1e-9)
    EA.value = 5.0
    for system, strain in zip(systems, (0.1, 0.2), strict=True):
        sa.StaticProblem(system).solve()
        np.testing.assert_allclose(thread.tensions(system), 5.0 * strain, rtol=1e-9)
    EA.value = -1.0
    with refused(sa.ParameterError, asked="EA", given=-1.0):
        sa.StaticProblem(systems[0]).solve()


@pytest.mark.collective(rows=0)
def test_the_units_make_no_difference() -> None:
    found = []
    for L, force in ((1.0, 1.0), (1e3, 1e-3)):  # m, N and mm, mN
        body = bar(1e6 / force / L**2, L=L)
        path = sa.Helix(
            0.3 * L,
            pitch=0.7 * L,
            length=1.8 * L,
            centre=(0.1 * L, 0.5 * L, 0.5 * L),
            frame=np.eye(3)[:, [1, 2, 0]],
        )
        thread = sa.Thread(path, body, EA=2e5 / force)
        load = sa.traction(body["x1"], (0.0, 1e4 / force / L**2, 0.0))
        system = sa.System(body, terms=[sa.fix(body["x0"]), load, thread])
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        found.append((thread.tensions(system) * force, thread.strains(system)))
    for m, mm in zip(*found, strict=True):
        np.testing.assert_allclose(m, mm, atol=1e-9 * np.abs(m).max())


def test_one_strain_for_each_cell() -> None:
    body = bar(n=(5, 2, 2))
    thread = sa.Thread(LINE, body, EA=1.0, per="cell")
    system = stretched(body, thread)
    np.testing.assert_allclose(thread.profiles(system)[0].length, [0.2, 0.6, 1.0, 1.4, 1.8])


def test_lengths_that_are_kept() -> None:
    """The thread takes what the solid would: with no strain there N = EA eps of the rest alone."""
    body = bar(E=1e5, n=(5, 2, 2))
    line = sa.length(body.along(LINE))
    load = sa.traction(body["x1"], (1e3, 0.0, 0.0))
    system = sa.System(body, terms=[sa.fix(body["x0"]), load, line])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(line.reference_lengths(system), 0.4, rtol=1e-7)
    np.testing.assert_allclose(line.lengths(system), line.reference_lengths(system), rtol=1e-12)
    stiff = sa.Thread(LINE, body, EA=1e10, per="cell")
    other = sa.System(body, terms=[sa.fix(body["x0"]), load, stiff])
    sa.StaticProblem(other).solve()
    np.testing.assert_allclose(line.multipliers(system)[:, 0], stiff.tensions(other), rtol=2e-3)
    whole = sa.length(body.along(LINE), per="line")
    third = sa.System(body, terms=[sa.fix(body["x0"]), load, whole])
    sa.StaticProblem(third).solve()
    assert whole.multipliers(third).shape == (1, 1)
    np.testing.assert_allclose(whole.lengths(third), 2.0, rtol=1e-10)


def test_samples_pictures_and_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    body = bar()
    paths = [LINE, [(0.0, 0.6, 0.6), (1.0, 0.6, 0.6)]]
    thread = sa.Thread(paths, body, EA=10.0, name="cord")
    system = stretched(body, thread)
    comm = body.region.mesh.comm
    samples = sa.output.gather(comm, sa.sample(system, thread))
    assert "tension" in sa.results(system)["cord"].point_data
    folder = comm.bcast(tmp_path_factory.mktemp("files") if comm.rank == 0 else None)
    series = sa.output.Series(folder / "bar.vtkhdf")
    series.write(system.time, sa.results(system))
    image = sa.view.render([sa.sample(system, thread)], field="tension", engine="matplotlib")
    assert image is not None
    if samples is None:
        return
    assert samples.cells["line"].shape == (7 + 3, 2)
    X, u = samples.points - samples.point_data["displacement"], samples.point_data["displacement"]
    np.testing.assert_allclose(u[:, 0], 0.1 * X[:, 0], atol=1e-5)
    np.testing.assert_allclose(samples.point_data["tension"], 1.0, rtol=1e-4)
    samples.check()


@pytest.mark.collective(rows=0)
def test_more_equations_than_the_solid_can_fulfil() -> None:
    body = bar(n=(4, 1, 1))  # 20 nodes: 60 unknowns
    lines = [[(0.0, y, z), (2.0, y, z)] for y in (0.3, 0.5, 0.7) for z in (0.2, 0.4, 0.6, 0.8)]
    dense = sa.length(body.along(lines))
    with refused(sa.ConstraintError, asked="path", given=48, possible=(40,)):
        sa.System(body, terms=[sa.fix(body["x0"]), dense])
    sa.System(body, terms=[sa.fix(body["x0"]), sa.length(body.along(lines), per="line")])


@pytest.mark.collective(rows=0)
def test_bad_input() -> None:
    body = bar()
    with refused(sa.ParameterError, asked="solid", given=1.0):
        sa.Thread(LINE, 1.0, EA=1.0)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="EA", possible=("EA", "law")):
        sa.Thread(LINE, body)
    with refused(sa.ParameterError, asked="EA", given=-1.0):
        sa.Thread(LINE, body, EA=-1.0)
    with refused(sa.ParameterError, asked="EA", given=(1.0, 2.0)):
        sa.Thread(LINE, body, EA=[1.0, 2.0])  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="per", given="edge", possible=("point", "cell")):
        sa.Thread(LINE, body, EA=1.0, per="edge")  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="slack", given=1, possible=(True, False)):
        sa.Thread(LINE, body, EA=1.0, slack=1)  # type: ignore[arg-type]
    with refused(sa.KinematicsError, asked="kappa", possible=("epsilon", "epsilon_green")):
        sa.Thread(LINE, body, law=lambda kappa, *, EI: EI * kappa**2, EI=1.0)
    with refused(sa.ParameterError, asked="k"):
        sa.Thread(LINE, body, law=lambda epsilon, *, k: k * epsilon**2)
    with refused(sa.ParameterError, asked="per", given="edge", possible=("cell", "line")):
        sa.length(body.along(LINE), per="edge")
    other = bar()
    with refused(sa.ParameterError, asked="body"):
        sa.System(body, terms=[sa.fix(body["x0"]), sa.Thread(LINE, other, EA=1.0)])

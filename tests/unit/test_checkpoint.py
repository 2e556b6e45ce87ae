# SPDX-License-Identifier: BSD-3-Clause
"""A checkpoint is whole or the one before, whatever ends the run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

import symancf as sa
from symancf.energies import cable, saint_venant_kirchhoff
from tests.mpi import environment
from tests.refusals import refused
from tests.unit.test_review import pressed

RUN = """
import sys
from tests.unit.test_checkpoint import rope
import symancf as sa
system = rope()
number = 0
while True:
    number += 1
    system.state[:] = number
    sa.checkpoint.save(sys.argv[1], system, {"rate": 2.0 * system.state}, {"number": number})
    if number == 3:
        print("going", flush=True)
"""


def rope(cells: int = 3000) -> sa.System:
    mesh = sa.Mesh.box((1.0,), (cells,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=1e3, EI=1.0)
    return sa.System(body, terms=[sa.fix(body["x0"])])


def test_a_run_killed_while_it_saves_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    system = rope()
    torn = 0
    for attempt in range(6):
        path = tmp_path / f"run{attempt}.h5"
        command = [sys.executable, "-c", RUN, str(path)]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.0037 * attempt)
            process.send_signal(signal.SIGKILL)
            process.wait()
        torn += (tmp_path / f".{path.name}.partial").exists()
        vectors, attributes = sa.checkpoint.load(path, system)
        assert attributes["number"] >= 3
        np.testing.assert_array_equal(vectors["state"], attributes["number"])
        np.testing.assert_array_equal(vectors["rate"], 2.0 * attributes["number"])
        if torn and attempt >= 2:
            break
    assert torn > 0  # else nothing was tested
    sa.checkpoint.save(path, system)  # what is left over does not disturb
    assert not (tmp_path / f".{path.name}.partial").exists()


def test_vectors_of_another_kind_are_refused(tmp_path: Path) -> None:
    system = rope(4)
    whole = np.arange(system._discrete.numbering.coordinates)
    for name, vector in (("rate", whole), ("a/b", whole * 1.0), ("rate", whole[1:] * 1.0)):
        with refused(sa.ParameterError, asked=name):
            sa.checkpoint.save(tmp_path / "x.h5", system, {name: vector})
    assert list(tmp_path.iterdir()) == []


def test_a_static_problem_keeps_its_attributes_and_errors(tmp_path: Path) -> None:
    system = rope(4)
    problem = sa.StaticProblem(system)
    system.state[:] = 0.25
    system.time = 0.5
    assert problem.save(tmp_path / "x.h5", {"force": 3.0}) == tmp_path / "x.h5"
    again = sa.StaticProblem(rope(4))
    assert again.restore(tmp_path / "x.h5") == {"time": 0.5, "stiffness": 1.0, "force": 3.0}
    np.testing.assert_array_equal(again.system.state, 0.25)
    assert again.system.time == 0.5
    with refused(
        sa.CheckpointError,
        path=str(tmp_path / "x.h5"),
        differences=lambda found: len(found) == 5 and any("4 ancf_cable" in d for d in found),
    ):
        sa.StaticProblem(rope(5)).restore(tmp_path / "x.h5")


def test_slopes_that_supports_turned_are_turned_back(tmp_path: Path) -> None:
    """A clamp at an oblique edge stores slopes along it; other supports read them all the same."""
    found = []
    for dofs in ("clamp", "all"):
        mesh = sa.Mesh.box(
            (1.0, 0.5), (2, 1), warp=lambda X: X @ [[0.8, 0.6, 0], [-0.6, 0.8, 0], [0, 0, 1]]
        )
        body = sa.Body(
            mesh["body"],
            sa.elements.ancf_plate,
            saint_venant_kirchhoff(),
            thickness=0.1,
            E=1e5,
            nu=0.3,
        )
        load = sa.traction(body["x1"], (1.0, 2.0, 30.0))
        system = sa.System(body, terms=[sa.fix(body["x0"], dofs), load])
        problem = sa.StaticProblem(system, check_held=False)
        if dofs == "clamp":
            problem.solve()
            problem.save(tmp_path / "clamped.h5")
        else:
            problem.restore(tmp_path / "clamped.h5")
        found.append((system.reference, system.gradient(body["body"])))
    assert np.abs(found[0][0] - found[1][0]).max() > 0.1
    assert np.abs(found[0][1] - np.eye(3)).max() > 1e-2
    np.testing.assert_allclose(found[1][1], found[0][1], atol=1e-12)


def test_a_file_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    system, path = rope(4), tmp_path / "old.h5"
    sa.checkpoint.save(path, system)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 2
        del file.attrs["checksum"]
    with refused(sa.CheckpointError, asked=str(path), given="symancf checkpoint"):
        sa.StaticProblem(system).restore(path)


def test_a_state_is_written_and_read(tmp_path: Path) -> None:
    system, _, way = pressed()
    problem = sa.StaticProblem(system)
    way.value = 0.01
    problem.solve(to=0.5, step=0.25)
    there = problem.state
    sa.checkpoint.write(tmp_path / "state.h5", system, there, {"kind": "pressed"})
    problem.solve(to=1.0, step=0.25)
    state, attributes = sa.checkpoint.read(tmp_path / "state.h5", system)
    assert attributes["kind"] == "pressed"
    assert (state.time, state.stiffness, state.parameters) == (0.5, there.stiffness, ())
    np.testing.assert_array_equal(state.displacement, there.displacement)
    np.testing.assert_array_equal(state.terms, there.terms)
    assert state.method == there.method
    system._discrete.restore(state)
    assert system.time == 0.5

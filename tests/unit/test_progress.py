# SPDX-License-Identifier: BSD-3-Clause
"""The line of progress: on a terminal while a problem is solved, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable
from symancf.runtime import progress
from symancf.runtime.options import SolverOptions

NONE = SolverOptions("", None)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Return what makes standard error a terminal and gives its other end; lines are due at once.

    Pytest puts a file in the place of standard error as the test begins.
    """
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream, os.fdopen(ours, "rb") as end:
        monkeypatch.setattr(progress, "DELAY", 0.0)
        monkeypatch.setattr(progress, "PAUSE", 0.0)
        monkeypatch.delenv("SYMANCF_PROGRESS", raising=False)

        def use() -> int:
            monkeypatch.setattr(sys, "stderr", stream)
            return end.fileno()

        yield use


def written(end: int) -> str:
    """Return all that has come: the system hands it on in pieces, a little later."""
    pieces = []
    while select.select([end], [], [], 0.3)[0]:
        pieces.append(os.read(end, 1 << 16))
    return b"".join(pieces).decode()


def solved(how: str, **options: object) -> None:
    mesh = sa.Mesh.box((1.0,), (3,))
    given = {"EA": 1e4, "EI": 1.0, "rho": 1.0, "A": 1.0}
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), **given)
    weight = sa.Parameter("weight", 1.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, weight))])
    if how == "statics":
        sa.StaticProblem(system, options=options).solve(step=0.5)
    elif how == "path":
        problem = sa.StaticProblem(system, options=options)
        problem.solve()
        problem.follow(weight, to=2.0, step=0.5)
    else:
        motion = sa.DynamicProblem(system, method=how, options=options)
        motion.monitor(lambda step: None)  # lets C make one step at a time
        motion.solve(to=2e-3, step=1e-3)


@pytest.mark.parametrize("how", ["statics", "path", "generalized-alpha", "rk"])
def test_each_line_takes_the_place_of_the_last_and_none_is_left(
    how: str, terminal: Callable[[], int]
) -> None:
    end = terminal()
    solved(how)
    text = written(end)
    lines = text.split("\r\x1b[K")
    assert "\n" not in text
    assert lines[0] == lines[-1] == ""
    told = [line for line in lines if re.search(r", step 2, .* iterations.*, \d+ s$", line)]
    left = [line for line in lines if re.search(r", 50 %, about \d+ s left, \d+ s$", line)]
    assert len(left) == (how in ("statics", "generalized-alpha"))
    assert told
    assert told[0].startswith("symancf: time ")
    assert any(", iteration 1, " in line for line in lines) == (how in ("statics", "path"))


@pytest.mark.parametrize("why", ["short", "off", "monitor"])
def test_no_line(why: str, terminal: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "short":
        monkeypatch.setattr(progress, "DELAY", 60.0)
    elif why == "off":
        monkeypatch.setenv("SYMANCF_PROGRESS", "0")
    end = terminal()
    solved("statics", **({"snes_monitor": None} if why == "monitor" else {}))
    assert written(end) == ""


def test_a_problem_within_another_is_silent_and_a_lost_terminal_is_no_error(
    terminal: Callable[[], int],
) -> None:
    end = terminal()
    outer, inner = progress.Progress(MPI.COMM_WORLD, NONE), progress.Progress(MPI.COMM_WORLD, NONE)
    with outer:
        with inner:
            inner.step(1.0, 1, 1)
        assert written(end) == ""
        outer.step(1.0, 1, 1)
        assert "time 1, step 1, 1 iterations" in written(end)
        sys.stderr.close()
        outer.step(2.0, 1, 1)
        outer.clear()


@pytest.mark.parametrize("how", ["statics", "generalized-alpha"])
def test_lines_in_a_file(
    how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SYMANCF_PROGRESS", raising=False)
    solved(how)
    assert capsys.readouterr().err == ""  # nothing before half a minute
    monkeypatch.setattr(progress, "APART", 0.0)
    monkeypatch.setattr(progress, "PART", 0.0)
    solved(how)
    *_, half, end = [line for line in capsys.readouterr().err.splitlines() if "iterations" in line]
    time = 0.5 if how == "statics" else 0.001
    assert re.fullmatch(
        rf"symancf: time {time}, step 1, \d+ iterations, 50 %, about \d+ s left, \d+ s", half
    )
    assert re.fullmatch(rf"symancf: time {2 * time:g}, step 2, \d+ iterations, \d+ s", end)


def test_films_tell_how_many_frames_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SYMANCF_PROGRESS", raising=False)
    frames = [np.full((40, 60, 3), grey, dtype=np.uint8) for grey in (0, 90, 180)]
    sa.view.write_film(frames, tmp_path / "a.gif")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "APART", 0.0)
    monkeypatch.setattr(progress, "PART", 0.0)
    sa.view.write_film(iter(frames), tmp_path / "b.gif")
    sa.view.write_film(frames, tmp_path / "c.gif")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [f"symancf: b.gif, frame {k}, 0 s" for k in (1, 2, 3)]
    assert lines[3] == "symancf: c.gif, frame 1 of 3, 33 %, about 0 s left, 0 s"
    assert lines[5] == "symancf: c.gif, frame 3 of 3, 0 s"


def test_lines_in_a_file_grow_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    now = [0.0]
    monkeypatch.delenv("SYMANCF_PROGRESS", raising=False)
    monkeypatch.setattr(progress.clock, "monotonic", lambda: now[0])
    line = progress.Progress(MPI.COMM_WORLD, NONE)
    monkeypatch.setattr(line, "_write", lines.append)
    with line:
        line.way = 0.0, 100_000.0
        for second in range(100_000):
            now[0] = float(second)
            line.step(float(second), 1, 1)
    assert 60 < len(lines) < 80
    assert lines[0] == "symancf: time 30, step 31, 1 iterations, 0 %, about 28 h left, 30 s"


class Nothing:
    """Two calls that do nothing."""

    def clear(self) -> None:
        pass

    def step(self, time: float, iterations: int, linear: int) -> None:
        pass


def test_what_is_off_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMANCF_PROGRESS", "0")
    line, nothing = progress.Progress(MPI.COMM_WORLD, NONE), Nothing()

    def spent(line: Any) -> float:
        start = time.process_time()
        for number in range(20_000):
            line.clear()
            line.step(0.0, number, 1)
        return time.process_time() - start

    with line:
        times = [(spent(line), spent(nothing)) for _ in range(5)]
    own, calls = np.min(times, axis=0)
    assert own < 5.0 * calls  # 1.7 to 2: asking the clock or PETSc is 10 and more


@pytest.mark.parametrize("how", ["statics", "generalized-alpha"])
def test_a_line_for_each_step(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    solved(how, step_monitor=True)
    first, *lines = capsys.readouterr().out.splitlines()
    factors = r"LDL\^T or LU on a fixed sparsity pattern"
    assert re.fullmatch(rf"linear solver: {factors} \(-pc_type \w+\)", first)
    numbers = r"Newton +\d+  linear +\d+  CPU +[\d.]+ s  clock +[\d.]+ s  memory +\d+ MB"
    assert len(lines) >= 2
    for k, line in enumerate(lines[:2]):
        assert re.fullmatch(rf"step +{k + 1}  time [\d.]+ +{numbers}", line), line
    solved(how, step_monitor=False)
    assert capsys.readouterr().out == ""

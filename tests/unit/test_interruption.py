# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C while PETSc works: after the iteration, with the state of the last step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from symancf.runtime.interruption import Interruption
from tests.refusals import refused


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> Iterator[None]:
    """A shell starts jobs in the background deaf to Ctrl-C, and Python leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def beam(load: Any = -1.0) -> sa.System:
    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (3, 1, 1))
    body = sa.Body(
        mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), E=1e5, nu=0.3, rho=1e3
    )
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity((0, 0, load))])


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Load:
    """A load that interrupts in the midst of an evaluation, once."""

    def __init__(self, after: float) -> None:
        self.after, self.done = after, False

    def __call__(self, t: float) -> float:
        if t > self.after and not self.done:
            self.done = True
            ctrl_c()
        return -t


@pytest.mark.parametrize("solver", [{"pc_type": "lu"}, {"ksp_type": "cg", "pc_type": "jacobi"}])
def test_statics_stop_at_the_last_step(solver: dict[str, str]) -> None:
    system = beam(Load(0.35))
    problem = sa.StaticProblem(system, options=solver)
    with pytest.raises(KeyboardInterrupt) as end:
        problem.solve(step=0.1)
    assert "3 steps, at time 0.3;" in str(end.value)
    assert len(end.traceback) <= 4  # of this test, of solve and of what ends it
    assert system.time == problem.history.time[-1] == pytest.approx(0.3)
    problem.solve(step=0.1)
    alone = sa.StaticProblem(other := beam(lambda t: -t), options=solver)
    alone.solve(step=0.1)
    np.testing.assert_allclose(system.state, other.state, rtol=0, atol=1e-9)


def test_a_followed_path_stops_at_its_last_point() -> None:
    g = sa.Parameter("g")
    system = beam(g)
    problem = sa.StaticProblem(system)
    problem.monitor(lambda step: ctrl_c() if len(problem.history.steps) == 3 else None)
    with pytest.raises(KeyboardInterrupt):
        problem.follow(g, to=-1.0, step=0.1, largest=0.1)
    assert len(problem.history.steps) == 3
    assert g.value == problem.history["g"][-1]
    problem.follow(g, to=-1.0)
    assert g.value == -1.0


@pytest.mark.parametrize("method", ["generalized-alpha", "rk", "adams"])
def test_motions_stop_at_the_last_step(method: str) -> None:
    system = beam(Load(0.0035))
    problem = sa.DynamicProblem(system, method=method)
    adaptive = False if method == "rk" else None  # its second step would end the motion
    with pytest.raises(KeyboardInterrupt) as ended:
        problem.solve(to=0.01, step=1e-3, adaptive=adaptive)
    steps = "1 step" if problem.steps == 1 else f"{problem.steps} steps"
    assert f"after {steps}, at time {system.time:g};" in str(ended.value)
    assert len(ended.traceback) < 5
    assert system.time == problem.history.time[-1]
    assert 0.001 <= system.time < 0.008
    problem.solve(to=0.01, step=1e-3)
    assert problem.history.time[-1] == pytest.approx(0.01)


def test_an_error_in_a_step_leaves_the_last_one() -> None:
    """An implicit step that was begun is taken back, with the time."""

    def load(t: float) -> float:
        if t > 0.0035:
            raise ArithmeticError("wrong")
        return -t

    problem = sa.DynamicProblem(system := beam(load))
    with refused(sa.ParameterError, asked="z", given="ArithmeticError('wrong')"):
        problem.solve(to=0.01, step=1e-3)
    assert system.time == problem.history.time[-1] == pytest.approx(0.003)


def test_a_handler_of_the_program_is_called_after_the_iteration() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        problem = sa.StaticProblem(beam(Load(0.35)))
        problem.solve(step=0.1)
        assert heard == [signal.SIGINT]
        assert problem.history.time[-1] == 1.0
        ctrl_c()
        assert len(heard) == 2  # its own again
    finally:
        signal.signal(signal.SIGINT, before)


def test_solving_within_a_monitor_stops_both() -> None:
    outer, inner = sa.StaticProblem(beam()), sa.StaticProblem(beam(Load(0.35)))
    outer.monitor(lambda step: inner.solve(step=0.1))
    with pytest.raises(KeyboardInterrupt):
        outer.solve()
    assert inner.system.time == pytest.approx(0.3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_at_the_end_is_not_lost() -> None:
    held = Interruption(MPI.COMM_SELF)
    with pytest.raises(KeyboardInterrupt), held:
        ctrl_c()

    def fail() -> None:
        ctrl_c()
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"), held:
        fail()
    with pytest.raises(KeyboardInterrupt), held:  # the next solution does not begin
        held.check()


def test_a_second_signal_ends_the_process_within_c() -> None:
    script = """if True:
        import hashlib, signal
        from mpi4py import MPI
        from symancf.runtime.interruption import Interruption
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Interruption(MPI.COMM_SELF):
            print("held", flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # an hour in C
    """
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        try:
            assert process.wait(10.0) == -signal.SIGINT  # 130 in a shell
        finally:
            process.kill()

# SPDX-License-Identifier: BSD-3-Clause
"""Runs that a signal ends go on with the same bits, from the same script."""

from __future__ import annotations

import math
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import cable, yeoh
from symancf.runtime.interruption import Suspension
from tests.refusals import refused

Script = Callable[[Path, int], dict[str, Any]]


@pytest.fixture(autouse=True)
def _no_signal() -> Iterator[None]:
    Suspension.noted = 0
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # deaf in the background
    yield
    signal.signal(signal.SIGINT, before)
    Suspension.noted = 0


def squeeze(folder: Path, at: int, **changed: Any) -> dict[str, Any]:
    """Two calls in statics, the second with restart points at each other step."""
    given = {"C10": 1.0, "options": {}, "to": 1.0, "load": 0.05} | changed
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(
        mesh["body"],
        sa.elements.hex8,
        yeoh(),
        name="cube",
        C10=given["C10"],
        C20=0.1,
        C30=0.0,
        k=9.0,
    )
    side, load = sa.Parameter("side", 0.05), given["load"]
    signals = dict(changed.get("signals", {}))

    def pull(t: float) -> float:
        if t in signals:
            signal.raise_signal(signals.pop(t))
        return load * t

    traction = (pull, lambda t: 0.2 * t * t, side)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.traction(body["x1"], traction)])
    history = sa.History(csv=folder / "run.csv")
    problem = sa.StaticProblem(system, options=given["options"], history=history)
    problem.record("sum", lambda: system.state.sum())
    some: list[float] = changed.get("some", [])
    problem.monitor(lambda step: some.append(step.time), every=4)
    series = sa.output.Series(folder / "run.pvd")
    watch(problem, at, lambda step: series.write(step.time, sa.sample(system, body)))
    problem.solve(to=given["to"], step=0.25, checkpoint=folder / "one.ckpt")
    between = system.state.copy()
    side.value = 0.1
    problem.solve(to=2.0, step=0.25, checkpoint=sa.Restart(folder / "two.ckpt", every=2))
    return facts(system, history, series, folder) | {"between": between}


def swing(folder: Path, at: int, **changed: Any) -> dict[str, Any]:
    """Two calls in motions of a chain with a driven end, restart points at each seventh step."""
    method = changed.get("method", "generalized-alpha")
    mesh = sa.Mesh.box((changed.get("length", 1.0),), (4,))
    rope = sa.Body(
        mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=1e3, EI=1.0, rho=1.0, A=1.0
    )
    g = sa.Parameter("g", -9.81)
    drive = (0.0, 0.0, lambda t: 0.05 * math.sin(8.0 * t) ** 2)
    terms = [sa.fix(rope["x0"], "position", displacement=drive), sa.gravity((0, 0, g), rope)]
    system = sa.System(rope, terms=terms)
    history = sa.History(csv=folder / "run.csv") if changed.get("csv") else sa.History()
    problem = sa.DynamicProblem(system, method=method, history=history)
    problem.record("tip", rope["x1"], every=5)
    series = sa.output.Series(folder / "run.pvd")
    if changed.get("seen"):
        watch(
            problem,
            at,
            lambda step: problem.steps % 9 or series.write(step.time, sa.sample(system, rope)),
        )
    elif at:
        problem.record("ask", lambda: float(asked(at, len(history.time))), every=3)
    else:
        problem.record("ask", lambda: 0.0, every=3)
    adaptive = changed.get("adaptive")
    steps = sa.Restart(folder / "one.ckpt", every=7)
    end = 0.1 if method == "generalized-alpha" else 0.03
    problem.solve(to=end, step=2e-3, adaptive=adaptive, checkpoint=steps)
    g.value = -5.0
    problem.solve(to=2.0 * end, step=2e-3, adaptive=adaptive, checkpoint=folder / "two.ckpt")
    found = facts(system, history, series, folder)
    return found | {"rate": system.rate.copy(), "energies": problem.energies}


def asked(at: int, number: int) -> bool:
    if number == abs(at):
        signal.raise_signal(signal.SIGUSR1 if at > 0 else signal.SIGINT)
    return False


def watch(problem: Any, at: int, function: Callable[[Any], object]) -> None:
    calls = [0]

    def monitor(given: Any) -> None:
        function(given)
        calls[0] += 1
        asked(at, calls[0])

    problem.monitor(monitor)


def facts(system: sa.System, history: Any, series: Any, folder: Path) -> dict[str, Any]:
    files = {p.name: p.read_bytes() for p in sorted(folder.rglob("*.*")) if p.suffix != ".ckpt"}
    return {
        "state": system.state.copy(),
        "steps": history.steps,
        "time": history.time,
        "counts": (history.cut_backs, history.wasted, len(series)),
        "series": {name: history[name] for name in history.names},
        "files": files,
    }


def require_same(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if name == "series":
            require_same(value, other[name])
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other[name], err_msg=name)
        else:
            assert value == other[name], name


def in_parts(script: Script, folder: Path, *signals: int, **given: Any) -> dict[str, Any]:
    """Run a script until each of the signals, the last time to its end."""
    folder.mkdir()
    for at in signals:
        with pytest.raises(sa.Suspended) as ended:
            script(folder, at, **given)  # type: ignore[call-arg]
        assert ended.value.code == 75
    return script(folder, 0, **given)  # type: ignore[call-arg]


def whole(script: Script, folder: Path, **given: Any) -> dict[str, Any]:
    folder.mkdir()
    return script(folder, 0, **given)  # type: ignore[call-arg]


def test_statics_go_on_bit_for_bit(tmp_path: Path) -> None:
    kind = {"pc_type": "grids"}
    once = whole(squeeze, tmp_path / "once", options=kind)
    assert len(once["steps"]) == 8
    require_same(once, in_parts(squeeze, tmp_path / "parts", 1, 2, 2, options=kind))


@pytest.mark.parametrize(
    "given",
    [
        {"seen": True, "csv": True},
        {},
        {"seen": True, "adaptive": True},
        {"seen": True, "adaptive": True, "length": 3.0},  # tolerances are in sizes
        {"seen": True, "method": "rk", "csv": True},
    ],
)
def test_motions_go_on_bit_for_bit(tmp_path: Path, given: dict[str, Any]) -> None:
    once = whole(swing, tmp_path / "once", **given)
    require_same(once, in_parts(swing, tmp_path / "parts", 6, 12, **given))


def test_ctrl_c_and_sigterm_within_a_step_keep_the_last_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = whole(squeeze, tmp_path / "once")
    (folder := tmp_path / "parts").mkdir()
    with pytest.raises(KeyboardInterrupt):
        squeeze(folder, 0, signals={0.25: signal.SIGINT})
    assert "before a step of solve has ended" in capsys.readouterr().err
    assert not list(folder.glob("*.ckpt"))
    with pytest.raises(KeyboardInterrupt):
        squeeze(folder, 0, signals={0.5: signal.SIGINT})
    assert "symancf: Ctrl-C: solve is saved in" in capsys.readouterr().err
    with pytest.raises(sa.Suspended):
        squeeze(folder, 0, signals={0.75: signal.SIGTERM})
    told = capsys.readouterr().err
    assert "SIGTERM" in told
    assert "at time 0.5;" in told
    with pytest.raises(KeyboardInterrupt):
        squeeze(folder, -1)
    assert "at time 0.75;" in capsys.readouterr().err
    with pytest.raises(sa.Suspended):
        squeeze(folder, 2)  # SIGUSR1 in the second call
    some: list[float] = []
    require_same(once, squeeze(folder, 0, some=some))
    assert some == [2.0]  # of steps 7 and 8
    told = capsys.readouterr().err
    assert "solve ended in an earlier run at time 1, after 4 steps" in told
    assert "solve continues from '" in told


@pytest.mark.parametrize("given", [{}, {"seen": True, "method": "rk"}])
def test_ctrl_c_keeps_the_last_step_of_a_motion(tmp_path: Path, given: dict[str, Any]) -> None:
    once = whole(swing, tmp_path / "once", **given)
    (folder := tmp_path / "parts").mkdir()
    with pytest.raises(KeyboardInterrupt):
        swing(folder, -6, **given)
    assert (folder / "one.ckpt").exists()
    found = swing(folder, 0, **given)
    np.testing.assert_allclose(found["time"], once["time"], rtol=1e-9)
    for name in ("state", "rate"):
        size = np.abs(once[name]).max()
        np.testing.assert_allclose(found[name], once[name], rtol=0, atol=1e-9 * size)
    assert found["counts"] == once["counts"]


def test_a_run_that_has_ended_is_not_made_again(tmp_path: Path) -> None:
    once = whole(squeeze, tmp_path / "once")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "once").glob("*.ckpt")}
    assert len(times) == 2
    require_same(once, squeeze(tmp_path / "once", 0))
    assert times == {p: p.stat().st_mtime_ns for p in times}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"C10": 1.1}, "C10 of 'cube' is 1 in the file, 1.1 here at the beginning"),
        ({"to": 1.25}, "to=1.0 in the file, 1.25 here"),
        ({"load": 0.06}, "0.05 in the file, 0.06 here at the end"),
    ],
)
def test_another_run_is_told_from_what_is_kept(
    tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    with pytest.raises(sa.Suspended):
        squeeze(tmp_path, 2)
    with refused(sa.CheckpointError, differences=lambda found: told in "; ".join(found)):
        squeeze(tmp_path, 0, **changed)


def test_what_a_monitor_changes_is_kept_or_told(tmp_path: Path) -> None:
    def run(folder: Path, at: int, parameter: bool = True) -> float:
        mesh = sa.Mesh.box((1.0,), (2,))
        rope = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=1.0, EI=1.0)
        force, hidden = sa.Parameter("force", 0.0), [0.0]
        value = force if parameter else lambda t: hidden[0]
        terms = [sa.fix(rope["x0"]), sa.force(rope["x1"], (value, 0.0, 0.0))]
        system = sa.System(rope, terms=terms)
        problem = sa.StaticProblem(system)

        def more(step: Any) -> None:
            force.value += 0.01
            hidden[0] += 0.01

        watch(problem, at, more)
        problem.solve(to=1.0, step=0.25, checkpoint=folder / "run.ckpt")
        return float(system.state.sum())

    (tmp_path / "once").mkdir()
    with pytest.raises(sa.Suspended):
        run(tmp_path, 2)
    assert run(tmp_path, 0) == run(tmp_path / "once", 0)
    (tmp_path / "run.ckpt").unlink()
    with pytest.raises(sa.Suspended):
        run(tmp_path, 2, parameter=False)
    changed = "is 0.02 in the file, 0 here"
    with refused(sa.CheckpointError, differences=lambda found: changed in "; ".join(found)):
        run(tmp_path, 0, parameter=False)


def test_signals_do_what_they_did_outside(tmp_path: Path) -> None:
    with Suspension() as suspension:
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert suspension.signal_name in ("SIGTERM", "SIGUSR1")
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    os.kill(os.getpid(), signal.SIGUSR1)  # noted from the first time on


def test_impossible_restarts_are_refused(tmp_path: Path) -> None:
    for wrong in ({"every": 0}, {"every": True}, {"minutes": -1.0}, {"path": 3}):
        with pytest.raises(sa.ParameterError):
            sa.Restart(**({"path": "x"} | wrong))  # type: ignore[arg-type]


def block(**given: Any) -> sa.Body:
    mesh, law = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1)), sa.energies.saint_venant_kirchhoff()
    return sa.Body(
        mesh["body"], sa.elements.hex8_plain, law, name="block", nu=0.3, rho=1.0, **given
    )


def softened(at: Path | None, stop: int = 0, method: str = "generalized-alpha") -> dict[str, Any]:
    """A monitor sets a modulus and a support; an event halves the speed, another one ends it."""
    E, lifted, calls = sa.Parameter("E", 10.0), sa.Parameter("lifted", 0.0), [0]
    body = block(E=E)
    support = sa.fix(body["x0"], displacement=(0.0, 0.0, lifted))
    system = sa.System(body, terms=[support, sa.gravity((0.0, 0.0, -2.0))])
    problem = sa.DynamicProblem(system, method=method)

    def height() -> float:
        return float(system.position(body.at((1.0, 1.0, 1.0)))[0, 2])

    def choose(step: Any) -> None:
        E.value, lifted.value = 10.0 + 4.0 * math.sin(5.0 * step.time), 0.01 * step.time**2
        calls[0] += 1
        if calls[0] == stop:
            signal.raise_signal(signal.SIGINT)

    def slow() -> None:
        system.rate[:] *= 0.5

    times = problem.event(lambda: height() - 0.98, slow)
    ends = problem.event(lambda: height() - 0.94, terminate=True)
    problem.monitor(choose)
    problem.record("energies", lambda: list(vars(problem.energies).values())[:5])
    restart = None if at is None else sa.Restart(at, every=1)
    given = {} if method == "generalized-alpha" else {"adaptive": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a support jumps from step to step
        problem.solve(to=0.8, step=0.04, checkpoint=restart, **given)
    return {
        "state": system.state.copy(),
        "rate": system.rate.copy(),
        "acceleration": problem.acceleration.copy(),
        "energies": np.array(list(vars(problem.energies).values())),
        "reaction": support.reaction(system).force,
        "strain": np.array(system.strain_energy()),
        "parameters": np.array([E.value, lifted.value]),
        "times": np.array([*times, *ends]),
        "history": np.column_stack([problem.history.time, problem.history["energies"]]),
        "steps": np.array([problem.steps, len(problem.history.steps)]),
    }


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_a_run_read_from_its_end_or_its_midst_is_the_one_that_was_made(
    tmp_path: Path, method: str
) -> None:
    """Energies, times of events and what supports prescribe, too; also without restart points."""
    once, free = softened(tmp_path / "once", 0, method), softened(None, 0, method)
    assert len(once["times"]) == 2
    assert once["history"][-1, 0] < 0.8
    for name, value in free.items():
        np.testing.assert_allclose(once[name], value, rtol=1e-6, atol=1e-7, err_msg=name)
    for _ in range(2):
        require_same(once, softened(tmp_path / "once", 0, method))
    for stop in (2, 5, len(once["history"])):  # the last one after the event that ends it
        with pytest.raises(KeyboardInterrupt):
            softened(tmp_path / f"at{stop}", stop, method)
        for _ in range(2):
            require_same(once, softened(tmp_path / f"at{stop}", 0, method))


def test_a_state_that_is_restored_has_the_energies_of_what_a_monitor_set() -> None:
    E = sa.Parameter("E", 10.0)
    system = sa.System(body := block(E=E), terms=[sa.fix(body["x0"]), sa.gravity((0, 0, -2.0))])
    problem = sa.DynamicProblem(system)
    problem.monitor(lambda step: setattr(E, "value", 10.0 + 20.0 * step.time))
    problem.solve(to=0.4, step=0.04)
    before, state = problem.energies, problem.state
    problem.solve(to=0.8, step=0.04)
    after = problem.energies
    for _ in range(2):
        problem.restore(state)
        assert problem.energies == before
        problem.solve(to=0.8, step=0.04)
        assert problem.energies == after


def test_what_a_support_of_statics_was_set_to_is_kept(tmp_path: Path) -> None:
    def run(at: Path, stop: int = 0) -> dict[str, Any]:
        way, body = sa.Parameter("way", 0.0), block(E=10.0)
        system = sa.System(
            body, terms=[sa.fix(body["x0"]), sa.fix(body["x1"], displacement=(way, 0, 0))]
        )
        problem = sa.StaticProblem(system)
        watch(problem, stop, lambda step: setattr(way, "value", 0.1 * step.time))
        problem.solve(step=0.25, checkpoint=at)
        return {"state": system.state.copy(), "way": way.value}

    once = run(tmp_path / "once")
    assert once["way"] == 0.1
    with pytest.raises(sa.Suspended):
        run(tmp_path / "parts", 2)
    for at in ("parts", "parts", "once"):
        require_same(once, run(tmp_path / at))


def test_what_functions_of_supports_read_is_told_where_it_is_lost(tmp_path: Path) -> None:
    def run(stop: int = 0) -> None:
        hidden, body = [0.0], block(E=10.0)
        moved = sa.fix(body["x1"], displacement=(lambda t: hidden[0], 0, 0))
        problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), moved]))
        watch(problem, stop, lambda step: hidden.__setitem__(0, 0.1 * step.time))
        problem.solve(step=0.25, checkpoint=tmp_path / "run.ckpt")

    with pytest.raises(sa.Suspended):
        run(2)
    with refused(sa.CheckpointError, differences=lambda found: "supports" in found[0]):
        run()


def test_parameters_of_supports_shapes_and_gas_belong_to_the_state() -> None:
    from tests.unit.test_cavity import hollow_block

    x, y, z, m = (sa.Parameter(name, 0.01) for name in "xyzm")
    shape = {"lam": 20.0, "mu": 10.0, "rho": 1.0}
    body = sa.Body(hollow_block()["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **shape)
    cavity = sa.Cavity(body["inside"], gas=sa.Gas(m, ambient=1.0))
    cube = block(E=10.0)
    terms = [
        cavity,
        sa.fix(cube["x0"], displacement=(0.0, [0.0, x][1], 0.0)),
        sa.fix(cube["y0"], "normal", direction=(0, -1, 0), displacement=y),
        sa.Contact(cube["x1"], sa.Plane((2, 0, 0), normal=(-1, 0, 0), displacement=(z, 0, 0))),
    ]
    found = sa.System(body, cube, terms=terms)._discrete.parameters
    assert {p.name for p in found} == set("xyzm")


def test_a_signal_ends_one_solution_where_the_program_catches_it(tmp_path: Path) -> None:
    with pytest.raises(sa.Suspended):
        squeeze(tmp_path, 1)
    require_same(squeeze(tmp_path, 0), squeeze(tmp_path, 0))

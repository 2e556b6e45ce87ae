# SPDX-License-Identifier: BSD-3-Clause
"""Series recorded step by step: as arrays, in files, after a crash, and errors on every rank."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable
from symancf.output.history import History
from tests.mpi import environment
from tests.refusals import refused

COMM = MPI.COMM_WORLD

collective = pytest.mark.collective


def recorded(steps: int = 150, **files: Path) -> History:
    """A history of a scalar, a vector, an array and a series of every third step."""
    history = History(**files)
    now = [0.0]
    history.record("x", lambda: np.sin(now[0]))
    history.record("r", lambda: [now[0], 0.1, now[0] ** 2])
    history.record("F", lambda: np.full((2, 3), now[0]))
    history.record("rare", lambda: now[0], every=3)
    for k in range(steps):
        now[0] = 0.1 * k
        history.sample(now[0])
    return history


def test_series_are_arrays() -> None:
    history = recorded()
    t = 0.1 * np.arange(150)
    np.testing.assert_array_equal(history.time, t)
    np.testing.assert_array_equal(history["x"], np.sin(t))
    np.testing.assert_array_equal(history["r"][:, 2], t**2)
    assert history["F"].shape == (150, 2, 3)
    np.testing.assert_array_equal(history["rare"], t[::3])
    np.testing.assert_array_equal(history.times("rare"), t[::3])
    assert history.names == ["x", "r", "F", "rare"]
    assert "x" in history
    assert "y" not in history


def test_a_series_may_begin_late() -> None:
    history = recorded(4)
    history.record("late", lambda: 7.0, every=2)
    for k in range(4, 9):
        history.sample(0.1 * k)
    np.testing.assert_array_equal(history["late"], [7.0, 7.0, 7.0])
    np.testing.assert_allclose(history.times("late"), [0.4, 0.6, 0.8])
    with refused(sa.ParameterError, asked="late"):
        history.to_csv("never.csv")


def test_a_series_without_values_is_no_column_of_a_table(shared_tmp_path: Path) -> None:
    history = recorded(4)
    history.record("to come", lambda: 7.0)
    history.to_csv(shared_tmp_path / "run.csv")
    columns = History.read(shared_tmp_path / "run.csv")
    np.testing.assert_array_equal(columns["x"], history["x"])
    assert "to come" not in columns


@pytest.mark.parametrize("streamed", [True, False])
@collective
def test_files_read_back_exactly(shared_tmp_path: Path, streamed: bool) -> None:
    csv, hdf5 = shared_tmp_path / "deep" / "run.csv", shared_tmp_path / "run.h5"
    if streamed:
        history = recorded(csv=csv, hdf5=hdf5)
    else:
        history = recorded()
        history.to_csv(csv)
        history.to_hdf5(hdf5)
    COMM.Barrier()
    found = History.read(hdf5)
    assert list(found) == ["time", "F", "r", "rare", "x"]
    for name, values in found.items():
        np.testing.assert_array_equal(values, history[name], err_msg=name)
    table = History.read(csv)
    assert list(table)[:5] == ["time", "x", "r[0]", "r[1]", "r[2]"]
    assert list(table)[-2:] == ["F[1][2]", "rare"]
    for name in ("time", "x", "rare"):
        np.testing.assert_array_equal(table[name], history[name], err_msg=name)
    np.testing.assert_array_equal(table["r[2]"], history["r"][:, 2])
    text = np.genfromtxt(csv, delimiter=",", names=True)  # as any reader of tables would
    assert np.isnan(text["rare"][1])
    history.close()


RUN = """
import sys, numpy as np
from symancf.output.history import History
history = History(csv=sys.argv[1] + ".csv", hdf5=sys.argv[1] + ".h5")
now = [0]
history.record("n", lambda: now[0])
history.record("r", lambda: np.full(300, now[0]))
history.record("rare", lambda: now[0], every=5)
while True:
    history.sample(0.5 * now[0])
    if now[0] == 3000:
        print("going", flush=True)
    now[0] += 1
"""


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize("attempt", range(4))
def test_what_was_written_survives_sigkill(tmp_path: Path, attempt: int) -> None:
    stem = str(tmp_path / "run")
    command = [sys.executable, "-c", RUN, stem]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.013 * attempt)
        running = History.read(stem + ".h5")  # a reader beside the writer
        process.send_signal(signal.SIGKILL)
        process.wait()
    for path in (stem + ".h5", stem + ".csv"):
        found = History.read(path)
        n = len(found["time"])
        assert n > 3000
        np.testing.assert_array_equal(found["time"], 0.5 * np.arange(n))
        np.testing.assert_array_equal(found["n"], np.arange(n))
        np.testing.assert_array_equal(found["rare"], np.arange(0, n, 5))
        r = found["r"] if path.endswith("h5") else found["r[299]"][:, None]
        np.testing.assert_array_equal(r, np.broadcast_to(np.arange(n)[:, None], r.shape))
    assert 0 < len(running["time"]) <= n


@collective
def test_a_file_that_cannot_be_written_is_told_on_every_rank(shared_tmp_path: Path) -> None:
    if COMM.rank == 0:
        (shared_tmp_path / "file").write_text("in the way")
    COMM.Barrier()
    in_the_way = str(shared_tmp_path / "file")
    for kind in ("csv", "hdf5"):
        history = History(**{kind: shared_tmp_path / "file" / "run"})
        history.record("x", lambda: 1.0)
        with refused(FileExistsError, filename=in_the_way):
            history.sample(0.0)
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))]))
    with refused(FileExistsError, filename=in_the_way):
        fall.solve(to=1.0, step=0.5, checkpoint=shared_tmp_path / "file" / "run")
    assert not len(fall.history.time)


FULL = """
import resource, signal, sys, numpy as np
from symancf.output.history import History
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
history = History(**{sys.argv[1]: sys.argv[2]})
now = [0]
history.record("r", lambda: np.full(300, now[0]))
resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, resource.RLIM_INFINITY))
try:
    while now[0] < 100000:
        history.sample(now[0])
        now[0] += 1
except OSError as error:
    print(now[0], error)
"""


@pytest.mark.parametrize("kind", ["csv", "hdf5"])
def test_a_full_disk_is_told_and_crashes_nothing(tmp_path: Path, kind: str) -> None:
    """HDF5 itself would end with a segmentation fault."""
    path = tmp_path / f"run.{kind}"
    command = [sys.executable, "-c", FULL, kind, str(path)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    n = int(done.stdout.split()[0])
    assert "File too large" in done.stdout
    found = History.read(path)
    assert n - 1 <= len(found["time"]) <= n
    assert n > 400
    np.testing.assert_array_equal(found["time"], np.arange(len(found["time"])))


@collective
def test_an_error_of_a_function_on_one_rank_is_raised_on_all() -> None:
    def fails() -> float:
        if COMM.rank == COMM.size - 1:
            raise ValueError("as asked")
        return 0.0

    history = History()
    history.record("a", lambda: 1.0)
    history.record("b", fails)
    with pytest.raises(ValueError, match="as asked"):
        history.sample(0.0)


def test_wrong_use_is_told(shared_tmp_path: Path) -> None:
    history = recorded(3)
    for name in ("", "a/b", "time", "x", "a,b"):
        with refused(sa.ParameterError, asked="name", given=name):
            history.record(name, float)
    with refused(sa.ParameterError, asked="y"):
        history.record("y", 3.0)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="every", given=0):
        history.record("y", float, every=0)
    with refused(sa.ParameterError, asked="rar", possible=lambda names: "rare" in names):
        history["rar"]
    history.record("bad", lambda: "text")
    with refused(sa.ParameterError, asked="bad"):
        history.sample(1.0)
    shapes = iter([1.0, [1.0, 2.0]])
    history = History()
    history.record("grows", lambda: next(shapes))
    history.sample(0.0)
    with refused(sa.ParameterError, asked="grows"):
        history.sample(1.0)
    with refused(sa.ParameterError, asked="stream"):
        history.stream(csv=shared_tmp_path / "late.csv")
    with refused(sa.SymancfError, asked=str(shared_tmp_path / "missing.h5")):
        History.read(shared_tmp_path / "missing.h5")


@collective
def test_a_static_problem_records_places_and_functions(shared_tmp_path: Path) -> None:
    mesh = sa.Mesh.box((1.0,), (6,))
    rope = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=1e3, EI=1.0)
    tip, middle = rope.at((1.0, 0.0, 0.0)), rope.at([[0.4, 0, 0], [0.55, 0, 0]])
    load = sa.force(tip, lambda t: (0.0, 0.0, -t))
    system = sa.System(rope, terms=[sa.fix(rope.at((0.0, 0.0, 0.0))), load])
    history = History(csv=shared_tmp_path / "run.csv")
    problem = sa.StaticProblem(system, history=history)
    problem.record("tip", tip)
    problem.record("middle", middle, every=2)
    problem.record("energy", system.strain_energy)
    problem.record("root", system.terms[0])
    problem.record("peak", lambda: sa.maximum(problem.system, rope, "axial_force"))
    history.sample(system.time)
    assert problem.solve(to=2.0, step=0.5) is history
    np.testing.assert_allclose(history.time, [0.0, 0.5, 1.0, 1.5, 2.0])
    np.testing.assert_allclose(history["tip"][0], (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(history["tip"][-1], system.position(tip)[0])
    assert history["tip"][-1, 2] < -0.3
    assert history["middle"].shape == (3, 2, 3)
    np.testing.assert_allclose(history["root"], np.outer(history.time, (0, 0, 1)), atol=1e-9)
    np.testing.assert_array_equal(history["root"][-1], system.terms[0].reaction(system).force)
    forces = sa.sample(system, rope, fields=["axial_force"], at="gauss").point_data["axial_force"]
    assert history["peak"][-1] == max(COMM.allgather(forces.max(initial=0.0))) > 0.9
    with refused(sa.ParameterError, asked="r", given=(3,)):
        sa.maximum(system, rope, "r")
    assert history["energy"][-1] == system.strain_energy() > 0.0
    COMM.Barrier()
    np.testing.assert_array_equal(
        History.read(shared_tmp_path / "run.csv")["tip[2]"], history["tip"][:, 2]
    )
    with refused(sa.ParameterError, asked="record", given=3.0):
        problem.record("nothing", 3.0)


def test_plot(shared_tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    path = recorded(50).plot("x", "r", path=shared_tmp_path / "plot")
    COMM.Barrier()
    picture = image.imread(path)[:, :, :3]
    assert (np.ptp(picture, axis=2) > 0.3).sum() > 500  # coloured lines


@collective
def test_values_that_differ_by_rank_are_told_and_shapes_refused() -> None:
    history = History()
    history.record("same", lambda: [1.0 + 1e-12 * COMM.rank, np.nan])
    history.record("rank", lambda: COMM.rank)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for k in range(3):
            history.sample(k)
    told = [str(w.message) for w in found]
    if COMM.size > 1 and COMM.rank == 0:
        assert len(told) == 1
        assert f"'rank': its function returned values between 0 and {COMM.size - 1}" in told[0]
    else:
        assert not told
    history.record("shape", lambda: np.zeros(2 + (COMM.rank == COMM.size - 1)))
    if COMM.size > 1:
        with refused(sa.ParameterError, asked="shape"):
            history.sample(3)
        assert len(history["same"]) == len(history.time) == 3


def test_rows_of_a_loop_over_a_parameter_are_told_apart() -> None:
    push, same = sa.Parameter("push"), sa.Parameter("push", 3.0)
    lever = sa.PlanarBody(position=(0.0, 0.3, 0.0), name="lever")
    flexure = sa.Flexure.straight(sa.ground.at((0.3, 0.0)), lever.at((0.3, 0.0)), EI=1e-4, EA=50.0)
    load = sa.force(lever.at((0.0, 0.2)), (push, 0.0))
    system = sa.System(lever, terms=[flexure, load, sa.moment(lever, same)])
    assert system._discrete.parameters == [push, same]
    same.value = 0.0
    problem = sa.StaticProblem(system)
    problem.record("energy", system.strain_energy)
    problem.record("place", lambda: lever.position(system))
    for push.value in (1e-4, 2e-4):
        problem.solve()
    names, *rows = (row.split() for row in str(problem.history).splitlines()[:3])
    assert names[:4] == ["time", "push", "energy", "Newton"]  # "push 2" did not change
    assert [row[:2] for row in rows] == [["1", "0.0001"], ["1", "0.0002"]]
    assert float(rows[1][2]) == pytest.approx(problem.history["energy"][1], rel=1e-3)
    assert problem.history.steps[1].parameters == {"push": 2e-4, "push 2": 0.0}


def test_monitors_of_motions_get_a_step_and_may_ask_for_the_problem_for_a_while() -> None:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    problem = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))]))
    seen, asked = [], []
    problem.monitor(lambda step: seen.append((step.time, step.iterations)))
    problem.monitor(lambda step: asked.append(step.energies.kinetic))
    with pytest.warns(DeprecationWarning, match="problem.energies of the problem itself"):
        problem.solve(to=0.2, step=0.1)
    assert [time for time, _ in seen] == [0.0, 0.1, 0.2]
    assert [count for _, count in seen] == [0, *(step.iterations for step in problem.history.steps)]
    assert asked[-1] == problem.energies.kinetic > 0.0
    problem.monitor(lambda step: step.energy)
    with pytest.raises(AttributeError, match="a step has no 'energy'; it has: time, iterations"):
        problem.solve(to=0.3, step=0.1)


def test_a_series_at_a_time() -> None:
    history, given = History(), iter([[1.0, 4.0], [2.0, 6.0], [5.0, 0.0], [np.inf, 1.0]])
    history.record("a", lambda: next(given))
    for at in (0.0, 1.0, 1.0, 2.0):
        history.sample(at)
    np.testing.assert_array_equal(history.at("a", 1.0), [5, 0])  # the last of a time
    np.testing.assert_array_equal(history.at("a", [0.0, 0.5, 1.0]), [[1, 4], [1.5, 5], [5, 0]])
    assert history.at("a", 1.5)[1] == 0.5
    assert history.at("a", 2.0 + 1e-12)[1] == 1.0
    for outside in (-0.1, 2.1, np.nan):
        with refused(sa.ParameterError, asked="time"):
            history.at("a", outside)

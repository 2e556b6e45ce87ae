# SPDX-License-Identifier: BSD-3-Clause
"""The scripts for Slurm of docs/hpc, with stand-ins for srun and scontrol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import symancf as sa
from tests.mpi import ROOT, environment

pytestmark = pytest.mark.parallel

SLURM = ROOT / "docs" / "hpc" / "slurm"
SCRIPT = """
import sys, time
from pathlib import Path
import symancf as sa
from symancf.energies import cable
mesh = sa.Mesh.box((1.0,), (40,))
rope = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=10.0, EI=0.01)
load = lambda t: float(sys.argv[1]) * t
system = sa.System(rope, terms=[sa.fix(rope["x0"]), sa.force(rope["x1"], (0.0, load, 0.0))])
options = {"ksp_type": "preonly", "pc_type": "redundant"}  # the same bits in each run, on 2 ranks
problem = sa.StaticProblem(system, options=options, history=sa.History(csv="run.csv"))
problem.record("tip", rope["x1"])
def tell(step):
    if step.time > 0.25 and not Path("asked").exists():
        if system.comm.rank == 1:
            Path("ready").touch()
        while not Path("asked").exists():
            time.sleep(0.01)
        time.sleep(0.3)
problem.monitor(tell)
problem.solve(to=1.0, step=0.1, checkpoint="run.ckpt")
sa.root_print("end", len(problem.history.steps))
"""


def stand_ins(folder: Path) -> dict[str, str]:
    """Return an environment in which srun is mpirun, and scontrol notes what it is asked."""
    folder.mkdir()
    for name, text in (
        ("srun", 'exec mpirun -n 2 "$@"'),
        ("scontrol", f'echo "$@" >> {folder / "asked"}'),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return environment(PATH=path, PYTHON=sys.executable, SLURM_JOB_ID="7")


def test_a_job_at_its_end_begins_anew_and_goes_on(tmp_path: Path) -> None:
    given = stand_ins(tmp_path / "bin")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "values.txt").write_text("0.2\n0.1\n")
    command = ["bash", str(SLURM / "array.sh"), "script.py", "values.txt"]
    given |= {"JOB": str(SLURM / "job.sh"), "SLURM_ARRAY_TASK_ID": "2"}
    run = tmp_path / "run-2"
    with subprocess.Popen(command, cwd=tmp_path, env=given, start_new_session=True) as job:
        until = time.monotonic() + 100.0
        while not (run / "ready").exists() and job.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        job.send_signal(signal.SIGUSR1)  # as --signal=B:USR1 does
        job.send_signal(signal.SIGUSR1)
        (run / "asked").touch()
        assert job.wait(timeout=100.0) == 0
    assert (tmp_path / "bin" / "asked").read_text() == "requeue 7\n"
    rows = len((run / "run.csv").read_text().splitlines())
    assert 3 < rows < 8
    again = subprocess.run(
        command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=100.0
    )
    assert (again.returncode, again.stdout) == (0, "end 10\n"), again.stderr
    assert (tmp_path / "bin" / "asked").read_text() == "requeue 7\n"
    found = sa.History.read(run / "run.csv")
    np.testing.assert_allclose(found["time"], np.linspace(0.1, 1.0, 10), rtol=1e-12)
    assert (np.diff(found["tip[1]"]) > 0.0).all()


def test_scripts_tell_what_they_lack(tmp_path: Path) -> None:
    given = stand_ins(tmp_path / "bin")
    (tmp_path / "values.txt").write_text("0.2\n")
    command = ["bash", str(SLURM / "array.sh"), "script.py", "values.txt"]
    found = subprocess.run(
        command,
        cwd=tmp_path,
        env=given | {"SLURM_ARRAY_TASK_ID": "2"},
        capture_output=True,
        text=True,
        timeout=10.0,
    )
    assert found.returncode == 1
    assert "values.txt has no line 2" in found.stderr
    (tmp_path / "bin" / "srun").write_text("#!/bin/sh\nexit 75\n")
    job = ["bash", str(SLURM / "job.sh"), "script.py"]
    many = subprocess.run(
        job,
        cwd=tmp_path,
        env=given | {"SLURM_RESTART_COUNT": "100"},
        capture_output=True,
        text=True,
        timeout=10.0,
    )
    assert many.returncode == 1
    assert "100 jobs in a row have not come to the end" in many.stderr
    for script in SLURM.glob("*.sh"):
        assert subprocess.run(["bash", "-n", str(script)], timeout=10.0).returncode == 0

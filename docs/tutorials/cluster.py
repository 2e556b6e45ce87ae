# SPDX-License-Identifier: BSD-3-Clause
"""On several ranks, and longer than a job.

A script runs on as many ranks as it is started on, is told that its time is up, and goes on where
it was, also on another number of ranks. What is done here by hand is what a batch job does. Units
are N, m and s.
"""

# %% [markdown]
# ## A script
# This one is written to a file, as you would, since it is not the notebook that runs in parallel.
# A beam of silicone is let go and swings. There is nothing about ranks in it but `sa.print`,
# which prints once: mesh, unknowns and files are distributed by themselves. `checkpoint=` is the
# file from which a run goes on.

# %%
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

import symancf as sa

if os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("PMI_SIZE", "1")) != "1":
    sa.print("Start this one without mpirun: it calls mpirun itself, which must not be nested.")
    sys.exit()
SHELL = dict(os.environ)  # without the marks of MPI, which a notebook with symancf runs itself

Path("swing.py").write_text("""
import symancf as sa

mesh = sa.Mesh.box((0.2, 0.02, 0.02), (30, 3, 3))
silicone = {"C10": 0.11e6, "C20": 0.02e6, "C30": 0.0, "k": 1e7, "rho": 1070.0}
beam = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh, name="beam", **silicone)
system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.gravity((0.0, 0.0, -9.81), beam)])
problem = sa.DynamicProblem(system, prefix="swing_", history=sa.History(csv="swing.csv"))
problem.record("tip", beam.at((0.2, 0.01, 0.01)))
problem.monitor(lambda step: sa.print(f"t = {step.time:.3f}", flush=True))
problem.solve(to=0.4, step=4e-3, checkpoint="swing.ckpt")
sa.print(f"{system.comm.size} ranks, {len(problem.history.steps)} steps to t = {system.time:g} s")
""")


def start(ranks, *options):
    """Start the script on some ranks."""
    command = ["mpirun", "-n", str(ranks), sys.executable, "swing.py", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=SHELL, stdout=pipe, stderr=pipe, text=True)


def last_lines(job):
    """Wait for the end of a job; return its last line."""
    printed, told = job.communicate(timeout=300)
    assert job.returncode == 0, told
    return printed.splitlines()[-1]


# %% [markdown]
# ## On one rank, and on two
# A shell's command is `mpirun -n 2 python swing.py`.


# %%
def forget():
    """Begin anew: without its checkpoint a script does not know of an earlier run."""
    for path in Path().glob("swing.ckpt*"):
        path.unlink()


def tip():
    """Return what the script recorded: times (n,) and positions (n, 3)."""
    history = sa.History.read("swing.csv")
    return history["time"], np.column_stack([history[f"tip[{k}]"] for k in range(3)])


found = {}
for ranks in (1, 2):
    forget()
    sa.print(last_lines(start(ranks)))
    found[ranks] = tip()
t, alone = found[1]
differ = np.abs(found[2][1] - alone).max()
sa.print(f"lowest {1e3 * alone[:, 2].min():.2f} mm, two ranks differ by {differ:.1e} m")
assert differ < 1e-8

# %% [markdown]
# The digits are not all the same: sums are taken in another order, and Newton's method ends at a
# tolerance. What must not differ is anything that one would print.
#
# ## The end of a job
# A batch system sends a signal some minutes before it ends a job. Here it comes after a fifth of
# the motion. All ranks agree on the step at which they stop, write the file, and end with the
# status 75, which is that for "try again" (`EX_TEMPFAIL`).

# %%
forget()
job = start(2)
for line in job.stdout:
    if line.startswith("t = 0.08"):
        job.send_signal(signal.SIGUSR1)
        break
job.communicate(timeout=300)
sa.print(f"status {job.returncode}, {Path('swing.ckpt').stat().st_size / 1e3:.0f} kB are kept")
assert job.returncode == 75
assert len(tip()[0]) < len(t)

# %% [markdown]
# The same command again goes on, with its series; here on one rank, as the checkpoint does not
# ask for a number.

# %%
sa.print(last_lines(start(1)))
again = tip()
differ = np.abs(again[1] - alone).max()
sa.print(f"{len(again[0])} rows, they differ from the run in one piece by {differ:.1e} m")
assert np.array_equal(again[0], t)
assert differ < 1e-8

# %%
figure = sa.view.Diagram("swing.png")
with figure as axes:
    axes.plot(t, 1e3 * alone[:, 2], label="one rank")
    axes.plot(again[0][::4], 1e3 * again[1][::4, 2], "o", ms=4, label="two, stopped, one")
    axes.set(xlabel="time [s]", ylabel="height of the tip [mm]")
figure

# %% [markdown]
# ## What the ranks do
# Options of PETSc go on the command line, with the prefix of the problem. `-swing_step_monitor`
# tells of each step what it took, the memory of the largest rank included, and `-log_view` at the
# end where time went.

# %%
forget()
job = start(2, "-swing_step_monitor")
printed, told = job.communicate(timeout=300)
sa.print(*[line for line in printed.splitlines() if not line.startswith("t = ")][:4], sep="\n")

# %% [markdown]
# ## On a cluster
# Three scripts for Slurm come with the [page on clusters](../hpc/index.md#a-batch-job): one job,
# an array of them, and the compilation of kernels where nodes have no compiler. The first is
#
# ```sh
# sbatch job.sh swing.py
# ```
#
# and does what was done above by hand, until the script ends with the status 0. How many ranks
# are worth it, and what a model needs of memory, is measured in [scaling](../hpc/scaling.md);
# which solver is taken, and how to take another, stands in [solvers](../hpc/solvers.md).

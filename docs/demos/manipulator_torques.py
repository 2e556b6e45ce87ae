# SPDX-License-Identifier: BSD-3-Clause
"""Manipulator torques: histories of two motors with which a flexible arm draws a circle.

The manipulator with PID control, whose motors know a rigid arm only, misses the circle by 4 mm.
L-BFGS-B adds a history of torque to each motor, with exact gradients of the motion.

Takes 3 min on one core.
"""

# %% [markdown]
# # Manipulator torques
#
# **What you learn**: `sa.Series`, a function of time whose values are parameters, a goal that is an
# integral over a motion, and the gradient by all values of both histories for one sweep back over
# its steps. Run it with `python docs/demos/manipulator_torques.py`; `-short` stops early.

# %%
import runpy
import sys
from pathlib import Path

import numpy as np

import symancf as sa

SHORT = "-short" in sys.argv
model = runpy.run_path(str(Path(__file__).with_name("manipulator.py")))
circle, spin = model["circle"], model["spin"]
END, STEP, KNOTS = 4.0, 0.01, 41  # s, s, values of each history
LIMIT = -2.5, 2.5  # N m, of the torques added
GRADIENTS = 4 if SHORT else 25

# %% [markdown]
# ## Model
# The manipulator of the other demo, with its two PID motors, and a torque beside each of them:
# cubic splines with a value every 0.1 s, all zero at the start.

# %%
parts, motors, places = model["manipulator"](circle)
times = np.linspace(0.0, END, KNOTS)
hub, elbow = (sa.Series(times, np.zeros(KNOTS), order="cubic") for _ in range(2))


def hub_work(e1_a, w1_a, *, torque):
    return {spin(e1_a, w1_a): torque}


def elbow_work(e1_a, w1_a, e1_b, w1_b, *, torque):
    return {spin(e1_b, w1_b) - spin(e1_a, w1_a): torque}


torques = [
    sa.VirtualWork(work, *motor.ends, torque=series)
    for work, motor, series in zip((hub_work, elbow_work), motors, (hub, elbow), strict=True)
]
system = sa.System(*parts.bodies, terms=[*parts.terms, *torques])
problem = sa.DynamicProblem(system, spectral_radius=0.8)
tip = system.bodies[1].at(places[1].X[-1])
problem.record("tip", lambda: system.position(tip)[0, ::2])

# %% [markdown]
# ## The goal
# The square of the distance from the point that moves on the circle, integrated over time.
# Where the optimiser first tries rough torques, a warning of the energies of that motion is right.


# %%
def square(r_a, *, x, z):
    return (r_a[0] - x) ** 2 + (r_a[2] - z) ** 2


steps = STEP * np.arange(round(END / STEP) + 1)
target = {"x": lambda t: circle(t)[0], "z": lambda t: circle(t)[1]}
distance = sa.Goal(square, tip, **target)
miss = distance.integral()


def errors(values):
    """Return the distance from the target at all steps [mm], of a motion with these torques."""
    problem.reset()
    hub.values, elbow.values = np.split(values, 2)
    history = problem.solve(to=END, step=STEP, trace=sa.Trace(memory="1 GB"))
    last = history["tip"].reshape(-1, 2)[-len(steps) :]  # the history has all motions
    return 1e3 * np.linalg.norm(last - [circle(t) for t in steps], axis=1)


# %%
def main():
    """Find the torques; return the rms distances [mm] before and after, and the result."""
    before = errors(np.zeros(2 * KNOTS))
    options = {"maxfun": GRADIENTS, "maxiter": GRADIENTS}
    found = sa.optimize.scipy(problem, miss, [hub, elbow], bounds=[LIMIT, LIMIT], options=options)
    after = errors(np.concatenate([hub.values, elbow.values]))
    rms = [float(np.sqrt(np.mean(e**2))) for e in (before, after)]
    sa.root_print(
        f"rms distance from the circle: {rms[0]:.2f} -> {rms[1]:.3f} mm after {found.nfev} "
        f"gradients by {2 * KNOTS} values"
    )
    with sa.view.Diagram("results/manipulator_torques.png", 1, 2, height=2.6) as (error, torque):
        error.semilogy(steps[1:], before[1:], "C7--", label="PID alone")
        error.semilogy(steps[1:], after[1:], "C0-", label="with torques found")
        error.set(xlabel="time [s]", ylabel="error of the tip [mm]")
        for series, label in ((hub, "hub"), (elbow, "elbow")):
            torque.plot(steps, [series(t) for t in steps], label=label)
        torque.set(xlabel="time [s]", ylabel="torque added [N m]")
    sa.root_print("Files: results/manipulator_torques.png")
    return *rms, found


# %%
if __name__ == "__main__":
    before, after, found = main()
    assert after < (0.7 * before if SHORT else 0.1)  # mm

# SPDX-License-Identifier: BSD-3-Clause
"""Arm identification: payload and stiffness of an arm from half a second of three markers.

A slender arm with a ball at its tip is let go. From the noisy places of three markers a fit with
exact derivatives of the motion finds stiffness and payload, with standard errors that are honest:
over many experiments the true values are as often within them as they should be.

Takes 3 min on one core.
"""

# %% [markdown]
# # Arm identification
#
# **What you learn**: parameters of a motion (also the mass of a rigid body), `sa.StructureTest`
# with goals at given times, and `sa.fit` with standard errors. Run it with
# `python docs/demos/arm_identification.py`; `-short` leaves the other experiments out.

# %%
import sys
from pathlib import Path

import numpy as np

import symancf as sa

LENGTH, AREA, DENSITY, EA = 0.6, 1e-4, 1100.0, 2e3  # m, m^2, kg/m^3, N
TRUE = {"EI": 0.06, "payload": 0.05}  # N m^2, kg
START = {"EI": 0.03, "payload": 0.02}
NOISE, END, STEP = 2e-4, 0.5, 5e-3  # m: standard deviation of each reading; s
TIMES = np.arange(1, 26) * 0.02
EXPERIMENTS = 10
DATA = Path(__file__).with_name("arm_identification.csv")

# %% [markdown]
# ## Model
# The arm is clamped at one end, straight, and falls under its weight and that of the ball. Three
# markers at a third, two thirds and the end of it are read every 20 ms.

# %%
line = sa.Mesh.box((LENGTH,), (6,))
stiffness, payload = (sa.Parameter(name, value) for name, value in START.items())
given = {"EA": EA, "EI": stiffness, "rho": DENSITY, "A": AREA}
arm = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
ball = sa.RigidBody.sphere(0.01, (LENGTH, 0.0, 0.0), mass=payload, name="ball")
markers = [arm.at((part * LENGTH, 0.0, 0.0)) for part in (1 / 3, 2 / 3, 1.0)]
grip = sa.joints.spherical(ball.centre, markers[-1])
system = sa.System(arm, ball, terms=[sa.fix(arm["x0"]), grip, sa.gravity((0.0, 0.0, -9.81))])
problem = sa.DynamicProblem(system, spectral_radius=0.8)


def along(u_a):
    return u_a[0]


def up(u_a):
    return u_a[2]


goals = [sa.Goal(component, marker) for marker in markers for component in (along, up)]


def move(values):
    """Let the arm fall, with given stiffness and payload."""
    problem.reset()  # also parameters are those of the start
    stiffness.value, payload.value = values["EI"], values["payload"]
    problem.solve(to=END, step=STEP, trace=sa.Trace())


def read():
    """Return displacements (times, 6) of the last motion [m]."""
    return np.array([[problem.value(goal.at(t)) for goal in goals] for t in TIMES])


# %% [markdown]
# ## Fit
# `sa.fit` repeats the motion with other values until it agrees best with the data. The derivatives
# are exact, so that they also give the covariance of what is found.


# %%
def identify(data):
    """Return the fit to displacements (times, 6)."""
    move(START)
    bench = sa.StructureTest(problem, goals, data, times=TIMES, error=NOISE, name="markers")
    return sa.fit([stiffness, payload], bench)


def covered(exact):
    """Return how often the true values are within 1.96 standard errors, of other experiments."""
    random, inside = np.random.default_rng(7), []
    for _ in range(EXPERIMENTS):
        found = identify(exact + NOISE * random.standard_normal(exact.shape))
        inside += [abs(found.values[k] - TRUE[k]) < 1.96 * found.errors[k] for k in TRUE]
    return float(np.mean(inside))


# %%
def picture(data, before, after):
    """Draw the height of the markers: read, at the start of the fit, found."""
    fine = np.append(0.0, TIMES)
    with sa.view.Diagram("results/arm_identification.png", 1, 1, height=2.8) as ax:
        for k, place in enumerate(("1/3", "2/3", "end")):
            column = 1e3 * np.insert(
                np.stack([before, after], axis=2)[:, 2 * k + 1], 0, 0.0, axis=0
            )
            ax.plot(TIMES, 1e3 * data[:, 2 * k + 1], "k.", label="read" if not k else None)
            ax.plot(fine, column[:, 0], "C7--", label="start" if not k else None)
            ax.plot(fine, column[:, 1], f"C{k}-", label=f"found, marker at {place}")
        ax.set(xlabel="time [s]", ylabel="vertical displacement [mm]")


def main():
    """Identify the arm; return the fit and how often errors cover the truth."""
    data = np.loadtxt(DATA, delimiter=",")
    move(START)
    before = read()
    found = identify(data)
    sa.root_print(found)
    after = read()
    picture(data, before, after)
    move(TRUE)
    part = covered(read()) if "-short" not in sys.argv else None
    if part is not None:
        sa.root_print(f"within 1.96 errors: {100 * part:.0f} % of {2 * EXPERIMENTS} values")
    sa.root_print("Files: results/arm_identification.png")
    return found, part


# %%
if __name__ == "__main__":
    if "-measure" in sys.argv:
        move(TRUE)
        readings = read() + NOISE * np.random.default_rng(1).standard_normal((len(TIMES), 6))
        head = f"x, z [m] of three markers every 20 ms, noise {NOISE:g} m"
        np.savetxt(DATA, readings, fmt="%.5f", delimiter=",", header=head)
    found, part = main()
    for name, value in TRUE.items():
        assert abs(found.values[name] - value) < 3 * found.errors[name]
        assert found.errors[name] < 0.01 * value
    assert part is None or part > 0.85

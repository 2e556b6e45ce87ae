# SPDX-License-Identifier: BSD-3-Clause
"""Head: a rigid body in natural coordinates under moments, held together in four ways.

The third example of Ghoneimy et al. (Appl. Syst. Innov. 8 (2025) 42): the head of an elephant
is a rigid box of twelve natural coordinates, turned by moments about its axes. The rotation is
known; what is compared is how well constraints hold with index 3, and with index 1 stabilised by
Baumgarte's terms, by the paper's fuzzy logic, or by projection.

Takes 40 s on one core.
"""

# %% [markdown]
# # Head
#
# **What you learn**: rigid bodies in space, joints, moments, and the choice between index 3 and
# index 1 with stabilisation. Run it with `mpirun -n 2 python docs/demos/head.py`; `-short` leaves
# out the long run.

# %%
import sys
import time

import numpy as np
from mpi4py import MPI

import symancf as sa

SERIAL = MPI.COMM_WORLD.size == 1
SHORT = "-short" in sys.argv

# %% [markdown]
# ## The body
# The paper gives no sizes; assumed: a box of 0.6 x 0.4 x 0.4 m with the density of water. Its
# first point is the centre, its second the middle of the front face, x = 0.3 m.

# %%
SIZE, RHO, MOMENT = np.array([0.6, 0.4, 0.4]), 1000.0, 10.0  # m, kg/m^3, N m
MASS = RHO * SIZE.prod()
J = MASS * ((SIZE**2).sum() - SIZE**2) / 12  # about the principal axes [kg m^2]
POINTS = ("r_i", "r_j", "u", "v")

STEPS, BAUMGARTE = {"step": 1e-3, "rtol": 1e-8}, sa.Baumgarte(5.0, 12.0)
METHODS = {  # options of DynamicProblem and of solve
    "index 3, generalized-alpha": ({"spectral_radius": 0.9}, {"step": 1e-3}),
    "index 1, Baumgarte 5, 12": ({"method": "rk", "stabilisation": BAUMGARTE}, STEPS),
    "index 1, fuzzy logic": ({"method": "rk", "stabilisation": sa.Fuzzy(5.0, 12.0, 100.0)}, STEPS),
    "index 1, projection": ({"method": "rk", "stabilisation": sa.Projection()}, STEPS),
    "index 1, unstabilised": ({"method": "rk"}, STEPS),
}
if SERIAL:  # the integrator of the paper, variable order; it runs on one rank only
    METHODS["index 1, Baumgarte, Adams"] = {"method": "adams", "stabilisation": BAUMGARTE}, STEPS


def rigidity(system, head):
    """Return the six conditions of a rigid body, |r_ij|^2 - d^2 to u . v."""
    q = head.coordinates(system, system.reference + system.state)
    a = q[1] - q[0]
    u, v = q[2:]
    squares = [a @ a - head.length**2, u @ u - 1, v @ v - 1]
    return np.array([*squares, a @ u, a @ v, u @ v])


# %% [markdown]
# ## Moments about the axes
# The head sits on a spherical joint at its centre. The axes are principal, so that it turns by
# $\theta = M t^2 / 2J$ about each.


# %%
def turn(axis, options, until=2.0, draw=False):
    """Turn the head by a moment; return the history and the states drawn."""
    build, solving = options
    head = sa.RigidBody.box(SIZE, rho=RHO, name="head")
    pivot = sa.joints.spherical(head.at((0.0, 0.0, 0.0)), name="pivot")
    vector = np.zeros(3)
    vector[axis] = MOMENT
    system = sa.System(head, terms=[pivot, sa.moment(head, vector)])
    problem = sa.DynamicProblem(system, prefix="head_", **build)
    b, c = (axis + 1) % 3, (axis + 2) % 3

    def error():
        R = head.rotation(system)
        exact = MOMENT * system.time**2 / (2 * J[axis])
        angle = np.arctan2(R[c, b], R[b, b])
        return (angle - exact + np.pi) % (2 * np.pi) - np.pi

    problem.record("error", error)
    problem.record("rigidity", lambda: rigidity(system, head))
    problem.record("pivot", head.at((0.0, 0.0, 0.0)))
    states = []
    if draw:
        problem.monitor(lambda step: states.append((step.time, sa.sample(system, head))))
    problem.solve(to=until, **solving)
    return problem.history, states[:: max(1, len(states) // 60)]


# %% [markdown]
# ## A long run
# The box swings about one of its corners under its weight for twenty seconds: what is left of
# the constraints, and of the energy, when the run is long?


# %%
def swing(options, until):
    """Let the head swing about a corner; return the history, drift of energy, CPU time."""
    build, solving = options
    head = sa.RigidBody.box(SIZE, rho=RHO, name="head")
    pivot = sa.joints.spherical(head.at(SIZE / 2), name="pivot")
    system = sa.System(head, terms=[pivot, sa.gravity((0.0, 0.0, -9.81))])
    problem = sa.DynamicProblem(system, prefix="swing_", **build)
    place = head.at(SIZE / 2)
    problem.record("rigidity", lambda: rigidity(system, head))
    problem.record("pivot", lambda: system.displacement(place)[0])
    problem.record("V", lambda: problem.energies.potential)
    start = time.process_time()
    problem.solve(to=until, **solving)
    spent = time.process_time() - start
    history = problem.history
    return history, abs(problem.energies.drift) / np.abs(history["V"]).max(), spent


def largest(history):
    """Return the largest violation of rigidity and joint at each step."""
    joint = history["pivot"].reshape(len(history.time), -1)
    return np.maximum(np.abs(history["rigidity"]).max(axis=1), np.abs(joint).max(axis=1))


# %%
def picture(turned, swings):
    """Draw the largest errors of the angle and violations up to each time."""
    worst = np.maximum.accumulate
    with sa.view.Diagram("results/head.png", 1, 2, height=3.3, sharey=True) as (left, right):
        for history in turned.values():
            left.semilogy(history.time[1:], worst(np.abs(history["error"][1:])))
        left.set(title="turned by a moment about z", ylabel="largest error of the angle [rad]")
        for name, (history, _, _) in swings.items():
            right.semilogy(history.time[1:], worst(largest(history)[1:]), label=name)
        right.set(title="swinging about a corner", ylabel="largest violation [m, 1]")
        right.tick_params(labelleft=True)
        for ax in (left, right):
            ax.axhspan(1e-17, 1e-15, color="0.93", lw=0)
            ax.set(xlabel="time [s]", ylim=(1e-17, 1e-4))
        left.text(0.97, 0.03, "round-off", ha="right", transform=left.transAxes, color="0.4")


# %%
def main(until=20.0):
    """Turn and swing, print tables, draw; return largest errors and violations."""
    heads = "angle [rad]:.5f", "error [rad]:.1e", "rigidity:.1e", "pivot:.1e"
    table = sa.Table("Moment of 10 N m for 2 s", "method", "axis", "steps", *heads)
    found, turned, states = {}, {}, []
    for name, options in METHODS.items():
        for axis in (2, 1, 0):
            draw = axis == 2 and not turned
            history, drawn = turn(axis, options, draw=draw)
            states = drawn or states
            if axis == 2:
                turned[name] = history
            error, broken, off = (
                np.abs(history[of]).max() for of in ("error", "rigidity", "pivot")
            )
            found[name, "xyz"[axis]] = error, max(broken, off)
            angle = MOMENT * 4 / (2 * J[axis])
            table.add(name, "xyz"[axis], len(history.steps), angle, error, broken, off)
    sa.root_print(table)

    heads = "CPU [s]:.1f", "violation, first 10 %:.1e", "last 10 %:.1e", "energy drift:.1e"
    table = sa.Table(f"Swing about a corner, {until:g} s", "method", "steps", *heads)
    swings = {}
    for name, options in METHODS.items():
        swings[name] = history, drift, spent = swing(options, until)
        bad, t = largest(history), history.time
        first, last = bad[t <= 0.1 * until].max(), bad[t >= 0.9 * until].max()
        table.add(name, len(history.steps), spent, first, last, drift)
        found[name, "swing"] = drift, bad.max()
    sa.root_print(table)

    picture(turned, swings)
    frames = states[:: 8 if SHORT else 1]
    sa.view.animate(frames, "results/head.gif", time_unit="s", unit="m")
    sa.root_print("Files: results/head.png, results/head.gif")
    return found


# %%
if __name__ == "__main__":
    found = main(1.0 if SHORT else 20.0)
    for axis in "xyz":
        assert found["index 3, generalized-alpha", axis][0] < 1e-4
        assert found["index 3, generalized-alpha", axis][1] < 1e-10
        for name in ("Baumgarte 5, 12", "fuzzy logic", "projection"):
            error, violation = found[f"index 1, {name}", axis]
            assert error < 1e-6
            assert violation < 1e-7

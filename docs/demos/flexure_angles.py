# SPDX-License-Identifier: BSD-3-Clause
"""Flexure angles: fibre angles of a micro-gripper's flexures for given strokes and forces.

Four circular flexures carry the effector of a gripper, see the demo gripper. Of carbon fibres in
epoxy each is as stiff as its fibres are steep. L-BFGS-B finds the four angles with which the
effector goes where it is wanted under six forces; each gradient is one sweep back over the path.

Takes 10 s on one core.
"""

# %% [markdown]
# # Flexure angles
#
# **What you learn**: a law of a `Parameter` within a model, the load path as a `sa.Series`, goals
# at many times of a path, and a design from a data file. Units: mm, uN.

# %%
from pathlib import Path

import numpy as np

import symancf as sa

RADIUS, BASE, HEIGHT = 0.2, 25.0, 5.0  # mm; um: the flexures of the demo gripper
LONG, ACROSS, SHEAR, POISSON = 140e3, 9e3, 5e3, 0.3  # uN/um^2: a layer of carbon and epoxy
SILICON = 100e3  # uN/um^2
ORIGIN = {1: (0.0, 0.0), 2: (1.5, 0.2), 3: (1.8, 1.5), 4: (1.0, 1.5)}
EFFECTOR = (-1.3571, 1.6991)  # on body 3
HINGES = {  # pair of bodies, centre, start and angle [degrees]
    "a": ((1, 2), (0.5, 0.0), 22.5, 300.0),
    "b": ((2, 3), (1.8478, 0.7654), 132.0, 320.0),
    "c": ((3, 4), (1.1928, 1.9), -15.0, 330.0),
    "d": ((4, 1), (0.5, 1.5), 240.0, 250.0),
}
TABLE = np.loadtxt(Path(__file__).with_name("flexure_angles.csv"), delimiter=",")
forces, wanted = TABLE[:, 0], TABLE[:, 1:]  # uN; mm

# %% [markdown]
# ## Fibres
# The modulus of a layer along a direction at an angle to its fibres (R. M. Jones, Mechanics of
# Composite Materials, 2nd ed., 1999, chapter 2). The start is a gripper as stiff as one of silicon.


# %%
def modulus(degrees):
    """Return E [uN/um^2] along the flexure."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return 1 / (c**4 / LONG + s**4 / ACROSS + (1 / SHEAR - 2 * POISSON / LONG) * (s * c) ** 2)


def stiffness(angle):
    """Return EI [uN mm^2] by the angle of fibres."""
    return lambda t: modulus(angle.value) * BASE * HEIGHT**3 / 12 * 1e-6


grid = np.linspace(90.0, 0.0, 9001)
START = float(np.interp(SILICON, modulus(grid), grid))  # degrees
angles = {name: sa.Parameter(f"angle {name}", START) for name in HINGES}

# %% [markdown]
# ## Model
# Half of the gripper: three bodies, and a force on the first one.

# %%
bodies = {k: sa.PlanarBody(position=ORIGIN[k], name=f"body {k}") for k in (2, 3, 4)}
flexures = []
for name, (pair, centre, start, angle) in HINGES.items():
    polar = np.radians([start, start + angle])
    X = centre + RADIUS * np.stack([np.cos(polar), np.sin(polar)], axis=1)
    ends = [
        (sa.ground if k == 1 else bodies[k]).at(x - ORIGIN[k]) for k, x in zip(pair, X, strict=True)
    ]
    EI = stiffness(angles[name])
    flexures.append(sa.Flexure.arc(*ends, RADIUS, np.radians(angle), EI=EI, name=name))
effector = bodies[3].at(EFFECTOR)
path = sa.Series(np.arange(len(forces)), forces)
load = sa.force(bodies[2].at((0.0, 0.0)), (0.0, path))
problem = sa.StaticProblem(sa.System(*bodies.values(), terms=[*flexures, load]))
x, y = sa.Goal(lambda r_a: r_a[0], effector), sa.Goal(lambda r_a: r_a[1], effector)


def positions():
    """Return the positions of the effector at all forces [mm]."""
    times = np.arange(float(len(forces)))
    return np.array([[problem.value(goal.at(t)) for goal in (x, y)] for t in times])


# %% [markdown]
# ## The goal
# The mean square of the distances from the wanted positions, each at the time of its force. Many
# angles come near these, as the stiffnesses of all four add up: those found are some of them.


# %%
def square(r_a, *, x, y):
    """Return the share of one position."""
    return ((r_a[0] - x) ** 2 + (r_a[1] - y) ** 2) / len(forces)


miss = sum(
    sa.Goal(square, effector, x=float(there[0]), y=float(there[1])).at(float(k))
    for k, there in enumerate(wanted)
)


def distance(found):
    """Return the largest distance from the wanted positions [um]."""
    return 1e3 * np.linalg.norm(found - wanted, axis=1).max()


# %%
def picture(before, after):
    """Draw the strokes of the effector, and the angles on the curve of the modulus."""
    with sa.view.Diagram("results/flexure_angles.png", 1, 2, height=2.6) as (stroke, curve):
        order = np.argsort(forces)
        for points, style, label in (
            (before, "C7--", "start"),
            (after, "C0-", "found"),
            (wanted, "kx", "wanted"),
        ):
            stroke.plot(*points[order].T, style, label=label)
        stroke.set(title="effector", xlabel="x [mm]", ylabel="y [mm]", aspect="equal")
        curve.plot(grid, 1e-3 * modulus(grid), "C7-")
        for name, angle in angles.items():
            curve.plot(angle.value, 1e-3 * modulus(angle.value), "o", label=name)
        curve.set(title="flexures", xlabel="angle of fibres [°]", ylabel="modulus [GPa]")


def main():
    """Find the angles; return the largest distances [um], at the start too, and the result."""
    problem.solve(to=len(forces) - 1.0, step=1.0, trace=sa.Trace())
    before = positions()
    found = sa.optimize.scipy(
        problem,
        miss,
        [*angles.values()],
        bounds=[(0.0, 90.0)] * len(angles),
        options={"maxfun": 40, "ftol": 1e-12, "gtol": 1e-9},
    )
    after = positions()
    values = ", ".join(f"{name} {angle.value:.1f}" for name, angle in angles.items())
    sa.root_print(
        f"largest distance {distance(before):.1f} -> {distance(after):.2f} um after "
        f"{found.solutions} paths; angles of fibres [degrees]: {values}"
    )
    picture(before, after)
    sa.root_print("Files: results/flexure_angles.png")
    return distance(before), distance(after), found


# %%
if __name__ == "__main__":
    before, after, found = main()
    assert before > 150.0
    assert after < 1.0
    assert all(0.0 <= angle.value <= 90.0 for angle in angles.values())

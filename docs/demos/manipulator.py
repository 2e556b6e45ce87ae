# SPDX-License-Identifier: BSD-3-Clause
"""Flexible manipulator: two links and two PID motors trace a circle and a square.

Two slender links, ANCF cables without torsion, carry a payload in the plane (x, z). A motor in
the hub turns the first link, a motor in the elbow the second one against the first. The paper
that announces the example prints no data; these are a proposal (papers/manipulator).

Takes 20 s on one core.
"""

# %% [markdown]
# # Flexible manipulator
#
# **What you learn**: a hinge without a joint (bodies of one mesh share positions, not slopes), a
# rigid payload, motors with PID control as functions of what is measured and of what is driven,
# and the limit of stiff links against a rigid model. `-short` traces one side of the square.

# %%
import math
import sys

import numpy as np
import sympy as sp

import symancf as sa
from symancf.energies import cable, rod

SHORT, RODS = "-short" in sys.argv, "-rods" in sys.argv

# %% [markdown]
# ## Data
# Aluminium rods of 1 m and 10 mm radius, four cables each, and a payload of 0.1 kg.

# %%
LENGTH, RADIUS, YOUNG, DENSITY, PAYLOAD = 1.0, 0.01, 70e9, 2700.0, 0.1
AREA, INERTIA = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
GAINS = {"kp": 400.0, "ki": 50.0, "kd": 40.0}  # N m/rad, N m/(rad s), N m s/rad
ELEMENTS, STEP = 4, 2e-3
CENTRE = np.array([1.2, 0.3])
TOLERANCE = 5e-3  # m, on the root mean square of the tip's error

# %% [markdown]
# ## Paths
# The circle and each side of the square begin and end at rest; the speed is a trapezoid. The
# targets of the motors are the angles of a *rigid* manipulator, elbow up.


# %%
def trapezoid(s, ramp=0.25):
    """Return the way from 0 to 1 in the time s from 0 to 1, with a quarter to speed up."""
    if s < ramp:
        way = s * s / (2 * ramp)
    elif s < 1 - ramp:
        way = s - ramp / 2
    else:
        way = 1 - ramp - (1 - s) ** 2 / (2 * ramp)
    return way / (1 - ramp)


def circle(t):
    """Return the target (x, z) on a circle of radius 0.25 m, once round in 4 s."""
    angle = 2 * np.pi * trapezoid(min(max(t / 4.0, 0.0), 1.0))
    return CENTRE + 0.25 * np.array([np.cos(angle), np.sin(angle)])


def square(t):
    """Return the target on a square of side 0.4 m, 2 s a side."""
    corners = CENTRE + 0.2 * np.array([[1, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    side, s = divmod(min(max(t, 0.0), 8.0 - 1e-12), 2.0)
    way = trapezoid(s / 2.0)
    return (1 - way) * corners[int(side)] + way * corners[int(side) + 1]


def joint_angles(target):
    """Return the angles of both links against x that reach a target, elbow up."""
    x, z = target
    first = math.atan2(z, x) + math.acos(math.hypot(x, z) / (2 * LENGTH))
    return first, math.atan2(z - LENGTH * math.sin(first), x - LENGTH * math.cos(first))


def elbow_target(target):
    """Return the angle of the second link against the first."""
    first, second = joint_angles(target)
    return second - first


PATHS = {"circle": (circle, 4.0), "square": (square, 2.0 if SHORT else 8.0)}

# %% [markdown]
# ## Motors
# `e1_a` is the present direction of a cable at an end, `w1_a` its rate. The hub's motor acts on
# the spin of the first link, the elbow's on the difference of two spins: on both links.


# %%
def spin(e, w):
    """Return the spin of a cable in the plane, from x to z."""
    return (e[0] * w[2] - e[2] * w[0]) / e.dot(e)


def hub_angle(e1_a):
    return sp.atan2(e1_a[2], e1_a[0])


def hub_motor(e1_a, w1_a):
    return spin(e1_a, w1_a)


def elbow_angle(e1_a, e1_b):
    return sp.atan2(e1_a[0] * e1_b[2] - e1_a[2] * e1_b[0], e1_a.dot(e1_b))


def elbow_motor(e1_a, w1_a, e1_b, w1_b):
    return spin(e1_b, w1_b) - spin(e1_a, w1_a)


# %% [markdown]
# ## The manipulator
# The links are two bodies of one mesh. They share the position of the elbow, and each has slopes
# of its own there: that is the hinge. With `rods` they are `ancf_rod`, which twist and shear, too;
# in the plane they do as cables, and cost four times as much (`python manipulator.py -rods`).


# %%
def material(rods, stiffness, unit):
    """Return element, energy and parameters of a link."""
    if rods:
        given = sa.Section.circle(RADIUS).rod(E=stiffness * YOUNG, nu=0.33, rho=DENSITY)
        return (sa.elements.ancf_rod, rod()), given | {"join": "position"}
    given = {"EA": stiffness * YOUNG * AREA, "EI": stiffness * YOUNG * INERTIA}
    along = {"direction": lambda X: np.broadcast_to(unit, X.shape)}
    return (sa.elements.ancf_cable, cable()), given | {"rho": DENSITY, "A": AREA} | along


def manipulator(path, stiffness=1.0, n=ELEMENTS, rods=False):
    """Return the system at the beginning of a path, the motors, and places along the links."""
    angles = joint_angles(path(0.0))
    units = [np.array([np.cos(a), 0.0, np.sin(a)]) for a in angles]
    frames = [np.stack([u, [0.0, 1.0, 0.0], np.cross(u, [0, 1, 0])], axis=1) for u in units]
    between = 2 if rods else 1  # nodes of a rod are also in the middle of cells
    way = np.linspace(0.0, LENGTH, between * n + 1)[:, None]
    points = np.concatenate([way * units[0], (LENGTH * units[0] + way * units[1])[1:]])
    first = between * np.arange(2 * n)
    lines = np.stack([first, first + between, first + 1][: between + 1], axis=1)
    kind = "line3" if rods else "line"
    mesh = sa.Mesh.from_arrays(
        points,
        {kind: lines},
        regions={
            "lower": (kind, np.arange(n)),
            "upper": (kind, np.arange(n, 2 * n)),
            "hub": ("vertex", [0]),
        },
    )
    links = []
    for name, unit in zip(("lower", "upper"), units, strict=True):
        law, given = material(rods, stiffness, unit)
        links.append(sa.Body(mesh[name], *law, **given))
    lower, upper = links
    tip = upper.at(points[-1])
    ball = sa.RigidBody.sphere(0.02, position=points[-1], rho=PAYLOAD / (4 / 3 * np.pi * 0.02**3))
    bend = between * n
    elbow = [lower.at(points[bend], frames[0]), upper.at(points[bend], frames[1])]
    motors = [
        sa.PID(
            hub_angle,
            hub_motor,
            lower.at(points[0], frames[0]),
            target=lambda t: joint_angles(path(t))[0],
            angle=True,
            name="hub",
            **GAINS,
        ),
        sa.PID(
            elbow_angle,
            elbow_motor,
            *elbow,
            target=lambda t: elbow_target(path(t)),
            angle=True,
            name="elbow",
            **GAINS,
        ),
    ]
    hold = sa.joints.spherical(ball.centre, tip, name="payload")
    system = sa.System(*links, ball, terms=[sa.fix(lower["hub"], dofs="position"), hold, *motors])
    places = [
        link.at(
            np.linspace(
                points[0 if link is lower else bend], points[bend if link is lower else -1], 9
            )
        )
        for link in links
    ]
    return system, motors, places


def trace(path, duration, stiffness=1.0, n=ELEMENTS, step=STEP, rods=False):
    """Return times, positions (times, 18, 3) along both links, torques and the problem."""
    system, motors, places = manipulator(path, stiffness, n, rods)
    problem = sa.DynamicProblem(system, prefix="manipulator_", spectral_radius=0.8)
    problem.record("links", lambda: np.concatenate([system.position(p) for p in places]), every=4)
    problem.record("torque", lambda: [m.values(system)[0, 0] for m in motors], every=4)
    history = problem.solve(to=duration, step=step)
    return history.times("links"), history["links"].reshape(-1, 18, 3), history["torque"], problem


# %% [markdown]
# ## The rigid limit
# Two rigid rods with the same motors: two angles and two integrals, by SciPy.


# %%
def rigid(path, times):
    """Return the tip (times, 2) of the rigid manipulator under the same control."""
    from scipy.integrate import solve_ivp

    m = DENSITY * AREA * LENGTH
    a, b, c = m / 3 + m + PAYLOAD, m / 3 + PAYLOAD, m / 2 + PAYLOAD  # L = 1

    def targets(t):
        first, second = joint_angles(path(t))
        return np.array([first, second - first])

    def rates(t, y):
        angles, speeds, sums = y[:2], y[2:4], y[4:]
        h = 1e-4
        goal_rate = (
            targets(t - 2 * h) - 8 * targets(t - h) + 8 * targets(t + h) - targets(t + 2 * h)
        ) / (12 * h)
        e = targets(t) - [angles[0], angles[1] - angles[0]]
        de = goal_rate - [speeds[0], speeds[1] - speeds[0]]
        one, two = GAINS["kp"] * e + GAINS["ki"] * sums + GAINS["kd"] * de
        cos, sin = np.cos(angles[0] - angles[1]), np.sin(angles[0] - angles[1])
        matrix = [[a, c * cos], [c * cos, b]]
        right = [one - two - c * sin * speeds[1] ** 2, two + c * sin * speeds[0] ** 2]
        return np.concatenate([speeds, np.linalg.solve(matrix, right), e])

    start = [*joint_angles(path(0.0)), 0, 0, 0, 0]
    solved = solve_ivp(
        rates, (0, times[-1]), start, t_eval=times, rtol=1e-8, atol=1e-9, max_step=0.02
    )
    first, second = solved.y[:2]
    return LENGTH * np.stack(
        [np.cos(first) + np.cos(second), np.sin(first) + np.sin(second)], axis=1
    )


# %%
def picture(results):
    """Draw the links, the paths, the errors and the torques; and both motions as a film."""
    with sa.view.Diagram("results/manipulator.png", 2, 3, height=4.6) as axes:
        for row, (name, (times, links, torque, goals)) in zip(
            axes.reshape(2, 3), results.items(), strict=True
        ):
            for k in range(0, len(links), len(links) // 12):
                row[0].plot(links[k, :, 0], links[k, :, 2], color="0.75", lw=0.8)
            row[0].plot(links[:, -1, 0], links[:, -1, 2], "C1", label="tip")
            row[0].plot(*goals.T, "k:", lw=0.9, label="target")
            row[0].set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
            row[0].set(title=f"{name}, links every {times[-1] / 12:.2f} s")
            row[1].plot(times, 1e3 * np.linalg.norm(links[:, -1, ::2] - goals, axis=1))
            row[1].set(ylabel="error of the tip [mm]", xlabel="time [s]")
            row[2].plot(times, torque, label=["hub", "elbow"])
            row[2].set(ylabel="torque [N m]", xlabel="time [s]")

    def draw(ax, frame):
        name, k = frame
        times, links, _, goals = results[name]
        ax.plot(*goals.T, "k:", lw=0.9)
        ax.plot(links[: k + 1, -1, 0], links[: k + 1, -1, 2], "C1")
        ax.plot(links[k, :, 0], links[k, :, 2], "C0", lw=2.5)
        ax.set(xlim=(-0.6, 1.8), ylim=(-0.5, 1.3), aspect="equal")
        ax.set(title=f"{name}, t = {times[k]:.2f} s", xlabel="x [m]", ylabel="z [m]")

    every = 50 if SHORT else 10
    frames = [(name, k) for name in results for k in range(0, len(results[name][0]), every)]
    sa.view.draw_film(frames, draw, "results/manipulator.gif", height=2.9)


def main():
    """Trace both paths with flexible and with stiff links; return errors of the tip [m]."""
    heads = "rms error [mm]:.3f", "largest [mm]:.3f", "from the rigid model [mm]:.3f"
    title = "Two-link manipulator"
    table = sa.Table(title, "path", "links", *heads, "largest torque [N m]:.2f")
    results, found = {}, {}
    for name, (path, duration) in PATHS.items():
        kinds = [("flexible", 1.0), ("100 times stiffer", 100.0), *[("rods", 1.0)] * RODS]
        for label, stiffness in kinds:
            times, links, torque, _ = trace(path, duration, stiffness, rods=label == "rods")
            goals = np.array([path(t) for t in times])
            tip = links[:, -1, ::2]
            error = np.linalg.norm(tip - goals, axis=1)
            apart = np.linalg.norm(tip - rigid(path, times), axis=1).max()
            found[name, label] = float(np.sqrt(np.mean(error**2))), float(apart)
            errors = 1e3 * np.array([found[name, label][0], error.max(), apart])
            table.add(name, label, *errors, np.abs(torque).max())
            if label == "flexible":
                results[name] = times, links, torque, goals
    sa.root_print(table)
    picture(results)
    sa.root_print("Pictures: results/manipulator.png, results/manipulator.gif")
    return found


# %%
if __name__ == "__main__":
    for (name, label), (rms, apart) in main().items():
        assert rms < TOLERANCE, name
        assert label != "100 times stiffer" or apart < 2e-4, name

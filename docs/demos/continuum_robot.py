# SPDX-License-Identifier: BSD-3-Clause
"""Continuum robot: eight discs, four tendons with friction, a payload, controllers of lengths.

A thin rod of nickel-titanium hangs from a plate and carries discs, through which four tendons run.
Pulled statically it bends as constant curvature says, once the discs are counted; then motors
that follow given lengths lead it and a payload once around in two seconds.

Takes 3 min on one core.
"""

# %% [markdown]
# # Tendon-driven continuum robot
#
# **What you learn**: tendons through rigid discs on a rod, friction in eyelets, the shape beside
# constant curvature, controllers on lengths of tendons. Run it with
# `mpirun -n 2 python docs/demos/continuum_robot.py`; `-short` stops after a tenth of a second.

# %%
import sys

import numpy as np
from mpi4py import MPI

import symancf as sa

SHORT = "-short" in sys.argv
LENGTH, DISCS, RADIUS, OFFSET = 0.2, 8, 0.7e-3, 0.01  # m; OFFSET of the tendons from the axis
DISC, THICKNESS, BALL = 0.012, 2e-3, 9e-3  # m, radii of discs and payload
YOUNG, CORD, MU = 60e9, 2e3, 0.1  # Pa, N (stiffness of a tendon), friction in the eyelets
BENT, PULL, START, END = np.radians(40.0), 4.0, 1.0, 1.1 if SHORT else 3.0  # rad, N, s, s
SECTION = sa.Section.circle(RADIUS)
ROD = SECTION.rod(E=YOUNG, nu=0.3, rho=6450.0)
DOWN = np.array([0.0, 0.0, -1.0])
SIDES = OFFSET * np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)])

# %% [markdown]
# ## The robot
# One cell of rod from disc to disc; each disc is a rigid body whose centre is fixed to the axis. A
# tendon begins at the plate, runs through eyelets of all discs and ends in the last one.


# %%
def robot(winches, tension=0.0, payload=False):
    """Return the system, the discs from the plate to the tip, and the tendons."""
    mesh = sa.Mesh.box((LENGTH,), (DISCS,), cell="line3", warp=lambda X: X[:, :1] * DOWN)
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), name="backbone", **ROD)
    heights = -LENGTH * np.arange(1, DISCS + 1) / DISCS
    terms, bodies = [sa.fix(rod["x0"])], [rod]
    for k, z in enumerate(heights):
        at = (0.0, 0.0, z)
        disc = sa.RigidBody.cylinder(DISC, THICKNESS, position=at, rho=1100.0, name=f"disc {k + 1}")
        terms.append(sa.joints.rigid(rod.at(at), disc.centre))
        bodies.append(disc)
    discs = bodies[1:]
    tendons = []
    for k, (winch, side) in enumerate(zip(winches, SIDES, strict=True)):
        places = [sa.ground.at(side), *(disc.at(side) for disc in discs)]
        cord = {"EA": CORD, "mu": MU, "tension": tension, "name": f"tendon {k + 1}"}
        tendons.append(sa.Tendon(places, start=winch, **cord))
    if payload:
        below = (0.0, 0.0, -1e-2)
        at = LENGTH * DOWN + below
        ball = sa.RigidBody.sphere(BALL, position=at, rho=7850.0, name="payload")
        terms += [sa.joints.rigid(discs[-1].at(below), ball.centre)]
        terms += [sa.gravity((0.0, 0.0, -9.81))]
        bodies.append(ball)
    return sa.System(*bodies, terms=[*terms, *tendons]), discs, tendons


def turned(system, disc):
    """Return the angle between a disc's axis and the vertical [rad]."""
    axis = np.subtract(*(system.position(disc.at((0.0, 0.0, z)))[0] for z in (-1e-3, 1e-3)))
    return np.arctan2(np.hypot(*axis[:2]), -axis[2])


# %% [markdown]
# ## Pulled without weight
# From disc to disc, at the distance $l$, the rod takes the moment $(T_1 - T_3)\,a$ of two opposite
# tendons. That would be constant curvature; but tendons are straight from disc to disc, and the rod
# bows away from all four of them, so it bends more:
#
# $$\theta_j = \frac{(T_1 - T_3)\,a\,l}{EI}\,\frac{\tan x}{x},\qquad
# x = \frac l2\sqrt{\frac{T_1 + T_2 + T_3 + T_4}{EI}},$$
#
# with the tensions between these discs: friction lowers them towards the tip,
# $T_n = T_0\,e^{-\mu\sum\theta}$. At $x = \pi/2$ the rod buckles between two discs.


# %%
def pulled():
    """Pull at one tendon more than at the others; return rows of the table."""
    hands = [sa.Parameter(f"hand {k}", 1.0) for k in range(4)]
    system, discs, tendons = robot([sa.winch(force=hand) for hand in hands])
    problem = sa.StaticProblem(system, prefix="pulled_")
    rows, stiffness, part = [], ROD["EI2"], LENGTH / DISCS
    for hands[0].value in (1.0, 2.0, 3.5, 5.0):
        problem.solve()
        T = np.array([tendon.tensions(system) for tendon in tendons])  # (tendon, segment)
        x = part / 2 * np.sqrt(T.sum(axis=0) / stiffness)
        plain = (T[0] - T[2]) * OFFSET * part / stiffness
        turn, curve = turned(system, discs[-1]), [plain.sum(), (plain * np.tan(x) / x).sum()]
        arrives = T[0, -1] / T[0, 0], np.exp(-MU * tendons[0].angles(system).sum())
        rows.append((T[0, 0], *np.degrees([turn, *curve]), *arrives))
    return rows


# %% [markdown]
# ## Lengths by controllers
# A motor at the plate pulls in the length $s$ of its tendon. It gives the tension
# $T = T_p + k_p e + k_i \int e\,\mathrm dt + k_d \dot e$ from the error $e$ of the length.
# The command is that of constant curvature: a bend $\theta$ in the direction $\varphi$ has chords
# shorter by $L - (L - a\,\theta\cos(\varphi - \varphi_k))\,\sin\xi/\xi$, with
# $\xi = \theta/2n$ for $n$ discs.
#
# Statics bends the robot with its payload first: the integral then holds the lengths. The motion
# continues from there, in 500 steps of 4 ms. With gains this low the lengths lag by up to 0.55 mm
# of 7 mm, and the payload still swings at the end.


# %%
def direction(t):
    """Return the direction of the bend: once around, smoothly [rad]."""
    x = (t - START) / 2.0
    return 2 * np.pi * x**3 * (10 - 15 * x + 6 * x**2)


def command(k, bend):
    """Return the length that motor k pulls in, as a function of time [m]."""

    def drawn(t):
        xi = bend.value / 2 / DISCS
        longer = OFFSET * bend.value * np.cos(direction(t) - k * np.pi / 2)
        return LENGTH - (LENGTH - longer) * np.sinc(xi / np.pi)

    return drawn


def hold(y, y_rate, integral, *, target, target_rate, pull, kp, ki, kd):
    """Return the tension of a motor, and the rate of its integral."""
    e = target - y
    return {"force": pull + kp * e + ki * integral + kd * (target_rate - y_rate), "integral": e}


def winch(k, bend):
    """Return a winch whose motor follows its command."""
    goal = command(k, bend)

    def motor(end):
        return sa.Controller(
            lambda s_a: s_a,
            lambda ds_a: ds_a,
            hold,
            end,
            name=f"motor {k + 1}",
            states=["integral"],
            target=goal,
            target_rate=lambda t: (goal(t + 1e-6) - goal(t - 1e-6)) / 2e-6,
            pull=PULL,
            kp=2e3,
            ki=2e4,
            kd=20.0,
        )

    return sa.winch(motor=motor)


def drawn(system, tendons):
    """Return samples of rod, discs, payload and tendons, coloured by tension."""
    rod, *rigid = system.bodies
    shown = [sa.output.swept(sa.sample(system, rod, fields=["d2", "d3"]), SECTION)]
    shown += [sa.sample(system, body) for body in rigid]
    for tendon in tendons:
        r, T = tendon.positions(system), tendon.tensions(system)
        ends = np.stack([r[:-1], r[1:]], axis=1).reshape(-1, 3)
        mine = len(T) if MPI.COMM_WORLD.rank == 0 else 0
        lines = {"line": np.arange(2 * mine).reshape(-1, 2)}
        tension = {"tension": np.repeat(T[:mine], 2)}
        shown.append(sa.output.Samples(ends[: 2 * mine], lines, tension, {}))
    return shown


def led():
    """Bend the robot with its payload, lead it around; return what was recorded, and pictures."""
    bend = sa.Parameter("bend", 0.0)
    system, discs, tendons = robot([winch(k, bend) for k in range(4)], PULL, payload=True)
    statics = sa.StaticProblem(system, prefix="bent_")
    for bend.value in BENT * np.arange(1, 5) / 4:
        statics.solve(to=START)
    ratios = [tendon.tensions(system)[-1] / tendon.tensions(system)[0] for tendon in tendons[::2]]
    capstan = [np.exp(-MU * tendon.angles(system).sum()) for tendon in tendons[::2]]
    problem = sa.DynamicProblem(system, prefix="led_", spectral_radius=0.7)
    problem.record("drawn", lambda: [tendon.slips(system)[0] for tendon in tendons])
    problem.record("tension", lambda: [tendon.tensions(system)[0] for tendon in tendons])
    problem.record("tip", discs[-1].centre)
    shapes = {"1.0 s": drawn(system, tendons)}
    for stop in (END,) if SHORT else (1.8, 2.2, END):
        problem.solve(to=stop, step=4e-3)
        shapes[f"{stop:.1f} s"] = drawn(system, tendons)
    rubbed = sum(tendon.dissipated(system) for tendon in tendons)
    goals = np.array([[command(k, bend)(t) for k in range(4)] for t in problem.history.time])
    return problem, goals, shapes, rubbed, (ratios, capstan)


# %%
def main():
    """Solve both cases, print tables, draw; return what is checked."""
    rows = pulled()
    heads = "tension [N]", "turned [degrees]:.3f", "constant curvature:.3f", "with discs:.3f"
    table = sa.Table("Tip, pulled at one tendon", *heads, "T_8/T_0:.6f", "capstan:.6f")
    for row in rows:
        table.add(*row)
    sa.root_print(table)
    problem, goals, shapes, rubbed, friction = led()
    history = problem.history
    errors = 1e3 * (history["drawn"].reshape(goals.shape) - goals)
    tip = 1e3 * history["tip"].reshape(-1, 3)
    sa.root_print(
        f"Led around: {len(history.time)} steps; lengths within {abs(errors).max():.3f} mm of the "
        f"command, at the end {abs(errors[-1]).max():.3f} mm; the tip ends "
        f"{np.linalg.norm(tip[-1] - tip[0]):.2f} mm from its start; friction took "
        f"{1e3 * rubbed:.1f} mJ"
    )
    with sa.view.Diagram("results/continuum_robot.png", columns=3, width=7.5) as (left, *others):
        left.plot(tip[:, 0], tip[:, 1])
        left.set(xlabel="tip, x [mm]", ylabel="tip, y [mm]", aspect="equal")
        others[0].plot(history.time, 1e3 * goals, "k:", lw=0.8)
        others[0].plot(history.time, 1e3 * history["drawn"].reshape(goals.shape))
        others[0].set(xlabel="time [s]", ylabel="length pulled in [mm]")
        others[1].plot(history.time, history["tension"].reshape(goals.shape))
        others[1].set(xlabel="time [s]", ylabel="tension at the motor [N]")
    sa.view.render(
        shapes,
        "results/continuum_robot_shapes.png",
        field="tension",
        label="tension",
        unit="N",
        eye=(1.0, -0.6, 0.25),
        undeformed=False,
        columns=4,
        width=4.2,
    )
    sa.root_print("Pictures: results/continuum_robot.png, results/continuum_robot_shapes.png")
    return rows, errors, tip, friction


# %%
if __name__ == "__main__":
    rows, errors, tip, (ratios, capstan) = main()
    for _, turn, _, discs, ratio, expected in rows[1:]:
        assert abs(turn / discs - 1) < 3e-3
        assert abs(ratio / expected - 1) < 1e-9
    assert np.allclose(ratios[0], capstan[0], rtol=1e-9)  # the tendon that pulls
    assert abs(errors).max() < 0.7  # mm, of 7 mm
    assert SHORT or abs(errors[-1]).max() < 0.15
    assert SHORT or np.linalg.norm(tip[-1] - tip[0]) < 3.0  # mm, it swings

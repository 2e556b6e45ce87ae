# SPDX-License-Identifier: BSD-3-Clause
"""A manipulator with control.

A flexible arm with a payload is turned by a motor with a controller. It arrives, and continues
swinging. The modes of the controlled arm give an input shaper that takes the swing away. Units are
SI.
"""

# %% [markdown]
# ## The arm
# An aluminium tube of 1.2 m, as cables (bending and stretch, no torsion), moves in a horizontal
# plane. Its end at the hub keeps its place; the slope there is free, and is what the motor turns. A
# ball is the payload.

# %%
import numpy as np
import sympy as sp

import symancf as sa

LENGTH, OUTER, INNER, YOUNG, RHO, PAYLOAD = 1.2, 8e-3, 6e-3, 70e9, 2700.0, 0.3
AREA, SECOND = np.pi * (OUTER**2 - INNER**2), np.pi / 4 * (OUTER**4 - INNER**4)
line = sa.Mesh.box((LENGTH,), (8,), name="line")
given = {"EA": YOUNG * AREA, "EI": YOUNG * SECOND, "rho": RHO, "A": AREA}
arm = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), name="arm", **given)
tip = (LENGTH, 0.0, 0.0)
ball = sa.RigidBody.sphere(
    0.02, position=tip, rho=PAYLOAD / (4 / 3 * np.pi * 0.02**3), name="payload"
)

# %% [markdown]
# ## The motor
# What is measured and what is driven are functions of the axes of a place: `e1_a` is the direction
# of the arm at the hub, `w1_a` its rate. The law of the controller is a function, too: a PD law
# whose torque follows its command with a lag. The measured `y` and its rate are given to it by
# name, `torque` is a state of its own.


# %%
def angle(e1_a):
    return sp.atan2(e1_a[1], e1_a[0])


def motor(e1_a, w1_a):
    return (e1_a[0] * w1_a[1] - e1_a[1] * w1_a[0]) / e1_a.dot(e1_a)


def servo(y, y_rate, torque, *, target, kp, kd, lag):
    command = kp * (target - y) - kd * y_rate
    return {"force": torque, "torque": (command - torque) / lag}


GAINS = {"kp": 2000.0, "kd": 60.0, "lag": 2e-3}  # N m, N m s, s
TURN, DURATION = np.pi / 3, 0.4  # rad, s


def smooth(t):
    """Return a target from 0 to TURN, at rest at both ends."""
    s = min(max(t / DURATION, 0.0), 1.0)
    return TURN * s**3 * (10 - 15 * s + 6 * s**2)


def robot(target):
    """Return the system and the controller."""
    hub = arm.at((0.0, 0.0, 0.0), frame=np.eye(3))
    drive = sa.Controller(
        angle, motor, servo, hub, states=("torque",), target=target, name="servo", **GAINS
    )
    hinge = sa.fix(arm["x0"], dofs="position")
    payload = sa.joints.clamp(arm["x1"], ball)
    return sa.System(arm, ball, terms=[sa.planar(arm), hinge, payload, drive]), drive


def move(target, until=3.0):
    """Return times, the swing of the tip about where it should be [m], torques, energies."""
    system, drive = robot(target)
    problem = sa.DynamicProblem(system, prefix="arm_", spectral_radius=0.8)
    problem.record("tip", arm.at(tip))
    problem.record("torque", lambda: drive.values(system)[0, 0])
    history = problem.solve(to=until, step=4e-3)
    x = history["tip"]
    across = -np.sin(TURN) * x[:, 0] + np.cos(TURN) * x[:, 1]  # off the line of the goal
    return history.time, across, history["torque"], problem


t, plain, torque, problem = move(smooth)
after = t > 1.2
swing = np.ptp(plain[after])
sa.root_print(problem.energies)
sa.root_print(
    f"swing after {t[after][0]:.2f} s: {1e3 * swing:.2f} mm, torque {abs(torque).max():.2f} N m"
)

# %% [markdown]
# ## Modes of the arm under control
# `damped=True` takes the controller into account. The first oscillation is what is seen above: its
# damping is small, for the motor hardly moves where the arm bends. (The mode of frequency zero is
# the ball, which may turn about the arm's axis: cables have no torsion.)

# %%
system, _ = robot(0.0)
modes = sa.EigenProblem(system).solve(6, damped=True)
sa.root_print(modes)

first = int(np.flatnonzero(modes.frequencies > 0)[0])
frequency, damping = modes.frequencies[first], modes.damping_ratios[first]

# %% [markdown]
# ## A shaped command
# The target is given in two parts, the second one half a period of the damped oscillation later, so
# that its swing cancels that of the first (Singer and Seering, J. Dyn. Syst. Meas. Control 112
# (1990) 76). With $K = e^{-\pi\zeta/\sqrt{1-\zeta^2}}$ the parts are $1/(1+K)$ and $K/(1+K)$.

# %%
K = np.exp(-np.pi * damping / np.sqrt(1 - damping**2))
delay = 0.5 / frequency


def shaped(t):
    return (smooth(t) + K * smooth(t - delay)) / (1 + K)


t, calm, torque_2, _ = move(shaped)
left = np.ptp(calm[after])
sa.root_print(
    f"first mode {frequency:.3f} Hz, damping {100 * damping:.1f} %, delay {1e3 * delay:.0f} ms"
)
sa.root_print(
    f"swing {1e3 * swing:.2f} mm, shaped {1e3 * left:.2f} mm, {swing / left:.0f} times less"
)
assert left < 0.2 * swing

# %% Distance of the tip from its goal, and the torques of the motors, over the time
figure = sa.view.Diagram("manipulator.png", columns=2)
with figure as (one, two):
    for name, y, force in (("plain", plain, torque), ("shaped", calm, torque_2)):
        one.plot(t, 1e3 * y, label=name)
        two.plot(t, force, label=name)
    one.set(
        xlabel="time [s]",
        ylabel="tip off its goal [mm]",
        xlim=(0.5, 3.0),
        ylim=np.array([-1.2, 1.2]) * 1e3 * swing,
    )
    two.set(xlabel="time [s]", ylabel="torque [N m]", xlim=(0.0, 1.5))
figure

# %% [markdown]
# ## What next
# - `sa.PID` has a law with an integral built in; [joints, forces and
#   motors](../joints.md#motors-and-controllers-closed-loop-control) shows both.
# - The demo of the flexible manipulator has two links, traces a circle and a square, and compares
#   with a rigid model.

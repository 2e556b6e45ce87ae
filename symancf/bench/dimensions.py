# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the mechanisms that symancf and Exudyn run; NumPy alone, also for its script."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

G = -9.81
SPECTRAL_RADIUS = 0.9


class TimedModel(NamedTuple):
    """Length of a step [s], steps, and a length of the size of the motion [m]."""

    h: float
    steps: int
    size: float


MODELS = {
    "four-bar": TimedModel(1e-3, 1000, 0.7),
    "chain": TimedModel(1e-3, 400, 2.0),
    "slider-crank": TimedModel(5e-4, 1000, 0.8),
    "manipulator": TimedModel(1e-3, 800, 2.0),
    "rotor": TimedModel(5e-4, 1200, 2.0),
    "rods": TimedModel(1e-3, 100, 2.0),
    "net": TimedModel(1e-3, 150, 0.9),
    "net of points": TimedModel(1e-3, 150, 0.9),
    "block": TimedModel(1e-3, 300, 0.7),
    "cables": TimedModel(1e-3, 1000, 1.2),
    "plates": TimedModel(5e-4, 60, 0.3),
    # the second set, written before any of it was measured
    "crank-rocker": TimedModel(5e-4, 800, 0.8),
    "platform": TimedModel(1e-3, 500, 0.5),
    "double pendulum": TimedModel(1e-3, 800, 1.0),
    "gears": TimedModel(1e-3, 800, 0.2),
    "payload": TimedModel(1e-3, 500, 1.5),
    # equilibria: a design takes the place of a step
    "designs": TimedModel(0.0, 60, 1.0),
}

# four-bar RSSR: ground A - B - C - D ground, boxes of this width and height
JOINTS = tuple(np.array(p) for p in ([0, 0, 0], [0, 0, 0.2], [0.6, 0.3, 0.4], [0.6, 0.3, 0]))
BARS = tuple((JOINTS[k], JOINTS[m]) for k, m in ((0, 1), (1, 2), (3, 2)))
ACROSS = (0.03, 0.04)

LINKS, LINK = 20, 0.1  # chain
HINGES = ((0.0, 1.0, 0.0), (0.0, 0.6, 0.8))  # axes by turns

# slider-crank: a crank of 0.2 m upright, a connecting rod of 0.6 m of cables
CRANK, ROD, ROD_CABLES = 0.2, 0.6, 8
SLIDER = math.sqrt(ROD**2 - CRANK**2)
ROD_SECTION: dict[str, Any] = {"EA": 1e4, "EI": 2.0, "rho": 1000.0, "A": 1e-3}

# manipulator: two arms of 1 m of four cables, motors at shoulder and elbow
ARM_CABLES = 4
ARM_SECTION: dict[str, Any] = {"EA": 7e5, "EI": 200.0, "rho": 2700.0, "A": 1e-4}
GAIN, DAMPING = 400.0, 40.0
TARGETS = ((0.8, 2.0), (-0.6, 3.0))  # a sin(w t)^2

# rotor: 16 cables of 2 m that spin up to 4 rad/s in half a second
ROTOR_SECTION: dict[str, Any] = {"EA": 2e5, "EI": 50.0, "rho": 1000.0, "A": 1e-3}
SPIN, SPIN_UP = 4.0, 0.5

RODS, ROD_LENGTH, RODS_EACH = 10, 0.2, 2
CIRCLE = {"E": 2e7, "nu": 0.3, "radius": 0.02, "rho": 1200.0}

# net of n x n balls, springs and dampers between neighbours, held at the corners
NET, MESH, BALL, DENSITY = 10, 0.1, 0.02, 3000.0
SPRING, DASHPOT, SLACK = 500.0, 1.0, 0.95
BALL_MASS = DENSITY * 4 / 3 * math.pi * BALL**3

# block that slides and turns on a plane
BLOCK, STIFFNESS, FRICTION = (0.2, 0.1, 0.1), 1e5, 0.3
THROW, WHIRL = (2.0, 0.5, 0.0), 3.0

# crank-rocker: ground (0, 0) - crank - coupler of cables - rocker - ground (0.5, 0)
PINS = tuple(np.array(p) for p in ([0.0, 0.0], [0.0, 0.15], [0.52, 0.3], [0.5, 0.0]))
COUPLER_CABLES, COUPLER_TORQUE = 6, 0.4
COUPLER_SECTION: dict[str, Any] = {"EA": 2e4, "EI": 4.0, "rho": 1000.0, "A": 5e-4}

# platform on six spring legs, a rod hung below by a ball joint
PLATFORM, PLATFORM_AT = (0.4, 0.4, 0.04), (0.0, 0.0, 0.5)
LEG, LEG_DAMPING = 4000.0, 8.0
HANGING = (0.03, 0.03, 0.3)


def legs() -> list[tuple[Any, Any]]:
    """Return the feet on the ground and the heads in the platform's frame of the six legs."""
    found = []
    for k in range(6):
        foot, head = np.pi / 3 * (k + (-1) ** k * 0.35), np.pi / 3 * (k + (-1) ** k * 0.1 + 0.5)
        foot_at = 0.4 * np.array([math.cos(foot), math.sin(foot), 0.0])
        head_at = np.array([0.18 * math.cos(head), 0.18 * math.sin(head), -0.02])
        found.append((foot_at, head_at))
    return found


# double pendulum of boxes with skew hinges, its end tied to the ground by a spring
PENDULUM, PENDULUM_AXES = (0.5, 0.04, 0.06), ((0.0, 1.0, 0.0), (0.0, 0.8, 0.6))
ANCHOR, TETHER, TETHER_DAMPING = (1.0, 0.3, -0.6), 60.0, 0.2

# gears: a motor turns a wheel of half its speed, an elastic shaft and an eccentric flywheel
RATIO, MOTOR, SHAFT, SHAFT_DAMPING = -2.0, 0.08, 5.0, 0.002
INERTIAS, MASSES, ECCENTRICITY = (1e-3, 4e-3, 2e-3), (0.5, 1.0, 0.8), 0.1

# payload: an arm of 12 cables, lifted by a prescribed angle, a mass pinned to its tip
REACH, REACH_CABLES, PAYLOAD = 1.5, 12, 0.5
REACH_SECTION: dict[str, Any] = {"EA": 5e5, "EI": 80.0, "rho": 2700.0, "A": 2e-4}
LIFT, LIFT_RATE = 0.5, 3.0  # LIFT (1 - cos(LIFT_RATE t))

# designs: ten cables, a force at the tip, other bending stiffnesses
DESIGN_CABLES, DESIGN_EA, TIP_FORCE, DESIGNS = 10, 1e4, (0.0, -1.0, 0.0), (1.0, 3.0)


def frame(a: Any, b: Any) -> Any:
    """Return axes (3, 3) as columns, the first from a to b."""
    first = (b - a) / np.linalg.norm(b - a)
    other = np.array([0.0, 1.0, 0.0]) if abs(first[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
    second = np.cross(other, first)
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def along(a: Any, b: Any, n: int) -> Any:
    """Return n + 1 points from a to b."""
    return np.asarray(a) + np.linspace(0.0, 1.0, n + 1)[:, None] * (np.asarray(b) - np.asarray(a))


def spin_up(t: float) -> float:
    """Return the angle of the rotor: a speed that grows to `SPIN` in `SPIN_UP`."""
    return SPIN * (t * t / (2 * SPIN_UP) if t < SPIN_UP else t - SPIN_UP / 2)

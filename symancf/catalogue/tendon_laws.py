# SPDX-License-Identifier: BSD-3-Clause
"""The laws of a tendon: what its segments store, what its eyelets rub, what its ends pull."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import frozen

from ..kinematics.memory import Remembered, memory, remember

if TYPE_CHECKING:
    from ..terms.quantities import E, S, V

# Weighs the rows of a slack tendon, which say where it lies and pull nothing: little beside forces.
# Ten times more or less changes no iteration: no test.
SLACK = sp.Float(1e-9)
# Of that: determines what has passed a motor that pulls nothing, in the tangent alone. No test.
FAINT = sp.Float(1e-6)
# Weighs what has slid against forces, by the tension over the length, and at least by LEAST units
# of tensions over it. The equation has the same solutions for any, iterations differ: no test.
GRIP = sp.Float(10.0)
LEAST = sp.Float(1e-3)
ROUND = sp.Float(1e-24)  # under roots: of squares of differences of unit vectors


def segment(
    r_a: V,
    r_b: V,
    s_a: S,
    s_b: S,
    T_a: S,
    *,
    l0: S,
    EA: S,
    taut: S,
    unit: S,
    fed_a: S,
    fed_b: S,
    motor_a: S,
    motor_b: S,
) -> E:
    """Return T (L - l) - T^2 l/(2 EA), stationary in the tension T: the energy of a segment.

    A slack one pulls nothing; next to no stiffness says where the cord is, but not where a motor
    at its end is.
    """
    d = r_b - r_a
    L, cord = sp.sqrt(d.dot(d)), l0 + fed_a + fed_b
    cord += passed(s_b, taut, motor_b) - passed(s_a, taut, motor_a)
    weight = (taut + (1 - taut) * SLACK) * unit
    distance = taut * L + (1 - taut) * frozen(L)
    soft = taut * weight / EA + (1 - taut)
    return weight * T_a * (distance - cord - soft * T_a * cord / 2)


def passed(s: S, taut: S, motor: S) -> E:
    """Return what has passed an end, on which a slack cord exerts no force where a motor is."""
    return s + (1 - taut) * motor * (frozen(s) - s)


def motor_at_rest(s_a: S, ds_a: S, *, began: S, taut: S, unit: S, free: S) -> dict[E, E]:
    """Return what holds the motor of a slack cord where it began the step, next to nothing.

    `free`: it has left that place; nothing holds it then.
    """
    k = (1 - taut) * SLACK * unit
    return {ds_a: k * ((1 - free) * (began - s_a) + free * FAINT * (frozen(s_a) - s_a))}


def angle(r_a: V, r_b: V, r_c: V) -> E:
    """Return the angle by which a cord turns at b."""
    to, off = r_b - r_a, r_c - r_b
    u, v = to / sp.sqrt(to.dot(to)), off / sp.sqrt(off.dot(off))
    less, more = u - v, u + v
    return 2 * sp.atan2(sp.sqrt(less.dot(less) + ROUND), sp.sqrt(more.dot(more) + ROUND))


@memory(s0=0, y0=0)
def eyelet(
    r_a: V,
    r_b: V,
    r_c: V,
    s_b: S,
    T_a: S,
    T_b: S,
    ds_b: S,
    *,
    s0: S,
    y0: S,
    EA: S,
    mu: S,
    taut: S,
    unit: S,
    la: S,
    lb: S,
    first: S,
    grip: S,
) -> Remembered:
    """Return what an eyelet adds to the balance of material forces Y_b - Y_a = 0 on s_b.

    The sum is f - clip(f - k (s - s0), -lim, lim), f = T_b - T_a: it sticks, or rubs.
    """
    weight = (taut + (1 - taut) * SLACK) * unit
    a, b = weight * T_a, weight * T_b
    most = (sp.exp(mu * angle(r_a, r_b, r_c)) - 1) * sp.Max(sp.Min(a, b), 0)
    return stick_or_slip(a, b, most, s_b, ds_b, s0, y0 + first, EA, unit, la + lb, first, grip)


def stick_or_slip(
    a: E, b: E, most: E, s_b: S, ds_b: S, s0: S, y0: E, EA: S, unit: S, length: E, first: S, grip: S
) -> Remembered:
    """Return f - clip(f - k (s - s0), -most, most) for tensions a and b, f = b - a.

    `first`: what drives the material in the reference, the y0 of the first step. `grip`: k, 0: it
    is not known.
    """
    f, drive = b - a, (b - a) * (1 + (a + b) / (2 * EA))
    rough = (GRIP * sp.Max(a, b, 0) + LEAST * unit) / length
    k = frozen(sp.Piecewise((grip, grip > 0), (rough, True)))
    trial = f - k * (s_b - s0)
    force = drive - f + sp.Max(sp.Min(trial, most), -most)
    began = sp.Piecewise((y0, drive * y0 > 0), (0, True))  # where it has turned, it stuck at first
    rubbed = -(drive + began) / 2 * (s_b - s0)
    return remember({ds_b: force}, s0=s_b, y0=drive - first, stored=0, dissipated=rubbed)


def pull(s_a: S, *, force: S, EA: S, sign: S) -> E:
    """Return the potential of a winch that pulls at an end with a force."""
    return sign * force * (1 + force / (2 * EA)) * s_a

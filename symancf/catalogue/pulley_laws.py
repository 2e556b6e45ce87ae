# SPDX-License-Identifier: BSD-3-Clause
"""The laws of a tendon over pulleys: segments from circle to circle, friction on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sympy as sp

from symancf_codegen.functions import frozen

from ..kinematics.memory import Remembered, memory
from . import tendon_laws as laws

if TYPE_CHECKING:
    from ..terms.quantities import E, S, V


class Cord(NamedTuple):
    """What all segments have: their lengths without tension, stiffness, and state."""

    l0: S
    EA: S
    taut: S
    unit: S
    fed_a: S
    fed_b: S
    motor_a: S
    motor_b: S


def direction(d: V, e1: V, e2: V, counted: S, offset: S) -> E:
    """Return the angle of a cord's direction about e1 x e2, from e1, with its full turns.

    d from centre to centre; `offset` is by how much the radius at its end is larger.
    """
    x, y, c, s = d.dot(e1), d.dot(e2), sp.cos(counted), sp.sin(counted)
    return counted + sp.atan2(y * c - x * s, x * c + y * s) - sp.asin(offset / sp.sqrt(d.dot(d)))


def _segment(d: V, offset: S, arcs: E, s_a: S, s_b: S, T_a: S, cord: Cord) -> E:
    """Return the energy of a segment with a straight part and arcs; see `tendon_laws.segment`."""
    L = sp.sqrt(d.dot(d) - offset**2) + arcs
    length = cord.l0 + cord.fed_a + cord.fed_b
    length += laws.passed(s_b, cord.taut, cord.motor_b) - laws.passed(s_a, cord.taut, cord.motor_a)
    weight = (cord.taut + (1 - cord.taut) * laws.SLACK) * cord.unit
    distance = cord.taut * L + (1 - cord.taut) * frozen(L)
    soft = cord.taut * weight / cord.EA + (1 - cord.taut)
    return weight * T_a * (distance - length - soft * T_a * length / 2)


def leaving(
    r_a: V, e1_a: V, e2_a: V, r_b: V, s_a: S, s_b: S, T_a: S, *,
    l0: S, EA: S, taut: S, unit: S, fed_a: S, fed_b: S, motor_a: S, motor_b: S,
    R_a: S, from_a: S, counted_a: S,
) -> E:  # fmt: skip
    """Return the energy of a segment from a circle to a point."""
    d = r_b - r_a
    arcs = R_a * (direction(d, e1_a, e2_a, counted_a, -R_a) - from_a)
    return _segment(
        d, R_a, arcs, s_a, s_b, T_a, Cord(l0, EA, taut, unit, fed_a, fed_b, motor_a, motor_b)
    )


def arriving(
    r_a: V, r_b: V, e1_b: V, e2_b: V, s_a: S, s_b: S, T_a: S, *,
    l0: S, EA: S, taut: S, unit: S, fed_a: S, fed_b: S, motor_a: S, motor_b: S,
    R_b: S, from_b: S, counted_b: S,
) -> E:  # fmt: skip
    """Return the energy of a segment from a point to a circle."""
    d = r_b - r_a
    arcs = -R_b * (direction(d, e1_b, e2_b, counted_b, R_b) - from_b)
    return _segment(
        d, R_b, arcs, s_a, s_b, T_a, Cord(l0, EA, taut, unit, fed_a, fed_b, motor_a, motor_b)
    )


def between(
    r_a: V, e1_a: V, e2_a: V, r_b: V, e1_b: V, e2_b: V, s_a: S, s_b: S, T_a: S, *,
    l0: S, EA: S, taut: S, unit: S, fed_a: S, fed_b: S, motor_a: S, motor_b: S,
    R_a: S, R_b: S, from_a: S, from_b: S, counted_a: S, counted_b: S, mirrored: S,
) -> E:  # fmt: skip
    """Return the energy of a segment from circle to circle; `mirrored`: -1 of opposite axes."""
    d, at_a, at_b = r_b - r_a, mirrored * R_b - R_a, R_b - mirrored * R_a
    arcs = R_a * (direction(d, e1_a, e2_a, counted_a, at_a) - from_a)
    arcs -= R_b * (direction(d, e1_b, e2_b, counted_b, at_b) - from_b)
    return _segment(
        d, at_b, arcs, s_a, s_b, T_a, Cord(l0, EA, taut, unit, fed_a, fed_b, motor_a, motor_b)
    )


@memory(s0=0, y0=0)
def rubs(
    r_a: V, r_b: V, e1_b: V, e2_b: V, r_c: V, s_b: S, T_a: S, T_b: S, ds_b: S, *,
    s0: S, y0: S, EA: S, mu: S, pin: S, taut: S, unit: S, la: S, lb: S,
    first: S, grip: S, to: S, off: S, counted_a: S, counted_b: S,
) -> Remembered:  # fmt: skip
    """Return what a pulley adds to the balance on s_b, as `tendon_laws.eyelet`.

    The cord slides with mu and the angle of wrap, or the wheel on a pin: pin is mu_b r_b / R.
    """
    weight = (taut + (1 - taut) * laws.SLACK) * unit
    a, b = weight * T_a, weight * T_b
    wrap = direction(r_c - r_b, e1_b, e2_b, counted_b, off)
    wrap -= direction(r_b - r_a, e1_b, e2_b, counted_a, to)
    square = (b - a) ** 2 + 2 * a * b * (1 - sp.cos(wrap))
    most = (sp.exp(mu * wrap) - 1) * sp.Max(sp.Min(a, b), 0)
    most += pin * sp.sqrt(square + laws.ROUND * unit**2)
    return laws.stick_or_slip(a, b, most, s_b, ds_b, s0, y0 + first, EA, unit, la + lb, first, grip)

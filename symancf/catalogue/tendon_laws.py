# SPDX-License-Identifier: BSD-3-Clause
"""The laws of a tendon: what its segments store, what its eyelets rub, what its ends pull."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sympy as sp

from ..kinematics.memory import Remembered, memory, remember

if TYPE_CHECKING:
    from ..terms.quantities import E, S, V

SLACK = 1e-6  # of its stiffness has a segment without tension: it says where the cord is
ROUND = sp.Float(1e-24)  # under roots: of squares of differences of unit vectors


class Part(NamedTuple):
    """A segment: distance L of its places, length `cord`, tension T and material force Y."""

    L: E
    cord: E
    T: E
    Y: E


def part(r_a: V, r_b: V, s: E, *, l0: S, EA: S, taut: S) -> Part:
    """Return a segment into which the cord s has come.

    With e = L/l - 1: T = EA e, and -dW/dl = Y = T + T^2/(2 EA) of W = EA e^2 l/2.
    """
    d = r_b - r_a
    L, length = sp.sqrt(d.dot(d)), l0 + s
    e = L / length - 1
    return Part(L, length, taut * EA * e, taut * EA * e * (1 + e / 2))


def segment(r_a: V, r_b: V, s_a: S, s_b: S, *, l0: S, EA: S, taut: S, fed_a: S, fed_b: S) -> E:
    """Return the energy of an elastic segment."""
    p = part(r_a, r_b, s_b - s_a + fed_a + fed_b, l0=l0, EA=EA, taut=taut)
    return taut * EA * (p.L - p.cord) ** 2 / (2 * p.cord)


def stretch(r_a: V, r_b: V, s_a: S, s_b: S, *, l0: S, taut: S, fed_a: S, fed_b: S) -> E:
    """Return by how much an inextensible segment is too long; `taut` is for its law."""
    p = part(r_a, r_b, s_b - s_a + fed_a + fed_b, l0=l0, EA=sp.S.One, taut=taut)
    return p.L - p.cord


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
    s_a: S,
    s_b: S,
    s_c: S,
    ds_b: S,
    *,
    s0: S,
    y0: S,
    EA: S,
    mu: S,
    taut: S,
    la: S,
    lb: S,
    fed_a: S,
    fed_b: S,
) -> Remembered:
    """Return what an eyelet adds to the balance of material forces Y_b - Y_a = 0 on s_b.

    The sum is f - clip(f - c (s - s0), -lim, lim), f = T_b - T_a: it sticks, or rubs.
    """
    a = part(r_a, r_b, s_b - s_a + fed_a, l0=la, EA=EA, taut=taut)
    b = part(r_b, r_c, s_c - s_b + fed_b, l0=lb, EA=EA, taut=taut)
    low = sp.Max(sp.Min(a.T, b.T), 0)
    most = (sp.exp(mu * angle(r_a, r_b, r_c)) - 1) * low
    f, drive = b.T - a.T, b.Y - a.Y
    trial = f - EA / (la + lb) * (s_b - s0)
    force = drive - f + sp.Max(sp.Min(trial, most), -most)
    rubbed = -(drive + y0) / 2 * (s_b - s0)
    return remember({ds_b: force}, s0=s_b, y0=drive, stored=0, dissipated=rubbed)


def pull(s_a: S, *, force: S, EA: S, sign: S) -> E:
    """Return the potential of a winch that pulls at an end with a force."""
    return sign * force * (1 + force / (2 * EA)) * s_a

# SPDX-License-Identifier: BSD-3-Clause
r"""The law of a point against a deformable facet.

The gap of a point r_s is measured along interpolated normals :math:`\hat n` of the facets,

.. math:: r_s = r_m(\xi) + g\,\hat n(\xi), \qquad
    \begin{pmatrix} d\xi \\ dg \end{pmatrix} = S^{-1} (d - g_0 (\hat n_0 + h)), \qquad
    S = [a_1 + g \hat n_{,1} \mid a_2 + g \hat n_{,2} \mid \hat n],

d = r_s - r_m at the closest point that was found before the evaluation, where S, n and its
derivatives and g_0 are numbers. Normals follow the facets around: their change h where xi and eta
stay is a jet, 0 at the state that is evaluated. The pressure p along n = n_0 + n_{,a} d\xi^a + h
and the friction f act on the motion v = d' - a_a' d\xi^a, so that all first derivatives are exact,
those of the place where the force acts among them. In motions the pressure is that of the gap
ahead, g + theta h g', g' = n . d'. Points count with the share

.. math:: \frac{2}{1 + q} - (1 - q)^8 \;\text{ for } q < 1, \quad
    \frac{2}{1 + q} \frac{1}{1 + ((q - 1)/6)^4} \;\text{ beyond}, \qquad q = \frac{\chi_s}{\chi_m},

chi being 1 within a side and 0 on its free edges, of the point and of its closest point: the force
does not jump where a point leaves a side. Where sides end together both passes count the area once;
where one of them goes on, its points fade beyond the edge of the other, whose own stay what they
are. What has come in beside a free edge lies deeper than far from it, and chi_m is 0 there: it is
not pushed out through a facet that it has not passed. Where a point lies half a cell deep it is not
in a facet but behind it: from there on it counts less, one cell deep no more. Forces are in
balance; the couple that is left is the gap times the friction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import HistoryVariable, KernelParameter, PointLaw

from ..kinematics.quantity import dot, real
from .laws import DAMPING, NEAR, SLID, SLIPPED, SPAN, K, ahead, friction
from .steps import GROWN, OVERLAP, RELEASE

if TYPE_CHECKING:
    from .laws import Coulomb, Normal

#: S^-1, n, n_,1, n_,2, g, share: see closest_points.h
CLOSEST_POINT = [real(f"foot{k}") for k in range(1, 24)]
WEIGHT, BASE = real("weight"), real("stiffness")
GAP = real("gap")  # at the beginning of the step
RUB = real("rub")  # size of the friction, per area [Pa]


def _three(name: str) -> sp.Matrix:
    return sp.Matrix([real(f"{name}{a}") for a in (1, 2, 3)])


def facet_law(name: str, normal: Normal, coulomb: Coulomb | None) -> PointLaw:
    """Return the law of points on facets, of jets d, a_1, a_2, with friction t, and h."""
    d, a, t, h = _three("d"), [_three("a1"), _three("a2")], _three("t"), _three("h")
    inverse, n0 = sp.Matrix(3, 3, CLOSEST_POINT[:9]), sp.Matrix(CLOSEST_POINT[9:12])
    slopes, g0 = (
        [sp.Matrix(CLOSEST_POINT[12:15]), sp.Matrix(CLOSEST_POINT[15:18])],
        CLOSEST_POINT[18],
    )
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def let(key: str, e: sp.Expr) -> sp.Symbol:
        lets.append((real(key), e))
        return lets[-1][0]

    def vector(key: str, e: sp.Matrix) -> sp.Matrix:
        return sp.Matrix([let(f"{key}{i}", x) for i, x in enumerate(e, 1)])

    let(K.name, BASE * GROWN)
    off = vector("off", d - g0 * (n0 + h))
    move = vector("move", inverse * off)  # dxi, deta, dg
    n = vector("n", n0 + slopes[0] * move[0] + slopes[1] * move[1] + h)
    g = let("g", g0 + move[2] - NEAR + RELEASE * OVERLAP)
    rates = {s: real(f"rate_{s}") for s in (*d, *a[0], *a[1])}
    speed = [rates[s] for s in d]
    away = let("away", dot(n, sp.Matrix(speed)))
    p = let("p", normal.pressure(let("ahead", ahead(g, away))))
    share = let(
        "share",
        WEIGHT * (CLOSEST_POINT[19] + dot(sp.Matrix(CLOSEST_POINT[20:23]), sp.Matrix(move))),
    )
    force, stored, dissipation = p * n, normal.energy(g), (normal.pressure(g) - p) * SPAN * away
    unknowns, history = [*d, *a[0], *a[1]], [HistoryVariable(GAP, g)]
    parameters = [BASE, WEIGHT, OVERLAP, *CLOSEST_POINT]
    uniform = [GROWN, NEAR, RELEASE, DAMPING, SPAN, *normal.symbols]
    if coulomb is not None:
        unknowns += list(t)
        T = vector("T", t - n * dot(n, t))
        rub = friction(T, p, let("m", coulomb.coefficient), let=let)
        stretch = vector("stretch", rub.stretch)
        force = force + rub.force
        stored, dissipation = stored + rub.stored, dissipation + rub.dissipated
        dt = real("dt")
        slip = sp.Piecewise((0, p <= 0), (coulomb.slipped(rub, dt), True))
        status = sp.Piecewise((-1, p <= 0), (0, rub.sticks), (1, True))
        shift = [
            HistoryVariable(real(s), -x)
            for s, x in zip(("facet", "xi", "eta"), stretch, strict=True)
        ]
        path = HistoryVariable(SLID, sp.Piecewise((0, p <= 0), (SLID + rub.length, True)))
        # rows of closest_points.h
        variables = HistoryVariable(SLIPPED, slip), HistoryVariable(real("status"), status), path
        square = dot(stretch, stretch)  # at 0 the root has no derivative
        size = sp.Piecewise((K * sp.sqrt(square), sp.And(p > 0, square > 0)), (0, True))
        rubs = HistoryVariable(RUB, size)
        history = [*shift, *variables, *history, rubs]
        uniform += [real(s) for s in coulomb.parameters] + ([dt] if coulomb.speeds else [])
    history.append(HistoryVariable(real("dissipated"), share * dissipation, total=True))
    force = vector("force", share * force)
    unknowns += [*h, *speed]
    motions = [rates[d[i]] - rates[a[0][i]] * move[0] - rates[a[1][i]] * move[1] for i in range(3)]
    return PointLaw(
        name=name,
        unknowns=tuple(unknowns),
        lets=tuple(lets),
        work={},
        rate_of=rates,
        powers=tuple(zip(motions, force, strict=True)),
        parameters=(
            *(KernelParameter(s) for s in uniform),
            *(KernelParameter(s, "cell") for s in parameters),
        ),
        history=tuple(history),
        stored=share * stored,
        called="the law of a contact",
        title="pressure and friction of a point on a facet",
    )

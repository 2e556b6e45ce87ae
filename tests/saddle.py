# SPDX-License-Identifier: BSD-3-Clause
"""Rubber with a pressure per cell, and the saddle problem in which that is a coordinate."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from symancf_codegen.declare import Local, PointLaw, Rule, scalar_jets, unknown

PRESSURE = sp.Symbol("p", real=True)


def mixed(J: sp.Expr, I1: sp.Expr, *, mu: sp.Expr, k: sp.Expr, p: sp.Expr) -> dict[str, sp.Expr]:
    """Rubber with a pressure per cell: stationary where p = k times the mean of J - 1."""
    return {
        "deviatoric": mu / 2 * (J ** sp.Rational(-2, 3) * I1 - 3),
        "volumetric": p * (J - 1),
        "bulk": -(p**2) / (2 * k),
    }


def of_cell(pair: tuple[PointLaw, Rule]) -> tuple[PointLaw, Rule]:
    law, rule = pair
    rest = tuple(x for x in law.parameters if x.name != "p")
    own = (Local(PRESSURE),) if len(rest) < len(law.parameters) else ()
    return replace(law, local=own, shared=bool(own), parameters=rest), rule


def in_space(pair: tuple[PointLaw, Rule]) -> tuple[PointLaw, Rule]:
    """The same law with the pressure as a coordinate that everybody sees."""
    law, rule = of_cell(pair)
    (jet,) = scalar_jets(1)
    own = [sp.Symbol(f"q{i}", real=True) for i in (1, 2, 3)]
    inner = tuple((s, {u: sp.S.One}) for s, u in zip(own, unknown(jet), strict=True))
    return replace(
        law,
        local=(),
        shared=False,
        energy=law.energy.subs(PRESSURE, own[0]),
        unknowns=(*law.unknowns, *unknown(jet)),
        jets=(*law.jets, jet),
        inner=(*law.inner, *inner),
    ), rule

# SPDX-License-Identifier: BSD-3-Clause
"""Energies and the stresses that follow from them as SymPy equations, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import derivative, symbolic

from ..kinematics import director_solid
from ..kinematics.naming import Energy, call_law, signature
from ..kinematics.quantity import real
from ..kinematics.stretches import STRETCHES
from ..values.reader import require_quantities
from .layers import Layers
from .mixed import shown

if TYPE_CHECKING:
    from ..elements.element import Element
    from .mixed import Pressure

#: What is conjugate to a quantity that is not one of a solid: its name and meaning.
CONJUGATE = {
    "epsilon": "N",
    "epsilon_green": "N_2",
    "kappa": "M",
    "kappa_geometric": "M",
    "kappa_plane": "M",
    "kappa_n3": "m",
    "kappa_n0": "m",
    "E_gl": "n",
    "u": "f",
    "r": "f",
}


Names = dict[sp.Expr, sp.Symbol]


def _called(
    element: Element, energy: Energy, pressure: Pressure | None
) -> tuple[dict[str, sp.Expr], dict[str, sp.Basic], Names]:
    """Return the parts of an energy in plain symbols, the symbols, and what its body names."""
    asked = signature(energy)
    layered = isinstance(energy, Layers)  # shown in the strain of a solid
    offered = (director_solid() if layered else element.kinematics()).quantities
    require_quantities(f"{asked.name}()", asked, offered, element.name)
    symbols: dict[str, sp.Basic] = {}
    for name in asked.quantities:
        value = offered[name].value
        simple = isinstance(value, sp.MatrixBase | sp.Symbol)
        symbols[name] = value if simple else real(name)
    parameters = {p: real(p) for p in asked.parameters}
    called, named = call_law(energy, symbols, parameters)
    result = called.result
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    if pressure is not None:
        J = symbols.setdefault("J", offered["J"].value)
        parts = shown(asked.name, parts, J, asked.parameters, pressure)
    names = {w: real(name) for name, w in named.items() if w.free_symbols}
    return {part: symbolic(w) for part, w in parts.items()}, symbols, names


def _short(e: sp.Basic, names: Names) -> sp.Basic:
    """Return an expression in the names that the body of the energy gives, factored."""
    if isinstance(e, sp.MatrixBase):
        return sp.ImmutableMatrix(e.applyfunc(lambda x: _short(x, names)))
    return sp.factor(e.xreplace(names)) if names else e


def _definitions(shown: Iterable[sp.Basic], names: Names) -> tuple[sp.Eq, ...]:
    """Return name = expression for the names that occur."""
    used = set().union(*(e.free_symbols for e in shown))
    return tuple(sp.Eq(s, w, evaluate=False) for w, s in names.items() if s in used)


def energy_equation(element: Element, energy: Energy, pressure: Pressure | None = None) -> sp.Eq:
    """Return W = ... as SymPy prints it, in the quantities and parameters of the energy.

    With a pressure it is that of displacement and pressure.

    Raises
    ------
    KinematicsError : if the energy asks for a quantity that the element lacks.
    """
    parts, _, _ = _called(element, energy, pressure)
    return sp.Eq(sp.Symbol("W"), sp.Add(*parts.values()), evaluate=False)


def stress_equations(
    element: Element, energy: Energy, pressure: Pressure | None = None
) -> tuple[sp.Eq, ...]:
    r"""Return the stresses of an energy: what makes up the residual.

    Solids: the first Piola-Kirchhoff stress P = dW/dF, so that the residual is
    :math:`\int P : \delta F\, dV`, as a matrix expression of F, C = F^T F and the invariants;
    of principal stretches with their axes, F N_a = lambda_a n_a.
    Thin plates: n = dW/dE_gl and m = dW/dkappa in the local frame; cables: N = dW/depsilon and
    M = dW/dkappa. An energy of the displacement: f = dW/du. Scalars to which the body of the
    energy gives a name appear under it, with their definitions at the end.

    Raises
    ------
    KinematicsError : if the energy asks for a quantity that the element lacks.
    """
    parts, symbols, names = _called(element, energy, pressure)
    total = sp.Add(*parts.values())
    if "J" in element.kinematics().quantities:
        found = _solid(tuple(parts.values()), symbols, names)
    else:
        found = []
        for name, value in symbols.items():
            if name in CONJUGATE:
                left, right = _conjugate(CONJUGATE[name], total, value)
                found.append(sp.Eq(left, _short(right, names), evaluate=False))
    return (*found, *_definitions(found, names))


def _conjugate(name: str, total: sp.Expr, value: sp.Basic) -> tuple[sp.Basic, sp.Basic]:
    """Return the symbol and the expression of dW/d value; mixed entries of a tensor halved."""
    if not isinstance(value, sp.MatrixBase):
        return sp.Symbol(name), derivative(total, value)
    rows, columns = value.shape
    return sp.MatrixSymbol(name, rows, columns), _slope(total, value)


def _slope(total: sp.Expr, value: sp.Matrix) -> sp.ImmutableMatrix:
    rows, columns = value.shape
    symmetric = rows == columns and value[0, 1] == value[1, 0]

    def entry(i: int, k: int) -> sp.Expr:
        share = sp.Rational(1, 2) if symmetric and i != k else 1
        return share * derivative(total, value[i, k])

    return sp.ImmutableMatrix(rows, columns, entry)


def _solid(
    parts: tuple[sp.Expr, ...], symbols: Mapping[str, sp.Basic], names: Names
) -> list[sp.Eq]:
    F, C = sp.MatrixSymbol("F", 3, 3), sp.MatrixSymbol("C", 3, 3)
    P: sp.MatrixExpr = sp.ZeroMatrix(3, 3)

    def slope(name: str) -> sp.Basic:
        value = symbols[name]
        if isinstance(value, sp.MatrixBase):
            return _short(_slope(sp.Add(*parts), value), names)
        return sp.Add(*(_short(derivative(w, value), names) for w in parts))

    if "J" in symbols:
        P += sp.Add(*(symbols["J"] * s for s in sp.Add.make_args(slope("J")))) * F.I.T
    if "I1" in symbols:
        P += (2 * slope("I1")) * F
    if "I2" in symbols:
        factor = 2 * slope("I2")
        P += (factor * symbols.get("I1", sp.Trace(C))) * F - factor * F * C
    for k, name in enumerate(STRETCHES, 1):
        if name in symbols:
            n, N = (sp.MatrixSymbol(f"{letter}{k}", 3, 1) for letter in "nN")
            P += slope(name) * n * N.T
    for name, times in (("C", 2), ("E_gl", 1)):
        if name in symbols:
            P += F * (times * slope(name))
    for name in ("F", "H"):
        if name in symbols:
            P += slope(name)
    found = [sp.Eq(sp.MatrixSymbol("P", 3, 3), P, evaluate=False)]
    for name in ("u", "r"):
        if name in symbols:
            found.append(sp.Eq(sp.MatrixSymbol("f", 3, 1), slope(name), evaluate=False))
    return found

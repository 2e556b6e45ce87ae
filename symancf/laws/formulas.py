# SPDX-License-Identifier: BSD-3-Clause
"""Energies, the stresses that follow from them, residual and tangent as formulas, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from symancf_codegen.functions import derivative, symbolic

from ..kinematics import director_solid
from ..kinematics.naming import Energy, call_law, signature
from ..kinematics.quantity import positive, real
from ..kinematics.solid import GRADIENTS, PULLED
from ..values.reader import require_quantities
from .energy import energy_laws
from .layers import Layers
from .mixed import printed_law

if TYPE_CHECKING:
    from ..elements.element import Element
    from .mixed import PressureField

Function = Literal["energy", "shape", "residual", "tangent"]

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

BOTH_SUFFIX_TEXT = "stands for both of its places: derivatives by it are twice the entry"

_DEFINED = {
    "J": r"J &= \det F",
    "I1": r"I_1 &= \operatorname{tr} F^T F",
    "I2": r"I_2 &= \tfrac12 \big((\operatorname{tr} C)^2 - \operatorname{tr} C^2\big)",
    "C": "C &= F^T F",
    "E_gl": r"E_{gl} &= \tfrac12 (F^T F - I)",
    "lambda1": r"F &= \textstyle\sum_a \lambda_a n_a m_a^T",
}


@dataclass(frozen=True)
class Formula:
    """An energy in plain symbols.

    Attributes
    ----------
    parts : its named parts.
    symbols : of its quantities, by name; of a matrix quantity such as F a matrix of F11, F12, ...
    names : scalars to which its body gives a name.
    """

    parts: dict[str, sp.Expr]
    symbols: dict[str, sp.Basic]
    names: dict[sp.Expr, sp.Symbol]

    @classmethod
    def of(cls, element: Element, energy: Energy, pressure: PressureField | None = None) -> Formula:
        """Return that of an energy on an element; with a pressure it is that of both.

        Raises
        ------
        KinematicsError : if the energy asks for a quantity that the element lacks.
        """
        arguments = signature(energy)
        layered = isinstance(energy, Layers)  # shown in the strain of a solid
        offered = (director_solid() if layered else element.kinematics()).quantities
        require_quantities(f"{arguments.name}()", arguments, offered, element.name)
        symbols: dict[str, sp.Basic] = {}
        for name in arguments.quantities:
            value = offered[name].value
            if isinstance(value, sp.MatrixBase):
                plain = [real(f"{name}{i + 1}") for i in range(len(value))]
                symbols[name] = sp.Matrix(plain) if value.shape[1] == 1 else value
            else:
                symbols[name] = value if isinstance(value, sp.Symbol) else real(name)
        parameters = {p: real(p) for p in arguments.parameters}
        called, scalars = call_law(energy, symbols, parameters)
        result = called.result
        parts = dict(result) if isinstance(result, Mapping) else {"": result}
        if pressure is not None:
            J = symbols.setdefault("J", offered["J"].value)
            parts = printed_law(arguments.name, parts, J, arguments.parameters, pressure)
        names = {w: real(name) for name, w in scalars.items() if w.free_symbols}
        return cls({part: symbolic(w) for part, w in parts.items()}, symbols, names)

    @property
    def total(self) -> sp.Expr:
        """The sum of the parts."""
        return sp.Add(*self.parts.values())

    def slopes(self) -> dict[sp.Basic, sp.Expr]:
        """Return the derivatives by entries of quantities that are not zero."""
        entries: dict[sp.Basic, None] = {}
        for symbol in self.symbols.values():
            entries |= dict.fromkeys(symbol if isinstance(symbol, sp.MatrixBase) else [symbol])
        derivatives = {entry: derivative(self.total, entry) for entry in entries}
        return {entry: slope for entry, slope in derivatives.items() if slope != 0}

    def short(self, e: sp.Basic) -> sp.Basic:
        """Return an expression in the names that the body of the energy gives, factored."""
        if isinstance(e, sp.MatrixBase):
            return sp.ImmutableMatrix(e.applyfunc(self.short))
        return sp.factor(e.xreplace(self.names)) if self.names else e

    def written(self, sign: str = "=") -> list[str]:
        """Return the parts in LaTeX, W = ..."""
        names = {part: rf"W_\mathrm{{{part}}}" if part else "W" for part in self.parts}
        return [f"{names[part]} {sign} {sp.latex(w)}" for part, w in self.parts.items()]


# ---- equations of SymPy --------------------------------------------------------------------------
def energy_equation(
    element: Element, energy: Energy, pressure: PressureField | None = None
) -> sp.Eq:
    """Return W = ... as SymPy prints it, in the quantities and parameters of the energy.

    With a pressure it is that of displacement and pressure.

    Raises
    ------
    KinematicsError : if the energy asks for a quantity that the element lacks.
    """
    return sp.Eq(sp.Symbol("W"), Formula.of(element, energy, pressure).total, evaluate=False)


def stress_equations(
    element: Element, energy: Energy, pressure: PressureField | None = None
) -> tuple[sp.Eq, ...]:
    r"""Return the stresses of an energy: what makes up the residual.

    Solids: the first Piola-Kirchhoff stress P = dW/dF, so that the residual is
    :math:`\int P : \delta F\, dV`, as a matrix expression of F, C = F^T F and the invariants;
    of principal stretches with their axes, F m_a = lambda_a n_a.
    Thin plates: n = dW/dE_gl and m = dW/dkappa in the local frame; cables: N = dW/depsilon and
    M = dW/dkappa. An energy of the displacement: f = dW/du. Scalars to which the body of the
    energy gives a name appear under it, with their definitions at the end.

    Raises
    ------
    KinematicsError : if the energy asks for a quantity that the element lacks.
    """
    formula = Formula.of(element, energy, pressure)
    equations: list[sp.Eq] = []
    conjugate = CONJUGATE
    if "J" in element.kinematics().quantities:
        P: sp.MatrixExpr = sp.MatrixSymbol("P", 3, 3)
        equations = [sp.Eq(P, _piola(formula), evaluate=False)]
        conjugate = {name: "f" for name in ("u", "r")}
    for name, value in formula.symbols.items():
        if name in conjugate:
            equations.append(_conjugate(formula, conjugate[name], value))
    used = set().union(*(e.free_symbols for e in equations))
    definitions = (sp.Eq(s, w, evaluate=False) for w, s in formula.names.items() if s in used)
    return (*equations, *definitions)


def _piola(formula: Formula) -> sp.MatrixExpr:
    """Return P = dW/dF: the sum over the quantities of dW/dQ times dQ/dF."""
    P: sp.MatrixExpr = sp.ZeroMatrix(3, 3)
    I1 = positive("I1")
    replacements = {} if "I1" in formula.symbols else {I1: sp.Trace(sp.MatrixSymbol("C", 3, 3))}
    for name, value in formula.symbols.items():
        if name in GRADIENTS:
            slope = sp.Add(*(formula.short(derivative(w, value)) for w in formula.parts.values()))
            factor, gradient = GRADIENTS[name].xreplace(replacements).as_coeff_mmul()
            terms = [slope] if factor.is_number else sp.Add.make_args(slope)
            P += sp.Add(*(factor * term for term in terms)) * gradient
        elif name in PULLED:
            P += PULLED[name] * formula.short(_slope(formula.total, value))
    return P


def _conjugate(formula: Formula, name: str, value: sp.Basic) -> sp.Eq:
    """Return the equation of the stress dW/d value, which has a name."""
    symbol: sp.Basic = sp.Symbol(name)
    if isinstance(value, sp.MatrixBase):
        symbol, right = sp.MatrixSymbol(name, *value.shape), _slope(formula.total, value)
    else:
        right = derivative(formula.total, value)
    return sp.Eq(symbol, formula.short(right), evaluate=False)


def _slope(total: sp.Expr, value: sp.Matrix) -> sp.ImmutableMatrix:
    """Return the derivatives by the entries of a tensor; mixed ones of a symmetric one halved."""
    rows, columns = value.shape
    symmetric = rows == columns and value[0, 1] == value[1, 0]

    def entry(i: int, k: int) -> sp.Expr:
        share = sp.Rational(1, 2) if symmetric and i != k else 1
        return share * derivative(total, value[i, k])

    return sp.ImmutableMatrix(rows, columns, entry)


# ---- lines of text -------------------------------------------------------------------------------
class _Latex(LatexPrinter):  # type: ignore[misc]
    """The transposed inverse as it is written by hand."""

    def _print_Inverse(self, e: sp.Inverse) -> str:
        return rf"{self._print(e.arg.arg)}^{{-T}}"


class _FormulaPrinter(StrPrinter):  # type: ignore[misc]
    """Products of matrices without signs between the factors."""

    def _print_Inverse(self, e: sp.Inverse) -> str:
        return f"inv({self._print(e.arg.arg)})^T"

    def _print_Transpose(self, e: sp.Transpose) -> str:
        return f"{self._print(e.arg)}^T"

    def doprint(self, e: sp.Basic) -> str:
        return str(super().doprint(e)).replace("*", " ")


def _stresses(
    formula: Formula,
    slopes: Mapping[sp.Basic, sp.Expr],
    by: Callable[[str], str],
    printer: LatexPrinter | StrPrinter,
    times: str,
) -> str:
    """Return the terms of P = dW/dF as text; `by` names derivatives by quantities."""
    terms: list[str] = []
    for name, symbol in formula.symbols.items():
        if name in PULLED:
            terms.append(printer.doprint(PULLED[name] * sp.MatrixSymbol(by(name), 3, 3)))
        elif name in GRADIENTS and symbol in slopes:
            terms.append(f"{by(name)}{times}{printer.doprint(GRADIENTS[name])}")
    return " + ".join(terms) or "0"


def _symmetric(symbol: sp.Basic) -> bool:
    return isinstance(symbol, sp.MatrixBase) and symbol == symbol.T


def latex(energy: Energy, element: Element, function: Function = "energy") -> Iterator[str]:
    """Yield LaTeX lines of a step: see `Function`; then what the quantities are.

    ``energy``: W and its derivatives by its quantities. ``shape``: the shape functions.
    ``residual`` and ``tangent``: from the coordinates q_i, coefficients of the shape functions N_i,
    to forces f_i and blocks K_ij, each step with a name of its own.
    """
    energy_laws(element, energy)  # raises what is wrong with it
    formula, kinematics = Formula.of(element, energy), element.kinematics()
    yield f"% {signature(energy).name} on {element.name}, W in {kinematics.unit}"
    yield r"\begin{align*}"
    if function == "shape":
        for i, N in enumerate(element.N, 1):
            yield rf"N_{{{i}}} &= {sp.latex(sp.factor(N))} \\"
    else:
        if function != "energy":
            yield from _measures(formula.symbols, element)
        for line in formula.written("&="):
            yield rf"{line} \\"
        slopes = formula.slopes()
        for symbol, slope in slopes.items():
            yield rf"{_by(symbol)} &= {sp.latex(slope)} \\"
        if function == "tangent":
            yield from _curvatures(slopes)
        if function != "energy":
            yield from _contracted(formula, slopes, element, function)
    yield r"\end{align*}"
    for name, symbol in formula.symbols.items():
        yield f"% {name}: {kinematics.quantities[name].meaning}"
        if _symmetric(symbol) and function != "shape":
            yield f"% {name}12 {BOTH_SUFFIX_TEXT}"


def text(energy: Energy, element: Element, function: Function = "energy") -> Iterator[str]:
    """Yield lines of Python: W and its derivatives by the quantities, or the shape functions.

    Parts are named W_part. ``sympy.sympify(right, {"E": sympy.Symbol("E")})`` reads what stands on
    the right, with symbols of these names; names that mean something there (E, zeta) are given so.
    ``residual`` and ``tangent`` say as comments how forces f_i and blocks K_ij follow, the latter
    with second derivatives.
    """
    yield f"# {signature(energy).name} on {element.name}, W in {element.kinematics().unit}"
    if function == "shape":
        for i, N in enumerate(element.N, 1):
            yield f"N{i} = {sp.factor(N)}"
        return
    energy_laws(element, energy)  # raises what is wrong with it
    formula = Formula.of(element, energy)
    solid = "F" in element.kinematics().quantities
    if function != "energy":
        steps = "H = sum_i q_i grad(N_i)^T, F = 1 + H" if solid else "u = sum_i N_i q_i, r = X + u"
        yield f"# {steps}, i = 1 to {len(element.N)}"
    for part, value in formula.parts.items():
        yield f"{f'W_{part}' if part else 'W'} = {value}"
    if "" not in formula.parts:
        yield f"W = {' + '.join(f'W_{part}' for part in formula.parts)}"
    slopes = formula.slopes()
    for symbol, slope in slopes.items():
        yield f"dW_d{symbol} = {slope}"
    if function == "tangent":
        for a, b, second in _seconds(slopes):
            yield f"d2W_d{a}_d{b} = {second}"
    for name, symbol in formula.symbols.items():
        if _symmetric(symbol):
            yield f"# {name}12 {BOTH_SUFFIX_TEXT}"
    if function != "energy":
        yield from _summed(formula, slopes, solid, function)


def _summed(
    formula: Formula,
    slopes: Mapping[sp.Basic, sp.Expr],
    solid: bool,
    function: Function,
) -> Iterator[str]:
    """Yield comments: what is summed over the quadrature points."""
    if not solid:
        names = ", ".join(map(str, slopes))
        yield f"# f_i = sum_p w_p sum_s dW_ds ds_dq_i, s = {names}"
        if function == "tangent":
            yield "# K_ij = sum_p w_p sum_s (sum_t d2W_ds_dt ds_dq_i dt_dq_j + dW_ds d2s_dq_i_dq_j)"
        return
    P = _stresses(formula, slopes, "dW_d{}".format, _FormulaPrinter(), " ")
    yield f"# P = dW_dF = {P}"
    yield "# f_i = sum_p w_p det(J0) P grad(N_i)"
    if function == "tangent":
        yield "# K_ij = sum_p w_p det(J0) (dP_dF : grad(N_j)) grad(N_i), by the second indices"


def _by(*symbols: sp.Basic) -> str:
    power = "" if len(symbols) == 1 else f"^{len(symbols)}"
    below = " ".join(rf"\partial {sp.latex(s)}" for s in symbols)
    return rf"\frac{{\partial{power} W}}{{{below}}}"


def _seconds(
    slopes: Mapping[sp.Basic, sp.Expr],
) -> Iterator[tuple[sp.Basic, sp.Basic, sp.Expr]]:
    """Yield the second derivatives that are not zero, behind the symbols they are by."""
    listed = list(slopes)
    for k, a in enumerate(listed):
        for b in listed[k:]:
            second = derivative(slopes[a], b)
            if second != 0:
                yield a, b, second


def _curvatures(slopes: Mapping[sp.Basic, sp.Expr]) -> Iterator[str]:
    """Yield the second derivatives that are not zero in LaTeX."""
    for a, b, second in _seconds(slopes):
        yield rf"{_by(a, b) if a != b else _twice(a)} &= {sp.latex(second)} \\"


def _twice(symbol: sp.Basic) -> str:
    return rf"\frac{{\partial^2 W}}{{\partial {sp.latex(symbol)}^2}}"


def _measures(symbols: Mapping[str, sp.Basic], element: Element) -> Iterator[str]:
    """Yield how the quantities follow from the coordinates."""
    n = len(element.N)
    if "F" not in element.kinematics().quantities:
        yield rf"u &= \textstyle\sum_{{i=1}}^{{{n}}} N_i q_i, \qquad r = X + u \\"
        return
    yield r"\nabla N_i &= J_0^{-T} \nabla_\xi N_i, \qquad J_0 = \partial X / \partial \xi \\"
    yield rf"H &= \textstyle\sum_{{i=1}}^{{{n}}} q_i \otimes \nabla N_i, \qquad F = I + H \\"
    lines: dict[str, None] = {}
    for name in symbols:
        key = "lambda1" if name.startswith("lambda") else name
        lines |= dict.fromkeys([_DEFINED[key]] if key in _DEFINED else [])
    if "I2" in symbols and "C" not in symbols:
        lines = {_DEFINED["C"]: None, **lines}
    for line in lines:
        yield rf"{line} \\"


def _contracted(
    formula: Formula,
    slopes: Mapping[sp.Basic, sp.Expr],
    element: Element,
    function: Function,
) -> Iterator[str]:
    """Yield what is summed over the quadrature points."""
    if "F" not in element.kinematics().quantities:
        yield (
            r"f_i &= \sum_p w_p \sum_s \frac{\partial W}{\partial s} "
            r"\frac{\partial s}{\partial q_i}, \qquad s = "
            + ", ".join(sp.latex(s) for s in slopes)
            + r" \\"
        )
        if function == "tangent":
            yield (
                r"K_{ij} &= \sum_p w_p \Big( \sum_{s,t} \frac{\partial^2 W}{\partial s \partial t} "
                r"\frac{\partial s}{\partial q_i} \frac{\partial t}{\partial q_j} + \sum_s "
                r"\frac{\partial W}{\partial s} \frac{\partial^2 s}{\partial q_i \partial q_j} "
                r"\Big) \\"
            )
        return
    P = _stresses(formula, slopes, lambda name: _by(sp.Symbol(name)), _Latex(), r" \, ")
    yield rf"P &= {_by(sp.Symbol('F'))} = {P} \\"
    yield r"f_i &= \sum_p w_p \det J_0 \; P \, \nabla N_i \\"
    if function == "tangent":
        yield r"A_{aBcD} &= \partial P_{aB} / \partial F_{cD} \\"
        yield (
            r"(K_{ij})_{ac} &= \sum_p w_p \det J_0 \; A_{aBcD} \, (\nabla N_i)_B (\nabla N_j)_D \\"
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Energy, shape functions, residual and tangent of an element as formulas, in named steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import sympy as sp

from symancf_codegen.functions import derivative

from ..kinematics import director_solid
from ..kinematics.naming import Energy, signature
from ..laws import Layers, energy_laws

if TYPE_CHECKING:
    from ..elements import Element

Function = Literal["energy", "shape", "residual", "tangent"]

# derivatives of quantities of solids by F, and of matrices the product that gives P
_BY_F = {
    "J": "J F^{-T}",
    "I1": "2 F",
    "I2": "2 (I_1 F - F C)",
    "lambda1": r"n_1 \otimes m_1",
    "lambda2": r"n_2 \otimes m_2",
    "lambda3": r"n_3 \otimes m_3",
}
_MATRICES = {
    "F": r"\frac{\partial W}{\partial F}",
    "H": r"\frac{\partial W}{\partial H}",
    "C": r"2 F \frac{\partial W}{\partial C}",
    "E_gl": r"F \frac{\partial W}{\partial E_{gl}}",
}
#: The same as texts: of a scalar what its derivative is multiplied by, of a matrix all of P.
_AS_TEXT = {
    "J": "J inv(F)^T",
    "I1": "2 F",
    "I2": "2 (I1 F - F C)",
    **{f"lambda{k}": f"n{k} m{k}^T" for k in (1, 2, 3)},
    "F": "dW_dF",
    "H": "dW_dH",
    "C": "2 F dW_dC",
    "E_gl": "F dW_dE_gl",
}
BOTH = "stands for both of its places: derivatives by it are twice the entry"
_DEFINED = {
    "J": r"J &= \det F",
    "I1": r"I_1 &= \operatorname{tr} F^T F",
    "I2": r"I_2 &= \tfrac12 \big((\operatorname{tr} C)^2 - \operatorname{tr} C^2\big)",
    "C": "C &= F^T F",
    "E_gl": r"E_{gl} &= \tfrac12 (F^T F - I)",
    "lambda1": r"F &= \textstyle\sum_a \lambda_a n_a \otimes m_a",
}


def plain(energy: Energy, element: Element) -> tuple[dict[str, sp.Expr], dict[str, sp.Basic]]:
    """Return the parts of the energy in the symbols of its quantities, and these symbols.

    A matrix quantity such as F is a matrix of the symbols F11, F12, ...
    """
    asked = signature(energy)
    energy_laws(element, energy)  # raises what is wrong with it
    solid = isinstance(energy, Layers)
    offered = (director_solid() if solid else element.kinematics()).quantities
    symbols: dict[str, sp.Basic] = {}
    for name in asked.quantities:
        value = offered[name].value
        if isinstance(value, sp.MatrixBase):
            rows, columns = value.shape
            symmetric = rows == columns and value == value.T
            symbols[name] = sp.Matrix(rows, columns, entries(name, columns, symmetric))
        else:
            symbols[name] = sp.Symbol(name, real=True)
    parameters = {name: sp.Symbol(name, real=True) for name in asked.parameters}
    result = energy(*symbols.values(), **parameters)
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    return parts, symbols


def entries(name: str, columns: int, symmetric: bool) -> Callable[[int, int], sp.Symbol]:
    """Return the function that names the entries of a vector or matrix."""

    def entry(i: int, k: int) -> sp.Symbol:
        i, k = int(i) + 1, int(k) + 1
        if columns == 1:
            return sp.Symbol(f"{name}{i}", real=True)
        return sp.Symbol(f"{name}{min(i, k) if symmetric else i}{max(i, k) if symmetric else k}")

    return entry


def written(parts: Mapping[str, sp.Expr], sign: str = "=") -> list[str]:
    """Return the parts of an energy in LaTeX, W = ..."""
    names = {part: rf"W_\mathrm{{{part}}}" if part else "W" for part in parts}
    return [f"{names[part]} {sign} {sp.latex(parts[part])}" for part in parts]


def _symmetric(symbol: sp.Basic) -> bool:
    return isinstance(symbol, sp.MatrixBase) and symbol == symbol.T


def latex(energy: Energy, element: Element, function: Function = "energy") -> Iterator[str]:
    """Yield LaTeX lines of a step: see `Function`; then what the quantities are.

    ``energy``: W and its derivatives by its quantities. ``shape``: the shape functions.
    ``residual`` and ``tangent``: from the coordinates q_i, coefficients of the shape functions N_i,
    to forces f_i and blocks K_ij, each step with a name of its own.
    """
    parts, symbols = plain(energy, element)
    kinematics = element.kinematics()
    yield f"% {signature(energy).name} on {element.name}, W in {kinematics.unit}"
    yield r"\begin{align*}"
    if function == "shape":
        for i, N in enumerate(element.N, 1):
            yield rf"N_{{{i}}} &= {sp.latex(sp.factor(N))} \\"
    else:
        if function != "energy":
            yield from _measures(symbols, element)
        for formula in written(parts, "&="):
            yield rf"{formula} \\"
        slopes = _slopes(parts, symbols)
        for symbol, slope in slopes.items():
            yield rf"{_by(symbol)} &= {sp.latex(slope)} \\"
        if function == "tangent":
            yield from _curvatures(slopes)
        if function != "energy":
            yield from _contracted(symbols, slopes, element, function)
    yield r"\end{align*}"
    for name, symbol in symbols.items():
        yield f"% {name}: {kinematics.quantities[name].meaning}"
        if _symmetric(symbol) and function != "shape":
            yield f"% {name}12 {BOTH}"


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
    parts, symbols = plain(energy, element)
    solid = "F" in element.kinematics().quantities
    if function != "energy":
        steps = "H = sum_i q_i grad(N_i)^T, F = 1 + H" if solid else "u = sum_i N_i q_i, r = X + u"
        yield f"# {steps}, i = 1 to {len(element.N)}"
    for part, value in parts.items():
        yield f"{f'W_{part}' if part else 'W'} = {value}"
    if "" not in parts:
        yield f"W = {' + '.join(f'W_{part}' for part in parts)}"
    slopes = _slopes(parts, symbols)
    for symbol, slope in slopes.items():
        yield f"dW_d{symbol} = {slope}"
    if function == "tangent":
        for a, b, second in _seconds(slopes):
            yield f"d2W_d{a}_d{b} = {second}"
    for name, symbol in symbols.items():
        if _symmetric(symbol):
            yield f"# {name}12 {BOTH}"
    if function != "energy":
        yield from _summed(symbols, slopes, solid, function)


def _summed(
    symbols: Mapping[str, sp.Basic],
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
    terms = [
        _AS_TEXT[name] if name in _MATRICES else f"dW_d{name} {_AS_TEXT[name]}"
        for name, symbol in symbols.items()
        if name in _MATRICES or (name in _BY_F and symbol in slopes)
    ]
    yield f"# P = dW_dF = {' + '.join(terms) or '0'}"
    yield "# f_i = sum_p w_p det(J0) P grad(N_i)"
    if function == "tangent":
        yield "# K_ij = sum_p w_p det(J0) (dP_dF : grad(N_j)) grad(N_i), by the second indices"


def _by(*symbols: sp.Basic) -> str:
    power = "" if len(symbols) == 1 else f"^{len(symbols)}"
    below = " ".join(rf"\partial {sp.latex(s)}" for s in symbols)
    return rf"\frac{{\partial{power} W}}{{{below}}}"


def _scalars(symbols: Mapping[str, sp.Basic]) -> list[sp.Basic]:
    """Return the entries of all quantities, each once."""
    found: dict[sp.Basic, None] = {}
    for symbol in symbols.values():
        found |= dict.fromkeys(symbol if isinstance(symbol, sp.MatrixBase) else [symbol])
    return list(found)


def _slopes(
    parts: Mapping[str, sp.Expr], symbols: Mapping[str, sp.Basic]
) -> dict[sp.Basic, sp.Expr]:
    """Return the derivatives of the energy that are not zero."""
    total = sp.Add(*parts.values())
    found = {scalar: derivative(total, scalar) for scalar in _scalars(symbols)}
    return {scalar: slope for scalar, slope in found.items() if slope != 0}


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
    shown: dict[str, None] = {}
    for name in symbols:
        key = "lambda1" if name.startswith("lambda") else name
        shown |= dict.fromkeys([_DEFINED[key]] if key in _DEFINED else [])
    if "I2" in symbols and "C" not in symbols:
        shown = {_DEFINED["C"]: None, **shown}
    for line in shown:
        yield rf"{line} \\"


def _contracted(
    symbols: Mapping[str, sp.Basic],
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
    terms = [_MATRICES[name] for name in symbols if name in _MATRICES]
    terms += [
        rf"{_by(symbols[name])} \, {_BY_F[name]}"
        for name in symbols
        if name in _BY_F and symbols[name] in slopes
    ]
    yield rf"P &= \frac{{\partial W}}{{\partial F}} = {' + '.join(terms) or '0'} \\"
    yield r"f_i &= \sum_p w_p \det J_0 \; P \, \nabla N_i \\"
    if function == "tangent":
        yield r"A_{aBcD} &= \partial P_{aB} / \partial F_{cD} \\"
        yield (
            r"(K_{ij})_{ac} &= \sum_p w_p \det J_0 \; A_{aBcD} \, (\nabla N_i)_B (\nabla N_j)_D \\"
        )

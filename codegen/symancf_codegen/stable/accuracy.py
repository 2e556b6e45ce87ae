# SPDX-License-Identifier: BSD-3-Clause
"""Digits that a law loses at small strain: double precision against 50 digits.

Laws are evaluated by reverse-mode differentiation over their lets, in NumPy and in mpmath,
without the compiler.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.functions import BEYOND_NUMPY, derivative, numerical, symbolic
from symancf_codegen.stable.stabilise import stabilise

if TYPE_CHECKING:
    from symancf_codegen.declare import Lets, PointLaw

Array = npt.NDArray[np.float64]


def log1pmx_array(x: npt.ArrayLike) -> Array:
    """Return log(1 + x) - x to a few ulp, for arrays.

    With s = x/(2 + x): log(1 + x) = 2 artanh s, hence -x s + 2 s^3 (1/3 + s^2/5 + ...).
    """
    x = np.asarray(x, dtype=float)
    s = x / (2.0 + x)
    t = s * s
    total = np.zeros_like(t)
    for k in range(14, -1, -1):
        total = total * t + 1.0 / (2 * k + 3)
    near = -x * s + 2.0 * s * t * total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(x) < 0.5, near, np.log1p(x) - x)


def expm1mx_array(x: npt.ArrayLike) -> Array:
    """Return exp(x) - 1 - x to a few ulp, for arrays."""
    x = np.asarray(x, dtype=float)
    total = np.ones_like(x)
    for k in range(18, 2, -1):
        total = 1.0 + total * x / k
    return np.where(np.abs(x) < 0.7, 0.5 * x * x * total, np.expm1(x) - x)


#: Functions of the compiler that end a series, for arrays.
SERIES = {"log1pmx": log1pmx_array, "expm1mx": expm1mx_array}

#: A number of NumPy or of mpmath.
Number = float

Function = Callable[[Mapping[str, npt.ArrayLike]], list[Array]]


def reverse(
    lets: Lets, energy: sp.Expr, variables: Sequence[sp.Symbol]
) -> tuple[Lets, list[sp.Expr]]:
    """Return the gradient of `energy` by `variables`, differentiated backwards over its lets.

    Returns
    -------
    lets : the given lets followed by the adjoints of lets, as named expressions.
    gradient : expressions of these.
    """
    adjoint: dict[sp.Symbol, sp.Expr] = {}
    extended = list(lets)

    def spread(expression: sp.Expr, factor: sp.Expr) -> None:
        for s in sorted(expression.free_symbols, key=str):
            if s in symbols:
                adjoint[s] = adjoint.get(s, sp.Integer(0)) + factor * derivative(expression, s)

    symbols = {s for s, _ in lets} | set(variables)
    spread(energy, sp.Integer(1))
    for symbol, expression in reversed(lets):
        if symbol in adjoint:
            name = sp.Symbol(f"adjoint_{symbol.name}", real=True)
            extended.append((name, adjoint[symbol]))
            spread(expression, name)
    return tuple(extended), [adjoint.get(v, sp.Integer(0)) for v in variables]


def _axes(matrix: Array) -> tuple[Sequence[Number], Array]:
    values, axes = np.linalg.eigh(matrix)
    return values.tolist(), axes


def _exact_axes(matrix: Array) -> tuple[Sequence[Number], Array]:
    import mpmath

    values, axes = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
    return list(values), np.array(axes.tolist())


def _stretches(
    log: Callable[[Number], Number],
    axes: Callable[[Array], tuple[Sequence[Number], Array]],
) -> dict[str, Callable[..., Number]]:
    """Return functions of principal stretches by name for numbers, by a way to values and axes."""

    def solved(entries: Sequence[Number], k: int) -> tuple[Number, Array, Array]:
        H = np.array(entries).reshape(3, 3)
        values, vectors = axes((H + H.T + H.T @ H) / 2)  # ascending
        axis = vectors[:, 3 - int(k)]
        return values[3 - int(k)], axis, axis + H @ axis

    def value(k: int, *entries: Number) -> Number:
        return log(1 + 2 * solved(entries, k)[0]) / 2

    def slope(entry: int, k: int, *entries: Number) -> Number:
        e, axis, present = solved(entries, k)
        derivative: Number = present[int(entry) // 3] * axis[int(entry) % 3] / (1 + 2 * e)
        return derivative

    def axis(k: int, i: int, *entries: Number) -> Number:
        component: Number = solved(entries, k)[1][int(i) - 1]
        return component

    return {"log_stretch": value, "log_stretch_slope": slope, "stretch_axis": axis}


def function(lets: Lets, outputs: Sequence[sp.Expr], *, exact: bool = False) -> Function:
    """Return a function of a dict of values that evaluates lets in order, then `outputs`.

    Values are numbers or arrays; with `exact`, numbers of mpmath at its present precision.
    """
    if exact:
        import mpmath
        from sympy.printing.pycode import MpmathPrinter as Printer

        scope = {k: getattr(mpmath, k) for k in dir(mpmath) if k[0] != "_"}
        scope["log1pmx"] = lambda x: mpmath.log(1 + x) - x
        scope["expm1mx"] = lambda x: mpmath.exp(x) - 1 - x
        scope |= _stretches(mpmath.log, _exact_axes)
    else:
        from sympy.printing.numpy import NumPyPrinter as Printer

        scope = {k: getattr(np, k) for k in dir(np) if k[0] != "_"}
        scope |= {
            "numpy": np,
            "reduce": functools.reduce,
            **SERIES,
            **_stretches(np.log, _axes),
            **BEYOND_NUMPY,
        }
    own = ("log1pmx", "expm1mx", "log_stretch", "log_stretch_slope", "stretch_axis")
    printer = Printer(
        {"fully_qualified_modules": False, "user_functions": {name: name for name in own}}
    )
    results = [symbolic(e) for e in outputs]
    symbols: set[sp.Symbol] = set().union(
        *(e.free_symbols for e in (*dict(lets).values(), *results))
    )
    inputs = sorted(symbols - {s for s, _ in lets}, key=str)
    compiled = numerical(inputs, results, [scope], lets=lets, printer=printer)
    return lambda values: compiled(*(values[s.name] for s in inputs))


def variables(law: PointLaw) -> tuple[sp.Symbol, ...]:
    """Return the symbols in which a law is differentiated."""
    return tuple(s for s, _ in law.inner) or law.unknowns


def energy_and_gradient(law: PointLaw, *, exact: bool = False) -> Function:
    """Return a function of a dict of values giving [W, dW/dv1, ...] for `variables(law)`.

    The values name the variables, and the parameters and reference jets that the law needs.
    """
    if law.energy is None:
        raise ValueError(f"{law.words} is a work, it has no energy")
    lets, gradient = reverse(law.lets, law.energy, variables(law))
    geometry = needed_geometry(law, (law.energy, *(e for _, e in lets)))
    return function((*geometry, *lets), [law.energy, *gradient], exact=exact)


def needed_geometry(law: PointLaw, expressions: Iterable[sp.Expr]) -> Lets:
    """Return the geometry of a law that `expressions` need, in order."""
    needed: set[sp.Symbol] = set().union(*(e.free_symbols for e in expressions))
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    for symbol, expression in reversed(law.geometry):
        if symbol in needed:
            geometry.append((symbol, expression))
            needed |= expression.free_symbols
    return tuple(reversed(geometry))


@dataclass(frozen=True)
class Loss:
    """What a law loses at small strain.

    Attributes
    ----------
    stress : largest error of a component of dW/dv, relative to the largest component.
    energy : largest relative error of the energy.
    """

    stress: float
    energy: float

    @property
    def digits(self) -> tuple[float, float]:
        """Decimal digits lost, of about 16, by stress and by energy."""
        stress, energy = (max(0.0, math.log10(max(e, 1e-17) / 1.1e-16)) for e in self.errors)
        return stress, energy

    @property
    def errors(self) -> tuple[float, float]:
        """The errors of stress and energy."""
        return self.stress, self.energy

    def __str__(self) -> str:
        s, e = self.digits
        return f"stress {self.stress:.1e} ({s:.1f} digits lost), energy {self.energy:.1e} ({e:.1f})"


def digits_lost(
    law: PointLaw,
    values: Mapping[str, float],
    *,
    size: float = 1e-8,
    samples: int = 20,
    seed: int = 1,
    as_written: bool = False,
) -> Loss:
    """Return the errors of energy and stress of a law at a small random strain.

    Parameters
    ----------
    law : an energy law, as declared; it is stabilised here.
    values : parameters, reference jets and section coordinates by name.
    size : magnitude of the inner variables, or of the jets of the displacement.
    samples, seed : of the random displacements.
    as_written : evaluate the law as declared instead, without stabilising it.

    Returns
    -------
    The largest errors over the samples, against 50 digits of the law as declared.
    """
    import mpmath

    evaluate = energy_and_gradient(law if as_written else stabilise(law))
    exact = energy_and_gradient(law, exact=True)
    generator = np.random.default_rng(seed)
    names = [s.name for s in variables(law)]
    stress = energy = 0.0
    with mpmath.workdps(50):
        fixed = {k: mpmath.mpf(v) for k, v in values.items()}
        for _ in range(samples):
            u = dict(zip(names, size * generator.uniform(-1, 1, len(names)), strict=True))
            w, *p = (float(x) for x in evaluate({**values, **u}))
            w0, *p0 = exact({**fixed, **{k: mpmath.mpf(v) for k, v in u.items()}})
            scale = max((abs(x) for x in p0), default=mpmath.mpf(0))
            if scale:
                stress = max(
                    stress, *(float(abs(a - b) / scale) for a, b in zip(p, p0, strict=True))
                )
            if w0:
                energy = max(energy, float(abs(w - w0) / abs(w0)))
    return Loss(stress, energy)

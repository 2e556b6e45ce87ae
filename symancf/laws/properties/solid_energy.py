# SPDX-License-Identifier: BSD-3-Clause
r"""The energy of a solid law, its stress and tangent at deformation gradients, as numbers.

With the quantities q of a law (J, I1, I2, entries of C, E_gl, F, H, logarithms of the principal
stretches),

.. math:: P = \sum_a W_{,a}\, \frac{\partial q_a}{\partial F}, \qquad
    A = \sum_a W_{,a}\, \frac{\partial^2 q_a}{\partial F^2}
        + \sum_{ab} W_{,ab}\, \frac{\partial q_a}{\partial F} \otimes
          \frac{\partial q_b}{\partial F} ,

the derivatives by q from SymPy, those of q by F in closed form.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import BEYOND_NUMPY, branches, log_stretch, numerical, symbolic
from symancf_codegen.stable.accuracy import SERIES

from ...arrays import Array
from ...kinematics.solid import solid
from ...kinematics.stretches import AXES, LOGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..parts import EnergyCall

#: Squares of two principal stretches that differ by less, of their size, are taken as equal.
SAME_STRETCHES = 1e-7


def _axis(k: Array, i: Array, *entries: Array) -> Array:
    """Return a component of the axis of a principal stretch; see `functions.stretch_axis`."""
    rows = np.stack(np.broadcast_arrays(*entries), axis=-1).astype(float)
    F = np.eye(3) + rows.reshape(*rows.shape[:-1], 3, 3)
    vectors = np.linalg.eigh(np.swapaxes(F, -2, -1) @ F)[1]
    return np.asarray(vectors[..., int(np.asarray(i)) - 1, 3 - int(np.asarray(k))])


def _select(conditions: Sequence[Any], values: Sequence[Any], default: float) -> Any:
    """Return the value of the first condition that is true, as NumPy's `select`, in less time."""
    result: Any = default
    for true, value in zip(reversed(conditions), reversed(values), strict=True):
        result = value if true is True else np.where(true, value, result)
    return result


#: Functions of SymPy that NumPy lacks, or has in a slow form.
FUNCTIONS: list[Any] = [
    {
        **BEYOND_NUMPY,
        "stretch_axis": _axis,
        **SERIES,
        "icbrt": lambda x: 1.0 / np.cbrt(x),
        "select": _select,
    },
    "numpy",
]


def compiled(symbols: Sequence[sp.Symbol], rows: Sequence[sp.Expr]) -> Any:
    """Return expressions, also with kinks, as a function of arrays; common parts are found once."""
    lets, short = sp.cse(rows, symbols=sp.numbered_symbols("let_"), order="none")
    return numerical(
        symbols, [*map(_finite, short)], FUNCTIONS, lets=[(s, _finite(e)) for s, e in lets]
    )


def _finite(e: sp.Expr) -> sp.Expr:
    """Return an expression whose kinks are `Piecewise`, NaN where it is not finite."""
    return branches(e).xreplace({sp.zoo: sp.nan, sp.oo: sp.nan})


class SolidEnergy:
    """The energy of a law of solids with numbers for its parameters.

    Parameters
    ----------
    called : the law, called with the symbols of a solid.
    values : numbers of its parameters by name.
    others : values of further symbols, such as those of its memory.
    parts : of its energy; None: all.

    Attributes
    ----------
    W : the energy density in the symbols of its quantities, without kinks but `Piecewise`.
    moving : the symbols of quantities that depend on F, in the energy.
    """

    def __init__(
        self,
        called: EnergyCall,
        values: Mapping[str, float],
        others: Mapping[sp.Symbol, float] | None = None,
        parts: Mapping[str, sp.Expr] | None = None,
    ) -> None:
        self.called = called
        before = {s: symbolic(x) for s, x in (others or {}).items()}
        before = {s: sp.Integer(0) if x == 0 else x for s, x in before.items()}
        W = sp.Add(*(called.parts if parts is None else parts).values()).xreplace(before)
        self.W = branches(_of_logs(W))
        known = places_of(called)
        self.moving = sorted(self.W.free_symbols & known.keys(), key=lambda s: str(s.name))
        self._kinds = [known[s] for s in self.moving]
        rest = sorted(self.W.free_symbols - {*self.moving}, key=lambda s: str(s.name))
        self._rest = [(s, float(values.get(str(s.name), 0.0))) for s in rest]
        self._symbols = [*self.moving, *rest]
        self._needs_stretches = any(kind[0] == "log" for kind in self._kinds)

    @cached_property
    def slopes(self) -> list[sp.Expr]:
        """dW/dq of the moving quantities."""
        return [sp.diff(self.W, s) for s in self.moving]

    @cached_property
    def _energy(self) -> Any:
        return compiled(self._symbols, [self.W])

    @cached_property
    def _first(self) -> Any:
        return compiled(self._symbols, self.slopes)

    @cached_property
    def _both(self) -> Any:
        """First and second derivatives."""
        n = len(self.moving)
        rows = [sp.diff(self.slopes[a], self.moving[b]) for a in range(n) for b in range(a, n)]
        return compiled(self._symbols, [*self.slopes, *rows])

    def energy(self, F: Array) -> Array:
        """Return W (n,) at F (n, 3, 3)."""
        return self._at(self._energy, Deformation(F), 1)[:, 0]

    def stress(self, F: Array) -> Array:
        """Return P = dW/dF (n, 3, 3) at F (n, 3, 3)."""
        on = Deformation(F)
        first = self._at(self._first, on, len(self.moving))
        P = np.zeros((len(F), 9))
        for a, kind in enumerate(self._kinds):
            P += first[:, a, None] * on.slope(kind)
        return P.reshape(F.shape)

    def tangent(self, F: Array) -> Array:
        """Return A = d2W/dF2 (n, 9, 9) at F (n, 3, 3), rows and columns F11, F12, ..., F33."""
        on, m = Deformation(F), len(self.moving)
        pairs = [(a, b) for a in range(m) for b in range(a, m)]
        first, second = np.split(self._at(self._both, on, m + len(pairs)), [m], axis=1)
        slopes = [on.slope(kind) for kind in self._kinds]
        A = np.zeros((len(F), 9, 9))
        for k, (a, b) in enumerate(pairs):
            outer = slopes[a][:, :, None] * slopes[b][:, None, :]
            A += second[:, k, None, None] * (outer if a == b else outer + outer.swapaxes(1, 2))
        for a, kind in enumerate(self._kinds):
            if kind[0] != "log":
                A += first[:, a, None, None] * on.curvature(kind)
        if self._needs_stretches:
            by = {(a, b): second[:, k] for k, (a, b) in enumerate(pairs)}
            A += self._of_stretches(on, first, by)
        return A

    def _of_stretches(
        self, on: Deformation, first: Array, second: Mapping[tuple[int, int], Array]
    ) -> Array:
        """Return the part of W,a d2L_a/dF2 of the logarithms L_a of principal stretches."""
        where = {kind[1]: a for a, kind in enumerate(self._kinds) if kind[0] == "log"}
        c, A = on.squares, np.zeros((len(first), 9, 9))
        zero = np.zeros(len(first))
        slope = {k: first[:, where[k]] if k in where else zero for k in range(3)}

        def both(j: int, k: int) -> Array:
            if j not in where or k not in where:
                return zero
            a, b = sorted((where[j], where[k]))
            return second[a, b]

        for k in range(3):
            g = slope[k] / (2.0 * c[:, k])  # dW/dc_k
            A += g[:, None, None] * on.along_axis(k, k)[1]
            n = on.along_axis(k, k)[0]
            minus = -slope[k] / (2.0 * c[:, k] ** 2)  # the part of d2W/dc_k2 that L adds
            A += minus[:, None, None] * n[:, :, None] * n[:, None, :]
            for j in range(k):
                other = slope[j] / (2.0 * c[:, j])
                gap = c[:, k] - c[:, j]
                same = abs(gap) < SAME_STRETCHES * c.max(axis=1)
                limit = (
                    both(k, k) / (4.0 * c[:, k] ** 2)
                    + minus
                    - both(j, k) / (4.0 * c[:, k] * c[:, j])
                )
                quotient = np.where(same, limit, (g - other) / np.where(same, 1.0, gap))
                mixed = on.along_axis(j, k)[0]
                A += 2.0 * quotient[:, None, None] * mixed[:, :, None] * mixed[:, None, :]
        return A

    def _at(self, function: Any, on: Deformation, columns: int) -> Array:
        values = [on.value(kind) for kind in self._kinds] + [x for _, x in self._rest]
        n = len(on.F)
        result = np.empty((n, columns))
        with np.errstate(all="ignore"):
            for k, entry in enumerate(function(*values)):
                result[:, k] = entry
        return result


def _of_logs(W: sp.Expr) -> sp.Expr:
    """Return an energy in which the principal stretches of I + H are those of the solid."""
    H = tuple(solid().quantities["H"].value)

    def known(k: sp.Expr, *entries: sp.Expr) -> sp.Expr:
        return LOGS[int(k) - 1] if entries == H else log_stretch(k, *entries)

    return W.replace(log_stretch, known) if W.has(log_stretch) else W


Place = tuple[str, int, int]


def places_of(called: EnergyCall) -> dict[sp.Symbol, Place]:
    """Return what the symbols of a solid's quantities are: kind, row, column."""
    quantities = solid().quantities
    result: dict[sp.Symbol, Place] = {quantities[q].value: (q, 0, 0) for q in ("J", "I1", "I2")}
    for name in ("C", "E_gl", "F", "H"):
        value = quantities[name].value
        result |= {value[i, k]: (name, i, k) for i in range(3) for k in range(i, 3)}
        result |= (
            {value[i, k]: (name, i, k) for i in range(3) for k in range(i)}
            if (value[0, 1] != value[1, 0])
            else {}
        )
    result |= {s: ("log", k, 0) for k, s in enumerate(LOGS)}
    return result | {s: ("axis", *divmod(k, 3)) for k, s in enumerate(AXES)}


class Deformation:
    """Quantities of deformation gradients F (n, 3, 3), and their derivatives by F (n, 9)."""

    def __init__(self, F: Array) -> None:
        self.F = np.asarray(F, dtype=float)
        self.C = self.F.swapaxes(1, 2) @ self.F

    @cached_property
    def J(self) -> Array:
        """(n,) det F."""
        return np.asarray(np.linalg.det(self.F))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.C)
        return values[:, ::-1], vectors[:, :, ::-1]

    @property
    def squares(self) -> Array:
        """(n, 3) squares of the principal stretches, the largest first."""
        return self._eigen[0]

    def value(self, kind: Place) -> Array:
        """Return a quantity (n,)."""
        name, i, k = kind
        if name in ("C", "E_gl", "F", "H"):
            eye = float(i == k)
            of = {"C": self.C[:, i, k], "E_gl": (self.C[:, i, k] - eye) / 2, "F": self.F[:, i, k]}
            return np.asarray(of[name] if name != "H" else self.F[:, i, k] - eye)
        if name == "log":
            return np.asarray(np.log(self.squares[:, i]) / 2)
        if name == "axis":
            return np.asarray(self._eigen[1][:, k, i])
        trace = np.trace(self.C, axis1=1, axis2=2)
        if name == "J":
            return self.J
        return np.asarray(trace if name == "I1" else (trace**2 - np.sum(self.C**2, (1, 2))) / 2)

    def slope(self, kind: Place) -> Array:
        """Return the derivative of a quantity by F, (n, 9)."""
        name, i, k = kind
        n = len(self.F)
        if name in ("F", "H"):
            result = np.zeros((n, 3, 3))
            result[:, i, k] = 1.0
            return result.reshape(n, 9)
        if name in ("C", "E_gl"):
            result = np.zeros((n, 3, 3))
            result[:, :, i] += self.F[:, :, k]
            result[:, :, k] += self.F[:, :, i]
            return result.reshape(n, 9) / (1.0 if name == "C" else 2.0)
        if name == "log":
            return self.along_axis(i, i)[0] / (2.0 * self.squares[:, i, None])
        if name == "J":
            return _cofactors(self.F).reshape(n, 9)
        if name == "I1":
            return 2.0 * self.F.reshape(n, 9)
        trace = np.trace(self.C, axis1=1, axis2=2)[:, None, None]
        return np.asarray(2.0 * (trace * self.F - self.F @ self.C)).reshape(n, 9)

    def curvature(self, kind: Place) -> Array:
        """Return the second derivative of a quantity that is no stretch by F, (n, 9, 9)."""
        name, i, k = kind
        n, I = len(self.F), np.eye(3)
        if name in ("F", "H"):
            return np.zeros((n, 9, 9))
        if name in ("C", "E_gl"):
            pair = np.zeros((3, 3))
            pair[i, k] += 1.0
            pair[k, i] += 1.0
            constant = np.einsum("ab,LM->aLbM", I, pair).reshape(9, 9)
            return np.asarray(np.broadcast_to(constant / (1 + (name != "C")), (n, 9, 9)))
        if name == "J":
            e = _permutations()
            of_F = np.einsum("abc,LMN,ncN->naLbM", e, e, self.F)
            return np.asarray(of_F).reshape(n, 9, 9)
        if name == "I1":
            return np.asarray(np.broadcast_to(2.0 * np.eye(9), (n, 9, 9)))
        f = self.F.reshape(n, 9)
        trace = np.trace(self.C, axis1=1, axis2=2)
        A = 4.0 * f[:, :, None] * f[:, None, :] + 2.0 * trace[:, None, None] * np.eye(9)
        left = self.F @ self.F.swapaxes(1, 2)
        A = A - 2.0 * np.einsum("ab,nLM->naLbM", I, self.C).reshape(n, 9, 9)
        A = A - 2.0 * np.einsum("nab,LM->naLbM", left, I).reshape(n, 9, 9)
        A = A - 2.0 * np.einsum("naM,nbL->naLbM", self.F, self.F).reshape(n, 9, 9)
        return np.asarray(A)

    def along_axis(self, j: int, k: int) -> tuple[Array, Array]:
        """Return N_j . dC N_k by dF (n, 9), and of j = k N . d2C N (n, 9, 9)."""
        N = self._eigen[1]
        a, b = N[:, :, j], N[:, :, k]
        Fa, Fb = np.einsum("nij,nj->ni", self.F, a), np.einsum("nij,nj->ni", self.F, b)
        n = len(self.F)
        slope = np.einsum("ni,nL->niL", Fa, b) + np.einsum("ni,nL->niL", Fb, a)
        outer = np.einsum("ab,nL,nM->naLbM", np.eye(3), a, b)
        return slope.reshape(n, 9), 2.0 * outer.reshape(n, 9, 9)


def _permutations() -> Array:
    e = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        e[i, j, k], e[i, k, j] = 1.0, -1.0
    return e


def _cofactors(F: Array) -> Array:
    """Return dJ/dF, the cofactors of F (n, 3, 3)."""
    rows = [np.cross(F[:, i - 2], F[:, i - 1]) for i in range(3)]
    return np.stack(rows, axis=1)

# SPDX-License-Identifier: BSD-3-Clause
"""Energy, stress and stiffness of a solid law at F = I, as expressions of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import kinked

from ...arrays import Array
from ...kinematics.stretches import LOGS
from .solid_energy import Deformation, SolidEnergy

if TYPE_CHECKING:
    from collections.abc import Callable

#: Pairs of axes in Voigt's order.
VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def voigt(A: Any) -> Any:
    """Return the stiffness (6, 6) of a tangent d2W/dF2 (9, 9) at rest, of numbers or symbols."""
    result = np.empty((6, 6), dtype=np.asarray(A).dtype)
    for a, (i, k) in enumerate(VOIGT):
        for b, (j, m) in enumerate(VOIGT):
            rows, columns = (3 * i + k, 3 * k + i), (3 * j + m, 3 * m + j)
            result[a, b] = sum(A[r, c] for r in rows for c in columns) / 4
    return result


def at_rest(energy: SolidEnergy) -> tuple[sp.Expr, Any, Any] | None:
    """Return W, P (9,) and d2W/dF2 (9, 9) at F = I in symbols; None: the law has kinks there."""
    if kinked(energy.W):
        return None
    known = {s: kind for s, kind in zip(energy.moving, energy._kinds, strict=True)}
    rest = {s: _rest_value(kind) for s, kind in known.items()}

    def there(e: sp.Expr) -> sp.Expr:
        return e.xreplace(rest)

    symbols, n = energy.moving, len(energy.moving)
    first = [there(e) for e in energy.slopes]
    second = [[there(sp.diff(energy.slopes[a], symbols[b])) for b in range(n)] for a in range(n)]
    slopes = [_slope(kind) for kind in known.values()]
    P = sum((w * g for w, g in zip(first, slopes, strict=True)), np.zeros(9, dtype=object))
    logs = [a for a, s in enumerate(symbols) if s in LOGS]
    A = _chain_rule(first, second, [*known.values()], slopes, logs)
    if len(logs) not in (0, 3) or (logs and len(logs) < n):
        return None
    if logs:
        A = _plus_logs(A, first, second, logs)
    return there(energy.W), P, A


def engineering(name: str, C: Any) -> Any:
    """Return a modulus by its name of a stiffness (6, 6) in Voigt's order.

    Raises
    ------
    KeyError : there is none of this name.
    """
    return _FUNCTIONS[name](C) if name in _FUNCTIONS else C[_STIFFNESSES[name]]


def _compliance(C: Any) -> Any:
    S = sp.Matrix(C[:3, :3]).inv() if C.dtype == object else np.linalg.inv(C[:3, :3])
    return S


def _bulk(C: Any) -> Any:
    return sum(C[i, k] for i in range(3) for k in range(3)) / 9


def _young(i: int) -> Callable[[Any], Any]:
    return lambda C: 1 / _compliance(C)[i, i]


def _poisson(i: int, k: int) -> Callable[[Any], Any]:
    return lambda C: -_compliance(C)[i, k] / _compliance(C)[i, i]


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "mu": lambda C: C[5, 5],
    "k": _bulk,
    "lam": lambda C: C[0, 1],
    "E": lambda C: 9 * _bulk(C) * C[5, 5] / (3 * _bulk(C) + C[5, 5]),
    "nu": lambda C: (3 * _bulk(C) - 2 * C[5, 5]) / (6 * _bulk(C) + 2 * C[5, 5]),
    **{f"E{i + 1}": _young(i) for i in range(3)},
    **{f"nu{i + 1}{k + 1}": _poisson(i, k) for i in range(3) for k in range(3) if i != k},
}
_STIFFNESSES = {f"C{i + 1}{k + 1}": (i, k) for i in range(6) for k in range(i, 6)}
_STIFFNESSES |= {"G23": (3, 3), "G13": (4, 4), "G12": (5, 5)}

#: Names of moduli that a law may declare.
MODULI = (*_FUNCTIONS, *_STIFFNESSES)


def _rest_value(kind: tuple[str, int, int]) -> sp.Expr:
    name, i, k = kind
    if name in ("C", "F"):
        return sp.Integer(i == k)
    return sp.Integer({"J": 1, "I1": 3, "I2": 3}.get(name, 0))


def _chain_rule(
    first: list[sp.Expr],
    second: list[list[sp.Expr]],
    kinds: list[tuple[str, int, int]],
    slopes: list[Any],
    logs: list[int],
) -> Any:
    """Return d2W/dF2 (9, 9) of derivatives by quantities, without those by logs alone."""
    A = np.zeros((9, 9), dtype=object)
    for a, kind in enumerate(kinds):
        if a not in logs:
            A = A + first[a] * _curvature(kind)
        for b in range(len(kinds)):
            if not (a in logs and b in logs):
                A = A + second[a][b] * np.outer(slopes[a], slopes[b])
    return A


def _plus_logs(A: Any, first: list[sp.Expr], second: list[list[sp.Expr]], logs: list[int]) -> Any:
    """Return d2W/dF2 (9, 9) with the part by logs alone.

    W is symmetric in them: W_1 ln J + W_12 (ln J)^2/2 + (W_11 - W_12) |ln U|^2/2.
    """
    other, shear = second[logs[0]][logs[1]], second[logs[0]][logs[0]] - second[logs[0]][logs[1]]
    eye = np.eye(9, dtype=int).astype(object)
    turned = _transposed()
    volume = np.outer(*[_integers(np.eye(3).ravel())] * 2)
    A = A + other * volume + shear * (eye + turned) * sp.Rational(1, 2)
    return A - first[logs[0]] * turned


def _integers(values: Array) -> Any:
    """Return numbers as SymPy's, which here are multiples of a half."""
    flat = [sp.Rational(round(2 * float(x)), 2) for x in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def _slope(kind: tuple[str, int, int]) -> Any:
    """Return dq/dF at F = I, (9,)."""
    if kind[0] == "log":  # the mean of the three, which have equal derivatives
        return _integers(np.eye(3).ravel()) / sp.Integer(3)
    return _integers(Deformation(np.eye(3)[None]).slope(kind)[0])


def _curvature(kind: tuple[str, int, int]) -> Any:
    """Return d2q/dF2 at F = I, (9, 9)."""
    return _integers(Deformation(np.eye(3)[None]).curvature(kind)[0])


def _transposed() -> Any:
    """Return the matrix that transposes F, (9, 9)."""
    T = np.zeros((9, 9))
    for i in range(3):
        for k in range(3):
            T[3 * i + k, 3 * k + i] = 1.0
    return _integers(T)

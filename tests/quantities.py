# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of an element at a point of a cell, evaluated in NumPy from its coefficients."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.compiler import Options
from symancf_codegen.stable.accuracy import function

if TYPE_CHECKING:
    from symancf.elements import Element

Array = npt.NDArray[np.float64]

#: For tests of what is derived, which do not ask what a compiler makes of it.
FAST = Options(flags=("-O0",))


def jets(
    element: Element, coefficients: Array, point: npt.ArrayLike, z: float = 0.0
) -> dict[str, Array]:
    """Return the point jets of coefficients (n, 3) at parameter values, at height z."""
    result = {}
    for jet, spread in element.space.point_jets.items():
        table = element.space.tabulate(tuple(spread), np.atleast_2d(point))[0]
        factors = [1.0 if f == 1 else z for f in spread.values()]
        result[jet] = np.array(factors) @ table @ coefficients
    return result


def values(
    element: Element,
    R: Array,
    u: Array,
    point: npt.ArrayLike,
    *,
    zeta: float = 0.0,
    thickness: float = 1.0,
    **options: bool,
) -> dict[str, Any]:
    """Return all quantities and the measure at a point by name."""
    z = zeta * thickness / 2
    at: dict[str, Any] = {"zeta": zeta, "thickness": thickness, "t": 0.7}
    for prefix, coefficients in (("R", R), ("u", u)):
        for jet, vector in jets(element, coefficients, point, z).items():
            at.update({f"{prefix}_{jet}{a + 1}": vector[a] for a in range(3)})
    evaluate, shapes = _evaluator(element, tuple(options.items()))
    numbers = iter(evaluate(at))
    result = {}
    for name, shape in shapes.items():
        parts = [float(next(numbers)) for _ in range(math.prod(shape))]
        result[name] = np.array(parts).reshape((3,) if shape == (3, 1) else shape)
    return result


@cache
def _evaluator(element: Element, options: tuple[tuple[str, bool], ...]) -> tuple[Any, Any]:
    """Return the function of all quantities and of the measure, and their shapes."""
    kinematics = element.kinematics(**dict(options))
    inner = [(s, sp.Add(*(c * v for v, c in m.items()))) for s, m in kinematics.inner]
    steps = (*kinematics.geometry, *inner, *kinematics.lets)
    wanted = {name: q.value for name, q in kinematics.quantities.items()}
    wanted["measure"] = kinematics.measure
    outputs: list[sp.Expr] = []
    shapes: dict[str, tuple[int, ...]] = {}
    for name, value in wanted.items():
        is_matrix = isinstance(value, sp.MatrixBase)
        outputs += list(value) if is_matrix else [value]
        shapes[name] = value.shape if is_matrix else ()
    return function(steps, outputs), shapes


def unit_cell(element: Element) -> Array:
    """Return coefficients (n, 3) of the cell that is its own parameter domain."""
    rows = []
    for vertex in element.topology.vertices:
        X = np.zeros(3)
        X[: len(vertex)] = vertex
        rows.append(X)
        rows.extend(np.eye(3)[: len(element.slopes)])
    return np.array(rows)


def rotate(element: Element, coefficients: Array, Q: Array, shift: npt.ArrayLike) -> Array:
    """Return the coefficients of a cell after x -> Q x + shift: only positions are shifted."""
    moved = coefficients @ Q.T
    moved[:: 1 + len(element.slopes)] += np.asarray(shift)
    return moved


def rotation(axis: npt.ArrayLike, angle: float) -> Array:
    """Return the rotation about an axis, by Rodrigues' formula."""
    a = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    W = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * W + (1 - np.cos(angle)) * W @ W)

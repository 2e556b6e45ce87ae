# SPDX-License-Identifier: BSD-3-Clause
"""The three parts of the tangent of a mechanism, as numbers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from ..parameter import evaluate
from ..places.ends import Ground
from .flexure import Flexure
from .law import CELL, EI, UNKNOWNS, symbolic

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration

Array = npt.NDArray[np.float64]

PARTS = ("K_I", "K_II", "K_III")


@cache
def _numeric(model: str) -> Any:
    parts = symbolic(model)
    wanted = [sp.Matrix(getattr(parts, name)) for name in PARTS]
    names = [s for s, _ in parts.lets]
    define = sp.lambdify((*UNKNOWNS, EI, *CELL), [e for _, e in _resolved(parts.lets)], cse=True)
    evaluate_parts = sp.lambdify((*names, *UNKNOWNS, EI, *CELL), wanted, cse=True)
    return lambda *values: evaluate_parts(*define(*values), *values)


def _resolved(lets: Any) -> list[tuple[sp.Symbol, sp.Expr]]:
    known: dict[sp.Symbol, sp.Expr] = {}
    for symbol, expression in lets:
        known[symbol] = expression.xreplace(known)
    return list(known.items())


def tangent_parts(system: Configuration) -> dict[str, Array]:
    """Return K_I, K_II, K_III of all flexures at the present state.

    Each is (3 n, 3 n) for the n planar bodies in the order of `system.bodies`, with rows and
    columns (x, y, theta); computed from the symbolic parts (`symbolic`), independently of the
    compiled tangent (collective).
    """
    bodies = [b for b in system.bodies if not hasattr(b, "region")]
    place = {id(b): 3 * k for k, b in enumerate(bodies)}
    total = {name: np.zeros((3 * len(bodies), 3 * len(bodies))) for name in PARTS}
    for flexure in system.terms:
        if not isinstance(flexure, Flexure):
            continue
        q = flexure.coordinates(system)
        value = evaluate(f"{flexure.name}: EI", flexure.EI, system.time)
        matrices = _numeric(flexure.model)(*q, value, *(flexure.cell[s.name] for s in CELL))
        rows = [-1 if isinstance(p, Ground) else place[id(p.body)] for p in flexure.ends]
        for name, matrix in zip(PARTS, matrices, strict=True):
            block = np.asarray(matrix, dtype=float).reshape(2, 3, 2, 3)
            for i, r in enumerate(rows):
                for j, c in enumerate(rows):
                    if r >= 0 and c >= 0:
                        total[name][r : r + 3, c : c + 3] += block[i, :, j]
    return total

# SPDX-License-Identifier: BSD-3-Clause
"""Flexible GMRES with products and preconditioners that are functions of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...arrays import Array

    Rows = Callable[[Array], Array]


def fgmres(
    product: Rows,
    precede: Rows,
    b: Array,
    total: Callable[[Array], Array],
    accuracy: float,
    least: float,
    vectors: int,
) -> tuple[Array, float, int]:
    """Solve product(x) = b, preconditioned from the right by `precede` (collective).

    Y. Saad, SIAM Journal on Scientific Computing 14 (1993) 461-469.

    Parameters
    ----------
    b : the right-hand side in the rows of this rank.
    total : returns the sums of all ranks of some numbers.
    accuracy, least : residual by the right-hand side that is wanted, and that is enough where it
        falls no more.
    vectors : most iterations.

    Returns
    -------
    x, the residual by the right-hand side, the number of iterations.
    """

    def dot(*pairs: tuple[Array, Array]) -> Array:
        return np.asarray(total(np.array([float(p @ q) for p, q in pairs])))

    size = float(np.sqrt(dot((b, b))[0]))
    if size == 0.0:
        return np.zeros_like(b), 0.0, 0
    basis = [b / size]
    before: list[Array] = []
    H, residual, y = np.zeros((vectors + 1, vectors)), 1.0, np.zeros(0)
    for k in range(vectors):
        before.append(precede(basis[k]))
        w = product(before[k])
        for _ in range(2):  # Gram and Schmidt, twice
            h = dot(*((q, w) for q in basis))
            H[: k + 1, k] += h
            for q, part in zip(basis, h, strict=True):
                w = w - part * q
        H[k + 1, k] = float(np.sqrt(dot((w, w))[0]))
        first = np.zeros(k + 2)
        first[0] = 1.0
        if not np.isfinite(H[: k + 2, k]).all():
            return np.zeros_like(b), np.inf, k + 1
        y = np.linalg.lstsq(H[: k + 2, : k + 1], first, rcond=None)[0]
        last, residual = residual, float(np.linalg.norm(first - H[: k + 2, : k + 1] @ y))
        stalls = residual < least and residual > 0.5 * last
        if residual <= accuracy or stalls or H[k + 1, k] == 0.0:
            break
        basis.append(w / H[k + 1, k])
    x = np.asarray(size * np.tensordot(y, np.array(before[: len(y)]), axes=1))
    return x, residual, len(before)

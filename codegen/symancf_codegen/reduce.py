# SPDX-License-Identifier: BSD-3-Clause
"""Stage 5, reduce: what symmetry, linearity and zero blocks save.

`LinearMap` pulls gradients and Hessians back through sparse linear maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.dag import Graph, Node
    from symancf_codegen.differentiate import Matrix


class LinearMap:
    """y = A x with nodes as entries: one dict {column: node} per row; zeros are dropped."""

    def __init__(self, rows: Sequence[dict[int, Node]], columns: int) -> None:
        self.rows = [dict(sorted(row.items())) for row in rows]
        self.columns = columns

    @classmethod
    def identity(cls, graph: Graph, size: int) -> LinearMap:
        """Return the identity of `size`."""
        return cls([{k: graph.one} for k in range(size)], size)

    def apply(self, g: Graph, x: Sequence[Node]) -> list[Node]:
        """Return A x."""
        return [g.total(g.mul(a, x[c]) for c, a in row.items()) for row in self.rows]

    def pull(self, g: Graph, y: Sequence[Node]) -> list[Node]:
        """Return A^T y."""
        result = [g.zero] * self.columns
        for row, node in zip(self.rows, y, strict=True):
            for c, a in row.items():
                result[c] = g.add(result[c], g.mul(a, node))
        return result

    def pull_matrix(self, g: Graph, matrix: Matrix, symmetric: bool) -> Matrix:
        """Return A^T H A; of a symmetric H only the upper triangle is read and returned."""
        size = len(self.rows)
        half: list[dict[int, Node]] = [{} for _ in range(size)]  # H A
        for k in range(size):
            for m in range(size):
                key = (min(k, m), max(k, m)) if symmetric else (k, m)
                h = matrix.get(key, g.zero)
                if h == g.zero:
                    continue
                for c, a in self.rows[m].items():
                    half[k][c] = g.add(half[k].get(c, g.zero), g.mul(h, a))
        result: Matrix = {}
        for k in range(size):
            for r, a in self.rows[k].items():
                for c in sorted(half[k]):
                    if symmetric and c < r:
                        continue
                    value = g.mul(a, half[k][c])
                    result[r, c] = g.add(result.get((r, c), g.zero), value)
        return {key: result[key] for key in sorted(result)}


def add_dyads(
    g: Graph, core: Matrix, first: Sequence[Sequence[Node]], second: Sequence[Sequence[Node]]
) -> Matrix:
    """Return core + sum_p first_p (x) second_p, upper triangle of a symmetric sum."""
    size = len(first[0]) if first else 0
    result = dict(core)
    for k in range(size):
        for m in range(k, size):
            value = result.get((k, m), g.zero)
            for a, b in zip(first, second, strict=True):
                value = g.add(value, g.mul(a[k], b[m]))
            result[k, m] = value
    return result

# SPDX-License-Identifier: BSD-3-Clause
"""Stage 5, reduce: what symmetry, linearity, zero blocks and shared roots save.

`LinearMap` pulls gradients and Hessians back through sparse linear maps; `share_roots`
replaces quotients and roots by powers of a root that is there anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.graph.dag import ExpressionGraph, Node
    from symancf_codegen.graph.differentiate import Matrix


class LinearMap:
    """y = A x with nodes as entries: one dict {column: node} per row; zeros are dropped."""

    def __init__(self, rows: Sequence[dict[int, Node]], columns: int) -> None:
        self.rows = [dict(sorted(row.items())) for row in rows]
        self.columns = columns

    @classmethod
    def identity(cls, graph: ExpressionGraph, size: int) -> LinearMap:
        """Return the identity of `size`."""
        return cls([{k: graph.one} for k in range(size)], size)

    def apply(self, g: ExpressionGraph, x: Sequence[Node]) -> list[Node]:
        """Return A x."""
        return [g.total(g.mul(a, x[c]) for c, a in row.items()) for row in self.rows]

    def pull(self, g: ExpressionGraph, y: Sequence[Node]) -> list[Node]:
        """Return A^T y."""
        result = [g.zero] * self.columns
        for row, node in zip(self.rows, y, strict=True):
            for c, a in row.items():
                result[c] = g.add(result[c], g.mul(a, node))
        return result

    def pull_matrix(self, g: ExpressionGraph, matrix: Matrix, symmetric: bool) -> Matrix:
        """Return A^T H A; of a symmetric H only the upper triangle is read and returned."""
        matrix = dict(matrix)
        result = self._pull_skew_blocks(g, matrix) if symmetric else {}
        size = len(self.rows)
        half: list[dict[int, Node]] = [{} for _ in range(size)]  # H A
        for k in range(size):
            for m in range(size):
                key = _upper(k, m) if symmetric else (k, m)
                h = matrix.get(key, g.zero)
                if h == g.zero:
                    continue
                for c, a in self.rows[m].items():
                    half[k][c] = g.add(half[k].get(c, g.zero), g.mul(h, a))
        for k in range(size):
            for r, a in self.rows[k].items():
                for c in sorted(half[k]):
                    if symmetric and c < r:
                        continue
                    value = g.mul(a, half[k][c])
                    result[r, c] = g.add(result.get((r, c), g.zero), value)
        return {key: result[key] for key in sorted(result)}

    def _pull_skew_blocks(self, g: ExpressionGraph, matrix: Matrix) -> Matrix:
        """Take skew blocks out of `matrix` and return them pulled back.

        Rows that combine the same columns form a group; H = Du J0^-1 has three, one per
        component. A block S of H between two groups with the same coefficients a that is skew
        (so is every block of the second derivative of a determinant) is pulled back through
        the minors of a: (a^T S a)_cd = sum_k<l S_kl (a_kc a_ld - a_lc a_kd), again skew.
        """
        groups: dict[tuple[int, ...], list[int]] = {}
        for k, row in enumerate(self.rows):
            groups.setdefault(tuple(row), []).append(k)
        result: Matrix = {}
        for (columns, first), (others, second) in itertools.combinations(groups.items(), 2):
            a = [list(self.rows[k].values()) for k in first]
            if a != [list(self.rows[k].values()) for k in second]:
                continue
            s = [[matrix.get(_upper(k, m), g.zero) for m in second] for k in first]
            pairs = list(itertools.combinations(range(len(first)), 2))
            if any(row[k] != g.zero for k, row in enumerate(s)):
                continue
            if any(s[m][k] != g.neg(s[k][m]) for k, m in pairs):
                continue
            for c, d in itertools.combinations(range(len(columns)), 2):
                value = g.total(
                    g.mul(s[k][m], g.sub(g.mul(a[k][c], a[m][d]), g.mul(a[m][c], a[k][d])))
                    for k, m in pairs
                )
                result[_upper(columns[c], others[d])] = value
                result[_upper(columns[d], others[c])] = g.neg(value)
            for k, m in itertools.product(first, second):
                matrix.pop(_upper(k, m), None)
        return result


def _upper(k: int, m: int) -> tuple[int, int]:
    """Return the place of an entry in the upper triangle."""
    return min(k, m), max(k, m)


def share_roots(g: ExpressionGraph, outputs: Sequence[Node]) -> dict[Node, Node]:
    """Return replacements of slow operations of x by powers of another root of x.

    With y = x^(-1/2): sqrt(x) = x y and 1/x = y^2; with y = x^(-1/3): 1/x = y^3 and
    1/y = x y^2. A reciprocal takes a processor as long as 16 products.
    """
    replace: dict[Node, Node] = {}
    reached = g.reach(outputs)
    roots = {(g.op[n], g.args[n][0]): n for n in reached if g.op[n] in ("rsqrt", "icbrt")}
    for node in reached:
        if g.is_uniform(node) or g.op[node] not in ("sqrt", "inv"):
            continue
        x = g.args[node][0]
        square, cube = roots.get(("rsqrt", x)), roots.get(("icbrt", x))
        if g.op[node] == "sqrt" and square is not None:
            replace[node] = g.mul(x, square)
        elif g.op[node] == "inv" and square is not None:
            replace[node] = g.mul(square, square)
        elif g.op[node] == "inv" and cube is not None:
            replace[node] = g.integer_power(cube, 3)
        elif g.op[node] == "inv" and g.op[x] == "icbrt":
            replace[node] = g.mul(g.args[x][0], g.mul(x, x))
    return replace


def add_dyads(
    g: ExpressionGraph,
    core: Matrix,
    first: Sequence[Sequence[Node]],
    second: Sequence[Sequence[Node]],
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

# SPDX-License-Identifier: BSD-3-Clause
"""Magnitude of the numbers that an expression is made of: times round-off, its own error.

The zero of an equation is found when nothing but round-off is left of it. How much that is
follows from the operations: a running error analysis (N. J. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed. (2002), section 3.3) to first order, with the same weight for every
operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symancf_codegen.graph.dag import Dependence
from symancf_codegen.graph.differentiate import partials

if TYPE_CHECKING:
    from symancf_codegen.graph.dag import ExpressionGraph, Node

#: Operations whose results are exact, or not numbers.
_EXACT = frozenset(("neg", "frozen", "instead", "lt", "le", "and", "or", "not", "sign", "abs"))

#: Size of an unknown at least: products of smaller ones lose their digits to underflow.
SMALLEST_UNKNOWN = 2.0**-800


def magnitudes(
    graph: ExpressionGraph, outputs: Sequence[Node], sizes: Mapping[Node, Node] | None = None
) -> list[Node]:
    r"""Return for each output a size m: its round-off is a few units of the last place of m.

    .. math:: m(x) = |x| + \sum_k |\partial x / \partial a_k|\, m(a_k)

    over the arguments a_k of the operation x; leaves and constants have their own size, or that
    in `sizes`, unknowns `SMALLEST_UNKNOWN` more. It is a bound of the size, so m >= \|x\|, and in
    the units of x.
    """
    g = graph
    size: dict[Node, Node] = {}
    for node in g.reach(outputs):
        if sizes and node in sizes:
            size[node] = sizes[node]
        elif g.op[node] == "symbol" and g.depends[node] & Dependence.UNKNOWN:
            size[node] = g.add(_absolute(g, node), g.constant(SMALLEST_UNKNOWN))
        else:
            size[node] = _absolute(g, node)
        if g.args[node] and not g.is_uniform(node):
            own = [] if g.op[node] in _EXACT else [size[node]]
            parts = (g.mul(_absolute(g, d), size[a]) for a, d in partials(g, node) if d != g.zero)
            size[node] = g.total([*own, *parts])
    return [size[node] for node in outputs]


def _absolute(g: ExpressionGraph, node: Node) -> Node:
    op = g.op[node]
    if g.is_constant(node):
        return g.constant(abs(g.value[node]))
    if op in ("abs", "sqrt", "rsqrt", "exp", "cosh"):
        return node
    if op == "neg":
        return _absolute(g, g.args[node][0])
    if op == "mul":
        return g.mul(*(_absolute(g, a) for a in g.args[node]))
    return g.call("abs", node)

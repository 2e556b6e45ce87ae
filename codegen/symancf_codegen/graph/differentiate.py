# SPDX-License-Identifier: BSD-3-Clause
"""Stage 4, differentiate: gradient, directional derivative and Hessian as graph transformations.

Three ways to a Hessian are offered, and the compiler keeps the cheapest by operation count:

* edge pushing (R. M. Gower and M. P. Mello, A new framework for the computation of Hessians,
  Optimization Methods and Software 27, 2012): one reverse sweep that carries second-order
  adjoints on pairs of nodes;
* forward over reverse: the gradient's directional derivatives, column by column;
* staged through named quantities I_p of the variables (the user's lets), energy W(I):
  H = sum_p W_p Hess(I_p) + sum_p grad(I_p) (x) u_p with u_p = sum_q W_pq grad(I_q).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.dag import Dependence, ExpressionGraph, Node

Partials = list[tuple[Node, Node]]
Matrix = dict[tuple[int, int], Node]


def partials(graph: ExpressionGraph, node: Node) -> Partials:
    """Return the pairs (argument, derivative of `node` with respect to it)."""
    g, op, a = graph, graph.op[node], graph.args[node]
    if op == "add":
        return [(a[0], g.one), (a[1], g.one)]
    if op == "sub":
        return [(a[0], g.one), (a[1], g.constant(-1.0))]
    if op == "mul":
        if a[0] == a[1]:
            return [(a[0], g.mul(g.constant(2.0), a[0]))]
        return [(a[0], a[1]), (a[1], a[0])]
    if op == "select":
        return [
            (a[1], g.select(a[0], g.one, g.zero)),
            (a[2], g.select(a[0], g.zero, g.one)),
        ]
    if op in ("min", "max"):
        first = g.call("lt", *a) if op == "min" else g.call("lt", a[1], a[0])
        return [
            (a[0], g.select(first, g.one, g.zero)),
            (a[1], g.select(first, g.zero, g.one)),
        ]
    if op == "atan2":
        y, x = a
        scale = g.inv(g.add(g.mul(x, x), g.mul(y, y)))
        return [(y, g.mul(x, scale)), (x, g.neg(g.mul(y, scale)))]
    if op == "pow":
        base, exponent = a
        lower = g.call("pow", base, g.sub(exponent, g.one))
        result = [(base, g.mul(exponent, lower))]
        if not g.is_constant(exponent):
            result.append((exponent, g.mul(node, g.call("log", base))))
        return result
    if op == "instead":
        return [(a[0], g.one)]
    if op == "power":
        base, p, q = a[0], g.value[a[1]], g.value[a[2]]
        slope = g.power(base, p - q, q) if p > q else g.root(base, p - q, q)
        return [(base, g.mul(g.constant(p / q), slope))]
    rule = _UNARY.get(op)
    if rule is None:
        raise CodegenError(f"no derivative is known for the operation {op!r}")
    return [(a[0], rule(g, a[0], node))]


def _bell(graph: ExpressionGraph, height: float, x: Node) -> Node:
    """Return height/sqrt(pi) exp(-x^2)."""
    height /= math.sqrt(math.pi)
    return graph.mul(graph.constant(height), graph.call("exp", graph.neg(graph.mul(x, x))))


_UNARY: dict[str, Callable[[ExpressionGraph, Node, Node], Node]] = {
    "neg": lambda g, x, f: g.constant(-1.0),
    "inv": lambda g, x, f: g.neg(g.mul(f, f)),
    "sqrt": lambda g, x, f: g.mul(g.constant(0.5), g.inv(f)),
    "rsqrt": lambda g, x, f: g.mul(g.constant(-0.5), g.integer_power(f, 3)),
    "icbrt": lambda g, x, f: g.mul(g.constant(-1.0 / 3.0), g.integer_power(f, 4)),
    "log": lambda g, x, f: g.inv(x),
    "log1p": lambda g, x, f: g.inv(g.add(g.one, x)),
    "log1pmx": lambda g, x, f: g.neg(g.div(x, g.add(g.one, x))),
    "exp": lambda g, x, f: f,
    "expm1": lambda g, x, f: g.add(f, g.one),
    "expm1mx": lambda g, x, f: g.add(f, x),
    "sin": lambda g, x, f: g.call("cos", x),
    "cos": lambda g, x, f: g.neg(g.call("sin", x)),
    "tan": lambda g, x, f: g.add(g.one, g.mul(f, f)),
    "asin": lambda g, x, f: g.inv(g.call("sqrt", g.sub(g.one, g.mul(x, x)))),
    "acos": lambda g, x, f: g.neg(g.inv(g.call("sqrt", g.sub(g.one, g.mul(x, x))))),
    "atan": lambda g, x, f: g.inv(g.add(g.one, g.mul(x, x))),
    "sinh": lambda g, x, f: g.call("cosh", x),
    "cosh": lambda g, x, f: g.call("sinh", x),
    "tanh": lambda g, x, f: g.sub(g.one, g.mul(f, f)),
    "erf": lambda g, x, f: _bell(g, 2.0, x),
    "erfc": lambda g, x, f: _bell(g, -2.0, x),
    "abs": lambda g, x, f: g.call("sign", x),
    "sign": lambda g, x, f: g.zero,
    "frozen": lambda g, x, f: g.zero,
    "lt": lambda g, x, f: g.zero,
    "le": lambda g, x, f: g.zero,
    "and": lambda g, x, f: g.zero,
    "or": lambda g, x, f: g.zero,
    "not": lambda g, x, f: g.zero,
}


def second_partials(graph: ExpressionGraph, node: Node) -> list[tuple[Node, Node, Node]]:
    """Return the triples (x, y, second derivative of `node`), each unordered pair once."""
    op, a = graph.op[node], graph.args[node]
    if op in ("add", "sub", "neg", "select", "min", "max", "abs", "sign", "frozen", "instead"):
        return []
    if op == "mul":
        if a[0] == a[1]:
            return [(a[0], a[0], graph.constant(2.0))]
        return [(a[0], a[1], graph.one)]
    # Differentiated in leaves of their own: in terms of its arguments the normal form may have
    # rewritten a derivative so that it no longer contains the argument's node.
    leaves = [
        x if graph.is_constant(x) else graph.symbol(f"argument {k}", Dependence.UNKNOWN)
        for k, x in enumerate(a)
    ]
    image = graph.apply(op, leaves)
    back = {leaf: x for leaf, x in zip(leaves, a, strict=True) if not graph.is_constant(x)}
    back[image] = node
    slopes = {x: d for x, d in partials(graph, image) if x in back}
    result: list[tuple[Node, Node, Node]] = []
    for i, x in enumerate(slopes):
        rates = _column(graph, [*slopes.values()][i:], x, slopes)
        pairs = zip([*slopes][i:], graph.substitute(rates, back), strict=True)
        result += [(back[x], back[y], d) for y, d in pairs if d != graph.zero]
    return result


def _moving(
    graph: ExpressionGraph, output: Node, variables: Sequence[Node]
) -> tuple[list[Node], set[Node]]:
    """Return what lies between `output` and variables, the last first; the same with these."""
    inner, active = [], set(variables)
    for node in graph.reach([output], stop=dict.fromkeys(variables)):
        if node not in active and any(a in active for a in graph.args[node]):
            inner.append(node)
            active.add(node)
    return inner[::-1], active


def gradient(graph: ExpressionGraph, output: Node, variables: Sequence[Node]) -> list[Node]:
    """Return d output / d variables by one reverse sweep."""
    inner, active = _moving(graph, output, variables)
    bar: dict[Node, Node] = {output: graph.one}
    for node in inner:
        if node not in bar:
            continue
        for x, d in partials(graph, node):
            if x in active:
                bar[x] = graph.add(bar.get(x, graph.zero), graph.mul(bar[node], d))
    return [bar.get(x, graph.zero) for x in variables]


def local_gradient(graph: ExpressionGraph, output: Node, stages: Iterable[Node]) -> Partials:
    """Return (stage, d output / d stage) of the stages that `output` is made of directly."""
    stop = dict.fromkeys(x for x in stages if x != output)
    below = [x for x in graph.reach([output], stop=stop) if x in stop]
    slopes = zip(below, gradient(graph, output, below), strict=True)
    return [(x, d) for x, d in slopes if d != graph.zero]


def pull_back(
    graph: ExpressionGraph,
    forces: Iterable[tuple[Node, Node]],
    variables: Sequence[Node],
    stages: Iterable[Node],
) -> dict[Node, Node]:
    """Return the forces on `variables` and stages that `forces`, pairs (node, force), amount to.

    The force on a stage is formed first, then times its derivatives by what it is made of: that
    has fewer operations than a sweep through all of them.
    """
    cut = {*variables, *stages}
    bar: dict[Node, Node] = {}
    for node, force in forces:
        bar[node] = graph.add(bar.get(node, graph.zero), force)
    for node in reversed(graph.reach(bar)):
        if node in bar and node not in variables:
            for x, d in local_gradient(graph, node, cut):
                bar[x] = graph.add(bar.get(x, graph.zero), graph.mul(d, bar[node]))
    return bar


def directional(
    graph: ExpressionGraph, outputs: Sequence[Node], direction: Mapping[Node, Node]
) -> list[Node]:
    """Return the derivatives of `outputs` along `direction` ({variable: its rate})."""
    dot = dict(direction)
    for node in graph.reach(outputs, stop=direction):
        if node in dot:
            continue
        rate = graph.zero
        if any(dot[a] != graph.zero for a in graph.args[node]):
            for x, d in partials(graph, node):
                rate = graph.add(rate, graph.mul(d, dot[x]))
        dot[node] = rate
    return [dot[node] for node in outputs]


def _column(
    graph: ExpressionGraph, outputs: Sequence[Node], x: Node, variables: Iterable[Node]
) -> list[Node]:
    """Return the derivatives of `outputs` by x, one of `variables`."""
    seed = {y: graph.one if y == x else graph.zero for y in variables}
    return directional(graph, outputs, seed)


def edge_pushing(
    graph: ExpressionGraph, output: Node, variables: Sequence[Node]
) -> tuple[list[Node], Matrix]:
    """Return gradient and Hessian (upper triangle) by edge pushing."""
    g = graph
    inner, active = _moving(g, output, variables)
    bar: dict[Node, Node] = {output: g.one}
    pairs: dict[Node, dict[Node, Node]] = defaultdict(dict)

    def push(i: Node, j: Node, value: Node) -> None:
        if value != g.zero:
            pairs[i][j] = pairs[j][i] = g.add(pairs[i].get(j, g.zero), value)

    for node in inner:
        first = [(x, d) for x, d in partials(g, node) if x in active]
        for p, w in pairs.pop(node, {}).items():
            if p == node:
                for (x, dx), (y, dy) in combinations_with_replacement(first, 2):
                    push(x, y, g.mul(g.mul(w, dx), dy))
                continue
            pairs[p].pop(node, None)
            for x, d in first:
                dw = g.mul(d, w)
                push(x, p, g.mul(g.constant(2.0), dw) if x == p else dw)
        adjoint = bar.get(node, g.zero)
        if adjoint != g.zero:
            for x, y, d in second_partials(g, node):
                if {x, y} <= active:
                    push(x, y, g.mul(adjoint, d))
            for x, d in first:
                bar[x] = g.add(bar.get(x, g.zero), g.mul(adjoint, d))
    places = combinations_with_replacement(enumerate(variables), 2)
    hessian = {(k, m): pairs.get(x, {}).get(y, g.zero) for (k, x), (m, y) in places}
    return [bar.get(x, g.zero) for x in variables], hessian


def forward_over_reverse(
    graph: ExpressionGraph, output: Node, variables: Sequence[Node]
) -> tuple[list[Node], Matrix]:
    """Return gradient and Hessian (upper triangle) column by column."""
    first = gradient(graph, output, variables)
    hessian: Matrix = {}
    for column, x in enumerate(variables):
        rates = _column(graph, first[: column + 1], x, variables)
        hessian.update({(row, column): rate for row, rate in enumerate(rates)})
    return first, hessian


@dataclass(frozen=True)
class Stages:
    """An energy seen as W(I(x)): leaves that stand for the quantities, and their definitions."""

    outer: Node
    leaves: tuple[Node, ...]
    definitions: tuple[Node, ...]


@dataclass(frozen=True)
class StagedHessian:
    """H = core + sum_p first_p (x) u_p, u_p = sum_q curvature_pq first_q, not multiplied out."""

    gradient: list[Node]
    core: Matrix
    first: list[list[Node]]
    curvature: Matrix

    def times(self, g: ExpressionGraph, x: Sequence[Node]) -> list[Node]:
        """Return H x."""
        size = len(x)
        dots = [g.dot(v, x) for v in self.first]
        weights = [
            g.total(g.mul(self.curvature[min(p, q), max(p, q)], d) for q, d in enumerate(dots))
            for p in range(len(dots))
        ]
        return [
            g.total(
                [
                    *(g.mul(self.core[min(k, m), max(k, m)], x[m]) for m in range(size)),
                    *(g.mul(v[k], w) for v, w in zip(self.first, weights, strict=True)),
                ]
            )
            for k in range(size)
        ]

    def weighted(self, g: ExpressionGraph, vectors: Sequence[Sequence[Node]]) -> list[list[Node]]:
        """Return the u_p of vectors that may stand for `first` in other variables."""
        count = len(vectors)
        return [
            [
                g.total(
                    g.mul(self.curvature[min(p, q), max(p, q)], v[k]) for q, v in enumerate(vectors)
                )
                for k in range(len(vectors[p]))
            ]
            for p in range(count)
        ]


def staged(graph: ExpressionGraph, stages: Stages, variables: Sequence[Node]) -> StagedHessian:
    """Differentiate W(I(x)) through the quantities I.

    Returns the gradient and the Hessian as its curvature part ``core`` = sum_p W_p Hess(I_p)
    and the vectors grad(I_p) with W_pq, so that a linear change of variables can be applied to
    the vectors before they are multiplied.
    """
    g = graph
    slopes, curvature = edge_pushing(g, stages.outer, stages.leaves)
    keys = list(curvature)
    replace = dict(zip(stages.leaves, stages.definitions, strict=True))
    flat = g.substitute([*slopes, *(curvature[k] for k in keys)], replace)
    slopes, curvature = (
        flat[: len(slopes)],
        dict(zip(keys, flat[len(slopes) :], strict=True)),
    )
    size, count = len(variables), len(stages.leaves)
    parts = [edge_pushing(g, definition, variables) for definition in stages.definitions]
    grad = [g.total(g.mul(slopes[p], parts[p][0][k]) for p in range(count)) for k in range(size)]
    core = {
        (k, m): g.total(g.mul(parts[p][1][k, m], slopes[p]) for p in range(count))
        for k in range(size)
        for m in range(k, size)
    }
    return StagedHessian(grad, core, [part[0] for part in parts], curvature)


def jacobian(graph: ExpressionGraph, outputs: Sequence[Node], variables: Sequence[Node]) -> Matrix:
    """Return d outputs / d variables, by rows (reverse) or columns (forward), the cheaper."""
    by_rows: Matrix = {}
    for row, output in enumerate(outputs):
        for column, d in enumerate(gradient(graph, output, variables)):
            by_rows[row, column] = d
    by_columns: Matrix = {}
    for column, x in enumerate(variables):
        for row, rate in enumerate(_column(graph, outputs, x, variables)):
            by_columns[row, column] = rate
    rows, columns = list(by_rows.values()), list(by_columns.values())
    return by_rows if graph.cost(rows) <= graph.cost(columns) else by_columns

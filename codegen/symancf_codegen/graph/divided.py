# SPDX-License-Identifier: BSD-3-Clause
r"""Divided differences of expressions in two of their variables, exact where these coincide.

A function of the eigenvalues e of a strain E that does not depend on their order has, in the
axes of E and with :math:`w_a = \partial W/\partial e_a`, the second-order expansion

.. math::
    W(E + dE) = W(e_a + dE_{aa}) + \sum_{a<b} \frac{w_a - w_b}{e_a - e_b} dE_{ab}^2.

The quotient is no 0/0 at e_a = e_b: with x' for x where e_a and e_b have changed places, w_b is
w_a', and :math:`[x] = (x - x')/(e_a - e_b)` follows from the operations that x is made of,

.. math::
    [x + y] = [x] + [y], \quad [x y] = [x] y + x' [y], \quad
    [e^x] = [x]\, e^{x'} \phi([x] (e_a - e_b)), \quad \phi(d) = (e^d - 1)/d,

and so on. Nothing cancels that does not cancel in the derivative itself, whatever e_a - e_b.

References
----------
R. W. Ogden, Non-Linear Elastic Deformations (1984), section 6.1.4 (the expansion); W. Kahan,
R. J. Fateman, Symbolic computation of divided differences, SIGSAM Bulletin 33-2 (1999) 7-28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.dag import Dependence, ExpressionGraph
from symancf_codegen.graph.differentiate import partials
from symancf_codegen.legendre import gauss_legendre

if TYPE_CHECKING:
    from symancf_codegen.graph.dag import Node

#: Arguments nearer to one another are taken by Gauss's rule over the derivative.
NEAR_ARGUMENTS = 0.25

#: Points of that rule: its error is below round-off of functions as smooth as sin.
POINTS = 6

#: Functions whose difference quotient is an integral of the derivative.
_SMOOTH = frozenset(("sin", "cos", "sinh", "cosh", "tanh", "atan", "erf", "erfc"))


class DividedDifferences:
    """The quotients [x] = (x - x')/(a - b) of nodes of a graph, x' being x with a and b swapped."""

    def __init__(self, graph: ExpressionGraph, a: Node, b: Node) -> None:
        self.graph = graph
        self.gap = graph.sub(a, b)
        self._swap = {a: b, b: a}
        self._derivatives = {a: graph.one, b: graph.neg(graph.one)}

    def swapped(self, node: Node) -> Node:
        """Return x'."""
        if node not in self._swap:
            self._swap[node] = self.graph.substitute([node], self._swap)[0]
        return self._swap[node]

    def __call__(self, node: Node) -> Node:
        """Return [x]."""
        g = self.graph
        for x in g.reach([node], stop=self._derivatives):
            if x in self._derivatives:
                continue
            other = self.swapped(x)
            if other == x:
                self._derivatives[x] = g.zero
            elif other in self._derivatives:
                self._derivatives[x] = g.neg(self._derivatives[other])
            else:
                self._derivatives[x] = self._quotient(x, other)
        return self._derivatives[node]

    def _quotient(self, node: Node, other: Node) -> Node:
        """Return [x] of an operation from those of its arguments."""
        g, op, args = self.graph, self.graph.op[node], self.graph.args[node]
        d = [self._derivatives[a] for a in args]
        if op in ("add", "sub"):
            return g.add(d[0], d[1]) if op == "add" else g.sub(d[0], d[1])
        if op in ("neg", "frozen"):
            return g.apply(op, d)
        if op == "mul":
            x, y = args
            return g.add(g.mul(d[0], y), g.mul(self.swapped(x), d[1]))
        if op == "select":
            return self._by_cases(node, other, d)
        if op in ("min", "max"):
            first, second = args if op == "min" else args[::-1]
            return self(g.select(g.call("lt", first, second), args[0], args[1]))
        if op in ("lt", "le", "and", "or", "not"):
            return g.zero
        if op in ("abs", "sign"):
            below, above = (g.call("lt", *x) for x in ((args[0], g.zero), (g.zero, args[0])))
            one = args[0] if op == "abs" else g.one
            return self(g.select(below, g.neg(one), g.select(above, one, g.zero)))
        if any(x != g.zero for x in d[1:]):
            raise CodegenError(f"no divided difference is known for the operation {op!r}")
        return g.mul(d[0], self._slope(node, other, d[0]))

    def _slope(self, node: Node, other: Node, d: Node) -> Node:
        """Return (f(x) - f(x'))/(x - x') of a function f."""
        g, op, x = self.graph, self.graph.op[node], self.graph.args[node][0]
        y, f, h = self.swapped(x), node, other
        step = g.mul(d, self.gap)
        if op == "inv":
            return g.neg(g.mul(f, h))
        if op == "sqrt":
            return g.inv(g.add(f, h))
        if op == "rsqrt":
            product = g.mul(f, h)
            return g.neg(g.div(g.mul(product, product), g.add(f, h)))
        if op == "icbrt":
            product = g.mul(f, h)
            squares = g.total([g.mul(f, f), product, g.mul(h, h)])
            return g.neg(g.div(g.integer_power(product, 3), squares))
        if op in ("exp", "expm1", "expm1mx"):
            own = {"exp": [h], "expm1": [g.one, h], "expm1mx": [g.one, y, h]}[op]
            slope = g.mul(g.total(own), self.over("expm1", step))
            return g.sub(slope, g.one) if op == "expm1mx" else slope
        if op in ("log", "log1p", "log1pmx"):
            scale = g.inv(y if op == "log" else g.add(g.one, y))
            slope = g.mul(scale, self.over("log1p", g.mul(scale, step)))
            return g.sub(slope, g.one) if op == "log1pmx" else slope
        if op in ("pow", "power"):
            _, *arguments = g.args[node]
            n = arguments[0] if op == "pow" else g.mul(arguments[0], g.inv(arguments[1]))
            inside = g.call("and", g.call("lt", g.zero, x), g.call("lt", g.zero, y))
            inverse = g.inv(g.select(inside, y, g.one))
            z = g.select(inside, g.mul(inverse, step), g.zero)
            slope = self.over("log1p", z)
            grown = g.mul(n, self.over("expm1", g.mul(n, g.mul(z, slope))))
            beside = g.inv(g.select(self._is_zero(step), g.one, step))  # one of them is 0
            return g.select(
                inside, g.mul(g.mul(h, inverse), g.mul(grown, slope)), g.mul(g.sub(f, h), beside)
            )
        if op in _SMOOTH:
            return self._smooth(op, x, y, f, h, step)
        raise CodegenError(f"no divided difference is known for the operation {op!r}")

    def over(self, op: str, d: Node, inverse: bool = False) -> Node:
        """Return f(d)/d of a function that vanishes at 0 with the slope 1, 1/1 at 0; or d/f(d)."""
        g = self.graph
        one = g.select(self._is_zero(d), g.one, g.zero)
        value, by = g.add(g.call(op, d), one), g.add(d, one)
        return g.div(by, value) if inverse else g.div(value, by)

    def _smooth(self, op: str, x: Node, y: Node, f: Node, h: Node, step: Node) -> Node:
        g = self.graph
        places, weights = gauss_legendre(POINTS)
        middle, half = g.mul(g.constant(0.5), g.add(x, y)), g.mul(g.constant(0.5), step)
        slopes: list[Node] = []
        for p, w in zip(places, weights, strict=True):
            at = g.add(middle, g.mul(g.constant(p), half))
            leaf = g.symbol("place", Dependence.UNKNOWN)
            ((_, slope),) = partials(g, g.call(op, leaf))
            slopes.append(g.mul(g.constant(w / 2), g.substitute([slope], {leaf: at})[0]))
        near = g.call("lt", g.call("abs", step), g.constant(NEAR_ARGUMENTS))
        far = g.mul(g.sub(f, h), g.inv(g.select(near, g.one, step)))
        return g.select(near, g.total(slopes), far)

    def _by_cases(self, node: Node, other: Node, d: list[Node]) -> Node:
        """Return [x] of a case distinction: across its border the quotient as it stands."""
        g = self.graph
        holds = g.args[node][0]
        there = self.swapped(holds)
        inside = g.select(holds, d[1], d[2])
        if there == holds:
            return inside
        same = g.call("or", g.call("and", holds, there), g.call("not", g.call("or", holds, there)))
        same_case = g.call("or", same, self._is_zero(self.gap))
        jump = g.mul(g.sub(node, other), g.inv(g.select(same_case, g.one, self.gap)))
        return g.select(same_case, inside, jump)

    def _is_zero(self, x: Node) -> Node:
        return self.graph.call("le", self.graph.call("abs", x), self.graph.zero)

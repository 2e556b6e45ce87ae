# SPDX-License-Identifier: BSD-3-Clause
"""Stage 3, lower: SymPy expressions become nodes of the graph.

Symbols are matched by name, whatever their assumptions. Named definitions (geometry, lets)
are resolved when they are first needed, so nothing enters a kernel that no result needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue, Not, Or

from symancf_codegen.differentiate import directional
from symancf_codegen.errors import CompileError

if TYPE_CHECKING:
    from symancf_codegen.dag import Graph, Node

#: SymPy functions that are one operation of the graph, by the name of their class.
FUNCTIONS = {
    "log": "log",
    "log1p": "log1p",
    "log1pmx": "log1pmx",
    "expm1mx": "expm1mx",
    "icbrt": "icbrt",
    "exp": "exp",
    "expm1": "expm1",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "Abs": "abs",
    "sign": "sign",
    "frozen": "frozen",
}


class Scope:
    """Names and what they mean, for one law.

    Parameters
    ----------
    graph : receives the nodes.
    owner : name of the law, for messages.

    Attributes
    ----------
    flow : the rates of leaves, along which the function ``rate`` differentiates.
    """

    def __init__(self, graph: Graph, owner: str) -> None:
        self.graph = graph
        self.owner = owner
        self.nodes: dict[str, Node] = {}
        self.definitions: dict[str, sp.Expr] = {}
        self.flow: dict[Node, Node] = {}
        self._pending: list[str] = []
        self._memo: dict[sp.Basic, Node] = {}

    def bind(self, name: str, node: Node) -> None:
        """Let `name` mean `node`."""
        self.nodes[name] = node

    def define(self, definitions: Iterable[tuple[sp.Symbol, sp.Expr]]) -> None:
        """Let names mean expressions of other names."""
        for symbol, expression in definitions:
            if symbol.name in self.nodes or symbol.name in self.definitions:
                raise CompileError(f"law {self.owner!r}: {symbol.name!r} is defined twice")
            self.definitions[symbol.name] = sp.sympify(expression)

    def override(self, nodes: Mapping[str, Node]) -> Scope:
        """Return a scope in which some names mean other nodes and all else is the same."""
        scope = Scope(self.graph, self.owner)
        scope.nodes = {k: v for k, v in self.nodes.items() if k not in self.definitions}
        scope.definitions, scope.flow = self.definitions, self.flow
        scope.nodes.update(nodes)
        return scope

    def resolve(self, name: str) -> Node:
        """Return the node that `name` means."""
        node = self.nodes.get(name)
        if node is not None:
            return node
        if name in self._pending:
            cycle = " -> ".join([*self._pending, name])
            raise CompileError(f"law {self.owner!r}: {name!r} is defined by itself: {cycle}")
        if name not in self.definitions:
            known = ", ".join(sorted({*self.nodes, *self.definitions}))
            raise CompileError(
                f"law {self.owner!r} uses the symbol {name!r}, which is neither an unknown, a "
                f"reference jet, a section symbol, a parameter nor a named quantity; it knows: "
                f"{known}"
            )
        self._pending.append(name)
        node = self.lower(self.definitions[name])
        self._pending.pop()
        self.nodes[name] = node
        return node

    def lower(self, expression: sp.Basic | float) -> Node:
        """Return the node of a SymPy expression."""
        return self._lower(sp.sympify(expression))

    def _lower(self, e: sp.Basic) -> Node:
        node = self._memo.get(e)
        if node is None:
            node = self._memo[e] = self._convert(e)
        return node

    def _convert(self, e: sp.Basic) -> Node:
        g = self.graph
        if isinstance(e, sp.Symbol):
            return self.resolve(e.name)
        if isinstance(e, BooleanTrue | BooleanFalse):
            return g.constant(float(bool(e)))
        if e.is_number and not e.has(AppliedUndef):
            return self._number(e)
        if isinstance(e, sp.Add):
            return g.total(self._lower(a) for a in e.args)
        if isinstance(e, sp.Mul):
            return self._product(e)
        if isinstance(e, sp.Pow):
            return self._power(e)
        if isinstance(e, sp.Piecewise):
            return self._piecewise(e)
        if isinstance(e, sp.Min | sp.Max):
            op = "min" if isinstance(e, sp.Min) else "max"
            nodes = sorted(self._lower(a) for a in e.args)
            result = nodes[0]
            for node in nodes[1:]:
                result = g.call(op, result, node)
            return result
        if isinstance(e, Relational):
            return self._relation(e)
        if isinstance(e, And | Or):
            nodes = [self._lower(a) for a in e.args]
            result = nodes[0]
            for node in nodes[1:]:
                result = g.call("and" if isinstance(e, And) else "or", result, node)
            return result
        if isinstance(e, Not):
            return g.call("not", self._lower(e.args[0]))
        if type(e).__name__ == "rate":
            return directional(g, [self._lower(e.args[0])], self.flow)[0]
        op = FUNCTIONS.get(type(e).__name__, "")
        if op:
            return g.call(op, *(self._lower(a) for a in e.args))
        raise CompileError(
            f"law {self.owner!r} uses {type(e).__name__}, as in {e}, for which no C is known; "
            f"use +, -, *, /, powers, Piecewise, Min, Max and {', '.join(sorted(FUNCTIONS))}"
        )

    def _number(self, e: sp.Basic) -> Node:
        try:
            return self.graph.constant(float(e))
        except (TypeError, OverflowError) as error:
            raise CompileError(f"law {self.owner!r}: {e} is not a real number") from error

    def _product(self, e: sp.Mul) -> Node:
        nodes = sorted(
            (self._lower(a) for a in e.args), key=lambda n: (not self.graph.is_uniform(n), n)
        )
        result = self.graph.one
        for node in nodes:
            result = self.graph.mul(result, node)
        return result

    def _power(self, e: sp.Pow) -> Node:
        g = self.graph
        base, exponent = e.args
        if base == sp.E:
            return g.call("exp", self._lower(exponent))
        node = self._lower(base)
        if isinstance(exponent, sp.Rational):
            result = g.rational_power(node, int(exponent.p), int(exponent.q))
            if result is not None:
                return result
        return g.call("pow", node, self._lower(exponent))

    def _piecewise(self, e: sp.Piecewise) -> Node:
        *cases, (value, condition) = e.args
        if condition != sp.true:
            raise CompileError(
                f"law {self.owner!r}: {e} says nothing outside its conditions; "
                "end it with (value, True)"
            )
        result = self._lower(value)
        for value, condition in reversed(cases):
            result = self.graph.select(self._lower(condition), self._lower(value), result)
        return result

    def _relation(self, e: Relational) -> Node:
        g = self.graph
        a, b = self._lower(e.lhs), self._lower(e.rhs)
        if e.rel_op == "<":
            return g.call("lt", a, b)
        if e.rel_op == "<=":
            return g.call("le", a, b)
        if e.rel_op == ">":
            return g.call("lt", b, a)
        if e.rel_op == ">=":
            return g.call("le", b, a)
        equal = g.call("and", g.call("le", a, b), g.call("le", b, a))
        return equal if e.rel_op == "==" else g.call("not", equal)

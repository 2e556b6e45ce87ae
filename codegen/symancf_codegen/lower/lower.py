# SPDX-License-Identifier: BSD-3-Clause
"""Stage 3, lower: SymPy expressions become nodes of the graph.

Symbols are matched by name, whatever their assumptions. Named definitions (geometry, lets)
are resolved when they are first needed, so nothing enters a kernel that no result needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue, Not, Or

from symancf_codegen.errors import CodegenError
from symancf_codegen.functions import (
    FUNCTIONS,
    POSSIBLE,
    force_on,
    log_stretch,
    rate,
    stretch_axis,
    symbolic,
)
from symancf_codegen.graph.dag import SOLVED, Dependence
from symancf_codegen.graph.differentiate import gradient, local_gradient
from symancf_codegen.graph.divided import DividedDifferences

if TYPE_CHECKING:
    from symancf_codegen.graph.dag import ExpressionGraph, Node

#: Operations that are not finite everywhere, or whose derivatives are not.
SINGULAR = (
    *("inv", "sqrt", "rsqrt", "icbrt", "power", "pow", "log", "log1p", "log1pmx"),
    *("exp", "expm1", "expm1mx", "sinh", "cosh", "tan", "asin", "acos", "atan2"),
)

#: Rows and columns of the mixed entries of a symmetric matrix, in their order.
MIXED = ((1, 2), (0, 2), (0, 1))

#: A value at which all of them and their derivatives are finite.
REGULAR = 0.5


class Principal:
    """Principal stretches of a point, which a function of the kernel finds with their axes N.

    Attributes
    ----------
    entries : the entries of H = F - I, by rows.
    leaves : what the function finds, in the order of its rows: logarithms, axes, `inverses`.
    inverses : 1/(1 + 2 e) = exp(-2 L).
    stages : whether `strain` are leaves that stand for what follows, whatever is `entries`.
    strain : how E = (F^T F - I)/2 changes in the axes, N_a . dE N_b: of the value 0, and with the
        right derivatives. Entries 11, 22, 33, 23, 13, 12.
    values : the logarithms. With x = dE_aa/(1 + 2 e_a) they change by x - x^2, to second order
        beside mixed entries.
    """

    def __init__(
        self, graph: ExpressionGraph, entries: list[Node], strain: list[Node] | None = None
    ) -> None:
        g = graph
        self.graph, self.entries, self.stages = g, entries, strain is not None
        logarithms = [g.symbol(f"log_stretch{k}", SOLVED) for k in (1, 2, 3)]
        axes = [[g.symbol(f"axis{k}{i}", SOLVED) for i in (1, 2, 3)] for k in (1, 2, 3)]
        self.inverses = [g.symbol(f"inverse_square{k}", SOLVED) for k in (1, 2, 3)]
        self.leaves = [*logarithms, *(x for axis in axes for x in axis), *self.inverses]
        self.strain = strain or self._strain(axes)
        self.values = [
            self._value(*x) for x in zip(logarithms, self.inverses, self.strain[:3], strict=True)
        ]

    @property
    def sizes(self) -> dict[Node, Node]:
        """The round-off of what is found, in units of the last place: that of the largest entry.

        The values and axes are those of a strain that differs by so much; see `magnitudes`.
        """
        g = self.graph
        logarithms, axes = self.leaves[:3], self.leaves[3:12]
        largest = g.total(g.call("abs", x) for x in logarithms)
        return dict.fromkeys(logarithms, largest) | dict.fromkeys(axes, g.one)

    def _strain(self, axes: list[list[Node]]) -> list[Node]:
        g, rows = self.graph, range(0, 9, 3)
        moved = [[g.dot(self.entries[r : r + 3], axis) for r in rows] for axis in axes]
        half = g.constant(0.5)
        strains: list[Node] = []
        for a, b in ((0, 0), (1, 1), (2, 2), *MIXED):
            linear = g.dot(axes[a], moved[b])
            if a != b:
                linear = g.mul(half, g.add(linear, g.dot(axes[b], moved[a])))
            strain_entry = g.add(linear, g.mul(half, g.dot(moved[a], moved[b])))
            strains.append(g.instead(strain_entry, g.zero))
        return strains

    def _value(self, logarithm: Node, inverse: Node, strain: Node) -> Node:
        g = self.graph
        x = g.mul(inverse, strain)
        return g.instead(g.sub(x, g.mul(x, x)), logarithm)

    def completed(self, energy: Node) -> Node:
        r"""Return an energy of the stretches so that its second derivatives are right, too.

        With m = 1 + 2 e = exp(2 L) and w = dW/dL = m dW/de, see `graph.divided`,

        .. math::
            \frac{w_a/m_a - w_b/m_b}{e_a - e_b} =
            \frac{2}{m_a m_b} \Big( \frac{[w]}{2 \phi(2 L_a - 2 L_b)} - w_b \Big).
        """
        g, two = self.graph, self.graph.constant(2.0)
        slopes = gradient(g, energy, self.values)
        terms = [energy]
        for (a, b), mixed in zip(MIXED, self.strain[3:], strict=True):
            bracket = DividedDifferences(g, self.values[a], self.values[b])
            spread = bracket.over("expm1", g.mul(two, bracket.gap), inverse=True)
            change = g.mul(g.mul(g.constant(0.5), spread), bracket(slopes[a]))
            both = g.mul(two, g.mul(self.inverses[a], self.inverses[b]))
            constant = g.call("frozen", g.mul(both, g.sub(change, slopes[b])))
            terms.append(g.mul(constant, g.mul(mixed, mixed)))
        return g.total(terms)


class LawScope:
    """Names and what they mean, for one law.

    Parameters
    ----------
    graph : receives the nodes.
    owner : what messages call the law.

    Attributes
    ----------
    rates : the rates of leaves, from which the function ``rate`` derives all others; these are
        kept as well.
    forces : what the function ``force_on`` of a name means.
    guarded : whether a branch of a `Piecewise` was kept from what it cannot bear.
    principal : the principal stretches that expressions have asked for.
    solves : whether a function of the kernel finds them before; else each is an operation.
    """

    def __init__(self, graph: ExpressionGraph, owner: str) -> None:
        self.graph = graph
        self.owner = owner
        self.nodes: dict[str, Node] = {}
        self.definitions: dict[str, sp.Expr] = {}
        self.rates: dict[Node, Node] = {}
        self.forces: dict[str, Node] = {}
        self.guarded = False
        self.principal: Principal | None = None
        self.solves = False
        self._positive: set[Node] = set()
        self._pending: list[str] = []
        self._memo: dict[sp.Basic, Node] = {}

    def bind(self, name: str, node: Node) -> None:
        """Let `name` mean `node`."""
        self.nodes[name] = node

    def define(self, definitions: Iterable[tuple[sp.Symbol, sp.Expr]]) -> None:
        """Let names mean expressions of other names."""
        for symbol, expression in definitions:
            if symbol.name in self.nodes or symbol.name in self.definitions:
                raise CodegenError(f"{self.owner}: {symbol.name!r} is defined twice")
            self.definitions[symbol.name] = symbolic(expression)

    def override(self, nodes: Mapping[str, Node]) -> LawScope:
        """Return a scope in which some names mean other nodes and all else is the same."""
        scope = LawScope(self.graph, self.owner)
        scope.nodes = {k: v for k, v in self.nodes.items() if k not in self.definitions}
        scope.definitions, scope.rates = self.definitions, self.rates
        scope.solves = self.solves
        scope.nodes.update(nodes)
        return scope

    def resolve(self, name: str) -> Node:
        """Return the node that `name` means."""
        node = self.nodes.get(name)
        if node is not None:
            return node
        if name in self._pending:
            cycle = " -> ".join([*self._pending, name])
            raise CodegenError(
                f"{self.owner}: {name!r} is defined by itself: {cycle}",
                asked=name,
                given=(*self._pending, name),
            )
        if name not in self.definitions:
            names = ", ".join(sorted({*self.nodes, *self.definitions}))
            raise CodegenError(
                f"{self.owner} uses the symbol {name!r}, which is neither an unknown, a "
                f"reference jet, a section symbol, a parameter nor a named quantity; it knows: "
                f"{names}",
                asked=name,
                possible=sorted({*self.nodes, *self.definitions}),
            )
        self._pending.append(name)
        node = self.lower(self.definitions[name])
        self._pending.pop()
        self.nodes[name] = node
        return node

    def stages(self) -> set[Node]:
        """Return the nodes of the moving definitions that were needed until now.

        Without numbers as factors, which the normal form of a product takes out of them.
        """
        g, nodes = self.graph, self.nodes
        nodes_of_definitions = (g.core(nodes[name]) for name in self.definitions if name in nodes)
        return {node for node in nodes_of_definitions if g.depends[node] & Dependence.UNKNOWN}

    def rate(self, node: Node) -> Node:
        """Return the rate of a node, by way of the rates of the definitions it is made of."""
        if node not in self.rates:
            g = self.graph
            if self.principal and set(self.principal.values) & set(g.reach([node])):
                raise CodegenError(
                    f"{self.owner} asks for the rate of principal stretches, whose own "
                    "tangent is not known: write it in the rate of C or E_gl"
                )
            stages = {*self.stages(), *self.rates, *map(g.core, self.rates.values())}
            slopes = local_gradient(g, node, stages)
            terms = Counter(g.mul(d, self.rate(x)) for x, d in slopes)  # of two alike, one twice
            self.rates[node] = g.total(g.mul(g.constant(n), x) for x, n in terms.items())
        return self.rates[node]

    def lower(self, expression: sp.Basic | float) -> Node:
        """Return the node of a SymPy expression."""
        return self._lower(symbolic(expression))

    def _lower(self, e: sp.Basic) -> Node:
        node = self._memo.get(e)
        if node is None:
            node = self._memo[e] = self._convert(e)
        return node

    def _convert(self, e: sp.Basic) -> Node:
        if isinstance(e, BooleanTrue | BooleanFalse):
            return self.graph.constant(float(bool(e)))
        if e.is_number and not e.has(AppliedUndef):
            return self._number(e)
        for kinds, rule in _RULES:
            if isinstance(e, kinds):
                return rule(self, e)
        op = FUNCTIONS.get(type(e).__name__, "")
        if op:
            return self.graph.call(op, *map(self._lower, e.args))
        raise CodegenError(
            f"{self.owner} uses {type(e).__name__}, as in {e}, for which no C is known; "
            f"use {POSSIBLE}",
            asked=type(e).__name__,
            given=str(e),
        )

    def _symbol(self, e: sp.Symbol) -> Node:
        node = self.resolve(e.name)
        if e.is_positive:
            self._positive.add(node)
        return node

    def _sum(self, e: sp.Add) -> Node:
        return self.graph.total(map(self._lower, e.args))

    def _extremum(self, e: sp.Min | sp.Max) -> Node:
        op = "min" if isinstance(e, sp.Min) else "max"
        return reduce(partial(self.graph.call, op), sorted(map(self._lower, e.args)))

    def _junction(self, e: And | Or) -> Node:
        op = "and" if isinstance(e, And) else "or"
        return reduce(partial(self.graph.call, op), [*map(self._lower, e.args)])

    def _negation(self, e: Not) -> Node:
        return self.graph.call("not", self._lower(e.args[0]))

    def _step(self, e: sp.Heaviside) -> Node:
        g = self.graph
        x, middle = map(self._lower, e.args)
        above, below = g.call("lt", g.zero, x), g.call("lt", x, g.zero)
        return g.select(above, g.one, g.select(below, g.zero, middle))

    def _rate(self, e: sp.Function) -> Node:
        return self.rate(self._lower(e.args[0]))

    def _force(self, e: sp.Function) -> Node:
        return self.forces[e.args[0].name]

    def _principal(self, e: sp.Function) -> Node:
        """Return the logarithm of a principal stretch."""
        k, entries = int(e.args[0]), [*map(self._lower, e.args[1:])]
        g = self.graph
        if not self.solves:
            return g.call("log_stretch", g.constant(k), *entries)
        return self._stretches(entries).values[k - 1]

    def _axis(self, e: sp.Function) -> Node:
        """Return a component of the axis of a principal stretch."""
        k, i = int(e.args[0]), int(e.args[1])
        return self._stretches([*map(self._lower, e.args[2:])]).leaves[3 * k + i - 1]

    def _stretches(self, entries: list[Node]) -> Principal:
        """Return the principal stretches of H, which are those of one H in a law."""
        if self.principal is None:
            self.principal = Principal(self.graph, entries)
        elif self.principal.entries != entries and not self.principal.stages:
            raise CodegenError(f"{self.owner} asks for principal stretches of several F")
        return self.principal

    def _number(self, e: sp.Basic) -> Node:
        try:
            number = float(e)
            if math.isfinite(number):
                return self.graph.constant(number)
        except (TypeError, OverflowError):
            pass
        raise CodegenError(
            f"{self.owner}: {e} is no finite real number", asked="number", given=str(e)
        )

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
        if isinstance(exponent, sp.Float):
            near = Fraction(float(exponent)).limit_denominator(4)
            if float(near) == float(exponent):
                exponent = sp.Rational(near.numerator, near.denominator)
        if exponent.is_number and not exponent.is_Integer and exponent > 1 and not base.is_positive:
            p, q = (exponent.p, exponent.q) if exponent.is_Rational else (float(exponent), 1)
            return g.power(node, float(p), float(q))
        if isinstance(exponent, sp.Rational):
            result = g.rational_power(node, int(exponent.p), int(exponent.q))
            if result is not None:
                return result
        return g.call("pow", node, self._lower(exponent))

    def _piecewise(self, e: sp.Piecewise) -> Node:
        *cases, (value, condition) = e.args
        if condition != sp.true:
            raise CodegenError(
                f"{self.owner}: {e} says nothing outside its conditions; end it with (value, True)",
                asked="Piecewise",
                given=str(e),
            )
        g = self.graph
        remaining = g.one  # where none of the conditions before holds
        branches: list[tuple[Node, Node]] = []
        for branch, condition in cases:
            holds = self._lower(condition)
            here = holds if remaining == g.one else g.call("and", remaining, holds)
            branches.append((holds, self._guard(self._lower(branch), here)))
            no = g.call("not", holds)
            remaining = no if remaining == g.one else g.call("and", remaining, no)
        result = self._guard(self._lower(value), remaining)
        for holds, node in reversed(branches):
            result = g.select(holds, node, result)
        return result

    def _guard(self, branch: Node, active: Node) -> Node:
        """Return a branch that stays finite, with its derivatives, where it is not `active`.

        Otherwise an infinite derivative times the zero of the other branch is no number. Principal
        stretches stay what they are: all branches have them, and `Principal.completed` asks for
        derivatives by them.
        """
        g = self.graph
        if g.is_constant(active):
            return branch
        image = {} if self.principal is None else {x: x for x in self.principal.values}
        for node in g.reach([branch], stop=dict(image)):
            if node in image:
                continue
            args = [image[a] for a in g.args[node]]
            op = g.op[node]
            if op in SINGULAR and not g.is_uniform(node):
                k = 1 if op == "atan2" else 0
                if not self._is_positive(g.args[node][k]):
                    args[k] = g.select(active, args[k], g.constant(REGULAR))
                    self.guarded = True
            image[node] = node if tuple(args) == g.args[node] else g.apply(op, args)
        return image[branch]

    def _is_positive(self, node: Node) -> bool:
        g = self.graph
        roots = g.op[node] in ("inv", "sqrt", "rsqrt", "icbrt")
        return node in self._positive or (roots and self._is_positive(g.args[node][0]))

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


#: How expressions become nodes, by their classes.
_RULES: tuple[tuple[type | tuple[type, ...], Callable[[LawScope, Any], Node]], ...] = (
    (sp.Symbol, LawScope._symbol),
    (sp.Add, LawScope._sum),
    (sp.Mul, LawScope._product),
    (sp.Pow, LawScope._power),
    (sp.Piecewise, LawScope._piecewise),
    ((sp.Min, sp.Max), LawScope._extremum),
    (Relational, LawScope._relation),
    ((And, Or), LawScope._junction),
    (Not, LawScope._negation),
    (sp.Heaviside, LawScope._step),
    (rate, LawScope._rate),
    (log_stretch, LawScope._principal),
    (stretch_axis, LawScope._axis),
    (force_on, LawScope._force),
)

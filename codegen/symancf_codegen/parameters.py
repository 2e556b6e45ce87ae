# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of a law by parameters along one direction, and by all of them or the reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from symancf_codegen.declare import RATE_FACTOR
from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.dag import SOLVED, Dependence, ExpressionGraph, Node
from symancf_codegen.graph.differentiate import directional, gradient
from symancf_codegen.graph.divided import DividedDifferences
from symancf_codegen.lower.lower import MIXED
from symancf_codegen.modes import WEIGHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symancf_codegen.lower.point import LoweredLaw


def change_of_unknowns(point: LoweredLaw, rates: Sequence[Node]) -> dict[Node, Node]:
    """Return how unknowns of the point follow equations that change at `rates`."""
    local, g = point.local, point.graph
    if local is None or local.shared:
        return {}
    pairs = zip(local.unknowns, local.inverse, strict=True)
    return {x: g.neg(g.dot(row, rates)) for x, row in pairs}


def along_parameters(point: LoweredLaw, nodes: list[Node]) -> list[Node]:
    """Return derivatives along a direction of all parameters.

    The variables are parameters' functions, too, so they are put in before; and what is `frozen`
    for tangents alone moves.
    """
    g = point.graph
    equations = [] if point.local is None else point.local.equations
    flat = _moving(g, g.substitute([*equations, *nodes], point.replace))
    rates = {
        point.nodes[name]: g.symbol(f"rate {name}", Dependence.DIRECTION)
        for name in _parameters(point)
    }
    rates |= change_of_unknowns(point, directional(g, flat[: len(equations)], rates))
    return _with_finite_logarithms(g, directional(g, flat[len(equations) :], rates), flat)


@dataclass
class Pulled:
    """Derivatives of a sum of the residual and what the point remembers next; see `pull`.

    Attributes
    ----------
    by : names of parameters and memory, or of leaves of the reference.
    nodes : derivatives by the leaves, and then by these; in `shape` by these alone.
    unknowns : derivatives by the unknowns of the cell, which `nodes` do not hold fixed.
    """

    by: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    unknowns: list[Node] = field(default_factory=list)


def pull(point: LoweredLaw, residual: list[Node], modes: Sequence[str]) -> Pulled:
    r"""Return derivatives of a sum by leaves, parameters and memory; in `shape` by the reference.

    Nothing of a kernel whose `modes` do not ask for it.

    The sum is s = d . f + m . h', with weights d of the residual f and m of what the point
    remembers next, h' = U(u, h, p); see `Results.pull`. Unknowns x of the point solve G = 0: with
    :math:`y = -G_x^{-T} s_x` held the derivatives are those of s + y . G; of unknowns of the cell
    G and :math:`s_x` are sums over its points, and the leaves ``multiplier k`` are y. What is
    `frozen` for tangents alone moves.

    Raises
    ------
    CodegenError : what is remembered depends on axes of principal stretches, and is no tensor;
        `modes` ask for both.
    """
    asked = [mode for mode in modes if mode in WEIGHING]
    if not asked:
        return Pulled()
    if len(asked) > 1:
        raise CodegenError(f"a kernel has one of the functions {', '.join(asked)}, not several")
    g, local = point.graph, point.local
    equations = [] if local is None else local.equations
    weights = [g.symbol(f"d_{name}", Dependence.DIRECTION) for name in point.leaves]
    seeds = [g.symbol(f"seed {name}", Dependence.DIRECTION) for name, _ in point.update]
    update = [node for _, node in point.update]
    turns = _turns(point, g.dot(seeds, update))
    pairs = [node for pair in turns for node in pair]
    flat = _moving(g, g.substitute([*residual, *update, *equations, *pairs], point.replace))
    count = len(weights) + len(seeds)
    total = g.dot([*weights, *seeds], flat[:count])
    for k in range(len(flat) - len(pairs), len(flat), 2):
        total = g.add(total, g.mul(g.call("frozen", flat[k]), flat[k + 1]))
    flat = flat[: len(flat) - len(pairs)]
    total, answers, slopes = _with_equations(point, total, flat[count:])
    by, variables = _variables(point, flat, shape="shape" in modes)
    found = gradient(g, total, variables)
    nodes = _with_finite_logarithms(g, [*g.substitute(found, answers), *slopes], flat)
    return Pulled(by, nodes[: len(found)], nodes[len(found) :])


def _variables(
    point: LoweredLaw, nodes: Sequence[Node], *, shape: bool
) -> tuple[list[str], list[Node]]:
    """Return the names of parameters and memory, and by what derivatives of nodes are taken.

    In `shape` those by the leaves of the reference alone.
    """
    g = point.graph
    if shape:
        leaves = [x for x in g.reach(nodes) if g.op[x] == "symbol" and g.name[x][:2] == "R_"]
        return [g.name[x] for x in leaves], leaves
    by = [*_parameters(point), *(m.name for m in point.law.history)]
    leaves = [g.symbol(name, Dependence.UNKNOWN) for name in point.leaves]
    remembers = {m.name: g.symbol(m.name, Dependence.CELL) for m in point.law.history}
    known = point.nodes | remembers
    return by, [*leaves, *(known[name] for name in by)]


def _turns(point: LoweredLaw, total: Node) -> list[tuple[Node, Node]]:
    r"""Return factors, and strains, by which a sum changes as axes of principal stretches turn.

    In the axes :math:`N_a` of a strain E, :math:`dN_a = \sum_b N_b\, dE_{ab}/(e_a - e_b)`. A sum of
    :math:`f_a\, N_a \cdot M N_a`, where f_a and f_b change places as the stretches do, changes by
    :math:`\sum_{a<b} [p_{ab}]/(m_b \phi)\, dE_{ab}` with :math:`p_{ab} = N_b \cdot \partial s/
    \partial N_a`, see `Principal.completed`.

    Raises
    ------
    CodegenError : the sum is none of that kind.
    """
    g, principal = point.graph, point.principal
    if principal is None:
        return []
    axes = [principal.leaves[k : k + 3] for k in (3, 6, 9)]
    if {x for axis in axes for x in axis}.isdisjoint(g.reach([total])):
        return []
    still = [g.symbol(f"stretch held {k}", SOLVED) for k in range(3)]
    held = g.substitute([total], dict(zip(principal.values, still, strict=True)))[0]
    slopes = [gradient(g, held, axis) for axis in axes]
    moving = dict(zip(still, principal.values, strict=True))
    turns: list[tuple[Node, Node]] = []
    for (a, b), strain in zip(MIXED, principal.strain[3:], strict=True):
        own, other = g.dot(axes[b], slopes[a]), g.dot(axes[a], slopes[b])
        _require_isotropic(point, own, other, {still[a]: still[b], still[b]: still[a]})
        own = g.substitute([own], moving)[0]
        bracket = DividedDifferences(g, principal.values[a], principal.values[b])
        spread = bracket.over("expm1", g.mul(g.constant(2.0), bracket.gap), inverse=True)
        factor = g.mul(principal.inverses[b], g.mul(bracket(own), spread))
        turns.append((factor, strain))
    return turns


def _require_isotropic(point: LoweredLaw, one: Node, other: Node, swap: dict[Node, Node]) -> None:
    """Raise where one node is not the other one with two stretches in each other's places."""
    g = point.graph
    there = g.substitute([one], swap)[0]
    leaves = [g.name[n] for n in g.reach([there, other]) if g.op[n] == "symbol"]
    random = Random(1)
    for _ in range(3):
        at = {name: random.uniform(0.5, 1.5) for name in leaves}
        at |= {g.name[x]: random.uniform(-1.0, 1.0) for x in swap if g.name[x] in at}
        found, known = g.evaluate([there, other], at)
        if not abs(found - known) <= 1e-9 * max(abs(found), abs(known)):
            raise CodegenError(
                f"{point.law.words} remembers functions of the axes of principal stretches that "
                "are no isotropic tensors, whose derivatives are not known",
                asked="pull",
                given=point.law.name,
            )


def _with_equations(
    point: LoweredLaw, total: Node, equations: list[Node]
) -> tuple[Node, dict[Node, Node], list[Node]]:
    """Return s + y . G, what to put in for y once derivatives are taken, and s_x of a cell."""
    local, g = point.local, point.graph
    answers: dict[Node, Node] = {}
    if local is None:
        return total, answers, []
    slopes = gradient(g, total, local.unknowns)
    for c, equation in enumerate(equations):
        held = multiplier(g, c)
        if not local.shared:
            answers[held] = g.neg(g.dot([row[c] for row in local.inverse], slopes))
        total = g.add(total, g.mul(held, equation))
    return total, answers, slopes if local.shared else []


def multiplier(g: ExpressionGraph, equation: int) -> Node:
    """Return the leaf of the weight of an equation in `pull` and `shape`."""
    return g.symbol(f"multiplier {equation}", SOLVED)


def _parameters(point: LoweredLaw) -> list[str]:
    """Return the names of the parameters by which derivatives are taken."""
    return [p.name for p in point.law.parameters if p.name != RATE_FACTOR]


def _moving(g: ExpressionGraph, nodes: list[Node]) -> list[Node]:
    """Return nodes in which what is `frozen` for tangents moves."""
    image: dict[Node, Node] = {}
    for node in g.reach(nodes):
        args = [image[a] for a in g.args[node]]
        same = node if tuple(args) == g.args[node] else g.apply(g.op[node], args)
        image[node] = args[0] if g.op[node] == "frozen" else same
    return [image[node] for node in nodes]


def _with_finite_logarithms(
    g: ExpressionGraph, nodes: list[Node], computed: list[Node]
) -> list[Node]:
    """Return derivatives with log x, of exponents n of x, as 0 at x = 0, but those that are known.

    x**n log x is 0 there, also where n does not change.
    """
    before = set(g.reach(computed))
    logs = [n for n in g.reach(nodes) if g.op[n] == "log" and n not in before]
    positive = [g.select(g.call("lt", g.zero, g.args[n][0]), g.args[n][0], g.one) for n in logs]
    return g.substitute(nodes, dict(zip(logs, (g.call("log", x) for x in positive), strict=True)))

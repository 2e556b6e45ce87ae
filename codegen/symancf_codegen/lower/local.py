# SPDX-License-Identifier: BSD-3-Clause
"""Unknowns that a law has beside the jets, of its point or of the cell, as nodes of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.dag import SOLVED, Dependence, ExpressionGraph, Node
from symancf_codegen.graph.differentiate import Matrix, gradient
from symancf_codegen.graph.reduce import LinearMap

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw
    from symancf_codegen.lower.lower import LawScope


@dataclass
class LocalUnknowns:
    """Unknowns of a point or cell as nodes of a graph.

    Attributes
    ----------
    unknowns, start : leaves, and where they begin.
    equations : what vanishes.
    inverse : leaves of the inverse of d equations / d unknowns, by rows.
    stationary : whether the equations are the derivatives of the energy.
    shared : whether they belong to the cell.
    modes, to_modes : leaves of what unknowns of the cell amount to at the point, and the map.
    constant : of the variables, what no jet multiplies.
    moves : d variable / d mode.
    """

    unknowns: list[Node]
    start: list[Node]
    equations: list[Node]
    inverse: list[list[Node]]
    stationary: bool
    shared: bool
    modes: list[Node] = field(default_factory=list)
    to_modes: LinearMap | None = None
    constant: list[Node] = field(default_factory=list)
    moves: Matrix = field(default_factory=dict)


def modes_of(law: PointLaw, scope: LawScope) -> tuple[list[Node], LinearMap]:
    """Bind the unknowns of the law and what they amount to; return leaves of this and the map."""
    g = scope.graph
    own = {x.symbol.name: g.symbol(x.symbol.name, SOLVED) for x in law.local}
    for name, node in own.items():
        scope.bind(name, node)
    column = {name: k for k, name in enumerate(own)}
    leaves = [g.symbol(f"mode {s.name}", SOLVED) for s, _ in law.modes]
    rows = [{column[x.name]: scope.lower(e) for x, e in row.items()} for _, row in law.modes]
    for (s, _), leaf in zip(law.modes, leaves, strict=True):
        scope.bind(s.name, leaf)
    inside = {c for row in rows for c in row}
    for name, node in own.items() if law.modes else ():
        if column[name] not in inside:
            leaves.append(node)
            rows.append({column[name]: g.one})
    return leaves, LinearMap(rows, len(own))


def linear_in(
    g: ExpressionGraph, values: list[Node], modes: list[Node], moves: Matrix
) -> list[Node]:
    """Return the values as sums of slopes times modes, where the slopes know no mode."""
    rest = g.substitute(values, dict.fromkeys(modes, g.zero))
    own_modes = set(modes)
    rows = []
    for v, (value, start) in enumerate(zip(values, rest, strict=True)):
        row = [moves[v, k] for k in range(len(modes))]
        if own_modes.isdisjoint(g.reach(row)):
            value = g.total([start, *(g.mul(a, x) for a, x in zip(row, modes, strict=True))])
        rows.append(value)
    return rows


def local_of(law: PointLaw, scope: LawScope, density: Node | None) -> LocalUnknowns | None:
    """Lower the unknowns of a point and their equations, one for each."""
    if not law.local:
        return None
    g, size = scope.graph, len(law.local)
    unknowns = [scope.nodes[x.symbol.name] for x in law.local]
    equations = _equations(law, scope, density, unknowns)
    start = [scope.lower(x.start) for x in law.local]
    _require_solvable(law, g, unknowns, start, equations)
    return LocalUnknowns(
        unknowns=unknowns,
        start=start,
        equations=equations,
        inverse=[[g.symbol(f"inverse {k} {i}", SOLVED) for i in range(size)] for k in range(size)],
        stationary=all(x.equation is None for x in law.local),
        shared=law.shared,
    )


def _equations(
    law: PointLaw, scope: LawScope, density: Node | None, unknowns: list[Node]
) -> list[Node]:
    """Return what vanishes: the equations of the law, else slopes of its energy."""
    # of the unknowns of a point the weight does not matter
    energy = density if law.shared or law.energy is None else scope.lower(law.energy)
    equations = [None if x.equation is None else scope.lower(x.equation) for x in law.local]
    if energy is None and None in equations:
        name = law.local[equations.index(None)].symbol.name
        raise CodegenError(
            f"{law.words} has no energy: give an equation for {name}",
            asked="equation",
            given=name,
        )
    g = scope.graph
    slopes = [g.zero] * len(equations) if energy is None else gradient(g, energy, unknowns)
    return [s if e is None else e for s, e in zip(slopes, equations, strict=True)]


def _require_solvable(
    law: PointLaw,
    g: ExpressionGraph,
    unknowns: list[Node],
    start: list[Node],
    equations: list[Node],
) -> None:
    """Check that unknowns begin at what is known, and that the equations of a point have them."""
    for x, node, equation in zip(law.local, start, equations, strict=True):
        if g.depends[node] & Dependence.UNKNOWN:
            raise CodegenError(
                f"{law.words}: {x.symbol.name} begins at {x.start}, which depends on the "
                "unknowns: it may depend on parameters and the reference only",
                asked="start",
                given=str(x.start),
            )
        if not law.shared and not set(unknowns) & set(g.reach([equation])):
            raise CodegenError(
                f"{law.words}: {'the energy' if x.equation is None else x.equation} does not "
                f"determine {x.symbol.name}",
                asked=x.symbol.name,
                given="energy" if x.equation is None else str(x.equation),
            )

# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of laws whose variables follow from jets by a map with unknowns of the cell.

The energy is W(v(u, x)), bilinear in jets u and modes x of the unknowns: it is differentiated in
its variables v as ever, and equations, slopes and columns follow from the slopes of v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symancf_codegen.graph.dag import Dependence, ExpressionGraph, Node
from symancf_codegen.graph.differentiate import (
    Matrix,
    edge_pushing,
    forward_over_reverse,
    jacobian,
    staged,
)
from symancf_codegen.graph.magnitude import SMALLEST_UNKNOWN, magnitudes
from symancf_codegen.graph.reduce import add_dyads

if TYPE_CHECKING:
    from symancf_codegen.lower.point import LoweredLaw

#: How the law was differentiated; gradient and Hessian in variables and modes.
Inner = tuple[str, list[Node], Matrix]

#: Rows of a sparse matrix: pairs of column and entry.
Moves = Sequence[Sequence[tuple[int, Node]]]


def inner_derivatives(point: LoweredLaw) -> Inner | None:
    """Return the cheapest derivatives where unknowns of the cell are in the map to the variables.

    The energy is then W(v(u, x), x), v linear in u: its second derivatives in v and x are found
    once, and those in u and x follow from the slopes of v.
    """
    local, g, density = point.local, point.graph, point.density
    if local is None or not local.modes or local.to_modes is None or density is None:
        return None
    y = [*point.variables, *local.modes]
    ways: list[Inner] = []
    for name, method in (
        ("edge pushing", edge_pushing),
        ("forward over reverse", forward_over_reverse),
    ):
        ways.append((name, *method(g, density, y)))
    if point.stages is not None:
        s = staged(g, point.stages, y)
        tangent = add_dyads(g, s.core, s.first, s.weighted(g, s.first))
        ways.append(("staged", s.gradient, tangent))
    costs = [g.cost([*first, *matrix.values()]) for _, first, matrix in ways]
    return ways[costs.index(min(costs))]


def moved_map(
    point: LoweredLaw, inner: Inner, complete: bool
) -> tuple[list[Node], Matrix, list[list[Node]], list[Node]]:
    """Return equations, their slopes, d residual / d unknown if `complete`, and sizes."""
    local, g = point.local, point.graph
    assert local is not None
    assert local.to_modes is not None
    _, first, matrix = inner
    moves = _moves(point)
    turned = _times_moves(g, matrix, moves)
    full_matrix = local.to_modes.pull_matrix(g, _slopes(point, first, moves, turned), True)
    unknowns = range(len(local.unknowns))
    slopes = {
        (r, c): full_matrix.get((min(r, c), max(r, c)), g.zero) for r in unknowns for c in unknowns
    }
    columns: list[list[Node]] = [[g.zero] * len(point.leaves) for _ in unknowns]
    if complete:
        columns = _columns(point, first, turned)
    pairs = [(k, g.mul(a, x)) for x, row in zip(first, moves, strict=True) for k, a in row]
    forces = [g.total(x for c, x in pairs if c == k) for k in range(len(local.modes))]
    return local.to_modes.pull(g, forces), slopes, columns, _sizes(point, inner, moves)


def _moves(point: LoweredLaw) -> Moves:
    """Return d (variable or mode) / d mode, by rows."""
    local, g = point.local, point.graph
    assert local is not None
    modes = range(len(local.modes))
    rows = [
        [(k, local.moves[v, k]) for k in modes if local.moves[v, k] != g.zero]
        for v in range(len(point.variables))
    ]
    return rows + [[(k, g.one)] for k in modes]


def _times_moves(g: ExpressionGraph, matrix: Matrix, moves: Moves) -> list[dict[int, Node]]:
    """Return second derivatives times slopes, H A, by rows."""
    turned: list[dict[int, Node]] = []
    for v in range(len(moves)):
        row: dict[int, list[Node]] = {}
        for w, entries in enumerate(moves):
            d = matrix.get((min(v, w), max(v, w)), g.zero)
            for k, a in entries if d != g.zero else ():
                row.setdefault(k, []).append(g.mul(d, a))
        turned.append({k: g.total(x) for k, x in row.items()})
    return turned


def _slopes(
    point: LoweredLaw, first: Sequence[Node], moves: Moves, turned: Sequence[Mapping[int, Node]]
) -> Matrix:
    """Return d equation / d mode, upper triangle: A^T H A and forces times d A / d mode."""
    local, g = point.local, point.graph
    assert local is not None
    size = len(local.modes)
    keys = [key for key, node in local.moves.items() if node != g.zero]
    curved = jacobian(g, [local.moves[key] for key in keys], local.modes)
    slopes: Matrix = {}
    for k in range(size):
        rows = [(v, a) for v, entries in enumerate(moves) for c, a in entries if c == k]
        for m in range(k, size):
            terms = [g.mul(a, turned[v][m]) for v, a in rows if m in turned[v]]
            terms += [g.mul(first[v], curved[r, m]) for r, (v, c) in enumerate(keys) if c == k]
            slopes[k, m] = g.total(terms)
    return slopes


def _columns(
    point: LoweredLaw, first: Sequence[Node], turned: Sequence[Mapping[int, Node]]
) -> list[list[Node]]:
    """Return d residual / d unknown, by unknowns."""
    local, g = point.local, point.graph
    assert local is not None
    assert local.to_modes is not None
    columns: list[list[Node]] = [[g.zero] * len(point.leaves) for _ in local.unknowns]
    linear = enumerate(point.to_variables.rows)
    coefficients = [(v, c, a) for v, row in linear for c, a in row.items()]
    bent = jacobian(g, [a for *_, a in coefficients], local.modes)
    of_variables = turned[: len(point.variables)]
    for k, row in enumerate(local.to_modes.rows):
        jets = point.to_variables.pull(g, [of.get(k, g.zero) for of in of_variables])
        for r, (v, c, _) in enumerate(coefficients):
            jets[c] = g.add(jets[c], g.mul(first[v], bent[r, k]))
        leaves = point.to_jets.pull(g, jets)
        for m, a in row.items():
            columns[m] = [g.add(x, g.mul(a, y)) for x, y in zip(columns[m], leaves, strict=True)]
    return columns


def _sizes(point: LoweredLaw, inner: Inner, moves: Moves) -> list[Node]:
    """Return bounds of what the equations of mapped unknowns are made of.

    Round-off of a force W_v is that of m_v + |W_v| + s sum_w |W_vw|, where m_v is what it is made
    of at rest, and s the sum of the sizes of what the variables w are made of; `moves` are the
    slopes by modes. All variables have the size of all: they are components, which in other axes
    have parts of each other, also where some are zero in these, and unknowns that follow from one
    another have the error of the largest.
    """
    local, g = point.local, point.graph
    assert local is not None
    assert local.to_modes is not None
    _, first, matrix = inner
    count, total, resting = len(point.variables), _size_of_variables(point), _at_rest(point, first)
    of_modes: list[list[Node]] = [[] for _ in local.modes]
    for v, entries in enumerate(moves):
        slopes = [_size(g, matrix[min(v, w), max(v, w)]) for w in range(len(moves))]
        own = [g.mul(a, _size(g, x)) for a, x in zip(slopes[count:], local.modes, strict=True)]
        along = g.mul(total, g.total(slopes[:count]))
        force = g.total([resting[v], _size(g, first[v]), along, *own])
        for k, a in entries:
            of_modes[k].append(g.mul(_size(g, a), force))
    of_unknowns: list[list[Node]] = [[] for _ in local.unknowns]
    for row, sizes_of_row in zip(local.to_modes.rows, of_modes, strict=True):
        total = g.total(sizes_of_row)
        for m, a in row.items():
            of_unknowns[m].append(g.mul(_size(g, a), total))
    return [g.total(x) for x in of_unknowns]


def _size_of_variables(point: LoweredLaw) -> Node:
    """Return the sum of the sizes of what the variables are made of."""
    local, g = point.local, point.graph
    assert local is not None
    jets = point.to_jets.apply(g, [g.symbol(name, Dependence.UNKNOWN) for name in point.leaves])
    terms = [g.constant(SMALLEST_UNKNOWN), *(_size(g, x) for x in local.constant)]
    linear = (item for row in point.to_variables.rows for item in row.items())
    terms += [g.mul(_size(g, a), _size(g, jets[c])) for c, a in linear]
    return g.total(terms)


def _at_rest(point: LoweredLaw, forces: Sequence[Node]) -> list[Node]:
    """Return the sizes of what forces are made of where all variables are zero."""
    local, g = point.local, point.graph
    assert local is not None
    zero = dict.fromkeys((*point.variables, *local.modes), g.zero)
    sizes = magnitudes(g, forces, zero)
    if point.principal is not None:
        zero |= dict.fromkeys(point.principal.leaves[:3], g.zero)
        zero |= dict.fromkeys(point.principal.leaves[3:], g.one)
    return g.substitute(sizes, zero)


def _size(g: ExpressionGraph, node: Node) -> Node:
    return g.constant(abs(g.value[node])) if g.is_constant(node) else g.call("abs", node)

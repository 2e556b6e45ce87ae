# SPDX-License-Identifier: BSD-3-Clause
"""All results of one law at one point: what each mode of a kernel has of it, in the leaves.

The law is differentiated in its inner variables; gradient and Hessian are pulled back through
the linear maps to the leaves inside the same graph, and the cheapest Hessian is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import chain, islice
from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.dag import Dependence, ExpressionGraph, Node
from symancf_codegen.graph.differentiate import (
    Matrix,
    StagedHessian,
    directional,
    edge_pushing,
    forward_over_reverse,
    gradient,
    jacobian,
    staged,
)
from symancf_codegen.graph.magnitude import magnitudes
from symancf_codegen.graph.reduce import add_dyads, share_roots
from symancf_codegen.mapped import Inner, inner_derivatives, moved_map
from symancf_codegen.modes import MODES, MOMENTS, STANDARD, WEIGHING
from symancf_codegen.parameters import (
    Pulled,
    along_parameters,
    change_of_unknowns,
    multiplier,
    pull,
)

if TYPE_CHECKING:
    from symancf_codegen.lower.point import LoweredLaw, NamedNodes

#: A way to the tangent: its name, the residual in the form that goes with it, the tangent.
Candidate = tuple[str, list[Node], Matrix]


@dataclass
class LocalResults:
    """What solves for the unknowns of a point or cell, and what the tangent owes to them.

    Attributes
    ----------
    unknowns, inverse : leaves; the latter those of the inverse of `slopes`, by rows.
    start, equations : where they begin, and what vanishes.
    slopes : d equations / d unknowns, by rows.
    equations_with_slopes : in the form that shares most with these.
    magnitudes : sizes of what the equations are made of; times round-off, their errors.
    columns : of unknowns of the cell: d residual / d unknown, a list over the leaves for each.
    moved : of unknowns of the cell: derivatives of the equations in the direction of `product`,
        and in that of `parameter`.
    weighed : of unknowns of the cell: derivatives by them of what `pull` differentiates.
    multipliers : leaves of the weights that equations of the cell have in `pull`.
    shared : whether they belong to the cell.
    """

    unknowns: list[Node]
    inverse: list[Node]
    start: list[Node]
    equations: list[Node]
    equations_with_slopes: list[Node]
    slopes: list[Node]
    magnitudes: list[Node]
    columns: list[list[Node]]
    moved: list[Node]
    weighed: list[Node]
    multipliers: list[Node]
    shared: bool

    def groups(self) -> list[list[Node]]:
        """Return the nodes that are not leaves."""
        groups = [self.start, self.equations, self.equations_with_slopes, self.slopes]
        return [*groups, self.magnitudes, self.moved, self.weighed, *self.columns]

    def of(self, groups: Sequence[list[Node]]) -> LocalResults:
        """Return the same with other nodes in place of `groups`."""
        start, equations, again, slopes, magnitudes, moved, weighed, *columns = groups
        return replaced(
            self,
            start=start,
            equations=equations,
            equations_with_slopes=again,
            slopes=slopes,
            magnitudes=magnitudes,
            columns=columns,
            moved=moved,
            weighed=weighed,
        )


@dataclass
class Results:
    """What the point functions of a law compute, as nodes of one graph.

    Attributes
    ----------
    graph, leaves, symmetric : as in `LoweredLaw`.
    energy : weight * measure * energy, of a law with memory what is stored; zero for a virtual
        work.
    residual, product : one node per leaf; the direction's leaves are ``d_<leaf>``.
    tangent : d residual / d leaves without zeros; the upper triangle for an energy.
    residual_with_tangent : the residual in the form that shares most with the tangent.
    parameter : derivative of the residual; the direction of a parameter is ``rate <parameter>``.
    pull : derivative of d . residual + seed . update by the leaves, then by the parameters and
        what the point remembers, called `by`; the weights of the latter are ``seed <memory>``. In
        `shape` by the leaves of the reference, called `by`.
    outputs : name and node of what the kernel tells of each point.
    domain : nodes that must be > 0.
    names_of : titled lists of (name, node) for the printer.
    strategy : how the tangent was derived.
    chosen : modes of the kernel; what others need is left out, or of no use.
    principal : leaves of the eigenvalues and axes that the law asks for, and the nodes of which
        they are found; empty lists if there are none.
    local : of laws with unknowns of their own. Those of a cell are held in `tangent`, `product`
        and `parameter`, which are completed where all points of the cell are known.
    """

    graph: ExpressionGraph
    leaves: tuple[str, ...]
    symmetric: bool
    energy: Node
    residual: list[Node]
    product: list[Node]
    tangent: Matrix
    residual_with_tangent: list[Node]
    parameter: list[Node]
    pull: list[Node]
    by: list[str]
    outputs: list[tuple[str, Node]]
    domain: list[Node]
    names_of: NamedNodes
    strategy: str
    chosen: tuple[str, ...]
    principal: tuple[list[Node], list[Node]]
    local: LocalResults | None = None

    def modes(self) -> dict[str, list[Node]]:
        """Return the nodes of every function."""
        nodes = {
            "energy": [self.energy],
            "residual": self.residual,
            "tangent": [*self.residual_with_tangent, *self.tangent.values()],
            "product": self.product,
            "parameter": self.parameter,
            "pull": self.pull,
            "shape": self.pull,
            "multiply": [],
        }
        nodes |= {mode: [*self.tangent.values()] for mode in MOMENTS if mode != "tangent"}
        tables = (mode for mode in self.chosen if MODES[mode].tabulates)
        nodes |= {key: [node for _, node in self.outputs] for key in tables}
        return {mode: nodes[mode] for mode in self.chosen}

    def by_reference(self) -> dict[str, Node]:
        """Return the derivatives of `shape`, by leaves of the unknown with the same jets."""
        if "shape" not in self.chosen:
            return {}
        pairs = zip(self.by, self.pull, strict=True)
        return {f"u_{name[2:]}": node for name, node in pairs if node != self.graph.zero}

    def forces(self) -> list[list[Node]]:
        """Return vectors, a node per leaf, that say on which leaves some function has a force."""
        forces = [self.residual] if "residual" in self.chosen else []
        if self.local is not None:
            forces += self.local.columns
        if {*WEIGHING} & {*self.chosen}:  # v is asked for where there are forces
            forces.append(self.residual)
        if "pull" in self.chosen:
            forces.append(self.pull[: len(self.leaves)])
        return [*forces, self.parameter] if "parameter" in self.chosen else forces


def derive(point: LoweredLaw, modes: Sequence[str] = STANDARD) -> Results:
    """Return the results of a lowered law that the functions `modes` of a kernel need."""
    g = point.graph
    forces = _forces(point)
    residual = _pull(point, forces)
    first, product, strategy = residual, residual, "nothing"
    matrix: Matrix = {}
    inner = inner_derivatives(point)
    if {"product", "multiply", *MOMENTS} & {*modes}:
        first, product, matrix, strategy = _second(point, forces, residual, inner)
    matrix = {key: node for key, node in matrix.items() if node != g.zero}
    results_of_points = _outputs_of(point, modes)
    derivatives = pull(point, residual, modes)
    local = _local(point, forces, modes, inner, derivatives)
    groups = [
        [point.stored],
        residual,
        product,
        first,
        [*matrix.values()],
        along_parameters(point, residual) if "parameter" in modes else [],
        derivatives.nodes,
        [node for _, node in results_of_points],
        point.domain,
        [] if point.principal is None else point.principal.entries,
        *([] if local is None else local.groups()),
        *([node for _, node in pairs] for _, pairs in point.names_of),
    ]
    split = _in_leaves(point, groups)
    (
        energy,
        residual,
        product,
        first,
        entries,
        parameter,
        pulled,
        outputs,
        domain,
        own_forces,
        *named_nodes,
    ) = split
    if local is not None:
        count = len(local.groups())
        local, named_nodes = local.of(named_nodes[:count]), named_nodes[count:]
    return Results(
        graph=g,
        leaves=point.leaves,
        symmetric=point.symmetric,
        energy=energy[0],
        residual=residual,
        product=product,
        tangent=dict(zip(matrix, entries, strict=True)),
        residual_with_tangent=first,
        parameter=parameter,
        pull=pulled,
        by=derivatives.by,
        outputs=[(name, node) for (name, _), node in zip(results_of_points, outputs, strict=True)],
        domain=domain,
        names_of=[
            (title, [(name, node) for (name, _), node in zip(pairs, nodes, strict=True)])
            for (title, pairs), nodes in zip(point.names_of, named_nodes, strict=True)
        ],
        strategy=strategy,
        chosen=tuple(modes),
        principal=([] if point.principal is None else point.principal.leaves, own_forces),
        local=local,
    )


def _in_leaves(point: LoweredLaw, groups: Sequence[Sequence[Node]]) -> list[list[Node]]:
    """Return groups of nodes, at their end those of names, in the leaves and with shared roots."""
    g = point.graph
    flat = g.expanded(g.substitute([*chain(*groups)], point.replace))
    needed = sum(map(len, groups[: len(groups) - len(point.names_of)]))
    while replace := share_roots(g, flat[:needed]):
        flat = g.substitute(flat, replace)
    nodes = iter(flat)
    return [[*islice(nodes, len(group))] for group in groups]


def _local(
    point: LoweredLaw,
    forces: list[Node],
    modes: Sequence[str],
    inner: Inner | None,
    pulled: Pulled,
) -> LocalResults | None:
    """Return what solves for the unknowns of the point or cell."""
    local, g = point.local, point.graph
    if local is None:
        return None
    size = range(len(local.unknowns))
    columns: list[list[Node]] = []
    complete = local.shared and bool({"tangent", "product", "parameter"} & {*modes})
    if inner is not None:
        again, slopes, columns, sizes = moved_map(point, inner, complete)
    else:
        again, slopes = local.equations, jacobian(g, local.equations, local.unknowns)
        sizes = magnitudes(g, local.equations, point.principal.sizes if point.principal else None)
        if complete:
            by_unknown = jacobian(g, forces, local.unknowns)
            columns = [_pull(point, [by_unknown[r, k] for r in range(len(forces))]) for k in size]
    return LocalResults(
        unknowns=local.unknowns,
        inverse=[*chain(*local.inverse)],
        start=local.start,
        equations=local.equations,
        equations_with_slopes=again,
        slopes=[slopes[r, c] for r in size for c in size],
        magnitudes=sizes,
        columns=columns,
        moved=_equations_along(point, modes, inner, columns) if complete else [],
        weighed=pulled.unknowns,
        multipliers=[multiplier(g, k) for k in size] if pulled.unknowns else [],
        shared=local.shared,
    )


def _equations_along(
    point: LoweredLaw, modes: Sequence[str], inner: Inner | None, columns: list[list[Node]]
) -> list[Node]:
    """Return derivatives of the cell's equations in the direction of `product` or `parameter`."""
    local, g = point.local, point.graph
    assert local is not None
    moved: list[Node] = []
    if "product" in modes:
        moved = directional(g, local.equations, _direction(point))
        if inner is not None:  # the map is a product of jets and unknowns
            moved = [g.dot(column, _rates(point)) for column in columns]
    if "parameter" in modes:
        moved = along_parameters(point, local.equations)
    return moved


def _rates(point: LoweredLaw) -> list[Node]:
    """Return the direction of the leaves that the mode `product` is given."""
    return [point.graph.symbol(f"d_{name}", Dependence.DIRECTION) for name in point.leaves]


def _direction(point: LoweredLaw) -> dict[Node, Node]:
    """Return the direction of the variables that the mode `product` is given."""
    g = point.graph
    seeds = point.to_variables.apply(g, point.to_jets.apply(g, _rates(point)))
    return dict(zip(point.variables, seeds, strict=True))


def _outputs_of(point: LoweredLaw, modes: Sequence[str]) -> list[tuple[str, Node]]:
    """Return what the kernel tells of each point, name and node."""
    chosen = [mode for mode in modes if MODES[mode].tabulates]
    if len(chosen) > 1:
        raise CodegenError(f"a kernel has one of the functions {', '.join(chosen)}, not several")
    tables = {"outputs": point.outputs, "update": point.update, "initial": point.initial}
    return tables[chosen[0]] if chosen else []


def _second(
    point: LoweredLaw, forces: list[Node], residual: list[Node], inner: Inner | None
) -> tuple[list[Node], list[Node], Matrix, str]:
    """Return residual, product, tangent and how the latter was derived, by the cheapest ways."""
    g = point.graph
    direction = _direction(point)
    seeds = [direction[x] for x in point.variables]
    if point.local is not None:
        direction |= change_of_unknowns(point, directional(g, point.local.equations, direction))
    products = [directional(g, forces, direction)]
    if inner is not None:
        strategy, gradients, matrix = inner
        count = len(point.variables)
        own = {(r, c): x for (r, c), x in matrix.items() if c < count}
        first = _pull(point, gradients[:count])
        return first, _pull(point, products[0]), _pull_matrix(point, own), strategy
    hessian = staged(g, point.stages, point.variables) if point.stages is not None else None
    if hessian is not None:
        products.append(hessian.times(g, seeds))
    ways = candidates(point, residual, hessian)
    costs = [g.cost(g.expanded([*first, *matrix.values()])) for _, first, matrix in ways]
    strategy, first, matrix = ways[costs.index(min(costs))]
    pulled = [_pull(point, p) for p in products]
    product = min(pulled, key=lambda p: g.cost(g.expanded(p)))
    return first, product, matrix, strategy


def _implicit(point: LoweredLaw) -> Matrix:
    """Return d forces / d variables, the change of unknowns of the point included."""
    g, x, forces = point.graph, point.variables, _forces(point)
    matrix = jacobian(g, forces, x)
    local = point.local
    if local is not None and not local.shared:
        by_unknown = jacobian(g, forces, local.unknowns)
        slopes = jacobian(g, local.equations, x)
        size = range(len(local.unknowns))
        for c in range(len(x)):
            change = change_of_unknowns(point, [slopes[k, c] for k in size])
            for r in range(len(forces)):
                own = (g.mul(by_unknown[r, k], change[local.unknowns[k]]) for k in size)
                matrix[r, c] = g.add(matrix[r, c], g.total(own))
    if point.symmetric:
        return {(r, c): node for (r, c), node in matrix.items() if r <= c}
    return matrix


def candidates(
    point: LoweredLaw, residual: list[Node], in_stages: StagedHessian | None
) -> list[Candidate]:
    """Return all ways to the tangent, before the leaves are put in."""
    g, x = point.graph, point.variables
    if point.density is None or point.local is not None:
        return [("Jacobian", residual, _pull_matrix(point, _implicit(point)))]
    ways: list[Candidate] = []
    for name, method in (
        ("edge pushing", edge_pushing),
        ("forward over reverse", forward_over_reverse),
    ):
        first, hessian = method(g, point.density, x)
        ways.append((name, _pull(point, first), _pull_matrix(point, hessian)))
    if in_stages is not None:
        s = in_stages
        first = _pull(point, s.gradient)
        tangent = add_dyads(g, s.core, s.first, s.weighted(g, s.first))
        ways.append(("staged", first, _pull_matrix(point, tangent)))
        core = point.to_variables.pull_matrix(g, s.core, True)
        vectors = [point.to_variables.pull(g, v) for v in s.first]
        tangent = add_dyads(g, core, vectors, s.weighted(g, vectors))
        tangent = point.to_jets.pull_matrix(g, tangent, True)
        ways.append(("staged, dyads pulled back", first, tangent))
    return ways


def _forces(point: LoweredLaw) -> list[Node]:
    if point.density is None:
        return point.forces
    return gradient(point.graph, point.density, point.variables)


def _pull(point: LoweredLaw, vector: Sequence[Node]) -> list[Node]:
    g = point.graph
    return point.to_jets.pull(g, point.to_variables.pull(g, vector))


def _pull_matrix(point: LoweredLaw, matrix: Matrix) -> Matrix:
    g, symmetric = point.graph, point.symmetric
    inner = point.to_variables.pull_matrix(g, matrix, symmetric)
    return point.to_jets.pull_matrix(g, inner, symmetric)

# SPDX-License-Identifier: BSD-3-Clause
"""Stage 3, lower, second half: one law at one point as nodes of a graph.

The unknowns reach the law through a chain of linear maps: leaves (table jets) -> point jets
(monomials of the section coordinates) -> inner variables (geometry). The law itself is kept as
a function of the inner variables, in which it is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import RATE_FACTOR
from symancf_codegen.errors import CompileError
from symancf_codegen.functions import force_on, frozen, log_stretch, symbolic
from symancf_codegen.graph.dag import Graph, Kind, Node
from symancf_codegen.graph.differentiate import Matrix, Stages, gradient, jacobian, pull_back
from symancf_codegen.graph.reduce import LinearMap
from symancf_codegen.lower.local import Solved, linear_in, local_of, modes_of
from symancf_codegen.lower.lower import Principal, Scope

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Space

#: Component suffixes of a vector jet.
COMPONENTS = (1, 2, 3)

#: Titled lists of (name, node).
Named = list[tuple[str, list[tuple[str, Node]]]]

#: Leaf of the quadrature weight; no symbol of a user is written like this.
WEIGHT = "quadrature weight"


@dataclass
class Point:
    """One law, lowered; see `lower_point`.

    Attributes
    ----------
    leaves : names of the scalar unknowns that the kernel hands over (components of table
        jets, or the scalars of a node tuple), in order.
    variables : leaves of the graph in which the law is differentiated.
    to_variables, to_jets : linear maps point jets -> variables and leaves -> point jets.
    density : weight * measure * energy as a function of the variables (None for a work law).
    forces : weight * measure * generalised forces conjugate to the variables (work laws).
    domain : nodes that must be > 0.
    stored : weight * measure * energy that the function ``energy`` returns.
    update, initial : of what the point remembers, at the end of a step and before the first.
    named : titled lists of (name, node) for the printer, in the user's order.
    local : the unknowns that the law has beside them.
    stages : the energy as a function of the lets that are made of the variables directly.
    outputs : of the law, as functions of the variables.
    nodes : leaves of the parameters by name.
    replace : the variables as functions of the leaves, to be put in last.
    principal : the stretches that a function of the kernel finds before all else.
    """

    law: PointLaw
    graph: Graph
    leaves: tuple[str, ...]
    variables: list[Node]
    to_variables: LinearMap
    to_jets: LinearMap
    density: Node | None
    forces: list[Node]
    domain: list[Node]
    stored: Node
    update: list[tuple[str, Node]]
    initial: list[tuple[str, Node]]
    named: Named
    local: Solved | None
    stages: Stages | None
    outputs: list[tuple[str, Node]]
    nodes: dict[str, Node]
    replace: dict[Node, Node]
    principal: Principal | None

    @property
    def symmetric(self) -> bool:
        """Whether the tangent is symmetric: the law is an energy."""
        return self.density is not None and (self.local is None or self.local.stationary)


def lower_point(
    law: PointLaw, space: Space | None, section: Mapping[str, float | None], *, weighted: bool
) -> Point:
    """Lower `law`.

    Parameters
    ----------
    law : what happens at the point.
    space : the jets' meaning in a cell; None for a law on a tuple of scalars.
    section : section symbols; a number where the rule has only one section point (the law
        is then specialised to it), None where the kernel passes the value.
    weighted : whether the kernel passes a quadrature weight.
    """
    g = Graph()
    scope = Scope(g, law.words)
    scope.solves = True
    for parameter in law.parameters:
        kind = Kind.UNIFORM if parameter.kind == "uniform" else Kind.CELL
        scope.bind(parameter.name, g.symbol(parameter.name, kind))
    for memory in law.history:
        scope.bind(memory.name, g.symbol(memory.name, Kind.CELL))
    places = dict.fromkeys(coordinates(law, space))
    for name, value in {**places, **section}.items():
        leaf = g.symbol(name, Kind.POINT) if value is None else g.constant(value)
        scope.bind(name, leaf)
    scope.define(law.geometry)
    names = [s.name for s in law.unknowns]
    leaves, rows = _jet_map(law, space, scope)
    to_jets = LinearMap(rows, len(leaves))
    jets = to_jets.apply(g, [g.symbol(name, Kind.UNKNOWN) for name in leaves])

    if law.modes:
        modes, to_modes = modes_of(law, scope)
    constant: list[Node] = []
    if law.inner:
        column = {name: k for k, name in enumerate(names)}
        inner_rows: list[dict[int, Node]] = []
        for symbol, combination in law.inner:
            entries = {}
            constant.append(scope.lower(combination.get(sp.S.One, sp.S.Zero)))
            for unknown, coefficient in combination.items():
                if unknown == sp.S.One:
                    continue
                if unknown.name not in column:
                    raise CompileError(
                        f"{law.words}: the inner variable {symbol.name} is a combination "
                        f"of {unknown.name}, which is not among its unknowns"
                    )
                entries[column[unknown.name]] = scope.lower(coefficient)
            inner_rows.append(entries)
        to_variables = LinearMap(inner_rows, len(names))
        variable_names = [symbol.name for symbol, _ in law.inner]
    else:
        to_variables = LinearMap.identity(g, len(names))
        variable_names = names
    variables = [g.symbol(f"variable {name}", Kind.UNKNOWN) for name in variable_names]
    for name, node in zip(variable_names, variables, strict=True):
        scope.bind(name, node)
    if not law.modes:  # nothing before asks for unknowns
        modes, to_modes = modes_of(law, scope)
    values = to_variables.apply(g, jets)
    values = [g.add(x, y) for x, y in zip(values, constant or [g.zero] * len(values), strict=True)]
    moves: Matrix = {}
    if law.modes:
        moves = jacobian(g, values, modes)
        values = linear_in(g, values, modes, moves)
    replace = dict(zip(variables, values, strict=True))
    if law.modes:
        own = [scope.nodes[x.symbol.name] for x in law.local]
        put = dict(zip(modes, to_modes.apply(g, own), strict=True))
        replace = dict(zip(variables, g.substitute(values, put), strict=True)) | put
    scope.define(law.lets)
    for v in law.rate_of.values():
        if isinstance(v, sp.Symbol) and v.name not in {*names, *scope.nodes}:
            scope.bind(v.name, g.symbol(f"motion {v.name}", Kind.UNKNOWN))
    if law.rates:
        c = scope.resolve(RATE_FACTOR)
        rests = to_variables.apply(g, [scope.resolve(f"w{name[1:]}") for name in names])
        pairs = zip(variables, rests, strict=True)
        scope.rates = {x: g.add(g.mul(c, x), rest) for x, rest in pairs}
    else:
        scope.rates = {scope.resolve(u.name): scope.lower(v) for u, v in law.rate_of.items()}

    factor = scope.lower(law.measure)
    if weighted:
        factor = g.mul(g.symbol(WEIGHT, Kind.POINT), factor)
    density = None
    forces: list[Node] = []
    pulled: dict[Node, Node] = {}
    if law.energy is not None:
        density = g.mul(factor, _energy(scope, law))
    else:
        forces, pulled = _forces(law, scope, variable_names)
        if scope.principal is not None:
            raise CompileError(
                f"{law.words} gives forces by principal stretches, whose second derivatives "
                "have no limit where they coincide: give an energy of them"
            )
        forces = [g.mul(factor, force) for force in forces]
    local = local_of(law, scope, density)
    if local is not None and density is not None and law.modes:
        local.modes, local.to_modes, local.constant = modes, to_modes, constant
        local.moves = moves
        slopes = gradient(g, density, [*variables, *modes])
        of_modes = [
            g.total([own, *(g.mul(local.moves[v, k], slopes[v]) for v in range(len(variables)))])
            for k, own in enumerate(slopes[len(variables) :])
        ]
        local.equations = to_modes.pull(g, of_modes)
    domain = [scope.lower(e) for e in law.domain]
    stored = g.zero if density is None else density
    if law.stored is not None:
        stored = g.mul(factor, scope.lower(law.stored))
    update, initial = _history(law, scope, factor)
    quantities = _names(scope, law.lets)
    stages = [*zip(variable_names, variables, strict=True), *quantities]
    named = [
        ("reference geometry", _names(scope, law.geometry)),
        ("displacement", list(zip(names, jets, strict=True)) if space is not None else []),
        ("inner variables", list(zip(variable_names, values, strict=True)) if law.inner else []),
        ("quantities", quantities),
        ("rates", [(f"rate_{n}", scope.rates[x]) for n, x in stages if x in scope.rates]),
        ("forces", [(f"force_{n}", pulled[x]) for n, x in stages if x in pulled]),
    ]
    return Point(
        law=law,
        graph=g,
        leaves=leaves,
        variables=variables,
        to_variables=to_variables,
        to_jets=to_jets,
        density=density,
        forces=forces,
        domain=domain,
        stored=stored,
        update=update,
        initial=initial,
        named=named,
        local=local,
        stages=_stages(law, scope, variable_names, factor),
        outputs=_outputs(law, scope, variable_names),
        nodes={p.name: scope.nodes[p.name] for p in law.parameters},
        replace=replace,
        principal=scope.principal,
    )


def coordinates(law: PointLaw, space: Space | None) -> tuple[str, ...]:
    """Return the coordinates of the cell that the geometry of a law asks for."""
    asked = {s.name for _, e in law.geometry for s in symbolic(e).free_symbols}
    known = {s.name for s, _ in law.geometry}
    names = () if space is None else (str(s.name) for s in space.coordinates)
    return tuple(name for name in names if name in asked - known)


def _jet_map(
    law: PointLaw, space: Space | None, scope: Scope
) -> tuple[tuple[str, ...], list[dict[int, Node]]]:
    """Return the leaves and the rows of the map leaves -> unknowns; bind other jets."""
    g = scope.graph
    if space is None:
        return tuple(s.name for s in law.unknowns), [{k: g.one} for k in range(len(law.unknowns))]
    for letter in "Rw" if law.rates else "R":
        for jet, monomials in space.point_jets.items():
            for a in COMPONENTS:
                scope.definitions[f"{letter}_{jet}{a}"] = sp.Add(
                    *(m * sp.Symbol(f"table {letter} {t}{a}") for t, m in monomials.items())
                )
        for t in space.table_jets:
            for a in COMPONENTS:
                leaf = g.symbol(f"{letter}_{t}{a}", Kind.REFERENCE)
                scope.bind(f"table {letter} {t}{a}", leaf)
    missing = [jet for jet in law.jets if jet not in space.point_jets]
    if missing:
        raise CompileError(
            f"{law.words} asks for the jets {', '.join(missing)}; the element "
            f"{space.name!r} offers {', '.join(space.point_jets)}",
            asked="jets",
            given=tuple(missing),
            possible=space.point_jets,
        )
    expected = [f"u_{jet}{a}" for jet in law.jets for a in COMPONENTS]
    if [s.name for s in law.unknowns] != expected:
        raise CompileError(
            f"{law.words}: its unknowns must be the components of its jets, "
            f"{', '.join(expected)}; they are {', '.join(s.name for s in law.unknowns)}",
            asked="unknowns",
            given=tuple(s.name for s in law.unknowns),
            possible=expected,
        )
    lowered = [{t: scope.lower(m) for t, m in space.point_jets[jet].items()} for jet in law.jets]
    used = [t for t in space.table_jets if any(row.get(t, g.zero) != g.zero for row in lowered)]
    leaves = tuple(f"u_{t}{a}" for t in used for a in COMPONENTS)
    rows = [
        {3 * used.index(t) + a - 1: m for t, m in row.items() if m != g.zero}
        for row in lowered
        for a in COMPONENTS
    ]
    return leaves, rows


def _forces(
    law: PointLaw, scope: Scope, variable_names: Sequence[str]
) -> tuple[list[Node], dict[Node, Node]]:
    """Return the forces on the variables, and on all that those on lets were pulled back by."""
    g = scope.graph
    work = {symbolic(q): force for q, force in (law.work or {}).items()}
    known = [*variable_names, *(s.name for s, _ in law.lets)]
    for q in work:
        if not {s.name for s in q.free_symbols} & {*known}:
            raise CompileError(
                f"{law.words}: a force is given for {q}; its quantities are neither its "
                f"variables nor its lets: {', '.join(known)}",
                asked="work",
                given=str(q),
                possible=known,
            )
    variables = [scope.nodes[name] for name in variable_names]
    given: list[tuple[Node, Node]] = []
    held: list[tuple[Node, Node]] = []
    for q, force in work.items():
        holds = isinstance(q, frozen)
        pair = scope.lower(q.args[0] if holds else q), scope.lower(force)
        (held if holds else given).append(pair)
    for node, force in held:
        slopes = pull_back(g, [(node, g.one)], variables, scope.stages())
        fixed = ((x, g.call("frozen", slopes[x])) for x in variables if x in slopes)
        given += [(x, g.mul(slope, force)) for x, slope in fixed]
    pulled = pull_back(g, given, variables, scope.stages())
    forces = [pulled.get(x, g.zero) for x in variables]
    moved = {u.name: scope.rates[scope.nodes[u.name]] for u in law.rate_of}
    rates = [moved[name] for name in variable_names if name in moved]
    if law.powers:
        # linear in the rates: the slope at rates of zero is that at all of them
        seeds = [g.symbol(f"force {k}", Kind.UNKNOWN) for k, _ in enumerate(law.powers)]
        motions = [scope.lower(motion) for motion, _ in law.powers]
        found = pull_back(g, zip(motions, seeds, strict=True), rates, scope.stages())
        put = dict(zip(seeds, (scope.lower(force) for _, force in law.powers), strict=True))
        put |= dict.fromkeys(rates, g.zero)
        for k, name in enumerate(variable_names):
            if moved.get(name) in found:
                forces[k] = g.sub(forces[k], g.substitute([found[moved[name]]], put)[0])
    for node in set(g.reach(forces)) & set(rates) - set(variables):
        raise CompileError(
            f"{law.words}: a force depends on {g.name[node].removeprefix('motion ')}, which "
            "is none of its unknowns: only motions may"
        )
    return forces, pulled


def _history(
    law: PointLaw, scope: Scope, factor: Node
) -> tuple[list[tuple[str, Node]], list[tuple[str, Node]]]:
    """Return what the point remembers at the end of a step and before the first."""
    g = scope.graph
    update: list[tuple[str, Node]] = []
    initial: list[tuple[str, Node]] = []
    for memory in law.history:
        node = scope.lower(memory.update)
        if memory.total:
            node = g.add(scope.resolve(memory.name), g.mul(factor, node))
        start = scope.lower(memory.initial)
        update.append((memory.name, node))
        initial.append((memory.name, start))
        if g.depends[start] & Kind.UNKNOWN:
            raise CompileError(
                f"{law.words}: the initial value {memory.initial} of {memory.name!r} depends "
                "on unknowns; it may depend on parameters and the reference",
                asked="initial",
                given=str(memory.initial),
            )
    return update, initial


def _names(
    scope: Scope, definitions: Sequence[tuple[sp.Symbol, sp.Expr]]
) -> list[tuple[str, Node]]:
    """Return (name, node) of the definitions that were needed."""
    return [(s.name, scope.nodes[s.name]) for s, _ in definitions if s.name in scope.nodes]


def _energy(scope: Scope, law: PointLaw) -> Node:
    """Lower the energy; of principal stretches, so that it is right to second order."""
    energy = scope.lower(law.energy)
    return energy if scope.principal is None else scope.principal.completed(energy)


def _stages(
    law: PointLaw, scope: Scope, variable_names: Sequence[str], factor: Node
) -> Stages | None:
    """Cut the energy at the lets that are made of the variables directly."""
    if law.energy is None or not law.lets or scope.guarded:
        return None  # a branch guards itself, not the derivatives of lets outside of it
    asked = set().union(*(symbolic(e).free_symbols for e in (law.energy, *dict(law.lets).values())))
    if asked & {x.symbol for x in law.local}:
        return None
    g = scope.graph
    names = set(variable_names)
    lets = [(s.name, symbolic(e)) for s, e in law.lets]
    lets = [(name, e) for name, e in lets if not isinstance(e, log_stretch)]
    cut = [name for name, e in lets if names & {x.name for x in e.free_symbols}]
    leaves = {name: g.symbol(f"stage {name}", Kind.UNKNOWN) for name in cut}
    within = scope.override(leaves)
    if scope.principal is not None:
        strain = [g.symbol(f"strain {k}", Kind.UNKNOWN) for k in range(6)]
        within.principal = Principal(g, scope.principal.given, strain)
    outer = g.mul(factor, _energy(within, law))
    definition = {leaf: scope.resolve(name) for name, leaf in leaves.items()}
    if scope.principal is not None and within.principal is not None:
        definition.update(zip(within.principal.strain, scope.principal.strain, strict=True))
    definition.update((scope.nodes[name], scope.nodes[name]) for name in variable_names)
    reached = set(g.reach([outer]))
    used = [leaf for leaf in definition if leaf in reached]
    return Stages(outer, tuple(used), tuple(definition[leaf] for leaf in used))


def _outputs(law: PointLaw, scope: Scope, variable_names: Sequence[str]) -> list[tuple[str, Node]]:
    """Lower the law's outputs, first the forces that they ask for."""
    g = scope.graph
    outputs = {name: symbolic(e) for name, e in law.outputs.items()}
    asked = sorted({str(q.args[0]) for e in outputs.values() for q in e.atoms(force_on)})
    known = [*variable_names, *(s.name for s, _ in law.lets)]
    for name in asked:
        if name not in known:
            raise CompileError(
                f"{law.words}: an output asks for the force on {name}, which is neither a "
                f"variable nor a let of the law: {', '.join(known)}",
                asked="force_on",
                given=name,
                possible=known,
            )
    if asked:
        leaves = {name: g.symbol(f"stage {name}", Kind.UNKNOWN) for name in asked}
        energy = scope.override(leaves).lower(law.energy)
        back = {leaf: scope.resolve(name) for name, leaf in leaves.items()}
        slopes = g.substitute(gradient(g, energy, list(leaves.values())), back)
        scope.forces.update(zip(asked, slopes, strict=True))
    return [(name, scope.lower(e)) for name, e in outputs.items()]

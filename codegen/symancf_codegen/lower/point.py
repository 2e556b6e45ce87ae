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
from symancf_codegen.errors import CodegenError
from symancf_codegen.functions import force_on, frozen, log_stretch, symbolic
from symancf_codegen.graph.dag import Dependence, ExpressionGraph, Node
from symancf_codegen.graph.differentiate import Matrix, Stages, gradient, jacobian, pull_back
from symancf_codegen.graph.reduce import LinearMap
from symancf_codegen.lower.local import LocalUnknowns, linear_in, local_of, modes_of
from symancf_codegen.lower.lower import LawScope, Principal

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Space

#: Component suffixes of a vector jet.
COMPONENTS = (1, 2, 3)

#: Titled lists of (name, node).
NamedNodes = list[tuple[str, list[tuple[str, Node]]]]

#: Leaf of the quadrature weight; no symbol of a user is written like this.
WEIGHT = "quadrature weight"


@dataclass
class LoweredLaw:
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
    names_of : titled lists of (name, node) for the printer, in the user's order.
    local : the unknowns that the law has beside them.
    stages : the energy as a function of the lets that are made of the variables directly.
    outputs : of the law, as functions of the variables.
    nodes : leaves of the parameters by name.
    replace : the variables as functions of the leaves, to be put in last.
    principal : the stretches that a function of the kernel finds before all else.
    """

    law: PointLaw
    graph: ExpressionGraph
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
    names_of: NamedNodes
    local: LocalUnknowns | None
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
) -> LoweredLaw:
    """Lower `law`.

    Parameters
    ----------
    law : what happens at the point.
    space : the jets' meaning in a cell; None for a law on a tuple of scalars.
    section : section symbols; a number where the rule has only one section point (the law
        is then specialised to it), None where the kernel passes the value.
    weighted : whether the kernel passes a quadrature weight.
    """
    g = ExpressionGraph()
    scope = _scope(g, law, space, section)
    leaves, to_jets = _jet_map(law, space, scope)
    jets = to_jets.apply(g, [g.symbol(name, Dependence.UNKNOWN) for name in leaves])
    variables = _variables(law, scope, jets)
    names = variables.names
    scope.define(law.lets)
    scope.rates = _rates(law, scope, variables)
    factor = scope.lower(law.measure)
    if weighted:
        factor = g.mul(g.symbol(WEIGHT, Dependence.POINT), factor)
    density = None if law.energy is None else g.mul(factor, _energy(scope, law))
    forces, pulled = _forces(law, scope, names, factor) if density is None else ([], {})
    local = local_of(law, scope, density)
    if local is not None and density is not None and law.modes:
        _solve_in_modes(g, local, density, variables)
    domain = [scope.lower(e) for e in law.domain]
    stored = g.zero if density is None else density
    if law.stored is not None:
        stored = g.mul(factor, scope.lower(law.stored))
    update, initial = _history(law, scope, factor)
    return LoweredLaw(
        law=law,
        graph=g,
        leaves=leaves,
        variables=variables.leaves,
        to_variables=variables.of_jets,
        to_jets=to_jets,
        density=density,
        forces=forces,
        domain=domain,
        stored=stored,
        update=update,
        initial=initial,
        names_of=_named_nodes(law, scope, variables, [] if space is None else jets, pulled),
        local=local,
        stages=_stages(law, scope, names, factor),
        outputs=_outputs(law, scope, names),
        nodes={p.name: scope.nodes[p.name] for p in law.parameters},
        replace=variables.replace,
        principal=scope.principal,
    )


def _scope(
    g: ExpressionGraph, law: PointLaw, space: Space | None, section: Mapping[str, float | None]
) -> LawScope:
    """Return what the names of a law mean that do not depend on unknowns."""
    scope = LawScope(g, law.words)
    scope.solves = True
    for parameter in law.parameters:
        kind = Dependence.UNIFORM if parameter.kind == "uniform" else Dependence.CELL
        scope.bind(parameter.name, g.symbol(parameter.name, kind))
    for memory in law.history:
        scope.bind(memory.name, g.symbol(memory.name, Dependence.CELL))
    places = dict.fromkeys(coordinates(law, space))
    for name, value in {**places, **section}.items():
        leaf = g.symbol(name, Dependence.POINT) if value is None else g.constant(value)
        scope.bind(name, leaf)
    scope.define(law.geometry)
    return scope


@dataclass
class _Variables:
    """The variables in which a law is differentiated.

    Attributes
    ----------
    names, leaves : of the variables.
    of_jets, constant, values : variables as functions of the jets, A x + constant.
    modes, to_modes : what unknowns of the cell amount to, and the map of the unknowns to it.
    moves : d variable / d mode.
    replace : variables, and modes, as functions of jets and unknowns.
    """

    names: list[str]
    leaves: list[Node]
    of_jets: LinearMap
    constant: list[Node]
    values: list[Node]
    modes: list[Node]
    to_modes: LinearMap
    moves: Matrix
    replace: dict[Node, Node]


def _variables(law: PointLaw, scope: LawScope, jets: Sequence[Node]) -> _Variables:
    """Return the variables of a law as functions of its jets; bind them."""
    g = scope.graph
    if law.modes:  # they occur in the coefficients of jets
        modes, to_modes = modes_of(law, scope)
    of_jets, constant = _inner_map(law, scope)
    names = [s.name for s, _ in law.inner] or [s.name for s in law.unknowns]
    leaves = [g.symbol(f"variable {name}", Dependence.UNKNOWN) for name in names]
    for name, node in zip(names, leaves, strict=True):
        scope.bind(name, node)
    if not law.modes:
        modes, to_modes = modes_of(law, scope)
    values = [g.add(x, y) for x, y in zip(of_jets.apply(g, jets), constant, strict=True)]
    moves: Matrix = {}
    bindings: dict[Node, Node] = {}
    if law.modes:
        moves = jacobian(g, values, modes)
        values = linear_in(g, values, modes, moves)
        own = [scope.nodes[x.symbol.name] for x in law.local]
        bindings = dict(zip(modes, to_modes.apply(g, own), strict=True))
    replace = dict(zip(leaves, g.substitute(values, bindings), strict=True)) | bindings
    return _Variables(names, leaves, of_jets, constant, values, modes, to_modes, moves, replace)


def _inner_map(law: PointLaw, scope: LawScope) -> tuple[LinearMap, list[Node]]:
    """Return the map of the unknowns to the inner variables, and what no unknown multiplies."""
    g = scope.graph
    column = {s.name: k for k, s in enumerate(law.unknowns)}
    if not law.inner:
        return LinearMap.identity(g, len(column)), [g.zero] * len(column)
    rows: list[dict[int, Node]] = []
    constant: list[Node] = []
    for symbol, combination in law.inner:
        constant.append(scope.lower(combination.get(sp.S.One, sp.S.Zero)))
        linear = {x.name: e for x, e in combination.items() if x != sp.S.One}
        for name in linear:
            if name not in column:
                raise CodegenError(
                    f"{law.words}: the inner variable {symbol.name} is a combination "
                    f"of {name}, which is not among its unknowns"
                )
        rows.append({column[name]: scope.lower(e) for name, e in linear.items()})
    return LinearMap(rows, len(column)), constant


def _rates(law: PointLaw, scope: LawScope, variables: _Variables) -> dict[Node, Node]:
    """Return the rates of variables, or of what else a law gives rates of."""
    g = scope.graph
    if law.rates:
        c = scope.resolve(RATE_FACTOR)
        jets = [scope.resolve(f"w{s.name[1:]}") for s in law.unknowns]
        rests = variables.of_jets.apply(g, jets)
        pairs = zip(variables.leaves, rests, strict=True)
        return {x: g.add(g.mul(c, x), rest) for x, rest in pairs}
    names = {s.name for s in law.unknowns}.union(scope.nodes)
    for v in law.rate_of.values():
        if isinstance(v, sp.Symbol) and v.name not in names:
            scope.bind(v.name, g.symbol(f"motion {v.name}", Dependence.UNKNOWN))
    return {scope.resolve(u.name): scope.lower(v) for u, v in law.rate_of.items()}


def _solve_in_modes(
    g: ExpressionGraph, local: LocalUnknowns, density: Node, variables: _Variables
) -> None:
    """Let the equations of unknowns follow from the slopes by variables and modes."""
    local.modes, local.to_modes = variables.modes, variables.to_modes
    local.constant, local.moves = variables.constant, variables.moves
    count = len(variables.leaves)
    slopes = gradient(g, density, [*variables.leaves, *variables.modes])
    of_modes = [
        g.total([own, *(g.mul(local.moves[v, k], slopes[v]) for v in range(count))])
        for k, own in enumerate(slopes[count:])
    ]
    local.equations = variables.to_modes.pull(g, of_modes)


def _named_nodes(
    law: PointLaw,
    scope: LawScope,
    variables: _Variables,
    jets: Sequence[Node],
    pulled: Mapping[Node, Node],
) -> NamedNodes:
    """Return the nodes that have names, for the printer; of `jets` if there are any."""
    quantities = _names(scope, law.lets)
    stages = [*zip(variables.names, variables.leaves, strict=True), *quantities]
    inner = list(zip(variables.names, variables.values, strict=True)) if law.inner else []
    return [
        ("reference geometry", _names(scope, law.geometry)),
        ("displacement", [(s.name, x) for s, x in zip(law.unknowns, jets, strict=False)]),
        ("inner variables", inner),
        ("quantities", quantities),
        ("rates", [(f"rate_{n}", scope.rates[x]) for n, x in stages if x in scope.rates]),
        ("forces", [(f"force_{n}", pulled[x]) for n, x in stages if x in pulled]),
    ]


def coordinates(law: PointLaw, space: Space | None) -> tuple[str, ...]:
    """Return the coordinates of the cell that the geometry of a law asks for."""
    needed = {s.name for _, e in law.geometry for s in symbolic(e).free_symbols}
    own_names = {s.name for s, _ in law.geometry}
    names = () if space is None else (str(s.name) for s in space.coordinates)
    return tuple(name for name in names if name in needed - own_names)


def _jet_map(
    law: PointLaw, space: Space | None, scope: LawScope
) -> tuple[tuple[str, ...], LinearMap]:
    """Return the leaves and the map leaves -> unknowns; bind other jets."""
    g = scope.graph
    if space is None:
        return tuple(s.name for s in law.unknowns), LinearMap.identity(g, len(law.unknowns))
    _define_jets(space, scope, "Rw" if law.rates else "R")
    _require_jets(law, space)
    lowered = [{t: scope.lower(m) for t, m in space.point_jets[jet].items()} for jet in law.jets]
    used = [t for t in space.table_jets if any(row.get(t, g.zero) != g.zero for row in lowered)]
    leaves = tuple(f"u_{t}{a}" for t in used for a in COMPONENTS)
    rows = [
        {3 * used.index(t) + a - 1: m for t, m in row.items() if m != g.zero}
        for row in lowered
        for a in COMPONENTS
    ]
    return leaves, LinearMap(rows, len(leaves))


def _define_jets(space: Space, scope: LawScope, letters: str) -> None:
    """Define the jets of the reference, R, and of the rates, w, by table jets."""
    for letter in letters:
        for jet, monomials in space.point_jets.items():
            for a in COMPONENTS:
                scope.definitions[f"{letter}_{jet}{a}"] = sp.Add(
                    *(m * sp.Symbol(f"table {letter} {t}{a}") for t, m in monomials.items())
                )
        for t in space.table_jets:
            for a in COMPONENTS:
                leaf = scope.graph.symbol(f"{letter}_{t}{a}", Dependence.REFERENCE)
                scope.bind(f"table {letter} {t}{a}", leaf)


def _require_jets(law: PointLaw, space: Space) -> None:
    """Check that the unknowns of a law are the components of jets of the space."""
    missing = [jet for jet in law.jets if jet not in space.point_jets]
    if missing:
        raise CodegenError(
            f"{law.words} asks for the jets {', '.join(missing)}; the element "
            f"{space.name!r} offers {', '.join(space.point_jets)}",
            asked="jets",
            given=tuple(missing),
            possible=space.point_jets,
        )
    given = tuple(s.name for s in law.unknowns)
    expected = [f"u_{jet}{a}" for jet in law.jets for a in COMPONENTS]
    if [*given] != expected:
        raise CodegenError(
            f"{law.words}: its unknowns must be the components of its jets, "
            f"{', '.join(expected)}; they are {', '.join(given)}",
            asked="unknowns",
            given=given,
            possible=expected,
        )


def _forces(
    law: PointLaw, scope: LawScope, variable_names: Sequence[str], factor: Node
) -> tuple[list[Node], dict[Node, Node]]:
    """Return the forces on the variables, and on all that those on lets were pulled back by."""
    g = scope.graph
    variables = [scope.nodes[name] for name in variable_names]
    moved = {u.name: scope.rates[scope.nodes[u.name]] for u in law.rate_of}
    rates = {
        x: moved[name] for name, x in zip(variable_names, variables, strict=True) if name in moved
    }
    pulled = pull_back(g, _work_of_forces(law, scope, variable_names), variables, scope.stages())
    powers = _powers(law, scope, list(rates.values()))
    forces = [pulled.get(x, g.zero) for x in variables]
    for k, x in enumerate(variables):
        if rates.get(x) in powers:
            forces[k] = g.sub(forces[k], powers[rates[x]])
    for node in set(g.reach(forces)) & set(rates.values()) - set(variables):
        raise CodegenError(
            f"{law.words}: a force depends on {g.name[node].removeprefix('motion ')}, which "
            "is none of its unknowns: only motions may"
        )
    if scope.principal is not None:
        raise CodegenError(
            f"{law.words} gives forces by principal stretches, whose second derivatives "
            "have no limit where they coincide: give an energy of them"
        )
    return [g.mul(factor, force) for force in forces], pulled


def _work_of_forces(
    law: PointLaw, scope: LawScope, variable_names: Sequence[str]
) -> list[tuple[Node, Node]]:
    """Return quantities and the forces on them; where the slopes of one are held, its variables."""
    g = scope.graph
    work = {symbolic(q): force for q, force in (law.work or {}).items()}
    names = [*variable_names, *(s.name for s, _ in law.lets)]
    for q in work:
        if not {s.name for s in q.free_symbols} & {*names}:
            raise CodegenError(
                f"{law.words}: a force is given for {q}; its quantities are neither its "
                f"variables nor its lets: {', '.join(names)}",
                asked="work",
                given=str(q),
                possible=names,
            )
    pairs: list[tuple[Node, Node]] = []
    fixed_slopes: list[tuple[Node, Node]] = []
    for q, force in work.items():
        holds = isinstance(q, frozen)
        pair = scope.lower(q.args[0] if holds else q), scope.lower(force)
        (fixed_slopes if holds else pairs).append(pair)
    variables = [scope.nodes[name] for name in variable_names]
    for node, force in fixed_slopes:
        slopes = pull_back(g, [(node, g.one)], variables, scope.stages())
        fixed = ((x, g.call("frozen", slopes[x])) for x in variables if x in slopes)
        pairs += [(x, g.mul(slope, force)) for x, slope in fixed]
    return pairs


def _powers(law: PointLaw, scope: LawScope, rates: Sequence[Node]) -> dict[Node, Node]:
    """Return the forces conjugate to `rates`, of the law's forces on motions."""
    if not law.powers:
        return {}
    # linear in the rates: the slope at rates of zero is that at all of them
    g = scope.graph
    seeds = [g.symbol(f"force {k}", Dependence.UNKNOWN) for k, _ in enumerate(law.powers)]
    motions = [scope.lower(motion) for motion, _ in law.powers]
    forces = pull_back(g, zip(motions, seeds, strict=True), rates, scope.stages())
    bindings = dict(zip(seeds, (scope.lower(force) for _, force in law.powers), strict=True))
    bindings |= dict.fromkeys(rates, g.zero)
    return {x: g.substitute([forces[x]], bindings)[0] for x in rates if x in forces}


def _history(
    law: PointLaw, scope: LawScope, factor: Node
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
        if g.depends[start] & Dependence.UNKNOWN:
            raise CodegenError(
                f"{law.words}: the initial value {memory.initial} of {memory.name!r} depends "
                "on unknowns; it may depend on parameters and the reference",
                asked="initial",
                given=str(memory.initial),
            )
    return update, initial


def _names(
    scope: LawScope, definitions: Sequence[tuple[sp.Symbol, sp.Expr]]
) -> list[tuple[str, Node]]:
    """Return (name, node) of the definitions that were needed."""
    return [(s.name, scope.nodes[s.name]) for s, _ in definitions if s.name in scope.nodes]


def _energy(scope: LawScope, law: PointLaw) -> Node:
    """Lower the energy; of principal stretches, so that it is right to second order."""
    energy = scope.lower(law.energy)
    return energy if scope.principal is None else scope.principal.completed(energy)


def _stages(
    law: PointLaw, scope: LawScope, variable_names: Sequence[str], factor: Node
) -> Stages | None:
    """Cut the energy at the lets that are made of the variables directly."""
    if not _divisible(law, scope):
        return None
    g = scope.graph
    cut = _composition(variable_names, law)
    leaves = {name: g.symbol(f"stage {name}", Dependence.UNKNOWN) for name in cut}
    within = scope.override(leaves)
    definition = {leaf: scope.resolve(name) for name, leaf in leaves.items()}
    if scope.principal is not None:
        strain = [g.symbol(f"strain {k}", Dependence.UNKNOWN) for k in range(6)]
        within.principal = Principal(g, scope.principal.entries, strain)
        definition.update(zip(strain, scope.principal.strain, strict=True))
    definition.update((scope.nodes[name], scope.nodes[name]) for name in variable_names)
    outer = g.mul(factor, _energy(within, law))
    reached = set(g.reach([outer]))
    used = [leaf for leaf in definition if leaf in reached]
    return Stages(outer, tuple(used), tuple(definition[leaf] for leaf in used))


def _divisible(law: PointLaw, scope: LawScope) -> bool:
    """Whether an energy may be cut at its lets."""
    if law.energy is None or not law.lets or scope.guarded:
        return False  # a branch guards itself, not the derivatives of lets outside of it
    own = {x.symbol for x in law.local}
    expressions = map(symbolic, (law.energy, *dict(law.lets).values()))
    return all(own.isdisjoint(e.free_symbols) for e in expressions)


def _composition(variables: Sequence[str], law: PointLaw) -> list[str]:
    """Return the names of the lets in whose definitions variables occur directly."""
    lets = {s.name: symbolic(e) for s, e in law.lets}
    return [
        name
        for name, e in lets.items()
        if not isinstance(e, log_stretch)
        and not {x.name for x in e.free_symbols}.isdisjoint(variables)
    ]


def _outputs(
    law: PointLaw, scope: LawScope, variable_names: Sequence[str]
) -> list[tuple[str, Node]]:
    """Lower the law's outputs, first the forces that they ask for."""
    g = scope.graph
    outputs = {name: symbolic(e) for name, e in law.outputs.items()}
    needed = sorted({str(q.args[0]) for e in outputs.values() for q in e.atoms(force_on)})
    names = [*variable_names, *(s.name for s, _ in law.lets)]
    for name in needed:
        if name not in names:
            raise CodegenError(
                f"{law.words}: an output asks for the force on {name}, which is neither a "
                f"variable nor a let of the law: {', '.join(names)}",
                asked="force_on",
                given=name,
                possible=names,
            )
    if needed:
        leaves = {name: g.symbol(f"stage {name}", Dependence.UNKNOWN) for name in needed}
        energy = scope.override(leaves).lower(law.energy)
        back = {leaf: scope.resolve(name) for name, leaf in leaves.items()}
        slopes = g.substitute(gradient(g, energy, list(leaves.values())), back)
        scope.forces.update(zip(needed, slopes, strict=True))
    return [(name, scope.lower(e)) for name, e in outputs.items()]

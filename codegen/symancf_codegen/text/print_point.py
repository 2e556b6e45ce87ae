# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, first part: the functions that evaluate one law at one point, 8 lanes wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from symancf_codegen.graph.dag import Dependence
from symancf_codegen.graph.schedule import LoopSection, Output
from symancf_codegen.graph.stages import (
    factor_cut,
    geometry_cut,
    long,
    parameter_cut,
    value_cut,
    worthwhile,
)
from symancf_codegen.lower.point import COMPONENTS, WEIGHT
from symancf_codegen.structure import LawUse, Segment, moment_outputs
from symancf_codegen.text.print_local import (
    COUPLING,
    coupling_sections,
    local_loads,
    outside,
    solve_functions,
    step_section,
    sum_section,
    weigh_sections,
)
from symancf_codegen.text.printer import TABLES, PointFunction, Printer, declaration

if TYPE_CHECKING:
    from symancf_codegen.derive import Results
    from symancf_codegen.graph.dag import ExpressionGraph, Node


def loads_of_parameters(
    uniform: Sequence[str], cell: Sequence[str], varying: Sequence[str] = ()
) -> dict[str, str]:
    """Return the C of the parameters and their directions; `varying` differ between points."""
    loads: dict[str, str] = {}
    for prefix, suffix in (("", ""), ("rate ", "_rate")):
        loads.update({prefix + p: f"uniform{suffix}[{k}]" for k, p in enumerate(uniform)})
        loads.update({prefix + p: f"cell{suffix}[{8 * k} + l]" for k, p in enumerate(cell)})
        loads.update({prefix + p: f"B{suffix}[{8 * k} + l]" for k, p in enumerate(varying)})
    return loads


def domain_section(graph: ExpressionGraph, domain: Sequence[Node]) -> list[LoopSection]:
    """Return the section that counts a lane whose domain expressions are not all > 0."""
    if not domain:
        return []
    return [LoopSection("domain", [Output("bad[l] += {};", outside(graph, domain))])]


@dataclass
class LawFunctions:
    """All point functions of one law in a kernel on cells.

    Attributes
    ----------
    parameters : stores expressions of the parameters in P, `parameter_rows` of them.
    geometry : stores the geometry table A, `geometry_rows` rows; None if there is none.
    solve : to find the unknowns of a point, the last one is to be called; for those of a cell the
        one that stores where they begin and those that add to their equations, without slopes
        and with them.
    shared : whether they are unknowns of the cell.
    modes : per mode the functions to call one after the other; the last one adds to N, M, W.
    factor_rows : per mode, rows of the table S that the first of two functions stores.
    principal : finds the eigenvalues and axes in Q that the others use; None if there are none.
    weigh : of unknowns of the cell, adds what `pull` needs to weigh their equations; else None.
    """

    parameters: PointFunction | None
    parameter_rows: int
    geometry: PointFunction | None
    geometry_rows: int
    modes: dict[str, list[PointFunction]]
    factor_rows: dict[str, int]
    principal: PointFunction | None = None
    solve: list[PointFunction] = field(default_factory=list)
    shared: bool = False
    weigh: PointFunction | None = None

    def stages(self) -> list[list[PointFunction]]:
        """Return all functions in the order of the text: one-time ones, then those of each mode."""
        once = (self.parameters, self.geometry, self.principal, self.weigh)
        return [*([] if f is None else [f] for f in once), self.solve, *self.modes.values()]


def law_functions(
    use: LawUse,
    segment: Segment,
    uniform: Sequence[str],
    cell: Sequence[str],
    shared: int = 0,
) -> LawFunctions:
    """Return the point functions of one law in a kernel whose cells have `shared` unknowns."""
    results = use.results
    unknowns = shared if use.law.shared else len(use.rows)
    loads = _loads(use, segment, loads_of_parameters(uniform, cell, segment.varying), unknowns)
    through = (name for name, value in use.rule.section.items() if value is None)
    printer = Printer(results, loads, [WEIGHT, *use.coordinates, *through])
    modes = _mode_sections(use, segment, uniform, cell, shared)
    domain = domain_section(results.graph, results.domain)
    has_principal, entries = bool(results.principal[0]), principal_section(results)
    weigh = weigh_sections(results, use.rows, unknowns)
    others = [*domain, *_equations(use, unknowns), entries, *weigh]
    once, cut, factors = _cuts(use, modes, others)
    constants = {node: f"P[{k}]" for k, node in enumerate(once)}
    inputs = constants | _loaded("A", cut)
    result = LawFunctions(None, len(once), None, len(cut), {}, {}, shared=use.law.shared)
    if once:
        title = f"parameters of {use.name}, for all points"
        result.parameters = printer.once(f"{use.name}_parameters", title, once)
    if cut:
        result.geometry = printer.function(
            f"{use.name}_geometry_at_point",
            f"geometry of {use.name} at one point",
            [LoopSection("geometry table", _stored("A", cut))],
            constants,
        )
    if has_principal:
        result.principal = principal_function(use.name, entries, printer, inputs)
    if weigh:
        title = f"weights of equations of {use.name} at one point"
        result.weigh = printer.function(f"{use.name}_weigh_at_point", title, weigh, inputs)
    if results.local is not None:
        names = use.name, use.name
        result.solve = solve_functions(*names, results, use.rows, printer, inputs, unknowns)
    for mode, sections in modes.items():
        printed = _ModePrinter(
            f"{use.name}_{mode}", f"{mode} of {use.name} at one point", printer, domain
        )
        if factors[mode]:
            functions = printed.after_factors(sections, factors[mode], inputs)
        else:
            loaded = inputs if has_principal or use.law.shared else constants
            functions = printed.functions(sections, loaded)
        result.modes[mode], result.factor_rows[mode] = functions, printed.rows
    return result


@dataclass
class _ModePrinter:
    """Prints the functions of a law in one mode, to be called one after the other.

    The first of two stores `rows` of the table S.
    """

    name: str
    title: str
    printer: Printer
    domain: list[LoopSection]
    rows: int = 0

    def functions(
        self, sections: list[LoopSection], inputs: Mapping[Node, str]
    ) -> list[PointFunction]:
        """Return the function of some sections; of a long one the coupling apart."""
        graph = self.printer.results.graph
        sections = [*self.domain, *sections]
        if not _nodes(sections):
            return []
        coupled = [s for s in sections if s.title == COUPLING]
        if not coupled or not long(graph, _nodes(sections)):
            return [self._function("", self.title, sections, inputs)]
        sections = [s for s in sections if s.title != COUPLING]
        reached = set(graph.reach(_nodes(sections)))
        stored_nodes = value_cut(graph, _nodes(coupled), reached.__contains__, inputs)
        self.rows = len(stored_nodes)
        sections.append(LoopSection("values for what follows", _stored("S", stored_nodes)))
        return [
            self._function("", self.title, sections, inputs),
            self._function(
                "_coupling",
                f"coupling in the {self.title}",
                coupled,
                {**inputs, **_loaded("S", stored_nodes)},
            ),
        ]

    def after_factors(
        self, sections: list[LoopSection], factors: list[Node], inputs: Mapping[Node, str]
    ) -> list[PointFunction]:
        """Return the function that stores the results of slow operations, and that of the rest."""
        self.rows = len(factors)
        first = [*self.domain, LoopSection("factors", _stored("S", factors))]
        return [
            self._function("_factors", f"{self.title}: slow operations", first, inputs),
            self._function("", self.title, sections, {**inputs, **_loaded("S", factors)}),
        ]

    def _function(
        self, suffix: str, title: str, sections: Sequence[LoopSection], inputs: Mapping[Node, str]
    ) -> PointFunction:
        return self.printer.function(f"{self.name}{suffix}_at_point", title, sections, inputs)


def _loads(
    use: LawUse, segment: Segment, of_parameters: Mapping[str, str], unknowns: int
) -> dict[str, str]:
    """Return the C of all leaves of a law at a point."""
    results = use.results
    loads = {
        **of_parameters,
        **local_loads(results, use.rows, unknowns),
        **principal_loads(results),
    }
    for leaf in results.leaves:
        if leaf[2:-1] in segment.jets:
            row = f"[{8 * segment.row(leaf)} + l]"
            loads |= {leaf: f"g{row}", f"d_{leaf}": f"h{row}", f"w_{leaf[2:]}": f"V{row}"}
    for k, m in enumerate(use.law.history):
        loads |= {m.name: f"old[{8 * k} + l]", f"seed {m.name}": f"seed[{8 * k} + l]"}
    for jet in segment.reference_jets:
        for a in COMPONENTS:
            loads[f"R_{jet}{a}"] = f"G[{8 * segment.reference_row(f'R_{jet}{a}')} + l]"
    return loads


def _equations(use: LawUse, unknowns: int) -> list[LoopSection]:
    """Return the section that evaluates the equations of a law's own unknowns, if it has any."""
    if use.results.local is None:
        return []
    if use.law.shared:
        return [sum_section(use.results, use.rows, unknowns, slopes=True)]
    return [step_section(use.results.local, use.rows, unknowns)]


def _cuts(
    use: LawUse, modes: Mapping[str, Sequence[LoopSection]], others: Sequence[LoopSection]
) -> tuple[list[Node], list[Node], dict[str, list[Node]]]:
    """Return what functions store for others: parameters, geometry, and factors of each mode.

    `others` : what is evaluated beside the modes.
    """
    results, graph = use.results, use.results.graph
    nodes = _nodes([*chain(*modes.values()), *others])
    moving = Dependence.LOCAL if use.law.shared else Dependence.UNKNOWN
    geometry = geometry_cut(graph, nodes, moving)
    # laws of principal stretches have more numbers than there are registers
    always = bool(results.principal[0])
    factors = {mode: _factors(graph, _nodes(s), geometry, always) for mode, s in modes.items()}
    if not (always or results.local is not None or any(factors.values())):
        geometry = []
    return parameter_cut(graph, nodes), geometry, factors


def _factors(
    graph: ExpressionGraph, nodes: Sequence[Node], geometry: Sequence[Node], always: bool
) -> list[Node]:
    """Return the factors at which to cut a mode; empty if it is better not cut."""
    if not (always or worthwhile(graph, nodes)):
        return []
    cut = factor_cut(graph, nodes, geometry)
    return [] if set(nodes) <= set(cut) else cut


def _stored(table: str, nodes: Sequence[Node]) -> list[Output]:
    """Return the outputs that store nodes in the rows of a table."""
    return store_rows(table, enumerate(nodes), "=")


def _loaded(table: str, nodes: Sequence[Node]) -> dict[Node, str]:
    """Return the C of nodes that are stored in the rows of a table."""
    return {node: f"{table}[{8 * k} + l]" for k, node in enumerate(nodes)}


def _nodes(sections: Iterable[LoopSection]) -> list[Node]:
    """Return the nodes of all outputs of `sections`."""
    return [o.node for s in sections for o in s.outputs]


def _mode_sections(
    use: LawUse, segment: Segment, uniform: Sequence[str], cell: Sequence[str], shared: int
) -> dict[str, list[LoopSection]]:
    """Return what each mode stores."""
    results = use.results
    zero = results.graph.zero

    def vector(title: str, nodes: Sequence[Node]) -> LoopSection:
        pairs = zip(results.leaves, nodes, strict=True)
        return by_leaves(title, {leaf: node for leaf, node in pairs if node != zero})

    def by_leaves(title: str, nodes: Mapping[str, Node]) -> LoopSection:
        rows = {segment.row(leaf): node for leaf, node in nodes.items()}
        if segment.alone:  # every row is written
            rows = {row: rows.get(row, zero) for row in range(3 * len(segment.jets))}
        return LoopSection(title, store("N", sorted(rows.items())))

    def store(target: str, pairs: Iterable[tuple[int, Node]]) -> list[Output]:
        return store_rows(target, pairs, "=" if segment.alone else "+=")

    energy = results.energy
    moments = LoopSection("tangent", store("M", moment_outputs(segment, use)))
    sections: dict[str, Callable[[], list[LoopSection]]] = {
        "energy": lambda: [
            LoopSection("energy", [Output("W[l] += {};", energy)] if energy != zero else [])
        ],
        "residual": lambda: [vector("residual", results.residual)],
        "tangent": lambda: [
            vector("residual", results.residual_with_tangent),
            moments,
        ],
        "diagonal": lambda: [moments],
        "coarse": lambda: [moments],
        "moments": lambda: [moments],
        "multiply": list,
        "product": lambda: [vector("tangent times direction", results.product)],
        "parameter": lambda: [vector("derivative by parameters", results.parameter)],
        "pull": lambda: [
            vector("derivative by unknowns", results.pull[: len(results.leaves)]),
            by_section(results, uniform, cell, segment.varying),
        ],
        "shape": lambda: [by_leaves("derivative by the reference", results.by_reference())],
        **{name: lambda: [outputs_section(results)] for name in TABLES},
    }
    return {
        mode: [
            s
            for s in (*sections[mode](), *coupling_sections(use, segment, mode, shared))
            if s.outputs
        ]
        for mode in results.chosen
    }


def store_rows(target: str, pairs: Iterable[tuple[int, Node]], sign: str) -> list[Output]:
    """Return the outputs that store nodes in rows of an array."""
    return [Output(f"{target}[{8 * row} + l] {sign} {{}};", node) for row, node in pairs]


def by_section(
    results: Results, uniform: Sequence[str], cell: Sequence[str], varying: Sequence[str] = ()
) -> LoopSection:
    """Return the section that adds derivatives by parameters and by what the point remembers."""
    named = {"uniform": uniform, "cell": cell, "B": varying}
    rows = {
        name: f"by_{a}[{8 * k} + l]" for a, names in named.items() for k, name in enumerate(names)
    }
    old = [name for name in results.by if name not in rows]  # in the order of the history
    rows |= {name: f"by_old[{8 * k} + l]" for k, name in enumerate(old)}
    nodes = zip(results.by, results.pull[len(results.leaves) :], strict=True)
    zero = results.graph.zero
    outputs = [Output(f"{rows[name]} += {{}};", node) for name, node in nodes if node != zero]
    return LoopSection("derivative by parameters", outputs)


def principal_loads(results: Results) -> dict[str, str]:
    """Return the C of the principal stretches and their axes."""
    name = results.graph.name
    return {name[x]: f"Q[{8 * k} + l]" for k, x in enumerate(results.principal[0])}


def principal_section(results: Results) -> LoopSection:
    """Return the section that stores the matrix whose principal stretches are asked for."""
    return LoopSection("entries", store_rows("Q", enumerate(results.principal[1]), "="))


def principal_function(
    name: str, entries: LoopSection, printer: Printer, loaded: Mapping[Node, str]
) -> PointFunction:
    """Return the function that finds eigenvalues and axes at a point, to be called first."""
    title = f"matrix of the principal values of {name} at one point"
    first = printer.function(f"{name}_matrix_at_point", title, [entries], loaded)
    own = f"{name}_principal_at_point"
    plain = [printer.plain(s) for s in printer.scalars]
    inputs = [a for a in first.arguments if a != "Q"]
    declared = [f"double {a}" if a in plain else f"const double *restrict {a}" for a in inputs]
    head = declaration(own, [*declared, "double *restrict Q"])
    body = [f"    {first.name}({', '.join(first.arguments)});", "    symancf_principal(Q);"]
    text = [f"/* principal values and axes of {name} at one point */", *head, "{", *body, "}", ""]
    return PointFunction(own, "\n".join([first.text, *text]), [*inputs, "Q"])


def outputs_section(results: Results) -> LoopSection:
    """Return the section that stores the outputs of a law at one point."""
    rows = enumerate(node for _, node in results.outputs)
    return LoopSection("outputs", store_rows("O", rows, "="))

# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, first part: the functions that evaluate one law at one point, 8 lanes wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symancf_codegen.graph.dag import Kind
from symancf_codegen.graph.schedule import Output, Section
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
    solve_functions,
    step_section,
    sum_section,
)
from symancf_codegen.text.printer import TABLES, Function, Printer, declaration

if TYPE_CHECKING:
    from symancf_codegen.derive import Results
    from symancf_codegen.graph.dag import Graph, Node


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


def domain_section(graph: Graph, domain: Sequence[Node]) -> list[Section]:
    """Return the section that counts a lane whose domain expressions are not all > 0."""
    if not domain:
        return []
    good = graph.call("lt", graph.zero, domain[0])
    for node in domain[1:]:
        good = graph.call("and", good, graph.call("lt", graph.zero, node))
    return [Section("domain", [Output("bad[l] += {};", graph.call("not", good))])]


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
    """

    parameters: Function | None
    parameter_rows: int
    geometry: Function | None
    geometry_rows: int
    modes: dict[str, list[Function]]
    factor_rows: dict[str, int]
    principal: Function | None = None
    solve: list[Function] = field(default_factory=list)
    shared: bool = False


def law_functions(
    use: LawUse,
    segment: Segment,
    uniform: Sequence[str],
    cell: Sequence[str],
    shared: int = 0,
) -> LawFunctions:
    """Return the point functions of one law in a kernel whose cells have `shared` unknowns."""
    results, graph = use.results, use.results.graph
    loads = loads_of_parameters(uniform, cell, segment.varying)
    unknowns = shared if use.law.shared else len(use.rows)
    loads |= local_loads(results, use.rows, unknowns)
    found, entries = bool(results.principal[0]), principal_section(results)
    loads |= principal_loads(results)
    for leaf in results.leaves:
        if leaf[2:-1] in segment.jets:
            loads[leaf] = f"g[{8 * segment.row(leaf)} + l]"
            loads[f"d_{leaf}"] = f"h[{8 * segment.row(leaf)} + l]"
            loads[f"w_{leaf[2:]}"] = f"V[{8 * segment.row(leaf)} + l]"
    loads.update({m.name: f"old[{8 * k} + l]" for k, m in enumerate(use.law.history)})
    for jet in segment.reference_jets:
        for a in COMPONENTS:
            loads[f"R_{jet}{a}"] = f"G[{8 * segment.reference_row(f'R_{jet}{a}')} + l]"
    through = (name for name, value in use.rule.section.items() if value is None)
    scalars = [WEIGHT, *use.coordinates, *through]
    printer = Printer(results, loads, scalars)
    modes = _mode_sections(use, segment, shared)
    domain = domain_section(graph, results.domain)
    steps = []
    if results.local is not None:
        if use.law.shared:
            steps = [sum_section(results, use.rows, unknowns, slopes=True)]
        else:
            steps = [step_section(results.local, use.rows, unknowns)]
    solved = _outputs([*steps, entries])
    everything = [o.node for s in modes.values() for o in [*_outputs([*s, *domain]), *solved]]
    once = parameter_cut(graph, everything)
    constants = {node: f"P[{k}]" for k, node in enumerate(once)}
    parameters = None
    if once:
        name = f"{use.name}_parameters"
        parameters = printer.once(name, f"parameters of {use.name}, for all points", once)
    cut = geometry_cut(graph, everything, Kind.LOCAL if use.law.shared else Kind.UNKNOWN)
    # laws of principal stretches have more numbers than there are registers
    factors = {mode: _factors(graph, _outputs(s), cut, found) for mode, s in modes.items()}
    geometry = None
    table: dict[Node, str] = {}
    if cut and (steps or found or any(factors.values())):
        outputs = [Output(f"A[{8 * k} + l] = {{}};", node) for k, node in enumerate(cut)]
        geometry = printer.function(
            f"{use.name}_geometry_at_point",
            f"geometry of {use.name} at one point",
            [Section("geometry table", outputs)],
            constants,
        )
        table = {node: f"A[{8 * k} + l]" for k, node in enumerate(cut)}
    result = LawFunctions(parameters, len(once), geometry, len(table), {}, {})
    given = {**constants, **table}
    if found:
        result.principal = principal_function(use.name, entries, printer, given)
    if results.local is not None:
        names = use.name, use.name
        result.shared = use.law.shared
        result.solve = solve_functions(*names, results, use.rows, printer, given, unknowns)
    for mode, sections in modes.items():
        result.modes[mode] = []
        if not _outputs(sections) and not domain:
            continue
        name, title = f"{use.name}_{mode}", f"{mode} of {use.name} at one point"
        reads = found or use.law.shared
        sections, given = [*domain, *sections], {**constants, **table} if reads else constants
        if kept := factors[mode]:
            outputs = [Output(f"S[{8 * k} + l] = {{}};", node) for k, node in enumerate(kept)]
            first = printer.function(
                f"{name}_factors_at_point",
                f"{title}: slow operations",
                [*domain, Section("factors", outputs)],
                {**constants, **table},
            )
            result.modes[mode].append(first)
            result.factor_rows[mode] = len(kept)
            stored = {node: f"S[{8 * k} + l]" for k, node in enumerate(kept)}
            sections, given = sections[len(domain) :], {**constants, **table, **stored}
        elif (coupled := [s for s in sections if s.title == COUPLING]) and long(
            graph, [o.node for o in _outputs(sections)]
        ):
            sections = [s for s in sections if s.title != COUPLING]
            known = set(graph.reach([o.node for o in _outputs(sections)]))
            nodes = [o.node for o in _outputs(coupled)]
            kept = value_cut(graph, nodes, known.__contains__, table)
            outputs = [Output(f"S[{8 * k} + l] = {{}};", node) for k, node in enumerate(kept)]
            sections = [*sections, Section("values for what follows", outputs)]
            result.modes[mode].append(printer.function(f"{name}_at_point", title, sections, given))
            result.factor_rows[mode] = len(kept)
            given = {**given, **{node: f"S[{8 * k} + l]" for k, node in enumerate(kept)}}
            sections, name, title = coupled, f"{name}_coupling", f"coupling in the {title}"
        last = printer.function(f"{name}_at_point", title, sections, given)
        result.modes[mode].append(last)
    return result


def _factors(
    graph: Graph, outputs: Sequence[Output], geometry: Sequence[Node], always: bool
) -> list[Node]:
    """Return the factors at which to cut a mode; empty if it is better not cut."""
    nodes = [o.node for o in outputs]
    if not (always or worthwhile(graph, nodes)):
        return []
    cut = factor_cut(graph, nodes, geometry)
    return [] if set(nodes) <= set(cut) else cut


def _outputs(sections: Sequence[Section]) -> list[Output]:
    """Return all outputs of `sections`."""
    return [o for s in sections for o in s.outputs]


def _mode_sections(use: LawUse, segment: Segment, shared: int) -> dict[str, list[Section]]:
    """Return what each mode stores."""
    results = use.results
    zero = results.graph.zero

    def vector(title: str, nodes: Sequence[Node]) -> Section:
        pairs = zip(results.leaves, nodes, strict=True)
        rows = {segment.row(leaf): node for leaf, node in pairs if node != zero}
        if segment.alone:  # every row is written
            rows = {row: rows.get(row, zero) for row in range(3 * len(segment.jets))}
        return Section(title, store("N", sorted(rows.items())))

    def store(target: str, pairs: Iterable[tuple[int, Node]]) -> list[Output]:
        return store_rows(target, pairs, "=" if segment.alone else "+=")

    energy = results.energy
    sections: dict[str, Callable[[], list[Section]]] = {
        "energy": lambda: [
            Section("energy", [Output("W[l] += {};", energy)] if energy != zero else [])
        ],
        "residual": lambda: [vector("residual", results.residual)],
        "tangent": lambda: [
            vector("residual", results.residual_with_tangent),
            Section("tangent", store("M", moment_outputs(segment, use))),
        ],
        "product": lambda: [vector("tangent times direction", results.product)],
        "parameter": lambda: [vector("derivative by parameters", results.parameter)],
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


def principal_loads(results: Results) -> dict[str, str]:
    """Return the C of the principal stretches and their axes."""
    name = results.graph.name
    return {name[x]: f"Q[{8 * k} + l]" for k, x in enumerate(results.principal[0])}


def principal_section(results: Results) -> Section:
    """Return the section that stores the matrix whose principal stretches are asked for."""
    return Section("entries", store_rows("Q", enumerate(results.principal[1]), "="))


def principal_function(
    name: str, entries: Section, printer: Printer, given: Mapping[Node, str]
) -> Function:
    """Return the function that finds eigenvalues and axes at a point, to be called first."""
    title = f"matrix of the principal values of {name} at one point"
    first = printer.function(f"{name}_matrix_at_point", title, [entries], given)
    own = f"{name}_principal_at_point"
    plain = [printer.plain(s) for s in printer.scalars]
    inputs = [a for a in first.arguments if a != "Q"]
    declared = [f"double {a}" if a in plain else f"const double *restrict {a}" for a in inputs]
    head = declaration(own, [*declared, "double *restrict Q"])
    body = [f"    {first.name}({', '.join(first.arguments)});", "    symancf_principal(Q);"]
    text = [f"/* principal values and axes of {name} at one point */", *head, "{", *body, "}", ""]
    return Function(own, "\n".join([first.text, *text]), [*inputs, "Q"])


def outputs_section(results: Results) -> Section:
    """Return the section that stores the outputs of a law at one point."""
    rows = enumerate(node for _, node in results.outputs)
    return Section("outputs", store_rows("O", rows, "="))

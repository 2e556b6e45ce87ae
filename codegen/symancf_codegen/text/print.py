# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print: the C text of a kernel."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.graph.schedule import LoopSection, Output
from symancf_codegen.modes import COMMON, MODES, OPERANDS, signature
from symancf_codegen.structure import classes_of
from symancf_codegen.text.contract import contract_residual, jets_function
from symancf_codegen.text.contract_tangent import (
    contract_diagonal,
    contract_tangent,
    multiply_moments,
)
from symancf_codegen.text.contract_tensor import factored, tensor_functions
from symancf_codegen.text.print_cell import cell_function, solve_function
from symancf_codegen.text.print_local import local_loads, solve_functions, unused
from symancf_codegen.text.print_point import (
    LawFunctions,
    by_section,
    domain_section,
    law_functions,
    loads_of_parameters,
    outputs_section,
    principal_function,
    principal_loads,
    principal_section,
    store_rows,
)
from symancf_codegen.text.printer import TABLES, Printer

if TYPE_CHECKING:
    from symancf_codegen.declare import Array, PointLaw
    from symancf_codegen.derive import Results
    from symancf_codegen.graph.dag import Node
    from symancf_codegen.structure import FunctionClass, KernelStructure, Segment
    from symancf_codegen.text.printer import PointFunction


def comment(lines: Sequence[str]) -> str:
    """Return a C block comment."""
    body = "\n".join(f" * {line}".rstrip() for line in lines)
    return f"/*\n{body.replace('*/', '* /')}\n */\n"


def array(name: str, values: Array) -> str:
    """Return the definition of a static table of numbers."""
    shape = "".join(f"[{n}]" for n in values.shape)
    return f"static const double {name}{shape} =\n{_nested(values)};\n"


def _nested(values: Array, indent: int = 0) -> str:
    pad = " " * indent
    if values.ndim == 1:
        numbers = ", ".join(repr(float(x)) for x in values)
        text = textwrap.fill(numbers, 94 - indent, subsequent_indent=pad + " ")
        return "{" + text + "}"
    rows = (",\n" + pad + " ").join(_nested(row, indent + 1) for row in values)
    return "{" + rows + "}"


def indices(name: str, functions: FunctionClass) -> str:
    """Return the definition of the static table of the functions of a class."""
    rows = [f"{{{', '.join(map(str, patch))}}}" for patch in functions.patches]
    if not functions.patched:
        return f"static const int {name}[{functions.size}] = {rows[0]};\n"
    shape = f"[{len(rows)}][{functions.size}]"
    title = f"/* functions at points {functions.points} by {functions.points} */\n"
    return f"{title}static const int {name}{shape} =\n{{{(',' + chr(10) + ' ').join(rows)}}};\n"


def includes(laws: Sequence[Results]) -> str:
    """Return the directives that a kernel of laws begins with."""
    names = ["kernel", "math", *(["local"] if any(x.local is not None for x in laws) else [])]
    names += ["principal"] if any(x.principal[0] for x in laws) else []
    return "".join(f'#include "symancf_{name}.h"\n' for name in names)


def cell_kernel(name: str, structure: KernelStructure, uniform: list[str], cell: list[str]) -> str:
    """Return the C text of a kernel on cells, without its header comment."""
    parts = [includes([use.results for s in structure.segments for use in s.uses])]
    parts.append(_tables(structure))
    laws: list[list[LawFunctions]] = []
    for segment in structure.segments:
        parts += jets_functions(structure, segment)
        shared = len(structure.shared)
        laws.append([law_functions(use, segment, uniform, cell, shared) for use in segment.uses])
    stages = zip(*(law.stages() for law in chain(*laws)), strict=True)
    parts += [f.text for f in chain(*chain(*stages))]
    tensor = [mode for mode in structure.modes if factored(structure, mode)]
    if any(MODES[mode].result("vector") and mode not in tensor for mode in structure.modes):
        parts.append(contract_residual(structure))
    if tensor:
        parts += tensor_functions(structure)
    parts += contractions(structure)
    if structure.shared:
        parts.append(solve_function(name, structure, laws))
    parts += [cell_function(name, structure, laws, mode) for mode in structure.modes]
    return "\n".join(parts)


def contractions(structure: KernelStructure) -> list[str]:
    """Return the functions that make matrices of the moments at points."""
    segments = [s for s in structure.segments if s.slot_count]
    parts = []
    if "tangent" in structure.modes:
        parts += [contract_tangent(structure, s) for s in segments]
    if "diagonal" in structure.modes:
        parts += [contract_diagonal(structure, s) for s in segments]
    if "coarse" in structure.modes and structure.linear is not None:
        linear = structure.linear
        parts.append(_functions(linear))
        parts += [contract_tangent(linear, s) for s in segments]
    if "multiply" in structure.modes:
        parts += [multiply_moments(structure, s) for s in segments]
    return parts


def _functions(structure: KernelStructure) -> str:
    """Return the tables of shape functions."""
    prefix, parts = structure.prefix, []
    for k, c in enumerate(structure.classes):
        parts.append(indices(f"{prefix}functions{k}", c))
    for s, segment in enumerate(structure.segments):
        for k, c in enumerate(structure.classes):
            if c.jets[s]:
                table = c.table(structure.tables[s][:, c.jets[s], :])
                jets = ", ".join(segment.jets[j] for j in c.jets[s])
                parts.append(f"/* shape functions: {jets} [point][jet][function] */\n")
                parts.append(array(f"{prefix}phi{s}_{k}", table))
    return "".join(parts)


def _tables(structure: KernelStructure) -> str:
    parts = [_functions(structure)]
    for s, segment in enumerate(structure.segments):
        if any(use.coordinates for use in segment.uses):
            names = ", ".join(str(x) for x in structure.space.coordinates)
            parts.append(f"/* {names} [point] */\n")
            parts.append(array(f"point{s}", segment.points))
        for k, use in enumerate(segment.uses):
            parts.append(array(f"weight{s}_{k}", np.asarray(use.rule.weights, dtype=float)))
            columns = {x: v for x, v in use.rule.columns.items() if x not in use.uniform_slots}
            if use.sections > 1 and columns:
                parts.append(f"/* {', '.join(columns)} */\n")
                parts.append(array(f"section{s}_{k}", np.column_stack(list(columns.values()))))
    return "".join(parts)


def jets_functions(structure: KernelStructure, segment: Segment) -> list[str]:
    """Return the functions that interpolate the jets of a segment."""
    s = segment.index
    parts = []
    if segment.jets:
        tables = [
            (f"phi{s}_{k}", f"functions{k}{c.place('q')}", c.size, list(c.jets[s]))
            for k, c in enumerate(structure.classes)
            if c.jets[s]
        ]
        parts.append(jets_function(f"jets{s}", len(segment.jets), tables))
    if segment.reference_jets and segment.reference_jets != segment.jets:
        table, tables = structure.reference_tables[s], []
        for k, c in enumerate(classes_of([table])):
            name, (jets,) = f"reference_functions{s}_{k}", c.jets
            parts.append(indices(name, c))
            parts.append(array(f"reference_phi{s}_{k}", c.table(table[:, jets, :])))
            tables.append((f"reference_phi{s}_{k}", name + c.place("q"), c.size, list(jets)))
        parts.append(jets_function(f"reference_jets{s}", len(segment.reference_jets), tables))
    return parts


def point_kernel(
    name: str, results: Results, law: PointLaw, uniform: list[str], cell: list[str]
) -> str:
    """Return the C text of a kernel on tuples of scalars, without its header comment."""
    printer = Printer(results, _tuple_loads(results, law, uniform, cell))
    sections = _tuple_sections(results, uniform, cell)
    domain = domain_section(results.graph, results.domain)
    principal: list[PointFunction] = []
    solve: list[PointFunction] = []
    if results.principal[0]:
        principal = [principal_function(name, principal_section(results), printer, {})]
    if results.local is not None:
        rows = range(_unknowns(results))
        solve = solve_functions(name, law.name, results, rows, printer, {})
    parts = [includes([results]), *(f.text for f in (*principal, *solve))]
    for mode in results.chosen:
        title = f"{mode} of {law.name}"
        stored = [*domain, *sections[mode]]
        function = printer.function(f"{name}_{mode}_at_point", title, stored, {})
        called = [*(solve[-1:] if "X" in function.arguments else ()), function]
        if any("Q" in f.arguments for f in called):
            called = [*principal, *called]
        parts += [function.text, _tuple_function(name, mode, results, called, len(cell))]
    return "\n".join(parts)


def _tuple_loads(
    results: Results, law: PointLaw, uniform: list[str], cell: list[str]
) -> dict[str, str]:
    """Return the C of the leaves of a law on tuples of scalars."""
    count = _unknowns(results)
    loads = loads_of_parameters(uniform, cell)
    loads |= local_loads(results, range(count), count) | principal_loads(results)
    for k, leaf in enumerate(results.leaves):
        loads |= {leaf: f"g[{8 * k} + l]", f"d_{leaf}": f"h[{8 * k} + l]"}
    for k, m in enumerate(law.history, len(cell)):
        loads |= {m.name: f"cell[{8 * k} + l]", f"seed {m.name}": f"seed[{8 * k} + l]"}
    return loads


def _tuple_sections(
    results: Results, uniform: Sequence[str], cell: Sequence[str]
) -> dict[str, list[LoopSection]]:
    """Return what each mode stores of a law on tuples of scalars."""

    def store(title: str, array_name: str, nodes: Sequence[Node]) -> LoopSection:
        return LoopSection(title, store_rows(array_name, enumerate(nodes), "="))

    sections = {
        "energy": [LoopSection("energy", [Output("W[l] = {};", results.energy)])],
        "residual": [store("residual", "N", results.residual)],
        "tangent": [store("residual", "N", results.residual_with_tangent)],
        "product": [store("tangent times direction", "N", results.product)],
        "parameter": [store("derivative by parameters", "N", results.parameter)],
        "pull": [
            store("derivative by unknowns", "N", results.pull[: len(results.leaves)]),
            by_section(results, uniform, cell),
        ],
        "shape": [store("there is no reference", "N", [results.graph.zero] * len(results.leaves))],
        **{key: [outputs_section(results)] for key in TABLES},
    }
    if results.tangent:
        nodes = [results.tangent.get(key, results.graph.zero) for key in _entries(results)]
        sections["tangent"].append(store("tangent", "M", nodes))
    return sections


def _unknowns(results: Results) -> int:
    """Return how many unknowns a law has at a point."""
    return 0 if results.local is None else len(results.local.unknowns)


def _entries(results: Results) -> list[tuple[int, int]]:
    """Return row and column of the entries of K; of a symmetric one the upper triangle."""
    size = len(results.leaves)
    if results.symmetric:
        return [(r, c) for c in range(size) for r in range(c + 1)]
    return [(r, c) for r in range(size) for c in range(size)]


def _tuple_function(
    name: str, mode: str, results: Results, called: Sequence[PointFunction], rows: int
) -> str:
    """Return the text of function `mode`, which calls point functions one after the other.

    `rows` : parameters per tuple, before what it remembers.
    """
    row = MODES[mode]
    values = {
        "g": "u",
        "h": "v",
        "N": row.result("vector") or "",
        "M": "K",
        "by_old": f"&by_cell[{8 * rows}]",
        "bad": "(double *)&bad",
    }
    read = {values.get(a, a) for f in called for a in f.arguments}
    lines = [signature(name, mode), "{", "    v8 bad = {0};"]
    if "Q" in read:
        lines.append("    double Q[120] __attribute__((aligned(64)));")
    if "X" in read:
        count = _unknowns(results)
        lines.append(f"    double X[{8 * count * (1 + count)}] __attribute__((aligned(64)));")
    inputs = (*sorted(("uniform", "cell", "u")), COMMON[2], *row.inputs[1:])
    lines += unused((*inputs, *row.sums), f"({', '.join(sorted(read))})")
    if "K" in row.results and not results.tangent:
        lines.append("    (void)K; /* the law is linear in the unknowns: K = 0 */")
    for f in called:
        lines.append(f"    {f.name}({', '.join(values.get(a, a) for a in f.arguments)});")
    entries = len(_entries(results)) if results.tangent else 0
    sizes = {"scalar": 1, "vector": len(results.leaves), "matrix": entries}
    for result in row.results:
        size = sizes.get(OPERANDS[result].shape, 0)
        if size:
            lines.append(f"    symancf_finite({size}, (const v8 *){result}, &bad);")
    lines += ["    return symancf_count(lanes, &bad);", "}", ""]
    return "\n".join(lines)

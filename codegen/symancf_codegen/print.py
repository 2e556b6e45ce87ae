# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print: the C text of a kernel."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from symancf_codegen.contract import contract_residual, contract_tangent, jets_function
from symancf_codegen.dag import Graph, Node
from symancf_codegen.declare import Array
from symancf_codegen.point import Point
from symancf_codegen.schedule import Output, Section, identifier, schedule, used_symbols
from symancf_codegen.structure import LawUse, Segment, Structure, moment_outputs

MODES = ("energy", "residual", "tangent", "product")

_INPUTS = {
    "energy": "const double *u, double *W",
    "residual": "const double *u, double *f",
    "tangent": "const double *u, double *f, double *K",
    "product": "const double *u, const double *v, double *Kv",
}


def signature(name: str, mode: str) -> str:
    """Return the C declaration of function `mode` of kernel `name`."""
    head = f"int {name}_{mode}(int lanes, const double *uniform, const double *cell,"
    indent = " " * (len(f"int {name}_{mode}("))
    return f"{head}\n{indent}const double *reference, {_INPUTS[mode]})"


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


def integers(name: str, values: Sequence[int]) -> str:
    """Return the definition of a static table of indices."""
    return f"static const int {name}[{len(values)}] = {{{', '.join(map(str, values))}}};\n"


class PointPrinter:
    """Prints the function of one law at one point, for one mode.

    Parameters
    ----------
    name : C name of the function.
    point : the lowered law.
    uniform, cell : slots of the parameters.
    rows : C expression of every leaf that is not a parameter, by name.
    """

    def __init__(
        self,
        name: str,
        point: Point,
        uniform: Sequence[str],
        cell: Sequence[str],
        rows: dict[str, str],
        scalars: Sequence[str],
    ) -> None:
        self.name = name
        self.point = point
        self.loads = dict(rows)
        self.loads.update({p: f"uniform[{k}]" for k, p in enumerate(uniform)})
        self.loads.update({p: f"cell[{8 * k} + l]" for k, p in enumerate(cell)})
        self.scalars = list(scalars)
        self.loads.update({s: identifier(s) for s in scalars})

    def text(self, sections: Sequence[Section], title: str) -> tuple[str, list[str]]:
        """Return the function's text and the names of its arguments, in order."""
        graph = self.point.graph
        outputs = [o.node for s in sections for o in s.outputs]
        program = schedule(graph, sections, self.point.named, self.loads)
        used = used_symbols(graph, outputs)
        body = "\n".join(line for _, lines in program.body for line in lines)
        arguments: list[tuple[str, str]] = []
        for array_name in ("uniform", "cell", "G", "g", "h"):
            if any(self.loads[s].startswith(f"{array_name}[") for s in used):
                arguments.append((array_name, f"const double *restrict {array_name}"))
        arguments += [(s, f"double {identifier(s)}") for s in self.scalars if s in used]
        for array_name in ("W", "N", "M", "bad"):
            if f"{array_name}[" in body:
                arguments.append((array_name, f"double *restrict {array_name}"))
        declaration = textwrap.fill(
            f"static void {self.name}({', '.join(a for _, a in arguments)})",
            96,
            subsequent_indent=" " * (len(self.name) + 13),
        )
        lines = [f"/* {title} */", declaration, "{"]
        lines += [f"    {line}" for line in program.before]
        lines.append("    #pragma omp simd simdlen(8)")
        lines.append("    for (int l = 0; l < 8; l++) {")
        for section_title, statements in program.body:
            lines.append(f"        /* {section_title} */")
            lines += [f"        {statement}" for statement in statements]
        lines += ["    }", "}", ""]
        return "\n".join(lines), [a for a, _ in arguments]


def bad_output(graph: Graph, domain: Sequence[Node]) -> list[Section]:
    """Return the section that counts a lane whose domain expressions are not all > 0."""
    if not domain:
        return []
    good = graph.constant(1.0)
    for k, node in enumerate(domain):
        positive = graph.call("lt", graph.zero, node)
        good = positive if k == 0 else graph.call("and", good, positive)
    bad = graph.select(good, graph.zero, graph.one)
    return [Section("domain", [Output("bad[l] += {};", bad)])]


def _accumulate(target: str, pairs: Sequence[tuple[int, Node]]) -> list[Output]:
    return [Output(f"{target}[{8 * row} + l] += {{}};", node) for row, node in pairs]


def law_function(
    use: LawUse,
    segment: Segment,
    mode: str,
    uniform: Sequence[str],
    cell: Sequence[str],
) -> tuple[str, list[str]]:
    """Return text and argument names of one law's point function."""
    point = use.point
    zero = point.graph.zero
    rows = {}
    for leaf in point.leaves:
        if leaf[2:-1] in segment.jets:
            rows[leaf] = f"g[{8 * segment.row(leaf)} + l]"
            rows[f"d_{leaf}"] = f"h[{8 * segment.row(leaf)} + l]"
    for jet in segment.reference_jets:
        for a in (1, 2, 3):
            leaf = f"R_{jet}{a}"
            rows[leaf] = f"G[{8 * segment.reference_row(leaf)} + l]"
    scalars = ["weight", *(use.rule.section_symbols if use.sections > 1 else ())]
    printer = PointPrinter(f"{use.name}_{mode}", point, uniform, cell, rows, scalars)
    sections = bad_output(point.graph, point.domain)

    def vector(nodes: Sequence[Node]) -> list[tuple[int, Node]]:
        pairs = zip(point.leaves, nodes, strict=True)
        return [(segment.row(leaf), node) for leaf, node in pairs if node != zero]

    if mode == "energy":
        energy = point.energy()
        if energy != zero:
            sections.append(Section("energy", [Output("W[l] += {};", energy)]))
    elif mode == "residual":
        sections.append(Section("residual", _accumulate("N", vector(use.residual))))
    elif mode == "product":
        sections.append(Section("tangent times direction", _accumulate("N", vector(use.product))))
    else:
        sections.append(Section("residual", _accumulate("N", vector(use.residual_with_tangent))))
        moments = moment_outputs(segment, use)
        if moments:
            sections.append(Section("tangent", _accumulate("M", moments)))
    if not any(s.outputs for s in sections):
        return "", []
    return printer.text(sections, f"{mode} of {use.law.title or use.law.name} at one point")


def cell_kernel(name: str, structure: Structure, uniform: list[str], cell: list[str]) -> str:
    """Return the C text of a kernel on cells, without its header comment."""
    parts = ['#include "symancf_kernel.h"\n#include "symancf_math.h"\n']
    parts.append(_tables(structure))
    for segment in structure.segments:
        parts += jets_functions(structure, segment)
    calls: dict[str, list[list[str]]] = {mode: [] for mode in MODES}
    for mode in MODES:
        for segment in structure.segments:
            lines: list[str] = []
            for k, use in enumerate(segment.uses):
                text, arguments = law_function(use, segment, mode, uniform, cell)
                if text:
                    parts.append(text)
                    lines += _call(use, k, segment, mode, arguments)
            calls[mode].append(lines)
    parts.append(contract_residual(structure))
    if structure.has_tangent:
        parts.append(contract_tangent(structure))
    parts += [_main(name, structure, mode, calls[mode]) for mode in MODES]
    return "\n".join(parts)


def _tables(structure: Structure) -> str:
    parts = []
    for k, c in enumerate(structure.classes):
        parts.append(integers(f"functions{k}", c.functions))
    for s, segment in enumerate(structure.segments):
        for k, c in enumerate(structure.classes):
            if c.jets[s]:
                table = structure.tables[s][:, c.jets[s], :][:, :, c.functions]
                jets = ", ".join(segment.jets[j] for j in c.jets[s])
                parts.append(f"/* shape functions: {jets} [point][jet][function] */\n")
                parts.append(array(f"phi{s}_{k}", table))
        for k, use in enumerate(segment.uses):
            parts.append(array(f"weight{s}_{k}", np.asarray(use.rule.weights, dtype=float)))
            if use.sections > 1:
                sections = np.column_stack([use.rule.section_weights, use.rule.section_points])
                parts.append(f"/* weight, {', '.join(use.rule.section_symbols)} */\n")
                parts.append(array(f"section{s}_{k}", sections))
    return "".join(parts)


def jets_functions(structure: Structure, segment: Segment) -> list[str]:
    """Return the functions that interpolate the jets of a segment."""
    s = segment.index
    parts = []
    if segment.jets:
        tables = [
            (f"phi{s}_{k}", f"functions{k}", len(c.functions), list(c.jets[s]))
            for k, c in enumerate(structure.classes)
            if c.jets[s]
        ]
        parts.append(jets_function(f"jets{s}", len(segment.jets), tables))
    if segment.reference_jets and segment.reference_jets != segment.jets:
        groups: dict[tuple[int, ...], list[int]] = {}
        table = structure.reference_tables[s]
        for i in range(structure.space.size):
            jets = tuple(j for j in range(table.shape[1]) if np.any(table[:, j, i]))
            if jets:
                groups.setdefault(jets, []).append(i)
        tables = []
        for k, (jets, functions) in enumerate(groups.items()):
            parts.append(integers(f"reference_functions{s}_{k}", functions))
            values = table[:, list(jets), :][:, :, functions]
            parts.append(array(f"reference_phi{s}_{k}", values))
            tables.append(
                (f"reference_phi{s}_{k}", f"reference_functions{s}_{k}", len(functions), list(jets))
            )
        parts.append(jets_function(f"reference_jets{s}", len(segment.reference_jets), tables))
    return parts


def _call(use: LawUse, k: int, segment: Segment, mode: str, arguments: list[str]) -> list[str]:
    s = segment.index
    values = {
        "uniform": "uniform",
        "cell": "cell",
        "G": "(const double *)G",
        "g": "(const double *)g",
        "h": "(const double *)h",
        "W": "W",
        "N": f"(double *)N{s}[q]",
        "M": f"(double *)M{s}[q]",
        "bad": "(double *)&bad",
        "weight": f"weight{s}_{k}[q]",
    }
    if use.sections == 1:
        factor = float(use.rule.section_weights[0])
        if factor != 1.0:
            values["weight"] += f"*{factor!r}"
        call = ", ".join(values[a] for a in arguments)
        return [f"{use.name}_{mode}({call});"]
    values["weight"] += f"*section{s}_{k}[s][0]"
    for c, symbol in enumerate(use.rule.section_symbols):
        values[symbol] = f"section{s}_{k}[s][{c + 1}]"
    call = ", ".join(values[a] for a in arguments)
    return [f"for (int s = 0; s < {use.sections}; s++)", f"    {use.name}_{mode}({call});"]


def _main(name: str, structure: Structure, mode: str, calls: list[list[str]]) -> str:
    lines = [signature(name, mode), "{", "    v8 bad = {0};"]
    text = "\n".join(line for group in calls for line in group)
    vector = mode in ("residual", "tangent", "product")
    tangent = mode == "tangent" and structure.has_tangent
    for argument in ("uniform", "cell"):
        if f"{argument}," not in text and f"{argument})" not in text:
            lines.append(f"    (void){argument};")
    if "(const double *)G" not in text:
        lines.append("    (void)reference;")
    if "(const double *)g" not in text:
        lines.append("    (void)u;")
    if mode == "product" and "(const double *)h" not in text:
        lines.append("    (void)v;")
    if mode == "tangent" and not tangent:
        lines.append("    (void)K; /* the laws are linear in the unknowns: K = 0 */")
    if mode == "energy":
        lines.append("    symancf_zero(1, (v8 *)W);")
    segments = structure.segments
    if vector:
        lines += [f"    v8 N{s.index}[{s.size}][{3 * len(s.jets)}];" for s in segments if s.jets]
    if tangent:
        lines += [f"    v8 M{s.index}[{s.size}][{s.slot_count}];" for s in segments if s.slot_count]
    for segment, group in zip(segments, calls, strict=True):
        if group or (vector and segment.jets):
            lines += _loop(segment, mode, group, tangent)
    if vector:
        target = "Kv" if mode == "product" else "f"
        arguments = ", ".join([*(f"N{s.index}" for s in segments if s.jets), f"(v8 *){target}"])
        lines.append(f"    contract_residual({arguments});")
        lines.append(f"    symancf_finite({3 * structure.space.size}, (const v8 *){target}, &bad);")
    else:
        lines.append("    symancf_finite(1, (const v8 *)W, &bad);")
    if tangent:
        arguments = ", ".join([*(f"M{s.index}" for s in segments if s.slot_count), "(v8 *)K"])
        lines.append(f"    contract_tangent({arguments});")
    lines += ["    return symancf_count(lanes, &bad);", "}", ""]
    return "\n".join(lines)


def _loop(segment: Segment, mode: str, calls: list[str], tangent: bool) -> list[str]:
    s = segment.index
    text = "\n".join(calls)
    lines = [f"    for (int q = 0; q < {segment.size}; q++) {{"]
    if "(const double *)G" in text:
        function = f"jets{s}" if segment.reference_jets == segment.jets else f"reference_jets{s}"
        lines.append(f"        v8 G[{3 * len(segment.reference_jets)}];")
        lines.append(f"        {function}(q, (const v8 *)reference, G);")
    for array_name, source in (("g", "u"), ("h", "v")):
        if f"(const double *){array_name}" in text:
            lines.append(f"        v8 {array_name}[{3 * len(segment.jets)}];")
            lines.append(f"        jets{s}(q, (const v8 *){source}, {array_name});")
    if mode != "energy" and segment.jets:
        lines.append(f"        symancf_zero({3 * len(segment.jets)}, N{s}[q]);")
    if tangent and segment.slot_count:
        lines.append(f"        symancf_zero({segment.slot_count}, M{s}[q]);")
    lines += [f"        {line}" for line in calls]
    if tangent and segment.slot_count:
        lines.append(f"        symancf_finite({segment.slot_count}, M{s}[q], &bad);")
    lines.append("    }")
    return lines


def point_kernel(name: str, point: Point, uniform: list[str], cell: list[str]) -> str:
    """Return the C text of a kernel on tuples of scalars, without its header comment."""
    graph, zero = point.graph, point.graph.zero
    size = len(point.leaves)
    rows = {leaf: f"g[{8 * k} + l]" for k, leaf in enumerate(point.leaves)}
    rows.update({f"d_{leaf}": f"h[{8 * k} + l]" for k, leaf in enumerate(point.leaves)})
    tangent = point.tangent()
    title = point.law.title or point.law.name
    parts = ['#include "symancf_kernel.h"\n#include "symancf_math.h"\n']

    def store(array_name: str, nodes: Sequence[Node]) -> list[Output]:
        return [Output(f"{array_name}[{8 * k} + l] = {{}};", x) for k, x in enumerate(nodes)]

    if point.symmetric:
        keys = [(r, c) for c in range(size) for r in range(c + 1)]
    else:
        keys = [(r, c) for r in range(size) for c in range(size)]
    sections = {
        "energy": [Section("energy", [Output("W[l] = {};", point.energy())])],
        "residual": [Section("residual", store("N", point.residual()))],
        "tangent": [Section("residual", store("N", point.residual_with_tangent()))],
        "product": [Section("tangent times direction", store("N", point.product()))],
    }
    if tangent:
        nodes = [tangent.get(key, zero) for key in keys]
        sections["tangent"].append(Section("tangent", store("M", nodes)))
    for mode in MODES:
        printer = PointPrinter(f"{name}_{mode}_point", point, uniform, cell, rows, ())
        text, arguments = printer.text(
            [*bad_output(graph, point.domain), *sections[mode]], f"{mode} of {title}"
        )
        parts.append(text)
        target = {"energy": "W", "product": "Kv"}.get(mode, "f")
        values = {"g": "u", "h": "v", "N": target, "M": "K", "bad": "(double *)&bad"}
        call = ", ".join(values.get(a, a) for a in arguments)
        lines = [signature(name, mode), "{", "    v8 bad = {0};"]
        unused = {"uniform", "cell", "u"} - {values.get(a, a) for a in arguments}
        lines += [f"    (void){a};" for a in (*sorted(unused), "reference")]
        if mode == "product" and "h" not in arguments:
            lines.append("    (void)v;")
        if mode == "tangent" and not tangent:
            lines.append("    (void)K; /* the law is linear in the unknowns: K = 0 */")
        lines.append(f"    {name}_{mode}_point({call});")
        count = 1 if mode == "energy" else size
        lines.append(f"    symancf_finite({count}, (const v8 *){target}, &bad);")
        if mode == "tangent" and tangent:
            lines.append(f"    symancf_finite({len(keys)}, (const v8 *)K, &bad);")
        lines += ["    return symancf_count(lanes, &bad);", "}", ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)

# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print: unknowns of a point or a cell, solved for before the law is evaluated there.

Rows of the array X: the m unknowns, then the inverse of d equations / d unknowns. Unknowns of a
point are found by a function ``<law>_solve_at_point``, those of a cell by one ``<kernel>_solve``
that sums the equations over all points; both run Newton's method of ``symancf_local.h``. In what
a kernel returns unknowns of a cell are eliminated: K - C Y C^T with the columns C_k of what a
unit of the unknown k adds to the residual, and likewise for products.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.schedule import LoopSection, Output
from symancf_codegen.modes import MODES
from symancf_codegen.text.printer import PointFunction, declaration

if TYPE_CHECKING:
    from symancf_codegen.derive import LocalResults, Results
    from symancf_codegen.graph.dag import ExpressionGraph, Node
    from symancf_codegen.structure import KernelStructure, LawUse, Segment
    from symancf_codegen.text.printer import Printer


COUPLING = "coupling with the cell's unknowns"


def local_loads(results: Results, rows: Sequence[int], size: int) -> dict[str, str]:
    """Return the C of the unknowns, which have the `rows` of `size` in X, and of the inverse."""
    local, name = results.local, results.graph.name
    if local is None:
        return {}
    loads = {name[x]: f"X[{8 * row} + l]" for x, row in zip(local.unknowns, rows, strict=True)}
    places = [size + size * r + c for r in rows for c in rows]
    pairs = zip(local.inverse, places, strict=True)
    loads |= {name[x]: f"X[{8 * place} + l]" for x, place in pairs}
    weights = zip(local.multipliers, rows, strict=False)  # none but in `pull`
    return loads | {name[x]: f"D[{8 * row} + l]" for x, row in weights}


def start_section(local: LocalResults, rows: Sequence[int]) -> LoopSection:
    """Return the section that stores where the unknowns begin."""
    pairs = zip(rows, local.start, strict=True)
    return LoopSection("start", [Output(f"X[{8 * r} + l] = {{}};", node) for r, node in pairs])


def step_section(local: LocalResults, rows: Sequence[int], size: int) -> LoopSection:
    """Return the section that stores equations, slopes and sizes of a point."""
    places = [*rows, *(size + size * r + c for r in rows for c in rows)]
    places += [size + size * size + r for r in rows]
    nodes = [*local.equations, *local.slopes, *local.magnitudes]
    pairs = zip(places, nodes, strict=True)
    return LoopSection("equations", [Output(f"E[{8 * p} + l] = {{}};", node) for p, node in pairs])


def sum_section(
    results: Results, rows: Sequence[int], size: int, slopes: bool, *, first: bool = False
) -> LoopSection:
    """Return the section that adds a point's part to equations, slopes and sizes of a cell.

    `first` : where the unknowns begin, if these are numbers.
    """
    local, g = results.local, results.graph
    assert local is not None
    end = size + size * (size + 1) // 2
    if slopes:
        pairs = [*zip(rows, local.equations_with_slopes, strict=True), *_slopes(local, rows, size)]
        pairs += [(end + r, node) for r, node in zip(rows, local.magnitudes, strict=True)]
    else:
        pairs = [*zip(rows, local.equations, strict=True)]
    places, nodes, domain = [p for p, _ in pairs], [x for _, x in pairs], results.domain
    if first and all(map(g.is_constant, local.start)):
        begin = dict(zip(local.unknowns, local.start, strict=True))
        nodes, domain = g.substitute(nodes, begin), g.substitute(domain, begin)
    outputs = _added("E", zip(places, nodes, strict=True), g.zero)
    domain = [x for x in dict.fromkeys(domain) if not g.is_constant(x)]
    if domain:
        outputs.append(Output(f"E[{8 * (end + size)} + l] += {{}};", outside(g, domain)))
    return LoopSection("equations", outputs)


def outside(graph: ExpressionGraph, domain: Sequence[Node]) -> Node:
    """Return the node that is true where not all of the domain's expressions are > 0."""
    positive = [graph.call("lt", graph.zero, node) for node in domain]
    return graph.call("not", reduce(partial(graph.call, "and"), positive))


def _added(array: str, pairs: Iterable[tuple[int, Node]], zero: Node) -> list[Output]:
    """Return the outputs that add nodes to rows of an array."""
    return [Output(f"{array}[{8 * row} + l] += {{}};", node) for row, node in pairs if node != zero]


def _slopes(local: LocalResults, rows: Sequence[int], size: int) -> list[tuple[int, Node]]:
    """Return rows of E and nodes of the upper triangle of the slopes in a cell of `size`."""
    return [
        (size + r * size - r * (r - 1) // 2 + c - r, local.slopes[len(rows) * i + j])
        for i, r in enumerate(rows)
        for j, c in enumerate(rows)
        if r <= c
    ]


def coupling_sections(use: LawUse, segment: Segment, mode: str, size: int) -> list[LoopSection]:
    """Return what a mode needs at a point to eliminate the `size` unknowns of the cell."""
    local, zero = use.results.local, use.results.graph.zero
    if local is None or not local.shared or mode not in ("tangent", "product", "parameter"):
        return []
    sign = "=" if segment.alone else "+="
    outputs: list[Output] = []
    for row, column in zip(use.rows, local.columns, strict=True):
        pairs = zip(use.results.leaves, column, strict=True)
        places = {segment.row(leaf): node for leaf, node in pairs if node != zero}
        if segment.alone:
            places = {k: places.get(k, zero) for k in range(3 * len(segment.jets))}
        outputs += [Output(f"C{row}[{8 * k} + l] {sign} {{}};", places[k]) for k in sorted(places)]
    sums = _slopes(local, use.rows, size)
    if mode == "tangent":
        sums += zip(use.rows, local.equations_with_slopes, strict=True)
    else:
        rates = zip(use.rows, local.moved, strict=True)
        outputs += [Output(f"D[{8 * row} + l] += {{}};", node) for row, node in rates]
    return [LoopSection(COUPLING, [*outputs, *_added("E", sums, zero)])]


def weigh_sections(results: Results, rows: Sequence[int], size: int) -> list[LoopSection]:
    """Return what `pull` needs of a point to weigh the equations of the cell, if it is asked for.

    Derivatives by the cell's unknowns of what it differentiates, and the slopes of the equations.
    """
    local = results.local
    if local is None or not local.weighed:
        return []
    outputs = _added("D", zip(rows, local.weighed, strict=True), results.graph.zero)
    slopes = _added("E", _slopes(local, rows, size), results.graph.zero)
    return [LoopSection("weights", [*outputs, *slopes])]


def weigh_in_cell(size: int, loops: Sequence[str]) -> list[str]:
    """Return the statements that find the weights D of the equations of a cell in `pull`.

    `loops` add to what they are made of, see `weigh_sections`.
    """
    rows = 2 * size + size * (size + 1) // 2 + 1
    return [
        f"    v8 D[{size}], E[{rows}], Y[{size * size}], S[{size}];",
        f"    symancf_zero({size}, S);",
        f"    symancf_zero({rows}, E);",
        *(f"    {line}" for line in loops),
        f"    symancf_cell_invert({size}, (const double *)E, (double *)Y);",
        f"    symancf_finite({size * size}, Y, &bad);",
        f"    symancf_zero({size}, D);",
        f"    for (int k = 0; k < {size}; k++)",
        f"        for (int i = 0; i < {size}; i++)",
        f"            D[k] -= Y[{size}*k + i]*S[i];",
        f"    symancf_finite({size}, D, &bad);",
    ]


def solve_functions(
    name: str,
    title: str,
    results: Results,
    rows: Sequence[int],
    printer: Printer,
    inputs: Mapping[Node, str],
    size: int = 0,
) -> list[PointFunction]:
    """Return what solves for unknowns; of a point, the last function is to be called there.

    Of a cell, which has `size` of them in all its laws, where they begin and what adds to their
    equations.
    """
    local = results.local
    assert local is not None
    size = size or len(rows)
    title = f"unknowns of {title}" + ("" if local.shared else " at one point")
    start = printer.function(
        f"{name}_start_at_point",
        f"{title}: start",
        [start_section(local, rows)],
        {} if local.shared else inputs,
    )
    if local.shared:
        sums = [
            printer.function(
                f"{name}_{word}_at_point",
                f"{title}: {word}",
                [sum_section(results, rows, size, slopes, first=word == "first")],
                inputs,
            )
            for word, slopes in (("first", True), ("equations", False), ("slopes", True))
        ]
        if not {*start.arguments} <= {"uniform", "cell", "X"}:
            raise CodegenError(
                f"law {name!r}: unknowns of a cell begin at numbers or parameters of the cell"
            )
        return [start, *sums]
    step = printer.function(
        f"{name}_local_at_point",
        f"{title}: equations",
        [step_section(local, rows, size)],
        inputs,
    )
    names = [a for a in dict.fromkeys((*start.arguments, *step.arguments)) if a not in ("X", "E")]
    plain = [printer.plain(s) for s in printer.scalars]
    declared = [f"double {a}" if a in plain else f"const double *restrict {a}" for a in names]
    declared += ["double *restrict X", "double *restrict bad"]
    name = f"{name}_solve_at_point"
    text = [f"/* {title}: Newton's method */", *declaration(name, declared), "{"]
    text += [f"    double E[{8 * (size + size * size + size)}] __attribute__((aligned(64)));"]
    text += ["    symancf_search search;"]
    text += [f"    {start.name}({', '.join(start.arguments)});"]
    text += [f"    symancf_begin({size}, X, &search);", "    do"]
    text += [f"        {step.name}({', '.join(step.arguments)});"]
    text += [f"    while (symancf_newton({size}, X, E, &search, bad));", "}", ""]
    solve = PointFunction(name, "\n".join(text), [*names, "X", "bad"])
    return [start, step, solve]


def solve_in_cell(
    name: str,
    structure: KernelStructure,
    start: Sequence[PointFunction],
    arrays: Mapping[str, str],
    own: Mapping[str, str],
    loops: Mapping[str, Sequence[str]],
) -> str:
    """Return the function that solves for the unknowns of a cell.

    `arrays` : declarations by name of the arrays that it is given; `own` : of those that it has;
    `loops` : what sums the equations, see `SOLVE`.
    """
    size = len(structure.shared)
    head = f"static void {name}_solve("
    declared = ["const double *uniform", "const double *cell", *arrays.values()]
    pieces = [", ".join(declared), "double enough, double *X, double *bad)"]
    lines = ["/* unknowns of the cell: Newton's method */", f"{head}{pieces[0]},"]
    lines += [f"{' ' * len(head)}{pieces[1]}", "{"]
    body = [*(x for loop in loops.values() for x in loop), *(f"{f.arguments}" for f in start)]
    lines += unused(("uniform", "cell", *arrays), "\n".join(body))
    lines += [f"    {x};" for x in own.values()]
    rows = 2 * size + size * (size + 1) // 2 + 1
    lines += [f"    double E[{8 * rows}] __attribute__((aligned(64)));"]
    lines += ["    symancf_cell_search search;"]
    lines += [f"    {f.name}({', '.join(f.arguments)});" for f in start]
    lines += [f"    symancf_cell_begin({size}, X, enough, &search);", "    do {"]
    lines.append(f"        symancf_zero({rows}, (v8 *)E);")
    first, equations, slopes = loops.values()
    cases = {"if (!search.steps)": first, "else if (search.slopes)": slopes, "else": equations}
    for condition, loop in cases.items():
        lines.append(f"        {condition} {{")
        lines += [f"            {line}" for line in loop]
        lines.append("        }")
    lines += [f"    }} while (symancf_cell_newton({size}, X, E, &search, bad));", "}", ""]
    return "\n".join(lines)


def unused(arguments: Sequence[str], text: str) -> list[str]:
    """Return statements for the arguments that a text does not use."""
    lines = []
    for a in arguments:
        present = any(c in text for c in (f"{a},", f"{a})", f"*){a}", f"&{a}[", f"'{a}'"))
        if not present:
            lines.append(f"    (void){a};")
    return lines


def before(
    structure: KernelStructure,
    name: str,
    mode: str,
    body: str,
    arrays: Mapping[str, str],
    filled: Sequence[str],
) -> list[str]:
    """Return what a function does first to know the cell's unknowns, if its body asks for them.

    `arrays` : declarations of arrays by name, which are `filled` before.
    """
    size = len(structure.shared)
    solves = size and (columns(mode) or re.search(r"\bX\b", body))
    if not solves and not any(re.search(rf"\b{a}\b", body) for a in arrays):
        return []
    lines = [*(f"    {x};" for x in arrays.values()), *(f"    {x}" for x in filled)]
    if not solves:
        return lines
    lines.append(f"    double X[{8 * (size + size * size)}] __attribute__((aligned(64)));")
    enough = "LINEAR" if columns(mode) or mode == "energy" else "ROUND_OFF"
    arguments = ", ".join(["uniform", "cell", *arrays, f"SYMANCF_{enough}", "X"])
    lines.append(f"    {name}_solve({arguments}, (double *)&bad);")
    return [*lines, *_column_arrays(structure, mode)] if columns(mode) else lines


def _column_arrays(structure: KernelStructure, mode: str) -> list[str]:
    """Return the arrays of what units of the cell's unknowns change, and what clears them."""
    size, lines = len(structure.shared), []
    for s in (s for s in structure.segments if s.jets):
        rows = 3 * len(s.jets)
        added = not s.alone or not any(use.law.shared for use in s.uses)
        for k in range(size):
            name = f"C{s.index}_{k}"
            lines.append(f"    v8 {name}[{s.size}][{rows}];")
            if added:
                lines.append(f"    symancf_zero({s.size * rows}, {name}[0]);")
    if mode != "tangent":
        lines += [f"    v8 D[{size}];", f"    symancf_zero({size}, D);"]
    rows = 2 * size + size * (size + 1) // 2 + 1
    return [*lines, f"    v8 E[{rows}], Y[{size * size}];", f"    symancf_zero({rows}, E);"]


def columns(mode: str) -> bool:
    """Whether a mode is to be completed by the change of the cell's unknowns."""
    return mode in ("tangent", "product", "parameter")


def after(structure: KernelStructure, mode: str) -> list[str]:
    """Return what completes the results of a function by the change of the cell's unknowns."""
    size, n = len(structure.shared), structure.space.size
    if not size or not columns(mode):
        return []
    lines = [f"    v8 C[{size}][{3 * n}];"]
    for k in range(size):
        arrays = [f"C{s.index}_{k}" for s in structure.segments if s.jets]
        lines.append(f"    contract_residual({', '.join([*arrays, f'C[{k}]'])});")
    lines.append(f"    symancf_cell_invert({size}, (const double *)E, (double *)Y);")
    lines.append(f"    symancf_finite({size * size}, Y, &bad);")
    arguments = "(const double *)C, (const double *)Y"
    if mode == "tangent":
        full = int(not structure.symmetric)
        lines.append(f"    symancf_finite({size * 3 * n}, C[0], &bad);")
        lines.append(f"    symancf_condense({n}, {full}, {size}, {arguments}, K);")
    rates = "(const double *)" + ("E" if mode == "tangent" else "D")
    target = MODES[mode].result("vector")
    lines.append(f"    symancf_follow({3 * n}, {size}, {arguments}, {rates}, {target});")
    return lines

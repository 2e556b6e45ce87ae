# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, second part: the functions of a kernel on cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symancf_codegen.graph.schedule import identifier
from symancf_codegen.modes import COMMON, MODES, MOMENTS, WEIGHING, signature
from symancf_codegen.text.contract_tangent import assigns, tangent_chunk
from symancf_codegen.text.contract_tensor import factored
from symancf_codegen.text.print_local import after, before, solve_in_cell, unused, weigh_in_cell
from symancf_codegen.text.printer import broken

if TYPE_CHECKING:
    from symancf_codegen.structure import KernelStructure, LawUse, Segment
    from symancf_codegen.text.print_point import LawFunctions
    from symancf_codegen.text.printer import PointFunction

#: What is evaluated to find the unknowns of a cell: with slopes where they begin, without slopes,
#: with slopes; no functions that a kernel offers.
SOLVE = ("first", "equations", "slopes")

#: The function that makes the matrix of a mode of moments, without the number of the segment.
_CONTRACTIONS = {
    "tangent": "contract_tangent",
    "diagonal": "contract_diagonal",
    "coarse": "corner_contract_tangent",
}

#: About how many points go through a stage together.
CHUNK = 8


def chunk(segment: Segment, tangent: bool) -> int:
    """Return how many in-plane points go through the stages together."""
    if tangent and segment.slot_count:
        return tangent_chunk(segment)
    through = max(use.sections for use in segment.uses)
    chunks = -(-segment.size // max(1, round(CHUNK / through)))
    return -(-segment.size // chunks)


def tangent_rows(structure: KernelStructure) -> int:
    """Return the number of rows of K."""
    n = structure.space.size
    return 9 * (n * (n + 1) // 2 if structure.symmetric else n * n)


def cell_function(
    name: str, structure: KernelStructure, laws: Sequence[Sequence[LawFunctions]], mode: str
) -> str:
    """Return the text of function `mode` of kernel `name`."""
    if mode == "multiply":
        return multiply_function(name, structure)
    segments = structure.segments
    row = MODES[mode]
    vector, scalar = row.result("vector"), row.result("scalar")
    body: list[str] = []
    for segment, group in zip(segments, laws, strict=True):
        body += _segment(structure, segment, group, mode)
    arrays = keep(structure, laws)
    weighed = _weighed(structure, laws) if mode in WEIGHING else []
    asks = "\n".join([*weighed, *body])
    first = [*before(structure, name, mode, asks, arrays.arrays, arrays.filled), *weighed]
    lines = [signature(name, mode), "{"]
    lines += unused((*COMMON, *row.inputs, *row.sums), "\n".join([*first, *body]))
    if mode == "tangent" and not structure.has_tangent:
        lines.append("    (void)K; /* the laws are linear in the unknowns: K = 0 */")
    lines.append("    v8 bad = {0};")
    lines += first
    if scalar:
        lines.append(f"    symancf_zero(1, (v8 *){scalar});")
    if vector:
        lines += [f"    v8 N{s.index}[{s.size}][{3 * len(s.jets)}];" for s in segments if s.jets]
    lines += _zero_matrix(structure, mode)
    lines += body
    if vector:
        lines += _forces(structure, mode, vector)
    if scalar:
        lines.append(f"    symancf_finite(1, (const v8 *){scalar}, &bad);")
    lines += ["    return symancf_count(lanes, &bad);", "}", ""]
    return "\n".join(lines)


def _forces(structure: KernelStructure, mode: str, vector: str) -> list[str]:
    """Return the statements that make the vector of a mode of N, and look at it."""
    segments = structure.segments
    if factored(structure, mode):
        lines = [f"    all_forces{s.index}(N{s.index}, (v8 *){vector});" for s in segments]
    else:
        arguments = ", ".join([*(f"N{s.index}" for s in segments if s.jets), f"(v8 *){vector}"])
        lines = [f"    contract_residual({arguments});"]
    lines += after(structure, mode)
    lines.append(f"    symancf_finite({3 * structure.space.size}, (const v8 *){vector}, &bad);")
    return lines


def matrix_of(mode: str) -> str | None:
    """Return the name of the matrix that a mode makes of moments, None if it makes none."""
    return MODES[mode].results[-1] if mode in MOMENTS else None


def _zero_matrix(structure: KernelStructure, mode: str) -> list[str]:
    """Return what clears the matrix of a mode, where contractions do not set all of it."""
    name = matrix_of(mode)
    if name is None or mode == "moments" or not structure.has_tangent:
        return []
    if mode == "diagonal":
        rows = 9 * structure.space.size
    else:
        of = structure if mode == "tangent" else structure.linear
        assert of is not None
        rows = 0 if assigns(of) else tangent_rows(of)
    return [f"    symancf_zero({rows}, (v8 *){name});"] if rows else []


def multiply_function(name: str, structure: KernelStructure) -> str:
    """Return the text of the function that multiplies with moments that are given."""
    segments = [s for s in structure.segments if s.slot_count]
    lines = [signature(name, "multiply"), "{", *unused(COMMON, ""), "    v8 bad = {0};"]
    for s in segments:
        rows = 3 * len(s.jets)
        lines += [
            f"    v8 N{s.index}[{s.size}][{rows}];",
            "    {",
            f"        v8 h[{s.size}][{rows}];",
        ]
        lines.append(f"        const v8 *m = (const v8 *)moments + {structure.first_moment(s)};")
        own = f"        for (int q = 0; q < {s.size}; q++)"
        if factored(structure, "multiply"):
            lines.append(f"        all_jets{s.index}((const v8 *)v, h);")
        else:
            lines.append(f"{own} jets{s.index}(q, (const v8 *)v, h[q]);")
        call = f"multiply_moments{s.index}(m + {s.slot_count}*q, h[q], N{s.index}[q]);"
        lines += [f"{own} {call}", "    }"]
    if factored(structure, "multiply"):
        lines += [f"    all_forces{s.index}(N{s.index}, (v8 *)Kv);" for s in segments]
    else:
        lines.append(
            f"    contract_residual({', '.join(f'N{s.index}' for s in segments)}, (v8 *)Kv);"
        )
    lines.append(f"    symancf_finite({3 * structure.space.size}, (const v8 *)Kv, &bad);")
    return "\n".join([*lines, "    return symancf_count(lanes, &bad);", "}", ""])


@dataclass
class CellValues:
    """What is computed once for the points of laws whose cells have unknowns.

    Attributes
    ----------
    arrays : declarations of the arrays by name.
    filled : statements that compute them.
    """

    arrays: dict[str, str] = field(default_factory=dict)
    filled: list[str] = field(default_factory=list)

    def jets(self, segment: Segment, wanted: Collection[str]) -> None:
        """Keep the jets that are `wanted` for at all points of a segment."""
        s = segment.index
        calls = []
        for a, jets, function, source in (
            ("G", segment.reference_jets, reference_jets(segment), "reference"),
            ("g", segment.jets, f"jets{s}", "u"),
        ):
            if a in wanted:
                name = f"{a}_{s}"
                self.arrays[name] = f"v8 {name}[{segment.size}][{3 * len(jets)}]"
                calls.append(f"{function}(q, (const v8 *){source}, {name}[q]);")
        self.filled += _all_points(segment.size, calls)


def keep(structure: KernelStructure, laws: Sequence[Sequence[LawFunctions]]) -> CellValues:
    """Return what does not change while the unknowns of a cell are solved for."""
    arrays = CellValues()
    for segment, group in zip(structure.segments, laws, strict=True):
        s, count = segment.index, segment.size
        shared = [law for law in group if law.shared]
        functions = [f for law in shared for stage in law.stages() for f in stage]
        arrays.jets(segment, {a for f in functions for a in f.arguments})
        for k, (use, law) in enumerate(zip(segment.uses, group, strict=True)):
            if law.shared and law.parameters is not None:
                arrays.arrays[f"P{s}_{k}"] = f"double P{s}_{k}[{law.parameter_rows}]"
                arrays.filled.append(f"{law.parameters.name}(uniform, P{s}_{k});")
            if law.shared and law.geometry is not None:
                rows = f"[{count * use.sections}][{law.geometry_rows}]"
                arrays.arrays[f"A{s}_{k}"] = f"v8 A{s}_{k}{rows}"
                call = _call(structure, law.geometry, use, k, segment)
                arrays.filled += _all_points(count, call)
    return arrays


def solve_function(
    name: str, structure: KernelStructure, laws: Sequence[Sequence[LawFunctions]]
) -> str:
    """Return the text of the function that finds the unknowns of a cell."""
    arrays: dict[str, str] = {}
    loops: dict[str, list[str]] = {mode: [] for mode in SOLVE}
    for segment, group in zip(structure.segments, laws, strict=True):
        s, count = segment.index, segment.size
        for k, (use, law) in enumerate(zip(segment.uses, group, strict=True)):
            if not law.shared:
                continue
            if law.principal is not None:
                arrays[f"Q{s}_{k}"] = f"v8 Q{s}_{k}[{count * use.sections}][15]"
            for mode, function in zip(SOLVE, law.solve[1:], strict=True):
                call = _call(structure, function, use, k, segment, solving=True)
                if law.principal is not None and "Q" in function.arguments:
                    first = _call(structure, law.principal, use, k, segment, solving=True)
                    call = first + call
                loops[mode] += _all_points(count, call)
    starts = [law.solve[0] for group in laws for law in group if law.shared]
    return solve_in_cell(name, structure, starts, keep(structure, laws).arrays, arrays, loops)


def _weighed(structure: KernelStructure, laws: Sequence[Sequence[LawFunctions]]) -> list[str]:
    """Return the statements that find the weights of equations of the cell, see `weigh_in_cell`."""
    loops: list[str] = []
    for segment, group in zip(structure.segments, laws, strict=True):
        for k, (use, law) in enumerate(zip(segment.uses, group, strict=True)):
            if law.weigh is None:
                continue
            called = [law.weigh]
            if law.principal is not None and "Q" in law.weigh.arguments:
                called = [law.principal, law.weigh]
            lines = []
            if "h" in law.weigh.arguments:
                lines.append(f"v8 h[{3 * len(segment.jets)}];")
                lines.append(f"jets{segment.index}(q, (const v8 *)v, h);")
            if len(called) > 1:
                lines.append(f"v8 Q[{use.sections}][15];")
            for function in called:
                lines += _call(structure, function, use, k, segment, weighing=True)
            loops += _all_points(segment.size, lines)
    return weigh_in_cell(len(structure.shared), loops) if structure.shared else []


def _segment(
    structure: KernelStructure, segment: Segment, laws: Sequence[LawFunctions], mode: str
) -> list[str]:
    """Return the loops over the points of one segment."""
    tangent = mode in MOMENTS and structure.has_tangent and segment.slot_count > 0
    size = segment.size if factored(structure, mode) else chunk(segment, tangent)
    vector = MODES[mode].result("vector") is not None and bool(segment.jets)
    if not vector and not any(_functions(law, mode) for law in laws):
        return []
    arrays, first = _point_arrays(structure, segment, laws, mode, size)
    if tangent:
        arrays.append(_moments(structure, segment, mode, size))
    once: list[str] = []
    body = _points([*first, *_zeros(segment, laws, mode, vector, tangent)])
    for k, (use, law) in enumerate(zip(segment.uses, laws, strict=True)):
        used = _arguments([law], mode) - ({"A", "P", "X"} if law.shared else set())
        arrays += _tables(use, law, mode, k, size, used)
        once += _parameters(law, f"P{k}") if "P" in used else []
        for function in _functions(law, mode):
            body += _points(_call(structure, function, use, k, segment))
    if tangent:
        body += _contraction(segment, mode)
    lines = [*once, *_chunks(segment.size, size, [*arrays, *body])]
    return ["    {", *(f"        {line}" for line in lines), "    }"]


def _moments(structure: KernelStructure, segment: Segment, mode: str, size: int) -> str:
    """Return the declaration of M at the points of a chunk."""
    slots = segment.slot_count
    if mode != "moments":
        return f"v8 M[{size}][{slots}];"
    rows = f"(v8 *)moments + {structure.first_moment(segment)}"
    return f"v8 (*M)[{slots}] = (v8 (*)[{slots}])({rows}) + start;"


def _contraction(segment: Segment, mode: str) -> list[str]:
    """Return the statements that look at M, and make the matrix of a mode of it."""
    lines = _points([f"symancf_finite({segment.slot_count}, M[p], &bad);"])
    if mode in _CONTRACTIONS:
        contract = _CONTRACTIONS[mode] + str(segment.index)
        lines.append(f"{contract}(start, stop, M, (v8 *){matrix_of(mode)});")
    return lines


def _point_arrays(
    structure: KernelStructure, segment: Segment, laws: Sequence[LawFunctions], mode: str, size: int
) -> tuple[list[str], list[str]]:
    """Return the declarations of the jets at the points of a chunk, and what fills them."""
    jets = f"jets{segment.index}"
    arguments = _arguments(laws, mode)
    own = _arguments([law for law in laws if not law.shared], mode)  # the others have theirs kept
    rates = f"(const v8 *)reference + {3 * structure.space.size}"
    arrays: list[str] = []
    filled: list[str] = []
    for array, wanted, count, function, source in (
        ("G", own, len(segment.reference_jets), reference_jets(segment), "(const v8 *)reference"),
        ("V", arguments, len(segment.jets), jets, rates),
        ("g", own, len(segment.jets), jets, "(const v8 *)u"),
        ("h", arguments, len(segment.jets), jets, "(const v8 *)v"),
    ):
        if array in wanted:
            arrays.append(f"v8 {array}[{size}][{3 * count}];")
            if factored(structure, mode) and function == jets:
                arrays.append(f"all_{jets}({source}, {array});")
            else:
                filled.append(f"{function}(q, {source}, {array}[p]);")
    return arrays, filled


def _zeros(
    segment: Segment, laws: Sequence[LawFunctions], mode: str, vector: bool, tangent: bool
) -> list[str]:
    """Return what clears N and M at a point, if laws add to them."""
    lines: list[str] = []
    if vector and not (segment.alone and "N" in _arguments(laws, mode)):
        lines.append(f"symancf_zero({3 * len(segment.jets)}, N{segment.index}[q]);")
    if tangent and not segment.alone:
        lines.append(f"symancf_zero({segment.slot_count}, M[p]);")
    return lines


def _parameters(law: LawFunctions, table: str) -> list[str]:
    """Return the table of expressions of parameters and what fills it."""
    if law.parameters is None:
        return []
    declared = f"double {table}[{law.parameter_rows}];"
    return [declared, f"{law.parameters.name}(uniform, {table});"]


def reference_jets(segment: Segment) -> str:
    """Return the name of the function that interpolates the jets of the reference."""
    same = segment.reference_jets == segment.jets
    return f"{'' if same else 'reference_'}jets{segment.index}"


def _tables(
    use: LawUse, law: LawFunctions, mode: str, k: int, size: int, used: Collection[str]
) -> list[str]:
    """Return the declarations of the tables that functions of a law hand to one another."""
    count = len(use.rows)
    rows = {
        "A": law.geometry_rows,
        "X": count * (1 + count),
        "Q": 15,
        "S": law.factor_rows.get(mode, 0),
    }
    points = size * use.sections
    return [f"v8 {table}{k}[{points}][{n}];" for table, n in rows.items() if table in used]


def _chunks(points: int, size: int, statements: Sequence[str]) -> list[str]:
    """Return the loop over chunks of `size` points."""
    if size == points:
        return [f"const int start = 0, stop = {size};", *statements]
    end = f"start + {size}"
    if points % size:
        end = f"start + {size} < {points} ? start + {size} : {points}"
    inner = [f"const int stop = {end};", *statements]
    head = f"for (int start = 0; start < {points}; start += {size}) {{"
    return [head, *(f"    {line}" for line in inner), "}"]


def _arguments(laws: Sequence[LawFunctions], mode: str) -> set[str]:
    """Return the arguments of all functions of some laws in a mode."""
    return {a for law in laws for f in _functions(law, mode) for a in f.arguments}


def _functions(law: LawFunctions, mode: str) -> list[PointFunction]:
    """Return what to call for `mode`, the geometry and unknowns of the point first."""
    of_point = [] if law.shared else law.solve[2:]  # see `solve_functions`
    geometry = None if law.shared else law.geometry  # that of a shared one is kept
    functions = law.modes[mode]
    if any("X" in f.arguments for f in functions):
        functions = [*of_point, *functions]
    if law.principal is not None and any("Q" in f.arguments for f in functions):
        functions = [law.principal, *functions]
    if geometry is not None and any("A" in f.arguments for f in functions):
        return [geometry, *functions]
    return functions


def _section(use: LawUse, table: str) -> dict[str, str]:
    """Return the C of weight and section symbols at the section point s."""
    single = use.sections == 1
    texts = {}
    for column, values in use.rule.columns.items():
        if column in use.uniform_slots:
            slot = use.uniform_slots[column]
            texts[column] = f"uniform[{slot}]" if single else f"uniform[{slot} + s]"
        elif single:
            texts[column] = repr(float(values[0]))
        else:
            tabulated = [x for x in use.rule.columns if x not in use.uniform_slots]
            texts[column] = f"{table}[s][{tabulated.index(column)}]"
    return texts


def _all_points(count: int, statements: Sequence[str]) -> list[str]:
    """Return the loop over all points of a segment."""
    if not statements:
        return []
    return [f"for (int q = 0; q < {count}; q++) {{", *(f"    {x}" for x in statements), "}"]


def _points(statements: Sequence[str]) -> list[str]:
    """Return the loop over the points of a chunk."""
    if not statements:
        return []
    head = "for (int q = start, p = 0; q < stop; q++, p++)"
    if len(statements) == 1:
        return [head, f"    {statements[0]}"]
    return [f"{head} {{", *(f"    {line}" for line in statements), "}"]


def _call(
    structure: KernelStructure,
    function: PointFunction,
    use: LawUse,
    k: int,
    segment: Segment,
    *,
    solving: bool = False,
    weighing: bool = False,
) -> list[str]:
    """Return the statements that call a point function at in-plane point q, place p.

    `solving` : in the function that finds the unknowns of the cell; `weighing` : where the weights
    of their equations are found.
    """
    s = segment.index
    values = _operands(use, k, segment)
    if use.law.shared:  # see `keep`
        values |= _point_arguments(use, k, s)
    if solving:
        values["Q"] = f"(double *)Q{s}_{k}[{_point(use)}]"
    if weighing:
        values |= {"h": "(const double *)h", "D": "(double *)S"}
        values["Q"] = f"(double *)Q[{'0' if use.sections == 1 else 's'}]"
    names = [str(x) for x in structure.space.coordinates]
    values |= {identifier(x): f"point{s}[q][{names.index(x)}]" for x in use.coordinates}
    section = _section(use, f"section{s}_{k}")
    if section["weight"] != "1.0":
        values["weight"] += f"*{section['weight']}"
    values |= {identifier(name): value for name, value in section.items() if name != "weight"}
    lines = broken(f"{function.name}(", [values[a] for a in function.arguments], ");", 76)
    if use.sections != 1:
        lines = [
            f"for (int s = 0; s < {use.sections}; s++)",
            *(f"    {x}" for x in lines),
        ]
    return lines


def _point(use: LawUse) -> str:
    """Return the C of the number of a point of a law, section points running fastest."""
    return "q" if use.sections == 1 else f"({use.sections}*q + s)"


def _point_arguments(use: LawUse, k: int, s: int) -> dict[str, str]:
    """Return the C of the arguments that `keep` computes."""
    return {
        "P": f"P{s}_{k}",
        "G": f"(const double *)G_{s}[q]",
        "g": f"(const double *)g_{s}[q]",
        "A": f"(double *)A{s}_{k}[{_point(use)}]",
    }


def _operands(use: LawUse, k: int, segment: Segment) -> dict[str, str]:
    """Return the C of the arguments that point functions have at in-plane point q, place p."""
    s, single = segment.index, use.sections == 1
    rows = f"[{8 * segment.first_row} + {8 * len(segment.varying)}*q]"
    outputs = len(use.results.outputs)
    point = _point(use)
    remembered = len(use.law.history)
    place = "p" if single else f"{use.sections}*p + s"
    return {
        "uniform": "uniform",
        "P": f"P{k}",
        "cell": "cell",
        "B": f"&cell{rows}",
        "old": f"&cell[{8 * use.first_memory} + {8 * remembered}*{point}]",
        "uniform_rate": "uniform_rate",
        "cell_rate": "cell_rate",
        "B_rate": f"&cell_rate{rows}",
        "G": "(const double *)G[p]",
        "V": "(const double *)V[p]",
        "g": "(const double *)g[p]",
        "h": "(const double *)h[p]",
        "A": f"(double *)A{k}[{place}]",
        "S": f"(double *)S{k}[{place}]",
        "W": "W",
        "N": f"(double *)N{s}[q]",
        "M": "(double *)M[p]",
        "X": "X" if use.law.shared else f"(double *)X{k}[{place}]",
        "Q": f"(double *)Q{k}[{place}]",
        "E": "(double *)E",
        "D": "(double *)D",
        **{f"C{row}": f"(double *)C{s}_{row}[q]" for row in use.rows},
        "O": f"&O[{8 * use.first_output} + {8 * outputs}*{point}]",
        "seed": f"&seed[{8 * use.first_memory} + {8 * remembered}*{point}]",
        "by_uniform": "by_uniform",
        "by_cell": "by_cell",
        "by_B": f"&by_cell{rows}",
        "by_old": f"&by_cell[{8 * use.first_memory} + {8 * remembered}*{point}]",
        "bad": "(double *)&bad",
        "weight": f"weight{s}_{k}[q]",
    }

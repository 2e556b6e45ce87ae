# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of kernels, and the C text with a header that people read."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from symancf_codegen.declare import RATE_FACTOR
from symancf_codegen.errors import CodegenError
from symancf_codegen.modes import STANDARD

if TYPE_CHECKING:
    from symancf_codegen.declare import KernelParameter, PointLaw
    from symancf_codegen.derive import Results
    from symancf_codegen.structure import KernelStructure, LawUse


@dataclass(frozen=True)
class Description:
    """What a kernel is, as stored beside its source; all of it survives JSON.

    Attributes
    ----------
    name : prefix of its C functions.
    n : number of shape functions, or of scalars for a kernel on node tuples.
    rows : rows of u and f (3 n, or n).
    uniform, cell : names of the parameters in the order of their slots and rows.
    points : per row of ``cell`` where in the cell its value is taken; empty: one per cell.
    symmetric : K holds upper blocks only.
    has_tangent : False if all laws are linear in the unknowns, so that K = 0 is not written.
    tabulated : whether it works on cells.
    rates : whether `reference` goes on with rows of w = v - c u, see `PointLaw.rates`.
    operations : {"law": {"residual": {"mul": 12, ...}}} per point.
    strategies : {"law": how its tangent was derived}.
    flops : operations of one cell in each function (see `work.flops`); of one tuple, for a
        kernel on node tuples.
    modes : its functions, see `modes`.
    outputs : per law with outputs its name, its number of points and their names.
    memory : names of what points remember: of the last rows of ``cell``, and of those of O in the
        functions ``update`` and ``initial``.
    totals : which of them are parts of integrals over the cell.
    optional : names of the parameters that are 0 where they are not given.
    linear : number of functions of the mode ``coarse``; 0: it is not possible.
    moments : number of rows of the operand of this name.
    single : whether numbers are in single precision.
    """

    name: str
    n: int
    rows: int
    uniform: tuple[str, ...]
    cell: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    symmetric: bool
    has_tangent: bool
    tabulated: bool
    operations: dict[str, dict[str, dict[str, int]]]
    strategies: dict[str, str]
    flops: dict[str, int]
    rates: bool = False
    modes: tuple[str, ...] = STANDARD
    outputs: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    memory: tuple[str, ...] = ()
    totals: tuple[int, ...] = ()
    optional: tuple[str, ...] = ()
    linear: int = 0
    moments: int = 0
    single: bool = False


class Source(NamedTuple):
    """A kernel before it is compiled."""

    description: Description
    text: str


def cell_text(name: str, structure: KernelStructure) -> Source:
    """Return a kernel on cells."""
    from symancf_codegen.text.print import cell_kernel
    from symancf_codegen.text.work import flops

    laws, size = structure.laws, structure.space.size
    uniform, cell, _ = parameters(laws)
    uses = [use for segment in structure.segments for use in segment.uses]
    uniform += [name for use in uses for name in use.rule.own_values]
    remembered = _remembered(uses)
    memory = tuple(name for name, _ in remembered)
    names, points = _rows(structure, cell, memory)
    description = Description(
        name=name,
        n=size,
        rows=3 * size,
        uniform=tuple(uniform),
        cell=names,
        points=points,
        symmetric=structure.symmetric,
        has_tangent=structure.has_tangent,
        tabulated=True,
        operations={use.name: operations(use.results) for use in uses},
        strategies={use.name: use.results.strategy for use in uses},
        flops=flops(structure),
        rates=any(law.rates for law in laws),
        modes=structure.modes,
        outputs=_outputs(uses),
        memory=memory,
        totals=tuple(k for k, (_, total) in enumerate(remembered) if total),
        optional=optional(laws),
        moments=sum(s.size * s.slot_count for s in structure.segments),
        linear=0 if structure.linear is None else structure.linear.space.size,
    )
    head = [f"element {structure.space.name}: {size} shape functions, {3 * size} unknowns"]
    for use in uses:
        head += law_lines(use.name, use.law.title, use.rule.name, description)
    return Source(
        description, header(description, head) + cell_kernel(name, structure, uniform, cell)
    )


def _rows(
    structure: KernelStructure, cell: Sequence[str], memory: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Return the names of the rows of ``cell``, and the points where their values are taken."""
    varying = _varying(structure)
    names = (*cell, *(name for name, _ in varying), *memory)
    points = (*((),) * len(cell), *(point for _, point in varying), *((),) * len(memory))
    return names, points


def _varying(structure: KernelStructure) -> list[tuple[str, tuple[float, ...]]]:
    """Return parameters per point and the points, in the order of their rows."""
    return [
        (name, tuple(float(x) for x in point))
        for segment in structure.segments
        for point in segment.points
        for name in segment.varying
    ]


def _remembered(uses: Sequence[LawUse]) -> list[tuple[str, bool]]:
    """Return the names of what points remember, and whether it is a total."""
    return [
        (f"{m.name}[{point}]", m.total)
        for use in uses
        for point in range(use.rule.size)
        for m in use.law.history
    ]


def _outputs(uses: Sequence[LawUse]) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """Return laws that have outputs, the number of their points and the outputs' names."""
    return tuple(
        (use.name, use.rule.size, tuple(name for name, _ in use.results.outputs))
        for use in uses
        if use.results.outputs
    )


def point_text(name: str, law: PointLaw, results: Results) -> Source:
    """Return a kernel on tuples of scalars."""
    from symancf_codegen.text.print import point_kernel

    uniform, cell, _ = parameters([law])
    memory = tuple(m.name for m in law.history)
    size = len(law.unknowns)
    description = Description(
        name=name,
        n=size,
        rows=size,
        uniform=tuple(uniform),
        cell=(*cell, *memory),
        points=((),) * (len(cell) + len(memory)),
        symmetric=results.symmetric,
        has_tangent=bool(results.tangent),
        tabulated=False,
        operations={law.name: operations(results)},
        strategies={law.name: results.strategy},
        flops={mode: sum(n.values()) for mode, n in operations(results).items()},
        modes=results.chosen,
        outputs=((law.name, 1, tuple(name for name, _ in results.outputs)),)
        if results.outputs
        else (),
        memory=memory,
        totals=tuple(k for k, m in enumerate(law.history) if m.total),
        optional=optional([law]),
    )
    unknowns = ", ".join(f"u[{k}] = {s.name}" for k, s in enumerate(law.unknowns))
    head = [unknowns, *law_lines(law.name, law.title, "", description)]
    text = point_kernel(name, results, law, uniform, cell)
    return Source(description, header(description, head) + text)


def parameters(laws: Sequence[PointLaw]) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the parameters per law, per cell and per point, as they appear."""
    kinds: dict[str, str] = {}
    for law in laws:
        for parameter in law.parameters:
            _agree(law, parameter, kinds)
    uniform, cell, point = (
        [name for name, kind in kinds.items() if kind == chosen]
        for chosen in ("uniform", "cell", "point")
    )
    return uniform, cell, point


def optional(laws: Sequence[PointLaw]) -> tuple[str, ...]:
    """Return the names of the parameters that are 0 where they are not given."""
    return tuple(dict.fromkeys(p.name for law in laws for p in law.parameters if p.optional))


def _agree(law: PointLaw, parameter: KernelParameter, kinds: dict[str, str]) -> None:
    if kinds.setdefault(parameter.name, parameter.kind) != parameter.kind:
        raise CodegenError(
            f"{law.words} wants the parameter {parameter.name!r} per {parameter.kind}, "
            f"another law of the same kernel wants it per {kinds[parameter.name]}; give them "
            "the same class",
            asked=parameter.name,
            given=parameter.kind,
            possible=(kinds[parameter.name],),
        )


def operations(results: Results) -> dict[str, dict[str, int]]:
    """Return the operations per lane and point of each function."""
    graph = results.graph
    return {
        mode: dict(sorted(graph.count(nodes).items())) for mode, nodes in results.modes().items()
    }


def law_lines(name: str, title: str, rule: str, description: Description) -> list[str]:
    """Return what the header comment says about one law."""
    lines = ["", f"{name}{f' ({rule} points)' if rule else ''}: {title or name}"]
    for mode, counts in description.operations[name].items():
        text = ", ".join(f"{n} {op}" for op, n in counts.items()) or "nothing"
        lines.append(f"  {mode}: {text}")
    if "tangent" in description.modes:
        lines.append(f"  tangent by: {description.strategies[name]}")
    return lines


def header(description: Description, lines: Sequence[str]) -> str:
    """Return the comment that opens a generated file."""
    from symancf_codegen.text.print import comment

    d = description
    text = [f"{d.name}: generated by symancf, do not edit", "", *lines, "", *_shapes(d), *_slots(d)]
    wrapped = []
    for line in text:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        wrapped += textwrap.wrap(line, 96, subsequent_indent=indent) or [""]
    return comment(wrapped)


def _shapes(d: Description) -> list[str]:
    """Return lines on the arrays of a kernel and on its operations."""
    if d.tabulated:
        blocks = "upper blocks i <= j" if d.symmetric else "all blocks"
        shapes = [f"u, v, f, Kv, reference: [{d.rows}][8]", f"K: {blocks} of 3x3"]
        if d.rates:
            shapes.append(f"reference, from row {d.rows} on: w = v - {RATE_FACTOR} u, v rates of u")
    else:
        shapes = [f"u, v, f, Kv: [{d.rows}][8]", "K: upper triangle" if d.symmetric else "K: full"]
    total = ", ".join(f"{mode} {n}" for mode, n in d.flops.items())
    shapes.append(f"floating-point operations per {'cell' if d.tabulated else 'tuple'}: {total}")
    if "tangent" in d.modes and not d.has_tangent:
        shapes.append("the laws are linear in the unknowns: K = 0 is not written")
    if d.memory:
        first = len(d.cell) - len(d.memory)
        shapes.append(f"cell, from row {first} on: {len(d.memory)} numbers that points remember")
    if d.outputs:
        names = "; ".join(f"{law}: {', '.join(outputs)}" for law, _, outputs in d.outputs)
        shapes.append(f"O: rows of each point of {names}")
    return shapes


def _slots(d: Description) -> list[str]:
    """Return lines on the parameters of a kernel."""
    slots = [f"uniform[{k}] = {name}" for k, name in enumerate(d.uniform)]
    for k, (name, point) in enumerate(zip(d.cell, d.points, strict=True)):
        if name not in d.memory:
            where = f" at ({', '.join(f'{x:.6g}' for x in point)})" if point else ""
            slots.append(f"cell[{k}] = {name}{where}")
    return slots

# SPDX-License-Identifier: BSD-3-Clause
"""The compiler: SymPy point laws in, a loaded C kernel out.

=================  ==========================================  ==============================
stage              from                                        to
=================  ==========================================  ==============================
1 declare          the user's SymPy functions                  `PointLaw`, `Rule`, `Space`
2 stabilise        expressions in F, J, I1                     the same without cancellation
3 lower            `PointLaw`                                  nodes of a `Graph`
4 differentiate    energy or forces                            gradient, Hessian, product
5 reduce           gradient and Hessian in inner variables     N and M in table jets, slots
6 schedule         graph outputs                               ordered C statements
7 print            statements, tables, contractions            C text
8 compile          C text                                      shared library, cached
9 bind             shared library                              `Kernel`
=================  ==========================================  ==============================

Stage 1 is the caller's; `compile_cells` and `compile_points` do the rest.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from symancf_codegen.declare import RATE_FACTOR
from symancf_codegen.derive import Results, derive
from symancf_codegen.errors import CompileError
from symancf_codegen.graph.schedule import identifier
from symancf_codegen.library import cache
from symancf_codegen.library.bind import Description, Kernel
from symancf_codegen.library.compile import FLAGS, library
from symancf_codegen.library.fingerprint import fingerprint
from symancf_codegen.lower.point import lower_point
from symancf_codegen.progress import telling
from symancf_codegen.stable.stabilise import stabilise
from symancf_codegen.structure import build
from symancf_codegen.text.print import cell_kernel, comment, point_kernel
from symancf_codegen.text.signature import MODES, signature
from symancf_codegen.text.work import flops

if TYPE_CHECKING:
    from symancf_codegen.declare import Parameter, PointLaw, Rule, Space


@dataclass(frozen=True)
class Options:
    """What may be chosen.

    Attributes
    ----------
    flags : flags of the C compiler.
    compiler : command of the C compiler; default $SYMANCF_CC, $CC, gcc, cc, clang.
    stabilise : rewrite laws on cells so that small strains lose no digits (stage 2).
    """

    flags: tuple[str, ...] = FLAGS
    compiler: str | None = None
    stabilise: bool = True


DEFAULT = Options()


def compile_cells(
    name: str, space: Space, laws: Sequence[tuple[PointLaw, Rule]], options: Options = DEFAULT
) -> Kernel:
    """Return the kernel of the sum of laws, each under its quadrature rule, on a cell.

    Parameters
    ----------
    name : C identifier, prefix of the kernel's functions.
    space : shape functions of the cell.
    laws : pairs of law and rule. All energies: a symmetric kernel; else the full tangent.
    options : see `Options`.

    Raises
    ------
    CompileError : A law that cannot be compiled, no compiler, an unusable cache.
    """
    key = fingerprint(name, space, laws, options.stabilise)
    return _finish(name, key, lambda: cell_source(name, space, laws, options), options)


def compile_points(name: str, law: PointLaw, options: Options = DEFAULT) -> Kernel:
    """Return the kernel of a law on tuples of scalars; see `compile_cells`."""
    key = fingerprint(name, None, [(law, None)], False)
    return _finish(name, key, lambda: point_source(name, law), options)


def cell_source(
    name: str, space: Space, laws: Sequence[tuple[PointLaw, Rule]], options: Options = DEFAULT
) -> tuple[Description, str]:
    """Return what a kernel on cells is and its C text, without cache or C compiler."""
    check_names(name, [law for law, _ in laws])
    uniform, cell, _ = parameters([law for law, _ in laws])
    # forces of rates vanish with these, by products: nothing cancels in them
    stable = [
        (stabilise(law) if options.stabilise and not law.rates else law, rule) for law, rule in laws
    ]
    structure = build(space, stable)
    uses = [use for segment in structure.segments for use in segment.uses]
    rows = [
        (name, tuple(float(x) for x in point))
        for segment in structure.segments
        for point in segment.points
        for name in segment.varying
    ]
    description = Description(
        name=name,
        n=space.size,
        rows=3 * space.size,
        uniform=tuple(uniform),
        cell=(*cell, *(name for name, _ in rows)),
        points=(*((),) * len(cell), *(point for _, point in rows)),
        symmetric=structure.symmetric,
        has_tangent=structure.has_tangent,
        tabulated=True,
        stored_geometry_rows=0,
        operations={use.name: operations(use.results) for use in uses},
        strategies={use.name: use.results.strategy for use in uses},
        flops=flops(structure),
        rates=any(law.rates for law, _ in laws),
    )
    head = [f"element {space.name}: {space.size} shape functions, {3 * space.size} unknowns"]
    for use in uses:
        head += law_lines(use.name, use.law.title, use.rule.name, description)
    return description, header(description, head) + cell_kernel(name, structure, uniform, cell)


def point_source(name: str, law: PointLaw) -> tuple[Description, str]:
    """Return what a kernel on tuples of scalars is and its C text."""
    check_names(name, [law])
    uniform, cell, varying = parameters([law])
    if varying:
        raise CompileError(
            f"law {law.name!r} on tuples of scalars has no points: give {varying[0]} per cell"
        )
    results = derive(lower_point(law, None, {}, weighted=False))
    size = len(law.unknowns)
    description = Description(
        name=name,
        n=size,
        rows=size,
        uniform=tuple(uniform),
        cell=tuple(cell),
        points=((),) * len(cell),
        symmetric=results.symmetric,
        has_tangent=bool(results.tangent),
        tabulated=False,
        stored_geometry_rows=0,
        operations={law.name: operations(results)},
        strategies={law.name: results.strategy},
        flops={mode: sum(n.values()) for mode, n in operations(results).items()},
    )
    unknowns = ", ".join(f"u[{k}] = {s.name}" for k, s in enumerate(law.unknowns))
    head = [unknowns, *law_lines(law.name, law.title, "", description)]
    text = point_kernel(name, results, law.name, uniform, cell)
    return description, header(description, head) + text


def _finish(
    name: str, key: str, generate: Callable[[], tuple[Description, str]], options: Options
) -> Kernel:
    """Take source and description from the cache or make them; compile and load."""
    path = cache.folder() / f"{name}-{key[:20]}.json"
    entry = _stored(path)
    if entry is None:
        with telling(f"deriving {name}"), cache.locked(path):
            entry = _stored(path)  # another process may have made it in the meantime
            if entry is None:
                entry = description, source = _derived(name, generate)
                content = {"description": asdict(description), "source": source}
                cache.write(path, json.dumps(content).encode())
    description, source = entry
    declarations = "\n".join(f"{signature(name, mode)};" for mode in MODES) + "\n"
    made = library(name, source, options.flags, compiler=options.compiler)
    try:
        return Kernel(description, source, declarations, made)
    except OSError:  # of another system, say: made anew here
        made.unlink(missing_ok=True)
        made = library(name, source, options.flags, compiler=options.compiler)
        return Kernel(description, source, declarations, made)


def _derived(name: str, generate: Callable[[], tuple[Description, str]]) -> tuple[Description, str]:
    try:
        return generate()
    except RecursionError as error:
        raise CompileError(
            f"kernel {name!r}: its expressions are nested too deep for SymPy; give parts of them "
            "names in the function's body, or write them with fewer levels"
        ) from error


def _stored(path: Path) -> tuple[Description, str] | None:
    """Return what a file of the cache says; None if there is none that can be understood."""
    content = cache.read(path)
    if content is None:
        return None
    try:
        entry = json.loads(content)
        fields = dict(entry["description"])
        fields.update({name: tuple(fields[name]) for name in ("uniform", "cell")})
        fields["points"] = tuple(map(tuple, fields["points"]))
        return Description(**fields), str(entry["source"])
    except (ValueError, TypeError, KeyError):
        return None


def check_names(name: str, laws: Sequence[PointLaw]) -> None:
    """Raise a CompileError if kernel or laws do not bear names of C."""
    if not laws:
        raise CompileError(f"kernel {name!r} has no law")
    for what, given in [("kernel", name), *(("law", law.name) for law in laws)]:
        if not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII):
            raise CompileError(
                f"the name {given!r} of a {what} is not a name of C: use letters, digits and "
                f"underscores, such as {identifier(given)!r}"
            )


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


def _agree(law: PointLaw, parameter: Parameter, kinds: dict[str, str]) -> None:
    if kinds.setdefault(parameter.name, parameter.kind) != parameter.kind:
        raise CompileError(
            f"law {law.name!r} wants the parameter {parameter.name!r} per {parameter.kind}, "
            f"another law of the same kernel wants it per {kinds[parameter.name]}; give them "
            "the same class"
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
    lines.append(f"  tangent by: {description.strategies[name]}")
    return lines


def header(description: Description, lines: Sequence[str]) -> str:
    """Return the comment that opens a generated file."""
    d = description
    if d.tabulated:
        blocks = "upper blocks i <= j" if d.symmetric else "all blocks"
        shapes = [f"u, v, f, Kv, reference: [{d.rows}][8]", f"K: {blocks} of 3x3"]
        if d.rates:
            shapes.append(f"reference, from row {d.rows} on: w = v - {RATE_FACTOR} u, v rates of u")
    else:
        shapes = [f"u, v, f, Kv: [{d.rows}][8]", "K: upper triangle" if d.symmetric else "K: full"]
    total = ", ".join(f"{mode} {n}" for mode, n in d.flops.items())
    shapes.append(f"floating-point operations per {'cell' if d.tabulated else 'tuple'}: {total}")
    if not d.has_tangent:
        shapes.append("the laws are linear in the unknowns: K = 0 is not written")
    slots = [f"uniform[{k}] = {name}" for k, name in enumerate(d.uniform)]
    slots += [
        f"cell[{k}] = {name}" + (f" at ({', '.join(f'{x:.6g}' for x in point)})" if point else "")
        for k, (name, point) in enumerate(zip(d.cell, d.points, strict=True))
    ]
    text = [f"{d.name}: generated by symancf, do not edit", "", *lines, "", *shapes, *slots]
    wrapped = []
    for line in text:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        wrapped += textwrap.wrap(line, 96, subsequent_indent=indent) or [""]
    return comment(wrapped)

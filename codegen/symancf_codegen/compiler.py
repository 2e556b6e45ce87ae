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

Stage 1 is the caller's; `compile_cells` and `compile_points` do the rest. Stages 2 to 7 are
imported with the first kernel that is not in the cache.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from symancf_codegen.errors import CodegenError
from symancf_codegen.functions import force_on, symbolic
from symancf_codegen.library.bind import Kernel, load
from symancf_codegen.library.compile import FLAGS
from symancf_codegen.library.fingerprint import fingerprint, require_unchanged
from symancf_codegen.library.sources import cached
from symancf_codegen.modes import STANDARD
from symancf_codegen.text.description import Source, cell_text, parameters, point_text

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Rule, Space

_STABLE: WeakKeyDictionary[PointLaw, PointLaw] = WeakKeyDictionary()  # by laws as declared


@dataclass(frozen=True)
class Options:
    """What may be chosen.

    Attributes
    ----------
    flags : flags of the C compiler.
    compiler : command of the C compiler; default $SYMANCF_CC, $CC, gcc, cc, clang.
    stabilise : rewrite laws on cells so that small strains lose no digits (stage 2).
    single : numbers of kernels on cells in single precision; for C alone, not for `Kernel.product`.
    """

    flags: tuple[str, ...] = FLAGS
    compiler: str | None = None
    stabilise: bool = True
    single: bool = False


DEFAULT = Options()


def compile_cells(
    name: str,
    space: Space,
    laws: Sequence[tuple[PointLaw, Rule]],
    options: Options = DEFAULT,
    modes: Sequence[str] = STANDARD,
) -> Kernel:
    """Return the kernel of the sum of laws, each under its quadrature rule, on a cell.

    Parameters
    ----------
    name : C identifier, prefix of the kernel's functions.
    space : shape functions of the cell.
    laws : pairs of law and rule. All energies: a symmetric kernel; else the full tangent.
    options : see `Options`.
    modes : the kernel's functions, see `modes`.

    Raises
    ------
    CompileError : A law that cannot be compiled, no compiler, an unusable cache.
    """
    key = fingerprint(name, space, laws, options.stabilise, modes, options.single)
    source = cached(name, key, lambda: cell_source(name, space, laws, options, modes))
    return load(source, options.flags, options.compiler)


def compile_points(
    name: str, law: PointLaw, options: Options = DEFAULT, modes: Sequence[str] = STANDARD
) -> Kernel:
    """Return the kernel of a law on tuples of scalars; see `compile_cells`."""
    key = fingerprint(name, None, [(law, None)], False, modes)
    source = cached(name, key, lambda: point_source(name, law, modes))
    return load(source, options.flags, options.compiler)


def cell_source(
    name: str,
    space: Space,
    laws: Sequence[tuple[PointLaw, Rule]],
    options: Options = DEFAULT,
    modes: Sequence[str] = STANDARD,
) -> Source:
    """Return what a kernel on cells is and its C text, without cache or C compiler."""
    require_unchanged()
    from symancf_codegen.derive import derive
    from symancf_codegen.lower.point import lower_point
    from symancf_codegen.structure import build
    from symancf_codegen.text.single import single_precision

    check(name, [law for law, _ in laws])
    stable = [(stabilised(law, options), rule) for law, rule in laws]
    points = [lower_point(law, space, rule.section, weighted=True) for law, rule in stable]
    results = [derive(point, modes) for point in points]
    structure = build(space, stable, results)
    if "coarse" in modes and structure.linear is None:
        raise CodegenError(
            f"kernel {name!r} cannot have the function 'coarse': it is for symmetric tangents of "
            "cells of second order whose laws have no unknowns of the cell",
            asked="coarse",
            given=space.name,
            possible=tuple(mode for mode in modes if mode != "coarse"),
        )
    source = cell_text(name, structure)
    if options.single:
        text = single_precision(name, source.text)
        source = Source(replace(source.description, single=True), text)
    return source


def point_source(name: str, law: PointLaw, modes: Sequence[str] = STANDARD) -> Source:
    """Return what a kernel on tuples of scalars is and its C text."""
    require_unchanged()
    from symancf_codegen.derive import derive
    from symancf_codegen.lower.point import lower_point

    check(name, [law], points=False)
    law = stabilised(law, DEFAULT) if law.outputs else law
    point = lower_point(law, None, {}, weighted=False)
    results = derive(point, modes)
    return point_text(name, law, results)


def stabilised(law: PointLaw, options: Options) -> PointLaw:
    """Return a law so that small strains lose no digits, where that is wanted.

    Forces of rates vanish with these, by products: nothing cancels in them. Where outputs ask for
    forces on lets the law stays in these lets, as it is written.
    """
    from symancf_codegen.stable.stabilise import stabilise

    lets = {s for s, _ in law.lets}
    forces = set().union(*(symbolic(e).atoms(force_on) for e in law.outputs.values()))
    needs_forces = any(q.args[0] in lets for q in forces)
    if not options.stabilise or law.rates or needs_forces:
        return law
    if law not in _STABLE:  # the kernels of a law differ in functions alone
        _STABLE[law] = stabilise(law)
    return _STABLE[law]


def check(name: str, laws: Sequence[PointLaw], points: bool = True) -> None:
    """Look at names and parameters of laws before they are worked on.

    Raises
    ------
    CompileError : kernel or laws do not bear names of C, or their parameters do not go together;
        one has a value per point where there are no `points`.
    """
    if not laws:
        raise CodegenError(f"kernel {name!r} has no law")
    for what, given in [("kernel", name), *(("law", law.name) for law in laws)]:
        if not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII):
            from symancf_codegen.graph.schedule import identifier

            raise CodegenError(
                f"the name {given!r} of a {what} is not a name of C: use letters, digits and "
                f"underscores, such as {identifier(given)[:-1]!r}",
                asked="name",
                given=given,
                possible=(identifier(given)[:-1],),
            )
    remembered = [m.name for law in laws for m in law.history]
    twice = next((n for n in remembered if remembered.count(n) > 1), "")
    if twice:
        raise CodegenError(
            f"kernel {name!r}: {twice!r} is remembered twice", asked="history", given=twice
        )
    *_, varying = parameters(laws)
    if varying and not points:
        raise CodegenError(
            f"{laws[0].words} on tuples of scalars has no points: give {varying[0]} per cell"
        )

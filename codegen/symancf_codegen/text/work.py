# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic of a kernel on cells, for `symancf bench` and the curious."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.graph.schedule import used_symbols
from symancf_codegen.modes import MODES, OPERANDS
from symancf_codegen.text.contract_tangent import Column

if TYPE_CHECKING:
    from symancf_codegen.structure import KernelStructure, LawUse, Segment


#: Operations of `symancf_principal` at a point.
PRINCIPAL = 330


def flops(structure: KernelStructure) -> dict[str, int]:
    """Return the floating-point operations of one cell in every function.

    An addition, multiplication, quotient, root or function counts as one, a multiply-add as
    two. Only what the result needs is counted: no zeros, one triangle of a symmetric tangent.
    """
    segments = structure.segments
    return {mode: sum(_segment(structure, s, mode) for s in segments) for mode in structure.modes}


def _segment(structure: KernelStructure, segment: Segment, mode: str) -> int:
    s = segment.index
    table = sum(c.size * len(c.jets[s]) for c in structure.classes)
    reference = int(np.count_nonzero(np.any(structure.reference_tables[s], axis=0)))
    row = MODES[mode]
    fields = sum(OPERANDS[name].shape == "vector" for name in row.inputs)
    total = segment.size * 6 * table * (fields + (row.result("vector") is not None))
    if any(_reads_reference(use, mode) for use in segment.uses):
        total += segment.size * 6 * reference
    for use in segment.uses:
        graph = use.results.graph
        total += use.rule.size * PRINCIPAL * bool(use.results.principal[0])
        total += use.rule.size * sum(graph.count(use.results.modes()[mode]).values())
    of = structure if mode == "tangent" else structure.linear if mode == "coarse" else None
    if of is not None and segment.slot_count:
        total += segment.size * sum(_column(of, segment, k) for k in range(len(of.classes)))
    if mode == "diagonal" and segment.slot_count:
        total += segment.size * sum(c.size * 13 * len(c.jets[s]) ** 2 for c in structure.classes)
    return total


def _reads_reference(use: LawUse, mode: str) -> bool:
    symbols = used_symbols(use.results.graph, use.results.modes()[mode])
    return any(name.startswith("R_") for name in symbols)


def _column(structure: KernelStructure, segment: Segment, k: int) -> int:
    """Return the operations per point of the columns of one class."""
    s, column = segment.index, Column(structure, segment, k)
    count = structure.classes[k].size
    total = count * sum(2 * len(terms) - 1 for terms in column.terms.values() if terms)
    for r, rows in enumerate(column.rows):
        live = len(set(rows.jets[s]) & set(column.live))
        own = structure.symmetric and r == k
        blocks = count * (count + 1) // 2 if own else count * rows.size
        total += blocks * 18 * live
    return total

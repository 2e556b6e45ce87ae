# SPDX-License-Identifier: BSD-3-Clause
"""Stage 5, reduce, second half: which tables, which moments, which blocks a kernel needs.

Laws with the same in-plane points form a *segment*: one loop over its points, in which every
law adds to the same vector N (conjugate to the table jets) and the same moments M (its
derivative). Only table jets that some law of the segment needs are tabulated; entries of M
that are zero in all its laws do not exist, and entries that are equal in all its laws share
one slot (for a plate r = m + z d, M[m_xi, d_eta] and M[d_xi, m_eta] are the same numbers).

Shape functions fall into *classes* by the table jets in which they do not vanish: in a plate
positions and slopes touch the m jets, directors the d jets. Contractions visit only these.
Where functions vanish on parts of the cell, as the Bezier points of other triangles do, points
with the same functions form a *patch*, and contractions go patch by patch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.errors import CodegenError
from symancf_codegen.graph.schedule import used_symbols
from symancf_codegen.lower.point import COMPONENTS, coordinates
from symancf_codegen.tensor import TensorProduct, tensor_product

if TYPE_CHECKING:
    from symancf_codegen.declare import Array, PointLaw, Rule, Space
    from symancf_codegen.derive import Results
    from symancf_codegen.graph.dag import Node

#: Share of the functions of a cell up to which those of a patch are visited alone.
PAYS = 0.7


@dataclass
class LawUse:
    """One law under one rule inside a segment.

    Its outputs begin at row `first_output` of O, what its points remember at row `first_memory`
    of ``cell``; its unknowns have the `rows` of X. It asks for these `coordinates` of the cell.
    Columns of its section's table that are given begin at these slots of ``uniform``.
    """

    law: PointLaw
    rule: Rule
    name: str
    results: Results
    first_output: int = 0
    rows: tuple[int, ...] = ()
    first_memory: int = 0
    coordinates: tuple[str, ...] = ()
    uniform_slots: dict[str, int] = field(default_factory=dict)

    @property
    def sections(self) -> int:
        """Number of section points."""
        return len(self.rule.section_weights)


@dataclass
class Segment:
    """Laws that share in-plane points.

    `jets` are the table jets of the unknown, `reference_jets` those of the reference;
    `slots[x, y]` is the row of M for the components x, y of the jets (3 * jet + component).
    `varying` are the parameters with a value per point; those of the segment's points begin at
    row `first_row` of the array ``cell``, point by point. `patch` is the number of points of a
    patch. `tensor` are its functions as tensor products, if they are some.
    """

    index: int
    points: Array
    uses: list[LawUse]
    jets: tuple[str, ...] = ()
    reference_jets: tuple[str, ...] = ()
    slots: dict[tuple[int, int], int] = field(default_factory=dict)
    slot_count: int = 0
    varying: tuple[str, ...] = ()
    first_row: int = 0
    patch: int = 0
    tensor: TensorProduct | None = None

    @property
    def size(self) -> int:
        """Number of in-plane points."""
        return len(self.points)

    @property
    def alone(self) -> bool:
        """Whether one law at one section point makes all of N and M, which then are no sums."""
        return len(self.uses) == 1 and self.uses[0].sections == 1

    def row(self, leaf: str) -> int:
        """Return the row of the component `leaf` = ``u_<jet><a>`` in the arrays g and N."""
        return 3 * self.jets.index(leaf[2:-1]) + int(leaf[-1]) - 1

    def reference_row(self, leaf: str) -> int:
        """Return the row of the component `leaf` = ``R_<jet><a>`` in the array G."""
        return 3 * self.reference_jets.index(leaf[2:-1]) + int(leaf[-1]) - 1


@dataclass
class FunctionClass:
    """Shape functions that do not vanish in the same table jets.

    `jets[s]` are the indices, within segment s, of these jets. `patches` are the functions of each
    patch, as many in all, one patch of `points` points after the other; one patch: all points.
    """

    patches: tuple[tuple[int, ...], ...]
    jets: tuple[tuple[int, ...], ...]
    points: int = 0

    @property
    def size(self) -> int:
        """Number of functions at a point."""
        return len(self.patches[0])

    @property
    def patched(self) -> bool:
        """Whether not all points have the same functions."""
        return len(self.patches) > 1

    def place(self, point: str) -> str:
        """Return in C the row of its list of functions at a point, nothing where there is one."""
        return f"[{point}/{self.points}]" if self.patched else ""

    def table(self, values: Array) -> Array:
        """Return tables (points, jets, functions of the cell) of its own functions."""
        if not self.patched:
            return np.asarray(values[:, :, self.patches[0]])
        rows = [values[q][:, self.patches[q // self.points]] for q in range(len(values))]
        return np.stack(rows)


@dataclass
class KernelStructure:
    """All that the printer needs to know about a kernel on cells.

    `shared` are the names of the unknowns of a cell, of all laws. What is made of classes and
    tables has names in C that begin with `prefix`.
    """

    space: Space
    laws: list[PointLaw]
    segments: list[Segment]
    classes: list[FunctionClass]
    tables: list[Array]
    reference_tables: list[Array]
    symmetric: bool
    has_tangent: bool
    modes: tuple[str, ...]
    shared: tuple[str, ...] = ()
    prefix: str = ""

    def first_moment(self, segment: Segment) -> int:
        """Return where the moments of a segment begin among those of all."""
        return sum(s.size * s.slot_count for s in self.segments[: segment.index])

    @property
    def linear(self) -> KernelStructure | None:
        """The same with the linear functions of the corners; None where `coarse` is not possible.

        That is where K is no matrix of functions of the cell alone, or there are none.
        """
        space = self.space.linear
        if space is None or self.shared or not (self.symmetric and self.has_tangent):
            return None
        tables = [space.tabulate(s.jets, s.points) for s in self.segments]
        classes = _ordered(classes_of(tables), self.segments)
        return replace(self, space=space, classes=classes, tables=tables, prefix="corner_")


def build(
    space: Space, pairs: Sequence[tuple[PointLaw, Rule]], results: Sequence[Results]
) -> KernelStructure:
    """Find the common structure of laws under their rules, given what each computes at a point."""
    segments = _segments(space, pairs, results)
    uses = [use for segment in segments for use in segment.uses]
    laws = [law for law, _ in pairs]
    _rows_of_points(segments, laws)
    _slots_of_sections(segments, laws)
    _rows_of_outputs(uses)
    shared = _rows_of_unknowns(uses)
    symmetric = all(use.results.symmetric for use in uses)
    for segment in segments:
        _jets(segment, space)
        _slots(segment, symmetric)
    tables = [space.tabulate(s.jets, s.points) for s in segments]
    classes = _ordered(classes_of(tables), segments)
    for segment, table in zip(segments, tables, strict=True):
        segment.tensor = tensor_product(space, segment.jets, segment.points, table)
        own = [c.points for c in classes if c.patched and c.jets[segment.index]]
        segment.patch = next(iter(own), segment.size)
    return KernelStructure(
        space=space,
        laws=laws,
        segments=segments,
        classes=classes,
        tables=tables,
        reference_tables=[space.tabulate(s.reference_jets, s.points) for s in segments],
        symmetric=symmetric,
        has_tangent=bool(shared) or any(s.slot_count for s in segments),
        modes=results[0].chosen,
        shared=shared,
    )


def _segments(
    space: Space, pairs: Sequence[tuple[PointLaw, Rule]], results: Sequence[Results]
) -> list[Segment]:
    """Return the laws by their in-plane points, under names of their own."""
    segments: list[Segment] = []
    names: list[str] = []
    for (law, rule), result in zip(pairs, results, strict=True):
        alike = (f"{law.name}_{k}" if k > 1 else law.name for k in count(1))
        names.append(next(name for name in alike if name not in names))
        same = (s for s in segments if np.array_equal(s.points, rule.points))
        segment = next(same, None)
        if segment is None:
            segment = Segment(len(segments), np.asarray(rule.points, dtype=float), [])
            segments.append(segment)
        use = LawUse(law, rule, names[-1], result, coordinates=coordinates(law, space))
        segment.uses.append(use)
    return segments


def _rows_of_points(segments: list[Segment], laws: Sequence[PointLaw]) -> None:
    """Give the parameters per point their rows, after those of parameters per cell.

    Behind them is what points remember, law by law, point by point.
    """
    row = len({p.name for law in laws for p in law.parameters if p.kind == "cell"})
    for segment in segments:
        names = (p.name for use in segment.uses for p in use.law.parameters if p.kind == "point")
        segment.varying, segment.first_row = tuple(dict.fromkeys(names)), row
        row += segment.size * len(segment.varying)
    for use in (use for segment in segments for use in segment.uses):
        use.first_memory = row
        row += use.rule.size * len(use.law.history)


def _rows_of_outputs(uses: Sequence[LawUse]) -> None:
    """Give the outputs of laws their rows, law by law, point by point."""
    row = 0
    for use in uses:
        use.first_output = row
        row += use.rule.size * len(use.results.outputs)


def _slots_of_sections(segments: list[Segment], laws: Sequence[PointLaw]) -> None:
    """Give what sections bring along its slots of ``uniform``, after those of the parameters."""
    slot = len({p.name for law in laws for p in law.parameters if p.kind == "uniform"})
    for use in (use for segment in segments for use in segment.uses):
        for column in use.rule.uniform_columns:
            use.uniform_slots[column] = slot
            slot += use.sections


def _determined(use: LawUse) -> set[str]:
    """Return the unknowns of the cell on which their own equations depend in a law."""
    local = use.results.local
    if local is None or not local.shared:
        return set()
    size, zero = len(local.unknowns), use.results.graph.zero
    rows = [local.slopes[k * size : (k + 1) * size] for k in range(size)]
    pairs = zip(use.law.local, rows, strict=True)
    return {x.symbol.name for x, row in pairs if any(node != zero for node in row)}


def _rows_of_unknowns(uses: Sequence[LawUse]) -> tuple[str, ...]:
    """Give the unknowns of points and cells their rows; return the names of the latter."""
    of_cell = (x.symbol.name for use in uses if use.law.shared for x in use.law.local)
    shared = tuple(dict.fromkeys(of_cell))
    owners: dict[str, list[LawUse]] = {}
    for use in uses:
        names = [x.symbol.name for x in use.law.local]
        use.rows = tuple(shared.index(n) if use.law.shared else k for k, n in enumerate(names))
        for name in names:
            owners.setdefault(name, []).append(use)
    for name in shared:  # the laws of a cell add to one equation
        if not any(name in _determined(use) for use in uses):
            raise CodegenError(
                f"{owners[name][0].law.words}: the energy does not determine {name}",
                asked=name,
                given="energy",
            )
    for name, laws in owners.items():
        _require_one_owner(name, [use.law for use in laws])
    return shared


def _require_one_owner(name: str, laws: Sequence[PointLaw]) -> None:
    """Check that the laws which have an unknown are one, or all have it as one of the cell."""
    first, *others = laws
    for other in others:
        if not (first.shared and other.shared):
            raise CodegenError(
                f"{first.words} and {other.words} of one kernel both have the "
                f"unknown {name!r} at their points: it can be solved for in one law only"
            )


def _jets(segment: Segment, space: Space) -> None:
    """Find the table jets on which any output of the segment depends, or which it feeds."""
    unknown: set[str] = set()
    reference: set[str] = set()
    for use in segment.uses:
        symbols = _symbols(use.results)
        unknown |= _among(symbols, space, "uw" if use.law.rates else "u")
        reference |= _among(symbols, space, "R")
    segment.jets = tuple(t for t in space.table_jets if t in unknown)
    segment.reference_jets = tuple(t for t in space.table_jets if t in reference)


def _among(symbols: set[str], space: Space, letters: str) -> set[str]:
    """Return the table jets of which a component is among symbols with one of the `letters`."""
    components = [f"{letter}_{{}}{a}" for letter in letters for a in COMPONENTS]
    return {t for t in space.table_jets if any(x.format(t) in symbols for x in components)}


def _symbols(results: Results) -> set[str]:
    """Return the leaves on which outputs at a point depend, or which they feed."""
    outputs = [node for nodes in results.modes().values() for node in nodes]
    if results.local is not None:
        outputs += [node for nodes in results.local.groups() for node in nodes]
    symbols = {*used_symbols(results.graph, [*outputs, *results.domain])}
    for forces in results.forces():
        pairs = zip(results.leaves, forces, strict=True)
        symbols |= {leaf for leaf, node in pairs if node != results.graph.zero}
    return symbols | {*results.by_reference()}


def _slots(segment: Segment, symmetric: bool) -> None:
    """Number the rows of M: entries that are equal in all laws share a row."""
    entries: dict[tuple[int, int], list[Node]] = {}
    size = len(segment.uses)
    for k, use in enumerate(segment.uses):
        rows = [
            segment.row(leaf) if leaf[2:-1] in segment.jets else -1 for leaf in use.results.leaves
        ]
        for (r, c), node in use.results.tangent.items():
            x, y = rows[r], rows[c]
            keys = [(min(x, y), max(x, y))] if symmetric else [(x, y)]
            if not symmetric and use.results.symmetric and x != y:
                keys.append((y, x))
            for key in keys:
                entries.setdefault(key, [-1] * size)[k] = node
    rows_of: dict[tuple[Node, ...], int] = {}
    for key in sorted(entries):
        signature = tuple(entries[key])
        segment.slots[key] = rows_of.setdefault(signature, len(rows_of))
    segment.slot_count = len(rows_of)


def moment_outputs(segment: Segment, use: LawUse) -> list[tuple[int, Node]]:
    """Return (row of M, node) for all rows to which one law contributes."""
    outputs: dict[int, Node] = {}
    rows = [segment.row(leaf) if leaf[2:-1] in segment.jets else -1 for leaf in use.results.leaves]
    for (r, c), node in use.results.tangent.items():
        x, y = rows[r], rows[c]
        for key in ((x, y), (y, x)):
            if key in segment.slots and (key == (x, y) or use.results.symmetric):
                outputs.setdefault(segment.slots[key], node)
    return sorted(outputs.items())


def patches_of(table: Array) -> tuple[tuple[int, ...], ...]:
    """Return the functions that do not vanish in each patch of points, of a table.

    One tuple of all: patches are not alike, or too much the same for them to pay.
    """
    some = np.any(table, axis=1)
    every = (tuple(range(some.shape[1])),)
    starts = [0, *(np.flatnonzero((some[1:] != some[:-1]).any(axis=1)) + 1).tolist()]
    patches = tuple(tuple(np.flatnonzero(some[q]).tolist()) for q in starts)
    points = {b - a for a, b in pairwise([*starts, len(some)])}
    sizes = {len(functions) for functions in patches}
    if len(patches) < 2 or len(points) > 1 or len(sizes) > 1:
        return every
    return patches if max(sizes) <= PAYS * some.shape[1] else every


def classes_of(tables: Sequence[Array]) -> list[FunctionClass]:
    """Group functions by the jets in which they do not vanish; those of patches come last."""
    dense, patched = list(tables), []
    for k, table in enumerate(tables):
        patches = patches_of(table)
        if len(patches) > 1:
            every = FunctionClass(patches, ((),) * len(tables), len(table) // len(patches))
            own = [np.zeros((1, 1, every.size))] * len(tables)
            own[k], dense[k] = every.table(table), np.zeros_like(table)
            for jets, places in _alike(own).items():
                rows = tuple(tuple(patch[i] for i in places) for patch in patches)
                patched.append(FunctionClass(rows, jets, every.points))
    classes = [FunctionClass((tuple(places),), jets) for jets, places in _alike(dense).items()]
    return [c for c in (*classes, *patched) if any(c.jets)]


def _alike(tables: Sequence[Array]) -> dict[tuple[tuple[int, ...], ...], list[int]]:
    """Return the functions of tables by the jets in which they do not vanish."""
    groups: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for i in range(tables[0].shape[2]):
        signature = tuple(tuple(np.flatnonzero(t[:, :, i].any(axis=0)).tolist()) for t in tables)
        groups.setdefault(signature, []).append(i)
    return groups


def _ordered(classes: list[FunctionClass], segments: list[Segment]) -> list[FunctionClass]:
    """Return classes in the order in which contractions have least to do."""

    def work(order: tuple[FunctionClass, ...]) -> int:
        total = 0
        for k, column in enumerate(order):
            for s, segment in enumerate(segments):
                rows = {j for c in order[: k + 1] for j in c.jets[s]}
                n = column.size * segment.size
                total += n * len(rows) * len(column.jets[s]) * 3
                total += n * sum(c.size * len(c.jets[s]) for c in order[:k])
                total += n * (column.size + 1) * len(column.jets[s]) // 2
        return total

    dense, patched = ([c for c in classes if c.patched is of] for of in (False, True))
    if len(dense) > 5:
        return classes
    orders: list[tuple[FunctionClass, ...]] = list(permutations(dense))
    best: tuple[FunctionClass, ...] = min(orders, key=work)
    return [*best, *patched]

# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, fourth part: contraction of the moments with the tables.

K_ij = sum_q,alpha phi_alpha,i T_alpha,j with T_alpha = sum_beta M_alpha,beta phi_beta,j is
computed column function by column function, in tiles of two row functions: 18 accumulators
stay in registers, with room for what is loaded, and every T is loaded once for two rows. The
points come in chunks whose moments fit in the first cache; later chunks add to K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symancf_codegen.text.contract import zeros

if TYPE_CHECKING:
    from symancf_codegen.structure import FunctionClass, KernelStructure, Segment

#: Row functions in a tile; three where there are three, which leaves no rest.
TILE = 2

#: Bytes of the moments of a chunk of points.
CACHE = 40 * 1024


def tangent_chunk(segment: Segment) -> int:
    """Return how many in-plane points are contracted together, none of them of another patch."""
    most = max(1, CACHE // (64 * max(1, segment.slot_count)))
    if segment.patch < segment.size:
        return max(n for n in range(1, min(most, segment.patch) + 1) if segment.patch % n == 0)
    chunks = -(-segment.size // most)
    return -(-segment.size // chunks)


def assigns(structure: KernelStructure) -> bool:
    """Whether the first chunk of the first segment visits, and so can assign, every block."""
    first = structure.segments[0]
    classes = [c for c in structure.classes if not c.patched]  # they come first
    if sum(c.size for c in classes) < structure.space.size or not first.slot_count:
        return False
    for k, column in enumerate(classes):
        rows = classes[: k + 1] if structure.symmetric else classes
        live = Column(structure, first, k).live
        if any(not set(r.jets[first.index]) & set(live) for r in rows):
            return False
        if not column.jets[first.index]:
            return False
    return True


def contract_tangent(structure: KernelStructure, segment: Segment) -> str:
    """Return the function that adds the share of a chunk of one segment's points to K."""
    s = segment.index
    chunked = tangent_chunk(segment) < segment.size
    alone = s == 0 and assigns(structure)
    store = "set" if alone and not chunked else "both" if alone else "add"
    head = f"static void {structure.prefix}contract_tangent{s}("
    lines = [
        "/* K_ij = sum over points and jets of phi_i T_j, T_j = M phi_j */",
        f"{head}int start, int stop, v8 (*restrict M)[{segment.slot_count}],",
        f"{' ' * len(head)}v8 *restrict K)",
        "{",
    ]
    for k, column in enumerate(structure.classes):
        if column.jets[s]:
            lines += Column(structure, segment, k).text(store)
    lines += ["}", ""]
    return "\n".join(lines)


@dataclass
class Column:
    """The columns of K that belong to one class of functions.

    `live[jet]` is the place in T of the row jet `jet`, in units of nine.
    """

    structure: KernelStructure
    segment: Segment
    column: int

    def __post_init__(self) -> None:
        s, structure = self.segment.index, self.structure
        end = self.column + 1 if structure.symmetric else len(structure.classes)
        self.rows = structure.classes[:end]
        self.jets = structure.classes[self.column].jets[s]
        row_jets = sorted({jet for r in self.rows for jet in r.jets[s]})
        self.terms = {
            (jet, a, b): self._terms(jet, a, b)
            for jet in row_jets
            for a in range(3)
            for b in range(3)
        }
        used = [j for j in row_jets if any(t for (jet, _, _), t in self.terms.items() if jet == j)]
        self.live = {jet: place for place, jet in enumerate(used)}

    def table(self, c: int) -> str:
        """Return the name of the table of a class."""
        return f"{self.structure.prefix}phi{self.segment.index}_{c}"

    def _terms(self, jet: int, a: int, b: int) -> list[tuple[int, int]]:
        """Return the (row of M, row of the table) whose products add to T."""
        rows = []
        for row, other in enumerate(self.jets):
            x, y = 3 * jet + a, 3 * other + b
            key = (min(x, y), max(x, y)) if self.structure.symmetric else (x, y)
            slot = self.segment.slots.get(key)
            if slot is not None:
                rows.append((slot, row))
        return rows

    def text(self, store: str) -> list[str]:
        """Return the loop over these columns; `store` says whether to set K or add to it."""
        if not self.live:
            return []
        s, c = self.segment.index, self.column
        own = self.structure.classes[c]
        lines = [f"    for (int kj = 0; kj < {own.size}; kj++) {{"]
        name = f"{self.structure.prefix}functions{c}{own.place('start')}"
        lines.append(f"        const int j = {name}[kj];")
        lines.append(f"        v8 T[{tangent_chunk(self.segment)}][{9 * len(self.live)}];")
        lines.append("        FOR_PARTS for (int q = start; q < stop; q++) {")
        lines.append("            const v8 *m = M[q - start];")
        lines.append("            v8 *t = T[q - start];")
        used = {row for terms in self.terms.values() for _, row in terms}
        for row in sorted(used):
            lines.append(f"            const double p{row} = {self.table(c)}[q][{row}][kj];")
        for (jet, a, b), terms in self.terms.items():
            if jet in self.live:
                value = " + ".join(f"p{row}*PART(m[{slot}])" for slot, row in terms)
                place = 9 * self.live[jet] + 3 * a + b
                lines.append(f"            PART(t[{place}]) = {value or '(vec){0}'};")
        lines.append("        }")
        for r, row_class in enumerate(self.rows):
            if set(row_class.jets[s]) & set(self.live):
                lines += self._rows(r, row_class, store)
        return [*lines, "    }"]

    def _rows(self, r: int, row_class: FunctionClass, store: str) -> list[str]:
        """Return the loop over the row functions of one class, in tiles."""
        own = self.structure.symmetric and r == self.column
        size = row_class.size
        count = "kj + 1" if own else str(size)
        tile = 3 if size == 3 else min(TILE, size)
        lines = [f"        FOR_PARTS for (int k = 0; k < {count}; k += {tile}) {{"]
        rests = range(1, tile) if own else [size % tile] if size % tile else []
        if not rests:
            return [*lines, *self._tile(r, row_class, tile, store), "        }"]
        lines.append(f"            if (k + {tile} <= {count}) {{")
        lines += [f"    {line}" for line in self._tile(r, row_class, tile, store)]
        for n, rest in enumerate(sorted(rests, reverse=True)):
            last = n == len(rests) - 1
            lines.append(
                "            } else {"
                if last
                else f"            }} else if (k + {rest} == {count}) {{"
            )
            lines += [f"    {line}" for line in self._tile(r, row_class, rest, store)]
        return [*lines, "            }", "        }"]

    def _tile(self, r: int, row_class: FunctionClass, tile: int, store: str) -> list[str]:
        s, pad = self.segment.index, " " * 12
        lines = []
        for row in range(tile):
            lines += zeros([f"k{row}{z}" for z in range(9)], 12)
        lines.append(f"{pad}for (int q = start; q < stop; q++) {{")
        lines.append(f"{pad}    const v8 *t = T[q - start];")
        for row, jet in enumerate(row_class.jets[s]):
            if jet not in self.live:
                continue
            weights = ", ".join(f"p{k} = p[{k}]" for k in range(tile))
            lines.append(f"{pad}    {{")
            lines.append(
                f"{pad}        const double *p = {self.table(r)}[q][{row}] + k, {weights};"
            )
            for z in range(9):
                terms = " ".join(f"k{k}{z} += p{k}*x;" for k in range(tile))
                lines.append(
                    f"{pad}        {{ const vec x = PART(t[{9 * self.live[jet] + z}]); {terms} }}"
                )
            lines.append(f"{pad}    }}")
        lines.append(f"{pad}}}")
        for row in range(tile):
            lines += [f"{pad}{line}" for line in self._store(r, row, store)]
        return lines

    def _store(self, r: int, row: int, store: str) -> list[str]:
        """Return the statements that put one block of nine accumulators into K."""
        place = self.structure.classes[r].place("start")
        lines = [f"{{   const int i = {self.structure.prefix}functions{r}{place}[k + {row}];"]
        if self.structure.symmetric:
            lines.append("    const int upper = i <= j, d = upper ? 3 : 1, e = upper ? 1 : 3;")
            lines.append("    v8 *b = K + 9*(upper ? j*(j + 1)/2 + i : i*(i + 1)/2 + j);")
            index = [f"{x}*d + {y}*e" for x in range(3) for y in range(3)]
        else:
            lines.append(f"    v8 *b = K + 9*(i*{self.structure.space.size} + j);")
            index = [str(z) for z in range(9)]

        def statements(operator: str) -> list[str]:
            return [
                " ".join(
                    f"PART(b[{index[z]}]) {operator} k{row}{z};" for z in range(3 * x, 3 * x + 3)
                )
                for x in range(3)
            ]

        if store != "both":
            lines += [f"    {line}" for line in statements("=" if store == "set" else "+=")]
        else:
            lines.append("    if (start == 0) {")
            lines += [f"        {line}" for line in statements("=")]
            lines.append("    } else {")
            lines += [f"        {line}" for line in statements("+=")]
            lines.append("    }")
        return [*lines, "}"]


def multiply_moments(structure: KernelStructure, segment: Segment) -> str:
    """Return the function that multiplies the moments at a point with jets."""
    rows = 3 * len(segment.jets)
    head = (
        f"static void multiply_moments{segment.index}(const v8 *restrict m, const v8 *restrict h,"
    )
    lines = [head, "    v8 *restrict N)", "{", "    FOR_PARTS {"]
    for x in range(rows):
        keys = ((min(x, y), max(x, y)) if structure.symmetric else (x, y) for y in range(rows))
        terms = [
            f"PART(m[{segment.slots[key]}])*PART(h[{y}])"
            for y, key in enumerate(keys)
            if key in segment.slots
        ]
        lines.append(f"        PART(N[{x}]) = {' + '.join(terms) or '(vec){0}'};")
    return "\n".join([*lines, "    }", "}", ""])


def contract_diagonal(structure: KernelStructure, segment: Segment) -> str:
    """Return the function that adds the share of a chunk of one segment's points to D."""
    s = segment.index
    head = f"static void contract_diagonal{s}("
    lines = [
        "/* D_i = sum over points and jets of phi_i M phi_i */",
        f"{head}int start, int stop, v8 (*restrict M)[{segment.slot_count}],",
        f"{' ' * len(head)}v8 *restrict D)",
        "{",
    ]
    names = [f"d{a}{b}" for a in range(3) for b in range(a, 3)]
    for k, c in enumerate(structure.classes):
        jets = c.jets[s]
        if not jets:
            continue
        lines.append(f"    FOR_PARTS for (int k = 0; k < {c.size}; k++) {{")
        lines.append(f"        v8 *d = D + 9*functions{k}{c.place('start')}[k];")
        lines += zeros(names, 8)
        lines.append("        for (int q = start; q < stop; q++) {")
        lines.append("            const v8 *m = M[q - start];")
        for row, _ in enumerate(jets):
            lines.append(f"            const double p{row} = phi{s}_{k}[q][{row}][k];")
        for row, jet in enumerate(jets):
            for column, other in enumerate(jets):
                lines += _products(segment, (row, jet), (column, other))
        lines.append("        }")
        for a in range(3):
            for b in range(3):
                value = f"d{min(a, b)}{max(a, b)}"
                lines.append(f"        PART(d[{3 * a + b}]) += {value};")
        lines.append("    }")
    return "\n".join([*lines, "}", ""])


def _products(segment: Segment, left: tuple[int, int], right: tuple[int, int]) -> list[str]:
    """Return the statements that add the moments of two jets (row of the table, jet) to D."""
    (row, jet), (column, other) = left, right
    terms = []
    for a in range(3):
        for b in range(a, 3):
            x, y = 3 * jet + a, 3 * other + b
            slot = segment.slots.get((min(x, y), max(x, y)))
            if slot is not None:
                terms.append(f"d{a}{b} += p*PART(m[{slot}]);")
    if not terms:
        return []
    pad = " " * 12
    head = f"{pad}{{   const double p = p{row}*p{column};"
    return [
        head,
        *(f"{pad}    {' '.join(terms[k : k + 3])}" for k in range(0, len(terms), 3)),
        f"{pad}}}",
    ]

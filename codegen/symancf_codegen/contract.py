# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, second half: interpolation of jets and contraction with the tables.

The tangent K_ij = sum_q,alpha phi_alpha,i T_alpha,j with T_alpha = sum_beta M_alpha,beta
phi_beta,j is computed column function by column function, in tiles of three row functions:
27 accumulators stay in registers, and every T is loaded once for three rows.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.structure import FunctionClass, Structure

#: (name of the table, name of the index list, number of functions, rows of jets)
Table = tuple[str, str, int, list[int]]


def jets_function(name: str, size: int, tables: Sequence[Table]) -> str:
    """Return the function that interpolates `size` vector jets at point q."""
    lines = [f"static void {name}(int q, const v8 *restrict x, v8 *restrict g)", "{"]
    names = [f"g{k}" for k in range(3 * size)]
    lines += _zeros(names, 4)
    for table, functions, count, jets in tables:
        lines.append(f"    for (int k = 0; k < {count}; k++) {{")
        lines.append(f"        const v8 *c = x + 3*{functions}[k];")
        for row, jet in enumerate(jets):
            lines.append(f"        const double p{row} = {table}[q][{row}][k];")
            terms = " ".join(f"g{3 * jet + a} += p{row}*c[{a}];" for a in range(3))
            lines.append(f"        {terms}")
        lines.append("    }")
    lines += [f"    g[{k}] = {n};" for k, n in enumerate(names)]
    lines += ["}", ""]
    return "\n".join(lines)


def _zeros(names: Sequence[str], indent: int) -> list[str]:
    """Return the declaration of vectors that start at zero."""
    text = f"v8 {', '.join(f'{name} = {{0}}' for name in names)};"
    pad = " " * indent
    return textwrap.wrap(text, 96, initial_indent=pad, subsequent_indent=pad + "   ")


def contract_residual(structure: Structure) -> str:
    """Return the function f_i = sum_q,alpha phi_alpha,i N_alpha."""
    segments = [s for s in structure.segments if s.jets]
    arguments = [f"v8 (*restrict N{s.index})[{3 * len(s.jets)}]" for s in segments]
    lines = [
        "/* f_i = sum over points and jets of phi_i N */",
        f"static void contract_residual({', '.join([*arguments, 'v8 *restrict f'])})",
        "{",
    ]
    visited = sum(len(c.functions) for c in structure.classes)
    if visited < structure.space.size:
        lines.append(f"    symancf_zero({3 * structure.space.size}, f);")
    for k, c in enumerate(structure.classes):
        count = len(c.functions)
        for start, stop, tile in _tiles(count, 4):
            lines.append(f"    for (int k = {start}; k < {stop}; k += {tile}) {{")
            names = [f"f{r}{a}" for r in range(tile) for a in range(3)]
            lines += _zeros(names, 8)
            for s in segments:
                jets = c.jets[s.index]
                if not jets:
                    continue
                lines.append(f"        for (int q = 0; q < {s.size}; q++) {{")
                for row, jet in enumerate(jets):
                    lines.append(
                        f"            const double *p{row} = phi{s.index}_{k}[q][{row}] + k;"
                    )
                    for a in range(3):
                        terms = " ".join(f"f{r}{a} += p{row}[{r}]*x;" for r in range(tile))
                        lines.append(
                            f"            {{ const v8 x = N{s.index}[q][{3 * jet + a}]; {terms} }}"
                        )
                lines.append("        }")
            for r in range(tile):
                stores = " ".join(f"f[3*i + {a}] = f{r}{a};" for a in range(3))
                lines.append(f"        {{ const int i = functions{k}[k + {r}]; {stores} }}")
            lines.append("    }")
    lines += ["}", ""]
    return "\n".join(lines)


def _tiles(count: int, size: int) -> list[tuple[int, int, int]]:
    """Cut `count` into loops (start, stop, tile) of full tiles and one remainder."""
    size = min(size, count)
    full = count // size * size
    loops = [(0, full, size)]
    if full < count:
        loops.append((full, count, count - full))
    return loops


def contract_tangent(structure: Structure) -> str:
    """Return the function that fills K from the moments M."""
    segments = [s for s in structure.segments if s.slot_count]
    arguments = [f"v8 (*restrict M{s.index})[{s.slot_count}]" for s in segments]
    lines = [
        "/* K_ij = sum over points and jets of phi_i T_j, T_j = M phi_j */",
        f"static void contract_tangent({', '.join([*arguments, 'v8 *restrict K'])})",
        "{",
    ]
    n = structure.space.size
    visited = sum(len(c.functions) for c in structure.classes)
    if visited < n:
        blocks = n * (n + 1) // 2 if structure.symmetric else n * n
        lines.append(f"    symancf_zero({9 * blocks}, K);")
    for column, c in enumerate(structure.classes):
        rows = structure.classes[: column + 1] if structure.symmetric else structure.classes
        lines += _columns(structure, column, c, rows)
    lines += ["}", ""]
    return "\n".join(lines)


def _columns(
    structure: Structure, column: int, c: FunctionClass, rows: Sequence[FunctionClass]
) -> list[str]:
    segments = [s for s in structure.segments if s.slot_count]
    lines = [f"    for (int kj = 0; kj < {len(c.functions)}; kj++) {{"]
    lines.append(f"        const int j = functions{column}[kj];")
    positions: dict[int, dict[int, int]] = {}
    for s in segments:
        row_jets = sorted({j for r in rows for j in r.jets[s.index]})
        jets = c.jets[s.index]
        positions[s.index] = {}
        terms: dict[tuple[int, int, int], list[str]] = {}
        for jet in row_jets:
            for a in range(3):
                for b in range(3):
                    parts = []
                    for row, other in enumerate(jets):
                        x, y = 3 * jet + a, 3 * other + b
                        key = (min(x, y), max(x, y)) if structure.symmetric else (x, y)
                        slot = s.slots.get(key)
                        if slot is not None:
                            parts.append(f"m[{slot}]*p{row}")
                    terms[jet, a, b] = parts
        live = [
            jet for jet in row_jets if any(terms[jet, a, b] for a in range(3) for b in range(3))
        ]
        positions[s.index] = {jet: k for k, jet in enumerate(live)}
        if not live:
            continue
        lines.append(f"        v8 T{s.index}[{s.size}][{9 * len(live)}];")
        lines.append(f"        for (int q = 0; q < {s.size}; q++) {{")
        lines.append(f"            const v8 *m = M{s.index}[q];")
        lines.append(f"            v8 *t = T{s.index}[q];")
        used = {p.rsplit("*p", 1)[1] for parts in terms.values() for p in parts}
        for row in range(len(jets)):
            if str(row) in used:
                lines.append(
                    f"            const double p{row} = phi{s.index}_{column}[q][{row}][kj];"
                )
        for jet in live:
            for a in range(3):
                for b in range(3):
                    value = " + ".join(terms[jet, a, b]) or "(v8){0}"
                    position = 9 * positions[s.index][jet] + 3 * a + b
                    lines.append(f"            t[{position}] = {value};")
        lines.append("        }")
    for r, row_class in enumerate(rows):
        own = structure.symmetric and r == column
        count = "kj + 1" if own else str(len(row_class.functions))
        lines += _rows(structure, r, row_class, count, positions, own)
    lines.append("    }")
    return lines


def _rows(
    structure: Structure,
    r: int,
    row_class: FunctionClass,
    count: str,
    positions: dict[int, dict[int, int]],
    own: bool,
) -> list[str]:
    lines = []
    size = len(row_class.functions)
    tile = min(3, size)
    lines.append(f"        int i{r} = 0;" if tile > 1 or own else f"        const int i{r} = 0;")
    if size >= tile:
        head = f"for (; i{r} + {tile} <= {count}; i{r} += {tile}) {{" if own or size > 1 else "{"
        lines += [f"        {head}", *_tile(structure, r, row_class, tile, positions), "        }"]
    for rest in range(tile - 1, 0, -1):
        if own:
            lines.append(f"        if ({count} - i{r} == {rest}) {{")
        elif size % tile == rest:
            lines.append("        {")
        else:
            continue
        lines += [*_tile(structure, r, row_class, rest, positions), "        }"]
    return lines


def _tile(
    structure: Structure,
    r: int,
    row_class: FunctionClass,
    tile: int,
    positions: dict[int, dict[int, int]],
) -> list[str]:
    lines = []
    for row in range(tile):
        lines += _zeros([f"k{row}{z}" for z in range(9)], 12)
    for s in structure.segments:
        live = positions.get(s.index, {})
        jets = [(row, jet) for row, jet in enumerate(row_class.jets[s.index]) if jet in live]
        if not jets:
            continue
        lines.append(f"            for (int q = 0; q < {s.size}; q++) {{")
        lines.append(f"                const v8 *t = T{s.index}[q];")
        for row, jet in jets:
            lines.append("                {")
            lines.append(
                f"                    const double *p = phi{s.index}_{r}[q][{row}] + i{r};"
            )
            weights = ", ".join(f"p{k} = p[{k}]" for k in range(tile))
            lines.append(f"                    const double {weights};")
            for z in range(9):
                terms = " ".join(f"k{k}{z} += p{k}*x;" for k in range(tile))
                lines.append(
                    f"                    {{ const v8 x = t[{9 * live[jet] + z}]; {terms} }}"
                )
            lines.append("                }")
        lines.append("            }")
    for row in range(tile):
        lines.append(f"            {{   const int i = functions{r}[i{r} + {row}];")
        if structure.symmetric:
            lines.append(
                "                const int upper = i <= j, d = upper ? 3 : 1, e = upper ? 1 : 3;"
            )
            lines.append(
                "                v8 *k = K + 9*(upper ? j*(j + 1)/2 + i : i*(i + 1)/2 + j);"
            )
            index = [f"{a}*d + {b}*e" for a in range(3) for b in range(3)]
        else:
            lines.append(f"                v8 *k = K + 9*(i*{structure.space.size} + j);")
            index = [str(z) for z in range(9)]
        for a in range(3):
            stores = " ".join(f"k[{index[3 * a + b]}] = k{row}{3 * a + b};" for b in range(3))
            lines.append(f"                {stores}")
        lines.append("            }")
    return lines

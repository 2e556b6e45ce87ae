# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, third part: interpolation of jets and contraction of the residual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.structure import FunctionClass, KernelStructure, Segment

#: (name of the table, name of the index list, number of functions, rows of jets)
Table = tuple[str, str, int, list[int]]


def jets_function(name: str, size: int, tables: Sequence[Table]) -> str:
    """Return the function that interpolates `size` vector jets at point q."""
    lines = [f"static void {name}(int q, const v8 *restrict x, v8 *restrict g)", "{"]
    names = [f"g{k}" for k in range(3 * size)]
    lines.append("    FOR_PARTS {")
    lines += zeros(names, 8)
    for table, functions, count, jets in tables:
        lines.append(f"        for (int k = 0; k < {count}; k++) {{")
        lines.append(f"            const v8 *c = x + 3*{functions}[k];")
        for row, jet in enumerate(jets):
            lines.append(f"            const double p{row} = {table}[q][{row}][k];")
            terms = " ".join(f"g{3 * jet + a} += p{row}*PART(c[{a}]);" for a in range(3))
            lines.append(f"            {terms}")
        lines.append("        }")
    lines += [f"        PART(g[{k}]) = {n};" for k, n in enumerate(names)]
    lines += ["    }", "}", ""]
    return "\n".join(lines)


def zeros(names: Sequence[str], indent: int) -> list[str]:
    """Return the declaration of vectors that start at zero."""
    pad = " " * indent
    pieces = [f"{name} = {{0}}" for name in names]
    rows = [pieces[k : k + 5] for k in range(0, len(pieces), 5)]
    lines = [f"{pad}    {', '.join(row)}," for row in rows]
    lines[0] = f"{pad}vec {', '.join(rows[0])},"
    return [*lines[:-1], lines[-1].removesuffix(",") + ";"]


def contract_residual(structure: KernelStructure) -> str:
    """Return the function f_i = sum_q,alpha phi_alpha,i N_alpha."""
    segments = [s for s in structure.segments if s.jets]
    arguments = [f"v8 (*restrict N{s.index})[{3 * len(s.jets)}]" for s in segments]
    lines = [
        "/* f_i = sum over points and jets of phi_i N */",
        f"static void contract_residual({', '.join([*arguments, 'v8 *restrict f'])})",
        "{",
    ]
    visited = sum(c.size for c in structure.classes if not c.patched)
    if visited < structure.space.size:
        lines.append(f"    symancf_zero({3 * structure.space.size}, f);")
    for k, c in enumerate(structure.classes):
        pad = "    " if c.patched else ""
        if c.patched:
            lines.append(f"    for (int patch = 0; patch < {len(c.patches)}; patch++) {{")
        for start, stop, tile in _tiles(c.size, 4):
            lines.append(f"{pad}    FOR_PARTS for (int k = {start}; k < {stop}; k += {tile}) {{")
            lines += [f"{pad}        {line}" for line in _forces(segments, k, c, tile)]
            lines.append(f"{pad}    }}")
        if c.patched:
            lines.append("    }")
    lines += ["}", ""]
    return "\n".join(lines)


def _forces(segments: Sequence[Segment], k: int, c: FunctionClass, tile: int) -> list[str]:
    """Return the statements that find and store the forces of `tile` functions of class k."""
    lines = zeros([f"f{r}{a}" for r in range(tile) for a in range(3)], 0)
    for s in segments:
        jets = c.jets[s.index]
        if not jets:
            continue
        start, stop = "0", str(s.size)
        if c.patched:
            start, stop = f"{c.points}*patch", f"{c.points}*(patch + 1)"
        lines.append(f"for (int q = {start}; q < {stop}; q++) {{")
        for row, jet in enumerate(jets):
            lines.append(f"    const double *p{row} = phi{s.index}_{k}[q][{row}] + k;")
            for a in range(3):
                terms = " ".join(f"f{r}{a} += p{row}[{r}]*x;" for r in range(tile))
                load = f"const vec x = PART(N{s.index}[q][{3 * jet + a}]);"
                lines.append(f"    {{ {load} {terms} }}")
        lines.append("}")
    place, operator = ("[patch]", "+=") if c.patched else ("", "=")
    for r in range(tile):
        stores = " ".join(f"PART(f[3*i + {a}]) {operator} f{r}{a};" for a in range(3))
        lines.append(f"{{ const int i = functions{k}{place}[k + {r}]; {stores} }}")
    return lines


def _tiles(count: int, size: int) -> list[tuple[int, int, int]]:
    """Cut `count` into loops (start, stop, tile) of full tiles and one remainder."""
    size = min(size, count)
    full = count // size * size
    loops = [(0, full, size)]
    if full < count:
        loops.append((full, count, count - full))
    return loops

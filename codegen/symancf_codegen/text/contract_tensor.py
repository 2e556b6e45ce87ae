# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print, fifth part: jets and forces of tensor products, direction by direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.declare import Array
    from symancf_codegen.structure import KernelStructure, Segment
    from symancf_codegen.tensor import TensorProduct


def factored(structure: KernelStructure, mode: str) -> bool:
    """Whether jets and forces of a mode go through tensor products: those of products do."""
    tensors = all(s.tensor is not None for s in structure.segments)
    return mode in ("product", "multiply") and tensors and not structure.shared


def tensor_functions(structure: KernelStructure) -> list[str]:
    """Return the functions that interpolate jets at all points, and that sum forces."""
    parts: list[str] = []
    for segment in structure.segments:
        tensor = segment.tensor
        assert tensor is not None
        parts += [_tables(segment.index, tensor), _jets(segment, tensor), _forces(segment, tensor)]
    sizes = sorted({s.tensor.size for s in structure.segments if s.tensor is not None})
    return [*map(_along, sizes), *parts]


def _matrix(name: str, values: Array) -> str:
    rows = ",\n ".join(f"{{{', '.join(repr(float(x)) for x in row)}}}" for row in values)
    shape = "".join(f"[{n}]" for n in values.shape)
    return f"static const double {name}{shape} =\n{{{rows}}};\n"


def _numbers(name: str, values: tuple[int, ...]) -> str:
    return f"static const int {name}[{len(values)}] = {{{', '.join(map(str, values))}}};\n"


def _tables(s: int, tensor: TensorProduct) -> str:
    return "".join(
        (
            "/* functions and points in the order of lattices, the first parameter fastest */\n",
            _numbers(f"lattice{s}", tensor.functions),
            _numbers(f"lattice_point{s}", tensor.points),
            "/* of a direction: functions at points; from values at points to derivatives */\n",
            _matrix(f"line{s}", tensor.values),
            _matrix(f"line_slope{s}", tensor.slopes),
            "/* their transposes */\n",
            _matrix(f"line_back{s}", tensor.values.T),
            _matrix(f"line_slope_back{s}", tensor.slopes.T),
        )
    )


def _along(n: int) -> str:
    """Return the function that applies a matrix along a direction of a lattice."""
    lines = [
        f"/* y = T x, or added to y, along a direction of a lattice of {n} x {n} x {n} numbers in",
        " * which neighbours are `step` apart */",
        "static inline __attribute__((always_inline))",
        f"void along{n}(const double (*T)[{n}], const int step, const int add,",
        "    const vec *restrict x, vec *restrict y)",
        "{",
        f"    for (int o = 0; o < {n * n}; o++) {{",
        f"        const int first = o/step*{n}*step + o%step;",
        f"        for (int q = 0; q < {n}; q++) {{",
        "            vec sum = T[q][0]*x[first];",
        f"            for (int p = 1; p < {n}; p++) sum += T[q][p]*x[first + p*step];",
        "            if (add) sum += y[first + q*step];",
        "            y[first + q*step] = sum;",
        "        }",
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines)


def _jets(segment: Segment, tensor: TensorProduct) -> str:
    s, n = segment.index, tensor.size
    lines = [
        "/* the jets at all points */",
        f"static void all_jets{s}(const v8 *restrict x, v8 (*restrict g)[{3 * len(segment.jets)}])",
        "{",
        "    FOR_PARTS for (int a = 0; a < 3; a++) {",
        f"        vec s[{n**3}], t[{n**3}];",
        f"        for (int k = 0; k < {n**3}; k++) s[k] = PART(x[3*lattice{s}[k] + a]);",
        f"        along{n}(line{s}, 1, 0, s, t);",
        f"        along{n}(line{s}, {n}, 0, t, s);",
        f"        along{n}(line{s}, {n * n}, 0, s, t);",
    ]
    for jet, d in enumerate(tensor.directions):
        lines.append(f"        along{n}(line_slope{s}, {n**d}, 0, t, s);")
        to = f"g[lattice_point{s}[k]][{3 * jet} + a]"
        lines.append(f"        for (int k = 0; k < {n**3}; k++) PART({to}) = s[k];")
    return "\n".join([*lines, "    }", "}", ""])


def _forces(segment: Segment, tensor: TensorProduct) -> str:
    s, n = segment.index, tensor.size
    to, sign = f"f[3*lattice{s}[k] + a]", "+=" if s else "="
    lines = [
        "/* f = or += sum over points and jets of phi N */",
        f"static void all_forces{s}(v8 (*restrict N)[{3 * len(segment.jets)}], v8 *restrict f)",
        "{",
        "    FOR_PARTS for (int a = 0; a < 3; a++) {",
        f"        vec s[{n**3}], t[{n**3}];",
    ]
    for jet, d in enumerate(tensor.directions):
        of = f"N[lattice_point{s}[k]][{3 * jet} + a]"
        lines.append(f"        for (int k = 0; k < {n**3}; k++) s[k] = PART({of});")
        lines.append(f"        along{n}(line_slope_back{s}, {n**d}, {int(jet > 0)}, s, t);")
    lines += [
        f"        along{n}(line_back{s}, {n * n}, 0, t, s);",
        f"        along{n}(line_back{s}, {n}, 0, s, t);",
        f"        along{n}(line_back{s}, 1, 0, t, s);",
        f"        for (int k = 0; k < {n**3}; k++) PART({to}) {sign} s[k];",
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines)

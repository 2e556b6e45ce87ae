# SPDX-License-Identifier: BSD-3-Clause
"""The C functions of a kernel, as symancf_kernel.h describes them."""

from __future__ import annotations

MODES = ("energy", "residual", "tangent", "product")

_OPERANDS = {
    "energy": "const double *u, double *W",
    "residual": "const double *u, double *f",
    "tangent": "const double *u, double *f, double *K",
    "product": "const double *u, const double *v, double *Kv",
}


def signature(name: str, mode: str) -> str:
    """Return the C declaration of function `mode` of kernel `name`."""
    head = f"int {name}_{mode}(int lanes, const double *uniform, const double *cell,"
    indent = " " * len(f"int {name}_{mode}(")
    return f"{head}\n{indent}const double *reference, {_OPERANDS[mode]})"

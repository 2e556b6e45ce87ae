# SPDX-License-Identifier: BSD-3-Clause
"""The compiler of symancf: SymPy point laws in, fast C kernels out; see `compiler`."""

from symancf_codegen.compiler import Options, compile_cells, compile_points
from symancf_codegen.declare import KernelParameter as Parameter
from symancf_codegen.declare import PointLaw, Rule, Space, reference, unknown
from symancf_codegen.errors import CodegenError as CompileError
from symancf_codegen.library.bind import Kernel

__all__ = [
    "CompileError",
    "Kernel",
    "Options",
    "Parameter",
    "PointLaw",
    "Rule",
    "Space",
    "compile_cells",
    "compile_points",
    "reference",
    "unknown",
]

# SPDX-License-Identifier: BSD-3-Clause
# mypy: ignore-errors
"""FFCx's kernels of one cell, for `symancf bench --peers`: a script for the system's Python.

    /usr/bin/python3 peer_ffcx.py tet10 < rule.json

The rule, {"points": [[...]], "weights": [...]}, is that of symancf, on the cell of side 1.
It prints one JSON object: CPU time of residual and tangent of one cell with straight edges that
stays in cache, and on the unit cell their sizes |f| and trace K. Yeoh's energy, compiled with the
flags that were found to be fastest. Its hexahedron with 20 functions has no nodal values.
"""

import json
import statistics
import sys
import time

import basix
import ffcx
import numpy as np
import ufl
from ffcx.codegeneration.jit import compile_forms

CELLS = {
    "tet10": ("tetrahedron", "Lagrange", 30),
    "hex20": ("hexahedron", "S", 60),
    "hex27": ("hexahedron", "Lagrange", 81),
}
FLAGS = {"cffi_extra_compile_args": ["-Ofast", "-march=native"], "cffi_libraries": ["m"]}
CALLS = 100


def forms(name: str, rule: dict):
    """Return residual and tangent by name."""
    cell, family, _ = CELLS[name]
    mesh = ufl.Mesh(ufl.VectorElement("Lagrange", cell, 1))
    space = ufl.FunctionSpace(mesh, ufl.VectorElement(family, cell, 2))
    u = ufl.Coefficient(space)
    F = ufl.Identity(3) + ufl.grad(u)
    J = ufl.det(F)
    y = J ** (-2.0 / 3.0) * ufl.tr(F.T * F) - 3
    C10, C20, C30, k = (ufl.Constant(mesh) for _ in range(4))
    energy = C10 * y + C20 * y**2 + C30 * y**3 + k / 2 * (J - 1) ** 2
    points = ufl.Measure(
        "dx",
        domain=mesh,
        metadata={
            "quadrature_rule": "custom",
            "quadrature_degree": 5,
            "quadrature_points": np.array(rule["points"]),
            "quadrature_weights": np.array(rule["weights"]),
        },
    )
    residual = ufl.derivative(energy * points, u, ufl.TestFunction(space))
    tangent = ufl.derivative(residual, u, ufl.TrialFunction(space))
    return {"residual": residual, "tangent": tangent}


def measured(name: str, rule: dict) -> dict:
    """Return the times of one cell [ns], and of the unit cell |f| and trace K."""
    cell, family, n = CELLS[name]
    random, result = np.random.default_rng(0), {"points": len(rule["weights"])}
    corners = np.array(basix.geometry(getattr(basix.CellType, cell)))
    moved = corners + random.uniform(-0.05, 0.05, corners.shape)
    state = random.uniform(-0.03, 0.03, n)
    constants = np.array([0.2712, 0.03053, -0.0004013, 1000.0])
    for what, form in forms(name, rule).items():
        objects, module, _ = compile_forms([form], **FLAGS)
        kernel = objects[0].integrals(module.lib.cell)[0].tabulate_tensor_float64
        out = np.zeros(n if what == "residual" else (n, n))
        arguments = pointers(module.ffi, out, state, constants, moved)
        samples = []
        for _ in range(9):
            start = time.thread_time()
            for _ in range(CALLS):
                kernel(*arguments)
            samples.append((time.thread_time() - start) / CALLS * 1e9)
        result[f"{what}_ns"] = statistics.median(samples)
        if family != "Lagrange":
            continue
        nodes = basix.create_element(
            basix.ElementFamily.P,
            getattr(basix.CellType, cell),
            2,
            basix.LagrangeVariant.gll_warped,
        ).points
        out[...] = 0.0
        kernel(*pointers(module.ffi, out, field(nodes), constants, corners))
        key = "residual_norm" if what == "residual" else "trace"
        result[key] = float(np.linalg.norm(out) if out.ndim == 1 else np.trace(out))
    return result


def pointers(ffi, *arrays):
    """Return the arguments of a kernel."""
    casts = [ffi.cast("double *", array.ctypes.data) for array in arrays]
    return (*casts, ffi.NULL, ffi.NULL)


def field(x):
    """Return the displacement (n, 3) on which kernels are compared."""
    parts = [
        0.1 * np.sin(1.3 * x[:, 0] + 0.4 * x[:, 1]),
        0.08 * x[:, 0] * x[:, 1] + 0.05 * np.sin(x[:, 2]),
        0.06 * np.cos(x[:, 0] + x[:, 2]),
    ]
    return np.stack(parts, axis=1)


if __name__ == "__main__":
    print()  # what UFL says has no end of a line
    print(
        json.dumps(
            {"name": f"FFCx {ffcx.__version__}", **measured(sys.argv[1], json.load(sys.stdin))}
        )
    )

# SPDX-License-Identifier: BSD-3-Clause
# mypy: ignore-errors
"""DOLFINx on the benchmarks of `symancf bench --peers`: a script for the system's Python.

    /usr/bin/python3 peer_dolfinx.py assembly 32
    /usr/bin/python3 peer_dolfinx.py solve 20 [--tuned]

It prints one JSON object. The work is that of symancf.bench.cube: trilinear hexahedra with
2 x 2 x 2 points, Yeoh's energy with a quadratic volumetric part, into a PETSc AIJ matrix. The
forms are compiled with the flags that were found to be fastest. All times are CPU seconds of the
process.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dolfinx
import numpy as np
import ufl
from dolfinx import fem, la
from dolfinx import mesh as meshes
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

FLAGS = {"cffi_extra_compile_args": ["-Ofast", "-march=native"], "cffi_libraries": ["m"]}


def memory() -> float:
    """Return the peak of this process's memory in MB.

    (What getrusage tells starts with the peak of the process that started this one.)
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("VmHWM:")[1].split()[0]) / 1024.0


def forms(mesh, bulk: float):
    """Return the displacement and the compiled residual and tangent."""
    space = fem.VectorFunctionSpace(mesh, ("Lagrange", 1))
    u = fem.Function(space)
    F = ufl.Identity(3) + ufl.grad(u)
    J = ufl.det(F)
    y = J ** (-2.0 / 3.0) * ufl.tr(F.T * F) - 3
    C10, C20, C30, k = (
        fem.Constant(mesh, PETSc.ScalarType(value)) for value in (0.2712, 0.03053, -0.0004013, bulk)
    )
    energy = C10 * y + C20 * y**2 + C30 * y**3 + k / 2 * (J - 1) ** 2
    points = ufl.dx(metadata={"quadrature_degree": 3})
    residual = ufl.derivative(energy * points, u, ufl.TestFunction(space))
    tangent = ufl.derivative(residual, u, ufl.TrialFunction(space))
    return u, fem.form(residual, jit_params=FLAGS), fem.form(tangent, jit_params=FLAGS)


def cube(n: int):
    """Return the unit cube of n^3 hexahedra."""
    return meshes.create_unit_cube(MPI.COMM_WORLD, n, n, n, meshes.CellType.hexahedron)


def assembly(n: int) -> dict:
    """Time residual and tangent at a prescribed field."""
    u, residual, tangent = forms(cube(n), 1000.0)
    u.interpolate(
        lambda x: np.stack(
            [
                0.1 * np.sin(1.3 * x[0] + 0.4 * x[1]),
                0.08 * x[0] * x[1] + 0.05 * np.sin(x[2]),
                0.06 * np.cos(x[0] + x[2]),
            ]
        )
    )
    b, A = petsc.create_vector(residual), petsc.create_matrix(tangent)

    def assemble_residual() -> None:
        with b.localForm() as local:
            local.set(0.0)
        petsc.assemble_vector(b, residual)

    def assemble_tangent() -> None:
        A.zeroEntries()
        petsc.assemble_matrix(A, tangent)
        A.assemble()

    times = {}
    for name, call in (("residual", assemble_residual), ("tangent", assemble_tangent)):
        call()
        samples = []
        for _ in range(7):
            start = time.thread_time()
            call()
            samples.append(time.thread_time() - start)
        times[f"{name}_us"] = statistics.median(samples) / n**3 * 1e6
    return {
        "elements": n**3,
        **times,
        "residual_norm": b.norm(),
        "trace": A.getDiagonal().sum(),
        "points": 8,
    }


def rigid_modes(space) -> PETSc.NullSpace:
    """Return the six rigid motions."""
    vectors = [la.create_petsc_vector(space.dofmap.index_map, 3) for _ in range(6)]
    x = space.tabulate_dof_coordinates()
    for a in range(3):
        axis = np.eye(3)[a]
        with vectors[a].localForm() as local:
            local.array.reshape(-1, 3)[:] = axis
        with vectors[3 + a].localForm() as local:
            local.array.reshape(-1, 3)[:] = np.cross(axis, x[: len(local.array) // 3])
    la.orthonormalize(vectors)
    return PETSc.NullSpace().create(vectors=vectors)


def solve(n: int, tuned: bool) -> dict:
    """Solve the clamped and pulled cube in two steps with Newton, CG and GAMG."""
    base, start = memory(), time.process_time()
    mesh = cube(n)
    u, residual, tangent = forms(mesh, 10.0)
    space = u.function_space
    pulled = fem.Function(space)
    clamped = fem.Function(space)
    conditions = [
        fem.dirichletbc(
            value, fem.locate_dofs_geometrical(space, lambda x, at=at: np.isclose(x[0], at))
        )
        for at, value in ((0.0, clamped), (1.0, pulled))
    ]
    spent = {"assembly": 0.0, "solve": 0.0}
    b, A = petsc.create_vector(residual), petsc.create_matrix(tangent)
    A.setNearNullSpace(rigid_modes(space))
    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)

    def assemble_residual() -> float:
        with b.localForm() as local:
            local.set(0.0)
        petsc.assemble_vector(b, residual)
        petsc.apply_lifting(b, [tangent], bcs=[conditions], x0=[u.vector], scale=-1.0)
        b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        petsc.set_bc(b, conditions, u.vector, -1.0)
        return b.norm()

    def assemble_tangent() -> None:
        A.zeroEntries()
        petsc.assemble_matrix(A, tangent, conditions)
        A.assemble()

    def timed(name: str, call):
        began = time.process_time()
        value = call()
        spent[name] += time.process_time() - began
        return value

    options = {
        "ksp_type": "cg",
        "ksp_rtol": 1e-3 if tuned else 1e-6,
        "pc_type": "gamg",
        "mg_levels_ksp_type": "chebyshev",
        "mg_levels_pc_type": "jacobi",
    }
    if tuned:
        options["pc_gamg_threshold"] = 0.02
    database = PETSc.Options()
    for name, value in options.items():
        database[name] = value
    ksp = PETSc.KSP().create(MPI.COMM_WORLD)
    ksp.setFromOptions()
    ksp.setOperators(A)
    du = A.createVecRight()
    newton, linear = [], []
    for step in (0.5, 1.0):
        pulled.interpolate(
            lambda x, s=step: np.stack([0.3 * s + 0 * x[0], 0.1 * s + 0 * x[0], 0 * x[0]])
        )
        first = timed("assembly", assemble_residual)
        norm, count = first, 0
        while norm >= 1e-10 * first and count < 20:
            timed("assembly", assemble_tangent)
            pc = ksp.getPC()
            if hasattr(pc, "setReusePreconditioner"):
                pc.setReusePreconditioner(tuned and count > 0)
            timed("solve", lambda: ksp.solve(b, du))
            u.vector.axpy(-1.0, du)
            u.x.scatter_forward()
            linear.append(ksp.getIterationNumber())
            count += 1
            norm = timed("assembly", assemble_residual)
        newton.append(count)
    total = time.process_time() - start
    return {
        "elements": n**3,
        "total_s": total,
        "assembly_s": spent["assembly"],
        "solve_s": spent["solve"],
        "newton": newton,
        "linear": linear,
        "norm_u": u.vector.norm(),
        "memory_MB": memory(),
        "memory_above_import_MB": memory() - base,
    }


def main() -> None:
    """Run what the command line asks for."""
    what, n = sys.argv[1], int(sys.argv[2])
    result = assembly(n) if what == "assembly" else solve(n, "--tuned" in sys.argv)
    print(json.dumps({"name": f"DOLFINx {dolfinx.__version__}", **result}))


if __name__ == "__main__":
    main()

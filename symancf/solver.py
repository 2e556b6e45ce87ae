# SPDX-License-Identifier: BSD-3-Clause
"""Default PETSc solvers by size and kind of the system, and what their failures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from .petsc import PETSc

from .rigid import rigid_modes

if TYPE_CHECKING:
    from .system import System

DIRECT_UP_TO = 60_000  # rows; beyond, CG with GAMG takes less time and memory


def _has(package: str) -> bool:
    try:
        return bool(PETSc.Sys.hasExternalPackage(package))
    except (AttributeError, PETSc.Error):
        return package in ("mumps",)


def defaults(system: System) -> dict[str, Any]:
    """Return the options that suit a system.

    Newton's method with full steps, backtracking only from states outside the domain of a law:
    the residual of slender structures grows in the first iterations, because a rotation found
    by a linear step stretches them, so a decrease must not be asked for (a negative alpha makes
    PETSc's backtracking accept a residual up to 1e5 times larger). Small serial systems: KLU or UMFPACK; larger: MUMPS,
    LDL^T where the tangent is symmetric, else LU. Beyond `DIRECT_UP_TO` unknowns without
    multipliers: CG (GMRES if unsymmetric) with algebraic multigrid on the rigid modes.
    """
    symmetric = all(piece.kernel.symmetric for piece in system.pieces)
    indefinite = any(piece.role == "constraint" for piece in system.pieces)
    options: dict[str, Any] = {
        "snes_type": "newtonls",
        "snes_linesearch_type": "bt",
        "snes_linesearch_alpha": -1e10,
        "snes_rtol": 1e-10,
        "snes_atol": 1e-50,
        "snes_stol": 1e-9,
        "snes_max_it": 40,
    }
    if system.numbering.size <= DIRECT_UP_TO or indefinite:
        options |= {"ksp_type": "preonly", "pc_type": "lu"}
        if system.comm.size == 1 and system.numbering.size <= 2000 and _has("suitesparse"):
            options["pc_factor_mat_solver_type"] = "umfpack"
        elif _has("mumps"):
            options["pc_factor_mat_solver_type"] = "mumps"
            if symmetric:
                options["pc_type"] = "cholesky"
            if indefinite:
                options["mat_mumps_icntl_14"] = 60  # more work space: delayed pivots
    else:
        options |= {
            "ksp_type": "cg" if symmetric else "gmres",
            "ksp_rtol": 1e-3,
            "pc_type": "gamg",
            "pc_gamg_threshold": 0.02,
            "mg_levels_ksp_type": "chebyshev",
            "mg_levels_pc_type": "jacobi",
        }
    return options


def configure(snes: PETSc.SNES, system: System, prefix: str, given: dict[str, Any]) -> None:
    """Set defaults, then the user's `given` options, then what the command line says."""
    snes.setOptionsPrefix(prefix)
    options = PETSc.Options(prefix)
    for name, value in {**defaults(system), **given}.items():
        if not options.hasName(name):
            options.setValue(name, "" if value is None else value)
    if options.getString("pc_type", "") == "gamg":
        attach_rigid_modes(system)
    snes.setFromOptions()


def attach_rigid_modes(system: System) -> None:
    """Give the tangent the six rigid motions as its near-null space."""
    numbering = system.numbering
    modes = rigid_modes(system)[:, numbering.free_owned]
    vectors = []
    for mode in modes:
        vector = PETSc.Vec().createMPI((numbering.rows, numbering.size), comm=system.comm)
        vector.setArray(mode)
        for other in vectors:
            vector.axpy(-vector.dot(other), other)
        length = vector.norm()
        if length > 1e-8 * max(1.0, float(np.sqrt(numbering.size))):
            vector.scale(1.0 / length)
            vectors.append(vector)
    system.matrix.mat.setNearNullSpace(PETSc.NullSpace().create(vectors=vectors, comm=system.comm))


def _lookup(enumeration: Any, value: int) -> str:
    names = [n for n in dir(enumeration) if n.isupper() and getattr(enumeration, n) == value]
    specific = [n for n in names if n not in ("ITERATING", "CONVERGED_ITERATING")]
    return max(specific or names or [str(value)], key=len)


def reason_name(snes: PETSc.SNES) -> tuple[str, str]:
    """Return PETSc's reason and a sentence with the inner reason of the linear solver."""
    name = _lookup(PETSc.SNES.ConvergedReason, snes.getConvergedReason())
    if name == "DIVERGED_LINEAR_SOLVE":
        ksp = snes.getKSP()
        inner = _lookup(PETSc.KSP.ConvergedReason, ksp.getConvergedReason())
        pc = ksp.getPC().getType()
        text = f"the linear solver ({ksp.getType()} with {pc}) failed: {inner}"
        if pc in ("lu", "cholesky"):
            text += "; the tangent is singular: look for mechanisms or contradicting constraints"
        return inner, text
    return name, f"Newton's method stopped: {name}"

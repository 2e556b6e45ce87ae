# SPDX-License-Identifier: BSD-3-Clause
"""Default PETSc solvers by size and kind of the system, and what their failures mean."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ..bodies.pressure import PREFIX
from ..errors import SymancfError
from ..newton import FACTORS
from ..runtime.options import KRYLOV, SLEPC, Option, SolverOptions, take
from ..runtime.petsc import PETSc, functions, has
from . import bddc
from .choice import MOST_ITERATIONS, prices
from .fixed_solver import FIXED
from .multigrid import GRIDS, displaced
from .preconditioner import bordered, has_gas, over_nodes
from .rigid import attach_rigid_modes
from .updated_rows import UPDATED

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem


# Unknowns of saddle points up to which a direct solver takes less time than multigrid.
DIRECT_UP_TO = {"multipliers": 20_000, "pressures": 70_000}
MOST_FIXED = 5000  # unknowns up to which pivots are fixed
MOST_RUBBING = 400  # eyelets with friction whose rows are added to factors
SMALL_SYSTEM = 8000  # unknowns up to which factors take `FREE_OPERATIONS` at most


def _multigrid(system: DiscreteSystem, preconditioner: str | None, dynamic: bool) -> str | None:
    """Return the multigrid that suits a system, None where a direct solver does (collective).

    Bending without shear (thin plates, cables), which multigrid by aggregation hardly reduces, has
    a direct solver; else what takes less, see `Prices`, and of saddle points (multipliers)
    `_factored`.

    Raises
    ------
    SymancfError : ``grids`` is asked for and impossible.
    """
    if preconditioner in (GRIDS, "gamg"):
        return GRIDS if preconditioner == GRIDS and _over_grids(system, preconditioner) else "gamg"
    if preconditioner in FACTORS:
        return None
    if is_saddle(system):
        return None if _factored(system) else GRIDS
    elements = [getattr(body, "element", None) for body in system.bodies]
    kinds = {getattr(element, "slope_kind", "") for element in elements}
    rods = any(getattr(element, "axes", ()) for element in elements)
    if rods or not kinds <= {"none", "gradient"} or system.numbering.size <= SMALL_SYSTEM:
        return None
    kind = GRIDS if _over_grids(system, preconditioner) else "gamg"
    asks = prices(system, kind, is_symmetric(system, dynamic), dynamic)
    return None if asks.prefer_direct else kind


def is_saddle(system: DiscreteSystem) -> bool:
    """Whether the tangent has the diagonal block of multipliers, zero or negative."""
    return any(form.role == "constraint" for form in system.forms) or any(
        block.kind == "multiplier" for block in system.numbering.blocks
    )


def _factored(system: DiscreteSystem) -> bool:
    """Whether a direct solver suits a saddle point better than `Saddle` (collective).

    So it is where more than a tenth of the coordinates are no displacements of nodes, or more
    than a fifth of the unknowns are multipliers.
    """
    numbering = system.numbering
    if numbering.size <= DIRECT_UP_TO["multipliers"]:
        return True
    vertex = numbering.vertex_of[numbering.coordinate_of_row]
    block = numbering.block_of[numbering.coordinate_of_row]
    multiplier = numbering.those("multiplier")[numbering.coordinate_of_row]
    pressure = np.array([b.name.startswith(PREFIX) for b in numbering.blocks], dtype=bool)[block]
    node = displaced(numbering)[vertex] & ~multiplier
    count = np.array([node.sum(), multiplier.sum(), pressure.sum()], dtype=float)
    nodes, multipliers, pressures = system.sum(count).tolist()
    if pressures and numbering.size <= DIRECT_UP_TO["pressures"]:
        return True
    others = numbering.size - nodes - multipliers
    if others > 0.1 * nodes or multipliers > 0.2 * numbering.size:
        return True
    return isinstance(over_nodes(system, alone=False), str)


def defaults(
    system: DiscreteSystem, preconditioner: str | None = None, fixed: bool = True
) -> dict[str, Option]:
    """Return the options that suit a system, and the preconditioner that is asked for.

    `fixed`: nobody has chosen PETSc's factors.

    Newton's method with full steps, backtracking only from states outside the domain of a law:
    the residual of slender structures grows in the first iterations, because a rotation found
    by a linear step stretches them, so a decrease must not be asked for (a negative alpha makes
    PETSc's backtracking accept a residual up to 1e5 times larger).

    Direct: factors on a fixed pattern for small serial systems of rods and rigid bodies, UMFPACK
    for others; larger: MUMPS, LDL^T where the tangent is symmetric, else LU.

    Multigrid: CG (GMRES if unsymmetric), solved as loosely as Newton's method allows, with coarse
    spaces on grids over the nodes (``pc_type grids``, see `symancf.solve.multigrid.hierarchy`).
    Where cells differ much in size or nodes have other unknowns than displacements: PETSc's
    smoothed aggregation (``gamg``) on the rigid modes. Its smoothing is Jacobi's method with
    Chebyshev polynomials, on the finest level with entries in single precision. They span 1/20 of
    the spectrum instead of 1/10: nearly incompressible bodies converge faster so. The largest
    eigenvalues are estimated anew with each preconditioner (GAMG would keep those of the first one:
    they grow as bodies deform, and where they leave the interval the preconditioner is indefinite).
    """
    options: dict[str, Option] = {
        "snes_type": "newtonls",
        "snes_linesearch_type": "bt",
        "snes_linesearch_alpha": -1e10,
        "snes_rtol": 1e-10,
        "snes_atol": 0.0,  # an absolute force means nothing in general
        "snes_stol": 1e-9,
        "snes_max_it": 40,
    }
    options |= linear_defaults(system, preconditioner, fixed=fixed)
    if options["pc_type"] == "lu" and options.get("pc_factor_mat_solver_type") == "mumps":
        options["mat_mumps_icntl_33"] = 1  # the determinant, whose sign tells bifurcations
    return options


def linear_defaults(
    system: DiscreteSystem,
    preconditioner: str | None = None,
    dynamic: bool = False,
    fixed: bool = False,
) -> dict[str, Option]:
    """Return the options of the linear solver; see `defaults`.

    Who asks for GAMG on a small system gets the same multigrid as a large one does: PETSc's own
    choice keeps the first eigenvalues, and is indefinite once the body has deformed.

    Chains of cables and rigid bodies, with few entries in a row, get factors on a fixed pattern. In
    motions (`dynamic`) one factorisation serves for many steps, and so more unknowns are worth a
    direct solver of one process; with `fixed` False such chains get one without dense blocks there
    (PETSc's own where no pivot can be zero, else KLU).
    """
    if preconditioner == bddc.BDDC:
        bddc.require_possible(system, dynamic)
        return bddc.options_of(is_symmetric(system))
    kind = _multigrid(system, preconditioner, dynamic)
    if kind is not None:
        return _iterative(system, kind, dynamic)
    if preconditioner == FIXED or (
        fixed and preconditioner is None and _suits_fixed(system, dynamic)
    ):
        return {"ksp_type": "preonly", "pc_type": FIXED}
    return _direct(system, dynamic)


def _suits_fixed(system: DiscreteSystem, dynamic: bool) -> bool:
    """Whether factors on a fixed pattern take less time: of bodies with few entries in a row."""
    one = system.topology.on_one_rank if dynamic else system.comm.size == 1
    alone = one and not system.changing
    return alone and system.numbering.size <= MOST_FIXED and _cells(system) <= {"line", "line3"}


def _cells(system: DiscreteSystem) -> set[str]:
    """Return the cells of all bodies; "line" of rigid ones."""
    return {getattr(vars(body).get("element"), "cell", "line") for body in system.bodies}


def _iterative(system: DiscreteSystem, kind: str, dynamic: bool) -> dict[str, Option]:
    """Return the options of Krylov's methods with a multigrid."""
    bound = any(block.is_equation for block in system.numbering.blocks)  # pressures of gas
    by_halves = kind == GRIDS and not dynamic and bordered(system) and system.has_halves
    definite = is_symmetric(system, dynamic) and not is_saddle(system)
    definite = definite and (by_halves or not bound)
    method = "cg" if definite else "gmres"
    options: dict[str, Option] = {
        "ksp_type": method,
        "ksp_rtol": 3e-3,
        "ksp_atol": 0.0,
        "ksp_max_it": MOST_ITERATIONS,
        "pc_type": kind,
    }
    if method == "gmres":
        options["ksp_gmres_restart"] = 100  # with stiff contact 30 do not get there
    if kind == "gamg":
        return options | {
            "pc_gamg_threshold": 0.02,
            "pc_gamg_use_sa_esteig": False,
            "mg_levels_ksp_type": "chebyshev",
            "mg_levels_ksp_chebyshev_esteig": "0,0.05,0,1.1",
            "mg_levels_esteig_ksp_type": method,
            "mg_levels_pc_type": "jacobi",
        }
    if isinstance(over_nodes(system), str) and not by_halves:
        options |= {"ksp_type": "fgmres", "ksp_gmres_restart": 60, "ksp_max_it": 200}
        if dynamic:
            options["ksp_rtol"] = 1e-5  # fewer residuals
    return options


def _direct(system: DiscreteSystem, dynamic: bool) -> dict[str, Option]:
    """Return the options of a direct solver."""
    options: dict[str, Option] = {"ksp_type": "preonly", "pc_type": "lu"}
    saddle, small = is_saddle(system), 20_000 if dynamic else 2000
    if system.comm.size == 1 and system.numbering.size <= small and has("suitesparse"):
        if dynamic and has("mumps") and _rubs(system):
            return options | {"pc_type": UPDATED}
        if not dynamic or _cells(system) != {"line"}:
            return options | {"pc_factor_mat_solver_type": "umfpack"}
        if saddle:
            return options | {"pc_factor_mat_solver_type": "klu"}
        return options | {
            "pc_factor_mat_solver_type": "petsc",
            "pc_factor_mat_ordering_type": "rcm",  # 1.2 times faster along a chain
            # PETSc's own factors take pivots below 2e-14 for zero, whatever the units
            "pc_factor_zeropivot": 1e-300,
        }
    if has("mumps"):
        options["pc_factor_mat_solver_type"] = "mumps"
        if is_symmetric(system, dynamic):
            options["pc_type"] = "cholesky"
        if saddle:
            options["mat_mumps_icntl_14"] = workspace(system)
    return options


def _rubs(system: DiscreteSystem) -> bool:
    """Whether tendons rub, in few eyelets, so that factors may last while these stick and slip."""
    return not system.changing and 0 < sum(form.size for form in system.friction) <= MOST_RUBBING


def is_symmetric(system: DiscreteSystem, dynamic: bool = False) -> bool:
    """Tell whether the tangent of statics or of motions is symmetric."""
    return all(p.kernel.symmetric for p in system.forms if dynamic or not p.moving)


def _over_grids(system: DiscreteSystem, preconditioner: str | None) -> bool:
    """Tell whether multigrid can have its coarse spaces on grids over the nodes (collective).

    Raises
    ------
    SymancfError : it cannot and is asked for.
    """
    bound = is_saddle(system) or has_gas(system)
    nodes = over_nodes(system, alone=preconditioner != GRIDS and not bound)
    if preconditioner == GRIDS and isinstance(nodes, str):
        other = "lu" if _multipliers(system) else "gamg"  # which breaks down with them
        raise SymancfError(
            f"-pc_type {GRIDS} is not possible: {nodes}; -pc_type {other} is",
            asked="-pc_type",
            given=GRIDS,
            possible=(other,),
        )
    return not isinstance(nodes, str)


def workspace(system: DiscreteSystem) -> int:
    """Return by how many percent MUMPS's work space exceeds its estimate (collective).

    Delayed pivots may be most of a factorisation in small matrices, and where multipliers join
    bodies of few coordinates.
    """
    numbering = system.numbering
    delays = numbering.size <= 20_000 or _multipliers(system) > 0.1 * numbering.size
    return 400 if delays else 60


def _multipliers(system: DiscreteSystem) -> float:
    """Return the number of multipliers among the unknowns (collective)."""
    numbering = system.numbering
    here = numbering.to_rows(numbering.those("multiplier").astype(float)).sum()
    return float(system.sum(np.array([here]))[0])


def configure(snes: PETSc.SNES, system: DiscreteSystem, options: SolverOptions) -> None:
    """Set defaults, then the options given to a problem, then what the command line says.

    Raises
    ------
    SymancfError : PETSc refuses an option.
    """
    snes.setOptionsPrefix(options.prefix)
    preconditioner = options.choice("pc_type")
    fixed = options.choice("pc_factor_mat_solver_type") is None
    offered = options.offer(fitting(defaults(system, preconditioner, fixed), preconditioner))
    if system.numbering.size > SMALL_SYSTEM:
        from .cost import warn_of_memory

        warn_of_memory(system, str(preconditioner or offered["pc_type"]), is_symmetric(system))
    if offered.get("pc_type") == "gamg":
        attach_rigid_modes(system, system.matrix.mat)
    take(snes)
    options.idle = idle_options(snes.getKSP())


def idle_options(ksp: PETSc.KSP) -> tuple[str, ...]:
    """Return the options that do nothing with a linear solver, though PETSc reads them."""
    return KRYLOV if ksp.getType() == PETSc.KSP.Type.PREONLY else ()


def uses(option: str) -> bool:
    """Tell whether statics use an option of PETSc, of the kinds that are known."""
    return not option.startswith(("ts_", *SLEPC)) and option != "snes_divergence_tolerance"


def fitting(options: dict[str, Option], preconditioner: str | None) -> dict[str, Option]:
    """Return the defaults that fit the preconditioner that the user asks for."""
    if preconditioner in (None, options["pc_type"]):
        return options
    if preconditioner in ("lu", "cholesky") and has("mumps"):
        return options | {"pc_factor_mat_solver_type": "mumps"}
    return {n: v for n, v in options.items() if not n.startswith(("pc_factor_", "mat_mumps_"))}


_METHODS = {
    GRIDS: "multigrid",
    "gamg": "algebraic multigrid",
    bddc.BDDC: "balancing domain decomposition",
    "none": "no preconditioner",
    "cholesky": "LDL^T",
    FIXED: "LDL^T or LU on a fixed sparsity pattern",
    UPDATED: "LDL^T or LU with rows of friction that are updated",
    "lu": "LU",
    "ilu": "incomplete LU",
    "icc": "incomplete LDL^T",
    "jacobi": "Jacobi's method",
}


def solver_name(ksp: PETSc.KSP) -> str:
    """Return what a linear solver is called, with the options of PETSc that ask for it."""
    pc, method = ksp.getPC(), ksp.getType()
    kind = pc.getType()
    package = pc.getFactorSolverType() if kind in FACTORS and kind not in (FIXED, UPDATED) else None
    words = _METHODS.get(kind, kind) + (f" by {package.upper()}" if package else "")
    words = words if method == PETSc.KSP.Type.PREONLY else f"{method.upper()} with {words}"
    option = "" if method == PETSc.KSP.Type.PREONLY else f"-ksp_type {method} "
    return f"{words} ({option}-pc_type {kind})"


def _lookup(enumeration: type, value: int) -> str:
    names = [n for n in dir(enumeration) if n.isupper() and getattr(enumeration, n) == value]
    aliases = ("ITERATING", "CONVERGED_ITERATING", "DIVERGED_MAX_IT")
    specific = [n for n in names if n not in aliases]
    return max(specific or names or [str(value)], key=len)


def reason_of(ksp: PETSc.KSP) -> str:
    """Return PETSc's name of the reason why a linear solver has stopped."""
    name = _lookup(PETSc.KSP.ConvergedReason, ksp.getConvergedReason())
    return name.replace("DIVERGED_MAX_IT", "DIVERGED_ITS")  # what PETSc itself calls it


# PCFailedReason
_FAILED = {
    1: "a row of the tangent is empty",
    2: "the tangent is singular: a pivot is zero",
    3: "the memory did not suffice for the factors (MUMPS: -mat_mumps_icntl_14 100)",
}


def pc_failure(pc: PETSc.PC) -> str:
    """Return in words why a preconditioner was not set up; "": it was, or nothing is known."""
    failed = ctypes.c_int(0)
    functions.PCGetFailedReason(ctypes.c_void_p(pc.handle), ctypes.byref(failed))
    return _FAILED.get(failed.value, "")


def reason_name(snes: PETSc.SNES, reason: int | None = None) -> tuple[str, str]:
    """Return PETSc's reason and a sentence with the inner reason of the linear solver.

    `reason`: of a Newton's method with the same linear solver; default: that of `snes`.
    """
    reason = snes.getConvergedReason() if reason is None else reason
    name = _lookup(PETSc.SNES.ConvergedReason, reason)
    if name == "DIVERGED_LINEAR_SOLVE":
        ksp = snes.getKSP()
        stopped = ksp.getConvergedReason()  # of its last solution, not of one before, perhaps
        inner = name if stopped > 0 else reason_of(ksp)
        pc = ksp.getPC()
        text = f"the linear solver, {solver_name(ksp)}, failed: {inner}"
        if failed := pc_failure(pc):
            text += f", {failed}"
        return inner, text
    return name, f"Newton's method stopped: {name}"

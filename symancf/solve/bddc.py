# SPDX-License-Identifier: BSD-3-Clause
"""Balancing domain decomposition by constraints: one subdomain a rank, by PETSc's PCBDDC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpi4py import MPI

from ..assembly.form import ClosestPoints
from ..assembly.subdomains import Subdomains
from ..errors import SymancfError
from ..runtime.petsc import PETSc
from .rigid import attach_rigid_modes

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from ..runtime.options import Option

BDDC: str = PETSc.PC.Type.BDDC
"""PETSc's name of the preconditioner."""


def require_possible(system: DiscreteSystem, dynamic: bool = False) -> None:
    """Refuse ``-pc_type bddc`` where there are no subdomains (collective).

    Raises
    ------
    SymancfError : in motions, on one rank, where a rank has no unknowns, and where lists of
        entities change (contact).
    """
    facing = any(isinstance(form.entities, ClosestPoints) for form in system.assembler.forms)
    reasons = {
        "each rank is a subdomain, and there is one rank": system.comm.size == 1,
        "a rank has no unknowns, as of small systems (-partition_from)": not system.numbering.rows,
        "it is for equilibria, and this is a motion": dynamic,
        "what is in contact changes": bool(system.changing) or facing,
    }
    found = [reason for reason, holds in reasons.items() if system.comm.allreduce(holds, MPI.LOR)]
    if found:
        raise SymancfError(
            f"-pc_type {BDDC} is not possible: {found[0]}; -pc_type lu is",
            asked="-pc_type",
            given=BDDC,
            possible=("lu",),
        )


def options_of(symmetric: bool) -> dict[str, Option]:
    """Return the options of PETSc that solve by BDDC: MUMPS' factors of subdomains, GMRES."""
    factors = "cholesky" if symmetric else "lu"
    options: dict[str, Option] = {
        "ksp_type": "gmres",
        "ksp_rtol": 1e-8,
        "ksp_atol": 0.0,
        "ksp_max_it": 300,
        "ksp_gmres_restart": 100,
        "pc_type": BDDC,
        "pc_bddc_symmetric": symmetric,
    }
    for part in ("dirichlet", "neumann", "coarse"):
        options[f"pc_bddc_{part}_pc_type"] = factors
        options[f"pc_bddc_{part}_pc_factor_mat_solver_type"] = "mumps"
        options[f"pc_bddc_{part}_mat_mumps_icntl_14"] = 100  # delayed pivots need more work space
    return options


def subdomains_of(system: DiscreteSystem, symmetric: bool) -> Subdomains:
    """Return the tangent by subdomains, with the rigid motions of all (collective)."""
    parts = Subdomains(system.numbering, system.assembler, symmetric)
    attach_rigid_modes(system, parts.mat)
    return parts


def attach(pc: PETSc.PC, parts: Subdomains) -> None:
    """Tell PCBDDC which rows are coarse, and which are of one kind of coordinates (collective)."""
    comm = parts.comm
    coarse, *kinds = (
        PETSc.IS().createGeneral(rows.astype(PETSc.IntType), comm=comm)
        for rows in (parts.primal, *parts.kinds)
    )
    pc.setBDDCPrimalVerticesLocalIS(coarse)
    pc.setBDDCDofsSplittingLocal(kinds)

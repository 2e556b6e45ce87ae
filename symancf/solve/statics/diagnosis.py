# SPDX-License-Identifier: BSD-3-Clause
"""Motions that a singular tangent leaves undetermined; asked after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...bodies.pressure import PREFIX
from ...runtime.collective import together
from ...runtime.petsc import PETSc
from ..causes import Undetermined
from .rigid_motions import free_motions

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from .convergence import Convergence


MAX_ROWS = 60_000  # rows; beyond, a factorisation only for a message takes too long
SINGULAR_RATIO = 1e-13  # of the equilibrated tangent; that of slender but sound structures is 1e-10


def undetermined(system: DiscreteSystem) -> Undetermined | None:
    """Return what the tangent at the present state leaves free (collective).

    The vector that the tangent K diminishes most is found by inverse iteration. Equilibrated by
    the largest entries of the rows, its part in the multipliers points to constraints that say
    the same or contradict each other, its part in the positions to a mechanism.
    """
    motions, names = free_motions(system)
    if motions:
        return Undetermined("motion", motions, names)
    if system.numbering.size > MAX_ROWS or not system.numbering.size:
        return None
    matrix = system.matrix.mat
    start, _, values = matrix.getValuesCSR()
    rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
    if not system.comm.allreduce(bool(np.isfinite(values).all()), op=MPI.LAND):
        return None
    largest = np.zeros(len(start) - 1)
    np.maximum.at(largest, rows, np.abs(values))
    scale = np.sqrt(np.where(largest > 0.0, largest, 1.0))
    weak = _weakest(system, matrix)
    if weak is None:
        return None
    answer = matrix.createVecLeft()
    matrix.mult(weak, answer)
    y, r = weak.getArray(readonly=True) * scale, answer.getArray(readonly=True) / scale
    answer.destroy()
    weak.destroy()
    norms = np.sqrt(system.sum(np.array([y @ y, r @ r])))
    if not norms[1] <= SINGULAR_RATIO * norms[0]:
        return None
    return _undetermined(system, y / norms[0])


def _weakest(system: DiscreteSystem, matrix: PETSc.Mat) -> PETSc.Vec | None:
    """Return the vector of the smallest eigenvalue of the tangent, as far as that is defined."""
    random = system.numbering.random(11)
    for shift in (0.0, 1e-12 * system.stiffness):
        shifted = matrix if shift == 0.0 else matrix.copy()
        if shift:
            shifted.shift(shift)
        x, b = matrix.createVecs()
        b.setArray(system.numbering.to_rows(random))
        ksp = PETSc.KSP().create(system.comm)
        ksp.setType("preonly")
        ksp.setOperators(shifted)
        pc = ksp.getPC()
        pc.setType("lu")
        try:
            pc.setFactorSolverType("mumps")
            converges = all(_iterate(ksp, b, x) for _ in range(3))
        except PETSc.Error:
            converges = False
        for thing in (ksp, x, *([shifted] if shift else [])):
            thing.destroy()
        if converges:
            return b
        b.destroy()
    return None


def _iterate(ksp: PETSc.KSP, b: PETSc.Vec, x: PETSc.Vec) -> bool:
    """Put b = A^-1 b / |A^-1 b|; tell whether that went well."""
    ksp.solve(b, x)
    length = x.norm()
    if ksp.getConvergedReason() < 0 or not np.isfinite(length) or length == 0.0:
        return False
    x.copy(b)
    b.scale(1.0 / length)
    return True


def _undetermined(system: DiscreteSystem, y: Array) -> Undetermined:
    """Describe a unit vector of undetermined unknowns by constraints or by a place."""
    numbering = system.numbering
    kinds, kind = numbering.kind_of_rows()
    shares = system.sum(np.bincount(kind, np.square(y), len(kinds)).astype(float))
    constraints = [
        kind.owner or kind.name.removeprefix("lambda:")
        for kind, share in zip(kinds, shares, strict=True)
        if kind.block.kind == "multiplier" and share > 1e-4
    ]
    if constraints and all(name.startswith(PREFIX) for name in constraints):
        names = [name.removeprefix(PREFIX) for name in constraints]
        return Undetermined("pressure", "", names)
    if constraints:
        return Undetermined("constraints", "", constraints)
    local = np.zeros(numbering.coordinates)
    numbering.from_rows(np.abs(y), local)
    at = int(np.argmax(local)) if len(local) else 0
    mine = (float(local[at]) if len(local) else -1.0, -system.comm.rank)
    _, rank = system.comm.allreduce(mine, op=MPI.MAX)
    place = system.points[numbering.vertex_of[at]] if system.comm.rank == -rank else None
    x = system.comm.bcast(place, root=-rank)
    return Undetermined("place", f"({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g})")


def warn_unproved(
    system: DiscreteSystem, test: Convergence, snes: PETSc.SNES, time: float, before: Array
) -> None:
    """Warn where options of PETSc's, not the test of the residual, ended a step (collective).

    `before`: state at the beginning of the step. The residual is compared with the loads.
    """
    rtol, atol = snes.getTolerances()[:2]
    share, why = test.by_tolerance, f"snes_atol {atol:g}"
    if not test.tested:
        fixed = system.numbering.fixed_by >= 0
        start, f = np.where(fixed, system.state, before), np.zeros_like(before)
        with together(system.comm):
            system.assembler.residual(start, f)
        first = system.numbering.to_rows(f)
        with together(system.comm):
            system.assembler.residual(system.state, f)
        share = test.share_without_test(system.numbering.to_rows(f), f, first)
        why = f"snes_type {snes.getType()}, or snes_convergence_test"
    if share > max(100.0 * rtol, 1e-5):
        system.once.warn(
            ("not solved", why),
            f"at pseudo-time {time:g} options of PETSc ({why}) ended Newton's method where the "
            f"residual is {100.0 * share:.3g} % of the loads: this is no equilibrium",
        )

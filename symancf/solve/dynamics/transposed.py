# SPDX-License-Identifier: BSD-3-Clause
"""Linear systems with the transpose of the tangent of a time step."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...assembly.assembler import Derivatives
from ...errors import ParameterError, SymancfError
from ...runtime.collective import together
from ...runtime.options import complaint
from ...runtime.petsc import PETSc, has
from ..gradients.bend import bend, times, total
from ..gradients.fgmres import fgmres
from ..gradients.gradient import require_tangent
from ..solver import is_symmetric, pc_failure, workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...arrays import Array
    from .newton import Newton


class TransposedStep:
    r"""Solves :math:`S^T w = b` with the tangent S = K + R C + B M of a step.

    FGMRES with products by the kernels, which are exact also where tangents leave something out;
    what precedes it are factors L U of the tangent of a later step, while these serve.

    Attributes
    ----------
    accuracy, least : relative error that is wanted, and that is enough.
    corrections : most of these to one solution; `near`: relative size from which on one without
        iterations is tried; `residual`: the least one of these.
    vectors : of a Krylov space.
    most : iterations beyond which factors are made anew for the next step.
    small : unknowns up to which each step has factors of its own: they cost less than products.
    stale : whether factors are to be made anew at the next step.
    factorisations, iterations : numbers of all so far.
    """

    accuracy, least, vectors = 1e-10, 1e-7, 60
    corrections, near, residual = 12, 1e-3, 1e-12
    most, small = 8, 500

    def __init__(self, newton: Newton) -> None:
        self._newton, self._motion, self._system = newton, newton.motion, newton.system
        self._b, self._x = newton.vectors.new(), newton.vectors.new()
        self._ksp = PETSc.KSP().create(self._system.comm)
        self._ksp.setType(PETSc.KSP.Type.PREONLY)
        pc, size = self._ksp.getPC(), self._system.numbering.size
        halves = is_symmetric(self._system, dynamic=True) and has("mumps") and size > self.small
        pc.setType(PETSc.PC.Type.CHOLESKY if halves else PETSc.PC.Type.LU)
        self._refines = self._system.comm.size == 1 and has("suitesparse") and not halves
        if self._refines:
            pc.setFactorSolverType("umfpack")
        elif has("mumps"):
            pc.setFactorSolverType("mumps")
        # UMFPACK refines nothing: its matrix will be that of other steps
        own = (
            ("umfpack_irstep", 0) if self._refines else ("mumps_icntl_14", workspace(self._system))
        )
        self._option = f"mat_{own[0]}", own[1]
        self.stale = True
        self.factorisations = self.iterations = 0

    def begin(self) -> None:
        """Begin with another step (collective)."""
        self.stale = self.stale or self._system.numbering.size <= self.small

    def pull(self, w: Array, seeds: dict[int, Array]) -> Derivatives:
        """Return derivatives of w . (R + beta K v) + seeds . update; rates follow (collective)."""
        system, found = self._system, None
        with together(system.comm):
            found = system.assembler.pull(self._motion.state, w, seeds)
        if system.comm.allreduce(found.bad):
            raise ParameterError("a law has no derivatives at a state of the motion", asked="trace")
        return self._damped(w, found) if self._motion.damping.stiffness else found

    def _damped(self, w: Array, forces: Derivatives) -> Derivatives:
        """Return derivatives with those of w . beta K v; v follows as rates do (collective)."""
        motion, system = self._motion, self._system
        v, factor = np.where(motion.second, motion.rate, 0.0), system.assembler.rate_factor
        with system.assembler.only(motion.strain):
            by_rate = system.assembler.pull(motion.state, w, parameters=False).coordinates
            moves = system.comm.allreduce(bool(v.any()), op=MPI.LOR)
            found = bend(system, w, v, "gradient") if moves else None
        parts = [] if found is None else [found]
        if factor is not None:
            by_rate = np.where(motion.second, factor * by_rate, 0.0)
            parts.append(Derivatives(0.0 * forces.values, {}, by_rate, 0))
        return total([forces, *(times(motion.damping.stiffness, part) for part in parts)])

    def require_strains(self) -> None:
        """Raise where K of Rayleigh's beta K v is not the derivative of forces (collective)."""
        motion, system = self._motion, self._system
        v = system.numbering.random(1)
        if motion.damping.stiffness:
            with system.assembler.only(motion.strain):
                pulled = system.assembler.pull(motion.state, v, parameters=False)
                require_tangent(system, v, pulled, "gradient with Rayleigh(stiffness=...)")

    def mass(self, w: Array) -> Array:
        """Return M w, complete at owned coordinates."""
        out = np.zeros_like(w)
        self._motion.mass.residual(np.where(self._motion.second, w, 0.0), out)
        return out

    def inertia(self, mass: Array) -> Array:
        """Return (dv/dx + alpha da/dx) M w of M w."""
        m = self._motion
        factor = m.acceleration_factor + m.damping.mass * m.rate_factor
        return np.where(m.second, factor * mass, 0.0)

    def guess(self, b: Array) -> Array:
        """Return about S^-T b, a local vector that is zero at fixed coordinates (collective)."""
        if self.stale:
            self._renew()
        return self.local(self._precede(self._system.numbering.to_rows(b)))

    def correct(self, b: Array, residual: float) -> Array:
        """Return S^-T b by iterations, to a relative residual (collective)."""
        system, numbering = self._system, self._system.numbering

        def product(rows: Array) -> Array:
            v = self.local(rows)
            return numbering.to_rows(self.pull(v, {}).coordinates + self.inertia(self.mass(v)))

        found, _, count = fgmres(
            product,
            self._precede,
            numbering.to_rows(b),
            system.sum,
            residual,
            self.least,
            self.vectors,
        )
        self.iterations += count
        self.stale = count > self.most
        return self.local(found)

    def solve(self, b: Array) -> Array:
        """Return S^-1 b, a local vector that is zero at fixed coordinates (collective)."""
        if self.stale:
            self._renew()
        system, numbering, motion = self._system, self._system.numbering, self._motion

        def product(rows: Array) -> Array:
            v, f = self.local(rows), np.zeros_like(motion.state)
            with system.assembler.following(system.rate, motion.rate_factor):
                system.assembler.product(motion.state, v, f)
            factor = motion.acceleration_factor + motion.damping.mass * motion.rate_factor
            return numbering.to_rows(f + self.mass(factor * v))

        def square(rows: Array) -> float:
            return float(system.sum(np.array([rows @ rows]))[0])

        right, precede = numbering.to_rows(b), partial(self._precede, transpose=False)
        x, last = precede(right), np.inf
        for _ in range(self.corrections):
            rest = right - product(x)
            change, size = precede(rest), square(x)
            share = np.sqrt(square(change) / size) if size else 0.0
            if share >= min(0.1 * last, self.near):
                change, _, count = fgmres(
                    product, precede, rest, system.sum, 1e-4, self.least, self.vectors
                )
                self.iterations += count
                self.stale = count > self.most
            x = x + change
            if share <= self.residual or (share < self.least and share > 0.3 * last):
                return self.local(x)
            last = share
        raise ParameterError(
            f"the tangent of the step to t = {system.time:g} is singular, or nearly so: "
            f"sensitivities do not exist (a linear system is solved to {last:.1e} alone)",
            asked="sensitivity",
            given=last,
        )

    def local(self, rows: Array) -> Array:
        """Return a local vector with ghosts of rows, zero at fixed coordinates (collective)."""
        v = np.zeros_like(self._motion.state)
        self._b.setArray(rows)
        self._newton.vectors.to_local(self._b, v)
        return v

    def _renew(self) -> None:
        """Make factors of the tangent of the present step (collective)."""
        motion, pc = self._motion, self._ksp.getPC()
        with together(self._system.comm):
            motion.tangent(np.zeros_like(motion.state), motion.matrix)
        mat = motion.matrix.mat
        self._ksp.setOperators(mat, mat)
        pc.setReusePreconditioner(False)
        try:
            with self._offer():
                self._ksp.setUp()
        except PETSc.Error as error:
            raise self._failure(complaint(error)) from error
        if failed := pc_failure(pc):
            raise self._failure(failed)
        pc.setReusePreconditioner(True)
        self.stale = False
        self.factorisations += 1

    @contextmanager
    def _offer(self) -> Iterator[None]:
        """Let the solver of the factors have an option of its own, where none is set."""
        options, (name, value) = PETSc.Options(), self._option
        is_set = options.hasName(name)
        if not is_set:
            options[name] = value
        try:
            yield
        finally:
            if not is_set:
                options.delValue(name)

    def _precede(self, rows: Array, transpose: bool = True) -> Array:
        """Return about S^-T, or S^-1, times a vector of rows (collective)."""
        self._b.setArray(rows)
        try:
            solve = self._ksp.solveTranspose if transpose else self._ksp.solve
            solve(self._b, self._x)
        except PETSc.Error as error:
            raise self._failure(complaint(error)) from error
        return np.array(self._x.getArray(readonly=True))

    @staticmethod
    def _failure(text: str) -> SymancfError:
        return SymancfError(f"PETSc failed on a linear system of a gradient: {text}")

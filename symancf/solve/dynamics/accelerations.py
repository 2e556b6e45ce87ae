# SPDX-License-Identifier: BSD-3-Clause
r"""Accelerations and multipliers of a state: the equations of motion with index 1.

.. math::
    \begin{bmatrix} M & \Phi_q^T \\ \Phi_q & 0 \end{bmatrix}
    \begin{bmatrix} a \\ \lambda \end{bmatrix} =
    \begin{bmatrix} -R(q, v, t) \\ \gamma \end{bmatrix}, \qquad
    \gamma = -(\Phi_q v)_q v - 2 \Phi_{qt} v - \Phi_{tt}.

The matrix is factorised once where all gradients of constraints are constant, else for each
state.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints
from ...assembly.half import Half, write_tangent
from ...assembly.shell import Shell
from ...errors import ConstraintError, ConvergenceError
from ...newton import SLOW_RATIO, newton
from ...runtime.petsc import PETSc, functions
from ..solver import reason_name
from .derivatives import ConstraintKinematics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.form import Form
    from ...assembly.matrix import Matrix
    from .motion import EquationsOfMotion
    from .newton import Newton
    from .stabilise import Stabilisation


#: of the largest mass: for coordinates without mass that constraints tie to others
ADDED_MASS_RATIO = 1e-9
LINEAR_TOLERANCE = 1e-12  # relative tolerance of Krylov solvers here; Newton's method asks for less


class Accelerations:
    """Solves with the mass matrix and the gradients of the constraints (collective).

    Coordinates without mass that constraints tie to others get next to none, and one step of
    iterative refinement takes its effect out of what does not need it.

    Attributes
    ----------
    kinematics : the constraints and their derivatives along the motion.
    factorisations : number of matrices made.
    lengths : of the constraints' gradients in the matrix, if it is scaled.
    rtol : relative tolerance of Krylov solvers.
    """

    def __init__(self, motion: EquationsOfMotion, newton: Newton) -> None:
        self.motion, self.newton, self.system = motion, newton, motion.system
        self.kinematics = ConstraintKinematics(motion.system)
        n = motion.system.numbering.coordinates
        self._scratch: Array = np.zeros(n)
        self._f: Array = np.zeros(n)
        self._light: Array = np.zeros(0)
        self._refines = False
        self._filled: PETSc.Vec | None = None  # what is added to the diagonal
        self._scale: PETSc.Vec | None = None  # of the matrix, which is d_i A_ij d_j with it
        self.lengths: Array | None = None
        self._products: Shell | None = None  # with the mass, where the tangent is stored by halves
        self._massless: Ints = np.zeros(0, np.int64)  # rows
        self._state_of_matrix: tuple[Array, float, int, int] | None = None
        self.factorisations, self.rtol = 0, LINEAR_TOLERANCE
        self._states = self.system.comm.allreduce(bool(motion.first.any()))
        self._r, self._dx, self._scaled = (newton.x.duplicate() for _ in range(3))
        self.system.register(self)

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return none: what is found is of the present state."""
        return []

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Derive constraints on other entities by time; forget the matrix (collective)."""
        if rebuilt or any(form.role == "constraint" for form in changed):
            self.kinematics.derive()
            self.forget()

    # ---- the matrix -----------------------------------------------------------------------------
    def factor(self) -> None:
        """Assemble the matrix of the present state, unless that is what it is (collective)."""
        m, system, matrix = self.motion, self.system, self.motion.storage
        if self._state_of_matrix is not None:
            at, time, state, revision = self._state_of_matrix
            same = matrix.mat.stateGet() == state and revision == m.mass.revision
            if not self.kinematics.constant:
                same = same and time == system.time and np.array_equal(at, m.state[m.second])
            if same if system.comm.size == 1 else system.comm.allreduce(same, MPI.LAND):
                return
        if isinstance(matrix, Half):
            self._of_halves(matrix)
        else:
            self._of_entries(matrix)
        self._state_of_matrix = (
            m.state[m.second].copy(),
            system.time,
            matrix.mat.stateGet(),
            m.mass.revision,
        )
        self.factorisations += 1

    def _of_entries(self, matrix: Matrix) -> None:
        """Write mass and gradients to PETSc's AIJ (collective)."""
        m = self.motion
        mass = m.mass_values()
        if self.kinematics.any:
            unloaded = np.where(m.algebraic, 0.0, m.state)
            self.kinematics.gradient(unloaded, self._scratch)
            matrix.diagonal += mass[0]
            matrix.off += mass[1]
        else:
            matrix.diagonal[:], matrix.off[:] = mass
        matrix.finish()
        self._fill_empty()
        self._equilibrate()
        self.newton.snes.getKSP().setOperators(matrix.mat, matrix.mat)

    def _of_halves(self, half: Half) -> None:
        """Write the mass by halves, of which multigrid is made; products are exact (collective)."""

        def write() -> int:
            with half.rewritten():
                return half.add(self.motion.mass, np.zeros_like(self._f), self._f)

        write_tangent(half, write)
        self._massless = half.fill()
        if self._products is None:
            self._products = Shell(self.system.numbering, self._mass_times)
        self._products.mat.stateIncrease()
        self.newton.snes.getKSP().setOperators(self._products.mat, half.mat)

    def _mass_times(self, x: int, y: int) -> None:
        """Write M x to y, vectors of PETSc by their handles; of components without mass x."""
        newton, numbering = self.newton, self.system.numbering
        source, to = ctypes.c_void_p(x), ctypes.c_void_p(y)
        functions.VecCopy(source, ctypes.c_void_p(self._r.handle))
        local = np.zeros_like(self._f)
        newton.vectors.to_local(self._r, local)
        self.motion.mass.residual(local, self._f)
        rows = numbering.to_rows(self._f)
        rows[self._massless] = self._r.getArray(readonly=True)[self._massless]
        self._r.setArray(rows)
        functions.VecCopy(ctypes.c_void_p(self._r.handle), to)

    def sizes(self) -> Array:
        """Return what a large motion makes of each constraint, 1 where none (collective).

        In the order of the local multipliers; that of others than the owned ones is 1.
        """
        m, constraints, numbering = (
            self.motion,
            self.newton.balance.constraints,
            self.system.numbering,
        )
        sizes = np.ones(numbering.coordinates)
        if self.kinematics.any:
            self.factor()
            lengths = constraints.lengths() if self.lengths is None else self.lengths
            lengths = lengths / self.system.stiffness
            at = numbering.coordinate_of_row[constraints.rows]
            sizes[at] = np.where(lengths > 0.0, lengths, 1.0)
        return sizes[m.algebraic]

    def forget(self) -> None:
        """Forget the matrix of earlier times: the next one depends on the motion alone."""
        self._state_of_matrix = self._filled = None

    def _fill_empty(self) -> None:
        """Give coordinates without mass some, always the same (collective)."""
        m, system, matrix = self.motion, self.system, self.motion.matrix
        if self._filled is not None:
            if self._refines:
                matrix.mat.setDiagonal(self._filled, PETSc.InsertMode.ADD_VALUES)
            return
        massive = ~m.algebraic[system.numbering.coordinate_of_row]
        diagonal = matrix.mat.getDiagonal()
        empty = massive & (diagonal.getArray() == 0.0)
        self._filled = diagonal.duplicate()
        self._refines = bool(system.comm.allreduce(bool(empty.any())))
        if not self._refines:
            return
        # what constraints tie to the rest must not get a weight of its own: only little
        start, _, values = matrix.mat.getValuesCSR()
        rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
        tied = np.bincount(rows, np.abs(values), minlength=len(start) - 1) > 0.0
        heaviest = self.newton.largest(float(np.abs(diagonal.getArray()).max(initial=0.0)))
        light = np.where(tied, ADDED_MASS_RATIO * (heaviest or 1.0), 1.0)
        self._filled.setArray(np.where(empty, light, 0.0))
        matrix.mat.setDiagonal(self._filled, PETSc.InsertMode.ADD_VALUES)
        self._light = np.where(empty & tied, light, 0.0)

    def _equilibrate(self) -> None:
        r"""Scale the matrix for MUMPS: masses and pivots of constraints become 1 (collective).

        Beside gradients that are much larger than the masses it takes no mass for a pivot, and
        the work space for those that are delayed never suffices. With the diagonal m of masses,

        .. math:: d_i = m_i^{-1/2}, \qquad d_j = \Bigl(\sum_i (\Phi_{ji} d_i)^2\Bigr)^{-1/2} .
        """
        pc, mat = self.newton.snes.getKSP().getPC(), self.motion.matrix.mat
        self._scale = self.lengths = None
        if not self.kinematics.any or pc.getFactorSolverType() != "mumps":
            return
        self.lengths = self.newton.balance.constraints.lengths()
        scale = mat.getDiagonal()
        size = scale.getArray(readonly=True)
        massive = size > 0.0
        light = np.where(massive, 1.0 / np.sqrt(np.where(massive, size, 1.0)), 0.0)
        scale.setArray(light)
        gradients = mat.copy()
        gradients.diagonalScale(None, scale)
        start, _, values = gradients.getValuesCSR()
        gradients.destroy()
        rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
        pivot = np.sqrt(np.bincount(rows, values**2, minlength=len(start) - 1))
        scale.setArray(np.where(massive, light, 1.0 / np.where(pivot > 0.0, pivot, 1.0)))
        mat.diagonalScale(scale, scale)
        self._scale = scale

    def solve(self, rhs: Array) -> Array:
        """Solve with the matrix; return a local vector that is zero at fixed coordinates."""
        newton, system = self.newton, self.system
        local = np.zeros_like(rhs)
        if not system.numbering.size:
            return local
        ksp = newton.snes.getKSP()
        newton.vectors.to_global(rhs, newton.F)
        try:
            self._solve_exactly(newton.F, newton.x)
            solved = ksp.getConvergedReason() >= 0 and np.isfinite(newton.x.norm())
        except PETSc.Error:  # KLU raises where others give a reason
            solved = False
        if not solved:
            name, _ = reason_name(newton.snes)
            raise ConstraintError(
                "the mass matrix with the constraints is singular at time "
                f"{system.time:g}: constraints are redundant, or a coordinate without mass has "
                f"no constraint{newton.linear.reason}",
                asked="mass matrix",
                given=system.time,
            ) from ConvergenceError(reason=name, iteration=0, time=system.time)
        if self._refines:
            self._refine()
        newton.vectors.to_local(newton.x, local)
        return local

    def _solve_exactly(self, rhs: PETSc.Vec, x: PETSc.Vec) -> None:
        ksp = self.newton.snes.getKSP()
        tolerances = ksp.getTolerances()
        ksp.setTolerances(rtol=self.rtol)
        try:
            if self._scale is None:
                ksp.solve(rhs, x)
                if ksp.getConvergedReason() < 0 and self.newton.preconditioner.take_over():
                    ksp.solve(rhs, x)
            else:
                self._scaled.pointwiseMult(rhs, self._scale)
                ksp.solve(self._scaled, x)
                x.pointwiseMult(x, self._scale)
        finally:
            ksp.setTolerances(*tolerances)

    def _refine(self) -> None:
        """Correct the solution for the masses that were added, where that is a gain."""
        newton, r = self.newton, self._r
        if self._scale is None:
            self.motion.matrix.mat.mult(newton.x, r)
        else:
            self._scaled.pointwiseDivide(newton.x, self._scale)
            self.motion.matrix.mat.mult(self._scaled, r)
            r.pointwiseDivide(r, self._scale)
        r.aypx(-1.0, newton.F)
        r.setArray(r.getArray() + self._light * newton.x.getArray(readonly=True))
        if r.norm() <= SLOW_RATIO * newton.F.norm():
            self._solve_exactly(r, self._dx)
            newton.x.axpy(1.0, self._dx)

    # ---- accelerations --------------------------------------------------------------------------
    def find(
        self, stabilisation: Stabilisation | None = None, loads_at: float | None = None
    ) -> int:
        """Find accelerations, rates of states and multipliers of the present state (collective).

        Prescribed coordinates have theirs already. Returns the number of bad points, on all
        ranks. `loads_at` : the time of loads, if it is another one.
        """
        m, system = self.motion, self.system
        free = system.numbering.fixed_by < 0
        m.acceleration[m.second & free] = 0.0
        m.state[m.algebraic & free] = 0.0
        m.rate[m.first] = 0.0
        now = system.time
        system.time = now if loads_at is None else loads_at
        try:
            system.settle()
        finally:
            system.time = now
        f = self._f
        bad = m.residual(f)
        if system.comm.size > 1:
            bad = system.comm.allreduce(bad)
        if bad:
            return bad
        rhs = np.where(m.second, -f, 0.0)
        if self.kinematics.any:
            rhs -= self._bend(stabilisation)
        if self._states:  # rate - f = 0
            rate = np.where(m.first, -f, 0.0)
            self.newton.vectors.to_global(rate, self.newton.x)
            self.newton.vectors.to_local(self.newton.x, rate)
            m.rate[m.first] = rate[m.first]
        self.factor()
        solution = self.solve(rhs)
        chosen = m.second & free
        m.acceleration[chosen] = solution[chosen]
        chosen = m.algebraic & free
        m.state[chosen] = solution[chosen]
        return 0

    def _bend(self, stabilisation: Stabilisation | None) -> Array:
        """Return - gamma of the stabilised constraints, times `system.stiffness`."""
        m, system, along = self.motion, self.system, self.kinematics.along
        gains = stabilisation.gains if stabilisation is not None else (0.0, 0.0)
        bend = along(m.state, m.rate, *gains, 1.0).copy()
        if stabilisation is not None and not any(gains) and not stabilisation.projects:
            rows = np.flatnonzero(m.algebraic)
            phi = along(m.state, m.rate, 1.0)[rows] / system.stiffness
            rate = along(m.state, m.rate, 0.0, 1.0)[rows] / system.stiffness
            control = stabilisation.control(phi, rate)
            if control is not None:
                bend[rows] += control * system.stiffness
        if m.moving:
            prescribed = np.where(m.second, m.acceleration, 0.0)
            bend += np.where(m.algebraic, self.kinematics.product(m.state, prescribed), 0.0)
        return bend

    def jerk(self, h: float) -> Array | None:
        """Return the part of the jerk that constraints determine; None: none (collective)."""
        found = self.jerk_with_forces(h)
        return None if found is None else np.where(self.motion.second, found, 0.0)

    def jerk_with_forces(self, h: float) -> Array | None:
        r"""Return the part w of the jerk that constraints determine, and mu; None: w = 0.

        (collective)

        .. math:: M w + \Phi_q^T \mu = 0, \quad \Phi_q w = -\frac{d}{dt} (\Phi_q a - \gamma)

        with constant a, by central differences over a step of length h. Forces are not asked
        for, so that modes that no step resolves do not enter.
        """
        m, system, kinematics = self.motion, self.system, self.kinematics
        if not kinematics.any:
            return None
        state, rate, acceleration = m.state.copy(), m.rate.copy(), m.acceleration.copy()
        time, change, kinematics.window = system.time, np.zeros_like(state), h
        driven = m.moving and time - 0.5 * h < m.span[0]  # supports may have a kink here
        before = -0.0 if driven else -0.5 * h
        try:
            for d in (0.5 * h, before):
                system.time = time + d
                m.state[:] = np.where(m.algebraic, 0.0, state + d * rate)
                m.rate[m.second] = (rate + d * acceleration)[m.second]
                if m.moving:
                    m.prescribe(system.time, h)
                share = math.copysign(1.0 / (0.5 * h - before), d)
                change -= share * kinematics.along(m.state, m.rate, bend=1.0)
                change -= share * kinematics.product(m.state, m.acceleration)
                m.acceleration[:] = acceleration
        finally:
            m.move_to(time)
            m.state[:], m.rate[:], m.acceleration[:] = state, rate, acceleration
        change[~m.algebraic] = 0.0
        if not self.newton.largest(float(np.abs(change).max(initial=0.0))):
            return None
        self.newton.tangent.stale = True
        self.factor()
        return self.solve(change)

    # ---- projections ----------------------------------------------------------------------------
    def violation(self, speed: bool = False) -> Array:
        """Return Phi, or its rate, times `system.stiffness`; a local vector (collective)."""
        m = self.motion
        weights = (0.0, 1.0) if speed else (1.0, 0.0)
        return np.where(m.algebraic, self.kinematics.along(m.state, m.rate, *weights), 0.0)

    def project_positions(self) -> bool:
        """Take positions to the constraints in the metric of the mass; return a change."""
        projection = _PositionProjection(self)
        newton(projection, 6)
        return projection.changed

    def project_rates(self) -> Array:
        """Take rates to the constraints' in the metric of the mass; return the change."""
        m = self.motion
        self.factor()
        change = np.where(m.second, self.solve(-self.violation(speed=True)), 0.0)
        m.rate += change
        return change


class _PositionProjection:
    """The equations of `Accelerations.project_positions`, with the matrix where they begin."""

    def __init__(self, accelerations: Accelerations) -> None:
        self.accelerations = accelerations
        self.changed, self._last = False, np.inf
        self._phi = self._step = np.zeros(0)

    def residual(self) -> bool:
        """Take the violations, and what they are measured by."""
        accelerations = self.accelerations
        self._phi = accelerations.violation()
        accelerations.factor()
        accelerations.newton.balance.constraints.refresh(accelerations.lengths)
        return True

    def reason(self, iteration: int) -> int:
        """End where constraints hold, or a step has brought little."""
        share, _ = self.accelerations.newton.balance.worst_constraint(self._phi)
        done, self._last = share <= 1.0 or share > SLOW_RATIO * self._last, share
        return int(done)

    def linearize(self) -> None:
        """Keep the matrix."""

    def solve(self) -> bool:
        """Find the smallest motion to the constraints."""
        self._step = self.accelerations.solve(self._phi)
        return True

    def move(self) -> int:
        """Move the positions."""
        m = self.accelerations.motion
        m.state[m.second] -= self._step[m.second]
        self.changed, self._phi = True, self.accelerations.violation()
        return 0

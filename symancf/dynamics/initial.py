# SPDX-License-Identifier: BSD-3-Clause
r"""Consistent initial values: velocities that respect the constraints, and accelerations.

With the constraint :math:`\Phi(q, t) = 0` and its multipliers,

.. math::
    \begin{bmatrix} M & \Phi_q^T \\ \Phi_q & 0 \end{bmatrix}
    \begin{bmatrix} a \\ \lambda \end{bmatrix} =
    \begin{bmatrix} -R(q, v, t) \\ -(\Phi_q v)_q v - 2 \Phi_{qt} v - \Phi_{tt} \end{bmatrix}.

The right-hand side of the second row is minus the second derivative of Phi along the motion
with constant velocity, the velocities' equation has its first derivative; both by differences
of fourth order along a path of a thousandth of the system's size.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..collective import together
from ..errors import ConstraintError, ConvergenceError
from ..solver import reason_name

if TYPE_CHECKING:
    from .motion import Motion
    from .newton import Newton

Array = npt.NDArray[np.float64]

VIOLATED = 1e-7  # of the size of the system: an initial state that violates a constraint
LIGHT = 1e-9  # of the largest mass: for coordinates without mass that constraints tie to others
CHANGED = 1e-6  # relative change of initial velocities that is worth a warning


class InitialValues:
    """Consistent rates, accelerations and multipliers of the present state (collective).

    Parameters
    ----------
    h : length of the first step, an upper limit of the times of differences.

    Raises
    ------
    ConstraintError : the state violates a constraint, or the mass with the constraints is
        singular.
    """

    def __init__(self, motion: Motion, newton: Newton, h: float) -> None:
        self.motion, self.newton, self.system = motion, newton, motion.system
        self.h = h

    def find(self) -> None:
        """Write rates, accelerations and multipliers into the motion's vectors."""
        m, system = self.motion, self.system
        m.prescribe(system.time, self.h)
        m.acceleration[m.second & (system.numbering.fixed_by < 0)] = 0.0
        self._start_states()
        multipliers = m.state[m.algebraic].copy()
        m.state[m.algebraic] = 0.0
        try:
            self._assemble()
            self._check_positions()
            self._correct_rates()
            self._accelerate()
        except BaseException:
            m.state[m.algebraic] = multipliers
            raise
        finally:
            self.newton.stale = True

    def _start_states(self) -> None:
        """First-order states: rate - f = 0."""
        m = self.motion
        if not self.system.comm.allreduce(bool(m.first.any())):
            return
        m.rate[m.first] = 0.0
        f = np.zeros_like(m.state)
        with together(self.system.comm):
            self.system.plan.residual(m.state, f)
        rate = np.where(m.first, -f, 0.0)
        self.newton.vectors.to_global(rate, self.newton.x)
        self.newton.vectors.to_local(self.newton.x, rate)
        m.rate[m.first] = rate[m.first]

    def _assemble(self) -> None:
        """Assemble the mass and the constraints' gradients, and factor them."""
        m, system = self.motion, self.system
        others = {p.name for p in system.pieces if p.role != "constraint"}
        scratch = np.zeros_like(m.state)
        mass = m.mass_values()
        for name in others:
            system.plan.switch(name, active=False)
        try:
            with together(system.comm):
                system.plan.tangent(m.state, scratch, m.matrix)
        finally:
            for name in others:
                system.plan.switch(name, active=True)
        matrix, numbering = m.matrix, system.numbering
        matrix.diagonal += mass[0]
        matrix.off += mass[1]
        matrix.finish()
        self.newton.measure_constraints()
        massless = ~m.algebraic[numbering.coordinate_of_row]
        diagonal = matrix.mat.getDiagonal()
        empty = massless & (diagonal.getArray() == 0.0)
        if system.comm.allreduce(bool(empty.any())):
            # what constraints tie to the rest must not get a weight of its own: only little
            start, _, values = matrix.mat.getValuesCSR()
            rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
            tied = np.bincount(rows, np.abs(values), minlength=len(start) - 1) > 0.0
            heaviest = self.newton.largest(float(np.abs(diagonal.getArray()).max(initial=0.0)))
            light = np.where(tied, LIGHT * (heaviest or 1.0), 1.0)
            diagonal.setArray(np.where(empty, light, diagonal.getArray()))
            matrix.mat.setDiagonal(diagonal)
        self.newton.snes.getKSP().setOperators(matrix.mat, matrix.mat)

    def _solve(self, rhs: Array) -> Array:
        """Solve with the matrix; return a local vector that is zero at fixed coordinates."""
        newton, system = self.newton, self.system
        ksp = newton.snes.getKSP()
        newton.vectors.to_global(rhs, newton.F)
        ksp.solve(newton.F, newton.x)
        if ksp.getConvergedReason() < 0 or not np.isfinite(newton.x.norm()):
            name, _ = reason_name(newton.snes)
            raise ConstraintError(
                "the mass matrix with the constraints is singular at the initial state: "
                "constraints are redundant, or a coordinate without mass is held by none"
            ) from ConvergenceError(reason=name, iteration=0, time=system.time)
        local = np.zeros_like(rhs)
        newton.vectors.to_local(newton.x, local)
        return local

    def _violation(self, shift: float) -> Array:
        """Return the constraints (local vector) after a motion with constant rate."""
        m, system = self.motion, self.system
        f = np.zeros_like(m.state)
        moved = m.state + np.where(m.second, shift * m.rate, 0.0)
        fixed = system.numbering.fixed_by >= 0
        moved[fixed] += 0.5 * shift * shift * m.acceleration[fixed]
        with together(system.comm):
            system.plan.update(system.time + shift)
            system.plan.residual(moved, f)
        return np.where(m.algebraic, f, 0.0)

    def _path(self) -> float:
        """Return the time in which the system moves by a thousandth of its size."""
        m = self.motion
        fastest = self.newton.largest(float(np.abs(m.rate[m.second]).max(initial=0.0)))
        return min(self.h, 1e-3 * self.newton.size / fastest) if fastest > 0.0 else self.h

    def _check_positions(self) -> None:
        system, newton = self.system, self.newton
        share, worst = newton.worst_constraint(self._violation(0.0))
        if share > VIOLATED / 1e-13:
            raise ConstraintError(
                f"the initial state violates the constraint {worst!r} by {share * 1e-13:.2g} of "
                f"the size of the system at t = {system.time:g}: find a state that fulfils it "
                "with a StaticProblem first"
            )

    def _correct_rates(self) -> None:
        """Project the rates on the constraints, in the metric of the mass."""
        m, system = self.motion, self.system
        d = self._path() / 4.0
        values = [self._violation(k * d) for k in (-2.0, -1.0, 1.0, 2.0)]
        drift = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * d)
        share, worst = self.newton.worst_constraint(drift)
        fastest = self.newton.largest(float(np.abs(m.rate[m.second]).max(initial=0.0)))
        if share * 1e-13 * self.newton.size <= 1e-9 * fastest:
            return
        change = np.where(m.second, self._solve(-drift), 0.0)
        m.rate += change
        moved = self.newton.largest(float(np.abs(change).max(initial=0.0)))
        if fastest > 0.0 and moved > CHANGED * fastest and system.comm.rank == 0:
            warnings.warn(
                f"the initial velocities violate constraints, {worst!r} most: they were changed by "
                f"up to {moved:.3g} (the largest is {fastest:.3g}), to the closest ones in the "
                "metric of the mass",
                stacklevel=6,
            )

    def _accelerate(self) -> None:
        m, system = self.motion, self.system
        d = self._path() / 4.0
        weights = ((-2.0, -1.0), (-1.0, 16.0), (0.0, -30.0), (1.0, 16.0), (2.0, -1.0))
        bend = np.zeros_like(m.state)
        if system.comm.allreduce(bool(m.algebraic.any())):
            for k, weight in weights:
                bend += weight / (12.0 * d * d) * self._violation(k * d)
        with together(system.comm):
            system.plan.update(system.time)
        f = np.zeros_like(m.state)
        with together(system.comm):
            m.residual(f)
        rhs = np.where(m.algebraic, -bend, -f)
        rhs[m.first] = 0.0
        solution = self._solve(rhs)
        free = system.numbering.fixed_by < 0
        chosen = m.second & free
        m.acceleration[chosen] = solution[chosen]
        m.state[m.algebraic & free] = solution[m.algebraic & free]

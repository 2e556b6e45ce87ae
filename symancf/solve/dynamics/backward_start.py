# SPDX-License-Identifier: BSD-3-Clause
r"""Backwards through what takes a motion to its constraints: start, jerk, straightened rates.

All of it solves systems S (x, nu) = (f, c) with the symmetric matrix of `Accelerations`. Where a
number J has the derivative b by (x, nu),

.. math::
    S\, y = b, \qquad dJ = y \cdot d(f, c) - y \cdot dS\, (x, \nu) .
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, Ints
from ..gradients.bend import total
from ..gradients.chain import ChainRule, Sensitive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem
    from .accelerations import Accelerations

#: Numbers of assemblers: forces, inertia, constraints, and these along the motion.
FORCES, INERTIA, GRADIENTS, COURSE = range(4)


@dataclass
class MotionVectors:
    """Derivatives by the motion at a time, or this: local vectors, right at owned coordinates.

    Attributes
    ----------
    u, v, a, A : coordinates, rates, accelerations, auxiliary accelerations.
    """

    u: Array
    v: Array
    a: Array
    A: Array

    @classmethod
    def zeros(cls, n: int) -> MotionVectors:
        """Return one of zeros."""
        return cls(*(np.zeros(n) for _ in fields(cls)))

    def __iadd__(self, other: MotionVectors) -> MotionVectors:
        """Add another one."""
        for field in fields(self):
            getattr(self, field.name)[:] += getattr(other, field.name)
        return self

    def copy(self) -> MotionVectors:
        """Return a copy."""
        return MotionVectors(*(getattr(self, field.name).copy() for field in fields(self)))


class ConstraintsBackward:
    """Derivatives through projections to constraints, at the motion that the system has.

    Parameters
    ----------
    accelerations : of the motion.
    chain : takes what parameters contribute.
    more : what `ChainRule.more` has beside prescribed motions: the arrays for no contribution.
    """

    def __init__(self, accelerations: Accelerations, chain: ChainRule, fixed: Ints) -> None:
        self._accelerations, self._chain, self._fixed = accelerations, chain, fixed
        self._motion, self._kinematics = accelerations.motion, accelerations.kinematics
        self._system: DiscreteSystem = accelerations.system
        m, numbering = self._motion, self._system.numbering
        self._free = numbering.fixed_by < 0
        self._second, self._multipliers = m.second & self._free, m.algebraic & self._free
        self.others: list[Array] = []  # of `ChainRule.more` beyond prescribed motions

    # ---- contributions --------------------------------------------------------------------------
    def add(
        self,
        time: float,
        h: float,
        kernels: Mapping[int, Derivatives],
        bars: MotionVectors | None,
        others: Sequence[Array] | None = None,
    ) -> None:
        """Add what kernels and prescribed motions contribute; the latter end there (collective)."""
        fixed = self._fixed
        none = np.zeros(len(fixed))
        prescribed = [none] * 3 if bars is None else [x[fixed] for x in (bars.u, bars.v, bars.a)]
        if bars is not None:
            for x in (bars.u, bars.v, bars.a, bars.A):
                x[~self._free] = 0.0
        more = [np.zeros_like(x) for x in self.others] if others is None else list(others)
        self._chain.add(time, h, Sensitive(kernels, [*prescribed, *more]))

    def solve(self, b: Array) -> Array:
        """Return S^-1 b of b at free coordinates that move, and at multipliers (collective)."""
        rows = np.where(self._second | self._multipliers, b, 0.0)
        self._accelerations.factor()
        return self._accelerations.solve(rows)

    def _of_matrix(
        self, pairs: Sequence[tuple[Array, Array]], bars: MotionVectors
    ) -> dict[int, Any]:
        """Add -sum y . dS x of pairs (y, x) to derivatives by coordinates; return those of kernels.

        (collective)
        """
        m, kernels = self._motion, dict[int, Any]()
        for y, x in pairs:
            if m.mass.changes:
                part = m.mass.pull(self._moving(x), self._moving(-y))
                self._join(kernels, INERTIA, part)
            for weights, direction in ((x, -y), (y, -x)):
                part = self._kinematics.pull_gradient(m.state, weights, self._moving(direction))
                bars.u += np.where(m.second, part.coordinates, 0.0)
                self._join(kernels, GRADIENTS, part)
        return kernels

    def _moving(self, x: Array) -> Array:
        return np.where(self._motion.second, x, 0.0)

    def _join(self, kernels: dict[int, Any], number: int, part: Derivatives) -> None:
        """Add derivatives by the kernels of an assembler, if parameters reach these."""
        if not self._chain.assemblers[number].changes:
            return
        kernels[number] = total([kernels[number], part]) if number in kernels else part

    def _by_course(
        self,
        kernels: dict[int, Any],
        bars: MotionVectors,
        rate: Array,
        weights: Array,
        **which: float,
    ) -> None:
        """Add derivatives of weights . (speed D Phi + bend D D Phi) (collective)."""
        m = self._motion
        part, by_rate = self._kinematics.pull_along(
            m.state, rate, np.where(m.algebraic, weights, 0.0), **which
        )
        bars.u += np.where(m.second, part.coordinates, 0.0)
        bars.v += np.where(m.second, by_rate, 0.0)
        self._join(kernels, COURSE, part)

    def _by_gradient(
        self, kernels: dict[int, Any], bars: MotionVectors, weights: Array, direction: Array
    ) -> Array:
        """Add derivatives of weights . Phi_q direction; return Phi_q^T weights (collective)."""
        m, kinematics = self._motion, self._kinematics
        part = kinematics.pull_gradient(m.state, weights, self._moving(direction))
        bars.u += np.where(m.second, part.coordinates, 0.0)
        self._join(kernels, GRADIENTS, part)
        back = kinematics.product(m.state, np.where(m.algebraic, weights, 0.0))
        return np.where(m.second, back, 0.0)

    # ---- the jerk -------------------------------------------------------------------------------
    def jerk(self, h: float, by_jerk: Array, bars: MotionVectors, x: Array | None = None) -> None:
        """Add derivatives through `Accelerations.jerk` at the present motion (collective).

        `by_jerk`: by the jerk, which is `x` with its forces, if that is known. `bars` get those by
        coordinates, rates and accelerations.
        """
        m, accelerations, kinematics = self._motion, self._accelerations, self._kinematics
        if not kinematics.any:
            return
        time = self._system.time
        x = accelerations.jerk_with_forces(h) if x is None else x
        y = self.solve(self._moving(by_jerk))
        if x is not None:
            own = MotionVectors.zeros(len(y))
            kernels = self._of_matrix([(y, x)], own)
            self._add_here(time, h, kernels, own)
            bars += own
        state, rate, acceleration = m.state.copy(), m.rate.copy(), m.acceleration.copy()
        driven = bool(m.moving) and time - 0.5 * h < m.span[0]
        before = -0.0 if driven else -0.5 * h
        kinematics.window = h
        try:
            for d in (0.5 * h, before):
                share = math.copysign(1.0 / (0.5 * h - before), d)
                self._system.time = time + d
                m.state[:] = np.where(m.algebraic, 0.0, state + d * rate)
                m.rate[m.second] = (rate + d * acceleration)[m.second]
                if m.moving:
                    m.prescribe(self._system.time, h)
                there, kernels = MotionVectors.zeros(len(y)), dict[int, Any]()
                self._by_course(kernels, there, m.rate, -share * y, bend=1.0)
                there.a = self._by_gradient(kernels, there, -share * y, m.acceleration)
                if m.moving:
                    self.add(time + d, h, kernels, there)
                else:
                    self._add_here(time + d, h, kernels, there)
                bars.u += there.u
                bars.v += d * there.u + there.v
                bars.a += d * there.v + there.a
                m.acceleration[:] = acceleration
        finally:
            m.move_to(time)
            m.state[:], m.rate[:], m.acceleration[:] = state, rate, acceleration

    def _add_here(
        self, time: float, h: float, kernels: dict[int, Any], bars: MotionVectors
    ) -> None:
        """Add what kernels contribute; prescribed motions are those at the present time."""
        self.add(time, h, kernels, bars)

    # ---- straightened rates ---------------------------------------------------------------------
    def straightened(
        self, h: float, bias: float, shift: float, A: Array
    ) -> tuple[MotionVectors, list[Any]]:
        """Return what `Spin` makes of the present rates and of A, and what it solves for.

        (collective)
        """
        m, accelerations, kinematics = self._motion, self._accelerations, self._kinematics
        w, rate = accelerations.jerk_with_forces(h), m.rate.copy()
        x = self.solve(np.where(m.algebraic, -kinematics.along(m.state, rate, speed=1.0), 0.0))
        rate += self._moving(x)
        given = np.where(self._free, A, m.acceleration)
        bend = kinematics.along(m.state, rate, bend=1.0).copy()
        bend += kinematics.product(m.state, self._moving(given))
        z = self.solve(np.where(m.algebraic, -bend, 0.0))
        made = MotionVectors(m.state, rate.copy(), m.acceleration, A + self._moving(z))
        if w is not None:
            made.v = made.v + bias * self._moving(w)
            made.A = made.A + shift * self._moving(w)
        return made, [x, z, rate, given, w]

    def straighten(
        self, h: float, bias: float, shift: float, solved: Sequence[Any], bars: MotionVectors
    ) -> None:
        """Turn derivatives by what `Spin` makes into those by what it is given (collective)."""
        x, z, rate, given, w = solved
        time, kernels = self._system.time, dict[int, Any]()
        m, own = self._motion, MotionVectors.zeros(len(x))
        by_jerk = bias * bars.v + shift * bars.A
        y = self.solve(self._moving(bars.A))
        self._by_course(kernels, own, rate, -y, bend=1.0)
        back = self._by_gradient(kernels, own, -y, given)
        own.A += np.where(self._free, back, 0.0)
        own.a += np.where(self._free, 0.0, back)
        t = self.solve(self._moving(bars.v + own.v))
        self._by_course(kernels, own, m.rate, -t, speed=1.0)
        for number, part in self._of_matrix([(y, z), (t, x)], own).items():
            self._join(kernels, number, part)
        self.add(time, h, kernels, own)
        bars += own
        self.jerk(h, by_jerk, bars, w)

    # ---- the start ------------------------------------------------------------------------------
    def begin(
        self, step: float, bars: MotionVectors, main: Sequence[Any], y: Array
    ) -> MotionVectors:
        """Return derivatives by the state and the rates with which a motion begins (collective).

        Parameters
        ----------
        step : length of the first one.
        bars : derivatives by the motion at the start, but for those by accelerations.
        main : of y . R by kernels, by coordinates and by rates.
        y : weights of the equations of motion and of constraints, S y = -(derivatives).
        """
        m, kinematics, time = self._motion, self._kinematics, self._system.time
        forces, by_rate = main
        own, kernels = MotionVectors.zeros(len(y)), {FORCES: forces}
        bars.u += np.where(m.algebraic, 0.0, forces.coordinates)
        inertia = m.mass.pull(
            self._moving(m.acceleration + m.damping.mass * m.rate), self._moving(y)
        )
        kernels[INERTIA] = inertia
        own.a += np.where(self._free, 0.0, inertia.coordinates)
        bars.v += by_rate + m.damping.mass * self._moving(inertia.coordinates)
        if kinematics.any:
            self._by_course(kernels, own, m.rate, y, bend=1.0)
            back = self._by_gradient(kernels, own, y, m.acceleration)
            own.a += np.where(self._free, 0.0, back)
        bars.a[self._free] = 0.0
        bars += own
        self.add(time, step, kernels, bars)
        return bars

    def project(self, step: float, rate: Array, bars: MotionVectors) -> None:
        """Turn derivatives by rates at the start into those by what they were made of (collective).

        `rate`: these rates, before they were taken to the constraints.
        """
        m, kinematics, time = self._motion, self._kinematics, self._system.time
        if not kinematics.any:
            return
        drift = kinematics.along(m.state, rate, speed=1.0)
        x = self.solve(np.where(m.algebraic, -drift, 0.0))
        y = self.solve(self._moving(bars.v))
        own, kernels = MotionVectors.zeros(len(y)), dict[int, Any]()
        self._by_course(kernels, own, rate, -y, speed=1.0)
        for number, part in self._of_matrix([(y, x)], own).items():
            self._join(kernels, number, part)
        self.add(time, step, kernels, own)
        bars += own

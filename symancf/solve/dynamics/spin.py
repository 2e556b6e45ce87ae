# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies that turn far in a step of generalized-alpha."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints
from ...errors import ConstraintError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...bodies.natural import RigidBody
    from .accelerations import Accelerations
    from .native import Native

MAX_TURN = 0.2  # rad a step: the spin of a body is right to 1e-3 a turn
NEAR_ONE_LIMIT = 1.4  # times sqrt(1 - rho): likewise
#: times sqrt(1 - rho): from there on errors grow where rates are left as they are
GROWTH_LIMIT = 0.3
FREE_TURN = 0.05  # with any rho where they are not: a free body and a hinge, 4000 steps


def farthest(rho: float, settled: bool = True) -> float:
    """Return the angle [rad] by which a body may turn in a step.

    Tried with a free body, a top, a double pendulum of spherical joints and one with a hinge, rho
    from 0.5 to 0.98, 1200 steps: of the energy of the free body 0.03 % are lost within a turn with
    rho = 0.5, next to nothing with 0.9.

    Parameters
    ----------
    settled : rates are taken to constraints.
    """
    root = math.sqrt(1.0 - rho)
    return min(
        MAX_TURN, max(FREE_TURN, NEAR_ONE_LIMIT * root) if settled else 0.75 * GROWTH_LIMIT * root
    )


def _begins(rho: float) -> float:
    """Return the angle [rad] in a step from which on rates and A are taken to constraints."""
    return 0.5 * GROWTH_LIMIT * math.sqrt(1.0 - rho)


class Spin:
    r"""Takes rates and A to what constraints say of them, where rigid bodies turn far in a step.

    Constraints turn with the bodies, at frequencies that no step resolves: generalized-alpha keeps
    an error across them, which changes its sign and falls by rho a step. Where a body turns by
    theta in a step, a part of it is an error of the spin, and that one of the centripetal
    acceleration: the error grows where theta^2 is above about (1 - rho)/11, 5 degrees for
    rho = 0.9, and ends in steps without a solution. From half of that on, in the metric of the mass

    .. math::
        \Phi_q v + \Phi_t = b\, h^2\, \Phi_q w, \qquad \Phi_q A = \gamma + s\, h\, \Phi_q w

    with the jerk w that constraints determine, b and s from `Coefficients.bias` and
    `Coefficients.shift`: rates and A are off as those of smooth motions are, and everything keeps
    its order 2. What joins bodies belongs to that: each body by itself does not do.

    Where bodies have turned by a whole turn in steps that are too long even so, a warning says
    so, once. The angle of a step is |omega| h, with 2 |omega|^2 the sum of the squares of the
    rates of the three axes. Steps as long as allowed do not count: an impact does not spoil a
    motion.
    """

    def __init__(self, accelerations: Accelerations, bodies: Sequence[RigidBody]) -> None:
        self.accelerations, self.motion = accelerations, accelerations.motion
        self.bodies = bodies
        self._length = np.array([body.length for body in self.bodies])
        self._turned = np.zeros(len(self.bodies))
        self._rows: tuple[Ints, Ints] | None = None  # bodies here, (n, 12) local offsets

    def forget(self) -> None:
        """Forget where the coordinates of the bodies are."""
        self._rows = None

    def _find(self) -> tuple[Ints, Ints]:
        """Return which bodies have coordinates here, and these."""
        system = self.motion.system
        coordinates = [system.binding(body).here(system) for body in self.bodies]
        own = np.array([k for k, at in enumerate(coordinates) if len(at)], dtype=np.int64)
        return own, np.array([coordinates[k] for k in own], dtype=np.int64).reshape(-1, 12)

    def lend(self, native: Native, rho: float) -> None:
        """Let C look how far bodies turn; it makes no more steps after one for `settle`."""
        here, rows = self._rows = self._rows or self._find()
        native.problem.give(
            bodies=len(here),
            body_rows=rows.ravel(),
            body_length=self._length[here],
            turn_limit=_begins(rho),
        )

    def settle(self, auxiliary: Array, h: float, rho: float, bias: float, shift: float) -> None:
        """Take the present rates and A to what constraints say, after a step (collective).

        Parameters
        ----------
        h : length of the step.
        bias, shift : times the jerk, what rates and A are off by; see `GeneralizedAlpha`.
        """
        angle, far = self._angles(h)
        if far <= _begins(rho):
            return
        settled = True
        try:
            self._straighten(auxiliary, h, bias, shift)
        except ConstraintError:  # redundant, here
            settled = False
        limit = farthest(rho, settled)
        if far > limit:
            self._look(angle, h, rho, limit)

    def straightens(self, h: float, rho: float) -> bool:
        """Tell whether bodies turn so far at the present rates in a step (collective)."""
        return self._angles(h)[1] > _begins(rho)

    def _angles(self, h: float) -> tuple[Array, float]:
        """Return by which angles bodies turn in a step, and the largest of all (collective)."""
        here, rows = self._rows = self._rows or self._find()
        rate: Array = self.motion.rate[rows].reshape(-1, 4, 3)
        rate[:, 0] = (rate[:, 1] - rate[:, 0]) / self._length[here, None]
        rate[:, 1] = 0.0
        angle = h * np.sqrt(0.5 * (rate * rate).sum(axis=(1, 2)))
        return angle, self.accelerations.newton.largest(float(angle.max(initial=0.0)))

    def _straighten(self, auxiliary: Array, h: float, bias: float, shift: float) -> None:
        """Take the present rates and A to what constraints say (collective)."""
        m, accelerations, kinematics = (
            self.motion,
            self.accelerations,
            self.accelerations.kinematics,
        )
        w = accelerations.jerk(h)
        try:
            accelerations.project_rates()
            free = m.system.numbering.fixed_by < 0
            a = np.where(free, auxiliary, m.acceleration)
            bend = kinematics.along(m.state, m.rate, bend=1.0).copy()
            bend += kinematics.product(m.state, np.where(m.second, a, 0.0))
            auxiliary += np.where(
                m.second, accelerations.solve(np.where(m.algebraic, -bend, 0.0)), 0.0
            )
            if w is not None:
                m.rate += bias * w
                auxiliary += shift * w
        finally:
            accelerations.newton.tangent.stale = True

    def _look(self, angle: Array, h: float, rho: float, limit: float) -> None:
        """Warn where a body has turned too far in too many steps (collective)."""
        assert self._rows is not None
        here, comm = self._rows[0], self.motion.system.comm
        self._turned[here] += np.where(angle > limit, angle, 0.0)
        most = float(self._turned[here].max(initial=0.0))
        worst, rank = (most, 0) if comm.size == 1 else comm.allreduce((most, comm.rank), MPI.MAXLOC)
        if worst <= 2.0 * math.pi:
            return
        k = int(np.argmax(self._turned[here])) if rank == comm.rank else 0
        own_worst = (int(here[k]), float(angle[k])) if rank == comm.rank else None
        body, far = own_worst if comm.size == 1 and own_worst else comm.bcast(own_worst, rank)
        name = self.motion.system.name(self.bodies[body])
        self.motion.system.once.warn(
            ("spin", name),
            f"{name} turns by {far:.2g} rad in a step of "
            f"{h:.3g}: with the spectral radius {rho:g} generalized-alpha may lose the spin of a "
            f"body that turns by more than {limit:.2g}. Take "
            + (f"steps of at most {h * limit / far:.2g}" if limit else "")
            + (" or " if 0.0 < limit < MAX_TURN else "")
            + ("spectral_radius=0.9" if limit < MAX_TURN else ""),
        )

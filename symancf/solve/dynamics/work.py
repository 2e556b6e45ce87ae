# SPDX-License-Identifier: BSD-3-Clause
"""The work of forces along a motion, by their values at instants of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...runtime.collective import together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.assembler import Assembler
    from ...assembly.form import Form
    from .motion import EquationsOfMotion
    from .native import Native

    # see `Explicit.visit`
    Visit = Callable[[Callable[[], None], bool], None]


@dataclass(frozen=True)
class Instant:
    """An instant of a motion: the coordinates that forces work on, their rates, and the forces.

    `forces` (2, n): of loads, also by moving supports, and of dampers. `mass`: parameters of a
    mass that changes, and all rates (local vector).
    """

    time: float
    state: Array
    rate: Array
    forces: Array
    mass: tuple[Array, Array] | None = None

    def work_to(self, end: Instant) -> Array:
        r"""Return the work (2,) of the forces on the way to another instant (this rank's part).

        .. math:: \tfrac12 (Q_0 + Q_1) \cdot (q_1 - q_0)
            + \tfrac h6 (Q_1 - Q_0) \cdot (\dot q_1 - \dot q_0)

        With a constant force it is exact, whatever the rates are. The errors of many steps add up
        to -h^2/12 (Q' . q') between their ends, by Taylor's series of Q and q at the middle of
        each and one integration by parts.
        """
        h, between = end.time - self.time, end.forces - self.forces
        work = (self.forces + 0.5 * between) @ (end.state - self.state)
        return np.asarray(work + h / 6.0 * (between @ (end.rate - self.rate)))


def extrapolated(course: Sequence[Instant], work: Callable[[Instant, Instant], Array]) -> Array:
    """Return the work along instants at equal distances, 2^k + 1 of them.

    By Romberg's method: errors of `work` from one to another have even powers of the distance.
    """
    rows: list[Array] = []
    stride = len(course) - 1
    while stride:
        rows.append(np.sum([work(a, b) for a, b in pairwise(course[::stride])], axis=0))
        stride //= 2
    for k in range(1, len(rows)):
        rows = [fine + (fine - coarse) / (4.0**k - 1.0) for coarse, fine in pairwise(rows)]
    return rows[0]


def work_of(motion: EquationsOfMotion, working: Sequence[Form], visit: Visit | None) -> Work | None:
    """Return the work of a motion's forces: of some forms, supports, dampers; None: of none."""
    system = motion.system
    damping = [p for p in system.forms if p.role == "dissipation"]
    assemblers = {
        name: system.assembler.part(chosen)
        for name, chosen in (("work", working), ("dissipated", damping))
        if system.comm.allreduce(bool(chosen))
    }
    damped = motion.damping.mass or motion.damping.stiffness
    if not (assemblers or motion.moving or damped or motion.mass.changes):
        return None
    return Work(motion, assemblers, any(p.role == "constraint" for p in working), visit)


class Work:
    """The work of forces from one instant of a motion to another: of loads, supports, dampers.

    Parameters
    ----------
    assemblers : of the forms whose forces work, and of those that dissipate, where there are any.
    reacts : whether forces of constraints work.
    visit : shows the motion within the last step; None: it is not known better than its ends.

    Attributes
    ----------
    last : the last instant, from which work is added up; None: there was none.
    """

    def __init__(
        self,
        motion: EquationsOfMotion,
        assemblers: dict[str, Assembler],
        reacts: bool,
        visit: Visit | None,
    ) -> None:
        self.motion, self.visit, self._assemblers, numbering = (
            motion,
            visit,
            assemblers,
            motion.system.numbering,
        )
        self._f: Array = np.zeros(numbering.coordinates)
        owned = numbering.vertex_of < numbering.owned_vertices
        moved = owned & (motion.second | numbering.those("dependent"))
        self._at, self._owned = np.flatnonzero(moved), np.where(moved, 1.0, 0.0)
        self._reacts = bool(reacts or motion.moving or motion.settled.any())
        self._reacts = motion.system.comm.allreduce(self._reacts, MPI.LOR)
        self._fixed = owned & motion.second & (numbering.fixed_by >= 0)
        self.last: Instant | None = None

    @property
    def parts(self) -> Sequence[Assembler]:
        """The assemblers of forces that work, and of those that dissipate."""
        return [*self._assemblers.values()]

    @property
    def timed(self) -> bool:
        """Whether forces that work have parameters that are functions of time."""
        return any(assembler.timed for assembler in self.parts)

    def present(self, time: float) -> None:
        """Take the parameters of a time."""
        for assembler in self._assemblers.values():
            assembler.follow(self.motion.rate, self.motion.rate_factor)
            assembler.update(time)

    def _now(self, forces: Array) -> Instant:
        m = self.motion
        mass = (m.mass.values.copy(), m.rate.copy()) if m.mass.changes else None
        return Instant(m.system.time, m.state[self._at], m.rate[self._at], forces, mass)

    def _look(self) -> Instant:
        """Return the present instant."""
        m, f = self.motion, self._f
        forces = np.zeros((2, len(self._at)))
        self.present(m.system.time)
        for k, name in enumerate(("work", "dissipated")):
            if name in self._assemblers:
                self._assemblers[name].residual(m.state, f)
                forces[k] = f[self._at] * (1.0 if k else -1.0)
        if m.moving:  # M a + R at a fixed coordinate is the force of its support
            m.residual(f)
            forces[0] += np.where(self._fixed, f, 0.0)[self._at]
        alpha, beta = m.damping.mass, m.damping.stiffness
        if alpha:
            m.mass.residual(m.rate, f)
            forces[1] += alpha * f[self._at]
        if beta:
            forces[1] += beta * m.stiffness_times(m.rate)[self._at]
        return self._now(forces)

    def course(self, step: bool) -> list[Instant]:
        """Return instants from the last one to the present (collective).

        `step`: one lies between them.
        """
        course = [] if self.last is None else [self.last]

        def look() -> None:
            with together(self.motion.system.comm):  # forces ask the user's functions of time
                course.append(self._look())

        moved = course and course[0].time != self.motion.system.time
        if step and moved and self.visit is not None:
            self.visit(look, self._reacts)
        look()
        return course

    def along(self, course: Sequence[Instant]) -> Array:
        """Return the work (2,) of forces and of dampers along instants (this rank's part)."""
        moved = course[0].time != course[-1].time
        return extrapolated(course, self._between) if moved else np.zeros(2)

    def _between(self, begin: Instant, end: Instant) -> Array:
        """Return the work (2,) from one instant to another (this rank's part)."""
        work = begin.work_to(end)
        if begin.mass is not None and end.mass is not None:
            work[0] += self._energy_of_new_mass(*begin.mass, *end.mass)
        return work

    def _energy_of_new_mass(self, old: Array, begin: Array, new: Array, end: Array) -> float:
        """Return the kinetic energy of mass that came: the mean of that at the rates of both ends.

        `old`, `new`: the parameters of the mass.
        """
        if np.array_equal(old, new):
            return 0.0
        m, gained = self.motion.mass, 0.0
        now = m.values.copy()
        for sign, values in ((1.0, new), (-1.0, old)):
            m.values[:] = values
            m.write()
            gained += 0.5 * sign * sum(float(m.energies(r)[0].sum()) for r in (begin, end))
        m.values[:] = now
        m.write()
        return gained

    # ---- steps in C -----------------------------------------------------------------------------
    def lend(self, native: Native) -> None:
        """Let C add up the work of steps, from the last instant; see `take_back`."""
        m, problem = self.motion, native.problem
        self.present(m.system.time)
        problem.give(owned=self._owned, supported=self._fixed if m.moving else None)
        if self.last is not None:
            self._lent: Array = np.zeros((4, len(m.state)))  # forces before and now
            self._lent[:2, self._at] = self.last.forces
            native.state.give(pull=self._lent)
        for k, assembler in enumerate(self.assemblers):
            problem.power_assembler[k] = None if assembler is None else assembler.structure

    @property
    def assemblers(self) -> list[Assembler | None]:
        """The assemblers of drives and of dampers, where there are any."""
        return [self._assemblers.get(name) for name in ("work", "dissipated")]

    def take_back(self) -> None:
        """Take the instant to which C has added up."""
        self.last = self._now(self._lent[:2, self._at])

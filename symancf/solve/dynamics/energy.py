# SPDX-License-Identifier: BSD-3-Clause
"""The audit of a motion's energy: where it is, what came in, what was lost.

With T the kinetic energy and U(q, t) all that is stored, of the equations of motion follows

    d(T + U)/dt = sum_i Q_i . q' + dU/dt at constant q - sum_k D_k . q'

with the forces Q_i of loads and supports, D_k of dampers. docs/audit.md has the table of all
kinds of terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...runtime.collective import together
from ...values.parameter import changes_by_itself, depends_on_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.piece import Piece
    from ...values.parameter import Value
    from .motion import Motion
    from .steps import Steps

    # see `Explicit.visit`
    Visit = Callable[[Callable[[], None], bool], None]


GAINED = 0.1  # of all energy that a motion may make out of nothing until it is told
NOISE = 1e-9  # of the coordinates: what moves less does not move


@dataclass(frozen=True)
class Energies:
    """Energies of one instant [J].

    Attributes
    ----------
    kinetic, strain, potential : of the present state; potentials are those of loads that do not
        depend on time.
    contact : stored in contacts, by pressure and by the stretches of sticking.
    work : done since the beginning by loads, supports, shapes and constraints that depend on
        time, by laws and contacts that do (dU/dt at constant q), by motors and other virtual
        work; and what changes from outside have added, by actions of events, monitors and between
        two calls of `solve`; also the kinetic energy of mass that came or went, at the velocity
        of its body, with a density that changes. Of order 2 in the step, as the method, of
        order 4 or 5 in explicit ones. See the table in docs/audit.md.
    dissipated : lost since the beginning in dampers, and in laws with memory as these tell.
    friction : the part of `dissipated` by friction in contacts, not to be added to it again; of
        facets with their damper.
    drift : kinetic + strain + potential + contact - work + dissipated, less its initial value.
    """

    kinetic: float
    strain: float
    potential: float
    contact: float
    work: float
    dissipated: float
    friction: float
    drift: float

    @property
    def total(self) -> float:
        """Kinetic + strain + potential energy, and that of contact."""
        return self.kinetic + self.strain + self.potential + self.contact


def _given(piece: Piece) -> list[Value | None]:
    """Return the values of a piece's parameters, but for those that it has of its own."""
    return [value for name, value in piece.uniform.items() if name != "scale"]


def timed(piece: Piece) -> bool:
    """Tell whether a piece depends on time itself, not on what others set alone."""
    cells = piece.cell_at is not None and getattr(piece.cell_at, "timed", True)
    by_time = piece.timed or "t" in piece.kernel.uniform or cells
    return by_time or any(map(changes_by_itself, _given(piece)))


def changes(piece: Piece) -> bool:
    """Tell whether a piece depends on time or on what others set."""
    return timed(piece) or any(map(depends_on_time, _given(piece)))


def stores(piece: Piece) -> bool:
    """Tell whether the energy of a piece is the system's: of materials, and of loads as constant.

    Contacts and laws that remember are materials, whatever changes them.
    """
    material = piece.role in ("strain", "contact") or bool(piece.kernel.memory)
    return material or (piece.role == "potential" and not changes(piece))


def works(piece: Piece) -> bool:
    """Tell whether the work of a piece's forces is added up: they have no energy, or it changes."""
    if piece.role in ("strain", "contact", "potential"):
        return timed(piece)
    return piece.role == "work" or (piece.role == "constraint" and changes(piece))


SUMS = 5


def _sums(piece: Piece) -> tuple[bool, ...]:
    """Tell in which sums the energy of a piece is.

    Strain, potential and contact of `Energies`; what changes by work; what loads take as work.
    """
    own, work = stores(piece), works(piece)
    kinds = (own and piece.role == kind for kind in ("strain", "potential", "contact"))
    return (*kinds, own and work, piece.role == "potential" and not own and not work)


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
        found = (self.forces + 0.5 * between) @ (end.state - self.state)
        return np.asarray(found + h / 6.0 * (between @ (end.rate - self.rate)))


def extrapolated(course: Sequence[Instant], work: Callable[[Instant, Instant], Array]) -> Array:
    """Return the work along instants at equal distances, 2^k + 1 of them.

    By Romberg's method: errors of `work` from one to another have even powers of the distance.
    """
    found: list[Array] = []
    stride = len(course) - 1
    while stride:
        found.append(np.sum([work(a, b) for a, b in pairwise(course[::stride])], axis=0))
        stride //= 2
    for k in range(1, len(found)):
        found = [fine + (fine - coarse) / (4.0**k - 1.0) for coarse, fine in pairwise(found)]
    return found[0]


class Audit:
    """Adds up the energies of a motion step by step.

    Parameters
    ----------
    visit : shows the motion within the last step; None: it is not known better than its ends.
    """

    def __init__(self, motion: Motion, visit: Visit | None = None) -> None:
        self.motion, self.visit, system = motion, visit, motion.system
        pieces = system.pieces
        working = list(filter(works, pieces))
        damping = [p for p in pieces if p.role == "dissipation"]
        self._plans = {
            name: system.plan.part(chosen)
            for name, chosen in (("work", working), ("dissipated", damping))
            if system.comm.allreduce(bool(chosen))
        }
        sums = np.array([_sums(p) for p in pieces], dtype=float).reshape(-1, SUMS)
        self._masks = np.ascontiguousarray(sums.T)
        self._loads = bool(self._masks[4].any())
        self._remembering = np.array([_sums(p) for p in system.memory.pieces]).reshape(-1, SUMS)
        self._lost: Array = np.zeros(3)  # see `_present`, when this was last looked at
        self._f: Array = np.zeros(system.numbering.coordinates)
        owned = system.numbering.vertex_of < system.numbering.owned_vertices
        moved = owned & (motion.second | system.numbering.those("dependent"))
        self._at, self._owned = np.flatnonzero(moved), np.where(moved, 1.0, 0.0)
        reacts = any(p.role == "constraint" for p in working)
        reacts = bool(reacts or motion.moving or motion.settled.any())
        self._reacts = system.comm.allreduce(reacts, MPI.LOR)
        self._fixed = owned & motion.second & (system.numbering.fixed_by >= 0)
        self.work = self.dissipated = self.friction = 0.0
        self._start: float | None = None
        self._total: float | None = None
        self._last: Instant | None = None
        self._mass_changes = motion.mass.changes
        self._parameters = system.parameters
        self._values: list[float] = []  # of parameters, at the last energies
        self._ramp: float | None = None  # see `watch`

    @property
    def begun(self) -> bool:
        """Whether energies were taken on this motion since it began, or goes on from a state."""
        return self._last is not None

    @property
    def closed(self) -> bool:
        """Whether no energy comes in and none is dissipated, so that nothing adds up."""
        return not (self._works or self.motion.system.memory or self._loads or self._parameters)

    @property
    def _works(self) -> bool:
        """Whether work adds up along the motion, and not only between its ends."""
        damping = self.motion.damping
        forces = self._plans or self.motion.moving or damping.mass or damping.stiffness
        return bool(forces or self._mass_changes)

    # ---- steps in C -----------------------------------------------------------------------------
    @property
    def simple(self) -> bool:
        """Whether only work of forces adds up from step to step."""
        return not (self._mass_changes or self.motion.system.memory or self._ramp is not None)

    @property
    def timed(self) -> bool:
        """Whether forces that work have parameters that are functions of time."""
        return any(plan.timed for plan in self._plans.values())

    def present(self, time: float) -> None:
        """Take the parameters of a time."""
        for plan in self._plans.values():
            plan.follow(self.motion.rate, self.motion.rate_factor)
            plan.update(time)

    def lend(self, steps: Steps) -> None:
        """Let C add up the work of steps; see `take_back`."""
        m, data = self.motion, steps.data
        self.present(m.system.time)
        data.closed = self.closed
        data.work[0], data.work[1] = self.work, self.dissipated
        steps.give(data, owned=self._owned)
        data.supported = None
        if m.moving:
            steps.give(data, supported=self._fixed)
        if self._last is not None:
            self._lent: Array = np.zeros((4, len(m.state)))  # forces before and now
            self._lent[:2, self._at] = self._last.forces
            steps.give(data, pull=self._lent)
        for k, name in enumerate(("work", "dissipated")):
            data.power_plan[k] = self._plans[name].structure if name in self._plans else None

    def take_back(self, steps: Steps) -> None:
        """Take what C has added up."""
        data = steps.data
        if not self.closed and data.made:
            self.work, self.dissipated = data.work
            self._last = self._now(self._lent[:2, self._at])

    # ---- forces that work -----------------------------------------------------------------------
    def _now(self, forces: Array) -> Instant:
        m = self.motion
        mass = (m.mass.values.copy(), m.rate.copy()) if self._mass_changes else None
        return Instant(m.system.time, m.state[self._at], m.rate[self._at], forces, mass)

    def _look(self) -> Instant:
        """Return the present instant."""
        m, f = self.motion, self._f
        forces = np.zeros((2, len(self._at)))
        self.present(m.system.time)
        for k, name in enumerate(("work", "dissipated")):
            if name in self._plans:
                self._plans[name].residual(m.state, f)
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

    def _course(self, keep: bool) -> list[Instant]:
        """Return instants from the last one to the present (collective).

        `keep`: a step lies between them.
        """
        course = [] if self._last is None else [self._last]

        def look() -> None:
            with together(self.motion.system.comm):  # forces ask the user's functions of time
                course.append(self._look())

        moved = course and course[0].time != self.motion.system.time
        if keep and moved and self.visit is not None and self._works:
            self.visit(look, self._reacts)
        look()
        return course

    def _work(self, begin: Instant, end: Instant) -> Array:
        """Return the work (2,) from one instant to another (this rank's part)."""
        found = begin.work_to(end)
        if begin.mass is not None and end.mass is not None:
            found[0] += self._brought(*begin.mass, *end.mass)
        return found

    def _brought(self, old: Array, begin: Array, new: Array, end: Array) -> float:
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

    def measure(self, keep: bool = True) -> Energies:
        """Return the energies of the present state (collective).

        Parameters
        ----------
        keep : the motion has come here by a step, of which the work is added.
        """
        course = self._course(keep)
        parts, lost, gained = self._present(course)
        work, dissipated, friction = self.work, self.dissipated, self.friction
        if self._start is not None:
            more = lost - self._lost
            work += float(gained[0] + more[2])
            if keep and self._ramp is not None:
                work += 0.5 * (self._ramp + self._raised())
            dissipated += float(gained[1] + more[0])
            friction += float(more[1])
        total = float(parts.sum())
        start = total if self._start is None else self._start
        if keep:
            self.work, self.dissipated, self.friction = work, dissipated, friction
            self._start = start
            self._stand(total, lost, course[-1])
        drift = total - work + dissipated - start
        T, U, V, C = parts.tolist()
        return Energies(T, U, V, C, work, dissipated, friction, drift)

    def tell_gain(self, found: Energies) -> bool:
        """Warn where a good part of the energy comes from nowhere; return whether (collective).

        Generalized-alpha keeps energy or takes it away, but for steps that are too long. Motions
        of the size of round-off are left out.
        """
        begun = found.total - found.work + found.dissipated - found.drift
        stored = found.kinetic, found.strain, found.potential, found.contact
        there = sum(map(abs, (*stored, found.work, found.dissipated, begun)))
        if found.drift <= GAINED * there:
            return False
        system = self.motion.system
        sizes = [system.time * self.motion.rate, system.reference]
        moved, size = (system.comm.allreduce(np.abs(x).max(initial=0.0), MPI.MAX) for x in sizes)
        if moved <= NOISE * size:
            return False
        return system.once.warn(
            "energy gained",
            f"the motion has gained {found.drift:.2g} J from nowhere, "
            f"{found.drift / there:.0%} of its energies: steps are too long for it, and what "
            "it shows is wrong. Halve them until problem.energies.drift is small, or give "
            "adaptive=True",
        )

    def watch(self) -> Energies | None:
        """Look whether a `Parameter` was set since the last step, by a monitor (collective).

        The next step goes from the forces with the old value to those with the new one. On the
        way the energy U(q, p) takes in the mean of U(q, p_1) - U(q, p_0) at its ends. Returns the
        energies with the new value; None: none was set.
        """
        if not self._parameters or not self.changed():
            return None
        if self.visit is not None:
            return self.jump()
        found = self.jump(keep=False)
        self._ramp = self._raised()
        return found

    def _raised(self) -> float:
        """Return U(q, p_1) - U(q, p_0) at the present state and time (collective)."""
        system, found = self.motion.system, np.zeros(1)
        chosen = self._masks[:3].sum(axis=0) - self._masks[3] + self._masks[4]
        for sign, values in ((-1.0, self._values), (1.0, self._present_values())):
            self._take(values)
            found += sign * float(chosen @ system.plan.energies(self.motion.state)[0])
        return float(system.sum(found)[0])

    def _take(self, values: Sequence[float]) -> None:
        """Let parameters have other values (collective)."""
        system = self.motion.system
        for parameter, value in zip(self._parameters, values, strict=True):
            parameter.value = value
        with together(system.comm):
            system.update(system.time)

    def _present_values(self) -> list[float]:
        return [p.value for p in self._parameters]

    def changed(self) -> bool:
        """Tell whether a `Parameter` was set since the energies were taken (collective)."""
        other = self._present_values() != self._values
        return bool(self.motion.system.comm.allreduce(other, MPI.LOR))

    def jump(self, keep: bool = True) -> Energies:
        """Return the energies after a change from outside, which is work (collective).

        `keep`: as of `measure`.
        """
        if self._start is None:
            return self.measure(keep)
        system = self.motion.system
        with together(system.comm):
            system.update(system.time)
        course = self._course(keep=False)
        parts, lost, _ = self._present(course)
        total, work = float(parts.sum()), self.work
        if self._total is not None:
            work += total - self._total
        if keep:
            self.work = work
            self._stand(total, lost, course[-1])
        drift = total - work + self.dissipated - self._start
        T, U, V, C = parts.tolist()
        return Energies(T, U, V, C, work, self.dissipated, self.friction, drift)

    def _present(self, course: Sequence[Instant]) -> tuple[Array, Array, Array]:
        """Return kinetic, strain and potential energy and that of contact, and what changes them.

        What laws with memory have dissipated since their first step, of this in contacts, and the
        part of work that is a difference: of laws and contacts that depend on time what they have
        stored and dissipated, the forces on bodies being added up; of loads that are set between
        steps minus that. Work and dissipation along the course.
        """
        m, system = self.motion, self.motion.system
        found = np.zeros(9)
        with together(system.comm):
            values, _ = system.plan.energies(m.state)
            kinetic, _ = m.mass.energies(m.rate)
            stored = self._masks @ values
            lost = np.array([system.memory.dissipated(which) for which in self._remembering.T])
            found[:4] = kinetic.sum(), *stored[:3]
            found[4:6] = lost[:3].sum(), lost[2]
            found[6] = stored[3] + lost[3] - stored[4]
            if course[0].time != course[-1].time:
                found[7:] = extrapolated(course, self._work)
        found = system.sum(found)
        return found[:4], found[4:7], found[7:]

    def stand(self) -> None:
        """Take the forces of the present state, from which a motion goes on (collective)."""
        now = self._present_values()
        self._take(self._values)
        self._last = None
        self._last = self._course(keep=False)[-1]
        self._take(now)
        self.watch()

    def _stand(self, total: float, lost: Array, last: Instant) -> None:
        self._total, self._lost, self._last, self._ramp = total, lost, last, None
        self._values = self._present_values()

    def resume(self, saved: dict[str, Any]) -> None:
        """Go on from what `state` returned; `stand` then."""
        self.work, self.dissipated = saved["work"], saved["dissipated"]
        self.friction = saved.get("friction", 0.0)
        self._start, self._last = saved["start"], None
        self._total = saved.get("total")
        self._lost = np.append(saved.get("lost", 0.0), [0.0, 0.0])[:3]
        self._values = saved.get("parameters", self._present_values())

    def state(self) -> dict[str, Any]:
        """Return what a restart needs."""
        return {
            "work": self.work,
            "dissipated": self.dissipated,
            "friction": self.friction,
            "start": self._start,
            "total": self._total,
            "lost": self._lost.tolist(),
            "parameters": self._values,
        }

# SPDX-License-Identifier: BSD-3-Clause
"""The audit of a motion's energy: where it is, what came in, what was lost.

With T the kinetic energy and U(q, t) all that is stored, of the equations of motion follows

    d(T + U)/dt = sum_i Q_i . q' + dU/dt at constant q - sum_k D_k . q'

with the forces Q_i of loads and supports, D_k of dampers. docs/audit.md has the table of all
kinds of terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...runtime.collective import together
from ...values.parameter import changes_by_itself, depends_on_time
from .native import StepRequest
from .supports import MOVED
from .work import work_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...assembly.assembler import Assembler
    from ...assembly.form import Form
    from .motion import EquationsOfMotion
    from .native import Native, Take
    from .work import Instant, Visit


ENERGY_GAIN_TOLERANCE = 0.1  # of all energy that a motion may make out of nothing until it is told


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


class _EnergyKind(NamedTuple):
    """What a form does for energies.

    Attributes
    ----------
    works : whether the work of its forces is added up: they have no energy, or it changes.
    sums : in which sums its energy is: strain, potential and contact of `Energies`; what changes
        by work; what loads take as work.
    """

    works: bool
    sums: tuple[bool, ...]


SUMS = 5


def _changes(form: Form) -> tuple[bool, bool]:
    """Tell whether a form depends on time itself, and whether on that or on what others set."""
    values = [value for name, value in form.uniform.items() if name != "scale"]
    cells = form.cell_at is not None and getattr(form.cell_at, "timed", True)
    by_time = form.timed or "t" in form.kernel.uniform or cells
    timed = bool(by_time or any(map(changes_by_itself, values)))
    return timed, timed or any(map(depends_on_time, values))


def _kind(form: Form) -> _EnergyKind:
    """Return what a form does for energies.

    Those of materials are the system's, and those of loads that are constant. Contacts and
    history-dependent laws are materials, whatever changes them.
    """
    timed, changes = _changes(form)
    role, kinds = form.role, ("strain", "potential", "contact")
    material = role in ("strain", "contact") or bool(form.kernel.memory)
    stores = material or (role == "potential" and not changes)
    works = timed if role in kinds else role == "work" or (role == "constraint" and changes)
    sums = *(stores and role == kind for kind in kinds), stores and works
    return _EnergyKind(works, (*sums, role == "potential" and not stores and not works))


class Audit:
    """Adds up the energies of a motion step by step.

    Parameters
    ----------
    visit : see `Work`.

    Attributes
    ----------
    begun : whether energies were taken on this motion since it began, or goes on from a state.
    closed : whether no energy comes in and none is dissipated, so that nothing adds up.
    """

    def __init__(self, motion: EquationsOfMotion, visit: Visit | None = None) -> None:
        self.motion, self.visit, system = motion, visit, motion.system
        forms, kinds = system.forms, [*map(_kind, system.forms)]
        working = [p for p, kind in zip(forms, kinds, strict=True) if kind.works]
        self._work = work_of(motion, working, visit)
        sums = np.array([kind.sums for kind in kinds], dtype=float).reshape(-1, SUMS)
        self._masks = np.ascontiguousarray(sums.T)
        of = {id(form): kind.sums for form, kind in zip(forms, kinds, strict=True)}
        of_memory = [of[id(form)] for form in system.memory.forms]
        self._remembering = np.array(of_memory, dtype=bool).reshape(-1, SUMS)
        self._dissipation: Array = np.zeros(3)  # see `_present`, when this was last looked at
        self.work = self.dissipated = self.friction = 0.0
        self._start: float | None = None
        self._total: float | None = None
        self._parameters = system.parameters
        self._values: list[float] = []  # of parameters, at the last energies
        self._ramp: float | None = None  # see `watch`
        self.begun = False
        # no energy comes in and none is dissipated, so that nothing adds up
        adds = self._work or system.memory or self._masks[4].any() or self._parameters
        self.closed = not adds

    # ---- steps in C -----------------------------------------------------------------------------
    @property
    def simple(self) -> bool:
        """Whether only work of forces adds up from step to step."""
        m = self.motion
        return not (m.mass.changes or self._ramp is not None)

    def lend(self, native: Native) -> Mapping[StepRequest, Take]:
        """Let C add up the work of steps; return what takes functions of time for it."""
        work = self._work
        native.problem.closed = work is None
        native.state.work[:] = self.work, self.dissipated
        native.work_plans = () if work is None else work.assemblers
        if work is None:
            return {}
        work.lend(native)
        return {StepRequest.DRIVE: lambda time, _: work.present(time)} if work.timed else {}

    def sums(self) -> tuple[float, float, Instant | None]:
        """Return work and dissipation until now, and the instant from which they are added up."""
        return self.work, self.dissipated, None if self._work is None else self._work.last

    def go_to(self, work: float, dissipated: float, last: Instant | None = None) -> None:
        """Take what `sums` was at the present state; None: the instant is now."""
        self.work, self.dissipated = work, dissipated
        if self._work is not None:
            self._work.last = last

    def stay(self) -> Energies:
        """Go on from the present state, which `go_to` went back to; return its energies.

        A `Parameter` that was set there changes its value there, as `watch` says.
        """
        now = self._present_values()
        self._take(self._values)
        found = self.measure()
        self._take(now)
        return self.watch() or found

    @property
    def parts(self) -> Sequence[Assembler]:
        """The assemblers of forces whose work is added up."""
        return () if self._work is None else self._work.parts

    def take_back(self, native: Native) -> None:
        """Take what C has added up."""
        if self._work is not None and native.state.steps_done:
            self.work, self.dissipated = native.state.work
            self._work.take_back()

    # ---- energies -------------------------------------------------------------------------------
    def measure(self, keep: bool = True, jumped: bool = False) -> Energies:
        """Return the energies of the present state (collective).

        Parameters
        ----------
        keep : the motion has come here by a step, of which the work is added.
        jumped : the motion is where it was, and something from outside has changed it: that is
            work.
        """
        system = self.motion.system
        jumped &= self._start is not None
        if jumped:
            with together(system.comm):
                system.update(system.time)
        course = [] if self._work is None else self._work.course(keep and not jumped)
        parts, loss, gained = self._present(course)
        work, dissipated, friction = self.work, self.dissipated, self.friction
        total = float(parts.sum())
        if jumped:
            work += 0.0 if self._total is None else total - self._total
        elif self._start is not None:
            more = loss - self._dissipation
            work += float(gained[0] + more[2])
            if self._ramp is not None:
                work += 0.5 * (self._ramp + self._raised())
            dissipated += float(gained[1] + more[0])
            friction += float(more[1])
        start = total if self._start is None else self._start
        if keep:
            self.work, self.dissipated, self.friction = work, dissipated, friction
            self._start, self._total, self._dissipation = start, total, loss
            self._ramp, self.begun, self._values = None, True, self._present_values()
            if self._work is not None:
                self._work.last = course[-1]
        drift = total - work + dissipated - start
        T, U, V, C = parts.tolist()
        return Energies(T, U, V, C, work, dissipated, friction, drift)

    def tell_gain(self, energies: Energies) -> bool:
        """Warn where a good part of the energy comes from nowhere; return whether (collective).

        Generalized-alpha keeps energy or takes it away, but for steps that are too long. Motions
        of the size of round-off are left out.
        """
        begun = energies.total - energies.work + energies.dissipated - energies.drift
        stored = energies.kinetic, energies.strain, energies.potential, energies.contact
        there = sum(map(abs, (*stored, energies.work, energies.dissipated, begun)))
        if energies.drift <= ENERGY_GAIN_TOLERANCE * there:
            return False
        system = self.motion.system
        sizes = [system.time * self.motion.rate, system.reference]
        moved, size = (system.comm.allreduce(np.abs(x).max(initial=0.0), MPI.MAX) for x in sizes)
        if moved <= MOVED * size:
            return False
        return system.once.warn(
            "energy gained",
            f"the energy balance has gained {energies.drift:.2g} J that no load explains, "
            f"{energies.drift / there:.0%} of its energies: time steps are too long, and the "
            "results are wrong. Halve them until problem.energies.drift is small, or give "
            "adaptive=True",
        )

    def watch(self) -> Energies | None:
        """Look whether a `Parameter` was set since the last step, by a monitor (collective).

        The next step goes from the forces with the old value to those with the new one. On the
        way the energy U(q, p) takes in the mean of U(q, p_1) - U(q, p_0) at its ends. Returns the
        energies with the new value; None: none was set.
        """
        if not self.changed():
            return None
        if self.visit is not None:
            return self.measure(jumped=True)
        energies = self.measure(keep=False, jumped=True)
        self._ramp = self._raised()
        return energies

    def _raised(self) -> float:
        """Return U(q, p_1) - U(q, p_0) at the present state and time (collective)."""
        system, change = self.motion.system, np.zeros(1)
        chosen = self._masks[:3].sum(axis=0) - self._masks[3] + self._masks[4]
        for sign, values in ((-1.0, self._values), (1.0, self._present_values())):
            self._take(values)
            change += sign * float(chosen @ system.assembler.energies(self.motion.state)[0])
        return float(system.sum(change)[0])

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
        if not self._parameters:
            return False
        other = self._present_values() != self._values
        return bool(self.motion.system.comm.allreduce(other, MPI.LOR))

    def _present(self, course: Sequence[Instant]) -> tuple[Array, Array, Array]:
        """Return kinetic, strain and potential energy and that of contact, and what changes them.

        What laws with memory have dissipated since their first step, of this in contacts, and the
        part of work that is a difference: of laws and contacts that depend on time what they have
        stored and dissipated, the forces on bodies being added up; of loads that are set between
        steps minus that. Work and dissipation along the course.
        """
        m, system = self.motion, self.motion.system
        energies = np.zeros(9)
        with together(system.comm):
            values, _ = system.assembler.energies(m.state)
            kinetic, _ = m.mass.energies(m.rate)
            stored = self._masks @ values
            energies[:4] = kinetic.sum(), *stored[:3]
            energies[6] = stored[3] - stored[4]
            if system.memory:
                dissipated = [system.memory.dissipated(which) for which in self._remembering.T]
                energies[4:6] = sum(dissipated[:3]), dissipated[2]
                energies[6] += dissipated[3]
            if self._work is not None:
                energies[7:] = self._work.along(course)
        energies = system.sum(energies)
        return energies[:4], energies[4:7], energies[7:]

    def present(self) -> Energies:
        """Return the energies of the present state, and keep nothing (collective).

        What was set since `resume` is work, as it will be where the next motion begins.
        """
        return self.measure(keep=False, jumped=not self.begun and self.changed())

    def stand(self) -> Energies | None:
        """Take the forces of the present state, from which a motion goes on (collective).

        Returns what `watch` does: the step after it may go to what a monitor has set.
        """
        now = self._present_values()
        self._take(self._values)
        if self._work is not None:
            self._work.last = None
            self._work.last = self._work.course(step=False)[-1]
        self._take(now)
        self.begun = True
        return self.watch()

    def resume(self, saved: dict[str, Any]) -> None:
        """Go on from what `state` returned; `stand` then."""
        self.work, self.dissipated = saved["work"], saved["dissipated"]
        self.friction = saved.get("friction", 0.0)
        self._start, self._ramp, self.begun = saved["start"], None, False
        if self._work is not None:
            self._work.last = None
        self._total = saved.get("total")
        self._dissipation = np.append(saved.get("lost", 0.0), [0.0, 0.0])[:3]
        self._values = saved.get("parameters", self._present_values())

    def state(self) -> dict[str, Any]:
        """Return what a restart needs."""
        return {
            "work": self.work,
            "dissipated": self.dissipated,
            "friction": self.friction,
            "start": self._start,
            "total": self._total,
            "lost": self._dissipation.tolist(),
            "parameters": self._values,
        }

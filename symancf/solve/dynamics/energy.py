# SPDX-License-Identifier: BSD-3-Clause
"""The audit of a motion's energy: where it is, what came in, what was lost."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...assembly.group import parameters
from ...assembly.plan import Plan
from ...kinematics.memory import STEP
from ...runtime.collective import together
from ...values.parameter import depends_on_time

if TYPE_CHECKING:
    from ...assembly.piece import Piece
    from .motion import Motion
    from .steps import Steps


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
    work : done since the beginning by loads that depend on time, motors, supports and shapes that
        move and constraints that depend on time (trapezoidal rule); and what changes from outside
        have added, by actions of events and between two calls of `solve`; also the kinetic
        energy of mass that came or went, at the velocity of its body, with a density that changes.
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


def driven(piece: Piece) -> bool:
    """Tell whether a piece's power counts as work: it has no energy, or one that changes.

    Contacts follow materials: as these they store energy, whatever their stiffness does.
    """
    changes = piece.timed or "t" in piece.kernel.uniform
    changes = changes or (piece.cell_at is not None and piece.role != "contact")
    own = ("scale", STEP) if piece.remembered is not None else ("scale",)
    given = (piece.uniform.get(name) for name in parameters(piece) if name not in own)
    changes = changes or any(map(depends_on_time, given))
    energies = "potential", "contact", "constraint"
    return piece.role == "work" or (piece.role in energies and changes)


class Audit:
    """Adds up the energies of a motion step by step."""

    def __init__(self, motion: Motion) -> None:
        self.motion, system = motion, motion.system
        pieces = system.pieces
        self._groups = {
            "work": [p for p in pieces if driven(p)],
            "dissipated": [p for p in pieces if p.role == "dissipation"],
        }
        self._plans = {
            name: Plan(chosen, system.numbering, system.reference, system.comm)
            for name, chosen in self._groups.items()
            if system.comm.allreduce(bool(chosen))
        }
        self._strain = np.array([p.role == "strain" for p in pieces], dtype=float)
        self._potential = np.array(
            [p.role == "potential" and not driven(p) for p in pieces], dtype=float
        )
        self._contact = np.array([p.role == "contact" for p in pieces], dtype=float)
        self._moved = np.array([p.role == "contact" and driven(p) for p in pieces], dtype=float)
        remembering, touching = system.memory.pieces, {p for p in pieces if p.role == "contact"}
        self._remembering = [
            [p for p in remembering if p in touching or not driven(p)],
            [p for p in remembering if p in touching],
            [p for p in remembering if p in touching and driven(p)],
        ]
        self._lost: Array = np.zeros(3)  # see `_present`, when this was last looked at
        self._f: Array = np.zeros(system.numbering.coordinates)
        owned = system.numbering.vertex_of < system.numbering.owned_vertices
        self._owned = np.where(owned & motion.second, 1.0, 0.0)
        self._fixed = owned & motion.second & (system.numbering.fixed_by >= 0)
        self.work = self.dissipated = self.friction = 0.0
        self._start: float | None = None
        self._total: float | None = None
        self._power: Array = np.zeros(2)
        self._time = 0.0
        self._mass_changes = motion.mass.changes
        self._before: tuple[Array, Array] | None = None  # parameters of the mass, rates
        self._parameters = system.parameters
        self._given: list[object] = []  # their values, when the energies were last taken

    @property
    def closed(self) -> bool:
        """Whether no energy comes in and none is dissipated, so that nothing adds up."""
        damping = self.motion.damping
        if self._plans or self.motion.moving or self._mass_changes or self._remembering[0]:
            return False
        return not (damping.mass or damping.stiffness)

    # ---- steps in C -----------------------------------------------------------------------------
    @property
    def simple(self) -> bool:
        """Whether only powers add up from step to step."""
        return not self._mass_changes and not self._remembering[0]

    @property
    def timed(self) -> bool:
        """Whether a power has parameters that are functions of time."""
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
        for k, name in enumerate(("work", "dissipated")):
            data.power_plan[k] = self._plans[name].structure if name in self._plans else None
            data.power[k] = self._power[k]
        data.work[0], data.work[1] = self.work, self.dissipated
        steps.give(data, owned=self._owned)
        data.supported = None
        if m.moving:
            steps.give(data, supported=self._fixed)

    def take_back(self, steps: Steps) -> None:
        """Take what C has added up."""
        data = steps.data
        if not self.closed and data.made:
            self.work, self.dissipated = data.work
            self._power, self._time = np.array(data.power), self.motion.system.time

    def _powers(self) -> Array:
        """Return the power of drives and of dampers (this rank's part)."""
        m = self.motion
        power = np.zeros(2)
        for k, name in enumerate(("work", "dissipated")):
            plan = self._plans.get(name)
            if plan is None:
                continue
            plan.follow(m.rate, m.rate_factor)
            plan.update(m.system.time)
            plan.residual(m.state, self._f)
            power[k] = float((self._f * self._owned) @ m.rate) * (-1.0 if k == 0 else 1.0)
        if m.moving:  # M a + R at a fixed coordinate is the force of its support
            m.residual(self._f)
            power[0] += float(self._f[self._fixed] @ m.rate[self._fixed])
        alpha, beta = m.damping.mass, m.damping.stiffness
        if alpha:
            m.mass.residual(m.rate, self._f)
            power[1] += alpha * float((self._f * self._owned) @ m.rate)
        if beta:
            power[1] += beta * float((m.stiffness_times(m.rate) * self._owned) @ m.rate)
        return power

    def _brought(self) -> float:
        """Return the kinetic energy of the mass that came since the last call (this rank's part).

        The mean of that at the rates before and now.
        """
        if not self._mass_changes:
            return 0.0
        m, gained = self.motion, 0.0
        now = m.mass.values.copy()
        before, self._before = self._before, (now, m.rate.copy())
        if before is not None and not np.array_equal(now, before[0]):
            for sign, values in ((1.0, now), (-1.0, before[0])):
                m.mass.values[:] = values
                m.mass.write()
                for rate in (before[1], m.rate):
                    gained += 0.5 * sign * float(m.mass.energies(rate)[0].sum())
            m.mass.values[:] = now
            m.mass.write()
        return gained

    def changed(self) -> bool:
        """Tell whether a parameter has another value than when the energies were last taken."""
        return self._given != [p.value for p in self._parameters]

    def measure(self, keep: bool = True) -> Energies:
        """Return the energies of the present state (collective).

        Parameters
        ----------
        keep : the motion has come here by a step, of which the work is added.
        """
        parts, brought, lost, power = self._present(keep)
        work, dissipated, friction = self.work + brought, self.dissipated, self.friction
        if self._start is not None:
            gained = 0.5 * (self.motion.system.time - self._time) * (power + self._power)
            more = lost - self._lost
            work += float(gained[0] + more[2])
            dissipated += float(gained[1] + more[0])
            friction += float(more[1])
        total = float(parts.sum())
        start = total if self._start is None else self._start
        if keep:
            self.work, self.dissipated, self.friction = work, dissipated, friction
            self._start = start
            self._stand(total, lost, power)
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
        if system.comm.rank == 0:
            warnings.warn(
                f"the motion has gained {found.drift:.2g} J from nowhere, "
                f"{found.drift / there:.0%} of its energies: steps are too long for it, and what "
                "it shows is wrong. Halve them until problem.energies.drift is small, or give "
                "adaptive=True (told once)",
                stacklevel=4,
            )
        return True

    def jump(self, keep: bool = True) -> Energies:
        """Return the energies after a change from outside, which is work (collective)."""
        if self._start is None:
            return self.measure(keep)
        parts, _, lost, power = self._present(keep)
        total = float(parts.sum())
        work = self.work if self._total is None else self.work + total - self._total
        if keep:
            self.work = work
            self._stand(total, lost, power)
        drift = total - work + self.dissipated - self._start
        T, U, V, C = parts.tolist()
        return Energies(T, U, V, C, work, self.dissipated, self.friction, drift)

    def _present(self, keep: bool = True) -> tuple[Array, float, Array, Array]:
        """Return kinetic, strain and potential energy and that of contact, and what changes them.

        What mass brought; what laws with memory have dissipated since their first step, of this in
        contacts, and what contacts have stored and dissipated whose shapes move: their motion does
        this work beside that of the forces on bodies; the powers.
        """
        m, system = self.motion, self.motion.system
        found = np.zeros(10)
        with together(system.comm):  # powers ask the user's functions of time
            if self.changed():
                system.update(system.time)
            values, _ = system.plan.energies(m.state)
            kinetic, _ = m.mass.energies(m.rate)
            found[0] = kinetic.sum()
            found[1:4] = [values @ own for own in (self._strain, self._potential, self._contact)]
            found[4] = self._brought() if keep else 0.0
            found[5:8] = [system.memory.dissipated(pieces) for pieces in self._remembering]
            found[7] += values @ self._moved
            found[8:] = self._powers()
        found = system.sum(found)
        return found[:4], float(found[4]), found[5:8], found[8:]

    def _stand(self, total: float, lost: Array, power: Array) -> None:
        self._given = [p.value for p in self._parameters]
        self._total, self._lost, self._power = total, lost, power
        self._time = self.motion.system.time

    def resume(self, saved: dict[str, float]) -> None:
        """Go on from what `state` returned."""
        self.work, self.dissipated = saved["work"], saved["dissipated"]
        self.friction = saved.get("friction", 0.0)
        self._start, self._time = saved["start"], saved["time"]
        self._total = saved.get("total")
        self._lost = np.append(saved.get("lost", 0.0), [0.0, 0.0])[:3]
        self._power = np.array(saved["power"])

    def state(self) -> dict[str, float]:
        """Return what a restart needs."""
        return {
            "work": self.work,
            "dissipated": self.dissipated,
            "friction": self.friction,
            "start": self._start,
            "time": self._time,
            "total": self._total,
            "lost": self._lost.tolist(),
            "power": self._power.tolist(),
        }

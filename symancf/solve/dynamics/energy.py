# SPDX-License-Identifier: BSD-3-Clause
"""The audit of a motion's energy: where it is, what came in, what was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...assembly.plan import Plan
from ...kinematics.memory import STEP
from ...runtime.collective import together
from ...values.parameter import depends_on_time

if TYPE_CHECKING:
    from ...assembly.piece import Piece
    from .motion import Motion


@dataclass(frozen=True)
class Energies:
    """Energies of one instant [J].

    Attributes
    ----------
    kinetic, strain, potential : of the present state; potentials are those of loads that do not
        depend on time.
    work : done since the beginning by loads that depend on time, motors, supports that move
        and constraints that depend on time (trapezoidal rule); and what changes from outside
        have added, by actions of events and between two calls of `solve`; also the kinetic
        energy of mass that came or went, at the velocity of its body, with a density that changes.
    dissipated : lost since the beginning in dampers, and in laws with memory as these tell.
    drift : kinetic + strain + potential - work + dissipated, less its initial value.
    """

    kinetic: float
    strain: float
    potential: float
    work: float
    dissipated: float
    drift: float

    @property
    def total(self) -> float:
        """Kinetic + strain + potential energy."""
        return self.kinetic + self.strain + self.potential


def driven(piece: Piece) -> bool:
    """Tell whether a piece's power counts as work: it has no energy, or one that changes."""
    changes = piece.cell_at is not None or piece.timed or "t" in piece.kernel.uniform
    own = ("scale", STEP) if piece.remembered is not None else ("scale",)
    changes = changes or any(depends_on_time(v) for k, v in piece.uniform.items() if k not in own)
    return piece.role == "work" or (piece.role in ("potential", "constraint") and changes)


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
        self._remembering = [p for p in system.memory.pieces if not driven(p)]
        self._lost = 0.0  # by laws with memory, when this was last looked at
        self._f: Array = np.zeros(system.numbering.coordinates)
        owned = system.numbering.vertex_of < system.numbering.owned_vertices
        self._owned = np.where(owned & motion.second, 1.0, 0.0)
        self._fixed = owned & motion.second & (system.numbering.fixed_by >= 0)
        self.work = self.dissipated = 0.0
        self._start: float | None = None
        self._total: float | None = None
        self._power: Array = np.zeros(2)
        self._time = 0.0
        self._mass_changes = motion.mass.changes
        self._before: tuple[Array, Array] | None = None  # parameters of the mass, rates

    @property
    def closed(self) -> bool:
        """Whether no energy comes in and none is dissipated, so that nothing adds up."""
        damping = self.motion.damping
        if self._plans or self.motion.moving or self._mass_changes or self._remembering:
            return False
        return not (damping.mass or damping.stiffness)

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

    def measure(self, keep: bool = True) -> Energies:
        """Return the energies of the present state (collective).

        Parameters
        ----------
        keep : the motion has come here by a step, of which the work is added.
        """
        parts, brought, lost, power = self._present(keep)
        gained = np.zeros(2)
        if self._start is not None:
            gained = 0.5 * (self.motion.system.time - self._time) * (power + self._power)
            gained[1] += lost - self._lost
        work, dissipated = (
            self.work + float(gained[0]) + brought,
            self.dissipated + float(gained[1]),
        )
        T, U, V = parts
        start = T + U + V if self._start is None else self._start
        if keep:
            self.work, self.dissipated, self._start = work, dissipated, start
            self._stand(T + U + V, lost, power)
        return Energies(T, U, V, work, dissipated, T + U + V - work + dissipated - start)

    def jump(self) -> Energies:
        """Return the energies after a change from outside, which is work (collective)."""
        if self._start is None:
            return self.measure()
        (T, U, V), _, lost, power = self._present()
        if self._total is not None:
            self.work += T + U + V - self._total
        self._stand(T + U + V, lost, power)
        drift = T + U + V - self.work + self.dissipated - self._start
        return Energies(T, U, V, self.work, self.dissipated, drift)

    def _present(self, keep: bool = True) -> tuple[tuple[float, float, float], float, float, Array]:
        """Return kinetic, strain and potential energy, and what changes them.

        What mass brought, what laws with memory have dissipated since their first step, the powers.
        """
        m, system = self.motion, self.motion.system
        parts = np.zeros(7)
        with together(system.comm):  # powers ask the user's functions of time
            values, _ = system.plan.energies(m.state)
            kinetic, _ = m.mass.energies(m.rate)
            brought = self._brought() if keep else 0.0
            parts[:4] = kinetic.sum(), values @ self._strain, values @ self._potential, brought
            parts[4] = system.memory.dissipated(self._remembering)
            parts[5:] = self._powers()
        T, U, V, brought, lost, *powers = system.sum(parts).tolist()
        return (T, U, V), brought, lost, np.array(powers)

    def _stand(self, total: float, lost: float, power: Array) -> None:
        self._total, self._lost, self._power = total, lost, power
        self._time = self.motion.system.time

    def resume(self, saved: dict[str, float]) -> None:
        """Go on from what `state` returned."""
        self.work, self.dissipated = saved["work"], saved["dissipated"]
        self._start, self._time = saved["start"], saved["time"]
        self._total, self._lost = saved.get("total"), saved.get("lost", 0.0)
        self._power = np.array(saved["power"])

    def state(self) -> dict[str, float]:
        """Return what a restart needs."""
        return {
            "work": self.work,
            "dissipated": self.dissipated,
            "start": self._start,
            "time": self._time,
            "total": self._total,
            "lost": self._lost,
            "power": self._power.tolist(),
        }

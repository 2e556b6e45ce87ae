# SPDX-License-Identifier: BSD-3-Clause
r"""Passivity of laws with memory: no step gives energy out of nothing.

Points are led along paths of random deformations, back and forth, in steps of random lengths. With
the energy in the state :math:`\psi` the dissipation of a step is

.. math:: D = \int P : \mathrm{d}F - \Delta\psi \ge 0 ,

P at the end of a step being the derivative of the law's incremental potential. What the law
declares as dissipated must not be negative, and agree with that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import symbolic, symbols_of

from ...arrays import Array
from ...kinematics.memory import STEP
from ...kinematics.quantity import real
from .property import Property
from .solid_energy import Deformation, compiled, places_of
from .subject import deformations

if TYPE_CHECKING:
    from .subject import LawSample

NAME = "passivity"

POINTS = 12  # that are led along paths of their own
TURNS = 5  # deformations of a path
STEPS = 60  # from one of them to the next

#: Part of the work along a path that may be missing, of steps of finite length.
OPEN_WORK = 0.02


def passivity(sample: LawSample) -> Property:
    """Look for a path of deformations on which a law with memory gives energy out of nothing."""
    called = sample.called
    if called.local:
        return Property(NAME, "none", "the law has unknowns of its own")
    if not called.history:
        return Property(NAME, "proof", "elastic: all work is stored")
    march = _March(sample)
    work, stored, lost = march.follow()
    size = np.maximum(march.effort, 1e-300)
    if not (np.isfinite(work).all() and np.isfinite(stored).all()):
        return Property(NAME, "violation", "the law has no value on a path", {"F": march.path[-1]})
    least, (step, point) = march.least
    if least < -1e-9 * size.max():
        witness = {"F": march.path[step][point], "dissipated": least, **sample.values}
        note = f"a step dissipates {least:.4g}, which is negative"
        return Property(NAME, "violation", note, witness)
    gain = (stored - work) / size
    worst = int(gain.argmax())
    if gain[worst] > OPEN_WORK:
        note = f"stores {gain[worst]:.3g} of the work more than was done on it"
        return Property(NAME, "violation", note, {"F": march.path[-1][worst], **sample.values})
    off = abs(work - stored - lost) / size
    if march.declares and off.max() > OPEN_WORK:
        worst = int(off.argmax())
        note = (
            f"work less stored energy is {work[worst] - stored[worst]:.4g}, the law says that it "
            f"dissipates {lost[worst]:.4g}"
        )
        return Property(NAME, "violation", note, {"F": march.path[-1][worst], **sample.values})
    return Property(NAME, "samples", f"{POINTS} paths of {TURNS * STEPS} steps, dissipation >= 0")


class _March:
    """Points of a law with memory along paths of deformations.

    Attributes
    ----------
    path : (n, 3, 3) deformation gradients at the ends of steps.
    effort : (n,) the work of each step, without its sign, in all.
    declares : whether the law says what it dissipates.
    least : the least dissipation that it says, of all steps and points, and where.
    """

    def __init__(self, sample: LawSample) -> None:
        called, values = sample.called, sample.values
        remembered = [m for m in called.history if not m.total]
        totals = [m.update for m in called.history if m.total]
        self.declares = bool(totals)
        known = places_of(called)
        every = [
            sp.Add(*called.parts.values()),
            called.energy(),
            sp.Add(*totals),
            *(symbolic(m.update) for m in remembered),
        ]
        used = symbols_of(*every)
        self._moving = sorted(used & known.keys(), key=lambda s: str(s.name))
        self._kinds = [known[s] for s in self._moving]
        self._memory = [m.symbol for m in remembered]
        parameters = [real(p) for p in values]
        self._numbers = [*values.values()]
        symbols = [*self._moving, *self._memory, real(STEP), *parameters]
        self._energy = compiled(symbols, every[:1])
        self._end = compiled(symbols, every[1:])
        numbers = dict(zip(parameters, self._numbers, strict=True))
        first = [symbolic(m.initial).xreplace(numbers) for m in remembered]
        self._start = [float(x) if x.is_number else 0.0 for x in first]
        self.path: list[Array] = []
        self._stretches = sample.stretches

    def follow(self) -> tuple[Array, Array, Array]:
        """Return the work, the stored energy and what was dissipated of each point."""
        n, generator = POINTS, np.random.default_rng(23)
        memory = [np.full(n, x) for x in self._start]
        F, work, lost = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros(n), np.zeros(n)
        self.effort, self.least = np.zeros(n), (0.0, (0, 0))
        power, stored = np.zeros(n), self._of_end(F, memory, np.zeros(n))[0]
        begin = stored
        for turn in range(TURNS):
            goal = _targets(self._stretches, n, turn)
            dt = 10.0 ** generator.uniform(-3.0, 0.5, n)
            change = (goal - F) / STEPS
            first = self._power(F, change, memory, np.zeros(n))
            power = first
            for _ in range(STEPS):
                F = F + change
                after = self._power(F, change, memory, dt)
                stored, own, memory = self._of_end(F, memory, dt)
                done = (power + after) / 2.0
                work, lost, power = work + done, lost + own, after
                self.effort += abs(done)
                self.path.append(F)
                if own.min() < self.least[0]:
                    self.least = float(own.min()), (len(self.path) - 1, int(own.argmin()))
        return work, stored - begin, lost

    def _power(self, F: Array, change: Array, memory: list[Array], dt: Array) -> Array:
        """Return P : dF of a change dF, by a difference of fourth order."""
        h = 1e-3 / max(float(np.abs(change).max()), 1e-300)
        near = np.concatenate([F + s * h * change for s in (-2, -1, 1, 2)])
        (energy,) = self._at(self._energy, near, [np.tile(m, 4) for m in memory], np.tile(dt, 4))
        far_minus, minus, plus, far_plus = np.split(energy, 4)
        return np.asarray((8.0 * (plus - minus) - (far_plus - far_minus)) / (12.0 * h))

    def _of_end(self, F: Array, memory: list[Array], dt: Array) -> tuple[Array, Array, list[Array]]:
        """Return stored energy, what is dissipated and remembered at the end of a step."""
        stored, lost, *after = self._at(self._end, F, memory, dt)
        return stored, lost, after

    def _at(self, function: Any, F: Array, memory: list[Array], dt: Array) -> list[Array]:
        on = Deformation(F)
        values = [on.value(kind) for kind in self._kinds]
        with np.errstate(all="ignore"):
            rows = function(*values, *memory, dt, *self._numbers)
        return [np.broadcast_to(np.asarray(row, dtype=float), len(F)) for row in rows]


def _targets(stretches: tuple[float, float], n: int, turn: int) -> Array:
    """Return where a path goes next; each second time back to the reference.

    Rotations are small: on the way between two of opposite signs F would be singular.
    """
    if turn % 2:
        return np.broadcast_to(np.eye(3), (n, 3, 3))
    F = deformations(n, stretches, seed=29 + turn)
    _, s, v = np.linalg.svd(F)
    return np.asarray(v.swapaxes(1, 2) @ (s[:, :, None] * v))

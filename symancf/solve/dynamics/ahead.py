# SPDX-License-Identifier: BSD-3-Clause
"""Functions of time, looked at before a step whose length follows the error is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Array
from ...newton import ROUND_OFF
from ...runtime.collective import together
from ...values.parameter import answers_cached, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...assembly.agreement import PlaceFunction
    from .motion import EquationsOfMotion


MIN_SAMPLES, MAX_SAMPLES = 32, 1024  # samples in a step
SAMPLED_PLACES = 16  # at which functions of the place are sampled
MAX_ENTITIES = 100_000  # entities at which laws with t are evaluated for a step
VARIATION_TOLERANCE = 1e-3  # of the size of a function: a variation that shortens a step
SAMPLES_PER_PART = 4  # samples by which a part of a step is judged
WARNED_STEPS = 64  # steps in a row with variations that none resolves: it is told


class _TimeFunction(NamedTuple):
    """Numbers that are functions of time; of one load or motion the same `owner`."""

    owner: str
    values: Callable[[float], Array]


class Ahead:
    r"""What functions of time do within a step, before it is made (collective).

    Loads, prescribed motions, parameters and laws with t are sampled at times
    :math:`t_i = t + i \delta` in the step, half a step that was asked for apart (but `MIN_SAMPLES`
    to `MAX_SAMPLES` of them). Where a function s differs by more than `VARIATION_TOLERANCE` of its
    size so far from the cubic that has the values and slopes of both ends of the step, the step is
    cut to the part in which it does not.

    Functions of place and time are sampled at up to `SAMPLED_PLACES` places, laws with t by the
    forces that they make at the present state, with fewer samples where they act at many places.

    Parameters
    ----------
    step_length : length of a step.
    beyond : part of a step behind its end in which prescribed motions are differentiated.
    """

    def __init__(self, motion: EquationsOfMotion, step_length: float, beyond: float = 0.0) -> None:
        self.motion, self.system, self.step_length = motion, motion.system, step_length
        self._beyond = beyond if motion.moving else 0.0
        self._functions = list(self._time_functions())
        laws = [p for p in self.system.forms if "t" in p.kernel.uniform]
        laws = laws if self.system.comm.allreduce(len(laws)) else []
        self._laws = [self.system.assembler.part([form]) for form in laws]
        self._sizes: Array | None = None
        self._unresolved = 0

    # ---- the functions --------------------------------------------------------------------------
    def _time_functions(self) -> Iterator[_TimeFunction]:
        """Yield all but the laws (collective)."""
        m, system = self.motion, self.system
        for assembler in (system.assembler, m.mass):
            for owner, what, value in assembler.functions():

                def of_time(t: float, what: str = what, value: object = value) -> Array:
                    return np.array([evaluate(what, value, t)])  # type: ignore[arg-type]

                yield _TimeFunction(owner, of_time)
        functions = [g for support in m.moving for g in support.prescribed_functions(system)]
        functions += [
            g for p in system.forms if getattr(p.cell_at, "timed", True) for g in p.functions
        ]
        for each, X in zip(functions, self._places(functions), strict=True):
            if len(X):

                def at_places(t: float, each: PlaceFunction = each, X: Array = X) -> Array:
                    return np.ravel(each.at(X, t))

                yield _TimeFunction(each.name, at_places)

    def _places(self, functions: list[PlaceFunction]) -> list[Array]:
        """Return places of each function, the same on any number of ranks (collective)."""
        ways = np.random.default_rng(0).standard_normal((3, SAMPLED_PLACES))
        mine = [
            g.places[np.unique(np.argmax(g.places @ ways, axis=0))]
            if len(g.places)
            else np.zeros((0, 3))
            for g in functions
        ]
        every = self.system.comm.allgather(mine)
        places = []
        for those in zip(*every, strict=True):
            X = np.concatenate(those)
            places.append(X[np.unique(np.argmax(X @ ways, axis=0))] if len(X) else X)
        return places

    @property
    def some(self) -> bool:
        """Whether anything is a function of time."""
        return bool(self._functions or self._laws)

    def _sample(self, times: Array) -> tuple[Array, list[str]]:
        """Return the functions (times, n) and their owners (collective)."""
        columns: list[Array] = []
        owners: list[str] = []
        with together(self.system.comm), answers_cached():
            for owner, values in self._functions:
                columns.append(np.array([values(float(t)) for t in times]))
                owners += [owner] * columns[-1].shape[1]
        table = np.concatenate([np.zeros((len(times), 0)), *columns], axis=1)
        if self._laws:
            table = np.concatenate([table, self._forces(times)], axis=1)
            owners += [f"law {k}" for k in range(len(self._laws))]
        if self.system.comm.size > 1:  # one decision, whatever the last bits of functions are
            table = self.system.comm.bcast(table)
        return table, owners

    def _forces(self, times: Array) -> Array:
        """Return a number for the forces of each law with t at the present state (collective)."""
        m, system = self.motion, self.system
        owned = system.numbering.vertex_of < system.numbering.owned_vertices
        weight, f = np.where(owned, system.numbering.random(7), 0.0), np.zeros_like(m.state)
        forces = np.zeros((len(times), len(self._laws)))
        for k, assembler in enumerate(self._laws):
            size = max(1, system.comm.allreduce(assembler.forms[0].size))
            every = max(1, -(-len(times) * size // MAX_ENTITIES))
            chosen = np.unique([*range(0, len(times), every), len(times) - 1])
            with together(system.comm):
                assembler.follow(m.rate, m.rate_factor)
                for i in chosen:
                    assembler.update(float(times[i]))
                    assembler.residual(m.state, f)
                    forces[i, k] = weight @ f
            forces[:, k] = np.interp(times, times[chosen], forces[chosen, k])
        return np.asarray(system.sum(forces.ravel()).reshape(forces.shape))

    # ---- steps ----------------------------------------------------------------------------------
    def limit(self, t: float, h: float) -> float:
        """Return the length of a step from t, at most h, within which nothing is missed."""
        if not self.some:
            return h
        more = 1.0 + self._beyond
        seen = min(more * h, max(h, self.motion.span[1] - t))
        length = self._limit(t, seen)
        return h if length == seen else min(h, length / more)

    def _limit(self, t: float, h: float) -> float:
        shortest, length = self.step_length / MIN_SAMPLES, h
        while True:
            number = int(np.clip(np.ceil(2.0 * h / self.step_length), MIN_SAMPLES, MAX_SAMPLES))
            samples, owners = self._sample(t + h / number * np.arange(number + 1))
            small = VARIATION_TOLERANCE * self._size(samples, owners)
            if self._varies(samples, small):
                self._unresolved = 0
                return h
            if h <= shortest:
                break
            part = self._longest(samples, small)
            h = max(shortest, h * (part / number if part else 1.0 / 8.0))
        self._tell(t, h)
        return min(length, shortest)

    def _tell(self, t: float, h: float) -> None:
        """Warn once where no step resolves what functions do."""
        self._unresolved += 1
        if self._unresolved == WARNED_STEPS:
            self.system.once.warn(
                "not resolved",
                f"at time {t:g} loads or prescribed motions vary faster than steps of {h:.2g} "
                "resolve; ask for a shorter step=, or smooth them",
            )

    def _size(self, samples: Array, owners: list[str]) -> Array:
        """Return the largest magnitudes so far (n,), of round-off as good as none."""
        now = np.abs(samples).max(axis=0)
        self._sizes = now if self._sizes is None else np.maximum(self._sizes, now)
        _, of = np.unique(owners, return_inverse=True)
        largest = np.zeros(of.max(initial=0) + 1)
        np.maximum.at(largest, of, self._sizes)
        return np.maximum(self._sizes, ROUND_OFF / VARIATION_TOLERANCE * largest[of])

    @staticmethod
    def _varies(s: Array, small: Array) -> bool:
        """Tell whether samples (m + 1, n) are near the cubic by values and slopes of their ends."""
        x = np.linspace(0.0, 1.0, len(s))[:, None]
        per = (len(s) - 1) / 2.0
        first = per * (-3.0 * s[0] + 4.0 * s[1] - s[2])
        last = per * (3.0 * s[-1] - 4.0 * s[-2] + s[-3])
        rise = s[-1] - s[0]
        cubic = s[0] + x * rise + x * (1.0 - x) * ((1.0 - x) * (first - rise) + x * (rise - last))
        return bool((np.abs(s - cubic) <= small).all())

    def _longest(self, samples: Array, small: Array) -> int:
        """Return the number of a sample up to which nothing is missed, 0: none."""
        good, bad = 0, len(samples) - 1
        while bad - good > 1:
            middle = (good + bad) // 2
            if middle < SAMPLES_PER_PART:
                break
            if self._varies(samples[: middle + 1], small):
                good = middle
            else:
                bad = middle
        return good

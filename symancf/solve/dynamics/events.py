# SPDX-License-Identifier: BSD-3-Clause
r"""Zeros in time of functions of a motion, located after each step.

A step whose ends, or the motion between them, have a function on two sides of zero is made anew
so that it ends at the zero: the state at an event is a step like others. The motion between the
ends (`Interval`) tells where to look, by the function at its quarters and at the extrema of the
quartic through them, so that two zeros in one step are found, too; secants in the length of the
step, safeguarded by bisection, then take the end to the zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...errors import ConvergenceError, ParameterError
from ...newton import ROUND_OFF
from ...runtime.collective import share_error
from ...values import arguments
from ...values.parameter import answers_cached, label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpi4py import MPI

    from ..gradients.goal import Goal
    from .integrator import Integrator
    from .interval import Interval


polynomial: Any = np.polynomial.polynomial  # NumPy gives it no types

EPS = float(np.finfo(float).eps)
ROUND_OFF_DISTANCE = math.sqrt(EPS)  # of a step: values so near that do not fall tell of round-off
SAMPLE_TIMES = (0.25, 0.5, 0.75)  # of a step, where functions are looked at
PROBE_TIMES = (1e-8, 1e-6, 1e-4, 1e-2)  # beside, where the motion leaves a zero
NEAR_ZERO_TOLERANCE = 1e-6  # of that: what is left of a function that jumps is not near zero
#: of a step: a function that is zero for as long was zero before the step's end
ZERO_DURATION = 0.01
EVENT_TIME_TOLERANCE = 1e-12  # of a step: what times of events are found to
EXTREMUM_DISTANCE = 0.05  # of the spread of a function in a step: an extremum worth a look
SECANT_RATIO = 0.5  # ratio of two values by which secants are faster than halving
#: events of one function in a row closer than that share of a step
CROWDED_DISTANCE, MAX_CROWDED_EVENTS = 1e-3, 3


class Event:
    """A function whose zeros in time are located.

    Attributes
    ----------
    times : of its zeros.
    user_times : the list that users have; of a contact one for all its events.
    switch : what goes on with another law of a contact, before the action.
    goal : whose zero it is, or None.
    side : sign of the function, 0 while the motion has not left a zero.
    band : values up to which it has not.
    largest : magnitude that the function had.
    """

    def __init__(
        self,
        function: Callable[[], float],
        action: Callable[[], None] | None,
        direction: int,
        terminate: bool,
        number: int,
        user_times: list[float],
        switch: Callable[[], None] | None = None,
        goal: Goal | None = None,
    ) -> None:
        functions: dict[str, Any] = {"function": function, "action": action or function}
        for what, value in functions.items():
            if not callable(value):
                raise ParameterError(
                    f"event: {value!r} is no {what} to be called", asked=what, given=value
                )
        terminate = arguments.flag("event", "terminate", terminate)
        if isinstance(direction, bool) or direction not in (-1, 0, 1):
            raise ParameterError(
                f"event(direction={direction!r}): 1 are rising zeros, -1 falling ones, 0 both",
                asked="direction",
                given=direction,
                possible=(-1, 0, 1),
            )
        self.function, self.action, self.switch, self.goal = function, action, switch, goal
        self.direction, self.terminate, self.number = int(direction), terminate, number
        self.times: list[float] = []
        self.user_times = user_times
        self.side = 0
        self.band = self.largest = 0.0
        self._close, self._last = 0, -math.inf  # events in a row, time of the last one

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"event {self.number} ({label(self.goal or self.function)})"

    def sign(self, value: float) -> int:
        """Return the side of zero that a value is on, 0 at a zero."""
        if abs(value) <= max(self.band, ROUND_OFF * self.largest):
            return 0
        return 1 if value > 0.0 else -1

    def secant(self, last: tuple[float, float], now: tuple[float, float], near: float) -> float:
        """Return how much later the zero is, by two times and values; inf: halving is faster.

        0 where times are `near` and the value is small: solutions of steps are no sharper.
        """
        (before, old), (t, value) = last, now
        if abs(value) < SECANT_RATIO * abs(old):
            return value * (t - before) / (old - value)
        return (
            0.0
            if abs(t - before) <= near and abs(value) <= NEAR_ZERO_TOLERANCE * self.largest
            else math.inf
        )

    def see(self, value: float) -> None:
        """Take the side of a value, at which the motion is."""
        self.largest = max(self.largest, abs(value))
        side = self.sign(value)
        if side:
            self.side, self.band = side, 0.0

    def crossing(self, values: Sequence[float]) -> tuple[int, int] | None:
        """Return between which two of the values in a step the first zero is."""
        side, last = self.side, 0
        for k, value in enumerate(values):
            now = self.sign(value)
            at_end = k == len(values) - 1
            if side and (now == -side or (now == 0 and at_end and k > 0)):
                if self.direction in (0, now or -side):
                    return last, k
                side = now or side
            side = side or now
            if now == side:
                last = k
        return None

    def happened(self, t: float, step: float) -> None:
        """Keep a time.

        Raises
        ------
        ConvergenceError : events crowd at a time that they never pass.
        """
        since, self._last = t - self._last, t
        self._close = self._close + 1 if since < CROWDED_DISTANCE * step else 0
        self.times.append(t)
        if self._close >= MAX_CROWDED_EVENTS:
            raise ConvergenceError(
                f"{self.name} happens again and again around t = {t:.9g}, the last time after "
                f"{since:.2g}: let its action end what makes it happen (fix the "
                "body that comes to rest), or terminate",
                reason="EVENTS",
                iteration=len(self.times),
                time=t,
                asked="event",
                given=self.number,
            )


class Events:
    """The events of a motion (collective).

    Parameters
    ----------
    comm : ranks of the system.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self.comm = comm
        self._all: list[Event] = []

    def add(
        self,
        function: Callable[[], float],
        action: Callable[[], None] | None,
        direction: int,
        terminate: bool,
        user_times: list[float],
        switch: Callable[[], None] | None = None,
        goal: Goal | None = None,
    ) -> None:
        """Take a function; the times of its zeros are added to a list."""
        number = len(self._all) + 1
        event = Event(function, action, direction, terminate, number, user_times, switch, goal)
        self._all.append(event)

    @property
    def differentiable(self) -> bool:
        """Whether each is a goal whose zero ends the motion, without an action."""
        return all(e.goal is not None and e.terminate and e.action is None for e in self._all)

    @staticmethod
    def note(
        happened: Sequence[Event], t: float, begin: float, length: float
    ) -> list[Callable[[], None]]:
        """Keep the time of events at the end of a step; return what is to be called there.

        Switches of a contact that crowd are one event of it, as where it touches and slips at once.
        """
        listed = set[int]()
        switches = [event.switch for event in happened if event.switch is not None]
        actions = []
        for event in happened:
            event.happened(t, length)
            times = event.user_times
            again = id(times) in listed or (
                event.switch is not None
                and times[-1:] == [begin]
                and t - begin <= CROWDED_DISTANCE * length
            )
            listed.add(id(times))
            if not again:
                times.append(t)
                actions += [] if event.action is None else [event.action]
        return [*switches, *actions]

    # ---- values ---------------------------------------------------------------------------------
    def values(self) -> Array:
        """Return the functions of all events at the present motion, (n,).

        Raises
        ------
        ParameterError : a function returns no finite number, or not the same on each rank.
        Exception : what a function raised; all on every rank.
        """
        values = np.zeros(len(self._all))
        error: BaseException | None = None
        try:
            with answers_cached():
                for k, event in enumerate(self._all):
                    values[k] = self._number(event)
        except BaseException as caught:
            error = caught
        share_error(self.comm, error)
        if self.comm.size == 1:
            return values
        ranks = np.array(self.comm.allgather(values))
        apart = np.abs(ranks - ranks[0]).max(axis=0)
        for k in np.flatnonzero(apart > 1e-9 * np.abs(ranks).max(axis=0)):
            raise ParameterError(
                f"{self._all[k].name} returns {ranks[:, k].tolist()} on ranks 0 to "
                f"{len(ranks) - 1}: it must return the same number on each",
                asked="event",
                given=ranks[:, k].tolist(),
            )
        return np.asarray(ranks[0])

    def _number(self, event: Event) -> float:
        given: object = event.function()
        try:
            value = np.nan if isinstance(given, str) else float(np.asarray(given, float).item())
        except (TypeError, ValueError, OverflowError):
            value = np.nan
        if not np.isfinite(value):
            raise ParameterError(
                f"{event.name} returns {given!r}: give a finite number", asked="event", given=given
            )
        return value

    def begin(self) -> None:
        """See on which sides the motion is, at its beginning and after actions.

        A zero where a motion begins, and one that an action jumps over, is none to be located.
        """
        for event, value in zip(self._all, self.values(), strict=True):
            event.see(value)

    # ---- zeros ----------------------------------------------------------------------------------
    def find(self, integrator: Integrator, interval: Interval) -> list[Event]:
        """Make a step, that was made, end at the first zero within; return the events there."""
        times, values = self._sample(interval)
        for event, largest in zip(self._all, np.abs(values).max(axis=0), strict=True):
            event.largest = max(event.largest, float(largest))
        passed = set[int]()  # zeros of the motion between the ends, but not of any step
        part, sharp, landed, reached = interval, self._sharp(interval), -1, np.inf
        while True:
            limit = np.inf if part is interval else part.end.time - 10.0 * sharp
            roots = self._roots(part, times, values, landed)
            roots = [(t, k) for t, k in roots if k not in passed and t < limit]
            if not roots:
                break
            t, k = min(roots)
            if self._land(integrator, interval, t, k):
                landed, part = k, integrator.interval()
                nearer, reached = part.end.time < reached - 10.0 * sharp, part.end.time
                if not nearer:  # to round-off of the function
                    times, values = self._sample(part)
                    break
            else:
                passed.add(k)
                landed, part, reached = -1, interval, np.inf
            times, values = self._sample(part)
        happened = []
        for k, event in enumerate(self._all):
            ends = k not in passed and self._ends(event, part, times, values[:, k], sharp)
            if k == landed or ends:
                event.side, event.band = (
                    0,
                    min(4.0 * abs(values[-1, k]), NEAR_ZERO_TOLERANCE * event.largest),
                )
                happened.append(event)
            else:
                event.see(values[-1, k])
        return happened

    def _sharp(self, interval: Interval) -> float:
        latest = max(abs(interval.begin.time), abs(interval.end.time))
        return max(EVENT_TIME_TOLERANCE * interval.length, 4.0 * EPS * latest)

    def _sample(self, step: Interval) -> tuple[list[float], Array]:
        """Return fractions of a step and the functions there, (n, events).

        The motion is that of the step's end before and afterwards.
        """
        at_end = self.values()
        leaving = any(event.side == 0 for event in self._all)
        inside = [*(PROBE_TIMES if leaving else ()), *SAMPLE_TIMES]
        samples = {0.0: None, 1.0: at_end}
        for s in [0.0, *inside]:
            samples[s] = self._at(step, s)
        self._look_closer(step, samples)
        step.motion.go_to(step.end)
        fractions = sorted(samples)
        return fractions, np.array([samples[s] for s in fractions])

    def _at(self, step: Interval, s: float) -> Array:
        if s <= 0.0:
            step.motion.go_to(step.begin)
        else:
            step.show(step.time(s))
        return self.values()

    def _look_closer(self, step: Interval, samples: dict[float, Any]) -> None:
        """Add extrema between which functions may have two zeros."""
        points = [0.0, *SAMPLE_TIMES, 1.0]
        for _ in range(3):
            looked = len(samples)
            table = np.array([samples[s] for s in points])
            fits = polynomial.polyfit(points, table, len(points) - 1)
            for k, event in enumerate(self._all):
                for s in self._extrema(event, fits[:, k], table[:, k]):
                    if s not in samples and min(abs(s - p) for p in samples) > 1e-9:
                        samples[s] = self._at(step, s)
                        points.append(s)
            if len(samples) == looked or len(points) > 9:
                return

    @staticmethod
    def _extrema(event: Event, fit: Array, values: Array) -> list[float]:
        """Return where a polynomial without zeros among the samples comes near zero."""
        signs = {event.sign(value) for value in values} - {0}
        spread = float(np.ptp(values))
        if len(signs) != 1 or spread == 0.0:
            return []
        side = signs.pop()
        turns = polynomial.polyroots(polynomial.polyder(fit))
        chosen = [float(r.real) for r in turns if abs(r.imag) < 1e-9 and 0.0 < r.real < 1.0]
        return [s for s in chosen if side * polynomial.polyval(s, fit) < EXTREMUM_DISTANCE * spread]

    def _roots(
        self, step: Interval, fractions: list[float], values: Array, landed: int
    ) -> list[tuple[float, int]]:
        """Return the first zero of each event in the motion between the ends, and its number."""
        from scipy.optimize import brentq

        roots = []
        for k, event in enumerate(self._all):
            between = event.crossing(values[:, k].tolist())
            if between is None:
                continue
            a, b = (fractions[i] for i in between)

            def value(s: float, k: int = k, step: Interval = step) -> float:
                if s >= 1.0:
                    step.motion.go_to(step.end)
                    return float(self.values()[k])
                return float(self._at(step, s)[k])

            if values[between[0], k] * values[between[1], k] < 0.0:
                s = brentq(
                    value,
                    a,
                    b,
                    xtol=0.1 * EVENT_TIME_TOLERANCE,
                    rtol=4.0 * EPS,
                    maxiter=80,
                    disp=False,
                )
            else:
                s = b if k == landed else self._arrival(event, value, a, b)
            roots.append((step.time(float(s)), k))
        step.motion.go_to(step.end)
        return roots

    @staticmethod
    def _arrival(event: Event, value: Callable[[float], float], a: float, b: float) -> float:
        """Return where a function comes to zero between a and b, if it stays there until b."""
        low, high = a, b
        if event.sign(value(b - ZERO_DURATION * (b - a))):
            return b
        while high - low > EVENT_TIME_TOLERANCE:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if event.sign(value(middle)) else (low, middle)
        return high

    def _land(self, integrator: Integrator, interval: Interval, t: float, k: int) -> bool:
        """Make a step end at the zero of an event near t; return whether there is one.

        If there is none, the motion is at the end of the whole step again.
        """
        event, sharp = self._all[k], self._sharp(interval)
        low, high, latest = interval.begin.time, math.inf, interval.end.time
        side = self._side_before(event, interval, t, k)
        if event.sign(self._value(integrator, interval, latest, k)) != side:
            high = latest
        last: tuple[float, float] | None = None
        for _ in range(100):
            t = min(max(t, low), high, latest)
            value = self._value(integrator, interval, t, k)
            if event.sign(value) == 0 or t - interval.begin.time <= sharp:
                return True
            if value * side > 0.0 and t == latest:
                return False
            low, high = (t, high) if value * side > 0.0 else (low, t)
            if high - low <= sharp:
                if t != high:
                    self._value(integrator, interval, high, k)
                return True
            if last is None:
                change = self._newton(integrator, k, value, side)
            else:
                change = event.secant(last, (t, value), ROUND_OFF_DISTANCE * interval.length)
            last = t, value
            if abs(change) <= sharp:
                return True
            inside = low < t + change < min(high, latest)
            t = t + change if inside else min(0.5 * (low + high), latest)
        return True

    def _value(self, integrator: Integrator, interval: Interval, t: float, k: int) -> float:
        integrator.land(t, interval)
        return float(self.values()[k])

    def _side_before(self, event: Event, interval: Interval, t: float, k: int) -> int:
        """Return the side from which the zero is reached that is sought near t."""
        if event.direction:
            return -event.direction
        if event.side:
            return event.side
        s = (t - interval.begin.time) / interval.length
        for share in (0.5, 0.9, 0.1):
            side = event.sign(float(self._at(interval, share * s)[k]))
            if side:
                return side
        return -1

    def _newton(self, integrator: Integrator, k: int, value: float, side: int) -> float:
        """Return how much later the zero is, by the function's rate at the end of the step.

        inf: it does not come nearer.
        """
        step = integrator.interval()
        little = 1e-4
        before = float(self._at(step, 1.0 - little)[k])
        step.motion.go_to(step.end)
        rate = (value - before) / (little * step.length)
        return -value / rate if rate * side < 0.0 else math.inf

    def _ends(
        self, event: Event, part: Interval, fractions: list[float], values: Array, sharp: float
    ) -> bool:
        """Tell whether an event has its zero where a step ends."""
        if event.crossing(values.tolist()) is not None:
            return True
        # not yet beyond its zero, but nearer to it than times are found to
        before, value = values[-2], values[-1]
        rate = (value - before) / ((1.0 - fractions[-2]) * part.length)
        side = event.side
        falls = side and rate * side < 0.0 and event.direction in (0, -side)
        return bool(falls and abs(value) <= 10.0 * sharp * abs(rate))

    # ---- restarts -------------------------------------------------------------------------------
    def state(self) -> list[list[float]]:
        """Return what a restart needs."""
        return [[event.side, event.band, event.largest] for event in self._all]

    def resume(self, saved: list[list[float]]) -> None:
        """Go on from what `state` returned, as far as the events are the same."""
        for event, (side, band, largest) in zip(self._all, saved, strict=False):
            event.side, event.band, event.largest = int(side), band, largest
        for event in self._all:  # a motion that begins anew is none in which they crowd
            event._close, event._last = 0, -math.inf

    def times(self) -> list[list[list[float]]]:
        """Return the times of all events so far, for a run that goes on in another process."""
        return [[[*event.times], [*event.user_times]] for event in self._all]

    def put_back(self, times: list[list[list[float]]]) -> None:
        """Take what `times` returned, as a history is put back; lists stay the same objects."""
        for event, (own, listed) in zip(self._all, times, strict=False):
            event.times[:], event.user_times[:] = own, listed

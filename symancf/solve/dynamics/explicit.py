# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 by explicit methods of PETSc's TS: accelerations as a right-hand side."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import ConvergenceError
from ...newton import ROUND_OFF
from ...output.steps import Step
from ...runtime.options import SolverOptions
from ...runtime.petsc import PETSc, functions, loosely
from .ahead import Ahead
from .explanation import explained
from .integrator import Integrator

if TYPE_CHECKING:
    from collections.abc import Callable

    from .accelerations import Accelerations
    from .interval import Interval
    from .stabilise import Stabilisation


SAME = 8.0 * float(np.finfo(float).eps)  # times and states that differ by less are the same
LAST_STEP_STRETCH = 1.01  # of a step: what is left beyond is not worth a step of its own
SLOW_STEPS = 1000.0  # steps of the length asked for
LOW_ORDER_METHODS = "1fe", "2a", "2b", "3", "3bs", "4"  # Runge-Kutta methods of order 4 at most
#: A rate that no step size control accepts; its square over that of a tolerance is still a number.
HUGE_RATE = float(np.sqrt(np.sqrt(np.finfo(float).max)))


class Explicit(Integrator):
    r"""Makes steps by an explicit TS, for example of type rk; its vector U holds [q, s, v].

    .. math:: \dot q = v, \quad \dot v = a(q, v, s, t), \quad \dot s = f(q, v, s, t)

    with `Accelerations`; the multipliers are no unknowns but follow from the state. With
    ``-ts_adapt_type basic`` TS keeps the root mean square over U of e / (atol + rtol |U|) below
    1, e the difference from the embedded method.

    Parameters
    ----------
    stabilisation : of the constraints.

    Attributes
    ----------
    error : what an evaluation raised, on every rank; it must not cross PETSc.
    evaluations : number of right-hand sides.
    """

    smooth = True

    def __init__(
        self, accelerations: Accelerations, stabilisation: Stabilisation | None, kind: str
    ) -> None:
        super().__init__(accelerations)
        self.stabilisation, self.kind = stabilisation, kind
        numbering = self.motion.system.numbering
        order = numbering.coordinate_of_row
        free = numbering.fixed_by[order] < 0
        self._second = np.flatnonzero(self.motion.second[order] & free)
        self._first = np.flatnonzero(self.motion.first[order] & free)
        self._states: Array = np.zeros(len(self._first))  # largest so far
        self._natural: Array = np.zeros(0)  # sizes of rows
        self._sizes = np.cumsum([0, len(self._second), len(self._first), len(self._second)])
        self._x: Array = np.zeros(numbering.rows)
        self._cached_state: tuple[float, Array] | None = None
        self.error: BaseException | None = None
        self.evaluations = 0
        self.adaptive = True
        self.window = 1e-3
        self._begun, self._count = 0.0, 0  # steps since then, for their mean length
        self._suited: Stabilisation | None = None
        self._constraints: Array = np.zeros(0)  # sizes

    # ---- the beginning of a motion --------------------------------------------------------------
    def attach(self, ts: PETSc.TS) -> None:
        """Give the right-hand side to a TS."""
        self.ts = ts
        ts.setType(self.kind)
        ts.setSolution(self.vector())
        ts.setProblemType(PETSc.TS.ProblemType.NONLINEAR)
        self._F = self.vector()
        ts.setRHSFunction(loosely(self._function), self._F)
        ts.setErrorIfStepFails(False)
        ts.setMaxStepRejections(50)

    def vector(self) -> PETSc.Vec:
        """Return a vector of TS (collective)."""
        local, comm = int(self._sizes[-1]), self.newton.comm
        return PETSc.Vec().createMPI((local, comm.allreduce(local)), comm=comm)

    def largest(self, h: float) -> float:
        """Return the largest mass of a coordinate, the scale of multipliers (collective)."""
        m = self.motion
        m.rate_factor[:] = m.acceleration_factor[:] = 0.0
        diagonal, off = m.mass_values()
        m.matrix.diagonal[:], m.matrix.off[:] = diagonal, off
        m.matrix.finish()
        values = m.matrix.mat.getDiagonal().getArray()
        return self.newton.largest(float(np.abs(values).max(initial=0.0)))

    def begin(self, adaptive: bool | None) -> None:
        """Prepare for a motion (collective).

        Accelerations and multipliers are those of the present state then.
        """
        ts, self.error = self.ts, None
        self._begun, self._count = self.motion.system.time, 0
        self.window = self.accelerations.kinematics.window = max(
            self.step_length, 1e-3 * self.duration
        )
        self._rejected = ts.getStepRejections()
        self.accelerations.kinematics.refresh()
        if self.stabilisation is not None:
            self._constraints = self.accelerations.sizes()
        self._suit()
        self._states = np.zeros(len(self._first))
        self._natural = self.newton.balance.tolerances(1.0, None)
        self._limits = self.vector()
        adapt = ctypes.c_void_p()
        kind = SolverOptions(ts.getOptionsPrefix() or "", {}).choice("ts_adapt_type")
        kind = kind or ("none" if adaptive is False else "basic")
        functions.TSGetAdapt(ctypes.c_void_p(ts.handle), ctypes.byref(adapt))
        functions.TSAdaptSetType(adapt, kind.encode())
        self.adaptive = kind != "none"
        self.ahead = Ahead(self.motion, self.step_length) if self.adaptive else None
        self.resume()
        self._tolerate()

    def _tolerate(self) -> None:
        """Give TS the tolerances of the next step (collective)."""
        self._limits.setArray(self.limits())
        self.ts.setTolerances(self.rtol, self._limits)

    # ---- the vector of TS -----------------------------------------------------------------------
    def show(self, count: int) -> None:
        """Let TS be at the present motion; after a step it is there."""
        self.ts.setTimeStep(self.next_step)
        self.ts.setMaxTime(self.end)
        if not count:
            self.ts.getSolution().setArray(self.values())

    def values(self) -> Array:
        """Return the present state and rates in the order of TS's vector (this rank's part)."""
        to_rows = self.newton.numbering.to_rows
        state, rate = to_rows(self.motion.state), to_rows(self.motion.rate)
        return np.concatenate([state[self._second], state[self._first], rate[self._second]])

    def limits(self) -> Array:
        """Return absolute tolerances in the order of TS's vector (this rank's part; collective).

        Those of rates are those of positions times the speed, in sizes of the parts: that of the
        fastest coordinate now, at least one size in `SLOW_STEPS` steps or the whole call. States of
        first order have units that nobody knows, and are measured by themselves and by what their
        rates make of them until then.
        """
        q, s = self.atol[self._second], self.atol[self._first]
        if self.relative:
            self._states = np.maximum(self._states, self._largest_states())
            # of integrals of lengths, mostly
            noise = ROUND_OFF * self.newton.size * self.duration
            s = np.maximum(self.rtol * self._states, noise)
        rate = np.abs(self.newton.numbering.to_rows(self.motion.rate)) / self._natural
        speed = self.newton.largest(float(rate[self._second].max(initial=0.0)))
        slow = 1.0 / max(self.duration, SLOW_STEPS * self.step_length)
        return np.concatenate([q, s, q * max(speed, slow)])

    def _largest_states(self) -> Array:
        """Return the size of states of first order, of this rank's rows."""
        to_rows = self.newton.numbering.to_rows
        now, rate = to_rows(self.motion.state), to_rows(self.motion.rate)
        return np.maximum(np.abs(now), self.duration * np.abs(rate))[self._first]

    def _suit(self) -> None:
        """Let the stabilisation suit the steps so far; the one asked for is among them."""
        if self.stabilisation is not None:
            passed = self.motion.system.time - self._begun + self.step_length
            h = passed / (self._count + 1)
            self._suited = self.stabilisation.suited(h, self._constraints)

    def take(self, values: Array) -> None:
        """Take state and rates; multipliers become zero (collective)."""
        q, s, v = (values[a:b] for a, b in zip(self._sizes, self._sizes[1:], strict=False))
        newton, m, x = self.newton, self.motion, self._x
        self._cached_state = None  # accelerations and multipliers are no longer those of the state
        x.fill(0.0)
        x[self._second], x[self._first] = q, s
        newton.x.setArray(x)
        newton.vectors.to_local(newton.x, m.state)
        x.fill(0.0)
        x[self._second] = v
        newton.x.setArray(x)
        newton.vectors.to_local(newton.x, m.rate)

    # ---- the right-hand side --------------------------------------------------------------------
    def rates(self, t: float, values: Array) -> Array | None:
        """Return d values / dt (this rank's part), or None outside of a law's domain (collective).

        State, rates, accelerations and multipliers of the motion are those of `values` then.
        """
        if not self._is_current(t, values):
            self._cached_state = None
            self.evaluations += 1
            with np.errstate(all="ignore"):
                finite = bool(
                    np.isfinite(values).all() and np.abs(values).max(initial=0.0) < HUGE_RATE
                )
            if not self._everywhere(finite):
                return None
            self.take(values)
            m = self.motion
            m.system.revise(t)
            m.prescribe(t, self.window)
            if self.accelerations.find(self._suited):
                return None
            self._cached_state = t, values.copy()
        to_rows = self.newton.numbering.to_rows
        rate, acceleration = to_rows(self.motion.rate), to_rows(self.motion.acceleration)
        rates = rate[self._second], rate[self._first], acceleration[self._second]
        return np.asarray(np.concatenate(rates))

    def _everywhere(self, here: bool) -> bool:
        comm = self.newton.comm
        return bool(here if comm.size == 1 else comm.allreduce(int(here)) == comm.size)

    def _is_current(self, t: float, values: Array) -> bool:
        if self._cached_state is None:
            return False
        time, cached = self._cached_state
        # the last stage of a method that is "first same as last" differs by round-off
        near = abs(t - time) <= SAME * max(abs(t), abs(time))
        same = near and (np.abs(cached - values) <= SAME * np.abs(values)).all()
        return self._everywhere(same)

    def _function(self, ts: PETSc.TS, t: float, U: PETSc.Vec, F: PETSc.Vec) -> None:
        if self.error is None:
            try:
                rates = self.rates(t, U.getArray(readonly=True))
                if rates is None:
                    F.set(HUGE_RATE)
                else:
                    F.setArray(rates)
                return
            except BaseException as error:
                self.error = error
        F.set(0.0)
        ts.setConvergedReason(PETSc.TS.ConvergedReason.CONVERGED_USER)

    # ---- a step ---------------------------------------------------------------------------------
    def open(self, rest: float) -> None:
        """Begin a step, with so much time left: `next_step` is its length."""
        h = min(self.next_step if self.adaptive else self.step_length, self.longest)
        h = h if rest > LAST_STEP_STRETCH * h else rest
        self.next_step = h if self.ahead is None else self.ahead.limit(self.motion.system.time, h)

    def step(self, h: float) -> Step:
        """Make one step of TS, which tries shorter ones by itself, and choose `next_step`.

        Raises
        ------
        ConvergenceError : none was found, or the state is outside of a law's domain.
        Exception : what a user's function raised.
        """
        ts, t, to = self.ts, self.motion.system.time, self.end
        self._tolerate()
        ts.setMaxTime(to)
        ts.setTimeStep(h)
        self._step_of_ts()
        if to - ts.getTime() <= 2.0 * SAME * max(abs(to), abs(t)):
            ts.setTime(to)
        self._take()
        self._next, self.next_step = self.last_step, ts.getTimeStep()
        if ts.getTime() < to:
            self._next = self.next_step
        else:  # the last step may be any short: go on as at the beginning
            self.next_step = max(self.next_step, self.step_length)
        return Step(self.motion.system.time, 0, 0, {})

    def _step_of_ts(self) -> None:
        ts = self.ts
        ts.step()
        self.rejections += ts.getStepRejections() - self._rejected
        self._rejected = ts.getStepRejections()
        if self.error is not None:
            raise self.error
        if ts.getConvergedReason() < 0:
            raise ConvergenceError(
                f"PETSc's TS gave up at time {ts.getTime():g}",
                reason=str(ts.getConvergedReason()),
                iteration=0,
                time=ts.getTime(),
            )

    def _take(self) -> None:
        """Take the end of a step of TS as the motion's."""
        ts, before = self.ts, self.before
        assert before is not None
        U = ts.getSolution()
        projected = self.accept(ts.getTime(), U.getArray(readonly=True).copy())
        if projected is not None:
            U.setArray(projected)
            ts.restartStep()
        self.last_step = ts.getTime() - before.time

    def accept(self, t: float, values: Array) -> Array | None:
        """Take the end of a step as the motion's; return it if it was projected (collective).

        Raises
        ------
        ConvergenceError : the state is outside of a law's domain.
        """
        projected = None
        if self.stabilisation is not None and self.stabilisation.projects:
            self.take(values)
            self.motion.prescribe(t, self.window)
            moved = self.accelerations.project_positions()
            turned = np.abs(self.accelerations.project_rates()).max(initial=0.0) > 0.0
            if not self._everywhere(not (moved or turned)):
                values = projected = self.values()
        if self.rates(t, values) is None:
            text, outside = f"the step to t = {t:g} has no solution", self.motion.state.copy()
            assert self.before is not None
            self.restore(self.before)
            raise self._outside(text, t, outside)
        self.motion.system.time = t  # not the time of a last stage, which may differ by round-off
        self._count += 1
        self._suit()
        return projected

    def _outside(self, text: str, t: float, outside: Array) -> ConvergenceError:
        """Return the error of a state without rates, with likely causes (collective)."""
        error, m = ConvergenceError(text, reason="DOMAIN", time=t), self.motion
        h, to = self.step_length, m.span[1]
        return explained(m, error, to=to, step=h, outside=outside, explicit=True)

    # ---- events ---------------------------------------------------------------------------------
    def within(self) -> tuple[float, ...]:
        """Return parts of a step where its work needs the motion to have the method's order."""
        low = self.kind != "rk" or self.ts.getRKType() in LOW_ORDER_METHODS
        return (0.5,) if low else (0.25, 0.5, 0.75)

    def visit(self, look: Callable[[], None], solved: bool) -> None:
        """Call a function within the last step (collective).

        `solved`: accelerations, multipliers and what follows from the others are found there.
        """
        interval, cached, system = self.interval(), self._cached_state, self.motion.system
        for s in self.within():
            interval.show(interval.time(s))
            system.revise(interval.time(s))
            self.motion.prescribe(interval.time(s), self.window)
            if solved:
                self.accelerations.find(self._suited)
            look()
        self.motion.go_to(interval.end)
        self._cached_state = cached

    def land(self, t: float, interval: Interval) -> None:
        """Make a step anew so that it ends at t (collective)."""
        self.motion.go_to(interval.end if t >= interval.end.time else interval.begin)
        self.resume()
        if interval.begin.time < t < interval.end.time:
            self._stride(t)
        self.next_step = self._next if self.adaptive else self.step_length

    def _stride(self, t: float) -> None:
        """Go to a time by steps of TS."""
        ts = self.ts
        while ts.getTime() < t:
            before = ts.getTime()
            ts.setTimeStep(t - before)
            self._step_of_ts()
            if ts.getTime() == before or t - ts.getTime() <= SAME * abs(t):
                ts.setTime(t)
        self._take()

    def resume(self) -> None:
        """Go on from the present motion, with its accelerations and multipliers (collective).

        Raises
        ------
        ConvergenceError : the state is outside of a law's domain.
        """
        ts, t, values, self._cached_state = self.ts, self.motion.system.time, self.values(), None
        if self.rates(t, values) is None:
            text = f"the state at t = {t:g} is outside of the domain of a law"
            raise self._outside(text, t, self.motion.state.copy())
        ts.getSolution().setArray(values)
        ts.setTime(t)
        ts.restartStep()

    def reconsider(self) -> None:
        """Begin the next step with the accelerations of a `Parameter` that was set (collective)."""
        self.resume()

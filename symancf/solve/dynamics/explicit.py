# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 by explicit methods of PETSc's TS: accelerations as a right-hand side."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import ConvergenceError
from ...runtime.options import Options
from ...runtime.petsc import PETSc, functions, loosely
from .ahead import Ahead
from .explanation import explained
from .interval import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...assembly.state import State
    from .accelerations import Accelerations
    from .stabilise import Stabilisation


ROUND_OFF = 8.0 * float(np.finfo(float).eps)
STRETCH = 1.01  # of a step: what is left beyond is not worth a step of its own
LONG = 1000.0  # steps of the length asked for
NOISE = 1e-12  # of the size of the system over the call: what moves a state less is round-off
LOW = "1fe", "2a", "2b", "3", "3bs", "4"  # Runge-Kutta methods of order 4 at most
HUGE = 1e60  # a rate that no step size control accepts; its square is still a number


class Explicit:
    r"""Context of an explicit TS, for example of type rk; its vector U holds [q, s, v].

    .. math:: \dot q = v, \quad \dot v = a(q, v, s, t), \quad \dot s = f(q, v, s, t)

    with `Accelerations`; the multipliers are no unknowns but follow from the state. With
    ``-ts_adapt_type basic`` TS keeps the root mean square over U of e / (atol + rtol |U|) below
    1, e the difference from the embedded method.

    Parameters
    ----------
    stabilisation : of the constraints.

    Attributes
    ----------
    adaptive : whether the length of steps follows the error.
    error : what an evaluation raised, on every rank; it must not cross PETSc.
    evaluations : number of right-hand sides.
    """

    def __init__(
        self, accelerations: Accelerations, stabilisation: Stabilisation | None, kind: str
    ) -> None:
        self.accelerations, self.stabilisation, self.kind = accelerations, stabilisation, kind
        self.motion, self.newton = accelerations.motion, accelerations.newton
        numbering = self.motion.system.numbering
        order = numbering.coordinate_of_row
        free = numbering.fixed_by[order] < 0
        self._second = np.flatnonzero(self.motion.second[order] & free)
        self._first = np.flatnonzero(self.motion.first[order] & free)
        self._states: Array = np.zeros(len(self._first))  # largest so far
        self._natural: Array = np.zeros(0)  # sizes of rows
        self._sizes = np.cumsum([0, len(self._second), len(self._first), len(self._second)])
        self._x: Array = np.zeros(numbering.rows)
        self._known: tuple[float, Array] | None = None
        self._accepted: tuple[float, Array] | None = None
        self.error: BaseException | None = None
        self.iterations = self.linear_iterations = self.rejections = self.evaluations = 0
        self.asked = self.last_step = 0.0
        self.longest = math.inf
        self._ahead: Ahead | None = None
        self.adaptive = True
        self.calm = 0
        self.window = 1e-3
        self.rtol, self.atol = 1e-6, np.zeros(0)  # of each row
        self.relative = True  # whether `atol` is by default
        self.duration = 1.0  # of the call
        self._begun, self._count = 0.0, 0  # steps since then, for their mean length
        self._suited: Stabilisation | None = None
        self._constraints: Array = np.zeros(0)  # sizes

    # ---- as all integrators ---------------------------------------------------------------------
    def attach(self, ts: PETSc.TS) -> None:
        """Give the right-hand side to a TS."""
        self.ts = ts
        ts.setType(self.kind)
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

    def begin(self, ts: PETSc.TS, to: float, adaptive: bool | None) -> None:
        """Prepare for a motion to a time (collective).

        Accelerations and multipliers are those of the present state then.
        """
        self.error = None
        self._begun, self._count = ts.getTime(), 0
        self.window = self.accelerations.kinematics.window = max(self.asked, 1e-3 * self.duration)
        self._rejected = ts.getStepRejections()
        self.accelerations.kinematics.refresh()
        if self.stabilisation is not None:
            self._constraints = self.accelerations.sizes()
        self._suit()
        self._states = np.zeros(len(self._first))
        self._natural = self.newton.balance.tolerances(1.0, None)
        self._limits = self.vector()
        adapt = ctypes.c_void_p()
        kind = Options(ts.getOptionsPrefix() or "", {}).choice("ts_adapt_type")
        kind = kind or ("none" if adaptive is False else "basic")
        functions.TSGetAdapt(ctypes.c_void_p(ts.handle), ctypes.byref(adapt))
        functions.TSAdaptSetType(adapt, kind.encode())
        self.adaptive = kind != "none"
        self._ahead = Ahead(self.motion, self.asked) if self.adaptive else None
        self.resume(ts)
        self._tolerate(ts)

    def _tolerate(self, ts: PETSc.TS) -> None:
        """Give TS the tolerances of the next step (collective)."""
        self._limits.setArray(self.limits())
        ts.setTolerances(self.rtol, self._limits)

    def started(self) -> None:
        """Take the initial values."""

    def balanced(self, h: float) -> bool:
        """Tell whether accelerations fit the loads: here they are found anew at each time."""
        return True

    def snapshot(self) -> State:
        """Return the present state as a value."""
        return self.motion.snapshot(method={"last_step": self.last_step})

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot`; loads stay (collective)."""
        self.motion.restore(state)
        self.last_step = float(state.method["last_step"])

    # ---- the vector of TS -----------------------------------------------------------------------
    def write(self, U: PETSc.Vec) -> None:
        """Write the present state and rates into a vector of TS."""
        U.setArray(self.values())

    def values(self) -> Array:
        """Return the present state and rates in the order of TS's vector (this rank's part)."""
        to_rows = self.newton.numbering.to_rows
        state, rate = to_rows(self.motion.state), to_rows(self.motion.rate)
        return np.concatenate([state[self._second], state[self._first], rate[self._second]])

    def limits(self) -> Array:
        """Return absolute tolerances in the order of TS's vector (this rank's part; collective).

        Those of rates are those of positions times the speed, in sizes of the parts: that of the
        fastest coordinate now, at least one size in `LONG` steps or the whole call. States of first
        order have units that nobody knows, and are measured by themselves and by what their rates
        make of them until then.
        """
        q, s = self.atol[self._second], self.atol[self._first]
        if self.relative:
            self._states = np.maximum(self._states, self._largest_states())
            noise = NOISE * self.newton.size * self.duration  # of integrals of lengths, mostly
            s = np.maximum(self.rtol * self._states, noise)
        rate = np.abs(self.newton.numbering.to_rows(self.motion.rate)) / self._natural
        speed = self.newton.largest(float(rate[self._second].max(initial=0.0)))
        slow = 1.0 / max(self.duration, LONG * self.asked)
        return np.concatenate([q, s, q * max(speed, slow)])

    def _largest_states(self) -> Array:
        """Return the size of states of first order, of this rank's rows."""
        to_rows = self.newton.numbering.to_rows
        now, rate = to_rows(self.motion.state), to_rows(self.motion.rate)
        return np.maximum(np.abs(now), self.duration * np.abs(rate))[self._first]

    def _suit(self) -> None:
        """Let the stabilisation suit the steps so far; the one asked for is among them."""
        if self.stabilisation is not None:
            passed = self.motion.system.time - self._begun + self.asked
            h = passed / (self._count + 1)
            self._suited = self.stabilisation.suited(h, self._constraints)

    def take(self, values: Array) -> None:
        """Take state and rates; multipliers become zero (collective)."""
        q, s, v = (values[a:b] for a, b in zip(self._sizes, self._sizes[1:], strict=False))
        newton, m, x = self.newton, self.motion, self._x
        self._known = None  # accelerations and multipliers are no longer those of the state
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
        if not self._is_known(t, values):
            self._known = None
            self.evaluations += 1
            with np.errstate(all="ignore"):
                finite = bool(np.isfinite(values).all() and np.abs(values).max(initial=0.0) < HUGE)
            if not self._everywhere(finite):
                return None
            self.take(values)
            m = self.motion
            m.system.revise(t)
            m.prescribe(t, self.window)
            if self.accelerations.find(self._suited):
                return None
            self._known = t, values.copy()
        to_rows = self.newton.numbering.to_rows
        rate, acceleration = to_rows(self.motion.rate), to_rows(self.motion.acceleration)
        found = rate[self._second], rate[self._first], acceleration[self._second]
        return np.asarray(np.concatenate(found))

    def _everywhere(self, here: bool) -> bool:
        comm = self.newton.comm
        return bool(here if comm.size == 1 else comm.allreduce(int(here)) == comm.size)

    def _is_known(self, t: float, values: Array) -> bool:
        if self._known is None:
            return False
        time, known = self._known
        # the last stage of a method that is "first same as last" differs by round-off
        near = abs(t - time) <= ROUND_OFF * max(abs(t), abs(time))
        same = near and (np.abs(known - values) <= ROUND_OFF * np.abs(values)).all()
        return self._everywhere(same)

    def _function(self, ts: PETSc.TS, t: float, U: PETSc.Vec, F: PETSc.Vec) -> None:
        if self.error is None:
            try:
                rates = self.rates(t, U.getArray(readonly=True))
                if rates is None:
                    F.set(HUGE)
                else:
                    F.setArray(rates)
                return
            except BaseException as error:
                self.error = error
        F.set(0.0)
        ts.setConvergedReason(PETSc.TS.ConvergedReason.CONVERGED_USER)

    # ---- steps ----------------------------------------------------------------------------------
    def advance(self, ts: PETSc.TS) -> None:
        """Make one step of TS.

        Raises
        ------
        ConvergenceError : none was found, or the state is outside of a law's domain.
        Exception : what a user's function raised.
        """
        self._before = self.snapshot()
        self._tolerate(ts)
        t, to = ts.getTime(), ts.getMaxTime()
        h = min(ts.getTimeStep() if self.adaptive else self.asked, self.longest)
        h = h if to - t > STRETCH * h else to - t
        ts.setTimeStep(h if self._ahead is None else self._ahead.limit(t, h))
        self._step(ts)
        if to - ts.getTime() <= 2.0 * ROUND_OFF * max(abs(to), abs(t)):
            ts.setTime(to)
        self._take(ts)
        self._next = ts.getTimeStep() if ts.getTime() < to else self.last_step
        if ts.getTime() >= to:  # the last step may be any short: go on as at the beginning
            ts.setTimeStep(max(ts.getTimeStep(), self.asked))

    def _step(self, ts: PETSc.TS) -> None:
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

    def _take(self, ts: PETSc.TS) -> None:
        """Take the end of a step of TS as the motion's."""
        U = ts.getSolution()
        projected = self.accept(ts.getTime(), U.getArray(readonly=True).copy())
        if projected is not None:
            U.setArray(projected)
            ts.restartStep()
        self.last_step = ts.getTime() - self._before.time

    def accept(self, t: float, values: Array) -> Array | None:
        """Take an accepted state as the motion's; return it if it was projected (collective).

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
            raise self._failure(f"the step to t = {t:g} has no solution", t)
        self.motion.system.time = t  # not the time of a last stage, which may differ by round-off
        self._count += 1
        self._suit()
        self._accepted = t, values.copy()
        return projected

    def _failure(self, text: str, t: float) -> ConvergenceError:
        """Return the error of a state without rates, with likely causes (collective)."""
        error = ConvergenceError(text, reason="DOMAIN", time=t)
        m, before = self.motion, self._accepted
        outside = m.state.copy()
        if before is not None:
            self.take(before[1])
            m.system.time = before[0]
        h, to = self.asked, m.span[1]
        return explained(m, error, to=to, step=h, outside=outside, explicit=True)

    def give_up(self) -> None:
        """Go back to the last state that was accepted."""
        if self._accepted is not None:
            t, values = self._accepted
            self._known = None
            self.take(values)
            self.motion.system.time = t

    # ---- events ---------------------------------------------------------------------------------
    def interval(self) -> Interval:
        """Return the last step."""
        return Interval(self.motion, self._before, self.snapshot(), True)

    def within(self) -> tuple[float, ...]:
        """Return parts of a step where its work needs the motion to have the method's order."""
        low = self.kind != "rk" or self.ts.getRKType() in LOW
        return (0.5,) if low else (0.25, 0.5, 0.75)

    def visit(self, look: Callable[[], None], solved: bool) -> None:
        """Call a function within the last step (collective).

        `solved`: accelerations, multipliers and what follows from the others are found there.
        """
        whole, known, system = self.interval(), self._known, self.motion.system
        for s in self.within():
            whole.show(whole.time(s))
            system.revise(whole.time(s))
            self.motion.prescribe(whole.time(s), self.window)
            if solved:
                self.accelerations.find(self._suited)
            look()
        self.motion.go_to(whole.end)
        self._known = known

    def land(self, t: float, whole: Interval) -> None:
        """Make a step anew so that it ends at t (collective)."""
        self._go(whole.end if t >= whole.end.time else whole.begin)
        if whole.begin.time < t < whole.end.time:
            self._stride(t)
        self.ts.setTimeStep(self._next if self.adaptive else self.asked)

    def _go(self, end: State) -> None:
        """Go to an end of a step."""
        self.motion.go_to(end)
        self.resume(self.ts)

    def _stride(self, t: float) -> None:
        """Go to a time by steps of TS."""
        ts = self.ts
        while ts.getTime() < t:
            before = ts.getTime()
            ts.setTimeStep(t - before)
            self._step(ts)
            if ts.getTime() == before or t - ts.getTime() <= ROUND_OFF * abs(t):
                ts.setTime(t)
        self._take(ts)

    def resume(self, ts: PETSc.TS) -> None:
        """Go on from the present motion, with its accelerations and multipliers (collective).

        Raises
        ------
        ConvergenceError : the state is outside of a law's domain.
        """
        t, values, self._known = self.motion.system.time, self.values(), None
        if self.rates(t, values) is None:
            raise self._failure(f"the state at t = {t:g} is outside of the domain of a law", t)
        self._accepted = t, values
        ts.getSolution().setArray(values)
        ts.setTime(t)
        ts.restartStep()

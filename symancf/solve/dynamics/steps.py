# SPDX-License-Identifier: BSD-3-Clause
"""Steps of time: one after the other, or many at once where nobody looks at them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from mpi4py import MPI

from ...assembly.agreement import agreed, times_between
from ...assembly.state import StatesOfSteps
from ...errors import ConvergenceError, ParameterError
from ...output.steps import Step
from ...runtime.collective import together
from ...runtime.petsc import PETSc
from ...values import arguments
from ...values.dependence import share_objects
from ...values.parameter import label
from ..contradiction import require_redundant
from .generalized_alpha import GeneralizedAlpha
from .initial import find_initial_values
from .instants import Instants, rows_of_motions
from .monitors import Observed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array, Ints
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.state import State
    from ...output.history import History
    from ...output.restart import Restarts, Saved
    from ...runtime.interruption import Interruption
    from ...runtime.options import SolverOptions
    from ...runtime.progress import Progress
    from ..gradients.trace import Trace
    from .accelerations import Accelerations
    from .energy import Audit, Energies
    from .events import Event, Events
    from .integrator import Integrator
    from .interval import Interval
    from .motion import EquationsOfMotion
    from .newton import Newton
    from .relaxation import Relaxation
    from .supports import MovingSupports


class Moving(Protocol):
    """What steps take of a `DynamicProblem`: its parts, and how far its motion is."""

    history: History
    steps: int
    _system: DiscreteSystem
    _motion: EquationsOfMotion
    _newton: Newton
    _accelerations: Accelerations
    _integrator: Integrator
    _audit: Audit
    _supports: MovingSupports | None
    _events: Events | None
    _relaxation: Relaxation | None
    _monitors: list[Callable[[Step], None]]
    _progress: Progress
    _interruption: Interruption
    _prefix: str
    _started: bool
    _adds_up: bool
    _energies: Energies | None
    _last_state: State
    _trace: Trace | None
    _given_rates: Array | None
    _ended_by: Event | None

    @property
    def state(self) -> State:
        """The present state as a value."""

    def initialize(self, step: float) -> None:
        """Find consistent rates, accelerations and multipliers."""

    def _lead(self, step: float) -> None:
        """Let forces follow this motion."""

    def _take(self, state: State) -> None:
        """Take a state; loads stay."""

    def _measure(self) -> None:
        """Take the energies."""

    def _repeat(
        self, restart: State, last: int, keeps: bool
    ) -> tuple[list[Sequence[State]], State]:
        """Repeat steps from a restart point."""


class Requested(NamedTuple):
    """Arguments of `DynamicProblem.solve`, looked at; `stops` ascending, `to` the last one."""

    to: float
    step: float
    adaptive: bool | None
    rtol: float
    atol: float | None
    longest: float
    stops: tuple[float, ...]

    @property
    def as_json(self) -> dict[str, Any]:
        """Return them as JSON has them: those of a run that goes on have to be the same."""
        own = {"longest": None if math.isinf(self.longest) else self.longest}
        return {**self._asdict(), **own, "stops": list(self.stops)}

    def next(self, time: float) -> float:
        """Return the first time after another one at which a step has to end."""
        return next((stop for stop in self.stops if stop > time), self.to)

    def span(self, start: float, time: float) -> tuple[float, float]:
        """Return the stops around a time, between which functions of time have no kinks."""
        begin = max([start, *(stop for stop in self.stops if stop <= time)])
        return begin, max(self.next(time), begin + self.step)


def _over(options: SolverOptions, name: str, value: Any) -> Any:
    """Return the number of an option, which goes before what is given."""
    text = options.choice(name)
    if text is None:
        return value
    try:
        return float(text)
    except ValueError as error:
        raise ParameterError(f"-{name} {text}: give a number", asked=name, given=text) from error


def requested(
    system: DiscreteSystem,
    options: SolverOptions,
    to: Any,
    step: Any,
    adaptive: Any,
    rtol: Any,
    atol: Any,
    longest: Any,
    stops: Any,
) -> Requested:
    """Return arguments of `DynamicProblem.solve` (collective).

    ``-ts_rtol`` and ``-ts_atol`` go before those tolerances, of the problem's `options`.

    Raises
    ------
    ParameterError : one of them is not possible.
    """
    to = agreed(system.comm, "to", arguments.number("solve", "to", to, "be a finite time"))
    if to < system.time:
        raise ParameterError(
            f"solve(to={to:g}): the time is {system.time:g} already", asked="to", given=to
        )
    step = agreed(system.comm, "step", arguments.step("solve", step, system.time, to))
    rtol, atol = _over(options, "ts_rtol", rtol), _over(options, "ts_atol", atol)
    rtol = arguments.positive("solve", "rtol", rtol)
    if atol is not None:
        atol = arguments.number("solve", "atol", atol, "be 0 or more", lambda x: x >= 0.0)
    if adaptive is not None and not isinstance(adaptive, bool):
        raise ParameterError(f"solve(adaptive=...) is {label(adaptive)}: give True or False")
    most = math.inf
    if longest is not None:
        most = agreed(system.comm, "longest", arguments.positive("solve", "longest", longest))
    ends = times_between(system.comm, "solve", stops, system.time, to)
    return Requested(to, min(step, most), adaptive, rtol, atol, most, ends)


class TimeSteps:
    """The steps of one call of `DynamicProblem.solve`, see `march`.

    An `Integrator` makes them. A step in which a function of an event has a zero is made anew to
    end there; at stops, and where an action has changed something, accelerations and multipliers
    are made consistent.

    Parameters
    ----------
    request : arguments of the call.
    restarts : its restart points in a file.

    Attributes
    ----------
    begun : time and number of steps at the beginning of the call, `rejections` likewise.
    every : steps from one restart point to the next, in a file or in a trace; 0: there are none.
    """

    def __init__(self, problem: Moving, request: Requested, restarts: Restarts | None) -> None:
        self.problem, self.system, self.history = problem, problem._system, problem.history
        self.events, self.monitors, self.trace = problem._events, problem._monitors, problem._trace
        self.progress = problem._progress
        integrator = self.integrator = problem._integrator
        self.ts = integrator.ts
        self.snapshot, self.restore, self.shorten = (
            integrator.snapshot,
            integrator.restore,
            integrator.shorten,
        )
        self.request, self.restarts = request, restarts
        self.every = 0 if restarts is None else restarts.every
        self.begun = self.system.time, problem.steps
        self.rejections = integrator.rejections
        self.done, self.records = request.to <= self.system.time, True
        self._fresh = True  # the next attempt is the first one at a step
        self._resumed = False  # from a restart point
        self._together: list[Step] = []  # steps that were made at once
        self._thrown: BaseException | None = None  # after them, or while events were looked for
        self._happened: list[Event] = []  # at the end of the step
        self._restart: State | None = None  # at the end of the step, for a trace
        self._interval: Interval  # the step, before it was made anew to end there

    # ---- the beginning --------------------------------------------------------------------------
    def begin(self, saved: Saved | None) -> None:
        """Find where steps begin: a restart point, the present motion, or initial values."""
        problem, integrator, request, system = (
            self.problem,
            self.integrator,
            self.request,
            self.system,
        )
        step, to = request.step, request.to
        if self.trace is not None and saved is None:
            system.renew_rate()
            problem._given_rates = system.rate[: system.numbering.owned].copy()
        integrator.step_length, integrator.longest, integrator.rtol = (
            step,
            request.longest,
            request.rtol,
        )
        if saved is not None:
            self._go_on(saved)
        elif problem._started:
            problem._lead(step)
            reconcile(problem, problem._last_state, step)
        else:
            problem.initialize(step)
        problem._motion.span = request.span(self.begun[0], system.time)
        integrator.duration = max(to - self.begun[0], step)
        integrator.atol = problem._newton.balance.tolerances(request.rtol, request.atol)
        integrator.relative = request.atol is None
        ts, now = self.ts, system.time
        ts.setStepNumber(0)
        at_stop = saved is not None and now in request.stops  # with what `_pass_stop` does
        integrator.end = now if at_stop else request.next(now)
        integrator.next_step = min(step, to - now) if to > now else step
        integrator.begin(request.adaptive)
        integrator.show(0)
        if saved is not None:
            self._forget(*saved.state.method["ts"])

    def open(self) -> None:
        """Show the beginning to who looks at steps, if there are some to be made."""
        problem, now = self.problem, self.system.time
        if self.trace is not None:
            self.every = self.trace.begin(self.snapshot(), self.system.comm, problem._repeat)
        if self.done:
            return
        if not self._resumed:
            problem._energies = problem._audit.measure(jumped=True)
            if not len(self.history.time):
                self.history.sample(now)
            self._observe(Step(now, 0, 0, {}))
            if self.events is not None:
                self.events.begin()
        if self.trace is not None and self.every:
            self.trace.rest(self._restart_state())
            self._forget(self.integrator.next_step, self.ts.getStepNumber())
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Find what is known before steps, and which of them nobody looks at (collective)."""
        problem, now = self.problem, self.system.time
        made, ahead = self.integrator, False  # whether functions of time are known before a step
        if isinstance(made, GeneralizedAlpha):
            ahead = made.timetable is None or made.timetable.look(problem._audit.parts)
        self.watched = self._is_watched(ahead)
        self._rows = rows_of_motions(self.system, self.trace)
        self._motions: Array | None = None  # of steps that were made at once, for a trace
        self.instants: Instants | None = None
        # they may be functions of what laws remember, which C has of its last step alone
        calls = not all(hasattr(function, "along") for function in self.history.called)
        self._remembers = bool(self.system.memory) and calls
        if isinstance(made, GeneralizedAlpha) and ahead and self._may_record_later(made):
            self.instants = Instants(made, problem._audit, self._rows, self._show_number)
        if (end := self.request.next(now)) != self.integrator.end:
            self._pass_stop(end)

    def _may_record_later(self, method: GeneralizedAlpha) -> bool:
        """Tell whether recorded functions may be called after many steps, with the motion of each.

        Functions of time must not read what these change.
        """
        called, table, comm = self.history.called, method.timetable, self.system.comm
        may = bool(called) and (table is None or not share_objects(table.functions, called))
        return may if comm.size == 1 else bool(comm.allreduce(may, MPI.LAND))

    def _go_on(self, saved: Saved) -> None:
        """Go to a restart point (collective)."""
        problem, method = self.problem, saved.state.method
        self._resumed = True
        problem._take(saved.state)
        if self.events is not None:
            self.events.put_back(method.get("events so far", []))
        if problem._relaxation is not None:
            problem._relaxation.largest = float(method["largest relaxing force"])
        time, steps = method["begun"]
        self.begun, self.done = (time, steps), saved.done or self.system.time >= self.request.to
        self.rejections = self.integrator.rejections - int(method["rejected"])
        problem._motion.lead()
        self._load()
        problem._energies, problem._started = problem._audit.stand(), True
        problem._newton.balance.begin()  # tolerances of steps are in its sizes
        if self.restarts is not None:
            self.restarts.resume(saved)

    def _is_watched(self, ahead: bool) -> bool:
        """Tell whether somebody looks at each step, on whatever rank (collective).

        `ahead`: functions of time are known before a step.
        """
        problem = self.problem
        is_watched = self.monitors or self.ts.getMonitor() or self.progress.tells_each
        supports = problem._supports
        watches = supports is not None and supports.watches and not ahead
        prefix = f"{problem._prefix}ts_monitor"
        has_monitor = any(name.startswith(prefix) for name in PETSc.Options().getAll())
        here = bool(
            is_watched or self.events or watches or has_monitor or self.system.redundant.some
        )
        comm = self.system.comm
        return here if comm.size == 1 else bool(comm.allreduce(here, MPI.LOR))

    # ---- for `march` ----------------------------------------------------------------------------
    def attempt(self, state: State) -> Step | ConvergenceError:
        """Try a step, or make those that nobody looks at."""
        integrator = self.integrator
        self.problem._energies = None
        self._together = []
        if self._fresh:
            integrator.before = state
            if not self.watched and self._several():
                return self._together[-1]
            self._fresh = False
            integrator.iterations = integrator.linear_iterations = 0
            integrator.open(integrator.end - state.time)
        return integrator.step(integrator.next_step)

    def _several(self, most: int = 10_000) -> bool:
        """Make steps in one call of C, until the history is due; tell whether there are some.

        C can do so where it makes the iterations (`Native`), steps have one length, and nothing
        has to be looked at between them but powers: history-dependent laws, changing masses. Where
        the next step has no solution at full length, it is made by itself. At most `most` are made,
        of which each takes some memory.
        """
        integrator, audit, native = (
            self.integrator,
            self.problem._audit,
            self.problem._newton.native,
        )
        if not isinstance(integrator, GeneralizedAlpha) or not audit.simple:
            return False
        system, traced = self.system, self.trace is not None
        if traced and (not self._rows or system.memory or system.state_variables):
            return False  # a trace has those of all steps
        wanted, due = self._wanted(min(most, self._rows) if traced else most)
        if wanted < 2 or not integrator.is_steady():
            return False
        self._motions = np.empty((wanted, 4, len(system.state))) if traced else None
        native.problem.give(traced=self._motions)
        if self.instants is not None:
            self.instants.begin(due)
        self._make(integrator, wanted)
        if self.instants is not None:
            self.instants.end(self._together)
        return bool(self._together)

    def _make(self, integrator: GeneralizedAlpha, wanted: int) -> None:
        """Make steps in one call of C, and watch supports at their ends."""
        audit, native = self.problem._audit, self.problem._newton.native
        supports, table = self.problem._supports, integrator.timetable
        watched = supports if supports is not None and supports.watches else None
        self._together, self._thrown = integrator.several(wanted, bool(watched), audit.lend(native))
        audit.take_back(native)
        if watched is not None and table is not None and self._together:
            watched.watch_steps(*table.courses(len(self._together)))
        if self._thrown is not None and not self._together:
            raise self._thrown

    def _wanted(self, most: int) -> tuple[int, Ints]:
        """Return how many steps C is to make, and after which of them the motion is wanted."""
        rest = self.integrator.end - self.system.time
        most = min(most, int(rest / self.integrator.step_length) + 2)
        wanted, due = most, self.history.due(most)
        if self.every:
            wanted = min(wanted, self._steps_to_restart())
        room = 0 if self.instants is None else self._rows
        if len(due) > room:
            wanted, due = min(wanted, int(due[room]) - 1), due[:room]
        if len(due) and self._remembers:
            wanted = min(wanted, int(due[0]))
        if (look := self.problem._relaxation) is not None:  # such a step is made by itself
            wanted = min(wanted, look.until_look(self.problem.steps + 1))
        return wanted, due[due <= wanted]

    def accept(self, step: Step) -> None:
        """End a step at the present state, or at the first event in it."""
        problem, integrator = self.problem, self.integrator
        self.progress.clear()
        self._fresh, self._happened = True, []
        if self._together:
            self._before = problem.steps
            self._record_together()
            problem.steps += len(self._together)
            return
        if problem._supports is not None and problem._supports.watches:
            problem._supports.watch(integrator.interval())
        if self.events is not None:
            interval = self._interval = integrator.interval()
            try:
                self._happened = self.events.find(integrator, interval)
            except Exception as error:  # the step stands
                self._thrown = error
                integrator.land(interval.end.time, interval)
            integrator.show(0)
        self.system.accept()
        problem.steps += 1
        self._look()

    def _look(self) -> None:
        """Look at what has relaxed in the last step, with steps that follow errors in each."""
        problem, integrator = self.problem, self.integrator
        look = problem._relaxation
        if look is not None and (integrator.adaptive or not look.until_look(problem.steps)):
            assert integrator.before is not None
            change = look.look(integrator.before)
            if integrator.adaptive:
                integrator.next_step = min(integrator.next_step, change * integrator.attempt)

    def _record_together(self) -> None:
        """Note steps that C has made, and what is recorded at some of them.

        Where a function fails, or changes the motion, later steps are as if they were not made.
        """
        instants, stays = self.instants, True
        try:
            stays = self.history.keep(self._together, instants)
            self._thrown = None if stays else self._thrown
        except BaseException as error:
            self._thrown = error
        if instants is not None and stays:
            self._together, self.problem._energies = instants.stay()
            self.instants = None  # the next ones are made one by one
        elif instants is not None:
            instants.leave()

    def _show_number(self, number: int) -> None:
        """Let the problem have made so many of the steps that C has made."""
        self.problem.steps, self.problem._energies = self._before + number, None

    def record(self) -> None:
        """Note the step in the history, show it, and do what is due at its end.

        A trace has it whatever is raised there, on every rank.
        """
        try:
            self._end()
        finally:
            if self.trace is not None:
                self._extend(self.trace)

    def _end(self) -> None:
        """Do what is due at the end of a step."""
        problem, integrator = self.problem, self.integrator
        if self._happened:
            self._act()
        last = Step(self.system.time, integrator.iterations, integrator.linear_iterations, {})
        count = len(self._together) or 1
        integrator.show(count)
        if problem._adds_up:
            problem._measure()
        if not self._together:
            self.history.steps.append(last)
            self.history.sample(last.time)
            self._observe(last)
        self.progress.step(last.time, last.iterations, last.linear_iterations, count)
        if self._thrown is not None:
            raise self._thrown
        self.done = self._ends()
        try:
            problem._interruption.check()
        except BaseException:
            if self.restarts is not None:
                self.restarts.stop(self._restart_state, self.done)
            raise
        if self.done:
            problem._measure()
        if self.every:
            self._rest()
        if self._goes_on() and (end := self.request.next(self.system.time)) != self.integrator.end:
            self._pass_stop(end)

    def _ends(self) -> bool:
        """Tell whether the last step has been made."""
        return self.problem._ended_by is not None or self.system.time >= self.request.to

    def _goes_on(self) -> bool:
        """Tell whether the motion goes on after the last step."""
        return not self.done

    def _extend(self, trace: Trace) -> None:
        """Give a trace the states of the last steps (collective)."""
        trace.extend(self._states(), self.system.comm)
        restart, self._restart = self._restart, None
        if restart is not None and not self.done:
            trace.rest(restart, self.snapshot())

    def _states(self) -> Sequence[State]:
        """Return the states at the ends of the last steps."""
        now, made = self.snapshot(), self._together
        if not made or self._motions is None:
            return (now,)
        every, self._motions = self._motions, None
        motions = every[: len(made)]
        motions = motions if len(made) == len(every) else motions.copy()
        m, table = self.integrator.motion, getattr(self.integrator, "timetable", None)
        motions[-1] = m.state, m.rate, m.acceleration, self.integrator.vectors["auxiliary"]
        functions = None if table is None else table.rows(len(made))
        times = np.array([step.time for step in made])
        return StatesOfSteps(now, times, motions, functions)

    # ---- who looks at a step --------------------------------------------------------------------
    def _observe(self, step: Step) -> None:
        """Show a new state to the user's functions and PETSc's monitors."""
        problem = self.problem
        if self.system.redundant.some:
            require_redundant(self.system)
        self.ts.monitor(self.ts.getStepNumber(), self.system.time)
        if self.monitors or self.ts.getMonitor() or self.system.comm.size > 1:
            with together(self.system.comm):
                for monitor in self.monitors:
                    monitor(Observed(step, problem))
            self._require_time(step.time, "a monitor")
        if problem._audit.changed():
            self.integrator.reconsider()
            problem._energies = problem._audit.watch()

    def _require_time(self, time: float, who: str) -> None:
        """Require that the time is what it was before a user's function (collective)."""
        if others := [now for now in self.system.comm.allgather(self.system.time) if now != time]:
            self.system.time = time
            raise ParameterError(
                f"{who} has set system.time from {time:g} to {others[0]:g}: the time is "
                "advanced by the steps; set it between two calls of solve",
                asked="time",
                given=others[0],
                possible=(time,),
            )

    def _act(self) -> None:
        """Note events, call their actions, and make consistent what these have changed."""
        problem, time = self.problem, self.system.time
        interval = self._interval
        assert self.events is not None
        problem._ended_by = next((event for event in self._happened if event.terminate), None)
        actions = self.events.note(self._happened, time, interval.begin.time, interval.length)
        if not actions:
            return
        problem._audit.measure()
        before = self.integrator.snapshot()
        with together(self.system.comm):  # actions may communicate, if all ranks do
            for action in actions:
                action()
        self._require_time(time, "an event's action")
        problem._motion.lead()
        self._change(before, self.integrator.step_length)
        self.events.begin()

    # ---- what changes from outside --------------------------------------------------------------
    def _pass_stop(self, end: float) -> None:
        """Go on to another end, from a time at which functions of it may jump (collective)."""
        time, step = self.system.time, self.request.step
        self.problem._measure()
        self.integrator.end = end
        before = self.integrator.snapshot()
        self.problem._motion.span = time, max(end, time + step)
        self._change(before, step)

    def _change(self, before: State, step: float) -> None:
        """Go on from what has changed since a state (collective)."""
        problem = self.problem
        self.system.prescribe(self.system.time)
        reconcile(problem, before, step)
        self.integrator.resume()
        problem._energies = problem._audit.measure(jumped=True)

    # ---- restart points -------------------------------------------------------------------------
    def _steps_to_restart(self) -> int:
        """Return how many steps are left to the next restart point."""
        return self.every - (self.problem.steps - self.begun[1]) % self.every

    def _restart_state(self) -> State:
        """Return what the next step depends on, with what this call of `solve` has to know."""
        state, integrator = self.problem.state, self.integrator
        own = {
            "ts": [integrator.next_step, self.ts.getStepNumber()],
            "rejected": integrator.rejections - self.rejections,
            "begun": list(self.begun),
            "events so far": [] if self.events is None else self.events.times(),
        }
        if self.problem._relaxation is not None:
            own["largest relaxing force"] = self.problem._relaxation.largest
        return replace(state, method={**state.method, **own})

    def _rest(self) -> None:
        """End a step where a run may go on; every `every`-th one is a restart point."""
        rests = self._steps_to_restart() == self.every
        if self.restarts is not None:
            rests = rests or self.done
            self.restarts.step(self.done, rests, self._restart_state)
        elif rests:
            self._restart = self._restart_state()
        if rests:
            self._forget(self.integrator.next_step, self.ts.getStepNumber())

    def _load(self) -> None:
        """Take loads of the present time (collective).

        Supports stay: where a monitor has set what they prescribe, the next step goes there.
        """
        with together(self.system.comm):
            self.system.update(self.system.time)

    def _forget(self, step: float, number: int) -> None:
        """Forget all that earlier steps have left but the motion (collective).

        `step`, `number`: length of the next step, and number of the last one.
        """
        problem, system, integrator = self.problem, self.system, self.integrator
        problem._motion.lead()
        system.revise(system.time)
        self._load()
        problem._newton.snes.getKSP().reset()
        problem._accelerations.forget()
        problem._newton.begin()
        integrator.begin(self.request.adaptive)
        integrator.next_step = step
        self.ts.setStepNumber(number)
        integrator.show(0)


def reconcile(problem: Moving, before: State, step: float) -> None:
    """Make accelerations and multipliers those of what changed from outside (collective).

    Positions and rates that changed since a state have to fulfil the constraints, as at the
    beginning.
    """
    m, integrator, system = problem._motion, problem._integrator, problem._system
    numbering = system.numbering
    chosen = ((m.second | m.first) & (numbering.fixed_by < 0))[: numbering.owned]
    pairs = (m.state, before.displacement), (m.rate, before.rates[0])
    moved, turned = (
        bool(system.comm.allreduce(bool((a[: len(b)] != b)[chosen].any()))) for a, b in pairs
    )
    pushed = False
    if problem._supports is not None:
        jumps = problem._supports.jumps(before, step)
        moved, turned, pushed = moved or jumps[0], turned or jumps[1], jumps[2]
    if moved or turned:
        find_initial_values(problem._accelerations, step, positions=moved)
    elif pushed or not integrator.balanced(step):
        find_initial_values(problem._accelerations, step, positions=False, warns=False, jumped=True)
    else:
        return
    integrator.started()

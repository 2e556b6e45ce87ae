# SPDX-License-Identifier: BSD-3-Clause
"""Motions of constrained flexible systems by PETSc's TS."""

from __future__ import annotations

import math
import time as clock
import weakref
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from ...assembly.state import State
from ...errors import CheckpointError, ParameterError, SymancfError
from ...newton import AIDS, wanted
from ...output.checkpoint import read, write
from ...output.restart import Restarts
from ...output.steps import Step
from ...output.tracking import Watched, kept_by, made_of, monitored, record
from ...runtime.collective import together
from ...runtime.copies import OneProcess
from ...runtime.interruption import Interruption
from ...runtime.log import STAGES
from ...runtime.once import Once, warns_once
from ...runtime.options import Option, Options, complaint
from ...runtime.options import take as take_options
from ...runtime.petsc import PETSc, collect
from ...runtime.progress import Progress
from ...runtime.shown import Shown
from ...values import arguments
from ..contradiction import require_consistent, require_redundant
from ..solver import attach_rigid_modes, fitting, idle_options
from .accelerations import Accelerations
from .energy import Audit
from .events import Event, Events
from .explicit import Explicit
from .generalized_alpha import GeneralizedAlpha
from .initial import find_initial_values
from .methods import IMPLICIT, checked, chosen, defaults, integrator, used_by
from .motion import Motion, Rayleigh
from .native import MOST
from .newton import Newton
from .observed import Observed
from .requested import Requested, requested
from .supports import moving_supports

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ...arrays import Array
    from ...output.history import History
    from ...output.restart import Restart, Saved
    from ...system import System
    from .energy import Energies
    from .stabilise import Stabilisation

TOLERANCES = "ts_rtol", "ts_atol", "ts_adapt_clip", "ts_adapt_safety", "ts_adapt_dt_"


@dataclass
class _Call:
    """A call of `solve`: what is asked of it; time, steps and rejections at its beginning."""

    asked: Requested
    start: float
    steps: int
    rejections: int


class DynamicProblem(OneProcess, Shown):
    r"""Move a system: M a + C v + R(q, v, t) + Phi_q^T lambda = 0, Phi(q, t) = 0.

    ``method="generalized-alpha"`` of Arnold and Bruls, index 3: constraints hold at every time
    step to round-off, rates only to the order of the method; positions, rates and multipliers
    converge with order 2 at every time, also where the length of steps changes.

    ``method="rk"`` and other explicit methods, index 1: accelerations from M a + ... with
    Phi'' = 0, of high order in the step, which stability limits; constraints are held by a
    `stabilisation`.

    Parameters
    ----------
    system : its `state`, `rate` and `time` are where the motion starts and hold its present.
        After a static solution set ``system.time = 0.0``, if loads begin there.
    method : ``"generalized-alpha"``; Runge-Kutta methods of PETSc, ``"rk"`` (the same as
        ``"5dp"``, Dormand-Prince of order 5), ``"3bs"``, ``"8vr"``, ``"euler"``, ``"ssp"``;
        ``"adams"`` of SciPy, on one rank only. ``-ts_type``, ``-ts_rk_type`` go before it.
    stabilisation : `Baumgarte`, `Fuzzy`, `Projection` or None; of explicit methods.
    prefix : of all PETSc options of this problem, ``-beam_ts_adapt_type basic``.
    options : defaults of PETSc options without prefix; the command line wins.
    rho : spectral radius at infinite frequency, 0 (most damping) to 1 (none; does not suit
        constraints). ``-ts_alpha_radius`` goes before it.
    damping : `Rayleigh`.
    history : takes the steps, e.g. ``History(csv="run.csv", hdf5="run.h5")``.

    Attributes
    ----------
    ts, snes, J : petsc4py objects; the first use makes them (collective). TS's vector is
        [q, s, lambda, rates], of explicit methods [q, s, v]. Where `native`, no more than the
        linear solver of snes is at work.
    history : `History` of all steps; `record` adds series to it.
    acceleration : local vector.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> system = sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))])
    >>> fall = sa.DynamicProblem(system)
    >>> history = fall.solve(to=1.0, step=0.25)
    >>> round(float(system.displacement(ball.at((0.0, 0.0, 0.0)))[0, 2]), 6)
    -5.0
    """

    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: Mapping[str, Option] | None = None,
        rho: float = 0.9,
        damping: Rayleigh | None = None,
        history: History | None = None,
        method: str = IMPLICIT,
        stabilisation: Stabilisation | None = None,
    ) -> None:
        if damping is not None:
            remedy = "give sa.Rayleigh(mass=..., stiffness=...)"
            arguments.instance("DynamicProblem(damping=...)", damping, Rayleigh, remedy)
        self.system, self.damping = made_of("DynamicProblem", system), damping
        self.once = Once(system.comm)
        self.prefix = arguments.text("DynamicProblem(prefix=...)", prefix)
        self.rho = arguments.number(
            "DynamicProblem", "rho", rho, "be between 0 and 1", lambda x: 0.0 <= x <= 1.0
        )
        self.method, self.stabilisation = checked(method, stabilisation), stabilisation
        self.history = kept_by("DynamicProblem", history)
        self.history.comm = system.comm
        self._options = Options(
            self.prefix, arguments.options("DynamicProblem(options=...)", options)
        )
        self._monitors: list[Callable[[Step], None]] = []
        self.events: Events | None = None  # see `event`
        self._ready = self._started = self._moving = False
        self._interruption = Interruption(system.comm, self.history.reached)
        self._progress = Progress(system.comm, self._options)
        self._energies: Energies | None = None
        self.steps = 0
        self.scaled_for = math.inf
        self._first: State | None = None

    def headline(self) -> str:
        """Return the method, the system and how far it is."""
        steps = f"{self.steps} step{'s' * (self.steps != 1)}"
        return f"DynamicProblem by {self.method}, {steps}, {self.system.headline()}"

    def facts(self) -> Sequence[Sequence[str]]:
        """Return the members of the system."""
        return self.system.facts()

    # ---- objects of PETSc -----------------------------------------------------------------------
    def _made(self) -> Self:
        """Return itself with all objects of PETSc, which the first call makes (collective)."""
        if "audit" not in vars(self):  # the last of them
            with self._options:
                self._prepare()
        return self

    @property
    def ts(self) -> PETSc.TS:
        """PETSc's time stepper."""
        return self._made()._ts

    @property
    def snes(self) -> PETSc.SNES:
        """PETSc's solver of a step."""
        return self._made().newton.snes

    @property
    def J(self) -> PETSc.Mat:
        """The tangent of a step."""
        return self._made().newton.J

    @property
    def acceleration(self) -> Array:
        """Local vector."""
        return self._made().motion.acceleration

    def _prepare(self) -> None:
        """Make the objects of PETSc and those that work with them, once (collective)."""
        if self._ready:
            return
        system = self.system
        collect(system.comm)
        self.motion = Motion(system, self.damping)
        self.supports = moving_supports(self.motion)
        self._ts = PETSc.TS().create(system.comm)
        # PETSc destroys what is left after Python is gone, and would call the context then
        weakref.finalize(self, self._ts.setType, PETSc.TS.Type.BEULER)
        self._ts.setOptionsPrefix(self.prefix)
        snes = self._ts.getSNES()
        uses = wanted(self._options) if self._options.choice("aids") else AIDS
        self.newton = Newton(self.motion, snes, uses)
        self.accelerations = Accelerations(self.motion, self.newton)
        method = chosen(self.method, self._options.choice("ts_type"))
        asked = self._options.choice("pc_type")
        self._options.refuse(f"method={method!r}", used_by(method))
        held = self._options.offer(fitting(defaults(system, method, asked), asked))
        if held.get("pc_type") == "gamg":
            attach_rigid_modes(system)
        self.integrator = integrator(method, self.accelerations, self.rho, self.stabilisation)
        self.integrator.attach(self._ts)
        self._ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
        take_options(self._ts)
        self._idle = idle_options(snes.getKSP())
        loose = self._options.choice("ksp_rtol")
        if loose is not None and method != IMPLICIT:
            self.accelerations.rtol = float(snes.getKSP().getTolerances()[0])
        self.newton.attach(self._options, self._progress.note)
        if self.integrator.error is not None:
            raise self.integrator.error
        self.U = self.integrator.vector()
        self._ts.setSolution(self.U)
        visit = self.integrator.visit if isinstance(self.integrator, Explicit) else None
        self.audit = Audit(self.motion, visit)
        # else energies are taken where somebody asks, who with several ranks may be one of them
        self._adds_up = not self.audit.closed or system.comm.size > 1
        self._ready = True

    # ---- the course of a motion -----------------------------------------------------------------
    def _march(self, asked: Requested, restarts: Restarts | None, resumed: bool) -> None:
        """Make steps until a time, or until an event ends the motion."""
        made, ts, ends, to = self.integrator, self._ts, False, asked.to
        if not resumed:
            self._energies = self.audit.measure(jumped=True)
            if not len(self.history.time):
                self.history.sample(self.system.time)
            self._observe(Step(self.system.time, 0, 0, {}))
            if self.events is not None:
                self.events.begin()
        watched = self._watched()
        while self.system.time < to and not ends:
            if (end := asked.next(self.system.time)) != ts.getMaxTime():
                self._pass_stop(end)
            self._energies = None
            found = [] if watched else self._several(restarts)
            if not found and made.error is None:
                step, ends = self._single()
                found = [step]
            if found:
                last = found[-1]
                self._progress.step(last.time, last.iterations, last.linear_iterations, len(found))
            if made.error is not None:
                raise made.error
            self._check(restarts)
            if not ends and self.system.time < to:
                self._rest(restarts)
        self._rest(restarts, done=True)

    def _single(self) -> tuple[Step, bool]:
        """Make one step and show it; return it, and whether an event ends the motion."""
        made, system, events, happened = self.integrator, self.system, self.events, list[Event]()
        made.advance(self._ts)
        self._progress.clear()
        self.steps += 1
        try:
            if self.supports is not None and self.supports.watches:
                self.supports.watch(made.interval())
            happened = events.find(made) if events is not None else []
        finally:
            system.accept()
        if events is not None:
            made.write(self.U)
            self._ts.setTime(system.time)
            self._act(events, happened)
        if self._adds_up:
            self.measure()
        step = Step(system.time, made.iterations, made.linear_iterations, {})
        self.history.steps.append(step)
        self.history.sample(step.time)
        self._observe(step)
        return step, any(event.terminate for event in happened)

    def _several(self, restarts: Restarts | None) -> list[Step]:
        """Make steps that nobody looks at in one call of C, until the history is due.

        C can do so where it makes the iterations (`Native`), steps have one length, and nothing
        has to be looked at between them but powers: laws that remember, mass that changes. What
        the next step raised is in the integrator's `error`; where that has no solution at full
        length, it is made by itself.
        """
        made, ts, audit = self.integrator, self._ts, self.audit
        most = MOST if restarts is None else self._left(restarts)
        wanted = min(self.history.undue, most, MOST)
        if wanted < 2 or not isinstance(made, GeneralizedAlpha) or not audit.simple:
            return []
        if not made.is_steady(ts):
            return []
        found = made.several(ts, wanted, audit.lend(self.newton.native))
        audit.take_back(self.newton.native)
        self.history.pass_over(found)
        if found:
            self._progress.clear()
            self.steps += len(found)
            if self._adds_up:
                self.measure()
        return found

    def _watched(self) -> bool:
        """Tell whether somebody looks at each step; with several ranks one of them may."""
        if self.system.comm.size > 1:
            return True
        asked = self._monitors or self._ts.getMonitor() or self._progress.tells_each
        watches = self.supports is not None and self.supports.watches
        looked_at = watches or len(self.system.redundant.left_out)
        given, prefix = PETSc.Options().getAll(), f"{self.prefix}ts_monitor"
        return bool(asked or self.events or looked_at or any(o.startswith(prefix) for o in given))

    def _observe(self, step: Step) -> None:
        """Show a new state to the user's functions and PETSc's monitors."""
        require_redundant(self.system)
        self._ts.monitor(self._ts.getStepNumber(), self.system.time)
        with together(self.system.comm):
            for monitor in self._monitors:
                monitor(Observed(step, self))
        self._require_time(step.time, "a monitor")
        self._energies = self.audit.watch() or self._energies

    def _require_time(self, time: float, who: str) -> None:
        """Require that the time is what it was before a user's function (collective)."""
        if others := [now for now in self.system.comm.allgather(self.system.time) if now != time]:
            self.system.time = time
            raise ParameterError(
                f"{who} has set system.time from {time:g} to {others[0]:g}: times of a motion are "
                "made by its steps; set it between two calls of solve",
                asked="time",
                given=others[0],
                possible=(time,),
            )

    def _act(self, events: Events, happened: list[Event]) -> None:
        """Call the actions of events, and make consistent what they have changed."""
        actions = [event.action for event in happened if event.action is not None]
        if not actions:
            return
        self.audit.measure()
        self._before = self.motion.snapshot()
        time = self.system.time
        with together(self.system.comm):  # actions may communicate, if all ranks do
            for action in actions:
                action()
        self._require_time(time, "an event's action")
        self.motion.lead()
        self.system.prescribe(time)
        self._reconcile(self.integrator.asked)
        self.integrator.resume(self._ts)
        self._energies = self.audit.measure(jumped=True)
        events.begin()

    # ---- what changes from outside ---------------------------------------------------------------
    def _pass_stop(self, end: float) -> None:
        """Go on to another end, from a time at which functions of it may jump (collective)."""
        time, step = self.system.time, self._call.asked.step
        self.measure()
        self._ts.setMaxTime(end)
        self._before = self.motion.snapshot()
        self.motion.span = time, max(end, time + step)
        self.system.prescribe(time)
        self._reconcile(step)
        self.integrator.resume(self._ts)
        self._energies = self.audit.measure(jumped=True)

    def _reconcile(self, step: float) -> None:
        """Make accelerations and multipliers those of what changed from outside (collective).

        Since `_before`. Positions and rates that changed have to fulfil the constraints, as at the
        beginning.
        """
        m, made, before = self.motion, self.integrator, self._before
        numbering = self.system.numbering
        chosen = ((m.second | m.first) & (numbering.fixed_by < 0))[: numbering.owned]
        pairs = (m.state, before.displacement), (m.rate, before.rates[0])
        moved, turned = (
            bool(self.system.comm.allreduce(bool((a[: len(b)] != b)[chosen].any())))
            for a, b in pairs
        )
        pushed = False
        if self.supports is not None:
            jumps = self.supports.jumps(before, step)
            moved, turned, pushed = moved or jumps[0], turned or jumps[1], jumps[2]
        if moved or turned:
            find_initial_values(self.accelerations, step, positions=moved)
        elif pushed or not made.balanced(step):
            find_initial_values(self.accelerations, step, positions=False, told=False, jumped=True)
        else:
            return
        made.started()

    # ---- energies -------------------------------------------------------------------------------
    def measure(self) -> None:
        """Take the energies, unless they have been taken (collective)."""
        self._energies = self._energies or self.audit.measure()

    @property
    def energies(self) -> Energies:
        """`Energies` of the present state, also before `solve`, with the rates it has then."""
        self._made()
        if self._energies is None:
            return self.audit.measure(keep=False)
        if self.audit.changed():
            return self.audit.measure(keep=False, jumped=True)
        return self._energies

    @property
    def native(self) -> bool:
        """Whether iterations of the last `solve` were made in C instead of by SNES.

        So it is with generalized-alpha on one rank and a direct solver, unless bodies touch,
        Rayleigh's damping has a part of the stiffness, or SNES has monitors or options other than
        tolerances. Steps that nobody looks at are then made many in one call, at the same times.
        """
        return self._ready and self.newton.native.able

    # ---- for the user ---------------------------------------------------------------------------
    def monitor(self, function: Callable[[Step], None], every: int = 1) -> None:
        """Call ``function(step)`` at the start and after each, or each `every`-th, step.

        ``step.time`` and ``step.iterations`` tell of it (0 at the start); all ranks call it.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.sphere(0.1, at=(0.0, 0.0, 0.0), rho=1000.0)
        >>> fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))]))
        >>> fall.monitor(lambda step: print(step.time))
        >>> history = fall.solve(to=0.2, step=0.1)
        0.0
        0.1
        0.2
        """
        self._monitors.append(monitored(function, every, lambda: self.steps))

    def record(self, name: str, what: Watched, every: int = 1) -> None:
        """Keep a quantity at the start and after each step, or each `every`-th, in `history`.

        Parameters
        ----------
        what : a place, whose position is kept [m], or a function without arguments that returns
            a number or an array; a support: its reaction (3,) [N]; a constraint: ``name force``
            and ``name moment`` on its first end (3,) [N], [N m]; a cavity: ``name volume`` [m^3]
            and ``name pressure`` [Pa]; a contact: ``name force`` (3,) on its first body [N],
            ``name penetration``, the deepest [m], ``name dissipated`` [J] and ``name status``,
            the numbers of points that are open, stick and slip; `sa.largest(body, field)`.
        """
        record(self.history, self.system, name, what, every)

    def event(
        self,
        function: Callable[[], float],
        action: Callable[[], None] | None = None,
        direction: int = 0,
        terminate: bool = False,
    ) -> list[float]:
        """Locate zeros of ``function()`` in time; return the list that their times are added to.

        The step in which a zero lies is made anew to end there, so that the state at an event is
        as exact as others. Two zeros in one step are found; events in one step happen in their
        order; of more the function is looked at too rarely. A zero is where the function changes
        its sign, or where it comes to zero and stays, or the step ends: one where the motion
        begins, a touch that does not cross, and a change of sign by an action are none.

        Parameters
        ----------
        function : called on every rank, returns the same number on each; may communicate. It is
            also called for times within a step, with the motion there.
        action : called at a zero, on every rank; may change states, rates and parameters.
            Accelerations and multipliers are made consistent with that, the energy that it adds
            is work, and the history keeps the state after it.
        direction : -1 only falling, 1 only rising, 0 both.
        terminate : end `solve` at the first zero.
        """
        if self.events is None:
            self.events = Events(self.system.comm)
        return self.events.add(function, action, direction, terminate).times

    @warns_once
    def initialize(self, step: float) -> None:
        """Find consistent rates, accelerations and multipliers of the present state (collective).

        `solve` does it by itself before its first step.
        """
        with self._options:
            self._prepare()
            self._begin(step)
            find_initial_values(self.accelerations, step)
            self.integrator.started()
            self._before = self.motion.snapshot()
            self._energies, self._started = None, True

    def _begin(self, step: float) -> None:
        system = self.system
        self.motion.lead()
        self.motion.span = system.time, math.inf
        system.revise(system.time)
        system.prescribe(system.time)
        self.newton.begin()
        if not 0.25 < step / self.scaled_for < 4.0:
            self.motion.scale_multipliers(lambda: self.integrator.largest(step))
            self.scaled_for = step

    def save(self, path: str | Path) -> None:
        """Write a checkpoint from which `restore` goes on (collective); also from a monitor.

        A run that goes on from it repeats this one bit for bit on one rank with the factors of
        UMFPACK or KLU; with others to round-off.
        """
        write(path, self.system, self.state)
        self.newton.forget()

    @property
    def state(self) -> State:
        """The present state as a value, for `restore` (collective).

        It holds all that the next step depends on, and no step changes it.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.sphere(0.1, at=(0.0, 0.0, 0.0), rho=1000.0)
        >>> system = sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))])
        >>> fall = sa.DynamicProblem(system)
        >>> begin = fall.state
        >>> history = fall.solve(to=1.0, step=0.25)
        >>> fall.restore(begin)
        >>> system.time
        0.0
        """
        self._made()
        if self.audit.begun:
            self.measure()
        state = self.integrator.snapshot()
        course = {
            "started": self._started,
            "steps": self.steps,
            "scaled_for": self.scaled_for,
            "audit": self.audit.state(),
            "events": [] if self.events is None else self.events.state(),
        }
        return replace(state, method={**state.method, **course})

    @warns_once
    def restore(self, state: State | str | Path) -> None:
        """Go to a state of this problem, or to that of a checkpoint (collective).

        Parameters
        ----------
        state : a value of `state`, with which `Parameter` objects get the values that they had; or
            the file of `save` of a system built alike, which leaves them to the program.

        Raises
        ------
        ParameterError : a state of another system or method.
        CheckpointError : on every rank; the file does not fit this system, or cannot be read.
        """
        self._made()
        if isinstance(state, State):
            self.system.require_own(state, *self.integrator.snapshot().method, "audit")
            self.system.restore_parameters(state)
        else:
            path, (state, _) = state, read(state, self.system)
            if state.rate is None or "audit" not in state.method:
                raise CheckpointError(
                    f"{str(path)!r} holds no motion; a state alone is read by checkpoint.load",
                    path=str(path),
                    asked="motion",
                )
        self._first = self._first or state
        self.take(state)
        self.motion.lead()
        self._before = self.motion.snapshot()

    def take(self, state: State) -> None:
        """Take a state of `state`; loads stay (collective)."""
        self.integrator.restore(state)
        self.integrator.calm = int(state.method.get("calm", 0))
        self.steps, self.scaled_for = state.method["steps"], state.method["scaled_for"]
        self._started, self._energies = state.method["started"], None
        self.audit.resume(state.method["audit"])
        if self.events is not None:
            self.events.resume(state.method["events"])

    def reset(self) -> None:
        """Go to where the first call of `solve` began (collective); the history stays."""
        if self._first is not None:
            self.restore(self._first)

    # ---- restart points -------------------------------------------------------------------------
    def _left(self, restarts: Restarts) -> int:
        """Return how many steps are left to the next restart point."""
        return restarts.left(self.steps - self._call.steps)

    def _restart_state(self) -> State:
        """Return what the next step depends on, with what this call of `solve` has to know."""
        state, call = self.state, self._call
        own = {
            "ts": [self._ts.getTimeStep(), self._ts.getStepNumber()],
            "rejected": self.integrator.rejections - call.rejections,
            "begun": [call.start, call.steps],
        }
        return replace(state, method={**state.method, **own})

    def _rest(self, restarts: Restarts | None, done: bool = False) -> None:
        """End a step where a run may go on; every `Restarts.every`-th one is a restart point."""
        if done:
            self.measure()
        if restarts is not None:
            rests = done or self._left(restarts) == restarts.every
            restarts.step(done, rests, self._restart_state)
            if rests:
                self._forget(self._ts.getTimeStep(), self._ts.getStepNumber())

    def _check(self, restarts: Restarts | None) -> None:
        """Raise after a step what a signal asks for; write the state before (collective)."""
        try:
            self._interruption.check()
        except BaseException:
            if restarts is not None:
                restarts.stop(self._restart_state)
            raise

    def _forget(self, step: float, number: int) -> None:
        """Forget all that earlier steps have left but the motion (collective).

        `step`, `number`: of TS.
        """
        system, ts = self.system, self._ts
        self.motion.lead()
        system.revise(system.time)
        system.prescribe(system.time)
        self.newton.snes.getKSP().reset()
        self.accelerations.forget()
        self.newton.begin()
        self.integrator.write(self.U)
        self.integrator.begin(ts, ts.getMaxTime(), self._call.asked.adaptive)
        ts.setTimeStep(step)
        ts.setStepNumber(number)

    @warns_once
    def solve(
        self,
        to: float,
        step: float,
        adaptive: bool | None = None,
        rtol: float = 1e-6,
        atol: float | None = None,
        checkpoint: str | Path | Restart | None = None,
        longest: float | None = None,
        stops: Sequence[float] = (),
    ) -> History:
        """Move from `system.time` to the time `to` (collective).

        Parameters
        ----------
        to : later than the present time.
        step : length of the steps (the last one is shorter where they do not fit); with
            `adaptive`, of the first one.
        adaptive : let the length follow the local error, rtol |u| + atol, of coordinates, in
            explicit methods (their default) of rates, too. `atol` is a length, and goes over the
            size of the system for slopes, axes and angles; default: rtol times the size of the
            connected part, 1 or a state. For rates it is that times the speed of the fastest, at
            least a size in the call or 1000 steps. Also by ``-ts_adapt_type basic``.
        checkpoint : file, or `Restart`, to go on from where it exists, and to write on the way: a
            signal ends the run there, and the same script goes on with the same bits.
        longest : length that no step exceeds; default: any. Where lengths follow the error, steps
            do not pass over what functions of time do in between, either.
        stops : times at which a step ends, in any order, as of kinks of functions of time.

        Raises
        ------
        ConvergenceError : on every rank; the state is that of the last step that was reached.
        ConstraintError : the initial state violates a constraint.
        Exception : what a user's function raised, on every rank.
        KeyboardInterrupt : on every rank, after the step in which Ctrl-C was pressed; a second
            one before that ends the process. Suspended : after other signals; see `Restart`.

        Whatever is raised, the state is that of the last step, and one may go on.
        """
        system = self.system
        asked = requested(system, self._options, to, step, adaptive, rtol, atol, longest, stops)
        if self._moving:
            raise ParameterError(
                "solve was called within solve of the same problem, by a monitor, an action or "
                "a function of time: end the first with event(..., terminate=True) before",
                asked="solve",
            )
        restarts = None
        if checkpoint is not None:
            held = self._interruption
            restarts = Restarts(checkpoint, system, self.history, "solve", asked.given, 100, held)
        self._moving, rests = True, restarts or nullcontext()
        try:
            with rests, self._interruption, self._options, self._progress, STAGES["motion"]:
                self._move(asked, restarts)
        finally:
            self._moving = False
        return self.history

    def _go_to_start(self, step: float, restarts: Restarts | None, saved: Saved | None) -> None:
        """Find where steps begin: a restart point, the present motion, or initial values."""
        if restarts is not None and saved is not None:
            call, method = self._call, saved.state.method
            self.take(saved.state)
            call.start, call.steps = method["begun"]
            call.rejections = self.integrator.rejections - int(method["rejected"])
            self.motion.lead()
            self.system.prescribe(self.system.time)
            self.audit.stand()
            self.newton.balance.begin()  # tolerances of steps are in its sizes
            restarts.resume(saved)
            self._energies, self._started = None, True
        elif self._started:
            self._begin(step)
            self._reconcile(step)
        else:
            self.initialize(step)

    def _move(self, asked: Requested, restarts: Restarts | None) -> None:
        system, to, step = self.system, asked.to, asked.step
        self._prepare()
        self._progress.aim(system.time, to)
        require_consistent(system, to)
        made, ts = self.integrator, self._ts
        made.asked, made.longest, made.rtol = step, asked.longest, asked.rtol
        if not self._started:
            self._first = self._first or self.state
        saved = None if restarts is None else restarts.saved(to)
        call = self._call = _Call(asked, system.time, self.steps, made.rejections)
        self._go_to_start(step, restarts, saved)
        self.motion.span = asked.span(call.start, system.time)
        made.duration = max(to - call.start, step)
        made.atol = self.newton.balance.tolerances(asked.rtol, asked.atol)
        made.relative = asked.atol is None
        ts.setTime(system.time)
        ts.setTimeStep(min(step, to - system.time) if to > system.time else step)
        left = saved is not None and system.time in asked.stops  # with what `_pass_stop` does
        ts.setMaxTime(system.time if left else asked.next(system.time))
        ts.setMaxSteps(2**31 - 1)
        ts.setStepNumber(0)
        made.begin(ts, to, asked.adaptive)
        made.write(self.U)
        if saved is not None:
            self._forget(*saved.state.method["ts"])
        begun, renewals = clock.process_time(), self.newton.tangent.renewals
        try:
            if to > system.time and not (saved and saved.done):
                self._march(asked, restarts, saved is not None)
        except PETSc.Error as error:
            self._ready = False
            if made.error is not None:
                raise made.error from error
            said = complaint(error)
            raise SymancfError(f"PETSc failed at time {system.time:g}: {said}") from error
        except BaseException:
            made.give_up()
            raise
        finally:
            self._before = self.motion.snapshot()
            self.history.seconds["solve"] += clock.process_time() - begun
            self.history.cut_backs += made.rejections - call.rejections
            self.renewals = self.newton.tangent.renewals - renewals
        self._warn_unused()
        if not isinstance(made, Explicit):
            self.audit.tell_gain(self.energies)

    def _warn_unused(self) -> None:
        """Warn of options that nobody used; of steps of one length also those of the error."""
        idle = self._idle
        if not self.integrator.adaptive:
            idle += TOLERANCES
        self._options.leave_idle(*idle)
        self._options.warn_unused(self.system.comm)

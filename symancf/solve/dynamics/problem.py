# SPDX-License-Identifier: BSD-3-Clause
"""Motions of constrained flexible systems by PETSc's TS."""

from __future__ import annotations

import math
import time as clock
import weakref
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from mpi4py import MPI

from ...assembly.protocol import Switches
from ...assembly.state import State
from ...errors import CheckpointError, ParameterError, SymancfError
from ...newton import AIDS, wanted
from ...output.checkpoint import read, write
from ...output.restart import Restarts
from ...output.tracking import Watched, monitored, owner_of, parents_of, record
from ...runtime.collective import together
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...runtime.interruption import Interruption
from ...runtime.log import STAGES
from ...runtime.once import Once, warns_once
from ...runtime.options import Option, SolverOptions, complaint
from ...runtime.options import take as take_options
from ...runtime.petsc import PETSc, collect
from ...runtime.progress import Progress
from ...values import arguments
from ...values.spellings import former_arguments
from ..contradiction import require_consistent
from ..gradients.trace import Trace
from ..march import march
from ..preconditioner import without_aij
from ..rigid import attach_rigid_modes
from ..solver import fitting, idle_options, is_symmetric
from .accelerations import Accelerations
from .energy import Audit
from .events import Events
from .explicit import Explicit
from .initial import find_initial_values
from .methods import IMPLICIT, checked, chosen, defaults, integrator, is_explicit, name_of, used_by
from .motion import EquationsOfMotion, Rayleigh
from .newton import Newton
from .steps import Requested, TimeSteps, requested
from .supports import MovingSupports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...arrays import Array
    from ...contact.contact import Contact
    from ...output.history import History
    from ...output.restart import Restart
    from ...output.steps import Step
    from ...system import System
    from ...values.parameter import Field, Parameter
    from ..cost import Cost
    from ..gradients.goal import Goal
    from ..gradients.gradient import Gradient, Variable
    from .energy import Energies
    from .events import Event
    from .integrator import Integrator
    from .motion_trace import MotionTrace
    from .relaxation import Relaxation
    from .stabilise import Stabilisation

TOLERANCES = "ts_rtol", "ts_atol", "ts_adapt_clip", "ts_adapt_safety", "ts_adapt_dt_"


class DynamicProblem(OneProcess, Displayable):
    r"""Move a system: M a + C v + R(q, v, t) + Phi_q^T lambda = 0, Phi(q, t) = 0.

    ``method="generalized-alpha"`` of Arnold and Bruls, index 3: constraints hold at every time
    step to round-off, rates only to the order of the method; positions, rates and multipliers
    converge with order 2 at every time, also where the length of steps changes.

    ``method="rk"`` and other explicit methods, index 1: accelerations from M a + ... with
    Phi'' = 0, of high order in the step, which stability limits; constraints are enforced
    by a `stabilisation`.

    Parameters
    ----------
    system : its `state`, `rate` and `time` are the initial conditions, and the present ones
        afterwards. After a static solution set ``system.time = 0.0``, if loads begin there.
    prefix : of all PETSc options of this problem, ``-beam_ts_adapt_type basic``.
    options : defaults of PETSc options without prefix; the command line wins.
    history : takes the steps, e.g. ``History(csv="run.csv", hdf5="run.h5")``.
    damping : `Rayleigh`.
    spectral_radius : that at infinite frequency, 0 (most damping) to 1 (none; does not suit
        constraints). ``-ts_alpha_radius`` goes before it.
    method : ``"generalized-alpha"``; Runge-Kutta methods of PETSc, ``"rk"`` (the same as
        ``"5dp"``, Dormand-Prince of order 5), ``"3bs"``, ``"8vr"``, ``"euler"``, ``"ssp"``;
        ``"adams"`` of SciPy, on one rank only. ``-ts_type``, ``-ts_rk_type`` go before it. Or a
        class of your own, see `symancf.solve.dynamics.integrator`.
    stabilisation : `Baumgarte`, `Fuzzy`, `Projection` or None; of explicit methods.

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
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> system = sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))])
    >>> fall = sa.DynamicProblem(system)
    >>> history = fall.solve(to=1.0, step=0.25)
    >>> round(float(system.displacement(ball.at((0.0, 0.0, 0.0)))[0, 2]), 6)
    -5.0
    """

    @former_arguments("DynamicProblem")
    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: Mapping[str, Option] | None = None,
        *,
        history: History | None = None,
        damping: Rayleigh | None = None,
        spectral_radius: float = 0.9,
        method: str | type[Integrator] = IMPLICIT,
        stabilisation: Stabilisation | None = None,
    ) -> None:
        if damping is not None:
            remedy = "give sa.Rayleigh(mass=..., stiffness=...)"
            arguments.instance("DynamicProblem(damping=...)", damping, Rayleigh, remedy)
        self.system, self._system = parents_of("DynamicProblem", system)
        self._damping = damping
        self._once = Once(system.comm)
        self._prefix = arguments.text("DynamicProblem(prefix=...)", prefix)
        radius, must = spectral_radius, "be between 0 and 1"
        self.spectral_radius = arguments.number(
            "DynamicProblem", "spectral_radius", radius, must, lambda x: 0.0 <= x <= 1.0
        )
        self.method, self._stabilisation = checked(method, stabilisation), stabilisation
        self.history = owner_of("DynamicProblem", history)
        self.history.comm = system.comm
        self._options = SolverOptions(
            self._prefix, arguments.options("DynamicProblem(options=...)", options)
        )
        self._monitors: list[Callable[[Step], None]] = []
        self._events: Events | None = None  # see `event`
        self._relaxation: Relaxation | None = None  # where a law asks for the length of the step
        self._started = False  # initial values have been found
        self._ready = self._moving = False
        self._interruption = Interruption(system.comm, self.history.reached)
        self._progress = Progress(system.comm, self._options)
        self._energies: Energies | None = None  # of the present state, where they were asked for
        self._last_state: State  # in which the last call has left the motion
        self.steps = 0
        self._scaled_for = math.inf
        self._first: State | None = None
        self._trace: Trace | None = None  # of the last call of `solve`
        self._request: Requested  # of that
        self._ended_by: Event | None = None  # where one has ended that
        self._begins_with_given_rates = False  # those of bodies, see `_take_rates`
        self._given_rates: Array | None = None  # with which it began
        self._driven: list[Array] = []  # what parameters drove at its end

    def _headline(self) -> str:
        """Return the method, the system and how far it is."""
        steps = f"{self.steps} step{'s' * (self.steps != 1)}"
        return f"DynamicProblem by {name_of(self.method)}, {steps}, {self.system._headline()}"

    def _facts(self) -> Sequence[Sequence[str]]:
        """Return the members of the system."""
        return self.system._facts()

    # ---- objects of PETSc -----------------------------------------------------------------------
    def _set_up(self) -> Self:
        """Return itself with all objects of PETSc, which the first call makes (collective)."""
        if "_audit" not in vars(self):  # the last of them
            with self._options:
                self._prepare()
        return self

    @property
    def ts(self) -> PETSc.TS:
        """PETSc's time stepper."""
        return self._set_up()._integrator.ts

    @property
    def snes(self) -> PETSc.SNES:
        """PETSc's solver of a step."""
        return self._set_up()._newton.snes

    @property
    def J(self) -> PETSc.Mat:
        """The tangent of a step."""
        return self._set_up()._newton.J

    @property
    def acceleration(self) -> Array:
        """Local vector."""
        return self._set_up()._motion.acceleration

    def _prepare(self) -> None:
        """Make the objects of PETSc and those that work with them, once (collective)."""
        if self._ready:
            return
        system = self._system
        collect(system.comm)
        self._motion = EquationsOfMotion(system, self._damping)
        moves = self._motion.moving or self._motion.driven
        self._supports = MovingSupports(self._motion) if moves else None
        ts = PETSc.TS().create(system.comm)
        # PETSc destroys what is left after Python is gone, and would call the context then
        weakref.finalize(self, ts.setType, PETSc.TS.Type.BEULER)
        ts.setOptionsPrefix(self._prefix)
        snes = ts.getSNES()
        uses = wanted(self._options) if self._options.choice("aids") else AIDS
        method = chosen(self.method, self._options.choice("ts_type"))
        preconditioner = self._options.choice("pc_type")
        self._options.refuse(f"method={name_of(method)!r}", used_by(method))
        fixed = self._options.choice("pc_factor_mat_solver_type") is None
        options = self._options.offer(
            fitting(defaults(system, method, preconditioner, fixed), preconditioner)
        )
        if options.get("pc_type") == "gamg":
            system.place_mass()
            attach_rigid_modes(system, system.matrix.mat)
        if method == IMPLICIT and without_aij(system, options["ksp_type"], options["pc_type"]):
            self._motion.half = system.half_of_motion
        self._newton = Newton(self._motion, snes, uses)
        self._accelerations = Accelerations(self._motion, self._newton)
        self._integrator = integrator(
            method, self._accelerations, self.spectral_radius, self._stabilisation
        )
        self._integrator.attach(ts)
        ts.setMaxSteps(2**31 - 1)
        ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
        take_options(ts)
        self._idle = idle_options(snes.getKSP())
        loose = self._options.choice("ksp_rtol")
        if loose is not None and is_explicit(method):
            self._accelerations.rtol = float(snes.getKSP().getTolerances()[0])
        self._newton.attach(self._options, self._progress.note)
        visit = self._integrator.visit if isinstance(self._integrator, Explicit) else None
        self._audit = Audit(self._motion, visit)
        self._relaxation = self._relaxation or self._look_at_relaxation()
        # else energies are taken where somebody asks, who with several ranks may be one of them
        self._adds_up = not self._audit.closed or system.comm.size > 1
        self._ready = True

    def _look_at_relaxation(self) -> Relaxation | None:
        """Return what looks at steps of laws that ask for their length; None: there are none."""
        memory = self._system.memory
        if not (memory.timed and any(form.kernel.tabulated for form in memory.forms)):
            return None
        from .relaxation import Relaxation

        return Relaxation(self._system)

    # ---- energies -------------------------------------------------------------------------------
    def _measure(self) -> None:
        """Take the energies, unless they have been taken (collective)."""
        self._energies = self._energies or self._audit.measure()

    @property
    def energies(self) -> Energies:
        """`Energies` of the present state, also before `solve`, with the rates it has then."""
        self._set_up()
        if self._energies is None:
            return self._audit.present()
        if self._audit.changed():
            return self._audit.measure(keep=False, jumped=True)
        return self._energies

    @property
    def native(self) -> bool:
        """Whether iterations of the last `solve` were made in C instead of by SNES.

        So it is with generalized-alpha and a direct solver where one rank has all unknowns, as
        rank 0 has those of small systems, unless deformable bodies
        touch each other, Rayleigh's damping has a part of the stiffness, or SNES has monitors or
        options other than tolerances. Steps that nobody looks at are then made many in one call, at
        the same times: functions of time are asked before, those that are recorded are called after
        them.
        """
        return self._ready and self._newton.native.able

    # ---- for the user ---------------------------------------------------------------------------
    def cost(self) -> Cost:
        """Predict the memory of a solution before anything of that size is made (collective).

        Returns
        -------
        Cost : ``cost.on(ranks)`` are the bytes that each of so many ranks would need.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (20, 20, 20))
        >>> law, given = sa.energies.neo_hooke(), {"mu": 1e5, "lam": 2e5, "rho": 1000.0}
        >>> block = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
        >>> swing = sa.DynamicProblem(sa.System(block, terms=[sa.fix(block["x0"])]))
        >>> cost = swing.cost()
        >>> print(cost.unknowns, cost.fits, cost.on(4) < cost.on(1))
        26460 True True
        """
        from ..cost import cost_of

        method = chosen(self.method, self._options.choice("ts_type"))
        solver = self._options.choice("pc_type")
        solver = solver or str(defaults(self._system, method)["pc_type"])
        return cost_of(self._system, solver, is_symmetric(self._system, dynamic=True), moves=True)

    def monitor(self, function: Callable[[Step], None], every: int = 1) -> None:
        """Call ``function(step)`` at the start and after each, or each `every`-th, step.

        ``step.time`` and ``step.iterations`` describe it (0 at the start); all ranks call it.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
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
        what : a place, whose position is recorded [m], or a function without arguments that returns
            a number or an array; a support: its reaction (3,) [N]; a constraint: ``name force``
            and ``name moment`` on its first end (3,) [N], [N m]; a cavity: ``name volume`` [m^3]
            and ``name pressure`` [Pa]; a contact: ``name force`` (3,) on its first body [N],
            ``name penetration``, the deepest [m], ``name dissipated`` [J] and ``name status``,
            the numbers of points that are open, stick and slip.
        """
        record(self.history, self.system, name, what, every)

    def event(
        self,
        function: Callable[[], float] | Goal | Contact,
        action: Callable[[], None] | None = None,
        direction: int = 0,
        terminate: bool = False,
    ) -> list[float]:
        """Locate zeros of ``function()`` in time; return the list that their times are added to.

        The step in which a zero lies is repeated to end there, so that the state at an event is
        as exact as others. Two zeros in one step are found; events in one step happen in their
        order; of more the function is looked at too rarely. A zero is where the function changes
        its sign, or where it comes to zero and stays, or the step ends: one where the motion
        begins, a touch that does not cross, and a change of sign by an action are none.

        Parameters
        ----------
        function : called on every rank, returns the same number on each; may communicate. It is
            also called for times within a step, with the motion there.
            Or a `Contact` with friction on rigid shapes: its zeros are where points begin to slip,
            where their slip ends or turns, and where the first one touches or the last one parts.
            What of these follows within a thousandth of a step is the same event. From there on,
            not from the next step, points have the other coefficient, so that friction is of second
            order in the step.
            Or a `Goal`: of one that terminates `gradient` knows how the end follows parameters.
        action : called at a zero, on every rank; may change states, rates and parameters.
            Accelerations and multipliers are made consistent with that, the energy that it adds
            is work, and the history keeps the state after it.
        direction : -1 only falling, 1 only rising, 0 both.
        terminate : end `solve` at the first zero.
        """
        from ..gradients.goal import Goal

        system, times = self._system, list[float]()
        if self._events is None:
            self._events = Events(system.comm)
        if isinstance(function, Goal):
            value = partial(function.of_one_state().at_state, system)
            self._events.add(value, action, direction, terminate, times, goal=function)
            return times
        switches = system.binding(function) if hasattr(function, "bind") else None
        if not isinstance(switches, Switches):
            own = cast("Callable[[], float]", function)
            self._events.add(own, action, direction, terminate, times)
            return times

        for switch in switches.switches(system, lambda: self._integrator.step_length):
            own, way = switch.function, switch.direction
            self._events.add(own, action, way, terminate, times, switch.action)
        return times

    @warns_once
    def initialize(self, step: float) -> None:
        """Find consistent rates, accelerations and multipliers of the present state (collective).

        `solve` does it by itself before its first step.
        """
        with self._options:
            self._prepare()
            self._lead(step)
            find_initial_values(self._accelerations, step)
            self._integrator.started()
            self._last_state = self._integrator.snapshot()
            self._energies, self._started = None, True

    def _lead(self, step: float) -> None:
        """Let forces follow this motion at the present time (collective).

        `step`: length of the next one, to which the scale of multipliers belongs.
        """
        system = self._system
        self._motion.lead()
        self._motion.span = system.time, math.inf
        system.revise(system.time)
        system.prescribe(system.time)
        self._newton.begin()
        if not 0.25 < step / self._scaled_for < 4.0:
            self._motion.scale_multipliers(lambda: self._integrator.largest(step))
            self._newton.weigh()
            self._scaled_for = step
        self._accelerations.kinematics.refresh()  # their scale may be that of a state

    def save(self, path: str | Path) -> None:
        """Write a checkpoint from which `restore` continues (collective); also from a monitor.

        A run that continues from it repeats this one bit for bit on one rank with factors on a
        fixed sparsity pattern, of UMFPACK or of KLU; with others to round-off.
        """
        write(path, self._system, self.state)
        self._newton.forget()

    @property
    def state(self) -> State:
        """The present state as a value, for `restore` (collective).

        It contains all that the next step depends on, and no step changes it.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
        >>> system = sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))])
        >>> fall = sa.DynamicProblem(system)
        >>> begin = fall.state
        >>> history = fall.solve(to=1.0, step=0.25)
        >>> fall.restore(begin)
        >>> system.time
        0.0
        """
        self._set_up()
        if self._audit.begun:
            self._measure()
        return self._present()

    def _present(self) -> State:
        """Return the present state, with what was measured so far."""
        state = self._integrator.snapshot()
        course = {
            "started": self._started,
            "calm": self._integrator.calm,
            "steps": self.steps,
            "scaled_for": self._scaled_for,
            "audit": self._audit.state(),
            "events": [] if self._events is None else self._events.state(),
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
        self._set_up()
        if isinstance(state, State):
            self._system.require_own(state, *self._integrator.snapshot().method, "audit")
        else:
            path, (state, _) = state, read(state, self._system)
            if state.rate is None or "audit" not in state.method:
                raise CheckpointError(
                    f"{str(path)!r} has no rates; a state alone is read by checkpoint.load",
                    path=str(path),
                    asked="motion",
                )
            state = replace(state, parameters=())
        self._first = self._first or state
        self._take(state)
        self._motion.lead()
        self._last_state = self._integrator.snapshot()

    def _take(self, state: State) -> None:
        """Take a state of `state`; loads stay (collective)."""
        self._integrator.restore(state)
        self._integrator.calm = int(state.method.get("calm", 0))
        self.steps, self._scaled_for = state.method["steps"], state.method["scaled_for"]
        self._started, self._energies = state.method["started"], None
        self._audit.resume(state.method["audit"])
        if self._events is not None:
            self._events.resume(state.method["events"])

    def reset(self) -> None:
        """Go to where the first call of `solve` began (collective); the history stays.

        Each `Parameter` of the system has its value of then, too: set others after this.
        """
        if self._first is not None:
            self.restore(self._first)

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
        trace: Trace | None = None,
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
        checkpoint : file, or `Restart`, to continue from where it exists, and to write on the way:
            a signal ends the run there, and the same script continues with the same bits.
        longest : length that no step exceeds; default: any. Where lengths follow the error, steps
            do not pass over what functions of time do in between, either.
        stops : times at which a step ends, in any order, as of kinks of functions of time.
        trace : takes the states at the ends of all steps, for `gradient`.

        Raises
        ------
        ConvergenceError : on every rank; the state is that of the last step that was reached.
        ConstraintError : the initial state violates a constraint.
        Exception : what a user's function raised, on every rank.
        KeyboardInterrupt : on every rank, after the step in which Ctrl-C was pressed; a second
            one before that ends the process. Suspended : after other signals; see `Restart`.

        Whatever is raised, the state is that of the last step, and the solution can be continued.
        """
        system = self._system
        request = requested(system, self._options, to, step, adaptive, rtol, atol, longest, stops)
        if self._moving:
            raise ParameterError(
                "solve was called within solve of the same problem, by a monitor, an action or "
                "a function of time: end the first with event(..., terminate=True) before",
                asked="solve",
            )
        self._trace, self._request = self._traced(trace, checkpoint), request
        self._ended_by, self._driven = None, []
        restarts = None
        if checkpoint is not None:
            interruption = self._interruption
            restarts = Restarts(
                checkpoint, system, self.history, "solve", request.as_json, 100, interruption
            )
        self._moving, rests = True, restarts or nullcontext()
        try:
            with rests, self._interruption, self._options, self._progress, STAGES["motion"]:
                self._move(request, restarts)
        finally:
            self._moving = False
        return self.history

    def _traced(self, trace: Trace | None, checkpoint: object) -> Trace | None:
        """Return the trace of a call of `solve`, empty.

        Raises
        ------
        ParameterError : the motion has something that gradients do not know.
        """
        if trace is None:
            return None
        arguments.instance("solve(trace=...)", trace, Trace, "give sa.Trace()")
        unknown = {
            "explicit methods": self.method != IMPLICIT,
            "events other than event(sa.Goal(...), terminate=True) without an action": not (
                self._events is None or self._events.differentiable
            ),
            "checkpoint=": checkpoint is not None,
        }
        for name, is_there in unknown.items():
            if is_there:
                raise ParameterError(
                    f"solve(trace=...): gradients of motions are not known with {name}",
                    asked="trace",
                    given=name,
                )
        trace.clear()
        return trace

    def _move(self, request: Requested, restarts: Restarts | None) -> None:
        """Make the steps of a call of `solve` (collective)."""
        system, to = self._system, request.to
        self._prepare()
        self._progress.way = system.time, to
        if system.redundant.some:
            require_consistent(system, to)
        if not self._started:
            self._take_rates()
            self._first = self._first or self.state
        steps = TimeSteps(self, request, restarts)
        steps.begin(None if restarts is None else restarts.saved(to))
        if self._trace is not None:
            from .motion_trace import require_derivatives

            require_derivatives(self._motion, self._integrator.snapshot())
        begun, renewals = clock.process_time(), self._newton.tangent.renewals
        try:
            steps.open()
            march(steps)
        except PETSc.Error as error:
            self._ready = False
            text = f"PETSc failed at time {system.time:g}: {complaint(error)}"
            raise SymancfError(text) from error
        except BaseException:
            with suppress(Exception):  # loads are those of the last step
                self._motion.go_to(self._integrator.snapshot())
                self._driven = [] if self._trace is None else self._fingerprint()
            raise
        finally:
            self._last_state = self._integrator.snapshot()
            self.history.seconds["solve"] += clock.process_time() - begun
            self.history.cut_backs += self._integrator.rejections - steps.rejections
            self._renewals = self._newton.tangent.renewals - renewals
        if not self._options.warned:
            adaptive = self._integrator.adaptive
            self._options.idle = self._idle if adaptive else self._idle + TOLERANCES
            self._options.warn_unused(system.comm)
        if not isinstance(self._integrator, Explicit):
            self._audit.tell_gain(self.energies)
        self._driven = [] if self._trace is None else self._fingerprint()

    def _take_rates(self) -> None:
        """Let a motion that begins anew have the rates that bodies are given now (collective).

        Those that the program has written stay.
        """
        system, first = self._system, self._first
        if first is None:
            self._begins_with_given_rates = system.has_given_rates
        elif self._begins_with_given_rates and first.rate is not None:
            same = np.array_equal(system.rate[: system.numbering.owned], first.rate)
            if system.comm.allreduce(same, op=MPI.LAND):
                system.give_rates()

    def _repeat(
        self, restart: State, last: int, keeps: bool
    ) -> tuple[list[Sequence[State]], State]:
        """Repeat steps of the last motion from a restart point to its `last` state (collective).

        Returns the states, if they are asked for, and the restart point there. Nobody looks at the
        steps, and the motion is where it was before.
        """
        from .repetition import Repetition

        assert self._trace is not None
        present, energies, span = self._present(), self._energies, self._motion.span
        try:
            with self._options, STAGES["motion"]:
                steps = Repetition(self, self._request, self._trace, last, keeps)
                return steps.repeat(restart)
        finally:
            self._take(present)
            self._energies, self._motion.span = energies, span
            self._motion.lead()
            self._motion.go_to(present)
            self._accelerations.forget()
            self._newton.tangent.stale = True

    # ---- derivatives ----------------------------------------------------------------------------
    @warns_once
    def gradient(self, goal: Goal, parameters: Sequence[Parameter | Field]) -> Gradient:
        r"""Return dJ/dp of a goal of the last motion, by all parameters (collective).

        The discrete adjoint: one sweep backwards over the steps of ``solve(trace=sa.Trace())``,
        with one linear system each, whatever the number of parameters. Derivatives are those of the
        motion as it was computed, with the lengths that its steps had, and with the state and the
        rates in which it began held; by these, see `Gradient`. The last step alone, if the zero of
        a `Goal` has ended the motion, is as long as parameters make it, see `event`.

        Parameters
        ----------
        goal : J, of the end; `Goal.at` of another time, `Goal.integral` of the motion. It may ask
            for velocities, ``v_a``.
        parameters : each `Parameter`, and each `Field` of values, that anything depends on; a
            parameter within functions of time, too.

        Returns
        -------
        Gradient : ``g[p]`` is a number, of a `Field` an array (cells,).

        Raises
        ------
        ParameterError : there is no trace; nothing depends on a parameter; something has changed
            since `solve`; no step ends at the time of a goal; the motion has something that is not
            differentiated (events that act, redundant constraints).
        CompileError : a law has unknowns of a cell (a condensed pressure, enhanced strains).

        Examples
        --------
        See `Trace`.
        """
        from ..gradients.gradient import require_goal, require_variables
        from .backward import Backward

        found = require_goal(goal, moves=True)
        variables = require_variables(self._system, parameters)
        with self._over_trace() as trace:
            return Backward(trace).gradient(found, variables)

    @warns_once
    def sensitivity(self, parameters: Sequence[Variable], *, of: Sequence[Goal]) -> list[Gradient]:
        """Return dJ/dp of several goals of the last motion, in their order (collective).

        The direct way: linear steps along each parameter and each value of a field, forwards over
        the trace, whatever the number of goals. Errors are those of `gradient`; laws with memory or
        a tangent that leaves something out, stiffness in `Rayleigh`, controllers with a state, and
        steps after which rates were changed are refused.
        """
        from ..gradients.gradient import require_goal, require_variables
        from .forward import Forward

        given = of if isinstance(of, list | tuple) else [of]
        goals = [require_goal(goal, moves=True) for goal in given]
        variables = require_variables(self._system, parameters)
        with self._over_trace() as trace:
            return Forward(trace).sensitivity(goals, variables)

    @warns_once
    def value(self, goal: Goal) -> float:
        """Return a goal of the last motion, which `solve` has given a trace (collective)."""
        from ..gradients.gradient import require_goal

        with self._over_trace() as trace:
            return trace.weights(require_goal(goal, moves=True))[0]

    def _solve_with(self, assign: Callable[[], None]) -> None:
        """Find the last motion anew; parameters are assigned before (collective)."""
        request, trace = self._request, self._trace
        assert self._first is not None
        to = self.system.time if self._ended_by is None else request.to
        self.restore(replace(self._first, parameters=()))  # others than assigned stay
        assign()
        longest = None if math.isinf(request.longest) else request.longest
        more = {name: getattr(request, name) for name in ("adaptive", "rtol", "atol", "stops")}
        self.solve(to, request.step, longest=longest, trace=trace, **more)

    @contextmanager
    def _over_trace(self) -> Iterator[MotionTrace]:
        """Return what goes over the last motion; put that back afterwards (collective).

        Raises
        ------
        ParameterError : there is no trace, or something is another than after the last solution.
        """
        if self._trace is None or not self._driven:
            raise ParameterError(
                "gradient: the last solve has left no trace of a motion: call "
                "solve(to=..., step=..., trace=sa.Trace())",
                asked="trace",
            )
        from .motion_trace import MotionTrace

        integrator, now = self._integrator, self._fingerprint()
        same = all(map(np.array_equal, now, self._driven))
        if not self._system.comm.allreduce(same, op=MPI.LAND):
            raise ParameterError(
                "gradient: the state, the time or a parameter is another than after the last "
                "solve: reset() and solve again",
                asked="gradient",
            )
        end, given, request = integrator.snapshot(), self._given_rates, self._request
        assert given is not None
        try:
            with self._options, STAGES["motion"]:
                accelerations, event = self._accelerations, self._ended_by
                end_goal = None if event is None else event.goal
                yield MotionTrace(accelerations, integrator, self._trace, request, given, end_goal)
        finally:
            integrator.restore(end)
            self._motion.span = request.span(end.time, end.time)
            self._motion.go_to(end)
            self._accelerations.forget()
            self._newton.tangent.stale = True

    def _fingerprint(self) -> list[Array]:
        """Return what the motion depends on at its end (collective)."""
        system, prescribed = self._system, self._system.state.copy()
        system.prescribe(system.time, prescribed)
        with together(system.comm):
            system.update(system.time)
            system.inertia.update(system.time)
        kernels = (system.assembler, system.inertia)
        values = [x.values.copy() for x in kernels]
        values += [rows for x in kernels for _, rows in sorted(x.rows.items())]
        start = [system.initial_rate()] if system.start_changes else []
        at = np.array([system.time])
        return [at, system.state.copy(), prescribed, system.rate.copy(), *values, *start]

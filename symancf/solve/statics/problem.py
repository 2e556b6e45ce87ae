# SPDX-License-Identifier: BSD-3-Clause
"""Static equilibrium by Newton's method (PETSc SNES) along a pseudo-time of loads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from mpi4py import MPI

from ...assembly.state import State
from ...errors import ConvergenceError, ParameterError
from ...output import checkpoint
from ...output.restart import Restarts
from ...output.steps import Step
from ...output.tracking import Watched, monitored, owner_of, parents_of, record
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...runtime.log import STAGES
from ...runtime.once import Once, warns_once
from ...runtime.options import Option, SolverOptions
from ...runtime.petsc import release
from ...values import arguments
from ...values.spellings import former_arguments
from ..contradiction import require_consistent
from ..gradients.trace import Trace
from ..march import march
from ..solver import is_symmetric, linear_defaults, uses
from .continuation import Continuation
from .equilibrium import EquilibriumSolver
from .explanation import explained_path
from .path_arguments import require_possible
from .steps import LoadSteps, step_ends

if TYPE_CHECKING:
    from pathlib import Path

    from ...output.checkpoint import Facts
    from ...output.history import History
    from ...output.restart import Restart, Saved
    from ...output.steps import LimitPoint
    from ...runtime.petsc import PETSc
    from ...system import System
    from ...values.parameter import Parameter
    from ..cost import Cost
    from ..gradients.goal import Goal
    from ..gradients.gradient import AnyVariable, Gradient, Variable
    from .adjoint import Adjoint
    from .convergence import Convergence
    from .hessian import Hessian
    from .limit_adjoint import LimitAdjoint

Monitor = Callable[[Step], None]


class StaticProblem(OneProcess, Displayable):
    """Find the equilibrium of a system: residual(q, t) = 0 at increasing pseudo-time t.

    Parameters
    ----------
    system : its `state` is the starting point and, afterwards, the solution.
    prefix : of all PETSc options of this problem, e.g. ``"plate_"`` (then
        ``-plate_snes_rtol 1e-8`` on the command line).
    options : of PETSc without prefix, ``{"pc_type": "lu"}``; the command line goes before them.
    history : takes the steps, e.g. ``History(csv="run.csv", hdf5="run.h5")``.
    check_held : look for unconstrained rigid-body modes before the first step.
    check_stable : warn where `solve` ends in an unstable equilibrium; see `Stability.tell`.

    Attributes
    ----------
    snes, J, F, x : petsc4py objects of the free unknowns; the first use makes them (collective).
    trace : of the last call of `solve`, None if it had none.
    convergence : `Convergence`, the test that ends Newton's method.
    history : `History` of all solves so far.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> pull = sa.traction(block["x1"], (lambda t: 0.1 * t, 0.0, 0.0))
    >>> system = sa.System(block, terms=[sa.fix(block["x0"]), pull])
    >>> problem = sa.StaticProblem(system)
    >>> problem.solve(to=1.0, step=0.5)
    History of 2 steps to time 1
    >>> round(float(system.terms[0].reaction(system).force[0]), 9)
    -0.1
    """

    _settable = ("check_stable",)

    @former_arguments("StaticProblem")
    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: Mapping[str, Option] | None = None,
        *,
        history: History | None = None,
        check_held: bool = True,
        check_stable: bool = True,
    ) -> None:
        self.system, self._system = parents_of("StaticProblem", system)
        self._once = Once(system.comm)
        self.prefix = arguments.text("StaticProblem(prefix=...)", prefix)
        self.check_stable = check_stable
        self.history = owner_of("StaticProblem", history)
        self.history.comm = system.comm
        self._options = SolverOptions(
            self.prefix, arguments.options("StaticProblem(options=...)", options)
        )
        self._options.refuse("StaticProblem", uses)
        check_held = arguments.flag("StaticProblem", "check_held", check_held)
        check_stable = arguments.flag("StaticProblem", "check_stable", check_stable)
        self.solver = EquilibriumSolver(self._system, self.history, self._options, check_held)
        self._continuation: Continuation | None = None
        self._recalls: Mapping[str, Any] | None = None  # numbers of the solver, once it is ready
        self._first: State | None = None
        self._solution = b""
        self._solved = False  # since it began, or began anew
        self.trace: Trace | None = None

    def _headline(self) -> str:
        """Return the system and how far it is."""
        n = len(self.history.steps)
        return f"StaticProblem, {n} step{'s' * (n != 1)}, {self.system._headline()}"

    def _facts(self) -> Sequence[Sequence[str]]:
        """Return the steps so far, or the members of the system."""
        return self.history._facts() if self.history.steps else self.system._facts()

    @property
    def equilibrium_solver(self) -> EquilibriumSolver:
        """The solver with all objects of PETSc, which the first call makes (collective)."""
        if "equations" not in vars(self.solver):
            self._options.late = True
            with self._options:
                self._make_ready()
        return self.solver

    @property
    def snes(self) -> PETSc.SNES:
        """PETSc's solver."""
        return self.equilibrium_solver.snes

    @property
    def J(self) -> PETSc.Mat:
        """The tangent of the free unknowns."""
        return self.equilibrium_solver.linear.storage.mat

    @property
    def F(self) -> PETSc.Vec:
        """The residual of the free unknowns."""
        return self.equilibrium_solver.equations.F

    @property
    def x(self) -> PETSc.Vec:
        """The free unknowns."""
        return self.equilibrium_solver.equations.x

    @property
    def convergence(self) -> Convergence:
        """The test that ends Newton's method."""
        return self.equilibrium_solver.convergence

    # ---- solutions -------------------------------------------------------------------------------
    def _begin(self, steps: bool = True) -> None:
        """Make ready for steps of load at rest, or for a path (collective)."""
        self._first = self._first or self.state
        self.solver.ready &= self._system.motion is None  # which scales multipliers its way
        self._make_ready()
        if self.solver.krylov is not None:
            self.solver.krylov.call(steps)
        if self.solver.progress.tells_each:
            self.solver.tell_solver()

    def _starts(self) -> bool:
        """Tell whether this rank's state is that before all steps."""
        present, first = self._system.snapshot(), self._first
        return not self._solved and (first is None or _alike(present, first))

    def _begin_trace(self, trace: Trace, starts: bool, solved: bool, restarts: bool) -> None:
        """Take up a trace at a state that is that before all steps, or one solved for.

        Raises
        ------
        ParameterError : it is none, or one of another path; a solution that may be continued.
        """
        trace = arguments.instance("solve(trace=...)", trace, Trace, "give sa.Trace()")
        if restarts:
            raise ParameterError(
                "solve(trace=..., checkpoint=...): a trace is not in checkpoints; give one of both",
                asked="trace",
            )
        system, comm = self._system, self._system.comm
        present = system.snapshot()
        if len(trace):
            same = _alike(present, trace[-1]) and present.time == trace[-1].time
            if not comm.allreduce(same, op=MPI.LAND):
                raise ParameterError(
                    "solve(trace=...): the trace ends at another state than the present one; give "
                    "a new sa.Trace(), or trace.clear()",
                    asked="trace",
                    given=float(trace.times[-1]),
                    possible=(present.time,),
                )
        else:
            trace.origin = "start" if comm.allreduce(starts, op=MPI.LAND) else ""
            if comm.allreduce(solved, op=MPI.LAND):
                trace.origin = "solution"
            trace.append(present, comm)
        self.trace = trace

    def _reads_options(self) -> bool:
        """Tell whether PETSc may read options in the next `solve`; not where C iterates again."""
        made = self.solver.ready and self.solver.native is not None and self._system.motion is None
        return not made or bool(self._options.values)

    def _make_ready(self) -> None:
        self._system.require_numbers("equilibria are looked for", {"state": self._system.state})
        if self._system.motion is not None:
            self._system.rest()
        if self._system.changing:
            self._system.revise(self._system.time)
        if not self.solver.ready:
            self.solver.prepare()
            self._continuation = None
        for term in self.solver.choosing:  # another problem of the system may have chosen since
            self._system.replace(term.choose(self._system, self.solver.options.choice))
        if self._recalls is not None:
            self.solver.recall(self._recalls)
            self._recalls = None

    # ---- restart points -------------------------------------------------------------------------
    def _rest(self, restarts: Restarts | None, steps: LoadSteps) -> None:
        """End a step where a run may go on; every `Restarts.every`-th one is a restart point."""
        if restarts is not None:
            rests = steps.done or len(self.history.steps) % restarts.every == 0
            method = steps.memory | {"solver": self.solver.memory}
            restarts.ended(state := replace(self._system.snapshot(), method=method))
            restarts.step(steps.done, rests, lambda: state)
            if rests:
                self._anew(self.solver.memory)
        if not steps.done:
            self.solver.interruption.check()

    def _anew(self, memory: Mapping[str, Any]) -> None:
        """Forget all that earlier steps have left but the state, and a few numbers (collective)."""
        self.solver.ready, self.solver.restored = False, True
        self._recalls = memory
        self._make_ready()

    def _go_on(self, restarts: Restarts, steps: LoadSteps, saved: Saved) -> None:
        """Go to where a checkpoint is (collective)."""
        self._take(saved.state)
        restarts.resume(saved)
        self._anew(saved.state.method["solver"])
        steps.recall(saved.state.method)
        steps.done = saved.done

    def _take(self, state: State) -> None:
        """Go to a state (collective)."""
        self._system.restore(state)
        self._system.prescribe(state.time)  # loads
        self._system.restore(state)  # with the displacements that it had
        self.solver.restored, self.solver.ready = True, False
        self._recalls = state.method.get("solver")

    # ---- for the user ---------------------------------------------------------------------------
    @warns_once
    def solve(
        self,
        to: float = 1.0,
        step: float | None = None,
        smallest: float = 1.0 / 1024.0,
        jump: bool = False,
        checkpoint: str | Path | Restart | None = None,
        stops: Sequence[float] = (),
        trace: Trace | None = None,
    ) -> History:
        """Change the pseudo-time to `to` and find the equilibrium after each step.

        Parameters
        ----------
        to : pseudo-time to reach from `system.time`; it may be smaller (unloading) or the same
            (after a change of a `Parameter`).
        step : longest step; default: all at once. A step that fails is halved, and grows again
            after success.
        smallest : fraction of a step below which the attempt is given up.
        jump : accept whatever equilibrium Newton's method finds, also one that no path of
            equilibria under growing loads leads to (a snap-through). Otherwise one that took
            many iterations or cut steps is compared with what the tangents predict (`Branch`).
        checkpoint : file, or `Restart`, to continue from where it exists, and to write on the way:
            a signal ends the run there, and the same script continues with the same bits. After
            each `Restart.every` steps `snes` is another object.
        stops : pseudo-times at which a step ends, in any order.
        trace : takes the states of all steps, for a `gradient` of what happened on the way, or
            where laws remember (plasticity, viscosity, friction); given again it continues.

        Raises
        ------
        ConvergenceError : on every rank, with PETSc's reason (that of the linear solver, if it
            was the cause).
        ConstraintError : a rigid-body mode is unconstrained.
        ParameterError : a step that is not positive, or a parameter or prescribed displacement
            that is not finite.
        SymancfError : PETSc refused, e.g. an option.
        KeyboardInterrupt : on every rank, after the iteration in which Ctrl-C was pressed; a
            second one before that ends the process.
        Suspended : on every rank, after SIGUSR1 or SIGTERM; see `Restart`.
        CheckpointError : the file is that of another system or run.

        Whatever is raised, the state is that of the last converged step, and the solution can be
        continued.
        """
        now = self._system.time
        to, step, smallest, ends = step_ends(self._system, to, step, smallest, stops)
        call = {"to": to, "step": step, "smallest": smallest, "jump": bool(jump)}
        restarts = self._restarts(checkpoint, call | {"stops": list(ends)})
        rests, interruption = restarts or nullcontext(), self.solver.interruption
        self._options.late = restarts is not None or self._reads_options()
        with rests, interruption, self._options, self.solver.progress, STAGES["statics"]:
            self._begin_with(trace, checkpoint is not None)
            self.solver.progress.way = now, to
            if self._system.redundant.some:
                require_consistent(self._system, to)
            largest = abs(to - now) if step is None else float(step)
            try:
                rest = partial(self._rest, restarts)
                steps = LoadSteps(self.solver, ends, largest, smallest, jump, rest, trace)
                self._advance(steps, restarts, to)
                self._solution, self._solved = self._fingerprint(), True
            except BaseException:
                self._solved = True
                if restarts is not None:
                    restarts.stop()
                raise
            if not self._options.warned:
                self._options.warn_unused(self._system.comm)
        if self.solver.krylov is not None:
            release()
        return self.history

    def _begin_with(self, trace: Trace | None, restarts: bool) -> None:
        """Make the solver ready, and a trace, if there is one (collective)."""
        self.trace = None
        if trace is None:
            self._begin()
            return
        starts, solved = self._starts(), self._is_present()
        self._begin()
        self._begin_trace(trace, starts, solved, restarts)

    def _advance(self, steps: LoadSteps, restarts: Restarts | None, to: float) -> None:
        """Make the steps of a call of `solve` that no restart point has (collective)."""
        saved = None if restarts is None else restarts.saved(to)
        if restarts is not None and saved is not None:
            self._go_on(restarts, steps, saved)
        if steps.done:
            return
        march(steps)
        if self.check_stable:
            self.solver.stability.tell(self.history)
        if restarts is not None:
            self._rest(restarts, steps)

    def _restarts(
        self, checkpoint: str | Path | Restart | None, call: dict[str, Any]
    ) -> Restarts | None:
        """Return what writes restart points of `solve` with the arguments of a call."""
        if checkpoint is None:
            return None
        interruption = self.solver.interruption
        return Restarts(checkpoint, self._system, self.history, "solve", call, 1, interruption)

    @warns_once
    def follow(
        self,
        parameter: Parameter | Literal["time"],
        to: float | None = None,
        *,
        step: float | None = None,
        steps: int | None = None,
        until: Callable[[Step], bool] | None = None,
        direction: int | None = None,
        largest: float | None = None,
        smallest: float = 1e-6,
    ) -> History:
        """Follow the path of equilibria along a parameter by arc length, past limit points.

        The parameter drives loads, pressures, prescribed displacements or whatever it was given
        for, and is an unknown here: it falls beyond a limit point. Each limit point is found to
        about ten digits, is a step of its own, and listed in ``history.limit_points``. The time
        of steps is the arc length (see `symancf.solve.statics.arc`), at the start of a path the
        change of the parameter; the pseudo-time stays. ``history[parameter.name]`` are its values.
        With a direct solver bifurcations are noted, too (a warning, ``history.bifurcations``),
        of an unsymmetric tangent those of odd numbers of eigenvalues, with Krylov's methods none
        (``history.search`` says which); the path continues as it was.

        Parameters
        ----------
        parameter : an `sa.Parameter`; ``"time"``: the pseudo-time of all functions of it.
        to : end where the parameter has this value for the first time, exactly.
        step : change of the parameter in the first step, as the tangent predicts it; then the
            arc length follows the turn of the path and the iterations. Default: 1/20 of the way
            to `to`. A path that is continued keeps its step.
        steps : number of steps (limit points apart), at most with `to` or `until`.
        until : called with each `Step`; end when it returns something true.
        direction : 1: the parameter grows at first, -1: it falls. Default: towards `to`; without
            it a path continues as it ended if nothing has changed since, and a new one grows.
            Needed where `to` is behind a path that has passed a limit point.
        largest : longest arc of a step; features of a path within one step are not seen.
        smallest : shortest arc tried, as a part of `step`.

        Raises
        ------
        ConvergenceError : no equilibrium at the start or further on the path; or `to`, or what
            `until` waits for, was not reached in `steps` (2000) steps. The state is that of the
            last step, and the path can be continued.
        ParameterError : impossible arguments; nothing depends on the parameter.
        """
        self._options.late = True
        with self.solver.interruption, self._options, self.solver.progress, STAGES["statics"]:
            self._begin(steps=False)
            if arguments.among(parameter, ("time",)) and any(
                form.timed for form in self._system.forms
            ):
                raise ParameterError(
                    "follow('time'): places travel in time here, and a path changes the time "
                    "within its steps; give a Parameter, or solve(to=..., step=...)",
                    asked="parameter",
                    given="time",
                )
            require_possible(
                self.solver, parameter, to, step, steps, until, direction, largest, smallest
            )
            to, step = (None if x is None else float(x) for x in (to, step))
            path = self._continuation
            if path is None or path.parameter is not parameter:
                path = self._continuation = Continuation(self.solver, parameter)
            try:
                self.trace, self._solved = None, True
                path.follow(to, step, steps, until, direction, largest, smallest)
                self._solution = self._fingerprint()
            except ConvergenceError as error:
                raise explained_path(self.solver, error, path.arc.name, to) from error.__cause__
            if not self._options.warned:
                self._options.warn_unused(self._system.comm)
        return self.history

    # ---- derivatives ----------------------------------------------------------------------------
    @warns_once
    def gradient(self, goal: Goal, parameters: Sequence[AnyVariable]) -> Gradient:
        r"""Return dJ/dp of a goal at the last equilibrium, by all parameters (collective).

        The adjoint way: one linear system with the transposed tangent, whatever the number of
        parameters; see `Adjoint`. With a `Trace` back over its steps, see `PathAdjoint`, one system
        for each, where laws remember or the goal asks for other times. Derivatives are exact at the
        states that `solve` has left, whose residuals are what they lack.

        Parameters
        ----------
        goal : J.
        parameters : each `Parameter`, each `Field` of values and each `Series` that anything
            depends on; those within functions of time, too; each `Shape` of a body of solids.

        Returns
        -------
        A mapping with ``value`` of the goal: ``g[p]`` is a number, of a `Field` an array (cells,),
        of a `Series` one of its values (n,), of a `Shape` (nodes, 3).

        Raises
        ------
        ParameterError : nothing depends on one; the state or a parameter is another one than after
            the last solution, or on the way; laws remember (plasticity, friction), or the goal asks
            for other times, and there is no `Trace` from the start; the tangent is singular.
        CompileError : a law remembers what follows axes of stretches, and is no tensor.

        Examples
        --------
        See `Goal`.
        """
        from ..gradients.gradient import require_any_variables, require_goal
        from .path_adjoint import PathAdjoint

        found = require_goal(goal)
        variables = require_any_variables(self._system, parameters)
        if self.trace is None:
            return self._adjoint("gradient").gradient(found, variables)
        with self._differentiating("gradient"):
            return PathAdjoint(self.solver, self.trace).gradient(found, variables)

    @warns_once
    def limit_gradient(self, parameters: Sequence[AnyVariable], number: int = 0) -> Gradient:
        r"""Return derivatives of a limit load of the last path by parameters (collective).

        That of ``history.limit_points[number]``, the value of the parameter that `follow` was
        given. With the vector in which the transposed tangent is singular there,
        :math:`K^T \psi = 0`, they are :math:`-\psi \cdot R_p / (\psi \cdot R_\lambda)`.

        Returns
        -------
        As of `gradient`; ``value`` is the limit load.

        Raises
        ------
        ParameterError : there is no such point; other parameters have changed since; nothing
            depends on one; laws remember; no direct solver.

        Examples
        --------
        A snap-through of a truss of two bars; its load grows as their stiffness does:

        >>> import numpy as np
        >>> import symancf as sa
        >>> P, EA = sa.Parameter("P", 0.0), sa.Parameter("EA", 100.0)
        >>> mesh = sa.Mesh.box((1.0,), (1,), warp=lambda X: X[:, :1] * [1.0, 0.3, 0.0])
        >>> bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=EA, EI=1.0)
        >>> apex = bar["x1"]
        >>> terms = [sa.fix(bar["x0"], "position"), sa.fix(apex, "x"), sa.planar(bar)]
        >>> system = sa.System(bar, terms=[*terms, sa.force(apex, (0.0, lambda t: -P.value, 0.0))])
        >>> problem = sa.StaticProblem(system)
        >>> _ = problem.follow(P, to=1.0, step=0.05)
        >>> found = problem.limit_gradient([EA])
        >>> round(found.value, 6), round(EA.value * found[EA], 6)
        (0.476515, 0.476515)
        """
        from .limit_adjoint import LimitAdjoint

        return self._at_point(LimitAdjoint, self.history.limit_points, parameters, number)

    @warns_once
    def buckling_gradient(self, parameters: Sequence[AnyVariable], number: int = 0) -> Gradient:
        r"""Return derivatives of a load at which the last path branches (collective).

        That of ``history.bifurcations[number]``, a simple one whose branches are alike, as those of
        a straight column. With the shape x in which the tangent is singular there the load goes
        with :math:`x \cdot K x = 0` along the path, see `BucklingAdjoint`.

        Returns
        -------
        As of `gradient`; ``value`` is the buckling load.

        Raises
        ------
        ParameterError : as of `limit_gradient`; several eigenvalues change their sign there, the
            branches are not alike, or a parameter breaks the symmetry: of an imperfection the load
            has no derivative.

        Examples
        --------
        Euler's load of a cantilever, that goes with EI:

        >>> import symancf as sa
        >>> P, EI = sa.Parameter("P", 0.0), sa.Parameter("EI", 1.0)
        >>> mesh = sa.Mesh.box((1.0,), (2,))
        >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=EI)
        >>> push = sa.force(rod["x1"], (lambda t: -P.value, 0.0, 0.0))
        >>> system = sa.System(rod, terms=[sa.fix(rod["x0"]), sa.planar(rod), push])
        >>> problem = sa.StaticProblem(system, check_stable=False)
        >>> _ = problem.follow(P, to=4.0, step=0.5)
        >>> found = problem.buckling_gradient([EI])
        >>> round(found.value, 2), round(found[EI], 2)                  # pi^2/4
        (2.47, 2.47)
        """
        from .limit_adjoint import BucklingAdjoint

        return self._at_point(BucklingAdjoint, self.history.bifurcations, parameters, number)

    def _at_point(
        self,
        adjoint: type[LimitAdjoint],
        points: Sequence[LimitPoint],
        parameters: Sequence[AnyVariable],
        number: int,
    ) -> Gradient:
        """Return derivatives of a load at a point of the last path, by its number (collective)."""
        from ..gradients.gradient import require_any_variables

        variables, path = require_any_variables(self._system, parameters), self._continuation
        number = arguments.integer(adjoint.what, "number", number, least=0)
        if path is None or number >= len(points) or path.parameter == "time":
            raise ParameterError(
                f"{adjoint.what}: there are {len(points)} {adjoint.points} of a path along an "
                f"sa.Parameter, no number {number}: call follow first",
                asked="number",
                given=number,
                possible=tuple(range(len(points))),
            )
        self._options.late = True
        with self.solver.interruption, self._options, STAGES["statics"]:
            self._make_ready()
            return adjoint(self.solver, path.parameter).gradient(points[number], variables)

    def value(self, goal: Goal) -> float:
        """Return a goal of the last solution, also at a time or an integral, with its trace.

        Raises
        ------
        ParameterError : it asks for other times, and there is no trace.
        """
        from ..gradients.gradient import require_goal
        from .path_adjoint import PathAdjoint

        goal = require_goal(goal)
        if self.trace is None:
            return goal.value(self.system)
        return PathAdjoint(self.solver, self.trace).value(goal)

    @warns_once
    def sensitivity(
        self, parameters: Sequence[AnyVariable], *, of: Sequence[Goal]
    ) -> list[Gradient]:
        """Return dJ/dp of several goals at the last equilibrium, in their order (collective).

        The direct way: one linear system for each parameter and each value of a field, whatever the
        number of goals; by a `Shape` one for each goal. Errors are those of `gradient`, and a law
        whose tangent leaves something out is a ParameterError.
        """
        from ..gradients.gradient import require_any_variables, require_goal

        goals = [require_goal(goal) for goal in (of if isinstance(of, list | tuple) else [of])]
        variables = require_any_variables(self._system, parameters)
        return self._adjoint("sensitivity").sensitivity(variables, goals)

    @warns_once
    def hessian(
        self, goal: Goal, parameters: Sequence[Variable], *, gauss_newton: bool = False
    ) -> Hessian:
        r"""Return products with the Hessian of a goal at the last equilibrium (collective).

        Exact, or :math:`(dy/dp)^T J_{yy}\, dy/dp` with the quantities y that the goal is a function
        of; see `Hessian` and `GaussNewton`. It serves while the state is that of now.

        Parameters
        ----------
        goal, parameters : as those of `gradient`.
        gauss_newton : without second derivatives of laws and loads.

        Returns
        -------
        A `scipy.sparse.linalg.LinearOperator` (n, n) of all values of the parameters, in their
        order: ``H @ d``, or ``H @ np.eye(n)`` for all of it.

        Raises
        ------
        ParameterError : as those of `sensitivity`; the goal itself has one of the parameters.
            Without ``gauss_newton``: values of laws, loads or supports are no linear functions of
            the parameters; a kink at the present state.

        Examples
        --------
        Of two measured heights of a cable under loads, the standard errors of both moduli:

        >>> import numpy as np
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((1.0,), (4,))
        >>> EI, EA = sa.Parameter("EI", 1.0), sa.Parameter("EA", 100.0)
        >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=EA, EI=EI)
        >>> tip = cable.at((1.0, 0.0, 0.0))
        >>> terms = [sa.fix(cable["x0"]), sa.force(tip, (5.0, 0.5, 0.0))]
        >>> problem = sa.StaticProblem(sa.System(cable, terms=terms))
        >>> _ = problem.solve()
        >>> misfit = sa.Goal(lambda u_a: (u_a[0] - 0.0482) ** 2 + (u_a[1] - 0.06) ** 2, tip)
        >>> H = problem.hessian(misfit, [EI, EA], gauss_newton=True)
        >>> covariance = 2 * 1e-4**2 * np.linalg.inv(H @ np.eye(2))     # of readings to 0.1 mm
        >>> [round(float(x), 3) for x in np.sqrt(np.diag(covariance))]
        [0.005, 0.199]
        """
        from ..gradients.gradient import require_goal, require_variables
        from .hessian import GaussNewton, Hessian

        made = GaussNewton if arguments.flag("hessian", "gauss_newton", gauss_newton) else Hessian
        found, variables = require_goal(goal), require_variables(self._system, parameters)
        present = partial(self._require_present, "hessian")
        return made(self._adjoint("hessian"), found, variables, present)

    def _solve_with(self, assign: Callable[[], None]) -> None:
        """Find the last solution anew; parameters are assigned before (collective)."""
        trace = self.trace
        if trace is None:
            assign()
            self.solve(to=self._system.time)
            return
        assert self._first is not None
        self.restore(replace(self._first, parameters=()))  # others than assigned stay
        self._solved = False
        assign()
        times = [float(t) for t in trace.times]
        if trace.origin != "start":
            self.solve(to=times[0])
        new = trace.empty()
        try:
            for time in times[1:]:  # steps of the same lengths
                self.solve(to=time, smallest=1.0, trace=new)
        except ConvergenceError:
            self.trace = trace
            raise

    def _adjoint(self, what: str) -> Adjoint:
        """Return what differentiates at the last equilibrium (collective)."""
        from .adjoint import Adjoint

        with self._differentiating(what):
            return Adjoint(self.solver)

    @contextmanager
    def _differentiating(self, what: str) -> Iterator[None]:
        """Let PETSc have the options of this problem, if its state is that of a solution."""
        self._options.late = True
        with self.solver.interruption, self._options, STAGES["statics"]:
            self._require_present(what)
            yield

    def _require_present(self, what: str) -> None:
        """Raise where the state or a parameter is another than after the last solution."""
        if not self._system.comm.allreduce(self._is_present(), op=MPI.LAND):
            raise ParameterError(
                f"{what}: the state, the time or a parameter is another than after the last "
                "solution: call solve(to=system.time) first",
                asked=what,
            )

    def _is_present(self) -> bool:
        """Tell whether the state of this rank is that of the last solution (collective)."""
        return self._fingerprint() == self._solution

    def _fingerprint(self) -> bytes:
        """Return a hash of what an equilibrium depends on (collective)."""
        system, prescribed = self._system, self._system.state.copy()
        system.prescribe(system.time, prescribed)
        rows = [rows for _, rows in sorted(system.assembler.rows.items())]
        at = np.array([system.time, float(self.solver.ready)])
        found = hashlib.blake2b()
        for values in (at, system.state, prescribed, system.assembler.values, *rows):
            found.update((values + 0.0).data)  # -0 is 0
        return found.digest()

    def cost(self) -> Cost:
        """Predict the memory of a solution before anything of that size is made (collective).

        `solve` warns where it is more than the machines have left.

        Returns
        -------
        Cost : ``cost.on(ranks)`` are the bytes that each of so many ranks would need.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (20, 20, 20))
        >>> law, given = sa.energies.neo_hooke(), {"mu": 1.0, "lam": 2.0}
        >>> block = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
        >>> problem = sa.StaticProblem(sa.System(block, terms=[sa.fix(block["x0"])]))
        >>> cost = problem.cost()
        >>> print(cost.solver, cost.fits, cost.on(4) < cost.on(1))
        grids True True
        """
        from ..cost import cost_of

        solver = self._options.choice("pc_type")
        solver = solver or str(linear_defaults(self._system)["pc_type"])
        return cost_of(self._system, solver, is_symmetric(self._system))

    def monitor(self, function: Monitor, every: int = 1) -> None:
        """Call ``function(step)`` with each, or each `every`-th, converged `Step`, on every rank.

        ``step.time``, ``step.iterations`` and ``step.parameters`` describe the step; states are
        those of the system. It may communicate if all ranks have it, as series of files do.
        """
        number = lambda: len(self.history.steps)  # noqa: E731
        self.solver.monitors.append(monitored(function, every, number))

    def record(self, name: str, what: Watched, every: int = 1) -> None:
        """Keep a quantity after each step, or each `every`-th, as ``history[name]``.

        With the state that it begins with, too, after ``problem.history.sample(system.time)``.
        `what` is a place, whose position is recorded [m], a function without arguments that returns
        a number or an array, a support, constraint, cavity or contact, of which several series may
        be recorded, ``name force`` ...; see `DynamicProblem.record`.
        """
        record(self.history, self.system, name, what, every)

    def save(
        self, path: str | Path, attributes: Mapping[str, checkpoint.StoredValues] | None = None
    ) -> Path:
        """Write the state and `attributes`; see `symancf.output.checkpoint.save`."""
        return checkpoint.write(path, self._system, self.state, attributes=attributes)

    @property
    def state(self) -> State:
        """The present state as a value, for `restore`: no step changes it."""
        method = {"solver": self.solver.memory} if self.solver.ready else {}
        return replace(self._system.snapshot(), method=method)

    @warns_once
    def restore(self, state: State | str | Path) -> Facts:
        """Go to a state of this problem, or to that of a checkpoint (collective).

        Parameters
        ----------
        state : a value of `state`, with which `Parameter` objects get the values that they had; or
            the file of `save` of a system built alike, on any number of ranks, which leaves them
            to the program.

        Returns
        -------
        attributes of the file. With a direct solver what follows is, on the same number of ranks,
        the run that was saved, bit for bit.

        Raises
        ------
        ParameterError : a state of another system.
        CheckpointError : see `symancf.output.checkpoint.load`.
        """
        attributes: Facts = {}
        if isinstance(state, State):
            self._system.require_own(state)
        else:
            state, attributes = checkpoint.read(state, self._system)
            state = replace(state, parameters=())
        self._take(state)
        return attributes

    def reset(self) -> None:
        """Go to where the first `solve` or `follow` began (collective); the history stays.

        Each `Parameter` of the system has its value of then, too: set others after this.
        """
        if self._first is not None:
            self.restore(self._first)
            self._solved = False


def _alike(one: State, other: State) -> bool:
    """Tell whether two states have the same displacements, and laws remember the same."""
    pairs = zip(one.internal.next, other.internal.next, strict=True)
    same = all(a is b or np.array_equal(a, b) for a, b in pairs)
    return same and np.array_equal(one.displacement, other.displacement)

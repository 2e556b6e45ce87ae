# SPDX-License-Identifier: BSD-3-Clause
"""Time integrators: the base of all methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...arrays import Array
from ...assembly.revisions import REVISIONS, Review, Verdict
from ...errors import ConvergenceError, ParameterError
from ...runtime.collective import together
from ...runtime.petsc import PETSc
from ..solver import reason_name
from .explanation import explained
from .interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.form import Form
    from ...assembly.state import State
    from ...output.steps import Step
    from .accelerations import Accelerations
    from .ahead import Ahead

REMAINDER_TOLERANCE = 1e-9  # of a step: a remainder that is not worth a step of its own
SMALLEST_STEP_RATIO = 1.0 / 1024.0  # of the step asked for: smaller attempts are given up


def fits(h: float, rest: float) -> bool:
    """Tell whether a step of length h ends the rest of the time, or leaves no short one."""
    return rest >= 1.2 * h or abs(rest - h) <= REMAINDER_TOLERANCE * h


def end_of_step(begin: float, h: float, end: float) -> float:
    """Return when a step of length h ends: at `end` where no more than round-off is left."""
    return end if abs(end - begin - h) <= REMAINDER_TOLERANCE * h else begin + h


class Integrator:
    """Makes one step of a motion, from the present state; `TimeSteps` makes one after the other.

    A method is a subclass with `step`, which may use `solve` with a `predict` of its own: the
    equations of motion at the end of the step, where rates and accelerations are affine in the
    new coordinates. What the next step depends on beside state, rates and accelerations is in
    `vectors` and `numbers`. ``DynamicProblem(system, method=Method)`` takes the class.

    Parameters
    ----------
    accelerations : of the motion.

    Attributes
    ----------
    numbers : names of attributes that belong to the state of the method.
    vectors : local vectors that do, by name (not "state", "rate", "acceleration").
    smooth : see `Interval`.
    step_length : length of steps without trouble; `last_step`: of the last one, 0 at a start;
        `next_step`: of the next attempt; `attempt`: of the last attempt; `longest`: of any step.
    end : time that no step goes beyond; `duration`: of the call of `solve`.
    adaptive : whether the length of steps follows the error.
    rtol, atol, relative : tolerances, of each row; whether `atol` is by default.
    before : the state at the beginning of the step.
    iterations, linear_iterations : of the step, with all of its attempts.
    rejections : number of attempts that failed.
    calm : steps for which accelerations are not extrapolated, after trouble.
    """

    numbers: ClassVar[tuple[str, ...]] = ("last_step",)
    smooth: ClassVar[bool] = False

    def __init__(self, accelerations: Accelerations) -> None:
        self.accelerations = accelerations
        self.motion, self.newton = accelerations.motion, accelerations.newton
        self.vectors: dict[str, Array] = {}
        self.step_length = self.last_step = self.next_step = self.attempt = 0.0
        self.longest = self.end = math.inf
        self.duration = 1.0
        self.adaptive = False
        self.ahead: Ahead | None = None
        self.rtol, self.atol, self.relative = 1e-6, np.zeros(0), True
        self.before: State | None = None
        self.iterations = self.linear_iterations = self.rejections = 0
        self.calm = 0
        self.review = Review(Verdict.STANDS)
        self.motion.system.register(self)

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return those of the method."""
        return list(self.vectors.values())

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Newton's method takes up other entities."""

    # ---- TS, by which users give options, and look at steps -------------------------------------
    def attach(self, ts: PETSc.TS) -> None:
        """Choose the type of a TS and its vector, and read options of its own (collective)."""
        self.ts, numbering = ts, self.newton.numbering
        ts.setType(PETSc.TS.Type.PYTHON)
        ts.setPythonContext(self)
        sizes = 2 * numbering.rows, 2 * numbering.size
        ts.setSolution(PETSc.Vec().createMPI(sizes, comm=self.newton.comm))

    def show(self, count: int) -> None:
        """Let TS be at the present motion, `count` steps later."""
        ts, to_rows, rows = self.ts, self.newton.numbering.to_rows, self.newton.numbering.rows
        values = ts.getSolution().getArray()
        values[:rows] = to_rows(self.motion.state)
        values[rows:] = to_rows(self.motion.rate)
        ts.setStepNumber(ts.getStepNumber() + count)
        ts.setTime(self.motion.system.time)
        ts.setMaxTime(self.end)
        ts.setTimeStep(self.next_step)

    # ---- the beginning of a motion --------------------------------------------------------------
    def factors(self, h: float) -> None:
        """Set the factors of rates and accelerations for steps of length h; see `Motion`."""

    def largest(self, h: float) -> float:
        """Return the largest entry on the tangent's diagonal, the scale of multipliers."""
        m = self.motion
        self.factors(h)
        with together(self.newton.comm):
            m.tangent(np.zeros_like(m.state))
        diagonal = m.storage.mat.getDiagonal().getArray()
        rows = m.second[self.newton.numbering.coordinate_of_row]
        return self.newton.largest(float(np.abs(diagonal[rows]).max(initial=0.0)))

    def begin(self, adaptive: bool | None) -> None:
        """Prepare for a motion (collective).

        Raises
        ------
        ParameterError : lengths of steps are to follow an error that the method does not know.
        """
        if adaptive:
            raise ParameterError(
                f"{type(self).__name__} does not estimate its error: leave out adaptive=True",
                asked="adaptive",
                given=adaptive,
                possible=(None, False),
            )

    def started(self) -> None:
        """Take the initial values."""
        self.last_step = 0.0

    def balanced(self, h: float) -> bool:
        """Tell whether accelerations and multipliers fit the loads right after now (collective)."""
        return True

    def resume(self) -> None:
        """Go on from the present motion, which something else than a step has changed."""
        self.newton.tangent.stale = True

    def reconsider(self) -> None:
        """Take that a monitor has set a `Parameter` at the present state (collective)."""

    # ---- states ---------------------------------------------------------------------------------
    def snapshot(self) -> State:
        """Return the present state as a value."""
        owned = self.motion.system.numbering.owned
        method: dict[str, Any] = {name: v[:owned].copy() for name, v in self.vectors.items()}
        method |= {name: getattr(self, name) for name in self.numbers}
        rate, acceleration = (
            self.motion.rate[:owned].copy(),
            self.motion.acceleration[:owned].copy(),
        )
        system = self.motion.system
        return system.snapshot(rate=rate, acceleration=acceleration, method=method)

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot`; loads stay, and `calm` (collective)."""
        self.motion.restore(state)
        for name, vector in self.vectors.items():
            self.motion.system.numbering.spread(state.method[name], vector)
        for name in self.numbers:
            setattr(self, name, state.method[name])

    def go_back(self, state: State) -> None:
        """Go to the beginning of the step; terms know what was tried (collective)."""
        variables = self.motion.system.variables
        self.before = state
        self.restore(state)
        self.motion.system.learn(variables)

    # ---- a step ---------------------------------------------------------------------------------
    def open(self, rest: float) -> None:
        """Begin a step, with so much time left: `next_step` is the length to be tried first."""
        h = min(self.next_step, self.longest)
        if not self.adaptive:
            h = min(h, self.step_length)
        if self.ahead is not None:
            h = self.ahead.limit(self.motion.system.time, min(h, rest))
        self.next_step = h

    def fitted(self, h: float) -> tuple[float, bool]:
        """Return a length near h with which no short step is left, and whether it is the last."""
        rest = self.end - self.motion.system.time
        if rest <= h * (1.0 + REMAINDER_TOLERANCE):
            return (rest if abs(rest - h) > REMAINDER_TOLERANCE * h else h), True
        return (0.5 * rest if rest < 1.2 * h else h), False

    def step(self, h: float) -> Step | ConvergenceError:
        """Make a step of a length near h, not beyond `end`, and choose `next_step` (collective).

        After an error the motion may be anywhere.
        """
        raise NotImplementedError

    def shorten(self, error: ConvergenceError) -> None:
        """Let the next attempt be shorter; the state is that of the beginning again (collective).

        Raises
        ------
        ConvergenceError : it would be too short; likely causes are told.
        """
        self.rejections += 1
        self.next_step = self.attempt * self.shorter()
        if self.next_step >= self.step_length * SMALLEST_STEP_RATIO:
            return
        raise explained(
            self.motion,
            error,
            to=self.motion.span[1],
            step=self.step_length,
            attempted=self.attempt,
            outside=self.newton.outside,
            refused=() if self.review.verdict is Verdict.STANDS else self.review.names,
        )

    def shorter(self) -> float:
        """Return the length of the next attempt as a part of that of the last one."""
        return 0.5 if "halved" in self.newton.uses else 0.0

    # ---- the equations at the end of a step -----------------------------------------------------
    def predict(self, h: float) -> None:
        """Set the affine map of a step of length h, and a state to begin with; see `Newton`."""

    def solve(self, h: float) -> bool:
        """Solve the equations of a step of length h; tell whether that did it (collective)."""
        system, t = self.motion.system, self.motion.system.time
        end = end_of_step(t, h, self.end)
        system.revise(end)
        self.predict(h)
        system.memory.begin(t)
        self.motion.prescribe(end, h)
        return self.converges(h)

    def converges(self, h: float) -> bool:
        """Iterate from the present state until all terms agree; tell whether they do."""
        newton, system, self.review = self.newton, self.motion.system, Review(Verdict.STANDS)
        for _ in range(REVISIONS):
            variables, converged = system.variables, newton.solve_step(h)
            self.iterations += newton.iterations
            self.linear_iterations += newton.linear_iterations
            self.review = system.review(system.time) if converged else Review(Verdict.STANDS)
            if self.review.verdict is not Verdict.AGAIN:
                break
            if not all(map(np.array_equal, variables, system.variables)):
                newton.tangent.stale = True  # it is that of other laws
            with together(newton.comm):
                system.update(system.time)
        return converged and self.review.verdict is Verdict.STANDS

    def failure(self, h: float) -> ConvergenceError:
        """Return the error of an attempt of length h from `before` that `solve` has not solved."""
        assert self.before is not None
        t, name, text = self.before.time, "REVIEW", str(self.review)
        if self.review.verdict is Verdict.STANDS:
            name, text = reason_name(self.newton.snes, self.newton.ended)
            text += self.newton.linear.reason
        text = f"no solution of a time step of {h:.3g} from t = {t:g}: {text}"
        return ConvergenceError(text, reason=name, iteration=self.newton.iterations, time=t)

    # ---- steps that end at an event -------------------------------------------------------------
    def interval(self) -> Interval:
        """Return the last step."""
        assert self.before is not None
        return Interval(self.motion, self.before, self.snapshot(), self.smooth)

    def land(self, t: float, interval: Interval) -> None:
        """Make a step anew so that it ends at t; at the end of the whole, put that back.

        (collective)

        Raises
        ------
        ConvergenceError : it has no solution.
        """
        self.go_back(interval.begin)
        if t >= interval.end.time:
            self.motion.move_to(interval.end.time)
            self.restore(interval.end)
            return
        memory = self.motion.system.memory
        memory.full_length = interval.length
        try:
            self.land_within(t, interval)
        finally:
            memory.full_length = 0.0

    def land_within(self, t: float, interval: Interval) -> None:
        """Make a step from its beginning, where the motion is, that ends at t (collective)."""
        end, self.end = self.end, t
        step = self.step(t - interval.begin.time)
        self.end = end
        if isinstance(step, ConvergenceError):
            raise step

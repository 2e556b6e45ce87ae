# SPDX-License-Identifier: BSD-3-Clause
"""Steps of load: from one pseudo-time to the next, at once or in parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...arrays import Array
from ...assembly.agreement import agreed, times_between
from ...assembly.revisions import Verdict
from ...errors import ConvergenceError, ParameterError
from ...output.steps import Step
from ...values import arguments
from ..causes import LONG_STEP
from .branch import DOUBTFUL_ITERATIONS
from .equilibrium import Attempt
from .explanation import explained

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.state import State
    from ..gradients.trace import Trace
    from .equilibrium import EquilibriumSolver


#: Newton iterations of a part that leave its size as it is, up to `DOUBTFUL_ITERATIONS`
CUT = "a step was cut, and a jump of loads came in parts"
EASY_ITERATIONS = 8


class LoadSteps:
    """The steps of one call of `StaticProblem.solve`, see `march`.

    Where a step fails it is cut: prescribed values and loads follow the pseudo-time, and what was
    out of balance at the start (dead loads that are there at once) fades away with it. Equilibria
    on the way are steps of their own, but those with a part of it left out.

    Parameters
    ----------
    ends : pseudo-times at which a step ends, the last one that of the call.
    largest : longest step.
    smallest : shortest part of a step.
    jump : whether any equilibrium is taken.
    rests : called with this at the end of each recorded step but the last.
    trace : takes the states of steps.

    Attributes
    ----------
    start, goal : pseudo-times of the present step, of which the part `fraction` is made; `end` is
        what it will be after the next attempt, and `part` the difference.
    now : the pseudo-time that is reached.
    records : whether nothing is left out at the present state.
    first : the state at its start.
    cuts : the history's number of these then.
    fades : whether the start was no equilibrium, and what was out of balance fades away.
    path : equilibria before, see `Change`.
    last_attempt : the last attempt.
    tangents : whether the next one may begin on the tangent of the path; after a failure both ways
        to begin take turns.
    """

    def __init__(
        self,
        solver: EquilibriumSolver,
        ends: Sequence[float],
        largest: float,
        smallest: float,
        jump: bool,
        rests: Callable[[LoadSteps], None],
        trace: Trace | None = None,
    ) -> None:
        self.solver, self.system, self.history = solver, solver.system, solver.history
        self.ends, self.largest, self.smallest, self.jump = ends, largest, smallest, jump
        self.snapshot, self.restore = self.system.snapshot, self.system.restore  # for `march`
        self._rests, self._trace = rests, trace
        self._parts: list[State] = []  # since the last record
        self.part = 1.0
        self.path: list[tuple[float, Array]] = []
        self.now = self.goal = self.system.time
        self.fraction = 1.0
        self.done = self.fades = self.records = False
        self.last_attempt, self.tangents = Attempt(), True
        self._iterations = self._linear = 0

    def _begin(self) -> None:
        """Begin a step where the last one has ended."""
        solver, to = self.solver, self.ends[-1]
        self.start = now = self.goal
        end = next((t for t in self.ends if abs(to - t) < abs(to - now)), to)
        in_one = abs(end - now) <= self.largest * (1.0 + 1e-9)
        self.goal = end if in_one else now + math.copysign(self.largest, to - now)
        self.cuts, self.fraction = self.history.cut_backs, 0.0
        self.first = self._before = self.system.displacement()
        solver.sudden.jumped = False
        if not self.path or self.path[-1][0] != now:
            self.path = []
            if now != self.goal:
                self.path = solver.branch.beginning(now, solver.convergence, self.first)
        self.fades = self.part < 1.0 and solver.measure_imbalance(now, self.first)

    # ---- for `march` ----------------------------------------------------------------------------
    def attempt(self, state: State) -> Step | ConvergenceError:
        """Try the next part of a step.

        An equilibrium that is not on the path, or that a term would rather have in parts, is an
        error.
        """
        if self.fraction == 1.0:
            self._begin()
        solver, now, time, end = self.solver, self.now, self.goal, self.fraction + self.part
        if end > 1.0 - 1e-9:
            end = 1.0
        else:
            time = self.start + end * (self.goal - self.start)
        self.end, accepted = end, solver.convergence.accepted
        self.system.memory.begin(now)
        result, attempt = solver.advance(
            now, time, self._before, 1.0 - end, self.path, tangents=self.tangents
        )
        self.last_attempt = attempt
        self.tangents = not (self.tangents and isinstance(result, ConvergenceError))
        if self.smallest >= 1.0 or self.jump or isinstance(result, ConvergenceError):
            return result
        why = ""
        hard = attempt.hardest > DOUBTFUL_ITERATIONS or self.history.cut_backs > self.cuts
        if hard and "branches" in solver.uses:
            after = self.system.state.copy()
            why = solver.branch.break_between(self._before, after, attempt.hardest, solver.sudden)
        parts = (
            attempt.review.verdict is Verdict.LONG
            and "parts" in solver.uses
            and end - self.fraction >= 2.0 * max(self.smallest, LONG_STEP)
        )
        refused = why or parts
        return solver.refused(result, self._before, accepted, why) if refused else result

    def shorten(self, error: ConvergenceError) -> None:
        """Halve the part that has failed.

        Raises
        ------
        ConvergenceError : it would be too short.
        """
        solver, attempt = self.solver, self.last_attempt
        self.history.cut_backs += attempt.review.verdict is not Verdict.LONG
        self.part = (self.end - self.fraction) / 2.0
        hopeless = attempt.singular and solver.linear.direct
        if self.part < self.smallest or hopeless or "halved" not in solver.uses:
            begun, done, goal = (self.start, self.first), self.fraction, self.goal
            smallest, refused = self.smallest, attempt.refused_by
            raise explained(solver, error, begun, self._before, done, goal, smallest, refused)
        if self.fraction == 0.0:
            self.fades = solver.measure_imbalance(self.start, self.first)
            self.path = [(0.0, self.first)] if self.start == self.goal else self.path

    def accept(self, step: Step) -> None:
        """End a part at the present state; after few iterations the next one is longer."""
        self.system.accept()
        if self.system.memory:
            from ..turns import warn_of_turns

            warn_of_turns(self.system, self._before)
        if self.solver.sudden.some:
            self.solver.sudden.reach()
        at = self.end if self.start == self.goal else step.time
        self._before = self.system.displacement()
        self.path = [*self.path[-2:], (at, self._before)]
        self.fraction, self.now = self.end, step.time
        self.records = self.fraction == 1.0 or not self.fades
        hardest = self.last_attempt.hardest
        if self.smallest < 1.0 and not EASY_ITERATIONS <= hardest <= DOUBTFUL_ITERATIONS:
            ease = math.sqrt(EASY_ITERATIONS / max(1, hardest))
            self.part = min(1.0, self.part * min(2.0, max(0.5, ease)))
        if self._trace is not None:
            self._parts.append(self.system.snapshot())
        self._step = step
        self._iterations += step.iterations
        self._linear += step.linear_iterations

    def record(self) -> None:
        """Note the parts since the last record as one step; begin the next one."""
        step, solver = self._step, self.solver
        if solver.sudden.some:
            solver.sudden.settle()
        solver.record(Step(step.time, self._iterations, self._linear, step.norms))
        self._iterations = self._linear = 0
        if self._trace is not None:
            self._take_parts(self._trace)
        is_end = self.fraction == 1.0
        if is_end and self.fades:
            self.path = []
        self.done = is_end and self.goal == self.ends[-1]
        if not self.done:
            self._rests(self)

    def _take_parts(self, trace: Trace) -> None:
        """Hand the states since the last record to a trace; those out of balance laws may need."""
        for state in self._parts[:-1]:
            if not self.fades:
                trace.append(state, self.system.comm)
            elif self.system.memory:
                trace.append(state, self.system.comm, CUT)
        trace.append(self._parts[-1], self.system.comm)
        self._parts = []

    # ---- restart points -------------------------------------------------------------------------
    @property
    def memory(self) -> dict[str, Any]:
        """What the next step depends on, but the state and the solver's numbers."""
        owned = self.system.numbering.owned
        method: dict[str, Any] = {
            "leg": [self.start, self.goal, self.cuts, self.fraction],
            "part": self.part,
            "path": [time for time, _ in self.path],
            "first": self.first[:owned],
        }
        return method | {f"path {k}": state[:owned] for k, (_, state) in enumerate(self.path)}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what `memory` was, at the state of that time."""
        local = self.system.numbering.local
        self.part, self.now = memory["part"], self.system.time
        self.path = [(t, local(memory[f"path {k}"])) for k, t in enumerate(memory["path"])]
        self.start, self.goal, self.cuts, self.fraction = memory["leg"]
        self.first, self._before = local(memory["first"]), self.system.state.copy()


def step_ends(
    system: DiscreteSystem, to: Any, step: Any, smallest: Any, stops: Any
) -> tuple[float, float | None, float, tuple[float, ...]]:
    """Return arguments of `StaticProblem.solve`; the last of `stops` is `to` (collective).

    Raises
    ------
    ParameterError : one of them is not possible.
    """
    to, now = arguments.number("solve", "to", to, "be a finite pseudo-time"), system.time
    to = agreed(system.comm, "solve(to=...)", to)
    if to < now and system.memory.timed:
        raise ParameterError(
            f"solve(to={to:g}): the pseudo-time is {now:g} and cannot fall, because "
            f"{system.memory.timed[0]!r} asks for the length of the step, dt; let loads "
            "fall as functions of a growing time",
            asked="to",
            given=to,
            possible=(now,),
        )
    if step is not None:
        step = arguments.step("solve", step, now, to)
        step = agreed(system.comm, "solve(step=...)", step)
    smallest = arguments.number(
        "solve", "smallest", smallest, "be a fraction of a step", lambda x: 0.0 < x <= 1.0
    )
    return to, step, smallest, times_between(system.comm, "solve", stops, now, to)

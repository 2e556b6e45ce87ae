# SPDX-License-Identifier: BSD-3-Clause
"""Steps of load: from one pseudo-time to the next, at once or in parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...arrays import Array
from ...assembly.agreement import agreed, times_between
from ...errors import ConvergenceError, ParameterError
from ...output.steps import Step
from ...values import arguments
from .branch import HARD
from .explanation import explained

if TYPE_CHECKING:
    from ...system import System
    from .equilibrium import EquilibriumSolver


SHORT = 1.0 / 64.0  # part of a step that is halved no more because a term finds it long
EASY = 8  # Newton iterations of a part that leave its size as it is, up to `HARD`


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

    Attributes
    ----------
    start, goal : pseudo-times of the present step, of which the part `fraction` is made; `end` is
        what it will be after the next attempt, and `part` the difference.
    first : the state at its start.
    cuts : the history's number of these then.
    fades : whether the start was no equilibrium, and what was out of balance fades away.
    path : equilibria before, see `Change`.
    """

    def __init__(
        self,
        solver: EquilibriumSolver,
        ends: Sequence[float],
        largest: float,
        smallest: float,
        jump: bool,
        rests: Callable[[LoadSteps], None],
    ) -> None:
        self.solver, self.system, self.history = solver, solver.system, solver.history
        self.ends, self.largest, self.smallest, self.jump = ends, largest, smallest, jump
        self._rests = rests
        self.part, self.path = 1.0, list[tuple[float, Array]]()
        self.done, self.fades = False, False
        self._iterations = self._linear = 0
        self._begin(self.system.time)

    def _begin(self, now: float) -> None:
        """Begin a step at a pseudo-time."""
        to = self.ends[-1]
        end = next((t for t in self.ends if abs(to - t) < abs(to - now)), to)
        whole = abs(end - now) <= self.largest * (1.0 + 1e-9)
        self.start = now
        self.goal = end if whole else now + math.copysign(self.largest, to - now)
        self.first, self.cuts = self.system.state.copy(), self.history.cut_backs
        self.fraction = 0.0
        self._opens = True

    def _open(self) -> None:
        """See what the first part of a step begins with, or the first one after a restart."""
        solver, self._opens = self.solver, False
        solver.sudden.jumped = False
        self._before = self.system.state.copy()
        if self.fraction:
            return
        if not self.path or self.path[-1][0] != self.start:
            begins = self.start != self.goal
            self.path = solver.branch.beginning(self.start, solver.convergence) if begins else []
        self.fades = self.part < 1.0 and solver.measure_imbalance(self.start, self.first)

    def time(self, fraction: float) -> float:
        """Return the pseudo-time of a fraction of the present step."""
        return self.goal if fraction == 1.0 else self.start + fraction * (self.goal - self.start)

    # ---- for `march` ----------------------------------------------------------------------------
    @property
    def records(self) -> bool:
        """Whether nothing is left out at the present state."""
        return self.fraction == 1.0 or not self.fades

    def attempt(self) -> Step | ConvergenceError:
        """Try the next part of a step.

        An equilibrium that is not on the path, or that a term would rather have in parts, is an
        error.
        """
        if self._opens:
            self._open()
        solver, now = self.solver, self.time(self.fraction)
        end = self.fraction + self.part
        self.end = end = 1.0 if end > 1.0 - 1e-9 else end
        accepted = solver.convergence.accepted
        self.system.memory.begin(now)
        result = solver.advance(now, self.time(end), self._before, 1.0 - end, self.path)
        if self.smallest >= 1.0 or self.jump or isinstance(result, ConvergenceError):
            return result
        hard = solver.hardest > HARD or self.history.cut_backs > self.cuts
        hard &= "branches" in solver.uses
        parts = (
            solver.long
            and "parts" in solver.uses
            and end - self.fraction >= 2.0 * max(self.smallest, SHORT)
        )
        if not (hard or parts):
            return result
        return solver.refused(result, self._before, accepted, hard, parts) or result

    def shorten(self, error: ConvergenceError) -> None:
        """Halve the part that has failed.

        Raises
        ------
        ConvergenceError : it would be too short.
        """
        solver = self.solver
        self.history.cut_backs += not solver.long
        self.part = (self.end - self.fraction) / 2.0
        if self.part < self.smallest or solver.hopeless or "halved" not in solver.uses:
            begun = self.start, self.first
            done, goal = self.fraction, self.goal
            raise explained(solver, error, begun, self._before, done, goal, self.smallest)
        if self.fraction == 0.0:
            self.fades = solver.measure_imbalance(self.start, self.first)
            self.path = [(0.0, self.first)] if self.start == self.goal else self.path

    def accept(self, step: Step) -> None:
        """End a part at the present state; after few iterations the next one is longer."""
        self.system.accept()
        if self.solver.sudden.some:
            self.solver.sudden.reach()
        at = self.end if self.start == self.goal else step.time
        self._before = self.system.state.copy()
        self.path = [*self.path[-2:], (at, self._before)]
        self.fraction = self.end
        if not EASY <= self.solver.hardest <= HARD:
            ease = math.sqrt(EASY / max(1, self.solver.hardest))
            self.part = min(1.0, self.part * min(2.0, max(0.5, ease)))
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
        whole = self.fraction == 1.0
        if whole and self.fades:
            self.path = []
        self.done = whole and self.goal == self.ends[-1]
        if not self.done:
            self._rests(self)
            if whole:
                self._begin(self.goal)

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
        self.part = memory["part"]
        self.path = [(t, local(memory[f"path {k}"])) for k, t in enumerate(memory["path"])]
        start, goal, cuts, fraction = memory["leg"]
        if fraction == 1.0:
            self._begin(goal)
        else:
            self.start, self.goal, self.cuts, self.fraction = start, goal, cuts, fraction
            self.first = local(memory["first"])


def steps_asked(
    system: System, to: Any, step: Any, smallest: Any, stops: Any
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

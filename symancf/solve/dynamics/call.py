# SPDX-License-Identifier: BSD-3-Clause
"""One call of `DynamicProblem.solve`: where it began, and its restart points."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...assembly.state import State
    from ...output.restart import Restarts, Saved
    from .problem import DynamicProblem


class Call:
    """A call of `DynamicProblem.solve`: where it began, and its restart points.

    Attributes
    ----------
    start : time at its beginning, also where it goes on from a checkpoint.
    rejected : the integrator's number of rejections then.
    """

    def __init__(self, problem: DynamicProblem, adaptive: bool | None) -> None:
        self.problem, self.adaptive = problem, adaptive
        self.start, self._steps = problem.system.time, problem.steps
        self.rejected = problem.integrator.rejections

    def left(self, restarts: Restarts) -> int:
        """Return how many steps are left to the next restart point."""
        return restarts.left(self.problem.steps - self._steps)

    def state(self) -> State:
        """Return what the next step depends on."""
        state, ts = self.problem.state, self.problem.ts
        call = {
            "ts": [ts.getTimeStep(), ts.getStepNumber()],
            "rejected": self.problem.integrator.rejections - self.rejected,
            "begun": [self.start, self._steps],
        }
        return replace(state, method={**state.method, **call})

    @contextmanager
    def keeping(self, restarts: Restarts | None) -> Iterator[None]:
        """Let a check after a step write what has been reached, where it raises (collective)."""
        try:
            yield
        except BaseException:
            if restarts is not None:
                restarts.stop(self.state)
            raise

    def resume(self, restarts: Restarts, saved: Saved) -> None:
        """Go to where a checkpoint is (collective)."""
        problem, method = self.problem, saved.state.method
        problem.take(saved.state)
        self.start, self._steps = method["begun"]
        self.rejected = problem.integrator.rejections - int(method["rejected"])
        problem.motion.lead()
        problem.system.prescribe(problem.system.time)
        problem.audit.stand()
        problem.newton.balance.begin()  # tolerances of steps are in its sizes
        restarts.resume(saved)

    def anew(self, step: float | None = None, number: int | None = None) -> None:
        """Forget all that earlier steps have left but the motion (collective).

        `step`, `number`: of TS, default: those that it has.
        """
        problem, ts = self.problem, self.problem.ts
        system = problem.system
        step = ts.getTimeStep() if step is None else step
        number = ts.getStepNumber() if number is None else number
        problem.motion.lead()
        system.revise(system.time)
        system.prescribe(system.time)
        problem.snes.getKSP().reset()
        problem.accelerations.forget()
        problem.newton.begin()
        problem.integrator.write(problem.U)
        problem.integrator.begin(ts, ts.getMaxTime(), self.adaptive)
        ts.setTimeStep(step)
        ts.setStepNumber(number)

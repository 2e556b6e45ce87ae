# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a motion made again, for states that its trace has no room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...output.history import History
from ...output.restart import Saved
from ...runtime.progress import Progress
from ..march import march
from .steps import TimeSteps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Ints
    from ...assembly.state import State
    from ...output.steps import Step
    from ..gradients.trace import Trace
    from .steps import Moving, Requested


class Repetition(TimeSteps):
    """The steps of a call of `DynamicProblem.solve` from a restart point on, which nobody looks at.

    The motion, and what adds up along it, is another one afterwards.

    Parameters
    ----------
    trace : of the motion.
    last : number of the state at which they end, not beyond the step that an event has ended.
    keeps : whether states are wanted.
    """

    def __init__(
        self, problem: Moving, request: Requested, trace: Trace, last: int, keeps: bool
    ) -> None:
        super().__init__(problem, request, None)
        self.history, self.progress = History(comm=self.system.comm), Progress(self.system.comm)
        self.events, self.monitors, self.trace = None, [], trace if keeps else None
        self.every, self._last = trace.every, last
        self._parts: list[Sequence[State]] = []

    def repeat(self, restart: State) -> tuple[list[Sequence[State]], State]:
        """Return the states from a restart point on, and the restart point at the end.

        (collective)
        """
        self.begin(Saved(False, restart, {}, []))
        self.open()
        self._restart = restart
        march(self)
        return self._parts, self._restart

    def open(self) -> None:
        """Find how steps are made (collective)."""
        self.done = self._ends()
        self._look_ahead()
        if self.trace is not None:
            self._parts.append((self.snapshot(),))

    def _ends(self) -> bool:
        """Tell whether the last step has been made."""
        return self.problem.steps - self.begun[1] >= self._last

    def _goes_on(self) -> bool:
        """Tell whether the motion goes on, after these steps, too."""
        return self.system.time < self.request.to

    def _is_watched(self, ahead: bool) -> bool:
        """Tell that nobody looks at steps."""
        return False

    def _observe(self, step: Step) -> None:
        """Show the state to nobody."""

    def _extend(self, trace: Trace) -> None:
        """Keep the states of the last steps."""
        self._parts.append(self._states())

    def _wanted(self, most: int) -> tuple[int, Ints]:
        """Return how many steps C is to make."""
        wanted, due = super()._wanted(most)
        return min(wanted, self._last - (self.problem.steps - self.begun[1])), due

# SPDX-License-Identifier: BSD-3-Clause
"""Steps one after the other, each from the state that the last one has reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import ConvergenceError

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.state import State
    from ..output.steps import Step


class Method(Protocol):
    """Makes the steps of a problem (all methods are collective).

    Attributes
    ----------
    system : whose present state a step begins with, and ends with after success.
    done : whether the last step has been made.
    records : whether the last step is one of the history; a run may end there.
    """

    system: DiscreteSystem

    @property
    def done(self) -> bool:
        """See the attributes."""

    @property
    def records(self) -> bool:
        """See the attributes."""

    def snapshot(self) -> State:
        """Return the present state as a value."""

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot`; loads stay."""

    def attempt(self, state: State) -> Step | ConvergenceError:
        """Try a step from the present state; after an error it may be anywhere."""

    def shorten(self, error: ConvergenceError) -> None:
        """Take a shorter step next, or raise, where none is short enough."""

    def accept(self, step: Step) -> None:
        """End a step at the present state, and choose the length of the next one."""

    def record(self) -> None:
        """Note the step in the history; others may look at the state."""


def march(method: Method) -> None:
    """Make steps until a method has made its last one (collective).

    A step that fails is not used: the state is again that before it, of which terms may have
    learnt. Where none is made the state is left at the last step that was recorded.
    """
    system = method.system
    recorded = state = method.snapshot()
    while not method.done:
        try:
            step = method.attempt(state)
            if isinstance(step, ConvergenceError):
                failed = system.variables
                method.restore(state)
                system.learn(failed)
                method.shorten(step)
                continue
            method.accept(step)
        except BaseException:
            method.restore(recorded)
            raise
        records = method.records
        if records:
            method.record()
        state = method.snapshot()
        recorded = state if records else recorded

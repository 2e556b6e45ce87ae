# SPDX-License-Identifier: BSD-3-Clause
"""The motion at the ends of those steps in C at which something is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.discrete import DiscreteSystem
    from ...output.steps import Step
    from ..gradients.trace import Trace
    from .energy import Audit, Energies
    from .generalized_alpha import GeneralizedAlpha

BYTES = 2**22  # of the motion at the instants that C keeps in one call


def rows_of_motions(system: DiscreteSystem, trace: Trace | None = None) -> int:
    """Return how many motions C keeps in one call, for a trace where there is one (collective)."""
    size = 40 * max(1, len(system.state))
    comm, most = system.comm, BYTES // size
    most = most if trace is None else min(most, trace.room(size))
    return most if comm.size == 1 else int(comm.allreduce(most, MPI.MIN))


class Instants:
    """The motion at the ends of some steps of one call of C, at which functions are called later.

    Parameters
    ----------
    most : number of instants of one call.
    number : is told the number of the step, of those in C, at whose end the motion is; 0: none.

    Attributes
    ----------
    due : numbers of the steps, from 1.
    """

    def __init__(
        self, method: GeneralizedAlpha, audit: Audit, most: int, number: Callable[[int], None]
    ) -> None:
        self.method, self.audit, self.number = method, audit, number
        m, self.system = method.motion, method.motion.system
        self._vectors = m.state, m.rate, m.acceleration, method.auxiliary
        self._motions, self._work = np.zeros((most, 5, len(m.state))), np.zeros((most, 2))

    def begin(self, due: Ints) -> None:
        """Let C keep the motion at the ends of some of its next steps."""
        self.due, self._calm = due.tolist(), self.method.calm
        self._timed = self.system.assembler.timed
        self.method.newton.native.problem.give(
            kept_count=len(due),
            kept_after=due,
            kept_states=self._motions,
            kept_work=self._work,
        )

    def end(self, steps: Sequence[Step]) -> None:
        """Take what C has kept in making some steps."""
        native = self.method.newton.native
        native.problem.kept_count = 0
        del self.due[native.state.kept_now :]
        if self.system.comm.size > 1:
            self.system.comm.Bcast(self._work[: len(self.due)])
        self.steps, self._current = steps, -1
        self._last = np.array(self._vectors)
        self._sums, self._stale = self.audit.sums(), self.method.newton.native.state.tangent.stale
        if self.due and self.due[-1] == len(steps):  # which Python may have changed since
            self._motions[len(self.due) - 1, :4] = self._last

    def at(self, which: Ints) -> DiscreteSystem:
        """Return the system at some of the instants."""
        times = self.method.newton.native.times[np.array(self.due)[which] - 1]
        together = len(which) and which[-1] - which[0] == len(which) - 1  # no copy then
        motions = self._motions[slice(which[0], which[-1] + 1) if together else which]
        state, rate, _, _, residuals = np.swapaxes(motions, 0, 1)
        return self.system.at_instants(times, state, rate, residuals)

    def show(self, k: int) -> None:
        """Let the motion be that of an instant."""
        self._current, self.method.newton.native.state.tangent.stale = k, False
        self._go(self.due[k], self._motions[k, :4])
        self.audit.go_to(*self._work[k].tolist())

    def _go(self, number: int, motion: Array) -> None:
        for vector, values in zip(self._vectors, motion, strict=True):
            vector[:] = values
        self.number(number)
        self.system.time = self.steps[number - 1].time
        if self._timed:
            self.system.update(self.system.time)

    def is_changed(self) -> bool:
        """Tell whether the motion that is shown, or a `Parameter`, is another one now (collective).

        Or it was saved, and what comes next must not know of earlier steps.
        """
        k = self._current
        motion, time = self._motions[k, :4], self.steps[self.due[k] - 1].time
        same = np.array_equal(self._vectors, motion) and self.system.time == time
        tangent = self.method.newton.native.state.tangent
        changed, comm = self.audit.changed() or bool(tangent.stale) or not same, self.system.comm
        return changed if comm.size == 1 else bool(comm.allreduce(changed, MPI.LOR))

    def leave(self) -> None:
        """Go back to the end of the last step."""
        if self._current >= 0:
            self._go(len(self.steps), self._last)
            self.audit.go_to(*self._sums)
            self.method.newton.native.state.tangent.stale = self._stale
            self.number(0)

    def stay(self) -> tuple[list[Step], Energies]:
        """Go on from the instant that is shown; return the steps until there, and energies."""
        number = self.due[self._current]
        self.number(0)
        state = self._motions[self._current, 0]
        self.method.go_on(self.steps[number - 1], max(0, self._calm - number), state)
        return list(self.steps[:number]), self.audit.stay()

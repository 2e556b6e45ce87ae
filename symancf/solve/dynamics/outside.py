# SPDX-License-Identifier: BSD-3-Clause
"""What changes a motion from outside: actions of events, users between two calls of `solve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .initial import InitialValues

if TYPE_CHECKING:
    from ...assembly.state import State
    from ...runtime.petsc import PETSc
    from .explicit import Explicit
    from .generalized_alpha import GeneralizedAlpha
    from .supports import MovingSupports


class Outside:
    """Remembers a motion, and makes consistent what something else has changed."""

    def __init__(self, integrator: GeneralizedAlpha | Explicit, supports: MovingSupports) -> None:
        self.integrator, self.supports = integrator, supports
        self.motion, self.system = integrator.motion, integrator.motion.system
        self._left: State | None = None

    def leave(self) -> None:
        """Remember the motion, to see later whether something else has changed it."""
        self._left = self.motion.snapshot()

    def go_on(self, ts: PETSc.TS, step: float, end: float) -> None:
        """Go on to another end, from a time at which functions of it may jump (collective)."""
        ts.setMaxTime(end)
        self.leave()
        self.motion.span = self.system.time, max(end, self.system.time + step)
        self.system.prescribe(self.system.time)
        self.reconcile(step)
        self.integrator.resume(ts)

    def reconcile(self, step: float) -> None:
        """Make accelerations and multipliers those of what changed from outside (collective).

        Positions and rates that changed have to fulfil the constraints, as at the beginning.
        """
        m, made = self.motion, self.integrator
        assert self._left is not None
        numbering = self.system.numbering
        chosen = ((m.second | m.first) & (numbering.fixed_by < 0))[: numbering.owned]
        pairs = (m.state, self._left.displacement), (m.rate, self._left.rates[0])
        moved, turned = (
            bool(self.system.comm.allreduce(bool((a[: len(b)] != b)[chosen].any())))
            for a, b in pairs
        )
        values = InitialValues(made.accelerations, step)
        jumps = self.supports.jumps(self._left, step)
        moved, turned, pushed = moved or jumps[0], turned or jumps[1], jumps[2]
        if moved or turned:
            values.find(positions=moved)
        elif pushed or not made.balanced(step):
            values.settle(jumped=True)
        else:
            return
        made.started()

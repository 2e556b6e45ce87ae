# SPDX-License-Identifier: BSD-3-Clause
"""Steps that nobody looks at, made many in one call of C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...output.steps import Step
from .generalized_alpha import GeneralizedAlpha
from .native import MOST
from .steps import Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...output.history import History
    from ...runtime.petsc import PETSc
    from .energy import Audit
    from .explicit import Explicit
    from .native import Made


class Unseen:
    """Makes steps of a motion until its history is due for a series.

    C can do so where it makes the iterations (`Native`), steps have one length, and nothing has to
    be looked at between them but powers: laws that remember, mass that changes.
    """

    def __init__(
        self,
        integrator: GeneralizedAlpha | Explicit,
        ts: PETSc.TS,
        audit: Audit,
        history: History,
    ) -> None:
        self.integrator, self.ts, self.audit, self.history = integrator, ts, audit, history

    def make(self, most: float) -> tuple[Made | None, int]:
        """Make at most so many steps; return the last one, None: there was none, and their number.

        What the next step raised is in the integrator's `error`; where that has no solution at full
        length `advance` goes on from there.
        """
        made, wanted = self.integrator, int(min(self.history.undue, most, MOST))
        if wanted < 2 or not isinstance(made, GeneralizedAlpha) or not self.audit.simple:
            return None, 0
        if not made.is_steady(self.ts):
            return None, 0
        h, native, steps = made.asked, made.newton.native, made.newton.steps
        self.audit.lend(steps)
        end, takes = self.ts.getMaxTime(), self._functions_of_time(h)
        reason, found = native.several(end, h, wanted, made.calm, takes)
        self.audit.take_back(steps)
        made.came(self.ts, found, reason)
        self.history.pass_over(Step(*step, norms={}) for step in found)
        return (found[-1] if found else None), len(found)

    def _functions_of_time(self, h: float) -> dict[Asked, Callable[[float], None]]:
        """Return what takes functions of time for C."""
        takes: dict[Asked, Callable[[float], None]] = {}
        m = self.integrator.motion
        if m.moving or m.system.plan.timed or m.mass.timed:
            takes[Asked.PRESENT] = lambda time: m.prescribe(time, h)
        if self.audit.timed:
            takes[Asked.DRIVE] = self.audit.present
        return takes

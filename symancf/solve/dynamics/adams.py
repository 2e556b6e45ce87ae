# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 by the Adams methods of SciPy's VODE, on one rank."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import ConvergenceError, ParameterError
from ...output.steps import Step
from .explicit import Explicit

if TYPE_CHECKING:
    from .accelerations import Accelerations
    from .interval import Interval
    from .stabilise import Stabilisation


class Adams(Explicit):
    """Adams-Moulton methods of order 1 to 12 with variable steps, corrected by iteration.

    SciPy's ``ode("vode", method="adams")`` (P. N. Brown, G. D. Byrne, A. C. Hindmarsh, SIAM J.
    Sci. Stat. Comput. 10, 1989) makes the steps; PETSc's TS does not.

    Raises
    ------
    ParameterError : the system is distributed: VODE works in one process; or the constraints
        are to be projected, which would make a multistep method start anew at each step.
    """

    def __init__(
        self, accelerations: Accelerations, stabilisation: Stabilisation | None, kind: str
    ) -> None:
        super().__init__(accelerations, stabilisation, "rk")
        self._anew, self._first_step = False, 0.0
        ranks = self.newton.comm.size
        if ranks > 1:
            raise ParameterError(
                f'method="adams" is SciPy\'s VODE, which works on one rank only; this run has '
                f'{ranks}. Take method="rk" or "generalized-alpha"',
                asked="ranks",
                given=ranks,
                possible=(1,),
            )
        if stabilisation is not None and stabilisation.projects:
            raise ParameterError(
                'method="adams" does not project: it would lose its order at each step. Take '
                'Baumgarte or Fuzzy, or method="rk"',
                asked="method",
                given="adams",
                possible=("rk",),
            )

    def begin(self, adaptive: bool | None) -> None:
        """Prepare for a motion (collective)."""
        if adaptive is False:
            raise ParameterError('method="adams" has no fixed steps: leave out adaptive=False')
        self._first_step = min(self.step_length, self.longest)
        super().begin(adaptive)

    def _rates(self, t: float, y: Array) -> Array:
        if self.error is None:
            try:
                rates = self.rates(t, y)
                return np.full(len(y), np.nan) if rates is None else rates
            except BaseException as error:
                self.error = error
        return np.full(len(y), np.nan)  # VODE ends soon

    def within(self) -> tuple[float, ...]:
        """Return parts of a step, for up to order 6."""
        return 0.25, 0.5, 0.75

    def resume(self) -> None:
        """Go on from the present motion: with order 1, as a multistep method begins."""
        super().resume()
        self._anew = False
        from scipy.integrate import ode

        time, to = self.motion.system.time, self.end
        self._solver = ode(self._rates)
        self._solver.set_integrator(
            "vode",
            method="adams",
            rtol=self.rtol,
            atol=self.limits(),
            first_step=min(self._first_step, to - time) if to > time else self._first_step,
            max_step=0.0 if math.isinf(self.longest) else self.longest,
            nsteps=10**6,
        )
        self._solver.set_initial_value(self.values(), time)

    def reconsider(self) -> None:
        """Go on with what earlier steps have left: VODE's control of the error sees the jump."""

    def open(self, rest: float) -> None:
        """Begin a step: VODE chooses its length."""

    def step(self, h: float) -> Step:
        """Make one step.

        Raises
        ------
        ConvergenceError : VODE gave up, or a state outside of a law's domain was accepted.
        Exception : what a user's function raised.
        """
        if self._anew:
            self.resume()
            self.before = self.snapshot()
        solver, to, before = self._solver, self.end, self.motion.system.time
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what VODE says is said below
            solver.integrate(to, step=True)
            if solver.t > to:
                solver.integrate(to)
        if self.error is not None:
            raise self.error
        if not solver.successful() or not solver.t > before:
            raise ConvergenceError(
                f"VODE gave up at time {before:g} (its return code is {solver.get_return_code()})",
                reason="VODE",
                iteration=self.ts.getStepNumber(),
                time=before,
            )
        t, y = solver.t, solver.y
        assert self.ahead is not None
        limit = self.ahead.limit(before, t - before)
        if limit < t - before:  # begin anew where functions of time do what no step has seen
            t, y = before + limit, solver.integrate(before + limit)
            self._first_step = min(self.step_length, limit)
            self._anew = True
        self.accept(t, y)
        self.last_step = t - before
        return Step(t, 0, 0, {})

    def show(self, count: int) -> None:
        """Let TS be at the present motion, `count` steps later."""
        super().show(0)
        self.ts.setStepNumber(self.ts.getStepNumber() + count)
        self.ts.setTime(self.motion.system.time)

    # ---- events ---------------------------------------------------------------------------------
    def land(self, t: float, interval: Interval) -> None:
        """End the step at t, by VODE's own polynomial, as exact as the step; then start anew."""
        begins, ends = t <= interval.begin.time, t >= interval.end.time
        if begins or ends:
            self.motion.go_to(interval.begin if begins else interval.end)
        else:
            self.accept(t, self._solver.integrate(t))
        self._anew = not ends

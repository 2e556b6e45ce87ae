# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 by the Adams methods of SciPy's VODE, on one rank."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ConvergenceError, ParameterError
from .explicit import Explicit

if TYPE_CHECKING:
    from ..petsc import PETSc
    from .accelerations import Accelerations
    from .stabilise import Stabilisation

Array = npt.NDArray[np.float64]


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
        ranks = self.newton.comm.size
        if ranks > 1:
            raise ParameterError(
                f'method="adams" is SciPy\'s VODE, which works on one rank only; this run has '
                f'{ranks}. Take method="rk" or "generalized-alpha"'
            )
        if stabilisation is not None and stabilisation.projects:
            raise ParameterError(
                'method="adams" does not project: it would lose its order at each step. Take '
                'Baumgarte or Fuzzy, or method="rk"'
            )

    def begin(self, ts: PETSc.TS, to: float, adaptive: bool | None) -> None:
        """Prepare for a motion to a time."""
        super().begin(ts, to, adaptive)
        if adaptive is False:
            raise ParameterError('method="adams" has no fixed steps: leave out adaptive=False')

    def run(self, to: float, monitor: Callable[[int, float], Any]) -> None:
        """Move to a time, `monitor(number, time)` at the start and after each step.

        Raises
        ------
        ConvergenceError : VODE gave up, or a state outside of a law's domain was accepted.
        Exception : what a user's function raised.
        """
        from scipy.integrate import ode

        start = self.motion.system.time

        def rates(t: float, y: Array) -> Array:
            if self.error is None:
                try:
                    found = self.rates(t, y)
                    return np.full(len(y), np.nan) if found is None else found
                except BaseException as error:
                    self.error = error
            return np.full(len(y), np.nan)  # VODE ends soon

        solver = ode(rates)
        solver.set_integrator(
            "vode",
            method="adams",
            rtol=self.rtol,
            atol=self.atol,
            first_step=min(self.asked, to - start),
            nsteps=10**6,
        )
        solver.set_initial_value(self.values(), start)
        self.accept(start, self.values())
        number = 0
        monitor(number, start)
        while solver.t < to and not self._failed():
            before = solver.t
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what VODE says is said below
                solver.integrate(to, step=True)
                if solver.t > to:
                    solver.integrate(to)
            if self._failed():
                break
            if not solver.successful() or not solver.t > before:
                raise ConvergenceError(
                    f"VODE gave up at time {before:g} (its return code is "
                    f"{solver.get_return_code()})",
                    reason="VODE",
                    iteration=number,
                    time=before,
                )
            self.accept(solver.t, solver.y)
            self.last_step = solver.t - before
            number += 1
            monitor(number, solver.t)
            self.interruption.check()

    def _failed(self) -> bool:
        return self.error is not None

# SPDX-License-Identifier: BSD-3-Clause
"""The error of a step without an equilibrium: where the last one is, and likely causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import ConvergenceError, ParameterError
from ..causes import EndOfPath, Failure, Undetermined, likely
from .diagnosis import undetermined

if TYPE_CHECKING:
    from .equilibrium import EquilibriumSolver


def explained_path(
    solver: EquilibriumSolver, error: ConvergenceError, name: str, to: float | None
) -> ConvergenceError:
    """Add likely causes to the failure of a path along a parameter (collective)."""
    system, state = solver.system, solver.system.state.copy()

    def tangent() -> Undetermined | None:
        solver.guarded(lambda: system.assembler.tangent(state, np.zeros_like(state), system.matrix))
        return undetermined(system)

    failure = Failure(
        system,
        state,
        system.time,
        0.0 if to is None else to,
        0.0,
        system.time,
        smallest=0.0,
        reason=error.reason,
        along=name,
    )
    if error.reason == "DIVERGED_LINEAR_SOLVE":
        failure.tangent = tangent
    return ConvergenceError(
        str(error),
        reason=error.reason,
        iteration=error.iteration,
        time=error.time,
        causes=likely(failure),
        asked=error.asked,
        given=error.given,
    )


def explained(
    solver: EquilibriumSolver,
    error: ConvergenceError,
    start: tuple[float, Array],
    last: Array,
    part: float,
    to: float,
    smallest: float,
    refused: Sequence[str],
) -> ConvergenceError:
    """Add where the last equilibrium is, and likely causes (collective).

    Parameters
    ----------
    start : pseudo-time and state at the beginning of the step.
    last : state after the fraction `part` of it.
    to, smallest : end of the step, and the smallest part of it that was tried.
    refused : terms to which the last solution was not good enough.
    """
    system, outside, time = solver.system, solver.equations.outside, float(error.time or 0.0)
    system.state[:] = last
    now = start[0] + part * (to - start[0])

    def prescribed(when: float) -> Array:
        system.prescribe(when)
        return system.state.copy()

    ends = None
    try:
        solver.leave_out(time)
        ends = system.state.copy(), prescribed(to)
    except ParameterError:  # a function of time that has no value there
        pass
    finally:
        system.state[:] = last

    def tangent() -> Undetermined | None:
        system.prescribe(now)
        system.state[:] = last
        solver.guarded(lambda: system.assembler.tangent(last, np.zeros_like(last), system.matrix))
        return undetermined(system)

    def path() -> EndOfPath:
        system.state[:] = last
        solver.leave_out(time)
        return solver.branch.end(start, last, part, 1.0 - solver.equations.fade)

    failure = Failure(
        system,
        last,
        start[0],
        to,
        abs(to - start[0]),
        time,
        smallest=smallest,
        reason=error.reason,
        outside=outside,
        refused=refused,
        prescribed=ends,
        share=abs(time - now) / abs(to - now) if to != now else 1.0,
        first=not (part or solver.history.steps),
        allowed=int(solver.snes.getTolerances()[3]),
        tangent=tangent,
        path=path,
    )
    try:
        causes = likely(failure)
    finally:
        system.state[:] = last
        system.prescribe(start[0])
    where = failure.end.where if part > 0.0 else ""
    return ConvergenceError(
        f"{error}; {where}" if where else str(error),
        reason=error.reason,
        iteration=error.iteration,
        time=error.time,
        causes=causes,
        asked=causes[0].kind if causes else error.asked,
        given=error.given,
    )

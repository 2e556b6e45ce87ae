# SPDX-License-Identifier: BSD-3-Clause
"""The error of a step of a motion without a solution, with likely causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...arrays import Array
from ...errors import ConvergenceError, ParameterError
from ..causes import Failure, likely

if TYPE_CHECKING:
    from .motion import EquationsOfMotion


def explained(
    motion: EquationsOfMotion,
    error: ConvergenceError,
    *,
    to: float,
    step: float,
    attempted: float = 0.0,
    outside: Array | None = None,
    refused: Sequence[str] = (),
    idle: Sequence[str] = (),
    explicit: bool = False,
) -> ConvergenceError:
    """Add likely causes to the error of a step (collective).

    Parameters
    ----------
    to : end of the motion that was asked for.
    step : length of the steps asked for.
    attempted : the shortest one that was tried.
    outside : a state at which laws have no value, or None: where the rates lead in a step, if the
        residual was not finite.
    refused, idle, explicit : see `Failure`.
    """
    system, t = motion.system, motion.system.time
    state, rate = motion.state.copy(), motion.rate
    if outside is None and error.reason == "DIVERGED_FNORM_NAN":
        outside = state + step * rate

    def prescribed(when: float) -> Array:
        system.prescribe(when)
        return system.state.copy()

    ends = None
    try:
        ends = (prescribed(t + attempted), prescribed(t + step)) if attempted else None
    except ParameterError:  # a function of time that has no value there
        pass
    finally:
        system.prescribe(t)
        system.state[:] = state
    failure = Failure(
        system,
        state,
        t,
        to,
        step,
        t + attempted,
        reason=error.reason,
        outside=outside,
        refused=refused,
        prescribed=ends,
        share=attempted / step,
        idle=idle,
        moving=True,
        explicit=explicit,
    )
    try:
        causes = likely(failure)
    finally:
        system.state[:] = state
        system.update(t)
    return ConvergenceError(
        str(error),
        reason=error.reason,
        iteration=error.iteration,
        time=t,
        causes=causes,
        asked=causes[0].kind if causes else "step",
        given=attempted,
    )

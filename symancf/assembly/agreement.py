# SPDX-License-Identifier: BSD-3-Clause
"""Values that hold for a whole model must be the same on every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..collective import reduced
from ..errors import ParameterError

if TYPE_CHECKING:
    from .plan import Plan

ROUND_OFF = 1e-9  # relative: machines of a cluster may round a user's function differently


def require_agreement(
    comm: MPI.Comm, plan: Plan, time: float, others: Sequence[tuple[str, float]] = ()
) -> None:
    """Raise on every rank where a uniform value differs from rank to rank (collective).

    Otherwise each rank would assemble its part with its own value, and the result would depend
    on the partition. One reduction.

    Parameters
    ----------
    others : name and value of what is no parameter of a kernel; as many on every rank.

    Raises
    ------
    ParameterError : names the value, and the smallest and the largest one.
    """
    if comm.size == 1:
        return
    values = np.concatenate([*plan.slots, np.array([value for _, value in others])])
    bounds = reduced(comm, np.concatenate([values, -values]), MPI.MAX)
    high, low = bounds[: len(values)], -bounds[len(values) :]
    apart = high - low > ROUND_OFF * np.maximum(np.abs(high), np.abs(low))
    if not apart.any():
        return
    at = int(np.argmax(apart))
    names = [f"{name} of {p.name!r}" for p in plan.pieces for name in p.kernel.uniform]
    name = [*names, *(name for name, _ in others)][at]
    raise ParameterError(
        f"{name} is {low[at]:g} on one rank and {high[at]:g} on another at time {time:g}: it must "
        "be the same on every rank; read files and draw random numbers on one rank and send "
        "them, comm.bcast(value)"
    )

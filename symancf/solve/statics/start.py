# SPDX-License-Identifier: BSD-3-Clause
"""The first row of a history: where a solution begins, if that is an equilibrium."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

if TYPE_CHECKING:
    from ...arrays import Array, Mask
    from .equilibrium import EquilibriumSolver

BALANCED = 1e-6  # of what the first step brings: less is out of balance in an equilibrium
ROUND_OFF = 1e-12  # of what it brings to all parts: what those may have that nothing loads
MET = 1e-9  # of the size of a part: constraints that hold


def sample_start(solver: EquilibriumSolver, start: float, to: float, step: float) -> None:
    """Let a history that is empty so far begin with the present state (collective).

    Where loads are there at once it is none: the row would be the undeformed state under the full
    load. Nothing is done where nothing is recorded.

    Parameters
    ----------
    start, to, step : pseudo-times of the present and to be reached, and the largest step.
    """
    history = solver.history
    if start == to or not history.names or len(history.time):
        return
    if _balanced(solver, start, start + math.copysign(min(step, abs(to - start)), to - start)):
        history.sample(start)


def _balanced(solver: EquilibriumSolver, start: float, goal: float) -> bool:
    """Tell whether the state is an equilibrium at `start` and none at `goal` (collective).

    Where nothing changes with the time the step finds the equilibrium that is there.
    """
    system, convergence = solver.system, solver.convergence
    rows, bound = convergence.rows, convergence.constraints.classes
    before, held = system.state.copy(), system.memory.hold()

    def measured(time: float) -> tuple[Array, Mask, Array]:
        """Return what is out of balance and violated, by part, and the state with supports."""
        system.state[:] = before
        system.prescribe(time)
        solver.guarded(lambda: system.plan.residual(system.state, solver.local_f))
        (norms,) = rows.of(system.numbering.to_rows(solver.local_f))
        forces = rows.total(np.where(bound, 0.0, norms))
        violated = rows.worst(np.where(bound, norms, 0.0)) > MET * scale
        return forces, violated, system.state.copy()

    scale = system.stiffness * rows.sizes()  # also that of violations, as of multipliers
    system.memory.begin(start)
    try:
        brought, driven, there = measured(goal)
        forces, violated, here = measured(start)
    finally:
        system.state[:] = before
        system.memory.put(held)
    jumps = np.abs(here - before) > MET * system.numbering.natural(system.extent)
    moved, jumped = system.comm.allreduce(
        np.array([(here != there).any(), jumps.any()], dtype=np.int64), MPI.SUM
    ).tolist()
    total = float(np.linalg.norm(brought))
    allowed = BALANCED * brought + ROUND_OFF * total
    if driven.any():  # by constraints alone, which bring no force
        allowed = allowed + ROUND_OFF * scale
    grows = bool(moved) or bool(driven.any()) or total > 0.0
    return grows and not jumped and bool((forces <= allowed).all()) and not violated.any()

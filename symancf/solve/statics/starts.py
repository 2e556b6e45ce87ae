# SPDX-License-Identifier: BSD-3-Clause
"""Where Newton's method begins a step of load: predictors, asked one after the other.

Each moves the free coordinates of the system, and returns the iterations of the linear solver;
None where it does not apply to the change, and the next one is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from .branch import PREDICTION_TOLERANCE

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.numbering import Numbering
    from ...assembly.vectors import Vectors
    from ...runtime.petsc import PETSc
    from .branch import Branch
    from .convergence import Convergence
    from .equations import StaticEquations
    from .linear import LinearSolver
    from .load_jumps import LoadJumps


SMALL_STEP_RATIO = 1e-4  # of a step: too little for points to touch or to slide in it
PREDICTION_FRACTIONS = (1.0, 0.5, 0.25, 0.0)  # of a prediction

Path = Sequence[tuple[float, Array]]  # pseudo-times (parts of a change at one) and equilibria


@dataclass
class LoadChange:
    """A step of load, as far as a predictor needs to know it.

    Attributes
    ----------
    start, time : from one pseudo-time to another.
    before : the state at the start, a local vector.
    path : equilibria before, by their time or, where that stays, by their part `at` of the change.
    at : that of the end.
    tangents : whether the tangent of the path may lead; after a failure the other way is tried.
    """

    start: float
    time: float
    before: Array
    path: Path
    at: float
    tangents: bool


class PredictorSolver(Protocol):
    """What predictors need of an `EquilibriumSolver`."""

    system: DiscreteSystem
    numbering: Numbering
    vectors: Vectors
    convergence: Convergence
    linear: LinearSolver
    branch: Branch
    equations: StaticEquations
    sudden: LoadJumps

    def leave_out(self, time: float) -> None:
        """Take the loads of a time, without what has yet to fade in (collective)."""


def parabola(solver: PredictorSolver, change: LoadChange) -> int | None:
    """Continue the free coordinates on the parabola through three equilibria.

    Slender structures turn on curved paths: from here Newton's method needs half of the
    iterations that it needs from the last equilibrium, although the residual may be larger
    there. On the line through two equilibria, which spares a Krylov solver a system, it is to
    be smaller in each part, and nothing may touch. Where nothing has changed the state is in
    equilibrium already, and stays.
    """
    branch, path = solver.branch, change.path
    if len(path) < 2 or (len(path) == 2 and (solver.linear.direct or branch.kinked.any())):
        return None
    system, free = solver.system, solver.numbering.free
    rows = solver.convergence.rows
    (norms,) = rows.of(branch.unbalanced(system.state))
    if solver.convergence.settled(norms).all():
        return None
    old = system.state[free]
    guess = np.zeros_like(old)
    for at, state in path:
        weight = math.prod((change.at - t) / (at - t) for t, _ in path if t != at)
        guess += weight * state[free]
    moved, size = system.sum(np.array([np.square(guess - old).sum(), np.square(old).sum()]))
    if moved <= 1e-24 * size:
        return None
    system.state[free] = guess
    worse = branch.outside()
    if not worse and len(path) == 2:
        (there,) = rows.of(branch.unbalanced(system.state))
        worse = bool((rows.total(there) > rows.total(norms)).any())
    if worse:
        system.state[free] = old
    return None if worse else 0


def last_tangent(solver: PredictorSolver, change: LoadChange) -> int | None:
    """Go as the tangent of the last equilibrium predicts, where loads that turn have grown.

    Their stiffness at the next size would go with the stresses of the last one, and the sum of
    both is that of no equilibrium.
    """
    if not solver.sudden.grown:
        return None
    branch, before, goal = solver.branch, change.before, solver.system.state.copy()
    fixed = solver.numbering.fixed_by >= 0
    unbalanced = branch.unbalanced(before)
    with solver.sudden.before():
        moved = np.where(fixed, goal - before, 0.0)
        found = branch.answer(before, unbalanced, moved, pair=_pair(solver))
    return _kinks_passed(branch, before, found, goal)


def path_tangent(solver: PredictorSolver, change: LoadChange) -> int | None:
    """Go as the path does where it is now, where the time changes; not twice after a failure.

    Where forces have kinks the tangent of the last equilibrium knows which points touch and
    stick there; that of its state under the loads of another time does not. Without points
    outside the domain of their law: so far, at most.
    """
    if not change.tangents or change.start == change.time:
        return None
    branch, system, before = solver.branch, solver.system, change.before
    fixed = system.numbering.fixed_by >= 0
    there = []
    for share in (SMALL_STEP_RATIO, 0.0):
        system.state[:] = before
        solver.leave_out(change.start + share * (change.time - change.start))
        there.append((system.state.copy(), branch.unbalanced(before)))
    (later, ahead), (first, now) = there
    # jumps are there at both times, as those of the loads are in `now`
    moved = np.where(fixed, first - before + (later - first) / SMALL_STEP_RATIO, 0.0)
    rate = (ahead - now) / SMALL_STEP_RATIO
    found, goes = None, bool(rate.any() or moved.any())
    unbalanced = now + rate
    del there, later, ahead, first, now, rate  # as multigrid is made, which needs room
    if system.comm.allreduce(goes):
        found = branch.answer(before, unbalanced, moved, PREDICTION_TOLERANCE, _pair(solver))
    solver.leave_out(change.time)
    return _kinks_passed(branch, before, found, system.state.copy())


def with_supports(solver: PredictorSolver, change: LoadChange) -> int | None:
    """Move the free coordinates with the prescribed ones, as the tangent predicts."""
    branch, system, before = solver.branch, solver.system, change.before
    held = np.flatnonzero(system.numbering.fixed_by >= 0)
    stays = np.array_equal(system.state[held], before[held])
    if stays if system.comm.size == 1 else system.comm.allreduce(stays, op=MPI.LAND):
        return None
    fixed = system.numbering.fixed_by >= 0
    base = np.where(fixed, before, system.state)
    found = branch.answer(
        base,
        branch.unbalanced(base),
        np.where(fixed, system.state - before, 0.0),
        pair=_pair(solver),
    )
    del base  # where multigrid is, room is short
    if found is None:
        return 0
    old, du = system.state.copy(), np.zeros_like(system.state)
    solver.vectors.to_local(found[1], du)
    system.state += du
    del du
    if branch.outside():  # too far
        system.state[:] = old
    return int(branch.ksp.getIterationNumber())


def _pair(solver: PredictorSolver) -> tuple[PETSc.Vec, PETSc.Vec]:
    """Return two vectors of rows that Newton's method overwrites as it begins."""
    return solver.equations.F, solver.equations.step


def _kinks_passed(
    branch: Branch, before: Array, pair: tuple[PETSc.Vec, PETSc.Vec] | None, goal: Array
) -> int:
    """Go from an equilibrium as `Branch.answer` says, within the domain of laws (collective)."""
    if pair is None:
        return 0
    system, du = branch.system, np.zeros_like(before)
    branch.vectors.to_local(pair[1], du)
    for part in PREDICTION_FRACTIONS:
        system.state[:] = np.where(system.numbering.fixed_by >= 0, goal, before + part * du)
        if not branch.outside():
            break
    return int(branch.ksp.getIterationNumber())


Start = Callable[[PredictorSolver, LoadChange], "int | None"]


def starts(solver: PredictorSolver, names: Collection[str]) -> list[Start]:
    """Return those of the predictors that apply to a system, in their order (collective)."""
    has_supports = bool((solver.numbering.fixed_by >= 0).any())
    applies: list[tuple[str, Start, bool]] = [
        ("parabola", parabola, True),
        ("loads", last_tangent, solver.sudden.turning),
        ("path", path_tangent, bool(solver.branch.kinked.any())),
        ("supports", with_supports, solver.system.comm.allreduce(has_supports, MPI.LOR)),
    ]
    return [start for name, start, some in applies if some and name in names]

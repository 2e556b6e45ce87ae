# SPDX-License-Identifier: BSD-3-Clause
"""Whether an equilibrium continues the path of loads on which the last one lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .linear import LinearSolver
    from .petsc import PETSc
    from .system import System
    from .vectors import Vectors

Array = npt.NDArray[np.float64]

HARD = 10  # Newton iterations beyond which an equilibrium may be one of another branch
AHEAD = 2.0  # times the prediction at the start: what a path that ends in a limit point reaches
BEHIND = 10.0  # times the prediction at the end: that of stiffening structures is 1 to 5
TURN = 0.3  # cosine of the angle between the predictions at both ends: less is a jump, or a guess
STEEP = 5.0  # times faster than at the start: near a limit point, as tried


class Branch:
    r"""Predictions of the change of state along the path of equilibria.

    Where loads change by :math:`\Delta R` (residual at the old state under the new loads) and
    prescribed coordinates by :math:`\Delta g`, the tangent at either end predicts the change

    .. math:: K v = -(\Delta R + K_{fc} \Delta g) .

    Before a simple limit point q goes with the square root of the distance to the last load
    that can be carried, so no reachable change is longer than 2 v of its start; and v of its
    end points forward. What Newton's method finds beyond, on another branch, is several times
    further away, lies on the branch that comes back, or has another v. So may an equilibrium
    have that is on the path but far away: then a shorter step will show it.

    Changes are measured in all displacements, without multipliers.
    """

    def __init__(
        self, system: System, vectors: Vectors, linear: LinearSolver, ksp: PETSc.KSP
    ) -> None:
        self.system, self.vectors, self.linear, self.ksp = system, vectors, linear, ksp
        numbering = system.numbering
        names, kind = numbering.kind_of_rows()
        order = {block.name: block.order for block in numbering.blocks}
        moves = np.array([order[name] == "q" for name in names])
        self._counts = moves[kind] if len(kind) else np.zeros(0, dtype=bool)
        self._rhs, self._v = vectors.new(), vectors.new()

    def prediction(self, state: Array, unbalanced: Array, change: Array) -> Array:
        """Return v at a state, NaN where its tangent cannot be solved with (collective).

        `unbalanced` is the change of the residual (rows of this rank), `change` that of the
        fixed coordinates (local vector, zero elsewhere).
        """
        answer = np.zeros_like(state)
        self.linear.linearize(state)
        self.system.plan.product(state, change, answer)
        self._rhs.setArray(-(unbalanced + self.system.numbering.to_rows(answer)))
        if np.isfinite(self._rhs.norm()):
            self.ksp.solve(self._rhs, self._v)
            if self.ksp.getConvergedReason() >= 0:
                return np.array(self._v.getArray(readonly=True)[self._counts])
        return np.full(int(self._counts.sum()), np.nan)

    def break_between(self, before: Array, after: Array, unbalanced: Array) -> str:
        """Tell why two equilibria are not on one path, or "" (collective).

        `before` and `after` are local vectors, `unbalanced` the residual at `before` under the
        loads of `after`, prescribed coordinates still old.
        """
        system, fixed = self.system, self.system.numbering.fixed_by >= 0
        change = np.where(fixed, after - before, 0.0)
        moved = system.numbering.to_rows(after - before)[self._counts]
        start = self.prediction(before, unbalanced, change)
        end = self.prediction(after, unbalanced, change)
        sums = system.sum(
            np.array([moved @ moved, start @ start, end @ end, end @ moved, start @ end])
        )
        size, ahead, behind = np.sqrt(sums[:3])
        if not np.isfinite(sums).all() or size == 0.0:
            return ""  # a singular tangent tells nothing
        if size > AHEAD * ahead:
            return (
                f"it is {size / ahead:.2g} times as far from the last one as its tangent predicts"
            )
        if sums[3] < 0.0:
            return "the path through it goes backward there"
        if sums[4] < TURN * ahead * behind:
            angle = np.degrees(np.arccos(sums[4] / (ahead * behind)))
            return f"the path turns by {angle:.0f} degrees on the way"
        if size > BEHIND * behind:
            return (
                f"it is {size / behind:.2g} times as far from the last one as its own tangent says"
            )
        return ""

    def speed(self, state: Array, unbalanced: Array, change: Array) -> float:
        """Return the length of a prediction; infinite where the tangent is singular."""
        v = self.prediction(state, unbalanced, change)
        length = float(np.sqrt(self.system.sum(np.array([v @ v]))[0]))
        return length if np.isfinite(length) else np.inf


def limit(start: float, time: float, part: float, trial: float, speeds: list[float]) -> str:
    """Tell where the last equilibrium is and whether it is near a limit point.

    It lies at the fraction `part` of a step from `start`; the attempt at `time`, at the fraction
    `trial`, failed. `speeds` of the displacements, per step: at the start and at `part`.
    """
    if time == start:
        where = f"{100 * part:.4g} % of the change since the last equilibrium can be made"
    else:
        where = f"the last one was at {start + part / trial * (time - start):.7g}"
    ratio = speeds[1] / speeds[0] if speeds[0] > 0.0 else 0.0
    if not ratio > STEEP:
        return where
    faster = f"{ratio:.2g} times faster" if np.isfinite(ratio) else "infinitely faster"
    return (
        f"{where}, where displacements grow {faster} with the load than at the start of the step: "
        "a limit point, or nearly one. To go on prescribe a coordinate instead of the load "
        "(sa.fix(..., displacement=...); sa.prescribe(..., release=...) on a planar body), take "
        "smaller steps, or accept an equilibrium elsewhere with solve(jump=True)"
    )

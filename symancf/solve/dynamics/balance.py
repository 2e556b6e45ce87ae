# SPDX-License-Identifier: BSD-3-Clause
"""Measures of the residuals of a time step: inertia, and all that makes forces in the system."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, get_args

import numpy as np

from ...arrays import Array, pointer
from ...assembly.form import Role
from ...newton import SAFE_SQUARES, TINY, Constraints, RowNorms, Stopping

if TYPE_CHECKING:
    from .motion import EquationsOfMotion
    from .native import Native


ROUND_OFF_FACTOR = 2.0  # times its estimate: what later steps need not fall below
#: of the largest work in a part: forces that are less count for nothing in jumps
NEGLIGIBLE_WORK = 1e-3
UNLOADED_RATIO = 1e-10  # of the largest forces of a part, by their work: a kind of row without any
DIVERGENCE_RATIO = 1e4  # times the first residual
#: ratio of two residuals: an iteration with the old tangent costs less than its test
OLD_TANGENT_RATIO = 0.1


class Balance(Stopping):
    r"""`Stopping` of a time step.

    The reference of forces is

    .. math:: r_k = \|M a\|_k + \sum_i \|R_i\|_k, \quad R = \sum_i R_i,

    with the forces R_i of each role: strain, loads, contact, constraints, dampers. Where these
    balance each other, as near rest, neither M a nor R tells what is small. The larger of the
    values at the beginning of this step and at the end of the last one counts, or twice the
    round-off where that was more in a step before. Constraints hold to round-off.

    Parts cost an evaluation: as long as the lower bound max(|M a|, |R|) is enough for Newton's
    method to end, they are not asked for. It alone tells whether a step needs an iteration:
    what is left of slow motions near rest would add up.

    Attributes
    ----------
    f : local vector of the last residual.
    """

    def __init__(self, motion: EquationsOfMotion, f: Array, native: Native) -> None:
        system = motion.system
        rows = RowNorms(system, [*system.forms, *motion.mass.forms])
        equations = rows.classes(lambda block: block.is_equation)
        super().__init__(rows, DIVERGENCE_RATIO, OLD_TANGENT_RATIO)
        matrix = motion.matrix if equations.any() else None
        self.constraints = Constraints(matrix, rows, equations)
        self.motion, self.system, self.f = motion, system, f
        moves = rows.classes(lambda block: block.moves)
        follows = rows.classes(lambda block: block.kind == "dependent")  # its forces add up to zero
        self._size, self._native = 1.0, native
        # `_ended`: forces at the end of the last step, `_in_parts`: those in parts, where `split`
        self._ended, self._in_parts, self._forces = np.zeros((3, rows.count))
        self._natural: Array = np.ones(rows.count)
        self._rounding = np.zeros(len(rows.of_row))  # round-off of laws, by rows
        self._of_laws: Array = np.zeros(rows.count)  # its norms
        native.problem.give(
            moves=moves,
            constrains=self.constraints.classes,
            natural=self._natural,
            least=np.where(follows, 1.0, np.where(moves, UNLOADED_RATIO, 0.0)),
            round_off=ROUND_OFF_FACTOR,
            tiny=TINY,
            safe=SAFE_SQUARES,
            smallest=self.smallest,
        )
        native.state.give(ended=self._ended, in_parts=self._in_parts)
        n = rows.count
        native.work.give(violations=np.zeros(n), sizes=np.zeros(n), weight=np.zeros(n))
        native.work.give(lengths=np.zeros(rows.parts))
        native.work.give(forces=self._forces, stopping=ctypes.pointer(self.data))
        native.estimates.give(count=len(rows.signs), signs=rows.signs, of_laws=self._of_laws)
        native.estimates.give(share=np.zeros(n), noise_before=np.zeros(n), parts_before=np.zeros(n))

    def begin(self) -> Array:
        """Take the sizes of the parts and return them; forget earlier steps (collective)."""
        rows = self.rows
        sizes = rows.sizes()
        self._size = float(sizes.max(initial=0.0))
        self._natural[:] = rows.natural(sizes)
        self.constraints.measure(sizes)
        m, assembler = self.motion, self.system.assembler
        strain = np.array([form.role == "strain" for form in assembler.forms], dtype=bool)
        if strain.any():
            with assembler.only(strain):
                self._rounding = rows.rounding(
                    m.state,
                    assembler.residual,
                    lambda change, answer: assembler.product(m.state, change, answer),
                )
        self.forget()
        return sizes

    def forget(self) -> None:
        """Forget what earlier steps left."""
        self._ended[:] = 0.0
        self.noise[:] = self._of_laws[:] = self.rows.of(self._rounding)[0]
        self._native.state.split = self._native.state.estimated = 0
        self.constraints.limits[:] = 0.0

    def estimates(self) -> tuple[Array, Array, int]:
        """Return what steps so far have told of round-off and of forces in parts."""
        return self.noise.copy(), self._in_parts.copy(), self._native.state.split

    def recall(self, estimates: tuple[Array, Array, int]) -> None:
        """Forget what came after `estimates`."""
        self.noise[:], self._in_parts[:], self._native.state.split = estimates

    def split(self) -> None:
        """Take the forces at the end of a step in parts (collective)."""
        self._in_parts[:] = self.parts()

    # ---- the rule -------------------------------------------------------------------------------
    def shares(self) -> Array:
        """Return norms, or the largest violations, relative to what they are measured by."""
        self._native.call("shares")
        return self._shares

    def round_off(self) -> Array:
        """Estimate the residual that round-off leaves; take up the forces in parts (collective)."""
        self.noise[:] = self._estimate()
        self._in_parts[:] = self._forces[:] = np.maximum(self._forces, self.parts())
        self._native.state.split = self._native.state.estimated = 1
        self._native.call("weigh")
        return self.noise

    def _estimate(self) -> Array:
        return np.maximum(self.rows.response(self._rounded(), self._product), self._of_laws)

    def rounded_rows(self) -> Array:
        """Return the residual (rows) as round-off makes it."""
        return self.rows.noise(self._rounded(), self._product) + self._rounding

    def _rounded(self) -> Array:
        return np.abs(self.motion.state)

    def _product(self, change: Array, answer: Array) -> None:
        """Write the product of the tangent of a step, without damping, with a change."""
        m = self.motion
        second = np.flatnonzero(m.second)
        B = float(m.acceleration_factor[second[0]]) if len(second) else 0.0
        inertial = np.zeros_like(change)
        self.system.assembler.product(m.state, change, answer)
        m.mass.residual(change, inertial)
        answer += B * inertial

    # ---- forces ---------------------------------------------------------------------------------
    def parts(self) -> Array:
        """Return |M a| and the forces |R_i| of all roles in one sum, 0 of constraints (collective).

        At the present state, of which the last residual was.
        """
        if self._native.estimates_too():
            norms = np.zeros(self.rows.count)
            self._native.call("forces_in_parts", pointer(norms))
            return norms
        m, assembler, f = self.motion, self.system.assembler, np.zeros_like(self.f)
        to_rows = self.rows.numbering.to_rows
        vectors = [to_rows(m.inertia)]
        roles = np.array([form.role for form in assembler.forms])
        for role in (role for role in get_args(Role) if role in roles):
            with assembler.only(roles == role):
                assembler.residual(m.state, f)
            vectors.append(to_rows(f))
        if m.damping.stiffness:
            vectors.append(m.damping.stiffness * to_rows(m.stiffness_times(m.rate)))
        return np.where(self.constraints.classes, 0.0, np.sum(self.rows.of(*vectors), axis=0))

    def imbalance(self) -> float:
        """Return the largest share of its forces that a kind of row leaves unbalanced (collective).

        At the present state, rates and accelerations; what round-off makes does not count.
        """
        bad = self.motion.residual(self.f)
        if self.system.comm.size > 1:
            bad = self.system.comm.allreduce(bad)
        if bad:
            return math.inf
        (rows,) = self.rows.of(self.rows.numbering.to_rows(self.f))
        rows = np.where(self.constraints.classes, 0.0, rows)
        forces = self.parts()
        # a kind of row without forces of its own is measured by the work of the others
        work = self.rows.worst(forces * self._natural)[self.rows.part]
        forces = np.maximum(forces, np.maximum(NEGLIGIBLE_WORK * work / self._natural, TINY))
        share = rows / forces
        if share.max(initial=0.0) < 1e-7:
            return float(share.max(initial=0.0))
        noise = self._estimate()
        share[rows <= 1e3 * ROUND_OFF_FACTOR * noise] = 0.0
        return float(share.max(initial=0.0))

    def tolerances(self, rtol: float, atol: float | None) -> Array:
        """Return the absolute tolerances of this rank's rows; see `DynamicProblem.solve`."""
        if atol is None:
            return np.asarray(rtol * self._natural[self.rows.of_row])
        lengths = "position", "sliding"
        long = self.rows.classes(lambda block: block.kind in lengths)[self.rows.of_row]
        return np.where(long, atol, atol / (self._size or 1.0))

    # ---- constraints ----------------------------------------------------------------------------
    def worst_constraint(self, local: Array) -> tuple[float, str]:
        """Return the largest share of its limit in a local vector, and the constraint's name.

        inf: its gradient is zero.
        """
        numbering, at = self.rows.numbering, self.constraints.rows
        violations, limits = np.abs(numbering.to_rows(local)[at]), self.constraints.limits
        share = np.where(
            (limits <= TINY) & (violations > 0.0), np.inf, violations / np.maximum(limits, TINY)
        )
        mine = (0.0, "")
        if len(share):
            worst = int(np.argmax(share))
            kind = self.rows.kinds[self.rows.kind[self.rows.of_row[at[worst]]]]
            vertex = numbering.vertex_of[numbering.coordinate_of_row[at[worst]]]
            owner = int(numbering.owner[vertex])
            mine = float(share[worst]), numbering.owners.names[owner] if owner >= 0 else kind.name
        every: list[tuple[float, str]] = self.system.comm.allgather(mine)
        return max(every)

# SPDX-License-Identifier: BSD-3-Clause
"""Corrections that remain where the residual counts as zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..assembly.numbering import MOVING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..assembly.configuration import Configuration
    from ..runtime.petsc import PETSc
    from .norms import RowNorms


CORRECTION_TOLERANCE = 1e-6  # of the largest displacement of the part: a correction that is none
SMALLEST_DISPLACEMENT = 1e-9  # of the size of the part: by this smaller displacements are measured
MAX_EXTRA_ITERATIONS = 20  # iterations that are made for it
NOISE_FACTOR = 10.0  # times what round-off of the residual makes
WARNED_ROUND_OFF = 1e-3  # round-off that makes more than this is told
FACTORS, MULTIGRID = ("lu", "cholesky", "fixed", "updated"), ("gamg", "grids", "hypre", "mg")
ROUGH_CORRECTION_RATIO = 10.0  # times what others make of a residual may be the correction


class Leftover:
    r"""Looks for soft places that the forces of stiff ones hide.

    The residual of a connected part may be small beside the largest forces in it, and still be
    all that loads a soft or light place of it. So, where Newton's method ends, the correction
    :math:`K^{-1} R` that is left over is looked at (one back substitution with the last factors,
    or one application of multigrid; with other preconditioners the diagonal's answer),
    unless the last step of a direct solver was small already. It is none where

    .. math:: |\Delta u_i| / L_i \le 10^{-6} \max_j |u_j| / L_j

    in each part, with L the size of the part for positions and 1 for slopes, axes and angles.
    Otherwise iterations go on, and whoever asked is told where they do not help. What round-off
    of the residual makes counts for nothing, unless it is more than a thousandth.

    Parameters
    ----------
    ksp : Newton's linear solver.
    vector : of rows, like which others are made for each correction.

    Attributes
    ----------
    moves, unit : (rows,) which rows are of coordinates that move; L of each.
    extra : iterations that were made for it in this solution.
    warning : where the last solution is not settled, else "".
    """

    def __init__(
        self,
        system: Configuration,
        rows: RowNorms,
        ksp: PETSc.KSP,
        vector: PETSc.Vec,
    ) -> None:
        self.system, self.rows, self.ksp = system, rows, ksp
        self._vector = vector
        numbering = self._numbering = system.numbering
        moves = numbering.those(*MOVING)
        self.moves = moves[numbering.coordinate_of_row]
        self.measure(rows.sizes())
        self.begin()

    def measure(self, sizes: Array) -> None:
        """Take the sizes of the parts."""
        length = self.rows.natural(sizes)
        self.unit = self.rows.by_rows(np.where(length > 0.0, length, 1.0))

    def begin(self) -> None:
        """Begin a solution."""
        self.extra, self.warning = 0, ""

    def _relative(self, change: Array, x: Array) -> tuple[float, Array]:
        """Return the largest share that a change is of the displacements, and that of each row."""
        rows = self.rows
        size = np.zeros(rows.parts)
        u = self._shares(x)
        if rows.parts > 1:
            np.maximum.at(size, rows.row_part, u)
        else:
            size[:] = u.max(initial=0.0)
        del u
        size = np.maximum(rows.largest(size), SMALLEST_DISPLACEMENT)
        share = self._shares(change)
        share /= size[rows.row_part] if rows.parts > 1 else size
        (largest,) = rows.largest(np.array([share.max(initial=0.0)]))
        return float(largest), share

    def _shares(self, change: Array) -> Array:
        """Return the size of a change of each row by its unit, 0 of rows that do not move."""
        share = np.abs(change)
        share /= self.unit
        share[~self.moves] = 0.0
        return share

    def correction(self, rows: Array) -> Array | None:
        """Return the correction for a residual, None where the solver tells nothing."""
        y = self._vector.duplicate()
        if self.ksp.getPC().getType() in FACTORS + MULTIGRID:
            b = self._vector.duplicate()
            b.setArray(rows)
            self.ksp.getPC().apply(b, y)
            b.destroy()
        else:
            self.ksp.getOperators()[1].getDiagonal(y)
            diagonal = y.getArray(readonly=True)
            there = diagonal != 0.0
            y.setArray(np.divide(rows, diagonal, out=np.zeros_like(rows), where=there))
        correction = np.array(y.getArray(readonly=True))
        finite = np.isfinite(y.norm())
        y.destroy()
        return correction if finite else None

    def lengths(self, change: Array) -> Array:
        """Return the size of a change (rows) of the displacements of each part (collective)."""
        (norms,) = self.rows.of(np.where(self.moves, change / self.unit, 0.0))
        return self.rows.total(norms)

    def corrections(self, rows: Array) -> Array:
        """Return the size of the correction of each part for a residual (collective)."""
        y = self.correction(rows)
        return np.full(self.rows.parts, np.nan) if y is None else self.lengths(y)

    def settled(
        self,
        f: Array,
        x: Array,
        step: Array | None,
        noise: Callable[[], Array],
        loose: float = 0.0,
    ) -> bool:
        """Tell whether Newton's method may end here (collective).

        Parameters
        ----------
        f, x : residual and unknowns (rows).
        step : the last one (rows); None: there was none.
        noise : returns the residual (rows) that round-off makes.
        loose : share that counts as none where another solution goes on from here.
        """
        self.warning = ""
        if loose == np.inf:
            return True
        least, exact = max(CORRECTION_TOLERANCE, loose), self.ksp.getPC().getType() in FACTORS
        if exact and step is not None and self._relative(step, x)[0] <= least:
            return True
        small = least if exact else least / ROUGH_CORRECTION_RATIO
        y = self.correction(f)
        if y is None:
            return True
        share = self._relative(y, x)[0]
        if share <= small:
            return True
        del y  # as round-off is found, which needs room
        rounded = self.correction(noise())
        if rounded is None:
            return True
        rests = share <= NOISE_FACTOR * self._relative(rounded, x)[0]
        del rounded
        if not rests and self.extra < MAX_EXTRA_ITERATIONS:
            self.extra += 1
            return False
        if not rests or share > WARNED_ROUND_OFF:
            self.warning = self._place(f, x)
        return True

    def _place(self, f: Array, x: Array) -> str:
        """Tell where the correction for a residual is largest (collective)."""
        numbering, y = self._numbering, self.correction(f)
        assert y is not None
        _, share = self._relative(y, x)
        vertices = numbering.vertex_of[numbering.coordinate_of_row]
        largest, size, where = largest_at(self.system, share, vertices, np.abs(y))
        return (
            f"{where} would still move by {size:.2g}, "
            f"{100.0 * largest:.2g} % of the largest displacement"
        )

    def warn(self, when: str) -> None:
        """Warn where the last solution is not settled."""
        if self.warning:
            self.system.once.warn(
                ("not settled", self.warning.partition(" near ")[0]),
                f"{when}: the residual is small beside the largest forces, but {self.warning}. The "
                "stiffness or the forces there are too small beside those of what it is "
                "connected with: the state there is not found",
            )


def largest_at(
    system: Configuration, values: Array, vertices: Ints | Ints32, others: Array
) -> tuple[float, float, str]:
    """Return the largest value of all ranks, the other one there, body and place (collective).

    Parameters
    ----------
    values, others : (n,) of this rank.
    vertices : (n,) where they are.
    """
    at = int(np.argmax(values)) if len(values) else -1
    mine: tuple[float, float, str, list[float]] = (-1.0, 0.0, "", [])
    if at >= 0:
        vertex = vertices[at]
        names = [
            system.name(body)
            for body in system.bodies
            if any(np.isin(vertex, v).any() for _, v in system.binding(body).carriers(system))
        ]
        at_rest = system.points[vertex].tolist()
        mine = float(values[at]), float(others[at]), " and ".join(map(repr, names)), at_rest
    largest, other, name, x = max(system.comm.allgather(mine))
    least = 1e-12 * max(map(abs, x), default=0.0)  # round-off is zero
    place = ", ".join(f"{c if abs(c) > least else 0.0:.4g}" for c in x)
    where = f"{name} near ({place})"
    return largest, other, where

# SPDX-License-Identifier: BSD-3-Clause
"""When Newton's method may stop: every kind of row of every part small, or at round-off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Mask
from ..runtime.petsc import PETSc

if TYPE_CHECKING:
    from collections.abc import Callable

    from .norms import RowNorms


NEAR = 8.0  # times the estimate of round-off; residuals that fell no more were 0.1 to 1.3 of it
AGAIN = 10.0  # times the share with which a part has converged: more opens it again
SLOW = 0.5  # ratio of two residuals: with an old tangent more is no gain
REASONS = PETSc.SNES.ConvergedReason


class Stopping(ABC):
    r"""The rule of every Newton's method: statics, motions, paths.

    Each kind of row k (positions, the slopes of each body, multipliers) of each connected part
    has its own norm n_k and a reference r_k; constraints are measured one by one by their
    gradients (`Constraints`). A part has converged when

    .. math:: n_k \le \mathrm{rtol}\; r_k \quad\text{or}\quad n_k \le \|K\,\delta u\|_k

    for each of its k, where du changes each coordinate by one unit in its last place: no
    smaller residual can be told from zero. Stiff directions may hide in it what soft ones still
    lack, so round-off is believed only after a step of less than 1e-8 |u|, or in two iterations
    running; see `Leftover` for what is hidden even then. A part has also converged after a step
    shorter than stol |u|, or when iterations bring nothing any more, if all n_k are below
    sqrt(rtol) r_k. Newton's method ends when all parts have converged.

    What r_k and the round-off are, subclasses say.

    Parameters
    ----------
    growth : times the first residual: a larger one is given up where iterations bring nothing.
    falling : ratio of two residuals; below it the next iteration is made without asking whether
        this one is at round-off. (With an old tangent: `SLOW`.)

    Attributes
    ----------
    rows : `RowNorms`.
    closed : which parts have converged; always the same array, as C may write into it.
    """

    def __init__(self, rows: RowNorms, growth: float = np.inf, falling: float = 0.0) -> None:
        self.rows = rows
        self._growth, self._falling = growth, falling
        self.closed: Mask = np.zeros(rows.parts, dtype=bool)
        self._shut: Array = np.zeros(rows.parts)
        self._norms: Array = np.zeros(rows.count)
        self._start(self.closed)

    @abstractmethod
    def shares(self) -> Array:
        """Return the norms of this iteration relative to their references, by class."""

    @abstractmethod
    def round_off(self) -> Array:
        """Return the norms of the residual of one unit in the last place (collective)."""

    def arisen(self) -> bool:
        """Take up references that arose on the way; tell whether they may have changed."""
        return False

    @property
    def last(self) -> Array:
        """The largest share of its reference in each part, in the last iteration."""
        return self._last

    def length(self, step: Array, x: Array) -> Array:
        """Return the length of a step (rows) of each part, relative to unknowns (collective)."""
        moved, size = (self.rows.total(norms) for norms in self.rows.of(step, x))
        return np.divide(moved, size, out=np.full(len(size), np.inf), where=size > 0.0)

    def _start(self, closed: Mask) -> None:
        """Begin with the first residual, and parts that have converged with it."""
        parts = self.rows.parts
        self.closed[:], self._shut[:] = closed, np.where(closed, 1.0, 0.0)
        self._trail: list[tuple[Array, Array]] = []  # without what is at round-off, and with it
        self._near = self.closed.copy()
        self._last, self._begun = np.full(parts, np.inf), np.full(parts, np.inf)

    def _close(self, worst: Array, rtol: float) -> bool:
        """Close the parts that have converged by the tolerance; tell whether all have."""
        if self.closed.any():
            kept = self.closed & (worst <= AGAIN * self._shut)
            self.closed[:] = (worst <= rtol) | kept
            self._shut[~kept] = rtol
        else:
            self.closed[:] = worst <= rtol
            self._shut.fill(rtol)
        return bool(self.closed.all())

    def _reason(
        self, rtol: float, stol: float, step: Callable[[], Array], fresh: bool = True
    ) -> int:
        """Return PETSc's reason to stop after an iteration, or that to go on (collective).

        Parameters
        ----------
        step : returns the length of the last step of each part, relative to its size.
        fresh : whether that was made with the tangent where it began: then a residual that is
            left after a short step is round-off; else iterations converge slowly.
        """
        rows, n, share = self.rows, self._norms, self.shares()
        worst = rows.worst(share)
        before, self._last = self._last, worst
        if self._close(worst, rtol):
            return int(REASONS.CONVERGED_FNORM_RELATIVE)
        falling = self._falling if fresh else SLOW
        if falling and ((worst <= falling * before) | self.closed).all():
            self._trail.append((worst, worst))
            return int(REASONS.ITERATING)
        last = self._trail[-1][0] if self._trail else np.zeros_like(worst)
        moved = step()
        far = (moved > 1e-6) & ((rows.least(share) > 1e-3) | (worst < 0.1 * last))
        if fresh and (far | self.closed).all():  # far from round-off: spare its estimate
            self._trail.append((worst, worst))
            return int(REASONS.ITERATING)
        noise = self.round_off()
        if self.arisen():
            share = self.shares()
            worst = self._last = rows.worst(share)
            if self._close(worst, rtol):
                return int(REASONS.CONVERGED_FNORM_RELATIVE)
        above = np.divide(n, noise, out=np.full(rows.count, np.inf), where=noise > 0.0)
        open_ = share > rtol
        highest = rows.worst(np.where(open_, above, 0.0))
        lowest, near = highest <= 1.0, highest <= NEAR
        seen, self._near = self._near, np.where(far, self._near, near)
        believed = (moved <= 1e-8) | seen
        at_noise = ~far & ((lowest & believed) | (near & seen))
        rest = rows.worst(np.where(open_ & (above > 1e3), share, 0.0))
        self._trail.append((np.where(far, worst, rest), worst))
        stalled = np.zeros(rows.parts, dtype=bool)
        if len(self._trail) > 2:
            of_rest, of_all = np.array(self._trail).transpose(1, 0, 2)
            stalled = _stalls(of_rest) | ((rest == 0.0) & _stalls(of_all))
        no_gain = ~far & (rest <= np.sqrt(rtol)) & ((moved <= stol) | stalled)
        fresh_ones = (at_noise | no_gain) & ~self.closed
        self._shut[fresh_ones] = worst[fresh_ones]
        only = bool((no_gain & ~at_noise & ~self.closed).any())
        self.closed |= fresh_ones
        if self.closed.all():
            reason = REASONS.CONVERGED_SNORM_RELATIVE if only else REASONS.CONVERGED_FNORM_RELATIVE
            return int(reason)
        if (worst > self._growth * self._begun).any():
            return int(REASONS.DIVERGED_DTOL)
        return int(REASONS.ITERATING)


def _stalls(trail: Array) -> Mask:
    """Tell where the last two of shares (n, parts) are no gain."""
    return np.asarray(trail[-2:].min(axis=0) > 0.9 * trail[:-2].min(axis=0))

# SPDX-License-Identifier: BSD-3-Clause
"""When Newton's method may stop: every kind of row of every part small, or at round-off."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Mask
from ..runtime import jit
from ..runtime.structures import declared

if TYPE_CHECKING:
    from .norms import RowNorms


#: times the estimate of round-off; residuals that fell no more were 0.1 to 1.3 of it
ROUND_OFF_FACTOR = 8.0
SLOW_RATIO = 0.5  # ratio of two residuals: with an old tangent more is no gain
REUSE_RATIO = 1e6  # times the last estimate of round-off: residuals for which it serves again
CALLBACK_NEEDED = 100  # what C answers where more is to be asked
SCRATCH = "worst", "before", "above", "rest"  # by part

_HEADER = Path(__file__).with_name("stopping.h")
STRUCTURE = declared(_HEADER)["symancf_stopping"]


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

    What r_k and the round-off are, subclasses say; the rule itself is written in stopping.h, which
    the steps of motions in C ask without Python.

    Parameters
    ----------
    growth : times the first residual: a larger one is given up where iterations bring nothing.
    falling : ratio of two residuals; below it the next iteration is made without asking whether
        this one is at round-off. (With an old tangent: `SLOW_RATIO`.)

    Attributes
    ----------
    rows : `RowNorms`.
    data : ``symancf_stopping``.
    noise : norms of the residual that round-off makes, by class, as of the last estimate.
    closed : which parts have converged.
    first : shares with which a solution began, for `growth`.
    smallest : sizes of unknowns by part: smaller ones are measured by these.
    """

    def __init__(self, rows: RowNorms, growth: float = np.inf, falling: float = 0.0) -> None:
        self.rows = rows
        self._library = jit.load_runtime(_HEADER, comm=rows.system.comm)
        classes, parts = rows.count, rows.parts
        self._norms: Array = np.zeros(classes)
        self._shares: Array = np.zeros(classes)
        self.noise: Array = np.zeros(classes)
        self.smallest: Array = np.zeros(parts)
        self.first: Array = np.zeros(parts)
        self._moved: Array = np.zeros(parts)
        self._shut: Array = np.zeros(parts)
        self.closed: Mask = np.zeros(parts, dtype=bool)
        self._close: Mask = np.zeros(parts, dtype=bool)
        data = self.data = STRUCTURE(classes=classes, parts=parts, falling=falling, growth=growth)
        data.give(slow=SLOW_RATIO, near=ROUND_OFF_FACTOR, reuse=REUSE_RATIO, part=rows.part)
        data.give(norms=self._norms, shares=self._shares, noise=self.noise)
        data.give(
            first=self.first, moved=self._moved, shut=self._shut, trail=np.zeros((2, parts, 3))
        )
        data.give(closed=self.closed.view(np.uint8), close=self._close.view(np.uint8))
        data.give(far=np.zeros(parts, dtype=np.uint8))
        data.give(**{name: np.zeros(parts) for name in SCRATCH})
        self._place = ctypes.byref(data)
        self._library.symancf_stop_begin(self._place)

    @abstractmethod
    def shares(self) -> Array:
        """Return the norms of this iteration relative to their references, by class."""

    @abstractmethod
    def round_off(self) -> Array:
        """Return the norms of the residual of one unit in the last place (collective).

        References may change with it.
        """

    def start(self, closed: Mask) -> None:
        """Begin a solution, with parts that have converged at its beginning."""
        self._library.symancf_stop_begin(self._place)
        self.closed[:] = self._close[:] = self._shut[:] = closed

    def reason(self, step: Array, x: Array) -> int:
        """Return PETSc's reason to stop after an iteration with a new tangent, 0 to go on.

        (Collective.) Parameters as of `decide`.
        """
        self._shares[:] = self.shares()
        reason = int(self._library.symancf_stop_by_shares(self._place, 1))
        return self.decide(step, x) if reason == CALLBACK_NEEDED else reason

    def decide(self, step: Array, x: Array, fresh: bool = True) -> int:
        """Return PETSc's reason to stop, 0 to go on, where shares do not tell (collective).

        Parameters
        ----------
        step, x : the last step, and the unknowns after it (rows).
        fresh : whether it was made with the tangent where it began: then a residual that is
            left after a short step is round-off; else iterations converge slowly.
        """
        moved, size = (self.rows.total(norms) for norms in self.rows.of(step, x))
        size = np.maximum(size, self.smallest)
        self._moved[:] = np.divide(moved, size, out=np.full(len(size), np.inf), where=size > 0.0)
        reason = int(self._library.symancf_stop_far(self._place, fresh))
        if reason == CALLBACK_NEEDED:  # near round-off: it is worth its estimate
            self.noise[:] = self.round_off()
            self._shares[:] = self.shares()
            reason = int(self._library.symancf_stop_at_round_off(self._place))
        return reason

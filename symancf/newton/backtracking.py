# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps that are cut part by part, before PETSc's line search sees them."""

from __future__ import annotations

import ctypes
import math
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import Array, Mask
from ..runtime.petsc import PETSc, functions
from .aids import Aid
from .equations import line_search

if TYPE_CHECKING:
    from collections.abc import Callable

    Evaluate = Callable[[PETSc.Vec, PETSc.Vec], int]

    from .corrections import Leftover
    from .equations import VectorEquations
    from .stopping import Stopping


MAX_HALVINGS = 12
KINK_HALVINGS = 8  # halvings where forces have kinks
#: of the force along a step that is not Newton's: so much may point back at its end
REVERSED_FORCE_RATIO = 0.5
RECENT_ITERATIONS = 3  # iterations
CORRECTION_RATIO = 0.9  # of the smallest correction of these: more is no gain
STANDSTILL_TOLERANCE = 1e-9  # of the displacements: a step that round-off may make


class Mended(Enum):
    """What has become of a step that a linear solver has failed to find.

    ``NEWTON``: it is Newton's; ``DOWNHILL``: not, but the potential falls along it at first;
    ``NOT``: there is none.
    """

    NEWTON = "by another solver"
    DOWNHILL = "downhill"
    NOT = "not mended"


def _slope(snes: PETSc.SNES) -> float | None:
    """Return alpha of PETSc's backtracking: |F|^2 may be (1 - 2 alpha) |F|^2 after a step."""
    if line_search(snes) != "bt":
        return None
    search, alpha = ctypes.c_void_p(), ctypes.c_double()
    functions.SNESGetLineSearch(ctypes.c_void_p(snes.handle), ctypes.byref(search))
    functions.SNESLineSearchBTGetAlpha(search, ctypes.byref(alpha))
    return alpha.value


class PartBacktracking(Aid):
    r"""Halves the step of each part that would leave the domain of a law, or lead astray.

    Parts are independent: a step that is full for one and cut for another is what each of them
    would make alone. PETSc's line search looks at the norm of all of them together, so it would
    cut the steps of all for one, and never see what a part with small forces does.

    Where forces have kinks (contact, friction) full steps may go to and fro for ever. There the
    largest part a = 1, 1/2, ... of a step :math:`\delta u = K^{-1} R(u)` is made for which

    .. math:: |K^{-1} R(u - a \delta u)| < |\delta u| ,

    with K of the step's beginning (natural monotonicity: P. Deuflhard, Newton Methods for Nonlinear
    Problems, Springer 2004, section 3.3), else the one that makes it smallest. Unlike a norm of
    the residual this knows no units, and lets a slender body stretch that turns. Where corrections
    have not become smaller for some iterations points come and go in turn, and a begins with 1/2.
    Near a solution steps are full, so that Newton's method stays quadratic. For K^-1 with Krylov's
    methods see `Leftover.corrections`.

    Parameters
    ----------
    equations : whose steps are cut.
    test : tells which parts have converged: these are not cut for growing.
    evaluate : writes the residual at unknowns, vectors of rows; returns the number of quadrature
        points on all ranks that left the domain of a law.
    leftover : measures corrections, where forces have kinks.
    acts : tells whether such forces act at the state that was evaluated last (collective); where
        they do at neither end of a step it is one without kinks.
    fresh : tells whether the tangent is that of the step's beginning: with an older one steps are
        not cut.
    """

    def __init__(
        self,
        equations: VectorEquations,
        test: Stopping,
        evaluate: Evaluate,
        leftover: Leftover | None = None,
        fresh: Callable[[], bool] = lambda: True,
        acts: Callable[[], bool] = lambda: True,
    ) -> None:
        self.equations, self.rows, self.test, self.evaluate = equations, test.rows, test, evaluate
        self._trial, self._g = equations.x.duplicate(), equations.x.duplicate()
        self._alpha = _slope(equations.snes)
        self._leftover, self._fresh, self._acts = leftover, fresh, acts
        self._trail: list[Array] = []

    def _stalls(self, length: Array) -> Mask:
        """Tell of which parts the corrections have not become smaller: they go round."""
        trail, self._trail = self._trail, [*self._trail[-RECENT_ITERATIONS:], length]
        if len(trail) < RECENT_ITERATIONS:
            return np.zeros(len(length), dtype=bool)
        return np.asarray(length > CORRECTION_RATIO * np.min(trail[-RECENT_ITERATIONS:], axis=0))

    def step(self) -> bool:
        """Cut the step."""
        equations = self.equations
        if equations.snes.getIterationNumber() == 0:
            self._trail = []
        if self._fresh():
            step = equations.step.getArray(readonly=True).copy()
            part = self._parts(equations.x.getArray(readonly=True), step)
            if (part < 1.0).any():
                equations.step.setArray(part[self.rows.row_part] * step)
        return True

    def _parts(self, here: Array, step: Array) -> Array:
        """Return how much of the step each part makes, (parts,)."""
        rows, leftover = self.rows, self._leftover
        f = self.equations.F.getArray(readonly=True)
        (norms,) = rows.of(f)
        before, part = rows.total(norms), np.ones(rows.parts)
        best, least = part.copy(), np.full(rows.parts, np.inf)
        open_ = leftover is not None and not self._acts()
        if leftover is not None:
            length = leftover.corrections(f)
            part[self._stalls(length) & (not open_)] = 0.5
            moving = (length > STANDSTILL_TOLERANCE * leftover.lengths(here)) & ~self.test.closed
        for _ in range(MAX_HALVINGS if leftover is None else KINK_HALVINGS + 1):
            self._trial.setArray(here - part[rows.row_part] * step)
            bad = self.evaluate(self._trial, self._g)
            if open_ and not self._acts():
                if rows.parts == 1:
                    return part
                leftover = None
            open_ = False
            g = self._g.getArray(readonly=True)
            wrong = self._wrong(g, bad, before, part)
            if leftover is not None:
                remainder = leftover.corrections(np.where(wrong[rows.row_part], 0.0, g))
                remainder[wrong] = np.inf
                best, least = np.where(remainder < least, part, best), np.minimum(remainder, least)
                wrong |= moving & (remainder >= length)
            if not wrong.any():
                return part
            part[wrong] /= 2.0
        return np.where(wrong & (least < np.inf), best, part)

    def _wrong(self, g: Array, bad: int, before: Array, part: Array) -> Mask:
        """Tell which parts leave the domain of a law, or have a residual g that grows too much."""
        (norms,) = self.rows.of(g)
        after = self.rows.total(norms)
        wrong = ~np.isfinite(after)
        if bad and not wrong.any():
            wrong[:] = True
        if self._alpha is not None:
            limit = before * np.sqrt(np.maximum(0.0, 1.0 - 2.0 * self._alpha * part))
            wrong |= (after > limit) & (before > 0.0) & ~self.test.closed
        return np.asarray(wrong)


class LineSearch(Aid):
    r"""Cuts steps at whose ends the potential grows: the tangent of a law with memory has kinks.

    Where all forces have a potential W, its slope along a step is :math:`s(a) = -R(u - a\,d)
    \cdot d`. A step that leads downhill, s(0) < 0, is full if :math:`s(1) \le |s(0)|/2`; else a is
    the first of some secants with :math:`|s(a)| \le |s(0)|/2`, between ends whose slopes have
    different signs (M. A. Crisfield, Non-Linear Finite Element Analysis of Solids and Structures 1,
    Wiley 1991, section 9.2). Plasticity has an incremental potential: the least energy and
    dissipation of a step.

    Parameters
    ----------
    equations, evaluate : see `PartBacktracking`.
    """

    def __init__(self, equations: VectorEquations, evaluate: Evaluate) -> None:
        self.equations, self._evaluate = equations, evaluate

    def step(self) -> bool:
        """Cut the step."""
        step = self.equations.step
        first = self.equations.F.dot(step)
        if first > 0.0:
            step.scale(self._part(step, first))
        return True

    def _part(self, step: PETSc.Vec, first: float) -> float:
        """Return how much of the step is made (collective)."""
        low, part, enough = (0.0, first), 1.0, REVERSED_FORCE_RATIO * first
        trial, g = step.duplicate(), step.duplicate()
        for _ in range(MAX_HALVINGS):
            trial.waxpy(-part, step, self.equations.x)
            bad = self._evaluate(trial, g)
            here = -math.inf if bad else g.dot(step)
            if here >= -enough and (part == 1.0 or here <= enough):
                break
            if here < 0.0:
                high = part, here
            else:
                low = part, here
            share = low[1] / (low[1] - high[1]) if high[1] > -math.inf else 0.5
            part = low[0] + (high[0] - low[0]) * min(max(share, 0.1), 0.9)
        return part


class Mends(Protocol):
    """A linear solver that finds another step where its own method has failed.

    Attributes
    ----------
    mended : whether the last step is none of Newton's, so that nothing may end with it.
    """

    mended: bool

    def mend(self, b: PETSc.Vec, y: PETSc.Vec, /) -> Mended | None:
        """Replace the step y found for a residual b; tell what it is now, None: no need was."""


class MendedSteps(Aid):
    """Replaces steps that a Krylov solver has failed to find; cuts those that only lead downhill.

    Parameters
    ----------
    equations : whose steps are mended.
    linear : mends steps.
    evaluate : see `PartBacktracking`.
    """

    def __init__(self, equations: VectorEquations, linear: Mends, evaluate: Evaluate) -> None:
        self.equations, self._linear = equations, linear
        self._search = LineSearch(equations, evaluate)

    def step(self) -> bool:
        """Mend the step; tell whether there is one."""
        equations = self.equations
        mended = self._linear.mend(equations.F, equations.step)
        if mended is Mended.DOWNHILL:
            self._search.step()  # stiff directions turn forces round
        return mended is not Mended.NOT

    def settled(self) -> bool:
        """Tell whether the last step was one of Newton's."""
        return not self._linear.mended

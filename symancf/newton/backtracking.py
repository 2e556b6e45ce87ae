# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps that are cut part by part, before PETSc's line search sees them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import Mask
from ..runtime.petsc import PETSc, functions, loosely

if TYPE_CHECKING:
    from collections.abc import Callable

    from .norms import RowNorms


HALVINGS = 12


class PartTest(Protocol):
    """A test of convergence that knows of parts."""

    rows: RowNorms
    closed: Mask


def _slope(snes: PETSc.SNES) -> float | None:
    """Return alpha of PETSc's backtracking: |F|^2 may be (1 - 2 alpha) |F|^2 after a step."""
    search, name, alpha = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_double()
    functions.SNESGetLineSearch(ctypes.c_void_p(snes.handle), ctypes.byref(search))
    functions.SNESLineSearchGetType(search, ctypes.byref(name))
    if name.value != b"bt":
        return None
    functions.SNESLineSearchBTGetAlpha(search, ctypes.byref(alpha))
    return alpha.value


class PartBacktracking:
    """Halves the step of each part that would leave the domain of a law, or grow too much.

    Parts are independent: a step that is full for one and cut for another is what each of them
    would make alone. PETSc's line search looks at the norm of all of them together, so it would
    cut the steps of all for one, and never see what a part with small forces does.

    Parameters
    ----------
    test : tells which parts have converged: these are not cut for growing.
    evaluate : writes the residual at unknowns, vectors of rows; returns the number of quadrature
        points on all ranks that left the domain of a law.

    Attributes
    ----------
    error : what `evaluate` raised.
    """

    def __init__(
        self,
        snes: PETSc.SNES,
        test: PartTest,
        evaluate: Callable[[PETSc.Vec, PETSc.Vec], int],
        vector: PETSc.Vec,
    ) -> None:
        self.rows, self.test, self.evaluate = test.rows, test, evaluate
        self._trial, self._g = vector.duplicate(), vector.duplicate()
        self._alpha = _slope(snes)
        self._snes = snes
        self.error: BaseException | None = None
        if test.rows.parts > 1:
            snes.setLineSearchPreCheck(loosely(self._cut))

    def _cut(self, x: PETSc.Vec, y: PETSc.Vec) -> bool:
        """Cut the step: x - y will be the next unknowns. Tell whether it changed."""
        try:
            rows = self.rows
            f = self._snes.getFunction()[0].getArray(readonly=True)
            (norms,) = rows.of(f)
            before, part = rows.total(norms), np.ones(rows.parts)
            step = y.getArray(readonly=True).copy()
            for _ in range(HALVINGS):
                self._trial.setArray(x.getArray(readonly=True) - part[rows.row_part] * step)
                bad = self.evaluate(self._trial, self._g)
                (norms,) = rows.of(self._g.getArray(readonly=True))
                after = rows.total(norms)
                wrong = ~np.isfinite(after)
                if bad and not wrong.any():
                    wrong[:] = True
                if self._alpha is not None:
                    limit = before * np.sqrt(np.maximum(0.0, 1.0 - 2.0 * self._alpha * part))
                    wrong |= (after > limit) & (before > 0.0) & ~self.test.closed
                if not wrong.any():
                    break
                part[wrong] /= 2.0
            if (part < 1.0).any():
                y.setArray(part[rows.row_part] * step)
                return True
        except BaseException as error:
            self.error = self.error or error
        return False

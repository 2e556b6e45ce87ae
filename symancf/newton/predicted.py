# SPDX-License-Identifier: BSD-3-Clause
"""Stresses predicted along Newton's steps, for tangents that know how slender bodies turn."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import Array
from ..laws.build import PREDICTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..arrays import Ints
    from ..assembly.piece import Piece
    from ..assembly.plan import Plan


class Predictable(Protocol):
    """A system, as far as stresses are predicted.

    Attributes
    ----------
    plan, time : of it.
    """

    plan: Plan
    time: float

    @property
    def bodies(self) -> Sequence[object]:
        """Its bodies."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """What its terms contribute."""


#: Part of a step by which the change of stresses along it is measured.
PART = 1e-2


class PredictedStresses:
    r"""Corrections of the stresses in tangents.

    A linear step that turns a slender body stretches it: the strains are
    :math:`e(u+\delta) = e(u) + e'\delta + \tfrac12 e''\delta\delta + \dots`, and with the large
    axial stiffness the stresses of the last part are wrong by far. The residual tells so, and the
    next step removes them; but the tangent there has a geometric stiffness made of them. With
    stresses as unknowns of their own Newton's method would know the linear part alone. Their
    elimination, point by point, leaves the residual what it is, and the tangent

    .. math:: K = e'^T W_{ee}\, e' + \sigma^* e'', \qquad
        \sigma^* = \sigma(u) + \frac{\mathrm d}{\mathrm d h}\,\sigma(u + h\,\delta),

    with the stresses :math:`\sigma = W_e` predicted for the end of the step that led here. It is
    the tangent of W + c . e with :math:`c = \sigma^* - \sigma`, parameters of the kernels that are
    zero wherever else these are called. Near a solution c vanishes with the square of the steps,
    so that convergence stays quadratic; the number of iterations does not grow with the
    slenderness.

    References
    ----------
    D. Magisano, L. Leonetti, G. Garcea, Computer Methods in Applied Mechanics and Engineering 313
    (2017) 986-1005 ("mixed integration points").
    """

    def __init__(self, system: Predictable, penalties: bool = False) -> None:
        self.system = system
        self._columns: dict[int, Ints] = {}
        self._place: Array | None = None
        self._before: Array | None = None
        wanted = not penalties or holds_by_penalties(system)
        for number, piece in enumerate(system.pieces if wanted else []):
            own = [k for k, name in enumerate(piece.kernel.cell) if name.startswith(PREDICTED)]
            if own:
                self._columns[number] = np.array(own)
        self.some = bool(self._columns)

    def begin(self, state: Array | None) -> None:
        """Begin a solution, with a step from an equilibrium; None: at the place itself."""
        self._place = state.copy() if self.some and state is not None else None
        self._before = None

    def move(self, state: Array) -> None:
        """Note that Newton's method is at another place."""
        if self.some:
            self._before, self._place = self._place, state.copy()

    @contextmanager
    def corrected(self) -> Iterator[None]:
        """Let tangents have the stresses that the step to the present place predicts."""
        rows = self._rows()
        if rows:
            self.system.plan.fill(rows)
        try:
            yield
        finally:
            if rows:
                own = {k: self._cell(k) for k in rows}
                self.system.plan.fill(own)

    def _cell(self, number: int) -> Array:
        piece = self.system.pieces[number]
        rows = piece.changing(self.system.time)
        return piece.cell if rows is None else rows

    def _rows(self) -> dict[int, Array]:
        """Return the parameters of the pieces (n, rows) with corrections; none without a step."""
        place, before = self._place, self._before
        if not self.some or place is None or before is None:
            return {}
        step, rows = place - before, {}
        here, there = self._stresses(place), self._stresses(before)
        ahead, behind = (self._stresses(before + part * step) for part in (PART, -PART))
        for k, columns in self._columns.items():
            slope = (ahead[k] - behind[k]) / (2.0 * PART)
            change = there[k] + slope - here[k]
            rows[k] = self._cell(k).copy()
            rows[k][:, columns] = np.where(np.isfinite(change), change, 0.0)
        return rows

    def _stresses(self, state: Array) -> dict[int, Array]:
        return self.system.plan.tabulate("outputs", list(self._columns), state)[0]


def holds_by_penalties(system: Predictable) -> bool:
    """Tell whether some strains of a system are held by penalties."""
    elements = (getattr(body, "element", None) for body in system.bodies)
    return any(e is not None and e.kinematics().penalties for e in elements)

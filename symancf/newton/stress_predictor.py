# SPDX-License-Identifier: BSD-3-Clause
"""Stresses predicted along Newton's steps: of slender bodies that turn, of volumes that stay."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import Array
from ..laws.build import PREDICTED, PREDICTED_PRESSURE
from .aids import Aid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..arrays import Ints
    from ..assembly.assembler import Assembler
    from ..assembly.form import Form
    from ..assembly.group import Group
    from ..runtime.jit import Communicator


class Predictable(Protocol):
    """A system, as far as stresses are predicted.

    Attributes
    ----------
    assembler, state : of it.
    """

    assembler: Assembler
    state: Array

    @property
    def comm(self) -> Communicator:
        """Its ranks."""

    @property
    def bodies(self) -> Sequence[object]:
        """Its bodies."""

    @property
    def forms(self) -> Sequence[Form]:
        """What its terms contribute."""


#: Parts of a step by which the change of stresses along it is measured. Strains of slender bodies
#: are quadratic functions, those of a volume are not, and what is cut off counts with its modulus.
PART, FINE = 1e-2, 1e-5


class PredictedStresses(Aid):
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

    Likewise for the volume of a solid that is hardly compressible, with e = J and the pressure
    :math:`\sigma = \kappa (J - 1)`: what a linear step leaves of a change of volume would make a
    pressure many times the shear modulus, and the tangent indefinite.

    References
    ----------
    D. Magisano, L. Leonetti, G. Garcea, Computer Methods in Applied Mechanics and Engineering 313
    (2017) 986-1005 ("mixed integration points"); R. Pfefferkorn, S. Bieber, B. Oesterle,
    M. Bischoff, P. Betsch, International Journal for Numerical Methods in Engineering 122 (2021)
    1911-1954 (solids).
    """

    def __init__(self, system: Predictable, penalties: bool = False) -> None:
        self.system = system
        self._columns: dict[int, Ints] = {}
        self._pressures: set[int] = set()
        self._last: dict[Group, Array] = {}  # the last corrections
        self._places: dict[int, tuple[Ints, Ints]] = {}
        self._place: Array | None = None
        self._before: Array | None = None
        self._here: dict[Group, Array] | None = None  # stresses at `_place`, where they are known
        self._there: dict[Group, Array] | None = None  # those at `_before`
        wanted = not penalties or holds_by_penalties(system)
        for number, form in enumerate(system.forms if wanted else []):
            own = [k for k, name in enumerate(form.kernel.cell) if name.startswith(PREDICTED)]
            pressure = any(form.kernel.cell[k] == PREDICTED_PRESSURE for k in own)
            if own and not (penalties and pressure):
                self._columns[number] = np.array(own)
                self._pressures |= {number} if pressure else set()
        self.some = bool(self._columns)
        self.of_pressures = bool(self._pressures)
        self.active = True

    def begin(self, state: Array | None) -> None:
        """Begin a solution, with a step from an equilibrium; None: at the place itself.

        The first tangent has the pressures of that equilibrium. Along a step to a guess, or to
        other prescribed displacements, the pressure of a solid that is hardly compressible
        changes by far too much: what moved its boundary has not moved the rest.
        """
        self._place = state.copy() if self.some and state is not None else None
        self._before = self._here = self._there = None
        self._last = {}

    @property
    def predicts(self) -> set[int]:
        """Numbers of the forms of which it corrects stresses."""
        return {*self._columns}

    @contextmanager
    def tangent(self) -> Iterator[None]:
        """Correct the tangent at the present state, unless products of kernels take its place."""
        if not self.active:
            yield
            return
        self.move(self.system.state)
        with self.corrected():
            yield

    def move(self, state: Array) -> None:
        """Note that Newton's method is at another place."""
        if self.some:
            self._before, self._place = self._place, state.copy()
            self._there, self._here = self._here, None

    @contextmanager
    def corrected(self) -> Iterator[None]:
        """Let tangents have the stresses that the step to the present place predicts."""
        with self._with(self._corrections()):
            yield

    @contextmanager
    def _with(self, corrections: dict[Group, Array]) -> Iterator[None]:
        """Let kernels see corrections; elsewhere they are zero."""
        for group, values in corrections.items():
            group.put_columns(self._columns[group.numbers[0]], values)
        try:
            yield
        finally:
            for group in corrections:
                group.put_columns(self._columns[group.numbers[0]], 0.0)

    def _corrections(self) -> dict[Group, Array]:
        """Return the corrections of groups of forms; none without a step."""
        place, before = self._place, self._before
        if not self.some or place is None or before is None:
            return {}
        step, found = place - before, {}
        here, there = self._stresses(place), self._there
        if there is None or there.keys() != here.keys():  # lists may have changed
            there = self._stresses(before)
        self._here = here
        with self._with(self._last):  # where unknowns of cells follow them, as in that tangent
            slopes = self._slopes(before, step, self._there is None)
        for group, slope in slopes.items():
            change = there[group] + slope - here[group]
            found[group] = np.where(np.isfinite(change), change, 0.0)
        self._last = found
        return found

    def _slopes(self, state: Array, step: Array, first: bool) -> dict[Group, Array]:
        """Return the changes of stresses along a step, as they begin; see `begin` for `first`."""
        slopes: dict[Group, Array] = {}
        for part, pressures in ((PART, False), (FINE, True)):
            some = [k for k in self._columns if (k in self._pressures) == pressures]
            if not some:
                continue
            if pressures and first:
                groups = self.system.assembler.groups
                slopes |= {g: np.zeros(1) for g in groups if g.numbers[0] in self._pressures}
                continue
            ahead, behind = (self._stresses(state + h * step, some) for h in (part, -part))
            for group, stresses in ahead.items():
                slopes[group] = (stresses - behind[group]) / (2.0 * part)
        return slopes

    def _stresses(self, state: Array, forms: Sequence[int] | None = None) -> dict[Group, Array]:
        places = self.places()
        tables, _ = self.system.assembler.tables(
            "outputs", list(places) if forms is None else forms, state
        )
        return {group: table[:, places[group.numbers[0]][1]] for group, table in tables.items()}

    def places(self) -> dict[int, tuple[Ints, Ints]]:
        """Return the columns of parameters that corrections are, and the rows of outputs.

        By numbers of forms. (Collective.)
        """
        if not self._places:
            tells = self.system.assembler.output_rows
            self._places = {
                number: (own, _output_rows(tells(number))) for number, own in self._columns.items()
            }
        return self._places


def _output_rows(outputs: Iterable[tuple[str, int, tuple[str, ...]]]) -> Ints:
    """Return the places of predicted stresses among what a kernel tells, by points."""
    rows, first = [], 0
    for _, count, names in outputs:
        table = first + np.arange(count * len(names)).reshape(count, len(names))
        own = [k for k, name in enumerate(names) if name.startswith(PREDICTED)]
        rows.append(table[:, own].ravel())
        first += table.size
    return np.concatenate(rows)


def holds_by_penalties(system: Predictable) -> bool:
    """Tell whether some strains of a system are held by penalties."""
    elements = (vars(body).get("element") for body in system.bodies)
    return any(e is not None and e.kinematics().penalties for e in elements)

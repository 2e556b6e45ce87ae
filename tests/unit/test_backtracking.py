# SPDX-License-Identifier: BSD-3-Clause
"""How far steps of Newton's method are made: out of domains of laws, past kinks, downhill.

All stand at the unknown x = 1 (of one coordinate, the others are zero) and go towards zero; the
tangent is the unit matrix, so that the length of a correction is that of the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.newton import Mended, MendedSteps, PartBacktracking, RowNorms
from symancf.runtime.petsc import PETSc
from tests.motion import rope

Force = Callable[[float], float | None]


class Place:
    """Equations of one coordinate at x = 1 with a residual, and the step that is tried there."""

    def __init__(self, force: Force, step: float = 1.0, residual: float = 1.0) -> None:
        system = sa.System(rope(1))
        self.rows = RowNorms(system._discrete, system._discrete.forms)
        self.snes, self.force = PETSc.SNES().create(), force
        self.x, self.F, self.step = (
            PETSc.Vec().createMPI(system._discrete.numbering.rows) for _ in range(3)
        )
        for vector, value in ((self.x, 1.0), (self.F, residual), (self.step, step)):
            vector.setValue(0, value)
            vector.assemble()
        self.scratch = self.x.duplicate(), self.x.duplicate()

    def evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the force; where there is none the place is outside of the domain of a law."""
        force = self.force(float(x.getValue(0)))
        F.zeroEntries()
        F.setValue(0, force or 0.0)
        F.assemble()
        return int(force is None)

    def cut(self, *, kinks: bool) -> PartBacktracking:
        """Return what cuts the step, by corrections where forces have kinks."""
        test: Any = SimpleNamespace(rows=self.rows, closed=np.zeros(self.rows.parts, dtype=bool))

        def length(values: Any) -> Any:
            return np.full(self.rows.parts, np.linalg.norm(values))

        measured: Any = SimpleNamespace(corrections=length, lengths=length) if kinks else None
        return PartBacktracking(self, test, self.evaluate, measured)  # type: ignore[arg-type]


def made(place: Place, *, kinks: bool) -> float:
    assert place.cut(kinks=kinks).step()
    return float(place.step.getValue(0))


def test_a_step_is_halved_until_it_stays_in_the_domain_of_a_law() -> None:
    assert made(Place(lambda x: 0.0 if x > 1.0 - 1e-3 else None), kinks=False) == 2.0**-10


def test_where_forces_have_kinks_a_step_is_halved_until_the_next_is_shorter() -> None:
    assert made(Place(lambda x: x if x > 1.0 - 2e-2 else 2.0), kinks=True) == 2.0**-6


@pytest.mark.parametrize(("length", "part"), [(3e-9, 0.5), (3e-10, 1.0)])
def test_a_step_that_round_off_may_make_is_not_cut_for_kinks(length: float, part: float) -> None:
    def force(x: float) -> float:
        return length * (0.5 if x > 1.0 - 0.6 * length else 2.0)

    assert made(Place(force, length, length), kinks=True) == part * length


def test_steps_begin_with_half_their_length_where_none_became_shorter() -> None:
    place = Place(lambda x: 0.99)
    cut, lengths = place.cut(kinks=True), []
    for k in range(5):
        place.snes.setIterationNumber(k)
        place.step.setValue(0, 1.0)
        place.step.assemble()
        cut.step()
        lengths.append(float(place.step.getValue(0)))
    assert lengths == [1.0, 1.0, 1.0, 0.5, 0.5]


@pytest.mark.parametrize(("turned", "part"), [(0.2, 1.0), (0.8, 1.0 / 1.8)])
def test_a_step_downhill_ends_before_forces_turn_round(turned: float, part: float) -> None:
    place = Place(lambda x: 1.0 - (1.0 + turned) * (1.0 - x))
    linear: Any = SimpleNamespace(mend=lambda b, y: Mended.DOWNHILL, mended=True)
    steps = MendedSteps(place, linear, place.evaluate)  # type: ignore[arg-type]
    assert steps.step()
    assert not steps.settled()
    assert float(place.step.getValue(0)) == pytest.approx(part)

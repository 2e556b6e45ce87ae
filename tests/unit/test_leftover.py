# SPDX-License-Identifier: BSD-3-Clause
"""Which corrections that Newton's method leaves over let it go on, which are told, which are none.

The tangent is the unit matrix, so that the correction for a residual is the residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import symancf as sa
from symancf.newton import Leftover, RowNorms
from symancf.runtime.petsc import PETSc
from tests.motion import rope


@dataclass
class Case:
    """A solution of one solver, where one coordinate has moved by a part of the body's size."""

    leftover: Leftover
    moved: float

    @classmethod
    def of(cls, moved: float = 1.0, pc: str = "lu") -> Case:
        system = sa.System(rope(1))
        A = PETSc.Mat().createAIJ([system._discrete.numbering.rows] * 2, nnz=1)
        A.assemble()
        A.shift(1.0)
        ksp = PETSc.KSP().create()
        ksp.setOperators(A)
        ksp.setType(PETSc.KSP.Type.PREONLY)
        ksp.getPC().setType(pc)
        ksp.setUp()
        rows = RowNorms(system._discrete, system._discrete.forms)
        return cls(Leftover(system._discrete, rows, ksp, A.createVecLeft()), moved)

    def settled(self, correction: float, noise: float = 0.0) -> bool:
        """Whether Newton's method may end where such a correction is left over."""
        along = self.leftover.unit * (np.arange(len(self.leftover.unit)) == 0)
        f, x = correction * along, self.moved * along
        return self.leftover.settled(f, x, None, lambda: noise * along)


@pytest.mark.parametrize(("pc", "none"), [("lu", 1e-6), ("jacobi", 1e-7)])
def test_small_corrections_are_none(pc: str, none: float) -> None:
    """A millionth of the largest displacement; preconditioners may be off by ten times."""
    case = Case.of(pc=pc)
    assert case.settled(0.3 * none)
    assert not case.settled(3.0 * none)


def test_displacements_near_zero_are_measured_by_the_size_of_the_body() -> None:
    case = Case.of(moved=0.0)
    assert case.settled(0.3e-15)
    assert not case.settled(3e-15)


def test_what_round_off_makes_is_left_and_told_where_it_is_much() -> None:
    case = Case.of()
    assert not case.settled(5e-4, noise=1e-5)
    assert case.settled(5e-4, noise=1e-4)
    assert case.leftover.warning == ""
    assert case.settled(5e-3, noise=1e-3)
    assert "'rope' near" in case.leftover.warning


def test_iterations_that_help_slowly_go_on() -> None:
    case = Case.of()
    falling = 1e-2 * 0.5 ** np.arange(20)
    made = next(k for k, correction in enumerate(falling) if case.settled(correction))
    assert made == 14
    assert case.leftover.warning == ""

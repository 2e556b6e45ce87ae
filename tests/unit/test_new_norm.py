# SPDX-License-Identifier: BSD-3-Clause
"""A norm of one's own ends Newton's method.

A class in this file derives from `Stopping`, which has the rule, and says what residuals are
measured by; a program gives it to PETSc's SNES of a problem, `snes.setConvergenceTest`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf.newton import RowNorms, Stopping
from symancf.newton.stopping import CALLBACK_NEEDED
from tests.motion import rope

if TYPE_CHECKING:
    from petsc4py import PETSc

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]


class LargestEntry(Stopping):
    """The largest entry of each kind of row, over that with which a solution begins."""

    def __init__(self, system: sa.System, rtol: float) -> None:
        super().__init__(RowNorms(system._discrete, system._discrete.forms))
        self.data.rtol, self.asked = rtol, 0

    def shares(self) -> Array:
        there = self.reference > 0.0
        return np.divide(self.entries, self.reference, out=np.zeros(len(there)), where=there)

    def round_off(self) -> Array:
        return 1e-15 * self.reference

    def __call__(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, ...]) -> int:
        """Return PETSc's reason to stop, or 0 (collective)."""
        f, x = (
            vector.getArray(readonly=True) for vector in (snes.getFunction()[0], snes.getSolution())
        )
        self.entries, self.asked = np.zeros(self.rows.count), self.asked + 1
        np.maximum.at(self.entries, self.rows.of_row, np.abs(f))
        self.entries = self.rows.largest(self.entries)
        step, self.before = x - (self.before if iteration else x), x.copy()
        if iteration == 0:
            self.reference = self.entries
            self.start(np.zeros(self.rows.parts, dtype=bool))
            return 0
        return self.reason(step, x)


def hanging() -> tuple[sa.System, sa.Body]:
    """A cable that is clamped at one end and bent by its weight."""
    body = rope(4, EA=1e4, EI=20.0)
    held = [sa.fix(body["root"], dofs="position"), sa.fix(body["root"], dofs="slope")]
    return sa.System(body, terms=[*held, sa.gravity((0.0, 0.0, -9.81))]), body


def bent(rtol: float | None) -> tuple[int, int, Array]:
    """Return iterations, questions to the norm, and where the tip of an equilibrium is."""
    system, body = hanging()
    problem = sa.StaticProblem(system)
    norm = LargestEntry(system, rtol or 0.0)
    if rtol is not None:
        problem.snes.setConvergenceTest(norm)
    steps = problem.solve().steps
    return sum(step.iterations for step in steps), norm.asked, system.position(body["tip"])[0]


def test_an_own_norm_ends_iterations_of_an_equilibrium() -> None:
    _, _, expected = bent(None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many, asked, tip = bent(1e-9)
    assert asked > many
    np.testing.assert_allclose(tip, expected, atol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this is no equilibrium
        few, _, _ = bent(1e-1)
    assert few < many


def test_the_same_norm_ends_iterations_of_steps_in_time() -> None:
    def tip(**given: Any) -> tuple[Array, int]:
        system, body = hanging()
        problem = sa.DynamicProblem(system)
        problem.solve(to=1e-3, step=1e-3)
        if given:
            problem.snes.setConvergenceTest(norm := LargestEntry(system, **given))
        history = problem.solve(to=2e-2, step=1e-3)
        assert not given or norm.asked > 19
        return system.position(body["tip"])[0], history.iterations

    expected, _ = tip()
    found, _ = tip(rtol=1e-9)
    np.testing.assert_allclose(found, expected, atol=1e-8)


# ---- the rule ------------------------------------------------------------------------------------
class Given(Stopping):
    """Shares and round-off of one iteration, the same of all kinds of rows."""

    share, noise_of_all = 1.0, 0.0

    def shares(self) -> Array:
        self._norms[:] = self.share
        return self._norms

    def round_off(self) -> Array:
        return np.full(self.rows.count, self.noise_of_all)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("shares", "lengths", "noise", "reason", "iterations"),
    [
        ([1e-1, 1e-4, 1e-9], [1.0, 1.0, 1.0], 0.0, 3, 3),  # below the tolerance
        ([1e-1, 1e-5, 1e-5], [1.0, 1e-7, 1e-7], 1e-4, 3, 3),  # at round-off, believed again
        ([1e-1, 1e-5, 1e-5], [1.0, 1e-7, 1e-7], 2e-6, 3, 3),  # five times of it twice
        ([1e-1, 1e-5], [1.0, 1e-9], 1e-4, 3, 2),  # at once after a tiny step
        ([1e-1, 1e-5], [1.0, 1e-13], 0.0, 4, 2),  # the step is shorter than its tolerance
        ([1e-1, *5 * [1e-5]], [1.0, *5 * [1e-7]], 0.0, 4, 4),  # two iterations brought nothing
        ([1e-1, 1e-2, 1e6], [1.0, 1.0, 1e-7], 0.0, -9, 3),  # far more than at first
        ([1e-1, 1e-2, 1e-3], [1.0, 1.0, 1.0], 0.0, 0, 3),
    ],
)
def test_the_rule_ends_where_it_says(
    shares: list[float], lengths: list[float], noise: float, reason: int, iterations: int
) -> None:
    system, _ = hanging()
    test = Given(RowNorms(system._discrete, system._discrete.forms), growth=1e4)
    test.data.rtol, test.data.stol, test.noise_of_all = 1e-8, 1e-12, noise
    test.start(np.zeros(test.rows.parts, dtype=bool))
    test.first[:] = 1.0
    x = np.ones(test.rows.numbering.rows)
    found: list[int] = []
    for test.share, length in zip(shares, lengths, strict=True):
        found.append(test.reason(length * x, x))
        if found[-1]:
            break
    assert (found[-1], len(found)) == (reason, iterations)


@pytest.mark.collective(rows=0)
def test_an_old_tangent_goes_on_while_residuals_fall_by_half() -> None:
    """Without a question whether this is round-off."""
    system, _ = hanging()
    test = Given(RowNorms(system._discrete, system._discrete.forms))
    test.data.rtol = 1e-8
    test.start(np.zeros(test.rows.parts, dtype=bool))
    found = []
    for share in (1.0, 0.4, 0.3, 0.1):
        test._shares[:] = share
        found.append(test._library.symancf_stop_by_shares(test._place, 0))
    assert found == [0, 0, CALLBACK_NEEDED, 0]

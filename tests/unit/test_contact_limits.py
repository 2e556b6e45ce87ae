# SPDX-License-Identifier: BSD-3-Clause
"""From which depth, gap and number of points on contact behaves otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sympy import Max

import symancf as sa
from symancf import elements, energies
from symancf.contact.contact import Report
from symancf.contact.laws import Normal
from tests.refusals import refused


def standing(gap: float, **given: Any) -> tuple[sa.Contact, sa.System]:
    """Return a block of 1 m over a floor, held sideways alone."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    law = {"E": 1e6, "nu": 0.3, "rho": 1.0}
    block = sa.Body(mesh["body"], elements.hex8_plain, energies.saint_venant_kirchhoff(), **law)
    floor = sa.Plane((0.0, 0.0, -gap), normal=(0.0, 0.0, 1.0))
    contact = sa.Contact(block["z0"], floor, **given)
    loads = [sa.fix(block["x0"], "x"), sa.fix(block["y0"], "y"), sa.gravity((0.0, 0.0, -1.0))]
    return contact, sa.System(block, terms=[contact, *loads])


def test_what_touches_to_round_off_is_supported() -> None:
    _, system = standing(1e-13)
    sa.StaticProblem(system).solve()
    _, system = standing(2e-12)
    with refused(sa.ConstraintError, asked="rigid motion", given=("translation along z",)):
        sa.StaticProblem(system).solve()


def test_a_surface_may_lie_in_another_by_a_thousandth_of_a_cell() -> None:
    standing(-4e-4)
    with refused(sa.ConstraintError, asked="overlap", given=pytest.approx(1e-3)):
        standing(-1e-3)


@pytest.mark.parametrize(("moves", "c"), [(False, 1000.0), (True, 30.0)])
def test_the_stiffness_grows_to_its_largest_and_no_further(moves: bool, c: float) -> None:
    contact, system = standing(0.0, penetration=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if moves:
            sa.DynamicProblem(system).solve(to=1e-3, step=2e-4)
        else:
            sa.StaticProblem(system).solve()
    assert contact._c * system._discrete.binding(contact).step.grown == pytest.approx(c)


def test_few_points_that_touch_are_told() -> None:
    def said(touching: int) -> bool:
        report = Report((40 - touching, touching, 0), 1e-3, 1e-4, 1.0)
        return f"{touching} of them carry all" in str(report)

    assert [said(n) for n in (0, 1, 3, 4)] == [False, True, True, False]


@pytest.mark.parametrize("halvings", [1, 40])
def test_a_law_that_acts_near_by_is_found(halvings: int) -> None:
    """The gap beyond which it vanishes is known up to a factor of four."""
    reach = 0.7 * 0.5**halvings

    def law(g: Any, *, k: Any, reach: Any) -> Any:
        return k / 2 * Max(reach - g, 0) ** 2

    assert reach <= Normal("contact", law, {"reach": reach}).reach(1.0, 1.0, 0.0) <= 4.0 * reach

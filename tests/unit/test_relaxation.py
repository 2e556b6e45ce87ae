# SPDX-License-Identifier: BSD-3-Clause
"""Motions tell steps that are long for what relaxes in them, and laws that are not stable."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symancf as sa

PRONY = sa.energies.prony(sa.energies.yeoh(), g=(0.5,), tau=(0.05,))
YEOH: dict[str, float] = {"C10": 1.0, "C20": 0.0, "C30": 0.0, "k": 20.0}


def told(step: float, **given: Any) -> list[str]:
    """Pull a bar twice a second and return what was said of that."""
    mesh = sa.Mesh.box((1.0, 0.2, 0.2), (3, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, PRONY, rho=1e-2, **YEOH, **given)
    pull = (lambda t: 0.05 * np.sin(2.0 * np.pi * t) ** 2, 0.0, 0.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.fix(body["x1"], displacement=pull)])
    problem = sa.DynamicProblem(system)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        problem.solve(to=1.6, step=step)
        problem.solve(to=2.0, step=step)
    return [str(w.message) for w in seen if "is long for what relaxes in" in str(w.message)]


@pytest.mark.parametrize(
    ("step", "given", "count"),
    [(0.125, {}, 1), (0.02, {}, 0), (0.125, {"tau1": 1e4}, 0), (0.125, {"g1": 1e-3}, 0)],
)
def test_a_step_long_for_a_relaxation_time_is_told(
    step: float, given: dict[str, float], count: int
) -> None:
    """Once; not where steps are short, what relaxes is slow, or weighs little."""
    assert len(told(step, **given)) == count


def test_an_unstable_material_is_told() -> None:
    """St Venant's and Kirchhoff's law, pressed to 0.45 of its length: bands beyond 0.58."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    law = sa.energies.saint_venant_kirchhoff()
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, E=1.0, nu=0.3)
    press = sa.fix(body["x1"], "x", displacement=(lambda t: -0.55 * t, 0.0, 0.0))
    terms = [*(sa.fix(body[f"{axis}0"], axis) for axis in "xyz"), press]
    problem = sa.StaticProblem(sa.System(body, terms=terms))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        problem.solve(to=0.1)
        assert not seen
        problem.solve(to=1.0)
    (warning,) = (str(w.message) for w in seen if "unstable" in str(w.message))
    assert "saint_venant_kirchhoff() of 'body' is not strongly elliptic" in warning
    assert "1.11, 1.11, 0.45" in warning

# SPDX-License-Identifier: BSD-3-Clause
"""Where energies end: read from their expressions, checked at every point, told with its cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.laws import energy_laws
from tests.refusals import refused

PLAIN = sa.elements.hex8_plain


def chain(J: Any, I1: Any, *, mu: Any, b: Any) -> Any:
    """A law whose stress is finite again beyond its pole."""
    y = J ** sp.Rational(-2, 3) * I1 - 3
    return {"deviatoric": mu * b / 2 * y / (b - y), "volumetric": 50 * mu * (J - 1) ** 2}


def cord(epsilon: Any, kappa: Any, *, EA: Any, limit: Any) -> Any:
    return EA / 2 * epsilon**2 / (1 - epsilon / limit) + EA * kappa**2 / 100


def guarded(J: Any, I1: Any, *, mu: Any) -> Any:
    y = J ** sp.Rational(-2, 3) * I1 - 3
    branch = sp.Piecewise((sp.log(1 + y), y < 10), (y, True))
    return mu * branch + mu * sp.sin(y) / y + mu / (1 + y) + mu * sp.exp(y) + mu * (J - 1) ** 2


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (sa.energies.gent(), ["1 - y/Jm"]),
        (sa.energies.extended_tube(), ["-delta**2*y + 1"]),
        (sa.energies.fung(), ["709 - Q"]),
        (sa.energies.ogden(), []),
        (sa.energies.neo_hooke(), []),
        (chain, ["b*(-I1/J**(2/3) + b + 3)"]),
        (guarded, ["709 - y", "I1/J**(2/3) - 2"]),
    ],
)
def test_ends_are_read_from_the_energy(law: Callable[..., Any], expected: list[str]) -> None:
    ((made, _), *_) = energy_laws(PLAIN, law)
    own = [str(x) for x in made.domain if x not in PLAIN.kinematics().domain]
    assert sorted(own) == sorted(expected)


def pulled(law: Callable[..., Any], stretch: float, **values: float) -> sa.StaticProblem:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    body = sa.Body(mesh["body"], PLAIN, law, name="block", **values)
    sides = [sa.fix(body[f"{axis}0"], axis) for axis in "xyz"]
    others = [sa.fix(body[f"{axis}1"], axis) for axis in "yz"]
    pull = sa.fix(body["x1"], "x", displacement=(lambda t: (stretch - 1.0) * t, 0.0, 0.0))
    return sa.StaticProblem(sa.System(body, terms=[*sides, *others, pull]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("stretch", "ends"), [(1.5, False), (3.0, True)])
def test_no_state_beyond_a_pole_is_a_solution(stretch: float, ends: bool) -> None:
    """All is prescribed: y = l^(-2/3) (l^2 + 2) - 3 is 0.243 and 2.29, the pole at 1."""
    problem = pulled(chain, stretch, mu=1.0, b=1.0)
    if not ends:
        problem.solve()
        return
    with refused(sa.ConvergenceError) as caught:
        problem.solve()
    assert isinstance(caught.value, sa.ConvergenceError)
    (first, *_) = caught.value.causes
    assert first.kind == "end of a law"
    assert "law chain() of 'block'" in first.sentence
    assert "in cell 0" in first.sentence


def test_so_it_is_on_cables_and_in_motions() -> None:
    mesh = sa.Mesh.box((1.0,), (2,))
    given: dict[str, float] = {"EA": 1.0, "limit": 0.3, "rho": 1.0, "A": 1e-4}
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cord, name="cord", **given)
    pull = sa.fix(body["x1"], "x", displacement=(lambda t: 0.6 * t**2, 0.0, 0.0))
    system = sa.System(body, terms=[sa.fix(body["x0"]), pull, sa.planar(body)])
    for problem in (sa.StaticProblem(system), sa.DynamicProblem(system)):
        with refused(sa.ConvergenceError) as caught:
            problem.solve(to=1.0, step=0.1)
        assert isinstance(caught.value, sa.ConvergenceError)
        assert "end of a law" in [cause.kind for cause in caught.value.causes]
        assert 0.6 < system.time < np.sqrt(0.5)
        system.state[:] = 0.0
        system.time = 0.0

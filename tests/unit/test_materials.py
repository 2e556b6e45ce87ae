# SPDX-License-Identifier: BSD-3-Clause
"""Cards of materials beside the tests that they are from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from tests.refusals import refused

#: Engineering strain and stress [MPa] of tests by L. Marechal et al., Soft Robotics 8 (2021) 284.
TESTS = {
    "Ecoflex 00-10": [(1.0, 0.01479)],
    "Ecoflex 00-30": [(1.0, 0.02972)],
    "Ecoflex 00-50": [(1.0, 0.04095)],
    "Dragon Skin FX-Pro": [(1.0, 0.06234)],
    "Dragon Skin 10": [(0.5, 0.053), (1.0, 0.11296), (2.0, 0.27279)],
    "Dragon Skin 20": [(1.0, 0.31836)],
    "Dragon Skin 30": [(1.0, 0.43712)],
    "Rebound 25": [(1.0, 0.23185)],
    "SortaClear 40": [(1.0, 0.56434)],
    "RTV615": [(1.0, 0.80097)],
    "natural rubber (Treloar)": [(0.24, 0.226), (2.02, 0.863), (4.36, 1.952), (5.85, 3.776)],
}


def nominal(card: Any, strain: float) -> float:
    """Return the nominal stress of a bar that keeps its volume."""
    import inspect

    x = sp.Symbol("x", positive=True)
    y = x ** sp.Rational(-1, 2)
    values = {"J": 1, "I1": x**2 + 2 / x, "lambda1": x, "lambda2": y, "lambda3": y}
    asked = inspect.signature(card.law).parameters.values()
    given = {k: v for k, v in card.parameters.items() if k != "rho"}
    W = card.law(*(values[a.name] for a in asked if a.kind != a.KEYWORD_ONLY), **given)
    return float(sp.diff(W["deviatoric"], x).subs(x, 1 + strain))


@pytest.mark.parametrize("name", TESTS)
def test_cards_have_the_stress_of_their_tests(name: str) -> None:
    card = sa.materials.card(name, units="mm")
    for strain, stress in TESTS[name]:
        assert card.range[0] <= strain <= card.range[1]
        assert nominal(card, strain) == pytest.approx(stress, rel=card.error)


@pytest.mark.parametrize("name", [row[0] for row in sa.materials.cards().rows])
def test_cards_say_what_they_are(name: str) -> None:
    card, mm = sa.materials.card(name), sa.materials.card(name.upper(), units="mm")
    assert card.source
    assert card.conditions
    assert set(card.choices) <= {*card.parameters}
    assert bool(card.density_source) == ("rho" in card.parameters)
    assert card.source in str(card)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    body = card.body(mesh["body"], sa.elements.hex8, name="part")
    assert body.name == "part"
    ratios = {k: mm.parameters[k] / v for k, v in card.parameters.items()}
    for k, ratio in ratios.items():
        expected = 1e-12 if k == "rho" else 1.0 if k == "nu" or k.startswith("alpha") else 1e-6
        assert ratio == pytest.approx(expected)


@pytest.mark.parametrize("name", [row[0] for row in sa.materials.cards().rows])
def test_stress_grows_within_the_range(name: str) -> None:
    card = sa.materials.card(name)
    if "nu" in card.parameters or "lam" in card.parameters:
        return
    strains = np.linspace(*card.range, 30)
    assert (np.diff([nominal(card, e) for e in strains]) > 0).all()


def test_unknown_cards_name_their_neighbours() -> None:
    with refused(sa.ParameterError, asked="name", given="Ecoflex 0030"):
        sa.materials.card("Ecoflex 0030")
    with pytest.raises(sa.ParameterError, match="Did you mean 'Ecoflex 00-30'"):
        sa.materials.card("ecoflex 0030")
    with refused(sa.ParameterError, asked="units", given="inch"):
        sa.materials.card("RTV615", units="inch")

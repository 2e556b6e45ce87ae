# SPDX-License-Identifier: BSD-3-Clause
"""Cards of materials beside the tests that they are from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.verify.experiments import columns, measured
from tests.refusals import refused

#: Engineering strain and stress [MPa] of tests by L. Marechal et al., Soft Robotics 8 (2021) 284.
TESTS = {
    "Ecoflex 00-10": [(1.0, 0.01479)],
    "Ecoflex 00-30": [(1.0, 0.02972)],
    "Ecoflex 00-35 FAST": [(1.0, 0.05499)],
    "Ecoflex 00-50": [(1.0, 0.04095)],
    "Dragon Skin FX-Pro": [(1.0, 0.06234)],
    "Dragon Skin 10": [(0.5, 0.053), (1.0, 0.11296), (2.0, 0.27279)],
    "Dragon Skin 20": [(1.0, 0.31836)],
    "Dragon Skin 30": [(1.0, 0.43712)],
    "Rebound 25": [(1.0, 0.23185)],
    "Mold Star 16 FAST": [(1.0, 0.18550)],
    "Mold Star 20T": [(1.0, 0.23908)],
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
        expected = (
            1e-12 if k == "rho" else 1.0 if k.startswith(("nu", "alpha", "g", "tau")) else 1e-6
        )
        assert ratio == pytest.approx(expected)


@pytest.mark.parametrize("name", [row[0] for row in sa.materials.cards().rows])
def test_stress_grows_within_the_range(name: str) -> None:
    card = sa.materials.card(name)
    if {"nu", "lam", "tau1"} & {*card.parameters}:
        return
    strains = np.linspace(*card.range, 30)
    assert (np.diff([nominal(card, e) for e in strains]) > 0).all()


@pytest.mark.parametrize(
    ("name", "most"), [("hold_2.0", 0.02), ("hold_3.5", 0.05), ("0.03_3.0", 0.05)]
)
def test_a_tape_relaxes_as_in_its_tests(name: str, most: float) -> None:
    """The stress of finite linear viscoelasticity along an incompressible bar, term by term."""
    values = sa.materials.card("VHB 4910", units="mm").parameters
    rows = [row for row in measured("vhb4910.csv") if row["test"] == name]
    time, stretch, right = columns(rows, "time", "stretch", "stress")
    pulls = stretch ** (values["alpha1"] - 1), stretch ** -(values["alpha1"] / 2)
    mean = (pulls[0] * stretch + 2 * pulls[1]) / 3
    along, across = stretch**2, 1 / stretch
    elastic = (pulls[0] * stretch - mean) / along, (pulls[1] - mean) / across
    S0 = values["mu1"] * np.array(elastic)
    g = np.array([values[f"g{i}"] for i in (1, 2, 3)])
    tau = np.array([values[f"tau{i}"] for i in (1, 2, 3)])
    h, made = np.zeros((3, 2)), [0.0]
    for k in range(1, len(time)):
        x = (time[k] - time[k - 1]) / tau
        grown = g * -np.expm1(-x) / x
        h = np.exp(-x)[:, None] * h + grown[:, None] * (S0[:, k] - S0[:, k - 1])
        S = (1 - g.sum()) * S0[:, k] + h.sum(axis=0)
        made.append((along[k] * S[0] - across[k] * S[1]) / stretch[k])
    error = np.sqrt(np.mean((np.array(made) - right / 1e3) ** 2)) / (right / 1e3).max()
    assert error < most


def test_unknown_cards_name_their_neighbours() -> None:
    with refused(sa.ParameterError, asked="name", given="Ecoflex 0030"):
        sa.materials.card("Ecoflex 0030")
    with pytest.raises(sa.ParameterError, match="Did you mean 'Ecoflex 00-30'"):
        sa.materials.card("ecoflex 0030")
    with refused(sa.ParameterError, asked="units", given="inch"):
        sa.materials.card("RTV615", units="inch")

# SPDX-License-Identifier: BSD-3-Clause
"""Stabilised laws keep all digits at a displacement gradient of 1e-8, and mean the same."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from symancf import elements, energies
from symancf.laws import energy_laws
from symancf.laws.accuracy import digits_lost
from symancf_codegen.declare import PointLaw
from symancf_codegen.functions import expm1mx, log1pmx
from symancf_codegen.stable.accuracy import (
    energy_and_gradient,
    expm1mx_array,
    function,
    log1pmx_array,
    variables,
)
from symancf_codegen.stable.laurent import clean, divide, horner
from symancf_codegen.stable.stabilise import stabilise

if TYPE_CHECKING:
    from collections.abc import Callable

third = sp.Rational(1, 3)
PARAMETERS = {"C10": 0.27, "C20": 0.03, "C30": -4e-4, "k": 50.0, "mu": 1.0, "lam": 2.0, "b": 0.7}
PARAMETERS |= {"p": 0.37, "E": 1e6, "nu": 0.3, "EA": 1e4, "EI": 1.0, "thickness": 0.01}


# ---- energies of users, each with its textbook definition in mpmath


def mooney(J: Any, I1: Any, I2: Any, *, mu: Any, lam: Any, k: Any) -> Any:
    first, second = J ** (-2 * third) * I1 - 3, J ** (-4 * third) * I2 - 3
    return mu * first + lam * second + k / 2 * sp.log(J) ** 2


def fung(J: Any, I1: Any, *, mu: Any, b: Any, k: Any) -> Any:
    Q = b * (I1 * J ** (-2 * third) - 3)
    return mu / b * (sp.exp(Q) - 1) + k / 4 * (J**2 - 1 - 2 * sp.log(J))


def with_tensors(C: Any, J: Any, *, mu: Any, k: Any) -> Any:
    return mu / 2 * (C.trace() * J ** (-2 * third) - 3) + k * (sp.sqrt(C.det()) - 1) ** 2


def with_gradient(F: Any, J: Any, *, mu: Any) -> Any:
    return mu / 2 * ((F.T * F).trace() - 3 - 2 * sp.log(J))


def logarithm_of_determinant(C: Any, *, mu: Any) -> Any:
    return mu * (C.trace() - 3 - 2 * sp.log(sp.sqrt(C.det())))


def symbolic_power(J: Any, I1: Any, *, mu: Any, p: Any) -> Any:
    return mu / p * ((I1 * J ** (-2 * third) / 3) ** p - 1)


def reciprocal(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    return mu / 2 * (I1 / J ** (2 * third) - 3) + k * (J + 1 / J - 2)


def gent(J: Any, I1: Any, *, mu: Any, b: Any) -> Any:
    return -mu * b / 2 * sp.log(1 - (I1 * J ** (-2 * third) - 3) / b)


def trigonometric(J: Any, *, k: Any) -> Any:
    return k * (1 - sp.cos(J - 1)) + k * sp.tanh(J - 1) ** 2


USERS = [mooney, fung, with_tensors, with_gradient, logarithm_of_determinant]
USERS += [symbolic_power, reciprocal, gent, trigonometric]
CATALOGUE = [energies.yeoh(), energies.neo_hooke(), energies.saint_venant_kirchhoff()]


def invariants(H: Any) -> dict[str, Any]:
    """Return the quantities of a solid from F = I + H, in mpmath."""
    F = mpmath.eye(3) + H
    C = F.T * F
    I1 = C[0, 0] + C[1, 1] + C[2, 2]
    square = sum(C[i, k] ** 2 for i in range(3) for k in range(3))
    return {"F": F, "C": C, "J": mpmath.det(F), "I1": I1, "I2": (I1**2 - square) / 2}


@cache
def textbook(energy: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return the energy as written as an mpmath function of H: no lets, no expansion."""
    from symancf.kinematics.naming import signature

    asked = signature(energy)
    kinematics = elements.hex8_plain.kinematics()
    values = [kinematics.quantities[q].value for q in asked.quantities]
    result = energy(*values, **{p: sp.Symbol(p, real=True) for p in asked.parameters})
    total = sp.Add(*result.values()) if isinstance(result, dict) else result
    evaluate = function((), [total], exact=True)

    def call(H: Any) -> Any:
        at: dict[str, Any] = {k: mpmath.mpf(v) for k, v in PARAMETERS.items()}
        q = invariants(H)
        at |= {name: q[name] for name in ("J", "I1", "I2")}
        for i in range(3):
            for k in range(3):
                at[f"F{i + 1}{k + 1}"], at[f"C{i + 1}{k + 1}"] = q["F"][i, k], q["C"][i, k]
                unit = 1 if i == k else 0
                at[f"E_gl{i + 1}{k + 1}"] = (q["C"][i, k] - unit) / 2
        return evaluate(at)[0]

    return call


@cache
def stable_evaluator(energy: Callable[..., Any]) -> Callable[..., Any]:
    return energy_and_gradient(stabilise(whole(energy)))


def whole(energy: Callable[..., Any]) -> PointLaw:
    ((law, _),) = energy_laws(elements.hex8_plain, energy, volumetric="full")
    return law


@pytest.mark.parametrize("energy", [*CATALOGUE, *USERS], ids=lambda e: e.__name__)
@pytest.mark.parametrize("size", [1e-1, 1e-4, 1e-8])
def test_energy_and_stress_keep_their_digits(energy: Callable[..., Any], size: float) -> None:
    """Against the textbook definition in 60 digits; the stress there is a difference quotient."""
    evaluate = stable_evaluator(energy)
    exact = textbook(energy)
    generator = np.random.default_rng(7)
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -25
        for _ in range(2):
            H = size * generator.uniform(-1, 1, (3, 3))
            at = {f"H{i + 1}{k + 1}": H[i, k] for i in range(3) for k in range(3)}
            w, *p = (float(x) for x in evaluate({**PARAMETERS, **at}))
            Hm = mpmath.matrix(H.tolist())
            W = exact(Hm)
            P = []
            for i in range(3):
                for k in range(3):
                    D = mpmath.zeros(3)
                    D[i, k] = step * size
                    P.append((exact(Hm + D) - exact(Hm - D)) / (2 * step * size))
            scale = max(abs(x) for x in P)
            assert float(abs(w - W) / abs(W)) < 2e-14
            assert max(float(abs(a - b) / scale) for a, b in zip(p, P, strict=True)) < 2e-14


@pytest.mark.parametrize("energy", [energies.yeoh(), energies.neo_hooke(), mooney, fung, gent])
def test_as_written_they_would_lose_nearly_all(energy: Callable[..., Any]) -> None:
    """The stage is needed: without it the energy keeps few digits and the stress half of them."""
    laws = [(whole(energy), elements.hex8_plain.rule("full"))]
    lost_energy, lost_stress = digits_lost(laws, PARAMETERS, as_written=True)
    assert lost_energy > 6
    assert lost_stress > 6
    lost_energy, lost_stress = digits_lost(laws, PARAMETERS)
    assert max(lost_energy, lost_stress) < 2


@pytest.mark.parametrize(
    ("element", "energy", "options"),
    [
        (elements.ancf_plate, energies.yeoh(), {}),
        (elements.ancf_plate, energies.saint_venant_kirchhoff(), {}),
        (elements.ancf_thin_plate, energies.kirchhoff(), {}),
        (elements.ancf_thin_plate, energies.kirchhoff(curvature="n3"), {}),
        (elements.ancf_thin_plate, energies.kirchhoff(curvature="n0"), {}),
        *(
            (elements.ancf_cable, energies.cable(strain=s, curvature=c), {"curved": bent})
            for s in ("biot", "green")
            for c in ("reference", "geometric")
            for bent in (False, True)
        ),
    ],
)
def test_laws_of_all_elements_keep_their_digits(element: Any, energy: Any, options: Any) -> None:
    """Curved references included; against the laws as declared, in 50 digits."""
    laws = energy_laws(element, energy, **options)
    assert max(digits_lost(laws, PARAMETERS)) < 2


def test_yeoh_becomes_what_one_would_write_by_hand() -> None:
    lets = {s.name: e for s, e in stabilise(whole(energies.yeoh())).lets}
    a, b, d, J = (sp.Symbol(n, real=True) for n in ("J_icbrt", "J_icbrt_m1", "I1d", "J"))
    J = sp.Symbol("J", positive=True)
    assert sp.expand(lets["y"] - a**2 * (d + J * b**2 * (a + 2))) == 0
    assert lets["J_icbrt"] == J**-third
    assert (
        sp.simplify(lets["J_icbrt_m1"] + sp.Symbol("Jm1", real=True) * a**3 / (1 + a + a**2)) == 0
    )
    assert list(lets)[-1] == "y"


def test_an_energy_that_needs_no_help_is_left_alone() -> None:
    ((law, _),) = energy_laws(elements.ancf_thin_plate, energies.kirchhoff())
    again = stabilise(law)
    assert again.energy == law.energy
    assert again.lets == law.lets


@pytest.mark.parametrize("energy", [*CATALOGUE, *USERS], ids=lambda e: e.__name__)
def test_stabilising_twice_changes_nothing(energy: Callable[..., Any]) -> None:
    once = stabilise(whole(energy))
    twice = stabilise(once)
    assert twice.lets == once.lets
    assert twice.energy == once.energy


@pytest.mark.parametrize("energy", USERS, ids=lambda e: e.__name__)
def test_at_large_strain_the_meaning_is_the_same(energy: Callable[..., Any]) -> None:
    law = whole(energy)
    H = np.array([[0.3, 0.2, -0.1], [0.05, -0.2, 0.1], [0.0, -0.3, 0.25]])
    at = {f"H{i + 1}{k + 1}": H[i, k] for i in range(3) for k in range(3)} | PARAMETERS
    found, known = (energy_and_gradient(x)(at) for x in (stabilise(law), law))
    np.testing.assert_allclose(
        np.array(found, dtype=float), np.array(known, dtype=float), rtol=1e-12, atol=1e-13
    )


def test_what_is_not_understood_stays_as_written() -> None:
    def user(J: Any, *, k: Any) -> Any:
        return k * (sp.Abs(J - 2) + J - 2) ** 2 + k * (sp.Max(J, 1) - 1) ** 2

    law = stabilise(whole(user))
    at = {f"H{i}{j}": 0.0 for i in (1, 2, 3) for j in (1, 2, 3)} | {"k": 2.0}
    assert float(energy_and_gradient(law)({**at, "H11": 0.5})[0]) == pytest.approx(0.5)
    assert float(energy_and_gradient(law)({**at, "H11": 1.5})[0]) == pytest.approx(6.5)


def test_forces_are_stabilised_too() -> None:
    x = sp.Symbol("x", real=True)
    law = PointLaw("spring", unknowns=(x,), work={x: sp.sqrt(1 + x) - 1})
    stable = stabilise(law)
    assert stable.work is not None
    evaluate = function(stable.lets, [stable.work[x]])
    assert float(evaluate({"x": 1e-12})[0]) == pytest.approx(5e-13, rel=1e-11)
    assert float(evaluate({"x": 3.0})[0]) == pytest.approx(1.0, rel=1e-15)


def test_names_that_are_taken_are_not_used_again() -> None:
    def user(J: Any, I1: Any, *, J_icbrt: Any) -> Any:
        return J_icbrt * (J ** (-2 * third) * I1 - 3)

    law = stabilise(whole(user))
    symbols = [s.name for s, _ in law.lets] + [p.name for p in law.parameters]
    assert len(symbols) == len(set(symbols))
    assert "J_icbrt2" in symbols


# ---- the helpers


@pytest.mark.parametrize(
    ("array", "exact"),
    [
        (log1pmx_array, lambda x: mpmath.log(1 + x) - x),
        (expm1mx_array, lambda x: mpmath.exp(x) - 1 - x),
    ],
    ids=["log1pmx", "expm1mx"],
)
def test_helper_functions_over_their_range(
    array: Callable[[Any], Any], exact: Callable[[Any], Any]
) -> None:
    x = np.concatenate([s * np.geomspace(1e-12, 0.99, 300) for s in (-1, 1)])
    x = np.concatenate([x, np.linspace(1, 20, 40), [0.5, -0.5, 0.7, -0.7]])
    found = array(x)
    with mpmath.workdps(40):
        for a, b in zip(x, found, strict=True):
            e = exact(mpmath.mpf(float(a)))
            assert float(abs(mpmath.mpf(float(b)) - e) / abs(e)) < 2e-15
    assert array(np.zeros(1))[0] == 0.0


def test_helper_functions_in_sympy() -> None:
    x = sp.Symbol("x", real=True)
    for f, value in ((log1pmx, sp.log(1 + x) - x), (expm1mx, sp.exp(x) - 1 - x)):
        assert f(0) == 0
        assert f(x).diff(x).subs(x, 0.25).evalf() == pytest.approx(
            float(value.diff(x).subs(x, 0.25))
        )
        at = sp.Rational(1, 10**9)
        assert f(at).evalf(20) == pytest.approx(float(value.subs(x, at).evalf(20)), rel=1e-12)


@pytest.mark.parametrize(
    ("laurent", "times"),
    [
        ({2: 3, -1: 6, 0: -9}, 2),
        ({4: 3, -3: 4, -4: 1, 0: 5}, 2),
        ({-2: 1, 0: -1}, 1),
        ({3: 2, 1: 7}, 2),
        ({0: 5}, 2),
        ({-3: 1, -2: 1}, 3),
    ],
)
def test_division_of_a_laurent_polynomial(laurent: dict[int, int], times: int) -> None:
    """P = sum v_i (a-1)^i + (a-1)^times r, exactly; and r with few operations is r."""
    a = sp.Symbol("a", positive=True)
    polynomial = sum(c * a**k for k, c in laurent.items())
    values, rest = divide({k: sp.Integer(c) for k, c in laurent.items()}, times)
    r = horner(rest, a, 3, a**-3)
    total = sum(v * (a - 1) ** i for i, v in enumerate(values)) + (a - 1) ** times * r
    assert sp.simplify(total - polynomial) == 0
    assert sp.simplify(r - sum(c * a**k for k, c in rest.items())) == 0


def test_variables_are_the_inner_ones_where_there_are_any() -> None:
    assert [v.name for v in variables(whole(energies.yeoh()))][:2] == ["H11", "H12"]
    ((law, _),) = energy_laws(elements.ancf_cable, energies.cable())
    assert [v.name for v in variables(law)] == [
        f"u_{j}{i}" for j in ("xi", "xixi") for i in (1, 2, 3)
    ]


def test_large_products_are_left_as_they_are() -> None:
    """Multiplied out, the 16th power of a matrix of F would take SymPy hours."""

    def powers(F: Any) -> Any:
        C = F.T * F
        for _ in range(3):
            C = C * C
        return (C.trace() - 3) ** 2

    ((law, _),) = energy_laws(elements.hex8_plain, powers)
    energy = stabilise(law).energy
    assert energy is not None
    assert not energy.is_Add


def test_what_is_complex_at_its_sample_is_compared_by_its_size() -> None:
    """A logarithm of what is negative there, whose sum SymPy leaves as it is."""
    a, b = sp.symbols("a b", real=True)
    x = sp.log(-a) ** 2 * (sp.Float(0.3) + sp.log(-b)) + sp.Float(0.7) * sp.pi * sp.log(-a)
    assert clean(x) == x
    assert clean(x - sp.expand(x)) == 0

# SPDX-License-Identifier: BSD-3-Clause
"""Modes beyond the four of every kernel: derivatives by parameters, and outputs at points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import CompileError, Parameter, PointLaw, Rule, compile_cells, compile_points
from symancf_codegen.compiler import cell_source
from symancf_codegen.functions import force_on, frozen
from symancf_codegen.library.compile import HEADERS
from symancf_codegen.modes import MODES, header, signature
from symancf_codegen.stable import stabilise
from tests.codegen import laws
from tests.refusals import refused

x, y, a, b, c = sp.symbols("x y a b c", real=True)


def test_the_header_of_c_has_the_table():
    """After a change of the table put what this prints into the header."""
    text = (HEADERS / "symancf_kernel.h").read_text(encoding="utf-8")
    assert header() in text, header()
    assert signature("k", "product").endswith("const double *u, const double *v, double *Kv)")


def test_kernels_of_a_law_share_its_stable_form(monkeypatch):
    """It is most of the time of a law with memory, which has three kernels and more."""
    asked, given = [], [(laws.cable_law(), Rule("2", *laws.gauss(2, 1, unit=True)))]
    monkeypatch.setattr(stabilise, "stabilise", lambda law: (asked.append(law), law)[1])
    texts = [cell_source("k", laws.cable(), given, modes=(m,)).text for m in ("energy", "product")]
    assert texts[0] != texts[1]
    assert asked == [given[0][0]]


def relative(p, q):
    return np.max(np.abs(p - q)) / np.max(np.abs(q))


def slope(kernel, u, X, values, rates, held=None, step=1e-4):
    """Return the derivative of the residual along rates of parameters, to fourth order."""
    total = 0.0
    for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        beside = {name: v + k * step * rates.get(name, 0.0) for name, v in values.items()}
        total = total + weight * kernel.residual(u, X, {**beside, **(held or {})})[0] / (12 * step)
    return total


def test_derivative_by_parameters_on_cells():
    """Of a thickness, too, which is in the geometry, and of parameters per cell and per point."""
    space, X, u = laws.plate(), *laws.states(laws.plate(), 11)
    given = laws.plate_yeoh(2, 2)
    pressure = dataclasses.replace(
        laws.pressure(), parameters=(Parameter(sp.Symbol("p"), "point"), Parameter(laws.thickness))
    )
    given.append((pressure, laws.plate_rule(2, 1)))
    values = {"C10": 0.4, "C20": -0.1, "C30": 0.05, "k": 20.0, "thickness": 0.3}
    standard = compile_cells("plate", space, given)
    kernel = compile_cells("plate", space, given, modes=("parameter",))
    assert kernel.addresses.keys() == {"parameter"}
    assert (kernel.uniform, kernel.cell, kernel.points) == (
        standard.uniform,
        standard.cell,
        standard.points,
    )
    assert "plate_residual" not in kernel.source
    values["p"] = lambda points: np.sin(3 * points[:, :1]) + np.linspace(0, 1, 11)
    rates = {"C20": 0.7, "thickness": -0.2, "k": 3.0}
    found, bad = kernel.parameter(u, rates, X, values)
    plain = {name: v for name, v in values.items() if name != "p"}
    moved = slope(standard, u, X, plain, rates, held={"p": values["p"]})
    assert bad == 0
    assert relative(found, moved) < 1e-10
    found, _ = kernel.parameter(u, {"p": lambda points: points[:, :1] + np.arange(11.0)}, X, values)
    direct = standard.residual(u, X, {**values, "p": lambda q: q[:, :1] + np.arange(11.0)})[0]
    direct = direct - standard.residual(u, X, {**values, "p": 0.0})[0]
    assert relative(found, direct) < 1e-12  # linear in the pressure


def test_derivative_by_parameters_on_tuples():
    """What is frozen for the tangent moves with its parameters."""
    law = PointLaw(
        "law",
        (x, y),
        lets=((sp.Symbol("q"), sp.sqrt(x**2 + a * y**2)),),
        work={x: b * sp.Symbol("q") ** c, y: frozen(a * b * x) + sp.exp(-a * y)},
        parameters=(Parameter(a), Parameter(b, "cell"), Parameter(c)),
    )
    u = np.random.default_rng(1).uniform(0.4, 1.4, (19, 2))
    values = {"a": 1.3, "b": np.linspace(0.5, 0.9, 19), "c": 2.5}
    rates = {"a": 0.6, "b": np.linspace(-1, 1, 19), "c": -0.3}
    found, bad = compile_points("law", law, modes=("parameter",)).parameter(u, rates, None, values)
    assert bad == 0
    assert relative(found, slope(compile_points("law", law), u, None, values, rates)) < 1e-11


def test_an_exponent_that_stays_does_no_harm_at_rest() -> None:
    """The residual 2 a c x (x^2)^(c-1) vanishes at x = 0, and so do all of its derivatives."""
    law = PointLaw("law", (x,), energy=a * (x**2) ** c, parameters=(Parameter(a), Parameter(c)))
    kernel = compile_points("law", law, modes=("parameter",))
    u, values = np.array([[0.0], [0.5]]), {"a": 2.0, "c": 1.5}
    for rates, known in (({"a": 1.0}, 0.75), ({"c": 1.0}, 1.0 + 1.5 * np.log(0.25))):
        found, bad = kernel.parameter(u, rates, None, values)
        assert bad == 0
        assert found[:, 0] == pytest.approx([0.0, known], rel=1e-14)


@pytest.mark.parametrize("through", [1, 2])
def test_outputs_at_points(through):
    """Strains and the forces on them, of cells at their points and of tuples at one point."""
    [(law, rule), _] = laws.plate_yeoh(2, through)
    asked = {"J": sp.Symbol("J"), "P12": force_on(sp.Symbol("H12")), "z": sp.Symbol("z")}
    law = dataclasses.replace(law, outputs=asked)
    space, X, u = laws.plate(), *laws.states(laws.plate(), 5)
    values = {"C10": 0.4, "C20": -0.1, "C30": 0.05, "thickness": 0.3}
    kernel = compile_cells("plate", space, [(law, rule)], modes=("outputs",))
    found, bad = kernel.outputs(u, X, values)
    found = found["yeoh_deviatoric"]
    assert bad == 0
    assert found["J"].shape == (5, rule.size)

    # by hand, with the complex step
    C10, C20, C30 = (values[k] for k in ("C10", "C20", "C30"))
    z = 0.15 * rule.section_points[:, 0]
    tables = laws.tabulated(space, rule.points)
    names = list(space.table_jets)

    def jets(e):
        t = {n: np.einsum("pn,cna->cpa", tables[:, k], e) for k, n in enumerate(names)}
        d = t["d"][:, :, None] + 0 * z[:, None]
        columns = [
            t[f"m_{s}"][:, :, None] + z[:, None] * t[f"d_{s}"][:, :, None] for s in ("xi", "eta")
        ]
        return np.stack([*columns, d], axis=-1).reshape(5, -1, 3, 3)

    H = jets(u) @ np.linalg.inv(jets(X))
    F = H + np.eye(3)

    def energy(F):
        J = np.linalg.det(F)
        y = J ** (-2 / 3) * np.einsum("...ij,...ij", F, F) - 3
        return C10 * y + C20 * y**2 + C30 * y**3

    step = np.zeros((3, 3), complex)
    step[0, 1] = 1e-30j
    assert np.abs(found["J"] - np.linalg.det(F)).max() < 1e-14
    assert relative(found["P12"], energy(F + step).imag / 1e-30) < 1e-12
    assert np.abs(found["z"] - np.tile(z, 4)).max() < 1e-16


def test_forces_vary_independently_and_names_are_told():
    """W = p q with p = x y, q = x: on q the force is p, though q is in p."""
    p, q = sp.symbols("p q")
    law = PointLaw(
        "law",
        (x, y),
        lets=((q, x), (p, q * y)),
        energy=a * p * q + q**2,
        outputs={"on_q": force_on(q), "on_p": force_on(p), "on_x": force_on(x) + b},
        parameters=(Parameter(a), Parameter(b, "cell")),
    )
    assert MODES["outputs"].result("points") == "O"
    u = np.array([[2.0, 3.0], [0.5, -1.0]])
    kernel = compile_points("law", law, modes=("outputs",))
    found = kernel.outputs(u, None, {"a": 0.5, "b": np.array([0.0, 7.0])})[0]["law"]
    assert found["on_q"][:, 0] == pytest.approx(0.5 * u[:, 0] * u[:, 1] + 2 * u[:, 0])
    assert found["on_p"][:, 0] == pytest.approx(0.5 * u[:, 0])
    assert found["on_x"][:, 0] == pytest.approx([0.0, 7.0])  # all of it goes through p and q
    other = dataclasses.replace(law, outputs={"o": force_on(sp.Symbol("nothing"))})
    with refused(CompileError, asked="force_on", given="nothing", possible=("x", "y", "q", "p")):
        compile_points("law", other, modes=("outputs",))
    with pytest.raises(ValueError, match="force_on is a derivative of an energy"):
        dataclasses.replace(law, energy=None, work={x: a})

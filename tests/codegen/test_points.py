# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on tuples of scalars: constraints, forces, and functions of every kind."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import CompileError, Parameter, PointLaw, compile_points
from symancf_codegen.functions import frozen, rate
from tests.refusals import refused

x, y, z, theta, lam = sp.symbols("x y z theta lam", real=True)
a, b, c = sp.symbols("a b c", real=True)


def relative(p, q):
    return np.max(np.abs(np.asarray(p) - q)) / np.max(np.abs(q))


def exact(law, u, values):
    """Return energy (or None), forces and their Jacobian by SymPy."""
    lets = dict(law.lets)

    def expand(e):
        for _ in law.lets:
            e = e.subs(lets)
        return e

    if law.energy is not None:
        w = expand(law.energy)
        forces = [sp.diff(w, s) for s in law.unknowns]
    else:
        w = sp.Integer(0)
        work = [(expand(q), expand(force)) for q, force in law.work.items()]
        forces = [sp.Add(*(sp.diff(q, s) * force for q, force in work)) for s in law.unknowns]
    matrix = sp.Matrix(forces).jacobian(law.unknowns)
    at = [*zip(law.unknowns, u, strict=True), *values.items()]
    f = np.array([float(e.subs(at)) for e in forces])
    return float(w.subs(at)), f, np.array(matrix.subs(at), dtype=float)


PHI, PSI, TWO = sp.symbols("Phi Psi two")
LAWS = {
    "constraint": PointLaw(
        "constraint",
        (x, y, theta, lam),
        lets=((PHI, x**2 + y**2 - a**2 + sp.sin(theta) * x),),
        energy=lam * PHI + c / 2 * sp.atan2(y, x) ** 2,
        parameters=(Parameter(a), Parameter(c, "cell")),
    ),
    "powers": PointLaw(
        "powers",
        (x, y),
        energy=x**a + sp.sqrt(x) * y ** sp.Rational(-2, 3) + (x * y) ** sp.Rational(5, 4)
        + 1 / (x + y) ** 3 + x ** sp.Rational(7, 3) + y ** sp.Rational(-3, 2) + 2**x,
        parameters=(Parameter(a),),
    ),
    "functions": PointLaw(
        "functions",
        (x, y, z),
        energy=sp.exp(x) * sp.log(y) + sp.tan(x * y) + sp.asin(x / 3) + sp.acos(y / 4)
        + sp.atan(z) + sp.sinh(x) + sp.cosh(y) * sp.tanh(z) + sp.cos(z * y) + sp.log(1 + x * z)
        + sp.erf(x * y) * sp.erfc(z),
    ),
    "branches": PointLaw(
        "branches",
        (x, y, z),
        energy=sp.Piecewise((a * (x - y) ** 3, (x > y) & (z > 0)), (b * (y - x) ** 2, True))
        + sp.Max(x, y) ** 2 * z + sp.Min(y, z, 1) * x + sp.Abs(x - 2) * y**2,
        parameters=(Parameter(a), Parameter(b)),
    ),
    "force": PointLaw(
        "force",
        (x, y, z),
        lets=((PHI, sp.sqrt(x**2 + y**2)),),
        work={x: a * y * PHI, z: b * x**2 * sp.exp(-z)},
        parameters=(Parameter(a), Parameter(b, "cell")),
    ),
    "pulled back": PointLaw(
        "pulled_back",
        (x, y, z),
        lets=((PSI, -2 * x * y), (PHI, sp.sqrt(1 + PSI**2) * z), (TWO, sp.Integer(2))),
        work={PHI: a * PSI, PSI - TWO * x: b * sp.sin(z), y: PHI, PSI: x},
        parameters=(Parameter(a), Parameter(b, "cell")),
    ),
    "inner": PointLaw(
        "inner",
        (x, y, z),
        inner=((sp.Symbol("p"), {x: a, y: sp.Integer(-1)}), (sp.Symbol("q"), {z: b, x: 1})),
        lets=((PHI, sp.Symbol("p") * sp.Symbol("q") ** 2),),
        energy=PHI**2 + sp.cos(sp.Symbol("q")),
        parameters=(Parameter(a), Parameter(b)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_against_sympy(law):
    kernel = compile_points(law.name, law)
    rng = np.random.default_rng(0)
    u = rng.uniform(0.4, 1.4, (19, len(law.unknowns)))
    values = {"a": 1.7, "b": np.linspace(0.5, 0.9, 19), "c": np.linspace(1, 2, 19)}
    for name in kernel.uniform:
        values[name] = float(np.mean(values[name]))
    w, bad_w = kernel.energy(u, None, values)
    r, bad_r = kernel.residual(u, None, values)
    f, k, bad_k = kernel.tangent(u, None, values)
    v = rng.normal(size=u.shape)
    kv, bad_v = kernel.product(u, v, None, values)
    assert (bad_w, bad_r, bad_k, bad_v) == (0, 0, 0, 0)
    assert kernel.symmetric == (law.energy is not None)
    assert relative(kv, np.einsum("cij,cj->ci", k, v)) < 1e-13
    for i in (0, 8, 18):
        at = {s.symbol: float(np.broadcast_to(values[s.name], 19)[i]) for s in law.parameters}
        exact_law = law
        if law.inner:  # written out for SymPy
            out = {s: sp.Add(*(f * u_ for u_, f in row.items())) for s, row in law.inner}
            exact_law = PointLaw(
                "out",
                law.unknowns,
                lets=tuple((s, e.subs(out)) for s, e in law.lets),
                energy=law.energy.subs(out),
            )
        ew, ef, ek = exact(exact_law, u[i], at)
        assert w[i] == pytest.approx(ew, rel=1e-13, abs=1e-15)
        assert relative(r[i], ef) < 1e-13
        assert relative(f[i], ef) < 1e-13
        assert relative(k[i], ek) < 1e-12


def test_domain_is_counted_per_lane():
    law = PointLaw("d", (x, y), energy=x * y, domain=(x, 1 - y))
    kernel = compile_points("d", law)
    u = np.full((11, 2), 0.5)
    u[3] = (-1.0, 0.5)
    u[7] = (-1.0, 2.0)  # two reasons, one bad point
    u[10] = (0.5, np.nan)  # not positive, and not finite
    assert kernel.energy(u)[1] == 2 + 2
    assert kernel.residual(u)[1] == 2 + 2
    assert kernel.energy(u[:3])[1] == 0


def test_piecewise_without_an_end_is_explained():
    law = PointLaw("p", (x,), energy=sp.Piecewise((x, x > 0)))
    with refused(CompileError, asked="Piecewise", given="Piecewise((x, x > 0))"):
        compile_points("p", law)


def test_complex_number_is_explained():
    law = PointLaw("p", (x,), energy=sp.sqrt(-2) * x)
    with refused(CompileError, asked="number", given="I"):
        compile_points("p", law)


def test_force_on_something_else_is_explained():
    for other in (y, y**2):
        law = PointLaw("p", (x,), work={other: x}, parameters=(Parameter(y),))
        with refused(CompileError, asked="work", given=str(other), possible=("x",)):
            compile_points("p", law)


def test_a_force_on_a_frozen_quantity_keeps_its_slope():
    """The gradient of a Phi^2/2 with the tangent a grad Phi (x) grad Phi, beside that of b y."""
    law = PointLaw(
        "held",
        (x, y),
        lets=((PSI, x**2), (PHI, PSI * y)),
        work={frozen(PHI): a * PHI, y: b * y},
        parameters=(Parameter(a), Parameter(b)),
    )
    given = {"a": 2.0, "b": 3.0}
    f, K, _ = compile_points("held", law).tangent(np.array([[0.7, 1.3]]), None, given)
    slope = np.array([2 * 0.7 * 1.3, 0.7**2])
    assert f[0] == pytest.approx(2.0 * 0.7**2 * 1.3 * slope + [0.0, 3.0 * 1.3], rel=1e-14)
    assert relative(K[0], 2.0 * np.outer(slope, slope) + np.diag([0.0, 3.0])) < 1e-14


def test_rates_go_through_lets():
    """F = d2/dt2 (x^2 y p^2) with dx/dt = u, dy/dt = v, dp/dt = s, constant in time."""
    u, v, p, s = sp.symbols("u v p s")
    work = {x: rate(rate(PHI * p)), y: rate(sp.Integer(3)), z: rate(z)}
    law = PointLaw(
        "rates",
        (x, y, z, u, v),
        lets=((PSI, -(x**2)), (PHI, -PSI * y * p)),
        work=work,
        rate_of={x: u, y: v, p: s},
        parameters=(Parameter(p), Parameter(s)),
    )
    state = np.random.default_rng(1).uniform(0.4, 1.4, (5, 5))
    f, K, _ = compile_points("rates", law).tangent(state, None, {"p": 0.7, "s": 0.3})
    flow = {x: u, y: v, p: s}
    expected = x**2 * y * p**2
    for _ in range(2):
        expected = sum(sp.diff(expected, q) * flow[q] for q in flow)
    for i, values in enumerate(state):
        at = [*zip(law.unknowns, values, strict=True), (p, 0.7), (s, 0.3)]
        assert f[i, 0] == pytest.approx(float(expected.subs(at)), rel=1e-13)
        slopes = [float(sp.diff(expected, q).subs(at)) for q in law.unknowns]
        assert K[i, 0] == pytest.approx(slopes, rel=1e-13)
    assert np.abs(f[:, 1:]).max() == np.abs(K[:, 1:]).max() == 0.0


@pytest.mark.parametrize(
    ("kernel", "law", "given", "possible"),
    [("a b", "p", "a b", "a_b"), ("p", "2p", "2p", "x2p"), ("p", "σ", "σ", "sigma")],
)
def test_names_that_c_does_not_have_are_explained(kernel, law, given, possible):
    with refused(CompileError, asked="name", given=given, possible=(possible,)):
        compile_points(kernel, PointLaw(law, (x,), energy=x**2))


def test_names_that_are_words_of_c():
    """Keywords, macros, functions and our own words: they are names like others."""
    words = "int errno I M_PI main EOF NULL restrict linux unix E _Bool __LINE__ asm typeof bool"
    words += " INFINITY NAN HUGE_VAL FOR_PARTS SYMANCF_KERNEL_H uniform cell weight u N M t0 exp"
    words += " log E_ µ é 变 " + 300 * "a"
    names = words.split()
    symbols = [sp.Symbol(name, real=True) for name in names]
    x = sp.Symbol("x", real=True)
    lets = tuple(
        (sp.Symbol(f"{n}x", real=True), s * x**2) for n, s in zip(names, symbols, strict=True)
    )
    law = PointLaw(
        "main",
        (x,),
        lets=lets,
        energy=sp.Add(*(k * sp.exp(s) for k, (s, _) in enumerate(lets, 1))),
        parameters=tuple(map(Parameter, symbols)),
    )
    values = {name: 0.1 * k for k, name in enumerate(names, 1)}
    f, bad = compile_points("int_", law).residual(np.array([[0.5]]), None, values)
    expected = sum(k * v * np.exp(v / 4) for k, v in enumerate(values.values(), 1))
    assert bad == 0
    assert f[0, 0] == pytest.approx(expected, rel=1e-13)

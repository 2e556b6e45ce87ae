# SPDX-License-Identifier: BSD-3-Clause
"""The graph, its derivatives and its cuts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp

from symancf_codegen.graph.dag import Dependence, ExpressionGraph
from symancf_codegen.graph.differentiate import (
    directional,
    edge_pushing,
    forward_over_reverse,
    gradient,
    jacobian,
)
from symancf_codegen.graph.reduce import LinearMap, share_roots
from symancf_codegen.graph.schedule import LoopSection, Output, identifier, schedule
from symancf_codegen.graph.stages import factor_cut, geometry_cut, parameter_cut
from symancf_codegen.lower.lower import LawScope


def leaves(graph, names="xyz", kind=Dependence.UNKNOWN):
    return [graph.symbol(name, kind) for name in names]


def test_equal_expressions_are_one_node():
    g = ExpressionGraph()
    x, y, z = leaves(g)
    assert g.add(x, y) == g.add(y, x)
    assert g.mul(g.mul(g.constant(2), x), y) == g.mul(g.constant(2), g.mul(x, y))
    assert g.sub(x, x) == g.zero
    assert g.neg(g.sub(x, y)) == g.sub(y, x)
    assert g.mul(g.neg(x), g.neg(y)) == g.mul(x, y)
    assert g.div(x, z) == g.mul(x, g.inv(z))
    assert g.inv(g.inv(x)) == x
    assert g.add(x, x) == g.mul(g.constant(2), x)
    p = g.symbol("p", Dependence.UNIFORM)
    assert g.op[g.args[g.mul(p, g.mul(g.constant(3), x))][0]] == "mul"  # (3 p) x
    assert g.count([g.mul(p, g.mul(g.constant(3), x))])["mul"] == 1


def test_powers_share_roots_and_reciprocals():
    g = ExpressionGraph()
    scope = LawScope(g, "law")
    x = g.symbol("J", Dependence.UNKNOWN)
    scope.bind("J", x)
    J = sp.Symbol("J", positive=True)
    nodes = [scope.lower(J ** sp.Rational(p, 3)) for p in (-5, -4, -2, -1, 1, 2, 7)]
    nodes += [scope.lower(J**p) for p in (-3, -1, 4)]
    counts = g.count(nodes)
    assert counts["icbrt"] == 1
    assert counts["inv"] == 1
    values = g.evaluate(nodes, {"J": 1.7})
    expected = [1.7 ** (p / 3) for p in (-5, -4, -2, -1, 1, 2, 7)] + [1.7**p for p in (-3, -1, 4)]
    assert values == pytest.approx(expected, rel=1e-14)


def random_energy():
    x, y, z = sp.symbols("x y z")
    return (
        sp.exp(x * y) * sp.log(z + x**2) / (1 + y**2)
        + sp.sqrt(x * z) * sp.atan2(y, z)
        + (x + y * z) ** sp.Rational(-1, 3)
        + sp.Max(x, y) * z**3
        + sp.asin(x / 3)
        + (x * y) ** sp.Rational(5, 4)
    )


def test_second_derivatives_by_three_ways():
    e = random_energy()
    x, y, z = sp.symbols("x y z")
    g = ExpressionGraph()
    scope = LawScope(g, "law")
    nodes = leaves(g)
    for name, node in zip("xyz", nodes, strict=True):
        scope.bind(name, node)
    w = scope.lower(e)
    at = {"x": 0.7, "y": 0.4, "z": 1.3}
    exact = sp.hessian(e, (x, y, z)).subs(at)
    first = [float(sp.diff(e, s).subs(at)) for s in (x, y, z)]
    for method in (edge_pushing, forward_over_reverse):
        slopes, hessian = method(g, w, nodes)
        assert g.evaluate(slopes, at) == pytest.approx(first, rel=1e-13)
        for (i, j), node in hessian.items():
            assert g.evaluate([node], at)[0] == pytest.approx(float(exact[i, j]), rel=1e-12)
    full = jacobian(g, gradient(g, w, nodes), nodes)
    assert len(full) == 9
    for (i, j), node in full.items():
        assert g.evaluate([node], at)[0] == pytest.approx(float(exact[i, j]), rel=1e-12)
    rates = directional(g, [w], dict(zip(nodes, [g.one, g.constant(2.0), g.zero], strict=True)))
    assert g.evaluate(rates, at)[0] == pytest.approx(first[0] + 2 * first[1], rel=1e-13)


@pytest.mark.parametrize("symmetric", [True, False])
def test_linear_map_pulls_matrices_back(symmetric):
    g = ExpressionGraph()
    rng = np.random.default_rng(0)
    a = rng.uniform(size=(4, 3)) * (rng.uniform(size=(4, 3)) < 0.6)
    h = rng.uniform(size=(4, 4))
    h = h + h.T if symmetric else h
    rows = [
        {c: g.symbol(f"a{r}{c}", Dependence.CELL) for c in range(3) if a[r, c]} for r in range(4)
    ]
    matrix = {
        (r, c): g.symbol(f"h{r}{c}", Dependence.CELL)
        for r, c in itertools.product(range(4), repeat=2)
        if r <= c or not symmetric
    }
    at = {f"a{r}{c}": a[r, c] for r in range(4) for c in range(3)}
    at |= {f"h{r}{c}": h[r, c] for r in range(4) for c in range(4)}
    pulled = LinearMap(rows, 3).pull_matrix(g, matrix, symmetric)
    expected = a.T @ h @ a
    for (r, c), node in pulled.items():
        assert r <= c or not symmetric
        assert g.evaluate([node], at)[0] == pytest.approx(expected[r, c], rel=1e-13)
    v = LinearMap(rows, 3).pull(g, [matrix[0, c] for c in range(4)])
    assert g.evaluate(v, at) == pytest.approx(a.T @ h[0], rel=1e-13)


def test_skew_blocks_are_pulled_back_through_minors():
    """The second derivative of a determinant: the same numbers from fewer operations."""
    g = ExpressionGraph()
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, (3, 3))
    size = 9
    columns = [[3 * c + i for c in range(3)] for i in range(3)]
    rows = [
        {columns[i][c]: g.symbol(f"a{k}{c}", Dependence.CELL) for c in range(3)}
        for i in range(3)
        for k in range(3)
    ]
    s = np.zeros((size, size))
    matrix = {}
    for i, j in itertools.combinations(range(3), 2):
        for k, m in itertools.permutations(range(3), 2):
            sign, name = (1, f"s{i}{j}{k}{m}") if k < m else (-1, f"s{i}{j}{m}{k}")
            node = g.symbol(name, Dependence.UNKNOWN)
            matrix[3 * i + k, 3 * j + m] = node if sign > 0 else g.neg(node)
    names = sorted({g.name[n] for n in g.reach(matrix.values()) if n in g.name})
    at = {name: rng.uniform(-1, 1) for name in names}
    at |= {f"a{k}{c}": a[k, c] for k in range(3) for c in range(3)}
    for (r, c), node in matrix.items():
        s[r, c] = s[c, r] = g.evaluate([node], at)[0]
    full = np.zeros((size, size))
    for i in range(3):
        for k in range(3):
            full[3 * i + k, columns[i]] = a[k]
    expected = full.T @ s @ full
    pulled = LinearMap(rows, size).pull_matrix(g, matrix, True)
    result = np.zeros((size, size))
    for (r, c), node in pulled.items():
        assert r < c
        result[r, c] = result[c, r] = g.evaluate([node], at)[0]
    assert result == pytest.approx(expected, abs=1e-14)
    assert g.count(pulled.values())["mul"] < 60


def test_roots_are_shared():
    g = ExpressionGraph()
    (x,) = leaves(g, "x")
    root, other = g.call("rsqrt", x), g.call("icbrt", g.add(x, g.one))
    outputs = [root, g.call("sqrt", x), g.inv(x), other, g.inv(g.add(x, g.one)), g.inv(other)]
    expected = g.evaluate(outputs, {"x": 1.7})
    while replace := share_roots(g, outputs):
        outputs = g.substitute(outputs, replace)
    counts = g.count(outputs)
    assert (counts["rsqrt"], counts["icbrt"]) == (1, 1)
    assert not counts["inv"]
    assert not counts["sqrt"]
    assert g.evaluate(outputs, {"x": 1.7}) == pytest.approx(expected, rel=1e-14)


def test_parameter_cut_is_what_points_need():
    g = ExpressionGraph()
    p, q = leaves(g, "pq", Dependence.UNIFORM)
    w = g.symbol("w", Dependence.POINT)
    x = g.symbol("x", Dependence.UNKNOWN)
    ratio = g.div(p, g.add(q, g.one))
    outputs = [g.mul(g.mul(w, ratio), x), g.mul(q, x)]
    assert parameter_cut(g, outputs) == [ratio]


def test_geometry_cut_stores_what_is_dear_and_computes_what_is_cheap():
    g = ExpressionGraph()
    x, y = leaves(g, "xy", Dependence.REFERENCE)
    u, v = leaves(g, "uv")
    root = g.call("sqrt", g.add(g.mul(x, x), g.mul(y, y)))
    outputs = [g.mul(u, root), g.mul(v, g.mul(root, x)), g.mul(u, g.mul(g.constant(2), root))]
    assert geometry_cut(g, outputs) == [root]
    assert geometry_cut(g, [g.mul(u, g.mul(x, y))]) == []


def test_factor_cut_is_the_narrowest_place():
    g = ExpressionGraph()
    u = leaves(g, "abcdef")
    j = g.total(g.mul(p, p) for p in u)
    a = g.call("icbrt", j)
    slope = g.mul(a, g.inv(g.add(g.one, a)))
    outputs = [g.mul(slope, p) for p in u]
    cut = factor_cut(g, outputs, {})
    assert cut == [slope]
    after = set(g.reach(outputs, stop=dict.fromkeys(cut)))
    assert not {g.op[n] for n in after - set(cut)} & {"icbrt", "inv"}
    assert factor_cut(g, [g.mul(u[0], u[1])], {}) == []


def test_schedule_hoists_uniform_expressions_and_keeps_names():
    g = ExpressionGraph()
    x = g.symbol("x", Dependence.UNKNOWN)
    p = g.symbol("p", Dependence.UNIFORM)
    shear = g.mul(g.add(p, g.constant(1.0)), g.mul(x, x))
    outputs = [LoopSection("results", [Output("out[l] = {};", g.add(shear, g.call("exp", shear)))])]
    loads = {"x": "u[l]", "p": "uniform[0]"}
    program = schedule(g, outputs, [("quantities", [("double", shear)])], loads)
    assert program.before == ["const double p_ = uniform[0];", "const double t0 = 1.0 + p_;"]
    assert program.body == [
        ("quantities", ["const double x_ = u[l];", "const double double_ = t0*(x_*x_);"]),
        ("results", ["out[l] = double_ + symancf_exp(double_);"]),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("J", "J_"),
        ("I_1", "I_1_"),
        (r"\bar{I}_1", "bar_I_1_"),
        ("__LINE__", "LINE_"),
        ("2x", "x2x_"),
        ("κ_ξ", "kappa_xi_"),
        ("∇", "nabla_"),
        ("a*/\n;", "a_"),
    ],
)
def test_identifiers(name, expected):
    assert identifier(name) == expected

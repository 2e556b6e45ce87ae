# SPDX-License-Identifier: BSD-3-Clause
"""Unknowns of a point or of a cell, which the kernel solves for at each evaluation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from scipy.optimize import root

from symancf.elements import hex8_plain
from symancf.laws import energy_laws
from symancf_codegen.compiler import compile_cells, compile_points
from symancf_codegen.declare import KernelParameter, Local, PointLaw
from symancf_codegen.errors import CodegenError
from tests.quantities import FAST
from tests.refusals import refused
from tests.saddle import in_space, mixed, of_cell

Array = npt.NDArray[np.float64]
a, b, p, q, k = sp.symbols("a b p q k", real=True)
RANDOM = np.random.default_rng(1)


# ---- of a point ---------------------------------------------------------------------------------
def test_a_stationary_energy_is_that_of_its_unknowns_eliminated() -> None:
    """Of two unknowns that are found by several steps, one of them a saddle."""
    W = sp.exp(a) * p**2 / 2 + p**4 / 4 - p * (b + a**2) + k * (a * b) ** 2
    W += q * p * b / 4 - sp.cosh(q) * (1 + a**2)
    local = (Local(p, start=sp.Float(0.5)), Local(q))
    law = PointLaw("saddle", (a, b), energy=W, local=local, parameters=(KernelParameter(k),))
    kernel = compile_points("saddle", law)
    u, v = RANDOM.normal(size=(2, 13, 2))
    values = {"k": 0.7}
    slopes = sp.lambdify((a, b, p, q, k), [sp.diff(W, s) for s in (a, b, p, q)])
    hessian = sp.lambdify((a, b, p, q, k), sp.hessian(W, (a, b, p, q)))
    energy = sp.lambdify((a, b, p, q, k), W)
    E, _ = kernel.energy(u, parameters=values)
    f, bad = kernel.residual(u, parameters=values)
    same, K, _ = kernel.tangent(u, parameters=values)
    Kv, _ = kernel.product(u, v, parameters=values)
    assert bad == 0
    assert kernel.symmetric
    for c, x in enumerate(u):
        z = root(lambda z, x=x: slopes(*x, *z, 0.7)[2:], (0.5, 0.0), tol=1e-14).x
        H = np.array(hessian(*x, *z, 0.7))
        S = H[:2, :2] - H[:2, 2:] @ np.linalg.solve(H[2:, 2:], H[2:, :2])
        near = {"rtol": 1e-12, "atol": 1e-12 * max(1.0, np.abs(S).max())}
        np.testing.assert_allclose(E[c], energy(*x, *z, 0.7), **near)
        np.testing.assert_allclose(f[c], slopes(*x, *z, 0.7)[:2], **near)
        np.testing.assert_allclose(same[c], f[c], **near)
        np.testing.assert_allclose(K[c], S, **near)
        np.testing.assert_allclose(Kv[c], S @ v[c], **near)


def test_an_equation_of_its_own_makes_a_tangent_that_follows_it() -> None:
    """The forces are derivatives at held unknowns; units of the unknown change no digit."""
    found = []
    for scale in (1.0, 1e9):
        x = p / scale
        energy, equation = (a - x) ** 2 * k / 2 + (b * x) ** 2, x + x**3 - a * b
        law = PointLaw(
            "implicit",
            (a, b),
            energy=energy,
            local=(Local(p, equation=equation),),
            parameters=(KernelParameter(k),),
        )
        kernel = compile_points("implicit", law)
        more = compile_points("implicit_by_k", law, modes=("parameter",))
        values, u = {"k": 0.7}, np.random.default_rng(2).normal(size=(5, 2))
        f, K, bad = kernel.tangent(u, parameters=values)
        fp, _ = more.parameter(u, {"k": 1.0}, parameters=values)
        assert bad == 0
        assert not kernel.symmetric
        z = np.array([root(lambda z, c=c: z + z**3 - c[0] * c[1], 0.0).x[0] for c in u])
        np.testing.assert_allclose(f[:, 0], 0.7 * (u[:, 0] - z), atol=1e-13)
        np.testing.assert_allclose(fp[:, 0], u[:, 0] - z, atol=1e-13)
        step = 1e-6 * np.eye(2)
        for j, d in enumerate(step):
            ends = [kernel.residual(u + s * d, parameters=values)[0] for s in (1, -1)]
            np.testing.assert_allclose(K[:, :, j], (ends[0] - ends[1]) / 2e-6, atol=1e-8)
        found.append((f, K, fp))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-15)


def test_equations_that_begin_with_next_to_nothing_follow_others() -> None:
    """Q = b + p^2 + ...: where b is tiny p^2 is far larger; and where squares underflow."""
    own = (Local(p, equation=p - a), Local(q, equation=q - b - p**2 - p * sp.sin(q)))
    law = PointLaw("coupled", (a, b), energy=((a - p) ** 2 + (b - q) ** 2) / 2, local=own)
    kernel = compile_points("coupled", law)
    random = np.random.default_rng(0)
    u = 10.0 ** random.uniform([-320, -320], [-1, -1], (2000, 2))
    u[::2, 1] = u[::2, 0] ** 2 * 10.0 ** random.uniform(-20, 0, 1000)
    _, K, bad = kernel.tangent(u)
    assert bad == 0
    assert np.isfinite(K).all()


def test_where_there_is_no_solution_the_point_is_bad() -> None:
    root_of_a = Local(p, start=sp.S.One, equation=p**2 + a)
    law = PointLaw("none", (a, b), energy=a * p + b**2, local=(root_of_a,))
    u = np.array([[-1.0, 0.0], [1.0, 0.0], [-4.0, 1.0], [2.0, 0.0]])
    kernel = compile_points("no_solution", law)
    f, bad = kernel.residual(u)
    assert bad == 2
    np.testing.assert_allclose(f[[0, 2], 0], [1.0, 2.0], rtol=3e-16)


def test_what_cannot_be_determined_is_told() -> None:
    for law, asked, given in (
        (PointLaw("free", (a, b), energy=a**2 + b**2, local=(Local(p),)), "p", "energy"),
        (PointLaw("begins", (a, b), energy=(p - a) ** 2, local=(Local(p, a),)), "start", "a"),
        (PointLaw("forces", (a, b), work={a: p}, local=(Local(p),)), "equation", "p"),
    ):
        with refused(CodegenError, asked=asked, given=given):
            compile_points("told", law)


# ---- of a cell ----------------------------------------------------------------------------------
def cells(count: int, scale: float = 1.0) -> tuple[Array, Array, Array]:
    """Return reference, displacements and a direction of distorted cubes."""
    random = np.random.default_rng(3)
    cube = np.array(hex8_plain.topology.vertices, dtype=float)
    noise = random.normal(size=(3, count, 8, 3))
    return scale * (cube + 0.1 * noise[0]), scale * 0.1 * noise[1], scale * noise[2]


@pytest.mark.parametrize(
    "rules", [None, {"volumetric": "2x2x2", "deviatoric": "3x3x3", "bulk": "1x1x1"}]
)
def test_a_pressure_per_cell_is_eliminated_as_by_hand(rules: dict[str, str] | None) -> None:
    """At one set of points, and at two; against a kernel of displacements and pressure."""
    laws = energy_laws(hex8_plain, mixed, quadrature=rules, volumetric=None if rules else "full")
    kernel = compile_cells("mixed", hex8_plain.space, [of_cell(pair) for pair in laws], FAST)
    space = hex8_plain.space.with_scalars(1)
    outer = compile_cells("mixed_outer", space, [in_space(x) for x in laws], FAST)
    values = {"mu": 1.3, "k": 70.0}
    reference, u, v = cells(11)
    x, X = np.zeros((2, 11, 9, 3))
    x[:, :8], X[:, :8] = u, reference
    for _ in range(3):
        F, H, _ = outer.tangent(x, X, values)
        x[:, 8, 0] -= F[:, 24 // 3, 0] / H[:, 24, 24]
    F, H, _ = outer.tangent(x, X, values)
    W, _ = outer.energy(x, X, values)
    S = H[:, :24, :24] - H[:, :24, 24:25] * H[:, 24:25, :24] / H[:, 24:25, 24:25]
    energy, _ = kernel.energy(u, reference, values)
    f, _ = kernel.residual(u, reference, values)
    same, K, bad = kernel.tangent(u, reference, values)
    Kv, _ = kernel.product(u, v, reference, values)
    assert bad == 0
    assert kernel.symmetric
    assert kernel.rows == 24
    size = np.abs(S).max()
    np.testing.assert_allclose(energy, W, rtol=1e-13)
    np.testing.assert_allclose(f, F[:, :8], atol=1e-14 * size)
    np.testing.assert_allclose(same, f, atol=1e-14 * size)
    np.testing.assert_allclose(K, S, atol=1e-13 * size)
    product = np.einsum("cij,cj->ci", S, v.reshape(11, 24)).reshape(v.shape)
    np.testing.assert_allclose(Kv, product, atol=1e-13 * size)


def test_a_pressure_per_cell_knows_no_units_and_follows_parameters() -> None:
    laws = [of_cell(pair) for pair in energy_laws(hex8_plain, mixed, volumetric="full")]
    kernel = compile_cells("mixed", hex8_plain.space, laws, FAST)
    more = compile_cells("mixed_by_k", hex8_plain.space, laws, FAST, ("parameter",))
    (reference, u, _), small = cells(8), cells(8, 1e-3)
    values = {"mu": 1.3, "k": 70.0}
    f, K, _ = kernel.tangent(u, reference, values)
    pascal = {name: 1e6 * value for name, value in values.items()}
    g, L, bad = kernel.tangent(small[1], small[0], pascal)
    assert bad == 0
    np.testing.assert_allclose(g, f, atol=1e-14 * np.abs(f).max())  # MPa mm^2, and Pa m^2: N
    np.testing.assert_allclose(L / 1e3, K, atol=1e-14 * np.abs(K).max())
    fp, _ = more.parameter(u, {"k": 1.0}, reference, values)
    ends = [kernel.residual(u, reference, {**values, "k": 70.0 + s})[0] for s in (1e-3, -1e-3)]
    np.testing.assert_allclose(fp, (ends[0] - ends[1]) / 2e-3, atol=1e-9)

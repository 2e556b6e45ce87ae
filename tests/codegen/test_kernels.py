# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on cells against independent NumPy energies, by complex step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import (
    CompileError,
    Kernel,
    Options,
    Parameter,
    PointLaw,
    Rule,
    compile_cells,
)
from symancf_codegen.declare import reference, unknown
from symancf_codegen.derive import candidates
from symancf_codegen.functions import rate
from symancf_codegen.graph.differentiate import staged
from symancf_codegen.lower.point import lower_point
from tests.codegen import energies, laws
from tests.refusals import refused

P = {
    "C10": 0.27, "C20": 0.03, "C30": -0.004, "k": 50.0, "thickness": 0.3, "mu": 1.1, "lam": 3.0,
    "EA": 3.0, "EI": 0.2, "D": 3.0, "B": 0.7, "nu": 0.3, "p": 0.8, "g1": 0.1, "g2": 0.2, "g3": -1.0,
}  # fmt: skip
HALF = P["thickness"] / 2


@dataclass
class Case:
    """A kernel and the energy that it must have: energy(reference, u) of one cell."""

    name: str
    space: Callable
    pairs: Callable
    energy: Callable
    symmetric: bool = True

    def compile(self, options: Options | None = None) -> Kernel:
        return compile_cells(self.name, self.space(), self.pairs(), options or Options())


def solid(name, space, pairs, densities):
    def energy(x, u):
        return energies.solid_energy(space(), pairs(), [d(P) for d in densities], x, u, HALF)

    return Case(name, space, pairs, energy)


def simple(name, space, law, rule, energy):
    def pairs():
        return [(law(), rule)]

    return Case(name, space, pairs, lambda x, u: energy(space(), pairs(), P, x, u))


YEOH = (energies.deviatoric_density, energies.volumetric_density)
LINE = Rule("5", *laws.gauss(5, 1, unit=True))
SQUARE = Rule("4x4", *laws.gauss(4, 2, unit=True))


def neo_hooke_pairs():
    law = laws.solid("neo_hooke", laws.HEX, laws.neo_hooke, parameters=sp.symbols("mu lam"))
    return [(law, laws.hex_rule(2))]


CASES = [
    solid("hex8_yeoh", laws.hex8_plain, laws.hex_yeoh, YEOH),
    solid("hex8_yeoh_full", laws.hex8_plain, lambda: laws.hex_yeoh(2, 2), YEOH),
    solid("hex8_neo_hooke", laws.hex8_plain, neo_hooke_pairs, (energies.neo_hooke_density,)),
    solid("plate_yeoh", laws.plate, laws.plate_yeoh, YEOH),
    solid("plate_yeoh_two_rules", laws.plate, lambda: laws.plate_yeoh(3, 2, 2), YEOH),
    simple("thin_plate", laws.thin_plate, laws.kirchhoff, SQUARE, energies.kirchhoff_energy),
    simple("cable", laws.cable, laws.cable_law, LINE, energies.cable_energy),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda c: c.name)
def case(request):
    return request.param, request.param.compile()


def gradient(energy, x, u):
    """Return dW/du by complex step, all coordinates at once."""
    steps = 1e-30j * np.eye(u.size).reshape(u.size, *u.shape)
    return np.imag(energy(x, u + steps)).reshape(u.shape) / 1e-30


def relative(a, b):
    return np.max(np.abs(np.asarray(a) - b)) / np.max(np.abs(b))


CELLS = 11  # a full batch and a short one


def test_energy_and_residual(case):
    declared, kernel = case
    x, u = laws.states(declared.space(), CELLS)
    w, bad = kernel.energy(u, x, P)
    assert bad == 0
    f, bad = kernel.residual(u, x, P)
    assert bad == 0
    with_tangent, _, bad = kernel.tangent(u, x, P)
    assert bad == 0
    assert relative(with_tangent, f) < 1e-13
    for cell in (0, 7, CELLS - 1):
        assert w[cell] == pytest.approx(declared.energy(x[cell], u[cell]), rel=1e-12)
        assert relative(f[cell], gradient(declared.energy, x[cell], u[cell])) < 1e-13


def test_tangent_is_the_derivative_of_the_residual(case):
    declared, kernel = case
    x, u = laws.states(declared.space(), CELLS)
    _, k, _ = kernel.tangent(u, x, P)
    direction = np.random.default_rng(1).uniform(-1, 1, u[0].shape)
    h = 1e-3

    def f(s):
        return gradient(declared.energy, x[9], u[9] + s * h * direction)

    expected = (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h)
    assert relative(k[9] @ direction.ravel(), expected.ravel()) < 1e-8
    assert kernel.symmetric
    assert relative(k.transpose(0, 2, 1), k) < 1e-13


def test_product_is_tangent_times_vector(case):
    declared, kernel = case
    x, u = laws.states(declared.space(), CELLS)
    v = np.random.default_rng(2).normal(size=u.shape)
    _, k, _ = kernel.tangent(u, x, P)
    kv, bad = kernel.product(u, v, x, P)
    assert bad == 0
    assert relative(kv.reshape(CELLS, -1), np.einsum("cij,cj->ci", k, v.reshape(CELLS, -1))) < 1e-13


def test_reference_state_is_free_of_stress(case):
    declared, kernel = case
    x, u = laws.states(declared.space(), 3)
    w, _ = kernel.energy(0 * u, x, P)
    f, _ = kernel.residual(0 * u, x, P)
    scale = np.max(np.abs(kernel.residual(u, x, P)[0]))
    assert np.all(np.abs(w) < 1e-30 * scale)
    assert np.max(np.abs(f)) < 1e-14 * scale


def test_strategies_agree(case):
    """Every way to the Hessian gives the same numbers."""
    declared, _ = case
    rng = np.random.default_rng(3)
    for law, rule in declared.pairs():
        section = dict.fromkeys(rule.section_symbols, 0.3)
        point = lower_point(law, declared.space(), section, weighted=True)
        graph = point.graph
        found = candidates(point, [], staged(graph, point.stages, point.variables))
        assert len(found) == 4
        space = declared.space()
        jets = np.einsum("ji,ia->ja", laws.tabulated(space, rule.points)[0], laws.shape(space))
        names = [f"R_{jet}{a}" for jet in space.table_jets for a in (1, 2, 3)]
        at = {name: rng.uniform(0.01, 0.05) for name in graph.name.values()}
        at.update(zip(names, jets.ravel() + rng.uniform(-0.05, 0.05, jets.size), strict=True))
        at.update(P)
        values = []
        for _, first, matrix in found:
            keys = sorted({key for *_, m in found for key in m})
            nodes = [*first, *(matrix.get(key, graph.zero) for key in keys)]
            values.append(np.array(graph.evaluate(graph.substitute(nodes, point.replace), at)))
        for other in values[1:]:
            assert relative(other, values[0]) < 1e-12


def test_bad_points_are_counted_once_per_cell_that_exists():
    case = CASES[0]
    kernel = case.compile()
    space = case.space()
    x, u = laws.states(space, 9)
    u[8] = -2.0 * x[8]  # turned inside out: J < 0 at all 8 + 1 points, and no finite result
    expected = 8 + 1
    for mode in ("energy", "residual"):
        assert getattr(kernel, mode)(u, x, P)[1] in (expected, expected + 1)
    f, bad = kernel.residual(u, x, P)
    assert bad == expected + 1
    assert np.all(np.isfinite(f[:8]))
    assert not np.all(np.isfinite(f[8]))
    u[8] = np.nan
    assert kernel.residual(u, x, P)[1] == expected + 1
    assert kernel.tangent(u, x, P)[2] > expected
    assert kernel.product(u, np.ones_like(u), x, P)[1] == expected + 1


def test_nan_in_a_parameter_is_bad():
    kernel = CASES[0].compile()
    x, u = laws.states(laws.hex8_plain(), 3)
    assert kernel.residual(u, x, {**P, "C10": np.nan})[1] == 3


def pressure_residual(x, u, p):
    space = laws.plate()
    names = list(space.table_jets)
    table = laws.tabulated(space, SQUARE.points)
    r = np.einsum("qji,ia->qja", table, x + u)
    normal = np.cross(r[:, names.index("m_xi")], r[:, names.index("m_eta")])
    force = -p * SQUARE.weights[:, None] * normal
    return np.einsum("qi,qa->ia", table[:, names.index("m")], force)


MID = laws.plate_rule(4, 1)


def test_virtual_work_has_an_unsymmetric_tangent():
    space = laws.plate()
    rule = Rule("4x4", MID.points, MID.weights, ("zeta",), np.zeros((1, 1)), np.ones(1))
    kernel = compile_cells("pressure", space, [(laws.pressure(), rule)])
    assert not kernel.symmetric
    assert kernel.cell == ("p",)
    x, u = laws.states(space, CELLS)
    p = np.linspace(0.5, 1.5, CELLS)
    parameters = {**P, "p": p}
    f, k, bad = kernel.tangent(u, x, parameters)
    assert bad == 0
    assert np.all(kernel.energy(u, x, parameters)[0] == 0.0)
    cell = 9
    assert relative(f[cell], pressure_residual(x[cell], u[cell], p[cell])) < 1e-13
    expected = np.empty((48, 48))
    for j in range(48):
        shifted = u[cell].astype(complex)
        shifted.flat[j] += 1e-30j
        column = pressure_residual(x[cell], shifted, p[cell]).imag / 1e-30
        expected[:, j] = column.ravel()
    assert relative(k[cell], expected) < 1e-13
    assert relative(k[cell].T, expected) > 0.1
    v = np.random.default_rng(2).normal(size=u.shape)
    kv, _ = kernel.product(u, v, x, parameters)
    assert relative(kv.reshape(CELLS, -1), np.einsum("cij,cj->ci", k, v.reshape(CELLS, -1))) < 1e-13


def test_energy_and_work_in_one_kernel():
    space = laws.plate()
    rule = Rule("4x4", MID.points, MID.weights, ("zeta",), np.zeros((1, 1)), np.ones(1))
    both = compile_cells("both", space, [*laws.plate_yeoh(4, 1), (laws.pressure(), rule)])
    energy = compile_cells("alone", space, laws.plate_yeoh(4, 1))
    work = compile_cells("pressure", space, [(laws.pressure(), rule)])
    x, u = laws.states(space, 9)
    f, k, _ = both.tangent(u, x, P)
    parts = [kernel.tangent(u, x, P) for kernel in (energy, work)]
    assert not both.symmetric
    assert relative(f, parts[0][0] + parts[1][0]) < 1e-13
    assert relative(k, parts[0][1] + parts[1][1]) < 1e-13


def test_a_linear_law_has_no_tangent():
    space = laws.plate()
    kernel = compile_cells("weight", space, [(laws.weight(), laws.plate_rule(3, 2))])
    assert not kernel.has_tangent
    assert not kernel.has_tangent
    x, u = laws.states(space, 3)
    f, k, bad = kernel.tangent(u, x, P)
    assert bad == 0
    assert not np.any(k)
    assert not np.any(kernel.product(u, u, x, P)[0])
    w, _ = kernel.energy(u, x, P)
    assert np.sum(f * u, axis=(1, 2)) == pytest.approx(w, rel=1e-13)
    total = f.reshape(3, 4, 4, 3)[:, :, 0].sum(axis=1)  # of the position functions
    assert total == pytest.approx(np.tile([-0.1, -0.2, 1.0], (3, 1)) * 2.0, rel=1e-13)


def test_functions_without_a_jet_get_zeros():
    """A law of the mid-surface alone does not touch directors; their rows are written."""
    space = laws.plate()
    jets = ("xi",)
    u = laws.unknown("xi")
    law = PointLaw(
        name="stretch",
        unknowns=u,
        jets=jets,
        geometry=((sp.Symbol("z"), sp.Symbol("zeta") * laws.thickness / 2),),
        energy=sum(a**4 for a in u) / 4,
        parameters=(Parameter(laws.thickness),),
    )
    kernel = compile_cells("stretch", space, [(law, laws.plate_rule(2, 1))])
    x, displacement = laws.states(space, 5)
    f, k, bad = kernel.tangent(displacement, x, P)
    assert bad == 0
    assert not np.any(f[:, 3::4])
    directors = np.arange(48).reshape(16, 3)[3::4].ravel()
    assert not np.any(k[:, directors])
    assert np.any(k)


def test_operations_are_counted():
    """One jet of eight functions, at one and at eight points."""
    u = laws.unknown("xi")
    law = PointLaw("quartic", u, ("xi",), energy=u[0] ** 4)
    for points in (1, 8):
        kernel = compile_cells(
            "quartic", laws.hex8_plain(), [(law, laws.hex_rule(round(points ** (1 / 3))))]
        )
        at_point = {m: sum(n.values()) for m, n in kernel.operations["quartic"].items()}
        jets = 8 * 3 * 2
        assert kernel.flops["energy"] == points * (jets + at_point["energy"])
        assert kernel.flops["residual"] == points * (2 * jets + at_point["residual"])
        assert kernel.flops["product"] == points * (3 * jets + at_point["product"])
        contraction = 8 * 1 + 36 * 18  # T has one entry; a block is nine multiply-adds
        assert kernel.flops["tangent"] == points * (2 * jets + at_point["tangent"] + contraction)


def test_options_without_avx512_give_the_same_numbers():
    flags = ("-O1", "-march=x86-64-v3", "-ffp-contract=fast", "-fopenmp-simd")
    for case in (CASES[0], CASES[3]):
        kernel = case.compile()
        narrow = case.compile(Options(flags=flags))
        assert kernel.path != narrow.path
        x, u = laws.states(case.space(), CELLS)
        f, k, _ = kernel.tangent(u, x, P)
        g, m, bad = narrow.tangent(u, x, P)
        assert bad == 0
        assert relative(g, f) < 1e-13
        assert relative(m, k) < 1e-13


@pytest.mark.parametrize(
    ("law", "data"),
    [
        (
            PointLaw("a", laws.unknown("nowhere"), ("nowhere",), energy=laws.k),
            {"asked": "jets", "given": ("nowhere",), "possible": ("xi", "eta", "zeta")},
        ),
        (
            PointLaw("a", laws.unknown("xi"), ("eta",), energy=laws.k),
            {
                "asked": "unknowns",
                "given": ("u_xi1", "u_xi2", "u_xi3"),
                "possible": ("u_eta1", "u_eta2", "u_eta3"),
            },
        ),
        (
            PointLaw("a", laws.unknown("xi"), ("xi",), energy=sp.Symbol("oops")),
            {"asked": "oops", "given": None, "possible": lambda known: "u_xi1" in known},
        ),
        (
            PointLaw("a", laws.unknown("xi"), ("xi",), energy=sp.gamma(laws.unknown("xi")[0])),
            {"asked": "gamma", "given": "gamma(u_xi1)"},
        ),
        (
            PointLaw(
                "a",
                laws.unknown("xi"),
                ("xi",),
                lets=((laws.k, laws.C10), (laws.C10, laws.k)),
                energy=laws.k,
            ),
            {"asked": "k", "given": ("k", "C10", "k")},
        ),
    ],
)
def test_impossible_laws_are_explained(law, data):
    with refused(CompileError, **data):
        compile_cells("a", laws.hex8_plain(), [(law, laws.hex_rule(1))], Options(stabilise=False))


def test_parameter_of_two_classes_is_explained():
    first, second = laws.hex_yeoh()
    other = laws.solid("other", laws.HEX, laws.volumetric)
    clash = PointLaw(
        **{**other.__dict__, "parameters": (Parameter(laws.k, "cell"),)},
    )
    with refused(CompileError, asked="k", given="cell", possible=("uniform",)):
        compile_cells("a", laws.hex8_plain(), [first, second, (clash, laws.hex_rule(1))])


def test_a_law_that_knows_rates():
    """A dashpot along a cable, f = eta l l_rate, l = r_x . r_x/2: total derivatives by u."""
    u, R = unknown("xi"), reference("xi")
    c, eta, length = sp.symbols("rate_factor eta l")
    square = sum((a + b) ** 2 for a, b in zip(R, u, strict=True)) / 2
    law = PointLaw(
        name="dashpot",
        unknowns=u,
        jets=("xi",),
        lets=((length, square),),
        work={length: eta * rate(length)},
        parameters=(Parameter(c), Parameter(eta)),
        rates=True,
    )
    kernel = compile_cells("dashpot_cable", laws.cable(), [(law, LINE)])
    assert kernel.rates
    x, q = laws.states(laws.cable(), 3)
    rates = np.random.default_rng(4).uniform(-1.0, 1.0, q.shape)
    table = laws.cable().tabulate(("xi",), LINE.points)[:, 0]

    def force(q, rates):
        a = np.einsum("pi,nia->npa", table, x + q)
        speed = np.einsum("npa,npa->np", a, np.einsum("pi,nia->npa", table, rates))
        return 0.7 * np.einsum("p,np,npa,pi->nia", LINE.weights, speed, a, table)

    factor, h = 40.0, 1e-30
    values = {"rate_factor": factor, "eta": 0.7}
    both = np.concatenate([x, rates - factor * q], axis=1)
    f, K, bad = kernel.tangent(q, both, values)
    assert bad == 0
    known = force(q, rates).reshape(f.shape)
    np.testing.assert_allclose(f, known, rtol=1e-12, atol=1e-13 * np.abs(known).max())
    direction = np.random.default_rng(5).uniform(-1.0, 1.0, q.shape)
    Kd = force(q + 1j * h * direction, rates + 1j * h * factor * direction).imag / h
    found = np.einsum("nij,nj->ni", K.reshape(3, kernel.rows, -1), direction.reshape(3, -1))
    np.testing.assert_allclose(found, Kd.reshape(3, -1), rtol=1e-11, atol=1e-12 * np.abs(Kd).max())
    product, _ = kernel.product(q, direction, both, values)
    np.testing.assert_allclose(product.reshape(3, -1), found, rtol=1e-12, atol=1e-12 * found.max())


def test_a_force_on_a_quantity_of_a_cell():
    """F = eta (l - l0) on l = |r_x|, whose cancellation is removed before it is pulled back."""
    u, R = unknown("xi"), reference("xi")
    eta, length, rest = sp.symbols("eta l l0", positive=True)
    law = PointLaw(
        name="tension",
        unknowns=u,
        jets=("xi",),
        geometry=((rest, sp.sqrt(sum(a**2 for a in R))),),
        lets=((length, sp.sqrt(sum((a + b) ** 2 for a, b in zip(R, u, strict=True)))),),
        work={length: eta * (length - rest)},
        parameters=(Parameter(eta),),
    )
    kernel = compile_cells("tension_cable", laws.cable(), [(law, LINE)])
    x, q = laws.states(laws.cable(), 3)
    table = laws.cable().tabulate(("xi",), LINE.points)[:, 0]
    start, r = (np.einsum("pi,nia->npa", table, a) for a in (x, x + q))
    now = np.linalg.norm(r, axis=2)
    pull = 0.7 * (now - np.linalg.norm(start, axis=2)) / now
    known = np.einsum("p,np,npa,pi->nia", LINE.weights, pull, r, table)
    f, bad = kernel.residual(q, x, {"eta": 0.7})
    assert bad == 0
    np.testing.assert_allclose(f.reshape(known.shape), known, rtol=1e-12, atol=1e-13)

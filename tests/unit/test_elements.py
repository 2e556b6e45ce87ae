# SPDX-License-Identifier: BSD-3-Clause
"""Shape functions: what was asked of them, closed forms, what they reproduce; Gauss rules."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sympy as sp

from symancf import elements
from symancf.cells.quadrature import counts_for

if TYPE_CHECKING:
    from symancf.elements import Cell, Element

ALL = [
    elements.hex8_plain,
    elements.ancf_plate,
    elements.ancf_thin_plate,
    elements.ancf_cable,
    elements.quad4,
]
x, y = sp.symbols("xi eta", real=True)


@pytest.mark.parametrize("element", ALL, ids=lambda e: e.name)
def test_nodal_coordinates_are_interpolated(element: Element) -> None:
    """Coefficient k of vertex v is what its name says there: the matrix is the identity."""
    vertices = np.array(element.topology.vertices, dtype=float)
    jet = {"z": "zeta"}
    rows = []
    for v in range(element.vertices):
        for slope in ("value", *element.slopes):
            spread = element.space.point_jets[jet.get(slope, slope)]
            tables = tuple(t for t, factor in spread.items() if factor == 1)
            rows.append(element.space.tabulate(tables, vertices[v : v + 1]).sum(axis=1)[0])
    np.testing.assert_allclose(np.array(rows), np.eye(element.size), atol=1e-14)


def test_thin_plate_functions_are_those_of_the_literature() -> None:
    """Dufva and Shabana (2005), order of nodes (0,0), (1,0), (1,1), (0,1), for a = b = 1."""
    expected = [
        -(x - 1) * (y - 1) * (2 * x**2 - x + 2 * y**2 - y - 1),
        -x * (x - 1) ** 2 * (y - 1),
        -y * (y - 1) ** 2 * (x - 1),
        x * (y - 1) * (2 * x**2 - 3 * x + 2 * y**2 - y),
        -(x**2) * (x - 1) * (y - 1),
        x * y * (y - 1) ** 2,
        -x * y * (2 * x**2 - 3 * x + 2 * y**2 - 3 * y + 1),
        x**2 * y * (x - 1),
        x * y**2 * (y - 1),
        y * (x - 1) * (2 * x**2 - x + 2 * y**2 - 3 * y),
        x * y * (x - 1) ** 2,
        -(y**2) * (y - 1) * (x - 1),
    ]
    for found, known in zip(elements.ancf_thin_plate.N, expected, strict=True):
        assert sp.expand(found - known) == 0


def test_cable_functions_are_the_cubic_hermite_polynomials() -> None:
    expected = [1 - 3 * x**2 + 2 * x**3, x - 2 * x**2 + x**3, 3 * x**2 - 2 * x**3, x**3 - x**2]
    for found, known in zip(elements.ancf_cable.N, expected, strict=True):
        assert sp.expand(found - known) == 0


def test_plate_director_is_bilinear() -> None:
    z = sp.Symbol("z", real=True)
    expected = [(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y]
    for found, known in zip(elements.ancf_plate.N[3::4], expected, strict=True):
        assert sp.expand(found - z * known) == 0


def test_hexahedron_functions_are_products() -> None:
    s = sp.symbols("xi eta zeta", real=True)
    for N, vertex in zip(elements.hex8_plain.N, elements.hex8_plain.topology.vertices, strict=True):
        known = sp.Mul(*((1 + v * t) for v, t in zip(vertex, s, strict=True))) / 8
        assert sp.expand(N - known) == 0


@pytest.mark.parametrize(
    ("element", "powers", "absent"),
    [
        (
            elements.ancf_thin_plate,
            [(i, k) for i in range(4) for k in range(4) if i + k < 4 or (i, k) in ((3, 1), (1, 3))],
            (2, 2),
        ),
        (elements.ancf_cable, [(0,), (1,), (2,), (3,)], (4,)),
    ],
    ids=["ancf_thin_plate", "ancf_cable"],
)
def test_monomials_are_reproduced(
    element: Element, powers: list[tuple[int, ...]], absent: tuple[int, ...]
) -> None:
    """Nodal values of a monomial give the monomial everywhere; x^2 y^2 is not in the set."""

    def error(power: tuple[int, ...]) -> float:
        symbols = element.space.coordinates
        monomial = sp.Mul(*(s**p for s, p in zip(symbols, power, strict=True)))
        nodal = []
        for vertex in element.topology.vertices:
            at = dict(zip(symbols, vertex, strict=True))
            by = {s.name: s for s in symbols}
            nodal.append(float(monomial.subs(at)))
            nodal += [float(sp.diff(monomial, by[slope]).subs(at)) for slope in element.slopes]
        points = np.random.default_rng(3).uniform(size=(7, len(symbols)))
        table = element.space.tabulate(("N",), points)[:, 0]
        exact = np.prod(points ** np.array(power), axis=1)
        return float(np.abs(table @ np.array(nodal) - exact).max())

    assert max(error(p) for p in powers) < 1e-14
    assert error(absent) > 1e-3


@pytest.mark.parametrize("element", ALL, ids=lambda e: e.name)
def test_tables_are_the_derivatives_of_the_printed_functions(element: Element) -> None:
    """NumPy tables, table expressions and N agree; N of a plate has z times the director."""
    space = element.space
    points = np.random.default_rng(1).uniform(-1, 1, (3, len(space.coordinates)))
    by = {s.name: s for s in (*space.coordinates, sp.Symbol("z", real=True))}
    steps = {"value": "", "xixi": "xi xi", "xieta": "xi eta", "etaeta": "eta eta"}
    if element.has_thickness:
        steps["zeta"] = "z"
    for jet, spread in space.point_jets.items():
        values = space.tabulate(tuple(spread), points)
        for j, table in enumerate(spread):
            exact = sp.lambdify(space.coordinates, sp.Matrix(space.table_jets[table]))
            for q, point in enumerate(points):
                np.testing.assert_allclose(values[q, j], exact(*point).ravel(), atol=1e-12)
        for i, N in enumerate(element.N):
            total = sum(space.table_jets[t][i] * f for t, f in spread.items())
            for name in steps.get(jet, jet).split():
                N = sp.diff(N, by[name])
            assert sp.expand(N - total) == 0


@pytest.mark.parametrize("element", ALL, ids=lambda e: e.name)
def test_a_lattice_of_sub_cells_fills_the_cell(element: Element) -> None:
    points, cells = element.sample(3)
    low, high = element.topology.domain
    d = element.topology.dimension
    assert len(points) == 4**d
    assert len(cells) == 3**d
    assert np.unique(cells).size == len(points)
    first = np.array(element.topology.vertices, dtype=float)
    step = (high - low) / 3
    np.testing.assert_allclose(points[cells[0]], low + (first - low) / 3, atol=1e-15)
    np.testing.assert_allclose(
        points[cells[1]] - points[cells[0]], [[step] + [0] * (d - 1)] * 2**d, atol=1e-15
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("element", ALL, ids=lambda e: e.name)
def test_gauss_rules_are_exact_to_their_degree(element: Element, n: int) -> None:
    d = element.topology.dimension
    rule = element.rule("x".join([str(n)] * (d + element.has_thickness)))
    low, high = element.topology.domain
    for power in {0, 1, 2 * n - 2, 2 * n - 1}:
        exact = (high ** (power + 1) - low ** (power + 1)) / (power + 1)
        found = rule.weights @ np.prod(rule.points**power, axis=1)
        assert found == pytest.approx(exact**d, rel=1e-13, abs=1e-14)
        if element.has_thickness:
            through = rule.section_weights @ rule.section_points[:, 0] ** power
            assert through == pytest.approx((1 + (-1) ** power) / (power + 1), rel=1e-13, abs=1e-14)
    assert rule.size == n ** (d + element.has_thickness)


def test_named_rules() -> None:
    plate, hexahedron = elements.ancf_plate, elements.hex8_plain
    middle = plate.rule("reduced")
    assert (middle.name, middle.size) == ("4x4", 16)
    assert middle.section_points.tolist() == [[0.0]]
    assert middle.section_weights.tolist() == [2.0]
    assert plate.rule("full").size == 48
    assert hexahedron.rule("centre").points.tolist() == [[0.0, 0.0, 0.0]]
    assert hexahedron.rule("centre").weights.tolist() == [8.0]
    top = elements.surface(plate.topology, (2, 2), 1.0)
    assert top.section_points.tolist() == [[1.0]]
    assert top.section_weights.tolist() == [1.0]


@pytest.mark.parametrize("name", ["4", "4x4x3x2", "0x4", "four", "4*4", ""])
def test_a_rule_that_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"rule"):
        elements.ancf_plate.rule(name)


def test_quantities_are_listed() -> None:
    solid = ("F", "J", "I1", "I2", "C", "E_gl", "H")
    solid += ("lambda1", "lambda2", "lambda3", "stretch_axes", "u", "r", "X", "t")
    assert elements.hex8_plain.quantities == solid
    assert elements.ancf_plate.quantities == solid
    assert elements.ancf_thin_plate.quantities[:3] == ("E_gl", "kappa", "kappa_n3")
    assert elements.ancf_cable.quantities[0] == "epsilon"


def _monomials(degree: int, cell: Cell) -> list[tuple[int, ...]]:
    """Return the powers that a rule of a degree is exact for: of each line, and in total else."""
    powers = product(range(degree + 1), repeat=cell.dimension)
    parts = np.cumsum([0, *cell.factors])
    return [p for p in powers if all(sum(p[a:b]) <= degree for a, b in pairwise(parts))]


def _integral(powers: tuple[int, ...], cell: Cell) -> float:
    """Integrate a monomial over the reference cell of side 1 (Dirichlet's formula)."""
    total, rest = 1.0, list(powers)
    for d in cell.factors:
        own, rest = rest[:d], rest[d:]
        total *= math.prod(map(math.factorial, own)) / math.factorial(sum(own) + d)
    return total


SHAPES = [cell for cell in elements.CELLS.values() if cell.dimension]


@pytest.mark.parametrize("cell", SHAPES, ids=lambda c: c.name)
def test_a_row_of_the_table_is_one_cell(cell: Cell) -> None:
    """Functions, edges, faces and rules of each row fit together, and VTK's numbers differ."""
    value, slope = cell.evaluate(cell.unit)
    np.testing.assert_allclose(value, np.eye(len(cell.nodes)), atol=1e-14)
    np.testing.assert_allclose(
        np.einsum("kvd,va->kad", slope, cell.unit),
        np.broadcast_to(np.eye(cell.dimension), (len(value), *[cell.dimension] * 2)),
        atol=1e-13,
    )
    assert len({c.vtk for c in SHAPES}) == len(SHAPES)
    for trace, nodes in (*cell.whole_edges, *cell.whole_faces):  # sides are of their own type
        within, _ = trace.evaluate(trace.centre[None])
        corners = cell.unit[list(nodes[: trace.corners])]
        np.testing.assert_allclose(within[0] @ cell.unit[list(nodes)], corners.mean(axis=0))
    if cell.dimension == 3:
        used = sorted(v for face in cell.faces for v in face)
        assert used == sorted([*range(cell.corners)] * 3)  # of three faces each
        for face in cell.faces:
            a, b, c = cell.unit[list(face)][:3]
            out = cell.unit[list(face)].mean(axis=0) - cell.centre
            assert np.cross(b - a, c - b) @ out > 0
    for degree in range(6):
        rule = elements.gauss(cell, counts_for(cell, degree))
        low, high = cell.domain
        unit, weights = (
            (rule.points - low) / (high - low),
            rule.weights / (high - low) ** cell.dimension,
        )
        assert (weights > 0).all()
        np.testing.assert_allclose(cell.clamped(unit), unit, atol=0)  # all are inside
        for powers in _monomials(degree, cell):
            found = weights @ np.prod(unit**powers, axis=1)
            assert found == pytest.approx(_integral(powers, cell), rel=1e-13)


def test_beyond_the_last_rule_of_a_simplex_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no rule of degree 6 on a tetra10, but 5"):
        counts_for(elements.CELLS["tetra10"], 6)
    with pytest.raises(ValueError, match=r"rules of 1, 4, 8, 14 points"):
        elements.gauss(elements.CELLS["tetra10"], (5,))


@pytest.mark.parametrize("wrong", ["zeta", "2*xi", "xi^-1", "xi+eta"])
def test_what_is_no_monomial_is_named(wrong: str) -> None:
    field = elements.Field(f"1 xi eta*xi**2 {wrong}", nodal=("",))
    with pytest.raises(ValueError, match="is no product of powers of xi, eta"):
        field.solve(("xi", "eta"), [(Fraction(0), Fraction(0))] * 4)

# SPDX-License-Identifier: BSD-3-Clause
"""Lengths of edges and lines that are kept: both forms, their tensions, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import kirchhoff
from symancf.places.lines import EdgePoints
from tests.lines import FULL, STEEL, THIN, block, hoop, of_groups, random, rope, strip, violation
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]


def stretch(
    system: sa.System, body: sa.Body, u: Callable[..., Any], du: Callable[..., Any]
) -> None:
    """Give a straight cable the displacements u(x) along x with their derivative."""
    on = system._discrete.binding(body).interpolation
    vertices = np.flatnonzero(system._discrete.numbering.offset[:, on.slope_block] >= 0)
    x = system._discrete.points[vertices, 0]
    system.state[on.offset(vertices, "value")] = u(x)
    system.state[on.offset(vertices, "slope0")] = du(x)


@pytest.mark.collective(rows=0)
def test_the_squared_form_differs_by_the_variance_of_the_stretch() -> None:
    """With the stretch s = 1 + eps sin(2 pi x/a) of (31) is 0, that of (32) a eps^2/2."""
    body, eps = rope(64), 0.1
    arc = sa.length(body["body"], per="line", name="arc")
    squared = sa.length(body["body"], "squared", per="line", name="squared")
    system = sa.System(body, terms=[sa.fix(body["x0"]), arc, squared])
    w = 2 * np.pi
    stretch(system, body, lambda x: eps * (1 - np.cos(w * x)) / w, lambda x: eps * np.sin(w * x))
    assert violation(arc, system)[0] == pytest.approx(0.0, abs=1e-12)
    assert violation(squared, system)[0] == pytest.approx(eps**2 / 2, rel=1e-6)


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("form", ["arc", "squared"])
@pytest.mark.parametrize("per", ["edge", "line"])
@pytest.mark.parametrize("element", [THIN, FULL])
def test_gradient_and_tangent(element: Any, form: Any, per: Any) -> None:
    body = strip(element)
    term = sa.length(body["both"], form, per=per)
    system = sa.System(body, terms=[sa.fix(body["ends"]), term])
    assert len(violation(term, system)) == (10 if per == "edge" else 2)
    np.testing.assert_allclose(violation(term, system), 0.0, atol=1e-15)
    system._discrete.stiffness = 1e3
    system._discrete.assembler.update(0.0)
    result = sa.check(system, amplitude=1e-2)
    assert result.passed, result
    assert result.symmetry < 1e-12
    at, v = random(system, 1, 0.05), random(system, 2)
    Kv = np.zeros_like(v)
    system._discrete.assembler.product(at, v, Kv)
    h = 1e-6
    change = (violation(term, system, at + h * v) - violation(term, system, at - h * v)) / (2 * h)
    np.testing.assert_allclose(
        of_groups(term, system, Kv) / system._discrete.stiffness, change, rtol=1e-7
    )


def test_edges_are_those_of_the_cells() -> None:
    """Lengths along an arc, against the sense of the cells, across, of bricks and of cables."""
    body = strip(n=12)
    terms = [sa.length(body[name], per="line") for name in ("rim", "both", "across")]
    system = sa.System(body, terms=[sa.fix(body["ends"], "position"), terms[2]])
    np.testing.assert_allclose(terms[2].lengths(system), [0.5], rtol=1e-14)
    body = strip(n=12)
    term = sa.length(body["both"], per="line")
    system = sa.System(body, terms=[sa.fix(body["ends"]), term])
    np.testing.assert_allclose(term.lengths(system), [1.5, 1.5], rtol=1e-5)
    # the cell's own edge, by the positions that the element interpolates
    t = np.linspace(0.0, 1.5 / 12, 2001)
    points = body.at(np.stack([np.cos(t), np.sin(t), 0 * t], axis=1))
    each = sa.length(body["rim"])
    system = sa.System(body, terms=[sa.fix(body["ends"]), each])
    system.state[:] = random(system, 4, 0.02)
    x = system.position(points)
    chords = np.linalg.norm(np.diff(x, axis=0), axis=1).sum()
    assert each.lengths(system)[0] == pytest.approx(chords, rel=1e-6)
    assert abs(each.lengths(system)[0] - each.reference_lengths(system)[0]) > 1e-4
    bricks = block()
    term = sa.length(bricks["edge"], per="edge")
    system = sa.System(bricks, terms=[sa.fix(bricks["root"]), term])
    np.testing.assert_allclose(term.lengths(system), [0.5, 0.5], rtol=1e-15)


@pytest.mark.collective(rows=0)
def test_tension_of_a_straight_line_under_uneven_load() -> None:
    """EA eps + tension = N(x), and the mean of eps vanishes: the tension is the mean of N."""
    body = rope(24, EA=50.0)
    pull = sa.traction(body["body"], lambda X, t: np.outer(8 + 20 * X[:, 0], (1, 0, 0)))
    terms = [sa.fix(body["body"], ["y", "z"]), sa.fix(body["x0"], "x"), pull]
    line = sa.length(body["body"], per="line")
    system = sa.System(body, terms=[*terms, line])
    sa.StaticProblem(system).solve()
    assert line.lengths(system)[0] == pytest.approx(1.0, abs=1e-12)
    assert line.multipliers(system).shape == (1, 1)
    mean = 8 / 2 + 20 / 3  # int x q dx
    assert line.multipliers(system)[0, 0] == pytest.approx(mean, rel=1e-9)
    assert terms[1].reaction(system).force[0] == pytest.approx(-18.0, rel=1e-9)
    x = np.linspace(0.0, 1.0, 5)
    u = (8 * (x - x**2 / 2) + 20 * (x / 2 - x**3 / 6) - mean * x) / 50.0
    points = body.at(np.stack([x, 0 * x, 0 * x], axis=1))
    np.testing.assert_allclose(system.displacement(points)[:, 0], u, atol=1e-7)
    reaction = line.reaction(system)  # inner forces: none on the whole
    np.testing.assert_allclose([reaction.force, reaction.moment], np.zeros((2, 3)), atol=1e-12)


@pytest.mark.collective(rows=0)
def test_the_squared_form_lets_a_line_shorten() -> None:
    body = rope(24, EA=50.0)
    pull = sa.traction(body["body"], lambda X, t: np.outer(20 * X[:, 0], (1, 0, 0)))
    terms = [sa.fix(body["body"], ["y", "z"]), sa.fix(body["x0"], "x"), pull]
    line = sa.length(body["body"], "squared", per="line")
    system = sa.System(body, terms=[*terms, line])
    sa.StaticProblem(system).solve()
    x = (np.arange(4000) + 0.5) / 4000
    points = body.at(np.stack([x, 0 * x, 0 * x], axis=1))
    s = system.gradient(points)[:, 0, 0]
    m, v = s.mean(), s.var()
    assert v > 1e-3
    assert m**2 + v == pytest.approx(1.0, abs=1e-7)
    found = line.lengths(system)[0]
    assert found == pytest.approx(np.sqrt(1 - v), rel=1e-7)
    assert found < 1.0 - 5e-4
    # the stress resultant: EA (s - 1) + 2 lambda s = N = 10 (1 - x^2)
    lam = line.multipliers(system)[0, 0]
    np.testing.assert_allclose(50.0 * (s - 1) + 2 * lam * s, 10 * (1 - x**2), atol=2e-2)


@pytest.mark.parametrize("form", ["arc", "squared"])
def test_a_ring_under_radial_load_keeps_its_length(form: Any) -> None:
    """The tension of the line alone carries the load: q R, as the ring does not stretch."""
    body = hoop(24)
    q = 40.0

    def outwards(X: Array, t: float) -> Array:
        return q * X / np.linalg.norm(X, axis=1, keepdims=True)

    line = sa.length(body["all"], form, per="line")
    guides = [sa.planar(body), sa.fix(body["node 0"], "y"), sa.fix(body["node 12"], "y")]
    guides.append(sa.fix(body["node 6"], "x"))
    system = sa.System(body, terms=[*guides, sa.traction(body["all"], outwards), line])
    sa.StaticProblem(system).solve()
    assert line.lengths(system)[0] == pytest.approx(line.reference_lengths(system)[0], abs=1e-12)
    assert line.reference_lengths(system)[0] == pytest.approx(2 * np.pi, rel=1e-5)
    tension = line.multipliers(system)[0, 0] * (2.0 if form == "squared" else 1.0)
    assert tension == pytest.approx(q, rel=1e-5)
    assert np.abs(system.displacement(body["all"])).max() < 1e-5
    free = sa.System(body, terms=[*guides, sa.traction(body["all"], outwards)])
    sa.StaticProblem(free).solve()
    assert np.abs(free.displacement(body["all"])).max() == pytest.approx(q / 1e3, rel=0.1)


def test_a_prescribed_stretch_follows_time_and_parameter() -> None:
    body = rope(6)
    guides = [sa.fix(body["x0"], "x"), sa.fix(body["body"], ["y", "z"])]
    factor = sa.Parameter("factor", 1.0)
    line = sa.length(body["body"], per="line", stretch=factor)
    system = sa.System(body, terms=[*guides, line])
    problem = sa.StaticProblem(system)
    factor.value = 1.2
    problem.solve()
    assert line.lengths(system)[0] == pytest.approx(1.2, abs=1e-12)
    # tension against that of the cable, which pulls back: its free end carries nothing
    assert line.multipliers(system)[0, 0] == pytest.approx(-100.0 * 0.2, rel=1e-6)
    body = rope(6)
    guides = [sa.fix(body["x0"], "x"), sa.fix(body["body"], ["y", "z"])]
    edges = sa.length(body["body"], stretch=lambda t: 1.0 - 0.1 * t)
    system = sa.System(body, terms=[*guides, edges])
    sa.StaticProblem(system).solve(to=2.0, step=1.0)
    np.testing.assert_allclose(edges.lengths(system), np.full(6, 0.8 / 6), atol=1e-14)


@pytest.mark.collective(rows=0)
def test_any_constraint_may_be_a_mean_over_a_line() -> None:
    """The mean displacement of an edge vanishes; its multiplier is the force that does it."""

    def mean(u_a: sp.Matrix, *, up: sp.Symbol) -> sp.Matrix:
        return u_a - sp.Matrix([0, 0, up])

    def tug(X: Array, t: float) -> Array:
        return np.stack([0 * X[:, 0], 0.2 * X[:, 1], 1 + 3 * X[:, 1]], axis=1)

    sheet = sa.Mesh.box((1.0, 1.0), (4, 3))
    body = sa.Body(sheet["body"], THIN, kirchhoff(), name="sheet", thickness=0.05, **STEEL)
    line = EdgePoints(body, sheet["x1"], "line")
    held = sa.Constraint(mean, line, up=0.1)
    root = sa.fix(body["x0"])
    system = sa.System(body, terms=[root, held, sa.traction(body["x1"], tug)])
    sa.StaticProblem(system).solve()
    y = (np.arange(2000) + 0.5) / 2000
    u = system.displacement(body.at(np.stack([0 * y + 1, y, 0 * y], axis=1)))
    np.testing.assert_allclose(u.mean(axis=0), [0, 0, 0.1], atol=1e-7)
    assert np.ptp(u[:, 2]) > 1e-3
    assert held.multipliers(system).shape == (1, 3)
    on_line = held.reaction(system)
    np.testing.assert_allclose(on_line.force, -held.multipliers(system)[0], rtol=1e-12)
    np.testing.assert_allclose(
        root.reaction(system).force + on_line.force, [0, -0.1, -2.5], atol=1e-8
    )
    assert on_line.points.shape == (15, 3)
    np.testing.assert_allclose(on_line.points[:, 2].mean(), 0.1, atol=0.05)


def test_equations_that_others_imply_are_left_out() -> None:
    body = strip()
    edges = sa.length(body["rim"], name="edges")
    line = sa.length(body["rim"], per="line", name="line")
    text = "1 equation of 'line'.*follows from those of 'edges'"
    first = body.region.mesh.comm.rank == 0
    with pytest.warns(UserWarning, match=text) if first else nullcontext():
        system = sa.System(body, terms=[sa.fix(body["ends"]), edges, line])
    sa.StaticProblem(system).solve()
    np.testing.assert_array_equal(line.multipliers(system), [[0.0]])
    body = strip()
    terms = [sa.length(body["rim"], per="line", stretch=s, name=f"to {s}") for s in (1.0, 1.1)]
    with refused(sa.ConstraintError, asked="contradiction", names=("to 1.0", "to 1.1")):
        sa.System(body, terms=[sa.fix(body["ends"]), *terms])


def test_lines_that_supports_hold() -> None:
    body = strip()
    line = sa.length(body["rim"], per="line")
    system = sa.System(body, terms=[sa.fix(body["rim"]), line])
    sa.StaticProblem(system).solve()
    np.testing.assert_array_equal(line.multipliers(system), [[0.0]])
    body = strip()
    longer = sa.length(body["rim"], per="line", stretch=1.2, name="longer")
    system = sa.System(body, terms=[sa.fix(body["rim"]), longer])
    with refused(
        sa.ConstraintError, asked="residual", given=pytest.approx(0.3, rel=1e-3), names=("longer",)
    ):
        sa.StaticProblem(system).solve()


@pytest.mark.collective(rows=0)
def test_bad_input() -> None:
    body = strip()
    with refused(sa.MeshError, asked="ends", given=("vertex",), possible=("line",)):
        sa.length(body["ends"])
    with refused(sa.ConstraintError, asked="region", given="(1, 0, 0) of 'strip'"):
        sa.length(body.at((1.0, 0.0, 0.0)))  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="form", given="cubic", possible=("arc", "squared")):
        sa.length(body["rim"], "cubic")  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="per", given="cell", possible=("edge", "line")):
        sa.length(body["rim"], per="cell")  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="stretch", given=-1):
        sa.length(body["rim"], stretch=-1)
    term = sa.length(body["crossed"], per="line")
    with refused(sa.MeshError, asked="edges at a point", given=4, possible=(1, 2)):
        sa.System(body, terms=[sa.fix(body["ends"]), term])
    bricks = block()
    term = sa.length(bricks["inside"])
    ends = pytest.approx(np.array([[0.0, 0.0, 0.0], [0.5, 0.4, 0.0]]))
    with refused(sa.MeshError, asked="edge", given=lambda found: np.array(found) == ends):
        sa.System(bricks, terms=[sa.fix(bricks["root"]), term])
    two = (
        EdgePoints(body, body["rim"].region, "line"),
        EdgePoints(body, body["both"].region, "line"),
    )

    def phi(r_a: sp.Matrix, r_b: sp.Matrix) -> sp.Expr:
        return r_a[0] - r_b[0]

    with refused(sa.ConstraintError, asked="ends", given=2, possible=(1,)):
        sa.Constraint(phi, *two)

    def along(rs_a: sp.Matrix) -> sp.Expr:
        return rs_a[0]

    with refused(sa.KinematicsError, asked="rs_a", given="nodes of 'ends' of 'strip'"):
        sa.Constraint(along, body["ends"])

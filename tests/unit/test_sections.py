# SPDX-License-Identifier: BSD-3-Clause
"""Own cross-sections of rods: torsion, shear, shear centres, and rods that have them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import rod
from symancf.extensions.section.outline import rings, triangulate
from symancf.verify.rods import growing, straight
from tests.refusals import refused

ROD = sa.elements.ancf_rod


def channel(b: float, h: float, t: float, turn: float = 0.0) -> sa.Section:
    """Return a channel of flanges b, web h (middle lines) and thickness t, turned."""
    s = t / 2
    outer = [(-s, -h / 2 - s), (b, -h / 2 - s), (b, -h / 2 + s), (s, -h / 2 + s)]
    points = np.array([*outer, *((y, -z) for y, z in outer[::-1])])
    c, n = math.cos(turn), math.sin(turn)
    return sa.Section.polygon(points @ np.array([[c, n], [-n, c]]), tolerance=1e-4)


def test_a_rectangle_by_triangles() -> None:
    """A rectangle has its moments exactly, J of its series, shear factors of the literature."""
    known = sa.Section.rectangle(2.0, 1.0)
    own = sa.Section.polygon([(3, 1), (5, 1), (5, 2), (3, 2)], tolerance=1e-5)
    assert (own.centroid, own.centre, own.I23) == (
        (pytest.approx(4.0), pytest.approx(1.5)),
        (0, 0),
        0,
    )
    for name in ("A", "I2", "I3"):
        assert getattr(own, name) == pytest.approx(getattr(known, name), rel=1e-12)
    assert 0.0 < own.J / known.J - 1.0 < own.error <= 1e-5  # from above, by energy
    # Gruttmann and Wagner 2001, table 1: h/b = 1/2 and 2
    for nu, flat, high in ((0.0, 0.8333, 0.8333), (0.25, 0.7961, 0.8331), (0.5, 0.7375, 0.8325)):
        k22, k33, k23 = own.shear_factors(nu)
        assert (k33, k22) == (pytest.approx(flat, abs=1e-4), pytest.approx(high, abs=1e-4))
        assert abs(k23) < 1e-6
    full, cowper = own.rod(E=1.0, nu=0.0), known.rod(E=1.0, nu=0.0)
    assert full["GA2"] == pytest.approx(cowper["GA2"], rel=1e-5)


def test_triangle_and_ellipse() -> None:
    """Exact torsion of an equilateral triangle and an ellipse; the shear factor of a circle."""
    own = sa.Section.polygon([(0, 0), (1, 0), (0.5, math.sqrt(0.75))])
    assert pytest.approx(math.sqrt(3.0) / 80.0, rel=2e-5) == own.J
    k22, k33, _ = own.shear_factors(0.3)
    assert k22 == pytest.approx(k33, rel=1e-4)
    a = np.linspace(0.0, 2.0 * math.pi, 121)[:-1]
    inside = 120 / (2 * math.pi) * math.sin(2 * math.pi / 120)  # area of the polygon over that
    ring = np.stack([2.0 * np.cos(a), np.sin(a)], axis=1)
    own = sa.Section.polygon(ring, tolerance=1e-4)
    assert pytest.approx(math.pi * 8.0 / 5.0 * inside**2, rel=2e-4) == own.J
    own = sa.Section.polygon(ring[:, ::-1] * [1.0, 0.5], tolerance=1e-4)
    for nu in (0.0, 0.3):
        exact = 6.0 * (1.0 + nu) ** 2 / (7.0 + 14.0 * nu + 8.0 * nu**2)
        assert own.shear_factors(nu)[0] == pytest.approx(exact, rel=1e-3)


def test_a_thin_channel_turned() -> None:
    """Shear centre and warping of thin-walled theory; a turned drawing is the same section."""
    b, h, t = 0.5, 1.0, 0.01
    own, turned = channel(b, h, t), channel(b, h, t, 0.7)
    assert pytest.approx((2 * b + h) * t**3 / 3.0, rel=5e-3) == own.J
    assert -own.centroid[0] - own.centre[0] == pytest.approx(3 * b**2 / (6 * b + h), rel=1e-2)
    thin = t * b**3 * h**2 / 12.0 * (3 * b + 2 * h) / (6 * b + h)
    assert own.warping == pytest.approx(thin, rel=1e-2)
    assert own.centre[1] == 0.0
    assert pytest.approx(own.J, rel=1e-4) == turned.J
    assert turned.warping == pytest.approx(own.warping, rel=1e-3)
    assert np.hypot(*turned.centre) == pytest.approx(np.hypot(*own.centre), rel=1e-4)
    angle, most, least = turned.principal
    assert (most, least) == (pytest.approx(own.I2), pytest.approx(own.I3))
    assert angle == pytest.approx(0.7)
    twice = own.scaled(2.0)
    assert (pytest.approx(16 * own.J), pytest.approx(16 * own.I2)) == (twice.J, twice.I2)
    assert twice.shear_factors(0.3) == pytest.approx(own.shear_factors(0.3))


def test_holes_and_meshes() -> None:
    """Bredt's torsion of a box; a mesh of its triangles or squares tells the same."""
    ring = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    own = sa.Section.polygon(ring, [0.98 * ring], tolerance=1e-3)
    assert pytest.approx(1.98**3 * 0.02, rel=1e-2) == own.J
    assert pytest.approx(4.0 * (1.0 - 0.98**2)) == own.A
    two = [0.3 * ring + [0.5, 0.0], 0.3 * ring[::-1] - [0.5, 0.1]]
    X, cells = triangulate(rings(ring, two))
    doubled = np.linalg.det(X[cells][:, 1:] - X[cells][:, :1])
    assert doubled.min() > 0.0
    assert doubled.sum() / 2.0 == pytest.approx(4.0 - 2 * 0.36)
    mesh = sa.Mesh.box((2.0, 1.0), (2, 1))
    flat = sa.Section.from_mesh(mesh["body"], tolerance=1e-4)
    exact = sa.Section.rectangle(2.0, 1.0)
    assert (pytest.approx(exact.A), pytest.approx(exact.J, rel=1e-4)) == (flat.A, flat.J)
    with refused(sa.MeshError, asked="body", given="hexahedron"):
        sa.Section.from_mesh(sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"])


def test_a_rod_as_it_looks() -> None:
    """The surface of a bent rod has the area of its outlines times the length, moved with it."""
    own = sa.Section.tube(0.02, 0.005)
    body = sa.Body(straight(4)["rod"], ROD, rod(), **own.rod(E=1e9, nu=0.3))
    couple = sa.moment(body["end"], growing(np.array([0.0, 0.0, 20.0])))
    system = sa.System(body, terms=[sa.fix(body["start"]), couple])
    sa.StaticProblem(system).solve()
    axis = sa.sample(system, body, fields=["d1", "d2", "d3", "bending_moment"])
    found = sa.output.swept(axis, own)
    quads = found.points[found.cells["quad"]]
    edge = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    circumference = 2 * 24 * math.sin(math.pi / 24) * (0.02 + 0.015)
    assert np.linalg.norm(edge, axis=1).sum() / 2 == pytest.approx(circumference, rel=1e-3)
    arms = np.linalg.norm(found.points - np.tile(axis.points.repeat(24, axis=0), (2, 1)), axis=1)
    np.testing.assert_allclose((arms.min(), arms.max()), (0.015, 0.02), atol=2e-5)
    assert len(found.point_data["bending_moment"]) == len(found.points)
    with refused(sa.ParameterError, asked="fields", possible=("d2", "d3")):
        sa.output.swept(sa.sample(system, body), own)
    with refused(sa.ParameterError, asked="section"):
        sa.output.swept(axis, sa.Section(A=1.0, I2=1.0, I3=1.0, J=1.0))


def test_refused_outlines() -> None:
    """Outlines that are none are refused, and say why."""
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    for points, holes, asked in (
        ([(0, 0), (2, 2), (2, 0), (0, 1)], [], "sides"),
        ([(0, 0), (1, 0), (2, 0)], [], "points"),
        ([(0, 0), (1, 0), (1, np.nan)], [], "points"),
        ("square", [], "points"),
        (square, [[(2, 2), (3, 2), (3, 3)]], "holes"),
        (square, [[(0, 0), (0.5, 0.1), (0.1, 0.5)]], "sides"),
        ([(0, 0), (2, 0), (2, 1), (2, -1), (3, 1), (0, 1)], [], "sides"),
    ):
        with refused(sa.ParameterError, asked=asked):
            sa.Section.polygon(points, holes)
    own = sa.Section.polygon(square, tolerance=1e-2)
    with refused(sa.ParameterError, asked="shear", given="cowper", possible=("energy", "full")):
        own.rod(E=1.0, nu=0.3, shear="cowper")
    with refused(sa.ParameterError, asked="shear_factors", given="circle"):
        sa.Section.circle(1.0).shear_factors(0.3)
    with refused(sa.ParameterError, asked="I23", given=2.0):
        sa.Section(A=1.0, I2=1.0, I3=1.0, J=1.0, I23=2.0)


def angle_section() -> tuple[sa.Section, dict[str, Any]]:
    """Return an unequal angle with legs along the axes, and its stiffness."""
    t, b, h = 0.004, 0.03, 0.05
    points = [(0, 0), (b, 0), (b, t), (t, t), (t, h), (0, h)]
    own = sa.Section.polygon(points, tolerance=1e-4)
    return own, own.rod(E=70e9, nu=0.3, rho=2700.0)


def test_a_rod_of_an_angle_section() -> None:
    """A force at the centroid bends an angle sideways and twists it, by the theory."""
    own, given = angle_section()
    L, P = 0.6, np.array([3e-4, 1e-3])  # beyond that it turns, and P with it
    mesh = straight(4, L)
    body = sa.Body(mesh["rod"], ROD, rod(), direction=lambda X: (0.0, 1.0, 0.0), **given)
    system = sa.System(
        body, terms=[sa.fix(body["start"]), sa.force(body["end"], (0.0, *P.tolist()))]
    )
    sa.StaticProblem(system).solve()
    moments = np.array([[own.I3, own.I23], [own.I23, own.I2]])
    shear = np.array([[given["GA2"], given["GA23"]], [given["GA23"], given["GA3"]]])
    ys, zs = own.centre
    torque = zs * P[0] - ys * P[1]  # about the shear centre
    twist = torque / given["GJ"]
    right = L**3 / (3.0 * 70e9) * np.linalg.solve(moments, P) + L * np.linalg.solve(shear, P)
    right += L * twist * np.array([zs, -ys])
    np.testing.assert_allclose(system.displacement(body["end"])[0, 1:], right, rtol=1e-6)
    turned = system.gradient(body["end"])[0]
    assert (turned[2, 1] - turned[1, 2]) / 2.0 == pytest.approx(L * twist, rel=1e-4)
    data = sa.sample(system, body, at="gauss").point_data
    np.testing.assert_allclose(data["torque"], 0.0, atol=1e-9)  # about the axis
    np.testing.assert_allclose(data["shear_force"], np.tile(P, (len(data["torque"]), 1)), rtol=1e-3)
    # the same section drawn on its principal axes, and turned to where they are
    angle, most, least = own.principal
    assert pytest.approx(most * least) == own.I2 * own.I3 - own.I23**2
    c, s = math.cos(angle), math.sin(angle)
    t, b, h = 0.004, 0.03, 0.05
    points = np.array([(0, 0), (b, 0), (b, t), (t, t), (t, h), (0, h)])
    main = sa.Section.polygon(points @ np.array([[c, -s], [s, c]]), tolerance=1e-4)
    assert abs(main.I23) < 1e-9 * main.I2
    other = sa.Body(
        mesh["rod"], ROD, rod(), direction=lambda X: (0.0, c, s), **main.rod(E=70e9, nu=0.3)
    )
    load = sa.force(other["end"], (0.0, *P.tolist()))
    again = sa.System(other, terms=[sa.fix(other["start"]), load])
    sa.StaticProblem(again).solve()
    np.testing.assert_allclose(
        again.displacement(other["end"])[0],
        system.displacement(body["end"])[0],
        rtol=1e-4,
        atol=1e-9,
    )


def test_inertia_of_turned_axes() -> None:
    """Frequencies of a free angle do not know how its axes were drawn."""
    own, given = angle_section()
    assert given["I23"] == own.I23
    body = sa.Body(
        straight(4, 0.6)["rod"], ROD, rod(), direction=lambda X: (0.0, 1.0, 0.0), **given
    )
    kinetic = {"rho": 2700.0, "A": own.A}
    angle, most, least = own.principal
    c, s = math.cos(angle), math.sin(angle)
    omega = sa.EigenProblem(sa.System(body, terms=[sa.fix(body["start"])])).solve(4).omega
    # on principal axes, from the same numbers
    R = np.array([[c, s], [-s, c]])
    shear = R @ np.array([[given["GA2"], given["GA23"]], [given["GA23"], given["GA3"]]]) @ R.T
    ys, zs = R @ np.array(own.centre)
    main = {"EA": given["EA"], "GJ": given["GJ"], "GA2": shear[0, 0], "GA3": shear[1, 1]}
    main |= {"GA23": shear[0, 1], "EI2": 70e9 * most, "EI3": 70e9 * least, "y_shear": ys}
    main |= {"z_shear": zs, "I2": most, "I3": least}
    other = sa.Body(
        straight(4, 0.6)["rod"], ROD, rod(), direction=lambda X: (0.0, c, s), **main, **kinetic
    )
    again = sa.EigenProblem(sa.System(other, terms=[sa.fix(other["start"])])).solve(4).omega
    np.testing.assert_allclose(again, omega, rtol=1e-7)

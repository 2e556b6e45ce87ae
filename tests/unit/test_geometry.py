# SPDX-License-Identifier: BSD-3-Clause
"""The reference configuration: slopes of cells, directions of nodes, maps between them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf.output.fields import coefficients, jets_at
from tests import many
from tests.refusals import refused

PLATE, THIN, CABLE = (
    sa.elements.ancf_plate,
    sa.elements.ancf_thin_plate,
    sa.elements.ancf_cable,
)

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3, "thickness": 0.1}

pytestmark = pytest.mark.collective


def body(mesh: sa.Mesh, element: Any, **options: Any) -> sa.Body:
    if element is CABLE:
        return sa.Body(mesh["body"], element, cable(), EA=1.0, EI=1.0, **options)
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    return sa.Body(mesh["body"], element, energy, **STEEL, **options)


def reference(made: sa.Body, jet: str, xi: Any) -> Any:
    """Return a jet of the reference at parameters xi (m, d) of this rank's cells, (n, m, 3)."""
    system = sa.System(made)
    e = coefficients(system._discrete, made, system.reference)
    return jets_at(made, e, jet, np.asarray(xi, dtype=float), np.zeros(len(xi)))


def corners(made: sa.Body) -> Any:
    """Corner positions of this rank's cells, (n, nv, 3)."""
    system = sa.System(made)
    on = system._discrete.binding(made).interpolation
    return system._discrete.points[on.cells[on.owned]]


def quadrilaterals(X: Any) -> Any:
    """Move the points of a rectangle irregularly but the same on all ranks; tilt its plane."""
    Y = X.copy()
    Y[:, 0] += 0.08 * np.sin(7.0 * X[:, 0] + 11.0 * X[:, 1])
    Y[:, 1] += 0.08 * np.cos(9.0 * X[:, 0] - 5.0 * X[:, 1])
    Q, _ = np.linalg.qr(np.array([[1.0, 2, 0], [0, 1, 1], [3, 0, 1]]))
    return Y @ Q.T


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", [PLATE, THIN])
def test_flat_cells_are_bilinear(element: Any) -> None:
    """Positions and derivatives of arbitrary plane quadrilaterals, to round-off."""
    mesh = sa.Mesh.box((2.0, 1.0), (5, 4), warp=quadrilaterals)
    xi = np.random.default_rng(0).random((7, 2))
    x, y = xi.T
    shape = np.stack([(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y], axis=1)
    slope = np.stack([-(1 - y), 1 - y, y, -y], axis=1)
    X = corners(body(mesh, element))
    np.testing.assert_allclose(
        reference(body(mesh, element), "value", xi), np.einsum("pv,nva->npa", shape, X), atol=1e-13
    )
    np.testing.assert_allclose(
        reference(body(mesh, element), "xi", xi), np.einsum("pv,nva->npa", slope, X), atol=1e-13
    )
    if element is PLATE:  # the director is the unit normal
        normal = reference(body(mesh, element), "zeta", xi)
        np.testing.assert_allclose(np.linalg.norm(normal, axis=2), 1.0, atol=1e-13)
        along = reference(body(mesh, element), "xi", xi)
        np.testing.assert_allclose(np.einsum("npa,npa->np", normal, along), 0.0, atol=1e-13)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", [PLATE, THIN])
def test_an_affine_state_is_exact_on_quadrilaterals(element: Any) -> None:
    """Slope maps turn nodal slopes G b into those of the cells: u = G X everywhere."""
    mesh = sa.Mesh.box((2.0, 1.0), (5, 4), warp=quadrilaterals)
    G = np.random.default_rng(1).standard_normal((3, 3))
    made = body(mesh, element)
    support = sa.fix(made["body"], displacement=lambda X, t: X @ G.T, gradient=G)
    system = sa.System(made, terms=[support])
    system._discrete.prescribe(0.0)
    xi = np.random.default_rng(2).random((5, 2))
    e, X = (
        coefficients(system._discrete, made, system.state),
        coefficients(system._discrete, made, system.reference),
    )
    for jet in ("value", "xi", "eta"):
        u = jets_at(made, e, jet, xi, np.zeros(5))
        R = jets_at(made, X, jet, xi, np.zeros(5))
        np.testing.assert_allclose(u, R @ G.T, atol=1e-12)


def bent(angle: float) -> Any:
    """Roll the x axis on a circle of radius 1; y stays."""

    def warp(X: Any) -> Any:
        phi = angle * X[:, 0]
        return np.stack([np.sin(phi), X[:, 1], 1.0 - np.cos(phi)], axis=1)

    return warp


def radius(points: Any) -> Any:
    return np.hypot(points[..., 0], points[..., 2] - 1.0)


def rise(angle: float) -> float:
    """By how much the cubic over an arc of radius 1 fails it in the middle: angle^4 / 384.

    Ends on the circle, slopes along its tangents with the length of the arc.
    """
    return float(1.0 - np.cos(angle / 2.0) - angle / 4.0 * np.sin(angle / 2.0))


@pytest.mark.parametrize("cells", [4, 8, 16])
def test_averaged_normals_recover_a_cylinder(cells: int) -> None:
    """Inside as the exact normals do; at a rim the only facet halves the sagitta, angle^2 / 8."""
    mesh = sa.Mesh.box((1.0, 0.5), (cells, 2), warp=bent(np.pi / 2))
    xi = np.stack(np.meshgrid([0.1, 0.5, 0.9], [0.2, 0.7]), axis=-1).reshape(-1, 2)
    made = body(mesh, THIN)
    points = reference(made, "value", xi)
    off = np.abs(radius(points) - 1.0).max(axis=1, initial=0.0)
    x = corners(made)[..., 0]  # the circle's ends are at 0 and 1
    rim = np.isclose(x, 0.0).any(axis=1) | np.isclose(x, 1.0).any(axis=1)
    angle = np.pi / 2 / cells
    assert off[~rim].max(initial=0.0) < 1.01 * rise(angle)
    np.testing.assert_allclose(off[rim], angle**2 / 16.0, rtol=0.01)
    assert made.region.mesh.comm.allreduce(int(rim.sum())) == 4


def test_given_normals_recover_a_cylinder_better() -> None:
    mesh = sa.Mesh.box((1.0, 0.5), (4, 2), warp=bent(np.pi / 2))
    made = body(mesh, THIN, direction=lambda X: (X - [0, 0, 1.0]) * [1.0, 0.0, 1.0])
    xi = np.stack(np.meshgrid([0.1, 0.5, 0.9], [0.2, 0.7]), axis=-1).reshape(-1, 2)
    off = 1.0 - radius(reference(made, "value", xi)).reshape(-1, 2, 3)
    np.testing.assert_allclose(off[:, :, 1], rise(np.pi / 8), rtol=1e-9)
    assert np.abs(off[:, :, ::2]).max(initial=0.0) < 0.2 * rise(np.pi / 8)
    # a cell of 22.5 degrees: the cubic has the length of the arc
    lengths = np.linalg.norm(reference(made, "xi", xi), axis=2)
    np.testing.assert_allclose(lengths, np.pi / 8, rtol=2e-3)


def test_a_line_recovers_a_circle_with_its_free_ends() -> None:
    def circle(X: Any) -> Any:
        return bent(2.0)(np.column_stack([X[:, 0], 0 * X[:, 0], 0 * X[:, 0]]))

    mesh = sa.Mesh.box((1.0,), (8,), warp=circle)
    xi = np.linspace(0, 1, 9)[:, None]
    points = reference(body(mesh, CABLE), "value", xi)
    assert np.abs(radius(points) - 1.0).max(initial=0.0) < 2e-5
    slope = reference(body(mesh, CABLE), "xi", xi)
    np.testing.assert_allclose(np.linalg.norm(slope, axis=2), 2.0 / 8, rtol=1e-3)


@pytest.mark.collective(rows=0)
def test_directions_of_uneven_chords_are_those_of_the_circle() -> None:
    """The tangent at a node is that of the circle through it and its neighbours."""

    def uneven(X: Any) -> Any:
        s = X[:, 0] ** 1.7
        return bent(1.5)(np.column_stack([s, 0 * s, 0 * s]))

    mesh = sa.Mesh.box((1.0,), (6,), warp=uneven)
    made = body(mesh, CABLE)
    system = sa.System(made)
    on = system._discrete.binding(made).interpolation
    assert on.directions is not None
    used = np.unique(on.cells)
    X, t = system._discrete.points[used], on.directions.at[used]
    exact = np.stack([1.0 - X[:, 2], 0.0 * X[:, 0], X[:, 0]], axis=1)  # tangents of the circle
    np.testing.assert_allclose(np.abs(np.einsum("na,na->n", t, exact)), 1.0, atol=1e-12)


def fold(degrees: float) -> sa.Mesh:
    """Two squares that meet at an angle."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))

    def warp(X: Any) -> Any:
        out = np.maximum(X[:, 0] - 1.0, 0.0)
        return np.stack([np.minimum(X[:, 0], 1.0) + c * out, X[:, 1], s * out], axis=1)

    return sa.Mesh.box((2.0, 1.0), (2, 1), warp=warp)


@pytest.mark.collective(rows=0)
def test_kinks_beyond_the_smoothing_angle() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sa.System(body(fold(45.0), THIN))
        sa.System(body(fold(60.0), THIN, smooth=70.0))
    with refused(sa.MeshError, asked="smooth_deg", given=2):
        sa.System(body(fold(60.0), THIN))
    made = body(fold(90.0), PLATE)  # a full-gradient plate may have kinks: cells keep their normal
    sa.System(made)
    normals = reference(made, "zeta", [[0.5, 0.5], [0.0, 0.0], [1.0, 1.0]])
    up = np.abs(normals @ [0.0, 0.0, 1.0])
    assert np.all((np.abs(up - 1.0) < 1e-12) | (np.abs(up) < 1e-12))


@pytest.mark.collective(rows=0)
def test_a_coarse_smooth_fold_is_warned_of() -> None:
    if sa.Mesh.box((1.0,), (1,)).comm.rank == 0:
        with pytest.warns(UserWarning, match="differ from the facets by up to 22.5 degrees"):
            sa.System(body(fold(45.0), THIN))
    else:
        sa.System(body(fold(45.0), THIN))


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", [PLATE, THIN, CABLE])
def test_given_directions_that_lean_are_told_and_refused(element: Any) -> None:
    """45 degrees off the normal took 29 % of a plate's weight and stiffness."""
    line = element is CABLE
    mesh = sa.Mesh.box((1.0,), (3,)) if line else sa.Mesh.box((1.0, 0.5), (3, 2))

    def system(degrees: float) -> sa.System:
        t = np.radians(degrees)
        lean = (np.cos(t), np.sin(t), 0.0) if line else (np.sin(t), 0.0, -np.cos(t))
        return sa.System(body(mesh, element, direction=lambda X: np.tile(lean, (len(X), 1))))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system(0.0)
        system(4.0)
    if mesh.comm.rank == 0:
        with pytest.warns(UserWarning, match=r"lean .* up to 20\.0 degrees .* up to 6\.0 %"):
            system(20.0)
    else:
        system(20.0)
    with refused(sa.ParameterError, asked="direction", given=pytest.approx(45.0)):
        system(45.0)
    with refused(sa.ParameterError, asked="direction", given=pytest.approx(80.0)):
        system(80.0)


def test_bodies_that_share_slopes_along_other_tangents_are_refused() -> None:
    c = np.cos(np.radians(30.0))
    points = [[0, 0, 0], [1, 0, 0], [1 + c, 0, 0.5], [0, 1, 0], [1, 1, 0], [1 + c, 1, 0.5]]
    mesh = sa.Mesh.from_arrays(
        points,
        {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]]},
        {"left": ("quad", [0]), "right": ("quad", [1])},
    )
    left = sa.Body(mesh["left"], THIN, kirchhoff(), join="all", **STEEL)
    right = sa.Body(mesh["right"], THIN, kirchhoff(), join="all", **STEEL)
    with refused(sa.MeshError, asked="join", given="right", possible=("position",)):
        sa.System(left, right)


def test_bodies_that_share_slopes_bend_as_one() -> None:
    mesh = sa.Mesh.from_arrays(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0.0]],
        {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]], "line": [[0, 3], [2, 5]]},
        {
            "left": ("quad", [0]),
            "right": ("quad", [1]),
            "body": ("quad", [0, 1]),
            "root": ("line", [0]),
            "tip": ("line", [1]),
        },
    )
    left = sa.Body(mesh["left"], THIN, kirchhoff(), join="all", **STEEL)
    right = sa.Body(mesh["right"], THIN, kirchhoff(), join="all", **STEEL)
    load = (0.0, 0.0, 1.0)
    parts = sa.System(left, right, terms=[sa.fix(left["root"]), sa.force(right["tip"], load)])
    sa.StaticProblem(parts).solve()
    whole = body(mesh, THIN)
    one = sa.System(whole, terms=[sa.fix(whole["root"]), sa.force(whole["tip"], load)])
    sa.StaticProblem(one).solve()
    expected = one.displacement(whole.at((2.0, 1.0, 0.0)))
    wide, narrow = (8.0 / (3.0 * 1e6 * 0.1**3 / 12.0) * factor for factor in (1.0 - 0.3**2, 1.0))
    assert wide < expected[0, 2] < narrow  # F L^3/(3 E I) of a strip that may not, or may, contract
    np.testing.assert_allclose(
        parts.displacement(right.at((2.0, 1.0, 0.0))), expected, rtol=1e-9, atol=1e-12
    )


def test_bodies_of_which_a_rank_may_have_nothing() -> None:
    """Each is a cantilever of its own, whatever ranks have it, and knows its own nodes only."""
    system, rods = many.rods(7)
    sa.StaticProblem(system, prefix="own_").solve()
    tips = [system.displacement(rod.at((1.0, 3.0 * k, 0.0)))[0] for k, rod in enumerate(rods)]
    np.testing.assert_allclose(tips, np.tile(tips[0], (7, 1)), atol=1e-10)
    assert tips[0][2] == pytest.approx(1.0 / (3.0 * 1e3), rel=1e-3)
    assert all(
        len(system._discrete.binding(r).interpolation.basis.vertices) in (0, 2) for r in rods
    )

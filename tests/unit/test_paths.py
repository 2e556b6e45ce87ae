# SPDX-License-Identifier: BSD-3-Clause
"""Paths of threads, and how the cells of solids cut them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf.cells import CELLS
from symancf.places.crossings import faces_of
from symancf.places.paths import Curves, curves_of
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]
ELEMENTS = {
    "hexahedron": sa.elements.hex8,
    "hexahedron20": sa.elements.hex20,
    "hexahedron27": sa.elements.hex27,
    "tetra": sa.elements.tet4,
    "tetra10": sa.elements.tet10,
    "wedge": sa.elements.wedge6,
    "wedge15": sa.elements.wedge15,
}


def distorted(X: Array) -> Array:
    """Return a block whose faces and inner sides are curved."""
    x, y, z = X.T
    moved = np.sin(5 * y) * np.cos(4 * z), np.sin(6 * x + z), np.sin(5 * x) * np.sin(4 * y)
    return X + 0.05 * np.stack(moved, axis=1)


def block(
    cell: str = "hexahedron", warp: Any = None, n: tuple[int, int, int] = (3, 4, 5)
) -> sa.Body:
    """Return the unit cube."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), n, cell=cell, warp=warp)
    law = sa.energies.saint_venant_kirchhoff()
    return sa.Body(mesh["body"], ELEMENTS[cell], law, name="block", E=1e6, nu=0.3)


def wave(s: Array) -> Array:
    """Return a curve inside of the block, a function of the user."""
    return np.stack([0.2 + 0.6 * s, 0.5 + 0.25 * np.sin(9 * s), 0.5 + 0.2 * np.cos(7 * s)], axis=1)


HELIX = sa.Helix(0.25, pitch=0.3, length=0.7, centre=(0.5, 0.5, 0.15), start=20.0)
CORNERS = [(0.2, 0.3, 0.2), (0.8, 0.3, 0.25), (0.7, 0.8, 0.7)]


# ---- paths --------------------------------------------------------------------------------------
@pytest.mark.collective(rows=0)
def test_a_helix() -> None:
    frame = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    helix = sa.Helix(2.0, pitch=3.0, turns=2.5, hand=-1, start=90.0, taper=0.1, frame=frame)
    assert (helix.rise, helix.coils) == (7.5, 2.5)
    np.testing.assert_allclose(helix(np.array([0.0])), [[0.0, 0.0, 2.0]], atol=1e-15)
    np.testing.assert_allclose(helix(np.array([1.0]))[0, 0], 7.5)  # e3 is x
    s = np.linspace(0.1, 0.9, 7)
    slope = (helix(s + 1e-6) - helix(s - 1e-6)) / 2e-6
    np.testing.assert_allclose(helix.tangent(s), slope, atol=1e-7)
    t = sa.Helix(2.0, angle=54.7356, length=1.0).tangent(s)
    np.testing.assert_allclose(t[:, 2] / np.linalg.norm(t, axis=1), np.cos(np.radians(54.7356)))
    circle = sa.Helix(2.0, angle=90.0, turns=1.0)
    np.testing.assert_allclose(circle(s)[:, 2], 0.0)
    straight = sa.Helix(2.0, angle=0.0, length=1.0, start=90.0)
    np.testing.assert_allclose(straight(s), np.stack([0 * s, 0 * s + 2.0, s], axis=1), atol=1e-15)
    assert replace(helix, taper=0.0).radius == 2.0  # a value


@pytest.mark.collective(rows=0)
def test_a_braid_has_both_hands() -> None:
    paths = sa.braid(30.0, 3, radius=2.0, length=1.0, start=10.0)
    assert [path.hand for path in paths] == [1, 1, 1, -1, -1, -1]
    assert [path.start for path in paths] == [10.0, 130.0, 250.0] * 2


@pytest.mark.collective(rows=0)
def test_tangents_of_own_functions_and_polygons() -> None:
    def tangent(s: Array) -> Array:
        return np.stack([0.6 + 0 * s, 2.25 * np.cos(9 * s), -1.4 * np.sin(7 * s)], axis=1)

    own, polygon = curves_of("a path", [wave, CORNERS])
    s = np.array([0.0, 1e-5, 0.3, 0.7, 1.0 - 1e-6])
    np.testing.assert_allclose(own.tangent(s)[1:], tangent(s)[1:], atol=2e-9)
    given = lambda s: wave(s)  # noqa: E731
    given.tangent = tangent  # type: ignore[attr-defined]
    np.testing.assert_array_equal(curves_of("a path", given)[0].tangent(s), tangent(s))
    np.testing.assert_allclose(polygon(np.array([0.0, *polygon.corners, 1.0])), CORNERS, atol=1e-15)
    every = Curves([own, polygon, HELIX, polygon])
    number, at = np.array([3, 0, 2, 1, 0]), np.array([0.2, 0.3, 0.4, 0.9, 0.1])
    for k, x, X, t in zip(
        number, at, every.points(number, at), every.tangents(number, at), strict=True
    ):
        one = np.array([x])
        np.testing.assert_allclose(every.curves[k](one)[0], X)
        np.testing.assert_allclose(every.curves[k].tangent(one)[0], t)


@pytest.mark.collective(rows=0)
def test_bad_paths() -> None:
    with refused(sa.ParameterError, asked="pitch", possible=("pitch", "angle")):
        sa.Helix(1.0, length=1.0)
    with refused(sa.ParameterError, asked="length", possible=("length", "turns")):
        sa.Helix(1.0, pitch=1.0, length=1.0, turns=2.0)
    with refused(sa.ParameterError, asked="radius", given=-1.0):
        sa.Helix(-1.0, pitch=1.0, turns=1.0)
    with refused(sa.ParameterError, asked="angle", given=120.0):
        sa.Helix(1.0, angle=120.0, turns=1.0)
    with refused(sa.ParameterError, asked="hand", given=0):
        sa.Helix(1.0, pitch=1.0, turns=1.0, hand=0)
    with refused(sa.ParameterError, asked="length", given=1.0):
        sa.Helix(1.0, angle=90.0, length=1.0)
    with refused(sa.ParameterError, asked="turns", given=1.0):
        sa.Helix(1.0, angle=0.0, turns=1.0)
    with refused(sa.ParameterError, asked="taper", given=-1.0):
        sa.Helix(1.0, angle=10.0, length=2.0, taper=-1.0)
    with refused(sa.ParameterError, asked="pitch", given=1.0):
        sa.braid(30.0, 3, radius=1.0, length=1.0, pitch=1.0)
    body = block()
    for wrong in ([(0.0, 0.0, 0.0)], [(0.0, 0.0, 0.0)] * 2, "helix", np.zeros((3, 2)), None):
        with refused(sa.ParameterError, asked="path"):
            body.along(wrong)
    with refused(sa.ParameterError, asked="path", given=()):
        body.along(lambda s: 1.0).cut.pieces  # noqa: B018
    sheet = sa.Mesh.box((1.0, 1.0), (2, 2))["body"]
    thin = {"E": 1e6, "nu": 0.3, "thickness": 0.01}
    plate = sa.Body(sheet, sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **thin)
    with refused(sa.ConstraintError, asked="body", given="ancf_thin_plate"):
        plate.along(CORNERS)


# ---- cells that cut -----------------------------------------------------------------------------
@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("warp", [None, distorted])
@pytest.mark.parametrize("cell", list(ELEMENTS))
@pytest.mark.filterwarnings("ignore:body 'block'. tet4 locks")
def test_pieces_are_inside_of_their_cells(cell: str, warp: Any) -> None:
    cut = block(cell, warp).along([HELIX, wave, CORNERS]).cut
    pieces = cut.pieces
    assert len(pieces.curve) > 40
    # they follow each other from 0 to 1
    first = np.flatnonzero(np.concatenate([[True], np.diff(pieces.curve) > 0]))
    np.testing.assert_array_equal(pieces.s[first, 0], 0.0)
    np.testing.assert_array_equal(pieces.s[np.append(first[1:], len(pieces.s)) - 1, 1], 1.0)
    inner = np.setdiff1d(np.arange(len(pieces.s)), first)
    np.testing.assert_array_equal(pieces.s[inner, 0], pieces.s[inner - 1, 1])
    # any place of a piece, also near its ends, is in its cell
    found = cut.resolved(7, None, 0)
    X = cut.body.region.mesh.fetch_points(found.vertices)
    value, _ = CELLS[cell].evaluate(found.within[:, :3])
    np.testing.assert_allclose(np.einsum("kv,kva->ka", value, X), found.X, atol=1e-13)
    normals, constants = faces_of(CELLS[cell])
    assert (found.within[:, :3] @ normals.T + constants).min(initial=0.0) > -2e-9
    # both ends of inner pieces are on faces: a little beyond the cell does not hold the curve
    assert found.weight.min(initial=1.0) > 0.0
    comm = cut.body.region.mesh.comm
    length = 2 * np.pi * HELIX.coils * np.hypot(0.25, 0.3 / 2 / np.pi)
    assert pieces.length[pieces.curve == 0].sum() == pytest.approx(length, rel=1e-12)
    assert comm.allreduce(found.weight.sum()) == pytest.approx(pieces.length.sum(), rel=1e-6)


def test_a_line_in_a_face_is_in_the_cell_of_the_lowest_id() -> None:
    body = block(n=(4, 4, 4))
    for y, z, first in ((0.5, 0.3, 20), (0.5, 0.5, 20), (0.0, 0.0, 0), (0.3, 0.3, 20)):
        pieces = body.along([(0.0, y, z), (1.0, y, z)]).cut.pieces
        np.testing.assert_array_equal(pieces.cell, first + np.arange(4))
        np.testing.assert_allclose(pieces.s[1:, 0], [0.25, 0.5, 0.75], atol=1e-8)
    diagonal = body.along([(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]).cut.pieces
    np.testing.assert_array_equal(diagonal.cell, [0, 21, 42, 63])


def test_short_crossings_share_an_equation() -> None:
    """A diagonal slightly off the corners of cells crosses two more at each."""
    body = block(n=(4, 4, 4))
    pieces = body.along([(0.0, 0.004, 0.008), (0.992, 0.996, 1.0)]).cut.pieces
    assert len(pieces.cell) == 10
    assert pieces.crossing.max() + 1 == 4
    size = np.bincount(pieces.crossing, pieces.length)
    assert size.min() > 0.1 * size.mean()
    assert (np.diff(pieces.crossing) >= 0).all()


@pytest.mark.collective(rows=0)
def test_corners_end_a_piece_but_no_crossing() -> None:
    body = block(n=(1, 1, 1))
    pieces = body.along(CORNERS).cut.pieces
    assert (len(pieces.s), pieces.crossing.tolist()) == (2, [0, 0])


def test_paths_that_leave_the_body() -> None:
    body = block()
    out = [(0.2, 0.3, 0.2), (0.8, 0.3, 0.2), (0.8, 0.3, 1.2)]
    term = sa.Thread([HELIX, out], body, EA=1.0)
    place = pytest.approx(np.array([0.8, 0.3, 1.0]), abs=0.02)
    with refused(sa.ConstraintError, asked="path", given=lambda found: np.array(found) == place):
        sa.System(body, terms=[sa.fix(body["z0"]), term])
    inside = sa.Thread([HELIX, out], body, EA=1.0, clip=True)
    pieces = inside.cut.pieces
    assert pieces.length[pieces.curve == 1].sum() == pytest.approx(1.4, rel=1e-8)
    through = body.along([(0.5, 0.5, -1.0), (0.5, 0.5, 2.0)], clip=True).cut.pieces
    assert through.length.sum() == pytest.approx(1.0, rel=1e-8)
    with refused(sa.ConstraintError, asked="path"):
        body.along([(2.0, 0.5, -1.0), (2.0, 0.5, 2.0)], clip=True).cut.pieces  # noqa: B018


def test_a_little_outside_of_straight_sides_is_inside() -> None:
    """A circle in the outer face of a tube, whose cells have straight sides."""
    mesh = sa.Mesh.tube(1.0, 2.0, 1.0, (2, 32, 2))
    given = {"E": 1e6, "nu": 0.3}
    tube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.saint_venant_kirchhoff(), **given)
    corner = 2.0 * np.cos(np.pi / 128)
    circle = sa.Helix(corner + 2e-4, angle=90.0, turns=1.0, centre=(0.0, 0.0, 0.3))
    assert tube.along(circle).cut.pieces.length.sum() == pytest.approx(2 * np.pi * circle.radius)

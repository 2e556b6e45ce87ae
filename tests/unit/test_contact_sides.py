# SPDX-License-Identifier: BSD-3-Clause
"""Sides of contact: points, weights, outward normals, local size and modulus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.contact.facet_set import Facets, FacetSet
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.assembly.configuration import Layout

pytestmark = pytest.mark.collective
SOLID = {"E": 2e6, "nu": 0.3}


def solid(element: elements.element.Element) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 2.0, 3.0), (2, 3, 4), cell=element.cell)
    return sa.Body(mesh["body"], element, energies.saint_venant_kirchhoff(), **SOLID)


def plate(**given: object) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 2.0), (2, 3))
    thick = {"thickness": 0.1, **SOLID, **given}
    return sa.Body(mesh["body"], elements.ancf_plate, energies.saint_venant_kirchhoff(), **thick)


def cable() -> sa.Body:
    mesh = sa.Mesh.box((2.0,), (3,))
    return sa.Body(mesh["body"], elements.ancf_cable, energies.cable(), EA=3.0, EI=1.0)


def integrals(body: sa.Body, side: FacetSet) -> np.ndarray:
    """Return the integral of X over the side, and its size."""
    terms = [
        sa.Potential(lambda X_a, u_a: X_a[0] * (1 + u_a[0]), side, name="x"),
        sa.Potential(lambda X_a, u_a: X_a[1] * (1 + u_a[0]), side, name="y"),
        sa.Potential(lambda X_a, u_a: X_a[2] * (1 + u_a[0]), side, name="z"),
        sa.Potential(lambda u_a: 1 + u_a[0], side, name="one"),
    ]
    found = sa.System(body, terms=terms).energies()
    return np.array([found[name] for name in ("x", "y", "z", "one")])


def layout(body: sa.Body) -> Layout:
    return sa.System(body)._discrete.layout


@pytest.mark.filterwarnings("ignore:.*tet4 locks")
def moduli(side: FacetSet, facets: Facets) -> np.ndarray:
    return side.moduli(facets.fields, side.modulus.present(0.0))


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("element", "points", "size"),
    [
        *((elements.hex8_plain, 4, 0.75), (elements.hex20, 9, 0.75), (elements.hex27, 9, 0.75)),
        *((elements.tet4, 3, 0.25), (elements.tet10, 6, 0.25), (elements.wedge15, 6, 0.75)),
    ],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_facets_of_solids(element: elements.element.Element, points: int, size: float) -> None:
    body = solid(element)
    side = FacetSet("contact", body["z1"])
    assert len(side.weights) == points
    assert integrals(body, side) == pytest.approx([1.0, 2.0, 6.0, 2.0], rel=1e-12)
    own = layout(body).bind(side)
    assert own.length == pytest.approx(size, rel=1e-12)
    assert moduli(side, own) == pytest.approx(2e6, rel=1e-12)
    corners = layout(body).fetch_points(own.vertices.ravel()).reshape(*own.vertices.shape, 3)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normal[:, 2] > 0.0).all()  # out of the body


@pytest.mark.collective(rows=0)
def test_faces_of_plates_and_cables() -> None:
    for side in (+1, -1):
        body = plate()
        face = FacetSet("contact", body["body"].face(side))
        assert integrals(body, face) == pytest.approx([1.0, 2.0, side * 0.1, 2.0], rel=1e-12)
        own = layout(body).bind(face)
        assert own.length == pytest.approx(0.1)
        X = layout(body).fetch_points(own.vertices.ravel()).reshape(*own.vertices.shape, 3)
        normal = np.cross(X[:, 1] - X[:, 0], X[:, 3] - X[:, 0])
        assert (side * normal[:, 2] > 0.0).all()
    body = cable()
    axis = FacetSet("contact", body["body"], radius=0.01)
    assert axis.rho == 0.01
    assert integrals(body, axis) == pytest.approx([2.0, 0.0, 0.0, 2.0], abs=1e-12)
    assert moduli(axis, layout(body).bind(axis)) == pytest.approx(3.0 / (np.pi * 1e-4))


def test_modulus_of_a_field_is_that_of_the_cell_behind_each_facet() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 2, 2))
    E = sa.Field(lambda X: 1e6 * (1.0 + X[:, 0]))
    body = sa.Body(
        mesh["body"], elements.hex8_plain, energies.saint_venant_kirchhoff(), E=E, nu=0.3
    )
    side = FacetSet("contact", body["z1"])
    known = layout(body)
    own = known.bind(side)
    X = known.fetch_points(own.vertices.ravel()).reshape(*own.vertices.shape, 3).mean(axis=1)
    assert moduli(side, own) == pytest.approx(1e6 * (1.0 + X[:, 0]))


@pytest.mark.parametrize(
    ("place", "asked", "given"),
    [
        (lambda: plate()["body"], "side", None),
        (lambda: plate()["x0"], "edges", "region 'x0' of 'body', face(+1)"),
        (lambda: cable()["body"], "radius", None),
        (lambda: solid(elements.hex8_plain)["z1"].face(+1), "side", 1),
        (lambda: sa.ground, "surface", "the ground"),
    ],
)
def test_what_has_no_side_is_told(place: object, asked: str, given: object) -> None:
    with refused(sa.ParameterError, asked=asked, given=given):
        FacetSet("contact", place())  # type: ignore[operator]


def test_facets_within_a_body_and_thickness_in_time_are_told() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(mesh["body"], elements.hex8_plain, energies.saint_venant_kirchhoff(), **SOLID)
    inside = plate(thickness=lambda t: 0.1 + t)
    with refused(sa.ParameterError, asked="thickness", given=lambda found: "<lambda>" in found):
        layout(inside).bind(FacetSet("contact", inside["body"].face(+1)))
    with refused(sa.ParameterError, asked="radius", given=0.1):
        FacetSet("contact", body["z1"], radius=0.1)


AREA = np.pi * 0.1**2
SECTION = {"E": 3e3, "nu": 0.3, "width": 0.2, "height": 0.2}
LINES: dict[str, tuple[str, str, object, dict[str, float], float]] = {
    "cable": (
        "line",
        "ancf_cable",
        energies.cable(),
        {"EA": 90.0, "EI": 1.0},
        90.0 / AREA,
    ),
    "beam": ("line", "ancf_3243", energies.saint_venant_kirchhoff(), SECTION, 3e3),
    "split beam": ("line3", "ancf_3333", energies.split_beam(), SECTION, 3e3),
}


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("unit", [1.0, 1000.0])
@pytest.mark.parametrize("name", LINES)
def test_stiffness_of_lines_follows_from_the_law_in_any_unit(name: str, unit: float) -> None:
    """A line that lies in a plane by d presses with 0.01 E d per length, E that of the solid."""
    cell, element, law, given, modulus = LINES[name]
    pressures = {"E": unit**-2}
    lengths = {"width": unit, "height": unit, "EI": unit**2}
    given = {k: v * pressures.get(k, lengths.get(k, 1.0)) for k, v in given.items()}
    mesh = sa.Mesh.box((2.0 * unit,), (2,), cell=cell)
    line = sa.Body(mesh["body"], getattr(elements, element), law, **given)
    floor = sa.Plane((0.0, 0.0, -0.08 * unit))
    touch = sa.Contact(line["body"], floor, radius=0.1 * unit, initial="press")
    system = sa.System(line, terms=[sa.fix(line["body"], "all"), touch])
    sa.StaticProblem(system).solve()
    force = 0.01 * modulus * 0.02 * 2.0
    np.testing.assert_allclose(touch.force(system), [0.0, 0.0, force], atol=1e-9 * force)


@pytest.mark.collective(rows=0)
def test_a_cable_is_refused_as_side_and_as_target() -> None:
    block, cord = solid(elements.hex8_plain), cable()
    for pair in ((block["z1"], cord["body"]), (cord["body"], block["z1"])):
        with refused(sa.ParameterError, asked="cable", given=lambda found: "body" in found):
            sa.Contact(*pair, radius=0.1)


@pytest.mark.collective(rows=0)
def test_a_law_that_tells_no_stiffness_is_refused_by_name() -> None:
    @sa.local(p=0, per="cell")
    def mixed(J: Any, I1: Any, *, mu: Any, k: Any, p: Any) -> Any:
        return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + p * (J - 1) - p**2 / (2 * k)

    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    block = sa.Body(mesh["body"], elements.hex8_plain, mixed, name="rubber", mu=1.0, k=9.0)
    touch = sa.Contact(block["z1"], sa.Plane((0.0, 0.0, 2.0), normal=(0.0, 0.0, -1.0)))
    with refused(sa.ParameterError, asked="stiffness", given="rubber"):
        sa.System(block, terms=[sa.fix(block["z0"]), touch])

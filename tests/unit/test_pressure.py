# SPDX-License-Identifier: BSD-3-Clause
"""Follower pressure: consistency, closed surfaces, direction, wrong input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import symancf as sa
from symancf import elements, energies
from symancf.assembly.assembler import Assembler
from tests.refusals import refused
from tests.shells import box_of_walls, resultant, sphere

RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0}
SIDES = ("x0", "x1", "y0", "y1", "z0", "z1")


def block(cells=(2, 2, 2)):
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), cells)
    return sa.Body(mesh["body"], elements.hex8_plain, energies.yeoh(), **RUBBER)


def shell(element, cells=3, flipped=(), **more):
    mesh = sphere(cells, flipped=flipped)
    if element is elements.ancf_plate:
        law, parameters = energies.yeoh(), RUBBER
    else:
        law, parameters = energies.kirchhoff(), {"E": 1.0, "nu": 0.3}
    return sa.Body(
        mesh["skin"], element, law, thickness=0.1, direction=lambda X: X, **parameters, **more
    )


def test_tangent_on_facets_of_a_solid():
    body = block()
    loads = [sa.pressure(body[side], 0.3 + 0.1 * k) for k, side in enumerate(SIDES)]
    checked = sa.check(sa.System(body, terms=[sa.fix(body["x0"]), *loads]))
    assert checked.tangent < 1e-10
    assert checked.product < 1e-14
    assert checked.symmetry > 1e-6  # six pressures: no potential


@pytest.mark.parametrize("element", [elements.ancf_plate, elements.ancf_thin_plate])
@pytest.mark.parametrize("face", [(1, False), (-1, False), (1, True)])
def test_tangent_on_plates(element, face):
    body = shell(element, 2)
    system = sa.System(body, terms=[sa.pressure(body["skin"].face(*face), 0.3)])
    checked = sa.check(system)
    assert checked.tangent < 1e-8
    assert checked.product < 1e-13


def test_watertight_solid_has_no_resultant():
    body = block((3, 2, 2))
    system = sa.System(body, terms=[sa.pressure(body[side], 0.3) for side in SIDES])
    force, moment, size = resultant(system, 0.1 * system._discrete.numbering.random(3))
    assert size > 0.1
    assert np.abs(force).max() < 1e-12 * size
    assert np.abs(moment).max() < 1e-12 * size


@pytest.mark.parametrize("element", [elements.ancf_plate, elements.ancf_thin_plate])
def test_closed_mid_surface_has_no_resultant(element):
    body = shell(element)
    system = sa.System(body, terms=[sa.pressure(body["skin"].face(1, middle=True), 0.3)])
    force, moment, size = resultant(system, 0.03 * system._discrete.numbering.random(3))
    assert size > 0.1
    assert np.abs(force).max() < 1e-12 * size
    assert np.abs(moment).max() < 1e-12 * size


def test_faces_of_a_smooth_shell_are_closed():
    """Full gradients share the director: z = +-h/2 is as closed as the mid-surface."""
    body = shell(elements.ancf_plate)
    for side in (1, -1):
        system = sa.System(body, terms=[sa.pressure(body["skin"].face(side), 0.3)])
        force, moment, size = resultant(system, 0.03 * system._discrete.numbering.random(3))
        assert np.abs(force).max() < 1e-12 * size
        assert np.abs(moment).max() < 1e-12 * size
        body = shell(elements.ancf_plate)


def test_area_and_side_of_faces():
    """Pressure on one octant of a sphere: p pi r^2/4 along each axis, r of the face."""
    for side, radius in ((1, 1.05), (-1, 0.95)):
        for element in (elements.ancf_plate, elements.ancf_thin_plate):
            law = (energies.yeoh(), RUBBER), (energies.kirchhoff(), {"E": 1.0, "nu": 0.3})
            energy, values = law[element is elements.ancf_thin_plate]
            octant = sa.Mesh.sphere(1.0, 12, symmetric="xyz", cell="quad")
            skin = octant["body"]
            body = sa.Body(skin, element, energy, thickness=0.1, direction=lambda X: X, **values)
            system = sa.System(body, terms=[sa.pressure(body["body"].face(side), 2.0)])
            push, _, _ = resultant(system, np.zeros_like(system.state))
            assert push == pytest.approx(-side * np.pi * radius**2 / 2, rel=3e-3)
    body = block()
    pressed = sa.pressure(body["x1"], 2.0)
    system = sa.System(body, terms=[pressed])
    force, _, _ = resultant(system, np.zeros_like(system.state))
    assert force == pytest.approx([-2.0, 0.0, 0.0])  # into the solid


def test_present_area():
    """The force on a stretched face is that on its present area."""
    body = block()
    system = sa.System(body, terms=[sa.pressure(body["x1"], 2.0)])
    state = np.zeros_like(system.state)
    at = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    state[at[:, None] + np.arange(3)] = system._discrete.points * [0.0, 0.5, 1.0]
    force, _, _ = resultant(system, state)
    assert force == pytest.approx([-2.0 * 1.5 * 2.0, 0.0, 0.0])


def test_cells_of_opposite_senses_are_named():
    body = shell(elements.ancf_plate, 2, flipped=(3,))
    with refused(sa.MeshError, asked="orientation", given=lambda at: len(at) == 3) as caught:
        sa.System(body, terms=[sa.pressure(body["skin"].face(1), 0.3)])
    assert "sa.Cavity" in str(caught.value)


def test_wrong_places():
    body = shell(elements.ancf_plate, 2)
    with refused(sa.ParameterError, asked="side", given=None, possible=(1, -1)):
        sa.pressure(body["skin"], 1.0)
    with refused(sa.ParameterError, asked="side", given=2, possible=(1, -1)):
        sa.pressure(body["skin"].face(2), 1.0)
    solid = block()
    with refused(sa.ParameterError, asked="side", given=-1, possible=(None, 1)):
        sa.pressure(solid["x0"].face(-1), 1.0)
    with refused(sa.ParameterError, asked="region", given="(0, 0, 0) of 'body'"):
        sa.pressure(solid.at((0.0, 0.0, 0.0)), 1.0)
    with refused(sa.ParameterError, asked="p", given=math.isnan):
        sa.pressure(solid["x0"], np.nan)
    with refused(sa.MeshError, asked="body", given=("hexahedron",), possible=("quad",)):
        sa.pressure(solid["body"], 1.0)


def test_facets_inside_of_a_solid_are_named():
    mesh = sa.Mesh.from_arrays(
        [(x, y, z) for z in (0, 1, 2) for y in (0, 1) for x in (0, 1)],
        {"hexahedron": [[0, 1, 3, 2, 4, 5, 7, 6], [4, 5, 7, 6, 8, 9, 11, 10]]},
        {"body": ("hexahedron", [0, 1]), "cut": ("quad", np.array([[4, 5, 7, 6]]))},
    )
    body = sa.Body(mesh["body"], elements.hex8_plain, energies.yeoh(), **RUBBER)
    with refused(sa.MeshError, asked="facet", given=(0.5, 0.5, 1.0), possible=("boundary",)):
        sa.System(body, terms=[sa.pressure(body["cut"], 1.0)])


def forces(facets, system, vector, p):
    """Return the residual of a pressure, in NumPy and complex arithmetic (local vector).

    `vector`: reference + state, complex. Written from the formula alone: sum over Gauss points
    of weight p sense A n N_i, with the curvatures of a thin plate for its faces.
    """
    surface = facets.surface
    element, body = surface.element, surface.body
    x, w = np.polynomial.legendre.leggauss(5)
    x, w = (x + 1.0) / 2.0, w / 2.0
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=2).reshape(-1, 2)
    weights = np.outer(w, w).ravel()
    on = system._discrete.binding(body).interpolation
    at = on.offset(facets.cells, "value")[..., None] + np.arange(3)
    at = at[:, :, None, :]
    maps = np.ones((*facets.cells.shape, 1, 1))
    if element.slopes:
        start = on.offset(facets.cells, "slope0")
        slope = start[..., None, None] + np.arange(3 * len(element.slopes)).reshape(-1, 3)
        at = np.concatenate([at, slope], axis=2)
        maps = np.zeros((*facets.cells.shape, 1 + len(element.slopes), 1 + len(element.slopes)))
        maps[..., 0, 0] = 1.0
        maps[..., 1:, 1:] = on.maps_of(facets.cells)
    q = np.einsum("nvkc,nvca->nvka", maps, vector[at]).reshape(len(at), -1, 3)
    z = 0.0 if surface.middle else facets.sense[:, None] * body._numbers(0.0)["thickness"] / 2.0

    def table(jet):
        spread = element.space.point_jets[jet]
        parts = [element.space.tabulate((name,), points)[:, 0] for name in spread]
        height = [0.0 if factor == 1 else 1.0 for factor in spread.values()]
        return sum(
            np.where(h, np.broadcast_to(z, (len(at), 1))[..., None], 1.0) * part[None]
            for h, part in zip(height, parts, strict=True)
        )  # (n, q, functions)

    def jet(name):
        return np.einsum("nqk,nka->nqa", table(name), q)

    n = np.cross(jet("xi"), jet("eta"))
    if not surface.middle and not element.has_thickness:
        length = np.sqrt((n * n).sum(axis=2))
        a = [
            (jet(s) * jet(t)).sum(axis=2) for s, t in (("xi", "xi"), ("xi", "eta"), ("eta", "eta"))
        ]
        b = [(jet(s) * n).sum(axis=2) / length for s in ("xixi", "xieta", "etaeta")]
        det = a[0] * a[2] - a[1] ** 2
        twice_H = (b[0] * a[2] - 2.0 * b[1] * a[1] + b[2] * a[0]) / det
        n = n * (1.0 - z * twice_H + z**2 * (b[0] * b[2] - b[1] ** 2) / det)[..., None]
    push = p * facets.sense[:, None, None] * n * weights[:, None]
    f = np.einsum("nqk,nqa->nka", table("value"), push).reshape(*at.shape[:3], 3)
    total = np.zeros_like(vector)
    np.add.at(total, at, np.einsum("nvkc,nvka->nvca", maps, f))
    return total


@pytest.mark.parametrize("middle", [True, False])
@pytest.mark.parametrize("element", ["hex8_plain", "ancf_plate", "ancf_thin_plate"])
def test_residual_and_tangent_by_complex_step(element, middle):
    if element == "hex8_plain":
        if not middle:
            pytest.skip("facets of solids have no thickness")
        body = block()
        load = sa.pressure(body["x1"], 0.7)
    else:
        body = shell(getattr(elements, element), 2)
        load = sa.pressure(body["skin"].face(-1, middle=middle), 0.7)
    system = sa.System(body, terms=[load])
    assembler = Assembler(
        [p for p in system._discrete.forms if p.role == "work"],
        system._discrete.numbering,
        system.reference,
        system.comm,
    )
    assembler.update(0.0)
    state = 0.03 * system._discrete.numbering.random(7)
    v = system._discrete.numbering.random(8)
    f, Kv = np.zeros_like(state), np.zeros_like(state)
    assembler.residual(state, f)
    assembler.product(state, v, Kv)
    exact = forces(
        system._discrete.binding(load).facets[0], system, system.reference + state + 1e-30j * v, 0.7
    )
    assert np.abs(f - exact.real).max() < 1e-13 * np.abs(f).max()
    assert np.abs(Kv - exact.imag / 1e-30).max() < 1e-12 * np.abs(Kv).max()


def test_faces_at_kinks_are_told():
    for face, told in (((-1,), True), ((-1, True), False)):
        mesh = box_of_walls(2)
        body = sa.Body(mesh["skin"], elements.ancf_plate, energies.yeoh(), thickness=0.1, **RUBBER)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            sa.System(body, terms=[sa.pressure(body["skin"].face(*face), 0.1)])
        assert any("20 nodes of a kink" in str(w.message) for w in found) == told


@pytest.mark.parametrize("element", [elements.ancf_plate, elements.ancf_thin_plate])
def test_a_pressure_that_presses_a_tube_into_itself_is_told(element):
    """The resultant of a tube is zero, its volume shrinks on one of its faces."""

    def tube(X):
        angle = 2 * np.pi * X[:, 0]
        return np.stack([np.cos(angle), np.sin(angle), 1e3 * X[:, 1]], axis=1) * 1e-3 + [5, 0, 0]

    box = sa.Mesh.box((0.95, 1.0), (12, 2), warp=tube)  # with a slit
    flat = sa.Mesh.box((1.0, 1.0), (4, 2))
    energy = energies.yeoh() if element is elements.ancf_plate else energies.kirchhoff()
    more = RUBBER if element is elements.ancf_plate else {"E": 1.0, "nu": 0.3}

    def told(mesh, side, middle=False):
        body = sa.Body(mesh["body"], element, energy, thickness=1e-5, **more)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            sa.System(body, terms=[sa.pressure(body["body"].face(side, middle), 1.0)])
        return [str(w.message) for w in found if "inwards" in str(w.message)]

    (text,) = told(box, +1)
    assert "for gas inside take face(-1)" in text
    assert len(told(box, +1, middle=True)) == 1
    assert not told(box, -1)
    assert not told(flat, +1)
    assert not told(flat, -1)


def test_a_pressure_between_two_solids_is_refused():
    mesh = sa.Mesh.from_arrays(
        [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)],
        {"hexahedron": [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]},
        {
            "left": ("hexahedron", [0]),
            "right": ("hexahedron", [1]),
            "between": ("quad", [[1, 4, 10, 7]]),
            "end": ("quad", [[2, 5, 11, 8]]),
        },
    )
    left, right = (
        sa.Body(mesh[k], elements.hex8_plain, energies.yeoh(), **RUBBER) for k in ("left", "right")
    )
    with refused(sa.MeshError, asked="facet", given=(1.0, 0.5, 0.5), possible=("right", "left")):
        sa.System(left, right, terms=[sa.pressure(right["between"], 1.0)])
    sa.System(left, right, terms=[sa.pressure(right["end"], 1.0)])

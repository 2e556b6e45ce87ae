# SPDX-License-Identifier: BSD-3-Clause
"""Planes of symmetry and planar motion: half a body moves as in the whole one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from symancf.bodies.body import Body
from symancf.catalogue.boundary import fix, planar, symmetry
from symancf.catalogue.loads import traction
from symancf.elements import ancf_plate, ancf_thin_plate, hex8_plain
from symancf.energies import kirchhoff, saint_venant_kirchhoff
from symancf.errors import MeshError, ParameterError
from symancf.mesh import Mesh
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from tests.refusals import refused

Array = npt.NDArray[np.float64]

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3}
THIN: dict[str, Any] = {**STEEL, "thickness": 0.05}
TIGHT = {"snes_rtol": 1e-12}


def arch(X: Array) -> Array:
    """Roll a rectangle on a cylinder of radius 1 about the y axis."""
    return np.stack([np.sin(X[:, 0]), X[:, 1], np.cos(X[:, 0])], axis=1)


def normal(X: Array) -> Array:
    return X * [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("element", "curved"),
    [
        (hex8_plain, False),
        (ancf_plate, False),
        (ancf_plate, True),
        (ancf_thin_plate, False),
        (ancf_thin_plate, True),
    ],
)
def test_half_a_body_moves_as_in_the_whole_one(element: Any, curved: bool) -> None:
    energy = kirchhoff() if element is ancf_thin_plate else saint_venant_kirchhoff()
    found = []
    for half in (False, True):
        lengths, divisions = ((0.8, 0.5), (4, 2)) if half else ((0.8, 1.0), (4, 4))
        if element is hex8_plain:
            mesh = Mesh.box((*lengths, 0.2), (*divisions, 2))
            body = Body(mesh["body"], element, energy, **STEEL)
            load = traction(body["x1"], (0.0, 0.0, 100.0))
        else:
            mesh = Mesh.box(lengths, divisions, warp=arch if curved else None)
            direction = normal if curved else None
            body = Body(mesh["body"], element, energy, direction=direction, **THIN)
            load = traction(body["x1"], (0.0, 0.0, 3.0))
        terms: list[Any] = [fix(body["x0"]), load]
        if half:
            terms.append(symmetry(body["y1"], "y"))
        system = System(body, terms=terms)
        StaticProblem(system, options=TIGHT).solve()
        points = np.array([[0.0, 0.5, 0.0], [0.4, 0.25, 0.0], [0.8, 0.0, 0.0], [0.8, 0.5, 0.0]])
        found.append(system.displacement(body.at(arch(points) if curved else points)))
    assert np.abs(found[0]).max() > 1e-3
    np.testing.assert_allclose(found[1], found[0], atol=1e-11)


def test_a_shell_that_meets_the_plane_at_an_angle_is_named() -> None:
    mesh = Mesh.box((0.8, 0.5), (4, 2), warp=arch)
    body = Body(mesh["body"], ancf_thin_plate, kirchhoff(), direction=normal, **THIN)
    with refused(MeshError, asked="normal", given="z", possible=()):
        System(body, terms=[fix(body["x0"]), symmetry(body["x1"], "z")])


def test_the_normal_is_an_axis() -> None:
    mesh = Mesh.box((1.0, 1.0), (1, 1))
    body = Body(mesh["body"], ancf_thin_plate, kirchhoff(), **THIN)
    with refused(ParameterError, asked="normal", given="n", possible=("x", "y", "z")):
        symmetry(body["x0"], "n")


def test_a_plate_in_its_plane_may_change_its_thickness() -> None:
    mesh = Mesh.box((1.0, 1.0), (1, 1))
    body = Body(mesh["body"], ancf_plate, saint_venant_kirchhoff(), **THIN)
    sides = [symmetry(body["x0"], "x"), symmetry(body["y0"], "y")]
    pull = traction(body["x1"], (50.0, 0.0, 0.0))
    system = System(body, terms=[*sides, planar(body, "z"), pull])
    StaticProblem(system, options=TIGHT).solve()
    stretch = np.diagonal(system.gradient(body["body"]), axis1=1, axis2=2)
    strain = 50.0 / (STEEL["E"] * THIN["thickness"])
    np.testing.assert_allclose(stretch - 1.0, np.tile([1, -0.3, -0.3], (4, 1)) * strain, rtol=5e-3)

# SPDX-License-Identifier: BSD-3-Clause
"""Stresses of sampled bodies: curved cables, parameters by cell, energies of the place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from symancf.bodies.body import Body
from symancf.catalogue.boundary import fix, planar
from symancf.catalogue.loads import force
from symancf.catalogue.moments import moment
from symancf.elements import ancf_cable, ancf_plate, hex8
from symancf.energies import cable, saint_venant_kirchhoff
from symancf.mesh import Mesh
from symancf.output.sampling import sample
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from symancf.values.parameter import Field

Array = npt.NDArray[np.float64]


def arc(X: Array) -> Array:
    """Put a line on a circle of radius 2 in the plane z = 0."""
    return 2.0 * np.stack([np.sin(X[:, 0]), 1.0 - np.cos(X[:, 0]), 0.0 * X[:, 0]], axis=1)


def test_the_bending_moment_of_a_curved_cable_is_that_of_its_change_of_curvature() -> None:
    mesh = Mesh.box((np.pi / 2,), (16,), warp=arc)
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1e4, EI=1.0)
    load = moment(beam["x1"], (0.0, 0.0, 0.1))
    system = System(beam, terms=[fix(beam["x0"]), planar(beam), load])
    assert np.abs(sample(system, beam).point_data["bending_moment"]).max() < 1e-12
    StaticProblem(system).solve()
    np.testing.assert_allclose(sample(system, beam).point_data["bending_moment"], 0.1, rtol=0.03)


def test_parameters_by_cell_reach_stress_and_thickness() -> None:
    mesh = Mesh.box((1.0, 1.0), (4, 1))
    parameters: dict[str, Any] = {
        "E": Field(lambda X: 1e5 * (1.0 + X[:, 0])),
        "thickness": Field(lambda X: 0.05 + 0.01 * X[:, 0]),
    }
    plate = Body(mesh["body"], ancf_plate, saint_venant_kirchhoff, nu=0.0, **parameters)
    held = fix(plate["x0"], ["position", "slope_y", "slope_z"])
    system = System(plate, terms=[held, force(plate["x1"], (10.0, 0.0, 0.0))])
    rest = sample(system, plate, solid=True, divisions=1)
    centres = np.array([0.125, 0.375, 0.625, 0.875])
    thickness = np.sort(rest.point_data["thickness"])[::8]  # 4 points on 2 faces of each cell
    np.testing.assert_allclose(thickness, 0.05 + 0.01 * centres)
    np.testing.assert_allclose(np.sort(np.abs(rest.points[:, 2]))[::8], thickness / 2)
    StaticProblem(system).solve()
    stress = sample(system, plate).point_data["von_mises"]
    np.testing.assert_allclose(stress.mean(), np.mean(10.0 / (0.05 + 0.01 * centres)), rtol=0.02)


def test_an_energy_may_depend_on_strain_place_displacement_and_time() -> None:
    def energy(E_gl: Any, X: Any, u: Any, t: Any, *, E: Any, q: Any) -> Any:
        square = sum(e**2 for e in E_gl)
        return E / 2 * square * (1 + X[0]) - q * t * u[0] * X[2]

    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    cube = Body(mesh["body"], hex8, energy, E=100.0, q=1.0)
    system = System(cube, terms=[fix(cube["x0"])])
    StaticProblem(system).solve()
    assert system.displacement(cube.at((1.0, 0.5, 1.0)))[0, 0] > 1e-3
    assert np.abs(sample(system, cube).point_data["von_mises"]).max() > 0.1

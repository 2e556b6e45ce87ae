# SPDX-License-Identifier: BSD-3-Clause
"""Welded ties of plates that meet at an angle and of cables."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from symancf.bodies.body import Body
from symancf.catalogue import joints
from symancf.catalogue.boundary import fix
from symancf.catalogue.loads import force
from symancf.elements import ancf_cable, ancf_plate, ancf_thin_plate, hex8_plain
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf.errors import ConstraintError
from symancf.mesh import Mesh
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from tests.refusals import refused

Array = npt.NDArray[np.float64]

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.0, "thickness": 0.05}


def corner(element: Any, energy: Any) -> tuple[Body, Body]:
    """Return a vertical plate and a horizontal one that meet at a right angle."""

    def upright(X: Array) -> Array:
        return np.stack([0.0 * X[:, 0], X[:, 1], X[:, 0] - 1.0], axis=1)

    first = Mesh.box((1.0, 0.5), (6, 4), warp=upright)
    second = Mesh.box((1.0, 0.5), (6, 3), name="second")
    post = Body(first["body"], element, energy, name="post", **STEEL)
    return post, Body(second["body"], element, energy, name="beam", **STEEL)


def test_a_corner_of_plates_keeps_its_angle_and_carries_the_moment() -> None:
    post, beam = corner(ancf_plate, saint_venant_kirchhoff())
    weight = np.array([0.0, 0.0, -1.0])
    root = fix(post["x0"])
    tie = joints.tie(post["x1"], beam)
    system = System(post, beam, terms=[root, tie, force(beam["x1"], weight)])
    StaticProblem(system).solve(step=0.25)
    np.testing.assert_allclose(root.reaction(system).force, -weight, atol=1e-9)
    tip = system.position(beam.at((1.0, 0.25, 0.0)))[0]
    moment = root.reaction(system).moment_about((0.0, 0.25, -1.0))
    np.testing.assert_allclose(moment[1], -tip[0], rtol=1e-6)
    middle = np.array([[0.0, 0.25, 0.0]])
    spins = [system.gradient(body.at(middle))[0] for body in (post, beam)]
    angles = [np.arctan2(F[0, 2] - F[2, 0], F[0, 0] + F[2, 2]) for F in spins]
    assert abs(angles[0]) > 0.01
    np.testing.assert_allclose(angles[0], angles[1], rtol=1e-3)


def test_thin_plates_at_an_angle_share_no_tangents() -> None:
    post, beam = corner(ancf_thin_plate, kirchhoff())
    terms: list[Any] = [fix(post["x0"]), joints.tie(post["x1"], beam)]
    with refused(ConstraintError, asked="slope", given=(0.0, 0.5, 0.0)):
        System(post, beam, terms=terms)


def test_welded_cables_are_one_cable() -> None:
    found = []
    for whole in (True, False):
        kw: dict[str, Any] = {"EA": 1e4, "EI": 1.0}
        if whole:
            mesh = Mesh.box((1.0,), (8,))
            last = Body(mesh["body"], ancf_cable, cable(), name="a", **kw)
            bodies, terms = [last], [fix(last["x0"])]
        else:
            halves = [
                Mesh.box((0.5,), (4,), name="a"),
                Mesh.box((0.5,), (4,), warp=lambda X: X + np.array([0.5, 0.0, 0.0]), name="b"),
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first, last = (
                    Body(mesh["body"], ancf_cable, cable(), name=mesh.name, **kw) for mesh in halves
                )
            bodies = [first, last]
            terms = [fix(first["x0"]), joints.tie(last["x0"], first)]
        system = System(*bodies, terms=[*terms, force(last["x1"], (0.0, 2.0, 1.0))])
        StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        found.append(system.displacement(last["x1"]))
    assert np.abs(found[0]).max() > 0.1
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_nodes_without_slopes_cannot_be_welded() -> None:
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    cube = Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), E=1.0, nu=0.3)
    with refused(ConstraintError, asked="weld", given=True, possible=(False,)):
        joints.tie(cube["x1"], cube, weld=True)
    with refused(ConstraintError, asked="b", given="nodes of 'x0' of 'body'"):
        joints.tie(cube["x1"], cube["x0"])  # type: ignore[arg-type]

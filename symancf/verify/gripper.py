# SPDX-License-Identifier: BSD-3-Clause
"""The four-bar gripper of curved flexures: closing forces, tangent, exact flexures."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..bodies.plane import Factor, PlanarBody, displacement_control
from ..catalogue.boundary import planar
from ..catalogue.joints import clamp
from ..catalogue.loads import force
from ..elements import ancf_cable
from ..energies import cable
from ..extensions.flexure import Flexure, ground_wrench, tangent_parts
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Bodies = dict[int, PlanarBody]

SOURCE = "Cammarata et al., Micromachines 13 (2022) 2172; recomputed with complex steps"
RADIUS, EI, EA = 0.2, 100e9 * 25 * 5**3 / 12 * 1e-12, 1.25e7  # mm, uN mm^2, uN
ORIGIN = {1: (0.0, 0.0), 2: (1.5, 0.2), 3: (1.8, 1.5), 4: (1.0, 1.5)}
EFFECTOR = (-1.3571, 1.6991)
CENTRE_B = 2 * math.cos(math.pi / 8), 2 * math.sin(math.pi / 8)
CENTRE_C = 0.5 + 0.8 * math.cos(math.pi / 6), 1.9
HINGES = {  # bodies, centre, polar angle of the start and angle [degrees]
    "a": ((1, 2), (0.5, 0.0), 22.5, 300.0),
    "b": ((2, 3), CENTRE_B, 132.0, 320.0),
    "c": ((3, 4), CENTRE_C, -15.0, 330.0),
    "d": ((4, 1), (0.5, 1.5), 240.0, 250.0),
}


def arc(name: str, points: int) -> Array:
    """Return points (n, 2) along a flexure."""
    _, centre, start, angle = HINGES[name]
    polar = np.radians(start + angle * np.linspace(0.0, 1.0, points))
    circle = np.stack([np.cos(polar), np.sin(polar)], axis=1)
    return np.asarray(np.asarray(centre) + RADIUS * circle)


def bodies_of() -> Bodies:
    """Return the three moving bodies."""
    return {k: PlanarBody(position=ORIGIN[k], name=f"body {k}") for k in (2, 3, 4)}


def simplified(model: str, bodies: Bodies) -> tuple[list[Body], list[Any]]:
    """Return no deformable bodies, and the four flexures of a simplified model."""
    flexures = []
    for name, (pair, _, _, angle) in HINGES.items():
        a, b = (
            Ground(np.append(x, 0.0)) if k == 1 else bodies[k].at(x - ORIGIN[k])
            for k, x in zip(pair, arc(name, 2), strict=True)
        )
        turn = math.radians(angle)
        flexures.append(Flexure.arc(a, b, RADIUS, turn, EI=EI, model=model, name=name))
    return [], flexures


def cables_of(elements: int, bodies: Bodies) -> tuple[list[Body], list[Any]]:
    """Return geometrically exact flexures: bodies of cables, and what holds them."""
    cables: list[Body] = []
    terms: list[Any] = []
    for name, (pair, centre, _, _) in HINGES.items():
        X = np.pad(arc(name, elements + 1), ((0, 0), (0, 1)))
        lines = np.stack([np.arange(elements), np.arange(1, elements + 1)], axis=1)
        mesh = Mesh.from_arrays(X, {"line": lines}, name=name, check=False)
        middle = np.append(centre, 0.0)

        def tangent(x: Array, middle: Array = middle) -> Array:
            return np.asarray(np.cross([0.0, 0.0, 1.0], x - middle) / RADIUS)

        energy = cable(curvature="plane")
        flexure = Body(mesh["all"], ancf_cable, energy, name=name, direction=tangent, EI=EI, EA=EA)
        cables.append(flexure)
        terms.append(planar(flexure))
        for x, k in zip((X[0], X[-1]), pair, strict=True):
            terms.append(clamp(flexure.at(x), Ground() if k == 1 else bodies[k]))
    return cables, terms


def closing_force(build: Callable[[Bodies], tuple[list[Body], list[Any]]]) -> tuple[float, System]:
    """Return the force on body 2 at which the effector reaches x = 0, and the system."""
    bodies, factor = bodies_of(), Factor("closing force")
    effector = bodies[3].at(EFFECTOR)
    start = float(effector.X[0, 0])
    cables, terms = build(bodies)
    load = force(bodies[2].at((0, 0)), (0.0, 1.0), factor=factor)
    close = displacement_control(effector, "x", position=lambda t: start * (1 - t), release=factor)
    system = System(*bodies.values(), *cables, terms=[*terms, load, close])
    StaticProblem(system, options=TIGHT).solve(step=0.1)
    return factor.value(system), system


@case("P1_gripper_models", SOURCE)
def models() -> Iterator[Number]:
    """Closing force of the simplified models, and the tangent of the partial one at 50 uN."""
    for model, expected in (("linear", 63.946), ("partial", 77.034), ("consistent", 75.55)):
        force_found, _ = closing_force(partial(simplified, model))
        tolerance = 5e-3 if model == "consistent" else 5e-4
        yield Number(f"closing force [uN]: {model}", force_found, expected, tolerance, 1.0)
    bodies = bodies_of()
    terms = [*simplified("partial", bodies)[1], force(bodies[2].at((0, 0)), (0.0, 50.0))]
    system = System(*bodies.values(), terms=terms)
    StaticProblem(system, options=TIGHT).solve()
    for axis, expected in (("x", -9.51), ("y", -49.09)):
        force_found = float(ground_wrench(system)["xy".index(axis)])
        yield Number(f"force of the ground, {axis} [uN]", force_found, expected, 5e-3, 1.0)
    tangent = np.asarray(sum(tangent_parts(system).values()))
    right = [[2558.0, -920.6, -190.0], [-288.6, 3850.0, -1121.0], [-125.7, -881.5, 676.0]]
    for i, row in enumerate(right):
        for j, expected in enumerate(row):
            digits = 0.05 if expected in (-920.6, -288.6, -125.7, -881.5) else 0.5
            value = float(tangent[6 + i, 6 + j])
            yield Number(f"tangent, block (4,4), ({i + 1},{j + 1})", value, expected, digits, 1.0)


@case("P1_gripper_exact", "extensible Kirchhoff elastica, shooting with 400 Runge-Kutta steps")
def exact() -> Iterator[Number]:
    """Closing force with flexures of ANCF cables, clamped to the bodies."""
    forces = {}
    for elements, tolerance in ((8, 2e-2), (16, 2e-3), (32, 1e-4), (64, 3e-5)):
        forces[elements], system = closing_force(partial(cables_of, elements))
        yield Number(
            f"closing force [uN]: {elements} cables each", forces[elements], 69.856, tolerance
        )
    balance = float(np.abs(ground_wrench(system)[:2] + np.array([0.0, forces[64]])).max())
    yield Number("ground against load [uN]", balance, 0.0, 1e-8, 1.0)
    errors = [forces[8] - forces[64], forces[16] - forces[64]]
    yield Number("order of convergence", order(errors), 4.0, 0.6, 1.0)

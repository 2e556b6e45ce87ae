# SPDX-License-Identifier: BSD-3-Clause
"""Joints whose motion has a closed form: a cross between two shafts, a ladder at a wall."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.natural import RigidBody
from ..bodies.plane import PlanarBody
from ..catalogue.joints import cylindrical, revolute, rotation, universal
from ..catalogue.loads import gravity
from ..solve.dynamics import DynamicProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.constraint import Constraint
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator


@case("D06_universal_joint", "Cardan: tan(theta_2) = cos(beta) tan(theta_1)")
def shafts() -> Iterator[Number]:
    """Two shafts at 30 degrees, joined by a cross: the angle of the second."""
    beta = math.pi / 6
    c, s = math.cos(beta), math.sin(beta)
    along, across = (c, s, 0.0), (-s, c, 0.0)
    frame = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    size = (1.0, 0.1, 0.1)
    first = RigidBody.box(size, position=(-0.5, 0.0, 0.0), name="first", rho=100.0)
    second = RigidBody.box(size, (0.5 * c, 0.5 * s, 0.0), frame, name="second", rho=100.0)
    start, end = first.at((-0.5, 0.0, 0.0)), second.at((-0.5, 0.0, 0.0))
    x = (1.0, 0.0, 0.0)
    terms = [
        revolute(start, axis=x),
        rotation(start, angle=lambda t: t, axis=x),
        universal(first.at((0.5, 0.0, 0.0)), end, axes=((0.0, 0.0, 1.0), across)),
        cylindrical(second.at((0.5, 0.0, 0.0)), axis=along),
    ]
    with warnings.catch_warnings():  # the bearing holds two displacements that the cross does
        warnings.filterwarnings("ignore", message="redundant constraints")
        system = System(first, second, terms=terms)
        problem = StaticProblem(system, options=TIGHT)
        for angle in (0.5, 1.5, 2.5, 4.0):
            problem.solve(to=angle, step=0.25)
            a, b = system.position(second.at([(0.0, 0.0, 0.0), (0.0, 0.0, 0.1)]))
            angle_found = math.atan2(-(b - a) @ np.array(across), (b - a)[2])
            right = math.atan2(math.sin(angle) * c, math.cos(angle))
            yield Number(
                f"angle of the second shaft at {angle:g} [rad]", angle_found, right, 1e-12, 1.0
            )


def wall(r_a: Any) -> Any:
    """Hold a place on the line x = 0."""
    return r_a[0]


def floor(r_a: Any) -> Any:
    """Hold a place on the line y = 0."""
    return r_a[1]


@case("D07_ladder", "energy and momentum: at two thirds of its height it leaves the wall")
def ladder() -> Iterator[Number]:
    """A ladder slides down without friction: height at which the force of the wall is zero."""
    length, angle = 2.0, math.pi / 3
    x, y = 0.5 * length * math.cos(angle), 0.5 * length * math.sin(angle)
    bar = PlanarBody(position=(x, y, -angle), name="ladder", mass=1.0, inertia=length**2 / 12)
    top = Constraint(wall, bar.at((-0.5 * length, 0.0)), name="wall")
    foot = Constraint(floor, bar.at((0.5 * length, 0.0)), name="floor")
    system = System(bar, terms=[top, foot, gravity((0.0, -9.81, 0.0))])
    problem = DynamicProblem(system, spectral_radius=0.9)
    problem.event(lambda: float(np.ravel(top.multipliers(system))[0]), terminate=True)
    problem.solve(to=2.0, step=4e-3)
    yield Number("height of the centre [m]", bar.position(system)[1], 2.0 / 3.0 * y, 2e-5)

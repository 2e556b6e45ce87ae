# SPDX-License-Identifier: BSD-3-Clause
"""Rods with couplings: closed forms and strips of layers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force, traction
from ..catalogue.moments import moment
from ..elements import ancf_rod, ancf_thin_plate
from ..energies import orthotropic, rod
from ..extensions.section import Section
from ..laws.layers import Layers
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .rods import along, axes, growing, line, straight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Stiffness in N, N m and N m^2 of a strip, with extension-twist and bending-twist.
COUPLED = np.diag([3.9e6, 1.1e6, 1.2e5, 1.18, 0.983, 290.0])
COUPLED[0, 3] = COUPLED[3, 0] = -522.0
COUPLED[3, 4] = COUPLED[4, 3] = -0.25
COUPLED[3, 5] = COUPLED[5, 3] = 3.0


def turn(vector: Array) -> Array:
    """Return the rotation about a vector by its length (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / (angle or 1.0)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K)


def turned_rod(cells: int, R: Array, C: Array, length: float) -> Body:
    """Return a rod along R e1 with its axis 2 along R e2."""
    X = np.zeros((2 * cells + 1, 3))
    X[:, 0] = np.linspace(0.0, length, len(X))
    mesh = line(X @ R.T)
    return Body(mesh["rod"], ancf_rod, rod(C=C), direction=along(R[:, 1]))


@case("A13_rod_coupled", "closed form: C^-1 of the forces; helix of a moment along its axis")
def closed() -> Iterator[Number]:
    """Pull of a rod that twists by it; a moment that all couplings leave along one axis."""
    pulled = np.diag(np.diag(COUPLED))
    pulled[0, 3] = pulled[3, 0] = COUPLED[0, 3]
    R = turn(np.array([0.3, -0.8, 0.5]))
    e = np.linalg.solve(pulled, [900.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for unit in (1.0, 1e3):
        scale: Array = np.array([1.0, 1.0, 1.0, unit, unit, unit])
        C: Array = scale[:, None] * pulled * scale
        body = turned_rod(8, R, C, 0.5 * unit)
        load = force(body["end"], growing(900.0 * R[:, 0]))
        system = System(body, terms=[fix(body["start"]), load])
        StaticProblem(system, options=TIGHT).solve()
        u = R.T @ system.displacement(body["end"])[0] / unit
        F = R.T @ axes(system, body["end"]) @ R
        name = "m" if unit == 1.0 else "mm"
        yield Number(f"extension under a pull in {name}", u[0], 0.5 * e[0], 1e-6)
        yield Number(
            f"twist under a pull in {name}", math.atan2(F[2, 1], F[1, 1]), 0.5 * e[3], 2e-5
        )
    bent = COUPLED.copy()
    bent[0, 3] = bent[3, 0] = 0.0
    flexible, modes = np.linalg.eigh(np.linalg.inv(bent)[3:, 3:])
    axis = modes[:, 2] * np.sign(modes[0, 2])
    errors = []
    for cells in (4, 8, 16):
        body = turned_rod(cells, R, bent, 0.5)
        M = 4.0 / flexible[2]  # turns by 2 radians
        couple = moment(body["end"], growing(R @ (M * axis)))
        system = System(body, terms=[fix(body["start"]), couple])
        StaticProblem(system, options=TIGHT).solve()
        s = (np.arange(2000) + 0.5) / 2000.0
        places = np.array([turn(2.0 * x * axis)[:, 0] for x in s])
        right = 0.5 * places.mean(axis=0) - [0.5, 0.0, 0.0]
        u = R.T @ system.displacement(body["end"])[0]
        errors.append(float(np.linalg.norm(u - right)))
    for k, x in enumerate(u):
        yield Number(f"place of the end of a helix: x{k + 1}", x, right[k], 2e-6, 0.5)
    yield Number("order of the helix", order(errors), 4.0, 0.3, 1.0)


#: A layer of AS4/3501-6, m, N.
PLY: dict[str, Any] = {"E1": 142e9, "E2": 9.8e9, "E3": 9.8e9, "nu12": 0.3, "nu13": 0.3, "nu23": 0.4}
PLY |= {"G12": 6e9, "G13": 6e9, "G23": 3.5e9}
WIDTH, PLY_THICKNESS = 0.03, 0.134e-3


def layup(angles: Sequence[float]) -> Layers:
    """Return layers of one ply at angles in degrees."""
    law = orthotropic()
    return Layers([(law, PLY_THICKNESS, a) for a in angles], degrees=True)


#: Length of the strips, and where they are looked at: away from their ends.
LENGTH = 0.4
PLACES = LENGTH / 4.0, LENGTH / 2.0, 3.0 * LENGTH / 4.0


def changes(u: Array, turns: Array) -> tuple[float, float, float]:
    """Return stretch, second difference of the deflection and twist between the `PLACES`."""
    return u[2, 0] - u[0, 0], u[2, 2] - 2.0 * u[1, 2] + u[0, 2], turns[2] - turns[0]


def strip_of_plates(layers: Layers, load: tuple[float, float, float]) -> tuple[float, ...]:
    """Return the `changes` of a strip of thin plates with a force at its end [N]."""
    mesh = Mesh.box((LENGTH, WIDTH), (32, 4))
    body = Body(mesh["body"], ancf_thin_plate, layers, **PLY)
    edge = traction(body["x1"], tuple(f / WIDTH for f in load))
    system = System(body, terms=[fix(body["x0"]), edge])
    StaticProblem(system, options=TIGHT).solve()
    u = [[system.displacement(body.at((x, y, 0.0)))[0] for x in PLACES] for y in (0.0, WIDTH)]
    low, high = np.array(u)
    return changes((low + high) / 2.0, (high - low)[:, 2] / WIDTH)


def strip_as_rod(layers: Layers, load: tuple[float, float, float]) -> tuple[float, ...]:
    """Return the `changes` of the same strip as a rod."""
    law = rod(C=Section.laminate(layers, width=WIDTH, **PLY).C)
    body = Body(straight(16, LENGTH)["rod"], ancf_rod, law)
    system = System(body, terms=[fix(body["start"]), force(body["end"], load)])
    StaticProblem(system, options=TIGHT).solve()
    points = [body.at((x, 0.0, 0.0)) for x in PLACES]
    u = np.array([system.displacement(p)[0] for p in points])
    return changes(u, np.array([system.gradient(p)[0][2, 1] for p in points]))


#: Name -> angles of the layers from below.
LAYUPS = {
    "45/45/0/0": (45, 45, 0, 0),
    "20/-70/-70/20 antisymmetric": (20, -70, -70, 20, -20, 70, 70, -20),
    "45/0 symmetric": (45, 0, 45, 0, 0, 45, 0, 45),
}


@case("A14_laminated_strip", "strips of thin plates with the same layers, 32 x 4 cells")
def laminated() -> Iterator[Number]:
    """Strips of layers as rods: coupling of extension, bending and twist, small loads."""
    for name, angles in LAYUPS.items():
        layers = layup(angles)
        for load, what in (((0.01, 0.0, 0.0), "pull"), ((0.0, 0.0, 1e-3), "tip force")):
            right, computed = strip_of_plates(layers, load), strip_as_rod(layers, load)
            for quantity, x, y in zip(
                ("stretch", "bending", "twist"), computed, right, strict=True
            ):
                second_order = quantity == "stretch" and what == "tip force"
                if abs(y) > 1e-9 and not second_order:
                    yield Number(f"{quantity} under a {what}: {name}", x, y, 1e-3)

# SPDX-License-Identifier: BSD-3-Clause
"""Cables that press on rigid shapes: around a drum with friction, a ring between two plates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force
from ..contact.contact import Contact
from ..contact.shapes import Cylinder, Plane
from ..elements import ancf_cable
from ..energies import cable
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Number, case
from .contact_theory import ring

if TYPE_CHECKING:
    from collections.abc import Iterator

THIN = 1e-2  # radius of cables, of the radius of what they touch


def rope(n: int, R: float, tail: float) -> Body:
    """Return a cable of n cells over the upper half of a circle, and straight tails of 2 cells.

    So light in bending that the tension rules; its stress-free form is the one it has.
    """
    half = math.pi * R
    ends = np.linspace(0.0, tail, 3)[1:]
    s = np.concatenate([-ends[::-1], np.linspace(0.0, half, n + 1), half + ends])

    def place(s: Array) -> Array:
        angle = np.clip(s, 0.0, half) / R
        low = np.minimum(s, 0.0) + np.minimum(half - s, 0.0)
        return np.stack([-R * np.cos(angle), 0.0 * s, R * np.sin(angle) + low], axis=1)

    def tangent(X: Array) -> Array:
        angle = np.arctan2(np.maximum(X[:, 2], 0.0), -X[:, 0])
        return np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)

    cells = len(s) - 1
    mesh = Mesh.box(
        (float(cells),), (cells,), warp=lambda X: place(s[np.rint(X[:, 0]).astype(int)])
    )
    return Body(mesh["body"], ancf_cable, cable(), name="rope", direction=tangent, EA=1e4, EI=1e-5)


def pulled(n: int, mu: float, T: float = 10.0, R: float = 0.1) -> tuple[float, float, list[int]]:
    """Return tension at the far end over that of the load, force on the drum over it, iterations.

    One end is loaded, the other drawn down until the rope slides all around.
    """
    thin = THIN * R
    body = rope(n, R + thin, 0.05)
    drum = Cylinder(R, axis=(0.0, 1.0, 0.0))
    on = Contact(body["body"], drum, mu=mu, radius=thin, initial="press")
    flat = fix(body["body"], ["y", "slope.y"])
    load = force(body["x0"], (0.0, 0.0, lambda t: -T * min(t, 1.0)))
    stretch = 3.0 * T * math.exp(mu * math.pi) * (math.pi * R) / 1e4 + 1e-3 * R

    def drawn(t: float) -> tuple[float, float, float]:
        return 0.0, 0.0, -stretch * max(0.0, t - 1.0)

    support = fix(body["x1"], "position", displacement=drawn)
    system = System(body, terms=[flat, load, support, on])
    problem = StaticProblem(system)
    problem.solve(to=2.0, step=0.25)
    far = -float(support.reaction(system).force[2])
    return (
        far / T,
        float(np.linalg.norm(on.force(system))) / T,
        [s.iterations for s in problem.history.steps],
    )


@case("F04_capstan", "Euler, Eytelwein: T2/T1 = exp(mu phi); T/R presses per length")
def capstan() -> Iterator[Number]:
    """A rope over half a drum, mu = 0.3 and without friction: tension, force on the drum."""
    for cells, tolerance in ((16, 1e-2), (64, 1e-3)):
        for mu in (0.3, 0.0):
            ratio, force, _ = pulled(cells, mu)
            exact, name = math.exp(mu * math.pi), f"{cells} cells, mu = {mu:g}"
            yield Number(f"T2/T1: {name}", ratio, exact, tolerance)
            yield Number(f"force on the drum over T1: {name}", force, 1.0 + exact, tolerance)


def quarter(cells: int) -> Body:
    """Return a quarter of a ring of cable, R = 1, from its top to its side, EI = 1."""

    def bend(X: Array) -> Array:
        angle = X[:, 0]
        return np.stack([np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)

    mesh = Mesh.box((math.pi / 2.0,), (cells,), warp=bend)
    return Body(
        mesh["body"],
        ancf_cable,
        cable(curvature="plane"),
        name="ring",
        direction=lambda X: np.stack([X[:, 1], -X[:, 0], 0.0 * X[:, 0]], axis=1),
        EA=1e5,
        EI=1.0,
    )


@case("F05_ring_between_plates", "elastica of a ring, first angle at the plate by shooting")
def pressed_ring() -> Iterator[Number]:
    """A ring of cable pressed flat between two plates: force and width at a height."""
    thin = 1e-2
    body = quarter(24)
    heights = {F: ring(F)[0] for F in (1.0, 2.0, 20.0)}

    def lowered(t: float) -> tuple[float, float, float]:
        levels = [1.0, *heights.values()]
        return 0.0, float(np.interp(t, range(len(levels)), levels)) - 1.0, 0.0

    plate = Plane((0.0, 1.0 + thin, 0.0), normal=(0.0, -1.0, 0.0), displacement=lowered)
    on = Contact(body["body"], plate, radius=thin)
    top = fix(body["x0"], ["x", "slope.y"])
    side = fix(body["x1"], ["y", "slope.x"])
    system = System(body, terms=[fix(body["body"], ["z", "slope.z"]), top, side, on])
    problem = StaticProblem(system)
    for k, F in enumerate(heights, 1):
        problem.solve(to=float(k), step=0.25)
        _, width, _ = ring(F)
        force_found = -2.0 * float(on.force(system)[1])
        yield Number(f"force at the height of F = {F:g}", force_found, F, 1e-3)
        yield Number(f"width/2R at F = {F:g}", system.position(body["x1"])[0, 0], width, 1e-4)

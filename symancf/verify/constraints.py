# SPDX-License-Identifier: BSD-3-Clause
"""Constraints: plates tied along a line whose nodes do not match, a cable end on a sphere."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue import joints
from ..catalogue.boundary import fix
from ..catalogue.loads import force, gravity
from ..elements import ancf_cable, ancf_plate, ancf_thin_plate
from ..energies import cable, kirchhoff, saint_venant_kirchhoff
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

PLATE: dict[str, Any] = {"E": 1e6, "nu": 0.3, "thickness": 0.05}
LENGTH, WIDTH = 1.0, 0.5


def halves(along: int, left: int, right: int) -> Mesh:
    """Return two rectangles that meet at x = L/2 with different nodes there."""
    points: list[Array] = []
    quads, first = [], []
    for start, across in ((0.0, left), (LENGTH / 2, right)):
        x = np.linspace(start, start + LENGTH / 2, along + 1)
        y = np.linspace(0.0, WIDTH, across + 1)
        number = np.arange(len(x) * len(y)).reshape(len(x), len(y)) + sum(len(p) for p in points)
        corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
        points.append(np.array([(a, b, 0.0) for a in x for b in y]))
        quads.append(np.stack([c.ravel() for c in corners], axis=1))
        first.append((number[0], number[-1]))
    (root, seam), (_, tip) = first
    lines = {
        name: ("line", np.stack([side[:-1], side[1:]], axis=1))
        for name, side in (("root", root), ("seam", seam), ("tip", tip))
    }
    cells = [len(quads[0]), len(quads[1])]
    regions = {
        "left": ("quad", np.arange(cells[0])),
        "right": ("quad", cells[0] + np.arange(cells[1])),
        **lines,
    }
    with warnings.catch_warnings():  # points of both halves coincide, as they should
        warnings.simplefilter("ignore")
        return Mesh.from_arrays(np.concatenate(points), {"quad": np.concatenate(quads)}, regions)


@case("T01_tied_plates", "the plate in one piece; equilibrium")
def tied() -> Iterator[Number]:
    """A cantilever of two plates tied along a line whose nodes do not match, or match."""
    solid: tuple[Any, Any] = (ancf_plate, saint_venant_kirchhoff())
    thin: tuple[Any, Any] = (ancf_thin_plate, kirchhoff())
    up, along = np.array([0.0, 0.0, 5.0]), np.array([1000.0, 0.0, 0.0])
    for (element, energy), load, left, right, tolerance in (
        (solid, up, 6, 4, 1e-4),
        (solid, along, 6, 4, 1e-4),
        (solid, up, 4, 4, 1e-9),
        (solid, along, 4, 4, 1e-9),
        (thin, up, 6, 4, 1e-3),
        (thin, along, 4, 4, 1e-9),
    ):
        mesh = halves(4, left, right)
        a = Body(mesh["left"], element, energy, name="left", **PLATE)
        b = Body(mesh["right"], element, energy, name="right", **PLATE)
        tie, root = joints.tie(a["seam"], b), fix(a["root"])
        system = System(a, b, terms=[root, tie, force(b["tip"], load)])
        StaticProblem(system, options=TIGHT).solve()
        u = system.displacement(b.at((LENGTH, WIDTH / 2, 0.0)))[0]
        one_mesh = Mesh.box((LENGTH, WIDTH), (8, left))
        piece = Body(one_mesh["body"], element, energy, name="piece", **PLATE)
        alone = System(piece, terms=[fix(piece["x0"]), force(piece["x1"], load)])
        StaticProblem(alone, options=TIGHT).solve()
        exact = alone.displacement(piece.at((LENGTH, WIDTH / 2, 0.0)))[0]
        axis, size = int(np.argmax(load)), float(load.max())
        how = "bending" if axis == 2 else "tension"
        label = f"{element.name}, {how}, {left} and {right} cells"
        yield Number(f"tip displacement [m]: {label}", u[axis], exact[axis], tolerance)
        line = np.linspace([LENGTH / 2, 0.0, 0.0], [LENGTH / 2, WIDTH, 0.0], left + 1)
        gap = system.position(a.at(line)) - system.position(b.at(line))
        yield Number(f"gap [m]: {label}", float(np.abs(gap).max()), 0.0, 1e-12, 1.0)
        through = tie.multipliers(system)[:, :3].sum(axis=0)
        wrong = float(np.abs(through + load).max())
        yield Number(f"sum of multipliers against the load [N]: {label}", wrong, 0.0, 1e-9, size)
        wrong = float(np.abs(root.reaction(system).force + load).max())
        yield Number(f"reaction against the load [N]: {label}", wrong, 0.0, 1e-9, size)


@case("T02_cable_on_sphere", "geometry; equilibrium; the same cable under the multiplier as a load")
def on_sphere() -> Iterator[Number]:
    """A clamped cable whose end slides on a sphere."""
    radius, centre = 0.4, np.array([1.0, 0.0, -0.4])
    load, weight = np.array([-1.0, 0.7, -2.0]), np.array([0.0, 0.0, -10.0])

    def cantilever() -> tuple[Body, Any, Any]:
        mesh = Mesh.box((1.0,), (16,))
        beam = Body(mesh["body"], ancf_cable, cable(), EA=1e3, EI=1.0, rho=1.0, A=1.0)
        return beam, beam.at((1.0, 0.0, 0.0)), fix(beam["x0"])

    beam, tip, root = cantilever()
    joint = joints.on_sphere(tip, centre, radius)
    terms = [root, joint, force(tip, lambda t: t * load), gravity(lambda t: t * weight)]
    system = System(beam, terms=terms)
    StaticProblem(system, options=TIGHT).solve(step=0.25)
    r = system.position(tip)[0]
    yield Number("distance from the centre [m]", float(np.linalg.norm(r - centre)), radius, 1e-10)
    reaction = -joint.multipliers(system)[0, 0] * (r - centre) / radius
    balance = root.reaction(system).force + reaction + load + weight
    yield Number("sum of forces [N]", float(np.abs(balance).max()), 0.0, 1e-9, 10.0)
    beam, tip, root = cantilever()
    total = load + reaction
    terms = [root, force(tip, lambda t: t * total), gravity(lambda t: t * weight)]
    free = System(beam, terms=terms)
    StaticProblem(free, options=TIGHT).solve(step=0.25)
    away = float(np.linalg.norm(free.position(tip)[0] - r))
    yield Number("end without the sphere, under its reaction [m]", away, 0.0, 1e-8, 1.0)

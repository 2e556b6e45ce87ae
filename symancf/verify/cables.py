# SPDX-License-Identifier: BSD-3-Clause
"""Cables: the elastica, the roll-up and the hanging cable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force, gravity
from ..catalogue.moments import moment
from ..elements import ancf_cable
from ..energies import cable
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .references import ELASTICA, HANGING

if TYPE_CHECKING:
    from collections.abc import Iterator


def slope(system: System, beam: Body) -> Array:
    """Return the slope vector r' (3,) at the tip of a beam along x."""
    return np.asarray(system.gradient(beam["x1"])[0, :, 0])


@case("A01_elastica_tip_dead", "Bisshopp and Drucker (1945); Mattiasson (1981)")
def elastica() -> Iterator[Number]:
    """Cantilever under a dead tip force, thin limit EA L^2/EI = 1e8."""
    mesh = Mesh.box((1.0,), (128,))
    beam = Body(mesh["body"], ancf_cable, cable(), name="beam", EA=1e8, EI=1.0)
    tip = beam.at((1.0, 0.0, 0.0))
    system = System(beam, terms=[fix(beam["x0"]), force(tip, (0.0, lambda t: t, 0.0))])
    problem = StaticProblem(system, options=TIGHT)
    for load, (shortening, deflection, angle) in ELASTICA.items():
        problem.solve(to=load)
        u = system.displacement(tip)[0]
        r = slope(system, beam)
        label = f"P L^2/EI = {load:g}"
        yield Number(f"u/L: {label}", -u[0], shortening, 1e-6)
        yield Number(f"v/L: {label}", u[1], deflection, 1e-6)
        yield Number(f"tip slope [rad]: {label}", np.arctan2(r[1], r[0]), angle, 1e-6)


@case("A05_rollup_moment", "closed form: a circle of curvature M/EI")
def rollup() -> Iterator[Number]:
    """Roll-up by a tip moment: x, y and slope to 1e-8, and the order of convergence."""
    parts = (0.25, 0.5, 1.0, 1.5, 2.0)
    errors = []
    for cells in (16, 32, 64, 256):
        mesh = Mesh.box((1.0,), (cells,))
        beam = Body(mesh["body"], ancf_cable, cable(), name="beam", EA=1e4, EI=1.0)
        couple = moment(beam["x1"], (0.0, 0.0, lambda t: np.pi * t))
        system = System(beam, terms=[fix(beam["x0"]), couple])
        problem = StaticProblem(system, options=TIGHT)
        for part in parts if cells == 256 else parts[:3]:
            problem.solve(to=part, step=0.25)
            x, y, _ = system.position(beam["x1"])[0]
            r = slope(system, beam)
            c = np.pi * part
            exact = np.array([np.sin(c) / c, (1.0 - np.cos(c)) / c])
            turn = np.arctan2(r[1], r[0])
            turn += 2.0 * np.pi * np.round((c - turn) / (2.0 * np.pi))
            if cells == 256:
                label = f"M L/(pi EI) = {part:g}"
                yield Number(f"x/L: {label}", x, exact[0], 1e-8, 1.0)
                yield Number(f"y/L: {label}", y, exact[1], 1e-8, 1.0)
                yield Number(f"tip slope [rad]: {label}", turn, c, 1e-8, c)
        if cells < 256:
            errors.append(float(np.hypot(x - exact[0], y - exact[1])))
    yield Number("order of the tip position at half a turn", order(errors), 4.0, 0.15, 1.0)


@case("A32_hanging_cable", "closed form (biot), quadrature (green)")
def hanging() -> Iterator[Number]:
    """Cable under its own weight, L = 2, w = 10, EA = 100."""
    yield from _hanging(0.0)


@case("A32p_hanging_cable_tip", "closed form (biot), quadrature (green)")
def hanging_with_tip_weight() -> Iterator[Number]:
    """Cable under its own weight and a tip weight of 15."""
    yield from _hanging(15.0)


def _hanging(weight: float) -> Iterator[Number]:
    mesh = Mesh.box((2.0,), (16,), warp=lambda X: X[:, [1, 2, 0]] * [1.0, 1.0, -1.0])
    for strain in ("biot", "green"):
        energy = cable(strain=strain)
        line = Body(mesh["body"], ancf_cable, energy, EA=100.0, EI=1e-3, rho=1.0, A=1.0)
        top, low = fix(line["x0"], "position"), fix(line["x1"], ["x", "y"])
        load = force(line["x1"], (0.0, 0.0, -weight))
        system = System(line, terms=[top, low, gravity((0.0, 0.0, -10.0)), load])
        StaticProblem(system, options=TIGHT).solve()
        down = -system.displacement(line["x1"])[0, 2]
        yield Number(f"elongation: {strain}", down, HANGING[strain, weight], 1e-8)
        yield Number(f"reaction: {strain}", top.reaction(system).force[2], 20.0 + weight, 1e-10)

# SPDX-License-Identifier: BSD-3-Clause
"""Gradients by reference positions, of energies and forces of joints, and of a damped cable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..catalogue.boundary import fix, planar
from ..catalogue.gas import pressure
from ..catalogue.joints import rigid
from ..catalogue.loads import force, gravity
from ..catalogue.viscosity import KelvinVoigt
from ..contact.contact import Contact
from ..contact.shapes import Plane
from ..elements import ancf_cable, hex8, hex8_plain, tet4, tet10
from ..energies import cable, neo_hooke
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.dynamics.problem import DynamicProblem
from ..solve.gradients.goal import Goal
from ..solve.gradients.shape import Shape
from ..solve.gradients.trace import Trace
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Field, Parameter
from ..values.series import TimeSeries
from .case import TIGHT, Number, case
from .gradients import slope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array


@case("G17_gradient_shape", "law of similarity, of moved bodies; differences with new meshes")
def shaped() -> Iterator[Number]:
    """A block under pressures that follow, by the positions of its 64 and 343 nodes."""
    cells = ((hex8_plain, "hexahedron"), (tet4, "tetra"), (tet10, "tetra10"))
    for element, cell in cells:
        direction = np.zeros((64 if element is not tet10 else 343, 3))
        direction[:] = 0.05 * np.random.default_rng(17).standard_normal(direction.shape)

        def solved(h: float, element: Any = element, cell: str = cell, d: Array = direction) -> Any:
            mesh = Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), cell=cell, comm=MPI.COMM_SELF)
            mesh.points[:] += h * d
            body = Body(mesh["body"], element, neo_hooke(), mu=1.0, lam=2.0, name="block")
            loads = [pressure(body["x1"], 0.1), pressure(body["z1"], 0.07)]
            problem = StaticProblem(System(body, terms=[fix(body["x0"]), *loads]), options=TIGHT)
            problem.solve()
            top = body.at(mesh.points[np.argmax(mesh.points @ (1.0, 1.0, 1.0))])
            return problem, Goal(lambda u_a: u_a[2] - u_a[0] / 2, top), body

        problem, goal, body = solved(0.0)
        shape = Shape(body)
        found = problem.gradient(goal, [shape])
        g, X = found[shape], shape.values
        size = float(np.abs(g * X).sum())
        name = element.name
        yield Number(f"{name}: sum of X dJ/dX", float((g * X).sum()), found.value, 1e-9, size)
        moved = float(np.abs(g.sum(axis=0)).max())
        yield Number(f"{name}: of a body that is moved", moved, 0.0, 1e-9, size)

        def value(h: float, solved: Any = solved) -> float:
            other, own, _ = solved(h)
            return float(other.value(own))

        known = slope(value, 0.0, 2e-3)
        yield Number(f"{name}: along a direction", float((g * direction).sum()), known, 1e-8)


@case("G18_gradient_energy", "theorem of Castigliano; weight of a body")
def energetic() -> Iterator[Number]:
    """Energy of a block by load and moduli; the force of a joint by the mass that hangs on it."""
    for element in (hex8_plain, hex8):
        mesh = Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), comm=MPI.COMM_SELF)
        mu, lam, load = Field(np.array([1.0, 1.3])), Parameter("lam", 2.0), Parameter("load", 0.05)
        body = Body(mesh["body"], element, neo_hooke(), mu=mu, lam=lam, name="block")
        end = body.at((2.0, 1.0, 1.0))
        system = System(body, terms=[fix(body["x0"]), force(end, (0.0, 0.0, load))])
        problem = StaticProblem(system, options=TIGHT)
        problem.solve()
        W, u = Goal(lambda W: W, body), Goal(lambda u_a: u_a[2], end)
        stored, moved = (problem.gradient(goal, [mu, lam, load]) for goal in (W, u))
        size, name, P = stored.value, element.name, load.value
        by_load = stored[load] - P * moved[load]
        yield Number(f"{name}: energy by the load, less its work", by_load, 0.0, 1e-9, size / P)
        total = mu.values @ (stored[mu] - P * moved[mu]) + lam.value * (
            stored[lam] - P * moved[lam]
        )
        yield Number(f"{name}: potential energy, sum of p dV/dp", float(total), size, 1e-9)
    m, weight = Parameter("m", 2.0), 9.81
    bar = RigidBody((0.0, 0.0, -0.5), mass=m, inertia=(0.1, 0.1, 0.01))
    joint = rigid(bar.at((0.0, 0.0, 0.5)), Ground())
    problem = StaticProblem(System(bar, terms=[joint, gravity((0.0, 0.0, -weight))]), options=TIGHT)
    problem.solve()
    found = problem.gradient(Goal(lambda F, e2_b: F[2] + F.dot(e2_b), joint), [m])
    yield Number("force of the joint by the mass", abs(found[m]), weight, 1e-9)


@case("G07_gradient_cable", "an adjoint of its own, of another program")
def hanging() -> Iterator[Number]:
    """A damped cable that swings from a hinge, 200 steps, by stiffness, viscosity and density."""
    values = {"EI": 0.05, "eta": 2e3, "rho": 1000.0, "g": 9.81}
    EI, eta, rho, g = (Parameter(name, value) for name, value in values.items())
    knots = np.linspace(0.0, 1.0, 200)
    drive = TimeSeries(knots, 0.02 * np.sin(7 * knots) * (1 + 0.3 * np.cos(23 * knots)))
    direction = 0.02 * np.random.default_rng(0).standard_normal(200)
    d = 0.01
    A, inertia = math.pi * d**2 / 4, math.pi * d**4 / 64
    mesh = Mesh.box((1.0,), (10,), comm=MPI.COMM_SELF)
    law = cable(curvature="plane")
    line = Body(mesh["body"], ancf_cable, law, EI=EI, EA=200.0, rho=rho, A=A, name="cable")
    tip = line.at((1.0, 0.0, 0.0))
    terms = [
        fix(line["x0"], "position"),
        planar(line),
        gravity((0.0, lambda t: -g.value, 0.0)),
        KelvinVoigt(line, eta=eta, A=A, I=inertia),
        force(tip, (0.0, drive, 0.0)),
    ]
    problem = DynamicProblem(
        System(line, terms=terms), spectral_radius=0.9, options={"snes_rtol": 1e-13}
    )
    problem.solve(to=1.0, step=0.005, trace=Trace())
    end = Goal(lambda u_a, v_a: u_a[0] + v_a[0] / 100, tip)
    goal = end + Goal(lambda u_a: (u_a[1] + 0.5) ** 2, tip).integral()
    variables: list[Any] = [g, rho, eta, EI, drive]
    found = problem.gradient(goal, variables)
    known = (8.7609563864e-3, 3.7232712489e-5, 4.3000104864e-8, -0.68998816933)
    for parameter, number in zip((g, rho, eta, EI), known, strict=True):
        yield Number(f"by {parameter.name}", found[parameter], number, 1e-7)
    yield Number("by 200 values of a force", found[drive] @ direction, -3.1600793210e-4, 1e-7)


@case("G20_gradient_drop", "an adjoint of its own, of another program")
def dropped() -> Iterator[Number]:
    """A block falls on a plane: impact, sticking and sliding, 40 steps, by modulus and friction."""
    values = {"modulus": 50.0, "rho": 1.0, "g": 9.81, "friction": 0.3}
    mu, rho, g, rough = (Parameter(name, value) for name, value in values.items())
    mesh = Mesh.box((1.0, 1.0, 0.5), (3, 3, 2), warp=_raised, comm=MPI.COMM_SELF)
    given: dict[str, Any] = {"mu": mu, "lam": 60.0, "rho": rho}
    body = Body(mesh["body"], hex8_plain, neo_hooke(), velocity=(0.6, 0.0, -0.2), **given)
    touch = Contact(body["z0"], Plane(), mu=rough)  # type: ignore[arg-type]
    terms = [gravity((0.0, 0.0, lambda t: -g.value)), touch, KelvinVoigt(body, eta=0.5)]
    system, options = System(body, terms=terms), {"snes_rtol": 1e-13}
    problem = DynamicProblem(system, spectral_radius=0.8, options=options)
    problem.solve(to=0.4, step=0.01, trace=Trace())
    place = body.at((0.5, 0.5, 0.27))
    found = problem.gradient(
        Goal(lambda u_a, v_a: u_a[0] + 2 * u_a[2] + v_a[0] / 10, place), [mu, g, rough]
    )
    known = (-4.328737467e-4, -8.241716454e-3, -0.2172206947)
    for parameter, number in zip((mu, g, rough), known, strict=True):
        yield Number(f"by {parameter.name}", found[parameter], number, 1e-7)


def _raised(X: Array) -> Array:
    return np.asarray(X + np.array([0.0, 0.0, 0.02]))

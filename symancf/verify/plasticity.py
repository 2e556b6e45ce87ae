# SPDX-License-Identifier: BSD-3-Clause
"""Plasticity of von Mises: bars at large and small strain, a thick sphere; loaded and unloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .. import energies
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.gas import pressure
from ..elements import hex8_plain, hex20
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

E, NU = 200.0, 0.3
METAL = energies.j2_plasticity(E=E, nu=NU, yield_stress=1.0)


class Bar:
    """A cube that is drawn along x and free to contract."""

    def __init__(self, **parameters: Any) -> None:
        mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
        self.body = Body(mesh["body"], hex8_plain, METAL, name="bar", **parameters)
        self.size = Parameter("size", 0.0)
        held = [fix(self.body[f"{axis}0"], axis) for axis in "xyz"]
        self.pull = fix(self.body["x1"], "x", displacement=(self.size, 0.0, 0.0))
        self.system = System(self.body, terms=[*held, self.pull])
        self.problem = StaticProblem(self.system, options=TIGHT)

    def to(self, size: float) -> float:
        """Draw it to a displacement in one step; return the force."""
        self.size.value = size
        self.problem.solve(to=0.0)
        return float(self.pull.reaction(self.system).force[0])

    def remembered(self, name: str) -> float:
        """Return the mean of what the points remember, or the sum of what they dissipate."""
        values = self.system.remembered(self.body)[name]
        return float(values.sum() if name == "dissipated" else values.mean())


def bar(strains: Sequence[float], Y: float, H: float, K: float) -> Iterator[tuple[float, float]]:
    """Yield stress and plastic strain in all of a bar, by the return of one dimension."""
    plastic = total = 0.0
    for strain in strains:
        trial = E * (strain - plastic)
        beyond = trial - K * plastic
        flow = max(abs(beyond) - Y - H * total, 0.0) / (E + H + K)
        plastic, total = plastic + flow * np.sign(beyond), total + flow
        yield E * (strain - plastic), total


@case("C46_j2_bar", "closed form in logarithmic strain")
def large() -> Iterator[Number]:
    """A bar that hardens is drawn to twice its length, with large reversals, in one step each."""
    sizes, H = (0.003, 0.3, 0.29, -0.3, 0.5, 1.0), 5.0
    metal = Bar(hardening=H)
    exact = bar([np.log1p(size) for size in sizes], 1.0, H, 0.0)
    for size, (stress, total) in zip(sizes, exact, strict=True):
        force = metal.to(size)
        yield Number(f"Kirchhoff stress at length {1 + size:g}", force * (1 + size), stress, 1e-10)
        found = metal.remembered("plastic_strain")
        yield Number(f"plastic strain at length {1 + size:g}", found, total, 1e-10, 1.0)
        lost = metal.remembered("dissipated")
        yield Number(f"energy dissipated at length {1 + size:g}", lost, total, 1e-10, 1.0)


@case("C47_j2_prager", "closed form of small strain: Prager's rule")
def reversed_often() -> Iterator[Number]:
    """A bar with both kinds of hardening at small strain, drawn and pressed five times."""
    Y, H, K = 1e-6, 10.0, 40.0
    metal = Bar(yield_stress=Y, hardening=H, kinematic=K)
    sizes = [2e-8, -2e-8, 3e-8, -1e-8, 4e-8]
    for size, (stress, total) in zip(sizes, bar(sizes, Y, H, K), strict=True):
        force = metal.to(size)
        yield Number(f"stress at strain {size:g}", force, stress, 1e-6, Y)
        found = metal.remembered("plastic_strain")
        yield Number(f"plastic strain at strain {size:g}", found, total, 1e-6, 4e-8)


@case("C48_j2_sphere", "closed form of small strain (R. Hill 1950)")
def sphere() -> Iterator[Number]:
    """A thick sphere of perfect plasticity under pressure, unloaded: radial displacements."""
    Y, modulus, a, b, c = 1.0, 1e5, 1.0, 2.0, 1.4  # c: radius to which it yields
    mesh = Mesh.sphere(b, (4, 6), inner=a, symmetric="xyz", cell="hexahedron20", comm=MPI.COMM_SELF)
    body = Body(mesh["body"], hex20, METAL, E=modulus, yield_stress=Y, name="sphere")
    p = Parameter("p", 0.0)
    held = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
    system = System(body, terms=[*held, pressure(body["inner"], p)])
    problem = StaticProblem(system)
    places = body.at(b / np.sqrt(3.0) * np.ones(3))
    slope = 1.5 * a**3 / (b**3 - a**3) * (1 - NU) * b / modulus
    most = 2 * Y * (np.log(c / a) + (1 - c**3 / b**3) / 3)
    outside = Y * (1 - NU) * c**3 / (modulus * b**2)
    ways = (
        ("elastic", 0.5, 0.5 * slope, 1e-3),
        ("largest", most, outside, 2e-3),
        ("half", most / 2, outside - slope * most / 2, 3e-3),
        ("no", 0.0, outside - slope * most, 5e-3),
    )
    for name, p.value, exact, tolerance in ways:
        problem.solve(to=0.0)
        found = float(np.linalg.norm(system.displacement(places)[0]))
        yield Number(f"u(b) E/Y, {name} pressure", found * modulus, exact * modulus, tolerance)

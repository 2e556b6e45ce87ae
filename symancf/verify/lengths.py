# SPDX-License-Identifier: BSD-3-Clause
"""Inextensible lines: a bar under uneven load, a ring of plates under pressure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq

from ..bodies.body import Body
from ..catalogue.boundary import fix, symmetry
from ..catalogue.gas import pressure
from ..catalogue.lengths import length
from ..catalogue.loads import traction
from ..elements import ancf_cable, ancf_thin_plate
from ..energies import cable, kirchhoff
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .meshes import bent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Form = Literal["arc", "squared"]

EA, PULL = 50.0, 20.0  # N and N/m: the load per length is PULL x
RING: dict[str, Any] = {"E": 1e6, "nu": 0.3, "thickness": 0.05}  # Pa, m; radius 1 m


@case("T03_bar_of_kept_length", "closed form: EA (s - 1) + tension = N(x)")
def bar() -> Iterator[Number]:
    r"""A bar of length 1 under an axial load that grows with x: (31) keeps it, (32) shortens it.

    N(x) = PULL (1 - x^2)/2. With (31), the integral of the stretch s, the tension is the mean of
    N. With (32), that of s^2, the tension is 2 lam s, so that s = (EA + N)/(EA + 2 lam), where
    EA + 2 lam is the root mean square of EA + N, and the length is its mean over that.
    """
    mean = PULL / 3.0
    square = EA**2 + 2.0 * EA * mean + 2.0 * PULL**2 / 15.0
    expected: dict[Form, tuple[float, float]] = {
        "arc": (mean, 1.0),
        "squared": ((np.sqrt(square) - EA) / 2.0, (EA + mean) / np.sqrt(square)),
    }
    for form in get_args(Form):
        mesh = Mesh.box((1.0,), (16,))
        body = Body(mesh["body"], ancf_cable, cable(), EA=EA, EI=1.0)
        line = length(body["body"], form, per="line")
        guides = [fix(body["x0"], "x"), fix(body["body"], ["y", "z"])]
        pull = traction(body["body"], lambda X, t: np.outer(PULL * X[:, 0], (1.0, 0.0, 0.0)))
        system = System(body, terms=[*guides, pull, line])
        StaticProblem(system, options=TIGHT).solve()
        multiplier, length_after = expected[form]
        yield Number(f"multiplier [N]: {form}", line.multipliers(system)[0, 0], multiplier, 1e-10)
        yield Number(f"length [m]: {form}", line.lengths(system)[0], length_after, 1e-12)
        reaction = guides[0].reaction(system).force
        yield Number(f"reaction [N]: {form}", reaction[0], -PULL / 2.0, 1e-9)


def quarter(cells: int, width: float, across: int = 1) -> Body:
    """Return a quarter of a ring of thin plates with radius 1 about y."""
    mesh, normal = bent((np.pi / 2.0, width), (cells, across), 1.0)
    return Body(mesh["body"], ancf_thin_plate, kirchhoff(), name="ring", direction=normal, **RING)


def guides(body: Body) -> list[Any]:
    """Return the planes of symmetry of a quarter; those across y keep the strain plane."""
    across = {"x0": "x", "x1": "z", "y0": "y", "y1": "y"}
    return [symmetry(body[side], axis) for side, axis in across.items()]


def growing(p: float) -> Callable[[float], float]:
    """Return the pressure p t."""
    return lambda t: p * t


def stretch(p: float) -> float:
    """Return the hoop stretch s of the ring of radius 1 under pressure p in plane strain.

    D ((s^3 - s)/2 + h^2/12 (s - 1)) = p s, D = E h/(1 - nu^2): the energies of Green-Lagrange
    strain (s^2 - 1)/2 and of the change of curvature, 1 - s, against the work p d(s^2)/2.
    """
    E, nu, h = (RING[name] for name in ("E", "nu", "thickness"))
    D = E * h / (1.0 - nu**2)

    def balance(s: float) -> float:
        return float(D * ((s**3 - s) / 2.0 + h**2 / 12.0 * (s - 1.0)) - p * s)

    return float(brentq(balance, 1.0, 3.0, xtol=1e-15))


@case("T04_ring_under_pressure", "closed form in plane strain")
def ring() -> Iterator[Number]:
    """A ring of thin plates under follower pressure from inside, radius and hoop force."""
    errors = []
    for p, meshes in ((1e3, (12,)), (2e4, (3, 6, 12))):
        for cells in meshes:
            body = quarter(cells, 0.3)
            supports = guides(body)
            load = pressure(body["body"].face(-1, middle=True), growing(p))
            system = System(body, terms=[*supports, load])
            StaticProblem(system, options=TIGHT).solve(step=0.25)
            x = np.sin(np.linspace(0.0, np.pi / 2.0, cells + 1))
            points = np.stack([x, 0.0 * x + 0.15, np.sqrt(1.0 - x**2) - 1.0], axis=1)
            r = system.position(body.at(points))
            radius = np.hypot(r[:, 0], r[:, 2] + 1.0)
            errors.append(float(np.abs(radius - stretch(p)).max()))
        s = stretch(p)
        yield Number(f"radius [m]: p = {p:g} Pa", float(radius.mean()), s, 1e-6)
        yield Number(f"out of round [m]: p = {p:g} Pa", float(np.ptp(radius)), 0.0, 1e-6, 1.0)
        hoop = -supports[0].reaction(system).force[0]
        yield Number(f"hoop force [N]: p = {p:g} Pa", hoop, p * s * 0.3, 1e-6)
    yield Number("order of the radius at p = 2e4 Pa", order(errors), 4.0, 0.3, 1.0)


@case("T05_ring_of_kept_length", "equilibrium: the rims carry p R b/2 each")
def constant_lengths() -> Iterator[Number]:
    """The same ring, narrow, with its rims kept at their length by (31) and by (32).

    The plates between the rims, b = 0.02 m apart, bend too little to carry anything.
    """
    p, b = 2e4, 0.02
    for form in get_args(Form):
        body = quarter(12, b)
        rims = [length(body[side], form, per="line") for side in ("y0", "y1")]
        load = pressure(body["body"].face(-1, middle=True), growing(p))
        system = System(body, terms=[*guides(body), load, *rims])
        StaticProblem(system, options=TIGHT).solve(step=0.25)
        for side, rim in zip(("y0", "y1"), rims, strict=True):
            label = f"{form}, {side}"
            tension = rim.multipliers(system)[0, 0] * (2.0 if form == "squared" else 1.0)
            yield Number(f"tension [N]: {label}", tension, p * b / 2.0, 1e-6)
            change = (rim.lengths(system) - rim.reference_lengths(system))[0]
            yield Number(f"change of length [m]: {label}", change, 0.0, 1e-12, 1.0)
        moved = float(np.abs(system.displacement(body["body"])).max())
        yield Number(f"displacement [m]: {form}", moved, 0.0, 1e-7, stretch(p) - 1.0)

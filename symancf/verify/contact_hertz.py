# SPDX-License-Identifier: BSD-3-Clause
"""Elastic bodies pressed by rigid ones, of which Hertz, Cattaneo and Mindlin give the answer.

Only the neighbourhood of the contact is made of cells: their outer faces move as the half-space
does there under the resultant (Boussinesq, Flamant), so that the size of the mesh hardly matters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..catalogue.boundary import Support, fix
from ..contact.contact import Contact
from ..contact.rigid import RigidPass
from ..contact.shapes import Cylinder
from ..contact.shapes import Sphere as Ball
from ..elements import hex8_plain, hex20, hex27, tet10, wedge6, wedge15
from ..energies import neo_hooke, saint_venant_kirchhoff
from ..mesh import Mesh
from ..solve.dynamics import DynamicProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import Number, case
from .contact_theory import (
    CylinderContact,
    SphereContact,
    boussinesq,
    cerruti,
    flamant,
    hertz_impact,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..elements import Element


def graded(cell: float, count: int, growth: float, length: float) -> Array:
    """Return places from 0 to `length` or beyond: `count` cells of a size, then larger ones."""
    places, h = [0.0], cell
    while places[-1] < length * (1.0 - 1e-9):
        places.append(places[-1] + h)
        if len(places) > count:
            h *= growth
    return np.array(places)


def block(
    x: Array,
    y: Array,
    z: Array,
    cell: str = "hexahedron",
    then: Callable[[Array], Array] = lambda X: X,
) -> Mesh:
    """Return cells between planes at x, y, and at the heights z, moved by a function."""

    def warp(X: Array) -> Array:
        axes = zip(X.T, (x, y, z), strict=True)
        return then(np.stack([np.interp(at, range(len(to)), to) for at, to in axes], axis=1))

    counts = [len(places) - 1 for places in (x, y, z)]
    return Mesh.box([float(n) for n in counts], counts, cell=cell, warp=warp)


def lame(E: float, nu: float) -> tuple[float, float]:
    """Return Lame's parameters."""
    return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def half_space(
    hertz: SphereContact,
    fine: int,
    reach: float = 8.0,
    element: Element = hex8_plain,
    crown: float = 0.0,
    up: float = 1.0,
) -> tuple[Body, list[Support]]:
    """Return a quarter of the ground under a sphere, and what holds it.

    `fine` cells to the radius a, `reach` a wide and deep. Its outer faces rise by the approach,
    and with the displacement of the half-space under P. `crown`: curvature of its surface, from
    there on less with the depth; `up` -1: it hangs above, upside down.
    """
    h = hertz.a / fine
    x, depth = (graded(h, n, g, reach * hertz.a) for n, g in ((fine + 1, 1.5), (2, 1.4)))
    turned = np.array([1.0, 1.0, up])

    def crowned(X: Array) -> Array:
        share = np.clip(1.0 + X[:, 2] / (4.0 * hertz.a), 0.0, 1.0)
        fall = 0.5 * crown * (X[:, 0] ** 2 + X[:, 1] ** 2) * share
        return np.asarray((X - fall[:, None] * np.array([0.0, 0.0, 1.0])) * turned)

    z = -depth[::-1] if up > 0.0 else -depth
    mesh = block(x, x, z, element.cell, crowned)
    name, svk = "ground" if up > 0.0 else "above", saint_venant_kirchhoff()
    body = Body(mesh["body"], element, svk, name=name, E=hertz.E, nu=hertz.nu)

    def outer(X: Array, t: float) -> Array:
        rise = np.array([0.0, 0.0, hertz.approach])
        return np.asarray(t * (boussinesq(X * turned, hertz.P, hertz.E, hertz.nu) + rise) * turned)

    supports = [fix(body["x0"], "x"), fix(body["y0"], "y")]
    far = ("x1", "y1", "z0" if up > 0.0 else "z1")
    return body, [*supports, *(fix(body[side], displacement=outer) for side in far)]


def strip(hertz: CylinderContact, fine: int, reach: float = 12.0) -> tuple[Body, list[Support]]:
    """Return the ground under a cylinder along y, in plane strain, one cell thick along y.

    `fine` cells to the half-width a, `reach` a to both sides and deep. Its outer faces rise by
    the approach, and with the displacement of the half-space under P.
    """
    h = hertz.a / fine
    right, depth = (graded(h, n, 1.3, reach * hertz.a) for n in (fine + 2, 2))
    x = np.concatenate([-right[:0:-1], right])
    mesh = block(x, np.array([0.0, h]), -depth[::-1])
    mu, lam = lame(hertz.E, hertz.nu)
    body = Body(
        mesh["body"], hex8_plain, neo_hooke(), volumetric="reduced", name="ground", mu=mu, lam=lam
    )
    deepest = float(depth[-1])

    def outer(X: Array, t: float) -> Array:
        u = flamant(X, hertz.P, hertz.E, hertz.nu, deepest)
        up = hertz.approach(deepest)
        return np.asarray(t * np.stack([u[:, 0], 0.0 * u[:, 0], u[:, 1] + up], axis=1))

    supports = [fix(body[side], "y") for side in ("y0", "y1")]
    return body, [*supports, *(fix(body[s], ["x", "z"], outer) for s in ("x0", "x1", "z0"))]


def at_points(system: System, contact: Contact) -> tuple[Array, Array]:
    """Return places and forces (n, 3) of the points of a contact, on every rank."""
    (each,) = contact._passes
    assert isinstance(each, RigidPass)
    configuration = system._discrete
    own = configuration.binding(each)
    mine = own.entities.owned
    force = own.weights(configuration)[:, None] * own.here(configuration, each.touch.force)
    own_points = (own.positions(configuration, 0)[mine], force[mine])
    x, f = (np.concatenate(system.comm.allgather(values)) for values in own_points)
    return x, f


@case("F06_hertz_sphere", "Hertz (Johnson, Contact Mechanics, ch. 4)", short=3)
def hertz_sphere() -> Iterator[Number]:
    """A rigid sphere on elastic ground, cells of a seventh to a third of the radius."""
    soft = SphereContact(1e6, 0.3, 0.02, 0.3616)
    light = SphereContact(1e6, 0.3, 0.02, 0.003616)
    for hertz, name, tolerance in ((soft, "a/R = 0.085", 0.03), (light, "a/R = 0.018", 0.01)):
        yield from _indented(hertz, name, tolerance)
    for element, fine in ((hex20, 4), (tet10, 3), (hex27, 3), (wedge15, 3), (wedge6, 6)):
        yield from _indented(light, f"a/R = 0.018, {element.name}", 0.03, fine, element)


@case("F15_hertz_pair", "Hertz: equal bodies meet in a plane, each as on a rigid one")
def hertz_pair() -> Iterator[Number]:
    """Two equal elastic bodies with round surfaces, non-matching cells: facets on facets."""
    hertz = SphereContact(1e6, 0.3, 0.02, 0.003616)
    low, supports = half_space(hertz, 6, crown=1.0 / hertz.R)
    high, hung = half_space(hertz, 5, crown=1.0 / hertz.R, up=-1.0)
    on = Contact(low["z1"], high["z0"])
    system = System(low, high, terms=[*supports, *hung, on])
    StaticProblem(system).solve()
    yield Number("force at the approach of Hertz", -4.0 * on.force(system)[2], hertz.P, 0.015)
    middle = []
    for nodal in (on.nodal(system, 0), on.nodal(system, 1)):
        middle.append(nodal.pressure[int(np.linalg.norm(nodal.X, axis=1).argmin())])
    mean = sum(middle) / 2.0
    yield Number("pressure in the middle, mean of both", mean, hertz.p0, 0.03)


@case("D25_hertz_sphere", "Hertz (Johnson, Contact Mechanics, ch. 4)")
def steel_sphere() -> Iterator[Number]:
    """Steel, R = 10 mm, 100 N: force and radius at the approach of Hertz (mm, N, MPa)."""
    yield from _indented(SphereContact(210e3, 0.3, 10.0, 100.0), "steel", 0.01)


def _indented(
    hertz: SphereContact, name: str, tolerance: float, fine: int = 7, element: Element = hex8_plain
) -> Iterator[Number]:
    body, supports = half_space(hertz, fine, element=element)
    on = Contact(body["z1"], Ball(hertz.R, (0.0, 0.0, hertz.R)))
    system = System(body, terms=[*supports, on])
    StaticProblem(system).solve()
    x, force = at_points(system, on)
    P = -float(force[:, 2].sum())
    r = np.hypot(x[:, 0], x[:, 1])
    # of p0 sqrt(1 - (r/a)^2): the mean of r^2 is 2/5 a^2, and p0 = 3 P/(2 pi a^2)
    a = math.sqrt(-2.5 * float(force[:, 2] @ r**2) / P)
    yield Number(f"force at the approach of Hertz: {name}", 4.0 * P, hertz.P, tolerance)
    yield Number(f"radius of the contact: {name}", a, hertz.a, tolerance)
    nodal = on.nodal(system)
    middle = int(np.linalg.norm(nodal.X, axis=1).argmin())
    yield Number(f"pressure in the middle: {name}", nodal.pressure[middle], hertz.p0, 3 * tolerance)


@case("F13_hertz_impact", "Hertz (Johnson, Contact Mechanics, section 11.4), quasi-static")
def hertz_impact_of_ball() -> Iterator[Number]:
    """A rigid ball falls on elastic ground that has hardly any mass: duration, depth, force."""
    E, nu, R, rho, v, steps = 1e6, 0.3, 0.02, 1100.0, 0.02, 40
    depth, force, duration = hertz_impact(E, nu, R, rho, v)
    a = math.sqrt(R * depth)
    x, z = (graded(a / 3.0, n, 2.2, 30.0 * a) for n in (4, 2))
    mesh, svk = block(x, x, -z[::-1]), saint_venant_kirchhoff()
    ground = Body(mesh["body"], hex8_plain, svk, name="ground", E=E, nu=nu, rho=1e-5 * rho)
    mass = 4.0 / 3.0 * math.pi * R**3 * rho
    ball = RigidBody.sphere(
        R, position=(0, 0, R), mass=mass / 4.0, velocity=(0, 0, -v), name="ball"
    )
    on = Contact(ground["z1"], ball)
    far = [fix(ground[side]) for side in ("x1", "y1", "z0")]
    supports = [fix(ground["x0"], "x"), fix(ground["y0"], "y"), *far]
    system = System(ground, ball, terms=[*supports, on])
    problem = DynamicProblem(system)
    problem.record("force", lambda: 4.0 * on.force(system, on=ball)[2])
    problem.record("depth", lambda: R - ball.position(system)[2])
    run = problem.solve(to=1.1 * duration, step=duration / steps)
    F, last = run["force"], int(np.flatnonzero(run["force"] > 0.0)[-1])
    yield Number("duration over that of Hertz", run.time[last] / duration, 1.0, 0.03)
    yield Number("depth over that of Hertz", run["depth"].max() / depth, 1.0, 0.03)
    yield Number("force over that of Hertz", F.max() / force, 1.0, 0.03)
    back = system.velocity(ball.at((0.0, 0.0, 0.0)))[0, 2] / v
    yield Number("speed afterwards over that before", back, 1.0, 0.01)
    yield Number("or 1: none is won", max(back, 1.0), 1.0, 1e-12)


@case("F07_hertz_line", "Hertz, Cattaneo (Johnson, Contact Mechanics, sections 4.2 and 7.2)")
def hertz_line() -> Iterator[Number]:
    """A cylinder on elastic ground, and pushed along it: force, width, stick and slip."""
    for hertz in (CylinderContact(1e6, 0.3, 0.02, 20.0), CylinderContact(1e6, 0.3, 0.02, 0.2)):
        body, supports = strip(hertz, 8)
        on = Contact(body["z1"], Cylinder(hertz.R, (0.0, 0.0, hertz.R), axis=(0.0, 1.0, 0.0)))
        system = System(body, terms=[*supports, on])
        StaticProblem(system).solve()
        x, force = at_points(system, on)
        P = -float(force[:, 2].sum())
        a = 2.0 * math.sqrt(-float(force[:, 2] @ x[:, 0] ** 2) / P)  # the mean of x^2 is a^2/4
        per = hertz.a / 8.0
        yield Number(
            f"force at the approach of Hertz: a/R = {hertz.a / hertz.R:.2g}", P / per, hertz.P, 0.01
        )
        yield Number(f"half-width of the contact: a/R = {hertz.a / hertz.R:.2g}", a, hertz.a, 0.01)
    # without Poisson's ratio near 1/2 normal and tangential forces are coupled, unlike Cattaneo's
    hertz, mu, way = CylinderContact(1e6, 0.495, 0.02, 0.2), 0.4, Parameter("way", 0.0)
    body, supports = strip(hertz, 8)

    def moved(t: float) -> tuple[float, float, float]:
        return way.value, 0.0, 0.0

    drum = Cylinder(hertz.R, (0.0, 0.0, hertz.R), axis=(0.0, 1.0, 0.0), displacement=moved)
    on = Contact(body["z1"], drum, mu=mu)
    system = System(body, terms=[*supports, on])
    problem = StaticProblem(system)
    problem.solve()
    for k in (2.0, 3.0, 4.0):
        way.value = 0.25 * k * mu * hertz.P / hertz.E
        problem.solve()
        x, force = at_points(system, on)
        N, Q = -force[:, 2], force[:, 0]
        share = float(Q.sum() / (mu * N.sum()))
        # q = mu (p(a) - c/a p(c)), (c/a)^2 = 1 - share: moments and the value in the middle
        ratio = float(Q @ x[:, 0] ** 2 / (mu * N @ x[:, 0] ** 2))
        exact = 1.0 - hertz.stick(share) ** 4
        yield Number(f"second moment of friction, Q = {share:.2f} mu P", ratio, exact, 0.015)
        middle = np.abs(x[:, 0]) < 0.25 * hertz.a
        ratio = float(Q[middle].sum() / (mu * N[middle].sum()))
        yield Number(
            f"friction over mu p in the middle, Q = {share:.2f} mu P",
            ratio,
            _middle(hertz, share),
            0.01,
        )


def _middle(hertz: CylinderContact, share: float) -> float:
    """Return the mean of Cattaneo's friction over mu p between x = -a/4 and a/4."""

    def under(half: float) -> float:  # of sqrt(1 - (x/half)^2) from 0 to a/4
        s = 0.25 / half
        return 0.5 * half * (s * math.sqrt(1.0 - s * s) + math.asin(s))

    c = hertz.stick(share)
    return 1.0 - c * under(c) / under(1.0)


@case("F14_mindlin_sphere", "Cattaneo, Mindlin (Johnson, Contact Mechanics, section 7.2)")
def mindlin_sphere() -> Iterator[Number]:
    """A rigid sphere on elastic ground is pushed along, nu near 1/2: force, where it slips."""
    hertz, mu, way, fine = SphereContact(1e6, 0.495, 0.02, 0.003616), 0.4, Parameter("way", 0.0), 4
    reach, Q = 6.0 * hertz.a, Parameter("Q", 0.0)
    x, z = (graded(hertz.a / fine, n, g, reach) for n, g in ((fine + 1, 1.6), (2, 1.5)))
    mesh = block(np.concatenate([-x[:0:-1], x]), x, -z[::-1])
    G, lam = lame(hertz.E, hertz.nu)
    body = Body(
        mesh["body"], hex8_plain, neo_hooke(), volumetric="reduced", name="half", mu=G, lam=lam
    )

    def outer(X: Array, t: float) -> Array:
        up = np.array([0.0, 0.0, hertz.approach])
        pressed = boussinesq(X, hertz.P, hertz.E, hertz.nu) + up
        return np.asarray(min(t, 1.0) * pressed + cerruti(X, Q.value, hertz.E, hertz.nu))

    def moved(t: float) -> tuple[float, float, float]:
        return way.value, 0.0, 0.0

    ball = Ball(hertz.R, (0.0, 0.0, hertz.R), displacement=moved)
    on = Contact(body["z1"], ball, mu=mu)
    supports = [fix(body["y0"], "y"), *(fix(body[s], displacement=outer) for s in ("x0", "x1"))]
    supports += [fix(body[side], displacement=outer) for side in ("y1", "z0")]
    system = System(body, terms=[*supports, on])
    problem = StaticProblem(system)
    problem.solve()
    yield Number("force at the approach of Hertz", -2.0 * on.force(system)[2], hertz.P, 0.01)
    for share in (0.4, 0.7, 0.9):
        way.value, Q.value = hertz.shift(share, mu), share * mu * hertz.P
        problem.solve()
        X, force = at_points(system, on)
        N, q, r2 = -force[:, 2], force[:, 0], X[:, 0] ** 2 + X[:, 1] ** 2
        ratio = float(q.sum() / (mu * N.sum()))
        yield Number(f"force along over mu P at the shift of {share:g}", ratio, share, 0.025)
        # q = mu (p(a) - c/a p(c)), so of r^2 it has 1 - (c/a)^5 of the moment of mu p
        exact = 1.0 - hertz.stick(ratio) ** 5
        moment = float(q @ r2 / (mu * N @ r2))
        yield Number(f"second moment of friction, Q = {share:g} mu P", moment, exact, 0.025)

# SPDX-License-Identifier: BSD-3-Clause
"""Fields that drive bodies: heat, growth, muscles, magnetic and electric fields."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

import symancf as sa

from .. import elements, energies
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array


def heat(*, alpha: sp.Expr, warmer: sp.Expr) -> sp.Expr:
    """Return the stretch of what is warmed [K]."""
    return 1 + alpha * warmer


@case("C50_bimetal", "S. Timoshenko, J. Opt. Soc. Am. 11 (1925) 233-255, eq. (4)")
def bimetal() -> Iterator[Number]:
    """A strip of two metals that is warmed: curvature on shells and solids."""
    h1, h2, E1, E2 = 1e-3, 0.5e-3, 200e9, 100e9
    alphas, warmer = (12e-6, 19e-6), 0.1
    m, n, h = h1 / h2, E1 / E2, h1 + h2
    right = 6 * (alphas[1] - alphas[0]) * warmer * (1 + m) ** 2
    right /= h * (3 * (1 + m) ** 2 + (1 + m * n) * (m**2 + 1 / (m * n)))
    length, wide = 0.05, 0.01
    metal = energies.swollen(energies.saint_venant_kirchhoff(), heat)
    given: dict[str, Any] = {"nu": 0.3, "warmer": sa.Parameter("warmer", warmer)}
    layers = sa.Layers(
        [
            (metal, h1, 0.0, {"E": E1, "alpha": alphas[0]}),
            (metal, h2, 0.0, {"E": E2, "alpha": alphas[1]}),
        ],
        degrees=True,
    )
    flat = sa.Mesh.box((length, wide), (4, 1))
    for element in (elements.ancf_thin_plate, elements.ancf_plate):
        body = sa.Body(flat["body"], element, layers, **given)
        yield Number(f"curvature, {element.name} [1/m]", *bent(body, length, wide, right), 1e-4)
    box = sa.Mesh.box((length, wide, h), (20, 4, 3), cell="hexahedron20")
    at = {"E": lambda X: np.where(X[:, 2] < h1, E1, E2)}
    at["alpha"] = lambda X: np.where(X[:, 2] < h1, *alphas)
    solid = {**given, **{name: sa.Field(function) for name, function in at.items()}}
    body = sa.Body(box["body"], elements.hex20, metal, **solid)
    yield Number("curvature, hex20 [1/m]", *bent(body, length, wide, right), 2e-3)


def bent(body: sa.Body, length: float, wide: float, right: float) -> tuple[float, float]:
    """Return the curvature along the middle of a strip that bends freely, and what is right."""
    corner = body.at((0.0, 0.0, 0.0))
    held = [sa.fix(corner, "position"), sa.fix(body.at((0.0, wide, 0.0)), ["x", "z"])]
    system = sa.System(body, terms=[*held, sa.fix(body.at((length, 0.0, 0.0)), "z")])
    sa.StaticProblem(system, options=TIGHT).solve()
    inside = [(x * length, wide / 2, 0.0) for x in (0.3, 0.5, 0.7)]
    z = system.displacement(body.at(inside))[:, 2]
    return float(2 * z[1] - z[0] - z[2]) / (0.2 * length) ** 2, right


@case("C51_rod_free_strains", "closed form: curves of constant and of given curvature", short=5)
def free_rods() -> Iterator[Number]:
    """Rods without loads: heat that bends them to an arc, a muscle's helix, a given curvature."""
    length, height = 0.2, 0.004
    section = sa.Section.rectangle(0.004, height).rod(E=1e6, nu=0.4)
    line = sa.Mesh.box((length,), (32,), cell="line3")["body"]
    alpha, mean, across = 1e-4, 200.0, sa.Parameter("across", 0.0)

    def warm(*, mean: Any, across: Any) -> dict[str, Any]:
        return {"epsilon": alpha * mean, "kappa2": alpha * across / height}

    def end(law: Any, steps: int = 1, **values: Any) -> Array:
        body = sa.Body(line, elements.ancf_rod, law, **section, **values)
        system = sa.System(body, terms=[sa.fix(body["x0"])])
        sa.StaticProblem(system, options=TIGHT).solve(step=1.0 / steps)
        return np.asarray(system.position(body["x1"])[0])

    rod = energies.rod()
    across.value = 300.0
    tip = end(energies.rest_strain(rod, warm), mean=mean, across=across)
    turn = alpha * across.value / height * length
    grown = (1 + alpha * mean) * length
    arc = np.array([grown * math.sin(turn) / turn, 0.0, -grown * (1 - math.cos(turn)) / turn])
    for k, x in ((0, "x"), (2, "z")):
        yield Number(f"tip {x} of a warm rod [m]", tip[k], arc[k], 1e-6, length)
    bend, twist = 20.0, 15.0
    names = energies.rest_strain(rod, ("kappa1", "kappa2"))
    tip = end(names, 4, rest_kappa1=lambda t: twist * t, rest_kappa2=lambda t: bend * t)
    omega = np.array([[0.0, 0.0, bend], [0.0, 0.0, -twist], [-bend, twist, 0.0]])
    for k, right in enumerate(_curve(omega, length)):
        yield Number(f"tip {'xyz'[k]} of a muscle's helix [m]", tip[k], right, 2e-6, length)

    def wave(X: Any, t: Any, *, most: Any) -> dict[str, Any]:
        return {"kappa2": most * sp.cos(20 * X[0] + t)}

    tip = end(energies.rest_strain(rod, wave), 2, most=15.0)
    from scipy.integrate import quad_vec

    def tangent(s: float) -> Array:
        theta = 15.0 * (math.sin(20 * s + 1) - math.sin(1)) / 20
        return np.array([math.cos(theta), -math.sin(theta)])

    right = quad_vec(tangent, 0.0, length)[0]
    yield Number("tip x of a wave of curvature [m]", tip[0], right[0], 1e-6, length)
    yield Number("tip z of a wave of curvature [m]", tip[2], right[1], 1e-6, length)


def _curve(omega: Array, length: float) -> Array:
    """Return the end of a curve whose directors D have D' = D omega, by the exponential."""
    generator = np.zeros((4, 4))
    generator[:3, :3] = omega * length
    generator[:3, 3] = [length, 0.0, 0.0]
    from scipy.linalg import expm

    # r' = D e1, D' = D omega: the last column of the exponential is the integral of D e1
    return np.asarray(expm(generator)[:3, 3])


@case("C52_grown_ring", "own integration (SciPy) of the equilibrium of a ring with growth")
def grown_ring() -> Iterator[Number]:
    """A thick ring in plane strain whose hoop grows by 20 %: radii, and what is stored."""
    from scipy.integrate import solve_bvp

    inner, outer, mu, lam, g = 1.0, 2.0, 1.0, 3.0, 1.2

    def stresses(a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return P_rR, P_tT and W, of stretches a along r and b along the hoop."""
        be = b / g
        log_J = np.log(a * be)
        W = mu / 2 * (a**2 + be**2 - 2 - 2 * log_J) + lam / 2 * log_J**2
        force = lam * log_J - mu
        return g * (mu * a + force / a), mu * be + force / be, g * W

    def slopes(R: Array, y: Array) -> Array:
        r, a = y
        b = r / R
        hoop, da = stresses(a, b)[1], g * (mu + (lam * (1 - np.log(a * b / g)) + mu) / a**2)
        radial, db = stresses(a, b)[0], g * lam / (a * b)
        return np.stack([a, ((hoop - radial) / R - db * (a - b) / R) / da])

    def ends(ya: Array, yb: Array) -> Array:
        return np.array([stresses(ya[1], ya[0] / inner)[0], stresses(yb[1], yb[0] / outer)[0]])

    R = np.linspace(inner, outer, 41)
    found = solve_bvp(slopes, ends, R, np.stack([R * 1.1, 1.0 + 0 * R]), tol=1e-10, max_nodes=20000)

    def hoop(X: Any, *, g: Any) -> Any:
        e = sp.Matrix([-X[1], X[0], 0]) / sp.sqrt(X[0] ** 2 + X[1] ** 2)
        return sp.eye(3) + (g - 1) * e * e.T

    def quarter(X: Array) -> Array:
        r, turn = inner + (outer - inner) * X[:, 0], math.pi / 2 * X[:, 1]
        return np.stack([r * np.cos(turn), r * np.sin(turn), X[:, 2]], axis=1)

    mesh = sa.Mesh.box((1.0, 1.0, 0.2), (6, 6, 1), cell="hexahedron20", warp=quarter)
    law = energies.swollen(energies.neo_hooke(), hoop)
    body = sa.Body(mesh["body"], elements.hex20, law, mu=mu, lam=lam, g=sa.Parameter("g", g))
    held = [sa.fix(body[name], "z") for name in ("z0", "z1")]
    system = sa.System(body, terms=[*held, sa.fix(body["y0"], "y"), sa.fix(body["y1"], "x")])
    sa.StaticProblem(system, options=TIGHT).solve()
    for place in (inner, outer):
        r = system.position(body.at((place, 0.0, 0.0)))[0][0]
        yield Number(f"radius of what was at {place:g}", r, float(found.sol(place)[0]), 1e-5)
    from scipy.integrate import quad

    def stored(R: float) -> float:
        r, a = found.sol(R)
        return float(stresses(a, r / R)[2] * R)

    energy = quad(stored, inner, outer)[0] * math.pi / 2 * 0.2
    yield Number("energy of the stress of growth", system.strain_energy(), energy, 1e-4)


LENGTH, WIDE, HIGH, YOUNG = 60e-3, 5e-3, 2.5e-3, 0.3e6
MAGNET = 60e3  # A/m


def elastica(load: float) -> tuple[float, float]:
    """Return x and z over the length of the tip of EI theta'' + m B cos theta = 0."""
    from scipy.integrate import solve_bvp

    def slopes(s: Array, y: Array) -> Array:
        return np.stack([y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    s = np.linspace(0.0, 1.0, 51)
    start = np.stack([1.5 * s, 1.5 - s, s, s])
    found = solve_bvp(slopes, lambda a, b: np.array([a[0], a[2], a[3], b[1]]), s, start, tol=1e-9)
    return float(found.sol(1.0)[2]), float(found.sol(1.0)[3])


@case(
    "C53_hard_magnetic",
    "own integration (SciPy) of the elastica and of the twist; energy of R. Zhao et al. 2019",
)
def hard_magnetic() -> Iterator[Number]:
    """A cantilever of hard-magnetic rubber across a field: rod, plate and solid; a twisted rod."""
    section = sa.Section.rectangle(WIDE, HIGH)
    B = sa.Parameter("B", 0.0)
    fields = (1e-3, 3e-3)
    x, z = elastica(MAGNET * section.A * fields[-1] * LENGTH**2 / (YOUNG * section.I2))
    shape = (LENGTH, WIDE, HIGH)
    rubber: dict[str, Any] = {"mu": YOUNG / 2, "lam": 0.0}
    line = sa.Mesh.box(shape[:1], (32,), cell="line3")["body"]
    of_rod = section.rod(E=YOUNG, nu=0.49, rho=1e3)
    rod = sa.Body(line, elements.ancf_rod, energies.rod(), **of_rod)
    plate = sa.Body(
        sa.Mesh.box(shape[:2], (24, 1))["body"],
        elements.ancf_plate,
        energies.neo_hooke(),
        thickness=HIGH,
        **rubber,
    )
    box = sa.Mesh.box(shape, (24, 1, 1), cell="hexahedron20")["body"]
    solid = sa.Body(box, elements.hex20, energies.neo_hooke(), **rubber)
    for body, tolerance in ((rod, 1e-4), (plate, 2e-3), (solid, 2e-3)):
        clamp = sa.fix(body["x0"])
        system = sa.System(body, terms=[clamp, sa.magnetic(body, (MAGNET, 0, 0), (0, 0, B))])
        problem = sa.StaticProblem(system, options=TIGHT)
        for B.value in fields:
            problem.solve()
        tip = system.position(body["x1"]).mean(axis=0) / LENGTH
        name = body.element.name
        height = HIGH / 2 / LENGTH if body is solid else 0.0
        yield Number(f"tip x over the length, {name}", tip[0], x, tolerance, 1.0)
        yield Number(f"tip z over the length, {name}", tip[2] - height, z, tolerance, 1.0)
    twist = MAGNET * section.A * 10e-3 * LENGTH**2 / of_rod["GJ"]
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), sa.magnetic(rod, (0, MAGNET, 0), (0, 0, B))])
    problem = sa.StaticProblem(system, options=TIGHT)
    for B.value in (3e-3, 10e-3):
        problem.solve()
    ends = sa.sample(system, rod, fields=["d2"])
    d2 = ends.point_data["d2"][np.argmax(ends.points[:, 0])]
    right = _twisted(twist)
    yield Number("angle of twist at the end [rad]", math.atan2(d2[2], d2[1]), right, 1e-4)


def _twisted(load: float) -> float:
    """Return the angle at the end of phi'' + load cos phi = 0, clamped at the other."""
    from scipy.integrate import solve_bvp

    def slopes(s: Array, y: Array) -> Array:
        return np.stack([y[1], -load * np.cos(y[0])])

    s = np.linspace(0.0, 1.0, 51)
    start = np.stack([s, 1.0 - s])
    found = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1]]), s, start, tol=1e-9)
    return float(found.sol(1.0)[0])


@case("C54_dielectric", "closed form (X. Zhao, Z. Suo, Applied Physics Letters 91 (2007) 061921)")
def dielectric() -> Iterator[Number]:
    """A sheet of an ideal dielectric elastomer: stretches, and the voltage at which it pulls in."""
    mu, epsilon, h = 2e4, 4e-11, 1e-3
    E = sa.Parameter("E", 0.0)
    unit = math.sqrt(mu / epsilon)
    mesh = sa.Mesh.box((2 * h, 2 * h, h), (1, 1, 1), cell="hexahedron27")
    body = sa.Body(
        mesh["body"],
        elements.hex27,
        energies.neo_hooke(),
        pressure="discontinuous",
        mu=mu,
        lam=math.inf,
    )
    held = [sa.symmetry(body[f"{axis}0"], axis) for axis in "xyz"]
    system = sa.System(body, terms=[*held, sa.dielectric(body, epsilon, (0.0, 0.0, E))])
    problem = sa.StaticProblem(system, options=TIGHT)
    from scipy.optimize import brentq

    for share in (0.3, 0.6, 0.68):
        E.value = share * unit
        problem.solve()
        stretch = system.position(body["x1"])[0, 0] / (2 * h)
        right = brentq(lambda x, s=share: x**-2 - x**-8 - s**2, 1.0, 4 ** (1 / 6))
        yield Number(f"stretch at E sqrt(epsilon/mu) = {share:g}", stretch, right, 1e-8)
    highest = math.sqrt(4 ** (-1 / 3) - 4 ** (-4 / 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beyond it a sheet is unstable
        history = problem.follow(E, step=0.005 * unit, steps=3)
    most = max(history["E"]) / unit
    yield Number("field at which it pulls in", most, highest, 1e-8)

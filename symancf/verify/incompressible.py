# SPDX-License-Identifier: BSD-3-Clause
"""Exactly incompressible rubber: universal solutions, orders, stability of pressures."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from mpi4py import MPI
from scipy.linalg import eigh

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.gas import pressure
from ..catalogue.loads import traction
from ..elements import Element, hex20, hex27, tet10
from ..mesh import Mesh
from ..output.sampling import sample
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case, order
from .inflation import RUBBER, SPHERE_LIMITS, sphere_reference, tube_reference
from .references import EQUIBIAXIAL, PURE_SHEAR, UNIAXIAL
from .states import moment, moved, residual, tangent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..laws.mixed import Kind

INCOMPRESSIBLE: dict[str, Any] = {**RUBBER, "k": math.inf}
PAIRS: tuple[tuple[Element, Kind], ...] = ((tet10, "continuous"), (hex27, "discontinuous"))
SIDES = ("x0", "x1", "y0", "y1", "z0", "z1")


def rubber(mesh: Mesh, element: Element, kind: Kind) -> Body:
    """Return a body of incompressible Yeoh rubber."""
    return Body(mesh["body"], element, energies.yeoh(), pressure=kind, **INCOMPRESSIBLE)


def wrong_volume(system: System, body: Body) -> float:
    """Return the largest |J - 1| at quadrature points."""
    J = sample(system, body, fields={"J": "J"}, at="gauss").point_data["J"]
    return float(np.abs(np.asarray(J, dtype=float) - 1.0).max())


# ---- homogeneous states -------------------------------------------------------------------------
def bent(X: Array) -> Array:
    """Move points inside of the unit cube: cells with curved edges."""
    bump = np.prod(np.sin(np.pi * X), axis=1)[:, None]
    return np.asarray(X + 0.05 * bump * np.cos(np.array([1.0, 3.0, 2.0]) + 4.0 * X[:, [1, 2, 0]]))


@case("C01_incompressible", "closed form")
def homogeneous() -> Iterator[Number]:
    """Yeoh rubber with k = inf: uniaxial, equibiaxial and planar tension, curved cells."""
    for element, kind in PAIRS:
        mesh = Mesh.box(
            (1.0, 1.0, 1.0), (2, 2, 2), cell=element.cell, warp=bent, comm=MPI.COMM_SELF
        )
        for state, sides, table in (
            ("uniaxial", ("x1",), UNIAXIAL),
            ("equibiaxial", ("x1", "y1"), EQUIBIAXIAL),
            ("planar", ("x1",), PURE_SHEAR),
        ):
            body = rubber(mesh, element, kind)
            terms = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
            for side in sides:
                along = [(lambda t: t) if axis == side[0] else 0.0 for axis in "xyz"]
                terms.append(fix(body[side], side[0], displacement=along))
            if state == "planar":
                terms.append(fix(body["y1"], "y"))
            system = System(body, terms=terms)
            problem = StaticProblem(system, options=TIGHT)
            for stretch in (1.5, 2.0):
                problem.solve(to=stretch - 1.0, step=0.25)
                P = moment(system, residual(system, system.state))
                name = f"{element.name}, {state}, stretch {stretch:g}"
                yield Number(f"P11 [MPa]: {name}", P[0, 0], table[stretch][0], 1e-9)
                if state == "planar":
                    yield Number(f"P22 [MPa]: {name}", P[1, 1], table[stretch][2], 1e-9)
                yield Number(f"|J - 1|: {name}", wrong_volume(system, body), 0.0, 1e-10)


# ---- universal solutions ------------------------------------------------------------------------
def on_side(system: System, body: Body, side: str, about: Array) -> Array:
    """Return force and moment (6,) about a point that a support exerts on a side."""
    forces, own = residual(system, system.state), np.zeros_like(system.state)
    on = system._discrete.binding(body).interpolation
    vertices = np.flatnonzero(
        np.isin(system._discrete.topology.vertex_ids, body[side].region.slice()[1])
    )
    at = on.offset(vertices, "value")[:, None] + np.arange(3)
    own[at] = forces[at]
    return system._discrete.wrench(own, about)


def followed(
    system: System, p: Parameter, step: float, measure: Callable[[], Any], to: float
) -> tuple[list[Any], Any]:
    """Follow p until the first of some measures is `to`; return them with p, and limit points."""
    problem, path = StaticProblem(system, options=TIGHT), []

    def reached(stretch_now: Any) -> bool:
        path.append((*measure(), p.value))
        return bool(path[-1][0] >= to)

    problem.record("stretch", lambda: measure()[0])
    return path, problem.follow(p, step=step, until=reached).limit_points


@case("C10_incompressible", "universal solution, quadrature")
def tube() -> Iterator[Number]:
    """Thick tube of incompressible Yeoh rubber under pressure, 5 x 5 `hex27`."""
    mesh = Mesh.tube(1.0, 2.0, 0.1, (5, 5, 1), symmetric="xy", cell=hex27.cell, comm=MPI.COMM_SELF)
    body, p = rubber(mesh, hex27, "discontinuous"), Parameter("p")
    supports = [
        fix(body["z0"], "z"),
        fix(body["z1"], "z"),
        fix(body["y0"], "y"),
        fix(body["x0"], "x"),
    ]
    system = System(body, terms=[*supports, pressure(body["inner"], p)])
    inner = body.at((1.0, 0.0, 0.0))

    def measure() -> tuple[float, float]:
        stretch = 1.0 + float(system.displacement(inner)[0, 0])
        return stretch, 4.0 * float(
            supports[1].reaction(system).force[2]
        ) - np.pi * stretch**2 * p.value

    path, _ = followed(system, p, 0.05, measure, 3.0)
    for stretch, force, pressure_found in path[2::2]:
        exact, axial = tube_reference(stretch)
        yield Number(f"p [MPa] at inner stretch {stretch:.4f}", pressure_found, exact, 2e-3)
        name = f"N - pi a^2 p at inner stretch {stretch:.4f}"
        yield Number(name, force, axial, 2e-3, np.pi * stretch**2 * exact)


@case("C11_incompressible", "universal solution, quadrature")
def sphere() -> Iterator[Number]:
    """Spherical shell of incompressible Yeoh rubber past both limit points, 12 `hex27`."""
    mesh = Mesh.sphere(1.1, (1, 4), inner=1.0, symmetric="xyz", cell=hex27.cell, comm=MPI.COMM_SELF)
    body, p = rubber(mesh, hex27, "discontinuous"), Parameter("p")
    supports = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
    system = System(body, terms=[*supports, pressure(body["inner"], p)])
    pole = body.at((1.0, 0.0, 0.0))
    path, limits = followed(
        system, p, 0.02, lambda: (float(np.linalg.norm(system.position(pole)[0])),), 1.7
    )
    for stretch, pressure_found in path[1::3]:
        name = f"p [MPa] at inner stretch {stretch:.4f}"
        yield Number(name, pressure_found, sphere_reference(stretch), 1e-3)
    yield Number("number of limit points", float(len(limits)), 2.0, 0.0)
    for limit, (at, exact) in zip(limits, SPHERE_LIMITS, strict=False):
        pressure_found = float(limit.values["stretch"])
        yield Number(f"limit point: stretch (p = {exact:.4f})", pressure_found, at, 1e-3)
        yield Number(f"limit point: p [MPa] (stretch {at:.4f})", limit.parameter, exact, 3e-4)


# twist per length -> torque, axial force [MPa len^3, MPa len^2], closed form
TORSION = {
    0.5: (0.7606908461739036, -0.19017271154347587),
    1.0: (1.408480706359424, -0.704240353179712),
}


def twist(X: Array, t: float) -> Array:
    """Return the displacement of the end of a cylinder of length 1 that is turned by t."""
    c, s = np.cos(t) - 1.0, np.sin(t)
    x, y = X[:, 0], X[:, 1]
    return np.stack([c * x - s * y, s * x + c * y, np.zeros(len(X))], axis=1)


@case("C13_torsion", "universal solution (R. S. Rivlin), closed form")
def torsion() -> Iterator[Number]:
    """Twisted cylinder of incompressible Yeoh rubber: torque, and the force of Poynting."""
    for (element, kind), cells in zip(PAIRS, ((4, 4, 3), (4, 4, 2)), strict=True):
        mesh = Mesh.cylinder(1.0, 1.0, cells, cell=element.cell, comm=MPI.COMM_SELF)
        body = rubber(mesh, element, kind)
        system = System(body, terms=[fix(body["z0"], "all"), fix(body["z1"], "all", twist)])
        problem = StaticProblem(system, options=TIGHT)
        for rate, (torque, force) in TORSION.items():
            problem.solve(to=rate, step=0.5)
            reaction = on_side(system, body, "z1", np.zeros(3))
            name = f"at a twist of {rate:g}, {element.name}"
            yield Number(f"torque {name}", float(reaction[5]), torque, 1e-3)
            yield Number(f"axial force {name}", float(reaction[2]), force, 1e-2)


# sector angle -> inner radius, outer radius, moment per width, independent quadrature
FLEXURE = {
    0.785398: (4.61958184336813, 5.614842185267347, 0.06441384671070528),
    1.570796: (2.102416953827392, 3.0843338383971184, 0.1231302095754597),
    3.141593: (0.8877649481189758, 1.8260902750354413, 0.2118556163063683),
}
LENGTH, WIDTH = 4.0, 0.25


def flexure(X: Array, t: float) -> Array:
    """Return Rivlin's flexure to a sector of angle t: r^2 = r_i^2 + 2 a Y, a = L/t.

    No traction on both faces where r_i r_o = a^2.
    """
    if t < 1e-9:
        return np.zeros_like(X)
    a = LENGTH / t
    r = np.sqrt(math.sqrt(a**2 + a**4) - a + 2.0 * a * X[:, 1])
    along, across = r * np.sin(X[:, 0] / a), r * np.cos(X[:, 0] / a) - a
    return np.stack([along - X[:, 0], across - X[:, 1], np.zeros(len(X))], axis=1)


@case("C14_flexure_block", "universal solution (R. S. Rivlin 1949), quadrature")
def bending() -> Iterator[Number]:
    """Block of incompressible Yeoh rubber bent to a half ring: radii and moment."""
    for (element, kind), cells in zip(PAIRS, ((8, 4, 1), (6, 2, 1)), strict=True):
        mesh = Mesh.box((LENGTH / 2, 1.0, WIDTH), cells, cell=element.cell, comm=MPI.COMM_SELF)
        body = rubber(mesh, element, kind)
        plane = [fix(body["x0"], "x"), fix(body["z0"], "z"), fix(body["z1"], "z")]
        system = System(body, terms=[*plane, fix(body["x1"], ["x", "y"], flexure)])
        problem = StaticProblem(system, options=TIGHT)
        faces = body.at([[0.0, 0.0, WIDTH / 2], [0.0, 1.0, WIDTH / 2]])
        for angle, (inner, outer, bent_by) in FLEXURE.items():
            problem.solve(to=angle, step=0.8)
            reaction = on_side(system, body, "x1", np.array([0.0, -LENGTH / angle, 0.0]))
            radii = system.position(faces)[:, 1] + LENGTH / angle
            name = f"at {angle:.4f}, {element.name}"
            yield Number(f"moment {name}", -float(reaction[5]) / WIDTH, bent_by, 3e-3)
            yield Number(f"inner radius {name}", float(radii[0]), inner, 2e-3)
            yield Number(f"outer radius {name}", float(radii[1]), outer, 2e-3)


# ---- Cook's membrane ----------------------------------------------------------------------------
COOK: dict[str, Any] = {"mu": 80.1938, "lam": 400889.806}
COOK_TIP = 6.933677687406589


def membrane(n: int) -> Mesh:
    """Return Cook's membrane of n x n `hex27`, smaller at the sides, with straight edges."""

    def graded(s: Array) -> Array:
        half = np.round(2 * n * s)
        low, high = np.floor(half / 2), np.ceil(half / 2)
        return np.asarray((2.0 - np.cos(np.pi * low / n) - np.cos(np.pi * high / n)) / 4.0)

    def skew(X: Array) -> Array:
        u, v = graded(X[:, 0]), graded(X[:, 1])
        return np.stack([48.0 * u, 44.0 * u + (44.0 - 28.0 * u) * v, X[:, 2]], axis=1)

    return Mesh.box((1.0, 1.0, 4.0), (n, n, 1), cell=hex27.cell, warp=skew, comm=MPI.COMM_SELF)


def cook(n: int, **stiffness: Any) -> tuple[float, int]:
    """Return the upward displacement of the upper tip, and the iterations of one step."""
    body = Body(
        membrane(n)["body"], hex27, energies.neo_hooke(), pressure="discontinuous", **stiffness
    )
    plane = [fix(body["x0"], ["x", "y"]), fix(body["z0"], "z"), fix(body["z1"], "z")]
    system = System(body, terms=[*plane, traction(body["x1"], (0.0, 6.25, 0.0))])
    history = StaticProblem(system).solve()
    tip = system.displacement(body.at((48.0, 60.0, 2.0)))
    return float(tip[0, 1]), sum(step.iterations for step in history.steps)


@case("C30_cook", "second implementation, Taylor-Hood Q2/Q1, extrapolated")
def tip() -> Iterator[Number]:
    """Cook's membrane in plane strain, nu = 0.4999 and 1/2."""
    displacement, iterations = cook(12, **COOK)
    yield Number("u_y of the tip, 12 x 12 cells", displacement, COOK_TIP, 2e-3)
    yield Number("iterations of one step", float(iterations), 5.0, 1.0, 1.0)
    limit, iterations = cook(12, mu=COOK["mu"], lam=math.inf)
    yield Number("u_y of the tip, nu = 1/2 against 0.4999", limit, displacement, 5e-4)
    yield Number("iterations of one step, nu = 1/2", float(iterations), 5.0, 1.0, 1.0)


# ---- orders, stability --------------------------------------------------------------------------
X = sp.symbols("X1:4", real=True)


def manufactured() -> tuple[Any, sp.Matrix, sp.Expr, sp.Matrix]:
    """Return a law, and the motion, the pressure and the stress with which it is in equilibrium.

    The motion is a chain of shears, so J = 1; P = mu F + p cof F, and the law is W - b . u with
    b = -Div P.
    """
    along, across = sp.sin(2 * X[0]) / 5, sp.sin(2 * X[0]) * sp.cos(2 * X[1]) / 10
    r = sp.Matrix([X[0], X[1] + along, X[2] + across])
    p = sp.sin(X[0] + 2 * X[1] + X[2]) / 2
    F = r.jacobian(X)
    P = F + p * F.adjugate().T
    b = [-sp.Add(*(sp.diff(P[i, k], X[k]) for k in range(3))) for i in range(3)]

    def loaded(I1: Any, u: Any, X: Any, *, mu: Any) -> Any:
        at = dict(zip(sp.symbols("X1:4", real=True), X, strict=True))
        return mu / 2 * (I1 - 3) - sum(f.subs(at) * x for f, x in zip(b, u, strict=True))

    return loaded, r, p, P


@case("E11_orders_incompressible", "manufactured solution")
def orders() -> Iterator[Number]:
    """Orders of convergence of displacement and pressure of incompressible solids: 3 and 2."""
    law, r, p, P = manufactured()
    position, exact, pulled = (sp.lambdify(X, f) for f in (list(r), p, [P[i, 2] for i in range(3)]))

    def stacked(functions: Any, X: Array) -> Array:
        return np.stack([np.broadcast_to(f, len(X)) for f in functions(*X.T)], axis=1)

    for element, kind in PAIRS:
        errors: dict[str, list[float]] = {"displacement": [], "pressure": []}
        for n in (2, 4):
            mesh = Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=element.cell, comm=MPI.COMM_SELF)
            body = Body(mesh["body"], element, law, pressure=kind, mu=1.0)
            supports = [
                fix(body[side], "all", lambda X, t: stacked(position, X) - X) for side in SIDES[:5]
            ]
            load = traction(body["z1"], lambda X, t: stacked(pulled, X))
            system = System(body, terms=[*supports, load])
            system.state[:] = moved(system, lambda X: stacked(position, X), lambda X: X)
            StaticProblem(system, options=TIGHT).solve()
            fields = {"u": "u", "X": "X", "p": "pressure"}
            fields_there = sample(system, body, fields=fields, at="gauss").point_data
            u, where = (np.asarray(fields_there[name], dtype=float) for name in ("u", "X"))
            off = u + where - stacked(position, where)
            errors["displacement"].append(float(np.sqrt(np.mean(off**2))))
            off = np.asarray(fields_there["p"]) - exact(*where.T)
            errors["pressure"].append(float(np.sqrt(np.mean(off**2))))
        for name, right in (("displacement", 3.0), ("pressure", 2.0)):
            yield Number(f"order of the {name}, {element.name}", order(errors[name]), right, 0.15)


def inf_sup(element: Element, kind: Kind, n: int) -> Array:
    """Return the singular values of the constraint on a cube of n^3 cells held at five sides.

    Those of B in the norms of |grad u|^2 and p^2, by the tangent of |H|^2/2 + p (J - 1) - p^2/2.
    """

    def norms(H: Any, J: Any, *, k: Any) -> Any:
        return {"gradient": sum(x**2 for x in H) / 2, "volumetric": k / 2 * (J - 1) ** 2}

    mesh = Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=element.cell, comm=MPI.COMM_SELF)
    body = Body(mesh["body"], element, norms, pressure=kind, k=1.0)
    system = System(body, terms=[fix(body[side], "all") for side in SIDES[:5]])
    K, numbering = tangent(system, system.state), system._discrete.numbering
    free = numbering.fixed_by < 0
    p = np.flatnonzero(numbering.those("multiplier") & free)
    u = np.flatnonzero(numbering.those("position") & free)
    B, M = K[np.ix_(p, u)], -K[np.ix_(p, p)]
    S = B @ np.linalg.solve(K[np.ix_(u, u)], B.T)
    return np.asarray(np.sqrt(np.abs(eigh(S, M, eigvals_only=True))))


@case("E12_inf_sup", "theory: bounded below (C. Taylor, P. Hood; F. Brezzi, M. Fortin)", short=2)
def stable_pressures() -> Iterator[Number]:
    """Least singular values of the constraint: those of stable pairs stay, of others fall."""
    for element, kind in PAIRS:
        coarse, fine = (float(inf_sup(element, kind, n)[0]) for n in (2, 3))
        name = f"{element.name}, {kind}"
        yield Number(
            f"ratio of the least singular values, n = 3 and 2: {name}", fine / coarse, 1.0, 0.15
        )
        yield Number(f"least singular value is over 0.15: {name}", float(fine > 0.15), 1.0, 0.0)
    locked = replace(hex20, pressures={"discontinuous": 1})
    least = float(inf_sup(locked, "discontinuous", 2)[0])
    yield Number("least singular value: hex20 with four pressures of a cell", least, 0.0, 1e-6)


# ---- Rivlin's cube ------------------------------------------------------------------------------
#: t/mu -> stretches a of the branches (a, a, 1/a^2), roots of a + 1/a^2 = t/mu
RIVLIN = {
    1.95: (1.059994758954123, 1.51337906317909),
    2.2: (0.8657172296377781, 1.9321272393837479),
}


def pulled(drawn: float | None = None) -> tuple[System, Parameter, Body]:
    """Return a cube under the same dead traction on its faces; along z it may be drawn instead."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell=hex27.cell, comm=MPI.COMM_SELF)
    body = Body(
        mesh["body"], hex27, energies.neo_hooke(), pressure="discontinuous", mu=1.0, lam=math.inf
    )
    T = Parameter("T")
    terms: list[Any] = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
    loads = [tuple((lambda t: T.value) if i == k else 0.0 for i in range(3)) for k in range(3)]
    terms += [traction(body[f"{axis}1"], load) for axis, load in zip("xyz", loads, strict=True)]
    if drawn is not None:
        terms[-1] = fix(body["z1"], "z", displacement=lambda t: (0.0, 0.0, drawn * t))
    return System(body, terms=terms), T, body


def brick(load: float, a: float) -> tuple[StaticProblem, Parameter, Body]:
    """Return the cube in equilibrium as a brick of stretches a, a, 1/a^2 under a load t."""
    drawn, T, _ = pulled(a**-2 - 1.0)
    T.value = load
    StaticProblem(drawn, options=TIGHT, check_stable=False).solve(to=1.0, step=0.25)
    system, T, body = pulled()
    T.value = load
    system.state[:] = drawn.state
    problem = StaticProblem(system, options=TIGHT, check_stable=False)
    problem.solve()
    return problem, T, body


@case("C20_rivlin_cube", "closed form; R. S. Rivlin (1948, 1974)")
def rivlin() -> Iterator[Number]:
    """Neo-Hookean cube under equal dead tractions: it holds as a cube to 2 mu, and as bricks."""
    system, T, _ = pulled()
    with warnings.catch_warnings():  # of bifurcations, and of the state at one
        warnings.filterwarnings("ignore", "follow|at T")
        history = StaticProblem(system).follow(T, to=2.05, step=0.4)
    critical = history.bifurcations[0].parameter
    yield Number("t/mu where the cube loses stability", critical, 2.0, 1e-6)
    for load, stretches in RIVLIN.items():
        for a in stretches:
            problem, T, body = brick(load, a)
            x = 1.0 + problem.system.displacement(body.at([(1.0, 1.0, 1.0)]))[0]
            yield Number(f"stretch of a brick, t/mu = {load}, a = {a:.4f}", x[0], a, 1e-9)
            yield Number(f"its height, t/mu = {load}, a = {a:.4f}", x[2], a**-2, 1e-9)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "follow|at T")
        history = problem.follow(T, step=0.1, steps=8, direction=-1)
    least = history.limit_points[0].parameter
    yield Number("least t/mu of bricks", least, 3.0 * 2.0 ** (-2.0 / 3.0), 1e-8)

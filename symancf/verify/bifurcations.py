# SPDX-License-Identifier: BSD-3-Clause
"""Paths from which others branch off: columns, rigid links, a portal frame, a plate.

Columns and frames are beams without shear whose axial force goes with Biot's strain and whose
moment goes with the turn per reference length. Upright, such a column under a thrust P is shorter
by the factor 1 - P/EA, and its linearised equation EI theta'' + P (1 - P/EA) theta = 0 gives closed
forms with the shortening in them.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import scipy.optimize as so
import sympy as sp

from ..bodies.body import Body
from ..bodies.plane import PlanarBody
from ..catalogue.boundary import fix, planar
from ..catalogue.joints import clamp, revolute
from ..catalogue.loads import force, traction
from ..elements import ancf_cable, ancf_thin_plate
from ..energies import cable, kirchhoff
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential, VirtualWork
from ..values.parameter import Parameter
from .case import TIGHT, Number, case, order
from .limit_points import straight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..output.history import History


def followed(problem: StaticProblem, P: Parameter, to: float, step: float) -> History:
    """Follow a path through its bifurcations; the warnings that tell them are kept back."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "follow")
        return problem.follow(P, to=to, step=step)


def unstable(problem: StaticProblem) -> float:
    """Return in how many directions the last equilibrium is unstable."""
    number = problem.history.steps[-1].unstable
    return math.nan if number is None else float(number)


def numbers(history: History, what: str, wanted: Any, tolerance: float) -> Iterator[Number]:
    """Yield how many bifurcations were found, and their places with the eigenvalues that cross.

    `wanted` are pairs of a value of the parameter and a number of eigenvalues.
    """
    places = history.bifurcations
    yield Number(f"bifurcations: {what}", len(places), len(wanted), 0.0)
    for mode, (point, (value, crossing)) in enumerate(zip(places, wanted, strict=False), 1):
        yield Number(f"P, {mode}: {what}", point.parameter, value, tolerance)
        yield Number(f"eigenvalues, {mode}: {what}", float(point.eigenvalues), crossing, 0.0)


# ---- Euler's column -----------------------------------------------------------------------------
def buckling_load(beta: float, EA: float) -> float:
    """Return P with P (1 - P/EA) = beta^2, of a column of length 1 and EI = 1."""
    return EA / 2.0 * (1.0 - math.sqrt(1.0 - 4.0 * beta**2 / EA))


def column(ends: str, EA: float, *, plane: bool) -> tuple[StaticProblem, Parameter]:
    """Return a column of length 1 and EI = 1 under a thrust P."""
    mesh, P = Mesh.box((1.0,), (32,), name="column"), Parameter("P")
    beam = Body(mesh["body"], ancf_cable, cable(), name="column", EA=EA, EI=1.0)
    supports = {
        "clamped-free": [fix(beam["x0"])],
        "pinned": [fix(beam["x0"], "position"), fix(beam["x1"], ["y", "z"])],
        "clamped": [fix(beam["x0"]), fix(beam["x1"], ["y", "z", "slope.y", "slope.z"])],
    }[ends]
    thrust = force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    system = System(beam, terms=[*supports, *([planar(beam)] if plane else []), thrust])
    return StaticProblem(system), P


# ends -> sqrt(P L^2/EI) of the first two modes of a column without extension
COLUMNS = {
    "clamped-free": (math.pi / 2.0, 1.5 * math.pi),
    "pinned": (math.pi, 2.0 * math.pi),
    "clamped": (2.0 * math.pi, 2.0 * 4.493409457909064),  # tan x = x
}


@case("A50_euler_column", "closed form; L. Euler (1744), with the shortening of the column")
def euler() -> Iterator[Number]:
    """Euler's column, three pairs of ends, in its plane and in space, where modes come in pairs."""
    for EA in (1e3, 1e6):
        for ends, betas in COLUMNS.items():
            for plane in (True, False):
                problem, P = column(ends, EA, plane=plane)
                loads = [buckling_load(beta, EA) for beta in betas]
                history = followed(problem, P, to=1.1 * loads[1], step=0.3 * loads[0])
                wanted = [(load, 1 if plane else 2) for load in loads]
                what = f"{ends}, EA = {EA:g}, {'plane' if plane else 'space'}"
                yield from numbers(history, what, wanted, 1e-5)


# The elastica: P over pi^2 EI/L^2 -> deflection of the middle and shortening of the chord over L
ELASTICA = {
    1.1: (0.2542670791451836, 0.17970406005121542),
    2.0: (0.39848070775997746, 0.9291381835982904),
}


@case("A52_buckled_column", "closed form by elliptic integrals; L. Euler (1744)")
def elastica() -> Iterator[Number]:
    """Pinned column whose ends are brought together: thrust and deflection of the elastica."""
    mesh, shorter, push = Mesh.box((1.0,), (96,)), Parameter("shorter"), Parameter("push", 1.0)
    energy = cable(curvature="plane")
    beam = Body(mesh["body"], ancf_cable, energy, name="column", EA=1e7, EI=1.0)
    middle = beam.at((0.5, 0.0, 0.0))
    moved = fix(beam["x1"], ["x", "y"], displacement=(lambda t: -shorter.value, 0.0, 0.0))
    aside = force(middle, (0.0, lambda t: push.value, 0.0))
    supports = [fix(beam["x0"], "position"), moved, planar(beam)]
    system = System(beam, terms=[*supports, aside])
    problem = StaticProblem(system, options=TIGHT)
    problem.solve()
    problem.follow(shorter, to=0.05, step=0.01)
    push.value = 0.0
    for part, (deflection, chord) in ELASTICA.items():
        problem.follow(shorter, to=chord, step=0.05)
        thrust = -float(moved.reaction(system).force[0]) / math.pi**2
        yield Number(f"P L^2/(pi^2 EI), shorter by {chord:.6f}", thrust, part, 1e-5)
        yield Number(
            f"deflection, P = {part:g} P_cr", system.displacement(middle)[0, 1], deflection, 1e-5
        )
        yield Number(f"unstable, P = {part:g} P_cr", unstable(problem), 0.0, 0.0)


# ---- rigid links --------------------------------------------------------------------------------
def spring(theta_a: Any, *, k: Any) -> Any:
    """Return the energy of a torsion spring between a body and the ground."""
    return k * theta_a**2 / 2


def hinge(theta_a: Any, theta_b: Any, *, k: Any) -> Any:
    """Return the energy of a torsion spring between two bodies."""
    return k * (theta_b - theta_a) ** 2 / 2


def along(v_a: Any, theta_a: Any, *, P: Any) -> Any:
    """Return a push along a link that stands upright at rest."""
    return {v_a[0]: P * sp.sin(theta_a), v_a[1]: -P * sp.cos(theta_a)}


def links(*, follower: bool) -> tuple[StaticProblem, Parameter]:
    """Return two upright links of length 1 with springs of stiffness 1 and a push on the upper."""
    P, ground = Parameter("P"), Ground()
    lower = PlanarBody(position=(0.0, 0.5), name="lower")
    upper = PlanarBody(position=(0.0, 1.5), name="upper")
    low, high, top = lower.at((0.0, -0.5)), lower.at((0.0, 0.5)), upper.at((0.0, 0.5))
    foot = upper.at((0.0, -0.5))
    joints = [revolute(low, ground.at((0.0, 0.0))), revolute(high, foot, name="knee")]
    springs = [Potential(spring, low, k=1.0), Potential(hinge, high, foot, k=1.0)]
    load = VirtualWork(along, top, P=P) if follower else force(top, (0.0, lambda t: -P.value))
    system = System(lower, upper, terms=[*joints, *springs, load])
    return StaticProblem(system), P


@case("A53_two_rigid_links", "closed form; H. Ziegler (1952): P l/k = (3 -+ sqrt 5)/2, none")
def ziegler() -> Iterator[Number]:
    """Two upright links with torsion springs: both loads that buckle them, none if it follows."""
    wanted = [((3.0 + sign * math.sqrt(5.0)) / 2.0, 1) for sign in (-1.0, 1.0)]
    for step in (0.1, 1.0, 5.0):
        problem, P = links(follower=False)
        history = followed(problem, P, to=4.0, step=step)
        yield from numbers(history, f"dead load, step {step:g}", wanted, 1e-5)
    problem, P = links(follower=True)
    history = followed(problem, P, to=4.0, step=0.1)
    yield from numbers(history, "load along the upper link", [], 0.0)


# ---- a portal -----------------------------------------------------------------------------------
def portal(feet: str, EA: float) -> tuple[StaticProblem, Parameter]:
    """Return a portal of three beams of length 1 and EI = 1, a load P on each rigid corner."""
    P, corners, ground = Parameter("P"), [(0.0, 1.0), (1.0, 1.0)], Ground()
    base = [(0.0, 0.0), (1.0, 0.0)]
    knees = [PlanarBody(position=at, name=f"knee {k}") for k, at in enumerate(corners)]
    values: dict[str, Any] = {"EA": EA, "EI": 1.0}
    columns = [straight(base[k], corners[k], 8, f"column {k}", **values) for k in (0, 1)]
    top = straight(corners[0], corners[1], 8, "top", **values)
    terms: list[Any] = [planar(part) for part in (*columns, top)]
    for k, (part, knee) in enumerate(zip(columns, knees, strict=True)):
        at = (*corners[k], 0.0)
        terms += [clamp(part.at(at), knee, name=f"a{k}"), clamp(top.at(at), knee, name=f"b{k}")]
        terms.append(force(knee.at((0, 0)), (0.0, lambda t: -P.value)))
        if feet == "clamped":
            terms.append(clamp(part.at((*base[k], 0.0)), ground, name=f"foot {k}"))
        else:
            terms.append(fix(part["x0"], "position"))
    return StaticProblem(System(*columns, top, *knees, terms=terms)), P


def sway_load(feet: str, EA: float) -> float:
    """Return the load at which the portal sways.

    With k^2 = P (1 - P/EA) a column turns by sin ks (clamped foot) or cos ks (hinged foot), and
    the beam resists the turn of a corner with the moment c = 6/(1 + 24/EA): the columns' ends
    give way to its shear force.
    """
    c = 6.0 / (1.0 + 24.0 / EA)
    if feet == "clamped":
        k = so.brentq(lambda k: k * math.cos(k) + c * math.sin(k), 0.5 * math.pi, math.pi)
    else:
        k = so.brentq(lambda k: k * math.sin(k) - c * math.cos(k), 0.0, 0.5 * math.pi)
    return buckling_load(float(k), EA)


@case("A54_portal_sway", "closed form; S. P. Timoshenko and J. M. Gere (1961), section 2.4")
def sway() -> Iterator[Number]:
    """Portal that sways, clamped and hinged: found with any of 20 pairs of step and stiffness."""
    for feet in ("clamped", "hinged"):
        for EA in (1e3, 1e6):
            load = sway_load(feet, EA)
            for step in (0.03, 0.1, 0.35, 1.0, 4.0):
                problem, P = portal(feet, EA)
                history = followed(problem, P, to=1.6 * load, step=step * load)
                what = f"{feet}, EA = {EA:g}, step {step:g} P_cr"
                yield from numbers(history, what, [(load, 1)], 2e-5)


# ---- a plate ------------------------------------------------------------------------------------
@case("B05_plate_buckling", "closed form; G. H. Bryan (1891): N a^2/(pi^2 D) = 4")
def plate() -> Iterator[Number]:
    """Simply supported square plate pressed along one direction, thin plates."""
    thickness, E, nu = 1e-3, 1.0e9, 0.3
    D = E * thickness**3 / (12.0 * (1.0 - nu**2))
    load, loads = 4.0 * math.pi**2 * D, []
    for cells in (4, 8, 16):
        mesh, N = Mesh.box((1.0, 1.0), (cells, cells)), Parameter("N")
        skin = Body(mesh["body"], ancf_thin_plate, kirchhoff(), E=E, nu=nu, thickness=thickness)
        edges = [skin[name] for name in ("x0", "x1", "y0", "y1")]
        supports = [fix(edge, "z", name=f"edge {k}") for k, edge in enumerate(edges)]
        supports += [fix(edges[0], "x"), fix(skin.at((0.0, 0.0, 0.0)), "y")]
        press = traction(edges[1], (lambda t, N=N: -N.value, 0.0, 0.0))
        problem = StaticProblem(System(skin, terms=[*supports, press]))
        history = followed(problem, N, to=1.3 * load, step=0.5 * load)
        yield from numbers(history, f"{cells} x {cells} cells", [(load, 1)], 1.4 / cells**2)
        loads += [point.parameter for point in history.bifurcations]
    yield Number("N, extrapolated", (4.0 * loads[-1] - loads[-2]) / 3.0, load, 1e-3)
    yield Number("order", order([abs(load - value) for value in loads]), 2.0, 0.15, 1.0)

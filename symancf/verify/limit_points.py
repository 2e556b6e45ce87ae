# SPDX-License-Identifier: BSD-3-Clause
"""Paths past limit points: two-bar truss, Williams' toggle, Lee's frame, a deep arch.

The frames are beams without shear whose axial force goes with Biot's strain and whose moment goes
with the turn per reference length, which is `cable(curvature="plane")`; rigid corners are planar
bodies with clamps. The reference values are those of shooting and arc length on the differential
equations of these beams, independent of symancf.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..bodies.plane import PlanarBody
from ..catalogue.boundary import fix, planar
from ..catalogue.joints import clamp
from ..catalogue.loads import force
from ..elements import ancf_cable
from ..energies import cable
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..output.steps import LimitPoint, Step

Strain = Literal["biot", "green"]


def straight(start: Any, end: Any, cells: int, name: str, **stiffness: Any) -> Body:
    """Return a beam in the plane z = 0 between two places (x, y)."""
    a, b = np.array([*start, 0.0]), np.array([*end, 0.0])
    mesh = Mesh.box((1.0,), (cells,), warp=lambda X: a + X[:, :1] * (b - a), name=name)
    return Body(mesh["body"], ancf_cable, cable(curvature="plane"), name=name, **stiffness)


# ---- a truss of two bars ------------------------------------------------------------------------
RISE = 0.3
LENGTH = math.hypot(1.0, RISE)
# strain -> displacement and load P/EA of the first limit point, closed form
TRUSS = {
    "green": (0.12679491931617676, 0.009132130958686228),
    "biot": (0.1292883526337074, 0.009530291997895455),
}


def carried(strain: Strain, v: Array) -> Array:
    """Return P/EA of a two-bar truss at displacements of its apex, closed form."""
    z = RISE - v
    length = np.hypot(1.0, z)
    if strain == "green":
        return np.asarray((LENGTH**2 - length**2) / LENGTH**3 * z)
    return np.asarray(2.0 * (1.0 / length - 1.0 / LENGTH) * z)


@case("A23_von_mises_truss", "closed form; R. von Mises (1923)")
def truss() -> Iterator[Number]:
    """Two-bar truss, one cable each half: the whole path and both limit points, two strains."""
    measures: tuple[Strain, ...] = ("green", "biot")
    for strain in measures:
        mesh = Mesh.box((1.0,), (1,), warp=lambda X: X[:, :1] * [1.0, RISE, 0.0])
        bar = Body(mesh["body"], ancf_cable, cable(strain=strain), name="bar", EA=1.0, EI=1.0)
        P, apex = Parameter("P"), bar["x1"]
        load = force(apex, (0.0, lambda t, P=P: -P.value / 2.0, 0.0))
        supports = [fix(bar["x0"], "position"), fix(apex, "x"), planar(bar)]
        system = System(bar, terms=[*supports, load])
        problem = StaticProblem(system, options=TIGHT)
        problem.record("v", lambda system=system, apex=apex: -system.displacement(apex)[0, 1])
        history = problem.follow(P, to=0.025, step=1e-3)
        off = np.abs(history["P"] - carried(strain, history["v"])).max()
        yield Number(f"P/EA along the path, largest error: {strain}", off, 0.0, 1e-12, 1.0)
        v, limit = TRUSS[strain]
        high, low = history.limit_points
        yield Number(f"P/EA, maximum: {strain}", high.parameter, limit, 1e-12)
        yield Number(f"v, maximum: {strain}", float(high.values["v"]), v, 1e-8)
        yield Number(f"P/EA, minimum: {strain}", low.parameter, -limit, 1e-12)
        yield Number(f"v, minimum: {strain}", float(low.values["v"]), 2 * RISE - v, 1e-8)


# ---- Williams' toggle ---------------------------------------------------------------------------
HALF_SPAN, APEX = 12.943, 0.386
# displacement of the apex [in] -> load [lb]; then displacement and load of the extrema
TOGGLE = {
    0.0965: 24.653513067566042,
    0.193: 33.30695816114933,
    0.28950000000000004: 33.093029871382114,
    0.386: 31.2890927188261,
    0.48250000000000004: 34.51708486622294,
    0.5790000000000001: 48.39750626044181,
    0.6755: 77.74423443512362,
    0.772: 126.94906853956866,
}
TOGGLE_EXTREMA = ((0.23212740940238413, 33.87180395657052), (0.3916216735488853, 31.27999895554394))


def toggle(
    P: Any, v: Any = None, EA: Any = 1.885e6, EI: Any = 9.274e3
) -> tuple[System, PlanarBody, Any]:
    """Return half of Williams' toggle under the load P, or with the apex displaced by v."""
    place = (HALF_SPAN, APEX)
    beam = straight((0.0, 0.0), place, 32, "beam", EA=EA, EI=EI)
    apex = PlanarBody(position=place, name="apex")
    foot, top = clamp(beam.at((0.0, 0.0, 0.0)), Ground()), clamp(beam.at((*place, 0.0)), apex)
    loads = []
    if v is None:
        support = fix(apex, ["x", "theta"])
        loads.append(force(apex.at((0, 0)), (0.0, lambda t: -P.value / 2.0)))
    else:
        support = fix(apex, "all", displacement=(0.0, lambda t: -v.value, 0.0))
    return System(beam, apex, terms=[planar(beam), support, foot, top, *loads]), apex, support


@case("A22_williams_toggle", "shooting; F. W. Williams (1964), about 34 lb")
def williams() -> Iterator[Number]:
    """Williams' toggle: limit loads under a load, P(v) under a displacement of the apex."""
    P, v = Parameter("P"), Parameter("v")
    system, apex, _ = toggle(P)
    problem = StaticProblem(system)
    problem.record("v", lambda: APEX - float(apex.position(system)[1]))
    history = problem.follow(P, to=127.0, step=3.0)
    names = ("maximum", "minimum")
    for name, point, (at, load) in zip(names, history.limit_points, TOGGLE_EXTREMA, strict=True):
        yield Number(f"P, {name} [lb]", point.parameter, load, 1e-6)
        yield Number(f"v, {name} [in]", float(point.values["v"]), at, 2e-6)
    system, _, support = toggle(P, v)
    problem = StaticProblem(system)
    for at, load in TOGGLE.items():
        problem.follow(v, to=at, step=0.05)
        yield Number(
            f"P at v = {at:g} in [lb]", -2.0 * float(support.reaction(system).force[1]), load, 1e-6
        )


# ---- Lee's frame --------------------------------------------------------------------------------
# P, horizontal and downward displacement of the loaded point: on the path, and limit points
LEE = (
    (0.9795658168863157, 1.7974043850161685, 10.305210378190978),
    (1.389715591309487, 5.935233516286075, 21.554928134482438),
    (1.621811375817424, 11.095871971848709, 31.24193368152872),
    (1.807127071605263, 19.301248875316304, 41.92695188556452),
    (1.8465791517815084, 30.37037024826995, 51.176809280545754),
)
LEE_LIMITS = (
    (1.8556727537586322, 26.88057630080825, 48.735139177130264),
    (-0.9414431555658891, 90.19567380713804, 58.216815721587196),
)


@case("A20_lee_frame", "shooting and arc length; S.-L. Lee et al. (1968), P L^2/EI = 18.55")
def lee() -> Iterator[Number]:
    """Lee's frame, load and displacement snap back: points of the path and both limit points."""
    P, side = Parameter("P"), 120.0
    corner, hinge, loaded = (0.0, side), (side, side), (24.0, side, 0.0)
    stiffness = {"EA": 4320.0, "EI": 1440.0}
    column = straight((0.0, 0.0), corner, 40, "column", **stiffness)
    beam = straight(corner, hinge, 40, "beam", **stiffness)
    knee = PlanarBody(position=corner, name="knee")
    rigid = [clamp(part.at((*corner, 0.0)), knee) for part in (column, beam)]
    supports = [fix(column["x0"], "position"), fix(beam["x1"], "position")]
    supports += [planar(column), planar(beam)]
    load = force(beam.at(loaded), (0.0, lambda t: -P.value, 0.0))
    system = System(column, beam, knee, terms=[*supports, *rigid, load])
    problem = StaticProblem(system)
    place = beam.at(loaded)
    problem.record("u", lambda: system.displacement(place)[0, :2])
    for value, u, v in LEE:
        problem.follow(P, to=value, step=0.1)
        if value == LEE[-1][0]:  # the path has this load twice: beyond the limit point, too
            problem.follow(P, to=value)
        at = system.displacement(place)[0]
        yield Number(f"u at P = {value:.4f}", at[0], u, 2e-5)
        yield Number(f"v at P = {value:.4f}", -at[1], v, 2e-5)
    for _ in range(2):  # down, over the second limit point, and up
        history = problem.follow(P, to=0.0)
    for name, point, (limit, u, v) in zip(
        ("maximum", "minimum"), history.limit_points, LEE_LIMITS, strict=True
    ):
        yield Number(f"P, {name}", point.parameter, limit, 1e-5)
        yield Number(f"u, {name}", float(point.values["u"][0]), u, 1e-5)
        yield Number(f"v, {name}", -float(point.values["u"][1]), v, 1e-5)


# ---- a deep arch --------------------------------------------------------------------------------
def _passed(points: list[LimitPoint]) -> Callable[[Step], bool]:
    """Return a function that tells whether a limit point was passed."""
    return lambda step: bool(points)


# EA -> first limit point: load, horizontal and downward displacement of the crown
ARCH = {
    1e8: (897.2949475954044, 61.141688177610696, 113.73083106146702),
    1e12: (897.3089955687414, 61.14146566316428, 113.7320625491399),
}


@case(
    "A21_deep_arch_215",
    "shooting and arc length; Da Deppo and Schmidt (1975), P R^2/EI = 8.97",
    short=3,
)
def arch() -> Iterator[Number]:
    """Deep circular arch of 215 degrees, clamped and hinged: its sideways limit point."""
    for EA, (limit, u, v) in ARCH.items():
        P, radius, half = Parameter("P"), 100.0, math.radians(215.0) / 2.0

        def bent(X: Array, radius: float = radius, half: float = half) -> Array:
            angle = half * (2.0 * X[:, 0] - 1.0)
            ring = np.stack([np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)
            return np.asarray(radius * ring)

        def along(X: Array) -> Array:
            return np.stack([X[:, 1], -X[:, 0], 0.0 * X[:, 2]], axis=1)

        cells = 320 if EA == 1e8 else 640  # without extension cubics lock: h^4 EA/EI
        mesh = Mesh.box((1.0,), (cells,), warp=bent)
        energy = cable(curvature="plane")
        ring = Body(mesh["body"], ancf_cable, energy, name="arch", direction=along, EA=EA, EI=1e6)
        crown = ring.at((0.0, radius, 0.0))
        foot = clamp(ring.at(bent(np.zeros((1, 3)))[0]), Ground())
        load = force(crown, (0.0, lambda t, P=P: -P.value, 0.0))
        system = System(ring, terms=[foot, fix(ring["x1"], "position"), planar(ring), load])
        problem = StaticProblem(system)
        problem.record("u", lambda system=system, at=crown: system.displacement(at)[0, :2])
        points = problem.history.limit_points
        problem.follow(P, step=50.0, until=_passed(points))
        at = points[0].values["u"]
        yield Number(f"P, EA = {EA:g}", points[0].parameter, limit, 2e-5)
        # The load is flat at its extremum: round-off of it, EA R^2/EI = 1e10 times 1e-16, leaves
        # the place to the root of that, 1e-4 or two by processor.
        place = 3e-4 if EA > 1e10 else 1e-4
        yield Number(f"u, EA = {EA:g}", float(at[0]), u, place)
        yield Number(f"v, EA = {EA:g}", -float(at[1]), v, place)

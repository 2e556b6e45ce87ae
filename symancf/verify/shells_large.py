# SPDX-License-Identifier: BSD-3-Clause
"""Shells under large loads: the problems of Sze, Liu and Lo."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix, symmetry
from ..catalogue.loads import force
from ..catalogue.moments import moment
from ..elements import ancf_thin_plate, ancf_thin_quad
from ..energies import kirchhoff
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import Curve, Number, case
from .shells import cylinder, hemisphere, shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array
    from ..elements import Element

#: Elements of the first problems, the first one with plain names of quantities.
BOTH = (ancf_thin_plate, ancf_thin_quad)

SZE = "K. Y. Sze, X. H. Liu, S. H. Lo, Finite Elem. Anal. Des. 40 (2004) 1551-1569"


def compared(
    problem: StaticProblem,
    names: tuple[str, ...],
    rows: tuple[tuple[float, ...], ...],
    tolerance: float,
    step: float = 0.05,
    source: str = "Sze, Liu and Lo",
) -> Iterator[Number | Curve]:
    """Solve up to each load, the first column of a table, and compare series with the others."""
    table = np.array(rows)
    scales = np.abs(table).max(axis=0)
    for row in table:
        path = problem.solve(to=float(row[0]), step=step)
        for k, name in enumerate(names, 1):
            value, label = float(path[name][-1]), f"{name}: load {row[0]:g}"
            yield Number(label, value, float(row[k]), tolerance, float(scales[k]))
    path = problem.history
    for k, name in enumerate(names, 1):
        expected, where = (table[:, k], table[:, 0]), ("displacement", "part of the load")
        yield Curve(where, name, path[name], path.times(name), expected, source)


def strip(length: float, cells: int, element: Element) -> Body:
    """Return a strip of width 1 and thickness 0.1 along x."""
    mesh = Mesh.box((length, 1.0), (cells, 1))
    return Body(mesh["body"], element, kirchhoff(), E=1.2e6, nu=0.0, thickness=0.1)


def edge_names(element: Element, first: str, second: str) -> tuple[str, ...]:
    """Return names of quantities, with that of an element that is not the first one."""
    of = "" if element is BOTH[0] else f" of {element.name}"
    return first + of, second + of


SHEARED = (
    (0.2, 0.381, 2.493),
    (0.4, 1.184, 4.292),
    (0.6, 2.002, 5.444),
    (0.8, 2.705, 6.19),
    (1.0, 3.286, 6.698),
)


def sheared_of(element: Element) -> Iterator[Number | Curve]:
    """Solve the strip under a shear force with one element."""
    body = strip(10.0, 16, element)
    system = System(body, terms=[fix(body["x0"]), force(body["x1"], (0.0, 0.0, lambda t: 4.0 * t))])
    names = edge_names(element, "-u", "w")
    problem, tip = StaticProblem(system), body.at((10.0, 0.5, 0.0))
    problem.record(names[0], lambda: -system.displacement(tip)[0, 0])
    problem.record(names[1], lambda: system.displacement(tip)[0, 2])
    yield from compared(problem, names, SHEARED, 1.5e-3, 0.1)


@case("B20_strip_under_shear", f"{SZE}, 3.1", short=5)
def sheared() -> Iterator[Number | Curve]:
    """Strip clamped at one end under a shear force at the other."""
    for element in BOTH:
        yield from sheared_of(element)


def rolled_of(element: Element) -> Iterator[Number | Curve]:
    """Solve the strip under a moment with one element."""
    body = strip(12.0, 24, element)
    full = 2.0 * math.pi * 100.0 / 12.0  # EI = 100
    couple = moment(body["x1"], (0.0, lambda t: -full * t, 0.0))
    system = System(body, terms=[fix(body["x0"]), couple])
    names = edge_names(element, "-u", "w")
    problem, tip = StaticProblem(system), body.at((12.0, 0.5, 0.0))
    problem.record(names[0], lambda: -system.displacement(tip)[0, 0])
    problem.record(names[1], lambda: system.displacement(tip)[0, 2])
    rows = []
    for part in (0.2, 0.4, 0.6, 0.8, 1.0):
        a = 2.0 * math.pi * part
        rows.append((part, 12.0 * (1.0 - math.sin(a) / a), 12.0 * (1.0 - math.cos(a)) / a))
    yield from compared(problem, names, tuple(rows), 2e-3, source="closed form")


@case("B21_strip_under_moment", f"{SZE}, 3.2; values: closed form", short=4)
def rolled() -> Iterator[Number | Curve]:
    """Strip rolled up to a full circle by a moment at its end."""
    for element in BOTH:
        yield from rolled_of(element)


LIFTED = (
    (0.05, 2.455, 3.37),
    (0.1, 4.277, 5.876),
    (0.2, 6.725, 9.16),
    (0.4, 9.529, 12.661),
    (0.6, 11.257, 14.674),
    (0.8, 12.642, 16.202),
    (1.0, 13.891, 17.528),
)


def lifted_of(element: Element) -> Iterator[Number | Curve]:
    """Solve the slit ring with one element."""

    def bent(X: Array) -> Array:
        r, a = 6.0 + 4.0 * X[:, 0], 2.0 * math.pi * X[:, 1]
        return np.stack([r * np.cos(a), r * np.sin(a), 0.0 * a], axis=1)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*coincide")  # they shall
        mesh = Mesh.box((1.0, 1.0), (8, 48), warp=bent)
    body = Body(mesh["body"], element, kirchhoff(), E=21e6, nu=0.0, thickness=0.03)
    side = body["y1"]
    system = System(body, terms=[fix(body["y0"]), force(side, (0.0, 0.0, lambda t: 3.2 * t))])
    names = edge_names(element, "inner", "outer")
    problem = StaticProblem(system)
    problem.record(names[0], lambda: float(system.displacement(side)[:, 2].min()))
    problem.record(names[1], lambda: float(system.displacement(side)[:, 2].max()))
    yield from compared(problem, names, LIFTED, 2e-2)


@case("B22_slit_annulus", f"{SZE}, 3.3", short=2)
def lifted() -> Iterator[Number | Curve]:
    """Slit ring, clamped at one side of the slit and lifted at the other."""
    for element in BOTH:
        yield from lifted_of(element)


PULLED = (
    (0.05, 0.855, 0.955),
    (0.1, 1.499, 1.84),
    (0.2, 2.321, 3.261),
    (0.4, 3.158, 5.196),
    (0.6, 3.598, 6.497),
    (0.8, 3.875, 7.448),
    (1.0, 4.067, 8.178),
)


def pulled_of(element: Element) -> Iterator[Number | Curve]:
    """Solve the hemisphere with one element."""
    R = 10.0
    body = shell(hemisphere(R, 24), None, 6.825e7, 0.3, 0.04, element)
    a, b = body.at((R, 0.0, 0.0)), body.at((0.0, R, 0.0))
    supports = [symmetry(body["x0"], "y"), symmetry(body["x1"], "x"), fix(a, ["z"])]
    out = force(a, (lambda t: 200.0 * t, 0.0, 0.0))
    inwards = force(b, (0.0, lambda t: -200.0 * t, 0.0))
    system = System(body, terms=[*supports, out, inwards])
    names = edge_names(element, "out", "in")
    problem = StaticProblem(system)
    problem.record(names[0], lambda: system.displacement(a)[0, 0])
    problem.record(names[1], lambda: -system.displacement(b)[0, 1])
    yield from compared(problem, names, PULLED, 1e-2)


@case("B27_hemisphere", f"{SZE}, 3.4", short=2)
def pulled() -> Iterator[Number | Curve]:
    """Hemisphere with a hole under four large forces, out and in."""
    for element in BOTH:
        yield from pulled_of(element)


#: Thickness -> points of the path (part of 3000, deflection) beside its limit points.
ROOF = {
    12.7: (
        (0.0877, 0.693),
        (0.3473, 3.087),
        (0.5647, 5.802),
        (0.6908, 8.237),
        (0.7412, 10.358),
        (0.7286, 12.141),
        (0.6182, 14.188),
        (0.4442, 15.676),
        (0.2717, 17.094),
        (0.175, 19.028),
        (0.1905, 20.771),
        (0.295, 22.875),
        (0.5093, 25.293),
        (0.8549, 27.964),
    ),
    6.35: (
        (0.0517, 1.846),
        (0.1182, 5.271),
        (0.1837, 10.799),
        (0.1953, 12.892),
        (0.1806, 15.05),
        (0.0923, 16.602),
        (0.0083, 17.008),
        (-0.0622, 15.78),
        (-0.1001, 14.52),
        (-0.1247, 14.862),
        (-0.1271, 16.961),
        (-0.0825, 21.42),
        (-0.0006, 24.824),
        (0.2403, 30.023),
        (0.6417, 35.024),
    ),
}


@case("B26_hinged_roof", f"{SZE}, 3.8", short=1)
def snapped() -> Iterator[Number | Curve]:
    """Hinged cylindrical roof under a force in its middle: limit points, snap-through and back."""
    for h, rows in ROOF.items():
        R = 2540.0
        body = shell(cylinder(254.0, R, 0.1, 12), 0, 3102.75, 0.3, h)
        P, crown = Parameter("P"), body.at((0.0, 0.0, R))
        supports = [
            symmetry(body["x0"], "x"),
            symmetry(body["y0"], "y"),
            fix(body["y1"], "position"),
        ]
        push = force(crown, (0.0, 0.0, lambda t, P=P: -P.value / 4.0))
        system = System(body, terms=[*supports, push])
        problem = StaticProblem(system)
        problem.record("w", lambda s=system, c=crown: -s.displacement(c)[0, 2])
        first = problem.follow(P, to=3000.0 * rows[0][0], step=60.0)
        label, right = f"h = {h:g}: deflection at {rows[0][0]:g}", rows[0][1]
        yield Number(label, float(first["w"][-1]), right, 2.5e-2)
        path = problem.follow(P, to=3000.0, step=60.0, largest=150.0)
        part, w = path["P"] / 3000.0, path["w"]
        where = "deflection [mm]", f"part of the load, h = {h:g}"
        yield from beside(f"crown, h = {h:g}", part, w, rows, 1.5e-2, where)


def beside(
    name: str,
    load: Array,
    values: Array,
    rows: tuple[tuple[float, float], ...],
    tolerance: float,
    axes: tuple[str, str] = ("displacement", "part of the load"),
) -> Iterator[Number | Curve]:
    """Compare points (load, value) with a path; distances in parts of 1 and of the largest."""
    table = np.array(rows)
    size = float(np.abs(table[:, 1]).max())
    path = np.stack([load, values / size], axis=1)
    for part, value in rows:
        gap = distance(np.array([part, value / size]), path)
        yield Number(f"{name}: distance of ({part:g}, {value:g})", gap, 0.0, tolerance)
    yield Curve(axes, name, values, load, (table[:, 1], table[:, 0]), "Sze, Liu and Lo")


def distance(point: Array, line: Array) -> float:
    """Return how far a point is from a line of points."""
    a, b = line[:-1], line[1:]
    way = b - a
    part = np.sum((point - a) * way, axis=1) / np.maximum(np.sum(way**2, axis=1), 1e-300)
    foot = a + np.clip(part, 0.0, 1.0)[:, None] * way
    return float(np.linalg.norm(foot - point, axis=1).min())


def pressed(
    body: Body, supports: list[Any], place: Any, way: float, share: float
) -> tuple[System, StaticProblem]:
    """Move a place along z by parts of a way; series `load` is the force over `share`."""
    moved = fix(place, ["z"], displacement=(0.0, 0.0, lambda t: way * t))
    system = System(body, terms=[*supports, moved])
    problem = StaticProblem(system)
    problem.record("load", lambda: moved.reaction(system).force[2] / share)
    return system, problem


CYLINDER = (  # part of the load, w, -u, -u at the end
    (0.025, 0.819, 0.864, 0.872),
    (0.05, 1.26, 1.471, 1.493),
    (0.1, 1.707, 2.217, 2.293),
    (0.2, 2.079, 2.904, 3.106),
    (0.3, 2.257, 3.227, 3.452),
    (0.4, 2.376, 3.443, 3.632),
    (0.55, 2.577, 4.171, 3.518),
    (0.6, 2.618, 4.274, 3.452),
    (0.7, 2.672, 4.385, 3.378),
    (0.8, 2.71, 4.455, 3.332),
    (1.0, 2.768, 4.551, 3.269),
)


@case("B23_pulled_cylinder", f"{SZE}, 3.5", short=1)
def pulled_cylinder() -> Iterator[Number | Curve]:
    """Cylinder with open ends pulled apart in its middle, until it snaps out, and beyond."""
    R, L = 4.953, 10.35
    mesh = cylinder(L / 2.0, R, math.pi / 2.0, (12, 18))
    body = shell(mesh, 0, 10.5e6, 0.3125, 0.094, ancf_thin_quad)
    a, b, c = body.at((L / 2.0, 0.0, R)), body.at((L / 2.0, R, 0.0)), body.at((0.0, R, 0.0))
    supports = [symmetry(body["x1"], "x"), symmetry(body["y0"], "y"), symmetry(body["y1"], "z")]
    system, problem = pressed(body, supports, a, 2.8, 1e4)
    places = {"w": (a, 2, 1.0), "-u": (b, 1, -1.0), "-u at the end": (c, 1, -1.0)}
    for name, (place, k, sign) in places.items():
        problem.record(name, lambda p=place, k=k, s=sign: s * float(system.displacement(p)[0, k]))
    first = problem.solve(to=0.175, step=0.035)
    yield Number("load at w = 0.49", float(first["load"][-1]), 0.013, 2e-3, 1.0)
    path = problem.solve(to=1.0, step=0.025)
    for k, name in enumerate(places, 1):
        rows = tuple((row[0], row[k]) for row in CYLINDER)
        yield from beside(name, path["load"], path[name], rows, 3e-2 if name == "w" else 1e-2)


PINCHED = {
    "-w": (
        (0.05, 9.561),
        (0.1, 23.164),
        (0.125, 29.375),
        (0.15, 36.208),
        (0.2, 56.373),
        (0.3, 65.498),
        (0.4, 70.424),
    ),
    "u": (
        (0.05, -0.233),
        (0.1, -2.391),
        (0.125, -3.872),
        (0.15, -2.154),
        (0.2, 10.448),
        (0.3, 17.979),
        (0.4, 22.321),
    ),
}


@case("B24_pinched_cylinder", f"{SZE}, 3.6", short=1)
def pinched_far() -> Iterator[Number | Curve]:
    """Cylinder on rigid diaphragms pinched by 0.7 of its radius, through its buckling."""
    R = 100.0
    body = shell(cylinder(R, R, math.pi / 2.0, 24), 0, 3e4, 0.3, 1.0)
    a, b = body.at((R, 0.0, R)), body.at((R, R, 0.0))
    supports = [fix(body["x0"], ["y", "z"]), symmetry(body["x1"], "x")]
    supports += [symmetry(body["y0"], "y"), symmetry(body["y1"], "z")]
    system, problem = pressed(body, supports, a, -71.0, -3000.0)
    problem.record("-w", lambda: -float(system.displacement(a)[0, 2]))
    problem.record("u", lambda: float(system.displacement(b)[0, 1]))
    first = problem.solve(to=9.561 / 71.0, step=0.04)
    yield Number("load at w = 9.561", float(first["load"][-1]), 0.05, 3e-3, 1.0)
    path = problem.solve(to=1.0, step=0.025)
    for name, rows in PINCHED.items():
        yield from beside(name, path["load"], path[name], rows, 6e-2)


SEMI = (
    (0.05, 5.421),
    (0.1, 16.1),
    (0.15, 27.657),
    (0.2, 37.582),
    (0.25, 48.537),
    (0.3, 66.41),
    (0.35, 94.669),
    (0.4, 113.704),
    (0.5, 132.653),
    (0.6, 144.185),
    (0.8, 160.015),
)


@case("B25_pinched_semi_cylinder", f"{SZE}, 3.7", short=1)
def semi_cylinder() -> Iterator[Number | Curve]:
    """Half of a cylinder clamped at one end and pinched at the other."""
    R, L = 101.6, 304.8
    body = shell(cylinder(L, R, math.pi / 2.0, 16), 0, 2068.5, 0.3, 3.0)
    a = body.at((L, 0.0, R))
    edge = fix(body["y1"], ["z", "slope_across.y"])
    supports = [fix(body["x0"]), symmetry(body["y0"], "y"), edge]
    system, problem = pressed(body, supports, a, -171.5, -1000.0)
    problem.record("-w", lambda: -float(system.displacement(a)[0, 2]))
    first = problem.solve(to=16.1 / 171.5, step=0.04)
    yield Number("load at w = 16.1", float(first["load"][-1]), 0.1, 5e-3, 1.0)
    path = problem.solve(to=1.0, step=0.02)
    yield from beside("-w", path["load"], path["-w"], SEMI, 2e-2)

# SPDX-License-Identifier: BSD-3-Clause
"""Rigid shapes as they look, for pictures and ParaView."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from symancf_codegen.functions import numerical

from ..arrays import Array, Ints
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..contact.distance import Distance
from ..contact.shapes import Box, Cylinder, Plane, RigidShape, X
from ..errors import SymancfError
from ..kinematics.quantity import real
from ..runtime.collective import reduced
from ..values.parameter import Parameter, depends_on_time, evaluate
from .fields import At, CellPoints
from .level import zero_level
from .samples import Samples

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem

ROUND = 48  # parts of a circle
PLANE_MARGIN = 0.15  # of what is around it: by that much a plane is larger
PLANE_DIVISIONS = 12  # parts of a plane's side, so that bodies before it hide a part of it


def shape_now(system: DiscreteSystem, shape: RigidShape, state: Array) -> Samples:
    """Return a shape at the system's present time, or on its body, on one rank (collective).

    Planes, and cylinders without ends, are as large as what the bodies of the system cover, and so
    are signed distances whose surface is not closed near these.

    Raises
    ------
    SymancfError : on every rank: a signed distance without a surface near the bodies.
    """
    if shape.body is None:
        origin, axes = shape.placed(system.time)
    else:
        q = shape.body.coordinates(system, state)
        turned = shape.body.frame + shape.body._axes(q)
        origin, axes = shape.body.origin + q[0] + turned @ shape.point, turned @ shape.frame
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    endless = isinstance(shape, Plane | Cylinder) and "length" not in shape.parameters
    if endless or isinstance(shape, Distance):
        places = [(_places(system, body, state) - origin) @ axes for body in system.bodies]
        every = np.concatenate([np.zeros((0, 3)), *places])
        low = reduced(system.comm, every.min(axis=0, initial=np.inf), MPI.MIN)
        high = reduced(system.comm, every.max(axis=0, initial=-np.inf), MPI.MAX)
    here = system.comm.rank == 0
    return _placed(shape, origin, axes, low, high, system.time, here=here)


def shape_at_rest(shape: RigidShape, around: Array) -> Samples:
    """Return a shape that rests, beside places (n, 3).

    Raises
    ------
    SymancfError : it moves; or as for `shape_now`.
    """
    values = shape.parameters.values()
    timed = any(depends_on_time(a) and not isinstance(a, Parameter) for a in values)
    if shape.body is not None or shape.moved or timed:
        raise SymancfError(
            f"{shape!r}: give sa.sample(system, shape), which knows where it is at present",
            asked="system",
            given=shape.name,
        )
    x = (np.concatenate([np.zeros((0, 3)), around]) - shape.point) @ shape.frame
    low, high = x.min(axis=0, initial=np.inf), x.max(axis=0, initial=-np.inf)
    return _placed(shape, shape.point, shape.frame, low, high, 0.0, here=True)


def _places(system: DiscreteSystem, body: object, state: Array) -> Array:
    """Return places that a body covers at present: corners of this rank's cells, or a box."""
    if isinstance(body, Body):
        xi, _ = body.element.sample(1)
        cells = np.arange(system.binding(body).interpolation.owned.sum())
        place = At(system, body, CellPoints(cells, xi, np.zeros(len(xi))), state)
        return np.asarray((place.X() + place.u()).reshape(-1, 3))
    if isinstance(body, RigidBody):
        centre = body.origin + body.coordinates(system, state)[0]
        return np.asarray(centre + 0.5 * body.extent * np.array([[-1.0] * 3, [1.0] * 3]))
    return np.zeros((0, 3))


def _placed(
    shape: RigidShape, origin: Array, axes: Array, low: Array, high: Array, time: float, here: bool
) -> Samples:
    """Return the surface of a shape, of which `low` and `high` are seen, in its frame."""
    if not (low <= high).all():
        low, high = -np.ones(3), np.ones(3)
    by = PLANE_MARGIN * float(np.linalg.norm(high - low)) or 1.0
    if isinstance(shape, Distance):
        x, kind, cells = _level(shape, low - by, high + by, time)
    else:
        x, kind, cells = _surface(shape, low - by, high + by)
    if not here:
        x, cells = x[:0], cells[:0]
    return Samples(origin + x @ axes.T, {kind: cells})


def _surface(shape: RigidShape, low: Array, high: Array) -> tuple[Array, str, Ints]:
    """Return points (n, 3) in the frame of a shape, and cells of a type."""
    size = {name: evaluate(name, value, 0.0) for name, value in shape.parameters.items()}
    if isinstance(shape, Box):
        unit = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) - 0.5
        corners = np.concatenate([np.insert(unit, 2, z, axis=1) for z in (-0.5, 0.5)])
        return corners * list(size.values()), "hexahedron", np.arange(8)[None]
    if isinstance(shape, Plane):
        x, y = (np.linspace(low[k], high[k], PLANE_DIVISIONS + 1) for k in (0, 1))
        grid = np.stack(np.meshgrid(x, y, [0.0], indexing="ij"), axis=-1)
        return (
            grid.reshape(-1, 3),
            "quad",
            _quads(PLANE_DIVISIONS + 1, PLANE_DIVISIONS + 1, closed=False),
        )
    R = size["radius"]
    half = size["length"] / 2 if "length" in size else 0.0
    if isinstance(shape, Cylinder):
        ends = (-half, half) if half else (low[2], high[2])
        profiles = [[[R, z] for z in ends]]
        profiles += [[[0.0, z], [R, z]] for z in ends] if half else []
        return _revolved([np.array(p) for p in profiles])
    angle = np.linspace(0.0, np.pi / 2, ROUND // 4 + 1)
    upper = np.stack([R * np.cos(angle), half + R * np.sin(angle)], axis=1)
    lower = upper[::-1] * [1.0, -1.0]
    return _revolved([np.concatenate([lower, upper] if half else [lower, upper[1:]])])


def _level(shape: Distance, low: Array, high: Array, time: float) -> tuple[Array, str, Ints]:
    """Return points (n, 3) in the frame of a signed distance, and triangles."""
    values = {
        real(name): evaluate(f"{name} of {shape!r}", value, time)
        for name, value in shape.parameters.items()
    }
    compiled = numerical(X, shape.distance(X).xreplace(values), "numpy")

    def distance(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(compiled(*x.T), dtype=float), len(x))

    x, triangles = zero_level(distance, low, high)
    if not len(triangles):
        raise SymancfError(
            f"{shape!r} cannot be drawn: it is zero nowhere near the bodies",
            asked="signed distance",
            given=shape.name,
        )
    return x, "triangle", triangles


def _revolved(profiles: list[Array]) -> tuple[Array, str, Ints]:
    """Turn lines (k, 2) of radius and height about the axis; each has points of its own."""
    angle = 2.0 * np.pi * np.arange(ROUND) / ROUND
    points, cells, first = [], [], 0
    for rows in profiles:
        x, y = (rows[:, :1] * f(angle) for f in (np.cos, np.sin))
        points.append(np.stack([x, y, np.broadcast_to(rows[:, 1:], x.shape)], axis=-1))
        cells.append(first + _quads(len(rows), ROUND, closed=True))
        first += len(rows) * ROUND
    return np.concatenate([p.reshape(-1, 3) for p in points]), "quad", np.concatenate(cells)


def _quads(m: int, n: int, *, closed: bool) -> Ints:
    """Quadrilaterals between (m, n) points in rows, the last of a row beside its first or not."""
    number = np.arange(m * n).reshape(m, n)
    if closed:
        number = np.concatenate([number, number[:, :1]], axis=1)
    corners = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return np.asarray(np.stack(corners, axis=-1).reshape(-1, 4), np.int64)

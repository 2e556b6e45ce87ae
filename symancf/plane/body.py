# SPDX-License-Identifier: BSD-3-Clause
"""Planar bodies and the places on them where flexures, loads and clamps attach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from ..ends import End, Ground, frame_of
from ..errors import ParameterError
from ..numbering import ANGLE, POSITION
from ..partition import Family

if TYPE_CHECKING:
    from ..assembly import Piece
    from ..system import System

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def rotation(angle: float) -> Array:
    """Return the matrix (2, 2) that turns a vector of the plane by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


class PlanarBody:
    """A rigid body in the plane: a node of three coordinates (x, y, theta) without a mesh.

    Its unknowns are the displacement (ux, uy) of its origin and the angle phi by which it has
    turned; a point with local coordinates s lies at

        r = (x, y) + (ux, uy) + R(theta + phi) s.

    Parameters
    ----------
    at : (x, y, theta) of its frame in the reference configuration; theta [rad], counter-clockwise.
        (x, y) alone means theta = 0.
    name : shown in messages; by default bodies are counted.

    Examples
    --------
    >>> import symancf as sa
    >>> finger = sa.PlanarBody(at=(1.0, 1.5, 0.0), name="finger")
    >>> tip = finger.at((0.2, 0.7))
    """

    def __init__(self, at: npt.ArrayLike = (0.0, 0.0, 0.0), name: str | None = None) -> None:
        given = np.asarray(at, dtype=float).ravel()
        self.named = name is not None
        self.name = name or "planar body"
        if given.size not in (2, 3) or not np.isfinite(given).all():
            raise ParameterError(
                f"planar body {self.name!r}: at is {at!r}: give three finite numbers (x, y, theta)"
            )
        self.reference: Array = np.append(given, np.zeros(3 - given.size))
        self.parameters: dict[str, Any] = {}
        self.reach = 0.0  # largest distance of an attachment from the origin

    def __repr__(self) -> str:
        x, y, theta = self.reference
        return f"PlanarBody {self.name!r} at ({x:g}, {y:g}), {theta:g} rad"

    def at(self, point: npt.ArrayLike, frame: npt.ArrayLike | None = None) -> PlanarPoint:
        """Return the place of a point given in the frame of this body.

        `frame` (3, 3): columns are the axes that joints there have, in the frame of this body.
        """
        return PlanarPoint(self, point, frame)

    @property
    def origin(self) -> PlanarPoint:
        """The place of the origin of the body's frame."""
        return PlanarPoint(self, (0.0, 0.0))

    # ---- what a system asks of a body -----------------------------------------------------------
    @property
    def extent(self) -> float:
        """Twice the largest distance of an attachment from the origin."""
        return 2.0 * self.reach if self.reach > 0.0 else 1.0

    def declare(self, system: System) -> None:
        """Announce the node and its blocks of coordinates."""
        self.vertex = int(system.new_vertices(1)[0])
        mine = np.zeros(1 if system.comm.rank == 0 else 0, dtype=np.int64)
        vertices = np.full((len(mine), 1), self.vertex, dtype=np.int64)
        system.announce(Family(f"body:{self.name}", mine, vertices, partitioned=False))
        system.announce_block(POSITION, 2)
        system.announce_block(ANGLE, 1)

    def carriers(self, system: System) -> list[tuple[str, npt.NDArray[np.int32]]]:
        """Blocks of coordinates on local vertices; also finds the node here, if it is here."""
        self.cells = np.flatnonzero(system.topology.vertex_ids == self.vertex)[:, None]
        local = self.cells.ravel().astype(np.int32)
        return [(POSITION, local), (ANGLE, local)]

    def build_reference(self, system: System) -> None:
        """Put the node where the body's origin is."""
        local = self.cells.ravel()
        system.points[local, :2] = self.reference[:2]
        self._position = system.numbering.offset[local, system.numbering.block(POSITION)]
        self._angle = system.numbering.offset[local, system.numbering.block(ANGLE)]
        self._owned = local < system.numbering.owned_vertices

    def pieces(self, system: System) -> list[Piece]:
        """A rigid body has no strain energy."""
        return []

    # ---- results --------------------------------------------------------------------------------
    def coordinates(self, system: System) -> npt.NDArray[np.int32]:
        """Local offsets (3,) of (ux, uy, phi) on this rank; empty where the body is not."""
        if not len(self._position):
            return np.zeros(0, dtype=np.int32)
        p, a = int(self._position[0]), int(self._angle[0])
        return np.array([p, p + 1, a], dtype=np.int32)

    def displacement(self, system: System) -> Array:
        """Return the present (ux, uy, phi), on every rank (collective)."""
        value = np.zeros(3)
        if self._owned.any():
            value[:] = system.state[self.coordinates(system)]
        return system.sum(value)

    def position(self, system: System) -> Array:
        """Return the present (x, y, theta), on every rank (collective)."""
        return np.asarray(self.reference + self.displacement(system))


class PlanarPoint(End):
    """A point of a planar body; its jet ``planar`` are the body's (ux, uy, phi).

    In users' functions its other jets are expressions of these: ``value``, the axes, ``angle``.
    """

    curved = "planar"

    def __init__(
        self, body: PlanarBody, point: npt.ArrayLike, frame: npt.ArrayLike | None = None
    ) -> None:
        given = np.asarray(point, dtype=float).ravel()
        if given.size == 3 and given[2] == 0.0:
            given = given[:2]
        if given.size != 2 or not np.isfinite(given).all():
            raise ParameterError(
                f"a point of planar body {body.name!r} is {point!r}: give two finite coordinates "
                "in the frame of the body"
            )
        self.body, self.local = body, given
        body.reach = max(body.reach, float(np.hypot(*given)))
        # the arm in the directions of the ground, reference configuration
        self.arm: Array = rotation(body.reference[2]) @ given
        self.X = np.append(body.reference[:2] + self.arm, 0.0)[None]
        axes = frame_of(f"planar body {body.name!r}", frame)
        self.frame = None if axes is None else self._turned @ axes

    @property
    def _turned(self) -> Array:
        turned = np.eye(3)
        turned[:2, :2] = rotation(self.body.reference[2])
        return turned

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration; those of the body if unset."""
        return self._turned if self.frame is None else self.frame

    def constant(self, jet: str) -> Array | None:
        """Return the reference value (1, 3) of a jet."""
        if jet == "value":
            return self.X
        values = {"arm": np.append(self.arm, 0.0), "angle": self.body.reference[2:] * np.eye(3)[0]}
        values |= {f"axis{k}": self.reference_frame[:, k] for k in range(3)}
        return np.repeat(values[jet][None], self.size, axis=0)

    def expressed(self, jet: str, q: Any, X: Any) -> list[Any]:
        """Return the change of a jet in symbols of (ux, uy, phi) and of its arm or axis X."""
        phi = q[2]
        if jet == "angle":
            return [phi, 0, 0]
        sine, versine = sp.sin(phi), 2 * sp.sin(phi / 2) ** 2
        turned = [-versine * X[0] - sine * X[1], sine * X[0] - versine * X[1], 0]
        moves = [q[0], q[1], 0] if jet == "value" else [0, 0, 0]
        return [a + b for a, b in zip(moves, turned, strict=True)]

    def resolve(self, system: System) -> None:
        """Find the vertex."""
        system.require_member(self.body, f"a term's end {self}")
        self.vertices = np.array([[self.body.vertex]], dtype=np.int64)

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the jet ``planar``; see `End.rows`."""
        return planar_rows(system, vertices[:, 0], np.ones(len(chosen), dtype=bool))

    def displacement(self, system: System) -> Array:
        """Return the displacement (1, 3) of the point, on every rank (collective)."""
        u = self.body.displacement(system)
        turned = np.append(u[:2] + (rotation(u[2]) - np.eye(2)) @ self.arm, 0.0)
        return np.asarray(turned[None])

    def __str__(self) -> str:
        return f"({self.local[0]:g}, {self.local[1]:g}) of {self.body.name!r}"


class PlanarPlaces(End):
    """Several places, each on some planar body or on the ground.

    Places on the ground borrow the vertex of their `partners` and depend on no coordinate.
    """

    def __init__(
        self, places: Sequence[PlanarPoint | Ground], partners: Sequence[PlanarPoint | Ground]
    ) -> None:
        self.places, self.partners = list(places), list(partners)
        self.X = np.concatenate([place_of(p)[0] for p in self.places])
        self.moving = np.array([isinstance(p, PlanarPoint) for p in self.places])

    def resolve(self, system: System) -> None:
        """Find the vertices."""
        ids = []
        for place, partner in zip(self.places, self.partners, strict=True):
            moving = place if isinstance(place, PlanarPoint) else partner
            assert isinstance(moving, PlanarPoint)
            moving.resolve(system)
            ids.append(moving.vertices[0])
        self.vertices = np.array(ids, dtype=np.int64)

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the jet ``planar``; see `End.rows`."""
        return planar_rows(system, vertices[:, 0], self.moving[chosen])


def place_of(place: PlanarPoint | Ground) -> tuple[Array, Array, str]:
    """Return the reference position (1, 3), the arm (2,) and a description of a place."""
    if isinstance(place, PlanarPoint):
        return place.X, place.arm, str(place)
    assert place.point is not None
    x = place.point
    return x, x[0, :2], f"({x[0, 0]:g}, {x[0, 1]:g}) of the ground"


def planar_rows(
    system: System, vertices: npt.NDArray[np.int32], moving: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Any], ...]:
    """Return (ux, uy, phi) of the bodies at local `vertices` (k,); nothing where not `moving`."""
    numbering = system.numbering
    place = np.flatnonzero(moving)
    position = numbering.offset[vertices[place], numbering.block(POSITION)]
    angle = numbering.offset[vertices[place], numbering.block(ANGLE)]
    k = len(place)
    return (
        np.repeat(place, 3),
        np.tile(np.arange(3), k),
        np.stack([position, position + 1, angle], axis=1).ravel(),
        np.zeros(3 * k, dtype=np.int32),
        np.ones(3 * k),
    )

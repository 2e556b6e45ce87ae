# SPDX-License-Identifier: BSD-3-Clause
"""Where loads and joints act: points of bodies, nodes of regions, points of the ground."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ConstraintError, ParameterError
from .locate import locate, to_domain
from .parameter import label

if TYPE_CHECKING:
    from .body import Body
    from .mesh import Region
    from .system import System

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class End(ABC):
    """A list of K places. Resolved before the system is distributed, on every rank alike.

    Attributes after `resolve`
    --------------------------
    X : (K, 3) reference positions.
    vertices : (K, nv) global vertex ids on which the place depends.
    """

    X: Array
    vertices: Ints

    @abstractmethod
    def resolve(self, system: System) -> None:
        """Find X and the vertices (collective)."""

    @abstractmethod
    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the jet ``jet`` of the chosen places as combinations of local coordinates.

        `chosen` (k,) numbers of places, `vertices` (k, nv) their local vertices. Returns
        ``place`` (number within `chosen`), ``component``, ``coordinate``, ``corner`` and
        ``value``, one row per non-zero.
        """

    def constant(self, jet: str) -> Array | None:
        """Return the reference values (K, 3) of a jet that do not follow from coordinates."""
        return self.X if jet == "value" else None

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.X)

    def __str__(self) -> str:
        return type(self).__name__


def _points(where: str, given: npt.ArrayLike) -> Array:
    """Return points as a finite (k, 3) array."""
    try:
        points: Array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape[-1:] != (3,) or points.ndim > 2 or not np.isfinite(points).all():
        raise ParameterError(
            f"{where}.at() takes a point (x, y, z) or several, shape (k, 3); given {label(given)}"
        )
    return points.reshape(-1, 3)


def _vector_rows(
    coordinate: npt.NDArray[Any], value: Array, corner: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], ...]:
    """Repeat rows (k, m) of a coefficient for the three components of a vector."""
    k, m = coordinate.shape
    place = np.repeat(np.arange(k), 3 * m)
    component = np.tile(np.arange(3), k * m)
    at = (coordinate[:, :, None] + np.arange(3)).reshape(-1)
    keep = np.repeat(value.reshape(-1) != 0.0, 3)
    columns = (place, component, at, np.repeat(corner.reshape(-1), 3), np.repeat(value, 3))
    return tuple(c[keep] for c in columns)


class Ground(End):
    """Points that do not move: the places of the other end, or one given point."""

    def __init__(self, at: npt.ArrayLike | None = None) -> None:
        self.point = None
        if at is not None:
            plane = np.shape(at) == (2,)  # a point of the plane z = 0
            self.point = _points("the ground", [*np.asarray(at), 0.0] if plane else at)

    def at(self, point: npt.ArrayLike) -> Ground:
        """Return the ground at one given point."""
        return Ground(point)

    def resolve(self, system: System) -> None:
        """Find X and the vertices (collective)."""
        if self.point is not None:
            self.X = self.point
            self.vertices = np.zeros((len(self.X), 0), dtype=np.int64)
        else:
            self.__dict__.pop("X", None)  # that of another term

    def follow(self, other: End) -> None:
        """Take the places of another end."""
        if self.point is None or (len(self.X) == 1 and other.size > 1):
            self.X = other.X if self.point is None else np.repeat(self.X, other.size, axis=0)
            self.vertices = np.zeros((other.size, 0), dtype=np.int64)

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        empty = np.zeros(0, dtype=np.int32)
        return empty, empty, empty, empty, np.zeros(0)

    def constant(self, jet: str) -> Array | None:
        """Return the constant value (K, 3) of a jet: the place, or an axis of space."""
        axis = {"axis0": 0, "axis1": 1, "axis2": 2}.get(jet)
        return self.X if axis is None else np.tile(np.eye(3)[axis], (self.size, 1))

    def __str__(self) -> str:
        return "the ground"


class Nodes(End):
    """The nodes of a region of a body, one place each: ``plate["rim"]``."""

    def __init__(self, body: Body, region: Region) -> None:
        self.body, self.region = body, region

    def resolve(self, system: System) -> None:
        """Find X and the vertices (collective)."""
        system.require_member(self.body, str(self))
        mine = self.region.points()
        ids = np.concatenate(system.comm.allgather(mine)) if system.comm.size > 1 else mine
        self.points = np.sort(ids)
        self.X = self.region.mesh.fetch_points(self.points)
        self.vertices = self.points[:, None] + system.base(self.region.mesh)

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        if jet == "director":
            normal = self.body.normals_at(vertices[:, 0])
            offset = self.body.coordinate_offset(system, vertices, "slope0") + 3 * np.arange(3)
            return _vector_rows(offset, normal, np.zeros(offset.shape, dtype=np.int32))
        offset = self.body.coordinate_offset(system, vertices, jet.replace("along", "slope"))
        return _vector_rows(offset, np.ones(offset.shape), np.zeros(offset.shape, dtype=np.int32))

    def __str__(self) -> str:
        return f"nodes of {self.region.name!r} of {self.body.name!r}"


class PointsOnBody(End):
    """Given points, each in the cell of a body that holds it: ``plate.at((x, y, z))``.

    A point that coincides with a node is that node.
    """

    def __init__(self, body: Body, points: npt.ArrayLike | End) -> None:
        self.body = body
        self.given = points if isinstance(points, End) else None
        if not isinstance(points, End):
            self.target = _points(f"body {body.name!r}", points)

    def resolve(self, system: System) -> None:
        """Find X and the vertices (collective)."""
        if self.given is not None:
            self.target = self.given.X
        system.require_member(self.body, str(self))
        found = locate(self.body.region, self.target)
        far = found.distance > 1e-6 * self.body.extent + 1e-3 * found.size
        if far.any():
            k = int(np.argmax(found.distance))
            x = self.target[k]
            raise ConstraintError(
                f"point ({x[0]:g}, {x[1]:g}, {x[2]:g}) is not on body {self.body.name!r}: its "
                f"nearest point is {found.distance[k]:.3g} away"
            )
        self.X = self.target
        self.unit = found.unit
        self.vertices = found.vertices + system.base(self.body.region.mesh)

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return a jet as combinations of local coordinates; see `End.rows`.

        Jets are ``value``, ``director``, the derivatives ``xi``, ``eta``, ``zeta``, and
        ``along0``, ... by the slope directions of the nodes that these points were made from.
        """
        if jet.startswith("along"):
            directions = self._directions(system, chosen)[:, int(jet.removeprefix("along"))]
            return self._derivative(system, chosen, vertices, directions)
        jet = "zeta" if jet == "director" else jet
        return _vector_rows(*self._coefficients(system, chosen, vertices, jet))

    def _coefficients(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], Array, npt.NDArray[Any]]:
        """Return offsets, values and corners (k, m) of a jet for one component."""
        body, element = self.body, self.body.element
        xi = to_domain(element.cell, self.unit[chosen])
        table = body.tabulate(jet, xi)  # (k, n)
        k, nv = vertices.shape
        ns = len(element.slopes)
        table = table.reshape(k, nv, 1 + ns)
        position = system.numbering.offset[vertices, body.position_block]
        coordinates = [position[..., None]]
        values = [table[..., :1]]
        if ns:
            maps = body.maps_of(system, vertices)
            values.append(np.einsum("nvk,nvkc->nvc", table[..., 1:], maps))
            slope = system.numbering.offset[vertices, body.slope_block]
            coordinates.append(slope[..., None] + 3 * np.arange(ns))
        coordinate = np.concatenate(coordinates, axis=2).reshape(k, nv * (1 + ns))
        value = np.concatenate(values, axis=2).reshape(k, nv * (1 + ns))
        corner = np.broadcast_to(np.repeat(np.arange(nv), 1 + ns), coordinate.shape)
        return coordinate, value, corner

    def _directions(self, system: System, chosen: Ints) -> Array:
        """Return the reference slopes (k, s, 3) of the nodes that these points were made from."""
        assert isinstance(self.given, Nodes)
        order = np.argsort(system.topology.vertex_ids)
        wanted = self.given.vertices[chosen, 0]
        at = order[np.searchsorted(system.topology.vertex_ids, wanted, sorter=order)]
        return np.asarray(self.given.body.basis[at])

    def _derivative(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], direction: Array
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the derivative by the reference along directions (k, 3)."""
        jets = [j for j in ("xi", "eta", "zeta") if j in self.body.element.space.point_jets]
        parts = [self._coefficients(system, chosen, vertices, jet) for jet in jets]
        coordinate, _, corner = parts[0]
        values = np.stack([value for _, value, _ in parts], axis=2)  # (k, m, s)
        reference = system.reference[coordinate[..., None] + np.arange(3)]
        R = np.einsum("kms,kma->kas", values, reference)
        weights = np.einsum("ksa,ka->ks", np.linalg.pinv(R), direction)
        left = np.linalg.norm(np.einsum("kas,ks->ka", R, weights) - direction, axis=1)
        if len(left) and left.max() > 1e-6:
            x = self.X[chosen[int(np.argmax(left))]]
            raise ConstraintError(
                f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}) a slope of {self.given} leaves the tangent "
                f"plane of body {self.body.name!r}: only positions can be tied there (weld=False), "
                "or give both bodies their exact normals, direction=..."
            )
        return _vector_rows(coordinate, np.einsum("kms,ks->km", values, weights), corner)

    def __str__(self) -> str:
        if self.given is not None:
            return f"{self.given} on {self.body.name!r}"
        x = self.target[0] if len(self.target) == 1 else None
        at = f"({x[0]:g}, {x[1]:g}, {x[2]:g})" if x is not None else f"{len(self.target)} points"
        return f"{at} of {self.body.name!r}"

# SPDX-License-Identifier: BSD-3-Clause
"""Places on bodies of cells: nodes of a region, faces of plates, points of the material."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints, Ints32
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError, ParameterError
from ..runtime.collective import shares, together
from ..values.parameter import label
from .edges import with_edges
from .ends import End, frame_of, points_of, require_place, vector_rows
from .mean import Mean
from .projection import locate_on

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..mesh import Region
    from .interpolation import Interpolated
    from .locate import PointLocations


def require_region(who: str, given: Any) -> None:
    """Raise where something is no region of a body; see `require_place`."""
    require_place(who, given)
    if not isinstance(given, Nodes):
        raise ConstraintError(
            f"{who} on {given}: give a region of a body, body['region']",
            asked="region",
            given=str(given),
        )


class _OnBody(End):
    """Places on a deformable body: their axes are images F e of directions e of the reference."""

    body: Interpolated
    sectional = False  # those are axes of the section of a rod, where no frame says otherwise

    def of_section(self) -> Self:
        """Return the same places, on rods with the axes of the section; see `End.of_section`."""
        if self.frame is not None or self.body.element.dimension > 1:
            return self
        places = copy(self)
        places.sectional = True
        return places

    def _weights(self, places: Resolved, slopes: Array | None, k: int) -> Array:
        """Return axis k as combinations (k, s) of reference slopes (k, s, 3).

        Raises
        ------
        ConstraintError : there are no slopes, or the axis is not in their span.
        """
        name, element = f"e{k + 1}", self.body.element.name
        if slopes is None:
            raise ConstraintError(
                f"{self}: the nodes of {element} have no slopes and hence no axis {name}; take a "
                "point, body.at(X)",
                asked=name,
                given=element,
            )
        if self.frame is None:
            axes = _orthonormal(slopes, self.sectional)
            if k >= axes.shape[1]:
                axes_there = ", ".join(f"e{a + 1}" for a in range(axes.shape[1]))
                raise ConstraintError(
                    f"{self}: {element} has no axis {name}; it has {axes_there}",
                    asked=name,
                    given=element,
                    possible=[f"e{a + 1}" for a in range(axes.shape[1])],
                )
            wanted = axes[:, k]
        else:
            wanted = np.broadcast_to(self.frame[:, k], (len(slopes), 3))
        weights = np.einsum("kas,ka->ks", np.linalg.pinv(slopes), wanted)
        mismatch = np.linalg.norm(np.einsum("ks,ksa->ka", weights, slopes) - wanted, axis=1)
        if mismatch.max(initial=0.0) > 1e-6:
            x, e = places.X[int(np.argmax(mismatch))], wanted[int(np.argmax(mismatch))]
            raise ConstraintError(
                f"{self}, at ({x[0]:g}, {x[1]:g}, {x[2]:g}): its axis {name} = ({e[0]:g}, {e[1]:g},"
                f" {e[2]:g}) is none of the {'tangents' if slopes.shape[1] < 3 else 'directions'} "
                f"that the slopes of {element} follow",
                asked=name,
                given=e,
            )
        return np.asarray(weights)


class Nodes(_OnBody):
    """The nodes of a region of a body, one place each: ``plate["rim"]``."""

    def __init__(self, body: Interpolated, region: Region) -> None:
        self.body, self.region = body, region

    def face(self, side: int, middle: bool = False) -> Face:
        """Return the face z = side thickness/2 of plates, side = +1 or -1; see `pressure`.

        `middle`: what acts on that side acts on the mid-surface.

        Raises
        ------
        ParameterError : of layers with an offset, whose faces are elsewhere.
        """
        layers = getattr(self.body, "layers", None)
        if layers is not None and layers.offset and not middle:
            raise ParameterError(
                f"{self} has no face({side:+d}) at half its thickness: its layers have the offset "
                f"{layers.offset:g}; let loads act on the reference surface, "
                "face(..., middle=True)",
                asked="middle",
                given=False,
                possible=(True,),
            )
        return Face(self, side, middle)

    def mean(self) -> Mean:
        """Return the face of a solid, a region of facets, as one place; see `Mean`."""
        return Mean(self.body, self.region)

    def _find(self, layout: Layout) -> Resolved:
        """Find the nodes (collective)."""
        layout.require_member(self.body, str(self))
        mesh, ids = self.region.mesh, self.region.points()
        starts = shares(mesh.comm, len(ids))
        places = Resolved(mesh.fetch_points(ids), ids[:, None] + layout.base(mesh), starts=starts)
        return places.everywhere(mesh.comm) if places.total == 1 else places

    def _ids(self) -> Ints:
        """Return the ids of the nodes in the mesh (collective)."""
        return np.sort(np.concatenate(self.region.mesh.comm.allgather(self.region.points())))

    @property
    def X(self) -> Array:
        """Reference positions (K, 3) of the nodes, on every rank (collective)."""
        return self.region.mesh.fetch_points(self._ids())

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        on, node = configuration.binding(self.body).interpolation, vertices[:, 0]
        if jet != "director" and not jet.startswith("axis"):
            jet = jet.replace("along", "slope")
            offset = on.offset(vertices, jet)
            return vector_rows(offset, np.ones(offset.shape))
        if jet == "director":
            weights = np.einsum("nka,na->nk", on.basis[node], on.normals_at(node))
        else:
            slopes = on.basis[node] if self.body.element.slopes else None
            weights = self._weights(places, slopes, int(jet.removeprefix("axis")))
        offset = on.offset(vertices, "slope0")
        return vector_rows(offset + 3 * np.arange(weights.shape[1]), weights)

    def directions(self, configuration: Configuration, places: Resolved) -> Array:
        """Return the reference directions (k, s, 3) of the nodes' slopes."""
        if not self.body.element.slopes:
            return super().directions(configuration, places)
        basis = configuration.binding(self.body).interpolation.basis
        return np.asarray(basis[_local(configuration, places.vertices[:, 0])])

    def __str__(self) -> str:
        return f"nodes of {self.region.name!r} of {self.body.name!r}"


@dataclass(frozen=True)
class Face:
    """A side of the plates of a region: ``plate["skin"].face(+1)``; see `Nodes.face`."""

    nodes: Nodes
    side: int
    middle: bool = False

    def __repr__(self) -> str:
        return f"face({self.side!r}) of {self.nodes}"


class PointsOnBody(_OnBody):
    """Given points, each in the cell of a body that holds it: ``plate.at((x, y, z))``.

    A point that coincides with a node is that node.
    """

    def __init__(
        self, body: Interpolated, points: npt.ArrayLike | End, frame: npt.ArrayLike | None = None
    ) -> None:
        self.body = body
        self.frame = frame_of(f"a point of body {body.name!r}", frame)
        self.source = points if isinstance(points, End) else None
        if not isinstance(points, End):
            self.X = points_of(f"body {body.name!r}", points)

    def _find(self, layout: Layout) -> Resolved:
        """Find the points and their cells (collective)."""
        layout.require_member(self.body, str(self))
        source = None if self.source is None else self.source.resolve(layout)
        X, starts = (self.alike(self.X), None) if source is None else (source.X, source.starts)
        places = self._locate(X, starts is not None)
        vertices = places.vertices + layout.base(self.body.region.mesh)
        vertices = with_edges(layout, self.body, vertices)
        return Resolved(X, vertices, places.unit, source=source, starts=starts)

    def alike(self, X: Array, when: str = "") -> Array:
        """Return points as rank 0 has them (collective).

        Raises
        ------
        ParameterError : another rank has others.
        """
        comm = self.body.region.mesh.comm
        first: Array = comm.bcast(X)
        with together(comm):
            if X.shape != first.shape or (np.abs(X - first) > 1e-9 * self.body.extent).any():
                raise ParameterError(
                    f"{self} is at {label(X.tolist())} on one rank and at {label(first.tolist())} "
                    f"on another{when}: it must be the same on every rank",
                    asked="point",
                    given=X.tolist(),
                    possible=(first.tolist(),),
                )
        return first

    def _locate(self, X: Array, shared: bool) -> PointLocations:
        """Find the cells; points may lie on the curved reference or on the facets of the mesh."""
        places, facet = locate_on(self.body, X, shared)
        off = np.minimum(places.distance, facet)
        far = off > 1e-6 * self.body.extent + 1e-3 * places.size
        with together(self.body.region.mesh.comm):
            if far.any():
                k = int(np.argmax(np.where(far, off, 0.0)))
                x = X[k]
                raise ConstraintError(
                    f"point ({x[0]:g}, {x[1]:g}, {x[2]:g}) is not on body {self.body.name!r}: its "
                    f"nearest point is {off[k]:.3g} away",
                    asked="point",
                    given=x,
                )
        return places

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`.

        Jets are ``value``, ``director``, the derivatives ``xi``, ``eta``, ``zeta``, and
        ``along0``, ... by the slope directions of the nodes that these points were made from,
        or else by orthogonal tangents; ``axis0``, ... by the axes.
        """
        if jet.startswith("along"):
            directions = self.directions(configuration, places)[:, int(jet.removeprefix("along"))]
            return self._derivative(configuration, places, vertices, directions)
        if jet.startswith("axis"):
            coordinate, values, corner, slopes = self._gradient(configuration, places, vertices)
            weights = self._weights(places, slopes, int(jet.removeprefix("axis")))
            return vector_rows(coordinate, np.einsum("kms,ks->km", values, weights), corner)
        jet = "zeta" if jet == "director" else jet
        return vector_rows(*self._coefficients(configuration, places, vertices, jet))

    def _coefficients(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> tuple[Ints32, Array, Ints]:
        """Return offsets, values and corners (k, m) of a jet for one component."""
        on = configuration.binding(self.body).interpolation
        xi = on.element.topology.to_domain(places.within)
        return on.combined(vertices, *on.jet(jet, xi, vertices))

    def directions(self, configuration: Configuration, places: Resolved) -> Array:
        """Return the reference directions (k, s, 3) that `along` derivatives are taken by.

        Those of the slopes of the nodes that these points were made from; else orthogonal
        tangents, as many as the nodes of the element have slopes.
        """
        if self.source is not None and places.source is not None:
            return self.source.directions(configuration, places.source)
        if not self.body.element.slopes:
            return super().directions(configuration, places)
        vertices = _local(configuration, places.vertices)
        return _orthonormal(self._gradient(configuration, places, vertices)[3])

    def _gradient(
        self, configuration: Configuration, places: Resolved, vertices: Ints32
    ) -> tuple[Ints32, Array, Ints, Array]:
        """Return offsets, values (k, m, s), corners and reference (k, s, 3) of all derivatives."""
        jets = self.body.element.gradient
        parts = [self._coefficients(configuration, places, vertices, jet) for jet in jets]
        coordinate, _, corner = parts[0]
        values = np.stack([value for _, value, _ in parts], axis=2)
        reference = configuration.reference[coordinate[..., None] + np.arange(3)]
        return coordinate, values, corner, np.einsum("kms,kma->ksa", values, reference)

    def _derivative(
        self,
        configuration: Configuration,
        places: Resolved,
        vertices: Ints32,
        direction: Array,
    ) -> JetRows:
        """Return the derivative by the reference along directions (k, 3)."""
        coordinate, values, corner, slopes = self._gradient(configuration, places, vertices)
        R = np.swapaxes(slopes, 1, 2)
        weights = _weights_along(R, direction)
        mismatch = np.linalg.norm(np.einsum("kas,ks->ka", R, weights) - direction, axis=1)
        if len(mismatch) and mismatch.max() > 1e-6:
            x = places.X[int(np.argmax(mismatch))]
            raise ConstraintError(
                f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}) a slope of {self.source} leaves the tangent "
                f"plane of body {self.body.name!r}: only positions can be tied there (weld=False), "
                "or give both bodies their exact normals, direction=...",
                asked="slope",
                given=x,
            )
        return vector_rows(coordinate, np.einsum("kms,ks->km", values, weights), corner)

    def __str__(self) -> str:
        if self.source is not None:
            return f"{self.source} on {self.body.name!r}"
        x = self.X[0] if len(self.X) == 1 else None
        at = f"({x[0]:g}, {x[1]:g}, {x[2]:g})" if x is not None else f"{len(self.X)} points"
        return f"{at} of {self.body.name!r}"


def _weights_along(R: Array, direction: Array) -> Array:
    """Return the weights (k, s) of slopes R (k, 3, s) that make directions (k, 3), the smallest."""
    if R.shape[1] == R.shape[2]:
        try:
            return np.asarray(np.linalg.solve(R, direction[:, :, None])[:, :, 0])
        except np.linalg.LinAlgError:
            pass  # cells without volume
    return np.asarray(np.einsum("ksa,ka->ks", np.linalg.pinv(R), direction))


def _local(configuration: Configuration, ids: Ints) -> Ints32:
    """Return the local numbers of vertices that this rank has."""
    return configuration.topology.find(ids.ravel()).reshape(ids.shape)


def _orthonormal(slopes: Array, sectional: bool = False) -> Array:
    """Return axes (k, s, 3) in the span of reference slopes (k, s, 3), the first along the first.

    Three slopes: the axes of the ground, unless those of the section of a rod are asked for.
    """
    k, s, _ = slopes.shape
    if s >= 3 and not sectional:
        return np.broadcast_to(np.eye(3), (k, 3, 3))
    axes = np.zeros((k, s, 3))
    for a in range(s):
        rest = slopes[:, a].copy()
        for b in range(a):
            rest -= np.einsum("ka,ka->k", rest, axes[:, b])[:, None] * axes[:, b]
        axes[:, a] = rest / np.linalg.norm(rest, axis=1)[:, None]
    return axes

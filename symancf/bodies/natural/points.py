# SPDX-License-Identifier: BSD-3-Clause
"""Points of a rigid body, with axes: where joints and loads act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...places.ends import End, _points, _vector_rows, frame_of

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from .body import RigidBody

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class RigidPoint(End):
    """Points of a rigid body, ``head.at(point)``, or the points where the places of an end are.

    All jets are constant linear combinations of the body's 12 coordinates: with a direction or
    point c in the frame of the body,

        value = (1 - c1/d) r_i + (c1/d) r_j + c2 u + c3 v,
        direction = (c1/d) (r_j - r_i) + c2 u + c3 v.

    Parameters
    ----------
    points : (3,) or (k, 3) in the frame of the body, or an end.
    frame : (3, 3) whose columns are the axes of the joint in the frame of the body; default: the
        body's own.
    """

    def __init__(
        self, body: RigidBody, points: npt.ArrayLike | End, frame: npt.ArrayLike | None = None
    ) -> None:
        self.body = body
        self.given = points if isinstance(points, End) else None
        if not isinstance(points, End):
            self._take(_points(f"rigid body {body.name!r}", points))
        axes = frame_of(f"a point of rigid body {body.name!r}", frame)
        if axes is not None:
            self.frame = body.frame @ axes

    def _take(self, local: Array) -> None:
        self.local = local
        self.X = self.body.origin + local @ self.body.frame.T
        self.body.reach = max(self.body.reach, float(np.linalg.norm(local, axis=1).max()))

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration, columns."""
        return self.body.frame if self.frame is None else self.frame

    def constant(self, jet: str) -> Array | None:
        """Return the reference values (K, 3) of a jet that do not follow from coordinates."""
        if jet.startswith("axis"):
            return np.tile(self.reference_frame[:, int(jet.removeprefix("axis"))], (self.size, 1))
        return super().constant(jet)

    def resolve(self, system: Layout) -> None:
        """Find X and the vertices (collective)."""
        system.require_member(self.body, f"a term's end {self}")
        if self.given is not None:
            self._take((self.given.X - self.body.origin) @ self.body.frame)
        self.vertices = np.full((len(self.local), 1), self.body.vertex, dtype=np.int64)

    def rows(
        self, system: Configuration, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        if jet == "value":
            local = self.local if len(self.local) == self.size else self.local[[0] * self.size]
            c = local[chosen]
        elif jet.startswith("along"):
            assert self.given is not None
            along = self.given.directions(system, chosen)[:, int(jet.removeprefix("along"))]
            c = along @ self.body.frame
        else:
            axis = self.body.frame.T @ self.reference_frame[:, int(jet.removeprefix("axis"))]
            c = np.tile(axis, (len(chosen), 1))
        part = c[:, 0] / self.body.length
        rest = 1.0 - part if jet == "value" else -part
        offsets = self.body.offsets(system, vertices[:, 0])
        values = np.stack([rest, part, c[:, 1], c[:, 2]], axis=1)
        values[np.abs(values) < 1e-15] = 0.0
        return _vector_rows(offsets, values, np.zeros(offsets.shape, dtype=np.int32))

    def __str__(self) -> str:
        if self.given is not None:
            return f"{self.given} on {self.body.name!r}"
        x = self.local[0]
        at = (
            f"({x[0]:g}, {x[1]:g}, {x[2]:g})"
            if len(self.local) == 1
            else f"{len(self.local)} points"
        )
        return f"{at} of {self.body.name!r}"

# SPDX-License-Identifier: BSD-3-Clause
"""What a clamp holds of the slopes of nodes: what gluing the place would hold, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from ...places.geometry import perpendicular, unit
from ...places.glue import CORNER, EDGE, FACE, POINT
from ...values.arrays import Array, Ints, Mask
from .directions import Directions, HeldDirections, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...places.glue import Glue
    from ...places.interpolated import Interpolated


ALIGNED = 1e-9  # component of a unit vector that is none


class Clamped(Protocol):
    """Nodes that are held, as far as a clamp asks; see `HeldNodes`."""

    name: str
    glue: Glue
    node: Ints
    kind: npt.NDArray[np.int8]
    normal: Array
    along: Array
    kink: Mask

    @property
    def body(self) -> Interpolated:
        """The body that they are nodes of."""


class Clamp:
    r"""The slopes that vanish with u on what is glued.

    Along what is glued, and of plates with directors through the thickness, the whole slope is
    held. Of other slopes nothing but a component keeps the face where it is: of the slope across
    the edge of a thin plate that along the normal, of the slope of a cable those across the
    tangent. Components along axes of space are eliminated; others are held by multipliers. Where
    the support has the deformation gradient F, normals are along :math:`F^{-T} n`, tangents along
    :math:`F t`.

    Parameters
    ----------
    held : the nodes.
    gradient : F - 1 that does not change; None: none.
    inverse : :math:`F^{-1}` as a function of time, where F changes: all components are held by
        multipliers then.
    """

    def __init__(
        self,
        held: Clamped,
        gradient: Array | None,
        inverse: Callable[[float], Array] | None,
    ) -> None:
        self.held, self.inverse = held, inverse
        self.F = np.eye(3) if gradient is None else np.eye(3) + gradient
        self.tangents = held.body.element.slope_kind == "tangents"
        self.cable = held.body.element.cell == "line"
        self.conditions: HeldDirections | None = None
        glue = held.glue
        count = np.where(glue.kind == POINT, 2, 0)
        if not self.cable:
            count[glue.kind == EDGE] = 1
        if self.tangents and count.any():
            node = np.repeat(np.arange(len(count)), count)
            self._first = np.cumsum(count) - count
            self.place = Directions(held.body, node, glue.nodes, glue.X, inverse is not None)
            name = f"{held.name} (directions)"
            self.conditions = HeldDirections(name, self.place, inverse, gradient is not None)

    # ---- conditions on single components --------------------------------------------------------
    def orient(self) -> None:
        """Find the directions of conditions, and which of them no coordinate is along."""
        if self.conditions is None:
            return
        held, place = self.held, self.place
        if self.inverse is None:
            if self.cable:
                directions = perpendicular(unit(held.normal @ self.F.T))
            else:
                directions = unit(held.normal @ np.linalg.inv(self.F))[:, None]
            self.axes, rest = split(directions)
        else:
            self.axes = np.zeros((len(held.node), 3), dtype=bool)
            rest = perpendicular(held.normal) if self.cable else held.normal[:, None]
        place.present[:] = False
        for slot in range(2):
            some = held.kind == POINT
            if slot == 0 and not self.cable:
                some = some | (held.kind == EDGE)
            at = self._first[held.node[some]] + slot
            place.direction[at] = rest[some, slot if self.cable else 0]
            place.present[at] = place.direction[at].any(axis=1)

    def _weigh(self, full: Mask) -> None:
        """Tell each condition of which slope (n, s) it is: one that is not held in full."""
        held, weights = self.held, self.place.weights
        start = self._first[held.node]
        point = held.kind == POINT
        if self.cable:
            for slot in range(2):
                weights[start[point] + slot, 0] = 1.0
            return
        edge = held.kind == EDGE
        weights[start[edge], np.argmin(full[edge], axis=1)] = 1.0
        for k in range(2):
            weights[start[point] + k, k] = 1.0

    # ---- what is eliminated ---------------------------------------------------------------------
    def frames(self, frames: Array) -> Mask:
        """Write the directions that slopes need (n, s, 3) over present ones; tell where.

        Along the edge, across it and along the normal, or along the one slope that is free.
        """
        held = self.held
        if self.cable:
            return np.zeros(len(frames), dtype=bool)
        n, first = held.normal, np.where((held.kind == EDGE)[:, None], held.along, 0.0)
        smooth = ~held.kink
        if not self.tangents:
            lone = smooth & (held.kind == POINT)
            first[lone] = perpendicular(n[lone])[:, 0]
        wished = smooth & first.any(axis=1)
        frames[wished, 0], frames[wished, 1] = first[wished], np.cross(n, first)[wished]
        if not self.tangents:
            frames[wished, 2] = n[wished]
            across = held.glue.across[held.node]
            fold = held.kink & (held.kind == CORNER) & across.any(axis=1)
            frames[fold, 0], frames[fold, 1:] = across[fold], perpendicular(across[fold])
            wished = wished | fold
        return np.asarray(wished)

    def mask(self, basis: Array) -> Mask:
        """Return which components of slopes along `basis` are held by elimination (n, s, 3)."""
        held = self.held
        kind, kink = held.kind, held.kink
        point, edge, corner = kind == POINT, kind == EDGE, kind == CORNER
        full = np.zeros(basis.shape[:2], dtype=bool)
        full[kind == FACE] = True
        along = np.abs(np.einsum("nka,na->nk", basis, held.along)) > ALIGNED
        if not self.tangents:
            normal = np.abs(np.einsum("nka,na->nk", basis, held.normal)) > ALIGNED
            full[edge] = (along | normal)[edge]
            full[point] = normal[point]
            full[(edge | point) & kink] = True
            across = np.abs(np.einsum("nka,na->nk", basis, held.glue.across[held.node]))
            full[corner] = ~((across > 1.0 - ALIGNED) & kink[:, None])[corner]
            return np.repeat(full[:, :, None], 3, axis=2)
        full[corner] = True
        full[edge] = along[edge]
        mask = np.repeat(full[:, :, None], 3, axis=2)
        if self.conditions is not None:
            partly = ~full & (point | edge)[:, None]
            mask |= partly[:, :, None] & self.axes[:, None, :]
            self._weigh(full)
        return mask

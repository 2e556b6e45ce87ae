# SPDX-License-Identifier: BSD-3-Clause
"""Slopes of a clamp: by elimination where axes of space allow it, else by multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Mask
from ...places.geometry import perpendicular
from ...places.vectors import unit
from .directions import DirectionPlaces, prescribed_directions, split
from .names import ALIGNED

if TYPE_CHECKING:
    from ...assembly.configuration import Layout
    from ...places.glue import Glue, GluedSlopes, NodesHere
    from ...places.middles import Middles, MiddlesHere
    from ...places.on_body import Nodes, PointsOnBody
    from ...terms.constraint import ConstraintBinding
    from ...values.motion import Motion


class SlopeClamp:
    r"""The slopes that vanish with u on what is glued, see `glued_slopes`, in one system.

    Components along axes of space are eliminated; others are held by multipliers. Where the
    support has the deformation gradient F, normals are along :math:`F^{-T} n`, tangents along
    :math:`F t`.

    Parameters
    ----------
    name : of the conditions on single components.
    place, at : the nodes, or the edges of the place.
    motion : of the support. Where its gradient changes in time, all components are held by
        multipliers.

    Attributes
    ----------
    condition : on components that may be along no axes; None: there is none.
    slopes, axes : at the nodes or edges here, after `orient`: what gluing holds, and (n, 3) which
        components of all slopes are eliminated.
    """

    slopes: GluedSlopes
    axes: Mask
    condition: ConstraintBinding | None = None

    def __init__(
        self,
        name: str,
        place: Nodes | PointsOnBody,
        at: Glue | Middles,
        motion: Motion,
        layout: Layout,
    ) -> None:
        self.element, self.motion = place.body.element, motion
        _, count = at.slots(self.element)
        self.place = DirectionPlaces(place, at, count, motion.turns)
        if len(self.place.slopes):
            self.condition = layout.bind(prescribed_directions(name, self.place, motion))

    def orient(self, here: NodesHere | MiddlesHere) -> None:
        """Find what is held here, and which components no coordinate is along (collective)."""
        n, slopes = here.normal, here.slopes()
        self.slopes, self.axes = slopes, np.zeros((len(n), 3), dtype=bool)
        if self.condition is None:
            return
        rest = slopes.normals
        if not self.motion.turns:
            F = np.eye(3) + self.motion.G(np.zeros((1, 3)), 0.0)[0]
            if self.element.dimension == 1 and not self.element.oriented:
                directions = perpendicular(unit(n @ F.T))
            else:
                directions = unit(n @ np.linalg.inv(F))[:, None]
            self.axes, rest = split(directions)
            self.axes &= slopes.partly.any(axis=(1, 2))[:, None]
            rest = np.broadcast_to(rest, slopes.normals.shape)
        self.place.take(here.number, slopes.partly, rest)

    def frames(self, frames: Array) -> Mask:
        """Write the directions that slopes need (n, s, 3) over present ones; tell where."""
        full, s = self.slopes.full, frames.shape[1]
        rank = full.any(axis=2).sum(axis=1)
        one, two = ((rank == r) & (r < s) for r in (1, 2))
        frames[one, 0], frames[one, 1:2] = full[one, 0], self.slopes.partly[one, :1]
        if s >= 3:
            frames[one, :2], frames[one, 2] = perpendicular(full[one, 0]), full[one, 0]
            frames[two, 0], frames[two, 2] = full[two, 1], full[two, 0]
            frames[two, 1] = np.cross(full[two, 0], full[two, 1])
        return np.asarray(one | two)

    def mask(self, basis: Array) -> Mask:
        """Return which components of slopes along `basis` are held by elimination (n, s, 3)."""
        part = np.abs(np.einsum("nka,nma->nkm", basis, self.slopes.full))
        full = (part > ALIGNED).any(axis=2)[:, :, None]
        return np.asarray(full | self.axes[:, None, :])

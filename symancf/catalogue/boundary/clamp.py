# SPDX-License-Identifier: BSD-3-Clause
"""How a clamp of nodes is held: by elimination where slopes allow it, else by multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints, Mask
from ...places.geometry import perpendicular
from ...places.glue import GluedSlopes, slots
from ...places.vectors import unit
from .directions import Directions, held_directions, split

if TYPE_CHECKING:
    from ...places.glue import Glue, NodesHere
    from ...places.interpolation import Interpolated
    from ...terms.constraint import Constraint
    from ...values.motion import Motion

ALIGNED = 1e-9  # component of a unit vector that is none


class Clamp:
    r"""The slopes that vanish with u on what is glued, see `glued_slopes`, in one system.

    Components along axes of space are eliminated; others are held by multipliers. Where the
    support has the deformation gradient F, normals are along :math:`F^{-T} n`, tangents along
    :math:`F t`.

    Parameters
    ----------
    body, glue : the nodes.
    motion : of the support. Where its gradient changes in time, all components are held by
        multipliers.
    """

    first: Ints
    slopes: GluedSlopes
    partly: Mask
    axes: Mask

    def __init__(self, body: Interpolated, motion: Motion, glue: Glue) -> None:
        self.body, self.element, self.motion = body, body.element, motion
        _, count = slots(self.element, glue.kind)
        self.place = Directions(body, glue, count, motion.turns)

    def condition(self, name: str) -> Constraint | None:
        """Return the conditions on single components, if there may be some."""
        if not len(self.place.conditions):
            return None
        return held_directions(f"{name} (directions)", self.place, self.motion)

    def orient(self, here: NodesHere) -> None:
        """Find what is held at the nodes here, and which components no coordinate is along.

        Collective.
        """
        n, place, found = here.normal, self.place, here.slopes(self.element)
        self.slopes, self.axes = found, np.zeros((len(n), 3), dtype=bool)
        self.partly = found.partly.any(axis=2)
        self.first = place.take(here.number)
        if not len(place.conditions):
            return
        rest = found.normals
        if not self.motion.turns:
            F = np.eye(3) + self.motion.G(np.zeros((1, 3)), 0.0)[0]
            if self.element.dimension == 1 and not self.element.oriented:
                directions = perpendicular(unit(n @ F.T))
            else:
                directions = unit(n @ np.linalg.inv(F))[:, None]
            self.axes, rest = split(directions)
            self.axes &= self.partly.any(axis=1)[:, None]
            rest = np.broadcast_to(rest, (len(n), 2, 3))
        for k, some in enumerate(self.partly.T):
            at = self.first[some] + k
            place.direction[at], place.present[at] = rest[some, k], rest[some, k].any(axis=1)

    def frames(self, frames: Array) -> Mask:
        """Write the directions that slopes need (n, s, 3) over present ones; tell where."""
        whole, s = self.slopes.whole, frames.shape[1]
        rank = whole.any(axis=2).sum(axis=1)
        one, two = ((rank == r) & (r < s) for r in (1, 2))
        frames[one, 0], frames[one, 1:2] = whole[one, 0], self.slopes.partly[one, :1]
        if s >= 3:
            frames[one, :2], frames[one, 2] = perpendicular(whole[one, 0]), whole[one, 0]
            frames[two, 0], frames[two, 2] = whole[two, 1], whole[two, 0]
            frames[two, 1] = np.cross(whole[two, 0], whole[two, 1])
        return np.asarray(one | two)

    def mask(self, basis: Array) -> Mask:
        """Return which components of slopes along `basis` are held by elimination (n, s, 3)."""
        part = np.abs(np.einsum("nka,nma->nkm", basis, self.slopes.whole))
        full = (part > ALIGNED).any(axis=2)[:, :, None]
        for k, some in enumerate(self.partly.T):
            weights = np.einsum("nka,na->nk", basis[some], self.slopes.partly[some, k])
            at = self.first[some] + k
            self.place.weights[at] = np.where(np.abs(weights) < ALIGNED, 0.0, weights)
        return np.asarray(full | self.axes[:, None, :])

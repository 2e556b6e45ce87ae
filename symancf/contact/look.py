# SPDX-License-Identifier: BSD-3-Clause
"""Contact quantities at points in the present state."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array, Ints, Mask


class Look(NamedTuple):
    """What is seen of the points of this rank, each (n,).

    Attributes
    ----------
    gap, length : and the local size l [m].
    pressure : nominal, per area of the reference, of cables per length, of rigid bodies a force.
    status : 0 open, 1 stick (without friction: closed), 2 slip.
    friction : size of its force, per area as the pressure.
    slid : path of slip since it last began to touch [m]; 0 without friction.
    weight : area (length, 1) that each stands for.
    ids : numbers of the points, with q of them on a facet: q facet + point.
    owned : which of them this rank counts.
    x : (n, 3) coordinates in the frame of a rigid shape.
    margin : how far sticking and sliding are from one another, a part of the limit; 1 where
        nothing presses or rubs.
    """

    gap: Array
    length: Array
    pressure: Array
    status: Array
    friction: Array
    slid: Array
    weight: Array
    ids: Ints
    owned: Mask
    x: Array | None = None
    margin: Array | None = None

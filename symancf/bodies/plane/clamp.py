# SPDX-License-Identifier: BSD-3-Clause
"""Clamps: a section of a cable that moves with a planar body or with the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ...arrays import Array
from ...assembly.configuration import Configuration, in_system
from ...errors import ConstraintError
from ...places.ends import End, Ground
from ...places.on_body import PointsOnBody
from ...terms.constraint import Constraint
from ...values.arguments import name_or
from .body import PlanarBody

if TYPE_CHECKING:
    from ...assembly.protocol import BodyProtocol
    from ...terms.quantities import E, S, V


class PlanarClamp(Constraint):
    """Hold the end of a cable in the plane at a planar body, position and tangent.

    Three multipliers (force and moment that the cable exerts through the clamp): the position
    coincides with the point of the body, which is where the cable's end is in the reference
    configuration, and the tangent keeps its angle to the body,

        r - r_body = 0,    (R(phi) E x e).e_z = 0,   E, e the tangent, a unit vector at first.

    Parameters
    ----------
    place : ``cable.at(X)``, a point of a body of cables in the plane z = const.
    body : `PlanarBody`, or ``sa.ground``.
    """

    def __init__(self, place: End, body: BodyProtocol | Ground, name: str | None = None) -> None:
        name = name_or(name, f"clamp of {place}")
        if not isinstance(place, PointsOnBody) or place.body.element.dimension > 1:
            raise ConstraintError(
                f"{name}: clamp takes a point of a cable, cable.at(X)", asked="a", given=str(place)
            )
        if not isinstance(body, PlanarBody | Ground):
            raise ConstraintError(
                f"{name}: clamp fixes a cable to a planar body or at sa.ground, not {body!r}",
                asked="b",
                given=body,
                possible=("PlanarBody", "Ground"),
            )
        self.body = body
        if isinstance(body, PlanarBody):
            super().__init__(_clamp_planar, place, body._holding(place), name=name)
        else:
            super().__init__(_clamp_ground, place, name=name)

    @in_system
    def wrench(self, system: Configuration) -> Array:
        """Return force and moment about the body's origin (3,) that the body exerts on the cable.

        For the ground: about the origin of coordinates (collective).
        """
        origin = np.zeros(3)
        if isinstance(self.body, PlanarBody):
            origin[:2] = self.body.position(system)[:2]
        reaction = self.reaction(system)
        return np.append(reaction.force[:2], reaction.moment_about(origin)[2])

    @in_system
    def ground_wrench(self, system: Configuration) -> Array | None:
        """Return the wrench of the ground, if the clamp is at the ground."""
        return None if isinstance(self.body, PlanarBody) else self.wrench(system)


def _clamp_planar(u_a: V, u_b: V, e1_a: V, E1_a: V, phi_b: S) -> list[E]:
    c, s = sp.cos(phi_b), sp.sin(phi_b)
    x, y = c * E1_a[0] - s * E1_a[1], s * E1_a[0] + c * E1_a[1]
    return [u_a[0] - u_b[0], u_a[1] - u_b[1], x * e1_a[1] - y * e1_a[0]]


def _clamp_ground(u_a: V, e1_a: V, E1_a: V) -> list[E]:
    return [u_a[0], u_a[1], E1_a[0] * e1_a[1] - E1_a[1] * e1_a[0]]

# SPDX-License-Identifier: BSD-3-Clause
"""Clamps: a section of a cable that moves with a planar body or with the ground."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from .. import jit
from ..assembly.numbering import multipliers
from ..errors import ConstraintError
from ..places.ends import Ground, PointsOnBody
from ..terms import Entities
from .body import PlanarBody

if TYPE_CHECKING:
    from ..assembly.piece import Piece
    from ..system import System

Array = npt.NDArray[np.float64]


class Clamp:
    """Hold the end of a cable in the plane at a planar body, position and tangent.

    Three multipliers (force and moment that the cable exerts through the clamp): the position
    coincides with the point of the body, which is where the cable's end is in the reference
    configuration, and the tangent keeps its angle to the body,

        r - r_body = 0,    (r_xi x R(phi) T).e_z / |T| = 0,   T the reference tangent.

    Parameters
    ----------
    place : ``cable.at(X)``, a point of a body of cables in the plane z = const.
    body : `PlanarBody`, or ``sa.ground``.
    """

    def __init__(
        self, place: PointsOnBody, body: PlanarBody | Ground, name: str | None = None
    ) -> None:
        self.place, self.body = place, body
        self.name = name or f"clamp of {place}"
        cable: Any = place
        if not isinstance(cable, PointsOnBody) or cable.body.element.cell != "line":
            raise ConstraintError(f"{self.name}: clamp takes a point of a cable, cable.at(X)")
        support: Any = body
        if not isinstance(support, PlanarBody | Ground):
            raise ConstraintError(
                f"{self.name}: clamp holds a cable at a planar body or at sa.ground, not {body!r}"
            )

    def declare(self, system: System) -> None:
        """Announce the ends and the multipliers' node before distribution."""
        self.place.resolve(system)
        block = multipliers(3)
        X = self.place.X[0]
        if isinstance(self.body, PlanarBody):
            x, y, theta = self.body.reference
            c, s = np.cos(theta), np.sin(theta)
            d = X[:2] - (x, y)
            point = self.body.at((c * d[0] + s * d[1], -s * d[0] + c * d[1]))
            self.arm, self.lever = point.arm, d
            self.entities = Entities(system, self.name, [self.place, point], block)
        else:
            self.arm = self.lever = X[:2]
            self.entities = Entities(system, self.name, [self.place, Ground(X)], block)

    def carriers(self, system: System) -> list[Any]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(system)
        return self.entities.carriers()

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernel and the entity on this rank."""
        wanted = [(0, "value"), (0, "xi")]
        moving = isinstance(self.body, PlanarBody)
        if moving:
            wanted.append((1, "planar"))
        jets = self.entities.jets(system, wanted, scalars=3)
        reference = self.entities.reference(system, jets, 6)
        cell = {
            "T1": reference[:, 3],
            "T2": reference[:, 4],
            "s1": np.full(len(reference), self.arm[0]),
            "s2": np.full(len(reference), self.arm[1]),
        }
        law = clamp_law(moving)
        kernel = jit.points(law, system.comm)
        uniform = {"scale": lambda t: system.stiffness}
        return [self.entities.piece(self.name, kernel, "constraint", uniform, cell, jets, law, 3)]

    def wrench(self, system: System) -> Array:
        """Return force and moment about the body's origin (3,) that the body exerts on the cable.

        For the ground: about the origin of coordinates (collective).
        """
        value = np.zeros(3)
        mine = np.flatnonzero(self.entities.owned)
        if len(mine):
            start = self.entities.starts(system)[mine[0]]
            lam = system.state[start : start + 3] * system.stiffness
            turn = self.body.displacement(system)[2] if isinstance(self.body, PlanarBody) else 0.0
            c, s = np.cos(turn), np.sin(turn)
            x, y = self.lever
            arm = np.array([c * x - s * y, s * x + c * y])
            value[:2] = -lam[:2]
            value[2] = -(arm[0] * lam[1] - arm[1] * lam[0]) - lam[2]
        return system.sum(value)

    def ground_wrench(self, system: System) -> Array | None:
        """Return the wrench of the ground, if the clamp is at the ground."""
        return None if isinstance(self.body, PlanarBody) else self.wrench(system)


@cache
def clamp_law(moving: bool) -> Any:
    """Return lambda . Phi of a clamp at a planar body, or (not `moving`) at the ground."""
    u = sp.symbols("u1:4", real=True)
    d = sp.symbols("u_xi1:4", real=True)
    v1, v2, phi = sp.symbols("v1 v2 phi", real=True)
    lam = sp.symbols("lam1:4", real=True)
    T1, T2, s1, s2 = sp.symbols("T1 T2 s1 s2", real=True)
    scale = sp.Symbol("scale", positive=True)
    sine, versine = (sp.sin(phi), 2 * sp.sin(phi / 2) ** 2) if moving else (0, 0)
    move1 = v1 - versine * s1 - sine * s2 if moving else sp.Integer(0)
    move2 = v2 + sine * s1 - versine * s2 if moving else sp.Integer(0)
    turned1 = T1 - versine * T1 - sine * T2
    turned2 = T2 + sine * T1 - versine * T2
    # (T + d) x R T = d x R T + sin(phi) |T|^2, without cancellation
    square = T1**2 + T2**2
    across = (d[0] * turned2 - d[1] * turned1 + sine * square) / square
    energy = scale * (lam[0] * (u[0] - move1) + lam[1] * (u[1] - move2) - lam[2] * across)
    parameters = [declare.Parameter(s, "cell") for s in (T1, T2)]
    if moving:
        parameters += [declare.Parameter(s, "cell") for s in (s1, s2)]
    return declare.PointLaw(
        name="clamp_planar" if moving else "clamp_ground",
        unknowns=(*u, *d, *((v1, v2, phi) if moving else ()), *lam),
        energy=energy,
        parameters=(*parameters, declare.Parameter(scale)),
        title="lambda . (r - r_body, tangent x turned tangent)",
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Conditions on coordinates in directions that are no axes of space, by multipliers.

Coordinates are components along axes of space, and a system eliminates whole coordinates.
Conditions along other directions may meet at a node, of several supports in frames of their own,
and may turn in time: so they are equations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ...arrays import Array, Ints, Ints32, Mask
from ...assembly.resolved import JetRows, Resolved
from ...places.ends import End
from ...places.glue import PerPlace
from ...places.slopes import Slopes
from ...terms.constraint import Constraint

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration
    from ...places.glue import Glue
    from ...places.middles import Middles
    from ...places.on_body import Nodes, PointsOnBody
    from ...terms.constraint import ConstraintBinding
    from ...terms.quantities import E, S, V
    from ...values.motion import Motion
    from ...values.parameter import Scalar


AXIS_TOLERANCE = 1e-12  # sine of the angle up to which a direction is an axis of space


def split(directions: Array) -> tuple[Mask, Array]:
    """Split subspaces into axes of space and what is left.

    Parameters
    ----------
    directions : (k, m, 3) orthonormal bases of subspaces, m <= 2, of vectors that are axes of
        space where the subspace has any (`perpendicular`); rows of zeros do not count.

    Returns
    -------
    axes : (k, 3) the axes of space that lie in each subspace: coordinates to eliminate.
    rest : (k, m, 3) an orthonormal basis of the rest, rows of zeros behind it.
    """
    inside = np.einsum("kma,kmb->kab", directions, directions)
    axes = np.linalg.norm(np.eye(3) - inside, axis=2) < AXIS_TOLERANCE
    rest = np.where(axes[:, None, :], 0.0, directions)
    size = np.linalg.norm(rest, axis=2)
    last = np.argsort(size < 1e-9, axis=1, kind="stable")  # rows that count come first
    rest = np.take_along_axis(rest, last[:, :, None], axis=1)
    size = np.take_along_axis(size, last, axis=1)[:, :, None]
    return axes, np.where(size < 1e-9, 0.0, rest / np.where(size < 1e-9, 1.0, size))


class DirectionPlaces(Slopes):
    """Slopes (or positions) of which only the component along a direction is given.

    It is the first component of the jets ``along0`` and ``value``, unless the direction turns in
    time (`turning`). ``axis0`` of the reference is the direction, the normal of the slope.

    Parameters
    ----------
    place, at, count : see `Slopes`, and how many conditions (n,) each of these has (collective).
    turning : see above.
    direction : (3,), if it is the same everywhere.
    """

    def __init__(
        self,
        place: Nodes | PointsOnBody,
        at: Glue | Middles,
        count: Ints,
        turning: bool,
        direction: Array | None = None,
    ) -> None:
        super().__init__(place, at, PerPlace(place.body.region.mesh.comm, at.starts, count))
        self.turning, self.same = turning, direction

    def take(self, places: Ints, slopes: Array, normals: Array | None) -> None:
        """Take directions of slopes, and those of conditions; see `Slopes.take`.

        There is no condition along zeros.
        """
        super().take(places, slopes, normals)
        assert self.present is not None
        self.present.values &= self.normal.values.any(axis=1)

    def _along(self, ids: Ints) -> Array:
        """Return the directions (k, 3) of conditions of this rank's nodes."""
        same = self.same
        return self.normal[ids] if same is None else np.broadcast_to(same, (len(ids), 3))

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference values (k, 3) of a jet that do not follow from coordinates."""
        return self._along(places.ids) if jet == "axis0" else End.constant(self, places, jet)

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        rows = super().rows(configuration, places, vertices, jet)
        if self.turning:
            return rows
        values = rows.value * self._along(places.ids)[rows.place, rows.component]
        keep = values != 0.0
        rows = rows._replace(component=np.zeros_like(rows.component), value=values)
        return JetRows(*(column[keep] for column in rows))

    def __str__(self) -> str:
        return f"directions at {len(self.slopes)} {self.at.what} of {self.body.name!r}"


def _unchanged(g1_a: V) -> E:
    return g1_a[0]


def _absent(s1_a: V) -> E:
    return s1_a[0]


def _turning(
    s1_a: V, E1_a: V, *, H11: S, H12: S, H13: S, H21: S, H22: S, H23: S, H31: S, H32: S, H33: S
) -> E:
    H = sp.Matrix([[H11, H12, H13], [H21, H22, H23], [H31, H32, H33]])
    return E1_a.dot(H * s1_a)


def prescribed_directions(name: str, place: DirectionPlaces, motion: Motion) -> Constraint:
    r"""Return the condition that components of slopes in directions vanish, for each place.

    With a direction E of the reference and the slope s of a node, :math:`E \cdot s = 0`; where
    the support turns, :math:`E \cdot F(t)^{-1} s = 0`, with its deformation gradient F.
    """
    if not motion.turns:
        return Constraint(_absent if motion.gradient is not None else _unchanged, place, name=name)
    entries: dict[str, Scalar] = {
        f"H{i + 1}{j + 1}": (lambda t, i=i, j=j: float(motion.inverse(t)[i, j]))
        for i in range(3)
        for j in range(3)
    }
    return Constraint(_turning, place, name=name, **entries)


def forces_of(condition: ConstraintBinding, configuration: Configuration) -> tuple[Ints, Array]:
    """Return local offsets of coordinates and the forces of conditions on them (collective).

    Those of the conditions whose multipliers this rank owns; it has all their coordinates.
    """
    entities, jets = condition.entities, condition.jets
    at, vector = condition.at_places(configuration), condition.term.equations.jets[0]
    forces = condition.power(configuration, at, {vector: np.eye(3)[:, None]})
    mine = entities.owned[jets.entity] & (jets.jet < 3)
    entity, jet = jets.entity[mine], jets.jet[mine]
    return jets.coordinate[mine].astype(np.int64), jets.value[mine] * forces[jet, entity]

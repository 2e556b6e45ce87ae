# SPDX-License-Identifier: BSD-3-Clause
"""Nodes held along one direction: planes of symmetry, bodies that move in a plane, rollers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Mask
from ...errors import MeshError, ParameterError
from ...terms.constraint import Constraint
from ...values.arguments import one_of
from ...values.parameter import Derived, Parameter, Scalar, evaluate, label, unit_vector
from .directions import AXIS_TOLERANCE, DirectionPlaces
from .names import AXES
from .nodes import NodeSupport

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration
    from ...places.glue import Glue, NodesHere
    from ...places.middles import MiddlesHere
    from ...places.on_body import Nodes, PointsOnBody
    from ...terms.quantities import E, S, V
    from ...values.motion import Displacement


class Mirror(NodeSupport):
    """Nodes that stay in a plane across an axis, and slopes as they are beside a mirror there.

    A mirror M maps the displacement gradient to M G M = G: slopes b in the plane keep no
    component across it, slopes along the normal keep only that component. `all_of_body`: no strain
    across the plane either, as of a body that moves in it; the thickness of a plate that lies in
    the plane stays free.
    """

    def __init__(
        self, name: str, place: Nodes | PointsOnBody, normal: str, all_of_body: bool
    ) -> None:
        one_of(f"{name}: normal", normal, AXES)
        super().__init__(name, place, normal, None, None)
        self.mirror = self.axis = AXES.index(normal)
        self.slopes = bool(self.body.element.slopes)
        self.all_of_body = all_of_body

    def describe(self) -> str:
        """Tell what is held, in words."""
        axis = AXES[self.axis]
        slopes = " and what slopes have across the plane" if self.body.element.slopes else ""
        return f"{axis}{slopes}"

    def prescribed_slopes(
        self, configuration: Configuration, here: NodesHere | MiddlesHere, basis: Array
    ) -> Mask:
        """Return which components (n, s, 3) of the slopes are held by elimination."""
        across = np.abs(basis[:, :, self.axis])
        inside, along = across < 1e-6, across > 1.0 - 1e-6
        tilted = ~(inside | along)
        if tilted.any():
            x = here.X[int(np.argmax(tilted.any(axis=1)))]
            raise MeshError(
                f"{self.name}: at the node ({x[0]:g}, {x[1]:g}, {x[2]:g}) body {self.body.name!r} "
                f"meets the plane across {AXES[self.axis]} neither at a right angle nor in "
                "it; give the body its exact normals or tangents, direction=...",
                asked="normal",
                given=AXES[self.axis],
            )
        mask = np.zeros(basis.shape, dtype=bool)
        mask[along] = True  # but the component along the normal
        mask[:, :, self.axis] = inside
        if self.all_of_body:
            director = np.zeros(len(basis), dtype=bool)
            if self.body.element.has_thickness:
                normals = configuration.binding(self.body).interpolation.normals_at(here.vertices)
                director = np.abs(normals[:, self.axis]) > 0.5
            mask[:, :, self.axis] = inside | ~director[:, None]
        return mask


def _moved(u_a: V, *, w: S) -> E:
    return u_a[0] - w


class Roller(NodeSupport):
    r"""Nodes with :math:`n \cdot u = w`: held along a direction, free across it.

    Parameters
    ----------
    direction : n, of any length; along an axis of space the coordinate is eliminated, else it
        is held by a multiplier.
    amount : w [m], a number, `Parameter` or function of time; None: 0.
    """

    def __init__(
        self,
        name: str,
        place: Nodes | PointsOnBody,
        direction: npt.ArrayLike,
        amount: Displacement,
    ) -> None:
        n = self.direction = unit_vector(f"{name}: direction", direction)
        what, w = f"{name}: displacement", cast("Any", 0.0 if amount is None else amount)
        if np.ndim(w):
            raise ParameterError(
                f"{what} is {label(amount)}: along direction= it is one number, Parameter or "
                "function of time",
                asked="displacement",
                given=amount,
            )
        if not (callable(w) or isinstance(w, Parameter)):
            evaluate(what, w, 0.0)
        off = np.linalg.norm(np.eye(3) - np.outer(n, n), axis=1)
        self.oblique = bool(off.min() > AXIS_TOLERANCE)
        a = int(np.argmin(off))
        along: list[Scalar] = [0.0, 0.0, 0.0]
        along[a] = w if n[a] > 0.0 else Derived(w, lambda t: -evaluate(what, w, t))
        super().__init__(name, place, AXES[a], None if self.oblique else along, None)
        self.amount = w
        if self.oblique:
            self.axes = []

    def describe(self) -> str:
        """Tell what is held, in words."""
        x, y, z = self.direction + 0.0  # no -0
        return f"displacement along ({x:g}, {y:g}, {z:g})"

    def condition(self, name: str, glue: Glue) -> Constraint | None:
        """Return the conditions on displacements, where the direction is oblique."""
        if not self.oblique:
            return None
        place = DirectionPlaces(
            self.place, glue, np.ones_like(glue.vertices), False, self.direction
        )
        return Constraint(_moved, place, name=f"{name} (direction)", w=self.amount)

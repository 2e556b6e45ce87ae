# SPDX-License-Identifier: BSD-3-Clause
"""Nodes in a plane of symmetry, and bodies that move in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import MeshError, ParameterError
from ...values.arrays import Mask
from .names import AXES
from .nodes import HeldNodes

if TYPE_CHECKING:
    from ...places.ends import Nodes, PointsOnBody


class MirroredNodes(HeldNodes):
    """Nodes that stay in a plane across an axis, and slopes as they are beside a mirror there.

    A mirror M maps the displacement gradient to M G M = G: slopes b in the plane keep no
    component across it, slopes along the normal keep only that component. `all_of_body`: no strain
    across the plane either, as of a body that moves in it; the thickness of a plate that lies in
    the plane stays free.
    """

    def __init__(
        self, name: str, place: Nodes | PointsOnBody, normal: str, all_of_body: bool
    ) -> None:
        if normal not in tuple(AXES):
            raise ParameterError(f"{name}: normal is {normal!r}: give 'x', 'y' or 'z'")
        super().__init__(name, place, normal, None, None)
        self.mirror = self.axis = AXES.index(normal)
        self.all_of_body = all_of_body

    def describe(self) -> str:
        """Tell what is held, in words."""
        axis = AXES[self.axis]
        slopes = " and what slopes have across the plane" if self.body.element.slopes else ""
        return f"{axis}{slopes}"

    def _slopes_held(self) -> Mask:
        across = np.abs(self._basis[:, :, self.axis])
        inside, along = across < 1e-6, across > 1.0 - 1e-6
        tilted = ~(inside | along)
        if tilted.any():
            x = self.glue.X[self.node[int(np.argmax(tilted.any(axis=1)))]]
            raise MeshError(
                f"{self.name}: at the node ({x[0]:g}, {x[1]:g}, {x[2]:g}) body {self.body.name!r} "
                f"meets the plane across {AXES[self.axis]} neither at a right angle nor in "
                "it; give the body its exact normals or tangents, direction=..."
            )
        mask = np.zeros(self._basis.shape, dtype=bool)
        mask[along] = True  # but the component along the normal
        mask[:, :, self.axis] = inside
        if self.all_of_body:
            director = np.zeros(len(self.vertices), dtype=bool)
            if self.body.element.has_thickness:
                normals = self.body.normals_at(self.vertices)
                director = np.abs(normals[:, self.axis]) > 0.5
            mask[:, :, self.axis] = inside | ~director[:, None]
        return mask

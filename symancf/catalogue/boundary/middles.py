# SPDX-License-Identifier: BSD-3-Clause
"""What a support holds of the slopes across edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...arrays import Array, Ints, Mask
from ...errors import MeshError
from ...places.middles import MiddlesHere
from ...places.vectors import unit
from .directions import DirectionsAcross, held_directions, split
from .names import AXES

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...places.interpolation import Interpolated
    from ...places.middles import Middles
    from ...terms.constraint import ConstraintBinding
    from ...values.motion import Motion


class OfNodes(Protocol):
    """A support of nodes: its motion, what it holds of slopes, and the axis it mirrors at."""

    name: str
    motion: Motion
    whole: bool
    clamped: bool
    parts: dict[str, list[int]]
    mirror: int | None

    @property
    def body(self) -> Interpolated:
        """That it holds."""

    def slopes_held(self, configuration: Configuration, here: Any, basis: Array, /) -> Mask:
        """Return which components (n, s, 3) of slopes along `basis` are held."""


class MiddleSupport:
    """The slopes across the edges of a place that a support of its nodes holds, in one system.

    A clamp holds their components along the normals, all of them within cells that are glued;
    ``slope_across`` is these slopes, ``slope_along`` none of them; planes of symmetry hold what
    they hold of slopes of nodes.

    Attributes
    ----------
    condition : along normals that may be no axes; None: there is none.
    here, mask : the edges on this rank, after `orient`, and which components (n, 3) are held by
        elimination, after `hold`.
    """

    here: MiddlesHere
    mask: Mask

    def __init__(self, support: OfNodes, middles: Middles, layout: Layout) -> None:
        s = self.support = support
        self.middles = middles
        self.condition: ConstraintBinding | None = None
        if not s.clamped or s.whole:
            return
        count = (~middles.inside).astype(np.int64)
        self.place = DirectionsAcross(s.body, middles, count, s.motion.turns)
        if len(self.place.conditions):
            name = f"{layout.name(s)} (edges)"
            self.condition = layout.bind(held_directions(name, self.place, s.motion))

    def orient(self, configuration: Configuration) -> None:
        """Find the edges here, and which components are no coordinates (collective)."""
        s = self.support
        here = self.here = MiddlesHere.of(configuration, s.body, self.middles)
        self.mask = np.zeros((len(here.X), 3), dtype=bool)
        if self.condition is None:
            return
        rest = here.normal[:, None]
        first = self.place.take(here.number)
        if not s.motion.turns:
            F = np.eye(3) + s.motion.G(np.zeros((1, 3)), 0.0)[0]
            axes, rest = split(unit(here.normal @ np.linalg.inv(F))[:, None])
            self.mask |= axes & ~here.inside[:, None]
        some = ~here.inside
        at = first[some]
        self.place.direction[at] = rest[some, 0]
        self.place.present[at] = rest[some, 0].any(axis=1)

    def hold(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the components that are held by elimination."""
        s, here = self.support, self.here
        if s.whole:
            self.mask[:] = True
        elif s.clamped:
            self.mask[here.inside] = True
        elif s.mirror is not None:
            own = s.slopes_held(configuration, here, here.across[:, None])
            self.mask |= own[:, 0]
        for name, held in s.parts.items():
            self.mask[self._named(name)[:, None], held] = True
        start = configuration.binding(s.body).interpolation.offset(here.vertices, "across")
        edge, a = np.nonzero(self.mask)
        return np.asarray(start[edge] + a, dtype=np.int64)

    def _named(self, name: str) -> Ints:
        """Return the edges whose slope across has a name; the slope along one follows from nodes.

        Raises
        ------
        MeshError : the derivative along an axis of space is neither of both.
        """
        here = self.here
        if name == "slope_across":
            return np.arange(len(here.X))
        if name == "slope_along":
            return np.zeros(0, dtype=np.int64)
        along = np.abs(here.across[:, AXES.index(name[6:])])
        oblique = (along > 1e-6) & (along < 1.0 - 1e-6)
        if oblique.any():
            x = here.X[int(np.argmax(oblique))]
            raise MeshError(
                f"{self.support.name}: {name!r} is neither along nor across the edge at "
                f"({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across'",
                asked="dofs",
                given=name,
                possible=("slope_along", "slope_across"),
            )
        return np.flatnonzero(along > 0.5)

    def moved(self, time: float) -> Array:
        """Return the values of these components at `time`."""
        if not self.mask.any():
            return np.zeros(0)
        G = self.support.motion.G(self.here.X, time)
        edge, a = np.nonzero(self.mask)
        return np.asarray(np.einsum("nb,nb->n", G[edge, a], self.here.across[edge]))

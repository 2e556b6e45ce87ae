# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a support holds at the nodes of a deformable body, and at which values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ...arrays import Array, Ints, Ints32, Mask
from ...errors import MeshError, ParameterError
from ...places.glue import EDGE, Glue, NodesHere, glue_of
from ...places.middles import Middles
from ...places.on_body import Nodes, PointsOnBody
from ...places.vectors import unit
from ...values.motion import Motion
from .clamp import ALIGNED, Clamp
from .directions import EXACT, Conditions
from .middles import MiddleSupport
from .names import AXES, EDGE_NAMES, chosen, clamp_in_words, parts_of
from .support import Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...assembly.vertices import AtVertices
    from ...places.interpolation import Interpolated
    from ...values.motion import Displacement, Gradient


@dataclass(frozen=True)
class HeldSlopes:
    """Components (n, s, 3) of slopes that are held by elimination, and the reference slopes."""

    mask: Mask
    basis: Array


class NodeSupport(Support):
    """Holds coordinates of the nodes of a place on a body with a mesh; see `fix`."""

    body: Interpolated

    def __init__(
        self,
        name: str,
        place: Nodes | PointsOnBody,
        dofs: str | Sequence[str],
        displacement: Displacement,
        gradient: Gradient,
    ) -> None:
        self.place, element = place, place.body.element
        self.dofs = chosen(name, element, dofs)
        asked = set(self.dofs)
        self.axes = [a for a in range(3) if {"all", "clamp", "position", AXES[a]} & asked]
        self.whole = bool(element.slopes) and bool({"all", "slopes"} & asked)
        self.clamped = bool(element.slopes) and "clamp" in asked
        self.parts = parts_of(element, asked)
        if not self.dofs:
            raise ParameterError(
                f"{name}: dofs is empty, so that nothing is fixed", asked="dofs", given=()
            )
        self.slopes = slopes = bool(self.whole or self.clamped or self.parts)
        for what, given, used in (
            ("displacement", displacement, self.axes),
            ("gradient", gradient, slopes),
        ):
            if given is not None and not used:
                raise ParameterError(
                    f"{name}: {what}= is given, but dofs={self.dofs} fixes no coordinate "
                    f"that follows it (the nodes of {element.name} have "
                    f"{'slopes' if element.slopes else 'positions only'})",
                    asked=what,
                    given=given,
                )
        super().__init__(name, place.body, Motion(name, displacement, gradient))

    def describe(self) -> str:
        """Tell what is held, in words."""
        told = []
        if len(self.axes) == 3:
            told.append("position")
        elif self.axes:
            told.append(" and ".join(AXES[a] for a in self.axes))
        if self.whole:
            told.append("all slopes")
        elif self.clamped:
            dim = self.place.region.dim if isinstance(self.place, Nodes) else 0
            told.append(clamp_in_words(self.body.element, dim))
        told += [
            slope if len(held) == 3 else ", ".join(f"{slope}.{AXES[a]}" for a in held)
            for slope, held in self.parts.items()
        ]
        return ", ".join(told)

    # ---- before distribution --------------------------------------------------------------------
    def bind(self, layout: Layout) -> Self:
        """Find the nodes, announce conditions in directions that may be no axes (collective)."""
        super().bind(layout)
        if isinstance(self.place, Nodes):
            self.place.region.require_on(self.body.region)
        glue = layout.keep(self, glue_of(layout, self.name, self.place))
        condition = self.condition(layout, glue)
        if condition is not None:
            layout.keep(self, condition).bind(layout)
        middles = Middles.of(layout, self.place) if self.slopes else None
        if middles is not None:
            layout.keep(self, MiddleSupport(self, layout.keep(self, middles))).bind(layout)
        return self

    def condition(self, layout: Layout, glue: Glue) -> Conditions | None:
        """Return the conditions of a clamp on components that are no coordinates."""
        if not self.clamped:
            return None
        return layout.keep(self, Clamp(self.body, self.motion, glue)).condition(layout.name(self))

    # ---- after distribution ---------------------------------------------------------------------
    def orient(self, configuration: Configuration) -> None:
        """Take the local vertices, and find normals and tangents there (collective)."""
        here = configuration.keep(
            self, NodesHere.of(configuration, self.body, configuration.of(self, Glue))
        )
        clamp = configuration.layout.find(self, Clamp)
        if clamp is not None:
            clamp.orient(here)
        if middles := self._middles(configuration):
            middles.orient(configuration)

    def _middles(self, configuration: Configuration) -> MiddleSupport | None:
        return configuration.layout.find(self, MiddleSupport)

    def turned(
        self,
        configuration: Configuration,
        basis: AtVertices[np.float64],
        taken: AtVertices[np.bool_],
    ) -> None:
        """Turn the directions (vertices, s, 3) of slopes at the nodes as it needs them.

        `taken` (vertices,) tells where another support has chosen them, and takes the own ones.
        """
        here = configuration.of(self, NodesHere)
        wished, frames = self._frames(configuration, here, basis[here.vertices])
        product = np.abs(np.einsum("nka,nla->nkl", frames, basis[here.vertices]))
        aligned = ((product < EXACT) | (product > 1.0 - EXACT)).all(axis=(1, 2))
        turn = wished & ~aligned & ~taken[here.vertices]
        basis[here.vertices[turn]] = frames[turn]
        taken[here.vertices[wished]] = True

    def _frames(
        self, configuration: Configuration, here: NodesHere, basis: Array
    ) -> tuple[Mask, Array]:
        """Return where directions of slopes are wished for, and which (n, s, 3)."""
        frames = basis.copy()
        wished = np.zeros(len(frames), dtype=bool)
        clamp = configuration.layout.find(self, Clamp)
        if clamp is not None:
            wished |= clamp.frames(frames)
        s, n = frames.shape[1], here.normal
        if self.body.element.dimension != 2 or not self.parts:
            return wished, frames
        first = np.zeros_like(n)
        if any(name in self.parts for name in (*EDGE_NAMES, "slope_normal")):
            edge = (here.kind == EDGE) & ~here.kink
            first[edge] = here.along[edge]
        for name in self.parts:
            if name[6:] in AXES and s == 2:
                first = self._in_plane(name, here)
        named = first.any(axis=1)
        frames[named, 0], frames[named, 1] = first[named], np.cross(n, first)[named]
        if s >= 3:
            frames[named, 2] = n[named]
        return wished | named, frames

    def _in_plane(self, name: str, here: NodesHere) -> Array:
        """Return the axis of a slope by an axis of space at each node of a thin plate.

        Raises
        ------
        MeshError : the plate is not in a plane that has this axis.
        """
        axis = np.eye(3)[AXES.index(name[6:])]
        off = np.abs(here.normal @ axis)
        if (off > 1e-6).any():
            x = here.X[int(np.argmax(off))]
            raise MeshError(
                f"{self.name}: {name!r} is the derivative along {name[6:]}, which leaves the plate "
                f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across' of a "
                "region of edges",
                asked="dofs",
                given=name,
                possible=("slope_along", "slope_across"),
            )
        return unit(axis - (here.normal @ axis)[:, None] * here.normal)

    # ---- coordinates ----------------------------------------------------------------------------
    def hold(self, configuration: Configuration) -> Ints:
        """Find the coordinates to hold on this rank, and return their local offsets."""
        here, on = configuration.of(self, NodesHere), configuration.binding(self.body).interpolation
        position = on.offset(here.vertices, "value")
        parts = [(position[:, None] + np.array(self.axes, dtype=np.int64)).ravel()]
        mask, basis = np.zeros((len(position), 0, 3), dtype=bool), np.zeros((len(position), 0, 3))
        if self.body.element.slopes:
            basis = on.basis[here.vertices]
            mask = self.slopes_held(configuration, here, basis)
            slope = on.offset(here.vertices, "slope0")
            vertex, k, a = np.nonzero(mask)
            parts.append(slope[vertex] + 3 * k + a)
        configuration.keep(self, HeldSlopes(mask, basis))
        if middles := self._middles(configuration):
            parts.append(middles.hold(configuration))
        return np.asarray(np.concatenate(parts), dtype=np.int64)

    def slopes_held(self, configuration: Configuration, here: NodesHere, basis: Array) -> Mask:
        """Return which components (n, s, 3) of the slopes are held by elimination."""
        mask = np.zeros(basis.shape, dtype=bool)
        clamp = configuration.layout.find(self, Clamp)
        if self.whole:
            mask[:] = True
        elif clamp is not None:
            mask |= clamp.mask(basis)
        for name, held in self.parts.items():
            k = self._number_of(name, here, basis)
            for a in held:
                mask[np.arange(len(k)), k, a] = True
        return mask

    def _number_of(self, name: str, here: NodesHere, basis: Array) -> Ints:
        """Return the number of the slope of a name at each node.

        Raises
        ------
        MeshError : there is none: the place has no edges there, or another support took others.
        """
        if self.body.element.slope_kind == "tangents" and self.body.element.dimension == 1:
            return np.zeros(len(basis), dtype=np.int64)
        if name[6:] in AXES:
            wanted = np.broadcast_to(np.eye(3)[AXES.index(name[6:])], here.normal.shape)
        else:
            across = np.cross(here.normal, here.along)
            wanted = {"along": here.along, "across": across, "normal": here.normal}[name[6:]]
        cosine = np.abs(np.einsum("nka,na->nk", basis, wanted))
        found = cosine.argmax(axis=1)
        lost = cosine.max(axis=1, initial=0.0) < 1.0 - ALIGNED
        if lost.any():
            at = int(np.argmax(lost))
            x = here.X[at]
            why = (
                "no single edge of the region goes through or ends there"
                if name in EDGE_NAMES and here.kind[at] != EDGE
                else "the slopes there are stored in other directions, for another support"
            )
            raise MeshError(
                f"{self.name}: {name!r} cannot be held at the node ({x[0]:g}, {x[1]:g}, "
                f"{x[2]:g}): {why}",
                asked="dofs",
                given=name,
            )
        return np.asarray(found)

    # ---- values ---------------------------------------------------------------------------------
    def places(self, configuration: Configuration) -> Array:
        """Return the reference positions (n, 3) of its nodes on this rank."""
        return configuration.of(self, NodesHere).X

    def moved(self, configuration: Configuration, time: float) -> Array:
        """Return the values of the coordinates at `time`."""
        X, slopes = self.places(configuration), configuration.of(self, HeldSlopes)
        values = [self.motion.u(X, time)[:, self.axes].ravel()] if self.axes else [np.zeros(0)]
        if slopes.mask.any():
            G = self.motion.G(X, time)  # du_a/dX_b
            vertex, k, a = np.nonzero(slopes.mask)
            values.append(np.einsum("nb,nb->n", G[vertex, a], slopes.basis[vertex, k]))
        if middles := self._middles(configuration):
            values.append(middles.moved(time))
        return np.concatenate(values)

    # ---- the conditions as a term ---------------------------------------------------------------
    def _conditions(self, configuration: Configuration) -> list[Conditions]:
        """Return the conditions of nodes and of edges."""
        found = configuration.layout.find(self, Conditions)
        middles = self._middles(configuration)
        across = middles.condition if middles else None
        return [c for c in (found, across) if c is not None]

    def _present(self, configuration: Configuration) -> list[Conditions]:
        """Return those that any rank has some of (collective)."""
        return [c for c in self._conditions(configuration) if c.present(configuration)]

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that the conditions put on local vertices."""
        return [b for c in self._conditions(configuration) for b in c.carriers(configuration)]

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the conditions on components that are no coordinates."""
        return [p for c in self._present(configuration) for p in c.pieces(configuration)]

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose condition other supports fulfil."""
        parts = [c.idle(configuration) for c in self._present(configuration)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def forces(self, system: Configuration) -> Array:
        """Return the forces on coordinates, also those of the conditions; see `Support.forces`."""
        f = super().forces(system)
        for found in self._present(system):
            np.add.at(f, *found.forces(system))
        return f

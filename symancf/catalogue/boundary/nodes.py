# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a support holds at the nodes of a deformable body, and at which values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints, Ints32, Mask
from ...errors import MeshError, ParameterError
from ...places.glue import EDGE, NodesHere, glue_of
from ...places.middles import Middles
from ...places.on_body import Nodes, PointsOnBody
from ...places.vectors import unit
from ...values.motion import Motion
from .clamp import ALIGNED, Clamp
from .directions import EXACT, forces_of
from .middles import MiddleSupport
from .names import AXES, EDGE_NAMES, chosen, clamp_in_words, parts_of
from .support import Support, SupportBinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...assembly.vertices import AtVertices
    from ...places.interpolation import Interpolated
    from ...terms.constraint import Constraint, ConstraintBinding
    from ...values.motion import Displacement, Gradient


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

    def bind(self, layout: Layout) -> NodeSupportBinding:
        """Find the nodes, announce conditions in directions that may be no axes (collective)."""
        return NodeSupportBinding(self, layout)

    def condition(self, own: NodeSupportBinding) -> Constraint | None:
        """Return the conditions on components at nodes that are no coordinates."""
        return None if own.clamp is None else own.clamp.condition(own.name)

    def slopes_held(self, configuration: Configuration, here: NodesHere, basis: Array) -> Mask:
        """Return which components (n, s, 3) of the slopes are held, but for a clamp's."""
        mask = np.full(basis.shape, self.whole)
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

    def forces(self, system: Configuration) -> Array:
        """Return the forces on coordinates, also those of the conditions; see `Support.forces`."""
        f = super().forces(system)
        for condition in system.binding(self).present:
            np.add.at(f, *forces_of(condition, system))
        return f


class NodeSupportBinding(SupportBinding):
    """A support of nodes in one system.

    Attributes
    ----------
    glue : its nodes, and what of its place meets there.
    clamp : how slopes are clamped; None: they are not.
    middles : what it holds of slopes across edges; None: there are none.
    conditions, present : on components that are no coordinates; those of them that any rank has
        some of, after `carriers`.
    here : the nodes on this rank, after `orient`.
    mask, basis : which components (n, s, 3) of slopes are held by elimination, and the reference
        slopes, after `coordinates`.
    """

    term: NodeSupport
    here: NodesHere
    present: list[ConstraintBinding]
    mask: Mask
    basis: Array

    def __init__(self, support: NodeSupport, layout: Layout) -> None:
        super().__init__(support, layout)
        place, body = support.place, support.body
        if isinstance(place, Nodes):
            place.region.require_on(body.region)
        self.glue = glue_of(layout, support.name, place)
        self.clamp = Clamp(body, support.motion, self.glue) if support.clamped else None
        condition = support.condition(self)
        self.conditions = [] if condition is None else [layout.bind(condition)]
        edges = Middles.of(layout, place) if support.slopes else None
        self.middles = None if edges is None else MiddleSupport(support, edges, layout)
        if self.middles is not None and self.middles.condition is not None:
            self.conditions.append(self.middles.condition)

    def orient(self, configuration: Configuration) -> None:
        """Take the local vertices, and find normals and tangents there (collective)."""
        self.here = NodesHere.of(configuration, self.term.body, self.glue)
        if self.clamp is not None:
            self.clamp.orient(self.here)
        if self.middles is not None:
            self.middles.orient(configuration)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that the conditions put on local vertices (collective)."""
        blocks = [b for c in self.conditions for b in c.carriers(configuration)]
        some = configuration.comm.allreduce
        self.present = [c for c in self.conditions if some(len(c.entities.ids))]
        return blocks

    def turned(
        self,
        configuration: Configuration,
        basis: AtVertices[np.float64],
        taken: AtVertices[np.bool_],
    ) -> None:
        """Turn the directions (vertices, s, 3) of slopes at the nodes as it needs them.

        `taken` (vertices,) tells where another support has chosen them, and takes the own ones.
        """
        here = self.here
        wished, frames = self._frames(basis[here.vertices])
        product = np.abs(np.einsum("nka,nla->nkl", frames, basis[here.vertices]))
        aligned = ((product < EXACT) | (product > 1.0 - EXACT)).all(axis=(1, 2))
        turn = wished & ~aligned & ~taken[here.vertices]
        basis[here.vertices[turn]] = frames[turn]
        taken[here.vertices[wished]] = True

    def _frames(self, basis: Array) -> tuple[Mask, Array]:
        """Return where directions of slopes are wished for, and which (n, s, 3)."""
        here, support, frames = self.here, self.term, basis.copy()
        wished = np.zeros(len(frames), dtype=bool)
        if self.clamp is not None:
            wished |= self.clamp.frames(frames)
        s, n = frames.shape[1], here.normal
        if support.body.element.dimension != 2 or not support.parts:
            return wished, frames
        first = np.zeros_like(n)
        if any(name in support.parts for name in (*EDGE_NAMES, "slope_normal")):
            edge = (here.kind == EDGE) & ~here.kink
            first[edge] = here.along[edge]
        for name in support.parts:
            if name[6:] in AXES and s == 2:
                first = support._in_plane(name, here)
        named = first.any(axis=1)
        frames[named, 0], frames[named, 1] = first[named], np.cross(n, first)[named]
        if s >= 3:
            frames[named, 2] = n[named]
        return wished | named, frames

    def coordinates(self, configuration: Configuration) -> Ints:
        """Find the coordinates to hold on this rank, and return their local offsets."""
        here, support = self.here, self.term
        self.X, on = here.X, configuration.binding(support.body).interpolation
        position = on.offset(here.vertices, "value")
        parts = [(position[:, None] + np.array(support.axes, dtype=np.int64)).ravel()]
        self.basis = np.zeros((len(position), 0, 3))
        self.mask = np.zeros(self.basis.shape, dtype=bool)
        if support.body.element.slopes:
            self.basis = on.basis[here.vertices]
            self.mask = support.slopes_held(configuration, here, self.basis)
            if self.clamp is not None and not support.whole:
                self.mask |= self.clamp.mask(self.basis)
            slope = on.offset(here.vertices, "slope0")
            vertex, k, a = np.nonzero(self.mask)
            parts.append(slope[vertex] + 3 * k + a)
        if self.middles is not None:
            parts.append(self.middles.hold(configuration))
        self.held = np.asarray(np.concatenate(parts), dtype=np.int64)
        return self.held

    def prescribed(self, configuration: Configuration, time: float) -> tuple[Ints, Array]:
        """Return the local offsets of the fixed coordinates and their values at `time`."""
        motion, axes = self.term.motion, self.term.axes
        values = [motion.u(self.X, time)[:, axes].ravel()] if axes else [np.zeros(0)]
        if self.mask.any():
            G = motion.G(self.X, time)  # du_a/dX_b
            vertex, k, a = np.nonzero(self.mask)
            values.append(np.einsum("nb,nb->n", G[vertex, a], self.basis[vertex, k]))
        if self.middles is not None:
            values.append(self.middles.moved(time))
        return self.held, np.concatenate(values)

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the conditions on components that are no coordinates."""
        return [piece for c in self.present for piece in c.pieces(configuration)]

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose condition other supports fulfil."""
        parts = [c.idle(configuration) for c in self.present]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

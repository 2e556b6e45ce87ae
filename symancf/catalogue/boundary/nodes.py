# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a support holds at the nodes of a deformable body, and at which values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints, Ints32, Mask
from ...assembly.configuration import Configuration, Layout, in_system
from ...errors import ParameterError
from ...places.glue import EDGE, NodesHere, glue_of
from ...places.middles import Middles
from ...places.on_body import Nodes, PointsOnBody
from ...values.motion import Motion
from .clamp import SlopeClamp
from .directions import AXIS_TOLERANCE, forces_of
from .names import AXES, EDGE_NAMES, chosen, clamp_in_words, find_slopes, in_plane, parts_of
from .support import BasicSupportBinding, Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.form import Form
    from ...assembly.vertices import AtVertices
    from ...places.glue import Glue
    from ...places.interpolation import Interpolated
    from ...places.middles import MiddlesHere
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
        names = set(self.dofs)
        self.axes = [a for a in range(3) if {"all", "clamp", "position", AXES[a]} & names]
        self.all_slopes = bool(element.slopes) and bool({"all", "slopes"} & names)
        self.clamped = bool(element.slopes) and "clamp" in names
        self.parts = parts_of(element, names)
        if not self.dofs:
            raise ParameterError(
                f"{name}: dofs is empty, so that nothing is fixed", asked="dofs", given=()
            )
        self.slopes = slopes = bool(self.all_slopes or self.clamped or self.parts)
        for what, value, used in (
            ("displacement", displacement, self.axes),
            ("gradient", gradient, slopes),
        ):
            if value is not None and not used:
                raise ParameterError(
                    f"{name}: {what}= is given, but dofs={self.dofs} fixes no coordinate "
                    f"that follows it (the nodes of {element.name} have "
                    f"{'slopes' if element.slopes else 'positions only'})",
                    asked=what,
                    given=value,
                )
        super().__init__(name, place.body, Motion(name, displacement, gradient))

    def describe(self) -> str:
        """Tell what is held, in words."""
        texts = []
        if len(self.axes) == 3:
            texts.append("position")
        elif self.axes:
            texts.append(" and ".join(AXES[a] for a in self.axes))
        if self.all_slopes:
            texts.append("all slopes")
        elif self.clamped:
            dim = self.place.region.dim if isinstance(self.place, Nodes) else 0
            texts.append(clamp_in_words(self.body.element, dim))
        texts += [
            slope if len(components) == 3 else ", ".join(f"{slope}.{AXES[a]}" for a in components)
            for slope, components in self.parts.items()
        ]
        return ", ".join(texts)

    def bind(self, layout: Layout) -> NodeSupportBinding:
        """Find the nodes, announce conditions in directions that may be no axes (collective)."""
        return NodeSupportBinding(self, layout)

    def condition(self, name: str, glue: Glue) -> Constraint | None:
        """Return the condition on displacements that are no coordinates; None: there is none."""
        return None

    def prescribed_slopes(
        self, configuration: Configuration, here: NodesHere | MiddlesHere, basis: Array
    ) -> Mask:
        """Return which components (n, s, 3) of the slopes are held, but for a clamp's."""
        mask = np.full(basis.shape, self.all_slopes)
        for name, components in self.parts.items():
            at, k = find_slopes(self.name, self.body.element, name, here, basis)
            for a in components:
                mask[at, k, a] = True
        return mask

    @in_system
    def forces(self, system: Configuration) -> Array:
        """Return the forces on coordinates, also those of the conditions; see `Support.forces`."""
        f = super().forces(system)
        for condition in system.binding(self).present:
            np.add.at(f, *forces_of(condition, system))
        return f


class NodeSupportBinding(BasicSupportBinding):
    """A support of nodes in one system.

    Attributes
    ----------
    glue : its nodes, and what of its place meets there.
    slopes : what it holds of slopes at nodes and, where edges have some, across edges; empty: it
        holds none.
    conditions, present : on components that are no coordinates; those of them that any rank has
        some of, after `carriers`.
    here : the nodes on this rank, after `orient`.
    """

    term: NodeSupport
    here: NodesHere
    present: list[ConstraintBinding]

    def __init__(self, support: NodeSupport, layout: Layout) -> None:
        super().__init__(support, layout)
        place = support.place
        if isinstance(place, Nodes):
            place.region.require_on(support.body.region)
        self.glue = glue_of(layout, support.name, place)
        condition = support.condition(self.name, self.glue)
        self.conditions = [] if condition is None else [layout.bind(condition)]
        self.slopes: list[SlopeSupport] = []
        edges = Middles.of(layout, place) if support.slopes else None
        for at, what in (self.glue, "directions"), (edges, "edges"):
            if support.slopes and at is not None:
                part = SlopeSupport(support, at, f"{self.name} ({what})", layout)
                self.slopes.append(part)
                if part.clamp is not None and part.clamp.condition is not None:
                    self.conditions.append(part.clamp.condition)

    def orient(self, configuration: Configuration) -> None:
        """Take the local vertices, and find normals and tangents there (collective)."""
        body = self.term.body
        self.here = self.glue.here(configuration, body)
        for part in self.slopes:
            nodes = part.at is self.glue
            part.orient(self.here if nodes else part.at.here(configuration, body))

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
        occupied: AtVertices[np.bool_],
    ) -> None:
        """Turn the directions (vertices, s, 3) of slopes at the nodes as it needs them.

        `occupied` (vertices,) tells where another support has chosen them, and takes the own ones.
        """
        if self.slopes:
            self.slopes[0].turned(basis, occupied)

    def coordinates(self, configuration: Configuration) -> Ints:
        """Find the coordinates to hold on this rank, and return their local offsets."""
        here, support = self.here, self.term
        self.X, on = here.X, configuration.binding(support.body).interpolation
        position = on.offset(here.vertices, "value")
        positions = (position[:, None] + np.array(support.axes, dtype=np.int64)).ravel()
        slopes = [part.coordinates(configuration) for part in self.slopes]
        self.offsets = np.asarray(np.concatenate([positions, *slopes]), dtype=np.int64)
        self._constant: Array | None = None  # values (1, n) that nothing changes, once known
        return self.offsets

    def course(self, times: Sequence[float]) -> Array:
        """Return the values (times, n) of the fixed coordinates."""
        motion, axes, count = self.term.motion, self.term.axes, len(times)
        if self._constant is not None and count == 1:
            return self._constant
        moved = motion.course(self.X, times)[:, :, axes].reshape(count, -1) if axes else None
        parts = [np.zeros((count, 0)) if moved is None else moved]
        for part in self.slopes:
            turned = np.array([part.prescribed(t) for t in (times if motion.turns else times[:1])])
            parts.append(np.broadcast_to(turned, (count, turned.shape[1])))
        values: Array = np.concatenate(parts, axis=1)
        if motion.constant and count == 1:
            values.flags.writeable = False
            self._constant = values
        return values

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the conditions on components that are no coordinates."""
        return [form for c in self.present for form in c.forms(configuration)]

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose condition other supports fulfil."""
        parts = [c.idle(configuration) for c in self.present]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


class SlopeSupport:
    """The slopes at nodes of a place, or across its edges, that a support holds, in one system.

    A clamp holds what gluing does; planes of symmetry hold of slopes across edges what they hold
    of slopes of nodes.

    Attributes
    ----------
    at : the nodes or edges.
    clamp : how they are clamped; None: they are not.
    here : the nodes or edges on this rank, after `orient`.
    mask, basis : which components (n, s, 3) are held by elimination, and the reference slopes,
        after `coordinates`.
    """

    here: NodesHere | MiddlesHere
    mask: Mask
    basis: Array

    def __init__(self, support: NodeSupport, at: Glue | Middles, name: str, layout: Layout) -> None:
        self.support, self.at = support, at
        self.clamp: SlopeClamp | None = None
        if support.clamped and not support.all_slopes:
            self.clamp = SlopeClamp(name, support.place, at, support.motion, layout)

    def orient(self, here: NodesHere | MiddlesHere) -> None:
        """Take the nodes or edges here (collective)."""
        self.here = here
        if self.clamp is not None:
            self.clamp.orient(here)

    def turned(self, basis: AtVertices[np.float64], occupied: AtVertices[np.bool_]) -> None:
        """Turn the directions (vertices, s, 3) of slopes of nodes; see `NodeSupportBinding`."""
        vertices = self.here.vertices
        wished, frames = self._frames(basis[vertices])
        product = np.abs(np.einsum("nka,nla->nkl", frames, basis[vertices]))
        aligned = ((product < AXIS_TOLERANCE) | (product > 1.0 - AXIS_TOLERANCE)).all(axis=(1, 2))
        turn = wished & ~aligned & ~occupied[vertices]
        basis[vertices[turn]] = frames[turn]
        occupied[vertices[wished]] = True

    def _frames(self, basis: Array) -> tuple[Mask, Array]:
        """Return where directions of slopes are wished for, and which (n, s, 3)."""
        here, support, frames = self.here, self.support, basis.copy()
        assert isinstance(here, NodesHere)
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
                first = in_plane(support.name, name, here)
        wanted = first.any(axis=1)
        frames[wanted, 0], frames[wanted, 1] = first[wanted], np.cross(n, first)[wanted]
        if s >= 3:
            frames[wanted, 2] = n[wanted]
        return wished | wanted, frames

    def coordinates(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the components that are held by elimination."""
        on = configuration.binding(self.support.body).interpolation
        self.basis = self.here.basis(on)
        self.mask = self.support.prescribed_slopes(configuration, self.here, self.basis)
        if self.clamp is not None:
            self.mask |= self.clamp.mask(self.basis)
        start = on.offset(self.here.vertices, self.at.jet)
        vertex, k, a = np.nonzero(self.mask)
        return np.asarray(start[vertex] + 3 * k + a, dtype=np.int64)

    def prescribed(self, time: float) -> Array:
        """Return the values of these components at `time`."""
        if not self.mask.any():
            return np.zeros(0)
        G = self.support.motion.G(self.here.X, time)  # du_a/dX_b
        vertex, k, a = np.nonzero(self.mask)
        return np.asarray(np.einsum("nb,nb->n", G[vertex, a], self.basis[vertex, k]))

# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a support holds at the nodes of a deformable body, and at which values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...assembly.agreement import Given
from ...errors import MeshError, ParameterError
from ...places.ends import Nodes, PointsOnBody
from ...places.geometry import unit
from ...places.glue import EDGE, Glue, glue_of, nodes_here, straightened
from ...terms.entities import Held
from ...values.arrays import Array, Ints, Ints32, Mask
from ...values.parameter import call, call_array, components, matrix3, takes_place
from .clamp import ALIGNED, Clamp
from .directions import EXACT, HeldDirections, HeldDisplacements
from .names import AXES, EDGE_NAMES, chosen, clamp_in_words, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...assembly.vertices import AtVertices


class HeldNodes(Held):
    """Coordinates of the nodes of a place on a body with a mesh; see `fix`.

    Attributes
    ----------
    glue : what of the place is glued at each of its nodes, after `declare`.
    vertices, node : (n,) local vertices of the place and their numbers in `glue`.
    normal, along : (n, 3) unit normals (of cables: tangents), tangents of the edges of the place.
    """

    vertices: Ints
    node: Ints
    kind: npt.NDArray[np.int8]
    normal: Array
    along: Array
    kink: Mask

    def __init__(
        self,
        name: str,
        place: Nodes | PointsOnBody,
        dofs: str | list[str],
        displacement: Any,
        gradient: Callable[..., npt.ArrayLike] | npt.ArrayLike | None,
    ) -> None:
        self.name, self.place, self.body = name, place, place.body
        self.displacement, self.gradient = displacement, gradient
        self.values = [displacement, gradient]
        self.dofs = chosen(name, self.body.element, dofs)
        asked = set(self.dofs)
        self.axes = [a for a in range(3) if {"all", "clamp", "position", AXES[a]} & asked]
        self.whole = bool(self.body.element.slopes) and bool({"all", "slopes"} & asked)
        self.clamped = bool(self.body.element.slopes) and "clamp" in asked
        self.parts = parts_of(self.body.element, asked)
        self.clamp: Clamp | None = None
        self._check()

    # ---- what is asked for ----------------------------------------------------------------------
    def _check(self) -> None:
        """Refuse what would be ignored or cannot be a motion."""
        if not self.dofs:
            raise ParameterError(f"{self.name}: dofs is empty, so that nothing is fixed")
        slopes = self.whole or self.clamped or self.parts
        for what, given, used in (
            ("displacement", self.displacement, self.axes),
            ("gradient", self.gradient, slopes),
        ):
            if given is not None and not used:
                raise ParameterError(
                    f"{self.name}: {what}= is given, but dofs={self.dofs} fixes no coordinate "
                    f"that follows it (the nodes of {self.body.element.name} have "
                    f"{'slopes' if self.body.element.slopes else 'positions only'})"
                )
        self._of_place = callable(self.displacement) and takes_place(self.displacement)
        self._gradient_of_place = callable(self.gradient) and takes_place(self.gradient)
        self._components: list[Any] = []
        if self.displacement is not None and not self._of_place:
            self._components = components(f"{self.name}: displacement", self.displacement)
        if self.gradient is not None and not callable(self.gradient):
            self._constant = self._finite_gradient(self.gradient)

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
    def declare(self, layout: Layout) -> None:
        """Find the nodes, announce conditions in directions that may be no axes (collective)."""
        layout.require_member(self.body, self.name)
        if isinstance(self.place, Nodes):
            self.place.region.require_on(self.body.region)
        self.glue: Glue = glue_of(layout, self.name, self.place)
        if self.clamped:
            turns = callable(self.gradient)
            constant = None if self.gradient is None or turns else self._constant
            self.clamp = Clamp(self, constant, self._inverse if turns else None)
            if self.clamp.conditions is not None:
                self.clamp.conditions.declare(layout)

    def _inverse(self, time: float) -> Array:
        """Return the inverse of the support's deformation gradient at `time`."""
        assert callable(self.gradient)
        if self._gradient_of_place:
            raise ParameterError(
                f"{self.name}: dofs='clamp' follows one rotation of the support, gradient= as a "
                "function of time; to prescribe all slopes at each place give dofs='all'"
            )
        F = np.eye(3) + self._gradient(np.zeros((1, 3)), time)[0]
        return np.asarray(np.linalg.inv(F))

    # ---- after distribution ---------------------------------------------------------------------
    def orient(self, system: Configuration) -> None:
        """Take the local vertices, and find normals and tangents there."""
        self.vertices, self.node = nodes_here(system, self.glue)
        self.kind = self.glue.kind[self.node].copy()
        n = len(self.vertices)
        self.normal, self.along = np.zeros((n, 3)), self.glue.along[self.node].copy()
        self.kink = np.zeros(n, dtype=bool)
        directions = self.body.directions
        if directions is None:
            return
        self.normal, self.kink = directions.at[self.vertices], directions.kink[self.vertices]
        if self.body.element.cell == "quad":
            self.along = straightened(
                system, self.body, self.glue, self.node, self.normal, self.kink
            )
        if self.clamp is not None:
            self.clamp.orient()

    def turned(self, block: str, basis: AtVertices, taken: AtVertices) -> None:
        """Turn the directions of slopes at the nodes of the place; see `Held.turned`."""
        if block != self.body.slope_name:
            return
        wished, frames = self._frames(basis[self.vertices])
        product = np.abs(np.einsum("nka,nla->nkl", frames, basis[self.vertices]))
        aligned = ((product < EXACT) | (product > 1.0 - EXACT)).all(axis=(1, 2))
        turn = wished & ~aligned & ~taken[self.vertices]
        basis[self.vertices[turn]] = frames[turn]
        taken[self.vertices[wished]] = True

    def _frames(self, basis: Array) -> tuple[Mask, Array]:
        """Return where directions of slopes are wished for, and which (n, s, 3)."""
        frames = basis.copy()
        wished = np.zeros(len(frames), dtype=bool)
        if self.clamp is not None:
            wished |= self.clamp.frames(frames)
        s, n = frames.shape[1], self.normal
        if self.body.element.cell != "quad" or not self.parts:
            return wished, frames
        first = np.zeros_like(n)
        if any(name in self.parts for name in (*EDGE_NAMES, "slope_normal")):
            edge = (self.kind == EDGE) & ~self.kink
            first[edge] = self.along[edge]
        for name in self.parts:
            if name[6:] in AXES and s == 2:
                first = self._in_plane(name)
        named = first.any(axis=1)
        frames[named, 0], frames[named, 1] = first[named], np.cross(n, first)[named]
        if s == 3:
            frames[named, 2] = n[named]
        return wished | named, frames

    def _in_plane(self, name: str) -> Array:
        """Return the axis of a slope by an axis of space at each node of a thin plate.

        Raises
        ------
        MeshError : the plate is not in a plane that has this axis.
        """
        axis = np.eye(3)[AXES.index(name[6:])]
        off = np.abs(self.normal @ axis)
        if (off > 1e-6).any():
            x = self.glue.X[self.node[int(np.argmax(off))]]
            raise MeshError(
                f"{self.name}: {name!r} is the derivative along {name[6:]}, which leaves the plate "
                f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across' of a "
                "region of edges"
            )
        return unit(axis - (self.normal @ axis)[:, None] * self.normal)

    # ---- coordinates ----------------------------------------------------------------------------
    def coordinates(self, system: Configuration) -> Ints:
        """Return the local offsets of the coordinates that are held, on this rank."""
        n = len(self.vertices)
        position = system.numbering.offset[self.vertices, self.body.position_block]
        parts = [(position[:, None] + np.array(self.axes, dtype=np.int64)).ravel()]
        self._mask = np.zeros((n, 0, 3), dtype=bool)
        if self.body.element.slopes:
            self._basis = self.body.basis[self.vertices]
            self._mask = self._slopes_held()
            slope = system.numbering.offset[self.vertices, self.body.slope_block]
            vertex, k, a = np.nonzero(self._mask)
            parts.append(slope[vertex] + 3 * k + a)
        return np.asarray(np.concatenate(parts), dtype=np.int64)

    def _slopes_held(self) -> Mask:
        """Return which components (n, s, 3) of the slopes are held by elimination."""
        mask = np.zeros(self._basis.shape, dtype=bool)
        if self.whole:
            mask[:] = True
        elif self.clamp is not None:
            mask |= self.clamp.mask(self._basis)
        for name, held in self.parts.items():
            k = self._number_of(name)
            for a in held:
                mask[np.arange(len(k)), k, a] = True
        return mask

    def _number_of(self, name: str) -> Ints:
        """Return the number of the slope of a name at each node.

        Raises
        ------
        MeshError : there is none: the place has no edges there, or another support took others.
        """
        if self.body.element.cell == "line":
            return np.zeros(len(self.vertices), dtype=np.int64)
        if name[6:] in AXES:
            wanted = np.broadcast_to(np.eye(3)[AXES.index(name[6:])], self.normal.shape)
        else:
            across = np.cross(self.normal, self.along)
            wanted = {"along": self.along, "across": across, "normal": self.normal}[name[6:]]
        cosine = np.abs(np.einsum("nka,na->nk", self._basis, wanted))
        found = cosine.argmax(axis=1)
        lost = cosine.max(axis=1, initial=0.0) < 1.0 - ALIGNED
        if lost.any():
            at = int(np.argmax(lost))
            x = self.glue.X[self.node[at]]
            why = (
                "no single edge of the region goes through or ends there"
                if name in EDGE_NAMES and self.kind[at] != EDGE
                else "the slopes there are stored in other directions, for another support"
            )
            raise MeshError(
                f"{self.name}: {name!r} cannot be held at the node ({x[0]:g}, {x[1]:g}, "
                f"{x[2]:g}): {why}"
            )
        return np.asarray(found)

    # ---- values ---------------------------------------------------------------------------------
    def prescribed(self, system: Configuration, time: float) -> Array:
        """Return the values of the coordinates at `time`.

        Raises
        ------
        ParameterError : a user's function fails, or its result has the wrong shape or is not
            finite (on the ranks where that happens).
        """
        X = system.points[self.vertices]
        u = self._displacement(X, time) if self.axes else np.zeros_like(X)
        values = [u[:, self.axes].ravel()]
        if self._mask.any():
            G = self._gradient(X, time)  # du_a/dX_b
            vertex, k, a = np.nonzero(self._mask)
            values.append(np.einsum("nb,nb->n", G[vertex, a], self._basis[vertex, k]))
        return np.concatenate(values)

    def given(self, system: Configuration) -> list[Given]:
        """Return displacement and gradient."""
        X, given = system.points[self.vertices], []
        if self.displacement is not None and self.axes:
            given.append(Given(f"{self.name}: displacement", self._displacement, X))
        if self.gradient is not None:
            given.append(Given(f"{self.name}: gradient", self._gradient, X))
        return given

    def _displacement(self, X: Array, time: float) -> Array:
        if self.displacement is None:
            return np.zeros_like(X)
        if self._of_place:
            what = f"{self.name}: displacement"
            return call_array(what, self.displacement, X.shape, X, float(time))
        return np.broadcast_to([c(time) for c in self._components], X.shape)

    def _gradient(self, X: Array, time: float) -> Array:
        n = len(X)
        if self.gradient is None:
            return np.zeros((n, 3, 3))
        if not callable(self.gradient):
            return np.broadcast_to(self._constant, (n, 3, 3))
        what = f"{self.name}: gradient"
        if self._gradient_of_place:
            return call_array(what, self.gradient, (n, 3, 3), X, float(time))
        given = self._finite_gradient(call(what, self.gradient, float(time)))
        return np.broadcast_to(given, (n, 3, 3))

    def _finite_gradient(self, given: Any) -> Array:
        return matrix3(
            f"{self.name}: the gradient du_a/dX_b must be a finite (3, 3) matrix, or a function "
            "of time or of (X, time)",
            given,
        )

    # ---- the conditions as a term ---------------------------------------------------------------
    @property
    def conditions(self) -> HeldDirections | HeldDisplacements | None:
        """Conditions of a clamp on components that are no coordinates."""
        return self.clamp.conditions if self.clamp is not None else None

    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that the conditions put on local vertices."""
        return self.conditions.carriers(system) if self.conditions is not None else []

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return the conditions on components that are no coordinates."""
        if self.conditions is None or not self.conditions.present(system):
            return []
        return self.conditions.pieces(system)

    def idle(self, system: Configuration) -> npt.NDArray[Any]:
        """Return the local offsets of multipliers whose condition other supports fulfil."""
        if self.conditions is None or not self.conditions.present(system):
            return np.zeros(0, dtype=np.int64)
        return self.conditions.idle(system)

    # ---- reactions ------------------------------------------------------------------------------
    def wrench(self, system: Configuration, forces: Array, about: Array) -> Array:
        """Return force and moment about a point (6,) of forces on coordinates, on this rank.

        The moment is the virtual work of the forces, also of the generalised ones on slopes, in
        a rotation of the deformed body about the point (collective).
        """
        if self.conditions is not None and self.conditions.present(system):
            forces = forces.copy()
            np.add.at(forces, *self.conditions.forces(system))
        q = system.reference + system.state
        numbering = system.numbering
        position = numbering.offset[self.vertices, self.body.position_block]
        at = position[:, None] + np.arange(3)
        total = np.concatenate(
            [forces[at].sum(axis=0), np.cross(q[at] - about, forces[at]).sum(axis=0)]
        )
        if self.body.element.slopes:
            slope = numbering.offset[self.vertices, self.body.slope_block]
            for k in range(len(self.body.element.slopes)):
                at = slope[:, None] + 3 * k + np.arange(3)
                total[3:] += np.cross(q[at], forces[at]).sum(axis=0)
        return np.asarray(total)

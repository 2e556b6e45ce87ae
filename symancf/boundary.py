# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates: eliminated rows whose residual is the reaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import MeshError, ParameterError
from .natural import RigidBody, RigidFix
from .parameter import call, call_array, chosen_dofs, components, matrix3, takes_place
from .places.ends import Nodes, PointsOnBody
from .plane import PlanarBody, PlanarFix
from .terms import Entities

if TYPE_CHECKING:
    from .assembly.plan import Piece
    from .body import Body
    from .system import System

Array = npt.NDArray[np.float64]

AXES = "xyz"


class Fix:
    """Hold coordinates at given displacements; see `fix`."""

    def __init__(
        self,
        region: Nodes | PointsOnBody,
        dofs: str | list[str],
        displacement: Any,
        gradient: Callable[..., npt.ArrayLike] | npt.ArrayLike | None,
        name: str | None,
    ) -> None:
        self.region, self.body = region, region.body
        self.displacement, self.gradient = displacement, gradient
        self.values = [displacement, gradient]
        where = region.region.name if isinstance(region, Nodes) else "point"
        self.name = name or f"fix:{self.body.name}.{where}"
        slopes = self.body.element.slopes
        if self.body.element.slope_kind == "gradient":
            slope_names = [f"slope_{a}" for a in AXES]
        else:
            slope_names = [f"slope_{s}" for s in slopes]
        parts = [f"{name}.{axis}" for name in slope_names for axis in AXES]
        possible = ["all", "position", *AXES, *(["slopes", *slope_names, *parts] if slopes else [])]
        self.dofs = chosen_dofs(self.name, dofs, possible)
        self.axes = [a for a in range(3) if {"all", "position", AXES[a]} & set(self.dofs)]
        self.slopes = [
            (k, a)
            for k, name in enumerate(slope_names)
            for a, axis in enumerate(AXES)
            if slopes and {"all", "slopes", name, f"{name}.{axis}"} & set(self.dofs)
        ]
        self._check()
        self.number = -1

    def _check(self) -> None:
        """Refuse what would be ignored or cannot be a motion."""
        if not self.dofs:
            raise ParameterError(f"{self.name}: dofs is empty, so that nothing is fixed")
        for what, given, used in (
            ("displacement", self.displacement, self.axes),
            ("gradient", self.gradient, self.slopes),
        ):
            if given is not None and not used:
                raise ParameterError(
                    f"{self.name}: {what}= is given, but dofs={self.dofs} fixes no coordinate "
                    f"that follows it (the nodes of {self.body.element.name} have "
                    f"{'slopes' if self.body.element.slopes else 'positions only'})"
                )
        self._of_place = callable(self.displacement) and takes_place(self.displacement)
        self._components: list[Any] = []
        if self.displacement is not None and not self._of_place:
            self._components = components(f"{self.name}: displacement", self.displacement)
        if self.gradient is not None and not callable(self.gradient):
            self._constant = self._finite_gradient(self.gradient)

    def declare(self, system: System) -> None:
        """Announce entities and vertices before distribution."""
        if isinstance(self.region, Nodes):
            self.region.region.require_on(self.body.region)
        self.entities = Entities(system, self.name, [self.region])

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        return []

    def coordinates(self, system: System) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return local vertices (k,) of the region and their fixed coordinates (k, m)."""
        self.entities.bind(system)
        vertices = self.entities.end_vertices(0)
        if vertices.shape[1] != 1:  # a point inside a cell must be one of its nodes
            unit = self.region.unit[self.entities.ids]  # type: ignore[union-attr]
            vertices = _nodes_of_points(self.name, self.body.element.cell, unit, vertices)
        self.vertices = np.unique(vertices)
        position = system.numbering.offset[self.vertices, self.body.position_block]
        columns = [position + a for a in self.axes]
        if self.slopes:
            slope = system.numbering.offset[self.vertices, self.body.slope_block]
            columns += [slope + 3 * k + a for k, a in self.slopes]
        return self.vertices, np.stack(columns, axis=1) if columns else np.zeros((0, 0), int)

    def prescribed(self, system: System, time: float) -> tuple[npt.NDArray[Any], Array]:
        """Return the local offsets of this support's coordinates and their values at `time`.

        Raises
        ------
        ParameterError : a user's function fails, or its result has the wrong shape or is not
            finite (on the ranks where that happens).
        """
        X = system.points[self.vertices]
        places, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
        if self.axes:
            position = system.numbering.offset[self.vertices, self.body.position_block]
            u = self._displacement(X, time)
            places += [position + a for a in self.axes]
            values += [u[:, a] for a in self.axes]
        if self.slopes:
            slope = system.numbering.offset[self.vertices, self.body.slope_block]
            G = self._gradient(X, time)  # du_a/dX_b
            basis = self.body.basis[self.vertices]
            places += [slope + 3 * k + a for k, a in self.slopes]
            values += [np.einsum("nb,nb->n", G[:, a], basis[:, k]) for k, a in self.slopes]
        return np.concatenate(places), np.concatenate(values)

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
        if takes_place(self.gradient):
            return call_array(what, self.gradient, (n, 3, 3), X, float(time))
        given = self._finite_gradient(call(what, self.gradient, float(time)))
        return np.broadcast_to(given, (n, 3, 3))

    def _finite_gradient(self, given: Any) -> Array:
        return matrix3(
            f"{self.name}: the gradient du_a/dX_b must be a finite (3, 3) matrix, or a function "
            "of time or of (X, time)",
            given,
        )

    def _forces(self, system: System) -> Array:
        """Return the local vector of the forces of this support on its owned coordinates."""
        numbering = system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        mine = owned & (numbering.fixed_by == self.number)
        return np.where(mine, system.residual_at_solution(), 0.0)

    def reaction(self, system: System) -> Array:
        """Return the total force (3,) that the support exerts on the body (collective) [N].

        A coordinate that several supports fix counts for the last of them.
        """
        f = self._forces(system)
        position = system.numbering.offset[self.vertices, self.body.position_block]
        total = f[position[:, None] + np.arange(3)].sum(axis=0)
        return system.sum(total)

    def reaction_moment(self, system: System, about: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Return the moment (3,) of the support forces about a point (collective) [N m].

        It is the virtual work of the support forces and of the generalised forces of fixed
        slopes in a rotation of the deformed body about the point `about`.
        """
        f = self._forces(system)
        numbering = system.numbering
        q = system.reference + system.state
        position = numbering.offset[self.vertices, self.body.position_block]
        at = position[:, None] + np.arange(3)
        total = np.cross(q[at] - np.asarray(about, dtype=float), f[at]).sum(axis=0)
        if self.body.element.slopes:
            slope = numbering.offset[self.vertices, self.body.slope_block]
            for k in range(len(self.body.element.slopes)):
                at = slope[:, None] + 3 * k + np.arange(3)
                total = total + np.cross(q[at], f[at]).sum(axis=0)
        return system.sum(total)


def _nodes_of_points(
    name: str, cell: str, unit: Array, vertices: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    from .places.locate import corner_functions

    value, _ = corner_functions(cell, unit)
    corner = value.argmax(axis=1)
    if len(value) and (value.max(axis=1) < 1.0 - 1e-9).any():
        raise ParameterError(
            f"{name}: a point that is no node cannot be fixed by elimination; use "
            "sa.joints.spherical(body.at(point))"
        )
    return np.asarray(np.take_along_axis(vertices, corner[:, None], axis=1))


def fix(
    region: Nodes | PointsOnBody | PlanarBody | RigidBody,
    dofs: str | list[str] = "all",
    displacement: Any = None,
    gradient: Any = None,
    name: str | None = None,
) -> Fix | PlanarFix | RigidFix:
    """Fix coordinates of the nodes of a region, or prescribe their motion.

    Parameters
    ----------
    region : ``body["root"]`` or a node ``body.at(X)``; or a planar body, whose coordinates are
        ``"x"``, ``"y"`` and ``"theta"`` of its frame; `displacement` then has one value for each
        coordinate that is fixed, and `PlanarFix.reaction` gives force and moment; or a rigid
        body: ``"all"`` of it, or the ``"position"`` of its origin.
    dofs : ``"all"``, ``"position"``, ``"slopes"``, ``"x"``, ``"y"``, ``"z"``, a slope
        (``"slope_xi"``, for full-gradient elements ``"slope_x"``), a component of one
        (``"slope_xi.z"``), or a list of these.
    displacement : three numbers, `Parameter` or functions of time; a function of time that
        returns (3,); or a function (X (n, 3), time) -> (n, 3). Default: zero.
    gradient : displacement gradient du_a/dX_b that the slopes follow: (3, 3), a function of
        time, or of (X, time) -> (n, 3, 3). Default: zero, i.e. clamped. Of a rigid body: R - 1
        with its rotation R.

    Returns
    -------
    Fix : a term; `Fix.reaction` is the support force after a solution.
    """
    if isinstance(region, RigidBody):
        return RigidFix(region, dofs, displacement, gradient, name)
    if isinstance(region, PlanarBody):
        if gradient is not None:
            raise ParameterError(f"fix {region.name!r}: a planar body has no slopes for gradient=")
        return PlanarFix(region, dofs, displacement, name)
    return Fix(region, dofs, displacement, gradient, name)


class Mirror(Fix):
    """Keep nodes in a plane across an axis, and slopes as they are beside a mirror there."""

    def __init__(self, region: Nodes | PointsOnBody, normal: str, name: str | None) -> None:
        if normal not in tuple(AXES):
            raise ParameterError(f"symmetry: normal is {normal!r}: give 'x', 'y' or 'z'")
        super().__init__(region, normal, None, None, name)
        self.normal = AXES.index(normal)

    def coordinates(self, system: System) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return local vertices (k,) of the region and their fixed coordinates, -1 for none."""
        vertices, columns = super().coordinates(system)
        self._held = self._slopes(system)
        return vertices, np.concatenate([columns, self._held], axis=1)

    def prescribed(self, system: System, time: float) -> tuple[npt.NDArray[Any], Array]:
        """Return the local offsets of this support's coordinates and their values at `time`."""
        places, values = super().prescribed(system, time)
        held = self._held[self._held >= 0]
        return np.concatenate([places, held]), np.concatenate([values, np.zeros(len(held))])

    def _slopes(self, system: System) -> npt.NDArray[Any]:
        """Return the local offsets (k, 3 s) of the fixed components of slopes, -1 for none.

        A mirror M maps the displacement gradient to M G M = G: slopes b in the plane keep no
        component across it, slopes along the normal keep only that component.
        """
        if not self.body.element.slopes:
            return np.zeros((len(self.vertices), 0), dtype=np.int32)
        basis = self.body.basis[self.vertices]
        across = np.abs(basis[:, :, self.normal])
        inside, along = across < 1e-6, across > 1.0 - 1e-6
        tilted = ~(inside | along)
        if tilted.any():
            x = system.points[self.vertices[int(np.argmax(tilted.any(axis=1)))]]
            raise MeshError(
                f"{self.name}: at the node ({x[0]:g}, {x[1]:g}, {x[2]:g}) body {self.body.name!r} "
                f"meets the plane across {AXES[self.normal]} neither at a right angle nor in it; "
                "give the body its exact normals or tangents, direction=..."
            )
        slope = system.numbering.offset[self.vertices, self.body.slope_block]
        columns = []
        for k in range(basis.shape[1]):
            for a in range(3):
                fixed = self._fixes(inside[:, k], along[:, k], k, a)
                columns.append(np.where(fixed, slope + 3 * k + a, -1))
        return np.stack(columns, axis=1)

    def _fixes(
        self, inside: npt.NDArray[np.bool_], along: npt.NDArray[np.bool_], k: int, a: int
    ) -> npt.NDArray[np.bool_]:
        """Tell at which nodes component a of the slope k is fixed."""
        return inside if a == self.normal else along


class Planar(Mirror):
    """Keep a whole body in a plane: as `Mirror`, and no strain across the plane."""

    def _fixes(
        self, inside: npt.NDArray[np.bool_], along: npt.NDArray[np.bool_], k: int, a: int
    ) -> npt.NDArray[np.bool_]:
        director = np.zeros(len(self.vertices), dtype=bool)
        if self.body.element.has_thickness:  # the thickness of a plate in its plane may change
            director = np.abs(self.body.normals_at(self.vertices)[:, self.normal]) > 0.5
        return (inside | ~director) if a == self.normal else along


def symmetry(region: Nodes | PointsOnBody, normal: str, name: str | None = None) -> Fix:
    """Hold the nodes of a region as a plane of symmetry does.

    Displacements along the axis `normal` (``"x"``, ``"y"`` or ``"z"``) vanish; slopes in the
    plane get no component along it, slopes along it get no other component. A shell must meet
    the plane at a right angle, or lie in it.
    """
    where = region.region.name if isinstance(region, Nodes) else "point"
    return Mirror(region, normal, name or f"symmetry:{region.body.name}.{where}")


def planar(body: Body, normal: str = "z", name: str | None = None) -> Fix:
    """Keep a body in the plane across the axis `normal`: no displacement or strain along it.

    The thickness of a plate that lies in the plane stays free.
    """
    return Planar(Nodes(body, body.region), normal, name or f"planar:{body.name}")

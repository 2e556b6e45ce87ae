# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates: eliminated rows whose residual is the reaction."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from .ends import Nodes, PointsOnBody
from .errors import ParameterError
from .parameter import components, evaluate
from .terms import Entities

if TYPE_CHECKING:
    from .assembly import Piece
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
        self.dofs = [dofs] if isinstance(dofs, str) else list(dofs)
        self.displacement, self.gradient = displacement, gradient
        where = region.region.name if isinstance(region, Nodes) else "point"
        self.name = name or f"fix:{self.body.name}.{where}"
        slopes = self.body.element.slopes
        if self.body.element.slope_kind == "gradient":
            slope_names = [f"slope_{a}" for a in AXES]
        else:
            slope_names = [f"slope_{s}" for s in slopes]
        parts = [f"{name}.{axis}" for name in slope_names for axis in AXES]
        possible = ["all", "position", *AXES, *(["slopes", *slope_names, *parts] if slopes else [])]
        for dof in self.dofs:
            if dof not in possible:
                raise ParameterError(
                    f"{self.name}: dofs {dof!r} is not one of {', '.join(possible)}",
                    name=dof,
                    possible=possible,
                )
        self.axes = [a for a in range(3) if {"all", "position", AXES[a]} & set(self.dofs)]
        self.slopes = [
            (k, a)
            for k, name in enumerate(slope_names)
            for a, axis in enumerate(AXES)
            if slopes and {"all", "slopes", name, f"{name}.{axis}"} & set(self.dofs)
        ]

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

    def prescribe(self, system: System, state: Array, time: float) -> None:
        """Write the prescribed coordinates at `time` into a local vector."""
        X = system.points[self.vertices]
        if self.axes:
            position = system.numbering.offset[self.vertices, self.body.position_block]
            u = self._displacement(X, time)
            for a in self.axes:
                state[position + a] = u[:, a]
        if self.slopes:
            slope = system.numbering.offset[self.vertices, self.body.slope_block]
            G = self._gradient(X, time)  # du_a/dX_b
            basis = self.body.basis[self.vertices]
            for k, a in self.slopes:
                state[slope + 3 * k + a] = np.einsum("nb,nb->n", G[:, a], basis[:, k])

    def _displacement(self, X: Array, time: float) -> Array:
        if self.displacement is None:
            return np.zeros_like(X)
        given = self.displacement
        if callable(given) and len(inspect.signature(given).parameters) == 2:
            u = np.asarray(given(X, time), dtype=float)
            if u.shape != X.shape or not np.isfinite(u).all():
                raise ParameterError(
                    f"{self.name}: the displacement function must map (n, 3) points and the time to "
                    f"(n, 3) finite displacements; it returned shape {u.shape}"
                )
            return u
        parts = components(f"{self.name}: displacement", given)
        return np.broadcast_to(
            [evaluate(f"{self.name} {a}", p, time) for a, p in zip(AXES, parts, strict=True)],
            X.shape,
        )

    def _gradient(self, X: Array, time: float) -> Array:
        if self.gradient is None:
            return np.zeros((len(X), 3, 3))
        G = self.gradient
        if callable(G):
            G = G(X, time) if len(inspect.signature(G).parameters) == 2 else G(time)
        return np.broadcast_to(np.asarray(G, dtype=float), (len(X), 3, 3))

    def reaction(self, system: System) -> Array:
        """Return the total force (3,) that the support exerts on the body (collective)."""
        owned = self.vertices < system.numbering.owned_vertices
        position = system.numbering.offset[self.vertices[owned], self.body.position_block]
        total = np.zeros(3)
        for a in self.axes:
            total[a] = system.residual_at_solution()[position + a].sum()
        system.comm.Allreduce(MPI.IN_PLACE, total)
        return total


def _nodes_of_points(
    name: str, cell: str, unit: Array, vertices: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    from .locate import corner_functions

    value, _ = corner_functions(cell, unit)
    corner = value.argmax(axis=1)
    if (value.max(axis=1, initial=1.0) < 1.0 - 1e-9).any():
        raise ParameterError(
            f"{name}: a point that is no node cannot be fixed by elimination; use "
            "sa.joints.spherical(body.at(point))"
        )
    return np.asarray(np.take_along_axis(vertices, corner[:, None], axis=1))


def fix(
    region: Nodes | PointsOnBody,
    dofs: str | list[str] = "all",
    displacement: Any = None,
    gradient: Any = None,
    name: str | None = None,
) -> Fix:
    """Fix coordinates of the nodes of a region, or prescribe their motion.

    Parameters
    ----------
    region : ``body["root"]`` or a node ``body.at(X)``.
    dofs : ``"all"``, ``"position"``, ``"slopes"``, ``"x"``, ``"y"``, ``"z"``, a slope
        (``"slope_xi"``, for full-gradient elements ``"slope_x"``), a component of one
        (``"slope_xi.z"``), or a list of these.
    displacement : three numbers, `Parameter` or functions of time; a function of time that
        returns (3,); or a function (X (n, 3), time) -> (n, 3). Default: zero.
    gradient : displacement gradient du_a/dX_b that the slopes follow: (3, 3), a function of
        time, or of (X, time) -> (n, 3, 3). Default: zero, i.e. clamped.

    Returns
    -------
    Fix : a term; `Fix.reaction` is the support force after a solution.
    """
    return Fix(region, dofs, displacement, gradient, name)


def planar(body: Body, normal: str = "z", name: str | None = None) -> Fix:
    """Keep a body in the plane across the axis `normal`: no displacement or slope along it."""
    if normal not in AXES:
        raise ParameterError(f"planar: normal is {normal!r}: give 'x', 'y' or 'z'")
    slopes = body.element.slopes
    names = (
        [f"slope_{a}" for a in AXES]
        if body.element.slope_kind == "gradient"
        else [f"slope_{s}" for s in slopes]
    )
    dofs = [normal, *(f"{s}.{normal}" for s in names if slopes)]
    return Fix(Nodes(body, body.region), dofs, None, None, name or f"planar:{body.name}")

# SPDX-License-Identifier: BSD-3-Clause
"""Orientation of the cross-sections of rods in the reference configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Integers, Mask
from ..errors import MeshError, ParameterError
from ..runtime.collective import together
from ..values.parameter import call_array, label
from .vectors import unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..cells.table import Cell
    from ..mesh.partition import GhostExchange

#: Least angle [degrees] between the axis of a rod and an axis of its section.
MIN_SECTION_ANGLE = 10.0


def along(cell: Cell, points: Array, cells: Integers) -> Array:
    """Return the unit tangents (n, nodes, 3) of lines through their nodes."""
    _, slopes = cell.evaluate(cell.unit)
    return unit(np.einsum("kvd,nva->nka", slopes, points[cells]))


def section_axes(
    name: str,
    comm: MPI.Comm,
    points: Array,
    used: Integers,
    tangents: Array,
    direction: Callable[[Array], npt.ArrayLike] | None,
) -> Array:
    """Return what the second directors of a rod are made of, (points, 3) (collective).

    Parameters
    ----------
    used, tangents : the nodes of cells (n,), one after the other, and their unit tangents (n, 3).
    direction : function of X (n, 3) -> (n, 3), the user's; None: the axis of space to which the rod
        is nowhere as parallel as to the others.

    Raises
    ------
    ParameterError : the user's directions are along the rod.
    MeshError : the rod is parallel to each axis of space somewhere.
    """
    axes = np.zeros_like(points)
    if direction is None:
        cosines = np.zeros(3)
        if len(tangents):
            cosines = np.abs(tangents).max(axis=0)
        comm.Allreduce(MPI.IN_PLACE, cosines, op=MPI.MAX)
        k = int(np.argmin(np.round(cosines, 6)))
        if cosines[k] > np.cos(np.radians(MIN_SECTION_ANGLE)):
            raise MeshError(
                f"body {name!r}: the rod is somewhere parallel to each of the axes x, y and z, so "
                "that none of them orients its sections everywhere; give "
                "direction=, a function of X (n, 3) that returns the first axes of the sections",
                asked="direction",
                possible=("function",),
            )
        axes[:] = np.eye(3)[k]
        return axes
    what = f"direction of body {name!r}"
    with together(comm):
        of = np.unique(used)
        value = call_array(what, direction, (len(of), 3), points[of])
        if not np.linalg.norm(value, axis=1).all():
            raise ParameterError(
                f"{what}: {label(direction)} returned a vector of length zero",
                asked="direction",
                given=0.0,
            )
        axes[of] = unit(value)
        cosine = np.abs(np.einsum("na,na->n", axes[used], tangents))
        if cosine.max(initial=0.0) > np.cos(np.radians(MIN_SECTION_ANGLE)):
            worst = int(np.argmax(cosine))
            x = points[used[worst]]
            off = np.degrees(np.arccos(min(1.0, cosine[worst])))
            raise ParameterError(
                f"{what}: at ({x[0]:g}, {x[1]:g}, {x[2]:g}) {label(direction)} is only {off:.0f} "
                "degrees off the axis of the rod; give the first axes of its sections, across it",
                asked="angle of the direction",
                given=off,
            )
    return axes


def untwisted(halo: GhostExchange, at: Array, points: Array, edges: Integers, plain: Mask) -> Array:
    r"""Return tangents of curves in space from those of circles through neighbours (collective).

    These lean to the binormal b by :math:`\tfrac16 b\cdot(t_{i+1} - 2 t_i + t_{i-1})` where a curve
    leaves its plane; at nodes next to ends, as their neighbours do.

    Parameters
    ----------
    at : (n, 3) unit tangents; edges : (k, 2) nodes; plain : (n,) where two edges meet smoothly.
    """
    a, b = edges.T
    plain = halo.updated(plain[:, None].astype(np.int8))[:, 0] > 0

    def sums(values: Array) -> Array:
        totals = np.zeros((len(at), *values.shape[1:]))
        np.add.at(totals, a, values[b])
        np.add.at(totals, b, values[a])
        return np.asarray(halo.updated(totals))

    bend = sums(points) - 2.0 * points
    normal = np.cross(at, bend)
    size = np.linalg.norm(normal, axis=1)
    turns = plain & (size > 1e-12 * np.linalg.norm(bend, axis=1).max(initial=0.0)) & (size > 0.0)
    binormal = np.where(turns[:, None], normal, 0.0) / np.where(turns, size, 1.0)[:, None]
    inner = plain & (sums(plain.astype(float)[:, None])[:, 0] == 2.0)
    lean = np.where(inner, np.einsum("na,na->n", binormal, sums(at) - 2.0 * at) / 6.0, 0.0)
    near = sums(np.stack([lean, inner.astype(float)], axis=1))
    beside = plain & ~inner & (near[:, 1] > 0.0)
    lean = np.where(beside, near[:, 0] / np.maximum(near[:, 1], 1.0), lean)
    tangents = at - lean[:, None] * binormal
    return np.where(turns[:, None], tangents / np.sqrt(1.0 + lean**2)[:, None], at)


def frames(tangents: Array, axes: Array) -> Array:
    """Return directors (..., 3, 3), one a row: along, then the axes of the section."""
    across = axes - np.einsum("...a,...a->...", axes, tangents)[..., None] * tangents
    second = unit(across)
    return np.stack([tangents, second, np.cross(tangents, second)], axis=-2)

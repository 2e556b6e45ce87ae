# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions of all coordinates: the near-null space of the tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..assembly.configuration import discrete_system
from ..output.tracking import parents_of
from ..runtime.petsc import PETSc
from ..values.spellings import advise

if TYPE_CHECKING:
    from ..assembly.configuration import Discretised
    from ..assembly.discrete import DiscreteSystem


def rigid_modes(
    system: Discretised[DiscreteSystem], state: Array | None = None, about: Array | None = None
) -> Array:
    """Return the six rigid motions of all coordinates, (6, coordinates).

    Positions move by t + w x (r - r0), slopes by w x r_slope; r0 is `about` or the centre of the
    nodes, r that of `state` or of the reference (collective).
    """
    system = discrete_system("rigid_modes", system)
    numbering = system.numbering
    q = system.reference if state is None else system.reference + state
    centre = about
    if centre is None:
        centre = centre_of_nodes(system, q)
    modes = np.zeros((6, numbering.coordinates))
    for number, block in enumerate(numbering.blocks):
        if not block.moves and block.kind != "dependent":
            continue
        at = numbering.coordinates_of(number)
        for a, axis in enumerate(np.eye(3)):
            modes[a, at] = block.translated(axis)
            modes[3 + a, at] = block.rotated(q[at], axis, centre)
    return modes


def attach_rigid_modes(system: DiscreteSystem, mat: PETSc.Mat) -> None:
    """Give a matrix of the system's rows the six rigid motions as its near-null space."""
    numbering = system.numbering
    vectors: list[PETSc.Vec] = []
    for mode in rigid_modes(system):
        vector = PETSc.Vec().createMPI((numbering.rows, numbering.size), comm=system.comm)
        vector.setArray(numbering.to_rows(mode))
        for other in vectors:
            vector.axpy(-vector.dot(other), other)
        length = vector.norm()
        if length > 1e-8 * max(1.0, float(np.sqrt(numbering.size))):
            vector.scale(1.0 / length)
            vectors.append(vector)
    mat.setNearNullSpace(PETSc.NullSpace().create(vectors=vectors, comm=system.comm))


def centre_of_nodes(system: DiscreteSystem, q: Array) -> Array:
    """Return the mean (3,) of the nodes at the values `q`, one point of each (collective)."""
    numbering, sums = system.numbering, np.zeros(4)
    seen = np.zeros(numbering.vertices, dtype=bool)
    seen[numbering.owned_vertices :] = True
    for number, block in enumerate(numbering.blocks):
        if block.kind == "position":
            vertices = numbering.carriers(number)
            fresh = vertices[~seen[vertices]]
            seen[fresh] = True
            sums[: block.size] += q[numbering.coordinates_of(number, fresh)].sum(axis=0)
            sums[3] += len(fresh)
    sums = system.sum(sums)
    return np.asarray(sums[:3] / max(sums[3], 1.0))


def momentum(
    system: Discretised[DiscreteSystem], about: npt.ArrayLike = (0.0, 0.0, 0.0)
) -> tuple[Array, Array]:
    """Return `System.momentum`, by its former spelling."""
    advise("momentum(system)", "system.momentum()")
    return parents_of("momentum", system)[0].momentum(about)

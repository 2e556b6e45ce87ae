# SPDX-License-Identifier: BSD-3-Clause
"""Bodies without inertia that the tangent of a step lets move by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...newton import ROUND_OFF, TINY
from ..rigid import rigid_modes

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...assembly.discrete import DiscreteSystem
    from ...bodies.natural.body import RigidBody
    from ...runtime.petsc import PETSc


def undetermined(system: DiscreteSystem, J: PETSc.Mat, bodies: list[RigidBody]) -> list[str]:
    """Return the names of `bodies` that the tangent lets move by themselves (collective).

    A direct solver need not notice: it divides by a pivot that round-off left, and the body turns
    by any angle. A body may move by itself where a rigid motion of it alone is in the kernel of
    the tangent, every row measured by its own size.
    """
    comm: MPI.Comm = system.comm
    owned = [_motions(system, body) for body in bodies]
    every: list[list[tuple[Array, Array]]] = comm.allgather(owned)
    start, columns, values = J.getValuesCSR()
    rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
    size = np.maximum(np.bincount(rows, np.abs(values), minlength=len(start) - 1), TINY)
    names: list[str] = []
    for k, body in enumerate(bodies):
        ranked = max((rank[k] for rank in every), key=lambda pair: len(pair[0]))
        chosen = np.flatnonzero(np.isin(columns, ranked[0]))
        terms = values[chosen, None] * ranked[1][np.searchsorted(ranked[0], columns[chosen])]
        touched, at = np.unique(rows[chosen], return_inverse=True)
        shares = np.zeros((len(touched), 6))
        np.add.at(shares, at, terms / size[rows[chosen], None])
        every_share = np.concatenate(comm.allgather(shares))
        if not ranked[0].size:
            continue
        if len(every_share) < 6 or np.linalg.svd(every_share, compute_uv=False)[-1] < ROUND_OFF:
            names.append(system.name(body))
    return names


def _motions(system: DiscreteSystem, body: RigidBody) -> tuple[Array, Array]:
    """Return sorted columns of the body's free coordinates and its six motions there.

    On the rank that owns the body, elsewhere nothing.
    """
    numbering = system.numbering
    local = system.binding(body).local_vertices(system)
    if not len(local) or local[0] >= numbering.owned_vertices:
        return np.zeros(0), np.zeros((0, 6))
    at = (body._offsets(system, local)[0][:, None] + np.arange(3)).ravel()
    about = (system.reference + system.state)[at[:3]]
    modes = rigid_modes(system, system.state, about)[:, at].T
    modes[:, 3:] /= body.length
    free = np.flatnonzero(numbering.fixed_by[at] < 0)
    columns = numbering.columns_of_free[np.searchsorted(numbering.free, at[free])]
    order = np.argsort(columns)
    return columns[order], modes[free[order]]

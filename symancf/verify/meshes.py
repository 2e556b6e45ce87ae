# SPDX-License-Identifier: BSD-3-Clause
"""Boxes with cells of any shape, for patch tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def distorted(lengths: Sequence[float], amount: float) -> Callable[[Array], Array]:
    """Return a map of a box to itself that moves every node but the corners.

    Nodes of a face stay in its plane, so that volume and area are those of the box; `amount`
    is relative to the lengths.
    """
    sizes = np.array([*lengths, *([1.0] * (3 - len(lengths)))])
    phases = np.array([[0.3, 1.1, 2.3], [1.7, 0.5, 0.9], [0.8, 2.1, 0.2]])

    def move(X: Array) -> Array:
        s = X / sizes
        moved = X.copy()
        for a in range(len(lengths)):
            others = sum(np.sin(7.0 * s[:, b] + phases[a, b]) for b in range(3))
            moved[:, a] += amount * sizes[a] * np.sin(np.pi * s[:, a]) * others / 3.0
        return moved

    return move


def zigzag(n: int, amount: float) -> Callable[[Array], Array]:
    """Return a map of the unit square with n x n cells that makes trapezoids at any n.

    Lines across each direction move to and fro by `amount` of a cell; the rim stays.
    """

    def move(X: Array) -> Array:
        i, j = np.rint(n * X[:, 0]), np.rint(n * X[:, 1])
        moved = X.copy()
        moved[:, 0] += amount / n * (-1.0) ** j * ((i > 0) & (i < n))
        moved[:, 1] += amount / n * (-1.0) ** i * ((j > 0) & (j < n))
        return moved

    return move


def box(
    lengths: Sequence[float],
    divisions: Sequence[int],
    amount: float = 0.0,
    comm: MPI.Comm = MPI.COMM_SELF,
    cell: str | None = None,
) -> Mesh:
    """Return a box, regular or distorted by `amount`."""
    warp = distorted(lengths, amount) if amount else None
    return Mesh.box(lengths, divisions, cell=cell, warp=warp, comm=comm)


def bent(
    lengths: Sequence[float], divisions: Sequence[int], radius: float
) -> tuple[Mesh, Callable[[Array], Array]]:
    """Return a line or rectangle rolled on a cylinder about the y axis, and its normals."""

    def roll(X: Array) -> Array:
        angle = X[:, 0] / radius
        moved = [radius * np.sin(angle), X[:, 1], radius * (np.cos(angle) - 1.0)]
        return np.stack(moved, axis=1)

    def normal(X: Array) -> Array:
        across = np.stack([X[:, 0], 0.0 * X[:, 0], X[:, 2] + radius], axis=1)
        return np.asarray(across / radius)

    return Mesh.box(lengths, divisions, warp=roll, comm=MPI.COMM_SELF), normal

# SPDX-License-Identifier: BSD-3-Clause
"""Find the cells that hold given points, on a mesh still in slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .mesh import Region

Array = npt.NDArray[np.float64]

# corners of the unit line, square and cube in meshio's order
_CORNERS = {
    "line": np.array([[0.0], [1.0]]),
    "quad": np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    "hexahedron": np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
        dtype=float,
    ),
}


@dataclass(frozen=True)
class Found:
    """Result of `locate`, the same on every rank.

    `vertices` (K, nv) global point ids of the cell, `unit` (K, dim) coordinates in the unit
    cell, `distance` (K,) from the cell's nearest point, `size` (K,) diameter of the cell.
    """

    vertices: npt.NDArray[np.int64]
    unit: Array
    distance: Array
    size: Array


def to_domain(cell: str, unit: Array) -> Array:
    """Map unit-cell coordinates to an element's parameter domain ([-1, 1] for hexahedra)."""
    return 2.0 * unit - 1.0 if cell == "hexahedron" else unit


def corner_functions(cell: str, s: Array) -> tuple[Array, Array]:
    """Return the multilinear functions (k, nv) and derivatives (k, nv, dim) at s (k, dim)."""
    corners = _CORNERS[cell]
    factors = np.where(corners[None] > 0, s[:, None, :], 1.0 - s[:, None, :])
    signs = 2.0 * corners - 1.0
    dim = corners.shape[1]
    value = factors.prod(axis=2)
    derivative = np.stack(
        [signs[:, d] * np.delete(factors, d, axis=2).prod(axis=2) for d in range(dim)], axis=2
    )
    return value, derivative


def invert(cell: str, X: Array, target: Array, steps: int = 25) -> tuple[Array, Array]:
    """Return unit coordinates (k, dim), clamped to the cell, and the distances left (k,).

    Gauss-Newton on |sum N_i(s) X_i - target|^2; X (k, nv, 3), target (k, 3).
    """
    dim = _CORNERS[cell].shape[1]
    s = np.full((len(X), dim), 0.5)
    for _ in range(steps):
        value, derivative = corner_functions(cell, s)
        gap = np.einsum("kv,kva->ka", value, X) - target
        A = np.einsum("kvd,kva->kad", derivative, X)
        normal = np.einsum("kad,kae->kde", A, A)
        step = np.linalg.solve(normal, np.einsum("kad,ka->kd", A, gap)[..., None])[..., 0]
        moved = np.clip(s - np.clip(step, -1.0, 1.0), 0.0, 1.0)
        change = np.abs(moved - s).max(initial=0.0)
        s = moved
        if change < 1e-15:
            break
    value, _ = corner_functions(cell, s)
    return s, np.linalg.norm(np.einsum("kv,kva->ka", value, X) - target, axis=1)


def locate(region: Region, points: Array) -> Found:
    """Return for each point the nearest cell of `region` (collective).

    Points within 1e-9 of a corner, relative to the cell, are put there exactly.
    """
    from scipy.spatial import cKDTree  # half a second to import

    comm = region.mesh.comm
    cell = region.types[0]
    _, connectivity = region.slice(cell)
    X = region.mesh.fetch_points(connectivity)
    k, nv, dim = len(points), len(_CORNERS[cell]), _CORNERS[cell].shape[1]
    best = np.full(k, np.inf)
    unit = np.zeros((k, dim))
    vertices = np.zeros((k, nv), dtype=np.int64)
    size = np.zeros(k)
    if len(X) and k:
        near = min(12, len(X))
        _, candidates = cKDTree(X.mean(axis=1)).query(points, k=near)
        candidates = np.asarray(candidates).reshape(k, near)
        for column in candidates.T:
            s, distance = invert(cell, X[column], points)
            better = distance < best - 1e-12 * np.where(np.isfinite(best), best, 1.0)
            best = np.where(better, distance, best)
            unit[better], vertices[better] = s[better], connectivity[column][better]
            spread = np.linalg.norm(np.ptp(X[column], axis=1), axis=1)
            size[better] = spread[better]
    if comm.size > 1:
        results: list[Any] = comm.allgather((best, unit, vertices, size))
        winner = np.argmin(np.stack([r[0] for r in results]), axis=0)
        pick = np.arange(k)
        best = np.stack([r[0] for r in results])[winner, pick]
        unit = np.stack([r[1] for r in results])[winner, pick]
        vertices = np.stack([r[2] for r in results])[winner, pick]
        size = np.stack([r[3] for r in results])[winner, pick]
    rounded = np.round(unit)
    unit = np.where(np.abs(unit - rounded) < 1e-9, rounded, unit)
    return Found(vertices, unit, best, size)

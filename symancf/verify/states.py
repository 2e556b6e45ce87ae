# SPDX-License-Identifier: BSD-3-Clause
"""Given motions as states of a system, and what its residual says there (on one rank)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints

if TYPE_CHECKING:
    from ..system import System

Motion = Callable[[Array], Array]


def affine(F: npt.ArrayLike, c: npt.ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Motion, Motion]:
    """Return position and deformation gradient of x = F X + c as functions of X (n, 3)."""
    F, c = np.asarray(F, dtype=float), np.asarray(c, dtype=float)
    return (lambda X: X @ F.T + c), (lambda X: np.broadcast_to(F, (len(X), 3, 3)))


def slopes(system: System) -> list[tuple[Ints, Array, Array]]:
    """Return per block of slopes: offsets (n, s), reference slopes (n, s, 3), points (n, 3)."""
    rows = []
    for number, block in enumerate(system._discrete.numbering.blocks):
        if block.kind != "direction":
            continue
        start = system._discrete.numbering.offset[:, number]
        vertices = np.flatnonzero(start >= 0)
        offsets = start[vertices][:, None] + 3 * np.arange(block.size // 3)
        basis = system.reference[offsets[..., None] + np.arange(3)]
        rows.append((offsets.astype(np.int64), basis, system._discrete.points[vertices]))
    return rows


def positions(system: System) -> tuple[Ints, Array]:
    """Return the offsets (n,) and the points (n, 3) of all nodes."""
    start = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    vertices = np.flatnonzero(start >= 0)
    return start[vertices].astype(np.int64), system._discrete.points[vertices]


def moved(system: System, position: Motion, gradient: Motion) -> Array:
    """Return the local vector of displacements of a motion x(X) with gradient F(X)."""
    state = np.zeros(system._discrete.numbering.coordinates)
    at, X = positions(system)
    state[at[:, None] + np.arange(3)] = position(X) - X
    for offsets, basis, points in slopes(system):
        turned = np.einsum("nab,nsb->nsa", gradient(points), basis)
        state[offsets[..., None] + np.arange(3)] = turned - basis
    return state


def turned(system: System, state: Array, Q: Array, c: npt.ArrayLike) -> Array:
    """Return the state moved on by x -> Q x + c: slopes turn, positions turn and shift."""
    vectors = (system.reference + state).reshape(-1, 3) @ Q.T
    moved = vectors.ravel() - system.reference
    at, _ = positions(system)
    moved[at[:, None] + np.arange(3)] += np.asarray(c, dtype=float)
    return moved


def residual(system: System, state: Array) -> Array:
    """Return dW/dq of all coordinates."""
    f = np.zeros_like(state)
    system._discrete.assembler.update(system.time)
    system._discrete.assembler.residual(state, f)
    return f


def energy(system: System, state: Array) -> float:
    """Return the sum of all energies."""
    system._discrete.assembler.update(system.time)
    return float(system._discrete.assembler.energies(state)[0].sum())


def tangent(system: System, state: Array) -> Array:
    """Return the dense tangent of all coordinates, one product per column."""
    n = system._discrete.numbering.coordinates
    system._discrete.assembler.update(system.time)
    K = np.zeros((n, n))
    for column in range(n):
        unit = np.zeros(n)
        unit[column] = 1.0
        answer = np.zeros(n)
        system._discrete.assembler.product(state, unit, answer)
        K[:, column] = answer
    return K


def moment(system: System, f: Array) -> Array:
    """Return sum f (x) X over nodes and slopes: for constant stress, volume times P (3, 3)."""
    at, X = positions(system)
    total = np.einsum("ni,nj->ij", f[at[:, None] + np.arange(3)], X)
    for offsets, basis, _ in slopes(system):
        total += np.einsum("nsi,nsj->ij", f[offsets[..., None] + np.arange(3)], basis)
    return np.asarray(total)


def rotation(axis: npt.ArrayLike, degrees: float) -> Array:
    """Return the matrix of a rotation about an axis (Rodrigues)."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    angle = np.radians(degrees)
    W = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * W + (1.0 - np.cos(angle)) * W @ W)

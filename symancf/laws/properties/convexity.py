# SPDX-License-Identifier: BSD-3-Clause
r"""Rank-one convexity (strong ellipticity): the acoustic tensor is positive definite.

.. math:: a \cdot Q(N)\, a = A_{iLjM}\, a_i N_L a_j N_M > 0

for all directions N, a at all deformations of a box of principal stretches. Waves then have real
speeds, and a body does not break up into bands.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from .property import Property
from .subject import rotations
from .symmetry import ISOTROPIC

if TYPE_CHECKING:
    from .subject import LawSample

NAME = "rank-one convexity"

STRETCHES = 5  # of each axis, at which it is looked at
DIRECTIONS = 48  # over half a sphere
CLOSER = 4  # times that the search about the worst direction is narrowed


#: Halvings of the logarithms of the stretches, to where it is lost.
HALVINGS = 5


def convexity(sample: LawSample) -> Property:
    """Look for a deformation and a direction at which the acoustic tensor is not positive.

    Where no box is asked for, one at large strains is a limit of the law and no fault.
    """
    low, high = sample.stretches
    least, F, N, left_out = _worst(sample, 1.0)
    if F is None:
        return Property(NAME, "violation", "the tangent is not finite at any stretch")
    within = f"stretches {low:g} to {high:g}{left_out}"
    if least > 1e-9 * sample.scale:
        return Property(NAME, "samples", f"least eigenvalue {least:.4g}, {within}")
    witness = {"F": F, "N": N, **sample.values}
    note = f"least eigenvalue {least:.4g} of the acoustic tensor, {within}"
    if sample.box:
        return Property(NAME, "violation", note, witness)
    for n in range(1, HALVINGS + 1):
        part = 0.5**n
        if _worst(sample, part)[0] > 1e-9 * sample.scale:
            note = f"for stretches {low**part:.3g} to {high**part:.3g}; at some to {low:g} or "
            return Property(NAME, "limit", f"{note}{high:g} it is lost", witness)
    return Property(NAME, "violation", f"{note}, and it is lost near the reference", witness)


def _worst(sample: LawSample, part: float) -> tuple[float, Array | None, Array, str]:
    """Return the least eigenvalue over a part of the box, where it is, and what was left out."""
    F, N = _deformations(sample, part), _directions(DIRECTIONS)
    A = sample.energy.tangent(F).reshape(-1, 3, 3, 3, 3)
    finite = np.isfinite(A).all(axis=(1, 2, 3, 4))
    if not finite.any():
        return np.nan, None, N[0], ""
    least, at = _least(A[finite], N)
    n = N[at[1]]
    if least > 0.0:
        least, n = _closer(A[finite], N, at)
    left_out = "" if finite.all() else f", {int((~finite).sum())} states beyond the law's domain"
    return least, F[finite][at[0]], n, left_out


def least_acoustic(A: Array, F: Array, incompressible: bool = False) -> Array:
    """Return the least eigenvalue of the acoustic tensors of tangents (n, 9, 9) at F, of each.

    Of an incompressible material over motions that keep the volume, across F^-T N.
    """
    N, tangent = _directions(DIRECTIONS), A.reshape(-1, 3, 3, 3, 3)
    Q = np.einsum("niLjM,dL,dM->ndij", tangent, N, N, optimize=True)
    Q = (Q + Q.swapaxes(2, 3)) / 2.0
    if incompressible:
        n = np.einsum("nLi,dL->ndi", np.linalg.inv(F), N)
        n /= np.linalg.norm(n, axis=2, keepdims=True)
        across = np.eye(3) - n[..., :, None] * n[..., None, :]
        size = np.abs(Q).max(axis=(2, 3))[..., None, None]
        Q = across @ Q @ across + 3.0 * size * n[..., :, None] * n[..., None, :]
    result = np.full(len(F), np.nan)
    good = np.isfinite(Q).all(axis=(1, 2, 3))
    result[good] = np.linalg.eigvalsh(Q[good])[:, :, 0].min(axis=1)
    return result


def _deformations(sample: LawSample, part: float) -> Array:
    """Return stretches along the axes, and along turned ones where the law is not isotropic."""
    low, high = (part * float(x) for x in np.log(sample.stretches))
    values = np.exp(np.linspace(low, high, STRETCHES))
    rows = np.array(list(itertools.product(values, repeat=3)))
    isotropic = {*sample.called.signature.quantities} <= ISOTROPIC
    if isotropic:
        rows = np.array([row for row in rows if row[0] >= row[1] >= row[2]])
    F = rows[:, :, None] * np.eye(3)
    if isotropic:
        return F
    N = rotations(len(rows), seed=17)
    return np.concatenate([F, N @ F @ N.swapaxes(1, 2)])


def _directions(n: int) -> Array:
    """Return unit vectors (n + 3, 3), evenly over half a sphere, and the axes."""
    k = np.arange(n) + 0.5
    z, angle = k / n, np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z**2)
    spread = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    return np.concatenate([np.eye(3), spread])


def _least(A: Array, N: Array) -> tuple[float, tuple[int, int]]:
    """Return the least eigenvalue of the acoustic tensors, and where it is."""
    Q = np.einsum("niLjM,dL,dM->ndij", A, N, N, optimize=True)
    values = np.linalg.eigvalsh((Q + Q.swapaxes(2, 3)) / 2.0)[:, :, 0]
    n, d = np.unravel_index(int(values.argmin()), values.shape)
    return float(values[n, d]), (int(n), int(d))


def _closer(A: Array, N: Array, at: tuple[int, int]) -> tuple[float, Array]:
    """Narrow the search about the worst direction of the worst deformation."""
    chosen, best = A[at[0]][None], N[at[1]]
    least, generator, width = _least(chosen, best[None])[0], np.random.default_rng(19), 0.2
    for _ in range(CLOSER):
        near = best + width * generator.standard_normal((32, 3))
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        value, (_, d) = _least(chosen, near)
        if value < least:
            least, best = value, near[d]
        width /= 2.0
    return least, best

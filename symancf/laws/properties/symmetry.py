# SPDX-License-Identifier: BSD-3-Clause
r"""Material symmetry: :math:`W(FQ) = W(F)` for the rotations and reflections Q of the material."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from .property import Property
from .subject import SAMPLES, rotations

if TYPE_CHECKING:
    from .subject import LawSample

NAME = "material symmetry"

#: Quantities of which every function is isotropic.
ISOTROPIC = {"J", "I1", "I2", "lambda1", "lambda2", "lambda3", "t"}

SAME = 1e-8  # relative difference of energies that counts as none


def symmetry(sample: LawSample) -> Property:
    """Find the symmetry of a law, and compare it with the one that it declares."""
    asked, wanted = {*sample.called.signature.quantities}, sample.declaration.symmetry
    if asked <= ISOTROPIC:
        return Property(NAME, "proof", "isotropic: of invariants or principal stretches alone")
    if "X" in asked:
        return Property(NAME, "none", "the law depends on the place in the reference")
    Q = rotations(SAMPLES, seed=11)
    off, F = _difference(sample, Q)
    if off <= SAME:
        return Property(NAME, "samples", f"isotropic: {SAMPLES} rotations of the reference")
    planes = [k + 1 for k in range(3) if _difference(sample, _reflection(k))[0] <= SAME]
    axes = [k + 1 for k in range(3) if _difference(sample, _about(k))[0] <= SAME]
    what = _in_words(planes, axes)
    if wanted == "isotropic" or (wanted == "orthotropic" and len(planes) < 3):
        return Property(
            NAME,
            "violation",
            f"declared {wanted}, but W(FQ) differs from W(F) by {off:.3g} of it: {what}",
            {"F": F, **sample.values},
        )
    return Property(NAME, "samples", what)


def _in_words(planes: list[int], axes: list[int]) -> str:
    if axes:
        return f"transversely isotropic about axis {axes[0]}"
    if len(planes) == 3:
        return "orthotropic about the axes 1, 2, 3"
    if planes:
        return f"symmetric about the plane across axis {', '.join(map(str, planes))}"
    return "neither isotropic nor symmetric about the axes 1, 2, 3"


def _difference(sample: LawSample, Q: Array) -> tuple[float, Array]:
    """Return the largest relative difference of W(FQ) and W(F), and the F of it."""
    F = sample.deformations
    before, after = sample.energy.energy(F), sample.energy.energy(F @ Q)
    size = np.maximum(abs(before), sample.scale * 1e-3)
    off = np.where(np.isfinite(after - before), abs(after - before) / size, 0.0)
    worst = int(off.argmax())
    return float(off[worst]), F[worst]


def _reflection(axis: int) -> Array:
    Q = np.eye(3)
    Q[axis, axis] = -1.0
    return Q @ np.diag([-1.0, -1.0, -1.0]) if np.linalg.det(Q) < 0 else Q


def _about(axis: int) -> Array:
    """Return rotations about an axis (n, 3, 3)."""
    angle = np.random.default_rng(13).uniform(0.0, 2.0 * np.pi, SAMPLES)
    Q = np.zeros((SAMPLES, 3, 3))
    i, k = (axis + 1) % 3, (axis + 2) % 3
    Q[:, axis, axis] = 1.0
    Q[:, i, i] = Q[:, k, k] = np.cos(angle)
    Q[:, i, k], Q[:, k, i] = -np.sin(angle), np.sin(angle)
    return Q

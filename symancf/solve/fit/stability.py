# SPDX-License-Identifier: BSD-3-Clause
"""Where a fitted law is not stable, or not convex, within the range of its tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kinematics.naming import law_of
from ...kinematics.solid import solid
from ...laws.evaluate import evaluate_on
from ...laws.properties.convexity import least_acoustic
from ...laws.properties.solid_energy import SolidEnergy
from .response import VOLUMETRIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...arrays import Array
    from .material_test import MaterialTest
    from .response import Response

PULLS = ("uniaxial", "planar", "equibiaxial")


def not_stable(
    response: Response, tests: Sequence[MaterialTest], values: Mapping[str, float]
) -> list[str]:
    r"""Return sentences on stretches within the tests' range at which the law is not stable.

    Drucker's condition: :math:`d\tau_a\, dL_a > 0`, the second derivatives of the energy by the
    logarithmic stretches are positive definite (of a law with memory: from rest).
    """
    if response.has_memory:
        return []
    stretches, notes = _stretches(tests), []
    for kind in PULLS:
        lowest = response.curvature(kind, stretches, values)
        if (lowest <= 0.0).any():
            where = _ranges(stretches, lowest)
            notes.append(f"not stable (Drucker) in {kind} tests at stretches {where}")
    return notes


def not_convex(
    law: Any, response: Response, tests: Sequence[MaterialTest], values: Mapping[str, float]
) -> list[str]:
    r"""Return sentences on stretches within the tests' range without rank-one convexity.

    There is a direction N in which a small wave has no real speed; of an incompressible material
    waves whose motion keeps the volume.
    """
    if response.has_memory:
        return []
    called = evaluate_on(solid(), "a material test", law_of(law), None)
    parts = {
        n: w for n, w in called.parts.items() if not (response.incompressible and n == VOLUMETRIC)
    }
    numbers = {p: float(values.get(p, 1.0)) for p in response.parameters}
    energy = SolidEnergy(called, numbers, parts=parts)
    stretches, notes = _stretches(tests), []
    for kind in PULLS:
        logs = response.logarithms(kind, stretches, values)
        good = np.isfinite(logs).all(axis=1)
        if not good.any():
            continue
        F = np.exp(logs[good])[:, :, None] * np.eye(3)
        with np.errstate(all="ignore"):
            lowest = least_acoustic(energy.tangent(F), F, response.incompressible)
        if (lowest <= 0.0).any():
            where = _ranges(stretches[good], lowest)
            notes.append(f"not rank-one convex in {kind} tests at stretches {where}")
    return notes


def _stretches(tests: Sequence[MaterialTest]) -> Array:
    """Return stretches over the range of all tests."""
    every = np.concatenate([t.stretch[np.isfinite(t.stretch)] for t in tests])
    return np.asarray(np.linspace(every.min(), every.max(), 60))


def _ranges(stretches: Array, lowest: Array) -> str:
    """Return where numbers are not positive, in words."""
    bad = lowest <= 0.0
    below, above = bad & (stretches < 1.0), bad & (stretches >= 1.0)
    parts = []
    if below.any():
        parts.append(f"below {stretches[below].max():.3g}")
    if above.any():
        parts.append(f"above {stretches[above].min():.3g}")
    return " and ".join(parts)

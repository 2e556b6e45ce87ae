# SPDX-License-Identifier: BSD-3-Clause
r"""Frame indifference: :math:`W(QF) = W(F)` for all rotations Q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ...kinematics.solid import solid
from .property import Property
from .subject import ROUND_OFF, SAMPLES, rotations

if TYPE_CHECKING:
    from collections.abc import Collection

    from .subject import LawSample

NAME = "frame indifference"

#: Quantities that change where a deformed body is turned, and those of loads.
TURNING, PLACES = ("F", "H"), ("u", "r")


def asks_for_turning(quantities: Collection[str]) -> bool:
    """Whether a law asks for quantities that depend on the frame."""
    return bool({*TURNING} & {*quantities})


def indifference(sample: LawSample) -> Property:
    """Look whether a rigid rotation of the deformed body leaves the energy as it is."""
    quantities = sample.called.signature.quantities
    if {*PLACES} & {*quantities}:
        return Property(NAME, "none", "an energy of the position is that of a load")
    if not asks_for_turning(quantities):
        return Property(NAME, "proof", f"of {', '.join(quantities)}, which do not turn")
    F = sample.deformations
    Q = rotations(SAMPLES, seed=7)
    before, after = sample.energy.energy(F), sample.energy.energy(Q @ F)
    size = np.maximum(abs(before), sample.scale * 1e-3)
    off = np.where(np.isfinite(after - before), abs(after - before) / size, 0.0)
    worst = int(off.argmax())
    if off[worst] > ROUND_OFF:
        return Property(
            NAME,
            "violation",
            f"W(QF) = {after[worst]:.6g} but W(F) = {before[worst]:.6g}: write it in C, E_gl or "
            "invariants",
            {"F": F[worst], "Q": Q[worst]},
        )
    if _torque_vanishes(sample):
        return Property(NAME, "proof", "P F^T is symmetric")
    return Property(NAME, "samples", f"{SAMPLES} rotations")


def _torque_vanishes(sample: LawSample) -> bool:
    """Whether P F^T is symmetric, by expansion of its entries."""
    if {*sample.called.signature.quantities} - {*TURNING}:
        return False
    quantities = solid().quantities
    F, H = (sp.Matrix(quantities[name].value) for name in TURNING)
    W = sample.energy.W.xreplace(
        {h: f - (i == k) for i in range(3) for k in range(3) for h, f in [(H[i, k], F[i, k])]}
    )
    if sp.count_ops(W) > 400:
        return False
    T = sp.Matrix(3, 3, lambda i, k: sum(sp.diff(W, F[i, a]) * F[k, a] for a in range(3)))
    return all(sp.expand(T[i, k] - T[k, i]) == 0 for i, k in ((0, 1), (0, 2), (1, 2)))

# SPDX-License-Identifier: BSD-3-Clause
"""The three parts of the tangent of a mechanism, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..interface import Array, Configuration, discrete_system, evaluate, point_kernel
from .flexure import Flexure, unknowns_of
from .law import TANGENTS, flexure_law

if TYPE_CHECKING:
    from ..interface import Discretised


MATRIX_NAMES = ("K_I", "K_II", "K_III")


def tangent_parts(system: Discretised[Configuration]) -> dict[str, Array]:
    """Return K_I, K_II, K_III of all flexures at the present state.

    Each is (3 n, 3 n) for the n planar bodies in the order of `system.bodies`, with rows and
    columns (x, y, theta): differences of the tangents of `flexure_law` (collective).
    """
    system = discrete_system("tangent_parts", system)
    bodies = [b for b in system.bodies if not hasattr(b, "region")]
    total = {name: np.zeros((3 * len(bodies), 3 * len(bodies))) for name in MATRIX_NAMES}
    flexures = [term for term in system.terms if isinstance(term, Flexure)]
    unknowns = unknowns_of(flexures, bodies)
    kernels = {
        model: [point_kernel(flexure_law(model, tangent), system.comm) for tangent in TANGENTS]
        for model in dict.fromkeys(flexure.model for flexure in flexures)
    }
    for flexure, row in zip(flexures, unknowns, strict=True):
        q = flexure.coordinates(system)
        EI = evaluate(f"{flexure.name}: EI", flexure.EI, system.time)
        values = flexure.cell | {"EI": EI}
        tangents = (kernel.tangent(q[None], None, values)[1] for kernel in kernels[flexure.model])
        full, first, both = tangents
        free = np.flatnonzero(row >= 0)
        for name, part in zip(MATRIX_NAMES, (first, both - first, full - both), strict=True):
            block = part.reshape(6, 6)[np.ix_(free, free)]
            np.add.at(total[name], np.ix_(row[free], row[free]), block)
    return total

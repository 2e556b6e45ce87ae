# SPDX-License-Identifier: BSD-3-Clause
"""The law of the motion of a planar body, its node at the centre of mass."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symancf_codegen import declare


@cache
def kinetic_law() -> declare.PointLaw:
    """Return m (vx^2 + vy^2) / 2 + J omega^2 / 2."""
    v = vx, vy, omega = sp.symbols("vx vy omega", real=True)
    m, J = sp.symbols("m J", real=True)
    return declare.PointLaw(
        name="planar_inertia",
        unknowns=v,
        energy=m * (vx**2 + vy**2) / 2 + J * omega**2 / 2,
        parameters=tuple(declare.Parameter(p, "cell") for p in (m, J)),
        title="m v . v / 2 + J omega^2 / 2",
    )

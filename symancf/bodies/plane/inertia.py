# SPDX-License-Identifier: BSD-3-Clause
"""The laws of the motion and of the weight of a planar body, its node at the centre of mass."""

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


@cache
def weight_law() -> declare.PointLaw:
    """Return -m g . u of the centre of mass."""
    u = sp.symbols("u1 u2 phi", real=True)
    m, g1, g2 = sp.symbols("m g1 g2", real=True)
    return declare.PointLaw(
        name="planar_weight",
        unknowns=u,
        energy=-m * (g1 * u[0] + g2 * u[1]),
        parameters=(declare.Parameter(g1), declare.Parameter(g2), declare.Parameter(m, "cell")),
        title="-m g . u",
    )

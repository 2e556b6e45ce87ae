# SPDX-License-Identifier: BSD-3-Clause
r"""Forces of inertia in a frame that turns at a constant rate, from the kinetic energy at rest.

With :math:`T(v) = \tfrac12 v^T M v` and the velocity :math:`d(q) = A q + b` of the coordinates q
that turn with the frame, Lagrange's equations of :math:`T(\dot q + d(q))` are

.. math:: M \ddot q + (M A - A^T M)\,\dot q - A^T M d(q) = Q ;

the last term has the potential -T(d(q)), the one in the middle are Coriolis's forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import RATE_FACTOR, KernelParameter, PointLaw, reference, unknown
from symancf_codegen.functions import rate

from ..kinematics.quantity import cross, real, vector
from .body import Laws, inertia_laws

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..elements.element import Element
    from ..values.parameter import Value
    from .layers import Layers

OMEGA = ("omega1", "omega2", "omega3")  # angular velocity [rad/s]
ABOUT = ("about1", "about2", "about3")  # a point of the axis [m]


def turned(arm: sp.Matrix) -> sp.Matrix:
    """Return omega x arm."""
    return cross(sp.Matrix([real(name) for name in OMEGA]), arm)


def from_axis(place: sp.Matrix) -> sp.Matrix:
    """Return a place seen from the point of the axis."""
    return place - sp.Matrix([real(name) for name in ABOUT])


@lru_cache(maxsize=64)
def _pair(
    name: str, kinetic: PointLaw, velocity: tuple[tuple[sp.Symbol, sp.Expr], ...], own: bool
) -> tuple[PointLaw, PointLaw]:
    d = dict(velocity)
    T, q = kinetic.energy, kinetic.unknowns
    assert T is not None
    v = [real(f"rate_{s.name}") for s in q]
    A = sp.Matrix([d[s] for s in q]).jacobian(list(q))
    momentum = [sp.diff(T, s) for s in q]
    moved, still = dict(zip(q, A * sp.Matrix(v), strict=True)), dict(zip(q, v, strict=True))
    first = sp.Matrix([p.xreplace(moved) for p in momentum])
    second = A.T * sp.Matrix([p.xreplace(still) for p in momentum])
    force = {s: f for s, f in zip(q, first - second, strict=True) if f != 0}
    energy = -T.xreplace(d)
    by_symbol = {p.symbol: p for p in kinetic.parameters}

    def parameters(*expressions: sp.Expr) -> tuple[KernelParameter, ...]:
        used = set().union(*(e.free_symbols for e in expressions)) - {*q, *v}
        used |= kinetic.measure.free_symbols.union(*(e.free_symbols for _, e in kinetic.geometry))
        turning = [KernelParameter(real(s)) for s in (*OMEGA, *ABOUT) if real(s) in used]
        places = {s for s in used if s.name.startswith("place")}
        cells = [KernelParameter(s, "cell") for s in sorted(places, key=str)]
        return (*turning, *cells, *(by_symbol[s] for s in by_symbol if s in used))

    centrifugal = replace(
        kinetic,
        name=f"centrifugal_{name}",
        energy=energy,
        parameters=parameters(energy),
        title="W = -T(omega x r)",
    )
    coriolis = replace(
        kinetic,
        name=f"coriolis_{name}",
        energy=None,
        work=force,
        title="Coriolis's forces, (M A - A^T M) v",
    )
    if own:  # rates are unknowns of a law of points, and on cells follow from the jets
        own_parameters = parameters(*force.values())
        return centrifugal, replace(coriolis, unknowns=(*q, *v), parameters=own_parameters)
    lets = tuple((a, rate(s)) for a, s in zip(v, q, strict=True))
    own_parameters = (KernelParameter(real(RATE_FACTOR)), *parameters(*force.values()))
    return centrifugal, replace(
        coriolis, lets=(*kinetic.lets, *lets), rates=True, parameters=own_parameters
    )


def turning_laws(
    element: Element,
    *,
    values: Mapping[str, Value] | None = None,
    fields: Collection[str] = (),
    layers: Layers | None = None,
) -> tuple[Laws, Laws]:
    """Return the centrifugal potential and the Coriolis forces of a body of cells.

    Parameters as in `inertia_laws`, and `OMEGA`, `ABOUT`; integrated like the mass.
    """
    potentials: Laws = []
    forces: Laws = []
    for kinetic, rule in inertia_laws(element, values=values, fields=fields, layers=layers):
        velocity: list[tuple[sp.Symbol, sp.Expr]] = []
        for jet in kinetic.jets:
            u, X = vector(unknown(jet)), vector(reference(jet))
            arm = from_axis(X + u) if jet == "value" else X + u
            velocity += zip(u, turned(arm), strict=True)
        name = kinetic.name.removeprefix("inertia_")
        potential, force = _pair(name, kinetic, tuple(velocity), False)
        potentials.append((potential, rule))
        forces.append((force, rule))
    return potentials, forces


def rigid_turning_laws(kinetic: PointLaw) -> tuple[PointLaw, PointLaw]:
    """Return the same of the kinetic energy T(v, w1, w2, w3) of a point and axes, or T(v).

    Places in the reference are the parameters ``place1``, ..., ``place12`` or ``place3``.
    """
    q = kinetic.unknowns
    velocity: list[tuple[sp.Symbol, sp.Expr]] = []
    for k in range(0, len(q), 3):
        X = sp.Matrix([real(f"place{k + a + 1}") for a in range(3)])
        x = vector(q[k : k + 3]) + X
        velocity += zip(q[k : k + 3], turned(x if k else from_axis(x)), strict=True)
    return _pair("rigid", kinetic, tuple(velocity), True)


def planar_turning_laws(kinetic: PointLaw) -> tuple[PointLaw, PointLaw]:
    """Return the same in the plane, T(vx, vy) or T(vx, vy, omega), in a frame turning about z."""
    x, y, *angle = kinetic.unknowns
    at = sp.Matrix([x + real("place1"), y + real("place2"), 0])
    rates = turned(from_axis(at)).xreplace({real("omega1"): 0, real("omega2"): 0})
    velocity = ((x, rates[0]), (y, rates[1]), *((phi, real("omega3")) for phi in angle))
    return _pair("planar", kinetic, velocity, True)

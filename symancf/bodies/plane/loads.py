# SPDX-License-Identifier: BSD-3-Clause
"""Dead forces and moments on planar bodies, perhaps times an unknown factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ParameterError
from ...terms.work import Potential, VirtualWork
from ...values.arguments import named
from ...values.parameter import Vector, call, label
from .body import PlanarBody, PlanarPoint

if TYPE_CHECKING:
    from ...terms.quantities import E, S, V
    from .factor import Factor


def planar_force(
    place: PlanarBody | PlanarPoint, vector: Vector, name: str | None, factor: Factor | None = None
) -> Potential | VirtualWork:
    """Return a force fixed in space [N] on a point of a planar body: the energy -F . u."""
    place = place.origin if isinstance(place, PlanarBody) else place
    name = named(name, f"force on {place}")
    F1, F2 = _two(name, vector)
    if factor is None:
        return Potential(_planar_force, place, name=name, F1=F1, F2=F2)
    return VirtualWork(_planar_force_factor, place, factor, name=name, F1=F1, F2=F2)


def planar_moment(
    body: PlanarBody | PlanarPoint, moment: Any, name: str | None, factor: Factor | None = None
) -> Potential | VirtualWork:
    """Return a moment [N m] on a planar body, counter-clockwise: the energy -m phi."""
    place = body.origin if isinstance(body, PlanarBody) else body
    name = named(name, f"moment on {place.body.name!r}")
    if not callable(moment) and np.ndim(moment) == 1:
        given = list(moment)
        if len(given) != 3 or given[0] or given[1]:
            raise ParameterError(
                f"{name}: {moment!r}: a moment in the plane is one number, or (0, 0, m)"
            )
        moment = given[2]
    if factor is None:
        return Potential(_planar_moment, place, name=name, m=moment)
    return VirtualWork(_planar_moment_factor, place, factor, name=name, m=moment)


def _planar_force(u_a: V, *, F1: S, F2: S) -> E:
    return -F1 * u_a[0] - F2 * u_a[1]


def _planar_force_factor(v_a: V, factor_b: S, *, F1: S, F2: S) -> list[tuple[E, E]]:
    return [(v_a[0], factor_b * F1), (v_a[1], factor_b * F2)]


def _planar_moment(phi_a: S, *, m: S) -> E:
    return -m * phi_a


def _planar_moment_factor(omega_a: S, factor_b: S, *, m: S) -> dict[S, E]:
    return {omega_a: factor_b * m}


def _two(name: str, vector: Any) -> list[Any]:
    """Return the two components of a force in the plane, numbers or functions of time."""
    if callable(vector):

        def component(t: float, a: int) -> Any:
            return _two(name, call(name, vector, t))[a]

        return [lambda t: component(t, 0), lambda t: component(t, 1)]
    try:
        parts = list(vector)
    except TypeError as error:
        raise ParameterError(f"{name} is {label(vector)}: give two components (Fx, Fy)") from error
    if len(parts) == 3 and np.isscalar(parts[2]) and not parts[2]:
        parts = parts[:2]
    if len(parts) != 2:
        raise ParameterError(f"{name} has {len(parts)} components: give two, (Fx, Fy)")
    return parts

# SPDX-License-Identifier: BSD-3-Clause
"""Dead forces and moments on planar bodies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen import declare

from .. import jit
from ..errors import ParameterError
from ..parameter import call, label
from ..terms import Entities
from .body import PlanarBody, PlanarPoint
from .factor import FACTOR, Factor

if TYPE_CHECKING:
    from ..assembly.piece import Jets, Piece
    from ..places.ends import End
    from ..system import System


class PlanarLoad:
    """A load on one place of a planar body, perhaps times an unknown factor."""

    role: Any = "potential"

    def __init__(self, place: PlanarPoint, name: str, factor: Factor | None) -> None:
        self.place, self.name, self.factor = place, name, factor

    def declare(self, system: System) -> None:
        """Announce the place, and the factor's node, before distribution."""
        ends: list[End] = [self.place]
        if self.factor is not None:
            ends.append(self.factor)
        self.entities = Entities(system, self.name, ends)

    def carriers(self, system: System) -> list[Any]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(system)
        if self.factor is None:
            return []
        return [(FACTOR, self.entities.end_vertices(1).ravel())]

    def _jets(self, system: System) -> Jets:
        wanted = [(0, "planar")]
        if self.factor is not None:
            wanted.append((1, "factor"))
        return self.entities.jets(system, wanted)

    def _piece(self, system: System, law: Any, uniform: dict[str, Any]) -> list[Piece]:
        kernel = jit.points(law, system.comm)
        role: Any = "work" if self.factor is not None else "potential"
        cell = {f"s{a + 1}": np.array([self.place.arm[a]]) for a in (0, 1)}
        return [self.entities.piece(self.name, kernel, role, uniform, cell, self._jets(system))]


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


class PlanarForce(PlanarLoad):
    """A force fixed in space [N] on a point of a planar body: -F . (u + (R(phi) - 1) s)."""

    def __init__(
        self,
        place: PlanarBody | PlanarPoint,
        vector: Any,
        name: str | None,
        factor: Factor | None = None,
    ) -> None:
        place = place.origin if isinstance(place, PlanarBody) else place
        super().__init__(place, name or f"force on {place}", factor)
        self.vector = _two(self.name, vector)

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernel and the entity on this rank."""
        uniform = {f"F{a + 1}": f for a, f in enumerate(self.vector)}
        return self._piece(system, force_law(self.factor is not None), uniform)


class PlanarMoment(PlanarLoad):
    """A moment [N m] on a planar body, counter-clockwise: -m phi."""

    def __init__(
        self,
        body: PlanarBody | PlanarPoint,
        moment: Any,
        name: str | None,
        factor: Factor | None = None,
    ) -> None:
        place = body.origin if isinstance(body, PlanarBody) else body
        super().__init__(place, name or f"moment on {place.body.name!r}", factor)
        if not callable(moment) and np.ndim(moment) == 1:
            given = list(moment)
            if len(given) != 3 or given[0] or given[1]:
                raise ParameterError(
                    f"{self.name}: {moment!r}: a moment in the plane is one number, or (0, 0, m)"
                )
            moment = given[2]
        self.moment = moment

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernel and the entity on this rank."""
        return self._piece(system, moment_law(self.factor is not None), {"m": self.moment})


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


def _law(name: str, energy: sp.Expr, parameters: Any, with_factor: bool, title: str) -> Any:
    u = _symbols("u1 u2 phi")
    used = energy.free_symbols
    declared = tuple(p for p in parameters if p.symbol in used)
    if not with_factor:
        return declare.PointLaw(
            name=name, unknowns=u, energy=energy, parameters=declared, title=title
        )
    factor, *idle = _symbols("factor idle2 idle3")
    work = {x: factor * sp.diff(energy, x) for x in u} | {s: sp.Integer(0) for s in (factor, *idle)}
    return declare.PointLaw(
        name=f"{name}_factor",
        unknowns=(*u, factor, *idle),
        work=work,
        parameters=declared,
        title=f"factor ({title})",
    )


@cache
def force_law(with_factor: bool = False) -> Any:
    """Return the energy -F . (u + (R(phi) - 1) s), or the work of factor F."""
    u1, u2, phi, F1, F2, s1, s2 = _symbols("u1 u2 phi F1 F2 s1 s2")
    versine = 2 * sp.sin(phi / 2) ** 2
    x = u1 - versine * s1 - sp.sin(phi) * s2
    y = u2 + sp.sin(phi) * s1 - versine * s2
    parameters = [declare.Parameter(F1), declare.Parameter(F2)]
    parameters += [declare.Parameter(s, "cell") for s in (s1, s2)]
    energy = -F1 * x - F2 * y
    return _law("planar_force", energy, parameters, with_factor, "-F . (u + (R(phi) - 1) s)")


@cache
def moment_law(with_factor: bool = False) -> Any:
    """Return the energy -m phi, or the work of factor m."""
    phi, m = _symbols("phi m")
    return _law("planar_moment", -m * phi, [declare.Parameter(m)], with_factor, "-m phi")

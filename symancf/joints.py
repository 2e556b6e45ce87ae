# SPDX-License-Identifier: BSD-3-Clause
"""Constraints: functions of the quantities of two ends that must vanish.

A constraint Phi(q, t) = 0 is the energy lambda . Phi with the multiplier as an unknown, so its
reaction Phi_q^T lambda and the tangent (Phi_q^T lambda)_q come from the compiler like those of
any other energy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from . import jit
from .collective import together
from .ends import End, Ground, Nodes, PointsOnBody
from .errors import ConstraintError
from .plane import Clamp, PlanarBody
from .quantities import Reading, check_ends
from .terms import Entities

if TYPE_CHECKING:
    from .assembly import Piece
    from .body import Body
    from .system import System

Array = npt.NDArray[np.float64]


class Constraint:
    """Phi(quantities of the ends; parameters) = 0 with Lagrange multipliers.

    Parameters
    ----------
    function : positional arguments ask for quantities with the end as suffix (``r_a``,
        ``u_b``, ``X_a``; ``d_a``, the director dr/dz of a full-gradient plate) or for the time
        ``t``; keyword-only arguments are parameters. It
        returns an expression, a sequence or a Matrix of expressions that must vanish.
    ends : up to three ends a, b, c (``body.at(...)``, ``body["region"]``, ``sa.ground``); the
        function is applied to every tuple of places.
    name : shown in messages; multipliers of the residual are grouped under it.
    parameters : values of the keyword-only arguments (numbers, `Parameter`, functions of time).

    Notes
    -----
    The multipliers are forces divided by ``scale`` (a typical stiffness times a length, set by
    the system), so that the equations are balanced; `reaction` returns forces.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *ends: End,
        name: str | None = None,
        **parameters: Any,
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        what = f"constraint {self.name!r}"
        self.ends = check_ends(what, ends)
        self.reading = Reading(what, function, self.ends, parameters)
        self.parameters = self.reading.parameters
        self.jets = self.reading.jets
        given = self.reading.result
        rows = list(given) if isinstance(given, sp.MatrixBase | list | tuple) else [given]
        must = "it must return an expression that vanishes, or several in a list or Matrix"
        self.phi = [self.reading.scalar(p, must) for p in rows]
        for i, p in enumerate(self.phi):
            if not p.free_symbols & set(self.reading.unknowns):
                raise ConstraintError(
                    f"{what}: its equation {i + 1}, {p} = 0, does not depend on the ends"
                )

    def law(self) -> Any:
        """Return the point law of lambda . Phi."""
        multipliers = [sp.Symbol(f"lam{i + 1}", real=True) for i in range(len(self.phi))]
        scale = sp.Symbol("scale", positive=True)
        parameters = [*self.reading.law_parameters(*self.phi), declare.Parameter(scale)]
        lets = tuple((sp.Symbol(f"phi{i + 1}", real=True), p) for i, p in enumerate(self.phi))
        energy = scale * sp.Add(*[m * s for m, (s, _) in zip(multipliers, lets, strict=True)])
        return declare.PointLaw(
            name=jit.identifier(self.name),
            unknowns=(*self.reading.unknowns, *multipliers),
            lets=lets,
            energy=energy,
            parameters=tuple(parameters),
            title="lambda . Phi, Phi = " + ", ".join(map(str, self.phi)),
        )

    def declare(self, system: System) -> None:
        """Announce entities and vertices before distribution."""
        self.entities = Entities(system, self.name, self.ends, virtual=1)
        system.announce_block(f"lambda:{self.name}", len(self.phi), "lambda")

    def carriers(self, system: System) -> list[tuple[str, npt.NDArray[np.int32]]]:
        """Blocks that this term puts on local vertices."""
        self.entities.bind(system)
        return [(f"lambda:{self.name}", self.entities.end_vertices(len(self.ends)).ravel())]

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        block = system.numbering.block(f"lambda:{self.name}")
        with together(system.comm):
            jets = self.entities.jets(system, self.jets, scalars=len(self.phi), block=block)
            cell = self.reading.cell_values(system, self.entities)
        self._coordinates = jets
        kernel = jit.points(self.law(), system.comm)
        uniform = {**self.parameters, "scale": lambda t: system.stiffness}
        return [self.entities.piece(self.name, kernel, "constraint", uniform, cell, jets)]

    def idle(self, system: System) -> npt.NDArray[Any]:
        """Return the local offsets of multipliers whose equation moves no free coordinate.

        Where supports hold both ends, an equation is fulfilled or contradicted by them; its
        multiplier would make the tangent singular.
        """
        fixed, jets = system.numbering.fixed_by, self._coordinates
        moves = (fixed[jets.coordinate] < 0) & (np.abs(jets.value) > 1e-12)  # else: round-off
        start = self._first(system)
        found = [np.zeros(0, dtype=start.dtype)]
        names = self.reading.unknowns
        for i, phi in enumerate(self.phi):
            used = np.array([s in phi.free_symbols for s in names] + [False] * len(self.phi))
            free = np.zeros(len(start), dtype=bool)
            free[jets.entity[moves & used[jets.jet]]] = True
            found.append(start[~free] + i)
        return np.concatenate(found)

    def _first(self, system: System) -> npt.NDArray[Any]:
        """Return the local offset of the first multiplier of each entity of this rank."""
        block = system.numbering.block(f"lambda:{self.name}")
        vertex = self.entities.end_vertices(len(self.ends))[:, 0]
        return np.asarray(system.numbering.offset[vertex, block])

    def multipliers(self, system: System) -> Array:
        """Return the multipliers (K, m) in force units, on every rank (collective)."""
        m = len(self.phi)
        values = np.zeros((self.entities.size, m))
        mine = self.entities.owned
        start = self._first(system)[mine]
        ids = self.entities.ids[mine]
        values[ids] = system.state[start[:, None] + np.arange(m)] * system.stiffness
        return np.asarray(system.sum(values))


def _coincide(r_a: sp.Matrix, r_b: sp.Matrix) -> sp.Matrix:
    return r_a - r_b


def _weld1(u_a: sp.Matrix, u_b: sp.Matrix, g1_a: sp.Matrix, g1_b: sp.Matrix) -> list[sp.Expr]:
    return [*(u_a - u_b), *(g1_a - g1_b)]


def _weld2(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld1(u_a, u_b, g1_a, g1_b), *(g2_a - g2_b)]


def _weld3(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
    g3_a: sp.Matrix,
    g3_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld2(u_a, u_b, g1_a, g1_b, g2_a, g2_b), *(g3_a - g3_b)]


def spherical(a: End, b: End | None = None, name: str = "spherical") -> Constraint:
    """Hold two places together: r_a - r_b = 0 (3 multipliers, forces on b)."""
    return Constraint(_coincide, a, b if b is not None else Ground(), name=name)


def tie(a: Nodes, b: Body, weld: bool | None = None, name: str = "tie") -> Constraint:
    """Tie the nodes `a` to the points of body `b` where they lie.

    The meshes need not match; nodes of `a` follow the surface of `b` (collocation), so `a`
    should have the finer mesh.

    Parameters
    ----------
    weld : also hold the slopes of `a` to the derivatives of `b` in the same directions, so that
        the line transmits moments and does not open between nodes; where the nodes match, this
        is the body in one piece. Without it the line is a hinge. Default: where both bodies
        have slopes of the same kind.

    Raises
    ------
    ConstraintError : with `weld`, where a slope of `a` leaves the tangent plane of `b`.
    """
    element = a.body.element
    same = element.slope_kind == b.element.slope_kind and len(element.slopes) > 0
    have = same and len(element.slopes) == len(b.element.slopes)
    if weld and not element.slopes:
        raise ConstraintError(
            f"{name}: weld=True needs slopes, which the nodes of {element.name} "
            f"(body {a.body.name!r}) do not have"
        )
    function: Callable[..., Any] = _coincide
    if have if weld is None else weld:
        function = (_weld1, _weld2, _weld3)[len(element.slopes) - 1]
    return Constraint(function, a, PointsOnBody(b, a), name=name)


def distance(a: End, b: End, length: Any, name: str = "distance") -> Constraint:
    """Keep two places at a distance: (r_a - r_b).(r_a - r_b) - L^2 = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, L: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return gap.dot(gap) - L**2

    return Constraint(phi, a, b, name=name, L=length)


def on_sphere(a: End, centre: npt.ArrayLike, radius: Any, name: str = "on_sphere") -> Constraint:
    """Keep a place on a sphere: ((r - c).(r - c) - R^2) / (2 R) = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, R: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return (gap.dot(gap) - R**2) / (2 * R)

    return Constraint(phi, a, Ground(centre), name=name, R=radius)


def clamp(a: PointsOnBody, b: PlanarBody | Ground, name: str | None = None) -> Clamp:
    """Clamp the end of a cable in the plane, ``cable.at(X)``, to a planar body or the ground."""
    return Clamp(a, b, name)

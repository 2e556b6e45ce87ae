# SPDX-License-Identifier: BSD-3-Clause
"""Constraints: functions of the quantities of two ends that must vanish.

A constraint Phi(q, t) = 0 is the energy lambda . Phi with the multiplier as an unknown, so its
reaction Phi_q^T lambda and the tangent (Phi_q^T lambda)_q come from the compiler like those of
any other energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare
from symancf_codegen.functions import NUMPY

from ..assembly.numbering import multipliers
from ..errors import ConstraintError
from ..places.ends import Ground
from ..places.lines import Line
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.shared import Shared
from ..values import arguments
from ..values.arguments import named
from ..values.arrays import Array, Ints32
from ..values.parameter import evaluate
from .entities import Entities
from .quantities import TIME, Reading, check_ends, symbols_of
from .substitution import Substitution

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.numbering import Block
    from ..assembly.piece import Piece
    from ..places.ends import End


@dataclass(frozen=True)
class Reaction:
    """Forces and moments that a constraint exerts on one of its ends.

    Attributes
    ----------
    points : (K, 3) present places of end a, about which the moments are [m].
    forces, moments : (K, 3) [N], [N m].
    """

    points: Array
    forces: Array
    moments: Array

    @property
    def force(self) -> Array:
        """The total force (3,) [N]."""
        return np.asarray(self.forces.sum(axis=0))

    @property
    def moment(self) -> Array:
        """The total moment (3,) about the mean of `points` [N m]."""
        return self.moment_about(self.points.mean(axis=0))

    def moment_about(self, point: npt.ArrayLike) -> Array:
        """Return the total moment (3,) about a point [N m]."""
        arms = self.points - np.asarray(point, dtype=float)
        return np.asarray((self.moments + np.cross(arms, self.forces)).sum(axis=0))


class Equations:
    """The equations of a constraint, and what follows from them: shared by all that are alike.

    Attributes
    ----------
    substitution : of the jets that they ask for.
    moving, still : equations that move something, and those that planar ends leave constant.
    law : the point law of lambda . Phi.
    depends : (moving, unknowns of the law) whether an equation does on the change of a jet.

    Raises
    ------
    ConstraintError : an equation is no expression or does not depend on the ends.
    """

    def __init__(self, reading: Reading, name: str, rows: list[Any], line: bool) -> None:
        must = "it must return an expression that vanishes, or several in a list or Matrix"
        phi = [reading.scalar(p, must) for p in rows]
        self.substitution = Substitution.of(reading.ends, reading.jets)
        for i, p in enumerate(phi):
            if not p.free_symbols & set(reading.unknowns):
                raise ConstraintError(
                    f"{reading.what}: its equation {i + 1}, {p} = 0, does not depend on the ends"
                )
        self.moving, self.still = self._in_plane(reading, phi)
        self.law = self._law(reading, name, line)
        found = [self.substitution.depend(p) for p in self.moving]
        self.depends = np.array([[s in f for s in self.law.unknowns] for f in found])
        self._unknowns = reading.unknowns
        self._functions: dict[sp.Expr, Callable[..., Any]] = {}

    def _in_plane(
        self, reading: Reading, given: list[sp.Expr]
    ) -> tuple[list[sp.Expr], list[sp.Expr]]:
        """Return the equations that move something, and those that planar ends leave constant.

        Raises
        ------
        ConstraintError : an equation of the latter kind cannot hold at all times, or none is left.
        """
        phi = [self.substitution.known(p) for p in given]
        if not any(end.curved for end in reading.ends):
            return phi, []
        moving = [p for p in phi if self.substitution.depend(p)]
        still = [p for p in phi if not self.substitution.depend(p)]
        fixed = set(reading.references)
        for p in still:
            if not moving or p.free_symbols - fixed or (p.is_number and p != 0):
                raise ConstraintError(
                    f"{reading.what}: its equation {p} = 0 does not depend on the ends, which "
                    "stay in the plane"
                )
        return moving, [p for p in still if p != 0]

    def _law(self, reading: Reading, name: str, line: bool) -> Any:
        multipliers = [sp.Symbol(f"lam{i + 1}", real=True) for i in range(len(self.moving))]
        scale = sp.Symbol("scale", positive=True)
        between = self.substitution.lets
        expressions = [*self.moving, *(e for _, e in between)]
        parameters = [*reading.law_parameters(*expressions), declare.Parameter(scale)]
        lets = tuple((sp.Symbol(f"phi{i + 1}", real=True), p) for i, p in enumerate(self.moving))
        energy = scale * sp.Add(*[m * s for m, (s, _) in zip(multipliers, lets, strict=True)])
        if line:
            weight = sp.Symbol("weight", positive=True)
            energy *= weight
            parameters.append(declare.Parameter(weight, "cell"))
        return declare.PointLaw(
            name=name,
            unknowns=(*self.substitution.unknowns, *multipliers),
            lets=(*between, *lets),
            energy=energy,
            parameters=tuple(parameters),
            title="lambda . Phi, Phi = " + ", ".join(map(str, self.moving)),
        )

    def values(self, still: sp.Expr) -> Callable[..., Any]:
        """Return one of the constant equations as a function of its symbols, sorted."""
        if still not in self._functions:
            symbols = sorted(still.free_symbols, key=str)
            self._functions[still] = sp.lambdify(symbols, still, NUMPY)
        return self._functions[still]

    @cached_property
    def gradient(self) -> tuple[list[sp.Symbol], Callable[..., Any]]:
        """Arguments and function of d(lambda . Phi)/d(changes of the jets)."""
        multipliers = [sp.Symbol(f"lam{i + 1}", real=True) for i in range(len(self.moving))]
        work = sp.Add(*[lam * p for lam, p in zip(multipliers, self.moving, strict=True)])
        forces = [sp.diff(work, s) for s in self._unknowns]
        used = sorted(set().union(*(f.free_symbols for f in forces)), key=str)
        return used, sp.lambdify(used, forces, NUMPY)


_FORMS: Shared[Equations] = Shared()


class Constraint:
    """Phi(quantities of the ends; parameters) = 0 with Lagrange multipliers.

    Parameters
    ----------
    function : positional arguments ask for quantities with the end as suffix (``r_a``,
        ``u_b``, ``X_a``; ``e1_a``, ``e2_a``, ``e3_a``, the present axes of the end, ``E1_a``,
        ... those of the reference; ``d_a``, the director dr/dz of a full-gradient plate) or for
        the time ``t``; keyword-only arguments are parameters. It
        returns an expression, a sequence or a Matrix of expressions that must vanish.
    ends : up to three ends a, b, c (``body.at(...)``, ``body["region"]``, ``sa.ground``); the
        function is applied to every tuple of places.
        Where an end is a `Line`, the places of each of its groups share one equation, the
        integral of phi over the reference length, and one multiplier.
    name : shown in messages; multipliers of the residual are grouped under it.
    parameters : values of the keyword-only arguments: numbers, `Parameter`, functions of time,
        or arrays of one number per place.

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
        function = arguments.function("the function of a constraint", function)
        self.name = named(name, str(getattr(function, "__name__", "constraint")))
        what = f"constraint {self.name!r}"
        self.ends = check_ends(what, ends)
        if all(isinstance(end, Ground) for end in self.ends):
            raise ConstraintError(
                f"{what} holds the ground to the ground: one end must be a body's"
            )
        lines = [k for k, end in enumerate(self.ends) if isinstance(end, Line)]
        if len(lines) > 1:
            raise ConstraintError(f"{what} has {len(lines)} lines as ends: give one")
        self._line = lines[0] if lines else None
        self.reading = Reading(what, function, self.ends, parameters)
        self.parameters = self.reading.parameters
        self.jets = self.reading.jets
        given = self.reading.result
        rows = list(given) if isinstance(given, sp.MatrixBase | list | tuple) else [given]
        key = (self._law_name, self._line is None, *self.reading.structure(rows))
        self.equations = _FORMS.get(
            key, lambda: Equations(self.reading, self._law_name, rows, bool(lines))
        )
        self.phi, self.still = self.equations.moving, self.equations.still
        self.substitution = self.equations.substitution

    @property
    def block(self) -> Block:
        """The block of the multipliers."""
        return multipliers(len(self.phi))

    @property
    def _law_name(self) -> str:
        return jit.identifier(getattr(self.function, "__name__", "constraint"))

    def _require_still(self, system: Configuration, cell: dict[str, Array]) -> None:
        """Raise where an equation across the plane does not hold."""
        size = system.extent
        for p in self.still:
            value = self.equations.values(p)
            wrong = value(*(cell[str(s)] for s in sorted(p.free_symbols, key=str)))
            if np.abs(wrong).max(initial=0.0) > 1e-9 * size:
                raise ConstraintError(
                    f"constraint {self.name!r} cannot hold: its ends are {np.abs(wrong).max():.3g} "
                    "apart across the plane in which they stay",
                    names=[self.name],
                )

    def declare(self, layout: Layout) -> None:
        """Announce entities and vertices before distribution."""
        self.entities = Entities(layout, self.name, self.ends, self.block)
        self.reading.require_places(self.entities.size)

    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this term puts on local vertices."""
        self.entities.bind(system)
        return self.entities.carriers()

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        with together(system.comm):
            wanted = self.substitution.jets
            jets = self.entities.jets(system, wanted, scalars=len(self.phi))
            cell = self.reading.cell_values(system, self.entities)
            cell |= self.substitution.cell_values(self.entities)
            self._require_still(system, cell)
            cell |= self._weights(system)
        self._coordinates, self._references = jets, cell
        law = self.equations.law
        kernel = jit.points(law, system.comm)
        uniform = {**self.parameters, "scale": lambda t: system.stiffness}
        m = len(self.phi)
        return [self.entities.piece(self.name, kernel, "constraint", uniform, cell, jets, law, m)]

    def _weights(self, system: Configuration) -> dict[str, Array]:
        """Return the reference length that each of this rank's places on a line stands for."""
        if self._line is None:
            return {}
        line, entities = self.ends[self._line], self.entities
        assert isinstance(line, Line)
        vertices = entities.end_vertices(self._line)
        return {"weight": line.measure(system, entities.here[self._line], vertices)}

    def idle(self, system: Configuration) -> npt.NDArray[Any]:
        """Return the local offsets of multipliers whose equation moves no free coordinate.

        Where supports hold both ends, an equation is fulfilled or contradicted by them; its
        multiplier would make the tangent singular.
        """
        fixed, jets = system.numbering.fixed_by, self._coordinates
        moves = (fixed[jets.coordinate] < 0) & (np.abs(jets.value) > 1e-12)  # else: round-off
        groups, start = self._first(system)
        found = [np.zeros(0, dtype=start.dtype)]
        for i, used in enumerate(self.equations.depends):
            free = np.zeros(self.entities.groups, dtype=bool)
            of = self.entities.ids[jets.entity[moves & used[jets.jet]]]
            free[self.entities.group[of]] = True
            found.append(start[~free[groups]] + i)
        return np.concatenate(found)

    def _first(self, system: Configuration) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the groups whose multipliers this rank owns, local offsets of the first ones.

        This rank has all places of these groups.
        """
        vertex = self.entities.end_vertices(len(self.ends))[:, 0]
        groups, place = np.unique(self.entities.group[self.entities.ids], return_index=True)
        own = vertex[place] < system.numbering.owned_vertices
        return groups[own], self.entities.starts(system)[place[own]]

    def multipliers(self, system: Configuration) -> Array:
        """Return the multipliers (K, m) in force units, on every rank (collective).

        One row for each tuple of places, or for each group of a line.
        """
        m = len(self.phi)
        values = np.zeros((self.entities.groups, m))
        groups, start = self._first(system)
        values[groups] = system.state[start[:, None] + np.arange(m)] * system.stiffness
        return np.asarray(system.sum(values))

    # ---- reactions ------------------------------------------------------------------------------
    def reaction(self, system: Configuration, end: Literal["a", "b", "c"] = "a") -> Reaction:
        """Return the forces and moments that the constraint exerts on an end (collective).

        The force is that on r of the end, -(d Phi/d r)^T lambda. The moment about r_a is the
        virtual work of a rotation of the end about r_a, over the rotation: of the force, and of
        what acts on the axes (and directors, slopes) of the end, e x (-(d Phi/d e)^T lambda).
        """
        side = "abc".index(end)
        lam = self.multipliers(system)
        n, ids = len(self.entities.ids), self.entities.ids
        group = self.entities.group[ids]
        gathered = self.substitution.gather(system, self.entities, self._coordinates)
        symbols = self.substitution.resolve(self._references | gathered)
        symbols |= {f"lam{i + 1}": lam[group, i] for i in range(len(self.phi))}
        with together(system.comm):
            for name in self.parameters:
                what = f"{name} of {self.name!r}"
                symbols[name] = evaluate(what, self.parameters[name], system.time)
        symbols[str(TIME)] = system.time
        used, function = self.equations.gradient
        rows = function(*(symbols[str(s)] for s in used))
        gradient = np.stack([np.broadcast_to(row, (n,)) for row in rows], axis=1)
        gradient = gradient * np.reshape(self._references.get("weight", 1.0), (-1, 1))
        places = np.stack([self._places(system, k) for k in (0, side)], axis=1)
        parts = np.zeros((3, self.entities.size, 3))  # place of a, force, moment
        mine = self.entities.owned
        force, moment = np.zeros((n, 3)), np.zeros((n, 3))
        for k, (number, jet) in enumerate(self.jets):
            acting = -gradient[:, 3 * k : 3 * k + 3]
            if number == side and jet == "value":
                force += acting
            elif number == side:
                moment += self._moment(symbols, (number, jet), acting)
        moment += np.cross(places[:, 1] - places[:, 0], force)
        for part, values in zip(parts, (places[:, 0], force, moment), strict=True):
            part[ids[mine]] = values[mine]
        return Reaction(*system.sum(parts))

    @staticmethod
    def _moment(symbols: dict[str, Any], jet: tuple[int, str], acting: Array) -> Array:
        """Return the moments (n, 3) of forces on the change of a vector: vector x force."""
        n = len(acting)
        if jet[1] == "angle":
            return np.stack([np.zeros(n), np.zeros(n), acting[:, 0]], axis=1)

        def values(of: Any) -> Array:
            parts = [np.broadcast_to(symbols[str(s)], (n,)) for s in symbols_of(jet, of)]
            return np.stack(parts, axis=1)

        return np.cross(values("reference") + values("change"), acting)

    def _places(self, system: Configuration, number: int) -> Array:
        """Return the present positions (n, 3) of this rank's places of an end."""
        jet = (number, "value")
        local = Substitution.of(self.ends, [jet])
        jets = self.entities.jets(system, local.jets)
        found = local.cell_values(self.entities) | local.gather(system, self.entities, jets)
        moved = local.resolve(found)
        X = self.entities.constant(jet)
        if X is None:
            X = self.entities.reference(system, jets, 3)
        u = [np.broadcast_to(moved[str(s)], (len(X),)) for s in symbols_of(jet, "change")]
        return np.asarray(X + np.stack(u, axis=1))

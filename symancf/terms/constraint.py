# SPDX-License-Identifier: BSD-3-Clause
"""Constraints: functions of the quantities of two ends that must vanish.

A constraint Phi(q, t) = 0 is the energy lambda . Phi with the multiplier as an unknown, so its
reaction Phi_q^T lambda and the tangent (Phi_q^T lambda)_q come from the compiler like those of
any other energy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import sympy as sp

from symancf_codegen import declare
from symancf_codegen.functions import rate

from ..arrays import Array, Ints, Mask
from ..assembly.configuration import Configuration, InstantResult, Layout, in_system
from ..assembly.numbering import multipliers
from ..errors import ConstraintError
from ..kinematics.memory import require_plain
from ..places.ends import Ground
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.shared import Shared
from ..values.arguments import one_of
from ..values.reader import name_of, require_dependence
from .quantities import JetOfEnd, symbols_of
from .reaction import Reaction
from .substitution import Substitution
from .term import PlaceBinding, PlaceTerm, vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..assembly.form import Jets, Role
    from ..assembly.numbering import Block
    from ..places.ends import End
    from ..values.parameter import Scalar
    from .quantities import At, E, Law, PlaceValues
    from .reading import Reading


class ConstraintEquations:
    """The equations of a constraint, and what follows from them: shared by all that are alike.

    Attributes
    ----------
    substitution : of the jets that they ask for.
    moving, still : equations that move something, and those that planar ends leave constant.
    law : the point law of lambda . Phi.
    depends : (moving, unknowns of the law) whether an equation does on the change of a jet.

    Raises
    ------
    KinematicsError : an equation is no expression or does not depend on the ends.
    """

    def __init__(self, reading: Reading, name: str, rows: list[E]) -> None:
        must = "it must return an expression that vanishes, or several in a list or Matrix"
        phi = [reading.scalar(p, must) for p in rows]
        self.substitution = Substitution.of(reading.ends, reading.jets)
        law, ends = name_of(reading.function), sorted(map(str, reading.unknowns))
        for i, p in enumerate(phi, 1):
            what = f"equation {i} of {reading.what}"
            require_dependence(what, law, p, reading.unknowns, "the ends", ends)
        self.moving, self.still = self._in_plane(reading, phi)
        self.law = self._law(reading, name)
        unknowns = [self.substitution.depend(p) for p in self.moving]
        self.depends = np.array([[s in f for s in self.law.unknowns] for f in unknowns])
        self.jets = list(reading.jets)

    def _in_plane(
        self, reading: Reading, equations: list[sp.Expr]
    ) -> tuple[list[sp.Expr], list[sp.Expr]]:
        """Return the equations that move something, and those that planar ends leave constant.

        Raises
        ------
        ConstraintError : an equation of the latter kind cannot hold at all times, or none is left.
        """
        phi = [self.substitution.insert_constants(p) for p in equations]
        if not any(end.plane for end in reading.ends):
            return phi, []
        moving = [p for p in phi if self.substitution.depend(p)]
        still = [p for p in phi if not self.substitution.depend(p)]
        fixed = set(reading.references)
        for p in still:
            if not moving or p.free_symbols - fixed or (p.is_number and p != 0):
                raise ConstraintError(
                    f"{reading.what}: its equation {p} = 0 does not depend on the ends, which "
                    "stay in the plane",
                    asked="equation",
                    given=str(p),
                )
        return moving, [p for p in still if p != 0]

    def _law(self, reading: Reading, name: str) -> declare.PointLaw:
        multipliers = [sp.Symbol(f"lam{i + 1}", real=True) for i in range(len(self.moving))]
        scale = sp.Symbol("scale", positive=True)
        between = self.substitution.lets
        expressions = [*self.moving, *(e for _, e in between)]
        parameters = [*reading.law_parameters(*expressions), declare.KernelParameter(scale)]
        lets = tuple((sp.Symbol(f"phi{i + 1}", real=True), p) for i, p in enumerate(self.moving))
        energy = scale * sp.Add(*[m * s for m, (s, _) in zip(multipliers, lets, strict=True)])
        return declare.PointLaw(
            name=name,
            unknowns=(*self.substitution.unknowns, *multipliers),
            lets=(*between, *lets),
            energy=reading.integrand(energy),
            parameters=tuple(parameters),
            called=reading.what,
            title="lambda . Phi, Phi = " + ", ".join(map(str, self.moving)),
        )

    @cached_property
    def power(self) -> jit.Values:
        """-lambda . d Phi/dt, the power of the forces of the constraint, by the rates of jets."""
        multipliers = self.law.unknowns[len(self.substitution.unknowns) :]
        power = -sp.Add(*[lam * p for lam, p in zip(multipliers, self.moving, strict=True)])
        rates = ((symbols_of(jet, "change"), symbols_of(jet, "rate")) for jet in self.jets)
        pairs = {u: v for change, of in rates for u, v in zip(change, of, strict=True)}
        return jit.Values([rate(power)], (), pairs)


_FORMS: Shared[ConstraintEquations] = Shared()


class Constraint(PlaceTerm):
    """Phi(quantities of the ends; parameters) = 0 with Lagrange multipliers.

    Parameters
    ----------
    function : positional arguments ask for quantities with the end as suffix (``r_a``,
        ``u_b``, ``X_a``; ``e1_a``, ``e2_a``, ``e3_a``, the present axes of the end, ``E1_a``,
        ... those of the reference; ``d_a``, the director dr/dz of a full-gradient plate) or for
        the time ``t``; keyword-only arguments are parameters. It
        returns an expression, a sequence or a Matrix of expressions that must vanish.
    ends : up to three ends a, b, c (``body.at(...)``, ``body["region"]``, ``sa.ground``); the
        function is applied to every tuple of places. Nodes of two regions are paired by position:
        after a translation that brings their means on each other, each with the nearest, which
        must be one for one and three times nearer than the next. Arrays of points are paired in
        their order; beside them a region has that of its nodes, ``body["region"].X``.
        Where an end is a line, the places of each of its groups share one equation, the
        integral of phi over the reference length, and one multiplier.
    name : shown in messages; multipliers of the residual are grouped under it.
    parameters : values of the keyword-only arguments: numbers, `Parameter`, functions of time,
        or arrays of one number per place.

    Notes
    -----
    The force on an end is ``-(d Phi/d r)^T lam`` with the multipliers ``lam``, which
    `multipliers` returns; so for ``r_a - r_b`` they are the force on b, and `reaction` returns that
    on a, the opposite. The unknowns are multipliers divided by ``scale`` (a typical stiffness times
    a length, set by the system), so that the equations are balanced.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.Constraint(lambda r_a, r_b: r_a - r_b, *ends, name="pin")
    constraint 'pin'
    """

    role: Role = "constraint"
    kind = "constraint"
    _vector = sp.Matrix

    def __init__(
        self,
        function: Law,
        *ends: End,
        name: str | None = None,
        **parameters: PlaceValues,
    ) -> None:
        super().__init__(function, ends, name, parameters)
        why = "only energies, sa.Potential and sa.VirtualWork may remember"
        require_plain(self.what, function, why, memory=False)
        result = self._reading.result
        rows = list(result) if isinstance(result, sp.MatrixBase | list | tuple) else [result]
        key = (self._law_name, *self._reading.structure(rows))
        self.equations = _FORMS.get(
            key, lambda: ConstraintEquations(self._reading, self._law_name, rows)
        )
        self.phi, self._still = self.equations.moving, self.equations.still
        self._substitution = self.equations.substitution

    def _require_ends(self) -> None:
        if all(isinstance(end, Ground) for end in self.ends):
            raise ConstraintError(
                f"{self.what} holds the ground to the ground: one end must be a body's",
                asked="ends",
                given=tuple(map(str, self.ends)),
            )
        lines = sum(end.line for end in self.ends)
        if lines > 1:
            raise ConstraintError(
                f"{self.what} has {lines} lines as ends: give one",
                asked="ends",
                given=lines,
                possible=(1,),
            )

    @cached_property
    def law(self) -> declare.PointLaw:
        """The point law of lambda . Phi; constraints that are alike have it in common."""
        return self.equations.law

    @property
    def _multipliers_of_place(self) -> int:
        """Number of multipliers that each tuple of places has."""
        return len(self.phi)

    @property
    def _block(self) -> Block:
        """The block of the multipliers."""
        return multipliers(len(self.phi))

    def bind(self, layout: Layout) -> ConstraintBinding:
        """Announce entities and the vertices of multipliers (collective)."""
        return ConstraintBinding(self, layout)

    @in_system
    def multipliers(self, system: Configuration) -> Array:
        """Return the multipliers (K, m) in force units, on every rank (collective).

        The force on an end is -(d Phi/d r)^T lam; see `reaction`.
        One row for each tuple of places, or for each group of a line.
        """
        m, own = len(self.phi), system.binding(self)
        values = np.zeros((own.entities.groups, m))
        groups, start = own.first(system)
        values[groups] = system.state[start[:, None] + np.arange(m)] * system.stiffness
        return system.sum(values)

    # ---- reactions ------------------------------------------------------------------------------
    @in_system
    def reaction(self, system: Configuration, end: Literal["a", "b", "c"] = "a") -> Reaction:
        """Return the forces and moments that the constraint exerts on an end (collective).

        The force is that on r of the end, -(d Phi/d r)^T lambda. The moment about r_a is the
        virtual work of a rotation of the end about r_a, over the rotation: of the force, and of
        what acts on the axes (and directors, slopes) of the end, e x (-(d Phi/d e)^T lambda).
        Moments of parts, as on slopes at the middles of edges, are given at the nearest place.
        """
        one_of(f"{self.what}: end", end, "abc"[: len(self.ends)])
        side, binding = "abc".index(end), system.binding(self)
        entities = binding.entities
        with together(system.comm):
            at = self._substitution.resolve(binding.at_places(system))
            places, own = (binding.positions(system, k) for k in (0, side))
            moved = [jet for jet in self.equations.jets if jet[0] == side]
            rates = {j: _motions(at, j, own - places) for j in moved}
            power = binding.power(system, at, rates)
        acting = np.swapaxes(power, -1, -2)  # (..., n, 6)
        parts = np.zeros((3, *acting.shape[:-2], entities.size, 3))  # place of a, force, moment
        mine = entities.owned
        for part, values in zip(parts, (places, acting[..., :3], acting[..., 3:]), strict=True):
            part[..., entities.ids[mine], :] = values[..., mine, :]
        reaction = Reaction(*system.sum(parts))
        for part in binding.parts:
            nearest = self._nearest(system, part.term)
            added = part.term.reaction(system, end).moments
            at_nearest: Any = (..., nearest, slice(None))
            np.add.at(reaction.moments, at_nearest, added)
        return reaction

    def _nearest(self, system: Configuration, part: Constraint) -> Ints:
        """Return the numbers of the places of end a that those of a part are nearest to."""
        from scipy.spatial import cKDTree  # half a second to import

        ends = self.ends[0], part.ends[0]
        own, others = (end.resolve(system.layout).everywhere(system.comm).X for end in ends)
        return np.asarray(cKDTree(own).query(others)[1])

    @in_system
    def series(self, system: Configuration) -> dict[str, Callable[[], npt.ArrayLike]]:
        """Return what a history keeps of it, on end a; see `DynamicProblem.record`."""
        return {
            "force": InstantResult(system, lambda at: self.reaction(at).force),
            "moment": InstantResult(system, lambda at: self.reaction(at).moment),
        }


class ConstraintBinding(PlaceBinding):
    """A constraint in one system."""

    term: Constraint
    parts: Sequence[ConstraintBinding] = ()

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the values of parameters, and the scale of the multipliers."""
        return self.term.parameters | {"scale": configuration.scale}

    def cell_values(self, configuration: Configuration) -> dict[str, Array]:
        """Return what the law takes at each of this rank's places, (n,) by symbol."""
        cell = super().cell_values(configuration)
        self._require_still(configuration, cell)
        return cell

    def _require_still(self, configuration: Configuration, cell: dict[str, Array]) -> None:
        """Raise where an equation across the plane does not hold."""
        for wrong in jit.Values(self.term._still)(cell) if self.term._still else ():
            if np.abs(wrong).max(initial=0.0) > 1e-9 * configuration.extent:
                raise ConstraintError(
                    f"constraint {self.name!r} cannot hold: its ends are {np.abs(wrong).max():.3g} "
                    "apart across the plane in which they stay",
                    names=[self.name],
                    asked="distance",
                    given=np.abs(wrong).max(),
                )

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose equation moves no free coordinate.

        Where supports hold both ends, an equation is fulfilled or contradicted by them; its
        multiplier would make the tangent singular.
        """
        entities, jets, count = self.entities, self.jets, len(self.term.phi)
        fixed = configuration.numbering.fixed_by
        moves = (fixed[jets.coordinate] < 0) & self.counts(configuration, jets)
        groups, start = self.first(configuration)
        row, entry = np.nonzero(self.term.equations.depends[:, jets.jet[moves]])
        group = entities.group[jets.entity[moves][entry]]
        at = np.searchsorted(groups, group)
        own = at < len(groups)
        own[own] = groups[at[own]] == group[own]
        free = np.zeros((len(groups), count), dtype=bool)
        free[at[own], row[own]] = True
        own = (start[:, None] + np.arange(count))[~free]
        return np.concatenate([own, *(part.idle(configuration) for part in self.parts)])

    def counts(self, configuration: Configuration, jets: Jets) -> Mask:
        """Return which entries of jets change an equation at rest; others are round-off."""
        return np.asarray(np.abs(jets.value) > 1e-12)

    def first(self, configuration: Configuration) -> tuple[Ints, Ints]:
        """Return the groups whose multipliers this rank owns, local offsets of the first ones.

        This rank has all places of these groups.
        """
        entities = self.entities
        vertex = entities.end_vertices(len(self.term.ends))[:, 0]
        groups, place = np.unique(entities.group, return_index=True)
        own = vertex[place] < configuration.numbering.owned_vertices
        return groups[own], entities.starts(configuration)[place[own]].astype(np.int64)

    def power(self, system: Configuration, at: At, rates: Mapping[JetOfEnd, Array]) -> Array:
        """Return the powers (..., m, n) of the constraint's forces in m motions.

        `at` are the present values (..., n) of all symbols, `rates` (..., m, n, 3) or
        (..., m, 1, 3) those of jets.
        """
        at = {name: np.asarray(x)[..., None, :] if np.ndim(x) > 1 else x for name, x in at.items()}
        still = {str(s): 0.0 for jet in self.term.equations.jets for s in symbols_of(jet, "rate")}
        moving: At = {
            str(s): rate[..., a]
            for jet, rate in rates.items()
            for a, s in enumerate(symbols_of(jet, "rate"))
        }
        power = self.term.equations.power(at | still | moving)[0]
        shapes = [rate.shape[:-1] for rate in rates.values()] or [(6, 1)]
        power = power * at.get("weight", 1.0) * system.stiffness
        count = np.zeros(len(self.entities.ids))
        return np.broadcast_arrays(power, count, *map(np.zeros, shapes))[0]


def _motions(at: At, jet: JetOfEnd, arm: Array) -> Array:
    """Return the rates (..., 6, n, 3) of a jet in translations along, rotations about the axes.

    `arm` (..., n, 3) of the place from the point that the rotations leave.
    """
    *lead, n, _ = arm.shape
    axes, rates = np.eye(3)[:, None], np.zeros((*lead, 6, n, 3))
    if jet[1] == "angle":
        rates[..., 5, :, 0] = 1.0
        return rates
    if jet[1] == "value":
        rates[..., :3, :, :] = axes
    turned = arm if jet[1] == "value" else vector_of(at, jet, n)
    rates[..., 3:, :, :] = np.cross(axes, turned[..., None, :, :])
    return rates

# SPDX-License-Identifier: BSD-3-Clause
"""Virtual work and potentials of places, as functions of the user.

A *motion* is any expression linear in the rates of its ends: a velocity, a spin, the rate of an
angle. With a force for each motion the virtual power is sum_i force_i motion_i, hence the
generalised force Q = sum_i (d motion_i / d rate)^T force_i and the residual -Q. The tangent, by
the coordinates and by their rates, is derived by the compiler; it is unsymmetric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from symancf_codegen import declare
from symancf_codegen.functions import rate

from ...arrays import Array
from ...assembly.configuration import Configuration, in_system
from ...errors import ConstraintError, KinematicsError
from ...runtime.shared import Shared
from ...values.arguments import flag
from ...values.parameter import difference, label
from ...values.reader import name_of
from ..quantities import TIME, symbols_of
from ..substitution import Substitution
from ..term import PlaceTerm

if TYPE_CHECKING:
    from ...places.ends import End
    from ..quantities import E, Law, PlaceValues, V
    from ..reading import Reading


class _Motions:
    """Motions with their forces, and what follows from them: shared by all that are alike.

    Attributes
    ----------
    rates : (end, jet) of the rates that are asked for, also by the rate of a force.
    changing : names of the parameters whose rates are asked for.

    Raises
    ------
    KinematicsError : a motion is not linear in the rates.
    """

    def __init__(
        self,
        reading: Reading,
        motions: tuple[sp.Expr, ...],
        forces: tuple[sp.Expr, ...],
        state_rates: tuple[sp.Expr, ...],
    ) -> None:
        for motion in motions:
            self._require_linear(reading, motion)
        every = sp.Tuple(*forces, *state_rates, *(e for _, e in reading.lets))
        changing = set[sp.Basic]().union(*(r.free_symbols for r in every.atoms(rate)))
        of_forces = [jet for jet in reading.jets if changing & set(symbols_of(jet, "change"))]
        used = every.free_symbols.union(*(symbols_of(jet, "rate") for jet in of_forces))
        self.rates = list(dict.fromkeys([*reading.rates, *of_forces]))
        self.changing = [name for name, s in reading.keywords.items() if s in changing]
        moved = [r for r in self.rates if r not in reading.jets]
        gathered = [r for r in self.rates if used & set(symbols_of(r, "rate"))]
        substitution = Substitution.of(reading.ends, [*reading.jets, *moved], self.rates, gathered)
        self.substitution = substitution.with_lets(reading.lets)

    @staticmethod
    def _require_linear(reading: Reading, motion: sp.Expr) -> None:
        """Raise where a motion is not linear in the rates."""
        rates = {v for jet in reading.rates for v in symbols_of(jet, "rate")}
        used = motion.free_symbols & rates
        rest = motion.xreplace(dict.fromkeys(rates, sp.S.Zero))
        slopes = [sp.diff(motion, v) for v in sorted(used, key=str)]
        wrong = any(c.free_symbols & rates and sp.simplify(c).free_symbols & rates for c in slopes)
        if not used or wrong or sp.simplify(rest) != 0:
            offered = ", ".join(map(str, reading.velocities))
            raise KinematicsError(
                f"{reading.what}: the motion {label(motion)} is not linear in the rates "
                f"{offered or '(it asks for none: v_a, w1_a, ...)'}",
                asked="motion",
                given=motion,
                possible=map(str, reading.velocities),
            )


_MOTIONS: Shared[_Motions] = Shared()


class VirtualWork(PlaceTerm):
    """Forces by their virtual power: residual -(d motion / d rate)^T force.

    Parameters
    ----------
    function : positional arguments ask for quantities with the end as suffix: position ``r_a``,
        displacement ``u_a``, reference position ``X_a``, director ``d_a``, axes ``e1_a`` ...
        (of the reference: ``E1_a`` ...), velocity ``v_a``, rates of the axes ``w1_a`` ...; for
        the time ``t`` or for an own state by its name. Keyword-only arguments are parameters.
        It returns ``{motion: force}`` (or pairs in a list): a motion is an expression, or a
        vector of expressions, linear in the rates; its force one of the same shape that may
        depend on everything. For each own state the dict has an item ``"name": rate``.
    ends : one to three (``body.at(...)``, ``body["region"]``, ``sa.ground``); the function acts
        on every tuple of places, which two regions pair as in `Constraint`.
    states : names of own states (first order in time); each tuple of places has its own.
    dissipation : the energy audit counts the power as dissipated, not as work of loads.
    parameters : values of the keyword-only arguments: numbers, `Parameter`, functions of time,
        or arrays of one number per place.

    Raises
    ------
    KinematicsError : an unknown quantity; a motion that is not linear in the rates; a force that
        is no expression; a state without a rate.
    ParameterError : an unknown or missing parameter.

    Examples
    --------
    >>> def dashpot(v_a, v_b, *, c):
    ...     return {v_a - v_b: -c * (v_a - v_b)}
    """

    kind = "virtual work"

    def __init__(
        self,
        function: Law,
        *ends: End,
        name: str | None = None,
        states: Sequence[str] = (),
        dissipation: bool = False,
        **parameters: PlaceValues,
    ) -> None:
        super().__init__(function, ends, name, parameters, rates=True, states=states)
        dissipation = flag(self.what, "dissipation", dissipation)
        self.role = "dissipation" if dissipation else "work"
        reading = self._reading
        if reading.history:
            self.role = "potential"  # with what it stores and dissipates
            if dissipation or states:
                raise ConstraintError(
                    f"{self.what} has internal variables, so it returns what it dissipates, "
                    "and they are its states: leave out dissipation= and states="
                )
        items = self._items(reading.result)
        self.state_rates = self._rates({k: v for k, v in items if isinstance(k, str)})
        self.motions: list[sp.Expr] = []
        self.forces: list[sp.Expr] = []
        for motion, force in items:
            if not isinstance(motion, str):
                self._take(motion, force)
        self.results = [*self.motions, *self.forces, *self.state_rates]
        self._require_known_speeds()
        parts = [tuple(part) for part in (self.motions, self.forces, self.state_rates)]
        remembered = [m.update for m in reading.history]
        remembered += [] if reading.stored is None else [reading.stored]
        parts[1] += tuple(remembered)
        key = reading.structure(self.results)
        self._moved = _MOTIONS.get(key, lambda: _Motions(reading, *parts))
        reading.rates, self.changing = list(self._moved.rates), self._moved.changing
        self._substitution = self._moved.substitution
        for name in self.changing:
            self.parameters[f"rate_{name}"] = difference(
                f"{name} of {self.what}", self.parameters.get(name, 0.0)
            )

    def _require_known_speeds(self) -> None:
        """Raise where a force depends on the velocity of a place that is a function of time.

        As a motion the velocity there is that of the material point, as virtual work needs it.
        """
        timed = [jet for jet in self._reading.rates if self._reading.ends[jet[0]].timed]
        rates = {s for jet in timed for s in symbols_of(jet, "rate")}
        timed_ends = any(end.timed for end in self._reading.ends)
        for force in (*self.forces, *self.state_rates):
            if force.free_symbols & rates or (timed_ends and force.atoms(rate)):
                raise KinematicsError(
                    f"{self.what}: the force {label(force)} depends on a velocity at a place that "
                    "is a function of time, and how fast that moves is not known",
                    asked="force",
                    given=force,
                )

    def _items(self, result: Any) -> list[tuple[E, E]]:
        """Return the pairs (motion, force) and (name of a state, its rate)."""
        items = list(result.items()) if isinstance(result, Mapping) else result
        pairs = isinstance(items, list | tuple) and len(items) > 0
        if not pairs or any(not isinstance(p, tuple) or len(p) != 2 for p in items):
            raise KinematicsError(
                f"{self.what} returned {label(result)}: it must return {{motion: force}}, or "
                "pairs (motion, force) in a list",
                asked=name_of(self._reading.function),
                given=result,
                possible=("{motion: force}",),
            )
        return list(items)

    def _rates(self, rates: Mapping[str, E]) -> list[E]:
        """Return the rates of the states, in their order."""
        names = ", ".join(map(repr, self.states)) or "none"
        foreign = sorted(set(rates) - set(self.states))
        if foreign:
            raise KinematicsError(
                f"{self.what} returned a rate of {foreign[0]!r}; its states are {names}: name them "
                "by states=(...)",
                asked=foreign[0],
                given=tuple(rates),
                possible=self.states,
            )
        for s in self.states:
            if s not in rates:
                raise KinematicsError(
                    f"{self.what} returned no rate of its state {s!r}: add the item "
                    f'"{s}": rate to the dict',
                    asked=s,
                    given=tuple(rates),
                    possible=self.states,
                )
        must = "the rate of a state must be an expression"
        return [self._reading.scalar(rates[s], must) for s in self.states]

    def _take(self, motion: E | V, force: E | V) -> None:
        """Add a pair of scalars or of vectors."""
        vector = isinstance(motion, sp.MatrixBase | list | tuple)
        motions = list(motion) if vector else [motion]
        many = isinstance(force, sp.MatrixBase | list | tuple)
        forces = list(force) if many else [force]
        if vector != many or len(motions) != len(forces):
            raise KinematicsError(
                f"{self.what}: the motion {label(motion)} has {len(motions)} component(s) and its "
                f"force {label(force)} has {len(forces)}",
                asked="components",
                given=(len(motions), len(forces)),
            )
        for m, f in zip(motions, forces, strict=True):
            self.motions.append(self._reading.scalar(m, "a motion must be an expression"))
            self.forces.append(self._reading.scalar(f, "a force must be an expression"))

    def _law(self) -> declare.PointLaw:
        """Return the point law: -(d motion / d rate)^T force, and rate - f for own states."""
        insert = self._substitution.insert_constants
        lets = tuple(
            (sp.Symbol(f"force{i + 1}", real=True), insert(force))
            for i, force in enumerate(self.forces)
        )
        motions = [insert(motion) for motion in self.motions]
        work = {
            self._reading.states[s]: sp.Symbol(f"rate_{s}") - insert(f)
            for s, f in zip(self.states, self.state_rates, strict=True)
        }
        everything = [*work.values(), *motions, *(force for _, force in lets)]
        return declare.PointLaw(
            name=self._law_name,
            unknowns=self._unknowns(),
            lets=(*self._substitution.lets, *lets),
            work=work,
            rate_of=self._rate_of,
            history=self._history(),
            stored=self._stored(),
            powers=tuple(zip(motions, (self._reading.integrand(s) for s, _ in lets), strict=True)),
            domain=self._domain(),
            parameters=self._parameters(*everything),
            called=self.what,
            title="-(d motion/d rate)^T force of " + self._law_name,
        )

    @property
    def _rate_of(self) -> dict[sp.Symbol, sp.Expr]:
        """The rates of jets, own states, parameters and of time, by their symbols."""
        rates: dict[sp.Symbol, sp.Expr] = dict(self._substitution.rate_of)
        rates |= {self._reading.states[s]: sp.Symbol(f"rate_{s}") for s in self.states}
        rates |= {self._reading.keywords[k]: sp.Symbol(f"rate_{k}") for k in self.changing}
        return rates | ({TIME: sp.S.One} if self._reading.uses_time else {})

    def _parameters(self, *expressions: sp.Expr) -> tuple[declare.KernelParameter, ...]:
        changing = (declare.KernelParameter(sp.Symbol(f"rate_{k}"), "cell") for k in self.changing)
        return (*super()._parameters(*expressions), *changing)

    @in_system
    def values(self, system: Configuration) -> Array:
        """Return the forces (places, pairs) at the present state, on every rank (collective)."""
        return self._values(system, self.forces)

    @in_system
    def own_states(self, system: Configuration) -> Array:
        """Return the own states (places, states), on every rank (collective)."""
        return self._values(system, [self._reading.states[s] for s in self.states])

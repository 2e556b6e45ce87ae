# SPDX-License-Identifier: BSD-3-Clause
"""Virtual work and potentials of places, as functions of the user.

A *motion* is any expression linear in the rates of its ends: a velocity, a spin, the rate of an
angle. With a force for each motion the virtual power is sum_i force_i motion_i, hence the
generalised force Q = sum_i (d motion_i / d rate)^T force_i and the residual -Q. The tangent, by
the coordinates and by their rates, is derived by the compiler; it is unsymmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from ..errors import ConstraintError
from ..parameter import label
from ..quantities import symbols_of
from ..substitution import Substitution
from .places import PlaceTerm

if TYPE_CHECKING:
    from ..places.ends import End
    from ..system import System

Array = npt.NDArray[np.float64]


class VirtualWork(PlaceTerm):
    """Forces on motions: residual -(d motion / d rate)^T force.

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
        on every tuple of places.
    states : names of own states (first order in time); each tuple of places has its own.
    dissipation : the energy audit counts the power as dissipated, not as work of loads.
    parameters : values of the keyword-only arguments: numbers, `Parameter`, functions of time,
        or arrays of one number per place.

    Raises
    ------
    ConstraintError : an unknown quantity or parameter; a motion that is not linear in the rates;
        a force that is no expression; a state without a rate.

    Examples
    --------
    >>> def dashpot(v_a, v_b, *, c):
    ...     return {v_a - v_b: -c * (v_a - v_b)}
    """

    kind = "virtual work"

    def __init__(
        self,
        function: Callable[..., Any],
        *ends: End,
        name: str | None = None,
        states: Sequence[str] = (),
        dissipation: bool = False,
        **parameters: Any,
    ) -> None:
        super().__init__(function, ends, name, parameters, rates=True, states=states)
        self.role = "dissipation" if dissipation else "work"
        reading = self.reading
        pairs, self.state_rates = self._split(reading.result)
        self.motions: list[sp.Expr] = []
        self.forces: list[sp.Expr] = []
        for motion, force in pairs:
            self._take(motion, force)
        self.coefficients = [self._coefficients(motion) for motion in self.motions]
        used = {s for f in [*self.forces, *self.state_rates] for s in f.free_symbols}
        for row in self.coefficients:
            used |= {s for c in row.values() for s in c.free_symbols}
        moved = [r for r in reading.rates if r not in reading.jets]
        rates = [r for r in reading.rates if used & set(symbols_of(r, "rate"))]
        self.substitution = Substitution(self.ends, [*reading.jets, *moved], rates)

    def _split(self, result: Any) -> tuple[list[tuple[Any, Any]], list[sp.Expr]]:
        """Return the pairs (motion, force) and the rates of the states."""
        items = list(result.items()) if isinstance(result, Mapping) else result
        pairs = isinstance(items, list | tuple) and len(items) > 0
        if not pairs or any(not isinstance(p, tuple) or len(p) != 2 for p in items):
            raise ConstraintError(
                f"{self.what} returned {label(result)}: it must return {{motion: force}}, or "
                "pairs (motion, force) in a list"
            )
        rates = {k: v for k, v in items if isinstance(k, str)}
        names = ", ".join(map(repr, self.states)) or "none"
        foreign = sorted(set(rates) - set(self.states))
        if foreign:
            raise ConstraintError(
                f"{self.what} returned a rate of {foreign[0]!r}; its states are {names}: name them "
                "by states=(...)"
            )
        for s in self.states:
            if s not in rates:
                raise ConstraintError(
                    f"{self.what} returned no rate of its state {s!r}: add the item "
                    f'"{s}": rate to the dict'
                )
        must = "the rate of a state must be an expression"
        found = [self.reading.scalar(rates[s], must) for s in self.states]
        return [(k, v) for k, v in items if not isinstance(k, str)], found

    def _take(self, motion: Any, force: Any) -> None:
        """Add a pair of scalars or of vectors."""
        vector = isinstance(motion, sp.MatrixBase | list | tuple)
        motions = list(motion) if vector else [motion]
        many = isinstance(force, sp.MatrixBase | list | tuple)
        forces = list(force) if many else [force]
        if vector != many or len(motions) != len(forces):
            raise ConstraintError(
                f"{self.what}: the motion {label(motion)} has {len(motions)} component(s) and its "
                f"force {label(force)} has {len(forces)}"
            )
        for m, f in zip(motions, forces, strict=True):
            self.motions.append(self.reading.scalar(m, "a motion must be an expression"))
            self.forces.append(self.reading.scalar(f, "a force must be an expression"))

    def _coefficients(self, motion: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
        """Return d motion / d rate by the symbol of the change of the jet."""
        rates = {
            v: u
            for jet in self.reading.rates
            for v, u in zip(symbols_of(jet, "rate"), symbols_of(jet, "change"), strict=True)
        }
        found = {}
        for v in sorted(motion.free_symbols & set(rates), key=str):
            c = sp.diff(motion, v)
            if c.free_symbols & set(rates):
                c = sp.simplify(c)
            found[v] = c
        rest = sp.simplify(motion.xreplace(dict.fromkeys(rates, sp.S.Zero))) if found else motion
        if not found or rest != 0 or any(c.free_symbols & set(rates) for c in found.values()):
            raise ConstraintError(
                f"{self.what}: the motion {label(motion)} is not linear in the rates "
                f"{', '.join(str(v) for v in rates) or '(it asks for none: v_a, w1_a, ...)'}"
            )
        return {rates[v]: c for v, c in found.items()}

    def domain(self) -> tuple[sp.Expr, ...]:
        """Return expressions of the jets that must be positive."""
        return ()

    def law(self) -> Any:
        """Return the point law: -(d motion / d rate)^T force, and rate - f for own states."""
        known = self.substitution.known
        lets = tuple(
            (sp.Symbol(f"force{i + 1}", real=True), known(force))
            for i, force in enumerate(self.forces)
        )
        work: dict[sp.Symbol, sp.Expr] = {}
        for (force, _), row in zip(lets, self.coefficients, strict=True):
            for s, c in row.items():
                work[s] = work.get(s, sp.S.Zero) - known(c) * force
        work = self.substitution.pulled_back(work)
        for s, f in zip(self.states, self.state_rates, strict=True):
            work[self.reading.states[s]] = sp.Symbol(f"rate_{s}") - known(f)
        everything = [*work.values(), *(force for _, force in lets)]
        return declare.PointLaw(
            name=self.law_name,
            unknowns=self._unknowns(),
            lets=(*self.substitution.lets, *lets),
            work=work,
            domain=self.domain(),
            parameters=self._parameters(*everything),
            title="-(d motion/d rate)^T force of " + self.law_name,
        )

    def values(self, system: System) -> Array:
        """Return the forces (places, pairs) at the present state, on every rank (collective)."""
        return self._values(system, self.forces)

    def own_states(self, system: System) -> Array:
        """Return the own states (places, states), on every rank (collective)."""
        return self._values(system, [self.reading.states[s] for s in self.states])

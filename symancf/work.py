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

from . import jit
from .collective import together
from .errors import ConstraintError, ParameterError
from .parameter import call, evaluate, label
from .quantities import JetOfEnd, Reading, check_ends, symbols_of
from .substitution import Substitution
from .terms import Entities

if TYPE_CHECKING:
    from .assembly import Jets, Piece, Role
    from .ends import End
    from .system import System

Array = npt.NDArray[np.float64]


class PlaceTerm:
    """A law at tuples of places, made of a user's function; see `VirtualWork`, `Potential`.

    A parameter given as an array has one value per place.
    """

    role: Role
    kind: str

    def __init__(
        self,
        function: Callable[..., Any],
        ends: Sequence[End],
        name: str | None,
        parameters: Mapping[str, Any],
        *,
        rates: bool,
        states: Sequence[str] = (),
    ) -> None:
        given_name = str(getattr(function, "__name__", self.kind))
        self.name: str = name or given_name
        self.law_name = jit.identifier(given_name)  # terms of one function share their kernel
        self.what = f"{self.kind} {self.name!r}"
        self.ends = check_ends(self.what, ends)
        self.states = list(states)
        self.reading = Reading(
            self.what,
            function,
            self.ends,
            parameters,
            rates=rates,
            states=states,
            vector=sp.ImmutableMatrix,
        )
        self.per_place = {
            k: np.asarray(v, dtype=float)
            for k, v in self.reading.parameters.items()
            if isinstance(v, np.ndarray | list | tuple)
        }
        given = self.reading.parameters.items()
        self.parameters = {k: v for k, v in given if k not in self.per_place}

    # ---- the law ------------------------------------------------------------------------------
    substitution: Substitution

    @property
    def jets(self) -> list[JetOfEnd]:
        """The jets that are gathered."""
        return self.substitution.jets

    @property
    def rates(self) -> list[JetOfEnd]:
        """The jets whose rates are gathered."""
        return self.substitution.rates

    def law(self) -> Any:
        """Return the point law."""
        raise NotImplementedError

    def _parameters(self, *expressions: sp.Expr) -> tuple[declare.Parameter, ...]:
        found = self.reading.law_parameters(*expressions, *(e for _, e in self.substitution.lets))
        kinds = {p.name: "cell" if p.name in self.per_place else p.kind for p in found}
        return tuple(declare.Parameter(p.symbol, kinds[p.name]) for p in found)

    # ---- as a term ----------------------------------------------------------------------------
    @property
    def block(self) -> str:
        """Name of the block of coordinates that holds the term's own states."""
        return f"state:{self.name}"

    def declare(self, system: System) -> None:
        """Announce entities and vertices before distribution."""
        self.entities = Entities(system, self.name, self.ends, virtual=1 if self.states else 0)
        for k, values in self.per_place.items():
            if values.shape != (self.entities.size,):
                raise ParameterError(
                    f"{self.what}: {k} has shape {values.shape}; it has {self.entities.size} "
                    "place(s): give one number, or one for each"
                )
        if self.states:
            system.announce_block(self.block, len(self.states), "s")

    def carriers(self, system: System) -> list[tuple[str, npt.NDArray[np.int32]]]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(system)
        if not self.states:
            return []
        return [(self.block, self.entities.end_vertices(len(self.ends)).ravel())]

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernel and entities on this rank."""
        with together(system.comm):
            self._jets = self._all_jets(system)
            self._cell = self.reading.cell_values(system, self.entities)
            self._cell |= self.substitution.cell_values(self.entities)
        self._cell |= {k: values[self.entities.ids] for k, values in self.per_place.items()}
        kernel = jit.points(self.law(), system.comm)
        piece = self.entities.piece(
            self.name, kernel, self.role, self.parameters, self._cell, self._jets
        )
        return [piece]

    def _all_jets(self, system: System) -> Jets:
        rates = ((end, jet, "rate") for end, jet in self.substitution.rates)
        wanted: list[Any] = [*self.substitution.jets, *rates]
        block = system.numbering.block(self.block) if self.states else -1
        return self.entities.jets(
            system,
            wanted,
            scalars=len(self.states),
            block=block,
            rates=bool(self.states),
        )

    def _unknowns(self) -> tuple[sp.Symbol, ...]:
        """Symbols of all jets in their order: states, rates, own states and their rates."""
        own = [*self.reading.states.values(), *(sp.Symbol(f"rate_{s}") for s in self.states)]
        return (*self.substitution.unknowns, *own)

    def _values(self, system: System, expressions: Sequence[sp.Expr]) -> Array:
        """Return expressions at the present state, (places, expressions), on every rank."""
        jets, n = self._jets, len(self.entities.ids)
        symbols = self._unknowns()
        values = np.zeros((n, len(symbols)))
        c = jets.coordinate
        given = np.where(c >= 0, system.state[np.maximum(c, 0)], system.rate[np.maximum(~c, 0)])
        np.add.at(values, (jets.entity, jets.jet), jets.value * given)
        gathered = {s.name: values[:, k] for k, s in enumerate(symbols)}
        at: dict[str, Any] = self.substitution.resolve(gathered | self._cell)
        at |= {
            k: evaluate(f"{k} of {self.name!r}", v, system.time) for k, v in self.parameters.items()
        }
        at["t"] = system.time
        names = sorted({s.name for e in expressions for s in e.free_symbols})
        function = sp.lambdify(names, [e.xreplace(_plain(e)) for e in expressions], "numpy")
        found = np.zeros((self.entities.size, len(expressions)))
        if n:
            made = call(self.what, function, *(at[name] for name in names))
            mine = self.entities.owned
            columns = [np.broadcast_to(column, (n,))[mine] for column in made]
            found[self.entities.ids[mine]] = np.stack(columns, axis=1)
        return np.asarray(system.sum(found))


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
            parameters=self._parameters(*everything),
            title="-(d motion/d rate)^T force of " + self.law_name,
        )

    def values(self, system: System) -> Array:
        """Return the forces (places, pairs) at the present state, on every rank (collective)."""
        return self._values(system, self.forces)

    def own_states(self, system: System) -> Array:
        """Return the own states (places, states), on every rank (collective)."""
        return self._values(system, [self.reading.states[s] for s in self.states])


class Potential(PlaceTerm):
    """Energy of places: a spring between two points, a field of force at one.

    Parameters
    ----------
    function : as for `VirtualWork`, without rates and states; it returns an expression, the
        energy at each tuple of places [J].
    ends, parameters : as for `VirtualWork`.

    Examples
    --------
    >>> def spring(r_a, r_b, *, k, L):
    ...     return k / 2 * ((r_a - r_b).norm() - L) ** 2
    """

    role: Role = "potential"
    kind = "potential"

    def __init__(
        self, function: Callable[..., Any], *ends: End, name: str | None = None, **parameters: Any
    ) -> None:
        super().__init__(function, ends, name, parameters, rates=False)
        self.energy = self.reading.scalar(self.reading.result, "it must return one expression")
        if not self.energy.free_symbols & set(self.reading.unknowns):
            raise ConstraintError(f"{self.what}: {self.energy} does not depend on the ends")
        self.substitution = Substitution(self.ends, self.reading.jets)

    def law(self) -> Any:
        """Return the point law of the energy."""
        return declare.PointLaw(
            name=self.law_name,
            unknowns=self._unknowns(),
            lets=tuple(self.substitution.lets),
            energy=self.substitution.known(self.energy),
            parameters=self._parameters(self.substitution.known(self.energy)),
            title=f"energy of {self.law_name}",
        )

    def values(self, system: System) -> Array:
        """Return the energies (places,) at the present state, on every rank (collective)."""
        return self._values(system, [self.energy])[:, 0]


def _plain(expression: sp.Expr) -> dict[sp.Symbol, sp.Symbol]:
    """Replace symbols by ones without assumptions, which lambdify knows by name."""
    return {s: sp.Symbol(s.name) for s in expression.free_symbols}

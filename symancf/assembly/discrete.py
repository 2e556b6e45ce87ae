# SPDX-License-Identifier: BSD-3-Clause
"""The discrete system: bodies and terms, distributed, numbered, in one assembler of kernels."""

from __future__ import annotations

import weakref
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Integers, Ints
from ..errors import ConstraintError, ParameterError
from ..runtime.collective import together
from ..runtime.log import EVENTS
from ..values.parameter import depends_on_time, parameters_in
from . import protocol
from .agreement import Common, require_agreement
from .assembler import Assembler
from .configuration import Configuration
from .form import Jets, keeps_nodes
from .half import Half
from .half_blocks import nodes_first, nodes_of_cells
from .matrix import Matrix
from .matrix_free import MatrixFree, suits_products
from .memory import Memory
from .numbering import IDLE
from .revisions import Bounds, Change, Review, Standing, Verdict
from .state import ActiveSet, State, same_arrays
from .unknowns import Unknowns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..values.parameter import Parameter
    from .agreement import PlaceFunction
    from .configuration import Layout
    from .form import Form
    from .state import StateVariable


@dataclass(frozen=True)
class Redundant:
    """Equations that others imply.

    Attributes
    ----------
    left_out : local offsets of their multipliers.
    groups : keys of the equations left of each group that has some; on rank 0.
    some : whether there are any, on whatever rank.
    """

    left_out: Ints
    groups: list[Ints]
    some: bool


class DiscreteSystem(Configuration):
    """What solvers, output and terms work with: the equations of a `System` on this rank.

    Parameters
    ----------
    layout : to which its bodies and terms have announced nothing yet.
    find_redundant : returns the constraints that others imply.

    Attributes
    ----------
    state : local vector of all displacements (positions and slopes) and multipliers, the
        present solution; fixed coordinates and ghosts included.
    reference : local vector of the reference configuration.
    numbering, topology, assembler, forms : see their classes.
    memory : internal variables of laws, from one step to the next.
    state_variables : numbers of terms that belong to the state.
    stiffness : scale of the multipliers: a multiplier times `stiffness` is a force.
    changing : terms with lists of entities that `revise` may replace.
    reviews : whether a term judges solutions.
    redundant : constraints that others imply.
    """

    def __init__(
        self,
        layout: Layout,
        find_redundant: Callable[[Configuration, Sequence[Form]], Redundant],
    ) -> None:
        self._of_bodies: list[protocol.BodyBinding] = [layout.bind(b) for b in layout.bodies]
        of_terms: list[protocol.Binding] = [layout.bind(term) for term in layout.terms]
        self._members: list[protocol.Binding] = [*self._of_bodies, *of_terms]
        self.supports = protocol.having(of_terms, protocol.SupportBinding)
        super().__init__(layout, [s for s in self.supports if s.mirror is not None])
        for oriented in protocol.having(self._members, protocol.Oriented):
            oriented.orient(self)
        carrying = protocol.having(self._members, protocol.Carries)
        self.number(pair for item in carrying for pair in item.carriers(self))
        for body in self._of_bodies:
            body.build_reference(self, self.supports)
        self._apply_supports(of_terms)
        of_members = [item.forms(self) for item in self._members]
        self.forms: list[Form] = [form for own in of_members for form in own]
        self._member_of_piece = np.repeat(np.arange(len(of_members)), [*map(len, of_members)])
        self._settling = protocol.having(self._members, protocol.Settles)
        revising = protocol.having(self._members, protocol.Revises)
        self.changing = [item for item in revising if item.changes(self)]
        self._holding = protocol.having(self._members, protocol.Holds)
        self._reviewing = [
            *map(protocol.rules_of, protocol.having(self._members, protocol.Reviews))
        ]
        self.reviews = bool(self._reviewing)
        self.rubbing = protocol.having(self._members, protocol.Rubs)
        self.motion: protocol.InMotion | None = None
        self._first_rate: Array | None = None  # the rates that bodies were given
        self._mass_changes = self._mass_placed = False
        self._idle_multipliers()
        self._residuals: Array | None = None  # see `at_instants`
        self._last_displacement: Callable[[], Array | None] = lambda: None  # of `snapshot`
        self.redundant = find_redundant(self, self.forms)
        self._leave_out(self.redundant.left_out)
        self.state_variables = self._variables_of_members()
        self._first_variables = self.variables
        self.memory = Memory(self.comm, self.forms)
        self.assembler: Assembler = Assembler(
            self.forms, self.numbering, self.reference, self.comm, self.memory
        )
        self.memory.prepare(self.assembler)
        self._pattern: tuple[tuple[ActiveSet, ...], ...] = ()  # see `State`
        if self.memory.moves:  # before its entities do
            self._start_memory()
        self._common = Common(self.comm, self._prescribed())
        self._share_rates()

    @property
    def friction(self) -> list[Form]:
        """Forms of friction in tendons."""
        names = {name for item in self.rubbing for name in item.friction()}
        return [form for form in self.forms if form.name in names]

    def member(self, number: int) -> protocol.Binding:
        """Return the body or term that a form belongs to."""
        return self._members[int(self._member_of_piece[number])]

    # ---- building -----------------------------------------------------------------------------
    def _variables_of_members(self) -> list[StateVariable]:
        members = protocol.having(self._members, protocol.HasStateVariables)
        return [variable for item in members for variable in item.state_variables(self)]

    def _apply_supports(self, terms: Sequence[protocol.Binding]) -> None:
        numbers = {id(term): k for k, term in enumerate(terms)}
        fixed_by = np.full(self.numbering.coordinates, -1, dtype=np.int32)
        lengths = [self.extent_of(support.body) for support in self.supports]
        self._sizes: list[Array] = []
        self._courses: list[Array] = []  # values of supports that agree
        with together(self.comm):
            for k, support in enumerate(self.supports):
                places = support.coordinates(self)
                fixed_by[places] = numbers[id(support)]
                self._sizes.append(self.numbering.natural(lengths[k], places))
        if self.supports:
            self.numbering.fix(fixed_by)

    def _idle_multipliers(self) -> None:
        """Take multipliers out of the unknowns whose equations only supports can fulfil."""
        self.idle_rows: list[tuple[str, Integers]] = []
        for item in protocol.having(self._members, protocol.Idles):
            self.idle_rows.append((self.name(item), item.idle(self)))
        if not self.comm.allreduce(sum(len(offsets) for _, offsets in self.idle_rows)):
            self.idle_rows = []
            return
        self._leave_out(np.concatenate([offsets for _, offsets in self.idle_rows]))

    def _leave_out(self, multipliers: Ints) -> None:
        """Take multipliers, local offsets, out of the unknowns (collective)."""
        if self.comm.allreduce(len(multipliers)):
            fixed_by = self.numbering.fixed_by.copy()
            fixed_by[multipliers] = IDLE
            self.numbering.fix(fixed_by)

    def _prescribed(self) -> list[PlaceFunction]:
        """Return what supports and kernels were given that all ranks must agree on."""
        values = [
            value for support in self.supports for value in support.prescribed_functions(self)
        ]
        return values + [value for form in self.forms for value in form.functions]

    def _require_fulfilled(self) -> None:
        """Raise where supports contradict a constraint that only they can fulfil."""
        f = self.residual_at(self.state)
        for name, offsets in self.idle_rows:
            wrong = np.abs(f[offsets]).max(initial=0.0) / self.stiffness
            size = self.extent
            if wrong > 1e-9 * size:
                raise ConstraintError(
                    f"the supports of both ends contradict the constraint {name!r} at time "
                    f"{self.time:g}: it is violated by {wrong:.3g}",
                    names=[name],
                    asked="residual",
                    given=wrong,
                )

    # ---- evaluation ---------------------------------------------------------------------------
    def prescribe(self, time: float, state: Array | None = None) -> None:
        """Write prescribed coordinates and parameter values of `time` (collective).

        Raises
        ------
        ParameterError : on every rank; a value is missing or not finite, a user's function
            failed, or two supports contradict each other. The state is unchanged then.
        """
        state = self.state if state is None else state
        with together(self.comm):
            self.update(time)
            courses = [support.course([time]) for support in self.supports]
            trial = state.copy()
            for support, values in zip(self.supports, courses, strict=True):
                trial[support.offsets] = values[0]
            if any(a is not b for a, b in zip_longest(courses, self._courses)):
                for k, (support, values) in enumerate(zip(self.supports, courses, strict=True)):
                    self._require_same(k, support.offsets, values[0], trial, time)
                self._courses = courses
        self.require_agreement(time)
        state[:] = trial
        self.update_prescribed(state)
        self.time = time
        if self.idle_rows and state is self.state:
            with together(self.comm):
                self._require_fulfilled()

    def _require_same(
        self, number: int, places: Ints, values: Array, state: Array, time: float
    ) -> None:
        """Raise where a support after this one gave a coordinate another value."""
        size = np.maximum(self._sizes[number], np.abs(values))
        differ = np.abs(state[places] - values) > 1e-12 * size
        if differ.any():
            at = places[int(np.argmax(differ))]
            other = self.name(self.terms[self.numbering.fixed_by[at]])
            name = self.name(self.supports[number])
            x = self.points[self.numbering.vertex_of[at]]
            raise ParameterError(
                f"{name!r} and {other!r} prescribe different values of the same coordinate "
                f"at time {time:g}, at the node ({x[0]:g}, {x[1]:g}, {x[2]:g})",
                asked="displacement",
                given=(name, other),
            )

    def update_prescribed(self, vector: Array) -> None:
        """Bring the held coordinates of ghosts up to date in a local vector (collective)."""
        if self.comm.size > 1 and self.supports:
            self.numbering.update_prescribed(vector)

    @cached_property
    def matrix(self) -> Matrix:
        """The tangent's storage; its pattern is built on first use (collective)."""
        matrix = Matrix(self.comm, self.numbering, self.forms)
        self.assembler.attach(matrix)
        self._pattern = tuple((entities,) for entities in self._entities())
        return matrix

    @cached_property
    def half(self) -> Half | None:
        """Storage of the tangent by halves, where it is one of nodes alone, else None (collective).

        Whoever asks has found that all unknowns are displacements of nodes.
        """
        if not self.has_halves:
            return None
        half = Half(self.comm, self.numbering, self.forms)
        self.assembler.attach_half(half)
        if half.rest is not None:
            self._pattern = tuple((entities,) for entities in self._entities())
        return half

    @cached_property
    def half_of_motion(self) -> Half | None:
        """`half` with places for the mass, where all terms of motions have some (collective)."""
        half = self.half if self.moves_by_halves else None
        if half is not None:
            self.inertia.attach_half(half)
        return half

    @cached_property
    def matrix_free(self) -> MatrixFree | None:
        """The tangent by products of kernels, where `MatrixFree` serves, else None (collective).

        Whoever asks has found that all unknowns are displacements of nodes.
        """
        forms = [form for form in self.forms if not form.moving]
        suits = not self.changing and suits_products(forms)
        if not self.comm.allreduce(suits, op=MPI.LAND):
            return None
        return MatrixFree(self.comm, self.numbering, self.assembler, forms)

    @property
    def has_halves(self) -> bool:
        """Whether all bodies are cells of nodes, see `Half`; terms need not be (collective)."""
        bodies = all(keeps_nodes(form) for form in self.forms if form.role == "strain")
        suits = bodies and nodes_first(self.numbering)
        return bool(self.comm.allreduce(suits, op=MPI.LAND))

    @property
    def _aij(self) -> list[Matrix]:
        """The storages of PETSc's that lists of entities have places in."""
        half = self.__dict__.get("half")
        rest = None if half is None else half.rest
        return [m for m in (self.__dict__.get("matrix"), rest) if m is not None]

    @property
    def moves_by_halves(self) -> bool:
        """Whether tangents of motions are stored by halves (collective).

        They are not where matrices of cells that are not symmetric, as of viscosity, would have
        more than half as many entries as the others: their skew parts are stored by cells.
        """
        if not self._are_of_nodes([*self.forms, *self.inertia.forms]):
            return False
        entries = np.zeros(2)
        for form in self.forms:
            if form.kernel.has_tangent:
                width = nodes_of_cells(form).shape[1]
                entries[int(form.kernel.symmetric)] += form.size * width**2
        skew, others = self.sum(entries).tolist()
        return bool(skew <= 0.5 * others)

    def _are_of_nodes(self, forms: Sequence[Form]) -> bool:
        suits = not self.changing and all(keeps_nodes(form) for form in forms)
        return bool(self.comm.allreduce(suits, op=MPI.LAND))

    def release_matrix(self) -> None:
        """Give back the storage of `matrix`, which is made anew where it is asked for (collective).

        It stays where others than the terms write to it.
        """
        if "matrix" in self.__dict__ and self.matrix.release(self.assembler):
            self.assembler.detach()
            del self.__dict__["matrix"]

    def _entities(self) -> list[ActiveSet]:
        """Return the present entities of the terms whose lists change."""
        return [term.entities_of(term.active(self)) for term in self.changing]

    @property
    def moves(self) -> bool:
        """Whether the present state is one of a motion."""
        return self.motion is not None

    @cached_property
    def rate(self) -> Array:
        """Local vector of the rates of all coordinates; at first those given to bodies."""
        self._first_rate = self.initial_rate()
        return self._first_rate.copy()

    @property
    def start_changes(self) -> bool:
        """Whether rates given to bodies may follow a `Parameter`."""
        return depends_on_time(self._start_values)

    @property
    def _start_values(self) -> list[Any]:
        """What rates given to bodies follow from, as users gave it."""
        bodies = protocol.having(self._of_bodies, protocol.HasInitialRate)
        return [value for body in bodies for value in body.start_values]

    def initial_rate(self) -> Array:
        """Return the rates given to bodies, at the present state (collective)."""
        rate: Array = np.full(self.numbering.coordinates, np.nan)  # which no body has given
        for body in protocol.having(self._of_bodies, protocol.HasInitialRate):
            body.initial_rate(self, rate)
        return np.nan_to_num(rate, copy=False)

    @property
    def has_given_rates(self) -> bool:
        """Whether rates are still those given to bodies (collective)."""
        rate, first = self.rate, self._first_rate
        mine = first is not None and np.array_equal(rate, first)
        return mine if self.comm.size == 1 else bool(self.comm.allreduce(mine, op=MPI.LAND))

    def _share_rates(self) -> None:
        """Make the rates on all ranks: one that has places may ask for them alone (collective)."""
        if self.comm.size > 1 and any(isinstance(form.entities, Jets) for form in self.forms):
            self.give_rates()

    def renew_rate(self) -> None:
        """Take rates that are still those given to bodies to the present state (collective).

        A spin moves what is deformed by another velocity. Rates of a motion, and those that the
        program has written, stay.
        """
        if self.motion is None and "rate" in self.__dict__ and self.has_given_rates:
            self.give_rates()

    def give_rates(self) -> None:
        """Let rates be those given to bodies, by present parameters (collective)."""
        self._first_rate = self.initial_rate()
        self.rate[:] = self._first_rate

    @cached_property
    def inertia(self) -> Assembler:
        """Kernels of the bodies' inertia: kinetic energy of rates, and M a (collective).

        Densities and sections are those of the last `update`. The tangent's storage has places
        for it after `place_mass`.

        Raises
        ------
        ParameterError : no body has a mass.
        """
        forms = [
            form
            for body in protocol.having(self._of_bodies, protocol.HasMass)
            for form in body.inertia(self)
        ]
        if not forms:
            names = ", ".join(repr(self.name(body)) for body in self.bodies)
            raise ParameterError(
                f"no body has a mass ({names}): give rho=... to a body", asked="rho"
            )
        assembler = Assembler(forms, self.numbering, self.reference, self.comm)
        with together(self.comm):
            assembler.update(self.time)
        self.__dict__.pop("parameters", None)  # those of the mass, too
        self._mass_changes = assembler.changes
        return assembler

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The `Parameter` objects that act on the system, each once; not those within functions."""
        mass = self.inertia.uniform_values if "inertia" in self.__dict__ else []
        return _each_once([*self._values, *mass])  # states from before the mass lack the last

    @property
    def _values(self) -> list[Any]:
        """What forces, supports and rates given to bodies follow from, as users gave it."""
        values: list[Any] = [*self.assembler.uniform_values]
        values += [value for support in self.supports for value in support.values]
        return values + self._start_values

    def place_mass(self) -> None:
        """Find the places of the mass in the tangent's storage, once (collective)."""
        if not self._mass_placed:
            self.inertia.attach(self.matrix, self.matrix.add(self.inertia.forms))
            self._mass_placed = True

    def update(self, time: float) -> None:
        """Write the present values of all parameters into the kernels, those of inertia, too.

        Raises
        ------
        ParameterError : see `Assembler.update`.
        """
        self.assembler.update(time)
        if not self.memory.initialised:
            self.memory.start(self.assembler, np.zeros_like(self.state))
            self.assembler.update(time)
        if self._mass_changes:
            self.inertia.update(time)

    def require_agreement(self, time: float) -> None:
        """Raise on every rank where a value differs from rank to rank (collective)."""
        if self.comm.size > 1:
            others = self._common.values(time)
            require_agreement(self.comm, self.assembler.values, self.assembler.names, time, others)

    def residual_at_solution(self) -> Array:
        """Return the residual of all coordinates at the present state (local vector).

        Rows of owned coordinates are complete; those of fixed ones are the support forces. In
        motion it contains the forces of inertia and damping.
        """
        if self._residuals is not None:
            return self._residuals
        with together(self.comm):
            self.update(self.time)
        if self.motion is not None:
            f = np.zeros(self.numbering.coordinates)
            self.motion.residual(f)
            return f
        return self.residual_at(self.state)

    def revise(self, time: float) -> bool:
        """Let terms replace lists of entities by those of the present state at `time` (collective).

        Between steps and where one is tried again, never within Newton's method. Returns whether
        a list has other entities than before: what was solved with those has to be solved again.
        """
        return bool(self._revised(time))

    def review(self, time: float, *, rough: bool = False) -> Review:
        """Judge the present state, which solves the equations of `time` (collective).

        Lists of entities first, see `revise`; where they stand the terms that review solutions,
        unless it is a `rough` one.
        """
        self.reviewing = True
        try:
            others = self._revised(time)
            if others:
                return Review(Verdict.AGAIN, others)
            self.reviewing = False
            if rough:
                return Review(Verdict.STANDS)
            verdicts = [(term.review(self), self.name(term)) for term, *_ in self._reviewing]
        finally:
            self.reviewing = False
        worst = max((verdict for verdict, _ in verdicts), default=Verdict.STANDS)
        return Review(worst, [name for verdict, name in verdicts if verdict is worst])

    def standing(self) -> tuple[dict[str, Standing], list[Bounds]] | None:
        """Return when solutions stand without a review, None: there have to be reviews.

        What has to be so by form, and of unknowns.
        """
        found: dict[str, Standing] = {}
        bounds: list[Bounds] = []
        for _, by_memory, by_bounds in self._reviewing:
            own = None if by_memory is None else by_memory.standing(self)
            bound = None if by_bounds is None else by_bounds.bounds(self)
            if own is None and bound is None:
                return None
            found |= own or {}
            bounds += [] if bound is None else [bound]
        return found, bounds

    def renews(self) -> bool:
        """Tell whether a step is better begun with what terms hold (collective)."""
        return any([term.renews(self) for term in self._holding])

    def hold_normals(self, frozen: bool, before: bool) -> float:
        """Let terms hold what follows the state, or no more; see `Holds` (collective)."""
        return max([term.hold(self, frozen, before) for term in self._holding], default=0.0)

    def _revised(self, time: float) -> list[str]:
        """Replace lists; return the names of the terms with other entities (collective)."""
        if not self.changing:
            return []
        before = self._entities()
        with EVENTS["search"]:
            changes = [term.search(self, time) for term in self.changing]
        changed = [change is not Change.NONE for change in changes]
        if any(changed):
            every = [*self._entities(), *before]
            self._hold_entities(zip([*self.changing] * 2, every, strict=True))
            new = self._renew(changed)
            rebuilt = self._find_places(new)
            if rebuilt:
                made_for = zip(self._entities(), before, changed, strict=True)
                self._pattern = tuple(
                    (own, old) if other else (own,) for own, old, other in made_for
                )
            self._tell_relisted(new, rebuilt)
        self.refresh()
        pairs = zip(self.changing, changes, strict=True)
        return [self.name(term) for term, change in pairs if change is Change.OTHER]

    def _hold_entities(self, lists: Iterable[tuple[protocol.Revises, ActiveSet]]) -> None:
        """Have the vertices of lists of entities on the ranks that need them (collective)."""
        self.hold(np.concatenate([term.needed(self, entities) for term, entities in lists]))

    def _renew(self, changed: Sequence[bool]) -> dict[Form, Form]:
        """Replace forms of terms that have `changed`; return the new by the old (collective)."""
        new: dict[Form, Form] = {}
        for term, other in zip(self.changing, changed, strict=True):
            if other:
                new |= term.renew(self)
        self.replace(new)
        return new

    def replace(self, new: Mapping[Form, Form]) -> None:
        """Take other forms for present ones."""
        self.forms = [new.get(form, form) for form in self.forms]
        self.memory.replace(new)
        self.assembler.replace(new)
        for matrix in self._aij:
            matrix.replace(new)

    def _find_places(self, new: Mapping[Form, Form]) -> bool:
        """Find places of new forms; tell whether a pattern was made anew (collective)."""
        return any([matrix.renew(new) for matrix in self._aij])

    def _tell_relisted(self, new: Mapping[Form, Form], rebuilt: bool) -> None:
        for holder in self._living():
            holder.relisted(list(new.values()), rebuilt)

    def _activate(self, state: State) -> None:
        """Go to the active sets of a state, with the pattern that the tangent had (collective)."""
        pairs = zip(self.changing, state.active, strict=True)
        changed = [term.activate(self, active) for term, active in pairs]
        other = bool(self._aij) and not _alike(self._pattern, state.pattern)
        patterned = self.comm.allreduce(other, MPI.LOR)
        if not (any(changed) or patterned):
            return
        pattern = state.pattern or tuple((entities,) for entities in self._entities())
        listed = [(k, own) for k, every in enumerate(pattern) for own in every]
        of_pattern = [(self.changing[k], own) for k, own in listed]
        self._hold_entities([*of_pattern, *zip(self.changing, self._entities(), strict=True)])
        new, rebuilt = self._renew(changed), patterned
        if patterned:
            every = [term.listed(self, own) for term, own in of_pattern]
            for matrix in self._aij:
                matrix.rebuild([one for some in every for one in some])
            self._pattern = pattern
        else:
            rebuilt = self._find_places(new)
        self._tell_relisted(new, rebuilt)
        self.refresh()

    def settle(self) -> None:
        """Give coordinates that are functions of the others their values (collective)."""
        variables = self.variables
        for item in self._settling:
            item.settle(self)
        if not all(map(np.array_equal, variables, self.variables)):
            self.update(self.time)

    def at_instants(
        self, times: Array, state: Array, rate: Array, residuals: Array
    ) -> DiscreteSystem:
        """Return a copy at n instants of a motion, of one rank's unknowns; arrays are (n, ...).

        It is for results of places, bodies, supports and constraints alone.
        """
        made = copy(self)
        vars(made).update(time=times, state=state, rate=rate, _residuals=residuals)
        return made

    def displacement(self) -> Array:
        """Return a copy of the present `state`, ghosts too, never to be written to.

        As long as somebody has it, it is the same array for the same state.
        """
        last = self._last_displacement()
        if last is None or not np.array_equal(last.view(np.int64), self.state.view(np.int64)):
            last = self.state.copy()
            self._last_displacement = weakref.ref(last)
        return last

    def snapshot(self, **more: Any) -> State:
        """Return the present state as a value; `more`: what a motion adds, see `State`.

        States of the same displacements share them.
        """
        return State(
            time=self.time,
            displacement=self.displacement()[: self.numbering.owned],
            stiffness=self.stiffness,
            internal=self.memory.values,
            terms=self.variables,
            active=tuple(term.active(self) for term in self.changing),
            pattern=self._pattern,
            parameters=tuple(parameter.value for parameter in self.parameters),
            **more,
        )

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot` (collective).

        Loads and prescribed displacements are those of its time after `prescribe` or `update`.
        What it does not have, rates or values of `Parameter` objects, stays as it is.
        """
        self.numbering.spread(state.displacement, self.state)
        if state.rate is not None:
            self.numbering.spread(state.rate, self.rate)
        self.time, self.stiffness = state.time, state.stiffness
        if self.changing:
            self._activate(state)
        for variable, value in zip(self.state_variables, state.terms, strict=True):
            variable.value = value
        self.memory.values = state.internal
        if state.parameters:
            for parameter, number in zip(self.parameters, state.parameters, strict=False):
                parameter.value = number

    def require_own(self, state: State, *method: str) -> None:
        """Raise where a state is one of another system or of another method (collective).

        `method` : what it has to tell of the method.

        Raises
        ------
        ParameterError
        """
        own = self.snapshot()
        counts = {0, len(_each_once(self._values)), len(own.parameters)}
        with together(self.comm):
            if state.sizes[:-1] != own.sizes[:-1] or len(state.parameters) not in counts:
                there, here = (", ".join(map(str, each.sizes)) for each in (state, own))
                raise ParameterError(
                    f"this is a state of another system: it has {there} coordinates of "
                    f"this rank, laws with memory, numbers of terms and parameters; here {here}",
                    asked="state",
                    given=state.sizes,
                    possible=(own.sizes,),
                )
            lacking = [name for name in method if name not in state.method]
            if lacking:
                raise ParameterError(
                    f"this state is not one of this method: it lacks {lacking[0]!r}; "
                    "system.restore(state) takes displacements and memory alone",
                    asked="state",
                    given=sorted(state.method),
                    possible=method,
                )

    @property
    def variables(self) -> tuple[Array, ...]:
        """Present values of the state variables of terms, see `State.terms`."""
        return tuple(variable.value for variable in self.state_variables)

    def learn(self, failed: Sequence[Array]) -> None:
        """Let terms know the `variables` of an attempt that failed, once a step is begun anew."""
        for variable, value in zip(self.state_variables, failed, strict=True):
            if variable.learn is not None:
                variable.value = variable.learn(value, variable.value)

    def accept(self) -> None:
        """End a step at the present state: laws remember it (collective)."""
        self.memory.accept(self.assembler, self.state, self.time)

    def forget(self) -> None:
        """Let laws remember nothing but their initial values (collective)."""
        self.memory.forget()
        for variable, value in zip(self.state_variables, self._first_variables, strict=True):
            variable.value = value
        self._start_memory()

    def _start_memory(self) -> None:
        """Find what laws remember before the first step (collective)."""
        with together(self.comm):
            self.update(self.time)
        self.memory.share()

    def rest(self) -> None:
        """Forget a motion: all rates are zero from now on."""
        if self.motion is not None:
            self.motion = None
            self.rate.fill(0.0)
            self.assembler.follow(None, None)

    def residual_at(self, state: Array) -> Array:
        """Return the residual of all coordinates at a state (local vector)."""
        f = np.zeros(self.numbering.coordinates)
        self.assembler.residual(state, f)
        return f

    def forces_of(self, term: protocol.Term) -> Array:
        """Return the forces of a term on all coordinates at the present state (collective).

        A local vector, in which rows of owned coordinates are complete.
        """
        with together(self.comm):
            self.update(self.time)
        f = np.zeros(self.numbering.coordinates)
        own = self.binding(term)
        number = next(k for k, member in enumerate(self._members) if member is own)
        with self.assembler.only(self._member_of_piece == number):
            self.assembler.residual(self.state, f)
        return -f

    # ---- matrices -----------------------------------------------------------------------------
    @cached_property
    def unknowns(self) -> Unknowns:
        """The rows of `tangent`, `mass` and `damping` by name (collective)."""
        return Unknowns(self)

    def mass_times(self, v: Array) -> Array:
        """Return M v of a local vector, with the present parameters (collective)."""
        f = np.zeros_like(self.state)
        with together(self.comm):
            self.inertia.update(self.time)
        self.inertia.residual(v, f)
        return f


def _each_once(values: Sequence[Any]) -> list[Parameter]:
    """Return the `Parameter` objects among what users gave, each once."""
    return list({id(found): found for found in parameters_in(values)}.values())


def _alike(one: Sequence[Sequence[ActiveSet]], other: Sequence[Sequence[ActiveSet]]) -> bool:
    """Tell whether lists of entities are the same, term by term."""
    if [*map(len, one)] != [*map(len, other)]:
        return False
    pairs = ((a, b) for p, q in zip(one, other, strict=True) for a, b in zip(p, q, strict=True))
    return all(same_arrays(a, b) for a, b in pairs)

# SPDX-License-Identifier: BSD-3-Clause
"""Internal variables of laws: what they remember from one step to the next at their points.

A step goes through two calls::

    begin     what was remembered at the end of the last step is that of the beginning of this one
    accept    what is remembered at the end: the kernels' function ``update`` at the state reached

Between `begin` and `accept` evaluations change nothing, however many there are. After `accept`
they see the beginning of the step and its length still, so that forces and energies that are
read there are those with which the step was solved. A step that is cut, or taken back, gives
`values` those of an earlier state.

Where a list of entities changes between steps (`Revises`) every rank has what all of its
entities remember, by their numbers: whichever of them come here, in whichever order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..errors import ConvergenceError, KinematicsError
from ..kinematics.memory import STEP
from ..runtime.collective import block_starts, reduced, together
from .state import InternalVariables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .assembler import Assembler
    from .form import Form
    from .revisions import Standing


class Memory:
    """What the laws of a system remember.

    Parameters
    ----------
    forms : of the system.

    Attributes
    ----------
    forms, numbers : those with memory, the present ones, and their numbers among all.
    full_length : that of the step of which a part is made, to an event; 0: steps are whole.
    """

    full_length = 0.0

    def __init__(self, comm: MPI.Comm, forms: Sequence[Form]) -> None:
        self.comm = comm
        self.numbers = [k for k, form in enumerate(forms) if form.kernel.memory]
        self.forms = [forms[k] for k in self.numbers]
        self._places = {form: k for k, form in enumerate(self.forms)}
        self._totals = self._count() if self.forms else []
        self._remembered: list[Array] = []  # by the present entities
        self._written: dict[Form, tuple[Array, Array, Array]] = {}  # see `rows`
        pairs = zip(self.forms, self._totals, strict=True)
        sizes = [total if form.changing else form.size for form, total in pairs]
        rows = [len(form.kernel.memory) for form in self.forms]
        none = tuple(map(np.zeros, zip(sizes, rows, strict=True)))
        self.values = InternalVariables(none, none, initialised=not self.forms)

    def _count(self) -> list[int]:
        """Return the number of entities of each form, those of all ranks (collective)."""
        here = []
        for form in self.forms:
            assert form.ids is not None
            here.append(form.total or form.ids.max(initial=-1) + 1)
        return [int(n) for n in reduced(self.comm, np.array(here, dtype=float), MPI.MAX)]

    @property
    def values(self) -> InternalVariables:
        """The present internal variables; the next `update` tells the kernels of others."""
        return self._now

    @values.setter
    def values(self, values: InternalVariables) -> None:
        self._now = values
        self._remembered = self.own(values.old) if self.forms else []

    def replace(self, new: Mapping[Form, Form]) -> None:
        """Take other forms for present ones; their entities remember what they did."""
        for old, form in new.items():
            k = self._places.pop(old, None)
            if k is not None:
                self.forms[k], self._places[form] = form, k
                self._written.pop(old, None)
                if form.changing:
                    self._remembered[k] = self._now.old[k][form.ids]

    def rows(self, form: Form, time: float) -> Array | None:
        """Return the rows of `Form.cell` at a time with what the form remembers (n, rows).

        The same array as before where nothing changed; None: there is nothing that changes.
        """
        cell, k = form.rows(time), self._places.get(form)
        if k is None:
            return cell
        cell, remembered = form.cell if cell is None else cell, self._remembered[k]
        written = self._written.get(form)
        if written is None or written[0] is not cell or written[1] is not remembered:
            joined = cell.copy()
            joined[:, joined.shape[1] - remembered.shape[1] :] = remembered
            written = self._written[form] = cell, remembered, joined
        return written[2]

    def beginning(self, form: Form) -> Array:
        """Return what this rank's entities of a form remember from before the step (n, rows)."""
        return self._remembered[self._places[form]]

    @property
    def moves(self) -> bool:
        """Whether a list of entities with memory changes."""
        return any(form.changing for form in self.forms)

    @property
    def initialised(self) -> bool:
        """Whether the initial values have been found."""
        return self._now.initialised

    @property
    def stepping(self) -> bool:
        """Whether a step has begun."""
        return self._now.stepping

    def __bool__(self) -> bool:
        return bool(self.forms)

    @property
    def timed(self) -> list[str]:
        """Names of the forms whose laws ask for the length of the step."""
        return [form.name for form in self.forms if STEP in form.kernel.uniform]

    def length(self, time: float) -> float:
        """Return the length of the step that ends at a time."""
        return time - self._now.since if self._now.stepping else self._now.length

    def prepare(self, assembler: Assembler) -> None:
        """Compile the functions that write what is remembered (collective)."""
        for mode in ("initial", "update"):
            assembler.prepare(mode, self.numbers)

    # ---- steps ----------------------------------------------------------------------------------
    def start(self, assembler: Assembler, state: Array) -> None:
        """Take the values before the first step; parameters have been written.

        Raises
        ------
        KinematicsError : they are not finite.
        """
        values = self.initial(assembler, state)
        self._now = InternalVariables(values, values)
        if not self.moves:
            self.values = self._now

    def initial(self, assembler: Assembler, state: Array) -> tuple[Array, ...]:
        """Return what would be remembered before a first step; parameters have been written.

        Raises
        ------
        KinematicsError : it is not finite.
        """
        return self._evaluate(assembler, state, initial=True)

    def share(self) -> None:
        """Let all ranks know initial values of lists that change (collective)."""
        if self.moves:
            values = self._shared(self._now.next)
            self.values = InternalVariables(values, values)

    def forget(self) -> None:
        """Let the next `DiscreteSystem.update` find the initial values again."""
        self.values = replace(self._now, initialised=not self.forms)

    def begin(self, time: float) -> None:
        """Begin a step at a time, unless one has begun."""
        if self.forms and not self._now.stepping:
            assert self.initialised
            now = self._now
            self.values = replace(now, old=now.next, since=time, stepping=True)

    def accept(self, assembler: Assembler, state: Array, time: float) -> None:
        """End the step at the state reached, whose parameters have been written (collective).

        Raises
        ------
        ConvergenceError : what is remembered is not finite there.
        """
        if self.forms and self._now.stepping:
            with together(self.comm):
                values = self._evaluate(assembler, state)
            values = self._summed(self._shared(values))
            length = time - self._now.since
            self._now = replace(self._now, next=values, length=length, stepping=False)

    def half_way(self, assembler: Assembler, state: Array) -> tuple[Array, ...] | None:
        """Return what would be remembered at a state within the last step (collective).

        Of cells that the step has changed; all else stays as it was. None: it is not finite.
        """
        values, bad = assembler.tabulate("update", self.numbers, state)
        bad += not all(np.isfinite(v).all() for v in values.values())
        if self.comm.allreduce(bool(bad), MPI.LOR):
            return None
        found = []
        rows = zip(self.numbers, self.forms, self._now.old, self._now.next, strict=True)
        for k, form, old, after in rows:
            change, size = (np.abs(x).max(axis=1, keepdims=True) for x in (after - old, after))
            changed = (change > 1e-9 * size) & form.kernel.tabulated  # not by round-off alone
            found.append(np.where(changed, values.get(k, after), old))
        return tuple(found)

    def accept_again(self, assembler: Assembler, state: Array, time: float) -> None:
        """End the last step anew, at a state that something else has changed (collective)."""
        self.values = replace(self._now, stepping=bool(self.forms))
        self.accept(assembler, state, time)

    def stands(self, assembler: Assembler, state: Array, standing: Mapping[str, Standing]) -> bool:
        """Tell whether the variables of forms would let the step end at a state (collective)."""
        chosen = [k for k, form in enumerate(self.forms) if form.name in standing]
        with together(self.comm):
            after, bad = assembler.tabulate("update", [self.numbers[k] for k in chosen], state)
            own = [
                standing[self.forms[k].name].holds(
                    self.forms[k].kernel.memory, self._remembered[k], after[self.numbers[k]]
                )
                for k in chosen
            ]
        return bool(self.comm.allreduce(all(own) and not bad, MPI.LAND))

    def put(self, name: str, variable: str, where: Mask, value: float) -> None:
        """Let some entities (n,) of a form begin the next step with another value."""
        values = [part.copy() for part in self._now.next]
        for form, part in zip(self.forms, values, strict=True):
            if form.name == name:
                part[where, form.kernel.memory.index(variable)] = value
        self.values = replace(self._now, old=tuple(values), next=tuple(values))

    def remembered(self, form: Form) -> tuple[Array, Array]:
        """Return what all entities of a list that changes remember, before and after the step."""
        k = self._places[form]
        return self._now.old[k], self._now.next[k]

    def own(self, values: Sequence[Array]) -> list[Array]:
        """Return what the entities of this rank remember, of `InternalVariables.old` or `next`."""
        pairs = zip(self.forms, values, strict=True)
        return [v[form.ids] if form.changing else v for form, v in pairs]

    def parts(self) -> list[tuple[Ints, Mask]]:
        """Return numbers of entities of each form, and which of them this rank tells others.

        Those of this rank; of lists that change a share of all, in whichever list they are.
        """
        parts = []
        for form, total in zip(self.forms, self._totals, strict=True):
            assert form.ids is not None
            ids, owned = form.ids, form.owned
            if form.changing:
                starts = block_starts(total, self.comm.size)
                ids = np.arange(*starts[self.comm.rank : self.comm.rank + 2])
                owned = np.ones(len(ids), dtype=bool)
            parts.append((ids, owned))
        return parts

    def own_rows(self, values: Sequence[Array]) -> list[Array]:
        """Return what the entities of `parts` remember, of `InternalVariables.old` or `next`."""
        rows = zip(self.forms, self.parts(), values, strict=True)
        return [v[ids] if form.changing else v for form, (ids, _), v in rows]

    def joined(
        self, old: Sequence[Array], after: Sequence[Array], length: float
    ) -> InternalVariables:
        """Return the internal variables of which `parts` has these (collective)."""
        return InternalVariables(self._joined(old), self._joined(after), length)

    def _joined(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Return the shares of entities of lists that change as one (collective)."""
        pairs = zip(self.forms, values, strict=True)
        return tuple(
            np.concatenate(self.comm.allgather(v)) if form.changing else v for form, v in pairs
        )

    def _shared(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Let all ranks know what the entities of lists that change remember (collective).

        Those that are in no list forget all but totals.
        """
        shared = []
        rows = zip(self.forms, self._totals, values, self._now.next, strict=True)
        for form, total, own, before in rows:
            ids = own
            if form.changing and form.ids is not None:
                every: Array = np.zeros((total, own.shape[1] + 1))
                every[form.ids[form.owned], :-1] = own[form.owned]
                every[form.ids[form.owned], -1] = 1.0
                every = reduced(self.comm, every)
                absent, totals = every[:, -1] == 0.0, list(form.kernel.totals)
                ids = every[:, :-1]
                if len(before) == len(ids):
                    ids[np.ix_(absent, totals)] = before[np.ix_(absent, totals)]
            shared.append(ids)
        return tuple(shared)

    def _summed(self, values: tuple[Array, ...]) -> tuple[Array, ...]:
        """Sum what forms ask for over all entities, of all ranks (collective)."""
        for form, own in zip(self.forms, values, strict=True):
            if form.summed:
                row = form.kernel.memory.index(form.summed)
                own[:, row] = reduced(self.comm, own[form.owned, row].sum(keepdims=True))
        return values

    def _evaluate(
        self, assembler: Assembler, state: Array, *, initial: bool = False
    ) -> tuple[Array, ...]:
        mode = "initial" if initial else "update"
        values, bad = assembler.tabulate(mode, self.numbers, state)
        bad += not all(np.isfinite(v).all() for v in values.values())
        names = ", ".join(repr(form.name) for form in self.forms)
        if bad and initial:
            raise KinematicsError(f"the memory of {names} is not finite before the first step")
        if bad:
            raise ConvergenceError(
                f"the memory of {names} is not finite at the end of a step",
                reason="DIVERGED_FUNCTION_DOMAIN",
                iteration=0,
            )
        pairs = zip(self.numbers, self.own(self._now.next), strict=True)
        return tuple(values.get(k, before) for k, before in pairs)

    # ---- values ---------------------------------------------------------------------------------
    def at(self, name: str) -> dict[str, Array]:
        """Return what a form has remembered at the beginning of the step, (n,) by row."""
        for form, remembered in zip(self.forms, self._remembered, strict=True):
            if form.name == name:
                return dict(zip(form.kernel.memory, remembered.T, strict=True))
        return {}

    def gathered(self, name: str) -> dict[str, Array]:
        """Return what all entities of a form remember, on every rank (collective).

        By the names of the laws: (entities,) at places, (entities, points) on cells, in the order
        of the entities' numbers. An entity that a rank lacks is on another one.
        """
        by_row: dict[str, Array] = {}
        kept_rows = self.own_rows(self._now.next)
        rows = zip(self.forms, self._totals, self.parts(), kept_rows, strict=True)
        for form, total, (ids, owned), values in rows:
            if form.name != name:
                continue
            names = [row.partition("[")[0] for row in form.kernel.memory]
            every: Array = np.zeros((total, values.shape[1]))
            every[ids[owned]] = values[owned]
            every = reduced(self.comm, every)
            for quantity in dict.fromkeys(names):
                table = every[:, [k for k, other in enumerate(names) if other == quantity]]
                by_row[quantity] = table if form.kernel.tabulated else table[:, 0]
        return by_row

    def dissipated(self, chosen: Sequence[bool]) -> float:
        """Return the energy dissipated since the first step by the chosen forms of `forms` [J].

        This rank's part.
        """
        total = 0.0
        rows = zip(chosen, self.forms, self.parts(), self.own_rows(self._now.next), strict=True)
        for counts, form, (_, owned), values in rows:
            if counts:
                total += float(values[owned][:, list(form.kernel.totals)].sum())
        return total

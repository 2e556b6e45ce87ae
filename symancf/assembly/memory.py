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

    from .piece import Piece
    from .plan import Plan
    from .revisions import Standing


class Memory:
    """What the laws of a system remember.

    Parameters
    ----------
    pieces : of the system.

    Attributes
    ----------
    pieces : those with memory, the present ones.
    """

    def __init__(self, comm: MPI.Comm, pieces: Sequence[Piece]) -> None:
        self.comm = comm
        self._numbers = [k for k, piece in enumerate(pieces) if piece.kernel.memory]
        self.pieces = [pieces[k] for k in self._numbers]
        self._places = {piece: k for k, piece in enumerate(self.pieces)}
        self._totals = self._count() if self.pieces else []
        self._remembered: list[Array] = []  # by the present entities
        self._written: dict[Piece, tuple[Array, Array, Array]] = {}  # see `rows`
        pairs = zip(self.pieces, self._totals, strict=True)
        sizes = [total if piece.changing else piece.size for piece, total in pairs]
        rows = [len(piece.kernel.memory) for piece in self.pieces]
        none = tuple(map(np.zeros, zip(sizes, rows, strict=True)))
        self.values = InternalVariables(none, none, known=not self.pieces)

    def _count(self) -> list[int]:
        """Return the number of entities of each piece, those of all ranks (collective)."""
        here = []
        for piece in self.pieces:
            assert piece.ids is not None
            here.append(piece.total or piece.ids.max(initial=-1) + 1)
        return [int(n) for n in reduced(self.comm, np.array(here, dtype=float), MPI.MAX)]

    @property
    def values(self) -> InternalVariables:
        """The present internal variables; the next `update` tells the kernels of others."""
        return self._now

    @values.setter
    def values(self, values: InternalVariables) -> None:
        self._now = values
        self._remembered = self.own(values.old) if self.pieces else []

    def replace(self, new: Mapping[Piece, Piece]) -> None:
        """Take other pieces for present ones; their entities remember what they did."""
        for old, piece in new.items():
            k = self._places.pop(old, None)
            if k is not None:
                self.pieces[k], self._places[piece] = piece, k
                self._written.pop(old, None)
                if piece.changing:
                    self._remembered[k] = self._now.old[k][piece.ids]

    def rows(self, piece: Piece, time: float) -> Array | None:
        """Return the rows of `Piece.cell` at a time with what the piece remembers (n, rows).

        The same array as before where nothing changed; None: there is nothing that changes.
        """
        cell, k = piece.rows(time), self._places.get(piece)
        if k is None:
            return cell
        cell, remembered = piece.cell if cell is None else cell, self._remembered[k]
        known = self._written.get(piece)
        if known is None or known[0] is not cell or known[1] is not remembered:
            joined = cell.copy()
            joined[:, joined.shape[1] - remembered.shape[1] :] = remembered
            known = self._written[piece] = cell, remembered, joined
        return known[2]

    def beginning(self, piece: Piece) -> Array:
        """Return what this rank's entities of a piece remember from before the step (n, rows)."""
        return self._remembered[self._places[piece]]

    @property
    def moves(self) -> bool:
        """Whether a list of entities with memory changes."""
        return any(piece.changing for piece in self.pieces)

    @property
    def known(self) -> bool:
        """Whether the initial values have been found."""
        return self._now.known

    @property
    def stepping(self) -> bool:
        """Whether a step has begun."""
        return self._now.stepping

    def __bool__(self) -> bool:
        return bool(self.pieces)

    @property
    def timed(self) -> list[str]:
        """Names of the pieces whose laws ask for the length of the step."""
        return [piece.name for piece in self.pieces if STEP in piece.kernel.uniform]

    def length(self, time: float) -> float:
        """Return the length of the step that ends at a time."""
        return time - self._now.since if self._now.stepping else self._now.length

    def prepare(self, plan: Plan) -> None:
        """Compile the functions that write what is remembered (collective)."""
        for mode in ("initial", "update"):
            plan.prepare(mode, self._numbers)

    # ---- steps ----------------------------------------------------------------------------------
    def start(self, plan: Plan, state: Array) -> None:
        """Take the values before the first step; parameters have been written.

        Raises
        ------
        KinematicsError : they are not finite.
        """
        values = self._evaluate(plan, state, initial=True)
        self._now = InternalVariables(values, values)
        if not self.moves:
            self.values = self._now

    def share(self) -> None:
        """Let all ranks know initial values of lists that change (collective)."""
        if self.moves:
            values = self._shared(self._now.next)
            self.values = InternalVariables(values, values)

    def forget(self) -> None:
        """Let the next `DiscreteSystem.update` find the initial values again."""
        self.values = replace(self._now, known=not self.pieces)

    def begin(self, time: float) -> None:
        """Begin a step at a time, unless one has begun."""
        if self.pieces and not self._now.stepping:
            assert self.known
            now = self._now
            self.values = replace(now, old=now.next, since=time, stepping=True)

    def accept(self, plan: Plan, state: Array, time: float) -> None:
        """End the step at the state reached, whose parameters have been written (collective).

        Raises
        ------
        ConvergenceError : what is remembered is not finite there.
        """
        if self.pieces and self._now.stepping:
            with together(self.comm):
                values = self._evaluate(plan, state)
            values = self._shared(values)
            length = time - self._now.since
            self._now = replace(self._now, next=values, length=length, stepping=False)

    def accept_again(self, plan: Plan, state: Array, time: float) -> None:
        """End the last step anew, at a state that something else has changed (collective)."""
        self.values = replace(self._now, stepping=bool(self.pieces))
        self.accept(plan, state, time)

    def stands(self, plan: Plan, state: Array, standing: Mapping[str, Standing]) -> bool:
        """Tell whether the variables of pieces would let the step end at a state (collective)."""
        chosen = [k for k, piece in enumerate(self.pieces) if piece.name in standing]
        with together(self.comm):
            after, bad = plan.tabulate("update", [self._numbers[k] for k in chosen], state)
            own = [
                standing[self.pieces[k].name].holds(
                    self.pieces[k].kernel.memory, self._remembered[k], after[self._numbers[k]]
                )
                for k in chosen
            ]
        return bool(self.comm.allreduce(all(own) and not bad, MPI.LAND))

    def put(self, name: str, variable: str, where: Mask, value: float) -> None:
        """Let some entities (n,) of a piece begin the next step with another value."""
        values = [part.copy() for part in self._now.next]
        for piece, part in zip(self.pieces, values, strict=True):
            if piece.name == name:
                part[where, piece.kernel.memory.index(variable)] = value
        self.values = replace(self._now, old=tuple(values), next=tuple(values))

    def remembered(self, piece: Piece) -> tuple[Array, Array]:
        """Return what all entities of a list that changes remember, before and after the step."""
        k = self._places[piece]
        return self._now.old[k], self._now.next[k]

    def own(self, values: Sequence[Array]) -> list[Array]:
        """Return what the entities of this rank remember, of `InternalVariables.old` or `next`."""
        pairs = zip(self.pieces, values, strict=True)
        return [v[piece.ids] if piece.changing else v for piece, v in pairs]

    def parts(self) -> list[tuple[Ints, Mask]]:
        """Return numbers of entities of each piece, and which of them this rank tells others.

        Those of this rank; of lists that change a share of all, in whichever list they are.
        """
        found = []
        for piece, total in zip(self.pieces, self._totals, strict=True):
            assert piece.ids is not None
            ids, owned = piece.ids, piece.owned
            if piece.changing:
                starts = block_starts(total, self.comm.size)
                ids = np.arange(*starts[self.comm.rank : self.comm.rank + 2])
                owned = np.ones(len(ids), dtype=bool)
            found.append((ids, owned))
        return found

    def told(self, values: Sequence[Array]) -> list[Array]:
        """Return what the entities of `parts` remember, of `InternalVariables.old` or `next`."""
        rows = zip(self.pieces, self.parts(), values, strict=True)
        return [v[ids] if piece.changing else v for piece, (ids, _), v in rows]

    def joined(
        self, old: Sequence[Array], after: Sequence[Array], length: float
    ) -> InternalVariables:
        """Return the internal variables of which `parts` has these (collective)."""
        return InternalVariables(self._joined(old), self._joined(after), length)

    def _joined(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Return the shares of entities of lists that change as one (collective)."""
        pairs = zip(self.pieces, values, strict=True)
        return tuple(
            np.concatenate(self.comm.allgather(v)) if piece.changing else v for piece, v in pairs
        )

    def _shared(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Let all ranks know what the entities of lists that change remember (collective).

        Those that are in no list forget all but totals.
        """
        found = []
        rows = zip(self.pieces, self._totals, values, self._now.next, strict=True)
        for piece, total, own, before in rows:
            known = own
            if piece.changing and piece.ids is not None:
                every: Array = np.zeros((total, own.shape[1] + 1))
                every[piece.ids[piece.owned], :-1] = own[piece.owned]
                every[piece.ids[piece.owned], -1] = 1.0
                every = reduced(self.comm, every)
                absent, totals = every[:, -1] == 0.0, list(piece.kernel.totals)
                known = every[:, :-1]
                if len(before) == len(known):
                    known[np.ix_(absent, totals)] = before[np.ix_(absent, totals)]
            found.append(known)
        return tuple(found)

    def _evaluate(self, plan: Plan, state: Array, *, initial: bool = False) -> tuple[Array, ...]:
        mode = "initial" if initial else "update"
        values, bad = plan.tabulate(mode, self._numbers, state)
        bad += not all(np.isfinite(v).all() for v in values.values())
        names = ", ".join(repr(piece.name) for piece in self.pieces)
        if bad and initial:
            raise KinematicsError(f"the memory of {names} is not finite before the first step")
        if bad:
            raise ConvergenceError(
                f"the memory of {names} is not finite at the end of a step",
                reason="DIVERGED_FUNCTION_DOMAIN",
                iteration=0,
            )
        pairs = zip(self._numbers, self.own(self._now.next), strict=True)
        return tuple(values.get(k, before) for k, before in pairs)

    # ---- values ---------------------------------------------------------------------------------
    def at(self, name: str) -> dict[str, Array]:
        """Return what a piece has remembered at the beginning of the step, (n,) by row."""
        for piece, remembered in zip(self.pieces, self._remembered, strict=True):
            if piece.name == name:
                return dict(zip(piece.kernel.memory, remembered.T, strict=True))
        return {}

    def gathered(self, name: str) -> dict[str, Array]:
        """Return what all entities of a piece remember, on every rank (collective).

        By the names of the laws: (entities,) at places, (entities, points) on cells, in the order
        of the entities' numbers. An entity that a rank lacks is on another one.
        """
        found: dict[str, Array] = {}
        told = self.told(self._now.next)
        rows = zip(self.pieces, self._totals, self.parts(), told, strict=True)
        for piece, total, (ids, owned), values in rows:
            if piece.name != name:
                continue
            names = [row.partition("[")[0] for row in piece.kernel.memory]
            every: Array = np.zeros((total, values.shape[1]))
            every[ids[owned]] = values[owned]
            every = reduced(self.comm, every)
            for quantity in dict.fromkeys(names):
                table = every[:, [k for k, other in enumerate(names) if other == quantity]]
                found[quantity] = table if piece.kernel.tabulated else table[:, 0]
        return found

    def dissipated(self, chosen: Sequence[bool]) -> float:
        """Return the energy dissipated since the first step by the chosen pieces of `pieces` [J].

        This rank's part.
        """
        total = 0.0
        rows = zip(chosen, self.pieces, self.parts(), self.told(self._now.next), strict=True)
        for counts, piece, (_, owned), values in rows:
            if counts:
                total += float(values[owned][:, list(piece.kernel.totals)].sum())
        return total

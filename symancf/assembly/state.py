# SPDX-License-Identifier: BSD-3-Clause
"""The state of a system: what the next step depends on, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from ..arrays import Array, Data

if TYPE_CHECKING:
    from mpi4py import MPI

# arrays of a term by name, never written to; on this rank, see `Revises.own_rows`
ActiveSet: TypeAlias = Mapping[str, Data]


def same_arrays(one: ActiveSet, other: ActiveSet) -> bool:
    """Tell whether two sets have the same arrays; most often they share them."""
    return one.keys() == other.keys() and all(
        value is other[name] or np.array_equal(value, other[name]) for name, value in one.items()
    )


def rows_of_one(comm: MPI.Comm, arrays: ActiveSet) -> dict[str, Data]:
    """Return all rows of arrays that are the same on every rank on the first one, else none."""
    return {name: value[slice(None if comm.rank == 0 else 0)] for name, value in arrays.items()}


def join_rows(comm: MPI.Comm, rows: ActiveSet) -> dict[str, Data]:
    """Return the rows of all ranks, one after the other, on every rank (collective)."""
    return {name: np.concatenate(comm.allgather(value)) for name, value in rows.items()}


@dataclass(frozen=True, eq=False)
class InternalVariables:
    """Internal variables of laws at their points; the arrays are never written to.

    Attributes
    ----------
    old, next : of each form with memory, (entities, rows) at the beginning and at the end of the
        last step, or of the present one; of lists that change all entities of all ranks.
    length, since : of the last step and where the present one began [s].
    stepping : whether there is a present step.
    initialised : whether the initial values have been found.
    """

    old: tuple[Array, ...] = ()
    next: tuple[Array, ...] = ()
    length: float = 0.0
    since: float = 0.0
    stepping: bool = False
    initialised: bool = True


@dataclass(frozen=True, eq=False)
class State:
    """What the next step depends on, beside the problem: a value, that no step changes.

    A step that is rejected is one whose state is not used. Arrays hold the coordinates that this
    rank owns, fixed ones included, and nothing of PETSc: any rank may drop a state by itself.

    Attributes
    ----------
    time : [s], or the pseudo-time of statics.
    displacement : (owned,) displacements, slopes and multipliers.
    rate, acceleration : (owned,), of motions; None in statics.
    stiffness : scale of the multipliers: a multiplier times `stiffness` is a force.
    internal : internal variables of laws.
    terms : values of the `StateVariable` of all terms, such as the factor by which the stiffness
        of a contact has grown.
    active : of each term whose list of entities changes, which these are and what the next search
        for them depends on, such as the pairs of facets that may touch; see `Revises`. Of a list of
        pairs a rank has those that it needs.
    pattern : of the same terms, the entities that the pattern of the tangent was made for, of one
        list or of several: it decides on the order of elimination, and so on the last bits.
    parameters : values of the system's `Parameter` objects; none: they stay as they are.
    method : of the method, by name: numbers, as JSON has them, and arrays (owned,).
    """

    time: float
    displacement: Array
    stiffness: float = 1.0
    internal: InternalVariables = field(default_factory=InternalVariables)
    terms: tuple[Array, ...] = ()
    active: tuple[ActiveSet, ...] = ()
    pattern: tuple[tuple[ActiveSet, ...], ...] = ()
    parameters: tuple[float, ...] = ()
    rate: Array | None = None
    acceleration: Array | None = None
    method: Mapping[str, Any] = field(default_factory=dict)

    def remembering(self, other: State) -> State:
        """Return this state with what laws and terms remember in another one."""
        return replace(
            self,
            internal=other.internal,
            terms=other.terms,
            active=other.active,
            pattern=other.pattern,
        )

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Numbers of coordinates, laws with memory, state variables of terms, parameters."""
        internal, terms = len(self.internal.old), len(self.terms)
        return len(self.displacement), internal, terms, len(self.parameters)

    @property
    def rates(self) -> tuple[Array, Array]:
        """Rates and accelerations of a motion."""
        assert self.rate is not None
        assert self.acceleration is not None
        return self.rate, self.acceleration


class StatesOfSteps(Sequence[State]):
    """States that differ in time and motion alone: those at the ends of steps of one length.

    Parameters
    ----------
    last : the last one, as a value.
    times : of the states (n,).
    motions : (n, 4, coordinates) coordinates, rates, accelerations and A of generalized-alpha.
    functions : (n, columns) functions of time alone, see `Timetable`; None: not known.
    """

    def __init__(
        self, last: State, times: Array, motions: Array, functions: Array | None = None
    ) -> None:
        self.last, self.times, self.motions, self.functions = last, times, motions, functions

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, number: int) -> State: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[State]: ...
    def __getitem__(self, number: int | slice) -> State | Sequence[State]:
        """Return a state by its number."""
        if isinstance(number, slice):
            return [self[k] for k in range(len(self))[number]]
        own = self.motions[number, :, : len(self.last.displacement)]
        return replace(
            self.last,
            time=float(self.times[number]),
            displacement=own[0],
            rate=own[1],
            acceleration=own[2],
            method={**self.last.method, "auxiliary": own[3]},
        )


@dataclass
class StateVariable:
    """Numbers of a term that belong to the state, such as a stiffness that grows.

    Attributes
    ----------
    name : in checkpoints; no other of the system.
    value : any shape, the same on every rank. Assign another array, never write to this one.
    learn : what an attempt at a step that failed is to the next one: of the value there and that to
        begin with, the one to begin with instead. Default: nothing.
    """

    name: str
    value: Array
    learn: Callable[[Array, Array], Array] | None = None

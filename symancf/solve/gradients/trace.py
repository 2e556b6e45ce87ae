# SPDX-License-Identifier: BSD-3-Clause
"""The states of all steps of a solution, in memory and on disk: `sa.Trace`."""

from __future__ import annotations

import math
import pickle
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
from mpi4py import MPI

from ...assembly.state import StatesOfSteps
from ...errors import OwnAttributes, ParameterError
from ...runtime.collective import reduced, together
from ...runtime.display import Displayable
from ...runtime.files import writing
from ...values import arguments
from ...values.parameter import label
from .checkpoints import first_checkpoint

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.state import State

    # repeats steps from a restart point to a state of some number, and returns the states, where
    # they are asked for, and the restart point there
    Repeat: TypeAlias = Callable[[State, int, bool], tuple[list[Sequence[State]], State]]

UNITS = {"": 1.0, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@dataclass
class _Span:
    """The states from one restart point of a solution to the next, both included.

    Attributes
    ----------
    first : number of the first state.
    size : norms of its coordinates and rates.
    restart : from which the steps are repeated; None: not in memory.
    parts : the states, or files with them; none: not in memory.
    firsts : numbers of the first states of parts.
    """

    first: int
    size: Array | None = None
    restart: State | None = None
    parts: list[Sequence[State] | Path] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)

    def add(self, states: Sequence[State] | Path, first: int) -> None:
        """Add states, the first of which has a number."""
        self.parts.append(states)
        self.firsts.append(first)

    def drop(self) -> None:
        """Forget the states."""
        self.parts, self.firsts = [], []


class Trace(Displayable, OwnAttributes):
    """The states that the steps of a solution have reached, the first one included.

    A gradient of what happened on the way, or of what depends on the way (plasticity, viscosity,
    friction), goes back over them. Give it to the solution: ``problem.solve(to=1.0, trace=trace)``;
    one that is given again continues. States share what does not change from one to the next.

    Beyond the memory a motion repeats steps: the trace has checkpoints, restart points of the
    motion, of which a longer motion drops every second one. Backwards, checkpoints between them are
    binomial: with s of them, C(s + r, r) stretches of steps are made at most r + 1 times again
    (A. Griewank, A. Walther: Algorithm 799: revolve. ACM Trans. Math. Softw. 26, 2000). Goals at
    all times need the steps once more. On one rank with factors of UMFPACK or KLU repeated states
    have the same bits.

    Parameters
    ----------
    memory : most bytes of each process, a number or a text with a unit, ``"4 GB"``, ``"500 MB"``;
        beside 32 bytes of each step. A motion without a folder repeats steps.
    folder : for further states, in files which vanish with the trace; those of statics are in that
        of temporary files where none is given.

    Attributes
    ----------
    bytes : in memory, of this process.
    on_disk : number of states in files.
    every : steps from one of its restart points to the next; 0: it has none.
    checkpoints : numbers of the states from which steps can be repeated now.
    repetitions : number of steps that were made again so far.
    origin : what the first state is: that before all steps, ``"start"``; one that such a solution
        has led to, ``"solution"``; or another one.
    why : in words, what a step depends on besides the state before it; empty if on nothing.

    Raises
    ------
    ParameterError : no such amount of memory; the folder does not exist.

    Examples
    --------
    >>> import symancf as sa
    >>> trace = sa.Trace(memory="1 GB")
    >>> mesh = sa.Mesh.box((1.0,), (2,))
    >>> given = {"EA": 1e3, "EI": 1.0}
    >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    >>> tip = cable.at((1.0, 0.0, 0.0))
    >>> drive = sa.Series([0.0, 0.5, 1.0], [0.0, 2.0, 1.0])
    >>> terms = [sa.fix(cable["x0"]), sa.force(tip, (0.0, drive, 0.0))]
    >>> problem = sa.StaticProblem(sa.System(cable, terms=terms))
    >>> _ = problem.solve(step=0.25, trace=trace)
    >>> [float(t) for t in trace.times]
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> sag = sa.Goal(lambda u_a: u_a[1], tip)
    >>> g = problem.gradient(sag.at(0.5), [drive])
    >>> [round(float(x), 3) for x in g[drive]]
    [0.0, 0.14, 0.0]
    """

    #: bytes of a state beside its arrays
    _objects = 2000.0
    #: states beside those of segments: the first and the last one, and restart points under way
    _others = 6
    #: relative: what norms of states that are repeated may differ by
    _same = 1e-6

    def __init__(self, memory: float | str = "4 GB", folder: str | Path | None = None) -> None:
        self._limit = _bytes(memory)
        self._folder = None if folder is None else arguments.path("Trace(folder=...)", folder)
        if self._folder is not None and not self._folder.is_dir():
            raise ParameterError(
                f"Trace(folder=...): there is no folder {str(self._folder)!r}",
                asked="folder",
                given=str(self._folder),
            )
        self.clear()

    def clear(self) -> None:
        """Forget all states."""
        self._stretches = [_Span(0)]
        self._recent = 0  # number of the stretch that was asked for last
        self._leaf = -1  # number of the stretch whose steps were repeated last
        self._begun: tuple[int, State] | None = None  # a stretch, where the last repetition ended
        self._ends: tuple[State | None, State | None] = None, None  # the first and the last state
        self.every = self._slots = 0
        self._repeat: Repeat | None = None
        self._comm: MPI.Comm = MPI.COMM_SELF
        self._largest = np.zeros(2)
        self._times, self._numbers = array("d"), array("d")
        self._parameters: set[tuple[float, ...]] = set()
        self._last: set[int] = set()
        self._read: tuple[Path, Sequence[State]] | None = None  # the last file that was read
        self._disk: TemporaryDirectory[str] | None = None
        self.bytes = self.on_disk = self.repetitions = 0
        self.origin: Literal["start", "solution", ""] = ""
        self.why = ""

    def empty(self) -> Trace:
        """Return a trace of the same memory and folder, without states."""
        made: Trace = object.__new__(Trace)
        made._limit, made._folder = self._limit, self._folder
        made.clear()
        return made

    def _headline(self) -> str:
        """Return how long it is."""
        return f"Trace of {len(self)} states"

    def _facts(self) -> Sequence[Sequence[str]]:
        """Return where they are."""
        return [("memory", f"{self.bytes / 1e6:.3g} MB"), ("files", str(self.on_disk))]

    @property
    def times(self) -> Array:
        """The times of the states (n,)."""
        return np.array(self._times)

    @property
    def numbers(self) -> Array:
        """Of each state (n, 3): `last_step` and `biased` of the method, and `State.stiffness`."""
        return np.array(self._numbers).reshape(-1, 3)

    def room(self, size: int) -> int:
        """Return how many states of a size in bytes steps may make at once."""
        return int(min(self._limit / 4.0 / max(1, size), 2**31))

    @property
    def follows_parameters(self) -> bool:
        """Whether a `Parameter` was set between steps."""
        return len(self._parameters) > 1

    def append(self, state: State, comm: MPI.Comm, why: str = "") -> None:
        """Take the state that a step has reached, see `extend` (collective)."""
        self.extend((state,), comm, why)

    def extend(self, states: Sequence[State], comm: MPI.Comm, why: str = "") -> None:
        """Take the states that steps have reached, one after the other (collective).

        Those of one call stay together; what they share counts once.

        Parameters
        ----------
        why : in words, what besides the state before it a step depends on.

        Raises
        ------
        OSError : a state cannot be written, on any rank.
        """
        with together(comm):
            if states:
                self._extend(states)
        self.why = self.why or why

    def _extend(self, states: Sequence[State]) -> None:
        there: Sequence[Any] = states
        some: Sequence[State] = states
        if isinstance(states, StatesOfSteps):
            there, some = [states.motions, states.functions], [states.last]
            self._times.extend(states.times)
        else:
            self._times.extend(state.time for state in states)
        arrays = {id(a): a.nbytes for a in _arrays(there)}
        size = sum(n for key, n in arrays.items() if key not in self._last)
        first, stretch = len(self._times) - len(states), self._stretches[-1]
        for state in some:
            method = state.method
            own = method.get("last_step", 0.0), method.get("biased", 0.0), state.stiffness
            self._numbers.extend(own * (len(states) // len(some)))
            self._parameters.add(state.parameters)
        room = size if isinstance(states, StatesOfSteps) else 0  # for the next ones, or one read
        if self.every or self.bytes + size + room <= self._limit:
            self.bytes += size
            self._last = {*arrays}  # of the states before
            stretch.add(states, first)
            return
        if self._disk is None:
            self._disk = TemporaryDirectory(dir=self._folder, prefix="symancf-trace-")
        path = Path(self._disk.name) / f"{len(stretch.parts)}.pickle"
        with writing(path):
            path.write_bytes(pickle.dumps(states, protocol=pickle.HIGHEST_PROTOCOL))
        self._last = set()
        stretch.add(path, first)
        self.on_disk += len(states)

    # ---- steps that are repeated ----------------------------------------------------------------
    @property
    def checkpoints(self) -> list[int]:
        """See the attributes."""
        return [stretch.first for stretch in self._stretches if stretch.restart is not None]

    def begin(self, state: State, comm: MPI.Comm, repeat: Repeat) -> int:
        """Take the first state of a motion (collective).

        Returns the number of steps from one restart point to the next; 0: further states go to
        files.

        Parameters
        ----------
        repeat : repeats steps.

        Raises
        ------
        ParameterError : the memory is too little for that of some states.
        """
        self.append(state, comm)
        if self._folder is not None:
            return 0
        size = sum(a.nbytes for a in {id(a): a for a in _arrays(state)}.values()) + self._objects
        most, size = (comm.allreduce(x, op) for x, op in ((self._limit, MPI.MIN), (size, MPI.MAX)))
        units = int(min(most / size, 2**31)) - self._others
        if units < 5:
            least = (self._others + 5) * size
            raise ParameterError(
                f"Trace(memory={self._limit:g}): a motion needs {least:.3g} bytes at least, "
                "those of some states, or a folder for its states, Trace(folder=...)",
                asked="memory",
                given=self._limit,
                possible=(math.ceil(least),),
            )
        self.every = max(1, units // 3 - 1)
        self._slots = units - 2 * (self.every + 1)
        self._repeat, self._comm, self._ends = repeat, comm, (state, None)
        return self.every

    def rest(self, restart: State, first: State | None = None) -> None:
        """Take a restart point; `first` is the state there, with which another stretch begins.

        None: the motion begins. What goes beyond the memory is dropped (collective).
        """
        if first is not None:
            size = self._size(first)
            self._largest = np.maximum(self._largest, size)
            self._stretches.append(_Span(len(self) - 1, size))
            self._stretches[-1].add((first,), len(self) - 1)
            self._recent += 1
        self._stretches[-1].restart = restart
        self._thin()
        self._count()

    def _size(self, state: State) -> Array:
        """Return the norms of coordinates and rates (collective)."""
        squares = [np.square(x).sum() for x in (state.displacement, state.rates[0])]
        return np.sqrt(reduced(self._comm, np.array(squares)))

    def _room(self, full: int) -> int:
        """Return how many restart points may be added beside so many more stretches of states."""
        return self._slots - len(self.checkpoints) - (self.every + 1) * full

    def _thin(self) -> None:
        """Drop the states of the first stretches, then every second restart point."""
        stretches = self._stretches
        full = [stretch for stretch in stretches[:-1] if stretch.parts]
        while full and self._room(len(full)) < 0:
            full.pop(0).drop()
        while self._room(len(full)) < 0:
            kept = [k for k, stretch in enumerate(stretches) if stretch.restart is not None]
            stride = 2 * min(b - a for a, b in pairwise(kept))
            for k in kept:
                if k % stride:
                    stretches[k].restart = None

    def _count(self) -> None:
        """Find the bytes of all that is in memory."""
        found: list[Any] = [*self._ends, self._begun]
        for stretch in self._stretches:
            found.append(stretch.restart)
            for part in stretch.parts:
                if isinstance(part, StatesOfSteps):
                    found.append((part.motions, part.functions))
                else:
                    found.append(part)
        arrays = {id(a): a.nbytes for a in _arrays(found)}
        self.bytes, self._last = sum(arrays.values()), {*arrays}

    def _find(self, k: int) -> None:
        """Repeat the steps of a stretch, whose states are not in memory (collective).

        Where the stretch after it was asked for before, the way is backwards: later ones, which are
        repeated where they are asked for again, make place for checkpoints.
        """
        stretches = self._stretches
        known = {j: s.restart for j, s in enumerate(stretches[: k + 1]) if s.restart is not None}
        if self._begun is not None and self._begun[0] <= k:
            known |= dict([self._begun])
        self._begun = None
        full = self._drop(k if self._recent == k + 1 else len(stretches))
        now = max(known)
        restart = known[now]
        while now < k:
            free = max(0, self._room(full))
            to = now + first_checkpoint(k - now + 1, free + 1)
            _, restart = self._repeat_steps(restart, now, to, False)
            stretches[to].restart = restart if free else None
            now = to
        parts, restart = self._repeat_steps(restart, k, k + 1, True)
        first = stretches[k].first
        for part in parts:
            stretches[k].add(part, first)
            first += len(part)
        self._leaf = k
        if k + 1 < len(stretches):
            self._begun = k + 1, restart
        self._count()

    def _drop(self, beyond: int) -> int:
        """Make room for the states of a stretch; return how many others have their states.

        Those that were repeated last are dropped, and all of stretches beyond one.
        """
        stretches = self._stretches
        if stretches[-1].parts and self._ends[1] is None:
            self._ends = self._ends[0], _alone(self[-1])
        for k, stretch in enumerate(stretches):
            if k > beyond:
                stretch.restart = None
            if k > beyond or k == self._leaf:
                stretch.drop()
        full = [stretch for stretch in stretches if stretch.parts]
        while full and self._room(len(full)) < 0:
            full.pop(0).drop()
        return len(full)

    def _repeat_steps(
        self, restart: State, begin: int, end: int, keeps: bool
    ) -> tuple[list[Sequence[State]], State]:
        """Repeat the steps from one stretch to another, and return the states, if asked for.

        Raises
        ------
        ParameterError : on every rank; they end elsewhere than they did.
        """
        assert self._repeat is not None
        stretches, last = self._stretches, len(self) - 1
        first, ends = stretches[begin].first, end == len(stretches)
        number = max(last - 1, first) if ends else stretches[end].first
        parts, there = self._repeat(restart, number, keeps)
        self.repetitions += number - first
        known = None if ends else stretches[end].size
        if known is not None and (
            there.time != self._times[number]
            or np.any(np.abs(self._size(there) - known) > self._same * self._largest)
        ):
            raise ParameterError(
                f"the steps from t = {self._times[first]:g} to {self._times[number]:g}, repeated "
                "for a gradient, end in another state than before: something that the motion "
                "depends on has changed, as a function of time since solve, or the state by a "
                "monitor; or take more memory, "
                "sa.Trace(memory=...)",
                asked="gradient",
                given=float(self._times[number]),
            )
        if ends and last > number:
            assert self._ends[1] is not None
            parts.append((self._ends[1],))
        return parts, there

    # ---- states ---------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[State]:
        """Return the states one after the other."""
        return (self[k] for k in range(len(self)))

    def _stretch(self, number: int) -> int:
        """Return the number of the stretch to which the step belongs that ends in a state."""
        return max(0, bisect_left(self._stretches, number, key=lambda s: s.first) - 1)

    def require_step(self, number: int) -> bool:
        """Let both states of the step that ends in one be in memory; tell whether they were not.

        (collective)
        """
        k = self._stretch(number)
        absent = not self._stretches[k].parts
        if absent:
            self._find(k)
        self._recent = k
        return absent

    def first(self, number: int) -> int:
        """Return the first of the states that are in memory together with one."""
        return self._stretches[self._stretch(number)].first

    def part(self, number: int) -> tuple[Sequence[State], int]:
        """Return the states that came together with one, by its number, and its place in them.

        Collective where steps are repeated.
        """
        number = range(len(self))[number]
        stretches, k = self._stretches, self._stretch(number)
        both = k + 1 < len(stretches) and stretches[k + 1].first == number
        if not stretches[k].parts:
            ends = {0: self._ends[0], len(self) - 1: self._ends[1]}
            found = ends.get(number)
            if both and stretches[k + 1].parts:
                k += 1
            elif found is not None:
                self._recent = k + 1 if number else 0
                return (found,), 0
            else:
                self._find(k)
        self._recent = k
        stretch = stretches[k]
        at = bisect_right(stretch.firsts, number) - 1
        there = stretch.parts[at]
        if isinstance(there, Path):
            if self._read is None or self._read[0] != there:
                self._read = None
                self._read = there, cast("Sequence[State]", pickle.loads(there.read_bytes()))
            there = self._read[1]
        return there, number - stretch.firsts[at]

    def __getitem__(self, number: int) -> State:
        """Return a state by its number, 0 is where the solution began."""
        states, place = self.part(number)
        return states[place]


def _alone(state: State) -> State:
    """Return a state with arrays of its own."""
    method = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in state.method.items()
    }
    u, (v, a) = state.displacement.copy(), state.rates
    return replace(state, displacement=u, rate=v.copy(), acceleration=a.copy(), method=method)


def _arrays(value: Any) -> Iterator[Array]:
    """Return the arrays of a state."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for entry in fields(value):
            yield from _arrays(getattr(value, entry.name))
    elif isinstance(value, dict):
        for part in value.values():
            yield from _arrays(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)


def _bytes(memory: float | str) -> float:
    """Return a number of bytes.

    Raises
    ------
    ParameterError
    """
    text = memory if isinstance(memory, str) else ""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([KMGT]?B?)\s*", text, re.IGNORECASE)
    number: Any = memory
    if found and found[2].upper() in UNITS:
        number = float(found[1]) * UNITS[found[2].upper()] if found[1].count(".") < 2 else None
    if isinstance(number, bool | str) or not isinstance(number, int | float) or not number >= 0:
        raise ParameterError(
            f"Trace(memory={label(memory)}): give a number of bytes, or a text as '4 GB'",
            asked="memory",
            given=label(memory),
            possible=[unit for unit in UNITS if unit],
        )
    return float(number)

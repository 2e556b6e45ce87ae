# SPDX-License-Identifier: BSD-3-Clause
"""The states of all steps of a solution, in memory and on disk: `sa.Trace`."""

from __future__ import annotations

import pickle
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ...assembly.state import StatesOfSteps
from ...errors import OwnAttributes, ParameterError
from ...runtime.collective import together
from ...runtime.display import Displayable
from ...runtime.files import writing
from ...values import arguments
from ...values.parameter import label

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...arrays import Array
    from ...assembly.state import State

UNITS = {"": 1.0, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


class Trace(Displayable, OwnAttributes):
    """The states that the steps of a solution have reached, the first one included.

    A gradient of what happened on the way, or of what depends on the way (plasticity, viscosity,
    friction), goes back over them. Give it to the solution: ``problem.solve(to=1.0, trace=trace)``;
    one that is given again continues. States share what does not change from one to the next.

    Parameters
    ----------
    memory : most bytes of each process, a number or a text with a unit, ``"4 GB"``, ``"500 MB"``;
        further states go to files, one each, which vanish with the trace.
    folder : where the files are; default: that of temporary files.

    Attributes
    ----------
    bytes : in memory, of this process.
    on_disk : number of states in files.
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
        self._parts: list[Sequence[State] | Path] = []
        self._firsts: list[int] = []  # numbers of the first states of parts
        self._times, self._numbers = array("d"), array("d")
        self._parameters: set[tuple[float, ...]] = set()
        self._last: set[int] = set()
        self._read: tuple[int, Sequence[State]] | None = None  # the last part that was read
        self._disk: TemporaryDirectory[str] | None = None
        self.bytes = self.on_disk = 0
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
        self._firsts.append(len(self._times) - len(states))
        for state in some:
            method = state.method
            own = method.get("last_step", 0.0), method.get("biased", 0.0), state.stiffness
            self._numbers.extend(own * (len(states) // len(some)))
            self._parameters.add(state.parameters)
        room = size if isinstance(states, StatesOfSteps) else 0  # for the next ones, or one read
        if self.bytes + size + room <= self._limit:
            self.bytes += size
            self._last = {*arrays}  # of the states before
            self._parts.append(states)
            return
        if self._disk is None:
            self._disk = TemporaryDirectory(dir=self._folder, prefix="symancf-trace-")
        path = Path(self._disk.name) / f"{len(self._parts)}.pickle"
        with writing(path):
            path.write_bytes(pickle.dumps(states, protocol=pickle.HIGHEST_PROTOCOL))
        self._last = set()
        self._parts.append(path)
        self.on_disk += len(states)

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[State]:
        """Return the states one after the other."""
        return (self[k] for k in range(len(self)))

    def part(self, number: int) -> tuple[Sequence[State], int]:
        """Return the states that came together with one, by its number, and its place in them."""
        k = bisect_right(self._firsts, range(len(self))[number]) - 1
        found = self._parts[k]
        if isinstance(found, Path):
            if self._read is None or self._read[0] != k:
                self._read = None
                self._read = k, cast("Sequence[State]", pickle.loads(found.read_bytes()))
            found = self._read[1]
        return found, range(len(self))[number] - self._firsts[k]

    def __getitem__(self, number: int) -> State:
        """Return a state by its number, 0 is where the solution began."""
        states, place = self.part(number)
        return states[place]


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

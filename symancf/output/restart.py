# SPDX-License-Identifier: BSD-3-Clause
"""Runs longer than what a batch system gives: kept at restart points, ended by a signal, gone on.

At a restart point a solution drops all that earlier steps have left in its solvers, whether it is
kept there or not. What follows depends on the state in the checkpoint alone, so that a run that
goes on from there has the bits of one that never ended, whenever the signal came.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time as clock
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, Data
from ..assembly.numbering import MOVING
from ..errors import CheckpointError, ParameterError, Suspended
from ..runtime.collective import together
from ..runtime.files import require_writable
from ..runtime.interruption import Interruption, Suspension
from ..values import arguments
from ..values.parameter import label
from . import Series, checkpoint
from .checkpoint import Facts, both, packed, unpacked
from .steps import LimitPoint, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..assembly.discrete import DiscreteSystem
    from ..assembly.numbering import Numbering
    from ..assembly.state import State
    from .history import History

SAME = 1e-6  # relative: states that differ by more are not those of the same run
POINTS = ("limit_points", "bifurcations")  # of histories
#: relative: likewise of given values, which machines may round differently
ROUND_OFF_TOLERANCE = 1e-9
LEAST, SHARE = 10.0, 50.0  # seconds between two files that nobody asked for; times their cost


@dataclass(frozen=True)
class Restart:
    """How ``solve(..., checkpoint=...)`` keeps a solution; a path alone has the defaults.

    The file is written after the step where it is due, by `minutes` of wall time, and at the end,
    to the end or not at all. A signal that comes to any rank has it written as well:

    - SIGUSR1 at the next restart point;
    - SIGTERM and Ctrl-C at once, with the last step: in statics after the iteration of Newton's
      method, in dynamics after the step.

    After SIGUSR1 and SIGTERM every rank raises `Suspended`, by which the script ends with the exit
    status 75, after Ctrl-C ``KeyboardInterrupt``; a second Ctrl-C ends the process at once.
    Where the file exists the solution continues from it. If it is that of the end nothing is left
    to do. The script is the same each time. From a restart point it continues bit for bit as a
    run that never ended, from another step to round-off.

    Parameters
    ----------
    path : of the checkpoint, one for each call of `solve` in a script.
    every : steps from one restart point to the next, where solvers start again: their speed,
        against how soon a signal is followed. Default: 1 in statics, 100 in dynamics.
    minutes : between two times that it is written without a signal; ``math.inf``: never. Default:
        10 s, or 50 times what writing takes, if that is longer.

    Examples
    --------
    >>> Restart("run.ckpt", every=20, minutes=30.0)
    Restart(path='run.ckpt', every=20, minutes=30.0)
    """

    path: str | Path
    every: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        arguments.path("Restart", self.path)
        every: object = self.every
        number = isinstance(every, int) and not isinstance(every, bool) and every > 0
        if not (every is None or number):
            raise ParameterError(
                f"Restart(every={label(self.every)}): give a number of steps", asked="every"
            )
        if self.minutes is not None:
            arguments.number(
                "Restart", "minutes", self.minutes, "be 0 or more minutes", lambda x: x >= 0.0
            )

    @classmethod
    def of(cls, call: str, value: Any) -> Restart:
        """Return what a call was given as a `Restart`.

        Raises
        ------
        ParameterError : it is neither that nor a path.
        """
        if isinstance(value, cls):
            return value
        return cls(arguments.path(f"{call}(checkpoint=...)", value))


@dataclass
class Saved:
    """What a checkpoint of a solution holds.

    Attributes
    ----------
    done : whether it is that of the end.
    state : of the solution, arrays of its method included.
    present : what uniform parameters were, by name.
    supports : sums of what supports prescribed, see `_sums`.
    """

    done: bool
    state: State
    present: Facts
    supports: list[list[float]]


class Restarts:
    """The restart points of one call, as a context (collective).

    Parameters
    ----------
    restart : what the call was given as ``checkpoint=``.
    call, inputs : name and arguments of the call; those of a checkpoint must be the same.
    usual : steps from one point to the next where `restart` tells none.
    interruption : of the solution; within the context it follows SIGTERM, too.
    """

    def __init__(
        self,
        restart: Any,
        system: DiscreteSystem,
        history: History,
        call: str,
        inputs: Mapping[str, Any],
        usual: int,
        interruption: Interruption,
    ) -> None:
        self.restart = Restart.of(call, restart)
        self.path = arguments.path(call, self.restart.path)
        self.every = self.restart.every or usual
        self.system, self.history = system, history
        self._call, self._call_arguments = call, dict(inputs)
        self._suspension, self._interruption = Suspension(str(self.path)), interruption
        self._written, self._cost = clock.monotonic(), 0.0
        self._inputs: dict[str, Any] = {}
        self._ended_at: tuple[float, int, int] | None = None
        self._state: State

    def __enter__(self) -> Restarts:
        self._suspension.__enter__()
        self._interruption.suspension = self._suspension
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._interruption.suspension = None
        self._suspension.__exit__(kind, error, trace)

    # ---- the beginning --------------------------------------------------------------------------
    def saved(self, to: float) -> Saved | None:
        """Return what the file holds; None: there is none, and the call begins (collective).

        The system is where the call begins. A history and series of files get what they had.

        Parameters
        ----------
        to : time of the end, at which functions of time are compared, too.

        Raises
        ------
        CheckpointError : it is that of another system, another call, or other values.
        OSError : on every rank; it cannot be written.
        """
        system, comm = self.system, self.system.comm
        self._inputs = _inputs(system, to) | {"call": self._call, "asked": self._call_arguments}
        with together(comm):
            there = comm.rank == 0 and self.path.exists()
            if comm.rank == 0 and not there:
                require_writable(self.path)
        if not comm.bcast(there):
            return None
        state, facts = checkpoint.read(self.path, system)
        if "restart" not in facts:
            raise CheckpointError(
                f"{str(self.path)!r} was written by save(), not by {self._call}(checkpoint=...): "
                "give another name, or restore() it",
                path=str(self.path),
            )
        stored = unpacked(facts.pop("restart"))
        texts = _differences(stored["inputs"], self._inputs)
        counts = len(state.parameters), len(system.parameters)
        if counts[0] != counts[1]:
            texts.append(f"{counts[0]} sa.Parameter objects in the file, {counts[1]} here")
        if texts:
            raise CheckpointError(
                f"{str(self.path)!r} is a checkpoint of another run: {'; '.join(texts)}. Delete it "
                "to start again, or give another name",
                path=str(self.path),
                differences=texts,
            )
        with together(comm):
            if comm.rank == 0 and not stored["done"]:
                require_writable(self.path)
        restore_history(self.history, str(self.path), system.numbering, state.method, facts)
        restore_series(stored["series"])
        self._written = clock.monotonic()
        return Saved(stored["done"], state, stored["present"], stored["supports"])

    @property
    def _here(self) -> tuple[float, int, int]:
        """What tells one step from another."""
        return self.system.time, len(self.history.steps), len(self.history.time)

    def resume(self, saved: Saved) -> None:
        """Report where the solution continues, if the loads are those of the file (collective).

        Raises
        ------
        CheckpointError : a function of the program gives another value, as one whose variables a
            monitor has changed on the way.
        """
        texts = _other_values(saved.present, _values(self.system))
        if not texts and not _near(saved.supports, _sums(self.system, self.system.time)):
            texts = ["supports prescribe other displacements than then"]
        if texts:
            raise CheckpointError(
                f"{str(self.path)!r} cannot be continued: {'; '.join(texts)}. What a monitor or an "
                "action changes is saved where it is the value of an sa.Parameter that the "
                "system was given",
                path=str(self.path),
                differences=texts,
            )
        at = f"at time {self.system.time:.7g}, after {len(self.history.steps)} steps"
        if saved.done:
            self._say(
                f"{self._call} ended in an earlier run {at}, and is read from {str(self.path)!r}; "
                "delete that file to start again"
            )
        else:
            self._say(f"{self._call} continues from {str(self.path)!r} {at}")

    # ---- a step ---------------------------------------------------------------------------------
    def step(self, done: bool, rests: bool, keep: Callable[[], State]) -> None:
        """Write the file after a step, where it is due (collective).

        Parameters
        ----------
        done : whether this is the end of the call.
        rests : whether this is a restart point.
        keep : returns the state of the solution.

        Raises
        ------
        Suspended : on every rank; a signal asks to end before the end.
        OSError : on every rank; see `symancf.output.checkpoint.save`.
        """
        comm, signal, minutes = self.system.comm, self._suspension.signal_name, self.restart.minutes
        pause = max(LEAST, SHARE * self._cost) if minutes is None else 60.0 * minutes
        due = clock.monotonic() - self._written >= pause
        if comm.size > 1:
            every = comm.allgather((signal, due))
            signal, due = max(name for name, _ in every), every[0][1]
        ends = bool(signal) and rests and not done
        if done:  # what comes now is for the next call
            self._interruption.suspension = None
        if done or ends or due:
            self._write(done, keep())
        if ends:
            self._tell(signal)
            raise Suspended(str(self.path))

    def ended(self, state: State) -> None:
        """Take the state at the end of a step, in case that `stop` comes in the next."""
        self._ended_at, self._state = self._here, state

    def stop(self, keep: Callable[[], State] | None = None, done: bool = False) -> None:
        """Write the file when a check of the interruption has raised (collective).

        `done`, `keep` as for `step`; default: that of `ended`, where the system is at that step
        again.

        Raises
        ------
        OSError : on every rank; see `symancf.output.checkpoint.save`.
        """
        if not self._interruption.stopped:
            return
        signal = max(self.system.comm.allgather(self._suspension.signal_name)) or "Ctrl-C"
        if keep is None and self._ended_at != self._here:
            self._say(
                f"{signal} before a step of {self._call} has ended: {str(self.path)!r} is left "
                "as it is"
            )
            return
        self._write(done, keep() if keep is not None else self._state)
        self._tell(signal)

    def _write(self, done: bool, state: State) -> None:
        begun, comm = clock.monotonic(), self.system.comm
        with together(comm):
            self.system.update(self.system.time)
        of_points, stored = of_history(self.history, self.system.numbering.owned)
        facts = {
            "inputs": self._inputs,
            "done": done,
            "series": of_series(),
            "present": _values(self.system),
            "supports": _sums(self.system, self.system.time),
        }
        stored["restart"] = packed(facts)
        state = replace(state, method={**state.method, **of_points})
        checkpoint.write(self.path, self.system, state, stored)
        self._written = clock.monotonic()
        self._cost = self._written - begun

    def _tell(self, signal: str) -> None:
        self._say(
            f"{signal}: {self._call} is saved in {str(self.path)!r} at time "
            f"{self.system.time:.7g}; run the same script again to continue from there"
        )

    def _say(self, text: str) -> None:
        if self.system.comm.rank == 0:
            print(f"symancf: {text}", file=sys.stderr, flush=True)


# ---- what a run is given ------------------------------------------------------------------------
def _values(system: DiscreteSystem) -> dict[str, list[float]]:
    """Return what uniform parameters are now, by their names."""
    by_name: dict[str, list[float]] = {}
    for assembler in [
        system.assembler,
        *([system.inertia] if "inertia" in system.__dict__ else []),
    ]:
        for name, value in zip(assembler.names(), assembler.values.tolist(), strict=True):
            by_name.setdefault(name, []).append(value)
    return by_name


def _inputs(system: DiscreteSystem, to: float) -> dict[str, Any]:
    """Return what a run begins with: laws, values at both ends, fields, state (collective)."""
    now = system.time
    laws: dict[str, list[str]] = {}
    for form in system.forms:
        text = hashlib.sha256(form.kernel.source.encode()).hexdigest()[:16]
        laws.setdefault(form.name, []).append(text)
    values, numbers = [], []
    for time in (now, to):
        with together(system.comm):
            system.update(time)
        values.append(_values(system))
        numbers += _sums(system, time)
    with together(system.comm):
        system.update(now)
    moving, projected = system.numbering.those(*MOVING), system.numbering.random(11)
    owned = system.numbering.vertex_of < system.numbering.owned_vertices
    u = np.where(moving & owned, system.state, 0.0)
    v = np.where(moving & owned, system.rate, 0.0) if "rate" in system.__dict__ else 0.0 * u
    products = system.sum(np.array([u @ u, u @ projected, v @ v, v @ projected]))
    fields = {}
    for number, form in enumerate(p for p in system.forms if not p.changing):
        cell = np.asarray(form.cell, dtype=float)[form.owned]
        sums = system.sum(np.concatenate([np.abs(cell).sum(axis=0), np.square(cell).sum(axis=0)]))
        fields[f"{form.name} {number}"] = sums.tolist()
    return {
        "laws": laws,
        "values": values,
        "supports": numbers,
        "fields": fields,
        "time": now,
        "start": products.tolist(),
        "extent": float(system.extent),
    }


def _sums(system: DiscreteSystem, time: float) -> list[list[float]]:
    """Return sums of what supports prescribe, the same on any number of ranks (collective)."""
    with together(system.comm):
        prescribed = [(support.offsets, support.course([time])[0]) for support in system.supports]
    numbering = system.numbering
    projected = numbering.random(13)
    rows = []
    for places, values in prescribed:
        own = numbering.vertex_of[places] < numbering.owned_vertices
        g = np.asarray(values, dtype=float)[own]
        rows.append([g @ g, g @ projected[places][own]])
    if not rows:
        return []
    sums: list[list[float]] = system.sum(np.array(rows).ravel()).reshape(-1, 2).tolist()
    return sums


def _differences(saved: Facts, present: Facts) -> list[str]:
    """Tell in words in what another run differs from the one that a file is of."""
    texts = _other_model(saved, present)
    for when, old, new in zip(
        ("the beginning", "the end"), saved["values"], present["values"], strict=True
    ):
        if not texts:
            texts += [f"{text} at {when}" for text in _other_values(old, new)]
    if not texts and not _near(saved["supports"], present["supports"]):
        texts.append("supports prescribe other displacements")
    for name, old in saved["fields"].items():
        new = present["fields"].get(name, [])
        if len(old) != len(new) or not all(map(_close, old, new)):
            texts.append(f"fields of {name.rpartition(' ')[0]!r} differ")
    if not texts and not _same_start(saved["start"], present["start"], present["extent"]):
        texts.append("it begins at another state")
    return texts


def _other_model(saved: Facts, present: Facts) -> list[str]:
    """Tell in words in what the call, its time and the laws differ."""
    texts = []
    if saved["call"] != present["call"]:
        texts.append(f"{saved['call']}() in the file, {present['call']}() here")
    for name, old, new in both(saved["asked"], present["asked"]):
        if old != new:
            texts.append(f"{name}={old!r} in the file, {new!r} here")
    if not _close(saved["time"], present["time"], SAME):
        texts.append(f"it begins at {saved['time']:.7g} in the file, {present['time']:.7g} here")
    for name, old, new in both(saved["laws"], present["laws"]):
        if old != new:
            texts.append(f"the law of {name!r} is another one")
    return texts


def _same_start(saved: Sequence[float], present: Sequence[float], extent: float) -> bool:
    """Tell whether square sums and projections of two states, u and v, are the same."""
    least = (1e-9 * extent) ** 2
    u, _, v, _ = saved
    sizes = 0.0, math.sqrt(u), 0.0, math.sqrt(v)  # of projections
    return not any(
        abs(a - b) > SAME * max(abs(a), abs(b), size, least)
        for a, b, size in zip(saved, present, sizes, strict=True)
    )


def _near(saved: Sequence[Sequence[float]], present: Sequence[Sequence[float]]) -> bool:
    """Tell whether rows of a square sum and a projection are the same to round-off."""
    if len(saved) != len(present):
        return False
    return all(
        _close(a, b) and abs(x - y) <= ROUND_OFF_TOLERANCE * math.sqrt(max(a, b))
        for (a, x), (b, y) in zip(saved, present, strict=True)
    )


def _close(a: float, b: float, share: float = ROUND_OFF_TOLERANCE) -> bool:
    return abs(a - b) <= share * max(abs(a), abs(b))


def _other_values(saved: Facts, present: Facts) -> list[str]:
    """Tell in words which values differ."""
    texts = []
    for name, old, new in both(saved, present):
        old, new = old or [], new or []
        if len(old) != len(new):
            texts.append(f"{name}: {len(old)} values in the file, {len(new)} here")
        elif not all(map(_close, old, new)):
            k = next(k for k, (a, b) in enumerate(zip(old, new, strict=True)) if not _close(a, b))
            texts.append(f"{name} is {old[k]:.9g} in the file, {new[k]:.9g} here")
    return texts[:5]


# ---- histories and series of files --------------------------------------------------------------
# A history is put back whole; its files get the rows that they lack. A `Series` lists the states
# that the run had written when the checkpoint was made, whatever was written after it is written
# again.
def of_history(history: History, owned: int) -> tuple[dict[str, Array], dict[str, Data]]:
    """Return the states of points on paths and what else a history holds, for a checkpoint.

    `owned` : number of the coordinates that this rank owns, which states are written of.
    """
    vectors: dict[str, Array] = {}
    facts: dict[str, Any] = {
        "counts": [history.cut_backs, history.wasted],
        "search": history.search,
        "seconds": history.seconds,
        "series": {s.name: [s.every, s.first] for s in history._series.values()},
        "norms": [step.norms for step in history.steps],
        "parameters": [step.parameters for step in history.steps],
    }
    for kind in POINTS:
        points: list[LimitPoint] = getattr(history, kind)
        vectors |= {f"{kind} {k}": point.state[:owned] for k, point in enumerate(points)}
        facts[kind] = [
            {
                "time": point.time,
                "parameter": point.parameter,
                "kind": point.kind,
                "eigenvalues": point.eigenvalues,
                "values": {name: value.tolist() for name, value in point.values.items()},
            }
            for point in points
        ]
    steps = [
        [step.time, step.iterations, step.linear_iterations, step.parameter, step.unstable]
        for step in history.steps
    ]
    arrays: dict[str, Data] = {
        "history": packed(facts),
        "history steps": np.array(steps, dtype=np.float64).reshape(-1, 5),  # None is NaN
        "history time": history.time.copy(),
    }
    arrays |= {f"history series {k}": history[n].copy() for k, n in enumerate(history.names)}
    return vectors, arrays


def restore_history(
    history: History,
    path: str,
    numbering: Numbering,
    vectors: Mapping[str, Array],
    arrays: Mapping[str, Data],
) -> None:
    """Give a history what `of_history` took of another one (collective).

    Raises
    ------
    CheckpointError : it records other series, or more steps than that one.
    OSError : of its files.
    """
    facts = unpacked(arrays["history"])
    present = {s.name: [s.every, s.first] for s in history._series.values()}
    time = np.asarray(arrays["history time"], dtype=np.float64)
    if list(facts["series"].items()) != list(present.items()):
        there, here = (", ".join(s) or "none" for s in (facts["series"], present))
        text = f"the series of its history are {there}, here {here}"
        raise CheckpointError(
            f"{path!r} is of another run: {text}, or are recorded in other steps",
            path=path,
            differences=[text],
        )
    begun = len(history.time)
    if begun > len(time):
        text = f"{len(time)} steps in its history, {begun} here before it continues"
        raise CheckpointError(f"{path!r} is of another run: {text}", path=path, differences=[text])
    history._time.buffer, history._time.count = time.copy(), len(time)
    for number, series in enumerate(history._series.values()):
        rows = np.array(arrays[f"history series {number}"], dtype=np.float64)
        if len(rows):
            series.buffer, series.count = rows, len(rows)
    history.steps = [
        Step(
            float(t),
            int(iterations),
            int(linear),
            norms,
            None if np.isnan(parameter) else float(parameter),
            None if np.isnan(unstable) else int(unstable),
            parameters,
        )
        for (t, iterations, linear, parameter, unstable), norms, parameters in zip(
            arrays["history steps"], facts["norms"], facts["parameters"], strict=True
        )
    ]
    history.cut_backs, history.wasted = facts["counts"]
    history.search = facts["search"]
    history.seconds.update(facts["seconds"])
    for kind in POINTS:
        points = [
            LimitPoint(
                state=numbering.local(vectors[f"{kind} {number}"]),
                values={name: np.array(value) for name, value in point.pop("values").items()},
                **point,
            )
            for number, point in enumerate(facts[kind])
        ]
        setattr(history, kind, points)
    with together(history.comm):
        if history.comm.rank == 0:
            history._write_rows(history._streams, begun)


def of_series() -> dict[str, Any]:
    """Return what series of files of this process list, by their names."""
    return {path: [s.states, s.entries] for path, s in Series.living.items()}


def restore_series(listed: Mapping[str, Any]) -> None:
    """Let series of the same names list that (collective)."""
    for path, series in sorted(Series.living.items()):
        if path in listed:
            states, entries = listed[path]
            series.resume(int(states), [(float(t), name, file) for t, name, file in entries])

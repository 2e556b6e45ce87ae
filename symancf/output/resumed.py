# SPDX-License-Identifier: BSD-3-Clause
"""Histories and series of files in checkpoints: a run that goes on has them as if it had not ended.

A history is put back whole; its files get the rows that they lack. A `Series` lists the states that
the run had written when the checkpoint was made, whatever was written after it is written again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..errors import CheckpointError
from ..runtime.collective import together
from . import Series
from .steps import LimitPoint, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..arrays import Data
    from ..assembly.numbering import Numbering
    from .history import History

POINTS = ("limit_points", "bifurcations")


def packed(facts: Any) -> Data:
    """Return facts as bytes of JSON: texts of HDF5 end at 64 KiB. Numbers keep all their digits."""
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)


def unpacked(given: Data) -> Any:
    """Return what `packed` was given."""
    return json.loads(np.asarray(given, np.uint8).tobytes())


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
        found: list[dict[str, Any]] = []
        for number, point in enumerate(getattr(history, kind)):
            vectors[f"{kind} {number}"] = point.state[:owned]
            values = {name: value.tolist() for name, value in point.values.items()}
            found.append(
                {
                    "time": point.time,
                    "parameter": point.parameter,
                    "kind": point.kind,
                    "eigenvalues": point.eigenvalues,
                    "values": values,
                }
            )
        facts[kind] = found
    nan = float("nan")
    steps = [
        [
            s.time,
            s.iterations,
            s.linear_iterations,
            nan if s.parameter is None else s.parameter,
            nan if s.unstable is None else s.unstable,
        ]
        for s in history.steps
    ]
    held: dict[str, Data] = {
        "history": packed(facts),
        "history steps": np.array(steps, dtype=np.float64).reshape(-1, 5),
        "history time": history.time.copy(),
    }
    for number, name in enumerate(history.names):
        held[f"history series {number}"] = history[name].copy()
    return vectors, held


def put_history(
    history: History,
    path: str,
    numbering: Numbering,
    vectors: Mapping[str, Array],
    held: Mapping[str, Data],
) -> None:
    """Give a history what `of_history` took of another one (collective).

    Raises
    ------
    CheckpointError : it records other series, or more steps than that one.
    OSError : of its files.
    """
    facts = unpacked(held["history"])
    present = {s.name: [s.every, s.first] for s in history._series.values()}
    time = np.asarray(held["history time"], dtype=np.float64)
    if list(facts["series"].items()) != list(present.items()):
        there, here = (", ".join(s) or "none" for s in (facts["series"], present))
        found = f"the series of its history are {there}, here {here}"
        raise CheckpointError(
            f"{path!r} is of another run: {found}, or are kept in other steps",
            path=path,
            differences=[found],
        )
    begun = len(history.time)
    if begun > len(time):
        found = f"{len(time)} steps in its history, {begun} here before it goes on"
        raise CheckpointError(
            f"{path!r} is of another run: {found}", path=path, differences=[found]
        )
    history._time.buffer, history._time.count = time.copy(), len(time)
    for number, (name, series) in enumerate(history._series.items()):
        rows = np.array(held[f"history series {number}"], dtype=np.float64)
        if len(rows):
            series.buffer, series.count = rows, len(rows)
        assert series.name == name
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
            held["history steps"], facts["norms"], facts["parameters"], strict=True
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
            history.write_rows(history._streams, begun)


def of_series() -> dict[str, Any]:
    """Return what series of files of this process list, by their names."""
    return {path: [s.states, s.entries] for path, s in Series.living.items()}


def put_series(listed: Mapping[str, Any]) -> None:
    """Let series of the same names list that (collective)."""
    for path, series in sorted(Series.living.items()):
        if path in listed:
            states, entries = listed[path]
            series.resume(int(states), [(float(t), name, file) for t, name, file in entries])


__all__ = ["of_history", "of_series", "packed", "put_history", "put_series", "unpacked"]

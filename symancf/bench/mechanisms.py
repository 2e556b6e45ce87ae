# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of a step of mechanisms, and of a static design, beside Exudyn's in the same run."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median
from subprocess import PIPE, STDOUT, Popen
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from .dimensions import MODELS
from .motions import PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

REPEATS = 5
OURS = [sys.executable, "-W", "ignore", "-m", f"{__package__}.mechanism"]


def compare(
    models: Sequence[str] = (),
    with_peers: bool = False,
    steps: int | None = None,
    repeats: int = REPEATS,
) -> list[Row]:
    """Return a row for each of `models`, default all: medians of `repeats` alternating runs.

    With Exudyn, `ratio` is our CPU time of a step to its own, `ratio_recorded` the same with
    positions of two places recorded in each step; of Python functions of time and symbolic ones,
    Exudyn's faster counts. `apart` : distance of the first place at the end [m]; `size` : of the
    motion. `steps` : fewer than `MODELS` has, for tests.

    Raises
    ------
    ParameterError : a name that is not in `MODELS`.
    """
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        raise ParameterError(
            f"no mechanism {unknown[0]!r}: there are {', '.join(MODELS)}",
            asked="mechanism",
            given=unknown[0],
            possible=tuple(MODELS),
        )
    return [_row(model, with_peers, steps, repeats) for model in models or MODELS]


def _row(model: str, with_peers: bool, steps: int | None, repeats: int) -> Row:
    """Return times of a model in two processes that run by turns, each keeps its imports."""
    ways: list[tuple[str, Row]] = [("ours", {})]
    commands = {"ours": OURS}
    if with_peers:
        script = str(Path(__file__).with_name("peer_mechanisms.py"))
        commands["peer"] = [os.environ.get(PYTHON, sys.executable), "-W", "ignore", script]
        ways += [("peer", {}), ("peer", {"symbolic": True})]
    asked = [
        (of, {"model": model, "steps": steps, "record": record, **way})
        for of, way in ways
        for record in (False, True)
    ]
    found: list[list[Row]] = [[] for _ in asked]
    pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": STDOUT}
    with ExitStack() as stack:
        processes = {
            of: stack.enter_context(Popen(command, bufsize=0, **pipes))
            for of, command in commands.items()
        }
        for _ in range(repeats):
            for (of, given), answers in zip(asked, found, strict=True):
                if not any("missing" in answer for answer in answers):
                    answers.append(_answer(processes[of], given))
    return _beside(model, [_middle(answers) for answers in found])


def _answer(process: Popen[bytes], line: Row) -> Row:
    """Return what a process answers to a line, or why there is no answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    last = "no output"
    with suppress(BrokenPipeError):  # it ended; what it printed says why
        process.stdin.write(json.dumps(line).encode() + b"\n")
    for output in process.stdout:
        text = output.decode(errors="replace").strip()
        if text.startswith("{"):
            answer: Row = json.loads(text)
            return answer
        last = text or last
    return {"missing": last}


def _middle(answers: list[Row]) -> Row:
    """Return the last answer with the median of all times."""
    times = [answer["ms_per_step"] for answer in answers if "missing" not in answer]
    return answers[-1] | ({"ms_per_step": median(times)} if len(times) == len(answers) else {})


def _beside(model: str, answers: list[Row]) -> Row:
    """Return our times, plain and recorded, with ratios to the faster of Exudyn's."""
    row = {"model": model, "size": MODELS[model].size, **answers[0]}
    if "missing" not in answers[1]:
        row["ms_per_step_recorded"] = answers[1]["ms_per_step"]
    for name, k in (("", 0), ("_recorded", 1)):
        ours, theirs = answers[k], answers[2 + k :: 2]
        able = [answer for answer in theirs if "missing" not in answer]
        if not able or "missing" in ours:
            if theirs and not able:
                install = f" (pip install exudyn; {PYTHON} names another Python)"
                row.setdefault("missing", theirs[0]["missing"] + install)
            continue
        best = min(able, key=lambda answer: float(answer["ms_per_step"]))
        row[f"peer_ms_per_step{name}"] = best["ms_per_step"]
        row[f"ratio{name}"] = ours["ms_per_step"] / best["ms_per_step"]
        row |= {"peer": best["name"], "peer_iterations": best["iterations"]}
        row["apart"] = float(np.abs(np.subtract(ours["end"], best["end"])).max())
    return row

# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of a step of motions, beside Exudyn's in the same run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]

# model, elements (a side), steps, length of a step
MOTIONS = (
    ("cable", 10, 1000, 1e-3),
    ("cable", 100, 1000, 1e-3),
    ("cable", 1000, 1000, 1e-3),
    ("plate", 8, 1200, 5e-4),
)
PYTHON = "SYMANCF_EXUDYN_PYTHON"  # environment variable: a Python that has Exudyn


def compare(measured: Callable[[list[str]], Row], with_peers: bool = False) -> list[Row]:
    """Return times and tips of all motions; `measured` runs a command that prints JSON.

    Exudyn runs with modified Newton iterations; cables also with full ones, and in the plane as
    well as in space. `apart` is the distance of its tip from ours at the end.
    """
    rows: list[Row] = []
    python = os.environ.get(PYTHON, sys.executable)
    script = str(Path(__file__).with_name("peer_exudyn.py"))
    for kind, n, steps, h in MOTIONS:
        arguments = [kind, str(n), str(steps), str(h)]
        ours = measured([sys.executable, "-m", f"{__package__}.motion", *arguments])
        model = {"model": f"{kind} {n}" if kind == "cable" else f"{kind} {n}x{n}"}
        rows.append({"peer": "symancf", **model, **ours})
        if not with_peers:
            continue
        for options in (["--space"], [], ["--newton"]):
            if options and kind != "cable":  # its plates take 300 ms with full Newton
                continue
            row = measured([python, "-W", "ignore", script, *arguments, *options])
            if "missing" in row:
                row["missing"] += f" (pip install exudyn; {PYTHON} names another Python)"
            elif "tip" in ours:
                gaps = zip(row["tip"], ours["tip"], strict=True)
                row["apart"] = max(abs(a - b) for a, b in gaps)
                row["ratio"] = row["ms_per_step"] / ours["ms_per_step"]
            name = {"--space": "Exudyn, in space", "--newton": "Exudyn, full Newton"}
            rows.append({"peer": name.get("".join(options), "Exudyn"), **model, **row})
            if "missing" in row:
                break
    return rows

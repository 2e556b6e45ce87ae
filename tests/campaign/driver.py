# SPDX-License-Identifier: BSD-3-Clause
"""Start workers, go on after hangs and crashes, compare numbers of ranks, and add up."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.mpi import environment

from . import classes
from .case import Found, judge, near

ACROSS = 1e-7  # relative: how much results on different numbers of ranks may differ


@dataclass
class Report:
    """What a class of cases came to on one number of ranks."""

    name: str
    ranks: int
    names: list[str]
    found: dict[int, list[Found]] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)


def run(name: str, seed: int, count: int, ranks: int, chosen: list[int], until: float) -> Report:
    """Run cases of a class on a number of ranks; those after `until` (monotonic) are left out."""
    made = classes.cases(name, seed, count)
    limit = classes.CLASSES[name][1]
    report = Report(name, ranks, [case.name for case in made])
    left = list(chosen)
    with tempfile.TemporaryDirectory(prefix="symancf-campaign-") as folder:
        out = Path(folder) / "found"
        while left and time.monotonic() < until:
            command = [sys.executable, "-m", "tests.campaign.worker", name]
            command += [str(seed), str(count), str(limit), str(out), *map(str, left)]
            if ranks > 1:
                command = ["mpirun", "-n", str(ranks), *command]
            rest = max(5.0, until - time.monotonic())
            with open(f"{out}.log", "w", encoding="utf-8") as log:
                process = subprocess.Popen(
                    ["timeout", "--kill-after=5", f"{rest:.0f}", *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=environment(SYMANCF_CAMPAIGN=folder),
                )
                status = process.wait()
            done, last = _read(report, out, ranks)
            if done:
                break
            if time.monotonic() >= until:
                left = [number for number in left if number not in report.found]
                break
            if last not in left:
                raise RuntimeError(f"{name} on {ranks} ranks: {_why(out, ranks, status)}")
            report.broken[last] = _why(out, ranks, status)
            left = left[left.index(last) + 1 :]
    return report


def _read(report: Report, out: Path, ranks: int) -> tuple[bool, int]:
    """Take what the ranks wrote; tell whether they came to the end, and the last case begun."""
    done, last = True, -1
    by_case: dict[int, dict[int, Found]] = {}
    for rank in range(ranks):
        path = Path(f"{out}.{rank}")
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        ended = False
        for text in lines:
            try:
                line: dict[str, Any] = json.loads(text)
            except json.JSONDecodeError:
                continue
            number, event = line.pop("number"), line.pop("event")
            if event == "start":
                last, ended = max(last, number), False
            elif event == "end":
                line["warnings"] = tuple(line["warnings"])
                by_case.setdefault(number, {})[rank] = Found(**line)
            else:
                ended = True
        done = done and ended
    for number, each in by_case.items():
        if len(each) == ranks:
            report.found[number] = [each[rank] for rank in range(ranks)]
    return done, last


def _why(out: Path, ranks: int, status: int) -> str:
    stacks = []
    for rank in range(ranks):
        path = Path(f"{out}.stack.{rank}")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if "Timeout" in text:
            own = [line.strip() for line in text.splitlines() if "/symancf/" in line]
            stacks.append(f"rank {rank}: " + " < ".join(own[:3]))
    if stacks:
        return "HANG: " + " | ".join(stacks)
    tail = Path(f"{out}.log").read_text(encoding="utf-8", errors="replace")[-800:]
    return f"CRASH, exit status {status}: {tail}"


def verdicts(name: str, seed: int, count: int, reports: list[Report]) -> dict[int, str]:
    """Return what is wrong with each case of a class that is not as it must be."""
    made = classes.cases(name, seed, count)
    wrong: dict[int, str] = {}
    for number, case in enumerate(made):
        seen: list[tuple[int, Found]] = []
        for report in reports:
            if number in report.broken:
                wrong[number] = f"{report.ranks} ranks: {report.broken[number]}"
            elif number in report.found:
                found = report.found[number]
                told = judge(case.expect, case.raises, found)
                if told and number not in wrong:
                    wrong[number] = f"{report.ranks} ranks: {told}"
                seen.append((report.ranks, found[0]))
        if number not in wrong and case.alike and (told := _unlike(seen)):
            wrong[number] = told
    return wrong


def _unlike(seen: list[tuple[int, Found]]) -> str:
    """Return in what a case ended otherwise on some number of ranks than on the first."""
    told = ""
    for ranks, b in seen[1:]:
        first, a = seen[0]
        if (a.kind == "value") != (b.kind == "value"):
            told = (
                f"{first} ranks: {a.kind} {a.text or a.value}; "
                f"{ranks} ranks: {b.kind} {b.text or b.value}"
            )
        elif a.kind == "value" and not near(a.value, b.value, ACROSS):
            told = f"{first} ranks give {a.value}, {ranks} give {b.value}"
    return told


def campaign(
    names: list[str], seed: int, ranks: list[int], share: float, seconds: float, only: int | None
) -> int:
    """Run classes of cases on several numbers of ranks, print the report, return the failures."""
    until = time.monotonic() + seconds
    total, failed = Counter[str](), 0
    for name in names:
        whole = classes.CLASSES[name][0]
        count = whole if only is not None else max(1, round(share * whole))
        made = classes.cases(name, seed, count)
        chosen = list(range(len(made))) if only is None else [only]
        start = time.monotonic()
        where = [1] if name in classes.SERIAL else ranks
        reports = [run(name, seed, count, n, chosen, until) for n in where]
        wrong = verdicts(name, seed, count, reports)
        runs = sum(len(r.found) + len(r.broken) for r in reports)
        kinds = Counter(found[0].kind for r in reports for found in r.found.values())
        left = len(where) * len(chosen) - runs
        print(
            f"{name}: {len(chosen)} cases, {runs} runs in {time.monotonic() - start:.0f} s: "
            f"{kinds['value']} right, {kinds['error'] + kinds['raw']} errors, {len(wrong)} wrong"
            + (f"; {left} runs left out for want of time" if left else ""),
            flush=True,
        )
        for number, text in sorted(wrong.items()):
            print(f"  {name}.{number} {made[number].name}: {text[:700]}", flush=True)
        if only is not None:
            for r in reports:
                print(json.dumps([vars(f) for f in r.found.get(only, [])], indent=1))
        total.update(cases=len(chosen), runs=runs, left=left)
        failed += len(wrong)
    print(
        f"seed {seed}: {total['cases']} cases, {total['runs']} runs, {failed} not as they must be"
        + (f", {total['left']} runs left out" if total["left"] else "")
    )
    return failed

# SPDX-License-Identifier: BSD-3-Clause
"""What each aid of Newton's method is good for: its case with it and without it, and pairs.

    python -m tests.campaign --aids [NAME ...]      # all of the table, or some; then pairs

An aid is shown by its case if without it that fails, gives a wrong value, or takes at least
`WORTH` times the iterations. Iterations are those of all solutions of a case, also of attempts
that were not used. Pairs are those of the aids that make a difference in a case, one by one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from symancf import verify
from symancf.bench.robust import solve
from symancf.newton import AIDS
from symancf.output.history import History
from symancf.verify.case import CASES

WORTH = 1.3  # times the iterations
LIMIT = 900.0  # s for a run


@dataclass(frozen=True)
class Run:
    """What a case took: iterations, shorter attempts; `wrong`: what failed, "" nothing."""

    iterations: int
    cuts: int
    wrong: str

    def __str__(self) -> str:
        """Return it for the table."""
        return f"{self.iterations}/{self.cuts}" + (f" ({self.wrong})" if self.wrong else "")


def here(case: str) -> Run:
    """Solve a case in this process."""
    histories: list[History] = []
    make = History.__init__

    def made(history: History, *given: Any, **named: Any) -> None:
        make(history, *given, **named)
        histories.append(history)

    History.__init__ = made  # type: ignore[assignment]
    kind, _, name = case.partition(" ")
    wrong = ""
    if case.startswith("tests/"):
        wrong = "fails" * (pytest.main(["-q", "-p", "no:cacheprovider", case]) != 0)
    elif kind == "verify":
        missed = [r.quantity for r in CASES[name].run() if not r.passed]
        wrong = "; ".join(missed[:1]) + (f" and {len(missed) - 1} more" if missed[1:] else "")
    else:
        try:
            solve(name, "default")
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
    steps = sum(step.iterations for history in histories for step in history.steps)
    lost = sum(history.wasted for history in histories)
    return Run(steps + lost, sum(history.cut_backs for history in histories), wrong[:100])


@cache
def run(case: str, *without: str) -> Run:
    """Solve a case without some aids in a process of its own; tests have no numbers."""
    command = [sys.executable, "-m", "tests.campaign.aids", case, *without]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Run(0, 0, f"longer than {LIMIT:g} s")
    try:
        return Run(**json.loads(ended.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return Run(0, 0, ended.stderr.strip().splitlines()[-1][:100])


def is_shown(before: Run, after: Run) -> bool:
    """Tell whether a case needs what it was run without."""
    return bool(after.wrong) or after.iterations >= WORTH * max(1, before.iterations)


def table(names: Sequence[str]) -> int:
    """Print what each aid is good for, then pairs; return how many no case shows."""
    missing = 0
    print(f"{'aid':14}{'case':40}{'iterations/cuts':>16}  without")
    for name in names:
        case = AIDS[name].case
        before, after = run(case), run(case, name)
        needed = is_shown(before, after) and not before.wrong
        missing += not needed
        said = "" if needed else "    NOT SHOWN"
        print(f"{name:14}{case[-39:]:40}{before!s:>16}  {after}{said}", flush=True)
    for case in dict.fromkeys(AIDS[name].case for name in names):
        if not case.startswith("tests/"):
            pairs(case)
    return missing


def pairs(case: str) -> None:
    """Print what a case takes without two of the aids that make a difference in it."""
    before = run(case)
    acting = [name for name in AIDS if run(case, name) != before]
    for pair in combinations(acting, 2):
        one, other = (run(case, name) for name in pair)
        both = run(case, *pair)
        print(
            f"{case[-30:]:31}{' + '.join(pair):28}{one!s:>14}{other!s:>14}  both {both}", flush=True
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    verify.cases()
    for left_out in sys.argv[2:]:
        del AIDS[left_out]
    print("\n" + json.dumps(asdict(here(sys.argv[1]))))

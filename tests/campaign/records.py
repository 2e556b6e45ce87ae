# SPDX-License-Identifier: BSD-3-Clause
"""Compare the records of two checkouts in one run: numbers, iterations, C, names, memory, time.

::

    python -m tests.campaign.records                    # the commit BEFORE, and this checkout
    python -m tests.campaign.records A B                # folders or commits
    python -m tests.campaign.records --only names verify:A3 "motions:four bar"
    python -m tests.campaign.records --cache ~/.cache/symancf     # compiles only what is new

Groups are run one after another, their cases by A and B in turn, each case as soon as the other
has done it. A line for each record: equal or differs, with both values; "no A", "no B", "neither":
it cannot be had there; "unsteady": A asked again differs from itself about as much. Exit status 1
if a record differs or one checkout lacks it.

========== =========================================================================================
names      public names with their signatures
verify     numbers of `symancf verify` to 15 digits, and the course of each solve: times,
           iterations, cuts, events
demos      the course of each solve of the demos
robust     that of the bodies of `symancf bench --robust` with the default solver
motions    1,000 steps of `motions.py`: positions, audit, course; bits on one rank, 1e-12 on 2 and 3
checkpoints the same after a checkpoint was read, written on 1, 3 and 1 ranks
bytes      memory and objects of PETSc for each problem made and dropped, on 1 and 3 ranks
cost       ms of processor time for a step, in pairs
C          SHA-256 of the generated C of all kernels that the groups have used
========== =========================================================================================
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.mpi import ROOT

from .checkouts import Checkout, unpacked

BEFORE = "7cfcf78"  # tag before-redesign: before model, problem and state were taken apart

# group: the numbers of ranks on which its cases run, one after the other
GROUPS = {
    "names": [1],
    "verify": [1],
    "demos": [1],
    "robust": [1],
    "motions": [1, 2, 3],
    "checkpoints": [1, 3, 1],
    "bytes": [1, 3],
    "cost": [1],
}
SLOWER = 1.05  # B may take that many times the processor's time of A
# what each of B's problems may leave beyond those of A; the system gives memory in pages
MORE = {"bytes of Python": 100.0, "resident bytes": 1000.0, "objects of PETSc": 1.0}
LIMIT = 1800.0  # seconds for a case

Comparison = Callable[[Any, Any], bool]


# ---- comparing ----------------------------------------------------------------------------------
def leaves(value: Any) -> Iterator[Any]:
    """Return the numbers and texts of nested lists."""
    if isinstance(value, list):
        for entry in value:
            yield from leaves(entry)
    else:
        yield value


def bits(a: Any, b: Any) -> bool:
    """Tell whether records are the same, to the bit."""
    return json.dumps(a) == json.dumps(b)


def digits(a: Any, b: Any) -> bool:
    """Tell whether numbers are the same when 15 digits are printed."""
    numbers = isinstance(a, float) and isinstance(b, float)
    return f"{a:.15g}" == f"{b:.15g}" if numbers else bits(a, b)


def distance(a: Any, b: Any) -> float:
    """Return the largest difference of numbers, relative to the largest of them."""
    one, other = list(leaves(a)), list(leaves(b))
    if bits(a, b):
        return 0.0
    if len(one) != len(other) or not all(isinstance(x, float | int) for x in (*one, *other)):
        return math.inf
    most = max(abs(x - y) for x, y in zip(one, other, strict=True))
    return most / max(map(abs, (*one, *other))) if most else 0.0


def close(a: Any, b: Any) -> bool:
    """Tell whether numbers are the same within 1e-12 of the largest."""
    return distance(a, b) <= 1e-12


def comparison(group: str, ranks: int, stage: int, record: str) -> Comparison:
    """Return how a record is compared; a checkpoint of later stages comes from several ranks."""
    if group == "bytes":
        return lambda a, b: b <= a + MORE[record.partition(": ")[2]]
    if group == "verify" and not record.startswith("solve "):
        return digits
    one = ranks == 1 and (group != "checkpoints" or stage == 0)
    return bits if one or record.startswith("solve ") else close


def judged(a: Any, b: Any, again: Any, same: Comparison) -> tuple[str, str]:
    """Return the verdict on a record of both checkouts, and both values where they differ.

    `again` : what A gave when it was asked again; "unsteady" is what differs there, too, and by
        not much less than from B.
    """
    if same(a, b):
        return "equal", ""
    own = 0.0 if again is None or same(a, again) else distance(a, again)
    unsteady = own > 0.0 and distance(a, b) <= 100.0 * own
    return "unsteady" if unsteady else "differs", shown(a, b)


def shown(a: Any, b: Any) -> str:
    """Return both values, of lists the first that differ, of counts their sums."""
    one, other = list(leaves(a)), list(leaves(b))
    sums = ""
    if max(len(one), len(other)) > 1 and all(isinstance(x, int) for x in (*one, *other)):
        sums = f"; sum A {sum(one)}, B {sum(other)}"
    if len(one) != len(other):
        return f"A has {len(one)} values, B {len(other)}; first A {one[:1]}, B {other[:1]}{sums}"
    unequal = [(k, x, y) for k, (x, y) in enumerate(zip(one, other, strict=True)) if x != y]
    if not unequal:
        return f"A {a!r}, B {b!r}"
    k, x, y = unequal[0]
    which = f"{len(unequal)} of {len(one)}, the first is number {k}: " if len(one) > 1 else ""
    return f"{which}A {x!r}, B {y!r}{sums}"


# ---- running ------------------------------------------------------------------------------------
class Table:
    """The lines that are printed, and their sum.

    Parameters
    ----------
    equal : print those of equal records, too.
    """

    def __init__(self, equal: bool) -> None:
        self.equal, self.count = equal, Counter[str]()

    def line(self, name: str, verdict: str, text: str = "") -> None:
        """Print and count a line; the verdict is "equal", "differs", "only A" and so on."""
        self.count[verdict] += 1
        if verdict != "equal" or self.equal:
            print(f"{verdict:8} {name}" + (f": {text}" if text else ""), flush=True)


class Records:
    """Runs groups in both checkouts."""

    def __init__(self, a: Checkout, b: Checkout, table: Table, steps: int, problems: int) -> None:
        self.both, self.table = (a, b), table
        self.size = {"steps": steps, "problems": problems}
        self.sources: dict[str, dict[str, set[str]]] = {"A": {}, "B": {}}

    def run(self, group: str, only: str) -> None:
        """Run the cases of a group whose names start with `only`."""
        begun = time.monotonic()
        for stage, ranks in enumerate(GROUPS[group]):
            lists = [c.ask(ranks, LIMIT, group=group) for c in self.both]
            for checkout, found in zip(self.both, lists, strict=True):
                if "failed" in found:
                    self.table.line(f"{group} on {ranks}", f"no {checkout.name}", found["failed"])
            names = [found["cases"] for found in lists]
            cases = [c for c in dict.fromkeys([*names[0], *names[1]]) if c.startswith(only)]
            for case in cases:
                label = f"{group} {case}" + (f" on {ranks}" if len(GROUPS[group]) > 1 else "")
                label += f", stage {stage}" if group == "checkpoints" else ""
                if group == "cost":
                    self.cost(label, case)
                else:
                    self.case(label, ranks, {"group": group, "case": case, "stage": stage})
        for checkout in self.both:
            checkout.end()
        print(f"-- {group}: {time.monotonic() - begun:.0f} s", flush=True)

    def answer(self, checkout: Checkout, ranks: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Return what a checkout answers; keep the C files of its kernels."""
        found = checkout.ask(ranks, LIMIT, **asked, **self.size)
        for file in map(Path, found["sources"]):
            text = file.read_bytes().rpartition(b"\n/* symancf sha256 ")[0]  # before the seal
            kernel = file.stem.rpartition("-")[0]
            texts = self.sources[checkout.name].setdefault(kernel, set())
            texts.add(hashlib.sha256(text).hexdigest())
        return found

    def case(self, label: str, ranks: int, asked: dict[str, Any]) -> None:
        """Run a case and print its records."""
        a, b = (self.answer(checkout, ranks, asked) for checkout in self.both)
        failed = [f"{x}: {f['failed'][:300]}" for x, f in (("A", a), ("B", b)) if f["failed"]]
        if failed:
            side = "no A" if not b["failed"] else "no B" if not a["failed"] else "neither"
            self.table.line(label, side, "; ".join(failed))
        again: dict[str, Any] = {}
        for name in dict.fromkeys([*a["records"], *b["records"]]):
            record = f"{label}: {name}"
            if name in a["records"] and name in b["records"]:
                same = comparison(asked["group"], ranks, asked["stage"], name)
                values = a["records"][name], b["records"][name]
                if not same(*values) and not again:
                    again = self.answer(self.both[0], ranks, asked)["records"]
                self.table.line(record, *judged(*values, again.get(name), same))
            elif not failed:
                self.table.line(record, "no B" if name in a["records"] else "no A")

    def cost(self, label: str, case: str, pairs: int = 7) -> None:
        """Print the line of a model; where B seems slower it is measured twice more."""
        ratios: list[float] = []
        times: dict[str, list[float]] = {"A": [], "B": []}
        for _ in range(3):
            for k in range(pairs):
                pair = {}
                for checkout in self.both[:: 1 - 2 * (k % 2)]:  # in turn the first
                    found = checkout.ask(1, LIMIT, group="cost", case=case)
                    if found["failed"]:
                        self.table.line(label, f"no {checkout.name}", found["failed"])
                        return
                    pair[checkout.name] = found["records"]["ms"]
                    times[checkout.name].append(pair[checkout.name])
                ratios.append(pair["B"] / pair["A"])
            if statistics.median(ratios) <= SLOWER:
                break
        ratio, spread = statistics.median(ratios), statistics.quantiles(ratios, n=4)
        a, b = (statistics.median(times[name]) for name in "AB")
        text = f"A {a:.4g} ms, B {b:.4g} ms a step, B/A {ratio:.3f} in {len(ratios)} pairs"
        text += f" (half of them {spread[0]:.3f} to {spread[2]:.3f})"
        verdict = "equal" if ratio <= SLOWER else "slower"
        self.table.line(label, verdict, text)

    def compare_sources(self) -> None:
        """Print the lines of the generated C."""
        a, b = self.sources["A"], self.sources["B"]
        for kernel in sorted({*a, *b}):
            found = [sorted(texts.get(kernel, set())) for texts in (a, b)]
            self.table.line(f"C {kernel}", *judged(*found, None, bits))


def main() -> int:
    """Compare, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign.records",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkouts", nargs="*", default=[], help=f"A, default {BEFORE}; B")
    parser.add_argument("--only", nargs="+", default=list(GROUPS), help="GROUP or GROUP:START")
    parser.add_argument("--steps", type=int, default=1000, help="of each motion")
    parser.add_argument("--problems", type=int, default=40, help="made and dropped, of each kind")
    parser.add_argument("--cache", type=Path, help="of kernels, for both; default: fresh ones")
    parser.add_argument("--differences", action="store_true", help="no lines of equal records")
    given = parser.parse_args()
    groups = [name.partition(":")[::2] for name in given.only]
    if len(given.checkouts) > 2 or any(name not in GROUPS for name, _ in groups):
        parser.error(f"give two checkouts at most; groups are {', '.join(GROUPS)}")
    chosen = [*given.checkouts, BEFORE, str(ROOT)]
    chosen = chosen[:2] if len(given.checkouts) != 1 else [chosen[0], str(ROOT)]
    with tempfile.TemporaryDirectory(prefix="symancf-records-") as folder:
        both = []
        for name, source in zip("AB", chosen, strict=True):
            sources = unpacked(source, Path(folder, f"sources {name}"))
            both.append(Checkout(name, sources, Path(folder, name), given.cache))
            print(f"{name}: {source}")
        table = Table(not given.differences)
        records = Records(*both, table, given.steps, given.problems)
        try:
            for group, only in groups:
                records.run(group, only)
            records.compare_sources()
        finally:
            for checkout in both:
                checkout.end()
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(table.count.items())))
    return int(any(verdict not in ("equal", "unsteady", "neither") for verdict in table.count))


if __name__ == "__main__":
    sys.exit(main())

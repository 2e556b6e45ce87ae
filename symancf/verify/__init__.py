# SPDX-License-Identifier: BSD-3-Clause
"""Verification: numbers of the literature and closed forms, measured again (`symancf verify`).

Cases are generators of `Number` in the modules of this package; `cases` collects them, `run`
solves some and compares. Some also yield each `Curve` of a picture. The reference values were
computed independently of symancf; they are listed with their sources in `references` or beside
the case.
"""

from __future__ import annotations

import json
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mpi4py import MPI

from ..errors import SymancfError
from ..runtime.console import plain_console
from .case import CASES, Case, Curve, Number, Result

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Case", "Curve", "Number", "Result", "cases", "main", "run"]

_MODULES = (
    "cables",
    "moving_cables",
    "rods",
    "rod_structures",
    "rods_shapes",
    "rods_coupled",
    "rod_motions",
    "shells",
    "shells_large",
    "laminates",
    "materials",
    "invariance",
    "patch",
    "orders",
    "rubber",
    "inflation",
    "incompressible",
    "stretches",
    "relaxation",
    "softening",
    "hysteresis",
    "plasticity",
    "gradients",
    "gradients_of_goals",
    "gradients_of_models",
    "fields",
    "experiments",
    "composite_beams",
    "silicone_beam",
    "pneumatic_arm",
    "wing",
    "enhanced",
    "limit_points",
    "bifurcations",
    "sag",
    "constraints",
    "joints",
    "lengths",
    "tendons",
    "pulleys",
    "threads",
    "embedded",
    "gripper",
    "rigid_motions",
    "locking",
    "mechanisms",
    "modes",
    "trunk",
    "contact_rigid",
    "contact_cables",
    "contact_hertz",
    "contact_bodies",
    "contact_seams",
)


def cases(group: str | None = None) -> list[Case]:
    """Return the cases whose id starts with `group`, or all, in alphabetical order.

    Raises
    ------
    SymancfError : if there is none; it names those that there are.
    """
    for module in _MODULES:
        import_module(f".{module}", __name__)
    wanted = (group or "").lower()
    chosen = [CASES[name] for name in sorted(CASES) if name.lower().startswith(wanted)]
    if not chosen:
        raise SymancfError(
            f"no case starts with {group!r}; there are: {', '.join(sorted(CASES))}",
            asked="group",
            given=group,
            possible=sorted(CASES),
        )
    return chosen


def run(group: str | None = None) -> list[Result]:
    """Solve the cases of a group and return the compared numbers (collective)."""
    return [result for case in cases(group) for result in case.run()]


def main(
    group: str | None = None, *, as_json: bool = False, curves: str | Path | None = None
) -> int:
    """Run a group of cases, print them, and return 0 if every number passed, else 1.

    `curves` : a folder for a PNG of each case that has curves, named after its id.
    """
    chosen = cases(group)
    results: dict[str, list[Result]] = {}
    seconds: dict[str, float] = {}
    talks = MPI.COMM_WORLD.rank == 0
    for case in chosen:
        if talks and not as_json:
            print(f"{case.id}: {case.title}", flush=True)
        start = time.process_time()
        lines: list[Curve] = []
        results[case.id] = case.run(curves=lines)
        seconds[case.id] = time.process_time() - start
        if curves is not None and lines and talks:
            from .picture import draw

            draw(case.title, lines, Path(curves) / f"{case.id}.png")
    everything = [result for some in results.values() for result in some]
    if talks and as_json:
        print(json.dumps([result.record() for result in everything], indent=1))
    elif talks:
        _print(chosen, results, seconds)
    return 0 if all(result.passed for result in everything) else 1


def _print(chosen: list[Case], results: dict[str, list[Result]], seconds: dict[str, float]) -> None:
    """Print the table, the numbers that failed, and how many passed."""
    everything = [result for some in results.values() for result in some]
    failed = [result for result in everything if not result.passed]
    console = plain_console(least=120)
    console.print(_table(chosen, results, seconds))
    for result in failed:
        console.print(_sentence(result), style="red")
    total = f"{len(everything) - len(failed)} of {len(everything)} numbers pass"
    console.print(f"{total}; {sum(seconds.values()):.1f} s of CPU")


def _table(
    chosen: list[Case], results: dict[str, list[Result]], seconds: dict[str, float]
) -> Table:
    """One row per case: how many numbers, and the one that is nearest to its tolerance."""
    from rich.table import Table

    table = Table("case", "passed", "nearest to its tolerance", "value", "error", "tolerance", "s")
    table.columns[0].no_wrap = True
    for column in (1, 3, 4, 5, 6):
        table.columns[column].justify = "right"
        table.columns[column].no_wrap = True
    for case in chosen:
        some = results[case.id]
        worst = max(some, key=_share)
        passed = sum(result.passed for result in some)
        table.add_row(
            case.id,
            f"{passed}/{len(some)}",
            worst.quantity,
            _short(worst.value, 7),
            _short(worst.error, 2),
            f"{worst.tolerance:.1e}",
            f"{seconds[case.id]:.1f}",
            style="" if passed == len(some) else "red",
        )
    return table


def _share(result: Result) -> float:
    """Error in units of the tolerance; a number that was not obtained is the worst."""
    if result.error is None:
        return float("inf")
    return result.error / result.tolerance if result.tolerance else result.error


def _short(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:.{digits}g}"


def _sentence(result: Result) -> str:
    return (
        f"{result.id}: {result.quantity}: {_short(result.value, 12)}, "
        f"reference {_short(result.reference, 12)} ({result.source}), "
        f"error {_short(result.error, 3)} > {result.tolerance:g}"
    )

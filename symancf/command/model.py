# SPDX-License-Identifier: BSD-3-Clause
"""Memory that a script's first solution would take, predicted from its mesh: nothing is solved."""

from __future__ import annotations

import json
import os
import runpy
import sys
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import SymancfError
from ..runtime.console import first_rank
from ..solve.cost import gigabytes
from ..solve.dynamics.problem import DynamicProblem
from ..solve.statics.problem import StaticProblem
from .demos import give_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..solve.cost import Cost

SOLUTIONS = (StaticProblem, ("solve", "follow")), (DynamicProblem, ("solve", "initialize"))
RANKS = 1, 2, 4, 8, 16, 32, 64  # of the report


class _Predicted(BaseException):
    """Ends a script where it begins to solve; no ``except Exception`` of it catches this."""

    def __init__(self, cost: Cost) -> None:
        super().__init__()
        self.cost = cost


def _predict(problem: StaticProblem | DynamicProblem, *_: Any, **__: Any) -> NoReturn:
    raise _Predicted(problem.cost())


@contextmanager
def _predicting() -> Iterator[None]:
    """Let problems predict in place of solving, as a context."""
    methods = [(kind, name, getattr(kind, name)) for kind, names in SOLUTIONS for name in names]
    for kind, name, _ in methods:
        setattr(kind, name, _predict)
    try:
        yield
    finally:
        for kind, name, method in methods:
            setattr(kind, name, method)


def cost_of_script(path: str, arguments: Sequence[str] = ()) -> Cost:
    """Run a script up to its first solution, with its arguments; return what that would take.

    On each rank of the run (collective).

    Raises
    ------
    SymancfError : there is no such file, or it ends without a static or dynamic solution.
    """
    if not os.path.isfile(path):
        text = f"there is no script {path}" if path else "--model needs the path of a script"
        raise SymancfError(text, asked="--model", given=path)
    words, sys.argv = sys.argv, [path, *arguments]
    places = list(sys.path)
    give_options(sys.argv)
    try:
        with _predicting():
            sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
            runpy.run_path(path, run_name="__main__")
    except _Predicted as found:
        return found.cost
    finally:
        sys.argv, sys.path[:] = words, places
    raise SymancfError(
        f"{path} has ended and solved nothing: it has to call solve of a StaticProblem or "
        "DynamicProblem, or follow, when it is run as a script",
        asked="--model",
        given=path,
        possible=("StaticProblem.solve", "StaticProblem.follow", "DynamicProblem.solve"),
    )


def main(path: str, arguments: Sequence[str] = (), *, as_json: bool = False) -> int:
    """Print what the first solution of a script would take; return 1 where there is less memory."""
    cost = cost_of_script(path, arguments)
    if first_rank() and as_json:
        each = {str(ranks): cost.on(ranks) for ranks in RANKS}
        free = cost.free if cost.free < float("inf") else None
        found = asdict(cost) | {"free": free, "fits": cost.fits, "on": each}
        print(json.dumps(found, indent=1))
    elif first_rank():
        print(cost)
        print("on", ", ".join(f"{n}: {gigabytes(cost.on(n))}" for n in RANKS), "each")
    return int(not cost.fits)

# SPDX-License-Identifier: BSD-3-Clause
"""Named cases of a script that runs on several ranks; each prints what every rank found."""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Callable
from typing import Any

from mpi4py import MPI

COMM = MPI.COMM_WORLD


class Cases:
    """Functions by name, to be used as a decorator.

    Parameters
    ----------
    limit : seconds for one case; a rank that waits longer waits for ever, and the run ends with
        the places where the ranks are.
    """

    def __init__(self, limit: float = 30.0) -> None:
        self.limit = limit
        self.functions: dict[str, Callable[..., Any]] = {}

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add a case."""
        self.functions[function.__name__] = function
        return function

    def main(self, run: Callable[..., Any]) -> None:
        """Run the cases named on the command line, or all, and print JSON: name -> per rank.

        `run` gets the function, and the text of a case given as ``NAME=TEXT``. With ``-v`` every
        case is announced on stderr and printed as soon as it is done.
        """
        names = [name for name in sys.argv[1:] if name != "-v"] or list(self.functions)
        tell = "-v" in sys.argv and COMM.rank == 0
        found = {}
        for name in names:
            if tell:
                print("@@", name, file=sys.stderr, flush=True)
            key, given, text = name.partition("=")
            faulthandler.dump_traceback_later(self.limit, exit=True)
            found[name] = COMM.allgather(run(self.functions[key], *([text] if given else [])))
            faulthandler.cancel_dump_traceback_later()
            if tell:
                print(json.dumps({name: found[name]}), flush=True)
        if COMM.rank == 0:
            print(json.dumps(found))


def caught(function: Callable[[], Any]) -> list[str]:
    """Return class and text of what a function raises."""
    try:
        function()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["nothing", ""]


DATA = ("asked", "given", "possible", "names", "reason")


def described(error: Exception) -> dict[str, Any]:
    """Return class, text and data of an error."""
    data = {name: getattr(error, name, None) for name in DATA}
    return {"error": type(error).__name__, "text": str(error), **data}


def refusal(function: Callable[[], Any]) -> dict[str, Any]:
    """Return class, text and data of what a function raises."""
    try:
        function()
    except Exception as error:
        return described(error)
    return {"error": ""}

# SPDX-License-Identifier: BSD-3-Clause
"""Run tests again and again, each time in a process of its own with one constant scaled.

The processes are forked from one that has collected the tests, so that a run costs no more than
its tests. It has run none, so that nothing that is made of a constant is there yet.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from .listing import PACKAGE, aliases

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 20.0  # s of CPU for a test; one that takes longer fails
PASSED = "passed"


def scaled(value: Any, factor: float) -> Any:
    """Return a number, or each of some, times a factor; a count stays a count, at least 1."""
    if isinstance(value, dict):
        return {name: scaled(entry, factor) for name, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(scaled(entry, factor) for entry in value)
    if isinstance(value, int):
        return max(1, round(value * factor))
    return value * factor


def scale(name: str, factor: float) -> None:
    """Scale a constant, as ``solve.causes.STIFF``, wherever its value has been taken."""
    module, _, constant = f"symancf.{name}".rpartition(".")
    old = getattr(sys.modules[module], constant)
    new = scaled(old, factor)
    setattr(sys.modules[module], constant, new)
    for other in [made for path, made in sys.modules.items() if path.startswith("symancf.")]:
        for alias, source in aliases(other.__name__).items():
            if source == name:
                setattr(other, alias, new)
        for function in _functions(other):
            _replace_defaults(function, old, new)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions of a module and of its classes."""
    for entry in vars(module).values():
        for function in vars(entry).values() if inspect.isclass(entry) else [entry]:
            if isinstance(function, FunctionType):
                yield function


def _replace_defaults(function: FunctionType, old: object, new: object) -> None:
    if isinstance(old, int):  # small ones are one object wherever they are written
        return
    given = function.__defaults__ or ()
    if any(value is old for value in given):
        function.__defaults__ = tuple(new if value is old else value for value in given)
    named = function.__kwdefaults__ or {}
    named.update({key: new for key, value in named.items() if value is old})


def import_all() -> None:
    """Import all modules of the package, so that what they take of each other is known."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "symancf."):
        if found.name.split(".")[1] not in ("__main__", "command", "bench"):
            importlib.import_module(found.name)
            aliases(found.name)


class Runs:
    """Plugin of pytest that calls a function with itself instead of running what was collected."""

    def __init__(self, call: Callable[[Runs], None]) -> None:
        self.call = call
        self.items: dict[str, pytest.Item] = {}
        self.failed = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Call the function."""
        self.items = {item.nodeid: item for item in session.items}
        import_all()
        gc.collect()
        gc.freeze()  # so that the processes go on sharing what is there
        self.call(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test has failed."""
        self.failed |= report.failed

    def failing(self, tests: Sequence[str], name: str = "", factor: float = 1.0) -> str:
        """Return the first of collected tests that fails with a scaled constant, or ``""``."""
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(source)
            self._run(tests, name, factor, sink)
        os.close(sink)
        with os.fdopen(source, encoding="utf-8") as pipe:
            lines = pipe.read().splitlines()
        os.waitpid(child, 0)
        if not lines:
            raise RuntimeError(f"{name} times {factor:g}: no test has begun")
        return "" if lines[-1] == PASSED else lines[-1]

    def _run(self, tests: Sequence[str], name: str, factor: float, sink: int) -> None:
        """Run tests up to the first that fails, in a process that ends with it."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        try:
            if name:
                scale(name, factor)
            for test in tests:
                os.write(sink, f"{test}\n".encode())
                signal.setitimer(signal.ITIMER_PROF, LIMIT)
                item = self.items[test]
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if self.failed:
                    return
            os.write(sink, f"{PASSED}\n".encode())
        finally:
            os._exit(0)  # without what ends the process that it was forked from


def collected(tests: Sequence[str], call: Callable[[Runs], None]) -> int:
    """Collect tests and call a function with what runs them; return the status of pytest."""
    os.chdir(ROOT)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:timeout"]
    return int(pytest.main([*options, *tests], plugins=[Runs(call)]))

# SPDX-License-Identifier: BSD-3-Clause
"""Warnings that are told once for each problem, however many steps a control loop makes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ..errors import SymancfError, outside

if TYPE_CHECKING:
    from mpi4py import MPI

P = ParamSpec("P")
T = TypeVar("T")


class Once:
    """What a problem has warned of: each cause once, on rank 0, whatever Python's filters say.

    A system has one for what is found while it is made; each problem has its own, which takes
    that one's place in the calls of the problem. So a second problem of a system tells again, once.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> once = Once(MPI.COMM_SELF)
    >>> once.warn(("jump", "x0"), "x0 jumps"), once.warn(("jump", "x0"), "x0 jumps again")
    (True, False)
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self._first = comm.rank == 0
        self._causes: set[Hashable] = set()

    def warn(self, cause: Hashable, text: str, kind: type[Warning] = UserWarning) -> bool:
        """Warn, unless the same cause was told before; return whether it is new.

        Parameters
        ----------
        cause : what a warning is about without its numbers, which change from step to step.
        """
        if self.has_told(cause):
            return False
        self._causes.add(cause)
        if self._first:
            warnings.warn(text, kind, stacklevel=outside())
        return True

    def has_told(self, cause: Hashable) -> bool:
        """Whether the cause was told before."""
        return cause in self._causes


def warns_once(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Let the warnings of a call of a problem's method be those of the problem (a decorator).

    One thread at a time solves problems of a system; another one raises `SymancfError`.
    """

    @wraps(method)
    def called(problem: Any, /, *arguments: P.args, **keywords: P.kwargs) -> T:
        system = problem._system
        if not system.solving.acquire(blocking=False):
            raise SymancfError(
                "another thread is solving a problem of this system: let it end first, or give "
                "each thread, better each process, a system of its own",
                asked="thread",
            )
        before, system.once = system.once, problem._once
        try:
            return method(problem, *arguments, **keywords)
        finally:
            system.once = before
            system.solving.release()

    return called

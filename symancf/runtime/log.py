# SPDX-License-Identifier: BSD-3-Clause
"""Events and stages of PETSc's log, so that ``-log_view`` tells where a run's time goes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from petsc4py import PETSc

P = ParamSpec("P")
T = TypeVar("T")
Parts = dict[str, AbstractContextManager[object]]

#: By name, ``sa:residual`` in the log. "outputs" are other functions of kernels; "steps" those that
#: C makes, with their residuals; "hierarchy", "galerkin" and "cycle" those of multigrid, "factor"
#: that of ``pc_type fixed``. Events within events and stages within stages are as in PETSc: an
#: event counts what is within it, a stage leaves out the stages within it. Before PETSc is there
#: nothing is logged.
EVENTS: Parts = {
    name: nullcontext()
    for name in (
        "energy",
        "residual",
        "tangent",
        "product",
        "outputs",
        "steps",
        "mesh",
        "partition",
        "numbering",
        "pattern",
        "search",
        "output",
        "hierarchy",
        "galerkin",
        "cycle",
        "factor",
    )
}
STAGES: Parts = {name: nullcontext() for name in ("set-up", "statics", "motion", "modes")}


def logged(parts: Parts, name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return the decorator of a function that is a part of the log, ``logged(EVENTS, "mesh")``."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def called(*arguments: P.args, **keywords: P.kwargs) -> T:
            with parts[name]:
                return function(*arguments, **keywords)

        return called

    return decorate


def register(log: type[PETSc.Log]) -> None:
    """Let PETSc know all parts, at once: its log compares ranks by number, not by name."""
    EVENTS.update({name: log.Event(f"sa:{name}") for name in EVENTS})
    STAGES.update({name: log.Stage(f"sa:{name}") for name in STAGES})

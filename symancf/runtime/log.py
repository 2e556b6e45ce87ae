# SPDX-License-Identifier: BSD-3-Clause
"""Events and stages of PETSc's log, so that ``-log_view`` tells where a run's time goes."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from petsc4py import PETSc


class Part(ContextDecorator):
    """A part of a run that ``-log_view`` tells apart, as a context or decorator (0.1 us).

    Events within events and stages within stages are as in PETSc: an event counts what is within
    it, a stage leaves out the stages within it. Before PETSc is there nothing is logged.
    """

    def __init__(self) -> None:
        self.begin: Callable[[], object] = _nothing
        self.end: Callable[[], object] = _nothing

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


def _nothing() -> None:
    pass


#: By name, ``sa:residual`` in the log. "outputs" are other functions of kernels; "steps" those that
#: C makes, with their residuals; "hierarchy", "galerkin" and "cycle" those of multigrid.
EVENTS = {
    name: Part()
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
    )
}
STAGES = {name: Part() for name in ("set-up", "statics", "motion", "modes")}


def register(log: type[PETSc.Log]) -> None:
    """Let PETSc know all parts, at once: its log compares ranks by number, not by name."""
    for name, part in EVENTS.items():
        event = log.Event(f"sa:{name}")
        part.begin, part.end = event.begin, event.end
    for name, part in STAGES.items():
        stage = log.Stage(f"sa:{name}")
        part.begin, part.end = stage.push, stage.pop

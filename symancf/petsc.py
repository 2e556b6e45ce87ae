# SPDX-License-Identifier: BSD-3-Clause
"""PETSc, initialised with the command line, so that its options reach the solvers."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import petsc4py

# PETSc's own signal handler would turn a closed pipe (`symancf verify | head`) into an abort
_ARGUMENTS = [a for a in sys.argv[1:] if a not in ("-h", "-help", "--help")]
petsc4py.init([sys.argv[0], *_ARGUMENTS, "-no_signal_handler"])

from petsc4py import PETSc  # noqa: E402

__all__ = ["PETSc", "loosely"]


def loosely(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a bound method that does not keep its object alive.

    PETSc's objects hold their callbacks where Python does not look for cycles.
    """
    reference = weakref.WeakMethod(method)

    def call(*arguments: Any) -> Any:
        bound = reference()
        assert bound is not None, "the problem of this solver is gone"
        return bound(*arguments)

    return call

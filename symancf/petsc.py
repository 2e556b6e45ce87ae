# SPDX-License-Identifier: BSD-3-Clause
"""PETSc, initialised with the command line, so that its options reach the solvers."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import petsc4py

# PETSc's own signal handler would turn a closed pipe (`symancf verify | head`) into an abort
_ARGUMENTS = [a for a in sys.argv[1:] if a not in ("-h", "-help", "--help")]
# Newer PETSc ends a run by naming on stdout the words of the command line that it did not read, a
# script's own among them; symancf warns of options of solvers itself
_QUIET = [] if any(a.startswith("-options_left") for a in _ARGUMENTS) else ["-options_left", "no"]
petsc4py.init([sys.argv[0], *_QUIET, *_ARGUMENTS, "-no_signal_handler"])

from petsc4py import PETSc  # noqa: E402

from .errors import SymancfError  # noqa: E402

__all__ = ["PETSc", "limit_threads", "loosely"]

#: Variables by which users say how many threads a BLAS shall have.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def limit_threads(environment: Mapping[str, str]) -> str:
    """Give the BLAS of PETSc one thread, unless the environment says otherwise.

    Ranks fill the cores already: more threads wait for work by turning in circles. PETSc's own
    handle finds the BLAS that PETSc uses, and not that of NumPy's wheel. Returns the function
    that was called, or an empty text.
    """
    if any(environment.get(name) for name in THREADS):
        return ""
    library = ctypes.CDLL(PETSc.__file__)
    functions = ("openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads")
    for name in functions:
        limit = getattr(library, name, None)
        if limit is not None:
            limit(1)
            return name
    return ""


limit_threads(os.environ)


def loosely(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a bound method that does not keep its object alive.

    PETSc's objects hold their callbacks where Python does not look for cycles.
    """
    reference = weakref.WeakMethod(method)

    def call(*arguments: Any) -> Any:
        bound = reference()
        if bound is None:
            raise SymancfError(
                "the problem that this solver belongs to is gone; a copy of a problem cannot take "
                "its place: make a problem of the system"
            )
        return bound(*arguments)

    return call

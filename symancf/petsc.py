# SPDX-License-Identifier: BSD-3-Clause
"""PETSc, initialised with the command line, so that its options reach the solvers."""

from __future__ import annotations

import sys

import petsc4py

# PETSc's own signal handler would turn a closed pipe (`symancf verify | head`) into an abort
_ARGUMENTS = [a for a in sys.argv[1:] if a not in ("-h", "-help", "--help")]
petsc4py.init([sys.argv[0], *_ARGUMENTS, "-no_signal_handler"])

from petsc4py import PETSc  # noqa: E402

__all__ = ["PETSc"]

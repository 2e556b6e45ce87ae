# SPDX-License-Identifier: BSD-3-Clause
"""PETSc, initialised with the command line, so that its options reach the solvers."""

from __future__ import annotations

import sys

import petsc4py

petsc4py.init([sys.argv[0], *(a for a in sys.argv[1:] if a not in ("-h", "-help", "--help"))])

from petsc4py import PETSc  # noqa: E402

__all__ = ["PETSc"]

# SPDX-License-Identifier: BSD-3-Clause
"""The structures of level.h, and the library that works on them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

from ...arrays import address
from ...runtime import jit
from ...runtime.structures import declared

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...arrays import Data

_STRUCTURES = declared(Path(__file__).with_name("level.h"))

if TYPE_CHECKING:
    Coarse = ctypes.Structure
    Counts = ctypes.Structure
    Exchange = ctypes.Structure
    Hierarchy = ctypes.Structure
    Known = ctypes.Structure
    Level = ctypes.Structure
    Messages = ctypes.Structure
    Nodes = ctypes.Structure
    Part = ctypes.Structure
    Petsc = ctypes.Structure
    Rest = ctypes.Structure
    Shell = ctypes.Structure
    Skew = ctypes.Structure
else:
    Coarse, Counts, Exchange = (_STRUCTURES[name] for name in ("Coarse", "Counts", "Exchange"))
    Hierarchy, Level = (_STRUCTURES[name] for name in ("Hierarchy", "Level"))
    Messages, Part, Petsc = (_STRUCTURES[name] for name in ("Messages", "Part", "Petsc"))
    Known, Nodes, Shell, Skew = (_STRUCTURES[name] for name in ("Known", "Nodes", "Shell", "Skew"))
    Rest = _STRUCTURES["Rest"]


def part(start: Data, column: Data) -> Part:
    """Return places of blocks; the arrays must live as long."""
    return Part(address(start), address(column))


def library(comm: MPI.Comm) -> ctypes.CDLL:
    """Return the functions of multigrid.c (collective)."""
    functions = jit.load_runtime(Path(__file__).with_name("multigrid.c"), comm=comm)
    for name in ("interpolate", "distinct", "components", "coarse_pattern"):
        getattr(functions, f"symancf_{name}").restype = ctypes.c_int64
    functions.symancf_largest.restype = ctypes.c_double
    return functions

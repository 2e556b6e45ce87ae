# SPDX-License-Identifier: BSD-3-Clause
"""The structures of level.h, field by field, and the library that works on them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime import jit

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..arrays import Data

_ADDRESS, _NUMBER, _REAL = ctypes.c_void_p, ctypes.c_int32, ctypes.c_double


class Part(ctypes.Structure):
    """Places of blocks."""

    _fields_ = [("start", _ADDRESS), ("column", _ADDRESS)]


class Exchange(ctypes.Structure):
    """Messages between neighbours."""

    _fields_ = [
        *((name, _NUMBER) for name in ("forward", "backward", "packed")),
        *((name, 2 * _NUMBER) for name in ("neighbours", "sent")),
        *((name, _ADDRESS) for name in ("to_ghosts", "from_ghosts", "status", "list", "buffer")),
    ]


class Counts(ctypes.Structure):
    """Messages and reductions that were begun on this rank, and their bytes."""

    _fields_ = [(name, ctypes.c_int64) for name in ("messages", "bytes", "reductions", "reduced")]


class Messages(ctypes.Structure):
    """Functions and handles of MPI."""

    _fields_ = [
        *((name, _ADDRESS) for name in ("start", "wait", "allreduce")),
        *((name, _ADDRESS) for name in ("real", "single", "sum", "largest", "comm")),
        ("counts", ctypes.POINTER(Counts)),
    ]


class Level(ctypes.Structure):
    """A matrix, its smoother and the interpolation from the next level."""

    _fields_ = [
        *((name, _NUMBER) for name in ("nodes", "ghosts", "symmetric", "degree", "longest")),
        ("own", Part),
        ("off", Part),
        *((name, _ADDRESS) for name in ("diagonal", "held")),
        ("coarse", Part),
        ("weight", _ADDRESS),
        *((name, _NUMBER) for name in ("shared", "coarse_shared")),
        *((name, _ADDRESS) for name in ("values", "off_values", "inverse", "row")),
        *((name, _ADDRESS) for name in ("x", "b", "d", "r")),
        *((name, _REAL) for name in ("largest", "lowest")),
        ("exchange", ctypes.POINTER(Exchange)),
        ("spent", _ADDRESS),
    ]


class Coarsest(ctypes.Structure):
    """Inverses of the last level."""

    _fields_ = [("parts", _NUMBER), ("first", _ADDRESS), ("inverse", _ADDRESS)]


class Hierarchy(ctypes.Structure):
    """All levels."""

    _fields_ = [
        ("levels", _NUMBER),
        ("level", ctypes.POINTER(Level)),
        ("coarsest", Coarsest),
        ("messages", ctypes.POINTER(Messages)),
        ("scale", _REAL),
    ]


class Coarse(ctypes.Structure):
    """Entries of a coarse level in double precision."""

    _fields_ = [
        *((name, _NUMBER) for name in ("nodes", "ghosts")),
        *((name, Part) for name in ("own", "off", "ghost")),
        *((name, _ADDRESS) for name in ("values", "off_values", "ghost_values")),
    ]


def address(array: Data) -> ctypes.c_void_p:
    """Return the address of the values of an array."""
    return ctypes.c_void_p(array.ctypes.data)


def part(start: Data, column: Data) -> Part:
    """Return places of blocks; the arrays must live as long."""
    return Part(start.ctypes.data, column.ctypes.data)


def library(comm: MPI.Comm) -> ctypes.CDLL:
    """Return the functions of multigrid.c (collective)."""
    found = jit.load_runtime(Path(__file__).with_name("multigrid.c"), comm=comm)
    for name in ("interpolate", "distinct", "components", "coarse_pattern"):
        getattr(found, f"symancf_{name}").restype = ctypes.c_int64
    return found

# SPDX-License-Identifier: BSD-3-Clause
"""The structures of plan.h, field by field, and arrays as kernels take them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from symancf_codegen.modes import MODES

from ..arrays import Array

LANES = 8

_ADDRESS, _NUMBER = ctypes.c_void_p, ctypes.c_int32


class Term(ctypes.Structure):
    """Entities with one kernel: ``symancf_term``."""

    _fields_ = [
        *((name, _NUMBER) for name in ("tabulated", "symmetric", "has_tangent", "compact")),
        *((name, _NUMBER) for name in ("n", "cell_rows")),
        *((mode, _ADDRESS) for mode in MODES),
        *((name, _ADDRESS) for name in ("piece_end", "piece")),
        *((name, _ADDRESS) for name in ("uniform", "cell", "uniform_rate", "cell_rate")),
        ("table", _ADDRESS),
        ("table_rows", _NUMBER),
        *((name, _ADDRESS) for name in ("owned", "vertex_start", "vertices")),
        *((name, _ADDRESS) for name in ("pair_start", "positions")),
        *((name, _NUMBER) for name in ("corners", "vectors", "parts", "mapped")),
        *((name, _ADDRESS) for name in ("width", "blocks", "maps")),
        *((name, _NUMBER) for name in ("rates", "scalars")),
        ("scalar", _ADDRESS),
        ("jets", _NUMBER),
        *((name, _ADDRESS) for name in ("entry_start", "entry_jet", "entry_coordinate")),
        *((name, _ADDRESS) for name in ("entry_vertex", "entry_value", "entry_column")),
        *((name, _ADDRESS) for name in ("column_start", "column_coordinate", "column_vertex")),
        ("columns", _NUMBER),
        ("feet", _ADDRESS),
        ("kept", _ADDRESS),
    ]


class Basis(ctypes.Structure):
    """Functions of a facet as polynomials: ``symancf_basis``."""

    _fields_ = [
        *((name, _NUMBER) for name in ("functions", "monomials", "vertices", "corners", "slopes")),
        ("bilinear", _NUMBER),
        *((name, _ADDRESS) for name in ("exponents", "coefficients")),
    ]


class Opposite(ctypes.Structure):
    """Points and the facets opposite: ``symancf_feet``."""

    _fields_ = [
        ("basis", Basis),
        ("facets", _NUMBER),
        *((name, _ADDRESS) for name in ("offset", "maps", "normals", "number", "size", "rim")),
        *((name, _NUMBER) for name in ("vectors", "patches")),
        *((name, _ADDRESS) for name in ("patch_offset", "vector_vertex", "facet_start")),
        *(
            (name, _ADDRESS)
            for name in ("candidates", "facet", "corner", "patch", "value", "own", "first")
        ),
        ("reach", ctypes.c_double),
        *(
            (name, _NUMBER)
            for name in ("row", "memory", "gap", "damping", "span", "anchor", "rate")
        ),
    ]


class Ways(ctypes.Structure):
    """Points and facets opposite that move: ``symancf_ways``."""

    _fields_ = [
        ("basis", Basis),
        *((name, _NUMBER) for name in ("facets", "count", "parts")),
        ("pairs", ctypes.c_int64),
        ("pair", _ADDRESS),
        ("P", _ADDRESS * 2),
        *((name, _ADDRESS) for name in ("Q", "deep", "asked")),
        ("r", _ADDRESS * 2),
    ]


class Terms(ctypes.Structure):
    """All of them, the numbering and the matrix: ``symancf_plan``."""

    _fields_ = [
        ("terms", _NUMBER),
        ("term", ctypes.POINTER(Term)),
        ("reference", _ADDRESS),
        ("coordinates", _NUMBER),
        *((name, _ADDRESS) for name in ("row", "rank_in_vertex", "vertex_row")),
        *((name, _NUMBER) for name in ("owned", "rows")),
        *((name, _ADDRESS) for name in ("vertex_plain", "diagonal_start", "off_start")),
        *((name, _ADDRESS) for name in ("diagonal", "off", "rate", "rate_factor")),
    ]


def most_vectors(library: ctypes.CDLL) -> int:
    """Return the most coefficient vectors of a node that the runtime can hold.

    Raises
    ------
    RuntimeError : the structures of C are not those that are declared here.
    """
    found = (ctypes.c_int64 * 5)()
    library.symancf_limits(found)
    *sizes, vectors = found
    here = [ctypes.sizeof(kind) for kind in (Term, Terms, Opposite, Ways)]
    if sizes != here:
        raise RuntimeError(
            f"plan.h, opposite.h, ways.h and structures.py differ: a term, a plan, feet and ways "
            f"have {sizes} bytes in C and {here} here"
        )
    return vectors


def address(array: npt.NDArray[np.generic]) -> int:
    """Return the address of the values of an array."""
    return int(array.ctypes.data)


def aligned(shape: Sequence[int]) -> Array:
    """Return a 64-byte aligned array of zeros."""
    size = int(np.prod(shape))
    raw = np.zeros(size + 8)
    start = (-raw.ctypes.data % 64) // 8
    array: Array = raw[start : start + size].reshape(tuple(shape))
    return array


def batched(values: Array) -> Array:
    """Reorder per-entity rows (n, k) into batches of lanes (nb, k, 8), repeating the last."""
    n, k = values.shape
    batches = -(-n // LANES)
    array = aligned((batches, k, LANES))
    if n:
        padded = values[np.minimum(np.arange(batches * LANES), n - 1)]
        array[...] = padded.reshape(batches, LANES, k).transpose(0, 2, 1)
    return array

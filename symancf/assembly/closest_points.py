# SPDX-License-Identifier: BSD-3-Clause
"""Closest points on facets, as the runtime finds them: see closest_point.h."""

from __future__ import annotations

import ctypes
import os
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints, Ints32, address
from ..errors import ParameterError
from ..runtime import jit
from .structures import Basis as Table
from .structures import Types, Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from mpi4py import MPI

    from .form import Basis

    Address = Callable[[npt.ArrayLike, npt.DTypeLike], int]

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]  # powers of the monomials of bilinear facets
MAX_FACET_SIZES = 32, 16, 5  # functions of a facet, monomials, powers; see closest_point.h
SIZES = "functions", "monomials", "vertices", "corners", "slopes"


def table_of(basis: Basis, hold: Address) -> Table:
    """Return the functions of facets as C takes them; `hold` keeps arrays, returns addresses."""
    sizes = basis.functions, len(basis.exponents), int(basis.exponents.max()) + 1
    if any(n > most for n, most in zip(sizes, MAX_FACET_SIZES, strict=True)):
        raise ValueError(
            f"facets of {sizes[0]} functions made of {sizes[1]} monomials with {sizes[2]} powers: "
            f"the runtime holds {MAX_FACET_SIZES} (closest_point.h)"
        )
    return Table(
        functions=basis.functions,
        monomials=len(basis.exponents),
        vertices=basis.vertices,
        corners=basis.corners,
        slopes=basis.slopes,
        bilinear=basis.functions == basis.corners == 4 and np.array_equal(basis.exponents, SQUARE),
        exponents=hold(basis.exponents, np.int32),
        coefficients=hold(basis.coefficients, np.float64),
    )


def types_of(bases: Sequence[Basis], types: Integers, hold: Address) -> Types:
    """Return the functions of facets of several types, `types` (facets,); see `table_of`."""
    tables = (Table * len(bases))(*(table_of(basis, hold) for basis in bases))
    at = ctypes.c_void_p(hold(np.frombuffer(memoryview(tables), np.uint8), np.uint8))
    most = {name: max(getattr(table, name) for table in tables) for name in SIZES}
    return Types(basis=ctypes.cast(at, ctypes.POINTER(Table)), type=hold(types, np.int32), **most)


def library(comm: MPI.Comm) -> ctypes.CDLL:
    """Return the runtime (collective).

    The environment variable SYMANCF_ROUND_OFF, a seed > 0 and the same on every rank, asks for
    that with the round-off of another machine; see roundoff.h.
    """
    source, seed = Path(__file__).with_name("runtime.c"), os.environ.get("SYMANCF_ROUND_OFF", "")
    if not seed:
        return jit.load_runtime(source, comm=comm)
    if not seed.isdecimal():
        raise ParameterError(
            f"SYMANCF_ROUND_OFF={seed}: give a seed, a whole number",
            asked="SYMANCF_ROUND_OFF",
            given=seed,
        )
    runtime = jit.load_runtime(source, comm=comm, defines=["SYMANCF_ROUND_OFF"])
    ctypes.c_uint64.in_dll(runtime, "symancf_seed").value = int(seed)
    return runtime


class _ArrayList(list["npt.NDArray[np.generic]"]):
    """Arrays that C reads."""

    def __call__(self, values: npt.ArrayLike, dtype: npt.DTypeLike) -> int:
        """Keep an array of a type; return its address."""
        self.append(np.ascontiguousarray(values, dtype=dtype))
        return address(self[-1])


def closest_points_of(
    library: ctypes.CDLL,
    bases: Sequence[Basis],
    types: Integers,
    P: Array,
    Q: Array,
    facet: Ints,
    r: Array,
    beyond: float,
) -> tuple[Array, Array]:
    """Return places (n, 2) and gaps (n,) of closest points on facets; NaN: there is none.

    Parameters
    ----------
    bases, types : functions of each type of facets; (F,) types of facets.
    P, Q : (F, monomials, 3), (F, 4, 3) polynomials of the facets and of their normals.
    facet, r : (n,), (n, 3) facets and points, pair by pair.
    beyond : how far a closest point may be beyond an edge, in the parameters.
    """
    hold, n = _ArrayList(), len(facet)
    xi, g = np.full((n, 2), np.nan), np.full(n, np.nan)
    pointers = [ctypes.c_void_p(hold(a, np.float64)) for a in (P, Q)]
    library.symancf_closest_points_of(
        ctypes.byref(types_of(bases, types, hold)),
        *pointers,
        ctypes.c_int64(n),
        ctypes.c_void_p(hold(facet, np.int32)),
        ctypes.c_void_p(hold(r, np.float64)),
        ctypes.c_double(beyond),
        ctypes.c_void_p(address(xi)),
        ctypes.c_void_p(address(g)),
    )
    return xi, g


def inner(library: ctypes.CDLL, basis: Basis, rim: Ints32, xi: Array) -> Array:
    """Return p (n,) at places (n, 2) of facets with the bits `rim` (n,); see closest_point.h."""
    hold, p = _ArrayList(), np.zeros(len(rim))
    table = table_of(basis, hold)
    pointers = [ctypes.c_void_p(hold(a, kind)) for a, kind in ((rim, np.int32), (xi, np.float64))]
    count, out = ctypes.c_int64(len(rim)), ctypes.c_void_p(address(p))
    library.symancf_inner(ctypes.byref(table), count, *pointers, out)
    return p


class Passes(IntEnum):
    """What points come to on their ways past facets, the worst of it; see ways.h."""

    NOTHING, CROSSED, NO_MEMORY = range(3)


def follow(
    library: ctypes.CDLL,
    bases: Sequence[Basis],
    types: Integers,
    pairs: Ints,
    first: Integers,
    ends: tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]],
    *,
    deep: Array,
    parts: int,
) -> Passes:
    """Return what happens to points that move past facets on straight ways.

    Parameters
    ----------
    bases, types : functions of each type of facets; (G,) types of those opposite.
    pairs : (k, 2) of a facet with points and one opposite.
    first : (F + 1,) first of the points of each facet that has some.
    ends : at the beginning and at the end points (n, 3), polynomials (G, monomials, 3), and those
        of the normals (G, 4, 3).
    deep : (G,) deeper a point is not in a facet but behind it: it has crossed it.
    parts : of the ways, that are looked at one after the other.
    """
    hold = _ArrayList()
    ways = Ways(
        types=types_of(bases, types, hold),
        facets=len(deep),
        parts=parts,
        pairs=len(pairs),
        pair=hold(pairs, np.int32),
        deep=hold(deep, np.float64),
        first=hold(first, np.int32),
    )
    for k, end in enumerate(ends):
        ways.r[k], ways.P[k], ways.Q[k] = (hold(a, np.float64) for a in end)
    return Passes(library.symancf_follow(ctypes.byref(ways)))

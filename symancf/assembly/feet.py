# SPDX-License-Identifier: BSD-3-Clause
"""Feet of points on facets, as the runtime finds them: see feet.h and foot.h."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..runtime import jit
from .structures import Basis as Table
from .structures import address

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from mpi4py import MPI

    from .piece import Basis

    Hold = Callable[[npt.ArrayLike, npt.DTypeLike], int]

MOST = 32, 16, 5  # functions of a facet, monomials, powers; see foot.h


def table_of(basis: Basis, hold: Hold) -> Table:
    """Return the functions of facets as C takes them; `hold` keeps arrays, returns addresses."""
    sizes = basis.functions, len(basis.exponents), int(basis.exponents.max()) + 1
    if any(n > most for n, most in zip(sizes, MOST, strict=True)):
        raise ValueError(
            f"facets of {sizes[0]} functions made of {sizes[1]} monomials with {sizes[2]} powers: "
            f"the runtime holds {MOST} (foot.h)"
        )
    return Table(
        functions=basis.functions,
        monomials=len(basis.exponents),
        vertices=basis.vertices,
        corners=basis.corners,
        slopes=basis.slopes,
        exponents=hold(basis.exponents, np.int32),
        coefficients=hold(basis.coefficients, np.float64),
    )


def library(comm: MPI.Comm) -> ctypes.CDLL:
    """Return the runtime (collective)."""
    return jit.load_runtime(Path(__file__).with_name("runtime.c"), comm=comm)


def feet_of(
    library: ctypes.CDLL, basis: Basis, P: Array, Q: Array, facet: Ints, r: Array, beyond: float
) -> tuple[Array, Array]:
    """Return places (n, 2) and gaps (n,) of the feet of points on facets; NaN: there is none.

    Parameters
    ----------
    P, Q : (F, monomials, 3), (F, 4, 3) polynomials of the facets and of their normals.
    facet, r : (n,), (n, 3) facets and points, pair by pair.
    beyond : how far a foot may be beyond an edge, in the parameters.
    """
    held: list[npt.NDArray[np.generic]] = []

    def hold(values: npt.ArrayLike, dtype: npt.DTypeLike) -> int:
        held.append(np.ascontiguousarray(values, dtype=dtype))
        return address(held[-1])

    n = len(facet)
    xi, g = np.full((n, 2), np.nan), np.full(n, np.nan)
    table = table_of(basis, hold)
    pointers = [ctypes.c_void_p(hold(a, np.float64)) for a in (P, Q)]
    library.symancf_feet_of(
        ctypes.byref(table),
        *pointers,
        ctypes.c_int64(n),
        ctypes.c_void_p(hold(facet, np.int32)),
        ctypes.c_void_p(hold(r, np.float64)),
        ctypes.c_double(beyond),
        ctypes.c_void_p(address(xi)),
        ctypes.c_void_p(address(g)),
    )
    return xi, g


def inner(library: ctypes.CDLL, basis: Basis, free: Ints32, xi: Array) -> Array:
    """Return chi (n,) at places (n, 2) of facets with free edges (n,) as bits; see foot.h."""
    held: list[npt.NDArray[np.generic]] = []

    def hold(values: npt.ArrayLike, dtype: npt.DTypeLike) -> int:
        held.append(np.ascontiguousarray(values, dtype=dtype))
        return address(held[-1])

    chi, table = np.zeros(len(free)), table_of(basis, hold)
    pointers = [ctypes.c_void_p(hold(a, kind)) for a, kind in ((free, np.int32), (xi, np.float64))]
    count, out = ctypes.c_int64(len(free)), ctypes.c_void_p(address(chi))
    library.symancf_inner(ctypes.byref(table), count, *pointers, out)
    return chi

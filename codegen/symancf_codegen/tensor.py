# SPDX-License-Identifier: BSD-3-Clause
"""Tensor products: shape functions and points of hexahedra of which each direction has its own.

With functions N_abc = l_a(xi) l_b(eta) l_c(zeta) and as many points in each direction, sums over
functions are made direction by direction: 3 n^4 operations for n^3 functions in place of n^6. Of
derivatives the values at the points suffice: l'_a(x_q) = sum_p G_qp l_a(x_p). See S. A. Orszag,
Spectral methods for problems in complex geometries, J. Comput. Phys. 37 (1980) 70-92, and
M. Kronbichler, K. Kormann, A generic interface for parallel cell-based finite element operator
application, Comput. Fluids 63 (2012) 135-147.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from symancf_codegen.declare import Array, Space

MOST = 4  # functions of a direction that are looked for


@dataclass(frozen=True, eq=False)
class TensorProduct:
    """The functions of a cell of three parameters as products, at points that form a lattice.

    Attributes
    ----------
    functions, points : (n^3,) which of them stand in the lattice, xi running fastest.
    values : (n, n) of the functions of a direction, rows of points.
    slopes : (n, n) from values at the points to derivatives there.
    directions : of the derivatives that the table jets are.
    """

    functions: tuple[int, ...]
    points: tuple[int, ...]
    values: Array
    slopes: Array
    directions: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number n of functions of a direction."""
        return len(self.values)


def tensor_product(
    space: Space, jets: tuple[str, ...], points: Array, table: Array
) -> TensorProduct | None:
    """Return table jets, `table` (points, jets, functions), as tensor products if they are some."""
    n = round(space.size ** (1.0 / 3.0))
    if len(space.coordinates) != 3 or n**3 != space.size or not 2 <= n <= MOST or not jets:
        return None
    along = np.unique(np.round(points, 12), axis=None)
    if len(points) != n**3 or len(along) != n:
        return None
    place = np.abs(points[:, :, None] - along).argmin(axis=2)
    order = np.full((n, n, n), -1)
    order[tuple(place[:, ::-1].T)] = np.arange(len(points))
    if (order < 0).any():
        return None
    along = points[order[0, 0], 0]
    main = next(iter(space.table_jets))
    nodes = np.linspace(-1.0, 1.0, n)
    lattice = np.array([p[::-1] for p in product(nodes, repeat=3)])
    at_nodes = space.tabulate((main,), lattice)[:, 0]
    functions = at_nodes.argmax(axis=1)
    if not np.allclose(at_nodes, np.eye(n**3)[:, np.argsort(functions)], atol=1e-12):
        return None
    line = np.column_stack([along, *[np.full(n, nodes[0])] * 2])
    values = space.tabulate((main,), line)[:, 0, functions[:n]]
    slope = _slope(space, main, line)
    if slope is None or np.linalg.cond(values) > 1e3:
        return None
    slopes = slope[:, functions[:n]] @ np.linalg.inv(values)
    slopes -= np.diag(slopes.sum(axis=1))  # a constant has no slope
    q = order.ravel()
    directions = _directions(table[q][:, :, functions], values, slopes)
    if directions is None:
        return None
    return TensorProduct(tuple(functions.tolist()), tuple(q.tolist()), values, slopes, directions)


def _slope(space: Space, main: str, points: Array) -> Array | None:
    """Return the first derivative by the first coordinate at points, where it is a table jet."""
    jet = f"{main}_{space.coordinates[0]}"
    return space.tabulate((jet,), points)[:, 0] if jet in space.table_jets else None


def _directions(table: Array, values: Array, slopes: Array) -> tuple[int, ...] | None:
    """Return of which direction each jet of a table in the order of lattices is the derivative."""
    derived = slopes @ values
    by_direction = []
    for d in range(3):
        x, y, z = (derived if k == d else values for k in range(3))
        by_direction.append(np.kron(z, np.kron(y, x)))
    found = []
    for jet in range(table.shape[1]):
        near = [d for d in range(3) if np.allclose(table[:, jet], by_direction[d], atol=1e-12)]
        if len(near) != 1:
            return None
        found += near
    return tuple(found) if len(set(found)) == len(found) else None

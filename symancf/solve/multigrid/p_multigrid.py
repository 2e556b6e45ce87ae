# SPDX-License-Identifier: BSD-3-Clause
"""p-multigrid: cells of second order by products of kernels, above the multigrid of corners."""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, address, pointer
from . import structures
from .cycle import print_to
from .hierarchy import (
    DEGREE,
    EIGENVALUE_MARGIN,
    LOWEST,
    OPTIONS,
    STEPS,
    Multigrid,
    largest_eigenvalue,
    noise,
)
from .structures import part

if TYPE_CHECKING:
    from ...assembly.matrix_free import MatrixFree
    from .grids import GridNodes


class PMultigrid:
    r"""A V-cycle that preconditions a tangent K without entries, on any number of ranks.

    On the finest level, of all nodes, Chebyshev's polynomial in :math:`D^{-1} K` smooths before and
    after, D the 3 x 3 blocks on the diagonal; its products are those of kernels. The cycle is in
    single precision. The next level has the trilinear functions of the corners of cells,
    :math:`K_c = P^T K P`, and is answered by a cycle of `Multigrid`.

    Parameters
    ----------
    matrix : the tangent.
    nodes : of all rows, see `symancf.solve.multigrid.grids.nodes_of`.
    prefix : of the options of the cycle of corners.

    Attributes
    ----------
    corners : `Multigrid` of :math:`K_c`.
    largest, lowest : eigenvalues of :math:`D^{-1} K` between which errors are reduced.

    References
    ----------
    E. M. Ronquist, A. T. Patera, Spectral element multigrid. I. Formulation and numerical results,
    J. Sci. Comput. 2 (1987) 389-406. M. Kronbichler, K. Kormann, Fast matrix-free evaluation of
    discontinuous Galerkin finite element operators, ACM Trans. Math. Softw. 45 (2019) 29.
    """

    revision = 0

    def __init__(self, matrix: MatrixFree, nodes: GridNodes, prefix: str = OPTIONS) -> None:
        self._matrix, self.comm = matrix, matrix.comm
        numbering = self._numbering = matrix.numbering
        owned = numbering.owned_vertices
        there = numbering.row_count > 0
        own = matrix.corner[:owned][there[:owned]] >= 0  # of nodes with rows
        grids = replace(nodes.grids, spacing=2.0 * nodes.grids.spacing)
        of_corners = replace(
            nodes,
            grids=grids,
            start=nodes.start[own],
            grid=nodes.grid[own],
            ids=nodes.ids[own],
            prescribed=matrix.corners.prescribed,
        )
        self.corners = Multigrid(matrix.corners, of_corners, True, prefix)
        self._library = structures.library(self.comm)
        start = numbering.offset[:, numbering.block("position")]
        self._place = np.ascontiguousarray(np.where(there, start, -1), dtype=np.int32)
        self._corner_bits = np.ascontiguousarray(matrix.corners.prescribed)
        self._inverse = np.zeros(9 * owned, dtype=np.float32)
        vectors = np.zeros((4, numbering.coordinates), dtype=np.float32)
        self._x, self._b, self._d, self._r = vectors
        self._coarse = np.zeros((2, max(1, 3 * matrix.corners.nodes)))
        self._data = structures.Nodes(numbering.vertices, owned, matrix.corners.nodes)
        self._data.linear = part(matrix.start, matrix.column)
        for name, array in (
            ("place", self._place),
            ("corner", matrix.corner),
            ("prescribed", matrix.bits),
            ("held", self._corner_bits),
            ("weight", matrix.weight),
            ("inverse", self._inverse),
            *((name, getattr(self, f"_{name}")) for name in ("x", "b", "d", "r")),
        ):
            setattr(self._data, name, address(array))
        self._ids = nodes.ids
        self.largest = self.lowest = 0.0

    # ---- entries --------------------------------------------------------------------------------
    def renew(self, coarse: bool = True) -> None:
        """Take the present state of the tangent (collective).

        Parameters
        ----------
        coarse : make the levels of corners, too; else they stay as they are.
        """
        coarse = coarse or not self.largest
        self._matrix.linearize()
        self._data.scale, self._data.unit = self._matrix.scale, 1.0
        self._library.symancf_invert_nodes(self._at, pointer(self._matrix.diagonal))
        if coarse:
            self._matrix.coarsen()
            self.corners.renew()
        self._estimate()

    def _estimate(self) -> None:
        """Find the largest eigenvalue of D^-1 K by steps of conjugate gradients (collective)."""
        b, d, x, r = self._b, self._d, self._x, self._r
        self._library.symancf_take_nodes(self._at, pointer(noise(self._ids).astype(float)))
        alpha, beta = np.zeros((2, STEPS))
        d.fill(0.0)
        x.fill(0.0)  # a diverged solution may have left what is no number
        before, done = 1.0, 0
        for k in range(STEPS):
            self._library.symancf_solve_nodes(self._at, pointer(b), pointer(d))
            now = self._dot(b, d)
            x *= np.float32(now / before)
            x += d
            self._multiply()
            along = self._dot(x, r)
            if not (now > 0.0 and along > 0.0):
                break
            alpha[k], beta[k], before, done = now / along, now / before if k else 0.0, now, k + 1
            b -= np.float32(alpha[k]) * r
        found = largest_eigenvalue(alpha[:done], beta[:done]) if done else 0.0
        self.largest = EIGENVALUE_MARGIN * found if 0.0 < found < math.inf else 3.0
        self.lowest = LOWEST * self.largest

    def _dot(self, a: Array, b: Array) -> float:
        owned = self._numbering.owned
        own = float(np.einsum("i,i->", a[:owned], b[:owned], dtype=np.float64))
        return own if self.comm.size == 1 else float(self.comm.allreduce(own))

    @property
    def _at(self) -> object:
        return ctypes.byref(self._data)

    # ---- cycles ---------------------------------------------------------------------------------
    def _multiply(self) -> None:
        """Write K x to r (collective)."""
        if self.comm.size > 1:
            self._numbering.halo.update(self._x)
        self._matrix.multiply(self._x, self._r)

    def _smooth(self, zero: bool) -> None:
        """Reduce the part of the error between the two eigenvalues; from x = 0 if `zero`."""
        middle, half = (self.largest + self.lowest) / 2.0, (self.largest - self.lowest) / 2.0
        sigma = middle / half
        rho, factor, keep = 1.0 / sigma, 1.0 / middle, 0.0
        for k in range(DEGREE):
            first = zero and not k
            if not first:
                self._multiply()
            step = ctypes.c_double(factor), ctypes.c_double(keep)
            self._library.symancf_step_nodes(self._at, int(first), *step)
            after = 1.0 / (2.0 * sigma - rho)
            factor, keep, rho = 2.0 * after / half, after * rho, after

    def apply(self, r: ctypes.c_void_p, z: ctypes.c_void_p) -> None:
        """Write a cycle from zero for the right-hand side r to z, by addresses (collective)."""
        numbering = self._numbering
        own = float(self._library.symancf_largest(ctypes.c_int64(numbering.rows), r))
        size = own if self.comm.size == 1 else self.comm.allreduce(own, MPI.MAX)
        self._library.symancf_measure_nodes(self._at, ctypes.c_double(size))
        self._library.symancf_take_nodes(self._at, r)
        self._smooth(zero=True)
        self._multiply()
        self._library.symancf_residual_nodes(self._at)
        if self.comm.size > 1:
            numbering.halo.update(self._r)
        below, answer = self._coarse
        self._library.symancf_restrict_nodes(self._at, pointer(below))
        self.corners.apply(pointer(below), pointer(answer))
        self._library.symancf_spread_nodes(self._at, pointer(answer))
        if self.comm.size > 1:
            numbering.halo.update(self._r)
        self._library.symancf_prolong_nodes(self._at)
        self._smooth(zero=False)
        self._library.symancf_give_nodes(self._at, z)

    def view(self, viewer: int) -> None:
        """Tell a viewer of PETSc's, by its address, what a cycle is made of (collective)."""
        unknowns = self._numbering.size
        print_to(
            viewer,
            f"  {unknowns} unknowns by products of kernels, Chebyshev's polynomial of degree "
            f"{DEGREE} on [{self.lowest:.3g}, {self.largest:.3g}]",
        )
        print_to(viewer, "  trilinear functions of the corners of cells:")
        self.corners.view(viewer)

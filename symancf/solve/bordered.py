# SPDX-License-Identifier: BSD-3-Clause
"""A preconditioner of tangents of nodes with few other unknowns: pressures of gas."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, pointer
from ..runtime.collective import reduced, shares
from .multigrid import Multigrid, numbers_at, print_to

if TYPE_CHECKING:
    from ..assembly.half import Half
    from ..runtime.petsc import PETSc
    from .multigrid import GridNodes


class Bordered:
    r"""An approximate inverse of a tangent by halves with few unknowns g beside displacements u.

    .. math:: K = \begin{pmatrix} A & B \\ C & D \end{pmatrix}, \qquad
        g = S^{-1} (r_g - C M r_u), \quad u = M (r_u - B g), \quad S = D - C M B

    with the cycle M of `Multigrid` in the place of :math:`A^{-1}`. M B is made with each tangent,
    so an application takes one cycle; S is inverted on every rank.

    Rows of g are solved exactly. `begin` leaves nothing of them in the right-hand side, and so
    there is none in any residual: conjugate gradients, which a tangent with gas is otherwise too
    indefinite for, are those of :math:`A - B D^{-1} C` (N. Gould, M. Hribar, J. Nocedal, SIAM
    Journal on Scientific Computing 23 (2001) 1376-1395).

    Parameters
    ----------
    half : the tangent, with entries of g in its `rest` (collective).
    nodes, symmetric, prefix : see `Multigrid`.

    Attributes
    ----------
    multigrid : that of u.
    """

    def __init__(self, half: Half, nodes: GridNodes, symmetric: bool, prefix: str) -> None:
        assert half.rest is not None
        self._half, self._rest = half, half.rest.mat
        self.revision, comm = half.revision, half.comm
        self.multigrid = Multigrid(half, nodes, symmetric, prefix)
        self._size = 3 * half.nodes
        self._x, self._y = self._rest.createVecs()
        others = self._x.getLocalSize() - self._size
        starts = shares(comm, others)
        self._comm, self.count = comm, int(starts[-1])
        self._own = slice(int(starts[comm.rank]), int(starts[comm.rank + 1]))
        self._changed = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(self.count)

    def _everywhere(self, tail: Array) -> Array:
        """Return numbers of all others, of which this rank has its own (collective)."""
        every = np.zeros((self.count, *tail.shape[1:]))
        every[self._own] = tail
        return reduced(self._comm, every) if self._comm.size > 1 else every

    def _multiply(self, u: Array | None, g: Array) -> Array:
        """Return the product of `rest` with u, None: zeros, and all others g (collective)."""
        x = self._x.getArray()
        x[: self._size] = 0.0 if u is None else u
        x[self._size :] = g[self._own]
        self._rest.mult(self._x, self._y)
        return np.asarray(self._y.getArray(readonly=True))

    def renew(self, coarse: bool = True) -> None:
        """Take the present entries (collective); see `Multigrid.renew`."""
        self.multigrid.renew(coarse)
        size, own = self._size, self._own
        self._MB = np.zeros((self.count, size))
        D, S = np.zeros((2, own.stop - own.start, self.count))
        for k, unit in enumerate(np.eye(self.count)):
            column = self._multiply(None, unit).copy()
            D[:, k] = column[size:]
            self.multigrid.apply(pointer(column), pointer(self._MB[k]))
            S[:, k] = D[:, k] - self._multiply(self._MB[k], np.zeros(self.count))[size:]
        self._D, self._S = self._everywhere(D), self._everywhere(S)

    def apply(self, r: ctypes.c_void_p, z: ctypes.c_void_p) -> None:
        """Write what it makes of rows r to z, by addresses (collective)."""
        size = self._size
        known, u = (numbers_at(v, self._x.getLocalSize()) for v in (r, z))
        self.multigrid.apply(r, z)
        left = known[size:] - self._multiply(u[:size], np.zeros(self.count))[size:]
        g = np.linalg.solve(self._S, self._everywhere(left))
        for column, value in zip(self._MB, g, strict=True):
            u[:size] -= value * column
        u[size:] = g[self._own]

    def begin(self, operator: PETSc.Mat, b: Array) -> None:
        """Take what :math:`g = D^{-1} b_g` makes of it away from a right-hand side (collective)."""
        g = np.linalg.solve(self._D, self._everywhere(b[self._size :]))
        x = self._x.getArray()
        x[: self._size], x[self._size :] = 0.0, g[self._own]
        operator.mult(self._x, self._y)
        y = self._y.getArray(readonly=True)
        at = np.append(np.flatnonzero(y[: self._size]), np.arange(self._size, len(y)))
        self._changed = at, b[at].copy(), g
        b[at] -= y[at]
        b[self._size :] = 0.0

    def end(self, b: Array, x: Array) -> None:
        """Give back the right-hand side, and the solution that belongs to it."""
        at, before, g = self._changed
        b[at] = before
        x[self._size :] += g[self._own]

    def view(self, viewer: int) -> None:
        """Tell a viewer of PETSc's, by its address, what it is made of (collective)."""
        print_to(viewer, f"  {self.count} other unknowns, which are eliminated")
        self.multigrid.view(viewer)

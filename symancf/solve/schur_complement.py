# SPDX-License-Identifier: BSD-3-Clause
"""A tangent without the coordinates that follow others, and without their multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..runtime.collective import exchange, lookup, owners_of, shares
from ..runtime.petsc import PETSc

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..newton.followers import Followers


class RankRows:
    """A matrix of PETSc with rows that other ranks know.

    Parameters
    ----------
    starts, columns : (ranks + 1,) first rows and columns of ranks.
    of, to : rows and columns of the entries that this rank knows, by their numbers on all ranks.
    own : rows of this rank, and columns, with one entry 1 each.

    Attributes
    ----------
    mat : the matrix.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        starts: Ints,
        columns: Ints,
        of: Ints,
        to: Ints,
        own: tuple[Ints, Ints] | None = None,
    ) -> None:
        self._comm = comm
        self._owner = owners_of(starts, of)
        _, (r, c) = exchange(comm, self._owner, of - starts[self._owner], to)
        self.numbers = np.unique(r)
        self._ones = np.ones(0 if own is None else len(own[0]))
        if own is not None:
            r, c = np.concatenate([r, own[0]]), np.concatenate([c, own[1]])
        self._order = np.lexsort((c, r))
        local = [(int(s[comm.rank + 1] - s[comm.rank]), int(s[-1])) for s in (starts, columns)]
        begin = np.searchsorted(r[self._order], np.arange(local[0][0] + 1))
        kind = PETSc.IntType
        self._places = begin.astype(kind), c[self._order].astype(kind)
        csr = (*self._places, np.zeros(len(c)))
        self.mat = PETSc.Mat().createAIJ((local[0], local[1]), csr=csr, comm=comm)

    def write(self, values: Array) -> None:
        """Write the entries that this rank knows (collective)."""
        _, (mine,) = exchange(self._comm, self._owner, values)
        self.mat.setValuesCSR(*self._places, np.concatenate([mine, self._ones])[self._order])
        self.mat.assemble()


class SchurComplement:
    r"""The matrix :math:`R = W^T K W` of what is left, first the displacements of nodes.

    The rows of W are those of T for coordinates that follow others, :math:`x_s = T x_m + Q \Phi`,
    zero for the multipliers of these equations, and those of 1 else. With the solution y of
    :math:`R y = W^T (r - K Q r)`

    .. math:: x = W y + Q r, \qquad z = x + Q^T (r - K x)

    solves :math:`K z = r`, the multipliers too.

    Parameters
    ----------
    K, starts : the matrix, and the first rows of ranks.
    place : (rows,) where a row of this rank is among three rows of each node, -1: nowhere.
    nodes : of this rank.
    none : rows of this rank that are no unknowns.

    Attributes
    ----------
    mat : R, after `renew`.
    starts : first rows of ranks in it.
    rest : rows of K behind those of nodes.
    followers : places among the rows of nodes that follow others.
    """

    def __init__(
        self, K: PETSc.Mat, starts: Ints, pairs: Followers, place: Ints, nodes: int, none: Ints
    ) -> None:
        comm = self._comm = K.getComm().tompi4py()
        self._K = K
        free, u = place < 0, 3 * nodes
        free[none], free[pairs.equations] = False, False
        self.rest = np.flatnonzero(free)
        self.starts = shares(comm, u + len(self.rest))
        number = np.where(place >= 0, place + self.starts[comm.rank], -1)
        number[self.rest] = self.starts[comm.rank] + u + np.arange(len(self.rest))
        self._Q = RankRows(comm, starts, starts, pairs.by, pairs.equation)
        leads = number >= 0
        leads[self._Q.numbers] = False
        own = np.flatnonzero(leads)
        to = lookup(comm, starts, pairs.column, number)
        self._W = RankRows(comm, starts, self.starts, pairs.of, to, (own, number[own]))
        self.followers = place[self._Q.numbers]
        self.mat: PETSc.Mat | None = None
        self._rhs, self._x, self._y = (K.createVecRight() for _ in range(3))
        self.right_side, self.solution = self._W.mat.createVecRight(), self._W.mat.createVecRight()

    def renew(self, pairs: Followers) -> PETSc.Mat:
        """Take the present entries; return R (collective)."""
        self._Q.write(pairs.inverse)
        self._W.write(pairs.factor)
        self.mat = self._K.ptap(self._W.mat, result=self.mat)
        return self.mat

    def begin(self, r: Array) -> None:
        """Write the right-hand side of what is left to `right_side` (collective)."""
        self._rhs.setArray(r)
        self._Q.mat.mult(self._rhs, self._x)
        self._K.mult(self._x, self._y)
        self._y.aypx(-1.0, self._rhs)
        self._W.mat.multTranspose(self._y, self.right_side)

    def end(self, z: Array) -> None:
        """Write the solution that belongs to `solution` to rows z (collective)."""
        self._W.mat.multAdd(self.solution, self._x, self._x)
        self._K.mult(self._x, self._y)
        self._y.aypx(-1.0, self._rhs)
        self._Q.mat.multTransposeAdd(self._y, self._x, self._x)
        z[:] = self._x.getArray(readonly=True)

# SPDX-License-Identifier: BSD-3-Clause
"""The unknowns beside displacements of nodes, which are factored beside multigrid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..runtime.collective import lookup, shares
from ..runtime.petsc import PETSc
from .factors import Factors

if TYPE_CHECKING:
    from collections.abc import Callable


INVERSE_FACTOR = 3.0  # times the blocks of pressures: the inverse of R_uu is larger than that of D


class OtherUnknowns:
    r"""Other unknowns g of a matrix R than the displacements u of nodes.

    With a cycle M for the inverse of :math:`R_{uu}` and
    :math:`S = R_{gg} - R_{gu} D^{-1} R_{ug}` they and u are

    .. math:: g = S^{-1} (r_g - R_{gu} M r_u), \qquad u = M r_u - M R_{ug} g .

    Parameters
    ----------
    R : the matrix; rows of u come first on each rank (collective).
    u : rows of u on this rank.
    pressure : (rows of g,) the vertices of pressures, -1 for others. S has no entries between the
        pressures of different vertices, and `INVERSE_FACTOR` ones between those of one.
    symmetric : whether R is.
    """

    def __init__(self, R: PETSc.Mat, u: int, pressure: Ints, symmetric: bool) -> None:
        self._comm = R.getComm().tompi4py()
        first, end = R.getOwnershipRange()
        make = PETSc.IS
        self._of_u = make().createStride(u, first, 1, comm=R.getComm())
        self._of_g = make().createStride(end - first - u, first + u, 1, comm=R.getComm())
        self._size, self._pressure = u, pressure
        self._any = bool(self._comm.allreduce(int((pressure >= 0).any())))
        self._factors = Factors(self._comm, symmetric)
        self._last: list[PETSc.Object] = []

    def renew(self, R: PETSc.Mat) -> bool:
        """Factor at the present entries; tell whether that was possible (collective)."""
        u, g = self._of_u, self._of_g
        for old in self._last:  # ranks must let go together
            old.destroy()
        self._gu, self._ug = R.createSubMatrix(g, u), R.createSubMatrix(u, g)
        S, scaled = R.createSubMatrix(g, g), self._ug.copy()
        self._u, self._du = self._gu.createVecRight(), self._gu.createVecRight()
        self._g, self._dg = self._ug.createVecRight(), self._ug.createVecRight()
        diagonal = self._diagonal_of(R)
        inverse = np.divide(1.0, diagonal, out=np.zeros(self._size), where=diagonal != 0.0)
        self._u.setArray(inverse)
        scaled.diagonalScale(L=self._u)
        product = self._gu.matMult(scaled)
        structure = PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN
        S.axpy(-1.0, product, structure=structure)
        self._S = self._thinned(S) if self._any else S
        for part in (scaled, product, *((S,) if self._any else ())):
            part.destroy()
        self._last = [self._gu, self._ug, self._S, self._u, self._du, self._g, self._dg]
        return self._factors.make(self._S)

    def _diagonal_of(self, R: PETSc.Mat) -> Array:
        """Return the diagonal of R_uu (rows of u,) (collective)."""
        diagonal = R.getDiagonal()
        values = np.array(diagonal.getArray(readonly=True)[: self._size])
        diagonal.destroy()
        return values

    def _thinned(self, S: PETSc.Mat) -> PETSc.Mat:
        """Leave out what couples the pressures of different vertices (collective)."""
        start, column, value = S.getValuesCSR()
        own, rows = self._pressure, len(start) - 1
        there = lookup(self._comm, shares(self._comm, rows), column.astype(np.int64), own)
        row = np.repeat(np.arange(rows), np.diff(start))
        couples = (own[row] < 0) | (there < 0) | (own[row] == there)
        begin = np.searchsorted(row[couples], np.arange(rows + 1)).astype(PETSc.IntType)
        value = np.where((own[row] >= 0) & (own[row] == there), INVERSE_FACTOR * value, value)
        csr = begin, column[couples], value[couples]
        return PETSc.Mat().createAIJ(S.getSizes(), csr=csr, comm=S.getComm())

    def complete(
        self, known_part: Array, solution: Array, cycle: Callable[[Array, Array], None]
    ) -> None:
        """Write g, and u with it, to `solution`, which has M of the u given (collective)."""
        u = self._size
        self._u.setArray(solution[:u])
        self._gu.mult(self._u, self._g)
        self._g.setArray(known_part[u:] - self._g.getArray(readonly=True))
        self._factors.solve(self._g, self._dg)
        solution[u:] = self._dg.getArray(readonly=True)
        self._ug.mult(self._dg, self._u)
        cycle(self._u.getArray(), self._du.getArray())
        solution[:u] -= self._du.getArray(readonly=True)

# SPDX-License-Identifier: BSD-3-Clause
"""Factors of a matrix: solutions, and by Sylvester's law the signs of its eigenvalues."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints32
from ..assembly.numbering import MOVING
from ..runtime.petsc import PETSc, has

if TYPE_CHECKING:
    import scipy.sparse.linalg as sl
    from mpi4py import MPI

    from ..arrays import Integers, Mask
    from ..assembly.discrete import DiscreteSystem

#: per cent of work space beyond MUMPS's estimate, one after the other
WORKSPACE_PERCENT = (100, 400, 1600)
OUT_OF_WORKSPACE = (-8, -9, -14, -15, -17, -20)  # INFOG(1) of MUMPS


class Factors:
    """L D L^T of a symmetric matrix or L U of another one.

    By MUMPS on any number of ranks, or where PETSc has none by SuperLU on one rank.

    Attributes
    ----------
    symmetric : whether there are factors L D L^T, whose negative pivots count.
    short : MUMPS's INFOG(1) where its work space did not suffice, else 0.
    negative : number of negative eigenvalues of the symmetric matrix that was factored last; None:
        not known.
    """

    def __init__(self, comm: MPI.Comm, symmetric: bool) -> None:
        self.comm, self.symmetric, self.short = comm, symmetric, 0
        self._mumps = has("mumps")
        self.negative: int | None = None
        self._pc: PETSc.PC | None = None
        self._lu: sl.SuperLU | None = None

    def make(self, matrix: PETSc.Mat) -> bool:
        """Factor a matrix; tell whether that was possible (collective).

        It is to stay as it is until it is released or another one is factored.
        """
        if not self._mumps:
            self._lu = _superlu(matrix)
            return self._lu is not None
        self.short = 0
        for room in WORKSPACE_PERCENT:
            pc, new = self._pc or PETSc.PC().create(self.comm), self._pc is None
            self._pc = pc
            pc.setOperators(matrix, matrix)
            if new:
                pc.setType(PETSc.PC.Type.CHOLESKY if self.symmetric else PETSc.PC.Type.LU)
                pc.setFactorSolverType("mumps")
                pc.setFactorSetUpSolverType()
                factors = pc.getFactorMatrix()
                factors.setMumpsIcntl(13, 1)  # the last block is factored like others, and counts
                factors.setMumpsIcntl(14, room)
                factors.setMumpsIcntl(24, 1)  # zero pivots are no error, and have no sign
                factors.setMumpsIcntl(33, 0 if self.symmetric else 1)  # the determinant
            pc.setUp()
            factors = pc.getFactorMatrix()
            status = factors.getMumpsInfog(1)
            if status >= 0:
                self.negative = int(factors.getMumpsInfog(12)) if self.symmetric else None
                return True
            self.release()
            if status not in OUT_OF_WORKSPACE:
                return False
        self.short = status
        return False

    def solve(self, b: PETSc.Vec, x: PETSc.Vec) -> None:
        """Solve with the matrix that was factored last (collective)."""
        if self._lu is not None:
            x.setArray(self._lu.solve(b.getArray()))
        else:
            assert self._pc is not None, "nothing is factored"
            self._pc.apply(b, x)

    @property
    def sign(self) -> int:
        """The sign of the determinant of a matrix that was factored as L U."""
        if self._lu is not None:
            odd = int((self._lu.U.diagonal() < 0.0).sum()) % 2
            return _parity(self._lu.perm_r) * _parity(self._lu.perm_c) * (-1 if odd else 1)
        assert self._pc is not None, "nothing is factored"
        return int(np.sign(self._pc.getFactorMatrix().getMumpsRinfog(12)))

    def release(self) -> None:
        """Give back the memory (collective)."""
        if self._pc is not None:
            self._pc.destroy()
        self._pc = self._lu = self.negative = None


class Signs:
    r"""What negative pivots of a tangent say of the directions that constraints leave free.

    Each independent constraint with its multiplier adds one,

    .. math::
        \operatorname{neg}\begin{pmatrix} K & B^T \\ B & 0 \end{pmatrix}
        = \operatorname{neg}(Z^T K Z) + \operatorname{rank} B , \quad B Z = 0,

    and so does each amount of gas, whose pressure is eliminated likewise (E. V. Haynsworth, Linear
    Algebra and its Applications 1 (1968) 73-81).

    Parameters
    ----------
    coordinates : those of this rank's rows.
    free : which of the rows are not held.

    Attributes
    ----------
    moves, bound : (rows,) those of coordinates of the configuration, and of multipliers.
    """

    def __init__(self, system: DiscreteSystem, coordinates: Integers, free: Mask) -> None:
        self._comm, numbering = system.comm, system.numbering
        self.moves: Mask = numbering.those(*MOVING)[coordinates] & free
        self._algebraic = np.flatnonzero(numbering.those("algebraic")[coordinates] & free)
        self.bound: Mask = numbering.those("multiplier", "tie")[coordinates] & free
        counts = np.array([self.bound.sum(), len(self._algebraic)])
        self._multipliers, self._gas = self._comm.allreduce(counts).tolist()

    def free(self, pivots: int, matrix: PETSc.Mat) -> int | None:
        """Return the negative eigenvalues in free directions; None: constraints are dependent."""
        gas = 0
        if self._gas:
            diagonal = matrix.getDiagonal().getArray(readonly=True)[self._algebraic]
            gas = int(self._comm.allreduce(int((diagonal < 0.0).sum())))
        number = pivots - self._multipliers - gas
        return number if number >= 0 else None


def _superlu(matrix: PETSc.Mat) -> sl.SuperLU | None:
    """Factor a matrix on one rank; None: it is singular, or not finite."""
    from scipy.sparse import csr_matrix  # half a second to import
    from scipy.sparse.linalg import splu

    rows = matrix.getSize()[0]
    start, columns, values = matrix.getValuesCSR()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return splu(csr_matrix((values, columns, start), (rows, rows)).tocsc())
    except (RuntimeError, ValueError):
        return None


def _parity(permutation: Ints32) -> int:
    """Return 1 for an even permutation, -1 for an odd one."""
    to, transpositions = permutation.tolist(), 0
    for place in range(len(to)):
        while to[place] != place:
            other = to[place]
            to[place], to[other] = to[other], other
            transpositions += 1
    return -1 if transpositions % 2 else 1

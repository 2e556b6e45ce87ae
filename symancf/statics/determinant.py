# SPDX-License-Identifier: BSD-3-Clause
"""The sign of the tangent's determinant, from the factors of a direct solver."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import scipy.sparse as ss
import scipy.sparse.linalg as sl

from ..petsc import PETSc

LARGEST = 5000  # rows that are factored again by SuperLU where the solver tells nothing


def sign(ksp: PETSc.KSP, matrix: PETSc.Mat) -> int:
    """Return the sign of the determinant of a matrix with which a KSP has just solved (collective).

    MUMPS tells it, on any number of ranks (the option ``mat_mumps_icntl_33``); on one rank small
    matrices are factored for it. 0: not known.
    """
    if ksp.getType() != PETSc.KSP.Type.PREONLY:
        return 0
    pc = ksp.getPC()
    if pc.getType() in ("lu", "cholesky") and pc.getFactorSolverType() == "mumps":
        return int(np.sign(pc.getFactorMatrix().getMumpsRinfog(12)))
    rows = matrix.getSize()[0]
    if matrix.getComm().getSize() > 1 or rows > LARGEST:
        return 0
    start, columns, values = matrix.getValuesCSR()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factors = sl.splu(ss.csr_matrix((values, columns, start), (rows, rows)).tocsc())
    except (RuntimeError, ValueError):  # singular, or not finite
        return 0
    negative = int((factors.U.diagonal() < 0.0).sum())
    return _parity(factors.perm_r) * _parity(factors.perm_c) * (-1 if negative % 2 else 1)


def _parity(permutation: npt.NDArray[np.int32]) -> int:
    """Return 1 for an even permutation, -1 for an odd one."""
    to, transpositions = permutation.tolist(), 0
    for place in range(len(to)):
        while to[place] != place:
            other = to[place]
            to[place], to[other] = to[other], other
            transpositions += 1
    return -1 if transpositions % 2 else 1

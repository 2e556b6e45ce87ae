# SPDX-License-Identifier: BSD-3-Clause
"""Eigenpairs of largest theta: all of few unknowns, else by SLEPc on any ranks, or by SciPy."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import scipy.linalg as la

from ...errors import ConvergenceError, SymancfError
from ...runtime.options import complaint
from ...runtime.petsc import PETSc
from ...runtime.slepc import REMEDY, slepc
from .pencil import EPS
from .space import Found

if TYPE_CHECKING:
    from types import ModuleType

    from ...arrays import Array
    from ...runtime.options import Options
    from .pencil import Pencil
    from .space import Subspace

Engine = Literal["dense", "slepc", "scipy"]

FEW = 300  # unknowns up to which all eigenvalues are found
MANY = 2000  # likewise, where about all that there are is asked for
TOL = 1e-11  # of theta


def chosen(pencil: Pencil, count: int, asked: str | None = None, tuned: bool = False) -> Engine:
    """Return what solves for some eigenvalues; `asked` by the option ``eigen``.

    `tuned`: there are options of SLEPc, which do nothing elsewhere.

    Krylov's methods find few of many, and fail where all are asked for.

    Raises
    ------
    SymancfError : several ranks need SLEPc, and there is none; another name.
    """
    possible = get_args(Engine)
    if asked is not None and asked not in possible:
        raise SymancfError(
            f"the option eigen is {asked!r}: give 'dense', 'slepc' or 'scipy'",
            asked="eigen",
            given=asked,
            possible=possible,
        )
    module, why = slepc()
    engine = cast("Engine", asked) if asked else _suitable(pencil, count, tuned)
    if engine == "slepc" and module is None:
        raise SymancfError(
            f"eigen='slepc': {why}. {REMEDY}",
            asked="eigen",
            given=asked,
            possible=("dense", "scipy"),
        )
    if engine == "scipy" and pencil.comm.size > 1:
        said = "SciPy works on one rank" if module is not None else why
        raise SymancfError(
            f"eigenvalues of {pencil.size} unknowns on {pencil.comm.size} ranks need SLEPc, "
            f"beyond {FEW} unknowns: {said}. {REMEDY}; or run on one rank",
            asked="eigen",
            given=asked,
            possible=("slepc",),
        )
    return engine


def _suitable(pencil: Pencil, count: int, tuned: bool) -> Engine:
    """Return what solves best for some eigenvalues (collective); arguments as of `chosen`."""
    module, _ = slepc()
    if tuned and module is not None and 2 * count < pencil.room():
        return "slepc"
    if pencil.size <= FEW or (pencil.size <= MANY and 2 * count >= pencil.room()):
        return "dense"
    return "scipy" if module is None else "slepc"


def largest(
    engine: Engine, space: Subspace, count: int, options: Options, *, positive: bool
) -> Found:
    """Return `count` eigenpairs of largest theta outside a subspace, or more (collective).

    Those of the largest magnitude, or with `positive` the largest positive ones.
    """
    count = min(count, space.room - 2)
    if count < 1:
        return Found(np.zeros(0), np.zeros((len(space.basis), 0)))
    if engine == "scipy":
        found = _scipy(space, count, positive)
    else:
        module, _ = slepc()
        assert module is not None
        with options:
            found = _slepc(module, space, count, options, positive)
    if positive:
        return found.positive()
    return found.real() if space.pencil.symmetric else found


def everything(pencil: Pencil) -> Array:
    """Return the motions that constraints allow (rows, m), all of them (collective).

    Each moves one coordinate, and those that depend on it.
    """
    comm, first, rows = pencil.comm, pencil.unknowns.first, pencil.unknowns.rows
    start, columns, values = pencil.stiffness.getValuesCSR()
    bound = np.concatenate(comm.allgather(pencil.constraints))
    mine = np.zeros((rows, pencil.size))
    mine[np.repeat(np.arange(rows), np.diff(start)), columns] = values
    B = np.concatenate(comm.allgather(mine[bound[first : first + rows]]))[:, ~bound]
    unit = np.concatenate(comm.allgather(pencil.unit()))[~bound]
    Z = unit[:, None] * comm.bcast(_null_space(B * unit) if comm.rank == 0 else None)
    X = np.zeros((pencil.size, Z.shape[1]))
    X[~bound] = Z
    X = X[first : first + rows]
    return X if pencil.rates is None else la.block_diag(X, X)


def _null_space(B: Array) -> Array:
    """Return columns that solve B x = 0; each moves one coordinate, and those that depend on it."""
    largest = np.abs(B).max(axis=1, initial=0.0, keepdims=True)
    R, order = la.qr(B / np.where(largest > 0.0, largest, 1.0), mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > EPS * max(B.shape) * size.max(initial=0.0)).sum())
    Z = np.zeros((B.shape[1], B.shape[1] - rank))
    Z[order[:rank]] = -la.solve_triangular(R[:rank, :rank], R[:rank, rank:])
    Z[order[rank:]] = np.eye(Z.shape[1])
    return Z


# ---- SciPy --------------------------------------------------------------------------------------
def _scipy(space: Subspace, count: int, positive: bool) -> Found:
    """Find some by ARPACK."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    size = len(space.basis)
    try:
        theta, X = eigs(
            LinearOperator((size, size), matvec=lambda z: space.step(z.ravel()), dtype=float),
            min(count, size - 2),
            which="LR" if positive else "LM",
            v0=space.start(),
            ncv=min(space.room, max(2 * count + 10, 40)),
            tol=TOL,
        )
    except ArpackNoConvergence as error:
        if positive:
            return Found(error.eigenvalues, error.eigenvectors)
        raise ConvergenceError(
            f"ARPACK did not find {count} of at most {space.room} eigenvalues ({error}): ask for "
            f"fewer, or install SLEPc ({REMEDY})",
            reason="DIVERGED_ITS",
            iteration=0,
        ) from error
    return Found(theta, X)


# ---- SLEPc --------------------------------------------------------------------------------------
class _Step:
    """`Subspace.step` as PETSc's matrix."""

    def __init__(self, space: Subspace) -> None:
        self.space = space

    def mult(self, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> None:
        """Multiply."""
        y.setArray(self.space.step(np.array(x.getArray(readonly=True))))


def _slepc(
    module: ModuleType, space: Subspace, count: int, options: Options, positive: bool
) -> Found:
    """Find some by Krylov and Schur's method."""
    comm, first = space.pencil.comm, space.start()
    start = PETSc.Vec().createMPI((len(first), PETSc.DETERMINE), comm=comm)
    start.setArray(first)
    step = PETSc.Mat().createPython((start.getSizes(), start.getSizes()), _Step(space), comm=comm)
    solver = module.EPS().create(comm)
    solver.setOptionsPrefix(options.prefix)
    solver.setType(module.EPS.Type.KRYLOVSCHUR)
    solver.setOperators(step)
    solver.setProblemType(module.EPS.ProblemType.NHEP)
    which = module.EPS.Which
    solver.setWhichEigenpairs(which.LARGEST_REAL if positive else which.LARGEST_MAGNITUDE)
    solver.setInitialSpace([start])
    solver.setDimensions(count, min(space.room, max(2 * count, count + 20)))
    solver.setTolerances(TOL, 100 if positive else 500)
    try:
        with options:
            options.offer({})
            solver.setFromOptions()
            solver.solve()
        return _taken(solver, count, positive)
    except PETSc.Error as error:
        raise ConvergenceError(
            f"SLEPc failed on {count} eigenvalues ({complaint(error)}); ask for another count, or "
            "take {'eigen': 'dense'} or 'scipy'",
            reason="DIVERGED_BREAKDOWN",
            iteration=solver.getIterationNumber(),
            asked="count",
            given=count,
        ) from error
    finally:
        for thing in (solver, step, start):
            with suppress(PETSc.Error):  # of a solver that an error has stopped
                thing.destroy()


def _taken(solver: Any, count: int, positive: bool) -> Found:
    """Return what SLEPc has found (collective)."""
    number = solver.getConverged()
    if not number and not positive:  # there may be no load at which something buckles
        raise ConvergenceError(
            f"SLEPc found none of {count} eigenvalues in {solver.getIterationNumber()} iterations; "
            "options such as {'eps_max_it': 2000, 'eps_ncv': 100} give it more time and room",
            reason="DIVERGED_ITS",
            iteration=solver.getIterationNumber(),
        )
    real, imaginary = solver.getOperators()[0].createVecs()
    theta = np.zeros(number, dtype=complex)
    X = np.zeros((real.getLocalSize(), number), dtype=complex)
    for k in range(number):
        theta[k] = solver.getEigenpair(k, real, imaginary)
        X[:, k] = real.getArray(readonly=True) + 1j * imaginary.getArray(readonly=True)
    real.destroy()
    imaginary.destroy()
    return Found(theta, X)

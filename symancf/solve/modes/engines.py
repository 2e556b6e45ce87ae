# SPDX-License-Identifier: BSD-3-Clause
"""Eigenpairs of a pencil: dense for few unknowns, by SLEPc on any ranks, by SciPy on one."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import scipy.linalg as la

from ...arrays import Array
from ...errors import ConvergenceError, SymancfError
from ...runtime.options import complaint
from ...runtime.petsc import PETSc
from ...runtime.slepc import REMEDY, slepc
from .pencil import EPS, Eigenpairs, Pencil

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ...arrays import Mask
    from ...runtime.options import SolverOptions

Engine = Literal["dense", "slepc", "scipy"]

DENSE_UNKNOWNS = 300  # unknowns up to which all eigenvalues are found, by LAPACK
NEARLY_DENSE_UNKNOWNS = 2000  # likewise, where about all that there are is asked for
TOLERANCE = 1e-11  # of theta
NO_EIGENVALUE = 1e-13  # of the largest theta: one that is none


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
        reason = "SciPy works on one rank" if module is not None else why
        raise SymancfError(
            f"eigenvalues of {pencil.size} unknowns on {pencil.comm.size} ranks need SLEPc, "
            f"beyond {DENSE_UNKNOWNS} unknowns: {reason}. {REMEDY}; or run on one rank",
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
    if pencil.size <= DENSE_UNKNOWNS or (
        pencil.size <= NEARLY_DENSE_UNKNOWNS and 2 * count >= pencil.room()
    ):
        return "dense"
    return "scipy" if module is None else "slepc"


def largest(
    engine: Engine,
    pencil: Pencil,
    count: int,
    options: SolverOptions,
    invariant: Array,
    *,
    positive: bool,
) -> Eigenpairs:
    """Return `count` eigenpairs of largest theta, or more (collective).

    Those of the largest magnitude, or with `positive` the largest positive ones. The pencil is
    factored. With the columns of `invariant`, which are orthonormal, by its metric if it is
    symmetric, nothing is found twice. Vectors are those of `Pencil.step`, `Pencil.rows` long.
    """
    if engine == "dense":
        return _dense(pencil, invariant, positive)
    pencil.invariant = invariant[:, :0] if pencil.symmetric else invariant
    room, count = pencil.room() - invariant.shape[1], min(count, most(pencil, invariant))
    if count < 1:
        return Eigenpairs(np.zeros(0), np.zeros((pencil.rows, 0)))
    if engine == "scipy":
        return pencil.solves(_scipy(pencil, count, room, invariant, positive), invariant)
    module, _ = slepc()
    assert module is not None
    with options:
        return pencil.solves(
            _slepc(module, pencil, count, room, options, invariant, positive), invariant
        )


def most(pencil: Pencil, others: Array) -> int:
    """Return how many Krylov's methods may find beside `others`: two less than there are."""
    return pencil.room() - others.shape[1] - 2


def filtered(
    theta: Array, vectors: Array, positive: bool, none: float = NO_EIGENVALUE
) -> Eigenpairs:
    """Leave out what has no theta, or with `positive` no positive one, and sort by its size."""
    if positive:
        real = np.abs(theta.imag) <= 1e-8 * np.abs(theta)
        theta, vectors = theta[real], vectors[:, real]  # of a double one a pair, by round-off
        vectors = np.where(theta.imag < 0.0, vectors.imag, vectors.real)
        theta = theta.real
    some = np.abs(theta) > none * np.abs(theta).max(initial=0.0)
    some &= theta > 0.0 if positive else True
    theta, vectors = theta[some], vectors[:, some]
    order = np.argsort(-np.abs(theta), kind="stable")
    return Eigenpairs(theta[order], vectors[:, order])


# ---- few unknowns -------------------------------------------------------------------------------
def _gathered(pencil: Pencil, mat: PETSc.Mat) -> Array:
    """Return a matrix on every rank (collective)."""
    start, columns, values = mat.getValuesCSR()
    mine = np.zeros((len(start) - 1, pencil.size))
    rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mine[rows, columns] = values
    return np.concatenate(pencil.comm.allgather(mine))


def _dense(pencil: Pencil, invariant: Array, positive: bool) -> Eigenpairs:
    """Find all by LAPACK, on rank 0; the scale of each unknown is that of its row of K and M."""
    comm = pencil.comm
    K, M = (_gathered(pencil, mat) for mat in (pencil.stiffness, pencil.weight))
    C = None if pencil.rates is None else _gathered(pencil, pencil.rates)
    bound = np.concatenate(comm.allgather(pencil.constraints))
    apart = (
        abs(pencil.shift) + pencil.round_off(invariant) / math.sqrt(EPS)
        if pencil.symmetric
        else None
    )
    invariant = np.concatenate(comm.allgather(invariant))
    result: Any = None
    if comm.rank == 0:
        try:
            result = _all(pencil, K, M, C, bound, invariant, apart, positive)
        except (la.LinAlgError, ValueError) as error:
            result = str(error)
    result = comm.bcast(result)
    if isinstance(result, str):
        raise SymancfError(f"LAPACK found no eigenvalues: {result}")
    theta, X = result
    first = pencil.unknowns.first
    X = X[first : first + pencil.unknowns.rows]
    if C is not None:
        with np.errstate(divide="ignore", invalid="ignore"):  # those without theta are left out
            X = np.concatenate([X, X * (1.0 + 1.0 / (theta * pencil.shift))])
    return filtered(theta, X, positive, 0.0 if C is None and pencil.symmetric else NO_EIGENVALUE)


def _all(
    pencil: Pencil,
    K: Array,
    M: Array,
    C: Array | None,
    bound: Mask,
    invariant: Array,
    apart: Array | None,
    positive: bool,
) -> tuple[Array, Array]:
    """Return theta and vectors of all motions that constraints, the rows `bound`, allow.

    The vectors `invariant` get eigenvalues `apart`, that the matrix is far from singular, and are
    left out.
    """
    sigma = pencil.shift
    size = np.abs(K) + (abs(sigma) or 1.0) * (0.0 if positive else np.abs(M))
    scale = _equilibrated(size[np.ix_(~bound, ~bound)])  # whatever constraints are multiplied by
    B = K[np.ix_(bound, ~bound)] * scale
    Z = scale[:, None] * _null_space(B)
    images = Z.T @ (M @ invariant)[~bound] if apart is not None else None
    K, M = (Z.T @ A[np.ix_(~bound, ~bound)] @ Z for A in (K, M))
    n, back = len(K), np.zeros((len(bound), len(K)))
    back[~bound] = Z
    if C is not None:
        C = Z.T @ C[np.ix_(~bound, ~bound)] @ Z
        P = K + sigma * C + sigma**2 * M
        x = np.linalg.solve(P, np.concatenate([-(C + sigma * M), -sigma * M], axis=1))
        theta, Y = la.eig(np.concatenate([x, x + np.eye(n, 2 * n) / sigma]))
        return theta, back @ Y[:n]
    if positive or images is None:
        theta, X = la.eig(np.linalg.solve(K - (0.0 if positive else sigma) * M, M))
        return theta, back @ X
    # M = L L^T: theta are the eigenvalues of L^T (K - sigma M)^-1 L, which is symmetric
    root = np.sqrt(np.diag(M))
    unit = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0)
    values, V = np.linalg.eigh(unit[:, None] * M * unit)  # masses of any ratio have digits
    some = values > EPS * len(values) * values.max(initial=0.0)
    L = root[:, None] * V[:, some] * np.sqrt(values[some])
    without = images.T @ (unit[:, None] * V[:, some] / np.sqrt(values[some]))
    K = K + images * apart @ images.T
    theta, X = _by_shift(K, M, L, without, sigma)
    top = theta.max(initial=0.0)
    far = int((theta > math.sqrt(EPS) * top).sum())  # half of the digits are left
    below = sigma < 0.0 and theta.min(initial=0.0) >= 0.0
    if below and 0 < far < len(theta):  # theta has no digits of these: from a shift near them
        near = -1.0 / (math.sqrt(EPS) * top)
        other, more = _by_shift(K, M, L, without, near)
        with np.errstate(divide="ignore"):
            theta[far:] = 1.0 / (1.0 / other[far:] + near - sigma)
        X[:, far:] = more[:, far:]
    return theta, back @ X


def _by_shift(K: Array, M: Array, L: Array, without: Array, sigma: float) -> tuple[Array, Array]:
    """Return theta of K and M = L L^T, the largest first and 0 where there is none, and vectors.

    `without` : (m, n) rows L^T x of the x that are left out.
    """
    P = np.eye(L.shape[1]) - without.T @ without
    L = L @ P
    half = np.linalg.solve(K - sigma * M, L)
    S = L.T @ half
    theta, Y = np.linalg.eigh((S + S.T) / 2.0)
    size = np.abs(theta)
    theta[size <= NO_EIGENVALUE * size.max(initial=0.0)] = 0.0
    return theta[::-1].copy(), half @ Y[:, ::-1]


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


def _equilibrated(A: Array) -> Array:
    """Return d such that the largest entries of the rows of d_i A_ij d_j are near 1."""
    d = np.ones(len(A))
    for _ in range(5):
        largest = (d[:, None] * A * d).max(axis=1, initial=0.0)
        d /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return d


# ---- SciPy --------------------------------------------------------------------------------------
def _scipy(pencil: Pencil, count: int, room: int, invariant: Array, positive: bool) -> Eigenpairs:
    """Find some by ARPACK: Lanczos's iteration if the matrices are symmetric, else Arnoldi's."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs, eigsh

    size, sigma, M = pencil.rows, pencil.shift, pencil.weight
    images = pencil.product(pencil.metric, invariant) if pencil.symmetric else invariant

    def operator(product: Callable[[Array], Array]) -> LinearOperator:
        return LinearOperator((size, size), matvec=lambda z: product(z.ravel()), dtype=float)

    def inverse(rhs: Array) -> Array:
        x = pencil.solved(rhs)
        return np.asarray(x - invariant @ (images.T @ x))

    options = {
        "v0": pencil.start(invariant.shape[1]),
        "ncv": min(room, max(2 * count + 10, 40)),
        "tol": TOLERANCE,
    }
    weight, K = (operator(partial(pencil.product, A)) for A in (M, pencil.stiffness))
    try:
        if not pencil.symmetric:
            which = "LR" if positive else "LM"
            theta, X = eigs(operator(pencil.step), min(count, size - 2), which=which, **options)
            return filtered(theta, X, positive)
        if positive:
            theta, X = eigsh(weight, count, M=K, Minv=operator(inverse), which="LA", **options)
        else:
            values, X = eigsh(K, count, M=weight, sigma=sigma, OPinv=operator(inverse), **options)
            theta = 1.0 / (values - sigma)
    except ArpackError as error:
        if positive:
            theta, X = getattr(error, "eigenvalues", None), getattr(error, "eigenvectors", None)
            if theta is None or X is None or not len(theta):
                return Eigenpairs(np.zeros(0), np.zeros((size, 0)))
            return filtered(theta, X, positive)
        raise ConvergenceError(
            f"ARPACK did not find {count} of at most {room} eigenvalues ({error}): ask for fewer, "
            f"or install SLEPc ({REMEDY})",
            reason="DIVERGED_ITS",
            iteration=0,
        ) from error
    return filtered(theta, X, positive)


# ---- SLEPc --------------------------------------------------------------------------------------
class _FactorSolver:
    """The factors of a pencil as PETSc's preconditioner, by which SLEPc solves."""

    def __init__(self, pencil: Pencil) -> None:
        self.pencil = pencil

    def setUp(self, pc: PETSc.PC) -> None:
        """Nothing: the pencil is factored."""

    def apply(self, pc: PETSc.PC, b: PETSc.Vec, x: PETSc.Vec) -> None:
        """Solve."""
        self.pencil.solve(b, x)


class _PencilOperator:
    """`Pencil.step` as PETSc's matrix."""

    def __init__(self, pencil: Pencil) -> None:
        self.pencil = pencil

    def mult(self, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> None:
        """Multiply."""
        y.setArray(self.pencil.step(np.array(x.getArray(readonly=True))))


def _slepc(
    module: ModuleType,
    pencil: Pencil,
    count: int,
    room: int,
    options: SolverOptions,
    invariant: Array,
    positive: bool,
) -> Eigenpairs:
    """Find some by Krylov and Schur's method."""
    solver = module.EPS().create(pencil.comm)
    solver.setOptionsPrefix(options.prefix)
    solver.setType(module.EPS.Type.KRYLOVSCHUR)
    first = pencil.start(invariant.shape[1])
    start = PETSc.Vec().createMPI((len(first), PETSc.DETERMINE), comm=pencil.comm)
    start.setArray(first)
    objects: list[PETSc.Object] = [start]
    if pencil.symmetric:
        pair = pencil.stiffness, pencil.weight
        solver.setOperators(*(pair[::-1] if positive else pair))
        solver.setProblemType(module.EPS.ProblemType.GHEP)
        spectral = solver.getST()
        if positive:
            spectral.setType(module.ST.Type.SHIFT)
        else:
            solver.setTarget(pencil.shift)
            spectral.setType(module.ST.Type.SINVERT)
            spectral.setShift(pencil.shift)
        solver.setWhichEigenpairs(
            module.EPS.Which.LARGEST_REAL if positive else module.EPS.Which.TARGET_MAGNITUDE
        )
        ksp = spectral.getKSP()
        ksp.setType(PETSc.KSP.Type.PREONLY)
        pc = ksp.getPC()
        pc.setType(PETSc.PC.Type.PYTHON)
        pc.setPythonContext(_FactorSolver(pencil))
        for column in invariant.T:
            objects.append(pencil.unknowns.new())
            objects[-1].setArray(column)
        if len(objects) > 1:
            solver.setDeflationSpace(objects[1:])
    else:
        step = PETSc.Mat().createPython((start.getSizes(), start.getSizes()), comm=pencil.comm)
        step.setPythonContext(_PencilOperator(pencil))
        step.setUp()
        objects.append(step)
        solver.setOperators(step)
        solver.setProblemType(module.EPS.ProblemType.NHEP)
        solver.setWhichEigenpairs(
            module.EPS.Which.LARGEST_REAL if positive else module.EPS.Which.LARGEST_MAGNITUDE
        )
    solver.setInitialSpace([start])
    solver.setDimensions(count, min(room, max(2 * count, count + 20)))
    solver.setTolerances(TOLERANCE, 100 if positive else 500)
    try:
        with options:
            options.offer({})
            solver.setFromOptions()
            solver.solve()
        return _slepc_pairs(solver, pencil, count, positive)
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
        for thing in (solver, *objects):
            with suppress(PETSc.Error):  # of a solver that an error has stopped
                thing.destroy()


def _slepc_pairs(solver: Any, pencil: Pencil, count: int, positive: bool) -> Eigenpairs:
    """Return what SLEPc has found (collective)."""
    number = solver.getConverged()
    if positive and not number:  # as under a load that only stiffens
        return Eigenpairs(np.zeros(0), np.zeros((pencil.rows, 0)))
    if not number:
        raise ConvergenceError(
            f"SLEPc found none of {count} eigenvalues in {solver.getIterationNumber()} iterations; "
            "options such as {'eps_max_it': 2000, 'eps_ncv': 100} give it more time and room",
            reason="DIVERGED_ITS",
            iteration=solver.getIterationNumber(),
        )
    real, imaginary = (solver.getOperators()[0].createVecRight() for _ in range(2))
    values, columns = [], []
    for k in range(number):
        value = complex(solver.getEigenpair(k, real, imaginary))
        x, y = (np.array(part.getArray(readonly=True)) for part in (real, imaginary))
        values.append(value)
        columns.append(x + 1j * y if value.imag else x + 0j)
    real.destroy()
    imaginary.destroy()
    theta, X = np.array(values), np.stack(columns, axis=1)
    if not pencil.symmetric:
        return filtered(theta, X, positive)
    shifted = theta.real if positive else theta.real - pencil.shift
    return filtered(shifted if positive else 1.0 / shifted, X.real, positive)

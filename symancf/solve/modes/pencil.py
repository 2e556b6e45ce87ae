# SPDX-License-Identifier: BSD-3-Clause
r"""The eigenproblems of modes and of buckling in one form: largest theta of an operator.

===============  ===================================  ========================================
free vibration   :math:`K x = \lambda M x`              :math:`\theta = 1/(\lambda - \sigma)`
with rates       :math:`(s^2 M + s C + K) x = 0`        :math:`\theta = 1/(s - \sigma)`
buckling         :math:`(K + \mu K') x = 0`             :math:`\theta = 1/\mu`
===============  ===================================  ========================================

Matrices are those of all unknowns, with the multipliers of constraints (saddle points): what
these cannot move, and what has no mass, has theta = 0 and is never found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Mask
from ...errors import SymancfError
from ...runtime.petsc import PETSc
from ..factors import Factors, Signs
from ..residual import SMALL, SOUND
from ..rigid import rigid_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...system import System

EPS = float(np.finfo(float).eps)
STILL = 1e-12  # of the size of its parts: a force that is none
THIN = 1e-13  # likewise of rigid motions: the inertia of a wire about its axis
WHOLE = 0.9999  # of a motion: what modes may be of it so that it is theirs
ALIKE = 1e-6  # of the largest: square of what vectors that are combinations of others add to them


class Pencil:
    """Matrices of one eigenproblem, and the factors of one combination of them (collective).

    Attributes
    ----------
    stiffness, weight, rates : K; M, or -K' for buckling; C or None.
    symmetric : whether K and the weight are; then vectors are orthogonal by `metric`.
    buckling : whether the weight is -K'; it is K then that is definite.
    shift : sigma of the factors.
    natural : (rows,) one over the size of each unknown that moves, that of the largest body or 1.
    constraints : (rows,) those of multipliers that are none of a pressure, which yields.
    scale : (rows,) unit of each unknown. Unsymmetric and quadratic pencils are scaled such that all
        masses are 1: their eigenvectors are orthogonal in no other measure.
    """

    def __init__(
        self,
        system: System,
        stiffness: PETSc.Mat,
        weight: PETSc.Mat,
        rates: PETSc.Mat | None = None,
        *,
        symmetric: bool,
        buckling: bool = False,
    ) -> None:
        self.comm, self.unknowns = system.comm, system.unknowns
        self._numbering = system.numbering
        moves = system.numbering.those("position", "direction", "angle", "sliding")
        natural = np.where(moves, 1.0 / system.numbering.natural(system.extent), 0.0)
        self.natural: Array = natural[self.unknowns.coordinate]
        self._rigid = rigid_modes(system, system.state)[:, self.unknowns.coordinate].T
        self.stiffness, self.weight, self.rates = stiffness, weight, rates
        self.symmetric, self.buckling = symmetric, buckling
        self.shift = 0.0
        self.signs = Signs(
            system, self.unknowns.coordinate, np.ones(self.unknowns.rows, dtype=bool)
        )
        diagonal = self._diagonal(stiffness)
        self.constraints: Mask = self.signs.bound & (diagonal == 0.0)
        self._factors = Factors(self.comm, symmetric)
        self._combined: PETSc.Mat | None = None
        self.scale: Array = np.ones(self.unknowns.rows)
        self._x, self._y = self.unknowns.new(), self.unknowns.new()

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.unknowns.size)

    @property
    def rows(self) -> int:
        """Rows of this rank of the operator: x, with rates x and s x/sigma."""
        return int(self.unknowns.rows) * (1 if self.rates is None else 2)

    @property
    def metric(self) -> PETSc.Mat:
        """The matrix by which eigenvectors are orthogonal."""
        return self.stiffness if self.buckling else self.weight

    def destroy(self) -> None:
        """Give back the memory (collective)."""
        self._factors.release()
        for thing in (self.stiffness, self.weight, self.rates, self._combined, self._x, self._y):
            if thing is not None:
                thing.destroy()

    def balance(self) -> None:
        """Scale the unknowns by their masses, those without by their stiffness (collective)."""
        self.scale = self.unit()
        self._x.setArray(self.scale)
        for matrix in (self.stiffness, self.weight, self.rates):
            if matrix is not None:
                matrix.diagonalScale(self._x, self._x)

    def unit(self) -> Array:
        """Return unknowns (rows,) of unit mass, or of those without of as much stiffness."""
        k, m = (np.abs(self._diagonal(matrix)) for matrix in (self.stiffness, self.weight))
        size = np.where(m > 0.0, m, k / self.fastest())
        return np.asarray(1.0 / np.sqrt(np.where(size > 0.0, size, 1.0)))

    def _diagonal(self, matrix: PETSc.Mat) -> Array:
        vector = matrix.getDiagonal()
        values = np.array(vector.getArray())
        vector.destroy()
        return values

    def fastest(self) -> float:
        """Return the largest ratio of the diagonals of K and M (collective)."""
        k, m = (np.abs(self._diagonal(matrix)) for matrix in (self.stiffness, self.weight))
        top = float(np.divide(k, m, out=np.zeros_like(k), where=m > 0.0).max(initial=0.0))
        return float(self.comm.allreduce(top, op=MPI.MAX)) or 1.0

    def room(self) -> int:
        """Return how many finite eigenvalues there may be, at most (collective).

        Of the rows with masses, as many as there are constraints less, unless these act on rows
        without.
        """
        m, bound = self._diagonal(self.weight), self.constraints
        empty = ~bound & (m == 0.0)
        if self.buckling:
            empty[:] = False
            m[:] = 1.0
        counts = self.sums(np.array([(m > 0.0) & ~bound, bound, empty]).sum(axis=1))
        massive, constraints, others = counts.tolist()
        finite = massive - max(0, constraints - others)
        return int(max(1, finite)) * (1 if self.rates is None else 2)

    # ---- factors --------------------------------------------------------------------------------
    def combined(self, shift: float) -> PETSc.Mat:
        """Return K - sigma M, or K + sigma C + sigma^2 M; it stays until the next one."""
        if self._combined is not None:
            self._combined.destroy()
        made = self._combined = self.stiffness.copy()
        same = PETSc.Mat.Structure.SAME_NONZERO_PATTERN
        if shift and self.rates is not None:
            made.axpy(shift, self.rates, structure=same)
            made.axpy(shift * shift, self.weight, structure=same)
        elif shift:
            made.axpy(-shift, self.weight, structure=same)
        return made

    def factor(self, shift: float) -> bool:
        """Factor with a shift; tell whether that was possible (collective)."""
        self.shift = shift
        return self._factors.make(self.combined(shift))

    @property
    def negative(self) -> int | None:
        """Eigenvalues below the shift of the factors; None: not known (collective)."""
        pivots = self._factors.negative
        assert self._combined is not None
        return None if pivots is None else self.signs.free(pivots, self._combined)

    def solved(self, rows: Array) -> Array:
        """Return solutions for right-hand sides (rows,) or (rows, m) (collective).

        Raises
        ------
        SymancfError : one is none, see `LinearResidual`.
        """
        assert self._combined is not None
        if rows.ndim == 2:
            found = self._by_columns(rows, self._factors.solutions)
        else:
            self._x.setArray(rows)
            self._factors.solve(self._x, self._y)
            found = np.array(self._y.getArray(readonly=True))
        parts = rows - self.product(self._combined, found), rows, found
        left, size, length = np.sqrt(self.sums(np.array([(x * x).sum(axis=0) for x in parts])))
        good = left <= SMALL * size
        if not good.all():
            norm = self._combined.norm(PETSc.NormType.FROBENIUS)
            good |= left <= SOUND * (norm * length + size)
        if not good.all():
            share = float(np.divide(left, size)[~good].max())
            raise SymancfError(
                f"a solution with {self.words} leaves {100.0 * share:.2g} % of the "
                "right-hand side: the matrix is singular, or its entries differ too much"
            )
        return found

    def step(self, z: Array) -> Array:
        r"""Return the operator whose eigenvalues are theta, times (n,) or (n, m) (collective).

        Of quadratic ones :math:`(K + \sigma C + \sigma^2 M)\,x = -M(v + \sigma u) - C u` gives
        :math:`(x, u + \sigma x)` from :math:`(u, v)`, the parts for x and for s x/sigma.
        """
        if self.rates is None:
            return self._motion(self.product(self.weight, z))
        n, sigma = self.unknowns.rows, self.shift
        u, v = z[:n], sigma * z[n:]
        x = -self._motion(self.product(self.weight, v + sigma * u) + self.product(self.rates, u))
        return np.concatenate([x, u / sigma + x])

    def _motion(self, rows: Array) -> Array:
        """Return solutions without the multipliers of constraints, which have no mass."""
        found = self.solved(rows)
        found[self.constraints] = 0.0
        return found

    # ---- products -------------------------------------------------------------------------------
    def product(self, matrix: PETSc.Mat, rows: Array) -> Array:
        """Return a product with vectors (rows,) or (rows, m), real or complex (collective)."""
        if rows.ndim == 2:
            return self._by_columns(rows, matrix.matMult)
        self._x.setArray(rows)
        matrix.mult(self._x, self._y)
        return np.array(self._y.getArray(readonly=True))

    def _by_columns(self, rows: Array, answer: Callable[[PETSc.Mat], PETSc.Mat]) -> Array:
        """Return the answers (rows, m) to vectors in one dense matrix (collective)."""
        if np.iscomplexobj(rows):
            real, imaginary = (self._by_columns(part, answer) for part in (rows.real, rows.imag))
            return np.asarray(real + 1j * imaginary)
        if not rows.shape[1]:
            return rows
        size = self._x.getSizes(), (None, rows.shape[1])
        given = PETSc.Mat().createDense(size, array=np.asfortranarray(rows), comm=self.comm)
        found = answer(given)
        columns = np.array(found.getDenseArray())
        given.destroy()
        found.destroy()
        return columns

    def random(self, seed: int) -> Array:
        """Return numbers (rows,) in [-1, 1], the same on any number of ranks."""
        return self.unknowns.taken(self._numbering.random(17 + seed))

    def forms(self, matrix: PETSc.Mat, X: Array) -> Array:
        """Return x^H A x of vectors (rows, m) (collective)."""
        return self.sums((np.conj(X) * self.product(matrix, X)).sum(axis=0))

    def sums(self, values: Array) -> Array:
        """Return the sum over ranks (collective)."""
        return np.asarray(self.comm.allreduce(values))

    def motions(self) -> tuple[Array, Array, Mask]:
        """Return the rigid motions that have a mass, of unit mass (collective).

        Returns
        -------
        D : (rows, m).
        noise : (m,) what round-off of K makes of d^T K d.
        still : (m,) which of them K gives no force, and constraints none.
        """
        D = self._rigid / self.scale[:, None]
        mass = self.forms(self.weight, D)
        some = mass > 0.0
        D = D[:, some] / np.sqrt(mass[some])
        f, noise, k = (
            self.product(self.stiffness, D),
            self.rounded(D),
            self._diagonal(self.stiffness),
        )
        stiff = k[:, None] > 0.0
        left = self.sums(np.where(stiff, f**2 / np.where(stiff, k[:, None], 1.0), 0.0).sum(axis=0))
        other = self.sums((~stiff & (np.abs(f) > STILL / EPS * noise)).sum(axis=0))
        least = self.sums((np.abs(D) * noise).sum(axis=0))
        return D, least, (left <= STILL**2 / EPS * least) & (other == 0)

    def orthonormal(self, X: Array, alike: float = ALIKE) -> Array:
        """Return an orthonormal basis of what vectors of one eigenvalue are combinations of."""
        X = np.concatenate([X.real, X.imag], axis=1)
        d, V = np.linalg.eigh(self.sums(X.T @ self.product(self.weight, X)))
        some = d > alike * d.max(initial=0.0)
        return np.asarray(X @ (V[:, some] / np.sqrt(d[some])))

    def free(self, X: Array) -> int:
        """Return how many rigid motions are combinations of vectors (rows, m) (collective)."""
        bases = []
        for B in (self.scale[:, None] * self.motions()[0], X):
            B = self.natural[:, None] * B
            for least in (THIN, 0.0):
                size = np.sqrt(self.sums((B * B).sum(axis=0)))
                B = B / np.where(size > 0.0, size, 1.0)
                d, V = np.linalg.eigh(self.sums(B.T @ B))
                B = B @ (V[:, d > least] / np.sqrt(d[d > least]))
            bases.append(B)
        cosines = np.linalg.svd(self.sums(bases[0].T @ bases[1]), compute_uv=False)
        return int((cosines > WHOLE).sum())

    def rounded(self, X: Array) -> Array:
        """Return what round-off of K makes of K x, EPS |K| |x|, (rows, m) (collective)."""
        start, columns, values = self.stiffness.getValuesCSR()
        size = self.unknowns.rows, self.unknowns.size
        bound = PETSc.Mat().createAIJ(
            ((size[0], size[1]), (size[0], size[1])),
            csr=(start, columns, np.abs(values)),
            comm=self.comm,
        )
        found = EPS * self.product(bound, np.abs(X))
        bound.destroy()
        return found

    def round_off(self, X: Array) -> Array:
        """Return what round-off of K makes of x^H K x for vectors (rows, m) (collective)."""
        return self.sums((np.abs(X) * self.rounded(X)).sum(axis=0))

    @property
    def words(self) -> str:
        """What messages call the matrix that is factored."""
        return f"K {'-' if self.shift > 0 else '+'} {abs(self.shift):.3g} M"

    def require(self, factored: bool, what: str) -> None:
        """Raise where a matrix could not be factored."""
        short = self._factors.short
        if not factored and short:
            raise SymancfError(
                f"{what}: work space did not suffice for the factors of {self.words} of "
                f"{self.size} unknowns, MUMPS's INFOG(1) = {short}: more ranks or memory, fewer "
                "unknowns"
            )
        if not factored:
            raise SymancfError(
                f"{what}: the matrix {self.words} cannot be factored, it is singular: "
                "coordinates have neither stiffness nor mass, or constraints say the same"
            )

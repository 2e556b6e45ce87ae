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

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Mask
from ...errors import SymancfError
from ...runtime.petsc import PETSc
from ..factors import Factors, Signs
from ..residual import residual_ratio
from ..rigid import rigid_modes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...assembly.discrete import DiscreteSystem

EPS = float(np.finfo(float).eps)
NEGLIGIBLE = 1e-12  # of the size of its parts: a force of a rigid motion, or an inertia, of none
RIGID_MOTION_SHARE = 0.9999  # of a motion: what modes may be of it so that it is theirs
#: square of what a vector adds to a combination of others, or of the sine between two
DEPENDENCE_TOLERANCE = 1e-6
VECTOR_TOLERANCE = 1e-5  # of a vector: what one more step of the operator may change in it


@dataclass
class Eigenpairs:
    """Eigenpairs: numbers (m,), and vectors (rows of this rank, m), real if all numbers are."""

    theta: Array
    vectors: Array


class Pencil:
    """Matrices of one eigenproblem, and the factors of one combination of them (collective).

    Attributes
    ----------
    stiffness, weight, rates : K; M, or -K' for buckling; C or None.
    symmetric : whether K and the weight are; then vectors are orthogonal by `metric`.
    buckling : whether the weight is -K'; it is K then that is definite.
    shift : sigma of the factors.
    invariant : (rows, m) orthonormal columns of a space that the operator maps into itself, which
        `step` leaves out.
    natural : (rows,) one over the size of each unknown that moves, that of the largest body or 1.
    scale : (rows,) unit of each unknown. Unsymmetric and quadratic pencils are scaled such that all
        masses are 1: their eigenvectors are orthogonal in no other measure.
    """

    def __init__(
        self,
        system: DiscreteSystem,
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
        self._factors = Factors(self.comm, symmetric)
        self._combined: PETSc.Mat | None = None
        self._factored: tuple[float, bool] | None = None  # shift, and whether with rates
        self.scale: Array = np.ones(self.unknowns.rows)
        self.invariant: Array = np.zeros((self.rows, 0))
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
        top = self.fastest()
        k, m = (np.abs(self._diagonal(matrix)) for matrix in (self.stiffness, self.weight))
        size = np.where(m > 0.0, m, k / top)
        scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        self._scale_by(scale)
        start, _, values = self.stiffness.getValuesCSR()
        widths = np.diff(start)
        largest = np.zeros(len(widths))
        np.maximum.at(largest, np.repeat(np.arange(len(widths)), widths), np.abs(values))
        lacking = (size <= 0.0) & (largest > 0.0)
        self._scale_by(np.where(lacking, math.sqrt(top) / np.where(lacking, largest, 1.0), 1.0))

    def _scale_by(self, scale: Array) -> None:
        self._x.setArray(scale)
        for matrix in (self.stiffness, self.weight, self.rates):
            if matrix is not None:
                matrix.diagonalScale(self._x, self._x)
        self.scale = self.scale * scale
        self._factored = None

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

    @property
    def constraints(self) -> Mask:
        """Rows (rows,) of multipliers that are none of a pressure, which yields."""
        return np.asarray(self.signs.bound & (self._diagonal(self.stiffness) == 0.0))

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

    def solves(self, pairs: Eigenpairs, invariant: Array) -> Eigenpairs:
        """Leave out pairs that are none: directions without mass that Krylov's methods end in.

        What of them is `invariant` does not count.
        """
        images = self.product(self.metric, invariant) if self.symmetric else invariant[:, :0]
        good = np.zeros(len(pairs.theta), dtype=bool)
        for k, theta in enumerate(pairs.theta):
            z = pairs.vectors[:, k]
            if np.iscomplexobj(z):
                y = self.step(np.ascontiguousarray(z.real)) + 1j * self.step(
                    np.ascontiguousarray(z.imag)
                )
            else:
                y = self.step(z)
            remainder, halves = y - theta * z, (1 if self.rates is None else 2, self.unknowns.rows)
            if images.shape[1]:
                remainder = remainder - invariant @ self.sums(images.T @ remainder)
            size, rest = (
                sum(
                    abs(self.sums(np.array([np.conj(x) @ self.product(self.metric, x)]))[0])
                    for x in v.reshape(halves)
                )
                for v in (theta * z, remainder)
            )
            good[k] = size > 0.0 and rest <= VECTOR_TOLERANCE**2 * size
        return Eigenpairs(pairs.theta[good], pairs.vectors[:, good])

    # ---- factors --------------------------------------------------------------------------------
    def combined(self, shift: float) -> PETSc.Mat:
        """Return K - sigma M, or K + sigma C + sigma^2 M; it stays until the next one."""
        if self._combined is not None:
            self._combined.destroy()
        matrix = self._combined = self.stiffness.copy()
        same = PETSc.Mat.Structure.SAME_NONZERO_PATTERN
        if shift and self.rates is not None:
            matrix.axpy(shift, self.rates, structure=same)
            matrix.axpy(shift * shift, self.weight, structure=same)
        elif shift:
            matrix.axpy(-shift, self.weight, structure=same)
        return matrix

    def move(self, shift: float) -> None:
        """Take K - sigma weight for K: eigenvalues become smaller by sigma (collective)."""
        same = PETSc.Mat.Structure.SAME_NONZERO_PATTERN
        self.stiffness.axpy(-shift, self.weight, structure=same)
        self._factored = None

    def factor(self, shift: float) -> bool:
        """Factor with a shift, unless that was done last; tell whether it can be (collective)."""
        asked = shift, self.rates is not None
        if asked != self._factored:
            self.shift = shift
            self._factored = asked if self._factors.make(self.combined(shift)) else None
        return self._factored is not None

    @property
    def negative(self) -> int | None:
        """Eigenvalues below the shift of the factors; None: not known (collective)."""
        pivots = self._factors.negative
        assert self._combined is not None
        return None if pivots is None else self.signs.free(pivots, self._combined)

    def solve(self, b: PETSc.Vec, x: PETSc.Vec) -> None:
        """Solve with what was factored last (collective).

        Raises
        ------
        SymancfError : the solution is none.
        """
        self._factors.solve(b, x)
        assert self._combined is not None
        share = residual_ratio(self._combined, b, x)
        if share:
            raise SymancfError(
                f"a solution with {self.words} leaves {100.0 * share:.2g} % of the "
                "right-hand side: the matrix is singular, or its entries differ too much"
            )

    def solved(self, rows: Array) -> Array:
        """Return the solution, rows of this rank, for a right-hand side (collective)."""
        self._x.setArray(rows)
        self.solve(self._x, self._y)
        return np.array(self._y.getArray(readonly=True))

    def step(self, z: Array) -> Array:
        """Return the operator without what is known of it, times rows (n,) (collective)."""
        y = self.operated(z)
        if self.invariant.shape[1]:
            y = y - self.invariant @ self.sums(self.invariant.T @ y)
        return y

    def operated(self, z: Array) -> Array:
        r"""Return the operator whose eigenvalues are theta, times rows (n,) (collective).

        Of quadratic ones :math:`(K + \sigma C + \sigma^2 M)\,x = -M(v + \sigma u) - C u` gives
        :math:`(x, u + \sigma x)` from :math:`(u, v)`, the parts for x and for s x/sigma.
        """
        if self.rates is None:
            return self.solved(self.product(self.weight, z))
        n, sigma = self.unknowns.rows, self.shift
        u, v = z[:n], sigma * z[n:]
        x = -self.solved(self.product(self.weight, v + sigma * u) + self.product(self.rates, u))
        return np.concatenate([x, u / sigma + x])

    def start(self, seed: int) -> Array:
        """Return a random vector without what has theta = 0 (collective)."""
        z = self.random(seed)
        z = z if self.rates is None else np.concatenate([z, z])
        for _ in range(2):
            z = self.step(z)
            z = z / (float(np.sqrt(self.sums(np.array([z @ z]))[0])) or 1.0)
        return z

    # ---- products -------------------------------------------------------------------------------
    def product(self, matrix: PETSc.Mat, rows: Array) -> Array:
        """Return a product with vectors (rows,) or (rows, m), real or complex (collective)."""
        if np.iscomplexobj(rows):
            real = self.product(matrix, np.ascontiguousarray(rows.real))
            imaginary = self.product(matrix, np.ascontiguousarray(rows.imag))
            return np.asarray(real + 1j * imaginary)
        if rows.ndim == 2:
            answers = [self.product(matrix, np.ascontiguousarray(x)) for x in rows.T]
            return np.stack(answers, axis=1) if answers else np.zeros_like(rows)
        self._x.setArray(rows)
        matrix.mult(self._x, self._y)
        return np.array(self._y.getArray(readonly=True))

    def random(self, seed: int) -> Array:
        """Return numbers (rows,) in [-1, 1], the same on any number of ranks."""
        return self.unknowns.from_local(self._numbering.random(17 + seed))

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
        mass = self.sums((D * self.product(self.weight, D)).sum(axis=0))
        some = mass > 0.0
        D = D[:, some] / np.sqrt(mass[some])
        f, noise, k = (
            self.product(self.stiffness, D),
            self.rounded(D),
            self._diagonal(self.stiffness),
        )
        stiff = k[:, None] > 0.0
        elastic = self.sums(
            np.where(stiff, f**2 / np.where(stiff, k[:, None], 1.0), 0.0).sum(axis=0)
        )
        other = self.sums((~stiff & (np.abs(f) > NEGLIGIBLE / EPS * noise)).sum(axis=0))
        least = self.sums((np.abs(D) * noise).sum(axis=0))
        return D, least, (elastic <= NEGLIGIBLE**2 / EPS * least) & (other == 0)

    def still(self) -> tuple[Array, Array]:
        """Return the rigid motions that nothing resists, orthonormal, and the noise of all."""
        D, noise, still = self.motions()
        return self.orthonormal(self.orthonormal(D[:, still], NEGLIGIBLE)), noise

    def orthonormal(self, X: Array, alike: float = DEPENDENCE_TOLERANCE) -> Array:
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
            for least in (NEGLIGIBLE, 0.0):
                size = np.sqrt(self.sums((B * B).sum(axis=0)))
                B = B / np.where(size > 0.0, size, 1.0)
                d, V = np.linalg.eigh(self.sums(B.T @ B))
                B = B @ (V[:, d > least] / np.sqrt(d[d > least]))
            bases.append(B)
        cosines = np.linalg.svd(self.sums(bases[0].T @ bases[1]), compute_uv=False)
        return int((cosines > RIGID_MOTION_SHARE).sum())

    def rounded(self, X: Array) -> Array:
        """Return what round-off of K makes of K x, EPS |K| |x|, (rows, m) (collective)."""
        start, columns, values = self.stiffness.getValuesCSR()
        size = self.unknowns.rows, self.unknowns.size
        bound = PETSc.Mat().createAIJ(
            ((size[0], size[1]), (size[0], size[1])),
            csr=(start, columns, np.abs(values)),
            comm=self.comm,
        )
        errors = EPS * self.product(bound, np.abs(X))
        bound.destroy()
        return errors

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


def independent(gram: Array, blocks: Iterable[Sequence[int]]) -> list[int]:
    """Return the blocks of unit vectors that are no combinations of those before them.

    `gram` : (m, m) their scalar products.
    """
    keep: list[int] = []
    for block in blocks:
        trial = [*keep, *block]
        if np.linalg.eigvalsh(gram[np.ix_(trial, trial)])[0] > DEPENDENCE_TOLERANCE:
            keep = trial
    return keep

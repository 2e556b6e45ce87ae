# SPDX-License-Identifier: BSD-3-Clause
r"""Invariant subspaces: what is known of the eigenvectors of an operator.

With orthonormal columns W of such a subspace of A, :math:`W^T W = 1`, the operator
:math:`(1 - W W^T) A` has zeros for the eigenvalues found so far and all others as they are
(deflation). Krylov's methods begin with one vector, and so find one vector of a multiple eigenvalue
but for round-off: they are begun anew with this operator until what is its largest is smaller than
what is wanted (Y. Saad, Numerical Methods for Large Eigenvalue Problems, 2011, 4.2). Of symmetric
pencils products of vectors are those of their metric G, :math:`W^T G W = 1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from .pencil import Pencil

APART = 1e-6  # square of the sine of the angle between vectors that are taken together
MASSLESS = 1e-14  # of the largest mass, where each coordinate has 1: none
REAL = 1e-8  # of a number: its imaginary part that is none
NONE = 1e-13  # of the largest theta: one that is none
TRUE = 1e-5  # of a vector: what one more step of the operator may change in it


@dataclass
class Found:
    """Eigenpairs: numbers (m,), and vectors (rows of this rank, m), real if all numbers are."""

    theta: Array
    vectors: Array

    def positive(self) -> Found:
        """Return those of positive theta."""
        found = self.real()
        return Found(found.theta[found.theta > 0.0], found.vectors[:, found.theta > 0.0])

    def real(self) -> Found:
        """Return those of real theta; of a double one there is a pair, by round-off."""
        some = np.abs(self.theta.imag) <= REAL * np.abs(self.theta)
        theta, Z = self.theta[some], self.vectors[:, some]
        return Found(theta.real, np.where(theta.imag < 0.0, Z.imag, Z.real))


class Subspace:
    """A subspace that `Pencil.step` maps into itself (collective).

    Parameters
    ----------
    resting : (rows, m) orthonormal eigenvectors of a symmetric pencil that are left out.

    Attributes
    ----------
    basis, images : (rows, m) orthonormal columns W, and A W.
    """

    def __init__(self, pencil: Pencil, resting: Array | None = None) -> None:
        self.pencil = pencil
        self.metric = pencil.weight if pencil.symmetric and not pencil.buckling else None
        self.basis = self.images = np.zeros((pencil.rows, 0))
        self.resting = self.basis if resting is None else resting

    @property
    def room(self) -> int:
        """How many eigenvectors may be outside, at most."""
        return self.pencil.room() - self.basis.shape[1] - self.resting.shape[1]

    def step(self, z: Array) -> Array:
        """Return the operator without what is here, times rows (n,)."""
        return self._outside(self.pencil.step(z)[:, None])[:, 0]

    def start(self) -> Array:
        """Return a random vector (rows,) without what has theta = 0 or is here."""
        z = self.pencil.random(self.basis.shape[1] + self.resting.shape[1])
        z = z if self.pencil.rates is None else np.concatenate([z, z])
        for _ in range(2):
            z = self.step(z)
            z = z / (float(np.sqrt(self.pencil.sums(np.array([z @ z]))[0])) or 1.0)
        return z

    def add(self, found: Found) -> None:
        """Take in eigenvectors of the operator without what is here.

        Those that are nearly a combination of others wait: they are found again.
        """
        blocks: list[range] = []
        columns: list[Array] = []
        for theta, z in zip(found.theta, found.vectors.T, strict=True):
            if theta.imag >= 0.0:
                parts = [z.real, z.imag] if theta.imag else [z.real]
                blocks.append(range(len(columns), len(columns) + len(parts)))
                columns += parts
        if not columns:
            return
        B = self._scaled(self._outside(np.stack(columns, axis=1)))
        gram, keep = self._products(B, B), list[int]()
        for block in blocks:
            trial = [*keep, *block]
            if np.linalg.eigvalsh(gram[np.ix_(trial, trial)])[0] > APART:
                keep = trial
        self.hold(B[:, keep])

    def hold(self, columns: Array) -> None:
        """Take in vectors (rows, m) that the operator mixes alone; of dependent ones some."""
        columns = self._scaled(columns)
        for _ in range(2):
            columns = self._outside(columns)
            d, V = np.linalg.eigh(self._products(columns, columns))
            columns = columns @ (V[:, d > MASSLESS] / np.sqrt(d[d > MASSLESS]))
        images = self._moving(self.pencil.step(columns))
        self.basis = np.concatenate([self.basis, columns], axis=1)
        self.images = np.concatenate([self.images, images], axis=1)

    def renew(self) -> None:
        """Take the operator of other factors."""
        self.images = self._moving(self.pencil.step(self.basis))

    def pairs(self) -> Found:
        """Return the eigenpairs in this subspace, the largest first; of a complex pair one.

        Those that one more step changes are none: directions without mass.
        """
        pencil = self.pencil
        H = self._products(self.basis, self.images)
        theta, Y = np.linalg.eigh((H + H.T) / 2.0) if self.metric else np.linalg.eig(H)
        size = np.abs(theta)
        good = (size > NONE * size.max(initial=0.0)) & (theta.imag >= 0.0)
        theta, Y = theta[good], Y[:, good]
        Z, before = self.images @ Y / theta, self.basis @ Y  # one step more than the basis
        halves = 1 if pencil.rates is None else 2
        size, change = (
            sum(np.abs(pencil.forms(pencil.metric, half)) for half in np.split(part, halves))
            for part in (Z, Z - before)
        )
        some = np.flatnonzero((size > 0.0) & (change <= TRUE**2 * size))
        order = some[np.argsort(-np.abs(theta[some]), kind="stable")]
        return Found(theta[order], Z[:, order])

    def _products(self, A: Array, B: Array) -> Array:
        """Return A^T B, or of symmetric pencils A^T G B."""
        return self.pencil.sums(A.T @ (self._weighted(B) if A.shape[1] else B))

    def _weighted(self, B: Array) -> Array:
        """Return G B of symmetric pencils, else B."""
        return self.pencil.product(self.metric, B) if self.metric else B

    def _scaled(self, B: Array) -> Array:
        """Return columns of unit length, and of none as they are."""
        size = np.sqrt(np.abs(self.pencil.sums((B * self._weighted(B)).sum(axis=0))))
        return np.asarray(B / np.where(size > 0.0, size, 1.0))

    def _moving(self, columns: Array) -> Array:
        """Return columns without what rests."""
        return np.asarray(columns - self.resting @ self._products(self.resting, columns))

    def _outside(self, columns: Array) -> Array:
        """Return columns without what is here."""
        columns = self._moving(columns)
        return np.asarray(columns - self.basis @ self._products(self.basis, columns))

# SPDX-License-Identifier: BSD-3-Clause
r"""Spaces that an operator maps into themselves: what has been found of its eigenvectors.

With orthonormal columns W of such a space of A, the operator :math:`(1 - W W^T) A` has zeros for
the eigenvalues found so far and all others as they are. Krylov's methods begin with one vector, and
so find one vector of a multiple eigenvalue but for round-off: they are begun anew with this
operator until what is its largest is smaller than what is wanted (Y. Saad, Numerical Methods for
Large Eigenvalue Problems, 2011, 4.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from .engines import filtered
from .pencil import independent

if TYPE_CHECKING:
    from .pencil import Eigenpairs, Pencil


class Invariant:
    """A space that `Pencil.step` maps into itself (collective).

    Attributes
    ----------
    basis, images : (rows, m) orthonormal columns W, and A W.
    """

    def __init__(self, pencil: Pencil) -> None:
        self.pencil = pencil
        self.basis = self.images = np.zeros((pencil.rows, 0))

    def add(self, pairs: Eigenpairs) -> None:
        """Take in eigenvectors of the operator without what is here.

        Those that are nearly a combination of others wait: they are found again.
        """
        blocks: list[range] = []
        columns: list[Array] = []
        for theta, z in zip(pairs.theta, pairs.vectors.T, strict=True):
            if theta.imag >= 0.0:
                parts = [z.real, z.imag] if theta.imag else [z.real]
                blocks.append(range(len(columns), len(columns) + len(parts)))
                columns += parts
        if not columns:
            return
        B = self._across(np.stack(columns, axis=1))
        size = self.pencil.sums((B * B).sum(axis=0))
        B = B / np.sqrt(np.where(size > 0.0, size, 1.0))
        self.hold(B[:, independent(self.pencil.sums(B.T @ B), blocks)])

    def pairs(self, positive: bool) -> Eigenpairs:
        """Return the eigenpairs in this space, the largest first; see `engines.filtered`."""
        theta, Y = np.linalg.eig(self.pencil.sums(self.basis.T @ self.images))
        return filtered(theta, self.basis @ Y, positive)

    def hold(self, columns: Array) -> None:
        """Take in vectors (rows, m) that are independent, and that the operator mixes alone."""
        Q = self._orthonormal(self._orthonormal(columns))
        images = [self.pencil.operated(np.ascontiguousarray(q)) for q in Q.T]
        if images:
            self.basis = np.concatenate([self.basis, Q], axis=1)
            self.images = np.concatenate([self.images, np.stack(images, axis=1)], axis=1)

    def _across(self, columns: Array) -> Array:
        return np.asarray(columns - self.basis @ self.pencil.sums(self.basis.T @ columns))

    def _orthonormal(self, columns: Array) -> Array:
        B = self._across(columns)
        d, V = np.linalg.eigh(self.pencil.sums(B.T @ B))
        return np.asarray(B @ (V / np.sqrt(d)) @ V.T)

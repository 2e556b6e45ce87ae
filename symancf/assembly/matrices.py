# SPDX-License-Identifier: BSD-3-Clause
"""Tangent, mass and damping at the present state, as matrices of PETSc or SciPy."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..errors import SymancfError
from ..runtime.collective import together
from .configuration import Configuration
from .unknowns import Unknowns, as_scipy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from scipy.sparse import csr_array

    from ..runtime.petsc import PETSc
    from .matrix import Matrix
    from .piece import Piece
    from .plan import Plan


class Matrices(Configuration):
    """A configuration that can be linearised."""

    pieces: list[Piece]

    @property
    @abstractmethod
    def matrix(self) -> Matrix:
        """The tangent's storage."""

    @property
    @abstractmethod
    def inertia(self) -> Plan:
        """Kernels of the bodies' inertia."""

    @abstractmethod
    def place_mass(self) -> None:
        """Find the places of the mass in the tangent's storage."""

    @abstractmethod
    def update(self, time: float) -> None:
        """Write the present values of all parameters into the kernels."""

    @cached_property
    def unknowns(self) -> Unknowns:
        """The rows of `tangent`, `mass` and `damping` by name (collective)."""
        return Unknowns(self)

    def tangent(self, *, scipy: bool = False) -> PETSc.Mat | csr_array:
        r"""Return the derivative of the residual by the unknowns at the present state (collective).

        With multipliers, and :math:`R(q) = W_{,q} - Q` at held rates,

        .. math:: \begin{pmatrix} R_{,q} + (\lambda \Phi)_{,qq} & \Phi_{,q}^T \\
            \Phi_{,q} & 0 \end{pmatrix} .

        Coordinates that supports hold are eliminated; `unknowns` names the others. It has the
        stiffness of all terms: of stresses, gravity (none), joints, contact, gas, and of loads that
        follow the body, which make it unsymmetric; of a turning frame the centrifugal one. Laws
        with memory answer as in the last step. Units are those of the residual by those of the
        coordinates, positions in [m] and slopes in [1]; multipliers are forces [N].

        Parameters
        ----------
        scipy : return a ``csr_array``: this rank's rows, all columns (on one rank all of it).

        Returns
        -------
        A copy, (unknowns, unknowns); a matrix of PETSc is the caller's to destroy.

        Raises
        ------
        SymancfError : points of the present state are outside the domain of their law.
        """
        with self.matrix.borrowed(), self._at_factor(0.0):
            self._assemble()
            return self._given(scipy)

    def mass(self, *, scipy: bool = False) -> PETSc.Mat | csr_array:
        r"""Return the mass matrix of the unknowns (collective).

        The second derivative of :math:`T = \tfrac12 \dot q^T M \dot q`: constant, since rotations
        are no coordinates. Rows of multipliers and of bodies without density are zero. Parameters
        and result as of `tangent`.

        Raises
        ------
        ParameterError : no body has a mass.
        """
        self.place_mass()
        with together(self.comm):
            self.inertia.update(self.time)
        with self.matrix.borrowed():
            none = np.zeros_like(self.state)
            self.inertia.tangent(none, np.zeros_like(none), self.matrix)
            return self._given(scipy)

    def mass_times(self, v: Array) -> Array:
        """Return M v of a local vector, with the present parameters (collective)."""
        f = np.zeros_like(self.state)
        with together(self.comm):
            self.inertia.update(self.time)
        self.inertia.residual(v, f)
        return f

    def damping(
        self, *, mass: float = 0.0, stiffness: float = 0.0, scipy: bool = False
    ) -> PETSc.Mat | csr_array:
        r"""Return the derivative of the residual by the rates of the unknowns (collective).

        Of dampers, viscosities, controllers (whose own states have first derivatives in time) and
        of the Coriolis forces of a turning frame, which are antisymmetric; at the present rates.

        Parameters
        ----------
        mass, stiffness : factors of Rayleigh's damping, :math:`\alpha M + \beta K` with K of the
            strain energies alone [1/s], [s].
        scipy : as of `tangent`.
        """
        if mass or stiffness:
            self.place_mass()
            with together(self.comm):
                self.inertia.update(self.time)
        with self.matrix.borrowed():
            values = self._by_rates()
            if mass:
                none = np.zeros_like(self.state)
                self.inertia.tangent(none, np.zeros_like(none), self.matrix)
                values = [v + mass * m for v, m in zip(values, self.matrix.values, strict=True)]
            if stiffness:
                strain = np.array([piece.role == "strain" for piece in self.pieces], dtype=bool)
                with self.plan.only(strain):
                    self._assemble()
                values = [
                    v + stiffness * k for v, k in zip(values, self.matrix.values, strict=True)
                ]
            for own, found in zip(self.matrix.values, values, strict=True):
                own[:] = found
            self.matrix.finish()
            return self._given(scipy)

    def _by_rates(self) -> list[Array]:
        """Return the values, two parts, of the tangent by the rates alone (collective).

        The tangent is linear in the factor by which rates follow coordinates: a factor that makes
        both parts alike loses the fewest digits.
        """
        found = [np.zeros_like(v) for v in self.matrix.values]
        asked = np.array([piece.knows_rates for piece in self.pieces], dtype=bool)
        with self.plan.only(asked):
            factor = 1.0
            for _ in range(2):
                with self._at_factor(0.0):
                    self._assemble()
                rest = [v.copy() for v in self.matrix.values]
                with self._at_factor(factor):
                    self._assemble()
                found = [(v - r) / factor for v, r in zip(self.matrix.values, rest, strict=True)]
                largest = [max(np.abs(v).max(initial=0.0) for v in part) for part in (rest, found)]
                k, c = (self.comm.allreduce(float(v), MPI.MAX) for v in largest)
                if not (k and c) or 1e-2 < k / (factor * c) < 1e2:
                    break
                factor = k / c
        return found

    def _at_factor(self, factor: float) -> AbstractContextManager[None]:
        """Let rates follow coordinates by a factor, for a while."""
        return self.plan.following(self.rate, np.full(self.numbering.coordinates, factor))

    def _assemble(self) -> None:
        """Write the tangent of the present state to the matrix (collective)."""
        bad = 0
        with together(self.comm):
            self.update(self.time)
            bad = self.plan.tangent(self.state, np.zeros_like(self.state), self.matrix)
        if self.comm.allreduce(bad):
            raise SymancfError(
                f"the tangent at time {self.time:g}: points of the present state are outside the "
                "domain of their law (J <= 0 or not finite)",
                asked="domain",
                given=self.time,
            )

    def _given(self, scipy: bool) -> PETSc.Mat | csr_array:
        made = self.unknowns.matrix(self.matrix.mat)
        return as_scipy(made) if scipy else made

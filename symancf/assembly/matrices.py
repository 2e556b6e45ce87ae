# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of the unknowns of a system: tangent, mass and damping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..errors import SymancfError
from ..runtime.collective import together
from .unknowns import as_scipy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from scipy.sparse import csr_array

    from ..runtime.petsc import PETSc
    from .discrete import DiscreteSystem


class Matrices:
    """Tangent, mass and damping of a system at its present state, as copies; ``system.matrices``.

    Their rows and columns are the unknowns that ``system.unknowns`` names.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (2,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), name="rod",
    ...               EA=1.0, EI=1.0, rho=1.0, A=1.0)
    >>> system = sa.System(rod, terms=[sa.fix(rod["x0"])])
    >>> K, M = system.matrices.tangent(scipy=True), system.matrices.mass(scipy=True)
    >>> K.shape == M.shape == (system.unknowns.size, system.unknowns.size)
    True
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self._system = system

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
        system = self._system
        with system.matrix.borrowed(), self._at_factor(0.0):
            self._assemble()
            return self._in_form(scipy)

    def mass(self, *, scipy: bool = False) -> PETSc.Mat | csr_array:
        r"""Return the mass matrix of the unknowns (collective).

        The second derivative of :math:`T = \tfrac12 \dot q^T M \dot q`: constant, since rotations
        are no coordinates. Rows of multipliers and of bodies without density are zero. Parameters
        and result as of `tangent`.

        Raises
        ------
        ParameterError : no body has a mass.
        """
        system = self._system
        system.place_mass()
        with together(system.comm):
            system.inertia.update(system.time)
        with system.matrix.borrowed():
            none = np.zeros_like(system.state)
            system.inertia.tangent(none, np.zeros_like(none), system.matrix)
            return self._in_form(scipy)

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
        system = self._system
        if mass or stiffness:
            system.place_mass()
            with together(system.comm):
                system.inertia.update(system.time)
        with system.matrix.borrowed():
            values = self._by_rates()
            if mass:
                none = np.zeros_like(system.state)
                system.inertia.tangent(none, np.zeros_like(none), system.matrix)
                values = [v + mass * m for v, m in zip(values, system.matrix.values, strict=True)]
            if stiffness:
                strain = np.array([form.role == "strain" for form in system.forms], dtype=bool)
                with system.assembler.only(strain):
                    self._assemble()
                values = [
                    v + stiffness * k for v, k in zip(values, system.matrix.values, strict=True)
                ]
            for own, rates in zip(system.matrix.values, values, strict=True):
                own[:] = rates
            system.matrix.finish()
            return self._in_form(scipy)

    def _by_rates(self) -> list[Array]:
        """Return the values, two parts, of the tangent by the rates alone (collective).

        The tangent is linear in the factor by which rates follow coordinates: a factor that makes
        both parts alike loses the fewest digits.
        """
        system = self._system
        parts = [np.zeros_like(v) for v in system.matrix.values]
        rated = np.array([form.knows_rates for form in system.forms], dtype=bool)
        with system.assembler.only(rated):
            factor = 1.0
            for _ in range(2):
                with self._at_factor(0.0):
                    self._assemble()
                rest = [v.copy() for v in system.matrix.values]
                with self._at_factor(factor):
                    self._assemble()
                parts = [(v - r) / factor for v, r in zip(system.matrix.values, rest, strict=True)]
                largest = [max(np.abs(v).max(initial=0.0) for v in part) for part in (rest, parts)]
                k, c = (system.comm.allreduce(float(v), MPI.MAX) for v in largest)
                if not (k and c) or 1e-2 < k / (factor * c) < 1e2:
                    break
                factor = k / c
        return parts

    def _at_factor(self, factor: float) -> AbstractContextManager[None]:
        """Let rates follow coordinates by a factor, for a while."""
        system = self._system
        return system.assembler.following(
            system.rate, np.full(system.numbering.coordinates, factor)
        )

    def _assemble(self) -> None:
        """Write the tangent of the present state to the matrix (collective)."""
        system = self._system
        bad = 0
        with together(system.comm):
            system.update(system.time)
            bad = system.assembler.tangent(system.state, np.zeros_like(system.state), system.matrix)
        if system.comm.allreduce(bad):
            raise SymancfError(
                f"the tangent at time {system.time:g}: points of the present state are outside the "
                "domain of their law (J <= 0 or not finite)",
                asked="domain",
                given=system.time,
            )

    def _in_form(self, scipy: bool) -> PETSc.Mat | csr_array:
        system = self._system
        matrix = system.unknowns.matrix(system.matrix.mat)
        return as_scipy(matrix) if scipy else matrix

# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of the squares of circular frequencies by parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from mpi4py import MPI

from ...assembly.matrices import Matrices
from ...errors import ParameterError
from ...output.history import History
from ...runtime.collective import together
from ...runtime.options import SolverOptions
from ...values.parameter import Parameter
from ..gradients.bend import bend, times, total
from ..gradients.chain import ChainRule, Sensitive
from ..gradients.goal import GoalSlopes
from ..gradients.gradient import require_variables
from ..statics.adjoint import Adjoint, in_equilibrium
from ..statics.equilibrium import EquilibriumSolver
from .pencil import Pencil

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array, Complex
    from ...assembly.discrete import DiscreteSystem
    from ...system import System
    from ..gradients.gradient import Variable

#: Relative gap of eigenvalues up to which they are one that is repeated
CLUSTER_GAP = 1e-6
#: of the size of the largest body: a state that is the same
SAME = 1e-9
#: of forces of inertia: what an eigenvector may leave of K x = w2 M x
EIGENVECTOR = 1e-6


class Spectrum(Protocol):
    """Modes that were found: `Modes`."""

    _symmetric: bool
    _near: float | None
    _complete: bool
    eigenvalues: Complex
    base: Array
    shapes: Array

    @property
    def system(self) -> System:
        """The system that they are of."""

    @property
    def squares(self) -> Array:
        """Squares of circular frequencies."""

    def _number(self, k: int) -> int: ...

    def __len__(self) -> int: ...


class FrequencySlopes:
    r"""Derivatives of :math:`a \cdot (K - \omega^2 M)\, b` at an equilibrium, a and b held.

    The state follows parameters, :math:`R(u, p) = 0`; with :math:`K_{uu}` the tangent's derivative

    .. math::
        K^T y = -\partial_u (a \cdot K b), \qquad
        \frac{d}{dp} = \partial_p (a \cdot K b) + y \cdot R_p - \omega^2 a \cdot M_p b .

    For eigenvectors with :math:`a \cdot M b = \delta_{ab}` these are the derivatives of a simple
    :math:`\omega^2`, and the matrix whose eigenvalues are the directional ones of a repeated one.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system = system
        if not in_equilibrium(system):
            raise ParameterError(
                "gradient of modes: the present state is no equilibrium with the present "
                "parameters: solve, and find the modes again",
                asked="gradient",
            )
        names = [form.name for form in system.memory.forms]
        if system.comm.allreduce(bool(names)):
            raise ParameterError(
                f"gradient of modes: laws remember earlier steps ({', '.join(map(repr, names))}), "
                "and the state and its tangent depend on them",
                asked="gradient",
                given=names,
            )
        if system.changing:
            raise ParameterError(
                "gradient of modes: second derivatives are not known of bodies that touch one "
                "another",
                asked="gradient",
            )
        numbering = system.numbering
        self._owned = np.arange(numbering.coordinates) < numbering.start[numbering.owned_vertices]
        self._fixed = numbering.fixed_by >= 0
        moves = numbering.those("position", "direction", "angle", "sliding")
        self._lengths = np.where(moves, numbering.natural(system.extent), 0.0)
        self._adjoint: Adjoint | None = None

    def refined(self, pairs: Sequence[tuple[float, Array]]) -> list[Array]:
        """Return eigenvectors with the multipliers that belong to them (collective).

        By one inverse iteration for each, which leaves combinations of equal ones as they are.

        Raises
        ------
        ParameterError : they are not those of the present parameters.
        """
        system, numbering, found = self.system, self.system.numbering, []
        matrices = Matrices(system)
        pencil = Pencil(system, matrices.tangent(), matrices.mass(), symmetric=True)
        try:
            for square, x in pairs:
                shift = 0.99 * square  # beside the eigenvalue
                pencil.require(pencil.factor(shift), "gradient of modes")
                rows = system.unknowns.from_rows(numbering.to_rows(system.mass_times(x)))
                z = (square - shift) * system.unknowns.local(pencil.solved(rows))
                f, m = np.zeros_like(z), system.mass_times(z)
                system.assembler.product(system.state, z, f)
                rest, size, *mass = (numbering.to_rows(v) for v in (f - square * m, m, z, m))
                rest, size, own = system.sum(
                    np.array([rest @ rest, square**2 * size @ size, mass[0] @ mass[1]])
                )
                if not rest <= EIGENVECTOR**2 * size:
                    raise ParameterError(
                        "gradient of modes: they are not those of the present parameters "
                        f"({np.sqrt(rest / size):.1e}): find them again",
                        asked="gradient",
                        given=float(np.sqrt(rest / size)),
                    )
                found.append(z / np.sqrt(own))
        finally:
            pencil.destroy()
        return found

    def gradient(
        self, parts: Sequence[tuple[float, float, Array, Array]], variables: Sequence[Variable]
    ) -> list[tuple[Variable, float | Array]]:
        """Return the derivatives of the sum of c a . (K - w2 M) b (collective).

        Parameters
        ----------
        parts : (c, w2, a, b).
        """
        system = self.system
        bends = [times(c, bend(system, a, b, "gradient of modes")) for c, _, a, b in parts]
        by = total(bends)
        inertia = total(
            [times(-c * square, system.inertia.pull(b, a)) for c, square, a, b in parts]
        )
        coordinates = np.where(self._owned, by.coordinates, 0.0)
        held = np.zeros_like(coordinates)
        if self._follows(variables):
            none = np.zeros_like(coordinates)
            weights = self._solver().pulled(GoalSlopes(0.0, coordinates, none, none))
            by = total([by, weights.by])
            held = np.where(self._owned & self._fixed, coordinates + weights.by.coordinates, 0.0)
        chain = self._chain(variables)
        chain.add(system.time, 0.0, Sensitive({0: by, 1: inertia}, [held[self._fixed]]))
        return chain.finish()

    def _chain(self, variables: Sequence[Variable]) -> ChainRule:
        system = self.system

        def go_to(time: float, h: float) -> None:
            system.prescribe(time)

        def prescribed() -> list[Array]:
            return [system.state[self._fixed]]

        return ChainRule(
            system, [system.assembler, system.inertia], variables, go_to, prescribed, True
        )

    def _follows(self, variables: Sequence[Variable]) -> bool:
        """Tell whether the state follows a variable: not where nothing is loaded (collective)."""
        system = self.system
        v = system.numbering.random(7)
        with together(system.comm):
            found = system.assembler.pull(system.state, v)
        chain = self._chain(variables)
        held = np.where(self._owned & self._fixed, found.coordinates, 0.0)[self._fixed]
        chain.add(system.time, 0.0, Sensitive({0: found}, [held]))
        forces = np.where(self._owned, found.coordinates, 0.0) * self._lengths
        largest = system.comm.allreduce(float(np.abs(forces).max(initial=0.0)), op=MPI.MAX)
        sizes = [
            float(np.abs(value * np.asarray(getattr(v, "values", getattr(v, "value", 1.0)))).max())
            for v, value in chain.finish()
        ]
        return bool(max(sizes) > 1e-14 * largest)  # beyond round-off

    def _solver(self) -> Adjoint:
        """Return what solves with the transposed tangent (collective)."""
        if self._adjoint is None:
            solver = EquilibriumSolver(
                self.system, History(), SolverOptions("", {}), check_held=False
            )
            solver.restored = self.system.stiffness != 1.0
            solver.prepare()
            self._adjoint = Adjoint(solver)
        return self._adjoint


def gradient_of(
    modes: Spectrum, parameters: Sequence[Variable], numbers: int | Sequence[int], of: str
) -> tuple[float, list[tuple[Variable, float | Array]]]:
    """Return the sum or product of squares of frequencies, and its derivatives; see `Modes`."""
    system = modes.system._discrete
    variables = require_variables(system, parameters)
    own = [numbers] if isinstance(numbers, int) else [*numbers]
    own = [modes._number(k) % len(modes) for k in own]
    if of not in ("sum", "product") or len({*own}) < len(own) or not own:
        raise ParameterError(
            f"gradient of modes: modes={numbers!r}, of={of!r}: give each number once, and 'sum' "
            "or 'product'",
            asked="of",
            given=of,
            possible=("sum", "product"),
        )
    squares, shapes = modes.squares, modes.shapes
    for k in own:
        group = cluster(modes, k)
        if not {*group} <= {*own}:
            raise ParameterError(
                f"gradient of modes: {sorted(group)} have the same frequency to a part of "
                f"{CLUSTER_GAP:g}, and single ones of them have no derivatives: give all of them, "
                "modes=[...], or a direction, modes.directional(parameters, directions, "
                f"mode={k})",
                asked="modes",
                given=own,
                possible=sorted(group),
            )
    slopes = FrequencySlopes(system)
    x = slopes.refined([(squares[k], shapes[k]) for k in own])
    value = float(squares[own].sum() if of == "sum" else squares[own].prod())
    factors = [1.0 if of == "sum" else value / squares[k] for k in own]
    parts = [(c, squares[k], v, v) for c, k, v in zip(factors, own, x, strict=True)]
    return value, slopes.gradient(parts, variables)


def directional(
    modes: Spectrum, parameters: Sequence[Variable], directions: Sequence[Any], mode: int
) -> Array:
    """Return the directional derivatives of equal squares of frequencies; see `Modes`."""
    system = modes.system._discrete
    variables = require_variables(system, parameters)
    shapes_of = [() if isinstance(v, Parameter) else v.values.shape for v in variables]
    along = [np.asarray(d, dtype=float) for d in directions]
    if [d.shape for d in along] != shapes_of:
        raise ParameterError(
            f"modes.directional: directions of shapes {[d.shape for d in along]} for parameters "
            f"of shapes {shapes_of}",
            asked="directions",
            given=[d.shape for d in along],
            possible=shapes_of,
        )
    group = cluster(modes, modes._number(mode) % len(modes))
    slopes, squares = FrequencySlopes(system), modes.squares
    x = slopes.refined([(squares[k], modes.shapes[k]) for k in group])
    D = np.zeros((len(group), len(group)))
    square = float(squares[group].mean())
    for i in range(len(group)):
        for j in range(i + 1):
            pairs = slopes.gradient([(1.0, square, x[i], x[j])], variables)
            D[i, j] = D[j, i] = sum(
                float(np.sum(value * d)) for (_, value), d in zip(pairs, along, strict=True)
            )
    return np.asarray(np.linalg.eigvalsh(D))


def cluster(modes: Spectrum, number: int) -> list[int]:
    """Return the modes with the frequency of one, by their numbers.

    Raises
    ------
    ParameterError : there may be more of them, or they have no derivatives.
    """
    if not modes._symmetric or modes.eigenvalues[number] == 0.0:
        raise ParameterError(
            "gradient of modes: known of frequencies that are not zero, of symmetric matrices "
            "without rates: no damping, controllers, turning frames, nor loads that follow",
            asked="gradient",
            given=complex(modes.eigenvalues[number]),
        )
    system = modes.system._discrete
    moved = np.abs(modes.base - system.state) / system.numbering.natural(system.extent)
    if system.comm.allreduce(float(moved.max(initial=0.0)), op=MPI.MAX) > SAME:
        raise ParameterError(
            "gradient of modes: the state is another than that in which they were found",
            asked="state",
        )
    squares = modes.squares
    order = np.argsort(squares, kind="stable")
    groups = np.split(
        order,
        1 + np.flatnonzero(np.diff(squares[order]) > CLUSTER_GAP * np.abs(squares[order[1:]])),
    )
    k = next(k for k, group in enumerate(groups) if number in group)
    ends = k == len(groups) - 1 or (k == 0 and modes._near is not None)
    if ends and not modes._complete:
        raise ParameterError(
            f"gradient of modes: mode {number} is at the end of those found, and another one may "
            "have the same frequency: find more of them, EigenProblem.solve(count + 1)",
            asked="modes",
            given=number,
        )
    return [int(m) for m in groups[k]]

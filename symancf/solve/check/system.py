# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of energy, residual and tangent of a system at a random state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...bodies.body import Body
from ...bodies.node import OneNode
from ...laws.accuracy import digits_lost
from ...output.tracking import parents_of
from ...values import arguments

if TYPE_CHECKING:
    from ...assembly.configuration import Discretised
    from ...assembly.discrete import DiscreteSystem


@dataclass(frozen=True)
class Check:
    """Result of `check` of a system: relative differences, and decimal digits lost at strain 1e-8.

    Attributes
    ----------
    residual : |dW/dh - f . v| / |f . v| along a random direction (energies only).
    tangent : |df/dh - K v| / |K v|.
    product : |K v (matrix-free) - K v (matrix)| / |K v|.
    symmetry : |w . K v - v . K w| / |w . K v|.
    digits : body -> (digits of the energy, digits of the stress) lost to round-off at a
        displacement gradient of 1e-8, of the 16 that a double has.
    """

    residual: float
    tangent: float
    product: float
    symmetry: float
    digits: dict[str, tuple[float, float]]

    @property
    def passed(self) -> bool:
        """Whether residual, tangent and product agree."""
        return self.residual < 1e-7 and self.tangent < 1e-7 and self.product < 1e-12

    def __str__(self) -> str:
        verdict = {True: "ok", False: "WRONG"}
        lines = [
            f"residual against energy       {self.residual:8.1e}  {verdict[self.residual < 1e-7]}",
            f"tangent against residual      {self.tangent:8.1e}  {verdict[self.tangent < 1e-7]}",
            f"product against matrix        {self.product:8.1e}  {verdict[self.product < 1e-12]}",
            f"asymmetry of the tangent      {self.symmetry:8.1e}",
        ]
        for body, (energy, stress) in self.digits.items():
            lines.append(
                f"digits lost at strain 1e-8, {body}: energy {energy:.1f}, stress {stress:.1f}"
            )
        return "\n".join(lines)


def _difference(values: list[Array], h: float) -> Array:
    """Central difference of fourth order from values at -2h, -h, h, 2h."""
    far_minus, minus, plus, far_plus = values
    return np.asarray((8.0 * (plus - minus) - (far_plus - far_minus)) / (12.0 * h))


def check_system(
    system: Discretised[DiscreteSystem], amplitude: float = 1e-3, seed: int = 0
) -> Check:
    """Compare residual with energy and tangent with residual at a random state (collective).

    See `check`.
    """
    _, system = parents_of("check", system)
    amplitude = arguments.positive("check", "amplitude", amplitude)
    seed = arguments.integer("check", "seed", seed, least=0)
    numbering, assembler = system.numbering, system.assembler
    system.update(system.time)
    size = numbering.natural(_cell_size(system))
    x = system.state + amplitude * size * numbering.random(seed)
    v = size * numbering.random(seed + 1)
    w = size * numbering.random(seed + 2)
    free = np.zeros(numbering.coordinates, dtype=bool)
    free[numbering.free_owned] = True
    v, w = _only_free(system, v), _only_free(system, w)

    def residual(state: Array) -> Array:
        f = np.zeros_like(state)
        assembler.residual(state, f)
        return f

    def energy(state: Array) -> Array:
        return system.sum(assembler.energies(state)[0])

    h = 1e-4 * amplitude * 10
    steps = (-2 * h, -h, h, 2 * h)
    f, kv, kw = residual(x), np.zeros_like(x), np.zeros_like(x)
    assembler.product(x, v, kv)
    assembler.product(x, w, kw)

    def dot(a: Array, b: Array) -> float:
        return float(system.sum(np.array([a[free] @ b[free]]))[0])

    def norm(a: Array) -> float:
        return float(np.sqrt(dot(a, a)))

    conservative = all(p.role not in ("work", "dissipation") for p in system.forms)
    conservative = conservative and not system.memory  # what it stores is not its potential
    residual_error = 0.0
    if conservative:
        slope = _difference([energy(x + s * v) for s in steps], h).sum()
        scale = (float(np.abs(energy(x)).sum()) * 1e-13 + _cancelled(system, x)) / h
        residual_error = max(0.0, abs(slope - dot(f, v)) - scale) / max(abs(dot(f, v)), 1e-300)
    numerical = _difference([residual(x + s * v) for s in steps], h)
    matrix = system.matrix
    scratch = np.zeros_like(x)
    assembler.tangent(x, scratch, matrix)
    vector = matrix.mat.createVecRight()
    vector.setArray(numbering.to_rows(v))
    answer = matrix.mat * vector
    difference = np.zeros_like(x)
    numbering.from_rows(answer.getArray() - numbering.to_rows(kv), difference)
    wkv, vkw = dot(w, kv), dot(v, kw)
    return Check(
        residual=residual_error,
        tangent=norm(numerical - kv) / max(norm(kv), 1e-300),
        product=norm(difference) / max(norm(kv), 1e-300),
        symmetry=abs(wkv - vkw) / max(abs(wkv), 1e-300),
        digits={
            system.name(body): digits_lost(body._laws, body._numbers(system.time))
            for body in system.bodies
            if isinstance(body, Body)
        },
    )


def _cancelled(system: DiscreteSystem, x: Array) -> float:
    """Round-off of the energies lambda . Phi: multipliers times that of positions (collective)."""
    numbering = system.numbering
    owned = numbering.vertex_of < numbering.owned_vertices
    forces = float(np.abs(x[owned & numbering.those("multiplier", "tie")]).sum())
    far = system.comm.allreduce(float(np.abs(system.points).max(initial=0.0)), op=MPI.MAX)
    total = float(system.sum(np.array([forces]))[0])
    return float(10.0 * np.finfo(float).eps * total * system.stiffness * far)


def _cell_size(system: DiscreteSystem) -> float:
    total = np.zeros(2)
    for body in system.bodies:
        if isinstance(body, OneNode):
            total += [system.extent_of(body), 1.0]
            continue
        X = system.points[system.binding(body).interpolation.cells]
        total += [float(np.linalg.norm(X[:, 1] - X[:, 0], axis=1).sum()), len(X)]
    total = system.sum(total)
    return float(total[0] / max(total[1], 1.0))


def _only_free(system: DiscreteSystem, v: Array) -> Array:
    return np.where(system.numbering.fixed_by < 0, v, 0.0)

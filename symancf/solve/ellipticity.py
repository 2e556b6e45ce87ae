# SPDX-License-Identifier: BSD-3-Clause
"""Where laws of solids have lost their strong ellipticity; see `laws.properties.convexity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..bodies.body import Body
from ..errors import KinematicsError
from ..kinematics.naming import law_of
from ..kinematics.solid import solid
from ..laws.evaluate import evaluate_on
from ..laws.mixed import PART
from ..laws.properties.convexity import least_acoustic
from ..laws.properties.solid_energy import SolidEnergy
from ..output.fields import At, CellPoints
from ..runtime.collective import together
from ..values.parameter import Field

if TYPE_CHECKING:
    from ..arrays import Array
    from ..assembly.discrete import DiscreteSystem

JETS = ("xi", "eta", "zeta")
Worst = tuple[float, str]  # least eigenvalue over the size of the stiffness, words


def lost_ellipticity(system: DiscreteSystem, state: Array, most: int = 64) -> str:
    """Say which law has no positive acoustic tensor at a state, and where, or "" (collective).

    In the middles of so many cells of a rank at most, of the largest strains. Laws with memory,
    layers and parameters that vary are not looked at.
    """
    found: list[Worst] = []
    for body in system.bodies:
        energy = _energy(body, system.time) if isinstance(body, Body) else None
        if isinstance(body, Body) and energy is not None:
            at = _middles(system, body, state)
            with together(system.comm):
                found += _worst(system.name(body), energy, at, most)
    every = [one for part in system.comm.allgather(found) for one in part]
    return min(every)[1] if every else ""


def _energy(body: Body, time: float) -> SolidEnergy | None:
    """Return the energy of a body with its numbers; None: it is none of a solid, or remembers."""
    law = body._energy_function
    varies = any(isinstance(x, Field) for x in body.parameters.values())
    if body.layers is not None or varies or not {*JETS} <= {*body.element.space.point_jets}:
        return None
    try:
        called = evaluate_on(solid(), body.element.name, law_of(law))
    except KinematicsError:  # it asks for quantities of structures
        return None
    if called.history or called.local:
        return None
    parts = {n: w for n, w in called.parts.items() if not (body.pressure and n == PART)}
    defaults = {n: float(x) for n, x in called.signature.defaults.items()}
    return SolidEnergy(called, {**defaults, **body._numbers(time)}, parts=parts)


def _middles(system: DiscreteSystem, body: Body, state: Array) -> At:
    """Return the middles of this rank's cells (collective)."""
    cells = np.arange(int(system.binding(body).interpolation.owned.sum()))
    cell, count = body.element.topology, len(body.element.space.coordinates)
    centre = np.mean(np.array(cell.vertices, dtype=float)[: cell.corners], axis=0)[:count]
    return At(system, body, CellPoints(cells, centre[None], np.zeros(1)), state)


def _worst(name: str, energy: SolidEnergy, at: At, most: int) -> list[Worst]:
    """Return the worst of this rank's cells, if its acoustic tensor is not positive."""
    if not len(at.points.cells):
        return []
    X, u = (np.stack([of(jet)[:, 0] for jet in JETS], axis=2) for of in (at.X, at.u))
    F = np.eye(3) + u @ np.linalg.inv(X)
    E = F.swapaxes(1, 2) @ F - np.eye(3)
    chosen = np.argsort(-np.linalg.norm(E, axis=(1, 2)))[:most]
    A = energy.tangent(np.concatenate([F[chosen], np.eye(3)[None]]))
    least = least_acoustic(A[:-1], F[chosen], bool(at.body.pressure)) / np.abs(A[-1]).max()
    if not np.nanmin(least, initial=np.inf) < 0.0:
        return []
    k = int(np.nanargmin(least))
    x, y, z = at.X("value")[chosen[k], 0].tolist()
    stretches = np.linalg.svd(F[chosen[k]], compute_uv=False)
    law = energy.called.signature.name
    return [
        (
            float(least[k]),
            f"the law {law}() of {name!r} is not strongly elliptic any more near "
            f"({x:.4g}, {y:.4g}, {z:.4g}), at the principal stretches "
            f"{', '.join(f'{s:.3g}' for s in stretches)}: the least eigenvalue of its acoustic "
            f"tensor is {least[k]:.2g} of its stiffness at rest",
        )
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""Results of contact at the present state of a system, of the passes of which it is made.

All are collective.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Mask
from ..bodies.natural import RigidBody
from ..runtime.collective import together
from .active import Active
from .facets import FacetPass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..assembly.configuration import Configuration
    from ..assembly.piece import Piece
    from ..bodies.body import Body
    from .rigid import RigidPass


class Counts(NamedTuple):
    """Numbers of points by what they do; without friction those that touch count as sticking."""

    open: int
    stick: int
    slip: int


@contextmanager
def searched(system: Configuration, passes: Sequence[RigidPass | FacetPass]) -> Iterator[None]:
    """Find lists and what laws remember before the first step, too, which finds its own."""
    facing = [each for each in passes if isinstance(each, FacetPass)]
    if not all(system.of(each, Active).begun for each in facing):
        system.revise(system.time)
    first = not system.memory.known
    if first:
        system.forget()
    try:
        yield
    finally:
        if first:
            system.memory.forget()


def pieces_of(system: Configuration, passes: Sequence[RigidPass | FacetPass]) -> list[Piece]:
    """Return the kernels of passes in a system."""
    names = {system.name(each) for each in passes}
    return [piece for piece in system.plan.pieces if piece.name in names]


def wrench(
    system: Configuration,
    passes: Sequence[RigidPass | FacetPass],
    bodies: Sequence[Body | RigidBody],
    about: Array,
) -> Array:
    """Return force and moment about a point (6,) that passes exert on bodies."""
    f = np.zeros(system.numbering.coordinates)
    asked = {piece.name for piece in pieces_of(system, passes)}
    own = np.array([piece.name in asked for piece in system.plan.pieces])
    with searched(system, passes), system.plan.only(own):
        with together(system.comm):
            system.plan.update(system.time)
        system.plan.residual(system.state, f)
    mine = np.any([_coordinates(system, body) for body in bodies], axis=0)
    return np.asarray(system.sum(-system.wrench(np.where(mine, f, 0.0), about)))


def dissipated(system: Configuration, passes: Sequence[RigidPass | FacetPass]) -> float:
    """Return the energy that passes have dissipated since the first step [J]."""
    chosen = pieces_of(system, passes)
    return float(system.sum(np.array([system.memory.dissipated(chosen)]))[0])


def status(system: Configuration, passes: Sequence[RigidPass | FacetPass]) -> Counts:
    """Return how many points are open, stick and slip."""
    found = np.zeros(3)
    with searched(system, passes), together(system.comm):
        for each in passes:
            look = each.look(system)
            found += [(look.status[look.owned] == s).sum() for s in range(3)]
    return Counts(*map(int, system.sum(found)))


def penetration(
    system: Configuration, passes: Sequence[RigidPass | FacetPass]
) -> tuple[float, float]:
    """Return the deepest penetration [m], and the deepest in parts of the local size."""
    with searched(system, passes):
        looks = [each.look(system) for each in passes]
    deep = [float((-look.gap).max(initial=0.0)) for look in looks]
    part = [float((-look.gap / look.length).max(initial=0.0)) for look in looks]
    every = system.comm.allgather((max(deep), max(part)))
    return max(d for d, _ in every), max(p for _, p in every)


def clearance(system: Configuration, passes: Sequence[RigidPass | FacetPass]) -> float:
    """Return the smallest gap of all points [m], at most the size of the system."""
    least = system.extent
    for each in passes:
        with searched(system, passes), together(system.comm):
            look = each.look(system)
        gaps = each.gaps(system, look) if isinstance(each, FacetPass) else look.gap
        least = min(least, float(np.min(gaps, initial=np.inf, where=np.isfinite(gaps))))
    return float(system.comm.allreduce(least, op=MPI.MIN))


def _coordinates(system: Configuration, body: Body | RigidBody) -> Mask:
    """Return which local coordinates are those of a body and owned by this rank."""
    found = np.zeros(system.numbering.coordinates, dtype=bool)
    if isinstance(body, RigidBody):
        found[system.binding(body).here(system)] = True
    else:
        on = system.binding(body).interpolation
        vertices = np.zeros(len(system.points), dtype=bool)
        vertices[np.unique(on.cells)] = True
        found = vertices[system.numbering.vertex_of]
    owned = system.numbering.vertex_of < system.numbering.owned_vertices
    return np.asarray(found & owned)

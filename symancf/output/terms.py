# SPDX-License-Identifier: BSD-3-Clause
"""Places of terms with their forces: of supports, constraints, loads and potentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..assembly.numbering import POSITION
from ..catalogue.boundary.support import Support
from ..catalogue.tendon import Tendon
from ..catalogue.threads import Thread
from ..terms.constraint import Constraint
from ..terms.term import PlaceTerm
from .samples import Samples, vertices

if TYPE_CHECKING:
    from ..arrays import Array, Data, Ints, Mask
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.protocol import Term


def of_term(system: DiscreteSystem, term: Term) -> Samples:
    """Return the nodes on which a term acts, with its ``force`` (collective).

    Of a term at places its places too, joined by a line where it has two ends.
    """
    if isinstance(term, Support):
        return of_support(system, term)
    if isinstance(term, Constraint):
        return of_constraint(system, term)
    if isinstance(term, Thread):
        return of_thread(system, term)
    if isinstance(term, Tendon):
        return of_tendon(system, term)
    force = _of_nodes(system, system.forces_of(term))
    loaded = _at_nodes(system, force, force.any(axis=1), "force")
    if not isinstance(term, PlaceTerm):
        return loaded
    binding = system.binding(term)
    mine = binding.entities.owned
    ends = [binding.positions(system, k)[mine] for k in range(len(term.ends))]
    count, first = len(ends[0]), len(loaded.points)
    points = np.concatenate([loaded.points, *ends])
    cells = vertices(len(points))
    if len(ends) > 1:
        cells["line"] = first + np.stack([np.arange(count), count + np.arange(count)], axis=1)
    none = np.zeros((len(points) - first, 3))
    return Samples(points, cells, {"force": np.concatenate([loaded.point_data["force"], none])})


def _of_nodes(system: DiscreteSystem, f: Array) -> Array:
    """Return forces (vertices, 3), the work of a local vector in translations."""
    force = np.zeros((len(system.points), 3))
    for number, block in enumerate(system.numbering.blocks):
        if block.moves:
            at = system.numbering.coordinates_of(number)
            for a, axis in enumerate(np.eye(3)):
                force[system.numbering.carriers(number), a] += f[at] @ block.translated(axis)
    return force


def _at_nodes(system: DiscreteSystem, force: Array, chosen: Mask, name: str) -> Samples:
    """Return the chosen nodes of this rank with forces (vertices, 3)."""
    numbering = system.numbering
    own = np.flatnonzero(chosen[: numbering.owned_vertices])
    X, u = np.array(system.points), np.zeros((len(system.points), 3))
    for number, block in enumerate(numbering.blocks):
        if block.name in ("position", POSITION):
            at, on = numbering.coordinates_of(number), numbering.carriers(number)
            X[on, : block.size] = system.reference[at]
            u[on, : block.size] = system.state[at]
    points = X[own] + u[own]
    return Samples(points, vertices(len(points)), {"displacement": u[own], name: force[own]})


def of_support(system: DiscreteSystem, support: Support) -> Samples:
    """Return the nodes that a support fixes, with its forces on the body (collective).

    Their sum is `Support.reaction`.
    """
    numbering = system.numbering
    force = _of_nodes(system, support.forces(system))
    ids, count = system.topology.vertex_ids, numbering.owned_vertices
    ghosts = count + np.flatnonzero(force[count:].any(axis=1))  # conditions of this rank act here
    given: list[tuple[Ints, Array]] = system.comm.allgather((ids[ghosts], force[ghosts]))
    for there, values in given:
        _, at, of = np.intersect1d(ids[:count], there, return_indices=True)
        force[at] += values[of]
    held = force.any(axis=1)
    fixed = numbering.fixed_by == system.layout.number(support)
    held[numbering.vertex_of[fixed]] = True
    return _at_nodes(system, force, held, "reaction")


def of_thread(system: DiscreteSystem, thread: Thread) -> Samples:
    """Return the points of a thread as lines, with its ``tension`` and ``strain``, on rank 0."""
    profiles = thread.profiles(system)
    own = slice(None) if system.comm.rank == 0 else slice(0)
    path = np.repeat(np.arange(len(profiles)), [len(profile.length) for profile in profiles])
    first = np.flatnonzero(np.diff(path) == 0)
    columns = (np.concatenate(column)[own] for column in zip(*profiles, strict=True))
    _, X, r, strain, tension = columns
    data: dict[str, Data] = {"displacement": r - X, "strain": strain, "tension": tension}
    return Samples(r, {"line": np.stack([first, first + 1], axis=1)[own]}, data)


def of_tendon(system: DiscreteSystem, tendon: Tendon) -> Samples:
    """Return the places of a tendon, and its segments as lines, on rank 0.

    Places have ``force`` on what they are on [N], ``slip`` [m] and ``angle`` [rad]; segments
    ``tension`` [N] and ``length`` [m], that without tension; cells of places have the larger
    tension of their neighbours, and no length.
    """
    r, X = tendon.positions(system), system.binding(tendon).X
    points: dict[str, Data] = {
        "displacement": r - X,
        "force": tendon.forces(system),
        "slip": tendon.slips(system),
        "angle": tendon.angles(system),
    }
    T, length = tendon.tensions(system), tendon.lengths(system)
    at_places = np.maximum(np.append(T, 0.0), np.append(0.0, T))
    cells: dict[str, Data] = {
        "tension": np.concatenate([T, at_places]),
        "length": np.append(length, np.zeros(len(r))),
    }
    own = slice(None) if system.comm.rank == 0 else slice(0)
    first = np.arange(len(T))
    kinds = {"line": np.stack([first, first + 1], axis=1)[own]} | vertices(len(r[own]))
    of_points, of_cells = (
        {name: values[own] for name, values in each.items()} for each in (points, cells)
    )
    return Samples(r[own], kinds, of_points, of_cells)


def of_constraint(system: DiscreteSystem, constraint: Constraint) -> Samples:
    """Return the places of a constraint, with what it does to its first end, on rank 0."""
    found = constraint.reaction(system)
    own = slice(None) if system.comm.rank == 0 else slice(0)
    data: dict[str, Data] = {"force": found.forces[own], "moment": found.moments[own]}
    points = found.points[own]
    return Samples(points, vertices(len(points)), data)

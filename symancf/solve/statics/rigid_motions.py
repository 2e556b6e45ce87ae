# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions of bodies that nothing holds, named by body and axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints, Ints32, Mask
from ...assembly.protocol import BodyProtocol, Bonds
from ...errors import ConstraintError
from ...newton.elimination import Elimination, rows_by_groups
from ...runtime.collective import together

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ...assembly.discrete import DiscreteSystem
    from ...assembly.numbering import Block


MAX_BODIES = 24  # bodies up to which all their motions are looked at together
MAX_DESCRIBED = 12  # motions of more bodies that are described
FREE_FORCE_RATIO = 1e-10  # of its largest forces: what an even pressure does to nodes that are free
SUPPORT_TOLERANCE = 1e-6  # of the size of a motion: what is prescribed of it holds it
#: of a motion's own size; motions that nothing holds answered with 1e-16 to 1e-13
FREE_MOTION_TOLERANCE = 1e-11


@dataclass
class _RigidGroup:
    """Bodies that move rigidly together: their coordinates on this rank, centre and reach."""

    names: list[str]
    blocks: list[tuple[Block, Ints32]]  # the block, its coordinates (k, size)
    values: list[Array]  # present values of each, (k, size)
    centre: Array
    reach: float


def _groups(system: DiscreteSystem) -> list[list[BodyProtocol]]:
    """Return the bodies one by one, but those together that elastic bonds such as flexures join."""
    bonds = [p for term in system.terms if isinstance(term, Bonds) for p in term.bonds()]
    if not bonds:
        return [[body] for body in system.bodies]
    from scipy.sparse import coo_array  # half a second to import
    from scipy.sparse.csgraph import connected_components

    count, number = len(system.bodies), {id(body): k for k, body in enumerate(system.bodies)}
    pairs = np.array([[number[id(a)], number[id(b)]] for a, b in bonds]).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    members: dict[int, list[BodyProtocol]] = {}
    for body, which in zip(system.bodies, connected_components(graph)[1].tolist(), strict=True):
        members.setdefault(which, []).append(body)
    return list(members.values())


def _group(system: DiscreteSystem, bodies: list[BodyProtocol], q: Array) -> _RigidGroup:
    """Find the coordinates of bodies, also those that only a joint brought to this rank.

    `q` are the present values of all coordinates.
    """
    numbering = system.numbering
    blocks, values = [], []
    sums = np.zeros(4)
    carried = [block for body in bodies for block in system.binding(body).carriers(system)]
    for name, vertices in carried:
        number = numbering.block(name)
        block = numbering.blocks[number]
        if not block.moves:
            continue
        at = np.unique(vertices)
        if system.comm.size > 1:
            member = np.zeros(numbering.vertices, dtype=bool)
            member[vertices] = True
            at = np.flatnonzero(system.topology.halo.updated(member))
        coordinates = numbering.coordinates_of(number, at)
        value = q[coordinates]
        if block.kind == "position":
            mine = at < numbering.owned_vertices
            sums += np.append(_in_space(value[mine]).sum(axis=0), mine.sum())
        blocks.append((block, coordinates))
        values.append(value)
    sums = system.sum(sums)
    centre = sums[:3] / max(sums[3], 1.0)
    reach = max(map(system.extent_of, bodies)) / 2.0
    for (block, _), value in zip(blocks, values, strict=True):
        if block.kind == "position":
            away = np.linalg.norm(_in_space(value) - centre, axis=1)
            reach = max(reach, away.max(initial=0.0))
    reach = system.comm.allreduce(float(reach), op=MPI.MAX)
    return _RigidGroup([*map(system.name, bodies)], blocks, values, centre, reach)


def _in_space(points: Array) -> Array:
    """Return points (k, 3); those of the plane (k, 2) are at z = 0."""
    return points if points.shape[1] == 3 else np.pad(points, ((0, 0), (0, 1)))


def _motions(body: _RigidGroup, among: Mask | None = None) -> tuple[Ints, Array]:
    """Return a body's coordinates (k,), each once, and its rigid motions (6, k).

    Rotations by 1 about x, y, z through its centre, translations by its reach.

    Parameters
    ----------
    among : (coordinates,) those at one of which a block is to be looked at; default: all.
    """
    places, parts = [np.zeros(0, dtype=np.int64)], [np.zeros((6, 0))]
    for (block, at), value in zip(body.blocks, body.values, strict=True):
        if among is not None:
            there = among[at].any(axis=1)
            at, value = at[there], value[there]
        turns = [block.rotated(value, axis, body.centre).ravel() for axis in np.eye(3)]
        shifts = [np.tile(body.reach * block.translated(axis), len(at)) for axis in np.eye(3)]
        places.append(at.ravel().astype(np.int64))
        parts.append(np.stack([*turns, *shifts]))
    coordinates, first = np.unique(np.concatenate(places), return_index=True)
    return coordinates, np.concatenate(parts, axis=1)[:, first]


def require_supported(system: DiscreteSystem) -> None:
    """Raise when a rigid motion of some bodies meets no resistance at the present state.

    See `find_free`. Collective.

    Raises
    ------
    ConstraintError : names the bodies and the motions.
    """
    motions = find_free(system)
    if not motions:
        return
    free = "a rigid-body mode is" if len(motions) == 1 else "rigid-body modes are"
    touching = ""
    if any(form.kinked for form in system.forms):
        touching = (
            ", or let bodies touch: contact supports what it presses already, as with an overlap "
            "and initial='press'"
        )
    raise ConstraintError(
        f"{free} unconstrained ({_sentence(motions)}). Fix coordinates with sa.fix or add a "
        f"joint{touching}; StaticProblem(..., check_held=False) solves all the same",
        names=sorted({name for names, _ in motions for name in names}),
        asked="rigid motion",
        given=[motion for _, motion in motions],
    )


def require_pressed(system: DiscreteSystem) -> None:
    """Raise where an even pressure in incompressible bodies, one or all, moves nothing."""
    pressures = [(b, system.binding(b).pressures) for b in system.bodies]
    closed = [(b, own) for b, own in pressures if own is not None and own.pressure.incompressible]
    numbering = system.numbering
    moves = np.flatnonzero(
        numbering.those("position") & (numbering.vertex_of < numbering.owned_vertices)
    )
    for some in [*([pair] for pair in closed), *([closed] if len(closed) > 1 else [])]:
        even, force = np.zeros_like(system.state), np.zeros_like(system.state)
        for _, own in some:
            even[own.level(system)] = own.area(system)
        with together(system.comm):
            system.assembler.product(system.state, even, force)
        free = numbering.fixed_by[moves] < 0
        both = [np.abs(force[at]).max(initial=0.0) for at in (moves[free], moves)]
        felt, largest = np.max(system.comm.allgather(both), axis=0)
        if felt <= FREE_FORCE_RATIO * largest:
            names = [system.name(b) for b, _ in some]
            raise ConstraintError(
                f"the pressure in {_listed(names)} is undetermined: nothing incompressible moves "
                "whose displacement is prescribed all around. Leave a part of the surface free, or "
                "give a finite modulus; StaticProblem(..., check_held=False) solves all the same",
                names=names,
                asked="pressure",
                given=names,
            )


def free_motions(system: DiscreteSystem) -> tuple[str, list[str]]:
    """Describe the rigid motions that nothing holds, "": none; and name the bodies (collective)."""
    motions = find_free(system)
    return _sentence(motions), sorted({name for names, _ in motions for name in names})


def _sentence(motions: list[tuple[list[str], str]]) -> str:
    return "; ".join(f"{_listed(names)}: {motion}" for names, motion in motions)


def find_free(system: DiscreteSystem) -> list[tuple[list[str], str]]:
    """Return the rigid motions that nothing holds: names of bodies, and the motion in words.

    Each body may move rigidly (those that flexures join, together); where bodies share
    coordinates the mean of their motions counts, so that bodies that agree there move as one. A
    motion is held by fixed coordinates, by constraints, or by any term whose tangent answers it,
    in proportion to the diagonal of the tangent, which must be that of the present state.
    Motions that move no coordinate (of a straight cable about itself, of a planar body out of
    its plane) do not count. Collective.
    """
    from scipy.sparse import csr_array  # half a second to import

    numbering = system.numbering
    bodies = _bodies(system, _groups(system))
    motions = [_motions(body) for body in bodies]
    shared = np.zeros(numbering.coordinates)
    size = np.ones(numbering.coordinates)  # of a coordinate in a motion by 1
    for body, (at, _) in zip(bodies, motions, strict=True):
        shared[at] += 1.0
        for block, places in body.blocks:
            if block.kind == "position":
                size[places] = np.maximum(size[places] * (size[places] != 1.0), body.reach)
    motions = [(at, v / np.maximum(1.0, shared[at])) for at, v in motions]
    diagonal = np.zeros(numbering.coordinates)
    numbering.from_rows(np.abs(system.matrix.mat.getDiagonal().getArray()), diagonal)
    stiffness = system.stiffness if system.stiffness > 0.0 else 1.0
    strength = diagonal * size
    strength = np.where(strength > 1e-9 * stiffness, strength, stiffness * size)
    if len(bodies) > MAX_BODIES:
        return _of_many(system, bodies, motions, size, strength)
    n = int(numbering.start[numbering.owned_vertices])  # owned coordinates come first
    V = np.zeros((6 * len(bodies), numbering.coordinates))
    for k, (at, v) in enumerate(motions):
        V[6 * k : 6 * k + 6, at] = v
    A = np.zeros_like(V)
    moved = np.ascontiguousarray(V + _followers(system, csr_array(V.T)).toarray().T)
    for v, answer in zip(moved, A, strict=True):
        system.assembler.product(system.state, v, answer)
    fixed = numbering.fixed_by >= 0
    V /= size
    A /= strength
    A[:, fixed] = V[:, fixed]
    rows, moves = A[:, :n].T, V[:, :n].T
    if not system.comm.allreduce(all(np.isfinite(row[:n]).all() for row in A), op=MPI.LAND):
        return []  # a state outside the domain of a law; the solution will say so
    loose = _null(system, rows, moves)
    if not len(loose):
        return []
    return [_describe(bodies, motion) for motion in _readable(bodies, loose)]


def _bodies(system: DiscreteSystem, groups: list[list[BodyProtocol]]) -> list[_RigidGroup]:
    q = system.reference + system.state
    return [_group(system, members, q) for members in groups]


def supported(system: DiscreteSystem) -> bool:
    """Tell whether prescribed coordinates alone hold all bodies (collective).

    Every rigid motion of a body moves some that it has alone. The tangent need not be there. False
    tells nothing: bodies may hold each other, or be many.
    """
    numbering, groups = system.numbering, _groups(system)
    if len(groups) > MAX_BODIES:
        return False
    bodies = _bodies(system, groups)
    fixed = (numbering.fixed_by >= 0) & (numbering.vertex_of < numbering.owned_vertices)
    motions = [_motions(body, fixed) for body in bodies]
    shared = np.zeros(numbering.coordinates, dtype=np.int8)
    for at, _ in motions:
        shared[at] += 1
    least = np.inf
    for body, (at, v) in zip(bodies, motions, strict=True):
        own = fixed[at] & (shared[at] == 1)
        blocks = _factor(system, (v[:, own] / numbering.natural(body.reach, at[own])).T)
        values = np.linalg.svd(blocks, compute_uv=False)
        least = min(least, float(values.min()) if len(values) == 6 else 0.0)
    number = float(system.sum(np.array([float(len(fixed))]))[0])
    return bool(least > SUPPORT_TOLERANCE * number**0.5)


def _of_many(
    system: DiscreteSystem,
    bodies: list[_RigidGroup],
    motions: list[tuple[Ints, Array]],
    size: Array,
    strength: Array,
) -> list[tuple[list[str], str]]:
    """Do the same for many bodies, by sparse products and elimination (collective).

    The work is proportional to their number where each has few neighbours.
    """
    from scipy.sparse import coo_array, csr_array, diags_array

    numbering, count = system.numbering, len(bodies)
    n, all_columns = int(numbering.start[numbering.owned_vertices]), 6 * len(bodies)
    row = np.concatenate([np.tile(at, 6) for at, _ in motions])
    column = np.concatenate(
        [np.repeat(6 * k + np.arange(6), len(at)) for k, (at, _) in enumerate(motions)]
    )
    value = np.concatenate([v.ravel() for _, v in motions])
    shape = (numbering.coordinates, all_columns)
    V = csr_array(coo_array((value, (row, column)), shape=shape))
    moved = V + _followers(system, V)
    A = diags_array(1.0 / strength) @ _tangent(system) @ moved
    V = diags_array(1.0 / size) @ V
    fixed = diags_array((numbering.fixed_by >= 0).astype(float))
    A = csr_array((A + fixed @ V)[:n])
    V = csr_array(V[:n])
    if not system.comm.allreduce(bool(np.isfinite(A.data).all()), op=MPI.LAND):
        return []
    squares = system.sum(np.bincount(V.indices, np.square(V.data), all_columns).astype(float))
    length = np.sqrt(squares)
    large = length.reshape(count, 6).max(axis=1)
    moving = np.flatnonzero(length > 1e-9 * np.repeat(large, 6))  # the others move nothing
    unit = diags_array(1.0 / length[moving])
    A, V = csr_array(A[:, moving] @ unit), csr_array(V[:, moving] @ unit)
    owner = moving // 6
    every = system.comm.allgather(rows_by_groups(A, owner))
    widths = np.bincount(owner, minlength=count)
    elimination = Elimination(
        widths, [part for rank in every for part in rank], FREE_MOTION_TOLERANCE
    )
    vectors, total = elimination.null_vectors(MAX_DESCRIBED), elimination.count
    texts = []
    for columns, values in vectors:
        flat = np.zeros(len(moving))
        flat[columns] = values
        moved = float(system.sum(np.array([np.square(V @ flat).sum()]))[0])
        if moved <= 1e-18 * float(flat @ flat):
            total -= 1  # bodies of the same coordinates against each other
            continue
        motion = np.zeros(all_columns)
        motion[moving] = flat / length[moving]
        texts.append(_describe(bodies, motion))
    if total > len(texts) and texts:
        names, text = texts[-1]
        texts[-1] = names, f"{text}; and {total - len(texts)} more modes"
    return texts


def _followers(system: DiscreteSystem, V: csr_array) -> csr_array:
    """Return the motions (coordinates, k) of coordinates that follow others with motions V.

    With the points of lids go the forces on their rims. Those of one lid are solved for together,
    others apart. (Collective.)
    """
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    numbering = system.numbering
    if not any(block.kind == "dependent" for block in numbering.blocks):
        return csr_array(V.shape)
    follows = numbering.those("dependent", "tie") & (numbering.fixed_by < 0)
    at = np.flatnonzero(follows[numbering.free])
    ids, at = numbering.columns_of_free[at], numbering.free[at]
    every = np.unique(np.concatenate(system.comm.allgather(ids)))
    place, count = np.searchsorted(every, ids), len(every)
    tangent = _tangent(system)[at]

    def of_all(rows: csr_array, columns: Ints) -> csr_array:
        matrix = coo_array(rows)
        mine = np.stack([place[matrix.row], columns[matrix.col], matrix.data])
        r, c, values = np.concatenate(system.comm.allgather(mine), axis=1)
        shape = (count, max(count, V.shape[1]))
        return csr_array(coo_array((values, (r.astype(int), c.astype(int))), shape=shape))

    own = of_all(tangent[:, at], place)[:, :count]
    coupling = of_all(tangent @ V, np.arange(V.shape[1]))
    _, label = connected_components(own, directed=False)
    order, parts = np.argsort(label, kind="stable"), list[tuple[Array, Array, Array]]()
    for some in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        moving = np.unique(coupling[some].indices)
        if len(moving):
            own_block, right = own[some][:, some].toarray(), coupling[some][:, moving].toarray()
            motions = -np.linalg.lstsq(own_block, right, rcond=None)[0]
            row, column = np.meshgrid(some, moving, indexing="ij")
            parts.append((motions.ravel(), row.ravel(), column.ravel()))
    if not parts:
        return csr_array(V.shape)
    values, rows, columns = map(np.concatenate, zip(*parts, strict=True))
    motion = csr_array(coo_array((values, (rows, columns)), shape=(count, V.shape[1])))[place]
    r, c = motion.nonzero()
    return csr_array(coo_array((motion.data[motion.data != 0.0], (at[r], c)), shape=V.shape))


def _tangent(system: DiscreteSystem) -> csr_array:
    """Return this rank's rows of the tangent on local coordinates, CSR; fixed ones are empty."""
    from scipy.sparse import csr_array

    numbering = system.numbering
    start, columns, values = system.matrix.mat.getValuesCSR()
    order = np.argsort(numbering.columns_of_free)
    free_columns = numbering.columns_of_free[order]
    near = np.minimum(np.searchsorted(free_columns, columns), max(0, len(free_columns) - 1))
    row = np.repeat(numbering.coordinate_of_row, np.diff(start))
    used = (free_columns[near] == columns) & (values != 0.0) & (numbering.fixed_by[row] < 0)
    coordinate = numbering.free[order[near[used]]]
    shape = (numbering.coordinates, numbering.coordinates)
    return csr_array((values[used], (row[used], coordinate)), shape=shape)


def _factor(system: DiscreteSystem, rows: Array) -> Array:
    """Return R of the QR decomposition of the rows of all ranks (collective)."""
    mine = np.linalg.qr(rows, mode="r")
    if system.comm.size == 1:
        return np.asarray(mine)
    every = np.concatenate(system.comm.allgather(mine))
    return np.asarray(np.linalg.qr(every, mode="r"))


def _null(system: DiscreteSystem, rows: Array, moves: Array) -> Array:
    """Return the combinations (k, 6 bodies) that move something and that nothing answers."""
    _, scale, basis = np.linalg.svd(_factor(system, moves), full_matrices=False)
    moving = scale > 1e-9 * scale.max(initial=0.0)
    reduce = basis[moving].T / scale[moving]
    R = _factor(system, rows) @ reduce
    _, values, vectors = np.linalg.svd(R, full_matrices=True)
    values = np.append(values, np.zeros(len(vectors) - len(values)))
    return np.asarray(
        (reduce @ vectors[values < FREE_MOTION_TOLERANCE * max(1.0, values.max())].T).T
    )


def _readable(bodies: list[_RigidGroup], motions: Array) -> Array:
    """Combine motions so that each has what the others have not: rotations, then translations."""
    first = np.array([6 * b + a for a in range(6) for b in range(len(bodies))])
    rows = motions[:, first].copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[pivot, column]) < 1e-6 * np.abs(rows).max():
            rows[done:, column] = 0.0
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        for other in range(len(rows)):
            if other != done:
                rows[other] -= rows[other, column] * rows[done]
        done += 1
    result = np.zeros_like(rows)
    result[:, first] = rows
    return result


def _describe(bodies: list[_RigidGroup], motion: Array) -> tuple[list[str], str]:
    """Return the bodies that a motion moves, and the motion of the one that moves most."""
    parts = motion.reshape(len(bodies), 6)
    strength = np.abs(parts).max(axis=1)
    moved = strength > 1e-6 * strength.max()
    names = [name for b, m in zip(bodies, moved, strict=True) if m for name in b.names]
    most = int(np.argmax(strength > 0.5 * strength.max()))
    body, spin, shift = bodies[most], parts[most, :3], parts[most, 3:] * bodies[most].reach
    turn = float(np.linalg.norm(spin))
    if turn * body.reach < 1e-6 * np.linalg.norm(shift):
        return names, f"translation along {_axis(shift)}"
    along = float(spin @ shift) / turn
    through = body.centre + np.cross(spin, shift) / turn**2
    through = np.where(np.abs(through) < 1e-9 * body.reach, 0.0, through)
    x, y, z = through
    text = f"rotation about {_axis(spin)} through ({x:.4g}, {y:.4g}, {z:.4g})"
    if abs(along) > 1e-6 * turn * body.reach:
        text += " with a translation along it"
    return names, text


def _listed(names: list[str]) -> str:
    """Return names as words, not more than six."""
    words = [repr(name) for name in names]
    if len(words) > 6:
        words = [*words[:5], f"{len(words) - 5} more"]
    return " and ".join(words)


def _axis(v: Array) -> str:
    unit = v / np.linalg.norm(v)
    unit = unit * np.sign(unit[np.argmax(np.abs(unit))])
    for name, e in zip("xyz", np.eye(3), strict=True):
        if np.abs(unit - e).max() < 1e-6:
            return name
    unit = np.where(np.abs(unit) < 1e-9, 0.0, unit)
    return f"({unit[0]:.3g}, {unit[1]:.3g}, {unit[2]:.3g})"

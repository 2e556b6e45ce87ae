# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions: the near-null space of the tangent, and bodies left free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from .errors import ConstraintError
from .numbering import ANGLE, POSITION

if TYPE_CHECKING:
    from .system import System

Array = npt.NDArray[np.float64]

ROUND_OFF = 1e-18  # square of the response to a unit motion, by the stiffness

_NAMES = (
    "translation along x",
    "translation along y",
    "translation along z",
    "rotation about x",
    "rotation about y",
    "rotation about z",
)


def rigid_modes(system: System) -> Array:
    """Return the six rigid motions of all coordinates, (6, coordinates).

    Positions move by t + w x (X - X0), slopes by w x R_slope; X0 is the centre of the nodes
    (collective).
    """
    numbering = system.numbering
    position = numbering.offset[:, numbering.block("position")]
    has = np.flatnonzero(position >= 0)
    planar = _planar_vertices(system)
    located = np.concatenate([has, planar])
    owned = located[located < numbering.owned_vertices]
    sums = system.sum(np.append(system.points[owned].sum(axis=0), len(owned)))
    arm = system.points - sums[:3] / max(sums[3], 1.0)
    modes = np.zeros((6, numbering.coordinates))
    for a in range(3):
        modes[a, position[has] + a] = 1.0
        axis = np.eye(3)[a]
        turned = np.cross(axis, arm[has])
        for b in range(3):
            modes[3 + a, position[has] + b] = turned[:, b]
        for number, block in enumerate(numbering.blocks):
            if not block.name.startswith("slopes:"):
                continue
            start = numbering.offset[:, number]
            at = start[start >= 0][:, None] + np.arange(block.size)
            slopes = system.reference[at].reshape(len(at), block.size // 3, 3)
            modes[3 + a, at] = np.cross(axis, slopes).reshape(at.shape)
    if len(planar):
        at = numbering.offset[planar, numbering.block(POSITION)]
        modes[0, at], modes[1, at + 1] = 1.0, 1.0
        modes[5, at], modes[5, at + 1] = -arm[planar, 1], arm[planar, 0]
        modes[5, numbering.offset[planar, numbering.block(ANGLE)]] = 1.0
    return modes


def _planar_vertices(system: System) -> npt.NDArray[np.int64]:
    """Local vertices that carry the coordinates of a planar body."""
    numbering = system.numbering
    if POSITION not in [block.name for block in numbering.blocks]:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(numbering.offset[:, numbering.block(POSITION)] >= 0)


def _components(system: System) -> npt.NDArray[np.int64]:
    """Number for each body the group of bodies that share nodes or are bonded (collective).

    Terms may have ``bonds()``, pairs of bodies that they let not move apart as rigid bodies.
    """
    n = len(system.bodies)
    used = [np.unique(body.cells) for body in system.bodies]
    body = np.repeat(np.arange(n), [len(v) for v in used])
    vertex = np.concatenate([*used, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    shape = (n, max(1, system.numbering.vertices))
    present = csr_matrix((np.ones(len(vertex)), (body, vertex)), shape)
    edges = np.stack((present @ present.T).nonzero())
    number = {id(b): k for k, b in enumerate(system.bodies)}
    bonds = [pair for term in system.terms for pair in getattr(term, "bonds", list)()]
    pairs = np.array([[number[id(b)] for b in pair] for pair in bonds], dtype=np.int64)
    edges = np.concatenate([*system.comm.allgather(edges), pairs.reshape(-1, 2).T], axis=1)
    graph = csr_matrix((np.ones(edges.shape[1]), tuple(edges)), (n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def require_held(system: System) -> None:
    """Raise when a rigid motion of some bodies meets no resistance at the present state.

    A motion is held by fixed coordinates, by constraints, or by any term whose tangent
    answers it (collective).

    Raises
    ------
    ConstraintError : names the bodies and the direction.
    """
    numbering = system.numbering
    group = _components(system)
    count = int(group.max()) + 1
    modes = rigid_modes(system)
    owned = numbering.vertex_of < numbering.owned_vertices
    fixed = owned & (numbering.fixed_by >= 0)
    free = owned & (numbering.fixed_by < 0)
    extent = max(body.extent for body in system.bodies)
    size = np.where(np.arange(6) < 3, 1.0, 2.0 / extent)
    columns: list[Array] = []
    inside: list[npt.NDArray[np.bool_]] = []
    for number in range(count):
        member = np.zeros(numbering.vertices, dtype=bool)
        for k, body in enumerate(system.bodies):
            if group[k] == number:
                member[np.unique(body.cells)] = True
        # also of vertices that only a joint brought to this rank, without a cell of their body
        member = system.topology.halo.updated(member[:, None].astype(np.int8))[:, 0] > 0
        inside.append(member[numbering.vertex_of])
    answers = []
    product = np.zeros(numbering.coordinates)
    for member_coordinates in inside:
        for mode, factor in zip(modes, size, strict=True):
            v = mode * member_coordinates * factor
            system.plan.product(system.state, v, product)
            columns.append(v)
            answers.append(product.copy())
    V, A = np.stack(columns), np.stack(answers)
    stiffness = system.stiffness if system.stiffness > 0 else 1.0
    held = V[:, fixed] @ V[:, fixed].T + A[:, free] @ A[:, free].T / stiffness**2
    weight = V[:, owned] @ V[:, owned].T
    held, weight = system.sum(held), system.sum(weight)
    # directions that move anything, then the least held of them
    scale, basis = np.linalg.eigh(weight)
    moving = scale > 1e-10 * scale[-1]
    reduce = basis[:, moving] / np.sqrt(scale[moving])
    values, vectors = np.linalg.eigh(reduce.T @ held @ reduce)
    nodes = system.sum(np.array([float(fixed.sum()), float(owned.sum())]))
    threshold = 1e-13 * max(1.0, values[-1]) + 1e-12 / max(nodes[1], 1.0)
    weak = reduce @ vectors[:, values < threshold]
    if not weak.size:
        return
    # among them, those held by nothing but round-off: long chains are soft, not loose
    answer, moved = weak.T @ A[:, free] / stiffness, weak.T @ V[:, fixed]
    values, vectors = np.linalg.eigh(system.sum(answer @ answer.T + moved @ moved.T))
    loose = [weak @ vectors[:, k] for k in np.flatnonzero(values < ROUND_OFF)]
    if not loose:
        return
    described = [_describe(system, group, mode.reshape(count, 6)) for mode in loose]
    names = sorted({name for names, _ in described for name in names})
    motions = "; ".join(f"{_listed(some)}: {motion}" for some, motion in described)
    raise ConstraintError(
        f"{len(loose)} rigid motion(s) are free ({motions}); fix coordinates with sa.fix, or add "
        "a joint; pass check_held=False to solve all the same",
        names=names,
    )


def _listed(names: list[str]) -> str:
    """Return names as words, not more than six."""
    words = [repr(name) for name in names]
    if len(words) > 6:
        words = [*words[:5], f"{len(words) - 5} more"]
    return " and ".join(words)


def _describe(system: System, group: npt.NDArray[np.int64], mode: Array) -> tuple[list[str], str]:
    strength = np.abs(mode).max(axis=1)
    moved = strength > 1e-3 * strength.max()
    names = [b.name for k, b in enumerate(system.bodies) if moved[group[k]]]
    share = np.abs(mode[moved]).max(axis=0)
    motion = " with ".join(
        _NAMES[a] for a in np.argsort(-share, kind="stable") if share[a] > 0.05 * share.max()
    )
    return names, motion

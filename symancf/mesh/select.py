# SPDX-License-Identifier: BSD-3-Clause
"""Regions named in the script: by a condition on places, by normals, from a place on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..cells.table import CELLS
from ..errors import MeshError, ParameterError
from ..runtime.collective import (
    block_starts,
    exchange,
    owners_of,
    reduced,
    sorted_blocks,
    together,
)
from ..values import arguments
from ..values.parameter import call, label, reals
from .cells import dimension as dimension_of
from .conformity import hashes
from .sides import Meeting, Sides, cells_of, distances, joined, normals, patches, sides_of
from .slices import CellSlice, no_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Mesh
    from .region import Region

WORDS = ("points", "edges", "facets", "cells")
TIE = 1e-9  # of the mesh's extent: places as near as the nearest


@dataclass(frozen=True)
class Conditions:
    """What a user asked for; see `Mesh.select`."""

    name: str
    where: Callable[[Array], npt.ArrayLike] | None
    dimension: int
    within: Region | None
    normal: Array | None
    near: Array | None
    angle: float
    outer: bool
    labels: Ints | None = None

    @classmethod
    def of(
        cls,
        mesh: Mesh,
        name: str,
        where: Callable[[Array], npt.ArrayLike] | None,
        dimension: int | None,
        within: Region | str | None,
        normal: npt.ArrayLike | None,
        near: npt.ArrayLike | None,
        angle: float,
        outer: bool,
        labels: npt.ArrayLike | None = None,
    ) -> Conditions:
        """Check what was given.

        Raises
        ------
        MeshError, ParameterError
        """
        call = "Mesh.select"
        _require_free(mesh, name)
        region = None if within is None else mesh[within]
        if all(condition is None for condition in (where, region, normal, near, labels)):
            raise ParameterError(
                f"{call}({name!r}): give a condition, lambda X: X[:, 0] < 1e-9, or normal=, near=, "
                "labels= or within=",
                asked="where",
                possible=("where", "normal", "near", "labels", "within"),
            )
        of = mesh["all"] if region is None else region
        d = _dimension(name, dimension, of, mesh["all"].dim)
        along = None if normal is None else _normal(name, normal, d, of)
        if near is not None and d == 3:
            raise MeshError(
                f"Mesh.select({name!r}, near=...): it chooses points, edges or facets",
                asked="near",
                given=WORDS[d],
            )
        turn = arguments.number(
            call, "angle_deg", angle, "be from 0 to 180 degrees", lambda a: 0.0 <= a <= 180.0
        )
        at = None if near is None else _vector(call, "near", near)
        if where is not None:
            arguments.function(f"{call}: where", where)
        chosen = None if labels is None else _labels(mesh, labels, dimension, of)
        outer = arguments.flag(call, "outer", outer)
        return cls(name, where, d, region, along, at, np.radians(turn), outer, chosen)

    def describe(self) -> str:
        """Return the words for what it chooses from."""
        within = "" if self.within is None else f" of region {self.within.name!r}"
        own = self.within is not None and self.within.dim == self.dimension
        outer = "outer " if self.outer and 0 < self.dimension < 3 and not own else ""
        return f"{outer}{WORDS[self.dimension]}{within}"


def _require_free(mesh: Mesh, name: str) -> None:
    """Refuse names of regions that are empty or taken."""
    if not arguments.printable("Mesh.select: name", name):
        raise ParameterError("Mesh.select: give the region a name", asked="name", given=name)
    if name in mesh:
        raise MeshError(
            f"{mesh.regions[name].describe()} already; select under another name",
            asked="name",
            given=name,
        )


def _dimension(name: str, dimension: int | None, of: Region, full: int) -> int:
    """Return the dimension of what is chosen: by default the sides of a mesh of dimension `full`.

    Raises
    ------
    MeshError, ParameterError : there is nothing of it in the region.
    """
    if len({dimension_of(kind) for kind in of.types}) > 1:
        raise MeshError(
            f"{of.describe()}, which are of several dimensions; select in one part",
            asked="within",
            given=of.types,
        )
    default = max(0, full - 1) if of.dim == full else of.dim
    d = arguments.integer(
        "Mesh.select", "dimension", default if dimension is None else dimension, least=0
    )
    if d > 3:
        raise ParameterError(
            f"Mesh.select(dimension={label(d)}): give 0, 1, 2 or 3",
            asked="dimension",
            given=d,
            possible=(0, 1, 2, 3),
        )
    if d > of.dim:
        raise MeshError(
            f"Mesh.select({name!r}, dimension={d}): {of.describe()}, of dimension {of.dim}",
            asked="dimension",
            given=d,
            possible=range(of.dim + 1),
        )
    if unknown := sorted(set(of.types) - set(CELLS)) if d < of.dim else []:
        raise MeshError(
            f"{of.describe()}; the sides of {', '.join(unknown)} are not known, those of "
            f"{', '.join(CELLS)} are",
            asked="within",
            given=unknown,
            possible=CELLS,
        )
    return d


def _normal(name: str, given: npt.ArrayLike, d: int, of: Region) -> Array:
    """Return the direction along which normals are to be.

    Raises
    ------
    MeshError : what is chosen has no normal.
    ParameterError
    """
    if d not in (1, 2) or of.dim > d + 1 or of.dim == d == 1:
        raise MeshError(
            f"Mesh.select({name!r}, normal=...): {WORDS[d]} have no normal here, but facets of "
            f"volumes, surfaces and the rims of these; {of.describe()}",
            asked="normal",
            given=WORDS[d],
        )
    along = _vector("Mesh.select", "normal", given)
    if not along.any():
        raise ParameterError(
            f"Mesh.select(normal={label(given)}): give a direction", asked="normal", given=given
        )
    return along


def _labels(mesh: Mesh, given: npt.ArrayLike, dimension: int | None, of: Region) -> Ints:
    """Return labels of points or cells, sorted.

    Raises
    ------
    MeshError : the mesh has none.
    ParameterError : other than whole numbers, or labels of sides, which have none.
    """
    call, chosen = "Mesh.select", np.atleast_1d(np.asarray(given))
    if mesh.labels is None:
        raise MeshError(no_labels(mesh), asked="labels", given=label(given))
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not len(chosen):
        raise ParameterError(
            f"{call}(labels={label(given)}): give whole numbers, those of the mesh file",
            asked="labels",
            given=label(given),
        )
    if dimension not in (0, of.dim):
        raise ParameterError(
            f"{call}(labels=..., dimension={dimension}): nodes have labels, dimension=0, and "
            f"elements, here dimension={of.dim}",
            asked="dimension",
            given=dimension,
            possible=(0, of.dim),
        )
    return np.asarray(np.unique(chosen), np.int64)


def _vector(call: str, name: str, given: npt.ArrayLike) -> Array:
    """Return three finite numbers.

    Raises
    ------
    ParameterError
    """
    vector = reals(given)
    if vector.shape != (3,):
        raise ParameterError(
            f"{call}({name}={label(given)}): give three finite numbers (x, y, z)",
            asked=name,
            given=given,
        )
    return vector


def select(mesh: Mesh, conditions: Conditions) -> dict[str, Ints]:
    """Find the cells of a new region, make those that are none yet; see `Mesh.select`. Collective.

    Returns their numbers in this rank's slices, by type.

    Raises
    ------
    MeshError, ParameterError : on every rank.
    """
    cells = _candidates(mesh, conditions)
    many = [mesh.comm.allreduce(sum(len(s.order) for s in cells))]
    for step in (_by_label, _by_place, _by_normal, _from_seed):
        cells = step(mesh, conditions, cells)
        many.append(mesh.comm.allreduce(sum(len(s.order) for s in cells)))
        if not many[-1]:
            step_of = ("labels", "where", "normal", "near")[len(many) - 2]
            what = step_of if many[0] else conditions.describe()
            raise MeshError(_nothing(mesh, conditions, many), asked=what, given=many[0])
    return _entered(mesh, cells)


def _candidates(mesh: Mesh, conditions: Conditions) -> list[Sides]:
    """Return what may be chosen (collective)."""
    if conditions.dimension == 0:
        if conditions.within is not None:
            ids = conditions.within.points()
        else:
            used = np.unique(
                np.concatenate(
                    [np.empty(0, np.int64), *(c.connectivity.ravel() for c in mesh.cells.values())]
                )
            )
            _, (used,) = exchange(mesh.comm, owners_of(mesh.point_starts, used), used)
            ids = np.unique(used)
        return [Sides("vertex", ids, ids[:, None])]
    of = conditions.within or mesh["all"]
    cells = cells_of(of)
    for d in range(of.dim, conditions.dimension, -1):
        cells = sides_of(mesh.comm, cells, outer=conditions.outer and d == of.dim)
    return cells


def _by_label(mesh: Mesh, conditions: Conditions, cells: list[Sides]) -> list[Sides]:
    """Return those with one of some labels.

    Raises
    ------
    MeshError : on every rank: none has one of them.
    """
    if conditions.labels is None or mesh.labels is None:
        return cells
    chosen, has = [], np.zeros(len(conditions.labels), np.int64)
    for s in cells:
        if s.kind == "vertex":
            own = mesh.labels.points[s.order - mesh.point_starts[mesh.comm.rank]]
        else:
            own = mesh.labels.cells[s.kind][s.order - mesh.cells[s.kind].start]
        has += np.isin(conditions.labels, own)
        chosen.append(s.select(np.isin(own, conditions.labels)))
    missing = conditions.labels[reduced(mesh.comm, has) == 0]
    if len(missing):
        many = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise MeshError(
            f"Mesh.select({conditions.name!r}): {conditions.describe()} of {mesh.name} have no "
            f"labels {many}",
            asked="labels",
            given=missing[:100].tolist(),
        )
    return chosen


def _by_place(mesh: Mesh, conditions: Conditions, cells: list[Sides]) -> list[Sides]:
    """Return those all of whose nodes fulfil the user's condition."""
    if conditions.where is None:
        return cells
    ids = np.unique(joined([s.nodes.ravel() for s in cells], np.int64))
    X = mesh.fetch_points(ids)
    with together(mesh.comm):
        holds = _truth(conditions.where, X) if len(ids) else np.empty(0, bool)
    return [s.select(holds[np.searchsorted(ids, s.nodes)].all(axis=1)) for s in cells]


def _truth(where: Callable[[Array], npt.ArrayLike], X: Array) -> Mask:
    """Return where a condition holds, (n,).

    Raises
    ------
    ParameterError
    """
    what, n = "Mesh.select: where", len(X)
    answer = call(what, where, X.copy())
    holds = np.asarray(answer)
    if holds.dtype != bool or (holds.shape != (n,) and not isinstance(answer, bool)):
        shape = str(holds.shape).replace(str(n), "n") if n > 3 else str(holds.shape)
        raise ParameterError(
            f"{what}: {label(where)} must map places X of shape (n, 3) to truth values of shape "
            f"(n,), as lambda X: X[:, 0] < 1e-9 does; it returned shape {shape} of {holds.dtype}",
            asked="where",
            given=(shape, holds.dtype.name),
            possible=(("(n,)", "bool"),),
        )
    holds = np.broadcast_to(holds, (n,))
    order = np.argsort(X @ [1.0, 0.618, 0.382], kind="stable")
    for part in np.array_split(order, 2):  # as other ranks would ask
        if len(part) and np.any(call(what, where, X[part]) != holds[part]):
            raise ParameterError(
                f"{what}: {label(where)} must tell of each place for itself; here it depends on "
                "the others, as X[:, 0] == X[:, 0].max() does, and they are those of a rank; "
                "mesh.bounds() are of all",
                asked="where",
                given=label(where),
            )
    return holds


def _by_normal(mesh: Mesh, conditions: Conditions, sides: list[Sides]) -> list[Sides]:
    """Return those whose normal is along the one asked for; between two cells in either sense."""
    if conditions.normal is None:
        return sides
    of = conditions.within or mesh["all"]
    cells = of if of.dim > conditions.dimension else mesh["all"]
    sensed = [(s, np.zeros(len(s.order), bool)) for s in sides]
    if cells.dim > conditions.dimension and not (
        conditions.outer and of.dim > conditions.dimension
    ):
        sensed = _sensed(mesh, cells, sides)
    along = conditions.normal / np.linalg.norm(conditions.normal)
    least, chosen = np.cos(conditions.angle) - 1e-9, []
    for s, either in sensed:
        cosine = normals(mesh, s) @ along
        chosen.append(s.select(np.where(either, np.abs(cosine), cosine) >= least))
    return chosen


def _sensed(mesh: Mesh, region: Region, sides: list[Sides]) -> list[tuple[Sides, Mask]]:
    """Return surfaces or edges in the sense of the cells of a region, and which are between two.

    Collective.
    """
    cells = [s for s in cells_of(region) if s.kind in CELLS]
    outer = sides_of(mesh.comm, cells, outer=True)
    every = sides_of(mesh.comm, cells, outer=False)
    sensed = []
    for s in sides:
        lists = [
            [s.nodes],
            *([f.nodes for f in group if f.kind == s.kind] for group in (outer, every)),
        ]
        tag = np.repeat(np.arange(3), [sum(map(len, rows)) for rows in lists])
        nodes = np.concatenate([rows for part in lists for rows in part])
        meeting = Meeting(mesh.comm, hashes(nodes))
        row, tag = meeting.bring(nodes), meeting.bring(tag)
        has = np.zeros((meeting.groups, 3), bool)
        has[meeting.group, tag] = True
        best = np.arange(meeting.groups)
        for t in (0, 1):  # the outer one is written last
            best[meeting.group[tag == t]] = np.flatnonzero(tag == t)
        senses = meeting.answer(row[best[meeting.group]])[: len(s.order)]
        either = meeting.answer((has[:, 2] & ~has[:, 1])[meeting.group])[: len(s.order)]
        sensed.append((s if s.of else Sides(s.kind, s.order, senses), either))
    return sensed


def _from_seed(mesh: Mesh, conditions: Conditions, cells: list[Sides]) -> list[Sides]:
    """Return the patch of the one that is nearest to a place.

    Raises
    ------
    MeshError : none is near; several of different patches are as near.
    """
    if conditions.near is None:
        return cells
    comm = mesh.comm
    away = [distances(mesh, s, conditions.near) for s in cells]
    every = joined(away, np.float64)
    order = joined([k * 2**58 // len(cells) + s.order for k, s in enumerate(cells)], np.int64)
    least = comm.allreduce(float(every.min(initial=np.inf)), MPI.MIN)
    low, high = mesh.bounds()
    extent = float(np.linalg.norm(high - low))
    if conditions.dimension == 0:
        size = extent
        parts = [s.order for s in cells]
    else:
        size = comm.allreduce(
            max(_size(mesh, s, a <= least) for s, a in zip(cells, away, strict=True)), MPI.MAX
        )
        parts = patches(mesh, cells, conditions.angle)
    at = _place(conditions.near)
    if least > size:
        raise MeshError(
            f"Mesh.select({conditions.name!r}, near={at}): the nearest of the "
            f"{conditions.describe()} of {mesh.name} is {least:.3g} away; the mesh reaches from "
            f"{_place(low)} to {_place(high)}",
            asked="near",
            given=conditions.near,
            possible=(low, high),
        )
    patch, seeds = joined(parts, np.int64), every <= least + TIE * extent
    first = comm.allreduce(int(order[seeds].min(initial=2**62)), MPI.MIN)
    chosen = comm.allreduce(int(patch[order == first].max(initial=-1)), MPI.MAX)
    if comm.allreduce(int((patch[seeds] != chosen).sum())):
        how = f"parts with more than {np.degrees(conditions.angle):g} degrees between them"
        raise MeshError(
            f"Mesh.select({conditions.name!r}, near={at}): several "
            f"{how if conditions.dimension else 'points'} are as near; give a place at the one you "
            "mean",
            asked="near",
            given=conditions.near,
        )
    return [s.select(p == chosen) for s, p in zip(cells, parts, strict=True)]


def _size(mesh: Mesh, sides: Sides, chosen: Mask) -> float:
    """Return the largest distance between two nodes of some (collective)."""
    x = mesh.fetch_points(sides.nodes[chosen])
    return float(np.linalg.norm(x[:, :, None] - x[:, None], axis=3).max(initial=0.0))


def _place(x: Array) -> str:
    return f"({', '.join(f'{a:g}' for a in x)})"


def _nothing(mesh: Mesh, conditions: Conditions, many: list[int]) -> str:
    """Return what to say where nothing is chosen. Collective."""
    text = (
        f"Mesh.select({conditions.name!r}) chooses nothing: "
        f"none of the {many[0]} {conditions.describe()}"
    )
    if not many[0]:
        text = (
            f"Mesh.select({conditions.name!r}) chooses nothing: "
            f"there are no {conditions.describe()}"
        )
    elif len(many) == 3:
        points = "" if conditions.dimension == 0 else " at all of its nodes"
        text += f" of {mesh.name} fulfils the condition{points}"
    else:
        turn = f"{np.degrees(conditions.angle):g} degrees"
        text += f" of {mesh.name} has a normal within {turn} of the one given"
        if conditions.where is not None:
            text += f", nor any of the {many[2]} that fulfil the condition"
    return f"{text}; the mesh reaches from {' to '.join(_place(x) for x in mesh.bounds())}"


# ---- into the mesh ------------------------------------------------------------------------------
def _entered(mesh: Mesh, cells: list[Sides]) -> dict[str, Ints]:
    """Return the numbers of cells in this rank's slices; add those that are none yet (collective).

    New cells of a type follow the old ones, in the order of the cells that have them, whatever the
    number of ranks.
    """
    comm, members = mesh.comm, {}
    for kind in dict.fromkeys(s.kind for s in cells):
        parts = [s for s in cells if s.kind == kind]
        if not comm.allreduce(sum(len(s.order) for s in parts)):
            continue
        numbers = [_side_points(mesh, s) for s in parts]
        count = mesh.cells[kind].size if kind in mesh.cells else 0
        fresh = [number < 0 for number in numbers]
        for number, new in zip(numbers, fresh, strict=True):
            many = np.array(comm.allgather(int(new.sum())))
            number[new] = count + many[: comm.rank].sum() + np.arange(new.sum())
            count += int(many.sum())
        nodes = np.concatenate([s.nodes[new] for s, new in zip(parts, fresh, strict=True)])
        every, new = joined(numbers, np.int64), joined(fresh, np.bool_)
        _add(mesh, kind, every[new], nodes)
        members[kind] = _home(mesh, count, every)
    return members


def _side_points(mesh: Mesh, sides: Sides) -> Ints:
    """Return the ids (k,) of those that are cells of the mesh, else -1 (collective)."""
    if not sides.of and sides.kind != "vertex":
        return sides.order.copy()
    number = np.full(len(sides.order), -1)
    if sides.kind not in mesh.cells:
        return number
    cells = mesh.cells[sides.kind]
    meeting = Meeting(mesh.comm, hashes(np.concatenate([sides.nodes, cells.connectivity])))
    here = meeting.bring(np.concatenate([number, cells.ids]))
    best = np.full(meeting.groups, -1)
    np.maximum.at(best, meeting.group, here)
    return meeting.answer(best[meeting.group])[: len(number)]


def _add(mesh: Mesh, kind: str, ids: Ints, nodes: Ints) -> None:
    """Cut the cells of a type with new ones into slices; ids of old ones stay (collective)."""
    comm = mesh.comm
    count = comm.allreduce(len(ids))
    if not count:
        return
    old = mesh.cells.get(kind, CellSlice(kind, 0, nodes[:0], 0))
    size = old.size + count
    moving = [np.concatenate([old.connectivity, nodes])]
    if old.labels is not None:
        moving.append(np.pad(old.labels, (0, len(ids))))
    starts = block_starts(size, comm.size)
    _, (rows, *labels) = sorted_blocks(comm, starts, np.concatenate([old.ids, ids]), *moving)
    own = labels[0] if labels else None
    cells = CellSlice(kind, int(starts[comm.rank]), rows, size, own)
    mesh.cells[kind] = cells.of(mesh.n_points)
    for members in mesh._members.values():
        if kind in members:
            own = members[kind]
            members[kind] = _home(mesh, size, old.ids if own is None else old.start + own)


def _home(mesh: Mesh, size: int, ids: Ints) -> Ints:
    """Return the sorted numbers in this rank's slice of some cells of a type (collective)."""
    starts = block_starts(size, mesh.comm.size)
    ids, _ = sorted_blocks(mesh.comm, starts, ids)
    return np.asarray(ids - starts[mesh.comm.rank])

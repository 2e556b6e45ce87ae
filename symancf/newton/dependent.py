# SPDX-License-Identifier: BSD-3-Clause
"""The gradients of constraints as groups of sparse rows, and which of these depend on others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints
from ..assembly.assembler import Assembler
from ..assembly.matrix import Matrix
from ..mesh.partition.components import least_connected
from ..runtime.collective import combine, lookup, shares, together
from .elimination import Elimination, rows_by_groups
from .newton import newton
from .norms import ROUND_OFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from ..assembly.configuration import Configuration
    from ..assembly.form import Form


MAX_OPERATIONS = 1e12  # operations for a group: minutes
DEPENDENCE_TOLERANCE = 1e-9  # length of a combination of rows of length 1 that counts as zero
SMALL_SHARE = 1e-6  # part of a row in a combination of length 1 that counts as none
#: Part of a row in a column of its own that keeps it apart from the others: a combination that
#: counts as zero has no more than `SMALL_SHARE` of such a row.
PRIVATE_COLUMN_SHARE = DEPENDENCE_TOLERANCE / SMALL_SHARE
MAX_TRIAL_ITERATIONS = 10  # of Gauss's and Newton's method
#: The way to the second configuration, of the body's size (of 1 for slopes): what vanishes with
#: its square is still far from `DEPENDENCE_TOLERANCE`.
TRIAL_STEP = float(np.cbrt(DEPENDENCE_TOLERANCE))


@dataclass
class JacobianRows:
    """The Jacobian Phi_q of constraints: entries, and the values Phi.

    `row` and `column` are keys of coordinates, equal on any number of ranks; multipliers come
    in the order in which their bodies, terms and entities were declared. `value` is for columns
    times the size that is natural to them. Keys of one vertex are those of one multiple of `width`.
    On the rank of the rows `column` is the local offset instead.
    """

    row: Ints
    column: Ints
    value: Array
    keys: Ints
    phi: Array
    width: int


@dataclass
class ConstraintGroup:
    """Constraints that share free coordinates: a sparse Jacobian with rows of length 1.

    `vertex`: (rows,) number of the vertex of each multiplier, ascending.
    """

    rows: Ints  # keys
    columns: Ints  # keys
    vertex: Ints
    J: csr_array
    phi: Array

    @classmethod
    def of(cls, data: JacobianRows, rows: Ints, columns: Ints) -> ConstraintGroup:
        """Take some rows out of the whole."""
        from scipy.sparse import csr_array

        # entries come by rows: those of a group are found without looking at all the others
        first, end = (np.searchsorted(data.row, rows, side=s) for s in ("left", "right"))
        count = end - first
        chosen = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        chosen = chosen[np.isin(data.column[chosen], columns)]
        r, value = np.searchsorted(rows, data.row[chosen]), data.value[chosen]
        length = np.sqrt(np.bincount(r, value * value, minlength=len(rows)))
        length[length == 0.0] = 1.0
        at = r, np.searchsorted(columns, data.column[chosen])
        J = csr_array((value / length[r], at), shape=(len(rows), len(columns)))
        phi = data.phi[np.searchsorted(data.keys, rows)]
        _, vertex = np.unique(rows // data.width, return_inverse=True)
        return cls(rows, columns, vertex, J, phi / length)

    @cached_property
    def elimination(self) -> Elimination:
        """The decomposition of the transposed Jacobian: combinations of rows are its vectors."""
        parts = rows_by_groups(self.J.T.tocsr(), self.vertex)
        return Elimination(np.bincount(self.vertex), parts, DEPENDENCE_TOLERANCE, MAX_OPERATIONS)

    def dependences(self) -> list[tuple[Ints, Array]]:
        """Return independent combinations of rows that vanish, each with its rows, of length 1."""
        vectors = self.elimination.null_vectors()
        return [(rows, values / np.linalg.norm(values)) for rows, values in vectors]

    def _shortest(self, b: Array) -> Array:
        """Return the shortest x with J x = b, where rows that depend on others agree with these."""
        x = self.J.T @ self.elimination.solve(b)
        return np.asarray(x + self.J.T @ self.elimination.solve(b - self.J @ x))

    def sideways(self) -> Array:
        """Return a random small motion of the columns that the constraints leave free."""
        v = np.random.default_rng(len(self.rows)).uniform(-1.0, 1.0, len(self.columns))
        v -= self._shortest(self.J @ v)
        return np.asarray(TRIAL_STEP * v / max(np.abs(v).max(initial=0.0), 1e-3))

    def back(self) -> Array:
        """Return the step of Gauss's and Newton's method towards Phi = 0."""
        return -self._shortest(self.phi)


class Jacobian:
    """Evaluates the constraints alone: an assembler and a matrix of their forms.

    Attributes
    ----------
    looked_at : keys of this rank's rows that rank 0 is told of; None: all.
    """

    def __init__(self, system: Configuration, forms: Sequence[Form]) -> None:
        self.system = system
        numbering = self.numbering = system.numbering
        self.assembler = Assembler(forms, numbering, system.reference, system.comm)
        self.matrix = Matrix(system.comm, numbering, forms)
        self.assembler.attach(self.matrix)
        within = np.arange(numbering.coordinates) - numbering.start[numbering.vertex_of]
        ids = system.topology.vertex_ids[numbering.vertex_of].astype(np.int64)
        self.width = max(1, numbering.widest)
        self.keys: Ints = ids * self.width + within
        self.size = system.extent
        self.scale = numbering.natural(self.size)
        multiplier = numbering.those("multiplier")
        self.offsets = np.flatnonzero(multiplier & (numbering.row >= 0))
        self.movable = (numbering.fixed_by < 0) & ~multiplier
        order = np.argsort(numbering.columns_of_free)
        self._sorted = numbering.columns_of_free[order]
        self._coordinate = numbering.free[order]
        self.looked_at: Ints | None = None

    def close(self) -> None:
        """Free PETSc's matrix."""
        self.matrix.mat.destroy()

    def here(self, state: Array) -> JacobianRows:
        """Return the rows of this rank (collective)."""
        f = np.zeros_like(state)
        with together(self.system.comm):
            self.assembler.tangent(state, f, self.matrix)
        start, columns, values = self.matrix.mat.getValuesCSR()
        rows = self.numbering.row[self.offsets]
        count = start[rows + 1] - start[rows]
        number = np.repeat(np.arange(len(rows)), count)
        place = np.arange(len(number)) - np.repeat(np.cumsum(count) - count - start[rows], count)
        column, value = columns[place].astype(np.int64), values[place]
        used = value != 0.0
        number, column, value = number[used], column[used], value[used]
        c = self._coordinate[np.searchsorted(self._sorted, column)]
        keys = self.keys[self.offsets]
        by_key, scaled = np.argsort(keys), value * self.scale[c]
        phi = f[self.offsets][by_key]
        return JacobianRows(keys[number], c, scaled, keys[by_key], phi, self.width)

    def gather(self, rows: JacobianRows) -> JacobianRows | None:
        """Return the rows of all ranks that are looked at, on rank 0 (collective)."""
        keys, entries = rows.keys, np.ones(len(rows.row), dtype=bool)
        some = np.ones(len(keys), dtype=bool)
        if self.looked_at is not None:
            some, entries = np.isin(keys, self.looked_at), np.isin(rows.row, self.looked_at)
        row, column, value = rows.row[entries], rows.column[entries], rows.value[entries]
        gathered = self.system.comm.gather(
            (row, self.keys[column], value, keys[some], rows.phi[some])
        )
        if gathered is None:
            return None
        r, k, v, all_keys, phi = (np.concatenate(part) for part in zip(*gathered, strict=True))
        order, by_key = np.lexsort((k, r)), np.argsort(all_keys)
        return JacobianRows(r[order], k[order], v[order], all_keys[by_key], phi[by_key], self.width)

    def at(self, state: Array) -> JacobianRows | None:
        """Return the rows of all ranks that are looked at, on rank 0 (collective)."""
        return self.gather(self.here(state))

    def peel(self, rows: JacobianRows, sweeps: int = 20) -> None:
        """Look no more at this rank's rows that depend on no others (collective).

        A row with a column of its own does not: what it needs of that column others do not have.
        Its removal leaves other columns to one row alone, and so on. Ties and mounts vanish
        altogether, and so what is left for rank 0 is small. After some sweeps over all entries the
        ends of long chains are gone, and rank 0 takes the rest.
        """
        comm = self.system.comm
        of = np.zeros(self.numbering.coordinates, dtype=np.int64)
        of[self._coordinate] = self._sorted
        column, starts = of[rows.column], shares(comm, self.numbering.rows)
        row = np.unique(rows.row, return_inverse=True)[1]
        count = int(row.max(initial=-1)) + 1
        squares = np.bincount(row, np.square(rows.value), minlength=count)
        strong = np.abs(rows.value) > PRIVATE_COLUMN_SHARE * np.sqrt(squares[row])
        remaining = np.ones(len(row), dtype=bool)
        for _ in range(sweeps):
            users = combine(
                comm, starts, column[remaining], np.ones(int(remaining.sum()), dtype=np.int64)
            )
            own = remaining & strong & (lookup(comm, starts, column, users) == 1)
            removed = np.zeros(count, dtype=bool)
            removed[row[own]] = True
            remaining &= ~removed[row]
            if not comm.allreduce(int(own.any())):
                break
        self.looked_at = np.unique(rows.row[remaining])

    def move(self, state: Array, step: tuple[Ints, Array] | None) -> None:
        """Add a step, known on rank 0 by keys of columns, to local vectors (collective)."""
        keys, values = self.system.comm.bcast(step)
        if len(keys):
            at = np.minimum(np.searchsorted(keys, self.keys), len(keys) - 1)
            mine = keys[at] == self.keys
            state[mine] += (values[at] * self.scale)[mine]


def structure(data: JacobianRows, other: JacobianRows) -> JacobianRows:
    """Return the entries that Phi_q has somewhere: in one configuration or a general other.

    Those of the other have the value zero.
    """
    row, column, value = [], [], []
    for part, weight in ((data, 1.0), (other, 0.0)):
        size = np.zeros(len(data.keys))
        number = np.searchsorted(data.keys, part.row)
        np.maximum.at(size, number, np.abs(part.value))
        there = np.abs(part.value) > ROUND_OFF * size[number]
        row.append(part.row[there])
        column.append(part.column[there])
        value.append(weight * part.value[there])
    pairs = np.stack([np.concatenate(row), np.concatenate(column)])
    unique, place = np.unique(pairs, axis=1, return_inverse=True)
    sums = np.zeros(unique.shape[1])
    np.add.at(sums, place.ravel(), np.concatenate(value))
    return JacobianRows(unique[0], unique[1], sums, data.keys, data.phi, data.width)


def groups_of(data: JacobianRows) -> list[ConstraintGroup]:
    """Return the groups of constraints, beyond one row, that share free coordinates."""
    keys, r = np.unique(data.row, return_inverse=True)
    columns, c = np.unique(data.column, return_inverse=True)
    first = np.full(len(columns), len(keys))  # row of each column
    np.minimum.at(first, c, r)
    every = np.array([0, len(keys)])
    group = least_connected(MPI.COMM_SELF, every, np.stack([r, first[c]], axis=1))
    groups = []
    by_group, of_entry = np.argsort(group, kind="stable"), np.argsort(group[r], kind="stable")
    numbers, size = np.unique(group, return_counts=True)
    parts: list[Ints] = np.split(keys[by_group], np.cumsum(size)[:-1])
    ends: Ints = np.atleast_1d(np.searchsorted(group[r][of_entry], numbers, side="right"))
    used: list[Ints] = np.split(columns[c[of_entry]], ends[:-1])
    for members, mine in zip(parts, used, strict=True):
        if len(members) > 1:
            groups.append(ConstraintGroup.of(data, members, np.unique(mine)))
    return groups


def fulfil(
    jacobian: Jacobian, state: Array, groups: list[ConstraintGroup]
) -> tuple[list[ConstraintGroup], float]:
    """Move a state to where the constraints of some groups hold best (collective).

    Returns the groups there, on rank 0, and the last step of Gauss's and Newton's method.
    """
    fulfilment = _Fulfilment(jacobian, state, groups)
    newton(fulfilment, MAX_TRIAL_ITERATIONS)
    fulfilment.look()
    return fulfilment.groups, fulfilment.moved


class _Fulfilment:
    """Gauss's and Newton's method for groups on rank 0, by the shortest steps.

    Constraints that contradict each other leave a residual, so that the method ends by its step:
    a change that counts as none (`ROUND_OFF`).
    """

    def __init__(self, jacobian: Jacobian, state: Array, groups: list[ConstraintGroup]) -> None:
        self.jacobian, self.state, self.groups = jacobian, state, groups
        self.moved = np.inf

    def look(self) -> bool:
        """Take the groups of the present state; tell whether this is rank 0."""
        data = self.jacobian.at(self.state)
        if data is not None:
            self.groups = [ConstraintGroup.of(data, g.rows, g.columns) for g in self.groups]
        return data is not None

    def residual(self) -> bool:
        """Tell that gaps are finite, which `linearize` measures."""
        return True

    def reason(self, iteration: int) -> int:
        """End where the last step changed nothing."""
        return int(self.moved < ROUND_OFF)

    def linearize(self) -> None:
        """Take the groups of the present state."""
        self._root = self.look()

    def solve(self) -> bool:
        """Find the step of least squares."""
        self._steps = [g.back() for g in self.groups]
        return True

    def move(self) -> int:
        """Move the state."""
        self.jacobian.move(self.state, joined(self.groups, self._steps) if self._root else None)
        moved = max([float(np.abs(s).max(initial=0.0)) for s in self._steps], default=0.0)
        self.moved = self.jacobian.system.comm.bcast(moved)
        return 0


def joined(groups: list[ConstraintGroup], steps: list[Array]) -> tuple[Ints, Array]:
    """Return the keys of the columns of all groups in order, and their steps."""
    keys = np.concatenate([np.zeros(0, dtype=np.int64), *(g.columns for g in groups)])
    order = np.argsort(keys)
    return keys[order], np.concatenate([np.zeros(0), *steps])[order]


def constraint_names(
    jacobian: Jacobian, forms: Sequence[Form], keys: Ints
) -> tuple[list[str], str]:
    """Return the names of constraints and where they are, in words (collective)."""
    system, numbering = jacobian.system, jacobian.numbering
    at = jacobian.offsets[np.isin(jacobian.keys[jacobian.offsets], keys)]
    wanted = np.zeros(numbering.vertices, dtype=bool)
    wanted[numbering.vertex_of[at]] = True
    position = numbering.offset[:, numbering.block("position")]
    places: dict[tuple[int, int], tuple[float, ...]] = {}  # of many places the least
    for number, form in enumerate(forms):
        start, flat = form.vertex_start, np.asarray(form.vertices).ravel()
        entity = np.repeat(np.arange(len(start) - 1), np.diff(start))
        for e, vertex in zip(entity[wanted[flat]], flat[wanted[flat]], strict=True):
            vertices = flat[start[e] : start[e + 1]]
            placed = vertices[position[vertices] >= 0]
            X = system.reference[position[placed[:1], None] + np.arange(3)]
            place = tuple(np.round(X.ravel(), 9).tolist())
            key = number, int(system.topology.vertex_ids[vertex])
            places[key] = min(places.get(key, place), place)
    everywhere = [item for part in system.comm.allgather(places) for item in part.items()]
    numbers = sorted({number for (number, _), _ in everywhere})
    where = dict(sorted(everywhere, reverse=True))  # the least stays
    points = sorted({place for place in where.values() if place})
    names = [forms[n].name for n in numbers]
    if not points:
        return names, ""
    x = points[0]
    more = f" and {len(points) - 1} more places" if len(points) > 1 else ""
    return names, f" (near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}){more})"

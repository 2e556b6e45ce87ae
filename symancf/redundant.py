# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that others imply: found, named, and taken out of the unknowns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from .assembly import Plan
from .collective import share_error, together
from .errors import ConstraintError, ParameterError
from .matrix import Matrix

if TYPE_CHECKING:
    from .system import System

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LARGEST = 3000  # equations of a group; beyond, its dense analysis takes too long
DEPENDENT = 1e-9  # length of a combination of rows of length 1 that counts as zero
PRIVATE = 1e-2  # part of a row in a column of its own that keeps it apart from the others
STEP = 1e-3  # of the body's size (of 1 for slopes): the way to the second configuration
WRONG = 1e-7  # of the body's size: a combination of constraints that is not fulfilled
VIOLATED = 1e-4  # of the largest body's size: an equation left out that no longer holds


@dataclass
class _Rows:
    """The Jacobian Phi_q of all constraints, on rank 0: entries, and the values Phi.

    `row` and `column` are keys of coordinates, equal on any number of ranks; multipliers come
    in the order in which their bodies, terms and entities were declared. `value` is for columns
    times the size that is natural to them.
    """

    row: Ints
    column: Ints
    value: Array
    keys: Ints
    phi: Array


@dataclass
class _Group:
    """Constraints that share free coordinates: a dense Jacobian with rows of length 1."""

    rows: Ints  # keys
    columns: Ints  # keys
    J: Array
    phi: Array

    @classmethod
    def of(cls, data: _Rows, rows: Ints, columns: Ints) -> _Group:
        """Take some rows out of the whole."""
        chosen = np.flatnonzero(np.isin(data.row, rows) & np.isin(data.column, columns))
        J = np.zeros((len(rows), len(columns)))
        at = np.searchsorted(rows, data.row[chosen]), np.searchsorted(columns, data.column[chosen])
        np.add.at(J, at, data.value[chosen])
        length = np.linalg.norm(J, axis=1)
        length[length == 0.0] = 1.0
        return cls(rows, columns, J / length[:, None], data.phi[np.isin(data.keys, rows)] / length)

    def dependences(self) -> Array:
        """Return an orthonormal basis (rows, k) of the combinations of rows that vanish."""
        G = self.J @ self.J.T
        try:
            np.linalg.cholesky(G - 1e-10 * np.eye(len(G)))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(G)
            vectors = vectors[:, values < 1e-8]
            U, length, _ = np.linalg.svd(vectors.T @ self.J, full_matrices=True)
            length = np.append(length, np.zeros(len(U) - len(length)))
            return np.asarray(vectors @ U[:, length < DEPENDENT])
        return np.zeros((len(G), 0))

    def sideways(self) -> Array:
        """Return a random small motion of the columns that the constraints leave free."""
        v = np.random.default_rng(len(self.rows)).uniform(-1.0, 1.0, len(self.columns))
        v -= np.linalg.lstsq(self.J, self.J @ v, rcond=DEPENDENT)[0]
        return np.asarray(STEP * v / max(np.abs(v).max(initial=0.0), 1e-3))

    def back(self) -> Array:
        """Return the step of Gauss's and Newton's method towards Phi = 0."""
        return np.asarray(-np.linalg.lstsq(self.J, self.phi, rcond=DEPENDENT)[0])


class _Jacobian:
    """Evaluates the constraints alone: a plan and a matrix of their pieces."""

    def __init__(self, system: System, pieces: Sequence[Any]) -> None:
        self.system = system
        numbering = self.numbering = system.numbering
        self.plan = Plan(pieces, numbering, system.reference, system.comm)
        self.matrix = Matrix(system.comm, numbering, pieces)
        self.plan.attach(self.matrix)
        within = np.arange(numbering.coordinates) - numbering.start[numbering.vertex_of]
        ids = system.topology.vertex_ids[numbering.vertex_of].astype(np.int64)
        self.keys: Ints = ids * max(1, numbering.widest) + within
        self.size = max(body.extent for body in system.bodies)
        self.scale = np.ones(numbering.coordinates)
        multiplier = np.zeros(numbering.coordinates, dtype=bool)
        for number, block in enumerate(numbering.blocks):
            start = numbering.offset[:, number]
            at = start[start >= 0][:, None] + np.arange(block.size)
            if block.order == "lambda":
                multiplier[at] = True
            elif "position" in block.name or "point" in block.name:
                self.scale[at] = self.size
        self.offsets = np.flatnonzero(multiplier & (numbering.row >= 0))
        self.movable = (numbering.fixed_by < 0) & ~multiplier
        order = np.argsort(numbering.columns_of_free)
        self._sorted = numbering.columns_of_free[order]
        self._coordinate = numbering.free[order]

    def close(self) -> None:
        """Free PETSc's matrix."""
        self.matrix.mat.destroy()

    def at(self, state: Array) -> _Rows | None:
        """Return the rows of all ranks, on rank 0 (collective)."""
        f = np.zeros_like(state)
        with together(self.system.comm):
            self.plan.tangent(state, f, self.matrix)
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
        mine = (keys[number], self.keys[c], value * self.scale[c], keys, f[self.offsets])
        gathered = self.system.comm.gather(mine)
        if gathered is None:
            return None
        r, k, v, all_keys, phi = (np.concatenate(part) for part in zip(*gathered, strict=True))
        order, by_key = np.lexsort((k, r)), np.argsort(all_keys)
        return _Rows(r[order], k[order], v[order], all_keys[by_key], phi[by_key])

    def move(self, state: Array, step: tuple[Ints, Array] | None) -> None:
        """Add a step, known on rank 0 by keys of columns, to local vectors (collective)."""
        keys, values = self.system.comm.bcast(step)
        if len(keys):
            at = np.minimum(np.searchsorted(keys, self.keys), len(keys) - 1)
            mine = keys[at] == self.keys
            state[mine] += (values[at] * self.scale)[mine]


def _structure(data: _Rows, other: _Rows) -> _Rows:
    """Return the entries that Phi_q has somewhere: in one configuration or a general other.

    Those of the other have the value zero.
    """
    row, column, value = [], [], []
    for part, weight in ((data, 1.0), (other, 0.0)):
        size = np.zeros(len(data.keys))
        number = np.searchsorted(data.keys, part.row)
        np.maximum.at(size, number, np.abs(part.value))
        there = np.abs(part.value) > 1e-12 * size[number]  # else: round-off
        row.append(part.row[there])
        column.append(part.column[there])
        value.append(weight * part.value[there])
    pairs = np.stack([np.concatenate(row), np.concatenate(column)])
    unique, place = np.unique(pairs, axis=1, return_inverse=True)
    sums = np.zeros(unique.shape[1])
    np.add.at(sums, place.ravel(), np.concatenate(value))
    return _Rows(unique[0], unique[1], sums, data.keys, data.phi)


def _peel(data: _Rows) -> npt.NDArray[np.bool_]:
    """Return which entries remain when rows with a column of their own are taken away.

    Such a row depends on no others: what it needs of its own column they do not have. Its
    removal leaves other columns to one row alone, and so on. Ties and mounts vanish altogether.
    """
    left = np.ones(len(data.row), dtype=bool)
    if not len(left):
        return left
    _, row = np.unique(data.row, return_inverse=True)
    _, column = np.unique(data.column, return_inverse=True)
    squares = np.bincount(row, np.square(data.value))
    strong = np.abs(data.value) > PRIVATE * np.sqrt(squares[row])
    while left.any():
        own = left & strong & (np.bincount(column[left], minlength=column.max() + 1)[column] == 1)
        if not own.any():
            break
        gone = np.zeros(row.max() + 1, dtype=bool)
        gone[row[own]] = True
        left &= ~gone[row]
    return left


def _groups(data: _Rows) -> list[_Group]:
    """Return the groups of constraints, beyond one row, that share free coordinates."""
    left = _peel(data)
    row, column = data.row[left], data.column[left]
    keys, r = np.unique(row, return_inverse=True)
    columns, c = np.unique(column, return_inverse=True)
    group = np.arange(len(keys))
    while len(keys):
        lowest = np.full(len(columns), len(keys))
        np.minimum.at(lowest, c, group[r])
        fresh = group.copy()
        np.minimum.at(fresh, r, lowest[c])
        fresh = fresh[fresh]
        if (fresh == group).all():
            break
        group = fresh
    found = []
    for number in np.unique(group):
        members = keys[group == number]
        if 1 < len(members) <= LARGEST:
            found.append(_Group.of(data, members, columns[np.unique(c[group[r] == number])]))
    return found


def _implied(basis: Array) -> list[int]:
    """Choose as many rows as there are dependences, the last ones that the others imply."""
    chosen: list[int] = []
    left = basis.copy()
    for row in range(len(left) - 1, -1, -1):
        length = np.linalg.norm(left[row])
        if len(chosen) < basis.shape[1] and length > 1e-6:
            unit = left[row] / length
            left -= np.outer(left @ unit, unit)
            chosen.append(row)
    return chosen


def find_redundant(system: System) -> Ints:
    r"""Return local offsets of multipliers whose equations others imply; warn of them.

    Rows of Phi_q over the free coordinates that depend on others: those without a column of
    their own are grouped by common coordinates, and for each group the combinations n with
    n^T Phi_q = 0 follow from the eigenvectors of Phi_q Phi_q^T (rows of length 1). A dependence
    must persist in a second configuration, reached by a small motion that the constraints allow:
    at a dead point rows depend on each other for a moment only. As many equations as there are
    dependences are left out, the last declared ones. Groups of more than `LARGEST` equations
    are left as they are: their dense analysis would take minutes; a solution that fails says so.
    Collective, at the state and time of the system.

    Raises
    ------
    ConstraintError : on every rank; constraints contradict each other: n^T Phi does not vanish
        where Phi is least.
    """
    pieces = [piece for piece in system.pieces if piece.role == "constraint"]
    none = np.zeros(0, dtype=np.int64)
    if not pieces:
        return none
    jacobian = _Jacobian(system, pieces)
    try:
        with together(system.comm):
            jacobian.plan.update(system.time)
        dropped, used, wrong = _search(jacobian)
    except ParameterError:
        return none  # a value is missing or wrong: whoever prescribes values will say so
    finally:
        jacobian.close()
    if len(wrong):
        names, place = _named(jacobian, pieces, wrong)
        text = f"the constraints {' and '.join(map(repr, names))} contradict each other{place}"
        share_error(system.comm, ConstraintError(text))
    if not len(dropped):
        return none
    names, place = _named(jacobian, pieces, dropped)
    others = [n for n in _named(jacobian, pieces, used)[0] if n not in names]
    if system.comm.rank == 0:
        of = " and ".join(map(repr, names))
        one = len(dropped) == 1
        why = f"{'follows' if one else 'follow'} from those of {' and '.join(map(repr, others))}"
        warnings.warn(
            f"redundant constraints: {len(dropped)} {'equation' if one else 'equations'} of "
            f"{of}{place} {why if others else 'repeat others of it'}; left out, the multipliers "
            "are zero",
            stacklevel=4,
        )
    at = jacobian.offsets
    return np.asarray(at[np.isin(jacobian.keys[at], dropped)])


def require_redundant(system: System) -> None:
    """Raise where equations that were left out as redundant no longer hold (collective).

    Raises
    ------
    ConstraintError : they followed from the others only where the system was made.
    """
    if not system.comm.allreduce(len(system.redundant)):
        return
    f = system.residual_at(system.state)
    wrong = float(np.abs(f[system.redundant]).max(initial=0.0)) / system.stiffness
    wrong = system.comm.allreduce(wrong, op=MPI.MAX)
    if wrong > VIOLATED * max(body.extent for body in system.bodies):
        numbering, violated = system.numbering, set[str]()
        bad = system.redundant[np.abs(f[system.redundant]) > 0.1 * wrong * system.stiffness]
        for number, block in enumerate(numbering.blocks):
            start = numbering.offset[:, number]
            at = (start[start >= 0][:, None] + np.arange(block.size)).ravel()
            violated |= {block.name.removeprefix("lambda:")} if np.isin(at, bad).any() else set()
        names = sorted(set().union(*system.comm.allgather(violated)))
        raise ConstraintError(
            f"equations of {' and '.join(map(repr, names))} that were left out as redundant "
            f"are violated by {wrong:.3g} at time {system.time:g}: they follow from the "
            "others only at special positions, or contradict them now"
        )


def _search(jacobian: _Jacobian) -> tuple[Ints, Ints, Ints]:
    """Return keys of rows that others imply, of all rows of their groups, of contradictions."""
    comm = jacobian.system.comm
    state = jacobian.system.state.copy()
    data = jacobian.at(state)
    elsewhere = STEP * jacobian.scale * jacobian.numbering.random(5)
    other = jacobian.at(state + np.where(jacobian.movable, elsewhere, 0.0))
    groups: list[_Group] = []
    if data is not None and other is not None:
        groups = [g for g in _groups(_structure(data, other)) if g.dependences().shape[1]]
    none = np.zeros(0, dtype=np.int64)
    if not comm.bcast(len(groups)):
        return none, none, none
    root = data is not None
    jacobian.move(state, _joined(groups, [g.sideways() for g in groups]) if root else None)
    moved = 0.0
    for _ in range(10):
        data = jacobian.at(state)
        if data is not None:
            groups = [_Group.of(data, g.rows, g.columns) for g in groups]
        steps = [g.back() for g in groups]
        jacobian.move(state, _joined(groups, steps) if root else None)
        moved = max([float(np.abs(s).max(initial=0.0)) for s in steps], default=0.0)
        if comm.bcast(moved) < 1e-13:
            break
    data = jacobian.at(state)
    dropped, used, wrong = [none], [none], [none]
    if data is not None:
        for group in [_Group.of(data, g.rows, g.columns) for g in groups]:
            basis = group.dependences()
            if not basis.shape[1]:
                continue
            dropped.append(group.rows[_implied(basis)])
            involved = np.linalg.norm(basis, axis=1) > 1e-6
            used.append(group.rows[involved])
            if moved < 1e-8 and np.abs(basis.T @ group.phi).max() > WRONG * jacobian.size:
                wrong.append(group.rows[involved])
    found: tuple[Ints, Ints, Ints] = (
        np.sort(np.concatenate(dropped)),
        np.sort(np.concatenate(used)),
        np.sort(np.concatenate(wrong)),
    )
    found = comm.bcast(found)
    return found


def _joined(groups: list[_Group], steps: list[Array]) -> tuple[Ints, Array]:
    """Return the keys of the columns of all groups in order, and their steps."""
    keys = np.concatenate([g.columns for g in groups])
    order = np.argsort(keys)
    return keys[order], np.concatenate(steps)[order]


def _named(jacobian: _Jacobian, pieces: Sequence[Any], keys: Ints) -> tuple[list[str], str]:
    """Return the names of constraints and where they are, in words (collective)."""
    system, numbering = jacobian.system, jacobian.numbering
    at = jacobian.offsets[np.isin(jacobian.keys[jacobian.offsets], keys)]
    wanted = np.zeros(numbering.vertices, dtype=bool)
    wanted[numbering.vertex_of[at]] = True
    position = numbering.offset[:, numbering.block("position")]
    found: dict[tuple[int, int], tuple[float, ...]] = {}  # of many places the least
    for number, piece in enumerate(pieces):
        start, flat = piece.vertex_start, np.asarray(piece.vertices).ravel()
        entity = np.repeat(np.arange(piece.size), np.diff(start))
        for e, vertex in zip(entity[wanted[flat]], flat[wanted[flat]], strict=True):
            vertices = flat[start[e] : start[e + 1]]
            placed = vertices[position[vertices] >= 0]
            X = system.reference[position[placed[:1], None] + np.arange(3)]
            place = tuple(np.round(X.ravel(), 9).tolist())
            key = number, int(system.topology.vertex_ids[vertex])
            found[key] = min(found.get(key, place), place)
    everywhere = [item for part in system.comm.allgather(found) for item in part.items()]
    numbers = sorted({number for (number, _), _ in everywhere})
    where = dict(sorted(everywhere, reverse=True))  # the least stays
    points = sorted({place for place in where.values() if place})
    names = [pieces[n].name for n in numbers]
    if not points:
        return names, ""
    x = points[0]
    more = f" and {len(points) - 1} more places" if len(points) > 1 else ""
    return names, f" (near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}){more})"

# SPDX-License-Identifier: BSD-3-Clause
"""Norms of rows, kind by kind in every connected part, and what round-off leaves of them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.numbering import words_of
from .parts import NONE, ConnectedParts, connected_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..assembly.configuration import Configuration
    from ..assembly.form import Form
    from ..assembly.numbering import Block, RowKind


Labels = npt.NDArray[np.integer[Any]]

DOUBLE = np.finfo(float)
EPS = float(DOUBLE.eps)
ROUND_OFF = 1e-13  # of what a number is the sum of: a smaller one is round-off
TINY = math.sqrt(DOUBLE.tiny)  # less than any limit; what is divided by it stays a number
#: Sums of squares with all their digits; what is beyond is measured in other units.
SAFE_SQUARES = float(DOUBLE.tiny) / EPS, float(DOUBLE.max) * EPS
#: unknowns up to which round-off is estimated several times: rows may happen to cancel
SMALL_SYSTEM = 2000
STRAIN_CHANGES = 1.0, -2.0, 3.0  # changes of strains in units of the last place of one
#: of the forces of such a strain: laws of strains that are differences leave less
EXACT_LAW_RATIO = 1e-10


def _labels(values: Ints, count: int) -> Labels:
    """Return labels below `count` in as few bytes as they need: in none where all are 0."""
    if count <= 1:
        return np.broadcast_to(np.uint8(0), values.shape)
    return np.asarray(values, dtype=np.min_scalar_type(count - 1))


class RowNorms:
    """The Euclidean norm of each *class* of rows: one kind of row in one connected part.

    Forces, slope forces and constraints have different units, and parts that nothing joins have
    nothing to do with each other, whatever their forces: so no norm mixes two of them. Arrays by
    class are the same on all ranks.

    Attributes
    ----------
    parts : number of connected parts.
    kinds : of rows, by number.
    kind, part : (classes,) of each class.
    of_row : (rows,) class of each row of this rank.
    class_of_prescribed : class of each of the fixed coordinates `prescribed` that this rank owns
        and whose support forces are those of one part.
    row_part : (rows,) part of each row.
    signs : (tries, coordinates) changes of 0.5 to 1.5 in units of the last place, of random signs.
    """

    def __init__(self, system: Configuration, forms: Sequence[Form]) -> None:
        self.system = system
        self.parts: int
        self.count: int
        self.kinds: list[RowKind]
        self.part: Ints
        self.kind: Ints
        numbering = self.numbering = system.numbering
        connected: ConnectedParts = connected_parts(numbering, forms)
        self.parts = connected.count
        self.kinds, kind_of_row = numbering.kind_of_rows()
        kinds = len(self.kinds)
        rows = numbering.coordinate_of_row
        self.of_vertex = connected.of_vertex
        part = connected.of_vertex[numbering.vertex_of[rows]]
        self.row_part = _labels(part, self.parts)
        codes = part * kinds + kind_of_row.astype(np.int64)
        mine = np.unique(codes)
        every = np.unique(np.concatenate(numbering.comm.allgather(mine)))
        self.part, self.kind = every // kinds, every % kinds
        self.count = len(every)
        self.of_row = _labels(np.searchsorted(every, codes), self.count)
        self._names = [words_of(self.kinds[k].name) for k in self.kind]
        self._present = [words_of(self.kinds[k].name) for k in sorted({int(k) for k in self.kind})]
        self.prescribed, self.class_of_prescribed = self._prescribed(connected.of_vertex, every)
        self._starts = np.flatnonzero(np.diff(self.part, prepend=-1))  # classes are sorted by part
        tries = [numbering.random(3 + k) for k in range(4 if numbering.size < SMALL_SYSTEM else 1)]
        self.signs = np.array([0.5 * np.sign(signs) + signs for signs in tries], dtype=np.float32)

    def _prescribed(self, of_vertex: Ints32, every: Ints) -> tuple[Ints, Ints]:
        """Return this rank's fixed coordinates with support forces of one part, and their class."""
        numbering = self.numbering
        _, kind = numbering.kind_of_coordinates()
        owned = numbering.vertex_of < numbering.owned_vertices
        part = of_vertex[numbering.vertex_of]
        fixed = np.flatnonzero(owned & (numbering.fixed_by >= 0) & (part != NONE))
        codes = part[fixed] * len(self.kinds) + kind[fixed]
        place = np.minimum(np.searchsorted(every, codes), max(0, len(every) - 1))
        there = every[place] == codes if len(every) else np.zeros(len(codes), dtype=bool)
        return fixed[there], place[there]

    # ---- norms ----------------------------------------------------------------------------------
    def of(self, *vectors: Array, prescribed: Array | None = None) -> list[Array]:
        """Return the norms by class of vectors of this rank's rows, in one message (collective).

        `prescribed`: a local vector whose fixed coordinates are measured, as the last result.
        """
        count = self.count
        total = np.empty((len(vectors) + (prescribed is not None), count))
        for k, values in enumerate(vectors):
            if count == 1:
                total[k] = values @ values
            else:
                total[k] = np.bincount(self.of_row, values * values, minlength=count)
        if prescribed is not None:
            forces = prescribed[self.prescribed]
            total[-1] = np.bincount(self.class_of_prescribed, forces * forces, minlength=count)
        total = self.system.sum(total)
        norms = list(np.sqrt(total))
        alone = self.numbering.comm.size == 1
        for k, size in enumerate(total.sum(axis=1)):
            if not SAFE_SQUARES[0] < size < SAFE_SQUARES[1]:
                mine = k < len(vectors)
                values = vectors[k] if mine else forces
                if not (alone and size == 0.0 and not values.any()):
                    label = self.of_row if mine else self.class_of_prescribed
                    norms[k] = self._safely(values, label)
        return norms

    def _safely(self, values: Array, label: Labels | Ints) -> Array:
        """Return norms whose squares might be beyond the range of numbers (collective)."""
        size, part, one = np.zeros(self.count), np.abs(values), self.count == 1
        with np.errstate(invalid="ignore"):
            np.maximum.at(size, label, part)
        size = self.largest(size)
        unit = np.where((size > 0.0) & np.isfinite(size), size, 1.0)
        part /= unit[0] if one else unit[label]  # in place: no more room than this
        part *= part
        squares = part.sum(keepdims=True) if one else np.bincount(label, part, self.count)
        norms: Array = unit * np.sqrt(self.system.sum(squares.astype(float)))
        return norms

    def largest(self, values: Array) -> Array:
        """Return the largest values of all ranks (collective)."""
        comm = self.numbering.comm
        if comm.size > 1:
            values = np.ascontiguousarray(values).copy()
            comm.Allreduce(MPI.IN_PLACE, values, op=MPI.MAX)
        return values

    def by_kind(self, norms: Array) -> dict[str, float]:
        """Return norms by class as norms by kind, of all parts together, for people."""
        values = norms.tolist()  # few: NumPy would take longer
        unit = max(values, default=0.0) or 1.0
        squares = dict.fromkeys(self._present, 0.0)
        for name, value in zip(self._names, values, strict=True):
            squares[name] += (value / unit) ** 2
        return {name: unit * math.sqrt(square) for name, square in squares.items()}

    def classes(self, chosen: Callable[[Block], bool]) -> Mask:
        """Return which classes are of blocks that a function chooses."""
        these = np.array([chosen(kind.block) for kind in self.kinds], dtype=bool)
        return np.asarray(these[self.kind])

    def worst(self, values: Array) -> Array:
        """Return the largest of values by class in each part."""
        return np.maximum.reduceat(values, self._starts) if self.count else np.zeros(0)

    def every(self, which: Mask) -> Mask:
        """Tell in which parts all classes are among some."""
        return np.logical_and.reduceat(which, self._starts) if self.count else which

    def total(self, norms: Array) -> Array:
        """Return the norm of each part, of several kinds."""
        return np.sqrt(np.add.reduceat(norms * norms, self._starts)) if self.count else np.zeros(0)

    def by_rows(self, values: Array) -> Array:
        """Return values by class as those of each row (rows,), to be read alone."""
        if self.count == 1:
            return np.broadcast_to(values[0], self.of_row.shape)
        return np.asarray(values[self.of_row])

    # ---- lengths --------------------------------------------------------------------------------
    def sizes(self) -> Array:
        """Return the size of each part: of its places, or of its bodies (collective)."""
        system, numbering = self.system, self.numbering
        low, high = np.full((self.parts, 3), np.inf), np.full((self.parts, 3), -np.inf)
        placed = np.zeros(numbering.vertices, dtype=bool)
        placed[numbering.vertex_of[numbering.those("position")]] = True
        placed &= self.of_vertex != NONE
        part = self.of_vertex[placed]
        np.minimum.at(low, part, system.points[placed])
        np.maximum.at(high, part, system.points[placed])
        box = self.largest(np.concatenate([-low, high]))
        span = box[: self.parts] + box[self.parts :]
        size: Array = np.linalg.norm(np.where(np.isfinite(span), span, 0.0), axis=1)
        for body, own in zip(system.bodies, self._parts_of_bodies, strict=True):
            size[own] = np.maximum(size[own], system.extent_of(body))
        return self.largest(size)

    @cached_property
    def _parts_of_bodies(self) -> list[Ints]:
        """The parts to which coordinates of each body belong on this rank."""
        parts = []
        for body in self.system.bodies:
            vertices = [vertices for _, vertices in self.system.binding(body).carriers(self.system)]
            own = np.unique(self.of_vertex[np.concatenate(vertices)])
            parts.append(own[own != NONE])
        return parts

    def natural(self, sizes: Array) -> Array:
        """Return the size of a large change of the coordinates of each class; see `Block`."""
        return np.array(
            [
                self.kinds[k].block.natural(float(sizes[p]))
                for k, p in zip(self.kind.tolist(), self.part.tolist(), strict=True)
            ]
        )

    # ---- round-off ------------------------------------------------------------------------------
    def response(self, size: Array, product: Callable[[Array, Array], object]) -> Array:
        """Return the norms of what a change by one unit in the last place makes (collective).

        Parameters
        ----------
        size : local vector, of the values whose last places change.
        product : writes the product of the tangent with its first argument into the second.
        """
        answer, found, change = np.zeros_like(size), [], np.empty_like(size)
        for signs in self.signs:
            np.multiply(EPS, size, out=change)
            change *= signs
            product(change, answer)
            found.append(self.numbering.to_rows(answer))
        return np.asarray(np.max(self.of(*found), axis=0))

    def noise(self, size: Array, product: Callable[[Array, Array], object]) -> Array:
        """Return a residual (rows) as round-off makes it, of random signs; see `response`."""
        signs = np.sign(self.numbering.random(23)).astype(np.int8)
        answer, change = np.zeros_like(size), EPS * size
        change *= np.sign(self.signs[0])
        product(change, answer)
        answer *= signs
        return self.numbering.to_rows(answer)

    def rounding(
        self,
        state: Array,
        residual: Callable[[Array, Array], int],
        product: Callable[[Array, Array], object],
    ) -> Array:
        """Return what evaluations of the forces of laws are off by, by rows (collective).

        They are evaluated where strains differ by few units in the last place of one, against
        what their tangent makes of that: zero where strains are differences that vanish at rest.
        Forces at rest that are smaller than such a strain makes are round-off as well.

        Parameters
        ----------
        residual : writes the forces at a state and returns the number of bad points.
        product : writes the product of the tangent at `state` with a change.
        """
        to_rows = self.numbering.to_rows
        plain, slope, moved, errors = (np.zeros_like(state) for _ in range(4))
        at = EPS * self.system.reference
        bad = residual(state, plain)
        product(at, slope)
        for k in STRAIN_CHANGES:  # in place: no more room than this
            np.multiply(EPS * k, self.system.reference, out=at)
            at += state
            bad += residual(at, moved)
            np.multiply(k, slope, out=at)
            moved -= plain
            moved -= at
            np.maximum(errors, np.abs(moved, out=moved), out=errors)
        del moved
        at.fill(0.0)
        bad += residual(at, plain)
        ok = not bad and bool(np.isfinite(errors).all() and np.isfinite(plain).all())
        if not self.numbering.comm.allreduce(int(ok), op=MPI.MIN):
            return to_rows(at)
        del at
        along = to_rows(errors)
        del errors
        rest = to_rows(plain)
        del plain
        np.abs(rest, out=rest)
        n, own, size, prescribed = self.of(along, rest, to_rows(slope), prescribed=slope)
        del slope
        size = np.maximum(size, prescribed)
        along[(n <= EXACT_LAW_RATIO * size)[self.of_row]] = 0.0
        rest[(own > size)[self.of_row]] = 0.0
        np.maximum(along, rest, out=along)
        return along

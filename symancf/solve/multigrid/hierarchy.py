# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid of the entries that a tangent has: levels, Galerkin products, cycles."""

from __future__ import annotations

import ctypes
import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Data, Ints, address, pointer
from ...assembly.half_blocks import HalfBlocks
from ...assembly.node_entries import NodeEntries
from ...runtime.collective import exchange_blocks, together
from ...runtime.petsc import printing
from . import structures
from .copies import MAX_COPIED_UNKNOWNS
from .cycle import Cycle, print_to
from .levels import LevelTransfer, coarsen, finest, structure
from .messages import Singles, handles
from .structures import part

if TYPE_CHECKING:
    from .grids import GridNodes, Grids
    from .levels import Entries
    from .pattern import Pattern

OPTIONS = "grids_"  # prefix of the options of cycles
DEGREE = 3  # of the polynomials, before and after a coarse correction
LOWEST = 0.04  # share of the largest eigenvalue where they begin to reduce errors
EIGENVALUE_MARGIN = 1.1  # times the largest eigenvalue that was found
STEPS = 8  # of Lanczos' method
DENSE = 400  # unknowns of the last level, about
_CHUNK = 100_000  # nodes whose numbers are made at once
ROUND = 1e-6  # added to the scaled diagonal of the last level, where functions may depend on others


class _Rest:
    """Entries of the finest level beside those of a half, and the structures of them.

    Parameters
    ----------
    pattern : of all entries of that level.
    ghosts : numbers of its ghosts on all ranks.
    """

    def __init__(self, entries: NodeEntries, pattern: Pattern, ghosts: Ints) -> None:
        self.entries = entries
        off = np.searchsorted(ghosts, entries.off).astype(np.int32)
        own = entries.own_start, entries.own
        self.pattern = replace(
            pattern, own_start=own[0], own=own[1], off_start=entries.off_start, off=off
        )
        self._rounded = [np.zeros(9 * len(c) + 16, np.float32) for c in (own[1], off)]
        self.structure = structures.Rest(part(*own), part(entries.off_start, off))
        self.structure.values, self.structure.off_values = map(pointer, self._rounded)
        self.values: tuple[Array, Array] = (np.zeros(0), np.zeros(0))

    def renew(self, scale: float, diagonal: Array) -> Array:
        """Take the present entries; return the blocks on the diagonal with those of others."""
        own, off = self.entries.values
        self.values = (own, off) if scale == 1.0 else (own / scale, off / scale)
        for rounded, values in zip(self._rounded, self.values, strict=True):
            rounded[:-16] = values[: len(rounded) - 16]
        node, blocks = self.entries.on_diagonal(self.values[0])
        total = diagonal.copy()
        total[node] += blocks
        return total


class _Level:
    """Arrays of a level, and the structure that holds their addresses.

    Those of entries of the finest one may be those of a `HalfBlocks`, and `rest` is beside it.
    `blocks`: of both halves; `D`: the blocks on the diagonal of a coarse one.
    """

    def __init__(
        self,
        pattern: Pattern,
        ids: Ints,
        step: LevelTransfer | None,
        symmetric: bool,
        prescribed: Data | None,
        half: HalfBlocks | None = None,
        rest: _Rest | None = None,
        coarse: bool = True,
    ) -> None:
        self.pattern, self.step = pattern, step
        n, ghosts, own = pattern.nodes, pattern.ghosts, pattern.own
        none = np.zeros(n + ghosts + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
        P = none if step is None else (step.start, step.column, step.weight)
        self.structure = data = structure(pattern, *P, DEGREE, symmetric)
        if half is not None:
            self.values, self.off_values = half.values, half.off_values
        if pattern.upper:
            self.diagonal, stored = pattern.own_start[:-1], len(own)
        else:
            rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(pattern.own_start))
            self.diagonal = np.flatnonzero(own == rows).astype(np.int32)
            stored = int((own >= rows).sum()) if symmetric else len(own)
        if half is None:
            self.values = np.zeros(9 * stored + 16, np.float32)
            self.off_values = np.zeros(9 * len(pattern.off) + 16, np.float32)
        self.blocks = pattern.blocks
        starts = [pattern.own_start, pattern.off_start]
        if rest is not None:
            starts += [rest.pattern.own_start, rest.pattern.off_start]
            data.rest = ctypes.pointer(rest.structure)
        longest = 3 * int(max(np.diff(s).max(initial=0) for s in starts))
        data.longest = longest = (longest + 31) // 16 * 16
        self.inverse = np.zeros(9 * n, np.float32)
        self.D = np.zeros((n if coarse else 0, 3, 3))
        self.row = np.zeros(3 * longest, np.float32)
        size = 3 * (n + ghosts) + 16
        vectors = np.zeros((4, size), np.float32)
        self.x, self.b, self.d, self.r = vectors
        self.room = vectors[2:].reshape(-1).view(np.float64)[: 3 * n]
        self.ids = ids[:n]
        arrays = ("diagonal", "values", "off_values", "inverse", "row", "x", "b", "d", "r")
        for name in arrays:
            setattr(data, name, pointer(getattr(self, name)))
        self.prescribed = prescribed
        if prescribed is not None:
            data.prescribed = pointer(prescribed)
        if step is not None:
            data.coarse_shared = int(step.pattern.shared and not pattern.shared)
        self.exchange: structures.Exchange | None = None
        if pattern.messages is not None:
            self.exchange = pattern.messages.connect(self.x, self.b, n)
            data.exchange = ctypes.pointer(self.exchange)


def largest_eigenvalue(alpha: Array, beta: Array) -> float:
    """Return the largest eigenvalue that Lanczos' method finds, of the numbers of CG's steps."""
    T = np.diag(1.0 / alpha)
    T += np.diag(np.append(0.0, beta[1:] / alpha[:-1]))
    side = np.sqrt(beta[1:]) / alpha[:-1]
    T += np.diag(side, 1) + np.diag(side, -1)
    return float(np.linalg.eigvalsh(T)[-1])


def noise(ids: Ints) -> Singles:
    """Return numbers in [-1, 1], three of each node: the same on any number of ranks."""
    key = ids.astype(np.uint64)[:, None] * np.uint64(3) + np.arange(3, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    key ^= key >> np.uint64(31)
    return np.asarray(key.ravel() / np.float64(2**63) - 1.0, dtype=np.float32)


class Multigrid:
    r"""A V-cycle that preconditions a tangent, on any number of ranks.

    Coarse spaces are trilinear functions on Cartesian grids over the undeformed positions of
    nodes: with the spacing h of nodes the first grid has 2h, each further one twice that, axes
    with wider cells waiting. So :math:`P_{iJ} = N_J(X_i) I`, and rigid motions and all linear
    fields are in each space. Coarse matrices are :math:`P^T A P`, the last one is inverted.
    On each level Chebyshev's polynomial in :math:`D^{-1} A`, D the 3 x 3 blocks on the diagonal,
    smooths before and after; its largest eigenvalue is estimated by Lanczos' method.

    The cycle is in single precision and symmetric where A is.

    Parameters
    ----------
    matrix : whose entries these are, three rows of each node (collective).
    nodes : see `symancf.solve.multigrid.grids.nodes_of`.
    symmetric : whether the entries are.
    prefix : of the options of the cycle, see `Cycle`.

    Attributes
    ----------
    grids : of each coarse level.
    cycle : PETSc's.

    References
    ----------
    J. Xu, The auxiliary space method and optimal multigrid preconditioning techniques for
    unstructured grids, Computing 56 (1996) 215-235. M. Adams, M. Brezina, J. Hu, R. Tuminaro,
    Parallel multigrid smoothing: polynomial versus Gauss-Seidel, J. Comput. Phys. 188 (2003).
    """

    def __init__(
        self, matrix: Entries | HalfBlocks, nodes: GridNodes, symmetric: bool, prefix: str = OPTIONS
    ) -> None:
        self._library = structures.library(matrix.comm)
        self._half = matrix if isinstance(matrix, HalfBlocks) else None
        self._matrix, self.comm, self._symmetric = matrix, matrix.comm, symmetric
        self.revision = matrix.revision
        self._rest: _Rest | None = None
        self.levels: list[_Level] = []
        self.grids: list[Grids] = []
        self._build(nodes)
        levels = (structures.Level * len(self.levels))(*(level.structure for level in self.levels))
        self._levels = levels
        self._hierarchy = structures.Hierarchy(len(self.levels), levels, scale=1.0, unit=1.0)
        if self.comm.size > 1:
            self._messages = handles(self.comm)
            self._hierarchy.messages = ctypes.pointer(self._messages)
        rows = [3 * level.pattern.nodes for level in self.levels]
        rooms = [level.room for level in self.levels]
        self.cycle = Cycle(
            self._library, self.comm, rows, self._hierarchy, prefix, self.line, rooms
        )
        self._renewed = False

    # ---- structure ------------------------------------------------------------------------------
    def _finest(self, nodes: GridNodes) -> tuple[Pattern, Pattern, Array, Ints, Ints]:
        """Return the pattern of all entries of the finest level, that of those in its own storage.

        And X, grids and ids of nodes and ghosts (collective).
        """
        half = self._half
        rest: NodeEntries | None = None
        if half is not None and half.rest is not None:
            rest = NodeEntries(half.rest, half.nodes)
        pattern, X, grid, ids, self._ghosts = finest(self._matrix, nodes, rest)
        if rest is not None:
            self._rest = _Rest(rest, pattern, self._ghosts)
        stored = pattern if half is None else _stored(pattern, half, self._ghosts)
        return pattern, stored, X, grid, ids

    def _build(self, nodes: GridNodes) -> None:
        half = self._half
        pattern, stored, X, grid, ids = self._finest(nodes)
        prescribed = nodes.prescribed if nodes.prescribed.any() else None
        grids, first = nodes.grids, True
        while True:
            total = self._total(pattern)
            last = not first and (3 * total <= DENSE or (grids.least() and not _joins(grids)))
            if last:
                break
            if not first and grids.least():
                joined = grids.joined()
                assert joined is not None
                grid, grids = grids.part[grid], joined
            else:
                grids = grids.coarser()
            last = grids.least() and not _joins(grids)
            step = coarsen(self._library, self.comm, pattern, X, grid, ids, grids, last)
            by_halves, beside = self._symmetric or half is not None, self._rest if first else None
            own = nodes.ids if first else ids  # which are with those of ghosts
            self.levels.append(
                _Level(stored, own, step, by_halves, prescribed, half, beside, coarse=not first)
            )
            self.grids.append(step.grids)
            pattern, ids = step.pattern, step.ids
            X, grid = step.grids.points(ids)
            stored = step.halve() if self._symmetric else pattern
            prescribed, first, half = None, False, None
        self.levels.append(_Level(stored, ids, None, self._symmetric, None))
        self._coarsest(pattern, grids.part[grid])

    def _total(self, pattern: Pattern) -> int:
        """Return the number of nodes of a level (collective)."""
        if pattern.shared:
            return pattern.nodes
        return int(self.comm.allreduce(pattern.nodes))

    def _coarsest(self, pattern: Pattern, part_of: Ints) -> None:
        """Find the blocks of the last level, one of each connected part."""
        self._first = 3 * np.append(
            np.flatnonzero(np.diff(part_of, prepend=-1)), len(part_of)
        ).astype(np.int32)

    # ---- entries --------------------------------------------------------------------------------
    def renew(self, coarse: bool = True) -> None:
        """Take the present entries (collective).

        Parameters
        ----------
        coarse : make the coarse matrices, too; else they stay as they are.
        """
        coarse = coarse or not self._renewed
        entries: tuple[Array, Array] | None = None
        if isinstance(self._matrix, HalfBlocks):
            self._hierarchy.scale = self._matrix.scale
            self._take_skew(self._matrix)
            diagonal = self._matrix.diagonal
            if self._rest is not None:
                diagonal = self._rest.renew(self._matrix.scale, diagonal)
            self._library.symancf_invert_blocks(self._at(0), pointer(diagonal))
        else:
            entries = self._matrix.values
            if coarse:
                self._hierarchy.scale = self._scale_of(entries)
            scale = ctypes.c_double(self._hierarchy.scale)
            with together(self.comm):
                self._library.symancf_round_level(self._at(0), *map(pointer, entries), scale)
        for number, (level, after) in enumerate(pairwise(self.levels if coarse else ())):
            self._estimate(number, level)
            self._product(number, after, entries)
            entries = None
        if coarse:
            self._invert(self.levels[-1])
        self._renewed = True

    def _take_skew(self, half: HalfBlocks) -> None:
        """Let products of the finest level have what a half has beside its symmetric part."""
        finest, parts = self._levels[0], half.skew_parts
        own, place = 3 * half.nodes, np.searchsorted(self._ghosts, half.ghosts)
        if len(place) < len(self._ghosts):  # there are others among them
            to = np.concatenate([np.arange(own), (own + 3 * place[:, None] + np.arange(3)).ravel()])
            to = np.append(to, -1).astype(np.int32)
            parts = [(np.ascontiguousarray(to[rows]), values) for rows, values in parts]
        skew = (structures.Skew * len(parts))(
            *(structures.Skew(*rows.shape, address(rows), address(v)) for rows, v in parts)
        )
        self._skew = parts, skew  # as long as C reads them
        finest.skews, finest.skew_scale = len(parts), half.scale
        finest.skew = ctypes.cast(skew, type(finest.skew))

    def _scale_of(self, entries: tuple[Array, Array]) -> float:
        """Return a power of two near the largest entry (collective)."""
        with together(self.comm):
            own = max(float(max(v.max(initial=0.0), -v.min(initial=0.0))) for v in entries)
        largest = own if self.comm.size == 1 else self.comm.allreduce(own, MPI.MAX)
        return 2.0 ** (math.frexp(largest)[1] - 1) if 0.0 < largest < math.inf else 1.0

    def _at(self, number: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(
            ctypes.addressof(self._levels) + number * ctypes.sizeof(structures.Level)
        )

    def _product(self, number: int, after: _Level, entries: tuple[Array, Array] | None) -> None:
        """Find the entries of the level after another one (collective).

        Parameters
        ----------
        entries : of the finest level in double precision, unless `HalfBlocks` has them.
        """
        before, to = self.levels[number], after.pattern
        step, level = before.step, before.pattern
        assert step is not None
        ghost = np.zeros((len(step.ghost_columns) + 1, 9))
        for values in (after.values, after.off_values, after.D):
            values.fill(0.0)
        coarse = structures.Coarse(to.nodes, to.ghosts, int(to.upper), unit=1.0)
        coarse.own, coarse.off = part(to.own_start, to.own), part(to.off_start, to.off)
        coarse.ghost = part(step.ghost_start, step.ghost_columns)
        coarse.values, coarse.off_values = pointer(after.values), pointer(after.off_values)
        coarse.diagonal, coarse.ghost_values = pointer(after.D), pointer(ghost)
        with together(self.comm):
            failed = self._multiply_out(number, step, entries, coarse)
            if failed:
                raise MemoryError("matrices of multigrid: not enough memory")
        if to.shared and not level.shared:
            self.comm.Allreduce(MPI.IN_PLACE, after.values)
            self.comm.Allreduce(MPI.IN_PLACE, after.D)
        elif not to.shared and self.comm.size > 1:
            _, (came,) = exchange_blocks(self.comm, step.sent, ghost[:-1])
            came = np.ascontiguousarray(came)
            lists = (step.starts, step.rows, step.places, came)
            self._library.symancf_add_rows(
                len(step.rows), *map(pointer, lists), ctypes.byref(coarse)
            )
        self._library.symancf_finish_coarse(self._at(number + 1), pointer(after.D))

    def _multiply_out(
        self,
        number: int,
        step: LevelTransfer,
        entries: tuple[Array, Array] | None,
        coarse: structures.Coarse,
    ) -> bool:
        """Add the entries of a level to the next; tell whether memory is short. See `_product`."""
        level, library = self.levels[number], self._library
        from_, to_ = self._at(number), ctypes.byref(coarse)
        if entries is not None:
            coarse.unit = self._hierarchy.scale
            return bool(library.symancf_galerkin(from_, *map(pointer, entries), None, to_))
        half = self._half if number == 0 else None
        D = pointer(level.D if half is None else half.diagonal)
        if half is None and not level.pattern.upper:
            return bool(library.symancf_galerkin(from_, None, None, D, to_))
        failed = bool(library.symancf_galerkin_half(from_, D, to_))
        if failed or half is None or self._rest is None:
            return failed
        P = step.start, step.column, step.weight
        rows = ctypes.byref(structure(self._rest.pattern, *P, 0, False))
        return bool(library.symancf_galerkin(rows, *map(pointer, self._rest.values), None, to_))

    def _estimate(self, number: int, level: _Level) -> None:
        """Find the largest eigenvalue of D^-1 A on a level (collective)."""
        n, data = 3 * level.pattern.nodes, self._levels[number]
        data.of_x = data.of_b = structures.Known()
        for k in range(0, n // 3, _CHUNK):
            level.b[3 * k : min(3 * (k + _CHUNK), n)] = noise(level.ids[k : k + _CHUNK])
        steps = STEPS if self._symmetric else 2 * STEPS
        alpha, beta = np.zeros((2, steps))
        done = self._library.symancf_lanczos(
            ctypes.byref(self._hierarchy),
            number,
            int(not self._symmetric),
            steps,
            pointer(alpha),
            pointer(beta),
        )
        if done and self._symmetric:
            data.largest = EIGENVALUE_MARGIN * largest_eigenvalue(alpha[:done], beta[:done])
        elif done:
            data.largest = EIGENVALUE_MARGIN * float(alpha[done // 2 : done].max())
        if not 0.0 < data.largest < math.inf:
            data.largest = 3.0
        data.lowest = LOWEST * data.largest

    def _invert(self, level: _Level) -> None:
        """Invert the blocks of the last level."""
        inverses = []
        with together(self.comm):
            for first, end in zip(self._first[:-1] // 3, self._first[1:] // 3, strict=True):
                dense = _dense(level, int(first), int(end))
                if level.pattern.upper:
                    upper = np.triu(dense)
                    dense = upper + np.triu(upper, 1).T
                inverses.append(_inverse(dense).ravel())
        self._inverse = np.concatenate(inverses or [np.zeros(1)]).astype(np.float32)
        last = self._hierarchy.coarsest
        last.parts = len(self._first) - 1
        last.first, last.inverse = pointer(self._first), pointer(self._inverse)

    # ---- cycles ---------------------------------------------------------------------------------
    def apply(self, r: ctypes.c_void_p, z: ctypes.c_void_p) -> None:
        """Write a cycle from zero for the right-hand side r to z, by addresses (collective)."""
        self._library.symancf_measure(ctypes.byref(self._hierarchy), r)
        self.cycle.apply(r, z)

    def watch(self) -> Array:
        """Return CPU time at each level, and of it in waits [s], which grows from now on.

        An array (levels, 2). Ranks that turn in circles in waits take time there, too.
        """
        self._spent = np.zeros((len(self.levels), 2))
        for data, spent in zip(self._levels, self._spent, strict=True):
            data.spent = pointer(spent)
        return self._spent

    @property
    def counts(self) -> structures.Counts:
        """Messages and reductions of cycles and eigenvalues on this rank so far."""
        if self.comm.size == 1:
            return structures.Counts()
        return structures.Counts.from_buffer_copy(self._messages.counts.contents)

    def view(self, viewer: int) -> None:
        """Tell a viewer of PETSc's, by its address, what a cycle is made of (collective)."""
        print_to(viewer, "  coarse spaces on Cartesian grids over the nodes")
        printing.PCView(ctypes.c_void_p(self.cycle.pc.handle), ctypes.c_void_p(viewer))

    def line(self, number: int) -> str:
        """Return what a level is, the finest being 0, for people (collective)."""
        level, data = self.levels[number], self._levels[number]
        pattern = level.pattern
        unknowns, blocks = 3 * self._total(pattern), level.blocks
        if not pattern.shared and self.comm.size > 1:
            blocks = self.comm.allreduce(blocks)
        text = f"{unknowns} unknowns, {9 * blocks} entries in single precision"
        if number:
            spacing = self.grids[number - 1].spacing
            low, high = spacing.min(axis=0), spacing.max(axis=0)
            text += ", spacing " + " x ".join(
                f"{a:.3g}" if a == b else f"{a:.3g} to {b:.3g}"
                for a, b in zip(low, high, strict=True)
            )
        if pattern.shared and self.comm.size > 1:
            text += ", on every rank"
        if level.step is None:
            sizes = np.diff(self._first)
            return text + f", inverted in {len(sizes)} blocks of at most {sizes.max(initial=0)}"
        return text + (
            f", Chebyshev's polynomial of degree {data.degree} on "
            f"[{data.lowest:.3g}, {data.largest:.3g}]"
        )


def _stored(pattern: Pattern, half: HalfBlocks, ghosts: Ints) -> Pattern:
    """Return the pattern of the blocks that a half has, with the ghosts of all entries."""
    off = np.searchsorted(ghosts, half.ghosts).astype(np.int32)[half.off]
    return replace(
        pattern,
        own_start=half.start,
        own=half.column,
        off_start=half.off_start,
        off=off,
        upper=True,
    )


def _joins(grids: Grids) -> bool:
    """Tell whether a part has several grids, and too many unknowns for a block."""
    count = np.bincount(grids.part)
    return bool((count > 1).any() and 24 * count.max() > MAX_COPIED_UNKNOWNS)


def _dense(level: _Level, first: int, end: int) -> Array:
    """Return a block of a matrix; other columns, of bodies that have touched, are left out."""
    start, column = level.pattern.own_start, level.pattern.own
    block = np.zeros((end - first, 3, end - first, 3))
    for i in range(first, end):
        a, b = int(start[i]), int(start[i + 1])
        rows = level.values[9 * a : 9 * b].reshape(3, b - a, 3)
        own = (column[a:b] >= first) & (column[a:b] < end)
        block[i - first, :, column[a:b][own] - first] = rows.transpose(1, 0, 2)[own]
        block[i - first, :, i - first] = level.D[i]
    return block.reshape(3 * (end - first), -1)


def _inverse(dense: Array) -> Array:
    """Return the inverse; unknowns without entries get zeros."""
    size = np.sqrt(np.abs(dense.diagonal()))
    s = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    scaled = dense * s[:, None] * s
    scaled[np.diag_indices(len(s))] += np.where(size > 0.0, ROUND, 1.0)
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        inverse = np.linalg.pinv(scaled)
    return np.asarray(inverse * s[:, None] * s)

# SPDX-License-Identifier: BSD-3-Clause
"""L D L^T or L U on a fixed pattern, in memory that is found once."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints32, Mask, pointer
from ..runtime import jit
from ..runtime.structures import declared
from .elimination import Blocks, Front, as_set, elimination_order, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..arrays import Ints

MOST_BLOCKS = 2000  # beyond, an order takes long to find
STIFFEST = 1e4  # of a coordinate's own stiffness: what an elastic constraint may add to it
MOST_OPERATIONS = 3e7  # of a factorisation: beyond, others with larger dense blocks are faster

_HERE = Path(__file__)
_STRUCTURES = declared(_HERE.with_name("factor.h"))
_PAIR, _FRONT = _STRUCTURES["symancf_pair"], _STRUCTURES["symancf_front"]


class FixedFactor:
    r"""L D L^T of a symmetric matrix or L U of another one; see factor.c for the method.

    The values of the matrix may change, its pattern does not. Constraints of one block of
    coordinates are eliminated within it, others after all of their coordinates; elastic ones that
    rows follow, the tensions of a cord, before them, as that fills in less. Pivots are chosen once:
    where one is zero, or solutions are none, `renew` tells so, and a solver that looks for pivots
    has to take over.

    Parameters
    ----------
    start, column, value : the matrix, row by row; `renew` takes the values of then.
    constrains : which rows are constraints, with a zero diagonal.
    follows : which other rows have a zero diagonal until constraints are eliminated; None: none.
    symmetric : whether the matrix is; only its upper triangle counts then.
    hastens : whether constraints that rows follow may come before their coordinates.
    some : entries that may be other than zero, see `Blocks`; with others there are no factors.

    Attributes
    ----------
    elastic : set of blocks that do.
    suits : whether there is an order, with few enough operations.
    operations : multiplications of a factorisation.
    data : ``symancf_factor``.

    Examples
    --------
    >>> import numpy as np
    >>> start, column = np.array([0, 3, 5, 6], np.int32), np.array([0, 1, 2, 0, 1, 0], np.int32)
    >>> value = np.array([4.0, 1.0, 1.0, 1.0, 3.0, 1.0])  # the last row is a constraint
    >>> factor = FixedFactor(start, column, value, np.array([False, False, True]), True)
    >>> factor.renew()
    True
    >>> factor.solve(np.array([1.0, 2.0, 0.5])).round(12).tolist()
    [0.5, 0.5, -1.5]
    """

    def __init__(
        self,
        start: Ints32,
        column: Ints32,
        value: Array,
        constrains: Mask,
        symmetric: bool,
        follows: Mask | None = None,
        hastens: bool = True,
        some: Mask | None = None,
    ) -> None:
        self._library = jit.load_runtime(_HERE.with_name("factor.c"))
        self._start, self._column, self._value = start, column, value
        self._symmetric, self._hastens = symmetric, hastens
        self.data = _STRUCTURES["symancf_factor"]()
        self._place = ctypes.byref(self.data)
        self.data.negative = -1
        self.operations = 0.0
        self._blocks = Blocks(start, column, constrains, follows, some)
        self.elastic = 0
        self._find_tensions()
        self.suits = len(self._blocks.rows) <= MOST_BLOCKS and self._analyse()
        if self.suits:
            self.data.give(start=start, column=column, value=value, constrains=constrains)

    def renew(self) -> bool:
        """Factor the matrix of now; tell whether there are such factors."""
        return self.suits and bool(self._library.symancf_factor_renew(self._place))

    @property
    def negative(self) -> int | None:
        """The number of eigenvalues below zero of the symmetric matrix that was factored last.

        None: not known, as the matrix is not symmetric, has no factors, or these are not exact.
        """
        return int(self.data.negative) if self.suits and self.data.negative >= 0 else None

    def solve(self, b: Array) -> Array:
        """Return the solution with the last factors."""
        x = np.empty(len(b))
        self.solve_at(pointer(b), pointer(x))
        return x

    def solve_at(self, b: ctypes.c_void_p, x: ctypes.c_void_p) -> bool:
        """Write the solution to an array by its address; tell whether it is one."""
        return bool(self._library.symancf_factor_solve_closely(self._place, b, x))

    @property
    def functions(self) -> tuple[int, int]:
        """The addresses of the functions of C that factor and solve; the first argument: `data`."""
        both = self._library.symancf_factor_renew, self._library.symancf_factor_solve_closely
        renew, solve = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in both)
        return renew, solve

    @property
    def transposes(self) -> int:
        """The address of that which solves with the transposes of the last factors."""
        function = self._library.symancf_factor_solve_transposed
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    # ---- once -----------------------------------------------------------------------------------
    def _analyse(self) -> bool:
        """Find an order and memory; tell whether these suit."""
        size, own = [len(rows) for rows in self._blocks.rows], self._own_constraints()
        self._free = [size[k] - sum(size[j] for j in own[k]) for k in range(len(size))]
        if min(self._free, default=0) < 0:  # more constraints than coordinates
            return False
        others = sorted({*range(len(size))}.difference(*own))
        fronts = self._ordered([k for k in others if self._free[k]])
        sequence = [k for front in fronts for k in front.pivots]
        sequence += [k for k in others if not self._free[k]]
        self._number = {k: i for i, k in enumerate(sequence)}
        self._first = _starts([self._free[k] for k in sequence])
        if not self._give_fronts(fronts):
            return False
        self._give_blocks(sequence, own)
        return True

    def _own_constraints(self) -> list[list[int]]:
        """Return the blocks of constraints of each block of coordinates alone."""
        blocks = self._blocks
        own: list[list[int]] = [[] for _ in blocks.rows]
        for k in members(blocks.constraints):
            others, places = blocks.adjacent[k], blocks.places(k, k)
            zero = not self._value[places[places >= 0]].any()
            if zero and others.bit_count() == 1 and not others & blocks.constraints:
                own[others.bit_length() - 1].append(k)
        return own

    # ---- tensions of cords ----------------------------------------------------------------------
    def _find_tensions(self) -> None:
        """Find the constraints that followers are beside, and the entries of coordinates there."""
        blocks = self._blocks
        found = [k for k in members(blocks.constraints) if blocks.adjacent[k] & blocks.followers]
        self._tensions = [k for k in found if len(blocks.rows[k]) == 1]
        if not self._tensions:
            return
        n = len(self._start) - 1
        row = np.repeat(np.arange(n), np.diff(self._start))
        diagonal = np.full(n, -1)
        at = np.flatnonzero(self._column == row)
        diagonal[row[at]] = at
        moves = np.ones(n, dtype=bool)
        for k in members(blocks.constraints | blocks.followers):
            moves[blocks.rows[k]] = False
        own = np.array([int(blocks.rows[k][0]) for k in self._tensions])
        entries = [np.arange(self._start[r], self._start[r + 1]) for r in own]
        number = np.repeat(np.arange(len(own)), [len(e) for e in entries])
        entry = np.concatenate(entries)
        some = moves[self._column[entry]]
        self._entry, self._of_tension = entry[some], number[some]
        # at the diagonals of the tensions, and of those coordinates
        self._diagonals = diagonal[own][self._of_tension], diagonal[self._column[self._entry]]

    def _elastic(self) -> int:
        """Return the tensions whose own diagonal is a pivot.

        With the row (g, -c) it adds g^2/c to the diagonal a of a coordinate: digits are lost where
        that is much more than a.
        """
        if not self._tensions:
            return 0
        c, a = (np.where(at < 0, 0.0, np.abs(self._value[at])) for at in self._diagonals)
        g, n = np.abs(self._value[self._entry]), len(self._tensions)
        tied = np.bincount(self._of_tension, g, n) > 0.0
        stiff = np.bincount(self._of_tension, g**2 > STIFFEST * a * c, n) > 0.0
        return as_set(self._tensions[k] for k in np.flatnonzero(tied & ~stiff).tolist())

    @property
    def parts(self) -> bool:
        """Whether blocks count as not adjacent, as nothing is between them."""
        return bool(self._blocks.empty)

    @property
    def gains(self) -> bool:
        """Whether another order would be better: more tensions may come before coordinates now."""
        return bool(self._hastens and self._elastic() & ~self.elastic)

    def _ordered(self, blocks: list[int]) -> list[Front]:
        """Return the fronts of some of the blocks."""
        adjacent, position = self._blocks.adjacent, {k: i for i, k in enumerate(blocks)}
        all_of_them = as_set(blocks)
        graph = [as_set(position[j] for j in members(adjacent[k] & all_of_them)) for k in blocks]
        elastic = self.elastic = self._elastic() if self._hastens else 0
        waits, follow, leads = (
            as_set(position[k] for k in members(some & all_of_them))
            for some in (self._blocks.constraints & ~elastic, self._blocks.followers, elastic)
        )
        return [
            Front([blocks[i] for i in front.pivots], [blocks[i] for i in front.later], front.parent)
            for front in elimination_order(graph, waits, follow, leads)
        ]

    def _give_blocks(self, sequence: list[int], own: list[list[int]]) -> None:
        """Tell C of the blocks in the order of elimination, and of their own constraints."""
        rows, places, n = self._blocks.rows, self._blocks.places, len(self._start) - 1
        own_rows = [_joined([rows[j] for j in own[k]]) for k in sequence]
        zero = self._zeros(j for k in sequence for j in own[k])
        sizes = np.array([len(rows[k]) for k in sequence], np.int64)
        owned = np.array([len(rows_of) for rows_of in own_rows], np.int64)
        bases = np.where(owned, sizes**2, 0)
        right = np.zeros(bases.sum())
        largest, nonzeros = int(sizes.max(initial=0)), int(self._start[-1])
        self.data.give(
            unknowns=n,
            symmetric=self._symmetric,
            blocks=len(sequence),
            block_start=_starts(sizes),
            block_row=_joined([rows[k] for k in sequence]),
            own_start=_starts(owned),
            own_row=_joined(own_rows),
            gradient=_joined([places(j, k) for k in sequence for j in own[k]]),
            force=_joined([places(k, j).T for k in sequence for j in own[k]]),
            gradient_start=_starts(sizes * owned),
            zero=zero,
            zeros=len(zero),
            first=self._first,
            basis_start=_starts(bases),
            right=right,
            left=right if self._symmetric else np.zeros_like(right),
            nonzero_start=np.zeros(n + 1, np.int32),
            nonzero_column=np.zeros(nonzeros, np.int32),
            nonzero_place=np.zeros(nonzeros, np.int32),
            nonzeros=-1,
            nonzero=np.zeros(nonzeros),
            small=np.zeros(3 * largest**2),
            residual=np.zeros(n),
            change=np.zeros(4 * n),
        )

    def _zeros(self, own: Iterable[int]) -> Ints:
        """Return the places of what has to be zero: of own constraints, and of empty pairs."""
        pairs = [(j, j) for j in own]
        for k, j in self._blocks.empty:
            pairs += [(k, j), (j, k)]
        found = _joined([self._blocks.places(*pair) for pair in pairs])
        return found[found >= 0]

    def _give_fronts(self, fronts: list[Front]) -> bool:
        """Tell C of the fronts; tell whether their operations are few enough."""
        indices = [self._unknowns(front) for front in fronts]
        size = np.array([len(index) for index in indices], np.int64)
        pivots = np.array([sum(self._free[k] for k in front.pivots) for front in fronts], np.int64)
        rest = size - pivots
        squares = _sum_of_squares(size - 1.0) - _sum_of_squares(rest - 1.0)
        self.operations = float(squares.sum()) / (2.0 if self._symmetric else 1.0)
        if self.operations > MOST_OPERATIONS:
            return False
        children, pairs = _children(fronts), [self._pairs(front) for front in fronts]
        made = np.zeros(len(fronts), np.dtype(_FRONT))
        made["pivots"], made["size"] = pivots, size
        made["index"], made["place"] = _starts(size)[:-1], _starts(rest)[:-1]
        made["factors"] = _starts(pivots * size)[:-1]
        made["children"], made["last_child"] = _ranges(children)
        made["pairs"], made["last_pair"] = _ranges(pairs)
        self._tables = [made]
        self._give_pairs([pair for some in pairs for pair in some])
        depth = np.cumsum(rest**2 - [(rest[some] ** 2).sum() for some in children])
        largest = int(size.max(initial=0))
        widest = max((len(rows) for rows in self._blocks.rows), default=0)
        upper = np.zeros(int((pivots * size).sum()))
        self.data.give(
            fronts=len(fronts),
            front=_pointer(made, _FRONT),
            upper=upper,
            lower=upper if self._symmetric else np.zeros_like(upper),
            pivots=int(pivots.sum()),
            child=_joined([np.array(some, np.int64) for some in children]),
            index=_joined(indices),
            place=_joined(
                [
                    np.searchsorted(indices[front.parent], index[first:])
                    for front, index, first in zip(fronts, indices, pivots, strict=True)
                ]
            ),
            inverse=np.zeros(pivots.sum()),
            growth=np.zeros(pivots.sum()),
            reduced=np.zeros(pivots.sum()),
            dense=np.zeros(largest**2),
            stack=np.zeros(int(depth.max(initial=0))),
            local=np.zeros(largest + 3 * widest),
        )
        return True

    def _unknowns(self, front: Front) -> Ints:
        """Return the numbers of the unknowns of a front, in the order of elimination."""
        blocks = [*front.pivots, *front.later]
        begin = [self._first[self._number[k]] for k in blocks]
        return _joined([a + np.arange(self._free[k]) for a, k in zip(begin, blocks, strict=True)])

    def _pairs(self, front: Front) -> list[tuple[int, int, int, int]]:
        """Return the pairs of blocks with entries in a front, and where these are there."""
        blocks = [*front.pivots, *front.later]
        begin = dict(zip(blocks, _starts([self._free[k] for k in blocks]).tolist(), strict=False))
        found = []
        for i, k in enumerate(front.pivots):
            for j in blocks[i:]:
                if j == k or self._blocks.adjacent[k] >> j & 1:
                    found.append((k, j, begin[k], begin[j]))
                    if j != k and not self._symmetric:
                        found.append((j, k, begin[j], begin[k]))
        return found

    def _give_pairs(self, pairs: list[tuple[int, int, int, int]]) -> None:
        """Tell C of the pairs of all fronts, and of the places of their entries."""
        sources = [self._blocks.places(k, j) for k, j, *_ in pairs]
        made = np.zeros(len(pairs), np.dtype(_PAIR))
        given = np.array(pairs, np.int64).reshape(-1, 4)
        number = np.array([self._number.get(k, -1) for k in range(len(self._blocks.rows))])
        made["row_block"], made["column_block"] = number[given[:, :2]].T
        made["row"], made["column"] = given[:, 2:].T
        made["source"] = _starts([source.size for source in sources])[:-1]
        made["whole"] = [bool((s >= 0).all() and (np.diff(s) == 1).all()) for s in sources]
        self._tables.append(made)
        self.data.give(pair=_pointer(made, _PAIR), source=_joined(sources))


def _children(fronts: list[Front]) -> list[list[int]]:
    """Return the numbers of each front's children, the last one first."""
    children: list[list[int]] = [[] for _ in fronts]
    for k, front in enumerate(fronts):
        if front.parent >= 0:
            children[front.parent].insert(0, k)
    return children


def _starts(sizes: Sequence[int] | Ints) -> Ints:
    """Return where consecutive forms begin, and where the last one ends."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def _ranges(lists: Sequence[Sequence[object]]) -> tuple[Ints, Ints]:
    """Return where each list begins and ends in all of them, one after the other."""
    ends = _starts([len(some) for some in lists])
    return ends[:-1], ends[1:]


def _joined(forms: Sequence[Ints] | Sequence[Ints32]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *(form.ravel() for form in forms)])


def _sum_of_squares(most: Array) -> Array:
    """Return 1 + 4 + 9 + ... up to the square of each number."""
    found: Array = most * (most + 1.0) * (2.0 * most + 1.0) / 6.0
    return found


def _pointer(array: Any, to: type) -> object:
    return array.ctypes.data_as(ctypes.POINTER(to))

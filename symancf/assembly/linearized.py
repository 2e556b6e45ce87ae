# SPDX-License-Identifier: BSD-3-Clause
"""The tangent of points projected onto facets at one state: its products project no point again."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .form import Corners
    from .group import Group
    from .structures import Term

    Terms = Mapping[Group, Term]


class _PointRoom(ctypes.Structure):
    """Room for points: ``symancf_linearized``."""

    _fields_ = [
        ("n", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("place", "number", "turn", "change")),
    ]

    def __init__(self, points: int, size: int, corners: Corners) -> None:
        # pages that no point fills take no memory
        turns = np.empty((len(corners.offset), 9)), np.empty((len(corners.span_start), 3))
        self.arrays = np.empty((points, 3), dtype=np.int32), np.empty((points, size)), *turns
        super().__init__(0, *(address(array) for array in self.arrays))


class Linearized:
    """What `Assembler.linearize` keeps for `Assembler.product`.

    Of each point that acts: derivatives of its force by its jets, and the functions at its closest
    point and its anchor (linearized.h); for quadrilaterals 560 bytes, with friction 808; and how
    normals turn.
    """

    def __init__(self) -> None:
        self._storage: dict[Group, _PointRoom] = {}

    def take(self, terms: Terms, size: Callable[[object], int]) -> None:
        """Make room for all points of some terms; `size` tells how much one needs."""
        rooms = self._storage
        self._storage = {
            group: rooms.get(group)
            or _PointRoom(group.size, size(ctypes.byref(term)), group.corners)
            for group, term in terms.items()
            if term.closest_points
        }
        for room in self._storage.values():
            room.n = 0

    @contextmanager
    def visible_to_c(self, terms: Terms) -> Iterator[None]:
        """Let C see what is kept of some terms, for a while."""
        chosen = [(terms[group], room) for group, room in self._storage.items() if group in terms]
        try:
            for term, room in chosen:
                term.linearized = ctypes.addressof(room)
            yield
        finally:
            for term, _ in chosen:
                term.linearized = None

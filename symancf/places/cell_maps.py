# SPDX-License-Identifier: BSD-3-Clause
"""The maps of solid cells in C, from places to coordinates of the reference cell: crossings.c."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, Ints, Mask, pointer
from ..runtime import jit
from ..runtime.structures import declared

if TYPE_CHECKING:
    from mpi4py import MPI

    from .locate import RegionCells

SOURCE = Path(__file__).with_name("crossings.c")
DIGITS = 1e-8  # of the last step of Newton's method, which squares the error
AFFINE = 1e-12  # of the reference cell: its map is as good as linear
STRUCTURE: Any = declared(SOURCE)["CellMaps"]


class CellMaps:
    """The maps of a rank's cells of one type; made once (collective)."""

    def __init__(self, cells: RegionCells, comm: MPI.Comm) -> None:
        self._library = jit.load_runtime(SOURCE, comm)
        self._library.symancf_meeting.restype = ctypes.c_int64
        cell, n = cells.cell, len(cells.X)
        value, slope = cell.evaluate(cell.centre[None])
        low, high = cell.domain
        coefficients = [[float(c) for c in row] for row in cell.functions.coefficients]
        self._maps = STRUCTURE(
            cells=n,
            nodes=len(cell.nodes),
            corners=cell.corners,
            simplices=len(cell.factors),
            start=low,
            width=high - low,
            digits=DIGITS,
            affine=AFFINE,
        )
        self._maps.give(
            exponents=np.array(cell.functions.exponents),
            factors=np.array(cell.factors),
            coefficients=np.array(coefficients),
            value=value[0],
            slope=slope[0],
            unit=cell.unit,
            X=cells.X,
            inverse=np.empty((n, 3, 3)),
            zero=np.empty((n, 3)),
            off=np.empty(n),
        )
        box = np.stack([cells.X.min(axis=1), cells.X.max(axis=1)], axis=1)
        reach = cells.bulge + 0.01 * cells.radius
        self._boxes = box + reach[:, None, None] * np.array([-1.0, 1.0])[:, None]
        self._call("linear_maps")

    def _call(self, name: str, *arguments: Any) -> int:
        given = [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
        plain = [pointer(x) if isinstance(x, np.ndarray) else x for x in given]
        return int(getattr(self._library, f"symancf_{name}")(ctypes.byref(self._maps), *plain))

    def meeting(self, low: Array, high: Array, sag: Array, near: float) -> tuple[Ints, Ints]:
        """Return which cells and which parts of curves may meet, by cells.

        `low`, `high` : (n, 3) ends of parts; `sag` : (n,) how far they are from straight; `near` :
        of the reference cell, how far outside of a cell is still in it.

        Raises
        ------
        MemoryError
        """
        none = np.zeros(0, dtype=np.int64)
        if not len(low) or not len(self._boxes):
            return none, none
        ends, width = np.concatenate([low, high]), ctypes.c_double(near)
        box = np.array([ends.min(axis=0) - sag.max(), ends.max(axis=0) + sag.max()])
        side = ctypes.c_double(np.linalg.norm(high - low, axis=1).mean())
        room = 8 * (len(low) + len(self._boxes))
        while True:
            rows, parts = np.empty(room, np.int64), np.empty(room, np.int64)
            given = self._boxes, len(low), low, high, sag, box, side, width, room, rows, parts
            found = self._call("meeting", *given)
            if found < 0:
                raise MemoryError
            if found <= room:
                return rows[:found].copy(), parts[:found].copy()
            room = found

    def meet(self, rows: Ints, low: Array, high: Array, sag: Array, near: float) -> Mask:
        """Tell which parts (n,) may meet the cells `rows` (n,), by both ends; see `meeting`.

        If the maps of cells were those at their centres, the ends of others would both be outside
        of a face.
        """
        met = np.empty(len(rows), np.uint8)
        self._call("meet", len(rows), rows, low, high, sag, ctypes.c_double(near), met)
        return met.astype(bool)

    def moves(self, rows: Ints, xi: Array, X: Array, tangents: Array) -> tuple[Array, Array]:
        """Return how far (n, 3) xi of places X are from given ones to first order, and dxi/ds."""
        u, w = np.empty_like(xi), np.empty_like(xi)
        self._call("moves", len(rows), rows, xi, X, tangents, u, w)
        return u, w

    def invert(self, rows: Ints, X: Array) -> Array:
        """Return xi (n, 3) of places, also outside of their cells; NaN where there is none."""
        xi = np.empty((len(rows), 3))
        self._call("invert", len(rows), rows, X, xi)
        return xi

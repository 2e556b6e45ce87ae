# SPDX-License-Identifier: BSD-3-Clause
"""Stresses that C predicts along steps of Newton's method; see prediction.h."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import pointer
from ..assembly.assembler import CODE
from ..assembly.structures import LANES
from ..runtime import jit
from ..runtime.structures import declared
from .aids import Aid
from .stress_predictor import PART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array, CStructure
    from .stress_predictor import PredictedStresses

_HEADER = Path(__file__).with_name("prediction.h")
_STRUCTURES = declared(_HEADER)
_GROUP = _STRUCTURES["symancf_predicted"]
PREDICTION = _STRUCTURES["symancf_prediction"]


class StressPrediction(Aid):
    """`PredictedStresses` of slender bodies in C, whoever makes iterations.

    Parameters
    ----------
    predicted : knows where kernels tell stresses, and read corrections.

    Attributes
    ----------
    data : ``symancf_prediction``.
    """

    def __init__(self, predicted: PredictedStresses) -> None:
        self.predicted, system = predicted, predicted.system
        self._library = jit.load_runtime(_HEADER, comm=system.comm)
        self.data = PREDICTION()
        n = len(system.state)
        self._accepted: Array = np.zeros(n)
        self.data.give(
            part=PART,
            outputs=CODE["outputs"],
            evaluate=system.assembler.evaluate,
            coordinates=n,
            accepted=self._accepted,
            **{name: np.zeros(n) for name in ("place", "before", "within")},
        )
        self._place = ctypes.byref(self.data)
        self._groups = (_GROUP * 0)()
        self._views: list[CStructure] = []
        self._cells: list[Array] = []

    def forget(self) -> None:
        """Forget the last solution."""
        self.data.some = False

    def begin(self) -> None:
        """Begin a solution, from the last one."""
        self._library.symancf_begin_prediction(self._place)

    def accept(self, state: Array) -> None:
        """Take a local vector as the solution from which the next stresses are predicted."""
        self._accepted[:] = state
        self.data.some = True

    @contextmanager
    def tangent(self) -> Iterator[None]:
        """Correct the tangent at the present state."""
        self.prepare()
        self._library.symancf_correct_stresses(self._place, pointer(self.predicted.system.state))
        try:
            yield
        finally:
            self._library.symancf_correct_nothing(self._place)

    def prepare(self) -> None:
        """Take the kernels of now, whose parameters others may have arranged anew."""
        assembler, places = self.predicted.system.assembler, self.predicted.places()
        self._assembler, tables = assembler.telling("outputs", list(places))
        self.data.assembler = ctypes.addressof(self._assembler)
        firsts = [g.numbers[0] for g in assembler.groups if g.numbers[0] in places]
        cells = [g.lanes(g.numbers[0])[0] for g in assembler.groups if g.numbers[0] in places]
        if len(firsts) != len(self._groups):
            self._groups = (_GROUP * len(firsts))()
            self._views = list(self._groups)  # which keep their arrays
        if len(cells) != len(self._cells) or any(map(is_not, cells, self._cells)):
            self.data.give(known=False, known_there=False, corrects=False)
        self._cells = cells
        for made, number, cell in zip(self._views, firsts, cells, strict=True):
            table, (columns, rows) = tables[number], places[number]
            shape = len(table), len(rows), LANES
            if (made.batches, made.stresses) != shape[:2]:
                names = "here", "there", "ahead", "correction"
                made.give(**{name: np.zeros(shape) for name in names})
            made.give(
                batches=len(table),
                stresses=len(rows),
                table_rows=table.shape[1],
                cell_rows=cell.shape[1],
                row=rows,
                column=columns,
                table=table,
                cell=cell,
            )
        self.data.give(groups=len(firsts))
        self.data.group = ctypes.cast(self._groups, type(self.data.group))

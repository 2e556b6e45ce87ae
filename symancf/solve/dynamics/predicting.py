# SPDX-License-Identifier: BSD-3-Clause
"""Stresses that C predicts along steps of Newton's method; see prediction.h."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from operator import is_not
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...assembly.assembler import CODE
from ...assembly.structures import LANES
from ...newton.aids import Aid
from ...newton.stress_predictor import PART

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...arrays import Array, CStructure
    from ...assembly.discrete import DiscreteSystem
    from ...newton import PredictedStresses


class Predicts(Protocol):
    """What `Predicting` takes of `Native`."""

    problem: Any
    work: Any

    def call(self, name: str, *arguments: Any) -> int:
        """Return what a function of steps.c returns."""


class Predicting(Aid):
    """`PredictedStresses` in steps: C finds corrections of rods, whoever makes iterations.

    Parameters
    ----------
    predicted : knows where kernels tell stresses, and read corrections.
    kinds : types by names in C.

    Attributes
    ----------
    data : ``symancf_prediction``.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        predicted: PredictedStresses,
        native: Predicts,
        kinds: Mapping[str, type[CStructure]],
    ) -> None:
        self.system, self.predicted, self.native = system, predicted, native
        self._kind = kinds["symancf_predicted"]
        self.data = kinds["symancf_prediction"]()
        n, names = len(system.state), ("accepted", "place", "before", "within")
        self._vectors = {name: np.zeros(n) for name in names}
        self.data.give(part=PART, outputs=CODE["outputs"], **self._vectors)
        self._groups = (self._kind * 0)()
        self._views: list[CStructure] = []
        self._cells: list[Array] = []
        native.work.prediction = ctypes.pointer(self.data)
        native.problem.predicts = True

    def forget(self) -> None:
        """Forget the last solution."""
        self.data.some = False

    def accept(self, state: Array) -> None:
        """Take a local vector as the solution from which the next stresses are predicted."""
        self._vectors["accepted"][:] = state
        self.data.some = True

    @contextmanager
    def tangent(self) -> Iterator[None]:
        """Correct the tangent at the present state."""
        self.prepare()
        self.native.call("correct_stresses")
        try:
            yield
        finally:
            self.native.call("correct_nothing")

    def prepare(self) -> None:
        """Take the kernels of now, whose parameters others may have arranged anew."""
        assembler, places = self.system.assembler, self.predicted.places()
        self._assembler, tables = assembler.telling("outputs", list(places))
        self.data.plan = ctypes.addressof(self._assembler)
        held = [number for number in places if number in tables]
        firsts = {id(tables[number]): number for number in reversed(held)}
        if len(firsts) != len(self._groups):
            self._groups = (self._kind * len(firsts))()
            self._views = list(self._groups)  # which keep their arrays
        lanes = [assembler.lanes(assembler.forms[number]) for number in firsts.values()]
        cells = [found[0] for found in lanes if found is not None]
        if len(cells) != len(self._cells) or any(map(is_not, cells, self._cells)):
            self.data.give(known=False, known_there=False, corrects=False)
        self._cells = cells
        for k, (number, cell) in enumerate(zip(firsts.values(), cells, strict=True)):
            made, table = self._views[k], tables[number]
            columns, rows = places[number]
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

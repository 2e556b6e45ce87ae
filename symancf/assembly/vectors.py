# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's vectors of rows, and how their values reach local vectors with ghosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..runtime.petsc import PETSc

if TYPE_CHECKING:
    from .numbering import Numbering


class Vectors:
    """Exchange between PETSc's vectors (rows) and local vectors (all coordinates, ghosts too)."""

    def __init__(self, numbering: Numbering) -> None:
        self.numbering = numbering
        self._scatter: PETSc.Scatter | None = None
        self._ghosted: PETSc.Vec
        self._at: Ints  # ghosts' free coordinates
        if numbering.comm.size > 1:
            self._renew()

    def _renew(self) -> None:
        """Find where the values of ghosts' free coordinates come from (collective)."""
        numbering = self.numbering
        for old in (self._scatter, self._ghosted) if self._scatter is not None else ():
            old.destroy()
        self._revision = numbering.revision
        own = numbering.owned
        self._at = at = own + np.flatnonzero(numbering.fixed_by[own:] < 0)
        self._ghosted = PETSc.Vec().createSeq(len(at), comm=PETSc.COMM_SELF)
        numbers = numbering.first_column[numbering.vertex_of[at]] + numbering.rank_in_vertex[at]
        columns = PETSc.IS().createGeneral(numbers.astype(PETSc.IntType), comm=PETSc.COMM_SELF)
        self._scatter = PETSc.Scatter().create(self.new(), columns, self._ghosted, None)

    def new(self) -> PETSc.Vec:
        """Return a vector of zeros (collective)."""
        numbering = self.numbering
        return PETSc.Vec().createMPI((numbering.rows, numbering.size), comm=numbering.comm)

    def to_local(self, x: PETSc.Vec, local: Array) -> None:
        """Write the values of `x` to all free coordinates of a local vector (collective)."""
        if self._scatter is not None and self._revision != self.numbering.revision:
            self._renew()
        self.numbering.from_rows(x.getArray(readonly=True), local)
        if self._scatter is not None:
            self._scatter.scatter(x, self._ghosted)
            local[self._at] = self._ghosted.getArray(readonly=True)

    def to_global(self, local: Array, x: PETSc.Vec) -> None:
        """Write the owned free coordinates of a local vector to `x`."""
        x.setArray(self.numbering.to_rows(local))

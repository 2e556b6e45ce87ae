# SPDX-License-Identifier: BSD-3-Clause
"""A preconditioner of tangents with multipliers: multigrid where nodes have displacements."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, pointer
from ..bodies.pressure import PREFIX
from ..errors import SymancfError
from ..newton.followers import Followers, followers
from ..runtime.collective import shares
from .blocks import NodalBlocks
from .factors import Factors
from .multigrid import Multigrid, displaced, numbers_at, print_to
from .others import OtherUnknowns
from .schur_complement import SchurComplement

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..assembly.matrix import Matrix
    from ..runtime.petsc import PETSc
    from .multigrid import GridNodes


class Saddle:
    r"""An approximate inverse of a tangent with other unknowns than displacements of nodes.

    1. Equations of constraints that determine displacements of nodes are eliminated exactly with
       these (`SchurComplement`). What is left has displacements u of nodes, and others, g: rigid
       bodies, cables, further multipliers, pressures.
    2. The cycle of `Multigrid` stands for the inverse of :math:`R_{uu}`.
    3. For g it is that of :math:`S = R_{gg} - R_{gu} D^{-1} R_{ug}` with the diagonal D of
       :math:`R_{uu}`; of pressures it has the blocks of the vertices alone.

    Where displacements follow others, and nothing else is there, this converges as multigrid does
    without constraints. Where it does not, factors of the whole tangent may `take_over`.

    Parameters
    ----------
    matrix : whose entries these are (collective).
    nodes : those that move by displacements alone.
    symmetric : whether the entries are.
    prefix : of the options of the cycle, see `Cycle`.

    Attributes
    ----------
    revision : of the pattern of the tangent.
    """

    def __init__(
        self,
        system: Configuration,
        matrix: Matrix,
        nodes: GridNodes,
        symmetric: bool,
        prefix: str,
    ) -> None:
        numbering, self._once = system.numbering, system.once
        self.comm, self._matrix, self._nodes = matrix.comm, matrix, nodes
        self._symmetric, self.revision, self._prefix = symmetric, matrix.revision, prefix
        self._starts = shares(self.comm, numbering.rows)
        at = np.flatnonzero(displaced(numbering)[: numbering.owned_vertices])
        start = numbering.offset[at, numbering.block("position")]
        row = numbering.row[start[:, None] + np.arange(3)].ravel()
        self._place = np.full(numbering.rows, -1, dtype=np.int64)
        self._place[row[row >= 0]] = np.flatnonzero(row >= 0)
        block = numbering.block_of[numbering.coordinate_of_row]
        pressures = np.array([b.name.startswith(PREFIX) for b in numbering.blocks], dtype=bool)
        multipliers = np.array([b.kind == "multiplier" for b in numbering.blocks], dtype=bool)
        equations = (multipliers & ~pressures)[block]
        equations[numbering.prescribed_rows] = False
        self._prescribed = numbering.prescribed_rows.astype(np.int64)
        self._equations = np.flatnonzero(equations)
        vertex = numbering.vertex_of[numbering.coordinate_of_row]
        self._vertex = vertex[self._equations].astype(np.int64)
        self._pressure = np.where(pressures[block], numbering.global_vertex[vertex], -1)
        self._followers: Followers | None = None
        self._all_factors: Factors | None = None

    # ---- entries --------------------------------------------------------------------------------
    def renew(self, coarse: bool = True) -> None:
        """Take the present entries (collective); see `Multigrid.renew`."""
        if self._all_factors is not None:
            self._require(self._all_factors.make(self._matrix.mat))
            return
        rows, may = self._equations, self._place >= 0
        pairs = followers(self._matrix, self._starts, rows, self._vertex, may)
        before, self._followers = self._followers, pairs
        alike = before is not None and before.alike(pairs)
        if self.comm.allreduce(int(alike)) < self.comm.size:
            R, coarse = self._structure(pairs), True
        else:
            R = self._reduced.renew(pairs)
        self._blocks.renew(R)
        self.multigrid.renew(coarse)
        if self._others is not None and not self._others.renew(R):
            self._require(self.take_over())

    def take_over(self) -> bool:
        """Factor the whole tangent from now on (collective).

        Returns whether that is new, and possible.
        """
        if self._all_factors is not None:
            return False
        self._all_factors = Factors(self.comm, self._symmetric)
        if not self._all_factors.make(self._matrix.mat):
            self._all_factors = None
            return False
        self._r, self._z = self._matrix.mat.createVecs()
        self._once.warn(
            "factored",
            "multigrid did not solve the equations with the multipliers of this system: they are "
            "factored from now on, as -pc_type lu does at once",
        )
        return True

    @staticmethod
    def _require(factored: bool) -> None:
        if not factored:
            raise SymancfError("the tangent is singular, or there is no memory for its factors")

    def _structure(self, pairs: Followers) -> PETSc.Mat:
        """Find the patterns of what is left; return R (collective)."""
        nodes = len(self._nodes.start)
        place = self._place.copy()
        reduced = SchurComplement(
            self._matrix.mat, self._starts, pairs, place, nodes, self._prescribed
        )
        self._reduced, R = reduced, reduced.renew(pairs)
        prescribed = self._nodes.prescribed.copy()
        at = reduced.followers
        np.bitwise_or.at(prescribed, at // 3, (1 << at % 3).astype(np.uint8))
        self._blocks = NodalBlocks(self.comm, R, reduced.starts, prescribed)
        nodes_left = replace(self._nodes, prescribed=prescribed)
        self.multigrid = Multigrid(self._blocks, nodes_left, self._symmetric, self._prefix)
        self._others: OtherUnknowns | None = None
        if self.comm.allreduce(len(reduced.rest)):
            pressure = self._pressure[reduced.rest].astype(np.int64)
            self._others = OtherUnknowns(R, 3 * nodes, pressure, self._symmetric)
        return R

    # ---- cycles ---------------------------------------------------------------------------------
    def apply(self, r: ctypes.c_void_p, z: ctypes.c_void_p) -> None:
        """Write what it makes of rows r to z, by addresses (collective)."""
        rows = len(self._place)
        if self._all_factors is not None:
            self._r.setArray(numbers_at(r, rows))
            self._all_factors.solve(self._r, self._z)
            numbers_at(z, rows)[:] = self._z.getArray(readonly=True)
            return
        reduced = self._reduced
        reduced.begin(numbers_at(r, rows))
        right_side, solution = reduced.right_side.getArray(), reduced.solution.getArray()
        self._cycle(right_side, solution)
        if self._others is not None:
            self._others.complete(right_side, solution, self._cycle)
        reduced.end(numbers_at(z, rows))

    def _cycle(self, r: Array, z: Array) -> None:
        """Write a cycle for the displacements of nodes (collective)."""
        self.multigrid.apply(pointer(r), pointer(z))

    def view(self, viewer: int) -> None:
        """Tell a viewer of PETSc's, by its address, what it is made of (collective)."""
        if self._all_factors is not None:
            print_to(viewer, "  the whole tangent factored: the cycle did not lead to solutions")
            return
        assert self._followers is not None
        eliminated = self.comm.allreduce(len(self._followers.equations))
        others = self.comm.allreduce(len(self._reduced.rest))
        print_to(
            viewer,
            f"  {eliminated} equations eliminated with displacements that follow others, {others} "
            "other unknowns factored",
        )
        self.multigrid.view(viewer)

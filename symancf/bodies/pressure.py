# SPDX-License-Identifier: BSD-3-Clause
"""Pressures of a body that are unknowns of its system: at corner nodes, or of each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Ints32
from ..assembly.numbering import Block
from ..laws.mixed import AREA, SCALE, frames
from ..runtime.collective import together

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..laws.mixed import PressureField
    from ..places.interpolation import Interpolated, Patch
    from ..values.parameter import Scalar


PREFIX = "pressure:"  # of the names of blocks
#: of the pressures that follow from a state, and how many steps they take at most
PRESSURE_TOLERANCE = 1e-14
STEPS = 300


class Pressures:
    """The pressures of a body in a system.

    A value is ``scale/area`` times a coordinate of the state, where ``scale`` is that of the
    multipliers and ``area`` the square of the mean size of the cells: so its rows have the
    units of constraints of lengths.

    Parameters
    ----------
    layout : to which they are announced, before distribution.

    Attributes
    ----------
    vertices : (n, k) local vertices of those of this rank's cells.
    """

    vertices: Ints32

    def __init__(self, layout: Layout, body: Interpolated, pressure: PressureField) -> None:
        self.name, self.pressure = layout.name(body), pressure
        self.body, self._area = body, 0.0
        size = 1 if pressure.continuous else pressure.count
        self.block = Block(PREFIX + self.name, size, "multiplier")
        if pressure.continuous:
            layout.announce_block(self.block)

    def of_cells(self, layout: Layout, ids: Ints) -> Ints:
        """Return the vertices (n, 1) that carry the pressures of cells; (n, 0): nodes do.

        `ids` are those of the mesh; a part of it uses some of the vertices only. (Collective.)
        """
        if self.pressure.continuous:
            return np.zeros((len(ids), 0), dtype=np.int64)
        count = 1 + layout.comm.allreduce(int(ids.max(initial=-1)), op=MPI.MAX)
        return (layout.new_range(count, self.name, self.block) + ids)[:, None]

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's cells; return the block and the vertices that carry it."""
        on, cell = configuration.binding(self.body).interpolation, self.body.element.topology
        self.vertices = on.cells[:, : cell.corners] if self.pressure.continuous else on.own
        return [(self.block.name, np.unique(self.vertices))]

    def offsets(self, configuration: Configuration) -> Ints32:
        """Return the local offsets (n, k) of the pressures of this rank's cells."""
        numbering = configuration.numbering
        start = numbering.offset[self.vertices, numbering.block(self.block.name)]
        within = np.arange(self.block.size, dtype=np.int32)
        return np.asarray(
            (start[..., None] + within).reshape(len(start), start.shape[1] * self.block.size)
        )

    def level(self, configuration: Configuration) -> Ints32:
        """Return the offsets of those whose functions add up to 1 in each cell, (n, k)."""
        return self.offsets(configuration)[:, : None if self.pressure.continuous else 1]

    def patch(self, configuration: Configuration) -> Patch:
        """Return this rank's cells with their pressures as scalars."""
        extra = np.repeat(self.vertices, self.block.size, axis=1)
        on = configuration.binding(self.body).interpolation
        return on.patch(extra=extra, scalars=self.offsets(configuration))

    def area(self, configuration: Configuration) -> float:
        """Return the square of the mean size of all cells [m^2] (collective on first use)."""
        if not self._area:
            on, cell = configuration.binding(self.body).interpolation, self.body.element.topology
            B = frames(cell, configuration.points[on.cells[on.owned]])[:, 3:]
            volume = np.abs(1.0 / np.linalg.det(B.reshape(-1, 3, 3))).sum()
            total = configuration.sum(np.array([volume, float(len(B))]))
            self._area = float((total[0] / total[1]) ** (2.0 / 3.0))
        return self._area

    def uniform(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the scale and the area of kernels (collective on first use)."""
        return {SCALE.name: configuration.scale, AREA.name: self.area(configuration)}

    def values(self, configuration: Configuration, state: Array) -> dict[str, Array]:
        """Return the pressures [Pa] of this rank's cells, (n,) by their names in laws."""
        unit = configuration.stiffness / self.area(configuration)
        pressures = unit * state[self.offsets(configuration)]
        return dict(zip(self.pressure.names, pressures.T, strict=True))

    def settle(self, configuration: Configuration) -> None:
        """Give those of a finite modulus the values that follow from the present volume.

        The pressures of the equations -M p/kappa + int psi g dV = 0 at the present displacement, by
        conjugate gradients with the diagonal of M. (Collective.)
        """
        if self.pressure.incompressible:
            return
        numbering, assembler, state = (
            configuration.numbering,
            configuration.assembler,
            configuration.state,
        )
        every, size = np.unique(self.offsets(configuration)), self.block.size
        owned = every[numbering.vertex_of[every] < numbering.owned_vertices]
        f, along = np.zeros_like(state), np.zeros_like(state)

        def times(p: Array) -> Array:
            along[owned] = p
            numbering.update_ghosts(along, every)
            with together(configuration.comm):
                assembler.product(state, along, f)
            return np.asarray(-f[owned])

        def dot(a: Array, b: Array) -> float:
            return float(configuration.sum(np.array([a @ b]))[0])

        state[every] = 0.0
        with together(configuration.comm):
            assembler.residual(state, f)
        remainder, place = f[owned].copy(), np.arange(len(owned)) % size
        diagonal = np.zeros(len(owned))
        for k in range(size):  # of cells: their own; of nodes: sums of rows
            diagonal += np.where(place == k, times((place == k).astype(float)), 0.0)
        p, step, last = np.zeros_like(remainder), np.zeros_like(remainder), 0.0
        enough = PRESSURE_TOLERANCE**2 * dot(remainder, remainder / diagonal)
        for _ in range(STEPS):
            scaled = remainder / diagonal
            size_of = dot(remainder, scaled)
            if size_of <= enough:
                break
            step = scaled + (size_of / last if last else 0.0) * step
            answer, last = times(step), size_of
            part = size_of / dot(step, answer)
            p += part * step
            remainder -= part * answer
        state[owned] = p
        numbering.update_ghosts(state, every)

    def idle(self, configuration: Configuration) -> Ints:
        """Return the offsets of those in whose cells no node is free to move.

        Of an incompressible body; elsewhere they follow from the change of volume.
        """
        if not self.pressure.incompressible:
            return np.zeros(0, dtype=np.int64)
        on, fixed = configuration.binding(self.body).interpolation, configuration.numbering.fixed_by
        start = on.offset(on.cells, "value")
        free = (fixed[start[..., None] + np.arange(3)] < 0).any(axis=(1, 2))
        offsets = self.offsets(configuration)
        moved = np.zeros(configuration.numbering.coordinates, dtype=bool)
        moved[offsets[free]] = True
        every = np.unique(offsets)
        rows = configuration.numbering.vertex_of[every] < configuration.numbering.owned_vertices
        return every[~moved[every] & rows].astype(np.int64)

# SPDX-License-Identifier: BSD-3-Clause
"""The tangent of cells of second order without its entries, and its part on trilinear functions."""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints32, Mask
from ..cells.table import CELLS
from ..runtime.petsc import PETSc, functions
from ..runtime.petsc import own as own_mat
from .form import keeps_nodes
from .half_blocks import Bits, HalfBlocks, NodeRows, Singles, fixed_bits
from .shell import Shell
from .vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .assembler import Assembler, PointDerivatives, Product
    from .form import Form
    from .group import Group
    from .numbering import Numbering


def suits_products(forms: Sequence[Form]) -> bool:
    """Tell whether the tangent of forms is one of cells whose kernels have the mode ``coarse``."""
    own = [form for form in forms if form.kernel.has_tangent]
    return bool(own) and all(keeps_nodes(form) and form.kernel.linear for form in own)


class MatrixFree:
    r"""A symmetric tangent K of hexahedra of second order, by what kernels make of it (collective).

    Products are those of `Assembler.product`. p-multigrid takes of K the 3 x 3 blocks on the
    diagonal, and with P, the trilinear interpolation from the corners of cells to their nodes,

    .. math:: K_c = P^T K P = \sum_q w_q \, \nabla N_c^T A_q \nabla N_c

    over the points of quadrature, where A is the derivative of the stress. It is a `HalfBlocks`
    of corners, a 16th of the memory of K. A component of a corner is held in it where it is held
    at a node that the corner's function reaches: so its functions are zero where K has no rows.

    Parameters
    ----------
    forms : of the tangent, which `suits_products` accepts.

    Attributes
    ----------
    mat : PETSc's matrix, of type shell, with products and a diagonal.
    state : local vector, of the last `move`; the parameters are those of then, too.
    scale : a power of two near the largest entry.
    at_points : whether `multiply` reads derivatives at the points of quadrature, of each 45 numbers
        of 16 bits and their scale (of an unknown of hex27 106 bytes), in the place of evaluating
        the law. An error is at most 1.5e-5 of the largest number of a point; they have 32 bits
        once some stiffness of a point is below 8 steps of these, as with K/mu > 4,000.
    diagonal : (vertices, 3, 3), of local vertices; complete at those of this rank.
    corners : :math:`K_c`.
    corner : (vertices,) number of the corner node that a local vertex is, see `NodeRows`.
    start, column, weight : rows of P by local vertices; columns are local vertices, too.
    bits : (vertices,) bits of the fixed components.
    """

    revision = 0

    def __init__(
        self, comm: MPI.Comm, numbering: Numbering, assembler: Assembler, forms: Sequence[Form]
    ) -> None:
        self.comm, self.numbering, self._assembler = comm, numbering, assembler
        own = [form for form in forms if form.kernel.has_tangent]
        numbers = [assembler.number(form) for form in own]
        for mode in ("diagonal", "coarse", "moments"):
            assembler.prepare(mode, numbers)
        assembler.prepare("multiply", numbers, single=True)
        cells = {form: _corners(form) for form in own}
        self.bits = fixed_bits(numbering)
        there = numbering.row_count > 0
        chosen: Mask = np.zeros(numbering.vertices, dtype=bool)
        for vertices in cells.values():
            chosen[vertices] = True
        chosen &= there
        self.start, self.column, self.weight = _interpolation(own, numbering.vertices, there)
        bits = self._corner_bits(own)
        rows = NodeRows.of(numbering, chosen, bits)
        self.corner = rows.node
        self.corners = HalfBlocks(comm, numbering, rows, cells)
        self.state = np.zeros(numbering.coordinates)
        self.scale, self.at_points = 1.0, True
        self._rooms: dict[Group, PointDerivatives] = {}
        self._moments: Product | None = None
        self._product = assembler.product_at(self.state)
        self._double, self._vectors = np.zeros((2, numbering.coordinates)), Vectors(numbering)
        self._rows = self._vectors.new()
        reference = weakref.ref(self)

        def multiply(x: int, y: int) -> None:
            matrix = reference()
            assert matrix is not None
            matrix._multiply(ctypes.c_void_p(x), ctypes.c_void_p(y))

        self._prescribed = np.flatnonzero(numbering.fixed_by >= 0)

        def take_diagonal(d: int) -> None:
            matrix = reference()
            assert matrix is not None
            start = numbering.offset[:, numbering.block("position")]
            there = np.flatnonzero(start >= 0)
            local = np.zeros(numbering.coordinates)
            own = matrix.diagonal[there].diagonal(axis1=1, axis2=2)
            local[start[there][:, None] + np.arange(3)] = own
            matrix._vectors.to_global(local, matrix._rows)
            functions.VecCopy(ctypes.c_void_p(matrix._rows.handle), ctypes.c_void_p(d))

        self._shell = Shell(numbering, multiply, take_diagonal)
        self.mat: PETSc.Mat = self._shell.mat
        own_mat(comm, self.mat, self)
        self.diagonal = np.zeros((numbering.vertices, 3, 3))

    def _corner_bits(self, forms: Sequence[Form]) -> Bits:
        """Return the bits of the components that corners do not have (collective)."""
        bits = self.bits.copy()
        for form in forms:
            corners, weight = _corners(form), _weights(form)
            vertices = form.vertices.reshape(form.size, len(weight))
            fixed = self.bits[vertices]
            some = np.flatnonzero(fixed.any(axis=1))
            for k, weights in enumerate(weight):
                for corner in np.flatnonzero(weights):
                    np.bitwise_or.at(bits, corners[some, corner], fixed[some, k])
        self.numbering.topology.halo.update(bits)
        return bits

    def move(self, state: Array) -> int:
        """Take the state of the tangent, find its diagonal; return the number of bad points."""
        self.state[:] = state
        self.diagonal.fill(0.0)
        self._moments, self._product = None, self._assembler.product_at(self.state)
        self.mat.stateIncrease()
        return self._assembler.diagonal(self.state, self.diagonal)

    def linearize(self) -> None:
        """Find `scale`, and derivatives at points where products are to read them (collective)."""
        D = self.diagonal
        own = float(max(D.max(initial=0.0), -D.min(initial=0.0)))
        size = own if self.comm.size == 1 else self.comm.allreduce(own, MPI.MAX)
        self.scale = 2.0 ** math.frexp(size)[1] if 0.0 < size < math.inf else 1.0
        if self.at_points:
            factor = 1.0 / self.scale
            self._moments, _ = self._assembler.moments(self.state, self._rooms, factor)

    def multiply(self, v: Singles, f: Singles) -> None:
        """Write K v, divided by `scale`, to f; local vectors, of v with the values of ghosts."""
        if self._moments is not None:
            self._moments(v, f)
            return
        x, y = self._double
        x[:] = v
        self._product(x, y)
        y /= self.scale
        f[:] = y

    def _multiply(self, x: ctypes.c_void_p, y: ctypes.c_void_p) -> None:
        """Write K x to y, vectors of PETSc (collective)."""
        rows, (v, f) = self._rows, self._double
        handle = ctypes.c_void_p(rows.handle)
        functions.VecCopy(x, handle)
        v[self._prescribed] = 0.0
        self._vectors.to_local(rows, v)
        self._product(v, f)
        self._vectors.to_global(f, rows)
        functions.VecCopy(handle, y)

    @property
    def error(self) -> BaseException | None:
        """What a product raised, if any."""
        return self._shell.callbacks.error

    def coarsen(self) -> None:
        """Find the entries of `corners` at the state (collective)."""
        self._assembler.coarse(self.state, self.corners)
        if self.corners.rescaled():
            self._assembler.coarse(self.state, self.corners)


def _corners(form: Form) -> Ints32:
    """Return the vertices (cells, corners) at the corners of a form's cells."""
    vertices = form.vertices.reshape(form.size, form.vertices.size // max(1, form.size))
    return np.ascontiguousarray(vertices[:, : form.kernel.linear])


def _weights(form: Form) -> Array:
    """Return the linear functions of the corners at the nodes of a form's cells."""
    nodes = form.kernel.n
    cell = next(
        c for c in CELLS.values() if c.corners == form.kernel.linear and len(c.nodes) == nodes
    )
    return cell.straight.evaluate(cell.unit)[0]


def _interpolation(
    forms: Sequence[Form], vertices: int, there: Mask
) -> tuple[Ints32, Ints32, Singles]:
    """Return the rows of the interpolation to vertices that are `there`, from one cell of each."""
    number = np.full(vertices, -1, dtype=np.int64)  # of the cell of a vertex, by its place in that
    count = np.zeros(vertices, dtype=np.int32)
    parts: list[tuple[Ints32, Array, Ints32]] = []
    first = 0
    for form in forms:
        weight = _weights(form)
        at = form.vertices.reshape(form.size, len(weight))
        parts.append((at, weight, np.count_nonzero(weight, axis=1).astype(np.int32)))
        fresh = np.where(number[at.ravel()] < 0, at.ravel(), -1)
        place = np.flatnonzero(fresh >= 0)[::-1]  # the first one counts
        number[at.ravel()[place]] = first + place
        first += at.size
    start = np.zeros(vertices + 1, dtype=np.int32)
    number[~there] = -1
    bounds = np.cumsum([0, *(at.size for at, _, _ in parts)])
    for (_, weight, entries), begin, end in zip(parts, bounds[:-1], bounds[1:], strict=True):
        own = np.flatnonzero((number >= begin) & (number < end))
        count[own] = entries[(number[own] - begin) % len(weight)]
    np.cumsum(count, out=start[1:])
    column = np.zeros(int(start[-1]), dtype=np.int32)
    values = np.zeros(int(start[-1]), dtype=np.float32)
    for (at, weight, _), begin, end in zip(parts, bounds[:-1], bounds[1:], strict=True):
        own = np.flatnonzero((number >= begin) & (number < end))
        cell, node = np.divmod(number[own] - begin, len(weight))
        for k, weights in enumerate(weight):
            of = own[node == k]
            corners = np.flatnonzero(weights)
            places = start[of][:, None] + np.arange(len(corners))
            column[places] = at[cell[node == k]][:, corners]
            values[places] = weights[corners]
    return start, column, values

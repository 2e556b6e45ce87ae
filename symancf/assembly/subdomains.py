# SPDX-License-Identifier: BSD-3-Clause
"""The tangent as a sum of matrices of subdomains, one of each rank."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..runtime.collective import together
from ..runtime.petsc import PETSc, own
from .assembler import Assembler
from .form import CellEntities, Form
from .matrix import Matrix

if TYPE_CHECKING:
    from .numbering import Numbering


class Subdomains:
    r"""A tangent K as PETSc's MATIS (collective).

    .. math:: K = \sum_i R_i^T K_i R_i ,

    :math:`K_i` of the entities of one rank alone, on all vertices that these have: its subdomain.
    So assembling needs no messages, and an interface is where subdomains share vertices. A cell is
    of the lowest rank that owns one of its vertices.

    The vertices of constraints, multipliers too, are shared by two ranks at least, of which one has
    rows of zeros there: such *primal* vertices are of the coarse problem, where the saddle point
    of the constraint is solved exactly. So are those that a subdomain reaches by springs or loads
    and no cells, and up to three nodes, far apart, of each interface: without them a subdomain is
    free to move as a rigid body, and its matrix is singular.

    Attributes
    ----------
    mat : PETSc's matrix.
    primal : rows of the local matrix that are coarse.
    kinds : rows of the local matrix by the coordinates that they are of: those of one component of
        a block, the same number on all ranks.
    """

    revision = 0

    def __init__(self, numbering: Numbering, assembler: Assembler, symmetric: bool) -> None:
        forms = assembler.forms
        self.comm, self.numbering, self._assembler = numbering.comm, numbering, assembler
        self._masks = [_chosen(form, numbering) for form in forms]
        own_forms = [form.part(mask) for form, mask in zip(forms, self._masks, strict=True)]
        here: Mask = np.zeros(numbering.vertices, dtype=bool)
        by_cells = here.copy()
        joined = here.copy()
        for form in own_forms:
            here[form.vertices.ravel()] = True
            if isinstance(form.entities, CellEntities):
                by_cells[form.vertices.ravel()] = True
            if form.role == "constraint":
                joined[form.vertices.ravel()] = True
        rows = numbering.row_count > 0
        here &= rows
        inside = _inside(numbering, here)
        with together(self.comm):
            self._part = Assembler(own_forms, inside, assembler.reference, MPI.COMM_SELF)
            self._entries = Matrix(MPI.COMM_SELF, inside, own_forms)
            self._part.attach(self._entries)
        self._scratch = np.zeros(numbering.coordinates)
        primal = joined | (here & ~by_cells) | _corners(numbering, here, assembler.reference)
        self._create(_columns(numbering, here), self._coarse(primal & rows))
        for mat in (self.mat, self._local):
            mat.setOption(PETSc.Mat.Option.SYMMETRIC, symmetric)
        self.kinds = _kinds(inside)

    def _coarse(self, chosen: Mask) -> Ints:
        """Return the columns of vertices that some rank has chosen, on all ranks (collective)."""
        own_columns = _columns(self.numbering, chosen)
        every: Ints = np.concatenate(self.comm.allgather(own_columns))
        return np.unique(every)

    def _create(self, columns: Ints, coarse: Ints) -> None:
        """Make the matrix; `coarse` columns become shared by two ranks at least."""
        numbering, comm = self.numbering, self.comm
        there = np.isin(coarse, columns)
        counts, first = np.zeros(len(coarse), dtype=np.int64), np.zeros(len(coarse), dtype=np.int64)
        comm.Allreduce(there.astype(np.int64), counts)
        comm.Allreduce(np.where(there, comm.rank, 0).astype(np.int64), first, MPI.SUM)
        extra = coarse[(counts == 1) & ((first + 1) % comm.size == comm.rank) & ~there]
        columns = np.concatenate([columns, extra])
        self.primal = np.flatnonzero(np.isin(columns, coarse))
        entries, n = self._entries, len(columns)
        start = np.concatenate([entries.diagonal_start, np.full(len(extra), entries.nonzeros)])
        self._arrays = (
            start.astype(PETSc.IntType),
            entries.columns[0][: entries.nonzeros].astype(PETSc.IntType),
            entries.diagonal[: entries.nonzeros],
        )
        self._local = PETSc.Mat().createAIJWithArrays((n, n), self._arrays, comm=PETSc.COMM_SELF)
        size = numbering.block_size
        blocks = (columns[::size] // size).astype(PETSc.IntType)
        rows = PETSc.LGMap().create(blocks, bsize=size, comm=comm)
        sizes = (numbering.rows, numbering.size)
        self.mat = PETSc.Mat().createIS((sizes, sizes), lgmapr=rows, lgmapc=rows, comm=comm)
        self.mat.setISLocalMat(self._local)
        own(comm, self.mat, self)

    def move(self, state: Array) -> int:
        """Assemble at a state, with the parameters of the system's assembler; return bad points."""
        self._part.take_parameters(self._assembler, self._masks)
        bad = self._part.tangent(state, self._scratch, self._entries)
        self._local.stateIncrease()
        self._local.assemble()
        self.mat.stateIncrease()
        self.mat.assemble()
        return bad


def _columns(numbering: Numbering, chosen: Mask) -> Ints:
    """Return the columns of some vertices (vertices,), one vertex after the other."""
    first, count = numbering.first_column[chosen], numbering.row_count[chosen].astype(np.int64)
    before: Ints = np.cumsum(count) - count
    return np.asarray(np.repeat(first - before, count) + np.arange(count.sum()), dtype=np.int64)


def _corners(numbering: Numbering, here: Mask, reference: Array) -> Mask:
    """Return up to three vertices (vertices,) of each interface, far apart (collective).

    An interface is what the same ranks share. All of them choose the same vertices.
    """
    comm, chosen = numbering.comm, np.zeros(numbering.vertices, dtype=bool)
    columns = _columns(numbering, here).astype(PETSc.IntType)
    mapping = PETSc.LGMap().create(columns, bsize=1, comm=comm)
    vertex = np.repeat(np.arange(numbering.vertices), np.where(here, numbering.row_count, 0))
    shared = np.zeros((numbering.vertices, comm.size), dtype=bool)
    for rank, rows in mapping.getInfo().items():
        shared[vertex[rows], rank] = True
    shared[:, comm.rank] = False
    X = np.full((numbering.vertices, 3), np.nan)
    for number, block in enumerate(numbering.blocks):
        if block.kind == "position":
            at = numbering.carriers(number)
            X[at] = 0.0
            X[at, : block.size] = reference[numbering.coordinates_of(number)]
    nodes = np.flatnonzero(shared.any(axis=1) & np.isfinite(X[:, 0]))
    nodes = nodes[np.argsort(numbering.first_column[nodes])]
    _, interface = np.unique(shared[nodes], axis=0, return_inverse=True)
    for number in range(int(interface.max(initial=-1)) + 1):
        own = nodes[interface.ravel() == number]
        x = X[own]
        first = int(np.linalg.norm(x - x.mean(axis=0), axis=1).argmax())
        arm = x - x[first]
        second = int(np.linalg.norm(arm, axis=1).argmax())
        third = int(np.linalg.norm(np.cross(arm, arm[second]), axis=1).argmax())
        chosen[own[[first, second, third]]] = True
    return chosen


def _inside(numbering: Numbering, here: Mask) -> Numbering:
    """Return the numbering of one rank with the vertices `here`, which are all its own."""
    inside = copy.copy(numbering)
    inside.comm, inside.owned_vertices = MPI.COMM_SELF, numbering.vertices
    inside.row_count = np.where(here, numbering.row_count, 0).astype(np.int32)
    first = np.cumsum(inside.row_count) - inside.row_count
    inside.rows = inside.size = int(inside.row_count.sum())
    inside.first_row = 0
    inside.first_column = first.astype(np.int64)
    inside.vertex_row = first.astype(np.int32)
    inside.global_vertex = np.arange(numbering.vertices)
    free = (numbering.rank_in_vertex >= 0) & here[numbering.vertex_of]
    row = first[numbering.vertex_of] + numbering.rank_in_vertex
    inside.row = np.where(free, row, -1).astype(np.int32)
    inside.prescribed_rows = np.setdiff1d(np.arange(inside.rows), row[free])
    return inside


def _kinds(inside: Numbering) -> list[Ints]:
    """Return the free rows of each component of each block."""
    rows = [inside.row[inside.coordinates_of(b)].T for b in range(len(inside.blocks))]
    return [own[own >= 0] for of_block in rows for own in of_block]


def _chosen(form: Form, numbering: Numbering) -> Mask:
    """Return which entities are of this rank's subdomain."""
    owners = numbering.topology.owners[form.vertices]
    if owners.ndim == 1:
        lowest = np.minimum.reduceat(owners, form.vertex_start[:-1]) if form.size else owners
    else:
        lowest = owners.min(axis=1, initial=numbering.comm.size)
    return np.asarray(lowest == numbering.comm.rank)

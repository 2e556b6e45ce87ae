# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of vertices on several ranks: their rows united, partition by PETSc."""

from __future__ import annotations

import ctypes
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints, Ints32, address, pointer
from ...runtime import jit
from ...runtime.collective import exchange_blocks, reduced
from ...runtime.petsc import PETSc, functions

if TYPE_CHECKING:
    from ..edges import AdjacencyGraph

PARTITIONER = "ptscotch"


def _library(comm: MPI.Comm) -> ctypes.CDLL:
    library = jit.load_runtime(Path(__file__).with_name("graph.c"), comm)
    library.symancf_unite.restype = ctypes.c_int64
    return library


def gather_rows(
    comm: MPI.Comm, graph: AdjacencyGraph, numbers: Ints, starts: Ints
) -> tuple[Ints, Ints]:
    """Send the rows of this rank's graph to the ranks that hold them and unite them there.

    Parameters
    ----------
    graph : local pattern; row i is vertex `numbers[i]`.
    numbers : sorted global numbers.
    starts : (ranks + 1,) first number of each rank's rows.

    Returns
    -------
    Row pointers and columns (global numbers) of this rank's rows.
    """
    cuts = np.searchsorted(numbers, starts)
    lengths = np.diff(graph.start)
    columns = numbers[graph.neighbours]
    at = graph.start[cuts]
    _, (rows, counts) = exchange_blocks(comm, np.diff(cuts), numbers, lengths)
    _, (columns,) = exchange_blocks(comm, np.diff(at), columns)
    mine = int(starts[comm.rank + 1] - starts[comm.rank])
    where, pointers = (rows - starts[comm.rank]).astype(np.int32), np.empty(mine + 1, np.int64)
    united = np.empty(max(1, len(columns)), np.int64)
    arrays = (where, np.ascontiguousarray(counts), np.ascontiguousarray(columns), pointers, united)
    entries = _library(comm).symancf_unite(mine, ctypes.c_int64(len(where)), *map(pointer, arrays))
    if entries < 0:
        raise MemoryError("graph of the vertices: not enough memory")
    return pointers, united[:entries]


def partition(
    comm: MPI.Comm, starts: Ints, pointers: Ints, columns: Ints, weights: Array
) -> Ints32:
    """Part of each of this rank's vertices: PETSc MatPartitioning with PT-Scotch. Collective.

    Without PT-Scotch in PETSc, contiguous blocks of vertices and a warning.

    Parameters
    ----------
    starts : (ranks + 1,) first vertex of each rank.
    pointers, columns : this rank's rows of the symmetric graph.
    weights : (rows,) cost of each vertex.
    """
    mine, n = len(pointers) - 1, int(starts[-1])
    matrix = PETSc.Mat().createAIJ(
        ((mine, n), (mine, n)),
        csr=(
            pointers.astype(PETSc.IntType),
            columns.astype(PETSc.IntType),
            np.ones(len(columns), PETSc.ScalarType),
        ),
        comm=comm,
    )
    matrix.assemble()
    cutter = PETSc.MatPartitioning().create(comm)
    parts = PETSc.IS()  # made by `apply`: one made here would be lost
    try:
        cutter.setAdjacency(matrix)
        try:
            cutter.setType(PARTITIONER)
        except PETSc.Error:
            if comm.rank == 0:
                warnings.warn(
                    "PETSc has no PT-Scotch: the mesh is cut into blocks in its own numbering, "
                    "which may make large halos; see `symancf doctor`",
                    stacklevel=3,
                )
            own = np.arange(starts[comm.rank], starts[comm.rank + 1])
            return (own * comm.size // n).astype(np.int32)
        _set_weights(PETSc.IntType, comm, cutter, weights)
        # Without these the cut depends on the race of Scotch's threads (by default one for
        # each core, on every rank) and on the cuts made before.
        os.environ.setdefault("SCOTCH_PTHREAD_NUMBER", "1")
        if hasattr(functions, "SCOTCH_randomReset"):
            functions.SCOTCH_randomReset()
        cutter.apply(parts)
        return np.array(parts.getIndices(), np.int32)
    finally:
        parts.destroy()
        cutter.destroy()
        matrix.destroy()


def _set_weights(
    integer: type[np.int32] | type[np.int64],
    comm: MPI.Comm,
    cutter: PETSc.MatPartitioning,
    weights: Array,
) -> None:
    """MatPartitioningSetVertexWeights, which petsc4py does not wrap; PETSc frees the array."""
    low = reduced(comm, np.array([weights.min(initial=np.inf)]), MPI.MIN)[0]
    high = reduced(comm, np.array([weights.max(initial=0.0)]), MPI.MAX)[0]
    if not 0 < low < high:
        return
    integers = np.clip(np.rint(weights * min(20.0 / low, 1e5 / high)), 1, None)
    if not hasattr(functions, "PetscMallocA"):
        return
    values = integers.astype(integer)
    memory = ctypes.c_void_p()
    nothing = ctypes.c_char_p(b"symancf")
    size = ctypes.c_size_t(max(values.nbytes, 8))
    if functions.PetscMallocA(1, 0, 0, nothing, nothing, size, ctypes.byref(memory)):
        return
    ctypes.memmove(memory, address(values), values.nbytes)
    functions.MatPartitioningSetVertexWeights(ctypes.c_void_p(cutter.handle), memory)

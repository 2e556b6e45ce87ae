# SPDX-License-Identifier: BSD-3-Clause
"""Weak and strong scaling on any number of ranks: what an iteration takes, sends and waits for."""

from __future__ import annotations

import ctypes
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..mesh import Mesh
from ..runtime.collective import reduced
from ..runtime.log import EVENTS
from ..runtime.petsc import PETSc, collect, functions
from ..runtime.progress import peak_memory
from .prediction import cut, sent
from .solution import pulled, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..solve.multigrid.hierarchy import Multigrid
    from ..solve.statics.problem import StaticProblem

Row = dict[str, Any]

FEW, MANY = 4, 12  # iterations of two solutions, whose difference is measured
REPEATS = 3
PAUSE = 1e-3  # s between looks of ranks that others do not need


class Clock:
    """Counts how often a part of `runtime.log` is entered, and its CPU time [s] on this rank."""

    def __init__(self) -> None:
        self.calls, self.seconds, self._since = 0, 0.0, 0.0

    def __enter__(self) -> None:
        self.calls += 1
        self._since = time.process_time()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.process_time() - self._since


@contextmanager
def clocks() -> Iterator[dict[str, Clock]]:
    """Take the time of all parts within, beside PETSc's log."""
    times = {name: Clock() for name in EVENTS}
    before = EVENTS.copy()
    EVENTS.update(times)
    try:
        yield times
    finally:
        EVENTS.update(before)


def divided(kind: str, n: int, ranks: int) -> tuple[int, int, int]:
    """Return the divisions of the box: n^3 hexahedra for each rank (weak), or for all (strong)."""
    a, b, c = cut(ranks) if kind == "weak" else (1, 1, 1)
    return a * n, b * n, c * n


def case(comm: MPI.Comm, kind: str, n: int) -> Row:
    """Return what one solution takes on the ranks of a communicator (collective).

    CPU times are those of the rank with most, counts those of the rank with most.
    """
    divisions = divided(kind, n, comm.size)
    lengths = [d / n for d in divisions]
    comm.Barrier()
    base, clock, start = peak_memory(), time.perf_counter(), time.process_time()
    with clocks() as parts:
        mesh = Mesh.box(lengths, divisions, comm=comm)
        problem = pulled(mesh, lengths[0], pc_type="grids")
        history = problem.solve(to=0.5)
    took = time.perf_counter() - clock, time.process_time() - start
    system, cells = problem.system, float(np.prod(divisions))
    own = sum(form.size for form in system._discrete.forms)
    krylov = problem.solver.krylov
    multigrid = None if krylov is None else krylov.multigrid
    if multigrid is None:
        raise RuntimeError(
            f"{kind}: {system._discrete.numbering.size} unknowns are solved directly"
        )
    each = iteration(problem, multigrid)
    tangent, residual = parts["tangent"], parts["residual"]
    times = {
        "wall_s": took[0],
        "cpu_s": took[1],
        "set_up_s": sum(parts[k].seconds for k in ("mesh", "partition", "numbering", "pattern")),
        "hierarchy_s": parts["hierarchy"].seconds / max(1, parts["hierarchy"].calls),
        "tangent_s": tangent.seconds / max(1, tangent.calls),
        "residual_s": residual.seconds / max(1, residual.calls),
        "tangent_ns": 1e9 * tangent.seconds / max(1, tangent.calls * own),
        "residual_ns": 1e9 * residual.seconds / max(1, residual.calls * own),
        "memory_above_import_MB": peak_memory() - base,
        **each,
    }
    most = reduced(comm, np.array(list(times.values())), MPI.MAX)
    row: Row = {
        "kind": kind,
        "ranks": comm.size,
        "elements": int(cells),
        "unknowns": system._discrete.numbering.size,
        "newton": sum(step.iterations for step in history.steps),
        "linear": sum(step.linear_iterations for step in history.steps),
        "norm_u": size(problem),
        "levels": levels(multigrid),
        "model": sent([d / k for d, k in zip(divisions, cut(comm.size), strict=True)], comm.size),
        **dict(zip(times, most.tolist(), strict=True)),
    }
    del problem, system, mesh, multigrid
    collect(comm)
    return row


def levels(multigrid: Multigrid) -> list[Row]:
    """Return unknowns of the levels, and what the rank with most has of each (collective).

    `shared`: all ranks hold all of it. `nodes`, `ghosts`, 3 x 3 `blocks`; `neighbours` to which
    values of `lent` nodes go, and those that are `asked` for ghosts.
    """
    comm, rows = multigrid.comm, []
    for level in multigrid.levels:
        pattern, exchange = level.pattern, level.exchange
        there = [0, 0, 0]
        if exchange is not None:
            there = [*exchange.neighbours, exchange.packed]
        own = np.array([pattern.nodes, pattern.ghosts, pattern.blocks, *there])
        total = own if pattern.shared or comm.size == 1 else reduced(comm, own)
        most = reduced(comm, own, MPI.MAX).tolist()
        names = "nodes", "ghosts", "blocks", "neighbours", "asked", "lent"
        rows.append(
            {
                "unknowns": 3 * int(total[0]),
                "shared": bool(pattern.shared),
                **dict(zip(names, most, strict=True)),
            }
        )
    return rows


# ---- an iteration of conjugate gradients ---------------------------------------------------------
def _counted(multigrid: Multigrid) -> dict[str, float]:
    """Return messages, reductions and their bytes of PETSc and of cycles on this rank so far."""
    ours = multigrid.counts

    def theirs(name: str) -> float:
        return ctypes.c_double.in_dll(functions, f"petsc_{name}").value

    return {
        "messages": theirs("isend_ct") + theirs("send_ct") + ours.messages,
        "bytes": theirs("isend_len") + theirs("send_len") + ours.bytes,
        "reductions": theirs("allreduce_ct") + ours.reductions,
        "reduced_bytes": float(ours.reduced),
    }


def iteration(problem: StaticProblem, multigrid: Multigrid) -> dict[str, float]:
    """Return CPU times [s] and counts of an iteration of CG at the present tangent (collective).

    They are differences between solutions of few and of many iterations: what happens once for
    each system is not in them. Times are the least of some repetitions.

    `smoother_s`: of the cycle on the finest level, with interpolation; `coarse_s`: on those of
    which each rank has a share; `shared_s`: on those that all have; `waits_s`: in messages of the
    cycle, not in those before; `product_s`: of the tangent; `vectors_s`: all else.
    """
    comm, mat = multigrid.comm, problem.J
    ksp = PETSc.KSP().create(comm)
    ksp.setType("cg")
    ksp.setNormType(PETSc.KSP.NormType.NATURAL)
    ksp.setOperators(mat)
    ksp.setPC(problem.snes.getKSP().getPC())
    x, b = mat.createVecs()
    first, end = b.getOwnershipRange()
    b.setArray(np.sin(0.7 * np.arange(first, end)) + 0.1)  # of all wave lengths
    here = np.array([not level.pattern.shared for level in multigrid.levels])
    counts: list[dict[str, float]] = []
    for _ in range(1 + REPEATS):
        for count in (FEW, MANY):
            ksp.setTolerances(rtol=1e-50, atol=1e-300, max_it=count)
            comm.Barrier()
            spent, before = multigrid.watch(), _counted(multigrid)
            start = time.process_time()
            ksp.solve(b, x)
            now = {"total_s": time.process_time() - start}
            work = spent[:, 0] - spent[:, 1]
            now |= {
                "smoother_s": work[0],
                "coarse_s": work[1:][here[1:]].sum(),
                "shared_s": work[1:][~here[1:]].sum(),
                "waits_s": spent[:, 1].sum(),
            }
            if ksp.getIterationNumber() != count:
                raise RuntimeError(f"CG ended: {ksp.getConvergedReason()}")
            counts.append(now | {k: v - before[k] for k, v in _counted(multigrid).items()})
    few, many = counts[2::2], counts[3::2]
    each = {k: (min(m[k] for m in many) - min(m[k] for m in few)) / (MANY - FEW) for k in counts[0]}
    each["product_s"] = _product(comm, mat, b, x)
    names = ("smoother_s", "coarse_s", "shared_s", "waits_s", "product_s")
    each["vectors_s"] = each["total_s"] - sum(each[k] for k in names)
    each["iteration_s"] = each.pop("total_s")
    for thing in (ksp, x, b):
        thing.destroy()
    return each


def _product(comm: MPI.Comm, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> float:
    least = np.inf
    for _ in range(1 + REPEATS):
        comm.Barrier()
        start = time.process_time()
        for _ in range(MANY - FEW):
            mat.mult(x, y)
        least = min(least, time.process_time() - start)
    return least / (MANY - FEW)


# ---- all numbers of ranks ------------------------------------------------------------------------
def numbers(ranks: int) -> list[int]:
    """Return 1, 2, 4, ... and the number of ranks."""
    return sorted({*(2**k for k in range(ranks.bit_length()) if 2**k <= ranks), ranks})


def scaling(n: int, kinds: Sequence[str] = ("weak", "strong")) -> list[Row]:
    """Return a row for 1, 2, 4, ... and all ranks of this run, of each kind (collective).

    `efficiency`: of an iteration against one rank, by CPU time with the waits of cycles;
    `without_waits`; `efficiency_wall`: of the whole run by the clock. Weak: T(1) / T(p), strong:
    T(1) / (p T(p)).
    """
    world = MPI.COMM_WORLD
    case(world, "strong", 4)  # kernels are compiled, libraries loaded
    rows: list[Row] = []
    for kind in kinds:
        one: Row = {}
        for ranks in numbers(world.size):
            comm = world.Split(0 if world.rank < ranks else MPI.UNDEFINED)
            row = None if comm == MPI.COMM_NULL else case(comm, kind, n)
            _wait(world)
            row = world.bcast(row)
            assert row is not None
            one = one or row
            share = ranks if kind == "strong" else 1
            pairs = {"efficiency": "iteration_s", "efficiency_wall": "wall_s"}
            row |= {name: one[key] / (share * row[key]) for name, key in pairs.items()}
            work = (r["iteration_s"] - r["waits_s"] for r in (one, row))
            row["without_waits"] = next(work) / (share * next(work))
            rows.append(row)
    return rows


def _wait(comm: MPI.Comm) -> None:
    """Wait for all ranks without turning in circles."""
    there = comm.Ibarrier()
    while not there.Test():
        time.sleep(PAUSE)

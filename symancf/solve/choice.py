# SPDX-License-Identifier: BSD-3-Clause
"""Direct or Krylov: which linear solver takes less, predicted from the size of the factors."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from mpi4py import MPI

from .effort import Effort, effort_of
from .preconditioner import over_nodes

if TYPE_CHECKING:
    from ..system import System

# In operations of a factorisation that take as long, by unknown. Measured: MUMPS makes 20 to 30 of
# them while one entry of the tangent goes by in a product, a tenth of an iteration of multigrid.
COST_OF_ITERATION = {"grids": 5e3, "gamg": 1.5e4}  # of CG
COST_OF_NEWTON = {"grids": 5e4, "gamg": 2e5}  # of Newton's method: set-up and iterations
WITH_SLOPES = 4.0  # times as much with aggregation where nodes have slopes: plates 1/100 thick
WITHOUT_SETUP = 0.5  # part of it without the set-up, in motions
COST_OF_ENTRY = 33.0  # of an entry of the factors, each time that they are used
USES_OF_FACTORS = 10  # iterations that factors serve in motions
FREE_OPERATIONS = 2e9  # operations that nobody waits for: a tenth of a second
BYTES_OF_ENTRY = 12.0  # of memory by entry of the factors, with what MUMPS needs to make them
SHARE_OF_MEMORY = 0.7  # of the memory that is free
FEWEST_ITERATIONS, MOST_ITERATIONS = 100, 500  # iterations

_efforts: WeakKeyDictionary[System, tuple[object, Effort]] = WeakKeyDictionary()


def predicted(system: System) -> Effort:
    """Return what factors of the tangent would take; found once for each numbering (collective)."""
    known, rows = _efforts.get(system), system.numbering.row_count
    if known is None or known[0] is not rows:
        nodes = over_nodes(system)
        known = _efforts[system] = (
            rows,
            effort_of(system, None if isinstance(nodes, str) else nodes),
        )
    return known[1]


@dataclass(frozen=True)
class Prices:
    """What solvers of a system cost, in operations of a factorisation that take as long.

    Attributes
    ----------
    factors : of one factorisation.
    direct, krylov : of one iteration of Newton's method.
    iteration : of one iteration of CG.
    fits : whether there is memory for the factors.
    memory : they need, of all ranks [bytes].
    """

    factors: float
    direct: float
    krylov: float
    iteration: float
    fits: bool
    memory: float

    @property
    def prefer_direct(self) -> bool:
        """Whether a direct solver is to be taken."""
        return self.fits and (self.factors <= FREE_OPERATIONS or self.direct <= self.krylov)

    @property
    def most(self) -> int:
        """Iterations of CG that a system gets: as long as four factorisations, within limits."""
        return int(np.clip(4.0 * self.factors / self.iteration, FEWEST_ITERATIONS, MOST_ITERATIONS))

    @property
    def patience(self) -> float:
        """Iterations of CG that a solution of Newton's method gets: as long as five, at least."""
        return 1.25 * max(self.most, 4.0 * self.factors / self.iteration)


def prices(system: System, kind: str, symmetric: bool, dynamic: bool = False) -> Prices:
    """Compare a direct solver with multigrid (collective).

    Parameters
    ----------
    kind : of multigrid, "grids" or "gamg".
    dynamic : in motions factors serve `USES_OF_FACTORS` iterations, and so does a set-up of
        multigrid.
    """
    effort, n, bodies = predicted(system), float(system.numbering.size), system.bodies
    halves = 1.0 if symmetric else 2.0
    factors, entries = halves * effort.flops, halves * effort.entries
    memory = BYTES_OF_ENTRY * entries
    share, part = (USES_OF_FACTORS, WITHOUT_SETUP) if dynamic else (1, 1.0)
    if kind == "gamg" and any(getattr(b, "element", None) and b.element.slopes for b in bodies):
        part *= WITH_SLOPES
    return Prices(
        factors,
        factors / share + COST_OF_ENTRY * entries,
        part * COST_OF_NEWTON[kind] * n,
        COST_OF_ITERATION[kind] * n,
        memory <= SHARE_OF_MEMORY * free_memory(system.comm),
        memory,
    )


def free_memory(comm: MPI.Comm) -> float:
    """Return the memory that the nodes of all ranks have left [bytes] (collective).

    Infinite where the system tells nothing.
    """
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    mine = _left() / node.size
    node.Free()
    return float(comm.allreduce(mine))


def _left() -> float:
    """Return the memory that this node, and the group that the process is in, has left [bytes]."""
    left = [np.inf]
    with contextlib.suppress(OSError, IndexError, ValueError):
        told = Path("/proc/meminfo").read_text(encoding="ascii")
        left.append(1024.0 * float(told.split("MemAvailable:")[1].split()[0]))
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):
        most = float((group / "memory.max").read_text(encoding="ascii"))
        left.append(most - float((group / "memory.current").read_text(encoding="ascii")))
    return min(left)

# SPDX-License-Identifier: BSD-3-Clause
"""Direct or Krylov: which linear solver takes less, predicted from the size of the factors."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..newton.parts import connected_parts
from ..runtime.collective import reduced
from .preconditioner import over_nodes

if TYPE_CHECKING:
    from ..arrays import Array
    from ..assembly.discrete import DiscreteSystem

# Operations of a factorisation that take as long as an iteration of Newton's method with multigrid,
# set-up and CG, by unknown. Measured: MUMPS makes 20 to 30 of them while one entry of the tangent
# goes by in a product. With slopes: aggregation on plates 1/100 thick.
COST_OF_NEWTON = {"grids": 5e4, "gamg": 2e5, "slopes": 8e5}
USES_IN_MOTION = 4.0  # times a factorisation serves in motions, by those of a set-up of multigrid
FREE_OPERATIONS = 2e9  # operations that nobody waits for: a tenth of a second
FLOPS_OF_BOX, ENTRIES_OF_BOX = 22.0, 10.0  # of factors L D L^T, see `Effort.of`
FULL_BOX = 0.33  # nodes by those of a box: with more they are spread evenly, else a shell, a coil
BYTES_OF_ENTRY = 12.0  # of memory by entry of the factors, with what MUMPS needs to make them
SHARE_OF_MEMORY = 0.7  # of the memory that is free
FEWEST_ITERATIONS, MOST_ITERATIONS = 100, 500  # iterations


@dataclass(frozen=True)
class Effort:
    """What factors L D L^T take; twice that for L U.

    Attributes
    ----------
    flops : of one factorisation.
    entries : of the factors.
    """

    flops: float
    entries: float

    @classmethod
    def of(cls, system: DiscreteSystem) -> Effort:
        r"""Estimate what a factorisation of the tangent takes (collective).

        Nested dissection (A. George, SIAM Journal on Numerical Analysis 10 (1973) 345-363) of
        boxes with :math:`n_1 \ge n_2 \ge n_3` layers of nodes, one for each connected part of
        bodies, with w rows in a layer across the longest axis, takes about

        .. math:: 22 w^3 \bigl(\tfrac{n_1}{n_2} - 0.7 \tfrac{n_3}{n_2}\bigr) \text{ operations,}
            \quad 10 w^2 \tfrac{n_1}{n_2} \bigl(1 + \tfrac12 \log_2 \tfrac{n_2}{n_3}\bigr)
            \text{ entries:}

        what MUMPS takes for a cube, a plate and a beam. Couplings of parts count for nothing.
        """
        layers, rows = _boxes(system)
        n = np.sort(layers, axis=1)[:, ::-1]
        w, slender, full = rows / n[:, 0], n[:, 0] / n[:, 1], n[:, 2] / n[:, 1]
        flops = FLOPS_OF_BOX * w**3 * (slender - 0.7 * full)
        entries = ENTRIES_OF_BOX * w**2 * slender * (1.0 - 0.5 * np.log2(full))
        return cls(float(flops.sum()), float(entries.sum()))


def _boxes(system: DiscreteSystem) -> tuple[Array, Array]:
    """Return layers of nodes (parts, 3) of boxes around connected parts, and rows (parts,).

    The spacing of nodes is that of grids over them. Where there are none (slopes) it is even, and
    surfaces count as squares.
    """
    comm, numbering, nodes = system.comm, system.numbering, over_nodes(system)
    if not isinstance(nodes, str):
        count = reduced(comm, np.bincount(nodes.grid, minlength=len(nodes.grids.part)))
        layers = nodes.grids.extent / nodes.grids.spacing + 1.0
        full = count / layers.prod(axis=1)
        even = np.where(full > FULL_BOX, full, 1.0)[:, None] ** (1.0 / 3.0)
        return np.maximum(layers * even, 1.0), 3.0 * count
    parts = connected_parts(numbering, [p for p in system.forms if p.role == "strain"])
    start = numbering.offset[: numbering.owned_vertices, numbering.block("position")]
    own = np.flatnonzero((start >= 0) & (parts.of_vertex[: len(start)] >= 0))
    X, part = system.reference[start[own, None] + np.arange(3)], parts.of_vertex[own]
    count, rows = (
        reduced(comm, np.bincount(part, weights, parts.count))
        for weights in (np.ones(len(own)), numbering.row_count[own].astype(float))
    )
    low, high = np.full((parts.count, 3), np.inf), np.full((parts.count, 3), -np.inf)
    np.minimum.at(low, part, X)
    np.maximum.at(high, part, X)
    extent = reduced(comm, high, MPI.MAX) - reduced(comm, low, MPI.MIN)
    elements = [getattr(body, "element", None) for body in system.bodies]
    if max((element.dimension for element in elements if element is not None), default=0) < 3:
        extent[:] = 1.0, 1.0, 0.0
    there = extent > 0.0
    size = np.where(there, extent, 1.0)
    spacing = (size.prod(axis=1) / np.maximum(count, 1.0)) ** (
        1.0 / np.maximum(there.sum(axis=1), 1)
    )
    return np.where(there, np.maximum(size / spacing[:, None], 1.0), 1.0), rows


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


def prices(system: DiscreteSystem, kind: str, symmetric: bool, dynamic: bool = False) -> Prices:
    """Compare a direct solver with multigrid (collective).

    Parameters
    ----------
    kind : of multigrid, "grids" or "gamg".
    dynamic : in motions factors serve more often than in statics.
    """
    effort, n, bodies = Effort.of(system), float(system.numbering.size), system.bodies
    halves = 1.0 if symmetric else 2.0
    factors, memory = halves * effort.flops, halves * BYTES_OF_ENTRY * effort.entries
    sloped = any(getattr(b, "element", None) and b.element.slopes for b in bodies)
    return Prices(
        factors,
        factors / USES_IN_MOTION if dynamic else factors,
        COST_OF_NEWTON["slopes" if kind == "gamg" and sloped else kind] * n,
        0.1 * COST_OF_NEWTON[kind] * n,
        memory <= SHARE_OF_MEMORY * free_memory(system.comm),
        memory,
    )


def free_memory(comm: MPI.Comm) -> float:
    """Return the memory that the nodes of all ranks have left [bytes] (collective).

    Infinite where the system tells nothing.
    """
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    mine = _free_memory_here() / node.size
    node.Free()
    return float(comm.allreduce(mine))


def _free_memory_here() -> float:
    """Return the memory that this node, and the group that the process is in, has left [bytes]."""
    free = [np.inf]
    with contextlib.suppress(OSError, IndexError, ValueError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        free.append(1024.0 * float(text.split("MemAvailable:")[1].split()[0]))
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):
        most = float((group / "memory.max").read_text(encoding="ascii"))
        free.append(most - float((group / "memory.current").read_text(encoding="ascii")))
    return min(free)

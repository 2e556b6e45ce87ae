# SPDX-License-Identifier: BSD-3-Clause
r"""A model of scaling: what an iteration sends, and how long it takes, on any number of ranks.

Each rank has a block of n^3 cells, one of a box of blocks. Of its m^3 nodes on a level (m = n, n/2,
...) it knows the neighbours' nodes next to it, ghosts: with :math:`k_i \le 2` neighbours along the
axes :math:`\prod (m + k_i) - m^3` of :math:`\prod (1 + k_i) - 1` ranks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from ..solve.multigrid import levels
from ..solve.multigrid.hierarchy import DEGREE, DENSE

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

LATENCY = 2e-6  # s of a message between two nodes of a cluster
BANDWIDTH = 5e9  # bytes per second of a rank, all ranks of a node at once
SMOOTHED = 2 * DEGREE  # products of a level in a cycle
REAL, SINGLE = 24, 12  # bytes of a node


def cut(ranks: int) -> tuple[int, int, int]:
    """Return how many blocks, one for each rank, stand along the axes of the box.

    Examples
    --------
    >>> cut(1), cut(2), cut(4), cut(12), cut(64)
    ((1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 2, 2), (4, 4, 4))
    """
    a, b, c = MPI.Compute_dims(ranks, 3)
    return a, b, c


def sent(cells: Sequence[float], ranks: int) -> Row:
    """Return what an iteration sends on the rank with most: `cells` along the axes of a block.

    Two products of vectors and the largest entry are reduced, and once the restriction to the
    first level that all ranks have, in single precision. Ghosts of the finest level come for the
    product in double precision, and for each product of the smoother; those of coarse levels for
    the interpolation, too, and their restriction goes back.
    """
    blocks = cut(ranks)
    k = [min(2, number - 1) for number in blocks]
    row: Row = {"messages": 0, "bytes": 0, "reductions": 0, "reduced_bytes": 0}
    row |= {"ghosts": 0, "neighbours": math.prod(1 + i for i in k) - 1}
    if ranks == 1:
        return row
    level = 0
    while True:
        along = [math.ceil(a * b / 2**level) + 1 for a, b in zip(cells, blocks, strict=True)]
        m, total = [a / b for a, b in zip(along, blocks, strict=True)], math.prod(along)
        if level and 3 * total <= max(levels.SHARED, DENSE):
            break
        ghosts = math.prod(a + i for a, i in zip(m, k, strict=True)) - math.prod(m)
        each = SINGLE * (SMOOTHED + 2) if level else REAL + SINGLE * SMOOTHED
        row["messages"] += row["neighbours"] * (SMOOTHED + (2 if level else 1))
        row["bytes"] += round(ghosts * each)
        row["ghosts"] = row["ghosts"] or round(ghosts)
        level += 1
    row["reductions"], row["reduced_bytes"] = 4, round(8 + SINGLE * total)
    return row


def predict(
    measured: Row,
    n: int,
    ranks: Sequence[int],
    latency: float = LATENCY,
    bandwidth: float = BANDWIDTH,
) -> list[Row]:
    r"""Return an iteration's time [s] for weak scaling with n^3 cells a rank.

    Work of a rank stays as `measured` on one rank (with that of coarse levels, in proportion to the
    unknowns there); the levels that all ranks have take the same time per unknown as the coarse
    ones there. A message takes `latency` + bytes / `bandwidth`, neighbours follow each other; a
    reduction :math:`2 \lceil\log_2 p\rceil` latencies and twice its bytes.
    """
    own = measured["levels"][1:]
    there = sum(level["unknowns"] for level in own)
    each = (measured["coarse_s"] + measured["shared_s"]) / max(1, there)
    finest = sum(measured[k] for k in ("product_s", "smoother_s", "vectors_s"))
    rows: list[Row] = []
    for p in ranks:
        messages = sent((n, n, n), p)
        shared = messages["reduced_bytes"] / 4 * 8 / 7 if p > 1 else 0.0  # and all levels below
        apart = max(0.0, 3 * n**3 / 7 - shared / p) if p > 1 else there
        stages = 2 * math.ceil(math.log2(p))
        times = {
            "work_s": finest + each * apart,
            "shared_s": each * shared,
            "messages_s": messages["messages"] * latency + messages["bytes"] / bandwidth,
            "reductions_s": messages["reductions"] * stages * latency
            + (2 * messages["reduced_bytes"] / bandwidth if p > 1 else 0.0),
        }
        total = sum(times.values())
        first = rows[0]["iteration_s"] if rows else total
        about = {"n": n, "latency": latency, "bandwidth": bandwidth}
        rows.append(
            {
                "ranks": p,
                "elements": p * n**3,
                **times,
                "iteration_s": total,
                "efficiency": first / total,
                **about,
            }
        )
    return rows

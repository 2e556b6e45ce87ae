# SPDX-License-Identifier: BSD-3-Clause
"""Print as JSON which pairs of facets contacts list, and the most bytes that a rank has of them."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.bench import contact as bench
from symancf.contact.active import PAIRS

COMM = MPI.COMM_WORLD


def lists(facets: int) -> dict[str, Any]:
    """Of two blocks upon each other, all ranks' own pairs by list, and bytes by facet."""
    with patch.object(bench.MPI, "COMM_SELF", COMM):
        blocks, contact = bench.bodies(facets, rigid=False, layers=1)
    system = sa.System(*blocks, terms=[contact])._discrete
    system.revise(0.0)
    binding, found = system.binding(contact), {}
    active = binding.active(system)
    for name, rows in binding.own_rows(system, active).items():
        if name.split()[1] in PAIRS:
            every = np.concatenate(COMM.allgather(rows))
            found[name] = every[np.lexsort(every.T[::-1])].tolist()
    own = sum(rows.nbytes for name, rows in active.items() if name.split()[1] in PAIRS)
    return found | {"bytes": COMM.allreduce(own / facets, MPI.MAX)}


if __name__ == "__main__":
    found = lists(200)
    if COMM.rank == 0:
        print(json.dumps(found))

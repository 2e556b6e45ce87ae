# SPDX-License-Identifier: BSD-3-Clause
"""Connected components of items that are distributed over the ranks.

Items are numbered over all ranks; rank r has those from `starts[r]` to `starts[r+1]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Ints
from ...runtime.collective import exchange, lookup, owners_of, shares
from ..edges import compress, least_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def meetings(comm: MPI.Comm, starts: Ints, groups: Ints, items: Ints) -> Sequence[Ints]:
    """Bring together the items that name the same group (collective).

    Parameters
    ----------
    starts : of the groups.
    groups, items : (n, k) k groups that each of n items names, and (n,) the items.

    Returns
    -------
    groups, first, count, items : of this rank's share the groups named (g,), ascending; where the
        items of each begin among `items` and how many there are; ascending in each group.
    """
    numbers, of = groups.ravel(), np.repeat(items, groups.shape[1])
    _, (numbers, of) = exchange(comm, owners_of(starts, numbers), numbers, of)
    order = np.lexsort((of, numbers))
    there, first, count = np.unique(numbers[order], return_index=True, return_counts=True)
    return there, first, count, of[order]


def least_connected(comm: MPI.Comm, starts: Ints, pairs: Ints) -> Ints:
    """Return for each of this rank's items the least one that pairs (m, 2) connect it with.

    Collective. What the pairs of a rank connect is joined there first; then each label is put
    under the least one beside it and replaced by that one's, until neighbours have the same: a few
    rounds (cf. Liu and Tarjan, Simple concurrent algorithms for connected components, 2022).
    """
    roots, (place,) = compress([pairs])
    least = roots[least_of(comm, len(roots), place)]
    mine = int(starts[comm.rank])
    label = np.arange(mine, starts[comm.rank + 1])
    ends = np.stack([roots, least], axis=1)
    if comm.size == 1:
        label[roots - mine] = ends[:, 1]
        return label
    while True:
        low, high = np.sort(lookup(comm, starts, ends, label), axis=1).T
        low, high = low[low < high], high[low < high]
        if not comm.allreduce(len(low)):
            return label
        _, (low, high) = exchange(comm, owners_of(starts, high), low, high)
        np.minimum.at(label, high - mine, low)
        changed = True
        while changed:
            before, label = label, lookup(comm, starts, label, label)
            changed = comm.allreduce(bool((label != before).any()), MPI.LOR)


def numbered(comm: MPI.Comm, starts: Ints, label: Ints) -> tuple[Ints, int]:
    """Return the number of the component of each item, and how many there are (collective).

    `label` : (n,) of this rank's items, the least item of the component of each; components are
    numbered in the order of these.
    """
    least = label == np.arange(starts[comm.rank], starts[comm.rank + 1])
    first = shares(comm, int(least.sum()))
    number = lookup(comm, starts, label, first[comm.rank] + np.cumsum(least) - least)
    return number, int(first[-1])

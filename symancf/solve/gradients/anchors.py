# SPDX-License-Identifier: BSD-3-Clause
"""Anchors of points that slide on facets with friction, which they did not remember.

A point that comes near to others has its closest point in the state before as the anchor of the
step. So the step depends on that state by another way than by what is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...assembly.form import ClosestPoints
from ...runtime.collective import together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.state import State


def take_new_anchors(system: DiscreteSystem, rows: Mapping[int, Array]) -> dict[int, Array]:
    """Take the derivatives by anchors that points did not remember out of `rows`.

    Parameters
    ----------
    rows : derivatives by rows of entities (n, rows), by their form; see `Assembler.pull`. Anchors
        that were not remembered are 0 in them afterwards.

    Returns
    -------
    These, in rows that are 0 else.
    """
    found: dict[int, Array] = {}
    for number, form in zip(system.memory.numbers, system.memory.forms, strict=True):
        if not isinstance(form.entities, ClosestPoints) or form.entities.anchor < 0:
            continue
        new, count = system.memory.beginning(form)[:, 0] == 0.0, len(form.kernel.memory)
        found[number] = np.zeros((form.size, form.cell.shape[1]))
        if number in rows:
            anchor = slice(-count, 3 - count)
            found[number][new, anchor] = rows[number][new, anchor]
            rows[number][new, anchor] = 0.0
    return found


def by_new_anchors(
    system: DiscreteSystem, before: State, weights: Mapping[int, Array]
) -> Array | None:
    """Return derivatives by coordinates of weights of closest points in a state (collective).

    Parameters
    ----------
    before : the state before the present one.
    weights : of `take_new_anchors`.

    Returns
    -------
    Local vector, 0 but at what this rank owns; None: all weights are 0.
    """
    some = any(bool(own.any()) for own in weights.values())
    if not system.comm.allreduce(some, op=MPI.LOR):
        return None
    owned = system.numbering.owned
    with together(system.comm):
        by = system.assembler.pull_closest_points(
            system.numbering.local(before.displacement), weights
        )
    by[owned:] = 0.0
    return by

# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that others imply: found, named, and taken out of the unknowns."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..assembly.discrete import Redundant
from ..errors import ConstraintError, ParameterError, listed, owner
from ..runtime.collective import share_error, together
from .dependent import (
    SMALL_SHARE,
    TRIAL_STEP,
    ConstraintGroup,
    Jacobian,
    JacobianRows,
    constraint_names,
    fulfil,
    groups_of,
    joined,
    structure,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration
    from ..assembly.form import Form


#: of the body's size: a combination of constraints that is not fulfilled
CONTRADICTION_TOLERANCE = 1e-7


def _implied(vectors: list[tuple[Ints, Array]]) -> list[int]:
    """Choose as many rows as there are dependences, the last ones that the others imply.

    Each vector gives its last row, which is taken out of the others.
    """
    by_last: dict[int, list[tuple[Ints, Array]]] = {}
    waiting: list[int] = []  # heap of - last

    def sort_in(rows: Ints, values: Array) -> None:
        end = np.flatnonzero(np.abs(values) > SMALL_SHARE)[-1] + 1
        last = int(rows[end - 1])
        if last not in by_last:
            heapq.heappush(waiting, -last)
        by_last.setdefault(last, []).append((rows[:end], values[:end]))

    for rows, values in vectors:
        sort_in(rows, values)
    chosen: list[int] = []
    while waiting:
        last = -heapq.heappop(waiting)
        same = sorted(by_last.pop(last), key=lambda vector: -abs(vector[1][-1]))
        chosen.append(last)
        pivot_rows, pivot = same[0]
        for rows, values in same[1:]:
            both, place = np.unique(
                np.concatenate([pivot_rows[:-1], rows[:-1]]), return_inverse=True
            )
            factor = values[-1] / pivot[-1]
            sums = np.bincount(place, np.concatenate([-factor * pivot[:-1], values[:-1]]))
            sort_in(both, sums / np.linalg.norm(sums))
    return chosen


def find_redundant(system: Configuration, forms: Sequence[Form]) -> Redundant:
    r"""Find equations that others imply; warn of them.

    Rows of Phi_q over the free coordinates that depend on others: those without a column of
    their own are grouped by common coordinates, and for each group the combinations n with
    n^T Phi_q = 0 follow from the eigenvectors of Phi_q Phi_q^T (rows of length 1). A dependence
    must persist in a second configuration, reached by a small motion that the constraints allow:
    at a dead point rows depend on each other for a moment only. As many equations as there are
    dependences are left out, the last declared ones. Groups of more than `LARGEST` equations
    are left as they are: their dense analysis would take minutes; a solution that fails says so.
    Collective, at the state and time of the system.

    Raises
    ------
    ConstraintError : on every rank; constraints contradict each other: n^T Phi does not vanish
        where the others hold.
    """
    forms = [form for form in forms if form.role == "constraint"]
    none = Redundant(np.zeros(0, dtype=np.int64), [], some=False)
    if not forms:
        return none
    jacobian = Jacobian(system, forms)
    try:
        with together(system.comm):
            jacobian.assembler.update(system.time)
        dependent = _search(jacobian)
    except ParameterError:
        return none  # a value is missing or wrong: whoever prescribes values will say so
    finally:
        jacobian.close()
    if len(dependent.wrong):
        names, place = constraint_names(jacobian, forms, dependent.wrong)
        text = f"the constraints {listed(names)} contradict each other{place}"
        share_error(
            system.comm, ConstraintError(text, names=map(owner, names), asked="contradiction")
        )
    if not len(dependent.dropped):
        return none
    names, place = constraint_names(jacobian, forms, dependent.dropped)
    others = [n for n in constraint_names(jacobian, forms, dependent.used)[0] if n not in names]
    one = len(dependent.dropped) == 1
    why = f"{'follows' if one else 'follow'} from those of {listed(others)}"
    system.once.warn(
        ("redundant", *names),
        f"redundant constraints: {len(dependent.dropped)} {'equation' if one else 'equations'} of "
        f"{listed(names)}{place} {why if others else 'repeat others of it'}; left out, the "
        "multipliers are zero",
    )
    at = jacobian.offsets
    return Redundant(
        at[np.isin(jacobian.keys[at], dependent.dropped)], dependent.independent, some=True
    )


@dataclass
class _DependentRows:
    """Keys of rows: those that others imply, all of these combinations, contradictions.

    `independent`, on rank 0: what is left of each group with rows that others imply.
    """

    dropped: Ints
    used: Ints
    wrong: Ints
    independent: list[Ints]


def _search(jacobian: Jacobian) -> _DependentRows:
    comm = jacobian.system.comm
    state = jacobian.system.state.copy()
    elsewhere = TRIAL_STEP * jacobian.scale * jacobian.numbering.random(5)
    other = jacobian.here(state + np.where(jacobian.movable, elsewhere, 0.0))
    of_structure = structure(jacobian.here(state), other)
    jacobian.peel(of_structure)
    data = jacobian.gather(of_structure)
    groups = [] if data is None else _dependent(jacobian, data)
    none = np.zeros(0, dtype=np.int64)
    if not comm.bcast(len(groups)):
        return _DependentRows(none, none, none, [])
    root = data is not None
    jacobian.move(state, joined(groups, [g.sideways() for g in groups]) if root else None)
    groups, moved = fulfil(jacobian, state, groups)
    independent: list[Ints] = []
    dropped, used, wrong = [none], [none], [none]
    for group in groups if root else ():
        vectors = group.dependences()
        if not vectors:
            continue
        implied = _implied(vectors)
        dropped.append(group.rows[implied])
        independent.append(np.delete(group.rows, implied))
        involved = np.unique(np.concatenate([r[np.abs(v) > SMALL_SHARE] for r, v in vectors]))
        used.append(group.rows[involved])
        residual = max(abs(float(v @ group.phi[r])) for r, v in vectors)
        if moved < 1e-8 and residual > CONTRADICTION_TOLERANCE * jacobian.size:
            wrong.append(group.rows[involved])
    sets = comm.bcast([np.sort(np.concatenate(part)) for part in (dropped, used, wrong)])
    return _DependentRows(sets[0], sets[1], sets[2], independent)


def _dependent(jacobian: Jacobian, data: JacobianRows) -> list[ConstraintGroup]:
    """Return the groups with rows that depend on others; warn of those too large to be searched."""
    groups: list[ConstraintGroup] = []
    for group in groups_of(data):
        if not group.elimination.complete:
            jacobian.system.once.warn(
                ("not searched", len(group.rows)),
                f"{len(group.rows)} equations of constraints were not searched for redundant "
                "ones: they share too many coordinates; where some follow from others, "
                "solutions fail",
            )
        elif group.elimination.count:
            groups.append(group)
    return groups

# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that others imply: found, named, and taken out of the unknowns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..errors import ConstraintError, ParameterError
from ..runtime.collective import share_error, together
from .dependent import STEP, Group, Jacobian, fulfil, groups_of, joined, named, structure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration
    from ..assembly.piece import Piece


WRONG = 1e-7  # of the body's size: a combination of constraints that is not fulfilled


def _implied(basis: Array) -> list[int]:
    """Choose as many rows as there are dependences, the last ones that the others imply."""
    chosen: list[int] = []
    left = basis.copy()
    for row in range(len(left) - 1, -1, -1):
        length = np.linalg.norm(left[row])
        if len(chosen) < basis.shape[1] and length > 1e-6:
            unit = left[row] / length
            left -= np.outer(left @ unit, unit)
            chosen.append(row)
    return chosen


@dataclass(frozen=True)
class Redundant:
    """Equations that others imply.

    Attributes
    ----------
    left_out : local offsets of their multipliers.
    groups : keys of the equations left of each group that has some; on rank 0.
    """

    left_out: Ints
    groups: list[Ints]


def find_redundant(system: Configuration, pieces: Sequence[Piece]) -> Redundant:
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
        where Phi is least.
    """
    pieces = [piece for piece in pieces if piece.role == "constraint"]
    none = Redundant(np.zeros(0, dtype=np.int64), [])
    if not pieces:
        return none
    jacobian = Jacobian(system, pieces)
    try:
        with together(system.comm):
            jacobian.plan.update(system.time)
        found = _search(jacobian)
    except ParameterError:
        return none  # a value is missing or wrong: whoever prescribes values will say so
    finally:
        jacobian.close()
    if len(found.wrong):
        names, place = named(jacobian, pieces, found.wrong)
        text = f"the constraints {' and '.join(map(repr, names))} contradict each other{place}"
        share_error(system.comm, ConstraintError(text))
    if not len(found.dropped):
        return none
    names, place = named(jacobian, pieces, found.dropped)
    others = [n for n in named(jacobian, pieces, found.used)[0] if n not in names]
    if system.comm.rank == 0:
        of = " and ".join(map(repr, names))
        one = len(found.dropped) == 1
        why = f"{'follows' if one else 'follow'} from those of {' and '.join(map(repr, others))}"
        warnings.warn(
            f"redundant constraints: {len(found.dropped)} {'equation' if one else 'equations'} of "
            f"{of}{place} {why if others else 'repeat others of it'}; left out, the multipliers "
            "are zero",
            stacklevel=4,
        )
    at = jacobian.offsets
    return Redundant(at[np.isin(jacobian.keys[at], found.dropped)], found.kept)


@dataclass
class _Found:
    """Keys of rows: those that others imply, all of these combinations, contradictions.

    `kept`, on rank 0: what is left of each group with rows that others imply.
    """

    dropped: Ints
    used: Ints
    wrong: Ints
    kept: list[Ints]


def _search(jacobian: Jacobian) -> _Found:
    comm = jacobian.system.comm
    state = jacobian.system.state.copy()
    data = jacobian.at(state)
    elsewhere = STEP * jacobian.scale * jacobian.numbering.random(5)
    other = jacobian.at(state + np.where(jacobian.movable, elsewhere, 0.0))
    groups: list[Group] = []
    if data is not None and other is not None:
        groups = [g for g in groups_of(structure(data, other)) if g.dependences().shape[1]]
    none = np.zeros(0, dtype=np.int64)
    if not comm.bcast(len(groups)):
        return _Found(none, none, none, [])
    root = data is not None
    jacobian.move(state, joined(groups, [g.sideways() for g in groups]) if root else None)
    groups, moved = fulfil(jacobian, state, groups)
    dropped, used, wrong = [none], [none], [none]
    kept = []
    if root:
        for group in groups:
            basis = group.dependences()
            if not basis.shape[1]:
                continue
            implied = _implied(basis)
            dropped.append(group.rows[implied])
            kept.append(np.delete(group.rows, implied))
            involved = np.linalg.norm(basis, axis=1) > 1e-6
            used.append(group.rows[involved])
            if moved < 1e-8 and np.abs(basis.T @ group.phi).max() > WRONG * jacobian.size:
                wrong.append(group.rows[involved])
    sets = comm.bcast([np.sort(np.concatenate(part)) for part in (dropped, used, wrong)])
    return _Found(sets[0], sets[1], sets[2], kept)

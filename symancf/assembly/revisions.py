# SPDX-License-Identifier: BSD-3-Clause
"""Revisions within a solution: other lists of entities, numbers of contacts; their observers."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..arrays import Array, Ints32
    from .form import Form


REVISIONS = 12  # solutions at one time, each with what the last one asks for


class Change(IntEnum):
    """What a search has found: the same entities, others of the same vertices, or others."""

    NONE, WITHIN, OTHER = 0, 1, 2


class Verdict(IntEnum):
    """What a term thinks of a solution; the largest of all terms counts.

    STANDS: the step may end. LONG: it may, and is better made in parts if one of statics. AGAIN:
    the term has changed something, such as a stiffness, and Newton's method goes on from here.
    CUT: the step is too long, it is made again in parts.
    """

    STANDS, LONG, AGAIN, CUT = 0, 1, 2, 3


class Review(NamedTuple):
    """The verdict on a solution, and the names of the terms from which it comes."""

    verdict: Verdict
    names: Sequence[str] = ()

    def __str__(self) -> str:
        who = ", ".join(map(repr, self.names))
        if self.verdict is Verdict.CUT:
            return f"the step is too long for {who}"
        return f"each of {REVISIONS} solutions changes {who}"


class Standing(NamedTuple):
    """What of the variables of its entities lets a solution stand without a review of the term.

    Attributes
    ----------
    variable, least : a variable, and values (n,) that it has to reach at the end of a step.
    place, stretch : the first of three that are a place, and of three that it may be off by
        (""; none): their change in a step, with twice both stretches, is
    far : at most these (n,).
    """

    variable: str
    least: Array
    place: str
    stretch: str
    far: Array

    def holds(self, names: Sequence[str], before: Array, after: Array) -> bool:
        """Tell whether it is so for variables (n, rows), by name, at both ends of a step."""
        row = names.index
        place, stretch = (row(self.place), row(self.stretch) if self.stretch else None)
        way = np.linalg.norm((after - before)[:, place : place + 3], axis=1)
        if stretch is not None:
            for end in (before, after):
                way += 2.0 * np.linalg.norm(end[:, stretch : stretch + 3], axis=1)
        reached = after[:, row(self.variable)] >= self.least
        return bool((reached & (way <= self.far)).all())


class Bounds(NamedTuple):
    """Local coordinates that let a solution stand without a review: none is below `least`."""

    coordinate: Ints32
    least: float


class HoldsVectors(Protocol):
    """Keeps local vectors from step to step, or what follows from the tangent's storage."""

    def local_vectors(self) -> list[Array]:
        """Return those that must be right at ghosts, too; a halo writes into them."""

    def relisted(self, changed: Sequence[Form], rebuilt: bool, /) -> None:
        """Take up the new lists of forms; `rebuilt`: in another pattern (collective)."""

# SPDX-License-Identifier: BSD-3-Clause
"""What a term contributes to the plan: a kernel and the entities that it is evaluated on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable, Sequence

    from symancf_codegen.declare import PointLaw

    from ..runtime.jit import Kernel
    from ..values.parameter import Value
    from .agreement import Given

Role = Literal["strain", "potential", "constraint", "work", "dissipation", "inertia"]


@dataclass
class Cells:
    """Entities of a tabulated kernel: cells with what they gather, and the maps of their nodes.

    `widths` (parts,): a node's coefficient vectors in runs, e.g. 1 for the position and 2 for its
    slopes; `blocks` (n, nodes, parts): local offset of each run; `maps` (n, nodes, m, m): the last
    m vectors of the cell = maps . those of the node; `scalars` (n, k): local offsets of
    further unknowns of the kernel, `Space.with_scalars`; the last k vertices of an entity are
    theirs.
    """

    blocks: Ints32
    maps: Array
    widths: tuple[int, ...]
    scalars: Ints32 = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int32))


@dataclass
class Jets:
    """Entities of a point kernel: each jet a sparse combination of local coordinates.

    One row per non-zero, sorted by entity: `entity`, `jet`, `coordinate` (offset in the
    local vector), `vertex` (number within the entity's vertices) and `value`. An entry of
    the rate of coordinate c has the coordinate ~c = -1 - c; no force acts on it.
    """

    entity: Ints32
    jet: Ints32
    coordinate: Ints32
    vertex: Ints32
    value: Array


class Evaluates(Protocol):
    """What evaluates pieces: a plan."""

    def replace(self, piece: Piece, /) -> None:
        """Take up the new entities of a piece."""


class Listed(Protocol):
    """Entities by their vertices: those of entity k are vertices[vertex_start[k] : ... [k + 1]]."""

    vertices: Ints32
    vertex_start: Ints32


@dataclass(eq=False)
class Former:
    """The vertices of a list that was replaced."""

    vertices: Ints32
    vertex_start: Ints32


@dataclass(eq=False)
class Piece:
    """One kernel evaluated on a list of entities; what a term contributes to the plan.

    Attributes
    ----------
    role : ``strain`` and ``potential`` are energies of the audit; ``constraint`` is
        lambda . Phi; ``work`` and ``dissipation`` (of dampers) have no energy; ``inertia`` is
        the kinetic energy of a vector of rates.
    uniform : parameter -> value for all entities (number, Parameter or function of time), in a
        slot of the kernel or in a row of `cell`.
    cell : (n, rows) per-entity parameters in the kernel's order.
    cell_at : function of time that returns them, where they change.
    given : the user's functions of which they are made.
    growing : uniform parameters that are sizes of loads which turn with the body; statics lets
        them grow where they are there at once.
    owned : (n,) whether this rank counts the entity.
    vertices : (n, corners) or a flat array with `vertex_start`.
    law, multipliers : of a constraint, the point law of its kernel, lambda . Phi, and the number
        of multipliers, its last unknowns; its time derivatives are made of them.
    ids : (n,) numbers of the entities that are the same on any number of ranks.
    remembered : (n, rows) what the entities' points remember, see `Memory`: the last rows of
        `cell`, in place of those there.
    plans : of a list that changes, the plans that it is a piece of; None: it never changes.
    timed : whether the entities are functions of time.
    kinked : whether forces may have kinks, as those of contact and friction: Newton's method
        looks where full steps lead.
    former : the list before, once it was replaced.
    recall : returns `remembered` of the present list, where that changes.
    """

    name: str
    kernel: Kernel
    role: Role
    uniform: dict[str, Value]
    cell: Array
    owned: Mask
    vertices: Ints32
    vertex_start: Ints32
    entities: Cells | Jets
    cell_at: Callable[[float], Array] | None = None
    given: Sequence[Given] = ()
    growing: tuple[str, ...] = ()
    law: PointLaw | None = None
    multipliers: int = 0
    plans: list[weakref.ref[Evaluates]] | None = None
    timed: bool = False
    kinked: bool = False
    former: Former | None = None
    ids: Ints | None = None
    remembered: Array | None = None
    recall: Callable[[], Array] | None = None
    _joined: tuple[Array, Array, Array] | None = field(default=None, repr=False)

    def changing(self, time: float) -> Array | None:
        """Return the rows of `cell` at a time; the same array as before where nothing changed."""
        cell = None if self.cell_at is None else self.cell_at(time)
        if self.remembered is None:
            return cell
        cell = self.cell if cell is None else cell
        known = self._joined
        if known is None or known[0] is not cell or known[1] is not self.remembered:
            joined = cell.copy()
            joined[:, joined.shape[1] - self.remembered.shape[1] :] = self.remembered
            known = self._joined = cell, self.remembered, joined
        return known[2]

    def replace(self, other: Piece) -> None:
        """Take the entities of another piece of the same kernel, in all plans (between steps)."""
        assert self.plans is not None, f"the list of {self.name!r} does not change"
        self.former = Former(self.vertices, self.vertex_start)
        listed = "ids", "owned", "vertices", "vertex_start", "entities"
        for name in (*listed, "cell", "cell_at", "given"):
            setattr(self, name, getattr(other, name))
        if self.recall is not None:
            self.remembered = self.recall()
        self.plans[:] = [plan for plan in self.plans if plan() is not None]
        for plan in [known() for known in self.plans]:
            if plan is not None:
                plan.replace(self)

    @property
    def size(self) -> int:
        """Number of entities."""
        return len(self.owned)

# SPDX-License-Identifier: BSD-3-Clause
"""Rods that turn by so much within a cell that their directors say little between nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mpi4py import MPI

if TYPE_CHECKING:
    from ..arrays import CStructure, Ints
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.numbering import Numbering

#: degrees between neighbouring nodes; from 57 on a constant moment is not held
MAX_FOLD_ANGLE = 50.0


class _Link(NamedTuple):
    """Two neighbouring nodes of each cell of a body, and (n, 2, 9) the offsets of their F."""

    body: Any
    nodes: tuple[int, int]
    rows: Ints


class Folds:
    r"""Warns where sections of neighbouring nodes stand at a large angle to each other.

    Directors are interpolated: between nodes whose sections F differ by a rotation by phi they
    are shorter, by 1 - cos(phi/2) in the middle, and the rod is too soft: a constant moment turns
    it by 0.5 % too much where phi is 23 degrees, by 1.6 % at 30, by 11 % at 50, and from 57 on it
    folds within a cell. With :math:`|F|^2 = 3`,

    .. math:: 1 + 2 \cos\varphi = F_a : F_b .
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system = system
        elements = [(body, vars(body).get("element")) for body in system.bodies]
        self.bodies = [b for b, e in elements if e is not None and e.kinematics().penalties]
        self._cached: tuple[Numbering, list[_Link]] | None = None
        self._lent: Numbering | None = None

    def _links(self) -> list[_Link]:
        """Return the links between neighbouring nodes, found once for each numbering."""
        system = self.system
        if self._cached is None or self._cached[0] is not system.numbering:
            links = []
            for body in self.bodies:
                on = system.binding(body).interpolation
                rows = on.offset(on.cells, "slope0")[..., None] + np.arange(9)
                links += [_Link(body, at, rows[:, at]) for at in body.element.topology.links]
            self._cached = system.numbering, links
        return self._cached[1]

    def lend(self, sections: CStructure) -> None:
        """Let C look at links, which asks for `look` where a body folds; see sections.h."""
        if self._lent is self.system.numbering:
            return
        links = self._links()
        names = [self.bodies.index(link.body) for link in links]
        sections.give(
            links=sum(len(link.rows) for link in links),
            link=np.concatenate([link.rows for link in links]),
            body=np.repeat(names, [len(link.rows) for link in links]),
            told=np.zeros(len(self.bodies), np.uint8),
            reference=self.system.reference,
            least_cosine=np.cos(np.radians(MAX_FOLD_ANGLE)),
        )
        self._lent = self.system.numbering

    def look(self, when: str) -> None:
        """Look at the present state (collective)."""
        system = self.system
        if not self.bodies:
            return
        links = self._links()
        F = (system.reference + system.state)[np.concatenate([link.rows for link in links])]
        product = np.einsum("nik,nik->ni", F, F).prod(axis=1) ** -0.5
        cosine = 1.5 * product * np.einsum("nk,nk->n", F[:, 0], F[:, 1]) - 0.5
        worst, place = (
            float(np.degrees(np.arccos(np.clip(cosine.min(initial=1.0), -1.0, 1.0)))),
            None,
        )
        if worst > MAX_FOLD_ANGLE:
            k = int(np.argmin(cosine))
            of = int(np.searchsorted(np.cumsum([len(link.rows) for link in links]), k, "right"))
            k -= sum(len(link.rows) for link in links[:of])
            on = system.binding(links[of].body).interpolation
            at = on.points[on.cells[k, list(links[of].nodes)]].mean(axis=0)
            place = system.name(links[of].body), at
        comm = system.comm
        _, rank = comm.allreduce((worst if place else 0.0, comm.rank), op=MPI.MAXLOC)
        fold = comm.bcast((worst, place), root=rank)
        if fold[1] is None:
            return
        worst, (name, x) = fold
        system.once.warn(
            ("folds", name),
            f"{when} sections of neighbouring nodes of body {name!r} stand at an angle of "
            f"{worst:.0f} degrees, near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) of the reference: "
            f"from {MAX_FOLD_ANGLE:.0f} on a rod bends by 11 % too much or more, until it folds "
            "within a cell; take more cells",
        )

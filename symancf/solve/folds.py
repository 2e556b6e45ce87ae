# SPDX-License-Identifier: BSD-3-Clause
"""Rods that turn by so much within a cell that their directors say little between nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem

#: degrees between neighbouring nodes; from 57 on a constant moment is not held
MAX_FOLD_ANGLE = 50.0


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
        elements = [(body, getattr(body, "element", None)) for body in system.bodies]
        self.bodies = [b for b, e in elements if e is not None and e.kinematics().penalties]

    def look(self, when: str) -> None:
        """Look at the present state (collective)."""
        system = self.system
        if not self.bodies:
            return
        worst, place = MAX_FOLD_ANGLE, None
        q = system.reference + system.state
        for body in self.bodies:
            on = system.binding(body).interpolation
            F = q[on.offset(on.cells, "slope0")[..., None] + np.arange(9)]
            F /= np.linalg.norm(F, axis=2, keepdims=True)
            for a, b in body.element.topology.links:
                cosine = 1.5 * np.einsum("nk,nk->n", F[:, a], F[:, b]) - 0.5
                angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
                if angle.max(initial=0.0) > worst:
                    k = int(np.argmax(angle))
                    worst, at = float(angle[k]), on.points[on.cells[k, [a, b]]].mean(axis=0)
                    place = system.name(body), at
        comm = system.comm
        _, rank = comm.allreduce((worst if place else 0.0, comm.rank), op=MPI.MAXLOC)
        found = comm.bcast((worst, place), root=rank)
        if found[1] is None:
            return
        worst, (name, x) = found
        system.once.warn(
            ("folds", name),
            f"{when} sections of neighbouring nodes of body {name!r} stand at an angle of "
            f"{worst:.0f} degrees, near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) of the reference: "
            f"from {MAX_FOLD_ANGLE:.0f} on a rod bends by 11 % too much or more, until it folds "
            "within a cell; take more cells",
        )

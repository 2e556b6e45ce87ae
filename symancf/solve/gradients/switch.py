# SPDX-License-Identifier: BSD-3-Clause
"""Distance of a state to a switch of contact, where derivatives jump."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...contact.contact import Contact

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem


def touches(system: DiscreteSystem) -> bool:
    """Tell whether there is contact."""
    return any(isinstance(term, Contact) for term in system.terms)


def distance_to_switch(system: DiscreteSystem) -> float:
    """Return how near a contact is to a switch at the present state, inf without one (collective).

    The least of |gap|/l, l the local size, and of ||trial force| - limit|/limit of friction.
    """
    contacts = (term for term in system.terms if isinstance(term, Contact))
    found = [system.binding(term).margin(system) for term in contacts]
    return float(system.comm.allreduce(min(found, default=np.inf), op=MPI.MIN))


def warn_at_switch(
    system: DiscreteSystem,
    distance: float,
    what: str = "a point is about to touch, to stick or to slide (by {:.1e} of its size or limit)",
    near: float = 1e-8,
) -> None:
    """Warn where something is at a switch, but for round-off; `what` says what, and how near."""
    if distance < near:
        text = f"{what.format(distance)}: the gradient is that of one side alone"
        system.once.warn("gradient at a switch", text)

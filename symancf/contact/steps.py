# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a contact that belong to the step: grown stiffness, overlap let out, damper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..assembly.state import StateVariable
from ..kinematics.quantity import real
from ..values.parameter import OfStep
from .laws import DAMPING, SPAN

if TYPE_CHECKING:
    from ..arrays import Array
    from ..assembly.configuration import Configuration
    from ..values.parameter import Scalar

GROWN, RELEASE = real("grown"), real("release")
OVERLAP = real("overlap")  # of a point in the reference, where it is let out [m]


class ContactNumbers:
    """The numbers of one contact in one system.

    Parameters
    ----------
    name : of the contact.
    damping : theta in the steps of motions.
    overlap : part of an initial overlap that is there at first.

    Attributes
    ----------
    variable : `grown`, `overlap`, whether the last step was one of a motion, the factor of the
        stiffness beyond which a step could not be solved, and whether the present one has just
        grown and is tried; they belong to the state.
    uniform : parameters of laws by name.
    """

    def __init__(
        self, configuration: Configuration, name: str, damping: float, overlap: float
    ) -> None:
        self.configuration, self.damping = configuration, damping
        first = np.array([1.0, overlap, 0.0, np.inf, 0.0])
        self.variable = StateVariable(name, first, _learn)
        self.uniform: dict[str, Scalar] = {
            GROWN.name: OfStep(lambda time: self.grown),
            RELEASE.name: OfStep(lambda time: self.overlap if self.moves else 0.0),
            DAMPING.name: OfStep(self._damping),
            SPAN.name: OfStep(self._span, is_length=damping > 0.0),
        }

    @property
    def grown(self) -> float:
        """Factor of the stiffness."""
        return float(self.variable.value[0])

    @property
    def overlap(self) -> float:
        """Part of the initial overlap that is not let out yet."""
        return float(self.variable.value[1])

    @property
    def moves(self) -> bool:
        """Whether a motion is being solved, not a static problem."""
        return self.configuration.moves

    @property
    def most(self) -> float:
        """The largest factor of the stiffness with which steps can be solved, as is known."""
        return float(self.variable.value[3])

    def put(self, grown: float, overlap: float) -> None:
        """Take other numbers; a stiffness that has grown is tried."""
        grows = grown > self.grown
        self.variable.value = np.array([grown, overlap, self.moves, self.most, grows], dtype=float)

    def _span(self, time: float) -> float:
        """Return the length of the step in a motion."""
        return self.configuration.memory.length(time) if self._damping(time) else 0.0

    def _damping(self, time: float) -> float:
        """Return theta in steps of a motion; at its start the last step is one of statics.

        Of a part of a step, to an event, as much more as that is shorter: forces do not jump there.
        """
        memory = self.configuration.memory
        if not (self.moves and (bool(self.variable.value[2]) or memory.stepping)):
            return 0.0
        return self.damping * (
            memory.full_length / memory.length(time) if memory.full_length else 1.0
        )


def _learn(failed: Array, begin: Array) -> Array:
    """Return what a step begins with after one that failed, perhaps with a larger stiffness."""
    most = min(failed[3], begin[3], begin[0] if failed[4] else np.inf)
    return np.array([*begin[:3], most, begin[4]])

# SPDX-License-Identifier: BSD-3-Clause
"""Normals of contact that stay in the first, rough solutions of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...newton import Aid

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem

MAX_ROUGH_SOLUTIONS = 3  # rough solutions
#: [rad] by which a solution turns the normals where they are good enough
NORMAL_TURN_TOLERANCE = 0.02


class Normals(Aid):
    """Lets terms hold what follows the state and may lead Newton's method astray.

    It is held in up to `MAX_ROUGH_SOLUTIONS` solutions before the others, until they turn it by
    less than `NORMAL_TURN_TOLERANCE`.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system = system
        self._holds = False

    def hold(self, k: int) -> bool:
        """Prepare the k-th solution of a step; tell whether something is held in it."""
        if k and not self._holds:
            return False
        self._holds = k < MAX_ROUGH_SOLUTIONS
        turned = self.system.hold_normals(self._holds, k == 0)
        if 0 < k < MAX_ROUGH_SOLUTIONS and turned < NORMAL_TURN_TOLERANCE:
            self.release()
        return self._holds

    def release(self) -> None:
        """Hold nothing any more."""
        self._holds = False
        self.system.hold_normals(False, False)

# SPDX-License-Identifier: BSD-3-Clause
"""Normals of contact that stay in the first, rough solutions of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...newton import Aid

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem

MOST = 3  # rough solutions
TURN = 0.02  # [rad] by which a solution turns the normals where they are good enough


class Normals(Aid):
    """Lets terms hold what follows the state and may lead Newton's method astray.

    It is held in up to `MOST` solutions before the others, until they turn it by less than `TURN`.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system = system
        self._holds = False

    def hold(self, k: int) -> bool:
        """Prepare the k-th solution of a step; tell whether something is held in it."""
        if k and not self._holds:
            return False
        self._holds = k < MOST
        turned = self.system.hold_normals(self._holds, k == 0)
        if 0 < k < MOST and turned < TURN:
            self.release()
        return self._holds

    def release(self) -> None:
        """Hold nothing any more."""
        self._holds = False
        self.system.hold_normals(False, False)

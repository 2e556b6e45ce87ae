# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies that turn too far in a step of generalized-alpha."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints
from ...bodies.natural import RigidBody

if TYPE_CHECKING:
    from .motion import Motion

MOST = 0.15  # rad a step: the spin of a free body is right to 1e-3 a turn
SHARE = 0.75  # MOST or this part of 1 - rho: longer steps lose the spin, or end without a solution


def farthest(rho: float) -> float:
    """Return the angle [rad] that a body may turn in a step.

    Tried with bodies that turn freely, rho from 0.5 to 0.95, 400 steps.
    """
    return min(MOST, SHARE * (1.0 - rho))


class Spin:
    """Warns once where rigid bodies have turned by a whole turn in steps that are too long.

    The angle of a step is |omega| h, with 2 |omega|^2 the sum of the squares of the rates of the
    three axes. Steps as long as allowed do not count: an impact does not spoil a motion.
    """

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        system = motion.system
        self.bodies = [body for body in system.bodies if isinstance(body, RigidBody)]
        self._length = np.array([body.length for body in self.bodies])
        self._turned = np.zeros(len(self.bodies))
        self._rows: tuple[Ints, Ints] | None = None
        self._told = False

    def forget(self) -> None:
        """Forget where the coordinates of the bodies are."""
        self._rows = None

    @property
    def looks(self) -> bool:
        """Whether `look` may still warn."""
        return bool(self.bodies) and not self._told

    def _find(self) -> tuple[Ints, Ints]:
        """Return the bodies that are here and the local offsets (n, 12) of their coordinates."""
        system = self.motion.system
        found = [body.here(system) for body in self.bodies]
        here = np.array([k for k, rows in enumerate(found) if len(rows)], dtype=np.int64)
        return here, np.array([found[k] for k in here], dtype=np.int64).reshape(-1, 12)

    def look(self, h: float, rho: float) -> None:
        """Look at a step of length h (collective)."""
        if not self.looks:
            return
        self._rows = self._rows or self._find()
        here, rows = self._rows
        rate: Array = self.motion.rate[rows].reshape(-1, 4, 3)
        rate[:, 0] = (rate[:, 1] - rate[:, 0]) / self._length[here, None]
        rate[:, 1] = 0.0
        angle = h * np.sqrt(0.5 * (rate * rate).sum(axis=(1, 2)))
        self._turned[here] += np.where(angle > farthest(rho), angle, 0.0)
        most = float(self._turned[here].max(initial=0.0))
        comm = self.motion.system.comm
        worst, rank = (most, 0) if comm.size == 1 else comm.allreduce((most, comm.rank), MPI.MAXLOC)
        if worst <= 2.0 * math.pi:
            return
        self._told = True
        k = int(np.argmax(self._turned[here])) if rank == comm.rank else 0
        found = (int(here[k]), float(angle[k])) if rank == comm.rank else None
        body, far = found if comm.size == 1 and found else comm.bcast(found, rank)
        if comm.rank == 0:
            warnings.warn(
                f"{self.motion.system.name(self.bodies[body])} turns by {far:.2g} rad in a step of "
                f"{h:.3g}: with rho = {rho:g} generalized-alpha may lose the spin of a body that "
                f"turns by more than {farthest(rho):.2g}. Take steps of at most "
                f"{h * farthest(rho) / far:.2g}"
                + (", or rho=0.8" if rho > 0.85 else "")
                + " (told once)",
                stacklevel=6,
            )

# SPDX-License-Identifier: BSD-3-Clause
"""Loads at which a structure buckles that turns before: from an equilibrium next to them."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...errors import ConvergenceError, SymancfError
from ..statics.problem import StaticProblem
from .search import EXTRA_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...arrays import Array
    from ...output.history import History
    from ...output.steps import Step
    from ...runtime.once import Once
    from ...system import System
    from ..statics.arc import Arc
    from .shapes import Buckling

#: of a load, by which the tangent's second derivative moves it: it is told
CURVED_PATH_TOLERANCE = 0.05
MAX_PATH_LENGTH = 1.0  # of the largest body: how far a path is followed for a load
MOST_EQUILIBRIA = 60  # equilibria of it
NEXT_TO_LOAD = 0.01  # of the way to a load: an equilibrium next to it
NO_LOAD = 0.3  # likewise: no load, half of the way is a tangent that is not singular there


class OnPath:
    """The path of equilibria from the present state to the first load (collective).

    Attributes
    ----------
    model : the system of the user.
    equilibria : how many were solved.
    """

    def __init__(self, model: System, arc: Arc, buckling: Buckling, direction: int) -> None:
        self.model, self.arc, self.buckling, self.direction = model, arc, buckling, direction
        self.system, self.present = arc.system, arc.value
        self.begun, self.scale = self.system.state.copy(), self.system.stiffness
        self.stable: tuple[Array, float] | None = None
        self.equilibria = 0

    def beside(self, count: int, linear: Callable[[Arc, int, int], Buckling]) -> Buckling:
        """Return the loads that the tangent next to the first one tells; else those `buckling`.

        So it is where nothing is singular until something has moved by the size of the largest
        body, and where laws remember the way or bodies touch. The system is left as it was.
        """
        system = self.system
        if system.memory.forms or system.changing:
            return self.buckling
        bound = system.numbering.those("multiplier", "algebraic", "tie")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                at = self._singular()
                near = (
                    None if at is None else linear(self.arc, count + EXTRA_NUMBERS, self.direction)
                )
        except SymancfError:
            near = None
        finally:
            self.begun[bound] *= self.scale / system.stiffness
            system.state[:] = self.begun
            self.arc.prescribe(self.present)
        near = near and near.beside(float(at or 0.0), self.present, count, NO_LOAD)
        loads = near or self.buckling
        loads.equilibria = self.equilibria
        return loads

    def _singular(self) -> float | None:
        """Return the first load at which the tangent is singular; go to a state next to it."""
        arc, system, parameter = self.arc, self.system, self.arc.parameter
        assert not isinstance(parameter, str)
        statics = StaticProblem(self.model, check_stable=False)

        def reached(step: Step) -> bool:
            self.equilibria += 1
            ends = _reported(statics.history) is not None
            if not ends and step.unstable == 0:
                self.stable = system.state.copy(), arc.value
            return ends or self._moved() > MAX_PATH_LENGTH or self.equilibria >= MOST_EQUILIBRIA

        first = abs(float(self.buckling.values[0]) - self.present)
        with suppress(ConvergenceError):
            statics.follow(parameter, step=first, direction=self.direction, until=reached)
        at = _reported(statics.history)
        if at is None or self.stable is None:
            return None
        system.state[:], value = self.stable
        beside = at - NEXT_TO_LOAD * (at - self.present)
        arc.prescribe(value)
        if abs(at - value) > abs(at - beside):
            arc.prescribe(beside)
            statics.solve(to=system.time)
            self.equilibria += 1
        return at

    def _moved(self) -> float:
        """Return the largest change of the state, in sizes of the largest body (collective)."""
        system = self.system
        moves = system.numbering.those("position", "direction", "angle", "sliding")
        change = (system.state - self.begun) / system.numbering.natural(system.extent)
        most = float(np.abs(change[moves]).max(initial=0.0))
        return float(system.comm.allreduce(most, op=MPI.MAX))


def _reported(history: History) -> float | None:
    """Return the first load at which the tangent was found to be singular."""
    points = [*history.bifurcations, *history.limit_points]
    return float(points[0].parameter) if points else None


def tell(once: Once, buckling: Buckling, count: int) -> None:
    """Warn of loads that are missing, and of doubtful ones."""
    name, values, bends = buckling.parameter, buckling.values, buckling.bends
    doubtful = np.flatnonzero(~(np.abs(bends) <= CURVED_PATH_TOLERANCE))
    if buckling.checked is False:
        once.warn(
            ("loads missing", name),
            f"buckle({name}): not all loads were found, {len(values)} of {count}, "
            "and others may be missing between them; {'eigen': 'dense'} finds all",
        )
    if len(doubtful):
        text = ", ".join(f"{values[k]:.4g} by {100 * bends[k]:.2g} %" for k in doubtful[:3])
        once.warn(
            ("loads doubtful", name),
            f"buckle({name}): loads are doubtful, since the tangent is not linear on "
            f"the way to them: its second derivative moves {text}. "
            + (
                "Slender members that turn before make such loads, at any load, where none is: "
                if np.abs(bends[doubtful]).max() > NO_LOAD
                else f"Load the structure to a part of the least, {name}.value = "
                "..., solve, and ask again until they stay, or "
            )
            + f"follow the path, sa.StaticProblem(...).follow({name}, to=...)",
        )

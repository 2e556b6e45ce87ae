# SPDX-License-Identifier: BSD-3-Clause
"""The states at the ends of all steps of a motion, for the sweep backwards of its gradients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ...runtime.display import Displayable
from ...values.parameter import label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...arrays import Array
    from ...assembly.state import State

UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


class Trace(Displayable):
    """The states of a motion at the ends of its steps, which gradients need.

    A state has displacements, rates, two accelerations and what laws remember: 32 bytes for each
    coordinate and step, and 8 for each number that is remembered.

    Parameters
    ----------
    memory : limit of one rank [bytes], or a text, ``"500 MB"``.

    Attributes
    ----------
    states : one after the other.
    nbytes : of the arrays of these on this rank.

    Raises
    ------
    ParameterError : a limit that is no size.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    >>> weight = sa.Parameter("weight", -10.0)
    >>> fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, weight))]))
    >>> trace = sa.Trace(memory="1 MB")
    >>> history = fall.solve(to=1.0, step=0.1, trace=trace)
    >>> len(trace.states)
    11
    >>> height = sa.Goal(lambda u_a: u_a[2], ball.at((0.0, 0.0, 0.0)))
    >>> round(fall.gradient(height, [weight])[weight], 9)
    0.5
    """

    def __init__(self, memory: float | str = "4 GB") -> None:
        self.memory = self._bytes(memory)
        self.states: list[State] = []
        self.nbytes = 0

    @staticmethod
    def _bytes(given: float | str) -> float:
        """Return the number of bytes of a size."""
        size: float = np.nan
        if isinstance(given, str):
            found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kMGT]B)\s*", given)
            if found is not None and found[1].count(".") <= 1:
                size = float(found[1]) * UNITS[found[2]]
        elif not isinstance(given, bool):
            size = float(given)
        if not size > 0.0:
            raise ParameterError(
                f"Trace(memory={label(given)}): give bytes, or a text as '4 GB'",
                asked="memory",
                given=label(given),
                possible=tuple(UNITS),
            )
        return size

    def _headline(self) -> str:
        """Return how many states there are, and their size."""
        return f"Trace of {len(self.states)} states, {self.nbytes / 1e6:.3g} MB"

    def _facts(self) -> list[tuple[str, str]]:
        """Return the limit."""
        return [("memory", f"at most {self.memory / 1e6:.3g} MB")]

    def clear(self) -> None:
        """Forget all states."""
        self.states, self.nbytes = [], 0

    def append(self, state: State) -> None:
        """Take one more state.

        Raises
        ------
        ParameterError : it is more than `memory`.
        """
        self.nbytes += sum(array.nbytes for array in _own_arrays(state))
        if self.nbytes > self.memory:
            raise ParameterError(
                f"the trace has {len(self.states)} states and would exceed its limit of "
                f"{self.memory / 1e6:.3g} MB at t = {state.time:g}: give Trace(memory=...) more, "
                "or make fewer steps",
                asked="memory",
                given=self.memory,
            )
        self.states.append(state)


def _own_arrays(state: State) -> Iterator[Array]:
    """Return the arrays that a state does not share with the one before."""
    yield state.displacement
    for part in (state.rate, state.acceleration):
        if part is not None:
            yield part
    yield from state.internal.next
    yield from (part for part in state.method.values() if isinstance(part, np.ndarray))

# SPDX-License-Identifier: BSD-3-Clause
"""Tensions of a cord at first: the same everywhere, or pulled from one end by friction."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ParameterError
from ..values.parameter import label, reals

WITHIN = 1.0 - 1e-9  # of the friction that holds the tensions: what is at rest sticks


class Pretension(NamedTuple):
    """A tension [N], and the end that was pulled; None: it is the same everywhere."""

    force: float
    pulled: Literal["start", "end"] | None = None

    def along(self, grip: Array) -> Array:
        """Return the tensions of segments (n,), where places (n + 1,) have mu theta = `grip`."""
        if self.pulled is None:
            return np.full(len(grip) - 1, self.force)
        behind = grip[:-1] if self.pulled == "start" else grip[:0:-1]
        tensions: Array = self.force * np.exp(-WITHIN * np.cumsum(behind))
        return tensions if self.pulled == "start" else tensions[::-1]


def pretension(what: str, given: Any) -> Pretension:
    """Return what is given as ``tension=``, a number or a pair of a number and an end.

    Raises
    ------
    ParameterError : it is neither, or negative.
    """
    force, pulled = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    value = reals(force)
    if value.shape != () or value < 0.0 or pulled not in (None, "start", "end"):
        raise ParameterError(
            f"{what}: tension is {label(given)}: give a number that is not negative [N], or "
            "(number, 'start') or (number, 'end') where it was pulled from there",
            asked="tension",
            given=given,
            possible=("T", "(T, 'start')", "(T, 'end')"),
        )
    return Pretension(float(value), pulled)

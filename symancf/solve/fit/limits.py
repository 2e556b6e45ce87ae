# SPDX-License-Identifier: BSD-3-Clause
"""Between which values constants are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...values.domain import Domain, NotZero

if TYPE_CHECKING:
    from ...arrays import Array


@dataclass(frozen=True)
class Limits:
    """Domains that laws declare, and bounds that the user gives, by the names of constants.

    Attributes
    ----------
    sizes : of constants in their units, by which those near 0 are looked at; by default 1.
    """

    domains: Mapping[str, Domain]
    bounds: Mapping[str, tuple[float, float]]
    sizes: Mapping[str, float] = field(default_factory=dict)

    def interval(self, name: str, value: float) -> tuple[float, float]:
        """Return the bounds of a constant that begins at a value."""
        domain = self.domains.get(name, Domain())
        low, high = domain.low, domain.high
        if isinstance(domain, NotZero):
            low, high = (0.0, np.inf) if value > 0.0 else (-np.inf, 0.0)
        least, largest = self.bounds.get(name, (-np.inf, np.inf))
        return max(low, least), min(high, largest)

    def has_sign(self, name: str) -> bool:
        """Whether a constant may have one sign alone, or any value."""
        return not isinstance(self.domains.get(name), NotZero)

    def inside(self, name: str, value: float) -> bool:
        """Whether a constant is not at one of its bounds."""
        low, high = self.interval(name, value)
        size = high - low if np.isfinite(high - low) else self.sizes.get(name, 1.0)
        ends = [end for end in (low, high) if np.isfinite(end)]
        return all(abs(value - end) > 1e-6 * max(abs(end), 1e-6 * size) for end in ends)

    def told(self, names: Iterable[str], theta: Array) -> list[str]:
        """Return a sentence about constants that ended at a bound."""
        pairs = zip(names, theta, strict=True)
        at = [f"{n} = {x:g}" for n, x in pairs if not self.inside(n, x)]
        return [f"at a bound of its domain: {', '.join(at)}"] if at else []


def interior(x: Array, low: Array, high: Array) -> Array:
    """Move a start off its bounds."""
    gap = np.minimum(1e-6, 1e-3 * (high - low))
    return np.clip(x, low + gap, high - gap)

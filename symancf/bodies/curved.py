# SPDX-License-Identifier: BSD-3-Clause
"""Which cells of a cable have a curved reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..arrays import Mask
from ..places.interpolation import Interpolation

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..places.edges import Interpolated


@dataclass(frozen=True)
class Curved:
    """Which cells of a cable on this rank are curved, and whether some are anywhere, or are not."""

    cells: Mask
    some: bool
    some_straight: bool

    @classmethod
    def of(cls, body: Interpolated, configuration: Configuration) -> Curved:
        """Return those of a cable in a configuration (collective on first use)."""
        found = configuration.layout.find(body, Curved)
        if found is None:
            mine = configuration.of(body, Interpolation).curved()
            some = configuration.comm.allreduce([bool(mine.any()), bool((~mine).any())])
            found = configuration.keep(body, cls(mine, any(some[0::2]), any(some[1::2])))
        return found

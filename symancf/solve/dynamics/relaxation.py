# SPDX-License-Identifier: BSD-3-Clause
"""Whether steps of a motion are short for what relaxes in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..turns import MAX_FORCE_CHANGE, in_halves, names_of_memory

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.state import State


class Relaxation:
    """What laws that ask for the length of the step would make of two halves, at some steps.

    Attributes
    ----------
    largest : force of these laws at the steps that were looked at.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system, self.largest = system, 0.0

    @staticmethod
    def until_look(number: int) -> int:
        """Return how many steps there are from one to the next that is looked at: 0, it is.

        Examples
        --------
        >>> [n for n in range(100) if Relaxation.until_look(n) == 0]
        [2, 5, 12, 30, 75]
        """
        look = 2
        while look < number:
            look += look + look // 2
        return look - number

    def look(self, before: State) -> float:
        """Compare the last step with its halves; return the length of the next over its own.

        The one that makes the difference of forces `MAX_FORCE_CHANGE` of the largest. Positions in
        the middle are those of a cubic through both ends and their rates. Warns where the
        difference is larger (collective).

        Parameters
        ----------
        before : the beginning of the step.
        """
        system, local, h = (
            self.system,
            self.system.numbering.local,
            self.system.memory.values.length,
        )
        begin, rate = local(before.displacement), local(before.rates[0])
        middle = (begin + system.state) / 2.0 + h / 8.0 * (rate - system.rate)
        found = in_halves(system, begin, middle)
        if found is None or not found.size:
            return math.inf
        grows = found.size > 1.6 * self.largest  # their size is not known yet
        self.largest = max(self.largest, found.size)
        share = found.change / self.largest
        names = names_of_memory(system)
        if share > MAX_FORCE_CHANGE and not grows:
            system.once.warn(
                ("relaxation", names),
                f"the step of {h:.3g} to t = {system.time:.6g} is long for what relaxes in "
                f"{names}: in two halves its forces would end by {100.0 * share:.2g} % of the "
                "largest elsewhere; take shorter steps, step=, or adaptive=True",
            )
        return min(2.0, max(0.2, 0.9 * math.sqrt(MAX_FORCE_CHANGE / max(share, 1e-300))))

# SPDX-License-Identifier: BSD-3-Clause
"""Stresses of tests in a unit that no material can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .material_test import MaterialTest

#: [Pa] stiffer than diamond: no material, but a factor of units.
STIFFEST = 2e12


def implausible(tests: Sequence[MaterialTest]) -> list[str]:
    """Return sentences on tests that no material answers, if their stresses are in Pa."""
    notes = []
    for test in tests:
        strain = abs(test.along - 1.0)
        far = strain > 0.1 * strain.max(initial=0.0)
        if not far.any():
            continue
        modulus = float((abs(test.stress).max(axis=1)[far] / strain[far]).max())
        if modulus > STIFFEST:
            notes.append(
                f"{test.name}: stress over strain is {modulus:.2g}, in Pa more than that of "
                "diamond (1.2e12): look at the unit of the stress, and at strains in percent"
            )
    return notes

# SPDX-License-Identifier: BSD-3-Clause
"""Digits that energy and stress keep at a strain of 1e-8, as the compiler evaluates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...elements import hex8_plain
from ..accuracy import digits_lost
from ..energy import energy_laws
from .property import Property

if TYPE_CHECKING:
    from .subject import LawSample

NAME = "digits at a strain of 1e-8"

#: Decimal digits of the stress, of 16, that may be lost at a strain of 1e-8.
DIGITS_LOST = 6.0


def digits(sample: LawSample) -> Property:
    """Count the decimal digits that stress and energy lose to round-off."""
    if sample.called.history or sample.called.local:
        return Property(NAME, "none", "the law has memory or unknowns of its own")
    laws = energy_laws(hex8_plain, sample.law, values=sample.values, volumetric="full")
    energy, stress = digits_lost(laws, sample.values)
    note = f"of 16 the stress loses {stress:.1f}, the energy {energy:.1f}"
    if not stress <= DIGITS_LOST:
        return Property(NAME, "violation", note, {"strain": 1e-8, **sample.values})
    return Property(NAME, "samples", note)

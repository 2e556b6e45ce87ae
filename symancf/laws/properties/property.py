# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on one property of a law: a proof, samples that agree, or a witness against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Verdict = Literal["proof", "samples", "limit", "violation", "none"]

#: Verdicts in words.
WORDS = {
    "proof": "proved",
    "samples": "holds at samples",
    "limit": "holds within limits",
    "violation": "VIOLATED",
    "none": "not asked",
}


@dataclass(frozen=True)
class Property:
    """What is found of one property.

    Attributes
    ----------
    name : of the property.
    verdict : ``"proof"``: it follows from the expressions; ``"samples"``: it holds wherever it was
        looked at; ``"limit"``: it holds about the reference, and is lost at large strains, see
        `witness`; ``"violation"``: it does not, see `witness`; ``"none"``: it makes no sense here.
    note : what was found, in words.
    witness : values at which it does not hold, by name: ``F``, parameters, and what they give.
    """

    name: str
    verdict: Verdict
    note: str = ""
    witness: Mapping[str, object] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return self.verdict != "violation"

# SPDX-License-Identifier: BSD-3-Clause
"""The result of `check` of a law or term: its properties, a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ...laws.properties.property import WORDS, Property
from ...runtime.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, repr=False)
class Properties(Displayable):
    """What was found of the properties of a law or term; printed it is a table.

    Attributes
    ----------
    name : of the law or term.
    properties : the properties in their order.
    values : numbers of the parameters at which it was looked at.
    """

    name: str
    properties: tuple[Property, ...]
    values: Mapping[str, float]

    @property
    def passed(self) -> bool:
        """Whether no property is violated."""
        return all(p.holds for p in self.properties)

    @property
    def violations(self) -> tuple[Property, ...]:
        """The properties that are violated, each with its witness."""
        return tuple(p for p in self.properties if not p.holds)

    def __getitem__(self, name: str) -> Property:
        """Return the property of a name.

        Raises
        ------
        ParameterError : there is none.
        """
        by_name = {p.name: p for p in self.properties}
        if name not in by_name:
            raise ParameterError(
                f"check of {self.name}: no property {name!r}; there are {', '.join(by_name)}",
                asked=name,
                possible=by_name,
            )
        return by_name[name]

    def _headline(self) -> str:
        """Return the name and the numbers that the parameters had."""
        numbers = ", ".join(f"{name} = {x:.4g}" for name, x in self.values.items())
        return f"check of {self.name}" + (f" with {numbers}" if numbers else "")

    def _facts(self) -> list[list[str]]:
        """Return the properties, each in a row."""
        return [
            ["property", "found", ""],
            *([p.name, WORDS[p.verdict], p.note] for p in self.properties),
        ]

    def __str__(self) -> str:
        witnesses = [
            f"  {p.name}: {', '.join(f'{k} = {_written(v)}' for k, v in p.witness.items())}"
            for p in self.properties
            if p.witness
        ]
        return "\n".join([super().__str__(), *witnesses])


def _written(value: object) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=8, separator=", ").replace("\n", "")
    return f"{value:.8g}" if isinstance(value, float) else str(value)

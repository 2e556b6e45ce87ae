# SPDX-License-Identifier: BSD-3-Clause
"""Equations of two places that coincide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.functions import taking

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..terms.quantities import E, V


def coincide(r_a: V, r_b: V) -> V:
    """Return the gap of two places."""
    return r_a - r_b


def welded(slopes: int) -> Callable[..., list[E]]:
    """Return the equations of two places that keep their position and slopes together."""
    quantities = ["u", *(f"g{k + 1}" for k in range(slopes))]

    def weld(*arguments: V) -> list[E]:
        return [x for a, b in zip(arguments[::2], arguments[1::2], strict=True) for x in a - b]

    taking(weld, [f"{q}_{end}" for q in quantities for end in "ab"])
    return weld

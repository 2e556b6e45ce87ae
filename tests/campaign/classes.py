# SPDX-License-Identifier: BSD-3-Clause
"""The classes of cases, and how many of each a whole campaign has."""

from __future__ import annotations

import random
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .case import Case

# name -> cases of a whole campaign, seconds for one case
CLASSES: dict[str, tuple[int, float]] = {
    "arguments": (260, 30.0),
    "signatures": (260, 30.0),
    "arrays": (60, 30.0),
    "files": (230, 30.0),
    "functions": (90, 30.0),
    "mistakes": (219, 30.0),
    "states": (44, 30.0),
    "capabilities": (600, 60.0),
    "energies": (30, 90.0),
    "frames": (60, 60.0),
    "relations": (60, 120.0),
    "reversals": (27, 120.0),
    "throws": (24, 500.0),
    "many": (6, 500.0),
    "soak": (5, 500.0),
    "processes": (24, 240.0),
    "damaged": (5500, 10.0),
}
SERIAL = ("processes",)  # these start runs of their own, also on several ranks


def cases(name: str, seed: int, count: int) -> list[Case]:
    """Return the cases of a class; the same seed and count give the same ones on every rank."""
    module = import_module(f".{name}", __package__)
    return list(module.generate(random.Random(f"{name} {seed}"), count))

# SPDX-License-Identifier: BSD-3-Clause
"""Saint-Venant's torsion of a rectangle."""

from __future__ import annotations

import math


def of_rectangle(width: float, height: float) -> float:
    """Return the torsion constant of a rectangle; see `Section.rectangle`."""
    a, b = max(width, height), min(width, height)
    total = sum(math.tanh(n * math.pi * a / (2.0 * b)) / n**5 for n in range(1, 200, 2))
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * b / a * total)

# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of cases: what was measured as lines, what it is compared with as symbols."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..output.image import COLOURS, Diagram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from .case import Curve

SYMBOLS = ("o", "s", "^", "D", "v", "P")
MOST = 40  # symbols of a reference; more of them hide the line


def draw(title: str, curves: Sequence[Curve], path: Path) -> None:
    """Write a PNG, a panel for each pair of axes, two side by side."""
    panels: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        panels.setdefault(curve.axes, []).append(curve)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    headline = fill(title.rstrip("."), 90)
    with Diagram(path, rows, columns, title=headline, comm=MPI.COMM_SELF) as grid:
        every = [grid] if len(panels) == 1 else grid
        for panel, (axes, some) in zip(every, panels.items(), strict=False):
            _fill(panel, axes, some)


def _fill(panel: Axes, axes: tuple[str, str], curves: Sequence[Curve]) -> None:
    """Draw the curves of a panel; a hollow black circle stands for each source."""
    panel.set_xlabel(axes[0])
    panel.set_ylabel(axes[1])
    sources = []
    for k, curve in enumerate(curves):
        colour, symbol = COLOURS[k % len(COLOURS)], SYMBOLS[k % len(SYMBOLS)]
        if np.size(curve.x):
            panel.plot(curve.x, curve.y, color=colour, label=curve.label)
        if curve.reference is not None:
            x, y = (np.asarray(values) for values in curve.reference)
            every = max(1, -(-x.size // MOST))
            panel.plot(x[::every], y[::every], symbol, color=colour, mfc="none")
            sources.append(curve.source)
    for source in dict.fromkeys(sources):
        panel.plot([], [], "o", color="black", mfc="none", label=source)

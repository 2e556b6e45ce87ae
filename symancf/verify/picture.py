# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of cases: what was measured as lines, what it is compared with as symbols."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from ..output.image import Image, diagram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from .case import Curve

COLOURS = ("#1f5aa6", "#c8502d", "#2f8a57", "#7a4fa3", "#8a6d1b", "#3c8fa8")
SYMBOLS = ("o", "s", "^", "D", "v", "P")
MOST = 40  # symbols of a reference; more of them hide the line


def draw(title: str, curves: Sequence[Curve], path: Path) -> None:
    """Write a PNG, a panel for each pair of axes, two side by side."""
    panels: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        panels.setdefault(curve.axes, []).append(curve)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = diagram(5.4 * columns + 0.4, 3.7 * rows + 0.6, 110)
    figure.suptitle(fill(title.rstrip("."), 66 * columns), fontsize=11)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in grid[len(panels) :]:
        panel.axis("off")
    for panel, (axes, some) in zip(grid, panels.items(), strict=False):
        _fill(panel, axes, some)
    Image(figure).save(path)


def _fill(panel: Axes, axes: tuple[str, str], curves: Sequence[Curve]) -> None:
    """Draw the curves of a panel; a hollow black circle stands for each source."""
    panel.set_xlabel(axes[0])
    panel.set_ylabel(axes[1])
    panel.grid(alpha=0.3)
    sources = []
    for k, curve in enumerate(curves):
        colour, symbol = COLOURS[k % len(COLOURS)], SYMBOLS[k % len(SYMBOLS)]
        if np.size(curve.x):
            panel.plot(curve.x, curve.y, color=colour, lw=1.4, label=curve.label)
        if curve.reference is not None:
            x, y = (np.asarray(values) for values in curve.reference)
            every = max(1, -(-x.size // MOST))
            panel.plot(x[::every], y[::every], symbol, color=colour, mfc="none", ms=5)
            sources.append(curve.source)
    for source in dict.fromkeys(sources):
        panel.plot([], [], "o", color="black", mfc="none", ms=5, label=source)
    panel.legend(frameon=False, fontsize=8)

# SPDX-License-Identifier: BSD-3-Clause
"""The picture of error against CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..output.image import Image, diagram
from .elements import CHOICES, STRUCTURES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .elements import Row


def draw(rows: Sequence[Row], path: str | Path) -> None:
    """Write a PNG, a panel for each structure; hollow: softer than the reference.

    Raises
    ------
    SymancfError : no matplotlib.
    """
    figure = diagram(13.5, 8.6, 110)
    panels = figure.subplots(2, 3).ravel()
    for panel, structure in zip(panels, STRUCTURES, strict=False):
        panel.set_title(structure.name, fontsize=14)
        panel.set(xscale="log", yscale="log")
        panel.set_xlabel("CPU time [s]", fontsize=12)
        panel.set_ylabel(f"error of the {structure.quantity}", fontsize=12)
        panel.tick_params(labelsize=11)
        panel.grid(alpha=0.3)
    rest = panels[len(STRUCTURES)]
    rest.axis("off")
    titles = [structure.name for structure in STRUCTURES]
    for choice in CHOICES:
        style: dict[str, Any] = {"color": choice.colour, "marker": choice.marker, "ms": 7}
        rest.plot([], [], choice.line, label=choice.name, **style)
        for panel, title in zip(panels, titles, strict=False):
            found = [r for r in rows if (r["structure"], r["element"]) == (title, choice.name)]
            x, y = [r["seconds"] for r in found], [abs(r["error"]) for r in found]
            panel.plot(x, y, choice.line, **style)
            soft = [k for k, r in enumerate(found) if r["error"] > 0.0]
            if soft:
                panel.plot(x, y, ls="none", markevery=soft, mfc="white", **style)
    title = "Full: too stiff. Hollow: too soft."
    rest.legend(loc="center", frameon=False, fontsize=13, title=title, title_fontsize=13)
    Image(figure).save(path)

# SPDX-License-Identifier: BSD-3-Clause
"""The picture of error against CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from ..output.image import Diagram
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
    titles = [structure.name for structure in STRUCTURES]
    with Diagram(path, 2, 3, height=5.2, comm=MPI.COMM_SELF) as panels:
        for panel, structure in zip(panels, STRUCTURES, strict=False):
            panel.set(xscale="log", yscale="log", title=structure.name)
            panel.set(xlabel="CPU time [s]", ylabel=f"error of the {structure.quantity}")
        rest = panels[len(STRUCTURES)]
        rest.axis("off")
        for choice in CHOICES:
            style: dict[str, Any] = {"color": choice.colour, "marker": choice.marker}
            rest.plot([], [], choice.line, label=choice.name, **style)
            for panel, title in zip(panels, titles, strict=False):
                own = [r for r in rows if (r["structure"], r["element"]) == (title, choice.name)]
                x, y = [r["seconds"] for r in own], [abs(r["error"]) for r in own]
                panel.plot(x, y, choice.line, **style)
                soft = [k for k, r in enumerate(own) if r["error"] > 0.0]
                if soft:
                    panel.plot(x, y, ls="none", markevery=soft, mfc="white", **style)
        rest.legend(loc="center", title="Full: too stiff. Hollow: too soft.")

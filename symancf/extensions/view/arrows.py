# SPDX-License-Identifier: BSD-3-Clause
"""Supports, loads and places of terms: points with the arrows of their forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .surface import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..interface import Array
    from .surface import DrawnSurface

LONGEST = 0.12  # arrow of a term, of the size of the picture
SHORTEST = 0.02  # of the longest arrow: shorter ones are not drawn
MARK = 0.006  # half of a point's cross, of the size of the picture
HEAD = 0.3  # of an arrow


def add_arrows(panels: Iterable[list[DrawnSurface]], screen: Array, toward: Array) -> None:
    """Give the points of terms their crosses and arrows, each term its own scale of forces."""
    bodies = [body for panel in panels for body in panel if len(body.points)]
    marked = [body for body in bodies if len(body.marks)]
    size = max((float(np.ptp(body.points @ screen, axis=0).max()) for body in bodies), default=0.0)
    for body in marked:
        crosses = [
            np.stack([body.marks - a, body.marks + a], axis=1) for a in MARK * size * screen.T
        ]
        length = np.linalg.norm(body.forces, axis=1)
        acting = length > SHORTEST * length.max()
        vectors = LONGEST * size * body.forces[acting] / length.max(initial=1e-300)
        arrows = _arrows(body.marks[acting], vectors, toward)
        colour = NEGATIVE if body.supports else POSITIVE
        body.strokes = {colour: np.concatenate([*crosses, *arrows])}


def _arrows(tail: Array, vector: Array, toward: Array) -> list[Array]:
    """Return shafts and both sides of heads, (n, 2, 3) each, of arrows seen from a direction."""
    tip = tail + vector
    side = np.cross(vector, toward)
    width = np.linalg.norm(side, axis=1, keepdims=True)
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    side *= np.divide(length, width, out=np.zeros_like(width), where=width > 0.0)
    heads = [tip - HEAD * vector + sign * 0.5 * HEAD * side for sign in (1.0, -1.0)]
    return [np.stack([start, tip], axis=1) for start in (tail, *heads)]

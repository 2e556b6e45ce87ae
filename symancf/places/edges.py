# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of cells as places see them, and the vertices of the middles of their edges."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..arrays import Ints
    from ..assembly.configuration import Layout
    from ..elements.element import Element
    from ..mesh import Region


class OfCells(Hashable, Protocol):
    """A body of cells, as far as its blocks of coordinates and edges go; see `symancf.Body`.

    Attributes
    ----------
    join : ``"all"``: slopes are shared with other bodies, ``"position"``: only positions are.
    """

    name: str
    region: Region
    element: Element
    _join: str


def slopes_block(body: OfCells, name: str) -> str:
    """Return the name of the block of slopes of a body that a system knows by `name`."""
    element = body.element
    return (
        f"slopes:{element.slope_kind}{len(element.slopes)}"
        if body._join == "all"
        else (f"slopes:{name}")
    )


def across_block(slopes: str) -> str:
    """Return the name of the block of slopes across edges beside that of slopes of nodes."""
    return f"{slopes}:across"


def with_edges(layout: Layout, body: OfCells, vertices: Ints) -> Ints:
    """Return cells (n, corners) of a body with the vertices of their edges, if it has some.

    Cells of other types stay (collective).
    """
    element = body.element
    if not element.across or vertices.shape[1] != element.vertices:
        return vertices
    ends = np.array(element.topology.edges)
    middles = layout.edges(body.region.mesh).vertices(vertices[:, ends].reshape(-1, 2))
    return np.concatenate([vertices, middles.reshape(len(vertices), len(ends))], axis=1)

# SPDX-License-Identifier: BSD-3-Clause
"""What places ask of a body of cells: a region of a mesh, an element, and how they are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from ..values.arrays import Array, Ints32

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..assembly.vertices import AtVertices
    from ..elements.element import Element
    from ..mesh import Region
    from .geometry import Directions


class Interpolated(Protocol):
    """A field of positions, and of slopes, on the cells of a region; see `symancf.Body`.

    Attributes
    ----------
    name, region, element : of the body.
    direction, smooth : how the slopes of nodes are directed, as the user says.
    directions, basis : the slopes at nodes; in a configuration.
    position_block, slope_block : numbers of the blocks; in a configuration.
    """

    name: str
    region: Region
    element: Element
    direction: Any
    smooth: Any
    directions: Directions | None
    basis: AtVertices
    position_block: int
    slope_block: int

    @property
    def slope_name(self) -> str:
        """Name of the block of slopes."""

    @property
    def extent(self) -> float:
        """Size [m]."""

    def maps_of(self, configuration: Configuration, cells: npt.NDArray[Any], /) -> Array:
        """Return the slope maps of cells given by local vertices."""

    def coordinate_offset(
        self, configuration: Configuration, vertices: npt.NDArray[Any], jet: str, /
    ) -> Ints32:
        """Return local offsets of a node's position (``value``) or of its k-th slope."""

    def normals_at(self, vertices: npt.NDArray[Any]) -> Array:
        """Return the reference normals of nodes, (k, 3)."""

    def tabulate(self, jet: str, xi: Array) -> Array:
        """Return the coefficients (k, n) of a point jet at parameter values, on z = 0."""

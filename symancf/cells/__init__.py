# SPDX-License-Identifier: BSD-3-Clause
"""Cells of meshes and elements: one table, functions of their nodes, rules of integration."""

from .quadrature import gauss, surface
from .shape import ShapeField
from .table import CELLS, HEXAHEDRON, LINE, QUAD, Cell

__all__ = ["CELLS", "HEXAHEDRON", "LINE", "QUAD", "Cell", "ShapeField", "gauss", "surface"]

# SPDX-License-Identifier: BSD-3-Clause
"""The elements: each is its cell, monomials and nodal coordinates."""

from .ancf_cable import ancf_cable
from .ancf_plate import ancf_plate
from .ancf_thin_plate import ancf_thin_plate
from .cells import CELLS, HEXAHEDRON, LINE, QUAD, Cell
from .element import Element
from .hex8 import hex8
from .quad4 import quad4
from .quadrature import gauss, surface
from .shape import Field

__all__ = [
    "CELLS",
    "HEXAHEDRON",
    "LINE",
    "QUAD",
    "Cell",
    "Element",
    "Field",
    "ancf_cable",
    "ancf_plate",
    "ancf_thin_plate",
    "gauss",
    "hex8",
    "quad4",
    "surface",
]

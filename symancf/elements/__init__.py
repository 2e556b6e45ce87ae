# SPDX-License-Identifier: BSD-3-Clause
"""The elements: each is its cell, monomials and nodal coordinates."""

from ..cells.quadrature import gauss, surface
from ..cells.shape import Field
from ..cells.table import CELLS, HEXAHEDRON, LINE, QUAD, Cell
from .ancf_cable import ancf_cable
from .ancf_plate import ancf_plate
from .ancf_thin_plate import ancf_thin_plate
from .element import Element
from .hex8 import hex8
from .hex20 import hex20
from .quad4 import quad4
from .quad8 import quad8
from .tet10 import tet10
from .tri6 import tri6

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
    "hex20",
    "quad4",
    "quad8",
    "surface",
    "tet10",
    "tri6",
]

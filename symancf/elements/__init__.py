# SPDX-License-Identifier: BSD-3-Clause
"""The elements: each is its cell, monomials and nodal coordinates."""

from ..cells.quadrature import gauss, surface
from ..cells.shape import ShapeField as Field
from ..cells.table import CELLS, HEXAHEDRON, LINE, QUAD, Cell
from ..errors import unknown_names
from .ancf_3243 import ancf_3243
from .ancf_3333 import ancf_3333
from .ancf_cable import ancf_cable
from .ancf_plate import ancf_plate
from .ancf_rod import ancf_rod
from .ancf_thick_plate import ancf_thick_plate
from .ancf_thin_plate import ancf_thin_plate
from .ancf_thin_quad import ancf_thin_quad
from .ancf_thin_triangle import ancf_thin_triangle
from .element import Element
from .hex8 import hex8
from .hex8_fbar import hex8_fbar
from .hex8_plain import hex8_plain
from .hex20 import hex20
from .hex27 import hex27
from .quad4 import quad4
from .quad8 import quad8
from .quad9 import quad9
from .tet4 import tet4
from .tet10 import tet10
from .tri3 import tri3
from .tri6 import tri6
from .wedge6 import wedge6
from .wedge15 import wedge15
from .wedge18 import wedge18

__all__ = [
    "CELLS",
    "HEXAHEDRON",
    "LINE",
    "QUAD",
    "Cell",
    "Element",
    "Field",
    "ancf_3243",
    "ancf_3333",
    "ancf_cable",
    "ancf_plate",
    "ancf_rod",
    "ancf_thick_plate",
    "ancf_thin_plate",
    "ancf_thin_quad",
    "ancf_thin_triangle",
    "gauss",
    "hex8",
    "hex8_fbar",
    "hex8_plain",
    "hex20",
    "hex27",
    "quad4",
    "quad8",
    "quad9",
    "surface",
    "tet4",
    "tet10",
    "tri3",
    "tri6",
    "wedge6",
    "wedge15",
    "wedge18",
]

__getattr__ = unknown_names("symancf.elements", __all__)


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__

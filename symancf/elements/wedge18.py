# SPDX-License-Identifier: BSD-3-Clause
"""The wedge of second order with 54 coordinates."""

from ..cells.table import WEDGE18
from ..kinematics import solid
from .element import Element
from .quad9 import quad9
from .tri6 import tri6

wedge18 = Element(
    "wedge18",
    WEDGE18,
    {"N": WEDGE18.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "6x3", "reduced": "3x2", "centre": "1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(tri6, quad9),
    __doc__="""Wedge (prism on a triangle) with 18 nodes: at corners, in edges and quadrilaterals.

    r = sum_i N_i r_i; N_i are the products of the quadratic functions of the triangle and those of
    a line along zeta. The rule has 6 points (degree 4) in the triangle and 3 (degree 5) along zeta:
    the forces of constant stress are integrated exactly on cells with curved edges, too.

    Every affine state is exact on any cell, every quadratic one on cells whose nodes are images of
    a map that is linear in the triangle and along zeta, where `wedge15` needs parallel edges. Its
    faces are those of `tet10` and `hex27`, which it joins; Gmsh writes it with
    ``Mesh.ElementOrder = 2``. Limits: as `wedge15` it is too stiff in nearly incompressible
    material; there `volumetric="reduced"` (at 3 x 2 points).
    """,
)

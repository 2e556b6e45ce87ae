# SPDX-License-Identifier: BSD-3-Clause
"""The wedge of first order with 18 coordinates."""

from ..cells.table import WEDGE
from ..kinematics import solid
from .element import Element
from .quad4 import quad4
from .tri3 import tri3

wedge6 = Element(
    "wedge6",
    WEDGE,
    {"N": WEDGE.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "3x2", "reduced": "1x1", "centre": "1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(tri3, quad4),
    __doc__="""Wedge (prism on a triangle) with 6 nodes, positions only.

    r = sum_i N_i r_i, N_i the linear functions of the triangle times 1 - zeta or zeta. The rule of
    3 points in the triangle and 2 along zeta integrates products of two gradients exactly
    on right prisms, and the forces of constant stress on all.

    Every affine state is exact on any convex wedge. Displacements are of second order, stresses of
    first. Limits: it locks in bending, in the plane of its triangles as `tet4` (0.21 of a beam's
    deflection, one layer), across it as `hex8_plain` (0.66); much more so in nearly incompressible
    material, where `volumetric="reduced"` (dilatation in the middle) makes one layer too soft
    across it (1.61) and leaves it locked in the plane (0.09). It fills what is left between
    hexahedra.
    """,
)

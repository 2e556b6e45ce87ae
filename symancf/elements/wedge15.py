# SPDX-License-Identifier: BSD-3-Clause
"""The serendipity wedge of second order with 45 coordinates."""

from ..cells.table import WEDGE15
from ..kinematics import solid
from .element import Element
from .quad8 import quad8
from .tri6 import tri6

wedge15 = Element(
    "wedge15",
    WEDGE15,
    {"N": WEDGE15.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "6x3", "reduced": "3x2", "centre": "1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(tri6, quad8),
    __doc__="""Wedge (prism on a triangle) with 15 nodes, at corners and middles of edges.

    r = sum_i N_i r_i; the functions are all quadratic ones, and those times zeta that are at most
    quadratic in the triangle, or linear there times zeta^2. The rule has 6 points (degree 4)
    in the triangle and 3 (degree 5) along zeta: the forces of constant stress are integrated
    exactly on cells with curved edges, too.

    Every affine state is exact on any cell, every quadratic one on prisms with parallel edges.
    Displacements are of third order, stresses of second. Its faces are those of `tet10` and
    `hex20`, which it joins. Limits: on strongly distorted cells quadratic states are no longer
    exact; in nearly incompressible material (one layer in bending, nu = 0.4999) it gives 0.83 of
    a beam's deflection in the plane of its triangles, `volumetric="reduced"` (at 3 x 2 points;
    fewer are unstable) 0.93; across it 0.94. Quadrature ``"3x3"`` costs half and is enough for
    prisms with straight edges.
    """,
)

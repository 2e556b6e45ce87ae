# SPDX-License-Identifier: BSD-3-Clause
"""The tetrahedron of second order with 30 coordinates."""

from ..cells.table import TETRA10
from ..kinematics import solid
from .element import Element
from .tri6 import tri6

tet10 = Element(
    "tet10",
    TETRA10,
    {"N": TETRA10.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "8", "reduced": "1", "centre": "1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(tri6,),
    pressures={"discontinuous": 0, "continuous": 1},
    __doc__="""Tetrahedron with 10 nodes, at corners and middles of edges, positions only.

    r = sum_i N_i r_i with the quadratic functions of the tetrahedron with corners at the origin and
    the ends of the axes. The rule of 8 points has degree 3: affine states are exact on
    cells with curved edges, too, quadratic ones on straight cells. Displacements are of third
    order, stresses of second.

    Limits: with `volumetric="full"` it locks in nearly incompressible material (0.88 of a beam's
    deflection, one layer of cubes of six, nu = 0.4999); with `volumetric="reduced"` (dilatation at
    the centre, one value for each cell) coarse meshes are far too soft (1.47 there, 1.04 with two
    layers) and an order is lost. Take `pressure="continuous"` (0.965, 0.99). Quadrature ``"4"``
    costs half and is enough for cells with straight edges.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The serendipity hexahedron of second order with 60 coordinates."""

from ..cells.table import HEXAHEDRON20
from ..kinematics import solid
from .element import Element
from .quad8 import quad8

hex20 = Element(
    "hex20",
    HEXAHEDRON20,
    {"N": HEXAHEDRON20.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "3x3x3", "reduced": "2x2x2", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(quad8,),
    __doc__="""Hexahedron with 20 nodes, at corners and middles of edges, positions only.

    r = sum_i N_i r_i on [-1, 1]^3 with the serendipity functions: all of second order, and those
    of higher order of which at most one factor is a square.

    Edges and faces may be curved. Every affine state is exact on any of them, every quadratic one
    on parallelepipeds: displacements are of third order there, stresses of second. Limits: on
    strongly distorted cells quadratic states are no longer exact; in nearly incompressible
    material (one layer in bending, nu = 0.4999) `volumetric="full"` gives 0.93 of a beam's
    deflection, `volumetric="reduced"` (at 2x2x2 points) 0.96.
    """,
)

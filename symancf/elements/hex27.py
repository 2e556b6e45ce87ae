# SPDX-License-Identifier: BSD-3-Clause
"""The triquadratic hexahedron with 81 coordinates."""

from ..cells.table import HEXAHEDRON27
from ..kinematics import solid
from .element import Element
from .quad9 import quad9

hex27 = Element(
    "hex27",
    HEXAHEDRON27,
    {"N": HEXAHEDRON27.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "3x3x3", "reduced": "2x2x2", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(quad9,),
    pressures={"discontinuous": 1},
    __doc__="""Hexahedron with 27 nodes: at corners, in edges, faces and the middle; positions only.

    r = sum_i N_i r_i on [-1, 1]^3, N_i products of the three quadratic polynomials of Lagrange in
    each parameter. 3x3x3 points have degree 5 in each: the forces of constant stress are integrated
    exactly on curved cells, too.

    Every affine state is exact on any cell, every quadratic one on cells whose nodes are images of
    a trilinear map, also on distorted ones, where `hex20` is not. Displacements are of third order,
    stresses of second. Limits: in nearly incompressible material (one layer in bending,
    nu = 0.4999) `volumetric="full"` gives 0.93 of a beam's deflection, `volumetric="reduced"` (at
    2x2x2 points) 0.99; `pressure="discontinuous"` is stable up to incompressible material.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The trilinear hexahedron with 24 coordinates."""

from ..cells.table import HEXAHEDRON
from ..kinematics import solid
from .element import Element
from .quad4 import quad4

hex8_plain = Element(
    "hex8_plain",
    HEXAHEDRON,
    {"N": HEXAHEDRON.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "2x2x2", "reduced": "1x1x1", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    automatic=False,
    traces=(quad4,),
    __doc__="""Trilinear hexahedron, 8 vertices, positions only.

    r = sum_i N_i r_i, N_i = (1 + xi_i xi)(1 + eta_i eta)(1 + zeta_i zeta)/8 on [-1, 1]^3.

    Reproduces every affine state on any convex hexahedron. Limits: it locks in bending when it
    is slender (one layer of cubes gives 0.65 of a beam's deflection), and with
    `volumetric="full"` in nearly incompressible material. With `volumetric="reduced"`, the energy
    of the dilatation at the centre, affine states are in equilibrium on parallelepipeds alone
    (cells moved by 15 %, k/mu = 100: displacements wrong by 3 10^-3 of the largest); use at least
    2, better 4 elements through every wall: one layer alone has no bulk stiffness away from its
    middle. Prefer `hex8`.
    """,
)

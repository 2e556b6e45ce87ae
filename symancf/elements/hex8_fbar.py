# SPDX-License-Identifier: BSD-3-Clause
"""The trilinear hexahedron with 24 coordinates and the mean dilatation of the cell."""

from ..cells.table import HEXAHEDRON
from ..kinematics import fbar_solid
from .element import Element
from .hex8_plain import hex8_plain
from .quad4 import quad4

hex8_fbar = Element(
    "hex8_fbar",
    HEXAHEDRON,
    {"N": HEXAHEDRON.field},
    slopes=(),
    slope_kind="none",
    family=fbar_solid,
    rules={"full": "2x2x2", "reduced": "1x1x1", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    automatic=False,
    traces=(quad4,),
    without=hex8_plain,
    __doc__="""Trilinear hexahedron with the mean dilatation of the cell (F-bar), 8 vertices.

    Laws are given F (theta/det F)^(1/3), theta being the mean of det F over the reference cell, see
    `symancf.kinematics.fbar_solid`. Two unknowns of the cell are solved for in the kernel and
    eliminated: the tangent is symmetric.

    Reproduces every affine state on any convex hexahedron, and does not lock where k is large. No
    hourglass in homogeneous states at stretches of 0.5 to 4. Limits: one layer in bending is too
    soft (1.21 of a beam's deflection at nu = 0.3, 1.41 at 0.4999; two layers 0.94 and 0.97), and
    thin cells lock in shear as those of `hex8_plain`; prefer `hex8` there. Pressures alternate as
    those of `hex8` where the boundary of a regular grid is prescribed. Laws that have unknowns
    of their own, and parts at other points, need `hex8_plain`.

    References: E. A. de Souza Neto, D. Peric, M. Dutko, D. R. J. Owen, International Journal of
    Solids and Structures 33 (1996) 3277-3296; J. C. Simo, R. L. Taylor, K. S. Pister, Computer
    Methods in Applied Mechanics and Engineering 51 (1985) 177-208.
    """,
)

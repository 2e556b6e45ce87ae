# SPDX-License-Identifier: BSD-3-Clause
"""The trilinear hexahedron with 24 coordinates and an enhanced strain."""

from ..cells.table import HEXAHEDRON
from ..kinematics import enhanced_solid
from .element import Element
from .hex8_plain import hex8_plain
from .quad4 import quad4

hex8 = Element(
    "hex8",
    HEXAHEDRON,
    {"N": HEXAHEDRON.field},
    slopes=(),
    slope_kind="none",
    family=enhanced_solid,
    rules={"full": "2x2x2", "reduced": "1x1x1", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(quad4,),
    without=hex8_plain,
    __doc__="""Trilinear hexahedron with an enhanced strain, 8 vertices, positions only.

    r = sum_i N_i r_i, N_i = (1 + xi_i xi)(1 + eta_i eta)(1 + zeta_i zeta)/8 on [-1, 1]^3; the
    strain that laws are given has twelve unknowns of the cell beside it, in which its energy is
    stationary, see `symancf.kinematics.enhanced_solid`. They are solved for in the kernel and
    eliminated: the tangent is symmetric, and nothing of them is kept.

    Reproduces every affine state on any convex hexahedron. One layer bends as a beam, also with
    nu = 0.4999 (errors of 0.3 %, aspect ratio up to 2); no hourglass under compression to 0.45 or
    in homogeneous tension to a stretch of 4, on cells moved by 20 %. Limits: trapezoids in the
    plane of bending lock as those of every symmetric element of 8 nodes (sides that lean by 15
    degrees: 0.91 of the deflection where cells are 0.8 times as long as high, 0.86 at 1, 0.65 at
    2); a few cells alone may be unstable beyond a stretch of 2; where k is large and the boundary
    of a regular grid is prescribed, pressures alternate from cell to cell, and the grid may fold
    (`hex27` with a pressure has none); kernels take longer than those of `hex8_plain`. Laws that
    have unknowns of their own, and parts at other points (`volumetric="reduced"`), need
    `hex8_plain`, which `Body(region, law)` takes for them. `KelvinVoigt` damps bending too much
    where walls are a few cells thick, see there.

    References: J. C. Simo, F. Armero, R. L. Taylor, Computer Methods in Applied Mechanics and
    Engineering 110 (1993) 359-386 (modes); S. Glaser, F. Armero, Engineering Computations 14
    (1997) 759-791 (transposed); R. H. MacNeal, International Journal for Numerical Methods in
    Engineering 24 (1987) 1793-1799 (what trapezoids cannot do).
    """,
)

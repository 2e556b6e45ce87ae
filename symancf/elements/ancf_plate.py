# SPDX-License-Identifier: BSD-3-Clause
"""The fully parameterised ANCF plate with 48 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import QUAD
from ..kinematics import director_solid
from .ancf_thin_plate import INCOMPLETE_QUARTIC
from .element import Element

ancf_plate = Element(
    "ancf_plate",
    QUAD,
    {
        "m": ShapeField(INCOMPLETE_QUARTIC, nodal=("", "xi", "eta", None)),
        "d": ShapeField("1 xi eta xi*eta", nodal=(None, None, None, "")),
    },
    slopes=("xi", "eta", "z"),
    slope_kind="gradient",
    family=director_solid,
    rules={"full": "4x4x3", "reduced": "4x4", "mid": "4x4"},
    volumetric="split",
    derivatives=("xi", "eta"),
    __doc__="""Plate r = m(xi, eta) + z d(xi, eta), 4 vertices with r, r_xi, r_eta, r_z.

    m: the incomplete-quartic set of 12 functions (Dufva and Shabana 2005), d: bilinear;
    (xi, eta) in [0, 1]^2, z = zeta thickness/2 with zeta in [-1, 1]. Three-dimensional strain:
    any solid energy applies.

    Limits: r_z is constant through the thickness, so bending with a Poisson ratio locks unless
    the volumetric part is integrated by ``"split"`` (default) or ``"reduced"`` (the papers'
    choice, about 2.7 times too soft in bending of rubber). It also locks in transverse shear when
    it is thin, since r_z is bilinear: a clamped square of thickness side/1000 needs far more than
    16 x 16 cells (`ancf_thin_plate` needs 8 x 8). On unstructured quadrilaterals every affine
    state is exact; constant curvature is reproduced on parallelograms only: on 6 x 6 trapezoids
    with 25 % distortion its energy is 0.1 % high at thickness side/10 and 12 % at side/100, and
    falls with the fourth power of the cell size. Slopes normal to edges are not continuous.
    On a curved reference the wall is thinner between the nodes than at them, since interpolated
    normals are shorter than one: in the mean by theta^2/12 for each direction in which a cell
    turns by the angle theta. Mass, membrane forces and the pressure at a given stretch are low
    by as much: by 2.3 % on a tube of 12 cells around, by 0.57 % on one of 24.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The thin ANCF plate with 36 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import QUAD
from ..kinematics import thin_plate
from .element import Element

INCOMPLETE_QUARTIC = (
    "1 xi eta xi**2 xi*eta eta**2 xi**3 xi**2*eta xi*eta**2 eta**3 xi**3*eta xi*eta**3"
)

ancf_thin_plate = Element(
    "ancf_thin_plate",
    QUAD,
    {"N": ShapeField(INCOMPLETE_QUARTIC, nodal=("", "xi", "eta"))},
    slopes=("xi", "eta"),
    slope_kind="tangents",
    family=thin_plate,
    rules={"full": "4x4", "reduced": "2x2"},
    derivatives=("xi", "eta", "xixi", "xieta", "etaeta"),
    __doc__="""Thin plate or shell r(xi, eta), 4 vertices with r, r_xi, r_eta.

    The incomplete-quartic set of 12 functions on [0, 1]^2 (Dufva and Shabana 2005). Membrane
    strain and change of curvature of the mid-surface (Kirchhoff-Love), on flat or curved
    references that are free of stress by construction.

    Limits: C0 (slopes normal to edges are not continuous); on unstructured quadrilaterals every
    affine state is exact; constant curvature is reproduced on parallelograms only. On 6 x 6
    trapezoids with 25 % distortion its energy is 2 to 3 % off, its deflection 0.4 %; meshes that
    zigzag at every refinement keep the error in energy, smooth ones lose it.
    """,
)

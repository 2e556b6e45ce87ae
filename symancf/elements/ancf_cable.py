# SPDX-License-Identifier: BSD-3-Clause
"""The ANCF cable with 12 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import LINE
from ..kinematics import cable
from .element import Element

ancf_cable = Element(
    "ancf_cable",
    LINE,
    {"N": ShapeField("1 xi xi**2 xi**3", nodal=("", "xi"))},
    slopes=("xi",),
    slope_kind="tangents",
    family=cable,
    rules={"full": "5", "reduced": "3"},
    derivatives=("xi", "xixi"),
    __doc__="""Cable or thin beam r(xi), 2 vertices with r and r_xi: cubic Hermite on [0, 1].

    Axial strain and scalar curvature; no torsion and no shear. On a curved reference
    (``curved=True``) the scalar change of curvature is exact for a rod without torsional
    stiffness: bending out of the plane of the natural curvature then costs nothing at first
    order (hold it with `planar`), and a curvature that would change its sign needs the signed
    one, ``cable(curvature="plane")``: with the scalar one an arch that snaps through is wrong.

    Errors fall with the fourth power of the cell size (positions of nodes, energy). Between the
    nodes of a bent cable positions are of third and slopes of second order, one less than
    on a straight one: bending also strains the axis within each cell.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The rod with directors: 36 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import CELLS
from ..kinematics import rod
from .element import Element

QUADRATIC = "1 xi xi**2"

ancf_rod = Element(
    "ancf_rod",
    CELLS["line3"],
    {
        "m": ShapeField(QUADRATIC, nodal=("", None, None, None)),
        "d1": ShapeField(QUADRATIC, nodal=(None, "", None, None)),
        "d2": ShapeField(QUADRATIC, nodal=(None, None, "", None)),
        "d3": ShapeField(QUADRATIC, nodal=(None, None, None, "")),
    },
    slopes=("d1", "d2", "d3"),
    slope_kind="gradient",
    family=rod,
    rules={"full": "2", "reduced": "2", "section": "nodes"},
    derivatives=("xi",),
    __doc__="""Rod r(xi) with directors d1, d2, d3, 3 nodes with r and the section's gradient F.

    All fields are quadratic. d1 is the direction of the axis, d2 and d3 are those of the section:
    images by F of the tangent and of `direction=`. Shear, torsion, bending about two axes and
    stretch, with any size of rotation; errors fall with the fourth power of the cell size.

    Limits: sections warp freely (no coordinate of warping); the directors stay orthonormal by an
    energy at the nodes, which is no matter to explicit methods; where cells turn by 60 degrees
    bending is 1.6 % too soft, at 90 by 11 %, and from 100 on a rod folds within a cell.
    """,
)

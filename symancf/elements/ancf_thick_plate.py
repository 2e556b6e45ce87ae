# SPDX-License-Identifier: BSD-3-Clause
"""The plate that is quadratic through its thickness, with 60 coordinates."""

from __future__ import annotations

from ..cells.shape import ShapeField
from ..cells.table import QUAD
from ..kinematics import director_solid
from .ancf_thin_plate import INCOMPLETE_QUARTIC
from .element import Element

BILINEAR = "1 xi eta xi*eta"

ancf_thick_plate = Element(
    "ancf_thick_plate",
    QUAD,
    {
        "m": ShapeField(INCOMPLETE_QUARTIC, nodal=("", "xi", "eta", None, None)),
        "d": ShapeField(BILINEAR, nodal=(None, None, None, "", None)),
        "c": ShapeField(BILINEAR, nodal=(None, None, None, None, "")),
    },
    slopes=("xi", "eta", "z", "zz"),
    slope_kind="gradient",
    family=director_solid,
    rules={"full": "4x4x3", "reduced": "4x4"},
    derivatives=("xi", "eta"),
    automatic=False,
    __doc__="""Plate r = m(xi, eta) + z d(xi, eta) + z^2/2 c(xi, eta), 4 vertices with r, F, r_zz.

    As `ancf_plate` with a second slope through the thickness, zero in the reference: the strain
    across is linear in z, so that bending with a Poisson ratio needs no trick, and all of an energy
    is integrated at all points.

    Limits: those of `ancf_plate` in shear (thin plates lock) and on curved references. At common
    nodes it shares slopes with its like only, with other plates and rods the positions.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The beam of three nodes without a longitudinal slope, to compare with: 27 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import CELLS
from ..kinematics import beam_solid
from .element import Element

QUADRATIC = "1 xi xi**2"

ancf_3333 = Element(
    "ancf_3333",
    CELLS["line3"],
    {
        "m": ShapeField(QUADRATIC, nodal=("", None, None)),
        "dy": ShapeField(QUADRATIC, nodal=(None, "", None)),
        "dz": ShapeField(QUADRATIC, nodal=(None, None, "")),
    },
    slopes=("y", "z"),
    slope_kind="tangents",
    family=beam_solid,
    rules={"full": "2x2x2", "reduced": "2", "axis": "2"},
    derivatives=("xi",),
    automatic=False,
    __doc__="""Beam r = m(xi) + y dy(xi) + z dz(xi), 3 nodes with r, r_y, r_z, to compare with.

    All fields are quadratic (Nachbagauer, Pechstein, Irschik and Gerstmayr 2011; Nachbagauer,
    Gruber and Gerstmayr 2013), over a cross-section `width` x `height`. Any solid energy applies,
    and `energies.split_beam`. 3333: dimension 3, 3 nodes, 3 vectors each, 3 coordinates.

    Limits, for which `ancf_rod` is there: with a Poisson ratio solid energies lock in bending,
    r_y and r_z being constant across the section (1.35 times too stiff at nu = 0.3), which
    `energies.split_beam` cures; torsion is that of the polar moment, sections do not warp; corners
    and branches need joints, since nodes have no longitudinal slope.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The fully parameterised beam of two nodes, to compare with: 24 coordinates."""

from ..cells.shape import ShapeField
from ..cells.table import LINE
from ..kinematics import beam_solid
from .element import Element

ancf_3243 = Element(
    "ancf_3243",
    LINE,
    {
        "m": ShapeField("1 xi xi**2 xi**3", nodal=("", "xi", None, None)),
        "dy": ShapeField("1 xi", nodal=(None, None, "", None)),
        "dz": ShapeField("1 xi", nodal=(None, None, None, "")),
    },
    slopes=("xi", "y", "z"),
    slope_kind="gradient",
    family=beam_solid,
    rules={"full": "4x2x2", "reduced": "3", "axis": "3"},
    derivatives=("xi",),
    automatic=False,
    __doc__="""Beam r = m(xi) + y dy(xi) + z dz(xi), 2 nodes with r, r_x, r_y, r_z, to compare with.

    m: cubic, dy and dz: linear (Shabana and Yakoub 2001), over a cross-section `width` x `height`
    with y = eta width/2, z = zeta height/2. Three-dimensional strain: any solid energy applies,
    and `energies.split_beam`. Of the names in the literature, 3243: dimension 3, 2 nodes, 4
    vectors each, 3 coordinates of a vector.

    Limits, for which `ancf_rod` is there: with a Poisson ratio solid energies lock in bending,
    r_y and r_z being constant across the section (1.35 times too stiff at nu = 0.3); shear locks,
    since they are linear along the beam; torsion is that of the polar moment, sections do not warp.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The tetrahedron of first order with 12 coordinates."""

from ..cells.table import TETRA
from ..kinematics import solid
from .element import Element
from .tri3 import tri3

tet4 = Element(
    "tet4",
    TETRA,
    {"N": TETRA.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "1", "reduced": "1", "centre": "1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(tri3,),
    advice="tet4 locks in bending, and in nearly incompressible material: it is far too stiff, and "
    "its stresses are wrong. Take tet10 (sa.Mesh.read(..., order=2), Gmsh: Mesh.ElementOrder = 2), "
    "or refine until results no longer change",
    __doc__="""Tetrahedron with 4 nodes, positions only; F is constant in a cell: one point.

    r = r_0 + xi (r_1 - r_0) + eta (r_2 - r_0) + zeta (r_3 - r_0).

    Every affine state is exact. Displacements are of second order, stresses of first.

    Limits: it locks in bending (0.22 of a beam's deflection, one layer of cubes of six; 0.51 with
    two) and, whatever `volumetric` is, in nearly incompressible material (0.01); a body of it says
    so. It is for shapes that only weigh, carry or press, and for comparisons.
    Energies of the position need more points, `quadrature="4"`.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The thin triangle of Clough and Tocher with 36 coordinates."""

from ..cells.macro import Macro
from ..cells.table import TRIANGLE
from ..kinematics import thin_plate
from .element import Element

ancf_thin_triangle = Element(
    "ancf_thin_triangle",
    TRIANGLE,
    {"N": Macro((1 / 3, 1 / 3))},
    slopes=("xi", "eta"),
    slope_kind="tangents",
    family=thin_plate,
    rules={"full": "6", "reduced": "3"},
    derivatives=("xi", "eta", "xixi", "xieta", "etaeta"),
    automatic=False,
    across=True,
    __doc__="""Thin plate or shell: 3 vertices with r, r_xi, r_eta, 3 middles of edges with r_n.

    Cubic on each of three triangles around the centroid (Clough and Tocher 1965), with continuous
    tangent planes on any mesh: exactly on flat references, on curved ones up to the fourth power
    of the cell size.
    """,
)

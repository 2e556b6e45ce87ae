# SPDX-License-Identifier: BSD-3-Clause
"""The thin quadrilateral of Fraeijs de Veubeke and Sander with 48 coordinates."""

from ..cells.macro import Macro
from ..cells.table import QUAD
from ..kinematics import thin_plate
from .element import Element

ancf_thin_quad = Element(
    "ancf_thin_quad",
    QUAD,
    {"N": Macro((0.5, 0.5))},
    slopes=("xi", "eta"),
    slope_kind="tangents",
    family=thin_plate,
    rules={"full": "6", "reduced": "3"},
    derivatives=("xi", "eta", "xixi", "xieta", "etaeta"),
    automatic=False,
    across=True,
    __doc__="""Thin plate or shell: 4 vertices with r, r_xi, r_eta, 4 middles of edges with r_n.

    Cubic on each of the four triangles that the diagonals make (Fraeijs de Veubeke 1968, Sander
    1964), with continuous tangent planes on any mesh.
    """,
)

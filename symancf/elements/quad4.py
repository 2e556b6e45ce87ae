# SPDX-License-Identifier: BSD-3-Clause
"""The bilinear quadrilateral with 12 coordinates: faces of hexahedra, for loads on them."""

from ..cells.table import QUAD
from ..kinematics import surface
from .element import Element

quad4 = Element(
    "quad4",
    QUAD,
    {"N": QUAD.field},
    slopes=(),
    slope_kind="none",
    family=surface,
    rules={"full": "2x2", "reduced": "1x1"},
    derivatives=("xi", "eta"),
    __doc__="""Bilinear surface patch, 4 vertices, positions only: the trace of `hex8`.

    Carries surface loads; it has no strain energy of its own but may be given any energy of
    the displacement, e.g. an elastic foundation.
    """,
)

# SPDX-License-Identifier: BSD-3-Clause
"""The quadrilateral with 27 coordinates: faces of hexahedra with 27 nodes, for loads on them."""

from ..cells.table import QUAD9
from ..kinematics import surface
from .element import Element

quad9 = Element(
    "quad9",
    QUAD9,
    {"N": QUAD9.field},
    slopes=(),
    slope_kind="none",
    family=surface,
    rules={"full": "3x3", "reduced": "2x2"},
    derivatives=("xi", "eta"),
    __doc__="""Biquadratic surface patch, 9 nodes, positions only: the trace of `hex27`.

    Carries surface loads; it has no strain energy of its own but may be given any energy of
    the displacement, e.g. an elastic foundation.
    """,
)

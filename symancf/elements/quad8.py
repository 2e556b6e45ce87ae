# SPDX-License-Identifier: BSD-3-Clause
"""The quadrilateral of second order with 24 coordinates: faces of hexahedra, for loads on them."""

from ..cells.table import QUAD8
from ..kinematics import surface
from .element import Element

quad8 = Element(
    "quad8",
    QUAD8,
    {"N": QUAD8.field},
    slopes=(),
    slope_kind="none",
    family=surface,
    rules={"full": "3x3", "reduced": "2x2"},
    derivatives=("xi", "eta"),
    __doc__="""Surface patch with 8 nodes, at corners and middles of edges: the trace of `hex20`.

    Carries surface loads; it has no strain energy of its own but may be given any energy of
    the displacement, e.g. an elastic foundation.
    """,
)

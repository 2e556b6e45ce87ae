# SPDX-License-Identifier: BSD-3-Clause
"""The triangle of second order with 18 coordinates: faces of tetrahedra, for loads on them."""

from ..cells.table import TRIANGLE6
from ..kinematics import surface
from .element import Element

tri6 = Element(
    "tri6",
    TRIANGLE6,
    {"N": TRIANGLE6.field},
    slopes=(),
    slope_kind="none",
    family=surface,
    rules={"full": "6", "reduced": "3"},
    derivatives=("xi", "eta"),
    __doc__="""Surface patch with 6 nodes, at corners and middles of edges: the trace of `tet10`.

    Carries surface loads; it has no strain energy of its own but may be given any energy of
    the displacement, e.g. an elastic foundation.
    """,
)

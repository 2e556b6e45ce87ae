# SPDX-License-Identifier: BSD-3-Clause
"""The triangle with 9 coordinates: faces of tetrahedra and wedges, for loads on them."""

from ..cells.table import TRIANGLE
from ..kinematics import surface
from .element import Element

tri3 = Element(
    "tri3",
    TRIANGLE,
    {"N": TRIANGLE.field},
    slopes=(),
    slope_kind="none",
    family=surface,
    rules={"full": "3", "reduced": "1"},
    derivatives=("xi", "eta"),
    __doc__="""Flat surface patch, 3 vertices, positions only: a trace of `tet4` and `wedge6`.

    Carries surface loads; it has no strain energy of its own but may be given any energy of
    the displacement, e.g. an elastic foundation.
    """,
)

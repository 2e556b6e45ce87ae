# SPDX-License-Identifier: BSD-3-Clause
"""Element types of Abaqus and CalculiX: which are cells, and which are not.

Letters after the names are variants: reduced integration, hybrid, thermal and the like.
"""

from __future__ import annotations

import re
from functools import cache

# names of element types; meshio's names and their numbers of nodes
TYPES = (
    (r"((B|PIPE|ELBOW|FRAME)[23][13]|FRAME[23]D|[TR]2D2|T3D2|RB[23]D2|RAX2|[SMD]AX1)", "line", 2),
    (r"(DC1D2|DCC1D2|AC1D2|F[23]D2|SFMAX1)", "line", 2),
    (r"((B|PIPE)[23]2|ELBOW32|T[23]D3|[SMD]AX2|DC1D3|AC1D3)", "line3", 3),
    (r"(CP[ESG]+3|CG?AX3|S3|STRI3|M3D3|R3D3|DS3|SFM3D3|(DC|AC)(2D|AX)3|F2D3)", "triangle", 3),
    (r"(CP[ESG]+6|CG?AX6|S6|STRI65|M3D6|DS6|SFM3D6|(DC|AC)(2D|AX)6)", "triangle6", 6),
    (r"(CP[ESG]+4|CG?AX4|S4|M3D4|R3D4|DS4|SFM3D4|(DC|DCC|AC)(2D|AX)4)", "quad", 4),
    (r"(CP[ESG]+8|CG?AX8|S8|M3D8|DS8|SFM3D8|(DC|AC)(2D|AX)8)", "quad8", 8),
    (r"(S9|M3D9)", "quad9", 9),
    (r"(C|DC|AC|DCC|Q|F|FC)3D4", "tetra", 4),
    (r"(C|DC|AC|Q)3D10", "tetra10", 10),
    (r"((C|DC|AC|DCC|Q|F|FC)3D6|SC6)", "wedge", 6),
    (r"(C|DC|AC)3D15", "wedge15", 15),
    (r"(C|DC|AC|Q)3D5", "pyramid", 5),
    (r"((C|DC|AC|DCC|EC|Q|F|FC)3D8|SC8|CSS8)", "hexahedron", 8),
    (r"(C|DC|AC|Q)3D20", "hexahedron20", 20),
    (r"C3D27", "hexahedron27", 27),
)
POSSIBLE = (
    *("T3D2", "T3D3", "B31", "B32", "S3", "S4", "S6", "S8", "M3D4", "CPS3", "CPS4", "CPE8", "CAX4"),
    *("C3D4", "C3D6", "C3D8", "C3D10", "C3D15", "C3D20", "C3D27", "DC3D8", "R3D4"),
)

# no cells: springs, dashpots, masses, connectors, couplings, gaps, cohesive elements, gaskets,
# networks, infinite and user elements, and others between nodes
SKIPPED = (
    r"SPRING[A12]?|DASHPOT[A12]?|MASS|ROTARYI|HEATCAP|CONN[23]D2|D?COUP[23]D|GAP.*|COH.*|GK.*"
    r"|DGAP|ITS.*|ITT.*|RB3D2F|JOINTC|JOINT[23]D|DRAG[23]D|PSI.*|D|CIN.*|ACIN.*|V?U[SMC]?\d+"
    r"|US\d+|PD3D|PC3D|Z\d+|DISTCOUP.*|RNET.*|HYBRID.*|FLINK|DUCT.*|LS3S|LS6"
)

# nodes in meshio's order where Abaqus has another: the middle of a line second, the centroid of a
# cube before the faces S1 to S6
ORDERS = {
    "line3": (0, 2, 1),
    "hexahedron27": (*range(20), 26, 24, 23, 25, 21, 22, 20),
}


@cache
def element_type(name: str) -> tuple[str, tuple[int, ...], bool]:
    """Return meshio's name of an element type, its nodes in meshio's order, and whether a beam.

    Beams in space may have a node more, which gives their orientation. The name is "" where the
    type is none of a cell.
    """
    for pattern, kind, count in TYPES:
        if re.fullmatch(f"{pattern}[A-Z]*5?", name):
            beam = re.match("(B|PIPE|ELBOW|FRAME)3", name) is not None
            return kind, ORDERS.get(kind, tuple(range(count))), beam
    return "", (), False


@cache
def skipped(name: str) -> bool:
    """Whether elements of a type are no cells and are left out."""
    return re.fullmatch(SKIPPED, name) is not None


def is_plane(name: str) -> bool:
    """Whether elements of a type are plane continua, whose faces are edges."""
    return re.match("CP|CG?AX|DCC?(2D|AX)|AC(2D|AX)", name) is not None


def is_rigid(name: str) -> bool:
    """Whether elements of a type are rigid."""
    return re.match("R[23]D|RAX|RB[23]D", name) is not None

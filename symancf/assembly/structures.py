# SPDX-License-Identifier: BSD-3-Clause
"""The structures of assembler.h and its neighbours."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

from symancf_codegen.modes import MODES

from ..runtime.structures import declared

LANES = 8

_FOLDER = Path(__file__).parent
_FILES = "half.h", "assembler.h", "closest_point.h", "opposite.h", "ways.h"
_STRUCTURES = declared(
    *(_FOLDER / name for name in _FILES),
    macros={"SYMANCF_MODES(MODE_FIELD)": f"void {', '.join(f'*{mode}' for mode in MODES)};"},
)

if TYPE_CHECKING:
    Basis = ctypes.Structure
    HalfRows = ctypes.Structure
    Opposite = ctypes.Structure
    Term = ctypes.Structure
    Terms = ctypes.Structure
    Types = ctypes.Structure
    Ways = ctypes.Structure
else:
    Term, Terms, Basis, Types, Opposite, Ways, HalfRows = (
        _STRUCTURES[f"symancf_{name}"]
        for name in ("term", "assembler", "basis", "types", "closest_points", "ways", "half")
    )

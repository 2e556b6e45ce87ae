# SPDX-License-Identifier: BSD-3-Clause
"""The structures of plan.h and its neighbours, and arrays as kernels take them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.modes import MODES

from ..runtime.structures import declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..arrays import Array

LANES = 8

_FOLDER = Path(__file__).parent
_FILES = "plan.h", "foot.h", "opposite.h", "ways.h"
_FOUND = declared(
    *(_FOLDER / name for name in _FILES),
    macros={"SYMANCF_MODES(MODE_FIELD)": f"void {', '.join(f'*{mode}' for mode in MODES)};"},
)

if TYPE_CHECKING:
    Basis = ctypes.Structure
    Opposite = ctypes.Structure
    Term = ctypes.Structure
    Terms = ctypes.Structure
    Types = ctypes.Structure
    Ways = ctypes.Structure
else:
    Term, Terms, Basis, Types, Opposite, Ways = (
        _FOUND[f"symancf_{name}"] for name in ("term", "plan", "basis", "types", "feet", "ways")
    )


def aligned(shape: Sequence[int]) -> Array:
    """Return a 64-byte aligned array of zeros."""
    size = int(np.prod(shape))
    raw = np.zeros(size + 8)
    start = (-raw.ctypes.data % 64) // 8
    array: Array = raw[start : start + size].reshape(tuple(shape))
    return array


def batched(values: Array) -> Array:
    """Reorder per-entity rows (n, k) into batches of lanes (nb, k, 8), repeating the last."""
    n, k = values.shape
    batches = -(-n // LANES)
    array = aligned((batches, k, LANES))
    if n:
        padded = values[np.minimum(np.arange(batches * LANES), n - 1)]
        array[...] = padded.reshape(batches, LANES, k).transpose(0, 2, 1)
    return array

# SPDX-License-Identifier: BSD-3-Clause
"""Unit vectors."""

import numpy as np

from ..arrays import Array


def unit(v: Array) -> Array:
    """Return the vectors `v` (..., 3) divided by their lengths."""
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))

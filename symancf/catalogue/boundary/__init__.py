# SPDX-License-Identifier: BSD-3-Clause
"""Supports: coordinates that are held or prescribed, clamps, planes of symmetry."""

from .fixing import fix, planar, symmetry
from .support import Support

__all__ = ["Support", "fix", "planar", "symmetry"]

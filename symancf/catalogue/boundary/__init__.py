# SPDX-License-Identifier: BSD-3-Clause
"""Supports: coordinates that are held or prescribed, clamps, planes of symmetry."""

from .support import Support, fix, planar, symmetry

__all__ = ["Support", "fix", "planar", "symmetry"]

# SPDX-License-Identifier: BSD-3-Clause
"""Cross-sections of rods: known shapes, and own ones, from outlines or meshes."""

from .section import Section

__all__ = ["Section"]

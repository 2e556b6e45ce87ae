# SPDX-License-Identifier: BSD-3-Clause
"""Checks of mechanics: of laws, terms and contact laws from their expressions, and of systems."""

from .kinds import check
from .properties import Properties
from .system import Check

__all__ = ["Check", "Properties", "check"]

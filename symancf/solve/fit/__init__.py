# SPDX-License-Identifier: BSD-3-Clause
"""Constants of laws from tests of materials."""

from .fitting import fit
from .material_test import MaterialTest
from .result import Fit

__all__ = ["Fit", "MaterialTest", "fit"]

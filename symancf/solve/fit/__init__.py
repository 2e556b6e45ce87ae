# SPDX-License-Identifier: BSD-3-Clause
"""Constants of laws from tests of materials and of structures."""

from .fitting import fit
from .material_test import MaterialTest
from .result import Fit
from .structure_test import StructureTest

__all__ = ["Fit", "MaterialTest", "StructureTest", "fit"]

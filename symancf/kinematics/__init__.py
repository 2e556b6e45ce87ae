# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics: the quantities that energies may ask for, in displacement form, and their laws."""

from .cable import cable
from .enhanced import enhanced_solid
from .fbar import fbar_solid
from .quantity import Kinematics, KinematicsFamily, Quantity
from .rod import rod
from .solid import beam_solid, director_solid, solid
from .thin_plate import surface, thin_plate

__all__ = [
    "Kinematics",
    "KinematicsFamily",
    "Quantity",
    "beam_solid",
    "cable",
    "director_solid",
    "enhanced_solid",
    "fbar_solid",
    "rod",
    "solid",
    "surface",
    "thin_plate",
]

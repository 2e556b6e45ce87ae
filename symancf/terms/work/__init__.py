# SPDX-License-Identifier: BSD-3-Clause
"""Virtual work and potentials of places, as functions of the user."""

from ..term import PlaceTerm, state_names
from .potential import Potential
from .virtual import VirtualWork

__all__ = ["PlaceTerm", "Potential", "VirtualWork", "state_names"]

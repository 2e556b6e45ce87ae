# SPDX-License-Identifier: BSD-3-Clause
"""Gas: follower pressure on surfaces, closed cavities, given amounts of gas."""

from .amount import Gas
from .cavity import Cavity
from .follower import Pressure, pressure

__all__ = ["Cavity", "Gas", "Pressure", "pressure"]

# SPDX-License-Identifier: BSD-3-Clause
"""Properties that mechanics asks of a law: each is a function from a law to what was found."""

from .law import properties_of, sample_of
from .property import Property
from .structure import STRUCTURE_PROPERTIES, structure_of

__all__ = [
    "STRUCTURE_PROPERTIES",
    "Property",
    "properties_of",
    "sample_of",
    "structure_of",
]

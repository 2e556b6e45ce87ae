# SPDX-License-Identifier: BSD-3-Clause
"""A catalogue of strain energies: each is a plain function of its quantities and parameters.

There is nothing special about them: a function of your own with the same kind of arguments is
treated in exactly the same way. Functions with a choice, such as ``cable(strain="green")``,
return such a plain function.
"""

from __future__ import annotations

from ..errors import unknown_names
from ..values.domain import between, domains, not_negative, positive, stressed_at_rest
from .fibres import orthotropic, swollen
from .solids import (
    arruda_boyce,
    gent,
    mooney_rivlin,
    neo_hooke,
    ogden,
    saint_venant_kirchhoff,
    yeoh,
    yeoh_raw,
)
from .structures import cable, kirchhoff, rod, split_beam

__all__ = [
    "arruda_boyce",
    "between",
    "cable",
    "domains",
    "gent",
    "kirchhoff",
    "mooney_rivlin",
    "neo_hooke",
    "not_negative",
    "ogden",
    "orthotropic",
    "positive",
    "rod",
    "saint_venant_kirchhoff",
    "split_beam",
    "stressed_at_rest",
    "swollen",
    "yeoh",
    "yeoh_raw",
]

__getattr__ = unknown_names("symancf.energies", __all__)


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__

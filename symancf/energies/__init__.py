# SPDX-License-Identifier: BSD-3-Clause
"""A catalogue of strain energies: each name is called to give a law, ``energies.yeoh()``.

The law is a plain function of quantities and parameters, as those that you write yourself and give
to a body as they are; within one it is called with quantities, ``energies.yeoh()(J, I1, ...)``.
Choices are arguments of the call, ``energies.cable(strain="green")``.
"""

from __future__ import annotations

from ..errors import unknown_names
from ..values.domain import between, domains, moduli, not_negative, positive, stressed_at_rest
from .fibres import orthotropic
from .free_strains import rest_strain, swollen
from .hysteresis import bergstrom_boyce
from .mullins import ogden_roxburgh
from .plastic import j2_plasticity
from .solids import (
    arruda_boyce,
    extended_tube,
    gent,
    hencky,
    mooney_rivlin,
    neo_hooke,
    ogden,
    saint_venant_kirchhoff,
    yeoh,
    yeoh_raw,
)
from .structures import cable, kirchhoff, rod, split_beam
from .tissues import fung, holzapfel_gasser_ogden
from .viscoelastic import prony

__all__ = [
    "arruda_boyce",
    "bergstrom_boyce",
    "between",
    "cable",
    "domains",
    "extended_tube",
    "fung",
    "gent",
    "hencky",
    "holzapfel_gasser_ogden",
    "j2_plasticity",
    "kirchhoff",
    "moduli",
    "mooney_rivlin",
    "neo_hooke",
    "not_negative",
    "ogden",
    "ogden_roxburgh",
    "orthotropic",
    "positive",
    "prony",
    "rest_strain",
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

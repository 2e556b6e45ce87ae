# SPDX-License-Identifier: BSD-3-Clause
"""Point laws: what the compiler is given for energies, mass and dead loads on an element."""

from .body import body_force_laws, inertia_laws, weight_law
from .build import Kind, build_law
from .energy import energy_laws, unsuited
from .evaluate import evaluate_energy
from .formulas import energy_equation, stress_equations
from .layers import Layers, advice
from .parts import EnergyCall
from .pressure import dead_load_laws, lid_laws, surface_laws
from .sampled import Fields, Sampled, at_points, sampled_fields

__all__ = [
    "EnergyCall",
    "Fields",
    "Kind",
    "Layers",
    "Sampled",
    "advice",
    "at_points",
    "body_force_laws",
    "build_law",
    "dead_load_laws",
    "energy_equation",
    "energy_laws",
    "evaluate_energy",
    "inertia_laws",
    "lid_laws",
    "sampled_fields",
    "stress_equations",
    "surface_laws",
    "unsuited",
    "weight_law",
]

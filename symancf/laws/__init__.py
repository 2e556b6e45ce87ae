# SPDX-License-Identifier: BSD-3-Clause
"""Point laws: what the compiler is given for energies, mass and dead loads on an element."""

from .accuracy import digits_lost
from .body import body_force_laws, inertia_laws, weight_law
from .build import Kind, build_law
from .energy import Parts, energy_laws, evaluate_energy
from .formulas import energy_equation, stress_equations
from .pressure import dead_load_laws, lid_laws, surface_laws
from .stress import Stress, solid_stress, stress_fields

__all__ = [
    "Kind",
    "Parts",
    "Stress",
    "body_force_laws",
    "build_law",
    "dead_load_laws",
    "digits_lost",
    "energy_equation",
    "energy_laws",
    "evaluate_energy",
    "inertia_laws",
    "lid_laws",
    "solid_stress",
    "stress_equations",
    "stress_fields",
    "surface_laws",
    "weight_law",
]

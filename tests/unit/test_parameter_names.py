# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the laws of the catalogue: one name for one quantity; E and nu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from symancf import Parameter, energies
from symancf.errors import ParameterError
from symancf.kinematics.moduli import constants_of
from symancf.kinematics.naming import signature
from symancf.values.domain import declared_moduli

LAWS: dict[str, Any] = {
    "arruda_boyce": energies.arruda_boyce(),
    "bergstrom_boyce": energies.bergstrom_boyce(energies.neo_hooke(), s=1.0, stress=1.0, m=4.0),
    "cable": energies.cable(),
    "extended_tube": energies.extended_tube(),
    "fung": energies.fung(),
    "gent": energies.gent(),
    "hencky": energies.hencky(),
    "holzapfel_gasser_ogden": energies.holzapfel_gasser_ogden(),
    "j2_plasticity": energies.j2_plasticity(),
    "kirchhoff": energies.kirchhoff(),
    "mooney_rivlin": energies.mooney_rivlin(),
    "neo_hooke": energies.neo_hooke(),
    "ogden": energies.ogden(terms=2),
    "ogden_roxburgh": energies.ogden_roxburgh(energies.neo_hooke(), r=1.5, m=0.1, beta=0.1),
    "orthotropic": energies.orthotropic(),
    "prony": energies.prony(energies.neo_hooke(), g=(0.5,), tau=(1.0,)),
    "rod": energies.rod(),
    "saint_venant_kirchhoff": energies.saint_venant_kirchhoff(),
    "split_beam": energies.split_beam(),
    "yeoh": energies.yeoh(),
    "yeoh_raw": energies.yeoh_raw(),
}
#: Which are no laws, or have those of the law that they are given.
OTHERS = {"between", "domains", "moduli", "not_negative", "positive", "stressed_at_rest"}
OTHERS |= {"rest_strain", "swollen"}
#: What each name stands for, in all laws that have it.
QUANTITIES = {
    "shear modulus [Pa]": "mu G12 G13 G23",
    "bulk modulus [Pa]": "k",
    "second of Lamé's [Pa]": "lam",
    "Young's modulus [Pa]": "E E1 E2 E3",
    "Poisson's ratio [-]": "nu nu12 nu13 nu23",
    "coefficients of powers of invariants [Pa]": "C10 C01 C20 C30",
    "coefficients and exponents of stretches [Pa], [-]": "mu1 mu2 alpha1 alpha2",
    "ends of chains [-]": "Jm lambda_m delta",
    "moduli of cross-links and entanglements [Pa], their exponent [-]": "Gc Ge beta",
    "Fung's stiffness [Pa] and form [-]": "c b11 b22 b33 b12 b13 b23 b44 b55 b66",
    "fibres: stiffness [Pa], stiffening, dispersion [-]": "k1 k2 kappa",
    "series of Prony [-], [s]": "g1 tau1",
    "Mullins effect": "mullins_r mullins_m mullins_beta",
    "creep": "creep_s creep_stress creep_m creep_C creep_E creep_rate",
    "plasticity [Pa]": "yield_stress hardening kinematic",
    "stiffness of lines [N], [N m^2]": "EA EI GA2 GA3 GA23 GJ EI2 EI3 EI23",
    "sections [m], [-]": "thickness y_shear z_shear rigidity k2 k3",
}
#: Of two quantities in different laws: fibres are of solids, shear factors of beams.
SHARED = {"k2"}
#: Of these the modulus is more: chains stiffen by lambda_m, sections twist about the shear centre.
FUNCTIONS = {("arruda_boyce", "mu"), ("rod", "GJ")}


def test_the_table_has_all_laws_and_parameters() -> None:
    assert {*LAWS} | OTHERS == {*energies.__all__}
    names = [name for line in QUANTITIES.values() for name in line.split()]
    assert {n for n in names if names.count(n) > 1} == SHARED
    assert {p for law in LAWS.values() for p in signature(law).parameters} == {*names}


@pytest.mark.parametrize("name", LAWS)
def test_moduli_that_a_law_declares_bear_the_names_of_its_parameters(name: str) -> None:
    parameters = {p: sp.Symbol(p) for p in signature(LAWS[name]).parameters}
    found = declared_moduli(LAWS[name]).of(parameters)
    for modulus in {*found} & {*parameters} - {m for law, m in FUNCTIONS if law == name}:
        assert sp.simplify(found[modulus] - parameters[modulus]) == 0, modulus


@pytest.mark.parametrize("name", LAWS)
def test_isotropic_laws_take_E_and_nu(name: str) -> None:
    law = LAWS[name]
    if declared_moduli(law).symmetry != "isotropic" or name == "yeoh_raw":  # stressed at rest
        return
    assert constants_of(law) or {"E", "nu"} <= {*signature(law).parameters}


@pytest.mark.parametrize("use", [lambda p: 2 * p, lambda p: p / 2, lambda p: -p, lambda p: p**2])
def test_a_parameter_is_no_number(use: Any) -> None:
    with pytest.raises(ParameterError, match=r"lambda t: p.value \* t"):
        use(Parameter("press", 1.0))
    with pytest.raises(ParameterError, match="'press' is no number"):
        np.ones(3) * Parameter("press", 1.0)

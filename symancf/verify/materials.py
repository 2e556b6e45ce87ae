# SPDX-License-Identifier: BSD-3-Clause
"""Energies and stresses of homogeneous deformations, in the compiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import energies
from ..bodies.body import Body
from ..elements import ancf_plate, hex8_plain
from ..system import System
from .case import Number, case
from .meshes import box
from .references import HOMOGENEOUS
from .states import affine, energy, moment, moved, positions, residual, rotation

if TYPE_CHECKING:
    from collections.abc import Iterator

F = np.array([[1.1, 0.2, -0.05], [0.03, 0.95, 0.1], [0.0, -0.08, 1.02]])

MATERIALS: dict[str, tuple[Any, dict[str, Any]]] = {
    "saint_venant_kirchhoff": (energies.saint_venant_kirchhoff(), {"E": 1000.0, "nu": 0.3}),
    "neo_hooke": (energies.neo_hooke(), {"mu": 1000.0 / 2.6, "lam": 300.0 / (1.3 * 0.4)}),
    "yeoh": (energies.yeoh(), {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 1000.0}),
}

MESHES: dict[str, list[tuple[tuple[int, ...], float]]] = {
    "hex8_plain": [((2, 2, 2), 0.0), ((3, 3, 3), 0.12)],
    "ancf_plate": [((2, 2), 0.0), ((3, 3), 0.12)],
}
THICKNESS = 0.1


@case("E01_homogeneous_F", "complex step of the definitions")
def homogeneous() -> Iterator[Number]:
    """Energy, stress and interior residual of a homogeneous deformation."""
    for element in (hex8_plain, ancf_plate):
        for divisions, amount in MESHES[element.name]:
            for material, (function, parameters) in MATERIALS.items():
                W, P = HOMOGENEOUS[material]
                section: dict[str, Any] = {"thickness": THICKNESS} if element.has_thickness else {}
                mesh = box([1.2, 0.9, 0.7][: len(divisions)], divisions, amount)
                volume = 1.2 * 0.9 * (THICKNESS if element.has_thickness else 0.7)
                body = Body(mesh["body"], element, function, **parameters, **section)
                system = System(body)
                state = moved(system, *affine(F, (0.3, -0.2, 0.1)))
                f = residual(system, state)
                stress = moment(system, f) / volume
                at, X = positions(system)
                inside = np.ones(len(X), dtype=bool)
                for a, length in zip(range(len(divisions)), (1.2, 0.9, 0.7), strict=False):
                    inside &= (X[:, a] > 1e-9) & (X[:, a] < length - 1e-9)
                forces = np.abs(f[at[inside][:, None] + np.arange(3)]).max()
                shape = "distorted" if amount else "regular"
                label = f"{material}, {element.name}, {shape}"
                yield Number(f"W: {label}", energy(system, state) / volume, W, 1e-11)
                wrong = float(np.abs(stress - np.array(P)).max())
                yield Number(f"|P - P_ref|: {label}", wrong, 0.0, 1e-11, np.abs(P).max())
                largest = float(np.abs(f).max())
                yield Number(f"interior forces: {label}", forces, 0.0, 1e-11, largest)


@case("C49_orthotropic", "closed form (R. M. Jones 1999, section 2.6): a pull off the axes")
def off_axis() -> Iterator[Number]:
    """A pull at an angle to the fibres: at Green strains of Jones's moduli S is the pull.

    Large ones: the law is linear in them.
    """
    E1, E2, nu12, nu13, nu23, G12 = 140.0, 10.0, 0.3, 0.25, 0.4, 5.0
    given: dict[str, Any] = {
        "E1": E1,
        "E2": E2,
        "E3": 9.0,
        "nu12": nu12,
        "nu13": nu13,
        "nu23": nu23,
    }
    given |= {"G12": G12, "G13": 4.5, "G23": 3.5}
    angle, pull = np.radians(35.0), 1.0
    c, s = np.cos(angle), np.sin(angle)
    axes = ((c, s, 0.0), (0.0, 1.0, 0.0))
    mesh = box([1.2, 0.9, 0.7], (1, 1, 1))
    system = System(Body(mesh["body"], hex8_plain, energies.orthotropic(axes=axes), **given))
    along = c**4 / E1 + (1 / G12 - 2 * nu12 / E1) * (s * c) ** 2 + s**4 / E2
    across = (1 / E1 + 1 / E2 - 1 / G12) * (s * c) ** 2 - nu12 / E1 * (s**4 + c**4)
    thinner = -(nu13 * c**2 / E1 + nu23 * s**2 / E2)
    coupling = 2 / E1 + 2 * nu12 / E1 - 1 / G12
    shear = coupling * s * c**3 - (2 / E2 + 2 * nu12 / E1 - 1 / G12) * s**3 * c
    strain = pull * np.array([[along, shear / 2, 0], [shear / 2, across, 0], [0, 0, thinner]])
    values, vectors = np.linalg.eigh(np.eye(3) + 2 * strain)
    stretch = (vectors * np.sqrt(values)) @ vectors.T
    state = moved(system, *affine(rotation([1.0, 2.0, -0.5], 40.0) @ stretch))
    P = moment(system, residual(system, state)) / (1.2 * 0.9 * 0.7)
    S = np.linalg.inv(rotation([1.0, 2.0, -0.5], 40.0) @ stretch) @ P
    yield Number("S along the pull", float(S[0, 0]), pull, 1e-12)
    rest = float(np.abs(S - np.diag([S[0, 0], 0.0, 0.0])).max())
    yield Number("other stresses", rest, 0.0, 1e-12, pull)

# SPDX-License-Identifier: BSD-3-Clause
"""A measured wing with a slender body at its tip, under its weight and in vibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..catalogue import joints
from ..catalogue.boundary import fix
from ..catalogue.loads import gravity
from ..elements import ancf_rod
from ..energies import rod
from ..solve.modes import EigenProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Number, case
from .rods import along, axes, line
from .rods_coupled import turn

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Length [m]; stiffness of torsion and bending (flat, on edge) [N m^2]; mass [kg/m] and moments
#: of inertia along and about the chord [kg m]. github.com/luizpancini/AeroBeams.jl f02531d7.
LENGTH, G = 0.4508, 9.807
GJ, EI2, EI3 = 0.9539, 0.4186, 18.44
MASS, POLAR, FLAT = 0.2351, 0.2056e-4, 1e-6
#: Of the body at the tip: mass [kg], moments of inertia about the chord and across it [kg m^2].
TIP, ALONG, ACROSS = 0.0417, 0.3783e-5, 0.9753e-4
STIFF = 1e6  # N, of stretch and shear, which the authors leave out
CELLS = 10
DOWN, CHORD, TWIST = "down [m]", "along the chord [m]", "twist [degrees]"
FREQUENCIES = ("bending flat [Hz]", "bending on edge [Hz]", "torsion [Hz]")
#: Pitch of the root [degrees] -> what was measured there, read off figures by the author of that
#: repository: movements down and along the chord [m], twist [degrees], frequencies [Hz] of the
#: first bending flat and on edge and of torsion.
MEASURED: dict[int, dict[str, float]] = {
    0: dict(zip(FREQUENCIES, (2.5492, 13.796, 26.167), strict=True)) | {DOWN: 5.6327e-2},
    45: dict(zip(FREQUENCIES, (2.5024, 14.032, 25.742), strict=True))
    | {DOWN: 4.0586e-2, CHORD: 1.0005e-3, TWIST: 0.12005},
    90: dict(zip(FREQUENCIES, (2.4708, 14.273, 25.023), strict=True)) | {CHORD: 1.3530e-3},
}
WANTED, RECORDED = 0.05, 0.16


def answers(pitch: float, stiffer: float = 1.0) -> dict[str, float]:
    """Return what is measured of a wing whose root is turned by a pitch [degrees].

    `stiffer` times the stiffness in bending flat and in torsion.
    """
    R = turn(np.array([math.radians(pitch), 0.0, 0.0]))
    C = np.diag([STIFF, STIFF, STIFF, stiffer * GJ, stiffer * EI2, EI3])
    X = np.zeros((2 * CELLS + 1, 3))
    X[:, 0] = np.linspace(0.0, LENGTH, len(X))
    mass: dict[str, Any] = {"rho": 1.0, "A": MASS, "I2": FLAT, "I3": POLAR - FLAT}
    wing = Body(line(X)["rod"], ancf_rod, rod(C=C), direction=along(R[:, 1]), **mass)
    inertia = R @ np.diag([ACROSS, ALONG, ACROSS]) @ R.T
    tip = RigidBody(position=X[-1], mass=TIP, inertia=inertia, name="tip")
    terms = [fix(wing["start"]), joints.weld(wing["end"], tip.at(X[-1]))]
    system = System(wing, tip, terms=[*terms, gravity((0.0, 0.0, -G))])
    StaticProblem(system).solve(step=0.5)
    u, F = R.T @ system.displacement(wing["end"])[0], axes(system, wing["end"])
    flat, on_edge, _, torsion = EigenProblem(system).solve(4).frequencies
    twist = -math.degrees(math.asin(R[:, 2] @ F @ R[:, 1]))
    frequencies = zip(FREQUENCIES, (flat, on_edge, torsion), strict=True)
    return {DOWN: -u[2], CHORD: -u[1], TWIST: twist, **dict(frequencies)}


@case("X10_wing", "measured: Tang and Dowell, AIAA J. 39 (2001) 1430-1441")
def wing() -> Iterator[Number]:
    """A wing of 0.45 m with a body at its tip, root at 0, 45, 90 degrees: weight, vibration.

    Nothing is fitted. Numbers that differ by more than 5 % say so.
    """
    for pitch, data in MEASURED.items():
        found = answers(pitch)
        for quantity, right in data.items():
            agrees = abs(found[quantity] - right) <= WANTED * right
            text = f"{quantity}: root at {pitch} degrees" + ("" if agrees else ", a disagreement")
            yield Number(text, found[quantity], right, WANTED if agrees else RECORDED)

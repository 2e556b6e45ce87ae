# SPDX-License-Identifier: BSD-3-Clause
"""Measured composite beams beside rods with coupled stiffness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force
from ..elements import ancf_rod
from ..energies import rod
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Curve, Number, case
from .experiments import measured
from .rods import straight
from .rods_coupled import turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array

LENGTH, GRAM = 0.55, 9.80665e-3  # m; N
#: Largest difference wanted, of the largest deflection of a case, and of any [m].
WANTED, SCATTER = 0.03, 0.002
#: Largest difference that is recorded as a disagreement.
RECORDED = 0.11
AXES = ("weight [g]", "deflection [m]")


def stiffness(diagonal: tuple[float, ...], **couplings: float) -> Array:
    """Return C of N, Q2, Q3, T, M2, M3 of its diagonal and pairs such as ``C45=``."""
    C = np.diag(diagonal)
    for name, value in couplings.items():
        i, j = int(name[1]) - 1, int(name[2]) - 1
        C[i, j] = C[j, i] = value
    return C


#: Beam -> its layers and the sectional stiffness that the authors give [N, N m, N m^2].
BEAMS = {
    1: ("[0/90]3s", stiffness((3.7e6, 2.6e5, 2.9e5, 0.183, 0.707, 276.0))),
    2: (
        "[45/0]3s",
        stiffness((4e6, 2.6e5, 5.5e5, 0.368, 0.522, 298.0), C12=-2.7e5, C45=-0.102),
    ),
    3: ("[20/-70/-70/20]2a", stiffness((3.9e6, 1.1e6, 1.2e5, 1.18, 0.983, 290.0), C14=-522.0)),
}


@case("X06_composite_beams", "measured: Minguet and Dugundji, AIAA J. 28 (1990) 1573-1579")
def composite_beams() -> Iterator[Number | Curve]:
    """Three composite blades of 0.55 m under a weight at the tip, root turned by 0 and 45 degrees.

    Numbers that differ by more than the scatter, 3 % of the largest deflection or 2 mm, say so:
    small weights move all three beams by 5 to 17 % more than the stiffness says that their authors
    give, as a clamp would that turns.
    """
    rows = measured("minguet_dugundji_1990.csv")
    mesh = straight(11, LENGTH)
    for beam, (layers, C) in BEAMS.items():
        for angle in (0, 45):
            axis2 = turn(np.array([math.radians(angle), 0.0, 0.0]))[:, 1]
            body = Body(mesh["rod"], ancf_rod, rod(C=C), direction=axis2)
            load = force(body["end"], (0.0, 0.0, lambda t: -GRAM * t))
            problem = StaticProblem(System(body, terms=[fix(body["start"]), load]))
            own = [r for r in rows if (int(r["beam"]), int(r["theta"])) == (beam, angle)]
            data = {int(r["grams"]): float(r["metres"]) for r in own if r["quantity"] == "down"}
            largest, found = max(data.values()), []
            for grams in sorted(data):
                problem.solve(to=float(grams))
                found.append(-float(problem.system.displacement(body.at((0.5, 0.0, 0.0)))[0, 2]))
            what = f"{layers}, root at {angle} degrees"
            for (grams, right), down in zip(sorted(data.items()), found, strict=True):
                agrees = abs(down - right) <= max(WANTED * largest, SCATTER)
                text = f"-u3: {what}, {grams} g" + ("" if agrees else ", a disagreement")
                tolerance = max(WANTED, SCATTER / largest) if agrees else RECORDED
                yield Number(text, down, right, tolerance, largest)
            measure = (sorted(data), [data[g] for g in sorted(data)])
            yield Curve(AXES, what, sorted(data), found, measure, "Minguet, Dugundji 1990")

# SPDX-License-Identifier: BSD-3-Clause
"""A measured arm of silicone with four chambers, one of which is under pressure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import gravity
from ..catalogue.moments import moment
from ..elements import ancf_rod
from ..energies import rod
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Curve, Number, case
from .rods import line

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Pressure [mbar] -> movement aside of the tip [mm], mean of the top 0.6 s and of the markers;
#: github.com/srl-ethz/diffPD_sim2real 825e7b7 python/1segment_arm/Measurement_data, *mbar_V3.c3d.
ASIDE = {100: 3.06, 150: 5.16, 200: 7.69, 250: 11.0, 300: 15.2, 350: 22.6, 400: 34.2, 450: 50.1}
#: As the authors' model has them: length, thickness of the closed end, outer radius, outer and
#: inner wall, and where |x| + |y| ends the hollow in the middle [mm].
LENGTH, END, RADIUS, OUTER, INNER, HOLLOW = 100.0, 6.93, 22.22, 2.03, 2.27, 10.11
#: Thickness of the walls between chambers [mm], not known: one wall, or one of each chamber.
BETWEEN = (OUTER, 2.0 * OUTER)
E, NU, RHO, G = 263824.0, 0.499, 1070.0, 9.80709  # of the authors' models
PIXEL = 0.02  # mm
WANTED, RECORDED = 0.1, 1.5  # of the movement


def section(between: float) -> dict[str, float]:
    """Return areas, the second moment about a diagonal, and the first one of a chamber [m]."""
    x = np.arange(-RADIUS, RADIUS, PIXEL) + PIXEL / 2.0
    x, y = np.meshgrid(x, x)
    r, sum_of_both = np.hypot(x, y), abs(x) + abs(y)
    room = (r < RADIUS - OUTER) & (sum_of_both > HOLLOW + np.sqrt(2.0) * INNER)
    room &= np.minimum(abs(x), abs(y)) > between / 2.0
    wall = (r <= RADIUS) & (sum_of_both >= HOLLOW) & ~room
    chamber, across = room & (x > 0.0) & (y > 0.0), (x + y) / np.sqrt(2.0)
    scale = 1e-3 * PIXEL
    return {
        "A": float(wall.sum()) * scale**2,
        "I": float((across[wall] ** 2).sum()) * 1e-6 * scale**2,
        "chamber": float(across[chamber].sum()) * 1e-3 * scale**2,
    }


def bends(between: float) -> list[float]:
    """Return the movements aside [mm] of a hanging rod whose chamber keeps its section."""
    of = section(between)
    A, inertia, shear = of["A"], of["I"], E / (2.0 * (1.0 + NU)) * of["A"]
    s = np.linspace(0.0, LENGTH - END, 17) * 1e-3
    own: dict[str, Any] = {"EA": E * A, "GA2": shear, "GA3": shear, "GJ": E / (1.0 + NU) * inertia}
    own |= {
        "EI2": E * inertia,
        "EI3": E * inertia,
        "rho": RHO,
        "A": A,
        "I2": inertia,
        "I3": inertia,
    }
    X = np.column_stack([0.0 * s, 0.0 * s, -s])
    axis2 = np.array([0.0, 1.0, 0.0])
    body = Body(line(X)["rod"], ancf_rod, rod(), direction=axis2, **own)
    push = moment(body["end"], (0.0, lambda t: 100.0 * t * of["chamber"], 0.0))
    problem = StaticProblem(System(body, terms=[fix(body["start"]), gravity((0.0, 0.0, -G)), push]))
    found = []
    for pressure in ASIDE:
        problem.solve(to=float(pressure))
        tip = problem.system.displacement(body["end"])[0]
        axis = problem.system.gradient(body["end"])[0] @ np.array([0.0, 0.0, -1.0])
        found.append(1e3 * abs(tip[0] + 1e-3 * END * axis[0]))
    return found


@case("X09_pneumatic_arm", "measured: Dubied et al., IEEE RA-L 7 (2022), arXiv 2201.12560")
def pneumatic_arm() -> Iterator[Number | Curve]:
    """A hanging arm of four chambers under a pressure in one, as a rod; its fibres are not known.

    The moment is pressure times the first moment of a chamber that keeps its section.
    """
    for between in BETWEEN:
        model = bends(between)
        what = f"walls of {between:g} mm between chambers"
        for (pressure, right), found in zip(ASIDE.items(), model, strict=True):
            agrees = abs(found - right) <= WANTED * right
            text = f"movement aside [mm]: {what}, {pressure} mbar"
            text += "" if agrees else ", a disagreement"
            yield Number(text, found, right, WANTED if agrees else RECORDED)
        data = ([*ASIDE], [*ASIDE.values()]) if between == OUTER else None
        yield Curve(
            ("pressure [mbar]", "movement aside [mm]"),
            what,
            [*ASIDE],
            model,
            data,
            "Dubied et al. 2022",
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Incompressible rubber of the catalogue's laws, drawn far: closed forms of homogeneous states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .. import energies
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..elements import tet10
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case
from .incompressible import bent
from .states import moment, residual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array

    Slopes = Callable[[Array], Array]

#: Treloar's vulcanised rubber [MPa]: R. W. Ogden, Proc. R. Soc. Lond. A 326 (1972) 565-584.
TRELOAR: dict[str, Any] = {
    "mu1": 0.63,
    "alpha1": 1.3,
    "mu2": 0.0012,
    "alpha2": 5.0,
    "mu3": -0.01,
    "alpha3": -2.0,
}
GENT: dict[str, Any] = {"mu": 0.4225, "Jm": 80.0}


def of_ogden(x: Array) -> Array:
    """Return lambda dW/d lambda of principal stretches, but for a pressure."""
    pairs = [(TRELOAR[f"mu{i}"], TRELOAR[f"alpha{i}"]) for i in (1, 2, 3)]
    return np.asarray(sum(mu * x**alpha for mu, alpha in pairs))


def of_gent(x: Array) -> Array:
    """Return the same of Gent's law."""
    Jm = GENT["Jm"]
    return np.asarray(GENT["mu"] * Jm / (Jm - np.sum(x**2) + 3.0) * x**2)


#: Sides that are moved, sides that are held, and the principal stretches.
STATES: dict[str, tuple[str, str, Callable[[float], list[float]], float]] = {
    "uniaxial": ("x", "", lambda s: [s, s**-0.5, s**-0.5], 7.0),
    "equibiaxial": ("xy", "", lambda s: [s, s, s**-2], 4.5),
    "planar": ("x", "y", lambda s: [s, 1.0, 1.0 / s], 5.0),
}


@case("C06_laws_of_rubber", "closed form", 12)
def laws() -> Iterator[Number]:
    """Ogden's and Gent's rubber with k = inf, to stretches of 7 (uniaxial), curved `tet10`."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell=tet10.cell, warp=bent, comm=MPI.COMM_SELF)
    laws: tuple[tuple[str, Any, dict[str, Any], Slopes], ...] = (
        ("Ogden", energies.ogden(), TRELOAR, of_ogden),
        ("Gent", energies.gent(), GENT, of_gent),
    )
    for law, energy, parameters, slopes in laws:
        for state, (moved, supports, stretches, last) in STATES.items():
            body = Body(
                mesh["body"],
                tet10,
                energy,
                pressure="continuous",
                k=math.inf,
                name=law,
                **parameters,
            )
            terms = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
            terms += [fix(body[f"{axis}1"], axis) for axis in supports]
            for side in moved:
                along = [(lambda t: t) if axis == side else 0.0 for axis in "xyz"]
                terms.append(fix(body[f"{side}1"], side, displacement=along))
            system = System(body, terms=terms)
            problem = StaticProblem(system, options=TIGHT, check_stable=False)
            for stretch in (1.1, 2.0, last):
                problem.solve(to=stretch - 1.0, step=0.5)
                P = moment(system, residual(system, system.state))
                x = np.array(stretches(stretch))
                exact = (slopes(x) - slopes(x)[2]) / x
                name = f"{law}, {state}, stretch {stretch:g}"
                yield Number(f"P11 [MPa]: {name}", P[0, 0], exact[0], 1e-9)
                if supports:
                    yield Number(f"P22 [MPa]: {name}", P[1, 1], exact[1], 1e-9)

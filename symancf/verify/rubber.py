# SPDX-License-Identifier: BSD-3-Clause
"""Rubber under homogeneous loads, solved as a boundary value problem at growing bulk modulus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import energies
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..elements import ancf_plate, hex8_plain
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case
from .meshes import box
from .references import EQUIBIAXIAL, PENALTY, PURE_SHEAR, SIMPLE_SHEAR, UNIAXIAL
from .states import moment, residual
from .yeoh import Yeoh

RUBBER: dict[str, Any] = {"C10": 0.5, "C20": -0.05, "C30": 0.01}  # MPa
BULK = (1e3, 1e4, 1e5)  # times the unit of modulus
STRETCHES = (1.5, 2.0)
THICKNESS = 0.1
PLATE: dict[str, Any] = {"thickness": THICKNESS}


@dataclass(frozen=True)
class Specimen:
    """A unit cube of solids or a unit square of plates, and its supports by name."""

    name: str
    plate: bool
    divisions: tuple[int, ...]
    amount: float

    @property
    def volume(self) -> float:
        """Reference volume."""
        return THICKNESS if self.plate else 1.0

    def body(self, k: float) -> Body:
        """Return the body with bulk modulus k."""
        mesh = box([1.0] * len(self.divisions), self.divisions, self.amount)
        section: dict[str, Any]
        element, section = (ancf_plate, PLATE) if self.plate else (hex8_plain, {})
        return Body(mesh["body"], element, energies.yeoh(), name="rubber", k=k, **RUBBER, **section)

    def side(self, body: Body, name: str, move: Any = 0.0, *, mirror: bool = False) -> Any:
        """Move a side as a plane across its axis; a `mirror` also keeps the normals to it."""
        axis, other = name[0], "yx"["xy".index(name[0])]
        dofs = [axis]
        if self.plate:
            dofs += [f"slope_{other}.{axis}", *([f"slope_z.{axis}"] if mirror else [])]
        displacement = [move if a == axis else 0.0 for a in "xyz"]
        return fix(body[name], dofs, displacement=displacement)

    def level(self, body: Body) -> Any:
        """Keep the body from moving along z."""
        if self.plate:
            return fix(body.at((0.0, 0.0, 0.0)), "z")
        return fix(body["z0"], "z")


SPECIMENS = (
    Specimen("one hex8_plain", False, (1, 1, 1), 0.0),
    Specimen("3x3x3 distorted hex8_plain", False, (3, 3, 3), 0.12),
    Specimen("one ancf_plate", True, (1, 1), 0.0),
)

Supports = Callable[[Specimen, Body], list[Any]]


def pulled(specimen: Specimen, body: Body) -> list[Any]:
    """Return supports that pull along x with the other sides free."""
    s = specimen
    return [s.side(body, "x1", lambda t: t), *_mirrors(s, body)]


def pulled_twice(specimen: Specimen, body: Body) -> list[Any]:
    """Return supports that pull along x and y."""
    s = specimen
    return [s.side(body, "x1", lambda t: t), s.side(body, "y1", lambda t: t), *_mirrors(s, body)]


def pulled_wide(specimen: Specimen, body: Body) -> list[Any]:
    """Return supports that pull along x and hold y."""
    s = specimen
    return [s.side(body, "x1", lambda t: t), s.side(body, "y1"), *_mirrors(s, body)]


def sheared(specimen: Specimen, body: Body) -> list[Any]:
    """Return supports that move all four sides by u_x = t Y."""

    def u(X: Any, t: float) -> Any:
        return np.stack([t * X[:, 1], 0.0 * X[:, 0], 0.0 * X[:, 0]], axis=1)

    dofs = ["x", "y", *(["slope_x", "slope_y"] if specimen.plate else [])]
    along = np.outer([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    gradient = (lambda t: t * along) if specimen.plate else None
    moved = [fix(body[side], dofs, u, gradient) for side in ("x0", "x1", "y0", "y1")]
    return [*moved, specimen.level(body)]


def _mirrors(specimen: Specimen, body: Body) -> list[Any]:
    x, y = (specimen.side(body, side, mirror=True) for side in ("x0", "y0"))
    return [x, y, specimen.level(body)]


def stresses(specimen: Specimen, supports: Supports, k: float, times: list[float]) -> list[Any]:
    """Return the mean nominal stress P (3, 3) and F at the given pseudo-times."""
    body = specimen.body(k)
    system = System(body, terms=supports(specimen, body))
    # A sheared plate is in equilibrium, but its edges may leave the plane, and would: unstable.
    stable = not (specimen.plate and supports is sheared)
    problem = StaticProblem(system, options=TIGHT, check_stable=stable)
    results = []
    centre = body.at([0.4, 0.6, 0.0 if specimen.plate else 0.3])
    for time in times:
        problem.solve(to=time, step=0.25)
        P = moment(system, residual(system, system.state)) / specimen.volume
        results.append((P, system.gradient(centre)[0]))
    return results


def compared(
    quantity: str,
    supports: Supports,
    measure: Callable[[Any, Any], float],
    times: list[float],
    labels: list[str],
    exact: list[float],
    penalty: Callable[[float, int], float],
) -> Iterator[Number]:
    """Yield stresses against those at the same k, and how they approach incompressibility."""
    for specimen in SPECIMENS:
        results = np.array(
            [[measure(*r) for r in stresses(specimen, supports, k, times)] for k in BULK]
        )
        for i, label in enumerate(labels):
            where = f"{specimen.name}, {label}"
            for j, k in enumerate(BULK):
                yield Number(
                    f"{quantity} [MPa]: {where}, k = {k:g}", results[j, i], penalty(k, i), 1e-9
                )
            off = np.abs(results[:, i] - exact[i])
            for j in (1, 2):
                fall = float(off[j - 1] / off[j])
                name = f"fall of the error, k = {BULK[j - 1]:g} to {BULK[j]:g}: {quantity}, {where}"
                yield Number(name, fall, 10.0, 1.0, 1.0)


def _pulled(
    state: str,
    quantity: str,
    axis: int,
    supports: Supports,
    table: dict[float, Any],
    penalty: Callable[[Yeoh, float], float],
) -> Iterator[Number]:
    def at(k: float, i: int) -> float:
        stretch = STRETCHES[i]
        if (state, k, stretch) in PENALTY:
            return PENALTY[state, k, stretch][1 + axis]
        return penalty(Yeoh(k=k, **RUBBER), stretch)

    yield from compared(
        quantity,
        supports,
        lambda P, F: float(P[axis, axis]),
        [s - 1.0 for s in STRETCHES],
        [f"stretch {s:g}" for s in STRETCHES],
        [float(table[s][0]) for s in STRETCHES],
        at,
    )


@case("C01_yeoh_uniaxial", "closed form; at finite k: one scalar equation (C05)")
def uniaxial() -> Iterator[Number]:
    """Uniaxial tension of Yeoh rubber."""
    yield from _pulled("uni", "P11", 0, pulled, UNIAXIAL, Yeoh.uniaxial)


@case("C02_yeoh_equibiaxial", "closed form; at finite k: one scalar equation (C05)")
def equibiaxial() -> Iterator[Number]:
    """Equibiaxial tension of Yeoh rubber."""
    yield from _pulled("equi", "P11", 0, pulled_twice, EQUIBIAXIAL, Yeoh.equibiaxial)


@case("C03_yeoh_pure_shear", "closed form; at finite k: one scalar equation (C05)")
def pure_shear() -> Iterator[Number]:
    """Pure shear (planar tension) of Yeoh rubber."""
    yield from _pulled("pure", "P11", 0, pulled_wide, PURE_SHEAR, lambda m, s: m.pure_shear(s)[0])
    across = {s: (PURE_SHEAR[s][2],) for s in STRETCHES}  # P22 = s22: unit stretch, J = 1
    yield from _pulled("pure", "P22", 1, pulled_wide, across, lambda m, s: m.pure_shear(s)[1])


@case("C04_yeoh_simple_shear", "closed form; at finite k: one scalar equation")
def simple_shear() -> Iterator[Number]:
    """Simple shear of Yeoh rubber with free faces."""
    shears = [0.5, 1.0, 2.0]

    def cauchy(P: Any, F: Any) -> float:
        return float((P @ F.T)[0, 1] / np.linalg.det(F))

    yield from compared(
        "s12",
        sheared,
        cauchy,
        shears,
        [f"shear {g:g}" for g in shears],
        [SIMPLE_SHEAR[g][0] for g in shears],
        lambda k, i: Yeoh(k=k, **RUBBER).simple_shear(shears[i]),
    )


@case("C05_yeoh_penalty", "one scalar equation")
def penalty() -> Iterator[Number]:
    """States of compressible Yeoh rubber at k = 10 and 1000: stretches across and volume."""
    ways = {"uni": pulled, "equi": pulled_twice, "pure": pulled_wide}
    for specimen in SPECIMENS:
        for state, supports in ways.items():
            for k in (10.0, 1000.0):
                chosen = [s for m, b, s in PENALTY if m == state and b == k and s < 2.5]
                results = stresses(specimen, supports, k, [s - 1.0 for s in chosen])
                for stretch, (P, F) in zip(chosen, results, strict=True):
                    across, nominal, *_, volume = PENALTY[state, k, stretch]
                    label = f"{specimen.name}, {state}, k = {k:g}, stretch {stretch:g}"
                    yield Number(f"stretch across: {label}", F[2, 2], across, 1e-9)
                    yield Number(f"P11 [MPa]: {label}", P[0, 0], nominal, 1e-9)
                    yield Number(f"J: {label}", np.linalg.det(F), volume, 1e-9)

# SPDX-License-Identifier: BSD-3-Clause
"""Rubber with a network that creeps (Bergström and Boyce), beside independent integrations."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import energies
from ..solve.fit import MaterialTest, fit
from .case import Number, case, order
from .relaxation import SHEAR, YEOH, Cube, turning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array

CREEP: dict[str, float] = {"s": 1.6, "stress": 0.5, "m": 4.0, "C": -1.0, "E": 0.01, "rate": 1.0}
RUBBER = energies.bergstrom_boyce(energies.yeoh(), **CREEP)
MOONEY: dict[str, Any] = {"C10": 0.4, "C01": 0.1, "k": 50.0}


def yeoh(F: Array) -> Array:
    """Return the deviator of Kirchhoff's stress of `YEOH`."""
    b = np.linalg.det(F) ** (-2 / 3) * F @ F.T
    slope = YEOH["C10"] + 2 * YEOH["C20"] * (np.trace(b) - 3)
    return np.asarray(2 * slope * deviator(b))


def mooney(F: Array) -> Array:
    """Return the same of Mooney's and Rivlin's law."""
    b = np.linalg.det(F) ** (-2 / 3) * F @ F.T
    slopes = (MOONEY["C10"] + MOONEY["C01"] * np.trace(b)) * b - MOONEY["C01"] * b @ b
    return 2 * deviator(slopes)


def deviator(A: Array) -> Array:
    """Return the deviator of a matrix."""
    return np.asarray(A - np.trace(A) / 3 * np.eye(3))


class CreepPath:
    """The deformation F_c of the second network along a path of F, by SciPy's method of order 8.

    From Fc' = Fe^-1 D Fe Fc with the rate of creep D along the stress; the last of `y` is what is
    dissipated.
    """

    def __init__(self, H: Callable[[float], Array], stress: Callable[[Array], Array]) -> None:
        self.H, self.stress = H, stress
        self.y = np.append(np.eye(3).ravel(), 0.0)

    def rate(self, t: float, y: Array) -> Array:
        """Return the rates of F_c and of what is dissipated."""
        Fc = y[:9].reshape(3, 3)
        Fe = (np.eye(3) + self.H(t)) @ np.linalg.inv(Fc)
        tau = CREEP["s"] * self.stress(Fe)
        q = float(np.sqrt(1.5 * (tau**2).sum()))
        stretch = float(np.sqrt((Fc**2).sum() / 3))
        speed = CREEP["rate"] * (stretch - 1 + CREEP["E"]) ** CREEP["C"]
        speed *= (q / CREEP["stress"]) ** CREEP["m"]
        D = 1.5 * speed * tau / q if q else np.zeros((3, 3))
        return np.append((np.linalg.inv(Fe) @ D @ Fe @ Fc).ravel(), speed * q)

    def go(self, since: float, to: float) -> tuple[Array, float]:
        """Return P, without the pressure of the volume, and the energy dissipated."""
        from scipy.integrate import solve_ivp

        options = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
        self.y = solve_ivp(self.rate, (since, to), self.y, **options).y[:, -1]
        F = np.eye(3) + self.H(to)
        tau = self.stress(F) + CREEP["s"] * self.stress(F @ np.linalg.inv(self.y[:9].reshape(3, 3)))
        return np.asarray(tau @ np.linalg.inv(F).T, dtype=float), float(self.y[9])


@case("C55_creep_path", "independent integration in NumPy and SciPy", short=0)
def path() -> Iterator[Number]:
    """A hexahedron that is stretched, sheared and turned; extrapolated to no step, dissipation."""
    F = np.eye(3) + turning(1.0)
    J = np.linalg.det(F)
    laws: tuple[tuple[str, Any, Any, dict[str, Any]], ...] = (
        ("Yeoh", RUBBER, yeoh, YEOH),
        (
            "Mooney-Rivlin",
            energies.bergstrom_boyce(energies.mooney_rivlin(), **CREEP),
            mooney,
            MOONEY,
        ),
    )
    for name, law, stress, given in laws:
        P, lost = CreepPath(turning, stress).go(0.0, 1.0)
        P = P + given["k"] * (J - 1) * J * np.linalg.inv(F).T
        right = np.append(P.ravel(), lost)
        found = []
        for n in (20, 40, 80, 160, 320):
            cube = Cube(turning, law, **given)
            found.append(np.append(cube.path(np.array([1.0]), 1.0 / n)[0].ravel(), 0.0))
            found[-1][-1] = cube.dissipated()
        errors = [abs(values[-1] - lost) for values in found]
        yield Number(f"order in time, {name}", order(errors[2:]), 2.0, 0.2, 1.0)
        for power in (2, 3, 4, 5):
            found = [(2**power * b - a) / (2**power - 1) for a, b in pairwise(found)]
        largest = float(np.abs(P).max())
        for k in (0, 1, 2, 3, 5, 8):
            at = f"P{k // 3 + 1}{k % 3 + 1}, {name}, extrapolated"
            yield Number(at, found[0][k], right[k], 1e-8, largest)
        yield Number(f"energy dissipated, {name}, extrapolated", found[0][-1], lost, 1e-6)


@case("C56_creep_loop", "independent integration in NumPy and SciPy")
def loops() -> Iterator[Number]:
    """A bar drawn to 1.6 times its length and back at two speeds: stress on both ways."""
    for speed in (0.01, 1.0):
        way = 0.6 / speed

        def drawn(t: float, way: float = way) -> Array:
            x = 1.6 - 0.6 * abs(t / way - 1)
            return np.diag([x, x**-0.5, x**-0.5]) - np.eye(3)

        cube, exact, before = Cube(drawn, RUBBER, **YEOH), CreepPath(drawn, yeoh), 0.0
        for t in (0.5, 1.0, 1.5, 2.0):
            P = cube.path(np.array([t * way]), way / 100)[0]
            right, lost = exact.go(before, t * way)
            before = t * way
            x = 1.0 + drawn(t * way)[0, 0]
            value, reference = (float(A[0, 0] - A[1, 1] * x**-1.5) for A in (P, right))
            where = f"stretch {x:g} {'up' if t <= 1 else 'down'}, {speed:g}/s"
            yield Number(f"nominal stress, {where}", value, reference, 1e-3, 1.0)
        yield Number(f"energy of the loop, {speed:g}/s", cube.dissipated(), lost, 2e-3)


@case("C57_creep_relaxation", "closed form: linear creep")
def relaxation() -> Iterator[Number]:
    """With m = 1 and C = 0 a small shear relaxes as of one Maxwell element; all is dissipated."""
    gamma, modulus = 1e-6, 2 * YEOH["C10"]
    for steps in (20, 40):
        cube = Cube(lambda _: gamma * SHEAR, RUBBER, **YEOH, creep_m=1.0, creep_C=0.0)
        cube.problem.solve(to=0.0)
        tau = CREEP["stress"] / (3 * CREEP["s"] * modulus * CREEP["rate"])
        cube.problem.solve(to=tau, step=tau / steps)
        exact = modulus * (1 + CREEP["s"] * np.exp(-1.0))
        shear = cube.stress()[0, 1] / gamma
        yield Number(f"shear modulus after tau, {steps} steps", shear, exact, 0.4 / steps**2)
    cube.problem.solve(to=1e6 * tau)
    yield Number("shear modulus, all relaxed", cube.stress()[0, 1] / gamma, modulus, 1e-5)
    lost = CREEP["s"] * modulus / 2 * gamma**2
    yield Number("energy dissipated", cube.dissipated(), lost, 1e-5)


#: Constants of a rubber [Pa, -] whose loops are fitted, with rate 1/s and E = 0.01.
RIGHT = {"mu": 0.5e6, "s": 1.5, "stress": 0.6e6, "m": 4.0, "C": -0.7}


def loop_stress(
    time: Array, stretch: Array, mu: float, s: float, stress: float, m: float, C: float
) -> Array:
    """Return the nominal stress [Pa] of a bar by SciPy, from the one equation of its creep."""
    from scipy.integrate import solve_ivp

    def network(x: Any) -> Any:
        return x**2 - 1 / x

    def rate(t: float, y: Array) -> Any:
        crept = np.exp(y)
        force = s * mu * network(np.interp(t, time, stretch) / crept)
        slow = np.sqrt((crept**2 + 2 / crept) / 3) - 1 + 0.01
        return np.sign(force) * slow**C * (abs(force) / stress) ** m

    crept, half = [np.zeros(1)], len(time) // 2
    for at in (time[: half + 1], time[half:]):
        more: dict[str, Any] = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-12}
        path = solve_ivp(rate, (at[0], at[-1]), crept[-1][-1:], t_eval=at, **more)
        crept.append(path.y[0][1:])
    elastic = network(stretch / np.exp(np.concatenate(crept)))
    return np.asarray(mu * (network(stretch) + s * elastic) / stretch)


@case("C58_creep_fit", "constants of loops that SciPy integrates, within three standard errors", 0)
def fitted_loops() -> Iterator[Number]:
    """`fit` of Bergström and Boyce's law to loops at two rates with noise of 5 kPa.

    It begins a factor of 1.3 to 3 beside the constants.
    """
    generator, tests = np.random.default_rng(3), []
    for rate in (0.01, 0.1):
        stretch, time = 2.0 - abs(np.linspace(-1.0, 1.0, 33)), np.linspace(0.0, 2.0 / rate, 33)
        stress = loop_stress(time, stretch, **RIGHT) + 5e3 * generator.normal(size=33)
        tests.append(MaterialTest.uniaxial(stretch, stress, time=time))
    law = energies.bergstrom_boyce(energies.neo_hooke(), s=0.5, stress=1e6, m=6.0)
    start = {"mu": 1e6, "creep_s": 0.5, "creep_stress": 1e6, "creep_m": 6.0, "creep_C": -0.9}
    found = fit(law, tests, fixed={"creep_rate": 1.0, "creep_E": 0.01}, start=start)
    for name, right in RIGHT.items():
        constant = name if name == "mu" else f"creep_{name}"
        tolerance = min(3 * found.errors[constant] / abs(right), 0.3)
        yield Number(constant, found.values[constant], right, tolerance)

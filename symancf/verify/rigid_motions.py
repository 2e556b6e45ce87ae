# SPDX-License-Identifier: BSD-3-Clause
"""Motions of rigid bodies: free, as a top, and in mechanisms, with the order in the step."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.natural import RigidBody
from ..catalogue import joints
from ..catalogue.loads import gravity
from ..places.ends import End, Ground
from ..solve.dynamics import DynamicProblem
from ..system import System
from .case import Number, case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def rotation_of(quaternion: list[float]) -> Array:
    """Return the matrix (3, 3), body to space, of a unit quaternion, scalar first."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def refined(measure: Callable[[float], Array], step: float) -> tuple[Array, float]:
    """Return values for a step that tends to zero, and the order in the step.

    From three steps, halved twice: the method's errors are a h^2 + b h^3 + ...
    """
    coarse, middle, fine = (measure(step / 2**k) for k in range(3))
    change = [float(np.linalg.norm(a - b)) for a, b in ((coarse, middle), (middle, fine))]
    once, twice = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return (8 * twice - once) / 7, math.log2(change[0] / change[1])


def moved(make: Callable[[], tuple[System, RigidBody]], to: float) -> Callable[[float], Array]:
    """Return the function step -> rotation (9,) and angular velocity in the body (3,)."""

    def measure(step: float) -> Array:
        system, body = make()
        DynamicProblem(system, spectral_radius=0.8).solve(to=to, step=step)
        R = body.rotation(system)
        return np.append(R.ravel(), R.T @ body.angular_velocity(system))

    return measure


def compared(states: Array, quaternion: list[float], spin: list[float], when: str) -> list[Any]:
    """Return the largest errors of rotation and angular velocity as (quantity, value)."""
    wrong = np.abs(states[:9].reshape(3, 3) - rotation_of(quaternion)).max()
    scale = float(np.linalg.norm(spin))
    off = np.abs(states[9:] - spin).max() / scale
    return [(f"error of the rotation, {when}", wrong), (f"error of the spin, {when}", off)]


@case("D10_free_body", "Jacobi's elliptic functions; quaternions by DOP853 to 1e-13")
def dzhanibekov() -> Iterator[Number]:
    """A free body that turns over: spin about its middle axis."""
    spin = (0.01, 1.0, 0.01)

    def make() -> tuple[System, RigidBody]:
        body = RigidBody(mass=1.0, inertia=(1.0, 2.0, 3.0), spin=spin)
        return System(body), body

    references = {
        1.0: (
            [0.8775619665473978, 0.002526241386958645, 0.4794345208419243, 0.004599260701877078],
            [0.001148329195002399, 1.0000493394528391, 0.008191838620238687],
        ),
        5.0: (
            [-0.8008562098972131, 0.008820532544947671, 0.5976675636736003, 0.03667441352019866],
            [-0.06482961698687967, 0.9979464518506668, 0.03830961253900244],
        ),
        10.0: (
            [0.2427029909195471, 0.11814412672543163, -0.8227201467472322, -0.5002687114493591],
            [-0.8745734378910706, 0.48499618734107974, 0.5050012205479],
        ),
    }
    for time, values in references.items():
        refined_values, order = refined(moved(make, time), 0.05)
        for quantity, error in compared(refined_values, *values, f"t = {time:g} s"):
            yield Number(quantity, error, 0.0, 1e-6)
        yield Number(f"order in the step, t = {time:g} s", order, 2.0, 0.05)


@case("D11_axisymmetric_body", "Euler: (I3 - I1) w3/I1, |L|/I1, atan(I1 wt/(I3 w3))")
def axisymmetric() -> Iterator[Number]:
    """A free axisymmetric body: rates of precession and the angle of nutation."""
    spin = np.array([0.5, 0.0, 2.0])
    L = spin * [1.0, 1.0, 1.5]
    axis = L / np.linalg.norm(L)

    def make() -> tuple[System, RigidBody]:
        body = RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.5), spin=spin)
        return System(body), body

    def measure(step: float) -> Array:
        values = moved(make, 1.0)(step)
        e3, w = values[:9].reshape(3, 3)[:, 2], values[9:]
        start = np.array([0.0, 0.0, 1.0])
        one, other = (e - (e @ axis) * axis for e in (start, e3))
        turned = math.atan2(float(axis @ np.cross(one, other)), float(one @ other))
        nutation = math.acos(float(e3 @ axis))
        return np.array([math.atan2(w[1], w[0]), turned % (2 * math.pi), nutation])

    refined_values, order = refined(measure, 0.01)
    names = ("precession in the body [rad/s]", "precession in space [rad/s]", "nutation [rad]")
    exact = (1.0, 3.0413812651491097, 0.16514867741462683)
    for name, value, reference in zip(names, refined_values, exact, strict=True):
        yield Number(name, float(value), reference, 1e-8)
    yield Number("order in the step", order, 2.0, 0.05)


@case("D12_heavy_top", "Arnold, Bruls and Cardona's top; recomputed by DOP853 to 1e-13")
def heavy_top() -> Iterator[Number]:
    """A heavy top with a fixed point, turning at 150 rad/s."""

    def make() -> tuple[System, RigidBody]:
        top = RigidBody(
            mass=15.0,
            centre=(0.0, 1.0, 0.0),
            inertia=(0.234375, 0.46875, 0.234375),
            spin=(0.0, 150.0, -4.61538),
        )
        pivot = joints.spherical(top.at((0.0, 0.0, 0.0)))
        return System(top, terms=[pivot, gravity((0.0, 0.0, -9.81))]), top

    refined_values, order = refined(moved(make, 0.1), 2.5e-4)
    quaternion = [0.3318229126082999, 0.17733805666691155, 0.9149751591387318, -0.14582601443089616]
    spin = [4.808941331728345, 150.0, 1.0283007567174354]
    for quantity, error in compared(refined_values, quaternion, spin, "t = 0.1 s"):
        yield Number(quantity, error, 0.0, 1e-6)
    yield Number("order in the step", order, 2.0, 0.05)


def slider_crank() -> tuple[System, RigidBody, RigidBody]:
    """Return the slider-crank in space with its crank and its slider.

    Crank pivot (0, .1, .12) m, axis x, crank .08 m, .12 kg; rod .3 m, .5 kg, without inertia
    about its axis; slider on the x axis, 2 kg; crank upright with 6 rad/s.
    """
    length, speed = 0.3, np.array([6.0, 0.0, 0.0])
    A = np.array([0.0, 0.1, 0.12])
    B = A + np.array([0.0, 0.0, 0.08])
    C = np.array([math.sqrt(length**2 - B[1] ** 2 - B[2] ** 2), 0.0, 0.0])
    vB = np.cross(speed, B - A)
    vC = np.array([vB @ (C - B) / C[0], 0.0, 0.0])
    along = (C - B) / length
    across = np.cross((0.0, 0.0, 1.0), along)
    across /= np.linalg.norm(across)
    frame = np.stack([along, across, np.cross(along, across)], axis=1)
    crank = RigidBody(
        (A + B) / 2,
        mass=0.12,
        inertia=(1e-4, 1e-4, 1e-4),
        velocity=vB / 2,
        spin=speed,
        name="crank",
    )
    rod = RigidBody(
        (B + C) / 2,
        frame,
        mass=0.5,
        inertia=(0.0, 0.004, 0.004),
        velocity=(vB + vC) / 2,
        spin=np.cross(C - B, vC - vB) / length**2,
        name="rod",
    )
    slider = RigidBody(C, mass=2.0, inertia=(1e-3, 1e-3, 1e-3), velocity=vC, name="slider")
    ground, middle = Ground(), (0.0, 0.0, 0.0)
    terms = [
        joints.revolute(crank.at((0.0, 0.0, -0.04)), ground.at(A), axis=(1, 0, 0)),
        joints.spherical(crank.at((0.0, 0.0, 0.04)), rod.at((-0.15, 0.0, 0.0))),
        joints.universal(rod.at((0.15, 0.0, 0.0)), slider.at(middle), axes=(across, frame[:, 2])),
        joints.prismatic(slider.at(middle), ground.at(middle), axis=(1, 0, 0)),
        gravity((0.0, 0.0, -9.81)),
    ]
    return System(crank, rod, slider, terms=terms), crank, slider


@case("D05_slider_crank", "Haug's slider-crank in space (IFToMM), reduced to one coordinate")
def slider() -> Iterator[Number]:
    """A slider-crank in space: angle and speed of the crank, place of the slider."""

    def measure(step: float) -> Array:
        system, crank, slider = slider_crank()
        problem = DynamicProblem(system, spectral_radius=0.8)
        seen: list[float] = [0.0]

        def follow() -> float:
            R = crank.rotation(system)
            angle = math.atan2(R[2, 1], R[1, 1])
            seen.append(angle + 2 * math.pi * round((seen[-1] - angle) / (2 * math.pi)))
            return seen[-1]

        problem.record("angle", follow)
        problem.solve(to=1.0, step=step)
        return np.array([seen[-1], crank.angular_velocity(system)[0], slider.position(system)[0]])

    refined_values, order = refined(measure, 1e-3)
    names = ("angle of the crank [rad]", "speed of the crank [rad/s]", "place of the slider [m]")
    exact = (10.989038234171087, 10.485868931434869, 0.20814858416617113)
    for name, value, reference in zip(names, refined_values, exact, strict=True):
        yield Number(f"{name}, t = 1 s", float(value), reference, 1e-7)
    yield Number("order in the step", order, 2.0, 0.1)


@case("D04_bricard", "IFToMM A04; exact closure and one coordinate (Chebyshev)")
def bricard() -> Iterator[Number]:
    """Bricard's mechanism, five rods on six hinges: one equation is redundant."""
    corners = np.array(
        [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float
    )
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}

    def measure(step: float) -> Array:
        rods: list[RigidBody] = []
        hinges: list[Any] = []
        for k in range(5):
            along = corners[k + 1] - corners[k]
            across = np.roll(along, 1)
            frame = np.stack([along, across, np.cross(along, across)], axis=1)
            middle = (corners[k] + corners[k + 1]) / 2
            slender = (0.0, 1 / 12, 1 / 12)
            rods.append(RigidBody(middle, frame, mass=1.0, inertia=slender, name=f"rod {k + 1}"))
        for k, axis in enumerate("yzxyzx"):
            before: End = rods[k - 1].at((0.5, 0.0, 0.0)) if k else Ground()
            after: End = rods[k].at((-0.5, 0.0, 0.0)) if k < 5 else Ground()
            one, other = (after, before) if k < 5 else (before, after)
            hinges.append(joints.revolute(one, other, axes[axis], f"hinge {k}"))
        with warnings.catch_warnings():  # of the redundant equation, as it should
            warnings.simplefilter("ignore")
            system = System(*rods, terms=[*hinges, gravity((0.0, -9.81, 0.0))])
        problem = DynamicProblem(system, spectral_radius=0.8)
        places = []
        for time in references:
            problem.solve(to=time, step=step)
            places.append(system.position(rods[2].at((0.5, 0.0, 0.0)))[0])
        return np.concatenate(places)

    references = {
        0.25: (0.9980847968766595, -1.0600572019049985, 0.9381393643446674),
        0.5: (0.9681538711720732, -1.225035436324188, 0.7496440898749879),
        1.0: (0.5086647602306753, -1.6498270632108971, 0.13903533074842056),
        2.0: (-0.9698920037896434, -1.2194551409467949, 0.7564645796092022),
    }
    refined_values, order = refined(measure, 0.01)
    for (time, values), place in zip(
        references.items(), refined_values.reshape(-1, 3), strict=True
    ):
        for axis, value, reference in zip("xyz", place, values, strict=True):
            yield Number(f"{axis} of P3 [m], t = {time:g} s", float(value), reference, 1e-8, 1.0)
    yield Number("order in the step", order, 2.0, 0.1)

# SPDX-License-Identifier: BSD-3-Clause
"""Closed forms and one equation of contact, written without the package: its references."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ..arrays import Array


@dataclass(frozen=True)
class SphereContact:
    """An elastic sphere on a rigid plane, or a rigid one on an elastic half-space.

    Hertz (K. L. Johnson, Contact Mechanics, 1985, ch. 4): with Es = E/(1 - nu^2), for the load P,
    a^3 = 3 P R/(4 Es), approach a^2/R, p = p0 sqrt(1 - (r/a)^2), p0 = 3 P/(2 pi a^2).
    """

    E: float
    nu: float
    R: float
    P: float

    @property
    def stiff(self) -> float:
        """Es = E/(1 - nu^2)."""
        return self.E / (1.0 - self.nu**2)

    @property
    def a(self) -> float:
        """Radius of the contact."""
        return float((0.75 * self.P * self.R / self.stiff) ** (1.0 / 3.0))

    @property
    def approach(self) -> float:
        """Distance by which distant points come nearer to each other."""
        return self.a**2 / self.R

    @property
    def p0(self) -> float:
        """Largest pressure."""
        return 1.5 * self.P / (math.pi * self.a**2)

    def stick(self, share: float) -> float:
        """Return the radius of the stick zone over a at Q = share mu P (Cattaneo, Mindlin)."""
        return float((1.0 - share) ** (1.0 / 3.0))

    def shift(self, share: float, mu: float) -> float:
        """Return the tangential approach at Q = share mu P, G = E/(2 (1 + nu)).

        3 mu P (2 - nu)/(16 G a) (1 - (1 - share)^(2/3)) (Johnson, eq. 7.42; one elastic body).
        """
        G = self.E / (2.0 * (1.0 + self.nu))
        most = 3.0 * mu * self.P * (2.0 - self.nu) / (16.0 * G * self.a)
        return float(most * (1.0 - (1.0 - share) ** (2.0 / 3.0)))


@dataclass(frozen=True)
class CylinderContact:
    """A cylinder on a rigid plane, plane strain, or a rigid one on an elastic half-space.

    P is per length: a^2 = 4 P R/(pi Es), p0 = 2 P/(pi a) (Johnson, eqs. 4.43 to 4.45).
    """

    E: float
    nu: float
    R: float
    P: float

    @property
    def a(self) -> float:
        """Half of the width of the contact."""
        return math.sqrt(4.0 * self.P * self.R * (1.0 - self.nu**2) / (math.pi * self.E))

    @property
    def p0(self) -> float:
        """Largest pressure."""
        return 2.0 * self.P / (math.pi * self.a)

    def approach(self, depth: float) -> float:
        """Return how much nearer the axis comes to a point of the depth d below the contact.

        P (1 - nu^2)/(pi E) (2 ln(2 d/a) - nu/(1 - nu)), for d much larger than a.
        """
        factor = self.P * (1.0 - self.nu**2) / (math.pi * self.E)
        return factor * (2.0 * math.log(2.0 * depth / self.a) - self.nu / (1.0 - self.nu))

    def stick(self, share: float) -> float:
        """Return the half-width of the stick zone over a at Q = share mu P (Cattaneo)."""
        return math.sqrt(1.0 - share)


# ---- impacts -----------------------------------------------------------------------------------
def hertz_impact(E: float, nu: float, R: float, rho: float, v: float) -> tuple[float, float, float]:
    """Return depth, force and duration of the impact of a sphere on a rigid wall.

    m y'' = -4/3 Es sqrt(R) y^(3/2): depth (15 m v^2/(16 Es sqrt(R)))^(2/5), duration
    2 depth/v int_0^1 dx/sqrt(1 - x^(5/2)) = 2.94 depth/v (Johnson, section 11.4; quasi-static).
    """
    m = 4.0 / 3.0 * math.pi * R**3 * rho
    k = 4.0 / 3.0 * E / (1.0 - nu**2) * math.sqrt(R)
    depth = (1.25 * m * v**2 / k) ** 0.4
    gammas = math.gamma(0.4) / math.gamma(0.9)  # of the beta function B(2/5, 1/2)
    return depth, k * depth**1.5, 0.8 * math.sqrt(math.pi) * gammas * depth / v


def bar_impact(E: float, rho: float, L: float, v: float) -> tuple[float, float]:
    """Return duration 2 L/c and pressure rho c v of a bar on a rigid wall, c = sqrt(E/rho)."""
    c = math.sqrt(E / rho)
    return 2.0 * L / c, rho * c * v


# ---- rigid bodies with friction ----------------------------------------------------------------
def slide(angle: float, mu: float, g: float) -> float:
    """Return the acceleration of a block that slides down a plane inclined by `angle`."""
    return g * (math.sin(angle) - mu * math.cos(angle))


def roll(angle: float, mu: float, g: float) -> tuple[float, float]:
    """Return the acceleration and R times the angular one of a full sphere, released at rest.

    It rolls, both 5/7 g sin(angle), where tan(angle) <= 7/2 mu, else it slides with
    g (sin - mu cos) and 5/2 mu g cos.
    """
    if math.tan(angle) <= 3.5 * mu:
        a = 5.0 / 7.0 * g * math.sin(angle)
        return a, a
    return slide(angle, mu, g), 2.5 * mu * g * math.cos(angle)


def thrown(v: float, mu: float, g: float) -> tuple[float, float, float]:
    """Return time, way and speed at which a full sphere, thrown without spin, begins to roll."""
    time = 2.0 * v / (7.0 * mu * g)
    return time, v * time - mu * g * time**2 / 2.0, 5.0 / 7.0 * v


@dataclass(frozen=True)
class Belt:
    """A mass on a belt, held by a spring: it sticks, slips, and sticks again.

    x is the stretch of the spring, N the normal force. It sticks until k x = mu_s N; then
    x = x_d + A sin(w t + phi) about x_d = mu_d N/k, until its speed is that of the belt again.
    """

    m: float
    k: float
    v: float
    mu: tuple[float, float]
    N: float

    @property
    def centre(self) -> float:
        """x_d = mu_d N/k."""
        return self.mu[1] * self.N / self.k

    @property
    def start(self) -> float:
        """Stretch mu_s N/k with which it begins to slip."""
        return self.mu[0] * self.N / self.k

    @property
    def amplitude(self) -> float:
        """A of x_d + A sin(w t + phi)."""
        return math.hypot(self.start - self.centre, self.v / math.sqrt(self.k / self.m))

    @property
    def slip(self) -> float:
        """Duration of slip: 2 (pi - atan(w (x_s - x_d)/v))/w."""
        w = math.sqrt(self.k / self.m)
        return 2.0 * (math.pi - math.atan(w * (self.start - self.centre) / self.v)) / w

    @property
    def stuck(self) -> float:
        """Duration of stick: from 2 x_d - x_s to x_s with the speed of the belt."""
        return 2.0 * (self.start - self.centre) / self.v


def coulomb_oscillator(m: float, k: float, friction: float, x: float) -> tuple[list[float], float]:
    """Return turning points of a mass on a spring with friction, and when it sticks.

    Each half period pi sqrt(m/k) moves it from x to -(|x| - 2 friction/k) sign(x); it stays where
    k |x| <= friction.
    """
    turns = [x]
    while k * abs(turns[-1]) > friction:
        x = turns[-1]
        turns.append(-math.copysign(abs(x) - 2.0 * friction / k, x))
    return turns, (len(turns) - 1) * math.pi * math.sqrt(m / k)


# ---- a ring of cable between plates ------------------------------------------------------------
def ring(F: float) -> tuple[float, float, float]:
    """Return height and width over 2 R, and the flat half-length over R, of a pressed ring.

    An inextensible elastica, stress-free as a circle of radius R, between two plates with the
    force F EI/R^2. A quarter of it, from the plate (angle 0) to the side (angle pi/2):
    theta'' = -F/2 cos(theta), since each half carries F/2 across. Up to the load at which the
    curvature at the plate vanishes it touches in a point; from there on a length lies flat, and
    what is left is the same curve, smaller.
    """
    first, height, width = flattened()
    if first >= F:
        return (*_quarter(F), 0.0)
    part = math.sqrt(first / F)  # of the quarter that is still curved: F s^2 is the same
    flat = math.pi / 2.0 * (1.0 - part)
    return height * part, width * part + flat, flat


@lru_cache(maxsize=1)
def flattened() -> tuple[float, float, float]:
    """Return force, height and width of a ring when its curvature at the plates vanishes."""

    def curvature(F: float) -> float:
        return _first_curvature(F)

    F = float(brentq(curvature, 2.0, 3.5, xtol=1e-13))
    return (F, *_quarter(F))


def _shape(F: float, kappa: float) -> tuple[float, float, float]:
    """Return angle, width and height at the end of a quarter of length pi/2."""

    def rate(s: float, y: list[float]) -> list[float]:
        return [y[1], 0.5 * F * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])]

    end = solve_ivp(
        rate, (0.0, math.pi / 2.0), [0.0, kappa, 0.0, 0.0], "DOP853", rtol=1e-13, atol=1e-14
    ).y[:, -1]
    return float(end[0]), float(end[2]), float(end[3])


def _first_curvature(F: float) -> float:
    """Return the curvature at the plate with which the angle at the side is pi/2."""
    return float(brentq(lambda k: _shape(F, k)[0] - math.pi / 2.0, -0.5, 1.5, xtol=1e-14))


def _quarter(F: float) -> tuple[float, float]:
    """Return height and width over 2 R while the ring touches in two points."""
    _, width, height = _shape(F, _first_curvature(F))
    return height, width


# ---- a pressure on a half-space ----------------------------------------------------------------
def boussinesq(X: Array, P: float, E: float, nu: float) -> Array:
    """Return displacements (n, 3) of the half-space z <= 0 under a force -P e_z at the origin.

    With G = E/(2 (1 + nu)), d the depth and r the distance from the axis (Johnson, eq. 3.18):
    u_r = P/(4 pi G) (r d/s^3 - (1 - 2 nu) r/(s (s + d))),
    u_d = P/(4 pi G) (d^2/s^3 + 2 (1 - nu)/s).
    """
    G = E / (2.0 * (1.0 + nu))
    x, y, d = X[:, 0], X[:, 1], -X[:, 2]
    s = np.sqrt(x * x + y * y + d * d)
    across = d / s**3 - (1.0 - 2.0 * nu) / (s * (s + d))
    down = d * d / s**3 + 2.0 * (1.0 - nu) / s
    u = np.stack([x * across, y * across, -down], axis=1)
    return np.asarray(P / (4.0 * math.pi * G) * u)


def cerruti(X: Array, Q: float, E: float, nu: float) -> Array:
    """Return displacements (n, 3) of the half-space z <= 0 under a force Q e_x at the origin.

    With d the depth and s the distance from the origin (Johnson, eq. 3.75, b = 1/(s + d)):
    u_x = Q/(4 pi G) (1/s + x^2/s^3 + (1 - 2 nu) (b - x^2 b^2/s)),
    u_y = Q/(4 pi G) x y (1/s^3 - (1 - 2 nu) b^2/s),
    u_d = Q/(4 pi G) x (d/s^3 + (1 - 2 nu) b/s).
    """
    G = E / (2.0 * (1.0 + nu))
    x, y, d = X[:, 0], X[:, 1], -X[:, 2]
    s = np.sqrt(x * x + y * y + d * d)
    b, k = 1.0 / (s + d), 1.0 - 2.0 * nu
    along = 1.0 / s + x * x / s**3 + k * (b - x * x * b * b / s)
    across = x * y * (1.0 / s**3 - k * b * b / s)
    down = x * (d / s**3 + k * b / s)
    return np.asarray(Q / (4.0 * math.pi * G) * np.stack([along, across, -down], axis=1))


def flamant(X: Array, P: float, E: float, nu: float, depth: float) -> Array:
    """Return plane-strain displacements (n, 2), (x, z), of z <= 0 under a line load -P e_z at 0.

    Zero on the axis at the given depth. With d the depth, s^2 = x^2 + d^2 (Timoshenko, Goodier,
    section 36, for plane strain): u_x = -P (1 + nu)/(pi E) ((1 - 2 nu) atan(x/d) - x d/s^2),
    u_d = P (1 + nu)/(pi E) (2 (1 - nu) ln(D/s) + d^2/s^2 - 1).
    """
    x, d = X[:, 0], -X[:, -1]
    s2 = x * x + d * d
    factor = P * (1.0 + nu) / (math.pi * E)
    across = -factor * ((1.0 - 2.0 * nu) * np.arctan2(x, d) - x * d / s2)
    down = factor * ((1.0 - nu) * np.log(depth**2 / s2) + d * d / s2 - 1.0)
    return np.stack([across, -down], axis=1)

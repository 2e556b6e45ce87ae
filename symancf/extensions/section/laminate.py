# SPDX-License-Identifier: BSD-3-Clause
"""Stiffness of strips of layers as rods, by the classical theory of laminates."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from symancf import Layers, ParameterError

from ..interface import arguments, call, gauss_legendre, label
from .torsion import of_rectangle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..interface import Array

#: Components of a strain: 11, 22, 33, 23, 13, 12; those across a plate, and those in it.
COMPONENTS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
IN_PLANE = [0, 1, 5]
#: What a solid offers to laws, by its strain e of displacements without rotation.
SOLID = ("F", "H", "C", "E_gl", "J", "I1", "I2")
#: What is free where a strip bends in its plane, by strains that grow with y: 11, 22, 12, and the
#: curvature 22. Curvatures 11 and 12 that grow with y would grow along the strip, too.
BENT_ASIDE = [0, 1, 2, 4]
#: Differences of the energy: their step of strain, and how many digits the energy has.
STEP, DIGITS = sp.Rational(1, 10**15), 60
#: Of entries of a stiffness over the roots of its diagonal.
ROUND_OFF = 1e-12
#: Over their mass and thickness, how far the mass of layers may be off their middle.
OFF_MIDDLE = 1e-9


class Laminate(NamedTuple):
    """A strip of layers as a rod.

    Attributes
    ----------
    C : stiffness (6, 6) of epsilon, gamma2, gamma3, kappa1, kappa2, kappa3.
    mass : ``A``, and of layers with a density ``rho``, ``I2``, ``I3``, parameters of a rod.
    """

    C: Array
    mass: dict[str, float]


def laminate(layers: Layers, width: float, parameters: Mapping[str, Any]) -> Laminate:
    """Return a strip of layers as a rod; see `Section.laminate`."""
    if not isinstance(layers, Layers):
        raise ParameterError(
            f"Section.laminate({label(layers)}): give symancf.Layers", asked="layers", given=layers
        )
    if layers.offset:
        raise ParameterError(
            f"Section.laminate: its layers have offset={layers.offset:g}; the axis of a rod is the "
            "middle of the layers: give Layers without offset",
            asked="offset",
            given=layers.offset,
        )
    b, h = arguments.length("the width of a section", width), layers.thickness
    values = _values(layers, parameters)
    z = layers.edges * h / 2.0
    of_kind = {kind.numbers[0]: _compliance(kind.energy, values) for kind in layers.kinds}
    plies = []
    for k, layer in enumerate(layers.layers):
        T = _turned(math.radians(layer.angle))
        plies.append(T.T @ of_kind[layers.kind_of(k).numbers[0]] @ T)
    plane = [np.linalg.inv(S[np.ix_(IN_PLANE, IN_PLANE)]) for S in plies]
    across = [S[4, 4] for S in plies]
    ABD = _moments(plane, z)
    s = np.linalg.inv(ABD)
    # of N, Q2, T, M2: N11, N12, M12 = -T/2 (half of a torque is in the edges), M11, each over b
    forces = np.zeros((6, 4))
    for row, column, factor in ((0, 0, 1.0), (2, 1, 1.0), (5, 2, -0.5), (3, 3, 1.0)):
        forces[row, column] = factor / b
    block = b * forces.T @ s @ forces
    block[1, 1] *= 6.0 / 5.0  # the shear across a rectangle is a parabola
    block[2, 2] *= _edges(b, h, block[2, 2], float(np.diff(z) @ across) / h)
    S = np.zeros((6, 6))
    S[np.ix_([0, 1, 3, 4], [0, 1, 3, 4])] = block
    S[2, 2] = _shear(plane, across, z, s[:, 3]) / b
    S[5, 5] = 12.0 / b**3 * np.linalg.inv(ABD[np.ix_(BENT_ASIDE, BENT_ASIDE)])[0, 0]
    C = np.linalg.inv(S)
    C[np.abs(C) < ROUND_OFF * np.sqrt(np.outer(np.diag(C), np.diag(C)))] = 0.0
    return Laminate((C + C.T) / 2.0, _mass(layers, b, values))


def _values(layers: Layers, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters of all layers as numbers."""
    arguments_of = inspect.signature(layers).parameters.values()
    names = {p.name: p.default for p in arguments_of if p.kind is p.KEYWORD_ONLY}
    possible = [name for name in (*names, *layers.densities()) if name != "thickness"]
    for name in parameters:
        if name not in possible:
            raise ParameterError(
                f"Section.laminate: its layers take {', '.join(possible)}, not {name!r}",
                asked=name,
                given=parameters[name],
                possible=possible,
            )
    values: dict[str, float] = {}
    for name in dict.fromkeys(possible):
        value = parameters.get(name, names.get(name, inspect.Parameter.empty))
        if value is not inspect.Parameter.empty:
            must = "be a finite number"
            values[name] = arguments.number("Section.laminate", name, value, must, math.isfinite)
            if name in layers.domains:
                layers.domains[name].require(name, f"{name} of layers", values[name])
        elif name not in layers.densities():
            raise ParameterError(
                f"Section.laminate needs {name!r} of its layers; they take {', '.join(possible)}",
                asked=name,
                given=tuple(parameters),
                possible=possible,
            )
    return values


def _compliance(law: Callable[..., Any], values: Mapping[str, float]) -> Array:
    """Return the compliance (6, 6) of a layer at small strain, in its axes.

    The second derivatives of its energy are differences along lines, of sums of two strains, with
    many digits.
    """
    asked = inspect.signature(law).parameters.values()
    quantities = [p.name for p in asked if p.kind is not p.KEYWORD_ONLY]
    for q in quantities:
        if q not in SOLID:
            raise ParameterError(
                f"Section.laminate: a layer has a law of {q!r}; it takes laws of "
                f"{', '.join(SOLID)}",
                asked=q,
                possible=SOLID,
            )
    own = {p.name: sp.Rational(values[p.name]) for p in asked if p.kind is p.KEYWORD_ONLY}

    def energy(*entries: tuple[int, sp.Rational]) -> sp.Expr:
        e = sp.zeros(3, 3)
        for k, value in entries:
            place = COMPONENTS[k]
            e[place] = e[place[::-1]] = value if place[0] == place[1] else value / 2
        state = solid(e)
        W = call("the law of a layer", lambda: law(*(state[q] for q in quantities), **own))
        return sp.N(sp.Add(*W.values()) if isinstance(W, dict) else W, DIGITS)

    rest = energy()

    def second(*components: int) -> float:
        """Return d2W/ds2 at s = 0 where some components of the strain are s, shear angles s."""
        ends = (energy(*((k, sign * STEP) for k in components)) for sign in (1, -1))
        return float((sum(ends) - 2 * rest) / STEP**2)

    alone = [second(k) for k in range(6)]
    stiffness = np.diag(alone)
    for i in range(6):
        for k in range(i):
            both = second(i, k)
            stiffness[i, k] = stiffness[k, i] = (both - alone[i] - alone[k]) / 2.0
    return np.linalg.inv(stiffness)


def solid(e: sp.Matrix) -> dict[str, Any]:
    """Return the quantities of a solid whose displacements have the gradient e, symmetric."""
    F = sp.eye(3) + e
    C = F.T * F
    trace = C.trace()
    second = (trace**2 - (C * C).trace()) / 2
    values = (F, e, C, (C - sp.eye(3)) / 2, F.det(), trace, second)
    return dict(zip(SOLID, values, strict=True))


def _turned(angle: float) -> Array:
    """Return T with the stresses in axes turned about the third one = T . those of the strip."""
    c, s = math.cos(angle), math.sin(angle)
    a = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    T = np.zeros((6, 6))
    for k, (m, n) in enumerate(COMPONENTS):
        stress = np.zeros((3, 3))
        stress[m, n] = stress[n, m] = 1.0
        turned = a @ stress @ a.T
        T[:, k] = [turned[place] for place in COMPONENTS]
    return T


def _moments(plane: list[Array], z: Array) -> Array:
    """Return A, B, D of strains e + z k in one matrix (6, 6), by 11, 22, 12 of e and of k."""
    ABD = np.zeros((6, 6))
    for Q, low, high in zip(plane, z[:-1], z[1:], strict=True):
        A, B, D = ((high**n - low**n) / n for n in (1, 2, 3))
        ABD += np.block([[A * Q, B * Q], [B * Q, D * Q]])
    return ABD


def _shear(plane: list[Array], across: list[float], z: Array, bent: Array) -> float:
    """Return the compliance of a shear across the layers, of a unit width.

    `bent`: strains e and k of a unit moment M11. The shear stress follows from how the stress of
    the moment grows along the rod; between the edges of a layer it is a parabola.
    """
    x, w = gauss_legendre(3)
    total, below = 0.0, 0.0
    for Q, S, low, high in zip(plane, across, z[:-1], z[1:], strict=True):
        constant, linear = float(Q[0] @ bent[:3]), float(Q[0] @ bent[3:])
        at = (low + high) / 2.0 + (high - low) / 2.0 * x
        stress = below - constant * (at - low) - linear * (at**2 - low**2) / 2.0
        total += float(S * (high - low) / 2.0 * w @ stress**2)
        below -= constant * (high - low) + linear * (high**2 - low**2) / 2.0
    return total


def _edges(b: float, h: float, compliance: float, across: float) -> float:
    """Return what edges add to the compliance in torsion: that of a rectangle over that of a strip.

    With r^2 the shear modulus in the plane over that across (Saint-Venant, orthotropic).
    """
    in_plane = 3.0 / (b * h**3 * compliance)
    r = math.sqrt(in_plane * across)
    return b * h**3 / 3.0 / (r * of_rectangle(b / r, h))


def _mass(layers: Layers, b: float, values: Mapping[str, float]) -> dict[str, float]:
    """Return the area, the mean density and the moments of the mass over it."""
    h = layers.thickness
    mass = {"A": b * h}
    if not layers.weighs(values):
        return mass
    of = [(values[n], layers.moments(numbers)) for n, numbers in layers.densities().items()]
    for rho, _ in of:
        if not rho > 0.0:
            raise ParameterError(
                f"Section.laminate: a density is {rho:g}: it must be positive",
                asked="rho",
                given=rho,
            )
    total, first, second = (
        sum(rho * moments[n] * (h / 2.0) ** (n + 1) for rho, moments in of) for n in range(3)
    )
    if abs(first) > OFF_MIDDLE * total * h:
        raise ParameterError(
            f"Section.laminate: the mass of its layers is {first / total:g} above their middle; "
            "rods have it about their axis: give layers that are symmetric in density, or no rho",
            asked="rho",
            given=[rho for rho, _ in of],
        )
    rho = total / h
    return {**mass, "rho": rho, "I2": b * second / rho, "I3": h * b**3 / 12.0}

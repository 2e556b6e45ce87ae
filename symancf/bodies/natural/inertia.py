# SPDX-License-Identifier: BSD-3-Clause
"""Mass, centre and inertia of a rigid body, and the law of its motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from ...arrays import Array
from ...errors import ParameterError, argument
from ...values.parameter import (
    Checked,
    Value,
    cached_answer,
    has_parameters,
    label,
    numbers_now,
    parameters_in,
    reals,
)
from .rigidity import PAIRS

AXES = ("axis0", "axis1", "axis2")


@dataclass(frozen=True)
class Inertia:
    r"""Moments of the mass in the body's frame, about its origin.

    Attributes
    ----------
    mass : int dm [kg].
    first : (3,) int x dm [kg m].
    second : (3, 3) int x x^T dm [kg m^2], the second moments of position; the moments of
        inertia are J = tr(P) 1 - P.
    """

    mass: float
    first: Array
    second: Array

    @property
    def centre(self) -> Array:
        """The centre of mass (3,)."""
        return self.first / self.mass

    def values(self) -> dict[str, float]:
        """Return the parameters of `kinetic_law`."""
        values = {"m": self.mass} | {f"S{k + 1}": self.first[k] for k in range(3)}
        values |= {f"P{k + 1}{l + 1}": self.second[k, l] for k, l in PAIRS}
        return {name: float(value) for name, value in values.items()}


@dataclass(frozen=True)
class MassData:
    """Mass, centre and inertia as a body was given them: numbers, or `Parameter` among these.

    Attributes
    ----------
    what : the body, begins messages.
    mass, centre, inertia : see `RigidBody`; `mass` is a density where there is a `volume`.
    volume : of the body.
    squares : (3,) principal moments of inertia of a body of mass 1, for all of mass; None: those
        are `inertia`.
    """

    what: str
    mass: Any
    centre: Any
    inertia: Any
    volume: float = 1.0
    squares: Array | None = None

    def moments(self) -> Inertia:
        """Return the moments of the present values.

        Raises
        ------
        ParameterError : see `inertia_of`.
        """
        mass, centre, J = map(numbers_now, (self.mass, self.centre, self.inertia))
        m = float(_numbers(f"{self.what}: mass", mass, ((),))) * self.volume
        return inertia_of(self.what, m, centre, J if self.squares is None else m * self.squares)

    def values(self) -> dict[str, Value]:
        """Return the parameters of `kinetic_law`: numbers, or functions of `Parameter` objects."""
        now: dict[str, Value] = dict(self.moments().values())
        given = list(parameters_in([self.mass, self.centre, self.inertia]))
        if not given:
            return now
        return {name: Checked(given, partial(self._value, k)) for k, name in enumerate(now)}

    def _value(self, k: int, time: float) -> float:
        return float(cached_answer(self, time, self._numbers)[k])

    def _numbers(self) -> Array:
        return np.array([*self.moments().values().values()])

    @property
    def moves(self) -> bool:
        """Whether the centre of mass is somewhere else for other values of a `Parameter`."""
        return has_parameters(self.centre)


def inertia_of(what: str, mass: float, centre: npt.ArrayLike, J: npt.ArrayLike | None) -> Inertia:
    """Return the moments about the origin from mass, centre, and inertia J about the centre.

    Parameters
    ----------
    J : (3, 3) in the body's axes, or its three principal values; None: a point mass.

    Raises
    ------
    ParameterError : not finite, a mass that is not positive, J not symmetric, or an inertia that
        no distribution of mass has: P = tr(J)/2 1 - J must have no negative eigenvalue (each
        principal moment of inertia is at most the sum of the other two).
    """
    m = _numbers(f"{what}: mass", mass, ((),))
    c = _numbers(f"{what}: centre", centre, ((3,),))
    tensor = _numbers(f"{what}: inertia", np.zeros((3, 3)) if J is None else J, ((3,), (3, 3)))
    if m <= 0.0:
        raise ParameterError(
            f"{what}: mass is {float(m):g}: give a positive number, or no mass at all (mass=None)",
            asked="mass",
            given=float(m),
        )
    if tensor.ndim == 1:
        tensor = np.diag(tensor)
    size = float(np.abs(tensor).max())
    if np.abs(tensor - tensor.T).max() > 1e-9 * size:
        raise ParameterError(
            f"{what}: its inertia tensor is not symmetric", asked="inertia", given=tensor
        )
    tensor = (tensor + tensor.T) / 2.0
    P = np.trace(tensor) / 2.0 * np.eye(3) - tensor
    if np.linalg.eigvalsh(P)[0] < -1e-9 * size:
        principal = ", ".join(f"{j:g}" for j in np.linalg.eigvalsh(tensor))
        raise ParameterError(
            f"{what}: no body has the principal moments of inertia {principal}: none may be "
            "negative or exceed the sum of the other two (about the centre of mass)",
            asked="principal moments of inertia",
            given=np.linalg.eigvalsh(tensor),
        )
    return Inertia(float(m), float(m) * c, P + float(m) * np.outer(c, c))


def _numbers(what: str, given: npt.ArrayLike, shapes: tuple[tuple[int, ...], ...]) -> Array:
    values = reals(given)
    if values.shape not in shapes:
        possible = " or ".join("one number" if not s else str(s) for s in shapes)
        raise ParameterError(
            f"{what} is {label(given)}: give finite numbers, {possible}",
            asked=argument(what),
            given=given,
            possible=shapes,
        )
    return values


def _vector(name: str) -> sp.Matrix:
    return sp.Matrix([sp.Symbol(f"{name}{a}", real=True) for a in (1, 2, 3)])


@cache
def kinetic_law() -> declare.PointLaw:
    r"""Return the kinetic energy in the rates of r_i and of the axes e_k.

    .. math:: T = \tfrac12 m\,v^2 + S_k\,v\cdot\dot e_k + \tfrac12 P_{kl}\,\dot e_k\cdot\dot e_l

    Its Hessian in [r_i, r_j, u, v] is the constant mass matrix of natural coordinates
    (Garcia de Jalon and Bayo, 1994, section 4.2).
    """
    v = _vector("v")
    w = [_vector(f"w{k + 1}") for k in range(3)]
    m = sp.Symbol("m", real=True)
    T = m * v.dot(v) / 2 + sum(sp.Symbol(f"S{k + 1}", real=True) * v.dot(w[k]) for k in range(3))
    for k, l in PAIRS:
        factor = sp.Rational(1, 2) if k == l else 1
        T += factor * sp.Symbol(f"P{k + 1}{l + 1}", real=True) * w[k].dot(w[l])
    unknowns = (*v, *(x for e in w for x in e))
    return declare.PointLaw(
        name="rigid_inertia",
        unknowns=unknowns,
        energy=T,
        parameters=tuple(
            declare.KernelParameter(s, "cell")
            for s in sorted(T.free_symbols - {*unknowns}, key=str)
        ),
        title="T = m v . v/2 + S_k v . e_k' + P_kl e_k' . e_l'/2",
    )

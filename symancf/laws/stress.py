# SPDX-License-Identifier: BSD-3-Clause
"""Stress at points of a deformed body, from the gradient of its energy; for output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.accuracy import Function, function, needed_geometry, reverse
from symancf_codegen.declare import PointLaw, Rule
from symancf_codegen.stabilise import stabilise

from ..kinematics.quantity import real

Array = npt.NDArray[np.float64]
Laws = Sequence[tuple[PointLaw, Rule]]

_FUNCTIONS: dict[tuple[int, tuple[str, ...]], tuple[PointLaw, Function]] = {}


def _function(law: PointLaw, targets: tuple[str, ...]) -> Function:
    """Return a function giving [W, dW/d target, ...], targets being inner variables or lets."""
    key = (id(law), targets)
    known = _FUNCTIONS.get(key)
    if known is None or known[0] is not law:
        stable = stabilise(law)
        assert stable.energy is not None
        inner = tuple((s, sp.Add(*(c * v for v, c in m.items()))) for s, m in stable.inner)
        symbols = [real(t) for t in targets]
        free, lets = _cut(stable, symbols)
        extended, gradient = reverse(lets, stable.energy, symbols)
        expressions = (stable.energy, *(e for _, e in (*inner, *extended, *free)))
        geometry = needed_geometry(stable, expressions)
        steps = (*geometry, *inner, *free, *extended)
        known = (law, function(steps, [stable.energy, *gradient]))
        if len(_FUNCTIONS) > 64:
            _FUNCTIONS.clear()
        _FUNCTIONS[key] = known
    return known[1]


def _cut(law: PointLaw, targets: Sequence[sp.Symbol]) -> tuple[Any, Any]:
    """Split lets into those that `targets` need (with the targets) and those after them."""
    defined = dict(law.lets)
    needed: set[sp.Symbol] = set()
    pending = [t for t in targets if t in defined]
    while pending:
        s = pending.pop()
        if s not in needed:
            needed.add(s)
            pending.extend(x for x in defined[s].free_symbols if x in defined)
    before = tuple((s, e) for s, e in law.lets if s in needed)
    return before, tuple((s, e) for s, e in law.lets if s not in needed)


@dataclass(frozen=True)
class Stress:
    """Energy and stresses at points of a solid; arrays have the points' shape in front.

    Attributes
    ----------
    energy : (...,) energy per reference volume [J/m^3].
    H : (..., 3, 3) displacement gradient.
    P : (..., 3, 3) first Piola-Kirchhoff stress dW/dF [Pa].
    """

    energy: Array
    H: Array
    P: Array

    @property
    def F(self) -> Array:
        """Deformation gradient I + H."""
        return np.asarray(self.H + np.eye(3))

    @property
    def cauchy(self) -> Array:
        """Cauchy stress P F^T / J [Pa]."""
        F = self.F
        J = np.linalg.det(F)[..., None, None]
        return np.asarray(self.P @ np.swapaxes(F, -1, -2) / J)

    @property
    def von_mises(self) -> Array:
        """sqrt(3/2 dev s : dev s) of the Cauchy stress s [Pa]."""
        return von_mises(self.cauchy)


def von_mises(stress: Array) -> Array:
    """Return sqrt(3/2 dev s : dev s) of symmetric 3x3 stresses (..., 3, 3)."""
    mean = np.trace(stress, axis1=-2, axis2=-1) / 3
    deviator = stress - mean[..., None, None] * np.eye(3)
    return np.asarray(np.sqrt(1.5 * np.sum(deviator**2, axis=(-2, -1))))


def solid_stress(laws: Laws, H: Array, values: Mapping[str, Any] | None = None) -> Stress:
    """Return the stress of a solid's energy at displacement gradients H.

    Parameters
    ----------
    laws : of one energy, as `energy_laws` returns them: their sum is evaluated at every point.
        Where a volumetric part is integrated at fewer points, its pressure is meaningful at
        those points only; the von Mises stress does not depend on it.
    H : (..., 3, 3) displacement gradients.
    values : parameters by name, and ``u_value1``, ... if the energy needs the displacement.
    """
    H = np.asarray(H, dtype=float)
    names = tuple(f"H{i}{k}" for i in (1, 2, 3) for k in (1, 2, 3))
    at = {**(values or {}), **{n: H[..., int(n[1]) - 1, int(n[2]) - 1] for n in names}}
    energy, P = np.zeros(H.shape[:-2]), np.zeros(H.shape)
    for law, _ in laws:
        plain = PointLaw(
            name=law.name,
            unknowns=tuple(real(n) for n in names),
            geometry=law.geometry,
            lets=law.lets,
            energy=law.energy,
            parameters=law.parameters,
        )
        result = _PLAIN.setdefault(id(law), (law, _function(plain, names)))[1](at)
        energy += result[0]
        for k, n in enumerate(names):
            P[..., int(n[1]) - 1, int(n[2]) - 1] += result[1 + k]
    return Stress(energy, H, P)


_PLAIN: dict[int, tuple[PointLaw, Function]] = {}


def stress_fields(
    laws: Laws,
    u: Mapping[str, Array],
    R: Mapping[str, Array],
    z: Array,
    values: Mapping[str, float],
) -> dict[str, Array]:
    """Return the scalar fields of stress that a body's energy has.

    Parameters
    ----------
    laws : as `energy_laws` returns them.
    u, R : jets of the displacement and of the reference by name, arrays (..., 3).
    z : height above the mid-surface [m], broadcast against the jets without their last axis.
    values : parameters by name.

    Returns
    -------
    Arrays (...,): solids: ``von_mises`` [Pa]; thin plates: ``von_mises_top`` and
    ``von_mises_bottom`` at z = thickness/2 and -thickness/2 [Pa], from n/h -+ 6 m/h^2 with
    n = dW/dE_gl and m = dW/dkappa; cables: ``axial_force`` [N] and ``bending_moment`` [N m].
    An energy that measures no strain has none.
    """
    laws = [(law, rule) for law, rule in laws if law.energy is not None]
    names = {s.name for law, _ in laws for s, _ in law.lets}
    inner = {s.name for law, _ in laws for s, _ in law.inner}
    at: dict[str, Any] = dict(values)
    for prefix, jets in (("u", u), ("R", R)):
        for jet, array in jets.items():
            at.update({f"{prefix}_{jet}{a + 1}": array[..., a] for a in range(3)})
    if "thickness" in values:
        at["zeta"] = 2 * np.asarray(z) / values["thickness"]
    shape = next(iter(u.values())).shape[:-1]
    if inner:
        H = np.zeros((*shape, 3, 3))
        law = next(law for law, _ in laws if law.inner)
        for s, value in zip(law.inner, _inner_values(law, at), strict=True):
            H[..., int(s[0].name[1]) - 1, int(s[0].name[2]) - 1] = value
        return {"von_mises": solid_stress(laws, H, at).von_mises}

    def conjugate(target: str) -> Array:
        total = np.zeros(shape)
        for law, _ in laws:
            if any(s.name == target for s, _ in law.lets):
                total = total + _function(law, (target,))(at)[1]
        return total

    if "E_11" in names or "E_xixi" in names or "kappa11" in names or "kappa_n3_11" in names:
        return _plate_fields(conjugate, names, float(values["thickness"]), shape)
    if {"epsilon", "epsilon_green", "kappa_squared", "kappa"} & names:
        return _cable_fields(laws, conjugate, names, at, shape)
    return {}


def _inner_values(law: PointLaw, at: Mapping[str, Any]) -> list[Any]:
    key = (id(law), ("inner",))
    known = _FUNCTIONS.get(key)
    if known is None or known[0] is not law:
        inner = [sp.Add(*(c * v for v, c in m.items())) for _, m in law.inner]
        known = _FUNCTIONS[key] = (law, function(needed_geometry(law, inner), inner))
    return known[1](at)


def _plate_fields(
    conjugate: Any, names: set[str], h: float, shape: tuple[int, ...]
) -> dict[str, Array]:
    bend = "kappa" if "kappa11" in names else "kappa_n3_"

    def tensor(name: str) -> Array:
        # the mixed component occurs twice in a symmetric energy
        s11, s22 = conjugate(f"{name}11"), conjugate(f"{name}22")
        s12 = conjugate(f"{name}12") / 2
        result = np.zeros((*shape, 3, 3))
        result[..., 0, 0], result[..., 1, 1] = s11, s22
        result[..., 0, 1] = result[..., 1, 0] = s12
        return result

    n, m = tensor("E_gl"), tensor(bend)
    return {
        "von_mises_top": von_mises(n / h - 6 * m / h**2),
        "von_mises_bottom": von_mises(n / h + 6 * m / h**2),
    }


def _cable_fields(
    laws: Laws, conjugate: Any, names: set[str], at: Mapping[str, Any], shape: tuple[int, ...]
) -> dict[str, Array]:
    fields: dict[str, Array] = {}
    axial = "epsilon" if "epsilon" in names else "epsilon_green"
    if axial in names:
        fields["axial_force"] = conjugate(axial)
    for name in ("kappa", "kappa_geometric"):
        if name in names:
            fields["bending_moment"] = conjugate(name)
        square = f"{name}_squared"
        if square in names:
            law = next(law for law, _ in laws if any(s.name == square for s, _ in law.lets))
            before, _ = _cut(law, [s for s, _ in law.lets if s.name == square])
            value = function(
                (*needed_geometry(law, [e for _, e in before]), *before), [before[-1][0]]
            )(at)[0]
            fields["bending_moment"] = 2 * np.sqrt(value) * conjugate(square)
    return fields

# SPDX-License-Identifier: BSD-3-Clause
"""Stress at points of a deformed body, from the gradient of its energy; for output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.declare import Lets, PointLaw, Rule
from symancf_codegen.stable.accuracy import Function, function, needed_geometry, reverse
from symancf_codegen.stable.stabilise import stabilise

from ..arrays import Array

Laws = Sequence[tuple[PointLaw, Rule]]

#: H11, H12, ..., H33 and their places.
GRADIENT = {f"H{i + 1}{k + 1}": (i, k) for i in range(3) for k in range(3)}

_MADE: dict[tuple[int, tuple[str, ...], bool], tuple[PointLaw, Function]] = {}


def conjugates(law: PointLaw, targets: Sequence[str], *, from_jets: bool = True) -> Function:
    """Return a function of a dict of values giving [W, targets..., dW/d target...].

    The targets are names of inner variables or lets; they vary independently of one another, so
    that the derivatives are the forces conjugate to them. What a law does not contain is 0.

    Parameters
    ----------
    law : of an energy; it is stabilised here.
    targets : names.
    from_jets : the values name jets of the displacement and of the reference; otherwise they
        name the inner variables themselves.
    """
    key = (id(law), tuple(targets), from_jets)
    if key not in _MADE or _MADE[key][0] is not law:
        stable = stabilise(law)
        assert stable.energy is not None
        inner: Lets = ()
        if from_jets:
            inner = tuple((s, sp.Add(*(c * v for v, c in m.items()))) for s, m in stable.inner)
        symbols = {s.name: s for s, _ in (*stable.inner, *stable.lets)}
        present = [symbols[t] for t in targets if t in symbols]
        before, after = _cut(stable.lets, present)
        steps, gradient = reverse(after, stable.energy, present)
        steps = (*inner, *before, *steps)
        slopes = dict(zip(present, gradient, strict=True))
        chosen = [symbols.get(t, sp.Integer(0)) for t in targets]
        outputs = [stable.energy, *chosen, *(slopes.get(s, sp.Integer(0)) for s in chosen)]
        geometry = needed_geometry(stable, (*outputs, *(e for _, e in steps)))
        if len(_MADE) > 64:
            _MADE.clear()
        _MADE[key] = (law, function((*geometry, *steps), outputs))
    return _MADE[key][1]


def _cut(lets: Lets, targets: Sequence[sp.Symbol]) -> tuple[Lets, Lets]:
    """Split lets into the targets with what they need, and the others."""
    defined = dict(lets)
    needed: set[sp.Symbol] = set()
    pending = [t for t in targets if t in defined]
    while pending:
        s = pending.pop()
        if s not in needed:
            needed.add(s)
            pending.extend(x for x in defined[s].free_symbols if x in defined)
    before = tuple((s, e) for s, e in lets if s in needed)
    return before, tuple((s, e) for s, e in lets if s not in needed)


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


def solid_stress(
    laws: Laws, H: npt.ArrayLike, values: Mapping[str, Array | float] | None = None
) -> Stress:
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
    at = {**(values or {}), **{name: H[..., i, k] for name, (i, k) in GRADIENT.items()}}
    return _stress(laws, at, H.shape[:-2], from_jets=False)


def _stress(
    laws: Laws, at: Mapping[str, Array | float], shape: tuple[int, ...], *, from_jets: bool
) -> Stress:
    energy, H, P = np.zeros(shape), np.zeros((*shape, 3, 3)), np.zeros((*shape, 3, 3))
    for law, _ in laws:
        result = conjugates(law, tuple(GRADIENT), from_jets=from_jets)(at)
        energy += result[0]
        for n, (i, k) in enumerate(GRADIENT.values()):
            if law.inner:
                H[..., i, k] = result[1 + n]
            P[..., i, k] += result[10 + n]
    return Stress(energy, H, P)


def stress_fields(
    laws: Laws,
    u: Mapping[str, Array],
    R: Mapping[str, Array],
    z: Array,
    values: Mapping[str, Array | float],
) -> dict[str, Array]:
    """Return the scalar fields of stress that a body's energy has.

    Parameters
    ----------
    laws : as `energy_laws` returns them.
    u, R : jets of the displacement and of the reference by name, arrays (..., 3).
    z : height above the mid-surface [m], broadcast against the jets without their last axis.
    values : parameters by name, numbers or arrays that broadcast in the same way.

    Returns
    -------
    Arrays (...,). Solids: ``von_mises`` of the Cauchy stress [Pa]. Thin plates:
    ``von_mises_top`` and ``von_mises_bottom`` at z = thickness/2 and -thickness/2 [Pa], from
    n/h -+ 6 m/h^2 with n = dW/dE_gl and m = dW/dkappa. Cables: ``axial_force`` dW/d(stretch)
    [N] and ``bending_moment`` dW/dkappa [N m]. An energy that measures no strain has none.
    """
    laws = [(law, rule) for law, rule in laws if law.energy is not None]
    lets = {s.name for law, _ in laws for s, _ in law.lets}
    shape = np.shape(next(iter(u.values())))[:-1]
    at: dict[str, Array | float] = {"t": 0.0, **values}
    for prefix, jets in (("u", u), ("R", R)):
        for jet, array in jets.items():
            at.update({f"{prefix}_{jet}{a + 1}": array[..., a] for a in range(3)})
    if "thickness" in values:
        at["zeta"] = 2 * np.asarray(z) / values["thickness"]
    if any(law.inner for law, _ in laws):
        return {"von_mises": _stress(laws, at, shape, from_jets=True).von_mises}
    if lets & {"E_gl11", "kappa11", "kappa_n3_11", "kappa_n0_11"}:
        return _plate_fields(laws, at, shape)
    if lets & {"epsilon_green", "kappa_squared", "kappa"}:
        return _cable_fields(laws, at, shape)
    return {}


def _sum(
    laws: Laws, targets: Sequence[str], at: Mapping[str, Array | float]
) -> tuple[list[Array], list[Array | float]]:
    """Return values of the targets and the sums of their conjugates over the laws."""
    n = len(targets)
    results = [conjugates(law, tuple(targets))(at) for law, _ in laws]
    found = [max((r[1 + k] for r in results), key=lambda v: np.abs(v).max()) for k in range(n)]
    return found, [sum(r[1 + n + k] for r in results) for k in range(n)]


def _plate_fields(
    laws: Laws, at: Mapping[str, Array | float], shape: tuple[int, ...]
) -> dict[str, Array]:
    families = ("E_gl", "kappa", "kappa_n3_", "kappa_n0_")
    _, slopes = _sum(laws, [f"{f}{ab}" for f in families for ab in ("11", "12", "22")], at)

    def tensor(s11: Array | float, s12: Array | float, s22: Array | float) -> Array:
        result = np.zeros((*shape, 3, 3))
        result[..., 0, 0], result[..., 1, 1] = s11, s22
        # the mixed component stands for two entries of a symmetric tensor
        result[..., 0, 1] = result[..., 1, 0] = np.asarray(s12) / 2
        return result

    h = np.asarray(at["thickness"])[..., None, None]
    n = tensor(*slopes[:3])
    m = tensor(*slopes[3:6]) + tensor(*slopes[6:9]) + tensor(*slopes[9:])
    return {
        "von_mises_top": von_mises(n / h - 6 * m / h**2),
        "von_mises_bottom": von_mises(n / h + 6 * m / h**2),
    }


def _cable_fields(
    laws: Laws, at: Mapping[str, Array | float], shape: tuple[int, ...]
) -> dict[str, Array]:
    zero = np.zeros(shape)
    squares = ("kappa_squared", "kappa_geometric_squared")
    targets = ("epsilon", "epsilon_green", "kappa", "kappa_geometric", *squares, "kappa_plane")
    found, slopes = _sum(laws, targets, at)
    stretch = np.sqrt(1 + 2 * found[1])
    force = slopes[0] + stretch * slopes[1]
    moment = slopes[2] + slopes[3] + slopes[6]
    for square, slope in zip(found[4:6], slopes[4:6], strict=True):
        moment = moment + 2 * np.sqrt(square) * slope
    return {"axial_force": zero + force, "bending_moment": zero + moment}

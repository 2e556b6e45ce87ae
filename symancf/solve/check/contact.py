# SPDX-License-Identifier: BSD-3-Clause
r"""Properties of laws of contact, an energy psi(g) of the gap, and of friction, mu(v)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symancf_codegen.functions import branches, derivative

from ...contact.laws import Coulomb, K, Normal
from ...kinematics.naming import signature
from ...kinematics.quantity import real
from ...laws.properties.property import Property
from ...laws.properties.solid_energy import compiled
from ...laws.properties.subject import number_for
from ...laws.properties.units import NO_UNIT, unit_of, units
from ...values.reader import require_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy as sp

CONTACT = "the gap g, one of friction for the speed v"

Found = tuple[tuple[Property, ...], dict[str, float]]


def contact_properties(law: Any, arguments: Mapping[str, float]) -> Found:
    """Return the properties of an energy of the gap."""
    asked = signature(law)
    require_parameters(f"{asked.name}()", (), arguments, optional=asked.parameters, exact=True)
    values = {
        p: number_for(law, p, k, arguments, asked.defaults) for k, p in enumerate(asked.parameters)
    }
    own = {p: x for p, x in values.items() if p != str(K)}
    normal = Normal("check", law, own)
    g = real("g")
    symbols = [g, K, *normal.symbols]
    numbers = [values.get(str(K), 1.0), *own.values()]
    p = branches(normal.pressure(g))
    function = compiled(symbols, [p, -derivative(p, g)])

    def at(gap: Any) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            rows = function(gap, *numbers)
        pressure, stiffness = (np.broadcast_to(np.asarray(r, float), gap.shape) for r in rows)
        return pressure, stiffness

    near, far = -_decades(), _decades()[1:]
    pressed, stiff = at(near)
    apart, _ = at(far)
    tension = _where("no tension", np.concatenate([pressed, apart]), np.concatenate([near, far]))
    size = np.abs(pressed).max() or 1.0
    left = float(np.abs(apart[-1])) / size
    acts = Property("no force apart", "samples", "no pressure at gaps of 1")
    if not left < 1e-3:
        note = f"at a gap of 1 the pressure is {apart[-1]:.4g}"
        acts = Property("no force apart", "violation", note, {"g": 1.0, **values})
    falling = _where("stiffness", stiff, near, "the pressure falls where the gap closes")
    tangent = Property("symmetry of the tangent", "proof", "the pressure is that of an energy")
    return (tension, acts, falling, tangent, _units_of_gap(normal, asked.parameters, g)), values


def friction_properties(law: Any, arguments: Mapping[str, float]) -> Found:
    """Return the properties of a coefficient of friction of the speed."""
    asked = signature(law)
    require_parameters(f"{asked.name}()", (), arguments, optional=asked.parameters, exact=True)
    values = {
        p: number_for(law, p, k, arguments, asked.defaults) for k, p in enumerate(asked.parameters)
    }
    coulomb = Coulomb("check", law, values)
    speed = next(iter(coulomb.coefficient.free_symbols - set(map(real, coulomb.parameters))), None)
    v = real("v") if speed is None else speed
    symbols = [v, *map(real, coulomb.parameters)]
    function = compiled(symbols, [branches(coulomb.coefficient)])
    speeds = 1e3 * _decades()
    with np.errstate(all="ignore"):
        mu = np.broadcast_to(np.asarray(function(speeds, *values.values())[0], float), speeds.shape)
    passive = _where("passivity", mu, speeds, "a negative coefficient drives the slip", "v")
    known = {v: unit_of("m/s")}
    plain = {real(f"mu_{n}"): real(n) for n in values}
    coefficient = coulomb.coefficient.xreplace(plain)
    found = units([(coefficient, NO_UNIT)], known, map(real, values))
    return (passive, found), values


def _decades() -> Any:
    """Return 0 and numbers of nine decades up to 1."""
    return np.concatenate([[0.0], 10.0 ** np.linspace(-9.0, 0.0, 60)])


def _where(
    name: str, values: Any, at: Any, why: str = "the surfaces pull on each other", symbol: str = "g"
) -> Property:
    """Return whether numbers are not negative, else where one is."""
    size = np.abs(np.nan_to_num(values, posinf=0.0, neginf=0.0)).max() or 1.0
    bad = ~(values >= -1e-12 * size)
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        return Property(name, "violation", why, {symbol: float(at[k]), "value": float(values[k])})
    return Property(name, "samples", f"at {len(at)} values of {symbol}")


def _units_of_gap(normal: Normal, names: tuple[str, ...], g: sp.Symbol) -> Property:
    plain = {real(f"law_{n}"): real(n) for n in names}
    energy = normal.energy(g).xreplace(plain)
    return units([(energy, unit_of("J/m^2"))], {g: unit_of("m")}, map(real, names))

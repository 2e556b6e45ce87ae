# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals: functions of the volume and the pressure of a cavity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ...errors import ParameterError
from ...values.parameter import depends_on_time, parameters_in
from .parts import Found, FunctionPart

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem
    from ...bodies.body import Body
    from ...catalogue.gas.cavity import Cavity


class CavityPart(FunctionPart):
    """A function of `Cavity.volume` V [m^3] and `Cavity.pressure` p [Pa]."""

    def __init__(self, what: str, function: Callable[..., Any], cavity: Cavity) -> None:
        symbols = {name: sp.Symbol(name, real=True) for name in ("V", "p")}
        super().__init__(what, function, symbols, "a cavity")
        self.place, self._cavity = cavity.name, cavity
        if "p" not in self.names:
            return
        if cavity.p is None and cavity.gas is None:
            raise ParameterError(
                f"{what}: {cavity.name!r} has neither pressure nor gas: a goal of it is one of V",
                asked="p",
                possible=("V",),
            )
        given = cavity.p
        self.parametric = given is not None and (
            depends_on_time(given) or any(True for _ in parameters_in([given]))
        )

    def _present(self, system: DiscreteSystem) -> Array:
        """Return V and p, zeros where nobody asks (collective)."""
        ways = {"V": self._cavity.volume, "p": self._cavity.pressure}
        return np.array([way(system) if name in self.names else 0.0 for name, way in ways.items()])

    def _by(self, system: DiscreteSystem) -> Array:
        """Return the derivatives of V and p by coordinates (2, coordinates) (collective)."""
        binding, found = system.binding(self._cavity), np.zeros((2, len(system.state)))
        if "V" in self.names:
            found[0] = binding.volume_slope(system, system.state)
        if "p" in self.names:
            found[1] = binding.pressure_slope(system)
        return found

    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""
        return float(self._function(*self._present(system))[0])

    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives at the present state (collective)."""
        value, *weights = map(float, self._function(*self._present(system)))
        by = np.array(weights) @ self._by(system)
        return value, by, np.zeros_like(by), np.zeros_like(by)

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return derivatives by reference positions: V follows these as the state, p of gas not."""
        weights = np.array(self._function(*self._present(system))[1:], dtype=float)
        return np.asarray(weights[0] * self._by(system)[0])

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes` (collective)."""
        by = self._by(system)
        moved = np.asarray(system.sum(by @ coordinates))
        rates = self._second_along(self._present(system), moved) @ by
        return rates, np.zeros_like(coordinates)

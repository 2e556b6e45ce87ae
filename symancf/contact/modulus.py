# SPDX-License-Identifier: BSD-3-Clause
"""Young's modulus of what touches, which the stiffness of a contact follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symancf_codegen.functions import numerical

from ..arrays import Array, Ints
from ..errors import ParameterError
from ..kinematics.moduli import young_modulus
from ..laws.evaluate import evaluate_energy
from ..runtime.shared import Shared
from ..values.parameter import Field, Parameter, call_array, depends_on_time, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..bodies.body import Body
    from ..kinematics.quantity import Kinematics


class _AtRest:
    """What follows from an energy alone, for all bodies that have it."""

    def __init__(self, kinematics: Kinematics, energy: sp.Expr) -> None:
        self.kinematics = kinematics  # whose id is known by
        self.modulus = young_modulus(kinematics, energy)


_MODULI: Shared[_AtRest] = Shared()


class Modulus:
    """Young's modulus of a body at F = I as a function of its parameters, whatever these are now.

    Of cables it is EA.

    Parameters
    ----------
    who : begins messages.
    body : whose material it is.

    Attributes
    ----------
    changes, timed : whether a parameter may change, and whether one is a function of time.

    Raises
    ------
    ParameterError : the energy alone does not tell it.
    """

    def __init__(self, who: str, body: Body) -> None:
        self.who, self.body = who, body
        called = evaluate_energy(body.element, body._energy_function)
        energy = sp.Add(*called.parts.values())
        key = id(called.kinematics), energy
        self._at_rest = _MODULI.get(key, lambda: _AtRest(called.kinematics, energy))
        E = self._at_rest.modulus
        E = E.xreplace({m.symbol: m.initial for m in called.history})
        for name in () if body.pressure is None else body.pressure.unbounded:
            E = sp.limit(E, sp.Symbol(name, real=True), sp.oo)
        names = sorted(map(str, E.free_symbols))
        if called.local or any(name not in body.parameters for name in names):
            raise ParameterError(
                f"{who}: the stiffness of {body.name!r} at rest does not follow from its "
                "energy alone: give that of the contact, stiffness=",
                asked="stiffness",
                given=body.name,
            )
        parameters = {name: body.parameters[name] for name in names}
        self._fields = {k: value for k, value in parameters.items() if isinstance(value, Field)}
        self._scalars = {k: v for k, v in parameters.items() if not isinstance(v, Field)}
        of_time = list(filter(depends_on_time, self._scalars.values()))
        self.changes = bool(of_time)
        self.timed = any(not isinstance(value, Parameter) for value in of_time)
        order = [sp.Symbol(name, real=True) for name in (*self._fields, *self._scalars)]
        self._function = numerical(order, E, "numpy")

    def fields(self, X: Array) -> Array:
        """Return the parameters that are fields at places, (n, fields)."""
        values = np.zeros((len(X), len(self._fields)))
        for k, (name, value) in enumerate(self._fields.items()):
            values[:, k] = call_array(self._what(name), value.function, (len(X),), X)
        return values

    def present(self, time: float) -> tuple[float, ...]:
        """Return the values of the other parameters at a time."""
        return tuple(evaluate(self._what(k), value, time) for k, value in self._scalars.items())

    def of(self, fields: Array, present: tuple[float, ...]) -> Array:
        """Return the modulus (n,) for parameters as `fields` and `present` give them.

        Raises
        ------
        ParameterError : it is not positive.
        """
        moduli = np.broadcast_to(
            np.asarray(self._function(*fields.T, *present), float), (len(fields),)
        )
        if len(moduli) and not (np.isfinite(moduli).all() and (moduli > 0.0).all()):
            raise ParameterError(
                f"{self.who}: the modulus of {self.body.name!r} is {moduli.min():g} at rest, so "
                "that of the contact cannot follow from it: give stiffness=",
                asked="stiffness",
                given=self.body.name,
            )
        return moduli

    def _what(self, name: str) -> str:
        return f"{name} of body {self.body.name!r}"


class Following:
    """Rows of a form's parameters, one of which follows the material; see `Form.cell_at`.

    Parameters
    ----------
    cell : (n, rows) the others; there the one that follows is 0.
    row : which one.
    present : function of time that returns it for all, the same array where nothing has changed.
    chosen : (n,) which of all.
    timed : whether a function of time is in it.
    """

    def __init__(
        self,
        cell: Array,
        row: int,
        present: Callable[[float], Array],
        chosen: Ints | slice,
        timed: bool,
    ) -> None:
        cell[:, row] = 0.0
        self._cell, self._row, self.timed = cell, row, timed
        self._present, self._chosen = present, chosen
        self._last: Array | None = None

    def __call__(self, time: float) -> Array:
        """Return the rows at a time."""
        present = self._present(time)
        if present is not self._last:
            self._last, self._cell = present, self._cell.copy()
            self._cell[:, self._row] = present[self._chosen]
        return self._cell

# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals: functions of the forces and moments of a joint, and of quantities of its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ...assembly.resolved import JetRows
from ...errors import ParameterError
from ...terms.constraint import Constraint
from ...terms.quantities import components_of, symbols_of
from ...terms.reading import Reading
from ...values.functions import taking
from ...values.reader import name_of, read
from .parts import PlacePart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem

VECTORS = ("F", "M")


class JointPart(PlacePart):
    r"""The sum over the tuples of places of a joint of a function of its force and moment.

    F and M are those of `Constraint.reaction` on end a. With the equations :math:`\Phi` and
    multipliers :math:`\lambda`, and the axes e of the end,

    .. math::
        F = -\Phi_r^T \lambda, \qquad M = -\sum_e e \times \Phi_e^T \lambda .
    """

    def __init__(self, what: str, function: Callable[..., Any], joint: Constraint) -> None:
        self.what, self.place, self.ends, self._joint = what, joint.name, joint.ends, joint
        self._require_plain_joint()
        names = read(function, what).quantities
        asked = [f"{v}{a}" for v in VECTORS if v in names for a in (1, 2, 3)]
        self._asks = bool(asked)
        reading = Reading(
            what,
            _of_components(function, names),
            self.ends,
            {},
            rates=True,
            states=asked,
            vector=sp.ImmutableMatrix,
        )
        result = reading.scalar(reading.result, "it must return one expression")
        multipliers = joint.equations.law.unknowns[-len(joint.phi) :]
        acting = dict(zip("FM", self._acting(multipliers), strict=True))
        values = {reading.states[s]: acting[s[0]][int(s[1]) - 1] for s in asked}
        more = multipliers if asked else ()
        self._take(reading, result.xreplace(values), reading.lets, joint._reading, more)

    def _require_plain_joint(self) -> None:
        """Raise where a joint is made of more than one constraint at points."""
        joint, reason = self._joint, ""
        if type(joint) is not Constraint:
            reason = f"is a {type(joint).__name__}, of several constraints"
        if joint._reading.edges is not None or any(end.line for end in joint.ends):
            reason = "is one of lines"
        if any(end.travels or end.slides for end in joint.ends):
            reason = "has a place that moves along its body"
        if reason:
            raise ParameterError(
                f"{self.what}: {joint.name!r} {reason}, whose forces are no goals; give a goal of "
                "places",
                asked="joint",
                given=joint.name,
            )

    def _acting(self, multipliers: Sequence[sp.Symbol]) -> tuple[sp.Matrix, sp.Matrix]:
        """Return force and moment on end a by the symbols of the joint's equations."""
        pairs = zip(multipliers, self._joint.phi, strict=True)
        work = -sp.Add(*(m * p for m, p in pairs))
        force, moment = sp.zeros(3, 1), sp.zeros(3, 1)
        for number, jet in self._joint.equations.jets:
            if number != 0:
                continue
            own = sp.Matrix([sp.diff(work, s) for s in symbols_of((0, jet), "change")])
            if jet == "value":
                force += own
            elif jet == "angle":
                moment[2] += own[0]
            else:
                moment += sp.Matrix(components_of((0, jet), "present")).cross(own)
        return force, moment

    def _own_unknowns(self, system: DiscreteSystem) -> tuple[Array, JetRows | None]:
        """Return the multipliers (places, m), and where this rank has them (collective)."""
        if not self._asks:
            return super()._own_unknowns(system)
        joint, binding = self._joint, system.binding(self._joint)
        values = joint.multipliers(system)
        groups, start = binding.first(system)
        count = values.shape[1]
        component = np.tile(np.arange(count), len(groups))
        return values, JetRows(
            place=np.repeat(groups, count),
            component=component,
            coordinate=np.repeat(start, count) + component,
            corner=np.zeros_like(component),
            value=np.full(len(component), system.stiffness),
        )


def _of_components(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Return a function of the components of F and M for one of these vectors."""
    parts = {v: tuple(f"{v}{a}" for a in (1, 2, 3)) for v in VECTORS}
    every = [own for name in names for own in parts.get(name, (name,))]

    def of_components(*values: Any) -> Any:
        by = dict(zip(every, values, strict=True))
        vectors = {v: sp.ImmutableMatrix([by[c] for c in parts[v]]) for v in parts if v in names}
        return function(*((by | vectors)[name] for name in names))

    taking(of_components, every)
    of_components.__name__ = name_of(function)
    return of_components

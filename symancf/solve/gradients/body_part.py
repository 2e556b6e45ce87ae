# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals: integrals over a body of functions of the quantities of its law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ...assembly.assembler import Assembler
from ...assembly.cell_fields import CellFields
from ...errors import ParameterError
from ...kinematics.naming import signature
from ...runtime.collective import together
from ...values.parameter import Field, depends_on_time, parameters_in
from .bend import along, step_of
from .parts import Found, GoalPart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form
    from ...bodies.body import Body


class BodyPart(GoalPart):
    """The integral over the reference of a function of what fields of a body are made of."""

    def __init__(self, what: str, function: Callable[..., Any], body: Body) -> None:
        self.what, self.place, self._body, self._function = what, body.name, body, function
        body._integral_laws(what, function)  # raises where there is none
        asked, given = signature(function), body.parameters
        some = [*given.values()] if asked.quantities else [given[p] for p in asked.parameters]
        self.parametric = any(True for _ in parameters_in(some)) or any(
            isinstance(x, Field) or depends_on_time(x) for x in some
        )
        self._assemblers: WeakKeyDictionary[DiscreteSystem, Assembler] = WeakKeyDictionary()

    def _present(self, system: DiscreteSystem) -> Assembler:
        """Return the kernels of the integral with the parameters of the present time."""
        if system not in self._assemblers:
            forms = system.binding(self._body).integral(system, self.what, self._function)
            self._assemblers[system] = Assembler(
                forms, system.numbering, system.reference, system.comm
            )
        assembler = self._assemblers[system]
        with together(system.comm):
            assembler.update(system.time)
        return assembler

    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""
        assembler = self._present(system)
        numbers = range(len(assembler.forms))
        found, bad = assembler.tabulate("update", numbers, system.state)
        own = 0.0
        for number, rows in found.items():
            own += float(rows[_owned(assembler.forms[number])].sum())
        self._require(system, bad)
        return float(system.sum(np.array([own]))[0])

    def _pull(self, system: DiscreteSystem, state: Array) -> Derivatives:
        """Return derivatives at a state with the present parameters (collective)."""
        assembler = self._present(system)
        found = assembler.pull(state, np.zeros_like(state), self._seeds(assembler))
        self._require(system, found.bad)
        return found

    @staticmethod
    def _seeds(assembler: Assembler) -> Mapping[int, Array]:
        """Return the weights of what points remember: all one."""
        seeds: dict[int, Array] = {}
        for number, form in enumerate(assembler.forms):
            seeds[number] = np.zeros_like(form.cell)
            seeds[number][:, -len(form.kernel.memory) :] = 1.0
        return seeds

    def _require(self, system: DiscreteSystem, bad: int) -> None:
        if system.comm.allreduce(bad):
            raise ParameterError(
                f"{self.what}: the law of {self.place!r} has no value at the present state",
                asked="goal",
                given=self.place,
            )

    @staticmethod
    def _own(system: DiscreteSystem, coordinates: Array) -> Array:
        """Return the rows of a local vector that this rank owns, zeros elsewhere."""
        numbering = system.numbering
        own = np.arange(len(coordinates)) < numbering.start[numbering.owned_vertices]
        return np.where(own, coordinates, 0.0)

    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives at the present state (collective)."""
        by = self._own(system, self._pull(system, system.state).coordinates)
        return self.value(system), by, np.zeros_like(by), np.zeros_like(by)

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes` (collective), second derivatives by coordinates."""
        step, none = step_of(system, coordinates), np.zeros_like(coordinates)
        if not np.isfinite(step):
            return none, none

        def beside(h: float) -> list[Array]:
            found = self._pull(system, system.state + h * coordinates)
            return [self._own(system, found.coordinates)]

        (rates,) = along(system, beside, step, self.what)
        return rates, none

    def beside(self, system: DiscreteSystem) -> Array:
        """Return the parameters of its kernels (n,) of this rank (collective)."""
        assembler = self._present(system)
        rows = (x.ravel() for _, x in sorted(assembler.rows.items()))
        return np.concatenate([assembler.values, *rows])

    def by_beside(self, system: DiscreteSystem) -> Array:
        """Return this rank's share of derivatives by these (collective)."""
        found, assembler = self._pull(system, system.state), self._present(system)
        rows = []
        for number in sorted(assembler.rows):
            mask = _owned(assembler.forms[number])[:, None]
            rows.append(np.where(mask, found.rows[number], 0.0).ravel())
        return np.concatenate([found.values, *rows])

    def by_field(self, system: DiscreteSystem, field: Field) -> Array:
        """Return this rank's share of derivatives by a field at the present state (collective)."""
        total, found = super().by_field(system, field), self._pull(system, system.state)
        for number, form in enumerate(self._present(system).forms):
            if not isinstance(form.cell_at, CellFields) or form.ids is None:
                continue
            own = _owned(form)
            for column in (k for k, given in form.cell_at.fields.items() if given is field):
                np.add.at(total, form.ids[own], found.rows[number][own, column])
        return total

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return derivatives by reference positions at a held state (collective)."""
        none = np.zeros_like(system.state)
        if body.region.mesh is not self._body.region.mesh:
            return none
        assembler = self._present(system)
        numbers = range(len(assembler.forms))
        found, bad = assembler.shape(system.state, none, numbers, self._seeds(assembler))
        self._require(system, bad)
        return self._own(system, found)


def _owned(form: Form) -> Array:
    return form.owned.astype(bool)

# SPDX-License-Identifier: BSD-3-Clause
"""From derivatives by values of kernels to those by parameters and fields, summed over steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...assembly.cell_fields import CellFields
from ...errors import ParameterError
from ...values.parameter import Field, Parameter, label
from ...values.series import TimeSeries
from ..rates import DIFFERENCE_STEP, rates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...arrays import Array
    from ...assembly.assembler import Assembler, Derivatives
    from ...assembly.discrete import DiscreteSystem
    from .gradient import Variable

    More = Callable[[], list[Array]]


class Sensitive(NamedTuple):
    """Derivatives of a number at one time.

    Attributes
    ----------
    kernels : by values and rows of assemblers, by their number in `Chain.assemblers`.
    more : by the arrays of `Chain.more`, in their order.
    """

    kernels: Mapping[int, Derivatives]
    more: Sequence[Array]


class Chain:
    """Sums dJ/dc dc/dp over steps, c what kernels read, and prescribed motions.

    Parameters
    ----------
    assemblers : the system's first.
    go_to : writes what parameters drive at a time, for steps of a length.
    more : returns what else follows parameters at the present time.
    timed : whether any of this changes in time.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        assemblers: Sequence[Assembler],
        variables: Sequence[Variable],
        go_to: Callable[[float, float], None],
        more: More,
        timed: bool,
    ) -> None:
        self.system, self.assemblers, self.variables = system, assemblers, variables
        self._go_to, self._more, self._timed = go_to, more, timed
        series = [v for v in variables if isinstance(v, TimeSeries)]
        if series:
            raise ParameterError(
                f"gradients of motions by {label(series[0])} are not known: give a Parameter, or "
                "the Series to a StaticProblem",
                asked="parameters",
                given=label(series[0]),
            )
        self._parameters = [v for v in variables if isinstance(v, Parameter)]
        self._fields = [v for v in variables if isinstance(v, Field)]
        self._totals = {id(v): 0.0 for v in self._parameters}
        self._of_cells = {id(v): np.zeros(len(v.values)) for v in self._fields}
        self._sizes = {id(v): 0.0 for v in variables}
        self._columns = {id(v): self._places(v) for v in self._fields}
        self._sum: tuple[float, float, Sensitive] | None = None  # where nothing changes in time

    def _places(self, field: Field) -> list[tuple[int, int, int]]:
        """Return assemblers, forms and columns of their parameters that a field gives."""
        return [
            (k, number, column)
            for k, assembler in enumerate(self.assemblers)
            for number, form in enumerate(assembler.forms)
            if isinstance(form.cell_at, CellFields)
            for column, given in form.cell_at.fields.items()
            if given is field
        ]

    def add(self, time: float, h: float, by: Sensitive) -> None:
        """Add what a step contributes that ends at a time, of a length (collective)."""
        for field in self._fields:
            for k, number, column in self._columns[id(field)]:
                form = self.assemblers[k].forms[number]
                if k not in by.kernels or number not in by.kernels[k].rows or form.ids is None:
                    continue
                own = form.owned.astype(bool)
                found = by.kernels[k].rows[number][own, column]
                np.add.at(self._of_cells[id(field)], form.ids[own], found)
                self._sizes[id(field)] = 1.0
        if not self._parameters:
            return
        if self._timed:
            self._contract(time, h, by)
        elif self._sum is None:
            self._sum = time, h, _copy(by)
        else:
            _accumulate(self._sum[2], by)

    def _contract(self, time: float, h: float, by: Sensitive) -> None:
        """Add what follows by each parameter, at a time (collective)."""
        for parameter in self._parameters:
            total, size = self._along(parameter, time, h, by)
            self._totals[id(parameter)] += total
            self._sizes[id(parameter)] += size

    def _along(
        self, parameter: Parameter, time: float, h: float, by: Sensitive
    ) -> tuple[float, float]:
        """Return this rank's part of the derivative, and how much the parameter changes."""

        def go_to(value: float, state: Array) -> None:
            parameter.value = value
            self._go_to(time, h)

        def others() -> list[Array]:
            own = [a.values.copy() for a in self.assemblers[1:]]
            return [*own, *self._more()]

        step = DIFFERENCE_STEP * (abs(parameter.value) or 1.0)
        name = f"gradient by {parameter.name!r}"
        before = [assembler.rows for assembler in self.assemblers[1:]]
        change = rates(self.system, go_to, parameter.value, step, name, others)
        found = [(a - b) / change.span for a, b in zip(*change.ends, strict=True)]
        if any(_moves(a.rows, b) for a, b in zip(self.assemblers[1:], before, strict=True)):
            raise ParameterError(
                f"{name}: a density or a constraint is a function of places that changes with it",
                asked="parameters",
                given=parameter.name,
            )
        total, size = 0.0, float(np.abs(change.rates.values).sum())
        size += sum(float(np.abs(rows).sum()) for rows in change.rates.rows.values())
        size += sum(float(np.abs(x).sum()) for x in found)
        if 0 in by.kernels:
            total += change.rates.along(self.system, by.kernels[0])
        count = len(self.assemblers) - 1
        for k, rate in enumerate(found[:count], 1):
            if k in by.kernels:
                total += float(by.kernels[k].values @ rate)
        for weight, rate in zip(by.more, found[count:], strict=True):
            total += float(weight @ rate)
        return total, size

    def finish(self) -> list[tuple[Variable, float | Array]]:
        """Return the derivatives by all variables, on every rank (collective).

        Raises
        ------
        ParameterError : nothing depends on one.
        """
        if self._sum is not None:
            self._contract(*self._sum)
        found: list[tuple[Variable, float | Array]] = []
        for variable in self.variables:
            if isinstance(variable, Field):
                value: float | Array = np.asarray(self.system.sum(self._of_cells[id(variable)]))
            else:
                value = float(self.system.sum(np.array([self._totals[id(variable)]]))[0])
            if not self.system.sum(np.array([self._sizes[id(variable)]]))[0]:
                raise ParameterError(
                    f"nothing depends on {label(variable)}: no law, load, support or goal of the "
                    "system has it",
                    asked="parameters",
                    given=label(variable),
                )
            found.append((variable, value))
        return found


def _moves(now: Mapping[int, Array], before: Mapping[int, Array]) -> bool:
    """Tell whether rows of entities are others."""
    return any(k in before and not np.array_equal(rows, before[k]) for k, rows in now.items())


def _copy(by: Sensitive) -> Sensitive:
    """Return derivatives that others may be added to; their arrays are not those of kernels."""
    return Sensitive(dict(by.kernels), [x.copy() for x in by.more])


def _accumulate(total: Sensitive, by: Sensitive) -> None:
    """Add derivatives to others."""
    kernels = total.kernels
    assert isinstance(kernels, dict)
    for k, more in by.kernels.items():
        if k not in kernels:
            kernels[k] = more
            continue
        kernels[k].values[:] += more.values
        for number, rows in more.rows.items():
            kernels[k].rows[number] += rows
    for own, x in zip(total.more, by.more, strict=True):
        own += x

# SPDX-License-Identifier: BSD-3-Clause
"""From derivatives by values of kernels to those by parameters and fields, summed over steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...assembly.cell_fields import CellFields
from ...errors import ParameterError
from ...values.dependence import may_follow
from ...values.parameter import Field, Parameter, evaluate_at, label
from ...values.series import Shifted, TimeSeries
from ..rates import DIFFERENCE_STEP, fourth_order, rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...arrays import Array
    from ...assembly.assembler import Assembler, Derivatives
    from ...assembly.discrete import DiscreteSystem
    from ...values.parameter import Value
    from .gradient import Variable

    More = Callable[[], list[Array]]
    #: Functions of time: name, function, and weights (times, places) of its values
    Functions = Sequence[tuple[str, Value | None, Array]]


class Sensitive(NamedTuple):
    """Derivatives of a number at one time.

    Attributes
    ----------
    kernels : by values and rows of assemblers, by their number in `ChainRule.assemblers`.
    more : by the arrays of `ChainRule.more`, in their order.
    """

    kernels: Mapping[int, Derivatives]
    more: Sequence[Array]


class ChainRule:
    """Sums dJ/dc dc/dp over steps, c what kernels read, and prescribed motions.

    Parameters
    ----------
    assemblers : the system's first.
    go_to : writes what parameters drive at a time, for steps of a length.
    more : returns what else follows parameters at the present time.
    at_each_step : whether what parameters drive is evaluated at each step: more than values that
        are functions of time alone changes.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        assemblers: Sequence[Assembler],
        variables: Sequence[Variable],
        go_to: Callable[[float, float], None],
        more: More,
        at_each_step: bool,
    ) -> None:
        self.system, self.assemblers, self.variables = system, assemblers, variables
        self._go_to, self._more, self.at_each_step = go_to, more, at_each_step
        self._numbers = [v for v in variables if isinstance(v, Parameter | TimeSeries)]
        self._fields = [v for v in variables if isinstance(v, Field)]
        sizes = {id(v): len(v.values) if isinstance(v, TimeSeries) else 1 for v in self._numbers}
        self._totals: dict[int, Array] = {key: np.zeros(n) for key, n in sizes.items()}
        self._of_cells = {id(v): np.zeros(len(v.values)) for v in self._fields}
        self._sizes = {id(v): 0.0 for v in variables}
        self._columns = {id(v): self._places(v) for v in self._fields}
        self._follows: dict[tuple[int, int], bool] = {}  # functions of time and variables
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
        self.add_steps([time], h, by, {k: found.values[None] for k, found in by.kernels.items()})

    def add_steps(
        self, times: Sequence[float], h: float, by: Sensitive, values: Mapping[int, Array]
    ) -> None:
        """Add what steps contribute, `by` their sum (collective).

        Several ones only where `at_each_step` is not so.

        Parameters
        ----------
        values : (times, values) derivatives by the values of assemblers at each of the times.
        """
        for field in self._fields:
            self._by_field(field, by)
        if not self._numbers:
            return
        if self.at_each_step:
            self._contract(times[0], h, by)
            return
        functions = [
            (name, function, values[k][:, places])
            for k, assembler in enumerate(self.assemblers)
            if k in values
            for name, function, places in assembler.timed_values
        ]
        for variable in self._numbers:
            follow = [each for each in functions if self._may_follow(each[1], variable)]
            self._by_functions(variable, times, follow)
        if self._sum is None:
            self._sum = times[0], h, Sensitive({}, [x.copy() for x in by.more])
        else:
            for own, more in zip(self._sum[2].more, by.more, strict=True):
                own += more
        for k, found in by.kernels.items():
            self._keep(k, found)

    def _may_follow(self, function: Value | None, variable: Parameter | TimeSeries) -> bool:
        """Tell whether a function of time may follow a variable."""
        key = id(function), id(variable)
        if key not in self._follows:
            self._follows[key] = may_follow(function, variable)
        return self._follows[key]

    def _by_field(self, field: Field, by: Sensitive) -> None:
        """Add what the cells of a field contribute."""
        for k, number, column in self._columns[id(field)]:
            form = self.assemblers[k].forms[number]
            if k not in by.kernels or number not in by.kernels[k].rows or form.ids is None:
                continue
            own = form.owned.astype(bool)
            found = by.kernels[k].rows[number][own, column]
            np.add.at(self._of_cells[id(field)], form.ids[own], found)
            self._sizes[id(field)] = 1.0

    def add_of_cells(self, by_field: Callable[[Field], Array], factor: float) -> None:
        """Add a multiple of this rank's share of derivatives by values of fields (collective)."""
        for field in self._fields:
            self._of_cells[id(field)] += factor * by_field(field)

    def _keep(self, k: int, part: Derivatives) -> None:
        """Add derivatives by kernels to those of other steps."""
        assert self._sum is not None
        kernels = self._sum[2].kernels
        assert isinstance(kernels, dict)
        rows = {n: part.rows[n] for n in self.assemblers[k].rows if n in part.rows}
        if k not in kernels:
            copies = {n: own.copy() for n, own in rows.items()}
            kernels[k] = replace(part, values=part.values.copy(), rows=copies)
            return
        kernels[k].values[:] += part.values
        for n, own in rows.items():
            kernels[k].rows[n] += own

    def _contract(self, time: float, h: float, by: Sensitive) -> None:
        """Add what follows by each variable, at a time (collective)."""
        for variable in self._numbers:
            if isinstance(variable, TimeSeries):
                self._by_series(variable, time, h, by)
            else:
                total, size = self._along(_of_parameter(variable), time, h, by)
                self._totals[id(variable)] += total
                self._sizes[id(variable)] += size

    def _by_series(self, series: TimeSeries, time: float, h: float, by: Sensitive) -> None:
        """Add what follows by the values of a series (collective)."""
        values, key, system = series.values, id(series), self.system
        size = float(np.abs(values).max()) or 1.0
        with Shifted(series) as shifted:
            number = _ScalarVariable(partial(setattr, shifted, "shift"), 0.0, size, str(series))
            total, change = self._along(number, time, h, by)
            times = set().union(*system.comm.allgather(shifted.times))
        self._sizes[key] += change
        if times <= {time}:
            self._totals[key] += total * series.weights(time)
            return
        moving = sum((np.abs(series.weights(t)) for t in times), np.zeros(len(values)))
        for k in np.flatnonzero(moving):
            number = _of_value(series, int(k), size)
            self._totals[key][k] += self._along(number, time, h, by)[0]
            series.values = values

    def _by_functions(
        self, variable: Parameter | TimeSeries, times: Sequence[float], functions: Functions
    ) -> None:
        """Add what functions of time contribute, of this rank alone: other values wait."""
        key = id(variable)
        if isinstance(variable, Parameter):
            total, size = self._along_functions(_of_parameter(variable), times, functions)
            self._totals[key] += total
            self._sizes[key] += size
            return
        for k, time in enumerate(times):
            here = [(name, function, weights[k : k + 1]) for name, function, weights in functions]
            self._by_series_at(variable, time, here)

    def _by_series_at(self, variable: TimeSeries, time: float, functions: Functions) -> None:
        """Add what functions of time contribute by the values of a series at a time."""
        key = id(variable)
        values, largest = variable.values, float(np.abs(variable.values).max()) or 1.0
        with Shifted(variable) as shifted:
            number = _ScalarVariable(
                partial(setattr, shifted, "shift"), 0.0, largest, str(variable)
            )
            total, size = self._along_functions(number, [time], functions)
        self._sizes[key] += size
        if shifted.times <= {time}:
            self._totals[key] += total * variable.weights(time)
            return
        moving = sum((np.abs(variable.weights(t)) for t in shifted.times), np.zeros(len(values)))
        for k in np.flatnonzero(moving):
            number = _of_value(variable, int(k), largest)
            self._totals[key][k] += self._along_functions(number, [time], functions)[0]
            variable.values = values

    def _along_functions(
        self, number: _ScalarVariable, times: Sequence[float], of: Functions
    ) -> tuple[float, float]:
        """Return what functions of time contribute to a derivative, and how much they change."""
        step, total, size = DIFFERENCE_STEP * number.size, 0.0, 0.0
        if not of:
            return 0.0, 0.0

        ends: list[list[tuple[float, Array]]] = []
        try:
            for there in (number.value + step, number.value - step):
                ends.append([])
                number.put(there)
                for name, function, _ in of:
                    try:
                        ends[-1].append((there, evaluate_at(name, function, times)))
                    except ParameterError:
                        number.put(number.value)
                        ends[-1].append((number.value, evaluate_at(name, function, times)))
                        number.put(there)
        finally:
            number.put(number.value)
        for (high, a), (low, b), (_, _, weights) in zip(*ends, of, strict=True):
            if high == low:
                raise ParameterError(
                    f"gradient by {number.name}: neither {number.value + step:g} nor "
                    f"{number.value - step:g} is possible",
                    asked=number.name,
                    given=number.value,
                )
            rate = (a - b).reshape(len(times), -1) / (high - low)
            total += float(np.sum(weights * rate))
            size += float(np.abs(rate).sum())
        return total, size

    def _along(
        self, number: _ScalarVariable, time: float, h: float, by: Sensitive
    ) -> tuple[float, float]:
        """Return this rank's part of the derivative, and how much changes (collective)."""

        def go_to(value: float, state: Array) -> None:
            number.put(value)
            self._go_to(time, h)

        def others() -> list[Array]:
            return [x.copy() for x in [*self._values(), *self._more()]]

        def over(part: float) -> tuple[Array, bool]:
            step = part * number.size
            name = f"gradient by {number.name}"
            change = rates(self.system, go_to, number.value, step, name, others)
            found = [(a - b) / change.span for a, b in zip(*change.ends, strict=True)]
            size = float(np.abs(change.rates.values).sum())
            size += sum(float(np.abs(rows).sum()) for rows in change.rates.rows.values())
            size += sum(float(np.abs(x).sum()) for x in found)
            total = change.rates.along(self.system, by.kernels[0]) if 0 in by.kernels else 0.0
            weights = [*self._weights(by), *by.more]
            total += sum(float(np.sum(w * x)) for w, x in zip(weights, found, strict=True))
            return np.array([total, size]), change.span > 1.5 * step

        def central(part: float) -> Array | None:
            found, both = over(part)
            return found if both else None

        best = fourth_order(central, self.system.sum) if self.at_each_step else None
        total, size = over(DIFFERENCE_STEP)[0] if best is None else best
        return float(total), float(size)

    def _values(self) -> list[Array]:
        """Return values and rows of all assemblers but the first."""
        own = self.assemblers[1:]
        rows = [rows for a in own for _, rows in sorted(a.rows.items())]
        return [*(a.values for a in own), *rows]

    def _weights(self, by: Sensitive) -> list[Array | float]:
        """Return the derivatives by what `_values` returns."""
        own = list(enumerate(self.assemblers))[1:]
        found: list[Array | float] = [
            by.kernels[k].values if k in by.kernels else 0.0 for k, _ in own
        ]
        for k, assembler in own:
            for number in sorted(assembler.rows):
                weights: Array | float = 0.0
                if k in by.kernels and number in by.kernels[k].rows:
                    mask = assembler.forms[number].owned.astype(bool)
                    weights = np.where(mask[:, None], by.kernels[k].rows[number], 0.0)
                found.append(weights)
        return found

    def finish(self) -> list[tuple[Variable, float | Array]]:
        """Return the derivatives by all variables, on every rank (collective).

        Raises
        ------
        ParameterError : nothing depends on one.
        """
        if self._sum is not None:
            for k, kernels in self._sum[2].kernels.items():
                for _, _, places in self.assemblers[k].timed_values:
                    kernels.values[places] = 0.0  # of which each step has been added
            self._contract(*self._sum)
        found: list[tuple[Variable, float | Array]] = []
        for variable in self.variables:
            if isinstance(variable, Field):
                value: float | Array = np.asarray(self.system.sum(self._of_cells[id(variable)]))
            else:
                total = np.asarray(self.system.sum(self._totals[id(variable)]))
                value = total if isinstance(variable, TimeSeries) else float(total[0])
            if not self.system.sum(np.array([self._sizes[id(variable)]]))[0]:
                raise ParameterError(
                    f"nothing depends on {label(variable)}: no law, load, support or goal of the "
                    "system has it",
                    asked="parameters",
                    given=label(variable),
                )
            found.append((variable, value))
        return found


class _ScalarVariable(NamedTuple):
    """A number to differentiate by: how it is put, its present value and size, its name."""

    put: Callable[[float], None]
    value: float
    size: float
    name: str


def _of_parameter(parameter: Parameter) -> _ScalarVariable:
    value = parameter.value
    put = partial(setattr, parameter, "value")
    return _ScalarVariable(put, value, abs(value) or 1.0, repr(parameter.name))


def _of_value(series: TimeSeries, k: int, size: float) -> _ScalarVariable:
    """Return one value of a series."""
    values = series.values

    def put(there: float) -> None:
        changed = values.copy()
        changed[k] = there
        series.values = changed

    return _ScalarVariable(put, float(values[k]), size, str(series))

# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a solution, and the points of a path, as histories keep and show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..arrays import Array
    from ..values.parameter import Parameter

MAX_COLUMNS = 5  # columns of numbers in a table, beside the time


@dataclass
class Step:
    """One converged step of the (pseudo-)time.

    Attributes
    ----------
    time : (pseudo-)time reached.
    iterations, linear_iterations : of Newton's method, and of the Krylov solver in all; those of
        attempts that failed are not counted.
    norms : in statics the residual norm of each kind of row at the end.
    parameter : its value where a path is followed along a parameter; then `time` is the arc
        length.
    parameters : in statics the values of the system's `Parameter` objects, by their names.
    unstable : number of independent directions in which the equilibrium is unstable, None where
        it was not looked for: the steps of a followed path and the last one of `solve` have it,
        with a symmetric tangent and a direct solver.
    """

    time: float
    iterations: int
    linear_iterations: int
    norms: dict[str, float]
    parameter: float | None = None
    unstable: int | None = None
    parameters: dict[str, float] = field(default_factory=dict)


@dataclass
class LimitPoint:
    """A point of a followed path where its parameter has an extremum, or the path branches.

    Attributes
    ----------
    time : arc length there; a limit point is a step of the history, too.
    parameter : its value there.
    kind : ``"maximum"`` or ``"minimum"`` of the parameter along the path, or ``"bifurcation"``.
    values : what all recorded series have there, by name, also those that are not due at each step.
    state : local vector; at a bifurcation that of the last equilibrium found before it, see
        `symancf.solve.statics.crossing`.
    eigenvalues : of the tangent that change their sign there, 1 at a simple one. Where the search
        sees odd numbers only (`History.search`) it is 1 for each of them.
    """

    time: float
    parameter: float
    kind: Literal["maximum", "minimum", "bifurcation"]
    values: dict[str, Array]
    state: Array = field(repr=False)
    eigenvalues: int = 1


def by_name(parameters: Sequence[Parameter]) -> dict[str, float]:
    """Return values by name; those of one name are numbered."""
    values: dict[str, float] = {}
    for parameter in parameters:
        name, number = parameter.name, 1
        while name in values:
            number += 1
            name = f"{parameter.name} {number}"
        values[name] = parameter.value
    return values


def table(steps: Sequence[Step], recorded: Mapping[str, Array]) -> list[tuple[str, ...]]:
    """Return a table of steps with its headings.

    Beside the times stand the parameters that changed from step to step, without which the rows of
    a loop over a parameter would be alike, and the numbers that were recorded, up to `MAX_COLUMNS`
    of all.
    """
    names = dict.fromkeys(name for step in steps for name in step.parameters)
    series = {name: np.array([s.parameters.get(name, np.nan) for s in steps]) for name in names}
    changed = {name: values for name, values in series.items() if len(set(values.tolist())) > 1}
    columns = list((changed | dict(recorded)).items())[:MAX_COLUMNS]
    rows = [("time", *(name for name, _ in columns), "Newton", "linear", "residual norms")]
    for k, step in enumerate(steps):
        numbers = (f"{values[k]:.4g}" for _, values in columns)
        norms = ", ".join(f"{name} {value:.1e}" for name, value in step.norms.items())
        counts = str(step.iterations), str(step.linear_iterations)
        rows.append((f"{step.time:.4g}", *numbers, *counts, norms))
    return rows

# SPDX-License-Identifier: BSD-3-Clause
"""Tests of whole structures: what was measured of one, and the problem that computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...assembly.configuration import discrete_system
from ...errors import OwnAttributes, ParameterError
from ...runtime.display import Displayable
from ...values import arguments
from ...values.parameter import Parameter, label, reals
from ..dynamics import DynamicProblem
from ..gradients.gradient import require_goal
from ..statics.problem import StaticProblem
from .measurement import Measurement, standard_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..statics.taylor import Differentiable


class StructureTest(Measurement, Displayable, OwnAttributes):
    """What was measured of a structure: displacements, forces of supports, any goals.

    `fit` finds the values of those `Parameter` in its system that have the names of what is to be
    found. The problem is solved once before, with values to begin with; each evaluation repeats
    this solution with others, of one with a `Trace` all steps, of a motion from its start.

    Parameters
    ----------
    problem : a `StaticProblem`, or a `DynamicProblem` with a trace.
    goal : what was measured, a `Goal` or a list of m goals.
    data : the measured values, (m,) of the last solution, or (N,) and (N, m) at `times`.
    times : (N,) where steps of a trace end, see ``stops=`` of `StaticProblem.solve`: a load that
        grows with time gives a curve of force and displacement.
    error : standard error of the data, a number or an array like them; they then count by it.
    weight : of this test beside others.
    name : for tables and pictures.

    Attributes
    ----------
    kind : "structure".
    goals : of each datum.
    time : (N,) those given, or None.

    Raises
    ------
    ParameterError : data and goals are not as many; the problem has not been solved.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (4,))
    >>> EI = sa.Parameter("EI", 1.0)
    >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=EI)
    >>> tip = cable.at((1.0, 0.0, 0.0))
    >>> push = sa.force(tip, (0.0, lambda t: 0.3 * t, 0.0))
    >>> problem = sa.StaticProblem(sa.System(cable, terms=[sa.fix(cable["x0"]), push]))
    >>> _ = problem.solve(step=0.5, trace=sa.Trace())
    >>> rise = sa.Goal(lambda u_a: u_a[1], tip)
    >>> bench = sa.StructureTest(problem, rise, [0.025, 0.050], times=[0.5, 1.0])
    >>> found = sa.fit(EI, bench)
    >>> round(found.values["EI"], 2)
    2.0
    """

    kind = "structure"

    def __init__(
        self,
        problem: Differentiable,
        goal: Goal | Sequence[Goal],
        data: npt.ArrayLike,
        *,
        times: npt.ArrayLike | None = None,
        error: npt.ArrayLike | None = None,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.name = arguments.name_or(name, "structure")
        what = f"StructureTest {self.name!r}"
        if not isinstance(problem, StaticProblem | DynamicProblem):
            raise ParameterError(
                f"{what}: problem={label(problem)}: give a StaticProblem, or a DynamicProblem with "
                "a trace",
                asked="problem",
                given=label(problem),
            )
        moves = isinstance(problem, DynamicProblem)
        every: Sequence[Any] = [*goal] if isinstance(goal, list | tuple) else [goal]
        goals = [require_goal(one, moves=moves) for one in every]
        self.problem, self.time = problem, None
        self._data = reals(data)
        wanted: tuple[int, ...] = (len(goals),)
        if times is not None:
            self.time = reals(times)
            if self.time.ndim != 1 or not self.time.size:
                raise ParameterError(
                    f"{what}: times= must be a row of numbers", asked="times", given=times
                )
            if self._data.ndim == 1 and len(goals) == 1:
                self._data = self._data[:, None]
            wanted = (len(self.time), len(goals))
            goals = [one.at(float(t)) for t in self.time for one in goals]
        if self._data.shape != wanted or not goals:
            raise ParameterError(
                f"{what}: data of the shape {self._data.shape}: there must be a number for each "
                f"{'goal' if times is None else 'time and goal'}, {wanted}",
                asked="data",
                given=self._data.shape,
                possible=(wanted,),
            )
        self.goals = goals
        self.error = None if error is None else self._errors(what, error)
        self.weight = arguments.positive(what, "weight", weight)

    def _errors(self, what: str, error: npt.ArrayLike) -> Array:
        """Return the standard error of each datum."""
        errors = reals(error)
        row = self._data.ndim == 2 and errors.shape == self._data.shape[:1]
        return standard_errors(what, errors[:, None] if row else error, self._data.shape)

    @property
    def data(self) -> Array:
        """The measured values: (m,), or (N, m) at times."""
        return self._data

    @property
    def along(self) -> Array:
        """The numbers of the rows, from 1."""
        return np.arange(1.0, len(self._data) + 1.0)

    def _headline(self) -> str:
        """Return what it is."""
        return f"StructureTest {self.name!r}: {self._data.size} values"

    def parameters(
        self, names: Sequence[str], others: Sequence[Parameter] = ()
    ) -> dict[str, Parameter]:
        """Return those of some names that occur in the system (collective).

        Of others, which functions of time may have, those on which the goals depend.

        Raises
        ------
        ParameterError : two have the same name.
        """
        found: dict[str, Parameter] = {}
        for one in discrete_system(f"fit: {self.name}", self.problem.system).parameters:
            if one.name in names:
                if one.name in found:
                    raise ParameterError(
                        f"fit: {self.name} has two parameters with the name {one.name!r}: give one "
                        "Parameter where they are the same, or other names",
                        asked=one.name,
                    )
                found[one.name] = one
        unseen = (p for p in others if p.name in names and p.name not in found)
        return found | {p.name: p for p in unseen if self._depends_on(p)}

    def _depends_on(self, parameter: Parameter) -> bool:
        """Whether anything in the system follows a parameter (collective)."""
        try:
            self.problem.gradient(self.goals[-1], [parameter])
        except ParameterError as error:
            if error.asked == "parameters":
                return False
            raise
        return True

    def renew(self) -> None:
        """Solve anew where a parameter, as of another fit, changed since (collective)."""
        problem: Any = self.problem
        if isinstance(problem, StaticProblem) and problem._solution:
            present = problem.system.comm.allreduce(problem._is_present(), op=MPI.LAND)
            if not present:
                problem._solve_with(lambda: None)

    def answer(self, values: Mapping[str, float]) -> Array:
        """Return the goals, in the shape of the data, with values of its parameters (collective).

        Parameters and solution are those of these values afterwards.

        Raises
        ------
        ConvergenceError : there is no solution.
        """
        own = self.parameters([*values])

        def assign() -> None:
            for name, parameter in own.items():
                parameter.value = values[name]

        self.problem._solve_with(assign)
        return np.reshape([self.problem.value(goal) for goal in self.goals], self._data.shape)

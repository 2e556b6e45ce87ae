# SPDX-License-Identifier: BSD-3-Clause
"""Goals: numbers that follow from the state, as functions of the user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import sympy as sp

from symancf_codegen.functions import numerical

from ...assembly.configuration import discrete_system
from ...bodies.body import Body
from ...catalogue.boundary.support import Support
from ...catalogue.gas.cavity import Cavity
from ...errors import ParameterError
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...terms.constraint import Constraint
from ...values.arguments import name_or, number
from .body_part import BodyPart
from .cavity_part import CavityPart
from .joint_part import JointPart
from .parts import GoalPart, MotionStates, PlacePart, SupportPart
from .timed import InstantPart, IntegralPart, TimedPart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array, Ints
    from ...assembly.discrete import DiscreteSystem
    from ...system import System
    from ...values.parameter import Field


#: What else than places has goals.
PARTS: tuple[tuple[type, Any], ...] = (
    (Support, SupportPart),
    (Cavity, CavityPart),
    (Constraint, JointPart),
    (Body, BodyPart),
)


@dataclass(frozen=True)
class GoalSlopes:
    """A goal at the present state, and its derivatives.

    Attributes
    ----------
    value : of the goal.
    coordinates : by the coordinates at held forces of supports: local vector in which each rank
        has its share, of ghosts, too.
    forces : by the residual at fixed coordinates, complete on each rank.
    rates : by the rates of coordinates, as `coordinates`.
    """

    value: float
    coordinates: Array
    forces: Array
    rates: Array


class GoalAtSteps(NamedTuple):
    """A goal of one state, as it counts at the ends of some steps.

    Attributes
    ----------
    numbers : of the states (n,), ascending.
    weights : by which it counts at each of them (n,).
    """

    numbers: Ints
    weights: Array
    goal: Goal

    def between(self, first: int, end: int) -> GoalAtSteps:
        """Return it at the states of some numbers, the last one less than `end`."""
        some = slice(*np.searchsorted(self.numbers, (first, end)))
        return GoalAtSteps(self.numbers[some], self.weights[some], self.goal)


def scaled(goals: Sequence[GoalAtSteps], factors: Sequence[float]) -> list[GoalAtSteps]:
    """Return goals whose weights are multiplied by factors."""
    pairs = zip(goals, factors, strict=True)
    return [each._replace(weights=factor * each.weights) for each, factor in pairs]


def goals_at(number: int, goals: Sequence[GoalAtSteps]) -> list[tuple[float, Goal]]:
    """Return which goals count at a state, with their weights."""
    here = [each.between(number, number + 1) for each in goals]
    return [(float(w), each.goal) for each in here for w in each.weights]


class Goal(OneProcess, Displayable):
    r"""A number J that follows from the state: what to differentiate, or to make small.

    It acts on nothing. Goals are added, multiplied and raised to powers, with numbers and with one
    another; SymPy's functions are not needed for that, as ``sag**2 + 1e-3 * moment`` is a goal.

    Parameters
    ----------
    function : as for `Potential`, of quantities of the ends, ``u_a``, ``r_b``, ...: the sum over
        all tuples of places is the goal. Of a support it asks for ``F`` and ``M``, the force [N]
        and moment [N m] of `Support.reaction` with three components each; of a cavity for ``V``
        and ``p``, its volume [m^3] and its pressure [Pa] over that outside; of a joint for ``F``
        and ``M``, those of `Constraint.reaction` on end a, and quantities of its ends. Of a
        deformable body it is a density of what `sample` offers, ``W``, ``von_mises``, ``J``,
        ``u``, ...: the goal is its integral over the reference (volume, area, length).
    ends : one to three places, or one support, joint, cavity or body.
    name : shown in messages.
    parameters : values of the keyword-only arguments, numbers, `Parameter` or functions of time.

    Raises
    ------
    ParameterError : ends that move along a body, or that stand for lengths; a support on conditions
        in directions that are no axes; the pressure of a cavity that has none; a joint of several
        constraints; a body whose law remembers.
    KinematicsError : an unknown quantity, or the function fails on symbols.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((2.0,), (2,))
    >>> given = {"EA": 1e4, "EI": 1.0}
    >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    >>> clamp = sa.fix(cable["x0"])
    >>> load = sa.Parameter("load", 1e-4)
    >>> tip = cable.at((2.0, 0.0, 0.0))
    >>> system = sa.System(cable, terms=[clamp, sa.force(tip, (0.0, load, 0.0))])
    >>> problem = sa.StaticProblem(system)
    >>> _ = problem.solve()
    >>> sag, push = sa.Goal(lambda u_a: u_a[1], tip), sa.Goal(lambda F: F[1], clamp)
    >>> found = problem.gradient(sag + 2 * push, [load])
    >>> round(found[load], 3)                           # 8/3 - 2
    0.667
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *ends: Any,
        name: str | None = None,
        **parameters: Any,
    ) -> None:
        self.name = name_or(name, str(getattr(function, "__name__", "goal")))
        what = f"goal {self.name!r}"
        kinds = [(kind, make) for kind, make in PARTS if any(isinstance(e, kind) for e in ends)]
        if kinds and (len(ends) > 1 or parameters):
            raise ParameterError(
                f"{what}: a goal of a support, a joint, a cavity or a body has that alone, and no "
                "parameters",
                asked="ends",
                given=len(ends),
                possible=(1,),
            )
        part: GoalPart
        if kinds:
            ((_, make),) = kinds
            part = make(what, function, ends[0])
        else:
            part = PlacePart(what, function, ends, parameters)
        self._take([part], sp.Symbol("g0"))

    def _take(self, parts: Sequence[GoalPart], expression: sp.Expr) -> None:
        self._parts, self._expression = tuple(parts), expression

    def _headline(self) -> str:
        """Return the name."""
        return f"goal {self.name!r}"

    def _facts(self) -> list[tuple[str, str]]:
        """Return what it is made of."""
        return [("", "of"), *((part.what, part.place) for part in self._parts)]

    # ---- arithmetic -----------------------------------------------------------------------------
    def _joined(self, other: object, how: Callable[[Any, Any], Any]) -> Goal:
        made: Goal = object.__new__(Goal)
        made.name = self.name
        if isinstance(other, Goal):
            own = len(self._parts)
            moved = {sp.Symbol(f"g{k}"): sp.Symbol(f"g{k + own}") for k in range(len(other._parts))}
            more = other._expression.xreplace(moved)
            made._take((*self._parts, *other._parts), how(self._expression, more))
            return made
        try:
            number = float(other)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return NotImplemented  # type: ignore[no-any-return]
        made._take(self._parts, how(self._expression, sp.Float(number)))
        return made

    def __add__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: a + b)

    def __radd__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: b + a)

    def __sub__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: b - a)

    def __mul__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: a * b)

    def __rmul__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: b * a)

    def __truediv__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: a / b)

    def __rtruediv__(self, other: object) -> Goal:
        return self._joined(other, lambda a, b: b / a)

    def __pow__(self, other: object) -> Goal:
        exponent = int(other) if isinstance(other, int) else other  # 0**2 has a slope
        made = self._joined(1.0, lambda a, b: a)
        if isinstance(exponent, int):
            made._expression = self._expression**exponent
            return made
        return self._joined(other, lambda a, b: a**b)

    def __neg__(self) -> Goal:
        return self._joined(-1.0, lambda a, b: b * a)

    # ---- on the way of a solution ---------------------------------------------------------------
    def at(self, time: float) -> Goal:
        """Return the goal at a time where a step ends, see ``stops=``; it asks for a `Trace`."""
        what = f"goal {self.name!r}"
        time = number(what, "at", time, "be a finite time")
        return self._timed(InstantPart(self._of_instants("at"), time))

    def integral(self) -> Goal:
        """Return the integral over time, by the trapezoidal rule on the steps of a `Trace`."""
        return self._timed(IntegralPart(self._of_instants("integral")))

    def _of_instants(self, asked: str) -> Goal:
        """Return itself, where it is one of a state."""
        if self.timed:
            raise ParameterError(
                f"goal {self.name!r}: .{asked}() of a goal that has a time or an integral already: "
                "take these of its parts",
                asked=asked,
                given=self.name,
            )
        return self

    def _timed(self, part: GoalPart) -> Goal:
        made: Goal = object.__new__(Goal)
        made.name = self.name
        made._take([part], sp.Symbol("g0"))
        return made

    @property
    def timed(self) -> bool:
        """Whether it asks for another time than the end."""
        return any(isinstance(part, TimedPart) for part in self._parts)

    @property
    def rates(self) -> bool:
        """Whether it asks for velocities."""
        return any(part.rates for part in self._parts)

    @property
    def parametric(self) -> bool:
        """Whether parameters occur in it beside the state."""
        return any(part.parametric for part in self._parts)

    def instants(self, times: Array) -> list[GoalAtSteps]:
        """Return of each part which goal at which of some times makes it, with their weights.

        Raises
        ------
        ParameterError : no step ends at a time that is asked for.
        """
        end = np.array([len(times) - 1])
        return [
            GoalAtSteps(*part.instants(times), cast("Goal", part.goal))
            if isinstance(part, TimedPart)
            else GoalAtSteps(end, np.ones(1), self._timed(part))
            for part in self._parts
        ]

    def by_end(self, times: Array) -> list[list[tuple[int, float, float, Goal]]]:
        """Return how each part of `instants` follows a last time that is free.

        Numbers of states, rates of their weights, and weights of the rate of goals there, which
        have some at the last state alone.
        """
        return [
            [(n, rate, weight, cast("Goal", of)) for n, rate, weight, of in part.by_end(times)]
            if isinstance(part, TimedPart)
            else [(len(times) - 1, 0.0, 1.0, self._timed(part))]
            for part in self._parts
        ]

    def combined(self, values: Sequence[float]) -> list[float]:
        """Return the goal, and its derivatives by its parts, where these have some values."""
        return self._combined(values)

    # ---- values ---------------------------------------------------------------------------------
    def value(self, system: System) -> float:
        """Return its present value, on every rank (collective).

        Raises
        ------
        ParameterError : it is a goal at a time, or an integral, which a `Trace` has.
        """
        return self.of_one_state().at_state(discrete_system("Goal.value", system))

    def of_one_state(self) -> Goal:
        """Return itself, where no part of it is of another time or an integral.

        Raises
        ------
        ParameterError
        """
        for part in self._parts:
            if isinstance(part, TimedPart):
                part.refuse()
        return self

    def at_state(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""
        return self._combined([part.value(system) for part in self._parts])[0]

    def beside(self, system: DiscreteSystem) -> Array:
        """Return what of its parts changes with parameters alone, of this rank (collective)."""
        return np.concatenate([part.beside(system) for part in self._parts])

    def by_beside(self, system: DiscreteSystem) -> Array:
        """Return this rank's share of derivatives by what `beside` returns (collective)."""
        parts = zip(self.by_parts(system), self._parts, strict=True)
        return np.concatenate([weight * part.by_beside(system) for weight, part in parts])

    def by_field(self, system: DiscreteSystem, field: Field) -> Array:
        """Return this rank's share of derivatives by a field at the present state (collective)."""
        total = np.zeros(len(field.values))
        for weight, part in zip(self.by_parts(system), self._parts, strict=True):
            total += weight * part.by_field(system, field)
        return total

    def by_parts(self, system: DiscreteSystem) -> Array:
        """Return its derivatives by its parts at the present state (collective)."""
        return np.array(self._combined([part.value(system) for part in self._parts])[1:])

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return its derivatives by reference positions at a held state (collective).

        A local vector in which each rank has its share, at the nodes of a body.
        """
        weights, total = self.by_parts(system), np.zeros_like(system.state)
        for weight, part in zip(weights, self._parts, strict=True):
            total += weight * part.by_reference(system, body)
        return total

    def slopes(self, system: DiscreteSystem) -> GoalSlopes:
        """Return value and derivatives at the present state (collective)."""
        found = [part.slopes(system) for part in self._parts]
        value, *weights = self._combined([value for value, *_ in found])
        totals = [np.zeros_like(system.state) for _ in range(3)]
        for weight, (_, *slopes) in zip(weights, found, strict=True):
            for total, slope in zip(totals, slopes, strict=True):
                total += weight * slope
        return GoalSlopes(value, *totals)

    @property
    def of_places(self) -> bool:
        """Whether it follows from the motion of places alone, no parameter and no force."""
        return all(type(part) is PlacePart and not part.parametric for part in self._parts)

    def values_at(self, system: DiscreteSystem, states: MotionStates) -> Array:
        """Return the values (n,) at several states, on one rank; it is `of_places`."""
        parts = [part.values_at(system, states) for part in self._place_parts]
        values: Array = self._combined_at(np.array(parts))[0]
        return values

    def slopes_at(self, system: DiscreteSystem, states: MotionStates) -> tuple[Array, Array]:
        """Return derivatives by coordinates and rates (n, coordinates), see `values_at`."""
        found = [part.slopes_at(system, states) for part in self._place_parts]
        _, *weights = self._combined_at(np.array([value for value, *_ in found]))
        total = np.zeros((2, *states.state.shape))
        for weight, (_, *slopes) in zip(weights, found, strict=True):
            total += weight[:, None] * np.array(slopes)
        return total[0], total[1]

    @property
    def _place_parts(self) -> list[PlacePart]:
        return [part for part in self._parts if isinstance(part, PlacePart)]

    def curvature(self, system: DiscreteSystem, coordinates: Array, forces: Array) -> GoalSlopes:
        """Return the rates of `slopes` along rates of coordinates and residual (collective).

        Places are linear in coordinates, and forces of supports in the residual; what these lack,
        arms of moments that move, is left out, as by the Gauss-Newton method.
        """
        found = [part.slopes(system) for part in self._parts]
        values = [value for value, *_ in found]
        own = slice(0, system.numbering.start[system.numbering.owned_vertices])
        shares = [x @ coordinates + f[own] @ forces[own] for _, x, f, _ in found]
        moved = np.asarray(system.sum(np.array(shares)))
        weights = self._combined(values)[1:]
        n = len(found)
        second = np.array(self._second(*values), dtype=float).reshape(n, n) @ moved
        total = GoalSlopes(0.0, *(np.zeros_like(coordinates) for _ in range(3)))
        for part, weight, rate, (_, x, f, _) in zip(
            self._parts, weights, second, found, strict=True
        ):
            by_x, by_f = part.curvature(system, coordinates, forces)
            total.coordinates[:] += rate * x + weight * by_x
            total.forces[:] += rate * f + weight * by_f
        return total

    @cached_property
    def _second(self) -> Callable[..., Sequence[float]]:
        symbols = [sp.Symbol(f"g{k}") for k in range(len(self._parts))]
        slopes = [sp.diff(self._expression, a, b) for a in symbols for b in symbols]
        function: Callable[..., Sequence[float]] = numerical(symbols, slopes, "math")
        return function

    @cached_property
    def _function(self) -> Callable[..., Sequence[float]]:
        function: Callable[..., Sequence[float]] = self._numerical("math")
        return function

    @cached_property
    def _function_of_arrays(self) -> Callable[..., Sequence[float | Array]]:
        function: Callable[..., Sequence[float | Array]] = self._numerical("numpy")
        return function

    def _numerical(self, functions: str) -> Callable[..., Any]:
        """Return a function of the values of its parts: the goal and its derivatives by them."""
        symbols = [sp.Symbol(f"g{k}") for k in range(len(self._parts))]
        slopes = [self._expression, *(sp.diff(self._expression, s) for s in symbols)]
        return numerical(symbols, slopes, functions)

    def _combined_at(self, values: Array) -> Array:
        """Return `_combined` of many (parts, n) as an array (1 + parts, n)."""
        found = np.empty((1 + len(values), values.shape[1]))
        with np.errstate(all="ignore"):
            for to, own in zip(found, self._function_of_arrays(*values), strict=True):
                to[:] = own
        for k in np.flatnonzero(~np.isfinite(found).all(axis=0))[:1].tolist():
            self._combined(values[:, k].tolist())
        return found

    def _combined(self, values: Sequence[float]) -> list[float]:
        """Return the goal and its derivatives by its parts."""
        try:
            found = [float(x) for x in self._function(*values)]
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):
            found = [np.nan]
        if not np.isfinite(found).all():
            raise ParameterError(
                f"goal {self.name!r}, {self._expression}, has no finite value and derivatives for "
                f"{', '.join(f'g{k} = {x:g}' for k, x in enumerate(values))}",
                asked="goal",
                given=values,
            )
        return found

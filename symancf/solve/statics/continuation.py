# SPDX-License-Identifier: BSD-3-Clause
"""Paths of equilibria followed by their arc length, past limit points of a parameter.

PETSc's own `SNESNEWTONAL` (3.21 on) scales one vector of dead loads and neither prescribes
displacements nor locates limit points; it would be a second way with less, and is not used.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...assembly.agreement import agreed
from ...errors import ConvergenceError, ParameterError
from ...output.steps import LimitPoint, Step
from ...runtime.collective import share_error
from .arc import Arc, Direction, PathPlane
from .crossing import MAX_TURN_COSINE, Crossing, Crossings
from .stretch import PathPoint, Stretch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...assembly.state import State
    from ...values.parameter import Parameter
    from .equilibrium import EquilibriumSolver


STEP_ITERATIONS = 5  # Newton iterations of a step
STEP_TURN = 0.3  # radians by which a step should turn the path
#: of the angle between the chord of a step and the tangents at its ends
MAX_CHORD_COSINE = math.cos(0.45)
#: radians by which these angles may exceed the turn of an arc that bends one way
MAX_EXTRA_TURN = 0.15
CORNER_STEP_RATIO = 1e-4  # of the first step: shorter ones may be before a corner
#: of a step: this far beside the prediction it may have passed over a part of the path
DOUBTFUL_DISTANCE = 0.1
#: times that of the last place: so much more flexible is a bifurcation, where no step is to end
BIFURCATION_FLEXIBILITY = 1e6
DEFAULT_STEPS = 20  # first step by default, a part of the way to the value that is asked for
MAX_PATH_RATIO = 100.0  # times the way to `to`, or the first step: further off the path is given up
MAX_STEPS = 2000  # steps after which a path that does not reach what was asked for is given up
SEARCH: dict[str, Literal["all", "odd", "none"]] = {
    "pivots": "all",
    "determinant": "odd",
    "none": "none",
}


class Continuation:
    """Follows a path of equilibria along a parameter; see `StaticProblem.follow`.

    Predicted by a parabola through the last two points with their tangents, corrected on the
    plane across the tangent (`Arc`). A step is repeated with half of its length where Newton's
    method fails or the path turns too much in it (it might have gone to another branch); its
    length aims at `STEP_ITERATIONS` iterations and turns of `STEP_TURN`. With direct solvers the
    negative eigenvalues of the tangent (`Stability`) tell whether a step has passed bifurcations,
    or jumped where an imperfect structure turns sharply beside one (`Crossings`).
    """

    def __init__(self, solver: EquilibriumSolver, parameter: Parameter | Literal["time"]) -> None:
        self.solver, self.parameter = solver, parameter
        self.arc = Arc(solver, parameter)
        self.crossings = Crossings(self.arc)
        self.point: PathPoint | None = None
        self._bend: Direction | None = None  # change of the tangent with the arc length
        self._flexibility = math.inf  # at the end of the last step; see `Arc.flexibility`
        self._limits = 0  # limit points since the start
        self.step, self.unit = 0.0, 1.0
        self._begin = self._stepping = solver.system.snapshot()  # at `point`, and from there on

    def _remember(self, state: State) -> None:
        """Take what laws and terms remember in a state, and nothing else of it (collective)."""
        system = self.solver.system
        system.restore(system.snapshot().remembering(state))

    def goes_on(self) -> bool:
        """Tell whether the system is where this path ended (collective)."""
        if self.point is None:
            return False
        system, at = self.solver.system, self.point.at
        same = np.array_equal(system.state, at.state) and self.arc.value == at.value
        return bool(system.comm.allreduce(int(same)) == system.comm.size)

    def follow(
        self,
        to: float | None,
        step: float | None,
        steps: int | None,
        until: Callable[[Step], bool] | None,
        direction: int | None,
        largest: float | None,
        smallest: float,
    ) -> None:
        """Follow the path on; see `StaticProblem.follow`."""
        solver, comm, parameter = self.solver, self.solver.system.comm, self.parameter
        to = None if to is None else agreed(comm, "follow(to=...)", to)
        if not isinstance(parameter, str):
            parameter.value = agreed(comm, self.arc.name, parameter.value)
        self.record()
        solver.history.search = SEARCH[self.arc.stability.how]
        try:
            with solver.krylov.indefinite() if solver.krylov is not None else nullcontext():
                self.begin(step, to, direction)
                self.run(to, steps, until, largest, smallest)
        finally:
            solver.convergence.driven = np.zeros(solver.convergence.rows.count)
            self.arc.stability.release()

    def record(self) -> None:
        """Let the history keep the parameter under its name, if that is free."""
        history = self.solver.history
        name = "".join("_" if c in '/,"\n' else c for c in self.arc.name)
        name = "parameter" if name in ("", "time", ".") else name
        if name not in history.names and not history._begun:
            history.record(name, self._value)

    def _value(self) -> float:
        return self.arc.value

    # ---- the start ------------------------------------------------------------------------------
    def begin(self, step: float | None, to: float | None, direction: int | None) -> None:
        """Find the tangent at the present equilibrium and the length of the first step.

        Raises
        ------
        ConvergenceError : there is no equilibrium at the start.
        ParameterError : nothing depends on the parameter.
        """
        now, going = self.arc.value, self.goes_on()
        distance = math.inf if to is None or to == now else abs(to - now)
        if not going:
            self.unit = self.arc.step = self._first_step(step, distance)
            self._start()
        assert self.point is not None
        if direction is None and to is not None and (to != now or not going):
            direction = self._direction(self.point, to, turns=going and self._limits > 0)
        if direction not in (None, self.point.heading):
            self.point, self._bend = self.point.turned(), None
        if step is not None or not going:
            self.step = min(step or self.unit, distance)

    def _first_step(self, step: float | None, distance: float) -> float:
        """Return the change of the parameter in the first step of the whole way."""
        name = self.arc.name
        if step is None and distance == math.inf:
            raise ParameterError(
                f"follow({name}): give step=..., the change of {name} in the first step",
                asked="step",
            )
        return min(distance, step or distance / DEFAULT_STEPS)

    def _direction(self, at: PathPoint, to: float, turns: bool) -> int:
        """Return the direction from a point to a value; raise where the path `turns` before it."""
        name, now = self.arc.name, self.arc.value
        direction = -1 if to < now else 1
        if not turns or direction == at.heading:
            return direction
        goes, back = ("rises", -1) if at.heading > 0 else ("falls", 1)
        raise ParameterError(
            f"follow({name}, to={to:g}): {name} = {now:.7g} {goes} here beyond a limit point: "
            f"direction={back} goes back along the path, direction={-back} continues, to where "
            f"{name} turns again",
            asked="direction",
            possible=(back, -back),
        )

    def _start(self) -> None:
        solver, arc = self.solver, self.arc
        system = solver.system
        solver.sudden.jumped = False
        before, self._begin = system.state.copy(), system.snapshot()
        result, _ = solver.advance(system.time, system.time, before, 0.0)
        if system.memory and (isinstance(result, ConvergenceError) or result.iterations):
            # no end of a step, whose tangent tells how the path goes on
            system.state[:] = before
            system.memory.begin(system.time)
            result, _ = solver.advance(system.time, system.time, before, 0.0)
        if isinstance(result, ConvergenceError):
            self._remember(self._begin)
            raise ConvergenceError(
                f"follow({arc.name}) starts from an equilibrium, and Newton's method finds none at "
                f"{arc.name} = {arc.value:g}; solve() finds it in steps: {result}",
                asked="equilibrium",
                given=arc.value,
                reason=result.reason,
                iteration=result.iteration,
                time=system.time,
            )
        solver.sudden.settle()
        system.accept()
        moved = float(np.abs(system.state - before).max(initial=0.0))
        size = float(np.abs(system.state).max(initial=0.0))
        moved, size = (system.comm.allreduce(x, op=MPI.MAX) for x in (moved, size))
        if moved > 1e-6 * size > 0.0 and size > 1e-12 * system.extent:
            solver.record(result)
            solver.interruption.check()
        if not arc.derivative()[1] and not arc.depends_on_parameter():
            raise ParameterError(
                f"follow({arc.name}): no force and no prescribed displacement changes with "
                f"{arc.name} at {arc.value:g}; give the parameter itself to a load, a support or a "
                "body of this system",
                asked=arc.name,
            )
        soft = arc.tangent()
        at = arc.here()
        if soft is None:
            raise ConvergenceError(
                f"follow({arc.name}): the tangent at the start is singular"
                + solver.linear.residual.reason,
                asked="tangent",
                given=arc.value,
                reason="DIVERGED_LINEAR_SOLVE",
                iteration=0,
                time=system.time,
            )
        arc.measure(soft.rows, at)
        times = solver.history.time
        start = float(times[-1]) if len(times) else system.time
        self.point = PathPoint(at, start, arc.unit(soft, soft), arc.negative())
        self._flexibility = math.inf
        self._is_bifurcation(self.point.way)
        self._bend, self._limits = None, 0

    # ---- one step -------------------------------------------------------------------------------
    def _step(self, a: PathPoint, length: float) -> PathPoint | str:
        """Return the point at a distance from another one, or why there is none."""
        arc, way = self.arc, a.way
        rows, value = a.at.rows + length * way.rows, a.value + length * way.rate
        if self._bend is not None:
            rows = rows + length**2 / 2 * self._bend.rows
            value += length**2 / 2 * self._bend.rate
        plane = PathPlane(a.at.rows, a.value, way, length)
        at = arc.correct(rows, value, plane, radius=2.0 * length)
        if at is None:
            return arc.trouble
        arc.scale = self.solver.convergence.references()
        chord = Direction(at.rows - a.at.rows, at.value - a.value)
        size = arc.norm(chord)
        on = arc.tangent(way)
        on = on or Direction(chord.rows / size, chord.rate / size)
        turn, aside = arc.product(way, on), arc.product(chord, on) / size
        if turn < MAX_TURN_COSINE or aside < MAX_CHORD_COSINE or length / size < MAX_CHORD_COSINE:
            return "the path turns sharply, or Newton's method leaves it"
        self._turn = math.acos(min(1.0, turn))
        self._off = arc.norm(Direction(at.rows - rows, at.value - value))
        between = sum(math.acos(min(1.0, cosine)) for cosine in (aside, length / size))
        if between > self._turn + MAX_EXTRA_TURN:
            return "it leads to another branch"
        if self._is_bifurcation(on):
            return "it ends at a bifurcation"
        return PathPoint(at, a.arc + length, on, arc.negative())

    def _is_bifurcation(self, on: Direction) -> bool:
        """Tell whether the present place, with tangent `on`, is a bifurcation (collective).

        As compared with the last place that was asked for: so a shorter step may end where the
        system is as flexible. At a bifurcation round-off decides how much of other branches is in
        the tangent, and which eigenvalues count as negative. Iterative solvers cannot tell.
        """
        if not self.solver.linear.direct:
            return False
        last, self._flexibility = self._flexibility, self.arc.flexibility(on)
        return self._flexibility > BIFURCATION_FLEXIBILITY * last

    def _advance(self, largest: float, smallest: float) -> tuple[PathPoint, list[Crossing]]:
        """Return the next point, and the bifurcations before it; steps are cut where need be.

        Raises
        ------
        ConvergenceError : no step is short enough.
        """
        solver, a = self.solver, self.point
        assert a is not None
        system = solver.system
        self._begin = system.snapshot()
        system.memory.begin(system.time)
        self._stepping = system.snapshot()
        while True:
            variables = system.variables
            self._remember(self._stepping)
            system.learn(variables)
            length = min(self.step, largest)
            point = self._step(a, length)
            if isinstance(point, PathPoint):
                passed = self.crossings.between(a, point, self._off > DOUBTFUL_DISTANCE * length)
                if passed.gap is None:
                    break
                self.step = passed.gap / 2.0
                if passed.last is not a:  # the path turns behind it; `found` is on another one
                    self._keep_bend(a, passed.last)
                    return passed.last, passed.crossings
                point = "it leads to another branch"
                length = passed.gap
            solver.history.cut_backs += 1
            self.step = length / 2.0
            if length < CORNER_STEP_RATIO * self.unit and (turned := self._corner(a, length)):
                a, self.step = turned, self.unit
                continue
            if self.step < smallest:
                raise ConvergenceError(
                    f"follow({self.arc.name}): the path could not be followed beyond "
                    f"{self.arc.name} = {a.value:.7g}: {point}, in all steps down to "
                    f"{length:.2g}; smallest= allows shorter ones",
                    asked=self.arc.name,
                    given=a.value,
                    reason="DIVERGED_ARC_LENGTH",
                    iteration=0,
                    time=a.arc,
                )
        ease = math.sqrt(STEP_ITERATIONS / max(1, point.at.iterations))
        self.step = length * max(0.3, min(2.0, ease, STEP_TURN / max(self._turn, 1e-9)))
        self._keep_bend(a, point)
        return point, passed.crossings

    def _corner(self, a: PathPoint, length: float) -> PathPoint | None:
        """Return a point with the tangent that the path has behind a kink right after it.

        Where something comes into contact, or leaves it, the path has a corner, and no step over it
        is short enough. Along a path the rate of the parameter has the sign of det K, or always
        the other one, also where K jumps: so the number of negative eigenvalues behind the kink
        tells which way the path goes on. None: there is no kink, or it is not known.
        """
        if not self.arc.kinked or a.negative is None or a.corner:
            return None
        way, number, heading = a.way, a.negative, a.heading
        for distance in (length, *[0.1 * self.unit] * 3):  # until it is that of its own place
            behind = self.arc.beyond(a.at, way, distance)
            if behind is None:
                break
            on, number = behind
            heading = a.heading * (-1) ** (number - a.negative)
            size = heading * self.arc.norm(on)
            last, way = way, Direction(on.rows / size, on.rate / size)
            if self.arc.product(last, way) > MAX_TURN_COSINE:
                break
        self.arc.put(a.at)
        if self.arc.product(a.way, way) > MAX_TURN_COSINE:
            return None
        extreme = heading != a.heading
        point = PathPoint(a.at, a.arc, way, number, heading, extreme, a.negative, True)
        if extreme:
            self._remember(self._begin)
            self._note(point, a.heading > 0, self.solver.history._at_point())
        self.point, self._bend = point, None
        return point

    def _keep_bend(self, a: PathPoint, b: PathPoint) -> None:
        length = b.arc - a.arc
        rows, rate = b.way.rows - a.way.rows, b.way.rate - a.way.rate
        self._bend = Direction(rows / length, rate / length)

    # ---- points within a step -------------------------------------------------------------------
    def _reach(self, a: PathPoint, b: PathPoint, to: float) -> PathPoint:
        """Return the point between two neighbouring points at which the parameter is `to`."""
        if b.value == to:
            return b
        stretch = Stretch(self.arc, a, b)
        for _ in range(40):
            (low, first), (high, _) = stretch.ends
            share = stretch.root(to)
            point = stretch.point(share, to)
            if point is not None:
                off = stretch.distance(point.at)
                if low - 0.1 * (high - low) <= off <= high + 0.1 * (high - low):
                    if self._is_bifurcation(point.way):
                        point.way = stretch.tangent(share)
                    return point
            point = stretch.point(share)  # steep there: first come nearer
            if point is None:
                break
            stretch.halve(point, first=(point.value - to) * (first.value - to) > 0.0)
        trouble = self.arc.trouble
        if (point := stretch.predicted(to)) is not None:
            return point
        raise ConvergenceError(
            f"follow({self.arc.name}): the path passes {self.arc.name} = {to:g}, but Newton's "
            f"method finds no equilibrium there: {trouble}",
            reason="DIVERGED_ARC_LENGTH",
            iteration=0,
            time=a.arc,
        )

    # ---- the path -------------------------------------------------------------------------------
    def run(
        self,
        to: float | None,
        steps: int | None,
        until: Callable[[Step], bool] | None,
        largest: float | None,
        smallest: float,
    ) -> None:
        """Go on until the parameter is `to`, `until` says so, or `steps` are made."""
        assert self.point is not None
        most = math.inf if largest is None else largest
        way = abs(self.point.value - to) if to is not None else 0.0
        self.crossings.to = to
        try:
            for _ in range(MAX_STEPS if steps is None else steps):
                if self._along(*self._advance(most, smallest * self.unit), to, until):
                    return
                if to is not None and abs(self.point.value - to) > MAX_PATH_RATIO * max(
                    way, self.unit
                ):
                    raise ConvergenceError(
                        f"follow({self.arc.name}): the path leads away from {self.arc.name} = "
                        f"{to:g}: it is {self.point.value:.7g} now; give direction=1 or -1 to turn "
                        "round, or until= to continue this way",
                        asked=self.arc.name,
                        given=to,
                        reason="AWAY",
                        iteration=0,
                        time=self.point.arc,
                    )
            if to is not None or until is not None:
                goal = f"{self.arc.name} = {to:g}" if to is not None else "what until= waits for"
                raise ConvergenceError(
                    f"follow({self.arc.name}): {goal} was not reached in "
                    f"{MAX_STEPS if steps is None else steps} steps; {self.arc.name} is "
                    f"{self.point.value:.7g}. The history has the path up to there; catch this "
                    "error where `steps` is to end it. The next call continues from there, or, "
                    "with direction=, reverses",
                    asked="steps",
                    given=MAX_STEPS if steps is None else steps,
                    reason="STEPS",
                    iteration=0,
                    time=self.point.arc,
                )
        finally:
            self._remember(self._begin)
            self.arc.put(self.point.at)

    def _along(
        self,
        b: PathPoint,
        crossings: list[Crossing],
        to: float | None,
        until: Callable[[Step], bool] | None,
    ) -> bool:
        """Take the points up to the end of a step; tell whether one of them is the last."""
        a = self.point
        assert a is not None
        points = [b]
        limit = None
        if a.heading != b.heading:
            limit = self._limit_point(a, b, crossings)
            points = [limit, b]
        for point in points:
            assert self.point is not None
            start, end, last = self.point.value, point.value, False
            if to is not None and ((start - to) * (end - to) < 0.0 or start != to == end):
                reached, last = self._reach(self.point, point, to), True
                if reached is not point:
                    reached.negative = _negative(self.point, reached.arc, crossings)
                point = reached
            for crossing in _passed(self.point, point.arc, crossings):
                self._warn(crossing)
            ended = self._take(point, until)
            if point is limit:
                history = self.solver.history
                self._note(limit, a.heading > 0, history._at_point(history._latest()))
            if ended or last:
                return True
        return False

    def _limit_point(self, a: PathPoint, b: PathPoint, crossings: list[Crossing]) -> PathPoint:
        """Return the limit point between two points, with what is stable on both its sides."""
        best = Stretch(self.arc, a, b).limit_point(self.solver.linear.direct)
        after = [c.before.negative for c in crossings if c.before.arc > best.arc]
        behind = after[0] if after else b.negative
        before = _negative(a, best.arc, crossings)
        return PathPoint(best.at, best.arc, best.way, behind, b.heading, True, before)

    def _take(self, point: PathPoint, until: Callable[[Step], bool] | None) -> bool:
        """Bring the system to a point of the path and record it; tell whether it is the last."""
        solver, at, since = self.solver, point.at, self.point
        self._end_at(point)
        if solver.system.memory and since is not None:
            from ..turns import warn_of_turns

            where = f"of the path from {self.arc.name} = {since.value:.6g} to {point.value:.6g}"
            warn_of_turns(solver.system, since.at.state, where, "largest=")
        self.point, self._begin = point, solver.system.snapshot()
        solver.sudden.settle()
        unstable = point.unstable if self.arc.stability.how == "pivots" else None
        step = Step(point.arc, at.iterations, at.linear, at.norms or {}, point.value, unstable)
        solver.record(step)
        solver.interruption.check()
        if until is None:
            return False
        error, ended = None, False
        try:
            ended = bool(until(step))
        except BaseException as caught:
            error = caught
        share_error(solver.system.comm, error)
        return bool(solver.system.comm.allreduce(int(ended)))

    def _end_at(self, point: PathPoint) -> None:
        """Bring the system to a point where the present step ends, and laws remember it."""
        system = self.solver.system
        self._remember(self._stepping)
        self.arc.put(point.at)
        system.accept()

    def _note(self, point: PathPoint, rising: bool, values: dict[str, Array]) -> None:
        self._limits += 1
        kind: Literal["maximum", "minimum"] = "maximum" if rising else "minimum"
        self.solver.history.limit_points.append(
            LimitPoint(point.arc, point.value, kind, values, point.at.state)
        )

    def _warn(self, crossing: Crossing) -> None:
        """Note a bifurcation."""
        self._remember(self._stepping)
        history, number = self.solver.history, crossing.eigenvalues
        point = self.crossings.place(crossing)
        self._end_at(point)
        values = history._at_point()
        history.bifurcations.append(
            LimitPoint(point.arc, point.value, "bifurcation", values, point.at.state, number)
        )
        at_once = f"{number} eigenvalues change their sign at once; " if number > 1 else ""
        self.solver.system.once.warn(
            ("bifurcation", self.arc.name, f"{point.value:.3g}"),
            f"follow({self.arc.name}): the path passes a bifurcation at {self.arc.name} = "
            f"{point.value:.7g}; {at_once}what follows may be unstable. A small imperfection "
            "or disturbing load leads to the other branch",
        )


def _passed(a: PathPoint, to: float, crossings: list[Crossing]) -> list[Crossing]:
    """Return the bifurcations from a point up to an arc length."""
    return [c for c in crossings if a.arc <= c.before.arc < to]


def _negative(a: PathPoint, to: float, crossings: list[Crossing]) -> int | None:
    """Return the negative eigenvalues at an arc length beyond a point, up to a limit point."""
    passed = _passed(a, to, crossings)
    return passed[-1].behind.negative if passed else a.negative

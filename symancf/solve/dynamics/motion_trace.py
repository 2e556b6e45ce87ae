# SPDX-License-Identifier: BSD-3-Clause
"""A motion over the states of its trace: what both ways to its derivatives go over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...assembly.state import StatesOfSteps
from ...errors import ParameterError
from ...runtime.collective import together
from ...values.parameter import Field, Parameter, label
from ..gradients.goal import scaled
from ..gradients.parts import MotionStates
from ..gradients.switch import touches
from ..rates import DIFFERENCE_STEP
from .backward_start import MotionVectors
from .generalized_alpha import GeneralizedAlpha
from .transposed import TransposedStep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...arrays import Array, Mask
    from ...assembly.state import State
    from ..gradients.goal import Goal, GoalAtSteps
    from ..gradients.gradient import Variable
    from ..gradients.trace import Trace
    from .accelerations import Accelerations
    from .directors import Directors
    from .integrator import Integrator
    from .motion import EquationsOfMotion
    from .spin import Spin
    from .steps import Requested


def require_derivatives(motion: EquationsOfMotion, first: State) -> None:
    """Refuse a motion, from its first state on, that is not differentiated (collective).

    Raises
    ------
    ParameterError
    """
    system, names = motion.system, list[str]()
    if first.method["last_step"]:
        names.append("a trace that does not begin where the motion begins")
    if motion.mass.timed or system.redundant.some:
        names.append("masses that are functions of time, redundant constraints")
    _refuse(names)


def _refuse(names: Sequence[str]) -> None:
    if names:
        raise ParameterError(
            f"gradients of motions are not known of: {'; '.join(names)}",
            asked="gradient",
            given=names,
        )


class MotionTrace:
    """The motion of a trace, which goes to its states, with the affine maps of its steps.

    Parameters
    ----------
    accelerations : of the motion; the present one is lost, see `Integrator.restore`.
    integrator : that has made the trace, with `request`.
    rates : those at the start before they were taken to the constraints (owned).
    event : the goal whose zero ends the motion; None: it ends at a time.

    Attributes
    ----------
    free, second, first, owned : masks of coordinates: not prescribed, and of those the ones of
        either order in time; of this rank.
    by_rate : whether forces follow rates.
    remembers : numbers of rows that laws remember, by their forms.
    solver : of linear systems with the tangents of steps.

    Raises
    ------
    ParameterError : the motion has something that is not differentiated yet.
    """

    #: relative: what a step and the one made again from its beginning may differ by
    same = 1e-6
    #: number of states that are looked at together
    most = 256

    def __init__(
        self,
        accelerations: Accelerations,
        integrator: Integrator,
        trace: Trace,
        request: Requested,
        rates: Array,
        event: Goal | None = None,
    ) -> None:
        assert isinstance(integrator, GeneralizedAlpha)
        self.accelerations, self.integrator = accelerations, integrator
        self.motion, self.system = accelerations.motion, accelerations.system
        self.states, self.request, self.start_rates, self.event = trace, request, rates, event
        self.times = trace.times
        self.solver = TransposedStep(accelerations.newton)
        m, numbering = self.motion, self.system.numbering
        self.free = numbering.fixed_by < 0
        self.second, self.first = m.second & self.free, m.first & self.free
        self.owned = np.arange(numbering.coordinates) < numbering.owned
        forms = self.system.forms
        follows = bool(self.motion.damping.stiffness) or any(form.knows_rates for form in forms)
        self.by_rate = self.system.comm.allreduce(follows) > 0
        self.remembers = {
            k: len(form.kernel.memory) for k, form in enumerate(forms) if form.kernel.memory
        }
        self._require()
        self.motion.lead()

    # ---- what there is no derivative of ---------------------------------------------------------
    def _require(self) -> None:
        """Refuse what is not differentiated (collective)."""
        names: list[str] = []
        if len(self.states) < 2:
            names.append("a trace without steps")
        if self.event is not None and touches(self.system):
            names.append("contact in a motion that an event ends")
        if self.states.follows_parameters:
            names.append("a Parameter that was set on the way")
        _refuse(names)

    def require_sections(self, variables: Sequence[Variable]) -> None:
        """Refuse variables that change how the inertia of sections measures turns (collective).

        `Directors` knows of these as numbers; a density changes none of them.
        """
        directors, m, system = self.integrator.directors, self.motion, self.system
        if directors is None or not m.mass.changes:
            return
        for variable in variables:
            if not isinstance(variable, Field | Parameter):
                continue
            name = "values" if isinstance(variable, Field) else "value"
            before, probes = getattr(variable, name), []
            try:
                for part in (0.0, DIFFERENCE_STEP):
                    setattr(variable, name, before * (1.0 + part) if np.any(before) else part)
                    with together(system.comm):
                        m.mass.update(system.time)
                    probes.append(directors.probe())
            finally:
                setattr(variable, name, before)
                with together(system.comm):
                    m.mass.update(system.time)
            change = float(np.abs(probes[1] - probes[0]).max(initial=0.0))
            if system.comm.allreduce(change > 1e-3 * DIFFERENCE_STEP, op=MPI.LOR):
                raise ParameterError(
                    f"the inertia of sections of rods changes its shape with {label(variable)}: "
                    "gradients of motions are known where its parts keep their ratios",
                    asked="parameters",
                    given=label(variable),
                )

    # ---- where the motion is --------------------------------------------------------------------
    def go_to(self, state: State) -> None:
        """Go to a state of the trace, with the loads of its time (collective)."""
        self.integrator.restore(state)
        time = state.time
        first = int(np.searchsorted(self.times, time))
        began = self.times[first - 1] if first else time
        self.motion.span = self.request.span(float(self.times[0]), float(began))
        self.motion.move_to(time)

    def following(self) -> Mask:
        """Return which coordinates follow from the others where a motion begins (collective).

        Pressures of gas, lids, tensions: those that `DiscreteSystem.settle` writes; others stay.
        """
        m, state = self.motion, self.motion.state.copy()
        if not self.system.comm.allreduce(bool(m.settled.any()), MPI.LOR):
            return m.settled
        chosen = m.settled & self.free
        m.state[chosen] += 1.0
        self.system.settle()
        found: Mask = chosen & (np.abs(m.state - state) < 0.5)
        m.state[:] = state
        return found

    def lag(self) -> float:
        """Return how far coordinates are from what follows from the others now (collective).

        Relative to the largest of them; the motion stays.
        """
        m, state = self.motion, self.motion.state.copy()
        if not self.system.comm.allreduce(bool(m.settled.any()), MPI.LOR):
            return 0.0
        self.system.settle()
        chosen = m.settled & self.free
        pairs = (m.state - state)[chosen], m.state[chosen]
        off, size = (float(np.abs(x).max(initial=0.0)) for x in pairs)
        m.state[:] = state
        off, size = (self.system.comm.allreduce(x, op=MPI.MAX) for x in (off, size))
        return float(off / size if size else off)

    def bring(self, n: int) -> bool:
        """Let the states of the step that ends in the n-th one, where the motion is, be in memory.

        Tells whether steps were repeated for that, from where the motion went back (collective).
        """
        repeated = self.states.require_step(n)
        if repeated:
            self.go_to(self.states[n])
        return repeated

    def parts(self, first: int, end: int) -> Iterator[tuple[Sequence[State], int, int]]:
        """Return states that came together, and which of them are some of the trace."""
        while first < end:
            states, begin = self.states.part(first)
            count = min(len(states) - begin, end - first)
            yield states, begin, begin + count
            first += count

    def read(self, first: int, motions: Array) -> None:
        """Write the motions of states from one on (n, 4, coordinates), on one rank."""
        for states, begin, end in self.parts(first, first + len(motions)):
            to, motions = motions[: end - begin], motions[end - begin :]
            if isinstance(states, StatesOfSteps):
                to[:] = states.motions[begin:end]
                continue
            for own, state in zip(to, states[begin:end], strict=True):
                own[:] = state.displacement, *state.rates, state.method["auxiliary"]

    def present(self) -> MotionVectors:
        """Return a copy of the motion."""
        m = self.motion
        return MotionVectors(m.state, m.rate, m.acceleration, self.integrator.auxiliary).copy()

    def show(self, time: float, h: float) -> None:
        """Write what parameters drive at a time, for steps of a length (collective)."""
        kinematics = self.accelerations.kinematics
        self.motion.prescribe(time, h)
        if kinematics.any:
            kinematics.refresh()

    def weights(self, goal: Goal) -> tuple[float, list[float], list[GoalAtSteps]]:
        """Return the value of a goal, its derivatives by its parts, and what these are made of.

        (collective)
        """
        parts = goal.instants(self.times)
        values = [self._at_once(part) for part in parts]
        apart = [part for part, value in zip(parts, values, strict=True) if value is None]
        sums = [0.0] * len(apart)
        for n in sorted({n for part in apart for n in part.numbers.tolist()}):
            self.go_to(self.states[n])
            for k, part in enumerate(apart):
                for weight in part.between(n, n + 1).weights.tolist():
                    sums[k] += weight * part.goal.at_state(self.system)
        found = iter(sums)
        value, *slopes = goal.combined([next(found) if v is None else v for v in values])
        return value, slopes, scaled(parts, slopes)

    def turning(self, state: State) -> tuple[Directors | None, Spin | None]:
        """Return what projects rates at the end of a step; at an event nothing does."""
        if self.event is not None and state.time == self.times[-1]:
            return None, None
        return self.integrator.directors, self.integrator.spin

    def _at_once(self, part: GoalAtSteps) -> float | None:
        """Return the sum of weights times a goal at many states of a small motion; None: apart."""
        small = self.system.numbering.size <= self.solver.small and self.system.comm.size == 1
        numbers, weights, goal = part
        if len(numbers) < 3 or not (small and goal.of_places):
            return None
        total = 0.0
        in_order = numbers[-1] - numbers[0] == len(numbers) - 1
        motions = np.empty((min(len(numbers), self.most), 4, len(self.motion.state)))
        for begin in range(0, len(numbers), self.most):
            some = slice(begin, begin + self.most)
            now = motions[: len(numbers[some])]
            if in_order:
                self.read(int(numbers[begin]), now)
            else:
                for n, own in zip(numbers[some].tolist(), now, strict=True):
                    self.read(n, own[None])
            states = MotionStates(self.times[numbers[some]], now[:, 0], now[:, 1])
            total += float(weights[some] @ goal.values_at(self.system, states))
        return total

    def length(self, state: State) -> float:
        """Return the length of the step that ends in a state."""
        return float(state.method["last_step"]) or self.request.step

    def shares(self, before: State, h: float) -> tuple[float, float]:
        """Return what the jerk at the beginning of a step is added with to rates and to A."""
        c, biased = self.integrator.coefficients, float(before.method["biased"])
        changes = abs(h - biased) > 1e-12 * h and self.accelerations.kinematics.any
        return (c.bias * (h * h - biased**2), c.shift * h) if changes else (0.0, 0.0)

    def biased(
        self, begin: MotionVectors, h: float, last: float, shares: tuple[float, float]
    ) -> MotionVectors:
        """Return from which rates and A a step begins; the system is there (collective)."""
        m, start = self.motion, begin.copy()
        if last and abs(h - last) > 1e-12 * h:
            old = np.where(m.second, start.a, start.v)
            start.A = np.where(m.second | m.first, old + (h / last) * (start.A - old), start.A)
        if any(shares):
            w = self.accelerations.jerk(h)
            if w is not None:
                start.v += shares[0] * w
                start.A += 0.0 if last else shares[1] * w
        return start

    def affine_end(self, start: MotionVectors, x: Array, h: float) -> MotionVectors:
        """Return the motion at the end of a step with the coordinates x there."""
        m, c, integrator = self.motion, self.integrator.coefficients, self.integrator
        rest = 1.0 - c.alpha_f
        base = start.u + h * start.v + h * h * (0.5 - c.beta) * start.A
        base = np.where(m.first, start.u + h * (1.0 - c.theta) * start.A, base)
        r = start.v + h * (1.0 - c.gamma) * start.A
        r = np.where(m.first, (c.delta * start.A - c.alpha_f * start.v) / rest, r)
        b = (c.alpha_m * start.A - c.alpha_f * start.a) / rest
        d = x - base
        end = MotionVectors(
            x, r + m.rate_factor * d, b + m.acceleration_factor * d, integrator.auxiliary_factor * d
        )
        moves = self.second | self.first
        end.v = np.where(moves, end.v, m.rate)
        end.a = np.where(self.second, end.a, m.acceleration)
        end.A = np.where(moves, end.A, integrator.auxiliary)
        return end

    @property
    def round_off(self) -> float:
        """Displacements that are none."""
        return 1e-13 * self.accelerations.newton.size

    def differ(self, end: MotionVectors, now: MotionVectors, which: str) -> float:
        """Return how much a vector of two motions differs, relative to its size (collective)."""
        chosen = self.owned & (self.second if which == "a" else self.second | self.first)
        one, other = getattr(end, which)[chosen], getattr(now, which)[chosen]
        parts = [np.square(one - other).sum(), np.square(other).sum()]
        difference, size = self.system.sum(np.array(parts))
        order = 1 if which == "v" else 2
        nothing = self.round_off / self.request.step**order
        return math.sqrt(difference / (size + (nothing / self.same) ** 2))

    def alike(self, end: MotionVectors, now: MotionVectors, tolerance: float) -> bool:
        """Tell whether two motions have the same rates and accelerations (collective)."""
        return all(self.differ(end, now, which) <= tolerance for which in "vaA")

    def begins_with_rates(self) -> bool:
        """Tell whether the motion begins with the rates given to bodies (collective)."""
        system = self.system
        if not system.start_changes:
            return False
        self.go_to(self.states[0])
        given, size = system.initial_rate()[: system.numbering.owned], self.start_rates
        off = float(np.abs(given - size)[self.free[: len(size)]].max(initial=0.0))
        most = float(np.abs(size).max(initial=0.0))
        return bool(
            system.comm.allreduce(off, op=MPI.MAX)
            <= 1e-12 * system.comm.allreduce(most, op=MPI.MAX)
        )

    def imbalance(self) -> float:
        """Return how far the equations of motion are from equilibrium, relative (collective)."""
        m = self.motion
        f = np.zeros_like(m.state)
        m.residual(f)
        chosen = self.second & self.owned
        size = np.square((f - m.inertia)[self.owned]).sum() + np.square(m.inertia[self.owned]).sum()
        mass = self.solver.mass(np.ones_like(f))
        parts = [np.square(f[chosen]).sum(), size, np.square(mass[chosen]).sum()]
        rest, total, heavy = self.system.sum(np.array(parts))
        nothing = 1e-12 * self.accelerations.newton.size / self.request.step**2  # round-off
        total = max(total, heavy * (nothing / self.same) ** 2)
        return math.sqrt(rest / total) if total else 0.0

# SPDX-License-Identifier: BSD-3-Clause
r"""The generalized-alpha method for constrained motions (index 3).

With the auxiliary acceleration A, one step of length h from t_n to t_{n+1} is

.. math::
    q_{n+1} &= q_n + h v_n + h^2 [(1/2 - \beta) A_n + \beta A_{n+1}], \quad
    v_{n+1} = v_n + h [(1 - \gamma) A_n + \gamma A_{n+1}], \\
    (1 - \alpha_m) A_{n+1} + \alpha_m A_n &= (1 - \alpha_f) a_{n+1} + \alpha_f a_n

(M. Arnold, O. Bruls, Multibody System Dynamics 18, 2007), and for states of first order

.. math::
    s_{n+1} &= s_n + h [(1 - \theta) w_n + \theta w_{n+1}], \\
    (1 - \delta_m) w_{n+1} + \delta_m w_n &= (1 - \alpha_f) \dot s_{n+1} + \alpha_f \dot s_n

(O. Bruls, J.-C. Golinval, ZAMM 86, 2006). All equations hold at t_{n+1}, those of motion with
the true acceleration a. Rates and accelerations are affine in the new coordinates:

    auxiliary = k (x - x*),  rate = r + R (x - x*),  a = b + B (x - x*).
"""

from __future__ import annotations

import math
from ctypes import c_double
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, pointer
from ...assembly.revisions import Review, Verdict
from ...bodies.natural import RigidBody
from ...errors import ConvergenceError
from ...newton.stress_predictor import holds_by_penalties
from ...output.steps import Step
from ...runtime.collective import together
from ...runtime.petsc import PETSc
from .ahead import Ahead
from .directors import Directors
from .initial import after, find_initial_values
from .integrator import REMAINDER_TOLERANCE, SMALLEST_STEP_RATIO, Integrator, end_of_step, fits
from .native import StepRequest
from .spin import Spin
from .timetable import Timetable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...assembly.form import Form
    from ...assembly.state import State
    from .accelerations import Accelerations
    from .interval import Interval
    from .native import Take

SHORT_STEP_RATIO = 1e-2  # of the last step: a shorter one is cut from a step of full length
STEPS_AFTER_FAILURE = 50  # steps after trouble
#: of the last step: after a shorter one rates are taken to the constraints
PROJECTION_STEP_RATIO = 0.4
#: `SHORT_STEP_RATIO` of the length asked for, where no step was made yet
SHORT_FIRST_STEP_RATIO = 1e-3
JUMP_TOLERANCE = 1e-6  # of the forces: an imbalance that Newton's method would not leave
EASY_ITERATIONS = 6  # Newton iterations up to which a step may double
REST_ERROR_RATIO = 1e-3  # of the largest local error: that of a coordinate that does not move


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the method for a spectral radius `rho` at infinite frequency.

    Attributes
    ----------
    shift : A approximates the acceleration at t + shift h; it is rescaled when h changes.
    bias : rates across constraints are off by bias h^2 times the jerk where steps have length h.
    """

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    delta: float
    theta: float
    shift: float
    bias: float

    @classmethod
    def of_radius(cls, rho: float) -> Coefficients:
        """Return the coefficients that damp as little as possible at low frequencies."""
        alpha_m = (2.0 * rho - 1.0) / (rho + 1.0)
        alpha_f = rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        beta = 0.25 * (gamma + 0.5) ** 2
        delta = (3.0 * rho - 1.0) / (2.0 * (rho + 1.0))
        shift = alpha_m - alpha_f
        return cls(
            alpha_m=alpha_m,
            alpha_f=alpha_f,
            beta=beta,
            gamma=gamma,
            delta=delta,
            theta=0.5 + alpha_f - delta,
            shift=shift,
            bias=1.0 / 6.0 - beta - shift / 2.0,
        )


class GeneralizedAlpha(Integrator):
    r"""Makes steps by generalized-alpha; TS's vector holds [q, s, lambda, rates of all].

    Newton's method starts from constant accelerations; for some steps after trouble from
    auxiliary accelerations of zero, because those of modes that the step does not resolve change
    sign. A step that it solves from neither is repeated with half its length, and the length
    grows again. With ``-ts_adapt_type basic`` the length also follows the local
    error of the positions,

    .. math:: e = h^2 |6 \beta - 1| / 6\; |A_{n+1} - A_n|

    (O. C. Zienkiewicz, Y. M. Xie, Earthquake Engng Struct. Dyn. 20, 1991), in the norm of TS:
    the root mean square of e / (atol + rtol |u|) is kept below 1, over the coordinates that move:
    others, as of bodies at rest, would only make the tolerance of the rest larger. What slides
    along bodies or through eyelets has no mass, so that its acceleration may be any: it does not
    count.

    Constraints of positions alone let rates across them be off by `Coefficients.bias` h^2 times
    the jerk w there: in steps of one length this is so at every time, and positions, rates and
    multipliers have order 2. Where the length of steps changes, and at a start, where rates
    fulfil the constraints, rates that are off by the old amount would cost the multipliers an
    order for as long as the method takes to damp that: so the step begins with rates that are
    off by the new one,

    .. math:: v_n + (1/6 - \beta - (\alpha_m - \alpha_f)/2)\, (h^2 - h_{old}^2)\, w

    (starting values of M. Arnold, O. Bruls, A. Cardona, Numerische Mathematik 129, 2015).

    Parameters
    ----------
    rho : spectral radius at infinite frequency, 0 to 1; smaller ones damp what a step does not
        resolve. The option ``-ts_alpha_radius`` goes before it.

    Attributes
    ----------
    auxiliary : the acceleration-like quantity A (second order) and w (first order), local.
    auxiliary_factor : d A / d u, of the present `factors`.
    biased : length of the steps whose bias the rates have; 0: they fulfil the constraints.
    """

    numbers = "last_step", "biased"

    def __init__(self, accelerations: Accelerations, rho: float) -> None:
        super().__init__(accelerations)
        self.rho, motion, native = rho, self.motion, self.newton.native
        n = motion.system.numbering.coordinates
        self.auxiliary: Array = np.zeros(n)
        self.vectors["auxiliary"] = self.auxiliary
        self.auxiliary_factor: Array = np.zeros(n)
        native.state.give(auxiliary=self.auxiliary)
        native.problem.give(auxiliary_factor=self.auxiliary_factor, remainder=REMAINDER_TOLERANCE)
        self.coefficients: Coefficients  # see `attach`
        self.biased = self._usual = 0.0
        self._jerk: Array | None = None
        self._jerk_of: State | None = None
        self._factors_of = 0.0
        self._cut = False  # the rest is cut from a step of full length
        self._failed = False  # the step from here has no solution at full length, in C
        self._again = False  # the usual start of a step of this length has been tried
        self._error = 0.0  # of the last attempt, where it was solved
        rigid = [body for body in motion.system.bodies if isinstance(body, RigidBody)]
        timed = motion.moving or motion.system.assembler.timed
        self.timetable = Timetable(motion, native, self.auxiliary) if timed else None
        self.spin = Spin(accelerations, rigid) if rigid and "spin" in self.newton.uses else None
        turns = "directors" in self.newton.uses and holds_by_penalties(motion.system)
        self.directors = Directors(motion, native) if turns else None

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Look for rigid bodies anew; Newton's method takes up other entities."""
        for kind in (self.spin, self.directors):
            if kind is not None:
                kind.forget()

    # ---- the beginning of a motion --------------------------------------------------------------
    def attach(self, ts: PETSc.TS) -> None:
        """Choose the type of a TS; read ``-ts_alpha_radius``, ``-ts_adapt_type`` (collective).

        Raises
        ------
        ConvergenceError : the radius is not between 0 and 1.
        """
        super().attach(ts)
        options = PETSc.Options(ts.getOptionsPrefix())
        self.rho = options.getReal("ts_alpha_radius", self.rho)
        if not 0.0 <= self.rho <= 1.0:
            raise ConvergenceError(
                f"-ts_alpha_radius {self.rho:g}: it must be between 0 and 1",
                reason="OPTION",
                iteration=0,
            )
        self.coefficients = Coefficients.of_radius(self.rho)
        self.newton.native.problem.give(**asdict(self.coefficients))
        self.adaptive = options.getString("ts_adapt_type", "none") != "none"

    def begin(self, adaptive: bool | None) -> None:
        """Prepare for a motion (collective)."""
        self.adaptive = self.adaptive or bool(adaptive)
        self.ahead = Ahead(self.motion, self.step_length, 0.25) if self.adaptive else None
        self._failed = False

    def started(self) -> None:
        """Take the initial values."""
        m = self.motion
        self.auxiliary[:] = np.where(m.second, m.acceleration, m.rate)
        self.last_step = self.biased = 0.0

    # ---- many steps -----------------------------------------------------------------------------
    def is_steady(self) -> bool:
        """Tell whether C can make the next steps; be ready for that.

        They are like the last one, or the first ones.
        """
        h, native = self.step_length, self.newton.native
        starts = not (self.last_step or self.biased)
        usual = all(abs(h - other) <= 1e-12 * h for other in (self.last_step, self.biased))
        able = native.able and (usual or starts) and not (self.adaptive or self._failed)
        if not able or self.next_step < h or not fits(h, self.end - self.motion.system.time):
            return False
        if self.directors is not None:
            self.directors.lend()
        self.newton.lend_folds()
        if self.spin is not None:
            self.spin.lend(native, self.rho)
        self._lend_start(h, starts)
        self.factors(h)
        self.newton.take(h)
        return True

    def _lend_start(self, h: float, starts: bool) -> None:
        """Let C begin with the rates that have the bias of steps of length h."""
        jerk = self._jerk_at_start(h) if starts else None
        rate, auxiliary = (None, None) if jerk is None else self._biased(h, self.auxiliary, jerk)
        self.newton.native.work.give(first_rate=rate, first_auxiliary=auxiliary)
        if starts:
            self.motion.system.memory.begin(self.motion.system.time)

    def several(
        self, wanted: int, watched: bool, takes: Mapping[StepRequest, Take]
    ) -> tuple[list[Step], BaseException | None]:
        """Make at most `wanted` steps in C where `is_steady`; see `Native.several`.

        Returns them, and what was raised after them. Where a step has no solution at full length
        `step` goes on from there. `watched`: somebody looks at the courses of supports.
        """
        m, h, native, takes = self.motion, self.step_length, self.newton.native, dict(takes)
        table = self.timetable
        if table is not None:
            table.begin(h, self.end, watched)
            takes[StepRequest.PRESENT] = table.sample
            if table.ahead:
                takes.pop(StepRequest.DRIVE, None)
        reason, steps = native.several(self.end, h, wanted, self.calm, takes, not self.last_step)
        if table is not None:
            table.end()
        if steps:
            self.calm = max(0, self.calm - len(steps))
            self.iterations = steps[-1].iterations
            self.linear_iterations = steps[-1].linear_iterations
            self.last_step = self.biased = self._usual = h
            self.next_step = self._next(h)
            self.newton.leftover.warn(f"at time {m.system.time:g}")
            if native.state.folded:
                self.newton.look_at_folds()
            if native.state.turned:
                self._straighten(h)
                m.system.memory.accept_again(m.system.assembler, m.state, m.system.time)
        self._failed, self.review = reason <= 0, Review(Verdict.STANDS)
        if native.state.cut and self.directors is not None:
            self._failed, self.review = True, self.directors.refusal()
        if reason <= 0:
            self.newton.ended, self.newton.tangent.stale = reason, True
        if self._failed or native.state.declined:
            try:
                native.require()
            except BaseException as error:
                return steps, error
        return steps, None

    def go_on(self, step: Step, calm: int, state: Array) -> None:
        """Go on from the present motion, at the end of a step in C, at a state (local vector).

        `calm`: steps for which accelerations are not extrapolated.
        """
        self.calm, self._failed, self.newton.tangent.stale = calm, False, True
        self.iterations, self.linear_iterations = step.iterations, step.linear_iterations
        if self.newton.predicted is not None:
            self.newton.predicted.accept(state)
        self.next_step = self.step_length  # no section has turned far before the last step

    # ---- steps that end at an event -------------------------------------------------------------
    def land_within(self, t: float, interval: Interval) -> None:
        """Make a step from its beginning, where the motion is, that ends at t (collective).

        Rates fulfil constraints to the order of the method only, and a short step carries that,
        divided by its length, into accelerations and multipliers: with constraints its rates are
        taken to these, and accelerations and multipliers follow from the equations with index 1.
        Round-off of positions is divided by the square of the length: where t is very near the
        beginning the motion is that within the whole step, its positions taken to the constraints.
        """
        m, begin, end, h = self.motion, interval.begin, interval.end, t - interval.begin.time
        if h >= SHORT_STEP_RATIO * self._usual and self.ends_at(t, interval):
            return
        self.last_step, share = self._usual, h / interval.length
        interval.show(t)
        before, after = begin.method["auxiliary"], end.method["auxiliary"]
        m.system.numbering.spread((1.0 - share) * before + share * after, self.auxiliary)
        if self.accelerations.kinematics.any:
            self.accelerations.kinematics.refresh()
            self.accelerations.project_positions()
            self._settle(interval)

    def ends_at(self, t: float, interval: Interval) -> bool:
        """Solve the equations of a step that ends at t; tell whether they have a solution.

        From its beginning, where the motion is, see `land_within` (collective).
        """
        h = t - interval.begin.time
        if not self._lands(h):
            return False
        self.last_step = self.biased = h
        self.motion.system.time = t
        if self.accelerations.kinematics.any:
            self._settle(interval)
        return True

    def _settle(self, interval: Interval) -> None:
        """Free rates, accelerations and multipliers of what a short step makes of them.

        A is the acceleration at another time than a, so that multipliers do not swing.
        """
        m = self.motion
        (_, before), (_, after) = interval.begin.rates, interval.end.rates
        change = m.system.numbering.local((after - before) * (self._usual / interval.length))
        find_initial_values(self.accelerations, self._usual, positions=False, warns=False)
        self.started()
        self.auxiliary += np.where(m.second, self.coefficients.shift * change, 0.0)
        self.last_step = self._usual

    def _lands(self, h: float) -> bool:
        """Try a step of a length, from both beginnings."""
        for self._again in (False, True):
            if self.solve(h):
                return True
            assert self.before is not None
            self.go_back(self.before)
            self._begins_otherwise()
        return False

    def _begins_otherwise(self) -> bool:
        """Let the next attempt begin in the other way; tell whether there is one."""
        calms = "calm" in self.newton.uses
        if calms:
            self.calm = 0 if self.calm else STEPS_AFTER_FAILURE
        return calms or self.newton.kinked

    # ---- a step ---------------------------------------------------------------------------------
    def open(self, rest: float) -> None:
        """Begin a step, with so much time left: `next_step` is the length to be tried first."""
        usual = min(self.step_length, self.last_step or self.step_length)
        short = (SHORT_STEP_RATIO if self.last_step else SHORT_FIRST_STEP_RATIO) * usual
        self._again, self._cut = False, rest < short
        if self._cut:
            self.next_step = usual
        else:
            super().open(rest)
        if self._failed:
            newton = self.newton
            self.iterations, self.linear_iterations = newton.iterations, newton.linear_iterations

    def step(self, h: float) -> Step | ConvergenceError:
        """Make a step of a length near h, not beyond `end`, and choose `next_step` (collective)."""
        assert self.before is not None
        system, before, failed = self.motion.system, self.before, self._failed
        self._failed, self._error = False, 0.0
        h, last = (h, False) if self._cut else self.fitted(h)
        self.attempt = h
        if failed or not self.solve(h):
            return self.failure(h)
        self._error = self._local_error() if self.adaptive else 0.0
        if self._error > 1.0:
            return self.failure(h)
        if self._cut:
            self._usual = h
            self.land(self.end, self.interval())
        else:
            self.last_step = self.biased = self._usual = h
            system.time = self.end if last else before.time + h
            last_step = before.method["last_step"]
            if h < PROJECTION_STEP_RATIO * last_step and self.accelerations.kinematics.any:
                self._usual = last_step
                self._settle(self.interval())
        if self.directors is not None:
            self.directors.settle()
        self._straighten(h)
        self.calm = max(0, self.calm - 1)
        self.next_step = self._next(h)
        return Step(system.time, self.iterations, self.linear_iterations, {})

    def _straighten(self, h: float) -> None:
        """Take rates and A to constraints where rigid bodies have turned far (collective)."""
        if self.spin is not None:
            c = self.coefficients
            self.spin.settle(self.auxiliary, h, self.rho, c.bias * self.biased**2, c.shift * h)

    def shorter(self) -> float:
        """Return the length of the next attempt as a part of that of the last one.

        Both ways to begin are tried with each length.
        """
        if self._error > 1.0:
            return max(0.2, 0.9 * float(self._error ** (-1.0 / 3.0)))
        self._again = self._begins_otherwise() and not self._again
        return 1.0 if self._again else super().shorter()

    def factors(self, h: float) -> None:
        """Set the factors of rates and accelerations for steps of length h."""
        if h == self._factors_of:
            return
        self._factors_of = h
        c, m = self.coefficients, self.motion
        m.rate_factor[m.second] = c.gamma / (h * c.beta)
        m.rate_factor[m.first] = (1.0 - c.delta) / ((1.0 - c.alpha_f) * h * c.theta)
        m.acceleration_factor[m.second] = (1.0 - c.alpha_m) / (h * h * c.beta * (1.0 - c.alpha_f))
        self.auxiliary_factor[m.second] = 1.0 / (c.beta * h * h)
        self.auxiliary_factor[m.first] = 1.0 / (h * c.theta)

    def _predict(self, h: float, w: Array | None) -> None:
        """Set the affine map of a step of length h, and a state to begin with.

        `w` : where the bias of rates changes, the jerk at the beginning.
        """
        m = self.motion
        u, v, a, A = m.state, m.rate, m.acceleration, self.auxiliary
        if self.last_step and abs(h - self.last_step) > 1e-12 * h:
            A = np.where(
                m.second, a + (h / self.last_step) * (A - a), v + (h / self.last_step) * (A - v)
            )
        if w is not None:
            v, A = self._biased(h, A, w)
        self.factors(h)
        ahead = not self.calm or self.newton.chooses  # one of the starts
        self.newton.native.call("predict", c_double(h), *map(pointer, (u, v, a, A)), ahead)

    def _biased(self, h: float, A: Array, w: Array) -> tuple[Array, Array]:
        """Return rates, and A, from which a step of another bias begins; w is the jerk."""
        c = self.coefficients
        v = self.motion.rate + c.bias * (h * h - self.biased**2) * w
        return v, A if self.last_step else A + c.shift * h * w

    def _jerk_at_start(self, h: float) -> Array | None:
        """Return what constraints determine of the jerk at the beginning of a step (collective).

        The motion is there, and stays.
        """
        before = self.before
        assert before is not None
        if self._jerk_of is not before:
            self.motion.go_to(before)
            self._jerk, self._jerk_of = self.accelerations.jerk(h), before
            self.go_back(before)
        return self._jerk

    def _begin(self, h: float) -> None:
        """Begin where Newton's method gets nearest, where forces have kinks (collective)."""
        m, newton = self.motion, self.newton
        assert self.before is not None
        before = newton.numbering.local(self.before.displacement)
        if newton.native.able:
            newton.take(h)
            newton.native.choose_start(before, self._again)
            return
        starts = [np.where(m.second, x, m.state) for x in (m.state, newton.base, before)]
        free = newton.numbering.free
        m.state[free] = newton.nearest(starts, h, self._again)[free]

    def solve(self, h: float) -> bool:
        """Solve the equations of a step of length h; tell whether that did it (collective)."""
        m, system, newton, t = self.motion, self.motion.system, self.newton, self.motion.system.time
        jerk = self._jerk_at_start(h) if abs(h - self.biased) > 1e-12 * h else None
        end = end_of_step(t, h, self.end)
        system.revise(end)
        self._predict(h, jerk)
        system.memory.begin(t)
        m.prescribe(end, h)
        if self.newton.chooses:
            self._begin(h)
        converged = self.converges(h)
        if converged and self.directors is not None and self.before is not None:
            self.review = self.directors.require_resolved(self.before)
            converged = self.review.verdict is Verdict.STANDS
        if converged:
            newton.native.call("conclude")
        return converged

    def balanced(self, h: float) -> bool:
        """Tell whether accelerations and multipliers fit the loads right after now (collective).

        They do, to the tolerance of Newton's method, unless a load has jumped.
        """
        m, comm = self.motion, self.newton.comm
        if self.last_step and self.last_step < SMALLEST_STEP_RATIO * h:
            return False  # accelerations of tiny steps are full of round-off
        self.factors(self.last_step or h)
        time = m.system.time
        with together(comm):
            m.system.update(after(time, h))
        share = self.newton.balance.imbalance()
        with together(comm):
            m.system.update(time)
        return share < JUMP_TOLERANCE

    def _next(self, h: float) -> float:
        """Return the length of the next step; small gains are not worth a new tangent."""
        if not self.adaptive:
            growth = 2.0 if self.iterations <= EASY_ITERATIONS else 1.3
            longest = math.inf if self.directors is None else self.directors.longest(h)
            return min(self.step_length, growth * h, longest)
        factor = min(2.0, 0.9 * max(self._error, 1e-6) ** (-1.0 / 3.0))
        return h if 1.0 <= factor < 1.3 else h * factor

    def _local_error(self) -> float:
        """Return the estimated error of this step relative to the tolerances (collective)."""
        c, m, numbering = self.coefficients, self.motion, self.newton.numbering
        h = self._factors_of
        share = abs(6.0 * c.beta - 1.0) / 6.0 + abs(c.shift) / 6.0
        assert self.before is not None
        change = self.auxiliary[: numbering.owned] - self.before.method["auxiliary"]
        e = h * h * share * change
        order = numbering.coordinate_of_row
        has_mass = m.second & ~numbering.those("sliding")
        rows = np.flatnonzero(has_mass[order] & (numbering.fixed_by[order] < 0))
        chosen = order[rows]
        limit = self.atol[rows] + self.rtol * np.abs(m.state[chosen])
        share = np.abs(e[chosen] / limit)
        moving = share > REST_ERROR_RATIO * self.newton.largest(float(share.max(initial=0.0)))
        squares = np.array([np.square(share[moving]).sum(), float(moving.sum())])
        total, count = m.system.sum(squares)
        return math.sqrt(total / count) if count else 0.0

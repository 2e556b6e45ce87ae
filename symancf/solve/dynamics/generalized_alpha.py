# SPDX-License-Identifier: BSD-3-Clause
r"""The generalized-alpha method for constrained motions (index 3) as a PETSc TS.

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

import contextlib
import math
from ctypes import c_double
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, pointer
from ...assembly.revisions import REVISIONS, Review, Verdict
from ...bodies.natural import RigidBody
from ...errors import ConvergenceError
from ...newton.predicted import holds_by_penalties
from ...runtime.collective import together
from ...runtime.petsc import PETSc
from ..solver import reason_name
from .ahead import Ahead
from .directors import Directors
from .explanation import explained
from .initial import after, find_initial_values
from .interval import Interval
from .native import Asked
from .spin import Spin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...assembly.piece import Piece
    from ...assembly.state import State
    from ...output.steps import Step
    from .accelerations import Accelerations
    from .native import Take

SLIVER = 1e-9  # of a step: a remainder that is not worth a step of its own
SHORT = 1e-2  # of the last step: a shorter one is cut from a step of full length
CALM = 50  # steps after trouble
SUDDEN = 0.4  # of the last step: after a shorter one rates are taken to the constraints
SHORT_FIRST = 1e-3  # `SHORT` of the length asked for, where no step was made yet
JUMP = 1e-6  # of the forces: an imbalance that Newton's method would not leave
EASY = 6  # Newton iterations up to which a step may double
RESTS = 1e-3  # of the largest local error: that of a coordinate that does not move
SMALLEST = 1.0 / 1024.0  # of the step asked for: smaller attempts are given up


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the method for a spectral radius `rho` at infinite frequency."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    delta: float
    theta: float

    @classmethod
    def of_radius(cls, rho: float) -> Coefficients:
        """Return the coefficients that damp as little as possible at low frequencies."""
        alpha_m = (2.0 * rho - 1.0) / (rho + 1.0)
        alpha_f = rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        delta = (3.0 * rho - 1.0) / (2.0 * (rho + 1.0))
        return cls(
            alpha_m=alpha_m,
            alpha_f=alpha_f,
            beta=0.25 * (gamma + 0.5) ** 2,
            gamma=gamma,
            delta=delta,
            theta=0.5 + alpha_f - delta,
        )

    def acceleration_factor(self, h: float) -> float:
        """Return B of second-order coordinates: the tangent is B M + R C + K."""
        return (1.0 - self.alpha_m) / (h * h * self.beta * (1.0 - self.alpha_f))

    def rate_factor(self, h: float) -> float:
        """Return R of second-order coordinates."""
        return self.gamma / (h * self.beta)

    def state_factor(self, h: float) -> float:
        """Return R of first-order states."""
        return (1.0 - self.delta) / ((1.0 - self.alpha_f) * h * self.theta)

    @property
    def shift(self) -> float:
        """A approximates the acceleration at t + shift h; it is rescaled when h changes."""
        return self.alpha_m - self.alpha_f

    @property
    def bias(self) -> float:
        """Rates across constraints are off by bias h^2 times the jerk where steps have length h."""
        return 1.0 / 6.0 - self.beta - self.shift / 2.0


class GeneralizedAlpha:
    r"""Context of a TS of type python; its vector U holds [q, s, lambda, rates of all].

    Newton's method starts from constant accelerations; for some steps after trouble from
    auxiliary accelerations of zero, because those of modes that the step does not resolve change
    sign. A step that it solves from neither is repeated with half its length, and the length
    grows again. With ``-ts_adapt_type basic`` the length also follows the local
    error of the positions,

    .. math:: e = h^2 |6 \beta - 1| / 6\; |A_{n+1} - A_n|

    (O. C. Zienkiewicz, Y. M. Xie, Earthquake Engng Struct. Dyn. 20, 1991), in the norm of TS:
    the root mean square of e / (atol + rtol |u|) is kept below 1, over the coordinates that move:
    others, as of bodies at rest, would only make the tolerance of the rest larger.

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
    adaptive : whether the length of steps follows the error.
    auxiliary : the acceleration-like quantity A (second order) and w (first order), local.
    asked : length of steps without trouble; `last_step`: that of the last one, 0 at a start.
    biased : length of the steps whose bias the rates have; 0: they fulfil the constraints.
    calm : steps for which accelerations are not extrapolated.
    error : what a step raised.
    """

    def __init__(self, accelerations: Accelerations, rho: float) -> None:
        self.accelerations, self.rho = accelerations, rho
        motion, newton = accelerations.motion, accelerations.newton
        self.motion, self.newton = motion, newton
        n = motion.system.numbering.coordinates
        self.auxiliary: Array = np.zeros(n)
        self._k: Array = np.zeros(n)
        newton.native.give(newton.native.data, auxiliary=self.auxiliary, auxiliary_factor=self._k)
        self.coefficients: Coefficients  # see `setFromOptions`
        self._before: State | None = None
        self.last_step = self.biased = self._usual = 0.0
        self._jerk: Array | None = None
        self._jerk_of: State | None = None
        self.calm = 0
        # of a step that fails: the next attempt, or none
        self._shorter = 0.5 if "halved" in newton.uses else 0.5 * SMALLEST
        self._factors_of = 0.0
        self._failed = False  # the step from here has no solution at full length
        self.asked, self.longest, self.duration = 0.0, math.inf, 1.0
        self.adaptive = False
        self._ahead: Ahead | None = None
        motion.system.register(self)
        rigid = [body for body in motion.system.bodies if isinstance(body, RigidBody)]
        self.spin = Spin(accelerations, rigid) if rigid and "spin" in newton.uses else None
        turns = "directors" in newton.uses and holds_by_penalties(motion.system)
        self.directors = Directors(motion) if turns else None
        self.error: BaseException | None = None
        self._review = Review(Verdict.STANDS)
        self.rtol, self.atol = 1e-6, np.zeros(0)  # of each row
        self.relative = True  # whether `atol` is by default
        self.iterations = self.linear_iterations = self.rejections = 0

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return A."""
        return [self.auxiliary]

    def relisted(self, changed: Sequence[Piece], rebuilt: bool) -> None:
        """Look for rigid bodies anew; Newton's method takes up other entities."""
        for kind in (self.spin, self.directors):
            if kind is not None:
                kind.forget()

    # ---- as all integrators ---------------------------------------------------------------------
    def attach(self, ts: PETSc.TS) -> None:
        """Make the steps of a TS."""
        ts.setType(PETSc.TS.Type.PYTHON)
        ts.setPythonContext(self)

    def vector(self) -> PETSc.Vec:
        """Return a vector of TS (collective)."""
        numbering = self.newton.numbering
        sizes = 2 * numbering.rows, 2 * numbering.size
        return PETSc.Vec().createMPI(sizes, comm=self.newton.comm)

    def largest(self, h: float) -> float:
        """Return the largest entry on the tangent's diagonal, the scale of multipliers."""
        m = self.motion
        self._factors(h)
        with together(self.newton.comm):
            m.tangent(np.zeros_like(m.state))
        diagonal = m.matrix.mat.getDiagonal().getArray()
        rows = m.second[self.newton.numbering.coordinate_of_row]
        return self.newton.largest(float(np.abs(diagonal[rows]).max(initial=0.0)))

    def begin(self, ts: PETSc.TS, to: float, adaptive: bool | None) -> None:
        """Prepare for a motion to a time."""
        self.adaptive = self.adaptive or bool(adaptive)
        self._ahead = Ahead(self.motion, self.asked, 0.25) if self.adaptive else None
        self.error, self._failed = None, False

    def started(self) -> None:
        """Take the initial values."""
        m = self.motion
        self.auxiliary[:] = np.where(m.second, m.acceleration, m.rate)
        self.last_step = self.biased = 0.0

    def give_up(self) -> None:
        """After a failure: the motion is at the last step that was reached."""

    # ---- what TS calls --------------------------------------------------------------------------
    def setFromOptions(self, ts: PETSc.TS) -> None:
        """Read ``-ts_alpha_radius`` and ``-ts_adapt_type``."""
        options = PETSc.Options(ts.getOptionsPrefix())
        self.rho = options.getReal("ts_alpha_radius", self.rho)
        if not 0.0 <= self.rho <= 1.0:
            self.error = ConvergenceError(
                f"-ts_alpha_radius {self.rho:g}: it must be between 0 and 1",
                reason="OPTION",
                iteration=0,
            )
            return
        self.coefficients = Coefficients.of_radius(self.rho)
        for name, value in asdict(self.coefficients).items():
            setattr(self.newton.native.data, name, value)
        self.adaptive = options.getString("ts_adapt_type", "none") != "none"

    def step(self, ts: PETSc.TS) -> None:
        """Make one step; PETSc does not survive exceptions here, they are kept in `error`."""
        try:
            self._step(ts)
        except BaseException as error:
            self.error = error
            if self._before is not None:
                with contextlib.suppress(Exception):
                    self.motion.move_to(self._before.time)
                self._restore()
            ts.setConvergedReason(PETSc.TS.ConvergedReason.CONVERGED_USER)

    def advance(self, ts: PETSc.TS) -> None:
        """Make one step through TS.

        Raises
        ------
        ConvergenceError : no step was found; the motion is at the beginning of it.
        Exception : what a user's function raised.
        """
        ts.step()
        if self.error is not None:
            raise self.error

    def is_steady(self, ts: PETSc.TS) -> bool:
        """Tell whether C can make the next steps, like the last one; be ready for that."""
        h, system = self.asked, self.motion.system
        usual = all(abs(h - other) <= 1e-12 * h for other in (self.last_step, self.biased))
        if self.adaptive or not usual or not self.newton.native.able or ts.getTimeStep() < h:
            return False
        if self.spin is not None or system.reviews or system.memory:
            return False
        self._factors(h)
        self.newton.take(h)
        return True

    def several(self, ts: PETSc.TS, wanted: int, takes: Mapping[Asked, Take]) -> list[Step]:
        """Make at most `wanted` steps in C where `is_steady`; see `Native.several`.

        What was raised is in `error`; where a step has no solution at full length `advance` goes
        on from there.
        """
        m, h, native = self.motion, self.asked, self.newton.native
        takes = dict(takes)
        if m.moving or m.system.plan.timed or m.mass.timed:
            takes[Asked.PRESENT] = lambda time: m.prescribe(time, h)
        reason, steps = native.several(ts.getMaxTime(), h, wanted, self.calm, takes)
        if steps:
            self.calm = max(0, self.calm - len(steps))
            self.iterations = steps[-1].iterations
            self.linear_iterations = steps[-1].linear_iterations
            self.last_step = self.biased = self._usual = h
            ts.setStepNumber(ts.getStepNumber() + len(steps))
            ts.setTime(m.system.time)
            ts.setTimeStep(self._next(h, 0.0))
            self.newton.leftover.warn(f"at time {m.system.time:g}")
        self._failed, self._review = reason <= 0, Review(Verdict.STANDS)
        if self._failed:
            self.newton.ended, self.newton.tangent.stale = reason, True
            try:
                native.require()
            except BaseException as error:
                self.error = error
                with contextlib.suppress(Exception):
                    m.move_to(m.system.time)
        return steps

    # ---- the vector of TS -----------------------------------------------------------------------
    def write(self, U: PETSc.Vec) -> None:
        """Write the present state and rates into a vector of TS."""
        to_rows, rows = self.newton.numbering.to_rows, self.newton.numbering.rows
        values = U.getArray()
        values[:rows] = to_rows(self.motion.state)
        values[rows:] = to_rows(self.motion.rate)

    # ---- steps that end at an event --------------------------------------------------------------
    def snapshot(self) -> State:
        """Return the present state as a value."""
        auxiliary = self.auxiliary[: self.motion.system.numbering.owned].copy()
        numbers = {"last_step": self.last_step, "biased": self.biased, "calm": self.calm}
        return self.motion.snapshot(method={"auxiliary": auxiliary, **numbers})

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot`; loads stay, and `calm` (collective)."""
        self.motion.restore(state)
        method = state.method
        self.motion.system.numbering.spread(method["auxiliary"], self.auxiliary)
        self.last_step, self.biased = method["last_step"], method["biased"]

    def interval(self) -> Interval:
        """Return the last step."""
        assert self._before is not None
        return Interval(self.motion, self._before, self.snapshot(), False)

    def land(self, t: float, whole: Interval) -> None:
        """Make a step anew so that it ends at t (collective).

        Rates fulfil constraints to the order of the method only, and a short step carries that,
        divided by its length, into accelerations and multipliers: with constraints its rates are
        taken to these, and accelerations and multipliers follow from the equations with index 1.
        Round-off of positions is divided by the square of the length: where t is very near the
        beginning the motion is that within the whole step, its positions taken to the constraints.
        """
        m, begin, end, h = self.motion, whole.begin, whole.end, t - whole.begin.time
        self._before = begin
        self._restore()
        if t >= end.time:
            m.move_to(end.time)
            self.restore(end)
            return
        constrained = self.accelerations.kinematics.any
        if h >= SHORT * self._usual and self._lands(begin.time, h):
            self.last_step = self.biased = h
            m.system.time = t
        else:
            self.last_step, share = self._usual, h / whole.length
            whole.show(t)
            before, after = begin.method["auxiliary"], end.method["auxiliary"]
            between = (1.0 - share) * before + share * after
            m.system.numbering.spread(between, self.auxiliary)
            if constrained:
                self.accelerations.kinematics.refresh()
                self.accelerations.project_positions()
        if constrained:
            self._settle(whole)

    def _settle(self, whole: Interval) -> None:
        """Free rates, accelerations and multipliers of what a short step makes of them.

        A is the acceleration at another time than a, so that multipliers do not swing.
        """
        m = self.motion
        (_, before), (_, after) = whole.begin.rates, whole.end.rates
        change = m.system.numbering.local((after - before) * (self._usual / whole.length))
        find_initial_values(self.accelerations, self._usual, positions=False, told=False)
        self.started()
        self.auxiliary += np.where(m.second, self.coefficients.shift * change, 0.0)
        self.last_step = self._usual

    def _lands(self, t: float, h: float) -> bool:
        """Try a step of a length, from both beginnings."""
        for again in (False, True):
            if self._try(t, h, again):
                return True
            self._restore()
            self._begins_otherwise(again)
        return False

    def _begins_otherwise(self, tried: bool) -> bool:
        """After a failure let the next attempt begin in the other way; tell whether it is new.

        `tried`: both have been tried.
        """
        calms = "calm" in self.newton.uses
        if calms:
            self.calm = 0 if self.calm else CALM
        return not tried and (calms or self.newton.kinked)

    # ---- a step ---------------------------------------------------------------------------------
    def _restore(self) -> None:
        """Go back to the beginning of the step; terms know what was tried."""
        assert self._before is not None
        tried = self.motion.system.variables
        self.restore(self._before)
        self.motion.system.learn(tried)

    def _factors(self, h: float) -> None:
        """Set the factors of rates and accelerations for steps of length h."""
        if h == self._factors_of:
            return
        self._factors_of = h
        c, m = self.coefficients, self.motion
        m.rate_factor[m.second] = c.rate_factor(h)
        m.rate_factor[m.first] = c.state_factor(h)
        m.acceleration_factor[m.second] = c.acceleration_factor(h)
        self._k[m.second] = 1.0 / (c.beta * h * h)
        self._k[m.first] = 1.0 / (h * c.theta)

    def _predict(self, h: float, w: Array | None) -> None:
        """Set the affine map of a step of length h, and a state to begin with.

        `w` : where the bias of rates changes, the jerk at the beginning.
        """
        c, m = self.coefficients, self.motion
        u, v, a, A = m.state, m.rate, m.acceleration, self.auxiliary
        if self.last_step and abs(h - self.last_step) > 1e-12 * h:
            A = np.where(
                m.second, a + (h / self.last_step) * (A - a), v + (h / self.last_step) * (A - v)
            )
        if w is not None:
            v = v + c.bias * (h * h - self.biased**2) * w
            A = A if self.last_step else A + c.shift * h * w
        self._factors(h)
        self.newton.native.call("predict", c_double(h), *map(pointer, (u, v, a, A)), not self.calm)

    def _jerk_at_start(self, h: float) -> Array | None:
        """Return what constraints determine of the jerk at the beginning of a step (collective).

        The motion is there, and stays.
        """
        before = self._before
        assert before is not None
        if self._jerk_of is not before:
            self.motion.go_to(before)
            self._jerk, self._jerk_of = self.accelerations.jerk(h), before
            self._restore()
        return self._jerk

    def _begin(self, h: float, again: bool) -> None:
        """Begin where Newton's method gets nearest in a step, where forces have kinks (collective).

        `again`: the nearest one has been tried.
        """
        m, newton = self.motion, self.newton
        assert self._before is not None
        ahead = newton.base + self.coefficients.beta * h * h * m.acceleration
        before = newton.numbering.local(self._before.displacement)
        starts = [np.where(m.second, x, m.state) for x in (ahead, newton.base, before)]
        free = newton.numbering.free
        m.state[free] = starts[newton.nearest(starts, h)[int(again)]][free]

    def _try(self, t: float, h: float, again: bool = False) -> bool:
        m, system, newton = self.motion, self.motion.system, self.newton
        jerk = self._jerk_at_start(h) if abs(h - self.biased) > 1e-12 * h else None
        system.revise(t + h)
        self._predict(h, jerk)
        m.system.memory.begin(t)
        m.prescribe(t + h, h)
        if newton.kinked and newton.numbering.size and "nearest" in newton.uses:
            self._begin(h, again)
        for _ in range(REVISIONS):
            converged = newton.solve_step(h)
            self.iterations += newton.iterations
            self.linear_iterations += newton.linear_iterations
            self._review = system.review(t + h) if converged else Review(Verdict.STANDS)
            if self._review.verdict is not Verdict.AGAIN:
                break
            with together(newton.comm):
                system.update(t + h)
        converged = converged and self._review.verdict is Verdict.STANDS
        if converged and self.directors is not None and self._before is not None:
            self._review = self.directors.require_resolved(self._before)
            converged = self._review.verdict is Verdict.STANDS
        if converged:
            newton.native.call("conclude")
        return converged

    def _step(self, ts: PETSc.TS) -> None:
        t, end = ts.getTime(), ts.getMaxTime()
        before = self._before = self.snapshot()
        left = end - t
        usual = min(self.asked, self.last_step or self.asked)
        if left < (SHORT if self.last_step else SHORT_FIRST) * usual:
            h, error, _ = self._search(t, math.inf, usual)
            self._usual = h
            self.land(end, self.interval())
        else:
            h = min(ts.getTimeStep(), self.longest)
            if not self.adaptive:
                h = min(h, self.asked)  # after an event TS asks for a step of its own
            if self._ahead is not None:
                h = self._ahead.limit(t, min(h, left))
            h, error, last = self._search(t, end, h)
            self.last_step = self.biased = self._usual = h
            self.motion.system.time = end if last else t + h
            last_step = before.method["last_step"]
            if h < SUDDEN * last_step and self.accelerations.kinematics.any:
                self._usual = last_step
                self._settle(self.interval())
        if self.directors is not None:
            self.directors.settle(self.auxiliary)
        if self.spin is not None:
            c = self.coefficients
            self.spin.settle(self.auxiliary, h, self.rho, c.bias * self.biased**2, c.shift * h)
        self.calm = max(0, self.calm - 1)
        self.write(ts.getSolution())
        ts.setTime(self.motion.system.time)
        ts.setTimeStep(self._next(h, error))

    def _search(self, t: float, end: float, h: float) -> tuple[float, float, bool]:
        """Solve a step of length h, or the next shorter one that can be solved.

        Returns its length, its local error and whether it reaches the end.
        """
        smallest = self.asked * SMALLEST
        newton, tried = self.newton, False
        failed, self._failed = self._failed, False  # in `several`
        taken = (newton.iterations, newton.linear_iterations) if failed else (0, 0)
        self.iterations, self.linear_iterations = taken
        while True:
            left = end - t
            last = left <= h * (1.0 + SLIVER)
            if last and abs(left - h) > SLIVER * h:
                h = left
            elif not last and left < 1.2 * h:  # two halves: no short step at the end
                h = 0.5 * left
            if not failed and self._try(t, h, tried):
                error = self._local_error() if self.adaptive else 0.0
                if error <= 1.0:
                    return h, error, last
                factor = max(0.2, 0.9 * error ** (-1.0 / 3.0))
            else:
                tried = self._begins_otherwise(tried)
                factor = 1.0 if tried else self._shorter  # both ways to begin with each length
            self.rejections += 1
            failed = False
            self._restore()
            h *= factor
            if h < smallest:
                raise self._failure(t, h / factor)

    def _failure(self, t: float, h: float) -> ConvergenceError:
        """Return the error of a step from t of which no part of length h has a solution."""
        name, text = reason_name(self.newton.snes, self.newton.ended)
        text += self.newton.linear.told
        refused: Sequence[str] = ()
        if self._review.verdict is not Verdict.STANDS:
            name, text, refused = "REVIEW", str(self._review), self._review.names
        text = f"no solution of a time step of {h:.3g} from t = {t:g}: {text}"
        error = ConvergenceError(text, reason=name, iteration=self.newton.iterations, time=t)
        return explained(
            self.motion,
            error,
            to=self.motion.span[1],
            step=self.asked,
            tried=h,
            outside=self.newton.outside,
            refused=refused,
        )

    def balanced(self, h: float) -> bool:
        """Tell whether accelerations and multipliers fit the loads right after now (collective).

        They do, to the tolerance of Newton's method, unless a load has jumped.
        """
        m, comm = self.motion, self.newton.comm
        if self.last_step and self.last_step < SMALLEST * h:
            return False  # accelerations of tiny steps are full of round-off
        self._factors(self.last_step or h)
        time = m.system.time
        with together(comm):
            m.system.update(after(time, h))
        share = self.newton.balance.imbalance()
        with together(comm):
            m.system.update(time)
        return share < JUMP

    def resume(self, ts: PETSc.TS) -> None:
        """Go on from the present motion, which something else than a step has changed."""
        self.write(ts.getSolution())
        self.newton.tangent.stale = True

    def _next(self, h: float, error: float) -> float:
        """Return the length of the next step; small gains are not worth a new tangent."""
        if not self.adaptive:
            growth = 2.0 if self.iterations <= EASY else 1.3
            longest = math.inf if self.directors is None else self.directors.longest(h)
            return min(self.asked, growth * h, longest)
        factor = min(2.0, 0.9 * max(error, 1e-6) ** (-1.0 / 3.0))
        return h if 1.0 <= factor < 1.3 else h * factor

    def _local_error(self) -> float:
        """Return the estimated error of this step relative to the tolerances (collective)."""
        c, m, numbering = self.coefficients, self.motion, self.newton.numbering
        h = self._factors_of
        share = abs(6.0 * c.beta - 1.0) / 6.0 + abs(c.shift) / 6.0
        assert self._before is not None
        change = self.auxiliary[: numbering.owned] - self._before.method["auxiliary"]
        e = h * h * share * change
        order = numbering.coordinate_of_row
        rows = np.flatnonzero(m.second[order] & (numbering.fixed_by[order] < 0))
        chosen = order[rows]
        limit = self.atol[rows] + self.rtol * np.abs(m.state[chosen])
        share = np.abs(e[chosen] / limit)
        moving = share > RESTS * self.newton.largest(float(share.max(initial=0.0)))
        squares = np.array([np.square(share[moving]).sum(), float(moving.sum())])
        total, count = m.system.sum(squares)
        return math.sqrt(total / count) if count else 0.0

# SPDX-License-Identifier: BSD-3-Clause
"""The generalized-alpha method for constrained motions (index 3) as a PETSc TS."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..collective import together
from ..errors import ConvergenceError
from ..interruption import Interruption
from ..petsc import PETSc
from ..solver import reason_name
from .coefficients import Coefficients

if TYPE_CHECKING:
    from .motion import Motion
    from .newton import Newton

Array = npt.NDArray[np.float64]

SLIVER = 1e-9  # of a step: a remainder that is not worth a step of its own
EASY = 6  # Newton iterations up to which a step may double
CALM = 50  # steps after trouble
SMALLEST = 1.0 / 1024.0  # of the step asked for: smaller attempts are given up


class GeneralizedAlpha:
    r"""Context of a TS of type python; its vector U holds [q, s, lambda, rates of all].

    Newton's method starts from constant accelerations; for some steps after trouble from
    auxiliary accelerations of zero, because those of modes that the step does not resolve change
    sign. A step that it solves from neither is repeated with half its length, and the length
    grows again. With ``-ts_adapt_type basic`` the length also follows the local
    error of the positions,

    .. math:: e = h^2 |6 \beta - 1| / 6\; |A_{n+1} - A_n|

    (O. C. Zienkiewicz, Y. M. Xie, Earthquake Engng Struct. Dyn. 20, 1991), in the norm of TS:
    the root mean square over coordinates of e / (atol + rtol |u|) is kept below 1.

    Parameters
    ----------
    rho : spectral radius at infinite frequency, 0 to 1; smaller ones damp what a step does not
        resolve. The option ``-ts_alpha_radius`` goes before it.

    Attributes
    ----------
    auxiliary : the acceleration-like quantity A (second order) and w (first order), local.
    asked : length of steps without trouble; `last_step`: that of the last one.
    calm : steps for which accelerations are not extrapolated.
    error : what a step raised; PETSc does not survive exceptions there.
    """

    def __init__(self, motion: Motion, newton: Newton, rho: float) -> None:
        self.motion, self.newton, self.rho = motion, newton, rho
        self.coefficients = Coefficients.of_radius(rho)
        n = motion.system.numbering.coordinates
        every = bool(motion.second.all())  # whole arrays are much faster than chosen parts
        self._second: Any = slice(None) if every else np.flatnonzero(motion.second)
        self._any_first = bool(motion.first.any())
        self.auxiliary: Array = np.zeros(n)
        self._k: Array = np.zeros(n)
        self._before: tuple[Array, ...] = ()
        self._trying: float | None = None  # the time from which a step has begun
        self.last_step = 0.0
        self.calm = 0
        self._factors_of = 0.0
        self.asked = 0.0
        self.adaptive = False
        self.interruption = Interruption(newton.comm)
        self.error: BaseException | None = None
        self.iterations = self.linear_iterations = self.rejections = 0

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
        self.error = self._trying = None

    def started(self) -> None:
        """Take the initial values."""
        m = self.motion
        self.auxiliary[:] = np.where(m.second, m.acceleration, m.rate)

    def give_up(self) -> None:
        """Go back to the last step that was reached."""
        if self._trying is not None:
            self._restore()
            self.motion.system.time, self._trying = self._trying, None

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
        self.adaptive = options.getString("ts_adapt_type", "none") != "none"

    def step(self, ts: PETSc.TS) -> None:
        """Make one step; an error, here or in a monitor, ends the run and is kept in `error`."""
        try:
            if self.error is None:
                self.interruption.check()
                self._step(ts)
        except BaseException as error:
            self.error = error
        if self.error is not None:
            ts.setConvergedReason(PETSc.TS.ConvergedReason.CONVERGED_USER)

    def rollback(self, ts: PETSc.TS) -> None:
        """Go back to the beginning of the last step."""
        try:
            self._restore()
            self.write(ts.getSolution())
        except BaseException as error:
            self.error = self.error or error

    def interpolate(self, ts: PETSc.TS, t: float, U: PETSc.Vec) -> None:
        """Write the solution within the last step: a cubic in positions and its derivative."""
        try:
            h = self.last_step
            s = (t - (ts.getTime() - h)) / h
            u0, v0 = self._before[0], self._before[1]
            u1, v1 = self.motion.state, self.motion.rate
            smooth = self.motion.second | self.motion.first
            u = np.where(
                smooth,
                (1 + 2 * s) * (1 - s) ** 2 * u0
                + s * (1 - s) ** 2 * h * v0
                + s * s * (3 - 2 * s) * u1
                + s * s * (s - 1) * h * v1,
                (1 - s) * u0 + s * u1,
            )
            v = 6 * s * (s - 1) * (u0 - u1) / h + (1 - s) * (1 - 3 * s) * v0 + s * (3 * s - 2) * v1
            self.write(U, u, np.where(smooth, v, 0.0))
        except BaseException as error:
            self.error = self.error or error

    # ---- the vector of TS -----------------------------------------------------------------------
    def write(self, U: PETSc.Vec, state: Array | None = None, rate: Array | None = None) -> None:
        """Write state and rates, default: the present ones, into a vector of TS."""
        to_rows = self.newton.numbering.to_rows
        rows = self.newton.numbering.rows
        values = U.getArray()
        values[:rows] = to_rows(self.motion.state if state is None else state)
        values[rows:] = to_rows(self.motion.rate if rate is None else rate)

    def read(self, U: PETSc.Vec) -> None:
        """Take state and rates from a vector of TS that an event changed."""
        newton, m = self.newton, self.motion
        rows = newton.numbering.rows
        values = U.getArray(readonly=True)
        for part, local in ((values[:rows], m.state), (values[rows:], m.rate)):
            newton.x.setArray(part)
            newton.vectors.to_local(newton.x, local)

    # ---- a step ---------------------------------------------------------------------------------
    def _keep(self) -> None:
        m = self.motion
        self._before = (
            m.state.copy(),
            m.rate.copy(),
            m.acceleration.copy(),
            self.auxiliary.copy(),
        )

    def _restore(self) -> None:
        m = self.motion
        for target, source in zip(
            (m.state, m.rate, m.acceleration, self.auxiliary), self._before, strict=True
        ):
            target[:] = source

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

    def _predict(self, h: float) -> None:
        """Set the affine map of a step of length h, and a state to begin with."""
        c, m, newton = self.coefficients, self.motion, self.newton
        u, v, a, A = self._before
        if self.last_step and abs(h - self.last_step) > 1e-12 * h:
            A = np.where(
                m.second, a + (h / self.last_step) * (A - a), v + (h / self.last_step) * (A - v)
            )
        self._factors(h)
        second = self._second
        newton.base[:] = u
        newton.base_rate[:] = 0.0
        newton.base_acceleration[:] = 0.0
        newton.base[second] += h * v[second] + h * h * (0.5 - c.beta) * A[second]
        newton.base_rate[second] = v[second] + h * (1.0 - c.gamma) * A[second]
        newton.base_acceleration[second] = (c.alpha_m * A[second] - c.alpha_f * a[second]) / (
            1.0 - c.alpha_f
        )
        m.state[second] = newton.base[second]
        if not self.calm:
            m.state[second] += h * h * c.beta * a[second]
        if self._any_first:
            first = m.first
            newton.base[first] += h * (1.0 - c.theta) * A[first]
            newton.base_rate[first] = (c.delta * A[first] - c.alpha_f * v[first]) / (
                1.0 - c.alpha_f
            )
            m.state[first] = u[first] + h * v[first]

    def _try(self, t: float, h: float) -> bool:
        m = self.motion
        self._predict(h)
        m.prescribe(t + h, h)
        converged = self.newton.solve(h)
        snes = self.newton.snes
        self.iterations += snes.getIterationNumber()
        self.linear_iterations += snes.getLinearSolveIterations()
        if converged:
            np.subtract(m.state, self.newton.base, out=self.auxiliary)
            self.auxiliary *= self._k
        return converged

    def _step(self, ts: PETSc.TS) -> None:
        t, end = ts.getTime(), ts.getMaxTime()
        self._keep()
        self._trying = t
        h = ts.getTimeStep()
        if not self.adaptive:
            h = min(h, self.asked)  # after an event TS asks for a step of its own
        smallest = self.asked * SMALLEST
        self.iterations = self.linear_iterations = 0
        tried = False
        while True:
            left = end - t
            last = left <= h * (1.0 + SLIVER)
            if last and abs(left - h) > SLIVER * h:
                h = left
            elif not last and left < 1.2 * h:  # two halves: no short step at the end
                h = 0.5 * left
            if self._try(t, h):
                error = self._local_error() if self.adaptive else 0.0
                if error <= 1.0:
                    break
                factor = max(0.2, 0.9 * error ** (-1.0 / 3.0))
            else:
                self.calm = 0 if self.calm else CALM
                tried = not tried
                factor = 1.0 if tried else 0.5  # both ways to begin with each length
            self.rejections += 1
            self._restore()
            h *= factor
            if h < smallest:
                name, text = reason_name(self.newton.snes)
                raise ConvergenceError(
                    f"no solution of a time step of {h / factor:.3g} from t = {t:g}: {text}",
                    reason=name,
                    iteration=self.newton.snes.getIterationNumber(),
                    time=t,
                )
        self.last_step, self._trying = h, None
        self.calm = max(0, self.calm - 1)
        self.write(ts.getSolution())
        ts.setTime(end if last else t + h)
        ts.setTimeStep(self._next(h, error))

    def _next(self, h: float, error: float) -> float:
        """Return the length of the next step; small gains are not worth a new tangent."""
        if not self.adaptive:
            return min(self.asked, (2.0 if self.iterations <= EASY else 1.3) * h)
        factor = min(2.0, 0.9 * max(error, 1e-6) ** (-1.0 / 3.0))
        return h if 1.0 <= factor < 1.3 else h * factor

    def _local_error(self) -> float:
        """Return the estimated error of this step relative to the tolerances (collective)."""
        c, m, numbering = self.coefficients, self.motion, self.newton.numbering
        h = self._factors_of
        share = abs(6.0 * c.beta - 1.0) / 6.0 + abs(c.shift) / 6.0
        e = h * h * share * (self.auxiliary - self._before[3])
        chosen = numbering.free_owned[m.second[numbering.free_owned]]
        limit = self.atol + self.rtol * np.abs(m.state[chosen])
        squares = np.array([np.square(e[chosen] / limit).sum(), float(len(chosen))])
        total, count = m.system.sum(squares)
        return math.sqrt(total / count) if count else 0.0

    atol = rtol = 1e-6

    def vectors(self) -> dict[str, Any]:
        """Return what a restart needs beside the state and its rate."""
        return {"acceleration": self.motion.acceleration, "auxiliary": self.auxiliary}

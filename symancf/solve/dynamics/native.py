# SPDX-License-Identifier: BSD-3-Clause
"""Steps in C: the numbers that it works on, Newton's method of small motions, many steps."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...arrays import Data, address
from ...assembly.plan import CODE
from ...newton import FACTORS, LEAST, SMALL
from ...output.steps import Step
from ...runtime import jit
from ...runtime.collective import reduced, share_error
from ...runtime.interruption import pending
from ...runtime.log import EVENTS
from ...runtime.petsc import NOT_FINITE, PETSc, functions, loosely
from ...runtime.structures import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from .newton import Newton

    Take = Callable[[float], None]

#: A question of C: what, and the number of the iteration. See `Asked`.
Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)

#: Sums or largest values of all ranks: place and number of values, whether the largest are wanted.
Reduce = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int)


class Asked(IntEnum):
    """What C asks of Python; answers are numbers.

    RENEW: make the tangent; 0: done. JUDGE: the reason to stop, 0 to go on. SETTLED: whether
    nothing soft is hidden. PARTS: take the forces in parts; 0: done. PRESENT: take what is a
    function of time, DRIVE: likewise of what does work; 0: done.
    """

    RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE = range(6)


_HERE = Path(__file__)
_FOUND = declared(_HERE.with_name("steps.h"), symancf_ask=Ask, symancf_reduce=Reduce)

FREE = ("rtol", "stol", "max_it")  # options of SNES that are followed in C, too
SAME = {"type": "newtonls", "linesearch_type": "basic"}  # likewise, and as they are

_FUNCTIONS = {
    "ksp_solve": "KSPSolve",
    "ksp_iterations": "KSPGetIterationNumber",
    "ksp_reason": "KSPGetConvergedReason",
    "vector_get": "VecGetArray",
    "vector_restore": "VecRestoreArray",
}


PAUSE = 0.1  # s, between two looks whether somebody wants to interrupt
MOST = 10_000  # steps at once
SIMPLE = 1000  # iterations that C judges alone


class Native:
    """Steps of one motion in C, on this rank: `Newton` without the time that Python takes.

    Its iterations are those of SNES with whole steps, with the same tangents, factors and test of
    the end; C asks for the tangent, and where residuals may be round-off. It makes them on one
    rank with a direct solver, where forces have no kinks (contact), Rayleigh's damping has no part
    of the stiffness, and nobody has changed SNES by options, monitors or tests of his own. The
    test and the life of a tangent are those of SNES's iterations, too.

    Attributes
    ----------
    data : ``symancf_motion``; Python works on its `balance` and `tangent`, too.
    able : whether iterations are made in C.
    """

    def __init__(self, newton: Newton) -> None:
        self.newton, self.able = newton, False
        self._library = jit.load_runtime(_HERE.with_name("steps.c"), comm=newton.comm)
        self.data = _FOUND["symancf_motion"]()
        self._motion, self._held = ctypes.byref(self.data), dict[str, Data]()
        self._answer, self._reduce = Ask(loosely(self._answers)), Reduce(loosely(self._reduced))
        self._takes: Mapping[Asked, Take] = {}
        self._rushes = False
        self._times, self._counts = np.zeros(0), np.zeros((2, 0), np.int32)
        m, data, give = newton.motion, self.data, self.give
        data.coordinates, data.damping = len(m.state), m.damping.mass
        give(data, np.uint8, order=np.where(m.second, 2, np.where(m.first, 1, 0)))
        give(data, state=m.state, rate=m.rate, acceleration=m.acceleration)
        give(data, rate_factor=m.rate_factor, acceleration_factor=m.acceleration_factor)
        give(data, base=newton.base, base_rate=newton.base_rate)
        give(data, base_acceleration=newton.base_acceleration)

    def call(self, name: str, *given: Any) -> int:
        """Return what a function of steps.c returns."""
        return int(getattr(self._library, f"symancf_{name}")(self._motion, *given))

    def give(
        self, where: ctypes.Structure, kind: npt.DTypeLike = np.float64, **arrays: npt.ArrayLike
    ) -> None:
        """Put the addresses of arrays into a structure, of copies where the type is another."""
        for name, values in arrays.items():
            held = self._held[f"{type(where).__name__}.{name}"] = np.ascontiguousarray(values, kind)
            setattr(where, name, address(held))

    # ---- whether, and with what -----------------------------------------------------------------
    def begin(self) -> None:
        """See whether C can do it, and tell it what to work on."""
        self.describe()
        self.able = self._is_able()
        if self.able:
            self._lend()

    def _is_able(self) -> bool:
        newton, system = self.newton, self.newton.system
        if newton.comm.size > 1 or not newton.numbering.size or system.changing:
            return False
        if newton.predicted is not None or newton.kinked or newton.motion.damping.stiffness:
            return False
        if newton.aids:
            return False
        ksp = newton.snes.getKSP()
        direct = ksp.getType() == "preonly" and ksp.getPC().getType() in FACTORS
        return direct and newton.watches_alone() and self._has_usual_options(newton.snes)

    def _has_usual_options(self, snes: PETSc.SNES) -> bool:
        start = (snes.getOptionsPrefix() or "") + "snes_"
        given = PETSc.Options().getAll()
        own = {name.removeprefix(start): v for name, v in given.items() if name.startswith(start)}
        if snes.getTolerances()[1] == 0.0:
            own.pop("atol", None)
        return all(name in FREE or SAME.get(name) == value for name, value in own.items())

    def describe(self) -> None:
        """Tell C of rows and unknowns, which may be others now, whoever makes the iterations."""
        newton, data, give = self.newton, self.data, self.give
        numbering, balance, leftover = newton.numbering, newton.balance, newton.leftover
        rows, constraints = balance.rows, balance.constraints
        data.rows, data.held_count = numbering.rows, len(numbering.held_rows)
        data.constraints, data.constrained = len(constraints.rows), constraints.any
        fixed = np.flatnonzero(numbering.fixed_by >= 0)
        data.fixed_count = len(fixed)
        give(data, np.int64, fixed=fixed)
        give(data, np.int64, coordinate=numbering.coordinate_of_row, held=numbering.held_rows)
        give(data, np.int64, row_class=rows.of_row, row_part=rows.row_part)
        give(data, np.int64, constraint=constraints.rows)
        give(data, limits=constraints.limits, unit=leftover.unit)
        give(data, np.uint8, row_moves=leftover.moves)
        give(data, f=newton.f, inertia=newton.motion.inertia)
        give(data, scratch=np.zeros(2 * max(rows.count, rows.parts, 1)))
        data.small, data.least_motion = SMALL, LEAST
        data.ask = self._answer
        if newton.comm.size > 1:
            data.reduce = self._reduce
        self._old = np.zeros(numbering.rows)
        give(data, old=self._old)
        for name, vector in (("x", newton.x), ("F", newton.F)):
            setattr(data, name, address(vector.getArray(readonly=True)))

    def _lend(self) -> None:
        """Tell C of the functions of plans and of PETSc."""
        newton, data, give = self.newton, self.data, self.give
        n, plan, ksp = len(newton.f), newton.system.plan, newton.snes.getKSP()
        give(data, moved=np.zeros(n), kept=np.zeros((4, n)))
        data.evaluate, data.residual = plan.evaluate, CODE["residual"]
        data.wide = np.dtype(PETSc.IntType).itemsize == 8
        self._step = newton.x.duplicate()
        data.step = address(self._step.getArray(readonly=True))
        data.ksp = ksp.handle
        data.vector_F, data.vector_step = newton.F.handle, self._step.handle
        for name, function in _FUNCTIONS.items():
            place = ctypes.cast(getattr(functions, function), ctypes.c_void_p)
            setattr(data, name, place.value)

    def prepare(self) -> None:
        """Take what may have changed since the last call."""
        newton, data = self.newton, self.data
        rtol, _, stol, most = newton.snes.getTolerances()
        data.most = min(most, np.iinfo(np.int32).max)
        newton.balance.tolerate(rtol, stol, min(most, SIMPLE))
        newton.error, data.pause, data.looked = None, False, False
        data.exact = newton.snes.getKSP().getPC().getType() in FACTORS
        newton.leftover.begin()
        self._choose_plans()

    def _choose_plans(self) -> None:
        self.data.plan = self.newton.system.plan.structure
        self.data.mass = self.newton.motion.mass.structure

    # ---- solutions ------------------------------------------------------------------------------
    def solve(self) -> int:
        """Solve the equations of a step from the present state; return PETSc's reason.

        Raises
        ------
        ConvergenceError : the linear solver has failed with an error.
        Exception : what was raised on the way.
        """
        self.prepare()
        with EVENTS["steps"]:
            reason = self.call("newton")
        self.require()
        return reason

    def require(self) -> None:
        """Raise what went wrong in C; note what the last solution took."""
        newton, data = self.newton, self.data
        newton.iterations, newton.linear_iterations = data.iterations, data.linear_iterations
        for thrown in (newton.error, newton.linear.error):
            share_error(newton.comm, thrown)
        if data.error < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        if data.error:
            error = PETSc.Error(data.error)
            raise newton.unsolved(error) from error

    def several(
        self, end: float, h: float, wanted: int, calm: int, takes: Mapping[Asked, Take]
    ) -> tuple[int, list[Step]]:
        """Make at most `wanted` steps of length h, none that ends within h/5 of `end`.

        Returns PETSc's reason, not above 0 where the motion stands before a step that could not
        be made, and the steps. It takes little more than `PAUSE` s. What was raised is kept: see
        `require`.

        Parameters
        ----------
        calm : steps yet for which accelerations are not extrapolated; see `GeneralizedAlpha`.
        takes : by `PRESENT` and `DRIVE`, what takes functions of time at the end of a step; none
            where nothing is one.
        """
        data, system = self.data, self.newton.system
        wanted = min(wanted, MOST)
        if len(self._times) < wanted:
            self._times, self._counts = np.zeros(wanted), np.zeros((2, wanted), np.int32)
            self.give(data, times=self._times)
            of_steps = dict(zip(("step_iterations", "step_linear"), self._counts, strict=True))
            self.give(data, np.int32, **of_steps)
        self.prepare()
        data.time, data.end, data.h, data.seconds = system.time, end, h, PAUSE
        data.wanted, data.calm = wanted, calm
        self._takes = takes
        data.timed, data.driven = Asked.PRESENT in takes, Asked.DRIVE in takes
        self._rushes = True
        with EVENTS["steps"]:
            reason = self.call("steps")
        self._rushes, system.time = False, data.time
        if reason <= 0 and data.looked:
            self.newton.balance.recall(self._known)
        columns = (part[: data.made].tolist() for part in (self._times, *self._counts))
        return reason, [Step(t, k, linear, {}) for t, k, linear in zip(*columns, strict=True)]

    # ---- what C asks ----------------------------------------------------------------------------
    def _reduced(self, place: int, count: int, largest: int) -> None:
        """Write sums or largest values of all ranks in the place of this rank's (collective)."""
        room: Any = (ctypes.c_double * count).from_address(place)
        values = np.frombuffer(room)
        try:
            values[:] = reduced(self.newton.comm, values, MPI.MAX if largest else MPI.SUM)
        except BaseException as error:
            self.newton.error = self.newton.error or error
            values[:] = np.nan

    def _answers(self, what: int, iteration: int) -> int:
        """Answer a question of C, see `Asked`; errors are kept, and end the solution."""
        newton, answer = self.newton, 0
        if self._rushes and what != Asked.PRESENT:
            newton.system.time = self.data.time
        try:
            if what == Asked.RENEW:
                newton.renew(newton.snes.getKSP())
                newton.snes.getKSP().setOperators(newton.J, newton.J)
            elif what == Asked.PARTS:
                newton.balance.split()
            elif what in self._takes:
                self._takes[Asked(what)](self.data.time)
            else:
                answer = self._judged(what, iteration)
            self._choose_plans()
            self.data.pause = bool(newton.leftover.told) or pending()
        except BaseException as error:
            newton.error = newton.error or error
            answer = NOT_FINITE if what == Asked.JUDGE else 1
        return answer

    def _judged(self, what: int, iteration: int) -> int:
        """Return the reason to stop, or whether nothing soft is hidden."""
        newton = self.newton
        if not self.data.looked:
            self.data.looked, self._known = 1, newton.balance.known()
            newton.leftover.begin()
        rows, x = newton.F.getArray(readonly=True), newton.x.getArray(readonly=True)
        if what == Asked.JUDGE:
            return newton.judge(iteration, rows, x, self._old)
        return int(newton.settled(rows, x, x - self._old if iteration else None))

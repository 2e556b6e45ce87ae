# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a sweep backwards in C, of small motions on one rank: see sweep.c."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints, address
from ...assembly.assembler import Derivatives
from ...assembly.matrix import Matrix
from ...assembly.state import StatesOfSteps
from ..gradients.chain import Sensitive
from ..gradients.parts import MotionStates
from .backward_start import FORCES, INERTIA, MotionVectors
from .native import STRUCTURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.group import Group
    from ..gradients.chain import ChainRule
    from ..gradients.goal import GoalAtSteps
    from .motion_trace import MotionTrace

    Rooms = list[tuple[int, Group, tuple[Array, ...], bool]]


class NativeSweep:
    """Steps backwards in C: those of the usual kind, many in one call.

    The others, after which rates were straightened, of another length than the one before, or whose
    tangent leaves something out, are those of `Backward`.

    Parameters
    ----------
    chain : takes what parameters contribute.
    others : arrays for no contribution of what follows parameters beside prescribed motions.

    Attributes
    ----------
    able : whether there are such steps.
    most : number of steps of one call.
    added : whether goals count of the state that was reached last.
    """

    most = 256

    def __init__(
        self,
        trace: MotionTrace,
        chain: ChainRule,
        weights: Sequence[GoalAtSteps],
        others: Sequence[Array],
    ) -> None:
        self._trace, self._chain, self._goals, self._others = trace, chain, weights, others
        self._native = trace.accelerations.newton.native
        self.able = self._is_able()
        self._wait = self._pause = 0  # steps of Python until the next call
        self.added = False
        if not self.able:
            return
        self._usual, self._biased, self._scale = trace.states.numbers.T
        apart = [part.numbers for part in weights if not part.goal.of_places]
        self._apart = np.unique(np.concatenate([np.zeros(0, np.int64), *apart]))
        self._lend()

    def _is_able(self) -> bool:
        """Tell whether C can make steps of this motion."""
        trace, newton = self._trace, self._trace.accelerations.newton
        numbering, table = trace.system.numbering, trace.integrator.timetable
        return bool(
            trace.system.comm.size == 1
            and 0 < numbering.size <= trace.solver.small
            and numbering.owned == numbering.coordinates
            and self._native.able
            and isinstance(trace.motion.storage, Matrix)
            and newton.preconditioner.fixed is not None
            and trace.integrator.directors is None
            and not (trace.remembers or self._chain.at_each_step or trace.states[0].terms)
            and (table is None or table.look([]))
        )

    # ---- what C works on ------------------------------------------------------------------------
    def _lend(self) -> None:
        """Give C room for what it finds."""
        trace, solver = self._trace, self._trace.solver
        n, fixed = len(trace.motion.state), int(self._native.problem.fixed_count)
        self._bars, self._by_fixed = np.zeros((4, n)), np.zeros((3, fixed))
        self._squares, self._motions = np.zeros(self.most), np.zeros((self.most + 1, 4, n))
        self._slopes, self._counts = (
            np.zeros((self.most + 1, 2, n)),
            np.zeros(self.most + 1, np.uint8),
        )
        self._data = STRUCTURES["symancf_sweep"]()
        self._lend_assemblers()
        self._lend_tables()
        names = "w", "direct", "pulled", "held_pulled", "mass_pulled"
        self._data.give(
            **dict(zip(names, np.zeros((len(names), n)), strict=True)),
            free=trace.free,
            motions=self._motions,
            slopes=self._slopes,
            counts=self._counts,
            bars=self._bars,
            fixed=self._by_fixed,
            squares=self._squares,
            same=trace.same,
            round_off=trace.round_off,
            accuracy=solver.accuracy,
            least=solver.least,
            near=solver.near,
        )

    def _lend_assemblers(self) -> None:
        """Give C the forces and the inertia, with room for derivatives by parameters."""
        motion, system = self._trace.motion, self._trace.system
        forces, rooms = system.assembler.lend_pull()
        held = type(forces).from_buffer_copy(forces)
        held.rate_factor = None
        self._terms, of = [forces, held], [(FORCES, system.assembler, rooms)]
        if motion.mass.changes:
            inertia, rooms = motion.mass.lend_pull()
            self._terms.append(inertia)
            of.append((INERTIA, motion.mass, rooms))
        self._rooms: Rooms = []
        for number, assembler, own in of:
            timed = [at for _, _, at in assembler.timed_values]
            places = np.concatenate([np.zeros(0, np.int64), *timed])
            for group, room in own:
                is_timed = bool(np.isin(group.addresses[0], places).any())
                self._rooms.append((number, group, room[:2], is_timed))
        changes = motion.mass.changes
        self._data.give(
            assembler=ctypes.addressof(forces),
            held=ctypes.addressof(held) if self._trace.by_rate else None,
            mass=ctypes.addressof(self._terms[-1]) if changes else motion.mass.structure,
            mass_changes=changes,
        )

    def _lend_tables(self) -> None:
        """Give C the derivatives by parameters of a step, and room for those of several."""
        tables: list[Array] = []
        timed: list[bool] = []
        for _, _, room, is_timed in self._rooms:
            tables += room
            timed += [is_timed] * len(room)
        self._sums = [np.zeros_like(table) for table in tables]
        self._of_step = [
            np.zeros((self.most if own else 0, *table.shape))
            for own, table in zip(timed, tables, strict=True)
        ]
        self._data.give(
            tables=len(tables), table_size=np.array([table.size for table in tables], np.int32)
        )
        self._places: list[Ints] = []
        for name, arrays in (("table", tables), ("sum", self._sums), ("of_step", self._of_step)):
            places = [address(x) if x.size else 0 for x in arrays]
            self._places.append(np.array(places, np.int64))
            setattr(self._data, name, address(self._places[-1]))

    def _begin(self, h: float) -> bool:
        """Be ready for steps of length h, from the present state; tell whether C can be."""
        motion, newton = self._trace.motion, self._trace.accelerations.newton
        integrator, native, fixed = (
            self._trace.integrator,
            self._native,
            newton.preconditioner.fixed,
        )
        assert fixed is not None
        integrator.factors(h)
        motion.tangent(np.zeros_like(motion.state), motion.matrix)
        if not fixed.renew() or fixed.factor is None:
            return False
        factor = fixed.factor
        self._data.give(
            factor=ctypes.addressof(factor.data),
            renew=factor.functions[0],
            solve=factor.transposes,
        )
        if integrator.spin is not None:
            integrator.spin.lend(native, integrator.rho)
        native.problem.give(h=h, timetable_targets=0)
        native.problem.assembler = self._trace.system.assembler.structure
        native.tangent.give(inertia=motion.mass_part)
        native.tangent.ready = False  # for steps forwards
        return True

    # ---- steps ----------------------------------------------------------------------------------
    def _first(self, n: int) -> int:
        """Return from which state on steps are like the one that ends in the n-th state."""
        times, usual, biased = self._trace.times, self._usual, self._biased
        h, lowest = usual[n], max(0, n - self.most)
        if not (h and biased[n]):
            return n
        steps = np.diff(times[lowest : n + 1])
        before = usual[lowest:n]
        like = np.abs(steps - h) <= 1e-9 * h
        like &= (np.abs(usual[lowest + 1 : n + 1] - h) <= 1e-12 * h) & (
            biased[lowest + 1 : n + 1] > 0
        )
        like &= (before == 0.0) | (np.abs(before - h) <= 1e-12 * h)
        like &= self._scale[lowest:n] == self._scale[n]
        if self._trace.accelerations.kinematics.any:
            like &= np.abs(biased[lowest:n] - h) <= 1e-12 * h
        first = n - int(np.argmin([*like[::-1], False]))
        before = self._apart[: np.searchsorted(self._apart, n)]
        return max(first, int(before[-1])) if len(before) else first

    def back(self, n: int, bars: MotionVectors, squares: list[float]) -> int:
        """Go back from the n-th state, where the system is; return the number of steps.

        `bars` and `squares` are those of `Backward`; the system may be anywhere afterwards. Goals
        of states that are passed are added, of the one that is reached where `added` tells so.
        """
        if self._wait:
            self._wait -= 1
            return 0
        first = max(self._first(n), self._trace.states.first(n))
        done = self._go(first, n, bars, squares) if n - first > 1 else 0
        self._pause = 0 if done else min(2 * self._pause + 1, 63)
        self._wait = self._pause
        self.added = done < n - first
        return done

    def _go(self, first: int, n: int, bars: MotionVectors, squares: list[float]) -> int:
        trace, native, data = self._trace, self._native, self._data
        h = float(self._usual[n])
        if not self._begin(h):
            return 0
        self._read(first, n)
        times = trace.times[first + 1 : n + 1].tolist()
        table = trace.integrator.timetable
        if table is not None:
            table.lend_rows(times, self._functions(first + 1, n))
        self._bars[:] = bars.u, bars.v, bars.a, bars.A
        self._by_fixed[:] = 0.0
        for total in self._sums:
            total[:] = 0.0
        done = native.call("sweep_back", ctypes.byref(data), n - first)
        trace.system.assembler.overwritten()
        trace.system.assembler.write()
        if done:
            bars.u[:], bars.v[:], bars.a[:], bars.A[:] = self._bars
            squares += self._squares[n - first - done : n - first][::-1].tolist()
            self._add(times, h, n - first - done)
        return done

    def _read(self, first: int, n: int) -> None:
        """Give C the motions of some states, and the derivatives of goals between them."""
        trace = self._trace
        trace.read(first, self._motions[: n + 1 - first])
        self._counts[:] = 0
        self._slopes[:] = 0.0
        for part in self._goals:
            numbers, weights, goal = part.between(first + 1, n)
            if not len(numbers):
                continue
            at = numbers - first
            self._counts[at] = 1
            motions = self._motions[at]
            states = MotionStates(trace.times[numbers], motions[:, 0], motions[:, 1])
            for k, slopes in enumerate(goal.slopes_at(trace.system, states)):
                self._slopes[at, k] += weights[:, None] * slopes

    def _functions(self, first: int, last: int) -> Array | None:
        """Return functions of time at the ends of steps, where the trace has them."""
        found: list[Array] = []
        for states, begin, end in self._trace.parts(first, last + 1):
            if not isinstance(states, StatesOfSteps) or states.functions is None:
                return None
            found.append(states.functions[begin:end])
        return np.concatenate(found)

    def _add(self, times: list[float], h: float, begin: int) -> None:
        """Add what the steps contribute that end at some times, from one of them on."""
        kernels, values = dict[int, Derivatives](), dict[int, Array]()
        none = np.zeros_like(self._trace.motion.state)
        for k, (number, group, _, timed) in enumerate(self._rooms):
            sums, steps = (some[2 * k : 2 * k + 2] for some in (self._sums, self._of_step))
            size = len(self._chain.assemblers[number].values)
            if number not in kernels:
                kernels[number] = Derivatives(np.zeros(size), {}, none, 0)
                values[number] = np.zeros((len(times) - begin, size))
            group.sum_of(sums, kernels[number].values)
            kernels[number].rows.update(group.values_of(sums[1]))
            if timed:
                group.sum_of([x[begin : len(times)] for x in steps], values[number])
        more = [*self._by_fixed, *(np.zeros_like(x) for x in self._others)]
        self._chain.add_steps(times[begin:], h, Sensitive(kernels, more), values)

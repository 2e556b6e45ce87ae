# SPDX-License-Identifier: BSD-3-Clause
"""A Krylov solver of Newton's method: its operator, and how long its preconditioner lasts."""

from __future__ import annotations

import ctypes
import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...assembly.linearized import Linearized
from ...assembly.shell import Shell
from ...errors import SymancfError
from ...newton import MAX_FORCING, Forcing, Mended, PartScaling
from ...runtime.collective import together
from ...runtime.petsc import PETSc, functions, release
from ..bddc import BDDC, subdomains_of
from ..multigrid import GRIDS
from ..preconditioner import Preconditioner, without_aij
from ..solver import is_symmetric
from ..takeover import Takeover
from .linear import LinearSolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...assembly.discrete import DiscreteSystem
    from ...assembly.half import Half
    from ...assembly.matrix import Matrix
    from ...assembly.matrix_free import MatrixFree
    from ...assembly.subdomains import Subdomains
    from ...assembly.vectors import Vectors
    from ...newton import RowNorms
    from ...runtime.options import SolverOptions
    from ..multigrid import Multigrid


LASTING_ITERATIONS = 3
FALLEN, STUCK = 0.99, 6  # ratio of residuals that is no gain; so many of them are too many
CONVERGENCE_RATIO = 0.1  # ratio of two residuals that is that of steps near to a solution
RENEWAL_ITERATIONS = 40  # iterations of CG that cost as much as multigrid's set-up, about

# values of the option mat_type: entries; without them with derivatives at points, or kernels alone
STORAGES = HALVES, POINTS, SHELL = "half", "points", "shell"
MATRIX_FREE_FROM = 20_000  # unknowns: below, other kernels take longer to compile than they save

_REASONS = PETSc.KSP.ConvergedReason
_WEAK = (_REASONS.DIVERGED_MAX_IT, _REASONS.DIVERGED_INDEFINITE_PC, _REASONS.DIVERGED_BREAKDOWN)
_INDEFINITE = (_REASONS.DIVERGED_INDEFINITE_MAT, _REASONS.DIVERGED_INDEFINITE_PC)


def _matrix_free(system: DiscreteSystem, ksp: PETSc.KSP, wanted: str | None) -> MatrixFree | None:
    """Return the tangent without entries, where it serves (collective).

    Parameters
    ----------
    wanted : of the option ``mat_type``, one of `STORAGES`; None: `POINTS` where it is possible and
        there are `MATRIX_FREE_FROM` unknowns or more, else entries.

    Raises
    ------
    SymancfError : it is asked for and not possible.
    """
    if wanted not in (None, *STORAGES):
        raise SymancfError(
            f"-mat_type {wanted}: statics know {', '.join(STORAGES)}",
            asked="-mat_type",
            given=wanted,
            possible=STORAGES,
        )
    if wanted == HALVES or (wanted is None and system.numbering.size < MATRIX_FREE_FROM):
        return None
    possible = is_symmetric(system) and without_aij(system, ksp.getType(), ksp.getPC().getType())
    found = system.matrix_free if possible else None
    if found is None and wanted is not None:
        raise SymancfError(
            f"-mat_type {wanted} is not possible: it is for multigrid on grids (-pc_type {GRIDS}), "
            "bodies of hex20 and hex27 alone whose laws have no unknowns of the cell, and no "
            "contact, joints or loads that follow them",
            asked="-mat_type",
            given=wanted,
            possible=(HALVES,),
        )
    if found is not None:
        found.at_points = wanted != SHELL
    return found


class Tangent(Shell):
    """The tangent at a given state as PETSc's operator: products by the kernels, or with entries.

    To assemble it takes as long as about six products by kernels.

    Attributes
    ----------
    state : that of the last `move`, or with entries theirs, as long as nobody changes it.
    entries : the assembled tangent of that state, if that is to be multiplied with.
    border : vectors c and d of rows (of this rank): products are those of K + c d^T. Whoever
        changes it calls ``mat.stateIncrease()``.

    Parameters
    ----------
    scratch : a vector of rows that products may overwrite.
    """

    def __init__(self, system: DiscreteSystem, vectors: Vectors, scratch: PETSc.Vec) -> None:
        self.border: tuple[Array, Array] | None = None
        self.entries: PETSc.Mat | None = None
        self._assembler = assembler = system.assembler
        self.state, self._linear = system.state, Linearized()
        linear, ours = self._linear, scratch
        # a direction, whose fixed coordinates stay zero, and its product, once there is one
        pair: list[Array] = []
        handle = ctypes.c_void_p(ours.handle)

        def multiply(x: int, y: int) -> None:
            source, to = ctypes.c_void_p(x), ctypes.c_void_p(y)
            if self.entries is not None and self.border is None:
                functions.MatMult(ctypes.c_void_p(self.entries.handle), source, to)
                return
            functions.VecCopy(source, handle)
            part = 0.0
            if self.border is not None:
                along = self.border[1] @ ours.getArray(readonly=True)
                part = float(system.sum(np.array([along]))[0])
            if self.entries is not None:
                functions.MatMult(ctypes.c_void_p(self.entries.handle), source, handle)
            else:
                if not pair:
                    pair.extend(np.zeros((2, len(self.state))))
                direction, f = pair
                vectors.to_local(ours, direction)
                assembler.product(self.state, direction, f, linear)
                vectors.to_global(f, ours)
            if self.border is not None:
                ours.setArray(ours.getArray(readonly=True) + part * self.border[0])
            functions.VecCopy(handle, to)

        super().__init__(vectors.numbering, multiply)

    def move(self, state: Array) -> int:
        """Take another state; return the number of bad points."""
        self.state, self.border, self.entries = state.copy(), None, None
        self.mat.stateIncrease()
        return self._assembler.linearize(self.state, self._linear)

    def hold(self, entries: PETSc.Mat, state: Array) -> None:
        """Multiply with the entries of the tangent at a state from now on."""
        self.state, self.border, self.entries = state, None, entries
        self.mat.stateIncrease()


class KrylovSolver(LinearSolver):
    """Operators of a KSP with a Krylov solver along Newton's iterations.

    Multigrid on grids gets the assembled tangent of each state; its coarse matrices last
    `LASTING_ITERATIONS` tangents, or until twice the fewest iterations are needed. With other
    preconditioners the solver works with the tangent of the present state as a product of the
    kernels; the assembled matrix only serves to build a preconditioner, which is kept until the
    iterations beyond the fewest seen with it add up to `RENEWAL_ITERATIONS`.

    Attributes
    ----------
    renewals : number of preconditioners built.
    again : iterations in systems that were solved once more.
    mended : the last system of Newton's method was solved once more.
    afresh : the solution is to begin again: MUMPS has taken over after steps that were inexact.
    takeover : `Takeover`.
    switched : called where another solver is at work from now on.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        ksp: PETSc.KSP,
        vectors: Vectors,
        seconds: dict[str, float],
        options: SolverOptions,
        rows: RowNorms,
        switched: Callable[[], None],
    ) -> None:
        super().__init__(system, ksp, vectors, seconds, options)
        self.direct, self.switched = False, switched
        self.renewals = 0
        self._fewest, self._beyond, self._age = 0.0, 0.0, 0
        self._rtol = min(ksp.getTolerances()[0], 0.1)
        has_tolerance = options.choice("ksp_rtol") is not None
        self._forcing = Forcing(rows.parts, self._rtol if has_tolerance else None)
        self._present = Tangent(system, vectors, self._rows)
        self._free = _matrix_free(system, ksp, options.choice("mat_type"))
        self._half: Half | None = None
        if self._free is None and without_aij(system, ksp.getType(), ksp.getPC().getType()):
            release()  # what numbering has freed lies in pieces that no entries fit into
            self._half = system.half
        self._parts: Subdomains | None = None
        if ksp.getPC().getType() == BDDC:
            self._parts = subdomains_of(system, is_symmetric(system))
        half = self._half  # of the symmetric part of the tangents of cells
        symmetric = is_symmetric(system) or (half is not None and half.symmetric)
        self._preconditioner = Preconditioner(system, self.storage, ksp, symmetric)
        self._preconditioner.attach()
        self.takeover = Takeover(system, ksp, self._preconditioner, options)
        self.begin()
        self._scaling: PartScaling | None = None
        if rows.parts > 1:
            begin = self._preconditioner.begin
            self._scaling = PartScaling(ksp, rows, self._rows, begin, self.residual.look)

    @property
    def assembles(self) -> bool:
        """Whether products are those of the assembled tangent."""
        return self.direct or self._preconditioner.grids

    @property
    def multigrid(self) -> Multigrid | None:
        """That of ``-pc_type grids``, if that is what solves, once it was set up."""
        return None if self.direct else self._preconditioner.multigrid

    @property
    def operator(self) -> PETSc.Mat:
        """See `LinearSolver.operator`."""
        return self.system.matrix.mat if self.direct else self._present.mat

    @property
    def storage(self) -> Matrix | Half | MatrixFree | Subdomains:
        """See `LinearSolver.storage`."""
        return self.system.matrix if self.direct else self._tangent or self.system.matrix

    @property
    def _tangent(self) -> Half | MatrixFree | Subdomains | None:
        """What takes the place of PETSc's AIJ, if anything does."""
        return self._free or self._half or self._parts

    def assemble(self, state: Array) -> int:
        """See `LinearSolver.assemble`; without entries: find the diagonal."""
        moved = self._free or self._parts
        if moved is None or self.direct:
            return super().assemble(state)
        start = time.process_time()
        with together(self.system.comm):
            bad = moved.move(state)
        self.seconds["assembly"] += time.process_time() - start
        return bad

    def relisted(self) -> None:
        """See `LinearSolver.relisted`."""
        super().relisted()
        self.renewals = 0
        self._fewest = self._beyond = 0.0

    def linearize(
        self, state: Array, needed: Array | None = None, rtol: float | None = None
    ) -> int:
        """See `LinearSolver.linearize`."""
        if self.direct:
            return super().linearize(state)
        if self._preconditioner.grids:
            bad = self._follow(state)
        else:
            start = time.process_time()
            with together(self.system.comm):
                bad = self._present.move(state)
            self.seconds["assembly"] += time.process_time() - start
            if self._worn():
                bad = self._renew(state)
        if rtol is not None or needed is None:
            self.aim(rtol or self._rtol)
        else:
            self.aim(*self._forcing.wanted(needed))
        if self._scaling is not None:
            self._scaling.active = True
        self.ksp.setOperators(self.operator, self.storage.mat)
        return bad

    def aim(self, wanted: Array | float, share: float = 0.0) -> None:
        """Set the relative tolerance of a Krylov solver, of each connected part.

        `share`: of the right-hand side, above which CG's residual itself may not be; 0: it may.
        """
        self.ksp.setTolerances(rtol=float(np.min(wanted, initial=1.0)))
        self.residual.demand(share)
        if self._scaling is not None:
            self._scaling.wanted[:] = wanted

    @property
    def error(self) -> BaseException | None:
        """See `LinearSolver.error`."""
        parts = (self._present, self._scaling, self.residual)
        found = [part.callbacks.error for part in parts if part is not None]
        return next(filter(None, [self._preconditioner.error, *found]), None)

    def call(self, steps: bool = True) -> None:
        """Begin a call of the user's: the solver that options have chosen may be at work again.

        `steps`: those of load; on paths, whose systems are bordered, nothing takes over.
        """
        if self.takeover.call(steps):
            self._fewest = self._beyond = 0.0
            self.renewals = self._age = 0
            self.direct = False
            if self._tangent is not None:
                self.system.release_matrix()
            self.switched()

    def begin(self) -> None:
        """Begin a solution of Newton's method."""
        self._forcing.begin()
        self.takeover.begin()
        self.again, self.mended, self.afresh, self._steps = 0, False, False, 0
        self._least, self._stuck = math.inf, 0
        self._residual, self._near = math.inf, False

    def mend(self, b: PETSc.Vec, y: PETSc.Vec) -> Mended | None:
        """Solve again where CG has failed in the system of right-hand side `b` (collective).

        Where it has taken too long, MUMPS takes over, see `Takeover`. Else: a tangent with negative
        eigenvalues far from equilibrium is mostly that of stiff directions that are strained by
        others, as those of a change of volume where a solid turns, and CG corrects those first.
        So few of its iterations come closer, and what CG has found when it comes upon a negative
        one again still leads downhill (T. Steihaug, SIAM Journal on Numerical Analysis 20 (1983)
        626-637); else the preconditioner's answer does.

        Returns what `y` has become, None where it is Newton's step already.
        """
        ksp, takeover = self.ksp, self.takeover
        reason = ksp.getConvergedReason()
        self._steps += 1
        residual, before = b.norm(), self._residual
        self._residual, self._near = residual, residual < CONVERGENCE_RATIO * before
        if self._free is not None and not self.direct and reason in _WEAK:
            reason = self._without_old_levels(b, y)
        if takeover.wanted(reason):
            return self._by_factors(b, y)
        self.mended = reason < 0 and not self.direct
        if reason > 0:
            return None
        if self._preconditioner.take_over():
            self.again += ksp.getIterationNumber()
            ksp.solve(b, y)
            self.mended = ksp.getConvergedReason() < 0
            return Mended.NOT if self.mended else Mended.NEWTON
        if reason in _INDEFINITE and ksp.getType() == PETSc.KSP.Type.CG:
            self._forcing.astray()
            self.again += ksp.getIterationNumber()
            self.aim(MAX_FORCING)
            ksp.solve(b, y)
            if takeover.wanted(ksp.getConvergedReason()):
                return self._by_factors(b, y)
            if self._leads_downhill(b, y):
                return Mended.DOWNHILL
        if takeover.at_hand:
            return self._by_factors(b, y)
        y.set(0.0)
        return Mended.NOT

    def _without_old_levels(self, b: PETSc.Vec, y: PETSc.Vec) -> int:
        """Solve again with other levels where these are old, then with entries (collective)."""
        reason = self._with_new_levels(b, y) if self._age else _REASONS.DIVERGED_BREAKDOWN
        return self._with_entries(b, y) if reason in _WEAK else int(reason)

    def _with_new_levels(self, b: PETSc.Vec, y: PETSc.Vec) -> int:
        """Solve again with coarse levels of the present tangent, not of one before (collective)."""
        self.again += self.ksp.getIterationNumber()
        self.renewals += 1
        self._age, self._fewest = 0, 0.0
        self.storage.mat.stateIncrease()  # PETSc sets up what it takes for new alone
        self._preconditioner.renew(self.operator)
        self.ksp.solve(b, y)
        return int(self.ksp.getConvergedReason())

    def _with_entries(self, b: PETSc.Vec, y: PETSc.Vec) -> int:
        """Solve again with the entries of the tangent, which stay from now on (collective)."""
        self.system.once.warn(
            "entries take over",
            f"p-multigrid without the entries of the tangent has made "
            f"{self.ksp.getIterationNumber()} iterations and has not converged: multigrid with "
            f"entries takes its place. To have it at once: -mat_type {HALVES}",
        )
        self._free, self._half = None, self.system.half
        self._preconditioner.use(self.storage)
        self.again += self.ksp.getIterationNumber()
        self._follow(self._present.state)
        self.ksp.setOperators(self.operator, self.storage.mat)
        self.switched()
        self.ksp.solve(b, y)
        return int(self.ksp.getConvergedReason())

    def _leads_downhill(self, b: PETSc.Vec, y: PETSc.Vec) -> bool:
        """Tell whether what CG has found, else the preconditioner, leads downhill (collective)."""
        if self.ksp.getConvergedReason() in _INDEFINITE and not b.dot(y) > 0.0:
            self.ksp.getPC().apply(b, y)
        return b.dot(y) > 0.0 and self._falls(b.norm())

    def _falls(self, residual: float) -> bool:
        """Tell whether steps downhill have made the residual smaller lately."""
        self._stuck = 0 if residual < FALLEN * self._least else self._stuck + 1
        self._least = min(self._least, residual)
        return self._stuck < STUCK

    def _by_factors(self, b: PETSc.Vec, y: PETSc.Vec) -> Mended:
        """Let MUMPS take over and solve, or have the solution begin again (collective).

        What inexact steps leave of a change of volume may be far from where MUMPS alone would go;
        not where the last one has led near to the solution.
        """
        self._give_over()
        self.mended, self.afresh = False, self._steps > 1 and not self._near
        if not self.afresh:
            self.ksp.solve(b, y)
            if self.ksp.getConvergedReason() > 0:
                return Mended.NEWTON
        y.set(0.0)
        return Mended.NOT

    def _give_over(self) -> None:
        """Let MUMPS take over, with the tangent of the present system (collective)."""
        self.direct = True
        if self._tangent is not None or not self._preconditioner.grids:
            self.assemble(self._present.state)
        self.takeover.take()
        if self._scaling is not None:
            self._scaling.active = False
        self.switched()

    def forget(self) -> None:
        """Drop a factorisation that failed, where there is one."""
        if self.direct:
            super().forget()

    @contextmanager
    def indefinite(self) -> Iterator[None]:
        """Let FGMRES take the place of CG, which fails at tangents beyond a limit point."""
        ours = self.ksp.getType() == PETSc.KSP.Type.CG
        if ours:
            norm = self.ksp.getNormType()
            self.ksp.setNormType(PETSc.KSP.NormType.DEFAULT)
            self.ksp.setType(PETSc.KSP.Type.FGMRES)
            self.ksp.setGMRESRestart(60)
        try:
            yield
        finally:
            self._present.border = None
            if ours:
                self.ksp.setType(PETSc.KSP.Type.CG)
                self.ksp.setNormType(norm)

    def border(self, column: Array, row: Array) -> None:
        """Add the dyad of two vectors of rows to the operator of a Krylov solver.

        It stays until the next `linearize`, and never is in the preconditioner.
        """
        self._present.border = (column, row)
        if self._scaling is not None:
            self._scaling.active = False
        self.operator.stateIncrease()

    def _used(self) -> float:
        """Return the iterations of the last solve, as if to the relative tolerance of all."""
        tolerance = min(float(self.ksp.getTolerances()[0]), 0.5)
        return int(self.ksp.getIterationNumber()) * math.log(self._rtol) / math.log(tolerance)

    def _failed(self) -> bool:
        """Tell whether the last solve failed by its preconditioner, or there was none."""
        reason = self.ksp.getConvergedReason()
        return not self.renewals or (reason < 0 and reason != _REASONS.DIVERGED_INDEFINITE_MAT)

    def _worn(self) -> bool:
        if self._failed():
            return True
        used = self._used()
        self._fewest = min(self._fewest or used, used)
        self._beyond += used - self._fewest
        return self._beyond >= RENEWAL_ITERATIONS

    def _follow(self, state: Array) -> int:
        """Assemble, and take the entries into multigrid on grids (collective)."""
        bad = self.assemble(state)
        self._present.hold(self.storage.mat, state)  # of which factors may have to be made
        if self.system.comm.allreduce(bad):
            return bad
        used = self._used()
        self._fewest = min(self._fewest or used, used)
        self._age += 1
        coarse = self._failed() or self._age >= LASTING_ITERATIONS or used > 2.0 * self._fewest
        if coarse:
            self.renewals += 1
            self._age, self._fewest = 0, 0.0
        release()  # before multigrid and CG, which need most memory of all
        self._preconditioner.renew(self.operator, coarse)
        return bad

    def _renew(self, state: Array) -> int:
        self._fewest, self._beyond = 0.0, 0.0
        self.renewals += 1
        bad = self.assemble(state)
        if not self.system.comm.allreduce(bad):
            release()  # before the set-up of multigrid, which needs most memory of all
            if self._parts is not None:
                self._present.hold(self._parts.mat, state)
            self._preconditioner.renew(self.operator)
            self.ksp.setUp()
            release()
        return bad

# SPDX-License-Identifier: BSD-3-Clause
"""A direct solver in the place of a Krylov one that does not get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..newton import wanted
from ..runtime.petsc import PETSc, has
from .bddc import BDDC
from .choice import COST_OF_NEWTON, MOST_ITERATIONS, prices
from .solver import is_saddle, is_symmetric, reason_of, solver_name

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from ..runtime.options import SolverOptions
    from .preconditioner import Preconditioner

_REASONS = PETSc.KSP.ConvergedReason
FACTOR_COST_RATIO = 10.0  # times multigrid's: where steps fail, smaller ones take as long
FAILURES = (_REASONS.DIVERGED_MAX_IT, _REASONS.DIVERGED_BREAKDOWN)


class Takeover:
    """MUMPS takes the place of multigrid for the rest of a call of ``solve``.

    It does where multigrid needs as long as four factorisations, for one system or for all of one
    solution of Newton's method. The next call begins with multigrid again; from the second time
    on multigrid waits for 1, 3, 7, ... calls first. Who has given ``ksp_type`` or ``pc_type``
    keeps what he has given, and nothing takes over where the factors do not fit into memory. (For
    saddle points see `Saddle.take_over`.)

    Attributes
    ----------
    possible : whether it may happen.
    active : whether MUMPS is at work.
    times : how often it has happened.
    message : what the last one was told with.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        ksp: PETSc.KSP,
        preconditioner: Preconditioner,
        options: SolverOptions,
        dynamic: bool = False,
    ) -> None:
        self._system, self._ksp, self._preconditioner = system, ksp, preconditioner
        self._symmetric = is_symmetric(system, dynamic)
        kind = ksp.getPC().getType()
        chosen = any(options.choice(name) for name in ("ksp_type", "pc_type"))
        chosen = (chosen and kind != BDDC) or "takeover" not in wanted(options)
        suits = kind == BDDC or (kind in COST_OF_NEWTON and not is_saddle(system))
        self.possible = has("mumps") and not chosen and suits
        self.active, self.times, self.message = False, 0, ""
        self._wait = self._spent = 0
        self._awake = True
        if self.possible:
            # subdomains of plates and rods, which nodes with slopes cost most
            self._prices = prices(
                system, "slopes" if kind == BDDC else kind, self._symmetric, dynamic
            )
            self.possible = self._prices.fits
            self._original = ksp.getType(), kind
            self._capped = options.choice("ksp_max_it") is None and kind != BDDC
            self._cap()

    def _cap(self) -> None:
        if self._capped:
            self._ksp.setTolerances(max_it=self._prices.most if self._awake else MOST_ITERATIONS)

    @property
    def at_hand(self) -> bool:
        """Whether MUMPS may take over now, and takes less than a smaller step of load would."""
        return (
            self.possible
            and self._awake
            and not self.active
            and self._prices.direct <= FACTOR_COST_RATIO * self._prices.krylov
        )

    def begin(self) -> None:
        """Begin a solution of Newton's method."""
        self._spent = 0

    def wanted(self, reason: int) -> bool:
        """Count the iterations of the last solve; tell whether MUMPS is to take over.

        `reason`: PETSc's, why it has stopped, the same on every rank.
        """
        if not (self.possible and self._awake) or self.active:
            return False
        self._spent += int(self._ksp.getIterationNumber())
        if self._original[1] == BDDC:
            return reason < 0
        return reason in FAILURES or self._spent > self._prices.patience

    def take(self) -> None:
        """Let MUMPS take the place of multigrid; warn (collective)."""
        ksp, (_, kind) = self._ksp, self._original
        factors = "cholesky" if self._symmetric else "lu"
        self.active, self.times = True, self.times + 1
        self._wait = 2 ** (self.times - 1) - 1
        memory = f"{self._prices.memory / 1e6:.0f} MB"
        ratio = self._spent * self._prices.iteration / self._prices.factors
        why, never = (
            f"has made {self._spent} iterations, which took about {ratio:.1f} times as long as "
            f"factors by MUMPS should ({self._prices.factors:.1e} operations, {memory})",
            f"; never: -pc_type {kind}",
        )
        if kind == BDDC:
            reason = reason_of(ksp)
            why = f"has failed: {reason}, {ksp.getIterationNumber()} iterations"
            why, never = f"{why}; factors by MUMPS need about {memory}", ""
        self.message = (
            f"{solver_name(ksp)} {why}: MUMPS takes its place for the rest of this solve. "
            f"To have it at once: -pc_type {factors}{never}"
        )
        self._system.once.warn("factors take over", self.message)
        self._norm = ksp.getNormType()
        self._preconditioner.release()
        ksp.setNormType(PETSc.KSP.NormType.DEFAULT)
        ksp.setType(PETSc.KSP.Type.PREONLY)
        pc = ksp.getPC()
        pc.setType(factors)
        pc.setFactorSolverType("mumps")
        ksp.setOperators(self._preconditioner.matrix, self._preconditioner.matrix)
        pc.setFactorSetUpSolverType()
        pc.getFactorMatrix().setMumpsIcntl(14, 60)

    def call(self, awake: bool = True) -> bool:
        """Begin a call; tell whether multigrid is at work again (collective).

        `awake`: whether MUMPS may take over in it.
        """
        self._awake = awake
        if not self.active:
            if self.possible:
                self._cap()
            return False
        if self._wait:
            self._wait -= 1
            return False
        ksp, (method, kind) = self._ksp, self._original
        self.active = False
        ksp.reset()
        ksp.setType(method)
        ksp.setNormType(self._norm)
        ksp.getPC().setType(kind)
        ksp.setFromOptions()
        self._cap()
        self._preconditioner.attach()
        return True

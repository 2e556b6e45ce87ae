# SPDX-License-Identifier: BSD-3-Clause
"""The objects of which a motion is made: PETSc's, and those that work with them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ...runtime.copies import OneProcess
from ...runtime.options import take as take_options
from ...runtime.petsc import PETSc, collect
from ...runtime.shown import Shown
from ..solver import attach_rigid_modes, fitting, idle_options
from .accelerations import Accelerations
from .energy import Audit
from .explicit import Explicit
from .methods import IMPLICIT, chosen, integrator
from .motion import Motion, Rayleigh
from .newton import Newton
from .options import defaults, used_by
from .outside import Outside
from .supports import MovingSupports
from .unseen import Unseen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...output.history import History
    from ...runtime.options import Options
    from ...runtime.progress import Progress
    from ...system import System
    from .stabilise import Stabilisation


TOLERANCES = "ts_rtol", "ts_atol", "ts_adapt_clip", "ts_adapt_safety", "ts_adapt_dt_"


class Made(OneProcess, Shown):
    """A motion that makes what it works with on first use."""

    system: System
    history: History
    damping: Rayleigh | None
    prefix: str
    rho: float
    method: str
    stabilisation: Stabilisation | None
    steps: int
    _options: Options
    _progress: Progress
    _ready: bool

    def headline(self) -> str:
        """Return the method, the system and how far it is."""
        steps = f"{self.steps} step{'s' * (self.steps != 1)}"
        return f"DynamicProblem by {self.method}, {steps}, {self.system.headline()}"

    def facts(self) -> Sequence[Sequence[str]]:
        """Return the members of the system."""
        return self.system.facts()

    def __getattr__(self, name: str) -> Any:
        """Make the objects of PETSc where they are asked for before the first step (collective)."""
        if name not in ("ts", "snes", "J", "acceleration", "audit") or self.__dict__.get(
            "_ready", True
        ):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._options:
            self._prepare()
        return getattr(self, name)

    def _prepare(self) -> None:
        if self._ready:
            return
        system = self.system
        collect(system.comm)
        self.motion = Motion(system, self.damping)
        self.supports = MovingSupports(self.motion)
        self.ts = PETSc.TS().create(system.comm)
        # PETSc destroys what is left after Python is gone, and would call the context then
        weakref.finalize(self, self.ts.setType, PETSc.TS.Type.BEULER)
        self.ts.setOptionsPrefix(self.prefix)
        self.snes = self.ts.getSNES()
        self.newton = Newton(self.motion, self.snes)
        self.J, self.acceleration = self.newton.J, self.motion.acceleration
        self.accelerations = Accelerations(self.motion, self.newton)
        method = chosen(self.method, self._options.choice("ts_type"))
        asked = self._options.choice("pc_type")
        self._options.refuse(f"method={method!r}", used_by(method))
        held = self._options.offer(fitting(defaults(system, method, asked), asked))
        if held.get("pc_type") == "gamg":
            attach_rigid_modes(system)
        self.integrator = integrator(method, self.accelerations, self.rho, self.stabilisation)
        self.integrator.attach(self.ts)
        self.ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
        take_options(self.ts)
        self._idle = idle_options(self.snes.getKSP())
        loose = self._options.choice("ksp_rtol")
        if loose is not None and method != IMPLICIT:
            self.accelerations.rtol = float(self.snes.getKSP().getTolerances()[0])
        self.newton.attach(self._options, self._progress.note)
        if self.integrator.error is not None:
            raise self.integrator.error
        self.U = self.integrator.vector()
        self.ts.setSolution(self.U)
        visit = self.integrator.visit if isinstance(self.integrator, Explicit) else None
        self.audit = Audit(self.motion, visit)
        self.outside = Outside(self.integrator, self.supports)
        self.unseen = Unseen(self.integrator, self.ts, self.audit, self.history)
        self._ready = True

    def _warn_unused(self) -> None:
        """Warn of options that nobody used; of steps of one length also those of the error."""
        idle = self._idle
        if not self.integrator.follows_error:
            idle += TOLERANCES
        self._options.leave_idle(*idle)
        self._options.warn_unused(self.system.comm)

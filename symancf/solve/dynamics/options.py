# SPDX-License-Identifier: BSD-3-Clause
"""Default PETSc options of motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...newton.predicted import holds_by_penalties
from ...runtime.options import SLEPC
from ..preconditioner import GRIDS
from ..solver import is_saddle, linear_defaults
from .methods import IMPLICIT, RUNGE_KUTTA, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...runtime.options import Option
    from ...system import System


ALWAYS = ("ts_type", "ts_rtol", "ts_atol", "ts_monitor")
IMPLICITLY = ("ts_alpha_radius", "ts_adapt_type")
EXPLICITLY = ("ts_adapt_", "ts_max_reject", "ts_error_if_step_fails")


def used_by(method: str) -> Callable[[str], bool]:
    """Return whether a method uses an option of PETSc, as a function of its name."""
    explicit, own = method != IMPLICIT, list(ALWAYS)
    if not explicit:
        own += IMPLICITLY
    elif method != "adams":
        own += [*EXPLICITLY, f"ts_{kind_of(method)}_"]

    def uses(option: str) -> bool:
        if option.startswith("ts_"):
            return option.startswith(tuple(own))
        if option.startswith("snes_"):
            return not explicit and option != "snes_divergence_tolerance"
        return not option.startswith(SLEPC)

    return uses


def defaults(system: System, method: str, asked: str | None = None) -> dict[str, Option]:
    """Return the options that suit a system, a method and the preconditioner asked for.

    Newton's method takes whole steps: what leaves the domain of a law makes the time step
    shorter. Where penalties hold strains, their forces are large beside those of mass, and rtol
    is less. Explicit methods solve with the mass matrix: a few iterations of CG with Jacobi's
    preconditioner where a direct solver would be expensive, and there are no multipliers.
    """
    explicit, saddle = method != IMPLICIT, is_saddle(system)
    linear = linear_defaults(
        system, "lu" if explicit and saddle and asked is None else asked, dynamic=True
    )
    if not explicit:
        return linear | {
            "ts_adapt_type": "none",
            "snes_type": "newtonls",
            "snes_linesearch_type": "basic",
            "snes_rtol": 1e-12 if holds_by_penalties(system) else 1e-8,
            "snes_atol": 0.0,
            "snes_stol": 0.0,
            "snes_max_it": 20,
        }
    if asked == "gamg":
        linear |= {"ksp_type": "cg", "ksp_rtol": 1e-13}
    elif saddle and asked == GRIDS:
        linear["ksp_rtol"] = 1e-13
    elif linear["ksp_type"] != "preonly":
        linear = {"ksp_type": "cg", "ksp_rtol": 1e-13, "pc_type": "jacobi"}
    return linear | {
        "ts_type": kind_of(method),
        "ts_rk_type": RUNGE_KUTTA.get(method, "5dp"),
        "ts_adapt_type": "basic",
    }

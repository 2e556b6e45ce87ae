# SPDX-License-Identifier: BSD-3-Clause
"""The integrators by name, and the PETSc options that suit them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParameterError, closest
from ...newton.stress_predictor import holds_by_penalties
from ...runtime.options import SLEPC
from ...values.arguments import among
from ...values.parameter import label
from ..multigrid import GRIDS
from ..solver import is_saddle, linear_defaults
from .adams import Adams
from .explicit import Explicit
from .generalized_alpha import GeneralizedAlpha
from .integrator import Integrator

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from ...assembly.discrete import DiscreteSystem
    from ...runtime.options import Option
    from .accelerations import Accelerations
    from .stabilise import Stabilisation

    Method: TypeAlias = str | type[Integrator]

IMPLICIT = "generalized-alpha"
RUNGE_KUTTA = {"rk": "5dp", "3bs": "3bs", "5dp": "5dp", "8vr": "8vr"}  # PETSc's -ts_rk_type
OTHER_METHODS = ("adams", "euler", "ssp")
METHODS = (IMPLICIT, *RUNGE_KUTTA, *OTHER_METHODS)

# beginnings of the PETSc options of TS that are used
COMMON_OPTIONS = ("ts_type", "ts_rtol", "ts_atol", "ts_monitor")
IMPLICIT_OPTIONS = ("ts_alpha_radius", "ts_adapt_type")
EXPLICIT_OPTIONS = ("ts_adapt_", "ts_max_reject", "ts_error_if_step_fails")


def checked(method: Method, stabilisation: Stabilisation | None) -> Method:
    """Return a name of a method, or the class of one.

    Raises
    ------
    ParameterError : there is no such method, or it needs no stabilisation.
    """
    own = isinstance(method, type) and issubclass(method, Integrator)
    if not (own or among(method, METHODS)):
        listed = ", ".join(map(repr, METHODS))
        hint = closest(str(method), METHODS)
        raise ParameterError(
            f"method={label(method)}:{hint} there are {listed}",
            asked="method",
            given=method,
            possible=METHODS,
        )
    if not is_explicit(method) and stabilisation is not None:
        raise ParameterError(
            f"stabilisation={stabilisation}: {name_of(method)} of index 3 fulfils the constraints "
            'at each step as it is; stabilisation goes with explicit methods, method="rk"',
            asked="stabilisation",
            given=stabilisation,
            possible=(None,),
        )
    return method


def name_of(method: Method) -> str:
    """Return what messages call a method."""
    return method if isinstance(method, str) else method.__name__


def is_explicit(method: Method) -> bool:
    """Tell whether a method has index 1, and right-hand sides in place of equations."""
    return method != IMPLICIT and isinstance(method, str)


def chosen(method: Method, option: str | None) -> Method:
    """Return the method that holds beside the option ``-ts_type``, which goes before it."""
    if option is None or (option == "rk" and method in RUNGE_KUTTA):
        return method
    if option == "python":
        return IMPLICIT
    if option in ("rk", "euler", "ssp"):
        return option
    raise ParameterError(
        f"-ts_type {option}: motions are integrated by rk, euler, ssp (explicit, index 1) and "
        f"python, which is {IMPLICIT}",
        asked="-ts_type",
        given=option,
        possible=("rk", "euler", "ssp", "python"),
    )


def kind_of(method: str) -> str:
    """Return PETSc's type of TS of an explicit method."""
    return method if method in ("euler", "ssp") else "rk"


def integrator(
    method: Method, accelerations: Accelerations, rho: float, stabilisation: Stabilisation | None
) -> Integrator:
    """Return the integrator of a method.

    Raises
    ------
    ParameterError : the method is explicit, and laws remember, or cords have no mass.
    """
    if not isinstance(method, str):
        return method(accelerations)
    if method == IMPLICIT:
        return GeneralizedAlpha(accelerations, rho)
    for form in accelerations.motion.system.memory.forms:
        raise ParameterError(
            f"method={method!r}: {form.name!r} remembers from step to step, and explicit methods "
            f"evaluate it within them; give method={IMPLICIT!r}",
            asked="method",
            given=method,
            possible=(IMPLICIT,),
        )
    if any(block.name == "tensions" for block in accelerations.motion.system.numbering.blocks):
        raise ParameterError(
            f"method={method!r}: what passes the eyelets of a tendon has no mass, so it has no "
            f"acceleration; give method={IMPLICIT!r}",
            asked="method",
            given=method,
            possible=(IMPLICIT,),
        )
    kind = Adams if method == "adams" else Explicit
    return kind(accelerations, stabilisation, kind_of(method))


# ---- options of PETSc ---------------------------------------------------------------------------
def used_by(method: Method) -> Callable[[str], bool]:
    """Return whether a method uses an option of PETSc, as a function of its name."""
    explicit, own = is_explicit(method), list(COMMON_OPTIONS)
    if method == IMPLICIT:
        own += IMPLICIT_OPTIONS
    elif isinstance(method, str) and method != "adams":
        own += [*EXPLICIT_OPTIONS, f"ts_{kind_of(method)}_"]

    def uses(option: str) -> bool:
        if option.startswith("ts_"):
            return option.startswith(tuple(own))
        if option.startswith("snes_"):
            return not explicit and option != "snes_divergence_tolerance"
        return not option.startswith(SLEPC)

    return uses


def defaults(
    system: DiscreteSystem, method: Method, preconditioner: str | None = None, fixed: bool = True
) -> dict[str, Option]:
    """Return the options that suit a system, a method and the preconditioner asked for.

    `fixed`: nobody has chosen PETSc's factors.

    Newton's method takes whole steps: what leaves the domain of a law makes the time step
    shorter. Where penalties hold strains, their forces are large beside those of mass, and rtol
    is less. Explicit methods solve with the mass matrix: a few iterations of CG with Jacobi's
    preconditioner where a direct solver would be expensive, and there are no multipliers.
    """
    explicit, saddle = is_explicit(method), is_saddle(system)
    linear = linear_defaults(
        system,
        "lu" if explicit and saddle and preconditioner is None else preconditioner,
        dynamic=True,
        fixed=fixed and not explicit,
    )
    if not isinstance(method, str) or not explicit:
        return linear | {
            "ts_adapt_type": "none",
            "snes_type": "newtonls",
            "snes_linesearch_type": "basic",
            "snes_rtol": 1e-12 if holds_by_penalties(system) else 1e-8,
            "snes_atol": 0.0,
            "snes_stol": 0.0,
            "snes_max_it": 20,
        }
    if preconditioner == "gamg":
        linear |= {"ksp_type": "cg", "ksp_rtol": 1e-13}
    elif saddle and preconditioner == GRIDS:
        linear["ksp_rtol"] = 1e-13
    elif linear["ksp_type"] != "preonly":
        linear = {"ksp_type": "cg", "ksp_rtol": 1e-13, "pc_type": "jacobi"}
    return linear | {
        "ts_type": kind_of(method),
        "ts_rk_type": RUNGE_KUTTA.get(method, "5dp"),
        "ts_adapt_type": "basic",
    }

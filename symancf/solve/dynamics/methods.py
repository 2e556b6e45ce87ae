# SPDX-License-Identifier: BSD-3-Clause
"""The integrators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParameterError, closest
from ...values.arguments import among
from ...values.parameter import label
from .adams import Adams
from .explicit import Explicit
from .generalized_alpha import GeneralizedAlpha

if TYPE_CHECKING:
    from .accelerations import Accelerations
    from .stabilise import Stabilisation

IMPLICIT = "generalized-alpha"
RUNGE_KUTTA = {"rk": "5dp", "3bs": "3bs", "5dp": "5dp", "8vr": "8vr"}  # PETSc's -ts_rk_type
OTHERS = ("adams", "euler", "ssp")
METHODS = (IMPLICIT, *RUNGE_KUTTA, *OTHERS)


def checked(method: str, stabilisation: Stabilisation | None) -> str:
    """Return a name of a method.

    Raises
    ------
    ParameterError : there is no such method, or it needs no stabilisation.
    """
    if not among(method, METHODS):
        listed = ", ".join(map(repr, METHODS))
        hint = closest(str(method), METHODS)
        raise ParameterError(
            f"method={label(method)}:{hint} there are {listed}",
            asked="method",
            given=method,
            possible=METHODS,
        )
    if method == IMPLICIT and stabilisation is not None:
        raise ParameterError(
            f"stabilisation={stabilisation}: {IMPLICIT} of index 3 fulfils the constraints at each "
            'step as it is; stabilisation goes with explicit methods, method="rk"',
            asked="stabilisation",
            given=stabilisation,
            possible=(None,),
        )
    return method


def chosen(method: str, option: str | None) -> str:
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
    method: str, accelerations: Accelerations, rho: float, stabilisation: Stabilisation | None
) -> GeneralizedAlpha | Explicit:
    """Return the integrator of a method.

    Raises
    ------
    ParameterError : the method is explicit, and laws remember.
    """
    if method == IMPLICIT:
        return GeneralizedAlpha(accelerations, rho)
    for piece in accelerations.motion.system.memory.pieces:
        raise ParameterError(
            f"method={method!r}: {piece.name!r} remembers from step to step, and explicit methods "
            f"evaluate it within them; give method={IMPLICIT!r}",
            asked="method",
            given=method,
            possible=(IMPLICIT,),
        )
    made = Adams if method == "adams" else Explicit
    return made(accelerations, stabilisation, kind_of(method))

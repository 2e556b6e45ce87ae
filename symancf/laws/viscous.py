# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of viscous stresses: forces on the rates of the quantities of an element.

A function asks for quantities and for their rates by name (``E_gl``, ``E_gl_rate``) and returns
the stress conjugate to each rate, ``{"E_gl": S}``. With the power
:math:`\sum_k S_k : \dot Q_k` the generalised forces on the jets are
:math:`\sum_k S_k : \partial Q_k/\partial u`: the compiler derives the rates and pulls the
stresses back.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp

from symancf_codegen.declare import RATE_FACTOR, Parameter, PointLaw, unknown
from symancf_codegen.functions import rate

from ..errors import KinematicsError, SymancfError, in_words
from ..kinematics.memory import own_arguments
from ..kinematics.quantity import Value, real
from ..values.parameter import label
from .build import Kinds, closure

if TYPE_CHECKING:
    from ..kinematics import Kinematics

Viscous = Callable[..., Mapping[str, Value]]


def solid(E_gl_rate: sp.Matrix, *, eta: sp.Expr, eta_volumetric: sp.Expr) -> dict[str, Value]:
    r"""Return :math:`S = 2\eta\,\mathrm{dev}\dot E + \eta_v\,\mathrm{tr}\dot E\, I`."""
    trace = E_gl_rate.trace()
    return {"E_gl": 2 * eta * E_gl_rate + (eta_volumetric - 2 * eta / 3) * trace * sp.eye(3)}


def thin_plate(
    E_gl_rate: sp.Matrix,
    kappa_rate: sp.Matrix,
    *,
    eta: sp.Expr,
    eta_volumetric: sp.Expr,
    thickness: sp.Expr,
) -> dict[str, Value]:
    r"""Return the law of `solid` without stress across the thickness, h S and h^3 S/12.

    :math:`S = 2\eta\,\dot E + \lambda\,\mathrm{tr}\dot E\,I`,
    :math:`\lambda = 2\eta\ell/(2\eta + \ell)`, :math:`\ell = \eta_v - \tfrac23\eta`.
    """
    lame = eta_volumetric - 2 * eta / 3
    plane = 2 * eta * lame / (2 * eta + lame)

    def stress(rate: sp.Matrix) -> sp.Matrix:
        return 2 * eta * rate + plane * rate.trace() * sp.eye(2)

    return {
        "E_gl": thickness * stress(E_gl_rate),
        "kappa": thickness**3 / 12 * stress(kappa_rate),
    }


def cable(
    epsilon_rate: sp.Expr, kappa_rate: sp.Expr, *, eta: sp.Expr, A: sp.Expr, I: sp.Expr
) -> dict[str, Value]:
    """Return the axial force eta A d(epsilon)/dt and the moment eta I d(kappa)/dt."""
    return {"epsilon": eta * A * epsilon_rate, "kappa": eta * I * kappa_rate}


def plane_cable(
    epsilon_rate: sp.Expr, kappa_plane_rate: sp.Expr, *, eta: sp.Expr, A: sp.Expr, I: sp.Expr
) -> dict[str, Value]:
    """Return the law of `cable` with the signed curvature of a cable in the plane."""
    return {"epsilon": eta * A * epsilon_rate, "kappa_plane": eta * I * kappa_plane_rate}


def straight_cable(
    epsilon_rate: sp.Expr,
    kappa_squared: sp.Expr,
    kappa_squared_rate: sp.Expr,
    *,
    eta: sp.Expr,
    A: sp.Expr,
    I: sp.Expr,
    kappa_small: sp.Expr,
) -> dict[str, Value]:
    """Return the law of `cable` from kappa^2: the curvature of a straight cable has no sign.

    The power eta I (d kappa/dt)^2 = eta I (d kappa^2/dt)^2/(4 kappa^2) is kept finite at
    kappa = 0 by `kappa_small`^2, added to kappa^2.
    """
    moment = eta * I * kappa_squared_rate / (4 * (kappa_squared + kappa_small**2))
    return {"epsilon": eta * A * epsilon_rate, "kappa_squared": moment}


def homogeneous(law: Viscous) -> Viscous:
    """Return a law of cables that takes the radius of gyration from stiffnesses, I = A EI/EA."""

    def of_section(
        *quantities: Value, A: sp.Expr, EA: sp.Expr, EI: sp.Expr, **others: sp.Expr
    ) -> Mapping[str, Value]:
        return law(*quantities, A=A, I=A * EI / EA, **others)

    given = inspect.signature(law).parameters
    asked = [a for name, a in given.items() if name != "I"]
    asked += [given["A"].replace(name=name) for name in ("EA", "EI")]
    of_section.__name__ = f"homogeneous_{law.__name__}"
    vars(of_section)["__signature__"] = inspect.Signature(asked)
    return of_section


def viscous_law(
    name: str, kinematics: Kinematics, function: Viscous, kinds: Kinds | None = None
) -> PointLaw:
    """Return the law of viscous stresses at one point of a body; it knows rates.

    Parameters
    ----------
    function : asks for quantities and rates; returns a stress for each rate.
    kinds : classes of parameters; those not named are uniform.

    Raises
    ------
    KinematicsError : it asks for, or returns a stress of, what the element does not offer.
    """
    own = sorted(own_arguments(function))
    if own:
        raise KinematicsError(
            f"{function.__name__}() remembers or solves for {', '.join(own)}: viscous stresses "
            "follow from rates alone; let the energy of the body do that",
            asked=own[0],
            given=function.__name__,
        )
    values = {n: q.value for n, q in kinematics.quantities.items()}
    if any(s.name == "kappa_squared" for s, _ in kinematics.lets):
        values["kappa_squared"] = next(s for s, _ in kinematics.lets if s.name == "kappa_squared")
    wanted = inspect.signature(function).parameters
    rates = [n for n in wanted if n.endswith("_rate")]
    for n, a in wanted.items():
        if a.kind is not a.KEYWORD_ONLY and n.removesuffix("_rate") not in values:
            offered = ", ".join(f"{v}, {v}_rate" for v in values)
            raise KinematicsError(
                f"{function.__name__}() asks for {n!r}; this element offers {offered}",
                asked=n,
                possible=tuple(values),
            )
    quantities = [n.removesuffix("_rate") for n in rates]
    keywords = {n: real(n) for n, a in wanted.items() if a.kind is a.KEYWORD_ONLY}
    asked = [values[n.removesuffix("_rate")] for n, a in wanted.items() if n not in keywords]
    used = closure({s for v in asked for s in v.free_symbols}, dict(kinematics.lets))
    rate_of: dict[sp.Expr, sp.Symbol] = {}
    for q in quantities:
        for k, e in enumerate(_scalars(values[q])):
            rate_of.setdefault(e, real(f"rate_{e.name if e.is_Symbol else f'{q}_{k + 1}'}"))
    arguments = []
    for n, value in zip((n for n in wanted if n not in keywords), asked, strict=True):
        arguments.append(_map(value, rate_of.__getitem__) if n.endswith("_rate") else value)
    try:
        stresses: Any = function(*arguments, **keywords)
    except SymancfError:
        raise
    except Exception as error:
        raise KinematicsError(f"{function.__name__}() failed: {in_words(error)}") from error
    if not isinstance(stresses, Mapping) or set(stresses) != set(quantities):
        named = ", ".join(stresses) if isinstance(stresses, Mapping) else label(stresses)
        raise KinematicsError(
            f"{function.__name__}() must return a stress for each rate that it asks for: "
            f"{', '.join(quantities)}; it returned {named or 'none'}",
            asked="stress",
            given=tuple(stresses) if isinstance(stresses, Mapping) else stresses,
            possible=quantities,
        )
    stress_lets: list[tuple[sp.Symbol, sp.Expr]] = []
    work: dict[sp.Expr, sp.Expr] = {}
    for q, stress in stresses.items():
        for k, (e, S) in enumerate(zip(_scalars(values[q]), _scalars(stress), strict=True)):
            stress_lets.append((real(f"stress_{q}_{k + 1}"), S))
            work[e] = work.get(e, sp.S.Zero) + stress_lets[-1][0]
    needed = (RATE_FACTOR, *keywords, *kinematics.section)
    kinds = kinds or {}
    return PointLaw(
        name=name,
        unknowns=tuple(s for jet in kinematics.jets for s in unknown(jet)),
        jets=kinematics.jets,
        inner=kinematics.inner,
        geometry=kinematics.geometry,
        lets=(
            *(let for let in kinematics.lets if let[0] in used),
            *((symbol, rate(e)) for e, symbol in rate_of.items()),
            *stress_lets,
        ),
        work=work,
        measure=kinematics.measure,
        domain=tuple(d for d in kinematics.domain if d.free_symbols <= used),
        parameters=tuple(
            Parameter(real(p), kinds.get(p, "uniform")) for p in dict.fromkeys(needed)
        ),
        rates=True,
        called=f"{function.__name__}()",
        title=f"viscous stresses {function.__name__} on the rates of {', '.join(quantities)}",
    )


def _scalars(value: Value) -> list[sp.Expr]:
    return list(value) if isinstance(value, sp.MatrixBase) else [value]


def _map(value: Value, function: Callable[[sp.Expr], sp.Expr]) -> Value:
    return value.applyfunc(function) if isinstance(value, sp.MatrixBase) else function(value)

# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of viscous stresses: forces on the rates of the quantities of an element.

A function asks for quantities and for their rates by name (``E_gl``, ``E_gl_rate``) and returns
the stress conjugate to each rate, ``{"E_gl": S}``. With the power
:math:`\sum_k S_k : \dot Q_k` the generalised forces on the jets are
:math:`\sum_k S_k : \partial Q_k/\partial u`: the compiler derives the rates and pulls the
stresses back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import RATE_FACTOR, KernelParameter, Lets, PointLaw, unknown
from symancf_codegen.functions import rate

from ..errors import KinematicsError
from ..kinematics.memory import require_plain
from ..kinematics.quantity import Value, real
from ..kinematics.rod import ROD_STRAINS, STIFFNESS
from ..values.functions import REQUIRED, arguments_of, taking
from ..values.parameter import label
from ..values.reader import (
    as_expression,
    call_symbolic,
    read,
    require_quantities,
    require_shape,
    scalar,
)
from .build import Kinds, closure

if TYPE_CHECKING:
    from ..kinematics import Kinematics

Viscous = Callable[..., Mapping[str, Value]]

#: What the name of a rate ends in.
RATE = "_rate"


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


def rod(
    epsilon_rate: sp.Expr,
    gamma2_rate: sp.Expr,
    gamma3_rate: sp.Expr,
    kappa1_rate: sp.Expr,
    kappa2_rate: sp.Expr,
    kappa3_rate: sp.Expr,
    *,
    eta: sp.Expr,
    A: sp.Expr,
    EA: sp.Expr,
    GA2: sp.Expr,
    GA3: sp.Expr,
    GJ: sp.Expr,
    EI2: sp.Expr,
    EI3: sp.Expr,
    GA23: sp.Expr = 0.0,
    EI23: sp.Expr = 0.0,
    y_shear: sp.Expr = 0.0,
    z_shear: sp.Expr = 0.0,
) -> dict[str, Value]:
    r"""Return the forces of `energies.rod` with rates for strains, times eta A/EA.

    The rates of the section's own strain, which a penalty holds, are not damped.
    """
    time = eta * A / EA
    g2 = gamma2_rate - z_shear * kappa1_rate
    g3 = gamma3_rate + y_shear * kappa1_rate
    Q2, Q3 = time * (GA2 * g2 + GA23 * g3), time * (GA3 * g3 + GA23 * g2)
    return {
        "epsilon": time * EA * epsilon_rate,
        "gamma2": Q2,
        "gamma3": Q3,
        "kappa1": time * GJ * kappa1_rate - z_shear * Q2 + y_shear * Q3,
        "kappa2": time * (EI2 * kappa2_rate - EI23 * kappa3_rate),
        "kappa3": time * (EI3 * kappa3_rate - EI23 * kappa2_rate),
    }


def coupled_rod(*rates: sp.Expr, eta: sp.Expr, A: sp.Expr, **C: sp.Expr) -> dict[str, Value]:
    r"""Return the forces of `energies.rod` with a matrix C, of rates, times eta A/C11."""
    time = eta * A / C["C11"]
    rows = [
        time * sp.Add(*(C[STIFFNESS[min(i, k), max(i, k)]] * rate for k, rate in enumerate(rates)))
        for i in range(len(rates))
    ]
    return dict(zip(ROD_STRAINS, rows, strict=True))


taking(
    coupled_rod,
    (f"{strain}{RATE}" for strain in ROD_STRAINS),
    dict.fromkeys(("eta", "A", *STIFFNESS.values()), REQUIRED),
)


def homogeneous(law: Viscous) -> Viscous:
    """Return a law of cables that takes the radius of gyration from stiffnesses, I = A EI/EA."""

    def of_section(
        *quantities: Value, A: sp.Expr, EA: sp.Expr, EI: sp.Expr, **others: sp.Expr
    ) -> Mapping[str, Value]:
        return law(*quantities, A=A, I=A * EI / EA, **others)

    arguments = arguments_of(law)
    parameters = (*(p for p in arguments.keywords if p != "I"), "EA", "EI")
    of_section.__name__ = f"homogeneous_{law.__name__}"
    taking(of_section, arguments.positional, dict.fromkeys(parameters, REQUIRED))
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
    values = _offered(kinematics)
    arguments_of_law, parameters = _arguments(function, values)
    rated = [n.removesuffix(RATE) for n in arguments_of_law if n.endswith(RATE)]
    rate_of = _rates(rated, values)
    symbols_by_name = values | {f"{q}{RATE}": _map(values[q], rate_of.__getitem__) for q in rated}
    arguments = [symbols_by_name[n] for n in arguments_of_law]
    symbols = {p: real(p) for p in parameters}
    stresses = _stresses(function, rated, values, arguments, symbols)
    stress_lets, work = _work(stresses, values)
    used = _symbols((values[n.removesuffix(RATE)] for n in arguments_of_law), kinematics)
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
        parameters=_declared((RATE_FACTOR, *parameters, *kinematics.section), kinds or {}),
        rates=True,
        called=f"{function.__name__}()",
        title=f"viscous stresses {function.__name__} on the rates of {', '.join(rated)}",
    )


def _offered(kinematics: Kinematics) -> dict[str, Value]:
    """Return the quantities that a law may ask for: of straight cables kappa^2, too."""
    values = {n: q.value for n, q in kinematics.quantities.items()}
    return values | {s.name: s for s, _ in kinematics.lets if s.name == "kappa_squared"}


def _arguments(function: Viscous, values: Mapping[str, Value]) -> tuple[list[str], list[str]]:
    """Return the quantities and rates that a law asks for, and its parameters.

    Raises
    ------
    KinematicsError : a quantity is not among the `values`, or the law has a memory or unknowns.
    """
    wanted = read(function)
    why = "viscous stresses follow from rates alone; let the energy of the body do that"
    require_plain(f"{wanted.name}()", function, why, memory=False)
    offered = [name for v in values for name in (v, f"{v}{RATE}")]
    require_quantities(f"{wanted.name}()", wanted, offered, "this element")
    return [*wanted.quantities], [*wanted.parameters]


def _rates(rated: Sequence[str], values: Mapping[str, Value]) -> dict[sp.Expr, sp.Symbol]:
    """Return the symbols of the rates of all scalars of some quantities."""
    rate_of: dict[sp.Expr, sp.Symbol] = {}
    for q in rated:
        for k, e in enumerate(_scalars(values[q]), 1):
            rate_of.setdefault(e, real(f"rate_{e.name if e.is_Symbol else f'{q}_{k}'}"))
    return rate_of


def _stresses(
    function: Viscous,
    rated: Sequence[str],
    values: Mapping[str, Value],
    arguments: Sequence[Value],
    parameters: Mapping[str, sp.Expr],
) -> Mapping[str, Value]:
    """Return what a law returns: a stress for each quantity whose rate it asks for."""
    stresses = call_symbolic(f"{function.__name__}()", function, arguments, parameters)
    if isinstance(stresses, Mapping) and set(stresses) == set(rated):
        symbols = sp.Tuple(*arguments, *parameters.values()).free_symbols
        return {
            q: _stress(function.__name__, q, s, values[q], symbols) for q, s in stresses.items()
        }
    returned = ", ".join(stresses) if isinstance(stresses, Mapping) else label(stresses)
    raise KinematicsError(
        f"{function.__name__}() must return a stress for each rate that it asks for: "
        f"{', '.join(rated)}; it returned {returned or 'none'}",
        asked="stress",
        given=tuple(stresses) if isinstance(stresses, Mapping) else stresses,
        possible=rated,
    )


def _stress(
    name: str, quantity: str, value: object, conjugate: Value, symbols: set[sp.Symbol]
) -> Value:
    """Return the stress of a quantity, of its shape and of known symbols alone."""
    what = f"the stress {quantity!r} of {name}()"
    stress = as_expression(what, quantity, value)
    require_shape(what, quantity, stress, conjugate)
    for e in _scalars(stress):
        scalar(what, quantity, e, symbols)
    return stress


def _work(
    stresses: Mapping[str, Value], values: Mapping[str, Value]
) -> tuple[Lets, dict[sp.Expr, sp.Expr]]:
    """Return the stresses as lets, and their sum for each scalar to which they are conjugate."""
    lets: list[tuple[sp.Symbol, sp.Expr]] = []
    work: dict[sp.Expr, sp.Expr] = {}
    for q, stress in stresses.items():
        for k, (e, S) in enumerate(zip(_scalars(values[q]), _scalars(stress), strict=True), 1):
            symbol = real(f"stress_{q}_{k}")
            lets.append((symbol, S))
            work[e] = work.get(e, sp.S.Zero) + symbol
    return tuple(lets), work


def _symbols(values: Iterable[Value], kinematics: Kinematics) -> set[sp.Symbol]:
    """Return the symbols that quantities are made of."""
    return closure({s for v in values for s in v.free_symbols}, dict(kinematics.lets))


def _declared(names: Iterable[str], kinds: Kinds) -> tuple[KernelParameter, ...]:
    """Return the parameters with some names, once each."""
    return tuple(KernelParameter(real(p), kinds.get(p, "uniform")) for p in dict.fromkeys(names))


def _scalars(value: Value) -> list[sp.Expr]:
    return list(value) if isinstance(value, sp.MatrixBase) else [value]


def _map(value: Value, function: Callable[[sp.Expr], sp.Expr]) -> Value:
    return value.applyfunc(function) if isinstance(value, sp.MatrixBase) else function(value)

# SPDX-License-Identifier: BSD-3-Clause
"""Moduli at small strain: those of an energy, and energies whose constants follow from them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

import sympy as sp

from symancf_codegen.functions import derivative, symbolic

from ..errors import KinematicsError
from ..values.domain import Domain, between, combinations_of, domains_of, marked
from ..values.domain import positive as positive_number
from ..values.functions import REQUIRED, arguments_of, taking
from .naming import signature
from .quantity import Kinematics, positive
from .stretches import LOGS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from .naming import Energy

Function = TypeVar("Function", bound="Callable[..., Any]")

#: Domains of what isotropic laws may be given instead of their first constants.
YOUNG = {
    "E": positive_number(),
    "nu": between(
        -1, 0.5, "beyond -1 the shear modulus is negative, at 1/2 the bulk modulus infinite"
    ),
}
_LIMITS = {**YOUNG, "G": positive_number(), "k": positive_number()}


def _of_young(E: sp.Expr, nu: sp.Expr) -> tuple[sp.Expr, ...]:
    return E, nu, E / (2 * (1 + nu)), E / (3 * (1 - 2 * nu))


def _of_shear(G: sp.Expr, nu: sp.Expr) -> tuple[sp.Expr, ...]:
    return 2 * G * (1 + nu), nu, G, 2 * G * (1 + nu) / (3 * (1 - 2 * nu))


def _of_bulk(G: sp.Expr, k: sp.Expr) -> tuple[sp.Expr, ...]:
    return 9 * k * G / (3 * k + G), (3 * k - 2 * G) / (2 * (3 * k + G)), G, k


#: Constants of laws that have E and nu themselves.
OWN: dict[str, Callable[..., Any]] = {"E": lambda E: E, "nu": lambda nu: nu}

#: Two moduli -> E, nu, mu and k: Young's modulus, Poisson's ratio, shear and bulk modulus.
PAIRS = {("E", "nu"): _of_young, ("G", "nu"): _of_shear, ("G", "k"): _of_bulk}


def _at(kinematics: Kinematics, energy: sp.Expr, F: sp.Matrix, logs: Sequence[sp.Expr]) -> sp.Expr:
    """Return an energy of solid quantities at F, whose principal stretches have `logs`."""
    C = (F.T * F).applyfunc(sp.expand)
    E = (C - sp.eye(3)) / 2
    trace = C.trace()
    values = {
        "F": F,
        "J": F.det(),
        "I1": trace,
        "I2": (trace**2 - (C * C).trace()) / 2,
        "C": C,
        "E_gl": E,
        "E_beam": E,
        "H": F - sp.eye(3),
    }
    replace: dict[sp.Symbol, sp.Expr] = dict(zip(LOGS, logs, strict=True))
    for name in values.keys() & kinematics.quantities.keys():
        value = values[name]
        symbol = kinematics.quantities[name].value
        if isinstance(symbol, sp.Symbol):
            replace[symbol] = value
        else:
            replace.update(zip(symbol, value, strict=True))
    return energy.xreplace({s: symbolic(v) for s, v in replace.items()})


def _second(energy: sp.Expr, s: sp.Symbol, at: int) -> sp.Expr:
    return sp.factor(derivative(derivative(energy, s), s).subs(s, at))


def shear_modulus(kinematics: Kinematics, energy: sp.Expr) -> sp.Expr:
    """Return mu = d^2 W/d gamma^2 at F = I + gamma e1 e2."""
    g = sp.Symbol("gamma", real=True)
    F = sp.Matrix([[1, g, 0], [0, 1, 0], [0, 0, 1]])
    turn = sp.asinh(g / 2)
    return _second(_at(kinematics, energy, F, (turn, 0, -turn)), g, 0)


def bulk_modulus(kinematics: Kinematics, energy: sp.Expr) -> sp.Expr:
    """Return k = d^2 W/dJ^2 at F = J^(1/3) I, J = 1."""
    s = positive("stretch")
    w = _at(
        kinematics, energy, s * sp.eye(3), [sp.log(s)] * 3
    )  # J = s^3: W_ss = 9 W_JJ + 6 W_J at s = 1
    first = derivative(w, s).subs(s, 1) / 3
    return sp.factor((derivative(derivative(w, s), s).subs(s, 1) - 6 * first) / 9)


def young_modulus(kinematics: Kinematics, energy: sp.Expr) -> sp.Expr:
    """Return Young's modulus E = 9 k mu/(3 k + mu) at F = I; of cables and rods the stiffness EA.

    That is d^2 W/d epsilon^2 without strain and bending.
    """
    if kinematics.name in ("cable", "rod"):
        strains = {s for s in energy.free_symbols if str(s).startswith("epsilon")}
        second = sp.Add(*(derivative(derivative(energy, s), s) for s in strains))
        symbols = {s for value in kinematics.lets for s in value[:1]}
        return second.xreplace(dict.fromkeys(symbols, sp.S.Zero))
    mu, k = shear_modulus(kinematics, energy), bulk_modulus(kinematics, energy)
    return sp.factor(9 * k * mu / (3 * k + mu))


def split_factor(kinematics: Kinematics, parts: Mapping[str, sp.Expr]) -> sp.Expr:
    r"""Return the share of the volumetric part that is integrated at the full rule.

    A plate whose director is linear in z needs the bulk modulus k0 of plane stress at all
    points, and the rest, k - k0, at the mid-surface only:

    .. math::
        k_0 = \bar\lambda + \tfrac23\mu, \quad
        \bar\lambda = \frac{2\mu\lambda}{\lambda+2\mu}, \quad \lambda = k - \tfrac23\mu,

    with mu and k the energy's own second derivatives at F = I. If the other parts have a bulk
    modulus k' of their own, they carry it everywhere and the share is (k0 - k')/(k - k').

    Raises
    ------
    KinematicsError : if the quantities are not those of a solid, or the volumetric part has no
        stiffness.
    """
    if "J" not in kinematics.quantities:
        raise KinematicsError(
            "volumetric='split' is for solids; this element offers no J",
            asked="J",
            possible=kinematics.quantities,
        )
    other = sp.Add(*(w for part, w in parts.items() if part != "volumetric"))
    own = bulk_modulus(kinematics, parts["volumetric"])
    if own == 0:
        raise KinematicsError(
            "volumetric='split': the part 'volumetric' has no second derivative by J at J = 1"
        )
    carried = bulk_modulus(kinematics, other)
    mu = shear_modulus(kinematics, other) + shear_modulus(kinematics, parts["volumetric"])
    lam = own + carried - sp.Rational(2, 3) * mu
    k0 = 2 * mu * lam / (lam + 2 * mu) + sp.Rational(2, 3) * mu
    return sp.factor((k0 - carried) / own)


# ---- moduli in the place of constants ------------------------------------------------------------
def isotropic(**constants: Callable[..., Any]) -> Callable[[Function], Function]:
    """Declare how constants of an isotropic law follow from its moduli at small strain.

    Parameters
    ----------
    constants : name of a parameter -> function of some of E, nu, mu (shear modulus), k (bulk
        modulus) and of other parameters; names that are none of the law's are new ones.

    Examples
    --------
    >>> @isotropic(C10=lambda mu: mu / 2, k=lambda k: k)
    ... def law(J, I1, *, C10, k): ...
    """

    def declare(energy: Function) -> Function:
        return marked(energy, constants=constants)

    return declare


def constants_of(energy: object) -> Mapping[str, Callable[..., Any]]:
    """Return what `isotropic` declared of a law; it is empty where nothing is."""
    declared: Mapping[str, Callable[..., Any]] = getattr(energy, "constants", {})
    return declared


def by_moduli(energy: Any, names: Collection[str]) -> Any:
    """Return a law of two moduli in the place of its constants, where these are among the `names`.

    They are E and nu, the shear modulus G and nu, or G and the bulk modulus k.
    """
    constants = constants_of(energy)
    if constants and not {*constants} <= {*names}:
        for pair in PAIRS:
            if {*pair} <= {*names}:
                return _of_pair(energy, pair)
    return energy


@functools.lru_cache(maxsize=256)
def _of_pair(energy: Energy, pair: tuple[str, str]) -> Energy:
    constants, asked = constants_of(energy), signature(energy)
    all_moduli = ("E", "nu", "mu", "k")
    needed = {a for f in constants.values() for a in arguments_of(f).positional}
    new = [a for a in sorted(needed - {*all_moduli}) if a not in asked.parameters]
    given = arguments_of(energy)
    kept = {p: given.defaults.get(p, REQUIRED) for p in given.keywords if p not in constants}

    @functools.wraps(energy)
    def law(*quantities: Any, **own: Any) -> Any:
        others = {p: x for p, x in own.items() if p not in pair}
        at = {**others, **dict(zip(all_moduli, PAIRS[pair](*(own[p] for p in pair)), strict=True))}
        first = {p: f(*(at[a] for a in arguments_of(f).positional)) for p, f in constants.items()}
        return energy(*quantities, **first, **{p: x for p, x in others.items() if p not in new})

    taking(law, given.positional, {**dict.fromkeys((*pair, *new), REQUIRED), **kept})
    limits = {p: d for p, d in domains_of(energy).items() if p not in constants}
    two = {p: domains_of(energy).get(p, _LIMITS[p]) for p in pair}
    law.domains = {**limits, **two}  # type: ignore[attr-defined]

    def constant(name: str) -> Callable[..., Any]:
        """Return a constant of the law as a function of the two moduli and of other parameters."""
        asks = arguments_of(constants[name]).positional
        names = (*pair, *(a for a in asks if a not in all_moduli))

        def value(*numbers: Any) -> Any:
            at = dict(zip(names, numbers, strict=True))
            at |= dict(zip(all_moduli, PAIRS[pair](*numbers[:2]), strict=True))
            return constants[name](*(at[a] for a in asks))

        taking(value, names)
        return value

    known = domains_of(energy)
    derived = {p: (constant(p), known.get(p, Domain())) for p in constants}
    law.combinations = {**combinations_of(energy), **derived}  # type: ignore[attr-defined]
    del law.constants  # type: ignore[attr-defined]
    return law

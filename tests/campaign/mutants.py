# SPDX-License-Identifier: BSD-3-Clause
"""Mutants of the laws of the catalogue, and how many of them `sa.check` names.

A mutant has one mistake in the graph of its expression: a sign, an exponent, a missing
determinant, a wrong invariant, a lost factor. `mutant_judge`, which shares no code with the check,
finds those that violate no property; they are set aside. Run ``python -m tests.campaign.mutants
SEED [COUNT [FIRST]]``: a line for each mutant as it is judged, of COUNT those from FIRST on. One
that takes more than `LIMIT` seconds of CPU time is not decided, and counts as missed.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

import symancf as sa
from symancf import energies
from symancf.errors import SymancfError
from symancf.kinematics import beam_solid, cable, rod, solid, thin_plate
from symancf.laws.properties import STRUCTURE_PROPERTIES, sample_of, structure_of
from symancf.laws.properties.law import LAW_PROPERTIES
from symancf.values.domain import marked
from symancf.values.functions import REQUIRED, arguments_of, taking

from .mutant_judge import violates

LIMIT = 120.0  # s of CPU time for a mutant
BOX = (0.8, 1.25)  # of stretches, in which the laws of the catalogue are convex

ORTHOTROPIC = dict(
    E1=1.3, E2=1.1, E3=1.0, nu12=0.3, nu13=0.2, nu23=0.25, G12=0.4, G13=0.35, G23=0.38
)

#: Laws of the catalogue, with numbers of their parameters.
CATALOGUE: dict[str, tuple[Any, dict[str, float]]] = {
    "yeoh": (energies.yeoh(), dict(C10=0.2, C20=0.05, C30=0.01, k=2.0)),
    "neo_hooke": (energies.neo_hooke(), dict(mu=0.4, lam=0.8)),
    "saint_venant_kirchhoff": (energies.saint_venant_kirchhoff(), dict(E=1.0, nu=0.3)),
    "mooney_rivlin": (energies.mooney_rivlin(), dict(C10=0.15, C01=0.05, k=2.0)),
    "gent": (energies.gent(), dict(mu=0.4, Jm=3.0, k=2.0)),
    "arruda_boyce": (energies.arruda_boyce(), dict(mu=0.4, lambda_m=1.5, k=2.0)),
    "hencky": (energies.hencky(), dict(mu=0.4, k=1.3)),
    "ogden": (energies.ogden(terms=2), dict(mu1=0.3, alpha1=1.7, mu2=-0.05, alpha2=-2.4, k=2.0)),
    "extended_tube": (energies.extended_tube(), dict(Gc=0.3, Ge=0.2, beta=0.4, delta=0.3, k=2.0)),
    "fung": (
        energies.fung(),
        dict(c=0.3, b11=1.9, b22=1.5, b33=1.2, b12=0.2, b13=0.15, b23=0.1)
        | dict(b44=0.9, b55=0.8, b66=0.7, k=2.0),
    ),
    "holzapfel_gasser_ogden": (
        energies.holzapfel_gasser_ogden(),
        dict(mu=0.4, k1=0.3, k2=0.8, kappa=0.1, k=2.0),
    ),
    "orthotropic": (energies.orthotropic(), ORTHOTROPIC),
    "cable": (energies.cable(), dict(EA=2.0, EI=0.3)),
    "kirchhoff": (energies.kirchhoff(), dict(E=1.0, nu=0.3, thickness=0.2)),
    "rod": (
        energies.rod(),
        dict(EA=2.0, GA2=0.7, GA3=0.8, GJ=0.2, EI2=0.3, EI3=0.4, GA23=0.1, EI23=0.05)
        | dict(y_shear=0.2, z_shear=0.3, rigidity=50.0),
    ),
    "split_beam": (energies.split_beam(), dict(E=1.0, nu=0.3, k2=0.85, k3=0.9)),
}

KINDS = ("sign", "exponent", "missing det", "wrong invariant", "lost factor")


@dataclass(frozen=True)
class Mutant:
    """A law with a mistake.

    Attributes
    ----------
    name, kind : of the law, and of the mistake.
    what : the place of the mistake before and after.
    law : the function.
    parts : its energies, in the symbols of quantities and parameters, and those of the law itself.
    """

    name: str
    kind: str
    what: str
    law: Callable[..., Any]
    parts: dict[str, sp.Expr]
    original: dict[str, sp.Expr]
    values: dict[str, float]


def plain(name: str) -> tuple[dict[str, Any], dict[str, sp.Symbol], dict[str, sp.Expr]]:
    """Return symbols of the quantities and parameters of a law, and its parts in them."""
    law, _ = CATALOGUE[name]
    asked = arguments_of(law)
    families = (f() for f in (solid, cable, rod, thin_plate, beam_solid))
    kinematics = next(k for k in families if {*asked.positional} <= k.quantities.keys())
    quantities: dict[str, Any] = {}
    for q in asked.positional:
        value = kinematics.quantities[q].value
        if isinstance(value, sp.MatrixBase):
            n = value.shape[0]
            quantities[q] = sp.Matrix(
                n, n, lambda i, k, q=q: sp.Symbol(f"{q}_{min(i, k)}{max(i, k)}", real=True)
            )
        else:
            quantities[q] = sp.Symbol(q, positive=isinstance(value, sp.Symbol), real=True)
    parameters = {p: sp.Symbol(p, real=True) for p in asked.keywords}
    result = law(*quantities.values(), **parameters)
    parts = dict(result) if isinstance(result, dict) else {"": result}
    return quantities, parameters, {k: sp.Integer(0) + w for k, w in parts.items()}


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    """Yield mutants of laws that are drawn by chance."""
    chance, made = random.Random(seed), set()
    while len(made) < count:
        name, kind = chance.choice([*CATALOGUE]), chance.choice(KINDS)
        found = _mutated(name, kind, chance)
        if found is not None and (name, found.what) not in made:
            made.add((name, found.what))
            yield found


def _mutated(name: str, kind: str, chance: random.Random) -> Mutant | None:
    law, values = CATALOGUE[name]
    quantities, parameters, parts = plain(name)
    part = chance.choice([*parts])
    places = [(path, e) for path, e in _walk(parts[part]) if MUTATIONS[kind](e, chance, quantities)]
    if not places:
        return None
    path, e = chance.choice(places)
    options = MUTATIONS[kind](e, chance, quantities)
    other = chance.choice(options)
    changed = {**parts, part: _replaced(parts[part], path, other)}
    if _same(changed[part], parts[part]):
        return None
    if changed[part].has(sp.zoo, sp.nan, sp.oo):
        return None
    more = [q for q in ("I1", "I2", "J") if _uses(changed, q) and q not in quantities]
    names = [*quantities, *more]

    def mutant(*given: Any, **numbers: Any) -> Any:
        at: dict[sp.Basic, Any] = {parameters[p]: x for p, x in numbers.items()}
        for q, value in zip(names, given, strict=True):
            own = quantities.get(q, sp.Symbol(q, positive=True, real=True))
            if isinstance(own, sp.MatrixBase):
                at |= dict(zip(own, value, strict=True))
            else:
                at[own] = value
        result = {
            k: w.xreplace({s: sp.sympify(x) for s, x in at.items()}) for k, w in changed.items()
        }
        return result if {*result} != {""} else result[""]

    attributes = ("domains", "moduli", "stressed_at_rest")
    marks = {key: getattr(law, key) for key in attributes if hasattr(law, key)}
    mutant.__name__ = f"{name}_mutant"
    given = arguments_of(law)
    taking(mutant, names, {p: given.defaults.get(p, REQUIRED) for p in given.keywords})
    signature = mutant.__signature__  # type: ignore[attr-defined]
    declared = marked(mutant, **marks)
    declared.__signature__ = signature  # type: ignore[attr-defined]
    return Mutant(name, kind, f"{e} -> {other}", declared, changed, parts, values)


def _uses(parts: dict[str, sp.Expr], q: str) -> bool:
    return any(q == s.name for w in parts.values() for s in w.free_symbols)


def _walk(e: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
    yield path, e
    for k, a in enumerate(e.args):
        if isinstance(a, sp.Expr):
            yield from _walk(a, (*path, k))


def _replaced(e: sp.Expr, path: tuple[int, ...], other: sp.Expr) -> sp.Expr:
    if not path:
        return other
    arguments = list(e.args)
    arguments[path[0]] = _replaced(arguments[path[0]], path[1:], other)
    return e.func(*arguments)


def _same(a: sp.Expr, b: sp.Expr) -> bool:
    """Whether two expressions have the same values."""
    generator = np.random.default_rng(5)
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    for _ in range(3):
        at = {s: sp.Float(generator.uniform(0.5, 1.5)) for s in symbols}
        x, y = complex(a.xreplace(at).evalf()), complex(b.xreplace(at).evalf())
        if not abs(x - y) <= 1e-9 * (abs(x) + abs(y) + 1e-3):
            return False
    return True


# ---- mistakes ------------------------------------------------------------------------------------
def _signs(e: sp.Expr, chance: random.Random, quantities: Any) -> list[sp.Expr]:
    if not isinstance(e, sp.Add):
        return []
    return [e - 2 * a for a in e.args]


def _exponents(e: sp.Expr, chance: random.Random, quantities: Any) -> list[sp.Expr]:
    if not isinstance(e, sp.Pow):
        return []
    base, p = e.args
    return [base ** (-p), base ** (p + 1), base ** (2 * p), base ** (p - 1)]


def _no_det(e: sp.Expr, chance: random.Random, quantities: Any) -> list[sp.Expr]:
    if not isinstance(e, sp.Mul):
        return []
    dets = [a for a in e.args if isinstance(a, sp.Pow) and str(a.base) == "J"]
    return [e / a for a in dets]


def _invariants(e: sp.Expr, chance: random.Random, quantities: Any) -> list[sp.Expr]:
    if not isinstance(e, sp.Symbol):
        return []
    scalars = {"I1": ("I2", "J"), "I2": ("I1",), "J": ("I1",)}
    if e.name in scalars:
        return [sp.Symbol(q, positive=True, real=True) for q in scalars[e.name]]
    for q, value in quantities.items():
        if isinstance(value, sp.MatrixBase):
            own = [*value.atoms(sp.Symbol)]
            if e in own:
                return [s for s in sorted(own, key=str) if s != e]
        elif value == e:
            alike = [v for n, v in quantities.items() if n[:3] == q[:3] and n != q]
            return [v for v in alike if isinstance(v, sp.Symbol)]
    return []


def _factors(e: sp.Expr, chance: random.Random, quantities: Any) -> list[sp.Expr]:
    return [e / a for a in e.args if a != -1] if isinstance(e, sp.Mul) else []


MUTATIONS: dict[str, Callable[[sp.Expr, random.Random, Any], list[sp.Expr]]] = {
    "sign": _signs,
    "exponent": _exponents,
    "missing det": _no_det,
    "wrong invariant": _invariants,
    "lost factor": _factors,
}


# ---- the check -----------------------------------------------------------------------------------
def named(mutant: Mutant) -> list[str]:
    """Return the properties that the check finds violated, with their witnesses."""
    values = mutant.values
    try:
        structure = None
        if {*arguments_of(mutant.law).positional} <= solid().quantities.keys():
            sample = sample_of(mutant.law, values, BOX)
            with np.errstate(all="ignore"):
                found = [of(sample) for of in LAW_PROPERTIES]
        else:
            structure = structure_of(mutant.law, values)
            if structure is None:
                return []
            found = [of(structure) for of in STRUCTURE_PROPERTIES]
    except SymancfError as error:
        return [f"refused: {str(error)[:60]}"]
    return [p.name for p in found if not p.holds and p.witness]


class TooLong(BaseException):
    """What is computed takes too long; no Exception, since SymPy catches those."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooLong` where what is inside takes more CPU time (in the main thread)."""

    def end(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def verdict(mutant: Mutant) -> tuple[str, Any]:
    """Return what the check makes of a mutant, and what is wrong with it."""
    try:
        with within(LIMIT):
            wrong, found = violates(mutant), named(mutant)
    except TooLong:
        return "not decided", f"more than {LIMIT:g} s"
    if wrong:
        return ("named", found) if found else ("missed", wrong)
    return ("found by the check alone", found) if found else ("set aside", "")


def run(seed: int, count: int, first: int = 0) -> dict[str, Any]:
    """Judge and check mutants, print each, and return the numbers."""
    counts, before = Counter[str](), time.process_time()
    for number, mutant in enumerate(mutants(seed, count)):
        if number < first:
            continue
        start = time.process_time()
        result, why = verdict(mutant)
        counts[result] += 1
        print(
            f"{number} {result}: {mutant.name}, {mutant.kind}: {mutant.what}; {why} "
            f"({time.process_time() - start:.1f} s)",
            flush=True,
        )
    total = sum(counts.values())
    numbers = {
        "seed": seed,
        "mutants": total,
        "set aside": counts["set aside"],
        "found by the check alone": counts["found by the check alone"],
        "not decided": counts["not decided"],
        "judged": total - counts["set aside"] - counts["found by the check alone"],
        "named": counts["named"],
        "seconds": round(time.process_time() - before, 1),
    }
    print(numbers, flush=True)
    return numbers


def main() -> None:
    """Run a seed, and fail where fewer than 95 % are named or more than 25 % are set aside."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for name, (law, values) in CATALOGUE.items():
        own = sa.check(law, **values)
        if not own.passed:
            raise SystemExit(f"an alarm on {name}: {own}")
    result = run(seed, count, first)
    good = result["named"] >= 0.95 * result["judged"]
    unjudged = result["set aside"] + result["found by the check alone"]
    raise SystemExit(0 if good and unjudged <= 0.25 * result["mutants"] else 1)


if __name__ == "__main__":
    main()

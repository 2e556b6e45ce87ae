# SPDX-License-Identifier: BSD-3-Clause
"""A point law from an expression of quantities: it keeps only the lets that it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from symancf_codegen.declare import (
    HistoryVariable,
    KernelParameter,
    Lets,
    Local,
    PointLaw,
    reference,
    unknown,
)
from symancf_codegen.functions import force_on, symbolic

from ..kinematics.layer import ANGLE
from ..kinematics.quantity import centre, real
from .limits import limits

if TYPE_CHECKING:
    from ..kinematics import Kinematics

Kind = Literal["uniform", "cell", "point"]
Kinds = Mapping[str, Kind]

NOTHING: Mapping[str, Any] = MappingProxyType({})

#: Symbols that points through a thickness know.
SECTION = ("zeta", *ANGLE)

#: What the names of corrections of stresses begin with, see `newton.stress_predictor`.
PREDICTED = "predicted_"
#: That of the pressure of solids.
PREDICTED_PRESSURE = f"{PREDICTED}pressure"

#: The displacement as inner variables.
DISPLACEMENT = {s: real(f"displacement{i}") for i, s in enumerate(unknown("value"), 1)}


def kinds_of(fields: Collection[str]) -> Kinds:
    """Return the classes of parameters that vary: names, by default per cell, or a mapping."""
    return fields if isinstance(fields, Mapping) else dict.fromkeys(fields, "cell")


def build_law(
    name: str,
    kinematics: Kinematics,
    energy: sp.Expr,
    *,
    scalars: Mapping[str, sp.Expr] = NOTHING,
    extra_geometry: Lets = (),
    kinds: Kinds = NOTHING,
    values: Mapping[str, float] = NOTHING,
    title: str = "",
    called: str = "",
    outputs: Mapping[str, sp.Expr] | None = None,
    history: tuple[HistoryVariable, ...] = (),
    stored: sp.Expr | None = None,
    local: tuple[Local, ...] = (),
    shared: bool = False,
) -> PointLaw:
    """Return the point law of an expression of quantities: only the lets that it needs.

    Parameters
    ----------
    name : C identifier.
    kinematics : defines the quantities.
    energy : density per measure of the kinematics.
    scalars : scalars to be kept as named stages, in quantities and parameters.
    extra_geometry : further named expressions of parameters.
    kinds : classes of parameters; those not named are uniform.
    values : of the parameters that the law brings along.
    title : formula for people.
    called : what messages call it.
    outputs : further expressions of quantities, see `PointLaw.outputs`; None: unknowns of cells.
    history, stored, local, shared : of a law with memory or unknowns of its own, see `PointLaw`.
    """
    stages, symbols = _stages_by_name(scalars)
    law = PointLaw(
        name, (), energy=energy, stored=stored, history=history, local=local, shared=shared,
        measure=kinematics.measure, title=title, called=called,
    ).mapped(lambda e: e.xreplace(symbols))  # fmt: skip
    law = replace(
        law,
        geometry=(*kinematics.geometry, *extra_geometry),
        lets=(*_lets(kinematics, outputs or {}), *stages),
        outputs=outputs or {},
    )
    needed = _Needed.of(kinematics, law)
    law = replace(
        law,
        unknowns=tuple(s for j in needed.jets for s in unknown(j)),
        jets=needed.jets,
        geometry=tuple(let for let in law.geometry if let[0] in needed.symbols),
        lets=tuple(let for let in law.lets if let[0] in needed.symbols),
        domain=needed.domain,
    )
    law = _in_strain(law, kinematics) if needed.strained else law
    own = {*(m.symbol for m in law.history), *(x.symbol for x in law.local)}
    of_cell = {str(x.symbol.name): x.symbol for x in law.local if law.shared}
    return replace(
        law,
        parameters=_parameters(kinematics, needed.undefined - own, kinds, values),
        outputs=of_cell if outputs is None else law.outputs,
    )


def _in_strain(law: PointLaw, kinematics: Kinematics) -> PointLaw:
    """Return a law in the inner variables, with the unknowns of the element's cells."""
    inner = kinematics.inner
    law = replace(
        law,
        energy=law.energy + kinematics.bound,
        local=(*law.local, *kinematics.local),
        shared=law.shared or bool(kinematics.local),
        modes=kinematics.modes,
    )
    if inner and "value" in law.jets:  # differentiation is by inner variables only
        inner += tuple((new, {old: sp.Integer(1)}) for old, new in DISPLACEMENT.items())
        lets = tuple((s, e.xreplace(DISPLACEMENT)) for s, e in law.lets)
        law = replace(law.mapped(lambda e: e.xreplace(DISPLACEMENT)), lets=lets)
    return replace(law, inner=inner)


def _lets(kinematics: Kinematics, outputs: Mapping[str, sp.Expr]) -> Lets:
    """Return the quantities, in their short forms unless forces on them are asked for."""
    if any(symbolic(e).has(force_on) for e in outputs.values()):
        return kinematics.lets  # a force on a let is that by all ways
    return tuple((s, kinematics.short.get(s, e)) for s, e in kinematics.lets)


def _stages_by_name(scalars: Mapping[str, sp.Expr]) -> tuple[Lets, dict[sp.Expr, sp.Symbol]]:
    """Return the lets of named scalars, and the symbols that replace these."""
    stages: list[tuple[sp.Symbol, sp.Expr]] = []
    replaced: dict[sp.Expr, sp.Symbol] = {}
    for label, w in scalars.items():
        stages.append((real(label), w.xreplace(replaced)))
        replaced[w] = real(label)
    return tuple(stages), replaced


@dataclass(frozen=True)
class _Needed:
    """What a law needs of kinematics.

    Attributes
    ----------
    symbols : all that its expressions contain, and that the definitions of these contain.
    undefined : those of them that have no definition.
    jets : of the displacement.
    strained : whether it depends on more than the displacement itself.
    domain : of the kinematics and of the energy.
    """

    symbols: set[sp.Symbol]
    undefined: set[sp.Symbol]
    jets: tuple[str, ...]
    strained: bool
    domain: tuple[sp.Expr, ...]

    @classmethod
    def of(cls, kinematics: Kinematics, law: PointLaw) -> _Needed:
        """Return what the results and outputs of a law need, and what its unknowns begin with."""
        rows = {s: sp.Add(*row.values(), *row) for s, row in (*kinematics.inner, *kinematics.modes)}
        definitions = {**dict(law.geometry), **dict(law.lets), **rows}
        first = (*(m.initial for m in law.history), *(x.start for x in law.local))
        expressions = (*law.results, *law.outputs.values(), *first, law.measure)
        symbols = closure(set().union(*(e.free_symbols for e in expressions)), definitions)
        inner = {s for s, _ in kinematics.inner}
        strained = bool(symbols & inner.union(*map(unknown, kinematics.jets)))
        domain: tuple[sp.Expr, ...] = ()
        if strained:
            symbols |= closure(kinematics.bound.free_symbols, definitions)
            others = (d for d in kinematics.domain[1:] if d.free_symbols <= symbols)
            ends = _limits(kinematics, law)
            domain = tuple(dict.fromkeys([*kinematics.domain[:1], *others, *ends]))
            symbols |= closure(set(rows).union(*(d.free_symbols for d in domain)), definitions)
        jets = _jets(kinematics, symbols)
        if jets:
            symbols |= closure({s for s, _ in law.geometry if s.name in ("y", "z")}, definitions)
        return cls(symbols, symbols - {*definitions}, jets, strained, domain)


def _limits(kinematics: Kinematics, law: PointLaw) -> tuple[sp.Expr, ...]:
    """Return what has to be positive for the energy of a law."""
    pairs = (*kinematics.inner, *kinematics.modes)
    zero = {s for s, _ in pairs} | {x.symbol for x in (*kinematics.local, *law.local)}
    zero = zero.union(*map(unknown, ("value", *kinematics.jets)))
    first = {m.symbol: m.initial for m in law.history}
    energy = sp.S.Zero if law.energy is None else law.energy
    quantities, definitions = dict(kinematics.lets), {**dict(law.geometry), **dict(law.lets)}
    stages = {s: e for s, e in law.lets if s not in quantities}
    return limits(energy, stages, definitions, zero, first)


def _jets(kinematics: Kinematics, used: set[sp.Symbol]) -> tuple[str, ...]:
    """Return the jets of the displacement that a law needs."""
    needed = {j for j in ("value", *kinematics.jets) if used & {*unknown(j)}}
    if kinematics.inner and needed - {"value"}:  # a linear map needs all of its jets
        needed |= {*kinematics.jets}
    return tuple(j for j in ("value", *kinematics.jets) if j in needed)


def _parameters(
    kinematics: Kinematics, undefined: set[sp.Symbol], kinds: Kinds, values: Mapping[str, float]
) -> tuple[KernelParameter, ...]:
    """Return the symbols without definition that are neither jets nor coordinates, by name."""
    jets = ("value", *kinematics.jets)
    others = {s.name for jet in jets for s in (*unknown(jet), *reference(jet))}
    others |= {s.name for x in kinematics.coordinates for s in reference(centre(x))}
    others |= {*kinematics.coordinates, *kinematics.across, *SECTION}
    return tuple(
        KernelParameter(
            s, kinds.get(s.name, "uniform"), s.name.startswith(PREDICTED), values.get(s.name)
        )
        for s in sorted(undefined, key=lambda s: s.name)
        if s.name not in others
    )


def closure(symbols: set[sp.Symbol], definitions: Mapping[sp.Symbol, sp.Expr]) -> set[sp.Symbol]:
    """Return `symbols` and all symbols that their definitions need."""
    reached: set[sp.Symbol] = set()
    pending = list(symbols)
    while pending:
        s = pending.pop()
        if s in reached:
            continue
        reached.add(s)
        if s in definitions:
            pending.extend(definitions[s].free_symbols)
    return reached


def predictable(
    energy: sp.Expr, strains: Sequence[sp.Symbol]
) -> tuple[sp.Expr, dict[str, Kind], dict[str, sp.Expr]]:
    """Return an energy W + sum c_i e_i with corrections; see `newton.stress_predictor`.

    Also the kinds of the parameters c_i, and the stresses dW/de_i by their names. Strains of which
    it is a linear function have a stress of their own, which is never corrected; nor are stresses
    of an energy with kinks, which lead elsewhere beyond one.
    """
    if energy.has(sp.Max, sp.Min, sp.Abs, sp.sign, sp.Piecewise, sp.Heaviside):
        return energy, {}, {}
    of = {s: sp.diff(energy, s) for s in strains if energy.has(s)}
    of = {s: stress for s, stress in of.items() if stress.has(*strains)}
    names = {s: PREDICTED + s.name for s in of}
    energy += sp.Add(*(real(name) * s for s, name in names.items()))
    kinds: dict[str, Kind] = dict.fromkeys(names.values(), "point")
    return energy, kinds, {names[s]: stress for s, stress in of.items()}

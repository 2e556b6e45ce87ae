# SPDX-License-Identifier: BSD-3-Clause
"""A point law from an expression of quantities: it keeps only the lets that it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import sympy as sp

from symancf_codegen.declare import Lets, Local, Memory, Parameter, PointLaw, reference, unknown
from symancf_codegen.functions import force_on, symbolic

from ..kinematics.layer import ANGLE
from ..kinematics.quantity import centre, real

if TYPE_CHECKING:
    from ..kinematics import Kinematics

Kind = Literal["uniform", "cell", "point"]
Kinds = Mapping[str, Kind]

#: Symbols that points through a thickness know.
SECTION = ("zeta", *ANGLE)

#: What the names of corrections of stresses begin with, see `newton.predicted`.
PREDICTED = "predicted_"
#: That of the pressure of solids.
PREDICTED_PRESSURE = f"{PREDICTED}pressure"


def kinds_of(fields: Collection[str]) -> Kinds:
    """Return the classes of parameters that vary: names, by default per cell, or a mapping."""
    return fields if isinstance(fields, Mapping) else dict.fromkeys(fields, "cell")


def build_law(
    name: str,
    kinematics: Kinematics,
    energy: sp.Expr,
    *,
    named: Mapping[str, sp.Expr] | None = None,
    extra_geometry: Lets = (),
    measure: sp.Expr | None = None,
    kinds: Kinds | None = None,
    values: Mapping[str, float] | None = None,
    title: str = "",
    called: str = "",
    outputs: Mapping[str, sp.Expr] | None = None,
    history: tuple[Memory, ...] = (),
    stored: sp.Expr | None = None,
    local: tuple[Local, ...] = (),
    shared: bool = False,
) -> PointLaw:
    """Return the point law of an expression of quantities: only the lets that it needs.

    Parameters
    ----------
    name : C identifier.
    kinematics : defines the quantities.
    energy : density per `measure`.
    named : scalars to be kept as named stages, in quantities and parameters.
    extra_geometry : further named expressions of parameters.
    measure : instead of the one of the kinematics.
    kinds : classes of parameters; those not named are uniform.
    values : of the parameters that the law brings along.
    title : formula for people.
    called : what messages call it.
    outputs : further expressions of quantities, see `PointLaw.outputs`; None: unknowns of cells.
    history, stored, local, shared : of a law with memory or unknowns of its own, see `PointLaw`.
    """
    held = any(symbolic(e).has(force_on) for e in (outputs or {}).values())
    short = {} if held else kinematics.short  # a force on a let is that by all ways
    lets = [(s, short.get(s, e)) for s, e in kinematics.lets]
    replaced: dict[sp.Expr, sp.Symbol] = {}
    for label, w in (named or {}).items():
        symbol = real(label)
        lets.append((symbol, w.xreplace(replaced)))
        replaced[w] = symbol
    own = [x for x in local if x.equation is not None]
    results = [energy, *(m.update for m in history), *([] if stored is None else [stored])]
    results += [x.equation for x in own if x.equation is not None]
    results = [e.xreplace(replaced) for e in results]
    told = outputs is None
    outputs = dict(outputs or {})
    measure = kinematics.measure if measure is None else measure
    inner = {s: sp.Add(*c.values(), *c) for s, c in (*kinematics.inner, *kinematics.modes)}
    asked = set().union(*(e.free_symbols for e in (*results, *outputs.values())))
    used = closure(asked, dict(lets) | inner)
    strained = used & _symbols(kinematics)
    domain: tuple[sp.Expr, ...] = ()
    if strained:
        used = closure(used | kinematics.bound.free_symbols, dict(lets) | inner)
        domain = tuple(
            d for i, d in enumerate(kinematics.domain) if i == 0 or d.free_symbols <= used
        )
        used = closure(used.union(*(d.free_symbols for d in domain)), dict(lets) | inner)
    geometry = (*kinematics.geometry, *extra_geometry)
    used = closure(used | measure.free_symbols, dict(geometry) | dict(lets) | inner)
    jets = tuple(j for j in ("value", *kinematics.jets) if used & set(unknown(j)))
    if inner and any(j != "value" for j in jets):  # a linear map needs all of its jets
        jets = tuple(j for j in ("value", *kinematics.jets) if j != "value" or j in jets)
    keep_inner = tuple((s, c) for s, c in kinematics.inner if strained)
    if keep_inner and "value" in jets:  # differentiation is by inner variables only
        renamed = {s: real(f"displacement{i}") for i, s in enumerate(unknown("value"), 1)}
        keep_inner += tuple((new, {old: sp.Integer(1)}) for old, new in renamed.items())
        results = [e.xreplace(renamed) for e in results]
        outputs = {name: e.xreplace(renamed) for name, e in outputs.items()}
        lets = [(s, e.xreplace(renamed)) for s, e in lets]
        inner |= {new: old for old, new in renamed.items()}
    if keep_inner and kinematics.local:
        results[0] += kinematics.bound
        local, shared = (*local, *kinematics.local), True
        mapped = (e.free_symbols for _, row in kinematics.modes for e in row.values())
        used = used.union(*mapped)
    if told:
        outputs = {str(x.symbol.name): x.symbol for x in local if shared}
    used = closure(used.union(*(inner[s].free_symbols for s, _ in keep_inner)), dict(geometry))
    if jets:
        across = {s for s, _ in geometry if s.name in ("y", "z")}
        used = closure(used | across, dict(geometry))
    first = [*(m.initial for m in history), *(x.start for x in local)]
    starts = set().union(*(e.free_symbols for e in first))
    used = closure(used | starts, dict(geometry))
    defined = {s for s, _ in (*geometry, *lets)} | set(inner) | {m.symbol for m in history}
    defined |= {x.symbol for x in local} | {s for s, _ in kinematics.modes}
    jet_names = {s.name for j in ("value", *kinematics.jets) for s in unknown(j)}
    jet_names |= {s.name.replace("u_", "R_", 1) for s in map(real, jet_names)}
    jet_names |= {s.name for x in kinematics.coordinates for s in reference(centre(x))}
    jet_names |= {*kinematics.coordinates}
    parameters = sorted(
        {s for s in used - defined if s.name not in {*jet_names, *kinematics.across, *SECTION}},
        key=lambda s: s.name,
    )
    updates = iter(results[1:])
    history = tuple(replace(m, update=next(updates)) for m in history)
    stored = None if stored is None else next(updates)
    equations = dict(zip((x.symbol for x in own), updates, strict=True))
    local = tuple(replace(x, equation=equations.get(x.symbol)) for x in local)
    return PointLaw(
        name=name,
        unknowns=tuple(s for j in jets for s in unknown(j)),
        jets=jets,
        inner=keep_inner,
        geometry=tuple((s, e) for s, e in geometry if s in used),
        lets=tuple((s, e) for s, e in lets if s in used),
        energy=results[0],
        history=history,
        stored=stored,
        local=local,
        shared=shared,
        modes=kinematics.modes if keep_inner else (),
        measure=measure,
        domain=domain,
        parameters=tuple(
            Parameter(
                s,
                (kinds or {}).get(s.name, "uniform"),
                s.name.startswith(PREDICTED),
                (values or {}).get(s.name),
            )
            for s in parameters
        ),
        title=title,
        called=called,
        outputs=outputs,
    )


def _symbols(kinematics: Kinematics) -> set[sp.Symbol]:
    """Return the unknown jets (except the displacement) and inner variables."""
    inner = {s for s, _ in kinematics.inner}
    return inner | {s for j in kinematics.jets for s in unknown(j)}


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
    """Return an energy with corrections of stresses, W + sum c_i e_i, for `newton.predicted`.

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

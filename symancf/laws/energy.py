# SPDX-License-Identifier: BSD-3-Clause
"""From a user's energy on an element to the point laws that the compiler takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from symancf_codegen.declare import HistoryVariable, Lets, Local, PointLaw, Rule

from ..errors import KinematicsError
from ..kinematics import stretches
from ..kinematics.moduli import split_factor
from ..kinematics.quantity import real
from ..values.arguments import among
from .build import Kind, build_law, closure, kinds_of, predictable
from .evaluate import evaluate_energy
from .integral import INTEGRAL
from .laminate import layered_laws
from .layers import Layers
from .mixed import FRAME, PART, PressureField
from .pressure_predictor import NONE, Corrections, of_volume

if TYPE_CHECKING:
    from ..elements.element import Element
    from ..kinematics.naming import Energy
    from ..values.parameter import Value
    from .integral import Density
    from .parts import EnergyCall

Volumetric = Literal["full", "reduced", "split"]

#: A part of an energy: its name, its density, the rule at whose points it is.
Share = tuple[str, sp.Expr, Rule]

#: The share of the volumetric part that is at all points, where it is split.
K0_OVER_K = real("k0_over_k")


def energy_laws(
    element: Element,
    energy: Energy,
    *,
    values: Mapping[str, Value] | None = None,
    fields: Collection[str] = (),
    volumetric: Volumetric | None = None,
    quadrature: str | Rule | Mapping[str, str | Rule] | None = None,
    outputs: Mapping[str, sp.Expr] | None = None,
    pressure: PressureField | None = None,
    frozen: bool = False,
    layer: int | None = None,
    integral: Density | None = None,
    **options: bool,
) -> list[tuple[PointLaw, Rule]]:
    """Return the point laws of an energy on an element, each with its quadrature rule.

    Parameters
    ----------
    element : where the energy lives.
    energy : a function whose positional arguments name quantities of the element and whose
        keyword-only arguments name parameters. It returns the energy per reference volume,
        area or length of the element, or a dict of named parts of it.
    values : the parameters that are given, by name: those of the energy, of the element's
        section (``thickness``) and of its mass (``rho``, ``A``). The names are checked, and
        that numbers are finite. None: all parameters are assumed to be given.
    fields : names of the parameters that have one value per cell, or a mapping of names to
        ``"cell"`` or ``"point"``; the others are uniform.
    volumetric : integration of the part named ``"volumetric"``: ``"full"`` like the rest;
        ``"reduced"`` at the element's reduced rule; ``"split"`` with the bulk modulus k0 at
        the full rule and k - k0 at the reduced one. None: the element's default, if there is
        such a part.
    quadrature : one rule for all parts, or rules for named parts; these go before
        `volumetric`, but where ``volumetric="split"`` is given the rule of the part
        ``"volumetric"`` takes the place of the element's reduced one. Rules are names (see
        `Element.rule`) or `Rule` objects.
    outputs : expressions of quantities that every law has at its points, see `sampled`; None: the
        unknowns of cells.
    pressure, frozen : the part ``"volumetric"`` as one of displacement and pressure, see `mixed`;
        at the points of the others.
    layer : of `Layers`, the number (from 0) of the one that is looked at; None: all of them.
    integral : density of which the points of the first rule remember their parts, see `integral`.
    options : variants of the kinematics, e.g. ``curved=True``.

    Returns
    -------
    One pair per rule: parts with the same rule are one law.

    Raises
    ------
    KinematicsError, ParameterError : see `evaluate_energy`; and if a parameter, a part or a rule is
        missing or unknown.
    """
    if isinstance(energy, Layers):
        return layered_laws(
            element,
            energy,
            values=values,
            fields=fields,
            volumetric=volumetric,
            quadrature=quadrature,
            outputs=outputs,
            pressure=pressure,
            layer=layer,
        )
    called = evaluate_energy(
        element, energy, values=values, pressure=pressure, frozen=frozen, **options
    )
    kinds = kinds_of(fields)
    if pressure is not None:
        _require_full(volumetric)
        kinds = {**kinds, **dict.fromkeys((*FRAME, *pressure.names), "cell")}
        volumetric = "full"
    shares = _shares(element, called, volumetric, quadrature)
    groups = _by_points(shares)
    if called.kinematics.local or called.history or called.local:
        _require_suited(element, called, groups)
    geometry = _split_factors(called, shares)
    volume = (
        NONE if geometry or called.history else _volume(element, energy, called, pressure, values)
    )
    laws: list[tuple[PointLaw, Rule]] = []
    function = f"{called.signature.name}()"
    integrals = [integral, *[None] * (len(groups) - 1)]
    for group, own_integral in zip(groups, integrals, strict=True):
        names, parts, (rule, *_) = zip(*group, strict=True)
        history, stages = _with_integral(called.history_of(names), called.scalars, own_integral)
        labels = [] if called.parts.keys() <= {*names} else [*filter(None, names)]
        local = _local_of(called, parts) if called.local else ()
        total, own, all_outputs = sp.Add(*parts), kinds, outputs
        if outputs is None:
            pressed = volume if PART in names else NONE
            total, corrections, all_outputs = _corrected(
                called, total, pressed, local, pressure, history
            )
            own = {**kinds, **corrections}
        law = build_law(
            "_".join([called.name, *labels]),
            called.kinematics,
            total,
            scalars=stages,
            extra_geometry=geometry,
            kinds=own,
            title=_title(called, names),
            called=f"part {' and '.join(map(repr, labels))} of {function}" if labels else function,
            outputs=all_outputs,
            history=history,
            stored=called.stored_in(dict(zip(names, parts, strict=True))),
            local=local,
            shared=called.shared and bool(local),
        )
        laws.append((law, rule))
    return laws


def _with_integral(
    history: tuple[HistoryVariable, ...], stages: Mapping[str, sp.Expr], integral: Density | None
) -> tuple[tuple[HistoryVariable, ...], Mapping[str, sp.Expr]]:
    """Return what points remember, and named stages, with those of an integral."""
    if integral is None:
        return history, stages
    return (*history, replace(INTEGRAL, update=integral.value)), {**stages, **integral.forces}


def _require_full(volumetric: Volumetric | None) -> None:
    """Check that no integration of the volumetric part is given beside a pressure."""
    if volumetric not in (None, "full"):
        raise KinematicsError(
            f"volumetric={volumetric!r} and pressure= are two ways to the same: give one",
            asked="volumetric",
            given=volumetric,
            possible=("full",),
        )


def _require_suited(
    element: Element, called: EnergyCall, groups: Sequence[Sequence[Share]]
) -> None:
    """Check that an energy goes with the unknowns of the element's cells, if it has any.

    And that all its parts are at the points where it remembers, or has unknowns.

    Raises
    ------
    KinematicsError : it does not; or they are at those of several rules.
    """
    why, data = _unsuited(element, called, groups)
    if why:
        other = element.without.name if element.without else "another"
        raise KinematicsError(
            f"{why}: choose the element {other}, or one of second order",
            possible=(other,) if element.without else (),
            **data,
        )
    own = [group for group in groups if called.history_of([share[0] for share in group])]
    if called.local and not called.shared:
        own = [*groups]
    if len(own) > 1:
        does = "remembers" if called.history else "has unknowns at its points"
        rules = [group[0][-1].name for group in own]
        raise KinematicsError(
            f"{called.signature.name}() {does}, and its parts are integrated at the points of "
            f"{len(rules)} rules ({', '.join(rules)}): give one rule for all, volumetric='full'",
            asked="quadrature",
            given=rules,
        )


def _corrected(
    called: EnergyCall,
    total: sp.Expr,
    volume: Corrections,
    local: Sequence[Local],
    pressure: PressureField | None,
    history: Sequence[HistoryVariable],
) -> tuple[sp.Expr, dict[str, Kind], dict[str, sp.Expr] | None]:
    """Return an energy with corrections of stresses, their kinds, and outputs; see `predictable`.

    Where that of the volume is not corrected, all stresses are, of laws of the displacement alone.
    """
    if (history and not called.kinematics.penalties) or (local and not pressure):
        return total, {}, None
    more, stresses = volume
    corrections: dict[str, Kind] = dict.fromkeys(stresses, "point")
    total += more
    if not (stresses or local or pressure):
        total, corrections, stresses = predictable(total, called.kinematics.strains)
    if not stresses:
        return total, {}, None
    solved = (*local, *called.kinematics.local)
    return total, corrections, {**{str(x.symbol.name): x.symbol for x in solved}, **stresses}


def _volume(
    element: Element,
    energy: Energy,
    called: EnergyCall,
    pressure: PressureField | None,
    values: Mapping[str, Value] | None,
) -> Corrections:
    """Return what corrects the pressure of a solid that is hardly compressible; see `of_volume`."""
    if values is None or (pressure is not None and pressure.of_system):
        return NONE
    plain = called if pressure is None else evaluate_energy(element, energy)
    return of_volume(plain, values, pressure is not None)


def unsuited(
    element: Element,
    energy: Energy,
    volumetric: Volumetric | None = None,
    quadrature: str | Rule | Mapping[str, str | Rule] | None = None,
) -> str:
    """Return why an energy does not go with unknowns of the element's cells; "": it does, or none.

    It has unknowns of its own, or parts at few points or at several rules.
    """
    called = evaluate_energy(element, energy)
    if not called.kinematics.local:
        return ""
    shares = _shares(element, called, volumetric, quadrature)
    return _unsuited(element, called, _by_points(shares))[0]


def _unsuited(
    element: Element, called: EnergyCall, groups: Sequence[Sequence[Share]]
) -> tuple[str, dict[str, Any]]:
    if not called.kinematics.local:
        return "", {}
    name, rules = called.signature.name, [group[0][-1] for group in groups]
    solves = f"{element.name} solves for unknowns of each cell in its strain"
    if called.local:
        where = "cell" if called.shared else "point"
        own = [str(x.symbol) for x in called.local]
        data = {"asked": "unknowns", "given": own}
        return f"{solves}, and {name}() for {', '.join(own)} of each {where}", data
    if len(rules) > 1 or rules[0].size < 8:
        at = list(dict.fromkeys(rule.name for rule in rules))
        why = (
            f"{solves}, for which all parts of {name}() are needed at the same points, 8 at least; "
            f"they are at {', '.join(at)} (it does not lock with volumetric='full')"
        )
        return why, {"asked": "quadrature", "given": at}
    return "", {}


def _local_of(called: EnergyCall, parts: Sequence[sp.Expr]) -> tuple[Local, ...]:
    """Return the unknowns of an energy that its parts at the points of one rule have."""
    used: set[sp.Symbol] = set().union(*(w.free_symbols for w in parts))
    used |= {s for m in called.history for s in m.update.free_symbols}
    used = closure(used, dict(called.kinematics.lets))
    return tuple(x for x in called.local if x.symbol in used or not called.shared)


def _shares(
    element: Element,
    called: EnergyCall,
    volumetric: Volumetric | None,
    quadrature: str | Rule | Mapping[str, str | Rule] | None,
) -> list[Share]:
    """Return all parts with their rules, two of a split one."""
    mode = _integration(element, called, volumetric)
    rules = _rules(element, called, quadrature)
    full = "full" if quadrature is None or isinstance(quadrature, Mapping) else quadrature
    shares: list[Share] = []
    for part, w in called.parts.items():
        if part in rules and not (volumetric == "split" and part == PART):
            shares.append((part, w, rules[part]))
        elif part != PART or mode == "full":
            own = part if quadrature is None and part in element.rules else full
            shares.append((part, w, rule_of(element, own)))
        elif mode == "reduced":
            shares.append((part, w, rule_of(element, "reduced")))
        else:
            shares.append((part, K0_OVER_K * w, rule_of(element, full)))
            few = rules.get(part) or rule_of(element, "reduced")
            shares.append((f"{part}_reduced", (1 - K0_OVER_K) * w, few))
    return shares


def _split_factors(called: EnergyCall, shares: Sequence[Share]) -> Lets:
    """Return what defines the factors of a part that is split."""
    if not any(w.has(K0_OVER_K) for _, w, _ in shares):
        return ()
    return ((K0_OVER_K, split_factor(called.kinematics, called.parts)),)


def _integration(element: Element, called: EnergyCall, volumetric: Volumetric | None) -> Volumetric:
    """Return how the volumetric part is integrated: as asked for, else as the element does."""
    parts = [p for p in called.parts if p]
    default = element.volumetric if PART in parts else "full"
    mode = default if volumetric is None else volumetric
    if not among(mode, ("full", "reduced", "split")):
        raise KinematicsError(
            f"volumetric={mode!r} is not possible: choose 'full', 'reduced' or 'split'",
            asked="volumetric",
            possible=("full", "reduced", "split"),
            given=mode,
        )
    if mode != "full" and PART not in parts:
        has = f"its parts are {', '.join(parts)}" if parts else "it returns a single expression"
        raise KinematicsError(
            f"volumetric={mode!r} needs an energy with a part named 'volumetric', but for "
            f"{called.signature.name}() {has}. Return a dict such as "
            "{'deviatoric': ..., 'volumetric': ...}.",
            asked="volumetric",
            possible=parts,
            given=mode,
        )
    return mode


def _rules(
    element: Element, called: EnergyCall, quadrature: str | Rule | Mapping[str, str | Rule] | None
) -> dict[str, Rule]:
    """Return the rules that are given for named parts."""
    if not isinstance(quadrature, Mapping):
        return {}
    parts = [p for p in called.parts if p]
    for part in quadrature:
        if part not in parts:
            raise KinematicsError(
                f"quadrature= names the part {part!r}; the parts of "
                f"{called.signature.name}() are {', '.join(parts) or 'not named'}.",
                possible=parts,
                asked="quadrature",
                given=part,
            )
    return {part: rule_of(element, rule) for part, rule in quadrature.items()}


def rule_of(element: Element, rule: str | Rule) -> Rule:
    """Return a quadrature rule as users name it.

    Raises
    ------
    KinematicsError : it is none of this element.
    """
    try:
        return element.rule(rule)
    except ValueError as error:
        raise KinematicsError(
            f"{element.name}: {error}", asked="quadrature", given=str(rule)
        ) from error


def _by_points(shares: Sequence[Share]) -> list[list[Share]]:
    """Return the parts of an energy by their rules: those of the same points in one list."""
    groups: dict[object, list[Share]] = {}
    for share in shares:
        rule = share[-1]
        tables = (rule.points, rule.weights, rule.section_points)
        key = (rule.name, rule.size, *(table.tobytes() for table in tables))
        groups.setdefault(key, []).append(share)
    return list(groups.values())


def _title(called: EnergyCall, labels: Sequence[str]) -> str:
    parts = [p for p in called.parts if not p or p in labels or f"{p}_reduced" in labels]
    symbols = {w: real(name) for name, w in called.scalars.items()}
    texts = [stretches.stretch_symbols(called.parts[p].xreplace(symbols)) for p in parts]
    formula = " + ".join(map(str, texts))
    where = ""
    for name, w in reversed(list(called.scalars.items())):
        inner = stretches.stretch_symbols(w.xreplace({v: s for v, s in symbols.items() if v != w}))
        if re.search(rf"\b{name}\b", formula + where):
            where = f", {name} = {inner}{where}"
    return f"W = {formula}{where}"

# SPDX-License-Identifier: BSD-3-Clause
"""From a user's energy on an element to the point laws that the compiler takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import sympy as sp

from symancf_codegen.declare import Local, Memory, PointLaw, Rule, unknown

from ..errors import KinematicsError, ParameterError
from ..kinematics import stretches
from ..kinematics.moduli import split_factor
from ..kinematics.naming import (
    Energy,
    call_law,
    require_quantities,
    signature,
)
from ..kinematics.quantity import Kinematics, real
from ..values.arguments import among
from .build import PREDICTED, Kind, build_law, closure, kinds_of
from .checked import check_values, scalar
from .mixed import FRAME, Pressure, mixed
from .parts import Parts

if TYPE_CHECKING:
    from ..elements.element import Element
    from ..kinematics.memory import Called
    from ..values.parameter import Value

Volumetric = Literal["full", "reduced", "split"]


def evaluate_energy(
    element: Element,
    energy: Energy,
    *,
    given: Mapping[str, Value] | None = None,
    pressure: Pressure | None = None,
    held: bool = False,
    **options: bool,
) -> Parts:
    """Call `energy` with the symbols of its quantities and parameters, and check what it returns.

    Parameters
    ----------
    given : values of parameters by name (only names and finiteness are looked at), or None.
        A parameter with a default value that is not given is that number.
    pressure, held : see `mixed`.

    Raises
    ------
    KinematicsError : if it asks for a quantity that the element lacks, or returns something that is
        not a scalar expression (or dict of them) of what it asked for.
    ParameterError : if a parameter bears a name that the element uses itself.
    """
    asked = signature(energy)
    kinematics = element.kinematics(**options)
    if not asked.quantities:
        raise KinematicsError(
            f"{asked.name}() asks for no quantity of {element.name}, which offers "
            f"{', '.join(kinematics.quantities)}. If it makes energies call it first: give "
            f"{asked.name}().",
            offered=kinematics.quantities,
        )
    require_quantities(asked, kinematics.quantities, element.name)
    reserved = kinematics.reserved() | set(kinematics.quantities)
    reserved |= frozenset() if pressure is None else pressure.reserved
    for p in asked.parameters:
        if p in reserved:
            raise ParameterError(
                f"{asked.name}() calls a parameter {p!r}, but on {element.name} this is the name "
                f"of a quantity or symbol of the element: choose another name.",
                name=p,
            )
    own = stretches.invariants() if {*stretches.STRETCHES} & {*asked.quantities} else {}
    values = [own.get(q, kinematics.quantities[q].value) for q in asked.quantities]
    parameters: dict[str, sp.Expr] = {p: real(p) for p in asked.parameters}
    if given is not None:
        check_values(asked, kinematics, given, () if pressure is None else pressure.unbounded)
        absent = {p: v for p, v in asked.defaults.items() if p not in given}
        parameters.update({p: sp.sympify(v) for p, v in absent.items()})
    quantities = dict(zip(asked.quantities, values, strict=True))
    called, named = call_law(energy, quantities, parameters)
    result = called.result
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    if not parts:
        raise KinematicsError(
            f"{asked.name}() returns an empty dict: return an expression, or named parts such as "
            "{'deviatoric': ..., 'volumetric': ...}"
        )
    known = {s for p in parameters.values() for s in p.free_symbols}.union(
        *(sp.sympify(v).free_symbols for v in values)
    )
    fixed, known = known - _moving(kinematics), known | called.symbols
    checked = {part: scalar(asked.name, part, w, known) for part, w in parts.items()}
    history, stored = _remembered(asked.name, called, known, fixed, reserved)
    local = _local(asked.name, called, known, fixed, reserved)
    given_forms = (*(m.update for m in history), *(x.equation for x in local))
    for w in (*checked.values(), *(e for e in given_forms if e is not None)):
        for q, v in zip(asked.quantities, values, strict=True):
            if _rough(w, v):
                raise KinematicsError(
                    f"{asked.name}() is not even in {q!r}: on a straight reference the direction "
                    f"of {q!r} is undefined where it is 0, so only even powers such as {q}**2 may "
                    f"occur. For a curved reference give curved=True.",
                    asked=q,
                )
    named = {n: w for n, w in named.items() if not any(_rough(w, v) for v in values)}
    named = {n: stretches.joined(w) for n, w in named.items() if w not in values}
    identifier = re.sub(r"\W", "_", asked.name).lstrip("_0123456789") or "energy"
    stages = _unique(named, reserved, known)
    found = Parts(
        name=identifier,
        signature=asked,
        kinematics=kinematics,
        parts=checked,
        named=stages,
        history=history,
        stored=stored,
        local=local,
        shared=called.shared,
        values=called.values,
    )
    return found if pressure is None else mixed(found, pressure, held=held)


def _moving(kinematics: Kinematics) -> set[sp.Symbol]:
    """Return the symbols that depend on the displacement."""
    found = {s for s, _ in (*kinematics.inner, *kinematics.lets)}
    return found | {s for jet in ("value", *kinematics.jets) for s in unknown(jet)}


def _remembered(
    name: str,
    called: Called,
    known: set[sp.Symbol],
    fixed: set[sp.Symbol],
    reserved: Collection[str],
) -> tuple[tuple[Memory, ...], sp.Expr | None]:
    """Return what the points of an energy remember, and the energy that is stored."""
    history: list[Memory] = []
    for m in called.history:
        if m.name in reserved:
            raise KinematicsError(
                f"{name}() remembers {m.name!r}, which is the name of a quantity or symbol of the "
                "element: choose another name",
                asked=m.name,
            )
        update = scalar(name, f"{m.name} at the end of a step", m.update, known, told=True)
        initial = scalar(name, f"{m.name} before the first step", m.initial, fixed)
        history.append(replace(m, update=update, initial=initial))
    if called.stored is None:
        return tuple(history), None
    return tuple(history), scalar(name, "stored", called.stored, known, told=True)


def _local(
    name: str,
    called: Called,
    known: set[sp.Symbol],
    fixed: set[sp.Symbol],
    reserved: Collection[str],
) -> tuple[Local, ...]:
    """Return the unknowns that an energy has of its own."""
    found: list[Local] = []
    fixed = fixed | {m.symbol for m in called.history}
    for x in called.local:
        label = str(x.symbol.name)
        if label in reserved:
            raise KinematicsError(
                f"{name}() has the unknown {label!r}, which is the name of a quantity or symbol of "
                "the element: choose another name",
                asked=label,
            )
        start = scalar(name, f"start of {label}", x.start, fixed)
        equation = x.equation
        if equation is not None:
            equation = scalar(name, f"equation of {label}", equation, known)
        found.append(replace(x, start=start, equation=equation))
    return tuple(found)


def _rough(w: sp.Expr, value: sp.Basic) -> bool:
    """Whether `w` contains odd powers of a quantity that is offered as a square root."""
    if not (isinstance(value, sp.Pow) and value.exp == sp.Rational(1, 2)):
        return False
    return any(p.base == value.base and not p.exp.is_Integer for p in sp.sympify(w).atoms(sp.Pow))


def _unique(
    named: Mapping[str, sp.Expr], reserved: frozenset[str] | set[str], known: set[sp.Symbol]
) -> dict[str, sp.Expr]:
    """Return the named scalars that depend on what is known, under names that are free."""
    result: dict[str, sp.Expr] = {}
    for name, w in named.items():
        if w.free_symbols and w.free_symbols <= known:
            result[name if name not in reserved else f"{name}_"] = w
    return result


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


def energy_laws(
    element: Element,
    energy: Energy,
    *,
    values: Mapping[str, Value] | None = None,
    fields: Collection[str] = (),
    volumetric: Volumetric | None = None,
    quadrature: str | Rule | Mapping[str, str | Rule] | None = None,
    outputs: Mapping[str, sp.Expr] | None = None,
    pressure: Pressure | None = None,
    held: bool = False,
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
    pressure, held : the part ``"volumetric"`` as one of displacement and pressure, see `mixed`; at
        the points of the others.
    options : variants of the kinematics, e.g. ``curved=True``.

    Returns
    -------
    One pair per rule: parts with the same rule are one law.

    Raises
    ------
    KinematicsError, ParameterError : see `evaluate_energy`; and if a parameter, a part or a rule is
        missing or unknown.
    """
    called = evaluate_energy(element, energy, given=values, pressure=pressure, held=held, **options)
    kinds = kinds_of(fields)
    if pressure is not None:
        kinds = {**kinds, **dict.fromkeys((*FRAME, *pressure.names), "cell")}
        if volumetric not in (None, "full"):
            raise KinematicsError(
                f"volumetric={volumetric!r} and pressure= are two ways to the same: give one",
                asked="volumetric",
            )
        volumetric = "full"
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    shares: list[tuple[str, sp.Expr, Rule]] = []
    for part, rule, factor, label in _shares(element, called, volumetric, quadrature):
        if isinstance(factor, tuple):
            geometry = [factor[0]]
            factor = factor[1]
        shares.append((label, factor * called.parts[part], rule))
    why = _unsuited(element, called, [r for *_, r in shares]) if called.kinematics.local else ""
    if why:
        other = element.without.name if element.without else "another"
        raise KinematicsError(f"{why}: choose the element {other}, or one of second order")
    laws: list[tuple[PointLaw, Rule]] = []
    remembers = _rule_of_memory(called, shares)
    for rule in _distinct(shares):
        chosen = [(label, w) for label, w, r in shares if _same(r, rule)]
        labels = [label for label, _ in chosen if label]
        complete = set(called.parts) <= {label for label, _ in chosen}
        name = called.name if complete else "_".join([called.name, *labels])
        local = _local_of(called, [w for _, w in chosen])
        energy, own, told = sp.Add(*(w for _, w in chosen)), kinds, outputs
        if outputs is None and not (called.history or local or pressure):
            energy, more, stresses = predictable(energy, called.kinematics.strains)
            own, told = {**kinds, **more}, stresses or None
        law = build_law(
            name,
            called.kinematics,
            energy,
            named=called.named,
            extra_geometry=tuple(geometry),
            kinds=own,
            title=_title(called, labels),
            outputs=told,
            history=called.history if rule is remembers else (),
            stored=called.stored if rule is remembers else None,
            local=local,
            shared=called.shared and bool(local),
        )
        laws.append((law, rule))
    return laws


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
    return _unsuited(element, called, [rule for _, rule, *_ in shares])


def _unsuited(element: Element, called: Parts, rules: Sequence[Rule]) -> str:
    name = called.signature.name
    solves = f"{element.name} solves for unknowns of each cell in its strain"
    if called.local:
        where = "cell" if called.shared else "point"
        own = ", ".join(str(x.symbol) for x in called.local)
        return f"{solves}, and {name}() for {own} of each {where}"
    if any(rule.size < 8 or not _same(rule, rules[0]) for rule in rules):
        at = ", ".join(dict.fromkeys(rule.name for rule in rules))
        return (
            f"{solves}, for which all parts of {name}() are needed at the same points, 8 at least; "
            f"they are at {at} (it does not lock with volumetric='full')"
        )
    return ""


def _local_of(called: Parts, parts: Sequence[sp.Expr]) -> tuple[Local, ...]:
    """Return the unknowns of an energy that its parts at the points of one rule have."""
    used: set[sp.Symbol] = set().union(*(w.free_symbols for w in parts))
    used |= {s for m in called.history for s in m.update.free_symbols}
    used = closure(used, dict(called.kinematics.lets))
    return tuple(x for x in called.local if x.symbol in used or not called.shared)


def _rule_of_memory(called: Parts, shares: Sequence[tuple[str, sp.Expr, Rule]]) -> Rule | None:
    """Return the rule at whose points an energy remembers; None: it does not.

    Raises
    ------
    KinematicsError : parts at several rules ask for it, or not all parts are at its points.
    """
    if not called.history and (called.shared or not called.local):
        return None
    rules = _distinct(shares)
    if len(rules) > 1:
        does = "remembers" if called.history else "has unknowns at its points"
        raise KinematicsError(
            f"{called.signature.name}() {does}, and its parts are integrated at the points of "
            f"{len(rules)} rules ({', '.join(rule.name for rule in rules)}): give one rule for "
            "all, volumetric='full'"
        )
    return rules[0]


Share = tuple[str, Rule, sp.Expr | tuple[tuple[sp.Symbol, sp.Expr], sp.Expr], str]


def _shares(
    element: Element,
    called: Parts,
    volumetric: Volumetric | None,
    quadrature: str | Rule | Mapping[str, str | Rule] | None,
) -> list[Share]:
    """Return (part, rule, factor, label) for every part, two of them for a split one."""
    parts = [p for p in called.parts if p]
    default = element.volumetric if "volumetric" in parts else "full"
    mode = default if volumetric is None else volumetric
    if not among(mode, ("full", "reduced", "split")):
        raise KinematicsError(
            f"volumetric={mode!r} is not possible: choose 'full', 'reduced' or 'split'",
            asked=mode,
            offered=("full", "reduced", "split"),
        )
    if mode != "full" and "volumetric" not in parts:
        has = f"its parts are {', '.join(parts)}" if parts else "it returns a single expression"
        raise KinematicsError(
            f"volumetric={mode!r} needs an energy with a part named 'volumetric', but for "
            f"{called.signature.name}() {has}. Return a dict such as "
            "{'deviatoric': ..., 'volumetric': ...}.",
            asked="volumetric",
            offered=parts,
        )
    rules: dict[str, Rule] = {}
    full: str | Rule = "full"
    if isinstance(quadrature, Mapping):
        for part, rule in quadrature.items():
            if part not in parts:
                raise KinematicsError(
                    f"quadrature= names the part {part!r}; the parts of "
                    f"{called.signature.name}() are {', '.join(parts) or 'not named'}.",
                    asked=part,
                    offered=parts,
                )
            rules[part] = _rule(element, rule)
    elif quadrature is not None:
        full = quadrature
    shares: list[Share] = []
    split = volumetric == "split"
    for part in called.parts:
        if part in rules and not (split and part == "volumetric"):
            shares.append((part, rules[part], sp.Integer(1), part))
        elif part != "volumetric" or mode == "full":
            own = part if quadrature is None and part in element.rules else full
            shares.append((part, _rule(element, own), sp.Integer(1), part))
        elif mode == "reduced":
            shares.append((part, _rule(element, "reduced"), sp.Integer(1), part))
        else:
            k0_over_k = real("k0_over_k")
            let = (k0_over_k, split_factor(called.kinematics, called.parts))
            shares.append((part, _rule(element, full), (let, k0_over_k), part))
            rest = f"{part}_reduced"
            few = rules.get(part) or _rule(element, "reduced")
            shares.append((part, few, (let, 1 - k0_over_k), rest))
    return shares


def _rule(element: Element, rule: str | Rule) -> Rule:
    try:
        return element.rule(rule)
    except ValueError as error:
        raise KinematicsError(f"{element.name}: {error}", asked=str(rule)) from error


def _same(a: Rule, b: Rule) -> bool:
    return a is b or (
        a.name == b.name
        and a.size == b.size
        and a.points.tobytes() == b.points.tobytes()
        and a.weights.tobytes() == b.weights.tobytes()
        and a.section_points.tobytes() == b.section_points.tobytes()
    )


def _distinct(shares: Sequence[tuple[str, sp.Expr, Rule]]) -> list[Rule]:
    result: list[Rule] = []
    for _, _, rule in shares:
        if not any(_same(rule, r) for r in result):
            result.append(rule)
    return result


def _title(called: Parts, labels: Sequence[str]) -> str:
    parts = [p for p in called.parts if not p or p in labels or f"{p}_reduced" in labels]
    shown = {w: real(name) for name, w in called.named.items()}
    told = [stretches.named_stretches(called.parts[p].xreplace(shown)) for p in parts]
    formula = " + ".join(map(str, told))
    where = ""
    for name, w in reversed(list(called.named.items())):
        inner = stretches.named_stretches(w.xreplace({v: s for v, s in shown.items() if v != w}))
        if re.search(rf"\b{name}\b", formula + where):
            where = f", {name} = {inner}{where}"
    return f"W = {formula}{where}"

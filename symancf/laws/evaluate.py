# SPDX-License-Identifier: BSD-3-Clause
"""A user's energy called with the symbols of its quantities and parameters, and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import Local, Memory, unknown
from symancf_codegen.functions import symbolic

from ..errors import KinematicsError, ParameterError
from ..kinematics import stretches
from ..kinematics.naming import Energy, call_law, require_quantities, signature
from ..kinematics.quantity import Kinematics, real
from .checked import check_values, default, scalar
from .layers import Layers
from .mixed import Pressure, mixed
from .parts import Parts

if TYPE_CHECKING:
    from ..elements.element import Element
    from ..kinematics.memory import Called
    from ..values.parameter import Value


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
    kinematics = element.kinematics(**options)
    if isinstance(energy, Layers):
        return _mean(kinematics, element.name, energy)
    return evaluate_on(kinematics, element.name, energy, given, pressure, held)


def _mean(kinematics: Kinematics, where: str, layers: Layers) -> Parts:
    """Return the mean of the energies of layers, all of them in the axes of the body."""
    parts: dict[str, sp.Expr] = {}
    for kind in layers.kinds:
        called = evaluate_on(kinematics, f"layers of {where}", kind.energy)
        share = layers.moments(kind.numbers)[0] / 2.0
        for part, w in called.parts.items():
            name = f"{called.name}_{kind.numbers[0] + 1}{part and '_'}{part}"
            parts[name] = parts.get(name, sp.S.Zero) + share * w
    return Parts(
        name="layers",
        signature=signature(layers),
        kinematics=kinematics,
        parts=parts,
        named={},
        values={},
    )


def evaluate_on(
    kinematics: Kinematics,
    where: str,
    energy: Energy,
    given: Mapping[str, Value] | None = None,
    pressure: Pressure | None = None,
    held: bool = False,
) -> Parts:
    """Call `energy` with the symbols that kinematics offer; `where` says whose, for messages.

    The rest as in `evaluate_energy`.
    """
    asked = signature(energy)
    if not asked.quantities:
        raise KinematicsError(
            f"{asked.name}() asks for no quantity of {where}, which offers "
            f"{', '.join(kinematics.quantities)}. If it makes energies call it first: give "
            f"{asked.name}().",
            possible=kinematics.quantities,
            asked=asked.name,
        )
    require_quantities(asked, kinematics.quantities, where)
    reserved = kinematics.reserved() | set(kinematics.quantities)
    reserved |= frozenset() if pressure is None else pressure.reserved
    for p in asked.parameters:
        if p in reserved:
            raise ParameterError(
                f"{asked.name}() calls a parameter {p!r}, but on {where} this is the name "
                f"of a quantity or symbol of the element: choose another name.",
                asked=p,
                given=where,
            )
    own = stretches.invariants() if {*stretches.STRETCHES} & {*asked.quantities} else {}
    values = [own.get(q, kinematics.quantities[q].value) for q in asked.quantities]
    parameters: dict[str, sp.Expr] = {p: real(p) for p in asked.parameters}
    if given is not None:
        check_values(asked, kinematics, given, () if pressure is None else pressure.unbounded)
        absent = {p: v for p, v in asked.defaults.items() if p not in given}
        parameters.update({p: default(asked.name, p, v) for p, v in absent.items()})
    quantities = dict(zip(asked.quantities, values, strict=True))
    called, named = call_law(energy, quantities, parameters)
    result = called.result
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    if not parts:
        raise KinematicsError(
            f"{asked.name}() returns an empty dict: return an expression, or named parts such as "
            "{'deviatoric': ..., 'volumetric': ...}",
            asked=asked.name,
            given=result,
        )
    known = {s for p in parameters.values() for s in p.free_symbols}.union(
        *(symbolic(v).free_symbols for v in values)
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
                    possible=(f"{q}**2",),
                )
    named = {n: w for n, w in named.items() if not any(_rough(w, v) for v in values)}
    named = {n: stretches.joined(w) for n, w in named.items() if w not in values}
    identifier = re.sub(r"\W", "_", asked.name, flags=re.ASCII).lstrip("_0123456789") or "energy"
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
                given=name,
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
                asked="local",
                given=label,
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
    return any(p.base == value.base and not p.exp.is_Integer for p in symbolic(w).atoms(sp.Pow))


def _unique(
    named: Mapping[str, sp.Expr], reserved: frozenset[str] | set[str], known: set[sp.Symbol]
) -> dict[str, sp.Expr]:
    """Return the named scalars that depend on what is known, under names that are free."""
    result: dict[str, sp.Expr] = {}
    for name, w in named.items():
        if w.free_symbols and w.free_symbols <= known:
            result[name if name not in reserved else f"{name}_"] = w
    return result

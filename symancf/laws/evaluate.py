# SPDX-License-Identifier: BSD-3-Clause
"""A user's energy called with the symbols of its quantities and parameters, and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import HistoryVariable, Local, unknown
from symancf_codegen.functions import symbolic, symbols_of

from ..errors import KinematicsError
from ..kinematics import stretches
from ..kinematics.naming import Energy, call_law, signature
from ..kinematics.quantity import Kinematics, real
from ..values.reader import require_free, require_quantities, scalar
from .layers import Layers
from .mixed import PressureField, mixed
from .parts import EnergyCall

if TYPE_CHECKING:
    from ..elements.element import Element
    from ..kinematics.memory import Called
    from ..values.parameter import Value


Own = tuple[tuple[HistoryVariable, ...], Mapping[str, sp.Expr] | None, tuple[Local, ...]]
NOTHING: Own = ((), None, ())


def evaluate_energy(
    element: Element,
    energy: Energy,
    *,
    values: Mapping[str, Value] | None = None,
    pressure: PressureField | None = None,
    frozen: bool = False,
    **options: bool,
) -> EnergyCall:
    """Call `energy` with the symbols of its quantities and parameters, and check what it returns.

    Parameters
    ----------
    values : values of parameters by name (only names are looked at), or None: all are given. A
        parameter with a default value that is not given is that number.
    pressure, frozen : see `mixed`.

    Raises
    ------
    KinematicsError : if it asks for a quantity that the element lacks, or returns something that is
        not a scalar expression (or dict of them) of what it asked for.
    ParameterError : if a parameter bears a name that the element uses itself.
    """
    kinematics = element.kinematics(**options)
    if isinstance(energy, Layers):
        return _mean(kinematics, element.name, energy)
    if pressure is None:
        return evaluate_on(kinematics, element.name, energy, values)
    evaluated = evaluate_on(kinematics, element.name, energy, values, pressure.reserved)
    return mixed(evaluated, pressure, frozen=frozen)


def _mean(kinematics: Kinematics, where: str, layers: Layers) -> EnergyCall:
    """Return the mean of the energies of layers, all of them in the axes of the body."""
    parts: dict[str, sp.Expr] = {}
    for kind in layers.kinds:
        called = evaluate_on(kinematics, f"layers of {where}", kind.energy)
        share = layers.moments(kind.numbers)[0] / 2.0
        for part, w in called.parts.items():
            name = f"{called.name}_{kind.numbers[0] + 1}{part and '_'}{part}"
            parts[name] = parts.get(name, sp.S.Zero) + share * w
    return EnergyCall(
        name="layers",
        signature=signature(layers),
        kinematics=kinematics,
        parts=parts,
        scalars={},
        values={},
    )


def evaluate_on(
    kinematics: Kinematics,
    where: str,
    energy: Energy,
    values: Mapping[str, Value] | None = None,
    names: Collection[str] = (),
) -> EnergyCall:
    """Call `energy` with the symbols that kinematics offer; `where` says whose, for messages.

    No parameter may bear one of `names`; the rest as in `evaluate_energy`.
    """
    asked = signature(energy)
    what = f"{asked.name}()"
    require_quantities(what, asked, kinematics.quantities, where)
    reserved = kinematics.reserved() | kinematics.quantities.keys() | {*names}
    require_free(what, asked.parameters, reserved, where)
    others = stretches.invariants() if {*stretches.STRETCHES} & {*asked.quantities} else {}
    quantities = {q: others.get(q, kinematics.quantities[q].value) for q in asked.quantities}
    parameters = {p: real(p) for p in asked.parameters}
    if values is not None:
        parameters |= {p: symbolic(v) for p, v in asked.defaults.items() if p not in values}
    called, scalars = call_law(energy, quantities, parameters)
    result = called.result
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    if not parts:
        raise KinematicsError(
            f"{asked.name}() returns an empty dict: return an expression, or named parts such as "
            "{'deviatoric': ..., 'volumetric': ...}",
            asked=asked.name,
            given=result,
        )
    given_symbols = (symbolic(v).free_symbols for v in (*parameters.values(), *quantities.values()))
    symbols: set[sp.Symbol] = set().union(*given_symbols)
    own_symbols = called.symbols
    every = symbols | own_symbols
    checked = {part: _density(asked.name, part, w, every) for part, w in parts.items()}
    own = (
        _own(asked.name, called, kinematics, symbols, reserved, where, checked)
        if own_symbols
        else NOTHING
    )
    history, stored, local = own
    roots = _roots(quantities)
    if roots:
        _require_even(asked.name, checked.values(), own, roots)
    identifier = re.sub(r"\W", "_", asked.name, flags=re.ASCII).lstrip("_0123456789") or "energy"
    return EnergyCall(
        name=identifier,
        signature=asked,
        kinematics=kinematics,
        parts=checked,
        scalars=_unique(scalars, quantities.values(), roots.values(), reserved, every),
        history=history,
        stored=stored,
        local=local,
        shared=called.shared,
        values=called.values,
    )


MUST = (
    "an energy is a scalar of SymPy; for eigenvalues of C ask for the principal stretches lambda1, "
    "lambda2, lambda3"
)


def _density(
    name: str,
    part: str,
    value: object,
    symbols: set[sp.Symbol],
    *,
    has_hint: bool = False,
    argument: str = "",
) -> sp.Expr:
    """Return a part of an energy as a SymPy scalar, or say what is wrong with it; see `scalar`.

    What is only `has_hint`, not differentiated, may depend on the order of principal stretches.
    Errors are about `argument`, by default the part or the energy.
    """
    what = f"part {part!r} of {name}()" if part else f"{name}()"
    w = scalar(what, argument or part or name, value, symbols, must=MUST)
    used = symbols_of(w)
    if not has_hint and used & {*stretches.AXES}:
        raise stretches.of_axes(what)
    if not used & {*stretches.LOGS}:
        return w
    if not has_hint:
        stretches.require_symmetric(what, w)
    return stretches.joined(w)


def _roots(quantities: Mapping[str, sp.Basic]) -> dict[str, sp.Expr]:
    """Return what the quantities that are square roots are the roots of."""
    half, roots = sp.Rational(1, 2), {}
    for name, value in quantities.items():
        if isinstance(value, sp.Pow) and value.exp == half:
            roots[name] = value.base
    return roots


def _require_even(
    name: str, parts: Collection[sp.Expr], own: Own, roots: Mapping[str, sp.Expr]
) -> None:
    """Check that quantities that are square roots, of the `roots`, occur in even powers."""
    history, _, local = own
    forms = (*parts, *(m.update for m in history), *(x.equation for x in local))
    for w, (q, base) in product(forms, roots.items()):
        if w is not None and _rough(w, base):
            raise KinematicsError(
                f"{name}() is not even in {q!r}: on a straight reference the direction "
                f"of {q!r} is undefined where it is 0, so only even powers such as {q}**2 may "
                f"occur. For a curved reference give curved=True.",
                asked=q,
                possible=(f"{q}**2",),
            )


def _own(
    name: str,
    called: Called,
    kinematics: Kinematics,
    arguments: set[sp.Symbol],
    reserved: Collection[str],
    where: str,
    parts: Mapping[str, sp.Expr],
) -> Own:
    """Return what the points of an energy remember, what is stored, and unknowns of its own.

    Stored are energies by parts, ``""`` where that of all parts is one.
    First values are made of those symbols of its `arguments` arguments that do not move.
    """
    moving = {s for s, _ in (*kinematics.inner, *kinematics.lets)}
    fixed = arguments - moving.union(*map(unknown, ("value", *kinematics.jets)))
    all_symbols = arguments | called.symbols
    names = [*(m.name for m in called.history), *(str(x.symbol.name) for x in called.local)]
    require_free(f"{name}()", names, reserved, where)

    def checked(of: str, w: object, symbols: set[sp.Symbol], has_hint: bool = False) -> sp.Expr:
        return _density(name, of, w, symbols, has_hint=has_hint, argument=of.split()[0])

    history: list[HistoryVariable] = []
    for m in called.history:
        update = checked(f"{m.name} at the end of a step", m.update, all_symbols, has_hint=True)
        initial = checked(f"{m.name} before the first step", m.initial, fixed)
        history.append(replace(m, update=update, initial=initial))
    stored = None
    if called.stored is not None:
        whole = called.stored if isinstance(called.stored, Mapping) else {"": called.stored}
        stored = {p: checked("stored", w, all_symbols, has_hint=True) for p, w in whole.items()}
        _require_parts(name, stored, parts, called.symbols)
    begins = fixed | {m.symbol for m in history}
    local: list[Local] = []
    for x in called.local:
        of, equation = str(x.symbol.name), x.equation
        start = checked(f"{of} at its start", x.start, begins)
        if equation is not None:
            equation = checked(f"{of} in its equation", equation, all_symbols)
        local.append(replace(x, start=start, equation=equation))
    return tuple(history), stored, tuple(local)


def _require_parts(
    name: str,
    stored: Mapping[str, sp.Expr],
    parts: Mapping[str, sp.Expr],
    own: Collection[sp.Symbol],
) -> None:
    """Check that what is stored by parts is that of all parts that remember.

    Raises
    ------
    KinematicsError
    """
    remembering = [p for p, w in parts.items() if w.free_symbols & {*own}]
    if "" in stored or {*remembering} <= {*stored} <= {*parts}:
        return
    raise KinematicsError(
        f"{name}: remember(..., stored={{...}}) names the parts {', '.join(stored) or 'none'}; "
        f"those that remember are {', '.join(remembering)}, of {', '.join(parts)}",
        asked="stored",
        given=tuple(stored),
        possible=remembering,
    )


def _rough(w: sp.Expr, base: sp.Expr) -> bool:
    """Whether `w` contains odd powers of the square root of `base`."""
    return any(p.base == base and not p.exp.is_Integer for p in symbolic(w).atoms(sp.Pow))


def _unique(
    scalars: Mapping[str, sp.Expr],
    values: Collection[sp.Basic],
    roots: Collection[sp.Expr],
    reserved: Collection[str],
    symbols: set[sp.Symbol],
) -> dict[str, sp.Expr]:
    """Return named scalars of what is known that are none of the values, under free names."""
    result: dict[str, sp.Expr] = {}
    for name, expression in scalars.items():
        if expression in values or any(_rough(expression, base) for base in roots):
            continue
        w = stretches.joined(expression)
        if w.free_symbols and w.free_symbols <= symbols:
            result[name if name not in reserved else f"{name}_"] = w
    return result

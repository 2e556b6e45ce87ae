# SPDX-License-Identifier: BSD-3-Clause
"""Integrals over bodies of functions of the quantities of their laws, with all derivatives.

The density becomes something that points of the body's law remember: of each the part of the
integral. Derivatives of what is remembered know the unknowns of points and cells. Stresses, which
fields leave to the compiler, are written out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from symancf_codegen.declare import HistoryVariable
from symancf_codegen.functions import force_on, log_stretch, symbolic

from ..errors import KinematicsError
from ..kinematics.naming import signature
from ..kinematics.quantity import real
from .evaluate import evaluate_energy
from .sampled import sampled_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..elements.element import Element
    from ..kinematics.naming import Energy
    from ..kinematics.quantity import Kinematics
    from ..values.parameter import Value

#: What points remember: the part of each in an integral over the cell.
INTEGRAL = HistoryVariable(real("integral"), sp.S.Zero, total=True)


@dataclass(frozen=True)
class Density:
    """A density of an integral over a body.

    Attributes
    ----------
    value : expression of quantities, parameters and `forces`.
    forces : by names, forces on quantities, each made of those before it.
    of_energy : whether it has the energy itself, or forces.
    """

    value: sp.Expr
    forces: Mapping[str, sp.Expr]
    of_energy: bool


def density(
    what: str,
    element: Element,
    energy: Energy,
    function: Callable[..., object],
    values: Mapping[str, Value],
    **options: Any,
) -> Density:
    """Return what a function of the fields of a body is, see `sampled_fields`.

    Parameters
    ----------
    what : in messages.
    values : the body's parameters by name.
    options : variants of the kinematics.

    Raises
    ------
    KinematicsError : as there; or it is no scalar, or asks for forces whose derivatives are not
        known.
    """
    fields = sampled_fields(element, energy, {what: function}, values=values, **options)
    if len(fields.outputs) != 1:
        raise KinematicsError(
            f"{what}: the function returns {len(fields.outputs)} components: return one expression",
            asked="function",
            given=fields.shapes[what],
        )
    (found,) = map(symbolic, fields.outputs.values())
    called = evaluate_energy(element, energy, values=values, **options)
    W = called.energy()
    asked = {q.args[0] for q in found.atoms(force_on)}
    forces = _forces(what, called.kinematics, W, asked) if asked else {}
    stages: dict[str, sp.Expr] = {}
    for symbol, force in forces.items():
        if not force.is_Atom:
            stages[f"force_{symbol.name}"] = force
    by = {force_on(s): real(f"force_{s.name}") if not f.is_Atom else f for s, f in forces.items()}
    value = found.xreplace({force_on(s): by.get(force_on(s), sp.S.Zero) for s in asked})
    return Density(value, stages, bool(asked) or "W" in signature(function).quantities)


def _forces(
    what: str, kinematics: Kinematics, energy: sp.Expr, targets: set[sp.Symbol]
) -> dict[sp.Symbol, sp.Expr]:
    """Return dW/dq by symbols q, of lets in their order from the last; each of those before.

    The `targets` vary independently of one another.
    """
    lets = dict(kinematics.lets)
    varies = {*lets, *(s for s, _ in kinematics.inner)}
    varies |= targets if kinematics.inner else {s for e in lets.values() for s in e.free_symbols}
    total: dict[sp.Symbol, sp.Expr] = {}

    def add(of: sp.Expr, factor: sp.Expr) -> None:
        for s in sorted(of.free_symbols & varies, key=str):
            total[s] = total.get(s, sp.S.Zero) + factor * sp.diff(of, s)

    add(energy, sp.S.One)
    for symbol, definition in reversed(kinematics.lets):
        force = total.get(symbol, sp.S.Zero)
        if symbol in targets or force == 0:
            continue
        named = force if force.is_Atom else real(f"force_{symbol.name}")
        if isinstance(definition, log_stretch):
            raise KinematicsError(
                f"{what}: derivatives of stresses are not known of laws in principal stretches; W "
                "and strains have some",
                asked="stress",
            )
        add(symbolic(definition), named)
    order = [s for s in reversed(lets) if s in total]
    return {s: total[s] for s in [*order, *(s for s in total if s not in lets)]}

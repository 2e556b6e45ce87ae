# SPDX-License-Identifier: BSD-3-Clause
"""The pressure that is asked for of an energy on an element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.functions import numerical

from .. import elements
from ..errors import KinematicsError, ParameterError
from ..kinematics.quantity import real
from ..values.arguments import among
from ..values.parameter import Parameter
from .evaluate import evaluate_energy
from .mixed import Kind, PressureField, split

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy as sp

    from ..elements.element import Element
    from ..kinematics.naming import Energy
    from ..values.parameter import Value


def pressure_of(
    element: Element, energy: Energy, asked: Kind, values: Mapping[str, Value]
) -> PressureField:
    """Return the pressure that is asked for of an energy on an element.

    Parameters
    ----------
    asked : ``"continuous"``, ``"discontinuous"`` or ``"condensed"``.
    values : parameters by name; an infinite modulus, or one that numbers make infinite, says that
        the body is incompressible.

    Raises
    ------
    KinematicsError : the element has no such pressure, the energy no fitting part.
    ParameterError : a `Parameter` is infinite.
    """
    degrees = dict(element.pressures)
    if "discontinuous" in degrees:
        degrees["condensed"] = degrees["discontinuous"]
    if not among(asked, degrees):
        has = " or ".join(map(repr, degrees))
        if not degrees:
            elements_of_kind = [x for x in vars(elements).values() if isinstance(x, type(element))]
            has = f"none, {' and '.join(x.name for x in elements_of_kind if x.pressures)} have"
        raise KinematicsError(
            f"pressure={asked!r} is not possible on {element.name}; it has {has}",
            asked="pressure",
            possible=tuple(degrees),
            given=asked,
        )
    called = evaluate_energy(element, energy)
    incompressible, plain = _limit(split(called)[1], values)
    if incompressible and asked == "condensed":
        raise KinematicsError(
            "pressure='condensed' needs a finite modulus, to which the pressure of a cell belongs; "
            f"{called.signature.name}() is incompressible: take 'discontinuous'",
            asked="pressure",
            given=asked,
            possible=("discontinuous",),
        )
    limits = tuple(plain) if incompressible else ()
    unbounded = tuple(n for n in limits if math.isinf(plain[n]))
    return PressureField(asked, degrees[asked], incompressible, unbounded, limits)


def _limit(compliance: sp.Expr, values: Mapping[str, Value]) -> tuple[bool, dict[str, float]]:
    """Return whether 1/kappa is 0, and those of its parameters that are numbers."""
    names = sorted(s.name for s in compliance.free_symbols)
    plain: dict[str, float] = {}
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float):
            plain[name] = float(value)
        elif isinstance(value, Parameter) and math.isinf(value.value):
            raise ParameterError(
                f"{name} is {value!r}: of an incompressible body it is a number, {name}=math.inf, "
                "which does not change",
                asked=name,
                given=value.value,
                possible=("number",),
            )
    if not names or len(plain) < len(names) or -math.inf in plain.values():
        return compliance == 0, plain
    with np.errstate(all="ignore"):
        function = numerical([real(n) for n in names], compliance, "numpy")
        return bool(function(*map(np.float64, plain.values())) == 0.0), plain

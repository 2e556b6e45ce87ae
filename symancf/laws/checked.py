# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of an energy and of its parameters, with words for what is wrong."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import symbolic

from ..errors import ParameterError
from ..kinematics.stretches import joined, require_symmetric
from ..values.reader import as_expression, require_parameters, scalar

if TYPE_CHECKING:
    from ..kinematics.quantity import Kinematics
    from ..values.parameter import Value
    from ..values.reader import Signature


def check_values(
    asked: Signature,
    kinematics: Kinematics,
    given: Mapping[str, Value | numbers.Real],
    unbounded: Collection[str] = (),
) -> None:
    """Check names and numbers of the parameters given for an energy; some may be infinite.

    Raises
    ------
    ParameterError : if one is missing, not taken by the energy or the element, not finite, or if
        the thickness is not positive.
    """
    required = (*asked.required, *kinematics.section)
    optional = (*asked.defaults, *kinematics.density_parameters, *kinematics.defaults)
    require_parameters(f"{asked.name}()", required, given, optional=optional, exact=True)
    for name, value in given.items():
        if not isinstance(value, numbers.Real) or name in unbounded:
            continue
        if not math.isfinite(value):
            raise ParameterError(
                f"parameter {name!r} of {asked.name}() is {value}: it must be finite",
                asked=name,
                given=value,
            )
        if name == "thickness" and not float(value) > 0:
            raise ParameterError(
                f"the thickness is {value}: it must be positive", asked=name, given=value
            )


def default(name: str, parameter: str, value: object) -> sp.Expr:
    """Return the default of a parameter of an energy, a number or an expression."""
    try:
        found = symbolic(value)
    except (sp.SympifyError, TypeError) as error:
        raise ParameterError(
            f"the parameter {parameter!r} of {name}() is {value!r} by default: give a number",
            asked=parameter,
            given=value,
        ) from error
    return found


def summed(name: str, parts: object) -> sp.Expr:
    """Return an energy, or the sum of its named parts, as a SymPy scalar."""
    given = [*parts.values()] if isinstance(parts, Mapping) else [parts]
    return sp.Add(*(as_expression(f"{name}()", name, part) for part in given))


MUST = (
    "an energy is a scalar of SymPy; for eigenvalues of C ask for the principal stretches lambda1, "
    "lambda2, lambda3"
)


def density(
    name: str,
    part: str,
    value: object,
    known: set[sp.Symbol],
    *,
    told: bool = False,
    asked: str = "",
) -> sp.Expr:
    """Return a part of an energy as a SymPy scalar, or say what is wrong with it; see `scalar`.

    What is only `told`, not differentiated, may depend on the order of principal stretches. Errors
    are about `asked`, by default the part or the energy.
    """
    what = f"part {part!r} of {name}()" if part else f"{name}()"
    w = scalar(what, asked or part or name, value, known, must=MUST)
    if not told:
        require_symmetric(what, w)
    return joined(w)

# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of an energy and of its parameters, with words for what is wrong."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import (
    DEEPEST,
    expression,
    extent,
    short,
    symbolic,
    uncompilable,
    undefined,
)

from ..errors import CompileError, KinematicsError, ParameterError
from ..kinematics.naming import Signature, require_parameters
from ..kinematics.stretches import joined, require_symmetric
from ..values.parameter import label

if TYPE_CHECKING:
    from ..kinematics.quantity import Kinematics
    from ..values.parameter import Value


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
    required = dict.fromkeys((*asked.required, *kinematics.section))
    optional = dict.fromkeys(
        (*asked.defaults, *kinematics.density_parameters, *kinematics.defaults)
    )
    require_parameters(asked.name, required, given, optional=optional, exact=True)
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
    try:
        return sp.Add(*map(symbolic, given))
    except (sp.SympifyError, TypeError) as error:
        raise KinematicsError(
            f"{name}() is {parts!r}, which is not a SymPy expression (text is not evaluated)",
            asked=name,
            given=parts,
        ) from error


def scalar(
    name: str, part: str, value: sp.Expr | None, known: set[sp.Symbol], *, told: bool = False
) -> sp.Expr:
    """Return a part of an energy as a SymPy scalar, or say what is wrong with it.

    What is only `told`, not differentiated, may depend on the order of principal stretches.
    """
    of, asked = (f"part {part!r} of {name}()", part) if part else (f"{name}()", name)
    if value is None:
        raise KinematicsError(
            f"{of} is None: the function returns nothing (no return statement?)", asked=asked
        )
    try:
        w = expression(value)
    except (sp.SympifyError, TypeError, ValueError) as error:
        raise KinematicsError(
            f"{of} is {value!r}, which is not a SymPy expression (text is not evaluated)",
            asked=asked,
            given=value,
        ) from error
    if not isinstance(w, sp.Expr) or isinstance(w, sp.MatrixExpr):
        what = f"a matrix of shape {w.shape}" if hasattr(w, "shape") else label(value)
        raise KinematicsError(
            f"{of} is {what}; an energy is a scalar",
            asked=asked,
            given=getattr(w, "shape", what),
        )
    if undefined(w) is not None:
        raise KinematicsError(
            f"{of} is {short(w)}: infinite, undefined or complex. For eigenvalues of C ask for the "
            "principal stretches lambda1, lambda2, lambda3",
            asked=asked,
            given=short(w),
        )
    if extent(w)[1] > DEEPEST:  # told as where SymPy finds it itself
        raise RecursionError(f"more than {DEEPEST} operations are nested in one another")
    if stands := uncompilable(w):
        raise CompileError(f"{of} cannot be compiled: {stands[1]}", asked=asked, given=stands[0])
    foreign = sorted(s.name for s in w.free_symbols - known)
    if foreign:
        raise KinematicsError(
            f"{of} contains the symbol {foreign[0]!r}, which is neither a quantity nor a parameter "
            f"of the function: add it to the arguments.",
            asked=foreign[0],
            possible=sorted(s.name for s in known),
        )
    if not told:
        require_symmetric(of, w)
    return joined(w)

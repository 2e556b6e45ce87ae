# SPDX-License-Identifier: BSD-3-Clause
"""Laws with unknowns of their own: of a point, or of a cell, which the kernel solves for.

A function declares them by names and starts, asks for them by keyword-only arguments, and returns
an energy that is stationary in them, or equations::

    @local(p=0, per="cell")
    def mixed(J, I1, *, mu, k, p):
        return mu / 2 * (J ** Rational(-2, 3) * I1 - 3) + p * (J - 1) - p**2 / (2 * k)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import sympy as sp

from symancf_codegen.declare import Local

from ..errors import KinematicsError
from ..values.arguments import among
from ..values.domain import marked
from ..values.reader import as_expression, require_shape
from ..values.spellings import former_arguments
from .symbols import declaring, entries

if TYPE_CHECKING:
    from .quantity import Value

    Result = object  # of a user's function
    Start = object

Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True)
class Declared:
    """What `local` says of a function."""

    start: Mapping[str, Start]
    per: Literal["point", "cell"]


@dataclass(frozen=True)
class LocalEquations:
    """What a function with equations of its own returns; see `implicit`."""

    result: Result
    equations: Mapping[str, object]


@former_arguments("local")
def local(
    *, per: Literal["point", "cell"] = "point", **start: Start
) -> Callable[[Function], Function]:
    r"""Let an energy have unknowns of its own, of each quadrature point or of each cell.

    They are found within the kernel, at every evaluation and to round-off, and eliminated: the
    forces are :math:`\partial W/\partial q` at the unknowns p that belong to the coordinates q,

    .. math::
        \frac{\partial W}{\partial p}(q, p) = 0, \qquad
        K = W_{qq} - W_{qp} W_{pp}^{-1} W_{pq}.

    Nothing of them is kept between evaluations. A law whose points remember has them at the end
    of the step, `remember(..., a=p)`.

    Parameters
    ----------
    per : ``"point"``, or ``"cell"`` for unknowns that all points of a cell have in common; then
        the sum of the energy over the points is stationary.
    start : name -> where Newton's method begins: a number, a matrix of numbers or a function of
        parameters of the law, ``lambda k: ...``. Of a matrix that begins symmetric one triangle
        is unknown, unless its equations are not symmetric.

    The function has these names as keyword-only arguments. It returns an energy (or named parts)
    that is stationary in them: a minimum, a maximum or a saddle. Or it returns `implicit`.

    Examples
    --------
    Rubber with a constant pressure in each cell, which does not lock where k is large:

    >>> import symancf as sa
    >>> from sympy import Rational
    >>> @sa.local(p=0, per="cell")
    ... def mixed(J, I1, *, mu, k, p):
    ...     deviatoric = mu / 2 * (J ** Rational(-2, 3) * I1 - 3)
    ...     return deviatoric + p * (J - 1) - p**2 / (2 * k)

    Raises
    ------
    KinematicsError : a name is no argument of the function.

    Notes
    -----
    A point at which there is no solution counts as one that has left the domain of its law: the
    step is cut. Where there are several, the one that Newton's method finds from `start`.

    References
    ----------
    J. C. Simo, R. L. Taylor, K. S. Pister, Computer Methods in Applied Mechanics and Engineering
    51 (1985) 177-208 (a pressure per cell).
    """
    if not among(per, ("point", "cell")):
        raise KinematicsError(
            f"local(per={per!r}) is not possible: choose 'point' or 'cell'",
            asked="per",
            given=per,
            possible=("point", "cell"),
        )
    if not start:
        raise KinematicsError(
            "local() declares no unknown: give names and starts, local(p=0)",
            asked="start",
            given=(),
        )

    def declare(function: Function) -> Function:
        declaring(function, start, "solves for")
        more = declared_local(function)
        if more is not None and more.per != per:
            raise KinematicsError(
                f"{', '.join(more.start)} are unknowns of each {more.per}, {', '.join(start)} of "
                f"each {per}: a law has unknowns of points or of cells",
                asked="per",
                given=per,
                possible=(more.per,),
            )
        return marked(function, local=Declared({**(more.start if more else {}), **start}, per))

    return declare


def implicit(result: Result, **equations: object) -> LocalEquations:
    r"""Return the result of a law whose own unknowns satisfy equations.

    Parameters
    ----------
    result : an energy, or named parts. The forces are its derivatives at constant unknowns, as the
        stress is that of the stored energy at constant inelastic strain; the tangent follows the
        change of the unknowns and is unsymmetric in general.
    equations : unknown -> what vanishes; of the shape of the unknown.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.local(s=0)
    ... def softening(epsilon, *, EA, n, s):
    ...     # s, a strain that relieves the cable, follows its force to a power
    ...     return sa.implicit(EA / 2 * (epsilon - s) ** 2, s=s - (epsilon - s) ** n)
    """
    return LocalEquations(result, equations)


def declared_local(function: Callable[..., object]) -> Declared | None:
    """Return what `local` declared of a function."""
    declaration: object = getattr(function, "local", None)
    return declaration if isinstance(declaration, Declared) else None


def residuals_of(result: Result) -> dict[str, Value]:
    """Return the equations of a result that are matrices."""
    equations = result.equations if isinstance(result, LocalEquations) else {}
    result = {key: _equation(key, x) for key, x in equations.items() if x is not None}
    return {key: x for key, x in result.items() if isinstance(x, sp.MatrixBase)}


def _equation(key: str, value: object) -> Value:
    """Return an equation of `implicit` as a SymPy expression or matrix."""
    return as_expression(f"the equation of {key!r}", key, value)


def equations_of(
    name: str,
    returned: Result,
    symbols: Mapping[str, Value],
    start: Mapping[str, Value],
    shared: bool,
) -> tuple[Result, tuple[Local, ...]]:
    """Return the energy of a result, and the unknowns with their equations.

    Raises
    ------
    KinematicsError : equations that do not go with the unknowns.
    """
    equations: Mapping[str, object] = {}
    result = returned
    if isinstance(returned, LocalEquations):
        equations, result = returned.equations, returned.result
        if shared and equations:
            raise KinematicsError(
                f"{name}: unknowns of a cell are those in which the energy is stationary: return "
                "the energy alone, or declare unknowns of the points",
                asked="per",
                given="cell",
                possible=("point",),
            )
        for key in equations:
            if key not in symbols:
                declared = ", ".join(symbols) or "none"
                raise KinematicsError(
                    f"{name} gives an equation for {key!r}, which is no unknown of its own; those "
                    f"are {declared}: write @sa.local({key}=start) above it",
                    asked=key,
                    given=str(equations[key]),
                    possible=tuple(symbols),
                )
        for key in symbols:
            if equations.get(key) is None:
                raise KinematicsError(
                    f"{name} gives no equation for its unknown {key!r}", asked=key
                )
    unknown: dict[sp.Symbol, Local] = {}
    for key, symbol in symbols.items():
        equation = equations.get(key)
        value = None if equation is None else _equation(key, equation)
        if equation is not None:
            require_shape(f"{name}: the equation of {key!r}", key, value, symbol)
        ends = entries(value) if equation is not None else [None] * len(entries(symbol))
        for s, e, begin in zip(entries(symbol), ends, entries(start[key]), strict=True):
            unknown.setdefault(s, Local(s, begin, e))
    return result, tuple(unknown.values())

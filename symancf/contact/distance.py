# SPDX-License-Identifier: BSD-3-Clause
"""A rigid shape by a function of the user, its signed distance."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import derivative, obstacle, symbolic

from ..errors import ParameterError, in_words
from ..kinematics.quantity import real
from ..values import arguments
from ..values.arguments import named
from ..values.parameter import evaluate, label
from .shapes import Expressions, Shape, X, takes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..bodies.natural import RigidBody
    from ..values.motion import Displacement, Gradient
    from ..values.parameter import Scalar


class Distance(Shape):
    """A shape by a function of the user, its signed distance.

    Parameters
    ----------
    function : ``def s(x1, x2, x3, *, R): ...`` of coordinates in the frame, a SymPy expression,
        negative inside; its gradient should have the length 1, as forces per area and friction
        are by this measure.
    point, frame : origin and axes (3, 3), columns, of the coordinates.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.
    parameters : values of the function's parameters: numbers, `Parameter` or functions of time.

    Raises
    ------
    ParameterError : it is no such function, or does not depend on the place; a parameter is
        missing, is no number or has the name of one of the arguments here.

    Examples
    --------
    >>> import symancf as sa
    >>> from sympy import sqrt
    >>> def torus(x1, x2, x3, *, R, r):
    ...     return sqrt((sqrt(x1**2 + x2**2) - R) ** 2 + x3**2) - r
    >>> ring = sa.Distance(torus, (0, 0, 0), R=0.1, r=0.01)
    """

    kind = "signed distance"

    def __init__(
        self,
        function: Callable[..., sp.Expr],
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        *,
        displacement: Displacement = None,
        gradient: Gradient = None,
        body: RigidBody | None = None,
        name: str | None = None,
        **parameters: Scalar,
    ) -> None:
        self.function = arguments.function("a signed distance", function)
        self._require_free_names()
        super().__init__(
            point,
            frame,
            sizes=parameters,
            displacement=displacement,
            gradient=gradient,
            body=body,
            name=named(name, label(function).removesuffix("()")),
        )
        for key, value in self.parameters.items():
            evaluate(f"{key} of signed distance {self.name!r}", value, 0.0)
        self._distance = self._called()
        if not {*X} & self._distance.free_symbols:
            raise ParameterError(
                f"the signed distance {self.name!r} returned {label(self._distance)}, which does "
                "not depend on x1, x2, x3",
                asked="x1",
                given=label(self._distance),
            )

    def _require_free_names(self) -> None:
        """Raise where a parameter of the function could not be given."""
        try:
            own = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # called, it tells
            return
        names = {a.name for a in own if a.kind is a.KEYWORD_ONLY}
        for name in sorted(names & {*takes(Distance)}):
            raise ParameterError(
                f"the signed distance {label(self.function)} has a parameter {name!r}, which is "
                "the name of an argument of sa.Distance: call it otherwise",
                asked=name,
            )

    def _called(self) -> sp.Expr:
        """Return what the user's function makes of x1, x2, x3 and its parameters."""
        own = {name: real(name) for name in self.parameters}
        what = f"the signed distance {self.name!r}"
        try:
            found = symbolic(self.function(*X, **own))
        except Exception as error:
            raise ParameterError(
                f"{what} failed on symbols: {in_words(error)}", asked=self.name, given=error
            ) from error
        why = obstacle(found) if isinstance(found, sp.Expr) else ""
        if why is not None or found.free_symbols - {*X, *own.values()}:
            raise ParameterError(
                f"{what} returned {label(found)}: it must be an expression of x1, x2, x3 and its "
                f"parameters{f'; {why}' if why else ''}",
                asked="expression",
                given=label(found),
            )
        return found

    def distance(self, x: Expressions) -> sp.Expr:
        """Return the user's function of symbols, which was called once."""
        return self._distance.xreplace(dict(zip(X, x, strict=True)))

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return the derivatives of the user's function."""
        at = dict(zip(X, x, strict=True))
        return [derivative(self._distance, a).xreplace(at) for a in X]

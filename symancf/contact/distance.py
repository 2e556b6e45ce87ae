# SPDX-License-Identifier: BSD-3-Clause
"""A rigid shape by a function of the user, its signed distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from symancf_codegen.functions import derivative

from ..kinematics.quantity import real
from ..values.arguments import name_or
from ..values.parameter import evaluate, label
from ..values.reader import (
    call_symbolic,
    read,
    require_dependence,
    require_free,
    require_parameters,
    require_places,
    scalar,
)
from .shapes import Expressions, RigidShape, X, takes

if TYPE_CHECKING:
    import numpy.typing as npt
    import sympy as sp

    from ..bodies.natural import RigidBody
    from ..values.motion import Displacement, Gradient
    from ..values.parameter import Scalar


class Distance(RigidShape):
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
    KinematicsError : it is no function of three coordinates, fails on symbols, returns something
        else than an expression of them, or one that does not depend on the place.
    ParameterError : a parameter is missing, is no number or has the name of one of the arguments
        here.

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
        what = f"the signed distance {name_or(name, label(function).removesuffix('()'))!r}"
        arguments = read(function, what)
        require_places(what, arguments, tuple(map(str, X)), "the place")
        require_free(what, arguments.parameters, takes(Distance), "sa.Distance")
        optional = tuple(arguments.defaults)
        require_parameters(what, arguments.required, parameters, optional=optional, exact=True)
        self.function = function
        super().__init__(
            point,
            frame,
            sizes=parameters,
            displacement=displacement,
            gradient=gradient,
            body=body,
            name=name_or(name, label(function).removesuffix("()")),
        )
        for key, value in self.parameters.items():
            evaluate(f"{key} of signed distance {self.name!r}", value, 0.0)
        own = {name: real(name) for name in self.parameters}
        distance = call_symbolic(what, function, X, own)
        must = "it must be an expression of x1, x2, x3 and its parameters"
        self._distance = scalar(what, arguments.name, distance, {*X, *own.values()}, must=must)
        require_dependence(what, arguments.name, self._distance, X, "the place", map(str, X))

    def distance(self, x: Expressions) -> sp.Expr:
        """Return the user's function of symbols, which was called once."""
        return self._distance.xreplace(dict(zip(X, x, strict=True)))

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return the derivatives of the user's function."""
        at = dict(zip(X, x, strict=True))
        return [derivative(self._distance, a).xreplace(at) for a in X]

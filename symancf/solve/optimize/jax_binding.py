# SPDX-License-Identifier: BSD-3-Clause
"""Goals of an equilibrium as a function of JAX."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ParameterError
from .objective import Objective, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..gradients.goal import Goal
    from ..statics.taylor import Differentiable


def jax(
    problem: Differentiable, parameters: Sequence[Any], *, of: Sequence[Goal]
) -> Callable[..., Any]:
    """Return goals at the equilibrium as a function that JAX differentiates.

    It solves anew for each array of values, outside of what JAX compiles (`jax.pure_callback`), and
    its derivative (`jax.custom_vjp`) is that of `StaticProblem.gradient`: one linear system,
    whatever the numbers of values and of goals. One derivative, not the second; `jax.vmap` is
    refused by JAX. On several ranks, all of them must call it alike.

    Parameters
    ----------
    problem : solved once; each call is a solution at its present time, with a trace all steps
        again, also of a `DynamicProblem`.
    parameters : `Parameter` and `Field` of values.
    of : the goals.

    Returns
    -------
    function(p, q, ...) : of one number, or array (cells,), for each parameter, to an array (goals,)
        in double precision.

    Raises
    ------
    SymancfError : there is no JAX.
    ParameterError : JAX is not set to double precision; see `StaticProblem.gradient`.
    """
    try:
        library: Any = import_module("jax")
    except ImportError:
        raise missing("jax", "optimize.jax") from None
    if not library.config.jax_enable_x64:
        raise ParameterError(
            "optimize.jax: JAX works in single precision, which is not enough: "
            'jax.config.update("jax_enable_x64", True) before anything else',
            asked="jax_enable_x64",
            given=False,
            possible=(True,),
        )
    numbers = library.numpy
    objective = Objective("optimize.jax", problem, of, parameters)
    result = library.ShapeDtypeStruct((len(objective.goals),), np.float64)
    slope = library.ShapeDtypeStruct((objective.size,), np.float64)

    def derivative(x: Any, weights: Any) -> Any:
        objective(x)
        return objective.gradient(np.asarray(weights))

    @library.custom_vjp  # type: ignore[untyped-decorator]
    def goals(x: Any) -> Any:
        return library.pure_callback(lambda x: objective(np.asarray(x)), result, x)

    goals.defvjp(
        lambda x: (goals(x), x),
        lambda x, weights: (library.pure_callback(derivative, slope, x, weights),),
    )

    def function(*values: Any) -> Any:
        return goals(numbers.concatenate([numbers.ravel(value) for value in values]))

    return function

# SPDX-License-Identifier: BSD-3-Clause
"""Goals of an equilibrium as a function of PyTorch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .objective import Objective, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..gradients.goal import Goal
    from ..statics.taylor import Differentiable


def torch(
    problem: Differentiable, parameters: Sequence[Any], *, of: Sequence[Goal]
) -> Callable[..., Any]:
    """Return goals at the equilibrium as a function that PyTorch differentiates.

    It solves anew for each tensor of values; its derivative (`torch.autograd.Function`) is that of
    `StaticProblem.gradient`: one linear system, whatever the numbers of values and of goals. One
    derivative, not the second. On several ranks, all of them must call it alike.

    Parameters
    ----------
    problem : solved once; each call is a solution at its present time, with a trace all steps
        again, also of a `DynamicProblem`.
    parameters : `Parameter` and `Field` of values.
    of : the goals.

    Returns
    -------
    function(p, q, ...) : of one number, or tensor (cells,), for each parameter, to a tensor
        (goals,) in double precision.

    Raises
    ------
    SymancfError : there is no PyTorch.
    ParameterError : see `StaticProblem.gradient`.
    """
    try:
        library: Any = import_module("torch")
    except ImportError:
        raise missing("torch", "optimize.torch") from None
    objective = Objective("optimize.torch", problem, of, parameters)

    class Goals(library.autograd.Function):  # type: ignore[misc]
        """Values of parameters to goals."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.new_tensor(objective(x.detach().cpu().numpy()))

        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            (x,) = ctx.saved_tensors
            objective(x.detach().cpu().numpy())
            return x.new_tensor(objective.gradient(weights.detach().cpu().numpy()))

    def function(*values: Any) -> Any:
        parts = [library.as_tensor(value, dtype=library.float64).reshape(-1) for value in values]
        return Goals.apply(library.cat(parts))

    return function

# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that make a goal small, by SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, minimize

from ...errors import ParameterError
from ...values.parameter import label
from .objective import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.optimize import OptimizeResult

    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..statics.taylor import Differentiable
    from .objective import Penalty

#: Methods of SciPy that need no exact Hessian as a matrix.
METHODS = (
    *("nelder-mead", "powell", "cg", "bfgs", "newton-cg", "l-bfgs-b", "tnc", "cobyla", "slsqp"),
    *("trust-constr", "trust-ncg", "trust-krylov"),
)
#: Methods of SciPy that are given products with the Gauss-Newton Hessian.
SECOND_ORDER = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")


def scipy(
    problem: Differentiable,
    goal: Goal,
    parameters: Sequence[Any],
    *,
    bounds: Sequence[Any] | None = None,
    method: str | None = None,
    penalty: Penalty | None = None,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> OptimizeResult:
    r"""Make a goal small by `scipy.optimize.minimize` with exact gradients (collective).

    SciPy sees values divided by the largest of each parameter, and the goal by the size of its
    first value or its changes, so that tolerances mean the same in all units. Afterwards parameters
    and state are those of the result.

    Parameters
    ----------
    problem : solved once; each evaluation is a solution at its present time. With a trace all its
        steps are repeated; a `DynamicProblem` with a trace moves again from its start.
    goal : J, less J is better.
    parameters : `Parameter` and `Field` of values; where they begin is where they are.
    bounds : a pair (lower, upper) for each parameter, numbers, arrays or None.
    method : of SciPy; L-BFGS-B by default. ``"trust-ncg"``, ``"trust-krylov"``, ``"Newton-CG"`` and
        ``"trust-constr"`` use products with the Hessian of `StaticProblem.hessian`.
    penalty : adds to the goal what depends on the values x (n,) of all parameters alone: it returns
        value, gradient (n,) and, for methods with a Hessian, that (n, n), a matrix or an operator.
    options, more : passed to SciPy: ``constraints=``, ``tol=``, ``callback=``; they see values
        divided as said above.

    Returns
    -------
    SciPy's result, with ``x``, ``fun``, ``jac`` as they are, not divided, and ``solutions``, the
    number of equilibria.

    Raises
    ------
    ParameterError : as those of `StaticProblem.gradient`; bounds that are no pairs.
    ConvergenceError : there is no equilibrium for values that SciPy tried; parameters and state are
        the last ones with one.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (4,))
    >>> EI = sa.Parameter("EI", 1.0)
    >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e3, EI=EI)
    >>> tip = cable.at((1.0, 0.0, 0.0))
    >>> terms = [sa.fix(cable["x0"]), sa.force(tip, (0.0, 0.5, 0.0))]
    >>> problem = sa.StaticProblem(sa.System(cable, terms=terms))
    >>> _ = problem.solve()
    >>> miss = sa.Goal(lambda u_a: (u_a[1] - 0.1) ** 2, tip)      # wanted: a sag of 0.1
    >>> found = sa.optimize.scipy(problem, miss, [EI], bounds=[(0.1, 10.0)])
    >>> found.success, round(EI.value, 2)
    (True, 1.65)
    """
    objective = Objective("optimize.scipy", problem, [goal], parameters)
    low, high = objective.bounds(bounds)
    scales, start = objective.scales(), objective.values
    comm = problem.system.comm
    unit = objective.unit(penalty)

    def both(x: Array) -> tuple[float, Array]:
        there = scales * x
        value = float(objective(there)[0])
        more, slope, _ = objective.penalised(penalty, there)
        return (value + more) / unit, scales * (objective.gradient([1.0]) + slope) / unit

    last: list[tuple[Array, Any, Any]] = []

    def product(x: Array, d: Array) -> Array:
        there, given = scales * x, comm.bcast(scales * np.ravel(d))
        objective(there)
        if not last or not np.array_equal(last[0][0], there):
            own = objective.penalised(penalty, there)[2]
            last[:] = [(there, objective.hessian(), own)]
        _, H, own = last[0]
        found = H @ given if own is None else H @ given + own @ given
        return np.asarray(comm.bcast(scales * found / unit))

    if method is not None and str(method).lower() not in METHODS:
        raise ParameterError(
            f"optimize.scipy(method={label(method)}): choose one of {', '.join(METHODS)}",
            asked="method",
            given=method,
            possible=METHODS,
        )
    chosen = "L-BFGS-B" if method is None and "constraints" not in more else method
    second = chosen is not None and chosen.lower() in SECOND_ORDER
    free = bool(np.isinf(low).all() and np.isinf(high).all())
    found = minimize(
        both,
        np.clip(start, low, high) / scales,
        jac=True,
        hessp=product if second else None,
        bounds=None if free else Bounds(low / scales, high / scales),
        method=chosen,
        options=options,
        **more,
    )
    best = scales * comm.bcast(found.x)
    found.fun = float(objective(best)[0]) + objective.penalised(penalty, best)[0]
    found.x, found.solutions = best, objective.solutions
    found.jac = np.asarray(found.jac, dtype=float) * unit / scales
    return found

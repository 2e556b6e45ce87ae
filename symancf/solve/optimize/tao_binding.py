# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that make a goal small, by PETSc's TAO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import OptimizeResult

from ...errors import ParameterError
from ...runtime.options import Option, SolverOptions, complaint
from ...runtime.petsc import PETSc
from ...values.parameter import label
from .objective import Objective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..statics.taylor import Differentiable
    from .objective import Penalty


def tao(
    problem: Differentiable,
    goal: Goal,
    parameters: Sequence[Any],
    *,
    bounds: Sequence[Any] | None = None,
    penalty: Penalty | None = None,
    options: Mapping[str, Option] | None = None,
    prefix: str = "",
) -> OptimizeResult:
    r"""Make a goal small by PETSc's TAO with exact gradients (collective).

    Values are distributed over the ranks. They are divided by the largest of each parameter, and
    the goal by the size of its first value or its changes. Afterwards parameters and state are
    those of the result.

    Parameters
    ----------
    problem, goal, parameters, bounds, penalty : see `scipy`.
    options : of PETSc, ``{"tao_type": "bntr", "tao_gatol": 1e-8}``; ``bqnls`` by default. The
        command line goes before them. Newton's methods, ``bnls``, ``bntr``, ``bntl``, take the
        Gauss-Newton Hessian, without preconditioner.
    prefix : of their names.

    Returns
    -------
    A result as that of SciPy: ``x``, ``fun``, ``jac``, ``nit``, ``success``, ``solutions`` and
    ``status``, PETSc's ``TaoConvergedReason``.

    Raises
    ------
    ParameterError, ConvergenceError : see `scipy`.

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
    >>> miss = sa.Goal(lambda u_a: (u_a[1] - 0.1) ** 2, tip)
    >>> found = sa.optimize.tao(problem, miss, [EI], bounds=[(0.1, 10.0)])
    >>> found.success, round(EI.value, 2)
    (True, 1.65)
    """
    objective = Objective("optimize.tao", problem, [goal], parameters)
    low, high = objective.bounds(bounds)
    scales, start = objective.scales(), objective.values
    comm = problem.system.comm
    unit = objective.unit(penalty)
    x = PETSc.Vec().createMPI(objective.size, comm=comm)
    own = slice(*x.getOwnershipRange())

    def whole(x: PETSc.Vec) -> Array:
        parts = comm.allgather(np.array(x.getArray(readonly=True)))
        return np.asarray(scales * np.concatenate(parts))

    def both(tao: PETSc.TAO, x: PETSc.Vec, slope: PETSc.Vec) -> float:
        del tao  # an error's traceback would have it until after PETSc's end
        there = whole(x)
        value = float(objective(there)[0])
        more, by, _ = objective.penalised(penalty, there)
        slope.setArray((scales * (objective.gradient([1.0]) + by) / unit)[own])
        return (value + more) / unit

    class HessianProducts:
        """The Hessian as PETSc takes it."""

        at: Array = start

        def mult(self, matrix: PETSc.Mat, d: PETSc.Vec, to: PETSc.Vec) -> None:
            del matrix
            objective(self.at)
            given = whole(d)
            found = objective.hessian() @ given
            more = objective.penalised(penalty, self.at)[2]
            found = found if more is None else found + more @ given
            to.setArray((scales * found / unit)[own])

    products = HessianProducts()
    H = PETSc.Mat().createPython(((x.getLocalSize(), None), (x.getLocalSize(), None)), comm=comm)
    H.setPythonContext(products)
    H.setUp()

    def hessian(tao: PETSc.TAO, x: PETSc.Vec, H: PETSc.Mat, P: PETSc.Mat) -> None:
        products.at = whole(x)

    x.setArray((np.clip(start, low, high) / scales)[own])
    database = SolverOptions(prefix, options, ("tao_",))
    lower, upper, slope = x.duplicate(), x.duplicate(), x.duplicate()
    lower.setArray(np.maximum(low / scales, PETSc.NINFINITY)[own])
    upper.setArray(np.minimum(high / scales, PETSc.INFINITY)[own])
    solver = PETSc.TAO().create(comm)
    try:
        with database:
            database.offer({"tao_type": "bqnls"})
            solver.setOptionsPrefix(prefix)
            solver.setObjectiveGradient(both, slope)
            solver.setHessian(hessian, H)
            solver.setVariableBounds(lower, upper)
            try:
                solver.setFromOptions()
            except PETSc.Error as error:
                raise ParameterError(
                    f"optimize.tao(options={label(options)}): PETSc does not take them: "
                    f"{complaint(error)}",
                    asked="options",
                    given=options,
                ) from error
            solver.solve(x)
        best, reason = whole(x), int(solver.getConvergedReason())
        more = objective.penalised(penalty, best)[0]
        return OptimizeResult(
            x=best,
            fun=float(objective(best)[0]) + more,
            jac=np.concatenate(comm.allgather(np.array(slope))) * unit / scales,
            nit=solver.getIterationNumber(),
            status=reason,
            success=reason > 0,
            solutions=objective.solutions,
        )
    finally:
        for used in (solver, H, lower, upper, slope, x):  # before Python's end: H calls Python
            used.destroy()

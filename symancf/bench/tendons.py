# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of a step with a tendon in many eyelets, beside one without."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import symancf as sa

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

PULL = 0.05  # [N] by a winch, also the tension at first
FRICTION = 0.2
STEP, REPEATS = 1e-3, 5


def _rod(cells: int) -> tuple[Any, Any, Any]:
    """Return a soft rod of 1 m, where eyelets are beside it, and a force at its tip."""
    line = sa.Mesh.box((1.0,), (cells,), cell="line3")
    section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
    body = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)

    def eyelets(count: int) -> Any:
        return sa.eyelet(body.at([(x, 0, 0) for x in np.linspace(0.01, 1.0, count)]), (0.0, 5e-3))

    return body, eyelets, sa.force(body.at((1.0, 0.0, 0.0)), (0.0, 0.0, 4e-4))


def _solid(cells: int) -> tuple[Any, Any, Any]:
    """Return a soft finger of 10 by 10 cells across, likewise."""
    mesh = sa.Mesh.box((0.2, 0.03, 0.03), (cells, 10, 10))
    law: dict[str, Any] = {"mu": 1e5, "lam": 4e5, "rho": 1000.0}
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **law)

    def eyelets(count: int) -> Any:
        return body.at([(x, 0.015, 0.024) for x in np.linspace(0.002, 0.2, count)])

    return body, eyelets, sa.gravity((0.0, 0.0, -0.5))


MODELS = {"rod": (_rod, 100), "short rod": (_rod, 20), "solid": (_solid, 20)}


def moving(model: str, eyelets: int, mu: float | None) -> Any:
    """Return the motion of a model with a tendon, or, where mu is None, with a load instead."""
    make, cells = MODELS[model]
    body, places, load = make(cells)
    terms: list[Any] = [sa.fix(body["x0"])]
    if mu is None:
        terms.append(load)
    else:
        pulled: dict[str, Any] = {"tension": PULL, "start": sa.winch(force=PULL)}
        terms.append(sa.Tendon([places(eyelets)], EA=2e4, mu=mu, **pulled))
    return sa.DynamicProblem(sa.System(body, terms=terms))


def compare(models: Sequence[str] = (), eyelets: int = 100, steps: int = 20) -> list[Row]:
    """Return a row for each model, default all, and friction: medians of alternating runs.

    `ratio` : of CPU times of a step with the tendon and with a load instead; `ratio_iteration` : of
    an iteration; `operations` : of a factorisation on a fixed pattern with it, over those without;
    None: the model is too large for such factors.

    Raises
    ------
    ParameterError : a name that is not in `MODELS`.
    """
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        raise ParameterError(
            f"no model {unknown[0]!r} of tendons: there are {', '.join(MODELS)}",
            asked="model",
            given=unknown[0],
            possible=tuple(MODELS),
        )
    return [row for model in models or MODELS for row in _rows(model, eyelets, steps)]


def _rows(model: str, eyelets: int, steps: int) -> list[Row]:
    frictions = None, 0.0, FRICTION
    problems = [moving(model, eyelets, mu) for mu in frictions]
    for problem in problems:
        problem.solve(to=10 * STEP, step=STEP)
    spent: list[list[float]] = [[] for _ in problems]
    begun = [problem.history.iterations for problem in problems]
    for k in range(1, REPEATS + 1):
        for problem, times in zip(problems, spent, strict=True):
            start = time.process_time()
            problem.solve(to=(10 + k * steps) * STEP, step=STEP)
            times.append(1e3 * (time.process_time() - start) / steps)
    ms = [median(times) for times in spent]
    total = REPEATS * steps
    iterations = [(p.history.iterations - b) / total for p, b in zip(problems, begun, strict=True)]
    operations = [_operations(problem) for problem in problems]
    rows = []
    for k in (1, 2):
        both = operations[k], operations[0]
        rows.append(
            {
                "model": model,
                "mu": frictions[k],
                "eyelets": eyelets,
                "unknowns": problems[k].system.unknowns.size,
                "unknowns_without": problems[0].system.unknowns.size,
                "ms_per_step": ms[k],
                "ms_per_step_without": ms[0],
                "iterations": iterations[k],
                "iterations_without": iterations[0],
                "ratio": ms[k] / ms[0],
                "ratio_iteration": ms[k] / iterations[k] / (ms[0] / iterations[0]),
                "operations": both[0] / both[1] if all(both) else None,
            }
        )
    return rows


def _operations(problem: Any) -> float:
    """Return the multiplications of a factorisation on a fixed pattern, 0: there is none."""
    fixed = problem._newton.preconditioner.fixed
    return 0.0 if fixed is None or fixed.factor is None else float(fixed.factor.operations)

# SPDX-License-Identifier: BSD-3-Clause
"""dR/dp of paths: the kernels' own derivatives against differences of the whole residual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_plate, hex8_plain
from symancf.energies import neo_hooke, saint_venant_kirchhoff
from symancf.solve.statics.arc import Arc
from tests.shells import hollow_block

pytestmark = pytest.mark.collective


def block(p: sa.Parameter) -> tuple[Any, list[Any]]:
    """A modulus, a load, a follower pressure and a support, all driven."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 2, 2))
    body = sa.Body(
        mesh["body"], hex8_plain, neo_hooke(), mu=p, lam=lambda t: 2.0 + np.sin(t), rho=2.0
    )

    def wind(X: Any, t: float) -> Any:
        return np.multiply.outer(X[:, 1] * np.exp(t), [0.0, 0.0, 0.1])

    lift = sa.fix(body["z1"], "z", displacement=(0.0, 0.0, lambda t: 0.1 * np.sin(2.0 * t)))
    shift = sa.fix(body["z0"], displacement=(p, lambda t: 0.05 * t * p.value, 0.0))
    loads = [sa.traction(body["x1"], wind), sa.pressure(body["y1"], p), sa.gravity((0, 0, p))]
    return body, [lift, shift, *loads]


def plate(p: sa.Parameter) -> tuple[Any, list[Any]]:
    """The thickness is in the geometry, at all points and in the measure."""
    mesh = sa.Mesh.box((1.0, 1.0), (2, 2))
    given = {"E": 10.0, "nu": 0.3, "thickness": p}
    body = sa.Body(mesh["body"], ancf_plate, saint_venant_kirchhoff(), volumetric=None, **given)
    return body, [sa.fix(body["x0"]), sa.traction(body["body"], (0.0, 0.0, p))]


def gas(p: sa.Parameter) -> tuple[Any, list[Any]]:
    """The amount of gas, which the pressure follows as an unknown."""
    body = sa.Body(hollow_block()["body"], hex8_plain, neo_hooke(), mu=1.0, lam=2.0)
    return body, [sa.Cavity(body["inside"], gas=sa.Gas(p, ambient=0.5))]


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("model", "along"),
    [(block, "p"), (block, "time"), (plate, "p"), (gas, "p")],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_against_differences_of_the_residual(model: Any, along: str) -> None:
    p = sa.Parameter("p", 0.3)
    body, terms = model(p)
    system = sa.System(body, terms=terms)
    problem = sa.StaticProblem(system, check_held=False)
    system.time = 0.4
    problem.solver.prepare()
    system.state[:] += 0.02 * system._discrete.numbering.random(3)
    arc = Arc(problem.solver, "time" if along == "time" else p)
    arc.prescribe(arc.value)
    found, anything = arc.derivative()
    assert anything
    total, f, h, value = 0.0, np.zeros_like(system.state), 1e-3, arc.value
    for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        state = system.state.copy()
        arc.prescribe(value + k * h, state)
        assert system._discrete.assembler.residual(state, f) == 0
        total = total + weight * system._discrete.numbering.to_rows(f) / (12 * h)
    arc.prescribe(value)
    off, size = (float(np.abs(d).max(initial=0.0)) for d in (found - total, total))
    off, size = max(system.comm.allgather(off)), max(system.comm.allgather(size))
    assert size > 1e-3
    assert off < 1e-9 * size

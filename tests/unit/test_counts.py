# SPDX-License-Identifier: BSD-3-Clause
"""Many of everything: N times the model costs N times as much and gives the same numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symancf as sa


def wheels(count: int, driven: int = 1, **options: float) -> tuple[sa.System, list[sa.PlanarBody]]:
    """Return planar bodies pinned to the ground one by one; the last ones are turned by 0.4 t."""
    bodies = [sa.PlanarBody((3.0 * k, 0.0), **options) for k in range(count)]
    terms = []
    for k, body in enumerate(bodies):
        hinge = body.at((0.0, 0.0)), sa.ground.at((3.0 * k, 0.0))
        angle = (lambda t: 0.4 * t) if k >= count - driven else 0.0
        terms += [sa.joints.revolute(*hinge), sa.joints.rotation(*hinge, angle=angle)]
    return sa.System(*bodies, terms=terms), bodies


def test_the_last_of_many_constraints_holds() -> None:
    """130 blocks and more: kinds of rows once were bytes, and rows of negative kind untested."""
    system, bodies = wheels(75, driven=5)
    problem = sa.StaticProblem(system, prefix="many_", check_held=False)
    problem.solve(to=1.0)
    angles = [body.position(system)[2] for body in bodies]
    np.testing.assert_allclose(angles, [0.0] * 70 + [0.4] * 5, atol=1e-12)
    kinds, kind = system.numbering.kind_of_rows()
    assert kind.min() >= 0
    assert len(kinds) == 3 + 150
    assert np.bincount(kind, minlength=len(kinds)).tolist() == [0, 150, 75, *[2, 1] * 75]
    assert [k.owner for k in kinds[3:7]] == ["revolute", "rotation", "revolute #2", "rotation #2"]
    assert "lambda:rotation #75" in problem.convergence.norms


def test_a_motion_takes_many_constraints() -> None:
    """A chain of 130 links that falls: the first one turns as physics wants."""
    bodies = [sa.PlanarBody((1.0 * k, 0.0), mass=1.0, inertia=0.1) for k in range(130)]
    pairs = itertools.pairwise(bodies)
    joints = [sa.joints.revolute(a.at((1.0, 0.0)), b.at((0.0, 0.0))) for a, b in pairs]
    pin = sa.joints.revolute(bodies[0].at((0.0, 0.0)), sa.ground.at((0.0, 0.0)))
    load = sa.force(bodies[-1].at((0.0, 0.0)), (2.0, 0.0))
    system = sa.System(*bodies, terms=[pin, *joints, load])
    sa.DynamicProblem(system, prefix="chain_").solve(to=2e-3, step=1e-3)
    assert pin.reaction(system).force == pytest.approx([-2.0, 0.0, 0.0], abs=1e-9)

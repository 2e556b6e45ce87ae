# SPDX-License-Identifier: BSD-3-Clause
"""Many of everything: N times the model costs N times as much and gives the same numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symancf as sa
from symancf.mesh import Mesh


def wheels(count: int, driven: int = 1, **options: float) -> tuple[sa.System, list[sa.PlanarBody]]:
    """Return planar bodies pinned to the ground one by one; the last ones are turned by 1.2 t."""
    bodies = [sa.PlanarBody((3.0 * k, 0.0), **options) for k in range(count)]
    terms = []
    for k, body in enumerate(bodies):
        hinge = body.at((0.0, 0.0)), sa.ground.at((3.0 * k, 0.0))
        angle = (lambda t: 1.2 * t) if k >= count - driven else 0.0
        terms += [sa.joints.revolute(*hinge), sa.joints.rotation(*hinge, angle=angle)]
    return sa.System(*bodies, terms=terms), bodies


def test_the_last_of_many_constraints_holds() -> None:
    """130 blocks and more: kinds of rows once were bytes, and rows of negative kind untested."""
    system, bodies = wheels(75, driven=5)
    problem = sa.StaticProblem(system, prefix="many_", check_held=False)
    problem.solve(to=1.0)
    angles = [body.position(system)[2] for body in bodies]
    np.testing.assert_allclose(angles, [0.0] * 70 + [1.2] * 5, atol=1e-12)
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


# ---- values that change -------------------------------------------------------------------------
def cube(**values: object) -> sa.Body:
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    given = {"mu": 1e5, "lam": 1e6, "rho": 1000.0, **values}
    return sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke, **given)


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_inertia_follows_the_density_as_weight_does(method: str) -> None:
    """Free fall at 10 m/s^2, whatever the density: also in a new problem of the system."""
    rho = sa.Parameter("rho", 1000.0)
    body = cube(rho=rho)
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -10.0))])
    problem = sa.DynamicProblem(system, prefix="fall_", method=method)
    problem.solve(1e-3, 1e-3)
    rho.value = 2000.0
    problem.solve(2e-3, 1e-3)
    at = body.at((0.5, 0.5, 0.5))
    assert system.velocity(at)[0, 2] == pytest.approx(-2e-2, rel=1e-9)
    rho.value = 500.0
    assert sa.DynamicProblem(system, prefix="new_", method=method).solve(3e-3, 1e-3)
    assert system.velocity(at)[0, 2] == pytest.approx(-3e-2, rel=1e-9)
    p, _ = sa.momentum(system)
    assert p[2] == pytest.approx(-500.0 * 3e-2, rel=1e-9)


def test_mass_that_comes_brings_its_energy() -> None:
    """A pushed cube of density 1000 (1 + t): M a = F, dT = F v + v^2 dM/2."""
    body = cube(rho=lambda t: 1000.0 * (1.0 + t))
    push = sa.force(body["x1"], (300.0, 0.0, 0.0))
    system = sa.System(body, terms=[push, sa.fix(body["body"], dofs=["y", "z"])])
    problem = sa.DynamicProblem(system, prefix="more_")
    problem.solve(0.5, 1e-2)
    v = system.velocity(body.at((0.5, 0.5, 0.5)))[0, 0]
    assert v == pytest.approx(0.3 * np.log(1.5), rel=1e-3)
    assert abs(problem.energies.drift) < 1e-3 * problem.energies.kinetic


def test_a_constant_mass_is_updated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    system = sa.System(cube(), terms=[sa.gravity((0.0, 0.0, -10.0))])
    problem = sa.DynamicProblem(system, prefix="once_")
    problem.solve(1e-3, 1e-3)
    monkeypatch.setattr(type(system.mass), "update", lambda plan, time: calls.append(plan))
    calls: list[object] = []
    problem.solve(4e-3, 1e-3)
    assert calls
    assert not any(plan is system.mass for plan in calls)


def test_a_monitor_that_asks_for_momentum_leaves_the_matrix() -> None:
    body = cube()
    system = sa.System(body, terms=[sa.fix(body["z0"]), sa.force(body["z1"], (0.0, 0.0, -1e3))])
    problem = sa.StaticProblem(system, prefix="monitor_")
    matrix = system.matrix
    problem.monitor(lambda *_: sa.momentum(system))
    problem.solve(to=1.0, step=0.5)
    assert system.matrix is matrix
    assert sa.DynamicProblem(system, prefix="after_").solve(1.0001, 1e-4)
    assert system.matrix is matrix


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"rho": -5.0}, "rho of body 'body' is -5 at time 0: it must not be negative"),
        ({"rho": lambda X: X[:, 0] - 2.0}, "rho of body 'body' is negative in a cell"),
    ],
)
def test_impossible_sizes_are_refused(values: dict[str, object], told: str) -> None:
    if callable(values["rho"]):
        values = {"rho": sa.Field(values["rho"])}
    with pytest.raises(sa.ParameterError, match=told):
        sa.System(cube(**values), terms=[sa.gravity((0.0, 0.0, -10.0))])


def test_sizes_are_looked_at_when_they_change() -> None:
    rho = sa.Parameter("rho", 1000.0)
    body = cube(rho=rho)
    system = sa.System(body, terms=[sa.fix(body["z0"]), sa.gravity((0.0, 0.0, -1.0))])
    problem = sa.StaticProblem(system, prefix="later_")
    problem.solve(to=1.0)
    rho.value = -1.0
    with pytest.raises(sa.ParameterError, match=r"rho of body 'body' is -1 at time 2"):
        problem.solve(to=2.0)
    rho.value = 0.0
    with pytest.raises(sa.ParameterError, match=r"rho of body 'body' is 0 .* in a motion"):
        sa.DynamicProblem(system, prefix="motion_").solve(3.0, 1.0)
    mesh = Mesh.box((1.0,), (1,))
    for A in (-1.0, 0.0):
        with pytest.raises(sa.ParameterError, match=f"A of body 'rod' is {A:g} .* be positive"):
            sa.Body(
                mesh["body"],
                sa.elements.ancf_cable,
                sa.energies.cable(),
                name="rod",
                EA=1.0,
                EI=1.0,
                rho=1.0,
                A=A,
            )


# ---- the same thing twice -----------------------------------------------------------------------
def test_the_same_thing_twice_is_told() -> None:
    body = cube()
    pull, fix = sa.gravity((0.0, 0.0, -10.0)), sa.fix(body["z0"])
    with pytest.raises(sa.ParameterError, match="term 'gravity' is given 2 times"):
        sa.System(body, terms=[pull, fix, pull])
    with pytest.raises(sa.ParameterError, match=r"term 'fix:body\.z0' is given 2 times"):
        sa.System(body, terms=[fix, fix])
    with pytest.raises(sa.ParameterError, match="body 'body' is given 2 times"):
        sa.System(body, body, terms=[fix])
    other = cube()
    twice = [sa.gravity((0, 0, -10)), sa.fix(other["z0"]), sa.gravity((0.0, 0.0, -10.0), other)]
    with pytest.warns(UserWarning, match="'gravity' and 'gravity #2' are the same.*'body': twice"):
        sa.System(other, terms=twice)


def test_a_force_on_a_rigid_body_acts_at_its_origin() -> None:
    body = sa.RigidBody(mass=2.0, inertia=(1.0, 1.0, 1.0), centre=(0.0, 0.3, 0.0), name="head")
    push = sa.force(body, (4.0, 0.0, 0.0))
    system = sa.System(body, terms=[push])
    sa.DynamicProblem(system, prefix="push_").solve(1e-3, 1e-3)
    v = system.velocity(body.centre)[0]
    assert v == pytest.approx([2e-3, 0.0, 0.0], rel=1e-5, abs=1e-8)
    with pytest.raises(sa.ConstraintError, match=r"Body 'body'.* body\.at\(point\)"):
        sa.force(cube(), (1.0, 0.0, 0.0))

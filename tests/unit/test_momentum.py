# SPDX-License-Identifier: BSD-3-Clause
"""Linear and angular momentum: closed forms, and that free systems keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import kirchhoff
from tests.refusals import refused

pytestmark = pytest.mark.collective

GIVEN: dict[str, Any] = {"E": 1e5, "nu": 0.3, "thickness": 0.01, "rho": 1000.0}
SPIN, VELOCITY = np.array([0.3, -1.2, 2.0]), np.array([0.5, 0.2, -0.7])


def plate(size: float = 0.4, **start: Any) -> sa.Body:
    """A square plate in the plane z = 0 from the origin."""
    a = np.linspace(0.0, size, 3)
    Y, X = np.meshgrid(a, a, indexing="ij")
    points = np.stack([X.ravel(), Y.ravel(), 0 * X.ravel()], axis=1)
    quads = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]]
    regions = {"side": ("vertex", [2, 5, 8]), "left": ("quad", [0, 2]), "right": ("quad", [1, 3])}
    mesh = sa.Mesh.from_arrays(points, {"quad": np.array(quads)}, regions=regions)
    return sa.Body(
        mesh["all"], sa.elements.ancf_thin_plate, kirchhoff(), name="plate", **GIVEN, **start
    )


def test_a_rigid_body_has_its_closed_form() -> None:
    centre, J = np.array([0.1, 0.2, -0.1]), np.diag([1.0, 2.0, 2.5])
    at = np.array([1.0, -0.5, 0.3])
    body = sa.RigidBody(
        at, mass=3.0, centre=centre, inertia=J, velocity=VELOCITY, spin=SPIN, name="head"
    )
    p, L = sa.System(body).momentum(about=(0.2, 0.0, 0.0))
    v = VELOCITY + np.cross(SPIN, centre)
    np.testing.assert_allclose(p, 3.0 * v, atol=1e-13)
    arm = at + centre - [0.2, 0.0, 0.0]
    np.testing.assert_allclose(L, np.cross(arm, 3.0 * v) + J @ SPIN, atol=1e-13)


def test_a_plate_has_its_closed_form() -> None:
    p, L = sa.System(plate(velocity=VELOCITY, spin=SPIN)).momentum()
    m, a = 1000.0 * 0.01 * 0.4**2, 0.4
    v = VELOCITY + np.cross(SPIN, [a / 2, a / 2, 0.0])
    np.testing.assert_allclose(p, m * v, atol=1e-13)
    J = m * a**2 / 12 * np.diag([1.0, 1.0, 2.0])
    np.testing.assert_allclose(L, np.cross([a / 2, a / 2, 0], m * v) + J @ SPIN, atol=1e-13)


@pytest.mark.collective(rows=0)
def test_a_planar_body_has_its_closed_form() -> None:
    body = sa.PlanarBody(
        position=(0.5, 0.2), mass=2.0, inertia=0.3, velocity=(1.0, -2.0), spin=3.0, name="bar"
    )
    p, L = sa.System(body).momentum()
    np.testing.assert_allclose(p, [2.0, -4.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(L, [0, 0, 2.0 * (0.5 * -2.0 - 0.2 * 1.0) + 0.3 * 3.0], atol=1e-14)


def test_a_body_turns_as_it_is_after_statics() -> None:
    body = plate(spin=SPIN)
    system = sa.System(body, terms=[sa.fix(body["side"], displacement=(0.1, 0.3, -0.2))])
    still = system.momentum()[0]  # rates are asked for before
    sa.StaticProblem(system).solve()
    assert np.abs(system.momentum()[0] - still).min() > 0.1
    numbering = system._discrete.numbering
    start = numbering.offset[:, numbering.block("position")]
    here = np.flatnonzero(start >= 0)
    at = start[here][:, None] + np.arange(3)
    x = system._discrete.points[here] + system.state[at]
    assert np.abs(system.state[at] - [0.1, 0.3, -0.2]).max() < 1e-9
    np.testing.assert_allclose(system.rate[at], np.cross(SPIN, x), atol=1e-12)


@pytest.mark.collective(rows=0)
def test_functions_of_the_place_and_what_cannot_be() -> None:
    other = sa.System(plate(velocity=VELOCITY, spin=SPIN))
    field = sa.System(plate(velocity=lambda X: VELOCITY + np.cross(SPIN, X)))
    np.testing.assert_allclose(field.rate, other.rate, atol=1e-12)
    for name, wrong in (("velocity", (1.0, 2.0)), ("spin", 3.0)):
        with refused(sa.ParameterError, asked=name, given=wrong):
            plate(**{name: wrong})
    with refused(sa.ParameterError, asked="velocity", possible=("X",)):
        plate(velocity=lambda t: (t, 0.0, 0.0))
    for about in ((1.0, 2.0), (np.nan, 0.0, 0.0), None, "here"):
        with refused(sa.ParameterError, asked="about", given=about):
            other.momentum(about=about)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="omega", given=(1.0, 2.0)):
        sa.rotating_frame((1.0, 2.0))
    with refused(sa.ParameterError, asked="velocity", given=lambda shape: shape[1] == 2):
        sa.System(plate(velocity=lambda X: X[:, :2])).rate  # noqa: B018


def test_bodies_that_share_nodes_start_alike() -> None:
    def rate(*starts: dict[str, Any]) -> Any:
        mesh = plate().region.mesh
        halves = [
            sa.Body(
                mesh[name], sa.elements.ancf_thin_plate, kirchhoff(), name=name, **GIVEN, **start
            )
            for name, start in zip(("left", "right"), starts, strict=True)
        ]
        return sa.System(*halves).rate

    moving, still = {"velocity": VELOCITY}, {"velocity": np.zeros(3)}
    for starts in ((moving, still), (still, moving)):
        with refused(sa.ParameterError, asked="shared nodes", given="velocity"):
            rate(*starts)
    both, one = rate(moving, moving), rate(moving, {})
    np.testing.assert_array_equal(one[one != 0.0], both[one != 0.0])


def test_a_free_system_keeps_its_momenta() -> None:
    body = plate(velocity=VELOCITY, spin=SPIN)
    at = np.array([0.5, 0.2, 0.0])
    head = sa.RigidBody.box(
        (0.2, 0.4, 0.2),
        position=at,
        rho=1000.0,
        velocity=VELOCITY + np.cross(SPIN, at),
        spin=SPIN,
        name="head",
    )
    system = sa.System(body, head, terms=[sa.joints.clamp(body["side"], head)])
    problem = sa.DynamicProblem(system, spectral_radius=1.0)
    problem.record("momentum", lambda: np.concatenate(system.momentum()))
    before = problem.energies
    problem.initialize(1e-3)
    assert problem.energies.kinetic == pytest.approx(before.kinetic, rel=1e-9)
    assert before.kinetic > 1.0
    assert before.drift == 0.0
    history = problem.solve(to=0.1, step=1e-3)
    found = history["momentum"]
    assert np.abs(found[0]).min() > 1e-3
    np.testing.assert_allclose(found[:, :3], np.tile(found[0, :3], (len(found), 1)), atol=1e-10)
    drift = np.abs(found[:, 3:] - found[0, 3:]).max()
    assert drift < 1e-6 * np.abs(found[0, 3:]).max()  # of second order in the step


@pytest.mark.collective(rows=0)
def test_readers_of_the_mass_see_a_density_that_has_changed() -> None:
    rho = sa.Parameter("rho", 500.0)
    given: dict[str, Any] = {"EA": 100.0, "EI": 0.1, "rho": rho, "A": 1e-3}
    law = sa.energies.cable()
    body = sa.Body(sa.Mesh.box((1.0,), (4,))["body"], sa.elements.ancf_cable, law, **given)
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -1.0))])
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.solve(to=0.1, step=0.01)
    before = problem.energies
    mass = [np.abs(system.matrices.damping(mass=1.0, scipy=True).toarray()).sum()]
    p = [system.momentum()[0]]
    rho.value = 1000.0
    p.append(system.momentum()[0])
    rho.value = 1500.0
    mass.append(np.abs(system.matrices.damping(mass=1.0, scipy=True).toarray()).sum())
    rho.value = 1000.0
    found = problem.energies
    np.testing.assert_allclose(p[1], [0.0, 0.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(p[1], 2.0 * p[0], atol=1e-12)
    few, many = system._discrete.sum(np.array(mass))
    assert many == pytest.approx(3.0 * few)
    assert few > 0.0
    np.testing.assert_allclose(found.kinetic, 2.0 * before.kinetic, rtol=1e-12)
    np.testing.assert_allclose(found.drift, before.drift, atol=1e-12)  # the change is work
    assert problem.energies == found

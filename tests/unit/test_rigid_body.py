# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies: rigidity, mass, weight, supports, results and pictures against closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf import output
from symancf.output.sampling import sample
from symancf.solve.statics.rigid_motions import find_free
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]

G = np.array([1.0, -2.0, -9.81])


def turned(axis: Any, angle: float) -> Array:
    """Rotation matrix (Rodrigues)."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


FRAME = turned((1.0, 2.0, -0.5), 0.8)
PRINCIPAL = {"asked": "principal moments of inertia"}


def cloud(seed: int = 0) -> tuple[Array, Array]:
    """Masses and places of some particles."""
    random = np.random.default_rng(seed)
    return random.uniform(0.5, 2.0, 7), random.uniform(-1.0, 1.0, (7, 3)) * [0.3, 0.2, 0.5] + 0.1


def body_of(masses: Array, places: Array, **options: Any) -> sa.RigidBody:
    """Return the rigid body made of particles."""
    m = masses.sum()
    centre = masses @ places / m
    x = places - centre
    J = np.einsum("p,pa,pa->", masses, x, x) * np.eye(3) - np.einsum("p,pa,pb->ab", masses, x, x)
    return sa.RigidBody(mass=m, centre=centre, inertia=J, **options)


def local(system: sa.System, body: sa.RigidBody) -> Any:
    """Local offsets (12,) of a body's coordinates."""
    return (
        body._offsets(
            system._discrete, system._discrete.binding(body).local_vertices(system._discrete)
        )[:, :, None]
        + np.arange(3)
    ).ravel()


@pytest.mark.collective(rows=0)
def test_the_energy_of_rigidity_is_that_of_its_six_conditions() -> None:
    body = sa.RigidBody(position=(3.0, -2.0, 1.0), frame=FRAME, length=0.3)
    system = sa.System(body)
    system._discrete.prescribe(0.0)
    state = 0.2 * system._discrete.numbering.random(4)
    energies, _ = system._discrete.assembler.energies(state)
    total = system._discrete.sum(energies)[0]
    q = body.coordinates(system, system.reference + state)
    lam = np.zeros(6)
    block = system._discrete.numbering.block("lambda:rigidity")
    start = system._discrete.numbering.offset[: system._discrete.numbering.owned_vertices, block]
    for s in start[start >= 0]:
        lam[:] = state[s : s + 6]
    lam = system._discrete.sum(lam)
    d = 0.3
    r_ij, u, v = q[1] - q[0], q[2], q[3]
    phi = [
        (r_ij @ r_ij - d**2) / (2 * d),
        d * (u @ u - 1) / 2,
        d * (v @ v - 1) / 2,
        d * (u @ v),
        r_ij @ v,
        r_ij @ u,
    ]
    assert np.abs(phi).min() > 1e-4
    assert total == pytest.approx(lam @ phi, rel=1e-12, abs=0.0)
    assert sa.check(system).passed


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("stretch", [1e-6, 1e-12, -1e-15])
def test_a_stretch_of_the_last_digits_is_seen(stretch: float) -> None:
    body = sa.RigidBody(position=(1000.0, -200.0, 30.0), frame=FRAME, length=0.25)
    system = sa.System(body)
    at = local(system, body)
    if len(at):
        system.state[at[3:6]] = 0.25 * stretch * FRAME[:, 0]
    f = system._discrete.residual_at_solution()
    block = system._discrete.numbering.block("lambda:rigidity")
    start = system._discrete.numbering.offset[: system._discrete.numbering.owned_vertices, block]
    phi = system._discrete.sum(np.array([f[s] for s in start[start >= 0]] or [0.0]))
    assert phi[0] == pytest.approx(0.25 * (stretch + stretch**2 / 2), rel=1e-9, abs=0.0)


def test_the_mass_matrix_is_the_sum_over_particles() -> None:
    masses, places = cloud()
    body = body_of(masses, places, position=(1.0, 2.0, 3.0), frame=FRAME, length=0.7)
    system = sa.System(body)
    at = local(system, body)
    expected = np.zeros((12, 12))
    for m, x in zip(masses, places, strict=True):
        C = np.kron([1 - x[0] / 0.7, x[0] / 0.7, x[1], x[2]], np.eye(3))
        expected += m * C.T @ C
    found = np.zeros((12, 12))
    for k in range(12):
        v, f = np.zeros_like(system.state), np.zeros_like(system.state)
        v[at[k : k + 1]] = 1.0
        system._discrete.inertia.residual(v, f)
        if len(at):
            found[:, k] = f[at]
    owned = system._discrete.binding(body).local_vertices(system._discrete)
    mine = len(owned) and owned[0] < system._discrete.numbering.owned_vertices
    found = system._discrete.sum(found if mine else 0.0 * found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.collective(rows=0)
def test_kinetic_energy_of_a_velocity_and_a_spin() -> None:
    spin, velocity = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.7])
    J, c = np.diag([0.1, 0.12, 0.15]), np.array([0.02, 0.01, 0.03])
    body = sa.RigidBody(
        position=(5.0, 0.0, 0.0),
        frame=FRAME,
        mass=2.0,
        centre=c,
        inertia=J,
        velocity=velocity,
        spin=spin,
    )
    system = sa.System(body)
    energies, _ = system._discrete.inertia.energies(system.rate)
    v = velocity + np.cross(spin, FRAME @ c)
    own = FRAME.T @ spin
    assert system._discrete.sum(energies)[0] == pytest.approx(v @ v + own @ J @ own / 2, rel=1e-12)
    np.testing.assert_allclose(body.angular_velocity(system), spin, rtol=1e-13)
    place = body.at((0.1, 0.2, -0.3))
    expected = velocity + np.cross(spin, FRAME @ [0.1, 0.2, -0.3])
    np.testing.assert_allclose(system.velocity(place)[0], expected, rtol=1e-13)


@pytest.mark.collective(rows=0)
def test_weight_acts_at_the_centre() -> None:
    masses, places = cloud(3)
    body = body_of(masses, places, position=(1.0, 2.0, 3.0), frame=FRAME)
    system = sa.System(body, terms=[sa.gravity(G)])
    f = body.coordinates(system, system._discrete.residual_at_solution())
    d = body.length
    x = masses @ places / masses.sum()
    C = np.kron([1 - x[0] / d, x[0] / d, x[1], x[2]], np.eye(3))
    np.testing.assert_allclose(f.ravel(), -masses.sum() * C.T @ G, rtol=1e-12, atol=1e-12)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("name", ["box", "cylinder", "sphere"])
def test_moments_of_shapes(name: str) -> None:
    """Second moments of the mass by the hexahedra that are drawn."""
    body = {
        "box": lambda: sa.RigidBody.box((0.4, 0.3, 0.2), rho=10.0),
        "cylinder": lambda: sa.RigidBody.cylinder(0.3, 0.5, rho=10.0),
        "sphere": lambda: sa.RigidBody.sphere(0.3, rho=10.0),
    }[name]()
    corners = body._shape.points[body._shape.cells]  # (k, 8, 3)
    g = 1.0 / np.sqrt(3.0)
    mass, second = 0.0, np.zeros((3, 3))
    ring = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    signs = np.array([(x, y, z) for z in (-1, 1) for x, y in ring])
    for point in signs * g:
        one = 1 + signs * point
        N = one.prod(axis=1) / 8
        D = np.stack([signs[:, a] * one[:, [b for b in range(3) if b != a]].prod(1) / 8
                      for a in range(3)], axis=1)  # fmt: skip
        x = np.einsum("v,kva->ka", N, corners)
        dV = np.abs(np.linalg.det(np.einsum("va,kvb->kab", D, corners)))
        mass += 10.0 * dV.sum()
        second += 10.0 * np.einsum("k,ka,kb->ab", dV, x, x)
    assert body._moments is not None
    tolerance = 1e-12 if name == "box" else 0.06  # a round body in 216 hexahedra
    assert mass == pytest.approx(body.mass, rel=tolerance)
    np.testing.assert_allclose(second, body._moments.second, rtol=tolerance, atol=1e-15)


def test_a_held_body_reports_force_and_moment() -> None:
    masses, places = cloud(5)
    body = body_of(masses, places, position=(1.0, 0.0, 0.0), frame=FRAME)
    hold = sa.fix(body)
    pull = np.array([3.0, 0.0, 4.0])
    system = sa.System(body, terms=[hold, sa.gravity(G), sa.force(body.at((0.1, 0.2, 0.3)), pull)])
    assert system._discrete.numbering.size == 0
    sa.StaticProblem(system).solve()
    weight = masses.sum() * G
    centre = [1.0, 0.0, 0.0] + FRAME @ (masses @ places / masses.sum())
    at = [1.0, 0.0, 0.0] + FRAME @ [0.1, 0.2, 0.3]
    about = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(hold.reaction(system).force, -weight - pull, rtol=1e-12)
    moment = np.cross(centre - about, weight) + np.cross(at - about, pull)
    np.testing.assert_allclose(hold.reaction(system).moment_about(about), -moment, rtol=1e-12)


@pytest.mark.collective(rows=0)
def test_a_prescribed_rotation() -> None:
    body = sa.RigidBody.box((0.4, 0.2, 0.2), position=(1.0, 0.0, 0.0), frame=FRAME, rho=1.0)
    axis = np.array([0.0, 0.6, 0.8])
    move = sa.fix(
        body,
        displacement=(lambda t: 0.5 * t, 0.0, 0.0),
        gradient=lambda t: turned(axis, 2.5 * t) - np.eye(3),
    )
    system = sa.System(body, terms=[move, sa.gravity(G)])
    sa.StaticProblem(system).solve(to=1.0, step=0.25)
    R = turned(axis, 2.5)
    np.testing.assert_allclose(body.rotation(system), R @ FRAME, atol=1e-14)
    np.testing.assert_allclose(body.position(system), [1.5, 0.0, 0.0], atol=1e-15)
    corner = np.array([0.2, 0.1, -0.1])
    place = system.position(body.at(corner))[0]
    np.testing.assert_allclose(place, [1.5, 0.0, 0.0] + R @ FRAME @ corner, atol=1e-14)


@pytest.mark.collective(rows=0)
def test_a_gradient_that_is_no_rotation() -> None:
    body = sa.RigidBody()
    small, one = (pytest.approx(factor * np.eye(3)) for factor in (0.1, 1.0))
    with refused(sa.ParameterError, asked="gradient", given=lambda G: np.array(G) == small):
        sa.fix(body, gradient=0.1 * np.eye(3))
    move = sa.fix(body, gradient=lambda t: t * np.eye(3))
    system = sa.System(body, terms=[move])
    with refused(sa.ParameterError, asked="gradient", given=lambda G: np.array(G) == one):
        sa.StaticProblem(system).solve()


def test_rigid_motions_that_nothing_holds_are_named() -> None:
    loose = sa.System(sa.RigidBody.box((1.0, 1.0, 1.0), position=(3.0, 0.0, 0.0), name="crate"))
    with refused(
        sa.ConstraintError,
        asked="rigid motion",
        given=lambda motions: len(motions) == 6,
        names=("crate",),
    ):
        sa.StaticProblem(loose).solve()
    body = sa.RigidBody.box((1.0, 1.0, 1.0), position=(3.0, 0.0, 0.0), name="crate")
    pinned = sa.System(body, terms=[sa.fix(body, "position")])
    with refused(sa.ConstraintError, asked="rigid motion", names=("crate",)) as caught:
        sa.StaticProblem(pinned).solve()
    motions = caught.value.given
    assert [motion.split(" through")[0] for motion in motions] == [
        f"rotation about {axis}" for axis in "xyz"
    ]
    assert motions[2].endswith("through (3, 0, 0)")


@pytest.mark.parametrize("k", [1e-12, 1.0, 1e14])
def test_stiff_springs_hold_many_bodies(k: float) -> None:
    def along_x(u_a, *, k):
        return k / 2 * u_a[0] ** 2

    def along_y(u_a, *, k):
        return k / 2 * u_a[1] ** 2

    terms: list[sa.Term] = []
    bodies = [sa.RigidBody.sphere(0.1, position=(i, 0.0, 0.0), name=f"b{i}") for i in range(26)]
    for i, body in enumerate(bodies):  # springs hold the rotations, the pin alone z
        left, top = body.at((0.0, 0.05, 0.0)), body.at((0.0, 0.0, 0.05))
        terms.append(sa.joints.spherical(body.centre, name=f"pin{i}"))
        for n, (spring, place) in enumerate(((along_x, left), (along_x, top), (along_y, top))):
            terms.append(sa.Potential(spring, place, k=k, name=f"s{i}{n}"))
    sa.StaticProblem(sa.System(*bodies, terms=terms)).solve()


def test_the_modes_of_multigrid_contain_the_motions_of_rigid_bodies() -> None:
    from symancf.solve.rigid import rigid_modes

    body = sa.RigidBody.box((0.4, 0.2, 0.2), position=(1.0, 2.0, 0.0), frame=FRAME, rho=1.0)
    system = sa.System(body)
    system._discrete.prescribe(0.0)
    answer = np.zeros_like(system.state)
    largest = []
    for mode in [*rigid_modes(system), system._discrete.numbering.random(1)]:
        system._discrete.assembler.product(system.state, mode, answer)
        owned = answer[system._discrete.numbering.free_owned]
        largest.append(system._discrete.sum(np.abs(owned).sum(keepdims=True))[0])
        assert np.abs(body.coordinates(system, mode)).max() > 0.1
    assert max(largest[:6]) < 1e-14
    assert largest[6] > 0.1
    assert find_free_count(system) == 6


def find_free_count(system: sa.System) -> int:
    system._discrete.assembler.tangent(
        system.state, np.zeros_like(system.state), system._discrete.matrix
    )
    return len(find_free(system._discrete))


def test_it_is_drawn(shared_tmp_path: Path) -> None:
    body = sa.RigidBody.box((0.4, 0.2, 0.1), position=(1.0, 2.0, 0.0), frame=FRAME, name="crate")
    R = turned((0.0, 0.0, 1.0), 0.5)
    system = sa.System(body, terms=[sa.fix(body, gradient=R - np.eye(3))])
    sa.StaticProblem(system).solve()
    samples = sample(system, body)
    path = output.write(shared_tmp_path / "crate.vtu", samples)
    system.comm.Barrier()
    read = output.read(path)[""]
    half = np.array([0.2, 0.1, 0.05])
    signs = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    expected = [1.0, 2.0, 0.0] + (signs * half) @ (R @ FRAME).T
    np.testing.assert_allclose(read.points, expected, atol=1e-14)
    assert read.cells["hexahedron"].shape == (1, 8)
    corners = read.points[read.cells["hexahedron"][0]]
    volume = np.linalg.det(corners[[1, 3, 4]] - corners[0])
    assert volume == pytest.approx(0.4 * 0.2 * 0.1, rel=1e-12)


@pytest.mark.collective(rows=0)
def test_a_body_of_points_is_drawn_as_the_box_of_its_moments() -> None:
    inside = sa.RigidBody.box((0.4, 0.3, 0.2), rho=5.0)
    assert inside._moments is not None
    P = inside._moments.second
    body = sa.RigidBody(mass=inside.mass, inertia=np.trace(P) * np.eye(3) - P)
    np.testing.assert_allclose(np.sort(np.abs(body._shape.points), axis=0)[-1], [0.2, 0.15, 0.1])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("options", "data"),
    [
        ({"mass": -1.0}, {"asked": "mass", "given": -1.0}),
        ({"mass": 0.0}, {"asked": "mass", "given": 0.0}),
        ({"mass": "heavy"}, {"asked": "mass", "given": "heavy"}),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 2.1)}, {**PRINCIPAL, "given": (1.0, 1.0, 2.1)}),
        ({"mass": 1.0, "inertia": (1.0, 1.0, -0.1)}, {**PRINCIPAL, "given": (-0.1, 1.0, 1.0)}),
        (
            {"mass": 1.0, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]},
            {"asked": "inertia", "given": ((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))},
        ),
        (
            {"mass": 1.0, "inertia": (1.0, np.nan, 1.0)},
            {"asked": "inertia", "given": (1.0, np.nan, 1.0), "possible": ((3,), (3, 3))},
        ),
        ({"inertia": (1.0, 1.0, 1.0)}, {"asked": "mass", "given": None}),
        ({"position": (0.0, 1.0)}, {"asked": "position", "given": (0.0, 1.0)}),
        ({"spin": 3.0}, {"asked": "spin", "given": 3.0}),
        ({"frame": 2.0 * np.eye(3)}, {"asked": "frame", "possible": ("orthonormal",)}),
        ({"frame": np.diag([1.0, 1.0, -1.0])}, {"asked": "frame", "possible": ("right-handed",)}),
        ({"frame": np.eye(2)}, {"asked": "frame", "possible": ((3, 3),)}),
        ({"length": 0.0}, {"asked": "length", "given": 0.0}),
    ],
)
def test_impossible_bodies(options: dict[str, Any], data: dict[str, Any]) -> None:
    with refused(sa.ParameterError, **data):
        sa.RigidBody(**options)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("make", "data"),
    [
        (
            lambda: sa.RigidBody.box((1.0, 0.0, 1.0)),
            {"asked": "size", "given": (1.0, 0.0, 1.0)},
        ),
        (lambda: sa.RigidBody.box((1.0, 1.0)), {"asked": "size", "given": (1.0, 1.0)}),
        (lambda: sa.RigidBody.cylinder(-1.0, 1.0), {"asked": "radius", "given": -1.0}),
        (lambda: sa.RigidBody.sphere(np.inf), {"asked": "radius", "given": np.inf}),
        (
            lambda: sa.RigidBody.box((1.0, 1.0, 1.0), rho=-2.0),
            {"asked": "rho", "given": -2.0, "possible": ()},
        ),
        (
            lambda: sa.RigidBody.box((1.0, 1.0, 1.0), rho=1.0, mass=1.0),
            {"asked": "rho", "given": 1.0, "possible": ("rho", "mass")},
        ),
        (lambda: sa.RigidBody().at((1.0, 2.0)), {"asked": "point", "given": (1.0, 2.0)}),
        (
            lambda: sa.RigidBody().at((1.0, 2.0, 0.0), np.ones((3, 3))),
            {"asked": "frame", "possible": ("orthonormal",)},
        ),
        (
            lambda: sa.fix(sa.RigidBody(), "slopes"),
            {"asked": "dofs", "given": "slopes"},
        ),
        (
            lambda: sa.fix(sa.RigidBody(), "position", gradient=np.zeros((3, 3))),
            {"asked": "gradient", "given": ("x", "y", "z")},
        ),
        (lambda: sa.gravity(G, sa.RigidBody()), None),
    ],
)
def test_impossible_shapes_and_places(make: Any, data: dict[str, Any] | None) -> None:
    if data is None:
        system_of = make()
        with refused(sa.ParameterError, asked="mass", given="rigid body"):
            sa.System(system_of.bodies[0], terms=[system_of])
        return
    with refused(sa.ParameterError, **data):
        make()


@pytest.mark.collective(rows=0)
def test_mass_of_nothing() -> None:
    with refused(sa.ParameterError, asked="rho"):
        sa.System(sa.RigidBody(), terms=[sa.gravity(G)])

# SPDX-License-Identifier: BSD-3-Clause
"""Contact with rigid shapes: tangents, balance, friction, rolling, what is refused."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sympy import I, Max, Piecewise, sqrt

import symancf as sa
from symancf import elements, energies
from symancf.solve.dynamics.generalized_alpha import GeneralizedAlpha
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

collective = pytest.mark.collective
SVK = energies.saint_venant_kirchhoff()
FLOOR = {"point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0)}


def block(n: int = 2, E: float = 1e6, size: float = 1.0, **given: Any) -> sa.Body:
    mesh = sa.Mesh.box((size,) * 3, (n, n, n))
    return sa.Body(mesh["body"], elements.hex8_plain, SVK, E=E, nu=0.3, name="block", **given)


def cord() -> Any:
    mesh = sa.Mesh.box((1.0,), (2,))
    cable = energies.cable()
    return sa.Body(mesh["body"], elements.ancf_cable, cable, EA=1.0, EI=1.0, name="cord")["body"]


def turn(v: tuple[float, float, float]) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(v).as_matrix())


def torus(x1: Any, x2: Any, x3: Any, *, R: Any, r: Any) -> Any:
    return sqrt((sqrt(x1**2 + x2**2) - R) ** 2 + x3**2) - r


def master(shape: Callable[[sa.RigidBody], sa.contact.shapes.RigidShape]) -> Any:
    body = sa.RigidBody.box(
        (1, 1, 1), position=(0.3, 0.1, -1.0), frame=turn((0.3, 0.2, 0.1)), rho=1.0
    )
    return shape(body)


# ---- tangents and balance ------------------------------------------------------------------------
SHAPES: dict[str, Callable[[], Any]] = {
    "drum": lambda: sa.Cylinder(2.0, (0.5, 0.5, -0.46), axis=(0, 0.1, 1), length=1.0),
    "capsule": lambda: sa.Capsule(2.0, 1.0, (0.4, 0.5, -1.96), axis=(0.1, 1, 0)),
    "box": lambda: sa.Box((3, 3, 1), (0.4, 0.5, -0.46)),
    "torus": lambda: sa.Distance(torus, (2.5, 0.5, -1.0), turn((0.2, 0.1, 0)), R=2.0, r=1.04),
    "sphere on a body": lambda: sa.Sphere(2.0, (-0.2, 0.8, -0.95), body=carrier()),
    "ball on a body": lambda: sa.Sphere(2.0, (-0.2, 0.8, -0.95), body=carrier()),
}


def carrier() -> sa.RigidBody:
    frame = turn((0.3, 0.2, 0.1))
    return sa.RigidBody.box(
        (1, 1, 1), position=(0.3, 0.1, -1.0), frame=frame, rho=1.0, name="carrier"
    )


def stepped(system: sa.System, before: np.ndarray, now: np.ndarray) -> None:
    """Let a system go through one state and be at another one, in its second step."""
    for time, state in ((0.1, before), (0.2, now)):
        system._discrete.update(time - 0.1)
        system._discrete.memory.begin(time - 0.1)
        system.state[:], system.time = state, time
        system._discrete.update(time)
        if time == 0.1:
            system._discrete.accept()


@pytest.mark.parametrize(
    ("kind", "mu"), [("drum", 0.0), *((kind, (0.4, 0.05)) for kind in SHAPES if kind != "drum")]
)
def test_tangent_is_that_of_differences(kind: str, mu: Any) -> None:
    shape, rolls = SHAPES[kind](), kind.startswith("ball")
    body = sa.RigidBody.sphere(0.3, position=(0.5, 0.5, 0.2), rho=1.0) if rolls else block()
    side, given = (body, {"stiffness": 1e4}) if rolls else (body["z0"], {})
    contact = sa.Contact(side, shape, mu=mu, initial="press", name="c", **given)
    system = sa.System(*filter(None, (body, shape.body)), terms=[contact])
    random = system._discrete.numbering.random
    start = 1e-3 * random(0)
    stepped(system, start, start + 1e-2 * random(1))
    chosen = np.array([form.name == "c" for form in system._discrete.forms])
    v, h = random(2), 1e-7
    f, forward, backward = (np.zeros_like(v) for _ in range(3))
    with system._discrete.assembler.only(chosen):
        system._discrete.assembler.product(system.state, v, f)
        system._discrete.assembler.residual(system.state + h * v, forward)
        system._discrete.assembler.residual(system.state - h * v, backward)
    own = system._discrete.numbering.free_owned
    error, size = (forward - backward)[own] / (2 * h) - f[own], f[own]
    both = system._discrete.sum(np.array([error @ error, size @ size]))
    assert both[1] > 0.0
    assert both[0] < 1e-14 * both[1]


@collective
@pytest.mark.parametrize("rolls", [False, True])
def test_forces_and_moments_balance(rolls: bool) -> None:
    """Also where the target has turned, and gaps are not small."""
    shape = sa.Sphere(2.0, (-0.2, 0.8, -0.95), body=carrier())
    body = sa.RigidBody.sphere(0.3, position=(0.5, 0.5, 0.2), rho=1.0) if rolls else block()
    side, given = (body, {"stiffness": 1e4}) if rolls else (body["z0"], {})
    contact = sa.Contact(side, shape, mu=0.4, initial="press", name="c", **given)
    system = sa.System(body, shape.body, terms=[contact])
    R, state = turn((0.01, 0.02, -0.01)), system.state.copy()
    master = shape.body
    assert master is not None
    here = system._discrete.binding(master).here(system._discrete)
    q = system.reference[here].reshape(-1, 4, 3)
    moved = np.concatenate([q[:, :2] - master.origin, q[:, 2:]], axis=1) @ R.T
    moved[:, :2] += master.origin
    state[here] = (moved - q).reshape(state[here].shape)
    if not rolls:
        state += np.where(system._discrete.numbering.those("position"), 0.01, 0.0)
        state[here] -= np.where(system._discrete.numbering.those("position")[here], 0.01, 0.0)
    stepped(system, 0.5 * state, state)
    f = np.zeros_like(state)
    with system._discrete.assembler.only(
        np.array([form.name == "c" for form in system._discrete.forms])
    ):
        system._discrete.assembler.residual(system.state, f)
    owned = system._discrete.numbering.vertex_of < system._discrete.numbering.owned_vertices
    wrench = system._discrete.sum(system._discrete.wrench(np.where(owned, f, 0.0), np.zeros(3)))
    force = contact.force(system)
    assert np.linalg.norm(force) > 10.0
    assert np.abs(wrench).max() < 1e-12 * np.abs(force).max()
    assert contact.force(system, on=master) == pytest.approx(-force)


def test_what_a_gripper_holds_turns_with_it_and_loses_nothing() -> None:
    body, grip = block(), sa.RigidBody(name="grip")
    axis = np.array([0.3, 0.4, 1.0]) / np.linalg.norm([0.3, 0.4, 1.0])

    def R(t: float) -> np.ndarray:
        return turn(np.pi / 2 * max(t - 1.0, 0.0) * axis)

    pads = (sa.Plane((0, 0, 0.01), body=grip), sa.Plane((0, 0, 0.99), (0, 0, -1), body=grip))
    sides = (body["z0"], body["z1"])
    low, high = (
        sa.Contact(side, pad, mu=0.5, initial="press")
        for side, pad in zip(sides, pads, strict=True)
    )
    carried = sa.fix(
        grip,
        displacement=lambda t: (0.07 * max(t - 1.0, 0.0), 0, 0),
        gradient=lambda t: R(t) - np.eye(3),
    )
    system = sa.System(body, grip, terms=[low, high, carried])
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-12})
    problem.solve(1.0)
    force, lost = low.force(system), low.dissipated(system)
    problem.solve(2.0, step=0.25)
    size = np.abs(force).max()
    assert size > 1e4
    assert np.abs(low.force(system) - R(2.0) @ force).max() < 1e-10 * size
    assert abs(low.dissipated(system) - lost) < 1e-10 * size
    assert low.status(system) == (0, 16, 0)


# ---- rigid bodies --------------------------------------------------------------------------------
def slope(degrees: float) -> tuple[float, float, float]:
    angle = np.radians(degrees)
    return 9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)


def on_plane(body: sa.RigidBody, mu: Any, g: Any, **given: Any) -> tuple[sa.System, sa.Contact]:
    contact = sa.Contact(body, sa.Plane(**FLOOR), mu=mu, stiffness=1e5, **given)
    return sa.System(body, terms=[contact, sa.gravity(g)]), contact


def speed(body: sa.RigidBody, system: sa.System) -> float:
    return float(system.velocity(body.at((0.0, 0.0, 0.0)))[0, 0])


@pytest.mark.parametrize(
    ("mu", "linear", "angular"), [(0.3, 3.503571, 3.503571), (0.1, 4.055429, 2.123927)]
)
def test_sphere_rolls_or_slides_down_a_slope(mu: float, linear: float, angular: float) -> None:
    deep = 4e3 / 3e5 * np.pi * 1e-3 * 9.81 * np.cos(np.radians(30.0))
    ball = sa.RigidBody.sphere(0.1, position=(0, 0, 0.1 - deep), rho=1000.0, name="ball")
    system, contact = on_plane(ball, mu, slope(30.0), initial="press")
    problem = sa.DynamicProblem(system)
    problem.solve(0.1, step=2e-3)
    v, w = speed(ball, system), ball.angular_velocity(system)
    problem.solve(0.5, step=2e-3)
    assert (speed(ball, system) - v) / 0.4 == pytest.approx(linear, rel=2e-3)
    spin = ball.angular_velocity(system)
    assert 0.1 * (spin - w)[1] / 0.4 == pytest.approx(angular, rel=2e-3)
    assert np.abs(spin[[0, 2]]).max() < 1e-9
    N = ball.mass * 9.81 * np.cos(np.radians(30.0))
    assert contact.force(system)[2] == pytest.approx(N, rel=5e-3)
    assert ("1 slip" in str(contact.report(system))) == (mu == 0.1)


def test_sphere_thrown_slides_and_then_rolls() -> None:
    deep = 4e3 / 3e5 * np.pi * 1e-3 * 9.81
    ball = sa.RigidBody.sphere(0.1, position=(0, 0, 0.1 - deep), rho=1000.0, velocity=(1, 0, 0))
    system, _ = on_plane(ball, 0.2, (0, 0, -9.81), initial="press")
    problem = sa.DynamicProblem(system)
    problem.solve(0.145624, step=0.145624 / 80)
    assert ball.position(system)[0] == pytest.approx(0.124821, rel=3e-3)
    assert speed(ball, system) == pytest.approx(5 / 7, rel=5e-3)
    problem.solve(0.3, step=2e-3)
    assert speed(ball, system) == pytest.approx(5 / 7, rel=5e-3)
    assert 0.1 * ball.angular_velocity(system)[1] == pytest.approx(5 / 7, rel=5e-3)


@pytest.mark.parametrize(("degrees", "slides"), [(21.65, False), (21.85, True), (30.0, True)])
def test_box_on_an_incline_slides_beyond_the_angle_of_friction(
    degrees: float, slides: bool
) -> None:
    """It begins in equilibrium, with the friction that holds it; a flat box has equal corners."""
    box = sa.RigidBody.box((0.2, 0.2, 2e-3), position=(0, 0, 1e-3 - 1e-6), rho=1000.0)
    tilt = [sa.Parameter(n, a) for n, a in zip("xyz", slope(21.6), strict=True)]
    system, contact = on_plane(box, (0.4, 0.3), tilt, initial="press")
    sa.StaticProblem(system).solve()
    assert "4 stick, 0 slip" in str(contact.report(system))
    for part, a in zip(tilt, slope(degrees), strict=True):
        part.value = a
    problem = sa.DynamicProblem(system)
    problem.solve(1.25, step=5e-3)
    first = speed(box, system)
    problem.solve(1.5, step=5e-3)
    a = (speed(box, system) - first) / 0.25
    angle = np.radians(degrees)
    expected = 9.81 * (np.sin(angle) - 0.3 * np.cos(angle)) if slides else 0.0
    assert a == pytest.approx(expected, rel=1e-3, abs=2e-3)


# ---- what is refused -----------------------------------------------------------------------------
def of_block(*shape: Any, **given: Any) -> Callable[[], object]:
    return lambda: sa.Contact(block()["z0"], *(shape or (sa.Plane(**FLOOR),)), **given)


@pytest.mark.parametrize(
    ("made", "asked", "given"),
    [
        (of_block(mu=-0.1), "mu", -0.1),
        (of_block(mu=(0.3, 0.4)), "sliding coefficient", 0.4),
        (of_block(mu=(0.1, 0.2, 0.3)), "mu", (0.1, 0.2, 0.3)),
        (of_block(stiffness=1.0, k=1.0), "stiffness", (1.0, 1.0)),
        (of_block(stiffness=-1.0), "stiffness", -1.0),
        (of_block(colour=3.0), "colour", None),
        (of_block(initial="jump"), "initial", "jump"),
        (of_block(law=lambda g, *, k, d: k * (g - d) ** 2), "d", ()),
        (of_block(3.0), "target", 3.0),
        (of_block(sa.RigidBody(mass=1.0, inertia=(1, 1, 1), name="dot")), "surface", "dot"),
        (lambda: sa.Contact(sa.RigidBody.sphere(1.0), sa.Plane(**FLOOR)), "stiffness", None),
        (lambda: sa.Contact(cord(), block()["z0"], radius=0.1), "cable", "region 'body' of 'cord'"),
        (lambda: sa.Contact(cord(), sa.Plane(**FLOOR)), "radius", None),
        (lambda: sa.Sphere(-1.0), "radius", -1.0),
        (lambda: sa.Plane((0, 0, 0), normal=(0, 0, 0)), "normal", (0.0, 0.0, 0.0)),
        (lambda: sa.Distance(lambda x1, x2, x3, *, R: x1 - R, R="1"), "R", "1"),
        (
            lambda: sa.Distance(lambda x1, x2, x3, *, frame: x1 - frame, frame=0.1),
            "frame",
            "sa.Distance",
        ),
        (lambda: sa.Sphere(1.0, at=(0, 0, 0)), "at", None),
        (lambda: sa.Plane((0, 0, 0), np.eye(3)), "normal", lambda axis: np.shape(axis) == (3, 3)),
        (of_block(law=lambda g, *, radius: (g - radius) ** 2, radius=0.1), "radius", "sa.Contact"),
        (of_block(mu=lambda v, *, k: k / (1 + v)), "k", "sa.Contact"),
        (of_block(mu=lambda v: 1 / v), "mu", np.inf),
        (of_block(mu=lambda v: -0.3 - v), "mu", -0.3),
    ],
)
def test_bad_input_is_told(made: Callable[[], object], asked: str, given: Any) -> None:
    with refused(sa.ParameterError, asked=asked, given=given):
        made()


@pytest.mark.parametrize(
    ("made", "asked", "given"),
    [
        (of_block(law=lambda g, *, k: k), "<lambda>", "k"),
        (
            lambda: sa.Distance(lambda x1, x2, x3: 3 * sa, (0, 0, 0)),
            "<lambda>",
            lambda error: "TypeError" in error,
        ),
        (lambda: sa.Distance(lambda x1, x2, x3: 1.0), "<lambda>", lambda e: float(e) == 1.0),
        (lambda: sa.Distance(lambda x1, *x, R: x1 - R, R=0.1), "x", "*x"),
        (of_block(law=lambda g, *, k: I * k * g**2), "<lambda>", lambda e: e.startswith("I*")),
        (of_block(mu=lambda t: 0.3 * t), "t", None),
    ],
)
def test_bad_functions_are_told(made: Callable[[], object], asked: str, given: Any) -> None:
    with refused(sa.KinematicsError, asked=asked, given=given):
        made()


def test_a_distance_without_a_value_somewhere_is_told() -> None:
    with refused(sa.CompileError, asked="<lambda>", given="Piecewise((x3, x1 > 0))"):
        sa.Distance(lambda x1, x2, x3: Piecewise((x3, x1 > 0)))


@collective
def test_initial_overlap_is_told_with_its_depth() -> None:
    body = block()
    contact = sa.Contact(body["z0"], sa.Plane((0, 0, 0.02), normal=(0, 0, 1)), name="stand")
    with refused(sa.ConstraintError, asked="overlap", given=pytest.approx(0.02)):
        sa.System(body, terms=[contact])


def test_parameters_may_be_called_as_what_contact_knows_itself() -> None:
    """The names of all are symbols of one kernel."""
    rho, body = sa.Parameter("rho", 0.01), block()
    floor = sa.Distance(lambda x1, x2, x3, *, origin1: x3 - 0 * origin1, origin1=0.5)

    def law(g: Any, *, k: Any, rho: Any) -> Any:
        return k / 2 * Max(rho - g, 0) ** 2

    rubs = {"mu": lambda v, *, gap: gap / (1 + v), "gap": 0.3}
    contact = sa.Contact(body["z0"], floor, law=law, stiffness=1e6, rho=rho, **rubs)
    system = sa.System(body, terms=[contact, sa.fix(body["body"])])
    assert contact.force(system) == pytest.approx([0.0, 0.0, 1e4])


def test_a_signed_distance_is_called_once() -> None:
    """A user's function may be slow, and need not be the same again."""
    calls, body = list[int](), block()

    def ball(x1: Any, x2: Any, x3: Any, *, R: Any) -> Any:
        calls.append(1)
        return sqrt(x1**2 + x2**2 + x3**2) - R

    contact = sa.Contact(body["z0"], sa.Distance(ball, (0, 0, -1), R=1.0))
    system = sa.System(body, terms=[contact, sa.fix(body["body"])])
    assert contact.status(system).stick == 0
    assert len(calls) == 1


def test_coefficients_and_sizes_are_checked_when_they_change() -> None:
    mu, R, body = sa.Parameter("mu", 0.4), sa.Parameter("R", 1.0), block()
    ball = sa.Distance(lambda x1, x2, x3, *, R: sqrt(x1**2 + x2**2 + x3**2) - R, (0, 0, -1), R=R)
    contact = sa.Contact(body["z0"], ball, mu=(mu, 0.3))
    system = sa.System(body, terms=[contact, sa.fix(body["body"])])
    for changed, value, asked, given in (
        (mu, -1.0, "mu", -1.0),
        (mu, 0.2, "sliding coefficient", 0.3),
        (R, np.nan, "shape_R", np.isnan),
    ):
        before, changed.value = changed.value, value
        with refused(sa.ParameterError, asked=asked, given=given):
            contact.force(system)
        changed.value = before
    with refused(sa.ParameterError, asked="number", given=1, possible=(0,)):
        contact.nodal(system, 1)
    with refused(sa.ParameterError, asked="about", given=(0.0, 0.0)):
        contact.moment(system, about=(0.0, 0.0))


@collective
@pytest.mark.parametrize("on", ["plane", "block"])
def test_results_are_known_before_the_first_step(on: str) -> None:
    """Friction does not pull points to the origin, and lists are there."""
    offsets = np.array([[7.0, 3.0, 0.0], [7.0, 3.0, -0.99]])
    size, parts = (1.0, 1.0, 1.0), (2, 2, 2)
    meshes = [sa.Mesh.box(size, parts, warp=lambda X, d=d: X + d) for d in offsets]
    body, below = (
        sa.Body(m["body"], elements.hex8_plain, SVK, E=1e6, nu=0.3, name=name)
        for m, name in zip(meshes, "ab", strict=True)
    )
    flat = sa.Plane((0, 0, 0.01)) if on == "plane" else below["z1"]
    contact = sa.Contact(body["z0"], flat, mu=0.3, initial="press")
    system = sa.System(body, below, terms=[contact, *(sa.fix(b["body"]) for b in (body, below))])
    found = []
    for solved in (False, True):
        if solved:
            sa.StaticProblem(system).solve()
        gap, status = contact.clearance(system), contact.status(system)
        found.append([*contact.force(system), 2e5 * gap, *status])
    assert found[0] == pytest.approx([0.0, 0.0, 2e5, -2e3, 0, sum(status), 0], abs=1e-4)
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_a_body_does_not_touch_itself() -> None:
    ball = sa.RigidBody.sphere(1.0, name="ball")
    with refused(sa.ConstraintError, asked="target", given="ball"):
        sa.Contact(ball, sa.Plane(**FLOOR, body=ball), stiffness=1.0)


@pytest.mark.parametrize("law", ["spring", "stiffening"])
def test_stiffness_is_that_of_the_whole_body(law: str) -> None:
    """Of a ball, and of a box that lies on a face; an edge has half of it, a corner a quarter."""
    k, d, size = 1e5, 1e-3, 0.2
    own: dict[str, Any] = {"stiffness": k}
    if law == "stiffening":
        own |= {"law": lambda g, *, k, c: k / 2 * Max(-g, 0) ** 2 + c * Max(-g, 0) ** 3, "c": 1e8}
    full = k * d + (3.0 * 1e8 * d**2 if law == "stiffening" else 0.0)
    across = np.arccos(1.0 / np.sqrt(3.0))
    edge, corner = turn((np.pi / 4, 0, 0)), turn((across / np.sqrt(2), -across / np.sqrt(2), 0))
    for frame, part in ((turn((0, 0, 0.65)), 1.0), (edge, 0.5), (corner, 0.25)):
        reach = np.abs(frame[2]).sum() * size / 2
        box = sa.RigidBody.box(
            (size,) * 3, position=(0, 0, reach - d), frame=frame, name="box", mass=1
        )
        touch = sa.Contact(box, sa.Plane(**FLOOR), mu=0.3, initial="press", **own)
        system = sa.System(box, terms=[touch])
        assert touch.force(system) == pytest.approx([0.0, 0.0, part * full])
        assert touch.status(system)[1] == 4 * part
    ball = sa.RigidBody.sphere(size, position=(0, 0, size - d), name="ball", mass=1.0)
    touch = sa.Contact(ball, sa.Plane(**FLOOR), initial="press", **own)
    assert touch.force(sa.System(ball, terms=[touch])) == pytest.approx([0.0, 0.0, full])


def test_audit_tells_what_contact_stores_and_loses() -> None:
    """A box dropped on a belt that runs: it takes up speed by friction alone."""
    mu, size, belt, h, steps = 0.3, 0.2, 1.0, 2e-3, 20
    box = sa.RigidBody.box((size,) * 3, position=(0, 0, size / 2), rho=1000.0, name="box")
    plane = sa.Plane(**FLOOR, displacement=lambda t: (belt * t, 0.0, 0.0))
    contact = sa.Contact(box, plane, mu=mu, stiffness=4e6, initial="press")
    problem = sa.DynamicProblem(sa.System(box, terms=[contact, sa.gravity(slope(0.0))]))
    problem.record("belt", contact)
    problem.solve(to=h * steps, step=h)
    e, N, t = problem.energies, 1000.0 * size**3 * 9.81, h * steps
    slid = belt * t - 0.5 * mu * 9.81 * t**2
    once = mu * N * belt * h  # of one step: at the start friction is there at once
    assert e.friction == pytest.approx(mu * N * slid, abs=once)
    assert 0.0 < e.dissipated - e.friction < 2e-3 * e.friction  # the damper
    assert e.contact > 0.99 * N**2 / (2.0 * 4.0 * 1e6)
    assert e.work == pytest.approx(mu * N * belt * t, abs=once)
    assert abs(e.drift) < 1e-3 * e.work
    assert e.total == e.kinetic + e.potential + e.contact
    kept = problem.history
    along, _, normal = kept["belt undamped"].T  # what friction knows: the pressure without damper
    assert np.abs(along[1:]) == pytest.approx(mu * normal[1:], rel=1e-9)
    assert np.abs(kept["belt force"] - kept["belt undamped"])[1:, 2].max() > 1e-9 * N
    np.testing.assert_allclose(kept["belt force"][:, 0], along, rtol=1e-9, atol=1e-12 * N)
    assert kept["belt dissipated"][-1] == pytest.approx(e.friction, rel=1e-12)
    assert kept["belt force"][-1] == pytest.approx([mu * N, 0.0, N], rel=2e-2)
    assert kept["belt status"][-1].tolist() == [4, 0, 4]  # of eight corners
    assert kept["belt penetration"][-1] > 0.9 * N / (4.0 * 1e6)


# ---- steps ---------------------------------------------------------------------------------------
def pressed(s: float = 1.0, p: float = 1.0, **given: Any) -> tuple[Any, sa.Contact, sa.System]:
    """A block that a ball is pressed into and drawn along, in units of s [m] and p [Pa]."""
    mesh = sa.Mesh.box((s,) * 3, (2, 2, 2))
    body = sa.Body(mesh["body"], elements.hex8_plain, SVK, E=1e6 * p, nu=0.3, name="block")
    ball = sa.Sphere(
        2 * s,
        (0.4 * s, 0.5 * s, -2 * s),
        displacement=lambda t: (0.05 * s * max(t - 1, 0), 0, 0.02 * s * min(t, 1)),
    )
    contact = sa.Contact(body["z0"], ball, name="c", **given)
    return body, contact, sa.System(body, terms=[contact, sa.fix(body["z1"])])


def test_units_change_no_digit() -> None:
    found = []
    for s, p in ((1.0, 1.0), (1e3, 1e-6)):
        _, contact, system = pressed(s, p, mu=(0.4, 0.3))
        problem = sa.StaticProblem(system)
        problem.solve(1.0)
        problem.solve(1.5, step=0.25)
        nodal = contact.nodal(system)
        lost = contact.dissipated(system) / (p * s**3)
        found.append([*contact.force(system) / (p * s * s), lost, *nodal.pressure / p])
        assert contact.status(system).slip > 0
        assert contact.force(system, on=contact._bodies[1][0]) == pytest.approx(
            -contact.force(system)
        )
    size = np.abs(found[0]).max()
    assert np.abs(np.subtract(*found)).max() < 1e-9 * size


@collective
def test_stiffness_grows_where_points_are_too_deep_and_is_saved(shared_tmp_path: Any) -> None:
    _, contact, system = pressed(penetration=1e-3)
    problem = sa.StaticProblem(system)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        problem.solve(1.0)
    texts = [str(w.message) for w in told]
    assert sum("more than penetration=0.001" in t for t in texts) == (system.comm.rank == 0)
    kept = system._discrete.binding(contact).step.variable.value
    assert kept[0] >= 4.0
    assert contact.penetration_of(system)[1] < 2e-3
    force = contact.force(system)
    problem.save(shared_tmp_path / "grown.h5")
    _, other, again = pressed(penetration=1e-3)
    sa.StaticProblem(again).restore(shared_tmp_path / "grown.h5")
    assert again._discrete.binding(other).step.variable.value == pytest.approx(kept)
    assert other.force(again) == pytest.approx(force, rel=1e-12)


def test_what_presses_with_p_lies_p_by_ten_moduli_of_a_cell_deep() -> None:
    body = block(2)
    contact = sa.Contact(body["z0"], sa.Plane(**FLOOR))
    guide = sa.fix(body["x0"], ["x"]), sa.fix(body["y0"], ["y"])
    system = sa.System(body, terms=[contact, *guide, sa.traction(body["z1"], (0.0, 0.0, -1e3))])
    sa.StaticProblem(system).solve()
    assert contact.penetration_of(system)[1] == pytest.approx(1e3 / (10.0 * 1e6), rel=0.01)


@collective
def test_a_block_does_not_pass_through_a_thin_wall() -> None:
    """It is pressed against it by a third of its height in one step."""
    body = block()
    wall = sa.Box((3, 3, 0.02), (0.5, 0.5, -0.05))
    contact = sa.Contact(body["z0"], wall)
    down = sa.fix(body["z1"], displacement=lambda t: (0, 0, -0.3 * t))
    system = sa.System(body, terms=[contact, down])
    sa.StaticProblem(system).solve(1.0)
    assert contact.status(system).open == 0
    assert contact.force(system)[2] > 1e5


@pytest.mark.parametrize("shape", [sa.Sphere(0.1), sa.Cylinder(0.1), sa.Capsule(0.1, 0.3)])
@pytest.mark.parametrize("rho", [0.0, 0.05, 0.3])
def test_ways_between_feet_that_are_near_lie_hardly_in_a_shape(shape: Any, rho: float) -> None:
    depth, angle = np.geomspace(1e-6, 1e-1, 50), np.linspace(0.0, 1.0, 101)
    slide = shape.safe_slide(depth, rho)
    assert ((slide > 0.0) & (slide <= 0.1)).all()
    half = np.arcsin(slide / 0.2)  # of the angle between the feet, on a circle across the axis
    ends = [(0.1 + rho) * np.array([np.cos(half), s * np.sin(half)]) for s in (-1.0, 1.0)]
    way = ends[0] + angle[:, None, None] * (ends[1] - ends[0])
    dips = 0.1 + rho - np.linalg.norm(way, axis=1).min(axis=0)
    assert (dips <= depth).all()
    assert (dips[slide < 0.1] > 0.8 * depth[slide < 0.1]).all()  # and not for want of sharpness
    assert (np.cos(2.0 * half) >= 0.5 - 1e-12).all()


def test_it_is_not_known_how_far_feet_may_slide_on_edges() -> None:
    for shape in (sa.Box((1.0, 1.0, 1.0)), sa.Cylinder(0.1, length=1.0)):
        assert (shape.safe_slide(np.ones(3), 0.1) == 0.0).all()


def test_steps_at_rest_cost_one_or_two_iterations() -> None:
    """Forces that balance are what the residual is measured by, not what is left of them."""
    for s, p in ((1.0, 1.0), (1e3, 1e-6)):  # units of length and pressure
        body = block(E=1e5 * p, size=0.1 * s, rho=1e3 * p / s**2)
        touch = sa.Contact(body["z0"], sa.Plane(**FLOOR), mu=0.4, name="touch")
        system = sa.System(body, terms=[touch, sa.gravity((0.0, 0.0, -9.81 * s))])
        problem = sa.DynamicProblem(
            system, spectral_radius=0.8, damping=sa.Rayleigh(stiffness=0.01)
        )
        problem.solve(to=0.5, step=5e-3)
        late = [step.iterations for step in problem.history.steps if step.time > 0.3]
        assert np.abs(system.rate).max() < 1e-10 * s
        assert max(late) <= 4
        assert sum(late) <= 2 * len(late)
        assert problem.history.cut_backs == 0
        assert touch.force(system)[2] == pytest.approx(9.81 * p * s**2, rel=1e-9)


def test_a_motion_goes_on_from_an_equilibrium_with_friction() -> None:
    """Nothing moves: anchors are kept, accelerations fit."""
    body = block(E=1e5, size=0.1, rho=1e3)
    touch = sa.Contact(body["z0"], sa.Plane(**FLOOR), mu=0.4, initial="press")
    drawn = sa.fix(body["z1"], displacement=(1e-3, 0.0, -3e-3))
    system = sa.System(body, terms=[touch, drawn, sa.gravity((0.0, 0.0, -9.81))])
    sa.StaticProblem(system).solve(step=0.25)
    force, state, system.time = touch.force(system), system.state.copy(), 0.0
    assert touch.status(system).stick > 0
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.solve(to=0.1, step=1e-2)
    assert max(step.iterations for step in problem.history.steps) <= 2
    assert np.abs(system.state - state).max() < 1e-10
    assert touch.force(system) == pytest.approx(force, rel=1e-9, abs=1e-9)


def test_few_steps_are_tried_to_land_where_contact_begins_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = block(E=1e5, size=0.1, rho=1e3)
    touch = sa.Contact(body["z0"], sa.Plane((0.0, 0.0, -0.02), normal=(0.0, 0.0, 1.0)), mu=0.4)
    system = sa.System(body, terms=[touch, sa.gravity((0.0, 0.0, -9.81))])
    landings, land = [], GeneralizedAlpha.land
    monkeypatch.setattr(
        GeneralizedAlpha, "land", lambda *given: landings.append(given[1]) or land(*given)
    )
    problem = sa.DynamicProblem(system, spectral_radius=0.8, damping=sa.Rayleigh(stiffness=1e-3))
    times = problem.event(lambda: touch.clearance(system))
    problem.solve(to=0.2, step=2e-3)
    assert times[0] == pytest.approx(np.sqrt(0.04 / 9.81), rel=1e-2)
    assert len(times) == 4
    assert len(landings) <= 9 * len(times)


def test_overlap_presses_or_is_let_out() -> None:
    for initial in ("press", "release"):
        body = sa.RigidBody.sphere(0.1, position=(0, 0, 0.095), rho=1000.0)
        system, contact = on_plane(body, 0.0, (0, 0, -9.81), initial=initial)
        problem = sa.DynamicProblem(system)
        problem.solve(1e-3, step=1e-3)
        weight = 9.81 * body.mass
        first = float(contact.force(system)[2]) / weight
        assert (first > 5.0) == (initial == "press")


@collective
def test_a_block_on_a_ball_with_friction_on_some_ranks() -> None:
    """Two ranks have no point that may touch."""
    mesh = sa.Mesh.box((3.0, 2.0, 2.0), (2, 2, 3), warp=lambda X: X + np.array([0.2, 0.1, 2.0]))
    law = energies.neo_hooke()
    part = sa.Body(mesh["body"], elements.hex8_plain, law, mu=1.0, lam=4.0, name="part")
    down = sa.fix(part["z1"], displacement=lambda t: (0.02 * t, 0.0, -0.1 * t))
    touch = sa.Contact(part["z0"], sa.Sphere(4.0, (1.6, 1.0, -2.02)), mu=0.3)
    system = sa.System(part, terms=[touch, down])
    sa.StaticProblem(system, check_held=False).solve(step=0.5)
    discrete = system._discrete
    square = np.square(discrete.state[: discrete.numbering.owned]).sum()
    assert discrete.sum(np.array([square]))[0] == pytest.approx(0.546976012205**2, rel=1e-9)

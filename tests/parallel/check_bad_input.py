# SPDX-License-Identifier: BSD-3-Clause
"""Input that cannot work; prints what every rank says to it. Run by test_bad_input."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, kirchhoff, neo_hooke, yeoh
from tests.cases import Cases, refusal

COMM = MPI.COMM_WORLD
LAST = COMM.rank == COMM.size - 1
HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable
NAN = float("nan")
case = Cases(limit=20.0)


def block(n: tuple[int, int, int] = (3, 2, 2), **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((3.0, 1.0, 1.0), n)
    return sa.Body(mesh["body"], HEX8, neo_hooke(), **({"mu": 1.0, "lam": 2.0} | options))


def strip(n: int = 3, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((float(n), 1.0), (n, 1))
    given = {"E": 1e3, "nu": 0.3, "thickness": 0.1} | options
    return sa.Body(mesh["body"], THIN, kirchhoff(), **given)


def rope(n: int = 3, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((float(n),), (n,))
    return sa.Body(mesh["body"], CABLE, cable(), **({"EA": 10.0, "EI": 1.0} | options))


def loaded(*terms: Any, body: sa.Body | None = None) -> sa.StaticProblem:
    """Problem of a block held at x0, with terms made from the body by functions."""
    body = body or block()
    made = [term(body) if callable(term) else term for term in terms]
    return sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), *made]))


def arrays(points: Any, cells: Any, regions: Any = None, **options: Any) -> sa.Mesh:
    first = COMM.rank == 0
    given = (points, cells, regions) if first else (None, None, None)
    return sa.Mesh.from_arrays(*given, **options)


SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]
CUBE = [*SQUARE, *([x, y, 1.0] for x, y, _ in SQUARE)]


# ---- meshes ----
@case
def missing_file() -> None:
    sa.Mesh.read("meshes/silicone_plat.msh")


@case
def force_that_differs_by_rank() -> None:
    loaded(lambda body: sa.force(body["x1"], (0, 0, lambda t: 1e-3 * t * COMM.rank))).solve()


@case
def displacement_that_differs_by_rank() -> None:
    loaded(lambda body: sa.fix(body["x1"], "x", displacement=(COMM.rank, 0, 0))).solve()


@case
def displacement_of_places_that_differs_by_rank() -> None:
    loaded(
        lambda body: sa.fix(body["x1"], "x", displacement=lambda X, t: t * X * COMM.rank)
    ).solve()


@case
def point_that_differs_by_rank() -> None:
    loaded(lambda body: sa.force(body.at((0.5, 0.5, 0.5 - 0.1 * LAST)), (0, 0, 1.0)))


@case
def traction_of_places_that_differs_by_rank() -> None:
    """Also where not every rank has a part of the place, and the value is there on one rank."""
    loaded(lambda body: sa.traction(body["x1"], lambda X, t: t * (X + 1.0) * COMM.rank)).solve()


@case
def gradient_that_differs_by_rank() -> None:
    cable = sa.Body(
        sa.Mesh.box((1.0,), (4,))["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        EA=1.0,
        EI=1.0,
    )
    held = sa.fix(cable["x0"], "all", gradient=lambda t: 0.01 * COMM.rank * np.eye(3))
    sa.StaticProblem(sa.System(cable, terms=[held])).solve()


@case
def rotation_of_a_rigid_body_that_differs_by_rank() -> None:
    brick = sa.RigidBody.box((1.0, 1.0, 1.0), rho=1.0, name="brick")

    def turned(t: float) -> Any:
        c, s = np.cos(t * COMM.rank), np.sin(t * COMM.rank)
        return np.array([[c - 1, -s, 0], [s, c - 1, 0], [0, 0, 0]])

    sa.System(brick, terms=[sa.fix(brick, gradient=turned)]).prescribe(1.0)


@case
def angle_of_a_planar_body_that_differs_by_rank() -> None:
    wheel = sa.PlanarBody(position=(0.0, 0.0), name="wheel")
    held = sa.fix(wheel, ["theta"], displacement=lambda t: t * COMM.rank)
    sa.System(wheel, terms=[held]).prescribe(1.0)


@case
def function_of_places_that_fails_on_one_rank() -> None:
    def pulled(X: Any, t: float) -> Any:
        if COMM.rank == COMM.size - 1:
            raise ZeroDivisionError("a rank failed")
        return 0.0 * X

    loaded(lambda body: sa.fix(body["x1"], "x", displacement=pulled)).solve()


@case
def stiffness_that_differs_by_rank() -> None:
    loaded(body=block(mu=1.0 + COMM.rank)).solve()


@case
def missing_region() -> None:
    sa.Mesh.read("meshes/silicone_plate.msh")["palte"]


@case
def missing_region_of_a_body() -> None:
    sa.fix(block()["root"])


@case
def triangles_for_quadrilaterals() -> None:
    mesh = arrays(SQUARE, {"triangle": [[0, 1, 2], [0, 2, 3]]}, {"plate": ("triangle", [0, 1])})
    sa.Body(mesh["plate"], PLATE, yeoh(), C10=1.0, C20=0.0, C30=0.0, k=1.0, thickness=0.1)


@case
def inverted_cell() -> None:
    arrays(CUBE, {"hexahedron": [[4, 5, 6, 7, 0, 1, 2, 3]]})


@case
def degenerate_cell() -> None:
    arrays(np.array(CUBE) * [1, 1, 0], {"hexahedron": [list(range(8))]})


@case
def empty_region() -> None:
    mesh = arrays(SQUARE, {"quad": [[0, 1, 2, 3]]}, {"none": ("quad", [])})
    sa.Body(mesh["none"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)


@case
def fix_of_an_empty_region() -> None:
    mesh = arrays(SQUARE, {"quad": [[0, 1, 2, 3]]}, {"none": ("line", np.zeros((0, 2), int))})
    body = sa.Body(mesh["all"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    sa.System(body, terms=[sa.fix(body["none"])])


@case
def force_on_an_empty_region() -> None:
    mesh = arrays(SQUARE, {"quad": [[0, 1, 2, 3]]}, {"none": ("line", np.zeros((0, 2), int))})
    body = sa.Body(mesh["all"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    sa.System(body, terms=[sa.force(body["none"], (1, 0, 0))])


def with_stray_point() -> sa.Body:
    mesh = arrays([*SQUARE, [5, 5, 5]], {"quad": [[0, 1, 2, 3]]}, {"stray": ("vertex", [2, 4])})
    return sa.Body(mesh["all"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)


@case
def fix_of_a_node_without_element() -> None:
    body = with_stray_point()
    sa.System(body, terms=[sa.fix(body["stray"])])


@case
def force_on_a_node_without_element() -> None:
    body = with_stray_point()
    sa.System(body, terms=[sa.force(body["stray"], (1, 0, 0))])


@case
def joint_at_a_node_without_element() -> None:
    body = with_stray_point()
    sa.System(body, terms=[sa.joints.spherical(body["stray"])])


@case
def moment_on_a_node_without_element() -> None:
    body = with_stray_point()
    sa.System(body, terms=[sa.moment(body["stray"], (1, 0, 0))])


@case
def warp_that_fails_on_one_rank() -> None:
    def warp(X: Any) -> Any:
        if LAST:
            raise ZeroDivisionError("warp failed")
        return X

    sa.Mesh.box((1.0, 1.0), (2, 2), warp=warp)


# ---- energies and parameters ----
@case
def quantity_that_the_element_lacks() -> None:
    sa.Body(block().region, HEX8, cable(), EA=1.0, EI=1.0)


@case
def misspelt_parameter() -> None:
    block(mu=1.0, lam=2.0, rh0=1.0)


@case
def missing_parameter() -> None:
    sa.Body(block().region, HEX8, neo_hooke(), mu=1.0)


@case
def parameter_nan() -> None:
    block(mu=NAN)


@case
def parameter_text() -> None:
    block(mu="soft")


@case
def parameter_array() -> None:
    block(mu=np.ones(3))


@case
def thickness_negative() -> None:
    strip(thickness=-0.1)


@case
def parameter_object_nan() -> None:
    mu = sa.Parameter("stiffness", 1.0)
    problem = loaded(sa.gravity((0, 0, -1e-3)), body=block(mu=mu, rho=1.0))
    problem.solve()
    mu.value = NAN
    problem.solve(to=2.0)


@case
def function_of_time_nan_later() -> None:
    def mu(t: float) -> float:
        return 1.0 if t < 0.7 else NAN

    loaded(sa.gravity((0, 0, -1e-3)), body=block(mu=mu, rho=1.0)).solve(step=0.25)


@case
def function_of_time_raises_on_one_rank() -> None:
    def mu(t: float) -> float:
        if t > 0.4 and LAST:
            raise RuntimeError("table of mu ends at 0.4")
        return 1.0

    loaded(sa.gravity((0, 0, -1e-3)), body=block(mu=mu, rho=1.0)).solve(step=0.25)


@case
def function_of_time_raises_at_once_on_one_rank() -> None:
    def mu(t: float) -> float:
        if LAST:
            raise RuntimeError("no table")
        return 1.0

    block(mu=mu, rho=1.0)


@case
def function_of_time_returns_text() -> None:
    block(mu=lambda t: "much")


@case
def energy_raises_on_one_rank() -> None:
    def energy(I1: Any, *, mu: Any) -> Any:
        if LAST:
            raise KeyError("table")
        return mu * (I1 - 3)

    sa.Body(block().region, HEX8, energy, mu=1.0)


@case
def energy_returns_nothing() -> None:
    def energy(I1: Any, *, mu: Any) -> Any:
        mu * (I1 - 3)

    sa.Body(block().region, HEX8, energy, mu=1.0)


@case
def field_nan_in_one_cell() -> None:
    mu = sa.Field(lambda X: np.where(X[:, 0] > 2, NAN, 1.0))
    loaded(body=block(mu=mu))


@case
def field_of_wrong_shape() -> None:
    loaded(body=block(mu=sa.Field(lambda X: X)))


@case
def field_of_wrong_length() -> None:
    loaded(body=block(mu=sa.Field(lambda X: np.ones(len(X) + 1))))


@case
def field_raises_on_one_rank() -> None:
    def mu(X: Any) -> Any:
        if LAST:
            raise OSError("no such table: mu.txt")
        return np.ones(len(X))

    loaded(body=block(mu=sa.Field(mu)))


@case
def field_returns_text() -> None:
    loaded(body=block(mu=sa.Field(lambda X: ["stiff"] * len(X))))


@case
def thickness_field_not_positive() -> None:
    loaded(body=strip(thickness=sa.Field(lambda X: 0.1 * (X[:, 0] - 1.0))))


@case
def direction_of_wrong_shape() -> None:
    loaded(body=strip(direction=lambda X: X[:, :2]))


@case
def direction_zero() -> None:
    loaded(body=strip(direction=lambda X: np.zeros_like(X)))


@case
def direction_in_the_plane() -> None:
    loaded(body=strip(direction=lambda X: np.tile([1.0, 0, 0], (len(X), 1))))


@case
def direction_raises_on_one_rank() -> None:
    def direction(X: Any) -> Any:
        if LAST:
            raise IndexError("no normal")
        return np.tile([0, 0, 1.0], (len(X), 1))

    loaded(body=strip(direction=direction))


@case
def join_unknown() -> None:
    block(join="weld")


@case
def volumetric_unknown() -> None:
    block(volumetric="selective")


@case
def quadrature_unknown() -> None:
    block(quadrature={"deviatoric": "9y9"})


# ---- geometry ----
@case
def kinked_plate() -> None:
    points = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1.0]]
    mesh = arrays(points, {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]]})
    body = sa.Body(mesh["all"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    sa.System(body)


@case
def kinked_cable() -> None:
    mesh = arrays([[0, 0, 0], [1, 0, 0], [1, 1, 0.0]], {"line": [[0, 1], [1, 2]]})
    sa.System(sa.Body(mesh["all"], CABLE, cable(), EA=1.0, EI=1.0))


@case
def branched_cable() -> None:
    points = [[0, 0, 0], [1, 0, 0], [2, 0.1, 0], [2, -0.1, 0.0]]
    mesh = arrays(points, {"line": [[0, 1], [1, 2], [1, 3]]})
    sa.System(sa.Body(mesh["all"], CABLE, cable(), EA=1.0, EI=1.0))


# ---- supports ----
@case
def dofs_unknown() -> None:
    sa.fix(strip()["x0"], "rotation")


@case
def displacement_of_two_components() -> None:
    loaded(lambda b: sa.fix(b["x1"], displacement=(0.0, 1.0)))


@case
def displacement_nan_later() -> None:
    def u(t: float) -> Any:
        return (0.1 * t if t < 0.6 else NAN, 0, 0)

    loaded(lambda b: sa.fix(b["x1"], displacement=u)).solve(step=0.25)


@case
def displacement_function_of_wrong_shape() -> None:
    loaded(lambda b: sa.fix(b["x1"], displacement=lambda X, t: X[:, 0] * t)).solve()


@case
def displacement_function_of_two_components() -> None:
    loaded(lambda b: sa.fix(b["x1"], displacement=lambda t: (t, 0))).solve()


@case
def displacement_raises_on_one_rank() -> None:
    def u(X: Any, t: float) -> Any:
        if t > 0.4 and LAST:
            raise RuntimeError("motion ends at 0.4")
        return np.zeros_like(X)

    loaded(lambda b: sa.fix(b["x1"], displacement=u)).solve(step=0.25)


@case
def gradient_of_wrong_shape() -> None:
    body = strip()
    loaded(sa.fix(body["x1"], gradient=lambda t: np.eye(2)), body=body).solve()


@case
def gradient_nan() -> None:
    body = strip()
    loaded(sa.fix(body["x1"], gradient=np.full((3, 3), NAN)), body=body).solve()


@case
def fix_of_a_point_that_is_no_node() -> None:
    loaded(lambda b: sa.fix(b.at((1.5, 0.25, 0.3))))


@case
def fix_of_a_point_that_is_not_on_the_body() -> None:
    loaded(lambda b: sa.fix(b.at((1.5, 0.25, 7.0))))


@case
def two_fixes_of_one_node_that_differ() -> None:
    body = block()
    problem = loaded(sa.fix(body["y0"], "x", displacement=(0.1, 0, 0)), body=body)
    problem.solve()


# ---- loads ----
@case
def force_nan() -> None:
    loaded(lambda b: sa.force(b["x1"], (0, NAN, 0))).solve()


@case
def force_nan_later() -> None:
    loaded(lambda b: sa.force(b["x1"], (0, 0, lambda t: 0.01 if t < 0.6 else NAN))).solve(step=0.25)


@case
def force_function_raises_on_one_rank() -> None:
    def force(t: float) -> Any:
        if t > 0.4 and LAST:
            raise RuntimeError("load ends at 0.4")
        return (0, 0, 0.01 * t)

    loaded(lambda b: sa.force(b["x1"], force)).solve(step=0.25)


@case
def force_of_two_components() -> None:
    loaded(lambda b: sa.force(b["x1"], (0, 1)))


@case
def force_function_of_two_components() -> None:
    loaded(lambda b: sa.force(b["x1"], lambda t: (0, t))).solve()


@case
def force_distributed_in_another_way() -> None:
    loaded(lambda b: sa.force(b["x1"], (0, 0, 1), distribute="evenly"))


@case
def force_on_a_point_off_the_body() -> None:
    loaded(lambda b: sa.force(b.at((0, 0, 2)), (0, 0, 1)))


@case
def traction_on_points() -> None:
    mesh = arrays(SQUARE, {"quad": [[0, 1, 2, 3]]}, {"P": ("vertex", [2])})
    body = sa.Body(mesh["all"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    sa.traction(body["P"], (0, 0, 1))


@case
def traction_raises_on_one_rank() -> None:
    def pressure(X: Any, t: float) -> Any:
        if t > 0.4 and LAST:
            raise RuntimeError("pressure ends at 0.4")
        return np.zeros_like(X)

    body = block()
    other = sa.traction(body["x0"], lambda X, t: np.zeros_like(X))
    # every rank evaluates a part of this one
    system = sa.System(body, terms=[sa.fix(body["x0"]), other, sa.traction(body["z0"], pressure)])
    sa.StaticProblem(system).solve(step=0.25)


@case
def traction_of_wrong_shape() -> None:
    loaded(lambda b: sa.traction(b["x1"], lambda X, t: X[:, 0])).solve()


@case
def force_that_depends_on_the_place() -> None:
    loaded(lambda b: sa.force(b["x1"], lambda X, t: X))


@case
def moment_on_nodes_without_slopes() -> None:
    loaded(lambda b: sa.moment(b["x1"], (0, 0, 1)))


@case
def moment_nan_later() -> None:
    body = rope()
    load = sa.moment(body["x1"], (0, 0, lambda t: 0.1 if t < 0.6 else NAN))
    loaded(load, body=body).solve(step=0.25)


@case
def gravity_without_density() -> None:
    loaded(sa.gravity((0, 0, -9.81)))


@case
def gravity_without_cross_section() -> None:
    loaded(sa.gravity((0, 0, -9.81)), body=rope(rho=1.0))


@case
def gravity_of_two_components() -> None:
    loaded(sa.gravity((0, -9.81)), body=block(rho=1.0))


@case
def gravity_on_a_body_outside_the_system() -> None:
    loaded(sa.gravity((0, 0, -9.81), rope(rho=1.0, A=1.0, name="other")))


# ---- constraints ----
@case
def constraint_asks_for_the_unknown() -> None:
    def phi(sigma_a: Any) -> Any:
        return sigma_a

    sa.Constraint(phi, rope().at((0, 0, 0)))


@case
def constraint_with_a_misspelt_parameter() -> None:
    def phi(r_a: Any, *, length: Any) -> Any:
        return r_a.dot(r_a) - length**2

    sa.Constraint(phi, rope().at((0, 0, 0)), lenght=1.0)


@case
def constraint_parameter_nan() -> None:
    loaded(lambda b: sa.joints.on_sphere(b.at((3, 0, 0)), (0, 0, 0), NAN), body=rope()).solve()


@case
def constraint_function_fails() -> None:
    def phi(r_a: Any) -> Any:
        return r_a[7]

    sa.Constraint(phi, rope().at((0, 0, 0)))


@case
def constraint_returns_text() -> None:
    def phi(r_a: Any) -> Any:
        return ["r = 0"]

    sa.Constraint(phi, rope().at((0, 0, 0)))


@case
def constraint_with_a_foreign_symbol() -> None:
    def phi(r_a: Any) -> Any:
        return r_a[0] - sp.Symbol("L")

    loaded(lambda b: sa.Constraint(phi, b.at((3, 0, 0))), body=rope()).solve()


@case
def constraint_with_ends_of_different_size() -> None:
    body = block()
    loaded(sa.joints.spherical(body["x1"], body["all"]), body=body)


@case
def tie_to_a_body_far_away() -> None:
    far = sa.Mesh.box((1.0, 1.0), (1, 1), warp=lambda X: X + 10)
    other = sa.Body(far["body"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1, name="far")
    body = block()
    sa.System(body, other, terms=[sa.joints.tie(body["x1"], other)])


@case
def constraint_to_a_body_outside_the_system() -> None:
    loaded(lambda b: sa.joints.spherical(b.at((3, 0, 0)), rope(name="other").at((3, 0, 0))))


# ---- systems ----
@case
def no_bodies() -> None:
    sa.System(terms=[])


@case
def a_region_for_a_body() -> None:
    sa.System(block().region)


@case
def two_bodies_of_one_name() -> None:
    sa.System(block(), block())


@case
def one_body_twice() -> None:
    body = block()
    sa.System(body, body)


@case
def bodies_on_different_communicators() -> None:
    alone = sa.Mesh.box((1.0,), (2,), comm=MPI.COMM_SELF)
    other = sa.Body(alone["body"], CABLE, cable(), EA=1.0, EI=1.0, name="other")
    sa.System(block(), other)


@case
def term_on_a_body_outside_the_system() -> None:
    loaded(sa.fix(block(name="other")["x1"]))


@case
def term_on_another_body_of_the_same_mesh() -> None:
    mesh = sa.Mesh.box((3.0, 1.0, 1.0), (3, 2, 2))
    one = sa.Body(mesh["body"], HEX8, neo_hooke(), mu=1.0, lam=2.0)
    two = sa.Body(mesh["body"], HEX8, neo_hooke(), mu=1.0, lam=2.0, name="two")
    sa.System(one, terms=[sa.fix(two["x0"])])


@case
def force_on_another_body_of_the_same_mesh() -> None:
    mesh = sa.Mesh.box((3.0, 1.0), (3, 2))
    one = sa.Body(mesh["body"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    two = sa.Body(mesh["body"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1, name="two")
    sa.System(one, terms=[sa.fix(one["x0"]), sa.force(two["x1"], (0, 0, 1))])


@case
def displacement_of_another_body_of_the_same_mesh() -> None:
    mesh = sa.Mesh.box((3.0, 1.0), (3, 2))
    one = sa.Body(mesh["body"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1)
    two = sa.Body(mesh["body"], THIN, kirchhoff(), E=1.0, nu=0.3, thickness=0.1, name="two")
    system = sa.System(one, terms=[sa.fix(one["x0"])])
    system.displacement(two.at((0.5, 0.5, 0)))


@case
def something_that_is_no_term() -> None:
    loaded("gravity")


@case
def a_term_not_in_a_list() -> None:
    body = block()
    sa.System(body, terms=sa.fix(body["x0"]))


# ---- problems ----
@case
def step_zero() -> None:
    loaded().solve(step=0.0)


@case
def step_negative() -> None:
    loaded().solve(step=-0.1)


@case
def time_nan() -> None:
    loaded().solve(to=NAN)


@case
def monitor_raises_on_one_rank() -> None:
    problem = loaded()

    def monitor(step: Any) -> None:
        if LAST:
            raise OSError("disk full")

    problem.monitor(monitor)
    problem.solve()


@case
def option_unknown_to_petsc() -> None:
    body = block()
    system = sa.System(body, terms=[sa.fix(body["x0"])])
    sa.StaticProblem(system, options={"pc_type": "magic"}).solve()


@case
def displacement_of_a_point_off_the_body() -> None:
    body = block()
    system = sa.System(body, terms=[sa.fix(body["x0"])])
    system.displacement(body.at((9, 9, 9)))


@case
def solid_sample_of_a_solid() -> None:
    from symancf.output.sampling import sample

    body = block()
    sample(sa.System(body, terms=[sa.fix(body["x0"])]), body, solid=True)


if __name__ == "__main__":
    case.main(refusal)

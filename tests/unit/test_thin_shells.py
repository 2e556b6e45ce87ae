# SPDX-License-Identifier: BSD-3-Clause
"""Thin shells with slopes across edges: cubics, tangent planes, supports, curved references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import Element, ancf_thin_quad, ancf_thin_triangle
from symancf.errors import MeshError
from symancf.places.macro import cell_maps, slopes_across
from symancf_codegen.structure import classes_of
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.arrays import Array

BOTH = pytest.mark.parametrize("element", [ancf_thin_quad, ancf_thin_triangle])


def cubic(c: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Return a polynomial of third degree and its gradient (n, 2)."""
    w = c * np.stack([1 + 0 * x, x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3], -1)
    g1 = c[1] + 2 * c[3] * x + c[4] * y + 3 * c[6] * x * x + 2 * c[7] * x * y + c[8] * y * y
    g2 = c[2] + c[4] * x + 2 * c[5] * y + c[7] * x * x + 2 * c[8] * x * y + 3 * c[9] * y * y
    return w.sum(axis=-1), np.stack([g1, g2], axis=-1)


def vectors(cells: Any, points: Array, values: Array, slopes: Array, across: Any) -> Array:
    """Return what nodes (k,), their slopes (k, 2) and edges carry, one row for each cell."""
    rows = []
    for cell in cells:
        row = [x for v in cell for x in (values[v], *slopes[v])]
        row += [across(v, w) for v, w in zip(cell, np.roll(cell, -1), strict=True)]
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize(
    ("element", "corners"),
    [
        (ancf_thin_triangle, [[0, 0], [1.3, 0.2], [0.3, 0.9]]),
        (ancf_thin_quad, [[0, 0], [1.3, 0.2], [1.1, 1.4], [-0.2, 0.9]]),
    ],
)
def test_any_cell_has_all_cubics(element: Element, corners: Any) -> None:
    at = np.array(corners)
    X = np.column_stack([at, 0 * at[:, 0]])[None]
    N = np.broadcast_to([0.0, 0.0, 1.0], X.shape)
    turn = np.linspace(0.3, 5.0, len(at))
    basis = np.zeros((1, len(at), 2, 3))
    basis[0, :, 0, :2] = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    basis[0, :, 1, :2] = np.stack([-np.sin(turn), np.cos(turn)], axis=1)
    D = slopes_across(X, N, np.array([[3, 1, 7, 5][: len(at)]]))
    maps = cell_maps(X, N, basis, D)[0]
    c = np.random.default_rng(1).standard_normal(10)
    w, g = cubic(c, *at.T)
    _, middle = cubic(c, *(0.5 * (at + np.roll(at, -1, axis=0))).T)
    nodal = np.column_stack([w, np.einsum("vka,va->vk", basis[0, :, :, :2], g)]).ravel()
    e = maps @ np.append(nodal, np.einsum("ka,ka->k", D[0, :, :2], middle))
    shape = np.concatenate([X[0][:, None], basis[0]], axis=1).reshape(-1, 3)
    R = maps @ np.concatenate([shape, D[0]])
    functions, points = element.functions["N"], element.rule("full").points
    x, y, z = (functions.tabulate("", points) @ R).T
    np.testing.assert_allclose(functions.tabulate("", points) @ e, cubic(c, x, y)[0], atol=1e-13)
    assert np.abs(z).max() < 1e-14
    numbers = functions.tabulate("xieta", points[:2])
    xi, eta = element.space.coordinates
    told = functions.expressions("xieta")
    values = [[float(f.subs({xi: a, eta: b})) for f in told] for a, b in points[:2]]
    np.testing.assert_allclose(values, numbers, atol=1e-9)


def bent(element: Element, n: int, **given: Any) -> tuple[sa.System, sa.Body]:
    """Return a distorted square."""
    kind = element.cell
    mesh = sa.Mesh.box(
        (1.0, 1.0),
        (n, n),
        cell=kind,
        warp=lambda X: X + 0.1 * np.column_stack([np.sin(3 * X[:, 1]), X[:, 0] ** 2, 0 * X[:, 0]]),
    )
    law = sa.energies.kirchhoff()
    body = sa.Body(mesh["body"], element, law, E=1e3, nu=0.3, thickness=0.1, rho=1.0, **given)
    return sa.System(body), body


@BOTH
def test_slopes_across_edges_start_as_the_body_does(element: Element) -> None:
    spin = np.array([0.3, -1.2, 2.0])
    (one, body), (other, _) = (
        bent(element, 3, **given)
        for given in ({"spin": spin}, {"velocity": lambda X: np.cross(spin, X)})
    )
    np.testing.assert_allclose(one.rate, other.rate, atol=1e-11)
    on = one._discrete.binding(body).interpolation
    at = on.offset(on.middles.vertices, "across")[:, None] + np.arange(3)
    np.testing.assert_allclose(one.rate[at], np.cross(spin, on.middles.values[:, :3]), atol=1e-13)


@BOTH
def test_tangent_planes_are_continuous_and_constant_curvature_is_exact(element: Element) -> None:
    system, body = bent(element, 3)
    on = system._discrete.binding(body).interpolation
    random = np.random.default_rng(2)
    system.state[:] = 1e-3 * random.standard_normal(system.state.shape)
    a, b = system._discrete.points[on.cells[4]][:2]
    along = a + np.array([0.15, 0.5, 0.8])[:, None] * (b - a)
    across = 1e-7 * np.cross([0.0, 0.0, 1.0], b - a)
    one, other = (system.gradient(body.at(along + s * across)) for s in (1.0, -1.0))
    np.testing.assert_allclose(one, other, atol=1e-6)
    H = np.array([[0.2, 0.1], [0.1, 0.6]]) * 1e-4
    state, v, m = np.zeros_like(system.state), on.basis.vertices, on.middles.vertices
    D, places = on.middles.values[:, :2], on.middles.values[:, 3:5]
    X = system._discrete.points[v, :2]
    state[on.offset(v, "value") + 2] = 0.5 * np.einsum("ka,ab,kb->k", X, H, X)
    for k in range(2):
        slope = np.einsum("ka,ab,kb->k", on.basis.values[:, k, :2], H, X)
        state[on.offset(v, f"slope{k}") + 2] = slope
    state[on.offset(m, "across") + 2] = np.einsum("ka,ab,kb->k", D, H, places)
    system.state[:] = state
    area = _area(system, body)
    stiffness = 1e3 * 0.1**3 / 12.0 / (1.0 - 0.3**2)
    energy = 0.5 * stiffness * (0.7 * (H * H).sum() + 0.3 * np.trace(H) ** 2) * area
    assert system.strain_energy() == pytest.approx(energy, rel=1e-5)


def _area(system: sa.System, body: sa.Body) -> float:
    X = system._discrete.points[system._discrete.binding(body).interpolation.cells]
    last = X[:, -1] - X[:, 0]
    first = X[:, 1] - X[:, 0]
    total = np.cross(first, X[:, 2] - X[:, 0])[:, 2].sum() / 2.0
    if X.shape[1] == 4:
        total += np.cross(X[:, 2] - X[:, 0], last)[:, 2].sum() / 2.0
    return float(total)


@BOTH
def test_a_free_cell_has_six_rigid_motions(element: Element) -> None:
    system, _ = bent(element, 1)
    sizes = np.linalg.eigvalsh(system.matrices.tangent(scipy=True).toarray())
    assert (np.abs(sizes) < 1e-10 * sizes[-1]).sum() == 6
    assert np.linalg.eigvalsh(system.matrices.mass(scipy=True).toarray())[0] > 0.0


def strip(element: Element, how: str, turn: float) -> Array:
    """Return tip displacement, force and moment of the clamp, in the axes of a turned strip."""
    c, s = np.cos(turn), np.sin(turn)
    Q = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    mesh = sa.Mesh.box((1.0, 0.3), (3, 1), cell=element.cell, warp=lambda X: X @ Q.T)
    law = sa.energies.kirchhoff()
    body = sa.Body(mesh["body"], element, law, E=1e9, nu=0.3, thickness=0.01)
    load = sa.force(body["x1"], Q @ [0.0, 0.0, 0.4])
    if how == "fix":
        support = sa.fix(body["x0"])
        system = sa.System(body, terms=[support, load])
        sa.StaticProblem(system).solve()
        wrench = [
            support.reaction(system).force @ Q,
            support.reaction(system).moment_about((0, 0, 0)) @ Q,
        ]
    else:
        block = sa.RigidBody()
        clamp = sa.joints.clamp(body["x0"], block)
        system = sa.System(body, block, terms=[clamp, sa.fix(block), load])
        sa.StaticProblem(system).solve()
        found = clamp.reaction(system)
        moment = found.moments + np.cross(found.points, found.forces)
        wrench = [found.forces.sum(axis=0) @ Q, moment.sum(axis=0) @ Q]
    tip = system.displacement(body.at(Q @ [1.0, 0.15, 0.0]))[0] @ Q
    return np.concatenate([tip, *wrench])


@BOTH
def test_clamps_hold_slopes_across_edges_in_any_direction(element: Element) -> None:
    plain = strip(element, "fix", 0.0)
    np.testing.assert_allclose(plain[3:6], [0.0, 0.0, -0.4], atol=1e-9)
    np.testing.assert_allclose(plain[6:8], [-0.06, 0.4 * (1.0 + plain[0])], atol=1e-5)
    for how, turn in (("fix", 0.4), ("rigid", 0.0), ("rigid", 0.7)):
        np.testing.assert_allclose(strip(element, how, turn), plain, rtol=1e-7, atol=1e-10)


@BOTH
def test_a_roof_converges_with_symmetry_on_a_curved_reference(element: Element) -> None:
    R, half = 25.0, np.radians(40.0)
    mesh = sa.Mesh.box(
        (25.0, half),
        (4, 4),
        cell=element.cell,
        warp=lambda X: np.column_stack([X[:, 0], R * np.sin(X[:, 1]), R * np.cos(X[:, 1])]),
    )
    roof = sa.Body(
        mesh["body"],
        element,
        sa.energies.kirchhoff(),
        E=4.32e8,
        nu=0.0,
        thickness=0.25,
        direction=lambda X: X * [0.0, 1.0, 1.0],
    )
    held = [sa.symmetry(roof["x0"], "x"), sa.symmetry(roof["y0"], "y")]
    weight = sa.traction(roof["body"], (0.0, 0.0, -90e-6))
    system = sa.System(roof, terms=[*held, sa.fix(roof["x1"], ["y", "z"]), weight])
    sa.StaticProblem(system).solve()
    edge = roof.at((0.0, R * np.sin(half), R * np.cos(half)))
    found = -system.displacement(edge)[0, 2] * 1e6
    assert found == pytest.approx(0.3006008609, rel=1e-2 if element.vertices == 3 else 4e-4)


def test_slopes_by_axes_must_be_along_or_across_edges() -> None:
    _, body = bent(ancf_thin_quad, 2)
    possible = ("slope_along", "slope_across")
    with refused(MeshError, asked="dofs", given="slope_x", possible=possible):
        sa.System(body, terms=[sa.fix(body["x1"], ["z", "slope_x.z"])])


def test_thickness_may_vary_over_the_surface() -> None:
    E, width, P = 1e9, 0.2, 1e-6
    x, weight = np.polynomial.legendre.leggauss(40)
    s = 0.5 * (1.0 + x)
    exact = (0.5 * weight * P * (1 - s) ** 2 / (E * (0.02 - 0.01 * s) ** 3 / 12.0 * width)).sum()
    mesh = sa.Mesh.box((1.0, width), (8, 1))
    thickness = sa.Field(lambda X: 0.02 - 0.01 * X[:, 0], per="point")
    law = sa.energies.kirchhoff()
    body = sa.Body(mesh["body"], ancf_thin_quad, law, E=E, nu=0.0, thickness=thickness)
    load = sa.force(body["x1"], (0.0, 0.0, P))
    system = sa.System(body, terms=[sa.fix(body["x0"]), load])
    sa.StaticProblem(system).solve()
    tip = system.displacement(body.at((1.0, 0.1, 0.0)))[0, 2]
    assert tip == pytest.approx(exact, rel=1e-6)


def bracket(element: Element, angle: float, load: float) -> tuple[sa.System, list[sa.Body], sa.End]:
    """Return a strip of length 1, folded upwards for a half more, and its far end."""
    d = np.array([np.cos(angle), 0.0, np.sin(angle)])

    def bent(X: Array) -> Array:
        far = np.maximum(X[:, :1] - 1.0, 0.0)
        return np.concatenate([np.minimum(X[:, :1], 1.0), X[:, 1:]], axis=1) + far * d

    mesh = sa.Mesh.box((1.5, 0.2), (6, 1), cell=element.cell, warp=bent)
    parts = [
        mesh.select("floor", lambda X: np.abs(X[:, 2]) < 1e-9, dimension=2),
        mesh.select("wall", lambda X: (X[:, 2] > 1e-9) | (X[:, 0] > 1.0 - 1e-9), dimension=2),
    ]
    on_both = lambda X: (np.abs(X[:, 0] - 1.0) < 1e-9) & (np.abs(X[:, 2]) < 1e-9)  # noqa: E731
    mesh.select("corner", on_both, outer=False)
    given: Any = {"E": 1e9, "nu": 0.0, "thickness": 0.01}
    bodies = [sa.Body(part, element, sa.energies.kirchhoff(), **given) for part in parts]
    floor, wall = bodies
    terms = [sa.fix(floor["x0"]), sa.joints.fold(floor["corner"], wall)]
    terms.append(sa.force(wall["x1"], (lambda t: load * t, 0.0, 0.0)))
    tip = wall.at(np.array([1.0, 0.1, 0.0]) + 0.5 * d)
    return sa.System(*bodies, terms=terms), bodies, tip


@pytest.mark.parametrize(
    "element", [ancf_thin_quad, ancf_thin_triangle, sa.elements.ancf_thin_plate]
)
def test_folds_transmit_moments(element: Element) -> None:
    system, _, tip = bracket(element, np.pi / 2, 1e-6)
    sa.StaticProblem(system).solve()
    EI = 1e9 * 0.01**3 / 12.0 * 0.2
    exact = 1e-6 * (0.5**3 / 3.0 + 0.5**2) / EI + 1e-6 / (1e9 * 0.01 * 0.2)
    close = 1e-3 if element is sa.elements.ancf_thin_plate else 1e-6
    assert system.displacement(tip)[0, 0] == pytest.approx(exact, rel=close)
    (fold,) = (term for term in system.terms if isinstance(term, sa.joints.Fold))
    moment = fold.reaction(system).moments.sum(axis=0)
    np.testing.assert_allclose(moment, [0.0, 0.5e-6, 0.0], atol=2e-10)


def test_folds_keep_any_angle_in_large_rotations() -> None:
    system, bodies, _ = bracket(ancf_thin_quad, np.radians(50.0), 8.0)
    sa.StaticProblem(system).solve()
    normals = []
    for body in bodies:
        F = system.gradient(body["corner"])
        span = [np.linalg.svd(f)[0][:, 2] for f in F]  # across both tangents
        normals.append(np.array(span))
    cosine = np.abs(np.einsum("ka,ka->k", *normals))
    np.testing.assert_allclose(cosine, np.cos(np.radians(50.0)), atol=1e-9)
    assert np.abs(np.linalg.norm(normals[0] - [0.0, 0.0, 1.0], axis=1) - 0.0).min() > 0.1


def test_folds_want_edges_of_thin_shells() -> None:
    _, (floor, wall), _ = bracket(ancf_thin_quad, 1.0, 1.0)
    with refused(sa.ConstraintError, asked="region", given="floor", possible=("line",)):
        sa.joints.fold(floor["floor"], wall)


@pytest.mark.collective
def test_a_box_beam_with_clamped_folds_bends_and_twists() -> None:
    L, a, t, E, P = 10.0, 1.0, 0.02, 1e9, 1e-3
    ring = np.array([[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]]) * a / 2
    X = np.array([[L * i / 8, *p] for i in range(9) for p in ring])
    cells, lines, regions = [], [], {}
    for s in range(4):
        own = [[8 * i + k, 8 * i + 8 + k] for k in (2 * s, 2 * s + 1) for i in range(8)]
        regions[f"side{s}"] = ("quad", len(cells) + np.arange(16))
        cells += [
            [p, q, q + (-7 if q % 8 == 7 else 1), p + (-7 if p % 8 == 7 else 1)] for p, q in own
        ]
        regions[f"corner{s}"] = ("line", len(lines) + np.arange(8))
        lines += [[8 * i + 2 * s, 8 * i + 8 + 2 * s] for i in range(8)]
        for name, first in ((f"root{s}", 0), (f"tip{s}", 64)):
            regions[name] = ("line", len(lines) + np.arange(2))
            lines += [[first + k % 8, first + (k + 1) % 8] for k in (2 * s, 2 * s + 1)]
    mesh = sa.Mesh.from_arrays(X, {"quad": np.array(cells), "line": np.array(lines)}, regions)
    law, given = sa.energies.kirchhoff(), {"E": E, "nu": 0.0, "thickness": t}
    sides = [sa.Body(mesh[f"side{s}"], ancf_thin_quad, law, **given) for s in range(4)]
    held = [sa.fix(side[f"root{s}"]) for s, side in enumerate(sides)]
    held += [sa.joints.fold(side[f"corner{s}"], sides[s - 1]) for s, side in enumerate(sides)]
    second, shear = ((a + t) ** 4 - (a - t) ** 4) / 12.0, 2.0 * a * t * E / 2.0
    bend = P * L**3 / (3.0 * E * second) + P * L / shear
    twist = 2.0 * P * a * L / (E / 2.0 * a**3 * t) * a / 2.0
    around = ((1, 0), (0, 1), (-1, 0), (0, -1))
    loads = {
        bend: [(0.0, 0.0, P / 2.0 * (s % 2)) for s in range(4)],
        twist: [(0.0, P * y, P * z) for y, z in around],
    }
    for exact, forces in loads.items():
        pulled = [sa.force(side[f"tip{s}"], forces[s]) for s, side in enumerate(sides)]
        system = sa.System(*sides, terms=[*held, *pulled])
        sa.StaticProblem(system).solve()
        found = system.displacement(sides[1].at((L, a / 2.0, 0.0)))[0, 2]
        assert found == pytest.approx(exact, rel=1.5e-2)


@BOTH
def test_kernels_visit_the_functions_of_one_triangle_at_a_time(element: Element) -> None:
    rule, m = element.rule("full"), element.vertices
    table = element.space.tabulate(("N_xi", "N_etaeta"), rule.points)
    (own,) = classes_of([table])
    assert (len(own.patches), own.size, own.points) == (m, 10, rule.size // m)
    again = np.zeros_like(table)
    for q, row in enumerate(own.table(table)):
        again[q][:, own.patches[q // own.points]] = row
    assert np.array_equal(again, table)


@BOTH
def test_welded_shells_are_one_shell(element: Element) -> None:
    """Also turned, and in mm; the slopes across edges are held: without them 5 % are off."""
    law, found = sa.energies.kirchhoff(), []
    turn, _ = np.linalg.qr(np.array([[1.0, 0.3, 0.2], [0.1, 1.0, -0.4], [0.3, 0.5, 1.0]]))
    for size, other in ((1.0, 0), (1.0, 3), (1e3, 4)):
        given: Any = {"E": 1e7 / size**2, "nu": 0.3, "thickness": 0.01 * size}
        cells = ((4, 3), (4, other)) if other else ((8, 3),)
        bodies, first = [], 0.0
        for k, n in enumerate(cells):
            long = 0.5 if other else 1.0

            def placed(X: Any, x: float = first, size: float = size) -> Any:
                return (X + np.array([x, 0.0, 0.0])) * size @ turn.T

            mesh = sa.Mesh.box((long, 0.6), n, cell=element.cell, warp=placed, name=f"part{k}")
            bodies.append(sa.Body(mesh["body"], element, law, name=f"part{k}", **given))
            first += 0.5
        tied = [sa.joints.tie(bodies[1]["x0"], bodies[0])] if other else []
        load = sa.force(bodies[-1]["x1"], turn @ [0.0, 0.002, 0.05])
        system = sa.System(*bodies, terms=[sa.fix(bodies[0]["x0"]), load, *tied])
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        corner = bodies[-1].at(turn @ [1.0, 0.0, 0.0] * size)
        found.append(system.displacement(corner)[0] / size)
    np.testing.assert_allclose(found[1], found[0], atol=1e-10 * np.abs(found[0]).max())
    np.testing.assert_allclose(found[2], found[0], atol=1e-4 * np.abs(found[0]).max())
    reaction = tied[0].reaction(system)
    sizes, total = np.linalg.norm(reaction.moments, axis=1), reaction.moments.sum(axis=0)
    assert sizes.max() < 0.5 * np.linalg.norm(total)  # those of edges are told at nodes beside
    np.testing.assert_allclose(np.abs(reaction.forces.sum(axis=0)), np.abs(turn @ [0, 0.002, 0.05]))
    arms = reaction.points - turn @ [500.0, 300.0, 0.0]
    moment = reaction.moments.sum(axis=0) + np.cross(arms, reaction.forces).sum(axis=0)
    assert abs(moment @ turn[:, 1]) == pytest.approx(25.0, rel=2e-2)  # 500 mm, 0.05 N

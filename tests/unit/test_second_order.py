# SPDX-License-Identifier: BSD-3-Clause
"""Solids: affine and rigid states, order, loads, files, faults of meshes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import meshio
import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.extensions.view.surface import surface_of
from symancf.mesh.conformity import side_keys
from symancf.output.sampling import sample
from symancf.output.vtu import pieces, read_vtu
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from symancf.arrays import Array, Ints

EACH = (sa.elements.hex20, sa.elements.tet10, sa.elements.hex27, sa.elements.wedge15)
EACH += (sa.elements.wedge18,)
FIRST = (sa.elements.tet4, sa.elements.wedge6)
ELEMENTS = {element.cell: element for element in (*EACH, *FIRST)}
KINDS = [element.cell for element in EACH]
pytestmark = pytest.mark.filterwarnings("ignore:.*tet4 locks")
RUBBER = {"mu": 1.0, "lam": 1.5}
SIDES = ("x0", "x1", "y0", "y1", "z0", "z1")


def bent(X: Array) -> Array:
    """Move points inside of the unit cube, also those on edges: these become curved."""
    bump = np.prod(np.sin(np.pi * X), axis=1)[:, None]
    return X + 0.08 * bump * np.cos(np.array([1.0, 3.0, 2.0]) + 4.0 * X[:, [1, 2, 0]])


def block(kind: str, element: sa.elements.Element | None = None, **given: Any) -> sa.Body:
    """Return a cube of cells with curved edges."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell=kind, warp=bent)
    element = element or ELEMENTS[kind]
    return sa.Body(mesh["body"], element, sa.energies.neo_hooke(), **RUBBER, **given)


def arrays(
    kind: str, divisions: tuple[int, int, int], warp: Callable[[Array], Array] | None = None
) -> tuple[Array, Ints, dict[str, Ints]]:
    """Return all points and cells of a unit cube and the facets of its sides, on every rank."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), divisions, cell=kind, warp=warp, comm=MPI.COMM_SELF)
    cells = mesh.cells[kind].connectivity
    return mesh.points, cells, {side: mesh[side].slice()[1] for side in SIDES}


def type_of(kind: str, facets: Ints) -> str:
    """Return the type of facets of cells, by how many nodes they have."""
    cells = sa.elements.CELLS
    return next(t for t in cells[kind].traces if len(cells[t].nodes) == facets.shape[1])


def moved(system: sa.System, by: Array) -> Array:
    """Return the state in which the nodes X are at X by^T."""
    state = np.zeros_like(system.state)
    at = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    state[at[:, None] + np.arange(3)] = system._discrete.points @ (by - np.eye(3)).T
    return state


TURN = np.array([[0.6, -0.8, 0.0], [0.0, 0.0, -1.0], [0.8, 0.6, 0.0]])
STRETCH = np.array([[1.3, 0.2, 0.0], [-0.1, 0.9, 0.3], [0.2, 0.0, 1.1]])


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("kind", ELEMENTS)
def test_affine_and_rigid_states_on_curved_cells(kind: str) -> None:
    """Constant strain is in equilibrium, and a turn has no forces."""
    check_affine(block(kind))


def test_an_element_of_the_pages_on_elements_is_one(repository: Path) -> None:
    names: dict[str, Any] = {}
    for page in ("cells", "elements"):
        text = (repository / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for code in re.findall(r"```python\n(.*?)```", text, re.S):
            exec(code, names)
    assert names["rubber"].pressure.incompressible
    body = block("tetra", names["tet4"])
    check_affine(body)
    base = sa.fix(body["z0"])
    system = sa.System(body, terms=[base, sa.traction(body["x1"], (0.0, 0.1, 0.0))])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(base.reaction(system).force, [0.0, -0.1, 0.0], atol=1e-11)
    assert sample(system, body).cells["tetra"].shape == (48, 4)


def test_a_body_that_locks_says_so_once() -> None:
    def solve() -> None:
        body = block("tetra", name="weak")
        sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"])])).solve()

    with pytest.warns(UserWarning, match="body 'weak': tet4 locks in bending.*Take tet10") as told:
        solve()
    assert len(told) == 1


def check_affine(body: sa.Body) -> None:
    """Check a turn and an affine state on the unit cube."""
    system = sa.System(body)
    turned = moved(system, TURN)
    system._discrete.update(0.0)
    assert np.abs(system._discrete.residual_at(turned)).max() < 1e-13
    assert np.abs(system._discrete.residual_at(1.1 * turned)).max(initial=1.0) > 1e-3
    ends = [
        sa.fix(body[side], displacement=lambda X, t: t * X @ (STRETCH - np.eye(3)).T)
        for side in SIDES
    ]
    system = sa.System(body, terms=ends)
    sa.StaticProblem(system).solve()
    X = body["body"].X
    found = system.displacement(body["body"])
    np.testing.assert_allclose(found, X @ (STRETCH - np.eye(3)).T, atol=1e-11)
    J, I1 = np.linalg.det(STRETCH), np.trace(STRETCH.T @ STRETCH)
    W = 0.5 * (I1 - 3 - 2 * np.log(J)) + 0.75 * np.log(J) ** 2
    energy = system.energies()[body.name]
    assert energy == pytest.approx(W, rel=1e-11)  # the volume stays 1
    places = np.array([[0.21, 0.34, 0.55], [0.5, 0.5, 0.5], [0.83, 0.12, 0.47]])
    np.testing.assert_allclose(system.position(body.at(places)), places @ STRETCH.T, atol=1e-11)
    F = system.gradient(body.at(places))
    np.testing.assert_allclose(F, np.broadcast_to(STRETCH, F.shape), atol=1e-11)


def linear(H: sp.Matrix, *, mu: sp.Expr, lam: sp.Expr) -> sp.Expr:
    """Return the energy of linear elasticity."""
    e = (H + H.T) / 2
    return mu * sum(x**2 for x in e) + lam / 2 * e.trace() ** 2


@pytest.mark.parametrize("kind", ["tetra10", "wedge15"])  # all of them: symancf verify
def test_displacements_are_of_third_order(kind: str) -> None:
    """U = grad(exp(x) cos(y) z) has neither a divergence nor a curl: no force acts inside."""

    def exact(X: Array) -> Array:
        x, y, z = X.T
        e, c, s = np.exp(x), np.cos(y), np.sin(y)
        return 0.1 * np.stack([e * c * z, -e * s * z, e * c], axis=1)

    places = np.random.default_rng(3).uniform(0.02, 0.98, (400, 3))
    errors = []
    for n in (3, 6):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=kind, warp=bent)
        body = sa.Body(mesh["body"], ELEMENTS[kind], linear, **RUBBER)
        ends = [sa.fix(body[side], displacement=lambda X, t: t * exact(X)) for side in SIDES]
        system = sa.System(body, terms=ends)
        sa.StaticProblem(system).solve()
        off = system.displacement(body.at(places)) - exact(places)
        errors.append(np.sqrt((off**2).sum(axis=1).mean()))
    assert errors[1] < 5e-5
    assert np.log2(errors[0] / errors[1]) > 2.8


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("kind", ELEMENTS)
def test_a_pressure_follows_curved_faces(kind: str) -> None:
    """On a closed surface it has no resultant in any state; in a cube the stress is -p."""
    body = block(kind)
    system = sa.System(body, terms=[sa.pressure(body[side], 0.3) for side in SIDES])
    state = system.state + 0.05 * system._discrete.numbering.random(5)
    alone = sa.System(body)
    for each in (system, alone):
        each._discrete.update(0.0)
    force = system._discrete.residual_at(state) - alone._discrete.residual_at(state)
    at = system._discrete.numbering.offset[: system._discrete.numbering.owned_vertices, 0][
        :, None
    ] + np.arange(3)
    f = force[at]
    x = system._discrete.points[: len(f)] + state[at]
    total = system._discrete.sum(
        np.array([*f.sum(axis=0), *np.cross(x, f).sum(axis=0), np.abs(f).sum()])
    )
    assert total[6] > 0.3
    assert np.abs(total[:6]).max() < 1e-13 * total[6]
    p = 0.4
    slides = [sa.fix(body[f"{a}0"], a) for a in "xyz"]
    system = sa.System(body, terms=[*slides, *(sa.pressure(body[f"{a}1"], p) for a in "xyz")])
    sa.StaticProblem(system).solve()
    s = float(sp.nsolve(sp.sympify("(s**2 - 1 + 1.5*log(s**3))/s**3 + 0.4"), 0.9))
    X = body["body"].X
    np.testing.assert_allclose(system.displacement(body["body"]), (s - 1.0) * X, atol=1e-9)


@pytest.mark.collective
@pytest.mark.parametrize("kind", KINDS[:3])  # in wedges: test_mixed_cells
def test_a_hole_with_lids_has_the_volume_of_the_cells_that_it_takes(kind: str) -> None:
    """A column of cells is left out; what it had is what the gas and its two lids enclose."""

    def swayed(X: Array) -> Array:
        bump = np.sin(np.pi * X[:, 0]) * np.sin(np.pi * X[:, 1])
        return X + 0.05 * np.stack([bump * X[:, 2], bump, 0.0 * bump], axis=1)

    points, cells, sides = arrays(kind, (3, 3, 1))
    row = sa.elements.CELLS[kind]
    (trace,) = row.traces
    middle = np.abs(points[cells].mean(axis=1)[:, :2] - 0.5).max(axis=1) < 0.2
    kept, gone = (
        c[:, row.sides(trace)].reshape(-1, len(row.sides(trace)[0]))
        for c in (cells[~middle], cells[middle])
    )
    hole = kept[np.isin(side_keys(trace, kept), side_keys(trace, gone))]
    base = sides["z0"][~np.isin(sides["z0"], cells[middle]).all(axis=1)]
    points = swayed(points)
    taken = sa.Mesh.from_arrays(points, {kind: cells[middle]}).quality()[kind].size
    regions = {"hole": (trace, hole), "base": (trace, base)}
    mesh = sa.Mesh.from_arrays(points, {kind: cells[~middle]}, regions)
    body = sa.Body(mesh["all"], ELEMENTS[kind], sa.energies.neo_hooke(), **RUBBER)
    gas = sa.Cavity([body["hole"]], caps="flat", gas=sa.Gas(amount=1.3, ambient=0.5))
    system = sa.System(body, terms=[sa.fix(body["base"]), gas])
    assert gas.watertight
    assert gas.reference_volume == pytest.approx(taken, rel=1e-12)
    sa.StaticProblem(system).solve()
    volume = gas.volume(system)
    assert volume > 1.04 * taken
    assert (0.5 + gas.pressure(system)) * volume == pytest.approx(1.3 * 0.5 * taken, rel=1e-9)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("kind", KINDS)
def test_loads_act_on_faces_and_inside(kind: str) -> None:
    body = block(kind, rho=2.0)
    base = sa.fix(body["z0"])
    loads = [
        sa.gravity((0.0, 0.0, -0.01)),
        sa.traction(body["x1"], (0.0, 0.03, 0.0)),
        sa.force(body["z1"], (0.02, 0.0, 0.0)),
        sa.force(body.at((1.0, 1.0, 0.75)), (0.0, 0.0, 0.005)),
    ]
    system = sa.System(body, terms=[base, *loads])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(base.reaction(system).force, [-0.02, -0.03, 0.015], atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_of_curved_edges_is_that_of_parabolas(kind: str) -> None:
    def curved(X: Array) -> Array:
        z = X[:, 2]
        return X + 0.2 * np.stack([0.0 * z, z * (1.0 - z), 0.0 * z], axis=1)

    points, cells, sides = arrays(kind, (1, 1, 2), curved)
    edges = cells[:, sa.elements.CELLS[kind].sides("line3")].reshape(-1, 3)
    edges = edges[(points[edges, 0] < 1e-9).all(axis=1) & (points[edges, 1] < 0.11).all(axis=1)]
    edges = edges[np.unique(edges[:, 2], return_index=True)[1]]
    regions = {"edge": ("line3", edges), "z0": (type_of(kind, sides["z0"]), sides["z0"])}
    mesh = sa.Mesh.from_arrays(points, {kind: cells}, regions)
    body = sa.Body(mesh["all"], ELEMENTS[kind], sa.energies.neo_hooke(), **RUBBER)
    kept = sa.length(body["edge"], per="line")
    system = sa.System(body, terms=[sa.fix(body["z0"]), kept])
    s = np.sqrt(1.0 + 0.2**2)
    exact = (0.2 * s + np.arcsinh(0.2)) / 0.4
    assert kept.lengths(system) == pytest.approx([exact], rel=1e-9)
    with refused(sa.MeshError, asked="z0", possible=("line3",)):
        sa.length(body["z0"])


# Of Gmsh's manual, "Node ordering": number of the type, corners of edges, of faces, of the volume.
GMSH = {
    "tetra10": (11, "01 12 20 03 23 13"),
    "hexahedron20": (17, "01 03 04 12 15 23 26 37 45 47 56 67"),
    "hexahedron27": (
        12,
        "01 03 04 12 15 23 26 37 45 47 56 67 0321 0154 0473 1265 2376 4567 01234567",
    ),
    "wedge15": (18, "01 02 03 12 14 25 34 35 45"),
    "wedge18": (13, "01 02 03 12 14 25 34 35 45 0143 0253 1254"),
    "triangle6": (9, "01 12 20"),
    "quad8": (16, "01 12 23 30"),
    "quad9": (10, "01 12 23 30 0123"),
}


def write_gmsh(path: Path, points: Array, cells: dict[str, Ints]) -> None:
    """Write version 2.2, with the cells of the first type in "block", of the second in "base"."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "2"]
    lines += ['3 1 "block"', '2 2 "base"', "$EndPhysicalNames", "$Nodes", str(len(points))]
    lines += [f"{k} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate(points.tolist(), 1)]
    lines += ["$EndNodes", "$Elements", str(sum(map(len, cells.values())))]
    number = 0
    for tag, (kind, rows) in enumerate(cells.items(), 1):
        code, between = GMSH[kind]
        unit = sa.elements.CELLS[kind].unit
        at = [*range(sa.elements.CELLS[kind].corners)]
        for word in between.split():
            middle = unit[[int(c) for c in word]].mean(axis=0)
            at.append(int(np.abs(unit - middle).sum(axis=1).argmin()))
        assert sorted(at) == [*range(len(unit))]
        for row in rows[:, at]:
            number += 1
            lines.append(f"{number} {code} 2 {tag} {tag} {' '.join(str(v + 1) for v in row)}")
    path.write_text("\n".join([*lines, "$EndElements", ""]))


def test_files_hold_cells_of_second_order(tmp_path: Path) -> None:
    """Gmsh's, Abaqus' and VTK's files are read; written are curved cells with their nodes."""
    for kind in KINDS:
        points, cells, sides = arrays(kind, (1, 1, 2), bent)
        trace = type_of(kind, sides["z0"])
        path = tmp_path / f"{kind}.msh"
        write_gmsh(path, points, {kind: cells, trace: sides["z0"]})
        mesh = sa.Mesh.read(path)
        assert mesh["block"].sizes == {kind: len(cells)}
        assert mesh["base"].sizes == {trace: len(sides["z0"])}
        assert mesh.quality()[kind].size == pytest.approx(1.0, rel=1e-12)
        body = sa.Body(mesh["block"], ELEMENTS[kind], sa.energies.neo_hooke(), **RUBBER)
        system = sa.System(body, terms=[sa.fix(body["base"])])
        system.state += 0.02 * system._discrete.numbering.random(2)
        own, samples = system._discrete.binding(body).interpolation.ids, sample(system, body)
        with pieces(tmp_path / "out.vtu") as add:
            add(samples)
        again, other = read_vtu(tmp_path / "out.vtu"), meshio.read(tmp_path / "out.vtu")
        for found in (again.cells[kind], other.cells_dict[kind]):
            x = np.asarray(again.points)[found] - again.point_data["displacement"][found]
            np.testing.assert_allclose(x, points[cells[own]], atol=1e-12)
        drawn = surface_of(samples, "von_mises")
        assert drawn.solid
        assert drawn.values is not None
        used = np.unique(drawn.faces)  # with the nodes on edges: curved
        outside = np.unique(np.concatenate([f.ravel() for f in sides.values()]))
        assert len(used) == len(outside)
        abaqus = tmp_path / f"{kind}.inp"
        name = {"hexahedron20": "C3D20", "tetra10": "C3D10", "wedge15": "C3D15"}.get(kind)
        if name is None:
            continue
        rows = [f"{k + 1}, {', '.join(map(repr, map(float, x)))}" for k, x in enumerate(points)]
        lists = [f"{k + 1}, {', '.join(str(v + 1) for v in c)}" for k, c in enumerate(cells)]
        lists = [line.replace(", ", ",") for line in lists]
        text = ["*NODE", *rows, f"*ELEMENT, TYPE={name}, ELSET=block", *lists]
        abaqus.write_text("\n".join(text) + "\n")
        found = sa.Mesh.read(abaqus)
        assert found.quality()[kind].size == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("kind", "seed"), [("hexahedron20", 185), ("wedge15", 82)])
def test_a_cell_that_turns_over_between_its_nodes_is_told(kind: str, seed: int) -> None:
    """Found by trial: the Jacobians at all nodes are positive, one at a point of quadrature not."""
    unit = sa.elements.CELLS[kind].unit
    points = unit + np.random.default_rng(seed).uniform(-0.3, 0.3, unit.shape)
    cells = {kind: np.arange(len(points))[None]}
    with refused(sa.MeshError, asked="Jacobian", cells=(0,)) as caught:
        sa.Mesh.from_arrays(points, cells)
    assert "inside" in str(caught.value)  # at no node
    shape = sa.Mesh.from_arrays(points, cells, check=False).quality()[kind]
    assert shape.jacobian < -0.05
    assert np.abs(np.array(shape.place) - unit.mean(axis=0)).max() < 0.6


def lean_over(X: Array) -> Array:
    """Move points so that lines along z run nearly along x."""
    return X @ np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.04]])


@pytest.mark.filterwarnings("ignore:.*inside of an edge")
def test_poor_cells_are_told_with_remedies() -> None:
    kinds = ("hexahedron", "tetra", "tetra10", "wedge", "wedge15", "hexahedron20", "hexahedron27")
    for kind in kinds:
        good = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell=kind).quality()
        assert not good.remedies
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 3), cell=kind, warp=lean_over)
        lean = mesh.quality()
        told = [text for text in lean.remedies if text.startswith(f"{kind} ")]
        assert f"{lean[kind].worst} is nearly flat at" in told[0]
        assert ("Mesh.Optimize = 1" in told[0]) == (kind.startswith(("tetra", "wedge")))
        assert 0 <= lean[kind].worst < 12 * 6
        assert told[0] in str(lean)


@pytest.mark.parametrize("kind", KINDS)
def test_faults_of_cells_of_second_order_are_told(kind: str) -> None:
    points, cells, sides = arrays(kind, (1, 1, 1))
    trace = type_of(kind, sides["x0"])
    corners = sa.elements.CELLS[kind].corners
    far = points.copy()
    far[cells[0, corners]] += 0.4 * (points[cells[0, 1]] - points[cells[0, 0]])
    with refused(sa.MeshError, asked="Jacobian", cells=(0,)):
        sa.Mesh.from_arrays(far, {kind: cells[:1]})
    swapped = cells.copy()
    swapped[:, [0, 1]] = swapped[:, [1, 0]]
    with refused(sa.MeshError, asked="Jacobian"):
        sa.Mesh.from_arrays(points, {kind: swapped})
    straight = sa.elements.CELLS[kind].straight.name
    with pytest.warns(UserWarning, match=r"inside of an edge of cells that do not use it"):
        sa.Mesh.from_arrays(points, {kind: cells, straight: cells[:, :corners]})
    mesh = sa.Mesh.from_arrays(points, {kind: cells, trace: sides["x0"]})
    if kind == "hexahedron20":
        with refused(sa.MeshError, asked="all", given=(kind,), possible=("hexahedron",)):
            mesh["all"].require("hexahedron", use="hex8_plain")
    given = sa.Mesh.from_arrays(points, {kind: cells}, {"x0": (trace, sides["x0"])})
    wall = sa.Body(given["all"], ELEMENTS[kind], sa.energies.neo_hooke(), **RUBBER)["x0"]
    brick = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    other = sa.Body(brick["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **RUBBER)["x0"]
    with refused(sa.ParameterError, asked="walls", given=(trace, "quad")):
        sa.Cavity([wall, other])
    turned = np.roll(sides["x0"], 1, axis=1)  # corners and nodes between them are mixed up
    wrong = sa.Mesh.from_arrays(points, {kind: cells}, {"x0": (trace, turned)}, check=False)
    solid = sa.Body(wrong["all"], ELEMENTS[kind], sa.energies.neo_hooke(), **RUBBER)
    with refused(sa.MeshError, asked="facet"):
        sa.System(solid, terms=[sa.traction(solid["x0"], (1.0, 0.0, 0.0))])

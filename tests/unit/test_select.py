# SPDX-License-Identifier: BSD-3-Clause
"""Regions named in the script: what they hold on any number of ranks, and what acts on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.cells import CELLS
from symancf.errors import MeshError, ParameterError
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective

LENGTHS = (2.0, 1.0, 0.5)
BOXES = ["quad", "triangle6", "hexahedron27", "tetra10", "wedge15"]


def bare(cell: str, divisions: tuple[int, ...], warp: Any = None, comm: MPI.Comm = COMM) -> Mesh:
    """A box without cells of its sides: those have to be made."""
    whole = Mesh.box(LENGTHS[: len(divisions)], divisions, cell=cell, warp=warp, comm=MPI.COMM_SELF)
    return Mesh.from_arrays(whole.points, {cell: whole.cells[cell].connectivity}, comm=comm)


def rows(mesh: Mesh, name: str) -> dict[str, np.ndarray]:
    """Connectivity of a region by type, in the order of ids, on every rank."""
    found = {}
    for kind in mesh[name].types:
        ids, cells = (np.concatenate(mesh.comm.allgather(a)) for a in mesh[name].slice(kind))
        assert len(np.unique(ids)) == len(ids) == mesh[name].sizes[kind]
        found[kind] = cells[np.argsort(ids)]
    return found


def flux(mesh: Mesh, name: str) -> float:
    """Integral of X . n over surfaces of plane or curved cells, by their own functions."""
    total = 0.0
    for kind, cells in rows(mesh, name).items():
        cell, x = CELLS[kind], mesh.fetch_points(rows(mesh, name)[kind])
        x0, w0 = np.polynomial.legendre.leggauss(4)
        a, b = (g.ravel() for g in np.meshgrid((x0 + 1) / 2, (x0 + 1) / 2))
        w = np.outer(w0, w0).ravel() / 4
        if cell.factors == (2,):
            b, w = b * (1 - a), w * (1 - a)
        value, slope = cell.evaluate(np.stack([a, b], axis=1))
        X, t = np.einsum("pv,kva->kpa", value, x), np.einsum("pvd,kva->dkpa", slope, x)
        total += float(np.einsum("kpa,kpa,p->", X, np.cross(t[0], t[1]), w))
        assert len(cells) == mesh[name].sizes[kind]
    return total


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("cell", BOXES)
def test_sides_of_all_cell_types(cell: str) -> None:
    divisions = (3, 2, 2)[: CELLS[cell].dimension]
    box = Mesh.box(LENGTHS[: len(divisions)], divisions, cell=cell, comm=COMM)
    before = {region.name: rows(box, region.name) for region in box}
    cells = {kind: held.size for kind, held in box.cells.items()}
    new = bare(cell, divisions)
    for a in range(len(divisions)):
        for end in (0, 1) if a == 0 else (1,):
            at = end * LENGTHS[a]

            def there(X: np.ndarray, a: int = a, at: float = at) -> np.ndarray:
                return np.abs(X[:, a] - at) < 1e-9

            name = f"{'xyz'[a]}{end}"
            same = box.select(f"chosen {name}", there)  # the cells that the box has there
            assert rows(box, same.name).keys() == before[name].keys()
            for kind, found in rows(box, same.name).items():
                np.testing.assert_array_equal(found, before[name][kind])
            fresh, normal = new.select(name, there), np.eye(3)[a] * (2 * end - 1)
            assert fresh.sizes == box[name].sizes
            assert (
                new.select(f"{name} by normal", normal=normal, angle_deg=1.0).sizes == fresh.sizes
            )
    assert {kind: held.size for kind, held in box.cells.items()} == cells
    for name, held in before.items():  # the regions that there were are as they were
        for kind, found in rows(box, name).items():
            np.testing.assert_array_equal(found, held[kind])
    new.check()


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("cell", [c.name for c in CELLS.values() if c.dimension == 3])
def test_outer_facets_close_the_volume(cell: str) -> None:
    """The flux of X through them is three times the volume: each is there, turned outwards."""
    mesh = bare(cell, (2, 2, 1), lambda X: X * (1.0 + 0.2 * X[:, [1, 2, 0]]))
    mesh.select("skin", lambda X: X[:, 0] > -1.0)
    assert flux(mesh, "skin") / 3.0 == pytest.approx(mesh.quality()[cell].size, rel=1e-12)


def test_numbers_do_not_depend_on_ranks() -> None:
    """New cells have the same numbers and corners on any number of ranks."""
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        mesh = bare("wedge15", (4, 3, 2), comm=comm)
        mesh.select("right", normal=(1, 0, 0))
        mesh.select("top", near=(0.3, 0.2, 0.5))
        mesh.select("skin", lambda X: True)
        mesh.select("rim", within="top", dimension=1)
        found.append({r.name: rows(mesh, r.name) for r in mesh})
    for name, held in found[0].items():
        assert held.keys() == found[1][name].keys()
        for kind, cells in held.items():
            np.testing.assert_array_equal(cells, found[1][name][kind])
    assert [len(c) for c in found[0]["skin"].values()] == [48, 28]


def test_cells_of_two_types_and_between_parts() -> None:
    """A wall between a hexahedron and two prisms belongs to either part, not to the outside."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]])
    points = np.concatenate([x, x + np.array([0, 0, 1])])
    cells = {
        "hexahedron": [[0, 1, 2, 3, 6, 7, 8, 9]],
        "wedge": [[1, 4, 2, 7, 10, 8], [4, 5, 2, 10, 11, 8]],
    }
    regions = {"block": ("hexahedron", [0]), "prisms": ("wedge", [0, 1])}
    mesh = Mesh.from_arrays(points, cells, regions, comm=COMM)
    assert mesh.select("top", normal=(0, 0, 1)).sizes == {"quad": 1, "triangle": 2}
    assert mesh.select("skin", lambda X: X[:, 0] > -1).sizes == {"quad": 8, "triangle": 4}
    assert flux(mesh, "skin") / 3.0 == pytest.approx(2.0)
    wall = mesh.select("wall", lambda X: X[:, 0] == 1.0, within="prisms")
    assert wall.sizes == {"quad": 1}
    assert mesh.select("all facets", within="all", dimension=2, outer=False).size == 14
    assert (mesh["all facets"] - mesh["skin"]).sizes == {"quad": 2}
    assert mesh.select("corner", near=(2, 1, 1.2), dimension=0).sizes == {"vertex": 1}
    assert mesh.select("rim", within="top", dimension=1).sizes == {"line": 6}


def coarse_tube(cell: str) -> Mesh:
    """A quarter of a tube, 2 cells around: 45 degrees each."""

    def roll(X: np.ndarray) -> np.ndarray:
        angle = (1.0 - X[:, 1]) * np.pi / 2.0
        radius = 1.0 + X[:, 2]
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), X[:, 0]], axis=1)

    return bare(cell, (3, 2, 1), roll)


def test_patches_end_at_sharp_edges_only() -> None:
    """Cells of second order turn by little where they meet, straight ones by 45 degrees."""
    curved, straight = coarse_tube("hexahedron20"), coarse_tube("hexahedron")
    out = tuple(1.5 * np.array([np.cos(0.4), np.sin(0.4), 0.6]))
    assert curved.select("outside", near=out).sizes == {"quad8": 6}
    assert curved.select("inside", near=(np.sqrt(0.5), np.sqrt(0.5), 1.0)).sizes == {"quad8": 6}
    assert curved.select("end", near=(1.2, 0.1, 2.0)).sizes == {"quad8": 2}
    assert curved.select("hoop", near=(np.cos(0.4), np.sin(0.4), 2.0), dimension=1).sizes == {
        "line3": 2
    }
    assert straight.select("strip", near=out).sizes == {"quad": 3}
    assert straight.select("outside", near=out, angle_deg=46.0).sizes == {"quad": 6}
    far = straight.select("far", lambda X: X[:, 2] > 1.2, within="outside", dimension=2)
    assert far.sizes == {"quad": 2}
    assert straight.select("ahead", normal=(1, 0, 0), within="outside").sizes == {"quad": 3}


def test_sheets_and_lines() -> None:
    sheet = Mesh.box(LENGTHS[:2], (4, 3), comm=COMM)
    assert sheet.select("rim", within="body", dimension=1).sizes == {"line": 14}
    assert sheet.select("right", normal=(1, 0, 0)).sizes == {"line": 3}
    assert sheet.select("left", near=(0.0, 0.4, 0.0)).sizes == {"line": 3}
    assert sheet.select("half", lambda X: X[:, 0] <= 1.0, dimension=2).sizes == {"quad": 6}
    middle = sheet.select("middle", lambda X: X[:, 0] == 1.0, dimension=1, outer=False)
    assert middle.sizes == {"line": 3}
    line = Mesh.box((1.0,), (4,), comm=COMM)
    assert line.select("middle", lambda X: X[:, 0] == 0.5).sizes == {"vertex": 1}
    assert rows(line, "middle")["vertex"].tolist() == [[2]]


def test_normals_of_walls_count_in_either_sense() -> None:
    """Those of outer facets point outwards, however a file numbers them."""
    box = Mesh.box(LENGTHS, (2, 2, 1), comm=MPI.COMM_SELF)
    cells = box.cells["hexahedron"].connectivity
    wall = np.array([[1, 4, 13, 10], [4, 13, 16, 7]])  # one this way, one that way
    wall[1] = [7, 16, 13, 4]
    end = [[0, 3, 12, 9], [3, 12, 15, 6]]
    end[1] = [6, 15, 12, 3]
    regions = {"wall": ("quad", wall), "end": ("quad", end)}
    mesh = Mesh.from_arrays(box.points, {"hexahedron": cells}, regions, comm=COMM)
    assert mesh.select("across", normal=(1, 0, 0), within="wall").size == 2
    assert mesh.select("back", normal=(-1, 0, 0), within="end").size == 2
    with refused(MeshError, asked="normal", given=2):
        mesh.select("ahead", normal=(1, 0, 0), within="end")
    ahead = mesh.select("ahead", normal=(1, 0, 0), outer=False)
    assert ahead.size == 4  # those of the wall and at x = 2, not at x = 0
    assert mesh.select("left", lambda X: X[:, 0] <= 1.0, dimension=3).size == 2
    assert mesh.select("out of the left", normal=(1, 0, 0), within="left", dimension=2).size == 2
    sheet = Mesh.box((2.0, 1.0), (2, 2), comm=COMM)
    assert sheet.select("ahead", normal=(1, 0, 0), outer=False).size == 4


def test_regions_combine() -> None:
    mesh = Mesh.box(LENGTHS, (3, 2, 2), comm=COMM)
    ends = mesh["x0"] | mesh["x1"]
    assert (ends.name, ends.sizes, ends.dim) == ("x0 | x1", {"quad": 8}, 2)
    rest = (ends | mesh["z1"]) - mesh["x1"]
    assert rest.sizes == {"quad": 10}
    assert rest.measure() == pytest.approx(2.5)
    assert mesh["body"].measure() == pytest.approx(1.0)
    assert (rest & mesh["z1"]).sizes == {"quad": 6}
    low = mesh.select("low", lambda X: X[:, 2] < 0.3, within=rest)
    assert low.sizes == {"quad": 2}
    assert len(np.concatenate(COMM.allgather(ends.points()))) == 18
    assert (mesh["body"] & mesh["all"]).sizes == {"hexahedron": 12}
    with refused(MeshError, asked="x0 & x1", given=None):
        mesh["x0"] & mesh["x1"]
    other = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=COMM)["x0"]
    with refused(MeshError, asked="x0 | x0", given=repr(other)):
        mesh["x0"] | other
    with refused(MeshError, asked="region", given="x0"):
        Mesh.box((1.0,), (1,), name="other", comm=COMM)[mesh["x0"]]
    with refused(MeshError, asked="x0", given="x1", possible=tuple(mesh.regions)):
        mesh["x0"] | "x1"  # type: ignore[operator]


def test_is_written_and_read(shared_tmp_path: Path) -> None:
    mesh = bare("tetra10", (3, 2, 2))
    mesh.select("left", lambda X: X[:, 0] == 0.0)
    mesh.select("top", near=(0.3, 0.3, 0.5))
    mesh.write(shared_tmp_path / "m.h5")
    again = Mesh.read(shared_tmp_path / "m.h5", comm=COMM)
    for name in ("left", "top", "all"):
        for kind, found in rows(again, name).items():
            np.testing.assert_array_equal(found, rows(mesh, name)[kind])
    assert (again["left"] | again["top"]).measure() == pytest.approx(2.5)


def fails_on_last_rank(X: np.ndarray) -> np.ndarray:
    assert COMM.rank < COMM.size - 1, "here"
    return X[:, 0] < 0.1


CONDITION = {"asked": "where", "possible": (("(n,)", "bool"),)}


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    ("error", "data", "given"),
    [
        (MeshError, {"asked": "name", "given": "x0"}, {"name": "x0"}),
        (MeshError, {"asked": "where", "given": 32}, {"where": -1.0}),
        (MeshError, {"asked": "normal", "given": 32}, {"normal": (1, 1, 0)}),
        (
            MeshError,
            {"asked": "near", "given": (1, 1, 7), "possible": ((0, 0, 0), (2, 1, 0.5))},
            {"near": (1, 1, 7)},
        ),
        (
            MeshError,
            {"asked": "near", "given": (0.1, 0, 0), "possible": ()},
            {"near": (0.1, 0, 0)},
        ),
        (
            MeshError,
            {"asked": "near", "given": (0.1, 0.25, 0), "possible": ()},
            {"near": (0.1, 0.25, 0), "dimension": 0},
        ),
        (MeshError, {"asked": "x7", "possible": lambda p: "x1" in p}, {"within": "x7"}),
        (
            MeshError,
            {"asked": "dimension", "given": 3, "possible": (0, 1, 2)},
            {"within": "x0", "dimension": 3},
        ),
        (
            MeshError,
            {"asked": "normal", "given": "cells"},
            {"normal": (1, 0, 0), "dimension": 3},
        ),
        (
            ParameterError,
            {"asked": "where", "possible": ("where", "normal", "near", "labels", "within")},
            {},
        ),
        (ParameterError, {**CONDITION, "given": ("(3,)", "bool")}, {"where": lambda X: X[0] < 1}),
        (ParameterError, {**CONDITION, "given": ("(n,)", "float64")}, {"where": lambda X: X[:, 0]}),
        (ParameterError, {**CONDITION, "given": ("()", "bool")}, {"where": lambda X: X[0, 0] < 1}),
        (
            ParameterError,
            {"asked": "where", "given": "a function", "possible": ()},
            {"where": lambda X: X[:, 0] > X[:, 0].mean()},
        ),
        (
            ParameterError,
            {"asked": "where", "given": lambda error: error.startswith("AssertionError('here")},
            {"where": fails_on_last_rank},
        ),
        (ParameterError, {"asked": "where", "given": "left"}, {"where": "left"}),
        (ParameterError, {"asked": "near", "given": (1.0, 2.0)}, {"near": (1.0, 2.0)}),
        (ParameterError, {"asked": "normal", "given": (0, 0, 0)}, {"normal": (0, 0, 0)}),
        (
            ParameterError,
            {"asked": "angle_deg", "given": -3.0},
            {"near": (0, 0, 0), "angle_deg": -3.0},
        ),
        (
            ParameterError,
            {"asked": "dimension", "given": 4, "possible": (0, 1, 2, 3)},
            {"near": (0, 0, 0), "dimension": 4},
        ),
    ],
)
def test_errors_on_all_ranks(
    error: type[Exception], data: dict[str, Any], given: dict[str, Any]
) -> None:
    mesh = Mesh.box(LENGTHS, (3, 2, 2), comm=COMM)
    before = {kind: cells.size for kind, cells in mesh.cells.items()}
    if given.get("where") == -1.0:
        given = {"where": lambda X: X[:, 0] < -1.0}
    name = given.get("name", "new")
    asked = {"angle_deg": 5.0} | {k: v for k, v in given.items() if k != "name"}
    with refused(error, **data):
        mesh.select(name, **asked)
    assert {kind: cells.size for kind, cells in mesh.cells.items()} == before
    assert "new" not in mesh


def solved(mesh: Mesh, left: Any, right: Any, top: Any) -> np.ndarray:
    body = sa.Body(mesh["all"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    pull = sa.traction(body[right], (0.1, 0.0, 0.02))
    system = sa.System(body, terms=[sa.fix(body[left]), pull, sa.pressure(body[top], 0.05)])
    sa.StaticProblem(system).solve()
    return system.displacement(body.at(np.array([[2.0, 1.0, 0.5], [1.0, 0.5, 0.25]])))


def test_supports_and_loads_act_on_it() -> None:
    mesh, box = bare("hexahedron", (3, 2, 2)), Mesh.box(LENGTHS, (3, 2, 2), comm=COMM)
    mesh.select("left", lambda X: X[:, 0] == 0.0)
    mesh.select("right", normal=(1, 0, 0))
    mesh.select("top", near=(0.3, 0.3, 0.5))
    expected = solved(box, "x0", "x1", "z1")
    assert np.abs(expected).max() > 0.05
    np.testing.assert_allclose(solved(mesh, "left", "right", "top"), expected, atol=1e-12)
    ends = mesh["left"] | mesh["right"]
    body = sa.Body(mesh["all"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    assert body[ends].X.shape == (18, 3)


def test_conditions_may_ask_for_bounds_where_ranks_have_no_points() -> None:
    line = sa.Mesh.box((2.0,), (1,))
    chosen = line.select("end", lambda X: X[:, 0] == line.bounds()[1][0], dimension=0)
    assert chosen.sizes == {"vertex": 1}

# SPDX-License-Identifier: BSD-3-Clause
"""Every cell and point of every named group of a file arrives, or an error says which does not."""

from __future__ import annotations

import struct
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.cells import CELLS
from symancf.errors import MeshError
from symancf.mesh import Mesh
from tests.refusals import refused
from tests.unit.test_mesh import all_cells, all_points
from tests.unit.test_mesh_errors import message_of

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective

MSH2 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
2 1 "plate"
1 2 "held"
{third}
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 2 0 0
4 0 1 0
5 1 1 0
6 2 1 0
$EndNodes
$Elements
{count}
1 1 2 2 2 1 4
{more}
4 3 2 1 1 1 2 5 4
5 3 2 1 1 2 3 6 5
$EndElements
"""

NODES = "*NODE\n1, 0,0,0\n2, 1,0,0\n3, 2,0,0\n4, 0,1,0\n5, 1,1,0\n6, 2,1,0\n"
SHELLS = "*ELEMENT, TYPE=S4R, ELSET=E1\n1,1,2,5,4\n*ELEMENT, TYPE=S4, ELSET=e1\n2,2,3,6,5\n"


def read(path: Path, text: str | bytes) -> Mesh:
    if COMM.rank == 0:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    COMM.barrier()
    return Mesh.read(path)


def msh2(third: str, *more: str) -> str:
    return MSH2.format(third=third, more="\n".join(more), count=3 + len(more))


@pytest.mark.collective(rows=0)
def test_one_name_in_two_groups_is_one_region(shared_tmp_path: Path) -> None:
    path = shared_tmp_path / "two.msh"
    mesh = read(path, msh2('0 3 "held"', "2 15 2 3 3 3"))
    assert mesh["held"].sizes == {"line": 1, "vertex": 1}
    np.testing.assert_array_equal(all_points(mesh, "held"), [0, 2, 3])
    text = message_of(lambda: mesh["held"].require("quad"))
    assert "1 cells of type 'line' and 1 cells of type 'vertex'" in text
    assert "one name for groups of two dimensions" in text
    mesh = read(path, msh2('1 3 "held"', "2 1 2 3 3 3 6"))
    assert mesh["held"].sizes == {"line": 2}
    mesh = read(path, msh2('1 2 "again"', "2 15 2 3 3 3"))  # one group of two names
    assert mesh["held"].sizes == mesh["again"].sizes == {"line": 1}
    assert mesh["point 3"].sizes == {"vertex": 1}


def msh4(binary: bool) -> bytes:
    """A plate whose surface is in three groups, one without a name, and two names for an edge."""
    out = [f"$MeshFormat\n4.1 {int(binary)} 8\n".encode()]

    def add(kinds: str, *values: float) -> None:
        out.append(
            struct.pack("<" + kinds, *values) if binary else b" ".join(b"%g" % v for v in values)
        )
        out.append(b"" if binary else b"\n")

    out.append((struct.pack("<i", 1) + b"\n" if binary else b"") + b"$EndMeshFormat\n")
    out.append(b'$PhysicalNames\n4\n1 2 "edge"\n1 5 "my edge"\n2 1 "plate"\n2 4 "edge"\n')
    out.append(b"$EndPhysicalNames\n$Entities\n")
    add("4Q", 0, 1, 1, 0)
    add("i6dQ2iQ", 1, *[0.0] * 6, 2, 2, 5, 0)
    add("i6dQ3iQi", 1, *[0.0] * 6, 3, 1, 4, 9, 1, -1)
    out.append(b"\n$EndEntities\n$Nodes\n")
    add("4Q3iQ", 1, 4, 1, 4, 2, 1, 0, 4)
    add("4Q", 1, 2, 3, 4)
    add("12d", 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0)
    out.append(b"\n$EndNodes\n$Elements\n")
    add("4Q3iQ3Q", 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 2)
    add("3iQ5Q", 2, 1, 3, 1, 2, 1, 2, 3, 4)
    out.append(b"\n$EndElements\n")
    return b"".join(out)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("binary", [False, True])
def test_an_entity_in_several_groups_of_msh4(shared_tmp_path: Path, binary: bool) -> None:
    mesh = read(shared_tmp_path / "plate.msh", msh4(binary))
    assert {r.name: r.sizes for r in mesh if r.name != "all"} == {
        "edge": {"line": 1, "quad": 1},
        "my edge": {"line": 1},
        "plate": {"quad": 1},
        "surface 9": {"quad": 1},
    }


@pytest.mark.collective(rows=0)
def test_abaqus_sets_append_and_name_each_other(shared_tmp_path: Path) -> None:
    text = (
        "*HEADING\nplate, 1\n*NSET, NSET=later\n ROOT, 6\n" + NODES + SHELLS + "** comment\n"
        "*NSET,NSET=root\n1\n*Nset , nset=ROOT\n4,\n*NSET, NSET=gen, GENERATE\n1, 5, 2\n"
        "*ELSET, ELSET=both\n E1\n*ELSET, ELSET=both, GENERATE\n1, 2\n*ELSET,\nELSET=one\n2\n"
        "*NSET, NSET=of, ELSET=one\n*NSET, NSET=gen\n 2\n*STEP\n*BOUNDARY\nroot, 1, 6\n"
    )
    mesh = read(shared_tmp_path / "plate.inp", text)
    assert mesh["both"].sizes == mesh["E1"].sizes == {"quad": 2}
    np.testing.assert_array_equal(all_cells(mesh, "one"), [[1, 2, 5, 4]])
    for name, points in {
        "root": [0, 3],
        "later": [0, 3, 5],
        "gen": [0, 1, 2, 4],
        "of": [1, 2, 4, 5],
    }.items():
        np.testing.assert_array_equal(all_points(mesh, name), points, err_msg=name)


def test_abaqus_parts_and_other_files(shared_tmp_path: Path) -> None:
    part = "*PART, NAME=a\n{}*END PART\n*INSTANCE, NAME=a-1, PART=a\n*END INSTANCE\n"
    if COMM.rank == 0:
        (shared_tmp_path / "nodes.txt").write_text(NODES.partition("\n")[2])
    text = part.format("*NODE, NSET=every, INPUT=nodes.txt\n" + SHELLS)
    mesh = read(shared_tmp_path / "a.inp", text + "*NSET, NSET=root, INSTANCE=a-1\n1, a-1.4\n")
    np.testing.assert_array_equal(all_points(mesh, "root"), [0, 3])
    assert mesh["every"].size == mesh.n_points == 6


@pytest.mark.parametrize(
    ("more", "line", "asked", "given"),
    [
        ("*NSET, NSET=a\n99\n", 13, "node", 99),
        ("*ELSET, ELSET=a\n7\n", 13, "element", 7),
        ("*ELSET, ELSET=a\nb\n", 13, "ELSET", "b"),
        ("*NSET, NSET=a, ELSET=b\n", 12, "ELSET", "b"),
        ("*NSET, NSET=a\nb\n*NSET, NSET=b\nA\n", 15, "NSET", "A"),
        ("*NSET, NSET=a\n1.5\n", 13, "NSET", "1.5"),
        ("*NSET, NSET=a\n\n1,\n-1\n", 15, "label", "-1"),
        ("*NSET\n1\n", 12, "NSET", ""),
        ("*NODE\n3, 5., 5., 5.\n", 13, "node", 3),
        ("*NODE\n9, 5., x, 5.\n", 13, "number", "x"),
        ("*NODE\n9, 1_0., 5., 5.\n", 13, "number", "1_0."),
        ("*NODE\n9., 5., 5., 5.\n", 13, "label", "9."),
        ("*NODE\n0, 5., 5., 5.\n", 13, "label", 0),
        ("*NODE\n99999999999999999999, 5., 5., 5.\n", 13, "label", "99999999999999999999"),
        ("*ELEMENT, TYPE=S4\n1, 2,3,6,5\n", 13, "element", 1),
        ("*ELEMENT, TYPE=S4\n7, 2,3,6\n", 13, "nodes", 3),
        ("*ELEMENT, TYPE=S4\n7, 2,3,6,5\n8, 2,3,6,5,1\n", 14, "nodes", 5),
        ("*ELEMENT, TYPE=S4\n7, 2,3,6,9\n", 13, "node", 9),
        ("*ELEMENT, TYPE=S4\n7, 2,3,6,-5\n", 13, "label", -5),
        ("*ELEMENT, TYPE=S4\n7, 2,3,6,99999999999999999999\n", 13, "label", "9" * 20),
        ("*SURFACE, NAME=a\n", 12, "surface", "a"),
        ("*ELEMENT, TYPE=WHAT7\n7, 2,3,6\n", 12, "TYPE", "WHAT7"),
        ("*ELEMENT\n7, 2,3,6\n", 12, "TYPE", ""),
        ("*NGEN\n1, 6, 1\n", 12, "keyword", "NGEN"),
        ("*INSTANCE, NAME=a, PART=b\n0., 0., 1.\n", 12, "PART", "b"),
        ("*NODE, SYSTEM=C\n9, 1., 90.\n", 12, "SYSTEM", "C"),
        ("*SURFACE, NAME=a\n1, S1\n", 13, "face", "S1"),
        ("*SURFACE, NAME=a\nb, SPOS\n", 13, "ELSET", "b"),
        ("*SURFACE, NAME=a\n7, SPOS\n", 13, "element", 7),
        ("*SURFACE, NAME=a\n1, SPOS\n*SURFACE, NAME=A, TYPE=NODE\n1\n", 14, "TYPE", "NODE"),
        ("*INCLUDE, INPUT=nowhere.inp\n", 12, "INPUT", "nowhere.inp"),
        ("*INCLUDE, INPUT=bad.inp\n", 12, "INPUT", "bad.inp"),
    ],
)
def test_what_would_get_lost_of_an_abaqus_file_is_refused(
    shared_tmp_path: Path, more: str, line: int, asked: str, given: object
) -> None:
    with refused(MeshError, asked=asked, given=given) as caught:
        read(shared_tmp_path / "bad.inp", NODES + SHELLS + more)
    assert f"line {line} of bad.inp: " in str(caught.value)


@pytest.mark.collective(rows=0)
def test_nodes_and_elements_of_one_name(shared_tmp_path: Path) -> None:
    same = read(
        shared_tmp_path / "same.inp",
        NODES + SHELLS + "*NSET, NSET=s\n1,2,4,5\n*ELSET, ELSET=S\n1\n",
    )
    assert same["S"].sizes == {"quad": 1}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        other = read(
            shared_tmp_path / "other.inp", NODES + SHELLS + "*NSET, NSET=s\n1,4\n*ELSET, ELSET=s\n1"
        )
    assert other["s"].sizes == {"vertex": 2}
    assert other["s (elements)"].sizes == {"quad": 1}
    texts = COMM.bcast([str(w.message) for w in told])
    assert ["last line has no end" in texts[0], "names a set of nodes" in texts[1]] == [True, True]


SOLIDS = {  # type -> corners of its reference cell, faces by Abaqus's numbers of corners
    "C3D4": ("000 100 010 001", "123 142 243 341"),
    "C3D6": ("000 100 010 001 101 011", "123 465 1452 2563 3641"),
    "C3D8": ("000 100 110 010 001 101 111 011", "1234 5876 1562 2673 3784 4851"),
}
SECOND = {"C3D4": "C3D10", "C3D6": "C3D15", "C3D8": "C3D20"}


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("given", [*SOLIDS, *SECOND.values()])
def test_abaqus_numbers_of_faces(shared_tmp_path: Path, given: str) -> None:
    """The corners of S1, S2, ... are those of the manual; nodes between them are on the face."""
    base = {v: k for k, v in SECOND.items()}.get(given, given)
    corners = [[float(x) for x in word] for word in SOLIDS[base][0].split()]
    kind = {"C3D4": "tetra", "C3D6": "wedge", "C3D8": "hexahedron"}[base]
    cell = next(
        c
        for c in CELLS.values()
        if c.straight.name == kind and (len(c.nodes) > c.corners) == (given != base)
    )
    nodes = [[float(x) for x in node] for node in cell.nodes]
    assert nodes[: len(corners)] == corners
    lines = [f"{k}, {x[0]}, {x[1]}, {x[2]}\n" for k, x in enumerate(nodes, 1)]
    text = f"*NODE\n{''.join(lines)}*ELEMENT, TYPE={given}, ELSET=E\n"
    words = [str(k) for k in range(len(nodes) + 1)]
    words[0] = "1"
    text += ",\n".join(", ".join(words[k : k + 10]) for k in range(0, len(words), 10)) + "\n"
    faces = SOLIDS[base][1].split()
    for k in range(len(faces)):
        text += f"*SURFACE, NAME=side {k + 1}\nE, S{k + 1}\n"
    mesh = read(shared_tmp_path / f"{given}.inp", text + "*Surface, name=skin, type=ELEMENT\nE,\n")
    for k, face in enumerate(faces, 1):
        (found,) = all_cells(mesh, f"side {k}").tolist()
        own = [int(c) - 1 for c in face]
        assert set(found[: len(own)]) == set(own)
        x = mesh.fetch_points(np.array(found))
        off = x - x[0]
        assert np.linalg.matrix_rank(off) == 2
        normal = np.cross(off[1], off[2])
        assert normal @ (np.mean(corners, axis=0) - x[0]) < 0.0  # outwards
    assert mesh["skin"].size == len(faces)


@pytest.mark.collective(rows=0)
def test_abaqus_order_of_nodes(shared_tmp_path: Path) -> None:
    """The middle of a line is second; of a C3D27 the centroid comes before S1 to S6."""
    middles = [[0.5, 0.5, z] for z in (0.5, 0.0, 1.0)]
    middles += [[0.5, 0.0, 0.5], [1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.0, 0.5, 0.5]]
    x = np.array([*CELLS["hexahedron20"].unit.tolist(), *middles])
    lines = [f"{k}, {a}, {b}, {c}\n" for k, (a, b, c) in enumerate(x, 1)]
    text = f"*NODE\n{''.join(lines)}*ELEMENT, TYPE=C3D27\n1, "
    text += ",\n".join(", ".join(map(str, range(k, min(k + 9, 28)))) for k in (1, 10, 19))
    text += "\n*ELEMENT, TYPE=B32, ELSET=edge\n2, 1, 9, 2\n*SURFACE, NAME=top\n1, S2\n"
    mesh = read(shared_tmp_path / "cube.inp", text)
    for kind, points in (("hexahedron27", CELLS["hexahedron27"].unit), ("line3", x[[0, 1, 8]])):
        (found,) = np.concatenate(COMM.allgather(mesh.cells[kind].connectivity))
        np.testing.assert_array_equal(mesh.fetch_points(found), points)
    assert mesh["top"].sizes == {"quad9": 1}


def test_abaqus_surfaces(shared_tmp_path: Path) -> None:
    """Of shells, edges, nodes; on the outside of some elements; of names that sets have."""
    box = Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), comm=MPI.COMM_SELF)
    lines = [f"{k}, {x[0]}, {x[1]}, {x[2]}\n" for k, x in enumerate(box.points, 1)]
    cells = [", ".join(map(str, (k, *(1 + c)))) for k, c in enumerate(box.slice("body")[1], 1)]
    text = f"*NODE\n{''.join(lines)}*ELEMENT, TYPE=C3D8R, ELSET=LEFT\n{cells[0]}\n"
    text += f"*ELEMENT, TYPE=C3D8R, ELSET=RIGHT\n{cells[1]}\n*ELEMENT, TYPE=S4, ELSET=lid\n"
    text += "9, 7, 8, 11, 10\n*NSET, NSET=root\n1, 4, 7, 10\n*NSET, NSET=tip\n3\n"
    text += "*SURFACE, NAME=open\nleft\n*SURFACE, NAME=ROOT\nLEFT, S6\n"
    text += "*SURFACE, NAME=tip\n2, S4\n*SURFACE, NAME=points, TYPE=NODE\nroot, 1.0\n2\n"
    text += "*SURFACE, NAME=under\nlid, SNEG\n*SURFACE, NAME=rim\nlid, E1\n9, E4\n"
    text += "*SURFACE, NAME=both\nLEFT, S2\nlid, SPOS\n*SURFACE, NAME=right\nright, S2\n"
    text += "*SURFACE, NAME=rigid, TYPE=CYLINDER\n1, 2\n"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = read(shared_tmp_path / "box.inp", text)
    texts = "\n".join(COMM.bcast([str(w.message) for w in told]))
    for words in (
        "'rigid', of type CYLINDER",
        "'under' is the side SNEG",
        "region 'tip (surface)'",
    ):
        assert words in texts
    assert {r.name: r.sizes for r in mesh} == {
        "LEFT": {"hexahedron": 1},
        "RIGHT": {"hexahedron": 1},
        "lid": {"quad": 1},
        "tip": {"vertex": 1},
        "open": {"quad": 5},
        "ROOT": {"quad": 1},
        "tip (surface)": {"quad": 1},
        "points": {"vertex": 5},
        "under": {"quad": 1},
        "rim": {"line": 2},
        "both": {"quad": 1},
        "right (surface)": {"quad": 1},
        "all": {"hexahedron": 2},
    }
    assert set(all_points(mesh, "tip (surface)")) == {2, 5, 8, 11}
    plane = read(
        shared_tmp_path / "plane.inp",
        NODES + SHELLS.replace("TYPE=S4", "TYPE=CPS4") + "*SURFACE, NAME=a\n1, S1\n2, S2\n"
        "*SURFACE, NAME=rim\n1\n2\n",
    )
    assert (plane["a"].sizes, plane["rim"].sizes) == ({"line": 2}, {"line": 6})


def test_names_of_regions_survive_hdf5(shared_tmp_path: Path) -> None:
    names = ["a/b", "a%2Fb", ".", "", "ä 尖", "..", "a\nb", "points"]
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]
    regions = {name: ("vertex", [k % 4]) for k, name in enumerate(names)}
    mesh = Mesh.from_arrays(square, {"quad": [[0, 1, 2, 3]]}, regions)
    mesh.write(shared_tmp_path / "names.h5")
    again = sa.Mesh.read(shared_tmp_path / "names.h5")
    assert list(again.regions) == [*names, "all"]
    for k, name in enumerate(names):
        np.testing.assert_array_equal(all_points(again, name), [k % 4])

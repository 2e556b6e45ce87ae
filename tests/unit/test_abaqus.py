# SPDX-License-Identifier: BSD-3-Clause
"""Input files of Abaqus and CalculiX as people write them: text, GENERATE, instances, labels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.errors import MeshError, ParameterError
from tests.refusals import refused
from tests.unit.test_mesh import all_points

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
collective = pytest.mark.collective

CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
NODES = "*NODE\n" + "".join(f"{k}, {x}., {y}., {z}.\n" for k, (x, y, z) in enumerate(CORNERS, 1))
CUBE = "*ELEMENT, TYPE=C3D8, ELSET=PART\n1, 1, 2, 3, 4, 5, 6, 7, 8\n"


def read(path: Path, text: str | bytes) -> tuple[sa.Mesh, list[str]]:
    """Return the mesh and the warnings, the same on all ranks."""
    if COMM.rank == 0:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    COMM.barrier()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = sa.Mesh.read(path)
    return mesh, COMM.bcast([str(w.message) for w in told])


def labels_of(region: sa.Region, kind: str | None = None) -> list[int]:
    """Return the labels of a region on all ranks."""
    return sorted(np.concatenate(COMM.allgather(region.labels(kind))).tolist())


def rod(cells: int) -> str:
    """Return cubes in a row, with labels of nodes from 10 and of elements from 7, in steps of 3."""
    text, count = "*NODE\n", 4 * (cells + 1)
    for k in range(count):
        corner = ((0, 0), (1, 0), (1, 1), (0, 1))[k % 4]
        text += f"{10 + 3 * k}, {k // 4}., {corner[0]}., {corner[1]}.\n"
    text += "*ELEMENT, TYPE=C3D8, ELSET=ROD\n"
    for k in range(cells):
        text += f"{7 + 3 * k}, {', '.join(str(10 + 3 * (4 * k + n)) for n in range(8))}\n"
    return text


@pytest.mark.parametrize(
    ("lines", "labels"),
    [
        ("*NSET, NSET=S, GENERATE\n10, 22, 3\n", [10, 13, 16, 19, 22]),
        ("*NSET, GENERATE, UNSORTED, NSET=S\n10, 22, 3\n", [10, 13, 16, 19, 22]),
        ("*Nset, internal, generate , nset = s\n  10,\t22 , 6,\n", [10, 16, 22]),
        ("*NSET, NSET=S, GEN\n10, 22, 3\n", [10, 13, 16, 19, 22]),
        ("*NSET, NSET=S, GENERATE\n22, 10, -3\n", [10, 13, 16, 19, 22]),
        ("*NSET, NSET=S, GENERATE\n22, 10, -6\n13, 13\n", [10, 13, 16, 22]),
        ("*NSET, NSET=S, GENERATE\n10, 18, 6\n**\n25, 31, 3\n", [10, 16, 25, 28, 31]),
        ("*NSET, NSET=S, GENERATE\n10, 16, 3\n*NSET, NSET=S\n31, T\n*NSET, NSET=t\n19\n", None),
        ("*NSET, NSET=S,\nGENERATE\n10, 13, 3\n", [10, 13]),
        ("*NSET, NSET=S,\n10, 13, 31\n", [10, 13, 31]),
        ("*NSET, NSET=S,\nT, 13\n*NSET, NSET=T\n10\n", [10, 13]),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_generate(shared_tmp_path: Path, lines: str, labels: list[int] | None, first: bool) -> None:
    """In any order of parameters, in either direction, before and after what it names."""
    text = lines + rod(2) if first else rod(2) + lines
    mesh, told = read(shared_tmp_path / "rod.inp", text)
    assert labels_of(mesh["S" if "S" in mesh else "s"]) == (labels or [10, 13, 16, 19, 31])
    assert told == []


def test_generate_names_labels_that_there_are_not(shared_tmp_path: Path) -> None:
    more = "*NSET, NSET=S, GENERATE\n1, 2000000000\n*ELSET, ELSET=E, GENERATE\n8, 20\n"
    mesh, told = read(shared_tmp_path / "rod.inp", rod(3) + more)
    assert labels_of(mesh["S"]) == [10 + 3 * k for k in range(16)]
    assert labels_of(mesh["E"]) == [10, 13]
    (text,) = told
    assert "nset 'S' (1999999984), elset 'E' (11)" in text


@collective
@pytest.mark.parametrize(
    "line",
    [
        "22, 10",
        "22, 10, 3",
        "10, 22, -3",
        "10, 22, 0",
        "10",
        "10, x",
        "1, 2, 3, 4",
        "-1, 5",
        "1, 9" + 20 * "9",
    ],
)
def test_generate_that_leads_nowhere(shared_tmp_path: Path, line: str) -> None:
    with refused(
        MeshError,
        asked="GENERATE",
        given=line,
        possible=("first, last", "first, last, step"),
    ) as caught:
        read(shared_tmp_path / "rod.inp", "*NSET, NSET=S, GENERATE\n" + line + "\n" + rod(1))
    assert "line 2 of rod.inp" in str(caught.value)
    with refused(MeshError, asked="node", given=(500, 600, 2)):
        read(shared_tmp_path / "rod.inp", rod(1) + "*NSET, NSET=S, GENERATE\n500, 600, 2\n")


@pytest.mark.parametrize(
    "text",
    [
        NODES.replace("1., ", "1.D0, ").replace("0., ", "0.0d+00, ") + CUBE,
        NODES.replace("1., ", "10.-1, ").replace("0., ", " -0.0D-3, ") + CUBE,
        NODES.replace("1., ", ".1E1, ").replace("0., ", ", ") + CUBE,
        (NODES + CUBE).replace("\n", "\r\n"),
        (NODES + CUBE).replace("\n", "\r"),
        (NODES + CUBE).replace(", ", "\t,\t").replace("\n", " ,\t\n"),
        ("*HEADING\nTräger, Maße in m\n" + NODES + "** Kräfte\n" + CUBE).encode("latin-1"),
        ("\ufeff*HEADING\nx\n" + NODES + CUBE).encode(),
        (NODES + CUBE).encode("utf-16"),
        NODES + "* element , Type = C3D8r,\n** which\n\n elset = part\n1,1,2,3,4,\n\n5,6,7,8\n",
        NODES + "*ELEMENT, TYPE=C3D8, ELSET=PART\n1, 1, 2, 3, 4, 5, 6, 7, 8\n" * 2,
    ],
)
def test_text(shared_tmp_path: Path, text: str | bytes) -> None:
    mesh, told = read(shared_tmp_path / "cube.inp", text)
    assert mesh["PART" if "PART" in mesh else "part"].measure() == pytest.approx(1.0, rel=1e-14)
    assert (mesh.n_points, told) == (8, [])
    assert labels_of(mesh["all"]) == [1]


def test_names(shared_tmp_path: Path) -> None:
    """Without marks letters and blanks do not tell; with them they do, and commas belong."""
    more = '*Nset , NSET = "a, b"\n1\n*NSET, NSET="A, B"\n2,3\n*NSET, NSET=Rev.1\n4\n'
    more += '*NSET, NSET=all of it\n"a, b"\nREV.1\n*NSET, NSET=Two\nAllOfIt\n "A, B" \n'
    mesh, told = read(shared_tmp_path / "names.inp", NODES + CUBE + more.replace('"a, b"\nR', "R"))
    sizes = {r.name: r.size for r in mesh if r.name not in ("all", "PART")}
    assert sizes == {"a, b": 1, "A, B": 2, "Rev.1": 1, "all of it": 1, "Two": 3}
    assert told == []
    with refused(MeshError, asked="text"):
        read(shared_tmp_path / "wide.inp", (NODES + CUBE).encode("utf-16-le"))


def test_other_files(shared_tmp_path: Path) -> None:
    """Included are data lines, and files by Windows's paths and letters; circles are told."""
    if COMM.rank == 0:
        (shared_tmp_path / "Sub").mkdir()
        first, rest = NODES.split("\n", 3)[1:3], NODES.split("\n", 3)[3]
        (shared_tmp_path / "Sub" / "some.txt").write_text("\n".join(first) + "\n")
        (shared_tmp_path / "Sub" / "Cells.inc").write_text(CUBE)
        (shared_tmp_path / "a.inp").write_text("*INCLUDE, INPUT=b.inp\n")
        (shared_tmp_path / "b.inp").write_text("**\n*INCLUDE, INPUT=./A.INP\n")
    rest = NODES.split("\n", 3)[3]
    text = f"*NODE, NSET=N\n*INCLUDE, INPUT=sub\\some.txt\n{rest}*INCLUDE, INPUT=Sub/CELLS.inc\n"
    mesh, _ = read(shared_tmp_path / "cube.inp", text + "*BOUNDARY\n*INCLUDE, INPUT=Sub/some.txt\n")
    assert mesh["PART"].measure() == pytest.approx(1.0, rel=1e-14)
    assert mesh["N"].size == 8
    with refused(MeshError, asked="INPUT", given="./A.INP") as caught:
        sa.Mesh.read(shared_tmp_path / "a.inp")
    assert "line 2 of b.inp" in str(caught.value)


def test_elements_that_are_no_cells(shared_tmp_path: Path) -> None:
    """Are left out with a line for all, whatever their data, and sets may name them."""
    more = (
        "*ELEMENT, TYPE=SPRINGA, ELSET=S\n9, 1, 7\n10, 2, 8\n*ELEMENT, TYPE=mass, ELSET=M\n11, 7\n"
    )
    more += "*ELEMENT, TYPE=DCOUP3D\n12, 99\n*ELEMENT, TYPE=COH3D8\n13, 1,2,3,4,\n5,6,7,8\n"
    more += "*USER ELEMENT, NODES=2\n*ELEMENT, TYPE=U1\n14, Part.1\n*ELSET, ELSET=BOTH\n1, 9, M\n"
    more += "*SURFACE, NAME=F\nBOTH, S1\n*ELEMENT, TYPE=R3D4, ELSET=RIGID\n20, 1, 2, 3, 4\n"
    mesh, told = read(shared_tmp_path / "cube.inp", NODES + CUBE + more)
    assert {r.name: r.sizes for r in mesh if r.name not in ("all", "PART")} == {
        "BOTH": {"hexahedron": 1},
        "F": {"quad": 1},
        "RIGID": {"quad": 1},
    }
    text, rigid = told
    assert "R3D4 (1)" in rigid
    assert "COH3D8 (1), DCOUP3D (1), MASS (1), SPRINGA (2), U1 (1); nothing else is in 'S'" in text
    with refused(MeshError, asked="*ELEMENT", given="SPRINGA (1)"):
        read(shared_tmp_path / "spring.inp", NODES + "*ELEMENT, TYPE=SPRINGA\n1, 1, 2\n")


def test_orientation_nodes_of_beams(shared_tmp_path: Path) -> None:
    nodes = "*NODE\n1,0,0,0\n2,1,0,0\n3,2,0,0\n4,3,0,0\n5,4,0,0\n100,0,0,1\n"
    beams = "*ELEMENT, TYPE=B31, ELSET=A\n1, 1, 2, 100\n2, 2, 3, 100\n"
    beams += "*ELEMENT, TYPE=B32H, ELSET=A\n3, 3, 4, 5, 100\n"
    mesh, told = read(shared_tmp_path / "beam.inp", nodes + beams)
    assert mesh["A"].sizes == {"line": 2, "line3": 1}
    assert mesh["A"].measure() == pytest.approx(4.0, rel=1e-14)
    (text,) = told
    assert "3 beams" in text
    with refused(MeshError, asked="nodes", given=3, possible=(2,)):
        read(shared_tmp_path / "truss.inp", nodes + beams.replace("B31", "T3D2"))


@pytest.mark.parametrize(
    ("types", "size"),
    [
        (("C3D8R", "C3D8I", "C3D8H", "DC3D8", "F3D8", "C3D8RT", "SC8R", "AC3D8"), 1.0),
        (("S4R", "S4R5", "M3D4R", "CPS4", "CPE4H", "CPEG4", "CAX4R", "DC2D4", "SFM3D4"), 1.0),
        (("T3D2", "T2D2H", "B21", "B33", "B31OS", "PIPE31H", "SAX1", "R2D2"), 1.0),
    ],
)
def test_variants_of_element_types(
    shared_tmp_path: Path, types: tuple[str, ...], size: float
) -> None:
    count = {"C3D8R": 8, "S4R": 4, "T3D2": 2}[types[0]]
    for given in types:
        nodes = ", ".join(str(k + 1) for k in range(count))
        text = f"{NODES}*ELEMENT, TYPE={given}, ELSET=E\n7, {nodes}\n"
        mesh, _ = read(shared_tmp_path / f"{given}.inp", text)
        assert mesh["E"].measure() == pytest.approx(size, rel=1e-14), given
        assert labels_of(mesh["E"]) == [7]


PART = f"*PART, NAME=P\n{NODES}{CUBE}*NSET, NSET=ROOT\n1,4,5,8\n*SURFACE, NAME=TOP\nPART, S2\n"
TWO = f"""*HEADING
{PART}*END PART
*PART, NAME=Q
*NODE
1, 0, 0, 0
2, 2, 0, 0
*ELEMENT, TYPE=B31, ELSET=BEAM
1, 1, 2
*END PART
*ASSEMBLY, NAME=Model
*INSTANCE, NAME=P-1, PART=p
*END INSTANCE
*INSTANCE, NAME=P-2, PART=P
 1.0, 0., 0.
 1., 0., 0., 1., 0., 2., 90.
*NSET, NSET=TIP
7
*END INSTANCE
*INSTANCE, NAME=Q-1, PART=Q
0., 0., 5.
*END INSTANCE
*NODE
1, 9., 9., 9.
*NSET, NSET=REF
1
*NSET, NSET=ENDS, INSTANCE=P-1
1, ROOT
*NSET, NSET=ENDS, INSTANCE=Q-1
2
*NSET, NSET=ENDS
P-2.7, Model.P-2.TIP
*ELSET, ELSET=BLOCKS, INSTANCE=P-1, GENERATE
1, 1
*ELSET, ELSET=BLOCKS
P-2.PART
*SURFACE, NAME=SIDES
P-1.PART, S6
P-2.1, S6
*ELEMENT, TYPE=T3D2, ELSET=LINK
1, P-1.7, Q-1.2
*ELEMENT, TYPE=CONN3D2
2, P-1.7, 1
*END ASSEMBLY
"""


@collective
def test_instances(shared_tmp_path: Path) -> None:
    """A part twice is two bodies; the second is shifted, then turned about an axis."""
    mesh, told = read(shared_tmp_path / "two.inp", TWO)
    sizes = {r.name: r.sizes for r in mesh}
    assert sizes == {
        "P-1.PART": {"hexahedron": 1},
        "P-2.PART": {"hexahedron": 1},
        "Q-1.BEAM": {"line": 1},
        "BLOCKS": {"hexahedron": 2},
        "LINK": {"line": 1},
        "P-1.ROOT": {"vertex": 4},
        "P-2.ROOT": {"vertex": 4},
        "P-2.TIP": {"vertex": 1},
        "REF": {"vertex": 1},
        "ENDS": {"vertex": 6},
        "P-1": {"hexahedron": 1},
        "P-2": {"hexahedron": 1},
        "Q-1": {"line": 1},
        "P-1.TOP": {"quad": 1},
        "P-2.TOP": {"quad": 1},
        "SIDES": {"quad": 2},
        "all": {"hexahedron": 2},
    }
    assert mesh.n_points == 8 + 8 + 2 + 1
    assert mesh["all"].measure() == pytest.approx(2.0, rel=1e-14)
    x = {name: mesh.fetch_points(np.array(all_points(mesh, name))) for name in sizes if name != ""}
    np.testing.assert_allclose(x["P-2.TIP"], [[0.0, 1.0, 1.0]], atol=1e-15)  # (1,1,1) + x, turned
    np.testing.assert_allclose(x["Q-1.BEAM"], [[0, 0, 5], [2, 0, 5]], atol=1e-15)
    np.testing.assert_allclose(mesh["LINK"].measure(), np.sqrt(1 + 1 + 16), rtol=1e-14)
    assert labels_of(mesh["ENDS"]) == [1, 2, 4, 5, 7, 8]
    assert any("CONN3D2 (1)" in text for text in told)


def test_one_instance(shared_tmp_path: Path) -> None:
    """Keeps the names of its sets, but where the assembly has them for others."""
    text = f"{PART}*NSET, NSET=TIP\n7\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=P-1, PART=P\n"
    text += "*END INSTANCE\n*NSET, NSET=TIP, INSTANCE=P-1\n2, 3\n*END ASSEMBLY\n"
    mesh, told = read(shared_tmp_path / "one.inp", text)
    sizes = {r.name: r.size for r in mesh if r.name != "all"}
    assert sizes == {"PART": 1, "ROOT": 4, "P-1.TIP": 1, "TIP": 2, "TOP": 1}
    assert told == []


def test_an_instance_with_a_mesh_of_its_own(shared_tmp_path: Path) -> None:
    text = f"*PART, NAME=P\n*END PART\n*INSTANCE, NAME=P-1, PART=P\n0., 0., 2.\n{NODES}{CUBE}"
    text += "*NSET, NSET=TIP\n7\n*END INSTANCE\n*PART, NAME=Q\n*END PART\n"
    mesh, told = read(shared_tmp_path / "own.inp", text)
    place = mesh.fetch_points(np.array(all_points(mesh, "TIP")))
    np.testing.assert_array_equal(place, [[1.0, 1.0, 3.0]])
    (only,) = told
    assert "parts without an instance are not read: 'Q'" in only


def test_names_of_instances_with_blanks(shared_tmp_path: Path) -> None:
    text = TWO.replace("NAME=P-1", 'NAME="Left P"').replace("NAME=P-2", 'NAME="Right P"')
    text = text.replace("=P-1", '="Left P"').replace("P-1.", '"Left P".')
    text = text.replace("P-2.7", '"Right P".7').replace("P-2.TIP", '"Right P".tip')
    text = text.replace("P-2.PART", '"Right P.PART"').replace("P-2.1", '"Right P.1"')
    mesh, _ = read(shared_tmp_path / "two.inp", text)
    assert mesh["ENDS"].sizes == {"vertex": 6}
    assert mesh["SIDES"].sizes == {"quad": 2}
    assert mesh["BLOCKS"].sizes == {"hexahedron": 2}
    assert mesh["Right P.ROOT"].sizes == {"vertex": 4}


@pytest.mark.parametrize(
    ("old", "new", "asked", "given"),
    [
        ("PART=p\n", "PART=R\n", "PART", "R"),
        ("NAME=P-2", "NAME=P-1", "NAME", "P-1"),
        ("1., 0., 0., 1., 0., 2., 90.", "1., 0., 0., 90.", "instance", "1., 0., 0., 90."),
        (
            *("1., 0., 0., 1., 0., 2., 90.", "1., 0., 0., 1., 0., 0., 90."),
            *("instance", "1., 0., 0., 1., 0., 0., 90."),
        ),
        ("INSTANCE=Q-1", "INSTANCE=Q-7", "INSTANCE", "Q-7"),
        ("P-2.7,", "P-2.77,", "node", 77),
        ("P-2.7,", "P-2.none,", "NSET", "P-2.none"),
        ("1, P-1.7, Q-1.2", "1, P-1.7, Q-1.3", "node", "Q-1.3"),
        ("*NSET, NSET=REF\n1\n", "*NSET, NSET=REF\n8\n", "node", 8),
    ],
)
def test_errors_of_instances(
    shared_tmp_path: Path, old: str, new: str, asked: str, given: object
) -> None:
    assert TWO.count(old) == 1
    with refused(MeshError, asked=asked, given=given) as caught:
        read(shared_tmp_path / "two.inp", TWO.replace(old, new))
    line = TWO[: TWO.index(old)].count("\n") + 1
    assert any(f"line {line + k} of two.inp" in str(caught.value) for k in (0, 1))


@collective
@pytest.mark.parametrize("order", [None, 1, 2])
def test_labels(shared_tmp_path: Path, order: Literal[1, 2] | None) -> None:
    """Are those of the file on any rank, of any order, and after a file of our own."""
    text = rod(5) + "*ELEMENT, TYPE=S4, ELSET=LID\n99, 10, 13, 16, 19\n*ELSET, ELSET=SOME\n10, 16\n"
    text += "*NSET, NSET=TIP\n70, 79\n*NSET, NSET=ALONE\n500\n*NODE\n500, 9., 9., 9.\n"
    read(shared_tmp_path / "rod.inp", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = sa.Mesh.read(shared_tmp_path / "rod.inp", order=order)
    mesh.write(shared_tmp_path / "rod.h5")
    for found in (mesh, sa.Mesh.read(shared_tmp_path / "rod.h5")):
        assert found.labels is not None
        assert len(found.labels.points) == len(found.points)
        for label, (x, y, z) in zip(found.labels.points, found.points, strict=True):
            k = (int(label) - 10) // 3
            corner = ((0, 0), (1, 0), (1, 1), (0, 1))[k % 4]
            assert label in (0, 500) or (x, y, z) == (k // 4, *corner)
        own = COMM.allreduce(int((found.labels.points > 0).sum()))
        assert own == 25
        assert labels_of(found["ROD"]) == [7, 10, 13, 16, 19]
        assert labels_of(found["SOME"]) == [10, 16]
        assert labels_of(found["LID"]) == [99]
        assert labels_of(found["TIP"]) == [70, 79]
        both = [labels_of(part) for part in (found["ROD"] | found["LID"]).by_type]
        assert both == [[7, 10, 13, 16, 19], [99]]
        found.select("cells", labels=[10, 19], dimension=3)
        assert labels_of(found["cells"]) == [10, 19]
        assert found["cells"].measure() == pytest.approx(2.0, rel=1e-14)
        point = found.select("point", labels=34, dimension=0)
        place = found.fetch_points(np.array(all_points(found, point.name)))
        np.testing.assert_array_equal(place, [[2.0, 0.0, 0.0]])
        found.select("left", lambda X: X[:, 0] < 1e-9)  # new facets of a type that has labels
        assert labels_of(found["LID"]) == [99]


def test_labels_that_there_are_not(shared_tmp_path: Path) -> None:
    mesh, _ = read(shared_tmp_path / "rod.inp", rod(2))
    with refused(MeshError, asked="labels", given=(8, 9)):
        mesh.select("a", labels=[7, 8, 9], dimension=3)
    with refused(ParameterError, asked="labels", given="1.5"):
        mesh.select("a", labels=1.5, dimension=3)
    with refused(ParameterError, asked="dimension", given=2, possible=(0, 3)):
        mesh.select("a", labels=[7], dimension=2)
    box = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    assert box.labels is None
    with refused(MeshError, asked="labels"):
        box["all"].labels()
    with refused(MeshError, asked="labels", given="[1]"):
        box.select("a", labels=[1], dimension=0)


def test_errors_quote_labels(shared_tmp_path: Path) -> None:
    turned = CUBE.replace("1, 1, 2, 3, 4, 5, 6, 7, 8", "77, 1, 4, 3, 2, 5, 8, 7, 6")
    with refused(MeshError, cells=(0,)) as caught:
        read(shared_tmp_path / "cube.inp", NODES + turned)
    assert "element 77 of the file" in str(caught.value)
    _, told = read(shared_tmp_path / "twin.inp", NODES + "50, 1., 1., 1.\n" + CUBE)
    assert "(nodes 7, 50 of the file)" in told[0]
    plate = "*ELEMENT, TYPE=S4\n5, 1, 2, 3, 4\n7, 2, 3, 4, 1\n"
    mesh, told = read(shared_tmp_path / "plate.inp", NODES + plate)
    assert (mesh.cells["quad"].size, labels_of(mesh["all"])) == (1, [5])
    assert "cells" in told[0]

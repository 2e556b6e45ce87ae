# SPDX-License-Identifier: BSD-3-Clause
"""Gmsh's files of every version, text and binary: the same mesh, or one error on every rank."""

from __future__ import annotations

import struct
import warnings
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpi4py import MPI

from symancf.errors import MeshError
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
collective = pytest.mark.collective

BOX = Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), comm=MPI.COMM_SELF)
POINTS = [*BOX.points.tolist(), [9.0, 9.0, 9.0]]  # the last one is of no cell
CELLS = BOX.cells["hexahedron"].connectivity.tolist()
ENDS = {name: BOX[name].slice()[1][0].tolist() for name in ("x0", "x1")}
NAMES = '$PhysicalNames\n5\n3 1 "all parts"\n3 2 "left"\n2 3 "a ""b"" ä"\n2 4 "root"\n2 9 "none"\n'
#: Dimension, entity, physical groups, type of Gmsh, cells, partition.
BLOCKS = [
    (3, 1, [1, 2], 5, CELLS[:1], 1),
    (3, 2, [1], 5, CELLS[1:], 2),
    (2, 7, [3, 4], 3, [ENDS["x0"]], 1),
    (2, 8, [-5], 3, [ENDS["x1"]], 2),
]
SIZES = {
    "all parts": {"hexahedron": 2},
    "left": {"hexahedron": 1},
    'a ""b"" ä': {"quad": 1},
    "root": {"quad": 1},
    "surface 5": {"quad": 1},
    "all": {"hexahedron": 2},
}


class Writer:
    """A file of Gmsh, after its manual; tags of nodes are 7 k + 3 and fall."""

    def __init__(self, version: str, order: str = "", *, parametric: bool = False) -> None:
        self.version, self.order, self.parametric = version, order, parametric
        self.out = [b""]

    def text(self, text: str) -> None:
        self.out.append(text.encode())

    def add(self, kinds: str, *values: float) -> None:
        if self.order:
            self.out.append(struct.pack(self.order + kinds, *values))
        else:
            self.text(" ".join(f"{v!r}" for v in values) + "\n")

    def count(self, number: int) -> None:
        """Add the number of a section of version 2, a line of text."""
        self.text(f"{number}\n")

    def nodes(self) -> list[tuple[int, list[float]]]:
        return [(7 * (len(POINTS) - k) + 3, x) for k, x in enumerate(POINTS)]

    def tags(self, cell: list[int]) -> list[int]:
        return [7 * (len(POINTS) - k) + 3 for k in cell]

    def whole(self, partitioned: bool = False) -> bytes:
        if self.version == "1":
            self.first()
            return b"".join(self.out)
        self.text(f"$MeshFormat\n{self.version} {int(bool(self.order))} 8\n")
        if self.order:
            self.add("i", 1)
            self.text("\n")
        self.text("$EndMeshFormat\n$Comments\nof a $Nodes\n$EndComments\n")
        self.text(NAMES + "$EndPhysicalNames\n")
        if self.version == "2.2":
            self.second(partitioned)
        else:
            self.fourth(partitioned)
        self.text('$NodeData\n1\n"u"\n1\n0.0\n3\n0\n1\n1\n3 0.5\n$EndNodeData\n')
        return b"".join(self.out)

    def first(self) -> None:
        self.text(f"$NOD\n{len(POINTS)}\n")
        for tag, x in self.nodes():
            self.add("", tag, *x)
        every = [(b, g) for b in BLOCKS for g in b[2]]
        self.text(f"$ENDNOD\n$ELM\n{len(every)}\n")
        for k, ((_, entity, _, kind, (cell,), _), group) in enumerate(every, 1):
            self.add("", k, kind, group, entity, len(cell), *self.tags(cell))
        self.text("$ENDELM\n")

    def second(self, partitioned: bool) -> None:
        name = "ParametricNodes" if self.parametric else "Nodes"
        self.text(f"${name}\n")
        self.count(len(POINTS))
        for k, (tag, x) in enumerate(self.nodes()):
            dim = k % 4
            more = [dim, 1, *[0.5] * (dim % 3)] if self.parametric else []
            self.add("i3d" + ("2i" + f"{dim % 3}d") * self.parametric, tag, *x, *more)
        every = [(b, g) for b in BLOCKS for g in b[2]]
        self.text(f"\n$End{name}\n$Elements\n")
        self.count(len(every))
        for k, ((_, entity, _, kind, (cell,), part), group) in enumerate(every, 1):
            tags = [group, entity, *([2, part, part - 3] if partitioned else [])]
            head = [kind, 1, len(tags), k] if self.order else [k, kind, len(tags)]
            values = [*head, *tags, *self.tags(cell)]
            self.add(f"{len(values)}i", *values)
        self.text("\n$EndElements\n")

    def entities(self, title: str, numbers: list[list[int]], partitioned: bool) -> None:
        """Add points, curves, surfaces and volumes; of parts their partitions."""
        new = self.version == "4.1"
        self.text(f"${title}\n")
        if partitioned:
            self.add("2Q2i", 2, 1, 99, 1)
        self.add("4Q", *map(len, numbers))
        for dim, every in enumerate(numbers):
            for number in every:
                part = [b for b in BLOCKS if b[:2] == (dim, number)]
                groups = part[0][2] if part else []
                own = [dim, 1, 1, part[0][5]] if partitioned else []
                at = [0.0] * (3 if new and dim == 0 else 6)
                bounds = [2, 11, -12] if dim else []
                kinds = f"i{'2iQi' * bool(own)}{len(at)}dQ{len(groups)}i{'Q2i' * bool(dim)}"
                self.add(kinds, number, *own, *at, len(groups), *groups, *bounds)
        self.text(f"\n$End{title}\n")

    def fourth(self, partitioned: bool) -> None:
        new, own = self.version == "4.1", [[], [], [7, 8], [1, 2]]
        self.entities(
            "Entities", [[5], [6], [], []] if partitioned else [[5], [6], *own[2:]], False
        )
        if partitioned:
            self.entities("PartitionedEntities", own, True)
        self.fourth_nodes()
        self.text("$Elements\n")
        self.add("4Q" if new else "2Q", *(4, 4, 1, 4)[: 4 if new else 2])
        for k, (dim, entity, _, kind, (cell,), _) in enumerate(BLOCKS):
            ids = (dim, entity) if new else (entity, dim)
            self.add("3iQ", *ids, kind, 1)
            self.add(f"{1 + len(cell)}{'Q' if new else 'i'}", k, *self.tags(cell))
        self.text("\n$EndElements\n$Periodic\n1\n2 7 8\n")
        self.text("Affine 1 0\n1\n3 4\n$EndPeriodic\n" if not self.order else "\0$EndPeriodic\n")

    def fourth_nodes(self) -> None:
        new, nodes = self.version == "4.1", self.nodes()
        self.text("$Nodes\n")
        head = (4, len(POINTS), 3, 99)
        self.add("4Q" if new else "2Q", *head[: 4 if new else 2])
        for dim in range(4):
            some = nodes[dim::4]
            more = [0.5] * (dim if self.parametric else 0)
            ids = (dim, 6) if new else (6, dim)
            self.add("3iQ", *ids, int(self.parametric), len(some))
            if new:
                self.add(f"{len(some)}Q", *(tag for tag, _ in some))
                for _, x in some:
                    self.add(f"{3 + len(more)}d", *x, *more)
            else:
                for tag, x in some:
                    self.add(f"i{3 + len(more)}d", tag, *x, *more)
        self.text("\n$EndNodes\n")


def read(path: Path, data: bytes) -> tuple[Mesh, list[str]]:
    """Return the mesh, and what was told of it."""
    if COMM.rank == 0:
        path.write_bytes(data)
    COMM.barrier()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = Mesh.read(path)
    return mesh, COMM.bcast([str(w.message) for w in told])


def require_same(mesh: Mesh, sizes: dict[str, dict[str, int]] = SIZES) -> None:
    assert {r.name: r.sizes for r in mesh} == sizes
    assert mesh.n_points == len(POINTS)
    assert mesh["all"].measure() == pytest.approx(2.0, rel=1e-14)
    for name, x in (("root", 0.0), ("surface 5", 2.0)):
        if name in sizes:
            assert mesh[name].measure() == pytest.approx(1.0, rel=1e-14)
            np.testing.assert_array_equal(mesh.fetch_points(mesh[name].points())[:, 0], x)


@pytest.mark.parametrize(
    ("version", "order", "parametric", "partitioned"),
    [
        case
        for case in product(("2.2", "4.0", "4.1"), ("", "<", ">"), (False, True), (False, True))
        if case[0] != "4.0" or not (case[1] and case[3])  # Gmsh has written none
    ],
)
def test_every_version_is_the_same_mesh(
    shared_tmp_path: Path, version: str, order: str, parametric: bool, partitioned: bool
) -> None:
    data = Writer(version, order, parametric=parametric).whole(partitioned)
    mesh, told = read(shared_tmp_path / "box.msh", data)
    require_same(mesh)
    assert len(told) == 1
    assert "'none'" in told[0]


def test_lines_that_end_as_on_windows_and_marks_of_bytes(shared_tmp_path: Path) -> None:
    for version in ("2.2", "4.1"):
        data = b"\xef\xbb\xbf" + Writer(version).whole().replace(b"\n", b"\r\n")
        require_same(read(shared_tmp_path / "box.MSH", data)[0])


def test_version_1_has_numbers_of_groups(shared_tmp_path: Path) -> None:
    mesh, told = read(shared_tmp_path / "box.msh", Writer("1").whole())
    sizes = {
        "surface 3": {"quad": 1},
        "surface 4": {"quad": 1},
        "surface 5": {"quad": 1},
        "volume 1": {"hexahedron": 2},
        "volume 2": {"hexahedron": 1},
        "all": {"hexahedron": 2},
    }
    assert not told
    assert {r.name: r.sizes for r in mesh} == sizes
    assert mesh["all"].measure() == pytest.approx(2.0, rel=1e-14)


@collective
def test_names_without_cells_are_told(shared_tmp_path: Path) -> None:
    """Version 2.2 with Mesh.SaveAll = 1 writes group 0 for all cells."""
    lines = Writer("2.2").whole().decode().split("\n")
    at = lines.index("$Elements")
    for k, line in enumerate(lines):
        words = line.split()
        if k > at + 1 and len(words) > 8:
            lines[k] = " ".join([*words[:3], "0", *words[4:]])
    mesh, (told, *_) = read(shared_tmp_path / "box.msh", "\n".join(lines).encode())
    assert {r.name for r in mesh} == {"all"}
    assert "'all parts', 'left'" in told
    assert "SaveAll" in told


@collective
def test_one_part_of_a_mesh_is_refused(shared_tmp_path: Path) -> None:
    text = Writer("2.2").whole().decode()
    text = text.replace("\n1 5 2 1 1 ", "\n1 5 4 1 1 1 2 ")  # that of partition 2 alone
    lines = text.split("\n")
    at = lines.index("$Elements")
    lines = [*lines[: at + 1], "1", lines[at + 2], "$EndElements"]
    path = shared_tmp_path / "box_2.msh"
    with refused(MeshError, asked="partition", given=2, path=str(path)) as caught:
        read(path, "\n".join(lines).encode())
    assert len(set(COMM.allgather(str(caught.value)))) == 1
    assert read(shared_tmp_path / "box.msh", "\n".join(lines).encode())[0]["all"].size == 1


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        ("4.1 0 8", "3 0 8", "$MeshFormat"),
        ("4.1 0 8", "4.1 1 8", "$MeshFormat"),
        ("\n3 2 5 1\n", "\n3 2 79 1\n", "$Elements"),  # a type of cells
        ("\n3 2 5 1\n", "\n3 2 5 1e18\n", "$Elements"),
        ("\n3 2 5 1\n", "\n3 2 5 -1\n", "$Elements"),
        ("\n3 2 5 1\n", "\n3 2 5 x\n", "$Elements"),
        ("\n3 2 5 1\n", "\n3 2 5.5 1\n", "$Elements"),
        ("$EndElements", "", "$Elements"),
        ("\n4 13 3 99\n", "\n4 13 3 99 1\n", "$Nodes"),
        ("\n0 94 ", "\n0 95 ", "$Elements"),
        ("2.0 1.0", "2.0", "$Nodes"),
        ('"all parts"', "", "$PhysicalNames"),
    ],
)
def test_what_is_damaged_is_named(shared_tmp_path: Path, old: str, new: str, asked: str) -> None:
    text = Writer("4.1").whole().decode()
    assert old in text
    with refused(MeshError, asked=asked) as caught:
        read(shared_tmp_path / "bad.msh", text.replace(old, new, 1).encode())
    assert len(set(COMM.allgather(str(caught.value)))) == 1


@pytest.mark.parametrize("case", [("2.2", ""), ("2.2", "<"), ("4.1", ""), ("4.1", "<")])
def test_every_cut_file_is_an_error_or_right(shared_tmp_path: Path, case: tuple[str, str]) -> None:
    data = Writer(*case).whole()
    path, refusals = shared_tmp_path / "cut.msh", 0
    for end in range(0, len(data), 97):
        try:
            mesh, _ = read(path, data[:end])
            require_same(mesh)
        except MeshError as error:
            refusals += error.path == str(path)
    assert refusals >= -(-data.index(b"$EndElements") // 97)

# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files of other programs: volumes are positive and right, groups become regions."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import h5py
import meshio
import numpy as np
import pytest

import symancf as sa
from symancf.cells import CELLS
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
TURN *= np.linalg.det(TURN)
LINEAR = ("tetra", "hexahedron", "wedge")
#: MED's types, and the places that its nodes have among VTK's: cells are their mirror images.
MED = {
    "tetra": ("TE4", [0, 2, 1, 3]),
    "tetra10": ("T10", [0, 2, 1, 3, 6, 5, 4, 7, 9, 8]),
    "hexahedron": ("HE8", [0, 3, 2, 1, 4, 7, 6, 5]),
    "hexahedron20": (
        "H20",
        [0, 3, 2, 1, 4, 7, 6, 5, 11, 10, 9, 8, 15, 14, 13, 12, 16, 19, 18, 17],
    ),
    "wedge": ("PE6", [0, 2, 1, 3, 5, 4]),
    "wedge15": ("P15", [0, 2, 1, 3, 5, 4, 8, 7, 6, 11, 10, 9, 12, 14, 13]),
    "quad": ("QU4", [0, 1, 2, 3]),
    "quad8": ("QU8", [*range(8)]),
    "triangle": ("TR3", [0, 1, 2]),
    "triangle6": ("TR6", [*range(6)]),
}
SOLID = [kind for kind in MED if CELLS[kind].dimension == 3]


class Box:
    """A box of 2 x 1 x 1, turned: its volumes, and the faces z = 0, z = 1."""

    def __init__(self, kind: str) -> None:
        mesh = Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), cell=kind, warp=lambda X: X @ TURN.T)
        self.kind, self.points, self.cells = kind, mesh.points, mesh.cells[kind].connectivity
        self.faces = np.concatenate([mesh[name].slice()[1] for name in ("z0", "z1")])
        (self.trace,) = mesh["z0"].sizes
        self.tags = {
            "volumes": np.arange(len(self.cells)) % 2 + 5,
            "faces": np.repeat([7, 5], len(self.faces) // 2),
        }

    def meshio(self, name: str) -> meshio.Mesh:
        blocks = [(self.trace, self.faces), (self.kind, self.cells)]
        tags = [self.tags["faces"], self.tags["volumes"]]
        return meshio.Mesh(self.points, blocks, cell_data={name: tags} if name else {})

    def numbered(self, name: str) -> dict[str, dict[str, int]]:
        """Return the regions of the tags, with the name of the tags before their numbers."""
        half, sides = len(self.cells) // 2, len(self.faces) // 2
        return {
            f"{name} 5": {self.kind: half},
            f"{name} 6": {self.kind: half},
            f"{name} 5 (surface)": {self.trace: sides},
            f"{name} 7": {self.trace: sides},
        }


def require(
    path: Path, kind: str, regions: dict[str, dict[str, int]], lost: str = "", size: float = 2.0
) -> Mesh:
    """Read a file of straight cells and compare volumes, nodes between corners and regions."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = Mesh.read(path)
    assert [lost in str(w.message) for w in told] == [True] * bool(lost)
    x = mesh.points[mesh.cells[kind].connectivity]
    cell = CELLS[kind]
    edges = [1, 3, 4] if kind.startswith("hexahedron") else [1, 2, 3]
    part = {"h": 1.0, "w": 0.5, "t": 1.0 / 6.0}[kind[0]]
    volumes = part * np.linalg.det(x[:, edges] - x[:, :1])
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(size, rel=1e-6)
    between, _ = cell.straight.evaluate(cell.unit)
    corners = x[:, : cell.corners]
    np.testing.assert_allclose(x, np.einsum("mv,kva->kma", between, corners), atol=1e-6)
    assert {name: mesh[name].sizes for name in mesh.regions if name != "all"} == regions
    return mesh


def write_med(path: Path, box: Box) -> None:
    """Write what MED's manual says; family -1 of faces is in two groups, -2 in one of them."""
    with h5py.File(path, "w") as file:
        whole = file.create_group("ENS_MAA/part")
        whole.attrs["ESP"] = 3
        step = whole.create_group("-0000000000000000001-0000000000000000001")
        nodes = step.create_dataset("NOE/COO", data=box.points.T.ravel())
        nodes.attrs["NBR"] = len(box.points)
        step["NOE/FAM"] = np.where(np.arange(len(box.points)) < 3, 4, 0)
        blocks = {box.kind: box.cells, box.trace: box.faces}
        numbers = {box.kind: -box.tags["volumes"], box.trace: 5 - box.tags["faces"]}
        for kind, rows in blocks.items():
            code, order = MED[kind]
            data = step.create_dataset(f"MAI/{code}/NOD", data=(rows[:, order] + 1).T.ravel())
            data.attrs["NBR"] = len(rows)
            step[f"MAI/{code}/FAM"] = numbers[kind]
        groups = {-2: ["bottom", "Außen"], -5: [], -6: ["right half"]}
        for family, names in groups.items():
            group = file.create_group(f"FAS/part/ELEME/FAM_{family}")
            group.attrs["NUM"] = family
            if names:
                letters = [list(name.encode().ljust(80, b"\0")) for name in names]
                group["GRO/NOM"] = np.array(letters, np.uint8).view(np.int8)
        group = file.create_group("FAS/part/NOEUD/FAM_4")
        group.attrs["NUM"] = 4
        group["GRO/NOM"] = np.array([list(b"three nodes".ljust(80, b" "))], np.int8)


@pytest.mark.parametrize("kind", SOLID)
def test_med(kind: str, tmp_path: Path) -> None:
    box, path = Box(kind), tmp_path / "box.med"
    write_med(path, box)
    half, sides = len(box.cells) // 2, len(box.faces) // 2
    require(
        path,
        kind,
        {
            "bottom": {box.trace: sides},
            "Außen": {box.trace: sides},
            "FAM_-5": {kind: half},
            "right half": {kind: half},
            "three nodes": {"vertex": 3},
        },
    )


def test_med_of_gmsh(tmp_path: Path) -> None:
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(["-v", "0"], interruptible=False)
    try:
        base = gmsh.model.occ.addRectangle(0, 0, 0, 2, 1)
        gmsh.model.occ.synchronize()
        for kinds, recombine in (
            (("tetra", "tetra10", "tetra10"), None),
            (("wedge", "wedge18", "wedge15"), False),
            (("hexahedron", "hexahedron27", "hexahedron20"), True),
        ):
            gmsh.clear()
            base = gmsh.model.occ.addRectangle(0, 0, 0, 2, 1)
            layers = {} if recombine is None else {"numElements": [1], "recombine": True}
            made = gmsh.model.occ.extrude([(2, base)], 0, 0, 1, **layers)
            gmsh.model.occ.synchronize()
            gmsh.model.mesh.setTransfiniteAutomatic([(2, base)], recombine=bool(recombine))
            gmsh.option.setNumber("Mesh.MeshSizeMin", 1.0)
            gmsh.model.addPhysicalGroup(3, [made[1][1]], name="the body")
            gmsh.model.addPhysicalGroup(2, [base], name="base")
            gmsh.model.mesh.generate(3)
            for kind, order, incomplete in zip(kinds, (1, 2, 2), (0, 0, 1), strict=True):
                gmsh.option.setNumber("Mesh.SecondOrderIncomplete", incomplete)
                gmsh.model.mesh.setOrder(1)
                gmsh.model.mesh.setOrder(order)
                sizes = {}
                for name, dim in (("the body", 3), ("base", 2)):
                    (tag,) = (t for d, t in gmsh.model.getPhysicalGroups(dim))
                    (entity,) = gmsh.model.getEntitiesForPhysicalGroup(dim, tag)
                    (tags,) = gmsh.model.mesh.getElements(dim, entity)[1]
                    sizes[name] = len(tags)
                gmsh.write(str(tmp_path / "part.med"))
                mesh = Mesh.read(tmp_path / "part.med")
                trace = next(iter(mesh["base"].sizes))
                regions = {"the body": {kind: sizes["the body"]}, "base": {trace: sizes["base"]}}
                require(tmp_path / "part.med", kind, regions)
                assert mesh["base"].measure() == pytest.approx(2.0)
    finally:
        gmsh.finalize()


@pytest.mark.parametrize("suffix", ["vtk", "vtu", "xdmf", "mesh", "bdf"])
@pytest.mark.parametrize("kind", SOLID)
def test_tags_of_files_that_meshio_reads(kind: str, suffix: str, tmp_path: Path) -> None:
    """Whole numbers of cells are regions, also as floating numbers."""
    if suffix == "mesh" and kind not in LINEAR:
        pytest.skip("meshio has no cells of second order in files of Medit")
    box, path = Box(kind), tmp_path / f"box.{suffix}"
    name = {"mesh": "medit:ref", "bdf": "nastran:ref"}.get(suffix, "material")
    source = box.meshio(name)
    if suffix in ("vtu", "xdmf"):
        source.cell_data[name] = [part.astype(float) for part in source.cell_data[name]]
        source.cell_data["stress"] = [0.5 + np.arange(len(c.data)) for c in source.cells]
        source.point_data["number"] = np.arange(len(box.points))
    elif suffix == "bdf":
        source.points = source.points.round(9)  # meshio writes no more digits
    meshio.write(path, source)
    require(path, kind, box.numbered(name))
    if suffix == "bdf":  # bulk data alone, as Gmsh writes it
        text = path.read_text().partition("BEGIN BULK\n")[2]
        path.write_text(text)
        require(path, kind, box.numbered(name))
        path.write_text(text[: len(text) // 2])
        with refused(sa.MeshError, asked=str(path)):
            Mesh.read(path)


def test_wedges_of_either_sense(tmp_path: Path) -> None:
    """Programs that write a format number wedges in both."""
    for kind, suffix in (("wedge", "vtu"), ("wedge15", "xdmf"), ("wedge", "su2")):
        box, path = Box(kind), tmp_path / f"{kind}.{suffix}"
        box.cells[::2] = box.cells[::2][:, MED[kind][1]]
        if suffix == "su2":
            write_su2(path, box)
            require(path, kind, {"wet side": {box.trace: 4}, "7": {box.trace: 4}})
        else:
            meshio.write(path, box.meshio(""))
            require(path, kind, {})


def write_su2(path: Path, box: Box) -> None:
    """Write what SU2's manual says."""
    code = {k: CELLS[k].vtk for k in (box.kind, box.trace)}
    rows = {
        k: [f"{code[k]} {' '.join(map(str, c))}" for c in cells]
        for k, cells in ((box.kind, box.cells), (box.trace, box.faces))
    }
    half = len(box.faces) // 2
    lines = ["% a comment", "NDIME= 3", f"NELEM= {len(box.cells)}"]
    lines += [f"{row} {k} % its number" for k, row in enumerate(rows[box.kind])]
    lines += [f"NPOIN = {len(box.points)}", *(" ".join(map(repr, x)) for x in box.points.tolist())]
    lines += ["", "NMARK= 2"]
    for name, own in (("wet side", rows[box.trace][:half]), ("7", rows[box.trace][half:])):
        lines += [f"MARKER_TAG= {name}", f"MARKER_ELEMS= {half}", *own]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", SOLID)
def test_su2(kind: str, tmp_path: Path) -> None:
    box, path = Box(kind), tmp_path / "box.su2"
    write_su2(path, box)
    sides = {box.trace: len(box.faces) // 2}
    require(path, kind, {"wet side": sides, "7": sides})


#: Kratos: edges below, upright ones, those above; faces below, front, right, back, left, above.
KRATOS = {
    "hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
    "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 24, 22, 21, 23, 20, 25, 26],
    "wedge15": [*range(9), *range(12, 15), *range(9, 12)],
}


def write_mdpa(path: Path, box: Box) -> None:
    """Write what Kratos's documentation says; numbers of nodes are 3 k + 7 and fall."""
    last = len(box.points) - 1
    lines = ["Begin Properties 1", "  DENSITY 3.0 // of all", "End Properties", "Begin Nodes"]
    for k, x in reversed(list(enumerate(box.points.tolist()))):
        lines.append(f"  {3 * (last - k) + 7} {x[0]!r} {x[1]!r} {x[2]!r}")
    lines.append("End Nodes")
    for title, kind, cells, tags in (
        ("Elements SmallDisplacementElement3D", box.kind, box.cells, box.tags["volumes"]),
        ("Conditions SurfaceLoadCondition3D", box.trace, box.faces, 0 * box.tags["faces"]),
    ):
        order = np.argsort(KRATOS.get(kind, [*range(cells.shape[1])]))
        lines.append(f"Begin {title}{cells.shape[1]}N // {kind}")
        for k, cell in enumerate(cells):
            nodes = " ".join(str(3 * (last - v) + 7) for v in cell[order])
            lines.append(f"{k + 10} {tags[k]} {nodes}")
        lines.append(f"End {title.split()[0]}")
    for name, inside in (
        ("Parts", "Begin SubModelPartElements\n10\n11\nEnd SubModelPartElements"),
        (
            "Load",
            "Begin SubModelPartNodes\n7\nEnd SubModelPartNodes\nBegin SubModelPart low\n"
            "Begin SubModelPartConditions\n10\nEnd SubModelPartConditions\nEnd SubModelPart",
        ),
    ):
        lines += [f"Begin SubModelPart {name}", inside, "End SubModelPart"]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", [*SOLID, "hexahedron27"])
def test_mdpa(kind: str, tmp_path: Path) -> None:
    box, path = Box(kind), tmp_path / "box.mdpa"
    write_mdpa(path, box)
    half = len(box.cells) // 2
    regions = {
        "properties 5": {kind: half},
        "properties 6": {kind: half},
        "properties 0": {box.trace: len(box.faces)},
        "Parts": {kind: 2},
        "Load": {"vertex": 1},
        "Load.low": {box.trace: 1},
    }
    require(path, kind, regions)
    whole = path.read_text()
    for text in (whole[: len(whole) // 2], whole.replace("\n10\n11", "\n10\n99"), "Begin", "End"):
        path.write_text(text)
        with refused(sa.MeshError, asked=str(path)):
            Mesh.read(path)


def test_what_is_no_region_is_told_in_one_line(tmp_path: Path) -> None:
    box = Box("tetra")
    source = box.meshio("medit:ref")
    source.point_data["medit:ref"] = np.arange(len(box.points)) // 5
    meshio.write(tmp_path / "box.mesh", source)
    require(tmp_path / "box.mesh", "tetra", box.numbered("medit:ref"), lost="of points")
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    many = np.concatenate([X + 3.0 * k for k in range(600)])
    cells = [("tetra", np.arange(2400).reshape(-1, 4))]
    data = {"group": [np.arange(600) // 2], "number": [np.arange(600)]}
    meshio.write(tmp_path / "many.vtu", meshio.Mesh(many, cells, cell_data=data))
    require(tmp_path / "many.vtu", "tetra", {}, lost="'group'", size=100.0)


def test_files_that_are_not_read(tmp_path: Path) -> None:
    """Several meshes, types of cells that there are none of, files that are cut off."""
    box, path = Box("tetra"), tmp_path / "box.med"
    write_med(path, box)
    with h5py.File(path, "a") as file:
        step = next(iter(file["ENS_MAA/part"].values()))
        step.move("MAI/TE4", "MAI/OCT")
    with refused(sa.MeshError, asked="cells", given="OCT"):
        Mesh.read(path)
    with h5py.File(path, "a") as file:
        file.create_group("ENS_MAA/other")
    with refused(sa.MeshError, asked="mesh", given=2, possible=("other", "part")):
        Mesh.read(path)
    path.write_bytes(path.read_bytes()[:3000])
    with refused(sa.MeshError, asked=str(path)):
        Mesh.read(path)
    path = tmp_path / "box.su2"
    write_su2(path, box)
    whole = path.read_text()
    for text in (whole[: len(whole) // 2], whole.replace("NELEM= ", "NELEM= 9"), "", "NDIME= x"):
        path.write_text(text)
        with refused(sa.MeshError, asked=lambda what: what in (str(path), "cells")):
            Mesh.read(path)

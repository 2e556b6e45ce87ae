# SPDX-License-Identifier: BSD-3-Clause
"""MED files of Salome and Code_Aster: groups of elements and nodes become regions.

meshio reads neither their order of nodes nor their groups. The layout: MED-fichier 4, "Structure
des fichiers"; MED numbers a cell as VTK numbers its mirror image (Salome, SMESH: `SMDS_MeshCell`).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MeshError
from ..runtime.hdf import DAMAGED, examined
from .cells import outwards
from .serial import SerialMesh, text_of, unreadable

if TYPE_CHECKING:
    from pathlib import Path

    import h5py

TYPES = {
    **{"PO1": "vertex", "SE2": "line", "SE3": "line3", "TR3": "triangle", "TR6": "triangle6"},
    **{"QU4": "quad", "QU8": "quad8", "QU9": "quad9", "TE4": "tetra", "T10": "tetra10"},
    **{"HE8": "hexahedron", "H20": "hexahedron20", "H27": "hexahedron27", "PE6": "wedge"},
    **{"P15": "wedge15", "P18": "wedge18", "PY5": "pyramid", "P13": "pyramid13"},
}
#: Nodes in faces of MED's mirrored cells, in VTK's order: MED goes round from the lowest face on.
_FACES = {"hexahedron27": [21, 23, 24, 22, 20, 25, 26], "wedge18": [17, 16, 15]}


def read_med(path: Path) -> SerialMesh:
    """Read the mesh of a file on this rank.

    Groups are regions; a family of elements without a group is a region by its own name. Warns of
    fields, which are not read.

    Raises
    ------
    MeshError : the file is damaged, or holds several meshes or steps, or other types of cells.
    """
    try:
        with examined(path).open() as file:
            return _mesh(path, file)
    except DAMAGED as error:
        raise unreadable(path, " ".join(str(error).split())) from None


def _mesh(path: Path, file: h5py.File) -> SerialMesh:
    name, mesh_group = _only(path, "mesh", file["ENS_MAA"])
    step = mesh_group if "NOE" in mesh_group else _only(path, "step", mesh_group)[1]
    n, dim = int(step["NOE/COO"].attrs["NBR"]), int(mesh_group.attrs["ESP"])
    mesh = SerialMesh.from_arrays(step["NOE/COO"][()].reshape(dim, n).T, {}, {})
    families = file.get(f"FAS/{name}", {})
    for code, group in step.get("MAI", {}).items():
        kind = TYPES.get(code)
        if kind is None:
            raise MeshError(
                f"{str(path)!r}: cells of MED's type {code!r} are not read; possible: "
                f"{', '.join(TYPES)}",
                path=str(path),
                asked="cells",
                given=code,
                possible=TYPES,
            )
        count = int(group["NOD"].attrs["NBR"])
        rows = group["NOD"][()].reshape(-1, count).T - 1
        own = mesh.append(kind, outwards(kind, rows, mesh.points, _FACES.get(kind)))
        numbers = group["FAM"][()] if "FAM" in group else np.zeros(count, int)
        _regions(mesh, kind, own, numbers, families.get("ELEME", {}))
    if not sum(map(len, mesh.cells.values())):
        raise MeshError(f"{str(path)!r} holds no cells", path=str(path), asked="cells")
    if "FAM" in step["NOE"] and step["NOE/FAM"][()].any():
        numbers = step["NOE/FAM"][()]
        used = np.flatnonzero(numbers)
        own = mesh.append("vertex", used[:, None])
        _regions(mesh, "vertex", own, numbers[used], families.get("NOEUD", {}))
    if len(file.get("CHA", ())):
        warnings.warn(
            f"{path.name}: its fields {', '.join(map(repr, file['CHA']))} are not read",
            stacklevel=4,
        )
    return mesh


def _only(path: Path, what: str, group: h5py.Group) -> tuple[str, Any]:
    if len(group) != 1:
        raise MeshError(
            f"{str(path)!r} holds {len(group)} of {what} ({', '.join(group)}): write one into a "
            "file",
            path=str(path),
            asked=what,
            given=len(group),
            possible=group,
        )
    ((name, value),) = group.items()
    return name, value


def _regions(mesh: SerialMesh, kind: str, own: Any, numbers: Any, families: Any) -> None:
    """Add cells to the regions of the groups of their families, which `numbers` name."""
    groups = {int(family.attrs["NUM"]): (name, family) for name, family in families.items()}
    for number in np.unique(numbers):
        if not number:  # of no family
            continue
        name, family = groups.get(int(number), (f"family {number}", {}))
        rows = np.atleast_2d(family["GRO/NOM"][()]) if "GRO" in family else []
        texts = [np.asarray(row).astype(np.uint8).tobytes().split(b"\0")[0] for row in rows]
        for region in [text_of(text).strip() for text in texts] or [name]:
            mesh.add_to_region(region, kind, own[numbers == number])

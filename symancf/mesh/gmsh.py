# SPDX-License-Identifier: BSD-3-Clause
"""Physical groups of Gmsh's files, all of them: meshio keeps the last of those with one name.

Read are ``$PhysicalNames`` of every version, and ``$Entities`` of version 4.1, where an entity may
be in several groups (Gmsh reference manual, "MSH file format").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

Numbers = NDArray[np.generic]


@dataclass
class Groups:
    """Physical groups of a file.

    Attributes
    ----------
    names : (dimension, number) -> names of a group.
    of_entity : (dimension, number of an entity) -> its groups; empty where the file has none of
        them.
    """

    names: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    of_entity: dict[tuple[int, int], list[int]] = field(default_factory=dict)


def read_groups(path: Path) -> Groups:
    """Read the groups of a file that meshio could read.

    Raises
    ------
    ValueError, IndexError : the sections are damaged.
    """
    groups = Groups()
    version, binary = "", False
    with path.open("rb") as file:
        for line in iter(file.readline, b""):
            section = line.strip()
            if section == b"$MeshFormat":
                version, kind, *_ = file.readline().decode().split()
                binary = kind == "1"
            elif section == b"$PhysicalNames":
                for _ in range(int(file.readline())):
                    dim, number, name = file.readline().decode().strip().split(maxsplit=2)
                    names = groups.names.setdefault((int(dim), int(number)), [])
                    names.append(_unquoted(name))
            elif section == b"$Entities" and version == "4.1":
                _entities(file, binary, groups)
            elif section in (b"$Nodes", b"$Elements"):  # what is asked for comes before
                break
    return groups


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _entities(file: BinaryIO, binary: bool, groups: Groups) -> None:
    """Read the groups of all entities."""
    words: list[bytes] = []

    def take(kind: str, count: int) -> Numbers:
        if binary:
            size = np.dtype(kind).itemsize * count
            return np.frombuffer(file.read(size), kind, count)
        while len(words) < count:
            line = file.readline()
            if not line or line.startswith(b"$"):
                raise ValueError("$Entities is cut off")
            words.extend(line.split())
        taken = np.array(words[:count], dtype=object).astype(kind)
        del words[:count]
        return taken

    for dim, count in enumerate(take("u8", 4).tolist()):
        for _ in range(count):
            number = int(take("i4", 1)[0])
            take("f8", 3 if dim == 0 else 6)  # its bounding box
            tags = take("i4", int(take("u8", 1)[0])).tolist()
            groups.of_entity[dim, number] = tags
            if dim:
                take("i4", int(take("u8", 1)[0]))  # its boundary

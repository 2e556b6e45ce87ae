# SPDX-License-Identifier: BSD-3-Clause
"""States of .vtkhdf files read back, each compared with its checksums; see `.vtkhdf`."""

from __future__ import annotations

import json
import re
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Data
from ..errors import SymancfError
from ..runtime.files import checksum, decoded
from ..runtime.hdf import DAMAGED, Examined, reading
from .samples import Samples, join
from .vtu import NAMES, Layout, cells_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import h5py

ROOT = "VTKHDF"
SUMS = "checksums"
COUNTS = "NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"
TOPOLOGY = (*COUNTS, "Connectivity", "Offsets", "Types")
#: Members of `Steps` that say where the rows of a state begin, and the data sets of these rows.
STARTS = {
    "PartOffsets": "NumberOfPoints",
    "PointOffsets": "Points",
    "CellOffsets": "Types",
    "ConnectivityIdOffsets": "Connectivity",
}
NUMBERS = {name: np.dtype(f"<{code}") for code, name in NAMES.items()}


@dataclass(frozen=True)
class Stored:
    """A body in one of the states of a file: its group, and the number of the state."""

    path: Path
    group: str
    step: int


def kinds_of(fields: tuple[Layout, Layout]) -> list[str]:
    """Return the names of all data sets of rows, of a body with fields of points and of cells."""
    points, cells = ([name for name, _, _ in known] for known in fields)
    named = [*(f"PointData/{n}" for n in points), *(f"CellData/{n}" for n in cells)]
    return [*TOPOLOGY, "Points", *named]


def sum_of(
    before: int,
    sums: list[int],
    fields: tuple[Layout, Layout],
    texts: Mapping[str, str],
    said: Mapping[str, float | int],
) -> int:
    """Return the CRC-32 of a state: of that of the state before, its rows and all else."""
    told = [before, sums, fields, sorted(texts.items()), sorted(said.items())]
    return zlib.crc32(json.dumps(told).encode())


def bodies_of(there: Examined, file: h5py.File) -> dict[str, Written]:
    """Return the bodies of a file by their names."""
    root = file[ROOT]
    several = decoded(root.attrs["Type"]) == "PartitionedDataSetCollection"
    found = [k for k in root if k != "Assembly"] if several else []
    groups = [f"{ROOT}/{k}" for k in sorted(found, key=lambda k: int(root[k].attrs["Index"]))]
    bodies = [Written(there, file, group) for group in groups or [ROOT]]
    return {body.texts.get("name", ""): body for body in bodies}


@dataclass
class Written:
    """A body in a file.

    Attributes
    ----------
    there, file : the file, open.
    where : its group.
    texts : of its field data.
    fields : of points and of cells.
    """

    there: Examined
    file: h5py.File
    where: str

    def __post_init__(self) -> None:
        take, group = self.there.take, self.file[self.where]
        told = group.get("FieldData", {}).items()
        self.group = group
        self.texts = {key: take(data, 0, 1)[0].decode("utf-8") for key, data in told}
        kinds = {dtype: name for name, dtype in NUMBERS.items()}
        points, cells = (
            [
                (name, kinds[data.dtype], 1 if data.ndim == 1 else data.shape[1])
                for name, data in group.get(title, {}).items()
            ]
            for title in ("PointData", "CellData")
        )
        self.fields: tuple[Layout, Layout] = points, cells

    def __len__(self) -> int:
        """Number of states."""
        return int(self.group["Steps"].attrs["NSteps"]) if "Steps" in self.group else 1

    def numbers(self, step: int) -> dict[str, float | int]:
        """Return what `Steps` say of a state.

        Raises
        ------
        OSError : they are damaged.
        """
        said: dict[str, float | int] = {}
        if "Steps" in self.group:
            steps = self.group["Steps"]
            sets = {k: steps[k] for k in ("Values", "NumberOfParts", *STARTS)}
            for title in ("PointDataOffsets", "CellDataOffsets"):
                sets |= {f"{title}/{n}": data for n, data in steps.get(title, {}).items()}
            for name, data in sets.items():
                said[name] = np.ravel(self.there.take(data, step, step + 1))[0].item()
        if self.summed:
            before = self.sums(step - 1)[-1] if step else 0
            *sums, total = self.sums(step)
            if sum_of(before, sums, self.fields, self.texts, said) != total:
                raise OSError(f"it is damaged: the numbers of state {step} have changed")
        return said

    @property
    def summed(self) -> bool:
        """Whether the file has checksums; those of older versions have none."""
        return SUMS in self.file

    def sums(self, step: int) -> list[int]:
        """Return the checksums of the rows of a state, and of all of it."""
        held = self.there.take(self.file[f"{SUMS}/{self.where}"], step, step + 1)
        sums: list[int] = held[0].tolist()
        return sums

    def spans(self, step: int) -> dict[str, tuple[int, int]]:
        """Return, for all data sets, where the rows of a state begin and how many they are.

        Raises
        ------
        OSError : these rows are damaged.
        """
        group, there = self.group, self.there
        said = {k: int(v) for k, v in self.numbers(step).items() if k != "Values"}
        first = said.get("PartOffsets", 0)
        count = said.get("NumberOfParts", len(group["NumberOfPoints"]))
        points, cells, ids = (int(there.take(group[k], first, first + count).sum()) for k in COUNTS)
        sizes = {"Points": points, "Types": cells, "Connectivity": ids}
        sizes |= dict.fromkeys(COUNTS, count) | {"Offsets": cells + count}
        starts = {kind: said.get(name, 0) for name, kind in STARTS.items()}
        starts |= dict.fromkeys(COUNTS, first) | {"Offsets": starts["Types"] + first}
        found = {}
        for kind in kinds_of(self.fields):
            title, _, field_name = kind.partition("/")
            if field_name:
                start = said.get(f"{title}Offsets/{field_name}", 0)
                found[kind] = (start, points if title == "PointData" else cells)
            else:
                found[kind] = (starts[kind], sizes[kind])
            if not 0 <= found[kind][0] <= sum(found[kind]) <= there.readable(group[kind]):
                raise OSError(f"{kind!r} of state {step} is damaged, or cut off")
        return found

    def rows(self, step: int) -> dict[str, Data]:
        """Return the rows of a state.

        Raises
        ------
        OSError : they are damaged.
        """
        spans = self.spans(step).items()
        rows = {k: self.there.take(self.group[k], start, start + n) for k, (start, n) in spans}
        if self.summed:
            pairs = zip(rows, self.sums(step), strict=False)
            changed = [kind for kind, total in pairs if checksum(rows[kind]) != total]
            if changed:
                raise OSError(f"it is damaged: {', '.join(changed)} of state {step} have changed")
        return rows


def stored_states(path: Path) -> list[tuple[float, dict[str, Stored]]]:
    """Return the times of a file, each with its bodies; one without times has the time 0.

    Of a file that is damaged or cut off these are the states before, with a warning.

    Raises
    ------
    SymancfError : no such file, or not one of VTKHDF.
    """
    try:
        times, groups, count = reading(path, _times)
    except DAMAGED as error:
        raise unreadable(path, error) from None
    if len(times) < count:
        warnings.warn(
            f"{str(path)!r} is damaged or cut off: read are its first {len(times)} states of "
            f"{count}",
            stacklevel=4,
        )
    return [
        (time, {name: Stored(path, group, k) for name, group in groups.items()})
        for k, time in enumerate(times)
    ]


def unreadable(path: Path, error: Exception) -> SymancfError:
    """Return the error of a file that is missing, damaged or of another origin."""
    return SymancfError(f"cannot read {str(path)!r} as a .vtkhdf: {error}", asked=str(path))


def _times(there: Examined) -> tuple[list[float], dict[str, str], int]:
    """Return the times of the states that can be read, the groups of the bodies, all states."""
    with there.open() as file:
        bodies = bodies_of(there, file)
        count = min(map(len, bodies.values()))
        times: list[float] = []
        try:
            for step in range(count):
                told = [body.numbers(step) for body in bodies.values()]
                if not there.sound:
                    for body in bodies.values():
                        body.spans(step)
                times.append(float(told[0].get("Values", 0.0)))
        except DAMAGED:
            if not times:
                raise
        return times, {name: body.where for name, body in bodies.items()}, count


def read_stored(stored: Stored) -> Samples:
    """Read a body in one state, all its partitions.

    Raises
    ------
    SymancfError : the file is missing, damaged or of another origin.
    """
    try:
        found = reading(stored.path, lambda there: _stored(there, stored))
        found.check()
    except (*DAMAGED, SymancfError) as error:
        raise unreadable(stored.path, error) from None
    return found


def _stored(there: Examined, stored: Stored) -> Samples:
    with there.open() as file:
        body = Written(there, file, stored.group)
        return _samples(body.rows(stored.step), body.fields, body.texts)


def _samples(
    rows: Mapping[str, Data], fields: tuple[Layout, Layout], told: dict[str, str]
) -> Samples:
    """Return the rows of all partitions as samples."""
    at: Counter[str] = Counter()
    found = []
    told.pop("name", "")
    text = told.pop("units", "")

    def take(kind: str, count: int) -> Data:
        at[kind] += count
        return rows[kind][at[kind] - count : at[kind]]

    units = dict(re.findall(r"(?:^|, )(.*?) \[(.*?)\](?=, |$)", text))
    for points, cells, ids in zip(*(rows[kind].tolist() for kind in COUNTS), strict=True):
        ends = take("Offsets", cells + 1)[1:]
        listed_cells = cells_of(take("Connectivity", ids), ends, take("Types", cells))
        of_points, of_cells = (
            {name: take(f"{title}Data/{name}", count) for name, _, _ in known}
            for title, known, count in zip(("Point", "Cell"), fields, (points, cells), strict=True)
        )
        x = take("Points", points)
        found.append(Samples(x, listed_cells, of_points, of_cells, units, told))
    return join(found) if any(len(part.points) for part in found) else found[0]

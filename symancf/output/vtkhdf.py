# SPDX-License-Identifier: BSD-3-Clause
"""VTKHDF: one HDF5 file for all states and ranks, of one body or of several by name.

Ranks are the partitions. Rows that are those of the state before (cells, ids, points that do not
move) are stored once. One body is an ``UnstructuredGrid``, several are the parts of a
``PartitionedDataSetCollection``.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from mpi4py import MPI

from ..arrays import Data
from ..errors import SymancfError
from ..runtime.collective import reduced, together
from ..runtime.files import DAMAGED, FORMAT, GrowingHdf, decoded, partial_of
from .samples import Samples, join
from .vtu import NAMES, Layout, about, cells_of, flat, layout, listed, require_same_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import h5py

ROOT = "VTKHDF"
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


@dataclass
class _Part:
    """What was written of one body.

    Attributes
    ----------
    group : of the file.
    fields : of points and of cells.
    ends : data set -> rows that count.
    starts : data set -> first row of the last state.
    marks : data set -> digest of this rank's rows in the last state.
    parts : partitions of the last state.
    """

    group: str
    fields: tuple[Layout, Layout]
    ends: Counter[str] = field(default_factory=Counter)
    starts: dict[str, int] = field(default_factory=dict)
    marks: dict[str, bytes] = field(default_factory=dict)
    parts: int = 0

    @property
    def kinds(self) -> list[str]:
        """Return the names of all data sets of rows."""
        points, cells = ([name for name, _, _ in known] for known in self.fields)
        named = [*(f"PointData/{n}" for n in points), *(f"CellData/{n}" for n in cells)]
        return [*TOPOLOGY, "Points", *named]


class VtkHdf:
    """A .vtkhdf file that grows by one state with each `write`.

    It is readable after each of these; a state that could not be written leaves those before. An
    older file stays until the first state is written.
    """

    def __init__(self, path: Path, comm: MPI.Comm) -> None:
        self.path, self.comm = path, comm
        self.states = 0
        self._parts: dict[str, _Part] = {}

    def write(self, bodies: Mapping[str, Samples], time: float | None) -> None:
        """Add a state, or without a time write the only one (collective).

        Raises
        ------
        SymancfError, OSError : on every rank: arrays that do not fit together, other bodies or
            fields than those of the first state; a full disk, a folder that cannot be written.
        """
        parts = self._fitting(bodies)
        rows: dict[str, Data] = {}
        made = {name: self._changed(part, bodies[name]) for name, part in parts.items()}
        for part, (changed, _) in zip(parts.values(), made.values(), strict=True):
            rows |= {f"{part.group}/{kind}": values for kind, values in changed.items()}
        counts = [len(values) for values in rows.values()]
        size = sum(values.nbytes for values in rows.values())
        *added, size = reduced(self.comm, np.array([*counts, size], np.int64)).tolist()
        grown = dict(zip(rows, added, strict=True))
        ends = {f"{p.group}/{kind}": p.ends[kind] for p in parts.values() for kind in p.kinds}
        for part in parts.values():
            ends |= {f"{part.group}/Steps/{m}": self.states for m in _said(part, {}, 0.0)}

        def begin(file: h5py.File) -> None:
            _structure(file, [*parts.values()], bodies, time)

        def finish(file: h5py.File) -> None:
            if time is not None:
                for part in parts.values():
                    _add_step(file[part.group]["Steps"], self.states, _said(part, grown, time))

        fresh = None if self.states else begin
        file = GrowingHdf(self.path, self.comm, size, ends, fresh, finish)
        try:
            for name, values in rows.items():
                file.append(name, values)
        finally:
            file.close()
        for part, (_, marks) in zip(parts.values(), made.values(), strict=True):
            part.marks = marks
            part.parts = grown.get(f"{part.group}/NumberOfPoints", part.parts)
            for kind in part.kinds:
                if (more := grown.get(f"{part.group}/{kind}")) is not None:
                    part.starts[kind] = part.ends[kind]
                    part.ends[kind] += more
        self._parts = parts
        self.states += 1

    def _fitting(self, bodies: Mapping[str, Samples]) -> dict[str, _Part]:
        """Return what is known of bodies, whose arrays fit to each other and to those before."""
        before = self._parts
        with together(self.comm):
            for samples in bodies.values():
                samples.check()
                for name in (*samples.point_data, *samples.cell_data):
                    if "/" in name or name in (".", ""):
                        raise SymancfError(f"{name!r} cannot be the name of a field in a .vtkhdf")
            if [*bodies] != [*before] and (before or not bodies):
                raise SymancfError(
                    f"{str(self.path)!r} has the same bodies in all states, "
                    f"{', '.join(map(repr, before)) or 'at least one'}; given "
                    f"{', '.join(map(repr, bodies)) or 'none'}"
                )
        groups = safe_names(bodies, {"Assembly"})
        parts = {}
        for name, samples in bodies.items():
            about = (f"body {name!r}", layout(samples.point_data), layout(samples.cell_data))
            every = self.comm.allgather((_held(samples), about))
            known = [told for held, told in every if held] or [every[0][1]]
            fields = known[0][1:]
            with together(self.comm):
                require_same_fields(known)
                if name in before and [*map(sorted, before[name].fields)] != [*map(sorted, fields)]:
                    raise SymancfError(
                        f"{str(self.path)!r} has the same fields in all states, of body {name!r} "
                        f"{before[name].fields}; given {fields}"
                    )
            group = ROOT if len(bodies) == 1 else f"{ROOT}/{groups[name]}"
            parts[name] = before.get(name) or _Part(group, fields)
        return parts

    def _changed(self, part: _Part, samples: Samples) -> tuple[dict[str, Data], dict[str, bytes]]:
        """Return this rank's rows that some rank has not as before, and the digests of all."""
        rows = self._rows(part, samples)
        marks = {}
        for kind, values in rows.items():
            digest = hashlib.blake2b(repr(values.shape).encode(), digest_size=16)
            digest.update(values.data if values.size else b"")
            marks[kind] = digest.digest()
        same = np.array([part.marks.get(kind) == mark for kind, mark in marks.items()], np.int64)
        same = reduced(self.comm, same, MPI.MIN)
        kept = {kind for kind, is_same in zip(rows, same.tolist(), strict=True) if is_same}
        if not kept.issuperset(TOPOLOGY):  # they stand together
            kept -= set(TOPOLOGY)
        return {kind: values for kind, values in rows.items() if kind not in kept}, marks

    def _rows(self, part: _Part, samples: Samples) -> dict[str, Data]:
        """Return this rank's rows of all data sets."""
        points, ends, types = listed(samples)
        held = _held(samples)
        if not self.comm.allreduce(held):  # of nothing there is a partition, too
            held = self.comm.rank == 0
        counts = np.array(
            [[len(samples.points), samples.n_cells, len(points)]] * int(held), np.int64
        )
        offsets = np.concatenate([np.zeros(int(held), np.int64), ends])
        rows = dict(zip(COUNTS, np.ascontiguousarray(counts.reshape(-1, 3).T), strict=True))
        found: dict[str, Data] = {**rows, "Connectivity": points, "Offsets": offsets}
        found |= {"Types": types, "Points": flat(np.asarray(samples.points, float))}
        data = samples.point_data, samples.cell_data
        for title, own, known in zip(("Point", "Cell"), data, part.fields, strict=True):
            for name, kind, n in known:
                empty = np.zeros((0, n) if n > 1 else 0, NUMBERS[kind])
                found[f"{title}Data/{name}"] = flat(own[name]) if held and name in own else empty
        return found

    def resume(self, states: int) -> None:
        """Go on after so many states of the file that is there (collective)."""
        with together(self.comm):
            self._parts = {}
            if states:
                try:
                    self._parts = _known(self.path, states)
                    if self.comm.rank == 0:
                        _renew(self.path)
                except DAMAGED as error:
                    raise SymancfError(f"cannot go on with {str(self.path)!r}: {error}") from None
        self.states = states


def _held(samples: Samples) -> bool:
    return samples.n_cells > 0 or len(samples.points) > 0


LONG = 150  # characters: with numbers and suffixes less than the names that files may have


def safe_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return names of ASCII letters, digits, - and _ for others, no two of them the same."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        plain = (plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}")[:LONG]
        free, number = plain, 1
        while free in used:
            number += 1
            free = f"{plain}_{number}"
        used.add(free)
        found[name] = free
    return found


# ---- writing, on rank 0 -------------------------------------------------------------------------
def _structure(
    file: h5py.File, parts: list[_Part], bodies: Mapping[str, Samples], time: float | None
) -> None:
    """Begin a file: its groups, types, names and units."""
    root = _group(file, ROOT)
    if parts[0].group != ROOT:
        _typed(root, "PartitionedDataSetCollection", (2, 2))
        tree = _group(root, "Assembly")
    for number, (part, (name, samples)) in enumerate(zip(parts, bodies.items(), strict=True)):
        group = root if part.group == ROOT else _group(file, part.group)
        for title in ("PointData", "CellData", "FieldData"):
            _group(group, title)
        _typed(group, "UnstructuredGrid", (1, 0) if time is None else (2, 0))
        if part.group != ROOT:
            import h5py

            group.attrs["Index"] = number
            node = part.group.rpartition("/")[2]
            _group(tree, node)[node] = h5py.SoftLink(f"/{part.group}")
        texts = about(samples, name)
        for key, text in texts.items():
            _text(group["FieldData"], key, text)
        if time is None:
            continue
        steps = group.create_group("Steps")
        steps.attrs.create("NSteps", 0, dtype=np.int64)
        for member, value in _said(part, {}, 0.0).items():
            shape = (0, 1) if member in ("CellOffsets", "ConnectivityIdOffsets") else (0,)
            _growing(steps, member, shape, np.asarray(value).dtype)
        for key in texts:
            _growing(steps, f"FieldDataOffsets/{key}", (0,), np.dtype(np.int64))
            _growing(steps, f"FieldDataSizes/{key}", (0, 2), np.dtype(np.int64))


def _group(within: h5py.Group, name: str) -> h5py.Group:
    """Make a group whose members VTK finds in their order."""
    return within.create_group(name, track_order=True)


def _typed(group: h5py.Group, kind: str, version: tuple[int, int]) -> None:
    import h5py

    group.attrs.create("Version", np.array(version, np.int64))
    group.attrs.create("Type", kind.encode(), dtype=h5py.string_dtype("ascii", len(kind)))


def _text(group: h5py.Group, name: str, text: str) -> None:
    """Write a text as VTK reads it: bytes of UTF-8 that HDF5 takes for ASCII."""
    import h5py

    held = np.array([text.encode("utf-8", "replace")], dtype=object)
    group.create_dataset(name, data=held, dtype=h5py.string_dtype("ascii"))


def _growing(group: h5py.Group, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
    chunks = (256, *shape[1:])
    group.create_dataset(name, shape, kind, maxshape=(None, *shape[1:]), chunks=chunks)


def _said(part: _Part, grown: Mapping[str, int], time: float) -> dict[str, float | int]:
    """Return what `Steps` say of a state."""

    def start(kind: str) -> int:
        return (part.ends if f"{part.group}/{kind}" in grown else part.starts).get(kind, 0)

    said: dict[str, float | int] = {"Values": float(time)}
    said["NumberOfParts"] = grown.get(f"{part.group}/NumberOfPoints", part.parts)
    said |= {name: start(kind) for name, kind in STARTS.items()}
    for kind in part.kinds[len(TOPOLOGY) + 1 :]:
        said[kind.replace("Data/", "DataOffsets/", 1)] = start(kind)
    return said


def _add_step(steps: h5py.Group, number: int, said: Mapping[str, float | int]) -> None:
    for name, value in said.items():
        steps[name].resize(number + 1, axis=0)
        steps[name][number] = value
    for key in steps.get("FieldDataOffsets", ()):
        for kind, row in (("Offsets", 0), ("Sizes", (1, 1))):
            data = steps[f"FieldData{kind}/{key}"]
            data.resize(number + 1, axis=0)
            data[number] = row
    steps.file.flush()  # before what counts them
    steps.attrs.modify("NSteps", np.int64(number + 1))


def _renew(path: Path) -> None:
    """Copy a file whose writer was killed while it wrote, which HDF5 opens for reading only."""
    import h5py

    try:
        h5py.File(path, "r+", libver=FORMAT, locking=False).close()
    except OSError:
        with _opened(path) as old, h5py.File(partial_of(path), "w", libver=FORMAT) as new:
            old.copy(ROOT, new)
        os.replace(partial_of(path), path)


# ---- reading ------------------------------------------------------------------------------------
def _opened(path: Path) -> h5py.File:
    """Open a file that may be written meanwhile."""
    import h5py

    return h5py.File(path, "r", libver="latest", swmr=True, locking=False)


def _groups(file: h5py.File) -> dict[str, str]:
    """Return the groups of the bodies of a file by their names."""
    root = file[ROOT]
    several = decoded(root.attrs["Type"]) == "PartitionedDataSetCollection"
    found = [k for k in root if k != "Assembly"] if several else []
    groups = [f"{ROOT}/{k}" for k in sorted(found, key=lambda k: int(root[k].attrs["Index"]))]
    names = {}
    for group in groups or [ROOT]:
        label = file[group].get("FieldData/name")
        names["" if label is None else decoded(label[0].decode("utf-8"))] = group
    return names


def _layout(group: h5py.Group) -> tuple[Layout, Layout]:
    kinds = {dtype: name for name, dtype in NUMBERS.items()}
    points, cells = (
        [
            (name, kinds[data.dtype], 1 if data.ndim == 1 else data.shape[1])
            for name, data in group.get(title, {}).items()
        ]
        for title in ("PointData", "CellData")
    )
    return points, cells


def _known(path: Path, states: int) -> dict[str, _Part]:
    """Return what the first states of a file hold."""
    parts = {}
    with _opened(path) as file:
        for name, where in _groups(file).items():
            group = file[where]
            if len(group["Steps/Values"]) < states:
                raise ValueError(f"it has {len(group['Steps/Values'])} states of {states}")
            part = _Part(where, _layout(group))
            for step in range(states):
                for kind, (start, rows) in _spans(group, step, part.kinds).items():
                    part.ends[kind] = max(part.ends[kind], start + rows)
            parts[name] = part
    return parts


def _spans(group: h5py.Group, step: int, kinds: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return, for data sets of a group, where the rows of a state begin and how many they are."""
    said: dict[str, int] = {}
    if "Steps" in group:
        steps = group["Steps"]
        said = {k: int(np.ravel(steps[k][step])[0]) for k in ("NumberOfParts", *STARTS)}
        for title in ("PointDataOffsets", "CellDataOffsets"):
            said |= {f"{title}/{n}": int(d[step]) for n, d in steps.get(title, {}).items()}
    first = said.get("PartOffsets", 0)
    count = said.get("NumberOfParts", len(group["NumberOfPoints"]))
    points, cells, ids = (int(group[k][first : first + count].sum()) for k in COUNTS)
    sizes = {"Points": points, "Types": cells, "Connectivity": ids} | dict.fromkeys(COUNTS, count)
    sizes["Offsets"] = cells + count
    starts = {kind: said.get(name, 0) for name, kind in STARTS.items()}
    starts |= dict.fromkeys(COUNTS, first) | {"Offsets": starts["Types"] + first}
    found = {}
    for kind in kinds:
        title, _, field_name = kind.partition("/")
        if field_name:
            start = said.get(f"{title}Offsets/{field_name}", 0)
            found[kind] = (start, points if title == "PointData" else cells)
        else:
            found[kind] = (starts[kind], sizes[kind])
    return found


def stored_states(path: Path) -> list[tuple[float, dict[str, Stored]]]:
    """Return the times of a file, each with its bodies; one without times has the time 0.

    Raises
    ------
    SymancfError : no such file, or not one of VTKHDF.
    """
    try:
        with _opened(path) as file:
            groups = _groups(file)
            first = file[next(iter(groups.values()))]
            times = first["Steps/Values"][:].tolist() if "Steps" in first else [0.0]
    except DAMAGED as error:
        raise SymancfError(f"cannot read {str(path)!r} as a .vtkhdf: {error}") from None
    return [
        (time, {name: Stored(path, group, k) for name, group in groups.items()})
        for k, time in enumerate(times)
    ]


def read_stored(stored: Stored) -> Samples:
    """Read a body in one state, all its partitions.

    Raises
    ------
    SymancfError : the file is missing, damaged or of another origin.
    """
    try:
        with _opened(stored.path) as file:
            group = file[stored.group]
            fields = _layout(group)
            kinds = _Part(stored.group, fields).kinds
            spans = _spans(group, stored.step, kinds)
            rows = {kind: group[kind][start : start + n] for kind, (start, n) in spans.items()}
            told = {k: v[0].decode("utf-8") for k, v in group.get("FieldData", {}).items()}
    except DAMAGED as error:
        raise SymancfError(f"cannot read {str(stored.path)!r} as a .vtkhdf: {error}") from None
    at: Counter[str] = Counter()
    found = []
    told.pop("name", "")
    text = told.pop("units", "")

    def take(kind: str, count: int) -> Data:
        at[kind] += count
        return cast("Data", rows[kind][at[kind] - count : at[kind]])

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

# SPDX-License-Identifier: BSD-3-Clause
"""VTKHDF: one HDF5 file for all states and ranks, of one body or of several by name.

Ranks are the partitions. Rows that are those of the state before (cells, ids, points that do not
move) are stored once. One body is an ``UnstructuredGrid``, several are the parts of a
``PartitionedDataSetCollection``. Beside them ``checksums/GROUP`` has, of each state, the CRC-32 of
the rows of each data set, and of the state with all before it; what is read is compared with these.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import warnings
import zlib
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Data
from ..errors import SymancfError
from ..runtime.collective import reduced, together
from ..runtime.files import GrowingHdf, checksum, decoded, writing
from ..runtime.hdf import DAMAGED, Examined, examined, reading, release
from .samples import Samples, join
from .vtu import NAMES, Layout, about, cells_of, flat, layout, listed, require_same_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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


def kinds_of(fields: tuple[Layout, Layout]) -> list[str]:
    """Return the names of all data sets of rows, of a body with fields of points and of cells."""
    points, cells = ([name for name, _, _ in fields_of_kind] for fields_of_kind in fields)
    kinds = [*(f"PointData/{n}" for n in points), *(f"CellData/{n}" for n in cells)]
    return [*TOPOLOGY, "Points", *kinds]


def sum_of(
    before: int,
    sums: list[int],
    fields: tuple[Layout, Layout],
    texts: Mapping[str, str],
    counts: Mapping[str, float | int],
) -> int:
    """Return the CRC-32 of a state: of that of the state before, its rows and all else."""
    contents = [before, sums, fields, sorted(texts.items()), sorted(counts.items())]
    return zlib.crc32(json.dumps(contents).encode())


@dataclass
class _BodyRecord:
    """What was written of one body.

    Attributes
    ----------
    group : of the file.
    fields : of points and of cells.
    ends : data set -> rows that count.
    starts : data set -> first row of the last state.
    marks : data set -> digest of this rank's rows in the last state.
    parts : partitions of the last state.
    texts : of its field data.
    sums : data set -> CRC-32 of its rows in the last state, on rank 0.
    total : CRC-32 of the last state, on rank 0; None where the file has no checksums.
    """

    group: str
    fields: tuple[Layout, Layout]
    texts: dict[str, str]
    ends: Counter[str] = field(default_factory=Counter)
    starts: dict[str, int] = field(default_factory=dict)
    marks: dict[str, bytes] = field(default_factory=dict)
    parts: int = 0
    sums: dict[str, int] = field(default_factory=dict)
    total: int | None = 0

    @property
    def kinds(self) -> list[str]:
        """Return the names of all data sets of rows."""
        return kinds_of(self.fields)


class VtkHdf:
    """A .vtkhdf file that grows by one state with each `write`.

    It is readable after each of these; a state that could not be written leaves those before. An
    older file stays until the first state is written.
    """

    def __init__(self, path: Path, comm: MPI.Comm) -> None:
        self.path, self.comm = path, comm
        self.states = 0
        self._parts: dict[str, _BodyRecord] = {}

    def write(self, bodies: Mapping[str, Samples], time: float | None) -> None:
        """Add a state, or without a time write the only one (collective).

        Raises
        ------
        SymancfError, OSError : on every rank: arrays that do not fit together, other bodies or
            fields than those of the first state; a full disk, a folder that cannot be written.
        """
        parts = self._fitting(bodies)
        rows: dict[str, Data] = {}
        changes = {name: self._changed(part, bodies[name]) for name, part in parts.items()}
        for part, (changed, _) in zip(parts.values(), changes.values(), strict=True):
            rows |= {f"{part.group}/{kind}": values for kind, values in changed.items()}
        counts = [len(values) for values in rows.values()]
        size = sum(values.nbytes for values in rows.values())
        *added, size = reduced(self.comm, np.array([*counts, size], np.int64)).tolist()
        grown = dict(zip(rows, added, strict=True))
        ends = {f"{p.group}/{kind}": p.ends[kind] for p in parts.values() for kind in p.kinds}
        for part in parts.values():
            ends |= {f"{part.group}/Steps/{m}": self.states for m in _written_counts(part, {}, 0.0)}
            ends[f"{SUMS}/{part.group}"] = self.states

        def begin(file: h5py.File) -> None:
            _structure(file, [*parts.values()], bodies, time)

        def sums(part: _BodyRecord) -> dict[str, int]:
            checksums = {kind: growing.sums.get(f"{part.group}/{kind}") for kind in part.kinds}
            return part.sums | {kind: n for kind, n in checksums.items() if n is not None}

        totals: dict[str, int] = {}

        def finish(file: h5py.File) -> None:
            for part in parts.values():
                counts = {} if time is None else _written_counts(part, grown, time)
                if part.total is not None:
                    row = [*map(sums(part).__getitem__, part.kinds)]
                    total = sum_of(part.total, row, part.fields, part.texts, counts)
                    totals[part.group] = total
                    stored = file[f"{SUMS}/{part.group}"]
                    stored.resize(self.states + 1, axis=0)
                    stored[self.states] = [*row, total]
                if time is not None:
                    _add_step(file[part.group]["Steps"], self.states, counts)

        fresh = None if self.states else begin
        growing = GrowingHdf(self.path, self.comm, size, ends, fresh, finish)
        with closing(growing):
            for name, values in rows.items():
                growing.append(name, values)
        for part, (_, marks) in zip(parts.values(), changes.values(), strict=True):
            part.marks, part.sums = marks, sums(part)
            part.total = totals.get(part.group, part.total)
            part.parts = grown.get(f"{part.group}/NumberOfPoints", part.parts)
            for kind in part.kinds:
                if (more := grown.get(f"{part.group}/{kind}")) is not None:
                    part.starts[kind] = part.ends[kind]
                    part.ends[kind] += more
        self._parts = parts
        self.states += 1

    def _fitting(self, bodies: Mapping[str, Samples]) -> dict[str, _BodyRecord]:
        """Return what is known of bodies, whose arrays fit to each other and to those before."""
        before = self._parts
        with together(self.comm):
            for samples in bodies.values():
                samples.check()
                _require_names([*samples.point_data, *samples.cell_data])
            if [*bodies] != [*before] and (before or not bodies):
                raise SymancfError(
                    f"{str(self.path)!r} has the same bodies in all states, "
                    f"{', '.join(map(repr, before)) or 'at least one'}; given "
                    f"{', '.join(map(repr, bodies)) or 'none'}",
                    asked=str(self.path),
                    given=[*bodies],
                    possible=before,
                )
        groups = safe_names(bodies, {"Assembly"})
        parts = {}
        for name, samples in bodies.items():
            fields = self._fields(name, samples)
            group = ROOT if len(bodies) == 1 else f"{ROOT}/{groups[name]}"
            texts = {k: _printable(text) for k, text in about(samples, name).items()}
            parts[name] = before.get(name) or _BodyRecord(group, fields, texts)
        return parts

    def _fields(self, name: str, samples: Samples) -> tuple[Layout, Layout]:
        """Return the fields of points and cells of a body, the same on all ranks and as before."""
        own = (f"body {name!r}", layout(samples.point_data), layout(samples.cell_data))
        every = self.comm.allgather((len(samples.points) > 0, own))
        agreed = [layout_there for has_points, layout_there in every if has_points] or [every[0][1]]
        fields: tuple[Layout, Layout] = agreed[0][1:]
        before = self._parts[name].fields if name in self._parts else fields
        with together(self.comm):
            require_same_fields(agreed)
            if [*map(sorted, before)] != [*map(sorted, fields)]:
                raise SymancfError(
                    f"{str(self.path)!r} has the same fields in all states, of body {name!r} "
                    f"{before}; given {fields}",
                    asked=name,
                    given=fields,
                    possible=before,
                )
        return fields

    def _changed(
        self, part: _BodyRecord, samples: Samples
    ) -> tuple[dict[str, Data], dict[str, bytes]]:
        """Return this rank's rows that some rank has not as before, and the digests of all."""
        rows = self._rows(part, samples)
        marks = {}
        for kind, values in rows.items():
            digest = hashlib.blake2b(repr(values.shape).encode(), digest_size=16)
            digest.update(values.data if values.size else b"")
            marks[kind] = digest.digest()
        same = np.array([part.marks.get(kind) == mark for kind, mark in marks.items()], np.int64)
        same = reduced(self.comm, same, MPI.MIN)
        same_kinds = {kind for kind, is_same in zip(rows, same.tolist(), strict=True) if is_same}
        if not same_kinds.issuperset(TOPOLOGY):  # they stand together
            same_kinds -= set(TOPOLOGY)
        return {kind: values for kind, values in rows.items() if kind not in same_kinds}, marks

    def _rows(self, part: _BodyRecord, samples: Samples) -> dict[str, Data]:
        """Return this rank's rows of all data sets."""
        points, ends, types = listed(samples)
        has_rows = len(samples.points) > 0
        if not self.comm.allreduce(has_rows):  # of nothing there is a partition, too
            has_rows = self.comm.rank == 0
        counts = np.array(
            [[len(samples.points), samples.n_cells, len(points)]] * int(has_rows), np.int64
        )
        offsets = np.concatenate([np.zeros(int(has_rows), np.int64), ends])
        rows = dict(zip(COUNTS, np.ascontiguousarray(counts.reshape(-1, 3).T), strict=True))
        rows_of_kinds: dict[str, Data] = {**rows, "Connectivity": points, "Offsets": offsets}
        rows_of_kinds |= {"Types": types, "Points": flat(np.asarray(samples.points, float))}
        data = samples.point_data, samples.cell_data
        for title, own, names_before in zip(("Point", "Cell"), data, part.fields, strict=True):
            for name, kind, n in names_before:
                empty = np.zeros((0, n) if n > 1 else 0, NUMBERS[kind])
                rows_of_kinds[f"{title}Data/{name}"] = (
                    flat(own[name]) if has_rows and name in own else empty
                )
        return rows_of_kinds

    def resume(self, states: int) -> int:
        """Go on after so many states of the file that is there (collective).

        Returns
        -------
        How many there are: of a file that is damaged those before, which rank 0 tells.

        Raises
        ------
        SymancfError, OSError : on every rank; there is no such file, it cannot be written.
        """
        with together(self.comm):
            if self.comm.rank == 0 and states:
                self._take_up(states)
        self._parts, self.states = self.comm.bcast((self._parts, self.states))
        return self.states

    def _take_up(self, states: int) -> None:
        """Learn what the file holds, and cut it where it is damaged."""
        try:
            there = examined(self.path)
            with there.open() as file:
                bodies = bodies_of(there, file).items()
                self._parts = {name: _record_of(body, states) for name, body in bodies}
            release(self.path)
            self.states = states
        except FileNotFoundError as error:
            raise SymancfError(
                f"cannot continue {str(self.path)!r}: {error}", asked=str(self.path)
            ) from None
        except DAMAGED as error:
            self._cut(states, error)

    def _cut(self, states: int, reason: Exception) -> None:
        """Write the states anew that are whole, at most so many; the damaged file is kept."""
        damaged = self.path.with_name(f"{self.path.name}.damaged")
        with writing(damaged):
            os.replace(self.path, damaged)
        new = VtkHdf(self.path, MPI.COMM_SELF)
        try:
            for bodies, time in _complete_states(damaged, states):
                new.write(bodies, time)
        except BaseException:  # a full disk
            os.replace(damaged, self.path)
            raise
        self._parts, self.states = new._parts, new.states
        for part in self._parts.values():
            part.marks = {}
        print(
            f"symancf: {str(self.path)!r}: {reason}; it is saved as {damaged.name!r}, "
            f"and the series continues with the first {new.states} of its {states} states",
            file=sys.stderr,
            flush=True,
        )


def _require_names(fields: Iterable[str]) -> None:
    for name in fields:
        if "/" in name or name in (".", ""):
            raise SymancfError(f"{name!r} cannot be the name of a field in a .vtkhdf", asked=name)


#: characters: with numbers and suffixes less than the names that files may have
MAX_NAME_LENGTH = 150


def safe_names(names: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return names of ASCII letters, digits, - and _ for others, no two of them the same."""
    names_by_original: dict[str, str] = {}
    used = set(reserved)
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        plain = (plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}")[:MAX_NAME_LENGTH]
        free, number = plain, 1
        while free in used:
            number += 1
            free = f"{plain}_{number}"
        used.add(free)
        names_by_original[name] = free
    return names_by_original


# ---- writing, on rank 0 -------------------------------------------------------------------------
def _structure(
    file: h5py.File, parts: list[_BodyRecord], bodies: Mapping[str, Samples], time: float | None
) -> None:
    """Begin a file: its groups, types, names and units."""
    root = _group(file, ROOT)
    file.create_group(SUMS)
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
        columns = len(part.kinds) + 1
        _growing(file, f"{SUMS}/{part.group}", (0, columns), np.dtype("<u4"))
        texts = about(samples, name)
        for key, text in texts.items():
            _text(group["FieldData"], key, text)
        if time is None:
            continue
        steps = group.create_group("Steps")
        steps.attrs.create("NSteps", 0, dtype=np.int64)
        for member, value in _written_counts(part, {}, 0.0).items():
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

    array = np.array([_printable(text).encode()], dtype=object)
    group.create_dataset(name, data=array, dtype=h5py.string_dtype("ascii"))


def _printable(text: str) -> str:
    """Return a text as it can be written."""
    return text.encode("utf-8", "replace").decode()


def _growing(group: h5py.Group, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
    chunks = (256, *shape[1:])
    group.create_dataset(name, shape, kind, maxshape=(None, *shape[1:]), chunks=chunks)


def _written_counts(
    part: _BodyRecord, grown: Mapping[str, int], time: float
) -> dict[str, float | int]:
    """Return what `Steps` say of a state."""

    def start(kind: str) -> int:
        return (part.ends if f"{part.group}/{kind}" in grown else part.starts).get(kind, 0)

    counts: dict[str, float | int] = {"Values": float(time)}
    counts["NumberOfParts"] = grown.get(f"{part.group}/NumberOfPoints", part.parts)
    counts |= {name: start(kind) for name, kind in STARTS.items()}
    for kind in part.kinds[len(TOPOLOGY) + 1 :]:
        counts[kind.replace("Data/", "DataOffsets/", 1)] = start(kind)
    return counts


def _add_step(steps: h5py.Group, number: int, counts: Mapping[str, float | int]) -> None:
    for name, value in counts.items():
        steps[name].resize(number + 1, axis=0)
        steps[name][number] = value
    for key in steps.get("FieldDataOffsets", ()):
        for kind, row in (("Offsets", 0), ("Sizes", (1, 1))):
            data = steps[f"FieldData{kind}/{key}"]
            data.resize(number + 1, axis=0)
            data[number] = row
    steps.file.flush()  # before what counts them
    steps.attrs.modify("NSteps", np.int64(number + 1))


def _record_of(body: Written, states: int) -> _BodyRecord:
    """Return what the first states of a file hold of a body."""
    if len(body) < states:
        raise ValueError(f"it has {len(body)} states of {states}")
    total = body.sums(states - 1)[-1] if body.summed else None
    part = _BodyRecord(body.where, body.fields, body.texts, total=total)
    for step in range(states):
        for kind, (start, rows) in body.spans(step).items():
            part.ends[kind] = max(part.ends[kind], start + rows)
    return part


def _complete_states(path: Path, states: int) -> Iterator[tuple[dict[str, Samples], float]]:
    """Yield bodies and times of the first states of a damaged file, as far as they are whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for time, bodies in stored_states(path)[:states]:
                yield {name: read_stored(body) for name, body in bodies.items()}, time
        except SymancfError:
            return


# ---- reading ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Stored:
    """A body in one of the states of a file: its group, and the number of the state."""

    path: Path
    group: str
    step: int


def bodies_of(there: Examined, file: h5py.File) -> dict[str, Written]:
    """Return the bodies of a file by their names."""
    root = file[ROOT]
    several = decoded(root.attrs["Type"]) == "PartitionedDataSetCollection"
    names = [k for k in root if k != "Assembly"] if several else []
    groups = [f"{ROOT}/{k}" for k in sorted(names, key=lambda k: int(root[k].attrs["Index"]))]
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
        texts = group.get("FieldData", {}).items()
        self.group = group
        self.texts = {key: take(data, 0, 1)[0].decode("utf-8") for key, data in texts}
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
        counts: dict[str, float | int] = {}
        if "Steps" in self.group:
            steps = self.group["Steps"]
            sets = {k: steps[k] for k in ("Values", "NumberOfParts", *STARTS)}
            for title in ("PointDataOffsets", "CellDataOffsets"):
                sets |= {f"{title}/{n}": data for n, data in steps.get(title, {}).items()}
            for name, data in sets.items():
                counts[name] = np.ravel(self.there.take(data, step, step + 1))[0].item()
        if self.summed:
            before = self.sums(step - 1)[-1] if step else 0
            *sums, total = self.sums(step)
            if sum_of(before, sums, self.fields, self.texts, counts) != total:
                raise OSError(f"it is damaged: the numbers of state {step} have changed")
        return counts

    @property
    def summed(self) -> bool:
        """Whether the file has checksums; those of older versions have none."""
        return SUMS in self.file

    def sums(self, step: int) -> list[int]:
        """Return the checksums of the rows of a state, and of all of it."""
        rows = self.there.take(self.file[f"{SUMS}/{self.where}"], step, step + 1)
        sums: list[int] = rows[0].tolist()
        return sums

    def spans(self, step: int) -> dict[str, tuple[int, int]]:
        """Return, for all data sets, where the rows of a state begin and how many they are.

        Raises
        ------
        OSError : these rows are damaged.
        """
        group, there = self.group, self.there
        counts = {k: int(v) for k, v in self.numbers(step).items() if k != "Values"}
        first = counts.get("PartOffsets", 0)
        count = counts.get("NumberOfParts", len(group["NumberOfPoints"]))
        points, cells, ids = (int(there.take(group[k], first, first + count).sum()) for k in COUNTS)
        sizes = {"Points": points, "Types": cells, "Connectivity": ids}
        sizes |= dict.fromkeys(COUNTS, count) | {"Offsets": cells + count}
        starts = {kind: counts.get(name, 0) for name, kind in STARTS.items()}
        starts |= dict.fromkeys(COUNTS, first) | {"Offsets": starts["Types"] + first}
        spans = {}
        for kind in kinds_of(self.fields):
            title, _, field_name = kind.partition("/")
            if field_name:
                start = counts.get(f"{title}Offsets/{field_name}", 0)
                spans[kind] = (start, points if title == "PointData" else cells)
            else:
                spans[kind] = (starts[kind], sizes[kind])
            if not 0 <= spans[kind][0] <= sum(spans[kind]) <= there.readable(group[kind]):
                raise OSError(f"{kind!r} of state {step} is damaged, or cut off")
        return spans

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
                counts = [body.numbers(step) for body in bodies.values()]
                if not there.sound:
                    for body in bodies.values():
                        body.spans(step)
                times.append(float(counts[0].get("Values", 0.0)))
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
        samples = reading(stored.path, lambda there: _stored(there, stored))
        samples.check()
    except (*DAMAGED, SymancfError) as error:
        raise unreadable(stored.path, error) from None
    return samples


def _stored(there: Examined, stored: Stored) -> Samples:
    with there.open() as file:
        body = Written(there, file, stored.group)
        return _samples(body.rows(stored.step), body.fields, body.texts)


def _samples(
    rows: Mapping[str, Data], fields: tuple[Layout, Layout], texts: dict[str, str]
) -> Samples:
    """Return the rows of all partitions as samples."""
    at: Counter[str] = Counter()
    parts = []
    texts.pop("name", "")
    text = texts.pop("units", "")

    def take(kind: str, count: int) -> Data:
        at[kind] += count
        return rows[kind][at[kind] - count : at[kind]]

    units = dict(re.findall(r"(?:^|, )(.*?) \[(.*?)\](?=, |$)", text))
    for points, cells, ids in zip(*(rows[kind].tolist() for kind in COUNTS), strict=True):
        ends = take("Offsets", cells + 1)[1:]
        listed_cells = cells_of(take("Connectivity", ids), ends, take("Types", cells))
        of_points, of_cells = (
            {name: take(f"{title}Data/{name}", count) for name, _, _ in names_of_fields}
            for title, names_of_fields, count in zip(
                ("Point", "Cell"), fields, (points, cells), strict=True
            )
        )
        x = take("Points", points)
        parts.append(Samples(x, listed_cells, of_points, of_cells, units, texts))
    return join(parts) if any(len(part.points) for part in parts) else parts[0]

# SPDX-License-Identifier: BSD-3-Clause
"""States of a system on disk, by original vertex id: to continue later, on any number of ranks.

One HDF5 file::

    attributes   format, version
    system                      JSON in bytes of UTF-8, see `fingerprint`
    attributes/  group: what the caller gave, numbers and texts as attributes, arrays as data sets;
                        time and stiffness, the numbers of the method as JSON
    vertices/<block>            (n,) ids of the vertices that carry the block, ascending
    vectors/<name>/<block>      (n, size) coordinates of those vertices
    reference/<block>           (n, size) reference positions, for comparison, and slopes
    memory/<number>/            of each form whose laws remember: ids (n,) of cells or places,
                                old and next (n, rows), see `symancf.assembly.memory`
    terms/<number>              values of the state variables of terms
    active/<number>/<name>      of each term whose entities change its active set, see `State`
    pattern/<number>/<number>/<name>  the entities that the pattern of the tangent was made for

The file does not depend on the number of ranks that wrote it. Rank 0 writes what the others send
it slice by slice, under a temporary name that is replaced when all has reached the disk: a run
that dies while it writes leaves the checkpoint before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Data, Ints, Mask
from ..assembly.discrete import DiscreteSystem
from ..assembly.numbering import IDLE, RIGID_AXES, words_of
from ..assembly.state import State
from ..errors import CheckpointError, ParameterError, owner
from ..runtime.collective import block_sorter, block_starts, lookup, sorted_blocks, together
from ..runtime.files import HdfFile, decoded, encoded
from ..runtime.hdf import DAMAGED, examined
from ..runtime.log import EVENTS, logged
from ..values import arguments
from ..values.parameter import label

if TYPE_CHECKING:
    import h5py

    from ..assembly.configuration import Discretised
    from ..assembly.numbering import Block
    from ..assembly.state import ActiveSet, InternalVariables


StoredValues: TypeAlias = "str | float | npt.ArrayLike"
Facts: TypeAlias = "dict[str, Any]"  # as JSON keeps them
T = TypeVar("T")

FORMAT = "symancf checkpoint"
VERSION = 6
METHOD, PARAMETERS = "method", "parameters"  # attributes: numbers of the method, of `Parameter`
MOTION = ("rate", "acceleration")  # vectors of a state, beside `state`

__all__ = ["load", "read", "save", "write"]


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__


# ---- rows of a block, sorted by vertex id over the ranks ----------------------------------------
class _ById:
    """Rows that belong to ids, sent to where they are sorted by id, and back.

    Parameters
    ----------
    total : number that all ids are below.
    ids, owned : of the rows on this rank, and which of them this rank sends.
    """

    def __init__(self, comm: MPI.Comm, total: int, ids: Ints, owned: Mask) -> None:
        self.comm, self.starts = comm, block_starts(total, comm.size)
        self.ids, self.owned = ids.astype(np.int64), owned

    def sort(self, rows: Sequence[Array]) -> tuple[Ints, list[Array]]:
        """Return the ids in this rank's range, and what each array (owned, k) has of them."""
        return sorted_blocks(self.comm, self.starts, self.ids[self.owned], *rows)

    def find(self, ids: Ints, rows: Sequence[Data]) -> list[Array]:
        """Return what arrays of rows of any ids, each on one rank, have of all of this rank's."""
        ids, came = sorted_blocks(self.comm, self.starts, ids, *rows)
        first, last = self.starts[self.comm.rank : self.comm.rank + 2]
        parts = []
        for row in came:
            table: Array = np.zeros((int(last - first), row.shape[1]))
            table[ids - first] = row
            parts.append(lookup(self.comm, self.starts, self.ids, table))
        return parts


class _BlockRows(_ById):
    """The vertices of one block."""

    def __init__(self, system: DiscreteSystem, block: int) -> None:
        numbering = system.numbering
        local = numbering.carriers(block)
        self.local = local[system.topology.vertex_ids[local] >= 0]  # the room may be empty
        self.at = numbering.coordinates_of(block, self.local)
        owned = self.local < numbering.owned_vertices
        ids = system.topology.vertex_ids[self.local]
        super().__init__(system.comm, system.layout.vertex_count, ids, owned)

    def sorted(self, key: str, vectors: Mapping[str, Array]) -> Iterator[tuple[str, Data]]:
        """Yield `key` and the ids (n,) in this rank's range, then names and rows of vectors."""
        ids, sort = block_sorter(self.comm, self.starts, self.ids[self.owned])
        yield key, ids
        at = self.at[self.owned]
        for name, vector in vectors.items():  # one after the other: each takes memory
            rows = np.empty((len(ids), at.shape[1]))
            for component, places in enumerate(at.T):
                rows[:, component] = sort(vector[places])
            yield name, rows

    def spread(self, ids: Ints, rows: list[Array], vectors: list[Array]) -> None:
        """Write rows of any ids, each on one rank, to all local vertices of the block."""
        for row, vector in zip(self.find(ids, rows), vectors, strict=True):
            vector[self.at] = row


def _remembering(system: DiscreteSystem) -> list[tuple[str, _ById]]:
    """Return where in a file the memory of each form is, and its entities (collective)."""
    places = []
    for number, (ids, owned) in enumerate(system.memory.parts()):
        total = system.comm.allreduce(int(ids.max(initial=-1)), MPI.MAX) + 1
        rows = _ById(system.comm, total, ids, owned)
        places.append((f"memory/{number}", rows))
    return places


# ---- writing ------------------------------------------------------------------------------------
def save(
    path: str | Path,
    system: Discretised[DiscreteSystem],
    vectors: Mapping[str, Array] | None = None,
    attributes: Mapping[str, StoredValues] | None = None,
) -> Path:
    """Write the present state of a system, and vectors of your own (collective).

    Parameters
    ----------
    path : the file; missing folders are made, an older file is replaced at the end.
    vectors : name -> local vector, all coordinates of all local vertices, fixed ones and
        multipliers included; those of ghosts are taken from their owners. ``state`` is always
        written, by default `system.state`.
    attributes : name -> number, text or array of numbers, the same on every rank. ``time`` and
        ``stiffness`` (the scale of the multipliers) are always written.

    Raises
    ------
    ParameterError : a vector of another length, an attribute of another kind.
    OSError : on every rank; the file cannot be written, the disk is full. An older file is kept.
    """
    path = arguments.path("checkpoint.save", path)
    system = _system_of("checkpoint.save", system)
    vectors, attributes = _by_name("vectors", vectors), _by_name("attributes", attributes)
    with together(system.comm):
        for name, vector in vectors.items():
            _require_vector(system, name, vector)
        if not system.memory.initialised:
            system.update(system.time)
    own = {name: vector[: system.numbering.owned] for name, vector in vectors.items()}
    state = system.snapshot()
    state = replace(state, displacement=own.pop("state", state.displacement))
    rates = own.pop("rate", None), own.pop("acceleration", None)
    state = replace(state, rate=rates[0], acceleration=rates[1], method=own)
    return write(path, system, state, attributes)


@logged(EVENTS, "output")
def write(
    path: str | Path,
    system: Discretised[DiscreteSystem],
    state: State,
    attributes: Mapping[str, StoredValues] | None = None,
) -> Path:
    """Write a state of a system, with the arrays of its method (collective); see `save`.

    Raises
    ------
    ParameterError : an attribute is neither a number, a text nor an array of numbers.
    OSError : on every rank; the file cannot be written, the disk is full. An older file is kept.
    """
    path = arguments.path("checkpoint.write", path)
    system = _system_of("checkpoint.write", system)
    state = arguments.instance("checkpoint.write(state)", state, State, "give problem.state")
    system.require_own(state)
    attributes = _by_name("attributes", attributes)
    vectors = vectors_of(state)
    numbers = {name: value for name, value in state.method.items() if name not in vectors}
    with together(system.comm):
        facts: dict[str, StoredValues] = {"time": state.time, "stiffness": state.stiffness}
        facts |= attributes or {}
        facts |= {"length": state.internal.length} if system.memory else {}
        facts |= {METHOD: packed(numbers), PARAMETERS: np.array(state.parameters)}
        stored = {name: _attribute(name, value) for name, value in facts.items()}
    about: dict[str, str | int] = {"format": FORMAT, "version": VERSION}
    text = packed(fingerprint(system))
    with closing(
        HdfFile(path, system.comm, lambda file: _begin(file, about, text, stored))
    ) as file:
        for number, block in enumerate(system.numbering.blocks):
            rows = _BlockRows(system, number)
            of_block = {f"vectors/{name}": vector for name, vector in vectors.items()}
            if _has_reference(block):
                of_block["reference"] = system.reference
            for name, sorted_rows in rows.sorted("vertices", of_block):
                file.append(f"{name}/{block.name}", sorted_rows)
        _append_variables(file, system, state)
    return path


def _append_variables(file: HdfFile, system: DiscreteSystem, state: State) -> None:
    """Write state variables and active sets of terms, and internal variables (collective)."""
    rank0 = slice(None if system.comm.rank == 0 else 0)
    for k, values in enumerate(state.terms):
        file.append(f"terms/{k}", values.reshape(-1)[rank0])
    for folder, (k, active) in _sets_of(state).items():
        for name, rows in system.changing[k].own_rows(system, active).items():
            file.append(f"{folder}/{name}", rows)
    old, after = map(system.memory.own_rows, (state.internal.old, state.internal.next))
    for k, (group, entities) in enumerate(_remembering(system)):
        ids, pair = entities.sort([v[k][entities.owned] for v in (old, after)])
        file.append(f"{group}/ids", ids)
        for name, values in zip(("old", "next"), pair, strict=True):
            file.append(f"{group}/{name}", values)


def _sets_of(state: State) -> dict[str, tuple[int, ActiveSet]]:
    """Return the active sets of a state and those of its pattern, by their groups in files.

    With the numbers of the terms whose lists change.
    """
    sets = {f"active/{k}": (k, active) for k, active in enumerate(state.active)}
    for k, lists in enumerate(state.pattern):
        sets |= {f"pattern/{k}/{n}": (k, entities) for n, entities in enumerate(lists)}
    return sets


def vectors_of(state: State) -> dict[str, Array]:
    """Return the arrays (owned,) of a state by their names in files."""
    motion = {name: v for name in MOTION if (v := getattr(state, name)) is not None}
    method = {name: v for name, v in state.method.items() if isinstance(v, np.ndarray)}
    return {"state": state.displacement, **motion, **method}


def _by_name(name: str, given: Mapping[str, T] | None) -> Mapping[str, T]:
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(
            f"checkpoint.save({name}={label(given)}): give values by name", asked=name, given=given
        )
    return given or {}


def _system_of(call: str, system: Discretised[DiscreteSystem]) -> DiscreteSystem:
    """Return the discrete system of what a call was given."""
    discrete = getattr(system, "_discrete", None)
    if not isinstance(discrete, DiscreteSystem):
        raise ParameterError(
            f"{call}(..., {label(system)}): its second argument is the system, problem.system",
            asked=call,
            given=system,
        )
    return discrete


def _require_vector(system: DiscreteSystem, name: str, vector: Array) -> None:
    if not name or "/" in name:
        raise ParameterError(f"checkpoint: {name!r} is no name of a vector", asked=name)
    shape = (system.numbering.coordinates,)
    if np.shape(vector) != shape or np.asarray(vector).dtype != np.float64:
        kind = f"{np.shape(vector)} of {np.asarray(vector).dtype}"
        raise ParameterError(
            f"checkpoint: vector {name!r} has shape {kind}; a local vector has {shape} of float64",
            asked=name,
            given=np.shape(vector),
            possible=(shape,),
        )


def _attribute(name: str, value: StoredValues) -> str | Data:
    """Return a value as HDF5 keeps it: a text, a number or an array."""
    if isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or "/" in name or not name:
        raise ParameterError(
            f"checkpoint: attribute {name!r} is {value!r}: give numbers, texts or arrays of "
            "numbers",
            asked=name,
            given=value,
        )
    return array


def packed(facts: Any) -> Data:
    """Return facts as bytes of JSON: texts of HDF5 end at 64 KiB. Numbers keep all their digits."""
    return encoded(json.dumps(facts))


def unpacked(packed_values: Data) -> Any:
    """Return what `packed` was given."""
    return json.loads(np.asarray(packed_values, np.uint8).tobytes())


def _begin(
    file: h5py.File, about: dict[str, str | int], system: Data, facts: Mapping[str, str | Data]
) -> None:
    """Write what rank 0 knows."""
    file.attrs.update(about)
    file["system"] = system
    group = file.create_group("attributes")
    for name, value in facts.items():
        if isinstance(value, str):
            group.attrs[name] = encoded(value)
        elif value.ndim == 0:
            group.attrs[name] = value
        else:
            group.create_dataset(name, data=value)


# ---- reading ------------------------------------------------------------------------------------
def load(path: str | Path, system: Discretised[DiscreteSystem]) -> tuple[dict[str, Array], Facts]:
    """Read vectors and attributes of a checkpoint for a system built alike (collective).

    The system may live on another number of ranks. It is not changed.

    Returns
    -------
    vectors : name -> local vector, ghosts included; ``state`` among them.
    attributes : name -> number, text or array; ``time`` and ``stiffness`` among them.

    Raises
    ------
    CheckpointError : on every rank; no such file, not a checkpoint or damaged, or that of
        another system, and in what that differs.
    """
    path = arguments.path("checkpoint.load", path)
    system = _system_of("checkpoint.load", system)
    state, attributes = read(path, system)
    own = vectors_of(state)
    return {name: system.numbering.local(vector) for name, vector in own.items()}, attributes


def read(path: str | Path, system: Discretised[DiscreteSystem]) -> tuple[State, Facts]:
    """Read a state for a system built as that which wrote it, for `restore` (collective).

    The system may live on another number of ranks. It is not changed. Returns the state and the
    attributes of `write`.

    Raises
    ------
    CheckpointError : see `load`.
    """
    path = arguments.path("checkpoint.read", path)
    system = _system_of("checkpoint.read", system)
    file = _CheckpointFile(path, system.comm)
    saved, names, attributes = file.head()
    if text := differences(saved, fingerprint(system)):
        raise _of_another("system", path, text, asked="system")
    vectors = {name: np.zeros(system.numbering.coordinates) for name in names}
    near = 1e-9 * system.extent
    for number, block in enumerate(system.numbering.blocks):
        rows = _BlockRows(system, number)
        parts = [f"vertices/{block.name}", *(f"vectors/{name}/{block.name}" for name in names)]
        parts += [f"reference/{block.name}"] * (has_reference := _has_reference(block))
        ids, *values = file.rows(*parts)
        placed = system.reference.copy()
        if has_reference:
            rows.spread(ids, [values.pop()], [placed])
        rows.spread(ids, values, list(vectors.values()))
        with together(system.comm):
            if block.name == "position":
                _require_same_place(path, system, rows, placed, near)
            elif has_reference:
                _turn_slopes(path, system, rows, placed, list(vectors.values()))
    left_out = system.numbering.fixed_by == IDLE  # here, not where the file was written
    for vector in vectors.values():
        vector[left_out] = 0.0
    owned = {name: vector[: system.numbering.owned].copy() for name, vector in vectors.items()}
    state = State(
        time=float(attributes["time"]),
        displacement=owned.pop("state"),
        stiffness=float(attributes["stiffness"]),
        internal=_internal(file, system, attributes.pop("length", 0.0)),
        terms=tuple(
            file.every(f"terms/{k}").reshape(variable.value.shape)
            for k, variable in enumerate(system.state_variables)
        ),
        active=tuple(
            term.join(system, file.arrays(f"active/{k}")) for k, term in enumerate(system.changing)
        ),
        pattern=tuple(
            tuple(
                system.changing[int(k)].join(system, file.arrays(f"pattern/{k}/{n}"))
                for n in file.names(f"pattern/{k}")
            )
            for k in file.names("pattern")
        ),
        parameters=tuple(np.asarray(attributes.pop(PARAMETERS)).tolist()),
        rate=owned.pop("rate", None),
        acceleration=owned.pop("acceleration", None),
        method=unpacked(attributes.pop(METHOD)) | owned,
    )
    return state, attributes


class _CheckpointFile:
    """A checkpoint from which all ranks read (collective).

    Raises
    ------
    CheckpointError : on every rank; there is none, it is damaged, or something else.
    """

    def __init__(self, path: Path, comm: MPI.Comm) -> None:
        self.path, self.comm = path, comm
        with together(comm):
            if not path.exists():
                raise CheckpointError(
                    f"no checkpoint {str(path)!r} (working directory {Path.cwd()})",
                    path=str(path),
                    asked=str(path),
                )
        try:
            self._there = examined(path, comm)
        except DAMAGED as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> CheckpointError:
        return CheckpointError(
            f"cannot read the checkpoint {str(self.path)!r}: {error}",
            path=str(self.path),
            asked=str(self.path),
        )

    @contextmanager
    def _open(self) -> Iterator[h5py.File]:
        """Open the file on every rank for a block, whose errors are those of all."""
        with together(self.comm):
            try:
                with self._there.open() as file:
                    yield file
            except DAMAGED as error:
                raise self._unreadable(error) from None

    def head(self) -> tuple[Facts, list[str], Facts]:
        """Return the fingerprint, the names of the vectors and the attributes."""
        with self._open() as file:
            kind, version = decoded(file.attrs.get("format", "")), file.attrs.get("version")
            if kind != FORMAT or version != VERSION:
                text = f"{kind!r}, version {version}" if kind else "something else"
                raise CheckpointError(
                    f"{str(self.path)!r} is {text}; this symancf reads {FORMAT!r}, version "
                    f"{VERSION}",
                    path=str(self.path),
                    asked=str(self.path),
                    given=kind,
                    possible=(FORMAT,),
                )
            group = file["attributes"]
            facts = {name: _plain(value) for name, value in group.attrs.items()}
            facts |= {name: data[()] for name, data in group.items()}
            return unpacked(file["system"][()]), list(file["vectors"]), facts

    def rows(self, *names: str) -> tuple[Any, ...]:
        """Return this rank's part of data sets of equally many rows."""
        with self._open() as file:
            starts = block_starts(len(file[names[0]]), self.comm.size)
            first, last = starts[self.comm.rank : self.comm.rank + 2]
            return tuple(np.ascontiguousarray(file[name][first:last]) for name in names)

    def every(self, name: str) -> Any:
        """Return all rows of a data set."""
        return np.concatenate(self.comm.allgather(self.rows(name)[0]))

    def names(self, folder: str) -> list[str]:
        """Return what a group holds, in the order of its numbers."""
        with self._open() as file:
            return sorted(file.get(folder, ()), key=lambda name: (len(name), name))

    def arrays(self, folder: str) -> ActiveSet:
        """Return this rank's parts of the arrays of a group."""
        return {name: self.rows(f"{folder}/{name}")[0] for name in self.names(folder)}


def _plain(value: Data | np.generic | str) -> StoredValues:
    if isinstance(value, np.ndarray):
        return decoded(value)
    return value.item() if isinstance(value, np.generic) else value


def _internal(file: _CheckpointFile, system: DiscreteSystem, length: float) -> InternalVariables:
    """Return the internal variables of laws (collective)."""
    pairs = []
    for group, entities in _remembering(system):
        ids, *rows = file.rows(*(f"{group}/{name}" for name in ("ids", "old", "next")))
        pairs.append(entities.find(ids.astype(np.int64), rows))
    old, after = ([pair[k] for pair in pairs] for k in (0, 1))
    return system.memory.joined(old, after, length)


def _of_another(what: str, path: Path, text: list[str], asked: str) -> CheckpointError:
    """Return the error of a checkpoint that is none of this system, mesh or the like."""
    return CheckpointError(
        f"{str(path)!r} is a checkpoint of another {what}: {'; '.join(text)}",
        path=str(path),
        differences=text,
        asked=asked,
    )


def _require_same_place(
    path: Path, system: DiscreteSystem, rows: _BlockRows, there: Array, tolerance: float
) -> None:
    """Raise where a vertex of the file has another reference position than here."""
    apart = np.linalg.norm(there[rows.at] - system.reference[rows.at], axis=1)
    if (apart > tolerance).any():
        k = int(np.argmax(apart))
        old, new = there[rows.at[k]], system.reference[rows.at[k]]
        text = "({:g}, {:g}, {:g})"
        message = (
            f"vertex {rows.ids[k]} is at {text.format(*old)} in the file, {text.format(*new)} here"
        )
        raise _of_another("mesh", path, [message], asked="mesh")


def _has_reference(block: Block) -> bool:
    """Whether the file holds the reference values of a block of coordinates."""
    return block.name == "position" or (block.kind == "direction" and block.name != RIGID_AXES)


def _turn_slopes(
    path: Path, system: DiscreteSystem, rows: _BlockRows, there: Array, vectors: list[Array]
) -> None:
    """Take slopes by other directions of the reference than here to those here, in place.

    Supports choose the directions: s_k = sum_j (b_k . b'_j) s'_j with orthonormal vectors b here
    and b' in the file.

    Raises
    ------
    CheckpointError : the slopes of a vertex do not span the same tangents.
    """
    at = rows.at.reshape(-1, rows.at.shape[1] // 3, 3)
    turn = np.einsum("nka,nja->nkj", system.reference[at], there[at])
    mismatch = np.abs(np.einsum("nkj,nja->nka", turn, there[at]) - system.reference[at])
    if mismatch.max(initial=0.0) > 1e-6:
        k = int(np.argmax(mismatch.max(axis=(1, 2))))
        text = f"the slopes of vertex {rows.ids[k]} are along other tangents in the file"
        raise _of_another("mesh or direction=", path, [text], asked="direction")
    other = np.abs(there[at] - system.reference[at]).max(axis=(1, 2), initial=0.0) > 1e-12
    at, turn = at[other], turn[other]  # what is the same stays so to the last bit
    for vector in vectors:
        vector[at] = np.einsum("nkj,nja->nka", turn, vector[at])


# ---- what must agree for a checkpoint to fit a system -------------------------------------------
def fingerprint(system: DiscreteSystem) -> Facts:
    """Return what must agree for a vector to fit: bodies, points, blocks (collective).

    Of each body the kind, element and number of cells; of each block, and of the part that a
    term has of a shared one, its size, its order in time and the number of vertices that carry it.
    """
    numbering = system.numbering
    kinds, kind = numbering.kind_of_coordinates()
    owned = numbering.vertex_of < numbering.owned_vertices
    coordinates = system.sum(np.bincount(kind[owned], minlength=len(kinds)).astype(float))
    bodies = {}
    for body in system.bodies:
        element, region = getattr(body, "element", None), getattr(body, "region", None)
        bodies[system.name(body)] = [
            type(body).__name__,
            "" if element is None else element.name,
            0 if region is None else int(region.size),
        ]
    return {
        "bodies": bodies,
        "points": system.layout.mesh_points,
        "vertices": system.layout.vertex_count,
        "blocks": {
            k.name: [k.block.size, k.block.order, int(count) // k.block.size]
            for k, count in zip(kinds, coordinates, strict=True)
        },
        "memory": {p.name: [p.kernel.name, *p.kernel.memory] for p in system.memory.forms},
        "terms": {v.name: list(v.value.shape) for v in system.state_variables},
    }


def both(saved: Facts, present: Facts) -> list[tuple[str, Any, Any]]:
    """Return what the file has and what is here, by name; None where it is missing."""
    return [(k, saved.get(k), present.get(k)) for k in dict.fromkeys([*saved, *present])]


def differences(saved: Facts, present: Facts) -> list[str]:
    """Tell in words how the system of a checkpoint differs from another one."""
    texts = []
    kinds: list[tuple[str, Callable[[str], str], Callable[[Any], str]]] = [
        ("bodies", "body {!r}".format, _body_text),
        ("blocks", words_of, _block_text),
        ("memory", lambda name: f"memory of {owner(name)!r}", _memory_text),
        ("terms", "state variables {!r}".format, lambda shape: f"an array {tuple(shape)}"),
    ]
    for kind, words, text in kinds:
        for name, old, new in both(saved.get(kind, {}), present[kind]):
            there, here = ("missing" if v is None else text(v) for v in (old, new))
            law = kind == "memory" and old and new and old[0] != new[0]
            if there != here or law:
                here = f"{here} of another law" if law else here
                texts.append(f"{words(name)}: {there} in the file, {here} here")
    for kind in ("points", "vertices"):
        if saved.get(kind) != present[kind]:
            texts.append(f"{saved.get(kind)} {kind} in the file, {present[kind]} here")
    return texts


def _body_text(facts: list[str | int]) -> str:
    kind, element, cells = facts
    return f"{kind} of {cells} {element}" if element else str(kind)


def _block_text(facts: list[str | int]) -> str:
    size, order, count = facts
    rates = {"s": ", with rates", "algebraic": ", without rates"}.get(str(order), "")
    return f"{count} x {size} numbers{rates}"


def _memory_text(facts: list[str]) -> str:
    _, *rows = facts
    names = dict.fromkeys(row.partition("[")[0] for row in rows)
    return f"{', '.join(names)} at {len(rows) // len(names)} point(s)"

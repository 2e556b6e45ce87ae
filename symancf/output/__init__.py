# SPDX-License-Identifier: BSD-3-Clause
"""Files for ParaView: .vtu pieces and a .pvd series, or one .vtkhdf; safe step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

from mpi4py import MPI

from ..errors import ParameterError, SymancfError, unknown_names
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.files import make_folder
from ..runtime.log import EVENTS, logged
from ..values import arguments
from .samples import Samples, gather, join, vertices
from .swept import swept
from .vtkhdf import Stored, VtkHdf, read_stored, safe_names, stored_states
from .vtu import (
    DAMAGED,
    MARK,
    Layout,
    layout,
    parsed,
    pieces,
    read_vtu,
    require_same_fields,
    write_pvtu,
    xml_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .sampling import slabs

HDF = ".vtkhdf"


@logged(EVENTS, "output")
def write(
    path: str | Path,
    samples: Samples | Iterator[Samples],
    comm: MPI.Comm | None = None,
    time: float | None = None,
) -> Path:
    """Write one state of one body. Collective.

    On one rank a .vtu; on several, one .vtu for each rank that has cells and a .pvtu. With the
    suffix .vtkhdf one file that ranks write together. In a .vtu points without any cell get a cell
    "vertex" each.

    Parameters
    ----------
    path : the file; another suffix is replaced by the right one, missing folders are made.
    samples : of this rank's cells; or `slabs` of them, of which a .vtu has a piece each (meshio
        reads the cells of the last piece only, ParaView all). A .vtkhdf takes them all at once.
    time : of the state; ParaView shows it.

    Returns
    -------
    The file to open.

    Raises
    ------
    SymancfError, OSError : on every rank: arrays that do not fit together or differ between ranks;
        a folder that cannot be written, a full disk.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> output.write("results/patch.vtu", patch, MPI.COMM_SELF).name
    'patch.vtu'
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    path = arguments.path("output.write", path)
    time = None if time is None else arguments.number("output.write", "time", time)
    if path.suffix == HDF:
        every = list(_parts(samples, comm))
        VtkHdf(path, comm).write({"": every[0] if len(every) == 1 else join(every)}, time)
        return path
    with together(comm):
        if comm.rank == 0:
            make_folder(path.parent)
    alone = comm.size == 1
    piece = path.with_suffix(".vtu") if alone else path.with_name(f"{path.stem}_{comm.rank}.vtu")
    fields = _write_piece(piece, samples, comm, time)
    if alone:
        return piece
    every_field = comm.gather(fields)
    target = path.with_suffix(".pvtu")
    with together(comm):
        if every_field is not None:
            entries = [entry for entry in every_field if entry is not None]
            require_same_fields(entries)
            _, points, cells = entries[0] if entries else ("", [], [])
            write_pvtu(target, [name for name, _, _ in entries], points, cells)
    return target


def _write_piece(
    piece: Path, samples: Samples | Iterator[Samples], comm: MPI.Comm, time: float | None
) -> tuple[str, Layout, Layout] | None:
    """Write this rank's .vtu, if it has points or is alone; return name and fields (collective)."""
    fields = None
    with ExitStack() as files:
        add: Callable[[Samples], None] | None = None
        for part in _parts(samples, comm):
            shown = part
            if not comm.allreduce(part.n_cells):
                shown = replace(part, cells=vertices(len(part.points)), cell_data={})
            with together(comm):
                if not len(shown.points) and not (comm.size == 1 and add is None):
                    continue
                add = add or files.enter_context(pieces(piece, time))
                add(shown)
                there = piece.name, layout(shown.point_data), layout(shown.cell_data)
                require_same_fields([fields or there, there])
                fields = there
        with together(comm):
            files.close()
    return fields


def _parts(samples: Samples | Iterator[Samples], comm: MPI.Comm) -> Iterator[Samples]:
    """Yield samples whose arrays fit together, as many on each rank (collective)."""
    if not isinstance(samples, Iterator):
        with together(comm):
            arguments.instance("output.write: what is written", samples, Samples, SAMPLED)
        samples = iter((samples,))
    parts = samples
    while True:
        part = next(parts, None)
        counts = comm.allreduce(part is not None)
        with together(comm):
            if 0 < counts < comm.size:
                raise SymancfError("output.write: not as many slabs on each rank", asked="samples")
            if part is not None:
                arguments.instance("output.write: what is written", part, Samples, SAMPLED)
                part.check()
        if part is None:
            return
        yield part


#: What is written.
SAMPLED = "give samples, such as sa.sample(system, body), or a dict of them by names"


class Series(OneProcess):
    """States of one or more bodies over time: a file that grows by one state per `write`.

    A .pvd lists states that lie in the folder of the same name beside it; each may have other
    bodies and fields. A .vtkhdf holds all of them: the same bodies and fields in each, what does
    not change (cells, ids, points at rest) once. ParaView reads it from 5.12 on, with several
    bodies from 5.13 on.

    After each `write` the file has all states written so far and nothing else: a run that ends
    early leaves a readable series. A solution that continues from a `Restart` continues the series
    that the script has made before, too.

    Parameters
    ----------
    path : the .pvd or .vtkhdf; missing folders are made.
    comm : default all ranks.

    Examples
    --------
    >>> series = Series("results/plate.vtkhdf")               # doctest: +SKIP
    >>> series.write(0.1, {"plate": samples})                 # doctest: +SKIP
    """

    living: ClassVar[WeakValueDictionary[str, Series]] = WeakValueDictionary()  # by the path

    def __init__(self, path: str | Path, comm: MPI.Comm | None = None) -> None:
        self.comm = MPI.COMM_WORLD if comm is None else comm
        checked = arguments.path("Series", path)
        arguments.printable("Series: the path", str(checked))
        self.path = checked if checked.suffix == HDF else checked.with_suffix(".pvd")
        self._hdf = VtkHdf(self.path, self.comm) if checked.suffix == HDF else None
        self.states = 0
        self.entries: list[tuple[float, str, str]] = []
        with together(self.comm):
            if self.comm.rank == 0:
                make_folder(self.path.parent)
        self._list()
        Series.living[str(self.path)] = self

    def __len__(self) -> int:
        """Number of states."""
        return self.states

    def write(self, time: float, samples: Samples | Mapping[str, Samples]) -> None:
        """Add the state at a time: samples of one body, or of several by name. Collective.

        Raises
        ------
        SymancfError, OSError : see `write`; the series keeps the states written before.
        """
        bodies = samples if isinstance(samples, Mapping) else {"": samples}
        with together(self.comm):
            time = arguments.number("Series.write", "time", time)
            for name in bodies:
                arguments.printable("Series.write: the name of a body", name)
            for body in bodies.values():
                arguments.instance("Series.write: a state", body, Samples, SAMPLED)
            if not bodies:
                raise ParameterError(
                    f"Series.write: a state of no body: {SAMPLED}", asked="Series.write"
                )
        every = self.comm.allgather([*bodies])
        if others := [names for names in every if names != every[0]]:
            raise SymancfError(
                f"Series.write(): rank 0 has the bodies {every[0]}, another one {others[0]}; give "
                "the same names in the same order on every rank, those without cells there, too",
                asked="Series.write",
                given=others[0],
                possible=every[0],
            )
        fresh = []
        if self._hdf is not None:
            self._hdf.write(bodies, float(time))
            fresh = [(float(time), name, "") for name in bodies]
        folder = self.path.with_suffix("")
        step = f"{self.states:05d}"
        stems = safe_names([*dict.fromkeys([*(name for _, name, _ in self.entries), *bodies])])
        for name, part in bodies.items() if self._hdf is None else ():
            stem = f"{stems[name]}_{step}" if name else step
            part_with_name = replace(part, texts={"name": name} | part.texts)
            target = write(folder / f"{stem}.vtu", part_with_name, self.comm, float(time))
            fresh.append((float(time), name, f"{folder.name}/{target.name}"))
        self.entries += fresh
        self.states += 1
        self._list()

    def resume(self, states: int, entries: list[tuple[float, str, str]]) -> None:
        """List the states that an earlier run had written (collective).

        Of a .vtkhdf that is damaged these are the states before.
        """
        self.states, self.entries = states, entries
        if self._hdf is not None and states:
            self.states = self._hdf.resume(states)
            self.entries = entries[: self.states * len(entries) // states]
        self._list()

    def _list(self) -> None:
        """Write the list of states, which a .vtkhdf has in itself (collective)."""
        from xml.sax.saxutils import quoteattr

        with together(self.comm):
            if self.comm.rank or self._hdf is not None:
                return
            parts = list(dict.fromkeys(name for _, name, _ in self.entries))
            lines = [
                f'<?xml version="1.0"?>\n{MARK.decode()}<VTKFile type="Collection" version="1.0" '
                'byte_order="LittleEndian">\n<Collection>\n'
            ]
            lines += [
                f'<DataSet timestep="{time!r}" part="{parts.index(name)}" '
                f"name={quoteattr(name)} file={quoteattr(file)}/>\n"
                for time, name, file in self.entries
            ]
            lines.append("</Collection>\n</VTKFile>\n")
            with xml_file(self.path) as out:
                out.write("".join(lines).encode())


def read(path: str | Path) -> dict[str, Samples]:
    """Read back a file that symancf wrote, on this rank: body name -> samples.

    Of a .pvd or .vtkhdf the last state; a .vtu or .pvtu gives one body with the name "".

    Raises
    ------
    SymancfError : the file is missing, damaged or of another origin.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> path = output.write("results/patch.vtu", patch, MPI.COMM_SELF)
    >>> [part.n_cells for part in output.read(path).values()]
    [1]
    """
    path = arguments.path("output.read", path)
    if path.suffix == ".vtu":
        return {"": read_vtu(path)}
    if path.suffix == ".pvtu":
        try:
            pieces = parsed(path).findall("PUnstructuredGrid/Piece")
            names = [piece.attrib["Source"] for piece in pieces]
        except DAMAGED as error:
            raise SymancfError(f"cannot read {str(path)!r}: {error}", asked=str(path)) from None
        return {"": join([read_vtu(path.parent / name) for name in names])}
    return read_state(states(path)[-1][1])


def states(path: str | Path) -> list[tuple[float, dict[str, Path | Stored]]]:
    """Return the times of a .pvd or .vtkhdf in ascending order, each with its bodies.

    Raises
    ------
    SymancfError : the file is missing, damaged or lists no state.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> series = output.Series("results/patch.pvd", comm=MPI.COMM_SELF)
    >>> _ = series.write(0.5, patch)
    >>> [time for time, _ in output.states("results/patch.pvd")]
    [0.5]
    """
    path = arguments.path("output.states", path)
    by_time: dict[float, dict[str, Path | Stored]] = {}
    if path.suffix == HDF:
        by_time |= {time: {**parts} for time, parts in stored_states(path)}
        return sorted(by_time.items(), key=lambda state: state[0])
    try:
        listed = parsed(path).findall("Collection/DataSet")
        for entry in listed:
            files = by_time.setdefault(float(entry.attrib["timestep"]), {})
            files[entry.attrib.get("name", "")] = path.parent / entry.attrib["file"]
    except DAMAGED as error:
        raise SymancfError(f"cannot read {str(path)!r}: {error}", asked=str(path)) from None
    if not by_time:
        raise SymancfError(f"{str(path)!r} lists no state", asked=str(path))
    return sorted(by_time.items(), key=lambda state: state[0])


def read_state(files: Mapping[str, Path | Stored]) -> dict[str, Samples]:
    """Read the bodies of one of `states`.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> series = output.Series("results/patch.pvd", comm=MPI.COMM_SELF)
    >>> _ = series.write(0.5, {"patch": patch})
    >>> (_, files), = output.states("results/patch.pvd")
    >>> [part.n_cells for part in output.read_state(files).values()]
    [1]
    """
    return {
        name: read_stored(file) if isinstance(file, Stored) else next(iter(read(file).values()))
        for name, file in files.items()
    }


__all__ = [
    "Samples",
    "Series",
    "gather",
    "join",
    "read",
    "read_state",
    "slabs",
    "states",
    "swept",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "slabs":
        from . import sampling  # with contact: late

        return sampling.slabs
    return unknown_names(__name__, __all__)(name)


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__

# SPDX-License-Identifier: BSD-3-Clause
"""VTK's unstructured grid files: .vtu pieces and the .pvtu that lists them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Data, Ints
from ..cells import CELLS
from ..errors import SymancfError
from ..runtime import hdf
from ..runtime.files import replacing
from .samples import Samples, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO
    from xml.etree.ElementTree import Element


BLOCK = 1 << 18  # bytes that are compressed at a time

NAMES = {
    "f8": "Float64",
    "f4": "Float32",
    "i8": "Int64",
    "i4": "Int32",
    "i1": "Int8",
    "u1": "UInt8",
}
MARK = b"<!-- a comment at the end has the CRC-32 of all before it -->\n"
_HEADER = (
    '<?xml version="1.0"?>\n'
    + MARK.decode()
    + '<VTKFile type="{}" version="1.0" byte_order="LittleEndian" '
    'header_type="UInt64" compressor="vtkZLibDataCompressor">\n'
)

_UNIT = '<InformationKey name="UNITS_LABEL" location="vtkDataArray">'
NONE: Mapping[str, str] = MappingProxyType({})

SEPARATOR = ": "  # of key and text, in names of field data: meshio refuses texts as values
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # no XML

Layout = list[tuple[str, str, int]]  # name, VTK's type, components

DAMAGED = (*hdf.DAMAGED, SymancfError, AssertionError, StopIteration, zlib.error, SyntaxError)


class _Summed:
    """A file whose CRC-32 is known."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.sum = file, 0

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self.file.write(data)
        self.sum = zlib.crc32(data, self.sum)


@contextmanager
def xml_file(path: Path) -> Iterator[_Summed]:
    """Write a file of XML that ends with its checksum, under a temporary name until complete."""
    with replacing(path) as file:
        summed = _Summed(file)
        yield summed
        file.write(_ending(summed.sum))


def _ending(total: int) -> bytes:
    return b"<!-- CRC-32 %08x -->\n" % total


def parsed(path: Path) -> Element:
    """Read a file of XML (on this rank); one without a checksum is that of an older version.

    Raises
    ------
    OSError, ElementTree.ParseError : it is damaged.
    """
    from xml.etree import ElementTree

    content = path.read_bytes()
    size = len(_ending(0))
    if MARK in content[:200] and content[-size:] != _ending(zlib.crc32(content[:-size])):
        raise OSError("it is damaged or cut off: its checksum is another one")
    return ElementTree.fromstring(content)


@contextmanager
def pieces(path: Path, time: float | None = None) -> Iterator[Callable[[Samples], None]]:
    """Give a function that adds a piece to a file, which takes its name at the end of the block.

    All pieces have the fields and texts of the first.

    Raises
    ------
    OSError : the file cannot be written.
    """
    with xml_file(path) as file:
        file.write(_HEADER.format("UnstructuredGrid").encode() + b"<UnstructuredGrid>\n")
        begun = False

        def add(samples: Samples) -> None:
            nonlocal begun
            if not begun:
                _texts_of(file, samples, time)
            begun = True
            _piece(file, samples)

        yield add
        file.write(b"</UnstructuredGrid>\n</VTKFile>\n")


def _texts_of(file: _Summed, samples: Samples, time: float | None) -> None:
    """Write the field data."""
    times = {} if time is None else {"TimeValue": np.array([time])}
    texts = [f"{key}{SEPARATOR}{text}" for key, text in about(samples).items()]
    names = [NOT_XML.sub("\ufffd", text) for text in texts]
    _section(file, "FieldData", times | dict.fromkeys(names, np.zeros(1, np.uint8)))


def _piece(file: _Summed, samples: Samples) -> None:
    file.write(
        f'<Piece NumberOfPoints="{len(samples.points)}" '
        f'NumberOfCells="{samples.n_cells}">\n'.encode()
    )
    _section(file, "PointData", samples.point_data, samples.units)
    _section(file, "CellData", samples.cell_data, samples.units)
    _section(file, "Points", {"Points": np.asarray(samples.points, float)})
    arrays = ("connectivity", "offsets", "types")
    _section(file, "Cells", dict(zip(arrays, listed(samples), strict=True)))
    file.write(b"</Piece>\n")


def write_pvtu(path: Path, pieces: list[str], points: Layout, cells: Layout) -> None:
    """List the pieces (paths relative to this file) and the fields that they hold."""
    from xml.sax.saxutils import quoteattr  # brings in urllib and ssl

    with xml_file(path) as file:
        lines = [_HEADER.format("PUnstructuredGrid"), '<PUnstructuredGrid GhostLevel="0">\n']
        for title, layout in (
            ("PPointData", points),
            ("PCellData", cells),
            ("PPoints", [("Points", "Float64", 3)]),
        ):
            lines.append(f"<{title}>\n")
            lines += [
                f'<PDataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{n}"/>\n'
                for name, kind, n in layout
            ]
            lines.append(f"</{title}>\n")
        lines += [f"<Piece Source={quoteattr(piece)}/>\n" for piece in pieces]
        lines.append("</PUnstructuredGrid>\n</VTKFile>\n")
        file.write("".join(lines).encode())


def listed(samples: Samples) -> tuple[Ints, Ints, Data]:
    """Return the points of all cells, where those of each cell end, and VTK's types."""
    kinds = [k for k in samples.cells if len(samples.cells[k])]
    counts = [len(samples.cells[k]) for k in kinds]
    lengths = np.repeat(np.array([len(CELLS[k].nodes) for k in kinds], np.int64), counts)
    codes = np.repeat(np.array([CELLS[k].vtk for k in kinds], np.uint8), counts)
    rows = [np.asarray(samples.cells[k], np.int64).ravel() for k in kinds]
    points = rows[0] if len(rows) == 1 else np.concatenate([np.empty(0, np.int64), *rows])
    return points, np.cumsum(lengths, out=lengths), codes


def cells_of(points: Data, ends: Data, types: Data) -> dict[str, Ints]:
    """Return the cells of each type that `listed` has put one after the other."""
    by_code = {cell.vtk: (kind, len(cell.nodes)) for kind, cell in CELLS.items()}
    listed, starts = np.asarray(points, np.int64), np.concatenate([[0], ends[:-1]]).astype(np.int64)
    cells = {}
    for code in dict.fromkeys(types.tolist()):
        kind, nv = by_code[code]
        cells[kind] = listed[starts[types == code][:, None] + np.arange(nv)]
    return cells


def layout(data: dict[str, Data]) -> Layout:
    """Name, type and components of fields as they are written."""
    return [(name, *_kind(flat(values))) for name, values in data.items()]


def require_same_fields(layouts: list[tuple[str, Layout, Layout]]) -> None:
    """Raise where fields of pieces differ; of each its name, and those of points and cells."""
    for name, points, cells in layouts[1:]:
        if sorted(points) != sorted(layouts[0][1]) or sorted(cells) != sorted(layouts[0][2]):
            raise SymancfError(
                f"the fields differ between ranks: {layouts[0][1:]} in {layouts[0][0]}, "
                f"{(points, cells)} in {name}",
                asked=name,
                given=(points, cells),
                possible=layouts[0][1:],
            )


def about(samples: Samples, name: str = "") -> dict[str, str]:
    """Return the texts of the field data: a name, units of the fields, and the samples' own."""
    units = ", ".join(f"{field} [{unit}]" for field, unit in samples.units.items())
    texts = {"name": name, "units": units} | samples.texts
    return {key: text for key, text in texts.items() if text}


def _section(
    file: _Summed,
    title: str,
    data: dict[str, Data],
    units: Mapping[str, str] = NONE,
) -> None:
    from xml.sax.saxutils import escape, quoteattr

    file.write(f"<{title}>\n".encode())
    for name, values in data.items():
        array = flat(values)
        kind, n = _kind(array)
        width = f' NumberOfComponents="{n}"' if array.ndim > 1 else ""  # meshio: (n,), not (n, 1)
        width += f' NumberOfTuples="{len(array)}"' * (title == "FieldData")
        form = "binary" if array.size else "ascii"  # meshio joins no blocks where there are none
        file.write(
            f'<DataArray type="{kind}" Name={quoteattr(name)}{width} format="{form}">\n'.encode()
        )
        for text in _encoded(array):
            file.write(text)
        if name in units:
            file.write(f"\n{_UNIT}{escape(units[name])}</InformationKey>".encode())
        file.write(b"\n</DataArray>\n")
    file.write(f"</{title}>\n".encode())


def flat(values: Data) -> Data:
    """Values as (n,) or (n, components) of a type that VTK knows, little endian."""
    array = np.asarray(values)
    if array.ndim > 2:
        array = array.reshape(len(array), np.prod(array.shape[1:]))
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.str[1:] not in NAMES:
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _kind(array: Data) -> tuple[str, int]:
    return NAMES[array.dtype.str[1:]], 1 if array.ndim == 1 else array.shape[1]


def _encoded(array: Data) -> Iterator[bytes]:
    """Base64 of the header (blocks, size, size of the last, compressed sizes), then the blocks."""
    if not array.size:
        return
    raw = array.reshape(-1).view(np.uint8).data
    pieces = [zlib.compress(raw[i : i + BLOCK], 1) for i in range(0, len(raw), BLOCK)]
    head = [len(pieces), BLOCK, len(raw) % BLOCK, *map(len, pieces)]
    yield base64.b64encode(np.array(head, "<u8").tobytes())
    rest = b""
    for piece in pieces:  # three bytes are four letters
        rest += piece
        whole = len(rest) // 3 * 3
        yield base64.b64encode(rest[:whole])
        rest = rest[whole:]
    yield base64.b64encode(rest)


def read_vtu(path: Path) -> Samples:
    """Read a file written by `pieces`.

    Raises
    ------
    SymancfError : the file is missing or was not written by symancf.
    """
    try:
        grid = parsed(path).find("UnstructuredGrid")
        assert grid is not None
        texts = dict(_texts(grid))
        parts = [_samples(piece, texts) for piece in grid.findall("Piece")]
        assert parts
    except DAMAGED as error:
        raise SymancfError(
            f"cannot read {str(path)!r} as a .vtu of symancf: {error}", asked=str(path)
        ) from None
    return parts[0] if len(parts) == 1 else join(parts)


def _samples(piece: Element, texts: Mapping[str, str]) -> Samples:
    """Return the samples of a piece of a file with these texts."""
    sections = {
        section.tag: {a.attrib["Name"]: _decoded(a.attrib, a.text or "") for a in section}
        for section in piece
    }
    labels = {
        array.attrib["Name"]: (array.findtext("InformationKey") or "").strip()
        for array in piece.iterfind(".//DataArray")
    }
    units = {name: unit for name, unit in labels.items() if unit}
    texts_of_body = {key: text for key, text in texts.items() if key not in ("name", "units")}
    data, cells = (sections["PointData"], sections["CellData"]), sections["Cells"]
    out = Samples(sections["Points"]["Points"], {}, *data, units, texts_of_body)
    out.cells = cells_of(cells["connectivity"], cells["offsets"], cells["types"])
    out.check()
    return out


def _texts(grid: Element) -> Iterator[tuple[str, str]]:
    """Return the texts of the field data by their names."""
    for array in grid.iterfind("FieldData/DataArray"):
        key, separator, text = array.attrib["Name"].partition(SEPARATOR)
        if separator:
            yield key, text
    for array in grid.iterfind("FieldData/Array"):  # files of older versions
        codes = bytes(map(int, (array.text or "0").split()))
        yield array.attrib["Name"], codes[:-1].decode()


def _decoded(about: dict[str, str], text: str) -> Data:
    text = text.strip()
    if about.get("format") != "binary" and text:
        raise ValueError("only arrays of format 'binary' are read")
    kind = next(code for code, name in NAMES.items() if name == about["type"])
    array = np.empty(0, f"<{kind}")
    if text:
        array = _inflated(text, array.dtype)
    if "NumberOfComponents" not in about:
        return array
    return array.reshape(-1, int(about["NumberOfComponents"]))


def _inflated(text: str, dtype: np.dtype[Any]) -> Data:
    """Return the numbers of `_encoded`."""
    start = base64.b64decode(text[:12])[:8]
    count = int(np.frombuffer(start, "<u8")[0])
    size = -(-(8 * (3 + count)) // 3) * 4
    head = np.frombuffer(base64.b64decode(text[:size]), "<u8")
    body = base64.b64decode(text[size:])
    ends = np.cumsum(head[3:]).astype(int)
    raw = b"".join(
        zlib.decompress(body[end - int(n) : end]) for end, n in zip(ends, head[3:], strict=True)
    )
    return np.frombuffer(raw, dtype).copy()

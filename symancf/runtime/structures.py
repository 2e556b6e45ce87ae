# SPDX-License-Identifier: BSD-3-Clause
"""Structures of C as headers declare them, for ctypes: nobody writes their fields twice."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import CStructure, DType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_PLAIN = {
    "int": ctypes.c_int,
    "int16_t": ctypes.c_int16,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_STRUCTURE = re.compile(r"typedef struct(?:\s+\w+)?\s*\{([^{}]*)\}\s*(\w+);")
_FUNCTION = re.compile(r"typedef [^;{}(]*\(\*(\w+)\)")  # the type of one
_DECLARED = re.compile(r"(\**)\s*(\w+)\s*(?:\[(\d+)\])?$")


def declared(
    *files: Path, macros: Mapping[str, str] | None = None, **structures: type
) -> dict[str, type[CStructure]]:
    """Return the structures that C files declare, by their names in C.

    Pointers to structures that come before are typed, others are plain addresses. A structure
    consists of numbers, pointers, functions, structures before it and arrays of these; one with
    something else is left out.

    Parameters
    ----------
    macros : what stands for declarations, and these.
    known : types by names in C.

    Raises
    ------
    OSError : a file cannot be read.
    """
    types: dict[str, type] = {**_PLAIN, **structures}
    by_name: dict[str, type[CStructure]] = {}
    for file in files:
        text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.S)
        for macro, meaning in (macros or {}).items():
            text = text.replace(macro, meaning)
        for name in _FUNCTION.findall(text):
            types.setdefault(name, ctypes.c_void_p)
        for body, name in _STRUCTURE.findall(text):
            try:
                fields = [field for line in body.split(";") for field in _fields(line, types)]
            except KeyError:
                continue
            members = {
                "_fields_": [field[:2] for field in fields],
                "kinds": {field: kind for field, _, kind in fields if kind is not None},
            }
            by_name[name] = types[name] = type(name, (CStructure,), members)
    return by_name


def numbers_of(structure: CStructure, *names: str) -> list[NDArray[np.uint8]]:
    """Return those fields of a structure that are no addresses, all or some, as bytes in place."""
    place, found = np.frombuffer(memoryview(structure), np.uint8), []
    for name, kind, *_ in structure._fields_:
        at = getattr(type(structure), name)
        if (not names or name in names) and _is_plain(kind):
            found.append(place[at.offset : at.offset + at.size])
    return found


def _is_plain(kind: Any) -> bool:
    """Tell whether a type of C holds numbers alone."""
    if issubclass(kind, ctypes.Structure):
        return all(_is_plain(field[1]) for field in kind._fields_)
    if issubclass(kind, ctypes.Array):
        return _is_plain(kind._type_)
    return kind in _PLAIN.values()


def _fields(
    line: str, types: Mapping[str, type]
) -> Iterator[tuple[str, type, tuple[DType, bool] | None]]:
    """Yield names and types of what a line declares, and what plain numbers pointers point to.

    With these, whether they are constants.

    KeyError: of a type that is not known.
    """
    if "(*" in line:
        yield from ((name, ctypes.c_void_p, None) for name in re.findall(r"\(\*(\w+)\)", line))
        return
    words = re.sub(r"\b(const|struct)\b", " ", line).strip()
    if not words:
        return
    of, rest = re.split(r"(?<=\w)(?=\W)", words, maxsplit=1)
    for text in rest.split(","):
        match = _DECLARED.match(text.strip())
        if match is None:
            raise KeyError(text)
        stars, name, count = match.groups()
        kind: Any = types[of] if not stars else _pointer(stars, types.get(of))
        constant = line.lstrip().startswith("const ")
        to = (np.dtype(_PLAIN[of]), constant) if stars == "*" and of in _PLAIN else None
        yield name, kind * int(count) if count else kind, to


def _pointer(stars: str, to: type | None) -> type:
    plain = len(stars) > 1 or to is None or not issubclass(to, ctypes.Structure)
    return ctypes.c_void_p if plain or to is None else ctypes.POINTER(to)

# SPDX-License-Identifier: BSD-3-Clause
"""The text of Abaqus input files: keywords with their parameters and data lines, and numbers.

Abaqus Analysis User's Guide, "Input syntax rules": small and capital letters are the same outside
of quotation marks, blanks do not count there, keyword lines that end with a comma go on, exponents
begin with E or D. Fortran, and so CalculiX, leaves that letter out, too.
"""

from __future__ import annotations

import codecs
import itertools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import MeshError, closest

KEYWORDS = ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE", "PART", "INSTANCE", "INCLUDE")
PARAMETERS = (
    *("TYPE", "NSET", "ELSET", "INPUT", "GENERATE", "INSTANCE", "NAME", "SYSTEM", "PART"),
    *("COMBINE", "LIBRARY", "UNSORTED", "INTERNAL"),
)
WITH_INPUT = ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE")  # data lines of another file

MAX_LABEL = 2**62  # labels are less

_COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')  # outside of quotation marks
_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[deDE]?([+-]\d+)|[deDE](\d+))?")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class KeywordBlock:
    """A keyword with its parameters and data lines.

    Attributes
    ----------
    keyword : in capital letters, without blanks.
    parameters : in capital letters -> value, "" where it has none.
    file : the name of the file that has the data lines.
    line : number of the keyword's line; 0 where the data lines are in a file of their own.
    data : number and text of the data lines.
    """

    keyword: str
    parameters: dict[str, str]
    file: str
    line: int
    data: list[tuple[int, str]]

    def refuse(self, message: str, line: int | None = None, **data: Any) -> MeshError:
        """Return an error that names the file and the line, that of the keyword by default."""
        return refuse(message, self.file, self.line if line is None else line, **data)


def refuse(message: str, file: str, line: int, **data: Any) -> MeshError:
    """Return an error that names the file and the line."""
    return MeshError(f"line {line} of {file}: {message}" if line else f"{file}: {message}", **data)


def unquoted(name: str) -> str:
    """Return a name without the quotation marks around it."""
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def words_of(text: str) -> list[str]:
    """Return the words of a line between its commas."""
    words = _COMMA.split(text) if '"' in text else text.split(",")
    return [word.strip() for word in words]


def key_of(name: str) -> str:
    """Return what two names have in common that are the same."""
    inner = unquoted(name)
    return inner if inner != name else re.sub(r"\s", "", name).upper()


def folded(name: str) -> str:
    """Return a name of a part or instance without marks and blanks, in capital letters."""
    return re.sub(r'[\s"]', "", name).upper()


def real(word: str) -> float:
    """Return a number with an exponent as Fortran writes it; nothing is zero.

    Raises
    ------
    ValueError
    """
    if not (word := word.strip()):
        return 0.0
    match = _REAL.fullmatch(word)
    if not match:
        raise ValueError(word)
    return float(f"{match[1]}e{match[2] or match[3] or 0}")


def label(word: str) -> int | None:
    """Return the label that a word is, None where it is none.

    Raises
    ------
    ValueError : not from 1 to 2^62.
    """
    if not re.fullmatch(r"[+-]?[0-9]+", word):
        return None
    number = int(word)
    if not 0 < number < MAX_LABEL:
        raise ValueError(word)
    return number


def blocks(
    path: Path, above: tuple[Path, ...] = (), before: KeywordBlock | None = None
) -> Iterator[KeywordBlock]:
    """Return the blocks of a file and of those that it includes.

    Parameters
    ----------
    path : the file.
    above : the files that include it, the nearest first.
    before : the last block before it: data before its first keyword belong to that one.

    Raises
    ------
    MeshError : with file and line.
    """
    lines = _lines(path)
    starts = [k for k, line in enumerate(lines) if line.lstrip()[:1] == "*"]
    starts = [k for k in starts if not lines[k].lstrip().startswith("**")]
    stray = _data(lines, 0, starts[0] if starts else len(lines))
    if stray and before is None:
        number, text = stray[0]
        raise refuse(
            f"data before the first keyword: {text[:40]!r}",
            path.name,
            number,
            asked="keyword",
            given=text,
            possible=KEYWORDS,
        )
    yield from _going_on(before, path, stray)
    for start, end in itertools.pairwise([*starts, len(lines)]):
        for block in _block(path, lines, start, end, above, before):
            yield block
            before = block


def _going_on(
    before: KeywordBlock | None, path: Path, data: list[tuple[int, str]]
) -> Iterator[KeywordBlock]:
    """Return a block with more data, from a file that is included among them or after it."""
    if before is not None and data and before.keyword in WITH_INPUT:
        yield replace(before, file=path.name, line=0, data=data)


def _block(
    path: Path,
    lines: list[str],
    start: int,
    end: int,
    above: tuple[Path, ...],
    before: KeywordBlock | None,
) -> Iterator[KeywordBlock]:
    """Return the block of some lines, with the data of another file or the blocks of one."""
    head, first = lines[start].strip(), start + 1
    while head.endswith(",") and first < end:
        text = lines[first].strip()
        if text and not text.startswith("**"):
            if not _goes_on(text):  # data
                break
            head += text
        first += 1
    keyword, *rest = words_of(head[1:])
    keyword = _completed(re.sub(r"\s", "", keyword).upper(), KEYWORDS)
    parameters = {}
    for part in rest:
        name, _, value = part.partition("=")
        parameters[_completed(re.sub(r"\s", "", name).upper(), PARAMETERS)] = value.strip()
    source = unquoted(parameters.get("INPUT", "")).strip("'")
    if keyword == "INCLUDE":
        other = _other(path, source, start + 1, (path, *above))
        for block in blocks(other, (path, *above), before):
            yield block
            before = block
        yield from _going_on(before, path, _data(lines, first, end))
        return
    read = keyword in KEYWORDS
    yield KeywordBlock(
        keyword, parameters, path.name, start + 1, _data(lines, first, end) if read else []
    )
    if source and keyword in WITH_INPUT:
        other = _other(path, source, start + 1, (path, *above))
        lines_of_file = _lines(other)
        data = [
            pair
            for pair in _data(lines_of_file, 0, len(lines_of_file))
            if not pair[1].startswith("*")
        ]
        yield KeywordBlock(keyword, parameters, other.name, 0, data)


def _goes_on(text: str) -> bool:
    """Whether a line after a keyword line that ends with a comma holds parameters, not data."""
    name = _completed(re.sub(r"\s", "", words_of(text)[0]).upper(), PARAMETERS)
    return "=" in text or name in PARAMETERS


def _data(lines: list[str], start: int, end: int) -> list[tuple[int, str]]:
    """Return number and text of the data lines among some."""
    return [
        (k + 1, text)
        for k in range(start, end)
        if (text := lines[k].strip()) and not text.startswith("**")
    ]


def _completed(word: str, possible: tuple[str, ...]) -> str:
    """Return the one word that begins like this, or the word itself."""
    candidates = [p for p in possible if p.startswith(word)] if len(word) > 2 else []
    return candidates[0] if len(candidates) == 1 and word not in possible else word


def _other(path: Path, source: str, line: int, above: tuple[Path, ...]) -> Path:
    """Return the file that is named in a line of another one: beside it, or beside the first.

    Raises
    ------
    MeshError : there is none, or it is one of those above.
    """
    if not source:
        raise refuse("no file is named, INPUT=", path.name, line, asked="INPUT")
    folders = list(dict.fromkeys((path.parent, above[-1].parent)))
    for name in dict.fromkeys((source, source.replace("\\", "/"))):
        for folder in folders:
            if (path_found := _as_written(folder, name)) is None:
                continue
            if any(path_found.samefile(p) for p in above):
                raise refuse(
                    f"{path_found.name} includes itself",
                    path.name,
                    line,
                    asked="INPUT",
                    given=source,
                )
            return path_found
    beside = sorted(p.name for folder in folders for p in folder.glob("*") if p.is_file())
    raise refuse(
        f"there is no file {source!r} in {', '.join(map(str, folders))}.{closest(source, beside)}",
        path.name,
        line,
        asked="INPUT",
        given=source,
        possible=beside[:20],
    )


def _as_written(folder: Path, name: str) -> Path | None:
    """Return the file of a name, in small or capital letters; None where there is not one."""
    if "\0" in name:
        return None
    candidate = folder / name
    for part in () if candidate.is_file() else Path(name).parts:
        inside = folder / part
        if not inside.exists() and folder.is_dir():
            alike = [p for p in folder.iterdir() if p.name.upper() == part.upper()]
            inside = alike[0] if len(alike) == 1 else inside
        candidate = folder = inside
    return candidate if candidate.is_file() else None


def _lines(path: Path) -> list[str]:
    """Return the lines of a file in UTF-8 or Latin-1, or UTF-16 with its mark.

    Raises
    ------
    MeshError : it is no text.
    """
    if not path.is_file():
        raise MeshError(f"{path.name} is no file", asked="file", given=str(path))
    raw = path.read_bytes()
    code = next((code for mark, code in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(code)
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        number = text.count("\n", 0, text.index("\0")) + 1
        raise refuse(
            "a NUL: it is no text, or in UTF-16 without its mark; write it in UTF-8",
            path.name,
            number,
            asked="text",
            given="\0",
        )
    if text and not text.endswith("\n"):
        warnings.warn(f"{path.name}: the last line has no end; is the file complete?", stacklevel=6)
    return text.split("\n")

# SPDX-License-Identifier: BSD-3-Clause
"""Content of an Abaqus input file: nodes, elements and sets of parts and instances, by labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array, Ints
from .abaqus_text import MAX_LABEL, KeywordBlock, folded, key_of, label, real, unquoted, words_of
from .abaqus_types import POSSIBLE, element_type, skipped

# make nodes or elements, or move them, in ways that are not read
REFUSED = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM")


@dataclass(frozen=True)
class NodeBlock:
    """Nodes of a block: labels (k,), coordinates (k, 3) and lines (k,) of a file."""

    labels: Ints
    points: Array
    file: str
    lines: list[int]


@dataclass(frozen=True)
class Elements:
    """Elements of a block, those that are not read without a cell type and nodes.

    `nodes` are labels (k, nv) or, -1 - n, places n in `foreign`: nodes of instances. `oriented`
    are the beams with a node more, for their orientation.
    """

    abaqus_type: str
    kind: str
    labels: Ints
    nodes: Ints
    file: str
    lines: list[int]
    foreign: list[str] = field(default_factory=list)
    oriented: int = 0


@dataclass(frozen=True)
class Entry:
    """What a line gives to a set or surface: labels, a name, or the nodes of an element set.

    `step` is that of ``GENERATE``, from the first label to the last; `face` that of a surface.
    """

    where: tuple[str, int]
    labels: tuple[int, ...] = ()
    name: str = ""
    elset: str = ""
    instance: str = ""
    step: int = 0
    face: str = ""


@dataclass
class Set:
    """A set of nodes or elements, or a surface of nodes or of elements."""

    name: str
    entries: list[Entry] = field(default_factory=list)
    of: str = ""
    where: tuple[str, int] = ("", 0)


@dataclass
class ModelScope:
    """A part, an instance of one, or what is in neither: the assembly.

    `sets` : "NSET", "ELSET" and "SURFACE" -> key of the name -> set. `motion` : translation (3,)
    and axis with angle (7,) of an instance.
    """

    name: str
    nodes: list[NodeBlock] = field(default_factory=list)
    elements: list[Elements] = field(default_factory=list)
    sets: dict[str, dict[str, Set]] = field(
        default_factory=lambda: {"NSET": {}, "ELSET": {}, "SURFACE": {}}
    )
    motion: list[list[float]] = field(default_factory=list)

    def set(self, kind: str, name: str) -> Set:
        """Return the set of a name, a new one if there is none."""
        return self.sets[kind].setdefault(key_of(name), Set(unquoted(name)))

    def instance(self, name: str) -> ModelScope:
        """Return a part once more, under another name."""
        sets = {
            kind: {key: replace(s, entries=list(s.entries)) for key, s in by_name.items()}
            for kind, by_name in self.sets.items()
        }
        return ModelScope(name, list(self.nodes), list(self.elements), sets)


class Model:
    """What the blocks of a file say, by the labels of the file."""

    def __init__(self) -> None:
        self.assembly = ModelScope("")
        self.parts: dict[str, ModelScope] = {}
        self.instances: dict[str, ModelScope] = {}
        self.used: set[str] = set()  # parts that have an instance
        self.scope = self.assembly

    def take(self, block: KeywordBlock) -> None:
        """Add a block.

        Raises
        ------
        MeshError
        """
        readers = {
            "NODE": self._nodes,
            "ELEMENT": self._elements,
            "NSET": self._sets,
            "ELSET": self._sets,
            "SURFACE": self._surface,
            "PART": self._part,
            "INSTANCE": self._instance,
        }
        keyword = block.keyword
        if keyword in REFUSED:
            raise block.refuse(
                f"*{keyword} is not read; write each node and element on a line of its own",
                asked="keyword",
                given=keyword,
                possible=readers,
            )
        if keyword in readers:
            readers[keyword](block)
        elif keyword in ("ENDPART", "ENDINSTANCE"):
            self.scope = self.assembly

    def _part(self, block: KeywordBlock) -> None:
        name = _name(block, "NAME")
        self.scope = self.parts.setdefault(folded(name), ModelScope(unquoted(name)))

    def _instance(self, block: KeywordBlock) -> None:
        name, part = _name(block, "NAME"), _name(block, "PART")
        if folded(part) not in self.parts:
            raise block.refuse(
                f"instance {name!r} is of part {part!r}, which is not given before it",
                asked="PART",
                given=part,
                possible=[p.name for p in self.parts.values()],
            )
        if folded(name) in self.instances:
            raise block.refuse(f"instance {name!r} is given twice", asked="NAME", given=name)
        self.used.add(folded(part))
        self.scope = self.parts[folded(part)].instance(unquoted(name))
        self.instances[folded(name)] = self.scope
        for (line, text), count in zip(block.data, (3, 7), strict=False):
            numbers = _reals(block, line, text.rstrip(", \t").split(","))
            if len(numbers) != count or (count == 7 and numbers[:3] == numbers[3:6]):
                raise block.refuse(
                    f"instance {name!r} is moved by 3 numbers, and turned about an axis by 7 (two "
                    f"points on it and degrees) in a second line; given {text!r}",
                    line,
                    asked="instance",
                    given=text,
                    possible=("x, y, z", "ax, ay, az, bx, by, bz, angle"),
                )
            self.scope.motion.append(numbers)

    def _nodes(self, block: KeywordBlock) -> None:
        if (system := block.parameters.get("SYSTEM", "R").upper()) != "R":
            raise block.refuse(
                "nodes in cylindrical or spherical coordinates are not read",
                asked="SYSTEM",
                given=system,
                possible=("R",),
            )
        rows = [text.split(",", 4) for _, text in block.data]
        labels = _labels(block, [row[0] for row in rows], "node")
        try:
            if any("_" in text for _, text in block.data):
                raise ValueError
            points = np.array([row[1:4] for row in rows], dtype=float)
        except ValueError:  # ragged, or as Fortran writes them
            points = np.zeros((len(rows), 3))
            for k, (row, (line, _)) in enumerate(zip(rows, block.data, strict=True)):
                coordinates = _reals(block, line, row[1:4])
                points[k, : len(coordinates)] = coordinates
        points = np.pad(points.reshape(len(rows), 3 if not rows else -1), ((0, 0), (0, 3)))[:, :3]
        lines = [line for line, _ in block.data]
        self.scope.nodes.append(NodeBlock(labels, points, block.file, lines))
        self._add_to_set("NSET", block, labels)

    def _add_to_set(self, kind: str, block: KeywordBlock, labels: Ints) -> None:
        """Add the nodes or elements of a block to the set that its keyword names, if any."""
        if name := block.parameters.get(kind):
            entry = Entry((block.file, block.line), tuple(labels.tolist()))
            self.scope.set(kind, name).entries.append(entry)

    def _elements(self, block: KeywordBlock) -> None:
        abaqus_type = block.parameters.get("TYPE", "").upper()
        if skipped(abaqus_type):
            heads = [
                (line, text)
                for k, (line, text) in enumerate(block.data)
                if not k or not block.data[k - 1][1].endswith(",")
            ]
            words, nodes = [text.split(",")[0] for _, text in heads], np.empty((len(heads), 0), int)
            labels = _labels(replace(block, data=heads), words, "element")
            own = Elements(abaqus_type, "", labels, nodes, block.file, [line for line, _ in heads])
        else:
            own = self._cells(block, abaqus_type)
        self.scope.elements.append(own)
        self._add_to_set("ELSET", block, own.labels)

    def _cells(self, block: KeywordBlock, abaqus_type: str) -> Elements:
        """Return elements that are cells.

        Raises
        ------
        MeshError
        """
        kind, order, beam = element_type(abaqus_type)
        if not kind:
            raise block.refuse(
                f"elements of type {abaqus_type!r} are not read",
                asked="TYPE",
                given=abaqus_type,
                possible=POSSIBLE,
            )
        rows, lines = _plain_rows(block, len(order) + 1), [line for line, _ in block.data]
        foreign, oriented = list[str](), 0
        if not rows:
            rows, lines, foreign, oriented = _rows(block, abaqus_type, len(order), beam)
        try:
            table = np.array(rows, np.int64).reshape(len(rows), len(order) + 1)
        except OverflowError:
            for line, text in block.data:
                [_label(block, line, word) for word in words_of(text)]
            raise
        labels, nodes = table[:, 0], table[:, 1:][:, list(order)]
        _require_positive(block, labels, "element", lines)
        if not foreign:
            _require_positive(block, nodes.min(axis=1, initial=1), "node", lines)
        return Elements(abaqus_type, kind, labels, nodes, block.file, lines, foreign, oriented)

    def _sets(self, block: KeywordBlock) -> None:
        name = _name(block, block.keyword)
        target, of = self.scope.set(block.keyword, name).entries, block.parameters
        where, instance = (block.file, block.line), of.get("INSTANCE", "")
        if block.keyword == "NSET" and "ELSET" in of:
            target.append(Entry(where, elset=of["ELSET"], instance=instance))
        for line, text in block.data:
            where = block.file, line
            words = words_of(text.rstrip(", \t"))
            if "GENERATE" in of:
                target.append(_generated(block, line, words, instance))
                continue
            if text.isascii() and "".join(words).isdigit():
                numbers = [int(word) for word in words if word]
                if min(numbers, default=1) > 0 and max(numbers, default=1) < MAX_LABEL:
                    target.append(Entry(where, tuple(numbers), instance=instance))
                    continue
            for word in words:
                number = _label(block, line, word)
                if number is not None:
                    target.append(Entry(where, (number,), instance=instance))
                elif word:
                    target.append(Entry(where, name=word, instance=instance))

    def _surface(self, block: KeywordBlock) -> None:
        name, of = _name(block, "NAME"), block.parameters.get("TYPE", "ELEMENT").upper()
        if of not in ("ELEMENT", "NODE") or "COMBINE" in block.parameters:
            what = "that is made of others" if of in ("ELEMENT", "NODE") else f"of type {of}"
            warnings.warn(
                f"line {block.line} of {block.file}: surface {name!r}, {what}, is not read",
                stacklevel=6,
            )
            return
        surface = self.scope.set("SURFACE", name)
        if surface.of not in ("", of):
            raise block.refuse(
                f"surface {name!r} is given of nodes and of elements",
                asked="TYPE",
                given=of,
                possible=(surface.of,),
            )
        surface.of, surface.where = of, (block.file, block.line)
        for line, text in block.data:
            first, *rest = words_of(text)
            face = rest[0].upper() if rest and of == "ELEMENT" else ""
            where, number = (block.file, line), _label(block, line, first)
            if number is not None:
                surface.entries.append(Entry(where, (number,), face=face))
            elif first:
                surface.entries.append(Entry(where, name=first, face=face))


def _name(block: KeywordBlock, parameter: str) -> str:
    if not (name := block.parameters.get(parameter, "")):
        raise block.refuse(
            f"*{block.keyword} without a name, {parameter}=", asked=parameter, given=""
        )
    return name


def _reals(block: KeywordBlock, line: int, words: list[str]) -> list[float]:
    """Return numbers of a line.

    Raises
    ------
    MeshError
    """
    try:
        return [real(word) for word in words]
    except ValueError as error:
        raise block.refuse(
            f"{error} is no number", line, asked="number", given=str(error)
        ) from None


def _label(block: KeywordBlock, line: int, word: str) -> int | None:
    """Return the label that a word is, None where it is none.

    Raises
    ------
    MeshError : zero, negative or too large.
    """
    try:
        return label(word)
    except ValueError:
        raise block.refuse(
            f"label {word}: labels are from 1 to 2^62", line, asked="label", given=word
        ) from None


def _labels(block: KeywordBlock, words: list[str], what: str) -> Ints:
    """Return the labels (k,) that stand first in the lines of a block.

    Raises
    ------
    MeshError
    """
    try:
        labels = np.array(list(map(int, words)), np.int64)
    except (ValueError, OverflowError):
        for (line, _), word in zip(block.data, words, strict=False):
            if _label(block, line, word.strip()) is None:
                raise block.refuse(
                    f"{word.strip()!r} is no label of {what}s", line, asked="label", given=word
                ) from None
        raise
    _require_positive(block, labels, what, [line for line, _ in block.data])
    return labels


def _require_positive(block: KeywordBlock, labels: Ints, what: str, lines: list[int]) -> None:
    if len(labels) and labels.min() < 1:
        k = int(labels.argmin())
        raise block.refuse(
            f"label {labels[k]}: labels of {what}s are positive",
            lines[k],
            asked="label",
            given=int(labels[k]),
        )


def _records(block: KeywordBlock, length: int) -> list[tuple[int, list[str]]]:
    """Return line and words of each element; it goes on in further lines until it has all nodes."""
    records: list[tuple[int, list[str]]] = []
    for line, text in block.data:
        words = [word for word in words_of(text) if word]
        if records and len(records[-1][1]) < length:
            records[-1][1].extend(words)
        elif words:
            records.append((line, words))
    return records


def _plain_rows(block: KeywordBlock, width: int) -> list[list[int]]:
    """Return the numbers of elements if each is a line of so many whole numbers, else nothing."""
    try:
        if any("_" in text for _, text in block.data):
            raise ValueError
        rows = [list(map(int, text.rstrip(", \t").split(","))) for _, text in block.data]
    except ValueError:
        return []
    return rows if set(map(len, rows)) == {width} else []


def _rows(
    block: KeywordBlock, abaqus_type: str, count: int, beam: bool
) -> tuple[list[list[int]], list[int], list[str], int]:
    """Return the numbers of elements as they may be written, and their lines.

    Also nodes of other instances (see `_node`), and how many beams have a node for orientation,
    which is left out.

    Raises
    ------
    MeshError
    """
    rows, lines, foreign, oriented = list[list[int]](), list[int](), list[str](), 0
    for line, words in _records(block, count + 1):
        if len(words) == count + 2 and beam:
            oriented += 1
            words.pop()
        if len(words) != count + 1:
            raise block.refuse(
                f"elements of type {abaqus_type} have a number and {count} nodes each; element "
                f"{words[0]} has {len(words) - 1} nodes",
                line,
                asked="nodes",
                given=len(words) - 1,
                possible=(count,),
            )
        rows.append([_node(block, line, word, foreign) for word in words])
        lines.append(line)
    return rows, lines, foreign, oriented


def _node(block: KeywordBlock, line: int, word: str, foreign: list[str]) -> int:
    """Return the label that a word of an element is, or -1 - n for the n-th node of instances."""
    number = _label(block, line, word)
    if number is not None:
        return number
    if "." not in word:
        raise block.refuse(f"{word!r} is no label of nodes", line, asked="label", given=word)
    foreign.append(word)
    return -len(foreign)


def _generated(block: KeywordBlock, line: int, words: list[str], instance: str) -> Entry:
    """Return first and last label with the step between them.

    Raises
    ------
    MeshError : other than two or three whole numbers, or no step leads from first to last.
    """
    try:
        first, last, *more = (int(word) for word in words if word)
        (step,) = more or [1]
    except ValueError:
        first, last, step = 1, 1, 0
    low, high = min(first, last), max(first, last)
    leads = step != 0 and (last - first) * step >= 0 and abs(step) < MAX_LABEL
    if not leads or low < 1 or high >= MAX_LABEL or "_" in "".join(words):
        raise block.refuse(
            f"GENERATE: {', '.join(words)!r} are not the first label, the last one and, if it is "
            "not 1, the step from the first to the last, negative where the last is the smaller",
            line,
            asked="GENERATE",
            given=", ".join(words),
            possible=("first, last", "first, last, step"),
        )
    return Entry((block.file, line), (first, last), instance=instance, step=step)

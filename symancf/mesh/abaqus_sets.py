# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the nodes and elements that labels and sets of an Abaqus input file name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Mask
from ..errors import closest
from .abaqus_text import folded, key_of, label, refuse, unquoted
from .abaqus_types import is_plane
from .serial import LabelTable, SerialMesh

if TYPE_CHECKING:
    from .abaqus_model import Elements, Entry, Model, ModelScope, Set

NONE = np.empty(0, np.int64)
WORDS = {"NSET": "node", "ELSET": "element"}


class AbaqusNumbering:
    """Nodes and elements of all instances and of the assembly, and the mesh they make.

    `nodes`, `elements` : place of a scope -> `LabelTable`. An element's number counts those of all
    types, with its type in `kind_of`, -1 where it is no cell, and its row there in `row_of`.
    """

    def __init__(self, model: Model) -> None:
        parts = () if model.instances else model.parts.values()
        self.scopes: list[ModelScope] = [*model.instances.values(), *parts, model.assembly]
        self.names = {folded(scope.name): k for k, scope in enumerate(self.scopes[:-1])}
        self.nodes: list[LabelTable] = []
        self.elements: list[LabelTable] = []
        self.kinds: list[str] = []
        self.kind_of, self.row_of = NONE, NONE
        self.missing: dict[str, int] = {}  # labels that GENERATE names and that are not given
        self._cache: dict[tuple[str, int, str], Ints] = {}
        self.mesh = self._points()
        self._cells()

    # ---- nodes and elements ---------------------------------------------------------------------
    def _points(self) -> SerialMesh:
        """Return the mesh with its points, in the order of the file."""
        points, labels = [np.empty((0, 3))], [NONE]
        for scope in self.scopes:
            own, x = joined([n.labels for n in scope.nodes]), np.empty((0, 3))
            x = np.concatenate([x, *(n.points for n in scope.nodes)])
            unique, first, back = np.unique(own, return_index=True, return_inverse=True)
            if len(unique) < len(own):
                again = np.flatnonzero((x != x[first[back]]).any(axis=1))
                if len(again):
                    raise self._require_once(scope, int(again[0]))
            order = np.sort(first)
            number = np.searchsorted(order, first) + sum(map(len, labels))
            self.nodes.append(LabelTable(unique, number))
            points.append(_moved(x[order], scope.motion))
            labels.append(own[order])
        return SerialMesh(np.concatenate(points), {}, point_labels=joined(labels))

    @staticmethod
    def _require_once(scope: ModelScope, at: int) -> Exception:
        for block in scope.nodes:
            if at < len(block.labels):
                break
            at -= len(block.labels)
        number = int(block.labels[at])
        return refuse(
            f"node {number} is given twice, at different places",
            block.file,
            block.lines[at],
            asked="node",
            given=number,
        )

    def _cells(self) -> None:
        """Put the elements into the mesh, cells by type in the order of the file."""
        kind_of, row_of, count = [NONE], [NONE], 0
        rows: dict[str, list[Ints]] = {}
        labels: dict[str, list[Ints]] = {}
        size: dict[str, int] = {}
        for place, scope in enumerate(self.scopes):
            every = joined([e.labels for e in scope.elements])
            unique, first, back = np.unique(every, return_index=True, return_inverse=True)
            stay = np.zeros(len(every), bool)
            stay[first] = True
            if not stay.all():
                _require_equal(scope, stay, first[back])
            start, at = count, 0
            for block in scope.elements:
                own = stay[at : at + len(block.labels)]
                at += len(block.labels)
                kind, many = block.kind, int(own.sum())
                if kind:
                    nodes = self._nodes_of(place, block)[own]
                    rows.setdefault(kind, []).append(nodes)
                    labels.setdefault(kind, []).append(block.labels[own])
                    if kind not in self.kinds:
                        self.kinds.append(kind)
                before = size.get(kind, 0)
                size[kind] = before + many
                row_of.append(np.arange(before, before + many))
                number = self.kinds.index(kind) if kind else -1
                kind_of.append(np.full(many, number))
                count += many
            numbers = np.searchsorted(np.sort(first), first) + start
            self.elements.append(LabelTable(unique, numbers))
        self.kind_of, self.row_of = joined(kind_of), joined(row_of)
        for kind, parts in rows.items():
            self.mesh.append(kind, np.concatenate(parts))
            self.mesh.cell_labels[kind] = joined(labels[kind])

    def _nodes_of(self, place: int, block: Elements) -> Ints:
        """Return the points (k, nv) of elements.

        Raises
        ------
        MeshError
        """
        numbers, missing = self.nodes[place].find(block.nodes.ravel())
        for k in missing:
            row, node = int(k) // block.nodes.shape[1], int(block.nodes.ravel()[k])
            word = block.foreign[-1 - node] if node < 0 else str(node)
            point = self._foreign(word) if node < 0 else None
            if point is None:
                raise refuse(
                    f"element {block.labels[row]} names node {word}, which is not given",
                    block.file,
                    block.lines[row],
                    asked="node",
                    given=word if node < 0 else node,
                )
            numbers[k] = point
        return numbers.reshape(block.nodes.shape)

    def _foreign(self, word: str) -> int | None:
        """Return the point that ``instance.label`` names."""
        place, rest = self._instance(word)
        if place is None or (number := label(rest)) is None:
            return None
        point, missing = self.nodes[place].find(np.array([number]))
        return None if len(missing) else int(point[0])

    def plane(self) -> dict[str, Ints]:
        """Return which cells of each type are plane continua."""
        plane: dict[str, list[Ints]] = {}
        for scope, table in zip(self.scopes, self.elements, strict=True):
            for block in scope.elements:
                if block.kind and is_plane(block.abaqus_type):
                    numbers, _ = table.find(block.labels)
                    plane.setdefault(block.kind, []).append(self.row_of[numbers])
        return {kind: np.unique(joined(rows)) for kind, rows in plane.items()}

    # ---- sets -----------------------------------------------------------------------------------
    def _instance(self, name: str) -> tuple[int | None, str]:
        """Return the place of the instance before the dots of a name, and what is behind it."""
        parts = unquoted(name).split(".") if name.count('"') == 2 else name.split(".")
        for k in (0, 1):  # instance.name, assembly.instance.name
            if len(parts) > k + 1 and folded(parts[k]) in self.names:
                return self.names[folded(parts[k])], ".".join(parts[k + 1 :])
        return None, name

    def set_of(self, kind: str, place: int, name: str) -> tuple[int, str] | None:
        """Return the place and the key of the set of a name, as seen from a place."""
        sets = self.scopes[place].sets[kind]
        if (key := key_of(name)) in sets:
            return place, key
        alike = [k for k in sets if k.upper() == unquoted(name).upper()]
        if len(alike) == 1:
            return place, alike[0]
        other, rest = self._instance(name)
        if other is not None:
            return self.set_of(kind, other, rest)
        alone = len(self.scopes) == 2 and place == 1  # the assembly of one instance
        return self.set_of(kind, 0, name) if alone else None

    def numbers(
        self, kind: str, place: int, key: str, above: tuple[tuple[int, str], ...] = ()
    ) -> Ints:
        """Return the points or elements of a set, sorted, those of sets that it names included.

        Raises
        ------
        MeshError
        """
        if (kind, place, key) not in self._cache:
            chosen = self.scopes[place].sets[kind][key]
            parts = [NONE]
            for entry in chosen.entries:
                parts.append(self.of_entry(kind, place, chosen, entry, (*above, (place, key))))
            self._cache[kind, place, key] = np.unique(joined(parts))
        return self._cache[kind, place, key]

    def of_entry(
        self,
        kind: str,
        place: int,
        chosen: Set,
        entry: Entry,
        above: tuple[tuple[int, str], ...] = (),
    ) -> Ints:
        """Return the points or elements that an entry of a set or surface stands for.

        Raises
        ------
        MeshError
        """
        who = f"{kind.lower()} {chosen.name!r}" if not chosen.of else f"surface {chosen.name!r}"
        if entry.instance and folded(entry.instance) not in self.names:
            raise refuse(
                f"{who} is of instance {entry.instance!r}, which is not given",
                *entry.where,
                asked="INSTANCE",
                given=entry.instance,
                possible=[scope.name for scope in self.scopes[:-1]],
            )
        if entry.instance:
            place = self.names[folded(entry.instance)]
        if entry.elset:
            return self._nodes_of_elset(place, chosen, entry)
        if entry.name:
            other, rest = self._instance(entry.name)
            number = label(rest) if other is not None else None
            if other is not None and number is not None:
                return self._of_labels(kind, other, (number,), who, entry)
            return self._find(kind, place, who, entry, above)
        if entry.step:
            return self._of_range(kind, place, who, entry)
        return self._of_labels(kind, place, entry.labels, who, entry)

    def _tables(self, kind: str) -> list[LabelTable]:
        return self.nodes if kind == "NSET" else self.elements

    def _find(
        self, kind: str, place: int, who: str, entry: Entry, above: tuple[tuple[int, str], ...]
    ) -> Ints:
        place_and_key = self._find_set(kind, place, entry.name, who, entry)
        if place_and_key in above:
            raise refuse(
                f"{who} names itself by {entry.name!r}",
                *entry.where,
                asked=kind,
                given=entry.name,
            )
        return self.numbers(kind, *place_and_key, above)

    def _find_set(
        self, kind: str, place: int, name: str, who: str, entry: Entry
    ) -> tuple[int, str]:
        """Return the place and the key of the set that an entry of another one names.

        Raises
        ------
        MeshError
        """
        place_and_key = self.set_of(kind, place, name)
        if place_and_key is None:
            possible = [s.name for s in self.scopes[place].sets[kind].values()]
            raise refuse(
                f"{kind.lower()} {name!r} is named in {who} but not given."
                f"{closest(name, possible)}",
                *entry.where,
                asked=kind,
                given=name,
                possible=possible,
            )
        return place_and_key

    def _of_labels(
        self, kind: str, place: int, labels: tuple[int, ...], who: str, entry: Entry
    ) -> Ints:
        given = np.array(labels, np.int64)
        numbers, missing = self._tables(kind)[place].find(given)
        if len(missing):
            word = WORDS[kind]
            raise refuse(
                f"{who} names {word} {given[missing[0]]}, which is not given"
                + ("; is INSTANCE= missing?" if self.names and not self.scopes[place].name else ""),
                *entry.where,
                asked=word,
                given=int(given[missing[0]]),
            )
        return numbers

    def _of_range(self, kind: str, place: int, who: str, entry: Entry) -> Ints:
        """Return those from a label to another one in steps, as far as they are given."""
        (first, last), step = entry.labels, entry.step
        table = self._tables(kind)[place]
        low, high = min(first, last), max(first, last)
        left, right = np.searchsorted(table.labels, [low, high + 1])
        fits = (table.labels[left:right] - first) % step == 0
        many, numbers = (last - first) // step + 1, table.numbers[left:right][fits]
        if not len(numbers):
            raise refuse(
                f"{who}: GENERATE names {WORDS[kind]}s {first} to {last}, of which none is given",
                *entry.where,
                asked=WORDS[kind],
                given=(first, last, step),
            )
        if len(numbers) < many:
            self.missing[who] = self.missing.get(who, 0) + many - len(numbers)
        return np.asarray(numbers)

    def _nodes_of_elset(self, place: int, chosen: Set, entry: Entry) -> Ints:
        """Return the points of the elements of a set."""
        place_and_key = self._find_set("ELSET", place, entry.elset, repr(chosen.name), entry)
        cells = self.by_kind(self.numbers("ELSET", *place_and_key))
        return joined([self.mesh.cells[kind][rows].ravel() for kind, rows in cells.items()])

    def by_kind(self, elements: Ints) -> dict[str, Ints]:
        """Return the rows of some elements by their type, without those that are no cells."""
        kinds, rows = self.kind_of[elements], self.row_of[elements]
        return {kind: rows[kinds == k] for k, kind in enumerate(self.kinds) if (kinds == k).any()}


def joined(arrays: list[Ints]) -> Ints:
    """Return arrays (k,) behind each other, also where there is none."""
    return np.concatenate([NONE, *arrays])


def _require_equal(scope: ModelScope, stay: Mask, first: Ints) -> None:
    """Raise where an element is given again with other nodes."""
    elements = [(block, k) for block in scope.elements for k in range(len(block.labels))]
    for at in np.flatnonzero(~stay):
        (block, k), (before, n) = elements[at], elements[int(first[at])]
        if block.kind != before.kind or not np.array_equal(block.nodes[k], before.nodes[n]):
            raise refuse(
                f"element {block.labels[k]} is given twice, with different nodes",
                block.file,
                block.lines[k] if block.lines else 0,
                asked="element",
                given=int(block.labels[k]),
            )


def _moved(x: Array, motion: list[list[float]]) -> Array:
    """Return points (n, 3) of an instance: first shifted, then turned about an axis by degrees."""
    if motion:
        x = x + np.array(motion[0])
    if len(motion) > 1:
        a, b, angle = np.array(motion[1][:3]), np.array(motion[1][3:6]), np.radians(motion[1][6])
        axis = (b - a) / np.linalg.norm(b - a)
        along = (x - a) @ axis
        across = x - a - along[:, None] * axis
        turned = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
        x = a + along[:, None] * axis + turned
    return x

# SPDX-License-Identifier: BSD-3-Clause
"""Places that a cord passes: how much of it has passed each is an unknown there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints, Ints32
from ..assembly.resolved import JetRows, Resolved
from .ends import End, Ground, Symbols
from .sliding import SLIDE

if TYPE_CHECKING:
    import sympy as sp

    from ..assembly.configuration import Configuration, HasName, Layout
    from ..assembly.numbering import Block


BESIDE = "axis1", "axis2"  # of an offset


class CordUnknowns(End):
    """Unknowns along a cord: what has passed each of `count` places, or tensions beyond them.

    Attributes
    ----------
    only : the jet, ``slide`` or ``pull``.
    """

    oriented = False

    def __init__(self, count: int, block: Block) -> None:
        self.count, self.block, self._block = count, block.name, block
        self.only = "slide" if block is SLIDE else "pull"

    def _find(self, layout: Layout) -> Resolved:
        """Announce the unknowns."""
        vertices = layout.new_vertices(self.count, "", self._block)
        return Resolved(np.zeros((self.count, 3)), vertices[:, None])

    def local(self, configuration: Configuration) -> tuple[Ints32, Ints]:
        """Return the local coordinates of this rank, and the numbers of the unknowns there."""
        vertices = self.resolve(configuration.layout).vertices[:, 0]
        numbering, ids = configuration.numbering, configuration.topology.vertex_ids
        here = np.flatnonzero(np.isin(ids, vertices))
        return numbering.offset[here, numbering.block(self.block)], ids[here] - vertices[0]

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the jet; see `End.rows`."""
        numbering, last = configuration.numbering, vertices.shape[1] - 1
        at = numbering.offset[vertices[:, last], numbering.block(self.block)]
        n = np.arange(len(vertices))
        return JetRows(n, 0 * n, at, np.full(len(n), last), np.ones(len(n)))

    def __str__(self) -> str:
        return f"{self.count} unknowns of a cord"


class Eyelets(End):
    """Some of the places of an end, perhaps beside it, and what passes there.

    The position is r + h2 e2 + h3 e3 with the axes of the end. Laws may ask for ``r``, ``u``,
    ``v``, and where a cord passes for ``s`` and ``ds``.

    Parameters
    ----------
    place : the end; its places stay the same.
    at : (K,) numbers of its places.
    offset : (h2, h3) [m].
    passed, numbers : the unknowns, and which of these (K,) the places have; None: it is held.
    tensions, beyond : the tensions of segments, and which of them (K,) begin at the places.
    """

    def __init__(
        self,
        place: End,
        at: Integers,
        offset: tuple[float, float] = (0.0, 0.0),
        passed: CordUnknowns | None = None,
        numbers: Integers | None = None,
        tensions: CordUnknowns | None = None,
        beyond: Integers | None = None,
    ) -> None:
        self.place, self.at, self.offset = place, np.asarray(at, dtype=np.int64), offset
        self.passed, self.numbers = passed, numbers
        self.tensions, self.beyond = tensions, beyond
        self.plane, self.oriented, self.frame = place.plane, place.oriented, place.frame
        self.block = SLIDE.name if passed is not None else ""
        self.slides = True
        self.curved = (*place.curved, "slide", "pull") if place.curved else ()

    def _find(self, layout: Layout) -> Resolved:
        """Find the places, and the unknowns (collective)."""
        every = self.place.resolve(layout)
        if self.place.anywhere or every.starts is not None:
            raise AssertionError(f"{self.place} has no places of its own on every rank")
        chosen = every.take(self.at)
        parts = [chosen.vertices]
        pairs = (self.tensions, self.beyond), (self.passed, self.numbers)
        parts += [own.resolve(layout).vertices[at] for own, at in pairs if own is not None]
        return chosen._replace(vertices=np.concatenate(parts, axis=1), numbers=None)

    def _width(self, vertices: Ints | Ints32) -> int:
        """Return the number of vertices of the end, before those of the unknowns."""
        own = (self.passed is not None) + (self.tensions is not None)
        return int(vertices.shape[1]) - own

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        width = self._width(vertices)
        if jet in ("slide", "pull"):
            own = self.passed if jet == "slide" else self.tensions
            if own is not None:
                end = vertices.shape[1] if jet == "slide" else width + 1
                return own.rows(configuration, places, vertices[:, :end], jet)
            none = np.zeros(0, dtype=np.int64)
            return JetRows(none, none, none, none, np.zeros(0))
        inner = places._replace(vertices=places.vertices[:, :width]), vertices[:, :width]
        rows = self.place.rows(configuration, *inner, jet)
        if jet != "value" or not any(self.offset):
            return rows
        parts = [rows]
        for axis, h in zip(BESIDE, self.offset, strict=True):
            if h:
                beside = self.place.rows(configuration, *inner, axis)
                parts.append(beside._replace(value=h * beside.value))
        return JetRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference values (k, 3) of a jet that do not follow from coordinates."""
        if jet in ("slide", "pull"):
            return np.zeros((places.size, 3))
        X = self.place.constant(places, jet)
        if X is None or jet != "value":
            return X
        for name, h in zip(BESIDE, self.offset, strict=True):
            axis = self.place.constant(places, name) if h else np.zeros(3)
            if axis is None:
                return None
            X = X + h * axis
        return X

    def expressed(self, jet: str, change: Symbols, reference: Symbols) -> list[sp.Expr]:
        """Return the change of a jet in the symbols of changes and references of jets."""
        return self.place.expressed(jet, change, reference)

    def attached(self, places: Resolved) -> tuple[HasName, Array] | None:
        """Return the body that they are on, if it has no mesh, and their arms there."""
        return self.place.attached(places)

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration, columns."""
        return self.place.reference_frame

    def reference(self, configuration: Configuration) -> Array:
        """Return the positions (K, 3) in the reference, on every rank (collective)."""
        places = self.resolve(configuration.layout)
        X = self.constant(places, "value")
        if X is None:
            X = configuration.evaluate(self, [("value", configuration.reference)])[0]
        return X

    def displacement(self, configuration: Configuration) -> Array:
        """Return the present displacements (K, 3), on every rank (collective)."""
        if isinstance(self.place, Ground):
            return np.zeros((len(self.at), 3))
        if self.place.curved:
            return self.place.displacement(configuration)[self.at]
        return super().displacement(configuration)

    def __str__(self) -> str:
        return str(self.place)

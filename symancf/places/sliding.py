# SPDX-License-Identifier: BSD-3-Clause
"""Places that slide along a cable: material points whose distance along it is an unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..assembly.numbering import Block
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError, MeshError
from .ends import Symbols, vector_rows
from .interpolation import tabulate
from .on_body import PointsOnBody
from .projection import Foots

if TYPE_CHECKING:
    import numpy.typing as npt
    import sympy as sp

    from .interpolation import Interpolated


SLIDE = Block("slide", 1, "sliding")
EDGE_TOLERANCE = 1e-8  # of a cell: beyond it its polynomial is exact to round-off
TAYLOR = tuple(f"taylor{k}" for k in range(4))


@dataclass(frozen=True)
class Chain:
    """The cells of a cable one after the other, on every rank.

    Attributes
    ----------
    cells : (n, 2) point ids, in the direction of the chain.
    forward : (n,) whether the parameter of the cell grows in that direction.
    starts : (n + 1,) reference length at the beginning of each cell, and at the end.
    closed : whether the chain is a ring.
    jets : (n, 4, 3) reference position and its derivatives by the parameter, in the middle.
    at : (K,) reference lengths at which places were made.
    """

    cells: Ints
    forward: npt.NDArray[np.bool_]
    starts: Array
    closed: bool
    jets: Array
    at: Array

    def of(self, s: Array, last: Ints | None = None) -> Ints:
        """Return the numbers of the cells that hold reference lengths, -1 beyond the ends.

        At a boundary round-off would choose: `last` cells hold what is `EDGE_TOLERANCE` beyond
        them, too.
        """
        total = self.starts[-1]
        s = np.mod(s, total) if self.closed else s
        slack = 1e-9 * total
        cell = np.searchsorted(self.starts, s, side="right") - 1
        cell = np.where(np.abs(s - total) <= slack, len(self.cells) - 1, cell)
        cell = np.where(np.abs(s) <= slack, 0, cell)
        cell = np.where((cell >= 0) & (cell < len(self.cells)), cell, -1).astype(np.int64)
        if last is None:
            return cell
        low, high = self.starts[last], self.starts[last + 1]
        edge = EDGE_TOLERANCE * (high - low)
        return np.where((s >= low - edge) & (s <= high + edge), last, cell)


class Sliding(PointsOnBody):
    r"""Points of a cable that slide along it; how far is an unknown s of each, 0 at first.

    The position is that of the material point at the reference length s from where the place was
    made, in the direction of the parameter of its cell,

    .. math:: r(s) = \sum_{k=0}^3 r^{(k)} \delta^k / k!, \quad
        \delta = (s - s_0) / L,

    with derivatives r^(k) in the middle s_0 of the cell, of length L: exact in the cell. Beyond its
    ends, which only iterates of Newton's method are, the polynomial is continued; a solution there
    is found again in the cell that holds it. Laws may ask for ``r``, ``u``, ``v``, ``rs``
    (derivative of r by s), ``s`` and ``ds``. A constraint or a force has to determine s; alone a
    constraint on r lets the place slide without friction.

    Raises
    ------
    MeshError : the body is no cable, or its cells are no chain.
    """

    travels = slides = True
    curved = (*TAYLOR, "slide")
    block = SLIDE.name

    def __init__(self, body: Interpolated, points: npt.ArrayLike) -> None:
        super().__init__(body, points)
        if body.element.name != "ancf_cable":
            raise MeshError(
                f"a place slides along cables (ancf_cable); body {body.name!r} is made of "
                f"{body.element.name}"
            )

    # ---- where they are -------------------------------------------------------------------------
    def _find(self, layout: Layout) -> Resolved:
        """Find the points and the chain of cells (collective)."""
        places = super()._find(layout)
        base = layout.base(self.body.region.mesh)
        chain = self._chain(places.vertices - base, places.within[:, 0])
        own = layout.new_vertices(places.size, "", SLIDE)
        cell = chain.of(chain.at)
        return self._in(chain, cell, Resolved(self.X, own[:, None]), base)

    def _chain(self, cells: Ints, xi: Array) -> Chain:
        """Return the chain through the cells (K, 2) of the places, which are at xi (collective)."""
        region = self.body.region
        every = np.concatenate(region.mesh.comm.allgather(region.slice("line")[1]))
        touching: dict[int, list[int]] = {}
        for k, ends in enumerate(every.tolist()):
            for point in ends:
                touching.setdefault(point, []).append(k)
        first = int(np.flatnonzero((every == cells[0]).all(axis=1))[0])
        after, closed = _walk(every, touching, first, 1)
        before = [] if closed else _walk(every, touching, first, 0)[0]
        order = np.array([k for k, _ in [*before[::-1], (first, True), *after]])
        forward = [*(not f for _, f in before[::-1]), True, *(f for _, f in after)]
        e = Foots(self.body, every[order]).e

        def jet(name: str, at: float) -> Array:
            return np.asarray(tabulate(self.body.element, name, np.array([[at]]))[0] @ e)

        length = (
            np.linalg.norm(jet("xi", 0.0), axis=1) + np.linalg.norm(jet("xi", 1.0), axis=1)
        ) / 2
        starts = np.append(0.0, np.cumsum(length))
        middle = [jet(name, 0.5) for name in ("value", "xi", "xixi")]
        middle.append(jet("xixi", 1.0) - jet("xixi", 0.0))
        number_of_cell = {tuple(cell): k for k, cell in enumerate(every[order].tolist())}
        rows = [number_of_cell.get(tuple(cell), -1) for cell in cells.tolist()]
        if min(rows) < 0:
            raise MeshError(f"{self}: its points are on several chains of cells: give one end each")
        along = np.where(np.array(forward)[rows], xi, 1.0 - xi)
        at = starts[rows] + along * length[rows]
        return Chain(every[order], np.array(forward), starts, closed, np.stack(middle, axis=1), at)

    def _in(self, chain: Chain, cell: Ints, places: Resolved, base: int) -> Resolved:
        """Return the places in cells, with what laws take of these."""
        middle = (chain.starts[cell] + chain.starts[cell + 1]) / 2.0
        turns = np.where(chain.forward[cell], 1.0, -1.0)
        scale = turns / (chain.starts[cell + 1] - chain.starts[cell])
        jets = chain.jets[cell].reshape(len(cell), 12)
        within = np.concatenate([np.stack([middle - chain.at, scale], axis=1), jets], axis=1)
        vertices = np.concatenate([chain.cells[cell] + base, places.vertices[:, -1:]], axis=1)
        return Resolved(places.X, vertices, within, path=chain)

    def _slid(self, configuration: Configuration, vector: Array) -> Array:
        """Return the entries (K,) of a local vector at s, on every rank (collective)."""
        places, numbering = (
            self.resolve(configuration.layout, follows=True),
            configuration.numbering,
        )
        values, topology = np.zeros(places.size), configuration.topology
        for k, vertex in enumerate(places.vertices[:, -1]):
            local = topology.find(vertex)
            if len(local) and local[0] < topology.n_owned:
                values[k] = vector[numbering.offset[local[0], numbering.block(SLIDE.name)]]
        return configuration.sum(values)

    def travel(self, configuration: Configuration, time: float) -> None:
        """Find the cells of the present state (collective).

        Raises
        ------
        ConstraintError : a place has slid off the end of its cable.
        """
        layout = configuration.layout
        places = self.resolve(layout, follows=True)
        chain: Chain = places.path
        s = self._slid(configuration, configuration.state)
        last = chain.of(chain.at + places.within[:, 0])  # the middles of the cells
        cell = chain.of(chain.at + s, last)
        if (cell < 0).any():
            off = float(s[int(np.argmin(cell))])
            raise ConstraintError(f"{self} has slid by {off:g}, off the end of its cable")
        base = layout.base(self.body.region.mesh)
        if (chain.cells[cell] + base != places.vertices[:, :2]).any():
            layout.places[self] = self._in(chain, cell, places, base)

    # ---- jets -----------------------------------------------------------------------------------
    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet, ``taylor0`` to ``taylor3`` or ``slide``; see `End.rows`."""
        if jet == "slide":
            block = configuration.numbering.block(SLIDE.name)
            at = configuration.numbering.offset[vertices[:, -1], block]
            n = np.arange(places.size)
            return JetRows(n, 0 * n, at, np.full(len(n), 2), np.ones(len(n)))
        on, element = configuration.binding(self.body).interpolation, self.body.element
        ends = [("value", 0.5), ("xi", 0.5), ("xixi", 0.5), ("xixi", 1.0), ("xixi", 0.0)]
        tables = [tabulate(element, name, np.array([[at]])) for name, at in ends]
        tables[3:] = [tables[3] - tables[4]]
        table = np.repeat(tables[TAYLOR.index(jet)], places.size, axis=0)
        cells = vertices[:, :2]
        return vector_rows(*on.combined(cells, *on.weighted(table, cells)))

    def slide(self, configuration: Configuration, places: Resolved) -> JetRows:
        """Return the jet ``slide`` of all places; see `End.slide`."""
        block, n = configuration.numbering.block(SLIDE.name), np.arange(places.size)
        return JetRows(n, 0 * n, np.full(len(n), block), np.full(len(n), 2), np.ones(len(n)))

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference values (k, 3) of a jet."""
        if jet == "value":
            return places.X
        if jet in TAYLOR:
            first = 2 + 3 * TAYLOR.index(jet)
            return places.within[:, first : first + 3]
        if jet == "slide":
            return np.append(places.within[:, :2], np.zeros((places.size, 1)), axis=1)
        return np.zeros((places.size, 3))

    def expressed(self, jet: str, change: Symbols, reference: Symbols) -> list[sp.Expr]:
        """Return the change of position, or the tangent, in the symbols of Taylor's series."""
        base, scale, _ = reference("slide")
        delta = (change("slide")[0] - base) * scale
        parts = []
        for a in range(3):
            c = [reference(name)[a] + change(name)[a] for name in TAYLOR]
            if jet == "line":
                parts.append(scale * (c[1] + delta * (c[2] + delta / 2 * c[3])))
            else:
                series = c[0] + delta * (c[1] + delta / 2 * (c[2] + delta / 3 * c[3]))
                parts.append(series - reference("value")[a])
        return parts

    # ---- results --------------------------------------------------------------------------------
    def _present(self, configuration: Configuration) -> tuple[Array, list[Array], Resolved]:
        """Return delta (K, 1), the present derivatives (K, 3), and the places (collective)."""
        moved = configuration.evaluate(self, [(name, configuration.state) for name in TAYLOR])
        places = self.resolve(configuration.layout, follows=True)
        s = self._slid(configuration, configuration.state)
        delta = ((s - places.within[:, 0]) * places.within[:, 1])[:, None]
        jets = [u + places.within[:, 2 + 3 * k : 5 + 3 * k] for k, u in enumerate(moved)]
        return delta, jets, places

    def displacement(self, configuration: Configuration) -> Array:
        """Return r(s) less the first position (K, 3), on every rank (collective)."""
        d, c, places = self._present(configuration)
        return np.asarray(c[0] + d * (c[1] + d / 2 * (c[2] + d / 3 * c[3])) - places.X)

    def velocity(self, configuration: Configuration) -> Array:
        """Return d r(s)/dt (K, 3), on every rank (collective)."""
        d, c, places = self._present(configuration)
        v = configuration.evaluate(self, [(name, configuration.rate) for name in TAYLOR])
        rate = self._slid(configuration, configuration.rate)[:, None] * places.within[:, 1:2]
        along = c[1] + d * (c[2] + d / 2 * c[3])
        return np.asarray(v[0] + d * (v[1] + d / 2 * (v[2] + d / 3 * v[3])) + along * rate)

    @in_system
    def slid(self, system: Configuration) -> Array:
        """Return the distances s (K,) that the places have slid, on every rank (collective)."""
        return self._slid(system, system.state)

    def __str__(self) -> str:
        return f"a sliding place of {self.body.name!r}"


def _walk(
    cells: Ints, touching: dict[int, list[int]], first: int, end: int
) -> tuple[list[tuple[int, bool]], bool]:
    """Return the cells that follow at an end of a cell, with their sense; whether it is a ring.

    Raises
    ------
    MeshError : more than two cells meet at a point.
    """
    walk: list[tuple[int, bool]] = []
    cell, point = first, int(cells[first, end])
    while True:
        if len(touching[point]) > 2:
            raise MeshError(f"{len(touching[point])} cells of a cable meet at a point: no chain")
        following = [k for k in touching[point] if k != cell]
        if not following or following[0] == first:
            return walk, bool(following)
        cell = following[0]
        forward = int(cells[cell, 0]) == point
        walk.append((cell, forward))
        point = int(cells[cell, 1 if forward else 0])

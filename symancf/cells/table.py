# SPDX-License-Identifier: BSD-3-Clause
"""The cells: one table of nodes, edges, faces and names that everything else reads.

A row says where the nodes are in a reference cell of side 1, in the order of meshio (and VTK),
which monomials interpolate between them, and which corners make up edges and faces. All else
follows: the traces on faces and edges, the functions of the nodes, the links along edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise, product

import numpy as np

from ..arrays import Array, Ints
from .shape import Functions, ShapeField, ShapeFunctions

Point = tuple[Fraction, ...]
Numbers = tuple[int, ...]
Links = tuple[tuple[int, int], ...]
Surface = Callable[[Array], tuple[Array, Array]]

NAMES = ("xi", "eta", "zeta")


@dataclass(frozen=True, eq=False)
class Cell:
    """A type of cells.

    Attributes
    ----------
    name, vtk : its name in meshio, its number in VTK.
    factors : dimensions of the simplices whose product the reference cell is: (1, 1, 1) is the
        cube, (3,) the tetrahedron, (2, 1) the prism. Quadrature rules follow them.
    nodes : places in the reference cell of side 1, in meshio's order, the corners first.
    corners : number of corners.
    edges : pairs of corners.
    faces : corners of the faces, counter-clockwise seen from outside.
    monomials : of the parameters, as many as nodes: they span the functions of the nodes.
    domain : (low, high) of every parameter, onto which the sides of length 1 are stretched.

    Examples
    --------
    >>> from symancf import elements
    >>> elements.CELLS["tetra"].name
    'tetra'
    """

    name: str
    vtk: int
    factors: Numbers
    nodes: tuple[Point, ...]
    corners: int
    edges: Links
    faces: tuple[Numbers, ...]
    monomials: str
    domain: tuple[int, int] = (0, 1)

    def __repr__(self) -> str:
        return f"<cell {self.name}: {len(self.nodes)} nodes>"

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return sum(self.factors)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return NAMES[: self.dimension]

    @cached_property
    def vertices(self) -> tuple[Point, ...]:
        """Parameter values of the nodes."""
        low, high = self.domain
        return tuple(tuple(low + (high - low) * x for x in node) for node in self.nodes)

    # ---- the reference cell ---------------------------------------------------------------------
    @cached_property
    def unit(self) -> Array:
        """The nodes (nv, dim) as floating-point numbers."""
        return np.array(self.nodes, dtype=float).reshape(len(self.nodes), self.dimension)

    @cached_property
    def centre(self) -> Array:
        """The centroid of the reference cell, (dim,)."""
        return np.asarray(self.unit[: self.corners].mean(axis=0))

    def to_domain(self, unit: Array) -> Array:
        """Return parameter values of places in the reference cell of side 1."""
        low, high = self.domain
        return low + (high - low) * unit if self.domain != (0, 1) else unit

    def clamped(self, unit: Array) -> Array:
        """Return places (k, dim) moved into the reference cell where they are outside."""
        inside = np.clip(unit, 0.0, 1.0)
        first = 0
        for d in self.factors:
            if d > 1:
                part = np.maximum(unit[:, first : first + d], 0.0)
                over = np.maximum(part.sum(axis=1, keepdims=True) - 1.0, 0.0)
                part = np.maximum(part - over / d, 0.0)
                inside[:, first : first + d] = part / np.maximum(part.sum(1, keepdims=True), 1.0)
            first += d
        return inside

    def rounded(self, unit: Array) -> Array:
        """Put coordinates within 1e-9 of those that nodes have exactly there."""
        steps = 2.0 if len(self.nodes) > self.corners else 1.0
        near = np.round(steps * unit) / steps
        return np.where(np.abs(unit - near) < 1e-9, near, unit)

    # ---- functions of the nodes -----------------------------------------------------------------
    @property
    def field(self) -> ShapeField:
        """The field of one value at every node."""
        return ShapeField(self.monomials, nodal=("",))

    @cached_property
    def functions(self) -> ShapeFunctions:
        """The functions of the nodes, of the parameters."""
        return self.field.solve(self.coordinates, self.vertices)

    def degree_of(self, functions: Functions) -> int:
        """Return the highest power of a parameter; on each simplex the total degree."""
        ends = [*accumulate(self.factors, initial=0)]
        return max(sum(p[a:b]) for p in functions.exponents for a, b in pairwise(ends))

    @cached_property
    def _solved(self) -> tuple[list[Numbers], Array]:
        """The monomials, with all that differentiation makes of them, and their coefficients.

        These are (1 + dim, nv, monomials): of the functions, and of their derivatives.
        """
        exponents = [tuple(e) for e in self.functions.exponents]
        width, d = self.domain[1] - self.domain[0], range(self.dimension)
        less = [[(*e[:k], max(0, e[k] - 1), *e[k + 1 :]) for k in d] for e in exponents]
        every = list(dict.fromkeys((*exponents, *(e for row in less for e in row))))
        solved = np.zeros((1 + self.dimension, len(self.nodes), len(every)))
        for e, row, lower in zip(exponents, self.functions.coefficients, less, strict=True):
            c = np.array([float(x) for x in row])
            solved[0, :, every.index(e)] += c
            for k in d:
                solved[1 + k, :, every.index(lower[k])] += width * e[k] * c
        return every, solved

    def table(self, unit: Array) -> Array:
        """Return the functions and their derivatives (1 + dim, nv, k) at places (k, dim).

        Both in the reference cell of side 1.
        """
        exponents, solved = self._solved
        x = np.ascontiguousarray(self.to_domain(unit).T)
        monomials = np.ones((len(exponents), len(unit)))
        for row, powers in zip(monomials, exponents, strict=True):
            for component, power in zip(x, powers, strict=True):
                for _ in range(power):
                    row *= component
        return np.asarray(solved @ monomials)

    def evaluate(self, unit: Array) -> tuple[Array, Array]:
        """Return the functions (k, nv) and their derivatives (k, nv, dim); see `table`."""
        value, *slopes = self.table(unit)
        return value.T, np.stack([s.T for s in slopes], axis=2)

    def surface(self, X: Array) -> Surface:
        """Return the places of cells through their nodes X (k, nv, 3).

        That is a function of places (k, dim) in the reference cell: the points (k, 3) and their
        derivatives (k, 3, dim).
        """
        nodes = np.ascontiguousarray(X.transpose(1, 2, 0))

        def surface(unit: Array) -> tuple[Array, Array]:
            value, *slopes = np.einsum("dvk,vak->dak", self.table(unit), nodes)
            return value.T, np.stack([s.T for s in slopes], axis=2)

        return surface

    @cached_property
    def straight(self) -> Cell:
        """The type of the same shape that has corners only."""
        return next(
            cell
            for cell in CELLS.values()
            if cell.factors == self.factors and len(cell.nodes) == self.corners
        )

    def bulge(self, x: Array) -> Array:
        """Return a bound (k,) of how far cells (k, nv, 3) reach beyond those of their corners."""
        n = self.corners
        if len(self.nodes) == n:
            return np.zeros(len(x))
        between, _ = self.straight.evaluate(self.unit[n:])
        off = np.linalg.norm(x[:, n:] - between @ x[:, :n], axis=2)
        return np.asarray(self._sum_between * off.max(axis=1))

    @cached_property
    def _sum_between(self) -> float:
        """The largest sum of the functions between the corners."""
        grid = np.array(list(product(np.linspace(0.0, 1.0, 9), repeat=self.dimension)))
        value, _ = self.evaluate(self.clamped(grid))
        return float(np.abs(value[:, self.corners :]).sum(axis=1).max())

    # ---- edges and faces ------------------------------------------------------------------------
    def _on(self, corners: Numbers, trace: Cell) -> Numbers | None:
        """Return the nodes of a side with some corners, in the order of its cell type."""
        first, *along = (self.nodes[corners[k]] for k in (0, *trace.axes))
        nodes = []
        for node in trace.nodes:
            at = tuple(
                a + sum(s * (b[d] - a) for s, b in zip(node, along, strict=True))
                for d, a in enumerate(first)
            )
            if at not in self.nodes:
                return None
            nodes.append(self.nodes.index(at))
        return tuple(nodes)

    @property
    def axes(self) -> Numbers:
        """The corners at the ends of the axes of the reference cell."""
        ends = np.eye(self.dimension, dtype=int).tolist()
        return tuple(self.nodes.index(tuple(Fraction(x) for x in end)) for end in ends)

    def _traces(
        self, sides: tuple[Numbers, ...], dimension: int
    ) -> tuple[tuple[Cell, Numbers], ...]:
        """Return type and nodes of sides: of the types that fit that with the most nodes."""
        traces = []
        for corners in sides:
            fits = [
                (trace, nodes)
                for trace in CELLS.values()
                if trace.dimension == dimension and trace.corners == len(corners)
                if (nodes := self._on(corners, trace)) is not None
            ]
            traces.append(max(fits, key=lambda fit: len(fit[1])))
        return tuple(traces)

    @cached_property
    def whole_edges(self) -> tuple[tuple[Cell, Numbers], ...]:
        """Type and nodes of each edge: its two ends, then what is between them."""
        return self._traces(self.edges, 1)

    @cached_property
    def whole_faces(self) -> tuple[tuple[Cell, Numbers], ...]:
        """Type and nodes of each face, in the order of its type."""
        return self._traces(self.faces, 2)

    def sides(self, kind: str) -> Ints:
        """Return the nodes (n, nv) of the faces or edges of a type; of its own: of itself."""
        if kind == self.name:
            return np.arange(len(self.nodes))[None]
        sides_of_type = (*self.whole_edges, *self.whole_faces)
        nodes = [nodes for cell, nodes in sides_of_type if cell.name == kind]
        return np.array(nodes, dtype=np.int64).reshape(len(nodes), len(CELLS[kind].nodes))

    def turned(self, edge: Ints) -> Ints:
        """Return the order of the nodes (k, nv) of surfaces in which an edge is the first one."""
        n, nodes = self.corners, np.arange(len(self.nodes))
        around = (edge[:, None] + np.arange(n)) % n
        inside = np.broadcast_to(nodes[2 * n :], (len(edge), max(0, len(nodes) - 2 * n)))
        between = around + n if len(nodes) > n else around[:, :0]
        return np.concatenate([around, between, inside], axis=1)

    @property
    def traces(self) -> tuple[str, ...]:
        """Types of its sides of one dimension less."""
        sides = {1: (), 2: self.whole_edges, 3: self.whole_faces}.get(self.dimension, ())
        return tuple(dict.fromkeys(cell.name for cell, _ in sides))

    @property
    def edge(self) -> str:
        """Type of its edges; of a line its own."""
        return self.whole_edges[0][0].name

    @cached_property
    def links(self) -> Links:
        """Pairs of nodes that follow each other along the edges."""
        chains = ((a, *between, b) for _, (a, b, *between) in self.whole_edges)
        return tuple(pair for chain in chains for pair in pairwise(chain))

    @cached_property
    def graph(self) -> Links:
        """The links, and one to the first node from those that are on no edge."""
        linked = {node for pair in self.links for node in pair}
        return self.links + tuple((0, k) for k in range(len(self.nodes)) if k not in linked)

    @cached_property
    def fans(self) -> Array:
        """Directions (nv, dim, dim) of the edges at each node, right-handed.

        Those between corners have the ones of a corner beside them.
        """
        fans = np.zeros((len(self.nodes), self.dimension, self.dimension))
        beside = dict.fromkeys(range(len(self.nodes)), 0) | {c: c for c in range(self.corners)}
        for _, (a, _, *between) in self.whole_edges:
            beside |= dict.fromkeys(between, a)
        for node, corner in beside.items():
            ends = [(set(edge) - {corner}).pop() for edge in self.edges if corner in edge]
            fan = self.unit[ends] - self.unit[corner]
            fans[node] = fan if np.linalg.det(fan) > 0 else fan[::-1]
        return fans

    # ---- drawing --------------------------------------------------------------------------------
    def lattice(self, n: int) -> tuple[Array, Ints]:
        """Cut the cell into n^dim equal cells of its own type, for drawing curved cells.

        Cells with nodes between their corners, and those that are no product of lines, stay whole.

        Returns
        -------
        points : ((n+1)^dim, dim) parameter values, the first parameter fastest; of whole cells
            those of the nodes.
        cells : (n^dim, number of nodes) indices of points, in meshio's order.
        """
        if n < 1:
            raise ValueError(f"cut a cell into at least 1 part per direction, not {n}")
        if len(self.nodes) > self.corners or max(self.factors) > 1:
            return self.to_domain(self.unit), np.arange(len(self.nodes))[None]
        low, high = self.domain
        d = self.dimension
        line = low + (high - low) * np.arange(n + 1) / n
        grid = np.array(list(product(line, repeat=d)))[:, ::-1]
        stride = (n + 1) ** np.arange(d)
        first = np.array(list(product(range(n), repeat=d)))[:, ::-1] @ stride
        cells = first[:, None] + (self.unit.astype(np.int64) @ stride)[None, :]
        return np.ascontiguousarray(grid), cells.astype(np.int64)

    @property
    def polygons(self) -> Ints:
        """Triangles and quadrilaterals (n, 4) that draw a surface; triangles repeat their last."""
        if self.dimension != 2:
            raise ValueError(f"a {self.name} is no surface")
        n, own = self.corners, range(self.corners)
        if len(self.nodes) == n:
            return np.array([[*own, *own[-1:]][:4]])
        if len(self.nodes) > 2 * n:  # with one in the middle
            return np.array([[k, n + k, 2 * n, n + (k - 1) % n] for k in own])
        fan = [[k, n + k, n + (k - 1) % n, n + (k - 1) % n] for k in own]
        middle = [*range(n, 2 * n), 2 * n - 1][:4]
        return np.array([*fan, middle])


def _points(text: str) -> tuple[Point, ...]:
    """Return the points that a text such as ``"00 10 11 01"`` names."""
    return tuple(tuple(Fraction(int(x)) for x in word) for word in text.split())


def _numbers(text: str) -> tuple[Numbers, ...]:
    return tuple(tuple(int(x) for x in word) for word in text.split())


def _first_order(
    name: str,
    vtk: int,
    factors: Numbers,
    nodes: str,
    edges: str,
    faces: str,
    monomials: str,
    domain: tuple[int, int] = (0, 1),
) -> Cell:
    at = _points(nodes) if sum(factors) else ((),)
    pairs = tuple((a, b) for a, b in _numbers(edges))
    return Cell(name, vtk, factors, at, len(at), pairs, _numbers(faces), monomials, domain)


def _second_order(name: str, vtk: int, base: Cell, monomials: str, more: str = "") -> Cell:
    """Return a cell with a node in the middle of each edge of another one, perhaps with `more`.

    `more` in halves: ``"11"`` is the middle of the square.
    """
    at = [base.nodes[a] for a, _ in base.edges], [base.nodes[b] for _, b in base.edges]
    mids = (tuple((x + y) / 2 for x, y in zip(a, b, strict=True)) for a, b in zip(*at, strict=True))
    centres = (tuple(x / 2 for x in point) for point in _points(more))
    nodes = (*base.nodes, *mids, *centres)
    return Cell(
        name,
        vtk,
        base.factors,
        nodes,
        base.corners,
        base.edges,
        base.faces,
        monomials,
        base.domain,
    )


def _powers(dimension: int, highest: int) -> str:
    """Return all monomials up to a power of each parameter."""
    powers = product(range(highest + 1), repeat=dimension)
    monomials = ("*".join(f"{x}**{p}" for x, p in zip(NAMES, e, strict=False) if p) for e in powers)
    return " ".join(text or "1" for text in monomials)


_LINEAR = "1 xi eta zeta"
_TRILINEAR = f"{_LINEAR} xi*eta eta*zeta zeta*xi xi*eta*zeta"
_SERENDIPITY = "xi**2 eta**2 zeta**2 " + " ".join(
    f"{a}**2*{b}" for a in NAMES for b in NAMES if a != b
)

VERTEX = _first_order("vertex", 1, (), "", "", "", "1")
LINE = _first_order("line", 3, (1,), "0 1", "01", "", "1 xi")
QUAD = _first_order("quad", 9, (1, 1), "00 10 11 01", "01 12 23 30", "0123", "1 xi eta xi*eta")
HEXAHEDRON = _first_order(
    "hexahedron",
    12,
    (1, 1, 1),
    "000 100 110 010 001 101 111 011",
    "01 12 23 30 45 56 67 74 04 15 26 37",
    "0321 4567 0154 1265 2376 3047",
    _TRILINEAR,
    (-1, 1),
)
TRIANGLE = _first_order("triangle", 5, (2,), "00 10 01", "01 12 20", "012", "1 xi eta")
TETRA = _first_order(
    "tetra", 10, (3,), "000 100 010 001", "01 12 20 03 13 23", "021 013 123 032", _LINEAR
)
WEDGE = _first_order(
    "wedge",
    13,
    (2, 1),
    "000 100 010 001 101 011",
    "01 12 20 34 45 53 03 14 25",
    "021 345 0143 1254 2035",
    f"{_LINEAR} zeta*xi zeta*eta",
)
LINE3 = _second_order("line3", 21, LINE, "1 xi xi**2")
TRIANGLE6 = _second_order("triangle6", 22, TRIANGLE, "1 xi eta xi**2 xi*eta eta**2")
QUAD8 = _second_order("quad8", 23, QUAD, "1 xi eta xi*eta xi**2 eta**2 xi**2*eta xi*eta**2")
QUAD9 = _second_order("quad9", 28, QUAD, _powers(2, 2), "11")
TETRA10 = _second_order(
    "tetra10", 24, TETRA, f"{_LINEAR} xi**2 eta**2 zeta**2 xi*eta eta*zeta zeta*xi"
)
HEXAHEDRON20 = _second_order(
    "hexahedron20",
    25,
    HEXAHEDRON,
    f"{_TRILINEAR} {_SERENDIPITY} xi**2*eta*zeta xi*eta**2*zeta xi*eta*zeta**2",
)
HEXAHEDRON27 = _second_order(
    "hexahedron27", 29, HEXAHEDRON, _powers(3, 2), "011 211 101 121 110 112 111"
)
WEDGE15 = _second_order(
    "wedge15",
    26,
    WEDGE,
    f"{TETRA10.monomials} xi**2*zeta xi*eta*zeta eta**2*zeta xi*zeta**2 eta*zeta**2",
)
WEDGE18 = _second_order(
    "wedge18",
    32,
    WEDGE,
    " ".join(
        "*".join(m for m in (a, b) if m != "1") or "1"
        for b in LINE3.monomials.replace("xi", "zeta").split()
        for a in TRIANGLE6.monomials.split()
    ),
    "101 111 011",
)

#: The table: a row for each type of cells, by meshio's name.
CELLS: dict[str, Cell] = {
    cell.name: cell
    for cell in (
        *(VERTEX, LINE, QUAD, HEXAHEDRON, TRIANGLE, TETRA, WEDGE),
        *(LINE3, QUAD8, QUAD9, TRIANGLE6, TETRA10, HEXAHEDRON20, HEXAHEDRON27, WEDGE15),
        WEDGE18,
    )
}

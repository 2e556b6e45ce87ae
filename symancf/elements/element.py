# SPDX-License-Identifier: BSD-3-Clause
"""Elements: a cell, monomials, nodal coordinates, and the quantities that they offer."""

from __future__ import annotations

import copyreg
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import sympy as sp

from symancf_codegen.declare import Rule

from ..arrays import Array, Ints
from ..cells.macro import Macro, MacroFunctions
from ..cells.quadrature import at_nodes, counts_for, gauss, parse
from ..cells.shape import ElementSpace, Functions, ShapeField, TableJets
from ..cells.table import TRIANGLE
from ..errors import KinematicsError
from ..kinematics.quantity import centre
from ..values.functions import arguments_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..cells.table import Cell
    from ..kinematics import Kinematics, KinematicsFamily


#: Names of the fields of an element whose cells have directions of the material.
AXES = ("d1", "d2", "d3")

#: Fields that are directions through a thickness or a section: jet and coordinate of each.
DIRECTORS = {
    "d": ("zeta", "z", 1),
    "dy": ("eta", "y", 1),
    "dz": ("zeta", "z", 1),
    "c": ("zeta", "z", 2),
}


@dataclass(frozen=True, eq=False)
class Element:
    """An element, declared by its cell, monomials and nodal coordinates.

    The coefficient vectors of a cell are ordered vertex by vertex: position, then the slopes.
    Slopes are derivatives by the parameters of the cell (``xi``, ``eta``), or by the length
    coordinate through the thickness (``z``).

    Attributes
    ----------
    name : e.g. ``"ancf_plate"``.
    topology : its row of the table of cells.
    fields : the interpolated fields by name: ``"N"``, or for r = m(xi, eta) + z d(xi, eta)
        ``"m"`` and ``"d"``, with z^2/2 c(xi, eta) also ``"c"``.
    slopes : names of the slope vectors of a vertex.
    slope_kind : ``"gradient"``: a node stores the full deformation gradient F against the
        Cartesian axes, element slopes are F . (reference slope); ``"tangents"``: a node stores
        as many slope vectors as the element has, along unit tangents; ``"none"``.
    family : builds the quantities that an energy may ask for.
    rules : default quadrature rules by name, ``"full"`` and ``"reduced"``.
    volumetric : how the part of an energy named ``"volumetric"`` is integrated by default.
    derivatives : the derivatives by the parameters that laws may use, as names.
    traces : the elements of its faces, one for each type of them, on which loads act; none: they
        act on cells alone.
    advice : what bodies of it are warned of.
    pressures : degree of the pressures that go with it, ``"discontinuous"`` between cells and
        ``"continuous"``, with values at corners; see `symancf.laws.mixed`.
    automatic : whether a body that names no element may have it.
    without : the same without unknowns of its cells, for laws that do not go with them.
    across : whether the middle of each edge carries the slope across it, along a unit vector of
        the reference; see `symancf.places.macro`.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.elements.hex8
    <element hex8: 24 coordinates, hexahedron>
    """

    name: str
    topology: Cell
    fields: Mapping[str, ShapeField | Macro]
    slopes: tuple[str, ...]
    slope_kind: Literal["gradient", "tangents", "none"]
    family: KinematicsFamily
    rules: Mapping[str, str]
    volumetric: Literal["full", "reduced", "split"] = "full"
    derivatives: tuple[str, ...] = ("xi",)
    traces: tuple[Element, ...] = ()
    advice: str = ""
    pressures: Mapping[str, int] = field(default_factory=dict)
    automatic: bool = True
    without: Element | None = None
    across: bool = False
    __doc__: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        if vars(sys.modules[__package__]).get(self.name) is self:
            return _of_package, (self.name,)  # the same one everywhere
        return copyreg.__newobj__, (Element,), vars(self)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<element {self.name}: {self.coordinates} coordinates, {self.cell}>"

    @property
    def cell(self) -> str:
        """The cell type, as meshio names it."""
        return self.topology.name

    def on(self, kind: str) -> Element | None:
        """Return the element of cells of a type: itself, or a trace; None: there is none."""
        return next((e for e in (self, *self.traces) if e.cell == kind), None)

    @property
    def dimension(self) -> int:
        """Number of parameters: 1 of cables, 2 of plates, 3 of solids."""
        return self.topology.dimension

    @property
    def vertices(self) -> int:
        """Number of nodes of a cell."""
        return len(self.topology.nodes)

    @property
    def size(self) -> int:
        """Number of coefficient vectors (shape functions) of a cell."""
        return self.functions["N"].size if self.across else self.vectors

    @property
    def edges(self) -> int:
        """Number of edges whose middles carry slopes."""
        return len(self.topology.edges) if self.across else 0

    @property
    def vectors(self) -> int:
        """Number of vectors that the nodes and edges of a cell carry."""
        return self.vertices * (1 + len(self.slopes)) + self.edges

    @property
    def coordinates(self) -> int:
        """Number of scalar coordinates of a cell."""
        return 3 * self.vectors

    @property
    def axes(self) -> tuple[str, ...]:
        """The fields that are directions of the material, of rods: d1, d2, d3."""
        return tuple(name for name in self.fields if name in AXES)

    @property
    def gradient(self) -> tuple[str, ...]:
        """The point jets that tell how the material is turned and stretched at a point."""
        derivatives = (j for j in ("xi", "eta", "zeta") if j in self.space.point_jets)
        return self.axes or tuple(derivatives)

    @property
    def has_thickness(self) -> bool:
        """Whether the cell has a director through its thickness."""
        return "d" in self.fields

    @property
    def section(self) -> int:
        """Number of directors: 1 through a thickness, 2 over a cross-section."""
        return sum(name in DIRECTORS and DIRECTORS[name][2] == 1 for name in self.fields)

    @property
    def oriented(self) -> bool:
        """Whether its cells are lines whose cross-sections stand in some way."""
        return bool(self.axes) or self.section > 1

    @property
    def directions(self) -> int:
        """Number of slopes of a node that are directions: a second one through z is none."""
        return sum(name != "zz" for name in self.slopes)

    @cached_property
    def functions(self) -> dict[str, Functions]:
        """The solved shape functions of every field."""
        cell = self.topology
        return {
            name: field.solve(cell.coordinates, cell.vertices)
            for name, field in self.fields.items()
        }

    @cached_property
    def space(self) -> ElementSpace:
        """The declared space: table jets and point jets (value, first, second derivatives)."""
        main, *others = self.fields
        point: dict[str, dict[str, sp.Expr]] = {}
        tables = [main, *(f"{main}_{d}" for d in self.derivatives)]
        point["value"] = {main: sp.Integer(1)}
        for derivative in self.derivatives:
            point[derivative] = {f"{main}_{derivative}": sp.Integer(1)}
        for axis in self.axes:
            tables.append(axis)
            point[axis] = {axis: sp.Integer(1)}
            for derivative in self.derivatives:
                tables.append(f"{axis}_{derivative}")
                point[f"{axis}_{derivative}"] = {f"{axis}_{derivative}": sp.Integer(1)}
        for director in (name for name in others if name not in self.axes):
            jet, name, order = DIRECTORS[director]
            z = sp.Symbol(name, real=True)
            power = z**order / order
            point["value"][director] = power
            tables.append(director)
            for derivative in self.derivatives:
                point[derivative][f"{director}_{derivative}"] = power
                tables.append(f"{director}_{derivative}")
            point.setdefault(jet, {})[director] = z ** (order - 1)
        for derivative in self.kinematics().coordinates:
            point[centre(derivative)] = {f"{main}_{centre(derivative)}": sp.Integer(1)}
            tables.append(f"{main}_{centre(derivative)}")
        symbols = tuple(sp.symbols(self.topology.coordinates, real=True))
        linear: ElementSpace | None = None
        if self.coarsens:
            of_corners = {main: self.topology.straight.functions}
            jets = TableJets(of_corners, tuple(tables))
            linear = ElementSpace(f"{self.name} corners", symbols, jets, point)
        jets = TableJets(self.functions, tuple(tables))
        return ElementSpace(self.name, symbols, jets, point, linear=linear)

    @property
    def coarsens(self) -> bool:
        """Whether the trilinear functions of its corners are among the sums of its own.

        So it is of hexahedra of second order with positions alone.
        """
        cell = self.topology
        hexahedron = cell.factors == (1, 1, 1) and len(cell.nodes) > cell.corners
        return hexahedron and not self.slopes and tuple(self.fields) == ("N",)

    @cached_property
    def N(self) -> tuple[sp.Expr, ...]:
        """The shape functions, factored, for people; y and z multiply those of directors."""
        total: list[sp.Expr] = [sp.Integer(0)] * self.size
        for name, functions in self.functions.items():
            for i, expression in enumerate(functions.expressions()):
                by: sp.Expr = sp.S.One
                if name in DIRECTORS:
                    _, symbol, order = DIRECTORS[name]
                    by = sp.Symbol(symbol, real=True) ** order / order
                total[i] += by * sp.factor(expression)
        return tuple(total)

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants of its family."""
        return arguments_of(self.family).names

    def kinematics(self, **options: bool) -> Kinematics:
        """Return the quantities that an energy on this element may ask for.

        Parameters
        ----------
        options : variants of the family, e.g. ``curved=True`` for a cable.

        Raises
        ------
        KinematicsError : if the element has no such variant.
        """
        possible = self.variants
        for option in options:
            if option not in possible:
                has = f"it has {', '.join(possible)}" if possible else "it has none"
                raise KinematicsError(
                    f"{self.name} has no variant {option!r}; {has}", asked=option, possible=possible
                )
        return self.family(**options)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities that an energy may ask for."""
        return tuple(self.kinematics().quantities)

    def rule(self, rule: str | int | Rule) -> Rule:
        """Return a quadrature rule from its name, or from the degree that it integrates exactly.

        Parameters
        ----------
        rule : ``"full"``, ``"reduced"``, counts such as ``"4x4x3"`` (on a plate ``"4x4"`` is
            the mid-surface, on a beam with a section ``"3"`` the axis), ``"nodes"``, a
            ready-made rule, or a degree: of each parameter, on simplices the total one; through
            a thickness or a section there are two points a direction then, four where the
            second order of z is interpolated. Of elements of triangles it is a rule for each of
            these.

        Raises
        ------
        ValueError : if the name means nothing for this element.
        """
        if isinstance(rule, Rule):
            return rule
        if isinstance(rule, bool) or not isinstance(rule, str | int):
            raise ValueError(f"{rule!r} is not a quadrature rule: give its name, such as 'full'")
        main = next(iter(self.functions.values()))
        if isinstance(main, MacroFunctions) and self.rules.get(str(rule), rule) != "nodes":
            return main.composite(self._of_triangle(rule))
        if isinstance(rule, int):
            through = 4 if "c" in self.fields else 2
            counts = counts_for(self.topology, rule) + (through,) * self.section
            return gauss(self.topology, counts, section=self.section)
        name = self.rules.get(rule, rule)
        if name == "nodes":
            return at_nodes(self.topology)
        return parse(self.topology, name, section=self.section)

    def _of_triangle(self, rule: str | int) -> Rule:
        """Return a rule of the triangles that a macro-cell is made of."""
        if isinstance(rule, int):
            return gauss(TRIANGLE, counts_for(TRIANGLE, rule))
        return parse(TRIANGLE, self.rules.get(rule, rule))

    @cached_property
    def degree(self) -> int:
        """Highest power of a parameter in the shape functions; on simplices the total degree."""
        return max(map(self.topology.degree_of, self.functions.values()))

    def sample(self, n: int) -> tuple[Array, Ints]:
        """Return parameter values and sub-cells for drawing; see `Cell.lattice`."""
        return self.topology.lattice(n)


def _of_package(name: str) -> Element:
    """Return an element of the package."""
    element: Element = getattr(sys.modules[__package__], name)
    return element

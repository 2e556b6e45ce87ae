# SPDX-License-Identifier: BSD-3-Clause
"""Stage 1, declare: what the compiler is given, all of it plain SymPy and NumPy.

A *point law* says what happens at one point: an energy density (or a generalised force) as
an expression of a few *jets*, the values and derivatives of the unknown field at that point.
A *space* says how jets follow from the coordinates of a cell (tables of shape functions); a
*rule* says at which points and with which weights the law is summed.

Naming: the jet ``xi`` of the displacement has the components ``u_xi1, u_xi2, u_xi3`` and
the same jet of the reference configuration ``R_xi1, R_xi2, R_xi3``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.functions import NUMPY, force_on, numerical, symbolic

Array = npt.NDArray[np.float64]
Lets = tuple[tuple[sp.Symbol, sp.Expr], ...]


def unknown(jet: str) -> tuple[sp.Symbol, ...]:
    """Return the three symbols of the jet ``jet`` of the displacement field."""
    return tuple(sp.Symbol(f"u_{jet}{a}", real=True) for a in (1, 2, 3))


def reference(jet: str) -> tuple[sp.Symbol, ...]:
    """Return the three symbols of the jet ``jet`` of the reference configuration."""
    return tuple(sp.Symbol(f"R_{jet}{a}", real=True) for a in (1, 2, 3))


def scalar_jets(count: int) -> tuple[str, ...]:
    """Return the jets that `count` scalar unknowns of a cell are components of."""
    return tuple(f"scalars{k}_" for k in range(1, 1 + -(-count // 3)))


#: Name of the uniform parameter c = d rate / d coordinate, which the time integrator knows.
RATE_FACTOR = "rate_factor"


@dataclass(frozen=True)
class KernelParameter:
    """A named value that never recompiles; its class decides where the kernel reads it.

    ``uniform``: one value for all cells of a term (slot of the array ``uniform``).
    ``cell``: one value per cell or entity (row of the array ``cell``).
    ``point``: one value per in-plane quadrature point of a cell (a row of ``cell`` each).
    `optional`: it is 0 where a caller does not give it. `value`: the law brings it along, see
    `brought`; laws that differ in these alone have the same kernel.
    """

    symbol: sp.Symbol
    kind: Literal["uniform", "cell", "point"] = "uniform"
    optional: bool = False
    value: float | None = None

    @property
    def name(self) -> str:
        """The parameter's name, which is that of its slot."""
        return str(self.symbol.name)


@dataclass(frozen=True)
class Local:
    """An unknown that belongs to one point, or to one cell, and is solved for in the kernel.

    Attributes
    ----------
    symbol : of the unknown.
    start : where Newton's method begins, of parameters and geometry; nothing else is kept, so
        that the results of a kernel are functions of its arguments alone.
    equation : what vanishes, in all that the law speaks of; None: the energy is stationary, which
        makes the tangent symmetric. Otherwise the unknowns' values are held where the energy is
        differentiated, and the tangent follows their change.
    """

    symbol: sp.Symbol
    start: sp.Expr = sp.S.Zero
    equation: sp.Expr | None = None


@dataclass(frozen=True)
class HistoryVariable:
    """A number that a point keeps from one step to the next.

    In evaluations it is a constant, the value at the beginning of the step; the function
    ``update`` of the kernel writes the one at the end. It changes between steps alone.

    Attributes
    ----------
    symbol : the value at the beginning of the step.
    update : the value at the end, in all that the law knows; of a `total` what the step adds,
        a density per `PointLaw.measure`.
    initial : expression of parameters and geometry.
    total : whether the number is the part of the point in an integral over the cell.
    """

    symbol: sp.Symbol
    update: sp.Expr
    initial: sp.Expr = sp.S.Zero
    total: bool = False

    @property
    def name(self) -> str:
        """The name of its symbol."""
        return str(self.symbol.name)


@dataclass(frozen=True, eq=False)
class PointLaw:
    """What happens at one point, as an expression of the point's jets.

    Exactly one of `energy` and `work` is given. A law is equal to itself alone; laws of one
    fingerprint have the same kernel.

    Attributes
    ----------
    name : C identifier, e.g. ``"yeoh_deviatoric"``.
    unknowns : flat tuple of the scalar unknown jets. In a tabulated law it is the
        concatenation of ``unknown(j)`` over `jets`; in a law on node tuples anything.
    jets : names of the vector jets (empty for a law on node tuples).
    inner : optional linear change of variables, an ordered tuple of
        ``(symbol, {unknown: coefficient})`` with coefficients in geometry symbols and
        parameters, e.g. the displacement gradient H = Du . J0^-1. The compiler
        differentiates in the inner variables and pulls gradient and Hessian back.
    geometry : ordered named expressions of reference jets, section symbols, parameters
        and earlier geometry names; independent of the unknowns.
    lets : ordered named quantities (J, I1, epsilon, ...) of the inner variables (or of the
        unknowns where `inner` is empty), geometry, parameters and earlier lets. They keep
        their names in the C and are the stages of the staged differentiation.
    energy : density per `measure`, in lets, inner variables, geometry and parameters.
    work : for inner variables (or unknowns) and for lets and expressions of them, the
        generalised force conjugate to each, i.e. the contribution to the residual per
        `measure`; the tangent is unsymmetric. The compiler pulls the force on a quantity q
        back to the variables, (dq/d variable)^T force; for a force on ``frozen(q)`` this slope
        is held fixed in differentiation.
    measure : geometry expression that multiplies the density (besides the rule's weight).
    rate_of : the rates of unknowns (and of parameters) by the symbols of these: the symbol of
        another unknown or parameter, one of its own that only motions contain, or a number;
        what has none does not change in time. The function `rate` of an expression is its
        derivative along these, whatever lets lie between.
    powers : pairs (motion, force): a motion is linear in the rates, and the force on it adds
        -(d motion/d rate)^T force to the residual of the unknowns that `rate_of` gives rates.
        They go with `work`.
    domain : expressions that must be > 0 at every point, else the point counts as bad.
    local : unknowns of the point, which may occur wherever lets may; in laws of cells they may
        be `shared` by all points of a cell, then their equations are the sums over the points.
    shared : whether `local` are unknowns of the cell.
    modes : what unknowns of the cell amount to at a point, ``(symbol, {unknown: coefficient})``
        with coefficients in geometry symbols. They may occur in the coefficients of `inner`, so
        that an inner variable is bilinear in jets and unknowns, and as its constant, the
        coefficient of 1; an unknown that is in no mode may occur in lets and energy.
    parameters : all parameters that occur.
    outputs : named expressions of all of these, the results of the mode ``outputs`` at a point.
        ``force_on(q)`` in them is dW/dq of the energy density W by a variable or let q, where all
        that are asked for in this way vary independently of one another.
    rates : whether a law on cells knows the rates of its jets: then `rate` of an expression of
        them is what follows. In a step of a time integrator the rates are affine in the
        coordinates, v = c u + w, with c the parameter `RATE_FACTOR` and jets w that belong to no
        unknown; so the derivative by u is the total one. The kernel finds the coefficients of w
        behind those of the reference.
    history : what points remember.
    stored : density of the energy that the function ``energy`` returns, where that is not
        `energy`: the derivative of this one is the force all the same.
    title : formula for the header of the generated file, in the user's words.
    called : what messages call it; default: ``law 'name'``.
    """

    name: str
    unknowns: tuple[sp.Symbol, ...]
    jets: tuple[str, ...] = ()
    inner: tuple[tuple[sp.Symbol, Mapping[sp.Symbol, sp.Expr]], ...] = ()
    geometry: Lets = ()
    lets: Lets = ()
    energy: sp.Expr | None = None
    work: Mapping[sp.Expr, sp.Expr] | None = None
    rate_of: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    powers: tuple[tuple[sp.Expr, sp.Expr], ...] = ()
    measure: sp.Expr = sp.S.One
    domain: tuple[sp.Expr, ...] = ()
    local: tuple[Local, ...] = ()
    shared: bool = False
    modes: tuple[tuple[sp.Symbol, Mapping[sp.Symbol, sp.Expr]], ...] = ()
    parameters: tuple[KernelParameter, ...] = ()
    outputs: Mapping[str, sp.Expr] = field(default_factory=dict)
    rates: bool = False
    history: tuple[HistoryVariable, ...] = ()
    stored: sp.Expr | None = None
    title: str = ""
    called: str = ""

    @property
    def words(self) -> str:
        """What messages call it."""
        return self.called or f"law {self.name!r}"

    @property
    def own_values(self) -> dict[str, float]:
        """The values of the parameters that it brings along, by name."""
        return {p.name: p.value for p in self.parameters if p.value is not None}

    @property
    def results(self) -> list[sp.Expr]:
        """What happens at the point, without outputs: energy or work, equations, updates."""
        optional = [self.energy, self.stored, *(x.equation for x in self.local)]
        expressions = [e for e in optional if e is not None] + [m.update for m in self.history]
        return [*expressions, *chain(*(self.work or {}).items())]

    def mapped(self, change: Callable[[sp.Expr], sp.Expr]) -> PointLaw:
        """Return the law with `change` of each of its results and outputs in their places."""
        work = self.work
        return replace(
            self,
            energy=None if self.energy is None else change(self.energy),
            work=None if work is None else {change(q): change(force) for q, force in work.items()},
            outputs={name: change(e) for name, e in self.outputs.items()},
            history=tuple(replace(m, update=change(m.update)) for m in self.history),
            stored=None if self.stored is None else change(self.stored),
            local=tuple(
                x if x.equation is None else replace(x, equation=change(x.equation))
                for x in self.local
            ),
        )

    def __post_init__(self) -> None:
        if (self.energy is None) == (self.work is None):
            raise ValueError(f"point law {self.name!r}: give either an energy or a work")
        if self.rates and (self.rate_of or self.powers):
            raise ValueError(f"point law {self.name!r}: rates on cells follow from its jets")
        if self.energy is None and any(symbolic(e).has(force_on) for e in self.outputs.values()):
            raise ValueError(f"point law {self.name!r}: force_on is a derivative of an energy")
        if self.shared and (self.energy is None or any(x.equation is not None for x in self.local)):
            raise ValueError(
                f"point law {self.name!r}: unknowns of a cell are those of which its energy is "
                "stationary"
            )


@dataclass(frozen=True)
class Rule:
    """Quadrature: points of the cell, and through its section (thickness, cross-section).

    Attributes
    ----------
    name : shown to people, e.g. ``"4x4x3"``.
    points : (nq, dim) coordinates in the cell's parameter domain.
    weights : (nq,)
    section_symbols : names of the section coordinates, e.g. ``("zeta",)``; they may occur in
        `PointLaw.geometry`.
    section_points : (ns, len(section_symbols)) table of their values.
    section_weights : (ns,)
    uniform_columns : columns of the section's table, ``weight`` or section symbols, which a kernel
        reads from uniform parameters: their names, to which the number of the point is added, from
        1. Rules that differ in these alone have the same kernel; see `own_values`.
    """

    name: str
    points: Array
    weights: Array
    section_symbols: tuple[str, ...] = ()
    section_points: Array = field(default_factory=lambda: np.zeros((1, 0)))
    section_weights: Array = field(default_factory=lambda: np.ones(1))
    uniform_columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of points, those through the section included."""
        return len(self.weights) * len(self.section_weights)

    @property
    def section(self) -> dict[str, float | None]:
        """The section symbols: their values at one section point, None where a kernel has them."""
        single, columns = len(self.section_weights) == 1, self.columns
        return {
            s: float(columns[s][0]) if single and s not in self.uniform_columns else None
            for s in self.section_symbols
        }

    @property
    def columns(self) -> dict[str, Array]:
        """The section's table: weight and section symbols, (ns,) each."""
        count = len(self.section_weights)
        table = np.asarray(self.section_points, dtype=float).reshape(count, -1)
        weight = np.asarray(self.section_weights, dtype=float)
        return {"weight": weight, **dict(zip(self.section_symbols, table.T, strict=True))}

    @property
    def own_values(self) -> dict[str, float]:
        """The values of its parameters by name, column by column as in `uniform_columns`."""
        columns = self.columns
        return {
            f"{name}{k}": float(value)
            for column, name in self.uniform_columns.items()
            for k, value in enumerate(columns[column], 1)
        }


def brought(laws: Iterable[tuple[PointLaw, Rule]]) -> dict[str, float]:
    """Return the values of those parameters of a kernel that laws and rules bring along."""
    values: dict[str, float] = {}
    for law, rule in laws:
        values |= law.own_values | rule.own_values
    return values


@dataclass(frozen=True)
class Space:
    """How the jets at a point follow from the coordinates of a cell.

    The cell has ``n`` shape functions, each multiplying one coefficient vector of 3
    components (a nodal position or a nodal slope); coefficient i, component a is the
    coordinate ``3 i + a`` of the cell.

    Attributes
    ----------
    name : e.g. ``"ancf_plate"``.
    coordinates : symbols of the parameter domain, e.g. (xi, eta).
    table_jets : name -> the n expressions (in `coordinates`) that multiply the n
        coefficient vectors. For a plate r = m(xi, eta) + z d(xi, eta) these are m, m_xi,
        d, d_xi, ...
    point_jets : name -> {table jet: monomial}, the jets that laws speak of, as
        combinations of table jets with coefficients in section coordinates or geometry
        symbols, e.g. ``{"xi": {"m_xi": 1, "d_xi": z}}``.
    linear : the space of the linear functions of the corners of the cell, in which these functions
        are, with the same table jets; None: the mode ``coarse`` is not asked for.
    """

    name: str
    coordinates: tuple[sp.Symbol, ...]
    table_jets: Mapping[str, tuple[sp.Expr, ...]]
    point_jets: Mapping[str, Mapping[str, sp.Expr]]
    linear: Space | None = field(default=None, kw_only=True)

    @property
    def size(self) -> int:
        """Number n of shape functions."""
        return len(next(iter(self.table_jets.values())))

    def with_scalars(self, count: int) -> Space:
        """Return the space of cells that have `count` scalar unknowns beside their vectors.

        They are constant in a cell: components, in their order, of as many more coefficient
        vectors as they fill, which laws know as the jets `scalar_jets`.
        """
        own = scalar_jets(count)
        tables: dict[str, tuple[sp.Expr, ...]] = {
            jet: ()
            for jet in (*self.table_jets, *own)  # `tabulate` knows them
        }
        point = {**self.point_jets, **{jet: {jet: sp.S.One} for jet in own}}
        name = f"{self.name} with scalars"
        return _ScalarSpace(name, self.coordinates, tables, point, self, own)

    def tabulate(self, jets: tuple[str, ...], points: Array) -> Array:
        """Return table jets at `points` ((nq, dim)) as an array (nq, len(jets), n)."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        table = np.empty((len(points), len(jets), self.size))
        columns = list(points.T)
        for j, jet in enumerate(jets):
            for i, expression in enumerate(self.table_jets[jet]):
                value = numerical(self.coordinates, expression, NUMPY)(*columns)
                table[:, j, i] = value
        return table


@dataclass(frozen=True)
class _ScalarSpace(Space):
    """A space, and scalars behind its coefficient vectors; see `Space.with_scalars`."""

    vectors: Space
    scalars: tuple[str, ...]

    @property
    def size(self) -> int:
        return self.vectors.size + len(self.scalars)

    def tabulate(self, jets: tuple[str, ...], points: Array) -> Array:
        n = self.vectors.size
        own = [k for k, jet in enumerate(jets) if jet not in self.scalars]
        table = np.zeros((len(np.atleast_2d(points)), len(jets), self.size))
        table[:, own, :n] = self.vectors.tabulate(tuple(jets[k] for k in own), points)
        for k, jet in enumerate(jets):
            if jet in self.scalars:
                table[:, k, n + self.scalars.index(jet)] = 1.0
        return table

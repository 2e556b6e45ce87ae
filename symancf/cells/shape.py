# SPDX-License-Identifier: BSD-3-Clause
"""Shape functions, solved by SymPy from monomials and nodal coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import sympy as sp
from sympy.polys.domains import QQ
from sympy.polys.matrices import DomainMatrix

from symancf_codegen.declare import Space

from ..arrays import Array, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence

Exponents = tuple[int, ...]

#: What the name of a derivative at the centre of [-1, 1]^n begins with.
CENTRE = "centre_"


def derivative_orders(name: str, coordinates: tuple[str, ...]) -> Exponents:
    """Return how often each coordinate is differentiated: ``"xieta"`` is (1, 1), ``""`` (0, 0).

    Raises
    ------
    ValueError : if `name` is not made of the names of the coordinates.
    """
    orders = [0] * len(coordinates)
    rest = name
    by_length = sorted(range(len(coordinates)), key=lambda k: -len(coordinates[k]))
    while rest:
        k = next((k for k in by_length if rest.startswith(coordinates[k])), None)
        if k is None:
            raise ValueError(f"{name!r} is no derivative by {', '.join(coordinates)}")
        orders[k] += 1
        rest = rest[len(coordinates[k]) :]
    return tuple(orders)


def _falling(power: int, order: int) -> int:
    """Return the factor of the order-th derivative of x^power."""
    factor = 1
    for k in range(order):
        factor *= power - k
    return factor


@dataclass(frozen=True)
class ShapeField:
    """One interpolated field of an element: monomials, and what is given at every vertex.

    Attributes
    ----------
    monomials : space-separated, e.g. ``"1 xi eta xi**2"``.
    nodal : the derivative of the field that each coefficient of a vertex stands for, ``""``
        for its value; one per coefficient vector of the vertex, None where the coefficient
        belongs to another field.

    Examples
    --------
    >>> from symancf import elements
    >>> elements.Field("1 xi xi**2 xi**3", nodal=("", "xi")).nodal
    ('', 'xi')
    """

    monomials: str
    nodal: tuple[str | None, ...]

    def solve(
        self, names: tuple[str, ...], vertices: Sequence[tuple[Fraction, ...]]
    ) -> ShapeFunctions:
        """Return the shape functions: the i-th nodal coordinate of the j-th is delta_ij.

        Parameters
        ----------
        names : of the coordinates.
        vertices : coordinates of the nodes.
        """
        symbols = sp.symbols(names, real=True)
        exponents = tuple(_powers(text, names) for text in self.monomials.split())
        rows: list[list[Fraction | int]] = []
        slots: list[int] = []
        for v, vertex in enumerate(vertices):
            for k, name in enumerate(self.nodal):
                if name is None:
                    continue
                orders = derivative_orders(name, names)
                slots.append(v * len(self.nodal) + k)
                rows.append([_monomial(e, orders, vertex) for e in exponents])
        exact = [[QQ(x.numerator, x.denominator) for x in row] for row in rows]
        matrix = DomainMatrix(exact, (len(rows),) * 2, QQ)
        return ShapeFunctions(
            symbols,
            exponents,
            tuple(map(tuple, matrix.inv().to_dense().rep.to_list())),
            tuple(slots),
            len(vertices) * len(self.nodal),
        )


def _powers(monomial: str, names: tuple[str, ...]) -> Exponents:
    """Return the exponents of a monomial such as ``xi**2*eta``."""
    powers = {"1": 0} | dict.fromkeys(names, 0)
    for factor in monomial.replace("**", "^").split("*"):
        name, _, power = factor.partition("^")
        if name not in powers or not (power or "1").isdecimal():
            of = ", ".join(names)
            raise ValueError(f"the monomial {monomial!r} is no product of powers of {of}")
        powers[name] += int(power or 1)
    return tuple(powers[name] for name in names)


def _monomial(exponents: Exponents, orders: Exponents, at: tuple[Fraction, ...]) -> Fraction | int:
    """Return a derivative of a monomial at a point with rational coordinates."""
    value: Fraction | int = 1
    for p, k, x in zip(exponents, orders, at, strict=True):
        value *= _falling(p, k) * (x ** (p - k) if p >= k else 0)
    return value


@dataclass(frozen=True)
class ShapeFunctions:
    """Solved functions N_i = sum_k c_ki x^(e_k), placed among all coefficients of a cell.

    Attributes
    ----------
    symbols : the coordinates.
    exponents : of the monomials.
    coefficients : rows per monomial, columns per function, exact rationals.
    slots : the coefficient vector of the cell that each function multiplies.
    size : number of coefficient vectors of the cell.
    """

    symbols: tuple[sp.Symbol, ...]
    exponents: tuple[Exponents, ...]
    coefficients: tuple[tuple[QQ, ...], ...]
    slots: tuple[int, ...]
    size: int

    def expressions(self, derivative: str = "") -> tuple[sp.Expr, ...]:
        """Return a derivative of all `size` functions; zero where a slot is not this field's."""
        orders = derivative_orders(derivative, tuple(s.name for s in self.symbols))
        monomials = [
            sp.Integer(np.prod([_falling(p, k) for p, k in zip(e, orders, strict=True)]))
            * sp.Mul(*(s ** max(p - k, 0) for s, p, k in zip(self.symbols, e, orders, strict=True)))
            for e in self.exponents
        ]
        result: list[sp.Expr] = [sp.Integer(0)] * self.size
        for column, slot in enumerate(self.slots):
            result[slot] = sp.Add(
                *(
                    sp.Rational(int(row[column].numerator), int(row[column].denominator)) * m
                    for row, m in zip(self.coefficients, monomials, strict=True)
                    if row[column] and m
                )
            )
        return tuple(result)

    @cached_property
    def _numbers(self) -> tuple[Array, Ints]:
        c = np.array([[float(x) for x in row] for row in self.coefficients])
        return c, np.array(self.exponents, dtype=np.int64)

    def tabulate(self, derivative: str, points: Array) -> Array:
        """Return a derivative of all functions at `points` ((nq, dim)) as (nq, size)."""
        orders = derivative_orders(derivative, tuple(s.name for s in self.symbols))
        coefficients, exponents = self._numbers
        monomials = np.ones((len(points), len(exponents)))
        for d, k in enumerate(orders):
            p = exponents[:, d]
            factor = np.array([_falling(int(q), k) for q in p], dtype=float)
            monomials *= factor * points[:, d, None] ** np.maximum(p - k, 0)
        table = np.zeros((len(points), self.size))
        table[:, list(self.slots)] = monomials @ coefficients
        return table


class Functions(Protocol):
    """Functions of a cell, placed among its coefficient vectors; see `ShapeFunctions`."""

    @property
    def exponents(self) -> tuple[Exponents, ...]:
        """Powers of the parameters in them, of each the highest."""

    @property
    def size(self) -> int:
        """Number of coefficient vectors of the cell."""

    def expressions(self, derivative: str = "", /) -> tuple[sp.Expr, ...]:
        """Return a derivative of all `size` functions."""

    def tabulate(self, derivative: str, points: Array, /) -> Array:
        """Return a derivative of all functions at points (nq, dim) as (nq, size)."""


class TableJets(Mapping[str, tuple[sp.Expr, ...]]):
    """Table jets by name, ``"m"``, ``"m_xi"``, ...; expressions are made when asked for."""

    def __init__(self, fields: Mapping[str, Functions], names: tuple[str, ...]) -> None:
        self.fields = fields
        self.names = names
        self._expressions: dict[str, tuple[sp.Expr, ...]] = {}

    def functions(self, name: str) -> tuple[Functions, str]:
        """Return the field of a table jet and the derivative taken of it."""
        field, _, derivative = name.partition("_")
        return self.fields[field], derivative

    def __getitem__(self, name: str) -> tuple[sp.Expr, ...]:
        if name not in self.names:
            raise KeyError(name)
        if name not in self._expressions:
            functions, derivative = self.functions(name)
            self._expressions[name] = functions.expressions(derivative)
        return self._expressions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class ElementSpace(Space):
    """The space of an element: its tables are evaluated from coefficients, without SymPy."""

    @property
    def size(self) -> int:
        """Number n of shape functions."""
        jets = self.table_jets
        assert isinstance(jets, TableJets)
        return next(iter(jets.fields.values())).size

    def tabulate(self, jets: tuple[str, ...], points: Array) -> Array:
        """Return table jets at `points` ((nq, dim)) as an array (nq, len(jets), n)."""
        tables = self.table_jets
        assert isinstance(tables, TableJets)
        points = np.atleast_2d(np.asarray(points, dtype=float))
        table = np.empty((len(points), len(jets), self.size))
        for j, jet in enumerate(jets):
            functions, derivative = tables.functions(jet)
            if derivative.startswith(CENTRE):
                derivative, at = derivative.removeprefix(CENTRE), np.zeros_like(points)
            else:
                at = points
            table[:, j, :] = functions.tabulate(derivative, at)
        return table

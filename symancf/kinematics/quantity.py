# SPDX-License-Identifier: BSD-3-Clause
"""Quantities that a family of elements offers to energies, and how they follow from jets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import sympy as sp

from symancf_codegen.declare import Lets, Local, reference, unknown

Value: TypeAlias = sp.Expr | sp.Matrix
Inner = tuple[tuple[sp.Symbol, Mapping[sp.Symbol, sp.Expr]], ...]


@dataclass(frozen=True)
class Quantity:
    """Something that an energy may ask for by name.

    Attributes
    ----------
    value : a symbol, or a matrix of symbols; lets define them.
    meaning : one line for people, with the unit.
    """

    value: Value
    meaning: str


@dataclass(frozen=True)
class Kinematics:
    """Quantities of one family of elements, in displacement form.

    Every definition keeps its digits when the displacement gradient is as small as 1e-8:
    quantities are written as their reference value plus a deviation that is formed from the
    displacement alone.

    Attributes
    ----------
    name : of the family, e.g. ``"solid"``.
    jets : jets of the displacement that quantities are made of.
    quantities : by name.
    inner : linear change of variables (see `declare.PointLaw`), empty if there is none.
    geometry : ordered named expressions of the reference configuration.
    lets : ordered named expressions of inner variables or jets, and of earlier lets.
    measure : geometry expression: reference volume, area or length per parameter volume.
    domain : expressions that must be > 0.
    section : names of the parameters that the measure needs.
    density : reference mass per `measure`, in the parameters of `density_parameters`.
    density_parameters : e.g. ``("rho", "thickness")``.
    strains : quantities in which energies are nearly quadratic, and whose stresses Newton's method
        predicts; see `newton.stress_predictor`.
    penalties : some of these vanish by penalties.
    kinetic : kinetic energy per `measure` of rates in the place of the displacement's jets; None:
        that of `density` at the point.
    defaults : values of parameters of `kinetic` that need not be given.
    unit : of an energy density, ``"J/m^3"``, ``"J/m^2"`` or ``"J/m"``.
    local : unknowns of the cell that the element has beside its nodes.
    bound : what the energy has beside a law's, in these unknowns.
    modes : what they amount to at a point, see `declare.PointLaw`; these symbols are in `inner`.
    short : shorter definitions of some lets, which go around others.
    coordinates : names of the coordinates of the cell that `geometry` asks for.
    """

    name: str
    jets: tuple[str, ...]
    quantities: Mapping[str, Quantity]
    inner: Inner
    geometry: Lets
    lets: Lets
    measure: sp.Expr
    domain: tuple[sp.Expr, ...]
    section: tuple[str, ...]
    density: sp.Expr
    density_parameters: tuple[str, ...]
    unit: str
    local: tuple[Local, ...] = ()
    bound: sp.Expr = sp.S.Zero
    modes: Inner = ()
    short: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    coordinates: tuple[str, ...] = ()
    kinetic: sp.Expr | None = None
    defaults: Mapping[str, float] = field(default_factory=dict)
    strains: tuple[sp.Symbol, ...] = ()
    penalties: bool = False

    def reserved(self) -> frozenset[str]:
        """Return the names that a parameter must not have."""
        names = {s.name for s, _ in (*self.geometry, *self.lets)}
        names |= {s.name for s, _ in (*self.inner, *self.modes)}
        for jet in (*self.jets, "value"):
            names |= {s.name for s in (*unknown(jet), *reference(jet))}
        names |= {x.symbol.name for x in self.local} | {*self.coordinates}
        return frozenset(names | {*self.across, "zeta", "t"} - set(self.section))

    @property
    def across(self) -> frozenset[str]:
        """Names of what coordinates across a section follow from: zeta, of beams eta, too."""
        places = (e.free_symbols for s, e in self.geometry if s.name in ("y", "z"))
        return frozenset({s.name for of in places for s in of} & {"eta", "zeta"})


KinematicsFamily = Callable[..., Kinematics]


def centre(derivative: str) -> str:
    """Return the name of the jet that is a derivative at the centre of the cell."""
    return f"centre_{derivative}"


def real(name: str) -> sp.Symbol:
    """Return the real symbol `name`; parameters, geometry and lets are made by this."""
    return sp.Symbol(name, real=True)


def positive(name: str) -> sp.Symbol:
    """Return the positive symbol `name`, so that powers and logarithms combine."""
    return sp.Symbol(name, positive=True)


def vector(symbols: tuple[sp.Symbol, ...]) -> sp.Matrix:
    """Return three symbols as a column."""
    return sp.Matrix(3, 1, list(symbols))


def cross(a: sp.Matrix, b: sp.Matrix) -> sp.Matrix:
    """Return a x b; unlike Matrix.cross without importing all of SymPy's tensors (0.05 s)."""
    return sp.Matrix(3, 1, [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)])


def dot(a: sp.Matrix, b: sp.Matrix) -> sp.Expr:
    """Return a . b."""
    return sp.Add(*(x * y for x, y in zip(a, b, strict=True)))


def symmetric(name: str, n: int) -> sp.Matrix:
    """Return a symmetric n x n matrix of the symbols name11, name12, ..."""
    return sp.Matrix(n, n, lambda i, k: real(f"{name}{min(i, k) + 1}{max(i, k) + 1}"))


def general(name: str, n: int) -> sp.Matrix:
    """Return an n x n matrix of the symbols name11, name12, ..."""
    return sp.Matrix(n, n, lambda i, k: real(f"{name}{i + 1}{k + 1}"))


def motion() -> tuple[dict[str, Quantity], list[tuple[sp.Symbol, sp.Expr]]]:
    """Return the quantities that every family offers, and the lets that define them."""
    u, X = vector(unknown("value")), vector(reference("value"))
    r = sp.Matrix([real(f"r{i}") for i in (1, 2, 3)])
    quantities = {
        "u": Quantity(u, "displacement [m]"),
        "r": Quantity(r, "position r = X + u [m]"),
        "X": Quantity(X, "reference position [m]"),
        "t": Quantity(real("t"), "time [s]"),
    }
    return quantities, [(r[i], X[i] + u[i]) for i in range(3)]

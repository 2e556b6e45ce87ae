# SPDX-License-Identifier: BSD-3-Clause
"""Constraints: functions of the quantities of two ends that must vanish.

A constraint Phi(q, t) = 0 is the energy lambda . Phi with the multiplier as an unknown, so its
reaction Phi_q^T lambda and the tangent (Phi_q^T lambda)_q come from the compiler like those of
any other energy.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from . import jit
from .collective import together
from .ends import End, Ground, Nodes, PointsOnBody
from .errors import ConstraintError, SymancfError
from .parameter import label
from .plane import Clamp, PlanarBody
from .terms import Entities

if TYPE_CHECKING:
    from .assembly import Piece
    from .body import Body
    from .system import System

Array = npt.NDArray[np.float64]

# names of symbols of the constraint itself
RESERVED = re.compile(r"scale|t|(lam|phi)\d+|(u|X)(_d|_g\d)?_[abc][123]")

# quantity -> (jet of the end, whether its reference value is part of it)
QUANTITIES = {"r": "value", "u": "value", "X": "value", "d": "director"}
# for ties: derivatives of u along the slope directions of the nodes a, at a and at b
DERIVATIVES = {"g1": "along0", "g2": "along1", "g3": "along2"}
JETS = QUANTITIES | DERIVATIVES


class Constraint:
    """Phi(quantities of the ends; parameters) = 0 with Lagrange multipliers.

    Parameters
    ----------
    function : positional arguments ask for quantities with the end as suffix (``r_a``,
        ``u_b``, ``X_a``; ``d_a``, the director dr/dz of a full-gradient plate) or for the time
        ``t``; keyword-only arguments are parameters. It
        returns an expression, a sequence or a Matrix of expressions that must vanish.
    ends : up to three ends a, b, c (``body.at(...)``, ``body["region"]``, ``sa.ground``); the
        function is applied to every tuple of places.
    name : shown in messages; multipliers of the residual are grouped under it.
    parameters : values of the keyword-only arguments (numbers, `Parameter`, functions of time).

    Notes
    -----
    The multipliers are forces divided by ``scale`` (a typical stiffness times a length, set by
    the system), so that the equations are balanced; `reaction` returns forces.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *ends: End,
        name: str | None = None,
        **parameters: Any,
    ) -> None:
        self.function = function
        self.ends = list(ends)
        self.name = name or function.__name__
        self.parameters = parameters
        if not 1 <= len(ends) <= 3:
            raise ConstraintError(f"constraint {self.name!r} has {len(ends)} ends: give 1 to 3")
        for end in ends:
            if not isinstance(end, End):
                raise ConstraintError(
                    f"constraint {self.name!r}: {type(end).__name__} is not an end; give "
                    "body.at(point), body['region'] or sa.ground"
                )
        self._read()

    def _read(self) -> None:
        """Call the function with symbols; keep Phi and what it asks for."""
        suffixes = "abc"[: len(self.ends)]
        self.jets: list[tuple[int, str]] = []
        arguments: list[Any] = []
        keywords: dict[str, sp.Symbol] = {}
        self.uses_time = False
        for argument in inspect.signature(self.function).parameters.values():
            if argument.kind is inspect.Parameter.KEYWORD_ONLY:
                keywords[argument.name] = sp.Symbol(argument.name, real=True)
            elif argument.name == "t":
                self.uses_time = True
                arguments.append(sp.Symbol("t", real=True))
            else:
                base, _, suffix = argument.name.rpartition("_")
                if base not in JETS or suffix not in suffixes:
                    possible = [f"{q}_{s}" for s in suffixes for q in QUANTITIES]
                    raise ConstraintError(
                        f"constraint {self.name!r} asks for {argument.name!r}; its ends offer "
                        f"{', '.join(possible)} and t"
                    )
                arguments.append(self._quantity(base, suffix))
        for number, jet in self.jets:
            if jet == "director":
                self._require_director(self.ends[number])
        reserved = [k for k in keywords if RESERVED.fullmatch(k)]
        if reserved:
            raise ConstraintError(
                f"constraint {self.name!r} calls a parameter {reserved[0]!r}, which is the name "
                "of a symbol of its own: choose another name"
            )
        unknown = set(self.parameters) - set(keywords)
        if unknown:
            close = get_close_matches(sorted(unknown)[0], list(keywords), 1)
            raise ConstraintError(
                f"constraint {self.name!r} has no parameter {sorted(unknown)[0]!r}; it has "
                f"{', '.join(keywords) or 'none'}"
                + (f"; did you mean {close[0]!r}?" if close else "")
            )
        signature = inspect.signature(self.function).parameters
        missing = [
            k
            for k in keywords
            if k not in self.parameters and signature[k].default is inspect.Parameter.empty
        ]
        if missing:
            raise ConstraintError(
                f"constraint {self.name!r} needs the parameter {missing[0]!r}; given "
                f"{', '.join(self.parameters) or 'none'}"
            )
        for k in keywords:
            self.parameters.setdefault(k, signature[k].default)
        self.keywords = keywords
        self.phi = self._evaluate(arguments)
        unknown_jets = {s for jet in self.jets for s in _unknown(jet)}
        known = unknown_jets.union(keywords.values(), [sp.Symbol("t", real=True)])
        known |= {s for k in range(3) for j in ("value", "director") for s in _reference((k, j))}
        for i, p in enumerate(self.phi):
            foreign = sorted(map(str, p.free_symbols - known))
            if foreign:
                raise ConstraintError(
                    f"constraint {self.name!r} contains the symbol {foreign[0]!r}, which is none "
                    "of its arguments: add it as a keyword-only argument"
                )
            if not p.free_symbols & unknown_jets:
                raise ConstraintError(
                    f"constraint {self.name!r}: its equation {i + 1}, {p} = 0, does not depend on "
                    "the ends"
                )

    def _require_director(self, end: End) -> None:
        element = end.body.element if isinstance(end, Nodes | PointsOnBody) else None
        if element is None or "zeta" not in element.space.point_jets:
            raise ConstraintError(
                f"constraint {self.name!r} asks for the director of {end}; only full-gradient "
                "plates (ancf_plate) have one"
            )

    def _evaluate(self, arguments: list[Any]) -> list[sp.Expr]:
        """Call the function and return its equations as scalar expressions."""
        try:
            result = self.function(*arguments, **self.keywords)
        except SymancfError:
            raise
        except Exception as error:
            raise ConstraintError(
                f"constraint {self.name!r} failed on the symbols of its arguments: "
                f"{type(error).__name__}: {error}"
            ) from error
        phi = list(result) if isinstance(result, sp.MatrixBase | list | tuple) else [result]
        scalars = []
        for p in phi:
            try:
                scalar = sp.sympify(p, strict=True)
            except (sp.SympifyError, TypeError):
                scalar = None
            if not isinstance(scalar, sp.Expr) or scalar.has(sp.nan, sp.zoo, sp.oo, sp.I):
                raise ConstraintError(
                    f"constraint {self.name!r} returned {label(p)}: it must return an expression "
                    "that vanishes, or several in a list or Matrix"
                )
            scalars.append(scalar)
        return scalars

    def _quantity(self, base: str, suffix: str) -> sp.Matrix:
        jet = (ord(suffix) - ord("a"), JETS[base])
        if jet not in self.jets and base != "X":
            self.jets.append(jet)
        u, X = _unknown(jet), _reference(jet)
        if base in ("u", *DERIVATIVES):
            return sp.Matrix(u)
        return sp.Matrix(X if base == "X" else [x + d for x, d in zip(X, u, strict=True)])

    def law(self) -> Any:
        """Return the point law of lambda . Phi."""
        unknowns = [s for jet in self.jets for s in _unknown(jet)]
        X = [
            s
            for k in range(len(self.ends))
            for j in ("value", "director")
            for s in _reference((k, j))
        ]
        multipliers = [sp.Symbol(f"lam{i + 1}", real=True) for i in range(len(self.phi))]
        scale = sp.Symbol("scale", positive=True)
        used = set().union(*(p.free_symbols for p in self.phi))
        parameters = [declare.Parameter(x, "cell") for x in X if x in used]
        parameters += [declare.Parameter(s) for s in self.keywords.values()]
        parameters += [declare.Parameter(scale)]
        if self.uses_time:
            parameters += [declare.Parameter(sp.Symbol("t", real=True))]
        lets = tuple((sp.Symbol(f"phi{i + 1}", real=True), p) for i, p in enumerate(self.phi))
        energy = scale * sp.Add(*[m * s for m, (s, _) in zip(multipliers, lets, strict=True)])
        return declare.PointLaw(
            name=jit.identifier(self.name),
            unknowns=tuple(unknowns + multipliers),
            lets=lets,
            energy=energy,
            parameters=tuple(parameters),
            title="lambda . Phi, Phi = " + ", ".join(map(str, self.phi)),
        )

    def declare(self, system: System) -> None:
        """Announce entities and vertices before distribution."""
        self.entities = Entities(system, self.name, self.ends, virtual=1)
        system.announce_block(f"lambda:{self.name}", len(self.phi), "lambda")

    def carriers(self, system: System) -> list[tuple[str, npt.NDArray[np.int32]]]:
        """Blocks that this term puts on local vertices."""
        self.entities.bind(system)
        return [(f"lambda:{self.name}", self.entities.end_vertices(len(self.ends)).ravel())]

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        block = system.numbering.block(f"lambda:{self.name}")
        with together(system.comm):
            jets = self.entities.jets(system, self.jets, scalars=len(self.phi), block=block)
        self._coordinates = jets
        ids = self.entities.ids
        cell = {
            str(symbol): end.X[ids, a]
            for k, end in enumerate(self.entities.ends)
            for a, symbol in enumerate(_reference((k, "value")))
        }
        reference = self.entities.reference(system, jets, 3 * len(self.jets))
        for number, (k, jet) in enumerate(self.jets):
            if jet == "director":
                for a, symbol in enumerate(_reference((k, jet))):
                    cell[str(symbol)] = reference[:, 3 * number + a]
        kernel = jit.points(self.law(), system.comm)
        uniform = {**self.parameters, "scale": lambda t: system.stiffness}
        return [self.entities.piece(self.name, kernel, "constraint", uniform, cell, jets)]

    def idle(self, system: System) -> npt.NDArray[Any]:
        """Return the local offsets of multipliers whose equation moves no free coordinate.

        Where supports hold both ends, an equation is fulfilled or contradicted by them; its
        multiplier would make the tangent singular.
        """
        fixed, jets = system.numbering.fixed_by, self._coordinates
        moves = (fixed[jets.coordinate] < 0) & (np.abs(jets.value) > 1e-12)  # else: round-off
        start = self._first(system)
        found = [np.zeros(0, dtype=start.dtype)]
        for i, phi in enumerate(self.phi):
            names = [s for jet in self.jets for s in _unknown(jet)]
            used = np.array([s in phi.free_symbols for s in names] + [False] * len(self.phi))
            free = np.zeros(len(start), dtype=bool)
            free[jets.entity[moves & used[jets.jet]]] = True
            found.append(start[~free] + i)
        return np.concatenate(found)

    def _first(self, system: System) -> npt.NDArray[Any]:
        """Return the local offset of the first multiplier of each entity of this rank."""
        block = system.numbering.block(f"lambda:{self.name}")
        vertex = self.entities.end_vertices(len(self.ends))[:, 0]
        return np.asarray(system.numbering.offset[vertex, block])

    def multipliers(self, system: System) -> Array:
        """Return the multipliers (K, m) in force units, on every rank (collective)."""
        m = len(self.phi)
        values = np.zeros((self.entities.size, m))
        mine = self.entities.owned
        start = self._first(system)[mine]
        ids = self.entities.ids[mine]
        values[ids] = system.state[start[:, None] + np.arange(m)] * system.stiffness
        return np.asarray(system.sum(values))


def _unknown(jet: tuple[int, str]) -> list[sp.Symbol]:
    """Symbols of the displacement of a jet (end, ``value`` | ``director`` | ``along0`` ...)."""
    return [sp.Symbol(f"u{_part(jet)}_{'abc'[jet[0]]}{a}", real=True) for a in (1, 2, 3)]


def _reference(jet: tuple[int, str]) -> list[sp.Symbol]:
    """Symbols of the reference value of a jet."""
    return [sp.Symbol(f"X{_part(jet)}_{'abc'[jet[0]]}{a}", real=True) for a in (1, 2, 3)]


def _part(jet: tuple[int, str]) -> str:
    """Part of a symbol's name that tells the jet."""
    if jet[1].startswith("along"):
        return f"_g{int(jet[1].removeprefix('along')) + 1}"
    return "" if jet[1] == "value" else "_d"


def _coincide(r_a: sp.Matrix, r_b: sp.Matrix) -> sp.Matrix:
    return r_a - r_b


def _weld1(u_a: sp.Matrix, u_b: sp.Matrix, g1_a: sp.Matrix, g1_b: sp.Matrix) -> list[sp.Expr]:
    return [*(u_a - u_b), *(g1_a - g1_b)]


def _weld2(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld1(u_a, u_b, g1_a, g1_b), *(g2_a - g2_b)]


def _weld3(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
    g3_a: sp.Matrix,
    g3_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld2(u_a, u_b, g1_a, g1_b, g2_a, g2_b), *(g3_a - g3_b)]


def spherical(a: End, b: End | None = None, name: str = "spherical") -> Constraint:
    """Hold two places together: r_a - r_b = 0 (3 multipliers, forces on b)."""
    return Constraint(_coincide, a, b if b is not None else Ground(), name=name)


def tie(a: Nodes, b: Body, weld: bool | None = None, name: str = "tie") -> Constraint:
    """Tie the nodes `a` to the points of body `b` where they lie.

    The meshes need not match; nodes of `a` follow the surface of `b` (collocation), so `a`
    should have the finer mesh.

    Parameters
    ----------
    weld : also hold the slopes of `a` to the derivatives of `b` in the same directions, so that
        the line transmits moments and does not open between nodes; where the nodes match, this
        is the body in one piece. Without it the line is a hinge. Default: where both bodies
        have slopes of the same kind.

    Raises
    ------
    ConstraintError : with `weld`, where a slope of `a` leaves the tangent plane of `b`.
    """
    element = a.body.element
    same = element.slope_kind == b.element.slope_kind and len(element.slopes) > 0
    have = same and len(element.slopes) == len(b.element.slopes)
    if weld and not element.slopes:
        raise ConstraintError(
            f"{name}: weld=True needs slopes, which the nodes of {element.name} "
            f"(body {a.body.name!r}) do not have"
        )
    function: Callable[..., Any] = _coincide
    if have if weld is None else weld:
        function = (_weld1, _weld2, _weld3)[len(element.slopes) - 1]
    return Constraint(function, a, PointsOnBody(b, a), name=name)


def distance(a: End, b: End, length: Any, name: str = "distance") -> Constraint:
    """Keep two places at a distance: (r_a - r_b).(r_a - r_b) - L^2 = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, L: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return gap.dot(gap) - L**2

    return Constraint(phi, a, b, name=name, L=length)


def on_sphere(a: End, centre: npt.ArrayLike, radius: Any, name: str = "on_sphere") -> Constraint:
    """Keep a place on a sphere: ((r - c).(r - c) - R^2) / (2 R) = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, R: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return (gap.dot(gap) - R**2) / (2 * R)

    return Constraint(phi, a, Ground(centre), name=name, R=radius)


def clamp(a: PointsOnBody, b: PlanarBody | Ground, name: str | None = None) -> Clamp:
    """Clamp the end of a cable in the plane, ``cable.at(X)``, to a planar body or the ground."""
    return Clamp(a, b, name)

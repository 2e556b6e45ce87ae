# SPDX-License-Identifier: BSD-3-Clause
"""Quantities that a user's function of places asks for: by end, parameters and the time.

The name of a positional argument is a quantity with the end as suffix, ``r_a`` or ``e1_b``;
keyword-only arguments are parameters. Each quantity is a *jet* of the end, a vector linear in
the coordinates: its present value, its change, its reference value, or its rate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import sympy as sp

from ..arrays import Array
from ..errors import ConstraintError
from ..places.ends import End, Ground, require_place
from ..places.passing import Eyelets

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from ..values.parameter import Scalar

# what laws at places are written in: vectors of quantities, symbols, and expressions of them
V: TypeAlias = sp.MatrixBase
S: TypeAlias = sp.Symbol
E: TypeAlias = sp.Expr
Result: TypeAlias = "E | Sequence[E] | Mapping[E, E]"
Law: TypeAlias = "Callable[..., Result]"
#: of a parameter: one, or one for each place
PlaceValues: TypeAlias = "Scalar | Array | Sequence[float]"
At: TypeAlias = "dict[str, Array | float]"  # values at places by the names of symbols
JetOfEnd = tuple[int, str]
Of = Literal["present", "change", "reference", "rate"]


@dataclass(frozen=True)
class PlaceQuantity:
    """A vector that a function may ask for: what it is of which jet."""

    jet: str
    of: Of
    meaning: str


QUANTITIES = {
    "r": PlaceQuantity("value", "present", "position"),
    "u": PlaceQuantity("value", "change", "displacement"),
    "X": PlaceQuantity("value", "reference", "reference position"),
    "d": PlaceQuantity("director", "present", "director of a full-gradient plate"),
    "e1": PlaceQuantity("axis0", "present", "first axis"),
    "e2": PlaceQuantity("axis1", "present", "second axis"),
    "e3": PlaceQuantity("axis2", "present", "third axis"),
    "E1": PlaceQuantity("axis0", "reference", "first axis of the reference"),
    "E2": PlaceQuantity("axis1", "reference", "second axis of the reference"),
    "E3": PlaceQuantity("axis2", "reference", "third axis of the reference"),
    "rs": PlaceQuantity(
        "line", "present", "derivative of r by the reference's length along a line"
    ),
    "theta": PlaceQuantity("angle", "present", "angle of a planar body"),
    "phi": PlaceQuantity("angle", "change", "angle by which a planar body has turned"),
    "s": PlaceQuantity("slide", "change", "distance that a place has slid along its body"),
    "T": PlaceQuantity("pull", "change", "tension of a cord beyond a place, over its unit"),
    "factor": PlaceQuantity("factor", "change", "load factor"),
}
SCALARS = ("angle", "factor", "slide", "pull")  # jets of one component
# for ties: derivatives of u along the slope directions of the nodes a, at a and at b; g4 of nodes
# with a second slope through the thickness is this one
DERIVATIVES = {
    f"g{k + 1}": PlaceQuantity(f"along{k}", "change", "derivative of u") for k in range(4)
}
DERIVATIVES |= {  # for clamps
    f"s{k + 1}": PlaceQuantity(f"along{k}", "present", "slope") for k in range(2)
}
RATES = {
    "v": PlaceQuantity("value", "rate", "velocity"),
    "wd": PlaceQuantity("director", "rate", "rate of the director"),
    "w1": PlaceQuantity("axis0", "rate", "rate of the first axis"),
    "w2": PlaceQuantity("axis1", "rate", "rate of the second axis"),
    "w3": PlaceQuantity("axis2", "rate", "rate of the third axis"),
    "omega": PlaceQuantity("angle", "rate", "angular velocity of a planar body"),
    "ds": PlaceQuantity("slide", "rate", "rate of the distance that a place slides"),
    "dfactor": PlaceQuantity("factor", "rate", "rate of a load factor"),
}
_PARTS = {"value": "", "director": "_d", "angle": "_t", "planar": "_q", "arm": "_s", "line": "_l"}
_PARTS |= {"factor": "_f", "slide": "_w", "pull": "_p"} | {f"taylor{k}": f"_r{k}" for k in range(4)}
_PARTS |= {f"along{k}": f"_g{k + 1}" for k in range(4)} | {
    f"axis{k}": f"_e{k + 1}" for k in range(3)
}
RESERVED = re.compile(
    r"scale|weight|t|(lam|phi|force)\d+|(u|X|v)(_[dtqslfwp]|_[egr]\d)?_[abc][123]|(state|rate)_.*"
)
TIME = sp.Symbol("t", real=True)
WEIGHT = sp.Symbol("weight", positive=True)


def symbols_of(jet: JetOfEnd, of: Literal["change", "reference", "rate"]) -> list[sp.Symbol]:
    """Return the three symbols of a jet's change, its reference value or its rate."""
    return list(_symbols(jet, of))


@cache
def _symbols(jet: JetOfEnd, of: Literal["change", "reference", "rate"]) -> tuple[sp.Symbol, ...]:
    letter = {"change": "u", "reference": "X", "rate": "v"}[of]
    name = f"{letter}{_PARTS[jet[1]]}_{'abc'[jet[0]]}"
    return tuple(sp.Symbol(f"{name}{a}", real=True) for a in (1, 2, 3))


@cache
def components_of(jet: JetOfEnd, of: Of) -> sp.ImmutableMatrix:
    """Return what a quantity is of a jet, in symbols."""
    if of == "present":
        return components_of(jet, "reference") + components_of(jet, "change")
    return sp.ImmutableMatrix(_symbols(jet, of))


@cache
def references_of(ends: int) -> tuple[sp.Symbol, ...]:
    """Return the symbols of the reference values of all jets of so many ends."""
    jets = [(k, jet) for k in range(ends) for jet in _PARTS]
    return tuple(s for jet in jets for s in symbols_of(jet, "reference"))


def integer_exponents(frame: Array) -> tuple[tuple[int, int, int], ...]:
    """Return axis, component and value where a frame has -1, 0 or 1, but for round-off."""
    rounded = np.round(frame)
    rows, columns = np.nonzero((np.abs(frame - rounded) < 1e-14).T)
    return tuple((int(k), int(a), int(rounded[a, k])) for k, a in zip(rows, columns, strict=True))


def kind_of_end(end: End) -> Hashable:
    """Return what a law knows of an end: ends of one kind have the same law."""
    if isinstance(end, Eyelets):
        return Eyelets, kind_of_end(end.place)
    if end.plane or isinstance(end, Ground):
        return type(end), integer_exponents(np.asarray(end.reference_frame))
    return type(end)


def check_ends(what: str, ends: Sequence[End]) -> list[End]:
    """Return one to three ends.

    Raises
    ------
    ConstraintError : there are others, or one of them is no end.
    """
    if not 1 <= len(ends) <= 3:
        raise ConstraintError(
            f"{what} has {len(ends)} ends: give 1 to 3",
            asked="ends",
            given=len(ends),
            possible=(1, 2, 3),
        )
    for end in ends:
        require_place(what, end)
    return list(ends)

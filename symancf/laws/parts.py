# SPDX-License-Identifier: BSD-3-Clause
"""An energy called with the symbols of an element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy as sp

    from symancf_codegen.declare import HistoryVariable, Local

    from ..kinematics.quantity import Kinematics
    from ..values.reader import Signature


@dataclass(frozen=True)
class EnergyCall:
    """An energy called with the symbols of an element.

    Attributes
    ----------
    name : of the energy, a C identifier.
    signature : what it asked for.
    kinematics : what the element offers.
    parts : the named parts; an energy without parts is ``{"": W}``.
    scalars : scalars that its body gives a name, in order.
    values : what is remembered at the end of a step, and unknowns, by the function's names.
    history : what its points remember.
    stored : energy in the state at the end of a step, of an energy with memory.
    local, shared : unknowns of its own, and whether they are those of a cell.
    """

    name: str
    signature: Signature
    kinematics: Kinematics
    parts: Mapping[str, sp.Expr]
    scalars: Mapping[str, sp.Expr]
    values: Mapping[str, sp.Expr | sp.Matrix]
    history: tuple[HistoryVariable, ...] = ()
    stored: sp.Expr | None = None
    local: tuple[Local, ...] = ()
    shared: bool = False

# SPDX-License-Identifier: BSD-3-Clause
"""An energy called with the symbols of an element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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
    stored : energy in the state at the end of a step of the parts with memory, by their names;
        ``""`` where that of all parts is one. None: nothing is remembered.
    local, shared : unknowns of its own, and whether they are those of a cell.
    """

    name: str
    signature: Signature
    kinematics: Kinematics
    parts: Mapping[str, sp.Expr]
    scalars: Mapping[str, sp.Expr]
    values: Mapping[str, sp.Expr | sp.Matrix]
    history: tuple[HistoryVariable, ...] = ()
    stored: Mapping[str, sp.Expr] | None = None
    local: tuple[Local, ...] = ()
    shared: bool = False

    def energy(self) -> sp.Expr:
        """Return the energy in the state, of all parts."""
        stored = self.stored or {}
        others = () if "" in stored else (w for p, w in self.parts.items() if p not in stored)
        return sp.Add(*stored.values(), *others)

    def history_of(self, names: Collection[str]) -> tuple[HistoryVariable, ...]:
        """Return what the points of some parts remember."""
        stored = self.stored or {}
        return self.history if "" in stored or {*names} & {*stored} else ()

    def stored_in(self, parts: Mapping[str, sp.Expr]) -> sp.Expr | None:
        """Return the energy in the state of some parts at the same points; None: none remembers."""
        if not self.history_of(parts):
            return None
        stored = self.stored or {}
        if "" in stored:
            return stored[""]
        return sp.Add(*stored.values(), *(w for p, w in parts.items() if p not in stored))

# SPDX-License-Identifier: BSD-3-Clause
"""What the law of a body has of its own, as fields need it: memory, unknowns of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Mask
from ..errors import SymancfError
from ..kinematics.memory import STEP
from ..runtime import jit
from ..runtime.collective import together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symancf_codegen.declare import PointLaw, Rule

    from ..bodies.body import Body
    from ..system import System
    from .points import Points


def weights(rule: Rule) -> Array:
    """Return the weights of all points of a rule, those through the section one by one."""
    return np.multiply.outer(rule.weights, rule.section_weights).ravel()


def _pressures(system: System, body: Body, state: Array) -> dict[str, Array]:
    """Return pressures of a body that are coordinates, at the cells of this rank (collective)."""
    pressures = system.binding(body).pressures
    if pressures is None:
        return {}
    owned = system.binding(body).interpolation.owned
    return {name: values[owned] for name, values in pressures.values(system, state).items()}


def _solved(system: System, own: str, pieces: list[int], state: Array) -> Mapping[int, Array]:
    """Return the unknowns of cells of pieces of a body, by the numbers of these (collective)."""
    if not pieces:
        return {}
    solved, bad = system.plan.tabulate("outputs", pieces, state)
    with together(system.comm):
        if bad:
            raise SymancfError(
                f"sample(): the unknowns of cells of body {own!r} have no solution at {bad} "
                "points in this state"
            )
    return solved


class Internal:
    """Memory and unknowns of cells of a body in a state of its system (collective).

    Memory is that of the beginning of the step, and the step's length that of the last residual,
    so that stresses are those with which it was solved. Unknowns of cells are found by the kernel
    of the residual.
    """

    def __init__(self, system: System, body: Body, state: Array) -> None:
        self._cells = _pressures(system, body, state)  # (cells,)
        self._points: dict[str, Array] = {}  # (cells, points of the rule)
        self._length = system.memory.length(system.time)
        laws = [law for law, _ in body.laws]
        binding = system.binding(body)
        owned = binding.interpolation.owned
        if not any(law.history or law.shared for law in laws):
            return
        with together(system.comm):
            system.update(system.time)
        own = system.name(body)
        numbers = [k for k, p in enumerate(system.pieces) if p.name in (own, f"{own} (curved)")]
        solved = _solved(system, own, numbers, state) if any(law.shared for law in laws) else {}
        for number, (own_laws, cells) in zip(numbers, binding.variants(system), strict=True):
            piece, here = system.pieces[number], cells[owned]
            if number in solved:
                kernel = jit.with_modes(piece.kernel, ("outputs",), system.comm)
                self._take_solved(kernel, solved[number][piece.owned], here)
            for law, rule in own_laws:
                if law.history:
                    rows = system.memory.beginning(piece)[piece.owned]
                    self._take_remembered(law, rule, rows, here)

    def _take_solved(self, kernel: jit.Kernel, rows: Array, here: Mask) -> None:
        first = 0
        for _, count, names in kernel.description.outputs:
            for k, name in enumerate(names):  # at the first point: the same at all of a cell
                self._cells.setdefault(name, np.zeros(len(here)))[here] = rows[:, first + k]
            first += count * len(names)

    def _take_remembered(self, law: PointLaw, rule: Rule, rows: Array, here: Mask) -> None:
        table = rows.reshape(len(rows), rule.size, len(law.history))
        for k, m in enumerate(law.history):
            values = table[..., k] / weights(rule) if m.total else table[..., k]
            self._points.setdefault(m.name, np.zeros((len(here), rule.size)))[here] = values

    def at(self, points: Points) -> dict[str, float | Array]:
        r"""Return the values by name, numbers or (cells, 1 or points).

        Memory only at points of the rule, as densities what is an integral over the point's part
        of the cell, for each :math:`\mathrm{d}\xi`.
        """
        found: dict[str, float | Array] = {STEP: self._length}
        found |= {name: values[points.cells, None] for name, values in self._cells.items()}
        for name, values in self._points.items():  # elsewhere no field depends on it
            at = points.numbers
            found[name] = np.nan if at is None else values[np.ix_(points.cells, at)]
        return found

# SPDX-License-Identifier: BSD-3-Clause
"""Steps in which strains turn or stresses relax, and laws with memory that see it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form

MAX_FORCE_CHANGE = 0.01  # of the forces, by the same step in two halves


def warn_of_turns(
    system: DiscreteSystem, before: Array, step: str = "", shorter: str = "step="
) -> None:
    """Warn where the step that has ended is too long for what laws remember (collective).

    Its end is looked at with what they would have remembered after the half of its displacements
    and time: the forces of two steps along one line. These are those of the step where strains go
    straight ahead, however far; of a path of strain that turns, or turns back, or lasts longer than
    what relaxes in it, they are not. Only cells whose memory the step has changed count, so that
    bodies may turn as they like without flow.

    Parameters
    ----------
    before : the state at the beginning, a local vector.
    step, shorter : name it in the message, by default by its pseudo-times, and what shortens it.
    """
    memory, state = system.memory, system.state
    cells = [form for form in memory.forms if form.kernel.tabulated]
    names = ", ".join(dict.fromkeys(repr(form.name) for form in cells))
    told = system.once.has_told(("turns", names))
    if not cells or memory.moves or memory.stepping or told:
        return
    whole = memory.values
    half = replace(whole, length=whole.length / 2.0)
    with _alone(system, cells):
        first, last = system.residual_at(before), system.residual_at(state)
        try:
            memory.values = half
            system.update(system.time)
            after = memory.half_way(system.assembler, (before + state) / 2.0)
            if after is None:
                return
            memory.values = replace(half, old=after)
            system.update(system.time)
            halves = system.residual_at(state)
        finally:
            memory.values = whole
    owned = slice(system.numbering.owned)
    squares = [np.square(f[owned]).sum() for f in (first, last, halves - last)]
    begin, end, change = np.sqrt(system.sum(np.array(squares)))
    size = max(begin, end)
    if change > MAX_FORCE_CHANGE * size:
        step = step or f"from pseudo-time {whole.since:.6g} to {system.time:.6g}"
        why = "strains turn, or stresses relax, in it" if memory.timed else "strains turn in it"
        system.once.warn(
            ("turns", names),
            f"the step {step} is long for what {names} remembers: in two halves it ends with "
            f"forces that differ by {100.0 * change / size:.2g} %, since {why}; so results depend "
            f"on the length of steps: take shorter ones, {shorter}",
        )


@contextmanager
def _alone(system: DiscreteSystem, forms: Sequence[Form]) -> Iterator[None]:
    """Leave out all other forms for a while."""
    assembler = system.assembler
    try:
        with assembler.only(np.array([form in forms for form in assembler.forms])):
            system.update(system.time)
            yield
    finally:
        system.update(system.time)

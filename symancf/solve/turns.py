# SPDX-License-Identifier: BSD-3-Clause
"""Steps in which strains turn or stresses relax, and laws with memory that see it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..assembly.discrete import DiscreteSystem
    from ..assembly.form import Form

MAX_FORCE_CHANGE = 0.01  # of the forces, by the same step in two halves


class Halves(NamedTuple):
    """What a step in two halves would change: `change` of the forces of laws with memory.

    Norms; `size` is the larger one of those at its beginning and at its end.
    """

    size: float
    change: float


def in_halves(system: DiscreteSystem, before: Array, middle: Array) -> Halves | None:
    """Compare the forces at the end of the last step with those of two halves (collective).

    The end is looked at with what laws would have remembered after half of the time. Only cells
    whose memory the step has changed count, so that bodies may turn as they like without flow.
    None where none has changed, or a half has no end.

    Parameters
    ----------
    before, middle : states at the beginning and after half of the time, local vectors.
    """
    memory, state = system.memory, system.state
    cells = [form for form in memory.forms if form.kernel.tabulated]
    if not cells or memory.moves or memory.stepping:
        return None
    whole = memory.values
    half = replace(whole, length=whole.length / 2.0)
    with _alone(system, cells):
        first, last = system.residual_at(before), system.residual_at(state)
        try:
            memory.values = half
            system.update(system.time)
            after = memory.half_way(system.assembler, middle)
            if after is None:
                return None
            memory.values = replace(half, old=after)
            system.update(system.time)
            halves = system.residual_at(state)
        finally:
            memory.values = whole
    owned = slice(system.numbering.owned)
    squares = [np.square(f[owned]).sum() for f in (first, last, halves - last)]
    begin, end, change = np.sqrt(system.sum(np.array(squares)))
    return Halves(max(begin, end), change)


def names_of_memory(system: DiscreteSystem) -> str:
    """Return the names of what remembers in cells, for messages."""
    cells = (form.name for form in system.memory.forms if form.kernel.tabulated)
    return ", ".join(dict.fromkeys(map(repr, cells)))


def warn_of_turns(
    system: DiscreteSystem, before: Array, step: str = "", shorter: str = "step="
) -> None:
    """Warn where the step that has ended is too long for what laws remember (collective).

    Its halves are taken along one line. Their forces are those of the step where strains go
    straight ahead, however far; of a path of strain that turns, or turns back, or lasts longer than
    what relaxes in it, they are not.

    Parameters
    ----------
    before : the state at the beginning, a local vector.
    step, shorter : name it in the message, by default by its pseudo-times, and what shortens it.
    """
    memory, names = system.memory, names_of_memory(system)
    if system.once.has_told(("turns", names)):
        return
    found = in_halves(system, before, (before + system.state) / 2.0)
    if found is not None and found.change > MAX_FORCE_CHANGE * found.size:
        step = step or f"from pseudo-time {memory.values.since:.6g} to {system.time:.6g}"
        why = "strains turn, or stresses relax, in it" if memory.timed else "strains turn in it"
        percent = 100.0 * found.change / found.size
        system.once.warn(
            ("turns", names),
            f"the step {step} is long for what {names} remembers: in two halves it ends with "
            f"forces that differ by {percent:.2g} %, since {why}; so results depend on the length "
            f"of steps: take shorter ones, {shorter}",
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

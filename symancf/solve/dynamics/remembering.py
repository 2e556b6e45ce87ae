# SPDX-License-Identifier: BSD-3-Clause
"""Memory of laws while C makes many steps; see contact.h."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import address
from ...assembly.state import InternalVariables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...arrays import CStructure
    from ...assembly.assembler import Assembler
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.revisions import Standing


class Remembering:
    """What the laws of a system remember, as C takes it from step to step (on one rank).

    Parameters
    ----------
    kind : the type ``symancf_memory``.
    standing : by form, when solutions stand without a review.
    """

    def __init__(
        self, system: DiscreteSystem, kind: type[CStructure], standing: Mapping[str, Standing]
    ) -> None:
        self.system, self._kind, memory = system, kind, system.memory
        forms, now = memory.forms, memory.values
        numbers = [system.assembler.number(form) for form in forms]
        self._assembler, tables = system.assembler.telling("update", numbers)
        self._ends = [*zip(memory.own(now.old), memory.own(now.next), strict=True)]
        self._ends = [(old.copy(), after.copy()) for old, after in self._ends]
        self._each = [kind() for _ in forms]
        for made, form, number, ends in zip(self._each, forms, numbers, self._ends, strict=True):
            names = form.kernel.memory
            own = standing.get(form.name)
            made.give(
                n=form.size,
                rows=len(names),
                cell_rows=len(form.kernel.cell),
                old=ends[0],
                next=ends[1],
                before=ends[0].copy(),
                table=tables[number],
                variable=-1,
                summed=names.index(form.summed) if form.summed else -1,
            )
            if own is not None:
                made.give(
                    variable=names.index(own.variable),
                    place=names.index(own.place),
                    stretch=names.index(own.stretch) if own.stretch else -1,
                    least=own.least,
                    far=own.far,
                )

    def lend(self, assemblers: Sequence[Assembler | None]) -> dict[str, Any]:
        """Return what C is to know, with `assemblers` of all forces, of drives and of dampers."""
        forms = self.system.memory.forms
        self._assemblers = [assembler for assembler in assemblers if assembler is not None]
        for k, assembler in enumerate(assemblers):
            for made, form in zip(self._each, forms, strict=True):
                found = None if assembler is None else assembler.lanes(form)
                if found is not None:
                    made.cell[k] = address(found[0])
                    made.first[k], made.end[k] = found[1:]
        lengths = [at for assembler in self._assemblers for at in assembler.lengths()]
        self._lengths = np.array(lengths, dtype=np.int64)
        self._records = (self._kind * max(1, len(forms)))(*self._each)
        return {
            "memories": len(forms),
            "memory": self._records,
            "memory_plan": ctypes.addressof(self._assembler),
            "lengths": len(lengths),
            "length": address(self._lengths),
        }

    def take(self, since: float, time: float, *, stepping: bool) -> None:
        """Let Python know what C remembers of the step between two times.

        `stepping` : its end has not been accepted.
        """
        old, after = (tuple(part.copy() for part in end) for end in zip(*self._ends, strict=True))
        self.system.memory.values = InternalVariables(
            old, after, length=time - since, since=since, stepping=stepping
        )

    def end(self, since: float | None, time: float) -> None:
        """Let Python go on from the last step, between two times; None: C has made none."""
        if since is not None:
            self.take(since, time, stepping=False)
        for assembler in self._assemblers:
            assembler.overwritten()
        if since is not None:
            self.system.update(time)  # energies of the last step have its beginning

# SPDX-License-Identifier: BSD-3-Clause
"""The part of contact in the CPU time of a step in which all of its points are pressed."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from ..assembly.assembler import Assembler
from ..assembly.matrix import Matrix
from ..assembly.memory import Memory
from ..catalogue.boundary import fix
from ..contact.contact import ContactBinding
from ..solve.statics.problem import StaticProblem
from ..system import System
from .contact import APART, Row, bodies, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..arrays import Array
    from ..contact.contact import Contact

ROUND = "review", "search", "needed", "renew"  # of `ContactBinding`


class ContactTimes:
    """CPU times of this thread: of contact by what is done, and what measuring them took.

    Calls of kernels are made for contact and for the bodies one after the other; tangents, whose
    matrix begins with zeros, for the bodies and then for all.
    """

    def __init__(self, system: System, contact: Contact) -> None:
        own = system._discrete.binding(contact)
        names = {each.name for each in (*own.passes, *own.dampers)}
        self.own = np.array([form.name in names for form in system._discrete.forms])
        self.assembler, self.spent, self.extra = (
            system._discrete.assembler,
            defaultdict[str, float](float),
            0.0,
        )
        self.calls = defaultdict[str, int](int)
        self._within, self._call = False, Assembler._call

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Take times for a while."""
        spied = [(ContactBinding, ROUND), (Memory, ("accept",)), (Matrix, ("renew",))]
        patches = [patch.object(Assembler, "_call", self._split())]
        for kind, names in spied:
            patches += [patch.object(kind, name, self._timed(kind, name)) for name in names]
        try:
            for each in patches:
                each.start()
            yield
        finally:
            for each in patches:
                each.stop()

    def _timed(self, kind: type, name: str) -> Any:
        original = getattr(kind, name)

        def call(*arguments: Any) -> Any:
            outer, self._within = self._within, True
            start = time.thread_time()
            try:
                return original(*arguments)
            finally:
                self._within = outer
                if not outer:
                    self._add(name, start)

        return call

    def _add(self, name: str, start: float) -> None:
        self.spent[name] += time.thread_time() - start
        self.calls[name] += 1

    def _split(self) -> Any:
        def call(assembler: Assembler, mode: str, x: Array, v: Any, f: Any, e: Any) -> int:
            if (
                assembler is not self.assembler
                or self._within
                or mode in ("energy", "update", "initial")
            ):
                return self._call(assembler, mode, x, v, f, e)
            if mode == "tangent":
                start = time.thread_time()
                with assembler.only(~self.own):
                    self._call(assembler, mode, x, v, np.zeros_like(f), e)
                least = time.thread_time() - start
                self.extra += least
                start = time.thread_time()
                bad = self._call(assembler, mode, x, v, f, e)
                self._add(mode, start + least)
                return bad
            rooms = {
                id(g): t.linearized
                for g, t in zip(assembler.groups, assembler._terms, strict=False)
            }
            bad = 0
            for chosen in (self.own, ~self.own):
                start = time.thread_time()
                with assembler.only(chosen):
                    terms = list(zip(assembler.groups, assembler._terms, strict=False))
                    for group, term in terms:
                        term.linearized = rooms.get(id(group))
                    bad += self._call(assembler, mode, x, v, f, e)
                    for _, term in terms:
                        term.linearized = None
                if chosen is self.own:
                    self._add(mode, start)
            return bad

        return call


def step(facets: int, *, rigid: bool, mu: float, layers: int) -> Row:
    """Press blocks onto what is below, and draw them along, in two steps; measure the second."""
    blocks, contact = bodies(facets, rigid=rigid, mu=mu, layers=layers)
    way = np.array([0.005 * layers, 0.0, -APART - 0.01 * layers * len(blocks)])
    terms = [contact, fix(blocks[-1]["z1"], displacement=lambda t: tuple(t * way))]
    terms += [] if rigid else [fix(blocks[0]["z0"])]
    system = System(*blocks, terms=terms)
    problem = StaticProblem(system, prefix="bench_", options={"pc_type": "grids"})
    problem.solve(to=0.5, step=0.5)
    shares, start = ContactTimes(system, contact), time.thread_time()
    with shares.measured():
        last = problem.solve(to=1.0, step=0.5).steps[-1]
    total = time.thread_time() - start - shares.extra
    return {
        "target": "rigid" if rigid else "deformable",
        "mu": mu,
        "facets": width(facets, rigid=rigid) ** 2 * len(blocks),
        "layers": layers,
        "unknowns": int(system._discrete.numbering.size),
        "pressed": sum(contact.status(system)[1:]),
        "newton": last.iterations,
        "linear": last.linear_iterations,
        "total_s": total,
        "contact_s": sum(shares.spent.values()),
        "spent_s": dict(shares.spent),
        "calls": dict(shares.calls),
    }


def steps(sizes: Sequence[int]) -> list[Row]:
    """Return rows of blocks as deep as a tenth of their edges, at least 4 cells."""
    kinds = (True, 0.3), (False, 0.0), (False, 0.3)
    return [
        step(n, rigid=rigid, mu=mu, layers=max(4, width(n, rigid=rigid) // 10))
        for n in sizes
        for rigid, mu in kinds
    ]

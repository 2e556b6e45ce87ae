# SPDX-License-Identifier: BSD-3-Clause
"""Fingerprints of kernels before any symbolic work: hashes of laws, space, rules, compiler."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import sympy as sp

from symancf_codegen.declare import PointLaw, Rule, Space
from symancf_codegen.errors import CodegenError
from symancf_codegen.functions import symbolic
from symancf_codegen.modes import STANDARD


def _compiler_version() -> str:
    """Return a hash of the compiler's own source."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.h")]):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


#: Taken when this is imported: files that are replaced later are not the code that runs.
COMPILER_VERSION = _compiler_version()


@cache
def require_unchanged() -> None:
    """Look, before stages 2 to 7 are imported, whether they are those of `COMPILER_VERSION`.

    Raises
    ------
    CompileError : files of the compiler have been replaced since this process began.
    """
    found = _compiler_version()
    if found != COMPILER_VERSION:
        raise CodegenError(
            "the files of the compiler of kernels have changed since this process began: start it "
            "anew",
            asked="compiler",
            given=found,
            possible=(COMPILER_VERSION,),
        )


class _Hasher:
    """Hashes expressions as a walk over their distinct subexpressions."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[sp.Basic, int] = {}

    def text(self, *words: str) -> None:
        for word in words:
            self.digest.update(word.encode() + b"\0")

    def expression(self, e: sp.Basic) -> int:
        index = self.seen.get(e)
        if index is None:
            if not e.args:
                self.text(type(e).__name__, str(e))
            else:
                children = [self.expression(a) for a in e.args]
                self.text(type(e).__name__, *map(str, children))
            index = self.seen[e] = len(self.seen)
        return index

    def value(self, e: object) -> None:
        self.text(str(self.expression(symbolic(e))))

    def row(self, *items: object) -> None:
        """Hash words and expressions."""
        for x in items:
            if isinstance(x, sp.Basic):
                self.value(x)
            else:
                self.text(repr(x))

    def numbers(self, array: object) -> None:
        values = np.ascontiguousarray(array, dtype=float)
        self.text(str(values.shape))
        self.digest.update(values.tobytes())


def fingerprint(
    name: str,
    space: Space | None,
    laws: Sequence[tuple[PointLaw, Rule | None]],
    stabilised: bool,
    modes: Sequence[str] = STANDARD,
    single: bool = False,
) -> str:
    """Return a hexadecimal key that changes when the generated source may change."""
    h = _Hasher()
    h.text(COMPILER_VERSION, name, str(stabilised), str(single), *modes)
    if space is not None:
        rules = [rule for _, rule in laws if rule is not None]
        _space(h, space, rules)
        if space.linear is not None:
            _space(h, space.linear, rules)
    for law, rule in laws:
        h.text(digest(law))
        if rule is not None:
            h.text("rule", rule.name)
            for array in (rule.points, rule.weights):
                h.numbers(array)
            for column, values in rule.columns.items():
                h.text(column, rule.uniform_columns.get(column, ""))
                h.numbers(values.shape if column in rule.uniform_columns else values)
    return h.digest.hexdigest()


def _space(h: _Hasher, space: Space, rules: Sequence[Rule]) -> None:
    """Hash what a kernel knows of a space: its tables at the points, where they come cheaply."""
    jets = tuple(space.table_jets)
    h.text(space.name, *jets)
    if type(space).tabulate is Space.tabulate:  # through SymPy, slower than its expressions
        for jet in jets:
            for e in (*space.coordinates, *space.table_jets[jet]):
                h.value(e)
    else:
        for rule in rules:
            h.numbers(space.tabulate(jets, rule.points))
    for jet, monomials in space.point_jets.items():
        h.text("point", jet)
        for table, e in monomials.items():
            h.text(table)
            h.value(e)


def digest(law: PointLaw) -> str:
    """Return a hash of a law, found once: terms by the thousand may have one law."""
    known_digest = _DIGESTS.get(law)
    if known_digest is None:
        h = _Hasher()
        _law(h, law)
        known_digest = _DIGESTS[law] = h.digest.hexdigest()
    return known_digest


_DIGESTS: WeakKeyDictionary[PointLaw, str] = WeakKeyDictionary()


def _law(h: _Hasher, law: PointLaw) -> None:
    h.row("law", law.name, law.title, *law.jets)
    h.row("density", law.energy, law.stored, law.measure, law.rates, law.shared)
    tables: dict[str, Iterable[Iterable[object]]] = {
        "unknown": zip(law.unknowns, strict=True),
        "inner": ((symbol, *chain(*row.items())) for symbol, row in (*law.inner, *law.modes)),
        "geometry": law.geometry,
        "lets": law.lets,
        "work": (law.work or {}).items(),
        "rate of": law.rate_of.items(),
        "power": law.powers,
        "output": law.outputs.items(),
        "memory": (vars(m).values() for m in law.history),
        "domain": zip(law.domain, strict=True),
        "local": (vars(x).values() for x in law.local),
        "parameter": ((p.name, p.kind, p.optional) for p in law.parameters),
    }
    for title, rows in tables.items():
        for row in rows:
            h.row(title, *row)

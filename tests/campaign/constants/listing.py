# SPDX-License-Identifier: BSD-3-Clause
"""The tuning constants that the rooms have, and the rows of their tables."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import symancf

PACKAGE = Path(str(symancf.__file__)).parent
ROOMS = "solve", "newton", "contact"
WITHOUT = "solve/multigrid"  # a room of its own behind one interface, without a table yet
UNTESTED = "untested"

#: Numbers with a name that are not tuned: another value is wrong, and what they are instead.
FIXED = {
    "solve.fit.material_test.KINDS": "axes of kinds of tests",
    "contact.active.NOWHERE": "an empty array",
    "contact.nodal.OPEN": "a state of a point",
    "contact.nodal.SLIP": "a state of a point",
    "contact.nodal.STICK": "a state of a point",
    "newton.equations.SEARCHES": "the largest int of C",
    "newton.stopping.CALLBACK_NEEDED": "a code of stopping.h",
    "newton.parts.NONE": "a mark",
    "solve.cost.GOLDEN": "the golden ratio",
    "solve.dynamics.derivatives.FIRST": "coefficients of a difference of order 8",
    "solve.dynamics.derivatives.SECOND": "coefficients of a difference of order 8",
    "solve.dynamics.energy.SUMS": "columns of an array",
    "solve.dynamics.stabilise.CENTRES": "rules of the fuzzy controller",
    "solve.dynamics.stabilise.SPREAD": "rules of the fuzzy controller",
    "solve.factors.OUT_OF_WORKSPACE": "codes of MUMPS",
    "solve.gradients.bend.FOURTH": "coefficients of a difference of order 4",
    "solve.gradients.bend.SIXTH": "coefficients of a difference of order 6",
    "solve.gradients.trace.UNITS": "prefixes of bytes",
}


@dataclass(frozen=True)
class Row:
    """A constant, as ``solve.causes.STIFF``, with its unit, its meaning and its test."""

    name: str
    unit: str
    meaning: str
    test: str


def rows(room: str) -> list[Row]:
    """Return the rows of the table of a room."""
    lines = table(room).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    found = [Row(f"{room}.{name.strip('`')}", *rest) for name, *rest in cells[2:]]
    return [Row(row.name, row.unit, row.meaning, row.test.strip("`")) for row in found]


def table(room: str) -> Path:
    """Return the file with the table of a room."""
    return Path(__file__).with_name(f"{room}.md")


def listed(room: str) -> list[str]:
    """Return all tuning constants of a room, as ``solve.dynamics.native.PAUSE``."""
    names = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        if path.is_relative_to(PACKAGE / WITHOUT):
            continue
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        names += [f"{module}.{name}" for name in constants(path)]
    return [name for name in names if name not in FIXED]


@cache
def constants(path: Path) -> list[str]:
    """Return the upper-case names that a module gives to numbers, in its order."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pairs = [pair for statement in tree.body for pair in assigned(statement)]
    return [name for name, value in pairs if is_number(value)]


def assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Return the upper-case names that an assignment gives to values, with these."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return []
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return [(name.id, of) for name, of in pairs if isinstance(name, ast.Name) and name.id.isupper()]


def is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, a formula of numbers, or some of these together."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return is_number(value.operand)
        case ast.BinOp():
            return is_number(value.left) or is_number(value.right)
        case ast.Tuple() | ast.List():
            return all(is_number(entry) for entry in value.elts)
        case ast.Dict():
            return all(is_number(entry) for entry in value.values)
        case ast.Call():  # math.cos(0.1), np.array([...]), tuple(10.0**k for k in ...)
            return len(value.args) == 1 and not value.keywords and is_number(value.args[0])
        case ast.GeneratorExp():
            return is_number(value.elt)
        case _:
            return False


@cache
def aliases(module: str) -> dict[str, str]:
    """Return the names in a module that are constants, its own and those that it imports.

    Those of ``symancf.solve.causes`` are ``{"STIFF": "solve.causes.STIFF", ...}``.
    """
    own = _file(module)
    if own is None:
        return {}
    names = {name: f"{module}.{name}".removeprefix("symancf.") for name in constants(own)}
    package = module if own.name == "__init__.py" else module.rpartition(".")[0]
    for statement in ast.walk(ast.parse(own.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.ImportFrom) and statement.module:
            dots = "." * statement.level + statement.module
            known = _offered(importlib.util.resolve_name(dots, package))
            for alias in statement.names:
                if alias.name in known:
                    names[alias.asname or alias.name] = known[alias.name]
    return names


def _offered(module: str) -> dict[str, str]:
    """Return the constants that a module makes, or that a package takes from its modules."""
    path = _file(module)
    if path is None:
        return {}
    if path.name == "__init__.py":
        return aliases(module)
    return {name: f"{module}.{name}".removeprefix("symancf.") for name in constants(path)}


def _file(module: str) -> Path | None:
    if module.partition(".")[0] != "symancf":
        return None
    base = PACKAGE.joinpath(*module.split(".")[1:])
    found = (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file())
    return next(found, None)
